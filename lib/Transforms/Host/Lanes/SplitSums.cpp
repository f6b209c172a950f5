//===- SplitSums.cpp - Long reductions of few results ---------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operand is seen with a dimension more, which the parts lie along; their
// results are memory of their own, of which a second operation takes the sum:
// of all results, where there are several. The order of all sums stays fixed.
//
//===----------------------------------------------------------------------===//

#include "Lanes/SplitSums.h"
#include "Lanes/LaneTiles.h"
#include "Lanes/TileShape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;

/// Lanes that a multiprocessor is to have, to hide what each waits for: where
/// they share a sum, and where each has its own, of several rows at a time.
constexpr int64_t kSharedLanes = 2048, kOwnLanes = 1024;
/// Terms that a part has at least: of lanes that share a sum, and of lanes that
/// have one each.
constexpr int64_t kLeastShared = 2048, kLeastOwn = 64;
/// Tiles one after another that take less than the launch that would combine
/// the sums of parts.
constexpr int64_t kFewSteps = 6;

/// The largest divisor of `number` up to `most`.
static int64_t getDivisor(int64_t number, int64_t most) {
  for (int64_t divisor = std::min(most, number); divisor > 1; --divisor)
    if (number % divisor == 0)
      return divisor;
  return 1;
}

/// The same, so that parts have whole tiles of `rows` where that leaves more
/// than half as many.
static int64_t getParts(int64_t extent, int64_t rows, int64_t most) {
  int64_t parts = getDivisor(extent, most);
  if (extent % rows)
    return parts;
  int64_t whole = getDivisor(extent / rows, most);
  return 2 * whole > parts ? whole : parts;
}

/// The map with `loop` cut into two loops, the numbers of the part and inside
/// of it, where it is a result of it.
static AffineMap cutLoop(AffineMap map, unsigned loop) {
  MLIRContext *context = map.getContext();
  SmallVector<AffineExpr> dims, results;
  for (unsigned dim = 0; dim < map.getNumDims(); ++dim)
    dims.push_back(getAffineDimExpr(dim + (dim >= loop), context));
  for (AffineExpr expr : map.getResults()) {
    if (expr == getAffineDimExpr(loop, context))
      results.push_back(getAffineDimExpr(loop, context));
    results.push_back(expr.replaceDims(dims));
  }
  return AffineMap::get(map.getNumDims() + 1, 0, results, context);
}

/// Has numbers of iterations be those before `loop` was cut into parts of
/// `extent` iterations.
static void moveIndices(linalg::GenericOp op, unsigned loop, int64_t extent) {
  for (auto index : llvm::to_vector(op.getBody()->getOps<linalg::IndexOp>())) {
    if (index.getDim() < loop)
      continue;
    ImplicitLocOpBuilder b(index.getLoc(), index);
    Value inner = linalg::IndexOp::create(b, index.getDim() + 1);
    if (index.getDim() == loop) {
      Value part = linalg::IndexOp::create(b, loop);
      Value begin = arith::MulIOp::create(
          b, part, arith::ConstantIndexOp::create(b, extent));
      inner = arith::AddIOp::create(b, begin, inner);
    }
    index.replaceAllUsesWith(inner);
    index.erase();
  }
}

namespace {
/// A reduced loop and the number of its parts, 1 for none.
struct Cut {
  unsigned loop = 0;
  int64_t parts = 1;
};
} // namespace

/// Cuts the loop that gives the most parts, that along which neighbours of the
/// operand lie where it is the only one, so that the tiles of `op` become as
/// many as are wanted.
static Cut chooseCut(linalg::LinalgOp op, int64_t cores, int64_t subgroup) {
  Cut cut;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  if (llvm::any_of(extents, [](int64_t extent) {
        return ShapedType::isDynamic(extent) || extent == 0;
      }))
    return cut;
  SmallVector<OpFoldResult> sizes;
  Builder builder(op->getContext());
  for (int64_t extent : extents)
    sizes.push_back(builder.getIndexAttr(extent));
  TileShape form(op, sizes, /*isAligned=*/true, subgroup);
  int64_t tiles = 1, terms = 1;
  for (auto [loop, extent] : llvm::enumerate(extents)) {
    bool isReduced = form.isReduced(loop);
    int64_t &count = isReduced ? terms : tiles;
    int64_t step = isReduced ? 1 : form.stepOf(loop);
    if (llvm::MulOverflow<int64_t>(count, llvm::divideCeil(extent, step),
                                   count))
      return cut;
  }
  bool isShared = form.isReduced(form.columnLoop) && form.threads > form.rows;
  int64_t lanes = form.isReduced(form.columnLoop) ? kSharedLanes : kOwnLanes;
  int64_t wanted = lanes * cores / form.threads;
  bool isSoon = form.isNarrow && terms <= kFewSteps * form.rows;
  if (4 * tiles > wanted || isSoon)
    return cut;
  int64_t most = terms / (isShared ? kLeastShared : kLeastOwn);
  most = std::min(most, wanted / tiles);
  bool isOnly = true;
  for (auto [loop, extent] : llvm::enumerate(extents)) {
    if (!form.isReduced(loop) || extent < 2)
      continue;
    // Neighbours stay together unless there is nothing else to cut.
    bool isRow = loop == form.columnLoop;
    int64_t rows = loop == form.rowLoop ? form.rows : 1;
    int64_t parts = getParts(extent, rows, most);
    if (isRow ? isOnly : isOnly || parts > cut.parts)
      cut = {static_cast<unsigned>(loop), parts};
    isOnly &= isRow;
  }
  return cut;
}

