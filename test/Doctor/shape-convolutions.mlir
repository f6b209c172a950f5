// RUN: tracea-opt %s -split-input-file --tracea-shape-convolutions="target=sm_90a" --canonicalize | FileCheck %s
// RUN: tracea-opt %s -split-input-file --tracea-shape-convolutions="target=sm_90a" --remarks-filter=tracea-doctor --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: tracea-opt %s -split-input-file --tracea-shape-convolutions="target=x86-64-v4" | FileCheck %s --check-prefix=CPU

// On a CPU images go to channels last where rows of pixels do not fill vectors, and results back; where results are
// many for what is multiplied, or more than the second level holds, and gradients, stay as they are.
// CPU-LABEL: func.func @first_layer(
// CPU-NOT:     linalg
// CPU-LABEL: func.func @channels_first(
// CPU-NOT:     linalg
// CPU-LABEL: func.func @two(
// CPU-NOT:     linalg
// CPU-LABEL: func.func @both(
// CPU-NOT:     linalg
// CPU-LABEL: func.func @filter_gradient(
// CPU-NOT:     linalg
// CPU-LABEL: func.func @large_result(
// CPU-NOT:     linalg
// CPU-LABEL: func.func @constant_filter(
// CPU:         linalg.transpose
// CPU-LABEL: func.func @changing_filter(
// CPU-NOT:     linalg.transpose
// CPU-LABEL: func.func @small_image(
// CPU:         linalg.transpose ins(%arg0 : {{.*}} permutation = [0, 2, 3, 1]
// CPU:         linalg.transpose ins(%arg1 : {{.*}} permutation = [0, 2, 3, 1]
// CPU:         tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1]
// CPU:         linalg.transpose {{.*}} permutation = [0, 3, 1, 2]

// An image of three channels: what seven taps of a row see of it, 21 elements, is the channels of one pixel.
// REMARK: [Passed] convolution-shaped {{.*}} Remark="the convolution has the taps of a row as channels: the cost model expects {{[0-9]+}} cycles with its copies in place of {{[0-9]+}}
// CHECK: #[[WINDOW:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2 * 6 + d3)>
// CHECK-LABEL: func.func @first_layer(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<32x224x224x3xbf16>, %[[F:[a-z0-9]+]]: tensor<64x7x7x3xbf16>
// CHECK-DAG:     %[[END:.*]] = arith.constant 21 : index
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0.0{{.*}} : bf16
// CHECK:         %[[ROW:.*]] = tensor.collapse_shape %[[X]] {{\[}}[0], [1], [2, 3]] : tensor<32x224x224x3xbf16> into tensor<32x224x672xbf16>
// CHECK:         %[[BORDER:.*]] = tensor.pad %[[ROW]] low[0, 0, 9] high[0, 0, 17]
// CHECK:         %[[WINDOWS:.*]] = linalg.generic {indexing_maps = [#[[WINDOW]], {{.*}} ins(%[[BORDER]] : tensor<32x224x698xbf16>) outs(%{{.*}} : tensor<32x224x112x32xbf16>)
// CHECK:         ^bb0(%[[IN:.*]]: bf16, %{{.*}}: bf16):
// CHECK:           %[[PLACE:.*]] = linalg.index 3
// CHECK:           %[[SEEN:.*]] = arith.cmpi slt, %[[PLACE]], %[[END]]
// CHECK:           arith.select %[[SEEN]], %[[IN]], %[[ZERO]]
// CHECK:         %[[TAPS:.*]] = tensor.collapse_shape %[[F]] {{\[}}[0], [1], [2, 3]] : tensor<64x7x7x3xbf16> into tensor<64x7x21xbf16>
// CHECK:         %[[ROUND:.*]] = tensor.pad %[[TAPS]] low[0, 0, 0] high[0, 0, 11]
// CHECK:         %[[ONE:.*]] = tensor.expand_shape %[[ROUND]] {{\[}}[0], [1], [2, 3]] output_shape [64, 7, 1, 32]
// CHECK:         %[[Y:[^ ]*]] = tracea.conv2d layout nhwc filter krsc strides [2, 1] pads [3, 0, 3, 0] ins(%[[WINDOWS]], %[[ONE]] : {{.*}}) epilogue {
// CHECK:         return %[[Y]]
func.func @first_layer(%x: tensor<32x224x224x3xbf16>, %f: tensor<64x7x7x3xbf16>) -> tensor<32x112x112x64xbf16> {
  %d = tensor.empty() : tensor<32x112x112x64xbf16>
  %y = tracea.conv2d layout nhwc filter krsc strides [2, 2] pads [3, 3, 3, 3] ins(%x, %f : tensor<32x224x224x3xbf16>, tensor<64x7x7x3xbf16>) outs(%d : tensor<32x112x112x64xbf16>)
         epilogue {
    ^bb0(%sum: f32):
      %zero = arith.constant 0.0 : f32
      %relu = arith.maximumf %sum, %zero : f32
      %r = arith.truncf %relu : f32 to bf16
      tracea.yield %r : bf16
  }
  return %y : tensor<32x112x112x64xbf16>
}

