//===- LaneGrid.cpp - Loops over the lanes of a GPU -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From an operation without a variant to a kernel of plain loops that a GPU
// runs: the grid is over its parallel dimensions, neighbouring lanes take
// neighbouring elements of the result, or vectors of them, and each lane goes
// through the reduced dimensions with its sums in registers.

#include "Lanes/LaneGrid.h"
#include "Lanes/LaneBody.h"
#include "Lanes/LoopExtents.h"
#include "SizeBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "tracea/Dialect/TraceaPipe/Utils/HostScalars.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// Lanes of a workgroup that has enough to do for them.
constexpr int64_t kMostLanes = 256;
/// Those along a dimension of open extent whose neighbours are neighbours in
/// memory: two accesses of 128 bytes in single precision.
constexpr int64_t kOpenLanes = 64;

/// The parallel dimensions, the one first along which the result is contiguous.
static SmallVector<unsigned> orderDims(TilingInterface op) {
  llvm::SetVector<unsigned> order;
  SmallVector<utils::IteratorType> iterators = op.getLoopIteratorTypes();
  auto add = [&](unsigned dim) {
    if (iterators[dim] == utils::IteratorType::parallel)
      order.insert(dim);
  };
  if (auto structured = dyn_cast<linalg::LinalgOp>(op.getOperation()))
    for (OpOperand &init : structured.getDpsInitsMutable())
      for (AffineExpr expr :
           llvm::reverse(structured.getMatchingIndexingMap(&init).getResults()))
        if (auto dim = dyn_cast<AffineDimExpr>(expr))
          add(dim.getPosition());
  for (unsigned dim = iterators.size(); dim-- > 0;)
    add(dim);
  return order.takeVector();
}

/// How many lanes go along each of the dimensions: powers of two, or where
/// lanes take vectors, so many that tiles of the grid have equal parts.
static SmallVector<int64_t> splitLanes(ArrayRef<unsigned> order,
                                       ArrayRef<OpFoldResult> extents,
                                       const LaneVectors &vectors,
                                       ArrayRef<int64_t> steps) {
  SmallVector<int64_t> lanes(extents.size(), 1);
  int64_t left = kMostLanes;
  for (unsigned dim : order) {
    std::optional<int64_t> known = getConstantIntValue(extents[dim]);
    int64_t count = std::max<int64_t>(
        known.value_or(dim == order.front() ? kOpenLanes : left) / steps[dim],
        1);
    lanes[dim] = vectors.getWidth() > 1
                     ? llvm::divideCeil(count, llvm::divideCeil(count, left))
                     : std::min<int64_t>(left, llvm::PowerOf2Ceil(count));
    left /= lanes[dim];
  }
  // What only the run knows takes what is left.
  if (!getConstantIntValue(extents[order.front()]))
    lanes[order.front()] *= left;
  return lanes;
}

/// How many vectors a lane takes. Where data decides their places, one load
/// waits for another, and more than one is on its way.
static int64_t countVectors(const LaneVectors &vectors,
                            ArrayRef<OpFoldResult> extents) {
  constexpr int64_t kMostVectors = 4, kLeastLanes = 32;
  if (vectors.getWidth() == 1 || !vectors.isIndirect() || vectors.asksPlaces())
    return 1;
  int64_t all =
      *getConstantIntValue(extents[vectors.getLoop()]) / vectors.getWidth();
  for (int64_t count = kMostVectors; count > 1; count /= 2) {
    int64_t lanes = all / count;
    if (all % count == 0 && lanes >= kLeastLanes &&
        (lanes <= kMostLanes || lanes % kMostLanes == 0))
      return count;
  }
  return 1;
}

