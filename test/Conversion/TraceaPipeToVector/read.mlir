// Numbers that memory holds are loads, with their sign.
// RUN: tracea-opt %s --convert-tracea-pipe-to-vector --canonicalize --cse | FileCheck %s
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
                                                  cpu = "x86-64-v3", features = "+avx2,+fma", vector_bits = 128>} {

// CHECK-LABEL: tracea_pipe.kernel @both(
// CHECK-SAME:    %[[LENS:[a-z0-9]+]]: memref<?xi32>, %[[LIST:[a-z0-9]+]]: memref<?x4xi64>
// CHECK:         tiles (%[[I:.*]]) in
// CHECK:           %[[LEN:.*]] = memref.load %[[LENS]][%[[I]]] : memref<?xi32>
// CHECK-NEXT:      %[[LEN_INDEX:.*]] = arith.index_cast %[[LEN]] : i32 to index
// CHECK-NEXT:      %[[ITEM:.*]] = memref.load %[[LIST]][%[[LEN_INDEX]], %[[I]]] : memref<?x4xi64>
// CHECK-NEXT:      %[[ITEM_INDEX:.*]] = arith.index_cast %[[ITEM]] : i64 to index
// CHECK-NEXT:      memref.store %{{.*}}, %{{.*}}[%[[ITEM_INDEX]]]
tracea_pipe.kernel @both(%lens: memref<?xi32>, %list: memref<?x4xi64>, %d: memref<?xf32>, %n: index) {
  %v = arith.constant 1.0 : f32
  tracea_pipe.tiles (%i) in (%n) {
    %len = tracea_pipe.read %lens[%i] : memref<?xi32>
    %item = tracea_pipe.read %list[%len, %i] : memref<?x4xi64>
    memref.store %v, %d[%item] : memref<?xf32>
  }
  tracea_pipe.end
}
}
