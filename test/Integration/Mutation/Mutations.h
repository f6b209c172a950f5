//===- Mutations.h - Small random changes of kernels ------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What somebody who writes kernels, or a pass, could get wrong, but drawn at
// random: another operand, a bound one off, an operation too many or in the
// wrong place, another attribute, the branches of a condition exchanged. A
// mutation need not keep the module legal; the verifier is the first judge.

#ifndef TRACEA_TEST_INTEGRATION_MUTATION_MUTATIONS_H
#define TRACEA_TEST_INTEGRATION_MUTATION_MUTATIONS_H

#include "../Numerics/Numerics.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace tracea::mutants {

using numerics::Random;

/// One change: of which operation, counted through the unchanged module, and
/// the dice that say how. Edits can so be left out without moving the others.
struct Edit {
  int64_t operation;
  uint64_t seed;
};

/// Mostly one edit, sometimes two or three.
std::vector<Edit> drawEdits(Random &random, mlir::ModuleOp module);

/// What became of an edit.
struct Change {
  /// A line; empty where the dice came to nothing.
  std::string text;
  /// In a function and not in a kernel.
  bool onHost = false;
};

/// Changes `module`, and says how for each edit.
std::vector<Change> applyEdits(mlir::ModuleOp module,
                               llvm::ArrayRef<Edit> edits);

/// Another attribute of the same kind for `owner`; null where there is none.
mlir::Attribute mutateAttribute(mlir::Operation *owner, llvm::StringRef name,
                                mlir::Attribute attribute, Random &random);

} // namespace tracea::mutants

#endif // TRACEA_TEST_INTEGRATION_MUTATION_MUTATIONS_H
