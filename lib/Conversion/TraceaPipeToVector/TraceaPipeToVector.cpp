//===- TraceaPipeToVector.cpp - The CPU way down from tiles ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the pipeline level to vector, scf and memref, the levels of stock MLIR.
// Decided here: where the buffers of a kernel lie in the workspace of a thread.

#include "Patterns.h"
#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "tracea/Conversion/Passes.h"
#include "tracea/Dialect/Tracea/IR/TargetFeatures.h"
#include "tracea/Dialect/TraceaPipe/IR/Words.h"
#include "tracea/Dialect/TraceaPipe/Utils/PastCaches.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_CONVERTTRACEAPIPETOVECTOR
#include "tracea/Conversion/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea_pipe;

//===----------------------------------------------------------------------===//
// Shared helpers
//===----------------------------------------------------------------------===//

VectorType mlir::tracea_pipe::getRegisterType(RankedTensorType tile) {
  return VectorType::get(getLanes(tile).getNumLanes(), tile.getElementType());
}

MemRefType mlir::tracea_pipe::getPlainMemRef(MemRefType type) {
  if (!isa_and_nonnull<StagedAttr>(type.getMemorySpace()))
    return type;
  // Beyond its copy and its multiply the offset form is bytes.
  return MemRefType::get(type.getShape(), getNumberType(type.getElementType()),
                         type.getLayout());
}

int64_t mlir::tracea_pipe::getSlotBytes(MemRefType buffer) {
  return llvm::alignTo(buffer.getNumElements() *
                           llvm::divideCeil(buffer.getElementTypeBitWidth(), 8),
                       kCacheLineBytes);
}

Value mlir::tracea_pipe::addIndex(ImplicitLocOpBuilder &b, Value x, Value y) {
  return b.createOrFold<arith::AddIOp>(x, y);
}

Value mlir::tracea_pipe::addIndex(ImplicitLocOpBuilder &b, Value x, int64_t y) {
  if (y == 0)
    return x;
  return addIndex(b, x, arith::ConstantIndexOp::create(b, y).getResult());
}

Value mlir::tracea_pipe::mulIndex(ImplicitLocOpBuilder &b, Value x, int64_t y) {
  if (y == 1)
    return x;
  return b.createOrFold<arith::MulIOp>(
      x, arith::ConstantIndexOp::create(b, y).getResult());
}

SmallVector<Value> mlir::tracea_pipe::getElementIndices(ImplicitLocOpBuilder &b,
                                                        ValueRange indices,
                                                        AffineMap map,
                                                        ArrayRef<int64_t> at) {
  SmallVector<Value> result;
  for (auto [index, expr] : llvm::zip(indices, map.getResults())) {
    LinearForm form = getLinearForm(expr, map.getNumDims());
    int64_t offset = form.constant;
    for (auto [coefficient, coordinate] : llvm::zip(form.coefficients, at))
      offset += coefficient * coordinate;
    result.push_back(addIndex(b, index, offset));
  }
  return result;
}

/// The number of a table for element `at`, or what it is where there is none.
static Value getGathered(ImplicitLocOpBuilder &b, GatherOp op, Value at) {
  SmallVector<Value> indices(op.getIndices());
  indices.back() = addIndex(b, indices.back(), at);
  Value isThere;
  for (auto [dim, index] : llvm::enumerate(indices)) {
    Value size = b.createOrFold<memref::DimOp>(op.getTable(), dim);
    // None is below zero and, without a sign, below the size as well.
    Value below =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index, size);
    isThere = isThere ? Value(arith::AndIOp::create(b, isThere, below)) : below;
  }
  auto ifOp = scf::IfOp::create(b, TypeRange(b.getIndexType()), isThere,
                                /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  Value number = memref::LoadOp::create(b, op.getTable(), indices);
  number = arith::IndexCastOp::create(b, b.getIndexType(), number);
  scf::YieldOp::create(b, number);
  b.setInsertionPointToStart(ifOp.elseBlock());
  Value nowhere = arith::ConstantIndexOp::create(b, GatherOp::kNowhere);
  scf::YieldOp::create(b, nowhere);
  return ifOp.getResult(0);
}

SmallVector<Value>
mlir::tracea_pipe::getWalkCoordinates(ImplicitLocOpBuilder &b, Value walk,
                                      Value at) {
  if (GatherOp gather = getGather(walk))
    return {getGathered(b, gather, at)};
  DelinearizeOp op = getDelinearize(walk);
  Value rest = addIndex(b, op.getFirst(), at);
  SmallVector<Value> coordinates;
  // No number is negative and no extent zero, so that all divisions agree.
  for (Value extent : llvm::reverse(op.getBasis())) {
    coordinates.push_back(b.createOrFold<arith::RemUIOp>(rest, extent));
    rest = b.createOrFold<arith::DivUIOp>(rest, extent);
  }
  coordinates.push_back(rest);
  std::reverse(coordinates.begin(), coordinates.end());
  return coordinates;
}

