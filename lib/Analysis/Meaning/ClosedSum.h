//===- ClosedSum.h - What a sum walks over ----------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pieces of a value that multiply elements of the same arguments, at places
// that differ in nothing but what is summed over, are one sum. It has a closed
// form, such as "A[r0, x] * B[x, r1] for all x below the extent of A", if the
// pieces together visit each point of a box of *walked* dimensions once. Which
// dimensions these are the kernel's definition says, or else it is read off the
// places; that each point is visited once is a claim for the coverage library.

#ifndef TRACEA_LIB_ANALYSIS_MEANING_CLOSEDSUM_H
#define TRACEA_LIB_ANALYSIS_MEANING_CLOSEDSUM_H

#include "Value.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include <set>

namespace mlir::tracea::meaning {

/// A dimension of an argument that the sum walks along.
struct WalkedDim {
  unsigned argument = 0, dim = 0;
  /// Where each piece is, one form for each.
  llvm::SmallVector<numerics::Form, 2> forms;
};

/// A piece as a writer of the points of the box.
struct SumPart {
  llvm::SmallVector<unsigned, 4> variables;
  llvm::SmallVector<Condition, 6> domain;
};

struct ClosedSum {
  /// The arguments that it walks over.
  llvm::SmallVector<unsigned, 2> arguments;
  llvm::SmallVector<WalkedDim, 2> dims;
  std::vector<SumPart> parts;
  /// The coordinate of the result that says which part of the sum it is, where
  /// several elements of the result are meant to be added.
  std::optional<unsigned> split;
  /// Whether it is the sum that the kernel's definition names.
  bool isDefined = false;
  /// A place in the box, for what is said of all places: one variable for each
  /// dimension.
  llvm::SmallVector<unsigned, 4> walked;
  /// Where the definition has a term at all, in `walked` and in coordinates of
  /// the result: windows are not past a border. Elsewhere terms are zero, and
  /// nobody need visit them. The parts have these conditions as well.
  llvm::SmallVector<Condition, 4> scope;
  /// Numbers that memory holds, as atoms. Without a definition `scope` depends
  /// on them: they say where the sum ends. With one they say which of the terms
  /// that are zero a kernel leaves out.
  llvm::SmallVector<unsigned, 2> numbers;
  /// Why the closed form is not known; empty: it is.
  std::string undecided;
  /// What it reads elsewhere than the definition says; empty: nothing.
  std::string mismatch;
  /// Whether the places differ for some sizes, beyond doubt.
  bool isRefuted = false;
};

class SumFinder {
public:
  /// The extent of a dimension of an argument, as a form.
  using Extent = llvm::function_ref<numerics::Form(unsigned, unsigned)>;

  /// `at` are the coordinates of the element that `value` is; `definition`,
  /// which may be null, says what it is to be, with `coordinates` for the
  /// result's dimensions.
  SumFinder(numerics::IndexSpace &index, numerics::TermSpace &terms,
            llvm::ArrayRef<unsigned> at,
            llvm::ArrayRef<numerics::Form> coordinates,
            tracea_pipe::DefinitionAttr definition, Extent extent)
      : index(index), terms(terms), at(at), coordinates(coordinates),
        definition(definition), extent(extent) {}

  /// The sums of a value, those of single elements left out.
  std::vector<ClosedSum> find(const Value &value);
  /// The sum of the definition, where a result has nothing of it: right if all
  /// terms are past a border.
  ClosedSum findNothing();

private:
  /// A coordinate of an element that a piece reads; without an argument, a
  /// form of another kind.
  struct Place {
    /// Which element of those that the piece reads.
    unsigned read = 0;
    int argument = -1;
    unsigned dim = 0;
    numerics::Form form;
  };
  struct PlacedPiece {
    Piece piece;
    llvm::SmallVector<Place, 6> places;
  };
  using Forms = llvm::SmallVector<numerics::Form, 2>;
  /// What of a piece may be at other places in other terms of a sum: what its
  /// loops count; all of it; or all but what is fixed in pieces with loops.
  enum class Walking { ByLoops, All, AsOthers };

