//===- TraceaPipeClusterOps.td - Workgroups that share a sum -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPECLUSTEROPS_TD
#define TRACEA_DIALECT_TRACEAPIPE_IR_TRACEAPIPECLUSTEROPS_TD

include "tracea/Dialect/TraceaPipe/IR/TraceaPipeBase.td"

//===----------------------------------------------------------------------===//
// Tile level
//===----------------------------------------------------------------------===//

def TraceaPipe_ClusterSumOp : TraceaPipe_Op<"cluster_sum"> {
  let summary = "Adds up a tile over the workgroups of a cluster";
  let description = [{
    Each workgroup of the cluster has a `value`; together they add the values
    up, and each gets its share of the rows. With r rows of the result, row i of
    the result of workgroup `part` is row `part * r + i` of the sum. The order of
    the additions depends on `part` alone. `part` is the first index of the grid.

    `tracea-cluster-reduce` turns it into stores, `tracea_pipe.peer` and
    barriers of the cluster.

    ```mlir
    tracea_pipe.tiles (%part, %i, %j) in (%c4, %gm, %gn) cluster 4 {
      %mine = tracea_pipe.cluster_sum %sum part %part
                : tensor<128x64xf32, #acc> -> tensor<32x64xf32, #rows>
    ```
  }];
  let arguments = (ins RegisterTile:$value, Index:$part);
  let results = (outs RegisterTile:$result);
  let assemblyFormat = [{
    $value `part` $part attr-dict `:` type($value) `->` type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Pipeline level
//===----------------------------------------------------------------------===//

def TraceaPipe_PeerOp : TraceaPipe_Op<"peer", [
    Pure, AllTypesMatch<["memory", "result"]>]> {
  let summary = "The same memory of another workgroup of the cluster";
  let description = [{
    What `memory` is to workgroup `workgroup` of this cluster, to be read. What
    that one wrote there before a `tracea_pipe.cluster_arrive` may be read after
    the `tracea_pipe.cluster_wait` that belongs to it; its memory is there until
    it exits.

    ```mlir
    %theirs = tracea_pipe.peer %mine[%q] : memref<64x128xf32, #tracea_pipe.staged>
    ```
  }];
  let arguments = (ins AnyMemRef:$memory, Index:$workgroup);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$memory `[` $workgroup `]` attr-dict `:` type($memory)";
  let builders = [OpBuilder<(ins "::mlir::Value":$memory,
      "::mlir::Value":$workgroup), [{
    build($_builder, $_state, memory.getType(), memory, workgroup);
  }]>];
  let hasVerifier = 1;
}

def TraceaPipe_ClusterArriveOp : TraceaPipe_Op<"cluster_arrive"> {
  let summary = "Arrives at the barrier of the cluster";
  let description = [{
    What the lanes of this role have written and read so far is over for those
    who wait for this phase of the barrier. Roles that never arrive count as
    arrived when they end.

    ```mlir
    tracea_pipe.cluster_arrive
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def TraceaPipe_ClusterWaitOp : TraceaPipe_Op<"cluster_wait"> {
  let summary = "Waits until all of the cluster has arrived";
  let description = [{
    Ends the phase of the barrier that this role's last
    `tracea_pipe.cluster_arrive` belongs to.

    ```mlir
    tracea_pipe.cluster_wait
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif
