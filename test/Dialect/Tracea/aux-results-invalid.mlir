// RUN: tracea-opt %s --split-input-file --verify-diagnostics

func.func @without_region(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>, %e: tensor<4x4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected no auxiliary results without an epilogue, found 1}}
  %0:2 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>)
    aux(%e by affine_map<(m, n) -> (m, n)> : tensor<4x4xf32>)
  return
}

// -----

func.func @kind(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>, %e: tensor<4xf32>) {
  %0:2 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>)
    // expected-error @+1 {{expected 'add', 'max', 'min' or a destination, found 'mul'}}
    aux(mul %e by affine_map<(m, n) -> (m)> : tensor<4xf32>) epilogue {
    ^bb0(%acc: f32):
      tracea.yield %acc, %acc : f32, f32
    }
  return
}

// -----

func.func @types(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>, %e: tensor<4xf32>) {
  %0:2 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>)
    // expected-error @+1 {{expected 1 types of auxiliary results, found 2}}
    aux(add %e by affine_map<(m, n) -> (m)> : tensor<4xf32>, tensor<4xf32>) epilogue {
    ^bb0(%acc: f32):
      tracea.yield %acc, %acc : f32, f32
    }
  return
}

// -----

func.func @numbers(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>, %e: tensor<4x4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected one map and one kind per auxiliary result, found 0 maps and 0 kinds for 1 destinations}}
  %0:2 = "tracea.gemm"(%a, %b, %d, %e) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 1>}> ({
    ^bb0(%acc: f32):
      tracea.yield %acc, %acc : f32, f32
  }) : (tensor<4x8xf32>, tensor<8x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  return
}

// -----

func.func @map_rank(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>, %e: tensor<4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected the map of auxiliary result #0 to take the 2 dimensions of the result to 1 different ones, the rank of its destination, found affine_map<(d0, d1) -> (d0, d1)>}}
  %0:2 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>)
    aux(%e by affine_map<(m, n) -> (m, n)> : tensor<4xf32>) epilogue {
    ^bb0(%acc: f32):
      tracea.yield %acc, %acc : f32, f32
    }
  return
}

// -----

func.func @map_twice(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>, %e: tensor<4x4xf32>) {
  // expected-error @+1 {{to take the 2 dimensions of the result to 2 different ones}}
  %0:2 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>)
    aux(%e by affine_map<(m, n) -> (m, m)> : tensor<4x4xf32>) epilogue {
    ^bb0(%acc: f32):
      tracea.yield %acc, %acc : f32, f32
    }
  return
}

// -----

func.func @order(%a: tensor<2x4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<2x4x4xf32>, %e: tensor<4x2xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected the map of auxiliary result #0, a reduction, to keep the order of dimensions, found affine_map<(d0, d1, d2) -> (d1, d0)>}}
  %0:2 = tracea.gemm ins(%a, %b : tensor<2x4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<2x4x4xf32>)
    aux(add %e by affine_map<(b, m, n) -> (m, b)> : tensor<4x2xf32>) epilogue {
    ^bb0(%acc: f32):
      tracea.yield %acc, %acc : f32, f32
    }
  return
}

// -----

func.func @extent(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %d: tensor<4x6xf32>, %e: tensor<4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected dimension 0 of auxiliary result #0 to have extent 6, found 4}}
  %0:2 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x6xf32>) outs(%d : tensor<4x6xf32>)
    aux(add %e by affine_map<(m, n) -> (n)> : tensor<4xf32>) epilogue {
    ^bb0(%acc: f32):
      tracea.yield %acc, %acc : f32, f32
    }
  return
}

// -----

func.func @not_reduced(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>, %e: tensor<4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected auxiliary result #0, which lacks dimensions of the result, to say how they are reduced}}
  %0:2 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>)
    aux(%e by affine_map<(m, n) -> (m)> : tensor<4xf32>) epilogue {
    ^bb0(%acc: f32):
      tracea.yield %acc, %acc : f32, f32
    }
  return
}

// -----

func.func @nothing_to_reduce(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>, %e: tensor<4x4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected auxiliary result #0, which has all dimensions of the result, not to be a reduction}}
  %0:2 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>)
    aux(max %e by affine_map<(m, n) -> (m, n)> : tensor<4x4xf32>) epilogue {
    ^bb0(%acc: f32):
      tracea.yield %acc, %acc : f32, f32
    }
  return
}

// -----

func.func @narrow(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>, %e: tensor<4xbf16>) {
  // expected-error @+1 {{'tracea.gemm' op expected auxiliary result #0 to be reduced in elements of 32 bits or more, found 'bf16'}}
  %0:2 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>)
    aux(add %e by affine_map<(m, n) -> (m)> : tensor<4xbf16>) epilogue {
    ^bb0(%acc: f32):
      %h = arith.truncf %acc : f32 to bf16
      tracea.yield %acc, %h : f32, bf16
    }
  return
}

// -----

func.func @yields(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>, %e: tensor<4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected the epilogue to yield 2 scalars, one per result, found 1}}
  %0:2 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>)
    aux(add %e by affine_map<(m, n) -> (m)> : tensor<4xf32>) epilogue {
    ^bb0(%acc: f32):
      // expected-note @+1 {{yielded here}}
      tracea.yield %acc : f32
    }
  return
}

// -----

func.func @type(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>, %e: tensor<4x4xbf16>) {
  // expected-error @+1 {{'tracea.gemm' op expected the epilogue to yield 'bf16', the element type of auxiliary result #0, found 'f32'}}
  %0:2 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>)
    aux(%e by affine_map<(m, n) -> (m, n)> : tensor<4x4xbf16>) epilogue {
    ^bb0(%acc: f32):
      // expected-note @+1 {{yielded here}}
      tracea.yield %acc, %acc : f32, f32
    }
  return
}

// -----

func.func @no_scalar(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>) {
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>)
    epilogue {
    ^bb0(%acc: f32):
      // expected-error @+1 {{'tracea.yield' op expected at least one scalar}}
      "tracea.yield"() : () -> ()
    }
  return
}
