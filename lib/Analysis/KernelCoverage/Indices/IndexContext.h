//===- IndexContext.h - The integers of a kernel as expressions -*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Index values of a kernel become expressions in sizes (symbols) and in what
// runs (ids: tiles of the grid, teams, iterations, elements of a tile). For
// accesses every loop is an id. For an output, loops that write the same
// elements again and again are symbols, and what joins and splits ids by
// symbolic divisors, rasters among it, becomes a stage of the problem.

#ifndef TRACEA_LIB_ANALYSIS_KERNELCOVERAGE_INDICES_INDEXCONTEXT_H
#define TRACEA_LIB_ANALYSIS_KERNELCOVERAGE_INDICES_INDEXCONTEXT_H

#include "LaunchFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tracea/Dialect/TraceaPipe/IR/Turns.h"
#include "llvm/ADT/DenseSet.h"
#include <set>

namespace mlir::tracea {
namespace cov = ::tracea::coverage;

/// What all contexts of a kernel share.
struct KernelIndices {
  KernelIndices(tracea_pipe::KernelOp kernel, cov::Space &space);

  /// The extent of an argument, or an integer argument (dim -1).
  cov::Expr getSize(unsigned argument, int64_t dim);
  /// How many tiles `tracea_pipe.ragged_count` counts: numbers that the memory
  /// of argument `ends` decides.
  struct RaggedCount {
    cov::Expr all, full;
  };
  /// Nothing where they are not about sizes and an argument alone.
  std::optional<RaggedCount> getRaggedCount(Value ends, const cov::Expr &rows,
                                            int64_t tile);
  /// Takes `size` to be at least 1: the number of workgroups.
  void requireSize(const cov::Expr &size);
  /// What was required, and what the host has checked of the sizes asked for so
  /// far.
  std::vector<cov::Constraint> getAssumptions();
  ArrayRef<cov::Constraint> getRequired() const { return required; }
  /// The quotient of two sizes of which the host has checked that one divides
  /// the other.
  std::optional<cov::Expr> getRatio(const cov::Expr &numerator,
                                    const cov::Expr &divisor);
  /// What has been divided by in `exprs` was at least 1.
  void requireDivisors(ArrayRef<cov::Expr> exprs,
                       llvm::SmallVectorImpl<cov::Constraint> &guard);

  /// What is divided by, which is at least 1 wherever the division matters.
  cov::Expr atLeastOne(const cov::Expr &divisor);

  /// What was divided by and may be 0, for all that its range says.
  std::set<cov::Expr> divisors;

  tracea_pipe::KernelOp kernel;
  FunctionType type;
  cov::IndexArithmetic math;
  LaunchFacts facts;
  /// In words, for messages.
  std::map<cov::Term, std::string> names;
  /// Variables that stand for more than can happen; why.
  std::map<cov::Term, std::string> abstractions;
  /// What a variable is made from: the row of a raster from its index.
  std::map<cov::Term, std::vector<cov::Term>> origins;
  /// The loop, grid or tile operation that a variable belongs to.
  std::map<cov::Term, Operation *> owners;
  /// What reads a number that memory holds.
  std::map<cov::Term, tracea_pipe::ReadOp> reads;
  /// Sizes of which arguments a symbol names.
  std::map<cov::Term, unsigned> symbolArguments;

private:
  cov::Expr getClassSize(unsigned number);
  bool isRatio(cov::Term hostTerm) const;
  std::optional<cov::Expr> fromHost(cov::Term hostTerm);

