// RUN: tracea-opt %s -split-input-file --tracea-fold-pads | FileCheck %s
// RUN: tracea-opt %s -split-input-file --tracea-fold-pads --remarks-filter-missed="tracea-fold-pads" --remark-policy=final --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=REMARK

// pads are [top, left, bottom, right]; those that are there add up.
// CHECK-LABEL: func.func @nhwc
// CHECK-NOT: tensor.pad
// CHECK: tracea.conv2d
// CHECK-SAME: pads [2, 2, 3, 5]
// CHECK-SAME: ins(%arg0, %arg1 : tensor<1x8x8x4xf32>
func.func @nhwc(%x: tensor<1x8x8x4xf32>, %w: tensor<16x3x3x4xf32>, %d: tensor<1x11x13x16xf32>) -> tensor<1x11x13x16xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 2, 0] high[0, 3, 4, 0] {
    ^bb0(%n: index, %h: index, %v: index, %c: index):
      tensor.yield %zero : f32
  } : tensor<1x8x8x4xf32> to tensor<1x12x14x4xf32>
  %0 = tracea.conv2d layout nhwc filter krsc pads [1, 0, 0, 1] ins(%p, %w : tensor<1x12x14x4xf32>, tensor<16x3x3x4xf32>) outs(%d : tensor<1x11x13x16xf32>)
  return %0 : tensor<1x11x13x16xf32>
}

// -----

// CHECK-LABEL: func.func @nchw_dynamic
// CHECK-NOT: tensor.pad
// CHECK: tracea.conv2d
// CHECK-SAME: nchw
// CHECK-SAME: pads [1, 2, 3, 4]
// CHECK-SAME: ins(%arg0, %arg1 : tensor<?x4x?x8xf16>
func.func @nchw_dynamic(%x: tensor<?x4x?x8xf16>, %w: tensor<16x4x3x3xf16>, %d: tensor<?x16x?x12xf16>) -> tensor<?x16x?x12xf16> {
  %zero = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 0, 1, 2] high[0, 0, 3, 4] {
    ^bb0(%n: index, %h: index, %v: index, %c: index):
      tensor.yield %zero : f16
  } : tensor<?x4x?x8xf16> to tensor<?x4x?x14xf16>
  %0 = tracea.conv2d layout nchw filter kcrs ins(%p, %w : tensor<?x4x?x14xf16>, tensor<16x4x3x3xf16>) outs(%d : tensor<?x16x?x12xf16>)
  return %0 : tensor<?x16x?x12xf16>
}

// -----

// The same as an insertion into zeros.
// CHECK-LABEL: func.func @insertion
// CHECK-NOT: tensor.insert_slice
// CHECK: tracea.conv2d
// CHECK-SAME: pads [1, 1, 1, 1]
// CHECK-SAME: ins(%arg0, %arg1
func.func @insertion(%x: tensor<1x8x8x4xf32>, %w: tensor<16x3x3x4xf32>, %d: tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10x10x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x10x10x4xf32>) -> tensor<1x10x10x4xf32>
  %p = tensor.insert_slice %x into %z[0, 1, 1, 0] [1, 8, 8, 4] [1, 1, 1, 1] : tensor<1x8x8x4xf32> into tensor<1x10x10x4xf32>
  %0 = tracea.conv2d layout nhwc filter krsc ins(%p, %w : tensor<1x10x10x4xf32>, tensor<16x3x3x4xf32>) outs(%d : tensor<1x8x8x16xf32>)
  return %0 : tensor<1x8x8x16xf32>
}

// -----

// REMARK: [Missed] PadNotFolded | Category:tracea-fold-pads | Operation=tracea.conv2d, Reason="the padding value is not a constant zero"
// CHECK-LABEL: func.func @ones
// CHECK: tensor.pad
// CHECK: tracea.conv2d
// CHECK-NOT: pads
func.func @ones(%x: tensor<1x8x8x4xf32>, %w: tensor<16x3x3x4xf32>, %d: tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32> {
  %one = arith.constant 1.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%n: index, %h: index, %v: index, %c: index):
      tensor.yield %one : f32
  } : tensor<1x8x8x4xf32> to tensor<1x10x10x4xf32>
  %0 = tracea.conv2d layout nhwc filter krsc ins(%p, %w : tensor<1x10x10x4xf32>, tensor<16x3x3x4xf32>) outs(%d : tensor<1x8x8x16xf32>)
  return %0 : tensor<1x8x8x16xf32>
}

// -----

// REMARK: PadNotFolded {{.*}}Reason="batch or channels are padded"
// CHECK-LABEL: func.func @channels
// CHECK: tensor.pad
func.func @channels(%x: tensor<1x8x8x3xf32>, %w: tensor<16x3x3x4xf32>, %d: tensor<1x6x6x16xf32>) -> tensor<1x6x6x16xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 0, 0] high[0, 0, 0, 1] {
    ^bb0(%n: index, %h: index, %v: index, %c: index):
      tensor.yield %zero : f32
  } : tensor<1x8x8x3xf32> to tensor<1x8x8x4xf32>
  %0 = tracea.conv2d layout nhwc filter krsc ins(%p, %w : tensor<1x8x8x4xf32>, tensor<16x3x3x4xf32>) outs(%d : tensor<1x6x6x16xf32>)
  return %0 : tensor<1x6x6x16xf32>
}

// -----

// REMARK: PadNotFolded {{.*}}Reason="the amount of padding is not known"
// CHECK-LABEL: func.func @unknown_amount
// CHECK: tensor.pad
func.func @unknown_amount(%x: tensor<1x8x8x4xf32>, %w: tensor<16x3x3x4xf32>, %d: tensor<1x?x6x16xf32>, %a: index) -> tensor<1x?x6x16xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, %a, 0, 0] high[0, 0, 0, 0] {
    ^bb0(%n: index, %h: index, %v: index, %c: index):
      tensor.yield %zero : f32
  } : tensor<1x8x8x4xf32> to tensor<1x?x8x4xf32>
  %0 = tracea.conv2d layout nhwc filter krsc ins(%p, %w : tensor<1x?x8x4xf32>, tensor<16x3x3x4xf32>) outs(%d : tensor<1x?x6x16xf32>)
  return %0 : tensor<1x?x6x16xf32>
}
