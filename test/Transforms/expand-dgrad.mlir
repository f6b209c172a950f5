// RUN: tracea-opt %s -split-input-file --tracea-expand-dgrad | FileCheck %s
// RUN: tracea-opt %s -split-input-file --tracea-expand-dgrad --remarks-filter-passed="tracea-expand-dgrad" --remark-policy=final --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=REMARK

// Without strides it is one convolution by the filter turned around, with the
// epilogue. Borders are what the filter reaches beyond those that there were.
// CHECK-DAG: #[[TURNED:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d4, -d2 + 2, -d3 + 4, d1)>
// CHECK-LABEL: @one
// CHECK: %[[TAPS:.*]] = linalg.generic {indexing_maps = [#[[TURNED]],
// CHECK: %[[FILTER:.*]] = tensor.collapse_shape
// CHECK-SAME: into tensor<16x3x5x8xf32>
// CHECK: %[[RESULT:.*]] = tracea.conv2d layout nhwc filter krsc pads [1, 2, 0, 3]
// CHECK-SAME: ins(%arg0, %[[FILTER]] : tensor<1x6x6x8xf32>, tensor<16x3x5x8xf32>) outs(%arg2 : tensor<1x5x7x16xf32>)
// CHECK-SAME: epilogue(%arg3 by
// CHECK: return %[[RESULT]]
// REMARK: the gradient is 1 convolution without strides
func.func @one(%dy: tensor<1x6x6x8xf32>, %w: tensor<8x3x5x16xf32>, %d: tensor<1x5x7x16xf32>, %b: tensor<16xf32>) -> tensor<1x5x7x16xf32> {
  %0 = tracea.conv2d_dgrad layout nhwc filter krsc pads [1, 2, 2, 1] ins(%dy, %w : tensor<1x6x6x8xf32>, tensor<8x3x5x16xf32>) outs(%d : tensor<1x5x7x16xf32>)
         epilogue(%b by affine_map<(n, h, w, c) -> (c)> : tensor<16xf32>) {
    ^bb0(%acc: f32, %x: f32):
      %s = arith.addf %acc, %x : f32
      tracea.yield %s : f32
  }
  return %0 : tensor<1x5x7x16xf32>
}

// -----

// Of a stride of two there are four, by as many taps as meet their pixels, and
// none multiplies a zero between pixels. Halves keep rows of channels.
// CHECK-DAG: #[[FROM:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d2, d4, d0, d1, d3, d5)>
// CHECK-LABEL: @strided
// CHECK: %[[ALL:.*]] = tensor.empty() : tensor<2x2x1x4x4x16xbf16>
// CHECK: tracea.conv2d layout nhwc filter rsck
// CHECK-SAME: tensor<1x1x8x16xbf16>) outs(%{{.*}} : tensor<1x4x4x16xbf16>)
// CHECK: tensor.insert_slice %{{.*}} into %[[ALL]][0, 0, 0, 0, 0, 0] [1, 1, 1, 4, 4, 16]
// CHECK: tracea.conv2d layout nhwc filter rsck pads [0, 0, 0, 1]
// CHECK-SAME: tensor<1x2x8x16xbf16>)
// CHECK: tracea.conv2d layout nhwc filter rsck pads [0, 0, 1, 0]
// CHECK-SAME: tensor<2x1x8x16xbf16>)
// CHECK: tracea.conv2d layout nhwc filter rsck pads [0, 0, 1, 1]
// CHECK-SAME: tensor<2x2x8x16xbf16>)
// CHECK: linalg.generic {indexing_maps = [#[[FROM]],
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2], [3, 4], [5]]
// CHECK-SAME: into tensor<1x8x8x16xbf16>
// REMARK: the gradient is 4 convolutions without strides
func.func @strided(%dy: tensor<1x4x4x8xbf16>, %w: tensor<8x3x3x16xbf16>, %d: tensor<1x8x8x16xbf16>) -> tensor<1x8x8x16xbf16> {
  %0 = tracea.conv2d_dgrad layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1] ins(%dy, %w : tensor<1x4x4x8xbf16>, tensor<8x3x3x16xbf16>) outs(%d : tensor<1x8x8x16xbf16>)
  return %0 : tensor<1x8x8x16xbf16>
}

// -----

