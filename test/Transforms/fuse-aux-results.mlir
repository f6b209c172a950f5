// What else reads a product, and reductions of it.
// RUN: tracea-opt %s -split-input-file --tracea-fuse-epilogues --canonicalize | FileCheck %s
// RUN: tracea-opt %s -split-input-file --tracea-fuse-epilogues --remarks-filter="tracea-fuse-epilogues" --remark-policy=final --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=REMARK

// The pre-activation is kept: it leaves with the activation.
// CHECK-DAG: #[[$MN:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @kept(
// CHECK-SAME: %[[BIAS:[a-z0-9]+]]: tensor<16xf32>, %[[D:[a-z0-9]+]]: tensor<4x16xf32>
// CHECK: %[[Y:.*]]:2 = tracea.gemm {{.*}} aux(%{{.*}} by #[[$MN]] : tensor<4x16xf32>) epilogue(%[[BIAS]] by
// CHECK: ^bb0(%[[ACC:.*]]: f32, %[[IN:.*]]: f32):
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[ACC]], %[[IN]]
// CHECK-NEXT: %[[T:.*]] = math.tanh %[[S]]
// CHECK-NEXT: tracea.yield %[[T]], %[[S]] : f32, f32
// CHECK-NOT: linalg
// CHECK: return %[[Y]]#1, %[[Y]]#0
func.func @kept(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %bias: tensor<16xf32>, %d: tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
    epilogue(%bias by affine_map<(m, n) -> (n)> : tensor<16xf32>) {
    ^bb0(%acc: f32, %x: f32):
      %s = arith.addf %acc, %x : f32
      tracea.yield %s : f32
    }
  %e = tensor.empty() : tensor<4x16xf32>
  %1 = linalg.tanh ins(%0 : tensor<4x16xf32>) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %0, %1 : tensor<4x16xf32>, tensor<4x16xf32>
}

// -----

// Two branches that never meet; one is transposed, the other narrow.
// CHECK-DAG: #[[$NM:.+]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @branches(
// CHECK: %[[Y:.*]]:2 = tracea.gemm {{.*}} outs(%{{.*}} : tensor<?x16xbf16>) aux(%{{.*}} by #[[$NM]] : tensor<16x?xf32>) epilogue {
// CHECK: ^bb0(%[[ACC:.*]]: f32):
// CHECK-DAG: %[[E:.*]] = math.exp %[[ACC]]
// CHECK-DAG: %[[H:.*]] = arith.truncf %[[ACC]]
// CHECK: tracea.yield %[[H]], %[[E]] : bf16, f32
// CHECK-NOT: linalg
// CHECK: return %[[Y]]#1, %[[Y]]#0
func.func @branches(%a: tensor<?x8xf32>, %b: tensor<8x16xf32>, %d: tensor<?x16xf32>, %e: tensor<16x?xf32>) -> (tensor<16x?xf32>, tensor<?x16xbf16>) {
  %0 = tracea.gemm ins(%a, %b : tensor<?x8xf32>, tensor<8x16xf32>) outs(%d : tensor<?x16xf32>)
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<?x16xf32>) outs(%e : tensor<16x?xf32>) {
    ^bb0(%x: f32, %out: f32):
      %y = math.exp %x : f32
      linalg.yield %y : f32
  } -> tensor<16x?xf32>
  %2 = arith.truncf %0 : tensor<?x16xf32> to tensor<?x16xbf16>
  return %1, %2 : tensor<16x?xf32>, tensor<?x16xbf16>
}

// -----

// The other user stands before an operand of the consumer.
// REMARK: EpilogueNotFused {{.*}}Reason="the result is read before all operands of the consumer are there"
// CHECK-LABEL: func.func @early(
// CHECK: tracea.gemm
// CHECK-NOT: aux
// CHECK: call @use
// CHECK: arith.addf
func.func private @use(tensor<4x16xf32>) -> tensor<4x16xf32>
func.func @early(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %d: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
  %1 = func.call @use(%0) : (tensor<4x16xf32>) -> tensor<4x16xf32>
  %2 = arith.addf %0, %1 : tensor<4x16xf32>
  return %2 : tensor<4x16xf32>
}

// -----

