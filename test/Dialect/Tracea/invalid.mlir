// RUN: tracea-opt %s --split-input-file --verify-diagnostics

//===----------------------------------------------------------------------===//
// gemm: ranks
//===----------------------------------------------------------------------===//

func.func @gemm_vector(%a: tensor<8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected lhs and rhs of rank 2 or more, found 1 and 2}}
  %0 = tracea.gemm ins(%a, %b : tensor<8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>)
  return
}

// -----

func.func @gemm_lhs_rank(%a: tensor<2x4x8xf32>, %b: tensor<2x2x8x4xf32>, %d: tensor<2x2x4x4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected lhs to have rank 4 or 2, found 3}}
  %0 = tracea.gemm ins(%a, %b : tensor<2x4x8xf32>, tensor<2x2x8x4xf32>) outs(%d : tensor<2x2x4x4xf32>)
  return
}

// -----

func.func @gemm_rhs_rank(%a: tensor<2x2x4x8xf32>, %b: tensor<2x8x4xf32>, %d: tensor<2x2x4x4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected rhs to have rank 4 or 2, found 3}}
  %0 = tracea.gemm ins(%a, %b : tensor<2x2x4x8xf32>, tensor<2x8x4xf32>) outs(%d : tensor<2x2x4x4xf32>)
  return
}

// -----

func.func @gemm_result_rank(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<1x4x4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected the result to have rank 2, found 3}}
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<1x4x4xf32>)
  return
}

// -----

//===----------------------------------------------------------------------===//
// gemm: element types
//===----------------------------------------------------------------------===//

func.func @gemm_mixed(%a: tensor<4x8xf16>, %b: tensor<8x4xbf16>, %d: tensor<4x4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected rhs to have elements of type 'f16' as lhs has, found 'bf16'}}
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf16>, tensor<8x4xbf16>) outs(%d : tensor<4x4xf32>)
  return
}

// -----

func.func @gemm_i16(%a: tensor<4x8xi16>, %b: tensor<8x4xi16>, %d: tensor<4x4xi32>) {
  // expected-error @+1 {{'tracea.gemm' op expected operands that are neither i8 nor 8-bit floats to have elements of type f64, f32, f16 or bf16, found 'i16'}}
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xi16>, tensor<8x4xi16>) outs(%d : tensor<4x4xi32>)
  return
}

// -----

func.func @gemm_acc_narrow(%a: tensor<4x8xf16>, %b: tensor<8x4xf16>, %d: tensor<4x4xf16>) {
  // expected-error @+1 {{'tracea.gemm' op expected an accumulator of type f32 or f64 for elements of type 'f16', found 'f16'}}
  %0 = tracea.gemm acc f16 ins(%a, %b : tensor<4x8xf16>, tensor<8x4xf16>) outs(%d : tensor<4x4xf16>)
  return
}

// -----

func.func @gemm_acc_f64(%a: tensor<4x8xf64>, %b: tensor<8x4xf64>, %d: tensor<4x4xf64>) {
  // expected-error @+1 {{'tracea.gemm' op expected an accumulator of type f64 for elements of type 'f64', found 'f32'}}
  %0 = tracea.gemm acc f32 ins(%a, %b : tensor<4x8xf64>, tensor<8x4xf64>) outs(%d : tensor<4x4xf64>)
  return
}

// -----

func.func @gemm_acc_i8(%a: tensor<4x8xi8>, %b: tensor<8x4xi8>, %d: tensor<4x4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected an accumulator of type i32 for elements of type 'i8', found 'f32'}}
  %0 = tracea.gemm acc f32 ins(%a, %b : tensor<4x8xi8>, tensor<8x4xi8>) outs(%d : tensor<4x4xf32>)
  return
}

// -----

func.func @gemm_result_narrow(%a: tensor<4x8xi8>, %b: tensor<8x4xi8>, %d: tensor<4x4xi8>) {
  // expected-error @+1 {{'tracea.gemm' op expected an epilogue or a result that an accumulator of type 'i32' converts to, found 'i8'}}
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xi8>, tensor<8x4xi8>) outs(%d : tensor<4x4xi8>)
  return
}

// -----

func.func @gemm_result_integer(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xi32>) {
  // expected-error @+1 {{'tracea.gemm' op expected an epilogue or a result that an accumulator of type 'f32' converts to, found 'i32'}}
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xi32>)
  return
}

// -----

//===----------------------------------------------------------------------===//
// gemm: extents
//===----------------------------------------------------------------------===//

func.func @gemm_k(%a: tensor<4x8xf32>, %b: tensor<9x4xf32>, %d: tensor<4x4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected rhs to have k = 8 as lhs has, found 9}}
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<9x4xf32>) outs(%d : tensor<4x4xf32>)
  return
}

// -----

func.func @gemm_k_transposed(%a: tensor<8x4xf32>, %b: tensor<4x9xf32>, %d: tensor<4x4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected rhs to have k = 8 as lhs has, found 9}}
  %0 = tracea.gemm transpose_lhs transpose_rhs ins(%a, %b : tensor<8x4xf32>, tensor<4x9xf32>) outs(%d : tensor<4x4xf32>)
  return
}

// -----

func.func @gemm_m(%a: tensor<5x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected the result to have m = 5 as lhs has, found 4}}
  %0 = tracea.gemm ins(%a, %b : tensor<5x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>)
  return
}

// -----

func.func @gemm_n(%a: tensor<4x?xf32>, %b: tensor<?x6xf32>, %d: tensor<?x4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected the result to have n = 6 as rhs has, found 4}}
  %0 = tracea.gemm ins(%a, %b : tensor<4x?xf32>, tensor<?x6xf32>) outs(%d : tensor<?x4xf32>)
  return
}

// -----

func.func @gemm_batch_lhs(%a: tensor<3x4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<2x4x4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected lhs to have batch dimension 0 = 2 as the result has, found 3}}
  %0 = tracea.gemm ins(%a, %b : tensor<3x4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<2x4x4xf32>)
  return
}

// -----

func.func @gemm_batch_rhs(%a: tensor<4x8xf32>, %b: tensor<2x3x8x4xf32>, %d: tensor<2x2x4x4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected rhs to have batch dimension 1 = 2 as the result has, found 3}}
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<2x3x8x4xf32>) outs(%d : tensor<2x2x4x4xf32>)
  return
}

// -----

func.func @gemm_batch_both(%a: tensor<2x4x8xf32>, %b: tensor<3x8x4xf32>, %d: tensor<?x4x4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected rhs to have batch dimension 0 = 2 as lhs has, found 3}}
  %0 = tracea.gemm ins(%a, %b : tensor<2x4x8xf32>, tensor<3x8x4xf32>) outs(%d : tensor<?x4x4xf32>)
  return
}

// -----

