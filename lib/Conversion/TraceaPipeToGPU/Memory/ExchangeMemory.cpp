//===- ExchangeMemory.cpp - Values that pass between warps ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first step moves values between warps through scratch memory, by accesses
// to its elements in a row. Here they become accesses of the target, at offsets
// from where the plan has laid that memory out.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "tracea/Conversion/TraceaPipeToGPU/Patterns.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {
/// Other elements at a distance in bytes.
struct LowerView : KernelPattern<memref::ViewOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(memref::ViewOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    rewriter.replaceOp(
        op, b.add(adaptor.getSource(), b.toI32(adaptor.getByteShift())));
    return success();
  }
};

/// A load or store of elements in a row.
template <typename OpTy>
struct LowerAccess : KernelPattern<OpTy> {
  using Base = KernelPattern<OpTy>;
  using Base::Base;

  static Value getMemory(OpTy op) {
    if constexpr (std::is_same_v<OpTy, vector::LoadOp> ||
                  std::is_same_v<OpTy, vector::StoreOp>)
      return op.getBase();
    else
      return op.getMemRef();
  }

  LogicalResult
  matchAndRewrite(OpTy op, typename Base::OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, this->context);
    Value memory = getMemory(op);
    if (findArgument(memory, this->context))
      return failure();
    auto type = cast<MemRefType>(memory.getType());
    if (type.getRank() != 1)
      return op.emitOpError() << "expects elements in a row, found " << type;
    Value start = b.target.getStart(b, b.remap(memory));
    Value bytes =
        b.mul(b.toI32(adaptor.getIndices().front()), getElementBytes(type));
    StagedWindow window;
    window.buffer = memory;
    Address place = b.staged(window, b.add(start, bytes));
    auto alignment = static_cast<unsigned>(op.getAlignment().value_or(0));
    if constexpr (std::is_same_v<OpTy, memref::LoadOp> ||
                  std::is_same_v<OpTy, vector::LoadOp>) {
      rewriter.replaceOp(op, b.load(op.getType(), place, alignment));
    } else {
      b.store(adaptor.getOperands().front(), place, alignment);
      rewriter.eraseOp(op);
    }
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populateExchangeMemoryPatterns(
    const TypeConverter &converter, RewritePatternSet &patterns,
    KernelContext &context) {
  patterns
      .add<LowerView, LowerAccess<memref::LoadOp>, LowerAccess<memref::StoreOp>,
           LowerAccess<vector::LoadOp>, LowerAccess<vector::StoreOp>>(
          converter, patterns.getContext(), context);
}
