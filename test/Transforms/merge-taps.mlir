// RUN: tracea-opt %s -split-input-file --tracea-merge-taps | FileCheck %s
// RUN: tracea-opt %s -split-input-file --tracea-merge-taps --remarks-filter="tracea-merge-taps" --remark-policy=final --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=REMARK

// Patches of an unknown number of images: rows of a patch are the channels of a
// tap, rows of patches images.
// REMARK: [Passed] TapsMerged | Category:tracea-merge-taps | {{.*}}windows of 16x16 pixels lie side by side: 48 channels of a tap
// CHECK-LABEL: func.func @patches
// CHECK: %[[INIT:.*]] = tensor.collapse_shape {{.*}} {{\[}}[0, 1], [2], [3], [4]] : tensor<?x14x1x14x768xbf16> into tensor<?x1x14x768xbf16>
// CHECK: tensor.expand_shape %arg0 {{\[}}[0], [1, 2], [3, 4], [5]]
// CHECK-SAME: tensor<?x224x224x3xbf16> into tensor<?x14x16x14x16x3xbf16>
// CHECK: %[[X:.*]] = tensor.collapse_shape {{.*}} {{\[}}[0, 1], [2], [3], [4, 5]] : tensor<?x14x16x14x16x3xbf16> into tensor<?x16x14x48xbf16>
// CHECK: tensor.expand_shape %arg1 {{.*}} into tensor<768x16x1x16x3xbf16>
// CHECK: %[[W:.*]] = tensor.collapse_shape {{.*}} into tensor<768x16x1x48xbf16>
// CHECK: %[[Y:.*]] = tracea.conv2d layout nhwc filter krsc ins(%[[X]], %[[W]] :
// CHECK-SAME: outs(%[[INIT]] : tensor<?x1x14x768xbf16>) epilogue(%arg2 by
// CHECK: %[[ROWS:.*]] = tensor.collapse_shape %[[Y]] {{\[}}[0, 1], [2], [3]] : tensor<?x1x14x768xbf16> into tensor<?x14x768xbf16>
// CHECK: %[[RESULT:.*]] = tensor.expand_shape %[[ROWS]] {{\[}}[0, 1], [2], [3]] {{.*}} into tensor<?x14x14x768xbf16>
// CHECK: return %[[RESULT]]
func.func @patches(%x: tensor<?x224x224x3xbf16>, %w: tensor<768x16x16x3xbf16>, %b: tensor<768xbf16>, %d: tensor<?x14x14x768xbf16>) -> tensor<?x14x14x768xbf16> {
  %0 = tracea.conv2d layout nhwc filter krsc strides [16, 16] ins(%x, %w : tensor<?x224x224x3xbf16>, tensor<768x16x16x3xbf16>) outs(%d : tensor<?x14x14x768xbf16>)
       epilogue(%b by affine_map<(n, p, q, k) -> (k)> : tensor<768xbf16>) {
    ^bb0(%acc: f32, %c: bf16):
      %wide = arith.extf %c : bf16 to f32
      %sum = arith.addf %acc, %wide : f32
      %y = arith.truncf %sum : f32 to bf16
      tracea.yield %y : bf16
  }
  return %0 : tensor<?x14x14x768xbf16>
}

// -----

// What the epilogue reads like the result has its shape; filters along the last
// dimension.
// CHECK-LABEL: func.func @residual
// CHECK: %[[SKIP:.*]] = tensor.collapse_shape {{.*}} tensor<2x4x1x4x8xf32> into tensor<8x1x4x8xf32>
// CHECK: tracea.conv2d layout nhwc filter rsck ins(%{{.*}}, %{{.*}} : tensor<8x2x4x6xf32>, tensor<2x1x6x8xf32>)
// CHECK-SAME: epilogue(%[[SKIP]] by
func.func @residual(%x: tensor<2x8x8x3xf32>, %w: tensor<2x2x3x8xf32>, %skip: tensor<2x4x4x8xf32>, %d: tensor<2x4x4x8xf32>) -> tensor<2x4x4x8xf32> {
  %0 = tracea.conv2d layout nhwc filter rsck strides [2, 2] ins(%x, %w : tensor<2x8x8x3xf32>, tensor<2x2x3x8xf32>) outs(%d : tensor<2x4x4x8xf32>)
       epilogue(%skip by affine_map<(n, p, q, k) -> (n, p, q, k)> : tensor<2x4x4x8xf32>) {
    ^bb0(%acc: f32, %c: f32):
      %sum = arith.addf %acc, %c : f32
      tracea.yield %sum : f32
  }
  return %0 : tensor<2x4x4x8xf32>
}

// -----

// Positions differ between rows of one image: images stay as they are.
// CHECK-LABEL: func.func @positions
// CHECK: tracea.conv2d layout nhwc filter krsc strides [2, 1] ins(%{{.*}}, %{{.*}} : tensor<?x8x4x6xf32>, tensor<8x2x1x6xf32>)
// CHECK-SAME: outs(%arg3 : tensor<?x4x4x8xf32>) epilogue(%arg2 by
func.func @positions(%x: tensor<?x8x8x3xf32>, %w: tensor<8x2x2x3xf32>, %at: tensor<4x4x8xf32>, %d: tensor<?x4x4x8xf32>) -> tensor<?x4x4x8xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc strides [2, 2] ins(%x, %w : tensor<?x8x8x3xf32>, tensor<8x2x2x3xf32>) outs(%d : tensor<?x4x4x8xf32>)
       epilogue(%at by affine_map<(n, p, q, k) -> (p, q, k)> : tensor<4x4x8xf32>) {
    ^bb0(%acc: f32, %c: f32):
      %sum = arith.addf %acc, %c : f32
      tracea.yield %sum : f32
  }
  return %0 : tensor<?x4x4x8xf32>
}

