// RUN: tracea-opt %s --convert-tracea-to-linalg --split-input-file | FileCheck %s

// pads are [top, left, bottom, right]; channels are (group, channel).
// CHECK-DAG: #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1 * 2 + d5, d2 + d6 * 3, d3, d7)>
// CHECK-DAG: #[[FILTER:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d3, d4, d5, d6, d7)>
// CHECK-DAG: #[[RESULT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2, d3, d4)>
// CHECK-LABEL: func @grouped(
// CHECK-SAME:    %[[X:.*]]: tensor<1x5x9x4xf32>, %[[W:.*]]: tensor<6x3x3x2xf32>, %[[D:.*]]: tensor<1x4x6x6xf32>
// CHECK:         %[[PAD:.*]] = tensor.pad %[[X]] low[0, 1, 2, 0] high[0, 3, 1, 0]
// CHECK-DAG:     %[[I:.*]] = tensor.expand_shape %[[PAD]] {{\[}}[0], [1], [2], [3, 4]] output_shape [1, 9, 12, 2, 2]
// CHECK-DAG:     %[[F:.*]] = tensor.expand_shape %[[W]] {{\[}}[0, 1], [2], [3], [4]] output_shape [2, 3, 3, 3, 2]
// CHECK:         %[[S:.*]] = linalg.generic {indexing_maps = [#[[IMAGE]], #[[FILTER]], #[[RESULT]]],
// CHECK-SAME:      ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
// CHECK-SAME:      ins(%[[I]], %[[F]] {{.*}} tensor<1x4x6x2x3xf32>
// CHECK:         %[[C:.*]] = tensor.collapse_shape %[[S]] {{\[}}[0], [1], [2], [3, 4]]
// CHECK:         linalg.generic {{.*}} ins(%[[C]] {{.*}} outs(%[[D]]
func.func @grouped(%x: tensor<1x5x9x4xf32>, %w: tensor<6x3x3x2xf32>, %d: tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32> {
  %y = tracea.conv2d layout nhwc filter krsc strides [2, 1] pads [1, 2, 3, 1] dilations [1, 3] groups 2
    ins(%x, %w : tensor<1x5x9x4xf32>, tensor<6x3x3x2xf32>) outs(%d : tensor<1x4x6x6xf32>)
  return %y : tensor<1x4x6x6xf32>
}

// -----

// Without pads there is no tensor.pad; dynamic channels split at run time.
// CHECK-DAG: #[[HALF:.*]] = affine_map<()[s0] -> (s0 floordiv 2)>
// CHECK-DAG: #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d3, d7, d1 + d5, d2 + d6)>
// CHECK-DAG: #[[FILTER:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d5, d6, d7, d3, d4)>
// CHECK-LABEL: func @dynamic(
// CHECK-NOT:     tensor.pad
// CHECK:         affine.apply #[[HALF]]
// CHECK:         tensor.expand_shape {{.*}} : tensor<?x?x?x?xbf16> into tensor<?x2x?x?x?xbf16>
// CHECK:         tensor.expand_shape {{.*}} : tensor<?x?x?x?xbf16> into tensor<?x?x?x2x?xbf16>
// CHECK:         linalg.generic {indexing_maps = [#[[IMAGE]], #[[FILTER]],
// CHECK:           arith.extf {{.*}} : bf16 to f32
func.func @dynamic(%x: tensor<?x?x?x?xbf16>, %w: tensor<?x?x?x?xbf16>, %d: tensor<?x?x?x?xf32>) -> tensor<?x?x?x?xf32> {
  %y = tracea.conv2d layout nchw filter rsck groups 2
    ins(%x, %w : tensor<?x?x?x?xbf16>, tensor<?x?x?x?xbf16>) outs(%d : tensor<?x?x?x?xf32>)
  return %y : tensor<?x?x?x?xf32>
}

// -----

// An image without elements has nothing to pad: zeros of the padded shape.
// CHECK-LABEL: func @empty(
// CHECK-NOT:     tensor.pad
// CHECK:         linalg.fill ins({{.*}}) outs({{.*}} : tensor<1x6x6x0xf32>)
func.func @empty(%x: tensor<1x4x4x0xf32>, %w: tensor<2x3x3x0xf32>, %d: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %y = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1]
    ins(%x, %w : tensor<1x4x4x0xf32>, tensor<2x3x3x0xf32>) outs(%d : tensor<1x4x4x2xf32>)
  return %y : tensor<1x4x4x2xf32>
}

// A sum of nothing has no loop whose extents would have to agree: they are
// compared first.
// CHECK-LABEL: func @empty_gradient(
// CHECK:         cf.assert %{{.*}}, "{{.*}}the channels of the image to be those of the result in all groups
// CHECK:         linalg.fill
func.func @empty_gradient(%x: tensor<0x4x4x?xf32>, %y: tensor<0x4x4x8xf32>, %d: tensor<8x1x1x1xf32>) -> tensor<8x1x1x1xf32> {
  %0 = tracea.conv2d_wgrad layout nhwc filter krsc groups 8 ins(%x, %y : tensor<0x4x4x?xf32>, tensor<0x4x4x8xf32>) outs(%d : tensor<8x1x1x1xf32>)
  return %0 : tensor<8x1x1x1xf32>
}

// A filter reaches as far as its taps, which only the run may know.
// CHECK-LABEL: func @empty_gradient_of_taps(
// CHECK:         %[[TAPS:.*]] = tensor.dim %arg2
// CHECK:         arith.muli %[[TAPS]], %c-1
// CHECK:         cf.assert %{{.*}}, "{{.*}}the width of the gradient
func.func @empty_gradient_of_taps(%x: tensor<0x9x9x4xf32>, %y: tensor<0x4x4x8xf32>, %d: tensor<8x3x?x4xf32>) -> tensor<8x3x?x4xf32> {
  %0 = tracea.conv2d_wgrad layout nhwc filter krsc strides [2, 2] ins(%x, %y : tensor<0x9x9x4xf32>, tensor<0x4x4x8xf32>) outs(%d : tensor<8x3x?x4xf32>)
  return %0 : tensor<8x3x?x4xf32>
}
