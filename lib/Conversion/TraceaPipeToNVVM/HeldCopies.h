//===- HeldCopies.h - Copies that wait in registers -------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_HELDCOPIES_H
#define TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_HELDCOPIES_H

#include "Lowering.h"

namespace mlir::tracea_pipe {

/// What a lane has loaded for a slot of a local ring, on targets without copies
/// that run beside lanes: it is stored where the slot is handed on, so that the
/// loads run while the lanes compute.
class HeldCopies {
public:
  /// The value goes to a pointer into shared memory.
  void add(Value value, Value pointer, int64_t bytes) {
    entries.push_back({value, pointer, bytes});
  }
  /// Stores all before the commit of the slot that `copy` fills, or at once
  /// where no commit follows in the block.
  void store(Emitter &b, CopyOp copy, AcquireOp acquire) const;

private:
  struct Entry {
    Value value, pointer;
    int64_t bytes;
  };
  SmallVector<Entry> entries;
};

} // namespace mlir::tracea_pipe

#endif // TRACEA_LIB_CONVERSION_TRACEAPIPETONVVM_HELDCOPIES_H
