// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-protocol{require-proof=true}))" | FileCheck %s
// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea-pipeline-kernels,tracea_pipe.kernel(tracea-verify-protocol{require-proof=true}))" | FileCheck %s --check-prefix=STAGED

// What is proved here is proved for every trip count: bounds are arguments.

#staged = #tracea_pipe.staged
#row = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #staged>

// No channels, nothing to say but that.
// CHECK-LABEL: tracea_pipe.kernel @empty
// CHECK-SAME: check = "protocol", claim = "nobody waits for anybody", model = "protocol/1 empty
tracea_pipe.kernel @empty(%n: index) {
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}

// One role on both sides: what pipelining makes for a CPU.
// CHECK: tracea_pipe.kernel @one_role
// CHECK-SAME: tracea_pipe.certificates = [#tracea_pipe.certificate<check = "protocol", claim = "1 roles, 1 channels, every trip count"
tracea_pipe.kernel @one_role(%a: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !tracea_pipe.channel<1 x (!slot)>
    %p0 = tracea_pipe.start : !tracea_pipe.phase<1>
    %pn = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!tracea_pipe.phase<1>) {
      %s = tracea_pipe.acquire %ch[%p] : !tracea_pipe.channel<1 x (!slot)>, !tracea_pipe.phase<1> -> !slot
      tracea_pipe.copy %a[%i, %k] map #row to %s : memref<?x?xf32>, !slot
      tracea_pipe.commit %ch[%p] : !tracea_pipe.channel<1 x (!slot)>, !tracea_pipe.phase<1>
      %f = tracea_pipe.wait %ch[%p] : !tracea_pipe.channel<1 x (!slot)>, !tracea_pipe.phase<1> -> !slot
      tracea_pipe.release %ch[%p] : !tracea_pipe.channel<1 x (!slot)>, !tracea_pipe.phase<1>
      %q = tracea_pipe.advance %p : !tracea_pipe.phase<1>
      scf.yield %q : !tracea_pipe.phase<1>
    }
  }
  tracea_pipe.end
}

