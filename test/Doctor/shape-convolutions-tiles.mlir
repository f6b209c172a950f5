// For a tile unit, which multiplies sixteen pixels of a row at a time and whole steps of channels.
// RUN: tracea-opt %s -split-input-file --tracea-shape-convolutions="target=sapphirerapids threads=1" | FileCheck %s
// RUN: tracea-opt %s -split-input-file --tracea-shape-convolutions="target=x86-64-v4" | FileCheck %s --check-prefix=VECTORS

// Of few channels the taps of a row are the channels of one tap, zeros behind them, and the image
// has its border: no tap leaves it.
// CHECK-LABEL: func.func @first_layer(
// CHECK:         %[[ROWS:.*]] = tensor.collapse_shape %{{.*}} {{\[}}[0], [1], [2, 3]] : tensor<1x224x224x3xbf16> into tensor<1x224x672xbf16>
// CHECK:         tensor.pad %[[ROWS]] low[0, 3, 9] high[0, 2, 17] {
// CHECK:         %[[W:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x229x112x32xbf16>)
// CHECK:         tracea.conv2d layout nhwc filter krsc strides [2, 1] ins(%[[W]], %{{.*}} : tensor<1x229x112x32xbf16>, tensor<64x7x1x32xbf16>)
// VECTORS-LABEL: func.func @first_layer(
// VECTORS:         tracea.conv2d layout nhwc filter krsc strides [2, 6] pads [3, 9, 3, 9]
func.func @first_layer(%x: tensor<1x224x224x3xbf16>, %f: tensor<64x7x7x3xbf16>, %d: tensor<1x112x112x64xf32>) -> tensor<1x112x112x64xf32> {
  %y = tracea.conv2d layout nhwc filter krsc strides [2, 2] pads [3, 3, 3, 3] ins(%x, %f : tensor<1x224x224x3xbf16>, tensor<64x7x7x3xbf16>) outs(%d : tensor<1x112x112x64xf32>)
  return %y : tensor<1x112x112x64xf32>
}

// -----

// What one tap sees as it lies is one row of pixels, and so are a residual and the result.
// CHECK-LABEL: func.func @one_tap(
// CHECK:         %[[D:.*]] = tensor.expand_shape %{{.*}} {{\[}}[0, 1, 2], [3]] {{.*}} into tensor<1x1x6272x64xi32>
// CHECK:         %[[Y:.*]] = tracea.conv2d layout nhwc filter rsck ins(%{{.*}}, %{{.*}} : tensor<1x1x6272x256xi8>, tensor<1x1x256x64xi8>) outs(%{{.*}} : tensor<1x1x6272x64xi32>)
// CHECK-SAME:      epilogue(%{{.*}} by #{{.*}}, %{{.*}} by #{{.*}} : tensor<64xi32>, tensor<1x1x6272x64xi32>)
// CHECK:         tensor.collapse_shape %[[Y]] {{\[}}[0, 1, 2], [3]]
// VECTORS-LABEL: func.func @one_tap(
// VECTORS-NOT:     tensor.collapse_shape
// VECTORS:         return
func.func @one_tap(%x: tensor<2x56x56x256xi8>, %f: tensor<1x1x256x64xi8>, %b: tensor<64xi32>, %z: tensor<2x56x56x64xi32>, %d: tensor<2x56x56x64xi32>) -> tensor<2x56x56x64xi32> {
  %y = tracea.conv2d layout nhwc filter rsck ins(%x, %f : tensor<2x56x56x256xi8>, tensor<1x1x256x64xi8>) outs(%d : tensor<2x56x56x64xi32>)
         epilogue(%b by affine_map<(n, p, q, k) -> (k)>, %z by affine_map<(n, p, q, k) -> (n, p, q, k)> : tensor<64xi32>, tensor<2x56x56x64xi32>) {
    ^bb0(%sum: i32, %c: i32, %o: i32):
      %r = arith.addi %sum, %c : i32
      %s = arith.addi %r, %o : i32
      tracea.yield %s : i32
  }
  return %y : tensor<2x56x56x64xi32>
}

// -----

