// RUN: tracea-opt %s --split-input-file --verify-diagnostics

tracea_pipe.kernel @size(%n: index) {
  // expected-error @below {{expects a cluster of 1, 2, 4, 8 or 16 workgroups, found 3}}
  tiles (%p, %i) in (%n, %n) cluster 3 {
  }
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @bound(%n: index) {
  // expected-error @below {{expects the first bound to be the constant 4, the workgroups of a cluster}}
  tiles (%p, %i) in (%n, %n) cluster 4 {
  }
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @grouped(%n: index) {
  %c4 = arith.constant 4 : index
  // expected-error @below {{expects two dimensions or more beside the cluster's to group}}
  tiles (%p, %i) in (%c4, %n) group 8 cluster 4 {
  }
  tracea_pipe.end
}

// -----

#acc = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], outer = [1, 1]>
#rows = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[0, 0], [1, 0]], outer = [1, 1]>
tracea_pipe.kernel @share(%n: index, %y: memref<4x32xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  // expected-note @below {{the grid has clusters of 4 workgroups}}
  tiles (%p, %i) in (%c4, %n) cluster 4 {
    %x = tracea_pipe.load %y[%c0, %c0] map affine_map<(i, j) -> (i, j)> : memref<4x32xf32> -> tensor<4x32xf32, #acc>
    // expected-error @below {{expects to share 4 rows evenly among the workgroups of a cluster, found a result of 2}}
    %s = tracea_pipe.cluster_sum %x part %p : tensor<4x32xf32, #acc> -> tensor<2x32xf32, #rows>
  }
  tracea_pipe.end
}

// -----

#acc = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], outer = [1, 1]>
#rows = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[0, 0], [1, 0]], outer = [1, 1]>
tracea_pipe.kernel @part(%n: index, %y: memref<4x32xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  tiles (%p, %i) in (%c2, %n) cluster 2 {
    %x = tracea_pipe.load %y[%c0, %c0] map affine_map<(i, j) -> (i, j)> : memref<4x32xf32> -> tensor<4x32xf32, #acc>
    // expected-error @below {{expects the first index of the grid, the workgroup's number in its cluster, as its part}}
    %s = tracea_pipe.cluster_sum %x part %i : tensor<4x32xf32, #acc> -> tensor<2x32xf32, #rows>
  }
  tracea_pipe.end
}

// -----

#acc = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], outer = [1, 1]>
tracea_pipe.kernel @elements(%n: index, %y: memref<4x32xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  tiles (%p, %i) in (%c2, %n) cluster 2 {
    %x = tracea_pipe.load %y[%c0, %c0] map affine_map<(i, j) -> (i, j)> : memref<4x32xf32> -> tensor<4x32xf32, #acc>
    // expected-error @below {{expects a result of some rows of its value, with all columns and the same elements}}
    %s = tracea_pipe.cluster_sum %x part %p : tensor<4x32xf32, #acc> -> tensor<4x32xf16, #acc>
  }
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @memory(%n: index, %y: memref<4x32xf32>) {
  %c2 = arith.constant 2 : index
  tiles (%p, %i) in (%c2, %n) cluster 2 {
    // expected-error @below {{expects staged memory of static shape, found 'memref<4x32xf32>'}}
    %peer = tracea_pipe.peer %y[%p] : memref<4x32xf32>
  }
  tracea_pipe.end
}
