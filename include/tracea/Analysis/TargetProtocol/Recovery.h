//===- Recovery.h - The protocol of a kernel of target IR -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_ANALYSIS_TARGETPROTOCOL_RECOVERY_H
#define TRACEA_ANALYSIS_TARGETPROTOCOL_RECOVERY_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tracea/Analysis/Protocol/Checker.h"
#include "tracea/Analysis/TargetProtocol/TargetEvents.h"

#include <optional>

namespace mlir::tracea {

struct RecoveredProtocol {
  ::tracea::analysis::Protocol protocol;
  /// The operation of each site.
  SmallVector<Operation *> sites;
  /// An operation that declares each channel, or null.
  SmallVector<Operation *> channels;
  /// A fault that needs no run.
  std::optional<::tracea::analysis::Finding> finding;
  /// Why the kernel is not decided, and where.
  std::string reason;
  Operation *reasonOp = nullptr;
  /// A choice that was taken to be free: if the protocol is refuted, the run
  /// may not exist.
  std::string guessed;
  Operation *guessedOp = nullptr;
};

struct RecoveryOptions {
  int64_t registerFile = 65536;
};

/// Reads roles, rings and programs out of a kernel, whose operations are what
/// `target` says. Kernels without barriers have no channels.
RecoveredProtocol recoverProtocol(LLVM::LLVMFuncOp kernel,
                                  const TargetEvents &target,
                                  const RecoveryOptions &options);

/// The claim of a recovered protocol that was proved.
std::string
describeTargetProtocol(const ::tracea::analysis::Protocol &protocol);

} // namespace mlir::tracea

#endif // TRACEA_ANALYSIS_TARGETPROTOCOL_RECOVERY_H
