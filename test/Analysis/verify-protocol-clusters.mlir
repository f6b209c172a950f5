// Workgroups of a cluster read one another's memory: between its writes and the
// reads of others there is a barrier, and another one before it is given up.
// RUN: tracea-opt %s --split-input-file --verify-diagnostics --mlir-print-op-on-diagnostic=false \
// RUN:     --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-protocol{require-proof=true}))" | FileCheck %s

!part = tensor<4x32xf32, #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], outer = [1, 1]>>
!share = tensor<2x32xf32, #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[0, 0], [1, 0]], outer = [1, 1]>>
!memory = memref<4x32xf32, #tracea_pipe.staged>
#id = affine_map<(i, j) -> (i, j)>

// The others count as one role; a phase of the barrier as a channel.
// CHECK: check = "protocol", claim = "2 roles, 3 channels, every trip count
tracea_pipe.kernel @sum(%x: memref<2x4x32xf32>, %y: memref<4x32xf32>) attributes {warps = 4} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tiles (%p, %t) in (%c2, %c1) cluster 2 {
    %memory = tracea_pipe.scratch : !memory
    %mine = tracea_pipe.load %x[%p, %c0, %c0] map affine_map<(i, j) -> (0, i, j)> : memref<2x4x32xf32> -> !part
    tracea_pipe.store %mine, %memory[%c0, %c0] map #id : !part, !memory
    tracea_pipe.cluster_arrive
    tracea_pipe.cluster_wait
    %row = arith.muli %p, %c2 : index
    %a = tracea_pipe.load %memory[%row, %c0] map #id : !memory -> !share
    %q = arith.xori %p, %c1 : index
    %theirs = tracea_pipe.peer %memory[%q] : !memory
    %b = tracea_pipe.load %theirs[%row, %c0] map #id : !memory -> !share
    %s = arith.addf %a, %b : !share
    tracea_pipe.cluster_arrive
    tracea_pipe.store %s, %y[%row, %c0] map #id : !share, memref<4x32xf32>
    tracea_pipe.cluster_wait
  }
  tracea_pipe.end
}

// -----

!part = tensor<4x32xf32, #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], outer = [1, 1]>>
!share = tensor<2x32xf32, #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[0, 0], [1, 0]], outer = [1, 1]>>
!memory = memref<4x32xf32, #tracea_pipe.staged>
#id = affine_map<(i, j) -> (i, j)>

// Nothing orders the reads after the writes.
// expected-note @below {{the run: }}
tracea_pipe.kernel @no_barrier_before(%x: memref<2x4x32xf32>, %y: memref<4x32xf32>) attributes {warps = 4} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tiles (%p, %t) in (%c2, %c1) cluster 2 {
    %memory = tracea_pipe.scratch : !memory
    %mine = tracea_pipe.load %x[%p, %c0, %c0] map affine_map<(i, j) -> (0, i, j)> : memref<2x4x32xf32> -> !part
    tracea_pipe.store %mine, %memory[%c0, %c0] map #id : !part, !memory
    %row = arith.muli %p, %c2 : index
    %q = arith.xori %p, %c1 : index
    %theirs = tracea_pipe.peer %memory[%q] : !memory
    // expected-error @below {{breaks the protocol (unfilled read)}}
    %b = tracea_pipe.load %theirs[%row, %c0] map #id : !memory -> !share
    tracea_pipe.cluster_arrive
    tracea_pipe.store %b, %y[%row, %c0] map #id : !share, memref<4x32xf32>
    tracea_pipe.cluster_wait
  }
  tracea_pipe.end
}

// -----

!part = tensor<4x32xf32, #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], outer = [1, 1]>>
!share = tensor<2x32xf32, #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[0, 0], [1, 0]], outer = [1, 1]>>
!memory = memref<4x32xf32, #tracea_pipe.staged>
#id = affine_map<(i, j) -> (i, j)>