// -----

// Channels first: image, filter, the residual and the result are transposed; a bias is not.
// REMARK: [Passed] convolution-shaped {{.*}} Remark="the convolution has channels last: the cost model expects {{[0-9]+}} cycles with its copies in place of {{[0-9]+}}
// CHECK: #[[CHANNEL:.*]] = affine_map<(d0, d1, d2, d3) -> (d3)>
// CHECK: #[[SAME:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func.func @channels_first(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<32x64x56x56xbf16>, %[[F:[a-z0-9]+]]: tensor<64x64x3x3xbf16>, %[[BIAS:[a-z0-9]+]]: tensor<64xf32>, %[[REST:[a-z0-9]+]]: tensor<32x64x56x56xbf16>
// CHECK:         %[[IMAGE:.*]] = linalg.transpose ins(%[[X]] : {{.*}} permutation = [0, 2, 3, 1]
// CHECK:         %[[FILTER:.*]] = linalg.transpose ins(%[[F]] : {{.*}} permutation = [0, 2, 3, 1]
// CHECK:         %[[ADDED:.*]] = linalg.transpose ins(%[[REST]] : {{.*}} permutation = [0, 2, 3, 1]
// CHECK:         %[[Y:[^ ]*]] = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] ins(%[[IMAGE]], %[[FILTER]] : {{.*}} epilogue(%[[BIAS]] by #[[CHANNEL]], %[[ADDED]] by #[[SAME]]
// CHECK:         %[[BACK:[^ ]*]] = linalg.transpose ins(%[[Y]] : {{.*}} permutation = [0, 3, 1, 2]
// CHECK:         return %[[BACK]]
func.func @channels_first(%x: tensor<32x64x56x56xbf16>, %f: tensor<64x64x3x3xbf16>, %bias: tensor<64xf32>, %rest: tensor<32x64x56x56xbf16>) -> tensor<32x64x56x56xbf16> {
  %d = tensor.empty() : tensor<32x64x56x56xbf16>
  %y = tracea.conv2d layout nchw filter kcrs pads [1, 1, 1, 1] ins(%x, %f : tensor<32x64x56x56xbf16>, tensor<64x64x3x3xbf16>) outs(%d : tensor<32x64x56x56xbf16>)
         epilogue(%bias by affine_map<(n, k, p, q) -> (k)>, %rest by affine_map<(n, k, p, q) -> (n, k, p, q)> : tensor<64xf32>, tensor<32x64x56x56xbf16>) {
    ^bb0(%sum: f32, %b: f32, %r: bf16):
      %0 = arith.addf %sum, %b : f32
      %1 = arith.extf %r : bf16 to f32
      %2 = arith.addf %0, %1 : f32
      %3 = arith.truncf %2 : f32 to bf16
      tracea.yield %3 : bf16
  }
  return %y : tensor<32x64x56x56xbf16>
}

// -----

