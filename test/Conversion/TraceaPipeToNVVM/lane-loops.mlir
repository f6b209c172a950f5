// RUN: tracea-opt %s -split-input-file -verify-diagnostics -convert-tracea-pipe-to-nvvm | FileCheck %s

// An iteration is a lane's; lanes beyond the loop's do nothing. Bits are bytes in memory, and a view is an offset and
// strides from the beginning of its buffer.
// CHECK-LABEL: llvm.func @lanes(
// CHECK:         %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK:         %[[PART:.*]] = arith.cmpi ult, %[[THREAD]], %{{.*}} : i32
// CHECK:         %[[COLUMN:.*]] = arith.remui %[[THREAD]], %{{.*}} : i32
// CHECK:         %[[ROW:.*]] = arith.divui %[[THREAD]], %{{.*}} : i32
// CHECK:         scf.if %[[PART]] {
// CHECK:           llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr<1> -> i8
// CHECK:           arith.trunci %{{.*}} : i8 to i1
// CHECK:           llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<1>
tracea_pipe.kernel @lanes(%mask: memref<8x3xi1>, %y: memref<48xf32>) attributes {warps = 1} {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  tiles (%t) in (%c1) {
    scf.forall (%i, %j) in (8, 3) {
      %view = memref.reinterpret_cast %y to offset: [1], sizes: [8, 3], strides: [6, 2] : memref<48xf32> to memref<8x3xf32, strided<[6, 2], offset: 1>>
      %bit = memref.load %mask[%i, %j] : memref<8x3xi1>
      %value = arith.select %bit, %one, %zero : f32
      memref.store %value, %view[%i, %j] : memref<8x3xf32, strided<[6, 2], offset: 1>>
    } {mapping = [#gpu.thread<linear_dim_1>, #gpu.thread<linear_dim_0>]}
  }
  end
}

// A kernel cannot end a run: lanes for which an assertion fails raise the words of its record, the second one here, whose
// address is the last parameter. Of numbers without a sign the greatest is kept that was found, and the least bound.
// CHECK-LABEL: llvm.func @asserts(
// CHECK-SAME:    %{{.*}}: !llvm.ptr<1>, %{{.*}}: i64, %[[RECORD:.*]]: !llvm.ptr<1>)
// CHECK-SAME:    assertions = ["several: {0}", "index {0}, below {1}"]>
// CHECK:         %[[NUMBER:.*]] = llvm.load
// CHECK:         scf.if
// CHECK:           %[[LEAST:.*]] = arith.xori %{{.*}}, %c-1_i64
// CHECK:           %[[FOUND:.*]] = arith.extsi %[[NUMBER]] : i32 to i64
// CHECK:           %[[WORD:.*]] = llvm.getelementptr %[[RECORD]][%{{.*}}] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i64
// CHECK:           llvm.atomicrmw umax %[[WORD]], %c1_i64{{.*}} syncscope("device") monotonic : !llvm.ptr<1>, i64
// CHECK:           llvm.atomicrmw umax %{{.*}}, %[[FOUND]] syncscope("device") monotonic
// CHECK:           llvm.atomicrmw umax %{{.*}}, %[[LEAST]] syncscope("device") monotonic
// CHECK-NOT:     cf.assert
tracea_pipe.kernel @asserts(%at: memref<48xi32>, %n: index) attributes {warps = 1} {
  %c1 = arith.constant 1 : index
  %most = arith.constant 48 : i32
  tiles (%t) in (%c1) {
    %some = arith.cmpi sge, %n, %c1 : index
    cf.assert %some, "several: {0}"
    scf.forall (%i) in (32) {
      %number = memref.load %at[%i] : memref<48xi32>
      %holds = arith.cmpi slt, %number, %most : i32
      cf.assert %holds, "index {0}, below {1}"
    } {mapping = [#gpu.thread<linear_dim_0>]}
  }
  end
}

// -----

tracea_pipe.kernel @adds(%y: memref<64xi32>) attributes {warps = 1} {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  tiles (%t) in (%c1) {
    scf.forall (%i) in (32) {
      // expected-error @below {{expects the greater of two numbers without a sign, of 64 bits and not used again}}
      // expected-error @below {{failed to legalize operation 'memref.atomic_rmw'}}
      %old = memref.atomic_rmw addi %one, %y[%i] : (i32, memref<64xi32>) -> i32
    } {mapping = [#gpu.thread<linear_dim_0>]}
  }
  end
}

// -----

tracea_pipe.kernel @too_many(%y: memref<64xf32>) attributes {warps = 1} {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tiles (%t) in (%c1) {
    // expected-error @below {{expects a loop over at most the 32 lanes of its workgroup, of constant extents}}
    // expected-error @below {{failed to legalize operation 'scf.forall'}}
    scf.forall (%i) in (64) {
      memref.store %zero, %y[%i] : memref<64xf32>
    } {mapping = [#gpu.thread<linear_dim_0>]}
  }
  end
}
