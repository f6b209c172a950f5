// What the verifier and the parser refuse of finishes.
// RUN: tracea-opt %s --split-input-file --verify-diagnostics

func.func @no_region(%x: tensor<4x8xf32>, %e: tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  // expected-error@+1 {{expected no results of rows without a finish, found 1}}
  %y:2 = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>) rows(%e : tensor<4xf32>)
  return %y#0, %y#1 : tensor<4x8xf32>, tensor<4xf32>
}

// -----

func.func @kinds_alone(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{expected no reductions without a finish, found 1}}
  %y = "tracea.softmax"(%x, %x) <{dim = 1 : i64, finish_kinds = [#tracea.reduction_kind<max>], operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>}> ({
  }, {
  }, {
  }) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @no_kinds(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{expected a finish with one reduction or more, found none}}
  %y = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>) epilogue {
    ^bb0(%acc: f32):
      tracea.yield %acc : f32
  } finish [] {
    ^bb0(%v: f32):
      tracea.yield %v : f32
  }
  return %y : tensor<4x8xf32>
}

// -----

func.func @other_kind(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{expected 'add', 'max' or 'min', found 'none'}}
  %y = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>) finish [none] {
    ^bb0(%v: f32):
      tracea.yield %v : f32
  }
  return %y : tensor<4x8xf32>
}

// -----

func.func @no_epilogue(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{expected an epilogue, which yields what the finish reduces}}
  %y = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>) finish [max] {
    ^bb0(%v: f32, %m: f32):
      tracea.yield %v : f32
  }
  return %y : tensor<4x8xf32>
}

// -----

func.func @yields_too_few(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{expected the epilogue to yield 2 scalars, the element and one per reduction of the finish, found 1}}
  %y = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>) epilogue {
    ^bb0(%acc: f32):
      // expected-note@+1 {{yielded here}}
      tracea.yield %acc : f32
  } finish [max] {
    ^bb0(%v: f32, %m: f32):
      tracea.yield %v : f32
  }
  return %y : tensor<4x8xf32>
}

// -----

func.func @narrow(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{expected the epilogue to yield a number of 32 bits or more to be reduced, found 'f16'}}
  %y = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>) epilogue {
    ^bb0(%acc: f32):
      %n = arith.truncf %acc : f32 to f16
      // expected-note@+1 {{yielded here}}
      tracea.yield %acc, %n : f32, f16
  } finish [max] {
    ^bb0(%v: f32, %m: f16):
      tracea.yield %v : f32
  }
  return %y : tensor<4x8xf32>
}

// -----

func.func @missing_argument(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{expected the finish to take 2 arguments, the element and one per reduction, found 1}}
  %y = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>) epilogue {
    ^bb0(%acc: f32):
      tracea.yield %acc, %acc : f32, f32
  } finish [max] {
    ^bb0(%v: f32):
      tracea.yield %v : f32
  }
  return %y : tensor<4x8xf32>
}

// -----

func.func @argument(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{expected argument #1 of the finish to be 'f32', as the epilogue yields it, found 'f64'}}
  %y = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>) epilogue {
    ^bb0(%acc: f32):
      tracea.yield %acc, %acc : f32, f32
  } finish [max] {
    ^bb0(%v: f32, %m: f64):
      tracea.yield %v : f32
  }
  return %y : tensor<4x8xf32>
}

// -----

func.func @rows_missing(%x: tensor<4x8xf32>, %e: tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  // expected-error@+1 {{expected the finish to yield 2 scalars, the element and one per result of rows, found 1}}
  %y:2 = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>) rows(%e : tensor<4xf32>) epilogue {
    ^bb0(%acc: f32):
      tracea.yield %acc, %acc : f32, f32
  } finish [max] {
    ^bb0(%v: f32, %m: f32):
      // expected-note@+1 {{yielded here}}
      tracea.yield %v : f32
  }
  return %y#0, %y#1 : tensor<4x8xf32>, tensor<4xf32>
}

// -----

func.func @element_type(%x: tensor<4x8xf32>, %d: tensor<4x8xf16>) -> tensor<4x8xf16> {
  // expected-error@+1 {{expected the finish to yield the element type of the result, found 'f32'}}
  %y = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf16>) epilogue {
    ^bb0(%acc: f32):
      tracea.yield %acc, %acc : f32, f32
  } finish [max] {
    ^bb0(%v: f32, %m: f32):
      // expected-note@+1 {{yielded here}}
      tracea.yield %v : f32
  }
  return %y : tensor<4x8xf16>
}

// -----

func.func @row_type(%x: tensor<4x8xf32>, %e: tensor<4xf16>) -> (tensor<4x8xf32>, tensor<4xf16>) {
  // expected-error@+1 {{expected the finish to yield the element type of row result #0, found 'f32'}}
  %y:2 = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>) rows(%e : tensor<4xf16>) epilogue {
    ^bb0(%acc: f32):
      tracea.yield %acc, %acc : f32, f32
  } finish [max] {
    ^bb0(%v: f32, %m: f32):
      // expected-note@+1 {{yielded here}}
      tracea.yield %v, %m : f32, f32
  }
  return %y#0, %y#1 : tensor<4x8xf32>, tensor<4xf16>
}

// -----

func.func @no_row_value(%x: tensor<4x8xf32>, %e: tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  // expected-error@+1 {{expected the finish to yield what the whole row has as row result #0, found a value that depends on the element}}
  %y:2 = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>) rows(%e : tensor<4xf32>) epilogue {
    ^bb0(%acc: f32):
      tracea.yield %acc, %acc : f32, f32
  } finish [max] {
    ^bb0(%v: f32, %m: f32):
      %s = arith.mulf %v, %m : f32
      // expected-note@+1 {{yielded here}}
      tracea.yield %v, %s : f32, f32
  }
  return %y#0, %y#1 : tensor<4x8xf32>, tensor<4xf32>
}

// -----

func.func @row_rank(%x: tensor<4x8xf32>, %e: tensor<4x1xf32>) -> (tensor<4x8xf32>, tensor<4x1xf32>) {
  // expected-error@+1 {{row result #0}}
  %y:2 = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>) rows(%e : tensor<4x1xf32>) epilogue {
    ^bb0(%acc: f32):
      tracea.yield %acc, %acc : f32, f32
  } finish [max] {
    ^bb0(%v: f32, %m: f32):
      tracea.yield %v, %m : f32, f32
  }
  return %y#0, %y#1 : tensor<4x8xf32>, tensor<4x1xf32>
}

// -----

func.func @row_extent(%x: tensor<4x8xf32>, %e: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>) {
  // expected-error@+1 {{row result #0}}
  %y:2 = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>) rows(%e : tensor<8xf32>) epilogue {
    ^bb0(%acc: f32):
      tracea.yield %acc, %acc : f32, f32
  } finish [max] {
    ^bb0(%v: f32, %m: f32):
      tracea.yield %v, %m : f32, f32
  }
  return %y#0, %y#1 : tensor<4x8xf32>, tensor<8xf32>
}

// -----

func.func @memory(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error@+1 {{expected only elementwise operations and constants in the finish, found 'tensor.empty'}}
  %y = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>) epilogue {
    ^bb0(%acc: f32):
      tracea.yield %acc, %acc : f32, f32
  } finish [max] {
    ^bb0(%v: f32, %m: f32):
      // expected-note@+1 {{used here}}
      %e = tensor.empty() : tensor<1xf32>
      tracea.yield %v : f32
  }
  return %y : tensor<4x8xf32>
}
