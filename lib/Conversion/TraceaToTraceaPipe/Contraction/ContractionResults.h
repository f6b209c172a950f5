//===- ContractionResults.h - The results of a kernel that sums -*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_CONTRACTION_CONTRACTIONRESULTS_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_CONTRACTION_CONTRACTIONRESULTS_H

#include "Contraction.h"

namespace mlir::tracea {

/// How a kernel stores the results of an operation with an epilogue. What an
/// auxiliary result reduces leaves each tile as partial values, which other
/// kernels reduce in their order: no two tiles write to one place.
class ContractionResults {
public:
  /// The kernel's grid has tiles of `tile` elements along m and n, and one
  /// partial value stands for `reach` neighbours of a tile there.
  ContractionResults(KernelRewriter &rewriter, EpilogueOpInterface op,
                     ArrayRef<int64_t> tile, ArrayRef<int64_t> reach);
  /// For a kernel that reduces nothing: what is to be reduced is stored whole,
  /// and operations of linalg behind the kernel reduce it.
  ContractionResults(KernelRewriter &rewriter, EpilogueOpInterface op);

  /// The destinations of the kernel, one for each result.
  ArrayRef<Value> getInits() const { return inits; }

  /// Applies the epilogue to an accumulator tile whose elements belong to the
  /// result elements at `address`, and stores all that comes of it. `arrange`
  /// gives what is stored the lanes that it had better have.
  void store(KernelBuilder &kb, Value accumulator, const TileAddress &address,
             ValueRange limits,
             function_ref<Value(Value)> arrange = nullptr) const;

  /// Reduces the partial values of `launched`, the kernel's results, and
  /// replaces the operation.
  void finish(ValueRange launched) const;

private:
  /// Whether partial values of an auxiliary result leave the kernel.
  bool isReduced(unsigned index) const {
    return reducesTiles && kinds[index] != ReductionKind::None;
  }
  /// The auxiliary result's dimensions, as the kernel stores it.
  AffineMap getStoredMap(unsigned index) const;
  /// The result's dimensions of the partial values of an auxiliary result in
  /// their order: batches, then those that are reduced, then the others.
  SmallVector<unsigned> getPartialDims(unsigned index) const;
  /// Whether an auxiliary result reduces a dimension of the result.
  bool reduces(unsigned index, unsigned dim) const;
  /// What the kernel stores of an auxiliary result that is to be reduced.
  Value createPartials(unsigned index) const;
  Value createWhole(unsigned index) const;
  void storePartials(KernelBuilder &kb, unsigned index, Value value,
                     const TileAddress &address, ValueRange limits) const;
  /// The value with the neutral element past the ends of what is reduced.
  Value mask(KernelBuilder &kb, unsigned index, Value value, AffineMap map,
             ValueRange limits) const;

  KernelRewriter &rewriter;
  mutable EpilogueOpInterface op;
  unsigned rank;
  bool reducesTiles;
  /// Of the result's last two dimensions.
  SmallVector<int64_t> tile, reach;
  SmallVector<ReductionKind> kinds;
  SmallVector<Value> inits;
};

/// The pipeline level's name of a reduction.
tracea_pipe::ReduceKind getReduceKind(ReductionKind kind);

/// A kernel that reduces dimensions of `partials` into `init`, whose
/// dimensions are the others in their order; its result.
Value lowerReduction(KernelRewriter &rewriter, EpilogueOpInterface op,
                     ReductionKind kind, Value partials,
                     ArrayRef<bool> isReduced, Value init);

/// The auxiliary result number `index` of `op` by an operation of linalg: what
/// `values`, which have all dimensions, come to.
Value reduceBehind(RewriterBase &rewriter, EpilogueOpInterface op,
                   unsigned index, Value values);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_CONTRACTION_CONTRACTIONRESULTS_H
