//===- JoinReads.h - Single reads of a lane that are vectors ----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_LANEREADS_JOINREADS_H
#define TRACEA_LIB_TRANSFORMS_HOST_LANEREADS_JOINREADS_H

#include "mlir/IR/Operation.h"

namespace mlir::tracea {

/// Has what a lane's iterations read one by one in `root` read as vectors where
/// their places are neighbours, after unrolling the innermost loops. What is
/// read beside stays inside of a row; memory must begin where vectors can.
void joinReads(Operation *root);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_LANEREADS_JOINREADS_H
