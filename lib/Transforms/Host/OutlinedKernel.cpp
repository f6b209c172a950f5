//===- OutlinedKernel.cpp - A kernel of plain loops for host operations ---===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A group of operations becomes a kernel: the grid is over the outer parallel
// dimensions where the operation can be tiled, and a launch stands in the
// group's place.

#include "OutlinedKernel.h"
#include "CoreGrid.h"
#include "HostViews.h"
#include "KernelOperands.h"
#include "LaneReads/JoinReads.h"
#include "Lanes/LaneGrid.h"
#include "Lanes/LaneTiles.h"
#include "Lanes/TileViews.h"
#include "Lanes/VectorAccesses.h"

#include "CheckAccesses.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/TilingInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "tracea/Dialect/TraceaPipe/Utils/HostScalars.h"
#include "tracea/Dialect/TraceaPipe/Utils/KernelMemory.h"
#include "tracea/Dialect/TraceaPipe/Utils/KernelNames.h"
#include "tracea/Dialect/TraceaPipe/Utils/Launches.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

namespace {

/// Makes the kernel of one group.
class Outliner {
public:
  Outliner(const HostGroup &group, ModuleOp module, KernelNames &names,
           int64_t subgroupSize)
      : group(group), module(module), names(names), subgroupSize(subgroupSize) {
  }

  LogicalResult run();

private:
  void buildKernel(OpBuilder &builder, StringRef variant);
  bool isLaneTiles();
  bool isVectors();
  void requireVectors();
  LogicalResult buildGrid(OpBuilder &builder, bool isVectors,
                          const LaneBlock &block, TypedAttr start);
  void buildTiles(OpBuilder &builder);
  remark::RemarkOpts getRemark(StringRef name);
  LogicalResult buildLoops(OpBuilder &builder);
  void finish(OpBuilder &builder);
  void buildWhole(OpBuilder &builder, function_ref<void(OpBuilder &)> body);
  void dropUnusedInputs();

  const HostGroup &group;
  ModuleOp module;
  KernelNames &names;
  int64_t subgroupSize;

  KernelOperands used;
  /// What is being built, and what is: the launch takes the first one that the
  /// run's memory allows.
  KernelOp kernel;
  SmallVector<Attribute> kernels;
  IRMapping mapping;
};

} // namespace

bool mlir::tracea::belongsToHost(Operation *op) {
  return isa<memref::AllocOp, memref::GetGlobalOp, memref::DimOp, cf::AssertOp,
             LaunchOp, func::ReturnOp>(op) ||
         isView(op) || op->hasTrait<OpTrait::ConstantLike>() ||
         isIndexArithmetic(op);
}

bool mlir::tracea::isScalarComputation(Operation *op) {
  if (isa<memref::LoadOp>(op))
    return true;
  return op->getNumRegions() == 0 && isPure(op) && !belongsToHost(op) &&
         llvm::all_of(op->getResultTypes(),
                      [](Type type) { return type.isIntOrIndexOrFloat(); });
}

/// A grid of one tile, in which one thread does everything.
void Outliner::buildWhole(OpBuilder &builder,
                          function_ref<void(OpBuilder &)> body) {
  Location loc = group.ops.front()->getLoc();
  if (subgroupSize) {
    buildSingleLane(builder, loc, body);
    kernel.setWarps(1);
    return;
  }
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  auto tiles = TilesOp::create(builder, loc, ValueRange{one});
  builder.setInsertionPointToStart(&tiles.getBody().front());
  body(builder);
}

