// RUN: tracea-opt %s --tracea-pipeline-kernels | FileCheck %s

#tile = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#staged = #tracea_pipe.staged

// Two stages at two depths. Each has its own ring, declared at the top of the grid
// tile; the outer one's phase goes round one loop, the inner one's round two. A slot
// is released right after its last reader: the outer one after the inner loop, whose
// body reads it.
// CHECK-LABEL: tracea_pipe.kernel @nested
// CHECK:         tiles (%[[I:.*]]) in
// CHECK-DAG:       %[[CHB:.*]] = tracea_pipe.channel : <3 x(memref<4x4xf32, #tracea_pipe.staged>)>
// CHECK-DAG:       %[[PB:.*]] = tracea_pipe.start : <3>
// CHECK-DAG:       %[[CHA:.*]] = tracea_pipe.channel : <2 x(memref<2x4xf32, #tracea_pipe.staged>)>
// CHECK-DAG:       %[[PA:.*]] = tracea_pipe.start : <2>
// CHECK:           scf.for %[[K:.*]] = {{.*}} iter_args(%[[PB1:.*]] = %[[PB]], %[[PA1:.*]] = %[[PA]]) -> (!tracea_pipe.phase<3>, !tracea_pipe.phase<2>)
// CHECK-NEXT:        %[[B:.*]] = tracea_pipe.acquire %[[CHB]][%[[PB1]]]
// CHECK-NEXT:        tracea_pipe.copy %{{.*}}[%[[K]], %[[I]]] map #{{.*}} limits(%{{.*}}, %{{.*}}) padded [1] reuse once to %[[B]]
// CHECK-NEXT:        tracea_pipe.commit %[[CHB]][%[[PB1]]]
// CHECK-NEXT:        %[[BF:.*]] = tracea_pipe.wait %[[CHB]][%[[PB1]]]
// CHECK:             %[[PAN:.*]] = scf.for %[[M:.*]] = {{.*}} iter_args(%[[PA2:.*]] = %[[PA1]]) -> (!tracea_pipe.phase<2>)
// CHECK-NEXT:          %[[A:.*]] = tracea_pipe.acquire %[[CHA]][%[[PA2]]]
// CHECK-NEXT:          tracea_pipe.copy %{{.*}}[%[[M]], %[[K]]] map #{{[a-z0-9]*}} to %[[A]]
// CHECK-NEXT:          tracea_pipe.commit %[[CHA]][%[[PA2]]]
// CHECK-NEXT:          %[[AF:.*]] = tracea_pipe.wait %[[CHA]][%[[PA2]]]
// CHECK-NEXT:          arith.constant
// CHECK-NEXT:          %[[D:.*]] = tracea_pipe.mma %[[AF]], %[[BF]]
// CHECK-NEXT:          tracea_pipe.release %[[CHA]][%[[PA2]]]
// CHECK-NEXT:          %[[PA3:.*]] = tracea_pipe.advance %[[PA2]]
// CHECK-NEXT:          tracea_pipe.store %[[D]]
// CHECK-NEXT:          scf.yield %[[PA3]]
// CHECK:             tracea_pipe.release %[[CHB]][%[[PB1]]]
// CHECK-NEXT:        %[[PB2:.*]] = tracea_pipe.advance %[[PB1]]
// CHECK-NEXT:        scf.yield %[[PB2]], %[[PAN]]
tracea_pipe.kernel @nested(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %d: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%n) {
    scf.for %k = %c0 to %n step %c4 {
      %sb = tracea_pipe.stage %b[%k, %i] map affine_map<(k, j) -> (k, j)> limits(%c4, %n) padded [1] slots 3 reuse once
            : memref<?x?xf32> -> tensor<4x4xf32, #staged>
      scf.for %m = %c0 to %n step %c4 {
        %sa = tracea_pipe.stage %a[%m, %k] map affine_map<(i, k) -> (i, k)> slots 2
              : memref<?x?xf32> -> tensor<2x4xf32, #staged>
        %zero = arith.constant dense<0.0> : tensor<2x4xf32, #tile>
        %r = tracea_pipe.mma %sa, %sb, %zero
             : tensor<2x4xf32, #staged>, tensor<4x4xf32, #staged>, tensor<2x4xf32, #tile>
        tracea_pipe.store %r, %d[%m, %i] map affine_map<(i, j) -> (i, j)> : tensor<2x4xf32, #tile>, memref<?x?xf32>
      }
    }
  }
  tracea_pipe.end
}

