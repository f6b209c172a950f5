// Operations element by element on long rows ask for memory ahead of its use.
// RUN: tracea-opt %s --tracea-prefetch-streams --canonicalize --cse --split-input-file | FileCheck %s

#target = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 512, l2 = 65536>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
#column = affine_map<(i, j) -> (i)>
module attributes {tracea.target = #target} {

// A row of 4096 goes by 32 pieces of 128; each asks for 8 lines of what it will read, and of what it
// will write. An element that all of a row have in common is no stream.
// CHECK-LABEL: func.func @long(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<16x4096xf32>, %[[B:[a-z0-9]+]]: memref<4096xf32>, %[[C:[a-z0-9]+]]: memref<16xf32>, %[[D:[a-z0-9]+]]: memref<16x4096xf32>)
// CHECK:         scf.for %[[I:.*]] = %c0 to %c16 step %c1 {
// CHECK:           scf.for %[[J:.*]] = %c0 to %c4096 step %c128 {
// CHECK:             %[[AHEAD:.*]] = arith.addi %[[J]], %c512
// CHECK:             memref.prefetch %[[A]][%[[I]], %[[AHEAD]]], read, locality<3>, data
// CHECK:             %[[NEXT:.*]] = arith.addi %[[J]], %c528
// CHECK:             memref.prefetch %[[A]][%[[I]], %[[NEXT]]], read
// CHECK-COUNT-6:     memref.prefetch %[[A]][{{.*}}, read
// CHECK-NEXT:        %[[X:.*]] = memref.subview %[[A]][%[[I]], %[[J]]] [1, 128] [1, 1]
// CHECK-COUNT-8:     memref.prefetch %[[B]][{{.*}}, read
// CHECK-NEXT:        %[[Y:.*]] = memref.subview %[[B]][%[[J]]] [128] [1]
// CHECK-NEXT:        %[[Z:.*]] = memref.subview %[[C]][%[[I]]] [1] [1]
// CHECK-COUNT-8:     memref.prefetch %[[D]][{{.*}}, write
// CHECK-NEXT:        %[[R:.*]] = memref.subview %[[D]][%[[I]], %[[J]]] [1, 128] [1, 1]
// CHECK:             linalg.generic {{.*}} ins(%[[X]], %[[Y]], %[[Z]] : {{.*}}) outs(%[[R]] :
func.func @long(%a: memref<16x4096xf32>, %b: memref<4096xf32>, %c: memref<16xf32>, %d: memref<16x4096xf32>) {
  linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]}
    ins(%a, %b, %c : memref<16x4096xf32>, memref<4096xf32>, memref<16xf32>) outs(%d : memref<16x4096xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %p, %z : f32
    linalg.yield %s : f32
  }
  return
}

// The last piece is shorter; lines of bytes hold four times as many elements. A part of a large memory
// counts as all of it.
// CHECK-LABEL: func.func @rest(
// CHECK:         scf.for %[[J:.*]] = %c0 to %c4000 step %c128 {
// CHECK-COUNT-2:   memref.prefetch %{{.*}}, read
// CHECK-NOT:       read
// CHECK-COUNT-8:   memref.prefetch %{{.*}}, write
// CHECK-NOT:       memref.prefetch
// CHECK:           memref.subview
func.func @rest(%a: memref<64x4000xi8>, %d: memref<64x4000xi32>, %i: index) {
  %x = memref.subview %a[%i, 0] [1, 4000] [1, 1] : memref<64x4000xi8> to memref<1x4000xi8, strided<[4000, 1], offset: ?>>
  %y = memref.subview %d[%i, 0] [1, 4000] [1, 1] : memref<64x4000xi32> to memref<1x4000xi32, strided<[4000, 1], offset: ?>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x : memref<1x4000xi8, strided<[4000, 1], offset: ?>>) outs(%y : memref<1x4000xi32, strided<[4000, 1], offset: ?>>) {
  ^bb0(%e: i8, %o: i32):
    %s = arith.extsi %e : i8 to i32
    linalg.yield %s : i32
  }
  return
}

