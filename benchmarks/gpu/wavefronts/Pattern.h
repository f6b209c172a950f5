//===- Pattern.h - Access patterns and what the model says of them --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the wavefront benchmark runs: one instruction of a warp with an address
// for each lane. The predictions are those of lib/Algebra, compiled in.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_BENCHMARKS_GPU_WAVEFRONTS_PATTERN_H
#define TRACEA_BENCHMARKS_GPU_WAVEFRONTS_PATTERN_H

#include "tracea/Algebra/Banks.h"
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tracea::wavefronts {

constexpr unsigned numLanes = 32;
/// Addresses lie below this many bytes.
constexpr uint32_t windowBytes = 1 << 15;

/// The instructions, in the order of `instructions()`.
enum class Op {
  Load1,
  Load2,
  Load4,
  Load8,
  Load16,
  Store1,
  Store2,
  Store4,
  Store8,
  Store16,
  LoadMatrix1,
  LoadMatrix2,
  LoadMatrix4,
  LoadMatrix4Trans,
  StoreMatrix1,
  StoreMatrix2,
  StoreMatrix4
};

struct Instruction {
  Op op;
  const char *name;
  unsigned widthBytes;
  algebra::AccessKind kind;
  /// The lanes that give an address: fewer for one and two matrices.
  unsigned addressLanes;
};
const std::vector<Instruction> &instructions();

struct Pattern {
  unsigned instruction = 0; // In instructions().
  std::string family;
  std::array<uint32_t, numLanes> offsets{};
  /// One bit for each lane that takes part.
  uint32_t active = ~0u;
  /// Cycles of the instruction by the model.
  int64_t predicted = 0;
};

/// `count` patterns of every family for every instruction: linear over F2 with
/// dense and with single-bit columns, with repeats along every lane mask,
/// translated, masked, strided, and arbitrary. Exits with a message if rank and
/// enumeration disagree.
std::vector<Pattern> makePatterns(unsigned count, uint64_t seed);

} // namespace tracea::wavefronts

#endif // TRACEA_BENCHMARKS_GPU_WAVEFRONTS_PATTERN_H
