// RUN: tracea-opt %s -split-input-file -verify-diagnostics -convert-tracea-pipe-to-nvvm | FileCheck %s

// A vector of neighbours is one access where memory and index are known to be multiples of its bytes, in as many pieces as
// it takes where they are not; a view has its own offset and strides.
// CHECK-LABEL: llvm.func @vectors(
// CHECK:         llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xbf16>
// CHECK:         llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<4xbf16>
// CHECK:         llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<1> -> vector<4xbf16>
// CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr<1> -> bf16
// CHECK:         llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> vector<2xbf16>
// CHECK:         llvm.store %{{.*}} {alignment = 16 : i64} : vector<8xbf16>, !llvm.ptr<1>
tracea_pipe.kernel @vectors(%x: memref<8x256xbf16> {tracea_pipe.aligned = 16}, %anywhere: memref<8x256xbf16>, %y: memref<8x256xbf16> {tracea_pipe.aligned = 16}) attributes {warps = 1} {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  tiles (%t) in (%c8) {
    scf.forall (%i) in (16) {
      %j = arith.muli %i, %c8 : index
      %half = arith.addi %j, %c4 : index
      %a = vector.load %x[%t, %j] : memref<8x256xbf16>, vector<8xbf16>
      %b = vector.load %x[%t, %half] : memref<8x256xbf16>, vector<8xbf16>
      %c = vector.load %anywhere[%t, %j] : memref<8x256xbf16>, vector<8xbf16>
      %view = memref.reinterpret_cast %x to offset: [2], sizes: [8, 128], strides: [256, 1] : memref<8x256xbf16> to memref<8x128xbf16, strided<[256, 1], offset: 2>>
      %d = vector.load %view[%t, %j] : memref<8x128xbf16, strided<[256, 1], offset: 2>>, vector<8xbf16>
      %e = arith.addf %a, %b : vector<8xbf16>
      %f = arith.addf %c, %d : vector<8xbf16>
      %g = arith.addf %e, %f : vector<8xbf16>
      vector.store %g, %y[%t, %j] : memref<8x256xbf16>, vector<8xbf16>
    } {mapping = [#gpu.thread<linear_dim_0>]}
  }
  end
}

// -----

tracea_pipe.kernel @bits(%y: memref<64xi1>) attributes {warps = 1} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tiles (%t) in (%c1) {
    scf.forall (%i) in (1) {
      // expected-error @below {{expects a vector of one dimension, of elements of whole bytes, found 'vector<8xi1>'}}
      // expected-error @below {{failed to legalize operation 'vector.load'}}
      %v = vector.load %y[%c0] : memref<64xi1>, vector<8xi1>
    } {mapping = [#gpu.thread<linear_dim_0>]}
  }
  end
}
