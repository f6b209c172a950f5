// Iterations that go together are computed side by side: what they share once, their equal loops as
// one. What is left over stays a loop of its own.
// RUN: tracea-opt %s --convert-tracea-pipe-to-vector --canonicalize --cse --split-input-file | FileCheck %s

#one = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], outer = [1, 1]>
#rows = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0], [8, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#amx = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "sapphirerapids",
                      features = "+avx2,+fma,+avx512f,+amx-tile,+amx-bf16,+amx-int8", vector_bits = 512>
module attributes {tracea.target = #amx} {

// The right tile of each step is loaded for both rows.
// CHECK-LABEL: tracea_pipe.kernel @two_rows(
// CHECK:         scf.for %[[I:.*]] = %c0 to %{{.*}} step %c2 {
// CHECK:           %[[NEXT:.*]] = arith.addi %[[I]], %c1
// CHECK:           scf.for %{{.*}} = %c0 to %c3 step %c1 iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (!amx.tile<16x16xf32>, !amx.tile<16x16xf32>)
// CHECK:             scf.for %[[K:.*]] = %c0 to %c48 step %c16 iter_args(%[[S:.*]] = %{{.*}}, %[[T:.*]] = %{{.*}}) -> (!amx.tile<16x16xf32>, !amx.tile<16x16xf32>)
// CHECK:               %[[A:.*]] = amx.tile_load
// CHECK-NEXT:          %[[B:.*]] = amx.tile_load
// CHECK-NEXT:          %[[P:.*]] = amx.tile_mulf %[[A]], %[[B]], %[[S]]
// CHECK-NEXT:          %[[C:.*]] = amx.tile_load
// CHECK-NEXT:          %[[Q:.*]] = amx.tile_mulf %[[C]], %[[B]], %[[T]]
// CHECK-NEXT:          scf.yield %[[P]], %[[Q]]
// CHECK-NOT:         amx.tile_mulf
// CHECK:         scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c1 {
// CHECK:           scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (!amx.tile<16x16xf32>)
// CHECK-COUNT-1:     amx.tile_mulf
// CHECK-NOT:       amx.tile_mulf
tracea_pipe.kernel @two_rows(%a: memref<?x16x48x2xbf16>, %b: memref<3x48x16x2xbf16>, %d: memref<?x16x16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<16x16xf32, #one>
  tracea_pipe.tiles (%t) in (%n) {
    scf.for %i = %c0 to %n step %c1 {
      %sum = scf.for %r = %c0 to %c3 step %c1 iter_args(%s = %zero) -> (tensor<16x16xf32, #one>) {
        %row = arith.addi %i, %r : index
        %left = tracea_pipe.view %a[%row, %c0, %c0, %c0] map affine_map<(i, j, k) -> (0, i, j, k)> : memref<?x16x48x2xbf16> -> memref<16x48x2xbf16, strided<[96, 2, 1], offset: ?>>
        %right = tracea_pipe.view %b[%r, %c0, %c0, %c0] map affine_map<(i, j, k) -> (0, i, j, k)> : memref<3x48x16x2xbf16> -> memref<48x16x2xbf16, strided<[32, 2, 1], offset: ?>>
        %m = tracea_pipe.mma %left, %right, %s : memref<16x48x2xbf16, strided<[96, 2, 1], offset: ?>>, memref<48x16x2xbf16, strided<[32, 2, 1], offset: ?>>, tensor<16x16xf32, #one>
        scf.yield %m : tensor<16x16xf32, #one>
      }
      %v = tracea_pipe.relayout %sum : tensor<16x16xf32, #one> -> tensor<16x16xf32, #rows>
      tracea_pipe.store %v, %d[%i, %c0, %c0] map affine_map<(i, j) -> (0, i, j)> limits(%c16, %c16) : tensor<16x16xf32, #rows>, memref<?x16x16xf32>
    } {tracea_pipe.unroll_and_jam = 2 : i64}
  }
  tracea_pipe.end
}

// Loops that differ from iteration to iteration stay as they are, one after the other; a number of
// iterations that is known to be whole leaves nothing over.
// CHECK-LABEL: tracea_pipe.kernel @unequal(
// CHECK:         scf.for %[[I:.*]] = %c0 to %c4 step %c2 {
// CHECK:           scf.for %{{.*}} = %[[I]] to %c4
// CHECK:           scf.for %{{.*}} = %{{.*}} to %c4
// CHECK-NOT:     scf.for
tracea_pipe.kernel @unequal(%d: memref<4x4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %x = arith.constant 1.0 : f32
  tracea_pipe.tiles (%t) in (%n) {
    scf.for %i = %c0 to %c4 step %c1 {
      scf.for %j = %i to %c4 step %c1 {
        memref.store %x, %d[%i, %j] : memref<4x4xf32>
      }
    } {tracea_pipe.unroll_and_jam = 2 : i64}
  }
  tracea_pipe.end
}
}
