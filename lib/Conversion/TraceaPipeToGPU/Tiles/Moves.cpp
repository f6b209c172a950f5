//===- Moves.cpp - Relayouts, broadcasts, slices --------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From operations that move elements of register tiles to the cheapest
// conversion that the algebra of lane maps finds: registers renamed, shuffles,
// or memory.

#include "Tiles/Patterns.h"
#include "mlir/IR/Remarks.h"

#define DEBUG_TYPE "convert-tracea-pipe-to-gpu"

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

static Type getElementType(Value tile) {
  return cast<RankedTensorType>(tile.getType()).getElementType();
}

alg::Expected<TileConversion>
mlir::tracea_pipe::planRelayout(RelayoutOp op,
                                const GPULoweringContext &context) {
  alg::Expected<MovedMaps> maps = getMovedMaps(op.getValue(), op.getResult());
  if (!maps)
    return maps.error();
  return TileConversion::get(maps->from, maps->to,
                             getElementType(op.getValue()), context);
}

/// The dimensions that a broadcast repeats.
static SmallVector<unsigned> getRepeated(BroadcastOp op) {
  SmallVector<unsigned> dims;
  auto from = cast<RankedTensorType>(op.getValue().getType());
  for (auto [dim, extent] : llvm::enumerate(from.getShape()))
    if (extent == 1)
      dims.push_back(dim);
  return dims;
}

alg::Expected<TileConversion>
mlir::tracea_pipe::planBroadcast(BroadcastOp op,
                                 const GPULoweringContext &context) {
  alg::Expected<MovedMaps> maps = getMovedMaps(op.getValue(), op.getResult());
  if (!maps)
    return maps.error();
  alg::Expected<alg::LaneMap> wanted = project(maps->to, getRepeated(op));
  if (!wanted)
    return wanted.error();
  return TileConversion::get(maps->from, *wanted, getElementType(op.getValue()),
                             context);
}

void mlir::tracea_pipe::remarkConversion(Operation *op,
                                         const TileConversion &conversion) {
  remark::passed(op->getLoc(),
                 remark::RemarkOpts::name("TileMoved").category(DEBUG_TYPE))
      << remark::metric("Operation", op->getName().getStringRef())
      << remark::metric("Class",
                        alg::conversionClassName(conversion.getClass()))
      << remark::metric("Shuffles", conversion.getNumShuffles())
      << remark::metric("MemoryCycles", conversion.getMemoryCycles())
      << remark::metric("Bytes", conversion.getExchangeBytes());
}

/// The vector of all registers after the conversion, or an error.
static FailureOr<SmallVector<Value>>
emitConversion(ImplicitLocOpBuilder &b, Operation *op, Value vector,
               const alg::Expected<TileConversion> &conversion,
               GPULoweringContext &context) {
  if (!conversion)
    return op->emitOpError() << "cannot be lowered: " << conversion.message();
  Threads threads(b, op, context);
  Value exchange;
  if (conversion->getExchangeBytes() && !(exchange = getExchange(threads)))
    return op->emitOpError() << "moves values between warps, and nobody has "
                                "planned memory for it";
  remarkConversion(op, *conversion);
  return conversion->emit(threads, getElements(b, vector), exchange);
}

namespace {
struct LowerRelayout : TilePattern<RelayoutOp> {
  using TilePattern::TilePattern;
  LogicalResult
  matchAndRewrite(RelayoutOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    FailureOr<SmallVector<Value>> registers = emitConversion(
        b, op, adaptor.getValue(), planRelayout(op, context), context);
    if (failed(registers))
      return failure();
    rewriter.replaceOp(op,
                       getVector(b, getElementType(op.getValue()), *registers));
    return success();
  }
};

struct LowerBroadcast : TilePattern<BroadcastOp> {
  using TilePattern::TilePattern;
  LogicalResult
  matchAndRewrite(BroadcastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    FailureOr<SmallVector<Value>> held = emitConversion(
        b, op, adaptor.getValue(), planBroadcast(op, context), context);
    if (failed(held))
      return failure();
    // Repeats along what is repeated are the same register.
    LanesAttr to = getLanes(op.getResult().getType());
    SmallVector<unsigned> repeated = getRepeated(op);
    int64_t linear = int64_t(1) << to.getReg().size();
    SmallVector<Value> registers;
    for (int64_t reg = 0; reg < to.getNumRegisters(); ++reg) {
      int64_t rest = reg / linear, index = 0, step = 1;
      for (unsigned dim = to.getRank(); dim-- > 0;) {
        int64_t repeat = rest % to.getOuter()[dim];
        rest /= to.getOuter()[dim];
        if (llvm::is_contained(repeated, dim))
          continue;
        index += repeat * step;
        step *= to.getOuter()[dim];
      }
      registers.push_back((*held)[index * linear + reg % linear]);
    }
    rewriter.replaceOp(op,
                       getVector(b, getElementType(op.getValue()), registers));
    return success();
  }
};

struct LowerSlice : TilePattern<SliceOp> {
  using TilePattern::TilePattern;
  LogicalResult
  matchAndRewrite(SliceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    std::optional<SmallVector<int64_t>> registers = op.getRegisters();
    if (!registers)
      return op.emitOpError() << "cannot be lowered: its lane maps differ in "
                                 "lanes or warps";
    SmallVector<Value> elements = getElements(b, adaptor.getValue()), kept;
    for (int64_t reg : *registers)
      kept.push_back(elements[reg]);
    rewriter.replaceOp(op, getVector(b, getElementType(op.getValue()), kept));
    return success();
  }
};
} // namespace

FailureOr<int64_t> mlir::tracea_pipe::getExchangeBytes(
    Operation *op, const GPULoweringContext &context, std::string &reason) {
  auto bytesOf = [&](const alg::Expected<TileConversion> &conversion)
      -> FailureOr<int64_t> {
    if (conversion)
      return conversion->getExchangeBytes();
    reason = conversion.message();
    return failure();
  };
  if (auto relayout = dyn_cast<RelayoutOp>(op))
    return bytesOf(planRelayout(relayout, context));
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    return bytesOf(planBroadcast(broadcast, context));
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce)
    return 0;
  alg::Expected<int64_t> bytes = getReduceExchangeBytes(reduce, context);
  if (bytes)
    return *bytes;
  reason = bytes.message();
  return failure();
}

void mlir::tracea_pipe::populateMovePatterns(const TypeConverter &converter,
                                             RewritePatternSet &patterns,
                                             GPULoweringContext &context) {
  patterns.add<LowerRelayout, LowerBroadcast, LowerSlice>(
      converter, patterns.getContext(), context);
}
