//===- Symbols.h - Integers of a kernel as shared expressions -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the integers of target IR are made of: constants, the thread number,
// addresses of shared memory, variables that walk a ring, and values that
// nobody knows but that are equal where they are equal. Expressions are unique,
// so that equal ones are one pointer, and have unsigned ranges.

#ifndef TRACEA_ANALYSIS_TARGETPROTOCOL_SYMBOLS_H
#define TRACEA_ANALYSIS_TARGETPROTOCOL_SYMBOLS_H

#include "tracea/Analysis/Protocol/Protocol.h"
#include "llvm/ADT/FoldingSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Allocator.h"

#include <optional>

namespace mlir::tracea {

struct Symbol : llvm::FoldingSetNode {
  enum Kind : uint8_t {
    Constant,
    /// The thread's number in its block; the range is that of a role.
    Thread,
    /// Whether the thread is the one that its warp elects.
    Elected,
    /// The address of shared memory, shifted right by `value`.
    Base,
    /// A variable of the role.
    Walk,
    /// Unknown; the same for all threads of the role unless `onThread`.
    Opaque,
    Apply
  };
  Kind kind = Constant;
  ::tracea::analysis::Operator op = ::tracea::analysis::Operator::Constant;
  unsigned bits = 32;
  /// Of a constant; the number of a walk or of something opaque.
  uint64_t value = 0;
  const Symbol *operands[3] = {};
  unsigned numOperands = 0;
  /// Unsigned bounds, both included.
  uint64_t low = 0, high = ~uint64_t(0);
  /// Bits that are zero at the low end.
  unsigned zeros = 0;
  /// What it depends on.
  bool onThread = false, onWalk = false, onOpaque = false, onBase = false;
  /// Depends on something that other roles cannot know.
  bool isPrivate = false;
  /// Depends on the iteration of a loop.
  bool varies = false;

  bool isConstant() const { return kind == Constant; }
  bool isConstant(uint64_t wanted) const {
    return kind == Constant && value == wanted;
  }
  void Profile(llvm::FoldingSetNodeID &id) const;
};

/// constant + sum of coefficient * symbol.
struct Linear {
  int64_t constant = 0;
  llvm::MapVector<const Symbol *, int64_t> terms;

  void add(const Linear &other, int64_t factor = 1);
};

class SymbolTable {
public:
  const Symbol *constant(uint64_t value, unsigned bits = 32);
  const Symbol *thread(uint64_t first, uint64_t last);
  const Symbol *elected();
  const Symbol *base(unsigned shift = 0);
  const Symbol *walk(unsigned number, unsigned bits);
  /// What `key` names; a fresh one if it is empty.
  const Symbol *opaque(llvm::StringRef key, unsigned bits, bool isPrivate,
                       bool varies = false, uint64_t low = 0,
                       uint64_t high = ~uint64_t(0), bool onThread = false);
  const Symbol *apply(::tracea::analysis::Operator op, unsigned bits,
                      llvm::ArrayRef<const Symbol *> operands);

  /// Sums, differences and products by constants, taken apart.
  Linear linearize(const Symbol *symbol);
  /// A sum as a symbol again.
  const Symbol *sum(const Linear &linear, unsigned bits);

private:
  const Symbol *unique(const Symbol &prototype);
  const Symbol *simplify(::tracea::analysis::Operator op, unsigned bits,
                         llvm::ArrayRef<const Symbol *> operands);

  llvm::FoldingSet<Symbol> symbols;
  llvm::SpecificBumpPtrAllocator<Symbol> allocator;
  llvm::StringMap<uint64_t> keys;
};

/// The value for one thread, if the symbol depends on nothing else; `elects`
/// says whether the thread is the elected one of its warp.
std::optional<uint64_t> evaluateForThread(const Symbol *symbol, uint64_t thread,
                                          bool elects);

} // namespace mlir::tracea

#endif // TRACEA_ANALYSIS_TARGETPROTOCOL_SYMBOLS_H
