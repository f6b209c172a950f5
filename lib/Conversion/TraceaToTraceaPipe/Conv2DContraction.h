//===- Conv2DContraction.h - Convolutions as contractions -------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_CONV2DCONTRACTION_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_CONV2DCONTRACTION_H

#include "Contraction/Contraction.h"
#include "Variants.h"

namespace mlir::tracea {

/// An operand of a convolution. A step of the sum is a block of channels of one
/// tap of the filter: all taps of a block before the next block, so that they
/// find the image's elements where the taps before have left them.
class Conv2DOperand : public OperandAccess {
public:
  tracea_pipe::Reuse getReuse(int64_t) const override {
    return tracea_pipe::Reuse::Unknown;
  }
  Value getSteps(KernelBuilder &kb, int64_t depth) const override;
  /// Another form of the same convolution.
  void setOp(Conv2DOp other) { op = other; }

protected:
  /// `tensor` has the channels of a group along `channelDim`.
  Conv2DOperand(Value tensor, Conv2DOp op, unsigned channelDim)
      : OperandAccess(tensor), op(op), channelDim(channelDim) {}

  struct Tap {
    Value r, s, c;
  };
  Tap getTap(KernelBuilder &kb, Value step, int64_t depth) const;
  /// Channels of a group, where types tell.
  int64_t getKnownChannels() const;
  RankedTensorType getType() const {
    return cast<RankedTensorType>(tensor.getType());
  }
  /// Stages a block whose element at `outer` (one input of the map for each of
  /// its coordinates) and `channel` is at `place` of that.
  Value
  stageBlock(KernelBuilder &kb, const BlockForm &form, ValueRange coordinates,
             Value walk, unsigned outerRank,
             function_ref<void(MutableArrayRef<AffineExpr> place,
                               ArrayRef<AffineExpr> outer, AffineExpr channel)>
                 fill,
             ArrayRef<int64_t> padded) const;

  mutable Conv2DOp op;
  unsigned channelDim;
};

/// The image: the other dimension of its blocks walks over pixels of the
/// result, each of which sees its own pixel of the image through a tap. Of a
/// convolution in groups the channels are two dimensions, so that a block ends
/// where its group does.
class ImageOperand : public Conv2DOperand {
public:
  explicit ImageOperand(Conv2DOp op);

  bool isAlongK() const override { return op.getLayout() == ImageLayout::NHWC; }
  int64_t getRowExtent() const override;
  SmallVector<Value> getCoordinates(KernelBuilder &kb, const ResultTile &tile,
                                    Value step, int64_t depth) const override;
  Value stage(KernelBuilder &kb, const BlockForm &form, const ResultTile &tile,
              ValueRange coordinates) const override;
  /// Of a convolution in groups, has the channels as [group, channel].
  void splitChannels(OpBuilder &b);

private:
  /// Where a dimension of the operation's image is.
  unsigned at(unsigned dim) const {
    return dim > op.getChannelDim() ? dim + (op.getGroups() > 1) : dim;
  }
  bool mayPassBorder(unsigned axis, unsigned dim, unsigned tapDim) const;

  /// Extents of an image of the result, where types tell.
  int64_t resultHeight, resultWidth;
};

/// The filter, of which a block has the channels of one tap.
class FilterOperand : public Conv2DOperand {
public:
  explicit FilterOperand(Conv2DOp op)
      : Conv2DOperand(op.getFilter(), op, op.getFilterInDim()) {}

  bool isAlongK() const override {
    return op.getFilterLayout() != FilterLayout::RSCK;
  }
  int64_t getRowExtent() const override { return getType().getShape().back(); }
  SmallVector<Value> getCoordinates(KernelBuilder &kb, const ResultTile &tile,
                                    Value step, int64_t depth) const override;
  Value stage(KernelBuilder &kb, const BlockForm &form, const ResultTile &tile,
              ValueRange coordinates) const override;
};

/// tracea.conv2d as an implicit matrix product: pixels of the result, which
/// follow each other over all images, by the filters of a group. No image is
/// written out as a matrix.
class Conv2DContraction : public Contraction {
public:
  explicit Conv2DContraction(Conv2DOp op)
      : Contraction(op), conv(op), image(op), filter(op) {}

  ImageOperand &getLhs() override { return image; }
  FilterOperand &getRhs() override { return filter; }
  void emitChecks(RewriterBase &rewriter) override;
  std::optional<Definition> getTerms(KernelBuilder &kb,
                                     unsigned leading) override;
  SmallVector<Value> getExtents(KernelBuilder &kb) override;
  Value getWalk(KernelBuilder &kb, Value m) override;
  bool hasWalk() const override { return true; }
  /// The result as one row of one image, of all pixels.
  void joinRows(RewriterBase &rewriter) override;
  TileAddress getAddress(KernelBuilder &kb, const ResultTile &tile,
                         bool isTransposed) override;

private:
  Conv2DOp conv;
  /// Height and width of the result's images where they are joined.
  std::optional<std::pair<int64_t, int64_t>> joined;
  ImageOperand image;
  FilterOperand filter;
};

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_CONV2DCONTRACTION_H
