// Norms over several dimensions: right on a CPU; on a GPU rows of one dimension, which lanes hold, proved.
// RUN: tracea run %s --entry image --random-inputs --shape 0=3x16x8x8 --check | FileCheck %s --check-prefix=RIGHT
// RUN: tracea run %s --entry groups --random-inputs --shape 0=3x4x4x6x6 --check | FileCheck %s --check-prefix=RIGHT
// RIGHT: output 0: passed
// RUN: tracea compile %s --target sm_90a --only-ptx --require-proof -o %t.gpu
// RUN: tracea explain %t.gpu | FileCheck %s --check-prefix=GPU
// GPU: launch layer_norm_0, {{.*}} (%{{.*}} bf16[dim(arg0, 0), 1024];
// GPU: launch layer_norm_2, {{.*}} (%{{.*}} f32[dim(arg0, 0), 4, 4, 36];
func.func @image(%x: tensor<?x16x8x8xbf16>, %s: tensor<16x8x8xbf16>, %b: tensor<16x8x8xbf16>) -> tensor<?x16x8x8xbf16> {
  %zero = arith.constant 0 : index
  %n = tensor.dim %x, %zero : tensor<?x16x8x8xbf16>
  %d = tensor.empty(%n) : tensor<?x16x8x8xbf16>
  %y = tracea.layer_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<?x16x8x8xbf16>) scale(%s : tensor<16x8x8xbf16>) bias(%b : tensor<16x8x8xbf16>) outs(%d : tensor<?x16x8x8xbf16>)
  return %y : tensor<?x16x8x8xbf16>
}
func.func @groups(%x: tensor<?x4x4x6x6xf32>, %s: tensor<4x4xf32>) -> tensor<?x4x4x6x6xf32> {
  %zero = arith.constant 0 : index
  %n = tensor.dim %x, %zero : tensor<?x4x4x6x6xf32>
  %d = tensor.empty(%n) : tensor<?x4x4x6x6xf32>
  %y = tracea.layer_norm axis 2 epsilon 1.0e-5 ins(%x : tensor<?x4x4x6x6xf32>) outs(%d : tensor<?x4x4x6x6xf32>)
       epilogue(%s by affine_map<(n, g, c, h, w) -> (g, c)> : tensor<4x4xf32>) {
    ^bb0(%acc: f32, %scale: f32):
      %p = arith.mulf %acc, %scale : f32
      tracea.yield %p : f32
  }
  return %y : tensor<?x4x4x6x6xf32>
}
