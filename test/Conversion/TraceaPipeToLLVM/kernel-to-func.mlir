// RUN: tracea-opt %s --split-input-file --convert-tracea-pipe-kernels-to-func --canonicalize | FileCheck %s

// The outer function unpacks the slots: of a memref the pointer and the dynamic
// sizes, of scalars their bits.
// CHECK-LABEL: llvm.func internal @scalars.tiles(
// CHECK-SAME:    %[[N:[a-z0-9]+]]: i64
// CHECK-SAME:    %[[F:[a-z0-9]+]]: f32
// CHECK-SAME:    %[[B:[a-z0-9]+]]: i1
// CHECK-SAME:    %[[X:[a-z0-9]+]]: !llvm.ptr {llvm.noalias, llvm.noundef}
// CHECK-SAME:    %[[SIZE:[a-z0-9]+]]: i64
// CHECK-SAME:    %[[BEGIN:[a-z0-9]+]]: i64
// CHECK-SAME:    %[[END:[a-z0-9]+]]: i64
// CHECK-SAME:    %[[WS:[a-z0-9]+]]: !llvm.ptr {llvm.noalias}
// CHECK-SAME:    attributes {dso_local, no_inline}
// CHECK-DAG:     %[[LO:.*]] = arith.index_cast %[[BEGIN]] : i64 to index
// CHECK-DAG:     %[[HI:.*]] = arith.index_cast %[[END]] : i64 to index
// CHECK:         scf.for %[[I:.*]] = %[[LO]] to %[[HI]] step
// CHECK:           memref.store %[[F]], %{{.*}}[%[[I]], %{{.*}}] : memref<?x4xf32>
// CHECK:         llvm.return
// CHECK-LABEL: llvm.func @scalars(
// CHECK-SAME:    %[[ARGS:.*]]: !llvm.ptr, %[[B0:.*]]: i64, %[[E0:.*]]: i64, %[[W0:.*]]: !llvm.ptr)
// CHECK:         %[[I0:.*]] = llvm.load %[[ARGS]] {alignment = 8 : i64} : !llvm.ptr -> i64
// CHECK:         llvm.getelementptr %[[ARGS]][1]
// CHECK:         %[[BITS:.*]] = llvm.trunc %{{.*}} : i64 to i32
// CHECK:         %[[FLOAT:.*]] = llvm.bitcast %[[BITS]] : i32 to f32
// CHECK:         llvm.getelementptr %[[ARGS]][2]
// CHECK:         %[[FLAG:.*]] = llvm.trunc %{{.*}} : i64 to i1
// CHECK:         llvm.getelementptr %[[ARGS]][3]
// CHECK:         %[[P:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK:         llvm.getelementptr %[[ARGS]][4]
// CHECK:         %[[S:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i64
// CHECK-NOT:     llvm.getelementptr
// CHECK:         llvm.call @scalars.tiles(%[[I0]], %[[FLOAT]], %[[FLAG]], %[[P]], %[[S]], %[[B0]], %[[E0]], %[[W0]])
// CHECK-NOT:   func.func
// CHECK-NOT:   memref.global
tracea_pipe.kernel @scalars(%n: index, %f: f32, %b: i1, %x: memref<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %rows = memref.dim %x, %c0 : memref<?x4xf32>
  tracea_pipe.tiles (%i) in (%rows) {
    memref.store %f, %x[%i, %n] : memref<?x4xf32>
  }
  tracea_pipe.end
}
memref.global "private" constant @unused : memref<2xf32> = dense<1.0>
func.func @host(%x: memref<?x4xf32>, %n: index) {
  %f = arith.constant 1.0 : f32
  %b = arith.constant true
  tracea_pipe.launch @scalars ins(%n, %f, %b : index, f32, i1) outs(%x : memref<?x4xf32>)
  return
}

// -----

// Row-major order of tiles: the last index is the fastest.
// CHECK-LABEL: llvm.func internal @order.tiles(
// CHECK:         scf.for %[[T:.*]] =
// CHECK:           %[[K:.*]] = arith.remui %[[T]], %[[NK:.*]] : index
// CHECK:           %[[Q:.*]] = arith.divui %[[T]], %[[NK]] : index
// CHECK:           %[[J:.*]] = arith.remui %[[Q]], %[[NJ:.*]] : index
// CHECK:           %[[I:.*]] = arith.divui %[[Q]], %[[NJ]] : index
// CHECK:           memref.store %{{.*}}, %{{.*}}[%[[I]], %[[J]], %[[K]]]
tracea_pipe.kernel @order(%x: memref<?x?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %f = arith.constant 1.0 : f32
  %n = memref.dim %x, %c0 : memref<?x?x?xf32>
  %m = memref.dim %x, %c1 : memref<?x?x?xf32>
  %l = memref.dim %x, %c2 : memref<?x?x?xf32>
  tracea_pipe.tiles (%i, %j, %k) in (%n, %m, %l) {
    memref.store %f, %x[%i, %j, %k] : memref<?x?x?xf32>
  }
  tracea_pipe.end
}

// -----