/// The tiles of the kernel: chunks of the parallel dimensions, from the
/// outermost inwards, each as small as leaves a tile its grain. On a GPU lanes
/// share the dimensions.
LogicalResult Outliner::buildGrid(OpBuilder &builder, bool isVectors,
                                  const LaneBlock &block, TypedAttr start) {
  Operation *op = group.ops.front();
  auto tileable = dyn_cast<TilingInterface>(op);
  SmallVector<unsigned> parallel;
  SmallVector<utils::IteratorType> iterators;
  if (group.ops.size() == 1 && tileable && op->getNumResults() == 0)
    iterators = tileable.getLoopIteratorTypes();
  for (auto [dim, iterator] : llvm::enumerate(iterators))
    if (iterator == utils::IteratorType::parallel)
      parallel.push_back(dim);
  if (subgroupSize && group.ops.size() == 1 && isLaneLoop(op)) {
    auto clone = cast<scf::ForallOp>(builder.clone(*op, mapping));
    kernel.setWarps(
        llvm::divideCeil(buildLaneGrid(builder, clone).lanes, subgroupSize));
    return success();
  }
  if (parallel.empty()) {
    buildWhole(builder, [&](OpBuilder &b) {
      for (Operation &member : llvm::make_range(
               op->getIterator(), std::next(group.ops.back()->getIterator())))
        if (used.clones.contains(&member) ||
            llvm::is_contained(group.ops, &member))
          b.clone(member, mapping);
    });
    return success();
  }

  // The domain is asked of a clone on the kernel's own buffers.
  auto clone = cast<TilingInterface>(builder.clone(*op, mapping));
  builder.setInsertionPoint(clone);
  SmallVector<Range> domain = clone.getIterationDomain(builder);
  SmallVector<OpFoldResult> offsets, extents;
  for (const Range &range : domain) {
    offsets.push_back(range.offset);
    extents.push_back(range.size);
  }
  // A tile size of 0 means a dimension that is not tiled: loops without an
  // iteration stay whole. So do those over an operand without elements, of
  // which there are no windows.
  auto isEmpty = [](Type type) {
    auto memref = dyn_cast<MemRefType>(type);
    return memref && llvm::is_contained(memref.getShape(), 0);
  };
  if (llvm::any_of(extents, isZeroInteger) ||
      llvm::any_of(clone->getOperandTypes(), isEmpty)) {
    buildWhole(builder, [&](OpBuilder &b) {
      clone->moveBefore(b.getInsertionBlock(), b.getInsertionPoint());
    });
    return success();
  }
  if (subgroupSize) {
    LaneVectors vectors;
    if (isVectors)
      vectors = LaneVectors::get(cast<linalg::LinalgOp>(clone.getOperation()));
    FailureOr<LaneGrid> grid =
        buildLaneGrid(builder, clone, vectors, block, start);
    if (failed(grid))
      return failure();
    kernel.setWarps(llvm::divideCeil(grid->lanes, subgroupSize));
    return success();
  }

  if (failed(buildCoreGrid(builder, clone, parallel, offsets, extents)))
    return failure();
  clone->erase();
  return success();
}

/// The kernel's frame: its arguments, the views rebuilt from them, and the
/// scalars computed inside.
void Outliner::buildKernel(OpBuilder &builder, StringRef variant) {
  Location loc = group.ops.front()->getLoc();
  SmallVector<Value> operands(used.inputs);
  operands.append(used.outputs.begin(), used.outputs.end());
  SmallVector<Type> types;
  for (Value operand : operands) {
    Type type = operand.getType();
    if (auto memref = dyn_cast<MemRefType>(type))
      type = MemRefType::get(memref.getShape(), memref.getElementType());
    types.push_back(type);
  }
  std::string stem = group.sourceOp;
  std::replace(stem.begin(), stem.end(), '.', '_');
  builder.setInsertionPointToEnd(module.getBody());
  kernel = KernelOp::create(builder, loc, names.take(stem),
                            builder.getFunctionType(types, {}), variant,
                            group.sourceOp);
  mapping.clear();
  Block &body = kernel.getBody().front();
  builder.setInsertionPointToStart(&body);
  IRMapping passed;
  passed.map(operands, body.getArguments());
  for (Value size : used.sizes)
    mapping.map(size, passed.lookup(size));

  auto inKernel = [&](ArrayRef<OpFoldResult> numbers) {
    SmallVector<OpFoldResult> result;
    for (OpFoldResult number : numbers) {
      auto value = dyn_cast<Value>(number);
      result.push_back(value ? OpFoldResult(passed.lookup(value)) : number);
    }
    return result;
  };
  for (KernelOperands::PassedView &view : used.views) {
    auto type = cast<MemRefType>(view.view.getType());
    if (!view.steps.empty()) {
      IRMapping own(mapping);
      own.map(view.root, passed.lookup(view.root));
      for (Operation *step : view.steps) {
        for (Value number : step->getOperands().drop_front())
          if (!own.contains(number))
            builder.clone(*number.getDefiningOp(), own);
        builder.clone(*step, own);
      }
      mapping.map(view.view, own.lookup(view.view));
      continue;
    }
    if (!view.direct) {
      mapping.map(view.view,
                  memref::ReinterpretCastOp::create(
                      builder, loc, type, passed.lookup(view.root),
                      inKernel(view.offset).front(), inKernel(view.viewSizes),
                      inKernel(view.strides)));
      continue;
    }
    // What an earlier kernel of the group did not look at is not passed.
    if (Value memory = passed.lookupOrNull(view.view))
      mapping.map(view.view, memory);
  }
  // In the order of the host function, so that uses follow definitions.
  SmallVector<Operation *> ordered(used.clones.getArrayRef());
  llvm::sort(ordered, [](Operation *a, Operation *b) {
    return a->getBlock() == b->getBlock() && a->isBeforeInBlock(b);
  });
  Operation *first = group.ops.front();
  for (Operation *op : ordered)
    if (op->getBlock() != first->getBlock() || op->isBeforeInBlock(first))
      builder.clone(*op, mapping);
}

