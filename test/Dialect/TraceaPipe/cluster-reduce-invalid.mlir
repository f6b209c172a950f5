// RUN: tracea-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-cluster-reduce,tracea-persistent-tiles))"

#acc = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], outer = [1, 1]>
#rows = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[0, 0], [1, 0]], outer = [1, 1]>
tracea_pipe.kernel @twice(%n: index, %y: memref<4x32xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  tiles (%p, %i) in (%c2, %n) cluster 2 {
    %x = tracea_pipe.load %y[%c0, %c0] map affine_map<(i, j) -> (i, j)> : memref<4x32xf32> -> tensor<4x32xf32, #acc>
    // expected-note @below {{the first one is here}}
    %s = tracea_pipe.cluster_sum %x part %p : tensor<4x32xf32, #acc> -> tensor<2x32xf32, #rows>
    // expected-error @below {{is the second one of this kernel; expected one sum that a cluster shares}}
    %t = tracea_pipe.cluster_sum %x part %p : tensor<4x32xf32, #acc> -> tensor<2x32xf32, #rows>
  }
  tracea_pipe.end
}

// -----

#acc = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], outer = [1, 1]>
#rows = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[0, 0], [1, 0]], outer = [1, 1]>
tracea_pipe.kernel @loop(%n: index, %y: memref<4x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tiles (%p, %i) in (%c2, %n) cluster 2 {
    %x = tracea_pipe.load %y[%c0, %c0] map affine_map<(i, j) -> (i, j)> : memref<4x32xf32> -> tensor<4x32xf32, #acc>
    scf.for %k = %c0 to %n step %c1 {
      // expected-error @below {{expects to stand directly in the grid: all of the cluster comes to it once}}
      %s = tracea_pipe.cluster_sum %x part %p : tensor<4x32xf32, #acc> -> tensor<2x32xf32, #rows>
    }
  }
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @walk(%n: index) attributes {pipeline = #tracea_pipe.pipeline<workgroups = 132>} {
  %c2 = arith.constant 2 : index
  // expected-error @below {{has clusters, whose workgroups meet once: expects a pipeline without 'workgroups' that walk over tiles}}
  tiles (%p, %i) in (%c2, %n) cluster 2 {
  }
  tracea_pipe.end
}
