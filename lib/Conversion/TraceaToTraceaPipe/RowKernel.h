//===- RowKernel.h - Reductions of rows and what is made of them *- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lanes lie along the last dimension. If that one is reduced, a grid tile is
// one row, or a few, and the lanes meet in a tile reduction; if not, a grid
// tile is a strip of neighbouring rows, one a lane, and nothing crosses lanes.
// A row that fits the tile is read once and kept in registers. A longer one is
// read again in each pass (maximum, sum, result): the cache keeps it. Few very
// long rows are cut into parts, one a grid tile: a first kernel leaves what
// each part reduces to in memory, a second one combines it and goes over the
// row again.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_ROWKERNEL_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_ROWKERNEL_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Conversion/TraceaToTraceaPipe/KernelBuilder.h"
#include "tracea/Dialect/TraceaPipe/Utils/LaneMaps.h"

namespace mlir::tracea {

/// What a kernel does of an operation: all of it, or of rows that are cut into
/// parts, one a grid tile, the first half, which reduces each part, or the
/// second one.
enum class RowRole { Whole, Parts, Combined };

/// The kernel of one operation that reduces the dimensions [firstDim, endDim).
class RowKernel {
public:
  /// `isAligned`: rows begin at multiples of 16 bytes.
  RowKernel(KernelBuilder &kb, RowOpInterface row, int64_t firstDim,
            int64_t endDim, bool isAligned, RowRole role = RowRole::Whole)
      : op(cast<EpilogueOpInterface>(row.getOperation())), row(row),
        input(row.getInput()), kb(kb), b(kb.builder()), ix(kb.index()),
        type(cast<RankedTensorType>(input.getType())), firstDim(firstDim),
        endDim(endDim), isAligned(isAligned), role(role) {}

  /// Whether lanes of a GPU share the rows.
  bool isLanes();

  /// Opens the grid of tiles that the operation's schedule says.
  void begin();

  /// Folds `body(x, carried)` over the tiles of the row, starting from the
  /// splat `init`, or from nothing, null, where the row is one tile; then over
  /// the lanes by `kind` if they belong to the row. Elements past the end of
  /// the row are `padding`.
  Value reduce(tracea_pipe::ReduceKind kind, double init,
               std::optional<double> padding,
               function_ref<Value(Value x, Value carried)> body);

  /// Stores `epilogue(body(x))` for every element, or where the operation has a
  /// finish, what that makes of it.
  void map(function_ref<Value(Value x)> body);

  /// Makes room for a tile of each place of the row, which a pass over it keeps
  /// for a later one; in memory of the thread, or in registers where the row is
  /// one tile. Without room, and on lanes of a GPU, nothing is kept.
  void beginKept();
  /// Asks for what the thread's memory waits for later, while the current place
  /// is computed: the elements of the next row, and those of the result. Memory
  /// reads and writes at one time: the next row is best asked for while this
  /// one is stored, unless what is computed before takes long enough.
  void prefetchNext();
  void prefetchResult();
  /// Keeps a tile for the current place, if there is room.
  void keep(Value tile);
  /// The tile that the current place keeps; null without room.
  Value loadKept();

  /// Reads tensors whose dimensions are the operation's reduced ones, null ones
  /// excepted, before the row is reduced, where lanes can hold them meanwhile.
  void fetchNormalized(ArrayRef<Value> tensors);

  /// The elements at the current place of such a tensor, converted to the
  /// accumulator's type.
  Value loadNormalized(Value tensor);

  /// `value` where the row has an element, `padding` past its end.
  Value dropPadding(Value value, TypedAttr padding);
  Value dropPadding(Value value, double padding = 0) {
    return dropPadding(value, b.getFloatAttr(getAccumulatorType(), padding));
  }

  /// A row's value (one per row) as a tile like the elements'.
  Value spread(Value rowValue);

  /// Number of elements in a row, or in the part that this kernel reduces, as a
  /// tile like a row's value.
  Value getCount();

