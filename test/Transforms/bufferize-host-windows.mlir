// RUN: tracea-opt %s --split-input-file --tracea-bufferize-host | FileCheck %s

// On a GPU a window asks itself what lies beyond the border: nothing is written with one.
// CHECK-LABEL: func.func @pool(
// CHECK-SAME:    %[[X:[^:]*]]: memref<?x8x112xf32>
// CHECK-NOT:     memref<?x8x114xf32>
// CHECK:         cf.assert %{{.*}}, "linalg.pooling_ncw_max: expected a result as long as its operand
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%{{.*}} : memref<3xf32>) outs(%{{.*}} : memref<?x8x56xf32>)
// CHECK:         ^bb0(%{{.*}}: f32, %[[SO_FAR:.*]]: f32):
// CHECK:           %[[AT:.*]] = affine.apply #{{.*}}()[%{{.*}}, %{{.*}}]
// CHECK:           %[[AFTER:.*]] = arith.cmpi sge, %[[AT]], %c1
// CHECK:           %[[PLACE:.*]] = arith.subi %[[AT]], %c1
// CHECK:           %[[BEFORE:.*]] = arith.cmpi slt, %[[PLACE]], %c112
// CHECK:           %[[INSIDE:.*]] = arith.andi %[[AFTER]], %[[BEFORE]]
// CHECK:           %[[E:.*]] = scf.if %[[INSIDE]] -> (f32) {
// CHECK:             memref.load %[[X]][%{{.*}}, %{{.*}}, %[[PLACE]]]
// CHECK:           arith.maximumf %{{.*}}%[[E]]
// CHECK-NOT:     memref<?x8x114xf32>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @pool(%x: tensor<?x8x112xf32>, %y: tensor<?x8x56xf32>) -> tensor<?x8x56xf32> {
    %low = arith.constant 0xFF800000 : f32
    %p = tensor.pad %x low[0, 0, 1] high[0, 0, 1] {
    ^bb0(%i: index, %j: index, %k: index):
      tensor.yield %low : f32
    } : tensor<?x8x112xf32> to tensor<?x8x114xf32>
    %w = tensor.empty() : tensor<3xf32>
    %m = linalg.pooling_ncw_max {strides = dense<2> : vector<1xi64>, dilations = dense<1> : vector<1xi64>}
        ins(%p, %w : tensor<?x8x114xf32>, tensor<3xf32>) outs(%y : tensor<?x8x56xf32>) -> tensor<?x8x56xf32>
    return %m : tensor<?x8x56xf32>
  }
}

// -----

// A border that another one reads as well is written.
// CHECK-LABEL: func.func @twice(
// CHECK:         memref.alloc() {{.*}}: memref<2x8x114xf32>
// CHECK:         linalg.pooling_ncw_max
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", subgroup = 32>} {
  func.func @twice(%x: tensor<2x8x112xf32>, %y: tensor<2x8x56xf32>) -> (tensor<2x8x56xf32>, tensor<2x8x114xf32>) {
    %low = arith.constant 0xFF800000 : f32
    %p = tensor.pad %x low[0, 0, 1] high[0, 0, 1] {
    ^bb0(%i: index, %j: index, %k: index):
      tensor.yield %low : f32
    } : tensor<2x8x112xf32> to tensor<2x8x114xf32>
    %w = tensor.empty() : tensor<3xf32>
    %m = linalg.pooling_ncw_max {strides = dense<2> : vector<1xi64>, dilations = dense<1> : vector<1xi64>}
        ins(%p, %w : tensor<2x8x114xf32>, tensor<3xf32>) outs(%y : tensor<2x8x56xf32>) -> tensor<2x8x56xf32>
    return %m, %p : tensor<2x8x56xf32>, tensor<2x8x114xf32>
  }
}

// -----

// On a CPU vectors of neighbours lie in what has a border.
// CHECK-LABEL: func.func @core(
// CHECK:         memref.alloc() {{.*}}: memref<2x8x114xf32>
// CHECK:         linalg.pooling_ncw_max
func.func @core(%x: tensor<2x8x112xf32>, %y: tensor<2x8x56xf32>) -> tensor<2x8x56xf32> {
  %low = arith.constant 0xFF800000 : f32
  %p = tensor.pad %x low[0, 0, 1] high[0, 0, 1] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %low : f32
  } : tensor<2x8x112xf32> to tensor<2x8x114xf32>
  %w = tensor.empty() : tensor<3xf32>
  %m = linalg.pooling_ncw_max {strides = dense<2> : vector<1xi64>, dilations = dense<1> : vector<1xi64>}
      ins(%p, %w : tensor<2x8x114xf32>, tensor<3xf32>) outs(%y : tensor<2x8x56xf32>) -> tensor<2x8x56xf32>
  return %m : tensor<2x8x56xf32>
}
