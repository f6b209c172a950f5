//===- Lowering.h - Shared by the patterns of TraceaPipeToNVVM --*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_LOWERING_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_LOWERING_H

#include "Kernels/KernelPlan.h"
#include "NVVMTarget.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tracea/Conversion/TraceaPipeToGPU/Emitter.h"

namespace mlir::tracea_pipe {

/// What the patterns know of one kernel.
struct NVVMLoweringContext : KernelContext {
  NVVMLoweringContext(NVVMTarget &target, NVVMPlan &plan)
      : KernelContext(target, plan), target(target), plan(plan) {}

  NVVMTarget &target;
  NVVMPlan &plan;
  LLVM::LLVMFuncOp function;
  /// The maps of `plan.tensorMaps`, !llvm.ptr.
  SmallVector<Value> tensorMaps;
  /// The barrier that says that a slot is full, for each acquire.
  DenseMap<Operation *, Value> fullBarriers;
};

/// Makes the function of a kernel: parameters, the set-up of barriers, the grid
/// as the number of the workgroup, roles as branches over the number of the
/// warp. What is inside moves there as it is.
LogicalResult buildFunction(NVVMLoweringContext &context);

/// Has the host divide by what the launch knows, as the interface says.
void passDivisors(NVVMLoweringContext &context);

/// 90 for a module whose target is sm_90a; nothing for other names.
std::optional<unsigned> getCapability(KernelOp kernel);

/// Lowers what all GPUs share of register tiles: arithmetic, relayouts,
/// reductions. Loads, stores and conversions to halves stay.
LogicalResult convertSharedTiles(KernelOp kernel, const NVVMTarget &target);

/// Emits code of one operation, with what only these GPUs have.
class NVVMEmitter : public Emitter {
public:
  NVVMEmitter(Operation *op, ConversionPatternRewriter &rewriter,
              NVVMLoweringContext &context)
      : Emitter(op, rewriter, context), context(context) {}

  /// A pointer into shared memory: so many bytes (i32) from its beginning.
  Value sharedPointer(Value offset);

  /// What tells the second-level cache how long to keep memory (i64); null for
  /// its default.
  Value cachePolicy(Reuse reuse);

  /// The barrier of a slot; `first` is that of slot 0.
  Value barrierOf(const ChannelPlan &channel, int64_t first, Value slot);
  void wait(Value barrier, Value parity);
  void arrive(Value barrier);
  /// The same, and so many bytes are to land before the phase completes.
  void arriveExpecting(Value barrier, int64_t bytes);

  NVVMLoweringContext &context;
};

template <typename OpTy>
using NVVMPattern = KernelPattern<OpTy, NVVMLoweringContext>;

/// What a multiply of the unit leaves in flight: for each 64 rows a struct of
/// the accumulators of one lane.
SmallVector<Type> getInFlightTypes(InFlightType type);

void populateChannelPatterns(const TypeConverter &converter,
                             RewritePatternSet &patterns,
                             NVVMLoweringContext &context);
void populateClusterPatterns(const TypeConverter &converter,
                             RewritePatternSet &patterns,
                             NVVMLoweringContext &context);
void populateCopyPatterns(const TypeConverter &converter,
                          RewritePatternSet &patterns,
                          NVVMLoweringContext &context);
void populateMatrixTransferPatterns(const TypeConverter &converter,
                                    RewritePatternSet &patterns,
                                    NVVMLoweringContext &context);
/// Conversions of pairs of floats.
void populatePairPatterns(const TypeConverter &converter,
                          RewritePatternSet &patterns,
                          NVVMLoweringContext &context);
void populateTurnPatterns(const TypeConverter &converter,
                          RewritePatternSet &patterns,
                          NVVMLoweringContext &context);
void populateMatrixUnitPatterns(const TypeConverter &converter,
                                RewritePatternSet &patterns,
                                NVVMLoweringContext &context);

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_LOWERING_H
