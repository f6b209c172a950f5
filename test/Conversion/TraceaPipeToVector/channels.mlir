// Rings become panels of the calling thread's workspace; a phase is an index.
// RUN: tracea-opt %s --convert-tracea-pipe-to-vector --canonicalize --cse | FileCheck %s

#s = #tracea_pipe.staged
#tile = #tracea_pipe.lanes<lane = [[1], [2]], outer = [1]>
!ring = !tracea_pipe.channel<2 x (memref<4x8xf32, #s>, memref<5xi8, #s>)>
!one = !tracea_pipe.channel<1 x (memref<4x8xf32, #s>)>

// Every slot of every buffer begins on a cache line, and each ring leaves one line
// behind it: 2 slots of 4x8 floats are 256 bytes, so the next ring begins at 320; its
// 2 slots of 5 bytes take a line each, so the scratch begins at 512; its 128 bytes
// end the workspace at 704. The slot is phase mod 2; phases count to 4.
// CHECK-LABEL: tracea_pipe.kernel @ring
// CHECK-SAME:    workspace_bytes = 704 : i64
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[C128:.*]] = arith.constant 128 : index
// CHECK-DAG:     %[[AT1:.*]] = arith.constant 320 : index
// CHECK-DAG:     %[[AT2:.*]] = arith.constant 512 : index
// CHECK:         %[[WS:.*]] = tracea_pipe.workspace : memref<704xi8>
// CHECK-DAG:     %[[A:.*]] = memref.view %[[WS]][%[[C0]]][] : memref<704xi8> to memref<256xi8>
// CHECK-DAG:     %[[B:.*]] = memref.view %[[WS]][%[[AT1]]][] : memref<704xi8> to memref<128xi8>
// CHECK-DAG:     memref.view %[[WS]][%[[AT2]]][] : memref<704xi8> to memref<32xf32>
// CHECK:         scf.for {{.*}} iter_args(%[[P:.*]] = %[[C0]]) -> (index) {
// CHECK:           %[[SLOT:.*]] = arith.remui %[[P]], %[[C2]]
// CHECK-DAG:       %[[A0:.*]] = arith.muli %[[SLOT]], %[[C128]]
// CHECK-DAG:       %[[B0:.*]] = arith.muli %[[SLOT]], %[[C64]]
// CHECK-DAG:       %[[AS:.*]] = memref.view %[[A]][%[[A0]]][] : memref<256xi8> to memref<4x8xf32>
// CHECK-DAG:       %[[BS:.*]] = memref.view %[[B]][%[[B0]]][] : memref<128xi8> to memref<5xi8>
// Rows of eight are whole vectors, those of five are not.
// CHECK:           vector.store %{{.*}}, %[[AS]]
// CHECK:           vector.maskedstore %[[BS]]
// CHECK:           vector.load %[[AS]][%[[C0]], %[[C1]]]
// CHECK:           %[[NEXT:.*]] = arith.addi %[[P]], %[[C1]]
// CHECK-NEXT:      %[[WRAPPED:.*]] = arith.remui %[[NEXT]], %[[C4]]
// CHECK-NEXT:      scf.yield %[[WRAPPED]]
tracea_pipe.kernel @ring(%m: memref<?x?xf32>, %b: memref<?xi8>, %d: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !ring
    %sc = tracea_pipe.scratch : memref<32xf32, #s>
    tracea_pipe.copy %m[%i, %i] map affine_map<(i) -> (0, i)> to %sc : memref<?x?xf32>, memref<32xf32, #s>
    %p0 = tracea_pipe.start : !tracea_pipe.phase<2>
    %pn = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> !tracea_pipe.phase<2> {
      %e:2 = tracea_pipe.acquire %ch[%p] : !ring, !tracea_pipe.phase<2> -> memref<4x8xf32, #s>, memref<5xi8, #s>
      tracea_pipe.copy %m[%i, %k] map affine_map<(i, j) -> (i, j)> to %e#0 : memref<?x?xf32>, memref<4x8xf32, #s>
      tracea_pipe.copy %b[%k] map affine_map<(i) -> (i)> to %e#1 : memref<?xi8>, memref<5xi8, #s>
      tracea_pipe.commit %ch[%p] : !ring, !tracea_pipe.phase<2>
      %f:2 = tracea_pipe.wait %ch[%p] : !ring, !tracea_pipe.phase<2> -> memref<4x8xf32, #s>, memref<5xi8, #s>
      %x = tracea_pipe.load %f#0[%c0, %c1] map affine_map<(i) -> (0, i)> : memref<4x8xf32, #s> -> tensor<4xf32, #tile>
      tracea_pipe.store %x, %d[%i, %k] map affine_map<(i) -> (0, i)> : tensor<4xf32, #tile>, memref<?x?xf32>
      tracea_pipe.release %ch[%p] : !ring, !tracea_pipe.phase<2>
      %q = tracea_pipe.advance %p : !tracea_pipe.phase<2>
      scf.yield %q : !tracea_pipe.phase<2>
    }
  }
  tracea_pipe.end
}

// One slot is always the same: no arithmetic on phases.
// CHECK-LABEL: tracea_pipe.kernel @one_slot
// CHECK-SAME:    workspace_bytes = 192 : i64
// CHECK:         scf.for
// CHECK-NOT:     arith.remui
// CHECK:         end
tracea_pipe.kernel @one_slot(%m: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ch = tracea_pipe.channel : !one
    %p0 = tracea_pipe.start : !tracea_pipe.phase<1>
    %pn = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0) -> !tracea_pipe.phase<1> {
      %e = tracea_pipe.acquire %ch[%p] : !one, !tracea_pipe.phase<1> -> memref<4x8xf32, #s>
      tracea_pipe.copy %m[%i, %k] map affine_map<(i, j) -> (i, j)> to %e : memref<?x?xf32>, memref<4x8xf32, #s>
      tracea_pipe.commit %ch[%p] : !one, !tracea_pipe.phase<1>
      %q = tracea_pipe.advance %p : !tracea_pipe.phase<1>
      scf.yield %q : !tracea_pipe.phase<1>
    }
  }
  tracea_pipe.end
}

// A kernel without staged memory needs no workspace.
// CHECK-LABEL: tracea_pipe.kernel @none
// CHECK-NOT:     workspace
tracea_pipe.kernel @none(%n: index) {
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}
