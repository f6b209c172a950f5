//===- Values.h - What the integers of target IR are for one role ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_ANALYSIS_TARGETPROTOCOL_VALUES_H
#define TRACEA_ANALYSIS_TARGETPROTOCOL_VALUES_H

#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "tracea/Analysis/TargetProtocol/Symbols.h"

namespace mlir::tracea {

class TargetEvents;

/// The threads of a role: whole warps.
struct ThreadRange {
  unsigned first = 0, last = 0;
  unsigned size() const { return last - first + 1; }
  unsigned warps() const { return size() / 32; }
};

/// Symbols of values, for the threads of one role. Operations are visited in
/// the order in which the role runs them; what a visit binds holds until the
/// operation is visited again.
class ValueSymbols {
public:
  /// Of operations beyond `demanded` nothing is known.
  ValueSymbols(SymbolTable &table, const TargetEvents &target,
               ThreadRange threads, const DenseSet<Operation *> &demanded)
      : table(table), threads(threads), target(target), demanded(demanded) {}

  void bind(Value value, const Symbol *symbol) { symbols[value] = symbol; }
  const Symbol *get(Value value);
  /// Binds the results of an operation without regions.
  void visit(Operation *op);
  /// One lane runs what comes: whatever it computes is the same for all of it.
  void setSingleLane(bool single) { singleLane = single; }
  /// The value for each thread of the role, if nothing else decides it.
  const std::vector<uint64_t> *getPerThread(const Symbol *symbol);
  /// A symbol of no known value for `value`.
  const Symbol *unknown(Value value, bool uniform);

  SymbolTable &table;
  ThreadRange threads;

private:
  const Symbol *compute(Operation *op, Value result);
  const Symbol *computeOpaque(Operation *op, Value result);
  const Symbol *broadcast(Value value, Value result);
  const Symbol *compare(Operation *op);
  const Symbol *address(Operation *op);

  const TargetEvents &target;
  const DenseSet<Operation *> &demanded;
  DenseMap<Value, const Symbol *> symbols;
  llvm::StringMap<uint64_t> globals;
  /// Empty where there are none.
  DenseMap<const Symbol *, std::vector<uint64_t>> perThread;
  bool singleLane = false;
};

/// The integer operator that an operation of arith or llvm is, if it is one
/// that is executed as it stands.
std::optional<::tracea::analysis::Operator> getOperator(Operation *op);

/// The bits of integers, indices and pointers; 0 for other types.
unsigned getSymbolBits(Type type);

/// Whether values of a type have symbols: those of bits, and products of two
/// words, which are known by what they are made of alone.
bool hasSymbol(Type type);

} // namespace mlir::tracea

#endif // TRACEA_ANALYSIS_TARGETPROTOCOL_VALUES_H
