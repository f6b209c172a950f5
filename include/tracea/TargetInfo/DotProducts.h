//===- DotProducts.h - Dot products of a CPU --------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An instruction that adds several products of narrow elements to each of its
// wider sums. Operands hold the elements of a sum side by side: a word of 32
// bits, of four 8-bit integers or two halves, or one of 64. The vector unit
// adds one word to each lane of a vector, or the words of two rows by those of
// two columns to a block of four lanes; a tile unit multiplies a tile of words
// by another, and its sums are a tile of vectors.
//
//===----------------------------------------------------------------------===//
#ifndef TRACEA_TARGETINFO_DOTPRODUCTS_H
#define TRACEA_TARGETINFO_DOTPRODUCTS_H

#include "tracea/TargetInfo/TargetInfo.h"

#include <functional>

namespace tracea::target {

/// The tiles of an instruction that multiplies tiles of words.
struct TileShape {
  /// Rows of the sums. Those of a unit with registers of its own have a vector
  /// each; others share one.
  int rows = 1;
  /// Words along k that one instruction adds up.
  int words = 1;
  /// The unit's registers, each of one tile; 0: it works on vectors.
  int registers = 0;
};

struct DotProduct {
  /// What a processor has to have, by LLVM's name.
  std::string_view feature;
  /// LLVM's intrinsic of the vector unit: (sums, first operand, second operand)
  /// -> sums, or without sums. Empty for a tile unit, whose instructions have a
  /// dialect.
  std::string_view intrinsic;
  int vectorBits = 0;
  ElementType operand = ElementType::I8;
  ElementType accumulator = ElementType::I32;
  /// Products that one lane adds up.
  int folded = 1;
  /// Whether the first operand is unsigned. A signed number n goes in as
  /// n + 128, and 128 times the sum of the second operand is taken off again:
  /// exact, for integers wrap around.
  bool isFirstUnsigned = false;
  /// The order and the rounding of one step of a sum, as a certificate names
  /// them; two instructions of one name compute the same bits.
  std::string_view arithmetic;
  /// What executes it.
  UnitKind unit = UnitKind::Vector;
  TileShape tile = {};
  /// Whether the arithmetic is of a whole instruction of a tile unit: the words
  /// of one step of k are not added one after the other.
  bool joinsWords = false;
  /// What words hold the operands' elements as: staging widens them.
  ElementType element = operand;
  /// Whether it adds to sums; else a vector addition does.
  bool addsToSums = true;

  /// Whether subnormal numbers are zeros to it, and its sums none: so it is
  /// with all that add up floats.
  bool flushes() const { return accumulator == ElementType::F32; }

  /// Sums of one vector, and of one row.
  int lanes() const {
    return vectorBits / static_cast<int>(bitWidth(accumulator));
  }
  int columns() const {
    return tile.registers > 0 ? lanes() : lanes() / tile.rows;
  }
};

/// Whether there is a feature, by LLVM's name.
using HasFeature = std::function<bool(std::string_view)>;

/// The instruction that processors with these features and vectors have on that
/// unit for such products, or null.
const DotProduct *findDotProduct(const HasFeature &hasFeature, int vectorBits,
                                 UnitKind unit, ElementType operand,
                                 ElementType accumulator);
const DotProduct *findDotProduct(const TargetDescription &target, UnitKind unit,
                                 ElementType operand, ElementType accumulator);

/// The same of words that hold their elements as `element`.
const DotProduct *findWordProduct(const HasFeature &hasFeature, int vectorBits,
                                  UnitKind unit, ElementType element,
                                  ElementType accumulator);

/// The one of the units of the target that multiplies such words fastest, or
/// null. Of several whose rate is not known it is the vector unit.
const DotProduct *findFastestDotProduct(const TargetDescription &target,
                                        ElementType operand,
                                        ElementType accumulator);

/// The features, by LLVM's names, one of which gives processors of that
/// architecture such products; empty where none does.
std::vector<std::string_view> dotFeatures(std::string_view arch,
                                          ElementType operand,
                                          ElementType accumulator);
/// Those of one unit.
std::vector<std::string_view> dotFeatures(std::string_view arch,
                                          ElementType operand,
                                          ElementType accumulator,
                                          UnitKind unit);

} // namespace tracea::target

#endif // TRACEA_TARGETINFO_DOTPRODUCTS_H