// What is asked for ahead is a part of the slot, which is held for as long.
// CHECK-LABEL: tracea_pipe.kernel @ahead
// CHECK:         %[[S:.*]] = tracea_pipe.wait
// CHECK:         tracea_pipe.mma %[[S]]
// CHECK:         tracea_pipe.prefetch %[[S]][%{{.*}}, %{{.*}}] map #{{.*}} shape [1, 4] level 2 : memref<2x4xf32, #tracea_pipe.staged>
// CHECK-NEXT:    tracea_pipe.release
tracea_pipe.kernel @ahead(%a: memref<?x?xf32>, %b: memref<4x4xf32>, %d: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %s = tracea_pipe.stage %a[%i, %i] map affine_map<(i, k) -> (i, k)>
         : memref<?x?xf32> -> tensor<2x4xf32, #staged>
    %zero = arith.constant dense<0.0> : tensor<2x4xf32, #tile>
    %sum = tracea_pipe.mma %s, %b, %zero : tensor<2x4xf32, #staged>, memref<4x4xf32>, tensor<2x4xf32, #tile>
    tracea_pipe.prefetch %s[%i, %i] map affine_map<(i, k) -> (i, k)> shape [1, 4] level 2 : tensor<2x4xf32, #staged>
    tracea_pipe.store %sum, %d[%i, %i] map affine_map<(i, j) -> (i, j)> : tensor<2x4xf32, #tile>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// Loops that carry values already keep them; the phase is one more.
// CHECK-LABEL: tracea_pipe.kernel @carried
// CHECK:         %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}}) -> (tensor<2x4xf32, #{{.*}}>, !tracea_pipe.phase<1>)
// CHECK:           %[[SUM:.*]] = tracea_pipe.mma %{{.*}}, %{{.*}}, %[[ACC]]
// CHECK-NEXT:      tracea_pipe.release
// CHECK-NEXT:      %[[NEXT:.*]] = tracea_pipe.advance %[[P]]
// CHECK-NEXT:      scf.yield %[[SUM]], %[[NEXT]]
// CHECK:         tracea_pipe.store %[[R]]#0
tracea_pipe.kernel @carried(%a: memref<?x?xf32>, %b: memref<4x4xf32>, %d: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%n) {
    %zero = arith.constant dense<0.0> : tensor<2x4xf32, #tile>
    %r = scf.for %k = %c0 to %n step %c4 iter_args(%acc = %zero) -> tensor<2x4xf32, #tile> {
      %s = tracea_pipe.stage %a[%i, %k] map affine_map<(i, k) -> (i, k)>
           : memref<?x?xf32> -> tensor<2x4xf32, #staged>
      %sum = tracea_pipe.mma %s, %b, %acc : tensor<2x4xf32, #staged>, memref<4x4xf32>, tensor<2x4xf32, #tile>
      scf.yield %sum : tensor<2x4xf32, #tile>
    }
    tracea_pipe.store %r, %d[%i, %i] map affine_map<(i, j) -> (i, j)> : tensor<2x4xf32, #tile>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// Three stages in one loop: three rings, three phases, in the stages' order. All of
// them are released where their own last use is, not at the end.
// CHECK-LABEL: tracea_pipe.kernel @siblings
// CHECK-COUNT-3: tracea_pipe.channel
// CHECK-NOT:     tracea_pipe.channel
// CHECK:         scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}}, %[[Y:.*]] = %{{.*}}, %[[Z:.*]] = %{{.*}})
// CHECK:           tracea_pipe.wait %[[CHX:.*]][%[[X]]]
// CHECK:           tracea_pipe.wait %[[CHY:.*]][%[[Y]]]
// CHECK:           tracea_pipe.wait %[[CHZ:.*]][%[[Z]]]
// CHECK:           tracea_pipe.load
// CHECK-NEXT:      tracea_pipe.release %[[CHY]][%[[Y]]]
// CHECK-NEXT:      %[[Y1:.*]] = tracea_pipe.advance %[[Y]]
// CHECK-NEXT:      tracea_pipe.load
// CHECK-NEXT:      tracea_pipe.release %[[CHX]][%[[X]]]
// CHECK-NEXT:      %[[X1:.*]] = tracea_pipe.advance %[[X]]
// CHECK-NEXT:      tracea_pipe.load
// CHECK-NEXT:      tracea_pipe.release %[[CHZ]][%[[Z]]]
// CHECK-NEXT:      %[[Z1:.*]] = tracea_pipe.advance %[[Z]]
// CHECK:           scf.yield %[[X1]], %[[Y1]], %[[Z1]]
tracea_pipe.kernel @siblings(%a: memref<?x?xf32>, %d: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%n) {
    scf.for %k = %c0 to %n step %c4 {
      %x = tracea_pipe.stage %a[%i, %k] map affine_map<(i, k) -> (i, k)> : memref<?x?xf32> -> tensor<2x4xf32, #staged>
      %y = tracea_pipe.stage %a[%i, %k] map affine_map<(i, k) -> (i, k)> : memref<?x?xf32> -> tensor<2x4xf32, #staged>
      %z = tracea_pipe.stage %a[%i, %k] map affine_map<(i, k) -> (i, k)> : memref<?x?xf32> -> tensor<2x4xf32, #staged>
      %ly = tracea_pipe.load %y[%c0, %c0] map affine_map<(i, j) -> (i, j)> : tensor<2x4xf32, #staged> -> tensor<2x4xf32, #tile>
      %lx = tracea_pipe.load %x[%c0, %c0] map affine_map<(i, j) -> (i, j)> : tensor<2x4xf32, #staged> -> tensor<2x4xf32, #tile>
      %lz = tracea_pipe.load %z[%c0, %c0] map affine_map<(i, j) -> (i, j)> : tensor<2x4xf32, #staged> -> tensor<2x4xf32, #tile>
      %s = arith.addf %lx, %ly : tensor<2x4xf32, #tile>
      %t = arith.addf %s, %lz : tensor<2x4xf32, #tile>
      tracea_pipe.store %t, %d[%i, %k] map affine_map<(i, j) -> (i, j)> : tensor<2x4xf32, #tile>, memref<?x?xf32>
    }
  }
  tracea_pipe.end
}