// Of a small image beside filters that lie ready all taps are the channels of one: with its border
// it is copied once for each of them.
// CHECK-LABEL: func.func @small_image(
// CHECK:         %[[P:.*]] = tensor.pad %{{.*}} low[0, 1, 1, 0] high[0, 1, 1, 0] {
// CHECK:         %[[W:.*]] = linalg.generic {{.*}} ins(%[[P]] : tensor<1x9x9x512xi8>) outs(%{{.*}} : tensor<1x7x7x3x3x512xi8>)
// CHECK:         tracea.conv2d layout nhwc filter krsc ins(%{{.*}}, %{{.*}} : tensor<1x1x49x4608xi8>, tensor<512x1x1x4608xi8>) outs(%{{.*}} : tensor<1x1x49x512xi32>)
// VECTORS-LABEL: func.func @small_image(
// VECTORS-NOT:     tensor.pad
// VECTORS:         return
func.func @small_image(%x: tensor<1x7x7x512xi8>, %f: tensor<512x3x3x512xi8> {tracea.constant}, %d: tensor<1x7x7x512xi32>) -> tensor<1x7x7x512xi32> {
  %y = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] ins(%x, %f : tensor<1x7x7x512xi8>, tensor<512x3x3x512xi8>) outs(%d : tensor<1x7x7x512xi32>)
  return %y : tensor<1x7x7x512xi32>
}

// -----

// Of so many images as there may be the rows of each are one row.
// CHECK-LABEL: func.func @any_images(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x56x56x64xi8>
// CHECK:         %[[N:.*]] = tensor.dim %[[X]], %{{.*}} : tensor<?x56x56x64xi8>
// CHECK:         %[[C:.*]] = tensor.collapse_shape %[[X]] {{\[}}[0], [1, 2], [3]] : tensor<?x56x56x64xi8> into tensor<?x3136x64xi8>
// CHECK:         tensor.expand_shape %[[C]] {{\[}}[0], [1, 2], [3]] output_shape [%[[N]], 1, 3136, 64] : tensor<?x3136x64xi8> into tensor<?x1x3136x64xi8>
// CHECK:         %[[Y:.*]] = tracea.conv2d layout nhwc filter krsc ins(%{{.*}}, %{{.*}} : tensor<?x1x3136x64xi8>, tensor<64x1x1x64xi8>) outs(%{{.*}} : tensor<?x1x3136x64xi32>)
// CHECK:         tensor.collapse_shape %[[Y]] {{\[}}[0], [1, 2], [3]]
// CHECK:         tensor.expand_shape {{.*}} into tensor<?x56x56x64xi32>
func.func @any_images(%o: tensor<?x56x56x64xi8>, %f: tensor<64x1x1x64xi8>, %p: tensor<?x56x56x64xi32>) -> tensor<?x56x56x64xi32> {
  %y = tracea.conv2d layout nhwc filter krsc ins(%o, %f : tensor<?x56x56x64xi8>, tensor<64x1x1x64xi8>) outs(%p : tensor<?x56x56x64xi32>)
  return %y : tensor<?x56x56x64xi32>
}

// -----

// What stays: a tap that steps over pixels, operands of an epilogue that know of rows, rows of an
// unknown number, an image of one row each.
// CHECK-LABEL: func.func @kept(
// CHECK-NOT:     tensor.collapse_shape
// CHECK:         return
func.func @kept(%x: tensor<1x56x56x64xi8>, %f: tensor<64x1x1x64xi8>, %d: tensor<1x28x28x64xi32>, %e: tensor<1x56x56x64xi32>, %r: tensor<56xi32>,
                %o: tensor<1x?x56x64xi8>, %p: tensor<1x?x56x64xi32>, %v: tensor<?x1x56x64xf32>, %w: tensor<64x1x1x64xf32>)
    -> (tensor<1x28x28x64xi32>, tensor<1x56x56x64xi32>, tensor<1x?x56x64xi32>, tensor<?x1x56x64xf32>) {
  %0 = tracea.conv2d layout nhwc filter krsc strides [2, 2] ins(%x, %f : tensor<1x56x56x64xi8>, tensor<64x1x1x64xi8>) outs(%d : tensor<1x28x28x64xi32>)
  %1 = tracea.conv2d layout nhwc filter krsc ins(%x, %f : tensor<1x56x56x64xi8>, tensor<64x1x1x64xi8>) outs(%e : tensor<1x56x56x64xi32>)
         epilogue(%r by affine_map<(n, p, q, k) -> (p)> : tensor<56xi32>) {
    ^bb0(%sum: i32, %c: i32):
      %s = arith.addi %sum, %c : i32
      tracea.yield %s : i32
  }
  %2 = tracea.conv2d layout nhwc filter krsc ins(%o, %f : tensor<1x?x56x64xi8>, tensor<64x1x1x64xi8>) outs(%p : tensor<1x?x56x64xi32>)
  %3 = tracea.conv2d layout nhwc filter krsc ins(%v, %w : tensor<?x1x56x64xf32>, tensor<64x1x1x64xf32>) outs(%v : tensor<?x1x56x64xf32>)
  return %0, %1, %2, %3 : tensor<1x28x28x64xi32>, tensor<1x56x56x64xi32>, tensor<1x?x56x64xi32>, tensor<?x1x56x64xf32>
}
