// Operations of `arith` and `math` on whole tensors, as front ends write them:
// fused into one kernel, into the epilogue of a product, and right.
// RUN: tracea-opt %s --tracea-compile="target=x86-64-v3 to=semantic" | FileCheck %s
// RUN: tracea run %s --entry chain --random-inputs --shape 0=37x8 --shape 1=37x8 --check
// RUN: tracea run %s --entry scalars --random-inputs --check
// RUN: tracea run %s --entry product --random-inputs --shape 0=5x16 --check
// RUN: not tracea run %s --entry chain --random-inputs --shape 0=37x8 --shape 1=36x8 2>&1 | FileCheck %s --check-prefix=SHAPES
// SHAPES: expects dimension 0 of operand #1 to be as long as dimension 0 of operand #0

// CHECK-LABEL: func.func @fused
// CHECK:         linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @fused(%a: tensor<?x8xf32>, %b: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = arith.addf %a, %b : tensor<?x8xf32>
  %1 = math.exp %0 : tensor<?x8xf32>
  %2 = arith.negf %1 : tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

func.func @chain(%a: tensor<?x8xf32>, %b: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xi1>) {
  %0 = arith.addf %a, %b : tensor<?x8xf32>
  %1 = math.exp %0 : tensor<?x8xf32>
  %2 = arith.cmpf ogt, %1, %a : tensor<?x8xf32>
  %3 = arith.select %2, %1, %b : tensor<?x8xi1>, tensor<?x8xf32>
  return %3, %2 : tensor<?x8xf32>, tensor<?x8xi1>
}

// CHECK-LABEL: func.func @scalars
func.func @scalars(%a: tensor<f64>, %b: tensor<3x4xi32>) -> (tensor<f64>, tensor<3x4xf32>) {
  %0 = math.expm1 %a : tensor<f64>
  %1 = arith.muli %b, %b : tensor<3x4xi32>
  %2 = arith.sitofp %1 : tensor<3x4xi32> to tensor<3x4xf32>
  return %0, %2 : tensor<f64>, tensor<3x4xf32>
}

// CHECK-LABEL: func.func @product
// CHECK:         tracea.gemm
// CHECK:           epilogue
// CHECK:           math.tanh %{{.*}} : f32
func.func @product(%a: tensor<?x16xf32>, %b: tensor<16x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x16xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<?x16xf32>, tensor<16x8xf32>) outs(%f : tensor<?x8xf32>) -> tensor<?x8xf32>
  %1 = math.tanh %0 : tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}
