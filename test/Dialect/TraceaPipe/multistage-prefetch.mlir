// Which rings are filled ahead, and why others are not.
// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-multistage-prefetch))" \
// RUN:     --remark-format=emitRemark --remarks-filter=tracea-multistage-prefetch 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[8, 0]], lane = [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]], warp = [], outer = [1, 1]>
!slot = memref<16x4xf32, #tracea_pipe.staged>
!ring = !tracea_pipe.channel<3 x (!slot)>

// The loop begins and steps as it likes.
// CHECK-LABEL: @ahead(
// CHECK: %[[P:.*]] = tracea_pipe.start
// CHECK: %[[F:.*]] = scf.for %[[I:.*]] = %c0{{.*}} to %c2{{.*}} iter_args(%[[Q:.*]] = %[[P]])
// CHECK:   %[[D:.*]] = arith.muli %[[I]], %c4
// CHECK:   %[[K:.*]] = arith.addi %c4{{[^ ]*}}, %[[D]]
// CHECK:   acquire %{{.*}}[%[[Q]]]
// CHECK:   copy %arg0[%{{.*}}, %[[K]]]
// CHECK:   commit %{{.*}}[%[[Q]]]
// CHECK:   advance %[[Q]]
// CHECK: %[[L:.*]]:2 = scf.for %[[J:.*]] = %c4{{.*}} to %arg2 step %c4{{.*}} iter_args(%[[R:.*]] = %[[P]], %[[S:.*]] = %[[F]])
// CHECK:   wait %{{.*}}[%[[R]]]
// CHECK:   tracea_pipe.load
// CHECK:   %[[AHEAD:.*]] = arith.muli %c4{{[^ ]*}}, %c2
// CHECK:   %[[N:.*]] = arith.addi %[[J]], %[[AHEAD]]
// CHECK:   acquire %{{.*}}[%[[S]]]
// CHECK:   copy %arg0[%{{.*}}, %[[N]]]
// CHECK:   commit %{{.*}}[%[[S]]]
// CHECK:   tracea_pipe.store
// CHECK:   release %{{.*}}[%[[R]]]
// CHECK: scf.for {{.*}} iter_args(%[[T:.*]] = %[[L]]#0)
// CHECK-NEXT: wait %{{.*}}[%[[T]]]
// CHECK-NEXT: release %{{.*}}[%[[T]]]
tracea_pipe.kernel @ahead(%X: memref<?x?xf32>, %Y: memref<?x?xf32>, %n: index) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ring = tracea_pipe.channel : !ring
    %p = tracea_pipe.start : <3>
    %last = scf.for %k = %c4 to %n step %c4 iter_args(%q = %p) -> (!tracea_pipe.phase<3>) {
      %s = tracea_pipe.acquire %ring[%q] : !ring, <3> -> !slot
      tracea_pipe.copy %X[%i, %k] map #id padded [0, 1] to %s : memref<?x?xf32>, !slot
      tracea_pipe.commit %ring[%q] : !ring, <3>
      %f = tracea_pipe.wait %ring[%q] : !ring, <3> -> !slot
      %x = tracea_pipe.load %f[%c0, %c0] map #id : !slot -> tensor<16x4xf32, #lanes>
      tracea_pipe.store %x, %Y[%i, %k] map #id : tensor<16x4xf32, #lanes>, memref<?x?xf32>
      tracea_pipe.release %ring[%q] : !ring, <3>
      %next = tracea_pipe.advance %q : <3>
      scf.yield %next : !tracea_pipe.phase<3>
    }
  }
  tracea_pipe.end
}

// -----

#walk = affine_map<(n, q, c) -> (n, q, c)>
!slot = memref<16x4xf32, #tracea_pipe.staged>
!ring = !tracea_pipe.channel<2 x (!slot)>

// Behind the last iteration a number that is divided has no other remainders.
// CHECK-LABEL: @remainder(
// CHECK: scf.for
// CHECK:   delinearize
// CHECK: scf.for
// CHECK: scf.for
tracea_pipe.kernel @remainder(%X: memref<?x7x4xf32>, %n: index) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %c16 = arith.constant 16 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ring = tracea_pipe.channel : !ring
    %p = tracea_pipe.start : <2>
    %last = scf.for %k = %c0 to %n step %c16 iter_args(%q = %p) -> (!tracea_pipe.phase<2>) {
      %at = tracea_pipe.delinearize %k into(%c7) : <2>
      %s = tracea_pipe.acquire %ring[%q] : !ring, <2> -> !slot
      tracea_pipe.copy %X[%c0, %c0, %c0] map #walk along [0](%at : !tracea_pipe.walk<2>) padded [0] to %s : memref<?x7x4xf32>, !slot
      tracea_pipe.commit %ring[%q] : !ring, <2>
      %f = tracea_pipe.wait %ring[%q] : !ring, <2> -> !slot
      tracea_pipe.release %ring[%q] : !ring, <2>
      %next = tracea_pipe.advance %q : <2>
      scf.yield %next : !tracea_pipe.phase<2>
    }
  }
  tracea_pipe.end
}

