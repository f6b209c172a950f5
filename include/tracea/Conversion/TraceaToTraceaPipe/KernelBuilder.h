//===- KernelBuilder.h - Builds one kernel for one operation ----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What every variant's lowering shares: the kernel's signature from the
// operation's operands, index arithmetic that folds, loops, and the epilogue on
// a register tile.

#ifndef TRACEA_CONVERSION_TRACEATOTRACEAPIPE_KERNELBUILDER_H
#define TRACEA_CONVERSION_TRACEATOTRACEAPIPE_KERNELBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "tracea/Dialect/Tracea/IR/ExtentChecks.h"
#include "tracea/Dialect/Tracea/IR/TraceaOps.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "tracea/Dialect/TraceaPipe/Utils/KernelNames.h"

namespace mlir::tracea {

/// Arithmetic on `index` values that folds constants as it goes.
class IndexMath {
public:
  explicit IndexMath(ImplicitLocOpBuilder &builder) : b(builder) {}

  Value constant(int64_t value);
  Value add(Value x, Value y);
  Value add(Value x, int64_t y) { return add(x, constant(y)); }
  Value sub(Value x, Value y);
  Value sub(Value x, int64_t y) { return sub(x, constant(y)); }
  Value mul(Value x, Value y);
  Value mul(Value x, int64_t y) { return mul(x, constant(y)); }
  Value min(Value x, Value y);
  Value min(Value x, int64_t y) { return min(x, constant(y)); }
  Value max(Value x, Value y);
  Value max(Value x, int64_t y) { return max(x, constant(y)); }
  Value floorDiv(Value x, int64_t y);
  /// x / y of a multiple of y, which is one as it stands where possible.
  Value exactDiv(Value x, int64_t y);
  Value rem(Value x, int64_t y);
  Value ceilDiv(Value x, int64_t y);
  Value roundUp(Value x, int64_t y) { return mul(ceilDiv(x, y), y); }
  Value equal(Value x, Value y);
  Value lessOrEqual(Value x, Value y);
  /// Whether two conditions hold.
  Value both(Value x, Value y);

private:
  ImplicitLocOpBuilder &b;
};

/// The value of an index known at compile time.
std::optional<int64_t> getStatic(Value value);

/// Where the elements of a register tile live in a memref.
struct TileAddress {
  /// The same elements' place in other memory, whose dimensions `places` gives
  /// as dimensions of this one, or as constants.
  TileAddress getIn(IndexMath &ix, Value other, AffineMap places) const;
  /// Which inputs of the map a dimension of the tile is: the first, and how
  /// many.
  std::pair<unsigned, unsigned> getInputs(unsigned tileDim) const;

  /// As operands of an access.
  ValueRange getWalks() const { return walk ? ValueRange(walk) : ValueRange(); }
  ArrayRef<int64_t> getAlong() const {
    static constexpr int64_t kRows[] = {0};
    return walk ? ArrayRef(kRows) : ArrayRef<int64_t>();
  }

  Value memory;
  SmallVector<Value> indices;
  AffineMap map;
  /// Through which coordinates the tile's rows go; null where a row is one.
  Value walk = Value();
};

/// Whether an epilogue computes more of an element than a few operations that
/// need no further registers: what it is applied to had better be small.
bool computesFunctions(EpilogueOpInterface op);

/// Rewrites the operations of a module, and knows which names are free for the
/// kernels that it makes of them.
class KernelRewriter : public IRRewriter {
public:
  explicit KernelRewriter(ModuleOp module)
      : IRRewriter(module->getContext()), names(module) {}

  tracea_pipe::KernelNames names;
  /// The number of the operation that is lowered, in the order of the module.
  int64_t operation = 0;
};

/// The memory that a kernel for `op` has as its result `init`: that of a window
/// of a larger tensor has gaps between its rows, where kernels of the operation
/// store to such and types tell how large they are; else it is row-major.
MemRefType getResultMemory(Operation *op, Value init);

/// One kernel in the making, and the launch that will replace the operation.
class KernelBuilder {
public:
  /// Starts a kernel for `op`: its arguments are the memrefs of all tensor
  /// operands, inputs before destinations.
  KernelBuilder(KernelRewriter &rewriter, Operation *op);

  /// One of several kernels of the operation, with operands of its own.
  KernelBuilder(KernelRewriter &rewriter, Operation *op, ValueRange inputs,
                ValueRange inits);

  /// The kernel's memref for an input of the operation.
  Value getMemRef(Value operand) const;

  /// The kernel's memref for a destination. The same tensor may also be an
  /// input, and then has a second argument: its old contents are read there.
  Value getDest(Value operand) const;
  /// The same by its number: one tensor may be several destinations, of which
  /// each has its own memref.
  Value getDest(unsigned index);

