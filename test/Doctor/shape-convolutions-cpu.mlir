// Of few channels, on a CPU: pixels of a row, and their channels, are pixels of one channel.
// RUN: tracea-opt %s -split-input-file --tracea-shape-convolutions="target=x86-64-v4" | FileCheck %s
// RUN: tracea-opt %s -split-input-file --tracea-shape-convolutions="target=x86-64-v4" --remarks-filter=tracea-doctor --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: tracea-opt %s -split-input-file --tracea-shape-convolutions="target=sapphirerapids" | FileCheck %s --check-prefix=TILES
// RUN: tracea-opt %s -split-input-file --tracea-shape-convolutions="target=znver3 threads=1" | FileCheck %s --check-prefix=FEW
// RUN: tracea-opt %s -split-input-file --tracea-shape-convolutions="target=znver3 threads=1" --remarks-filter=tracea-doctor --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK-FEW

// Seven taps of three channels are 21 taps: nothing is copied, and the epilogue stays.
// REMARK: [Passed] convolution-shaped {{.*}} Remark="the convolution has its channels among the taps of a row: the cost model expects {{[0-9]+}} cycles in place of {{[0-9]+}},
// CHECK-LABEL: func.func @first_layer(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x224x224x3xf32>, %[[F:[a-z0-9]+]]: tensor<64x7x7x3xf32>, %[[B:[a-z0-9]+]]: tensor<64xf32>, %[[D:[a-z0-9]+]]: tensor
// CHECK:         %[[ROWS:.*]] = tensor.collapse_shape %[[X]] {{\[}}[0], [1], [2, 3]] : tensor<?x224x224x3xf32> into tensor<?x224x672xf32>
// CHECK:         %[[IMAGE:.*]] = tensor.expand_shape %[[ROWS]] {{\[}}[0], [1], [2, 3]] {{.*}} into tensor<?x224x672x1xf32>
// CHECK:         %[[TAPS:.*]] = tensor.collapse_shape %[[F]] {{.*}} into tensor<64x7x21xf32>
// CHECK:         %[[FILTER:.*]] = tensor.expand_shape %[[TAPS]] {{.*}} into tensor<64x7x21x1xf32>
// CHECK:         %[[Y:.*]] = tracea.conv2d layout nhwc filter krsc strides [2, 6] pads [3, 9, 3, 9] ins(%[[IMAGE]], %[[FILTER]] : {{.*}}) outs(%[[D]] : {{.*}}) epilogue(%[[B]] by
// CHECK:         return %[[Y]]
func.func @first_layer(%x: tensor<?x224x224x3xf32>, %f: tensor<64x7x7x3xf32>, %b: tensor<64xf32>, %d: tensor<?x112x112x64xf32>) -> tensor<?x112x112x64xf32> {
  %y = tracea.conv2d layout nhwc filter krsc strides [2, 2] pads [3, 3, 3, 3] ins(%x, %f : tensor<?x224x224x3xf32>, tensor<64x7x7x3xf32>) outs(%d : tensor<?x112x112x64xf32>)
         epilogue(%b by affine_map<(n, p, q, k) -> (k)> : tensor<64xf32>) {
    ^bb0(%sum: f32, %c: f32):
      %r = arith.addf %sum, %c : f32
      tracea.yield %r : f32
  }
  return %y : tensor<?x112x112x64xf32>
}

// -----

// Rows of an unknown width, rows of taps with filters behind, and bytes.
// CHECK-LABEL: func.func @any_width(
// CHECK:         tracea.conv2d layout nhwc filter rsck strides [2, 4] pads [1, 2, 1, 2] ins({{.*}} : tensor<1x64x?x1xf32>, tensor<3x6x1x32xf32>)
// CHECK-LABEL: func.func @bytes(
// CHECK:         tracea.conv2d layout nhwc filter krsc strides [2, 6] pads [3, 9, 3, 9] ins({{.*}} : tensor<1x224x672x1xi8>, tensor<64x7x21x1xi8>)
func.func @any_width(%x: tensor<1x64x?x2xf32>, %f: tensor<3x3x2x32xf32>, %d: tensor<1x32x?x32xf32>) -> tensor<1x32x?x32xf32> {
  %y = tracea.conv2d layout nhwc filter rsck strides [2, 2] pads [1, 1, 1, 1] ins(%x, %f : tensor<1x64x?x2xf32>, tensor<3x3x2x32xf32>) outs(%d : tensor<1x32x?x32xf32>)
  return %y : tensor<1x32x?x32xf32>
}
func.func @bytes(%x: tensor<1x224x224x3xi8>, %f: tensor<64x7x7x3xi8>, %d: tensor<1x112x112x64xi32>) -> tensor<1x112x112x64xi32> {
  %y = tracea.conv2d layout nhwc filter krsc strides [2, 2] pads [3, 3, 3, 3] ins(%x, %f : tensor<1x224x224x3xi8>, tensor<64x7x7x3xi8>) outs(%d : tensor<1x112x112x64xi32>)
  return %y : tensor<1x112x112x64xi32>
}

// -----

// What stays: taps that are apart, many channels, one tap in a row, groups, and taps that are no
// neighbours of their channels.
// CHECK-LABEL: func.func @kept(
// CHECK-NOT:     tensor.collapse_shape
// CHECK:         return
func.func @kept(%x: tensor<1x56x56x4xf32>, %m: tensor<1x56x56x32xf32>, %f: tensor<64x3x3x4xf32>, %g: tensor<64x3x3x32xf32>, %h: tensor<64x3x1x4xf32>,
                %i: tensor<64x3x3x2xf32>, %j: tensor<64x4x3x3xf32>, %d: tensor<1x56x56x64xf32>)
    -> (tensor<1x56x56x64xf32>, tensor<1x56x56x64xf32>, tensor<1x56x56x64xf32>, tensor<1x56x56x64xf32>, tensor<1x56x56x64xf32>) {
  %0 = tracea.conv2d layout nhwc filter krsc pads [2, 2, 2, 2] dilations [2, 2] ins(%x, %f : tensor<1x56x56x4xf32>, tensor<64x3x3x4xf32>) outs(%d : tensor<1x56x56x64xf32>)
  %1 = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] ins(%m, %g : tensor<1x56x56x32xf32>, tensor<64x3x3x32xf32>) outs(%d : tensor<1x56x56x64xf32>)
  %2 = tracea.conv2d layout nhwc filter krsc pads [1, 0, 1, 0] ins(%x, %h : tensor<1x56x56x4xf32>, tensor<64x3x1x4xf32>) outs(%d : tensor<1x56x56x64xf32>)
  %3 = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] groups 2 ins(%x, %i : tensor<1x56x56x4xf32>, tensor<64x3x3x2xf32>) outs(%d : tensor<1x56x56x64xf32>)
  %4 = tracea.conv2d layout nhwc filter kcrs pads [1, 1, 1, 1] ins(%x, %j : tensor<1x56x56x4xf32>, tensor<64x4x3x3xf32>) outs(%d : tensor<1x56x56x64xf32>)
  return %0, %1, %2, %3, %4 : tensor<1x56x56x64xf32>, tensor<1x56x56x64xf32>, tensor<1x56x56x64xf32>, tensor<1x56x56x64xf32>, tensor<1x56x56x64xf32>
}

// -----

// Steps of the tile unit have 64 bytes, of which a row of taps fills a third, and a tap a twentieth.
// TILES-LABEL: func.func @bytes_by_tiles(
// TILES:         tracea.conv2d {{.*}} strides [2, 6]
func.func @bytes_by_tiles(%x: tensor<1x224x224x3xi8>, %f: tensor<64x7x7x3xi8>, %d: tensor<1x112x112x64xi32>) -> tensor<1x112x112x64xi32> {
  %y = tracea.conv2d layout nhwc filter krsc strides [2, 2] pads [3, 3, 3, 3] ins(%x, %f : tensor<1x224x224x3xi8>, tensor<64x7x7x3xi8>) outs(%d : tensor<1x112x112x64xi32>)
  return %y : tensor<1x112x112x64xi32>
}

// -----

// A register tile of a few pixels has rows of seven with some to spare, and the pixels of all rows
// without, which share filters as well: of one tap they are one row, and so is a residual.
// REMARK-FEW: [Passed] convolution-shaped {{.*}} Remark="the convolution has the pixels of all rows as one row: the cost model expects {{[0-9]+}} cycles in place of {{[0-9]+}},
// FEW-LABEL: func.func @small_rows(
// FEW:         %[[Y:.*]] = tracea.conv2d layout nhwc filter krsc ins(%{{.*}}, %{{.*}} : tensor<1x1x392x2048xf32>, tensor<512x1x1x2048xf32>) outs(%{{[a-z0-9_]+}} : tensor<1x1x392x512xf32>)
// FEW-SAME:      epilogue(%{{[a-z0-9_]+}} by #{{[a-z0-9]+}} : tensor<1x1x392x512xf32>)
// FEW:         %[[C:.*]] = tensor.collapse_shape %[[Y]] {{\[}}[0, 1, 2], [3]] : tensor<1x1x392x512xf32> into tensor<392x512xf32>
// FEW:         %[[R:.*]] = tensor.expand_shape %[[C]] {{\[}}[0, 1, 2], [3]] {{.*}} into tensor<8x7x7x512xf32>
// FEW:         return %[[R]]
func.func @small_rows(%x: tensor<8x7x7x2048xf32>, %f: tensor<512x1x1x2048xf32> {tracea.constant}, %z: tensor<8x7x7x512xf32>, %d: tensor<8x7x7x512xf32>) -> tensor<8x7x7x512xf32> {
  %y = tracea.conv2d layout nhwc filter krsc ins(%x, %f : tensor<8x7x7x2048xf32>, tensor<512x1x1x2048xf32>) outs(%d : tensor<8x7x7x512xf32>)
         epilogue(%z by affine_map<(n, p, q, k) -> (n, p, q, k)> : tensor<8x7x7x512xf32>) {
    ^bb0(%sum: f32, %o: f32):
      %s = arith.addf %sum, %o : f32
      tracea.yield %s : f32
  }
  return %y : tensor<8x7x7x512xf32>
}

// -----

// With channels first the pixels of each image are one row, with the same filter; of few pixels and
// many channels, these come last first.
// FEW-LABEL: func.func @rows_of_channels(
// FEW-SAME:    %[[X:[a-z0-9]+]]: tensor<2x64x56x56xf32>, %[[F:[a-z0-9]+]]: tensor<256x64x1x1xf32>
// FEW:         %[[C:.*]] = tensor.collapse_shape %[[X]] {{\[}}[0], [1], [2, 3]] : tensor<2x64x56x56xf32> into tensor<2x64x3136xf32>
// FEW:         %[[I:.*]] = tensor.expand_shape %[[C]] {{\[}}[0], [1], [2, 3]] {{.*}} into tensor<2x64x1x3136xf32>
// FEW:         tracea.conv2d layout nchw filter kcrs ins(%[[I]], %[[F]] : tensor<2x64x1x3136xf32>, tensor<256x64x1x1xf32>) outs(%{{[a-z0-9_]+}} : tensor<2x256x1x3136xf32>)
// FEW-LABEL: func.func @few_pixels(
// FEW:         tracea.conv2d layout nhwc filter {{.*}} : tensor<1x1x392x2048xf32>
func.func @rows_of_channels(%x: tensor<2x64x56x56xf32>, %f: tensor<256x64x1x1xf32> {tracea.constant}, %d: tensor<2x256x56x56xf32>) -> tensor<2x256x56x56xf32> {
  %y = tracea.conv2d layout nchw filter kcrs ins(%x, %f : tensor<2x64x56x56xf32>, tensor<256x64x1x1xf32>) outs(%d : tensor<2x256x56x56xf32>)
  return %y : tensor<2x256x56x56xf32>
}
func.func @few_pixels(%x: tensor<8x2048x7x7xf32>, %f: tensor<512x2048x1x1xf32> {tracea.constant}, %d: tensor<8x512x7x7xf32>) -> tensor<8x512x7x7xf32> {
  %y = tracea.conv2d layout nchw filter kcrs ins(%x, %f : tensor<8x2048x7x7xf32>, tensor<512x2048x1x1xf32>) outs(%d : tensor<8x512x7x7xf32>)
  return %y : tensor<8x512x7x7xf32>
}