// Groups of two rows, columns by columns.
// CHECK-LABEL: llvm.func internal @group.tiles(
// CHECK-DAG:     %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[C6:.*]] = arith.constant 6 : index
// CHECK:         scf.for %[[T:.*]] =
// CHECK:           %[[BAND:.*]] = arith.divui %[[T]], %[[C6]]
// CHECK:           %[[IN:.*]] = arith.remui %[[T]], %[[C6]]
// CHECK:           %[[FIRST:.*]] = arith.muli %[[BAND]], %[[C2]]
// CHECK:           %[[LEFT:.*]] = arith.subi %{{.*}}, %[[FIRST]]
// CHECK:           %[[TALL:.*]] = arith.minsi %[[LEFT]], %[[C2]]
// CHECK:           %[[ROW:.*]] = arith.remui %[[IN]], %[[TALL]]
// CHECK:           %[[I:.*]] = arith.addi %[[FIRST]], %[[ROW]]
// CHECK:           %[[J:.*]] = arith.divui %[[IN]], %[[TALL]]
// CHECK:           memref.store %{{.*}}, %{{.*}}[%[[I]], %[[J]]]
tracea_pipe.kernel @group(%x: memref<5x3xf32>) {
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %f = arith.constant 1.0 : f32
  tracea_pipe.tiles (%i, %j) in (%c5, %c3) group 2 {
    memref.store %f, %x[%i, %j] : memref<5x3xf32>
  }
  tracea_pipe.end
}

// -----

// What the launches guarantee: `a` is only read; `b` and `d` look into the same
// buffer, one of them to write it.
// CHECK-LABEL: llvm.func internal @alias.tiles(
// CHECK-SAME:    %{{[a-z0-9]+}}: !llvm.ptr {llvm.noalias, llvm.noundef, llvm.readonly}
// CHECK-SAME:    %{{[a-z0-9]+}}: !llvm.ptr {llvm.noundef, llvm.readonly}
// CHECK-SAME:    %{{[a-z0-9]+}}: !llvm.ptr {llvm.noundef}
tracea_pipe.kernel @alias(%a: memref<4xf32>, %b: memref<4xf32>, %d: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}
func.func @host(%a: memref<4xf32>, %m: memref<8xf32>) {
  %b = memref.subview %m[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  %d = memref.subview %m[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  tracea_pipe.launch @alias ins(%a, %b : memref<4xf32>, memref<4xf32, strided<[1]>>) outs(%d : memref<4xf32, strided<[1], offset: 4>>)
  return
}

// -----

// Without a launch nothing is known.
// CHECK-LABEL: llvm.func internal @unknown.tiles(
// CHECK-SAME:    %{{[a-z0-9]+}}: !llvm.ptr {llvm.noundef}
tracea_pipe.kernel @unknown(%a: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}

// -----

// Scratch buffers lie in the workspace, each on cache lines of its own.
// CHECK-LABEL: llvm.func internal @scratch.tiles(
// CHECK-SAME:    %[[WS:[a-z0-9]+]]: !llvm.ptr {llvm.noalias})
// CHECK-DAG:     llvm.getelementptr %[[WS]][64] : (!llvm.ptr) -> !llvm.ptr, i8
// CHECK:         scf.for
// CHECK:           memref.store %{{.*}} : memref<5xf32>
// CHECK:           memref.store %{{.*}} : memref<16xf64>
// CHECK-LABEL: llvm.func @scratch(
// CHECK-SAME:    attributes {tracea_pipe.workspace = 192 : i64}
tracea_pipe.kernel @scratch(%x: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %f = arith.constant 1.0 : f32
  %g = arith.constant 1.0 : f64
  tracea_pipe.tiles (%i) in (%c1) {
    %s = tracea_pipe.scratch : memref<5xf32, #tracea_pipe.staged>
    %t = tracea_pipe.scratch : memref<16xf64, #tracea_pipe.staged>
    memref.store %f, %s[%c0] : memref<5xf32, #tracea_pipe.staged>
    memref.store %g, %t[%c0] : memref<16xf64, #tracea_pipe.staged>
  }
  tracea_pipe.end
}

// -----

// An assertion that fails leaves its number and what was compared behind the
// rest of the workspace; the place and the texts stand beside the code.
// CHECK-LABEL: llvm.func internal @asserts.tiles(
// CHECK-SAME:    %[[WS:[^ ]*]]: !llvm.ptr {llvm.noalias})
// CHECK:         scf.for %[[I:.*]] = 
// CHECK:           %[[FAILS:.*]] = arith.cmpi sge, %[[I]], %c3
// CHECK:           scf.if %[[FAILS]] {
// CHECK:             llvm.store %{{.*}}, %[[WS]]
// CHECK:             %[[FOUND:.*]] = arith.index_cast %[[I]] : index to i64
// CHECK:             %[[FIRST:.*]] = llvm.getelementptr %[[WS]][8]
// CHECK:             llvm.store %[[FOUND]], %[[FIRST]]
// CHECK:             %[[SECOND:.*]] = llvm.getelementptr %[[WS]][16]
// CHECK:             llvm.store %c3_i64, %[[SECOND]]
// CHECK-NOT:     cf.assert
// CHECK:       llvm.mlir.global external constant @asserts.assertions("{{.*}}found {0} of {1}\00\00")
// CHECK:       llvm.func @asserts({{.*}}) attributes {tracea_pipe.workspace = 64 : i64}
tracea_pipe.kernel @asserts(%n: index, %x: memref<?xf32>) {
  tracea_pipe.tiles (%i) in (%n) {
    %c3 = arith.constant 3 : index
    %holds = arith.cmpi slt, %i, %c3 : index
    cf.assert %holds, "found {0} of {1}"
  }
  tracea_pipe.end
}
