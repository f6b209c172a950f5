//===- LaneLoops.cpp - Loops whose iterations are lanes -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of plain loops: from an `scf.forall` over the lanes of the workgroup,
// and accesses to single elements, to a lane's number and accesses of the
// target.

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tracea/Conversion/TraceaPipeToGPU/Emitter.h"
#include "tracea/Conversion/TraceaPipeToGPU/Patterns.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {
struct LowerLaneLoop : KernelPattern<scf::ForallOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(scf::ForallOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    int64_t threads = b.team.getNumThreads(), lanes = 1;
    for (int64_t extent : op.getStaticUpperBound())
      if (ShapedType::isDynamic(extent) || extent < 1 ||
          llvm::MulOverflow(lanes, extent, lanes) || lanes > threads)
        return op.emitOpError()
               << "expects a loop over at most the " << threads
               << " lanes of its workgroup, of constant extents";
    if (!op.isNormalized() || !op.getOutputs().empty())
      return op.emitOpError()
             << "expects a loop from 0 in steps of 1, without results";
    Value rest = b.team.thread;
    Value takesPart;
    if (lanes < threads)
      takesPart = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, rest,
                                        b.i32(lanes));
    // The last dimension's neighbours are neighbouring lanes.
    SmallVector<Value> indices;
    for (int64_t extent : llvm::reverse(op.getStaticUpperBound())) {
      bool isLast = indices.size() + 1 == op.getStaticUpperBound().size();
      Value number = rest;
      if (!isLast)
        number = b.createOrFold<arith::RemUIOp>(rest, b.i32(extent));
      rest = b.createOrFold<arith::DivUIOp>(rest, b.i32(extent));
      indices.push_back(extent == 1 ? b.index(0) : b.toIndexUnsigned(number));
    }
    std::reverse(indices.begin(), indices.end());
    Block *body = op.getBody();
    rewriter.eraseOp(body->getTerminator());
    if (!takesPart) {
      rewriter.inlineBlockBefore(body, op, indices);
    } else {
      auto branch = scf::IfOp::create(b, takesPart, /*withElseRegion=*/false);
      rewriter.inlineBlockBefore(body, branch.thenBlock()->getTerminator(),
                                 indices);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

/// Where an element is, and what memory holds for it.
struct ElementPlace {
  Address address;
  Type element;
};
} // namespace

/// What memory holds for a type that has no bytes of its own, or whose size is
/// the machine's.
static Type getStoredType(OpBuilder &b, Type element) {
  if (element.isIndex())
    return b.getI64Type();
  return element.isInteger(1) ? b.getI8Type() : element;
}

static unsigned getBytes(Type type) { return type.getIntOrFloatBitWidth() / 8; }

const GlobalBuffer *
mlir::tracea_pipe::findArgument(Value memory, const KernelContext &context) {
  if (auto view = memory.getDefiningOp<memref::ReinterpretCastOp>())
    memory = view.getSource();
  auto argument = context.arguments.find(memory);
  return argument == context.arguments.end() ? nullptr : &argument->second;
}

/// The place in an argument of the kernel, or in a view of one that offset and
/// strides describe.
static ElementPlace findElement(Emitter &b, Value memory, ValueRange indices) {
  GlobalBuffer buffer = *findArgument(memory, b.context);
  auto view = memory.getDefiningOp<memref::ReinterpretCastOp>();
  Type element = getStoredType(b, buffer.type.getElementType());
  buffer.type = MemRefType::get(buffer.type.getShape(), element);
  if (!view)
    return ElementPlace{
        b.target.getGlobal(b, buffer,
                           [&](unsigned dim) { return indices[dim]; }),
        element};
  auto toValue = [&](OpFoldResult number) {
    if (auto value = dyn_cast<Value>(number))
      return b.remap(value);
    return b.index(*getConstantIntValue(number));
  };
  Value offset = toValue(view.getMixedOffsets().front());
  for (auto [index, stride] : llvm::zip(indices, view.getMixedStrides()))
    offset =
        b.add(offset, b.createOrFold<arith::MulIOp>(index, toValue(stride)));
  Address begin =
      b.target.getGlobal(b, buffer, [&](unsigned) { return b.index(0); });
  offset = arith::IndexCastOp::create(b, b.getI64Type(), offset);
  return ElementPlace{b.advance(begin, element, offset), element};
}

namespace {
struct LowerElementLoad : KernelPattern<memref::LoadOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(memref::LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    if (!findArgument(op.getMemRef(), context))
      return failure();
    ElementPlace place = findElement(b, op.getMemRef(), adaptor.getIndices());
    Type type = op.getType();
    Value value = b.load(place.element, place.address, getBytes(place.element));
    if (type.isIndex())
      value = arith::IndexCastOp::create(b, type, value);
    else if (type != place.element)
      value = arith::TruncIOp::create(b, type, value);
    rewriter.replaceOp(op, value);
    return success();
  }
};

struct LowerElementStore : KernelPattern<memref::StoreOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(memref::StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    if (!findArgument(op.getMemRef(), context))
      return failure();
    ElementPlace place = findElement(b, op.getMemRef(), adaptor.getIndices());
    Value value = adaptor.getValue();
    if (value.getType().isIndex())
      value = arith::IndexCastOp::create(b, place.element, value);
    else if (value.getType() != place.element)
      value = arith::ExtUIOp::create(b, place.element, value);
    b.store(value, place.address, getBytes(place.element));
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerElementRaise : KernelPattern<memref::AtomicRMWOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(memref::AtomicRMWOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    if (!findArgument(op.getMemref(), context))
      return failure();
    if (op.getKind() != arith::AtomicRMWKind::maxu ||
        !op.getType().isInteger(64) || !op.getResult().use_empty())
      return op.emitOpError()
             << "expects the greater of two numbers without a sign, of 64 bits "
                "and not used again";
    ElementPlace place = findElement(b, op.getMemref(), adaptor.getIndices());
    b.target.raise(b, adaptor.getValue(), place.address);
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populateLaneLoopPatterns(const TypeConverter &converter,
                                                 RewritePatternSet &patterns,
                                                 KernelContext &context) {
  patterns.add<LowerLaneLoop, LowerElementLoad, LowerElementStore,
               LowerElementRaise>(converter, patterns.getContext(), context);
}