// Between two of them nothing is transposed, for any number of images.
// CHECK-LABEL: func.func @two(
// CHECK-COUNT-2: linalg.transpose
// CHECK:         %[[ONE:[^ ]*]] = tracea.conv2d layout nhwc
// CHECK:         linalg.transpose ins(%{{.*}} : tensor<64x64x3x3xbf16>)
// CHECK:         %[[TWO:[^ ]*]] = tracea.conv2d layout nhwc {{.*}} ins(%[[ONE]], %{{.*}} : tensor<?x56x56x64xbf16>
// CHECK:         %[[BACK:[^ ]*]] = linalg.transpose ins(%[[TWO]]
// CHECK-NOT:     linalg.transpose
// CHECK:         return %[[BACK]]
func.func @two(%x: tensor<?x64x56x56xbf16>, %f: tensor<64x64x3x3xbf16>, %g: tensor<64x64x3x3xbf16>) -> tensor<?x64x56x56xbf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64x56x56xbf16>
  %d = tensor.empty(%n) : tensor<?x64x56x56xbf16>
  %y = tracea.conv2d layout nchw filter kcrs pads [1, 1, 1, 1] ins(%x, %f : tensor<?x64x56x56xbf16>, tensor<64x64x3x3xbf16>) outs(%d : tensor<?x64x56x56xbf16>)
  %z = tracea.conv2d layout nchw filter kcrs pads [1, 1, 1, 1] ins(%y, %g : tensor<?x64x56x56xbf16>, tensor<64x64x3x3xbf16>) outs(%d : tensor<?x64x56x56xbf16>)
  return %z : tensor<?x64x56x56xbf16>
}

// -----

// Both: channels first, and three of them.
// CHECK-LABEL: func.func @both(
// CHECK:         %[[LAST:.*]] = linalg.transpose ins(%{{.*}} : tensor<32x3x224x224xbf16>)
// CHECK:         tensor.collapse_shape %[[LAST]] {{.*}} into tensor<32x224x672xbf16>
// CHECK:         %[[Y:[^ ]*]] = tracea.conv2d layout nhwc filter krsc strides [2, 1] pads [3, 0, 3, 0] {{.*}} tensor<32x224x112x32xbf16>, tensor<64x7x1x32xbf16>
// CHECK:         linalg.transpose ins(%[[Y]]
func.func @both(%x: tensor<32x3x224x224xbf16>, %f: tensor<64x3x7x7xbf16>) -> tensor<32x64x112x112xbf16> {
  %d = tensor.empty() : tensor<32x64x112x112xbf16>
  %y = tracea.conv2d layout nchw filter kcrs strides [2, 2] pads [3, 3, 3, 3] ins(%x, %f : tensor<32x3x224x224xbf16>, tensor<64x3x7x7xbf16>) outs(%d : tensor<32x64x112x112xbf16>)
  return %y : tensor<32x64x112x112xbf16>
}

// -----

// Steps that are full, taps that are apart, and what somebody has decided stay.
// REMARK: [Missed] convolution-kept {{.*}} Remark="the convolution stays as it is: the cost model expects {{[0-9]+}} cycles of it, {{[0-9]+}} with the taps of a row as channels"
// CHECK-LABEL: func.func @kept(
// CHECK-NOT:     linalg
// CHECK:         tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1]
// CHECK:         tracea.conv2d layout nhwc filter krsc pads [3, 3, 3, 3] dilations [3, 3]
// CHECK:         tracea.conv2d layout nchw {{.*}} schedule <variant = "conv2d.warp"
// CHECK:         return
func.func @kept(%x: tensor<32x56x56x64xbf16>, %f: tensor<64x3x3x64xbf16>, %three: tensor<32x56x56x3xbf16>, %g: tensor<64x3x3x3xbf16>)
    -> (tensor<32x56x56x64xbf16>, tensor<32x56x56x64xbf16>, tensor<32x56x56x64xbf16>) {
  %d = tensor.empty() : tensor<32x56x56x64xbf16>
  %y = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] ins(%x, %f : tensor<32x56x56x64xbf16>, tensor<64x3x3x64xbf16>) outs(%d : tensor<32x56x56x64xbf16>)
  %z = tracea.conv2d layout nhwc filter krsc pads [3, 3, 3, 3] dilations [3, 3] ins(%three, %g : tensor<32x56x56x3xbf16>, tensor<64x3x3x3xbf16>) outs(%d : tensor<32x56x56x64xbf16>)
  %w = tensor.empty() : tensor<56x56x1x1xbf16>
  %v = tracea.conv2d layout nchw filter kcrs pads [0, 0, 0, 0] ins(%x, %w : tensor<32x56x56x64xbf16>, tensor<56x56x1x1xbf16>) outs(%d : tensor<32x56x56x64xbf16>)
         schedule <variant = "conv2d.warp", unit = mma_sync, tile = [64, 64, 32], registers = [32, 32], slots = 4>
  return %y, %z, %v : tensor<32x56x56x64xbf16>, tensor<32x56x56x64xbf16>, tensor<32x56x56x64xbf16>
}

