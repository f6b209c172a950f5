//===- Accumulators.h - Values that matrix units write asynchronously -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An accumulator travels through multiplies, loops, structs and inline
// assembly that ties outputs to inputs: these are one set of registers, which
// may not be touched while a multiply writes them.

#ifndef TRACEA_ANALYSIS_TARGETPROTOCOL_ACCUMULATORS_H
#define TRACEA_ANALYSIS_TARGETPROTOCOL_ACCUMULATORS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/IntEqClasses.h"

namespace mlir::tracea {

class TargetEvents;

class Accumulators {
public:
  Accumulators(const TargetEvents &target) : target(target) {}

  /// Reads the whole kernel.
  void build(Operation *kernel);

  /// Accumulators are numbered from zero.
  unsigned size() const { return count; }
  /// The accumulator that `value` is (a part of), or -1.
  int get(Value value) const;
  /// All registers of multiplies, also those that hold operands.
  unsigned numRegisters() const { return registerCount; }
  /// The registers of a multiply that `value` is (a part of), or -1.
  int getRegisters(Value value) const;
  /// Whether an operation only passes registers on.
  bool isTransparent(Operation *op) const;

private:
  bool isMultiply(Operation *op) const;
  unsigned idOf(Value value, int64_t field);
  void join(Value a, int64_t fieldOfA, Value b, int64_t fieldOfB);
  void joinValues(Value a, Value b);
  void visit(Operation *op);
  unsigned leader(unsigned id) const;
  int find(Value value, const DenseMap<unsigned, int> &table) const;

  const TargetEvents &target;
  DenseMap<std::pair<Value, int64_t>, unsigned> ids;
  mutable std::vector<unsigned> parents;
  DenseMap<unsigned, int> numbers, registers;
  unsigned count = 0, registerCount = 0;
};

} // namespace mlir::tracea

#endif // TRACEA_ANALYSIS_TARGETPROTOCOL_ACCUMULATORS_H