SmallVector<Value>
mlir::tracea_pipe::getElementIndices(ImplicitLocOpBuilder &b,
                                     const TileTransfer &transfer,
                                     ArrayRef<int64_t> at) {
  if (transfer.along.empty())
    return getElementIndices(b, transfer.indices, transfer.map, at);
  SmallVector<Value> coordinates = llvm::map_to_vector(at, [&](int64_t one) {
    return arith::ConstantIndexOp::create(b, one).getResult();
  });
  SmallVector<Value> inputs =
      getMapInputs<Value>(transfer, coordinates, [&](Value walk, Value one) {
        return getWalkCoordinates(b, walk, one);
      });
  SmallVector<Value> result;
  for (auto [index, expr] :
       llvm::zip(transfer.indices, transfer.map.getResults())) {
    LinearForm form = getLinearForm(expr, transfer.map.getNumDims());
    Value place = addIndex(b, index, form.constant);
    for (auto [coefficient, input] : llvm::zip(form.coefficients, inputs))
      if (coefficient)
        place = addIndex(b, place, mulIndex(b, input, coefficient));
    result.push_back(place);
  }
  return result;
}

Value mlir::tracea_pipe::convertElements(ImplicitLocOpBuilder &b, Value value,
                                         Type elementType) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == elementType)
    return value;
  Type to = elementType;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    to = vector.clone(elementType);
  if (isa<FloatType>(from) && isa<FloatType>(elementType)) {
    if (from.getIntOrFloatBitWidth() == elementType.getIntOrFloatBitWidth()) {
      // f16 and bf16: through f32, which holds both.
      Value wide = convertElements(b, value, b.getF32Type());
      return convertElements(b, wide, elementType);
    }
    if (from.getIntOrFloatBitWidth() < elementType.getIntOrFloatBitWidth())
      return arith::ExtFOp::create(b, to, value);
    return arith::TruncFOp::create(b, to, value);
  }
  if (isa<FloatType>(elementType))
    return arith::SIToFPOp::create(b, to, value);
  if (isa<FloatType>(from))
    return arith::FPToSIOp::create(b, to, value);
  if (from.getIntOrFloatBitWidth() < elementType.getIntOrFloatBitWidth())
    return arith::ExtSIOp::create(b, to, value);
  return arith::TruncIOp::create(b, to, value);
}

Value mlir::tracea_pipe::getZero(ImplicitLocOpBuilder &b, Type type) {
  return arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(type)));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Lays the buffers of a kernel's channels and scratch tiles side by side, each
