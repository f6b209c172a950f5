//===- MatrixDescriptors.h - Operands of wgmma in shared memory -*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_MATRIXUNIT_MATRIXDESCRIPTORS_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_MATRIXUNIT_MATRIXDESCRIPTORS_H

#include "tracea/Conversion/TraceaPipeToGPU/Windows.h"

namespace mlir::tracea_pipe {

struct MatrixDescriptor {
  /// Everything but the address: strides and swizzle mode.
  uint64_t constant = 0;
  /// Contiguous along M or N instead of K.
  bool isTransposed = false;
  /// Bytes from the window's terms to the part of the operand that is read by
  /// the instruction of step `k` of rows `block`.
  int64_t getStart(int64_t block, int64_t step) const {
    return starts[block * steps + step];
  }
  int64_t steps = 1;
  SmallVector<int64_t> starts;
};

/// Describes an operand of `blocks` times `extent` rows (M of the left one, N
/// of the right one) and `steps` times `k` columns. What the unit will read is
/// compared with the window element by element. Fails with an error where no
/// descriptor says the same.
FailureOr<MatrixDescriptor>
describeOperand(const StagedWindow &window, bool isLhs, int64_t extent,
                int64_t blocks, int64_t k, int64_t steps,
                function_ref<InFlightDiagnostic()> emitError);

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_MATRIXUNIT_MATRIXDESCRIPTORS_H
