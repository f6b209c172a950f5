// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-protocol))" -verify-diagnostics | FileCheck %s
// RUN: not tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-protocol{require-proof=true}))" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REQUIRED

// What is outside of the method is said, with the reason, and never proved.
// CHECK-NOT: certificates
// CHECK: tracea_pipe.remarks = [{check = "protocol", reason = "the trip count of this loop
// CHECK-NOT: certificates
// REQUIRED: error: {{.*}} protocol not decided: the trip count of this loop

// The trip count is data.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
tracea_pipe.kernel @data_dependent(%a: memref<?x?xf32>, %n: index, %m: index, %lens: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] {
        %len = memref.load %lens[%c0] : memref<?xindex>
        // expected-warning@+1 {{protocol not decided: the trip count of this loop depends on what other roles do not see}}
        %e = scf.for %k = %c0 to %len step %c1 iter_args(%p = %p0) -> (!ph) {
          %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
          tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
          tracea_pipe.commit %ch[%p] : !ch, !ph
          %q = tracea_pipe.advance %p : !ph
          scf.yield %q : !ph
        }
      }
      tracea_pipe.role "consumer" warps [4, 8] {
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
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

// -----

// A loop whose end is tested.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
tracea_pipe.kernel @while_loop(%a: memref<?x?xf32>, %n: index, %m: index, %lens: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] {
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
          %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
          tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
          tracea_pipe.commit %ch[%p] : !ch, !ph
          %q = tracea_pipe.advance %p : !ph
          scf.yield %q : !ph
        }
      }
      tracea_pipe.role "consumer" warps [4, 8] {
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
          %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
          %v = memref.load %f[%c0, %c0] : !slot
          tracea_pipe.release %ch[%p] : !ch, !ph
          %q = tracea_pipe.advance %p : !ph
          scf.yield %q : !ph
        }
        // expected-warning@+1 {{protocol not decided: 'scf.while' holds channel operations}}
        scf.while : () -> () {
          %t = arith.cmpi slt, %n, %m : index
          %z = tracea_pipe.start : !ph
          scf.condition(%t)
        } do {
          scf.yield
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// A phase that is not walked.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
tracea_pipe.kernel @selected_phase(%a: memref<?x?xf32>, %n: index, %m: index, %lens: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] {
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
          %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
          tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
          tracea_pipe.commit %ch[%p] : !ch, !ph
          %q = tracea_pipe.advance %p : !ph
          scf.yield %q : !ph
        }
      }
      tracea_pipe.role "consumer" warps [4, 8] {
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
          %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
          %v = memref.load %f[%c0, %c0] : !slot
          tracea_pipe.release %ch[%p] : !ch, !ph
          %q0 = tracea_pipe.advance %p : !ph
          %t = arith.cmpi slt, %n, %m : index
          // expected-warning@+1 {{protocol not decided: a phase comes from 'arith.select'}}
          %q = arith.select %t, %q0, %q0 : !ph
          scf.yield %q : !ph
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// Everybody waits, and roles as well.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
tracea_pipe.kernel @outside_of_roles(%a: memref<?x?xf32>, %n: index, %m: index, %lens: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] {
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
          %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
          tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
          tracea_pipe.commit %ch[%p] : !ch, !ph
          %q = tracea_pipe.advance %p : !ph
          scf.yield %q : !ph
        }
      }
      tracea_pipe.role "consumer" warps [4, 8] {
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
          %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
          %v = memref.load %f[%c0, %c0] : !slot
          tracea_pipe.release %ch[%p] : !ch, !ph
          %q = tracea_pipe.advance %p : !ph
          scf.yield %q : !ph
        }
      }
    }
    // expected-warning@+1 {{protocol not decided: a channel is used outside of the roles}}
    %f = tracea_pipe.wait %ch[%p0] : !ch, !ph -> !slot
  }
  tracea_pipe.end
}

// -----

// A branch on data.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
tracea_pipe.kernel @data_branch(%a: memref<?x?xf32>, %n: index, %m: index, %lens: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] {
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
          %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
          tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
          tracea_pipe.commit %ch[%p] : !ch, !ph
          %q = tracea_pipe.advance %p : !ph
          scf.yield %q : !ph
        }
      }
      tracea_pipe.role "consumer" warps [4, 8] {
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
          %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
          %v = memref.load %f[%c0, %c0] : !slot
          tracea_pipe.release %ch[%p] : !ch, !ph
          %q = tracea_pipe.advance %p : !ph
          %x = memref.load %lens[%c0] : memref<?xindex>
          %t = arith.cmpi slt, %x, %m : index
          // expected-warning@+1 {{protocol not decided: a branch around channel operations depends on data}}
          scf.if %t {
            %z = tracea_pipe.start : !ph
          }
          scf.yield %q : !ph
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// Two loops whose bound changes with the iteration around them: their counts
// cannot be told apart, so that they are not taken for shared.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
tracea_pipe.kernel @two_causal_loops(%a: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] {
        %e = scf.for %x = %c0 to %n step %c1 iter_args(%o = %p0) -> (!ph) {
          %u = scf.for %ju = %c0 to %x step %c1 iter_args(%p = %o) -> (!ph) {
            %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
            tracea_pipe.copy %a[%c0, %c0] map #id to %s : memref<?x?xf32>, !slot
            tracea_pipe.commit %ch[%p] : !ch, !ph
            %q = tracea_pipe.advance %p : !ph
            scf.yield %q : !ph
          }
          // expected-warning@+1 {{protocol not decided: the trip count of this loop depends on what other roles do not see}}
          %v = scf.for %jv = %c0 to %x step %c1 iter_args(%p = %u) -> (!ph) {
            %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
            tracea_pipe.copy %a[%c0, %c0] map #id to %s : memref<?x?xf32>, !slot
            tracea_pipe.commit %ch[%p] : !ch, !ph
            %q = tracea_pipe.advance %p : !ph
            scf.yield %q : !ph
          }
          scf.yield %v : !ph
        }
      }
      tracea_pipe.role "consumer" warps [4, 8] {
        %e = scf.for %x = %c0 to %n step %c1 iter_args(%o = %p0) -> (!ph) {
          %u = scf.for %ju = %c0 to %x step %c1 iter_args(%p = %o) -> (!ph) {
            %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
            tracea_pipe.release %ch[%p] : !ch, !ph
            %q = tracea_pipe.advance %p : !ph
            scf.yield %q : !ph
          }
          scf.yield %u : !ph
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// A slot that comes out of a branch.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
tracea_pipe.kernel @passed_on(%a: memref<?x?xf32>, %n: index, %b: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ch
    %p = tracea_pipe.start : !ph
    %q = tracea_pipe.advance %p : !ph
    %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
    %t = tracea_pipe.acquire %ch[%q] : !ch, !ph -> !slot
    %u = arith.select %b, %s, %t : !slot
    // expected-warning@+1 {{protocol not decided: a slot's buffer is passed on as a value}}
    tracea_pipe.copy %a[%c0, %c0] map #id to %u : memref<?x?xf32>, !slot
    tracea_pipe.commit %ch[%p] : !ch, !ph
    %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
    tracea_pipe.release %ch[%p] : !ch, !ph
  }
  tracea_pipe.end
}
