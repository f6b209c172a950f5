//===- Turns.h - Iterations that teams take in turn -------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop whose iterations two teams take in turn carries a truth that changes
// with each of them, and that only one team begins with:
//
//   %first = arith.cmpi eq, %team, %c0
//   %end = scf.for … iter_args(%mine = %first) -> (i1) {
//     scf.if %mine { … }
//     %other = arith.xori %mine, %true
//     scf.yield %other
//   }

#ifndef TRACEA_DIALECT_TRACEAPIPE_IR_TURNS_H
#define TRACEA_DIALECT_TRACEAPIPE_IR_TURNS_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include <optional>

namespace mlir::tracea_pipe {

/// A truth that holds in the iterations of one team of a role, and in those of
/// no other.
struct OwnTurn {
  scf::ForOp loop;
  /// Its number among the loop's iteration arguments.
  unsigned number = 0;
  /// The number of the team, of which there are two.
  BlockArgument team;

  RoleOp getRole();
  /// Whether it holds in the first iteration of team `team`.
  static bool isFirst(int64_t team) { return team == 0; }
};

/// What `truth` says: an iteration argument, or the result of the loop, which
/// would hold in the iteration after the last one. Nothing for other values.
std::optional<OwnTurn> getOwnTurn(Value truth);

} // namespace mlir::tracea_pipe

#endif // TRACEA_DIALECT_TRACEAPIPE_IR_TURNS_H
