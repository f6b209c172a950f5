// DEFINE: %{classify} = tracea-opt --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-classify-numerics{require-proof=true}))"
// DEFINE: %{pipeline} = tracea-opt --tracea-compile="target=x86-64-v4 to=pipeline"
// DEFINE: %{class} = grep -o '"numerics", claim = "class [0-9a-f]*'
// RUN: split-file %s %t

// The normal form names neither tiles nor panels nor lanes.
// RUN: %{pipeline} %t/gemm.mlir | %{classify} | FileCheck %s --check-prefix=GEMM
// GEMM: check = "numerics", claim = "class {{[0-9a-f]+}}: fused f32 products, at most 128 in a row, from zero; 2 more blocks by arith.addf from the first; then arith.addf, arith.maximumf; summed in f32; rounded by fma f32, arith.addf f32"
// GEMM-SAME: model = "numerics 1 cpu fma; out 3[r0,r1] = [[OUT:%[0-9]+]];
// GEMM-SAME: [[A:%[0-9]+]] = in 0 f32[r0, k1]; [[B:%[0-9]+]] = in 1 f32[k1, r1];
// GEMM-SAME: [[P:%[0-9]+]] = fma f32([[A]], [[B]], s1.0);
// GEMM-SAME: [[FIRST:%[0-9]+]] = fold k1 0 to 128, s1.0 from 0.000000e+00 : f32 next [[P]];
// GEMM-SAME: in 0 f32[r0, 128*k1+k2+128];
// GEMM-SAME: fold k2 0 to min(-128*k1+172,128), s2.0 from 0.000000e+00 : f32 next
// GEMM-SAME: [[SUM:%[0-9]+]] = fold k1 0 to 2, s1.0 from [[FIRST]] next
// GEMM-SAME: [[BIAS:%[0-9]+]] = in 2 f32[r1];
// GEMM-SAME: [[ADD:%[0-9]+]] = arith.addf f32 f32 -> f32([[SUM]], [[BIAS]]);
// GEMM-SAME: [[OUT]] = arith.maximumf f32 f32 -> f32([[ADD]], 0.000000e+00 : f32)

// Other tiles and shorter vectors: one class.
// RUN: %{pipeline} %t/gemm.mlir | %{classify} | %{class} > %t/expected
// RUN: sed 's/tile = .16, 48, 128, 8., registers = .4, 16./tile = [64, 96, 128, 32], registers = [8, 32]/' %t/gemm.mlir \
// RUN:   | %{pipeline} | %{classify} | %{class} > %t/tiles
// RUN: diff %t/expected %t/tiles
// RUN: sed 's/x86-64-v4/x86-64-v3/' %t/gemm.mlir | tracea-opt --tracea-compile="target=x86-64-v3 to=pipeline" | %{classify} | %{class} > %t/avx2
// RUN: diff %t/expected %t/avx2

// Several slots for the staged panels: one class.
// RUN: tracea-opt %t/gemm.mlir --tracea-compile="target=x86-64-v4 to=tile" | sed 's/\(tracea_pipe.stage .*\) : /\1 slots 3 : /' \
// RUN:   | tracea-opt --tracea-pipeline-kernels | %{classify} | %{class} > %t/slots
// RUN: diff %t/expected %t/slots

// The tile level has the class of the pipeline level.
// RUN: tracea-opt %t/gemm.mlir --tracea-compile="target=x86-64-v4 to=tile" | %{classify} | %{class} > %t/tile-level
// RUN: diff %t/expected %t/tile-level

// Whatever may change a bit changes the class: the blocks of k ...
// RUN: sed 's/48, 128, 8/48, 64, 8/' %t/gemm.mlir | %{pipeline} | %{classify} | %{class} > %t/blocks
// RUN: not diff %t/expected %t/blocks > %t/diff
// ... the accumulator ...
// RUN: sed 's/tracea.gemm ins/tracea.gemm acc f64 ins/; s/registers = .4, 16./registers = [4, 16]/' %t/wide.mlir | %{pipeline} | %{classify} | %{class} > %t/wide
// RUN: %{pipeline} %t/wide.mlir | %{classify} | %{class} > %t/narrow
// RUN: not diff %t/narrow %t/wide > %t/diff
// ... a constant ...
// RUN: sed 's/constant 0.0/constant 0.5/' %t/gemm.mlir | %{pipeline} | %{classify} | %{class} > %t/constant
// RUN: not diff %t/expected %t/constant > %t/diff
// ... the order of the epilogue ...
// RUN: sed 's/addf %%acc, %%x/maximumf %%acc, %%zero/; s/maximumf %%1, %%zero/addf %%1, %%x/' %t/gemm.mlir | %{pipeline} | %{classify} | %{class} > %t/order
// RUN: not diff %t/expected %t/order > %t/diff
// ... a rounding in between ...
// RUN: %{pipeline} %t/rounded.mlir | %{classify} | %{class} > %t/rounded
// RUN: not diff %t/expected %t/rounded > %t/diff
// ... and whether the processor fuses.
// RUN: tracea-opt %t/gemm.mlir --tracea-compile="target=x86-64-v2 to=pipeline" | %{classify} | %{class} > %t/unfused
// RUN: not diff %t/expected %t/unfused > %t/diff

