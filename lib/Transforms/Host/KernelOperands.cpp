//===- KernelOperands.cpp - What a kernel of host operations uses ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelOperands.h"
#include "HostViews.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "tracea/Dialect/TraceaPipe/Transforms/BufferizableOpInterfaceImpl.h"
#include "tracea/Dialect/TraceaPipe/Utils/HostScalars.h"
#include "tracea/Dialect/TraceaPipe/Utils/Launches.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

static bool isWrittenBetween(Value root, Operation *from, Operation *to) {
  for (Operation *op = from->getNextNode(); op && op != to;
       op = op->getNextNode())
    if (writesBuffer(op, root))
      return true;
  return false;
}

LogicalResult KernelOperands::collectValue(Value value, Operation *first) {
  if (isa<MemRefType>(value.getType())) {
    buffers.insert(value);
    return success();
  }
  Operation *def = value.getDefiningOp();
  if (def && def->hasTrait<OpTrait::ConstantLike>()) {
    clones.insert(def);
    return success();
  }
  if (isExpressible(value) || isScalarArgument(value)) {
    sizes.insert(value);
    return success();
  }
  // Indices that come from data are computed in the kernel as well.
  if (!def || !(isScalarComputation(def) || isIndexArithmetic(def))) {
    InFlightDiagnostic diag = first->emitOpError()
                              << "needs a value of type " << value.getType()
                              << " that a program cannot pass; expected a "
                                 "size, a constant, an argument or an element "
                                 "of a tensor";
    if (def)
      diag.attachNote(def->getLoc())
          << "computed by '" << def->getName() << "'";
    return diag;
  }
  if (clones.contains(def))
    return success();
  for (Value operand : def->getOperands())
    if (failed(collectValue(operand, first)))
      return failure();
  if (auto load = dyn_cast<memref::LoadOp>(def))
    if (def->isBeforeInBlock(first) &&
        isWrittenBetween(getViewRoot(load.getMemRef()), def, first)) {
      InFlightDiagnostic diag =
          first->emitOpError()
          << "uses an element that is overwritten in between; expected its "
             "tensor to stay as it was";
      diag.attachNote(def->getLoc()) << "the element is read here";
      return diag;
    }
  clones.insert(def);
  return success();
}

LogicalResult KernelOperands::collect(const HostGroup &group) {
  Operation *first = group.ops.front();
  for (Operation *op : group.ops) {
    for (Value operand : op->getOperands())
      if (failed(collectValue(operand, first)))
        return failure();
    llvm::SetVector<Value> above;
    getUsedValuesDefinedAbove(op->getRegions(), above);
    for (Value value : above)
      if (failed(collectValue(value, first)))
        return failure();
    WalkResult result = op->walk([&](Operation *nested) {
      if (!isa<memref::AllocOp, LaunchOp>(nested))
        return WalkResult::advance();
      nested->emitOpError()
          << "stands inside of '" << op->getName()
          << "'; a program has no loops or branches around allocations and "
             "launches";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}

void KernelOperands::findWrites(const HostGroup &group) {
  auto writesAll = [&]() {
    for (Value buffer : buffers)
      writtenRoots.insert(getViewRoot(buffer));
  };
  for (Operation *op : group.ops)
    op->walk([&](Operation *nested) {
      // What stops a run writes nothing that a kernel is given.
      if (isa<cf::AssertOp>(nested))
        return;
      auto effects = dyn_cast<MemoryEffectOpInterface>(nested);
      if (!effects) {
        if (!nested->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
            !isMemoryEffectFree(nested))
          writesAll();
        return;
      }
      SmallVector<MemoryEffects::EffectInstance> instances;
      effects.getEffects<MemoryEffects::Write>(instances);
      for (const MemoryEffects::EffectInstance &instance : instances) {
        if (!instance.getValue())
          writesAll();
        else
          writtenRoots.insert(getViewRoot(instance.getValue()));
      }
    });
}

void KernelOperands::pass(Operation *before) {
  OpBuilder builder(before);
  llvm::SmallDenseMap<Value, unsigned> numViews;
  for (Value view : buffers)
    ++numViews[getViewRoot(view)];
  llvm::SetVector<Value> ins, outs;
  for (Value view : buffers) {
    PassedView passed;
    passed.view = view;
    passed.root = getViewRoot(view);
    bool written = writtenRoots.contains(passed.root);
    auto type = cast<MemRefType>(view.getType());
    passed.direct = view == passed.root ||
                    (numViews[passed.root] == 1 && isPassableToKernel(type));
    (written ? outs : ins).insert(passed.direct ? view : passed.root);
    // A buffer of which the kernel writes a part is not one that it writes
    // whole.
    if (!passed.direct && !written)
      passed.steps = getViewSteps(view, passed.root);
    for (Operation *step : passed.steps)
      for (Value number : step->getOperands().drop_front())
        if (!matchPattern(number, m_Constant()))
          sizes.insert(number);
    if (!passed.direct && passed.steps.empty()) {
      auto metadata = memref::ExtractStridedMetadataOp::create(
          builder, view.getLoc(), view);
      passed.offset = {metadata.getConstifiedMixedOffset()};
      passed.viewSizes = metadata.getConstifiedMixedSizes();
      passed.strides = metadata.getConstifiedMixedStrides();
      for (ArrayRef<OpFoldResult> list :
           {ArrayRef(passed.offset), ArrayRef(passed.viewSizes),
            ArrayRef(passed.strides)})
        for (OpFoldResult number : list)
          if (auto value = dyn_cast<Value>(number))
            sizes.insert(value);
    }
    views.push_back(std::move(passed));
  }
  inputs.assign(ins.begin(), ins.end());
  inputs.append(sizes.begin(), sizes.end());
  outputs.assign(outs.begin(), outs.end());
}
