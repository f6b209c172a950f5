// RUN: tracea-opt %s --tracea-select-schedule="target=sm_80" --split-input-file --verify-diagnostics

func.func @taps(%x: tensor<2x8x8x32xf16>, %w: tensor<32x?x3x32xf16>, %d: tensor<2x6x6x32xf16>) -> tensor<2x6x6x32xf16> {
  // expected-error @below {{'tracea.conv2d' op has no variant for target 'sm_80'}}
  // expected-note @below {{variant 'conv2d.warp' is refused: expected a filter whose height and width are known}}
  // expected-note @below {{variant 'conv2d.tf32x3' is refused: expected a filter whose height and width are known}}
  // expected-note @below {{variant 'conv2d.simt' is refused: expected a filter whose height and width are known}}
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<2x8x8x32xf16>, tensor<32x?x3x32xf16>) outs(%d : tensor<2x6x6x32xf16>)
  return %0 : tensor<2x6x6x32xf16>
}

// -----

func.func @groups(%x: tensor<2x8x8x?xf16>, %w: tensor<32x3x3x?xf16>, %d: tensor<2x6x6x32xf16>) -> tensor<2x6x6x32xf16> {
  // expected-error @below {{'tracea.conv2d' op has no variant for target 'sm_80'}}
  // expected-note @below {{variant 'conv2d.warp' is refused: expected groups whose channels and filters are known}}
  // expected-note @below {{variant 'conv2d.tf32x3' is refused: expected groups whose channels and filters are known}}
  // expected-note @below {{variant 'conv2d.simt' is refused: expected groups whose channels and filters are known}}
  %0 = tracea.conv2d layout nhwc filter krsc groups 4 ins(%x, %w : tensor<2x8x8x?xf16>, tensor<32x3x3x?xf16>) outs(%d : tensor<2x6x6x32xf16>)
  return %0 : tensor<2x6x6x32xf16>
}
