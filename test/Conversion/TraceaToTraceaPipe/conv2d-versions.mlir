// Two kernels of a convolution are one launch, though each is lowered with views of its own: pixels as rows of a matrix.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func.func @images(
// CHECK-NOT:     tracea_pipe.launch
// CHECK:         tracea_pipe.launch @conv2d_0 {{.*}}@[[OTHER:conv2d_[0-9]+]]{{.*}} ins(%arg0, %arg1, %[[SKIP:[^ ]*]] : {{.*}}, tensor<1x1x?x256xbf16>) outs(%{{.*}} : tensor<1x1x?x256xbf16>)
// CHECK-NOT:     tracea_pipe.launch
// CHECK:         return
// CHECK:       tracea_pipe.kernel @conv2d_0(
// CHECK-SAME:    variant = "conv2d.warpgroup"
// CHECK:       tracea_pipe.kernel @[[OTHER]](
// CHECK-SAME:    variant = "conv2d.warpgroup"
// CHECK-NOT:   tracea_pipe.kernel
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @images(%x: tensor<?x14x14x128xbf16>, %w: tensor<256x1x1x128xbf16>, %skip: tensor<?x14x14x256xbf16>, %d: tensor<?x14x14x256xbf16>) -> tensor<?x14x14x256xbf16> {
  %y = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<?x14x14x128xbf16>, tensor<256x1x1x128xbf16>) outs(%d : tensor<?x14x14x256xbf16>)
    schedule <variant = "conv2d.warpgroup", unit = wgmma, tile = [64, 64, 64], slots = 12, producers = 1, consumers = 1, most = 500000,
              otherwise = <variant = "conv2d.warpgroup", unit = wgmma, tile = [128, 192, 64], slots = 4, producers = 1, consumers = 2>>
    epilogue(%skip by affine_map<(n, p, q, k) -> (n, p, q, k)> : tensor<?x14x14x256xbf16>) {
    ^bb0(%acc: f32, %old: bf16):
      %o = arith.extf %old : bf16 to f32
      %t = arith.addf %acc, %o : f32
      %r = arith.truncf %t : f32 to bf16
      tracea.yield %r : bf16
  }
  return %y : tensor<?x14x14x256xbf16>
}
}
