// Gradients by filters that become ones of other operands for a GPU: of a first
// layer, with channels first, and both. Sums of small integers are exact.
func.func @main(%i0: tensor<8x57x60x3xi8>, %i1: tensor<8x28x30x64xi8>, %i2: tensor<16x64x40x40xi8>, %i3: tensor<16x48x40x40xi8>,
                %i4: tensor<4x3x57x60xi8>, %i5: tensor<4x64x28x30xi8>, %scale: tensor<64xi8>, %old: tensor<48x64x3x3xi8>)
    -> (tensor<64x7x7x3xf32>, tensor<48x64x3x3xf32>, tensor<64x3x7x7xf32>, tensor<64x7x7x3xf32>) {
  %0 = arith.sitofp %i0 : tensor<8x57x60x3xi8> to tensor<8x57x60x3xbf16>
  %1 = arith.sitofp %i1 : tensor<8x28x30x64xi8> to tensor<8x28x30x64xbf16>
  %2 = arith.sitofp %i2 : tensor<16x64x40x40xi8> to tensor<16x64x40x40xbf16>
  %3 = arith.sitofp %i3 : tensor<16x48x40x40xi8> to tensor<16x48x40x40xbf16>
  %4 = arith.sitofp %i4 : tensor<4x3x57x60xi8> to tensor<4x3x57x60xbf16>
  %5 = arith.sitofp %i5 : tensor<4x64x28x30xi8> to tensor<4x64x28x30xbf16>
  %channels = tensor.empty() : tensor<64x7x7x3xf32>
  %taps = tensor.empty() : tensor<64x3x7x7xf32>
  %small = tensor.empty() : tensor<48x64x3x3xf32>
  // Columns of the image are in front of the filter's, and behind them.
  %y0 = tracea.conv2d_wgrad layout nhwc filter krsc strides [2, 2] pads [3, 4, 2, 2]
          ins(%0, %1 : tensor<8x57x60x3xbf16>, tensor<8x28x30x64xbf16>) outs(%channels : tensor<64x7x7x3xf32>)
          epilogue(%scale by affine_map<(k, r, s, c) -> (k)> : tensor<64xi8>) {
    ^bb0(%sum: f32, %a: i8):
      %b = arith.sitofp %a : i8 to f32
      %scaled = arith.mulf %sum, %b : f32
      tracea.yield %scaled : f32
  }
  %y1 = tracea.conv2d_wgrad layout nchw filter kcrs pads [1, 1, 1, 1]
          ins(%2, %3 : tensor<16x64x40x40xbf16>, tensor<16x48x40x40xbf16>) outs(%small : tensor<48x64x3x3xf32>)
          epilogue(%old by affine_map<(k, c, r, s) -> (k, c, r, s)> : tensor<48x64x3x3xi8>) {
    ^bb0(%sum: f32, %a: i8):
      %b = arith.sitofp %a : i8 to f32
      %added = arith.addf %sum, %b : f32
      tracea.yield %added : f32
  }
  %y2 = tracea.conv2d_wgrad layout nchw filter kcrs strides [2, 2] pads [3, 4, 2, 2]
          ins(%4, %5 : tensor<4x3x57x60xbf16>, tensor<4x64x28x30xbf16>) outs(%taps : tensor<64x3x7x7xf32>)
  %y3 = tracea.conv2d_wgrad layout nchw filter krsc strides [2, 2] pads [3, 4, 2, 2]
          ins(%4, %5 : tensor<4x3x57x60xbf16>, tensor<4x64x28x30xbf16>) outs(%channels : tensor<64x7x7x3xf32>)
  return %y0, %y1, %y2, %y3 : tensor<64x7x7x3xf32>, tensor<48x64x3x3xf32>, tensor<64x3x7x7xf32>, tensor<64x7x7x3xf32>
}
