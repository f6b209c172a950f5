// RUN: tracea-opt %s --split-input-file --verify-diagnostics

func.func @gradient_rank(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x7xf32>, %g: tensor<4x6x7xf32>, %l: tensor<1x4x6xf32>, %t: tensor<1x4x6xf32>, %d: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{'tracea.attention_qgrad' op expected the gradient to have rank 4, found 3}}
  %0 = tracea.attention_qgrad ins(%q, %k, %v, %g, %l, %t : tensor<1x4x6x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x7xf32>, tensor<4x6x7xf32>, tensor<1x4x6xf32>, tensor<1x4x6xf32>) outs(%d : tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  return
}

// -----

func.func @gradient_type(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x7xf32>, %g: tensor<1x4x6x7xf16>, %l: tensor<1x4x6xf32>, %t: tensor<1x4x6xf32>, %d: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{'tracea.attention_qgrad' op expected a gradient with elements of type 'f32' as the query has, found 'f16'}}
  %0 = tracea.attention_qgrad ins(%q, %k, %v, %g, %l, %t : tensor<1x4x6x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x7xf32>, tensor<1x4x6x7xf16>, tensor<1x4x6xf32>, tensor<1x4x6xf32>) outs(%d : tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  return
}

// -----

func.func @gradient_rows(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x7xf32>, %g: tensor<1x4x5x7xf32>, %l: tensor<1x4x6xf32>, %t: tensor<1x4x6xf32>, %d: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{'tracea.attention_qgrad' op expected the gradient to have dimension 2 = 6 as the query has, found 5}}
  %0 = tracea.attention_qgrad ins(%q, %k, %v, %g, %l, %t : tensor<1x4x6x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x7xf32>, tensor<1x4x5x7xf32>, tensor<1x4x6xf32>, tensor<1x4x6xf32>) outs(%d : tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  return
}

// -----

func.func @gradient_depth(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x7xf32>, %g: tensor<1x4x6x8xf32>, %l: tensor<1x4x6xf32>, %t: tensor<1x4x6xf32>, %d: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{'tracea.attention_qgrad' op expected the gradient to have dimension 3 = 7 as the value has, found 8}}
  %0 = tracea.attention_qgrad ins(%q, %k, %v, %g, %l, %t : tensor<1x4x6x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x7xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6xf32>, tensor<1x4x6xf32>) outs(%d : tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  return
}

// -----

func.func @lse_type(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x7xf32>, %g: tensor<1x4x6x7xf32>, %l: tensor<1x4x6xf16>, %t: tensor<1x4x6xf32>, %d: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{'tracea.attention_qgrad' op expected log-sum-exp of type f32 or that of the accumulator, 'f32', found 'f16'}}
  %0 = tracea.attention_qgrad ins(%q, %k, %v, %g, %l, %t : tensor<1x4x6x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x7xf32>, tensor<1x4x6x7xf32>, tensor<1x4x6xf16>, tensor<1x4x6xf32>) outs(%d : tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  return
}

// -----

func.func @lse_rank(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x7xf32>, %g: tensor<1x4x6x7xf32>, %l: tensor<1x4x6x1xf32>, %t: tensor<1x4x6xf32>, %d: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{'tracea.attention_qgrad' op expected log-sum-exp to have rank 3, found 4}}
  %0 = tracea.attention_qgrad ins(%q, %k, %v, %g, %l, %t : tensor<1x4x6x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x7xf32>, tensor<1x4x6x7xf32>, tensor<1x4x6x1xf32>, tensor<1x4x6xf32>) outs(%d : tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  return
}

// -----

func.func @delta_rows(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x7xf32>, %g: tensor<1x4x6x7xf32>, %l: tensor<1x4x6xf32>, %t: tensor<1x4x7xf32>, %d: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{'tracea.attention_qgrad' op expected delta to have dimension 2 = 6 as the query has, found 7}}
  %0 = tracea.attention_qgrad ins(%q, %k, %v, %g, %l, %t : tensor<1x4x6x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x7xf32>, tensor<1x4x6x7xf32>, tensor<1x4x6xf32>, tensor<1x4x7xf32>) outs(%d : tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  return
}

// -----

