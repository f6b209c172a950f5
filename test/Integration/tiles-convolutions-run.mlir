// Convolutions by tiles of AMX compute what plain loops do: borders, strides,
// dilations, groups, channels that fill no tile, several blocks of channels, images
// of any size.
// REQUIRES: cpu-amx_bf16, cpu-amx_int8
// RUN: tracea run %s --entry i8_border --random-inputs --check
// RUN: tracea run %s --entry i8_stride --random-inputs --check
// RUN: tracea run %s --entry i8_first --random-inputs --check
// RUN: tracea run %s --entry i8_groups --random-inputs --check
// RUN: tracea run %s --entry i8_blocks --random-inputs --check
// RUN: tracea run %s --entry i8_rows --random-inputs --check
// RUN: tracea run %s --entry bf16_rows --random-inputs --check
// RUN: tracea run %s --entry bf16_rows_open --random-inputs --shape 0=2x9x14x70 --shape 2=2x9x14x33 --check
// RUN: tracea run %s --entry bf16_rows_open --random-inputs --shape 0=1x1x16x70 --shape 2=1x1x16x33 --check
// RUN: tracea run %s --entry i8_open --random-inputs --shape 0=3x7x10x20 --shape 2=3x7x10x24 --check
// RUN: tracea run %s --entry i8_in_place --random-inputs --check
// RUN: tracea run %s --entry bf16_in_place --random-inputs --check
// RUN: tracea run %s --entry bf16_border --random-inputs --check
// RUN: tracea run %s --entry bf16_stride --random-inputs --check
// RUN: tracea run %s --entry bf16_first --random-inputs --check
// RUN: tracea run %s --entry bf16_groups --random-inputs --check
// RUN: tracea run %s --entry bf16_blocks --random-inputs --check
// RUN: tracea run %s --entry bf16_open --random-inputs --shape 0=3x7x10x20 --shape 2=3x7x10x24 --check
module attributes {tracea.target = #tracea.target<kind = cpu, name = "sapphirerapids", triple = "x86_64-unknown-linux-gnu", cpu = "sapphirerapids",
    features = "+avx2,+fma,+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl,+avx512vnni,+avx512bf16,+amx-tile,+amx-bf16,+amx-int8", vector_bits = 512>} {
func.func @i8_border(%x: tensor<2x9x11x16xi8>, %w: tensor<40x3x3x16xi8>, %d: tensor<2x9x11x40xi32>) -> tensor<2x9x11x40xi32> {
  %0 = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] ins(%x, %w : tensor<2x9x11x16xi8>, tensor<40x3x3x16xi8>) outs(%d : tensor<2x9x11x40xi32>)
         schedule <variant = "conv2d.dot", unit = amx, tile = [3, 32, 64, 64], registers = [32, 32]>
  return %0 : tensor<2x9x11x40xi32>
}
func.func @i8_stride(%x: tensor<1x13x14x7xi8>, %w: tensor<3x3x7x33xi8>, %d: tensor<1x7x7x33xi32>) -> tensor<1x7x7x33xi32> {
  %0 = tracea.conv2d layout nhwc filter rsck strides [2, 2] pads [1, 0, 1, 2] ins(%x, %w : tensor<1x13x14x7xi8>, tensor<3x3x7x33xi8>) outs(%d : tensor<1x7x7x33xi32>)
         schedule <variant = "conv2d.dot", unit = amx, tile = [2, 16, 96, 64], registers = [16, 48]>
  return %0 : tensor<1x7x7x33xi32>
}
func.func @i8_first(%x: tensor<1x15x15x3xi8>, %w: tensor<17x5x5x3xi8>, %d: tensor<1x8x8x17xi32>) -> tensor<1x8x8x17xi32> {
  %0 = tracea.conv2d layout nhwc filter krsc strides [2, 2] pads [2, 2, 2, 2] ins(%x, %w : tensor<1x15x15x3xi8>, tensor<17x5x5x3xi8>) outs(%d : tensor<1x8x8x17xi32>)
         schedule <variant = "conv2d.dot", unit = amx, tile = [8, 16, 32, 64], registers = [16, 32]>
  return %0 : tensor<1x8x8x17xi32>
}
func.func @i8_groups(%x: tensor<1x8x8x128xi8>, %w: tensor<36x3x3x64xi8>, %d: tensor<1x8x8x36xi32>) -> tensor<1x8x8x36xi32> {
  %0 = tracea.conv2d layout nhwc filter krsc pads [2, 2, 2, 2] dilations [2, 2] groups 2 ins(%x, %w : tensor<1x8x8x128xi8>, tensor<36x3x3x64xi8>) outs(%d : tensor<1x8x8x36xi32>)
         schedule <variant = "conv2d.dot", unit = amx, tile = [4, 16, 48, 64], registers = [16, 48]>
  return %0 : tensor<1x8x8x36xi32>
}
func.func @i8_blocks(%x: tensor<1x6x6x70xi8>, %w: tensor<20x70x1x1xi8>, %d: tensor<1x6x6x20xi32>) -> tensor<1x6x6x20xi32> {
  %0 = tracea.conv2d layout nhwc filter kcrs ins(%x, %w : tensor<1x6x6x70xi8>, tensor<20x70x1x1xi8>) outs(%d : tensor<1x6x6x20xi32>)
         schedule <variant = "conv2d.dot", unit = amx, tile = [6, 16, 32, 64], registers = [16, 16]>
  return %0 : tensor<1x6x6x20xi32>
}
func.func @i8_open(%x: tensor<?x?x?x20xi8>, %w: tensor<24x3x3x20xi8>, %d: tensor<?x?x?x24xi32>) -> tensor<?x?x?x24xi32> {
  %0 = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] ins(%x, %w : tensor<?x?x?x20xi8>, tensor<24x3x3x20xi8>) outs(%d : tensor<?x?x?x24xi32>)
         schedule <variant = "conv2d.dot", unit = amx, tile = [4, 32, 32, 64], registers = [32, 32]>
  return %0 : tensor<?x?x?x24xi32>
}
// Two rows of the image at a time: of an odd number the last one alone, of a few
// channels at a time, and of rows shorter than a tile.
func.func @i8_rows(%x: tensor<2x7x14x130xi8>, %w: tensor<40x3x3x130xi8> {tracea.constant}, %d: tensor<2x7x14x40xi32>) -> tensor<2x7x14x40xi32> {
  %0 = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] ins(%x, %w : tensor<2x7x14x130xi8>, tensor<40x3x3x130xi8>) outs(%d : tensor<2x7x14x40xi32>)
         schedule <variant = "conv2d.dot", unit = amx, tile = [4, 16, 64, 192], registers = [32, 32]>
  return %0 : tensor<2x7x14x40xi32>
}
func.func @bf16_rows(%x: tensor<1x13x13x70xbf16>, %w: tensor<3x3x70x33xbf16>, %d: tensor<1x7x7x33xf32>) -> tensor<1x7x7x33xf32> {
  %0 = tracea.conv2d layout nhwc filter rsck strides [2, 2] pads [1, 1, 1, 1] ins(%x, %w : tensor<1x13x13x70xbf16>, tensor<3x3x70x33xbf16>) outs(%d : tensor<1x7x7x33xf32>)
         schedule <variant = "conv2d.dot", unit = amx, tile = [5, 16, 64, 32], registers = [32, 32]>
  return %0 : tensor<1x7x7x33xf32>
}
func.func @bf16_rows_open(%x: tensor<?x?x?x70xbf16>, %w: tensor<33x3x3x70xbf16>, %d: tensor<?x?x?x33xf32>) -> tensor<?x?x?x33xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] ins(%x, %w : tensor<?x?x?x70xbf16>, tensor<33x3x3x70xbf16>) outs(%d : tensor<?x?x?x33xf32>)
         schedule <variant = "conv2d.dot", unit = amx, tile = [8, 16, 64, 96], registers = [48, 16]>
  return %0 : tensor<?x?x?x33xf32>
}
// Images where they lie: whole tiles of pixels, and of channels, that no tap leaves.
func.func @i8_in_place(%x: tensor<2x5x33x128xi8>, %w: tensor<24x3x2x128xi8>, %d: tensor<2x3x32x24xi32>) -> tensor<2x3x32x24xi32> {
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<2x5x33x128xi8>, tensor<24x3x2x128xi8>) outs(%d : tensor<2x3x32x24xi32>)
         schedule <variant = "conv2d.dot", unit = amx, tile = [2, 32, 32, 64], registers = [32, 32], staged = 0>
  return %0 : tensor<2x3x32x24xi32>
}
func.func @bf16_in_place(%x: tensor<1x7x63x32xbf16>, %w: tensor<2x1x32x40xbf16>, %d: tensor<1x3x32x40xf32>) -> tensor<1x3x32x40xf32> {
  %0 = tracea.conv2d layout nhwc filter rsck strides [2, 2] ins(%x, %w : tensor<1x7x63x32xbf16>, tensor<2x1x32x40xbf16>) outs(%d : tensor<1x3x32x40xf32>)
         schedule <variant = "conv2d.dot", unit = amx, tile = [3, 16, 64, 32], registers = [16, 64], staged = 0>
  return %0 : tensor<1x3x32x40xf32>
}
func.func @bf16_border(%x: tensor<2x9x11x16xbf16>, %w: tensor<40x3x3x16xbf16>, %d: tensor<2x9x11x40xf32>) -> tensor<2x9x11x40xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] ins(%x, %w : tensor<2x9x11x16xbf16>, tensor<40x3x3x16xbf16>) outs(%d : tensor<2x9x11x40xf32>)
         schedule <variant = "conv2d.dot", unit = amx, tile = [3, 32, 64, 32], registers = [32, 32]>
  return %0 : tensor<2x9x11x40xf32>
}
func.func @bf16_stride(%x: tensor<1x13x14x7xbf16>, %w: tensor<3x3x7x33xbf16>, %d: tensor<1x7x7x33xf32>) -> tensor<1x7x7x33xf32> {
  %0 = tracea.conv2d layout nhwc filter rsck strides [2, 2] pads [1, 0, 1, 2] ins(%x, %w : tensor<1x13x14x7xbf16>, tensor<3x3x7x33xbf16>) outs(%d : tensor<1x7x7x33xf32>)
         schedule <variant = "conv2d.dot", unit = amx, tile = [2, 16, 96, 32], registers = [16, 48]>
  return %0 : tensor<1x7x7x33xf32>
}
func.func @bf16_first(%x: tensor<1x15x15x3xbf16>, %w: tensor<17x5x5x3xbf16>, %d: tensor<1x8x8x17xf32>) -> tensor<1x8x8x17xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc strides [2, 2] pads [2, 2, 2, 2] ins(%x, %w : tensor<1x15x15x3xbf16>, tensor<17x5x5x3xbf16>) outs(%d : tensor<1x8x8x17xf32>)
         schedule <variant = "conv2d.dot", unit = amx, tile = [8, 16, 32, 32], registers = [16, 32]>
  return %0 : tensor<1x8x8x17xf32>
}
func.func @bf16_groups(%x: tensor<1x8x8x64xbf16>, %w: tensor<36x3x3x32xbf16>, %d: tensor<1x8x8x36xf32>) -> tensor<1x8x8x36xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc pads [2, 2, 2, 2] dilations [2, 2] groups 2 ins(%x, %w : tensor<1x8x8x64xbf16>, tensor<36x3x3x32xbf16>) outs(%d : tensor<1x8x8x36xf32>)
         schedule <variant = "conv2d.dot", unit = amx, tile = [4, 16, 48, 32], registers = [16, 48]>
  return %0 : tensor<1x8x8x36xf32>
}
func.func @bf16_blocks(%x: tensor<1x6x6x70xbf16>, %w: tensor<20x70x1x1xbf16>, %d: tensor<1x6x6x20xf32>) -> tensor<1x6x6x20xf32> {
  %0 = tracea.conv2d layout nhwc filter kcrs ins(%x, %w : tensor<1x6x6x70xbf16>, tensor<20x70x1x1xbf16>) outs(%d : tensor<1x6x6x20xf32>)
         schedule <variant = "conv2d.dot", unit = amx, tile = [6, 16, 32, 32], registers = [16, 16]>
  return %0 : tensor<1x6x6x20xf32>
}
func.func @bf16_open(%x: tensor<?x?x?x20xbf16>, %w: tensor<24x3x3x20xbf16>, %d: tensor<?x?x?x24xf32>) -> tensor<?x?x?x24xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] ins(%x, %w : tensor<?x?x?x20xbf16>, tensor<24x3x3x20xbf16>) outs(%d : tensor<?x?x?x24xf32>)
         schedule <variant = "conv2d.dot", unit = amx, tile = [4, 32, 32, 32], registers = [32, 32]>
  return %0 : tensor<?x?x?x24xf32>
}
}
