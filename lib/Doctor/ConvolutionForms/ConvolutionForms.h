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

/// With pixels of a row, and their few channels, as pixels of one channel, and
/// as many taps: a view of the same operands.
std::optional<ConvolutionForm> putChannelsInTaps(RewriterBase &rewriter,
                                                 const ConvolutionForm &form);

/// Of a gradient by the filter in small groups: several groups as one, of whose
/// result the blocks of each group are taken.
std::optional<ConvolutionForm> joinGroups(RewriterBase &rewriter,
                                          const ConvolutionForm &form);

/// The bytes of a tensor, with a guess at what types do not tell.
double countBytes(Value tensor);

} // namespace mlir::tracea

#endif // TRACEA_LIB_DOCTOR_CONVOLUTIONFORMS_H
