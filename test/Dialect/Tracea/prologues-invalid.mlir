// What the verifier refuses of prologues.
// RUN: tracea-opt %s --split-input-file --verify-diagnostics

func.func @no_region(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // expected-error@+1 {{expected no kept results without a prologue, found 1}}
  %y:2 = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>) keeps(%x : tensor<4x8xf32>)
  return %y#0, %y#1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

func.func @missing_argument(%x: tensor<4x8xf32>, %r: tensor<8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{expected the prologue to take 2 arguments, the input's element and one per prologue operand, found 1}}
  %y = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) prologue(%r by affine_map<(i, j) -> (j)> : tensor<8xf32>) {
    ^bb0(%a: f32):
      tracea.yield %a : f32
  } outs(%x : tensor<4x8xf32>)
  return %y : tensor<4x8xf32>
}

// -----

func.func @map(%x: tensor<4x8xf32>, %r: tensor<8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{expected the map of prologue operand #0 to take the 2 dimensions of the input, found affine_map<(d0) -> (d0)>}}
  %y = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) prologue(%r by affine_map<(j) -> (j)> : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32):
      tracea.yield %a : f32
  } outs(%x : tensor<4x8xf32>)
  return %y : tensor<4x8xf32>
}

// -----

func.func @extent(%x: tensor<4x8xf32>, %r: tensor<7xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{expected dimension 0 of prologue operand #0 to have extent 8, found 7}}
  %y = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) prologue(%r by affine_map<(i, j) -> (j)> : tensor<7xf32>) {
    ^bb0(%a: f32, %b: f32):
      tracea.yield %a : f32
  } outs(%x : tensor<4x8xf32>)
  return %y : tensor<4x8xf32>
}

// -----

func.func @yields_integer(%x: tensor<4x8xi32>, %d: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{expected the input to have elements of type f64, f32, f16 or bf16, found 'i32'}}
  %y = tracea.softmax dim 1 ins(%x : tensor<4x8xi32>) prologue {
    ^bb0(%a: i32):
      tracea.yield %a : i32
  } outs(%d : tensor<4x8xf32>)
  return %y : tensor<4x8xf32>
}

// -----

func.func @keeps_too_few(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // expected-error@+1 {{expected the prologue to yield 2 scalars, the element of the row and one per kept result, found 1}}
  %y:2 = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) prologue {
    ^bb0(%a: f32):
      // expected-note@+1 {{yielded here}}
      tracea.yield %a : f32
  } outs(%x : tensor<4x8xf32>) keeps(%x : tensor<4x8xf32>)
  return %y#0, %y#1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

func.func @keeps_other_type(%x: tensor<4x8xf32>, %e: tensor<4x8xf16>) -> (tensor<4x8xf32>, tensor<4x8xf16>) {
  // expected-error@+1 {{expected the prologue to yield the element type of kept result #0, found 'f32'}}
  %y:2 = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) prologue {
    ^bb0(%a: f32):
      // expected-note@+1 {{yielded here}}
      tracea.yield %a, %a : f32, f32
  } outs(%x : tensor<4x8xf32>) keeps(%e : tensor<4x8xf16>)
  return %y#0, %y#1 : tensor<4x8xf32>, tensor<4x8xf16>
}

// -----

func.func @keeps_other_shape(%x: tensor<4x8xf32>, %e: tensor<4x9xf32>) -> (tensor<4x8xf32>, tensor<4x9xf32>) {
  // expected-error@+1 {{kept result #0}}
  %y:2 = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) prologue {
    ^bb0(%a: f32):
      tracea.yield %a, %a : f32, f32
  } outs(%x : tensor<4x8xf32>) keeps(%e : tensor<4x9xf32>)
  return %y#0, %y#1 : tensor<4x8xf32>, tensor<4x9xf32>
}

// -----

func.func @memory(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{expected only elementwise operations and constants in the prologue, found 'tensor.empty'}}
  %y = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) prologue {
    ^bb0(%a: f32):
      // expected-note@+1 {{used here}}
      %e = tensor.empty() : tensor<1xf32>
      tracea.yield %a : f32
  } outs(%x : tensor<4x8xf32>)
  return %y : tensor<4x8xf32>
}
