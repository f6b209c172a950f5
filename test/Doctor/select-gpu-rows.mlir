// Which lanes, vectors and parts rows have on a GPU.
// RUN: tracea-opt %s --tracea-select-schedule=target=sm_90a | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func.func @short(
// CHECK:         tile = [16, 128], lanes = 16, vector = 8, residents = 8>
func.func @short(%x: tensor<?x128xbf16>) -> tensor<?x128xbf16> {
  %0 = tracea.softmax dim 1 ins(%x : tensor<?x128xbf16>) outs(%x : tensor<?x128xbf16>)
  return %0 : tensor<?x128xbf16>
}

// One row is a warp's.
// CHECK-LABEL: func.func @single(
// CHECK:         tile = [1, 256], lanes = 32, vector = 8,
func.func @single(%x: tensor<63xf16>) -> tensor<63xf16> {
  %0 = tracea.softmax dim 0 ins(%x : tensor<63xf16>) outs(%x : tensor<63xf16>)
  return %0 : tensor<63xf16>
}

// CHECK-LABEL: func.func @held(
// CHECK:         tile = [1, 4096], lanes = 128, vector = 8, residents = 6>
func.func @held(%x: tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
  %0 = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<?x4096xbf16>) outs(%x : tensor<?x4096xbf16>)
  return %0 : tensor<?x4096xbf16>
}

// Rows of two tensors have two vectors of each, and two workgroups a multiprocessor at least.
// CHECK-LABEL: func.func @two_tensors(
// CHECK:         tile = [1, 8192], lanes = 512, vector = 8, residents = 2>
func.func @two_tensors(%x: tensor<?x8192xbf16>, %r: tensor<?x8192xbf16>) -> tensor<?x8192xbf16> {
  %0 = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<?x8192xbf16>) prologue(%r by #id : tensor<?x8192xbf16>) {
    ^bb0(%a: bf16, %b: bf16):
      %s = arith.addf %a, %b : bf16
      tracea.yield %s : bf16
  } outs(%x : tensor<?x8192xbf16>)
  return %0 : tensor<?x8192xbf16>
}

// What no workgroup holds is cut, where it is one dimension of known length.
// CHECK-LABEL: func.func @long(
// CHECK:         tile = [1, 8192], lanes = 256, vector = 8, residents = 4, split = 32>
// CHECK:         tracea.softmax
// CHECK-NOT:     split
// CHECK:         tracea.rms_norm
// CHECK-SAME:    tile = [1, 512], lanes = 32, vector = 8,
// CHECK-NOT:     split
func.func @long(%x: tensor<64x262144xbf16>, %y: tensor<64x?xbf16>, %z: tensor<64x512x512xbf16>)
    -> (tensor<64x262144xbf16>, tensor<64x?xbf16>, tensor<64x512x512xbf16>) {
  %0 = tracea.softmax dim 1 ins(%x : tensor<64x262144xbf16>) outs(%x : tensor<64x262144xbf16>)
  %1 = tracea.softmax dim 1 ins(%y : tensor<64x?xbf16>) outs(%y : tensor<64x?xbf16>)
  %2 = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%z : tensor<64x512x512xbf16>) outs(%z : tensor<64x512x512xbf16>)
  return %0, %1, %2 : tensor<64x262144xbf16>, tensor<64x?xbf16>, tensor<64x512x512xbf16>
}

// Rows whose results are reduced again are not: a part has not seen the others'.
// CHECK-LABEL: func.func @finished(
// CHECK:         tile = [1, 32768], lanes = 1024, vector = 8>
func.func @finished(%x: tensor<64x262144xbf16>) -> tensor<64x262144xbf16> {
  %0 = tracea.softmax dim 1 ins(%x : tensor<64x262144xbf16>) outs(%x : tensor<64x262144xbf16>) epilogue {
    ^bb0(%a: f32):
      tracea.yield %a, %a : f32, f32
  } finish [max] {
    ^bb0(%v: f32, %m: f32):
      %d = arith.divf %v, %m : f32
      %q = arith.truncf %d : f32 to bf16
      tracea.yield %q : bf16
  }
  return %0 : tensor<64x262144xbf16>
}
