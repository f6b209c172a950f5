// Transpositions go through squares that are transposed in registers.
// RUN: tracea-opt %s --tracea-block-transpositions --canonicalize --cse | FileCheck %s

#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
// CHECK-LABEL: func.func @transpose(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<10x?xf32>, %[[B:[a-z0-9]+]]: memref<?x10xf32>
// CHECK:         scf.for %[[J:.*]] = %c0 to %c8 step %c4 {
// CHECK:           scf.for %[[I:.*]] = %c0 to %{{.*}} step %c4 {
// CHECK:             %[[R0:.*]] = vector.load %[[A]][%[[J]], %[[I]]] : memref<10x?xf32>, vector<4xf32>
// CHECK:             %[[J1:.*]] = arith.addi %[[J]], %c1
// CHECK:             %[[R1:.*]] = vector.load %[[A]][%[[J1]], %[[I]]]
// CHECK:             vector.load
// CHECK:             vector.load
// CHECK:             vector.shuffle %[[R0]], %[[R1]] [0, 4, 2, 6]
// CHECK-COUNT-7:     vector.shuffle
// CHECK:             vector.store %{{.*}}, %[[B]][%[[I]], %[[J]]]
// CHECK:             %[[I1:.*]] = arith.addi %[[I]], %c1
// CHECK:             vector.store %{{.*}}, %[[B]][%[[I1]], %[[J]]]
// CHECK-COUNT-2:     vector.store
// The last two columns of the result, and then its last rows.
// CHECK:         scf.for %[[I:.*]] = %c0 to %{{.*}} step %c1 {
// CHECK:           scf.for %[[J:.*]] = %c8 to %c10 step %c1 {
// CHECK:             %[[X:.*]] = memref.load %[[A]][%[[J]], %[[I]]]
// CHECK:             memref.store %[[X]], %[[B]][%[[I]], %[[J]]]
// CHECK:         scf.for
// CHECK:           scf.for %{{.*}} = %c0 to %c8 step %c1 {
func.func @transpose(%a: memref<10x?xf32>, %b: memref<?x10xf32>) {
  linalg.transpose ins(%a : memref<10x?xf32>) outs(%b : memref<?x10xf32>) permutation = [1, 0]
  return
}

// Elements of 16 bits, between other dimensions, as an operation of maps.
// CHECK-LABEL: func.func @inner(
// CHECK:         scf.for %[[N:.*]] = %c0 to %c3 step %c1 {
// CHECK:           vector.load %{{.*}}[%[[N]], %{{.*}}, %{{.*}}] : memref<3x64x32xbf16>, vector<8xbf16>
func.func @inner(%a: memref<3x64x32xbf16>, %b: memref<3x32x64xbf16>) {
  linalg.generic {indexing_maps = [affine_map<(n, i, j) -> (n, j, i)>, affine_map<(n, i, j) -> (n, i, j)>],
                  iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%a : memref<3x64x32xbf16>) outs(%b : memref<3x32x64xbf16>) {
  ^bb0(%x: bf16, %y: bf16):
    linalg.yield %x : bf16
  }
  return
}

// Neighbours stay neighbours; elements that lie apart; more than a copy.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     vector
// CHECK:         return
func.func @others(%a: memref<3x64x32xf32>, %b: memref<64x3x32xf32>, %c: memref<64x64xf32, strided<[128, 2]>>, %d: memref<64x64xf32>) {
  linalg.transpose ins(%a : memref<3x64x32xf32>) outs(%b : memref<64x3x32xf32>) permutation = [1, 0, 2]
  linalg.transpose ins(%c : memref<64x64xf32, strided<[128, 2]>>) outs(%d : memref<64x64xf32>) permutation = [1, 0]
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%d : memref<64x64xf32>) outs(%c : memref<64x64xf32, strided<[128, 2]>>) {
  ^bb0(%x: f32, %y: f32):
    %z = arith.negf %x : f32
    linalg.yield %z : f32
  }
  return
}
}
