//===- Feasible.cpp - Whether inequalities have a rational solution -------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dual simplex method with nothing to optimise: unknowns leave the columns
// for good, then rows that are negative are exchanged with columns by Bland's
// rule, which ends.

#include "Feasible.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"
#include <limits>
#include <numeric>

namespace {
/// Row i says: scale * owner(i) = constant + sum of entry * owner of column.
/// Owners are numbers that are not negative, the slacks of the inequalities
/// first, or unknowns.
class Tableau {
public:
  Tableau(llvm::ArrayRef<int64_t> system, llvm::ArrayRef<bool> isNatural)
      : width(isNatural.size() + 2),
        numRows(system.size() / (isNatural.size() + 1)),
        entries(size_t(width) * numRows), rowOwner(numRows),
        columnOwner(isNatural.size(), kUnknown) {
    for (unsigned i = 0; i < numRows; ++i) {
      rowOwner[i] = i;
      int64_t *own = row(i);
      own[kScale] = 1;
      for (unsigned j = kConstant; j < width; ++j)
        own[j] = system[size_t(i) * (width - 1) + j - 1];
    }
    for (unsigned i = 0; i < isNatural.size(); ++i)
      if (isNatural[i])
        columnOwner[i] = numRows + i;
  }

  std::optional<bool> decide() {
    for (unsigned column = kFirst; column < width; ++column)
      for (unsigned i = 0; owner(column) == kUnknown && i < numRows; ++i)
        if (rowOwner[i] != kUnknown && row(i)[column] != 0) {
          if (!pivot(i, column))
            return std::nullopt;
        }
    // Bland's rule ends; this bound is for the time that it may take.
    for (unsigned step = 0; step < kMaxSteps; ++step) {
      std::optional<unsigned> leaving, entering;
      for (unsigned i = 0; i < numRows; ++i)
        if (rowOwner[i] != kUnknown && row(i)[kConstant] < 0 &&
            (!leaving || rowOwner[i] < rowOwner[*leaving]))
          leaving = i;
      if (!leaving)
        return true;
      for (unsigned column = kFirst; column < width; ++column)
        if (owner(column) != kUnknown && row(*leaving)[column] > 0 &&
            (!entering || owner(column) < owner(*entering)))
          entering = column;
      if (!entering)
        return false;
      if (!pivot(*leaving, *entering))
        return std::nullopt;
    }
    return std::nullopt;
  }

private:
  static constexpr unsigned kScale = 0, kConstant = 1, kFirst = 2;
  static constexpr unsigned kUnknown = std::numeric_limits<unsigned>::max();
  static constexpr unsigned kMaxSteps = 1000;

  int64_t *row(unsigned i) { return entries.data() + size_t(i) * width; }
  unsigned &owner(unsigned column) { return columnOwner[column - kFirst]; }

  /// Numbers that grow are divided by what they share.
  void shorten(int64_t *own) {
    int64_t divisor = 0;
    for (unsigned j = 0; j < width && divisor != 1; ++j)
      divisor = std::gcd(divisor, own[j]);
    if (divisor > 1)
      for (unsigned j = 0; j < width; ++j)
        own[j] /= divisor;
  }

  bool pivot(unsigned at, unsigned column) {
    int64_t *from = row(at);
    // Solved for the column, with a scale that is positive.
    int64_t factor = from[column], scale = from[kScale];
    int64_t sign = factor < 0 ? -1 : 1;
    int64_t overflow = 0;
    for (unsigned j = kConstant; j < width; ++j)
      overflow |= llvm::MulOverflow(-sign, from[j], from[j]);
    overflow |= llvm::MulOverflow(sign, factor, from[kScale]);
    from[column] = sign * scale;
    if (overflow)
      return false;
    shorten(from);
    std::swap(rowOwner[at], owner(column));
    for (unsigned i = 0; i < numRows; ++i) {
      int64_t *other = row(i);
      int64_t times = other[column];
      if (i == at || times == 0)
        continue;
      int64_t by = from[kScale];
      other[column] = 0;
      uint64_t used = 0;
      overflow |= llvm::MulOverflow(other[kScale], by, other[kScale]);
      for (unsigned j = kConstant; j < width; ++j) {
        int64_t own = other[j], added = 0;
        overflow |= llvm::MulOverflow(own, by, own);
        overflow |= llvm::MulOverflow(times, from[j], added);
        overflow |= llvm::AddOverflow(own, added, other[j]);
        used |= other[j] < 0 ? ~uint64_t(other[j]) : uint64_t(other[j]);
      }
      if (overflow)
        return false;
      if ((used | uint64_t(other[kScale])) >> 24)
        shorten(other);
    }
    return true;
  }

  unsigned width, numRows;
  llvm::SmallVector<int64_t, 512> entries;
  llvm::SmallVector<unsigned, 64> rowOwner, columnOwner;
};
} // namespace

std::optional<bool>
mlir::tracea::numerics::isFeasible(llvm::ArrayRef<int64_t> system,
                                   llvm::ArrayRef<bool> isNatural) {
  return Tableau(system, isNatural).decide();
}
