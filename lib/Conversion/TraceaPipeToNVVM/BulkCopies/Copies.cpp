//===- Copies.cpp - Copies by the copy unit, and by lanes -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From copies that the plan has given to the copy unit (TMA) to instructions of
// it, one for each box; the others are left to lanes.

#include "Lowering.h"
#include "tracea/Conversion/TraceaPipeToGPU/LaneStores.h"
#include "tracea/Conversion/TraceaPipeToGPU/Walks.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// A coordinate of the unit, `constant` behind `index`. Numbers in memory may
/// lead further than 32 bits do. No tensor map does: nothing is there, as there
/// is nothing where 32 bits end.
static Value toCoordinate(Emitter &b, const BulkCopy &copy, Value index,
                          int64_t constant) {
  if (!copy.dependsOnMemory)
    return b.add(b.toI32(index), constant);
  index = arith::MaxSIOp::create(b, b.add(index, constant), b.index(INT32_MIN));
  return b.toI32(arith::MinSIOp::create(b, index, b.index(INT32_MAX)));
}

/// The coordinates of a box in the order of its tensor map.
static SmallVector<Value>
getCoordinates(Emitter &b, const TensorMapRecipe &recipe, const BulkCopy &copy,
               const BulkCopy::Box &box, ValueRange indices, AffineMap map) {
  SmallVector<Value> coordinates;
  for (auto [dim, displacement] : llvm::zip(recipe.dims, box.coordinates)) {
    LinearForm form = getLinearForm(map.getResult(dim), map.getNumDims());
    coordinates.push_back(
        toCoordinate(b, copy, indices[dim], form.constant + displacement));
  }
  return coordinates;
}

namespace {
/// Where a copy in im2col mode begins: the first pixel at the lower corner, and
/// how far all of them are moved.
struct ColumnStart {
  SmallVector<Value> coordinates, offsets;

  SmallVector<Value> at(Emitter &b, const BulkCopy::Box &box) const {
    SmallVector<Value> moved;
    for (auto [coordinate, by] : llvm::zip_equal(coordinates, box.coordinates))
      moved.push_back(b.add(coordinate, by));
    return moved;
  }
};
} // namespace

/// The first pixel is the same for all steps: it is computed where the walk
/// begins, outside of the loop over them.
static ColumnStart getColumnStart(Emitter &b, CopyOp op, ValueRange indices,
                                  const TensorMapRecipe &recipe,
                                  const BulkCopy &copy) {
  ColumnStart start;
  AffineMap map = op.getMap();
  auto indexAlong = [&](int64_t dim) {
    LinearForm form = getLinearForm(map.getResult(dim), map.getNumDims());
    return b.add(b.toI32(indices[dim]), form.constant);
  };
  Value walk = op.getWalks().front();
  size_t last = recipe.dims.size() - 1;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(walk.getDefiningOp());
    SmallVector<Value> first = getWalkCoordinates(b, walk, b.index(0));
    for (size_t i = 1; i < last; ++i)
      start.coordinates.push_back(
          b.add(b.mul(b.toI32(first[last - i]), recipe.getStep(i)),
                recipe.lower[i - 1]));
    start.coordinates.push_back(
        toCoordinate(b, copy, first.front(), /*constant=*/0));
  }
  start.coordinates.back() =
      b.add(start.coordinates.back(), indexAlong(recipe.dims.back()));
  start.coordinates.insert(start.coordinates.begin(),
                           indexAlong(recipe.dims.front()));
  for (size_t i = 1; i < last; ++i)
    start.offsets.push_back(arith::TruncIOp::create(
        b, b.getI16Type(),
        b.add(indexAlong(recipe.dims[i]), -recipe.lower[i - 1])));
  return start;
}

namespace {
/// A pattern for what the plan gives to the copy unit.
template <typename OpTy>
struct BulkPattern : NVVMPattern<OpTy> {
  BulkPattern(const TypeConverter &converter, MLIRContext *mlirContext,
              NVVMLoweringContext &context)
      : NVVMPattern<OpTy>(converter, mlirContext, context, /*benefit=*/4) {}

  const BulkCopy *getBulkCopy(Operation *op) const {
    auto it = this->context.plan.bulkCopies.find(op);
    return it == this->context.plan.bulkCopies.end() ? nullptr : &it->second;
  }
};

struct LowerCopy : BulkPattern<CopyOp> {
  using BulkPattern::BulkPattern;

