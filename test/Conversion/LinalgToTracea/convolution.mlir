// RUN: tracea-opt %s --convert-linalg-to-tracea --split-input-file | FileCheck %s

// Zeros around the image become pads.
// CHECK-LABEL: func @padded(
// CHECK-SAME:    %[[X:.*]]: tensor<?x8x9x4xf32>, %[[W:.*]]: tensor<3x3x4x16xf32>, %[[E:.*]]: tensor<?x5x9x16xf32>
// CHECK-NOT:     tensor.pad
// CHECK:         tracea.conv2d layout nhwc filter rsck strides [2, 1] pads [1, 0, 2, 4] dilations [1, 2]
// CHECK-SAME:      ins(%[[X]], %[[W]] : {{.*}}) outs(%[[E]] : tensor<?x5x9x16xf32>)
func.func @padded(%x: tensor<?x8x9x4xf32>, %w: tensor<3x3x4x16xf32>, %e: tensor<?x5x9x16xf32>) -> tensor<?x5x9x16xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 0, 0] high[0, 2, 4, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<?x8x9x4xf32> to tensor<?x11x13x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x5x9x16xf32>) -> tensor<?x5x9x16xf32>
  %y = linalg.conv_2d_nhwc_hwcf {strides = dense<[2, 1]> : tensor<2xi64>, dilations = dense<[1, 2]> : tensor<2xi64>}
    ins(%p, %w : tensor<?x11x13x4xf32>, tensor<3x3x4x16xf32>) outs(%z : tensor<?x5x9x16xf32>) -> tensor<?x5x9x16xf32>
  return %y : tensor<?x5x9x16xf32>
}

// -----

// A pad with another value, of channels, or by a dynamic amount stays.
// CHECK-LABEL: func @other_pads(
// CHECK:         tensor.pad
// CHECK:         tracea.conv2d layout nchw filter kcrs ins(
// CHECK:         tensor.pad
// CHECK:         tracea.conv2d layout nchw filter kcrs ins(
// CHECK:         tensor.pad
// CHECK:         tracea.conv2d layout nchw filter kcrs ins(
func.func @other_pads(%x: tensor<1x2x4x4xf32>, %w: tensor<5x2x3x3xf32>, %v: tensor<5x4x3x3xf32>, %n: index, %e: tensor<1x5x4x4xf32>, %f: tensor<1x5x2x2xf32>, %g: tensor<1x5x?x2xf32>)
    -> (tensor<1x5x4x4xf32>, tensor<1x5x2x2xf32>, tensor<1x5x?x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %one : f32
  } : tensor<1x2x4x4xf32> to tensor<1x2x6x6xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e : tensor<1x5x4x4xf32>) -> tensor<1x5x4x4xf32>
  %y0 = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<1x2x6x6xf32>, tensor<5x2x3x3xf32>) outs(%z0 : tensor<1x5x4x4xf32>) -> tensor<1x5x4x4xf32>
  %q = tensor.pad %x low[0, 1, 0, 0] high[0, 1, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x2x4x4xf32> to tensor<1x4x4x4xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%f : tensor<1x5x2x2xf32>) -> tensor<1x5x2x2xf32>
  %y1 = linalg.conv_2d_nchw_fchw ins(%q, %v : tensor<1x4x4x4xf32>, tensor<5x4x3x3xf32>) outs(%z1 : tensor<1x5x2x2xf32>) -> tensor<1x5x2x2xf32>
  %r = tensor.pad %x low[0, 0, %n, 0] high[0, 0, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x2x4x4xf32> to tensor<1x2x?x4xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%g : tensor<1x5x?x2xf32>) -> tensor<1x5x?x2xf32>
  %y2 = linalg.conv_2d_nchw_fchw ins(%r, %w : tensor<1x2x?x4xf32>, tensor<5x2x3x3xf32>) outs(%z2 : tensor<1x5x?x2xf32>) -> tensor<1x5x?x2xf32>
  return %y0, %y1, %y2 : tensor<1x5x4x4xf32>, tensor<1x5x2x2xf32>, tensor<1x5x?x2xf32>
}

// -----