  std::map<unsigned, cov::Expr> sizes;
  /// Those of the host that no argument brings.
  std::map<cov::Term, cov::Expr> ratios;
  std::vector<cov::Constraint> required;
  std::map<std::tuple<unsigned, cov::Expr, int64_t>, RaggedCount> raggedCounts;
};

/// Alternatives that are tried one after the other: the sides of a select, of
/// an inequality.
class Choices {
public:
  /// The alternative of `key` at hand, below `count`.
  unsigned choose(const void *key, unsigned count);
  /// Moves on to the next combination; false after the last one.
  bool advance();
  bool isEmpty() const { return stack.empty(); }

private:
  struct Choice {
    const void *key;
    unsigned count, current;
  };
  llvm::SmallVector<Choice> stack;
};

/// Where an operation runs.
struct IndexScope {
  /// Ids from the outside to the inside.
  llvm::SmallVector<cov::Term> ids;
  llvm::SmallVector<cov::Constraint> guard;
  /// Loops around it.
  llvm::SmallVector<Operation *> loops;
  /// Why the guard allows more than can happen; empty: it does not.
  std::string overestimate;
};

/// A condition on the values of an operation's operands that was relied on.
struct IndexObligation {
  Operation *op;
  cov::Expr nonNegative;
};

/// The choice between a number and 0 that `end` is, if it is one.
arith::SelectOp getChosenEnd(Value end);

class IndexContext {
public:
  /// `repeated`: loops whose counters are symbols.
  IndexContext(KernelIndices &kernel, Choices &choices, bool forOutput,
               const llvm::DenseSet<Operation *> &repeated = {});

  cov::Expr get(Value value);
  cov::Expr get(OpFoldResult value);
  /// The extent of a memref or tensor.
  cov::Expr getDim(Value memory, int64_t dim);
  /// The coordinate of a tile's element: an id of `op` below `extent`.
  cov::Expr getElement(Operation *op, unsigned group, int64_t dim,
                       cov::Expr extent, StringRef name);
  /// The coordinates of `element` of a dimension that walks through the numbers
  /// below `limit`.
  llvm::SmallVector<cov::Expr> getWalk(Value walk, const cov::Expr &element,
                                       std::optional<cov::Expr> limit);
  /// The numbers that memory may hold: those of its type.
  static cov::Range getNumberRange(MemRefType memory);
  /// The coordinates of a number below `end` in the mixed radix of a basis. Of
  /// an output they are those of `walked`.
  llvm::SmallVector<cov::Expr> delinearize(Operation *op,
                                           const cov::Expr &number,
                                           ArrayRef<cov::Expr> basis,
                                           std::optional<cov::Expr> end);
  /// What holds where `op` runs; its own loops (linalg) included.
  IndexScope getScope(Operation *op);
  /// The counters of the loops of a linalg operation.
  ArrayRef<cov::Expr> getLoops(linalg::LinalgOp op);
  /// Adds `condition` (or its opposite) to the guard; false if it is not a
  /// comparison of indices.
  bool addCondition(Value condition, bool isTrue,
                    llvm::SmallVectorImpl<cov::Constraint> &guard);

  KernelIndices &kernel;
  cov::IndexArithmetic &math;
  /// What joins and splits ids (of outputs).
  std::vector<cov::Stage> stages;
  /// Ids that stages use up; what they make is in the ids instead.
  llvm::SmallVector<cov::Term> consumed;
  llvm::SmallVector<IndexObligation> obligations;
  /// Loops whose counters are symbols, with first value and end.
  struct Repetition {
    Operation *loop;
    cov::Expr lower, upper, trips;
    std::optional<cov::Term> symbol;
  };
  llvm::SmallVector<Repetition> repetitions;
  /// Rows of an output that are those of ragged tiles. The first row of tile
  /// `number` is taken to be number * tile, so that tiles follow each other
  /// without gaps up to `extent`; what stands for the end of its group is
  /// `end`.
  struct RaggedRows {
    tracea_pipe::RaggedTileOp op;
    cov::Term number, end;
    cov::Expr extent;
  };
  std::optional<RaggedRows> ragged;
  /// Numbers below `end` that stores walk through: `stages` take `whole` apart
  /// into the coordinates. `number` is the one of the store at hand.
  struct Walked {
    cov::Term whole;
    cov::Expr end;
    llvm::SmallVector<cov::Expr> basis, coordinates;
    std::vector<cov::Stage> stages;
    std::optional<cov::Expr> number;
  };
  llvm::SmallVector<Walked> walked;

private:
  /// What the counter of a loop may be.
  struct Loop {
    llvm::SmallVector<cov::Term> ids;
    llvm::SmallVector<cov::Constraint> guard;
    std::string overestimate;
  };
  struct LinalgLoops {
    llvm::SmallVector<cov::Expr> counters;
    Loop loop;
  };

