//===- Definitions.h - What a kernel's operation says of it -----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel carries what its operation reads for each element of the result, in
// the operation's own maps, which know no tiles. The proofs compare the kernel
// with it.

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_DEFINITIONS_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_DEFINITIONS_H

#include "ConstantPanels.h"

namespace mlir::tracea {

/// Collects what is read for an element of one of a kernel's results.
class Definition {
public:
  /// Of a result of rank `rank`, summed over `walked` dimensions, which come
  /// after those of the result. Maps may have as many `extents` of factors.
  Definition(KernelBuilder &kb, unsigned rank, unsigned walked,
             unsigned extents = 0)
      : kb(kb), dims(rank + walked), extents(extents) {}

  AffineExpr dim(unsigned position) { return kb.dim(position); }
  /// The element of an operand at `place`.
  void add(Value operand, ArrayRef<AffineExpr> place);
  /// Has places say `expr` for dimension number `position`.
  void replace(unsigned position, AffineExpr expr);
  /// The operands of an epilogue.
  void addEpilogue(EpilogueOpInterface op);
  /// Says it of a result of the kernel.
  void set(int64_t factors, unsigned result = 0);

private:
  KernelBuilder &kb;
  unsigned dims, extents;
  SmallVector<int64_t> operands;
  SmallVector<Attribute> maps;
};

/// The sum over the first dimension of `parts`, with the epilogue of `op`.
void defineSumOfParts(KernelBuilder &kb, EpilogueOpInterface op, Value parts);
/// Result number `result` is a copy of `source`, with zeros beyond its extents.
void defineCopy(KernelBuilder &kb, Value source, unsigned result);
/// What a convolution sums, of a result with `leading` dimensions before those
/// of the operation's. `image` and `filter` are the operation's or padded
/// copies, or the image has its channels as groups and the channels of one, or
/// the filter is one in panels, of that form.
/// Nothing where maps cannot say it.
std::optional<Definition>
getConvolutionTerms(KernelBuilder &kb, Conv2DOp op, Value image, Value filter,
                    unsigned leading = 0, const PanelForm *panels = nullptr);
/// A convolution with the operands of its epilogue, and its filter or a copy of
/// it in panels.
void defineConvolution(KernelBuilder &kb, Conv2DOp op, Value filter,
                       const PanelForm *panels = nullptr);
inline void defineConvolution(KernelBuilder &kb, Conv2DOp op) {
  defineConvolution(kb, op, op.getFilter());
}

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_DEFINITIONS_H
