//===- MergeParts.cpp - Outputs of parts of the keys ----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The second kernel of attention whose keys are split ("Flash-Decoding", Dao et
// al., 2023). The order of the parts is fixed, so that runs are equal.
//
//===----------------------------------------------------------------------===//

#include "MergeParts.h"
#include "../KernelMemory.h"
#include "../WarpTile.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Dialect/TraceaPipe/Utils/LaneMaps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// Dimensions of attention's result: batch, heads, queries, columns.
static constexpr unsigned kResultRank = 4;

AttentionParts AttentionParts::create(KernelRewriter &rewriter, AttentionOp op,
                                      int64_t count) {
  rewriter.setInsertionPoint(op);
  SmallVector<OpFoldResult> sizes{rewriter.getIndexAttr(count)};
  llvm::append_range(
      sizes, tensor::getMixedSizes(rewriter, op.getLoc(), op.getInit()));
  auto make = [&](ArrayRef<OpFoldResult> extents) {
    return tensor::EmptyOp::create(rewriter, op.getLoc(), extents,
                                   op.getAccumulatorType());
  };
  return {make(sizes), make(ArrayRef(sizes).drop_back())};
}

namespace {
class Merge {
public:
  Merge(KernelBuilder &kb, AttentionOp op, const AttentionParts &parts,
        const OrderedTensor &output, int64_t rowDim)
      : op(op), kb(kb), b(kb.builder()), ix(kb.index()), parts(parts),
        output(output), rowDim(rowDim), sumType(op.getAccumulatorType()),
        count(cast<RankedTensorType>(parts.outputs.getType()).getDimSize(0)),
        width(cast<RankedTensorType>(op.getValue().getType()).getDimSize(3)),
        tile(RankedTensorType::get({kPartRows, kPartColumns}, sumType,
                                   getPartLanes(b.getContext()))),
        rowTile(RankedTensorType::get({kPartRows, 1}, sumType,
                                      getLanes(tile).getReduced(1))) {}

  void build();

private:
  Value fill(double value) { return kb.splat(rowTile, value); }
  /// The place of the tile in memory of results, in a part of them if one is
  /// given, and from a column on where there are columns.
  SmallVector<Value> getPlace(std::optional<int64_t> part,
                              std::optional<int64_t> column) {
    SmallVector<Value> found;
    if (part)
      found.push_back(ix.constant(*part));
    llvm::append_range(found, place);
    if (column)
      found.push_back(ix.constant(*column));
    return found;
  }
  void store(Value tile, unsigned number, std::optional<int64_t> column);
  AffineMap getMap(bool isPart, bool hasColumns) {
    SmallVector<AffineExpr> exprs(kResultRank - 1, kb.zero());
    exprs[rowDim] = kb.dim(0);
    if (isPart)
      exprs.insert(exprs.begin(), kb.zero());
    if (hasColumns)
      exprs.push_back(kb.dim(1));
    return kb.map(2, exprs);
  }

  AttentionOp op;
  KernelBuilder &kb;
  ImplicitLocOpBuilder &b;
  IndexMath &ix;
  const AttentionParts &parts;
  const OrderedTensor &output;
  int64_t rowDim;
  Type sumType;
  int64_t count, width;
  RankedTensorType tile, rowTile;

  /// Batch, head and query of the tile, and how many rows there are from there
  /// on.
  SmallVector<Value> place;
  Value rows;
};
} // namespace

/// Stores what result `number` is made of, with columns from one on where it
/// has them.
void Merge::store(Value tile, unsigned number, std::optional<int64_t> column) {
  Value to = kb.getDest(number);
  Value columns = ix.constant(column ? width - *column : 1);
  SmallVector<Value> at = getPlace(std::nullopt, column);
  AffineMap map = getMap(/*isPart=*/false, column.has_value());
  if (column) {
    at = output.arrange<Value>(at);
    map = kb.map(2, output.arrange(map.getResults()));
  }
  StoreOp::create(b, convertTile(b, tile, getElementTypeOrSelf(to.getType())),
                  to, at, ValueRange{rows, columns}, map);
}

void Merge::build() {
  kb.getKernel().setWarps(kPartRows);
  SmallVector<Value> bounds;
  for (unsigned dim = 0; dim + 1 < kResultRank; ++dim)
    bounds.push_back(kb.getExtent(kb.getDest(0), output.order[dim]));
  Value rowCount = bounds[rowDim];
  bounds[rowDim] = ix.ceilDiv(rowCount, kPartRows);
  place = SmallVector<Value>(kb.beginTiles(bounds));
  place[rowDim] = ix.mul(place[rowDim], kPartRows);
  rows = ix.sub(rowCount, place[rowDim]);

  SmallVector<Value> weights;
  Value most;
  for (int64_t part = 0; part < count; ++part) {
    Value sum = LoadOp::create(b, rowTile, kb.getMemRef(parts.lse),
                               getPlace(part, std::nullopt),
                               ValueRange{rows, ix.constant(1)}, Value(),
                               getMap(/*isPart=*/true, false));
    most = most ? arith::MaximumFOp::create(b, most, sum).getResult() : sum;
    weights.push_back(sum);
  }
  // While a query has seen no key it is a number all the same.
  Value origin = arith::MinimumFOp::create(
      b, arith::MulFOp::create(b, most, fill(-llvm::numbers::log2e)),
      fill(std::numeric_limits<float>::max()));
  Value total;
  for (Value &weight : weights) {
    weight = math::Exp2Op::create(
        b, math::FmaOp::create(b, weight, fill(llvm::numbers::log2e), origin));
    total =
        total ? arith::AddFOp::create(b, total, weight).getResult() : weight;
  }
  // A query that saw no key divides by one instead of by zero.
  Value isEmpty =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, total, fill(0));
  total = arith::SelectOp::create(b, isEmpty, fill(1), total);
  Value inverse = arith::DivFOp::create(b, fill(1), total);
  for (int64_t column = 0; column < width; column += kPartColumns) {
    Value output;
    for (auto [part, weight] : llvm::enumerate(weights)) {
      Value one = LoadOp::create(b, tile, kb.getMemRef(parts.outputs),
                                 getPlace(part, column),
                                 ValueRange{rows, ix.constant(width - column)},
                                 Value(), getMap(/*isPart=*/true, true));
      Value spread = BroadcastOp::create(b, tile, weight);
      output = output ? math::FmaOp::create(b, spread, one, output).getResult()
                      : arith::MulFOp::create(b, spread, one).getResult();
    }
    store(
        arith::MulFOp::create(b, output, BroadcastOp::create(b, tile, inverse)),
        0, column);
  }
  if (!op.getLse())
    return;
  Value logarithm = arith::MulFOp::create(b, math::Log2Op::create(b, total),
                                          fill(llvm::numbers::ln2));
  store(arith::AddFOp::create(b, most, logarithm), 1, std::nullopt);
}

ValueRange mlir::tracea::mergeParts(KernelRewriter &rewriter, AttentionOp op,
                                    const AttentionParts &parts,
                                    const OrderedTensor &output,
                                    int64_t rowDim) {
  SmallVector<Value> inits{output.tensor};
  if (op.getLse())
    inits.push_back(op.getLseInit());
  // Sums of rows are read and written an element at a time.
  constexpr unsigned kOutputs = 0, kResult = 2;
  return launchForMemory(
      rewriter, op, {parts.outputs, parts.lse}, inits, kResult,
      [&](KernelBuilder &kb, bool) {
        Merge(kb, op, parts, output, rowDim).build();
      },
      [&](unsigned number) { return number == kOutputs || number == kResult; });
}
