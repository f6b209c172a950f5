// RUN: tracea-opt %s -split-input-file --tracea-expand-dgrad=stores-to-windows | FileCheck %s

// Each phase is stored to every second pixel, with the epilogue, and nothing is
// moved behind it. Where strides do not divide the extents the last phases have
// fewer rows.
// CHECK-LABEL: @strided
// CHECK-NOT: linalg.fill
// CHECK: %[[RESULT:.*]] = tensor.empty() : tensor<1x7x8x16xbf16>
// CHECK: %[[FIRST:.*]] = tensor.extract_slice %[[RESULT]][0, 0, 0, 0] [1, 4, 4, 16] [1, 2, 2, 1]
// CHECK: %[[DONE:.*]] = tracea.conv2d layout nhwc filter rsck
// CHECK-SAME: tensor<1x1x8x16xbf16>) outs(%[[FIRST]] : tensor<1x4x4x16xbf16>)
// CHECK-SAME: epilogue(%arg3 by
// CHECK: %[[NEXT:.*]] = tensor.insert_slice %[[DONE]] into %[[RESULT]][0, 0, 0, 0] [1, 4, 4, 16] [1, 2, 2, 1]
// CHECK: tensor.extract_slice %[[NEXT]][0, 0, 1, 0] [1, 4, 4, 16] [1, 2, 2, 1]
// CHECK: tensor.extract_slice %{{.*}}[0, 1, 0, 0] [1, 3, 4, 16] [1, 2, 2, 1]
// CHECK: tensor.extract_slice %{{.*}}[0, 1, 1, 0] [1, 3, 4, 16] [1, 2, 2, 1]
// CHECK: %[[CONV:.*]] = tracea.conv2d layout nhwc filter rsck pads [0, 0, 0, 1]
// CHECK-SAME: tensor<2x2x8x16xbf16>) outs(%{{.*}} : tensor<1x3x4x16xbf16>)
// CHECK: %[[ALL:.*]] = tensor.insert_slice %[[CONV]]
// CHECK: return %[[ALL]]
func.func @strided(%dy: tensor<1x4x4x8xbf16>, %w: tensor<8x3x3x16xbf16>, %d: tensor<1x7x8x16xbf16>, %b: tensor<16xf32>) -> tensor<1x7x8x16xbf16> {
  %0 = tracea.conv2d_dgrad layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1] ins(%dy, %w : tensor<1x4x4x8xbf16>, tensor<8x3x3x16xbf16>) outs(%d : tensor<1x7x8x16xbf16>)
         epilogue(%b by affine_map<(n, h, w, c) -> (c)> : tensor<16xf32>) {
    ^bb0(%acc: f32, %x: f32):
      %s = arith.addf %acc, %x : f32
      %t = arith.truncf %s : f32 to bf16
      tracea.yield %t : bf16
  }
  return %0 : tensor<1x7x8x16xbf16>
}

// -----

// Pixels that no tap meets are the epilogue of zero, and are there before.
// CHECK-LABEL: @holes
// CHECK: %[[ZEROS:.*]] = linalg.generic
// CHECK: math.exp
// CHECK: tensor.extract_slice %[[ZEROS]][0, 0, 0, 0] [1, 4, 4, 16] [1, 2, 2, 1]
// CHECK-COUNT-1: tracea.conv2d
// CHECK-NOT: tracea.conv2d
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

// What an epilogue reads by pixels lies elsewhere for each phase: sums go where
// they belong, two columns at a time here, and the epilogue comes behind them.
// CHECK-LABEL: @residual
// CHECK: tensor.empty() : tensor<1x8x8x16xf32>
// CHECK-COUNT-2: tracea.conv2d layout nhwc filter rsck {{.*}}xf32>)
// CHECK-NOT: tracea.conv2d
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %arg3 : tensor<1x8x8x16xf32>, tensor<1x8x8x16xbf16>) outs(%arg2 : tensor<1x8x8x16xbf16>)
// CHECK: arith.addf
func.func @residual(%dy: tensor<1x4x4x8xbf16>, %w: tensor<8x3x3x16xbf16>, %d: tensor<1x8x8x16xbf16>, %r: tensor<1x8x8x16xbf16>) -> tensor<1x8x8x16xbf16> {
  %0 = tracea.conv2d_dgrad layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1] ins(%dy, %w : tensor<1x4x4x8xbf16>, tensor<8x3x3x16xbf16>) outs(%d : tensor<1x8x8x16xbf16>)
         epilogue(%r by affine_map<(n, h, w, c) -> (n, h, w, c)> : tensor<1x8x8x16xbf16>) {
    ^bb0(%acc: f32, %x: bf16):
      %e = arith.extf %x : bf16 to f32
      %s = arith.addf %acc, %e : f32
      %t = arith.truncf %s : f32 to bf16
      tracea.yield %t : bf16
  }
  return %0 : tensor<1x8x8x16xbf16>
}

