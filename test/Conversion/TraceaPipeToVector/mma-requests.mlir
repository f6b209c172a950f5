// What multiplies by panels that are read where they lie ask for ahead, on vectors of whole lines.
// RUN: tracea-opt %s --convert-tracea-pipe-to-vector --canonicalize --cse | FileCheck %s

#tile = #tracea_pipe.lanes<reg = [[0, 4], [1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
                                                  cpu = "x86-64-v4", features = "+fma,+avx512f", vector_bits = 512>} {

// Rows of a panel that is read where it lies are asked for before their use; those of memory that was
// staged, or that lie apart, are near or left to the processor.
// CHECK-LABEL: tracea_pipe.kernel @panels(
// CHECK:         scf.for %[[K:[a-z0-9]+]] = %{{.*}} to %c4 step
// CHECK-NEXT:      %[[AHEAD:.*]] = arith.addi %[[K]], %c16
// CHECK-NEXT:      memref.prefetch %[[B:.*]][%[[AHEAD]], %c0], read, locality<3>, data
// CHECK-NEXT:      vector.load %[[B]][%[[K]], %c0]
// CHECK:           memref.prefetch %[[B]][%[[AHEAD]], %c4], read, locality<3>, data
// CHECK-NEXT:      vector.load %[[B]][%[[K]], %c4]
// CHECK-NOT:     memref.prefetch
// CHECK:         end
tracea_pipe.kernel @panels(%a: memref<2x4xf32>, %b: memref<5x4x8xf32>, %far: memref<5x4x16xf32>, %d: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %c = arith.constant dense<0.0> : tensor<2x8xf32, #tile>
    %zero = arith.constant 0 : index
    %panel = tracea_pipe.view %b[%i, %zero, %zero] map affine_map<(k, j) -> (0, k, j)> : memref<5x4x8xf32> -> memref<4x8xf32, strided<[8, 1], offset: ?>>
    %r = tracea_pipe.mma %a, %panel, %c : memref<2x4xf32>, memref<4x8xf32, strided<[8, 1], offset: ?>>, tensor<2x8xf32, #tile>
    %apart = tracea_pipe.view %far[%i, %zero, %zero] map affine_map<(k, j) -> (0, k, j)> : memref<5x4x16xf32> -> memref<4x8xf32, strided<[16, 1], offset: ?>>
    %s = tracea_pipe.mma %a, %apart, %r : memref<2x4xf32>, memref<4x8xf32, strided<[16, 1], offset: ?>>, tensor<2x8xf32, #tile>
    tracea_pipe.store %s, %d[%i, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x8xf32, #tile>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// Beside such a panel rows of an image in place that follow one another ask for those behind them, a share in each step.
// CHECK-LABEL: tracea_pipe.kernel @runs(
// CHECK:         scf.for %[[K:[a-z0-9]+]] = %{{.*}} to %c4 step
// CHECK-NEXT:      %[[SHARE:.*]] = arith.muli %[[K]], %c2
// CHECK-NEXT:      memref.prefetch %{{.*}}[%c2, %[[SHARE]]], read, locality<3>, data : memref<2x4xf32
// CHECK:           memref.prefetch %{{.*}} : memref<4x8xf32
// CHECK-NOT:     memref<2x4xf32{{.*}}read
// CHECK:         end
tracea_pipe.kernel @runs(%a: memref<9x4xf32>, %apart: memref<9x5xf32>, %b: memref<5x4x8xf32>, %d: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %c = arith.constant dense<0.0> : tensor<2x8xf32, #tile>
    %zero = arith.constant 0 : index
    %panel = tracea_pipe.view %b[%i, %zero, %zero] map affine_map<(k, j) -> (0, k, j)> : memref<5x4x8xf32> -> memref<4x8xf32, strided<[8, 1], offset: ?>>
    %rows = tracea_pipe.view %a[%i, %zero] map affine_map<(r, k) -> (r, k)> : memref<9x4xf32> -> memref<2x4xf32, strided<[4, 1], offset: ?>>
    %r = tracea_pipe.mma %rows, %panel, %c : memref<2x4xf32, strided<[4, 1], offset: ?>>, memref<4x8xf32, strided<[8, 1], offset: ?>>, tensor<2x8xf32, #tile>
    %others = tracea_pipe.view %apart[%i, %zero] map affine_map<(r, k) -> (r, k)> : memref<9x5xf32> -> memref<2x4xf32, strided<[5, 1], offset: ?>>
    %s = tracea_pipe.mma %others, %panel, %r : memref<2x4xf32, strided<[5, 1], offset: ?>>, memref<4x8xf32, strided<[8, 1], offset: ?>>, tensor<2x8xf32, #tile>
    tracea_pipe.store %s, %d[%i, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x8xf32, #tile>, memref<?x?xf32>
  }
  tracea_pipe.end
}
}