/// Memory that the kernel does not look at is not passed: nobody may have
/// written it.
void Outliner::dropUnusedInputs() {
  kernel.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
  llvm::BitVector unused(kernel.getNumArguments());
  for (unsigned number = used.inputs.size(); number-- > 0;) {
    if (!isa<MemRefType>(used.inputs[number].getType()) ||
        !kernel.getArgument(number).use_empty())
      continue;
    unused.set(number);
    used.inputs.erase(used.inputs.begin() + number);
  }
  (void)kernel.eraseArguments(unused);
}

/// Whether lanes compute the operation tile by tile, on buffers that are the
/// kernel's arguments, or seen through views that tiles can be followed
/// through.
bool Outliner::isLaneTiles() {
  auto op = dyn_cast<linalg::LinalgOp>(group.ops.front());
  return subgroupSize && op && group.ops.size() == 1 && canBeLaneTiles(op) &&
         llvm::all_of(used.views, [&](const KernelOperands::PassedView &view) {
           // Proofs want all of an argument in sums over it.
           bool isCut =
               llvm::any_of(view.steps, llvm::IsaPred<memref::SubViewOp>);
           return view.direct || (!view.steps.empty() &&
                                  llvm::all_of(view.steps, isTileView) &&
                                  !(isCut && op.getNumReductionLoops()));
         });
}

/// Whether lanes take vectors in loops over the operation's elements.
bool Outliner::isVectors() {
  auto op = dyn_cast<linalg::LinalgOp>(group.ops.front());
  return subgroupSize && op && group.ops.size() == 1 &&
         LaneVectors::get(op).getWidth() > 1;
}

/// Has memory that vectors are in begin where they can.
void Outliner::requireVectors() {
  llvm::SmallDenseSet<Value> found;
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<vector::LoadOp>(op))
      found.insert(getViewRoot(load.getBase()));
    if (auto store = dyn_cast<vector::StoreOp>(op))
      found.insert(getViewRoot(store.getBase()));
  });
  requirePieces(kernel, kernel.getNumArguments(), [&](unsigned number) {
    return found.contains(kernel.getArgument(number));
  });
}

remark::RemarkOpts Outliner::getRemark(StringRef name) {
  Operation *first = group.ops.front();
  return remark::RemarkOpts::name(name).category("tracea").function(
      first->getParentOfType<func::FuncOp>().getName());
}

/// Kernels of register tiles, for memory that begins where whole pieces can be
/// accessed and, where that is asked, for any other.
void Outliner::buildTiles(OpBuilder &builder) {
  auto first = cast<linalg::LinalgOp>(group.ops.front());
  SmallVector<linalg::FillOp> fills = findNeutralFills(first);
  auto build = [&](bool isAligned) {
    auto op = cast<linalg::LinalgOp>(builder.clone(*first, mapping));
    TileShape tile = buildLaneTiles(builder, op, isAligned, subgroupSize,
                                    /*startsNeutral=*/!fills.empty());
    kernel.setWarps(llvm::divideCeil(tile.threads, subgroupSize));
    if (kernels.empty())
      remark::passed(first->getLoc(), getRemark("host-tiles"))
          << remark::reason("'{0}' takes '{1}' with tile = [{2}, {3}], {4} "
                            "lanes: {5}",
                            group.sourceOp, kLaneTilesVariant, tile.rows,
                            tile.columns, tile.threads, tile.describe());
    finish(builder);
  };
  buildKernel(builder, kLaneTilesVariant);
  bool isAligned = requirePieces(kernel, kernel.getNumArguments());
  build(isAligned);
  if (isAligned) {
    buildKernel(builder, kLaneTilesVariant);
    build(/*isAligned=*/false);
  }
  for (linalg::FillOp fill : fills)
    fill->erase();
}