// One role that fills a slot ahead of the one it reads.
// CHECK: tracea_pipe.kernel @ahead
// CHECK-SAME: check = "protocol", claim = "1 roles, 1 channels, every trip count"
tracea_pipe.kernel @ahead(%a: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !tracea_pipe.channel<2 x (!slot)>
    %p0 = tracea_pipe.start : !tracea_pipe.phase<2>
    %s0 = tracea_pipe.acquire %ch[%p0] : !tracea_pipe.channel<2 x (!slot)>, !tracea_pipe.phase<2> -> !slot
    tracea_pipe.copy %a[%i, %c0] map #row to %s0 : memref<?x?xf32>, !slot
    tracea_pipe.commit %ch[%p0] : !tracea_pipe.channel<2 x (!slot)>, !tracea_pipe.phase<2>
    %p1 = tracea_pipe.advance %p0 : !tracea_pipe.phase<2>
    %e:2 = scf.for %k = %c0 to %n step %c1 iter_args(%w = %p1, %r = %p0)
        -> (!tracea_pipe.phase<2>, !tracea_pipe.phase<2>) {
      %s = tracea_pipe.acquire %ch[%w] : !tracea_pipe.channel<2 x (!slot)>, !tracea_pipe.phase<2> -> !slot
      tracea_pipe.copy %a[%i, %k] map #row to %s : memref<?x?xf32>, !slot
      tracea_pipe.commit %ch[%w] : !tracea_pipe.channel<2 x (!slot)>, !tracea_pipe.phase<2>
      %f = tracea_pipe.wait %ch[%r] : !tracea_pipe.channel<2 x (!slot)>, !tracea_pipe.phase<2> -> !slot
      tracea_pipe.release %ch[%r] : !tracea_pipe.channel<2 x (!slot)>, !tracea_pipe.phase<2>
      %w1 = tracea_pipe.advance %w : !tracea_pipe.phase<2>
      scf.yield %w1, %w : !tracea_pipe.phase<2>, !tracea_pipe.phase<2>
    }
    %f = tracea_pipe.wait %ch[%e#1] : !tracea_pipe.channel<2 x (!slot)>, !tracea_pipe.phase<2> -> !slot
    tracea_pipe.release %ch[%e#1] : !tracea_pipe.channel<2 x (!slot)>, !tracea_pipe.phase<2>
  }
  tracea_pipe.end
}

// -----

// Producer and consumers, 1 to 8 slots.
// CHECK: tracea_pipe.kernel @ring1
// CHECK-SAME: check = "protocol", claim = "3 roles, 1 channels, every trip count"
!slot = memref<8x16xf32, #tracea_pipe.staged>
!row = memref<4xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<1 x (!slot, !row)>
!ph = !tracea_pipe.phase<1>
#id = affine_map<(i, j) -> (i, j)>
tracea_pipe.kernel @ring1(%a: memref<?x?xf32>, %t: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] registers 40 {
        %e = scf.for %x = %c0 to %t step %c1 iter_args(%o = %p0) -> (!ph) {
          %l = scf.for %k = %c0 to %n step %c1 iter_args(%p = %o) -> (!ph) {
            %s:2 = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot, !row
            tracea_pipe.copy %a[%x, %k] map #id to %s#0 : memref<?x?xf32>, !slot
            tracea_pipe.copy %a[%x, %k] map affine_map<(i) -> (0, i)> to %s#1 : memref<?x?xf32>, !row
            tracea_pipe.commit %ch[%p] : !ch, !ph
            %q = tracea_pipe.advance %p : !ph
            scf.yield %q : !ph
          }
          scf.yield %l : !ph
        }
      }
      tracea_pipe.role "consumer" warps [4, 12] copies 2 registers 232 (%team) {
        %e = scf.for %x = %c0 to %t step %c1 iter_args(%o = %p0) -> (!ph) {
          %l = scf.for %k = %c0 to %n step %c1 iter_args(%p = %o) -> (!ph) {
            %s:2 = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot, !row
            tracea_pipe.release %ch[%p] : !ch, !ph
            %q = tracea_pipe.advance %p : !ph
            scf.yield %q : !ph
          }
          scf.yield %l : !ph
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// CHECK: tracea_pipe.kernel @ring2
// CHECK-SAME: check = "protocol", claim = "3 roles, 1 channels, every trip count"
!slot = memref<8x16xf32, #tracea_pipe.staged>
!row = memref<4xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot, !row)>
!ph = !tracea_pipe.phase<2>
#id = affine_map<(i, j) -> (i, j)>
tracea_pipe.kernel @ring2(%a: memref<?x?xf32>, %t: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] registers 40 {
        %e = scf.for %x = %c0 to %t step %c1 iter_args(%o = %p0) -> (!ph) {
          %l = scf.for %k = %c0 to %n step %c1 iter_args(%p = %o) -> (!ph) {
            %s:2 = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot, !row
            tracea_pipe.copy %a[%x, %k] map #id to %s#0 : memref<?x?xf32>, !slot
            tracea_pipe.copy %a[%x, %k] map affine_map<(i) -> (0, i)> to %s#1 : memref<?x?xf32>, !row
            tracea_pipe.commit %ch[%p] : !ch, !ph
            %q = tracea_pipe.advance %p : !ph
            scf.yield %q : !ph
          }
          scf.yield %l : !ph
        }
      }
      tracea_pipe.role "consumer" warps [4, 12] copies 2 registers 232 (%team) {
        %e = scf.for %x = %c0 to %t step %c1 iter_args(%o = %p0) -> (!ph) {
          %l = scf.for %k = %c0 to %n step %c1 iter_args(%p = %o) -> (!ph) {
            %s:2 = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot, !row
            tracea_pipe.release %ch[%p] : !ch, !ph
            %q = tracea_pipe.advance %p : !ph
            scf.yield %q : !ph
          }
          scf.yield %l : !ph
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// CHECK: tracea_pipe.kernel @ring3
// CHECK-SAME: check = "protocol", claim = "3 roles, 1 channels, every trip count"
!slot = memref<8x16xf32, #tracea_pipe.staged>
!row = memref<4xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<3 x (!slot, !row)>
!ph = !tracea_pipe.phase<3>
#id = affine_map<(i, j) -> (i, j)>
tracea_pipe.kernel @ring3(%a: memref<?x?xf32>, %t: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] registers 40 {
        %e = scf.for %x = %c0 to %t step %c1 iter_args(%o = %p0) -> (!ph) {
          %l = scf.for %k = %c0 to %n step %c1 iter_args(%p = %o) -> (!ph) {
            %s:2 = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot, !row
            tracea_pipe.copy %a[%x, %k] map #id to %s#0 : memref<?x?xf32>, !slot
            tracea_pipe.copy %a[%x, %k] map affine_map<(i) -> (0, i)> to %s#1 : memref<?x?xf32>, !row
            tracea_pipe.commit %ch[%p] : !ch, !ph
            %q = tracea_pipe.advance %p : !ph
            scf.yield %q : !ph
          }
          scf.yield %l : !ph
        }
      }
      tracea_pipe.role "consumer" warps [4, 12] copies 2 registers 232 (%team) {
        %e = scf.for %x = %c0 to %t step %c1 iter_args(%o = %p0) -> (!ph) {
          %l = scf.for %k = %c0 to %n step %c1 iter_args(%p = %o) -> (!ph) {
            %s:2 = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot, !row
            tracea_pipe.release %ch[%p] : !ch, !ph
            %q = tracea_pipe.advance %p : !ph
            scf.yield %q : !ph
          }
          scf.yield %l : !ph
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// CHECK: tracea_pipe.kernel @ring4
// CHECK-SAME: check = "protocol", claim = "3 roles, 1 channels, every trip count"
!slot = memref<8x16xf32, #tracea_pipe.staged>
!row = memref<4xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<4 x (!slot, !row)>
!ph = !tracea_pipe.phase<4>
#id = affine_map<(i, j) -> (i, j)>
tracea_pipe.kernel @ring4(%a: memref<?x?xf32>, %t: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] registers 40 {
        %e = scf.for %x = %c0 to %t step %c1 iter_args(%o = %p0) -> (!ph) {
          %l = scf.for %k = %c0 to %n step %c1 iter_args(%p = %o) -> (!ph) {
            %s:2 = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot, !row
            tracea_pipe.copy %a[%x, %k] map #id to %s#0 : memref<?x?xf32>, !slot
            tracea_pipe.copy %a[%x, %k] map affine_map<(i) -> (0, i)> to %s#1 : memref<?x?xf32>, !row
            tracea_pipe.commit %ch[%p] : !ch, !ph
            %q = tracea_pipe.advance %p : !ph
            scf.yield %q : !ph
          }
          scf.yield %l : !ph
        }
      }
      tracea_pipe.role "consumer" warps [4, 12] copies 2 registers 232 (%team) {
        %e = scf.for %x = %c0 to %t step %c1 iter_args(%o = %p0) -> (!ph) {
          %l = scf.for %k = %c0 to %n step %c1 iter_args(%p = %o) -> (!ph) {
            %s:2 = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot, !row
            tracea_pipe.release %ch[%p] : !ch, !ph
            %q = tracea_pipe.advance %p : !ph
            scf.yield %q : !ph
          }
          scf.yield %l : !ph
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// CHECK: tracea_pipe.kernel @ring5
// CHECK-SAME: check = "protocol", claim = "3 roles, 1 channels, every trip count"
!slot = memref<8x16xf32, #tracea_pipe.staged>
!row = memref<4xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<5 x (!slot, !row)>
!ph = !tracea_pipe.phase<5>
#id = affine_map<(i, j) -> (i, j)>
tracea_pipe.kernel @ring5(%a: memref<?x?xf32>, %t: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] registers 40 {
        %e = scf.for %x = %c0 to %t step %c1 iter_args(%o = %p0) -> (!ph) {
          %l = scf.for %k = %c0 to %n step %c1 iter_args(%p = %o) -> (!ph) {
            %s:2 = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot, !row
            tracea_pipe.copy %a[%x, %k] map #id to %s#0 : memref<?x?xf32>, !slot
            tracea_pipe.copy %a[%x, %k] map affine_map<(i) -> (0, i)> to %s#1 : memref<?x?xf32>, !row
            tracea_pipe.commit %ch[%p] : !ch, !ph
            %q = tracea_pipe.advance %p : !ph
            scf.yield %q : !ph
          }
          scf.yield %l : !ph
        }
      }
      tracea_pipe.role "consumer" warps [4, 12] copies 2 registers 232 (%team) {
        %e = scf.for %x = %c0 to %t step %c1 iter_args(%o = %p0) -> (!ph) {
          %l = scf.for %k = %c0 to %n step %c1 iter_args(%p = %o) -> (!ph) {
            %s:2 = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot, !row
            tracea_pipe.release %ch[%p] : !ch, !ph
            %q = tracea_pipe.advance %p : !ph
            scf.yield %q : !ph
          }
          scf.yield %l : !ph
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// CHECK: tracea_pipe.kernel @ring6
// CHECK-SAME: check = "protocol", claim = "3 roles, 1 channels, every trip count"
!slot = memref<8x16xf32, #tracea_pipe.staged>
!row = memref<4xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<6 x (!slot, !row)>
!ph = !tracea_pipe.phase<6>
#id = affine_map<(i, j) -> (i, j)>
tracea_pipe.kernel @ring6(%a: memref<?x?xf32>, %t: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] registers 40 {
        %e = scf.for %x = %c0 to %t step %c1 iter_args(%o = %p0) -> (!ph) {
          %l = scf.for %k = %c0 to %n step %c1 iter_args(%p = %o) -> (!ph) {
            %s:2 = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot, !row
            tracea_pipe.copy %a[%x, %k] map #id to %s#0 : memref<?x?xf32>, !slot
            tracea_pipe.copy %a[%x, %k] map affine_map<(i) -> (0, i)> to %s#1 : memref<?x?xf32>, !row
            tracea_pipe.commit %ch[%p] : !ch, !ph
            %q = tracea_pipe.advance %p : !ph
            scf.yield %q : !ph
          }
          scf.yield %l : !ph
        }
      }
      tracea_pipe.role "consumer" warps [4, 12] copies 2 registers 232 (%team) {
        %e = scf.for %x = %c0 to %t step %c1 iter_args(%o = %p0) -> (!ph) {
          %l = scf.for %k = %c0 to %n step %c1 iter_args(%p = %o) -> (!ph) {
            %s:2 = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot, !row
            tracea_pipe.release %ch[%p] : !ch, !ph
            %q = tracea_pipe.advance %p : !ph
            scf.yield %q : !ph
          }
          scf.yield %l : !ph
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// CHECK: tracea_pipe.kernel @ring7
// CHECK-SAME: check = "protocol", claim = "3 roles, 1 channels, every trip count"
!slot = memref<8x16xf32, #tracea_pipe.staged>
!row = memref<4xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<7 x (!slot, !row)>
!ph = !tracea_pipe.phase<7>
#id = affine_map<(i, j) -> (i, j)>
tracea_pipe.kernel @ring7(%a: memref<?x?xf32>, %t: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] registers 40 {
        %e = scf.for %x = %c0 to %t step %c1 iter_args(%o = %p0) -> (!ph) {
          %l = scf.for %k = %c0 to %n step %c1 iter_args(%p = %o) -> (!ph) {
            %s:2 = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot, !row
            tracea_pipe.copy %a[%x, %k] map #id to %s#0 : memref<?x?xf32>, !slot
            tracea_pipe.copy %a[%x, %k] map affine_map<(i) -> (0, i)> to %s#1 : memref<?x?xf32>, !row
            tracea_pipe.commit %ch[%p] : !ch, !ph
            %q = tracea_pipe.advance %p : !ph
            scf.yield %q : !ph
          }
          scf.yield %l : !ph
        }
      }
      tracea_pipe.role "consumer" warps [4, 12] copies 2 registers 232 (%team) {
        %e = scf.for %x = %c0 to %t step %c1 iter_args(%o = %p0) -> (!ph) {
          %l = scf.for %k = %c0 to %n step %c1 iter_args(%p = %o) -> (!ph) {
            %s:2 = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot, !row
            tracea_pipe.release %ch[%p] : !ch, !ph
            %q = tracea_pipe.advance %p : !ph
            scf.yield %q : !ph
          }
          scf.yield %l : !ph
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// CHECK: tracea_pipe.kernel @ring8
// CHECK-SAME: check = "protocol", claim = "3 roles, 1 channels, every trip count"
!slot = memref<8x16xf32, #tracea_pipe.staged>
!row = memref<4xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<8 x (!slot, !row)>
!ph = !tracea_pipe.phase<8>
#id = affine_map<(i, j) -> (i, j)>
tracea_pipe.kernel @ring8(%a: memref<?x?xf32>, %t: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] registers 40 {
        %e = scf.for %x = %c0 to %t step %c1 iter_args(%o = %p0) -> (!ph) {
          %l = scf.for %k = %c0 to %n step %c1 iter_args(%p = %o) -> (!ph) {
            %s:2 = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot, !row
            tracea_pipe.copy %a[%x, %k] map #id to %s#0 : memref<?x?xf32>, !slot
            tracea_pipe.copy %a[%x, %k] map affine_map<(i) -> (0, i)> to %s#1 : memref<?x?xf32>, !row
            tracea_pipe.commit %ch[%p] : !ch, !ph
            %q = tracea_pipe.advance %p : !ph
            scf.yield %q : !ph
          }
          scf.yield %l : !ph
        }
      }
      tracea_pipe.role "consumer" warps [4, 12] copies 2 registers 232 (%team) {
        %e = scf.for %x = %c0 to %t step %c1 iter_args(%o = %p0) -> (!ph) {
          %l = scf.for %k = %c0 to %n step %c1 iter_args(%p = %o) -> (!ph) {
            %s:2 = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot, !row
            tracea_pipe.release %ch[%p] : !ch, !ph
            %q = tracea_pipe.advance %p : !ph
            scf.yield %q : !ph
          }
          scf.yield %l : !ph
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// Consumers that release the slot before the one they read: the first step is
// peeled, and `if 0 < n` reads the first decision of the loop's trip count.
// CHECK: tracea_pipe.kernel @skewed
// CHECK-SAME: check = "protocol", claim = "2 roles, 1 channels, every trip count"
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<3 x (!slot)>
!ph = !tracea_pipe.phase<3>
tracea_pipe.kernel @skewed(%a: memref<?x?xf32>, %t: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ch
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 1] {
        %p0 = tracea_pipe.start : !ph
        %e = scf.for %x = %c0 to %t step %c1 iter_args(%o = %p0) -> (!ph) {
          %l = scf.for %k = %c0 to %n step %c1 iter_args(%p = %o) -> (!ph) {
            %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
            tracea_pipe.copy %a[%x, %k] map affine_map<(i, j) -> (i, j)> to %s : memref<?x?xf32>, !slot
            tracea_pipe.commit %ch[%p] : !ch, !ph
            %q = tracea_pipe.advance %p : !ph
            scf.yield %q : !ph
          }
          scf.yield %l : !ph
        }
      }
      tracea_pipe.role "consumer" warps [4, 8] {
        %p0 = tracea_pipe.start : !ph
        %e = scf.for %x = %c0 to %t step %c1 iter_args(%o = %p0) -> (!ph) {
          %any = arith.cmpi slt, %c0, %n : index
          %r = scf.if %any -> (!ph) {
            %s = tracea_pipe.wait %ch[%o] : !ch, !ph -> !slot
            %o1 = tracea_pipe.advance %o : !ph
            %l:2 = scf.for %k = %c1 to %n step %c1 iter_args(%old = %o, %p = %o1) -> (!ph, !ph) {
              %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
              tracea_pipe.release %ch[%old] : !ch, !ph
              %q = tracea_pipe.advance %p : !ph
              scf.yield %p, %q : !ph, !ph
            }
            tracea_pipe.release %ch[%l#0] : !ch, !ph
            scf.yield %l#1 : !ph
          } else {
            scf.yield %o : !ph
          }
          scf.yield %r : !ph
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// Three rings of attention: Q once a tile, K and V once a block of keys.
// CHECK: tracea_pipe.kernel @attention
// CHECK-SAME: check = "protocol", claim = "3 roles, 3 channels, every trip count"
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch1 = !tracea_pipe.channel<1 x (!slot)>
!ph1 = !tracea_pipe.phase<1>
!ch2 = !tracea_pipe.channel<2 x (!slot)>
!ph2 = !tracea_pipe.phase<2>
#id = affine_map<(i, j) -> (i, j)>
tracea_pipe.kernel @attention(%a: memref<?x?xf32>, %t: index, %m: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  tracea_pipe.tiles (%i) in (%t) {
    %cq = tracea_pipe.channel : !ch1
    %ck = tracea_pipe.channel : !ch2
    %cv = tracea_pipe.channel : !ch2
    %q0 = tracea_pipe.start : !ph1
    %k0 = tracea_pipe.start : !ph2
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] {
        scf.for %x = %c0 to %t step %c1 iter_args(%q = %q0, %ko = %k0) -> (!ph1, !ph2) {
          %sq = tracea_pipe.acquire %cq[%q] : !ch1, !ph1 -> !slot
          tracea_pipe.copy %a[%x, %c0] map #id to %sq : memref<?x?xf32>, !slot
          tracea_pipe.commit %cq[%q] : !ch1, !ph1
          %q1 = tracea_pipe.advance %q : !ph1
          // A causal bound: each role computes it for itself.
          %last = arith.muli %x, %c8 : index
          %kn = scf.for %j = %c0 to %last step %c1 iter_args(%k = %ko) -> (!ph2) {
            %sk = tracea_pipe.acquire %ck[%k] : !ch2, !ph2 -> !slot
            tracea_pipe.copy %a[%x, %j] map #id to %sk : memref<?x?xf32>, !slot
            tracea_pipe.commit %ck[%k] : !ch2, !ph2
            %sv = tracea_pipe.acquire %cv[%k] : !ch2, !ph2 -> !slot
            tracea_pipe.copy %a[%x, %j] map #id to %sv : memref<?x?xf32>, !slot
            tracea_pipe.commit %cv[%k] : !ch2, !ph2
            %k1 = tracea_pipe.advance %k : !ph2
            scf.yield %k1 : !ph2
          }
          scf.yield %q1, %kn : !ph1, !ph2
        }
      }
      tracea_pipe.role "consumer" warps [4, 12] copies 2 (%team) {
        scf.for %x = %c0 to %t step %c1 iter_args(%q = %q0, %ko = %k0) -> (!ph1, !ph2) {
          %sq = tracea_pipe.wait %cq[%q] : !ch1, !ph1 -> !slot
          %last = arith.muli %x, %c8 : index
          %kn = scf.for %j = %c0 to %last step %c1 iter_args(%k = %ko) -> (!ph2) {
            %sk = tracea_pipe.wait %ck[%k] : !ch2, !ph2 -> !slot
            tracea_pipe.release %ck[%k] : !ch2, !ph2
            %sv = tracea_pipe.wait %cv[%k] : !ch2, !ph2 -> !slot
            tracea_pipe.release %cv[%k] : !ch2, !ph2
            %k1 = tracea_pipe.advance %k : !ph2
            scf.yield %k1 : !ph2
          }
          tracea_pipe.release %cq[%q] : !ch1, !ph1
          %q1 = tracea_pipe.advance %q : !ph1
          scf.yield %q1, %kn : !ph1, !ph2
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// Convolution: one patch serves nine taps; a constant loop is unrolled. Two
// roles fill, one each ring.
// CHECK: tracea_pipe.kernel @conv
// CHECK-SAME: check = "protocol", claim = "3 roles, 2 channels, every trip count"
!slot = memref<8x16xf32, #tracea_pipe.staged>
!cf = !tracea_pipe.channel<4 x (!slot)>
!pf = !tracea_pipe.phase<4>
!cp = !tracea_pipe.channel<2 x (!slot)>
!pp = !tracea_pipe.phase<2>
#id = affine_map<(i, j) -> (i, j)>
tracea_pipe.kernel @conv(%a: memref<?x?xf32>, %n: index, %b: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  tracea_pipe.tiles (%i) in (%n) {
    %filter = tracea_pipe.channel : !cf
    %patch = tracea_pipe.channel : !cp
    %f0 = tracea_pipe.start : !pf
    %p0 = tracea_pipe.start : !pp
    tracea_pipe.roles {
      tracea_pipe.role "filters" warps [0, 1] {
        scf.for %c = %c0 to %n step %c1 iter_args(%o = %f0) -> (!pf) {
          %r = scf.for %tap = %c0 to %c9 step %c1 iter_args(%f = %o) -> (!pf) {
            %s = tracea_pipe.acquire %filter[%f] : !cf, !pf -> !slot
            tracea_pipe.copy %a[%c, %tap] map #id to %s : memref<?x?xf32>, !slot
            tracea_pipe.commit %filter[%f] : !cf, !pf
            %f1 = tracea_pipe.advance %f : !pf
            scf.yield %f1 : !pf
          }
          scf.yield %r : !pf
        }
      }
      tracea_pipe.role "patches" warps [1, 2] {
        scf.for %c = %c0 to %n step %c1 iter_args(%p = %p0) -> (!pp) {
          %s = tracea_pipe.acquire %patch[%p] : !cp, !pp -> !slot
          tracea_pipe.copy %a[%c, %c] map #id to %s : memref<?x?xf32>, !slot
          tracea_pipe.commit %patch[%p] : !cp, !pp
          %p1 = tracea_pipe.advance %p : !pp
          scf.yield %p1 : !pp
        }
      }
      tracea_pipe.role "consumer" warps [4, 8] {
        scf.for %c = %c0 to %n step %c1 iter_args(%o = %f0, %p = %p0) -> (!pf, !pp) {
          %x = tracea_pipe.wait %patch[%p] : !cp, !pp -> !slot
          %r = scf.for %tap = %c0 to %c9 step %c1 iter_args(%f = %o) -> (!pf) {
            %w = tracea_pipe.wait %filter[%f] : !cf, !pf -> !slot
            tracea_pipe.release %filter[%f] : !cf, !pf
            %f1 = tracea_pipe.advance %f : !pf
            scf.yield %f1 : !pf
          }
          tracea_pipe.release %patch[%p] : !cp, !pp
          %p1 = tracea_pipe.advance %p : !pp
          scf.yield %r, %p1 : !pf, !pp
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// The most steps of which some are unrolled: a loop of seventeen, and the loop of
// sixteen behind the first of them.
// CHECK: tracea_pipe.kernel @peeled
// CHECK-SAME: check = "protocol", claim = "2 roles, 1 channels, every trip count"
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<4 x (!slot)>
!ph = !tracea_pipe.phase<4>
tracea_pipe.kernel @peeled(%a: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c17 = arith.constant 17 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 1] {
        scf.for %k = %c0 to %c17 step %c1 iter_args(%p = %p0) -> (!ph) {
          %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
          tracea_pipe.copy %a[%i, %k] map #id to %s : memref<?x?xf32>, !slot
          tracea_pipe.commit %ch[%p] : !ch, !ph
          %q = tracea_pipe.advance %p : !ph
          scf.yield %q : !ph
        }
      }
      tracea_pipe.role "consumer" warps [4, 8] {
        %first = tracea_pipe.wait %ch[%p0] : !ch, !ph -> !slot
        %x = memref.load %first[%c0, %c0] : !slot
        tracea_pipe.release %ch[%p0] : !ch, !ph
        %p1 = tracea_pipe.advance %p0 : !ph
        scf.for %k = %c1 to %c17 step %c1 iter_args(%p = %p1) -> (!ph) {
          %s = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
          %v = memref.load %s[%c0, %c0] : !slot
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

// A branch that every role takes alike, and a loop of many constant steps.
// CHECK: tracea_pipe.kernel @branch
// CHECK-SAME: check = "protocol", claim = "2 roles, 1 channels, every trip count"
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
tracea_pipe.kernel @branch(%a: memref<?x?xf32>, %n: index, %b: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c4096 = arith.constant 4096 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 1] {
        %q0 = scf.if %b -> (!ph) {
          %s = tracea_pipe.acquire %ch[%p0] : !ch, !ph -> !slot
          tracea_pipe.copy %a[%i, %i] map affine_map<(i, j) -> (i, j)> to %s : memref<?x?xf32>, !slot
          tracea_pipe.commit %ch[%p0] : !ch, !ph
          %q = tracea_pipe.advance %p0 : !ph
          scf.yield %q : !ph
        } else {
          scf.yield %p0 : !ph
        }
        scf.for %k = %c0 to %c4096 step %c64 iter_args(%p = %q0) -> (!ph) {
          %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
          tracea_pipe.copy %a[%i, %k] map affine_map<(i, j) -> (i, j)> to %s : memref<?x?xf32>, !slot
          tracea_pipe.commit %ch[%p] : !ch, !ph
          %q = tracea_pipe.advance %p : !ph
          scf.yield %q : !ph
        }
      }
      tracea_pipe.role "consumer" warps [4, 8] {
        %q0 = scf.if %b -> (!ph) {
          %s = tracea_pipe.wait %ch[%p0] : !ch, !ph -> !slot
          tracea_pipe.release %ch[%p0] : !ch, !ph
          %q = tracea_pipe.advance %p0 : !ph
          scf.yield %q : !ph
        } else {
          scf.yield %p0 : !ph
        }
        scf.for %k = %c0 to %c64 step %c1 iter_args(%p = %q0) -> (!ph) {
          %s = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
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

// What pipelining makes of staged tiles is proved as well (second RUN line).
// CHECK-LABEL: tracea_pipe.kernel @staged
// STAGED: tracea_pipe.kernel @staged
// STAGED-SAME: {{check = "protocol", claim =}} "1 roles, 2 channels, every trip count"
tracea_pipe.kernel @staged(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    scf.for %k = %c0 to %n step %c1 {
      %s = tracea_pipe.stage %b[%k, %c0] map affine_map<(i, j) -> (i, j)> slots 2
           : memref<?x?xf32> -> tensor<8x32xf32, #tracea_pipe.staged>
      scf.for %j = %c0 to %n step %c1 {
        %t = tracea_pipe.stage %a[%j, %k] map affine_map<(i, j) -> (i, j)>
             : memref<?x?xf32> -> tensor<4x8xf32, #tracea_pipe.staged>
        %acc = arith.constant dense<0.0> : tensor<4x32xf32, #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [0, 8], [0, 16]], lane = [[0, 1], [0, 2], [0, 4]], outer = [1, 1]>>
        %r = tracea_pipe.mma %t, %s, %acc : tensor<4x8xf32, #tracea_pipe.staged>, tensor<8x32xf32, #tracea_pipe.staged>, tensor<4x32xf32, #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [0, 8], [0, 16]], lane = [[0, 1], [0, 2], [0, 4]], outer = [1, 1]>>
      }
    }
  }
  tracea_pipe.end
}
