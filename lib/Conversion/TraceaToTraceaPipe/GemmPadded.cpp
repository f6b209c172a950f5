//===- GemmPadded.cpp - Copies of matrices with rows of whole pieces ------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bulk copies read memory whose rows begin at multiples of 16 bytes. A matrix
// with other rows is copied first, by a kernel of its own, into one whose rows
// are rounded up and end with zeros: along k these add nothing to the sum as
// long as the other operand has zeros there too, and along m and n they are
// rows and columns that no result has.

#include "GemmShape.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// What rows must begin at multiples of, and what they had better: blocks of
/// 128 bytes that begin elsewhere touch one more sector, or line, of the cache.
static constexpr int64_t kRowBytes = 16, kLineBytes = 128;
/// The part of a row that may be added for that.
static constexpr int64_t kMostAdded = 16;
/// The tile of a workgroup of four warps: each copies two rows, of which its
/// lanes have neighbouring elements. Sixteen loads of a lane are under way.
static constexpr int64_t kRows = 8, kColumns = 256, kWarps = 4;

static LanesAttr getCopyLanes(MLIRContext *context) {
  auto vector = [&](int64_t row, int64_t column) {
    return DenseI64ArrayAttr::get(context, {row, column});
  };
  return LanesAttr::get(
      context, {vector(0, 32), vector(0, 64), vector(0, 128), vector(4, 0)},
      {vector(0, 1), vector(0, 2), vector(0, 4), vector(0, 8), vector(0, 16)},
      {vector(1, 0), vector(2, 0)}, {1, 1});
}

/// The extent of padded rows; nothing where rows are what they should be, or
/// only the run knows.
static std::optional<int64_t> getPaddedExtent(RankedTensorType type) {
  int64_t extent = type.getShape().back();
  int64_t bits = type.getElementTypeBitWidth(), bytes = 0;
  if (ShapedType::isDynamic(extent) || bits % 8 || (8 * kRowBytes) % bits)
    return std::nullopt;
  if (llvm::MulOverflow(extent, bits / 8, bytes) || bytes % kRowBytes == 0 ||
      bytes > std::numeric_limits<int64_t>::max() - kLineBytes)
    return std::nullopt;
  int64_t step = kLineBytes;
  auto round = [&]() {
    return static_cast<int64_t>(llvm::alignTo(bytes, step));
  };
  while (step > kRowBytes && round() - bytes > bytes / kMostAdded)
    step /= 2;
  return round() / (bits / 8);
}

Value mlir::tracea::padRows(RewriterBase &rewriter, GemmOp op, Value operand) {
  auto type = cast<RankedTensorType>(operand.getType());
  std::optional<int64_t> extent = getPaddedExtent(type);
  if (!extent)
    return operand;
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, operand);
  sizes.back() = rewriter.getIndexAttr(*extent);
  Value padded =
      tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
  KernelBuilder kb(rewriter, op, op.getScheduleAttr(), operand, padded);
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  // The copy begins where memory does, its rows at multiples too.
  kb.getKernel().setArgAttr(1, kAlignedAttrName,
                            b.getI64IntegerAttr(kRowBytes));
  kb.getKernel().setWarps(kWarps);

  int64_t batch = type.getRank() - 2;
  SmallVector<Value> bounds;
  for (int64_t dim = 0; dim < batch; ++dim)
    bounds.push_back(kb.getDim(padded, dim));
  Value rows = kb.getDim(padded, batch);
  bounds.push_back(ix.ceilDiv(rows, kRows));
  bounds.push_back(ix.constant(llvm::divideCeil(*extent, kColumns)));
  Block::BlockArgListType grid = kb.beginTiles(bounds);
  SmallVector<Value> indices(grid.begin(), grid.begin() + batch);
  Value row = ix.mul(grid[batch], kRows);
  Value column = ix.mul(grid[batch + 1], kColumns);
  indices.append({row, column});
  SmallVector<AffineExpr> results(batch, kb.zero());
  results.append({kb.dim(0), kb.dim(1)});
  AffineMap map = kb.map(2, results);
  auto tile = RankedTensorType::get({kRows, kColumns}, type.getElementType(),
                                    getCopyLanes(b.getContext()));
  Value zero = arith::ConstantOp::create(
      b, cast<TypedAttr>(b.getZeroAttr(type.getElementType())));
  Value rowLimit = ix.sub(rows, row);
  Value elements = LoadOp::create(
      b, tile, kb.getMemRef(operand), indices,
      ValueRange{rowLimit, ix.sub(ix.constant(type.getShape().back()), column)},
      zero, map);
  StoreOp::create(b, elements, kb.getDest(padded), indices,
                  ValueRange{rowLimit, ix.sub(ix.constant(*extent), column)},
                  map);
  return kb.launch().front();
}
