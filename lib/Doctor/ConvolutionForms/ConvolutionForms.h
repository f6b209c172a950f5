//===- ConvolutionForms.h - One convolution, said otherwise -----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A convolution, or the gradient of one by its filter, of other operands with
// the same result, for kernels that read its own ones badly. What it takes to
// make those, and to bring the result back where it belongs, is other
// operations around it.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_DOCTOR_CONVOLUTIONFORMS_H
#define TRACEA_LIB_DOCTOR_CONVOLUTIONFORMS_H

#include "mlir/IR/PatternMatch.h"
#include "tracea/Dialect/Tracea/IR/TraceaOps.h"

namespace mlir::tracea {

/// A convolution, or gradient, and what is computed around it.
struct ConvolutionForm {
  ConvolutionOpInterface conv;
  /// What the operation's result is.
  Value result;
  /// Kernels around the convolution, and the bytes that they read and write.
  int64_t numCopies = 0;
  double copiedBytes = 0;
};

/// The operands of a convolution, and how taps step over its image: one tap for
/// each pixel as it lies, unless said otherwise.
struct ConvolutionOperands {
  Value image, filter, init;
  SmallVector<Value> extras;
};
struct ConvolutionSteps {
  SmallVector<int64_t> strides = {1, 1}, pads = {0, 0, 0, 0},
                       dilations = {1, 1};
};

/// `op` with other operands and steps; its layouts and epilogue stay.
Conv2DOp makeConvolution(RewriterBase &rewriter, Conv2DOp op,
                         const ConvolutionOperands &operands,
                         const ConvolutionSteps &steps);

/// Whether a convolution has channels last, a static shape, and operands that
/// are multiplied in words, as tile units do: vectors take any number of
/// pixels as it is.
bool isOfWords(Conv2DOp op);

/// A way to say `form` otherwise, in front of what follows its convolution;
/// nothing, and nothing made, where it is not for this one.
using ConvolutionRewrite = std::optional<ConvolutionForm> (*)(
    RewriterBase &rewriter, const ConvolutionForm &form);

/// With channels last, where they are first: images, outputs and filters are
/// transposed, operands before and the result behind.
std::optional<ConvolutionForm> putChannelsLast(RewriterBase &rewriter,
                                               const ConvolutionForm &form);

/// With the taps of a row of the filter, and their channels, as the channels of
/// one tap: the image is one of windows, each of which is as wide as the
/// filter. A gradient by the filter leaves that tap's channels where they
/// belong.
std::optional<ConvolutionForm> joinTapsOfRows(RewriterBase &rewriter,
                                              const ConvolutionForm &form);

/// The same of an image with the border that taps see above and below it, for
/// kernels that read it where it lies.
std::optional<ConvolutionForm> joinTapsAndBorder(RewriterBase &rewriter,
                                                 const ConvolutionForm &form);

/// With pixels of a row, and their few channels, as pixels of one channel, and
/// as many taps: a view of the same operands.
std::optional<ConvolutionForm> putChannelsInTaps(RewriterBase &rewriter,
                                                 const ConvolutionForm &form);

/// With the pixels of all rows and images as those of one row, where one tap
/// sees them as they lie: a view of the same operands.
std::optional<ConvolutionForm> joinPixels(RewriterBase &rewriter,
                                          const ConvolutionForm &form);

/// With the zeros around the image that taps see as a part of it.
std::optional<ConvolutionForm> putBorder(RewriterBase &rewriter,
                                         const ConvolutionForm &form);

/// Of an image without a border: with all taps of the filter, and their
/// channels, as the channels of one tap: the image has what they see of each
/// pixel, copied out of it (im2col).
std::optional<ConvolutionForm> joinAllTaps(RewriterBase &rewriter,
                                           const ConvolutionForm &form);

/// Of a gradient by the filter in small groups: several groups as one, of whose
/// result the blocks of each group are taken.
std::optional<ConvolutionForm> joinGroups(RewriterBase &rewriter,
                                          const ConvolutionForm &form);

inline RankedTensorType getTensorType(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

/// The bytes of a tensor, with a guess at what types do not tell.
double countBytes(Value tensor);

} // namespace mlir::tracea

#endif // TRACEA_LIB_DOCTOR_CONVOLUTIONFORMS_H