/// A kernel of loops, behind one by vectors where lanes can take them.
LogicalResult Outliner::buildLoops(OpBuilder &builder) {
  Operation *first = group.ops.front();
  auto structured = dyn_cast<linalg::LinalgOp>(first);
  // A GPU's lanes begin with what a fill would have written.
  linalg::FillOp fill;
  if (subgroupSize && structured && group.ops.size() == 1 &&
      structured.getNumParallelLoops() != 0 &&
      structured.getNumReductionLoops() != 0 &&
      structured.getNumDpsInits() == 1)
    fill = findFill(structured, *structured.getDpsInitOperand(0));
  TypedAttr start;
  if (fill)
    matchPattern(fill.value(), m_Constant(&start));
  auto getBlock = [&](bool isAligned) {
    return subgroupSize && structured && group.ops.size() == 1
               ? LaneBlock::get(structured, isAligned)
               : LaneBlock();
  };
  // Beside vectors a lane takes what reads the same.
  LaneBlock shared;
  if (isVectors())
    shared = LaneBlock::getShared(structured, LaneVectors::get(structured));
  auto build = [&](bool withVectors, bool isAligned) -> LogicalResult {
    buildKernel(builder, isAligned ? kVectorLoopsVariant : kPlainLoopsVariant);
    if (failed(buildGrid(builder, withVectors,
                         withVectors ? shared : getBlock(isAligned), start)))
      return first->emitOpError() << "cannot be split into tiles";
    if (!isAligned)
      accessSingles(kernel);
    else if (!withVectors && getBlock(isAligned).columns > 1)
      joinReads(kernel);
    checkAccesses(kernel);
    if (isAligned)
      requireVectors();
    finish(builder);
    return success();
  };
  // Memory that begins anywhere has a kernel of its own.
  LaneBlock block = getBlock(/*isAligned=*/true);
  bool withVectors = isVectors();
  bool hasVectors = subgroupSize && accessesVectors(first);
  if (withVectors || hasVectors || block.columns > 1) {
    if (failed(build(withVectors, /*isAligned=*/true)))
      return failure();
    remark::passed(first->getLoc(), getRemark("host-tiles"))
        << (hasVectors
                ? remark::reason("'{0}' takes '{1}': lanes go through blocks "
                                 "of what is carried along",
                                 group.sourceOp, kVectorLoopsVariant)
            : withVectors
                ? remark::reason(
                      "'{0}' takes '{1}' with vectors of {2} elements{3}: "
                      "neighbours in the result are neighbours in all that "
                      "they read, or read the same",
                      group.sourceOp, kVectorLoopsVariant,
                      LaneVectors::get(structured).getWidth(),
                      shared.getSize() > 1
                          ? llvm::formatv(", {0} of them a lane, which share "
                                          "what they read",
                                          shared.getSize())
                                .str()
                          : "")
                : remark::reason(
                      "'{0}' takes '{1}' with vectors of {2} elements in the "
                      "result alone, {3} of them a lane: what neighbours read "
                      "are no neighbours",
                      group.sourceOp, kVectorLoopsVariant, block.columns,
                      block.getRows()));
  } else {
    remark::missed(first->getLoc(), getRemark("host-op"))
        << remark::reason("'{0}' runs as plain loops: no kernel variant "
                          "covers it",
                          group.sourceOp);
  }
  if (failed(build(/*withVectors=*/false, /*isAligned=*/false)))
    return failure();
  if (fill)
    fill->erase();
  return success();
}

/// Ends the kernel that is being built.
void Outliner::finish(OpBuilder &builder) {
  dropUnusedInputs();
  builder.setInsertionPointToEnd(&kernel.getBody().front());
  EndOp::create(builder, group.ops.front()->getLoc());
  kernels.push_back(FlatSymbolRefAttr::get(kernel));
}

LogicalResult Outliner::run() {
  if (failed(used.collect(group)))
    return failure();
  used.findWrites(group);
  Operation *first = group.ops.front();
  bool writesNothing = llvm::all_of(used.writtenRoots, [](Value root) {
    auto type = dyn_cast<MemRefType>(root.getType());
    return type && llvm::is_contained(type.getShape(), 0);
  });
  // A loop without an iteration is kept on a CPU, where it costs nothing; lanes
  // are not started for it.
  auto structured = dyn_cast<linalg::LinalgOp>(first);
  if (subgroupSize && structured && group.ops.size() == 1)
    writesNothing |= llvm::is_contained(structured.getStaticLoopRanges(), 0);
  if (writesNothing) {
    for (Operation *op : llvm::reverse(group.ops))
      if (op->use_empty())
        op->erase();
    return success();
  }
  used.pass(group.ops.back());

  OpBuilder builder(module.getContext());
  if (isLaneTiles())
    buildTiles(builder);
  else if (failed(buildLoops(builder)))
    return failure();
  auto launched = cast<FlatSymbolRefAttr>(kernels.front());
  ArrayAttr others;
  if (kernels.size() > 1)
    others = builder.getArrayAttr(ArrayRef(kernels).drop_front());
  builder.setInsertionPoint(group.ops.back());
  LaunchOp::create(builder, first->getLoc(), TypeRange{}, launched, others,
                   /*most=*/{}, used.inputs, used.outputs);
  for (Operation *op : llvm::reverse(group.ops))
    if (op->use_empty())
      op->erase();
  return success();
}

LogicalResult mlir::tracea::outlineGroup(const HostGroup &group,
                                         ModuleOp module, KernelNames &names,
                                         int64_t subgroupSize) {
  return Outliner(group, module, names, subgroupSize).run();
}