void mlir::tracea::splitSum(linalg::LinalgOp op, int64_t cores,
                            int64_t subgroup) {
  SmallVector<Operation *> combiners = getTileCombiners(op);
  if (combiners.empty() || !canBeLaneTiles(op) ||
      !isa<linalg::GenericOp>(op.getOperation()) ||
      op.getNumReductionLoops() == 0)
    return;
  auto [loop, parts] = chooseCut(op, cores, subgroup);
  if (parts < 2)
    return;
  int64_t extent = op.getStaticLoopRanges()[loop];

  ImplicitLocOpBuilder b(op.getLoc(), op);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    Value memory = input->get();
    auto type = dyn_cast<MemRefType>(memory.getType());
    if (type && !type.getLayout().isIdentity())
      return;
    maps.push_back(cutLoop(map, loop));
    if (map.isFunctionOfDim(loop)) {
      SmallVector<int64_t> shape;
      SmallVector<ReassociationIndices> groups;
      for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
        ReassociationIndices &group = groups.emplace_back();
        if (expr == getAffineDimExpr(loop, op->getContext())) {
          group.push_back(static_cast<int64_t>(shape.size()));
          shape.push_back(parts);
        }
        group.push_back(static_cast<int64_t>(shape.size()));
        shape.push_back(group.size() > 1 ? extent / parts
                                         : type.getDimSize(dim));
      }
      memory = memref::ExpandShapeOp::create(b, shape, memory, groups);
    }
    inputs.push_back(memory);
  }
  // The results of all parts, part by part.
  MLIRContext *context = b.getContext();
  SmallVector<Value> results(op.getDpsInits()), partials;
  for (auto [init, combiner] :
       llvm::zip_equal(op.getDpsInitsMutable(), combiners)) {
    auto type = cast<MemRefType>(init.get().getType());
    SmallVector<int64_t> shape = {parts};
    llvm::append_range(shape, type.getShape());
    Value partial = memref::AllocOp::create(
        b, MemRefType::get(shape, type.getElementType()));
    Value neutral =
        arith::ConstantOp::create(b, *arith::getNeutralElement(combiner));
    linalg::FillOp::create(b, neutral, partial);
    partials.push_back(partial);
    AffineMap written = op.getMatchingIndexingMap(&init);
    SmallVector<AffineExpr> places = {getAffineDimExpr(loop, context)};
    llvm::append_range(places, cutLoop(written, loop).getResults());
    maps.push_back(
        AffineMap::get(written.getNumDims() + 1, 0, places, context));
  }
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  iterators.insert(iterators.begin() + loop, utils::IteratorType::parallel);
  auto first = linalg::GenericOp::create(b, inputs, partials, maps, iterators);
  first.getRegion().takeBody(op->getRegion(0));
  moveIndices(first, loop, extent / parts);

  auto rank =
      static_cast<unsigned>(cast<MemRefType>(results[0].getType()).getRank());
  SmallVector<utils::IteratorType> second(rank + 1,
                                          utils::IteratorType::parallel);
  second.front() = utils::IteratorType::reduction;
  AffineMap identity = AffineMap::getMultiDimIdentityMap(rank + 1, context);
  SmallVector<AffineMap> secondMaps(partials.size(), identity);
  secondMaps.append(partials.size(), identity.dropResult(0));
  linalg::GenericOp::create(
      b, partials, results, secondMaps, second,
      [&](OpBuilder &builder, Location loc, ValueRange values) {
        SmallVector<Value> sums;
        for (auto [number, combiner] : llvm::enumerate(combiners)) {
          // What was there before comes first.
          Value before = values[partials.size() + number];
          Operation *sum =
              builder.create(loc, combiner->getName().getIdentifier(),
                             {before, values[number]}, {before.getType()},
                             combiner->getAttrs());
          sums.push_back(sum->getResult(0));
        }
        linalg::YieldOp::create(builder, loc, sums);
      });
  op->erase();
}
