//===- GemmContraction.h - Products of matrices as contractions -*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_GEMMCONTRACTION_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_GEMMCONTRACTION_H

#include "ConstantPanels.h"
#include "Contraction/Contraction.h"

namespace mlir::tracea {

/// An operand that is a matrix, or one for each of a batch.
class MatrixOperand : public OperandAccess {
public:
  /// What its rows run along, and which side of the product it is.
  struct Form {
    bool isLeft, isAlongK;
    /// Extent of its rows, where types tell it.
    int64_t rowExtent;
    /// The result's extent along the other operand's dimension, as far as its
    /// tiles have this operand for themselves.
    int64_t otherExtent;
  };
  MatrixOperand(Value tensor, const Form &form)
      : OperandAccess(tensor), form(form),
        type(cast<RankedTensorType>(tensor.getType())) {}

  bool isAlongK() const override { return form.isAlongK; }
  int64_t getRowExtent() const override { return form.rowExtent; }
  tracea_pipe::Reuse getReuse(int64_t otherExtent) const override;
  Value getSteps(KernelBuilder &kb, int64_t depth) const override;
  SmallVector<Value> getCoordinates(KernelBuilder &kb, const ResultTile &tile,
                                    Value step, int64_t depth) const override;
  Value stage(KernelBuilder &kb, const BlockForm &block, const ResultTile &tile,
              ValueRange coordinates) const override;

  int64_t getBatchRank() const { return type.getRank() - 2; }
  /// The contracted dimension, and the one that is m or n of the result.
  int64_t getDimK() const { return getBatchRank() + form.isAlongK; }
  int64_t getOuterDim() const { return getBatchRank() + !form.isAlongK; }
  /// Extent of the contracted dimension. Padded rows have more, which are
  /// zeros.
  Value getSizeK(KernelBuilder &kb) const;
  /// The matrix, of which there is one for all of a batch, in panels of `width`
  /// rows or columns.
  PanelForm getPanels(int64_t width) const {
    return {type, getOuterDim(), {}, getDimK(), width};
  }
  /// Reads `packed`, of that form, from now on.
  void setPanels(Value packed, PanelForm of) {
    setTensor(packed);
    panels = std::move(of);
  }
  bool hasPanels() const { return panels.has_value(); }

  /// Indices of the element at `outer` and `k` of the tile's matrix.
  SmallVector<Value> at(const ResultTile &tile, Value outer, Value k) const;
  /// The operand's place in a definition.
  SmallVector<AffineExpr> at(ArrayRef<AffineExpr> batch, AffineExpr outer,
                             AffineExpr k) const;

private:
  Form form;
  /// Of the operation's operand, also where a copy is read.
  RankedTensorType type;
  std::optional<PanelForm> panels;
};

/// tracea.gemm.
class GemmContraction : public Contraction {
public:
  explicit GemmContraction(GemmOp op);

  MatrixOperand &getLhs() override { return lhs; }
  MatrixOperand &getRhs() override { return rhs; }
  void emitChecks(RewriterBase &rewriter) override;
  std::optional<Definition> getTerms(KernelBuilder &kb,
                                     unsigned leading) override;

private:
  MatrixOperand lhs, rhs;
};

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_GEMMCONTRACTION_H
