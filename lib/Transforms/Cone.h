//===- Cone.h - Elementwise operations behind a result ----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The unit of fusion: every operation between a result and the one elementwise
// operation, the sink, in which all its uses meet again. A cone of one
// operation is the plain case.

#ifndef TRACEA_LIB_TRANSFORMS_CONE_H
#define TRACEA_LIB_TRANSFORMS_CONE_H

#include "EpilogueUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::tracea {

/// Adds the operations that use a tensor, casts looked through.
void collectUsers(Value tensor, llvm::SetVector<Operation *> &users,
                  llvm::SetVector<Operation *> &casts);

/// The elementwise operations between a result and the sink in which all its
/// uses meet, and how each reads and writes, in dimensions of the result.
class Cone {
public:
  static std::optional<Cone> find(EpilogueOpInterface op,
                                  unsigned maxOperations, std::string &reason);

  Operation *getSink() const { return sink; }
  /// The last operation of the cone: the sink, unless that reads the result in
  /// another order and what others read takes its place.
  Operation *getLast() const { return last; }
  unsigned getNumOps() const { return members.size(); }
  /// Every operation but the sink, casts included, users after operands.
  SmallVector<Operation *> getInnerOps() const;
  /// Other operations with epilogues of the block that the cone reads.
  SmallVector<EpilogueOpInterface> getOtherProducers() const;
  /// Whether the producer can compute the sink where it stands, or has to in
  /// the sink's place.
  bool staysInPlace() const { return stays; }
  /// The values that others than the cone read, with their maps.
  ArrayRef<std::pair<Value, AffineMap>> getEscapes() const { return escapes; }
  bool isInside(Operation *op) const {
    return matched.contains(op) || casts.contains(op);
  }
  /// Creates the scalar computation in the editor's epilogue. `scalars` is told
  /// the scalar of each value of the cone.
  Value emit(EpilogueEditor &editor, DenseMap<Value, Value> &scalars) const;

private:
  struct Member {
    ElementwiseOp elementwise;
    /// From the result's dimensions to those of the member's own result.
    AffineMap map;
  };

  /// Adds the elementwise users of a value of the cone to `open`; of others the
  /// value escapes.
  LogicalResult addUsers(Value value, llvm::SetVector<Operation *> &open,
                         std::string &reason);
  LogicalResult collect(std::string &reason);
  LogicalResult arrangeEscapes(std::string &reason);
  LogicalResult place(Operation *op, AffineMap map, std::string &reason);
  LogicalResult placeSink(unsigned rank, std::string &reason);
  LogicalResult placeOthers(std::string &reason);

  mutable EpilogueOpInterface producer;
  Operation *sink = nullptr, *last = nullptr;
  llvm::SetVector<Operation *> casts;
  llvm::MapVector<Operation *, ElementwiseOp> matched;
  /// In an order in which operands come before their users.
  llvm::MapVector<Operation *, Member> members;
  SmallVector<std::pair<Value, AffineMap>> escapes;
  bool stays = false;
};

} // namespace mlir::tracea

#endif // TRACEA_LIB_TRANSFORMS_CONE_H
