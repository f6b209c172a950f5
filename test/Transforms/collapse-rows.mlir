// RUN: tracea-opt %s -split-input-file --tracea-collapse-rows | FileCheck %s
// RUN: tracea-opt %s -split-input-file --tracea-collapse-rows --remarks-filter="tracea-collapse-rows" --remark-policy=final --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=REMARK

// All of an image, by scales and shifts of its shape, of any number of images.
// REMARK: [Passed] RowsCollapsed | Category:tracea-collapse-rows | {{.*}}rows of 3 dimensions have 1
// CHECK-LABEL: func.func @image
// CHECK-DAG: %[[X:.*]] = tensor.collapse_shape %arg0 {{\[}}[0], [1, 2, 3]] : tensor<?x64x8x8xf32> into tensor<?x4096xf32>
// CHECK-DAG: %[[S:.*]] = tensor.collapse_shape %arg1 {{\[}}[0, 1, 2]] : tensor<64x8x8xf32> into tensor<4096xf32>
// CHECK-DAG: %[[B:.*]] = tensor.collapse_shape %arg2
// CHECK-DAG: %[[D:.*]] = tensor.collapse_shape %arg3
// CHECK: %[[Y:.*]] = tracea.layer_norm axis 1 epsilon 1.000000e-05 ins(%[[X]] : tensor<?x4096xf32>) scale(%[[S]] : tensor<4096xf32>) bias(%[[B]] : tensor<4096xf32>) outs(%[[D]] : tensor<?x4096xf32>)
// CHECK: tensor.expand_shape %[[Y]] {{\[}}[0], [1, 2, 3]] {{.*}} into tensor<?x64x8x8xf32>
func.func @image(%x: tensor<?x64x8x8xf32>, %s: tensor<64x8x8xf32>, %b: tensor<64x8x8xf32>, %d: tensor<?x64x8x8xf32>) -> tensor<?x64x8x8xf32> {
  %y = tracea.layer_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<?x64x8x8xf32>) scale(%s : tensor<64x8x8xf32>) bias(%b : tensor<64x8x8xf32>) outs(%d : tensor<?x64x8x8xf32>)
  return %y : tensor<?x64x8x8xf32>
}

// -----

// A group norm: what differs between channels keeps them apart, pixels are one.
// REMARK: rows of 3 dimensions have 2
// CHECK-LABEL: func.func @groups
// CHECK: %[[X:.*]] = tensor.collapse_shape %arg0 {{\[}}[0], [1], [2], [3, 4]] : tensor<?x8x4x8x8xbf16> into tensor<?x8x4x64xbf16>
// CHECK: tracea.layer_norm axis 2 {{.*}} ins(%[[X]] : tensor<?x8x4x64xbf16>) outs({{.*}} : tensor<?x8x4x64xbf16>) epilogue(%arg1 by #[[MAP:.*]] : tensor<8x4xbf16>)
func.func @groups(%x: tensor<?x8x4x8x8xbf16>, %s: tensor<8x4xbf16>, %d: tensor<?x8x4x8x8xbf16>) -> tensor<?x8x4x8x8xbf16> {
  %y = tracea.layer_norm axis 2 epsilon 1.0e-5 ins(%x : tensor<?x8x4x8x8xbf16>) outs(%d : tensor<?x8x4x8x8xbf16>)
       epilogue(%s by affine_map<(n, g, c, h, w) -> (g, c)> : tensor<8x4xbf16>) {
    ^bb0(%acc: f32, %scale: bf16):
      %a = arith.extf %scale : bf16 to f32
      %p = arith.mulf %acc, %a : f32
      %t = arith.truncf %p : f32 to bf16
      tracea.yield %t : bf16
  }
  return %y : tensor<?x8x4x8x8xbf16>
}

// -----

// A residual is computed and kept on the way; an operand of the row as a whole.
// CHECK-LABEL: func.func @residual
// CHECK: tracea.rms_norm axis 1 {{.*}} ins({{.*}} : tensor<16x60xf32>) prologue({{.*}} by #[[ALL:[^,]*]], %arg2 by #[[ROW:.*]] : tensor<16x60xf32>, tensor<16xf32>)
// CHECK: outs({{.*}} : tensor<16x60xf32>) keeps({{.*}} : tensor<16x60xf32>)
// CHECK-COUNT-2: tensor.expand_shape {{.*}} tensor<16x60xf32> into tensor<16x5x12xf32>
func.func @residual(%x: tensor<16x5x12xf32>, %r: tensor<16x5x12xf32>, %f: tensor<16xf32>, %d: tensor<16x5x12xf32>, %k: tensor<16x5x12xf32>) -> (tensor<16x5x12xf32>, tensor<16x5x12xf32>) {
  %y, %sum = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<16x5x12xf32>)
      prologue(%r by affine_map<(i, j, k) -> (i, j, k)>, %f by affine_map<(i, j, k) -> (i)> : tensor<16x5x12xf32>, tensor<16xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = arith.mulf %b, %c : f32
      %s = arith.addf %a, %p : f32
      tracea.yield %s, %s : f32, f32
  } outs(%d : tensor<16x5x12xf32>) keeps(%k : tensor<16x5x12xf32>)
  return %y, %sum : tensor<16x5x12xf32>, tensor<16x5x12xf32>
}