// -----

// One filter for each channel: there are kernels for channels last alone, and the filter has its taps in a row either way.
// REMARK: [Passed] convolution-shaped {{.*}} Remark="the convolution has channels last: the cost model expects {{[0-9]+}} cycles with its copies in place of plain loops
// CHECK-LABEL: func.func @planes(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<32x96x56x56xbf16>, %[[F:[a-z0-9]+]]: tensor<96x1x3x3xbf16>
// CHECK:         %[[IMAGE:.*]] = linalg.transpose ins(%[[X]] : {{.*}} permutation = [0, 2, 3, 1]
// CHECK:         %[[Y:[^ ]*]] = tracea.conv2d layout nhwc filter kcrs pads [1, 1, 1, 1] groups 96 ins(%[[IMAGE]], %[[F]] :
// CHECK:         linalg.transpose ins(%[[Y]] : {{.*}} permutation = [0, 3, 1, 2]
func.func @planes(%x: tensor<32x96x56x56xbf16>, %f: tensor<96x1x3x3xbf16>) -> tensor<32x96x56x56xbf16> {
  %d = tensor.empty() : tensor<32x96x56x56xbf16>
  %y = tracea.conv2d layout nchw filter kcrs pads [1, 1, 1, 1] groups 96 ins(%x, %f : tensor<32x96x56x56xbf16>, tensor<96x1x3x3xbf16>) outs(%d : tensor<32x96x56x56xbf16>)
  return %y : tensor<32x96x56x56xbf16>
}

// -----

// The gradient by the filter: image and gradient are transposed, and so is what it is; what its epilogue reads of each filter is not.
// REMARK: [Passed] convolution-shaped {{.*}} Remark="the gradient has channels last: the cost model expects {{[0-9]+}} cycles with its copies in place of {{[0-9]+}}
// CHECK-LABEL: func.func @filter_gradient(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<32x64x56x56xbf16>, %[[DY:[a-z0-9]+]]: tensor<32x64x56x56xbf16>, %[[SCALE:[a-z0-9]+]]: tensor<64xf32>, %[[OLD:[a-z0-9]+]]: tensor<64x64x3x3xf32>
// CHECK-DAG:     %[[IMAGE:.*]] = linalg.transpose ins(%[[X]] : {{.*}} permutation = [0, 2, 3, 1]
// CHECK-DAG:     %[[GRADIENT:.*]] = linalg.transpose ins(%[[DY]] : {{.*}} permutation = [0, 2, 3, 1]
// CHECK-DAG:     %[[ADDED:.*]] = linalg.transpose ins(%[[OLD]] : {{.*}} permutation = [0, 2, 3, 1]
// CHECK:         %[[DW:[^ ]*]] = tracea.conv2d_wgrad layout nhwc filter krsc pads [1, 1, 1, 1] ins(%[[IMAGE]], %[[GRADIENT]] : {{.*}} epilogue(%[[SCALE]] by #{{.*}}, %[[ADDED]] by #{{.*}}
// CHECK:         %[[BACK:[^ ]*]] = linalg.transpose ins(%[[DW]] : tensor<64x3x3x64xf32>) {{.*}} permutation = [0, 3, 1, 2]
// CHECK:         return %[[BACK]]
func.func @filter_gradient(%x: tensor<32x64x56x56xbf16>, %dy: tensor<32x64x56x56xbf16>, %scale: tensor<64xf32>, %old: tensor<64x64x3x3xf32>) -> tensor<64x64x3x3xf32> {
  %d = tensor.empty() : tensor<64x64x3x3xf32>
  %dw = tracea.conv2d_wgrad layout nchw filter kcrs pads [1, 1, 1, 1] ins(%x, %dy : tensor<32x64x56x56xbf16>, tensor<32x64x56x56xbf16>) outs(%d : tensor<64x64x3x3xf32>)
         epilogue(%scale by affine_map<(k, c, r, s) -> (k)>, %old by affine_map<(k, c, r, s) -> (k, c, r, s)> : tensor<64xf32>, tensor<64x64x3x3xf32>) {
    ^bb0(%sum: f32, %a: f32, %b: f32):
      %0 = arith.mulf %sum, %a : f32
      %1 = arith.addf %0, %b : f32
      tracea.yield %1 : f32
  }
  return %dw : tensor<64x64x3x3xf32>
}

