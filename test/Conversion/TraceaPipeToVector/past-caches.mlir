// Large results that a kernel does not read go past the caches, where tiles begin with a line.
// RUN: tracea-opt %s --convert-tracea-pipe-to-vector --canonicalize --cse --split-input-file | FileCheck %s
// RUN: tracea-opt %s --convert-tracea-pipe-to-vector --canonicalize --convert-tracea-pipe-kernels-to-func --split-input-file | FileCheck %s --check-prefix=FENCE

#target = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 512, l2 = 65536>
#map = affine_map<(d0, d1) -> (d0, d1)>
#lanes = #tracea_pipe.lanes<reg = [[0, 16]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
module attributes {tracea.target = #target} {

// Of a tile of 32 columns both registers do or neither does; its edge is masked as ever. Nothing asks
// for the lines.
// CHECK-LABEL: tracea_pipe.kernel @large(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<64x4096xf32>, %[[D:[a-z0-9]+]]: memref<64x4096xf32>
// CHECK-NOT:     memref.prefetch %[[D]]
// CHECK:         memref.prefetch %[[A]]
// CHECK-NOT:     memref.prefetch %[[D]]
// CHECK:         scf.if
// CHECK:           %[[P:.*]] = memref.extract_aligned_pointer_as_index %[[D]]
// CHECK:           %[[Q:.*]] = arith.addi %[[P]],
// CHECK:           %[[R:.*]] = arith.remui %[[Q]], %c64
// CHECK:           %[[IS:.*]] = arith.cmpi eq, %[[R]], %c0
// CHECK:           scf.if %[[IS]] {
// CHECK-COUNT-2:     vector.store {{.*}} {alignment = 64 : i64, nontemporal = true} : memref<64x4096xf32>
// CHECK-NEXT:      } else {
// CHECK-NOT:         nontemporal
// CHECK-COUNT-2:     vector.store {{.*}} : memref<64x4096xf32>
// CHECK:         } else {
// CHECK-NOT:       nontemporal
// CHECK-COUNT-2:   vector.maskedstore

// Stores past the caches are in no order with others until the fence.
// FENCE-LABEL: llvm.func {{.*}}@large.tiles(
// FENCE:         nontemporal
// FENCE:         llvm.fence seq_cst
// FENCE-NEXT:    llvm.return
tracea_pipe.kernel @large(%a: memref<64x4096xf32>, %d: memref<64x4096xf32>) attributes {source_op = "tracea.softmax", variant = "row"} {
  %c64 = arith.constant 64 : index
  %c1 = arith.constant 1 : index
  %c4096 = arith.constant 4096 : index
  tiles (%i) in (%c64) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    scf.for %j = %c0 to %c4096 step %c32 {
      tracea_pipe.prefetch %a[%i, %j] map #map shape [1, 32] : memref<64x4096xf32>
      tracea_pipe.prefetch %d[%i, %j] map #map shape [1, 32] write : memref<64x4096xf32>
      %rest = arith.subi %c4096, %j : index
      %x = tracea_pipe.load %a[%i, %j] map #map limits(%c1, %rest) : memref<64x4096xf32> -> tensor<1x32xf32, #lanes>
      tracea_pipe.store %x, %d[%i, %j] map #map limits(%c1, %rest) : tensor<1x32xf32, #lanes>, memref<64x4096xf32>
    }
  }
  end
}
}

// -----

#target = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 512, l2 = 65536>
#map = affine_map<(d0, d1) -> (d0, d1)>
#lanes = #tracea_pipe.lanes<reg = [[0, 16]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
module attributes {tracea.target = #target} {

// Not what is read as well (b), rows that end within a line (c), and what the second level holds an
// eighth of (d).
// CHECK-LABEL: tracea_pipe.kernel @others(
// CHECK-NOT:     nontemporal
// FENCE-LABEL: llvm.func {{.*}}@others.tiles(
// FENCE-NOT:     llvm.fence
// FENCE:         llvm.return
tracea_pipe.kernel @others(%a: memref<64x4096xf32>, %b: memref<64x4096xf32>, %c: memref<64x4100xf32>, %d: memref<32x4096xf32>) attributes {source_op = "tracea.softmax", variant = "row"} {
  %c32 = arith.constant 32 : index
  tiles (%i) in (%c32) {
    %c0 = arith.constant 0 : index
    %x = tracea_pipe.load %b[%i, %c0] map #map : memref<64x4096xf32> -> tensor<1x32xf32, #lanes>
    tracea_pipe.store %x, %b[%i, %c0] map #map : tensor<1x32xf32, #lanes>, memref<64x4096xf32>
    tracea_pipe.store %x, %c[%i, %c0] map #map : tensor<1x32xf32, #lanes>, memref<64x4100xf32>
    tracea_pipe.store %x, %d[%i, %c0] map #map : tensor<1x32xf32, #lanes>, memref<32x4096xf32>
  }
  end
}
}

// -----

#target = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 512, l2 = 65536>
#map = affine_map<(d0, d1) -> (d0, d1)>
#lanes = #tracea_pipe.lanes<reg = [[0, 16]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
module attributes {tracea.target = #target} {

// What multiplies keeps its large result in the caches.
// CHECK-LABEL: tracea_pipe.kernel @product(
// CHECK-NOT:     nontemporal
// FENCE-LABEL: llvm.func {{.*}}@product.tiles(
// FENCE-NOT:     llvm.fence
// FENCE:         llvm.return
tracea_pipe.kernel @product(%a: memref<1x8xf32>, %b: memref<8x32xf32>, %d: memref<64x4096xf32>) attributes {source_op = "tracea.gemm", variant = "gemm.direct"} {
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : tensor<1x32xf32, #lanes>
  tiles (%i) in (%c64) {
    %c0 = arith.constant 0 : index
    %sum = tracea_pipe.mma %a, %b, %zero : memref<1x8xf32>, memref<8x32xf32>, tensor<1x32xf32, #lanes>
    tracea_pipe.store %sum, %d[%i, %c0] map #map : tensor<1x32xf32, #lanes>, memref<64x4096xf32>
  }
  end
}
}
