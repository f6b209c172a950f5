//===- Read.cpp - Numbers that memory holds -------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every lane loads what it wants to know: all find one number, so that nobody
// has to be told it. The load says that nobody changes the memory, for the
// proof of the lowered kernel knows nothing else of it.

#include "tracea/Conversion/TraceaPipeToGPU/Emitter.h"
#include "tracea/Conversion/TraceaPipeToGPU/Patterns.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {
struct LowerRead : KernelPattern<ReadOp> {
  using KernelPattern::KernelPattern;
  LogicalResult
  matchAndRewrite(ReadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto source = context.arguments.find(op.getSource());
    if (source == context.arguments.end())
      return op.emitOpError() << "expects memory that is an argument of the "
                                 "kernel";
    Emitter b(op, rewriter, context);
    Type element = op.getSource().getType().getElementType();
    // A condition has a byte.
    bool isCondition = element.isInteger(1);
    if (isCondition)
      element = b.getI8Type();
    Address place =
        b.target.getGlobal(b, source->second, [&](unsigned dim) -> Value {
          return adaptor.getIndices()[dim];
        });
    Value number = b.target.loadUnchanged(b, element, place,
                                          element.getIntOrFloatBitWidth() / 8);
    if (isCondition)
      rewriter.replaceOpWithNewOp<arith::IndexCastUIOp>(
          op, rewriter.getIndexType(), number);
    else
      rewriter.replaceOpWithNewOp<arith::IndexCastOp>(
          op, rewriter.getIndexType(), number);
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populateReadPatterns(const TypeConverter &converter,
                                             RewritePatternSet &patterns,
                                             KernelContext &context) {
  patterns.add<LowerRead>(converter, patterns.getContext(), context);
}
