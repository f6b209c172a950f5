//===- TraceaPipeWalkOps.td - Coordinates that a dimension walks through --*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPEWALKOPS_TD
#define TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPEWALKOPS_TD

include "tracea/Dialect/TraceaPipe/IR/TraceaPipeBase.td"

def TraceaPipe_DelinearizeOp
    : TraceaPipe_Op<"delinearize", [Pure, AttrSizedOperandSegments]> {
  let summary = "Walks through coordinates in row-major order";
  let description = [{
    The number `first + t` is written in the mixed radix of the `basis`, as by
    `affine.delinearize_index` without an outer bound: for the basis (P, Q) its
    coordinates are

        (n div (P * Q), n div Q mod P, n mod Q)   with n = first + t

    The first one has no end of its own: a limit of the tile ends the walk.
    Extents of the basis may be known only when the kernel runs. No number that
    takes part is negative, and no extent is less than 1.

    It moves and computes nothing by itself: tile accesses take it (`along`).
    Whoever makes it outside of a loop asks for its quotients outside of it.

    Each lane divides for all rows that it copies, and many lanes copy pieces of
    one row. Where the coordinates are `kept` in a table, scratch memory of its
    own with one row of elements for each coordinate, each element's are computed
    once, by one lane, and the lanes of the team meet: all lanes run it.

    The pixels of a tile of 128, of images of P rows and Q columns:
    ```mlir
    %pixels = tracea_pipe.delinearize %pixel into (%P, %Q) : <3>
    %a = tracea_pipe.stage %x[%c0, %r, %s, %c]
           map affine_map<(n, p, q, c) -> (n, p * 2, q * 2, c)> along [0](%pixels : !tracea_pipe.walk<3>)
           limits(%left, %depth) padded [1, 2]
           : memref<?x?x?x64xf32> -> tensor<128x32xf32, #tracea_pipe.staged>
    ```
  }];
  let arguments = (ins Index:$first, Variadic<Index>:$basis,
    Optional<AnyMemRef>:$table);
  let results = (outs TraceaPipe_WalkType:$result);
  let assemblyFormat = [{
    $first `into` `(` $basis `)` (`kept` `in` $table^ `:` type($table))?
    attr-dict `:` type($result)
  }];
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$first,
                                 "::mlir::ValueRange":$basis),
    [{ build($_builder, $_state, type, first, basis, /*table=*/Value()); }]>];
  let extraClassDeclaration = [{
    /// The elements that the table has coordinates of; 0 without one.
    int64_t getTableLength() {
      return getTable()
                 ? cast<MemRefType>(getTable().getType()).getDimSize(1) : 0;
    }
  }];
  let hasVerifier = 1;
}

/// Pure: nobody changes the table, and there is no place of it that would not
/// be read.
def TraceaPipe_GatherOp : TraceaPipe_Op<"gather", [Pure]> {
  let summary = "Walks through the numbers of a table";
  let description = [{
    The one coordinate of element t is the number, with its sign, that `table`
    holds at `indices` and t further on along its last dimension. Where the
    table has no such place it is -2^31, which lies outside of all memory that
    has no more than 2^31 elements before it.

    `table` is an argument of the kernel that nothing in it writes, under this
    name or another. Its numbers may be anything that its type holds. So a
    dimension of memory that they index is to be `padded`, which makes zeros of
    what they do not find, or the access is not proved to be in bounds. Nothing
    is stored along a table: it may name one place twice.

    As with `tracea_pipe.delinearize`, whoever makes it outside of a loop asks
    for the numbers to be read outside of it.

    Rows of `x` that a table lists, in its order:
    ```mlir
    %rows = tracea_pipe.gather %table[%first] : memref<?xi32> -> <1>
    %a = tracea_pipe.stage %x[%c0, %k] map affine_map<(r, c) -> (r, c)>
           along [0](%rows : !tracea_pipe.walk<1>) padded [0, 1]
           : memref<?x?xf32> -> tensor<64x32xf32, #tracea_pipe.staged>
    ```
  }];
  let arguments = (ins
    Arg<MemRefOf<[I32, I64]>, "memory that the kernel does not write">:$table,
    Variadic<Index>:$indices);
  let results = (outs TraceaPipe_WalkType:$result);
  let assemblyFormat = [{
    $table `[` $indices `]` attr-dict `:` type($table) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The coordinate of an element that the table has not.
    static constexpr int64_t kNowhere = INT32_MIN;
  }];
}

#endif
