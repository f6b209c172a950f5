// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-coverage))" -verify-diagnostics | FileCheck %s

// Of numbers that memory holds nothing is known but their type.

// CHECK: tracea_pipe.kernel @cut(
// CHECK-SAME: claim = "all elements of 1 result written exactly once, 1 sum in them with each term once, 1 as far as memory says, 3 accesses in bounds, 1 condition, for all sizes, no index beyond 64 bits"
tracea_pipe.kernel @cut(%list: memref<8xi32>, %x: memref<?xf32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  tracea_pipe.tiles (%i) in (%c8) {
    %end = tracea_pipe.read %list[%i] : memref<8xi32>
    %most = arith.minsi %end, %n : index
    %sum = scf.for %k = %c0 to %most step %c1 iter_args(%s = %zero) -> (f32) {
      %v = memref.load %x[%k] : memref<?xf32>
      %t = arith.addf %s, %v : f32
      scf.yield %t : f32
    }
    memref.store %sum, %y[%i] : memref<8xf32>
  }
  tracea_pipe.end
}

// -----

// It may be beyond the memory.
tracea_pipe.kernel @far(%list: memref<8xi32>, %x: memref<?xf32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  tracea_pipe.tiles (%i) in (%c8) {
    %row = tracea_pipe.read %list[%i] : memref<8xi32>
    %at = arith.maxsi %row, %c0 : index
    // expected-remark @+1 {{index 0 is 0, expected 0 to below dim1_0 (dim1_0 = 0, unknown = 0)' may not happen, since it depends on a number that memory holds}}
    %v = memref.load %x[%at] : memref<?xf32>
    memref.store %v, %y[%i] : memref<8xf32>
  }
  tracea_pipe.end
}

// -----

// It may be negative.
tracea_pipe.kernel @negative(%list: memref<8xi32>, %x: memref<?xf32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %last = arith.subi %n, %c1 : index
  tracea_pipe.tiles (%i) in (%c8) {
    %row = tracea_pipe.read %list[%i] : memref<8xi32>
    %at = arith.minsi %row, %last : index
    // expected-remark @+1 {{index 0 is -1, expected 0 to below dim1_0 (dim1_0 = 0, unknown = 0)' may not happen, since it depends on a number that memory holds}}
    %v = memref.load %x[%at] : memref<?xf32>
    memref.store %v, %y[%i] : memref<8xf32>
  }
  tracea_pipe.end
}

// -----

// The list may name a row twice.
tracea_pipe.kernel @scattered(%list: memref<8xi32>, %y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  tracea_pipe.tiles (%i) in (%c8) {
    %row = tracea_pipe.read %list[%i] : memref<8xi32>
    %from = arith.maxsi %row, %c0 : index
    %at = arith.minsi %from, %c7 : index
    // expected-remark @+1 {{coverage not decided: which elements it writes depends on a number that memory holds}}
    memref.store %one, %y[%at] : memref<8xf32>
  }
  tracea_pipe.end
}

// -----

// The list ends before the grid does.
tracea_pipe.kernel @behind(%list: memref<7xi32>, %y: memref<8xf32>) {
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  tracea_pipe.tiles (%i) in (%c8) {
    // expected-error @+1 {{'tracea_pipe.read' op reads out of bounds of argument #0: index 0 is 7, expected 0 to below 7}}
    %row = tracea_pipe.read %list[%i] : memref<7xi32>
    memref.store %one, %y[%i] : memref<8xf32>
  }
  tracea_pipe.end
}
