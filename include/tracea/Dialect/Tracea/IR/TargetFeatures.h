//===- TargetFeatures.h - What a target's features say ----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEA_IR_TARGETFEATURES_H
#define TRACEA_DIALECT_TRACEA_IR_TARGETFEATURES_H

#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"

namespace mlir::tracea {

/// Whether a CPU has a fused multiply-add. Without features none is known to
/// be missing.
inline bool hasFusedMultiplyAdd(TargetAttr target) {
  StringRef features = target.getFeatures();
  return features.empty() || features.contains("+fma") ||
         features.contains("+neon");
}

/// Whether a CPU multiplies vectors by powers of two, given their exponents, in
/// one instruction that rounds once.
inline bool scalesByPowers(TargetAttr target) {
  StringRef features = target.getFeatures();
  return features.contains("+avx512f") && features.contains("+avx512vl");
}

/// Whether a CPU rounds f32 to bf16 in one instruction, all numbers or the
/// normal ones: that of x86 takes subnormal ones for zeros.
inline bool narrowsToBF16(TargetAttr target, bool isNormal) {
  StringRef features = target.getFeatures();
  return features.contains("+bf16") ||
         (isNormal && features.contains("+avx512bf16") &&
          features.contains("+avx512vl"));
}

} // namespace mlir::tracea

#endif // TRACEA_DIALECT_TRACEA_IR_TARGETFEATURES_H
