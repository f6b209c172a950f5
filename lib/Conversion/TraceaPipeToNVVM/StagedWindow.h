//===- StagedWindow.h - Windows into the buffers of a workgroup -*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An access to staged memory seen from its buffer: views, indices and maps are
// composed to one linear map from the access's coordinates to the buffer's.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_STAGEDWINDOW_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_STAGEDWINDOW_H

#include "tracea/Algebra/Swizzle.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea_pipe {

/// The layout of a buffer in bytes, before its swizzle.
struct StagedLayout {
  MemRefType type;
  int64_t elementBytes = 1;
  /// Columns of a panel; all of them without panels.
  int64_t panel = 1;
  /// The distance of panels.
  int64_t panelBytes = 0;
  /// Bytes of a step along each dimension; along the last one inside a panel.
  SmallVector<int64_t> steps;
  ::tracea::algebra::Swizzle swizzle;
  /// The swizzle as one of the units' modes.
  std::optional<::tracea::algebra::SwizzleMode> mode;

  static FailureOr<StagedLayout>
  get(MemRefType type, function_ref<InFlightDiagnostic()> emitError);
  int64_t getOffset(ArrayRef<int64_t> coordinates) const;
  int64_t getBytes() const;
  /// Bytes of a row as the units see it.
  int64_t getRowBytes() const { return panel * elementBytes; }
  /// What the address of a buffer must be a multiple of.
  int64_t getAlignment() const;
};

/// One coordinate of a buffer, linear in the coordinates of an access.
struct WindowDim {
  struct Term {
    Value value;
    int64_t factor;
  };
  /// Factors of the access's coordinates, and what is known of the origin.
  LinearForm form;
  /// The rest of the origin.
  SmallVector<Term> terms;
};

/// The coordinates of `memory[indices + map(t)]` in the memory that views lead
/// to, which replaces `memory`. No indices are zeros.
SmallVector<WindowDim> composeAccess(Value &memory, ValueRange indices,
                                     AffineMap map);

/// Whether coordinate 1 of an access runs along the last dimension, alone and
/// by steps of one.
bool runsAlongLast(ArrayRef<WindowDim> dims);

struct StagedWindow {
  using Term = WindowDim::Term;
  using Dim = WindowDim;
  /// What defines the buffer: acquire, wait or scratch.
  Value buffer;
  StagedLayout layout;
  SmallVector<Dim> dims;

  /// The window of an access `memory[indices + map(t)]`.
  static FailureOr<StagedWindow>
  get(Value memory, ValueRange indices, AffineMap map,
      function_ref<InFlightDiagnostic()> emitError);
  /// All of `memory`, a memref.
  static FailureOr<StagedWindow>
  get(Value memory, function_ref<InFlightDiagnostic()> emitError);

  /// Bytes from the origin's terms to element `at`, before the swizzle.
  int64_t getOffset(ArrayRef<int64_t> at) const;
  /// What the bytes of the terms are known to be a multiple of; 0 without any.
  int64_t getTermsAlignment() const;
  bool hasTerms() const;
};

/// The memory that `memory` is with other dimensions, the same elements in the
/// same order; `memory` itself where it is none.
Value stripReshapes(Value memory);

/// A number that divides `value`; 0 for the constant zero.
int64_t getKnownDivisor(Value value);

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_STAGEDWINDOW_H