  bool isOf(const numerics::Form &form, const Piece &piece) const;
  bool hasOther(const numerics::Form &form, const Piece &piece) const;
  bool place(numerics::TermRef term, const Piece &piece, Walking walking,
             std::string &shape, llvm::SmallVectorImpl<Place> &places);
  /// What tells the sum of a piece from others: with the places that it does
  /// not walk along, or, should others walk there, with what of all places
  /// depends on the element.
  struct Keys {
    std::string own, walks;
  };
  /// Finds the places of a piece; nothing where its terms are sums themselves.
  std::optional<Keys> place(PlacedPiece &placed, Walking walking);
  numerics::Form elementPart(numerics::Form form, const Piece &piece) const;
  bool addPartner(std::vector<PlacedPiece> &pieces, size_t number,
                  const std::vector<PlacedPiece> &partner);
  void addRepeats(std::vector<PlacedPiece> &pieces,
                  const std::vector<PlacedPiece> &partner);
  /// Adds the place of that number of a partner's pieces.
  static void addPlace(std::vector<PlacedPiece> &pieces,
                       const std::vector<PlacedPiece> &partner, size_t number);
  void addPartners(std::map<std::string, std::vector<PlacedPiece>> &groups);
  /// The pieces as one sum, if each place that is not the same in all is walked
  /// along by one, and the closed form is known.
  std::optional<ClosedSum>
  closeTogether(const std::vector<PlacedPiece> &pieces);
  bool isInBounds(const Condition &condition, const Place &place) const;
  /// Whether the definition has a digit of a walked dimension at this place, as
  /// packed words do: it is in bounds because it is one, and not by a mask.
  bool isDigit(const Place &place) const;
  bool isOfSizes(const numerics::Form &form) const;
  /// Where `forms` are multiples of what the dims walk, and something that is
  /// the same in all pieces.
  bool isExplained(llvm::ArrayRef<PlacedPiece> pieces, const Forms &forms,
                   llvm::ArrayRef<WalkedDim> dims);
  ClosedSum close(std::vector<PlacedPiece> pieces);
  bool isFactor(int argument) const;
  numerics::Form withoutSingle(const numerics::Form &form);
  /// The piece where dimensions of one element have one coordinate; nothing
  /// where it has no terms.
  std::optional<Piece> simplify(const Piece &piece);
  // Defined.cpp
  void addSplit(ClosedSum &sum);
  void addBorders(ClosedSum &sum);
  bool mayEndFirst(AffineExpr expr, const numerics::Form &end,
                   const ClosedSum &sum) const;
  bool isShorter(unsigned argument, unsigned dim, const WalkedDim &other) const;
  bool addDefinedDims(llvm::ArrayRef<PlacedPiece> pieces, ClosedSum &sum);
  numerics::Form evaluate(AffineExpr expr,
                          llvm::ArrayRef<numerics::Form> walked);
  std::string compare(const Place &place, int operand,
                      llvm::ArrayRef<numerics::Form> walked, ClosedSum &sum);
  std::string compare(llvm::ArrayRef<PlacedPiece> pieces,
                      llvm::ArrayRef<int> chosen, ClosedSum &sum);
  bool addDims(llvm::ArrayRef<PlacedPiece> pieces, ClosedSum &sum);
  bool addSplit(llvm::ArrayRef<PlacedPiece> pieces, const Forms &forms,
                const Place &place, ClosedSum &sum);
  /// Ends of a sum that memory says become its scope.
  void addEnds(llvm::ArrayRef<PlacedPiece> pieces, ClosedSum &sum);
  std::optional<numerics::Form> getEnd(const numerics::Form &condition,
                                       unsigned number,
                                       const PlacedPiece &placed,
                                       const numerics::Form &walked,
                                       const numerics::Form &place);
  /// Whether anything but steps, parts and numbers of the sum decides it.
  bool isOfElement(const numerics::Form &form, const Piece &piece,
                   const ClosedSum &sum) const;
  void addParts(llvm::ArrayRef<PlacedPiece> pieces, ClosedSum &sum);

  numerics::IndexSpace &index;
  numerics::TermSpace &terms;
  llvm::ArrayRef<unsigned> at;
  llvm::ArrayRef<numerics::Form> coordinates;
  tracea_pipe::DefinitionAttr definition;
  Extent extent;
  /// Terms that do not change with the loops of the piece that they are in.
  std::set<numerics::TermRef> fixed;
};

} // namespace mlir::tracea::meaning

#endif // TRACEA_LIB_ANALYSIS_MEANING_CLOSEDSUM_H
