//===- PaddedOperands.cpp - Copies of operands with rows of whole pieces --===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bulk copies read memory whose rows begin at multiples of 16 bytes, and read
// it best where they begin at multiples of a cache line. A matrix with other
// rows is copied first, by a kernel of its own, into one whose rows are rounded
// up and end with zeros: along k these add nothing to the sum as long as the
// other operand has zeros there too, and along m and n they are rows and
// columns that no result has.

#include "Contraction.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"
#include "tracea/Dialect/TraceaPipe/Utils/LaneMaps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// What rows must begin at multiples of, and what they had better: blocks of
/// 128 bytes that begin elsewhere touch one more sector, or line, of the cache.
static constexpr int64_t kLineBytes = 128;
/// The part of a row that may be added for that.
static constexpr int64_t kMostAdded = 16;
/// A workgroup of four warps: each lane has four times 16 bytes under way, of
/// one row or, where that would leave much of a tile empty, of several.
static constexpr int64_t kLanes = 32, kWarps = 4, kPieces = 4;
/// The part of a row that a tile may have beyond it.
static constexpr int64_t kMostEmpty = 8;

/// `across` pieces of a lane lie in the same row, each as many columns on as
/// the lanes of a warp have.
static LanesAttr getCopyLanes(MLIRContext *context, int64_t neighbours,
                              int64_t across) {
  ::tracea::algebra::LaneBases bases;
  for (int64_t column = 1; column < neighbours; column *= 2)
    bases.reg.push_back({0, column});
  for (int64_t piece = 1; piece < across; piece *= 2)
    bases.reg.push_back({0, piece * kLanes * neighbours});
  for (int64_t row = 1; row < kPieces / across; row *= 2)
    bases.reg.push_back({row, 0});
  for (int64_t step = 1; step < kLanes; step *= 2)
    bases.lane.push_back({0, step * neighbours});
  for (int64_t step = 1; step < kWarps; step *= 2)
    bases.warp.push_back({step * kPieces / across, 0});
  return getLanesAttr(context, bases, {1, 1});
}

/// The extent of padded rows; nothing where rows are what they should be, or
/// only the run knows.
static std::optional<int64_t> getPaddedExtent(RankedTensorType type,
                                              int64_t extent, bool toLines) {
  int64_t bits = type.getElementTypeBitWidth(), bytes = 0;
  if (ShapedType::isDynamic(extent) || bits % 8 || (8 * kAlignedBytes) % bits)
    return std::nullopt;
  if (llvm::MulOverflow(extent, bits / 8, bytes) ||
      bytes % (toLines ? kLineBytes : kAlignedBytes) == 0 ||
      bytes > std::numeric_limits<int64_t>::max() - kLineBytes)
    return std::nullopt;
  int64_t step = kLineBytes;
  auto round = [&]() {
    return static_cast<int64_t>(llvm::alignTo(bytes, step));
  };
  while (!toLines && step > kAlignedBytes &&
         round() - bytes > bytes / kMostAdded)
    step /= 2;
  return round() / (bits / 8);
}

namespace {
/// An operand and the tensor that it is copied to.
struct PaddedCopy {
  RankedTensorType getType() const {
    return cast<RankedTensorType>(operand.getType());
  }
  int64_t getBatchRank() const { return getType().getRank() - 2; }
  /// Elements that a lane has side by side.
  int64_t getNeighbours() const {
    return 8 * kAlignedBytes / getType().getElementTypeBitWidth();
  }
  /// Pieces of a lane side by side.
  int64_t getAcross() const {
    int64_t across = kPieces;
    auto isFull = [&]() {
      int64_t columns = kLanes * getNeighbours() * across;
      return static_cast<int64_t>(llvm::alignTo(extent, columns)) - extent <=
             extent / kMostEmpty;
    };
    while (across > 1 && !isFull())
      across /= 2;
    return across;
  }
  int64_t getTileColumns() const {
    return kLanes * getNeighbours() * getAcross();
  }
  int64_t getTileRows() const { return kWarps * kPieces / getAcross(); }
  /// Tiles down and across; nothing for rows that only the run counts.
  std::optional<std::pair<int64_t, int64_t>> getTiles() const {
    int64_t rows = getType().getDimSize(getBatchRank());
    if (ShapedType::isDynamic(rows))
      return std::nullopt;
    return std::pair(llvm::divideCeil(rows, getTileRows()),
                     llvm::divideCeil(extent, getTileColumns()));
  }
  /// Copies the tile at `grid`: batch, row and column of tiles.
  void emit(KernelBuilder &kb, ValueRange grid) const;

  Value operand, padded;
  /// The length of a padded row.
  int64_t extent;
};
} // namespace

static std::optional<PaddedCopy> createCopy(KernelRewriter &rewriter,
                                            Operation *op,
                                            const OperandAccess &access,
                                            bool toLines) {
  Value operand = access.getTensor();
  auto type = cast<RankedTensorType>(operand.getType());
  std::optional<int64_t> extent =
      getPaddedExtent(type, access.getRowExtent(), toLines);
  if (!extent)
    return std::nullopt;
  rewriter.setInsertionPoint(op);
  Location loc = op->getLoc();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, operand);
  sizes.back() = rewriter.getIndexAttr(*extent);
  Value padded =
      tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
  return PaddedCopy{operand, padded, *extent};
}

