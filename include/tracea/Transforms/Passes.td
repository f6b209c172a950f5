//===- Passes.td - Transformation passes -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TRANSFORMS_PASSES_TD
#define TRACEA_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// PromoteToF64
//===----------------------------------------------------------------------===//

def PromoteToF64 : Pass<"tracea-promote-to-f64", "::mlir::ModuleOp"> {
  let summary = "Compute a module's meaning in float64";
  let description = [{
    Replaces every float type narrower than 64 bits by f64: in the types of
    values, in function signatures, in constants (whose values are kept exactly)
    and in other attributes. Conversions between floats disappear; conversions
    from and to integers stay, and integer arithmetic is untouched. Applied to
    the output of `convert-tracea-to-linalg` it gives the float64 reference of a
    module.

    An operation that reads the bits of a float, or that reaches outside of the
    module with one, has no such meaning and is an error.

    ```mlir
    func.func @f(%x: tensor<4xbf16>) -> tensor<4xf32> {
      … linalg.generic … {
        %w = arith.extf %in : bf16 to f32
        %s = arith.addf %w, %c : f32
    ```
    becomes
    ```mlir
    func.func @f(%x: tensor<4xf64>) -> tensor<4xf64> {
      … linalg.generic … {
        %s = arith.addf %in, %c : f64
    ```
  }];
}

#endif // TRACEA_TRANSFORMS_PASSES_TD