  /// Whether `reduce` speaks of parts of rows.
  bool isPart() const { return role == RowRole::Parts; }
  /// The type of value `number` of all parts in memory.
  static RankedTensorType getPartsType(RowOpInterface row, int64_t split);
  /// Stores a part's values, each in a destination of its own.
  void storePart(ArrayRef<Value> values);
  /// Reads the elements, to be used later.
  void fetchInput() { loadInput(std::nullopt); }
  /// The values of all parts of the row, side by side, from `memory`. Past the
  /// last part they are `padding`.
  Value loadParts(Value memory, double padding);
  /// A row's value of a tile of all parts, and a tile of such a value.
  Value reduceParts(tracea_pipe::ReduceKind kind, Value parts);
  Value spreadParts(Value rowValue);
  /// The number of elements of each part, 0 past the last one.
  Value getPartCounts();

  Value splatLike(Value tile, double value) {
    return kb.splat(cast<RankedTensorType>(tile.getType()), value);
  }
  /// x · y + z, as one operation for the lanes of a GPU, all of which have it.
  Value multiplyAdd(Value x, Value y, Value z);
  Type getAccumulatorType() { return op.getAccumulatorType(); }
  ImplicitLocOpBuilder &builder() { return b; }

private:
  /// Whether rows are long, and memory of the thread's own.
  bool asksAhead();
  bool lanesReduced() const { return endDim == type.getRank(); }
  /// The dimension whose neighbours are the rows of a tile.
  int64_t getRowDim() const { return lanesReduced() ? firstDim - 1 : -1; }
  RankedTensorType getTile();
  /// What the epilogue is applied to at a time: one vector of each lane where
  /// it computes functions, which need several times the registers.
  RankedTensorType getPiece();
  /// A tile's element to the input's and the result's.
  AffineMap getMap();
  RankedTensorType getRowValueType() {
    return getRowTile(accTile.getElementType());
  }
  RankedTensorType getRowTile(Type elementType);
  /// A tile of what lanes have of a row as a tile of the row's value.
  Value reduceLanes(tracea_pipe::ReduceKind kind, Value tile);
  /// Runs `body` at each tile of the row, carrying one value if given.
  Value overRow(Value carried, function_ref<Value(Value)> body);
  Value overDims(int64_t dim, Value carried, function_ref<Value(Value)> body);
  /// The elements at the current place. What is kept of them is stored with the
  /// first read; later passes read the row back where it is kept as it is.
  Value loadInput(std::optional<double> padding);
  /// The current place in `keptMemory`.
  SmallVector<Value> getKeptPlace();
  /// The kept result that is the row itself.
  std::optional<unsigned> findKeptRow();
  /// The elements at the current place of memory of the input's shape.
  Value readTile(Value memory, std::optional<double> padding);
  /// Reads the elements and applies the prologue. `kept` gets what it keeps.
  Value readInput(std::optional<double> padding, SmallVectorImpl<Value> &kept);
  void storeKept(ArrayRef<Value> kept);
  Value readNormalized(Value tensor);
  /// What the epilogue yields of `body(x)` at the current place.
  SmallVector<Value> mapElements(function_ref<Value(Value x)> body);
  /// Reduces what the epilogue yields behind the first value, and stores what
  /// the finish makes of the row, then of each element.
  void finish(function_ref<Value(Value x)> body);
  /// The values of the finish that are the row's, and what the result of an
  /// element is then.
  IRMapping finishRow(ValueRange reduced);
  Value finishElement(Value element, const IRMapping &rowValues);
  void storeRowResults(const IRMapping &rowValues);
  /// All parts of a row, which lanes that are left over repeat.
  RankedTensorType getPartsTile();
  int64_t getSplit();

  EpilogueOpInterface op;
  RowOpInterface row;
  Value input;
  KernelBuilder &kb;
  ImplicitLocOpBuilder &b;
  IndexMath &ix;
  RankedTensorType type;
  int64_t firstDim, endDim;
  bool isAligned;
  RowRole role;
  /// The number of the part.
  Value part;
  /// Rows and columns of a tile.
  int64_t height = 1, width = 0;
  RankedTensorType accTile;
  /// Where the tile is the whole row, or the part: its elements, and what is
  /// past its end.
  bool isResident = false;
  Value held;
  double heldPadding = 0;
  /// Whether a pass over the row has begun.
  bool isRead = false;
  /// What each place of the row keeps, as memory, or as the row's tile.
  Value keptMemory, keptTile;
  /// What has been read of tensors over the reduced dimensions, in their types.
  llvm::SmallDenseMap<Value, Value> fetched;
  /// The place in the input: one index per dimension, and what is left of the
  /// last one.
  SmallVector<Value> indices, limits;
};

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_ROWKERNEL_H
