// Patches of images, of which only the run knows how many there are: right on a
// CPU, and on GPUs products by the copy engine or by warps, proved.
// RUN: tracea run %s --random-inputs --shape 0=2x224x224x3 --check | FileCheck %s --check-prefix=RIGHT
// RIGHT: output 0: passed
// RUN: tracea compile %s --target sm_90a --only-ptx --require-proof -o %t.sm90
// RUN: tracea explain %t.sm90 | FileCheck %s --check-prefix=SM90
// SM90: conv2d_0 {{.*}} conv2d.warpgroup
// RUN: tracea compile %s --target sm_80 --only-ptx --require-proof -o %t.sm80
// RUN: tracea explain %t.sm80 | FileCheck %s --check-prefix=SM80
// SM80: conv2d_0 {{.*}} conv2d.warp
func.func @main(%x: tensor<?x224x224x3xbf16>, %w: tensor<768x16x16x3xbf16>, %b: tensor<768xbf16>) -> tensor<?x14x14x768xbf16> {
  %zero = arith.constant 0 : index
  %n = tensor.dim %x, %zero : tensor<?x224x224x3xbf16>
  %d = tensor.empty(%n) : tensor<?x14x14x768xbf16>
  %y = tracea.conv2d layout nhwc filter krsc strides [16, 16] ins(%x, %w : tensor<?x224x224x3xbf16>, tensor<768x16x16x3xbf16>) outs(%d : tensor<?x14x14x768xbf16>)
       epilogue(%b by affine_map<(n, p, q, k) -> (k)> : tensor<768xbf16>) {
    ^bb0(%acc: f32, %bias: bf16):
      %c = arith.extf %bias : bf16 to f32
      %s = arith.addf %acc, %c : f32
      %r = arith.truncf %s : f32 to bf16
      tracea.yield %r : bf16
  }
  return %y : tensor<?x14x14x768xbf16>
}
