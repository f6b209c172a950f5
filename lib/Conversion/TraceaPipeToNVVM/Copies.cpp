//===- Copies.cpp - Copies by the copy unit, and by lanes -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lowering.h"
#include "RowStores.h"
#include "Walks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// The coordinates of a box in the order of its tensor map.
static SmallVector<Value> getCoordinates(Emitter &b,
                                         const TensorMapRecipe &recipe,
                                         const BulkCopy::Box &box,
                                         ValueRange indices, AffineMap map) {
  SmallVector<Value> coordinates;
  for (auto [dim, displacement] : llvm::zip(recipe.dims, box.coordinates)) {
    LinearForm form = getLinearForm(map.getResult(dim), map.getNumDims());
    coordinates.push_back(
        b.add(b.toI32(indices[dim]), form.constant + displacement));
  }
  return coordinates;
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

/// Runs `body` for each element of a tile: neighbouring lanes have neighbouring
/// elements. Coordinates are indices.
static void forEachElement(Emitter &b, ArrayRef<int64_t> shape,
                           function_ref<void(ValueRange)> body) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  // As many rounds for every lane.
  int64_t threads = b.team.getNumThreads();
  auto loop = scf::ForOp::create(
      b, b.index(0), b.index(llvm::divideCeil(count, threads)), b.index(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value rest =
      b.add(b.mul(loop.getInductionVar(), threads),
            arith::IndexCastOp::create(b, b.getIndexType(), b.team.thread));
  if (count % threads) {
    Value some = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, rest,
                                       b.index(count));
    auto ifOp = scf::IfOp::create(b, some, /*withElseRegion=*/false);
    b.setInsertionPointToStart(ifOp.thenBlock());
  }
  SmallVector<Value> at(shape.size());
  for (int64_t dim = shape.size() - 1; dim > 0; --dim) {
    at[dim] = b.createOrFold<arith::RemUIOp>(rest, b.index(shape[dim]));
    rest = b.createOrFold<arith::DivUIOp>(rest, b.index(shape[dim]));
  }
  at[0] = rest;
  body(at);
}

/// Whether `at` lies below the limits; null without any.
static Value isBelow(Emitter &b, ValueRange at, ValueRange limits) {
  Value below;
  for (auto [x, limit] : llvm::zip(at, limits)) {
    Value one = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, x, limit);
    below = below ? arith::AndIOp::create(b, below, one).getResult() : one;
  }
  return below;
}

static Value convertScalar(Emitter &b, Value value, Type to) {
  Type from = value.getType();
  if (from == to)
    return value;
  unsigned fromBits = from.getIntOrFloatBitWidth(),
           toBits = to.getIntOrFloatBitWidth();
  if (isa<FloatType>(from) && isa<FloatType>(to)) {
    if (fromBits == toBits)
      return arith::TruncFOp::create(
          b, to, arith::ExtFOp::create(b, b.getF32Type(), value));
    if (fromBits < toBits)
      return arith::ExtFOp::create(b, to, value);
    return arith::TruncFOp::create(b, to, value);
  }
  if (isa<FloatType>(to))
    return arith::SIToFPOp::create(b, to, value);
  if (isa<FloatType>(from))
    return arith::FPToSIOp::create(b, to, value);
  if (fromBits < toBits)
    return arith::ExtSIOp::create(b, to, value);
  return arith::TruncIOp::create(b, to, value);
}

