//===- VectorTranspose.cpp - Transposes in registers ----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Dialect/TraceaPipe/Utils/VectorTranspose.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

SmallVector<Value>
mlir::tracea_pipe::transposeVectors(ImplicitLocOpBuilder &b,
                                    SmallVector<Value> rows) {
  // Exchange one bit of the row number with the same bit of the lane number at
  // a time (Eklundh, "A Fast Computer Method for Matrix Transposing", 1972).
  int64_t n = static_cast<int64_t>(rows.size());
  for (int64_t bit = 1; bit < n; bit *= 2) {
    SmallVector<Value> next(rows.size());
    for (int64_t row = 0; row < n; ++row) {
      if (row & bit)
        continue;
      SmallVector<int64_t> low, high;
      for (int64_t lane = 0; lane < n; ++lane) {
        low.push_back(lane & bit ? n + lane - bit : lane);
        high.push_back(lane & bit ? n + lane : lane + bit);
      }
      Value x = rows[row], y = rows[row + bit];
      next[row] = vector::ShuffleOp::create(b, x, y, low);
      next[row + bit] = vector::ShuffleOp::create(b, x, y, high);
    }
    rows = std::move(next);
  }
  return rows;
}
