//===- KernelCoverage.h - A kernel as a coverage problem --------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is claimed of a kernel: each element of what it writes is written by one
// tile, once in each iteration of loops that write everything again; every
// access is in bounds; staged memory is read where copies have filled it. Apart
// from these, what is in the data: sums have each of their terms once, slots
// are full before they are read. docs/Proofs/KernelCoverage.md says what it
// means.

#ifndef TRACEA_LIB_ANALYSIS_KERNELCOVERAGE_KERNELCOVERAGE_H
#define TRACEA_LIB_ANALYSIS_KERNELCOVERAGE_KERNELCOVERAGE_H

#include "Accesses.h"
#include "Sums/SumFlow.h"
#include "tracea/Analysis/Coverage/Decide.h"

namespace mlir::tracea {

/// Replaces the rows of ragged tiles that `writer` writes along `dim` by those
/// of tiles without gaps. Why that cannot be done, or nothing.
std::string replaceRaggedRows(const cov::Space &space,
                              const IndexContext::RaggedRows &rows,
                              cov::Writer &writer, unsigned &dim);

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
    Obligation,
    /// The terms of a sum.
    Terms,
    /// Both operands of a multiply have the same terms.
    Pairing,
    /// A tile visits the terms that its elements need.
    Band,
    /// All of a slot is written from registers before it is read.
    Slot,
    /// The terms of a sum that a result is.
    Values
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

/// A store to an argument that a launch only reads, or no store at all to one
/// that is a result of a launch.
struct ResultFault {
  unsigned argument;
  /// Null: there is none.
  Operation *store;
  Operation *launch;
};

/// A claim about what the data are: decided by itself, and left out of the
/// certificate where it is not decided. The rest holds without it.
struct ContentClaim {
  CoveragePart part;
  std::string name;
  /// Terms and slots: who writes which coordinate.
  std::optional<cov::AffineStage> stage;
  /// Pairs.
  std::optional<cov::Claim> claim;
  /// Dimensions of `part.buffer`, one for each coordinate; of `buffers`, where
  /// each has its own.
  llvm::SmallVector<int64_t> dims;
  llvm::SmallVector<Value> buffers;
  /// Dimensions of `part.buffer` that are the last coordinates: of the element
  /// whose terms are counted.
  llvm::SmallVector<int64_t> elementDims;
  /// What holds where the operation runs, besides the claim: sizes of which a
  /// counterexample is one only if they satisfy it.
  std::vector<cov::Constraint> context;
  /// Why it could not even be stated; empty: it could.
  std::string undecided;
};

class KernelCoverage {
public:
  explicit KernelCoverage(tracea_pipe::KernelOp kernel);

  /// States all claims.
  void extract();
  /// One part as a problem of its own.
  cov::Problem getProblem(const CoveragePart &part) const;
  /// A claim about data as a problem of its own, or added to others.
  cov::Problem getProblem(const ContentClaim &content) const;
  static void add(cov::Problem &problem, const ContentClaim &content);
  /// The same of the first row or column alone.
  cov::Problem getFirstOf(const CoveragePart &part) const;

  cov::Problem problem;
  KernelIndices indices;
  std::vector<CoveragePart> parts;
  std::vector<CoverageGap> gaps;
  std::vector<ContentClaim> contents;
  /// Why the values of the results are not among `contents`; empty: they are,
  /// and say more of sums than what is multiplied.
  std::string valuesUndecided;
  /// Whether the reason is that a sum is dropped on the way to a result, or may
  /// not be what the operation says.
  bool areValuesFaulty = false;
  /// How a result is not what the kernel's definition says; empty: it is.
  std::string valuesFault;
  /// Whether a product was made for an operation, and nothing says of which
  /// elements.
  bool lacksDefinition = false;
  std::vector<ResultFault> resultFaults;

  /// Says what a launch has to be like for `proved` to be about it.
  void describeLaunch(cov::Problem &proved) const;

  /// Gives a claim ids of its own, and what its counterexamples depend on.
  void finish(ContentClaim &content);

  IndexContext &getContext() { return context; }
  ArrayRef<cov::Term> getSplitIds() const { return splitIds; }

private:
  struct Site {
    Operation *op;
    unsigned number; // of the access of that operation
    Value buffer;
    llvm::SmallVector<Operation *> loops, repeated;
  };

  bool hasTiles();
  void extractAccesses(Operation *op);
  void addAccess(const TileAccess &access, const IndexScope &scope);
  void addFill(const TileAccess &access, const Place &place,
               const IndexScope &scope);
  void addObligations(IndexContext &context);
  void extractOutputs();
  // Results.cpp
  void extractResults();
  void extractGrid();
  cov::AffineStage addNumbers(cov::AffineStage stage,
                              const IndexContext &context,
                              const std::map<size_t, cov::Expr> &along);
  bool extractEmptyOutput(Value buffer, ArrayRef<Site> sites);
  void extractOutput(Value buffer, ArrayRef<Site> sites);
  void addOwners(ArrayRef<Site> first, ArrayRef<Site> second);
  void extractSums();
  // ValueSums.cpp
  void extractValues();
  // ClusterSums.cpp
  bool isClusterSum();
  void extractClusterMemory();
  void extractSlots();
  /// `outside` happens once for each time that the slot is filled; the teams of
  /// `team` fill it together.
  void addSlot(Operation *reader, Value buffer,
               ArrayRef<tracea_pipe::StoreOp> stores, Operation *outside,
               Operation *team);
  void addClaim(CoveragePart part, cov::Claim claim);
  void gap(Operation *op, const Twine &reason);
  void checkStep(scf::ForOp loop);
  void checkDimension(memref::DimOp op);
  void checkDivision(Operation *op);
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
  /// Whether something may write that is not among the sites.
  bool hasUnknown = false;
  /// Indices of the grid that choose between results of their own: the part of
  /// a split sum.
  std::vector<cov::Term> splitIds;
};

/// The same of what the data are.
void reportContent(const KernelCoverage &coverage, const ContentClaim &content,
                   const cov::Finding &finding, InFlightDiagnostic &diag);

/// A problem names all ids of its space.
void addOtherIds(cov::Problem &problem);

/// Says in words where and how a part fails.
void reportFinding(const KernelCoverage &coverage, const CoveragePart &part,
                   const cov::Finding &finding, InFlightDiagnostic &diag);

} // namespace mlir::tracea

#endif // TRACEA_LIB_ANALYSIS_KERNELCOVERAGE_KERNELCOVERAGE_H
