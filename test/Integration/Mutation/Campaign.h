//===- Campaign.h - Start kernels, and what becomes of mutants --*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A start is a module of one operation that is compiled to a level, and the
// inputs that its mutants are run on. Its outputs are those of the float64
// meaning: what a mutant that all checks accept must compute.

#ifndef TRACEA_TEST_INTEGRATION_MUTATION_CAMPAIGN_H
#define TRACEA_TEST_INTEGRATION_MUTATION_CAMPAIGN_H

#include "../Numerics/Numerics.h"
#include "../Support/Processes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "tracea/Pipelines/Pipelines.h"

#include <map>
#include <string>
#include <vector>

namespace tracea::mutants {

using campaign::inChild;
using numerics::HostTensor;
using numerics::Random;
using numerics::Shape;

//===----------------------------------------------------------------------===//
// Starts
//===----------------------------------------------------------------------===//

/// One call of the module's entry.
struct Run {
  std::vector<HostTensor> inputs;
  /// In full precision; the values, not their type, are compared.
  std::vector<HostTensor> expected;
  /// Relative to the largest element; 0: equal.
  double tolerance = 0;
  /// The sizes do not fit together, and the host must say so.
  bool refused = false;

  std::string describe() const;
};

/// A module with a head of comments:
///
///   // target: x86-64-v3
///   // sizes: 3x5 5x7 | 1x5 5x7          shapes of the inputs, a list for each
///   run
///   // wrong: 3x5 6x7                    sizes that must be refused
///   // tolerance: 1e-5                   of kernels that round; inputs are
///   fractions
///   // values 2: 3 5 9                   what integers of input 2 are
///   // positive: 4                       inputs that are not negative
struct Start {
  std::string name;
  std::string target;
  std::string text;
  bool onGPU = false;
  /// The element types of the inputs, and what the runs are.
  std::vector<Run> runs;
};

/// Reads a start and computes what it means. On an error prints it and ends the
/// process: a campaign without its starts is none.
Start readStart(const std::string &path);

/// A context of all dialects. It keeps all types that ever were: a new one now
/// and then saves memory.
std::unique_ptr<mlir::MLIRContext> makeContext();

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

enum class Verdict {
  /// The verifier of an operation, or the parser, refuses it.
  Invalid,
  /// A check finds a fault.
  Refused,
  /// A check cannot decide, and proofs were demanded.
  NotDecided,
  /// All checks accept.
  Accepted
};

struct Judgement {
  Verdict verdict = Verdict::Accepted;
  /// The pass that refused, "verifier", or "lowering".
  std::string check;
  std::string message;
};

/// Runs the phase `pipeline` on the module, with proofs demanded.
Judgement prove(mlir::ModuleOp module, const std::string &target);

/// The checks of what an accepted module for a GPU becomes: the program's host,
/// and the synchronisation of the lowered kernels.
Judgement proveLowered(mlir::ModuleOp module, const std::string &target);

/// The check of lowered kernels alone, and what it recovers of them.
Judgement proveTarget(mlir::ModuleOp module);
std::string getProtocols(mlir::ModuleOp module);

/// The module of `start` at the end of the phase `level`, without certificates.
mlir::OwningOpRef<mlir::ModuleOp> compileTo(const Start &start,
                                            mlir::tracea::Phase level,
                                            mlir::MLIRContext &context);

/// Removes what checks have said of the kernels.
void forgetProofs(mlir::ModuleOp module);

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// Makes a program of an accepted module; its bytes, or why there is none.
std::vector<uint8_t> makeProgram(mlir::ModuleOp module,
                                 const std::string &target, std::string &error);

/// Runs a program on all inputs of a start, between guard pages and canaries,
/// tiles in any order, and compares. Empty where all is right. Call it in a
/// process of its own.
std::string runProgram(const std::vector<uint8_t> &program, const Start &start);

/// Interprets an accepted module on all inputs of a start, for what cannot run
/// here: twice, the second time with everything as late as it may be, in
/// processes that may take so many seconds.
std::string interpret(mlir::ModuleOp module, const Start &start, int seconds);

/// What it says of operations that it does not have.
inline constexpr const char *notInterpreted = "the interpreter does not know ";

/// What `runProgram` says, among other things, where the host's own checks
/// refuse inputs.
inline constexpr const char *refusedByHost = "the program refuses";

/// What runs say where outputs are other ones, or are there though the inputs
/// do not fit together: all else that they say is about memory.
inline constexpr const char *otherValues = "other values: ";

/// What is wrong with outputs; empty where all is right.
std::string compare(const Run &run, size_t output, const Shape &shape,
                    const std::vector<double> &values);

} // namespace tracea::mutants

#endif // TRACEA_TEST_INTEGRATION_MUTATION_CAMPAIGN_H
