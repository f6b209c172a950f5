//===- Faults.h - Named faults for correct kernels --------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fault makes one small change to a kernel that is correct: what somebody
// who writes kernels, or a pass, could get wrong. Each names the check that
// must reject the result.

#ifndef TRACEA_TEST_LIB_FAULTS_FAULTS_H
#define TRACEA_TEST_LIB_FAULTS_FAULTS_H

#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include <functional>
#include <vector>

namespace tracea::test {

struct Fault {
  /// Kebab case, unique.
  const char *name;
  /// "verifier", "protocol", "banks", "coverage" or "resources".
  const char *check;
  /// Changes the kernel; false where it has nothing of the kind.
  std::function<bool(mlir::tracea_pipe::KernelOp)> inject;
};

/// Synchronisation: channels, groups, turns, roles.
void addProtocolFaults(std::vector<Fault> &faults);
/// Where staged memory meets banks.
void addBankFaults(std::vector<Fault> &faults);
/// Grids, loops, windows, limits.
void addCoverageFaults(std::vector<Fault> &faults);
/// More than a target has.
void addResourceFaults(std::vector<Fault> &faults);

std::vector<Fault> getFaults();

//===----------------------------------------------------------------------===//
// Finding what to change
//===----------------------------------------------------------------------===//

/// All operations of a kind below `root`, in the order of the text.
template <typename Op>
std::vector<Op> all(mlir::Operation *root) {
  std::vector<Op> found;
  root->walk<mlir::WalkOrder::PreOrder>([&](Op op) { found.push_back(op); });
  return found;
}

/// The first one that `accept` takes; null if there is none.
template <typename Op>
Op first(
    mlir::Operation *root,
    llvm::function_ref<bool(Op)> accept = [](Op) { return true; }) {
  for (Op op : all<Op>(root))
    if (accept(op))
      return op;
  return {};
}

template <typename Op>
Op last(
    mlir::Operation *root,
    llvm::function_ref<bool(Op)> accept = [](Op) { return true; }) {
  Op found;
  for (Op op : all<Op>(root))
    if (accept(op))
      found = op;
  return found;
}

/// The role that fills the first channel, and the one that reads it.
mlir::tracea_pipe::RoleOp getFiller(mlir::tracea_pipe::KernelOp kernel);
mlir::tracea_pipe::RoleOp getReader(mlir::tracea_pipe::KernelOp kernel);

} // namespace tracea::test

#endif // TRACEA_TEST_LIB_FAULTS_FAULTS_H
