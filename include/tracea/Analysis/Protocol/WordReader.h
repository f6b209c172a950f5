//===- WordReader.h - Texts of models, word by word -------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Models in certificates are words with spaces between them. What is read is
// not trusted: every number has bounds, and the first fault ends the reading.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_ANALYSIS_PROTOCOL_WORDREADER_H
#define TRACEA_ANALYSIS_PROTOCOL_WORDREADER_H

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace tracea::analysis {

class WordReader {
protected:
  /// `what`: the text's name in messages.
  WordReader(std::string_view text, const char *what)
      : rest(text), what(what) {}

  bool fail(const std::string &expected) {
    if (error.empty())
      error = std::string(what) + ": expected " + expected + ", found '" +
              std::string(word.substr(0, 40)) + "'";
    return false;
  }
  /// The next word; empty at the end.
  std::string_view next() {
    size_t begin = rest.find_first_not_of(' ');
    rest.remove_prefix(begin == std::string_view::npos ? rest.size() : begin);
    word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(word.size());
    return word;
  }
  template <typename T>
  static bool parse(std::string_view text, T &into, int base = 10) {
    const char *end = text.data() + text.size();
    auto [at, code] = std::from_chars(text.data(), end, into, base);
    return code == std::errc() && at == end;
  }
  bool number(std::string_view text, int64_t low, int64_t high, int64_t &into,
              const char *name) {
    if (parse(text, into) && into >= low && into <= high)
      return true;
    return fail(std::string(name) + " from " + std::to_string(low) + " to " +
                std::to_string(high));
  }
  template <typename T>
  bool nextNumber(int64_t low, int64_t high, T &into, const char *name) {
    int64_t value = 0;
    if (!number(next(), low, high, value, name))
      return false;
    into = static_cast<T>(value);
    return true;
  }

  std::string_view rest, word;
  std::string error;

private:
  const char *what;
};

} // namespace tracea::analysis

#endif // TRACEA_ANALYSIS_PROTOCOL_WORDREADER_H
