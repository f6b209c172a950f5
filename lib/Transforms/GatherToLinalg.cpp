//===- GatherToLinalg.cpp - Gathers become reads of elements --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each element of the result reads its coordinates, and then its element.

#include "tracea/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_GATHERTOLINALG
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;

static void lower(tensor::GatherOp op) {
  IRRewriter b(op.getContext());
  b.setInsertionPoint(op);
  Location loc = op.getLoc();
  RankedTensorType type = op.getResultType();
  int64_t rank = type.getRank();
  int64_t batchRank = op.getIndicesType().getRank() - 1;
  int64_t sourceRank = op.getSourceType().getRank();
  ArrayRef<int64_t> gathered = op.getGatherDims();
  // The dimensions that are gathered have an extent of 1 in the result, or
  // none.
  bool isReduced = rank != batchRank + sourceRank;

  SmallVector<OpFoldResult> sizes;
  for (int64_t dim = 0; dim < batchRank; ++dim)
    sizes.push_back(tensor::getMixedSize(b, loc, op.getIndices(), dim));
  for (int64_t dim = 0; dim < sourceRank; ++dim) {
    if (!llvm::is_contained(gathered, dim))
      sizes.push_back(tensor::getMixedSize(b, loc, op.getSource(), dim));
    else if (!isReduced)
      sizes.push_back(b.getIndexAttr(1));
  }
  Value init = tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
  auto generic = linalg::GenericOp::create(
      b, loc, init.getType(), ValueRange(), ValueRange(init),
      ArrayRef(b.getMultiDimIdentityMap(rank)),
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [&](OpBuilder &b, Location loc, ValueRange) {
        SmallVector<Value> place, coordinates;
        for (int64_t dim = 0; dim < rank; ++dim)
          place.push_back(linalg::IndexOp::create(b, loc, dim));
        int64_t next = batchRank;
        for (int64_t dim = 0; dim < sourceRank; ++dim) {
          const int64_t *found = llvm::find(gathered, dim);
          if (found == gathered.end()) {
            coordinates.push_back(place[next++]);
            continue;
          }
          next += !isReduced;
          SmallVector<Value> at(place.begin(), place.begin() + batchRank);
          at.push_back(arith::ConstantIndexOp::create(
              b, loc, std::distance(gathered.begin(), found)));
          Value index = tensor::ExtractOp::create(b, loc, op.getIndices(), at);
          if (!index.getType().isIndex())
            index = arith::IndexCastOp::create(b, loc, b.getIndexType(), index);
          coordinates.push_back(index);
        }
        Value element =
            tensor::ExtractOp::create(b, loc, op.getSource(), coordinates);
        linalg::YieldOp::create(b, loc, element);
      });
  Value result = generic.getResult(0);
  if (result.getType() != type)
    result = tensor::CastOp::create(b, loc, type, result);
  b.replaceOp(op, result);
}

namespace {
struct GatherToLinalg
    : public mlir::tracea::impl::GatherToLinalgBase<GatherToLinalg> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<tensor::GatherOp> gathers;
    getOperation().walk([&](tensor::GatherOp op) { gathers.push_back(op); });
    llvm::for_each(gathers, lower);
  }
};
} // namespace
