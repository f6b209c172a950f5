// RUN: tracea-opt %s --canonicalize | FileCheck %s

#tile = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#other = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 2], [0, 1]], outer = [1, 1]>

// A change of lane map to the same one is none.
// CHECK-LABEL: func.func @relayout
// CHECK-SAME:    (%[[X:.*]]: tensor<2x4xf32, #[[TILE:lanes[0-9]*]]>)
// CHECK-NEXT:    %[[Y:.*]] = tracea_pipe.relayout %[[X]]
// CHECK-NEXT:    return %[[X]], %[[Y]]
func.func @relayout(%x: tensor<2x4xf32, #tile>) -> (tensor<2x4xf32, #tile>, tensor<2x4xf32, #other>) {
  %a = tracea_pipe.relayout %x : tensor<2x4xf32, #tile> -> tensor<2x4xf32, #tile>
  %b = tracea_pipe.relayout %x : tensor<2x4xf32, #tile> -> tensor<2x4xf32, #other>
  return %a, %b : tensor<2x4xf32, #tile>, tensor<2x4xf32, #other>
}

// arith's own folders work on tiles.
// CHECK-LABEL: func.func @folded
// CHECK-SAME:    (%[[X:.*]]: tensor<2x4xi32
// CHECK-NEXT:    return %[[X]]
func.func @folded(%x: tensor<2x4xi32, #tile>) -> tensor<2x4xi32, #tile> {
  %zero = arith.constant dense<0> : tensor<2x4xi32, #tile>
  %a = arith.addi %x, %zero : tensor<2x4xi32, #tile>
  return %a : tensor<2x4xi32, #tile>
}

// Pure operations without a use go; the grid stays even when it is empty, and so
// do accesses to memory, the protocol of a channel, and a request for memory.
// CHECK-LABEL: tracea_pipe.kernel @unused
// CHECK:         tiles (%[[I:.*]]) in
// CHECK-NOT:     tracea_pipe.view
// CHECK-NOT:     tracea_pipe.mma
// CHECK-NOT:     tracea_pipe.advance
// CHECK-NOT:     tracea_pipe.load
// CHECK:         tracea_pipe.prefetch
// CHECK:         tracea_pipe.acquire
// CHECK-NEXT:    tracea_pipe.copy
// CHECK-NEXT:    tracea_pipe.commit
// CHECK-NEXT:    tracea_pipe.wait
// CHECK-NEXT:    tracea_pipe.release
// CHECK-NEXT:    tracea_pipe.store
// CHECK-LABEL: tracea_pipe.kernel @empty
// CHECK:         tiles (%{{.*}}) in (%{{.*}}) {
tracea_pipe.kernel @unused(%m: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %zero = arith.constant dense<0.0> : tensor<2x4xf32, #tile>
    %s = tracea_pipe.scratch : memref<4x4xf32, #tracea_pipe.staged>
    %v = tracea_pipe.view %s[%i, %i] map affine_map<(i, j) -> (i, j)>
         : memref<4x4xf32, #tracea_pipe.staged> -> memref<2x4xf32, strided<[4, 1], offset: ?>, #tracea_pipe.staged>
    %w = tracea_pipe.mma %v, %s, %zero
         : memref<2x4xf32, strided<[4, 1], offset: ?>, #tracea_pipe.staged>,
           memref<4x4xf32, #tracea_pipe.staged>, tensor<2x4xf32, #tile>
    %x = tracea_pipe.load %m[%i, %i] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<2x4xf32, #tile>
    tracea_pipe.prefetch %m[%i, %i] map affine_map<(i, j) -> (i, j)> shape [2, 4] : memref<?x?xf32>
    %ch = tracea_pipe.channel : !tracea_pipe.channel<2 x (memref<4xf32, #tracea_pipe.staged>)>
    %p = tracea_pipe.start : !tracea_pipe.phase<2>
    %b = tracea_pipe.acquire %ch[%p] : !tracea_pipe.channel<2 x (memref<4xf32, #tracea_pipe.staged>)>,
         !tracea_pipe.phase<2> -> memref<4xf32, #tracea_pipe.staged>
    tracea_pipe.copy %m[%i, %i] map affine_map<(i) -> (0, i)> to %b : memref<?x?xf32>, memref<4xf32, #tracea_pipe.staged>
    tracea_pipe.commit %ch[%p] : !tracea_pipe.channel<2 x (memref<4xf32, #tracea_pipe.staged>)>, !tracea_pipe.phase<2>
    %f = tracea_pipe.wait %ch[%p] : !tracea_pipe.channel<2 x (memref<4xf32, #tracea_pipe.staged>)>,
         !tracea_pipe.phase<2> -> memref<4xf32, #tracea_pipe.staged>
    tracea_pipe.release %ch[%p] : !tracea_pipe.channel<2 x (memref<4xf32, #tracea_pipe.staged>)>, !tracea_pipe.phase<2>
    %q = tracea_pipe.advance %p : !tracea_pipe.phase<2>
    tracea_pipe.store %zero, %m[%i, %i] map affine_map<(i, j) -> (i, j)> : tensor<2x4xf32, #tile>, memref<?x?xf32>
  }
  tracea_pipe.end
}
tracea_pipe.kernel @empty(%n: index) {
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}

// A launch on memrefs writes; one on tensors is dead without a use.
// CHECK-LABEL: func.func @launches
// CHECK-NEXT:    tracea_pipe.launch @fill outs(%{{.*}} : memref<4xf32>)
// CHECK-NEXT:    return
tracea_pipe.kernel @fill(%m: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}
func.func @launches(%m: memref<4xf32>, %t: tensor<4xf32>) {
  tracea_pipe.launch @fill outs(%m : memref<4xf32>)
  %r = tracea_pipe.launch @fill outs(%t : tensor<4xf32>) -> tensor<4xf32>
  return
}

// A role that nothing is left of goes, but not one that gives back registers:
// others wait for them.
// CHECK-LABEL: tracea_pipe.kernel @idle_roles
// CHECK-NOT:     tracea_pipe.role "idle"
// CHECK:         tracea_pipe.role "producer" warps [4, 8] registers 40 {
// CHECK:         tracea_pipe.role "consumer"
tracea_pipe.kernel @idle_roles(%m: memref<?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    tracea_pipe.roles {
      tracea_pipe.role "idle" warps [0, 4] {
        scf.for %k = %c0 to %c0 step %c1 {
          tracea_pipe.prefetch %m[%k] map affine_map<(i) -> (i)> shape [2] : memref<?xf32>
        }
      }
      tracea_pipe.role "producer" warps [4, 8] registers 40 {
        scf.for %k = %c0 to %c0 step %c1 {
          tracea_pipe.prefetch %m[%k] map affine_map<(i) -> (i)> shape [2] : memref<?xf32>
        }
      }
      tracea_pipe.role "consumer" warps [8, 12] registers 232 {
        tracea_pipe.prefetch %m[%i] map affine_map<(i) -> (i)> shape [2] : memref<?xf32>
      }
    }
  }
  tracea_pipe.end
}
