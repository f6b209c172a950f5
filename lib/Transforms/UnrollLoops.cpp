//===- UnrollLoops.cpp - Short loops around operations on tensors ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program has no loops around launches: what stands in one is a kernel of
// plain loops, whatever it is. Of few iterations each operation has kernels of
// its own.

#include "tracea/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_UNROLLLOOPS
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;

/// Iterations, and operations of all of them.
constexpr int64_t kMostIterations = 16, kMostOperations = 512;
/// Elements of an operation's result below which lanes have nothing to share.
constexpr int64_t kFewElements = 256;

/// Whether an operation is worth kernels of its own.
static bool isLarge(Operation &op) {
  if (isa<linalg::FillOp, linalg::CopyOp>(op) ||
      !isa<linalg::LinalgOp, TilingInterface>(op) || isa<tensor::PadOp>(op))
    return false;
  return llvm::any_of(op.getOperandTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && (!tensor.hasStaticShape() ||
                      tensor.getNumElements() >= kFewElements);
  });
}

static bool isShort(scf::ForOp loop) {
  std::optional<llvm::APInt> trips = loop.getStaticTripCount();
  if (!trips || trips->ugt(kMostIterations) ||
      llvm::none_of(*loop.getBody(), isLarge))
    return false;
  int64_t operations = 0;
  loop.walk([&](Operation *) { ++operations; });
  return operations * trips->getSExtValue() <= kMostOperations;
}

/// The source of an insertion with all dimensions of what it goes into.
static Value expandSource(RewriterBase &rewriter,
                          tensor::InsertSliceOp insert) {
  RankedTensorType type = insert.getSourceType();
  auto full =
      RankedTensorType::get(insert.getStaticSizes(), type.getElementType());
  if (type == full)
    return insert.getSource();
  llvm::SmallBitVector dropped = insert.getDroppedDims();
  SmallVector<ReassociationIndices> groups(type.getRank());
  int64_t group = -1;
  for (int64_t dim = 0; dim < full.getRank(); ++dim) {
    group += !dropped.test(dim);
    if (!groups.empty())
      groups[std::max<int64_t>(group, 0)].push_back(dim);
  }
  return tensor::ExpandShapeOp::create(rewriter, insert.getLoc(), full,
                                       insert.getSource(), groups);
}

/// What insertions side by side make of a tensor without contents is their
/// sources joined.
static void joinInsertions(RewriterBase &rewriter, tensor::InsertSliceOp last) {
  SmallVector<tensor::InsertSliceOp> inserts;
  Value base = last;
  while (auto insert = base.getDefiningOp<tensor::InsertSliceOp>()) {
    if (insert != last && !insert->hasOneUse())
      return;
    inserts.push_back(insert);
    base = insert.getDest();
  }
  RankedTensorType type = last.getDestType();
  if (!base.getDefiningOp<tensor::EmptyOp>() || inserts.size() < 2 ||
      !type.hasStaticShape())
    return;
  // The dimension along which they lie.
  std::optional<int64_t> along;
  for (tensor::InsertSliceOp insert : inserts)
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      if (insert.isDynamicOffset(dim) || insert.isDynamicSize(dim) ||
          insert.isDynamicStride(dim) || insert.getStaticStride(dim) != 1)
        return;
      if (insert.getStaticSize(dim) == type.getDimSize(dim))
        continue;
      if (along.value_or(dim) != dim)
        return;
      along = dim;
    }
  if (!along)
    return;
  llvm::sort(inserts, [&](tensor::InsertSliceOp a, tensor::InsertSliceOp b) {
    return a.getStaticOffset(*along) < b.getStaticOffset(*along);
  });
  int64_t end = 0;
  for (tensor::InsertSliceOp insert : inserts) {
    if (insert.getStaticOffset(*along) != end)
      return;
    end += insert.getStaticSize(*along);
  }
  if (end != type.getDimSize(*along))
    return;
  rewriter.setInsertionPoint(last);
  SmallVector<Value> sources;
  for (tensor::InsertSliceOp insert : inserts)
    sources.push_back(expandSource(rewriter, insert));
  rewriter.replaceOpWithNewOp<tensor::ConcatOp>(last, type, *along, sources);
}

namespace {
struct UnrollLoops : public mlir::tracea::impl::UnrollLoopsBase<UnrollLoops> {
  using Base::Base;

  void runOnOperation() override {
    // What was in a loop may be a short one itself.
    bool isAny = false;
    while (scf::ForOp loop = findShort()) {
      if (failed(loopUnrollFull(loop)))
        return signalPassFailure();
      isAny = true;
    }
    if (!isAny)
      return;
    // Places of slices are constants now.
    OpPassManager cleanup(func::FuncOp::getOperationName());
    cleanup.addPass(createCanonicalizerPass());
    if (failed(runPipeline(cleanup, getOperation())))
      return signalPassFailure();
    SmallVector<tensor::InsertSliceOp> ends;
    getOperation().walk([&](tensor::InsertSliceOp insert) {
      bool isEnd = llvm::none_of(insert->getUsers(), [&](Operation *user) {
        auto next = dyn_cast<tensor::InsertSliceOp>(user);
        return next && next.getDest() == insert.getResult();
      });
      if (isEnd)
        ends.push_back(insert);
    });
    IRRewriter rewriter(&getContext());
    for (tensor::InsertSliceOp insert : ends)
      joinInsertions(rewriter, insert);
  }

private:
  scf::ForOp findShort() {
    for (auto loop : getOperation().getOps<scf::ForOp>())
      if (isShort(loop))
        return loop;
    return nullptr;
  }
};
} // namespace
