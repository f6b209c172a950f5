// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-protocol))" -verify-diagnostics

// One fault a kernel: the error is at the operation, the notes at the others.

// No slot is ever given back.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
// expected-note@+1 {{the run (iterations: loop 0 = 3 or more): }}
tracea_pipe.kernel @no_release(%a: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
      // expected-error@+1 {{breaks the protocol (deadlock): 'workgroup' waits for ever for slot 0 of 'channel 0' to be released; missing: 'workgroup'}}
      %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
      tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
      tracea_pipe.commit %ch[%p] : !ch, !ph
      %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
      %v = memref.load %f[%c0, %c0] : !slot
      %q = tracea_pipe.advance %p : !ph
      scf.yield %q : !ph
    }
  }
  tracea_pipe.end
}

// -----

// Nobody hands the slot over.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
// expected-note@+1 {{the run (iterations: loop 0 = 1 or more): }}
tracea_pipe.kernel @no_commit(%a: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
      %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
      tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
      // expected-error@+1 {{breaks the protocol (deadlock): 'workgroup' waits for ever for slot 0 of 'channel 0' to be filled; missing: 'workgroup'}}
      %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
      %v = memref.load %f[%c0, %c0] : !slot
      tracea_pipe.release %ch[%p] : !ch, !ph
      %q = tracea_pipe.advance %p : !ph
      scf.yield %q : !ph
    }
  }
  tracea_pipe.end
}

// -----

// Handed over twice.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
// expected-note@+1 {{the run (iterations: loop 0 = 1 or more): }}
tracea_pipe.kernel @double_commit(%a: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
      %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
      tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
      // expected-note@+1 {{the last step of 'workgroup' there: commit slot 0 of 'channel 0'}}
      tracea_pipe.commit %ch[%p] : !ch, !ph
      // expected-error@+1 {{breaks the protocol (arrival count): 'workgroup' may commit slot 0 of 'channel 0' twice in one phase}}
      tracea_pipe.commit %ch[%p] : !ch, !ph
      %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
      %v = memref.load %f[%c0, %c0] : !slot
      tracea_pipe.release %ch[%p] : !ch, !ph
      %q = tracea_pipe.advance %p : !ph
      scf.yield %q : !ph
    }
  }
  tracea_pipe.end
}

// -----

// Given back twice.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
// expected-note@+1 {{the run (iterations: loop 0 = 1 or more): }}
tracea_pipe.kernel @double_release(%a: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
      %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
      tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
      tracea_pipe.commit %ch[%p] : !ch, !ph
      %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
      %v = memref.load %f[%c0, %c0] : !slot
      // expected-note@+1 {{the last step of 'workgroup' there: release slot 0 of 'channel 0'}}
      tracea_pipe.release %ch[%p] : !ch, !ph
      // expected-error@+1 {{breaks the protocol (arrival count): 'workgroup' may release slot 0 of 'channel 0' twice in one phase}}
      tracea_pipe.release %ch[%p] : !ch, !ph
      %q = tracea_pipe.advance %p : !ph
      scf.yield %q : !ph
    }
  }
  tracea_pipe.end
}

// -----

// Waits for itself.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
// expected-note@+1 {{the run (iterations: loop 0 = 1 or more): }}
tracea_pipe.kernel @wait_before_commit(%a: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
      %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
      tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
      // expected-error@+1 {{breaks the protocol (deadlock): 'workgroup' waits for ever for slot 0 of 'channel 0' to be filled; missing: 'workgroup'}}
      %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
      %v = memref.load %f[%c0, %c0] : !slot
      tracea_pipe.commit %ch[%p] : !ch, !ph
      tracea_pipe.release %ch[%p] : !ch, !ph
      %q = tracea_pipe.advance %p : !ph
      scf.yield %q : !ph
    }
  }
  tracea_pipe.end
}

// -----

// The order of the two sides swapped.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
tracea_pipe.kernel @wait_before_acquire(%a: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
      // expected-error@+1 {{breaks the protocol (deadlock): 'workgroup' waits for ever for slot 0 of 'channel 0' to be filled; missing: 'workgroup'}}
      %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
      %v = memref.load %f[%c0, %c0] : !slot
      %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
      tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
      tracea_pipe.commit %ch[%p] : !ch, !ph
      tracea_pipe.release %ch[%p] : !ch, !ph
      %q = tracea_pipe.advance %p : !ph
      scf.yield %q : !ph
    }
  }
  tracea_pipe.end
}

