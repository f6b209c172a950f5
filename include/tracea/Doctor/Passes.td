//===- Passes.td - Passes of the decision level -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DOCTOR_PASSES_TD
#define TRACEA_DOCTOR_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// SelectSchedule
//===----------------------------------------------------------------------===//

def SelectSchedule : Pass<"tracea-select-schedule", "::mlir::ModuleOp"> {
  let summary = "Choose a variant and a schedule for every operation";
  let description = [{
    Attaches `tracea.target` to a module that has none, and a schedule to every
    operation that has none: the cheapest variant by the cost model whose
    requirements the operation and the target meet. A schedule that is already
    there is verified against the registry and kept.

    ```mlir
    %y = tracea.gemm ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>)
                     outs(%d : tensor<512x512xf32>)
    ```
    becomes, for a core with AVX-512,
    ```mlir
    %y = tracea.gemm ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>)
                     outs(%d : tensor<512x512xf32>)
           schedule <variant = "gemm.packed", unit = vector,
                     tile = [512, 512, 256, 256], registers = [8, 32]>
    ```

    Remarks of the category `tracea-doctor` say what was decided and why:
    `schedule-selected` and `schedule-verified` (passed), `variant-refused` and
    `schedule-fallback` (missed).
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"cpu\"",
           "Target of a module that names none: a name of the tables, or "
           "\"cpu\" or \"host\" for this machine">,
    Option<"threads", "threads", "int", /*default=*/"0",
           "Cores to plan for in a module that names no target; 0 for all of "
           "the target's">
  ];
  let statistics = [
    Statistic<"numSelected", "schedules-selected",
              "Number of schedules that were chosen">,
    Statistic<"numVerified", "schedules-verified",
              "Number of schedules that were already there">,
    Statistic<"numFallbacks", "fallbacks",
              "Number of operations left to the reference loops">
  ];
  let dependentDialects = ["::mlir::tracea::TraceaDialect"];
}

#endif // TRACEA_DOCTOR_PASSES_TD
