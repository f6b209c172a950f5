//===- BlockTranspositions.cpp - Transpositions in registers --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An element at a time, each line of one side is fetched, or written, again for
// each of its elements. Squares are loaded by rows, transposed in registers and
// stored by rows, so that each line is met once.

#include "TransposingCopy.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"
#include "tracea/Dialect/TraceaPipe/Utils/VectorTranspose.h"
#include "tracea/Transforms/Passes.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_BLOCKTRANSPOSITIONS
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;

std::optional<TransposingCopy> TransposingCopy::match(linalg::LinalgOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInputs() != 1 ||
      op.getNumDpsInits() != 1 || op.getNumParallelLoops() != op.getNumLoops())
    return std::nullopt;
  Block *body = op.getBlock();
  if (body->getTerminator()->getOperand(0) != body->getArgument(0))
    return std::nullopt;
  unsigned runs[2];
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    if (!type || !map.isPermutation() || map.getNumResults() < 2 ||
        failed(type.getStridesAndOffset(strides, offset)) ||
        strides.back() != 1)
      return std::nullopt;
    runs[operand.getOperandNumber()] =
        map.getDimPosition(map.getNumResults() - 1);
  }
  if (runs[0] == runs[1])
    return std::nullopt;
  return TransposingCopy{runs[0], runs[1]};
}

namespace {
class TranspositionLoops {
public:
  TranspositionLoops(linalg::LinalgOp op, TransposingCopy dims, int64_t width)
      : op(op), dims(dims), width(width), b(op.getLoc(), op) {}

  /// Replaces the operation.
  void emit();

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  void loop(unsigned dim, Value from, Value to, int64_t step,
            function_ref<void()> body);
  SmallVector<Value> getPlace(OpOperand *operand);
  void emitBlock();
  void emitElements(Value fromRow, Value fromColumn, Value toColumn);

  linalg::LinalgOp op;
  TransposingCopy dims;
  int64_t width;
  ImplicitLocOpBuilder b;
  SmallVector<Value> extents, indices;
};

struct BlockTranspositions
    : mlir::tracea::impl::BlockTranspositionsBase<BlockTranspositions> {
  using BlockTranspositionsBase::BlockTranspositionsBase;

  void runOnOperation() override {
    auto target = getOperation()->getAttrOfType<TargetAttr>(
        TraceaDialect::kTargetAttrName);
    if (!target || target.getVectorBits() == 0)
      return;
    SmallVector<std::pair<linalg::LinalgOp, TransposingCopy>> found;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (auto dims = TransposingCopy::match(op))
        found.push_back({op, *dims});
    });
    for (auto [op, dims] : found) {
      Type element = getElementTypeOrSelf(op->getOperand(0).getType());
      if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0)
        continue;
      // More rows than half of the registers would go through the stack.
      constexpr int64_t least = 4, most = 16;
      int64_t lanes = target.getVectorBits() / element.getIntOrFloatBitWidth();
      TranspositionLoops(op, dims, std::clamp(lanes, least, most)).emit();
      ++numBlocked;
    }
  }
};
} // namespace

void TranspositionLoops::loop(unsigned dim, Value from, Value to, int64_t step,
                              function_ref<void()> body) {
  auto loop = scf::ForOp::create(b, from, to, constant(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  indices[dim] = loop.getInductionVar();
  body();
}

SmallVector<Value> TranspositionLoops::getPlace(OpOperand *operand) {
  AffineMap map = op.getMatchingIndexingMap(operand);
  SmallVector<Value> at;
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    at.push_back(indices[map.getDimPosition(i)]);
  return at;
}

void TranspositionLoops::emitBlock() {
  OpOperand *source = op.getDpsInputOperand(0), *dest = op.getDpsInitOperand(0);
  auto type = VectorType::get(
      width, cast<MemRefType>(source->get().getType()).getElementType());
  auto along = [&](unsigned dim, function_ref<void(int64_t)> body) {
    Value first = indices[dim];
    for (int64_t i = 0; i < width; ++i) {
      indices[dim] = b.createOrFold<arith::AddIOp>(first, constant(i));
      body(i);
    }
    indices[dim] = first;
  };
  SmallVector<Value> rows;
  along(dims.resultDim, [&](int64_t) {
    rows.push_back(
        vector::LoadOp::create(b, type, source->get(), getPlace(source)));
  });
  rows = tracea_pipe::transposeVectors(b, rows);
  along(dims.sourceDim, [&](int64_t i) {
    vector::StoreOp::create(b, rows[i], dest->get(), getPlace(dest));
  });
}

/// The elements from `fromRow` on along the source, and of a part of the
/// result's neighbours.
void TranspositionLoops::emitElements(Value fromRow, Value fromColumn,
                                      Value toColumn) {
  OpOperand *source = op.getDpsInputOperand(0), *dest = op.getDpsInitOperand(0);
  loop(dims.sourceDim, fromRow, extents[dims.sourceDim], 1, [&] {
    loop(dims.resultDim, fromColumn, toColumn, 1, [&] {
      Value element =
          memref::LoadOp::create(b, source->get(), getPlace(source));
      memref::StoreOp::create(b, element, dest->get(), getPlace(dest));
    });
  });
}

void TranspositionLoops::emit() {
  for (Range range : op.createLoopRanges(b, op.getLoc()))
    extents.push_back(
        getValueOrCreateConstantIndexOp(b, op.getLoc(), range.size));
  indices.resize(extents.size());
  auto roundDown = [&](unsigned dim) {
    Value rest = b.createOrFold<arith::RemUIOp>(extents[dim], constant(width));
    return b.createOrFold<arith::SubIOp>(extents[dim], rest);
  };
  Value rows = roundDown(dims.sourceDim), columns = roundDown(dims.resultDim);
  Value zero = constant(0);
  for (unsigned dim = 0; dim < extents.size(); ++dim) {
    if (dim == dims.sourceDim || dim == dims.resultDim)
      continue;
    auto loop = scf::ForOp::create(b, zero, extents[dim], constant(1));
    indices[dim] = loop.getInductionVar();
    b.setInsertionPointToStart(loop.getBody());
  }
  // All of the source's line at hand before the next ones.
  loop(dims.resultDim, zero, columns, width,
       [&] { loop(dims.sourceDim, zero, rows, width, [&] { emitBlock(); }); });
  emitElements(zero, columns, extents[dims.resultDim]);
  emitElements(rows, zero, columns);
  op->erase();
}
