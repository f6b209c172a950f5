//===- DGradPhases.cpp - Pixels of a gradient that meet the same taps -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DGradPhases.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::tracea;

SmallVector<Phase> mlir::tracea::getPhases(Conv2DDGradOp op, unsigned axis) {
  int64_t stride = op.getStrides()[axis], dilation = op.getDilations()[axis];
  int64_t pad = op.getPads()[axis];
  int64_t taps =
      cast<RankedTensorType>(op.getFilter().getType())
          .getDimSize(axis ? op.getFilterWidthDim() : op.getFilterHeightDim());
  int64_t common = std::gcd(stride, dilation);
  int64_t rows = cast<RankedTensorType>(op.getInit().getType())
                     .getDimSize(axis ? op.getWidthDim() : op.getHeightDim());
  SmallVector<Phase> phases;
  for (int64_t first = 0; first < stride; ++first) {
    if (ShapedType::isStatic(rows) && first >= rows)
      break;
    Phase phase{first, 0, stride / common, 0, dilation / common, 0, 0};
    while (phase.firstTap < taps &&
           (first + pad - phase.firstTap * dilation) % stride != 0 &&
           phase.firstTap < phase.tapStep)
      ++phase.firstTap;
    if (phase.firstTap < std::min(taps, phase.tapStep)) {
      phase.numTaps = llvm::divideCeil(taps - phase.firstTap, phase.tapStep);
      // The row of the gradient that the first row meets by the first tap.
      int64_t meets = (first + pad - phase.firstTap * dilation) / stride;
      phase.padLow = (phase.numTaps - 1) * phase.dilation - meets;
      phase.padHigh = meets;
    }
    phases.push_back(phase);
  }
  return phases;
}
