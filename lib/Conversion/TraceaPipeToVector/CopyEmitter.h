//===- CopyEmitter.h - Copies into slots, form by form ----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETOVECTOR_COPYEMITTER_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETOVECTOR_COPYEMITTER_H

#include "Patterns.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"
#include "tracea/Dialect/TraceaPipe/IR/Words.h"
#include "tracea/Dialect/TraceaPipe/Utils/VectorTranspose.h"

namespace mlir::tracea_pipe {

class CopyEmitter {
public:
  CopyEmitter(ImplicitLocOpBuilder &b, CopyOp op, Value source, Value dest,
              VectorLoweringContext &context)
      : b(b), context(context), source(source), dest(dest),
        sourceType(cast<MemRefType>(source.getType())),
        destType(cast<MemRefType>(dest.getType())), indices(op.getIndices()),
        isOffset(isOffsetForm(op.getDest().getType().getElementType())),
        padded(op.getPadded()), transfer(*getTileTransfer(op)),
        inputs(getMapInputs(transfer)), walked(inputs.size()) {
    zero = constant(0);
    for (AffineExpr expr : op.getMap().getResults())
      forms.push_back(getLinearForm(expr, inputs.size()));
    for (int64_t dim = 0; dim < destType.getRank(); ++dim) {
      int64_t extent = destType.getDimSize(dim);
      limits.push_back(
          op.getLimits().empty()
              ? constant(extent)
              : clipLimit(b, b.getLoc(), op.getLimits()[dim], extent));
    }
    for (int64_t dim : padded)
      sizes[dim] = sourceType.isDynamicDim(dim)
                       ? Value(memref::DimOp::create(b, source, dim))
                       : constant(sourceType.getDimSize(dim));
  }

  void emit();

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value compare(arith::CmpIPredicate predicate, Value x, Value y) {
    return b.createOrFold<arith::CmpIOp>(predicate, x, y);
  }
  Value both(Value x, Value y) {
    if (!x || !y)
      return x ? x : y;
    return arith::AndIOp::create(b, x, y);
  }

  /// Masks of all elements, and in registers of their own, came with vectors of
  /// 512 bits. Without them LLVM makes a branch for each byte or half, which
  /// loops over elements say shorter, and a Zen 3 takes 18 cycles to store a
  /// part of a vector of f32.
  bool hasNarrowMasks() const { return context.vectorBits >= 512; }

  bool walks(int64_t dim) const {
    return llvm::is_contained(transfer.along, dim);
  }
  /// Sets one of the slot coordinates `at`, and what it walks through.
  void set(MutableArrayRef<Value> at, int64_t dim, Value coordinate);

  /// The source's dimension whose places are neighbours: the last one but for
  /// those of one place.
  int64_t getRowDim() const;
  /// The slot dimension that alone runs along the source's rows, if any.
  std::optional<int64_t> getRunDim() const;
  /// Source coordinate of dimension `dim` for slot coordinates `at`.
  Value getSourceIndex(int64_t dim, ValueRange at);
  SmallVector<Value> getSourceIndices(ValueRange at);
  /// Whether all padded dimensions but `except` lie inside of the source at the
  /// slot coordinates `at`; null if nothing is to be checked.
  Value isInside(ValueRange at, std::optional<int64_t> except = std::nullopt);
  /// Whether `width` places along `run`, with all of their last dimension, lie
  /// inside of the source and before the limit.
  Value isWholeBlock(ArrayRef<Value> at, int64_t run, int64_t width);

  void emitLoops(ArrayRef<int64_t> dims, SmallVectorImpl<Value> &at,
                 function_ref<void()> body);
  void emitRow(SmallVectorImpl<Value> &at);
  /// The slot dimension that counts panels along the source's rows, where the
  /// one before the last counts rows, if any.
  std::optional<int64_t> getPanelDim() const;
  /// A few rows at a time for all panels: each goes by as a stream, and each
  /// of its lines once.
  void emitPanels(SmallVectorImpl<Value> &at, int64_t panel);
  /// Turns a block of `width` places along the source's rows and `across` rows,
  /// no more than these.
  void emitBlock(SmallVectorImpl<Value> &at, int64_t runDim, int64_t width,
                 int64_t across);
  /// Whether the slot's last dimension takes every other place of the source's
  /// rows, and `run` the two between.
  bool isEveryOther(int64_t run) const;
  void emitEveryOther(SmallVectorImpl<Value> &at, int64_t run);
  void emitElement(ValueRange at);
  /// As the slot holds a number, or several.
  Value hold(Value value);

  // By words, in WordCopy.cpp.
  int64_t getWordBits() const {
    return destType.getShape().back() * destType.getElementTypeBitWidth();
  }
  /// The slot dimension that counts words along rows of the source, if they
  /// run along it.
  std::optional<int64_t> getWordRun() const;
  bool copyWords();
  /// Elements of the source as the slot's words hold them.
  Value widen(Value elements);
  void emitWordRows(SmallVectorImpl<Value> &at);
  void emitWordRuns(SmallVectorImpl<Value> &at, int64_t run);
  void emitWordBlock(SmallVectorImpl<Value> &at, int64_t run, int64_t width);
  void emitInterleaved(SmallVectorImpl<Value> &at);
  /// The rows of the source that words at `at` have their elements of, as
  /// words; `load` loads one of them.
  Value loadInterleaved(SmallVectorImpl<Value> &at, function_ref<Value()> load);
  /// Has `emit` make a block of `width` neighbours along `run`, with loads of
  /// whole vectors where all of it is `whole`; else of parts, or element by
  /// element.
  void emitLoads(SmallVectorImpl<Value> &at, int64_t run, int64_t across,
                 int64_t width, Value whole,
                 function_ref<void(function_ref<Value()>)> emit);
  void emitTurned(SmallVectorImpl<Value> &at);
  void emitCutBlock(SmallVectorImpl<Value> &at, int64_t run, int64_t across,
                    int64_t width);
  Value loadPart(ValueRange at, int64_t length, Value most);
  /// The place of a word in `collapsed`.
  SmallVector<Value> getCollapsed(ArrayRef<Value> at);

  ImplicitLocOpBuilder &b;
  VectorLoweringContext &context;
  Value source, dest, zero;
  /// The slot with the elements of all words of a row in one dimension.
  Value collapsed;
  MemRefType sourceType, destType;
  ValueRange indices;
  /// Whether the slot holds integers in offset form.
  bool isOffset;
  ArrayRef<int64_t> padded;
  TileTransfer transfer;
  SmallVector<MapInput> inputs;
  /// The inputs that are coordinates of walks, at the slot coordinates at hand.
  SmallVector<Value> walked;
  SmallVector<LinearForm> forms;
  /// How many coordinates of each slot dimension are copied.
  SmallVector<Value> limits;
  DenseMap<int64_t, Value> sizes;
};

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETOVECTOR_COPYEMITTER_H