// -----

#id = affine_map<(i, j) -> (i, j)>
!slot = memref<16x4xf32, #tracea_pipe.staged>
!ring = !tracea_pipe.channel<2 x (!slot)>

// An index that is computed anew in each iteration, and is always the same, needs no padding.
// CHECK-LABEL: @invariant(
// CHECK: scf.for
// CHECK:   copy
// CHECK: scf.for
// CHECK: scf.for
tracea_pipe.kernel @invariant(%X: memref<?x8xf32>, %n: index) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c2 = arith.constant 2 : index
  tracea_pipe.tiles (%i) in (%c2) {
    %ring = tracea_pipe.channel : !ring
    %p = tracea_pipe.start : <2>
    %last = scf.for %k = %c0 to %n step %c16 iter_args(%q = %p) -> (!tracea_pipe.phase<2>) {
      %column = arith.muli %i, %c4 : index
      %s = tracea_pipe.acquire %ring[%q] : !ring, <2> -> !slot
      tracea_pipe.copy %X[%k, %column] map #id padded [0] to %s : memref<?x8xf32>, !slot
      tracea_pipe.commit %ring[%q] : !ring, <2>
      %f = tracea_pipe.wait %ring[%q] : !ring, <2> -> !slot
      tracea_pipe.release %ring[%q] : !ring, <2>
      %next = tracea_pipe.advance %q : <2>
      scf.yield %next : !tracea_pipe.phase<2>
    }
  }
  tracea_pipe.end
}

// -----

#walk = affine_map<(n, q, c) -> (n, q, c)>
!slot = memref<16x4xf32, #tracea_pipe.staged>
!ring = !tracea_pipe.channel<2 x (!slot)>

// The quotient grows, and is not padded.
// CHECK-LABEL: @quotient(
// CHECK: scf.for
// CHECK-NEXT: delinearize
// CHECK-NEXT: acquire
// CHECK-NOT: scf.for
// REMARK: NotFilledAhead {{.*}}"a copy for an iteration behind the last would leave memory"
tracea_pipe.kernel @quotient(%X: memref<?x7x4xf32>, %n: index) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %c16 = arith.constant 16 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ring = tracea_pipe.channel : !ring
    %p = tracea_pipe.start : <2>
    %last = scf.for %k = %c0 to %n step %c16 iter_args(%q = %p) -> (!tracea_pipe.phase<2>) {
      %at = tracea_pipe.delinearize %k into(%c7) : <2>
      %s = tracea_pipe.acquire %ring[%q] : !ring, <2> -> !slot
      tracea_pipe.copy %X[%c0, %c0, %c0] map #walk along [0](%at : !tracea_pipe.walk<2>) padded [1] to %s : memref<?x7x4xf32>, !slot
      tracea_pipe.commit %ring[%q] : !ring, <2>
      %f = tracea_pipe.wait %ring[%q] : !ring, <2> -> !slot
      tracea_pipe.release %ring[%q] : !ring, <2>
      %next = tracea_pipe.advance %q : <2>
      scf.yield %next : !tracea_pipe.phase<2>
    }
  }
  tracea_pipe.end
}

// -----

#id = affine_map<(i, j) -> (i, j)>
!slot = memref<16x4xf32, #tracea_pipe.staged>
!ring = !tracea_pipe.channel<2 x (!slot)>

// What lies behind the last iteration is not padded.
// CHECK-LABEL: @bare(
// CHECK: scf.for
// CHECK-NEXT: acquire
// CHECK-NOT: scf.for
// REMARK: NotFilledAhead {{.*}}"a copy for an iteration behind the last would leave memory"
tracea_pipe.kernel @bare(%X: memref<?x?xf32>, %n: index) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ring = tracea_pipe.channel : !ring
    %p = tracea_pipe.start : <2>
    %last = scf.for %k = %c0 to %n step %c4 iter_args(%q = %p) -> (!tracea_pipe.phase<2>) {
      %s = tracea_pipe.acquire %ring[%q] : !ring, <2> -> !slot
      tracea_pipe.copy %X[%i, %k] map #id padded [0] to %s : memref<?x?xf32>, !slot
      tracea_pipe.commit %ring[%q] : !ring, <2>
      %f = tracea_pipe.wait %ring[%q] : !ring, <2> -> !slot
      tracea_pipe.release %ring[%q] : !ring, <2>
      %next = tracea_pipe.advance %q : <2>
      scf.yield %next : !tracea_pipe.phase<2>
    }
  }
  tracea_pipe.end
}

// -----

#id = affine_map<(i, j) -> (i, j)>
!slot = memref<16x4xf32, #tracea_pipe.staged>
!ring = !tracea_pipe.channel<2 x (!slot)>

