// Rows of bf16 that end within a vector: on AArch64 with SVE the masked load of their ends is one of integers, for LLVM
// stops at one of bf16.
// RUN: tracea compile %s --target neoverse-v2 --emit asm -o - | FileCheck %s
// CHECK-LABEL: linalg_generic_0.tiles:
// CHECK:       ld1h {{.*}}/z
// CHECK:       ret
func.func @greatest(%x: tensor<64x?xbf16>) -> tensor<64xbf16> {
  %least = arith.constant 0xFF80 : bf16
  %e = tensor.empty() : tensor<64xbf16>
  %f = linalg.fill ins(%least : bf16) outs(%e : tensor<64xbf16>) -> tensor<64xbf16>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<64x?xbf16>) outs(%f : tensor<64xbf16>) {
  ^bb0(%a: bf16, %old: bf16):
    %m = arith.maximumf %old, %a : bf16
    linalg.yield %m : bf16
  } -> tensor<64xbf16>
  return %y : tensor<64xbf16>
}
