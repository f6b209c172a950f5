// RUN: tracea-opt %s --convert-tracea-to-linalg --split-input-file | FileCheck %s

// Weights are made again from the log-sum-exp; a row that saw no key has none.
// CHECK-LABEL: func @queries(
// CHECK-SAME:    %[[Q:.*]]: tensor<1x2x3x8xf32>, %[[K:.*]]: tensor<1x2x5x8xf32>, %[[V:.*]]: tensor<1x2x5x7xf32>, %[[G:.*]]: tensor<1x2x3x7xf32>, %[[L:.*]]: tensor<1x2x3xf32>, %[[T:.*]]: tensor<1x2x3xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[Q]], %[[K]] {{.*}} tensor<1x2x3x5xf32>
// CHECK:         %[[SCALE:.*]] = arith.divf %{{.*}}, %{{.*}} : f32
// CHECK:         %[[S:.*]] = linalg.generic
// CHECK:           arith.mulf %{{.*}}, %[[SCALE]]
// CHECK:           arith.select
// CHECK:         %[[P:.*]] = linalg.generic {{.*}} ins(%[[S]], %[[L]] :
// CHECK:           arith.subf
// CHECK:           %[[EXP:.*]] = math.exp
// CHECK:           %[[NONE:.*]] = arith.cmpf oeq
// CHECK:           arith.select %[[NONE]], %{{.*}}, %[[EXP]]
// CHECK:         %[[D:.*]] = linalg.generic {{.*}} ins(%[[G]], %[[V]] {{.*}} tensor<1x2x3x5xf32>
// CHECK:         %[[B:.*]] = linalg.generic {{.*}} ins(%[[P]], %[[D]], %[[T]] :
// CHECK:           %[[ABOVE:.*]] = arith.subf
// CHECK:           arith.mulf %{{.*}}, %[[ABOVE]]
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[B]], %[[K]] {{.*}} tensor<1x2x3x8xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[SUM]] : {{.*}} tensor<1x2x3x8xbf16>
// CHECK:           arith.mulf
// CHECK:           arith.truncf
func.func @queries(%q: tensor<1x2x3x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x7xf32>, %g: tensor<1x2x3x7xf32>, %l: tensor<1x2x3xf32>, %t: tensor<1x2x3xf32>, %d: tensor<1x2x3x8xbf16>) -> tensor<1x2x3x8xbf16> {
  %y = tracea.attention_qgrad causal ins(%q, %k, %v, %g, %l, %t : tensor<1x2x3x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x7xf32>, tensor<1x2x3x7xf32>, tensor<1x2x3xf32>, tensor<1x2x3xf32>)
    outs(%d : tensor<1x2x3x8xbf16>) -> tensor<1x2x3x8xbf16>
  return %y : tensor<1x2x3x8xbf16>
}

// -----

// Sums over queries for each head, then over the heads that share a key, in one order.
// CHECK-LABEL: func @keys(
// CHECK:         cf.assert {{.*}} "tracea.attention_kvgrad: expected value and second result to have the same extents"
// CHECK:         cf.assert {{.*}} "tracea.attention_kvgrad: expected query and log-sum-exp to agree in batch, heads and length"
// CHECK:         %[[KEYS:.*]] = linalg.generic {{.*}}"reduction"]} {{.*}} outs(%{{.*}} : tensor<?x4x5x8xf32>)
// CHECK:         linalg.generic {{.*}}"reduction"]} ins(%{{.*}} : tensor<?xf32>) outs(%{{.*}} : tensor<?x2x5x8xf32>)
// CHECK:           %[[G:.*]] = linalg.index 1
// CHECK:           arith.muli %[[G]]
// CHECK:           tensor.extract %[[KEYS]]
// CHECK:         %[[VALUES:.*]] = linalg.generic {{.*}}"reduction"]} {{.*}} outs(%{{.*}} : tensor<?x4x5x7xf32>)
// CHECK:           tensor.extract %[[VALUES]]
func.func @keys(%q: tensor<?x4x3x8xf32>, %k: tensor<?x2x5x8xf32>, %v: tensor<?x2x5x7xf32>, %g: tensor<?x4x3x7xf32>, %l: tensor<?x4x3xf32>, %d: tensor<?x2x5x8xf32>, %e: tensor<?x2x5x7xf32>) -> (tensor<?x2x5x8xf32>, tensor<?x2x5x7xf32>) {
  %y:2 = tracea.attention_kvgrad scale 3.0e-1 ins(%q, %k, %v, %g, %l, %l : tensor<?x4x3x8xf32>, tensor<?x2x5x8xf32>, tensor<?x2x5x7xf32>, tensor<?x4x3x7xf32>, tensor<?x4x3xf32>, tensor<?x4x3xf32>)
    outs(%d, %e : tensor<?x2x5x8xf32>, tensor<?x2x5x7xf32>) -> tensor<?x2x5x8xf32>, tensor<?x2x5x7xf32>
  return %y#0, %y#1 : tensor<?x2x5x8xf32>, tensor<?x2x5x7xf32>
}
