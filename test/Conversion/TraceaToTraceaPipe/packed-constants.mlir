// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --split-input-file | FileCheck %s

// A right operand that is a constant is packed by a kernel of its own, into panels of the 8 columns
// that a register tile has: 20 columns are three of them, the last with zeros. The product reads
// them where they lie, and stages its left operand alone.
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1, d2) -> (d0 * 8 + d2, d1)>
// CHECK-DAG: #[[PANELS:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 8, d2, d1 mod 8)>
// CHECK-LABEL: func.func @constant(
// CHECK-SAME:    %[[A:[^ ]*]]: tensor<9x6xf32>, %[[B:[^ ]*]]: tensor<20x6xf32>
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<3x6x8xf32>
// CHECK:         %[[P:.*]] = tracea_pipe.launch @gemm_0 ins(%[[B]] : {{.*}}) outs(%[[E]] : {{.*}})
// CHECK:         tracea_pipe.launch @gemm_1 ins(%[[A]], %[[P]] : tensor<9x6xf32>, tensor<3x6x8xf32>)
// CHECK:       tracea_pipe.kernel @gemm_0(%[[B:.*]]: memref<20x6xf32>, %[[D:.*]]: memref<3x6x8xf32>)
// CHECK-SAME:    maps = [#[[ROWS]]]
// CHECK:         tiles (%[[I:.*]], %[[K:.*]]) in (%c3, %c6)
// CHECK:           %[[N0:.*]] = arith.muli %[[I]], %c8
// CHECK:           %[[T:.*]] = tracea_pipe.load %[[B]][%[[N0]], %[[K]]]
// CHECK:           tracea_pipe.store %[[T]], %[[D]][%[[I]], %[[K]], %c0] {{.*}} limits(%{{.*}}, %c8)
// CHECK:       tracea_pipe.kernel @gemm_1(%[[A:.*]]: memref<9x6xf32>, %[[P:.*]]: memref<3x6x8xf32>
// CHECK-SAME:    maps = [{{.*}}, #[[PANELS]]]
// CHECK:         tracea_pipe.stage %[[A]]
// CHECK-NOT:     tracea_pipe.stage %
// CHECK:         %[[PANEL:.*]] = arith.divui %{{.*}}, %c8
// CHECK:         %[[V:.*]] = tracea_pipe.view %[[P]][%[[PANEL]], %{{.*}}, %c0] {{.*}} -> memref<4x8xf32, strided<[8, 1], offset: ?>>
// CHECK:         tracea_pipe.mma %{{.*}}, %[[V]]
module attributes {tracea.target = #cpu} {
func.func @constant(%a: tensor<9x6xf32>, %b: tensor<20x6xf32> {tracea.constant}, %d: tensor<9x20xf32>) -> tensor<9x20xf32> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<9x6xf32>, tensor<20x6xf32>) outs(%d : tensor<9x20xf32>)
         schedule <variant = "gemm.packed", unit = vector, tile = [8, 16, 4, 4], registers = [4, 8]>
  return %0 : tensor<9x20xf32>
}
}

// -----

// What differs between runs is staged in each, and so is a matrix for each of a batch, and elements
// that are converted on their way.
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
// CHECK-LABEL: func.func @argument(
// CHECK:       tracea_pipe.kernel @gemm_0(
// CHECK-COUNT-2: tracea_pipe.stage %
// CHECK:       tracea_pipe.kernel @gemm_1(
// CHECK-COUNT-2: tracea_pipe.stage %
// CHECK:       tracea_pipe.kernel @gemm_2(
// CHECK-COUNT-2: tracea_pipe.stage %
// CHECK-NOT:   tracea_pipe.kernel
module attributes {tracea.target = #cpu} {
func.func @argument(%a: tensor<9x6xf32>, %b: tensor<20x6xf32>, %d: tensor<9x20xf32>) -> tensor<9x20xf32> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<9x6xf32>, tensor<20x6xf32>) outs(%d : tensor<9x20xf32>)
         schedule <variant = "gemm.packed", unit = vector, tile = [8, 16, 4, 4], registers = [4, 8]>
  return %0 : tensor<9x20xf32>
}
func.func @batch(%a: tensor<2x9x6xf32>, %b: tensor<2x20x6xf32> {tracea.constant}, %d: tensor<2x9x20xf32>) -> tensor<2x9x20xf32> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<2x9x6xf32>, tensor<2x20x6xf32>) outs(%d : tensor<2x9x20xf32>)
         schedule <variant = "gemm.packed", unit = vector, tile = [8, 16, 4, 4], registers = [4, 8]>
  return %0 : tensor<2x9x20xf32>
}
func.func @converted(%a: tensor<9x6xf16>, %b: tensor<20x6xf16> {tracea.constant}, %d: tensor<9x20xf32>) -> tensor<9x20xf32> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<9x6xf16>, tensor<20x6xf16>) outs(%d : tensor<9x20xf32>)
         schedule <variant = "gemm.packed", unit = vector, tile = [8, 16, 4, 4], registers = [4, 8]>
  return %0 : tensor<9x20xf32>
}
}
