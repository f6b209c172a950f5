//===- EpilogueUtils.h - Editing epilogues and reading elementwise ops ----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graph-level passes all speak of two things: the epilogue of a semantic
// operation, which they extend, and an elementwise operation on tensors, which
// they read. Both are given one face here.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_TRANSFORMS_EPILOGUEUTILS_H
#define TRACEA_LIB_TRANSFORMS_EPILOGUEUTILS_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/PatternMatch.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"
#include <functional>
#include <optional>
#include <string>

namespace mlir::tracea {

/// The tensor behind any number of tensor.cast.
Value peelCasts(Value tensor);

/// The scalar constant that every element of the tensor is, or null.
TypedAttr getSplatValue(Value tensor);

/// True if `op` may stand in an epilogue: an elementwise operation of arith or
/// math on scalars, or an arith constant.
bool isEpilogueOperation(Operation *op);

/// True unless a decision has been made for the operation as it stands.
bool isUndecided(EpilogueOpInterface op);

/// Number of dimensions of the result that the epilogue writes.
unsigned getEpilogueRank(EpilogueOpInterface op);

/// Whether nothing reads an auxiliary result before `place`, an operation of
/// the same block, so that `op` may stand there as far as they are concerned.
bool canMoveTo(EpilogueOpInterface op, Operation *place);

/// An operation that computes each element of its one result from elements of
/// its operands: a structured operation of linalg with parallel loops only, or
/// an elementwise operation of arith or math on tensors.
class ElementwiseOp {
public:
  /// One operand that the computation reads.
  struct Input {
    OpOperand *operand;
    /// From the dimensions of the result to those of the operand: a projected
    /// permutation, possibly with zeros where an extent of one is repeated.
    AffineMap map;
  };

  /// Fails with the reason, a clause about "the consumer".
  static std::optional<ElementwiseOp> match(Operation *op, std::string &reason);

  Operation *getOperation() const { return op; }
  ArrayRef<Input> getInputs() const { return inputs; }
  /// Scalars read from outside of the body, constants excepted.
  ArrayRef<Value> getCaptures() const { return captures; }
  /// Number of scalar operations that `emit` creates.
  unsigned getSize() const;
  /// If the result only repeats or permutes elements of one operand, it.
  const Input *getCopied() const;

  /// Creates the scalar computation. `scalars` holds one value per input,
  /// `captured` one per capture.
  Value emit(OpBuilder &builder, ArrayRef<Value> scalars,
             ArrayRef<Value> captured) const;

private:
  Operation *op = nullptr;
  SmallVector<Input> inputs;
  SmallVector<Value> captures;
};

/// Follows a tensor read through `map` to the tensor that its elements come
/// from: through casts, broadcasts, transpositions, copies and reshapes that
/// only add extents of one. Both arguments are updated.
void composeProducers(Value &tensor, AffineMap &map);

/// Extends a scalar region of an operation: tensors and scalars of its
/// surroundings become values of the region.
class ScalarEditor {
public:
  virtual ~ScalarEditor() = default;

  /// A builder where the region is extended.
  OpBuilder &getBuilder() { return builder; }
  /// The scalar of the tensor at `map` of the dimensions that the operands are
  /// indexed by: a constant where the tensor is known to hold one, else an
  /// argument of the region. The same tensor read twice is one operand.
  Value read(Value tensor, AffineMap map);
  /// A scalar from outside: a constant is cloned, any other value becomes an
  /// operand of rank 0.
  Value readScalar(Value scalar);
  /// Number of operands added.
  unsigned getNumAdded() const { return numAdded; }

protected:
  ScalarEditor(RewriterBase &rewriter, Operation *owner, unsigned rank)
      : rewriter(rewriter), builder(rewriter.getContext()), owner(owner),
        rank(rank) {}

  /// The argument of an operand that is read so already, or null.
  virtual Value find(Value tensor, AffineMap map) = 0;
  /// The argument of a new operand.
  virtual Value append(Value tensor, AffineMap map) = 0;

  RewriterBase &rewriter;
  OpBuilder builder;

private:
  Operation *owner;
  unsigned rank;
  unsigned numAdded = 0;
};

/// Extends the epilogue of an operation. Construction gives an empty epilogue
/// its explicit form; `finish` must be called at the end.
class EpilogueEditor : public ScalarEditor {
public:
  EpilogueEditor(RewriterBase &rewriter, EpilogueOpInterface op);

  /// The scalar that the epilogue stores so far.
  Value getStored() const { return stored; }

  /// Stores `result` instead and puts the operation in the place of
  /// `consumer`, whose one result it computes from now on. The operation
  /// writes to `init` if that has the right type, else to a new tensor.
  void finish(Value result, Value init, Operation *consumer);

private:
  Value find(Value tensor, AffineMap map) override;
  Value append(Value tensor, AffineMap map) override;

  EpilogueOpInterface op;
  Value stored;
};

/// Puts the computation of an input's elements in front of the prologue of an
/// operation. Construction gives an empty prologue its explicit form.
class PrologueEditor : public ScalarEditor {
public:
  /// `tensor` is read as the input from now on; what the prologue did with the
  /// element of the old one it does with what `finish` is given.
  PrologueEditor(RewriterBase &rewriter, RowOpInterface op, OpOperand &tensor);

  /// The element of the new input.
  Value getElement() const { return element; }
  void finish(Value computed);

private:
  Value find(Value tensor, AffineMap map) override;
  Value append(Value tensor, AffineMap map) override;

  RowOpInterface op;
  BlockArgument element;
  SmallVector<OpOperand *> uses;
};

/// Removes extra operands that the epilogue does not read and the scalar
/// operations that nothing reads. Returns the number of operands removed.
unsigned dropUnusedExtras(RewriterBase &rewriter, EpilogueOpInterface op);

/// Whether rows lie along the last dimension and are known to have at most
/// `maxColumns` elements, which registers or the nearest cache hold.
LogicalResult expectShortRows(RowOpInterface op, int64_t maxColumns,
                              std::string &reason);

/// An operation with the operands, properties and regions of `op`, which loses
/// these, and results of other types; `op` is left to be replaced.
RowOpInterface moveToResults(RewriterBase &rewriter, RowOpInterface op,
                             TypeRange types);

/// What is known of the extents of either type, two types of one shape.
RankedTensorType mergeShapes(RankedTensorType a, RankedTensorType b,
                             Type elementType);

/// A tensor with the extents of `shape`, of the given type, its contents
/// undefined. The type must be one that `shape`'s could be cast to but for the
/// element type.
Value createEmptyLike(OpBuilder &builder, Location loc, Value shape,
                      RankedTensorType type);

/// Adds the pattern that reads extra operands through `composeProducers`.
void populateComposeExtrasPatterns(RewritePatternSet &patterns,
                                   std::function<void()> onChange);

/// Evaluates an elementwise operation whose inputs are all constants, with the
/// scalar operations' folders; null if that is not possible or the result has
/// more than `maxElements` elements.
Attribute foldElementwise(const ElementwiseOp &op, int64_t maxElements);

/// Adds the pattern that replaces such an operation by its value.
void populateFoldElementwisePatterns(RewritePatternSet &patterns,
                                     int64_t maxElements,
                                     std::function<void()> onFold);

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_EPILOGUEUTILS_H
