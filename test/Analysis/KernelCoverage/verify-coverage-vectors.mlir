// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-coverage))" -verify-diagnostics | FileCheck %s

// Vectors that lanes store are all of their elements: four halves of a row of 32, each once.
// CHECK: all elements of 1 result written exactly once, 2 accesses in bounds
tracea_pipe.kernel @rows(%x: memref<16x32xf32>, %y: memref<16x32xf32>) attributes {warps = 1} {
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  tiles (%t) in (%c16) {
    scf.forall (%i) in (4) {
      %j = arith.muli %i, %c8 : index
      %v = vector.load %x[%t, %j] : memref<16x32xf32>, vector<8xf32>
      vector.store %v, %y[%t, %j] : memref<16x32xf32>, vector<8xf32>
    } {mapping = [#gpu.thread<linear_dim_0>]}
  }
  end
}

// -----

// A vector past the end of its row, of which only the first element is there.
tracea_pipe.kernel @past(%x: memref<16x25xf32>, %y: memref<16x32xf32>) attributes {warps = 1} {
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  tiles (%t) in (%c16) {
    scf.forall (%i) in (4) {
      %j = arith.muli %i, %c8 : index
      // expected-error @below {{reads out of bounds of argument #0: index 1 is 25, expected 0 to below 25, where index 0 of the tile = 0, iteration of the loop = 3, element 0 of the tile = 1}}
      %v = vector.load %x[%t, %j] : memref<16x25xf32>, vector<8xf32>
      vector.store %v, %y[%t, %j] : memref<16x32xf32>, vector<8xf32>
    } {mapping = [#gpu.thread<linear_dim_0>]}
  }
  end
}

// -----

// Vectors that overlap write elements twice.
tracea_pipe.kernel @twice(%y: memref<16x36xf32>) attributes {warps = 1} {
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  tiles (%t) in (%c16) {
    // expected-note @below {{iteration of the loop is made here: once it is 0, once 1}}
    scf.forall (%i) in (8) {
      %j = arith.muli %i, %c4 : index
      // expected-error @below {{writes an element of argument #0 twice}}
      vector.store %zero, %y[%t, %j] : memref<16x36xf32>, vector<8xf32>
    } {mapping = [#gpu.thread<linear_dim_0>]}
  }
  end
}

// -----

// Vectors with gaps between them leave elements.
tracea_pipe.kernel @gaps(%y: memref<16x64xf32>) attributes {warps = 1} {
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<4xf32>
  tiles (%t) in (%c16) {
    scf.forall (%i) in (8) {
      %j = arith.muli %i, %c8 : index
      // expected-remark @below {{it may be meant to write a part: stage 'elements of argument 0': no writer writes this element (at = 4, at.1 = 4)}}
      vector.store %zero, %y[%t, %j] : memref<16x64xf32>, vector<4xf32>
    } {mapping = [#gpu.thread<linear_dim_0>]}
  }
  end
}

// -----

// Of what vectors of several dimensions touch nothing is claimed.
tracea_pipe.kernel @squares(%y: memref<16x32xf32>) attributes {warps = 1} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : vector<16x32xf32>
  tiles (%t) in (%c1) {
    // expected-remark @below {{coverage not decided: an index has no expression}}
    vector.store %zero, %y[%c0, %c0] : memref<16x32xf32>, vector<16x32xf32>
  }
  end
}

// -----

// Vectors that lie as far apart as all lanes reach are pieces of one part.
// CHECK: all elements of 1 result written exactly once, 2 accesses in bounds
tracea_pipe.kernel @pieces(%y: memref<16x64xf32>) attributes {warps = 1} {
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  tiles (%t) in (%c16) {
    scf.forall (%i) in (4) {
      %j = arith.muli %i, %c8 : index
      %k = arith.addi %j, %c32 : index
      vector.store %zero, %y[%t, %j] : memref<16x64xf32>, vector<8xf32>
      vector.store %zero, %y[%t, %k] : memref<16x64xf32>, vector<8xf32>
    } {mapping = [#gpu.thread<linear_dim_0>]}
  }
  end
}

// -----

// They are not where they reach further than that.
tracea_pipe.kernel @torn(%y: memref<16x56xf32>) attributes {warps = 1} {
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c24 = arith.constant 24 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  tiles (%t) in (%c16) {
    // expected-note @below {{iteration of the loop is made here}}
    scf.forall (%i) in (4) {
      %j = arith.muli %i, %c8 : index
      %k = arith.addi %j, %c24 : index
      // expected-error @below {{writes an element of argument #0 twice}}
      vector.store %zero, %y[%t, %j] : memref<16x56xf32>, vector<8xf32>
      // expected-note @below {{the other one is written here}}
      vector.store %zero, %y[%t, %k] : memref<16x56xf32>, vector<8xf32>
    } {mapping = [#gpu.thread<linear_dim_0>]}
  }
  end
}