// -----

// The matrix unit reads what was given back.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
// expected-note@+1 {{the run (iterations: loop 0 = 1 or more): }}
tracea_pipe.kernel @read_after_release(%a: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
      %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
      tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
      tracea_pipe.commit %ch[%p] : !ch, !ph
      %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
      // expected-note@+1 {{the last step of 'workgroup' there: release slot 0 of 'channel 0'}}
      tracea_pipe.release %ch[%p] : !ch, !ph
      // expected-error@+1 {{breaks the protocol (read after release): 'workgroup' reads slot 0 of 'channel 0' after it has released the slot}}
      %v = memref.load %f[%c0, %c0] : !slot
      %q = tracea_pipe.advance %p : !ph
      scf.yield %q : !ph
    }
  }
  tracea_pipe.end
}

// -----

// Filled after it was handed over.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
// expected-note@+1 {{the run (iterations: loop 0 = 1 or more): }}
tracea_pipe.kernel @copy_after_commit(%a: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
      %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
      // expected-note@+1 {{the last step of 'workgroup' there: commit slot 0 of 'channel 0'}}
      tracea_pipe.commit %ch[%p] : !ch, !ph
      // expected-error@+1 {{breaks the protocol (overwrite): 'workgroup' fills slot 0 of 'channel 0' after it has committed the slot}}
      tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
      %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
      %v = memref.load %f[%c0, %c0] : !slot
      tracea_pipe.release %ch[%p] : !ch, !ph
      %q = tracea_pipe.advance %p : !ph
      scf.yield %q : !ph
    }
  }
  tracea_pipe.end
}

// -----

// Nothing is copied.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
// expected-note@+1 {{the run (iterations: loop 0 = 1 or more): }}
tracea_pipe.kernel @copy_missing(%a: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
      // expected-note@+1 {{the last step of 'workgroup' there: acquire slot 0 of 'channel 0'}}
      %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
      // expected-error@+1 {{breaks the protocol (bytes): slot 0 of 'channel 0' expects 512 bytes, but 0 are copied}}
      tracea_pipe.commit %ch[%p] : !ch, !ph
      %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
      %v = memref.load %f[%c0, %c0] : !slot
      tracea_pipe.release %ch[%p] : !ch, !ph
      %q = tracea_pipe.advance %p : !ph
      scf.yield %q : !ph
    }
  }
  tracea_pipe.end
}

// -----

// The same buffer is filled twice.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
// expected-note@+1 {{the run (iterations: loop 0 = 1 or more): }}
tracea_pipe.kernel @copy_twice(%a: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
      %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
      // expected-note@+1 {{the last step of 'workgroup' there: copy slot 0 of 'channel 0'}}
      tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
      // expected-error@+1 {{breaks the protocol (overwrite): 'workgroup' overwrites slot 0 of 'channel 0': 'workgroup' has not read what is there}}
      tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
      tracea_pipe.commit %ch[%p] : !ch, !ph
      %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
      %v = memref.load %f[%c0, %c0] : !slot
      tracea_pipe.release %ch[%p] : !ch, !ph
      %q = tracea_pipe.advance %p : !ph
      scf.yield %q : !ph
    }
  }
  tracea_pipe.end
}

// -----

// Three advances instead of one: a slot comes round with the wrong parity. (Two
// would be a ring of one slot, which is fine.)
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
// expected-note@+1 {{the run (iterations: loop 0 = 2 or more): }}
tracea_pipe.kernel @advanced_thrice(%a: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
      // expected-error@+1 {{breaks the protocol (parity aliasing): 'workgroup' waits at the empty barrier of slot 1 of 'channel 0' with the parity of another phase}}
      %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
      tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
      tracea_pipe.commit %ch[%p] : !ch, !ph
      %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
      %v = memref.load %f[%c0, %c0] : !slot
      tracea_pipe.release %ch[%p] : !ch, !ph
      %q0 = tracea_pipe.advance %p : !ph
      %q1 = tracea_pipe.advance %q0 : !ph
      %q = tracea_pipe.advance %q1 : !ph
      scf.yield %q : !ph
    }
  }
  tracea_pipe.end
}

// -----