// Pixels that no tap meets are the epilogue of zero; extents that strides do
// not divide leave places behind the last phase.
// CHECK-DAG: #[[AT:.*]] = affine_map<(d0, d1, d2, d3) -> (d1 mod 2, d2 mod 2, d0, d1 floordiv 2, d2 floordiv 2, d3)>
// CHECK-LABEL: @holes
// CHECK: linalg.fill
// CHECK-COUNT-1: tracea.conv2d
// CHECK-NOT: tracea.conv2d
// CHECK-NOT: linalg.fill
// CHECK: linalg.generic {indexing_maps = [#[[AT]],
// CHECK: math.exp
// REMARK: the gradient is 1 convolution without strides
func.func @holes(%dy: tensor<1x4x4x8xf32>, %w: tensor<8x1x1x16xf32>, %d: tensor<1x7x7x16xbf16>) -> tensor<1x7x7x16xbf16> {
  %0 = tracea.conv2d_dgrad layout nhwc filter krsc strides [2, 2] ins(%dy, %w : tensor<1x4x4x8xf32>, tensor<8x1x1x16xf32>) outs(%d : tensor<1x7x7x16xbf16>) epilogue {
    ^bb0(%acc: f32):
      %e = math.exp %acc : f32
      %t = arith.truncf %e : f32 to bf16
      tracea.yield %t : bf16
  }
  return %0 : tensor<1x7x7x16xbf16>
}

// -----

// A filter that reaches less far than the border: rows of the gradient that
// nothing meets are left out. Groups exchange their channels.
// CHECK-LABEL: @cut
// CHECK: tensor.extract_slice %arg0[0, 0, 2, 2] [1, 8, 4, 4] [1, 1, 1, 1]
// CHECK: tracea.conv2d layout nchw filter krsc groups 2
// CHECK-SAME: tensor<1x8x4x4xf32>, tensor<4x1x1x4xf32>
func.func @cut(%dy: tensor<1x8x8x8xf32>, %w: tensor<8x2x1x1xf32>, %d: tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> {
  %0 = tracea.conv2d_dgrad layout nchw filter kcrs pads [2, 2, 2, 2] groups 2 ins(%dy, %w : tensor<1x8x8x8xf32>, tensor<8x2x1x1xf32>) outs(%d : tensor<1x4x4x4xf32>)
  return %0 : tensor<1x4x4x4xf32>
}

// -----

// What only the run knows of borders is in memory, once for all phases, and the
// run compares the gradient's extents.
// CHECK-LABEL: @dynamic
// CHECK: cf.assert %{{.*}}, "tracea.conv2d_dgrad: expected the height of the gradient that result, filter, pads, stride and dilation give"
// CHECK: tensor.pad %arg0 low[0, 0, 0, 0] high[0, %{{.*}}, 0, 0]
// CHECK-NOT: tensor.pad
// CHECK-COUNT-2: tracea.conv2d
func.func @dynamic(%dy: tensor<1x?x4x8xf32>, %w: tensor<8x3x1x16xf32>, %d: tensor<1x?x4x16xf32>) -> tensor<1x?x4x16xf32> {
  %0 = tracea.conv2d_dgrad layout nhwc filter krsc strides [2, 1] pads [1, 0, 1, 0] ins(%dy, %w : tensor<1x?x4x8xf32>, tensor<8x3x1x16xf32>) outs(%d : tensor<1x?x4x16xf32>)
  return %0 : tensor<1x?x4x16xf32>
}

// -----

// A filter of one tap is a matrix, which is not copied.
// CHECK-LABEL: @point
// CHECK-NOT: linalg.generic
// CHECK: %[[MATRIX:.*]] = tensor.collapse_shape %arg1 {{\[\[}}0], [1, 2, 3]] : tensor<8x16x1x1xf16> into tensor<8x16xf16>
// CHECK: %[[TAP:.*]] = tensor.expand_shape %[[MATRIX]] {{\[\[}}0, 1, 2], [3]] output_shape [1, 1, 8, 16]
// CHECK: tracea.conv2d layout nhwc filter rsck
// CHECK-SAME: ins(%arg0, %[[TAP]] :
func.func @point(%dy: tensor<1x4x4x8xf16>, %w: tensor<8x16x1x1xf16>, %d: tensor<1x4x4x16xf16>) -> tensor<1x4x4x16xf16> {
  %0 = tracea.conv2d_dgrad layout nhwc filter kcrs ins(%dy, %w : tensor<1x4x4x8xf16>, tensor<8x16x1x1xf16>) outs(%d : tensor<1x4x4x16xf16>)
  return %0 : tensor<1x4x4x16xf16>
}