// The result is the destination.
func.func @gemm_destination(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected type of operand #2 ('tensor<4x4xf32>') to match type of corresponding result ('tensor<4x5xf32>')}}
  %0 = "tracea.gemm"(%a, %b, %d) <{operandSegmentSizes = array<i32: 1, 1, 0, 1, 0>}> ({}) : (tensor<4x8xf32>, tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<4x5xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// conv2d
//===----------------------------------------------------------------------===//

func.func @conv_image_rank(%x: tensor<8x8x4xf32>, %w: tensor<4x3x3x4xf32>, %d: tensor<1x6x6x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d' op expected the image to have rank 4, found 3}}
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<8x8x4xf32>, tensor<4x3x3x4xf32>) outs(%d : tensor<1x6x6x4xf32>)
  return
}

// -----

func.func @conv_filter_rank(%x: tensor<1x8x8x4xf32>, %w: tensor<3x3x4xf32>, %d: tensor<1x6x6x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d' op expected the filter to have rank 4, found 3}}
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x8x8x4xf32>, tensor<3x3x4xf32>) outs(%d : tensor<1x6x6x4xf32>)
  return
}

// -----

func.func @conv_result_rank(%x: tensor<1x8x8x4xf32>, %w: tensor<4x3x3x4xf32>, %d: tensor<6x6x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d' op expected the result to have rank 4, found 3}}
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x8x8x4xf32>, tensor<4x3x3x4xf32>) outs(%d : tensor<6x6x4xf32>)
  return
}

// -----

func.func @conv_strides_count(%x: tensor<1x8x8x4xf32>, %w: tensor<4x3x3x4xf32>, %d: tensor<1x6x6x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d' op expected 2 entries in 'strides', found 3}}
  %0 = tracea.conv2d layout nhwc filter krsc strides [1, 1, 1] ins(%x, %w : tensor<1x8x8x4xf32>, tensor<4x3x3x4xf32>) outs(%d : tensor<1x6x6x4xf32>)
  return
}

// -----

func.func @conv_stride_zero(%x: tensor<1x8x8x4xf32>, %w: tensor<4x3x3x4xf32>, %d: tensor<1x6x6x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d' op expected entries of 'strides' in [1, 2^31), found 0}}
  %0 = tracea.conv2d layout nhwc filter krsc strides [1, 0] ins(%x, %w : tensor<1x8x8x4xf32>, tensor<4x3x3x4xf32>) outs(%d : tensor<1x6x6x4xf32>)
  return
}

// -----

func.func @conv_pads_count(%x: tensor<1x8x8x4xf32>, %w: tensor<4x3x3x4xf32>, %d: tensor<1x6x6x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d' op expected 4 entries in 'pads', found 2}}
  %0 = tracea.conv2d layout nhwc filter krsc pads [1, 1] ins(%x, %w : tensor<1x8x8x4xf32>, tensor<4x3x3x4xf32>) outs(%d : tensor<1x6x6x4xf32>)
  return
}

// -----

func.func @conv_pad_negative(%x: tensor<1x8x8x4xf32>, %w: tensor<4x3x3x4xf32>, %d: tensor<1x6x6x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d' op expected entries of 'pads' in [0, 2^31), found -1}}
  %0 = tracea.conv2d layout nhwc filter krsc pads [0, 0, -1, 0] ins(%x, %w : tensor<1x8x8x4xf32>, tensor<4x3x3x4xf32>) outs(%d : tensor<1x6x6x4xf32>)
  return
}

// -----

func.func @conv_dilations_count(%x: tensor<1x8x8x4xf32>, %w: tensor<4x3x3x4xf32>, %d: tensor<1x6x6x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d' op expected 2 entries in 'dilations', found 1}}
  %0 = tracea.conv2d layout nhwc filter krsc dilations [1] ins(%x, %w : tensor<1x8x8x4xf32>, tensor<4x3x3x4xf32>) outs(%d : tensor<1x6x6x4xf32>)
  return
}

// -----

func.func @conv_dilation_huge(%x: tensor<1x8x8x4xf32>, %w: tensor<4x3x3x4xf32>, %d: tensor<1x6x6x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d' op expected entries of 'dilations' in [1, 2^31), found 2147483648}}
  %0 = tracea.conv2d layout nhwc filter krsc dilations [2147483648, 1] ins(%x, %w : tensor<1x8x8x4xf32>, tensor<4x3x3x4xf32>) outs(%d : tensor<1x6x6x4xf32>)
  return
}

// -----

func.func @conv_mixed(%x: tensor<1x8x8x4xf32>, %w: tensor<4x3x3x4xf16>, %d: tensor<1x6x6x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d' op expected the filter to have elements of type 'f32' as the image has, found 'f16'}}
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x8x8x4xf32>, tensor<4x3x3x4xf16>) outs(%d : tensor<1x6x6x4xf32>)
  return
}

// -----

func.func @conv_integer(%x: tensor<1x8x8x4xi32>, %w: tensor<4x3x3x4xi32>, %d: tensor<1x6x6x4xi32>) {
  // expected-error @+1 {{'tracea.conv2d' op expected operands that are not i8 to have elements of type f64, f32, f16 or bf16, found 'i32'}}
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x8x8x4xi32>, tensor<4x3x3x4xi32>) outs(%d : tensor<1x6x6x4xi32>)
  return
}

// -----

func.func @conv_acc(%x: tensor<1x8x8x4xbf16>, %w: tensor<4x3x3x4xbf16>, %d: tensor<1x6x6x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d' op expected an accumulator of type f32 or f64 for elements of type 'bf16', found 'bf16'}}
  %0 = tracea.conv2d layout nhwc filter krsc acc bf16 ins(%x, %w : tensor<1x8x8x4xbf16>, tensor<4x3x3x4xbf16>) outs(%d : tensor<1x6x6x4xf32>)
  return
}

// -----

func.func @conv_batch(%x: tensor<1x8x8x4xf32>, %w: tensor<4x3x3x4xf32>, %d: tensor<2x6x6x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d' op expected the result to have batch = 1 as the image has, found 2}}
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x8x8x4xf32>, tensor<4x3x3x4xf32>) outs(%d : tensor<2x6x6x4xf32>)
  return
}

// -----

func.func @conv_groups_zero(%x: tensor<1x8x8x4xf32>, %w: tensor<4x3x3x4xf32>, %d: tensor<1x6x6x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d' op expected 'groups' of at least 1, found 0}}
  %0 = tracea.conv2d layout nhwc filter krsc groups 0 ins(%x, %w : tensor<1x8x8x4xf32>, tensor<4x3x3x4xf32>) outs(%d : tensor<1x6x6x4xf32>)
  return
}

// -----

func.func @conv_groups_in(%x: tensor<1x8x8x4xf32>, %w: tensor<6x3x3x1xf32>, %d: tensor<1x6x6x6xf32>) {
  // expected-error @+1 {{'tracea.conv2d' op expected 'groups' to divide the 4 channels of the image, found 3}}
  %0 = tracea.conv2d layout nhwc filter krsc groups 3 ins(%x, %w : tensor<1x8x8x4xf32>, tensor<6x3x3x1xf32>) outs(%d : tensor<1x6x6x6xf32>)
  return
}

// -----

func.func @conv_groups_out(%x: tensor<1x8x8x4xf32>, %w: tensor<5x3x3x2xf32>, %d: tensor<1x6x6x5xf32>) {
  // expected-error @+1 {{'tracea.conv2d' op expected 'groups' to divide the 5 output channels, found 2}}
  %0 = tracea.conv2d layout nhwc filter krsc groups 2 ins(%x, %w : tensor<1x8x8x4xf32>, tensor<5x3x3x2xf32>) outs(%d : tensor<1x6x6x5xf32>)
  return
}

