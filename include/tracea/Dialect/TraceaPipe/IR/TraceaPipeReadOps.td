//===- TraceaPipeReadOps.td - Numbers that memory holds ----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPEREADOPS_TD
#define TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPEREADOPS_TD

include "tracea/Dialect/TraceaPipe/IR/TraceaPipeBase.td"

/// Without effects, for nobody changes the memory; but it is not speculatable:
/// where a branch or an empty loop is around it, the place may not exist.
def TraceaPipe_ReadOp : TraceaPipe_Op<"read", [NoMemoryEffect]> {
  let summary = "Reads a number that does not change while the kernel runs";
  let description = [{
    The element of `source` at `indices`, with its sign (a condition is 0 or 1): a length, the number of
    tiles of a list or one of them, the first row of a block. `source` is an
    argument of the kernel that nothing in it writes. So whoever reads one place,
    in whichever role and whenever, finds one number, and loops in several roles
    may run as often as it says: that is what
    [the protocol](../Proofs/Protocol.md) is proved for.

    The place must exist, and it is no memory of others that the kernel writes
    under another name. The number may be anything that its type holds: a loop up
    to a negative one does not run, and what is accessed at one is
    [proved](../Proofs/KernelCoverage.md) for all of them.

    ```mlir
    %length = tracea_pipe.read %lengths[%b] : memref<?xi32>
    ```
  }];
  let arguments = (ins
    Arg<MemRefOf<[I1, I32, I64]>, "memory that the kernel does not write">:$source,
    Variadic<Index>:$indices);
  let results = (outs Index:$result);
  let assemblyFormat = [{
    $source `[` $indices `]` attr-dict `:` type($source)
  }];
  let hasVerifier = 1;
}

#endif
