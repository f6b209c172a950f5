//===- Contraction.h - Sums of products of two operands ---------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A contraction is what an operation is to the kernels that multiply: the
// matrices of its result, its epilogue, and two operands whose blocks are
// staged step by step. Kernels for warpgroups, for warps and for lanes are
// built from a contraction and know no operation; an operation provides one by
// saying where its operands' blocks and its result's elements are.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_CONTRACTION_CONTRACTION_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_CONTRACTION_CONTRACTION_H

#include "../Definitions.h"
#include "../KernelMemory.h"

namespace mlir::tracea {

class ContractionResults;

/// The tile of a result that a workgroup computes.
struct ResultTile {
  /// What is left of the matrix from the tile on, in the order of the
  /// accumulator's dimensions: columns first for the transposed product.
  SmallVector<Value> getLimits(IndexMath &ix, bool isTransposed = false) const;

  /// The index along a first dimension of the grid that the result lacks: which
  /// part of the sum. Null without one.
  Value part;
  /// Which matrix.
  SmallVector<Value> batch;
  /// Its first row and column in the matrix.
  Value m, n;
  /// Through which coordinates its rows go, where a row of the matrix is not
  /// one coordinate of the result: null otherwise.
  Value walk;
  /// Extents of the matrix.
  Value sizeM, sizeN;
  /// The steps of the sum: all of them, or those of the part.
  Value first, count;
};

/// A block of an operand as a kernel wants it in shared memory.
struct BlockForm {
  /// How much of the contracted dimension it holds.
  int64_t getDepth() const { return type.getDimSize(isAlongK ? 1 : 0); }

  RankedTensorType type;
  /// Whether its rows run along the contracted dimension, or across it.
  bool isAlongK = false;
  int64_t slots = 1;
  tracea_pipe::Reuse reuse = tracea_pipe::Reuse::Unknown;
};

/// How one operand of a contraction is read.
class OperandAccess {
public:
  virtual ~OperandAccess() = default;

  /// The tensor that is read: the operation's, or a padded copy of it.
  Value getTensor() const { return tensor; }
  void setTensor(Value copy) { tensor = copy; }
  Type getElementType() const { return getElementTypeOrSelf(tensor); }

  /// Whether rows in memory run along the contracted dimension, or across it.
  virtual bool isAlongK() const = 0;
  /// The extent of those rows, from which their alignment follows;
  /// ShapedType::kDynamic where only the run knows it.
  virtual int64_t getRowExtent() const = 0;
  /// Whether elements are read again by other tiles, where tiles have
  /// `otherExtent` of the result's other dimension.
  virtual tracea_pipe::Reuse getReuse(int64_t otherExtent) const = 0;
  /// Steps of `depth` that the whole sum takes.
  virtual Value getSteps(KernelBuilder &kb, int64_t depth) const = 0;
  /// The coordinates of the block of `depth` that `tile` needs in a step.
  virtual SmallVector<Value> getCoordinates(KernelBuilder &kb,
                                            const ResultTile &tile, Value step,
                                            int64_t depth) const = 0;
  /// Stages the block at such coordinates, zeros past the ends.
  virtual Value stage(KernelBuilder &kb, const BlockForm &form,
                      const ResultTile &tile, ValueRange coordinates) const = 0;

protected:
  explicit OperandAccess(Value tensor) : tensor(tensor) {}

  Value tensor;
};

/// What an operation provides.
class Contraction {
public:
  explicit Contraction(EpilogueOpInterface op) : op(op) {}
  Contraction(const Contraction &) = delete;
  Contraction &operator=(const Contraction &) = delete;
  virtual ~Contraction() = default;

  virtual OperandAccess &getLhs() = 0;
  virtual OperandAccess &getRhs() = 0;

  /// Has the run refuse operands that disagree where types do not tell.
  virtual void emitChecks(RewriterBase &rewriter) = 0;

  /// What the operation says of its sum, without its epilogue: of a result
  /// with `leading` dimensions before those of the operation's. Nothing where
  /// maps cannot say it.
  virtual std::optional<Definition> getTerms(KernelBuilder &kb,
                                             unsigned leading) = 0;

  /// Inputs of the kernel beside the operands and those of the epilogue.
  virtual SmallVector<Value> getTables() { return {}; }

  /// The extents of the matrices that the kernel's first result is: of the
  /// batch, then rows and columns. Without a say of the provider they are those
  /// of its last dimensions.
  virtual SmallVector<Value> getExtents(KernelBuilder &kb);

  /// Through which coordinates the rows from `m` on go, or null.
  virtual Value getWalk(KernelBuilder &, Value) { return Value(); }
  virtual bool hasWalk() const { return false; }

  /// Lets rows of a matrix that are several dimensions of the result be one of
  /// them where they follow each other in memory, which copies in bulk need.
  /// Changes the operation.
  virtual void joinRows(RewriterBase &) {}

  /// Where the elements of a tile are in the kernel's first result, which is
  /// the operation's or, for tiles of a part, one of parts.
  virtual TileAddress getAddress(KernelBuilder &kb, const ResultTile &tile,
                                 bool isTransposed = false);

