//===- Passes.td - Passes of the pipeline dialect -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEAPIPE_TRANSFORMS_PASSES_TD
#define TRACEA_DIALECT_TRACEAPIPE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def PipelineKernels : Pass<"tracea-pipeline-kernels", "::mlir::ModuleOp"> {
  let summary = "Turn staged tiles into channels";
  let description = [{
    From the tile level (where values live) to the pipeline level (when they
    move). Each `tracea_pipe.stage` gets a channel with the slots it asks for,
    declared at the top of the grid tile, and becomes `acquire`, `copy`, `commit`
    and `wait`; the slot is released after its last use in the block. The phase
    of each ring is carried through the loops around it.

    ```mlir
    scf.for %k = … {
      %s = tracea_pipe.stage %A[%i, %k] map … slots 2 : memref<?x?xf32> -> tensor<…>
      … uses of %s …
    }
    ```
    becomes
    ```mlir
    %ch = tracea_pipe.channel : !tracea_pipe.channel<2 x (memref<…>)>
    %p0 = tracea_pipe.start : !tracea_pipe.phase<2>
    %pn = scf.for %k = … iter_args(%p = %p0) -> (!tracea_pipe.phase<2>) {
      %slot = tracea_pipe.acquire %ch[%p] …
      tracea_pipe.copy %A[%i, %k] map … to %slot
      tracea_pipe.commit %ch[%p]
      %full = tracea_pipe.wait %ch[%p]
      … uses of %full …
      tracea_pipe.release %ch[%p]
      %next = tracea_pipe.advance %p
      scf.yield %next
    }
    ```
    One role does both sides: on a target without warp roles this is the whole
    schedule, elsewhere it is what role assignment starts from.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numChannels", "channels", "Channels made">];
}

def JoinChannels : Pass<"tracea-join-channels", "::mlir::tracea_pipe::KernelOp"> {
  let summary = "Merge channels that are filled and read together into one";
  let description = [{
    Two rings of as many slots, of one role, that are acquired in the same block
    become one whose slots hold the buffers of both: one hand-over, one count
    of bytes. For kernels of several warps, before their roles are split.
  }];
  let statistics = [Statistic<"numJoined", "joined", "Rings joined to others">];
}

def MultistagePrefetch : Pass<"tracea-multistage-prefetch", "::mlir::tracea_pipe::KernelOp"> {
  let summary = "Prefetch the slots of a ring in a multistage pipeline, without warp roles";
  let description = [{
    The multistage (`cp.async`) pipeline, for kernels whose warps both copy and
    multiply. A loop that fills a slot and reads it in the same iteration gets a
    prologue that fills all slots but one; each iteration starts the copies into
    the slot that the one before has released; what is prefetched past the end,
    as zeros, is released unread by an epilogue. A copy must be padded where the
    iteration moves it.

    ```mlir
    %p1 = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (…) {
      acquire %ring[%p], copy of %k, commit %ring[%p]
      wait %ring[%p], … uses …, release %ring[%p]
      scf.yield (advance %p)
    }
    ```
    becomes, for three slots,
    ```mlir
    %f0 = scf.for %i = 0 to 2 … acquire, copy of %i, commit, advance
    %p1, %f1 = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0, %f = %f0) -> (…) {
      wait %ring[%p], … first reads …
      acquire %ring[%f], copy of %k + 2, commit %ring[%f]
      … uses …, release %ring[%p]
      scf.yield (advance %p), (advance %f)
    }
    %p2 = scf.for %i = 0 to 2 … wait, release, advance
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numRings", "rings", "Rings that are prefetched">];
}

def ClusterReduce : Pass<"tracea-cluster-reduce", "::mlir::tracea_pipe::KernelOp"> {
  let summary = "Reduce partial sums across a cluster through distributed shared memory";
  let description = [{
    Each `tracea_pipe.cluster_sum` becomes what it takes: every workgroup writes
    its value to staged memory, the cluster meets, and each workgroup reads its
    rows from the memories of all, its own first, then those of the workgroups
    whose numbers differ from its own by xor 1, 2, and so on. The workgroup
    arrives again when it has read; before it exits, it waits for the others.

    ```mlir
    %mine = tracea_pipe.cluster_sum %sum part %p : tensor<128x64xf32, #acc> -> tensor<64x64xf32, #rows>
    ```
    becomes
    ```mlir
    %memory = tracea_pipe.scratch : memref<128x64xf32, #staged>
    tracea_pipe.store %sum, %memory[%c0, %c0] …
    tracea_pipe.cluster_arrive
    tracea_pipe.cluster_wait
    %row = arith.muli %p, %c64
    %a = tracea_pipe.load %memory[%row, %c0] …
    %q = arith.xori %p, %c1
    %other = tracea_pipe.peer %memory[%q] : memref<128x64xf32, #staged>
    %b = tracea_pipe.load %other[%row, %c0] …
    %mine = arith.addf %a, %b : tensor<64x64xf32, #rows>
    tracea_pipe.cluster_arrive
    …
    tracea_pipe.cluster_wait
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [Statistic<"numSums", "sums", "Sums that are reduced across a cluster">];
}

def PersistentTiles : Pass<"tracea-persistent-tiles", "::mlir::tracea_pipe::KernelOp"> {
  let summary = "Make a kernel persistent: few workgroups walk over all tiles";
  let description = [{
    A persistent kernel with a static tile scheduler, for a kernel whose
    `pipeline` says how many workgroups the target runs at a time. The grid
    becomes so many workgroups, each of which begins at its own number and goes
    on by their count. Rings stay, with their phases, so that the first copies of
    a tile run during the epilogue of the one before. A grid's `group` becomes a
    `tracea_pipe.raster`, the order in which tiles are visited.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
}

def WarpSpecialize : Pass<"tracea-warp-specialize", "::mlir::tracea_pipe::KernelOp"> {
  let summary = "Warp specialisation: split a kernel into producer and consumer warps";
  let description = [{
    For kernels with a `pipeline` whose one role does everything: a "producer"
    keeps what acquires, copies and commits, with the loops around it; a
    "consumer" keeps the rest. With several teams, the warps' highest bits in the
    lane maps become the number of a team: each works on its part of every tile,
    and what it reads and writes is moved to that part.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect"];
}

def AsyncMMA : Pass<"tracea-async-mma", "::mlir::tracea_pipe::KernelOp"> {
  let summary = "Keep a matrix multiply in flight while its warps wait for the next slot";
  let description = [{
    A loop that accumulates with `tracea_pipe.mma` and gives a slot back in each
    iteration keeps its sum in flight: the multiply becomes asynchronous, one
    group of it stays pending, and the slot that is given back is the one of the
    iteration before. The first iteration is peeled, the last slot is given back
    after the loop. For kernels with a `pipeline` in which a group may be pending;
    with none pending each multiply is waited for at once.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [Statistic<"numLoops", "loops", "Loops with a sum in flight">];
}

def StageEpilogue : Pass<"tracea-stage-epilogue", "::mlir::tracea_pipe::KernelOp"> {
  let summary = "Store the results of an epilogue through shared memory";
  let description = [{
    A consumer's store of a register tile to the caller's memory becomes a store
    to scratch memory with rows of 128, 64 or 32 bytes and the swizzle that
    copies know, a meeting of the team's lanes, and a copy out that runs while
    the team goes on. A tile wider than `columns` leaves in parts, which take
    turns in `buffers`; before one is written again, its copy has read it.
    Lanes that write whole sectors of memory side by side do it themselves.
  }];
  let options = [
    Option<"columns", "columns", "int64_t", "64", "Most columns that are staged at a time">,
    Option<"buffers", "buffers", "unsigned", "2", "Most buffers of one size for each team">
  ];
  let statistics = [Statistic<"numStores", "stores", "Stores that are staged">];
}

def PingPong : Pass<"tracea-ping-pong", "::mlir::tracea_pipe::KernelOp"> {
  let summary = "Ping-pong: two consumer teams alternate between tiles";
  let description = [{
    Ping-pong scheduling, for a kernel whose pipeline has `ping_pong`: the consumer
    role becomes so many teams. All walk over the tiles of the workgroup; each
    computes those of its turn, and advances its phases past what the others
    read. A team takes the turn before it waits for the first slot of a tile, and
    passes it on when it has started the last multiply: while one team runs the
    epilogue of its tile, another multiplies. Slots are read `in_turns`. In the
    end the turn comes back to the first team.
  }];
}

def DeduplicateKernels : Pass<"tracea-deduplicate-kernels", "::mlir::ModuleOp"> {
  let summary = "Keep one of several equal kernels";
  let description = [{
    Kernels that differ in nothing but their names become one, which all their
    launches name: it is proved and compiled once. Each launch keeps its location,
    and `source_op` is among what is compared, so that reports still tell which
    operation a launch came from. A remark `KernelShared` stands at each launch
    that names another kernel than before.

    What is proved of a kernel follows from its launches as well: from where the
    sizes come that they bring, and from which operands lie in the same memory.
    Once launches are on memrefs, a kernel is kept for each of the ways in which
    it is launched. Sizes that are computed alike, of which more is known than at
    an earlier launch, need none of their own: what holds there holds for them.
    Kernels that nothing launches stay as they are.

    ```mlir
    tracea_pipe.launch @gemm_0 ins(%a, %b : …) outs(%x : …)
    tracea_pipe.launch @gemm_1 ins(%x, %b : …) outs(%y : …)
    ```
    becomes
    ```mlir
    tracea_pipe.launch @gemm_0 ins(%a, %b : …) outs(%x : …)
    tracea_pipe.launch @gemm_0 ins(%x, %b : …) outs(%y : …)
    ```
  }];
  let statistics = [
    Statistic<"numShared", "shared", "Kernels that became another one">,
    Statistic<"numSplit", "split", "Kernels made for another way of being launched">
  ];
}

def DropUnreachedKernels : Pass<"tracea-drop-unreached-kernels", "::mlir::ModuleOp"> {
  let summary = "Drop kernels behind one that can always run";
  let description = [{
    A launch may name several kernels, of which the first runs whose arguments
    begin at the multiples of bytes that it asks for (`tracea_pipe.aligned`).
    Buffers and inputs do: it is a matter of rows and of places in a buffer. Where
    the types of a launch's operands say that all of them begin so, the kernels
    behind are not proved and not compiled.

    ```mlir
    tracea_pipe.launch @gemm_0 else [@gemm_1] ins(%a, %b : memref<?x64xbf16>, …) outs(%x : …)
    ```
    becomes
    ```mlir
    tracea_pipe.launch @gemm_0 ins(%a, %b : memref<?x64xbf16>, …) outs(%x : …)
    ```
  }];
  let statistics = [Statistic<"numDropped", "dropped", "Kernels that are gone">];
}

#endif // TRACEA_DIALECT_TRACEAPIPE_TRANSFORMS_PASSES_TD
