// RUN: tracea-opt %s --convert-tracea-to-linalg --split-input-file | FileCheck %s

// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-LABEL: func @softmax(
// CHECK-SAME:    %[[X:.*]]: tensor<2x?x4xf16>, %[[D:.*]]: tensor<2x?x4xf16>
// CHECK:         %[[INF:.*]] = arith.constant 0xFF800000 : f32
// CHECK:         linalg.fill ins(%[[INF]]
// CHECK:         %[[MAX:.*]] = linalg.generic {indexing_maps = [#[[ALL]], #[[ROW]]], iterator_types = ["parallel", "reduction", "parallel"]} ins(%[[X]]
// CHECK:           arith.extf {{.*}} : f16 to f32
// CHECK:           arith.maximumf
// CHECK:         %[[EXP:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[MAX]]
// CHECK:           arith.subf
// CHECK:           math.exp
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[EXP]]
// CHECK:           arith.addf
// CHECK:         %[[Y:.*]] = linalg.generic {{.*}} ins(%[[EXP]], %[[SUM]]
// CHECK:           arith.divf
// CHECK:         linalg.generic {{.*}} ins(%[[Y]] {{.*}} outs(%[[D]]
// CHECK:           arith.truncf {{.*}} : f32 to f16
func.func @softmax(%x: tensor<2x?x4xf16>, %d: tensor<2x?x4xf16>) -> tensor<2x?x4xf16> {
  %y = tracea.softmax dim 1 ins(%x : tensor<2x?x4xf16>) outs(%d : tensor<2x?x4xf16>)
  return %y : tensor<2x?x4xf16>
}

// -----

// epsilon keeps its double precision until it meets the accumulator.
// CHECK: #[[CHANNEL:.*]] = affine_map<(d0, d1, d2, d3) -> (d1)>
// CHECK-LABEL: func @batch_norm(
// CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #[[CHANNEL]], #[[CHANNEL]], #[[CHANNEL]], #[[CHANNEL]], #{{.*}}]
// CHECK:         ^bb0(%[[X:.*]]: f32, %[[S:.*]]: f32, %[[B:.*]]: f32, %[[M:.*]]: f32, %[[V:.*]]: f32,
// CHECK:           %[[C:.*]] = arith.subf %[[X]], %[[M]]
// CHECK:           %[[E:.*]] = arith.constant 1.000000e-05 : f64
// CHECK:           %[[N:.*]] = arith.truncf %[[E]] : f64 to f32
// CHECK:           %[[A:.*]] = arith.addf %[[V]], %[[N]]
// CHECK:           %[[R:.*]] = math.sqrt %[[A]]
// CHECK:           %[[U:.*]] = arith.divf %[[C]], %[[R]]
// CHECK:           %[[T:.*]] = arith.mulf %[[U]], %[[S]]
// CHECK:           arith.addf %[[T]], %[[B]]
func.func @batch_norm(%x: tensor<?x3x4x4xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>, %d: tensor<?x3x4x4xf32>) -> tensor<?x3x4x4xf32> {
  %y = tracea.batch_norm axis 1 epsilon 1.0e-5
    ins(%x, %s, %b, %m, %v : tensor<?x3x4x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
    outs(%d : tensor<?x3x4x4xf32>)
  return %y : tensor<?x3x4x4xf32>
}

// -----

// Mean and variance over the dimensions from the axis on.
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1, d2) -> (d0)>
// CHECK-DAG: #[[PARAMETER:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func @layer_norm(
// CHECK-SAME:    %[[X:.*]]: tensor<2x?x4xf32>, %[[S:.*]]: tensor<?x4xf32>
// CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #[[ROW]]], iterator_types = ["parallel", "reduction", "reduction"]}
// CHECK:         %[[N:.*]] = arith.sitofp {{.*}} : i64 to f32
// CHECK:         %[[MEAN:.*]] = linalg.generic
// CHECK:           arith.divf %{{.*}}, %[[N]]
// CHECK:         linalg.generic {{.*}} ins(%[[X]], %[[MEAN]]
// CHECK:           %[[C:.*]] = arith.subf
// CHECK:           arith.mulf %[[C]], %[[C]]
// CHECK:         %[[VARIANCE:.*]] = linalg.generic
// CHECK:           arith.divf
// CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #[[ROW]], #[[ROW]], #[[PARAMETER]], #{{.*}}], {{.*}} ins(%[[X]], %[[MEAN]], %[[VARIANCE]], %[[S]]
func.func @layer_norm(%x: tensor<2x?x4xf32>, %s: tensor<?x4xf32>, %d: tensor<2x?x4xf32>) -> tensor<2x?x4xf32> {
  %y = tracea.layer_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<2x?x4xf32>) scale(%s : tensor<?x4xf32>) outs(%d : tensor<2x?x4xf32>)
  return %y : tensor<2x?x4xf32>
}

// -----

// CHECK-LABEL: func @rms_norm(
// CHECK:         linalg.generic
// CHECK:           %[[W:.*]] = arith.extf
// CHECK:           arith.mulf %[[W]], %[[W]]
// CHECK-NOT:     arith.subf
// CHECK:         math.sqrt
func.func @rms_norm(%x: tensor<2x4xbf16>, %d: tensor<2x4xbf16>) -> tensor<2x4xbf16> {
  %y = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<2x4xbf16>) outs(%d : tensor<2x4xbf16>)
  return %y : tensor<2x4xbf16>
}