// A result of more than eight times the second level is not asked for: a piece of it is computed in
// memory of its own, and goes past the caches where it begins with a line.
// CHECK-LABEL: func.func @past(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<64x4096xf32>, %[[B:[a-z0-9]+]]: memref<64x4096xf32>
// CHECK:         %[[OWN:.*]] = memref.alloca() {alignment = 64 : i64} : memref<1x128xf32>
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK-COUNT-8:     memref.prefetch %[[A]][{{.*}}, read
// CHECK-NOT:         memref.prefetch
// CHECK:             %[[TO:.*]] = memref.subview %[[B]]
// CHECK:             %[[LINE:.*]] = arith.remui %{{.*}}, %c64
// CHECK:             %[[IS:.*]] = arith.cmpi eq, %[[LINE]], %c0
// CHECK:             linalg.generic {{.*}} outs(%[[OWN]] :
// CHECK:             scf.if %[[IS]] {
// CHECK-COUNT-8:       vector.store %{{.*}}, %[[TO]][{{.*}} {alignment = 64 : i64, nontemporal = true}
// CHECK:             } else {
// CHECK-NOT:           nontemporal
// CHECK-COUNT-8:       vector.store %{{.*}}, %[[TO]][
// CHECK-NOT:           vector.store
// CHECK:             }
// CHECK:           }
// CHECK-NEXT:    }
func.func @past(%a: memref<64x4096xf32>, %b: memref<64x4096xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%a : memref<64x4096xf32>) outs(%b : memref<64x4096xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.negf %x : f32
    linalg.yield %s : f32
  }
  return
}

// Not what is read as well, and not rows that end within a line.
// CHECK-LABEL: func.func @near(
// CHECK-NOT:     nontemporal
// CHECK:         return
func.func @near(%a: memref<64x4096xf32>, %b: memref<64x4096xf32>, %c: memref<64x4100xf32>, %d: memref<64x4100xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%a : memref<64x4096xf32>) outs(%b : memref<64x4096xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  }
  linalg.copy ins(%c : memref<64x4100xf32>) outs(%d : memref<64x4100xf32>)
  return
}

// What the second level holds, short rows, rows of unknown length, sums, and columns go as they came.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     memref.prefetch
// CHECK:         return
func.func @others(%a: memref<2x2048xf32>, %b: memref<2x2048xf32>, %c: memref<4096x64xf32>, %d: memref<4096x64xf32>,
                  %e: memref<?x?xf32>, %f: memref<?x?xf32>, %g: memref<16x4096xf32>, %h: memref<16xf32>, %k: memref<4096x16xf32>, %l: memref<4096x16xf32>) {
  linalg.copy ins(%a : memref<2x2048xf32>) outs(%b : memref<2x2048xf32>)
  linalg.copy ins(%c : memref<4096x64xf32>) outs(%d : memref<4096x64xf32>)
  linalg.copy ins(%e : memref<?x?xf32>) outs(%f : memref<?x?xf32>)
  linalg.generic {indexing_maps = [#id, #column], iterator_types = ["parallel", "reduction"]}
    ins(%g : memref<16x4096xf32>) outs(%h : memref<16xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (j, i)>], iterator_types = ["parallel", "parallel"]}
    ins(%k : memref<4096x16xf32>) outs(%l : memref<4096x16xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.negf %x : f32
    linalg.yield %s : f32
  }
  return
}
}

// -----

// Nothing is known of the second level.
// CHECK-LABEL: func.func @unknown(
// CHECK-NOT:     memref.prefetch
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 512>} {
func.func @unknown(%a: memref<16x4096xf32>, %b: memref<16x4096xf32>) {
  linalg.copy ins(%a : memref<16x4096xf32>) outs(%b : memref<16x4096xf32>)
  return
}
}