// They are rounded where they are stored, if the epilogue rounds them before all
// else.
// CHECK-LABEL: @mask
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<1x8x8x16xbf16>
// CHECK-COUNT-2: tracea.conv2d layout nhwc filter rsck {{.*}}xbf16>) epilogue
// CHECK-NOT: tracea.conv2d
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %arg3 : tensor<1x8x8x16xbf16>, tensor<1x8x8x16xbf16>) outs(%arg2 : tensor<1x8x8x16xbf16>)
// CHECK: arith.select
func.func @mask(%dy: tensor<1x4x4x8xbf16>, %w: tensor<8x3x3x16xbf16>, %d: tensor<1x8x8x16xbf16>, %r: tensor<1x8x8x16xbf16>) -> tensor<1x8x8x16xbf16> {
  %0 = tracea.conv2d_dgrad layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1] ins(%dy, %w : tensor<1x4x4x8xbf16>, tensor<8x3x3x16xbf16>) outs(%d : tensor<1x8x8x16xbf16>)
         epilogue(%r by affine_map<(n, h, w, c) -> (n, h, w, c)> : tensor<1x8x8x16xbf16>) {
    ^bb0(%acc: f32, %x: bf16):
      %zero = arith.constant 0.0 : bf16
      %t = arith.truncf %acc : f32 to bf16
      %c = arith.cmpf ole, %x, %zero : bf16
      %s = arith.select %c, %zero, %t : bf16
      tracea.yield %s : bf16
  }
  return %0 : tensor<1x8x8x16xbf16>
}

// Channels first have no rows of channels, and of extents that only the run knows
// no type says how far rows lie apart: phases lie one behind the other.
// CHECK-LABEL: @channels_first
// CHECK: tensor.empty() : tensor<2x2x1x16x4x4xbf16>
func.func @channels_first(%dy: tensor<1x8x4x4xbf16>, %w: tensor<8x16x3x3xbf16>, %d: tensor<1x16x8x8xbf16>) -> tensor<1x16x8x8xbf16> {
  %0 = tracea.conv2d_dgrad layout nchw filter kcrs strides [2, 2] pads [1, 1, 1, 1] ins(%dy, %w : tensor<1x8x4x4xbf16>, tensor<8x16x3x3xbf16>) outs(%d : tensor<1x16x8x8xbf16>)
  return %0 : tensor<1x16x8x8xbf16>
}

// CHECK-LABEL: @open
// CHECK-NOT: tensor.insert_slice {{.*}} [1, 2, 2, 1]
func.func @open(%dy: tensor<1x?x4x8xbf16>, %w: tensor<8x3x3x16xbf16>, %d: tensor<1x?x8x16xbf16>) -> tensor<1x?x8x16xbf16> {
  %0 = tracea.conv2d_dgrad layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1] ins(%dy, %w : tensor<1x?x4x8xbf16>, tensor<8x3x3x16xbf16>) outs(%d : tensor<1x?x8x16xbf16>)
  return %0 : tensor<1x?x8x16xbf16>
}

// -----

