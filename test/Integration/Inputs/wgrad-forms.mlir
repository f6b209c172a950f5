// Gradients by filters that become ones of other operands for a GPU: of a first
// layer, with channels first, both, and in small groups. Sums of small integers are exact.
func.func @main(%i0: tensor<8x57x60x3xi8>, %i1: tensor<8x28x30x64xi8>, %i2: tensor<16x64x40x40xi8>, %i3: tensor<16x48x40x40xi8>,
                %i4: tensor<4x3x57x60xi8>, %i5: tensor<4x64x28x30xi8>, %scale: tensor<64xi8>, %old: tensor<48x64x3x3xi8>,
                %i6: tensor<4x20x21x192xi8>, %i7: tensor<4x20x21x96xi8>, %filters: tensor<96xi8>)
    -> (tensor<64x7x7x3xf32>, tensor<48x64x3x3xf32>, tensor<64x3x7x7xf32>, tensor<64x7x7x3xf32>, tensor<96x3x3x8xf32>) {
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
  // 24 groups of 4 filters and 8 channels, 8 of them at a time.
  %6 = arith.sitofp %i6 : tensor<4x20x21x192xi8> to tensor<4x20x21x192xbf16>
  %7 = arith.sitofp %i7 : tensor<4x20x21x96xi8> to tensor<4x20x21x96xbf16>
  %eights = tensor.empty() : tensor<96x3x3x8xf32>
  %y4 = tracea.conv2d_wgrad layout nhwc filter krsc pads [1, 1, 1, 1] groups 24
          ins(%6, %7 : tensor<4x20x21x192xbf16>, tensor<4x20x21x96xbf16>) outs(%eights : tensor<96x3x3x8xf32>)
          epilogue(%filters by affine_map<(k, r, s, c) -> (k)> : tensor<96xi8>) {
    ^bb0(%sum: f32, %a: i8):
      %b = arith.sitofp %a : i8 to f32
      %scaled = arith.mulf %sum, %b : f32
      tracea.yield %scaled : f32
  }
  return %y0, %y1, %y2, %y3, %y4 : tensor<64x7x7x3xf32>, tensor<48x64x3x3xf32>, tensor<64x3x7x7xf32>, tensor<64x7x7x3xf32>, tensor<96x3x3x8xf32>
}
