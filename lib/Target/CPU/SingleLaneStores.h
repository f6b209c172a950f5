//===- SingleLaneStores.h - Masked stores of one element --------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TARGET_CPU_SINGLELANESTORES_H
#define TRACEA_LIB_TARGET_CPU_SINGLELANESTORES_H

namespace llvm {
class Module;
} // namespace llvm

namespace mlir::tracea {

/// Makes plain stores of masked ones of which one lane is known to be stored.
void storeSingleLanes(llvm::Module &module);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TARGET_CPU_SINGLELANESTORES_H
