//===- CUDAParameters.cpp - How many parameters kernels take --------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver tells the size of a parameter, but not how many there are: to ask
// for one too many is an error that tools report. The code itself says it, as
// text between the parentheses of an entry, and in a cubin as one record for
// each parameter in the section ".nv.info.<kernel>".
//
//===----------------------------------------------------------------------===//

#include "CUDAModule.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <string_view>

namespace tracea::runtime::cuda {

static size_t countOf(std::string_view text, std::string_view word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + word.size()))
    ++count;
  return count;
}

static ParameterCounts countInText(std::string_view text) {
  constexpr std::string_view entry = ".entry", spaces = " \t\r\n";
  ParameterCounts counts;
  for (size_t at = text.find(entry); at != std::string_view::npos;
       at = text.find(entry, at + entry.size())) {
    size_t begin = text.find_first_not_of(spaces, at + entry.size());
    size_t end = text.find_first_of(" \t\r\n({", begin);
    if (end >= text.size())
      break;
    std::string name(text.substr(begin, end - begin));
    size_t open = text.find_first_not_of(spaces, end);
    // Attributes of parameters have no parentheses.
    size_t close = text.find(')', open);
    if (open < text.size() && text[open] == '(' && close < text.size())
      counts[name] = countOf(text.substr(open, close - open), ".param");
    else if (open < text.size() && text[open] != '(')
      counts[name] = 0;
  }
  return counts;
}

/// `code` is complete: see `checkImage`.
static ParameterCounts countInElf(Bytes code) {
  constexpr std::string_view prefix = ".nv.info.";
  // A record has a byte for its form, one for what it is about, and two; one of
  // this form has as many bytes more as the two say.
  constexpr unsigned char sized = 4, parameter = 0x17;
  constexpr size_t headBytes = 4;
  auto section = [&](const Elf64_Ehdr &header, unsigned number) {
    Elf64_Shdr result;
    std::memcpy(&result, code.data() + header.e_shoff + number * sizeof result,
                sizeof result);
    return result;
  };
  auto textOf = [&](const Elf64_Shdr &part) {
    if (part.sh_type == SHT_NOBITS || part.sh_type == SHT_NULL)
      return std::string_view();
    return std::string_view(reinterpret_cast<const char *>(code.data()) +
                                part.sh_offset,
                            part.sh_size);
  };
  ParameterCounts counts;
  Elf64_Ehdr header;
  std::memcpy(&header, code.data(), sizeof header);
  if (header.e_shstrndx >= header.e_shnum)
    return counts;
  std::string_view names = textOf(section(header, header.e_shstrndx));
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr part = section(header, i);
    if (part.sh_name >= names.size())
      continue;
    std::string_view name = names.substr(part.sh_name);
    name = name.substr(0, name.find('\0'));
    if (name.substr(0, prefix.size()) != prefix)
      continue;
    size_t count = 0;
    std::string_view records = textOf(part);
    while (records.size() >= headBytes) {
      auto byte = [&](size_t at) {
        return static_cast<unsigned char>(records[at]);
      };
      count += byte(0) == sized && byte(1) == parameter;
      size_t bytes =
          headBytes + (byte(0) == sized ? byte(2) + 256 * byte(3) : 0);
      records.remove_prefix(std::min(bytes, records.size()));
    }
    // None may also be another form of records.
    if (count)
      counts[std::string(name.substr(prefix.size()))] = count;
  }
  return counts;
}

ParameterCounts countParameters(Bytes code) {
  if (code.size() >= SELFMAG && std::memcmp(code.data(), ELFMAG, SELFMAG) == 0)
    return countInElf(code);
  return countInText(std::string_view(
      reinterpret_cast<const char *>(code.data()), code.size()));
}

} // namespace tracea::runtime::cuda
