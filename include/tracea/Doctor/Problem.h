//===- Problem.h - What a variant must know of an operation
//-----------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The Doctor's view of an operation: extents and element types as plain
// numbers, so that variants, their costs and their tests need no IR.
//
//===----------------------------------------------------------------------===//
#ifndef TRACEA_DOCTOR_PROBLEM_H
#define TRACEA_DOCTOR_PROBLEM_H

#include "tracea/TargetInfo/TargetInfo.h"

#include <optional>
#include <vector>

namespace tracea::doctor {

using target::ElementType;

enum class OpKind {
  Gemm,
  GroupedGemm,
  Conv2D,
  Conv2DWGrad,
  Softmax,
  BatchNorm,
  LayerNorm,
  RMSNorm,
  Attention,
  AttentionQGrad,
  AttentionKVGrad,
};

/// The operation's name at the semantic level, "tracea.gemm".
std::string_view stringify(OpKind kind);

/// An extent that is known only when the program runs.
constexpr int64_t kUnknownExtent = -1;

/// `extent`, or the value that estimates take for an unknown one. Choices made
/// with it are valid for every extent; only their cost is a guess.
constexpr int64_t assumed(int64_t extent, int64_t typical = 1024) {
  return extent == kUnknownExtent ? typical : extent;
}

/// Product of two extents, unknown when one of them is.
int64_t multiplyExtents(int64_t a, int64_t b);

struct Problem {
  OpKind kind = OpKind::Gemm;

  /// Element types of the first and second operand, the accumulator and the
  /// result.
  ElementType operand = ElementType::F32;
  ElementType second = ElementType::F32;
  ElementType accumulator = ElementType::F32;
  /// Nothing for a type that no unit computes in (i64, say): results may have
  /// any.
  std::optional<ElementType> result = ElementType::F32;
  int extras = 0; // extra operands of the epilogue
  /// Those of them that have an element for each of the result's.
  int addends = 0;
  /// The bytes of an element of all of them together.
  int64_t addendBytes = 0;
  /// Exponentials, quotients, conversions to 8 bits and the like that the
  /// epilogue computes of an element; an error function is as long as three.
  int functions = 0;
  /// Types of what is stored beside the result in its shape, and the number of
  /// results that are reduced from the epilogue's values.
  std::vector<std::optional<ElementType>> auxiliaries;
  int reductions = 0;
  /// Whether a product of f32 may round its operands to tf32.
  bool allowTF32 = false;
  /// Whether it may multiply the two parts of tf32 that each is split into.
  bool allowTF32x3 = false;

  /// gemm: batch products [m, k] x [k, n].
  /// grouped_gemm: m rows of `groups` products [m, k] x [k, n].
  /// attention and its gradients: batch = batch x heads, m = queries, n = keys,
  /// k = extent of a query and key.
  int64_t batch = 1;
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  bool transposeFirst = false;  // the first operand is stored [k, m]
  bool transposeSecond = false; // the second operand is stored [n, k]
  /// Whether the second operand is one matrix that is the same in all runs.
  bool isSecondConstant = false;
  /// Whether only the run knows where rows of some operand or result begin.
  bool hasOpenRows = false;

  /// Row-wise operations: `rows` independent rows of `columns` elements; the
  /// elements of a row are neighbours in memory when `innermost`.
  int64_t rows = 1;
  int64_t columns = 1;
  bool innermost = true;
  /// How many dimensions make a row, and where there are several, the extent of
  /// the last one.
  int reducedDims = 1;
  int64_t lastExtent = 1;
  /// Whether a prologue computes the elements of a row, and of how many tensors
  /// that have an element for each.
  bool hasPrologue = false;
  int rowInputs = 1;
  /// Whether the results of a row are reduced again, to finish them.
  bool hasFinish = false;

  /// conv2d and its gradient by the filter: extents of the output, and of one
  /// group's filters.
  int64_t images = 1;
  int64_t outputHeight = 1;
  int64_t outputWidth = 1;
  int64_t groups = 1;        // grouped_gemm: of rows
  int64_t groupChannels = 1; // input channels of a group
  int64_t groupFilters = 1;  // output channels of a group
  int64_t filterHeight = 1;
  int64_t filterWidth = 1;
  int64_t strideHeight = 1;
  int64_t strideWidth = 1;
  int64_t dilationHeight = 1;
  int64_t dilationWidth = 1;
  bool channelsLast = true; // NHWC, else NCHW
  /// Whether rows of the filter are channels of one filter, else filters; and
  /// the extents of rows of the image, those of a group, and of the filter.
  bool filterAlongChannels = true;
  int64_t imageRow = 1;
  int64_t filterRow = 1;
  /// Whether rows of the filter are taps.
  bool filterAlongTaps = false;
  /// Whether the filter is the same in all runs.
  bool isFilterConstant = false;
  /// Extents of the image, and its border above and on the left.
  int64_t imageHeight = 1;
  int64_t imageWidth = 1;
  int64_t padTop = 0;
  int64_t padLeft = 0;

  /// attention: extent of a value, and the block of a block mask (0: no mask).
  int64_t valueDim = 1;
  /// Query heads that share a key head; unknown: left to the run.
  int64_t sharedHeads = 1;
  /// A query sees some of the keys alone, counted from its own place.
  bool hasWindow = false;
  /// A query sees no keys behind its own place.
  bool isCausal = false;
  /// The run knows how many of the keys there are.
  bool hasLengths = false;
  int64_t maskRows = 0;
  int64_t maskColumns = 0;
};

} // namespace tracea::doctor

#endif // TRACEA_DOCTOR_PROBLEM_H
