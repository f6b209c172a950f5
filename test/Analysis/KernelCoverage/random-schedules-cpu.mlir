// Schedules that random plans of the variants for CPUs found, of legal modules.
// RUN: tracea-opt %s --split-input-file --tracea-compile="target=x86-64-v4 threads=2 to=pipeline require-proof=true" | FileCheck %s

// A result without elements has no sums, whatever the steps of its loops are.
// CHECK-LABEL: tracea_pipe.kernel @gemm_0(
// CHECK-SAME: claim = "all elements of 1 result written exactly once,
func.func @no_rows(%a: tensor<0x385xi8>, %b: tensor<385x65xi8>, %e: tensor<0x65xi32>) -> tensor<0x65xi32> {
  %r = tracea.gemm ins(%a, %b : tensor<0x385xi8>, tensor<385x65xi8>) outs(%e : tensor<0x65xi32>)
         schedule <variant = "gemm.direct", unit = vector, tile = [1, 80, 200], registers = [1, 80]>
  return %r : tensor<0x65xi32>
}

// -----

// CHECK-LABEL: tracea_pipe.kernel @conv2d_0(
// CHECK-SAME: claim = "all elements of 1 result written exactly once,
func.func @no_images(%x: tensor<0x11x16x8xf32>, %w: tensor<62x7x7x4xf32>, %e: tensor<0x3x2x62xf32>) -> tensor<0x3x2x62xf32> {
  %r = tracea.conv2d layout nhwc filter krsc strides [2, 2] dilations [1, 2] groups 2
         ins(%x, %w : tensor<0x11x16x8xf32>, tensor<62x7x7x4xf32>) outs(%e : tensor<0x3x2x62xf32>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [3, 2, 32, 4], registers = [2, 32]>
  return %r : tensor<0x3x2x62xf32>
}

// -----

// One channel is depthwise as well.
// CHECK-LABEL: tracea_pipe.kernel @conv2d_0(
// CHECK-SAME: claim = "all elements of 1 result written exactly once, 1 sum in them as defined with each term once,
func.func @one_channel(%x: tensor<2x28x28x1xf32>, %w: tensor<1x5x5x1xf32>, %e: tensor<2x24x24x1xf32>) -> tensor<2x24x24x1xf32> {
  %r = tracea.conv2d layout nhwc filter krsc
         ins(%x, %w : tensor<2x28x28x1xf32>, tensor<1x5x5x1xf32>) outs(%e : tensor<2x24x24x1xf32>)
         schedule <variant = "conv2d.depthwise", unit = vector, tile = [6, 1, 16], registers = [1, 16]>
  return %r : tensor<2x24x24x1xf32>
}

// -----

// The filter's type tells that the result has one channel.
// CHECK-LABEL: tracea_pipe.kernel @conv2d_0(
// CHECK-SAME: claim = "all elements of 1 result written exactly once, 1 sum in them as defined with each term once,
func.func @channel_of_filter(%x: tensor<?x1x16x22xf64>, %w: tensor<1x1x1x1xf64>, %e: tensor<?x?x?x?xf64>) -> tensor<?x?x?x?xf64> {
  %r = tracea.conv2d layout nchw filter krsc strides [1, 2] pads [1, 1, 3, 3] dilations [3, 3]
         ins(%x, %w : tensor<?x1x16x22xf64>, tensor<1x1x1x1xf64>) outs(%e : tensor<?x?x?x?xf64>)
         schedule <variant = "conv2d.patch", unit = vector, tile = [8, 64, 1, 1], registers = [1, 16]>
  return %r : tensor<?x?x?x?xf64>
}

// -----

// The window lets the one query see the last key: what is masked weighs nothing.
// CHECK-LABEL: tracea_pipe.kernel @attention_0(
// CHECK-SAME: claim = "all elements of 1 result written exactly once,
func.func @window(%q: tensor<3x2x1x65xf32>, %k: tensor<3x1x33x65xf32>, %v: tensor<3x1x33x65xf32>, %e: tensor<3x2x1x65xf32>) -> tensor<3x2x1x65xf32> {
  %r = tracea.attention window [0, 1] ins(%q, %k, %v : tensor<3x2x1x65xf32>, tensor<3x1x33x65xf32>, tensor<3x1x33x65xf32>)
         outs(%e : tensor<3x2x1x65xf32>)
         schedule <variant = "attention.flash", unit = vector, tile = [1, 48], registers = [1, 48]> -> tensor<3x2x1x65xf32>
  return %r : tensor<3x2x1x65xf32>
}

// -----

// Keys of one element are no sums: the weights alone are, in lanes, and what is multiplied with them is claimed.
// CHECK-LABEL: tracea_pipe.kernel @attention_0(
// CHECK-SAME: claim = "all elements of 1 result written exactly once, {{.*}} 1 operand of sums with each term once,
func.func @short_heads(%q: tensor<3x3x100x1xf16>, %k: tensor<3x1x17x1xf16>, %v: tensor<3x1x17x1xf16>, %e: tensor<3x3x100x1xf32>) -> tensor<3x3x100x1xf32> {
  %r = tracea.attention ins(%q, %k, %v : tensor<3x3x100x1xf16>, tensor<3x1x17x1xf16>, tensor<3x1x17x1xf16>)
         outs(%e : tensor<3x3x100x1xf32>)
         schedule <variant = "attention.flash", unit = vector, tile = [64, 32], registers = [4, 32]> -> tensor<3x3x100x1xf32>
  return %r : tensor<3x3x100x1xf32>
}

// -----

// A causal mask depends on the element, so that what is multiplied is claimed.
// CHECK-LABEL: tracea_pipe.kernel @attention_0(
// CHECK-SAME: claim = "all elements of 1 result written exactly once, {{.*}} 1 operand of sums with each term once,
func.func @causal(%q: tensor<1x1x3x1xf32>, %e: tensor<1x1x3x1xf32>) -> tensor<1x1x3x1xf32> {
  %r = tracea.attention causal ins(%q, %q, %q : tensor<1x1x3x1xf32>, tensor<1x1x3x1xf32>, tensor<1x1x3x1xf32>)
         outs(%e : tensor<1x1x3x1xf32>)
         schedule <variant = "attention.flash", unit = vector, tile = [4, 16], registers = [4, 16]> -> tensor<1x1x3x1xf32>
  return %r : tensor<1x1x3x1xf32>
}

// -----

// Weights over keys of one element, and the blocks of keys that a mask has: one loop walks along both.
// CHECK-LABEL: tracea_pipe.kernel @attention_0(
// CHECK-SAME: claim = "all elements of 1 result written exactly once,
func.func @blocks(%q: tensor<?x1x127x1xbf16>, %k: tensor<2x?x32x1xbf16>, %v: tensor<?x1x?x1xbf16>, %m: tensor<1x1x64x?xi1>, %e: tensor<?x1x127x1xbf16>) -> tensor<?x1x127x1xbf16> {
  %r = tracea.attention window [1, 0] scale 3.000000e-01 ins(%q, %k, %v : tensor<?x1x127x1xbf16>, tensor<2x?x32x1xbf16>, tensor<?x1x?x1xbf16>)
         block_mask(%m : tensor<1x1x64x?xi1>) block_size [2, 16] outs(%e : tensor<?x1x127x1xbf16>)
         schedule <variant = "attention.flash", unit = vector, tile = [64, 32], registers = [2, 16]> -> tensor<?x1x127x1xbf16>
  return %r : tensor<?x1x127x1xbf16>
}
