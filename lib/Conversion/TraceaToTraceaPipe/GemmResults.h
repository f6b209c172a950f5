//===- GemmResults.h - The results of a matrix product ----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_GEMMRESULTS_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_GEMMRESULTS_H

#include "KernelBuilder.h"

namespace mlir::tracea {

/// How a kernel stores the results of a product. What an auxiliary result
/// reduces leaves each tile as partial values, which other kernels reduce in
/// their order: no two tiles write to one place.
class GemmResults {
public:
  /// The kernel's grid has tiles of `tile` elements along m and n, and one
  /// partial value stands for `reach` neighbours of a tile there.
  GemmResults(KernelRewriter &rewriter, GemmOp op, ArrayRef<int64_t> tile,
              ArrayRef<int64_t> reach);
  /// The same for a kernel that reduces nothing.
  GemmResults(KernelRewriter &rewriter, GemmOp op)
      : GemmResults(rewriter, op, {1, 1}, {1, 1}) {}

  /// The destinations of the kernel, one for each result.
  ArrayRef<Value> getInits() const { return inits; }

  /// Applies the epilogue to an accumulator tile whose elements belong to the
  /// result elements at `indices` and `map`, and stores all that comes of it.
  /// `arrange` gives what is stored the lanes that it had better have.
  void store(KernelBuilder &kb, Value accumulator, ValueRange indices,
             AffineMap map, ValueRange limits,
             function_ref<Value(Value)> arrange = nullptr) const;

  /// Reduces the partial values of `launched`, the kernel's results, and
  /// replaces the operation.
  void finish(ValueRange launched) const;

private:
  bool isReduced(unsigned index) const {
    return kinds[index] != ReductionKind::None;
  }
  /// The result's dimensions of the partial values of an auxiliary result in
  /// their order: batches, then those that are reduced, then the others.
  SmallVector<unsigned> getPartialDims(unsigned index) const;
  /// Whether an auxiliary result reduces a dimension of the result.
  bool reduces(unsigned index, unsigned dim) const;
  Value createPartials(unsigned index) const;
  void storePartials(KernelBuilder &kb, unsigned index, Value value,
                     ValueRange indices, AffineMap map,
                     ValueRange limits) const;
  /// The value with the neutral element past the ends of what is reduced.
  Value mask(KernelBuilder &kb, unsigned index, Value value, AffineMap map,
             ValueRange limits) const;

  KernelRewriter &rewriter;
  mutable GemmOp op;
  unsigned rank;
  /// Of the result's last two dimensions.
  SmallVector<int64_t> tile, reach;
  SmallVector<ReductionKind> kinds;
  SmallVector<Value> inits;
};

/// The pipeline level's name of a reduction.
tracea_pipe::ReduceKind getReduceKind(ReductionKind kind);

/// A kernel that reduces dimensions of `partials` into `init`, whose
/// dimensions are the others in their order; its result.
Value lowerReduction(KernelRewriter &rewriter, GemmOp op, ReductionKind kind,
                     Value partials, ArrayRef<bool> isReduced, Value init);

/// The product without reductions: what they took is stored whole and reduced
/// by operations of linalg behind it. `op` itself if it reduces nothing.
GemmOp unfuseReductions(RewriterBase &rewriter, GemmOp op);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_GEMMRESULTS_H
