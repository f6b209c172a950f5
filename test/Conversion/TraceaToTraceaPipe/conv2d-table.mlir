// Coordinates of a tile's pixels in shared memory: the walk of the tile keeps them in scratch memory of its own, what is
// staged goes along it.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse | FileCheck %s
// RUN: tracea compile %s --emit asm --require-proof | FileCheck %s --check-prefix=ASM

// CHECK: tracea_pipe.kernel @conv2d_0
// CHECK: %[[TABLE:.+]] = tracea_pipe.scratch : memref<3x64xi64, #tracea_pipe.staged>
// CHECK: %[[WALK:.+]] = tracea_pipe.delinearize %{{.+}} into(%{{.+}}, %{{.+}}) kept in %[[TABLE]] : {{.+}} : <3>
// CHECK: tracea_pipe.stage %arg0[{{.+}} along [0](%[[WALK]] :

// Nothing else of this kernel loads numbers of 64 bits from there; one barrier stands between.
// ASM:     st.shared.b64
// ASM:     bar.sync
// ASM:     ld.shared.b64
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80">} {
func.func @main(%x: tensor<3x15x13x32xf16>, %w: tensor<64x3x3x32xf16>) -> tensor<3x8x7x64xf16> {
  %d = tensor.empty() : tensor<3x8x7x64xf16>
  %y = tracea.conv2d layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1]
    ins(%x, %w : tensor<3x15x13x32xf16>, tensor<64x3x3x32xf16>) outs(%d : tensor<3x8x7x64xf16>)
    schedule <variant = "conv2d.warp", unit = mma_sync, tile = [64, 64, 32], registers = [32, 32], slots = 3, table = 1>
  return %y : tensor<3x8x7x64xf16>
}
}