// A pad with another reader stays for that reader.
// CHECK-LABEL: func @shared_pad(
// CHECK:         %[[P:.*]] = tensor.pad
// CHECK:         tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] ins(
// CHECK:         return %{{.*}}, %[[P]]
func.func @shared_pad(%x: tensor<1x4x4x2xf32>, %w: tensor<5x3x3x2xf32>, %e: tensor<1x4x4x5xf32>) -> (tensor<1x4x4x5xf32>, tensor<1x6x6x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x4x4x2xf32> to tensor<1x6x6x2xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x4x5xf32>) -> tensor<1x4x4x5xf32>
  %y = linalg.conv_2d_nhwc_fhwc ins(%p, %w : tensor<1x6x6x2xf32>, tensor<5x3x3x2xf32>) outs(%z : tensor<1x4x4x5xf32>) -> tensor<1x4x4x5xf32>
  return %y, %p : tensor<1x4x4x5xf32>, tensor<1x6x6x2xf32>
}

// -----

// CHECK:       #[[BIAS:.*]] = affine_map<(d0, d1, d2, d3) -> (d1)>
// CHECK-LABEL: func @bias(
// CHECK-SAME:    %[[C:[a-z0-9]*]]: tensor<5xf32>,
// CHECK:         tracea.conv2d layout nchw filter kcrs {{.*}} epilogue(%[[C]] by #[[BIAS]] : tensor<5xf32>)
func.func @bias(%x: tensor<1x2x6x6xf32>, %w: tensor<5x2x3x3xf32>, %c: tensor<5xf32>, %e: tensor<1x5x4x4xf32>) -> tensor<1x5x4x4xf32> {
  %b = linalg.broadcast ins(%c : tensor<5xf32>) outs(%e : tensor<1x5x4x4xf32>) dimensions = [0, 2, 3]
  %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x2x6x6xf32>, tensor<5x2x3x3xf32>) outs(%b : tensor<1x5x4x4xf32>) -> tensor<1x5x4x4xf32>
  return %y : tensor<1x5x4x4xf32>
}

// -----

// A depthwise filter has one input channel in each group.
// CHECK-LABEL: func @depthwise(
// CHECK:         %[[F:.*]] = tensor.expand_shape %{{.*}} {{\[}}[0], [1, 2], [3]] output_shape [3, 3, 1, 6] : tensor<3x3x6xf32> into tensor<3x3x1x6xf32>
// CHECK:         tracea.conv2d layout nhwc filter rsck groups 6 ins(%{{.*}}, %[[F]]
func.func @depthwise(%x: tensor<1x6x6x6xf32>, %w: tensor<3x3x6xf32>, %e: tensor<1x4x4x6xf32>) -> tensor<1x4x4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x4x6xf32>) -> tensor<1x4x4x6xf32>
  %y = linalg.depthwise_conv_2d_nhwc_hwc ins(%x, %w : tensor<1x6x6x6xf32>, tensor<3x3x6xf32>) outs(%z : tensor<1x4x4x6xf32>) -> tensor<1x4x4x6xf32>
  return %y : tensor<1x4x4x6xf32>
}

// -----

// Group and channel of the group are merged; where the filter has them the
// other way round it is transposed.
// CHECK-LABEL: func @grouped(
// CHECK-DAG:     %[[I:.*]] = tensor.collapse_shape %{{.*}} {{\[}}[0], [1, 2], [3], [4]] : tensor<1x2x3x6x6xf32> into tensor<1x6x6x6xf32>
// CHECK-DAG:     %[[T:.*]] = linalg.transpose {{.*}} permutation = [1, 0, 2, 3, 4]
// CHECK:         %[[F:.*]] = tensor.collapse_shape %[[T]] {{\[}}[0, 1], [2], [3], [4]]
// CHECK:         %[[Y:.*]] = tracea.conv2d layout nchw filter kcrs groups 2 ins(%[[I]], %[[F]] : {{.*}}) outs({{.*}} : tensor<1x8x4x4xf32>)
// CHECK:         tensor.expand_shape %[[Y]] {{\[}}[0], [1, 2], [3], [4]] output_shape [1, 2, 4, 4, 4]
func.func @grouped(%x: tensor<1x2x3x6x6xf32>, %w: tensor<4x2x3x3x3xf32>, %e: tensor<1x2x4x4x4xf32>) -> tensor<1x2x4x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x4x4x4xf32>) -> tensor<1x2x4x4x4xf32>
  %y = linalg.conv_2d_ngchw_fgchw ins(%x, %w : tensor<1x2x3x6x6xf32>, tensor<4x2x3x3x3xf32>) outs(%z : tensor<1x2x4x4x4xf32>) -> tensor<1x2x4x4x4xf32>
  return %y : tensor<1x2x4x4x4xf32>
}
