//===- OutlineHost.cpp - Move what the host still computes into kernels ---===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiled program has no host code: only sizes, views and launches. What
// bufferization leaves besides becomes kernels of plain loops.

#include "Lanes/JoinLoops.h"
#include "Lanes/LaneTiles.h"
#include "Lanes/ParallelLoops.h"
#include "Lanes/SplitExtrema.h"
#include "Lanes/SplitScans.h"
#include "Lanes/SplitSums.h"
#include "OutlinedKernel.h"
#include "ShapeChecks.h"
#include "tracea/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "tracea/Dialect/TraceaPipe/Utils/HostMoves.h"
#include "tracea/Dialect/TraceaPipe/Utils/HostScalars.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_OUTLINEHOST
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

namespace {

struct OutlineHost : public mlir::tracea::impl::OutlineHostBase<OutlineHost> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    KernelNames names(module);
    auto target =
        module->getAttrOfType<TargetAttr>(TraceaDialect::kTargetAttrName);
    isForGPU = target && target.getKind() != TargetKind::CPU;
    if (isForGPU) {
      subgroupSize = target.getSubgroup();
      cores = std::max<int64_t>(target.getCores(), 1);
    }
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (failed(runOnFunction(function, module, names)))
        return signalPassFailure();
  }

private:
  LogicalResult runOnFunction(func::FuncOp function, ModuleOp module,
                              KernelNames &names) {
    if (function.isExternal())
      return function.emitOpError()
             << "has no body; expected a function of this module";
    if (!llvm::hasSingleElement(function.getBody()))
      return function.emitOpError() << "has a body of several blocks; expected "
                                       "structured control flow "
                                       "that ends before the program is made";
    rewriteCopies(function);
    storeCarried(function);
    if (isForGPU)
      shapeLoops(function);
    storeResults(function);
    for (auto load :
         llvm::make_early_inc_range(function.getOps<memref::LoadOp>()))
      assertIndices(load);

    SmallVector<HostGroup> groups;
    if (failed(findGroups(function, groups)) ||
        failed(outline(groups, module, names)))
      return failure();
    // Fills that their reductions have left.
    groups.clear();
    for (linalg::FillOp fill : function.getOps<linalg::FillOp>())
      if (!isLeft(fill))
        groups.push_back({{fill}, linalg::FillOp::getOperationName().str()});
    if (failed(outline(groups, module, names)))
      return failure();
    return cleanUp(function);
  }

  LogicalResult outline(ArrayRef<HostGroup> groups, ModuleOp module,
                        KernelNames &names) {
    for (const HostGroup &group : groups) {
      if (auto structured = dyn_cast<linalg::LinalgOp>(group.ops.front()))
        assertShapes(structured);
      if (failed(outlineGroup(group, module, names, subgroupSize)))
        return failure();
      ++numOutlined;
    }
    return success();
  }

  /// Makes of operations what fills the lanes of a GPU.
  void shapeLoops(func::FuncOp function) {
    for (auto loop : llvm::to_vector(function.getOps<scf::ForOp>()))
      splitScan(makeParallel(loop), cores);
    for (auto op : llvm::to_vector(function.getOps<linalg::LinalgOp>()))
      if (!isLeft(op))
        splitExtremum(op);
    SmallVector<linalg::LinalgOp> fills;
    for (auto op : llvm::to_vector(function.getOps<linalg::LinalgOp>())) {
      if (isLeft(op))
        continue;
      if (isa<linalg::FillOp>(op.getOperation())) {
        fills.push_back(op);
        continue;
      }
      bool isCopy = copies.erase(op);
      linalg::LinalgOp joined = joinLoops(op);
      if (isCopy)
        copies.insert(joined);
      splitSum(joined, cores, subgroupSize);
    }
    // What a reduction begins with is part of it.
    for (auto op : function.getOps<linalg::LinalgOp>()) {
      if (op.getNumReductionLoops() == 0)
        continue;
      for (OpOperand &init : op.getDpsInitsMutable())
        if (linalg::FillOp fill = findFill(op, init))
          begins.insert(fill);
    }
    for (linalg::LinalgOp fill : fills)
      if (!begins.contains(fill))
        joinLoops(fill);
  }

  /// Copies become generics, which can be tiled.
  void rewriteCopies(func::FuncOp function) {
    for (memref::CopyOp copy :
         llvm::make_early_inc_range(function.getOps<memref::CopyOp>())) {
      if (isLeft(copy))
        continue;
      OpBuilder builder(copy);
      linalg::GenericOp generic = linalg::makeMemRefCopyOp(
          builder, copy.getLoc(), copy.getSource(), copy.getTarget());
      copies.insert(generic);
      copy.erase();
    }
  }

  /// What loops of the function carry to their ends is left in memory: they
  /// become part of a loop of one iteration, which no longer has results.
  void storeCarried(func::FuncOp function) {
    for (auto loop : llvm::to_vector(function.getOps<scf::ForOp>())) {
      if (loop.getNumResults() == 0 ||
          !llvm::all_of(loop.getResultTypes(),
                        [](Type type) { return type.isIntOrIndexOrFloat(); }))
        continue;
      ImplicitLocOpBuilder b(loop.getLoc(), loop);
      Value zero = arith::ConstantIndexOp::create(b, 0);
      Value one = arith::ConstantIndexOp::create(b, 1);
      SmallVector<Value> memory(loop.getNumResults());
      for (OpResult result : loop.getResults())
        if (!result.use_empty())
          memory[result.getResultNumber()] =
              memref::AllocOp::create(b, MemRefType::get({}, result.getType()));
      auto once = scf::ForOp::create(b, zero, one, one);
      b.setInsertionPointAfter(once);
      for (OpResult result : loop.getResults()) {
        Value place = memory[result.getResultNumber()];
        if (!place)
          continue;
        result.replaceAllUsesWith(memref::LoadOp::create(b, place));
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(once.getBody()->getTerminator());
        memref::StoreOp::create(b, result, place, ValueRange());
      }
      loop->moveBefore(once.getBody(), once.getBody()->begin());
    }
  }

  /// Numbers that only a kernel knows are returned in memory of their own, to
  /// which they are written where they are computed.
  void storeResults(func::FuncOp function) {
    Operation *end = function.getBody().front().getTerminator();
    for (OpOperand &result : end->getOpOperands()) {
      Value number = result.get();
      if (!number.getType().isIntOrIndexOrFloat() || isKnownScalar(number))
        continue;
      OpBuilder builder(function.getContext());
      builder.setInsertionPointAfterValue(number);
      Value memory = memref::AllocOp::create(
          builder, number.getLoc(), MemRefType::get({}, number.getType()));
      memref::StoreOp::create(builder, number.getLoc(), number, memory,
                              ValueRange());
      result.set(memory);
    }
    function.setType(FunctionType::get(function.getContext(),
                                       function.getArgumentTypes(),
                                       end->getOperandTypes()));
  }

  LogicalResult findGroups(func::FuncOp function,
                           SmallVectorImpl<HostGroup> &groups) {
    // Stores share a kernel until something else touches memory.
    HostGroup *stores = nullptr;
    for (Operation &op : function.getBody().front()) {
      if (isa<LaunchOp>(op) || isHostMove(&op))
        stores = nullptr;
      if (isLeft(&op) || isScalarComputation(&op) || isa<memref::DeallocOp>(op))
        continue;
      if (isa<memref::StoreOp>(op)) {
        if (!stores) {
          groups.push_back({{}, op.getName().getStringRef().str()});
          stores = &groups.back();
        }
        stores->ops.push_back(&op);
        continue;
      }
      stores = nullptr;
      if (begins.contains(&op))
        continue;
      bool touchesMemory =
          llvm::any_of(op.getOperandTypes(), llvm::IsaPred<MemRefType>) ||
          op.getNumRegions() != 0;
      if (!touchesMemory || op.getNumSuccessors() != 0)
        return misplaced(&op);
      if (op.getNumResults() != 0)
        return misplaced(&op);
      StringRef name = copies.contains(&op) ? memref::CopyOp::getOperationName()
                                            : op.getName().getStringRef();
      groups.push_back({{&op}, name.str()});
    }
    return success();
  }

  LogicalResult cleanUp(func::FuncOp function) {
    for (Operation &op : llvm::make_early_inc_range(
             llvm::reverse(function.getBody().front()))) {
      if (!isOpTriviallyDead(&op) && !isa<memref::DeallocOp>(op))
        continue;
      // A loop without iterations is not launched, and no program refers to
      // what it was to read; what that has to be is still checked.
      if (auto cast = dyn_cast<memref::CastOp>(op))
        assertExtents(cast);
      op.erase();
    }
    for (Operation &op : function.getBody().front())
      if (!isLeft(&op))
        return misplaced(&op);
    return success();
  }

  /// Tables the run makes. On a CPU threads share a fill or a copy as they
  /// share all work; a GPU's driver does it.
  bool isLeft(Operation *op) const {
    return belongsToHost(op) || isTableStore(op) ||
           (isForGPU && isHostMove(op));
  }

  LogicalResult misplaced(Operation *op) {
    return op->emitError()
           << "host op '" << op->getName()
           << "' has no place in a program; expected an allocation, a view, "
              "arithmetic on indices, an assertion, a launch or a return";
  }

  DenseSet<Operation *> copies;
  /// Fills that reductions may begin with.
  DenseSet<Operation *> begins;
  bool isForGPU = false;
  /// Lanes of a GPU's subgroup.
  int64_t subgroupSize = 0;
  int64_t cores = 1;
};

} // namespace
