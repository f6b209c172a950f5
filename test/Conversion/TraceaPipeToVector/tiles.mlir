// Sums in the tiles of a unit: they begin with zeros of their own, are multiplied
// tile by tile, and become vectors by way of the workspace.
// RUN: tracea-opt %s --convert-tracea-pipe-to-vector --canonicalize --cse --split-input-file | FileCheck %s

#s = #tracea_pipe.staged
#unit = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], outer = [2, 2]>
#one = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], outer = [1, 1]>
#rows = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0], [8, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#wide = #tracea_pipe.lanes<reg = [[0, 16], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#id = affine_map<(i, j) -> (i, j)>
#amx = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "sapphirerapids",
                      features = "+avx2,+fma,+avx512f,+amx-tile,+amx-bf16,+amx-int8", vector_bits = 512>
module attributes {tracea.target = #amx} {

// The zeros stand where the sum begins, in the loop. Tiles of rows are loaded
// first, those of columns one at a time.
// CHECK-LABEL: tracea_pipe.kernel @pairs(
// CHECK-SAME:    workspace_bytes = 4160
// CHECK-NOT:     amx.tile_zero
// CHECK:         scf.for
// CHECK:           %[[DEPTH:.*]] = arith.muli %{{.*}}, %c16
// CHECK-COUNT-4:   amx.tile_zero : !amx.tile<16x16xf32>
// CHECK:           %[[S:.*]]:4 = scf.for %[[K:.*]] = %c0 to %[[DEPTH]] step %c16 iter_args(%[[S0:.*]] = %{{.*}}, %[[S1:.*]] = %{{.*}}, %[[S2:.*]] = %{{.*}}, %[[S3:.*]] = %{{.*}}) -> (!amx.tile<16x16xf32>
// CHECK-DAG:         %[[A0:.*]] = amx.tile_load %{{.*}}[%c0, %[[K]], %c0], %c96 : {{.*}} into !amx.tile<16x32xbf16>
// CHECK-DAG:         %[[A1:.*]] = amx.tile_load %{{.*}}[%c16, %[[K]], %c0], %c96 : {{.*}} into !amx.tile<16x32xbf16>
// CHECK:             %[[B0:.*]] = amx.tile_load %{{.*}}[%[[K]], %c0, %c0], %c64 : {{.*}} into !amx.tile<16x32xbf16>
// CHECK:             %[[T0:.*]] = amx.tile_mulf %[[A0]], %[[B0]], %[[S0]]
// CHECK:             %[[T2:.*]] = amx.tile_mulf %[[A1]], %[[B0]], %[[S2]]
// CHECK:             %[[B1:.*]] = amx.tile_load %{{.*}}[%[[K]], %c16, %c0], %c64
// CHECK:             %[[T1:.*]] = amx.tile_mulf %[[A0]], %[[B1]], %[[S1]]
// CHECK:             %[[T3:.*]] = amx.tile_mulf %[[A1]], %[[B1]], %[[S3]]
// CHECK:             scf.yield %[[T0]], %[[T1]], %[[T2]], %[[T3]]
// CHECK:           %[[TRIP:.*]] = memref.view %{{.*}} : memref<4160xi8> to memref<4x16x16xf32>
// CHECK:           amx.tile_store %[[TRIP]][%c0, %c0, %c0], %[[S]]#0 :
// CHECK:           amx.tile_store %[[TRIP]][%c1, %c0, %c0], %[[S]]#1 :
// CHECK:           amx.tile_store %[[TRIP]][%c2, %c0, %c0], %[[S]]#2 :
// CHECK:           amx.tile_store %[[TRIP]][%c3, %c0, %c0], %[[S]]#3 :
// CHECK:           vector.load %[[TRIP]][%c0, %c0, %c0] : memref<4x16x16xf32>, vector<16xf32>
// CHECK:           vector.load %[[TRIP]][%c1, %c0, %c0]
// CHECK:           vector.load %[[TRIP]][%c0, %c1, %c0]
// CHECK:           vector.load %[[TRIP]][%c3, %c15, %c0]
tracea_pipe.kernel @pairs(%a: memref<32x48x2xbf16>, %b: memref<48x32x2xbf16>, %d: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32, #unit>
  tracea_pipe.tiles (%i) in (%n) {
    scf.for %j = %c0 to %n step %c1 {
      %depth = arith.muli %j, %c16 : index
      %sum = tracea_pipe.mma %a, %b, %zero depth(%depth) : memref<32x48x2xbf16>, memref<48x32x2xbf16>, tensor<32x32xf32, #unit>
      %rows = tracea_pipe.relayout %sum : tensor<32x32xf32, #unit> -> tensor<32x32xf32, #wide>
      tracea_pipe.store %rows, %d[%j, %c0] map #id : tensor<32x32xf32, #wide>, memref<?x?xf32>
    }
  }
  tracea_pipe.end
}

// Signed bytes, whose sums a loop carries on; strides of a window.
// CHECK-LABEL: tracea_pipe.kernel @bytes(
// CHECK:         amx.tile_zero : !amx.tile<16x16xi32>
// CHECK:         scf.for {{.*}} -> (!amx.tile<16x16xi32>)
// CHECK:           scf.for {{.*}} step %c16 {{.*}} -> (!amx.tile<16x16xi32>)
// CHECK:             amx.tile_load %{{.*}}, %c512 : {{.*}} into !amx.tile<16x64xi8>
// CHECK:             amx.tile_load %{{.*}}, %c64 : {{.*}} into !amx.tile<16x64xi8>
// CHECK:             amx.tile_muli %{{.*}}, %{{.*}}, %{{.*}} : !amx.tile<16x64xi8>
tracea_pipe.kernel @bytes(%a: memref<16x32x4xi8, strided<[512, 4, 1]>>, %b: memref<32x16x4xi8>, %d: memref<?x?xi32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0> : tensor<16x16xi32, #one>
  tracea_pipe.tiles (%i) in (%n) {
    %sum = scf.for %j = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<16x16xi32, #one>) {
      %t = tracea_pipe.mma %a, %b, %s : memref<16x32x4xi8, strided<[512, 4, 1]>>, memref<32x16x4xi8>, tensor<16x16xi32, #one>
      scf.yield %t : tensor<16x16xi32, #one>
    }
    %rows = tracea_pipe.relayout %sum : tensor<16x16xi32, #one> -> tensor<16x16xi32, #rows>
    tracea_pipe.store %rows, %d[%i, %c0] map #id : tensor<16x16xi32, #rows>, memref<?x?xi32>
  }
  tracea_pipe.end
}

