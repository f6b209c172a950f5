// RUN: tracea-opt %s -split-input-file --tracea-expand-dgrad --verify-diagnostics

func.func @taps(%dy: tensor<1x6x6x4xf32>, %w: tensor<4x?x3x4xf32>, %d: tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> {
  // expected-error @+1 {{'tracea.conv2d_dgrad' op expects a filter of static height and width, found 'tensor<4x?x3x4xf32>'}}
  %0 = tracea.conv2d_dgrad layout nhwc filter krsc ins(%dy, %w : tensor<1x6x6x4xf32>, tensor<4x?x3x4xf32>) outs(%d : tensor<1x8x8x4xf32>)
  return %0 : tensor<1x8x8x4xf32>
}

// -----

func.func @scheduled(%dy: tensor<1x6x6x4xf32>, %w: tensor<4x3x3x4xf32>, %d: tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> {
  // expected-error @+1 {{'tracea.conv2d_dgrad' op becomes convolutions, each of which has a schedule of its own; found one for all}}
  %0 = tracea.conv2d_dgrad layout nhwc filter krsc ins(%dy, %w : tensor<1x6x6x4xf32>, tensor<4x3x3x4xf32>) outs(%d : tensor<1x8x8x4xf32>) schedule <variant = "linalg", unit = vector>
  return %0 : tensor<1x8x8x4xf32>
}
