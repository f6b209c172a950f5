//===- JoinReads.cpp - Single reads of a lane that are vectors ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows of neighbours overlap, and with steps between them no vector of the
// result is one of the source. All that a lane reads of a row still lies
// together: whole vectors of it are read once, and elements taken out. Around
// borders a read asks whether its place is inside; a vector is one read where
// all of its elements are on one side of the border.
//
//===----------------------------------------------------------------------===//

#include "LaneReads/JoinReads.h"
#include "LaneReads/LinearIndex.h"
#include "Lanes/LaneVectors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;

/// Iterations of nested loops that are unrolled.
constexpr int64_t kMostIterations = 16;

namespace {
/// `left` compared with 0.
struct Comparison {
  arith::CmpIPredicate predicate;
  LinearIndex left;

  bool operator==(const Comparison &other) const {
    return predicate == other.predicate && left == other.left;
  }
};

/// The read of one element, or of another value outside of some bounds.
struct Read {
  /// A load, or the branch around it.
  Operation *op = nullptr;
  memref::LoadOp load;
  SmallVector<LinearIndex> rows;
  LinearIndex column;
  /// What must hold, alike for the whole row, and for a column: `left` less the
  /// column.
  SmallVector<Comparison> rowBounds, columnBounds;
  Value otherwise;

  static std::optional<Read> match(Operation &op);
  /// Whether it differs from `other` in its column alone.
  bool isBeside(const Read &other) const;
};
} // namespace

/// Splits a condition into comparisons.
static bool split(Value condition, SmallVectorImpl<Comparison> &parts) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>())
    return split(both.getLhs(), parts) && split(both.getRhs(), parts);
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || !compare.getLhs().getType().isIndex())
    return false;
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::sle:
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::sge:
    parts.push_back(
        {compare.getPredicate(), LinearIndex::of(compare.getLhs()) -
                                     LinearIndex::of(compare.getRhs())});
    return true;
  default:
    return false;
  }
}

std::optional<Read> Read::match(Operation &op) {
  Read read;
  read.op = &op;
  SmallVector<Comparison> bounds;
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    if (branch.getNumResults() != 1 || !split(branch.getCondition(), bounds))
      return std::nullopt;
    read.load =
        branch.thenYield().getOperand(0).getDefiningOp<memref::LoadOp>();
    read.otherwise = branch.elseYield().getOperand(0);
    bool isAlone = read.load && read.load->getBlock() == branch.thenBlock() &&
                   read.otherwise.getParentBlock() != branch.elseBlock() &&
                   llvm::all_of(branch.thenBlock()->without_terminator(),
                                [&](Operation &inner) {
                                  return &inner == read.load || isPure(&inner);
                                });
    if (!isAlone)
      return std::nullopt;
  } else {
    read.load = dyn_cast<memref::LoadOp>(op);
  }
  if (!read.load || read.load.getIndices().empty())
    return std::nullopt;
  for (Value index : read.load.getIndices().drop_back())
    read.rows.push_back(LinearIndex::of(index));
  read.column = LinearIndex::of(read.load.getIndices().back());
  for (Comparison &bound : bounds) {
    if (!bound.left.isParallelTo(read.column)) {
      read.rowBounds.push_back(bound);
      continue;
    }
    bound.left = bound.left - read.column;
    read.columnBounds.push_back(bound);
  }
  return read;
}

bool Read::isBeside(const Read &other) const {
  auto isSame = [](Value a, Value b) {
    Attribute first, second;
    return a == b || (matchPattern(a, m_Constant(&first)) &&
                      matchPattern(b, m_Constant(&second)) && first == second);
  };
  memref::LoadOp mine = load, theirs = other.load;
  return mine.getMemRef() == theirs.getMemRef() && rows == other.rows &&
         column.isParallelTo(other.column) && rowBounds == other.rowBounds &&
         columnBounds == other.columnBounds &&
         (otherwise ? other.otherwise && isSame(otherwise, other.otherwise)
                    : !other.otherwise);
}

/// Elements of a vector of the read's memory, whose rows are whole vectors; 1
/// where it has none.
static int64_t getWidth(const Read &read) {
  memref::LoadOp load = read.load;
  MemRefType type = load.getMemRefType();
  Type element = type.getElementType();
  if (!type.getLayout().isIdentity() || !element.isIntOrFloat() ||
      !llvm::isPowerOf2_32(element.getIntOrFloatBitWidth()) ||
      element.getIntOrFloatBitWidth() < 8)
    return 1;
  int64_t width = kVectorBytes * 8 / element.getIntOrFloatBitWidth();
  bool isWhole =
      width > 1 && type.getShape().back() % width == 0 &&
      !ShapedType::isDynamic(type.getShape().back()) &&
      read.column.isMultiple(width) &&
      llvm::all_of(read.columnBounds, [&](const Comparison &bound) {
        // Of `column + left < 0` and its opposite, or of what is 1 less.
        bool isStrict = bound.predicate == arith::CmpIPredicate::slt ||
                        bound.predicate == arith::CmpIPredicate::sge;
        return (bound.left.constant + (isStrict ? 0 : -1)) % width == 0;
      });
  return isWhole ? width : 1;
}