// Sums that are only stored go to their place as tiles; of those whose last rows
// the limits may cut off, tile by tile.
// CHECK-LABEL: tracea_pipe.kernel @stored(
// CHECK:         %[[S0:.*]] = amx.tile_mulf
// CHECK:         %[[S2:.*]] = amx.tile_mulf
// CHECK:         %[[S1:.*]] = amx.tile_mulf
// CHECK:         %[[S3:.*]] = amx.tile_mulf
// CHECK:         %[[TRIP:.*]] = memref.view %{{.*}} to memref<4x16x16xf32>
// CHECK:         %[[ALL:.*]] = arith.cmpi sge, %[[N:.*]], %c16
// CHECK:         scf.if %[[ALL]] {
// CHECK:           amx.tile_store %[[D:.*]][%[[I:.*]], %c0], %[[S0]], %c96 : memref<?x96xf32>
// CHECK:           amx.tile_store %[[D]][%[[I]], %c16], %[[S1]], %c96
// CHECK:         } else {
// CHECK:           amx.tile_store %[[TRIP]][%c0, %c0, %c0], %[[S0]] : memref<4x16x16xf32>
// CHECK:           amx.tile_store %[[TRIP]][%c1, %c0, %c0], %[[S1]]
// CHECK:           %[[MOST:.*]] = arith.minsi %[[N]], %c16
// CHECK:           %[[ROWS:.*]] = arith.maxsi %[[MOST]], %c0
// CHECK:           scf.for %[[ROW:.*]] = %c0 to %[[ROWS]] step %c1 {
// CHECK:             %[[AT:.*]] = arith.addi %[[I]], %[[ROW]]
// CHECK:             %[[V:.*]] = vector.load %[[TRIP]][%c0, %[[ROW]], %c0] : memref<4x16x16xf32>, vector<16xf32>
// CHECK:             vector.{{.*}}store {{.*}}%[[D]][%[[AT]], %c0]
// CHECK:             vector.load %[[TRIP]][%c1, %[[ROW]], %c0]
// CHECK:         arith.cmpi sge, %[[N]], %c32
// CHECK:           amx.tile_store %[[D]][%{{.*}}, %c0], %[[S2]], %c96
// CHECK-NOT:     vector.load %{{.*}}[%c0, %c1, %c0]
tracea_pipe.kernel @stored(%a: memref<32x16x2xbf16>, %b: memref<16x32x2xbf16>, %d: memref<?x96xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : tensor<32x32xf32, #unit>
  tracea_pipe.tiles (%i) in (%n) {
    %sum = tracea_pipe.mma %a, %b, %zero : memref<32x16x2xbf16>, memref<16x32x2xbf16>, tensor<32x32xf32, #unit>
    %rows = tracea_pipe.relayout %sum : tensor<32x32xf32, #unit> -> tensor<32x32xf32, #wide>
    tracea_pipe.store %rows, %d[%i, %c0] map #id limits(%n, %c32) : tensor<32x32xf32, #wide>, memref<?x96xf32>
  }
  tracea_pipe.end
}

// Requests before a long multiply of words stand among its steps, a share in
// each piece of so many words as a unit adds up together.
// CHECK-LABEL: tracea_pipe.kernel @spread(
// CHECK:         scf.for %[[K:.*]] = %c0 to %c128 step %c32 {{.*}} -> (!amx.tile<16x16xi32>)
// CHECK:           %[[PIECE:.*]] = arith.divui %[[K]], %c32
// CHECK:           %[[FIRST:.*]] = arith.muli %[[PIECE]], %c4
// CHECK-COUNT-8:   memref.prefetch %{{.*}}, write
// CHECK-NOT:       memref.prefetch
// CHECK:           scf.for %{{.*}} = %c0 to %c32 step %c16
// CHECK:             amx.tile_muli
// CHECK-NOT:     memref.prefetch
tracea_pipe.kernel @spread(%a: memref<16x128x4xi8>, %b: memref<128x16x4xi8>, %d: memref<?x96xi32>, %n: index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0> : tensor<16x16xi32, #one>
  tracea_pipe.tiles (%i) in (%n) {
    tracea_pipe.prefetch %d[%i, %c0] map #id shape [16, 32] write : memref<?x96xi32>
    %sum = tracea_pipe.mma %a, %b, %zero : memref<16x128x4xi8>, memref<128x16x4xi8>, tensor<16x16xi32, #one>
    %rows = tracea_pipe.relayout %sum : tensor<16x16xi32, #one> -> tensor<16x16xi32, #rows>
    tracea_pipe.store %rows, %d[%i, %c0] map #id : tensor<16x16xi32, #rows>, memref<?x96xi32>
  }
  tracea_pipe.end
}
}