// The lanes' order is part of a reduction, its strip of the class.
// RUN: %{pipeline} %t/rows.mlir | %{classify} | FileCheck %s --check-prefix=ROWS
// ROWS: reduce max f32 registers 0,16 lanes 1,2,4,8 k1 < 32:
// ROWS-SAME: reduce add f32 registers 0,16 lanes 1,2,4,8 k1 < 32:

// Borders are choices by the element's coordinates, groups quotients of them.
// RUN: %{pipeline} %t/conv.mlir | %{classify} | FileCheck %s --check-prefix=CONV
// CONV: in 0 f32[0, 3*(r1)/4+k3, k1+r2-1, k2+r3-1]
// CONV-SAME: select({{%[0-9]+}}, {{%[0-9]+}}, 0.000000e+00 : f32)

//--- gemm.mlir
func.func @main(%a: tensor<37x300xf32>, %b: tensor<300x70xf32>, %c: tensor<70xf32>, %d: tensor<37x70xf32>) -> tensor<37x70xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<37x300xf32>, tensor<300x70xf32>) outs(%d : tensor<37x70xf32>)
    schedule <variant = "gemm.packed", unit = vector, tile = [16, 48, 128, 8], registers = [4, 16]>
    epilogue(%c by affine_map<(i, j) -> (j)> : tensor<70xf32>) {
    ^bb0(%acc: f32, %x: f32):
      %zero = arith.constant 0.0 : f32
      %1 = arith.addf %acc, %x : f32
      %2 = arith.maximumf %1, %zero : f32
      tracea.yield %2 : f32
    }
  return %0 : tensor<37x70xf32>
}

//--- rounded.mlir
func.func @main(%a: tensor<37x300xf32>, %b: tensor<300x70xf32>, %c: tensor<70xf32>, %d: tensor<37x70xf32>) -> tensor<37x70xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<37x300xf32>, tensor<300x70xf32>) outs(%d : tensor<37x70xf32>)
    schedule <variant = "gemm.packed", unit = vector, tile = [16, 48, 128, 8], registers = [4, 16]>
    epilogue(%c by affine_map<(i, j) -> (j)> : tensor<70xf32>) {
    ^bb0(%acc: f32, %x: f32):
      %zero = arith.constant 0.0 : f32
      %h = arith.truncf %acc : f32 to bf16
      %f = arith.extf %h : bf16 to f32
      %1 = arith.addf %f, %x : f32
      %2 = arith.maximumf %1, %zero : f32
      tracea.yield %2 : f32
    }
  return %0 : tensor<37x70xf32>
}

//--- wide.mlir
func.func @main(%a: tensor<37x300xf32>, %b: tensor<300x70xf32>, %d: tensor<37x70xf32>) -> tensor<37x70xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<37x300xf32>, tensor<300x70xf32>) outs(%d : tensor<37x70xf32>)
    schedule <variant = "gemm.packed", unit = vector, tile = [16, 48, 128, 8], registers = [4, 16]>
  return %0 : tensor<37x70xf32>
}

//--- rows.mlir
func.func @main(%x: tensor<5x77xf32>, %d: tensor<5x77xf32>) -> tensor<5x77xf32> {
  %0 = tracea.softmax dim 1 ins(%x : tensor<5x77xf32>) outs(%d : tensor<5x77xf32>)
    schedule <variant = "row", unit = vector, tile = [1, 32], registers = [1, 32]>
  return %0 : tensor<5x77xf32>
}

//--- conv.mlir
func.func @main(%x: tensor<1x6x9x21xf32>, %w: tensor<8x3x3x3xf32>, %d: tensor<1x8x9x21xf32>) -> tensor<1x8x9x21xf32> {
  %0 = tracea.conv2d layout nchw filter kcrs pads [1, 1, 1, 1] groups 2
         ins(%x, %w : tensor<1x6x9x21xf32>, tensor<8x3x3x3xf32>) outs(%d : tensor<1x8x9x21xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [2, 16, 2, 3], registers = [2, 16]>
  return %0 : tensor<1x8x9x21xf32>
}
