// A 64x64 tile of 16-bit elements: written 16 bytes a lane along its rows, read as
// the A operands of a matrix instruction.
#id = affine_map<(i, j) -> (i, j)>
#rows = #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [0, 4]],
                           lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0]],
                           warp = [[4, 0], [8, 0]], outer = [1, 1]>
#operand = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8]],
                              lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], outer = [1, 1]>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a",
                                                  triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
  tracea_pipe.kernel @tile(%n: index) {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    tracea_pipe.tiles (%i) in (%n) {
      %s = tracea_pipe.scratch : memref<64x64xbf16, #tracea_pipe.staged>
      %x = arith.constant dense<0.0> : tensor<16x64xbf16, #rows>
      tracea_pipe.store %x, %s[%c0, %c0] map #id
          : tensor<16x64xbf16, #rows>, memref<64x64xbf16, #tracea_pipe.staged>
      scf.for %k = %c0 to %c64 step %c16 {
        %a = tracea_pipe.load %s[%c0, %k] map #id
             : memref<64x64xbf16, #tracea_pipe.staged> -> tensor<16x16xbf16, #operand>
      }
    }
    tracea_pipe.end
  }
}
