//===- CUDAImage.cpp - Which code a device takes --------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of NVIDIA's compiler manual ("Virtual Architecture Feature List",
// "GPU Feature List"): machine code runs on devices of its major version with
// at least its minor one, PTX on any newer device; a suffix "a" ties both to
// exactly one capability, "f" to one major version.
//
//===----------------------------------------------------------------------===//

#include "CUDAModule.h"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <string_view>

namespace tracea::runtime::cuda {

std::optional<Arch> parseArch(const std::string &text) {
  if (text.compare(0, 3, "sm_") != 0)
    return std::nullopt;
  Arch arch;
  size_t i = 3;
  for (; i < text.size() && text[i] >= '0' && text[i] <= '9' && i < 7; ++i)
    arch.capability = 10 * arch.capability + (text[i] - '0');
  if (i < text.size() && (text[i] == 'a' || text[i] == 'f'))
    arch.suffix = text[i++];
  if (i != text.size() || arch.capability < 10)
    return std::nullopt;
  return arch;
}

/// Why the image does not run there; empty where it does.
static std::string whyNot(const ImageSpec &image, int capability,
                          int ptxVersion) {
  if (image.kind != ImageKind::PTX && image.kind != ImageKind::Cubin)
    return "is no kind of code that this driver knows";
  std::optional<Arch> arch = parseArch(image.arch);
  if (!arch)
    return "is for no NVIDIA architecture";
  bool sameMajor = arch->capability / 10 == capability / 10;
  if (arch->suffix == 'a' && arch->capability != capability)
    return "runs on that capability alone";
  if (arch->capability > capability)
    return "needs a newer device";
  if ((arch->suffix == 'f' || image.kind == ImageKind::Cubin) && !sameMajor)
    return "runs on that major version alone";
  if (image.kind == ImageKind::PTX && image.isa > ptxVersion)
    return "is PTX " + std::to_string(image.isa / 10) + "." +
           std::to_string(image.isa % 10) + ", the driver compiles up to " +
           std::to_string(ptxVersion / 10) + "." +
           std::to_string(ptxVersion % 10);
  return "";
}

/// Greater is better.
static int64_t rank(const ImageSpec &image) {
  Arch arch = *parseArch(image.arch);
  int64_t tied = arch.suffix == 'a' ? 2 : arch.suffix == 'f' ? 1 : 0;
  return ((image.kind == ImageKind::Cubin ? 1 : 0) * 4 + tied) *
             (int64_t(1) << 40) +
         int64_t(arch.capability) * (1 << 16) + image.isa;
}

Expected<size_t> chooseImage(Span<const ImageSpec> images, int capability,
                             int ptxVersion) {
  std::optional<size_t> best;
  std::string reasons;
  for (size_t i = 0; i < images.size(); ++i) {
    std::string why = whyNot(images[i], capability, ptxVersion);
    if (!why.empty())
      reasons += (reasons.empty() ? "" : "; ") +
                 std::string(nameOf(images[i].kind)) + " for " +
                 images[i].arch + " " + why;
    else if (!best || rank(images[i]) > rank(images[*best]))
      best = i;
  }
  if (best)
    return *best;
  return Status::error("the program has no code for sm_" +
                       std::to_string(capability) + ": " +
                       (reasons.empty() ? "no image at all" : reasons));
}

static Status checkElf(Bytes code) {
  constexpr Elf64_Half machineCuda = 190; // EM_CUDA
  Elf64_Ehdr header;
  if (code.size() < sizeof header)
    return Status::error("the ELF header is cut off");
  std::memcpy(&header, code.data(), sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != machineCuda)
    return Status::error("expected a 64-bit ELF file for CUDA (machine 190), "
                         "found machine " +
                         std::to_string(header.e_machine));
  auto inside = [&](uint64_t offset, uint64_t count, uint64_t size) {
    uint64_t bytes = 0, end = 0;
    return !__builtin_mul_overflow(count, size, &bytes) &&
           !__builtin_add_overflow(offset, bytes, &end) && end <= code.size();
  };
  if (header.e_shnum == 0 || header.e_shentsize != sizeof(Elf64_Shdr) ||
      !inside(header.e_shoff, header.e_shnum, sizeof(Elf64_Shdr)) ||
      (header.e_phnum != 0 &&
       (header.e_phentsize != sizeof(Elf64_Phdr) ||
        !inside(header.e_phoff, header.e_phnum, sizeof(Elf64_Phdr)))))
    return Status::error("the ELF tables are not in the file");
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, code.data() + header.e_shoff + i * sizeof section,
                sizeof section);
    if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL &&
        !inside(section.sh_offset, section.sh_size, 1))
      return Status::error("ELF section " + std::to_string(i) +
                           " goes beyond the end of the file");
  }
  return Status::success();
}

/// Text whose blocks close, with a version and a kernel. What stands in it is
/// for the driver's compiler to judge.
static Status checkPtx(Bytes code) {
  std::string_view text(reinterpret_cast<const char *>(code.data()),
                        code.size());
  while (!text.empty() && text.back() == '\0')
    text.remove_suffix(1);
  if (text.find('\0') != std::string_view::npos)
    return Status::error("expected PTX text, found a zero byte in it");
  if (text.find(".version") == std::string_view::npos)
    return Status::error("expected a cubin or PTX, found neither");
  if (text.find(".entry") == std::string_view::npos)
    return Status::error("expected PTX with a kernel (.entry), found none");
  int64_t depth = 0;
  for (size_t i = 0; i < text.size() && depth >= 0; ++i) {
    if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (text.compare(i, 2, "/*") == 0) {
      i = std::min(text.find("*/", i + 2), text.size());
      continue;
    }
    depth += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
  }
  if (depth != 0)
    return Status::error("expected complete PTX, found blocks that do not "
                         "close");
  return Status::success();
}

Status checkImage(Bytes code) {
  if (code.size() >= SELFMAG && std::memcmp(code.data(), ELFMAG, SELFMAG) == 0)
    return checkElf(code);
  return checkPtx(code);
}

} // namespace tracea::runtime::cuda
