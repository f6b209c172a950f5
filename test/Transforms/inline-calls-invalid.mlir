// RUN: tracea-opt %s --split-input-file --verify-diagnostics --tracea-inline-calls

func.func @recursive(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{calls 'recursive' recursively; a program has no call stack}}
  %y = call @recursive(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @external(tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{calls 'external', which has no body; expected a function of this module}}
  %y = call @external(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @branchy(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^next
^next:
  return %x : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{calls 'branchy', whose body is not a single block; expected structured control flow}}
  %y = call @branchy(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