// -----

func.func @conv_channels(%x: tensor<1x8x8x4xf32>, %w: tensor<4x3x3x3xf32>, %d: tensor<1x6x6x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d' op expected the filter to have 4 input channels (4 in 1 group), found 3}}
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x8x8x4xf32>, tensor<4x3x3x3xf32>) outs(%d : tensor<1x6x6x4xf32>)
  return
}

// -----

func.func @conv_channels_grouped(%x: tensor<1x4x8x8xf32>, %w: tensor<3x3x4x4xf32>, %d: tensor<1x4x6x6xf32>) {
  // expected-error @+1 {{'tracea.conv2d' op expected the filter to have 2 input channels (4 in 2 groups), found 4}}
  %0 = tracea.conv2d layout nchw filter rsck groups 2 ins(%x, %w : tensor<1x4x8x8xf32>, tensor<3x3x4x4xf32>) outs(%d : tensor<1x4x6x6xf32>)
  return
}

// -----

func.func @conv_out_channels(%x: tensor<1x8x8x4xf32>, %w: tensor<4x3x3x4xf32>, %d: tensor<1x6x6x5xf32>) {
  // expected-error @+1 {{'tracea.conv2d' op expected the result to have output channels = 4 as the filter has, found 5}}
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x8x8x4xf32>, tensor<4x3x3x4xf32>) outs(%d : tensor<1x6x6x5xf32>)
  return
}

// -----

func.func @conv_no_taps(%x: tensor<1x8x8x4xf32>, %w: tensor<4x0x3x4xf32>, %d: tensor<1x9x6x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d' op expected a filter of height 1 or more, found 0}}
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x8x8x4xf32>, tensor<4x0x3x4xf32>) outs(%d : tensor<1x9x6x4xf32>)
  return
}

// -----

func.func @conv_height(%x: tensor<1x9x8x4xf32>, %w: tensor<4x3x3x4xf32>, %d: tensor<1x6x8x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d' op expected the result to have height 5 (image 9, pads 1 and 2, filter 3, stride 2, dilation 1), found 6}}
  %0 = tracea.conv2d layout nhwc filter krsc strides [2, 1] pads [1, 1, 2, 1] ins(%x, %w : tensor<1x9x8x4xf32>, tensor<4x3x3x4xf32>) outs(%d : tensor<1x6x8x4xf32>)
  return
}

// -----

func.func @conv_width(%x: tensor<?x4x?x9xf32>, %w: tensor<4x4x?x3xf32>, %d: tensor<?x4x?x9xf32>) {
  // expected-error @+1 {{'tracea.conv2d' op expected the result to have width 5 (image 9, pads 0 and 0, filter 3, stride 1, dilation 2), found 9}}
  %0 = tracea.conv2d layout nchw filter kcrs dilations [1, 2] ins(%x, %w : tensor<?x4x?x9xf32>, tensor<4x4x?x3xf32>) outs(%d : tensor<?x4x?x9xf32>)
  return
}

// -----

func.func @conv_overflow(%x: tensor<1x9223372036854775807x8x4xf32>, %w: tensor<4x3x3x4xf32>, %d: tensor<1x6x6x4xf32>) {
  // expected-error @+1 {{'tracea.conv2d' op expected the height of the result to fit 64 bits, found image 9223372036854775807, filter 3}}
  %0 = tracea.conv2d layout nhwc filter krsc pads [1, 0, 0, 0] ins(%x, %w : tensor<1x9223372036854775807x8x4xf32>, tensor<4x3x3x4xf32>) outs(%d : tensor<1x6x6x4xf32>)
  return
}

// -----

func.func @conv_layout(%x: tensor<1x8x8x4xf32>, %w: tensor<4x3x3x4xf32>, %d: tensor<1x6x6x4xf32>) {
  // expected-error @+2 {{expected ::mlir::tracea::ImageLayout to be one of: nhwc, nchw}}
  // expected-error @+1 {{failed to parse}}
  %0 = tracea.conv2d layout chwn filter krsc ins(%x, %w : tensor<1x8x8x4xf32>, tensor<4x3x3x4xf32>) outs(%d : tensor<1x6x6x4xf32>)
  return
}

// -----

//===----------------------------------------------------------------------===//
// softmax and norms
//===----------------------------------------------------------------------===//

func.func @softmax_dim(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>) {
  // expected-error @+1 {{'tracea.softmax' op expected 'dim' in [0, 2), the dimensions of the input, found 2}}
  %0 = tracea.softmax dim 2 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>)
  return
}

// -----

func.func @softmax_dim_negative(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>) {
  // expected-error @+1 {{'tracea.softmax' op expected 'dim' in [0, 2), the dimensions of the input, found -1}}
  %0 = tracea.softmax dim -1 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>)
  return
}

// -----

func.func @softmax_integer(%x: tensor<4x8xi32>, %d: tensor<4x8xf32>) {
  // expected-error @+1 {{'tracea.softmax' op expected the input to have elements of type f64, f32, f16 or bf16, found 'i32'}}
  %0 = tracea.softmax dim 0 ins(%x : tensor<4x8xi32>) outs(%d : tensor<4x8xf32>)
  return
}

// -----

func.func @softmax_acc(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>) {
  // expected-error @+1 {{'tracea.softmax' op expected an accumulator of type f32 or f64 for elements of type 'f32', found 'f16'}}
  %0 = tracea.softmax dim 0 acc f16 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>)
  return
}

// -----

func.func @softmax_rank(%x: tensor<4x8xf32>, %d: tensor<4x8x1xf32>) {
  // expected-error @+1 {{'tracea.softmax' op expected the result to have rank 2, found 3}}
  %0 = tracea.softmax dim 0 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8x1xf32>)
  return
}

// -----

func.func @softmax_shape(%x: tensor<?x8xf32>, %d: tensor<4x9xf32>) {
  // expected-error @+1 {{'tracea.softmax' op expected the result to have dimension 1 = 8 as the input has, found 9}}
  %0 = tracea.softmax dim 0 ins(%x : tensor<?x8xf32>) outs(%d : tensor<4x9xf32>)
  return
}

// -----

func.func @softmax_result(%x: tensor<4x8xf32>, %d: tensor<4x8xi8>) {
  // expected-error @+1 {{'tracea.softmax' op expected an epilogue or a result that an accumulator of type 'f32' converts to, found 'i8'}}
  %0 = tracea.softmax dim 0 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xi8>)
  return
}

// -----

func.func @batch_norm_axis(%x: tensor<4x8xf32>, %p: tensor<8xf32>, %d: tensor<4x8xf32>) {
  // expected-error @+1 {{'tracea.batch_norm' op expected 'axis' in [0, 2), the dimensions of the input, found 2}}
  %0 = tracea.batch_norm axis 2 epsilon 0.0 ins(%x, %p, %p, %p, %p : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%d : tensor<4x8xf32>)
  return
}

// -----

