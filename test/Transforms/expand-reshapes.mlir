// RUN: tracea-opt %s --pass-pipeline="builtin.module(func.func(tracea-expand-reshapes),canonicalize,cse)" | FileCheck %s

// Extents that join are a group of their own, what is left is compared.
// CHECK-LABEL: func.func @join(
// CHECK-SAME:    %[[X:.*]]: tensor<?x4x16xf32>, %[[N:.*]]: i64)
// CHECK-DAG:     %[[D:.*]] = tensor.dim %[[X]], %c0
// CHECK-DAG:     %[[SIZE:.*]] = arith.index_cast %[[N]]
// CHECK:         %[[SAME:.*]] = arith.cmpi eq, %[[D]], %[[SIZE]] : index
// CHECK:         cf.assert %[[SAME]], "the reshape does not keep the number of elements"
// CHECK:         tensor.collapse_shape %[[X]] {{\[\[}}0], [1, 2]] : tensor<?x4x16xf32> into tensor<?x64xf32>
func.func @join(%x: tensor<?x4x16xf32>, %n: i64) -> tensor<?x64xf32> {
  %c64 = arith.constant 64 : i64
  %shape = tensor.from_elements %n, %c64 : tensor<2xi64>
  %y = tensor.reshape %x(%shape) : (tensor<?x4x16xf32>, tensor<2xi64>) -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

// No group but the whole: through one dimension.
// CHECK-LABEL: func.func @middle(
// CHECK:         cf.assert
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1]] : tensor<?x8xf32> into tensor<?xf32>
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1]] output_shape [%{{.*}}, 4] : tensor<?xf32> into tensor<?x4xf32>
func.func @middle(%x: tensor<?x8xf32>, %n: i64) -> tensor<?x4xf32> {
  %c2 = arith.constant 2 : i64
  %c4 = arith.constant 4 : i64
  %r = arith.muli %n, %c2 : i64
  %shape = tensor.from_elements %r, %c4 : tensor<2xi64>
  %y = tensor.reshape %x(%shape) : (tensor<?x8xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// Sizes that are the source's own need no comparison.
// CHECK-LABEL: func.func @heads(
// CHECK-NOT:     cf.assert
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0], [1], [2, 3]] output_shape
// CHECK-NOT:     cf.assert
// CHECK:         return
func.func @heads(%x: tensor<?x?x768xf32>) -> tensor<?x?x12x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c12 = arith.constant 12 : i64
  %c64 = arith.constant 64 : i64
  %a = tensor.dim %x, %c0 : tensor<?x?x768xf32>
  %b = tensor.dim %x, %c1 : tensor<?x?x768xf32>
  %ai = arith.index_cast %a : index to i64
  %bi = arith.index_cast %b : index to i64
  %shape = tensor.from_elements %ai, %bi, %c12, %c64 : tensor<4xi64>
  %y = tensor.reshape %x(%shape) : (tensor<?x?x768xf32>, tensor<4xi64>) -> tensor<?x?x12x64xf32>
  return %y : tensor<?x?x12x64xf32>
}

// CHECK-LABEL: func.func @tokens(
// CHECK:         cf.assert
// CHECK:         tensor.collapse_shape {{.*}} {{\[\[}}0, 1], [2]]
// CHECK-NOT:     tensor.expand_shape
func.func @tokens(%x: tensor<?x?x768xf32>, %n : index) -> tensor<?x768xf32> {
  %c768 = arith.constant 768 : index
  %shape = tensor.from_elements %n, %c768 : tensor<2xindex>
  %y = tensor.reshape %x(%shape) : (tensor<?x?x768xf32>, tensor<2xindex>) -> tensor<?x768xf32>
  return %y : tensor<?x768xf32>
}

