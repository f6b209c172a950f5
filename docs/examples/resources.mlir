// Two warpgroups multiply what a third one copies, through four slots.
!a = memref<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
!b = memref<64x256xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
!ring = !tracea_pipe.channel<4 x (!a, !b)>
!acc = tensor<64x256xf32, #tracea_pipe.lanes<
  reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64], [0, 128]],
  lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>>
!flight = !tracea_pipe.in_flight<!acc>
#id = affine_map<(i, j) -> (i, j)>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a",
                                                  triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
  tracea_pipe.kernel @product(%n: index, %d: memref<64x256xf32>) {
    %c0 = arith.constant 0 : index
    tracea_pipe.tiles (%i) in (%n) {
      %ring = tracea_pipe.channel : !ring
      tracea_pipe.roles {
        tracea_pipe.role "producer" warps [0, 4] registers 40 {
        }
        tracea_pipe.role "consumer" warps [4, 12] copies 2 registers 232 (%team) {
          %p = tracea_pipe.start : <4>
          %s:2 = tracea_pipe.wait %ring[%p] : !ring, <4> -> !a, !b
          %f = tracea_pipe.mma_async %s#0, %s#1 : !a, !b -> !flight
          tracea_pipe.commit_group mma
          %acc = tracea_pipe.wait_group mma pending 0 (%f : !flight)
          tracea_pipe.release %ring[%p] : !ring, <4>
          %e = math.exp %acc : !acc
          tracea_pipe.store %e, %d[%c0, %c0] map #id : !acc, memref<64x256xf32>
        }
      }
    }
    tracea_pipe.end
  }
}
