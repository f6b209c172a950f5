// RUN: tracea-opt %s | tracea-opt | FileCheck %s
// RUN: tracea-opt %s --cse | FileCheck %s --check-prefix=CSE
// RUN: tracea-opt %s --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-protocol{require-proof=true}))" | FileCheck %s --check-prefix=PROVED

// One place is one number, in whichever role it is read.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
// CHECK-LABEL: tracea_pipe.kernel @lengths
// CSE-LABEL: tracea_pipe.kernel @lengths
// PROVED-LABEL: tracea_pipe.kernel @lengths
// PROVED: check = "protocol"
tracea_pipe.kernel @lengths(%a: memref<?x?xf32>, %n: index, %lens: memref<?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] {
        // CHECK: tracea_pipe.read %{{.*}}[%{{.*}}] : memref<?xi32>
        // CSE-COUNT-2: tracea_pipe.read
        // CSE-NOT: tracea_pipe.read
        %len = tracea_pipe.read %lens[%i] : memref<?xi32>
        %again = tracea_pipe.read %lens[%i] : memref<?xi32>
        %most = arith.minsi %len, %again : index
        %e = scf.for %k = %c0 to %most step %c1 iter_args(%p = %p0) -> (!ph) {
          %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
          tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
          tracea_pipe.commit %ch[%p] : !ch, !ph
          %q = tracea_pipe.advance %p : !ph
          scf.yield %q : !ph
        }
      }
      tracea_pipe.role "consumer" warps [4, 8] {
        %len = tracea_pipe.read %lens[%i] : memref<?xi32>
        %most = arith.minsi %len, %len : index
        %e = scf.for %k = %c0 to %most step %c1 iter_args(%p = %p0) -> (!ph) {
          %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
          %v = memref.load %f[%c0, %c0] : !slot
          tracea_pipe.release %ch[%p] : !ch, !ph
          %q = tracea_pipe.advance %p : !ph
          scf.yield %q : !ph
        }
      }
    }
  }
  tracea_pipe.end
}