// -----

// Left alone: extents that only the run knows, an operand that has the
// dimensions in another order, a slice, and a schedule.
// CHECK-LABEL: func.func @others
// CHECK-NOT: tensor.collapse_shape
func.func @others(%a: tensor<4x?x?xf32>, %x: tensor<4x6x8xf32>, %t: tensor<8x6xf32>, %m: tensor<4x7x8xf32>, %da: tensor<4x?x?xf32>, %d: tensor<4x6x8xf32>) -> (tensor<4x?x?xf32>, tensor<4x6x8xf32>, tensor<4x6x8xf32>, tensor<4x6x8xf32>) {
  %0 = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%a : tensor<4x?x?xf32>) outs(%da : tensor<4x?x?xf32>)
  %1 = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<4x6x8xf32>) outs(%d : tensor<4x6x8xf32>)
       epilogue(%t by affine_map<(i, j, k) -> (k, j)> : tensor<8x6xf32>) {
    ^bb0(%acc: f32, %b: f32):
      %p = arith.mulf %acc, %b : f32
      tracea.yield %p : f32
  }
  %s = tensor.extract_slice %m[0, 1, 0] [4, 6, 8] [1, 1, 1] : tensor<4x7x8xf32> to tensor<4x6x8xf32>
  %2 = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%s : tensor<4x6x8xf32>) outs(%d : tensor<4x6x8xf32>)
  %3 = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<4x6x8xf32>) outs(%d : tensor<4x6x8xf32>) schedule <variant = "linalg", unit = vector>
  return %0, %1, %2, %3 : tensor<4x?x?xf32>, tensor<4x6x8xf32>, tensor<4x6x8xf32>, tensor<4x6x8xf32>
}

// -----

// Results of rows have none of the dimensions that become one.
// CHECK-LABEL: func.func @finish(
// CHECK-SAME:    %{{.*}}: tensor<?x4x8xf32>, %{{.*}}: tensor<?x4x8xf32>, %[[E:[a-z0-9]+]]: tensor<?xf32>
// CHECK:         %[[Y:.*]]:2 = tracea.rms_norm axis 1 {{.*}} outs(%{{.*}} : tensor<?x32xf32>) rows(%[[E]] : tensor<?xf32>)
// CHECK:         %[[W:.*]] = tensor.expand_shape %[[Y]]#0
// CHECK:         return %[[W]], %[[Y]]#1
func.func @finish(%x: tensor<?x4x8xf32>, %d: tensor<?x4x8xf32>, %e: tensor<?xf32>) -> (tensor<?x4x8xf32>, tensor<?xf32>) {
  %y:2 = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<?x4x8xf32>) outs(%d : tensor<?x4x8xf32>) rows(%e : tensor<?xf32>) epilogue {
    ^bb0(%a: f32):
      tracea.yield %a, %a : f32, f32
  } finish [max] {
    ^bb0(%a: f32, %b: f32):
      %q = arith.divf %a, %b : f32
      tracea.yield %q, %b : f32, f32
  }
  return %y#0, %y#1 : tensor<?x4x8xf32>, tensor<?xf32>
}

// -----

// Without elements dimensions stay: an operand may leave to the run what is joined with zero.
// CHECK-LABEL: func.func @empty(
// CHECK-NOT:     collapse_shape
// CHECK:         tracea.layer_norm axis 1 {{.*}} outs(%{{.*}} : tensor<4x6x0xf32>)
func.func @empty(%x: tensor<4x6x0xf32>, %b: tensor<?x0xf32>, %d: tensor<4x6x0xf32>) -> tensor<4x6x0xf32> {
  %y = tracea.layer_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<4x6x0xf32>) bias(%b : tensor<?x0xf32>) outs(%d : tensor<4x6x0xf32>)
  return %y : tensor<4x6x0xf32>
}
