//===- HeldCopies.h - Copies that wait in registers -------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_COPIES_HELDCOPIES_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_COPIES_HELDCOPIES_H

#include "tracea/Conversion/TraceaPipeToGPU/Emitter.h"

namespace mlir::tracea_pipe {

/// What a lane has loaded for a slot of a local ring, on targets without copies
/// that run beside lanes: it is stored where the slot is handed on, so that the
/// loads run while the lanes compute.
class HeldCopies {
public:
  /// The value goes to a place in staged memory.
  void add(Value value, const Address &place, int64_t bytes) {
    entries.push_back({value, place, bytes});
  }
  /// Stores all before the commit of the slot that `copy` fills, or at once
  /// where no commit follows in the block.
  void store(Emitter &b, CopyOp copy, AcquireOp acquire) const;

private:
  struct Entry {
    Value value;
    Address place;
    int64_t bytes;
  };
  SmallVector<Entry> entries;
};

/// An element where it lies `inside`, zero elsewhere; null lies everywhere.
Value loadElement(Emitter &b, Type type, const Address &from, Value inside);

/// Copies into slots that lanes fill, by a `Copy` that says whether it can and
/// emits itself.
template <typename Copy>
struct LaneCopyPattern : KernelPattern<CopyOp> {
  LaneCopyPattern(const TypeConverter &converter, MLIRContext *mlirContext,
                  KernelContext &context)
      : KernelPattern(converter, mlirContext, context, Copy::kBenefit) {}

  LogicalResult
  matchAndRewrite(CopyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    const StagedWindow &window = context.getWindow(op.getDestMutable());
    auto acquire = window.buffer.getDefiningOp<AcquireOp>();
    if (!acquire || !context.plan.getChannel(acquire.getChannel()).isLocal)
      return failure();
    Emitter b(op, rewriter, context);
    Copy copy(b, op, window, context.getGlobalWindow(op.getSourceMutable()),
              adaptor.getDest());
    if (!copy.matches())
      return failure();
    copy.emit();
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_COPIES_HELDCOPIES_H
