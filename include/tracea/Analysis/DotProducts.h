//===- DotProducts.h - The dot products of a module's target ----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_ANALYSIS_DOTPRODUCTS_H
#define TRACEA_ANALYSIS_DOTPRODUCTS_H

#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"
#include "tracea/TargetInfo/DotProducts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::tracea {

/// The instruction of a CPU that adds up products of `operand` in `accumulator`
/// by words; null where it has none.
inline const ::tracea::target::DotProduct *
getDotProduct(TargetAttr target, Type operand, Type accumulator) {
  using E = ::tracea::target::ElementType;
  if (!target || target.getKind() != TargetKind::CPU)
    return nullptr;
  bool isInteger = operand.isInteger(8) && accumulator.isInteger(32);
  if (!isInteger && !(operand.isBF16() && accumulator.isF32()))
    return nullptr;
  llvm::SmallVector<llvm::StringRef> features;
  target.getFeatures().split(features, ',');
  return ::tracea::target::findDotProduct(
      [&](std::string_view name) {
        return llvm::is_contained(
            features, "+" + llvm::StringRef(name.data(), name.size()).str());
      },
      static_cast<int>(target.getVectorBits()), isInteger ? E::I8 : E::BF16,
      isInteger ? E::I32 : E::F32);
}

} // namespace mlir::tracea

#endif // TRACEA_ANALYSIS_DOTPRODUCTS_H
