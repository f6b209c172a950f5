//===- IndexCheck.h - Whether indices of a launch fit -----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Proofs speak of integers without an end. Where the sizes of a kernel may be
// such that an index needs more than 64 bits, the program refuses them.

#ifndef TRACEA_TARGET_PROGRAM_INDEXCHECK_H
#define TRACEA_TARGET_PROGRAM_INDEXCHECK_H

#include "mlir/IR/Operation.h"
#include "tracea/Runtime/Manifest.h"

#include <optional>

namespace mlir::tracea {

/// A product of sizes with a factor.
struct IndexSummand {
  struct Size {
    /// The expression, of which the magnitude counts where it may be negative.
    int64_t expr;
    bool isInteger;
  };
  int64_t factor = 1;
  std::vector<Size> sizes;
};

/// The expression that is not zero where the sum fits into 64 bits.
int64_t buildIndexCheck(const std::vector<IndexSummand> &summands,
                        std::vector<::tracea::runtime::Expr> &nodes);

/// What has to hold of the arguments of `step`, which launches `kernel`;
/// nothing where it always does, or where nothing was proved.
std::optional<::tracea::runtime::CheckSpec>
getIndexCheck(Operation *kernel, const ::tracea::runtime::StepSpec &step,
              std::vector<::tracea::runtime::Expr> &nodes);

} // namespace mlir::tracea

#endif // TRACEA_TARGET_PROGRAM_INDEXCHECK_H
