//===- TraceaPipeRaggedOps.td - Tiles of ragged groups -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPERAGGEDOPS_TD
#define TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPERAGGEDOPS_TD

include "tracea/Dialect/TraceaPipe/IR/TraceaPipeBase.td"

def RaggedEnds : TypeConstraint<
    CPred<"::mlir::tracea_pipe::isRaggedEnds($_self)">,
    "memref of i32 or i64 of rank 1", "::mlir::MemRefType">;

/// Memory that is read is an argument which nothing in the kernel writes: the
/// values are the same wherever and whenever they are read.
class TraceaPipe_RaggedOp<string mnemonic>
    : TraceaPipe_Op<mnemonic, [Pure]> {
  let hasVerifier = 1;
}

def TraceaPipe_RaggedCountOp : TraceaPipe_RaggedOp<"ragged_count"> {
  let summary = "How many tiles cover consecutive groups of rows";
  let description = [{
    `ends` cut `rows` rows into consecutive groups. Group g ends in front of row
    e(g), begins where the group before it ends, and may be empty; the rest, the
    rows behind the last group, is group G, the number of ends:

        e(-1) = 0,  e(g) = min(max(e(g - 1), ends[g]), rows),  e(G) = rows

    Each group is cut into tiles of `tile` rows, the last of which may have
    fewer. Tiles are numbered group by group. `all` is their number, `full` that
    of tiles in front of the rest. At most ceildiv(rows, tile) + G are there.

    The memory must not change while the kernel runs.

    ```mlir
    %all, %full = tracea_pipe.ragged_count %ends rows %m tile 128 : memref<16xi32>
    ```
  }];
  let arguments = (ins RaggedEnds:$ends, Index:$rows, I64Attr:$tile);
  let results = (outs Index:$all, Index:$full);
  let assemblyFormat = [{
    $ends `rows` $rows `tile` $tile attr-dict `:` type($ends)
  }];
}

def TraceaPipe_RaggedTileOp : TraceaPipe_RaggedOp<"ragged_tile"> {
  let summary = "The group and the rows of a tile";
  let description = [{
    Tile number `index` of those that `tracea_pipe.ragged_count` counts: its
    `group`, its `first` row, and the `end` of its group. Rows first to
    first + tile - 1 are the tile's, as far as they lie below the end. For a
    number beyond the last tile the group is that of the rest, and `first` and
    `end` are the number of rows.

    ```mlir
    %group, %first, %end = tracea_pipe.ragged_tile %i in %ends rows %m tile 128
                             : memref<16xi32>
    ```
  }];
  let arguments = (ins Index:$index, RaggedEnds:$ends, Index:$rows,
    I64Attr:$tile);
  let results = (outs Index:$group, Index:$first, Index:$end);
  let assemblyFormat = [{
    $index `in` $ends `rows` $rows `tile` $tile attr-dict `:` type($ends)
  }];
}

#endif
