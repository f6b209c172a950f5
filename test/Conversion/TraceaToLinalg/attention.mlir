// RUN: tracea-opt %s --convert-tracea-to-linalg --split-input-file | FileCheck %s

// Without masks there is no select in the scores; the scale is 1/sqrt(d).
// CHECK-LABEL: func @plain(
// CHECK-SAME:    %[[Q:.*]]: tensor<1x2x3x8xf32>, %[[K:.*]]: tensor<1x2x5x8xf32>, %[[V:.*]]: tensor<1x2x5x7xf32>
// CHECK:         %[[P:.*]] = linalg.generic {{.*}} ins(%[[Q]], %[[K]] {{.*}} tensor<1x2x3x5xf32>
// CHECK:         %[[C8:.*]] = arith.constant 8 : index
// CHECK:         arith.index_cast %[[C8]]
// CHECK:         %[[ROOT:.*]] = math.sqrt
// CHECK:         %[[SCALE:.*]] = arith.divf %{{.*}}, %[[ROOT]]
// CHECK:         %[[S:.*]] = linalg.generic {{.*}} ins(%[[P]]
// CHECK:           %[[SCALED:.*]] = arith.mulf %{{.*}}, %[[SCALE]]
// CHECK-NOT:       arith.select
// CHECK:           linalg.yield %[[SCALED]]
// CHECK:         %[[MAX:.*]] = linalg.generic {{.*}} ins(%[[S]]
// CHECK:           arith.maximumf
// A row whose maximum is -inf has no keys: weights of zero.
// CHECK:         linalg.generic {{.*}} ins(%[[S]], %[[MAX]]
// CHECK:           %[[EXP:.*]] = math.exp
// CHECK:           %[[NONE:.*]] = arith.cmpf oeq, %{{.*}}, %{{.*}} : f32
// CHECK:           arith.select %[[NONE]], %{{.*}}, %[[EXP]]
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[V]]
func.func @plain(%q: tensor<1x2x3x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x7xf32>, %d: tensor<1x2x3x7xf32>) -> tensor<1x2x3x7xf32> {
  %y = tracea.attention ins(%q, %k, %v : tensor<1x2x3x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x7xf32>)
    outs(%d : tensor<1x2x3x7xf32>) -> tensor<1x2x3x7xf32>
  return %y : tensor<1x2x3x7xf32>
}

// -----

// CHECK-LABEL: func @masked(
// CHECK-SAME:    %[[MASK:[a-z0-9]*]]: tensor<1x?x?x?xi1>
// The heads of the key are repeated: head h reads head h / (H / G).
// CHECK:         %[[RATIO:.*]] = arith.divsi
// CHECK:         linalg.generic
// CHECK:           %[[H:.*]] = linalg.index 1
// CHECK:           arith.divsi %[[H]], %[[RATIO]]
// CHECK:           tensor.extract
// The scale is that of the attribute, at double precision.
// CHECK:         arith.constant 3.000000e-01 : f64
// CHECK:         %[[SHIFT:.*]] = arith.subi
// CHECK:         %[[INF:.*]] = arith.constant 0xFF800000 : f32
// CHECK:           %[[I:.*]] = linalg.index 2
// CHECK:           %[[J:.*]] = linalg.index 3
// CHECK:           %[[PLACE:.*]] = arith.addi %[[I]], %[[SHIFT]]
// CHECK:           arith.cmpi sle, %[[J]], %[[PLACE]]
// CHECK:           %[[FIRST:.*]] = arith.subi %[[PLACE]], %c2
// CHECK:           arith.cmpi sge, %[[J]], %[[FIRST]]
// A negative bound is none.
// CHECK-NOT:       arith.cmpi sle
// CHECK:           tensor.extract %[[MASK]]
// CHECK:           arith.select %{{.*}}, %{{.*}}, %[[INF]]
// CHECK:         %[[LOG:.*]] = math.log
// CHECK:         arith.addf %{{.*}}, %[[LOG]]
func.func @masked(%q: tensor<?x?x?x?xbf16>, %k: tensor<?x?x?x?xbf16>, %v: tensor<?x?x?x?xbf16>, %m: tensor<1x?x?x?xi1>, %d: tensor<?x?x?x?xbf16>, %l: tensor<?x?x?xf32>) -> (tensor<?x?x?x?xbf16>, tensor<?x?x?xf32>) {
  %y, %z = tracea.attention causal window [2, -1] scale 0.3
    ins(%q, %k, %v : tensor<?x?x?x?xbf16>, tensor<?x?x?x?xbf16>, tensor<?x?x?x?xbf16>)
    block_mask(%m : tensor<1x?x?x?xi1>) block_size [4, 4]
    outs(%d : tensor<?x?x?x?xbf16>) lse(%l : tensor<?x?x?xf32>) -> tensor<?x?x?x?xbf16>, tensor<?x?x?xf32>
  return %y, %z : tensor<?x?x?x?xbf16>, tensor<?x?x?xf32>
}

// Every extent that only the run knows is compared: what is read would else be taken to be as wide as the result.
// CHECK-LABEL: func.func @checked(
// CHECK-DAG:     cf.assert %{{.*}}, "tracea.attention: expected query and result to agree in batch, heads and length"
// CHECK-DAG:     cf.assert %{{.*}}, "tracea.attention: expected depth of value and result to be equal"
// CHECK-DAG:     %[[EITHER:.*]] = arith.ori
// CHECK-DAG:     cf.assert %[[EITHER]], "tracea.attention: expected the batch and heads of the block mask to be one or those of the query"
func.func @checked(%q: tensor<1x3x?x2xf32>, %k: tensor<1x3x8x2xf32>, %v: tensor<1x3x8x?xf32>, %m: tensor<1x?x1x1xi1>, %d: tensor<1x3x8x2xf32>) -> tensor<1x3x8x2xf32> {
  %y = tracea.attention ins(%q, %k, %v : tensor<1x3x?x2xf32>, tensor<1x3x8x2xf32>, tensor<1x3x8x?xf32>)
    block_mask(%m : tensor<1x?x1x1xi1>) block_size [8, 8] outs(%d : tensor<1x3x8x2xf32>) -> tensor<1x3x8x2xf32>
  return %y : tensor<1x3x8x2xf32>
}
