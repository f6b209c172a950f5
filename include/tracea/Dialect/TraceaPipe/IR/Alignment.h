//===- Alignment.h - What a kernel asks of its memory -----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEAPIPE_IR_ALIGNMENT_H
#define TRACEA_DIALECT_TRACEAPIPE_IR_ALIGNMENT_H

#include "llvm/ADT/StringRef.h"

namespace mlir::tracea_pipe {

/// An attribute of a kernel's memref argument, a number of bytes: where the
/// memory begins, and where each run of its last dimension begins, is a
/// multiple of it. Who launches the kernel sees to it.
constexpr llvm::StringLiteral kAlignedAttrName = "tracea_pipe.aligned";

/// A unit attribute of a kernel: all lanes share its copies, even those that a
/// unit of the target could do. Without it who lowers the kernel chooses.
constexpr llvm::StringLiteral kLaneCopiesAttrName = "tracea_pipe.lane_copies";

/// A unit attribute of a kernel: what lanes copy passes through registers,
/// which hold it from the copy to the commit. For targets without copies that
/// run beside the lanes.
constexpr llvm::StringLiteral kHeldCopiesAttrName = "tracea_pipe.held_copies";

/// An attribute of a kernel without roles, an integer: so many workgroups are
/// to share a multiprocessor, and its registers.
constexpr llvm::StringLiteral kResidentsAttrName = "tracea_pipe.residents";

/// A unit attribute of a power: its exponent is at most one, and results below
/// twice the least normal number may be zero. Of a rounding: subnormal numbers
/// may be zeros to it.
constexpr llvm::StringLiteral kFlushesAttrName = "tracea_pipe.flushes";

} // namespace mlir::tracea_pipe

#endif // TRACEA_DIALECT_TRACEAPIPE_IR_ALIGNMENT_H