// The only size that nothing tells is what the others leave.
// CHECK-LABEL: func.func @left(
// CHECK-SAME:    %[[X:.*]]: tensor<?x6xf32>
// CHECK:         %[[ALL:.*]] = arith.muli %{{.*}}, %c6
// CHECK:         %[[LEFT:.*]] = arith.divui %[[ALL]], %c6
// CHECK:         cf.assert
// CHECK:         tensor.expand_shape {{.*}} output_shape [2, %[[LEFT]], 3]
func.func @left(%x: tensor<?x6xf32>, %shape: tensor<3xi64>) -> tensor<2x?x3xf32> {
  %y = tensor.reshape %x(%shape) : (tensor<?x6xf32>, tensor<3xi64>) -> tensor<2x?x3xf32>
  return %y : tensor<2x?x3xf32>
}

// CHECK-LABEL: func.func @from_point(
// CHECK-SAME:    %[[X:.*]]: tensor<f32>, %[[N:.*]]: index)
// CHECK:         arith.cmpi eq, %[[N]], %c1
// CHECK:         cf.assert
// CHECK:         tensor.expand_shape %[[X]] [] output_shape [1, 1]
func.func @from_point(%x: tensor<f32>, %n : index) -> tensor<1x?xf32> {
  %c1 = arith.constant 1 : index
  %shape = tensor.from_elements %c1, %n : tensor<2xindex>
  %y = tensor.reshape %x(%shape) : (tensor<f32>, tensor<2xindex>) -> tensor<1x?xf32>
  return %y : tensor<1x?xf32>
}

// CHECK-LABEL: func.func @to_point(
// CHECK:         cf.assert
// CHECK:         tensor.collapse_shape {{.*}} [] : tensor<1x1xf32> into tensor<f32>
func.func @to_point(%x: tensor<?x1xf32>, %shape: tensor<0xindex>) -> tensor<f32> {
  %y = tensor.reshape %x(%shape) : (tensor<?x1xf32>, tensor<0xindex>) -> tensor<f32>
  return %y : tensor<f32>
}

// A size of one that no dimension of the source stands for joins its neighbour.
// CHECK-LABEL: func.func @ones(
// CHECK:         cf.assert
// CHECK:         tensor.expand_shape {{.*}} {{\[\[}}0, 1], [2]]
func.func @ones(%x: tensor<4x16xf32>, %n : index) -> tensor<?x4x16xf32> {
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %shape = tensor.from_elements %n, %c4, %c16 : tensor<3xindex>
  %y = tensor.reshape %x(%shape) : (tensor<4x16xf32>, tensor<3xindex>) -> tensor<?x4x16xf32>
  return %y : tensor<?x4x16xf32>
}

// Numbers in a constant are extents of a type.
// CHECK-LABEL: func.func @known(
// CHECK-NOT:     cf.assert
// CHECK:         tensor.expand_shape {{.*}} output_shape [32, 2] : tensor<64xf32> into tensor<32x2xf32>
func.func @known(%x: tensor<4x16xf32>) -> tensor<?x?xf32> {
  %shape = arith.constant dense<[32, 2]> : tensor<2xi64>
  %y = tensor.reshape %x(%shape) : (tensor<4x16xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// Where there are no elements nothing of the source is needed.
// CHECK-LABEL: func.func @empty(
// CHECK-SAME:    %{{.*}}: tensor<?x0xf32>, %[[N:.*]]: index)
// CHECK:         %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?x0xf32>
// CHECK:         tensor.cast %[[E]]
func.func @empty(%x: tensor<?x0xf32>, %n : index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %shape = tensor.from_elements %n, %c0 : tensor<2xindex>
  %y = tensor.reshape %x(%shape) : (tensor<?x0xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @becomes_empty(
// CHECK:         arith.muli
// CHECK:         arith.cmpi eq, %{{.*}}, %c0
// CHECK:         cf.assert
// CHECK:         tensor.empty(%{{.*}}) : tensor<?x0xf32>
func.func @becomes_empty(%x: tensor<?x3xf32>, %n : index) -> tensor<?x0xf32> {
  %c0 = arith.constant 0 : index
  %shape = tensor.from_elements %n, %c0 : tensor<2xindex>
  %y = tensor.reshape %x(%shape) : (tensor<?x3xf32>, tensor<2xindex>) -> tensor<?x0xf32>
  return %y : tensor<?x0xf32>
}
