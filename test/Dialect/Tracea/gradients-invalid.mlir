// RUN: tracea-opt %s --split-input-file --verify-diagnostics

func.func @rank(%dy: tensor<1x6x4xf32>, %w: tensor<4x3x3x4xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d_dgrad' op expected the gradient to have rank 4, found 3}}
  %0 = tracea.conv2d_dgrad layout nhwc filter krsc ins(%dy, %w : tensor<1x6x4xf32>, tensor<4x3x3x4xf32>) outs(%d : tensor<1x8x8x4xf32>)
  return
}

// -----

func.func @height(%dy: tensor<1x5x6x4xf32>, %w: tensor<4x3x3x4xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d_dgrad' op expected the gradient to have height 6 (result 8, pads 0 and 0, filter 3, stride 1, dilation 1), found 5}}
  %0 = tracea.conv2d_dgrad layout nhwc filter krsc ins(%dy, %w : tensor<1x5x6x4xf32>, tensor<4x3x3x4xf32>) outs(%d : tensor<1x8x8x4xf32>)
  return
}

// -----

func.func @channels(%dy: tensor<1x6x6x5xf32>, %w: tensor<4x3x3x4xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d_dgrad' op expected the gradient to have output channels = 4 as the filter has, found 5}}
  %0 = tracea.conv2d_dgrad layout nhwc filter krsc ins(%dy, %w : tensor<1x6x6x5xf32>, tensor<4x3x3x4xf32>) outs(%d : tensor<1x8x8x4xf32>)
  return
}

// -----

func.func @inputs(%dy: tensor<1x6x6x4xf32>, %w: tensor<4x3x3x3xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d_dgrad' op expected the filter to have 4 input channels (4 in 1 group), found 3}}
  %0 = tracea.conv2d_dgrad layout nhwc filter krsc ins(%dy, %w : tensor<1x6x6x4xf32>, tensor<4x3x3x3xf32>) outs(%d : tensor<1x8x8x4xf32>)
  return
}

// -----

func.func @groups(%dy: tensor<1x6x6x4xf32>, %w: tensor<4x3x3x1xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d_dgrad' op expected 'groups' to divide the 4 channels of the result, found 3}}
  %0 = tracea.conv2d_dgrad layout nhwc filter krsc groups 3 ins(%dy, %w : tensor<1x6x6x4xf32>, tensor<4x3x3x1xf32>) outs(%d : tensor<1x8x8x4xf32>)
  return
}

// -----

func.func @strides(%dy: tensor<1x6x6x4xf32>, %w: tensor<4x3x3x4xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d_dgrad' op expected entries of 'strides' in [1, 2^31), found 0}}
  %0 = tracea.conv2d_dgrad layout nhwc filter krsc strides [0, 1] ins(%dy, %w : tensor<1x6x6x4xf32>, tensor<4x3x3x4xf32>) outs(%d : tensor<1x8x8x4xf32>)
  return
}

// -----

func.func @types(%dy: tensor<1x6x6x4xf16>, %w: tensor<4x3x3x4xf32>, %d: tensor<1x8x8x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d_dgrad' op expected the filter to have elements of type 'f16' as the gradient has, found 'f32'}}
  %0 = tracea.conv2d_dgrad layout nhwc filter krsc ins(%dy, %w : tensor<1x6x6x4xf16>, tensor<4x3x3x4xf32>) outs(%d : tensor<1x8x8x4xf32>)
  return
}

// -----

func.func @batch(%x: tensor<1x8x8x4xf32>, %dy: tensor<2x6x6x4xf32>, %d: tensor<4x3x3x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d_wgrad' op expected the gradient to have batch = 1 as the image has, found 2}}
  %0 = tracea.conv2d_wgrad layout nhwc filter krsc ins(%x, %dy : tensor<1x8x8x4xf32>, tensor<2x6x6x4xf32>) outs(%d : tensor<4x3x3x4xf32>)
  return
}

// -----

func.func @width(%x: tensor<1x8x8x4xf32>, %dy: tensor<1x6x5x4xf32>, %d: tensor<4x3x3x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d_wgrad' op expected the gradient to have width 6 (image 8, pads 0 and 0, result 3, stride 1, dilation 1), found 5}}
  %0 = tracea.conv2d_wgrad layout nhwc filter krsc ins(%x, %dy : tensor<1x8x8x4xf32>, tensor<1x6x5x4xf32>) outs(%d : tensor<4x3x3x4xf32>)
  return
}

// -----

func.func @result(%x: tensor<1x8x8x4xf32>, %dy: tensor<1x6x6x4xf32>, %d: tensor<5x3x3x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d_wgrad' op expected the gradient to have output channels = 5 as the result has, found 4}}
  %0 = tracea.conv2d_wgrad layout nhwc filter krsc ins(%x, %dy : tensor<1x8x8x4xf32>, tensor<1x6x6x4xf32>) outs(%d : tensor<5x3x3x4xf32>)
  return
}

// -----

func.func @taps(%x: tensor<1x8x8x4xf32>, %dy: tensor<1x6x9x4xf32>, %d: tensor<4x3x0x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d_wgrad' op expected the result of width 1 or more, found 0}}
  %0 = tracea.conv2d_wgrad layout nhwc filter krsc ins(%x, %dy : tensor<1x8x8x4xf32>, tensor<1x6x9x4xf32>) outs(%d : tensor<4x3x0x4xf32>)
  return
}

// -----

func.func @elements(%x: tensor<1x8x8x4xbf16>, %dy: tensor<1x6x6x4xf32>, %d: tensor<4x3x3x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d_wgrad' op expected the gradient to have elements of type 'bf16' as the image has, found 'f32'}}
  %0 = tracea.conv2d_wgrad layout nhwc filter krsc ins(%x, %dy : tensor<1x8x8x4xbf16>, tensor<1x6x6x4xf32>) outs(%d : tensor<4x3x3x4xf32>)
  return
}