  EpilogueOpInterface getOp() { return op; }
  ScheduleAttr getSchedule() {
    return cast<ScheduledOpInterface>(op.getOperation()).getScheduleAttr();
  }
  TargetAttr getTarget();
  Value getInit() { return op.getEpilogueInit().get(); }
  RankedTensorType getResultType() {
    return cast<RankedTensorType>(getInit().getType());
  }
  Type getAccumulatorType() { return op.getAccumulatorType(); }
  /// Dimensions of the result before those of a matrix.
  int64_t getBatchRank() { return getResultType().getRank() - 2; }
  /// Operands, tables, and what the epilogue reads.
  SmallVector<Value> getInputs();
  InFlightDiagnostic emitError() { return op->emitOpError(); }

  /// Opens a grid of tiles of the kernel's first result. `tile` is their rows,
  /// columns and, where the kernel walks by steps, the depth of one. With
  /// `parts` the grid has a first dimension of so many, of which each has its
  /// share of the steps.
  ResultTile beginTiles(KernelBuilder &kb, ArrayRef<int64_t> tile,
                        int64_t group = 0, int64_t parts = 0,
                        int64_t cluster = 1);

  /// Sums the steps of a tile: stages a block of both operands in each and lets
  /// `multiply` add their product to the others.
  Value sum(KernelBuilder &kb, const ResultTile &tile, const BlockForm &lhs,
            const BlockForm &rhs, RankedTensorType accumulator,
            function_ref<Value(Value lhs, Value rhs, Value others)> multiply);

  /// States what the kernel computes: the result, or parts of its sum.
  void define(KernelBuilder &kb);
  void defineParts(KernelBuilder &kb);

protected:
  EpilogueOpInterface op;
};

/// The operation with all elements of the first `count` dimensions of its
/// result along the last of them, in place of `op`; null where its epilogue
/// needs them apart, or it has other results.
EpilogueOpInterface joinResultDims(RewriterBase &rewriter,
                                   EpilogueOpInterface op, unsigned count);

/// Has kernels before the operation copy operands whose rows do not begin at
/// multiples of 16 bytes, or of a cache line where the schedule says so. Rows
/// whose extent types do not tell stay what they are.
void padOperands(KernelRewriter &rewriter, Contraction &contraction);

/// A tensor of `split` parts of the contraction's sums.
Value createParts(KernelRewriter &rewriter, Contraction &contraction,
                  int64_t split);
/// Has a kernel add parts up in their order and apply the epilogue to their
/// sum, and replaces the operation; with `takesAnyMemory` it takes rows that
/// begin anywhere.
void lowerSumOfParts(KernelRewriter &rewriter, Contraction &contraction,
                     Value parts, bool takesAnyMemory);

/// The same in a kernel: of tiles of `tile`, which are those of its grid.
void buildSumOfParts(KernelBuilder &kb, Contraction &contraction, Value parts,
                     const ContractionResults &results, RankedTensorType tile);

/// Stores the sums of a kernel for CPUs that leave its registers.
using StoreVectors = function_ref<void(Value sums, const TileAddress &address,
                                       ValueRange limits)>;

/// Replaces the operation by a launch of what `build` makes for a CPU: of the
/// results, or of as many parts as the schedule splits sums into, and of
/// another one that adds them up.
void lowerForVectors(KernelRewriter &rewriter, Contraction &contraction,
                     function_ref<void(KernelBuilder &, StoreVectors)> build);

/// Opens the grid of tiles of a kernel for `lowerForMemory`.
using OpenTiles = function_ref<ResultTile(KernelBuilder &)>;
/// Stores the sums of a tile, or of a piece of it; the last argument gives what
/// is stored the lanes that it had better have.
using StoreSums = function_ref<void(KernelBuilder &, Value, const ResultTile &,
                                    function_ref<Value(Value)>)>;

/// Replaces the operation by a launch of what `build` makes, a kernel for each
/// kind of memory (`launchForMemory`): of the results, for tiles and pieces as
/// `ContractionResults` has them, or of as many parts as the schedule splits
/// sums into, and of another one that adds them up.
void lowerForMemory(
    KernelRewriter &rewriter, Contraction &contraction, ArrayRef<int64_t> reach,
    function_ref<void(KernelBuilder &, OpenTiles, StoreSums)> build,
    function_ref<bool(unsigned)> isWanted = nullptr);

/// What lanes hold in `type` of a staged block, from `row` and `column` of it
/// as the product sees it: with its dimensions exchanged, or as they are.
Value loadFragment(KernelBuilder &kb, RankedTensorType type, Value block,
                   bool isExchanged, int64_t row, int64_t column);

// Kernels of a contraction, one function a variant.
LogicalResult lowerByWarpgroups(KernelRewriter &rewriter,
                                Contraction &contraction);
/// The transposed product: columns of the result are the unit's rows.
LogicalResult lowerTransposedByWarpgroups(KernelRewriter &rewriter,
                                          Contraction &contraction);
LogicalResult lowerByWarps(KernelRewriter &rewriter, Contraction &contraction);
LogicalResult lowerByLanes(KernelRewriter &rewriter, Contraction &contraction);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_CONTRACTION_CONTRACTION_H