// -----

// A filter whose rows are channels already stays where it is.
// CHECK-LABEL: func.func @filter_of_channels(
// CHECK-COUNT-2: linalg.transpose
// CHECK:         %[[DW:[^ ]*]] = tracea.conv2d_wgrad layout nhwc filter krsc
// CHECK-NEXT:    return %[[DW]]
func.func @filter_of_channels(%x: tensor<32x64x56x56xbf16>, %dy: tensor<32x64x56x56xbf16>) -> tensor<64x3x3x64xbf16> {
  %d = tensor.empty() : tensor<64x3x3x64xbf16>
  %dw = tracea.conv2d_wgrad layout nchw filter krsc pads [1, 1, 1, 1] ins(%x, %dy : tensor<32x64x56x56xbf16>, tensor<32x64x56x56xbf16>) outs(%d : tensor<64x3x3x64xbf16>)
  return %dw : tensor<64x3x3x64xbf16>
}

// -----

// Of three channels: what the taps of a row see are the columns of one product, and those without a tap are left out behind it.
// REMARK: [Passed] convolution-shaped {{.*}} Remark="the gradient has the taps of a row as channels: the cost model expects {{[0-9]+}} cycles with its copies in place of {{[0-9]+}}
// CHECK-LABEL: func.func @first_filter(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<32x224x224x3xbf16>, %[[DY:[a-z0-9]+]]: tensor<32x112x112x64xbf16>
// CHECK:         %[[WINDOWS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<32x224x112x32xbf16>)
// CHECK:         %[[DW:[^ ]*]] = tracea.conv2d_wgrad layout nhwc filter krsc strides [2, 1] pads [3, 0, 3, 0] ins(%[[WINDOWS]], %[[DY]] : {{.*}}) outs(%{{.*}} : tensor<64x7x1x32xbf16>)
// CHECK:         %[[SEEN:.*]] = tensor.extract_slice %[[DW]][0, 0, 0, 0] [64, 7, 1, 21] [1, 1, 1, 1]
// CHECK:         %[[ROWS:.*]] = tensor.collapse_shape %[[SEEN]] {{\[}}[0], [1], [2, 3]] : tensor<64x7x1x21xbf16> into tensor<64x7x21xbf16>
// CHECK:         %[[TAKEN:.*]] = linalg.copy ins(%[[ROWS]]
// CHECK:         %[[TAPS:.*]] = tensor.expand_shape %[[TAKEN]] {{\[}}[0], [1], [2, 3]] output_shape [64, 7, 7, 3]
// CHECK:         return %[[TAPS]]
func.func @first_filter(%x: tensor<32x224x224x3xbf16>, %dy: tensor<32x112x112x64xbf16>) -> tensor<64x7x7x3xbf16> {
  %d = tensor.empty() : tensor<64x7x7x3xbf16>
  %dw = tracea.conv2d_wgrad layout nhwc filter krsc strides [2, 2] pads [3, 3, 3, 3] ins(%x, %dy : tensor<32x224x224x3xbf16>, tensor<32x112x112x64xbf16>) outs(%d : tensor<64x7x7x3xbf16>)
  return %dw : tensor<64x7x7x3xbf16>
}

// -----