func.func @batch_norm_epsilon(%x: tensor<4x8xf32>, %p: tensor<8xf32>, %d: tensor<4x8xf32>) {
  // expected-error @+1 {{'tracea.batch_norm' op expected a finite 'epsilon' of at least 0, found -1}}
  %0 = tracea.batch_norm axis 1 epsilon -1.0 ins(%x, %p, %p, %p, %p : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%d : tensor<4x8xf32>)
  return
}

// -----

func.func @batch_norm_scale_shape(%x: tensor<4x8xf32>, %p: tensor<8xf32>, %q: tensor<4xf32>, %d: tensor<4x8xf32>) {
  // expected-error @+1 {{'tracea.batch_norm' op expected scale to have dimension 0 = 8 as the input's normalized part has, found 4}}
  %0 = tracea.batch_norm axis 1 epsilon 0.0 ins(%x, %q, %p, %p, %p : tensor<4x8xf32>, tensor<4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%d : tensor<4x8xf32>)
  return
}

// -----

func.func @batch_norm_bias_rank(%x: tensor<4x8xf32>, %p: tensor<8xf32>, %q: tensor<8x1xf32>, %d: tensor<4x8xf32>) {
  // expected-error @+1 {{'tracea.batch_norm' op expected bias to have rank 1, found 2}}
  %0 = tracea.batch_norm axis 1 epsilon 0.0 ins(%x, %p, %q, %p, %p : tensor<4x8xf32>, tensor<8xf32>, tensor<8x1xf32>, tensor<8xf32>, tensor<8xf32>) outs(%d : tensor<4x8xf32>)
  return
}

// -----

func.func @batch_norm_mean_type(%x: tensor<4x8xf32>, %p: tensor<8xf32>, %q: tensor<8xi32>, %d: tensor<4x8xf32>) {
  // expected-error @+1 {{'tracea.batch_norm' op expected mean to have elements of type f64, f32, f16 or bf16, found 'i32'}}
  %0 = tracea.batch_norm axis 1 epsilon 0.0 ins(%x, %p, %p, %q, %p : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xi32>, tensor<8xf32>) outs(%d : tensor<4x8xf32>)
  return
}

// -----

func.func @batch_norm_variance_shape(%x: tensor<4x8xf32>, %p: tensor<8xf32>, %q: tensor<9xf32>, %d: tensor<4x8xf32>) {
  // expected-error @+1 {{'tracea.batch_norm' op expected variance to have dimension 0 = 8 as the input's normalized part has, found 9}}
  %0 = tracea.batch_norm axis 1 epsilon 0.0 ins(%x, %p, %p, %p, %q : tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<9xf32>) outs(%d : tensor<4x8xf32>)
  return
}

// -----

func.func @layer_norm_axis(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>) {
  // expected-error @+1 {{'tracea.layer_norm' op expected 'axis' in [0, 2), the dimensions of the input, found -1}}
  %0 = tracea.layer_norm axis -1 epsilon 0.0 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>)
  return
}

// -----

func.func @layer_norm_epsilon(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>) {
  // expected-error @+1 {{'tracea.layer_norm' op expected a finite 'epsilon' of at least 0, found +Inf}}
  %0 = tracea.layer_norm axis 1 epsilon 0x7FF0000000000000 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>)
  return
}

// -----

func.func @layer_norm_scale(%x: tensor<4x8x2xf32>, %p: tensor<2xf32>, %d: tensor<4x8x2xf32>) {
  // expected-error @+1 {{'tracea.layer_norm' op expected scale to have rank 2, found 1}}
  %0 = tracea.layer_norm axis 1 epsilon 0.0 ins(%x : tensor<4x8x2xf32>) scale(%p : tensor<2xf32>) outs(%d : tensor<4x8x2xf32>)
  return
}

// -----

func.func @layer_norm_bias(%x: tensor<4x8x2xf32>, %p: tensor<8x3xf32>, %d: tensor<4x8x2xf32>) {
  // expected-error @+1 {{'tracea.layer_norm' op expected bias to have dimension 1 = 2 as the input's normalized part has, found 3}}
  %0 = tracea.layer_norm axis 1 epsilon 0.0 ins(%x : tensor<4x8x2xf32>) bias(%p : tensor<8x3xf32>) outs(%d : tensor<4x8x2xf32>)
  return
}

// -----

func.func @rms_norm_axis(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>) {
  // expected-error @+1 {{'tracea.rms_norm' op expected 'axis' in [0, 2), the dimensions of the input, found 2}}
  %0 = tracea.rms_norm axis 2 epsilon 0.0 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>)
  return
}

// -----

func.func @rms_norm_epsilon(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>) {
  // expected-error @+1 {{'tracea.rms_norm' op expected a finite 'epsilon' of at least 0, found NaN}}
  %0 = tracea.rms_norm axis 1 epsilon 0x7FF8000000000000 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>)
  return
}

// -----

func.func @rms_norm_scale(%x: tensor<4x8xf32>, %p: tensor<9xf32>, %d: tensor<4x8xf32>) {
  // expected-error @+1 {{'tracea.rms_norm' op expected scale to have dimension 0 = 8 as the input's normalized part has, found 9}}
  %0 = tracea.rms_norm axis 1 epsilon 0.0 ins(%x : tensor<4x8xf32>) scale(%p : tensor<9xf32>) outs(%d : tensor<4x8xf32>)
  return
}

// -----

//===----------------------------------------------------------------------===//
// epilogues
//===----------------------------------------------------------------------===//

#n = affine_map<(m, n) -> (n)>
func.func @extras_without_region(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>, %c: tensor<4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected no extra operands without an epilogue, found 1}}
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>)
       epilogue(%c by #n : tensor<4xf32>) {}
  return
}

// -----

#n = affine_map<(m, n) -> (n)>
func.func @maps_without_region(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected no epilogue maps without an epilogue, found 1}}
  %0 = "tracea.gemm"(%a, %b, %d) <{epilogue_maps = [#n], operandSegmentSizes = array<i32: 1, 1, 0, 1, 0>}> ({}) : (tensor<4x8xf32>, tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

#n = affine_map<(m, n) -> (n)>
func.func @two_maps(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>, %c: tensor<4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected one epilogue map per extra operand, found 2 maps for 1 operands}}
  %0 = "tracea.gemm"(%a, %b, %c, %d) <{epilogue_maps = [#n, #n], operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}> ({
    ^bb0(%acc: f32, %e: f32):
      tracea.yield %acc : f32
  }) : (tensor<4x8xf32>, tensor<8x4xf32>, tensor<4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @types_count(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>, %c: tensor<4xf32>) {
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>)
       // expected-error @+1 {{expected 1 types of extra operands, found 2}}
       epilogue(%c by affine_map<(m, n) -> (n)> : tensor<4xf32>, tensor<4xf32>) {
    ^bb0(%acc: f32, %e: f32):
      tracea.yield %acc : f32
  }
  return
}

// -----

func.func @two_blocks(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected one block in the epilogue, found 2}}
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>)
       epilogue {
    ^bb0(%acc: f32):
      cf.br ^bb1
    ^bb1:
      tracea.yield %acc : f32
  }
  return
}

// -----

func.func @map_dims(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>, %c: tensor<4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected the map of extra operand #0 to take the 2 dimensions of the result, found affine_map<(d0) -> (d0)>}}
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>)
       epilogue(%c by affine_map<(n) -> (n)> : tensor<4xf32>) {
    ^bb0(%acc: f32, %e: f32):
      tracea.yield %acc : f32
  }
  return
}

