//===- VectorizeReductions.cpp - Rows reduced in vectors ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A chain of scalar additions waits for each of them, and nothing may reorder
// it later. Rows whose elements are neighbours in memory are reduced to a fixed
// number of vectors that do not wait for each other, these pairwise to one, and
// its lanes pairwise to a number: one order for each length, whoever runs it.

#include "BlockSums.h"
#include "tracea/Transforms/Passes.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_VECTORIZEREDUCTIONS
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;

/// Vectors that are added up side by side: as many as hide the latency of an
/// addition.
constexpr int64_t kChains = 4;

namespace {
/// An operation that reduces rows.
class RowReduction {
public:
  static std::optional<RowReduction> match(linalg::LinalgOp op,
                                           int64_t vectorBits);
  /// Replaces the operation by loops.
  void lower();

private:
  using Values = SmallVector<Value>;

  bool matchBody();
  bool matchRows();
  /// Whether all that one iteration reads of `operand` are one element.
  bool isBroadcast(OpOperand &operand);

  Value combine(ImplicitLocOpBuilder &b, Value sum, Value other);
  /// The terms of `lanes` elements of the row from `at` on, those where `mask`
  /// is off being neutral.
  Value emitTerm(ImplicitLocOpBuilder &b, Value at, Value mask);
  Value read(ImplicitLocOpBuilder &b, OpOperand &operand, Value mask);
  Values overDims(ImplicitLocOpBuilder &b, ArrayRef<unsigned> dims,
                  Values sums);
  Values overRow(ImplicitLocOpBuilder &b, Values sums);

  linalg::LinalgOp op;
  Operation *combiner = nullptr;
  Value term;
  TypedAttr neutral;
  /// The dimension along rows, and how many elements a vector has.
  unsigned row = 0;
  int64_t lanes = 0;

  Values extents, indices;
};

struct VectorizeReductions
    : mlir::tracea::impl::VectorizeReductionsBase<VectorizeReductions> {
  using VectorizeReductionsBase::VectorizeReductionsBase;

  void runOnOperation() override {
    auto target = getOperation()->getAttrOfType<TargetAttr>(
        TraceaDialect::kTargetAttrName);
    if (!target || target.getVectorBits() == 0)
      return;
    SmallVector<RowReduction> rows;
    SmallVector<linalg::LinalgOp> sums;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (auto found = RowReduction::match(op, target.getVectorBits()))
        rows.push_back(*found);
      else if (isBlockSum(op))
        sums.push_back(op);
    });
    for (linalg::LinalgOp sum : sums)
      lowerBlockSum(sum);
    for (RowReduction &reduction : rows) {
      reduction.lower();
      ++numVectorized;
    }
  }
};
} // namespace

/// What vectors have instructions for, and memory holds as whole bytes.
static bool isElement(Type type) {
  return type.isF64() || type.isF32() || type.isF16() || type.isBF16() ||
         type.isInteger(8) || type.isInteger(16) || type.isInteger(32) ||
         type.isInteger(64);
}

bool RowReduction::matchBody() {
  SmallVector<Operation *, 1> combiners;
  term = matchReduction(op.getRegionOutputArgs(), 0, combiners);
  if (!term || combiners.size() != 1 || !isElement(term.getType()))
    return false;
  combiner = combiners.front();
  if (isa<arith::AddFOp>(combiner)) {
    // A sum of negative zeros is one.
    auto type = cast<FloatType>(term.getType());
    neutral = FloatAttr::get(
        type, APFloat::getZero(type.getFloatSemantics(), /*Negative=*/true));
  } else if (isa<arith::MaxNumFOp, arith::MinNumFOp>(combiner)) {
    // Where NaN counts least, the greatest of nothing else is NaN.
    auto type = cast<FloatType>(term.getType());
    neutral = FloatAttr::get(type, APFloat::getNaN(type.getFloatSemantics()));
  } else if (std::optional<TypedAttr> found =
                 arith::getNeutralElement(combiner)) {
    neutral = *found;
  } else {
    return false;
  }
  for (Operation &inner : op.getBlock()->without_terminator())
    // Also elements beyond the row are computed.
    if (!isa<arith::ConstantOp>(inner) &&
        (!OpTrait::hasElementwiseMappableTraits(&inner) || !isPure(&inner) ||
         inner.getNumResults() != 1 ||
         !inner.getResult(0).getType().isIntOrFloat()))
      return false;
  return true;
}

bool RowReduction::isBroadcast(OpOperand &operand) {
  return !isa<MemRefType>(operand.get().getType()) ||
         !op.getMatchingIndexingMap(&operand).isFunctionOfDim(row);
}