// Both, of another filter's layout, too.
// CHECK-LABEL: func.func @both_of_filter(
// CHECK-COUNT-2: linalg.transpose
// CHECK:         %[[DW:[^ ]*]] = tracea.conv2d_wgrad layout nhwc filter krsc strides [2, 1] pads [3, 0, 3, 0]
// CHECK:         tensor.extract_slice %[[DW]]
// CHECK:         %[[TAPS:.*]] = tensor.expand_shape
// CHECK:         %[[BACK:[^ ]*]] = linalg.transpose ins(%[[TAPS]] : tensor<64x7x7x3xbf16>) {{.*}} permutation = [0, 3, 1, 2]
// CHECK:         return %[[BACK]]
// CHECK-LABEL: func.func @both_of_channels(
// CHECK-COUNT-2: linalg.transpose
// CHECK:         %[[DW:[^ ]*]] = tracea.conv2d_wgrad layout nhwc filter krsc strides [2, 1] pads [3, 0, 3, 0]
// CHECK:         %[[TAPS:.*]] = tensor.expand_shape
// CHECK-NEXT:    return %[[TAPS]]
func.func @both_of_filter(%x: tensor<32x3x224x224xbf16>, %dy: tensor<32x64x112x112xbf16>) -> tensor<64x3x7x7xbf16> {
  %d = tensor.empty() : tensor<64x3x7x7xbf16>
  %dw = tracea.conv2d_wgrad layout nchw filter kcrs strides [2, 2] pads [3, 3, 3, 3] ins(%x, %dy : tensor<32x3x224x224xbf16>, tensor<32x64x112x112xbf16>) outs(%d : tensor<64x3x7x7xbf16>)
  return %dw : tensor<64x3x7x7xbf16>
}
func.func @both_of_channels(%x: tensor<32x3x224x224xbf16>, %dy: tensor<32x64x112x112xbf16>) -> tensor<64x7x7x3xbf16> {
  %d = tensor.empty() : tensor<64x7x7x3xbf16>
  %dw = tracea.conv2d_wgrad layout nchw filter krsc strides [2, 2] pads [3, 3, 3, 3] ins(%x, %dy : tensor<32x3x224x224xbf16>, tensor<32x64x112x112xbf16>) outs(%d : tensor<64x7x7x3xbf16>)
  return %dw : tensor<64x7x7x3xbf16>
}

// -----

// Columns that the filter has not would need what the epilogue reads of each channel.
// CHECK-LABEL: func.func @channels_in_epilogue(
// CHECK-NOT:     linalg
// CHECK:         tracea.conv2d_wgrad layout nhwc filter krsc strides [2, 2] pads [3, 3, 3, 3]
func.func @channels_in_epilogue(%x: tensor<32x224x224x3xbf16>, %dy: tensor<32x112x112x64xbf16>, %scale: tensor<3xf32>) -> tensor<64x7x7x3xf32> {
  %d = tensor.empty() : tensor<64x7x7x3xf32>
  %dw = tracea.conv2d_wgrad layout nhwc filter krsc strides [2, 2] pads [3, 3, 3, 3] ins(%x, %dy : tensor<32x224x224x3xbf16>, tensor<32x112x112x64xbf16>) outs(%d : tensor<64x7x7x3xf32>)
         epilogue(%scale by affine_map<(k, r, s, c) -> (c)> : tensor<3xf32>) {
    ^bb0(%sum: f32, %a: f32):
      %0 = arith.mulf %sum, %a : f32
      tracea.yield %0 : f32
  }
  return %dw : tensor<64x7x7x3xf32>
}

// -----

