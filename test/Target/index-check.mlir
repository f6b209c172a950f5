// RUN: tracea-opt %s --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-coverage{require-proof=true}))" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir --check-prefix=KERNEL
// RUN: tracea-translate %t.mlir --emit=program-manifest 2>&1 | FileCheck %s

// The rows are those of one buffer, the columns those of another: their product
// may be anything, and a launch has to check it.
// KERNEL:      tracea_pipe.kernel @outer
// KERNEL-SAME: claim = "all elements of 1 result written exactly once{{.*}}, no index beyond 64 bits where {{.*}}dim0_0*dim1_0{{.*}} is not"
// KERNEL-SAME: tracea_pipe.index_limit = [{{.*}}array<i64: {{[0-9]+}}, 0, 0, 1, 0>

// Of one buffer it is bounded by memory.
// KERNEL:      tracea_pipe.kernel @inner
// KERNEL-SAME: claim = "all elements of 1 result written exactly once{{.*}}, no index beyond 64 bits"
// KERNEL-NOT:  index_limit

// CHECK:      "checks":[
// CHECK-SAME: "message":"the indices of kernel 'outer' fit into 64 bits, so does {{[^"]*}}dimension 0 of argument #0 * dimension 0 of argument #1
// CHECK-NOT:  kernel 'inner' fit

// What was proved of another state of the kernel is not relied upon.
// RUN: sed "s/arith.constant 0.0/arith.constant 1.0/; s/0.000000e+00/1.000000e+00/" %t.mlir | tracea-translate --emit=program-manifest 2>&1 | FileCheck %s --check-prefix=CHANGED
// CHANGED-NOT: the indices of kernel

module attributes {tracea.target = #tracea.target<kind = cpu, name = "x86-64-v3", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "+avx2,+fma", vector_bits = 256>} {
tracea_pipe.kernel @outer(%x: memref<?xf32>, %y: memref<?xf32>, %out: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %v = arith.constant 0.0 : f32
  %m = memref.dim %x, %c0 : memref<?xf32>
  %n = memref.dim %y, %c0 : memref<?xf32>
  %k = memref.dim %out, %c0 : memref<?xf32>
  %tiles = arith.muli %m, %n : index
  tracea_pipe.tiles (%t) in (%tiles) {
    %some = arith.cmpi slt, %t, %k : index
    scf.if %some {
      memref.store %v, %out[%t] : memref<?xf32>
    }
  }
  tracea_pipe.end
}
tracea_pipe.kernel @inner(%out: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = arith.constant 0.0 : f32
  %m = memref.dim %out, %c0 : memref<?x?xf32>
  %n = memref.dim %out, %c1 : memref<?x?xf32>
  tracea_pipe.tiles (%i, %j) in (%m, %n) {
    memref.store %v, %out[%i, %j] : memref<?x?xf32>
  }
  tracea_pipe.end
}
func.func @main(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>, %matrix: memref<?x?xf32>) -> (memref<?xf32>, memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %x, %c0 : memref<?xf32>
  %n = memref.dim %y, %c0 : memref<?xf32>
  %k = memref.dim %z, %c0 : memref<?xf32>
  %rows = memref.dim %matrix, %c0 : memref<?x?xf32>
  %columns = memref.dim %matrix, %c1 : memref<?x?xf32>
  %out = memref.alloc(%k) : memref<?xf32>
  %square = memref.alloc(%rows, %columns) : memref<?x?xf32>
  %all = arith.muli %m, %n : index
  %same = arith.cmpi sle, %k, %all : index
  cf.assert %same, "not more elements than pairs"
  tracea_pipe.launch @outer ins(%x, %y : memref<?xf32>, memref<?xf32>) outs(%out : memref<?xf32>)
  tracea_pipe.launch @inner outs(%square : memref<?x?xf32>)
  return %out, %square : memref<?xf32>, memref<?x?xf32>
}
}
