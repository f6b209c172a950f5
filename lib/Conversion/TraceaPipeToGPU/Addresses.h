//===- Addresses.h - Where a thread's elements lie in memory ----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_ADDRESSES_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_ADDRESSES_H

#include "LaneMaps.h"
#include "Threads.h"
#include <map>

namespace mlir::tracea_pipe {

/// The accesses of a thread to the elements of its registers: element t of the
/// tile is memory[indices + map(t)].
class TileAddresses {
public:
  /// Sees through views. Fails with an error on `op`.
  static FailureOr<TileAddresses> get(Threads &threads, RankedTensorType tile,
                                      Value memory, ValueRange indices,
                                      AffineMap map);

  /// Registers that one access moves: 2^n registers that differ in `vectorBits`
  /// are consecutive elements, aligned.
  int64_t getVectorSize() const { return int64_t(1) << vectorBits.size(); }
  /// First registers of all accesses, ascending, replicas left out.
  SmallVector<int64_t> getAccesses() const;
  /// The registers of the access that begins with `first`, by element.
  SmallVector<int64_t> getRegisters(int64_t first) const;
  /// The register that holds what `reg` repeats, itself if it is the first.
  int64_t getOriginal(int64_t reg) const;

  Value load(int64_t first, int64_t size);
  void store(int64_t first, Value value);
  /// Whether the element of a register lies below all limits; null if it must.
  Value isInside(int64_t reg, ValueRange limits);

private:
  TileAddresses(Threads &threads, RankedTensorType tile,
                ::tracea::algebra::LaneMap lanes)
      : threads(threads), tile(tile), lanes(std::move(lanes)) {}

  LogicalResult follow(Value memory, ValueRange indices, AffineMap map);
  void chooseVector();
  bool canDouble(unsigned bit) const;
  /// The tile coordinate of a register along `dim`: what depends on the thread,
  /// and a constant to add.
  std::pair<Value, int64_t> getCoordinate(unsigned dim, int64_t reg);
  SmallVector<Value> getIndices(int64_t reg);
  /// The element's place in a swizzled buffer.
  Value getSwizzled(ArrayRef<Value> at);

  Threads &threads;
  RankedTensorType tile;
  ::tracea::algebra::LaneMap lanes;
  /// The memory as it is accessed: the buffer, or its elements in a row.
  Value memory;
  /// By dimension of the buffer: the window's start and the coefficients of the
  /// tile's coordinates.
  SmallVector<Value> starts;
  SmallVector<SmallVector<int64_t>> coefficients;
  MemRefType type;
  StagedAttr staged;
  SmallVector<unsigned> vectorBits;
  std::map<std::pair<unsigned, uint64_t>, Value> cache;
};

/// The largest power of two up to 2^10 that is known to divide an index.
int64_t getKnownDivisor(Value index, unsigned depth = 0);
/// Known alignment of a memref's first element, in bytes.
int64_t getKnownAlignment(Value memory, const GPULoweringContext &context);

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETOGPU_ADDRESSES_H