// 32 groups of 8 filters and channels are 4 of 64: a tile is full, and of each the
// blocks on the diagonal are kept. What an epilogue reads by channels stands for
// those of one group.
// REMARK: [Passed] convolution-shaped {{.*}} Remark="the gradient has several groups as one: the cost model expects {{[0-9]+}} cycles with its copies in place of {{[0-9]+}}
// CHECK-DAG:   #[[OWN:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4, d1, d5)>
// CHECK-LABEL: func.func @small_groups(
// CHECK:         %[[DW:.*]] = tracea.conv2d_wgrad layout nhwc filter krsc pads [1, 1, 1, 1] groups 4
// CHECK-SAME:      outs(%{{.*}} : tensor<256x3x3x64xbf16>)
// CHECK:         %[[BLOCKS:.*]] = tensor.expand_shape %[[DW]]
// CHECK-SAME:      into tensor<4x8x8x3x3x8x8xbf16>
// CHECK:         %[[TAKEN:.*]] = linalg.generic {indexing_maps = [#[[OWN]],
// CHECK-SAME:      ins(%[[BLOCKS]] :
// CHECK:         tensor.collapse_shape %[[TAKEN]] {{.*}} into tensor<256x3x3x8xbf16>
// CHECK-LABEL: func.func @by_channel(
// CHECK-NOT:     linalg
// CHECK:         tracea.conv2d_wgrad layout nhwc filter krsc pads [1, 1, 1, 1] groups 32
func.func @small_groups(%x: tensor<32x56x56x256xbf16>, %dy: tensor<32x56x56x256xbf16>) -> tensor<256x3x3x8xbf16> {
  %d = tensor.empty() : tensor<256x3x3x8xbf16>
  %dw = tracea.conv2d_wgrad layout nhwc filter krsc pads [1, 1, 1, 1] groups 32 ins(%x, %dy : tensor<32x56x56x256xbf16>, tensor<32x56x56x256xbf16>) outs(%d : tensor<256x3x3x8xbf16>)
  return %dw : tensor<256x3x3x8xbf16>
}
func.func @by_channel(%x: tensor<32x56x56x256xbf16>, %dy: tensor<32x56x56x256xbf16>, %scale: tensor<8xf32>) -> tensor<256x3x3x8xf32> {
  %d = tensor.empty() : tensor<256x3x3x8xf32>
  %dw = tracea.conv2d_wgrad layout nhwc filter krsc pads [1, 1, 1, 1] groups 32 ins(%x, %dy : tensor<32x56x56x256xbf16>, tensor<32x56x56x256xbf16>) outs(%d : tensor<256x3x3x8xf32>)
         epilogue(%scale by affine_map<(k, r, s, c) -> (c)> : tensor<8xf32>) {
    ^bb0(%sum: f32, %a: f32):
      %0 = arith.mulf %sum, %a : f32
      tracea.yield %0 : f32
  }
  return %dw : tensor<256x3x3x8xf32>
}

// -----

func.func @large_result(%x: tensor<1x64x56x56xf32>, %f: tensor<256x64x1x1xf32> {tracea.constant}) -> tensor<1x256x56x56xf32> {
  %d = tensor.empty() : tensor<1x256x56x56xf32>
  %y = tracea.conv2d layout nchw filter kcrs ins(%x, %f : tensor<1x64x56x56xf32>, tensor<256x64x1x1xf32>) outs(%d : tensor<1x256x56x56xf32>)
  return %y : tensor<1x256x56x56xf32>
}

// -----

// A filter that is a constant is moved once: its bytes, forty times those of the image, do not count.
func.func @constant_filter(%x: tensor<1x512x4x28xf32>, %f: tensor<512x512x3x3xf32> {tracea.constant}) -> tensor<1x512x4x28xf32> {
  %d = tensor.empty() : tensor<1x512x4x28xf32>
  %y = tracea.conv2d layout nchw filter kcrs pads [1, 1, 1, 1] ins(%x, %f : tensor<1x512x4x28xf32>, tensor<512x512x3x3xf32>) outs(%d : tensor<1x512x4x28xf32>)
  return %y : tensor<1x512x4x28xf32>
}
func.func @changing_filter(%x: tensor<1x512x4x28xf32>, %f: tensor<512x512x3x3xf32>) -> tensor<1x512x4x28xf32> {
  %d = tensor.empty() : tensor<1x512x4x28xf32>
  %y = tracea.conv2d layout nchw filter kcrs pads [1, 1, 1, 1] ins(%x, %f : tensor<1x512x4x28xf32>, tensor<512x512x3x3xf32>) outs(%d : tensor<1x512x4x28xf32>)
  return %y : tensor<1x512x4x28xf32>
}

// -----

// CHECK-LABEL: func.func @small_image(
func.func @small_image(%x: tensor<1x256x14x14xf32>, %f: tensor<256x256x3x3xf32> {tracea.constant}) -> tensor<1x256x14x14xf32> {
  %d = tensor.empty() : tensor<1x256x14x14xf32>
  %y = tracea.conv2d layout nchw filter kcrs pads [1, 1, 1, 1] ins(%x, %f : tensor<1x256x14x14xf32>, tensor<256x256x3x3xf32>) outs(%d : tensor<1x256x14x14xf32>)
  return %y : tensor<1x256x14x14xf32>
}
