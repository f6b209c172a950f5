//===- HalfConversions.h - Half-precision helpers ---------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TARGET_CPU_HALFCONVERSIONS_H
#define TRACEA_LIB_TARGET_CPU_HALFCONVERSIONS_H

namespace llvm {
class Module;
} // namespace llvm

namespace mlir::tracea {

/// Defines the conversions from and to f16 and bf16 that the code generator may
/// call, where `module` has values of these types.
void addHalfConversions(llvm::Module &module);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TARGET_CPU_HALFCONVERSIONS_H
