//===- LaunchFacts.h - Which extents the host has compared ------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel may rely on what the host has compared before it launches it: that
// the rows of one argument are as many as the columns of another. Those checks
// stand before the launches, in the functions of the module.

#ifndef TRACEA_LIB_ANALYSIS_KERNELCOVERAGE_INDICES_LAUNCHFACTS_H
#define TRACEA_LIB_ANALYSIS_KERNELCOVERAGE_INDICES_LAUNCHFACTS_H

#include "tracea/Analysis/Coverage/IndexArithmetic.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea {
namespace cov = ::tracea::coverage;

/// A size that a launch brings: an extent of an argument, or an integer
/// argument (dim -1).
using SizeKey = std::pair<unsigned, int64_t>;

/// The name of its symbol: "dim0_1", "arg3".
std::string getSizeName(SizeKey key);

/// What all launches of a kernel have in common.
struct LaunchFacts {
  /// Sizes that are equal in each launch have one class.
  std::map<SizeKey, unsigned> classes;
  /// Classes whose value is known.
  std::map<unsigned, int64_t> constants;
  /// What else the host has checked, of the only launch: over `host`, whose
  /// symbols stand for classes.
  std::shared_ptr<cov::Space> host;
  std::vector<cov::Constraint> checks;
  std::map<cov::Term, unsigned> symbols;
  std::map<cov::Term, int64_t> values;
  /// Terms that stand alone in what the host computes for a class, as those of
  /// a size before it was padded: term = sign * (class - offset).
  struct Inverse {
    unsigned number;
    int64_t sign, offset;
  };
  std::map<cov::Term, Inverse> inverses;
  /// What a term of the host is, in expressions of classes; nothing for one
  /// that no argument brings.
  std::optional<cov::Expr>
  get(cov::Term hostTerm,
      llvm::function_ref<std::optional<cov::Expr>(unsigned)> ofClass) const;

  /// Classes with how the host computes them.
  std::vector<std::pair<unsigned, cov::Expr>> computed;
  /// Arguments that launches give as memory to read, and as memory of results,
  /// with one launch that does.
  std::map<unsigned, tracea_pipe::LaunchOp> inputs, results;
  /// Sizes that divide others, as the host has checked: numerator = symbol *
  /// divisor, over `host`.
  struct Ratio {
    cov::Expr numerator, divisor;
    cov::Term symbol;
  };
  std::vector<Ratio> ratios;
  /// Whether there are launches at all.
  bool isLaunched = false;
  /// Whether this is all that the host has checked.
  bool isComplete = true;
};

/// What a map makes of its operands, dimensions first; `divide` does the
/// divisions.
cov::Expr applyMap(
    AffineExpr expr, unsigned numDims, cov::IndexArithmetic &math,
    llvm::function_ref<cov::Expr(unsigned)> operand,
    llvm::function_ref<cov::Expr(AffineExprKind, cov::Expr, cov::Expr)> divide);

/// The launches of `kernel` in functions; nothing where operations that are no
/// functions may launch it as well. Nothing else than functions is read: passes
/// over kernels do not change them.
std::optional<llvm::SmallVector<tracea_pipe::LaunchOp>>
findLaunches(tracea_pipe::KernelOp kernel);

/// Reads the functions that launch `kernel`.
LaunchFacts getLaunchFacts(tracea_pipe::KernelOp kernel);
/// What these launches have in common.
LaunchFacts getLaunchFacts(tracea_pipe::KernelOp kernel,
                           llvm::ArrayRef<tracea_pipe::LaunchOp> launches);

} // namespace mlir::tracea

#endif // TRACEA_LIB_ANALYSIS_KERNELCOVERAGE_INDICES_LAUNCHFACTS_H
