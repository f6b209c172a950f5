//===- IRMutator.h - Mutates IR text by its tokens --------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_UNITTESTS_COMPILER_FUZZ_IRMUTATOR_H
#define TRACEA_UNITTESTS_COMPILER_FUZZ_IRMUTATOR_H

#include <cstdint>
#include <string>
#include <string_view>

namespace tracea::fuzz {

/// `text` with a few of its tokens changed, at most `maxSize` bytes long.
std::string mutateIR(std::string_view text, size_t maxSize, unsigned seed);

/// `text` with a piece of `other` in the place of a like one.
std::string crossIR(std::string_view text, std::string_view other,
                    size_t maxSize, unsigned seed);

} // namespace tracea::fuzz

#endif // TRACEA_UNITTESTS_COMPILER_FUZZ_IRMUTATOR_H