// Without operands of an epilogue two columns leave together: the channels of
// both are outputs of one convolution. The left one meets one column of the
// gradient, by the middle tap, the right one that and the next: of four taps one
// is zero. One kernel makes the filters of both phases of rows.
// CHECK-LABEL: @pairs
// CHECK-SAME: (%[[DY:.*]]: tensor<?x4x4x8xbf16>, %[[W:.*]]: tensor<8x3x3x16xbf16>,
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<3x2x8x2x16xbf16>)
// CHECK: %[[SOME:.*]] = tensor.extract %[[W]]
// CHECK: arith.select %{{.*}}, %[[SOME]], %{{.*}} : bf16
// CHECK: %[[TAPS:.*]] = tensor.collapse_shape %{{.*}} into tensor<3x2x8x32xbf16>
// CHECK: %[[ONE:.*]] = tensor.extract_slice %[[TAPS]][0, 0, 0, 0] [1, 2, 8, 32] [1, 1, 1, 1]
// CHECK: %[[EVEN:.*]] = tensor.extract_slice %{{.*}}[0, 0, 0, 0] [%{{.*}}, 4, 4, 32] [1, 2, 1, 1]
// CHECK: tracea.conv2d layout nhwc filter rsck pads [0, 0, 0, 1] ins(%[[DY]], %[[ONE]] :
// CHECK-SAME: outs(%[[EVEN]] : tensor<?x4x4x32xbf16>)
// CHECK: %[[TWO:.*]] = tensor.extract_slice %[[TAPS]][1, 0, 0, 0] [2, 2, 8, 32] [1, 1, 1, 1]
// CHECK: tensor.extract_slice %{{.*}}[0, 1, 0, 0] [%{{.*}}, 4, 4, 32] [1, 2, 1, 1]
// CHECK: tracea.conv2d layout nhwc filter rsck pads [0, 0, 1, 1] ins(%[[DY]], %[[TWO]] :
// CHECK-NOT: tracea.conv2d
// CHECK: tensor.expand_shape {{.*}} into tensor<?x8x4x2x16xbf16>
// CHECK: tensor.collapse_shape {{.*}} into tensor<?x8x8x16xbf16>
func.func @pairs(%dy: tensor<?x4x4x8xbf16>, %w: tensor<8x3x3x16xbf16>, %d: tensor<?x8x8x16xbf16>) -> tensor<?x8x8x16xbf16> {
  %0 = tracea.conv2d_dgrad layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1] ins(%dy, %w : tensor<?x4x4x8xbf16>, tensor<8x3x3x16xbf16>) outs(%d : tensor<?x8x8x16xbf16>)
  return %0 : tensor<?x8x8x16xbf16>
}

// -----

// An odd width has a column without a neighbour; of one tap half of the products
// would be by zeros; products of f32 sum along rows of their filters.
// CHECK-LABEL: @odd_width
// CHECK-COUNT-4: tracea.conv2d
func.func @odd_width(%dy: tensor<1x4x4x8xbf16>, %w: tensor<8x3x3x16xbf16>, %d: tensor<1x8x7x16xbf16>) -> tensor<1x8x7x16xbf16> {
  %0 = tracea.conv2d_dgrad layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1] ins(%dy, %w : tensor<1x4x4x8xbf16>, tensor<8x3x3x16xbf16>) outs(%d : tensor<1x8x7x16xbf16>)
  return %0 : tensor<1x8x7x16xbf16>
}
// CHECK-LABEL: @one_tap
// CHECK-COUNT-1: tracea.conv2d
// CHECK-NOT: tracea.conv2d
// CHECK-LABEL: @single
func.func @one_tap(%dy: tensor<1x4x4x8xbf16>, %w: tensor<8x1x1x16xbf16>, %d: tensor<1x8x8x16xbf16>) -> tensor<1x8x8x16xbf16> {
  %0 = tracea.conv2d_dgrad layout nhwc filter krsc strides [2, 2] ins(%dy, %w : tensor<1x4x4x8xbf16>, tensor<8x1x1x16xbf16>) outs(%d : tensor<1x8x8x16xbf16>)
  return %0 : tensor<1x8x8x16xbf16>
}
// CHECK-COUNT-4: tracea.conv2d
func.func @single(%dy: tensor<1x4x4x8xf32>, %w: tensor<8x3x3x16xf32>, %d: tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32> {
  %0 = tracea.conv2d_dgrad layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1] ins(%dy, %w : tensor<1x4x4x8xf32>, tensor<8x3x3x16xf32>) outs(%d : tensor<1x8x8x16xf32>)
  return %0 : tensor<1x8x8x16xf32>
}

// -----

// A module that names its target is for no other, whatever the option says.
#cpu = #tracea.target<kind = cpu, name = "x86-64-v4", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4">
module attributes {tracea.target = #cpu} {
// CHECK-LABEL: @for_cpu
// CHECK: tensor.empty() : tensor<2x2x1x4x4x16xbf16>
func.func @for_cpu(%dy: tensor<1x4x4x8xbf16>, %w: tensor<8x3x3x16xbf16>, %d: tensor<1x8x8x16xbf16>) -> tensor<1x8x8x16xbf16> {
  %0 = tracea.conv2d_dgrad layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1] ins(%dy, %w : tensor<1x4x4x8xbf16>, tensor<8x3x3x16xbf16>) outs(%d : tensor<1x8x8x16xbf16>)
  return %0 : tensor<1x8x8x16xbf16>
}
}
