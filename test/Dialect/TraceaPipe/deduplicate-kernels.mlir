// RUN: tracea-opt %s --split-input-file --tracea-deduplicate-kernels | FileCheck %s
// RUN: tracea-opt %s --split-input-file --tracea-deduplicate-kernels -o /dev/null --remark-format=emitRemark --remarks-filter=tracea-deduplicate-kernels 2>&1 | FileCheck %s --check-prefix=REMARK

// Equal kernels become the first of them, wherever it is launched from.
// CHECK-LABEL: func.func @equal(
// CHECK:         tracea_pipe.launch @k_0 ins(%{{.*}} : memref<4xf32>) outs(%{{.*}} : memref<4xf32>)
// CHECK:         tracea_pipe.launch @k_0 ins(%{{.*}} : memref<4xf32>) outs(%{{.*}} : memref<4xf32>)
// CHECK-LABEL: func.func @other(
// CHECK:         tracea_pipe.launch @k_0
// REMARK:      deduplicate-kernels.mlir:[[@LINE+6]]:3: remark: [Passed] KernelShared {{.*}}launches 'k_0', which is the same as 'k_1'
// REMARK:      deduplicate-kernels.mlir:[[@LINE+10]]:3: remark: [Passed] KernelShared {{.*}}launches 'k_0', which is the same as 'k_2'
func.func @equal(%a: memref<4xf32>) -> memref<4xf32> {
  %x = memref.alloc() : memref<4xf32>
  tracea_pipe.launch @k_0 ins(%a : memref<4xf32>) outs(%x : memref<4xf32>)
  %y = memref.alloc() : memref<4xf32>
  tracea_pipe.launch @k_1 ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  return %y : memref<4xf32>
}
func.func @other(%a: memref<4xf32>) -> memref<4xf32> {
  %x = memref.alloc() : memref<4xf32>
  tracea_pipe.launch @k_2 ins(%a : memref<4xf32>) outs(%x : memref<4xf32>)
  return %x : memref<4xf32>
}
// CHECK:     tracea_pipe.kernel @k_0(
// CHECK-NOT: tracea_pipe.kernel
tracea_pipe.kernel @k_0(%a: memref<4xf32>, %d: memref<4xf32>) attributes {source_op = "a.b"} {
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%c4) {
    %v = memref.load %a[%i] : memref<4xf32>
    memref.store %v, %d[%i] : memref<4xf32>
  }
  tracea_pipe.end
}
tracea_pipe.kernel @k_1(%in: memref<4xf32>, %out: memref<4xf32>) attributes {source_op = "a.b"} {
  %four = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%four) {
    %v = memref.load %in[%i] : memref<4xf32>
    memref.store %v, %out[%i] : memref<4xf32>
  }
  tracea_pipe.end
}
tracea_pipe.kernel @k_2(%a: memref<4xf32>, %d: memref<4xf32>) attributes {source_op = "a.b"} {
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%c4) {
    %v = memref.load %a[%i] : memref<4xf32>
    memref.store %v, %d[%i] : memref<4xf32>
  }
  tracea_pipe.end
}

// -----

