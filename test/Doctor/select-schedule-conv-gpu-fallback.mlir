// What no variant of a GPU computes is loops over its elements, and why is said.
// RUN: tracea-opt %s --tracea-select-schedule="target=sm_80" -o %t.mlir --remark-format=emitRemark --remarks-filter=tracea-doctor 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=SCHEDULE < %t.mlir

// CHECK: tracea.conv2d: falls back to 'linalg', which spells the operation out as loops over scalars
// CHECK: 'conv2d.warp' is not taken: expected a filter whose height and width are known
// CHECK: 'conv2d.tf32x3' is not taken: expected a filter whose height and width are known
// CHECK: 'conv2d.simt' is not taken: expected a filter whose height and width are known
// SCHEDULE: schedule <variant = "linalg"
func.func @taps(%x: tensor<2x8x8x32xf16>, %w: tensor<32x?x3x32xf16>, %d: tensor<2x6x6x32xf16>) -> tensor<2x6x6x32xf16> {
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<2x8x8x32xf16>, tensor<32x?x3x32xf16>) outs(%d : tensor<2x6x6x32xf16>)
  return %0 : tensor<2x6x6x32xf16>
}

// CHECK: tracea.conv2d: falls back to 'linalg'
// CHECK: 'conv2d.warp' is not taken: expected groups whose channels and filters are known
// CHECK: 'conv2d.tf32x3' is not taken: expected groups whose channels and filters are known
// CHECK: 'conv2d.simt' is not taken: expected groups whose channels and filters are known
func.func @groups(%x: tensor<2x8x8x?xf16>, %w: tensor<32x3x3x?xf16>, %d: tensor<2x6x6x32xf16>) -> tensor<2x6x6x32xf16> {
  %0 = tracea.conv2d layout nhwc filter krsc groups 4 ins(%x, %w : tensor<2x8x8x?xf16>, tensor<32x3x3x?xf16>) outs(%d : tensor<2x6x6x32xf16>)
  return %0 : tensor<2x6x6x32xf16>
}

// Tiles of a filter or two a group are nearly all padding.
// CHECK: tracea.conv2d: falls back to 'linalg'
// CHECK: 'conv2d.warp' is not taken: groups of 2 filters and 1 channels fill no tile
// CHECK: 'conv2d.simt' is not taken: groups of 2 filters and 1 channels fill no tile
func.func @depthwise(%x: tensor<2x8x8x32xf16>, %w: tensor<64x3x3x1xf16>, %d: tensor<2x6x6x64xf16>) -> tensor<2x6x6x64xf16> {
  %0 = tracea.conv2d layout nhwc filter krsc groups 32 ins(%x, %w : tensor<2x8x8x32xf16>, tensor<64x3x3x1xf16>) outs(%d : tensor<2x6x6x64xf16>)
  return %0 : tensor<2x6x6x64xf16>
}
