//===- Passes.td - Phases that depend on the target -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_PIPELINES_PASSES_TD
#define TRACEA_PIPELINES_PASSES_TD

include "mlir/Pass/PassBase.td"

def SoftwarePipeline : Pass<"tracea-software-pipeline", "::mlir::ModuleOp"> {
  let summary = "Software-pipeline kernels for GPUs, warp-specialised or multistage";
  let description = [{
    Kernels whose schedule asks for warp specialisation (`pipeline`) become
    persistent, with producer and consumer warps, a pass a step:
    `tracea-join-channels`, `tracea-cluster-reduce`, `tracea-persistent-tiles`,
    `tracea-warp-specialize`, `tracea-async-mma`, `tracea-stage-epilogue`,
    `tracea-ping-pong`. Kernels of several warps that all do the same get a
    multistage pipeline (`tracea-join-channels`, `tracea-multistage-prefetch`).
    Other kernels stay as they are.
  }];
}

def LowerPlainLoops : Pass<"tracea-lower-plain-loops", "::mlir::ModuleOp"> {
  let summary = "Make loops over single elements of kernels without a variant";
  let description = [{
    Of kernels that `tracea-outline-host` made: structured operations become
    loops, and views of the kernel's arguments offsets and strides into them.
    Loops over lanes stay. An assertion in a kernel is an error: on a GPU it has
    no way to stop the program and to say why.
  }];
}

def LowerScheduled : Pass<"tracea-lower-scheduled", "::mlir::ModuleOp"> {
  let summary = "Choose schedules and lower; where one does not do, the next";
  let description = [{
    Runs the phases from `decision` to `to`. Where they fail because of an
    operation whose schedule the Doctor chose, because a proof fails, say, the
    operation takes the next best schedule, with a remark `schedule-given-up`,
    and the module is lowered again. A schedule that was given keeps its error,
    and so does an operation that has no other one.
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"cpu\"",
           "Machine to compile for, unless the module names one">,
    Option<"threads", "threads", "int", /*default=*/"0",
           "Cores to plan for; 0 for all">,
    Option<"requireProof", "require-proof", "bool", /*default=*/"false",
           "A kernel that lacks a certificate is an error">,
    Option<"bankCycles", "bank-cycles", "int", /*default=*/"1",
           "Cycles that a phase of an access to banked memory may take">,
    Option<"toTarget", "to-target", "bool", /*default=*/"false",
           "Go on to the LLVM dialect">,
    Option<"toPipeline", "to-pipeline", "bool", /*default=*/"true",
           "Go on to the pipeline level, with proofs">
  ];
}

def LowerToTarget : Pass<"tracea-lower-to-target", "::mlir::ModuleOp"> {
  let summary = "Lower kernels to the LLVM dialect as the target has it";
  let description = [{
    The last phase. `tracea.target` of the module says which way: for a CPU,
    or without a target, through vectors to functions of the runtime's ABI; for
    CUDA through `convert-tracea-pipe-to-nvvm` and `tracea-nvvm-to-llvm`, with
    the protocol proved again on the result. Other kinds are an error.
  }];
  let options = [
    Option<"reference", "reference", "bool", /*default=*/"false",
           "The kernels are the loops of a reference">,
    Option<"requireProof", "require-proof", "bool", /*default=*/"false",
           "A lowered kernel whose protocol is not decided is an error">,
    Option<"verify", "verify", "bool", /*default=*/"true",
           "Prove the protocol again on lowered kernels">
  ];
}

#endif // TRACEA_PIPELINES_PASSES_TD
