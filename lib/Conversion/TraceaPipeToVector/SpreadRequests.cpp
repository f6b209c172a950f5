//===- SpreadRequests.cpp - Requests stand among products -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A core has few places for lines that are on their way. What is asked for at
// once before a multiply takes them all, and the panels of the multiply wait.
// A long multiply of packed panels is cut along k, and each piece makes its
// share of the requests that stand right before. The sums go on from piece to
// piece, in the same order.

#include "Patterns.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tracea/Dialect/TraceaPipe/IR/Words.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Shorter loops cost more than they hide.
constexpr int64_t kFewestSteps = 32;

/// The requests right before `mma`, with nothing but computations between.
static SmallVector<PrefetchOp> getRequests(MmaOp mma) {
  SmallVector<PrefetchOp> requests;
  for (Operation *op = mma->getPrevNode(); op; op = op->getPrevNode()) {
    if (auto request = dyn_cast<PrefetchOp>(op))
      requests.push_back(request);
    else if (op->getNumRegions() != 0 || !isMemoryEffectFree(op))
      break;
  }
  std::reverse(requests.begin(), requests.end());
  return requests;
}

/// The dimension of its tile that a request is shared along: not that of the
/// rows of memory, for these are lines.
static std::optional<int64_t> getSharedDim(PrefetchOp request) {
  ArrayRef<int64_t> shape = request.getShape();
  for (auto [dim, extent] : llvm::enumerate(shape.drop_back()))
    if (extent > 1)
      return dim;
  return std::nullopt;
}

/// The share of piece `piece` of `count`.
static void emitShare(ImplicitLocOpBuilder &b, PrefetchOp request, Value piece,
                      int64_t count) {
  int64_t dim = *getSharedDim(request);
  SmallVector<int64_t> shape(request.getShape());
  shape[dim] = llvm::divideCeil(shape[dim], count);
  Value first = mulIndex(b, piece, shape[dim]);
  SmallVector<Value> indices;
  AffineMap map = request.getMap();
  for (auto [index, expr] :
       llvm::zip_equal(request.getIndices(), map.getResults())) {
    int64_t step = getLinearForm(expr, map.getNumDims()).coefficients[dim];
    indices.push_back(step == 0 ? index
                                : addIndex(b, index, mulIndex(b, first, step)));
  }
  // Beyond the limits nothing is needed, and nothing harmed.
  PrefetchOp::create(b, request.getSource(), indices, /*limits=*/ValueRange(),
                     map, shape, request.getWrite(), request.getLevel());
}

/// `steps` of k from `k` on of an operand, whose dimension of k is `dim`.
static Value getPiece(ImplicitLocOpBuilder &b, Value operand, int64_t dim,
                      Value k, int64_t steps) {
  auto type = cast<MemRefType>(operand.getType());
  SmallVector<int64_t> strides, shape(type.getShape());
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  shape[dim] = steps;
  auto layout =
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, strides);
  SmallVector<Value> offsets(2, arith::ConstantIndexOp::create(b, 0));
  offsets[dim] = k;
  return ViewOp::create(b,
                        MemRefType::get(shape, type.getElementType(), layout,
                                        type.getMemorySpace()),
                        operand, offsets,
                        AffineMap::getMultiDimIdentityMap(2, b.getContext()));
}

/// Whether both operands are panels: what a step takes of them follows what the
/// step before took.
static bool multipliesPanels(MmaOp mma) {
  auto isPanel = [](Type operand, unsigned dimK) {
    auto type = dyn_cast<MemRefType>(operand);
    SmallVector<int64_t> strides;
    int64_t offset;
    return type && type.getRank() == 2 && type.hasStaticShape() &&
           getWordLength(type) == 1 &&
           succeeded(type.getStridesAndOffset(strides, offset)) &&
           strides[1 - dimK] == 1 && strides[dimK] == type.getDimSize(1 - dimK);
  };
  return mma.getLimits().empty() && isPanel(mma.getLhs().getType(), 1) &&
         isPanel(mma.getRhs().getType(), 0);
}

static void spread(MmaOp mma) {
  SmallVector<PrefetchOp> requests = getRequests(mma);
  llvm::erase_if(requests,
                 [](PrefetchOp request) { return !getSharedDim(request); });
  auto rhs = cast<MemRefType>(mma.getRhs().getType());
  int64_t rows = cast<ShapedType>(mma.getAcc().getType()).getDimSize(0);
  int64_t extent = rhs.getDimSize(0);
  int64_t steps =
      std::max<int64_t>(kFewestSteps, llvm::divideCeil(extent, rows));
  if (requests.empty() || extent < 2 * kFewestSteps)
    return;
  ImplicitLocOpBuilder b(mma.getLoc(), mma);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  Value depth = mma.getDepth() ? mma.getDepth() : constant(extent);
  auto loop = scf::ForOp::create(b, constant(0), depth, constant(steps),
                                 ValueRange(mma.getAcc()));
  b.setInsertionPointToStart(loop.getBody());
  Value k = loop.getInductionVar();
  Value piece = arith::DivUIOp::create(b, k, constant(steps));
  for (PrefetchOp request : requests)
    emitShare(b, request, piece, llvm::divideCeil(extent, steps));
  Value rest = b.createOrFold<arith::SubIOp>(depth, k);
  Value left = getPiece(b, mma.getLhs(), 1, k, steps);
  Value right = getPiece(b, mma.getRhs(), 0, k, steps);
  Value sum = MmaOp::create(b, left, right, loop.getRegionIterArg(0),
                            arith::MinSIOp::create(b, rest, constant(steps)),
                            ValueRange(), mma.getPrecision());
  scf::YieldOp::create(b, sum);
  mma.getResult().replaceAllUsesWith(loop.getResult(0));
  mma.erase();
  for (PrefetchOp request : requests)
    request.erase();
}

void mlir::tracea_pipe::spreadRequests(Operation *root) {
  SmallVector<MmaOp> products;
  root->walk([&](MmaOp mma) {
    if (multipliesPanels(mma))
      products.push_back(mma);
  });
  for (MmaOp mma : products)
    spread(mma);
}