/// on a cache line of its own.
static LogicalResult planWorkspace(KernelOp kernel,
                                   VectorLoweringContext &context) {
  int64_t offset = 0, trip = 0;
  WalkResult result = kernel.walk([&](Operation *op) {
    int64_t slots = 1;
    SmallVector<Type> buffers;
    if (auto channel = dyn_cast<ChannelOp>(op)) {
      slots = channel.getResult().getType().getSlots();
      llvm::append_range(buffers, channel.getResult().getType().getBuffers());
    } else if (auto scratch = dyn_cast<ScratchOp>(op)) {
      buffers.push_back(scratch.getResult().getType());
    } else if (isa<RelayoutOp, StoreOp>(op)) {
      if (MemRefType type = getUnitTripType(
              context, cast<RankedTensorType>(op->getOperand(0).getType())))
        trip = std::max(trip, getSlotBytes(type) + kCacheLineBytes);
      return WalkResult::advance();
    } else {
      return WalkResult::advance();
    }
    for (Type type : buffers) {
      auto memref = cast<MemRefType>(type);
      auto staged = cast<StagedAttr>(memref.getMemorySpace());
      if (!staged.getSwizzle().empty() || staged.getPanel()) {
        op->emitOpError() << "has a buffer with a swizzle or panels; a CPU has "
                             "no banks to spread it over";
        return WalkResult::interrupt();
      }
      context.workspaceOffsets[op].push_back(offset);
      // Room for one vector past the end, which the last masked row may touch.
      offset += getSlotBytes(memref) * slots + kCacheLineBytes;
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  // Trips of a unit's tiles follow one another.
  context.workspaceOffsets[kernel].push_back(offset);
  context.workspaceBytes[kernel] = offset + trip;
  return success();
}

/// Finds what a kernel writes past the caches: a large result of whole lines
/// that it does not read. One that multiplies has the time to read lines beside
/// that, and nothing to gain: convolutions of 1 x 1 took 7 % more.
static void findPastCaches(KernelOp kernel, VectorLoweringContext &context) {
  bool multiplies = kernel.walk([](MmaOp) { return WalkResult::interrupt(); })
                        .wasInterrupted();
  if (!context.target || multiplies)
    return;
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type || type.getRank() == 0 || !type.getLayout().isIdentity() ||
        !isWrittenPastCaches(type, context.target.getL2()) ||
        type.getShape().back() * type.getElementTypeBitWidth() %
            (8 * kCacheLineBytes))
      continue;
    auto isWrite = [&](Operation *user) {
      auto prefetch = dyn_cast<PrefetchOp>(user);
      return isa<StoreOp>(user) || (prefetch && prefetch.getWrite());
    };
    if (llvm::all_of(argument.getUsers(), isWrite))
      context.pastCaches.insert(argument.user_begin(), argument.user_end());
  }
}

namespace {
struct ConvertTraceaPipeToVector
    : mlir::tracea::impl::ConvertTraceaPipeToVectorBase<
          ConvertTraceaPipeToVector> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    MLIRContext *mlirContext = &getContext();
    VectorLoweringContext context;
    if (auto target = module->getAttrOfType<mlir::tracea::TargetAttr>(
            mlir::tracea::TraceaDialect::kTargetAttrName)) {
      if (target.getKind() != mlir::tracea::TargetKind::CPU) {
        module.emitError() << "convert-tracea-pipe-to-vector expects a CPU "
                              "target, found "
                           << target;
        return signalPassFailure();
      }
      if (int64_t bits = target.getVectorBits()) {
        if (bits < 64 || bits > 8192 || !llvm::isPowerOf2_64(bits)) {
          module.emitError()
              << "expected the target's vector_bits to be a power "
                 "of two from 64 to 8192, found "
              << bits;
          return signalPassFailure();
        }
        context.vectorBits = bits;
      }
      context.hasFma = hasFusedMultiplyAdd(target);
      context.target = target;
    }
    unrollAndJamLoops(module);
    spreadRequests(module, context.target);
    for (KernelOp kernel : module.getOps<KernelOp>()) {
      storeUnitTiles(kernel, context);
      if (failed(planWorkspace(kernel, context)))
        return signalPassFailure();
      findPastCaches(kernel, context);
    }

    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion([](MemRefType type) -> std::optional<Type> {
      return getPlainMemRef(type);
    });
    converter.addConversion([](PhaseType type) -> std::optional<Type> {
      return IndexType::get(type.getContext());
    });
    converter.addConversion(
        [](ChannelType type,
           SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
          for (Type buffer : type.getBuffers()) {
            auto memref = cast<MemRefType>(buffer);
            // Bytes, of which each slot is a typed view.
            results.push_back(
                MemRefType::get({getSlotBytes(memref) * type.getSlots()},
                                IntegerType::get(type.getContext(), 8)));
          }
          return success();
        });
    // Whoever goes along a walk computes its coordinates.
    converter.addConversion(
        [](WalkType, SmallVectorImpl<Type> &) -> std::optional<LogicalResult> {
          return success();
        });
    converter.addConversion(
        [&](RankedTensorType type,
            SmallVectorImpl<Type> &results) -> std::optional<LogicalResult> {
          if (!isRegisterTile(type))
            return std::nullopt;
          std::optional<Type> unit = getUnitRegisterType(context, type);
          results.append(getLanes(type).getNumRegisters(),
                         unit ? *unit : getRegisterType(type));
          return success();
        });

    ConversionTarget target(*mlirContext);
    target.markUnknownOpDynamicallyLegal(
        [&](Operation *op) { return converter.isLegal(op); });
    target.addIllegalDialect<TraceaPipeDialect>();
    target.addLegalOp<KernelOp, TilesOp, EndOp, WorkspaceOp, LaunchOp>();
    target.addDynamicallyLegalDialect<arith::ArithDialect>([&](Operation *op) {
      return llvm::none_of(op->getOperandTypes(), isRegisterTile) &&
             llvm::none_of(op->getResultTypes(), isRegisterTile);
    });
    RewritePatternSet patterns(mlirContext);
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    populateMemoryPatterns(converter, patterns, context);
    populateMmaPatterns(converter, patterns, context);
    populateTileUnitPatterns(converter, patterns, context);
    populateUnitStorePatterns(converter, patterns, context);
    populateElementwisePatterns(converter, patterns, context);
    populateCopyPatterns(converter, patterns, context);
    populateChannelPatterns(converter, patterns, context);
    FrozenRewritePatternSet frozen(std::move(patterns));
    for (KernelOp kernel : module.getOps<KernelOp>()) {
      if (failed(applyPartialConversion(kernel, target, frozen)))
        return signalPassFailure();
      joinUnitLoops(kernel);
      sinkUnitZeros(kernel);
      if (int64_t bytes = context.workspaceBytes[kernel])
        kernel.setWorkspaceBytes(bytes);
    }
    numScalarCopies += context.numScalarCopies;
  }
};
} // namespace
