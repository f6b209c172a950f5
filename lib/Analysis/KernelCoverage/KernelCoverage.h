//===- KernelCoverage.h - A kernel as a coverage problem --------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is claimed of a kernel: each element of what it writes is written by one
// tile, once in each iteration of loops that write everything again; every
// access is in bounds; staged memory is read where copies have filled it.
// docs/Proofs/Coverage.md says what these claims mean.

#ifndef TRACEA_LIB_ANALYSIS_KERNELCOVERAGE_KERNELCOVERAGE_H
#define TRACEA_LIB_ANALYSIS_KERNELCOVERAGE_KERNELCOVERAGE_H

#include "Accesses.h"
#include "tracea/Analysis/Coverage/Decide.h"

namespace mlir::tracea {

/// A claim that is decided by itself, and the places that it is about.
struct CoveragePart {
  enum Kind : uint8_t {
    /// The stages of one output.
    Output,
    /// A loop around an output runs at least once.
    Repetition,
    /// Two stores in a row belong to one tile.
    Owner,
    /// An access is in bounds.
    Access,
    /// What is read was copied before.
    Fill,
    /// What a value was taken to be.
    Obligation
  };
  Kind kind = Access;
  /// Its stages, outputs, access or claim in the problem.
  size_t firstStage = 0, endStage = 0, firstOutput = 0, endOutput = 0;
  int access = -1, claim = -1;
  /// The operation at fault; of an output, one for each writer.
  llvm::SmallVector<Operation *> ops;
  StringRef verb;
  Value buffer;
  /// Of an access: the dimension of each index, -1 of a window.
  llvm::SmallVector<int64_t> dims;
  /// Of a fill: rows or columns of the tile. The first is always used.
  llvm::SmallVector<cov::Term> freeIds;
  /// Windows that the access looks through, or the copy that fills.
  llvm::SmallVector<Operation *> notes;
  /// Why a counterexample might not happen; empty: it does.
  std::string doubt;
  /// Whether elements that nobody writes may be meant to keep their value.
  bool mayBePartial = false;
};

/// A claim that could not even be stated.
struct CoverageGap {
  Operation *op;
  std::string reason;
};

class KernelCoverage {
public:
  explicit KernelCoverage(tracea_pipe::KernelOp kernel);

  /// States all claims.
  void extract();
  /// One part as a problem of its own.
  cov::Problem getProblem(const CoveragePart &part) const;
  /// The same of the first row or column alone.
  cov::Problem getFirstOf(const CoveragePart &part) const;

  cov::Problem problem;
  KernelIndices indices;
  std::vector<CoveragePart> parts;
  std::vector<CoverageGap> gaps;

private:
  struct Site {
    Operation *op;
    unsigned number; // of the access of that operation
    Value buffer;
    llvm::SmallVector<Operation *> loops, repeated;
  };

  void extractAccesses(Operation *op);
  void addAccess(const TileAccess &access, const IndexScope &scope);
  void addFill(const TileAccess &access, const Place &place,
               const IndexScope &scope);
  void addObligations(IndexContext &context);
  void extractOutputs();
  void extractOutput(Value buffer, ArrayRef<Site> sites);
  void addOwners(ArrayRef<Site> first, ArrayRef<Site> second);
  void addClaim(CoveragePart part, cov::Claim claim);
  void gap(Operation *op, const Twine &reason);
  /// Variables that are no sizes, with those of their ranges.
  std::vector<cov::Term> getIds(ArrayRef<cov::Expr> exprs,
                                ArrayRef<cov::Constraint> guard) const;
  std::string getDoubt(ArrayRef<cov::Expr> exprs,
                       ArrayRef<cov::Constraint> guard,
                       const IndexScope &scope) const;

  tracea_pipe::KernelOp kernel;
  Choices choices;
  IndexContext context;
  std::vector<Site> sites;
};

/// Says in words where and how a part fails.
void reportFinding(const KernelCoverage &coverage, const CoveragePart &part,
                   const cov::Finding &finding, InFlightDiagnostic &diag);

} // namespace mlir::tracea

#endif // TRACEA_LIB_ANALYSIS_KERNELCOVERAGE_KERNELCOVERAGE_H