  LogicalResult
  matchAndRewrite(CopyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    const BulkCopy *planned = getBulkCopy(op);
    if (!planned)
      return failure();
    const BulkCopy &copy = *planned;
    NVVMEmitter b(op, rewriter, context);
    const StagedWindow &window = context.getWindow(op.getDestMutable());
    auto acquire = window.buffer.getDefiningOp<AcquireOp>();
    if (!acquire)
      return op.emitOpError() << "expects a slot that 'acquire' gave";
    const ChannelPlan &channel = context.plan.getChannel(acquire.getChannel());
    const TensorMapRecipe &recipe = context.plan.tensorMaps[copy.tensorMap];
    auto cluster = LLVM::LLVMPointerType::get(
        b.getContext(),
        static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
    Value barrier = context.fullBarriers.lookup(acquire);
    b.onLeader([&]() {
      if (!channel.arrivesEarly &&
          !context.plan.expectedByCommit.contains(acquire))
        NVVM::MBarrierExpectTxOp::create(b, barrier, b.i32(copy.bytes),
                                         NVVM::MemScopeKind::CTA);
      Value policy = b.cachePolicy(op.getReuse());
      bool walks = !op.getAlong().empty();
      ColumnStart start;
      if (walks)
        start = getColumnStart(b, op, adaptor.getIndices(), recipe, copy);
      for (const BulkCopy::Box &box : copy.boxes) {
        Value target = LLVM::AddrSpaceCastOp::create(
            b, cluster, b.sharedPointer(b.add(adaptor.getDest(), box.offset)));
        NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
            b, target, context.tensorMaps[copy.tensorMap],
            walks ? start.at(b, box)
                  : getCoordinates(b, recipe, copy, box, adaptor.getIndices(),
                                   op.getMap()),
            barrier, start.offsets, /*multicastMask=*/nullptr, policy,
            walks ? NVVM::TMALoadMode::IM2COL : NVVM::TMALoadMode::TILE,
            /*isCTAOnly=*/false, /*group=*/nullptr, /*predicate=*/nullptr);
      }
    });
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerCopyOut : BulkPattern<CopyOutOp> {
  using BulkPattern::BulkPattern;

  void copyBulk(CopyOutOp op, OpAdaptor adaptor, NVVMEmitter &b,
                const BulkCopy &copy) const {
    const TensorMapRecipe &recipe = context.plan.tensorMaps[copy.tensorMap];
    b.onLeader([&]() {
      for (const BulkCopy::Box &box : copy.boxes)
        NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
            b, context.tensorMaps[copy.tensorMap],
            b.sharedPointer(b.add(adaptor.getSource(), box.offset)),
            getCoordinates(b, recipe, copy, box, adaptor.getIndices(),
                           op.getMap()),
            /*l2CacheHint=*/nullptr, NVVM::TMAStoreMode::TILE,
            /*predicate=*/nullptr);
    });
  }

  /// The unit copies a tile that no limit cuts but the end of the memory.
  LogicalResult
  matchAndRewrite(CopyOutOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    const BulkCopy *copy = getBulkCopy(op);
    if (!copy)
      return failure();
    NVVMEmitter b(op, rewriter, context);
    ArrayRef<int64_t> shape =
        cast<MemRefType>(op.getSource().getType()).getShape();
    Value whole;
    for (unsigned dim : copy->wholeLimits)
      whole =
          b.conjoin(whole, arith::CmpIOp::create(b, arith::CmpIPredicate::sge,
                                                 adaptor.getLimits()[dim],
                                                 b.index(shape[dim])));
    auto copyPart = [&]() {
      const StagedWindow &source = context.getWindow(op.getSourceMutable());
      const GlobalWindow &dest = context.getGlobalWindow(op.getDestMutable());
      bool columnsEnd =
          !llvm::is_contained(copy->wholeLimits, shape.size() - 1);
      if (!columnsEnd ||
          failed(emitRowStores(b, op, source, dest, adaptor.getSource(),
                               adaptor.getLimits())))
        emitElementStores(b, op, source, dest, adaptor.getSource(),
                          adaptor.getLimits());
    };
    b.either(whole, [&]() { copyBulk(op, adaptor, b, *copy); }, copyPart);
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populateCopyPatterns(const TypeConverter &converter,
                                             RewritePatternSet &patterns,
                                             NVVMLoweringContext &context) {
  patterns.add<LowerCopy, LowerCopyOut>(converter, patterns.getContext(),
                                        context);
}
