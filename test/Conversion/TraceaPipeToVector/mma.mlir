// Products of tiles: a loop over k of rank-1 updates.
// RUN: tracea-opt %s --convert-tracea-pipe-to-vector --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,FMA
// RUN: sed 's/+fma,//' %s | tracea-opt --convert-tracea-pipe-to-vector --canonicalize --cse \
// RUN:   | FileCheck %s --check-prefixes=CHECK,NOFMA

#tile = #tracea_pipe.lanes<reg = [[0, 4], [1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#left = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#scalar = #tracea_pipe.lanes<reg = [[1, 0]], outer = [1, 1]>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
                                                  cpu = "x86-64-v3", features = "+fma,+avx2", vector_bits = 128>} {

// Each row of lhs is read once a step, each column vector of rhs once: two of each
// for four registers.
// CHECK-LABEL: tracea_pipe.kernel @floats(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<2x16xf32>, %[[B:[a-z0-9]+]]: memref<16x8xf32>, %{{[a-z0-9]+}}: memref<?x?xf32>, %[[DEPTH:[a-z0-9]+]]: index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK:         %[[SUM:.*]]:4 = scf.for %[[K:.*]] = %[[C0]] to %[[DEPTH]] step %[[C1]] iter_args(%[[S0:.*]] = %{{.*}}, %[[S1:.*]] = %{{.*}}, %[[S2:.*]] = %{{.*}}, %[[S3:.*]] = %{{.*}})
// CHECK-NEXT:      %[[B0:.*]] = vector.load %[[B]][%[[K]], %[[C0]]]
// CHECK-NEXT:      %[[E0:.*]] = memref.load %[[A]][%[[C0]], %[[K]]]
// CHECK-NEXT:      %[[A0:.*]] = vector.broadcast %[[E0]]
// FMA-NEXT:        %[[R0:.*]] = vector.fma %[[A0]], %[[B0]], %[[S0]]
// NOFMA-NEXT:      %[[P0:.*]] = arith.mulf %[[A0]], %[[B0]]
// NOFMA-NEXT:      %[[R0:.*]] = arith.addf %[[S0]], %[[P0]]
// CHECK-NEXT:      %[[B4:.*]] = vector.load %[[B]][%[[K]], %[[C4]]]
// FMA-NEXT:        %[[R1:.*]] = vector.fma %[[A0]], %[[B4]], %[[S1]]
// NOFMA-NEXT:      arith.mulf %[[A0]], %[[B4]]
// NOFMA-NEXT:      %[[R1:.*]] = arith.addf %[[S1]]
// CHECK-NEXT:      %[[E1:.*]] = memref.load %[[A]][%[[C1]], %[[K]]]
// CHECK-NEXT:      %[[A1:.*]] = vector.broadcast %[[E1]]
// FMA-NEXT:        %[[R2:.*]] = vector.fma %[[A1]], %[[B0]], %[[S2]]
// NOFMA-NEXT:      arith.mulf %[[A1]], %[[B0]]
// NOFMA-NEXT:      %[[R2:.*]] = arith.addf %[[S2]]
// FMA-NEXT:        %[[R3:.*]] = vector.fma %[[A1]], %[[B4]], %[[S3]]
// NOFMA-NEXT:      arith.mulf %[[A1]], %[[B4]]
// NOFMA-NEXT:      %[[R3:.*]] = arith.addf %[[S3]]
// CHECK-NEXT:      scf.yield %[[R0]], %[[R1]], %[[R2]], %[[R3]]
tracea_pipe.kernel @floats(%a: memref<2x16xf32>, %b: memref<16x8xf32>, %d: memref<?x?xf32>, %depth: index) {
  tracea_pipe.tiles (%i, %j) in (%depth, %depth) {
    %c = tracea_pipe.load %d[%i, %j] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<2x8xf32, #tile>
    %r = tracea_pipe.mma %a, %b, %c depth(%depth) : memref<2x16xf32>, memref<16x8xf32>, tensor<2x8xf32, #tile>
    tracea_pipe.store %r, %d[%i, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x8xf32, #tile>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// Of a packed left operand the elements of a step follow those of the one before it: it
// is asked for 1 KiB ahead.
// CHECK-LABEL: tracea_pipe.kernel @packed(
// CHECK:         scf.for %[[K:[a-z0-9]+]] =
// CHECK:           %[[AHEAD:.*]] = arith.addi %[[K]], %c128
// CHECK:           memref.prefetch %[[A:.*]][%c0, %[[AHEAD]]], read, locality<3>, data : memref<2x16xf32, strided<[1, 2], offset: ?>>
// CHECK:           memref.load %[[A]][%c0, %[[K]]]
tracea_pipe.kernel @packed(%p: memref<16x2xf32>, %b: memref<16x8xf32>, %d: memref<?x?xf32>, %depth: index) {
  tracea_pipe.tiles (%i, %j) in (%depth, %depth) {
    %a = tracea_pipe.view %p[%i, %i] map affine_map<(i, k) -> (k, i)> : memref<16x2xf32> -> memref<2x16xf32, strided<[1, 2], offset: ?>>
    %c = tracea_pipe.load %d[%i, %j] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<2x8xf32, #tile>
    %r = tracea_pipe.mma %a, %b, %c depth(%depth) : memref<2x16xf32, strided<[1, 2], offset: ?>>, memref<16x8xf32>, tensor<2x8xf32, #tile>
    tracea_pipe.store %r, %d[%i, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x8xf32, #tile>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// What is asked for right before a long multiply of panels is spread among its steps: each
// piece of 16 of them asks for its share of rows, one of the sums and four of a panel, in two lines each.
// CHECK-LABEL: tracea_pipe.kernel @spread(
// CHECK-SAME:    %[[P:[a-z0-9]+]]: memref<64x2xf32>, %[[B:[a-z0-9]+]]: memref<64x8xf32>, %[[D:[a-z0-9]+]]: memref<?x48xf32>
// CHECK:         tiles (%[[I:.*]], %[[J:.*]]) in
// CHECK-NOT:       memref.prefetch
// CHECK:           scf.for %[[K:[a-z0-9]+]] = %c0 to %{{.*}} step %c16 iter_args
// CHECK:             %[[PIECE:.*]] = arith.divui %[[K]], %c16
// CHECK:             %[[ROW:.*]] = arith.addi %[[I]], %[[PIECE]]
// CHECK-NEXT:        memref.prefetch %[[D]][%[[ROW]], %[[J]]], write, locality<3>
// CHECK-NOT:         memref.prefetch %[[D]]
// CHECK:             memref.prefetch %[[B]]{{.*}} read, locality<2>
// CHECK-COUNT-7:     memref.prefetch %[[B]]{{.*}} read, locality<2>
// CHECK-NOT:         locality<2>
// CHECK:             %[[REST:.*]] = arith.subi %{{.*}}, %[[K]]
// CHECK:             %[[STEPS:.*]] = arith.minsi %[[REST]], %c16
// CHECK:             scf.for %{{.*}} = %c0 to %[[STEPS]]
tracea_pipe.kernel @spread(%p: memref<64x2xf32>, %b: memref<64x8xf32>, %d: memref<?x48xf32>, %depth: index) {
  tracea_pipe.tiles (%i, %j) in (%depth, %depth) {
    %a = tracea_pipe.view %p[%i, %i] map affine_map<(i, k) -> (k, i)> : memref<64x2xf32> -> memref<2x64xf32, strided<[1, 2], offset: ?>>
    %c = arith.constant dense<0.0> : tensor<2x8xf32, #tile>
    tracea_pipe.prefetch %d[%i, %j] map affine_map<(i, j) -> (i, j)> shape [2, 8] write : memref<?x48xf32>
    tracea_pipe.prefetch %b[%i, %j] map affine_map<(i, j) -> (i, j)> shape [16, 8] level 2 : memref<64x8xf32>
    %r = tracea_pipe.mma %a, %b, %c depth(%depth) : memref<2x64xf32, strided<[1, 2], offset: ?>>, memref<64x8xf32>, tensor<2x8xf32, #tile>
    tracea_pipe.store %r, %d[%i, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x8xf32, #tile>, memref<?x48xf32>
  }
  tracea_pipe.end
}

// Of a left operand in registers each step takes its elements from where they are: rows are registers, k is lanes.
// CHECK-LABEL: tracea_pipe.kernel @registers(
// CHECK:         %[[A0:.*]] = vector.load %{{.*}} : memref<2x4xf32>, vector<4xf32>
// CHECK:         %[[A1:.*]] = vector.load %{{.*}} : memref<2x4xf32>, vector<4xf32>
// CHECK-NOT:     scf.for
// CHECK:         vector.load %{{.*}}[%c0, %c0] : memref<4x8xf32>
// CHECK:         vector.extract %[[A0]][0]
// CHECK:         vector.extract %[[A1]][0]
// CHECK:         vector.load %{{.*}}[%c3, %c0] : memref<4x8xf32>
// CHECK:         vector.extract %[[A0]][3]
// CHECK:         vector.extract %[[A1]][3]
// CHECK-NOT:     vector.extract
// CHECK:         end
tracea_pipe.kernel @registers(%x: memref<2x4xf32>, %b: memref<4x8xf32>, %d: memref<2x8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %a = tracea_pipe.load %x[%c0, %c0] map affine_map<(i, j) -> (i, j)> : memref<2x4xf32> -> tensor<2x4xf32, #left>
    %c = tracea_pipe.load %d[%c0, %c0] map affine_map<(i, j) -> (i, j)> : memref<2x8xf32> -> tensor<2x8xf32, #tile>
    %r = tracea_pipe.mma %a, %b, %c : tensor<2x4xf32, #left>, memref<4x8xf32>, tensor<2x8xf32, #tile>
    tracea_pipe.store %r, %d[%c0, %c0] map affine_map<(i, j) -> (i, j)> : tensor<2x8xf32, #tile>, memref<2x8xf32>
  }
  tracea_pipe.end
}

// Products are of the accumulator's type; without a depth all of k is summed.
// CHECK-LABEL: tracea_pipe.kernel @widened
// CHECK:         %[[C16:.*]] = arith.constant 16 : index
// CHECK:         scf.for %{{.*}} to %[[C16]] step
// CHECK-NEXT:      %[[B:.*]] = vector.load %{{.*}} : memref<16x8xbf16>, vector<4xbf16>
// CHECK-NEXT:      %[[WB:.*]] = arith.extf %[[B]] : vector<4xbf16> to vector<4xf32>
// CHECK-NEXT:      %[[A:.*]] = memref.load %{{.*}} : memref<2x16xbf16>
// CHECK-NEXT:      %[[WA:.*]] = arith.extf %[[A]] : bf16 to f32
// CHECK-NEXT:      %[[VA:.*]] = vector.broadcast %[[WA]] : f32 to vector<4xf32>
// FMA-NEXT:        vector.fma %[[VA]], %[[WB]]
// NOFMA-NEXT:      arith.mulf %[[VA]], %[[WB]]
tracea_pipe.kernel @widened(%a: memref<2x16xbf16>, %b: memref<16x8xbf16>, %d: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %c = arith.constant dense<0.0> : tensor<2x8xf32, #tile>
    %r = tracea_pipe.mma %a, %b, %c : memref<2x16xbf16>, memref<16x8xbf16>, tensor<2x8xf32, #tile>
    tracea_pipe.store %r, %d[%i, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x8xf32, #tile>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// CHECK-LABEL: tracea_pipe.kernel @integers
// CHECK:         arith.extsi %{{.*}} : vector<4xi8> to vector<4xi32>
// CHECK:         arith.extsi %{{.*}} : i8 to i32
// CHECK:         %[[P:.*]] = arith.muli %{{.*}}, %{{.*}} : vector<4xi32>
// CHECK-NEXT:    arith.addi %{{.*}}, %[[P]] : vector<4xi32>
// CHECK-NOT:     vector.fma
// CHECK:         end
tracea_pipe.kernel @integers(%a: memref<2x16xi8>, %b: memref<16x8xi8>, %d: memref<?x?xi32>, %n: index) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %c = arith.constant dense<0> : tensor<2x8xi32, #tile>
    %r = tracea_pipe.mma %a, %b, %c : memref<2x16xi8>, memref<16x8xi8>, tensor<2x8xi32, #tile>
    tracea_pipe.store %r, %d[%i, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x8xi32, #tile>, memref<?x?xi32>
  }
  tracea_pipe.end
}

// A tile without lanes: vectors of one. k is dynamic in one operand only.
// CHECK-LABEL: tracea_pipe.kernel @no_lanes
// CHECK:         %[[C5:.*]] = arith.constant 5 : index
// CHECK:         scf.for %{{.*}} to %[[C5]] step %{{.*}} -> (vector<1xf32>, vector<1xf32>)
tracea_pipe.kernel @no_lanes(%a: memref<2x?xf32>, %b: memref<5x1xf32>, %d: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %c = arith.constant dense<0.0> : tensor<2x1xf32, #scalar>
    %r = tracea_pipe.mma %a, %b, %c : memref<2x?xf32>, memref<5x1xf32>, tensor<2x1xf32, #scalar>
    tracea_pipe.store %r, %d[%i, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x1xf32, #scalar>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// With limits, a whole tile reads freely; a cut one repeats its last row, which
// exists, and masks the columns beyond the limit. Without rows it multiplies nothing.
// CHECK-LABEL: tracea_pipe.kernel @limits(
// CHECK-SAME:    %{{[a-z0-9]+}}: memref<?x?xf32>, %[[H:[a-z0-9]+]]: index, %[[W:[a-z0-9]+]]: index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C8:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[ROWS:.*]] = arith.cmpi sge, %[[H]], %[[C2]]
// CHECK-DAG:     %[[COLUMNS:.*]] = arith.cmpi sge, %[[W]], %[[C8]]
// CHECK:         %[[WHOLE:.*]] = arith.andi %[[ROWS]], %[[COLUMNS]]
// CHECK-NEXT:    scf.if %[[WHOLE]]
// CHECK-NOT:       maskedload
// CHECK:           scf.for
// CHECK-NOT:       maskedload
// CHECK:         } else {
// CHECK-DAG:       %[[SOME:.*]] = arith.cmpi sge, %[[H]], %[[C1]]
// CHECK-DAG:       %[[DEPTH:.*]] = arith.select %[[SOME]], %c16, %c0
// CHECK-DAG:       %[[MOST:.*]] = arith.minsi %[[W]], %[[C8]]
// CHECK-DAG:       %[[LIMIT:.*]] = arith.maxsi %[[MOST]], %c0
// CHECK-DAG:       %[[LAST:.*]] = arith.subi %[[H]], %[[C1]]
// CHECK-DAG:       %[[ROW:.*]] = arith.minsi %[[LAST]], %[[C1]]
// CHECK-DAG:       %[[MASK:.*]] = vector.create_mask %[[LIMIT]] : vector<4xi1>
// CHECK-DAG:       %[[REST:.*]] = arith.addi %[[LIMIT]], %c-4
// CHECK-DAG:       %[[MASK4:.*]] = vector.create_mask %[[REST]] : vector<4xi1>
// CHECK:           scf.for %[[K:[a-z0-9]+]] = %{{.*}} to %[[DEPTH]]
// CHECK:             vector.maskedload %{{.*}}[%[[K]], %{{.*}}], %[[MASK]]
// CHECK:             vector.maskedload %{{.*}}[%[[K]], %{{.*}}], %[[MASK4]]
// CHECK:             memref.load %{{.*}}[%[[ROW]], %[[K]]]
tracea_pipe.kernel @limits(%a: memref<2x16xf32>, %b: memref<16x8xf32>, %d: memref<?x?xf32>, %h: index, %w: index) {
  tracea_pipe.tiles (%i, %j) in (%h, %w) {
    %c = arith.constant dense<0.0> : tensor<2x8xf32, #tile>
    %r = tracea_pipe.mma %a, %b, %c limits(%h, %w) : memref<2x16xf32>, memref<16x8xf32>, tensor<2x8xf32, #tile>
    tracea_pipe.store %r, %d[%i, %j] map affine_map<(i, j) -> (i, j)> limits(%h, %w) : tensor<2x8xf32, #tile>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// Limits that leave one row are met often: that row alone is read, and no mask.
// CHECK-LABEL: tracea_pipe.kernel @often(
// CHECK-SAME:    %[[H:[a-z0-9]+]]: index, %[[W:[a-z0-9]+]]: index
// CHECK:         %[[ALL:.*]] = arith.cmpi sge, %[[W]], %c8
// CHECK:         scf.if
// CHECK:         } else {
// CHECK:           %[[ONE:.*]] = arith.cmpi eq, %[[H]], %c1
// CHECK:           %[[IS:.*]] = arith.andi %[[ONE]], %[[ALL]]
// CHECK:           scf.if %[[IS]]
// CHECK:             scf.for {{.*}} -> (vector<4xf32>, vector<4xf32>)
// CHECK-NOT:         maskedload
// CHECK:             memref.load %{{.*}}[%c0, %{{.*}}]
// CHECK-NOT:         memref.load
// CHECK:           } else {
// CHECK:             vector.maskedload
tracea_pipe.kernel @often(%a: memref<2x16xf32>, %b: memref<16x8xf32>, %d: memref<?x?xf32>, %h: index, %w: index) {
  tracea_pipe.tiles (%i, %j) in (%h, %w) {
    %c = arith.constant dense<0.0> : tensor<2x8xf32, #tile>
    %r = tracea_pipe.mma %a, %b, %c spans [0, 1] limits(%h, %w) : memref<2x16xf32>, memref<16x8xf32>, tensor<2x8xf32, #tile>
    tracea_pipe.store %r, %d[%i, %j] map affine_map<(i, j) -> (i, j)> limits(%h, %w) : tensor<2x8xf32, #tile>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// Of some rows: loops for all, for the span that is met often, and one for any, which keeps what is not among them.
// CHECK-LABEL: tracea_pipe.kernel @rows(
// CHECK-SAME:    %[[FIRST:[a-z0-9]+]]: index, %[[END:[a-z0-9]+]]: index
// CHECK:         %[[C:.*]] = arith.constant dense<0.000000e+00> : vector<4xf32>
// CHECK-DAG:     %[[NONE:.*]] = arith.cmpi sle, %[[FIRST]], %c0
// CHECK-DAG:     %[[ALL:.*]] = arith.cmpi sge, %[[END]], %c2
// CHECK:         %[[WHOLE:.*]] = arith.andi %[[NONE]], %[[ALL]]
// CHECK:         scf.if %[[WHOLE]]
// CHECK:           scf.for {{.*}} -> (vector<4xf32>, vector<4xf32>, vector<4xf32>, vector<4xf32>)
// CHECK:         } else {
// CHECK:           %[[ONE:.*]] = arith.cmpi eq, %[[FIRST]], %c1
// CHECK:           %[[BEHIND:.*]] = arith.andi %[[ONE]], %[[ALL]]
// CHECK:           scf.if %[[BEHIND]]
// CHECK:             %[[TWO:.*]]:2 = scf.for {{.*}} -> (vector<4xf32>, vector<4xf32>)
// CHECK:               memref.load %{{.*}}[%c1, %{{.*}}]
// CHECK-NOT:           memref.load
// CHECK:             scf.yield %[[C]], %[[C]], %[[TWO]]#0, %[[TWO]]#1
// CHECK:           } else {
// CHECK:             %[[SUMS:.*]]:4 = scf.for
// CHECK-DAG:         %[[HASLAST:.*]] = arith.cmpi sgt, %[[END]], %c0
// CHECK-DAG:         %[[HAS0:.*]] = arith.andi %[[NONE]], %[[HASLAST]]
// CHECK-DAG:         arith.select %[[HAS0]], %[[SUMS]]#0, %[[C]] : vector<4xf32>
// CHECK-DAG:         arith.select %[[HAS0]], %[[SUMS]]#1, %[[C]] : vector<4xf32>
// CHECK:             arith.select %{{.*}}, %[[SUMS]]#2, %[[C]] : vector<4xf32>
// CHECK:             arith.select %{{.*}}, %[[SUMS]]#3, %[[C]] : vector<4xf32>
tracea_pipe.kernel @rows(%a: memref<2x16xf32>, %b: memref<16x8xf32>, %d: memref<?x?xf32>, %first: index, %end: index) {
  tracea_pipe.tiles (%i, %j) in (%first, %end) {
    %c = arith.constant dense<0.0> : tensor<2x8xf32, #tile>
    %r = tracea_pipe.mma %a, %b, %c rows(%first, %end) spans [1, 2] : memref<2x16xf32>, memref<16x8xf32>, tensor<2x8xf32, #tile>
    tracea_pipe.store %r, %d[%i, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x8xf32, #tile>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// Vectors that are shorter than a line ask for nothing ahead.
// CHECK-LABEL: tracea_pipe.kernel @short(
// CHECK-NOT:     memref.prefetch
// CHECK:         end
tracea_pipe.kernel @short(%a: memref<2x4xf32>, %b: memref<5x4x8xf32>, %d: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %c = arith.constant dense<0.0> : tensor<2x8xf32, #tile>
    %zero = arith.constant 0 : index
    %panel = tracea_pipe.view %b[%i, %zero, %zero] map affine_map<(k, j) -> (0, k, j)> : memref<5x4x8xf32> -> memref<4x8xf32, strided<[8, 1], offset: ?>>
    %r = tracea_pipe.mma %a, %panel, %c : memref<2x4xf32>, memref<4x8xf32, strided<[8, 1], offset: ?>>, tensor<2x8xf32, #tile>
    tracea_pipe.store %r, %d[%i, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x8xf32, #tile>, memref<?x?xf32>
  }
  tracea_pipe.end
}
}
