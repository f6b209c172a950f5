//===- LaneVectors.h - Neighbours that a lane takes together ----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_TRANSFORMS_HOST_LANES_LANEVECTORS_H
#define TRACEA_LIB_TRANSFORMS_HOST_LANES_LANEVECTORS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::tracea {

/// Bytes of one access of a lane.
constexpr int64_t kVectorBytes = 16;
/// What the vectors of the widest operand may take of a lane.
constexpr int64_t kMostVectorBytes = 64;

/// Whether elements are whole bytes that an access can have several of.
bool isStored(Type type);

/// How a value differs between neighbouring iterations along a loop: not at
/// all, by one each from a multiple of their number on, or in any way.
enum class Spread { Same, Run, Any };

/// So many neighbouring iterations of a structured operation, on buffers, done
/// together: along the loop whose neighbours are neighbours in the result.
/// What all of them take is computed once, memory is accessed by vectors.
class LaneVectors {
public:
  /// The widest vectors there are for the operation; of width 1 where there are
  /// none: an access whose neighbours are no neighbours in memory, or a branch
  /// that they take differently.
  static LaneVectors get(linalg::LinalgOp op);
  /// Single iterations.
  LaneVectors() = default;

  unsigned getLoop() const { return loop; }
  int64_t getWidth() const { return width; }
  /// Whether data decides where a vector is: its lane waits for one load before
  /// another, and has more of them on their way where it takes several vectors.
  bool isIndirect() const { return indirect; }
  /// Whether branches ask on which side of a bound a vector lies.
  bool asksPlaces() const { return asked; }
  /// That of a value of the body, or of one around it.
  Spread of(Value value) const;
  /// That of what an operand holds for the body.
  static Spread ofAccess(AffineMap map, MemRefType type, unsigned loop,
                         int64_t width);

private:
  LaneVectors(linalg::LinalgOp op, unsigned loop, int64_t width);
  bool visitOperands(linalg::LinalgOp op);
  bool visit(Block &block);
  bool visit(Operation &op);
  Spread combine(Operation &op) const;
  bool isData(ValueRange values) const;

  unsigned loop = 0;
  int64_t width = 1;
  bool indirect = false, asked = false;
  DenseMap<Value, Spread> spreads;
  /// What was loaded, or computed from that.
  DenseSet<Value> data;
};

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_HOST_LANES_LANEVECTORS_H
