// Convolutions on GPUs are products of pixels by filters: of their tiles, and of what they cost.
// RUN: tracea-opt %s --tracea-select-schedule="target=sm_80" --split-input-file \
// RUN:   --remark-format=emitRemark --remarks-filter=tracea-doctor 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

// CHECK-LABEL: @halves
// CHECK: schedule <variant = "conv2d.warp", unit = mma_sync, tile = [128, 64, 32], registers = [64, 32], slots = 4, group = 16>
// REMARK: tracea.conv2d: takes 'conv2d.warp' with tile = [128, 64, 32]{{.*}}; it multiplies pixels by filters, tap by tap, without a matrix of the image's windows
// REMARK-SAME: it is a product of 100352 pixels by 64 filters, summed over 576 taps and channels in steps of 32
// REMARK: 'conv2d.simt' is not taken: the cost model expects {{[0-9.]+}} times the cycles
// REMARK: 'conv2d.tf32x3' is not taken: expected operands of f32, found f16
func.func @halves(%x: tensor<32x56x56x64xf16>, %w: tensor<64x3x3x64xf16>, %d: tensor<32x56x56x64xf16>) -> tensor<32x56x56x64xf16> {
  %0 = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] ins(%x, %w : tensor<32x56x56x64xf16>, tensor<64x3x3x64xf16>) outs(%d : tensor<32x56x56x64xf16>)
  return %0 : tensor<32x56x56x64xf16>
}

// -----

// A tap takes whole steps: 9 taps of 40 channels are 18 steps of 32.
// CHECK-LABEL: @groups
// CHECK: variant = "conv2d.warp"
// REMARK: it is 4 products of ? pixels by 40 filters, summed over 576 taps and channels in steps of 32
func.func @groups(%x: tensor<?x56x56x160xf16>, %w: tensor<160x3x3x40xf16>, %d: tensor<?x56x56x160xf16>) -> tensor<?x56x56x160xf16> {
  %0 = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] groups 4 ins(%x, %w : tensor<?x56x56x160xf16>, tensor<160x3x3x40xf16>) outs(%d : tensor<?x56x56x160xf16>)
  return %0 : tensor<?x56x56x160xf16>
}

// -----

// Nothing is rounded that has not agreed to it.
// CHECK-LABEL: @singles
// CHECK: variant = "conv2d.simt", unit = vector
// CHECK-LABEL: @rounded
// CHECK: variant = "conv2d.warp", unit = mma_sync
// CHECK-LABEL: @parts
// CHECK: variant = "conv2d.tf32x3", unit = mma_sync
// REMARK: tracea.conv2d: takes 'conv2d.simt'{{.*}} the units would round f32 to tf32
// REMARK: tracea.conv2d: takes 'conv2d.warp'
// REMARK: tracea.conv2d: takes 'conv2d.tf32x3'
func.func @singles(%x: tensor<8x28x28x128xf32>, %w: tensor<128x3x3x128xf32>, %d: tensor<8x26x26x128xf32>) -> tensor<8x26x26x128xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<8x28x28x128xf32>, tensor<128x3x3x128xf32>) outs(%d : tensor<8x26x26x128xf32>)
  return %0 : tensor<8x26x26x128xf32>
}
func.func @rounded(%x: tensor<8x28x28x128xf32>, %w: tensor<128x3x3x128xf32>, %d: tensor<8x26x26x128xf32>) -> tensor<8x26x26x128xf32> attributes {tracea.allow_tf32} {
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<8x28x28x128xf32>, tensor<128x3x3x128xf32>) outs(%d : tensor<8x26x26x128xf32>)
  return %0 : tensor<8x26x26x128xf32>
}
func.func @parts(%x: tensor<8x28x28x128xf32>, %w: tensor<128x3x3x128xf32>, %d: tensor<8x26x26x128xf32>) -> tensor<8x26x26x128xf32> attributes {tracea.allow_tf32x3} {
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<8x28x28x128xf32>, tensor<128x3x3x128xf32>) outs(%d : tensor<8x26x26x128xf32>)
  return %0 : tensor<8x26x26x128xf32>
}