// -----

func.func @map_symbols(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>, %c: tensor<4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected the map of extra operand #0 to take the 2 dimensions of the result, found affine_map<(d0, d1)[s0] -> (d1)>}}
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>)
       epilogue(%c by affine_map<(m, n)[s] -> (n)> : tensor<4xf32>) {
    ^bb0(%acc: f32, %e: f32):
      tracea.yield %acc : f32
  }
  return
}

// -----

func.func @map_results(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>, %c: tensor<4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected the map of extra operand #0 to have 1 results, the rank of the operand, found affine_map<(d0, d1) -> (d0, d1)>}}
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>)
       epilogue(%c by affine_map<(m, n) -> (m, n)> : tensor<4xf32>) {
    ^bb0(%acc: f32, %e: f32):
      tracea.yield %acc : f32
  }
  return
}

// -----

func.func @map_repeats(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected the map of extra operand #0 to use each dimension at most once, found affine_map<(d0, d1) -> (d0, d0)>}}
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>)
       epilogue(%c by affine_map<(m, n) -> (m, m)> : tensor<4x4xf32>) {
    ^bb0(%acc: f32, %e: f32):
      tracea.yield %acc : f32
  }
  return
}

// -----

func.func @map_sum(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>, %c: tensor<?xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected the map of extra operand #0 to yield dimensions of the result or 0, found affine_map<(d0, d1) -> (d0 + d1)>}}
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>)
       epilogue(%c by affine_map<(m, n) -> (m + n)> : tensor<?xf32>) {
    ^bb0(%acc: f32, %e: f32):
      tracea.yield %acc : f32
  }
  return
}

// -----

func.func @map_constant(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>, %c: tensor<4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected the map of extra operand #0 to yield dimensions of the result or 0, found affine_map<(d0, d1) -> (1)>}}
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>)
       epilogue(%c by affine_map<(m, n) -> (1)> : tensor<4xf32>) {
    ^bb0(%acc: f32, %e: f32):
      tracea.yield %acc : f32
  }
  return
}

// -----

func.func @extra_extent(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %d: tensor<4x6xf32>, %c: tensor<4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected dimension 0 of extra operand #0 to have extent 6, found 4}}
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x6xf32>) outs(%d : tensor<4x6xf32>)
       epilogue(%c by affine_map<(m, n) -> (n)> : tensor<4xf32>) {
    ^bb0(%acc: f32, %e: f32):
      tracea.yield %acc : f32
  }
  return
}

// -----

func.func @extra_broadcast(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %d: tensor<4x6xf32>, %c: tensor<4x6xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected dimension 1 of extra operand #0 to have extent 1, found 6}}
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x6xf32>) outs(%d : tensor<4x6xf32>)
       epilogue(%c by affine_map<(m, n) -> (m, 0)> : tensor<4x6xf32>) {
    ^bb0(%acc: f32, %e: f32):
      tracea.yield %acc : f32
  }
  return
}

// -----

func.func @argument_count(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>) {
  // expected-error @+1 {{'tracea.gemm' op expected the epilogue to take 1 arguments, the accumulator and one per extra operand, found 2}}
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>)
       epilogue {
    ^bb0(%acc: f32, %e: f32):
      tracea.yield %acc : f32
  }
  return
}

// -----

func.func @accumulator_type(%a: tensor<4x8xf16>, %b: tensor<8x4xf16>, %d: tensor<4x4xf16>) {
  // expected-error @+1 {{'tracea.gemm' op expected argument #0 of the epilogue to be 'f32', found 'f16'}}
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf16>, tensor<8x4xf16>) outs(%d : tensor<4x4xf16>)
       epilogue {
    ^bb0(%acc: f16):
      tracea.yield %acc : f16
  }
  return
}

// -----

func.func @extra_type(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>, %c: tensor<4xf16>) {
  // expected-error @+1 {{'tracea.gemm' op expected argument #1 of the epilogue to be 'f16', found 'f32'}}
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>)
       epilogue(%c by affine_map<(m, n) -> (n)> : tensor<4xf16>) {
    ^bb0(%acc: f32, %e: f32):
      tracea.yield %e : f32
  }
  return
}

// -----

func.func @yield_type(%x: tensor<4x8xf32>, %d: tensor<4x8xf16>) {
  // expected-error @+1 {{'tracea.softmax' op expected the epilogue to yield 'f16', the element type of the result, found 'f32'}}
  %0 = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf16>) epilogue {
    ^bb0(%acc: f32):
      // expected-note @+1 {{yielded here}}
      tracea.yield %acc : f32
  }
  return
}

// -----

func.func @no_yield(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>) {
  // expected-error @+1 {{'tracea.softmax' op expected the epilogue to end with 'tracea.yield'}}
  %0 = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>) epilogue {
    ^bb0(%acc: f32):
      llvm.unreachable
  }
  return
}

// -----

func.func @effects(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>) {
  // expected-error @+1 {{'tracea.softmax' op expected only elementwise operations and constants in the epilogue, found 'func.call'}}
  %0 = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>) epilogue {
    ^bb0(%acc: f32):
      // expected-note @+1 {{used here}}
      %0 = func.call @f(%acc) : (f32) -> f32
      tracea.yield %0 : f32
  }
  return
}
func.func private @f(f32) -> f32

// -----

func.func @vectors(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>) {
  // expected-error @+1 {{'tracea.softmax' op expected only scalars in the epilogue, found 'vector<4xf32>'}}
  %0 = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>) epilogue {
    ^bb0(%acc: f32):
      // expected-note @+1 {{defined here}}
      %0 = arith.constant dense<1.0> : vector<4xf32>
      tracea.yield %acc : f32
  }
  return
}

// -----

func.func @capture(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>, %s: f32) {
  %0 = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>) epilogue {
    ^bb0(%acc: f32):
      // expected-error @+1 {{use of undeclared SSA value name}}
      %0 = arith.mulf %acc, %s : f32
      tracea.yield %0 : f32
  }
  return
}

// -----