// A sum of squares along rows, of what is stored.
// REMARK: ReductionFused | Category:tracea-fuse-epilogues | Kind=add, Operation=tracea.gemm
// CHECK-DAG: #[[$M:.+]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @squares(
// CHECK: %[[Y:.*]]:2 = tracea.gemm {{.*}} aux(add %{{.*}} by #[[$M]] : tensor<?xf32>) epilogue {
// CHECK: ^bb0(%[[ACC:.*]]: f32):
// CHECK-NEXT: %[[H:.*]] = arith.truncf %[[ACC]] : f32 to bf16
// CHECK-NEXT: %[[F:.*]] = arith.extf %[[H]]
// CHECK-NEXT: %[[Q:.*]] = arith.mulf %[[F]], %[[F]]
// CHECK-NEXT: tracea.yield %[[H]], %[[Q]] : bf16, f32
// CHECK-NOT: linalg.generic
// CHECK: return %[[Y]]#0, %[[Y]]#1
func.func @squares(%a: tensor<?x8xbf16>, %b: tensor<8x16xbf16>, %d: tensor<?x16xbf16>, %e: tensor<?xf32>) -> (tensor<?x16xbf16>, tensor<?xf32>) {
  %0 = tracea.gemm ins(%a, %b : tensor<?x8xbf16>, tensor<8x16xbf16>) outs(%d : tensor<?x16xbf16>)
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%0 : tensor<?x16xbf16>) outs(%f : tensor<?xf32>) {
    ^bb0(%x: bf16, %out: f32):
      %y = arith.extf %x : bf16 to f32
      %q = arith.mulf %y, %y : f32
      %s = arith.addf %out, %q : f32
      linalg.yield %s : f32
  } -> tensor<?xf32>
  return %0, %1 : tensor<?x16xbf16>, tensor<?xf32>
}

// -----

// A maximum along columns of the activation, with an operand of its own; the
// product alone is not read by anybody and not stored.
// CHECK-DAG: #[[$N:.+]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @maximum(
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<16xf32>
// CHECK: tracea.gemm {{.*}} aux(max %{{.*}} by #[[$N]] : tensor<16xf32>) epilogue(%[[W]] by #[[$N]] : tensor<16xf32>) {
// CHECK: ^bb0(%[[ACC:.*]]: f32, %[[IN:.*]]: f32):
// CHECK-NEXT: %[[E:.*]] = math.exp %[[ACC]]
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[E]], %[[IN]]
// CHECK-NEXT: tracea.yield %[[E]], %[[P]] : f32, f32
func.func @maximum(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %w: tensor<16xf32>, %d: tensor<4x16xf32>) -> (tensor<4x16xf32>, tensor<16xf32>) {
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
  %1 = linalg.exp ins(%0 : tensor<4x16xf32>) outs(%d : tensor<4x16xf32>) -> tensor<4x16xf32>
  %z = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<16xf32>) -> tensor<16xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%1, %w : tensor<4x16xf32>, tensor<16xf32>) outs(%f : tensor<16xf32>) {
    ^bb0(%x: f32, %y: f32, %out: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.maximumf %out, %p : f32
      linalg.yield %s : f32
  } -> tensor<16xf32>
  return %1, %2 : tensor<4x16xf32>, tensor<16xf32>
}

// -----

// Not from nothing; and a sum that is rounded at every step.
// CHECK-LABEL: func.func @not_reductions(
// CHECK: tracea.gemm
// CHECK-NOT: aux
// CHECK-COUNT-2: linalg.reduce
func.func @not_reductions(%a: tensor<4x8xf16>, %b: tensor<8x16xf16>, %d: tensor<4x16xf16>, %e: tensor<4xf16>) -> (tensor<4x16xf16>, tensor<4xf16>, tensor<4xf16>) {
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf16>, tensor<8x16xf16>) outs(%d : tensor<4x16xf16>)
  %1 = linalg.reduce { arith.addf } ins(%0 : tensor<4x16xf16>) outs(%e : tensor<4xf16>) dimensions = [1]
  %z = arith.constant 0.0 : f16
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<4xf16>) -> tensor<4xf16>
  %2 = linalg.reduce { arith.addf } ins(%0 : tensor<4x16xf16>) outs(%f : tensor<4xf16>) dimensions = [1]
  return %0, %1, %2 : tensor<4x16xf16>, tensor<4xf16>, tensor<4xf16>
}

// -----

// The last branch is transposed: another one is the first result.
// CHECK-DAG: #[[$NM:.+]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @transposed_last(
// CHECK: %[[Y:.*]]:2 = tracea.gemm {{.*}} outs(%{{.*}} : tensor<?x16xbf16>) aux(%{{.*}} by #[[$NM]] : tensor<16x?xf32>) epilogue {
// CHECK-NOT: linalg
// CHECK: return %[[Y]]#1, %[[Y]]#0
func.func @transposed_last(%a: tensor<?x8xf32>, %b: tensor<8x16xf32>, %d: tensor<?x16xf32>, %e: tensor<16x?xf32>) -> (tensor<16x?xf32>, tensor<?x16xbf16>) {
  %0 = tracea.gemm ins(%a, %b : tensor<?x8xf32>, tensor<8x16xf32>) outs(%d : tensor<?x16xf32>)
  %2 = arith.truncf %0 : tensor<?x16xf32> to tensor<?x16xbf16>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<?x16xf32>) outs(%e : tensor<16x?xf32>) {
    ^bb0(%x: f32, %out: f32):
      %y = math.exp %x : f32
      linalg.yield %y : f32
  } -> tensor<16x?xf32>
  return %1, %2 : tensor<16x?xf32>, tensor<?x16xbf16>
}