// Another operation, another constant, other operands of the same operations:
// these are other kernels. What nothing launches stays.
// CHECK-LABEL: func.func @different(
// CHECK:         launch @k_0
// CHECK:         launch @of_another_op
// CHECK:         launch @another_constant
// CHECK:         launch @other_operands
func.func @different(%a: memref<4xf32>) -> memref<4xf32> {
  %x = memref.alloc() : memref<4xf32>
  tracea_pipe.launch @k_0 ins(%a : memref<4xf32>) outs(%x : memref<4xf32>)
  tracea_pipe.launch @of_another_op ins(%a : memref<4xf32>) outs(%x : memref<4xf32>)
  tracea_pipe.launch @another_constant ins(%a : memref<4xf32>) outs(%x : memref<4xf32>)
  tracea_pipe.launch @other_operands ins(%a : memref<4xf32>) outs(%x : memref<4xf32>)
  return %x : memref<4xf32>
}
// CHECK: kernel @k_0(
// CHECK: kernel @of_another_op(
// CHECK: kernel @another_constant(
// CHECK: kernel @other_operands(
// CHECK: kernel @not_launched(
tracea_pipe.kernel @k_0(%a: memref<4xf32>, %d: memref<4xf32>) attributes {source_op = "a.b"} {
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%c4) {
    %v = memref.load %a[%i] : memref<4xf32>
    memref.store %v, %d[%i] : memref<4xf32>
  }
  tracea_pipe.end
}
tracea_pipe.kernel @of_another_op(%a: memref<4xf32>, %d: memref<4xf32>) attributes {source_op = "a.c"} {
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%c4) {
    %v = memref.load %a[%i] : memref<4xf32>
    memref.store %v, %d[%i] : memref<4xf32>
  }
  tracea_pipe.end
}
tracea_pipe.kernel @another_constant(%a: memref<4xf32>, %d: memref<4xf32>) attributes {source_op = "a.b"} {
  %c3 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%c4) {
    %v = memref.load %a[%i] : memref<4xf32>
    memref.store %v, %d[%i] : memref<4xf32>
  }
  tracea_pipe.end
}
tracea_pipe.kernel @other_operands(%a: memref<4xf32>, %d: memref<4xf32>) attributes {source_op = "a.b"} {
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%c3) {
    %v = memref.load %a[%i] : memref<4xf32>
    memref.store %v, %d[%i] : memref<4xf32>
  }
  tracea_pipe.end
}
tracea_pipe.kernel @not_launched(%a: memref<4xf32>, %d: memref<4xf32>) attributes {source_op = "a.b"} {
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%c4) {
    %v = memref.load %a[%i] : memref<4xf32>
    memref.store %v, %d[%i] : memref<4xf32>
  }
  tracea_pipe.end
}

// -----

// A kernel that is launched in place keeps code of its own: that of the others
// knows that what it writes is not what it reads.
// CHECK-LABEL: func.func @in_place(
// CHECK:         launch @k_0 ins(%[[A:.*]] : {{.*}}) outs(%[[X:.*]] : memref<4xf32>)
// CHECK:         launch @k_0_0 ins(%[[X]] : {{.*}}) outs(%[[X]] : memref<4xf32>)
// CHECK:         launch @k_0_0 ins(%[[X]] : {{.*}}) outs(%[[X]] : memref<4xf32>)
// CHECK:         launch @k_0 ins(%[[X]] : {{.*}}) outs(%[[Y:.*]] : memref<4xf32>)
func.func @in_place(%a: memref<4xf32>) -> memref<4xf32> {
  %x = memref.alloc() : memref<4xf32>
  %y = memref.alloc() : memref<4xf32>
  tracea_pipe.launch @k_0 ins(%a : memref<4xf32>) outs(%x : memref<4xf32>)
  tracea_pipe.launch @k_0 ins(%x : memref<4xf32>) outs(%x : memref<4xf32>)
  tracea_pipe.launch @k_0 ins(%x : memref<4xf32>) outs(%x : memref<4xf32>)
  tracea_pipe.launch @k_0 ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  return %y : memref<4xf32>
}
// CHECK:     kernel @k_0(
// CHECK:     kernel @k_0_0(
// CHECK-NOT: kernel
tracea_pipe.kernel @k_0(%a: memref<4xf32>, %d: memref<4xf32>) {
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%c4) {
    %v = memref.load %a[%i] : memref<4xf32>
    memref.store %v, %d[%i] : memref<4xf32>
  }
  tracea_pipe.end
}

// -----