func.func @capture_generic(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>, %s: f32) {
  // expected-note @+1 {{required by region isolation constraints}}
  %0 = "tracea.softmax"(%x, %d) <{dim = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 1, 0, 0>}> ({}, {
    ^bb0(%acc: f32):
      // expected-error @+1 {{'arith.mulf' op using value defined outside the region}}
      %0 = arith.mulf %acc, %s : f32
      tracea.yield %0 : f32
  }, {}) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @stray_yield(%x: f32) {
  // expected-error @+1 {{'tracea.yield' op expects parent op to be one of 'tracea.gemm, tracea.grouped_gemm, tracea.conv2d, tracea.conv2d_dgrad, tracea.conv2d_wgrad, tracea.softmax, tracea.batch_norm, tracea.layer_norm, tracea.rms_norm'}}
  tracea.yield %x : f32
}

// -----

//===----------------------------------------------------------------------===//
// attention
//===----------------------------------------------------------------------===//

func.func @attention_rank(%q: tensor<4x8x16xf32>, %k: tensor<1x4x8x16xf32>, %d: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{'tracea.attention' op expected the query to have rank 4, found 3}}
  %0 = tracea.attention ins(%q, %k, %k : tensor<4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) outs(%d : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_key_rank(%q: tensor<1x4x8x16xf32>, %k: tensor<4x8x16xf32>) {
  // expected-error @+1 {{'tracea.attention' op expected the key to have rank 4, found 3}}
  %0 = tracea.attention ins(%q, %k, %q : tensor<1x4x8x16xf32>, tensor<4x8x16xf32>, tensor<1x4x8x16xf32>) outs(%q : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_value_rank(%q: tensor<1x4x8x16xf32>, %v: tensor<4x8x16xf32>) {
  // expected-error @+1 {{'tracea.attention' op expected the value to have rank 4, found 3}}
  %0 = tracea.attention ins(%q, %q, %v : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<4x8x16xf32>) outs(%q : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_result_rank(%q: tensor<1x4x8x16xf32>, %d: tensor<4x8x16xf32>) {
  // expected-error @+1 {{'tracea.attention' op expected the result to have rank 4, found 3}}
  %0 = tracea.attention ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) outs(%d : tensor<4x8x16xf32>) -> tensor<4x8x16xf32>
  return
}

// -----

func.func @attention_integer(%q: tensor<1x4x8x16xi8>) {
  // expected-error @+1 {{'tracea.attention' op expected the query to have elements of type f64, f32, f16 or bf16, found 'i8'}}
  %0 = tracea.attention ins(%q, %q, %q : tensor<1x4x8x16xi8>, tensor<1x4x8x16xi8>, tensor<1x4x8x16xi8>) outs(%q : tensor<1x4x8x16xi8>) -> tensor<1x4x8x16xi8>
  return
}

// -----

func.func @attention_mixed(%q: tensor<1x4x8x16xf32>, %v: tensor<1x4x8x16xf16>) {
  // expected-error @+1 {{'tracea.attention' op expected key and value to have elements of type 'f32' as the query has, found 'f32' and 'f16'}}
  %0 = tracea.attention ins(%q, %q, %v : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf16>) outs(%q : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_acc(%q: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{'tracea.attention' op expected an accumulator of type f32 or f64 for elements of type 'f32', found 'i32'}}
  %0 = tracea.attention acc i32 ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) outs(%q : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_scale(%q: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{'tracea.attention' op expected a finite 'scale', found infinity}}
  %0 = tracea.attention scale 0x7FF0000000000000 ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) outs(%q : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_batch(%q: tensor<1x4x8x16xf32>, %k: tensor<2x4x8x16xf32>) {
  // expected-error @+1 {{'tracea.attention' op expected the key to have batch = 1 as the query has, found 2}}
  %0 = tracea.attention ins(%q, %k, %k : tensor<1x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) outs(%q : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_depth(%q: tensor<1x4x8x16xf32>, %k: tensor<1x4x8x32xf32>) {
  // expected-error @+1 {{'tracea.attention' op expected the key to have depth = 16 as the query has, found 32}}
  %0 = tracea.attention ins(%q, %k, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x32xf32>, tensor<1x4x8x16xf32>) outs(%q : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_value(%q: tensor<1x4x8x16xf32>, %v: tensor<1x4x9x16xf32>) {
  // expected-error @+1 {{'tracea.attention' op expected the value to have dimension 2 = 8 as the key has, found 9}}
  %0 = tracea.attention ins(%q, %q, %v : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x9x16xf32>) outs(%q : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_heads(%q: tensor<1x4x8x16xf32>, %k: tensor<1x3x8x16xf32>) {
  // expected-error @+1 {{'tracea.attention' op expected the heads of the key to divide the 4 heads of the query, found 3}}
  %0 = tracea.attention ins(%q, %k, %k : tensor<1x4x8x16xf32>, tensor<1x3x8x16xf32>, tensor<1x3x8x16xf32>) outs(%q : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_no_heads(%q: tensor<1x4x8x16xf32>, %k: tensor<1x0x8x16xf32>) {
  // expected-error @+1 {{'tracea.attention' op expected the heads of the key to divide the 4 heads of the query, found 0}}
  %0 = tracea.attention ins(%q, %k, %k : tensor<1x4x8x16xf32>, tensor<1x0x8x16xf32>, tensor<1x0x8x16xf32>) outs(%q : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_window(%q: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{'tracea.attention' op expected 2 entries in 'window', found 1}}
  %0 = tracea.attention window [4] ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) outs(%q : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_block_size(%q: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{'tracea.attention' op expected no 'block_size' without a block mask}}
  %0 = tracea.attention ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) outs(%q : tensor<1x4x8x16xf32>) {block_size = array<i64: 4, 4>} -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_no_block_size(%q: tensor<1x4x8x16xf32>, %m: tensor<1x1x2x2xi1>) {
  // expected-error @+1 {{'tracea.attention' op expected 'block_size' with a block mask}}
  %0 = "tracea.attention"(%q, %q, %q, %m, %q) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 1, 0>}> : (tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x1x2x2xi1>, tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_block_count(%q: tensor<1x4x8x16xf32>, %m: tensor<1x1x2x2xi1>) {
  // expected-error @+1 {{'tracea.attention' op expected 2 entries in 'block_size', found 3}}
  %0 = tracea.attention ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>)
       block_mask(%m : tensor<1x1x2x2xi1>) block_size [4, 4, 4] outs(%q : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_block_zero(%q: tensor<1x4x8x16xf32>, %m: tensor<1x1x2x2xi1>) {
  // expected-error @+1 {{'tracea.attention' op expected entries of 'block_size' in [1, 2^31), found 0}}
  %0 = tracea.attention ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>)
       block_mask(%m : tensor<1x1x2x2xi1>) block_size [4, 0] outs(%q : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_mask_rank(%q: tensor<1x4x8x16xf32>, %m: tensor<2x2xi1>) {
  // expected-error @+1 {{'tracea.attention' op expected the block mask to have rank 4, found 2}}
  %0 = tracea.attention ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>)
       block_mask(%m : tensor<2x2xi1>) block_size [4, 4] outs(%q : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_mask_type(%q: tensor<1x4x8x16xf32>, %m: tensor<1x1x2x2xi8>) {
  // expected-error @+1 {{'tracea.attention' op expected a block mask of i1, found 'i8'}}
  %0 = tracea.attention ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>)
       block_mask(%m : tensor<1x1x2x2xi8>) block_size [4, 4] outs(%q : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_mask_heads(%q: tensor<1x4x8x16xf32>, %m: tensor<1x2x2x2xi1>) {
  // expected-error @+1 {{'tracea.attention' op expected dimension 1 of the block mask to be 1 or 4, found 2}}
  %0 = tracea.attention ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>)
       block_mask(%m : tensor<1x2x2x2xi1>) block_size [4, 4] outs(%q : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_mask_rows(%q: tensor<1x4x9x16xf32>, %k: tensor<1x4x8x16xf32>, %m: tensor<1x1x2x2xi1>) {
  // expected-error @+1 {{'tracea.attention' op expected the block mask to have rows = 3 as the query in blocks has, found 2}}
  %0 = tracea.attention ins(%q, %k, %k : tensor<1x4x9x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>)
       block_mask(%m : tensor<1x1x2x2xi1>) block_size [4, 4] outs(%q : tensor<1x4x9x16xf32>) -> tensor<1x4x9x16xf32>
  return
}

// -----

func.func @attention_mask_columns(%q: tensor<1x4x8x16xf32>, %m: tensor<1x1x2x2xi1>) {
  // expected-error @+1 {{'tracea.attention' op expected the block mask to have columns = 1 as the key in blocks has, found 2}}
  %0 = tracea.attention ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>)
       block_mask(%m : tensor<1x1x2x2xi1>) block_size [4, 8] outs(%q : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_result_type(%q: tensor<1x4x8x16xf32>, %d: tensor<1x4x8x16xi32>) {
  // expected-error @+1 {{'tracea.attention' op expected a result that an accumulator of type 'f32' converts to, found 'i32'}}
  %0 = tracea.attention ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) outs(%d : tensor<1x4x8x16xi32>) -> tensor<1x4x8x16xi32>
  return
}

// -----

func.func @attention_result_rows(%q: tensor<1x4x8x16xf32>, %d: tensor<1x4x9x16xf32>) {
  // expected-error @+1 {{'tracea.attention' op expected the result to have dimension 2 = 8 as the query has, found 9}}
  %0 = tracea.attention ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) outs(%d : tensor<1x4x9x16xf32>) -> tensor<1x4x9x16xf32>
  return
}

// -----

func.func @attention_result_columns(%q: tensor<1x4x8x16xf32>, %d: tensor<1x4x8x9xf32>) {
  // expected-error @+1 {{'tracea.attention' op expected the result to have dimension 3 = 16 as the value has, found 9}}
  %0 = tracea.attention ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) outs(%d : tensor<1x4x8x9xf32>) -> tensor<1x4x8x9xf32>
  return
}

// -----

func.func @attention_destination(%q: tensor<1x4x8x16xf32>) {
  // expected-error @+1 {{'tracea.attention' op expected type of operand #3 ('tensor<1x4x8x16xf32>') to match type of corresponding result ('tensor<1x4x8x?xf32>')}}
  %0 = tracea.attention ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) outs(%q : tensor<1x4x8x16xf32>) -> tensor<1x4x8x?xf32>
  return
}

// -----

func.func @attention_no_lse_result(%q: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'tracea.attention' op expected a log-sum-exp result if and only if there is a destination for it}}
  %0 = tracea.attention ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) outs(%q : tensor<1x4x8x16xf32>) lse(%l : tensor<1x4x8xf32>) -> tensor<1x4x8x16xf32>
  return
}

// -----

func.func @attention_lse_type(%q: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf16>) {
  // expected-error @+1 {{'tracea.attention' op expected log-sum-exp of type f32 or that of the accumulator, 'f32', found 'f16'}}
  %0, %1 = tracea.attention ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) outs(%q : tensor<1x4x8x16xf32>) lse(%l : tensor<1x4x8xf16>) -> tensor<1x4x8x16xf32>, tensor<1x4x8xf16>
  return
}

// -----

func.func @attention_lse_rank(%q: tensor<1x4x8x16xf32>, %l: tensor<1x4x8x1xf32>) {
  // expected-error @+1 {{'tracea.attention' op expected log-sum-exp to have rank 3, found 4}}
  %0, %1 = tracea.attention ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) outs(%q : tensor<1x4x8x16xf32>) lse(%l : tensor<1x4x8x1xf32>) -> tensor<1x4x8x16xf32>, tensor<1x4x8x1xf32>
  return
}

// -----

func.func @attention_lse_shape(%q: tensor<1x4x8x16xf32>, %l: tensor<1x4x9xf32>) {
  // expected-error @+1 {{'tracea.attention' op expected log-sum-exp to have dimension 2 = 8 as the query has, found 9}}
  %0, %1 = tracea.attention ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) outs(%q : tensor<1x4x8x16xf32>) lse(%l : tensor<1x4x9xf32>) -> tensor<1x4x8x16xf32>, tensor<1x4x9xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// schedules and targets
//===----------------------------------------------------------------------===//

// expected-error @+1 {{there is no variant 'gemm.magic'; there are 'gemm.packed', 'gemm.direct', }}
func.func private @variant() attributes {s = #tracea.schedule<variant = "gemm.magic", unit = vector>}

// -----

// expected-error @+1 {{expected a schedule to have 'variant'}}
func.func private @no_variant() attributes {s = #tracea.schedule<unit = vector>}

// -----

// expected-error @+1 {{expected a schedule to have 'unit'}}
func.func private @no_unit() attributes {s = #tracea.schedule<variant = "linalg">}

// -----

// expected-error @+1 {{expected extents of 'tile' of 1 to 2^20, found 0}}
func.func private @tile() attributes {s = #tracea.schedule<variant = "linalg", unit = vector, tile = [4, 0]>}

// -----

// expected-error @+1 {{expected extents of 'tile' of 1 to 2^20, found 1048577}}
func.func private @large_tile() attributes {s = #tracea.schedule<variant = "linalg", unit = vector, tile = [1048577]>}

// -----

// expected-error @+1 {{field 'slots' is given twice}}
func.func private @twice() attributes {s = #tracea.schedule<variant = "gemm.simt", unit = vector, slots = 2, registers = [8, 8], slots = 3>}

// -----

// expected-error @+1 {{expected 'slots' to be an integer}}
func.func private @list() attributes {s = #tracea.schedule<variant = "gemm.simt", unit = vector, registers = [8, 8], slots = [2]>}

// -----

// expected-error @+1 {{expected 'registers' to be a list of extents}}
func.func private @number() attributes {s = #tracea.schedule<variant = "gemm.simt", unit = vector, registers = 8>}

// -----

// expected-error @+1 {{expected 'registers' with 2 extents, found 1}}
func.func private @rank() attributes {s = #tracea.schedule<variant = "gemm.packed", unit = vector, registers = [4]>}

// -----

// expected-error @+1 {{expected 'registers' with 2 extents, found none}}
func.func private @no_registers() attributes {s = #tracea.schedule<variant = "gemm.packed", unit = vector>}

// -----

// expected-error @+1 {{expected 'registers' of 1 to 4096, found -8}}
func.func private @registers() attributes {s = #tracea.schedule<variant = "gemm.packed", unit = vector, registers = [8, -8]>}

// -----

// expected-error @+1 {{expected 'registers' of at most 4096 elements, found 8192}}
func.func private @large_registers() attributes {s = #tracea.schedule<variant = "gemm.packed", unit = vector, registers = [64, 128]>}

// -----

// expected-error @+1 {{expected 'registers' of 1 to 4096, found 4294967296}}
func.func private @huge_registers() attributes {s = #tracea.schedule<variant = "gemm.packed", unit = vector, registers = [4294967296, 4294967296]>}

// -----

// expected-error @+1 {{expected 'slots' of 1 to 64, found 0}}
func.func private @slots() attributes {s = #tracea.schedule<variant = "gemm.warpgroup", unit = wgmma, slots = 0>}

// -----

// expected-error @+1 {{expected 'slots' of 1 to 64, found 65}}
func.func private @many_slots() attributes {s = #tracea.schedule<variant = "gemm.packed", unit = vector, registers = [4, 8], slots = 65>}

// -----

// expected-error @+1 {{expected 'producers' and 'consumers' both 0 or both positive, found 1 and 0}}
func.func private @roles() attributes {s = #tracea.schedule<variant = "gemm.warpgroup", unit = wgmma, producers = 1>}

// -----

// expected-error @+1 {{expected 'group' of at least 0, found -1}}
func.func private @group() attributes {s = #tracea.schedule<variant = "gemm.warpgroup", unit = wgmma, group = -1>}

// -----

// A field of another family.

// expected-error @+1 {{variant 'gemm.simt' of family 'simt_gemm' has no field 'ping_pong'; it takes 'registers', 'slots', 'group'}}
func.func private @turns_of_lanes() attributes {s = #tracea.schedule<variant = "gemm.simt", unit = vector, registers = [8, 8], ping_pong = 2>}

// -----

// expected-error @+1 {{variant 'gemm.tf32x3' of family 'warp_gemm' has no field 'cluster'; it takes 'registers', 'slots', 'group', 'split'}}
func.func private @split_of_warps() attributes {s = #tracea.schedule<variant = "gemm.tf32x3", unit = mma_sync, registers = [32, 32], cluster = 2>}

// -----

// expected-error @+1 {{variant 'gemm.packed' of family 'cpu_gemm' has no field 'producers'; it takes 'registers', 'slots', 'group', 'split'}}
func.func private @producers_of_a_cpu() attributes {s = #tracea.schedule<variant = "gemm.packed", unit = vector, producers = 1, registers = [8, 8]>}

// -----

// expected-error @+1 {{expected 'split' of 1 to 64, found 65}}
func.func private @parts_of_a_cpu() attributes {s = #tracea.cpu_gemm<registers = [8, 8], split = 65>}

// -----

// expected-error @+1 {{variant 'row' of family 'cpu_rows' has no field 'group'; it takes 'registers'}}
func.func private @group_of_rows() attributes {s = #tracea.schedule<variant = "row", unit = vector, registers = [1, 8], group = 2>}

// -----

// expected-error @+1 {{variant 'gemm.warpgroup' of family 'warpgroup_gemm' has no field 'registers'; it takes 'slots', 'producers', 'consumers', 'group', 'residents', }}
func.func private @registers_of_warpgroups() attributes {s = #tracea.schedule<variant = "gemm.warpgroup", unit = wgmma, registers = [8, 8]>}

// -----

// expected-error @+1 {{variant 'grouped.warpgroup' of family 'warpgroup_grouped' has no field 'lines'; it takes 'slots', 'producers', 'consumers', 'group', 'residents'}}
func.func private @lines_of_groups() attributes {s = #tracea.schedule<variant = "grouped.warpgroup", unit = wgmma, lines = 1>}

// -----

// expected-error @+1 {{variant 'linalg' of family 'untiled' has no field 'registers'; it takes none}}
func.func private @fields_of_loops() attributes {s = #tracea.schedule<variant = "linalg", unit = vector, registers = [8, 8]>}

// -----

// expected-error @+1 {{family 'cpu_conv' has no field 'group'; it takes 'registers', 'slots'}}
func.func private @field_of_a_family() attributes {s = #tracea.cpu_conv<registers = [8, 8], group = 2>}

// -----

// expected-error @+1 {{expected 'ping_pong' of 1 to 2, found 3}}
func.func private @range_of_a_family() attributes {s = #tracea.warpgroup_gemm<ping_pong = 3>}

// -----

// expected-error @+1 {{'func.func' op 'tracea.target' belongs on a module}}
func.func private @target_on_function() attributes {tracea.target = #tracea.target<kind = cpu, name = "a", triple = "b", cpu = "c">}

// -----

// expected-error @+1 {{'builtin.module' op 'tracea.target' must be a #tracea.target, found "cpu"}}
module attributes {tracea.target = "cpu"} {}

// -----

// expected-error @+1 {{'func.func' op 'tracea.allow_tf32x3' must be a unit attribute, found true}}
func.func private @tf32x3_value() attributes {tracea.allow_tf32x3 = true}

// -----

// expected-error @+1 {{'func.func' op 'tracea.allow_tf32' must be a unit attribute, found true}}
func.func private @tf32_value() attributes {tracea.allow_tf32 = true}

// -----

func.func @tf32_place(%x: f32) -> f32 {
  // expected-error @+1 {{'arith.addf' op 'tracea.allow_tf32' belongs on a function or a module}}
  %0 = arith.addf %x, %x {tracea.allow_tf32} : f32
  return %0 : f32
}

// -----

// expected-error @below {{expected 'residents' of 1 to 2, found 33}}
func.func private @many() attributes {schedule = #tracea.schedule<variant = "gemm.warpgroup", unit = wgmma, residents = 33>}

// -----

// expected-error @below {{expected 'lines' of 0 to 3, found 4}}
func.func private @whole() attributes {schedule = #tracea.schedule<variant = "gemm.warpgroup", unit = wgmma, lines = 4>}

// -----

// expected-error @below {{expected 'ping_pong' of 1 to 2, found 3}}
func.func private @many() attributes {schedule = #tracea.schedule<variant = "gemm.warpgroup", unit = wgmma, ping_pong = 3>}

// -----

func.func @attention_lengths_rank(%q: tensor<2x1x4x8xf32>, %k: tensor<2x1x6x8xf32>, %l: tensor<2x1xi32>, %d: tensor<2x1x4x8xf32>) {
  // expected-error @+1 {{'tracea.attention' op expected the lengths to have rank 1, found 2}}
  %0 = tracea.attention ins(%q, %k, %k : tensor<2x1x4x8xf32>, tensor<2x1x6x8xf32>, tensor<2x1x6x8xf32>) lengths(%l : tensor<2x1xi32>) outs(%d : tensor<2x1x4x8xf32>) -> tensor<2x1x4x8xf32>
  return
}

// -----

func.func @attention_lengths_type(%q: tensor<2x1x4x8xf32>, %k: tensor<2x1x6x8xf32>, %l: tensor<2xf32>, %d: tensor<2x1x4x8xf32>) {
  // expected-error @+1 {{'tracea.attention' op expected lengths of i32 or i64, found 'f32'}}
  %0 = tracea.attention ins(%q, %k, %k : tensor<2x1x4x8xf32>, tensor<2x1x6x8xf32>, tensor<2x1x6x8xf32>) lengths(%l : tensor<2xf32>) outs(%d : tensor<2x1x4x8xf32>) -> tensor<2x1x4x8xf32>
  return
}

// -----

func.func @attention_lengths_batch(%q: tensor<2x1x4x8xf32>, %k: tensor<2x1x6x8xf32>, %l: tensor<3xi64>, %d: tensor<2x1x4x8xf32>) {
  // expected-error @+1 {{'tracea.attention' op expected the lengths to have batch = 2 as the query has, found 3}}
  %0 = tracea.attention ins(%q, %k, %k : tensor<2x1x4x8xf32>, tensor<2x1x6x8xf32>, tensor<2x1x6x8xf32>) lengths(%l : tensor<3xi64>) outs(%d : tensor<2x1x4x8xf32>) -> tensor<2x1x4x8xf32>
  return
}