bool RowReduction::matchRows() {
  for (unsigned dim = 0; dim < op.getNumLoops(); ++dim)
    if (op.getIteratorTypesArray()[dim] == utils::IteratorType::reduction)
      row = dim;
  bool isRead = false;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!map.isProjectedPermutation() ||
        (type && !isElement(type.getElementType())))
      return false;
    if (isBroadcast(operand))
      continue;
    SmallVector<int64_t> strides;
    int64_t offset;
    if (map.getDimPosition(map.getNumResults() - 1) != row ||
        failed(type.getStridesAndOffset(strides, offset)) ||
        strides.back() != 1)
      return false;
    isRead = true;
  }
  return isRead;
}

std::optional<RowReduction> RowReduction::match(linalg::LinalgOp op,
                                                int64_t vectorBits) {
  RowReduction result;
  result.op = op;
  if (!op.hasPureBufferSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() == 0 ||
      op.getNumReductionLoops() + op.getNumParallelLoops() !=
          op.getNumLoops() ||
      !result.matchBody() || !result.matchRows())
    return std::nullopt;
  constexpr int64_t leastLanes = 4;
  result.lanes = std::max<int64_t>(
      leastLanes, vectorBits / result.term.getType().getIntOrFloatBitWidth());
  // Of short rows what comes after is most of the work.
  int64_t extent = op.getStaticLoopRanges()[result.row];
  if (!ShapedType::isDynamic(extent) && extent < 2 * result.lanes)
    return std::nullopt;
  return result;
}

Value RowReduction::combine(ImplicitLocOpBuilder &b, Value sum, Value other) {
  SmallVector<Value> operands{sum, other};
  if (combiner->getOperand(0) == term)
    std::swap(operands[0], operands[1]);
  return b
      .create(combiner->getLoc(), combiner->getName().getIdentifier(), operands,
              TypeRange(sum.getType()), combiner->getAttrs())
      ->getResult(0);
}

Value RowReduction::read(ImplicitLocOpBuilder &b, OpOperand &operand,
                         Value mask) {
  Value memory = operand.get();
  auto type = dyn_cast<MemRefType>(memory.getType());
  Type element = type ? type.getElementType() : memory.getType();
  auto vector = VectorType::get(lanes, element);
  SmallVector<Value> at;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    at.push_back(indices[map.getDimPosition(i)]);
  if (isBroadcast(operand)) {
    Value one =
        type ? memref::LoadOp::create(b, memory, at).getResult() : memory;
    return vector::BroadcastOp::create(b, vector, one);
  }
  if (!mask)
    return vector::LoadOp::create(b, vector, memory, at);
  Value zeros = arith::ConstantOp::create(b, b.getZeroAttr(vector));
  return vector::MaskedLoadOp::create(b, vector, memory, at, mask, zeros);
}

Value RowReduction::emitTerm(ImplicitLocOpBuilder &b, Value at, Value mask) {
  indices[row] = at;
  IRMapping vectors;
  for (OpOperand *input : op.getDpsInputOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(input);
    if (!argument.use_empty())
      vectors.map(argument, read(b, *input, mask));
  }
  auto find = [&](Value scalar) {
    if (!vectors.contains(scalar))
      vectors.map(scalar,
                  vector::BroadcastOp::create(
                      b, VectorType::get(lanes, scalar.getType()), scalar));
    return vectors.lookup(scalar);
  };
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (&inner == combiner)
      continue;
    if (isa<arith::ConstantOp>(inner)) {
      Value scalar = b.clone(inner)->getResult(0);
      vectors.map(inner.getResult(0),
                  vector::BroadcastOp::create(
                      b, VectorType::get(lanes, scalar.getType()), scalar));
      continue;
    }
    SmallVector<Value> operands =
        llvm::map_to_vector(inner.getOperands(), find);
    Operation *vector = b.create(
        inner.getLoc(), inner.getName().getIdentifier(), operands,
        TypeRange(VectorType::get(lanes, inner.getResult(0).getType())),
        inner.getAttrs());
    vectors.map(inner.getResult(0), vector->getResult(0));
  }
  Value terms = find(term);
  if (!mask)
    return terms;
  Value none = arith::ConstantOp::create(
      b, DenseElementsAttr::get(cast<VectorType>(terms.getType()),
                                Attribute(neutral)));
  return arith::SelectOp::create(b, mask, terms, none);
}