// The phase stands still.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
// expected-note@+1 {{the run (iterations: loop 0 = 2 or more): }}
tracea_pipe.kernel @not_advanced(%a: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
      // expected-error@+1 {{breaks the protocol (parity aliasing): 'workgroup' waits at the empty barrier of slot 0 of 'channel 0' with the parity of another phase}}
      %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
      tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
      tracea_pipe.commit %ch[%p] : !ch, !ph
      %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
      %v = memref.load %f[%c0, %c0] : !slot
      // expected-note@+1 {{the last step of 'workgroup' there: release slot 0 of 'channel 0'}}
      tracea_pipe.release %ch[%p] : !ch, !ph
      scf.yield %p : !ph
    }
  }
  tracea_pipe.end
}

// -----

// The phase starts anew in each iteration.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
// expected-note@+1 {{the run (iterations: loop 0 = 2 or more): }}
tracea_pipe.kernel @restarted(%a: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    %z = tracea_pipe.start : !ph
    %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
      // expected-error@+1 {{breaks the protocol (parity aliasing): 'workgroup' waits at the empty barrier of slot 0 of 'channel 0' with the parity of another phase}}
      %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
      tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
      tracea_pipe.commit %ch[%p] : !ch, !ph
      %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
      %v = memref.load %f[%c0, %c0] : !slot
      // expected-note@+1 {{the last step of 'workgroup' there: release slot 0 of 'channel 0'}}
      tracea_pipe.release %ch[%p] : !ch, !ph
      scf.yield %z : !ph
    }
  }
  tracea_pipe.end
}

// -----

// Waits for the slot after the one that was filled.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
tracea_pipe.kernel @wrong_slot_waited(%a: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
      %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
      tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
      tracea_pipe.commit %ch[%p] : !ch, !ph
      %q = tracea_pipe.advance %p : !ph
      // expected-error@+1 {{breaks the protocol (deadlock): 'workgroup' waits for ever for slot 1 of 'channel 0' to be filled; missing: 'workgroup'}}
      %f = tracea_pipe.wait %ch[%q] : !ch, !ph -> !slot
      %v = memref.load %f[%c0, %c0] : !slot
      tracea_pipe.release %ch[%p] : !ch, !ph
      scf.yield %q : !ph
    }
  }
  tracea_pipe.end
}

// -----

// Gives back the slot after the one that was read.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
// expected-note@+1 {{the run (iterations: loop 0 = 1 or more): }}
tracea_pipe.kernel @wrong_slot_released(%a: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
      %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
      tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
      tracea_pipe.commit %ch[%p] : !ch, !ph
      %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
      %v = memref.load %f[%c0, %c0] : !slot
      %q = tracea_pipe.advance %p : !ph
      // expected-error@+1 {{breaks the protocol (parity aliasing): a phase of the empty barrier of slot 1 of 'channel 0' completes before 'workgroup' is sure to have seen the one before}}
      tracea_pipe.release %ch[%q] : !ch, !ph
      scf.yield %q : !ph
    }
  }
  tracea_pipe.end
}

// -----

// One more slot is filled than read.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
// expected-note@+1 {{the run (iterations: loop 0 = 0): }}
tracea_pipe.kernel @not_drained(%a: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
      %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
      tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
      tracea_pipe.commit %ch[%p] : !ch, !ph
      %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
      %v = memref.load %f[%c0, %c0] : !slot
      tracea_pipe.release %ch[%p] : !ch, !ph
      %q = tracea_pipe.advance %p : !ph
      scf.yield %q : !ph
    }
    %s = tracea_pipe.acquire %ch[%e] : !ch, !ph -> !slot
    // expected-note@+1 {{the last step of 'workgroup' there: copy slot 0 of 'channel 0'}}
    tracea_pipe.copy %a[%c0, %c0] map #id to %s : memref<?x?xf32>, !slot
    // expected-error@+1 {{breaks the protocol (drain): slot 0 of 'channel 0' is filled and never read by 'workgroup'}}
    tracea_pipe.commit %ch[%e] : !ch, !ph
  }
  tracea_pipe.end
}

// -----

