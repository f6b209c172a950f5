// RUN: tracea-opt %s --split-input-file --verify-diagnostics

func.func @rhs_rank(%a: tensor<8x4xf32>, %b: tensor<4x2xf32>, %e: tensor<3xi32>, %d: tensor<8x2xf32>) {
  // expected-error @+1 {{'tracea.grouped_gemm' op expected rhs to have rank 3, found 2}}
  %0 = tracea.grouped_gemm ins(%a, %b, %e : tensor<8x4xf32>, tensor<4x2xf32>, tensor<3xi32>) outs(%d : tensor<8x2xf32>)
  return
}

// -----

func.func @lhs_rank(%a: tensor<1x8x4xf32>, %b: tensor<3x4x2xf32>, %e: tensor<3xi32>, %d: tensor<8x2xf32>) {
  // expected-error @+1 {{'tracea.grouped_gemm' op expected lhs to have rank 2, found 3}}
  %0 = tracea.grouped_gemm ins(%a, %b, %e : tensor<1x8x4xf32>, tensor<3x4x2xf32>, tensor<3xi32>) outs(%d : tensor<8x2xf32>)
  return
}

// -----

func.func @ends_rank(%a: tensor<8x4xf32>, %b: tensor<3x4x2xf32>, %e: tensor<3x1xi32>, %d: tensor<8x2xf32>) {
  // expected-error @+1 {{'tracea.grouped_gemm' op expected ends to have rank 1, found 2}}
  %0 = tracea.grouped_gemm ins(%a, %b, %e : tensor<8x4xf32>, tensor<3x4x2xf32>, tensor<3x1xi32>) outs(%d : tensor<8x2xf32>)
  return
}

// -----

func.func @result_rank(%a: tensor<8x4xf32>, %b: tensor<3x4x2xf32>, %e: tensor<3xi32>, %d: tensor<3x8x2xf32>) {
  // expected-error @+1 {{'tracea.grouped_gemm' op expected the result to have rank 2, found 3}}
  %0 = tracea.grouped_gemm ins(%a, %b, %e : tensor<8x4xf32>, tensor<3x4x2xf32>, tensor<3xi32>) outs(%d : tensor<3x8x2xf32>)
  return
}

// -----

func.func @mixed(%a: tensor<8x4xf16>, %b: tensor<3x4x2xbf16>, %e: tensor<3xi32>, %d: tensor<8x2xf32>) {
  // expected-error @+1 {{'tracea.grouped_gemm' op expected rhs to have elements of type 'f16' as lhs has, found 'bf16'}}
  %0 = tracea.grouped_gemm ins(%a, %b, %e : tensor<8x4xf16>, tensor<3x4x2xbf16>, tensor<3xi32>) outs(%d : tensor<8x2xf32>)
  return
}

// -----

func.func @ends_type(%a: tensor<8x4xf32>, %b: tensor<3x4x2xf32>, %e: tensor<3xindex>, %d: tensor<8x2xf32>) {
  // expected-error @+1 {{'tracea.grouped_gemm' op expected ends to have elements of type i32 or i64, found 'index'}}
  %0 = tracea.grouped_gemm ins(%a, %b, %e : tensor<8x4xf32>, tensor<3x4x2xf32>, tensor<3xindex>) outs(%d : tensor<8x2xf32>)
  return
}

// -----

func.func @groups(%a: tensor<8x4xf32>, %b: tensor<3x4x2xf32>, %e: tensor<2xi32>, %d: tensor<8x2xf32>) {
  // expected-error @+1 {{'tracea.grouped_gemm' op expected ends to have groups = 3 as rhs has, found 2}}
  %0 = tracea.grouped_gemm ins(%a, %b, %e : tensor<8x4xf32>, tensor<3x4x2xf32>, tensor<2xi32>) outs(%d : tensor<8x2xf32>)
  return
}

// -----

func.func @k(%a: tensor<8x4xf32>, %b: tensor<3x2x4xf32>, %e: tensor<3xi32>, %d: tensor<8x4xf32>) {
  // expected-error @+1 {{'tracea.grouped_gemm' op expected rhs to have k = 4 as lhs has, found 2}}
  %0 = tracea.grouped_gemm ins(%a, %b, %e : tensor<8x4xf32>, tensor<3x2x4xf32>, tensor<3xi32>) outs(%d : tensor<8x4xf32>)
  return
}

// -----

func.func @n(%a: tensor<8x4xf32>, %b: tensor<3x2x4xf32>, %e: tensor<3xi32>, %d: tensor<8x4xf32>) {
  // expected-error @+1 {{'tracea.grouped_gemm' op expected the result to have n = 2 as rhs has, found 4}}
  %0 = tracea.grouped_gemm transpose_rhs ins(%a, %b, %e : tensor<8x4xf32>, tensor<3x2x4xf32>, tensor<3xi32>) outs(%d : tensor<8x4xf32>)
  return
}

// -----

func.func @rows(%a: tensor<8x4xf32>, %b: tensor<3x4x2xf32>, %e: tensor<3xi32>, %d: tensor<9x2xf32>) {
  // expected-error @+1 {{'tracea.grouped_gemm' op expected the result to have rows = 8 as lhs has, found 9}}
  %0 = tracea.grouped_gemm ins(%a, %b, %e : tensor<8x4xf32>, tensor<3x4x2xf32>, tensor<3xi32>) outs(%d : tensor<9x2xf32>)
  return
}

// -----

func.func @operands(%a: tensor<8x4xi16>, %b: tensor<3x4x2xi16>, %e: tensor<3xi32>, %d: tensor<8x2xi32>) {
  // expected-error @+1 {{'tracea.grouped_gemm' op expected operands that are neither i8 nor 8-bit floats to have elements of type f64, f32, f16 or bf16, found 'i16'}}
  %0 = tracea.grouped_gemm ins(%a, %b, %e : tensor<8x4xi16>, tensor<3x4x2xi16>, tensor<3xi32>) outs(%d : tensor<8x2xi32>)
  return
}

// -----

func.func @narrow(%a: tensor<8x4xf32>, %b: tensor<3x4x2xf32>, %e: tensor<3xi32>, %d: tensor<8x2xf32>) {
  // expected-error @+1 {{'tracea.grouped_gemm' op expected an accumulator of type f32 or f64 for elements of type 'f32', found 'f16'}}
  %0 = tracea.grouped_gemm acc f16 ins(%a, %b, %e : tensor<8x4xf32>, tensor<3x4x2xf32>, tensor<3xi32>) outs(%d : tensor<8x2xf32>)
  return
}
