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

#endif // TRACEA_DIALECT_TRACEAPIPE_TRANSFORMS_PASSES_TD
