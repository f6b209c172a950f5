//===- Windows.h - Accesses seen from the memory they go to -----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views, indices and maps of an access are composed to one linear map from the
// coordinates of the access to those of the buffer: a staged one, or memory of
// the launcher. What is decided of an access is decided on that.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_CONVERSION_TRACEAPIPETOGPU_WINDOWS_H
#define TRACEA_CONVERSION_TRACEAPIPETOGPU_WINDOWS_H

#include "tracea/Algebra/Swizzle.h"
#include "tracea/Conversion/TraceaPipeToGPU/KnownRange.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"

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
    /// What is known to divide the value where the window was collected: of a
    /// loop that is being converted nobody finds the counter's step.
    int64_t divisor;
    /// Whether a step of the loop around the access changes the value, and what
    /// it lies between then: seen by `noteSteps`.
    bool isStep = false;
    std::optional<KnownRange> range = std::nullopt;
  };
  /// Whether a step of the loop around the access changes the coordinate.
  bool hasStep() const {
    return llvm::any_of(terms, [](const Term &term) { return term.isStep; });
  }

  /// Factors of the access's coordinates, and what is known of the origin.
  LinearForm form;
  /// The rest of the origin.
  SmallVector<Term> terms;
};

/// Finds which terms change from step to step of the loop that an operation
/// stands in; of none where it stands in none.
void noteSteps(MutableArrayRef<WindowDim> dims, Operation *op);

/// Bytes of the widest access of a lane.
constexpr int64_t kWidestAccess = 16;

/// Bytes of an element in memory, 0 for one of less than a byte.
int64_t getElementBytes(MemRefType type);

/// The coordinates of `memory[indices + map(t)]` in the memory that views lead
/// to, which replaces `memory`. No indices are zeros.
SmallVector<WindowDim> composeAccess(Value &memory, ValueRange indices,
                                     AffineMap map);

/// Memory of the launcher.
struct GlobalBuffer {
  MemRefType type;
  /// What the target addresses it by: a pointer, or the memref itself.
  Value base;
  /// Indices, one for each dimension; none where the target asks the memref.
  SmallVector<Value> sizes;
  /// Elements from one of a dimension to the next, where there are gaps between
  /// rows; none where memory is row-major.
  SmallVector<int64_t> strides;
  /// Bytes that its beginning, and that of each row, is a multiple of.
  int64_t alignment = 1;
};

/// An access to such memory, in its coordinates.
struct GlobalWindow {
  /// What one more of a dimension of the tile adds to coordinate `dim`; that of
  /// a dimension that walks depends on where it is.
  int64_t getFactor(const WindowDim &dim, unsigned tileDim) const;
  /// Whether coordinate `dim` depends on a dimension of the tile.
  bool dependsOn(const WindowDim &dim, unsigned tileDim) const;

  Value buffer;
  SmallVector<WindowDim> dims;
  /// Where a dimension of the tile walks: what the coordinates are linear in,
  /// and through what it walks. Else they are so in the tile's dimensions.
  SmallVector<MapInput> inputs;
  SmallVector<Value> walks;
};

/// Has the window of a transfer go along its walks: through their coordinates,
/// or, where these are all that memory has there, along its elements, so that
/// nothing is divided.
void addWalks(GlobalWindow &window, const GlobalBuffer &buffer,
              const TileTransfer &transfer);

/// Whether coordinate 1 of an access runs along the last dimension, alone and
/// by steps of one.
bool runsAlongLast(ArrayRef<WindowDim> dims);
/// The same of memory, of an access none of whose dimensions walks.
inline bool runsAlongLast(const GlobalWindow &window) {
  return window.inputs.empty() && runsAlongLast(window.dims);
}

struct StagedWindow {
  using Term = WindowDim::Term;
  using Dim = WindowDim;
  /// What defines the buffer: acquire, wait or scratch.
  Value buffer;
  StagedLayout layout;
  SmallVector<Dim> dims;
  /// Where a dimension of the tile walks: what the coordinates are linear in,
  /// and the digits through which it walks. Else they are so in the tile's
  /// dimensions.
  struct Digits {
    int64_t first = 0;
    SmallVector<int64_t> basis;
  };
  SmallVector<MapInput> inputs;
  SmallVector<Digits> walks;

  /// The window of an access `memory[indices + map(t)]`.
  static FailureOr<StagedWindow>
  get(Value memory, ValueRange indices, AffineMap map,
      function_ref<InFlightDiagnostic()> emitError);
  /// All of `memory`, a memref.
  static FailureOr<StagedWindow>
  get(Value memory, function_ref<InFlightDiagnostic()> emitError);

  /// Has the window go along the walks of a transfer, of which the numbers must
  /// be known.
  LogicalResult addWalks(const TileTransfer &transfer,
                         function_ref<InFlightDiagnostic()> emitError);
  /// What the coordinates are linear in, for element `at` of the tile.
  SmallVector<int64_t> getInputs(ArrayRef<int64_t> at) const;
  /// Bytes from the origin's terms to element `at`, before the swizzle.
  int64_t getOffset(ArrayRef<int64_t> at) const;
  /// What the bytes of the terms are known to be a multiple of; 0 without any,
  /// 1 where they are no sum because a panel is not linear.
  int64_t getTermsAlignment() const;
  /// Whether the origin lies at the beginning of a panel for all that is known,
  /// or there are no panels; only then are its terms a sum of bytes. Into
  /// `term`, the first that says otherwise.
  bool startsPanels(Value *term = nullptr) const;
  bool hasTerms() const;
};

/// The memory that `memory` is with other dimensions, the same elements in the
/// same order; `memory` itself where it is none.
Value stripReshapes(Value memory);

/// A number that divides `value`; 0 for the constant zero. Only its factor of a
/// power of two holds for numbers that wrap.
int64_t getKnownDivisor(Value value);

} // namespace mlir::tracea_pipe

#endif // TRACEA_CONVERSION_TRACEAPIPETOGPU_WINDOWS_H
