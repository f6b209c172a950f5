//===- TraceaPipeAsyncOps.td - What runs beside its role -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPEASYNCOPS_TD
#define TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPEASYNCOPS_TD

include "tracea/Dialect/TraceaPipe/IR/TraceaPipeBase.td"

/// A tile in registers that a matrix unit is still writing.
def InFlightTile : Type<
    CPred<"::llvm::isa<::mlir::tracea_pipe::InFlightType>($_self)">,
    "tile in flight">;
def AccumulatorTile : Type<
    CPred<"::llvm::isa<::mlir::tracea_pipe::InFlightType>($_self) || ::mlir::tracea_pipe::isRegisterTile($_self)">,
    "register tile or tile in flight">;

//===----------------------------------------------------------------------===//
// Asynchronous units and their groups
//===----------------------------------------------------------------------===//

def TraceaPipe_MmaAsyncOp : TraceaPipe_Op<"mma_async", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Starts a multiply on a unit that runs beside its role";
  let description = [{
    The product of `tracea_pipe.mma`, without waiting for it: the operands are
    read and the result is written some time before a `tracea_pipe.wait_group`
    that covers it. Several multiplies may accumulate onto one tile in flight.
    Without `onto` the sum starts from zero. All of `k` is summed: what lies
    past the end of a matrix must be zero in the operands.

    ```mlir
    %d0 = tracea_pipe.mma_async %a, %b : !a, !b -> !tracea_pipe.in_flight<!acc>
    %d1 = tracea_pipe.mma_async %a1, %b1 onto %d0
            : !a, !b, !tracea_pipe.in_flight<!acc> -> !tracea_pipe.in_flight<!acc>
    tracea_pipe.commit_group mma
    %d = tracea_pipe.wait_group mma pending 0 (%d1 : !tracea_pipe.in_flight<!acc>)
    ```
  }];
  let arguments = (ins StagedView:$lhs, StagedView:$rhs,
    Optional<AccumulatorTile>:$acc);
  let results = (outs InFlightTile:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`onto` $acc^)? attr-dict
    `:` type($lhs) `,` type($rhs) (`,` type($acc)^)? `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The type of the tile once it has landed.
    ::mlir::RankedTensorType getTileType();
  }];
}

def TraceaPipe_CommitGroupOp : TraceaPipe_Op<"commit_group"> {
  let summary = "Closes a group of asynchronous operations";
  let description = [{
    What this team has started on the `unit` since the last commit forms one
    group. Groups complete in order.
  }];
  let arguments = (ins TraceaPipe_UnitAttr:$unit);
  let assemblyFormat = "$unit attr-dict";
}

def TraceaPipe_WaitGroupOp : TraceaPipe_Op<"wait_group"> {
  let summary = "Waits until at most so many groups of a unit are pending";
  let description = [{
    After it, operands of the completed groups may be overwritten by any lane of
    the team. The tiles in flight that are listed must belong to them; they come out as values. So
    that a tile cannot be used too early, it can be used in no other way.

    Two groups are pending, the scores' and the output's; the scores are taken:
    ```mlir
    %s = tracea_pipe.wait_group mma pending 1 (%scores : !tracea_pipe.in_flight<!acc>)
    ```
  }];
  let arguments = (ins TraceaPipe_UnitAttr:$unit, I64Attr:$pending,
    Variadic<InFlightTile>:$inFlight);
  let results = (outs Variadic<RegisterTile>:$tiles);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def TraceaPipe_CopyOutOp : TraceaPipe_Op<"copy_out", [
    AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Starts a copy out of staged memory";
  let description = [{
    `dest[indices + map(t)] = source[t]` for the elements that the `limits`
    leave, some time before the `tracea_pipe.wait_group copy` that covers it. That wait lets
    the source be overwritten; the destination is written when the kernel ends.

    ```mlir
    tracea_pipe.copy_out %slot to %c[%m, %n] map affine_map<(i, j) -> (i, j)> limits(%h, %w)
      : memref<64x64xbf16, #tracea_pipe.staged>, memref<?x?xbf16>
    tracea_pipe.commit_group copy
    ```
  }];
  let arguments = (ins AnyMemRef:$source, AnyMemRef:$dest,
    Variadic<Index>:$indices, Variadic<Index>:$limits, AffineMapAttr:$map);
  let assemblyFormat = [{
    $source `to` $dest `[` $indices `]` `map` $map (`limits` `(` $limits^ `)`)?
    attr-dict `:` type($source) `,` type($dest)
  }];
  let hasVerifier = 1;
}

def TraceaPipe_SyncOp : TraceaPipe_Op<"sync"> {
  let summary = "The lanes of a team meet";
  let description = [{
    What a lane of the team (of the workgroup, outside of roles) wrote to staged
    memory before it is visible after it to all of the team's lanes, and to the
    units that they start.

    ```mlir
    tracea_pipe.store %tile, %staging[%c0, %c0] map affine_map<(i, j) -> (i, j)> : !tile, !staging
    tracea_pipe.sync
    tracea_pipe.copy_out %staging to %c[%m, %n] map affine_map<(i, j) -> (i, j)> : !staging, !c
    ```
  }];
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Order between the teams of a role
//===----------------------------------------------------------------------===//

def TraceaPipe_OrderBarrierOp : TraceaPipe_Op<"order_barrier"> {
  let summary = "Declares the barrier that orders the teams of a role";
  let description = [{
    Of n teams one has the turn; it begins with team 0. The matrix unit works for
    one team while the others compute: what is called ping-pong. CUTLASS has it as
    `OrderedSequenceBarrier`.

    ```mlir
    %order = tracea_pipe.order_barrier : <2>
    ```
  }];
  let results = (outs TraceaPipe_OrderBarrierType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

class TraceaPipe_OrderOp<string mnemonic> : TraceaPipe_Op<mnemonic> {
  let arguments = (ins TraceaPipe_OrderBarrierType:$barrier, Index:$team);
  let assemblyFormat = "$barrier `[` $team `]` attr-dict `:` type($barrier)";
}

def TraceaPipe_OrderWaitOp : TraceaPipe_OrderOp<"order_wait"> {
  let summary = "Waits until it is this team's turn";
  let description = [{
    ```mlir
    tracea_pipe.order_wait %order[%team] : <2>
    ```
  }];
}

def TraceaPipe_OrderArriveOp : TraceaPipe_OrderOp<"order_arrive"> {
  let summary = "Gives the turn to the next team";
  let description = [{
    The last team passes it to the first.

    ```mlir
    tracea_pipe.order_arrive %order[%team] : <2>
    ```
  }];
}

#endif
