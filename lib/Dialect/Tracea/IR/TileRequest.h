//===- TileRequest.h - Tiles of the operands of an operation ----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a tile of an operation's iteration domain asks of its operands.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_DIALECT_TRACEA_IR_TILEREQUEST_H
#define TRACEA_LIB_DIALECT_TRACEA_IR_TILEREQUEST_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Dialect/Tracea/IR/TraceaOps.h"

namespace mlir::tracea {

/// A loop of the iteration domain runs over dimension `dim` of `source`.
struct Loop {
  utils::IteratorType kind;
  Value source;
  int64_t dim;
  StringRef name;
};

/// A box: one offset and one size per dimension of an operand.
struct Tile {
  SmallVector<OpFoldResult> offsets;
  SmallVector<OpFoldResult> sizes;

  void set(unsigned dim, OpFoldResult offset, OpFoldResult size) {
    offsets[dim] = offset;
    sizes[dim] = size;
  }
  void append(OpFoldResult offset, OpFoldResult size) {
    offsets.push_back(offset);
    sizes.push_back(size);
  }
};

/// The tile asked for and, per operand, the tile that it needs. An operand that
/// was not given one is used whole. `update` changes the attributes of the
/// tiled operation.
class TileRequest {
public:
  TileRequest(OpBuilder &builder, Operation *op, ArrayRef<Loop> loops,
              ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes)
      : builder(builder), op(op), loops(loops), offsets(offsets), sizes(sizes),
        operands(op->getNumOperands()) {}

  OpBuilder &builder;
  Operation *op;
  ArrayRef<Loop> loops;
  ArrayRef<OpFoldResult> offsets;
  ArrayRef<OpFoldResult> sizes;
  SmallVector<std::optional<Tile>> operands;
  std::function<void(Operation *)> update;

  Location getLoc() const { return op->getLoc(); }

  /// Whether the tile covers the whole of a loop.
  bool isWhole(unsigned loop) const;

  /// The tile of all of `value`.
  Tile getWhole(Value value) {
    Tile tile;
    tile.sizes = tensor::getMixedSizes(builder, getLoc(), value);
    tile.offsets.assign(tile.sizes.size(), builder.getIndexAttr(0));
    return tile;
  }

  /// The tile spanned by the given loops.
  Tile getSpan(ArrayRef<unsigned> dims) const {
    Tile tile;
    for (unsigned dim : dims)
      tile.append(offsets[dim], sizes[dim]);
    return tile;
  }

  /// The tile of an operand that `map` indexes by the dimensions of `tile`.
  Tile getMapped(const Tile &tile, AffineMap map) const;

  void setOperand(OpOperand &operand, Tile tile) {
    operands[operand.getOperandNumber()] = std::move(tile);
  }

  /// Tiles of the extra operands and of the destinations, for an operation with
  /// a loop per dimension of its result, these loops being the first. Fails
  /// where the tile cuts what an auxiliary result reduces.
  LogicalResult setEpilogueOperands();

  /// Refuses a tile that cuts loop number `loop`.
  LogicalResult expectWhole(unsigned loop, StringRef reason) const {
    if (isWhole(loop))
      return success();
    return op->emitOpError("expected a tile that covers dimension ")
           << loops[loop].name << ": " << reason;
  }
};

/// The tiles that an operation's operands need; an error where it cannot be cut
/// so.
LogicalResult setOperandTiles(GemmOp op, TileRequest &request);
LogicalResult setOperandTiles(GroupedGemmOp op, TileRequest &request);
LogicalResult setOperandTiles(Conv2DOp op, TileRequest &request);
LogicalResult setOperandTiles(Conv2DDGradOp op, TileRequest &request);
LogicalResult setOperandTiles(Conv2DWGradOp op, TileRequest &request);
LogicalResult setOperandTiles(SoftmaxOp op, TileRequest &request);
LogicalResult setOperandTiles(LayerNormOp op, TileRequest &request);
LogicalResult setOperandTiles(RMSNormOp op, TileRequest &request);
LogicalResult setOperandTiles(BatchNormOp op, TileRequest &request);
LogicalResult setOperandTiles(AttentionOp op, TileRequest &request);
LogicalResult setOperandTiles(AttentionQGradOp op, TileRequest &request);
LogicalResult setOperandTiles(AttentionKVGradOp op, TileRequest &request);

/// Slices the operands and clones the operation onto the slices.
TilingResult buildTile(const TileRequest &request);

} // namespace mlir::tracea

#endif // TRACEA_LIB_DIALECT_TRACEA_IR_TILEREQUEST_H
