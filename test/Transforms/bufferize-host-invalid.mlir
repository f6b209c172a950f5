// RUN: tracea-opt %s --split-input-file --verify-diagnostics --tracea-bufferize-host

func.func private @callee(tensor<4xf32>) -> tensor<4xf32>
func.func @call(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'func.call' of @callee has no place in a program; expected calls to have been inlined (tracea-inline-calls)}}
  %y = call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @scatter(%x: tensor<2xf32>, %y: tensor<8xf32>, %i: tensor<2x1xindex>) -> tensor<8xf32> {
  // expected-error @below {{'tensor.scatter' op computes on tensors and has no lowering; expected operations of tracea or linalg, or elementwise ones of arith and math}}
  %0 = tensor.scatter %x into %y[%i] scatter_dims([0]) unique : (tensor<2xf32>, tensor<8xf32>, tensor<2x1xindex>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
