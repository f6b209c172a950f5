//===- Mutant.h - One mutant, made and judged -------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TEST_INTEGRATION_MUTATION_MUTANT_H
#define TRACEA_TEST_INTEGRATION_MUTATION_MUTANT_H

#include "Campaign.h"
#include "Mutations.h"

namespace tracea::mutants {

/// What a mutant is made of.
struct Draw {
  uint64_t seed = 0;
  size_t start = 0;
  mlir::tracea::Phase level = mlir::tracea::Phase::Pipeline;
};

enum class OutcomeKind {
  /// The dice came to nothing.
  Unchanged,
  Invalid,
  Refused,
  NotDecided,
  /// All checks accept it, but no code can be made of it.
  NotLowered,
  /// Accepted, and it computes the same.
  Equal,
  /// Accepted, and the host refuses to run it on inputs that fit: no harm.
  NotRun,
  /// Accepted on the target's IR, with another protocol, which was proved. It
  /// is
  /// not run.
  OtherProtocol,
  /// Accepted, and it computes other values, of which nobody has claimed
  /// anything: in the host, or of a kernel without a certificate of its
  /// meaning.
  NotClaimed,
  /// Accepted, and it computes something else than was claimed, or harms
  /// memory:
  /// a failure.
  Different,
  /// The compiler crashed: a failure.
  Crash
};
const char *nameOf(OutcomeKind kind);

struct Outcome {
  OutcomeKind kind;
  std::string check;
  /// The edits and what was found, several lines.
  std::string message;
  /// All edits were made in the host.
  bool onHost = false;
};

/// Makes and judges mutants; keeps what they start from.
class Judge {
public:
  /// Without `proofs` only the verifier is asked: to see that runs find what
  /// checks would have refused.
  explicit Judge(const std::vector<Start> &starts, bool proofs = true)
      : starts(starts), proofs(proofs) {}

  Outcome judge(const Draw &draw);
  /// The start itself, unchanged.
  Outcome judgeStart(size_t start);
  /// The module of a mutant with its edits as comments.
  std::string print(const Draw &draw);

private:
  mlir::OwningOpRef<mlir::ModuleOp> copyStart(const Draw &draw);
  Outcome judgeModule(mlir::ModuleOp module, const Start &start);
  /// Of target IR: whether what synchronises is still what it was.
  Outcome judgeTarget(mlir::ModuleOp module, size_t start);
  Outcome judgeEdits(const Draw &draw, llvm::ArrayRef<Edit> edits);

  const std::vector<Start> &starts;
  bool proofs;
  std::unique_ptr<mlir::MLIRContext> context;
  std::map<std::pair<size_t, mlir::tracea::Phase>,
           mlir::OwningOpRef<mlir::ModuleOp>>
      modules;
  /// What the check recovers of the starts on the target IR.
  std::map<size_t, std::string> protocols;
  int64_t uses = 0;
};

} // namespace tracea::mutants

#endif // TRACEA_TEST_INTEGRATION_MUTATION_MUTANT_H
