// RUN: tracea-reduce %s --reduction-tree='traversal-mode=0 test=%S/Inputs/has-softmax.sh' | FileCheck %s

// CHECK-LABEL: func @kept(
// CHECK-NOT: tracea.gemm
// CHECK: tracea.softmax
// CHECK-NOT: @dropped
func.func @kept(%x: tensor<4x4xf32>, %d: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = tracea.softmax dim 1 ins(%x : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) epilogue {
    ^bb0(%acc: f32):
      %0 = math.absf %acc : f32
      tracea.yield %0 : f32
  }
  return %0 : tensor<4x4xf32>
}

func.func @dropped(%x: tensor<4x4xf32>, %d: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = tracea.gemm ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%d : tensor<4x4xf32>)
  return %0 : tensor<4x4xf32>
}
