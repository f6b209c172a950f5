//===- WGradContraction.h - Filter gradients as contractions ----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_WGRADCONTRACTION_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_WGRADCONTRACTION_H

#include "Contraction/Contraction.h"
#include "Variants.h"

namespace mlir::tracea {

/// An operand of a filter's gradient: channels of pixels. A step of the sum is
/// a block of pixels of the output, which follow each other over all images;
/// of the image, one tap away from them.
class PixelOperand : public OperandAccess {
public:
  explicit PixelOperand(Conv2DWGradOp op)
      : OperandAccess(op.getGradient()), op(op), pixels(*this), isImage(false) {
  }
  /// The image, which walks through the pixels of `gradient`.
  PixelOperand(Conv2DWGradOp op, const PixelOperand &gradient)
      : OperandAccess(op.getImage()), op(op), pixels(gradient), isImage(true) {}

  bool isAlongK() const override { return op.getLayout() == ImageLayout::NCHW; }
  int64_t getRowExtent() const override;
  tracea_pipe::Reuse getReuse(int64_t) const override {
    return tracea_pipe::Reuse::Unknown;
  }
  Value getSteps(KernelBuilder &kb, int64_t depth) const override;
  /// The walk through the step's pixels is the last of them.
  SmallVector<Value> getCoordinates(KernelBuilder &kb, const ResultTile &tile,
                                    Value step, int64_t depth) const override;
  Value stage(KernelBuilder &kb, const BlockForm &form, const ResultTile &tile,
              ValueRange coordinates) const override;
  /// Another form of the same gradient.
  void setOp(Conv2DWGradOp other) { op = other; }

private:
  bool mayPassBorder(unsigned axis) const;

  mutable Conv2DWGradOp op;
  const PixelOperand &pixels;
  bool isImage;
};

/// tracea.conv2d_wgrad as a matrix product for each tap of each group: output
/// channels by input channels, summed over the pixels of all images.
class WGradContraction : public Contraction {
public:
  explicit WGradContraction(Conv2DWGradOp op)
      : Contraction(op), grad(op), gradient(op), image(op, gradient) {}

  PixelOperand &getLhs() override { return gradient; }
  PixelOperand &getRhs() override { return image; }
  void emitChecks(RewriterBase &rewriter) override;
  std::optional<Definition> getTerms(KernelBuilder &kb,
                                     unsigned leading) override;
  /// Groups, where there are several, and taps; then channels.
  SmallVector<Value> getExtents(KernelBuilder &kb) override;
  TileAddress getAddress(KernelBuilder &kb, const ResultTile &tile,
                         bool isTransposed) override;

private:
  /// Has the output channels of the result as [group, channel]. Changes the
  /// operation.
  void splitGroups(RewriterBase &rewriter);

  Conv2DWGradOp grad;
  PixelOperand gradient, image;
};

/// The same as one product for each group by a matrix of the image's windows,
/// which is written out before.
LogicalResult lowerWGradByWindows(KernelRewriter &rewriter, Conv2DWGradOp op);

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_WGRADCONTRACTION_H
