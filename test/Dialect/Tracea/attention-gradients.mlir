// RUN: tracea-opt %s | tracea-opt | FileCheck %s
// RUN: tracea-opt %s --mlir-print-op-generic | tracea-opt | FileCheck %s

// CHECK-LABEL: @queries
// CHECK: tracea.attention_qgrad causal window [3, -1] scale 2.500000e-01 acc f64
// CHECK-SAME: ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x6xf32>, tensor<?x4x?x6xf32>, tensor<?x4x?xf32>, tensor<?x4x?xf64>)
// CHECK-SAME: lengths(%{{.*}} : tensor<?xi32>)
// CHECK-SAME: outs(%{{.*}} : tensor<?x4x?x8xbf16>) -> tensor<?x4x?x8xbf16>
func.func @queries(%q: tensor<?x4x?x8xf32>, %k: tensor<?x2x?x8xf32>, %v: tensor<?x2x?x6xf32>, %g: tensor<?x4x?x6xf32>, %l: tensor<?x4x?xf32>, %t: tensor<?x4x?xf64>, %n: tensor<?xi32>, %d: tensor<?x4x?x8xbf16>) -> tensor<?x4x?x8xbf16> {
  %0 = tracea.attention_qgrad causal window [3, -1] scale 2.5e-1 acc f64
    ins(%q, %k, %v, %g, %l, %t : tensor<?x4x?x8xf32>, tensor<?x2x?x8xf32>, tensor<?x2x?x6xf32>, tensor<?x4x?x6xf32>, tensor<?x4x?xf32>, tensor<?x4x?xf64>)
    lengths(%n : tensor<?xi32>) outs(%d : tensor<?x4x?x8xbf16>) -> tensor<?x4x?x8xbf16>
  return %0 : tensor<?x4x?x8xbf16>
}

// CHECK-LABEL: @keys
// CHECK: tracea.attention_kvgrad ins(
// CHECK-SAME: block_mask(%{{.*}} : tensor<1x1x2x2xi1>) block_size [4, 8]
// CHECK-SAME: outs(%{{.*}}, %{{.*}} : tensor<1x2x9x8xf16>, tensor<1x2x9x6xf16>)
// CHECK-SAME: schedule <variant = "linalg", unit = vector>
// CHECK-SAME: -> tensor<1x2x9x8xf16>, tensor<1x2x9x6xf16>
func.func @keys(%q: tensor<1x4x8x8xf16>, %k: tensor<1x2x9x8xf16>, %v: tensor<1x2x9x6xf16>, %g: tensor<1x4x8x6xf16>, %l: tensor<1x4x8xf32>, %m: tensor<1x1x2x2xi1>, %d: tensor<1x2x9x8xf16>, %e: tensor<1x2x9x6xf16>) -> (tensor<1x2x9x8xf16>, tensor<1x2x9x6xf16>) {
  %0:2 = tracea.attention_kvgrad
    ins(%q, %k, %v, %g, %l, %l : tensor<1x4x8x8xf16>, tensor<1x2x9x8xf16>, tensor<1x2x9x6xf16>, tensor<1x4x8x6xf16>, tensor<1x4x8xf32>, tensor<1x4x8xf32>)
    block_mask(%m : tensor<1x1x2x2xi1>) block_size [4, 8] outs(%d, %e : tensor<1x2x9x8xf16>, tensor<1x2x9x6xf16>)
    schedule <variant = "linalg", unit = vector> -> tensor<1x2x9x8xf16>, tensor<1x2x9x6xf16>
  return %0#0, %0#1 : tensor<1x2x9x8xf16>, tensor<1x2x9x6xf16>
}
