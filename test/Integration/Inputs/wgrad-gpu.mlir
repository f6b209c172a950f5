// The gradient by the filter of two groups: tiles have channels of the next
// group, or none, behind their own, and the last step has pixels behind the last.
func.func @main(%x: tensor<2x9x10x80xbf16>, %dy: tensor<2x9x10x96xbf16>, %d: tensor<96x3x3x40xbf16>) -> tensor<96x3x3x40xbf16> {
  %dw = tracea.conv2d_wgrad layout nhwc filter krsc pads [1, 1, 1, 1] groups 2
          ins(%x, %dy : tensor<2x9x10x80xbf16>, tensor<2x9x10x96xbf16>) outs(%d : tensor<96x3x3x40xbf16>)
          schedule <variant = "wgrad.warpgroup", unit = wgmma, tile = [64, 64, 64], slots = 2, producers = 1, consumers = 1>
  return %dw : tensor<96x3x3x40xbf16>
}
