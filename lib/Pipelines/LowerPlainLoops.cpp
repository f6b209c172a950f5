//===- LowerPlainLoops.cpp - Kernels of plain loops for a GPU -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is left of structured operations and views in kernels that no variant
// made becomes loops over single elements of the kernel's arguments, which the
// lowering for GPUs knows. Other kernels stay as they are.

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "tracea/Dialect/TraceaPipe/Utils/KernelNames.h"
#include "tracea/Pipelines/Passes.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_LOWERPLAINLOOPS
#include "tracea/Pipelines/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;

static OpPassManager makeLoopManager() {
  OpPassManager manager(tracea_pipe::KernelOp::getOperationName());
  manager.addPass(createConvertLinalgToLoopsPass());
  manager.addPass(memref::createFoldMemRefAliasOpsPass());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(affine::createAffineExpandIndexOpsPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  return manager;
}

/// Loops and copies of the module's author, whose iterations one lane does in
/// turn.
static LogicalResult lowerOwnLoops(tracea_pipe::KernelOp kernel) {
  SmallVector<scf::ForallOp> loops;
  SmallVector<memref::CopyOp> copies;
  kernel.walk([&](memref::CopyOp copy) { copies.push_back(copy); });
  for (memref::CopyOp copy : copies) {
    OpBuilder builder(copy);
    linalg::makeMemRefCopyOp(builder, copy.getLoc(), copy.getSource(),
                             copy.getTarget());
    copy.erase();
  }
  kernel.walk([&](scf::ForallOp loop) {
    if (!loop.getMapping())
      loops.push_back(loop);
  });
  IRRewriter rewriter(kernel.getContext());
  for (scf::ForallOp loop : loops) {
    rewriter.setInsertionPoint(loop);
    if (failed(scf::forallToForLoop(rewriter, loop)))
      return failure();
  }
  return success();
}

/// The size of a dimension of `memory`, followed through views to an argument:
/// it is asked of, and the views are gone when their accesses are.
static OpFoldResult getSize(OpBuilder &b, Value memory, int64_t dim) {
  auto type = cast<MemRefType>(memory.getType());
  if (!type.isDynamicDim(dim))
    return b.getIndexAttr(type.getDimSize(dim));
  Operation *view = memory.getDefiningOp();
  if (auto cast = dyn_cast_or_null<memref::CastOp>(view))
    return getSize(b, cast.getSource(), dim);
  if (auto expand = dyn_cast_or_null<memref::ExpandShapeOp>(view))
    return expand.getMixedOutputShape()[dim];
  if (auto window = dyn_cast_or_null<memref::ReinterpretCastOp>(view))
    return window.getMixedSizes()[dim];
  if (auto window = dyn_cast_or_null<memref::SubViewOp>(view)) {
    llvm::SmallBitVector dropped = window.getDroppedDims();
    for (auto [outer, size] : llvm::enumerate(window.getMixedSizes()))
      if (!dropped.test(outer) && dim-- == 0)
        return size;
  }
  if (auto transpose = dyn_cast_or_null<memref::TransposeOp>(view))
    return getSize(b, transpose.getIn(),
                   transpose.getPermutation().getDimPosition(dim));
  if (auto collapse = dyn_cast_or_null<memref::CollapseShapeOp>(view)) {
    OpFoldResult product = b.getIndexAttr(1);
    AffineExpr left, right;
    bindSymbols(b.getContext(), left, right);
    ReassociationIndices joined = collapse.getReassociationIndices()[dim];
    for (int64_t outer : joined)
      product = affine::makeComposedFoldedAffineApply(
          b, view->getLoc(), left * right,
          {product, getSize(b, collapse.getSrc(), outer)});
    return product;
  }
  return memref::DimOp::create(b, memory.getLoc(), memory, dim).getResult();
}

/// Sizes of views become those that the views were made with.
static void resolveViewSizes(tracea_pipe::KernelOp kernel) {
  IRRewriter rewriter(kernel.getContext());
  SmallVector<memref::DimOp> sizes;
  kernel.walk([&](memref::DimOp size) { sizes.push_back(size); });
  for (memref::DimOp size : sizes) {
    std::optional<int64_t> dim = size.getConstantIndex();
    if (!dim || isa<BlockArgument>(size.getSource()))
      continue;
    rewriter.setInsertionPoint(size);
    OpFoldResult number = getSize(rewriter, size.getSource(), *dim);
    rewriter.replaceOp(
        size, getValueOrCreateConstantIndexOp(rewriter, size.getLoc(), number));
  }
}

namespace {
struct LowerPlainLoops
    : mlir::tracea::impl::LowerPlainLoopsBase<LowerPlainLoops> {
  void getDependentDialects(DialectRegistry &registry) const override {
    makeLoopManager().getDependentDialects(registry);
  }

  void runOnOperation() override {
    OpPassManager manager = makeLoopManager();
    for (auto kernel : getOperation().getOps<tracea_pipe::KernelOp>()) {
      if (kernel.getVariant() != tracea_pipe::kPlainLoopsVariant &&
          kernel.getVariant() != tracea_pipe::kVectorLoopsVariant)
        continue;
      if (failed(lowerOwnLoops(kernel)))
        return signalPassFailure();
      resolveViewSizes(kernel);
      if (failed(runPipeline(manager, kernel)))
        return signalPassFailure();
    }
  }
};
} // namespace