/// Loops that carry `sums`.
static SmallVector<Value>
emitLoop(ImplicitLocOpBuilder &b, Value from, Value to, int64_t step,
         ValueRange sums,
         function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(b, from, to,
                                 arith::ConstantIndexOp::create(b, step), sums);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  // A loop without carried values has its terminator already.
  if (!sums.empty())
    scf::YieldOp::create(b, next);
  return SmallVector<Value>(loop.getResults());
}

RowReduction::Values RowReduction::overRow(ImplicitLocOpBuilder &b,
                                           Values sums) {
  Value extent = extents[row], zero = arith::ConstantIndexOp::create(b, 0);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  auto roundDown = [&](int64_t step) {
    return b.createOrFold<arith::SubIOp>(
        extent, b.createOrFold<arith::RemUIOp>(extent, constant(step)));
  };
  Value whole = roundDown(kChains * lanes), full = roundDown(lanes);
  sums = emitLoop(
      b, zero, whole, kChains * lanes, sums, [&](Value at, ValueRange carried) {
        Values next;
        for (auto [number, sum] : llvm::enumerate(carried)) {
          Value place = b.createOrFold<arith::AddIOp>(
              at, constant(static_cast<int64_t>(number) * lanes));
          next.push_back(combine(b, sum, emitTerm(b, place, Value())));
        }
        return next;
      });
  sums[0] = emitLoop(
      b, whole, full, lanes, sums[0], [&](Value at, ValueRange carried) {
        return Values{combine(b, carried[0], emitTerm(b, at, Value()))};
      })[0];
  int64_t known = op.getStaticLoopRanges()[row];
  if (!ShapedType::isDynamic(known) && known % lanes == 0)
    return sums;
  // The rest, of less than a vector, if there is one.
  sums[0] = emitLoop(
      b, full, extent, lanes, sums[0], [&](Value at, ValueRange carried) {
        Value rest = arith::SubIOp::create(b, extent, at);
        Value mask = vector::CreateMaskOp::create(
            b, VectorType::get(lanes, b.getI1Type()), rest);
        return Values{combine(b, carried[0], emitTerm(b, at, mask))};
      })[0];
  return sums;
}

RowReduction::Values RowReduction::overDims(ImplicitLocOpBuilder &b,
                                            ArrayRef<unsigned> dims,
                                            Values sums) {
  if (dims.empty())
    return overRow(b, sums);
  unsigned dim = dims.front();
  return emitLoop(b, arith::ConstantIndexOp::create(b, 0), extents[dim], 1,
                  sums, [&](Value at, ValueRange carried) {
                    indices[dim] = at;
                    return overDims(b, dims.drop_front(), Values(carried));
                  });
}

void RowReduction::lower() {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  for (Range range : op.createLoopRanges(b, op.getLoc()))
    extents.push_back(
        getValueOrCreateConstantIndexOp(b, op.getLoc(), range.size));
  indices.resize(op.getNumLoops());
  SmallVector<unsigned> reduced;
  for (auto [dim, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (kind == utils::IteratorType::reduction) {
      if (dim != row)
        reduced.push_back(static_cast<unsigned>(dim));
      continue;
    }
    auto loop =
        scf::ForOp::create(b, arith::ConstantIndexOp::create(b, 0),
                           extents[dim], arith::ConstantIndexOp::create(b, 1));
    indices[dim] = loop.getInductionVar();
    b.setInsertionPointToStart(loop.getBody());
  }
  Value none = arith::ConstantOp::create(
      b, DenseElementsAttr::get(VectorType::get(lanes, term.getType()),
                                Attribute(neutral)));
  Values sums = overDims(b, reduced, Values(kChains, none));
  for (size_t step = 1; step < sums.size(); step *= 2)
    for (size_t at = 0; at + step < sums.size(); at += 2 * step)
      sums[at] = combine(b, sums[at], sums[at + step]);
  Value sum = sums[0];
  for (int64_t half = lanes / 2; half > 0; half /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < half; ++lane) {
      low.push_back(lane);
      high.push_back(lane + half);
    }
    sum = combine(b, vector::ShuffleOp::create(b, sum, sum, low),
                  vector::ShuffleOp::create(b, sum, sum, high));
  }
  sum = vector::ExtractOp::create(b, sum, 0);
  OpOperand *init = op.getDpsInitOperand(0);
  SmallVector<Value> at;
  AffineMap map = op.getMatchingIndexingMap(init);
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    at.push_back(indices[map.getDimPosition(i)]);
  Value first = memref::LoadOp::create(b, init->get(), at);
  memref::StoreOp::create(b, combine(b, first, sum), init->get(), at);
  op->erase();
}
