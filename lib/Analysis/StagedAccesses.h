//===- StagedAccesses.h - Register tiles that meet staged buffers ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the operations of a kernel to the plain questions of the algebra: which
// bytes of which buffer the lanes of a load or store touch.

#ifndef TRACEA_LIB_ANALYSIS_STAGEDACCESSES_H
#define TRACEA_LIB_ANALYSIS_STAGEDACCESSES_H

#include "tracea/Algebra/TileAccess.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea {

/// A load or a store of a register tile whose memory is staged.
struct StagedAccess {
  Operation *op = nullptr;
  /// What the views of the operation lead to: a scratch buffer, a buffer of a
  /// slot, a staged tile, or whatever else defines the memory.
  Value buffer;
  /// Inactive lanes remove words, so that degrees are upper bounds.
  bool isMasked = false;
  /// The access, or why it is outside of the method.
  std::optional<::tracea::algebra::TileAccess> access;
  std::string reason;
};

/// The staged encoding or memory space of a type; null for other memory.
tracea_pipe::StagedAttr getStaged(Type type);

/// The swizzle of a buffer on row-major byte offsets, its panels included.
/// Fails for panels of extents that are no powers of two.
FailureOr<::tracea::algebra::Swizzle> getSwizzle(tracea_pipe::StagedAttr staged,
                                                 ShapedType type);

/// All of a kernel, in the order of the text.
SmallVector<StagedAccess> collectStagedAccesses(tracea_pipe::KernelOp kernel);

/// The banks of the module's target, for a kernel that has staged accesses.
struct TargetBanks {
  /// Nothing when the target has no banks or nobody knows them.
  std::optional<::tracea::algebra::BankModel> model;
  /// A CPU: nothing to say.
  bool hasNoBanks = false;
  /// Otherwise, why there is no model.
  std::string reason;
};
/// Fails, after an error at the kernel, when the module has no target.
FailureOr<TargetBanks> getTargetBanks(tracea_pipe::KernelOp kernel);

} // namespace mlir::tracea

#endif // TRACEA_LIB_ANALYSIS_STAGEDACCESSES_H