func.func @delta_type(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x7xf32>, %g: tensor<1x4x6x7xf32>, %l: tensor<1x4x6xf32>, %t: tensor<1x4x6xbf16>, %d: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{'tracea.attention_qgrad' op expected delta of type f32 or that of the accumulator, 'f32', found 'bf16'}}
  %0 = tracea.attention_qgrad ins(%q, %k, %v, %g, %l, %t : tensor<1x4x6x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x7xf32>, tensor<1x4x6x7xf32>, tensor<1x4x6xf32>, tensor<1x4x6xbf16>) outs(%d : tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  return
}

// -----

func.func @result_shape(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x7xf32>, %g: tensor<1x4x6x7xf32>, %l: tensor<1x4x6xf32>, %t: tensor<1x4x6xf32>, %d: tensor<1x4x6x7xf32>) {
  // expected-error @+1 {{'tracea.attention_qgrad' op expected the result to have dimension 3 = 8 as the query has, found 7}}
  %0 = tracea.attention_qgrad ins(%q, %k, %v, %g, %l, %t : tensor<1x4x6x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x7xf32>, tensor<1x4x6x7xf32>, tensor<1x4x6xf32>, tensor<1x4x6xf32>) outs(%d : tensor<1x4x6x7xf32>) -> tensor<1x4x6x7xf32>
  return
}

// -----

func.func @result_rank(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x7xf32>, %g: tensor<1x4x6x7xf32>, %l: tensor<1x4x6xf32>, %t: tensor<1x4x6xf32>, %d: tensor<4x6x8xf32>) {
  // expected-error @+1 {{'tracea.attention_qgrad' op expected the result to have rank 4, found 3}}
  %0 = tracea.attention_qgrad ins(%q, %k, %v, %g, %l, %t : tensor<1x4x6x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x7xf32>, tensor<1x4x6x7xf32>, tensor<1x4x6xf32>, tensor<1x4x6xf32>) outs(%d : tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
  return
}

// -----

func.func @result_type(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x7xf32>, %g: tensor<1x4x6x7xf32>, %l: tensor<1x4x6xf32>, %t: tensor<1x4x6xf32>, %d: tensor<1x4x6x8xi8>) {
  // expected-error @+1 {{'tracea.attention_qgrad' op expected the result that an accumulator of type 'f32' converts to, found 'i8'}}
  %0 = tracea.attention_qgrad ins(%q, %k, %v, %g, %l, %t : tensor<1x4x6x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x7xf32>, tensor<1x4x6x7xf32>, tensor<1x4x6xf32>, tensor<1x4x6xf32>) outs(%d : tensor<1x4x6x8xi8>) -> tensor<1x4x6x8xi8>
  return
}

// -----

func.func @heads(%q: tensor<1x4x6x8xf32>, %k: tensor<1x3x5x8xf32>, %v: tensor<1x3x5x7xf32>, %g: tensor<1x4x6x7xf32>, %l: tensor<1x4x6xf32>, %t: tensor<1x4x6xf32>, %d: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{'tracea.attention_qgrad' op expected the heads of the key to divide the 4 heads of the query, found 3}}
  %0 = tracea.attention_qgrad ins(%q, %k, %v, %g, %l, %t : tensor<1x4x6x8xf32>, tensor<1x3x5x8xf32>, tensor<1x3x5x7xf32>, tensor<1x4x6x7xf32>, tensor<1x4x6xf32>, tensor<1x4x6xf32>) outs(%d : tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  return
}

// -----

func.func @window(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x7xf32>, %g: tensor<1x4x6x7xf32>, %l: tensor<1x4x6xf32>, %t: tensor<1x4x6xf32>, %d: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{'tracea.attention_qgrad' op expected 2 entries in 'window', found 1}}
  %0 = tracea.attention_qgrad window [3] ins(%q, %k, %v, %g, %l, %t : tensor<1x4x6x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x7xf32>, tensor<1x4x6x7xf32>, tensor<1x4x6xf32>, tensor<1x4x6xf32>) outs(%d : tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  return
}

// -----

func.func @scale(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x7xf32>, %g: tensor<1x4x6x7xf32>, %l: tensor<1x4x6xf32>, %t: tensor<1x4x6xf32>, %d: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{'tracea.attention_qgrad' op expected a finite 'scale', found infinity}}
  %0 = tracea.attention_qgrad scale 0x7FF0000000000000 ins(%q, %k, %v, %g, %l, %t : tensor<1x4x6x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x7xf32>, tensor<1x4x6x7xf32>, tensor<1x4x6xf32>, tensor<1x4x6xf32>) outs(%d : tensor<1x4x6x8xf32>) -> tensor<1x4x6x8xf32>
  return
}

