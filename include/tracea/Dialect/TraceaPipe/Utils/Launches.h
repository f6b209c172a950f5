//===- Launches.h - What a launch says of its operands ----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEAPIPE_UTILS_LAUNCHES_H
#define TRACEA_DIALECT_TRACEAPIPE_UTILS_LAUNCHES_H

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/SmallBitVector.h"
#include <set>

namespace mlir::tracea_pipe {

/// The buffer that a view looks into.
Value getViewRoot(Value view);

/// The operands of a launch on memrefs, ins and outs, whose memory is reached
/// through another operand too, where one of both is written.
llvm::SmallBitVector getAliasedOperands(LaunchOp launch);

/// The location of a launch that the operation at `loc` became, which carries
/// its number among the module's operations with schedules: several may have
/// one place in the source. Locations stay with a launch when passes rename,
/// share or replace what it launches.
Location getLaunchLocation(Location loc, int64_t operation);
/// That number; nothing of launches that no operation with a schedule became.
std::optional<int64_t> getLaunchedOperation(LaunchOp launch);

/// Where a size comes from: a number {null, n}, an extent of a memref
/// {memref, dim}, or any other value {value, -1}.
using SizeOrigin = std::pair<Value, int64_t>;

/// The origin of an integer, and of an extent of a memref: allocations, casts
/// and views are looked through.
SizeOrigin getSizeOrigin(Value size);
SizeOrigin getSizeOrigin(Value memory, int64_t dim);

/// The sizes of a launch on memrefs, dynamic extents, integers and indices in
/// the order of the operands, and what has been asserted of them before.
struct LaunchDescription {
  std::string sizes;
  std::set<std::string> facts;

  /// Whether what is proved of the sizes of `other` holds for these: they are
  /// computed alike, and all that is known of those is known of these.
  bool isCoveredBy(const LaunchDescription &other) const;
};

/// What a function says of the sizes that its launches bring: how they are
/// computed, and what has been asserted of them before.
class LaunchSizes {
public:
  explicit LaunchSizes(Operation *function);

  /// Of a launch in this function; of two functions descriptions may be
  /// compared. Launches are described in the order of the function.
  LaunchDescription describe(LaunchOp launch);

private:
  /// Sizes that are not computed from others and were found equal.
  struct Class {
    /// Whether one of them is an extent, which is not negative.
    bool isExtent = false;
    /// What else has been asserted about them.
    SmallVector<Value, 1> checks;
  };
  class Writer;

  /// The number of the class of a size that is not computed from others.
  unsigned getClass(SizeOrigin size);
  void learn(Value condition);

  SmallVector<cf::AssertOp> checks;
  /// What has been learned, so that it is learned once.
  std::set<std::string> learned;
  /// How many of the checks have been passed.
  size_t numPassed = 0;
  DenseMap<SizeOrigin, unsigned> numbers;
  /// Facts about a class of equal sizes, at the number of its leader.
  std::vector<Class> classes;
  llvm::IntEqClasses equal;
};

} // namespace mlir::tracea_pipe

#endif // TRACEA_DIALECT_TRACEAPIPE_UTILS_LAUNCHES_H
