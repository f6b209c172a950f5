//===- Assertions.h - What a kernel could not do, in words ------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_RUNTIME_CORE_ASSERTIONS_H
#define TRACEA_LIB_RUNTIME_CORE_ASSERTIONS_H

#include <cstdint>
#include <string>

namespace tracea::runtime {

/// The text of an assertion with the number that was found in place of `{0}`
/// and what it was compared with in place of `{1}`.
inline std::string fillAssertion(std::string text, int64_t found,
                                 int64_t expected) {
  const int64_t numbers[] = {found, expected};
  for (int i = 0; i < 2; ++i) {
    std::string place = "{" + std::to_string(i) + "}";
    if (size_t at = text.find(place); at != std::string::npos)
      text.replace(at, place.size(), std::to_string(numbers[i]));
  }
  return text;
}

} // namespace tracea::runtime

#endif // TRACEA_LIB_RUNTIME_CORE_ASSERTIONS_H