// It may end while others still read its memory.
// expected-note @below {{the run: }}
tracea_pipe.kernel @no_barrier_after(%x: memref<2x4x32xf32>, %y: memref<4x32xf32>) attributes {warps = 4} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // expected-error @below {{breaks the protocol (drain)}}
  tiles (%p, %t) in (%c2, %c1) cluster 2 {
    %memory = tracea_pipe.scratch : !memory
    %mine = tracea_pipe.load %x[%p, %c0, %c0] map affine_map<(i, j) -> (0, i, j)> : memref<2x4x32xf32> -> !part
    tracea_pipe.store %mine, %memory[%c0, %c0] map #id : !part, !memory
    tracea_pipe.cluster_arrive
    tracea_pipe.cluster_wait
    %row = arith.muli %p, %c2 : index
    %q = arith.xori %p, %c1 : index
    %theirs = tracea_pipe.peer %memory[%q] : !memory
    // expected-note @below {{the last step of 'workgroup' there}}
    // expected-note @below {{the last step of 'peers of workgroup' there}}
    %b = tracea_pipe.load %theirs[%row, %c0] map #id : !memory -> !share
    tracea_pipe.store %b, %y[%row, %c0] map #id : !share, memref<4x32xf32>
  }
  tracea_pipe.end
}

// -----

!part = tensor<4x32xf32, #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], outer = [1, 1]>>
!share = tensor<2x32xf32, #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[0, 0], [1, 0]], outer = [1, 1]>>
!memory = memref<4x32xf32, #tracea_pipe.staged>
#id = affine_map<(i, j) -> (i, j)>

// It says that it has read before it has.
// expected-note @below {{the run: }}
tracea_pipe.kernel @arrives_too_early(%x: memref<2x4x32xf32>, %y: memref<4x32xf32>) attributes {warps = 4} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // expected-error @below {{breaks the protocol (drain)}}
  tiles (%p, %t) in (%c2, %c1) cluster 2 {
    %memory = tracea_pipe.scratch : !memory
    %mine = tracea_pipe.load %x[%p, %c0, %c0] map affine_map<(i, j) -> (0, i, j)> : memref<2x4x32xf32> -> !part
    tracea_pipe.store %mine, %memory[%c0, %c0] map #id : !part, !memory
    tracea_pipe.cluster_arrive
    tracea_pipe.cluster_wait
    %row = arith.muli %p, %c2 : index
    %q = arith.xori %p, %c1 : index
    %theirs = tracea_pipe.peer %memory[%q] : !memory
    tracea_pipe.cluster_arrive
    // expected-note @below {{the last step of 'workgroup' there}}
    // expected-note @below {{the last step of 'peers of workgroup' there}}
    %b = tracea_pipe.load %theirs[%row, %c0] map #id : !memory -> !share
    tracea_pipe.store %b, %y[%row, %c0] map #id : !share, memref<4x32xf32>
    tracea_pipe.cluster_wait
  }
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @no_wait(%n: index) attributes {warps = 4} {
  %c2 = arith.constant 2 : index
  tiles (%p, %t) in (%c2, %n) cluster 2 {
    tracea_pipe.cluster_arrive
    // expected-error @below {{arrives at the barrier of the cluster before it has waited for the phase that it arrived in}}
    tracea_pipe.cluster_arrive
  }
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @no_arrival(%n: index) attributes {warps = 4} {
  %c2 = arith.constant 2 : index
  tiles (%p, %t) in (%c2, %n) cluster 2 {
    // expected-error @below {{waits at the barrier of the cluster without having arrived}}
    tracea_pipe.cluster_wait
  }
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @in_a_loop(%n: index) attributes {warps = 4} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tiles (%p, %t) in (%c2, %n) cluster 2 {
    scf.for %i = %c0 to %n step %c1 {
      // expected-error @below {{protocol not decided: a loop or a branch decides how often it comes to the barrier of the cluster}}
      tracea_pipe.cluster_arrive
      tracea_pipe.cluster_wait
    }
  }
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @no_cluster(%n: index) attributes {warps = 4} {
  // expected-note @below {{the grid is here}}
  tiles (%t) in (%n) {
    // expected-error @below {{expects a grid with clusters}}
    tracea_pipe.cluster_arrive
    tracea_pipe.cluster_wait
  }
  tracea_pipe.end
}
