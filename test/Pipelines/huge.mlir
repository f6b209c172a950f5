// RUN: tracea-opt %s --tracea-compile="target=x86-64-v3 threads=2 to=pipeline" | FileCheck %s
// RUN: tracea-opt %s --tracea-compile="target=x86-64-v3 threads=2" | FileCheck %s --check-prefix=TARGET

// Extents beyond every memory are legal types. Nothing that is computed from
// them while compiling may overflow: the sanitizers would stop here.

// CHECK-DAG: tracea_pipe.kernel @gemm_0
// CHECK-DAG: tracea_pipe.kernel @linalg_fill_0
// CHECK-DAG: tracea_pipe.kernel @softmax_0
// CHECK-DAG: tracea_pipe.kernel @linalg_generic_0
// TARGET-DAG: llvm.func @gemm_0
// TARGET-DAG: llvm.func @linalg_fill_0
// TARGET-DAG: llvm.func @softmax_0
// TARGET-DAG: llvm.func @linalg_generic_0
func.func @gemm(%a: tensor<?x9223372036854775807xf32>, %b: tensor<9223372036854775807x?xf32>, %d: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<?x9223372036854775807xf32>, tensor<9223372036854775807x?xf32>) outs(%d : tensor<?x?xf32>)
  return %0 : tensor<?x?xf32>
}

func.func @conv(%x: tensor<1x?x?x8xf32>, %w: tensor<8x4611686018427387904x3x8xf32>, %d: tensor<1x?x?x8xf32>) -> tensor<1x?x?x8xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc strides [2147483647, 1] dilations [2147483647, 1]
      ins(%x, %w : tensor<1x?x?x8xf32>, tensor<8x4611686018427387904x3x8xf32>) outs(%d : tensor<1x?x?x8xf32>)
  return %0 : tensor<1x?x?x8xf32>
}

func.func @softmax(%x: tensor<4611686018427387904x4611686018427387904xf32>, %d: tensor<4611686018427387904x4611686018427387904xf32>) -> tensor<4611686018427387904x4611686018427387904xf32> {
  %0 = tracea.softmax dim 1 ins(%x : tensor<4611686018427387904x4611686018427387904xf32>) outs(%d : tensor<4611686018427387904x4611686018427387904xf32>)
  return %0 : tensor<4611686018427387904x4611686018427387904xf32>
}

func.func @elementwise(%x: tensor<16x4611686018427387904xf32>, %d: tensor<16x4611686018427387904xf32>) -> tensor<16x4611686018427387904xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<16x4611686018427387904xf32>) outs(%d : tensor<16x4611686018427387904xf32>) {
    ^bb0(%in: f32, %out: f32):
      %n = arith.negf %in : f32
      linalg.yield %n : f32
  } -> tensor<16x4611686018427387904xf32>
  return %0 : tensor<16x4611686018427387904xf32>
}
