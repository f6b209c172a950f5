//===- SumExtraction.h - The terms of one sum -------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A multiply adds up what its operands hold along k, and loops add up
// multiplies. The dimensions of an argument that are walked along by doing so
// are coordinates, which the loops and k write: each one once, if the sum has
// each of its terms once. What copies put into a ring a multiply takes out in
// the same order, so that their loops stand for those of the multiply.

#ifndef TRACEA_LIB_ANALYSIS_KERNELCOVERAGE_SUMS_SUMEXTRACTION_H
#define TRACEA_LIB_ANALYSIS_KERNELCOVERAGE_SUMS_SUMEXTRACTION_H

#include "../KernelCoverage.h"
#include "tracea/Dialect/TraceaPipe/IR/NeededTerms.h"
#include <set>

namespace mlir::tracea {

/// An operand of a multiply, element by element of what was staged.
struct SumOperand {
  Operation *product = nullptr;
  StringRef verb;
  Place place;
  llvm::SmallVector<cov::Constraint> guard;
  /// The index along k.
  cov::Expr contracted;
  /// The ring or stage that holds it; null: an argument.
  Operation *staged = nullptr;
  /// Which one of the products that the multiplied tile was computed from,
  /// element by element: each of them has all terms.
  size_t origin = 0;
};

/// The list of blocks in memory that says which terms a sum has: its argument,
/// the row that is read, and how many terms along `dim` a block has. What the
/// sum walks along are the terms of the list, block by block.
struct SumList {
  unsigned argument = 0;
  llvm::SmallVector<cov::Expr> row;
  int64_t width = 0;
  int64_t dim = 0;

  bool operator==(const SumList &other) const {
    return argument == other.argument && row == other.row &&
           width == other.width;
  }
};

/// Where an operand comes from.
struct SumSource {
  const SumOperand *operand = nullptr;
  /// The copy; the multiply itself where nothing is staged.
  Operation *op = nullptr;
  BlockArgument buffer;
  llvm::SmallVector<cov::Expr> indices;
  llvm::SmallVector<cov::Constraint> guard;
  /// Where a list says which terms there are, one of the indices is the place
  /// in the list instead of the one in the argument.
  std::optional<SumList> list;
  /// Loops that count its steps, by depth.
  llvm::SmallVector<Operation *> loops;
  /// Copied by another role, or at another place.
  bool isRemote = false;
};

/// All sources of one operand of the multiplies of a sum.
struct SumSide {
  std::vector<SumOperand> operands;
  std::vector<SumSource> sources;
  std::string undecided;
  /// No memory that could be covered.
  bool isComputed = false;
};

/// The terms that a loop visits of those along one dimension, where an element
/// needs not all of them.
struct SumBand {
  /// Its number among the dimensions of the sum.
  size_t number = 0;
  /// The loop that visits them.
  scf::ForOp loop;
  cov::Expr begin, end;
};

/// The dimensions of an argument that a multiply walks along, and the place of
/// a term among those along them, in the order of memory. There are several
/// where words are packed: that of words, and that of places in one.
struct TermPlace {
  llvm::SmallVector<int64_t> dims;
  cov::Expr index;
  /// The product of their extents; nothing where one that counts within another
  /// is not known.
  std::optional<cov::Expr> extent;
};

class SumExtraction {
public:
  SumExtraction(KernelCoverage &coverage, tracea_pipe::KernelOp kernel,
                const Sum &sum);

  void run();

private:
  void addOperand(Operation *product, unsigned number, SumSide &side);
  /// Element `contracted` of what `access` reads.
  void addOperand(Operation *product, StringRef verb, const TileAccess &access,
                  const cov::Expr &contracted, SumSide &side);
  /// What was computed from the columns of another product.
  bool addColumns(Operation *product, Value tile, SumSide &side);
  void addSources(const SumOperand &operand, SumSide &side);
  std::optional<SumSource> getSource(const SumOperand &operand, Operation *fill,
                                     bool isRemote, SumSide &side);
  bool isTerm(const SumSource &source, cov::Term term) const;
  bool isContracted(const SumSource &source, cov::Term term) const;
  /// Names for what one multiply counts along k that are those of another.
  static void rename(const cov::Expr &contracted, const cov::Expr &other,
                     std::map<cov::Term, cov::Expr> &names);
  std::vector<int64_t> getDims(const SumSource &source, std::string &undecided);
  TermPlace getTermPlace(const SumSource &source);
  std::set<size_t> getNamedDepths(const SumSide &side);
  bool isOfResult(const cov::Constraint &constraint);
  bool isSame(const cov::Writer &a, const cov::Expr &k, const cov::Writer &b,
              const cov::Expr &other);
  bool isWindow(const SumSource &source, int64_t dim, const SumSide &other,
                std::string &undecided);
  void addTerms(const SumSide &side, const SumSide &other,
                llvm::ArrayRef<const SumSource *> sources,
                const std::set<size_t> &unnamed);
  /// Whether the operation needs a band of the terms along a dimension.
  bool isBandDim(const SumSource &source, int64_t dim) const;
  /// Whether it counts tiles of the grid, which are no parts of the sum.
  bool isTile(cov::Term term) const;
  std::optional<SumBand> getBand(const SumSource &source,
                                 ArrayRef<int64_t> dims);
  /// The tiles of the grid on which it depends where a band begins and ends,
  /// and how long the loops are that count some of `ids`.
  std::vector<cov::Term> getTiles(const SumBand &band,
                                  std::set<cov::Term> ids) const;
  void addBandClaims(const SumSource &source, const SumBand &band);
  // SumLists.cpp
  void followList(SumSource &source);
  /// Of a number that memory holds any that it may hold, as one that the claim
  /// is about.
  cov::Expr hold(const cov::Expr &expr);
  bool isHeld(cov::Term term) const;
  bool isListDim(const SumSource &source, int64_t dim) const {
    return source.list && source.list->dim == dim;
  }
  cov::Expr getLastPlace(int64_t list);
  std::string getListFault(const SumSource &source,
                           const tracea_pipe::ListedTerms &listed,
                           scf::ForOp loop);
  void addListClaims(const SumSource &source, ArrayRef<int64_t> dims,
                     scf::ForOp loop);
  void addPairs(const SumSide &lhs, const SumSide &rhs);
  void addPair(const SumSource &a, const SumSource &b);
  std::vector<cov::Term> getVariables(const cov::Expr &expr) const;
  bool addGuard(const SumSource &source, const std::set<cov::Term> &ids,
                llvm::SmallVectorImpl<cov::Constraint> &guard,
                std::vector<cov::Constraint> &sizes, std::string &undecided);
  std::string nameOf(cov::Term term) const;

  KernelCoverage &coverage;
  tracea_pipe::KernelOp kernel;
  const Sum &sum;
  IndexContext &context;
  KernelIndices &indices;
  cov::Space &space;
  /// Depths of loops that add up.
  std::set<size_t> depths;
  /// Grid indices that say which part of the sum it is.
  std::set<cov::Term> splits;
  /// What stands for numbers that memory holds.
  std::map<cov::Term, cov::Term> held;
  /// Another multiply runs where this one does not.
  bool hasAlternatives = false;
};

} // namespace mlir::tracea

#endif // TRACEA_LIB_ANALYSIS_KERNELCOVERAGE_SUMS_SUMEXTRACTION_H
