//===- Transposition.cpp - Transpositions and what they meet --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Layout/Transposition.h"

#include "EpilogueUtils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::tracea;

std::optional<Transposition> mlir::tracea::matchTransposition(Operation *op) {
  if (!isa_and_nonnull<linalg::LinalgOp>(op))
    return std::nullopt;
  std::string ignored;
  std::optional<ElementwiseOp> elementwise = ElementwiseOp::match(op, ignored);
  if (!elementwise)
    return std::nullopt;
  const ElementwiseOp::Input *copied = elementwise->getCopied();
  if (!copied || !copied->map.isPermutation() ||
      (copied->map.isIdentity() && !isa<linalg::TransposeOp>(op)) ||
      !isa<RankedTensorType>(copied->operand->get().getType()))
    return std::nullopt;
  return Transposition{copied->operand->get(), copied->map};
}

std::optional<Transposition> mlir::tracea::matchTransposition(Value tensor) {
  return matchTransposition(peelCasts(tensor).getDefiningOp());
}

StringRef mlir::tracea::getDims(ImageLayout layout) {
  return layout == ImageLayout::NHWC ? "nhwc" : "nchw";
}

StringRef mlir::tracea::getDims(FilterLayout layout) {
  switch (layout) {
  case FilterLayout::KRSC:
    return "krsc";
  case FilterLayout::KCRS:
    return "kcrs";
  case FilterLayout::RSCK:
    return "rsck";
  }
  llvm_unreachable("unknown filter layout");
}

std::string mlir::tracea::permuteDims(StringRef dims, AffineMap map) {
  std::string source;
  for (unsigned dim = 0; dim < map.getNumResults(); ++dim)
    source.push_back(dims[map.getDimPosition(dim)]);
  return source;
}