// Outside of all loops no phase is carried. A view becomes a window into the slot,
// with the strides of its map; the slot is released after the last reader of the
// last view, here in a branch.
// CHECK-LABEL: tracea_pipe.kernel @views
// CHECK:         %[[SLOT:.*]] = tracea_pipe.wait
// CHECK:         %[[V:.*]] = tracea_pipe.view %[[SLOT]][%{{.*}}, %{{.*}}, %{{.*}}] {{.*}} -> memref<8x2xf32, strided<[1, 16], offset: ?>, #tracea_pipe.staged>
// CHECK:         tracea_pipe.view %[[V]][%{{.*}}, %{{.*}}] {{.*}} -> memref<4x2xf32, strided<[2, 16], offset: ?>, #tracea_pipe.staged>
// CHECK-NOT:     tracea_pipe.release
// CHECK:         scf.if
// CHECK:           tracea_pipe.load
// CHECK:         }
// CHECK-NEXT:    tracea_pipe.release
// CHECK-NEXT:    tracea_pipe.advance
// CHECK-NEXT:    arith.addi
tracea_pipe.kernel @views(%a: memref<?x?x?xf32>, %d: memref<?x?xf32>, %n: index, %flag: i1) {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.stage %a[%i, %i, %i] map affine_map<(i, j, k) -> (i, j, k)> : memref<?x?x?xf32> -> tensor<4x8x8xf32, #staged>
    %v = tracea_pipe.view %x[%i, %i, %i] map affine_map<(i, j) -> (0, j * 2, i)> : tensor<4x8x8xf32, #staged> -> tensor<8x2xf32, #staged>
    %w = tracea_pipe.view %v[%i, %i] map affine_map<(i, j) -> (i * 2, j)> : tensor<8x2xf32, #staged> -> tensor<4x2xf32, #staged>
    scf.if %flag {
      %l = tracea_pipe.load %w[%c0, %c0] map affine_map<(i, j) -> (j, i)> : tensor<4x2xf32, #staged> -> tensor<2x4xf32, #tile>
      tracea_pipe.store %l, %d[%i, %i] map affine_map<(i, j) -> (i, j)> : tensor<2x4xf32, #tile>, memref<?x?xf32>
    }
    %last = arith.addi %i, %i : index
  }
  tracea_pipe.end
}

// A view in a nested block is read there: the block's end is the last use.
// CHECK-LABEL: tracea_pipe.kernel @nested_view
// CHECK:         scf.for
// CHECK:           tracea_pipe.view
// CHECK:           tracea_pipe.load
// CHECK:         }
// CHECK-NEXT:    tracea_pipe.release
tracea_pipe.kernel @nested_view(%a: memref<?x?xf32>, %d: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.stage %a[%i, %i] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<4x8xf32, #staged>
    scf.for %k = %c0 to %n step %c1 {
      %v = tracea_pipe.view %x[%k, %k] map affine_map<(i, j) -> (i, j)> : tensor<4x8xf32, #staged> -> tensor<2x4xf32, #staged>
      %l = tracea_pipe.load %v[%c0, %c0] map affine_map<(i, j) -> (i, j)> : tensor<2x4xf32, #staged> -> tensor<2x4xf32, #tile>
      tracea_pipe.store %l, %d[%i, %k] map affine_map<(i, j) -> (i, j)> : tensor<2x4xf32, #tile>, memref<?x?xf32>
    }
  }
  tracea_pipe.end
}

// A stage that nothing reads still takes its turn: filled, handed over, given back.
// CHECK-LABEL: tracea_pipe.kernel @unread
// CHECK:         tracea_pipe.acquire
// CHECK-NEXT:    tracea_pipe.copy
// CHECK-NEXT:    tracea_pipe.commit
// CHECK-NEXT:    tracea_pipe.wait
// CHECK-NEXT:    tracea_pipe.release
// CHECK-NEXT:    tracea_pipe.advance
tracea_pipe.kernel @unread(%a: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.stage %a[%i, %i] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<4x8xf32, #staged>
  }
  tracea_pipe.end
}
