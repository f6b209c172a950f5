// Words that are packed once have two dimensions along k, that of words and that of places in one:
// a product with them has each term once, and both operands at one place, for a k that fills
// neither words nor steps of a unit.
// RUN: tracea-opt %s --tracea-compile="target=sapphirerapids threads=1 to=pipeline require-proof=true" > %t
// RUN: FileCheck %s < %t
// DEFINE: %{verify} = tracea-opt --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-coverage{require-proof=true}))" -o /dev/null
// RUN: %{verify} %t

// Places of a word the other way around in one operand, or the words of another block.
// RUN: sed 's/(d0 \* 16 + d1, d2 \* 2 + d3)/(d0 * 16 + d1, d2 * 2 - d3 + 1)/' %t | not %{verify} 2>&1 | FileCheck %s --check-prefix=TURNED
// TURNED: multiplies what does not belong together: its operands are at different places of the sum
// RUN: sed 's/\(tracea_pipe.view %arg1\[%[0-9]*, \)%[0-9]*, /\1%c0, /' %t | not %{verify} 2>&1 | FileCheck %s --check-prefix=FIRST
// FIRST: multiplies what does not belong together: its operands are at different places of the sum, 64 apart

// Steps that end early, and panels with fewer words than k has.
// RUN: sed 's/\(arith.muli %[0-9]*, \)%c16 :/\1%c2 :/' %t | not %{verify} 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: loses terms of a sum: index 4 of dimension 1, 0 of dimension 3 of argument #1 is multiplied in no step
// RUN: sed 's/memref<2x48x16x2xbf16>/memref<2x35x16x2xbf16>/g; s/%c48 = arith.constant 48/%c48 = arith.constant 35/' %t | not %{verify} 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: reads its rhs out of bounds of argument #1: index 1 is 35

// A place of words that is written for all of them, and elements that are packed at others' places.
// RUN: sed 's/\(tracea_pipe.store .*%c0, \)%arg4\]/\1%c0]/' %t | not %{verify} 2>&1 | FileCheck %s --check-prefix=PLACE
// PLACE: does not write all of argument #1: element [0, 0, 0, 1] is written by no tile
// RUN: sed 's/= arith.muli %arg3, %c2 :/= arith.muli %arg3, %c1 :/' %t | not %{verify} 2>&1 | FileCheck %s --check-prefix=STEP
// STEP: error: {{.*}}reads what its operation does not

// CHECK: tracea_pipe.kernel @gemm_0(
// CHECK-SAME: 1 result written exactly once
// CHECK: tracea_pipe.kernel @gemm_1(
// CHECK-SAME: 1 sum in them as defined with each term once
func.func @product(%a: tensor<33x71xbf16>, %b: tensor<71x20xbf16> {tracea.constant}, %d: tensor<33x20xf32>) -> tensor<33x20xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<33x71xbf16>, tensor<71x20xbf16>) outs(%d : tensor<33x20xf32>)
         schedule <variant = "gemm.dot", unit = amx, tile = [48, 32, 64, 48], registers = [16, 16]>
  return %0 : tensor<33x20xf32>
}
