//===- Passes.td - Proofs over kernels -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_ANALYSIS_PASSES_TD
#define TRACEA_ANALYSIS_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyProtocol : Pass<"tracea-verify-protocol", "::mlir::tracea_pipe::KernelOp"> {
  let summary = "Prove the synchronisation of a kernel for every trip count";
  let description = [{
    Extracts from each role its channel operations, loops and branches, and
    decides for every trip count, zero and one included: no deadlock, no slot
    overwritten while it is read, no read of a slot that is not filled, no
    parity that is mistaken for another phase's, as many bytes copied as
    expected, as many arrivals as counted, nothing left at exit, channels
    initialised once (Rule A), static roles within their register budget
    (Rule B). A violation is an error at the operation, with the other places
    and a short run as notes. What is outside of the method is a warning that
    says why. A kernel that passes gets the certificate `protocol: ...` in its
    attribute `tracea_pipe.certificates`. See docs/Proofs/Protocol.md.
  }];
  let options = [
    Option<"requireProof", "require-proof", "bool", "false",
           "A kernel that is not decided is an error">,
    Option<"registerFile", "register-file", "int64_t", "65536",
           "Registers that the threads of a workgroup share">,
    Option<"threadsPerWarp", "threads-per-warp", "int64_t", "32",
           "Threads of a warp">,
    Option<"maxStates", "max-states", "int64_t", "200000",
           "Gives up beyond so many states">
  ];
  let statistics = [
    Statistic<"numKernels", "kernels", "Kernels with channels">,
    Statistic<"numProved", "proved", "Kernels proved">,
    Statistic<"numStates", "states", "States of the searches">,
    Statistic<"numMicroseconds", "microseconds", "Time of the searches">
  ];
}

#endif // TRACEA_ANALYSIS_PASSES_TD
