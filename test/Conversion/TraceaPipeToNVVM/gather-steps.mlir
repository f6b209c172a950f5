// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm --canonicalize --cse --loop-invariant-code-motion | FileCheck %s

// Lanes gather the pixels that taps see. What a step asks of a row is one bit of a mask for each dimension, both in one
// word, and what it adds is one number for all rows: in the loop there are neither comparisons with extents nor products
// for each row.
#window = affine_map<(n, p, q, c) -> (n, p, q, c)>
!block = memref<32x32xbf16, #tracea_pipe.staged>
!ring = !tracea_pipe.channel<2 x (!block)>
!phase = !tracea_pipe.phase<2>

// CHECK-LABEL: llvm.func @taps(
// Which rows are of an image at all, and which steps see them.
// CHECK:       arith.xori
// CHECK:       scf.for
// CHECK-NOT:   arith.cmpi ult
// CHECK:       %[[MASKED:.*]] = arith.andi %{{.*}}, %[[OWN:.*]] : i32
// CHECK:       %[[IN:.*]] = arith.cmpi eq, %[[MASKED]], %c0_i32
// CHECK:       %[[TO:.*]] = llvm.getelementptr %{{.*}}[%[[STEP:.*]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
// CHECK:       nvvm.cp.async.shared.global
// CHECK-NOT:   arith.muli
// CHECK:       arith.andi %{{.*}}, %[[OWN]] : i32
// CHECK:       llvm.getelementptr %{{.*}}[%[[STEP]]]
// CHECK:       nvvm.cp.async.shared.global
// CHECK:       nvvm.cp.async.commit.group
tracea_pipe.kernel @taps(%X: memref<?x?x?x32xbf16> {tracea_pipe.aligned = 16 : i64}, %h: index, %w: index, %n: index) attributes {warps = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c9 = arith.constant 9 : index
  tiles (%t) in (%n) {
    %walk = tracea_pipe.delinearize %t into(%h, %w) : <3>
    %ring = tracea_pipe.channel : !ring
    %start = tracea_pipe.start : !phase
    %end = scf.for %tap = %c0 to %c9 step %c1 iter_args(%p = %start) -> (!phase) {
      %r = arith.divui %tap, %c3 : index
      %s = arith.remui %tap, %c3 : index
      %y = arith.subi %r, %c1 : index
      %x = arith.subi %s, %c1 : index
      %to = tracea_pipe.acquire %ring[%p] : !ring, !phase -> !block
      tracea_pipe.copy %X[%c0, %y, %x, %c0] map #window along [0](%walk : !tracea_pipe.walk<3>) padded [0, 1, 2] to %to : memref<?x?x?x32xbf16>, !block
      tracea_pipe.commit %ring[%p] : !ring, !phase
      %from = tracea_pipe.wait %ring[%p] : !ring, !phase -> !block
      tracea_pipe.release %ring[%p] : !ring, !phase
      %q = tracea_pipe.advance %p : !phase
      scf.yield %q : !phase
    }
  }
  end
}

// Steps that nothing bounds are compared with the extent.
// CHECK-LABEL: llvm.func @open(
// CHECK-NOT:   arith.xori
// CHECK:       scf.for
// CHECK:       arith.cmpi ult
// CHECK:       nvvm.cp.async.shared.global
tracea_pipe.kernel @open(%X: memref<?x?x?x32xbf16> {tracea_pipe.aligned = 16 : i64}, %h: index, %w: index, %taps: index, %n: index) attributes {warps = 2 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tiles (%t) in (%n) {
    %walk = tracea_pipe.delinearize %t into(%h, %w) : <3>
    %ring = tracea_pipe.channel : !ring
    %start = tracea_pipe.start : !phase
    %end = scf.for %tap = %c0 to %taps step %c1 iter_args(%p = %start) -> (!phase) {
      %to = tracea_pipe.acquire %ring[%p] : !ring, !phase -> !block
      tracea_pipe.copy %X[%c0, %c0, %tap, %c0] map #window along [0](%walk : !tracea_pipe.walk<3>) padded [0, 2] to %to : memref<?x?x?x32xbf16>, !block
      tracea_pipe.commit %ring[%p] : !ring, !phase
      %from = tracea_pipe.wait %ring[%p] : !ring, !phase -> !block
      tracea_pipe.release %ring[%p] : !ring, !phase
      %q = tracea_pipe.advance %p : !phase
      scf.yield %q : !phase
    }
  }
  end
}