// Reads what it is filling.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
// expected-note@+1 {{the run (iterations: loop 0 = 1 or more): }}
tracea_pipe.kernel @read_unwaited(%a: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
      %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
      // expected-note@+1 {{the last step of 'workgroup' there: copy slot 0 of 'channel 0'}}
      tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
      // expected-error@+1 {{breaks the protocol (unfilled read): 'workgroup' reads slot 0 of 'channel 0' without waiting for its data}}
      %v = memref.load %s[%c0, %c0] : !slot
      tracea_pipe.commit %ch[%p] : !ch, !ph
      %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
      tracea_pipe.release %ch[%p] : !ch, !ph
      %q = tracea_pipe.advance %p : !ph
      scf.yield %q : !ph
    }
  }
  tracea_pipe.end
}

// -----

// The consumer gives nothing back.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
// expected-note@+1 {{the run (iterations: loop 0 = 3 or more): }}
tracea_pipe.kernel @roles_no_release(%a: memref<?x?xf32>, %n: index, %m: index, %lens: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] {
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
          // expected-error@+1 {{breaks the protocol (deadlock): 'producer' waits for ever for slot 0 of 'channel 0' to be released; missing: 'consumer'}}
          %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
          tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
          tracea_pipe.commit %ch[%p] : !ch, !ph
          %q = tracea_pipe.advance %p : !ph
          scf.yield %q : !ph
        }
      }
      tracea_pipe.role "consumer" warps [4, 8] {
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
          // expected-note@+1 {{'consumer' waits for ever for slot 0 of 'channel 0' to be filled; missing: 'producer'}}
          %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
          %v = memref.load %f[%c0, %c0] : !slot
          %q = tracea_pipe.advance %p : !ph
          scf.yield %q : !ph
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// The producer hands nothing over.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
// expected-note@+1 {{the run (iterations: loop 0 = 1): }}
tracea_pipe.kernel @roles_no_commit(%a: memref<?x?xf32>, %n: index, %m: index, %lens: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] {
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
          %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
          // expected-note@+1 {{the last step of 'producer' there: copy slot 0 of 'channel 0'}}
          tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
          %q = tracea_pipe.advance %p : !ph
          scf.yield %q : !ph
        }
      }
      tracea_pipe.role "consumer" warps [4, 8] {
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
          // expected-error@+1 {{breaks the protocol (deadlock): 'consumer' waits for ever for slot 0 of 'channel 0' to be filled; missing: 'producer'}}
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

// Filled n times, read m times.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
tracea_pipe.kernel @trip_counts_differ(%a: memref<?x?xf32>, %n: index, %m: index, %lens: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
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
        %e = scf.for %k = %c0 to %m step %c1 iter_args(%p = %p0) -> (!ph) {
          // expected-error@+1 {{breaks the protocol (deadlock): 'consumer' waits for ever for slot 0 of 'channel 0' to be filled; missing: 'producer'}}
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

// The consumer starts at one.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
tracea_pipe.kernel @one_step_less(%a: memref<?x?xf32>, %n: index, %m: index, %lens: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
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
        %e = scf.for %k = %c1 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
          // expected-error@+1 {{breaks the protocol (deadlock): 'consumer' waits for ever for slot 0 of 'channel 0' to be filled; missing: 'producer'}}
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

// The consumer waits once more.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
tracea_pipe.kernel @one_step_more(%a: memref<?x?xf32>, %n: index, %m: index, %lens: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
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
        // expected-error@+1 {{breaks the protocol (deadlock): 'consumer' waits for ever for slot 0 of 'channel 0' to be filled; missing: 'producer'}}
        %f = tracea_pipe.wait %ch[%e] : !ch, !ph -> !slot
        tracea_pipe.release %ch[%e] : !ch, !ph
      }
    }
  }
  tracea_pipe.end
}

// -----

// The consumer starts one slot ahead.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
tracea_pipe.kernel @consumer_ahead(%a: memref<?x?xf32>, %n: index, %m: index, %lens: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
    %ch = tracea_pipe.channel : !ch
    %y = tracea_pipe.start : !ph
    %p1 = tracea_pipe.advance %y : !ph
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
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p1) -> (!ph) {
          // expected-error@+1 {{breaks the protocol (deadlock): 'consumer' waits for ever for slot 1 of 'channel 0' to be filled; missing: 'producer'}}
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

// The consumer advances twice.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
// expected-note@+1 {{the run (iterations: loop 0 = 2): }}
tracea_pipe.kernel @consumer_skips(%a: memref<?x?xf32>, %n: index, %m: index, %lens: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] {
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
          %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
          tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
          // expected-note@+1 {{the last step of 'producer' there: commit slot 0 of 'channel 0'}}
          tracea_pipe.commit %ch[%p] : !ch, !ph
          %q = tracea_pipe.advance %p : !ph
          scf.yield %q : !ph
        }
      }
      tracea_pipe.role "consumer" warps [4, 8] {
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
          // expected-error@+1 {{breaks the protocol (deadlock): 'consumer' waits for ever for slot 0 of 'channel 0' to be filled; missing: 'producer'}}
          %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
          %v = memref.load %f[%c0, %c0] : !slot
          tracea_pipe.release %ch[%p] : !ch, !ph
          %q0 = tracea_pipe.advance %p : !ph
          %q = tracea_pipe.advance %q0 : !ph
          scf.yield %q : !ph
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// Given back before it is read.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
// expected-note@+1 {{the run (iterations: loop 0 = 1 or more): }}
tracea_pipe.kernel @release_first(%a: memref<?x?xf32>, %n: index, %m: index, %lens: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] {
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
          %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
          tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
          // expected-note@+1 {{the last step of 'producer' there: commit slot 0 of 'channel 0'}}
          tracea_pipe.commit %ch[%p] : !ch, !ph
          %q = tracea_pipe.advance %p : !ph
          scf.yield %q : !ph
        }
      }
      tracea_pipe.role "consumer" warps [4, 8] {
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
          %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
          // expected-note@+1 {{the last step of 'consumer' there: release slot 0 of 'channel 0'}}
          tracea_pipe.release %ch[%p] : !ch, !ph
          // expected-error@+1 {{breaks the protocol (read after release): 'consumer' reads slot 0 of 'channel 0' after it has released the slot}}
          %v = memref.load %f[%c0, %c0] : !slot
          %q = tracea_pipe.advance %p : !ph
          scf.yield %q : !ph
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// One of two buffers is never copied.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!row = memref<4xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot, !row)>
!ph = !tracea_pipe.phase<2>
// expected-note@+1 {{the run (iterations: loop 0 = 1): }}
tracea_pipe.kernel @bytes_missing(%a: memref<?x?xf32>, %n: index, %m: index, %lens: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] {
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
          %s:2 = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot, !row
          // expected-note@+1 {{the last step of 'producer' there: copy slot 0 of 'channel 0'}}
          tracea_pipe.copy %a[%k, %k] map #id to %s#0 : memref<?x?xf32>, !slot
          // expected-error@+1 {{breaks the protocol (bytes): slot 0 of 'channel 0' expects 528 bytes, but 512 are copied}}
          tracea_pipe.commit %ch[%p] : !ch, !ph
          %q = tracea_pipe.advance %p : !ph
          scf.yield %q : !ph
        }
      }
      tracea_pipe.role "consumer" warps [4, 8] {
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
          %f:2 = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot, !row
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

// Half of the buffer is copied.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
// expected-note@+1 {{the run (iterations: loop 0 = 1): }}
tracea_pipe.kernel @bytes_part(%a: memref<?x?xf32>, %n: index, %m: index, %lens: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] {
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
          %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
          %w = tracea_pipe.view %s[%c0, %c0] map #id : !slot -> memref<4x16xf32, strided<[16, 1], offset: ?>, #tracea_pipe.staged>
          // expected-note@+1 {{the last step of 'producer' there: copy slot 0 of 'channel 0'}}
          tracea_pipe.copy %a[%k, %k] map #id to %w : memref<?x?xf32>, memref<4x16xf32, strided<[16, 1], offset: ?>, #tracea_pipe.staged>
          // expected-error@+1 {{breaks the protocol (bytes): slot 0 of 'channel 0' expects 512 bytes, but 256 are copied}}
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

// Gives back a slot of the ring that it did not wait for.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
// expected-note@+1 {{the run (iterations: loop 0 = 1 or more): }}
tracea_pipe.kernel @release_other_ring(%a: memref<?x?xf32>, %n: index, %m: index, %lens: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
    %ch = tracea_pipe.channel : !ch
    %other = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] {
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
          %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
          tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
          // expected-note@+1 {{the last step of 'producer' there: commit slot 0 of 'channel 0'}}
          tracea_pipe.commit %ch[%p] : !ch, !ph
          %s2 = tracea_pipe.acquire %other[%p] : !ch, !ph -> !slot
          tracea_pipe.copy %a[%k, %k] map #id to %s2 : memref<?x?xf32>, !slot
          tracea_pipe.commit %other[%p] : !ch, !ph
          %q = tracea_pipe.advance %p : !ph
          scf.yield %q : !ph
        }
      }
      tracea_pipe.role "consumer" warps [4, 8] {
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
          %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
          // expected-note@+1 {{the last step of 'consumer' there: release slot 0 of 'channel 0'}}
          tracea_pipe.release %ch[%p] : !ch, !ph
          %f2 = tracea_pipe.wait %other[%p] : !ch, !ph -> !slot
          // expected-error@+1 {{breaks the protocol (arrival count): 'consumer' may release slot 0 of 'channel 0' twice in one phase}}
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

// Each waits for what the other does next.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
tracea_pipe.kernel @crossed_rings(%a: memref<?x?xf32>, %n: index, %m: index, %lens: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ch
    %other = tracea_pipe.channel : !ch
    // expected-note@+1 {{channel 2 is declared here}}
    %back = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] {
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
          %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
          %s2 = tracea_pipe.acquire %other[%p] : !ch, !ph -> !slot
          // expected-error@+1 {{breaks the protocol (deadlock): 'producer' waits for ever for slot 0 of 'channel 2' to be filled; missing: 'consumer'}}
          %g = tracea_pipe.wait %back[%p] : !ch, !ph -> !slot
          tracea_pipe.release %back[%p] : !ch, !ph
          tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
          tracea_pipe.copy %a[%k, %k] map #id to %s2 : memref<?x?xf32>, !slot
          tracea_pipe.commit %ch[%p] : !ch, !ph
          tracea_pipe.commit %other[%p] : !ch, !ph
          %q = tracea_pipe.advance %p : !ph
          scf.yield %q : !ph
        }
      }
      tracea_pipe.role "consumer" warps [4, 8] {
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
          // expected-note@+1 {{'consumer' waits for ever for slot 0 of 'channel 0' to be filled; missing: 'producer'}}
          %f = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
          %f2 = tracea_pipe.wait %other[%p] : !ch, !ph -> !slot
          %b = tracea_pipe.acquire %back[%p] : !ch, !ph -> !slot
          tracea_pipe.copy %a[%k, %k] map #id to %b : memref<?x?xf32>, !slot
          tracea_pipe.commit %back[%p] : !ch, !ph
          tracea_pipe.release %ch[%p] : !ch, !ph
          tracea_pipe.release %other[%p] : !ch, !ph
          %q = tracea_pipe.advance %p : !ph
          scf.yield %q : !ph
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// Gives back a ring that only others wait for.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
tracea_pipe.kernel @released_unwaited(%a: memref<?x?xf32>, %n: index, %m: index, %lens: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ch
    %other = tracea_pipe.channel : !ch
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
          // expected-error@+1 {{gives back a slot of a channel that role 'consumer' never waits for (Rule B)}}
          tracea_pipe.release %other[%p] : !ch, !ph
          %q = tracea_pipe.advance %p : !ph
          scf.yield %q : !ph
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// Hands over a ring that it never acquires.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
tracea_pipe.kernel @committed_unacquired(%a: memref<?x?xf32>, %n: index, %m: index, %lens: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ch
    %other = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] {
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
          %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
          tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
          tracea_pipe.commit %ch[%p] : !ch, !ph
          // expected-error@+1 {{hands over a slot of a channel that role 'producer' never acquires (Rule B)}}
          tracea_pipe.commit %other[%p] : !ch, !ph
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

// Nobody reads the second ring.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
tracea_pipe.kernel @nobody_waits(%a: memref<?x?xf32>, %n: index, %m: index, %lens: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ch
    %other = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] {
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
          %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
          tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
          tracea_pipe.commit %ch[%p] : !ch, !ph
          // expected-error@+1 {{fills a channel that nobody waits for}}
          %o = tracea_pipe.acquire %other[%p] : !ch, !ph -> !slot
          tracea_pipe.commit %other[%p] : !ch, !ph
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

// Nobody fills the second ring.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
tracea_pipe.kernel @nobody_fills(%a: memref<?x?xf32>, %n: index, %m: index, %lens: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ch
    %other = tracea_pipe.channel : !ch
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
          // expected-error@+1 {{waits for a channel that nobody fills}}
          %o = tracea_pipe.wait %other[%p] : !ch, !ph -> !slot
          tracea_pipe.release %other[%p] : !ch, !ph
          %q = tracea_pipe.advance %p : !ph
          scf.yield %q : !ph
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// Budgets beyond the register file (Rule B).
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
// expected-error@+1 {{breaks the protocol (roles): the roles' budgets need 98304 registers, a workgroup has 65536}}
tracea_pipe.kernel @registers(%a: memref<?x?xf32>, %n: index, %m: index, %lens: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] registers 256 {
        %e = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> (!ph) {
          %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
          tracea_pipe.copy %a[%k, %k] map #id to %s : memref<?x?xf32>, !slot
          tracea_pipe.commit %ch[%p] : !ch, !ph
          %q = tracea_pipe.advance %p : !ph
          scf.yield %q : !ph
        }
      }
      tracea_pipe.role "consumer" warps [4, 12] registers 256 attributes {test.note} {
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

// Roles are split once (Rule B).
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
tracea_pipe.kernel @split_twice(%a: memref<?x?xf32>, %n: index, %m: index, %lens: memref<?xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    // expected-note@+1 {{the first split is here}}
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
    // expected-error@+1 {{splits roles a second time; a warp keeps its role (Rule B)}}
    tracea_pipe.roles {
    }
  }
  tracea_pipe.end
}

// -----

// The consumer writes into a slot (Rule B).
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
tracea_pipe.kernel @writes_what_it_reads(%a: memref<?x?xf32>, %n: index, %m: index, %lens: memref<?xindex>) {
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
          // expected-error@+1 {{breaks the protocol (roles): 'consumer' may not copy 'channel 0': it is no declared producer}}
          tracea_pipe.copy %a[%k, %k] map #id to %f : memref<?x?xf32>, !slot
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

// The ring is initialised in every iteration (Rule A).
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
tracea_pipe.kernel @channel_in_loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    scf.for %k = %c0 to %n step %c1 {
      // expected-error@+1 {{is initialised more than once: it is declared inside 'scf.for', not at the top of the grid tile (Rule A)}}
      %ch = tracea_pipe.channel : !ch
    }
  }
  tracea_pipe.end
}

// -----

// One slot of seventeen is not read.
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<4 x (!slot)>
!ph = !tracea_pipe.phase<4>
// expected-note@+1 {{the run: }}
tracea_pipe.kernel @one_too_few(%a: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c17 = arith.constant 17 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note@+1 {{channel 0 is declared here}}
    %ch = tracea_pipe.channel : !ch
    %p0 = tracea_pipe.start : !ph
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 1] {
        scf.for %k = %c0 to %c17 step %c1 iter_args(%p = %p0) -> (!ph) {
          %s = tracea_pipe.acquire %ch[%p] : !ch, !ph -> !slot
          // expected-note@+1 {{the last step of 'producer' there: copy slot 0 of 'channel 0'}}
          tracea_pipe.copy %a[%i, %k] map #id to %s : memref<?x?xf32>, !slot
          // expected-error@+1 {{breaks the protocol (drain): slot 0 of 'channel 0' is filled and never read by 'consumer'}}
          tracea_pipe.commit %ch[%p] : !ch, !ph
          %q = tracea_pipe.advance %p : !ph
          scf.yield %q : !ph
        }
      }
      tracea_pipe.role "consumer" warps [4, 8] {
        scf.for %k = %c1 to %c17 step %c1 iter_args(%p = %p0) -> (!ph) {
          %s = tracea_pipe.wait %ch[%p] : !ch, !ph -> !slot
          %v = memref.load %s[%c0, %c0] : !slot
          // expected-note@+1 {{the last step of 'consumer' there: release slot 0 of 'channel 0'}}
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

// Roles change from iteration to iteration (Rule B).
#id = affine_map<(i, j) -> (i, j)>
!slot = memref<8x16xf32, #tracea_pipe.staged>
!ch = !tracea_pipe.channel<2 x (!slot)>
!ph = !tracea_pipe.phase<2>
tracea_pipe.kernel @roles_in_loop(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    scf.for %k = %c0 to %n step %c1 {
      // expected-error@+1 {{splits roles inside 'scf.for'; a warp keeps its role (Rule B)}}
      tracea_pipe.roles {
      }
    }
  }
  tracea_pipe.end
}