// Where to copy from comes from the iteration before.
// CHECK-LABEL: @carried(
// CHECK: scf.for
// CHECK-NEXT: acquire
// CHECK-NOT: scf.for
// REMARK: NotFilledAhead {{.*}}"a copy depends on what the loop carries"
tracea_pipe.kernel @carried(%X: memref<?x?xf32>, %n: index) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ring = tracea_pipe.channel : !ring
    %p = tracea_pipe.start : <2>
    %last:2 = scf.for %k = %c0 to %n step %c4 iter_args(%q = %p, %at = %c0) -> (!tracea_pipe.phase<2>, index) {
      %s = tracea_pipe.acquire %ring[%q] : !ring, <2> -> !slot
      tracea_pipe.copy %X[%i, %at] map #id padded [0, 1] to %s : memref<?x?xf32>, !slot
      tracea_pipe.commit %ring[%q] : !ring, <2>
      %f = tracea_pipe.wait %ring[%q] : !ring, <2> -> !slot
      tracea_pipe.release %ring[%q] : !ring, <2>
      %next = tracea_pipe.advance %q : <2>
      %then = arith.addi %at, %k : index
      scf.yield %next, %then : !tracea_pipe.phase<2>, index
    }
  }
  tracea_pipe.end
}

// -----

#id = affine_map<(i, j) -> (i, j)>
!slot = memref<16x4xf32, #tracea_pipe.staged>
!ring = !tracea_pipe.channel<2 x (!slot)>

// Where to copy from is read of a list, whose last place is there for iterations behind the last, too.
// CHECK-LABEL: @listed(
// CHECK: tracea_pipe.read
// CHECK: copy
// It is read before the iteration waits.
// CHECK: scf.for
// CHECK:   %[[CUT:.*]] = arith.minsi
// CHECK:   %[[AT:.*]] = tracea_pipe.read %arg1[%[[CUT]]]
// CHECK:   wait
// CHECK:   copy %arg0[%{{.*}}, %[[AT]]]
// CHECK:   release
tracea_pipe.kernel @listed(%X: memref<?x?xf32>, %list: memref<?xi32>, %n: index) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %extent = memref.dim %list, %c0 : memref<?xi32>
  %end = arith.subi %extent, %c1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ring = tracea_pipe.channel : !ring
    %p = tracea_pipe.start : <2>
    %last = scf.for %k = %c0 to %n step %c1 iter_args(%q = %p) -> (!tracea_pipe.phase<2>) {
      %cut = arith.minsi %k, %end : index
      %at = tracea_pipe.read %list[%cut] : memref<?xi32>
      %s = tracea_pipe.acquire %ring[%q] : !ring, <2> -> !slot
      tracea_pipe.copy %X[%i, %at] map #id padded [0, 1] to %s : memref<?x?xf32>, !slot
      tracea_pipe.commit %ring[%q] : !ring, <2>
      %f = tracea_pipe.wait %ring[%q] : !ring, <2> -> !slot
      tracea_pipe.release %ring[%q] : !ring, <2>
      %next = tracea_pipe.advance %q : <2>
      scf.yield %next : !tracea_pipe.phase<2>
    }
  }
  tracea_pipe.end
}

// -----

#id = affine_map<(i, j) -> (i, j)>
!slot = memref<16x4xf32, #tracea_pipe.staged>
!ring = !tracea_pipe.channel<2 x (!slot)>

// Behind the last iteration the list may have no place.
// CHECK-LABEL: @listed_to_the_end(
// CHECK: scf.for
// CHECK-NEXT: read
// CHECK-NEXT: acquire
// CHECK-NOT: scf.for
// REMARK: NotFilledAhead {{.*}}"a copy depends on a number that may not exist behind the last iteration"
tracea_pipe.kernel @listed_to_the_end(%X: memref<?x?xf32>, %list: memref<?xi32>, %n: index) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %ring = tracea_pipe.channel : !ring
    %p = tracea_pipe.start : <2>
    %last = scf.for %k = %c0 to %n step %c1 iter_args(%q = %p) -> (!tracea_pipe.phase<2>) {
      %at = tracea_pipe.read %list[%k] : memref<?xi32>
      %s = tracea_pipe.acquire %ring[%q] : !ring, <2> -> !slot
      tracea_pipe.copy %X[%i, %at] map #id padded [0, 1] to %s : memref<?x?xf32>, !slot
      tracea_pipe.commit %ring[%q] : !ring, <2>
      %f = tracea_pipe.wait %ring[%q] : !ring, <2> -> !slot
      tracea_pipe.release %ring[%q] : !ring, <2>
      %next = tracea_pipe.advance %q : <2>
      scf.yield %next : !tracea_pipe.phase<2>
    }
  }
  tracea_pipe.end
}
