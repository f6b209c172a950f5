//===- Lowering.h - Shared by the patterns of TraceaPipeToNVVM --*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_LOWERING_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_LOWERING_H

#include "KernelPlan.h"
#include "StagedWindow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::tracea_pipe {

/// Memory of the launcher: an argument.
struct GlobalBuffer {
  MemRefType type;
  Value pointer;
  /// Indices, one for each dimension.
  SmallVector<Value> sizes;
  /// Bytes that its beginning, and that of each row, is a multiple of.
  int64_t alignment = 1;
};

/// An access to an argument, in its coordinates.
struct GlobalWindow {
  Value buffer;
  SmallVector<WindowDim> dims;
};

/// What the patterns know of one kernel.
struct NVVMLoweringContext {
  explicit NVVMLoweringContext(KernelPlan &plan) : plan(plan) {}

  KernelPlan &plan;
  LLVM::LLVMFuncOp function;
  /// The beginning of the workgroup's memory, !llvm.ptr<3>.
  Value shared;
  /// The same as a number, i32.
  Value sharedAddress;
  /// The maps of `plan.tensorMaps`, !llvm.ptr.
  SmallVector<Value> tensorMaps;
  DenseMap<Value, GlobalBuffer> arguments;
  /// The windows of operands in staged memory, seen before anything changed.
  DenseMap<OpOperand *, StagedWindow> windows;
  /// Those of operands in global memory.
  DenseMap<OpOperand *, GlobalWindow> globalWindows;
  /// The barrier that says that a slot is full, for each acquire.
  DenseMap<Operation *, Value> fullBarriers;

  Team &getTeam(Operation *op) const { return plan.getTeam(op); }
  const StagedWindow &getWindow(OpOperand &operand) const {
    return windows.find(&operand)->second;
  }
};

/// Makes the function of a kernel: parameters, the set-up of barriers, the grid
/// as the number of the workgroup, roles as branches over the number of the
/// warp. What is inside moves there as it is.
LogicalResult buildFunction(KernelPlan &plan, NVVMLoweringContext &context);

/// 90 for a module whose target is sm_90a; nothing for other names.
std::optional<unsigned> getCapability(KernelOp kernel);

/// Lowers what all GPUs share of register tiles: arithmetic, relayouts,
/// reductions. Loads, stores and conversions to halves stay.
LogicalResult convertSharedTiles(KernelOp kernel);

/// Finds the windows of all operands in memory.
LogicalResult collectWindows(NVVMLoweringContext &context);

/// Emits code of one operation.
class Emitter : public ImplicitLocOpBuilder {
public:
  Emitter(Operation *op, ConversionPatternRewriter &rewriter,
          NVVMLoweringContext &context)
      : ImplicitLocOpBuilder(op->getLoc(), rewriter), op(op),
        rewriter(rewriter), context(context), team(context.getTeam(op)) {}

  Value i32(int64_t value);
  Value index(int64_t value);
  Value add(Value x, Value y) { return createOrFold<arith::AddIOp>(x, y); }
  Value add(Value x, int64_t y);
  Value mul(Value x, int64_t y);
  /// An index as i32.
  Value toI32(Value index);
  /// The value that stands for `value` now.
  Value remap(Value value);

  /// shared + offset, or shared + offset + constant.
  Value sharedPointer(Value offset);
  Value sharedPointer(Value offset, int64_t constant);

  /// Loads and stores of scalars and vectors; LLVM has no floats of 8 bits.
  Value load(Type type, Value pointer, unsigned alignment = 0);
  void store(Value value, Value pointer, unsigned alignment = 0);

  /// What tells the second-level cache how long to keep memory (i64); null for
  /// its default.
  Value cachePolicy(Reuse reuse);

  /// Runs `body` on the one lane that acts for the team.
  void onLeader(function_ref<void()> body);
  /// The lanes of the team meet.
  void meet();

  /// Bytes to the barrier of a slot; `first` is that of slot 0.
  Value barrierOf(const ChannelPlan &channel, int64_t first, Value slot);
  void wait(Value barrier, Value parity);
  void arrive(Value barrier);

  /// The bytes from the buffer's beginning that the terms of a window add, or
  /// null; before the swizzle.
  Value termsOf(const StagedWindow &window);
  /// Bytes from the buffer's beginning to element `at` (i32) of a window, with
  /// its swizzle.
  Value stagedOffset(const StagedWindow &window, ValueRange at);
  /// The pointer to element `at` (indices) of a window; into `inside`, whether
  /// it lies in the buffer along the dimensions `checked`.
  Value globalPointer(const GlobalWindow &window, ValueRange at,
                      ArrayRef<int64_t> checked, Value &inside);
  /// Linear bytes as swizzled ones.
  Value swizzle(const ::tracea::algebra::Swizzle &swizzle, Value offset);

  Operation *op;
  ConversionPatternRewriter &rewriter;
  NVVMLoweringContext &context;
  Team &team;
};

/// What LLVM has for `type`, a scalar or a vector: integers for floats of 8
/// bits.
Type getMemoryType(Type type);

/// Offsets of the buffers of a slot.
SmallVector<Value> getSlotBuffers(Emitter &b, const ChannelPlan &channel,
                                  Value slot);

/// A pattern that knows its kernel.
template <typename OpTy>
struct KernelPattern : OpConversionPattern<OpTy> {
  using Base = OpConversionPattern<OpTy>;
  using OneToNOpAdaptor = typename Base::OneToNOpAdaptor;
  using typename Base::OpAdaptor;
  KernelPattern(const TypeConverter &converter, MLIRContext *mlirContext,
                NVVMLoweringContext &context, PatternBenefit benefit = 1)
      : Base(converter, mlirContext, benefit), context(context) {}
  NVVMLoweringContext &context;
};

/// The vector of what one lane holds of a register tile.
VectorType getLaneVector(RankedTensorType tile);

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
void populateLaneCopyPatterns(const TypeConverter &converter,
                              RewritePatternSet &patterns,
                              NVVMLoweringContext &context);
void populateLaneMultiplyPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns,
                                  NVVMLoweringContext &context);
void populateLaneStorePatterns(const TypeConverter &converter,
                               RewritePatternSet &patterns,
                               NVVMLoweringContext &context);
void populateLocalRingPatterns(const TypeConverter &converter,
                               RewritePatternSet &patterns,
                               NVVMLoweringContext &context);
void populateMatrixUnitPatterns(const TypeConverter &converter,
                                RewritePatternSet &patterns,
                                NVVMLoweringContext &context);
void populateRaggedTilePatterns(const TypeConverter &converter,
                                RewritePatternSet &patterns,
                                NVVMLoweringContext &context);
void populateShiftedLoadPatterns(const TypeConverter &converter,
                                 RewritePatternSet &patterns,
                                 NVVMLoweringContext &context);
void populateTeamPatterns(const TypeConverter &converter,
                          RewritePatternSet &patterns,
                          NVVMLoweringContext &context);
void populateTilePatterns(const TypeConverter &converter,
                          RewritePatternSet &patterns,
                          NVVMLoweringContext &context);
void populateTileMemoryPatterns(const TypeConverter &converter,
                                RewritePatternSet &patterns,
                                NVVMLoweringContext &context);
void populateTransposedCopyPatterns(const TypeConverter &converter,
                                    RewritePatternSet &patterns,
                                    NVVMLoweringContext &context);
void populateWarpMultiplyPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns,
                                  NVVMLoweringContext &context);

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_LOWERING_H
