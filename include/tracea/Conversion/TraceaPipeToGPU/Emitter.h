//===- Emitter.h - Code of one operation of a kernel ------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the patterns of all GPUs share: what they know of a kernel, and a
// builder with the arithmetic of offsets. Accesses go through the target.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_CONVERSION_TRACEAPIPETOGPU_EMITTER_H
#define TRACEA_CONVERSION_TRACEAPIPETOGPU_EMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"
#include "tracea/Conversion/TraceaPipeToGPU/KernelPlan.h"
#include "tracea/Conversion/TraceaPipeToGPU/Windows.h"

namespace mlir::tracea_pipe {

/// Where the coordinates of a walk are kept: `memory`, which begins at `start`
/// as the target has it, holds `length` numbers of 64 bits of each.
struct WalkTable {
  Value memory, start;
  int64_t length = 0;
};

/// What the patterns know of one kernel.
struct KernelContext {
  KernelContext(GPUTarget &target, KernelPlan &plan)
      : target(target), plan(plan) {}

  GPUTarget &target;
  KernelPlan &plan;
  DenseMap<Value, GlobalBuffer> arguments;
  /// The windows of operands in staged memory, seen before anything changed.
  DenseMap<OpOperand *, StagedWindow> windows;
  /// Those of operands in global memory.
  DenseMap<OpOperand *, GlobalWindow> globalWindows;
  /// The coordinates that walks keep in shared memory.
  DenseMap<Operation *, WalkTable> walkTables;

  const GlobalBuffer &getBuffer(const GlobalWindow &window) const {
    return arguments.find(window.buffer)->second;
  }
  const StagedWindow &getWindow(OpOperand &operand) const {
    return windows.find(&operand)->second;
  }
  const GlobalWindow &getGlobalWindow(OpOperand &operand) const {
    return globalWindows.find(&operand)->second;
  }
};

/// Finds the windows of all operands in memory below `root`.
LogicalResult collectWindows(Operation *root, KernelContext &context);
/// The window of one operand; anything but memory has none.
LogicalResult collectWindow(Operation *op, OpOperand &operand,
                            ValueRange indices, AffineMap map,
                            KernelContext &context);

/// Emits code of one operation.
class Emitter : public ImplicitLocOpBuilder {
public:
  Emitter(Operation *op, ConversionPatternRewriter &rewriter,
          KernelContext &context)
      : ImplicitLocOpBuilder(op->getLoc(), rewriter), op(op),
        rewriter(rewriter), context(context), target(context.target),
        team(target.getTeam(*this)) {}

  Value i32(int64_t value);
  Value index(int64_t value);
  Value add(Value x, Value y) { return createOrFold<arith::AddIOp>(x, y); }
  Value add(Value x, int64_t y);
  Value mul(Value x, int64_t y);
  /// An index as i32, and back; the second way without a sign.
  Value toI32(Value index);
  Value toIndex(Value number);
  Value toIndexUnsigned(Value number);
  /// The value that stands for `value` now.
  Value remap(Value value);
  /// The conjunction, of which the first may be null.
  Value conjoin(Value condition, Value other);

  /// Code behind a condition (i1); without one, `then` alone.
  void onlyIf(Value condition, function_ref<void()> then);
  void either(Value condition, function_ref<void()> then,
              function_ref<void()> otherwise);
  /// The same for a value of `type`.
  Value choose(Type type, Value condition, function_ref<Value()> then,
               function_ref<Value()> otherwise);

  /// Runs `body` on the one lane that acts for the team.
  void onLeader(function_ref<void()> body) { onlyIf(team.leader, body); }
  /// The lanes of the team meet.
  void meet();

  /// Loads and stores of scalars and vectors.
  Value load(Type type, const Address &address, unsigned alignment = 0) {
    return target.load(*this, type, address, alignment);
  }
  void store(Value value, const Address &address, unsigned alignment = 0) {
    target.store(*this, value, address, alignment);
  }
  Address advance(const Address &address, Type element, int64_t elements) {
    return target.advance(*this, address, element, elements);
  }
  Address advance(const Address &address, Type element, Value elements) {
    return target.advance(*this, address, element, elements);
  }

  /// The bytes from the buffer's beginning that the terms of a window add, or
  /// null; before the swizzle.
  Value termsOf(const StagedWindow &window);
  /// Bytes from the buffer's beginning to element `at` (i32) of a window, with
  /// its swizzle.
  Value stagedOffset(const StagedWindow &window, ValueRange at);
  /// Linear bytes as swizzled ones.
  Value swizzle(const ::tracea::algebra::Swizzle &swizzle, Value offset);
  /// The place of a byte of a window; `offset` counts from where `start` does.
  Address staged(const StagedWindow &window, Value offset,
                 int64_t constant = 0) {
    return target.getStaged(*this, window, offset, constant);
  }
  /// The place of element `at` (i32) of a window into `buffer`, as the
  /// conversion has it.
  Address staged(const StagedWindow &window, Value buffer, ValueRange at);

  /// A coordinate of a buffer for element `at` (indices) of a window: what
  /// stays in the loop around the access, and what a step of it adds, or null.
  Value origin(const WindowDim &dim, ValueRange at);
  Value step(const WindowDim &dim);
  Value coordinate(const WindowDim &dim, ValueRange at);
  /// The place of element `at` (indices) of a window; into `inside`, whether it
  /// lies in the buffer along the dimensions `checked`. What stays in the loop
  /// is one address, and what a step adds another number, the same for all
  /// elements.
  Address global(const GlobalWindow &window, ValueRange at,
                 ArrayRef<int64_t> checked, Value &inside);
  Address global(const GlobalWindow &window, ValueRange at);
  /// Whether it lies in the buffer along a dimension.
  Value isInside(const GlobalWindow &window, unsigned dim, ValueRange at);

  Operation *op;
  ConversionPatternRewriter &rewriter;
  KernelContext &context;
  GPUTarget &target;
  const Team &team;
};

/// A pattern that knows its kernel.
template <typename OpTy, typename Context = KernelContext>
struct KernelPattern : OpConversionPattern<OpTy> {
  using Base = OpConversionPattern<OpTy>;
  using OneToNOpAdaptor = typename Base::OneToNOpAdaptor;
  using typename Base::OpAdaptor;
  KernelPattern(const TypeConverter &converter, MLIRContext *mlirContext,
                Context &context, PatternBenefit benefit = 1)
      : Base(converter, mlirContext, benefit), context(context) {}
  Context &context;
};

/// The vector of what one lane holds of a register tile.
VectorType getLaneVector(RankedTensorType tile);

} // namespace mlir::tracea_pipe

#endif // TRACEA_CONVERSION_TRACEAPIPETOGPU_EMITTER_H
