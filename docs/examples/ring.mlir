// A ring of two slots between a producer and a consumer that gives back the
// slot before the one it reads.
!slot = memref<128x64xbf16, #tracea_pipe.staged>
!ring = !tracea_pipe.channel<2 x (!slot)>
!phase = !tracea_pipe.phase<2>
tracea_pipe.kernel @ring(%a: memref<?x?xbf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ring
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] {
        %p0 = tracea_pipe.start : !phase
        scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!phase) {
          %s = tracea_pipe.acquire %ch[%p] : !ring, !phase -> !slot
          tracea_pipe.copy %a[%i, %k] map affine_map<(i, j) -> (i, j)> to %s : memref<?x?xbf16>, !slot
          tracea_pipe.commit %ch[%p] : !ring, !phase
          %q = tracea_pipe.advance %p : !phase
          scf.yield %q : !phase
        }
      }
      tracea_pipe.role "consumer" warps [4, 8] {
        %p0 = tracea_pipe.start : !phase
        %any = arith.cmpi slt, %c0, %n : index
        scf.if %any {
          %f = tracea_pipe.wait %ch[%p0] : !ring, !phase -> !slot
          %p1 = tracea_pipe.advance %p0 : !phase
          %l:2 = scf.for %k = %c1 to %n step %c1 iter_args(%old = %p0, %p = %p1) -> (!phase, !phase) {
            %g = tracea_pipe.wait %ch[%p] : !ring, !phase -> !slot
            tracea_pipe.release %ch[%old] : !ring, !phase
            %q = tracea_pipe.advance %p : !phase
            scf.yield %p, %q : !phase, !phase
          }
          tracea_pipe.release %ch[%l#0] : !ring, !phase
        }
      }
    }
  }
  tracea_pipe.end
}