  /// Extent of one dimension of an operand's memref.
  Value getDim(Value operand, int64_t dim);
  /// Extent of one dimension of a memref of the kernel.
  Value getExtent(Value memref, int64_t dim);

  /// Opens the grid; the insertion point moves into its body.
  Block::BlockArgListType beginTiles(ValueRange bounds, int64_t group = 0,
                                     int64_t cluster = 1);

  /// Emits `for (i = 0; i < bound; i += step)`. A loop that runs exactly once
  /// is not emitted.
  void loop(Value bound, int64_t step, function_ref<void(Value)> body);

  /// Emits the loop with one carried value, and returns its last.
  Value loop(Value bound, int64_t step, Value init,
             function_ref<Value(Value, Value)> body);
  /// The same from `first` to before `end`, one by one.
  Value loop(Value first, Value end, Value init,
             function_ref<Value(Value, Value)> body);

  /// `condition ? then : otherwise`, folded when known.
  Value select(Value condition, function_ref<Value()> then,
               function_ref<Value()> otherwise);
  void branch(Value condition, function_ref<void()> then,
              function_ref<void()> otherwise);

  /// A register tile in vectors of the target, lanes along the last dimension.
  RankedTensorType getTileType(ArrayRef<int64_t> shape, Type elementType);
  RankedTensorType getStagedType(ArrayRef<int64_t> shape, Type elementType);
  Value splat(RankedTensorType tile, double value);
  Value splat(RankedTensorType tile, TypedAttr element);
  Value addTiles(Value x, Value y);

  /// Loads a tile from its address, and stores one there.
  Value load(RankedTensorType tile, const TileAddress &from, ValueRange limits);
  void store(Value tile, const TileAddress &to, ValueRange limits);

  /// A window of `shape` into the matrix of a memref, at `indices`: dimension
  /// `first` of the memref moves with the window's rows, `second` with its
  /// columns.
  Value window(Value memory, ValueRange indices, ArrayRef<int64_t> shape,
               int64_t first, int64_t second);

  /// Applies a scalar region with one block to the tile `first`, whose elements
  /// are those at `address`, and to the operands at what `maps` makes of their
  /// places: a tile for each scalar that it yields.
  SmallVector<Value> emitScalars(Block &block, Value first, ValueRange operands,
                                 ArrayAttr maps, const TileAddress &address,
                                 ValueRange limits);

  /// Applies an operation on scalars to the elements of tiles like `tile`.
  void emitScalar(Operation &scalar, RankedTensorType tile, IRMapping &tiles,
                  function_ref<Value(Value)> lookup);

  /// Applies the operation's epilogue to the accumulator tile, whose elements
  /// belong to the result elements at `address`: a tile for each result.
  SmallVector<Value> emitEpilogueResults(EpilogueOpInterface op,
                                         Value accumulator,
                                         const TileAddress &address,
                                         ValueRange limits);
  /// Applies the epilogue of an operation with one result, and returns its
  /// tile.
  Value emitEpilogue(EpilogueOpInterface op, Value accumulator,
                     const TileAddress &address, ValueRange limits) {
    return emitEpilogueResults(op, accumulator, address, limits).front();
  }

  /// Closes the kernel and replaces the operation by its launch.
  void finish();
  /// Closes the kernel and launches it before the operation; its results.
  ValueRange launch();

  tracea_pipe::KernelOp getKernel() { return kernel; }
  ImplicitLocOpBuilder &builder() { return b; }
  IndexMath &index() { return math; }
  AffineExpr dim(unsigned position);
  AffineExpr zero();
  AffineMap map(unsigned tileRank, ArrayRef<AffineExpr> results);
  /// Rows and columns of a tile to the last two dimensions of what holds a
  /// matrix, behind `leading` others.
  AffineMap matrixMap(int64_t leading, bool transposed = false);

private:
  Value emitLoop(Value first, Value end, int64_t step, Value init,
                 function_ref<Value(Value, Value)> body);
  void createKernel(tracea_pipe::KernelNames &names);

  KernelRewriter &rewriter;
  Operation *op;
  tracea_pipe::KernelOp kernel;
  ImplicitLocOpBuilder b;
  IndexMath math;
  int64_t vectorBits;
  IRMapping memrefs, dests;
  SmallVector<Value> inputs, inits;
};

/// Converts a tile to another element type the way the semantic level does
/// when an operation has no epilogue.
Value convertTile(ImplicitLocOpBuilder &builder, Value tile, Type elementType);

} // namespace mlir::tracea

#endif // TRACEA_CONVERSION_TRACEATOTRACEAPIPE_KERNELBUILDER_H
