// RUN: tracea-opt %s --tracea-compile="from=tile reference=true" -o %t.mlir
// RUN: tracea-translate %t.mlir --emit=llvm | FileCheck %s --check-prefix=LLVM
// RUN: tracea-translate %t.mlir --emit=asm | FileCheck %s --check-prefix=ASM
// RUN: tracea-translate %t.mlir --emit=object -o %t.o && llvm-nm-22 %t.o | FileCheck %s --check-prefix=OBJECT
// RUN: not tracea-translate %s --emit=llvm 2>&1 | FileCheck %s --check-prefix=LEVEL

// The loop is vectorized for the target; the multiply and the add are not
// contracted, for the IR does not say so.
// LLVM:     target triple = "x86_64-unknown-linux-gnu"
// LLVM:     define internal {{.*}}void @linalg_generic_0.tiles(ptr noalias {{.*}}readonly
// LLVM:     fmul <8 x float>
// LLVM:     fadd <8 x float>
// LLVM-NOT: contract
// LLVM:     define void @linalg_generic_0(ptr
// ASM:      vmulps {{.*}}%ymm
// ASM:      vaddps {{.*}}%ymm
// OBJECT:   T linalg_generic_0
// LEVEL:    error
module attributes {tracea.target = #tracea.target<kind = cpu, name = "x86-64-v3", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "+avx2,+fma", vector_bits = 256>} {
func.func @main(%x: tensor<4096xf32>, %y: tensor<4096xf32>) -> tensor<4096xf32> {
  %e = tensor.empty() : tensor<4096xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<4096xf32>, tensor<4096xf32>) outs(%e : tensor<4096xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %p, %a : f32
      linalg.yield %s : f32
    } -> tensor<4096xf32>
  return %r : tensor<4096xf32>
}
}