/// A loop over lanes; `body` gets the number of the iteration along each
/// dimension, of which the last one's neighbours are neighbouring lanes.
static void buildLanes(OpBuilder &builder, Location loc,
                       ArrayRef<int64_t> extents,
                       function_ref<void(OpBuilder &, ValueRange)> body) {
  SmallVector<OpFoldResult> bounds;
  SmallVector<Attribute> mapping;
  for (auto [position, extent] : llvm::enumerate(extents)) {
    bounds.push_back(builder.getIndexAttr(extent));
    auto id = static_cast<uint64_t>(gpu::MappingId::LinearDim0) +
              extents.size() - 1 - position;
    mapping.push_back(gpu::GPUThreadMappingAttr::get(
        builder.getContext(), static_cast<gpu::MappingId>(id)));
  }
  auto loop = scf::ForallOp::create(builder, loc, bounds, /*outputs=*/{},
                                    builder.getArrayAttr(mapping));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop.getTerminator());
  body(builder, loop.getInductionVars());
}

FailureOr<LaneGrid> mlir::tracea::buildLaneGrid(OpBuilder &builder,
                                                TilingInterface op,
                                                const LaneVectors &vectors,
                                                const LaneBlock &block,
                                                TypedAttr start) {
  Location loc = op.getLoc();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  SmallVector<OpFoldResult> extents = getLoopExtents(builder, op);
  SmallVector<unsigned> order = orderDims(op);
  LanePart part;
  part.start = start;
  // What a lane takes side by side along each loop; its vectors lie as far
  // apart as all lanes reach.
  SmallVector<int64_t> widths(extents.size(), 1);
  for (unsigned dim = 0; dim < extents.size(); ++dim)
    widths[dim] = block.of(dim);
  widths[vectors.getLoop()] *= vectors.getWidth();
  SmallVector<int64_t> steps = widths;
  part.block = block;
  part.vectors = block.getSize();
  if (part.vectors == 1) {
    part.vectors = countVectors(vectors, extents);
    steps[vectors.getLoop()] *= part.vectors;
  }
  SmallVector<int64_t> lanes = splitLanes(order, extents, vectors, steps);
  part.distance = lanes[vectors.getLoop()] * vectors.getWidth();
  LaneGrid grid;
  // From the outermost dimension inwards.
  SmallVector<int64_t> laneExtents;
  SmallVector<Value> bounds;
  SizeBuilder size(builder, loc);
  for (unsigned dim : llvm::reverse(order)) {
    laneExtents.push_back(lanes[dim]);
    grid.lanes *= lanes[dim];
    bounds.push_back(size.value(
        size.ceilDiv(extents[dim], size.constant(lanes[dim] * steps[dim]))));
  }
  grid.tiles = TilesOp::create(builder, loc, bounds);
  op->moveBefore(&grid.tiles.getBody().front(),
                 grid.tiles.getBody().front().begin());
  builder.setInsertionPoint(op);
  bool isBuilt = true;
  buildLanes(builder, loc, laneExtents, [&](OpBuilder &b, ValueRange ids) {
    SizeBuilder at(b, loc);
    SmallVector<Value> indices(extents.size());
    Value inside;
    for (auto [dim, tile, id] :
         llvm::zip(llvm::reverse(order), grid.tiles.getIndices(), ids)) {
      // Lanes take neighbouring vectors, `part.vectors` times, or neighbouring
      // blocks.
      int64_t width = widths[dim];
      OpFoldResult first = at.mul(OpFoldResult(tile),
                                  at.constant(lanes[dim] * steps[dim] / width));
      indices[dim] =
          at.value(at.mul(at.add(first, OpFoldResult(id)), at.constant(width)));
      std::optional<int64_t> extent = getConstantIntValue(extents[dim]);
      if (extent && *extent % (lanes[dim] * steps[dim]) == 0)
        continue;
      Value holds = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                          indices[dim], at.value(extents[dim]));
      inside = inside ? arith::AndIOp::create(b, loc, inside, holds).getResult()
                      : holds;
    }
    if (inside) {
      auto branch = scf::IfOp::create(b, loc, inside, /*withElseRegion=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    if (auto structured = dyn_cast<linalg::LinalgOp>(op.getOperation())) {
      part.indices = indices;
      buildLaneBody(b, structured, vectors, part, extents);
      return;
    }
    // Of other operations the dimensions that are left are loops.
    for (unsigned dim = 0; dim < extents.size(); ++dim) {
      if (indices[dim])
        continue;
      auto loop =
          scf::ForOp::create(b, loc, at.value(at.constant(0)),
                             at.value(extents[dim]), at.value(at.constant(1)));
      b.setInsertionPointToStart(loop.getBody());
      indices[dim] = loop.getInductionVar();
    }
    isBuilt = succeeded(op.generateScalarImplementation(b, loc, indices));
  });
  if (!isBuilt)
    return failure();
  op->erase();
  return grid;
}

bool mlir::tracea::isLaneLoop(Operation *op) {
  auto loop = dyn_cast<scf::ForallOp>(op);
  return loop && loop.getRank() > 0 && !loop.getMapping() &&
         loop->getNumResults() == 0 && loop.getDynamicStep().empty() &&
         llvm::all_of(loop.getDynamicLowerBound(), isExpressible) &&
         llvm::all_of(loop.getDynamicUpperBound(), isExpressible);
}

LaneGrid mlir::tracea::buildLaneGrid(OpBuilder &builder, scf::ForallOp loop) {
  Location loc = loop.getLoc();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop);
  SizeBuilder size(builder, loc);
  // What an iteration takes is not known: few of them, which are far apart in
  // memory, spread best in small workgroups.
  constexpr int64_t kFewLanes = 32, kManyLanes = 128, kMany = 1 << 18;
  SmallVector<OpFoldResult> extents;
  for (auto [lower, upper, step] :
       llvm::zip(loop.getMixedLowerBound(), loop.getMixedUpperBound(),
                 loop.getMixedStep()))
    extents.push_back(
        size.max(size.ceilDiv(size.sub(upper, lower), step), size.constant(0)));
  int64_t iterations = 1;
  for (OpFoldResult extent : extents)
    iterations = llvm::SaturatingMultiply<uint64_t>(
        iterations, getConstantIntValue(extent).value_or(1));
  const int64_t kLanes =
      iterations >= kMany && getConstantIntValue(extents.back()) >= kManyLanes
          ? kManyLanes
          : kFewLanes;
  SmallVector<Value> bounds;
  SmallVector<int64_t> laneExtents(extents.size(), 1);
  laneExtents.back() = kLanes;
  for (auto [extent, lanes] : llvm::zip(extents, laneExtents))
    bounds.push_back(size.value(size.ceilDiv(extent, size.constant(lanes))));
  LaneGrid grid;
  grid.lanes = kLanes;
  grid.tiles = TilesOp::create(builder, loc, bounds);
  builder.setInsertionPointToStart(&grid.tiles.getBody().front());
  buildLanes(builder, loc, laneExtents, [&](OpBuilder &b, ValueRange ids) {
    SizeBuilder at(b, loc);
    SmallVector<Value> numbers(grid.tiles.getIndices());
    numbers.back() = at.value(
        at.add(at.mul(OpFoldResult(numbers.back()), at.constant(kLanes)),
               OpFoldResult(ids.back())));
    Value isInside =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, numbers.back(),
                              at.value(extents.back()));
    auto branch = scf::IfOp::create(b, loc, isInside, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
    IRMapping mapping;
    for (auto [variable, number, lower, step] :
         llvm::zip(loop.getInductionVars(), numbers, loop.getMixedLowerBound(),
                   loop.getMixedStep()))
      mapping.map(variable,
                  at.value(at.add(at.mul(OpFoldResult(number), step), lower)));
    for (Operation &inner : loop.getBody()->without_terminator())
      b.clone(inner, mapping);
  });
  loop->erase();
  return grid;
}

LaneGrid mlir::tracea::buildSingleLane(OpBuilder &builder, Location loc,
                                       function_ref<void(OpBuilder &)> body) {
  LaneGrid grid;
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  grid.tiles = TilesOp::create(builder, loc, ValueRange{one});
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&grid.tiles.getBody().front());
  buildLanes(builder, loc, {1}, [&](OpBuilder &b, ValueRange) { body(b); });
  return grid;
}