  bool addOwnTurn(scf::IfOp branch, Region *region,
                  llvm::SmallVectorImpl<cov::Constraint> &guard);
  cov::Expr translate(Value value);
  cov::Expr translateArgument(BlockArgument argument);
  cov::Expr translateOp(Operation *op, unsigned result);
  cov::Expr translate(AffineExpr expr, ValueRange operands, unsigned numDims,
                      Operation *op);
  cov::Expr getGathered(tracea_pipe::GatherOp op, const cov::Expr &element);
  std::optional<bool> isKnown(Value condition);
  cov::Expr select(Operation *op, Value condition, Value ifTrue, Value ifFalse);
  cov::Expr nonNegative(Operation *op, cov::Expr expr);
  cov::Expr divisor(Operation *op, const cov::Expr &expr);
  cov::Expr divide(Operation *op, cov::Expr a, cov::Expr b, bool remainder);
  std::optional<cov::Expr> getShare(Operation *op, const cov::Expr &number,
                                    const cov::Expr &extent);
  bool isMultiple(const std::optional<cov::Expr> &end,
                  const cov::Expr &divisor);
  std::optional<cov::Expr> getEnd(cov::Term term);
  std::optional<std::pair<cov::Expr, cov::Expr>>
  getDigits(Operation *op, const cov::Expr &number, const cov::Expr &divisor);
  cov::Expr opaque(Value value, const Twine &why);

  cov::Expr makeId(Operation *owner, const Twine &name, const Twine &words,
                   cov::Expr extent, llvm::SmallVectorImpl<cov::Term> &ids);
  void describe(cov::Term term, Operation *owner, const Twine &words);
  Loop &enter(scf::ForOp loop);
  Loop &enter(scf::ForallOp loop);
  Loop &enter(tracea_pipe::TilesOp tiles);
  Loop &enter(tracea_pipe::RoleOp role);
  LinalgLoops &enter(linalg::LinalgOp op);
  void enterStepped(scf::ForOp op, Loop &loop, cov::Expr lower,
                    ArrayRef<cov::Expr> uppers, int64_t step);
  void enterPersistent(scf::ForOp op, Loop &loop, cov::Expr lower,
                       ArrayRef<cov::Expr> uppers, cov::Expr step);
  std::pair<cov::Expr, cov::Expr> raster(tracea_pipe::RasterOp op);
  void addGroups(Value tile, Value end,
                 llvm::SmallVectorImpl<cov::Constraint> &guard);
  cov::Expr raggedTile(tracea_pipe::RaggedTileOp op, unsigned result);
  /// x = quotient * divisor + remainder, as a stage of an output.
  std::pair<cov::Expr, cov::Expr> split(Operation *op, cov::Term whole,
                                        cov::Expr divisor,
                                        cov::Expr extentOfRest);
  Walked &getWalked(Operation *op, ArrayRef<cov::Expr> basis,
                    const cov::Expr &end);
  void consume(cov::Term term) { consumed.push_back(term); }
  std::optional<cov::Term> getSingleTerm(const cov::Expr &expr);

  Choices &choices;
  bool forOutput;
  llvm::DenseSet<Operation *> repeated;
  llvm::DenseMap<Value, cov::Expr> values;
  llvm::DenseMap<Operation *, std::unique_ptr<Loop>> loops;
  llvm::DenseMap<Operation *, std::unique_ptr<LinalgLoops>> linalgLoops;
  std::map<std::tuple<Operation *, unsigned, int64_t>, cov::Expr> elements;
  llvm::DenseMap<Operation *, std::pair<cov::Expr, cov::Expr>> rasters;
  llvm::DenseMap<Operation *, std::array<cov::Expr, 3>> raggedTiles;
  std::map<std::pair<cov::Term, cov::Expr>, std::pair<cov::Expr, cov::Expr>>
      splits;
};

} // namespace mlir::tracea

#endif // TRACEA_LIB_ANALYSIS_KERNELCOVERAGE_INDICES_INDEXCONTEXT_H
