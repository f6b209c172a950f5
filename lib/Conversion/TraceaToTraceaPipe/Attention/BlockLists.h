//===- BlockLists.h - The blocks that a block mask shows --------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_ATTENTION_BLOCKLISTS_H
#define TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_ATTENTION_BLOCKLISTS_H

#include "HeadOrder.h"

namespace mlir::tracea {

/// The blocks of keys that each row of a block mask shows, one after the other,
/// so that a kernel visits those and no others. Both tensors are of i32, and
/// have the extents of the mask but for the last dimension, which has one more
/// than the n blocks of a row.
struct BlockLists {
  /// How many of the blocks in front of one are shown; of all blocks at n.
  Value ranks;
  /// The blocks that are shown, ascending, and n from there on.
  Value blocks;

  /// Launches the kernels that make them before the operation. Blocks without a
  /// key that the causal mask or the window lets their queries see are taken
  /// for hidden.
  static BlockLists create(KernelRewriter &rewriter, AttentionOp op,
                           const AttentionMemory &memory);
};

} // namespace mlir::tracea

#endif // TRACEA_LIB_CONVERSION_TRACEATOTRACEAPIPE_ATTENTION_BLOCKLISTS_H
