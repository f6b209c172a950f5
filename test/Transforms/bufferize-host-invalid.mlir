// RUN: tracea-opt %s --split-input-file --verify-diagnostics --tracea-bufferize-host

func.func private @callee(tensor<4xf32>) -> tensor<4xf32>
func.func @call(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'func.call' of @callee has no place in a program; expected calls to have been inlined (tracea-inline-calls)}}
  %y = call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
