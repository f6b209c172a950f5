// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm --split-input-file --verify-diagnostics

#id = affine_map<(i, j) -> (i, j)>
#row = #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]],
                          warp = [[1, 0], [2, 0]], outer = [1, 1]>

tracea_pipe.kernel @exp(%n: index, %a: memref<?x128xf8E5M2>, %d: memref<?x128xf8E5M2>) attributes {warps = 4 : i64} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.load %a[%i, %c0] map #id : memref<?x128xf8E5M2> -> tensor<4x128xf8E5M2, #row>
    // expected-error @+1 {{'math.exp' op has no instruction on this target}}
    %y = math.exp %x : tensor<4x128xf8E5M2, #row>
    tracea_pipe.store %y, %d[%i, %c0] map #id : tensor<4x128xf8E5M2, #row>, memref<?x128xf8E5M2>
  }
  tracea_pipe.end
}