static SmallVector<Value> toI32(Emitter &b, ValueRange indices) {
  SmallVector<Value> result;
  for (Value index : indices)
    result.push_back(b.toI32(index));
  return result;
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
struct LowerCopy : KernelPattern<CopyOp> {
  using KernelPattern::KernelPattern;

  void copyBulk(CopyOp op, OpAdaptor adaptor, Emitter &b,
                const BulkCopy &copy) const {
    const StagedWindow &window = context.getWindow(op.getDestMutable());
    auto acquire = window.buffer.getDefiningOp<AcquireOp>();
    const ChannelPlan &channel = context.plan.getChannel(acquire.getChannel());
    const TensorMapRecipe &recipe = context.plan.tensorMaps[copy.tensorMap];
    auto cluster = LLVM::LLVMPointerType::get(
        b.getContext(),
        static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
    Value barrier = context.fullBarriers.lookup(acquire);
    b.onLeader([&]() {
      if (!channel.arrivesEarly)
        NVVM::MBarrierExpectTxOp::create(b, barrier, b.i32(copy.bytes),
                                         NVVM::MemScopeKind::CTA);
      Value policy = b.cachePolicy(op.getReuse());
      for (const BulkCopy::Box &box : copy.boxes) {
        Value target = LLVM::AddrSpaceCastOp::create(
            b, cluster, b.sharedPointer(b.add(adaptor.getDest(), box.offset)));
        NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
            b, target, context.tensorMaps[copy.tensorMap],
            getCoordinates(b, recipe, box, adaptor.getIndices(), op.getMap()),
            barrier, /*im2colOffsets=*/ValueRange(), /*multicastMask=*/nullptr,
            policy, NVVM::TMALoadMode::TILE,
            /*isCTAOnly=*/false, /*group=*/nullptr, /*predicate=*/nullptr);
      }
    });
  }

  void copyByLanes(CopyOp op, OpAdaptor adaptor, Emitter &b) const {
    const StagedWindow &window = context.getWindow(op.getDestMutable());
    const GlobalWindow &source =
        context.globalWindows.find(&op.getSourceMutable())->second;
    auto type = cast<MemRefType>(op.getDest().getType());
    Type from = cast<MemRefType>(op.getSource().getType()).getElementType();
    forEachElement(b, type.getShape(), [&](ValueRange at) {
      Value inside = isBelow(b, at, adaptor.getLimits());
      Value pointer = b.globalPointer(source, getMapInputs(b, op, at),
                                      op.getPadded(), inside);
      Value value;
      auto load = [&]() -> Value {
        return b.load(from, pointer, from.getIntOrFloatBitWidth() / 8);
      };
      if (inside) {
        auto ifOp = scf::IfOp::create(b, TypeRange(from), inside,
                                      /*withElseRegion=*/true);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(ifOp.thenBlock());
        scf::YieldOp::create(b, load());
        b.setInsertionPointToStart(ifOp.elseBlock());
        Value zero =
            arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(from)));
        scf::YieldOp::create(b, zero);
        value = ifOp.getResult(0);
      } else {
        value = load();
      }
      value = convertScalar(b, value, type.getElementType());
      Value offset =
          b.add(adaptor.getDest(), b.stagedOffset(window, toI32(b, at)));
      b.store(value, b.sharedPointer(offset), window.layout.elementBytes);
    });
  }

  LogicalResult
  matchAndRewrite(CopyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    const StagedWindow &window = context.getWindow(op.getDestMutable());
    if (!window.buffer.getDefiningOp<AcquireOp>())
      return op.emitOpError() << "expects a slot that 'acquire' gave";
    auto bulk = context.plan.bulkCopies.find(op);
    if (bulk != context.plan.bulkCopies.end())
      copyBulk(op, adaptor, b, bulk->second);
    else
      copyByLanes(op, adaptor, b);
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerCopyOut : KernelPattern<CopyOutOp> {
  using KernelPattern::KernelPattern;

  void copyBulk(CopyOutOp op, OpAdaptor adaptor, Emitter &b,
                const BulkCopy &copy) const {
    const TensorMapRecipe &recipe = context.plan.tensorMaps[copy.tensorMap];
    b.onLeader([&]() {
      for (const BulkCopy::Box &box : copy.boxes)
        NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
            b, context.tensorMaps[copy.tensorMap],
            b.sharedPointer(b.add(adaptor.getSource(), box.offset)),
            getCoordinates(b, recipe, box, adaptor.getIndices(), op.getMap()),
            /*l2CacheHint=*/nullptr, NVVM::TMAStoreMode::TILE,
            /*predicate=*/nullptr);
    });
  }

  void copyByLanes(CopyOutOp op, OpAdaptor adaptor, Emitter &b) const {
    const StagedWindow &window = context.getWindow(op.getSourceMutable());
    const GlobalWindow &dest =
        context.globalWindows.find(&op.getDestMutable())->second;
    auto type = cast<MemRefType>(op.getSource().getType());
    forEachElement(b, type.getShape(), [&](ValueRange at) {
      auto move = [&](Value pointer) {
        Value offset =
            b.add(adaptor.getSource(), b.stagedOffset(window, toI32(b, at)));
        Value value = b.load(type.getElementType(), b.sharedPointer(offset),
                             window.layout.elementBytes);
        b.store(value, pointer, window.layout.elementBytes);
      };
      Value inside = isBelow(b, at, adaptor.getLimits());
      Value pointer = b.globalPointer(dest, at, /*checked=*/{}, inside);
      if (!inside)
        return move(pointer);
      auto ifOp = scf::IfOp::create(b, inside, /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(ifOp.thenBlock());
      move(pointer);
    });
  }

  /// The unit copies a tile that no limit cuts but the end of the memory.
  void copyWholeOrPart(CopyOutOp op, OpAdaptor adaptor, Emitter &b,
                       const BulkCopy &copy) const {
    ArrayRef<int64_t> shape =
        cast<MemRefType>(op.getSource().getType()).getShape();
    Value whole;
    for (unsigned dim : copy.wholeLimits) {
      Value fits =
          arith::CmpIOp::create(b, arith::CmpIPredicate::sge,
                                adaptor.getLimits()[dim], b.index(shape[dim]));
      whole = whole ? arith::AndIOp::create(b, whole, fits).getResult() : fits;
    }
    auto ifOp = scf::IfOp::create(b, whole, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    copyBulk(op, adaptor, b, copy);
    b.setInsertionPointToStart(ifOp.elseBlock());
    bool columnsEnd = !llvm::is_contained(copy.wholeLimits, shape.size() - 1);
    if (!columnsEnd ||
        failed(emitRowStores(
            b, op, context.getWindow(op.getSourceMutable()),
            context.globalWindows.find(&op.getDestMutable())->second,
            adaptor.getSource(), adaptor.getLimits())))
      copyByLanes(op, adaptor, b);
  }

  LogicalResult
  matchAndRewrite(CopyOutOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    auto bulk = context.plan.bulkCopies.find(op);
    if (bulk == context.plan.bulkCopies.end())
      copyByLanes(op, adaptor, b);
    else if (bulk->second.wholeLimits.empty())
      copyBulk(op, adaptor, b, bulk->second);
    else
      copyWholeOrPart(op, adaptor, b, bulk->second);
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