// Sizes from different places are as good, where as much is known of them, or more.
// CHECK-LABEL: func.func @sizes(
// CHECK:         launch @k_0 ins(%{{.*}} : memref<?xf32>) outs(%[[X:.*]] : memref<?xf32>)
// CHECK:         launch @k_0 ins(%{{.*}} : memref<?xf32>) outs(%[[Y:.*]] : memref<?xf32>)
// CHECK:         launch @k_2 ins(%{{.*}} : memref<?xf32>) outs(%[[Z:.*]] : memref<?xf32>)
// CHECK:         launch @k_0 ins(%[[Z]] : memref<?xf32>) outs(%[[X]] : memref<?xf32>)
// CHECK:         launch @k_4 ins(%[[Z]] : memref<?xf32>) outs(%[[Y]] : memref<?xf32>)
// CHECK:         launch @k_0 ins(%[[Y]] : memref<?xf32>) outs(%[[Y2:.*]] : memref<?xf32>)
// CHECK:         launch @k_6 ins(%{{.*}} : memref<?xf32>) outs(%{{.*}} : memref<?xf32>)
// CHECK:         launch @k_6 ins(%{{.*}} : memref<?xf32>) outs(%{{.*}} : memref<?xf32>)
// CHECK:         launch @k_8 ins(%{{.*}} : memref<?xf32>) outs(%{{.*}} : memref<?xf32>)
// CHECK:         launch @k_9 ins(%{{.*}} : memref<?xf32>) outs(%{{.*}} : memref<?xf32>)
// CHECK:         launch @k_9 ins(%{{.*}} : memref<?xf32>) outs(%{{.*}} : memref<?xf32>)
func.func @sizes(%a: memref<?xf32>, %b: memref<?xf32>, %c: memref<?xf32>, %p: memref<?x8xf32>, %q: memref<?xf32>, %m: index) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %na = memref.dim %a, %c0 : memref<?xf32>
  %nb = memref.dim %b, %c0 : memref<?xf32>
  %x = memref.alloc(%na) : memref<?xf32>
  %y = memref.alloc(%nb) : memref<?xf32>
  %y2 = memref.alloc(%nb) : memref<?xf32>
  %z = memref.alloc(%m) : memref<?xf32>
  // Equal: %na, %na; then %nb, %nb.
  tracea_pipe.launch @k_0 ins(%a : memref<?xf32>) outs(%x : memref<?xf32>)
  tracea_pipe.launch @k_1 ins(%b : memref<?xf32>) outs(%y : memref<?xf32>)
  // Two sizes that nobody has compared.
  tracea_pipe.launch @k_2 ins(%a : memref<?xf32>) outs(%z : memref<?xf32>)
  // Compared with each other: equal, as before.
  %same = arith.cmpi eq, %m, %na : index
  cf.assert %same, "as many"
  tracea_pipe.launch @k_3 ins(%z : memref<?xf32>) outs(%x : memref<?xf32>)
  %small = arith.cmpi sle, %nb, %c8 : index
  cf.assert %small, "few"
  tracea_pipe.launch @k_4 ins(%z : memref<?xf32>) outs(%y : memref<?xf32>)
  // More is known of them than when others were launched before: that is no matter.
  tracea_pipe.launch @k_5 ins(%y : memref<?xf32>) outs(%y2 : memref<?xf32>)
  // Computed, each in the same way.
  %na2 = arith.muli %na, %c8 : index
  %xs = memref.alloc(%na2) : memref<?xf32>
  tracea_pipe.launch @k_6 ins(%x : memref<?xf32>) outs(%xs : memref<?xf32>)
  %nc = memref.dim %c, %c0 : memref<?xf32>
  %nc2 = arith.muli %nc, %c8 : index
  %ys = memref.alloc(%nc2) : memref<?xf32>
  tracea_pipe.launch @k_7 ins(%c : memref<?xf32>) outs(%ys : memref<?xf32>)
  // Less is known of these than of those of @k_4, which are two sizes as well.
  tracea_pipe.launch @k_8 ins(%c : memref<?xf32>) outs(%q : memref<?xf32>)
  // Joined by a view, and compared in the same way each time.
  %one = memref.collapse_shape %p [[0, 1]] : memref<?x8xf32> into memref<?xf32>
  %np = memref.dim %p, %c0 : memref<?x8xf32>
  %np2 = arith.muli %np, %c8 : index
  %none = memref.dim %one, %c0 : memref<?xf32>
  %is = arith.cmpi eq, %none, %np2 : index
  cf.assert %is, "as long"
  %ps = memref.alloc(%np2) : memref<?xf32>
  tracea_pipe.launch @k_9 ins(%one : memref<?xf32>) outs(%ps : memref<?xf32>)
  %two = memref.collapse_shape %p [[0, 1]] : memref<?x8xf32> into memref<?xf32>
  %ntwo = memref.dim %two, %c0 : memref<?xf32>
  %is2 = arith.cmpi eq, %ntwo, %np2 : index
  cf.assert %is2, "as long"
  tracea_pipe.launch @k_10 ins(%two : memref<?xf32>) outs(%ps : memref<?xf32>)
  return %y2 : memref<?xf32>
}
tracea_pipe.kernel @k_0(%a: memref<?xf32>, %d: memref<?xf32>) {
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%c4) {
  }
  tracea_pipe.end
}
tracea_pipe.kernel @k_1(%a: memref<?xf32>, %d: memref<?xf32>) {
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%c4) {
  }
  tracea_pipe.end
}
tracea_pipe.kernel @k_2(%a: memref<?xf32>, %d: memref<?xf32>) {
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%c4) {
  }
  tracea_pipe.end
}
tracea_pipe.kernel @k_3(%a: memref<?xf32>, %d: memref<?xf32>) {
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%c4) {
  }
  tracea_pipe.end
}
tracea_pipe.kernel @k_4(%a: memref<?xf32>, %d: memref<?xf32>) {
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%c4) {
  }
  tracea_pipe.end
}
tracea_pipe.kernel @k_5(%a: memref<?xf32>, %d: memref<?xf32>) {
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%c4) {
  }
  tracea_pipe.end
}
tracea_pipe.kernel @k_6(%a: memref<?xf32>, %d: memref<?xf32>) {
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%c4) {
  }
  tracea_pipe.end
}
tracea_pipe.kernel @k_7(%a: memref<?xf32>, %d: memref<?xf32>) {
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%c4) {
  }
  tracea_pipe.end
}
tracea_pipe.kernel @k_8(%a: memref<?xf32>, %d: memref<?xf32>) {
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%c4) {
  }
  tracea_pipe.end
}
tracea_pipe.kernel @k_9(%a: memref<?xf32>, %d: memref<?xf32>) {
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%c4) {
  }
  tracea_pipe.end
}
tracea_pipe.kernel @k_10(%a: memref<?xf32>, %d: memref<?xf32>) {
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%c4) {
  }
  tracea_pipe.end
}

// -----

// Each of the kernels that one launch may run, here before memory is assigned.
// CHECK-LABEL: func.func @alternatives(
// CHECK:         launch @k_0 else [@k_1] ins
// CHECK:         launch @k_0 else [@k_1] ins
func.func @alternatives(%a: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %x = tracea_pipe.launch @k_0 else [@k_1] ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %y = tracea_pipe.launch @k_2 else [@k_3] ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
tracea_pipe.kernel @k_0(%a: memref<4xf32>, %d: memref<4xf32>) attributes {variant = "a"} {
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%c4) {
  }
  tracea_pipe.end
}
tracea_pipe.kernel @k_1(%a: memref<4xf32>, %d: memref<4xf32>) attributes {variant = "b"} {
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%c4) {
  }
  tracea_pipe.end
}
tracea_pipe.kernel @k_2(%a: memref<4xf32>, %d: memref<4xf32>) attributes {variant = "a"} {
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%c4) {
  }
  tracea_pipe.end
}
tracea_pipe.kernel @k_3(%a: memref<4xf32>, %d: memref<4xf32>) attributes {variant = "b"} {
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i) in (%c4) {
  }
  tracea_pipe.end
}
