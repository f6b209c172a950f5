//===- Patterns.h - Shared by the patterns of TraceaPipeToGPU ---*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_TILES_PATTERNS_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_TILES_PATTERNS_H

#include "Tiles/TileConversion.h"

namespace mlir::tracea_pipe {

/// A pattern that counts and plans in a context.
template <typename OpTy>
struct TilePattern : OpConversionPattern<OpTy> {
  TilePattern(const TypeConverter &converter, MLIRContext *mlirContext,
              GPULoweringContext &context, PatternBenefit benefit = 1)
      : OpConversionPattern<OpTy>(converter, mlirContext, benefit),
        context(context) {}

  GPULoweringContext &context;
};

/// What moves where, for the operations that move values.
::tracea::algebra::Expected<TileConversion>
planRelayout(RelayoutOp op, const GPULoweringContext &context);
::tracea::algebra::Expected<TileConversion>
planBroadcast(BroadcastOp op, const GPULoweringContext &context);
::tracea::algebra::Expected<int64_t>
getReduceExchangeBytes(ReduceOp op, const GPULoweringContext &context);

/// Tells which class an operation took, and what it costs.
void remarkConversion(Operation *op, const TileConversion &conversion);

void populateElementwisePatterns(const TypeConverter &converter,
                                 RewritePatternSet &patterns,
                                 GPULoweringContext &context);
void populateMovePatterns(const TypeConverter &converter,
                          RewritePatternSet &patterns,
                          GPULoweringContext &context);
void populateReducePatterns(const TypeConverter &converter,
                            RewritePatternSet &patterns,
                            GPULoweringContext &context);

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_TILES_PATTERNS_H