// -----

// Rows of windows overlap, columns do not; height only the run knows.
// CHECK-LABEL: func.func @wide_alone
// CHECK: tracea.conv2d layout nhwc filter krsc pads [1, 0, 1, 0] ins(%{{.*}}, %{{.*}} : tensor<1x?x4x6xf32>, tensor<8x3x1x6xf32>)
func.func @wide_alone(%x: tensor<1x?x8x3xf32>, %w: tensor<8x3x2x3xf32>, %d: tensor<1x?x4x8xf32>) -> tensor<1x?x4x8xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc strides [1, 2] pads [1, 0, 1, 0] ins(%x, %w : tensor<1x?x8x3xf32>, tensor<8x3x2x3xf32>) outs(%d : tensor<1x?x4x8xf32>)
  return %0 : tensor<1x?x4x8xf32>
}

// -----

// Left alone: overlapping windows, a border, columns left over, gaps between
// taps, groups, channels first, a width that only the run knows, a slice, and a
// schedule.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-9: tracea.conv2d {{.*}}3x3
// CHECK-NOT: tensor.collapse_shape
func.func @others(%x: tensor<1x9x9x4xf32>, %first: tensor<1x4x9x9xf32>, %more: tensor<1x10x10x4xf32>, %any: tensor<1x9x?x4xf32>, %w: tensor<8x3x3x4xf32>, %g: tensor<8x3x3x2xf32>, %wf: tensor<8x4x3x3xf32>,
                  %d: tensor<1x3x3x8xf32>, %d4: tensor<1x4x4x8xf32>, %df: tensor<1x8x3x3xf32>, %d1: tensor<1x2x2x8xf32>, %dn: tensor<1x3x?x8xf32>)
    -> (tensor<1x4x4x8xf32>, tensor<1x3x3x8xf32>, tensor<1x3x3x8xf32>, tensor<1x2x2x8xf32>, tensor<1x3x3x8xf32>, tensor<1x8x3x3xf32>, tensor<1x3x?x8xf32>, tensor<1x3x3x8xf32>, tensor<1x3x3x8xf32>) {
  %0 = tracea.conv2d layout nhwc filter krsc strides [2, 2] ins(%x, %w : tensor<1x9x9x4xf32>, tensor<8x3x3x4xf32>) outs(%d4 : tensor<1x4x4x8xf32>)
  %1 = tracea.conv2d layout nhwc filter krsc strides [3, 3] pads [0, 1, 0, 1] ins(%x, %w : tensor<1x9x9x4xf32>, tensor<8x3x3x4xf32>) outs(%d : tensor<1x3x3x8xf32>)
  %2 = tracea.conv2d layout nhwc filter krsc strides [3, 3] ins(%more, %w : tensor<1x10x10x4xf32>, tensor<8x3x3x4xf32>) outs(%d : tensor<1x3x3x8xf32>)
  %3 = tracea.conv2d layout nhwc filter krsc strides [3, 3] dilations [2, 2] ins(%x, %w : tensor<1x9x9x4xf32>, tensor<8x3x3x4xf32>) outs(%d1 : tensor<1x2x2x8xf32>)
  %4 = tracea.conv2d layout nhwc filter krsc strides [3, 3] groups 2 ins(%x, %g : tensor<1x9x9x4xf32>, tensor<8x3x3x2xf32>) outs(%d : tensor<1x3x3x8xf32>)
  %5 = tracea.conv2d layout nchw filter kcrs strides [3, 3] ins(%first, %wf : tensor<1x4x9x9xf32>, tensor<8x4x3x3xf32>) outs(%df : tensor<1x8x3x3xf32>)
  %6 = tracea.conv2d layout nhwc filter krsc strides [3, 3] ins(%any, %w : tensor<1x9x?x4xf32>, tensor<8x3x3x4xf32>) outs(%dn : tensor<1x3x?x8xf32>)
  %slice = tensor.extract_slice %more[0, 1, 1, 0] [1, 9, 9, 4] [1, 1, 1, 1] : tensor<1x10x10x4xf32> to tensor<1x9x9x4xf32>
  %7 = tracea.conv2d layout nhwc filter krsc strides [3, 3] ins(%slice, %w : tensor<1x9x9x4xf32>, tensor<8x3x3x4xf32>) outs(%d : tensor<1x3x3x8xf32>)
  %8 = tracea.conv2d layout nhwc filter krsc strides [3, 3] ins(%x, %w : tensor<1x9x9x4xf32>, tensor<8x3x3x4xf32>) outs(%d : tensor<1x3x3x8xf32>) schedule <variant = "linalg", unit = vector>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<1x4x4x8xf32>, tensor<1x3x3x8xf32>, tensor<1x3x3x8xf32>, tensor<1x2x2x8xf32>, tensor<1x3x3x8xf32>, tensor<1x8x3x3xf32>, tensor<1x3x?x8xf32>, tensor<1x3x3x8xf32>, tensor<1x3x3x8xf32>
}