void PaddedCopy::emit(KernelBuilder &kb, ValueRange grid) const {
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  int64_t batch = getBatchRank();
  SmallVector<Value> indices(grid.take_front(batch));
  Value row = ix.mul(grid[batch], getTileRows());
  Value column = ix.mul(grid[batch + 1], getTileColumns());
  indices.append({row, column});
  AffineMap map = kb.matrixMap(batch);
  Type element = getType().getElementType();
  auto tile = RankedTensorType::get(
      {getTileRows(), getTileColumns()}, element,
      getCopyLanes(b.getContext(), getNeighbours(), getAcross()));
  Value zero =
      arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(element)));
  Value rows = ix.sub(kb.getDim(padded, batch), row);
  Value elements = LoadOp::create(
      b, tile, kb.getMemRef(operand), indices,
      ValueRange{rows, ix.sub(kb.getDim(operand, batch + 1), column)}, zero,
      map);
  StoreOp::create(b, elements, kb.getDest(padded), indices,
                  ValueRange{rows, ix.sub(ix.constant(extent), column)}, map);
}

/// One kernel that makes all of `copies`, tile by tile.
static SmallVector<Value> launchCopies(KernelRewriter &rewriter, Operation *op,
                                       ArrayRef<PaddedCopy> copies) {
  SmallVector<Value> operands, padded;
  for (const PaddedCopy &copy : copies) {
    operands.push_back(copy.operand);
    padded.push_back(copy.padded);
  }
  KernelBuilder kb(rewriter, op, operands, padded);
  for (auto [result, copy] : llvm::enumerate(copies))
    defineCopy(kb, copy.operand, result);
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  // Copies begin where memory does, their rows at multiples too.
  for (size_t i = 0; i < copies.size(); ++i)
    kb.getKernel().setArgAttr(copies.size() + i, kAlignedAttrName,
                              b.getI64IntegerAttr(kAlignedBytes));
  kb.getKernel().setWarps(kWarps);
  SmallVector<Value> bounds;
  if (copies.size() == 1) {
    const PaddedCopy &copy = copies.front();
    int64_t batch = copy.getBatchRank();
    for (int64_t dim = 0; dim < batch; ++dim)
      bounds.push_back(kb.getDim(copy.padded, dim));
    bounds.push_back(
        ix.ceilDiv(kb.getDim(copy.padded, batch), copy.getTileRows()));
    bounds.push_back(
        ix.constant(llvm::divideCeil(copy.extent, copy.getTileColumns())));
  } else {
    std::pair<int64_t, int64_t> most(0, 0);
    for (const PaddedCopy &copy : copies) {
      most.first = std::max(most.first, copy.getTiles()->first);
      most.second = std::max(most.second, copy.getTiles()->second);
    }
    bounds = {ix.constant(most.first), ix.constant(most.second)};
  }
  SmallVector<Value> grid(kb.beginTiles(bounds));
  for (const PaddedCopy &copy : copies)
    copy.emit(kb, grid);
  return llvm::to_vector(kb.launch());
}

/// Whether one grid serves both: most of its tiles have something to copy.
static bool sharesGrid(const PaddedCopy &x, const PaddedCopy &y) {
  auto xTiles = x.getTiles(), yTiles = y.getTiles();
  if (x.getBatchRank() || y.getBatchRank() || !xTiles || !yTiles)
    return false;
  using Wide = __int128;
  Wide all = Wide(std::max(xTiles->first, yTiles->first)) *
             std::max(xTiles->second, yTiles->second);
  return all <= Wide(xTiles->first) * xTiles->second +
                    Wide(yTiles->first) * yTiles->second;
}

void mlir::tracea::padOperands(KernelRewriter &rewriter,
                               Contraction &contraction) {
  OperandAccess &lhs = contraction.getLhs(), &rhs = contraction.getRhs();
  Operation *op = contraction.getOp();
  // Operands of groups of rows are read where they are.
  const auto *gemm =
      contraction.getSchedule().getFieldsIf<schedule::WarpgroupGemm>();
  int64_t lines = gemm ? gemm->lines : 0;
  bool leftLines = lines & 1, rightLines = lines & 2;
  bool isOne = lhs.getTensor() == rhs.getTensor();
  std::optional<PaddedCopy> left =
      createCopy(rewriter, op, lhs, leftLines || (isOne && rightLines));
  if (isOne) {
    if (left)
      lhs.setTensor(launchCopies(rewriter, op, *left).front());
    return rhs.setTensor(lhs.getTensor());
  }
  std::optional<PaddedCopy> right = createCopy(rewriter, op, rhs, rightLines);
  if (left && right && sharesGrid(*left, *right)) {
    SmallVector<Value> copies = launchCopies(rewriter, op, {*left, *right});
    lhs.setTensor(copies[0]);
    return rhs.setTensor(copies[1]);
  }
  if (left)
    lhs.setTensor(launchCopies(rewriter, op, *left).front());
  if (right)
    rhs.setTensor(launchCopies(rewriter, op, *right).front());
}