/// Replaces reads of one vector, which begins `first` elements behind the
/// multiple of the width that all columns have in common.
static void join(ArrayRef<Read> reads, int64_t first, int64_t width) {
  const Read &front = reads.front();
  memref::LoadOp load = front.load;
  ImplicitLocOpBuilder b(front.op->getLoc(), front.op);
  auto type = VectorType::get(width, load.getMemRefType().getElementType());
  // Whatever the indices are computed from stands in front of the branch.
  IRMapping mapping;
  if (auto branch = dyn_cast<scf::IfOp>(front.op))
    for (Operation &inner : branch.thenBlock()->without_terminator())
      if (&inner != load)
        b.clone(inner, mapping);
  SmallVector<Value> at;
  for (Value index : load.getIndices())
    at.push_back(mapping.lookupOrDefault(index));
  LinearIndex column = front.column;
  column.constant = first;
  at.back() = column.materialize(b);
  auto read = [&](OpBuilder &builder) -> Value {
    return vector::LoadOp::create(builder, b.getLoc(), type, load.getMemRef(),
                                  at);
  };
  Value all;
  if (auto branch = dyn_cast<scf::IfOp>(front.op)) {
    // The bounds of the row are those of the first read; of the column, those
    // of the vector's first element.
    Value holds;
    auto require = [&](Value condition) {
      holds = holds ? arith::AndIOp::create(b, holds, condition).getResult()
                    : condition;
    };
    SmallVector<Value> left = {branch.getCondition()};
    while (!left.empty()) {
      Value condition = left.pop_back_val();
      if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
        left.push_back(both.getRhs());
        left.push_back(both.getLhs());
        continue;
      }
      auto compare = condition.getDefiningOp<arith::CmpIOp>();
      LinearIndex bound =
          LinearIndex::of(compare.getLhs()) - LinearIndex::of(compare.getRhs());
      if (!bound.isParallelTo(front.column))
        require(condition);
    }
    for (const Comparison &bound : front.columnBounds)
      require(arith::CmpIOp::create(
          b, bound.predicate, at.back(),
          arith::ConstantIndexOp::create(b, -bound.left.constant)));
    auto made = scf::IfOp::create(
        b, holds,
        [&](OpBuilder &builder, Location loc) {
          scf::YieldOp::create(builder, loc, read(builder));
        },
        [&](OpBuilder &builder, Location loc) {
          Value other =
              vector::BroadcastOp::create(builder, loc, type, front.otherwise);
          scf::YieldOp::create(builder, loc, other);
        });
    all = made.getResult(0);
  } else {
    all = read(b);
  }
  for (const Read &single : reads) {
    b.setInsertionPoint(single.op);
    Value element =
        vector::ExtractOp::create(b, all, single.column.constant - first);
    single.op->getResult(0).replaceAllUsesWith(element);
    single.op->erase();
  }
}

static bool writes(Operation &op) {
  auto effects = getEffectsRecursively(&op);
  return !effects || llvm::any_of(*effects, [](const auto &effect) {
    return isa<MemoryEffects::Write>(effect.getEffect());
  });
}

static void joinReads(Block &block) {
  std::vector<std::vector<Read>> rows;
  for (Operation &op : block) {
    if (writes(op))
      break;
    std::optional<Read> read = Read::match(op);
    if (!read || getWidth(*read) == 1)
      continue;
    auto row = llvm::find_if(rows, [&](const std::vector<Read> &known) {
      return known.front().isBeside(*read);
    });
    if (row == rows.end())
      row = rows.insert(row, std::vector<Read>());
    row->push_back(*read);
  }
  for (ArrayRef<Read> row : rows) {
    int64_t width = getWidth(row.front());
    // In the order of the block, so that the first one stands before all.
    llvm::MapVector<int64_t, std::vector<Read>> vectors;
    for (const Read &read : row)
      vectors[llvm::divideFloorSigned(read.column.constant, width) * width]
          .push_back(read);
    for (auto &[first, reads] : vectors)
      if (reads.size() > 1)
        join(reads, first, width);
  }
}

/// Unrolls short loops from the innermost outwards, so that more reads are on
/// their way; returns the iterations that stand in `loop` then.
static int64_t unroll(scf::ForOp loop) {
  int64_t inner = 1;
  for (auto nested : llvm::to_vector(loop.getOps<scf::ForOp>()))
    inner *= unroll(nested);
  std::optional<llvm::APInt> trips = loop.getStaticTripCount();
  bool isInnermost = loop.getOps<scf::ForOp>().empty();
  if (!isInnermost || !trips || trips->ugt(kMostIterations / inner) ||
      failed(loopUnrollFull(loop)))
    return kMostIterations + 1;
  return inner * trips->getSExtValue();
}

void mlir::tracea::joinReads(Operation *root) {
  SmallVector<scf::ForOp> loops;
  root->walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    loops.push_back(loop);
    return WalkResult::skip();
  });
  llvm::for_each(loops, [](scf::ForOp loop) { (void)unroll(loop); });
  SmallVector<Block *> blocks;
  root->walk([&](Block *block) { blocks.push_back(block); });
  for (Block *block : blocks)
    ::joinReads(*block);
}
