//===- MaskedHalves.h - Masked loads of 16-bit floats -----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TARGET_CPU_MASKEDHALVES_H
#define TRACEA_LIB_TARGET_CPU_MASKEDHALVES_H

namespace llvm {
class Module;
} // namespace llvm

namespace mlir::tracea {

/// Has masked loads of bf16 be of integers where the code generator of the
/// module's target does not select them.
void loadHalvesAsIntegers(llvm::Module &module);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TARGET_CPU_MASKEDHALVES_H
