// RUN: tracea-opt %s | tracea-opt | FileCheck %s
// RUN: tracea-opt %s --mlir-print-op-generic | tracea-opt | FileCheck %s

#acc = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]], outer = [1, 1]>
#rows = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[0, 0], [1, 0]], outer = [1, 1]>

// CHECK-LABEL: tracea_pipe.kernel @cluster
tracea_pipe.kernel @cluster(%n: index, %m: index, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  // CHECK: tiles (%[[P:.*]], %{{.*}}, %{{.*}}) in (%c2, %{{.*}}, %{{.*}}) group 4 cluster 2 attributes {test.note}
  tiles (%p, %i, %j) in (%c2, %n, %m) group 4 cluster 2 attributes {test.note} {
    %x = tracea_pipe.load %y[%i, %j] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<4x32xf32, #acc>
    // CHECK: tracea_pipe.cluster_sum %{{.*}} part %[[P]] : tensor<4x32xf32, #{{.*}}> -> tensor<2x32xf32, #{{.*}}>
    %s = tracea_pipe.cluster_sum %x part %p : tensor<4x32xf32, #acc> -> tensor<2x32xf32, #rows>
    %memory = tracea_pipe.scratch : memref<4x32xf32, #tracea_pipe.staged>
    // CHECK: %[[PEER:.*]] = tracea_pipe.peer %{{.*}}[%[[P]]] : memref<4x32xf32, #tracea_pipe.staged>
    %peer = tracea_pipe.peer %memory[%p] : memref<4x32xf32, #tracea_pipe.staged>
    // CHECK: tracea_pipe.cluster_arrive
    tracea_pipe.cluster_arrive
    // CHECK: tracea_pipe.cluster_wait
    tracea_pipe.cluster_wait
    tracea_pipe.store %s, %y[%i, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x32xf32, #rows>, memref<?x?xf32>
  }
  tracea_pipe.end
}
