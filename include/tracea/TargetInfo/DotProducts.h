//===- DotProducts.h - Dot products of a CPU's vector unit ------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An instruction that adds several products of narrow elements to each lane of
// a vector of wider sums. Operands hold the elements of a lane side by side: a
// word of 32 bits, of four 8-bit integers or two halves.
//
//===----------------------------------------------------------------------===//
#ifndef TRACEA_TARGETINFO_DOTPRODUCTS_H
#define TRACEA_TARGETINFO_DOTPRODUCTS_H

#include "tracea/TargetInfo/TargetInfo.h"

#include <functional>

namespace tracea::target {

struct DotProduct {
  /// What a processor has to have, by LLVM's name.
  std::string_view feature;
  /// LLVM's intrinsic: (sums, first operand, second operand) -> sums.
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
};

/// Whether there is a feature, by LLVM's name.
using HasFeature = std::function<bool(std::string_view)>;

/// The instruction that processors with these features and vectors have for
/// such products, or null.
const DotProduct *findDotProduct(const HasFeature &hasFeature, int vectorBits,
                                 ElementType operand, ElementType accumulator);
const DotProduct *findDotProduct(const TargetDescription &target,
                                 ElementType operand, ElementType accumulator);

/// The features, by LLVM's names, one of which gives vectors of any processor
/// of that architecture such products; empty where none does.
std::vector<std::string_view> dotFeatures(std::string_view arch,
                                          ElementType operand,
                                          ElementType accumulator);

} // namespace tracea::target

#endif // TRACEA_TARGETINFO_DOTPRODUCTS_H
