//===- BlockSums.cpp - Long sums of scalars, in blocks --------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The error of a sum grows with the number of additions behind one another, and
// in terms that are alike it does not cancel. Each loop over terms begins a sum
// of its own, and a long one a further sum for each block of its iterations.
// The blocks depend on extents alone, so that any number of threads sums alike;
// they do not wait for each other, as one chain would for each of its
// additions.

#include "BlockSums.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

/// Iterations of a block. Sums of two blocks or less stay one chain.
constexpr int64_t kBlock = 32;

/// The addition to the sum, whose other operand is `term`.
static Operation *matchSum(linalg::LinalgOp op, Value &term) {
  SmallVector<Operation *, 1> combiners;
  term = matchReduction(op.getRegionOutputArgs(), 0, combiners);
  if (!term || combiners.size() != 1 || !isa<arith::AddFOp>(combiners.front()))
    return nullptr;
  return combiners.front();
}

bool mlir::tracea::isBlockSum(linalg::LinalgOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() == 0)
    return false;
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  ArrayRef<utils::IteratorType> outer =
      ArrayRef(kinds).drop_back(op.getNumReductionLoops());
  if (llvm::is_contained(outer, utils::IteratorType::reduction))
    return false;
  int64_t terms = 1;
  for (int64_t extent :
       ArrayRef(op.getStaticLoopRanges()).drop_front(outer.size()))
    terms = ShapedType::isDynamic(extent) || ShapedType::isDynamic(terms)
                ? ShapedType::kDynamic
                : terms * extent;
  if (!ShapedType::isDynamic(terms) && terms <= 2 * kBlock)
    return false;
  Value term;
  return matchSum(op, term);
}

namespace {
class BlockSum {
public:
  BlockSum(linalg::LinalgOp op, OpBuilder &builder)
      : op(op), b(op.getLoc(), builder), combiner(matchSum(op, term)) {}

  void emit(ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes);

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value add(Value sum, Value other) {
    return arith::AddFOp::create(
        b, sum, other, cast<arith::AddFOp>(combiner).getFastmathAttr());
  }
  /// `sum` and what `body` gives for the places between `from` and `to`.
  Value emitLoop(Value from, Value to, int64_t step, Value sum,
                 function_ref<Value(Value at, Value sum)> body);
  /// `sum` and the terms of the loops from `dim` on.
  Value emitTerms(unsigned dim, Value sum);
  Value emitTerm();
  SmallVector<Value> emitIndices(OpOperand &operand);

  linalg::LinalgOp op;
  ImplicitLocOpBuilder b;
  Value term;
  Operation *combiner;
  SmallVector<Value> extents, indices;
  /// A sum without terms: of negative zeros, it is one.
  Value none;
};
} // namespace

Value BlockSum::emitLoop(Value from, Value to, int64_t step, Value sum,
                         function_ref<Value(Value, Value)> body) {
  auto loop = scf::ForOp::create(b, from, to, constant(step), sum);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value next = body(loop.getInductionVar(), loop.getRegionIterArg(0));
  scf::YieldOp::create(b, next);
  return loop.getResult(0);
}

SmallVector<Value> BlockSum::emitIndices(OpOperand &operand) {
  return affine::expandAffineMap(b, b.getLoc(),
                                 op.getMatchingIndexingMap(&operand), indices)
      .value();
}

Value BlockSum::emitTerm() {
  IRMapping scalars;
  for (OpOperand *input : op.getDpsInputOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(input);
    if (argument.use_empty())
      continue;
    Value scalar = input->get();
    if (isa<MemRefType>(scalar.getType()))
      scalar = memref::LoadOp::create(b, scalar, emitIndices(*input));
    scalars.map(argument, scalar);
  }
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (&inner == combiner)
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      scalars.map(index.getResult(), indices[index.getDim()]);
    else
      b.clone(inner, scalars);
  }
  return scalars.lookupOrDefault(term);
}

Value BlockSum::emitTerms(unsigned dim, Value sum) {
  if (dim == op.getNumLoops())
    return add(sum, emitTerm());
  Value zero = constant(0), extent = extents[dim];
  bool isLast = dim + 1 == op.getNumLoops();
  auto emitRound = [&](Value at, Value carried) {
    indices[dim] = at;
    // A loop within begins a sum of its own.
    return isLast ? emitTerms(dim + 1, carried)
                  : add(carried, emitTerms(dim + 1, none));
  };
  int64_t known = op.getStaticLoopRanges()[dim];
  if (!ShapedType::isDynamic(known) && known <= 2 * kBlock)
    return emitLoop(zero, extent, 1, sum, emitRound);
  // The rest, of less than a block, comes last; LLVM knows how often the loops
  // over whole blocks run.
  Value whole = b.createOrFold<arith::SubIOp>(
      extent, b.createOrFold<arith::RemUIOp>(extent, constant(kBlock)));
  sum = emitLoop(zero, whole, kBlock, sum, [&](Value from, Value carried) {
    Value inBlock =
        emitLoop(zero, constant(kBlock), 1, none, [&](Value at, Value part) {
          return emitRound(arith::AddIOp::create(b, from, at), part);
        });
    return add(carried, inBlock);
  });
  return add(sum, emitLoop(whole, extent, 1, none, emitRound));
}

void BlockSum::emit(ArrayRef<OpFoldResult> offsets,
                    ArrayRef<OpFoldResult> sizes) {
  OpBuilder::InsertionGuard guard(b);
  for (OpFoldResult size : sizes)
    extents.push_back(getValueOrCreateConstantIndexOp(b, b.getLoc(), size));
  indices.resize(op.getNumLoops());
  FloatType type = cast<FloatType>(term.getType());
  none = arith::ConstantOp::create(
      b, FloatAttr::get(type, APFloat::getZero(type.getFloatSemantics(),
                                               /*Negative=*/true)));
  for (unsigned dim = 0; dim < op.getNumParallelLoops(); ++dim) {
    auto loop = scf::ForOp::create(b, constant(0), extents[dim], constant(1));
    b.setInsertionPointToStart(loop.getBody());
    indices[dim] = loop.getInductionVar();
    if (!isZeroInteger(offsets[dim]))
      indices[dim] = arith::AddIOp::create(
          b, getValueOrCreateConstantIndexOp(b, b.getLoc(), offsets[dim]),
          indices[dim]);
  }
  OpOperand *init = op.getDpsInitOperand(0);
  SmallVector<Value> at = emitIndices(*init);
  Value first = memref::LoadOp::create(b, init->get(), at);
  Value sum = add(first, emitTerms(op.getNumParallelLoops(), none));
  memref::StoreOp::create(b, sum, init->get(), at);
}

void mlir::tracea::emitBlockSum(OpBuilder &builder, linalg::LinalgOp op,
                                ArrayRef<OpFoldResult> offsets,
                                ArrayRef<OpFoldResult> sizes) {
  BlockSum(op, builder).emit(offsets, sizes);
}

void mlir::tracea::lowerBlockSum(linalg::LinalgOp op) {
  OpBuilder builder(op);
  SmallVector<OpFoldResult> offsets, sizes;
  for (Range range : op.createLoopRanges(builder, op.getLoc())) {
    offsets.push_back(range.offset);
    sizes.push_back(range.size);
  }
  emitBlockSum(builder, op, offsets, sizes);
  op->erase();
}
