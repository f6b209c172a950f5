//===- LaneBlocks.cpp - Single iterations that a lane takes ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where neighbours in a result are no neighbours in what they read, in windows,
// resampling and borders along the contiguous dimension, a lane that computes
// one element waits for one read. Elements are independent: a lane takes as
// many neighbours as a vector of the result has, and some rows of them. Where
// lanes take vectors, and the index of another loop is divided, as where images
// are enlarged, iterations that have one quotient read the same, and what is
// beside it: a lane that takes all of them reads it once.
//
//===----------------------------------------------------------------------===//

#include "Lanes/LaneBlocks.h"
#include "Lanes/LaneVectors.h"
#include "Lanes/TileShape.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
/// Iterations of a lane.
constexpr int64_t kMostIterations = 8;
/// Vectors of a lane that share what they read.
constexpr int64_t kMostVectors = 4;
/// Terms of an element, beyond which its lane has enough to do.
constexpr int64_t kMostTerms = 64;
/// Lanes that fill a GPU.
constexpr int64_t kEnoughLanes = 1 << 17;

/// Whether data decides which elements are read, or whether.
static bool asksData(linalg::LinalgOp op) {
  DenseSet<Value> data;
  for (OpOperand &operand : op->getOpOperands())
    data.insert(op.getMatchingBlockArgument(&operand));
  WalkResult result =
      op.getBlock()->walk<WalkOrder::PreOrder>([&](Operation *inner) {
        auto isData = [&](Value value) { return data.contains(value); };
        if (isa<cf::AssertOp>(inner))
          return WalkResult::interrupt();
        if (auto load = dyn_cast<memref::LoadOp>(inner)) {
          if (llvm::any_of(load.getIndices(), isData))
            return WalkResult::interrupt();
          data.insert(load.getResult());
          return WalkResult::advance();
        }
        if (auto branch = dyn_cast<scf::IfOp>(inner)) {
          if (isData(branch.getCondition()))
            return WalkResult::interrupt();
          // Whatever it yields may be data.
          data.insert(branch->getResults().begin(), branch->getResults().end());
          return WalkResult::advance();
        }
        if (inner->getNumRegions() != 0)
          return WalkResult::interrupt();
        if (llvm::any_of(inner->getOperands(), isData))
          data.insert(inner->getResults().begin(), inner->getResults().end());
        return WalkResult::advance();
      });
  return result.wasInterrupted();
}

/// Whether each of the loops' iterations writes elements of its own.
static bool writesOwn(linalg::LinalgOp op) {
  return llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    return map.isProjectedPermutation() &&
           map.getNumResults() == op.getNumParallelLoops();
  });
}

LaneBlock LaneBlock::get(linalg::LinalgOp op, bool isAligned) {
  LaneBlock block;
  if (!op.hasPureBufferSemantics() || op.getNumDpsInits() == 0 ||
      !writesOwn(op))
    return block;
  std::optional<unsigned> column =
      getColumnLoop(op.getMatchingIndexingMap(op.getDpsInitOperand(0)));
  if (!column)
    return block;
  block.column = *column;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  int64_t terms = 1, elements = 1;
  for (auto [extent, iterator] : llvm::zip(extents, iterators)) {
    int64_t &count =
        iterator == utils::IteratorType::parallel ? elements : terms;
    if (ShapedType::isDynamic(extent) ||
        llvm::MulOverflow(count, extent, count))
      return block;
  }
  if (terms > kMostTerms || asksData(op))
    return block;
  int64_t most = std::min(kMostIterations, elements / kEnoughLanes);
  for (OpOperand &init : op.getDpsInitsMutable()) {
    Type type = getElementTypeOrSelf(init.get().getType());
    if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() < 8)
      return block;
    most = std::min<int64_t>(most,
                             kVectorBytes * 8 / type.getIntOrFloatBitWidth());
  }
  auto isStoredTogether = [&](int64_t columns) {
    return isAligned && extents[*column] % columns == 0 &&
           llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
             return LaneVectors::ofAccess(
                        op.getMatchingIndexingMap(&init),
                        cast<MemRefType>(init.get().getType()), *column,
                        columns) == Spread::Run;
           });
  };
  for (int64_t columns = llvm::bit_floor<uint64_t>(std::max<int64_t>(most, 1));
       columns > 1; columns /= 2)
    if (isStoredTogether(columns)) {
      block.columns = columns;
      break;
    }
  // Rows of the outermost loop are farthest from asking for the same border.
  for (unsigned loop = 0; loop < extents.size(); ++loop) {
    if (loop == *column || iterators[loop] != utils::IteratorType::parallel)
      continue;
    for (int64_t rows = llvm::bit_floor<uint64_t>(
             std::max<int64_t>(most / block.columns, 1));
         rows > 1; rows /= 2)
      if (extents[loop] % rows == 0 && rows > block.getRows())
        block.rows = {{loop, rows}};
  }
  return block;
}

/// What the index of each loop is divided by.
static DenseMap<unsigned, int64_t> getDivisors(linalg::LinalgOp op) {
  DenseMap<unsigned, int64_t> divisors;
  op.getBlock()->walk([&](Operation *inner) {
    if (!isa<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(inner))
      return;
    auto index = inner->getOperand(0).getDefiningOp<linalg::IndexOp>();
    std::optional<int64_t> divisor = getConstantIntValue(inner->getOperand(1));
    if (index && divisor)
      divisors.try_emplace(index.getDim(), *divisor);
  });
  return divisors;
}

LaneBlock LaneBlock::getShared(linalg::LinalgOp op,
                               const LaneVectors &vectors) {
  LaneBlock block;
  block.column = vectors.getLoop();
  if (vectors.getWidth() == 1 || vectors.isIndirect() ||
      op.getNumReductionLoops() != 0 || !writesOwn(op))
    return block;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  int64_t lanes = 1;
  for (int64_t extent : extents)
    if (ShapedType::isDynamic(extent) ||
        llvm::MulOverflow(lanes, extent, lanes))
      return block;
  lanes /= vectors.getWidth();
  // Loops with neighbours nearby in memory first.
  DenseMap<unsigned, int64_t> divisors = getDivisors(op);
  for (unsigned loop = extents.size(); loop-- > 0;) {
    int64_t count = divisors.lookup(loop);
    if (loop == block.column || count < 2 || extents[loop] % count != 0 ||
        block.getRows() * count > kMostVectors ||
        lanes / (block.getRows() * count) < kEnoughLanes)
      continue;
    block.rows.push_back({loop, count});
  }
  return block;
}
