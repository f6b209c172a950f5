//===- TraceaPipeChannelOps.td - Rings of slots and their phases -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPECHANNELOPS_TD
#define TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPECHANNELOPS_TD

include "tracea/Dialect/TraceaPipe/IR/TraceaPipeBase.td"

def TraceaPipe_ChannelOp : TraceaPipe_Op<"channel"> {
  let summary = "Declares a ring of slots";
  let description = [{
    A channel of n slots connects who fills them with who reads them. A slot holds
    one buffer of each listed type. Filling is `acquire`, copies, `commit`; reading
    is `wait`, uses, `release`; both sides go around the ring in the same order,
    each with a phase of its own.

    Each slot that is filled is read by every team that reads. With `in_turns`
    it is read by one of them, which alone gives it back. Teams then order their
    reads themselves, and advance their phase past what others read.

    ```mlir
    %ring = tracea_pipe.channel : <2 x (memref<4x256x8xf32, #tracea_pipe.staged>)>
    ```
  }];
  let arguments = (ins UnitAttr:$in_turns);
  let results = (outs TraceaPipe_ChannelType:$result);
  let assemblyFormat = "(`in_turns` $in_turns^)? attr-dict `:` type($result)";
}

def TraceaPipe_StartOp : TraceaPipe_Op<"start", [Pure]> {
  let summary = "The first phase of a ring";
  let description = [{
    Phase 0 of Z/2nZ, for a ring of n slots. Phase p stands for slot p mod n; p div
    n is the parity that tells one round from the next.

    ```mlir
    %p = tracea_pipe.start : <2>
    ```
  }];
  let results = (outs TraceaPipe_PhaseType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def TraceaPipe_AdvanceOp : TraceaPipe_Op<"advance", [Pure, SameOperandsAndResultType]> {
  let summary = "The next phase";
  let description = [{
    Adds one, modulo 2n.

    ```mlir
    %next = tracea_pipe.advance %p : <2>
    ```
  }];
  let arguments = (ins TraceaPipe_PhaseType:$phase);
  let results = (outs TraceaPipe_PhaseType:$result);
  let assemblyFormat = "$phase attr-dict `:` type($phase)";
}

class TraceaPipe_RingOp<string mnemonic, list<Trait> traits = []>
    : TraceaPipe_Op<mnemonic, traits> {
  let hasVerifier = 1;
}

def TraceaPipe_AcquireOp : TraceaPipe_RingOp<"acquire"> {
  let summary = "Waits until a slot is free, and owns it for filling";
  let description = [{
    Gives the buffers of the phase's slot to who fills it. In the first round every
    slot is free.

    ```mlir
    %slot = tracea_pipe.acquire %ring[%p]
              : <2 x (memref<4x256x8xf32, #tracea_pipe.staged>)>, <2>
                -> memref<4x256x8xf32, #tracea_pipe.staged>
    ```
  }];
  let arguments = (ins TraceaPipe_ChannelType:$channel, TraceaPipe_PhaseType:$phase);
  let results = (outs Variadic<AnyMemRef>:$buffers);
  let assemblyFormat = [{
    $channel `[` $phase `]` attr-dict `:` type($channel) `,` type($phase) `->` type($buffers)
  }];
}

def TraceaPipe_CopyOp : TraceaPipe_Op<"copy", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Copies a tile into a slot through a coordinate map";
  let description = [{
    `dest[t] = source[indices + map(t)]`, converted, with the walks, limits,
    padded dimensions and `reuse` of `tracea_pipe.stage`. Complete only after
    `commit`.

    ```mlir
    tracea_pipe.copy %a[%m, %k] map affine_map<(p, k, i) -> (p * 8 + i, k)>
      limits(%panels, %depth, %c8) padded [0] to %slot
      : memref<?x?xf32>, memref<4x256x8xf32, #tracea_pipe.staged>
    ```
  }];
  let arguments = (ins AnyMemRef:$source, Variadic<Index>:$indices,
    Variadic<Index>:$limits, Variadic<TraceaPipe_WalkType>:$walks,
    AnyMemRef:$dest, AffineMapAttr:$map,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$padded,
    DefaultValuedAttr<TraceaPipe_ReuseAttr,
                      "::mlir::tracea_pipe::Reuse::Unknown">:$reuse,
    DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$along);
  let assemblyFormat = [{
    $source `[` $indices `]` `map` $map
    (`along` $along^ `(` $walks `:` type($walks) `)`)? (`limits` `(` $limits^ `)`)?
    (`padded` $padded^)? (`reuse` $reuse^)? `to` $dest attr-dict
    `:` type($source) `,` type($dest)
  }];
  let hasVerifier = 1;
}

def TraceaPipe_CommitOp : TraceaPipe_RingOp<"commit"> {
  let summary = "Hands a filled slot over, once its copies have landed";
  let description = [{
    After it whoever fills must not touch the slot before the next `acquire`.

    ```mlir
    tracea_pipe.commit %ring[%p] : <2 x (memref<4x256x8xf32, #tracea_pipe.staged>)>, <2>
    ```
  }];
  let arguments = (ins TraceaPipe_ChannelType:$channel, TraceaPipe_PhaseType:$phase);
  let assemblyFormat = "$channel `[` $phase `]` attr-dict `:` type($channel) `,` type($phase)";
}

def TraceaPipe_WaitOp : TraceaPipe_RingOp<"wait"> {
  let summary = "Waits until a slot is filled, and reads it";
  let description = [{
    Gives the buffers of the phase's slot to who reads it, until `release`.

    ```mlir
    %full = tracea_pipe.wait %ring[%p]
              : <2 x (memref<4x256x8xf32, #tracea_pipe.staged>)>, <2>
                -> memref<4x256x8xf32, #tracea_pipe.staged>
    ```
  }];
  let arguments = (ins TraceaPipe_ChannelType:$channel, TraceaPipe_PhaseType:$phase);
  let results = (outs Variadic<AnyMemRef>:$buffers);
  let assemblyFormat = [{
    $channel `[` $phase `]` attr-dict `:` type($channel) `,` type($phase) `->` type($buffers)
  }];
}

def TraceaPipe_ReleaseOp : TraceaPipe_RingOp<"release"> {
  let summary = "Gives a slot back after its last read";
  let description = [{
    The slot may then be acquired for the next round.

    ```mlir
    tracea_pipe.release %ring[%p] : <2 x (memref<4x256x8xf32, #tracea_pipe.staged>)>, <2>
    ```
  }];
  let arguments = (ins TraceaPipe_ChannelType:$channel, TraceaPipe_PhaseType:$phase);
  let assemblyFormat = "$channel `[` $phase `]` attr-dict `:` type($channel) `,` type($phase)";
}

#endif