// -----

func.func @key_result(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x7xf32>, %g: tensor<1x4x6x7xf32>, %l: tensor<1x4x6xf32>, %t: tensor<1x4x6xf32>, %d: tensor<1x2x6x8xf32>, %e: tensor<1x2x5x7xf32>) {
  // expected-error @+1 {{'tracea.attention_kvgrad' op expected the first result to have dimension 2 = 5 as the key has, found 6}}
  %0:2 = tracea.attention_kvgrad ins(%q, %k, %v, %g, %l, %t : tensor<1x4x6x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x7xf32>, tensor<1x4x6x7xf32>, tensor<1x4x6xf32>, tensor<1x4x6xf32>) outs(%d, %e : tensor<1x2x6x8xf32>, tensor<1x2x5x7xf32>) -> tensor<1x2x6x8xf32>, tensor<1x2x5x7xf32>
  return
}

// -----

func.func @value_result(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x7xf32>, %g: tensor<1x4x6x7xf32>, %l: tensor<1x4x6xf32>, %t: tensor<1x4x6xf32>, %d: tensor<1x2x5x8xf32>, %e: tensor<1x2x5x8xf32>) {
  // expected-error @+1 {{'tracea.attention_kvgrad' op expected the second result to have dimension 3 = 7 as the value has, found 8}}
  %0:2 = tracea.attention_kvgrad ins(%q, %k, %v, %g, %l, %t : tensor<1x4x6x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x7xf32>, tensor<1x4x6x7xf32>, tensor<1x4x6xf32>, tensor<1x4x6xf32>) outs(%d, %e : tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>) -> tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>
  return
}

// -----

func.func @value_result_type(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x7xf32>, %g: tensor<1x4x6x7xf32>, %l: tensor<1x4x6xf32>, %t: tensor<1x4x6xf32>, %d: tensor<1x2x5x8xf32>, %e: tensor<1x2x5x7xi8>) {
  // expected-error @+1 {{'tracea.attention_kvgrad' op expected the second result that an accumulator of type 'f32' converts to, found 'i8'}}
  %0:2 = tracea.attention_kvgrad ins(%q, %k, %v, %g, %l, %t : tensor<1x4x6x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x7xf32>, tensor<1x4x6x7xf32>, tensor<1x4x6xf32>, tensor<1x4x6xf32>) outs(%d, %e : tensor<1x2x5x8xf32>, tensor<1x2x5x7xi8>) -> tensor<1x2x5x8xf32>, tensor<1x2x5x7xi8>
  return
}

// -----

func.func @operands(%q: tensor<1x4x6x8xf32>, %k: tensor<1x2x5x8xf16>, %v: tensor<1x2x5x7xf32>, %g: tensor<1x4x6x7xf32>, %l: tensor<1x4x6xf32>, %t: tensor<1x4x6xf32>, %d: tensor<1x2x5x8xf32>, %e: tensor<1x2x5x7xf32>) {
  // expected-error @+1 {{'tracea.attention_kvgrad' op expected key and value to have elements of type 'f32' as the query has, found 'f16' and 'f32'}}
  %0:2 = tracea.attention_kvgrad ins(%q, %k, %v, %g, %l, %t : tensor<1x4x6x8xf32>, tensor<1x2x5x8xf16>, tensor<1x2x5x7xf32>, tensor<1x4x6x7xf32>, tensor<1x4x6xf32>, tensor<1x4x6xf32>) outs(%d, %e : tensor<1x2x5x8xf32>, tensor<1x2x5x7xf32>) -> tensor<1x2x5x8xf32>, tensor<1x2x5x7xf32>
  return
}
