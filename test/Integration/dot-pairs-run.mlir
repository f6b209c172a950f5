// Bytes widened to pairs, on processors whose own products of bytes saturate, compute
// what plain loops do: products in every order, convolutions, constants packed once,
// extreme numbers among them.
// REQUIRES: cpu-avx2
// RUN: tracea run %s --entry rows --random-inputs --check
// RUN: tracea run %s --entry transposed --random-inputs --check
// RUN: tracea run %s --entry left --random-inputs --check
// RUN: tracea run %s --entry right --random-inputs --check
// RUN: tracea run %s --entry one --random-inputs --check
// RUN: tracea run %s --entry few --random-inputs --check
// RUN: tracea run %s --entry open --random-inputs --shape 0=33x75 --shape 1=75x50 --shape 2=33x50 --check
// RUN: tracea run %s --entry open --random-inputs --shape 0=8x1 --shape 1=1x32 --shape 2=8x32 --check
// RUN: tracea run %s --entry open --random-inputs --shape 0=3x0 --shape 1=0x5 --shape 2=3x5 --check
// RUN: tracea run %s --entry i8_border --random-inputs --check
// RUN: tracea run %s --entry i8_stride --random-inputs --check
// RUN: tracea run %s --entry i8_first --random-inputs --check
// RUN: tracea run %s --entry i8_groups --random-inputs --check
// RUN: tracea run %s --entry i8_blocks --random-inputs --check
// RUN: tracea run %s --entry i8_open --random-inputs --shape 0=3x7x10x20 --shape 2=3x7x10x24 --check
// RUN: tracea run %s --entry packed --random-inputs --check
// RUN: tracea run %s --entry i8_packed --random-inputs --check
// RUN: tracea run %s --entry least --check
module attributes {tracea.target = #tracea.target<kind = cpu, name = "pairs", triple = "x86_64-unknown-linux-gnu", cpu = "haswell",
    features = "+avx,+avx2,+fma", vector_bits = 256>} {
func.func @rows(%a: tensor<37x67xi8>, %b: tensor<67x41xi8>, %d: tensor<37x41xi32>) -> tensor<37x41xi32> {
  %0 = tracea.gemm ins(%a, %b : tensor<37x67xi8>, tensor<67x41xi8>) outs(%d : tensor<37x41xi32>)
         schedule <variant = "gemm.dot", unit = vector, tile = [40, 64, 32, 16], registers = [8, 16]>
  return %0 : tensor<37x41xi32>
}
func.func @transposed(%a: tensor<67x37xi8>, %b: tensor<41x67xi8>, %d: tensor<37x41xi32>) -> tensor<37x41xi32> {
  %0 = tracea.gemm transpose_lhs transpose_rhs ins(%a, %b : tensor<67x37xi8>, tensor<41x67xi8>) outs(%d : tensor<37x41xi32>)
         schedule <variant = "gemm.dot", unit = vector, tile = [40, 64, 32, 16], registers = [8, 16]>
  return %0 : tensor<37x41xi32>
}
func.func @left(%a: tensor<131x19xi8>, %b: tensor<131x70xi8>, %d: tensor<19x70xi32>) -> tensor<19x70xi32> {
  %0 = tracea.gemm transpose_lhs ins(%a, %b : tensor<131x19xi8>, tensor<131x70xi8>) outs(%d : tensor<19x70xi32>)
         schedule <variant = "gemm.dot", unit = vector, tile = [32, 96, 132, 16], registers = [16, 8]>
  return %0 : tensor<19x70xi32>
}
func.func @right(%a: tensor<19x131xi8>, %b: tensor<70x131xi8>, %d: tensor<19x70xi32>) -> tensor<19x70xi32> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<19x131xi8>, tensor<70x131xi8>) outs(%d : tensor<19x70xi32>)
         schedule <variant = "gemm.dot", unit = vector, tile = [20, 96, 64, 4], registers = [4, 24]>
  return %0 : tensor<19x70xi32>
}
func.func @one(%a: tensor<1x1xi8>, %b: tensor<1x1xi8>, %d: tensor<1x1xi32>) -> tensor<1x1xi32> {
  %0 = tracea.gemm ins(%a, %b : tensor<1x1xi8>, tensor<1x1xi8>) outs(%d : tensor<1x1xi32>)
         schedule <variant = "gemm.dot", unit = vector, tile = [1, 16, 2, 1], registers = [1, 8]>
  return %0 : tensor<1x1xi32>
}
func.func @few(%a: tensor<2x33xi8>, %b: tensor<33x130xi8>, %d: tensor<2x130xi32>) -> tensor<2x130xi32> {
  %0 = tracea.gemm ins(%a, %b : tensor<2x33xi8>, tensor<33x130xi8>) outs(%d : tensor<2x130xi32>)
         schedule <variant = "gemm.dot", unit = vector, tile = [2, 160, 34, 2], registers = [2, 40]>
  return %0 : tensor<2x130xi32>
}
func.func @open(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>, %d: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %0 = tracea.gemm ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%d : tensor<?x?xi32>)
         schedule <variant = "gemm.dot", unit = vector, tile = [32, 64, 64, 16], registers = [8, 16]>
  return %0 : tensor<?x?xi32>
}
func.func @i8_border(%x: tensor<2x9x11x16xi8>, %w: tensor<40x3x3x16xi8>, %d: tensor<2x9x11x40xi32>) -> tensor<2x9x11x40xi32> {
  %0 = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] ins(%x, %w : tensor<2x9x11x16xi8>, tensor<40x3x3x16xi8>) outs(%d : tensor<2x9x11x40xi32>)
         schedule <variant = "conv2d.dot", unit = vector, tile = [3, 12, 64, 16], registers = [6, 16]>
  return %0 : tensor<2x9x11x40xi32>
}
func.func @i8_stride(%x: tensor<1x13x14x7xi8>, %w: tensor<3x3x7x33xi8>, %d: tensor<1x7x7x33xi32>) -> tensor<1x7x7x33xi32> {
  %0 = tracea.conv2d layout nhwc filter rsck strides [2, 2] pads [1, 0, 1, 2] ins(%x, %w : tensor<1x13x14x7xi8>, tensor<3x3x7x33xi8>) outs(%d : tensor<1x7x7x33xi32>)
         schedule <variant = "conv2d.dot", unit = vector, tile = [2, 6, 64, 8], registers = [6, 16]>
  return %0 : tensor<1x7x7x33xi32>
}
func.func @i8_first(%x: tensor<1x15x15x3xi8>, %w: tensor<17x5x5x3xi8>, %d: tensor<1x8x8x17xi32>) -> tensor<1x8x8x17xi32> {
  %0 = tracea.conv2d layout nhwc filter krsc strides [2, 2] pads [2, 2, 2, 2] ins(%x, %w : tensor<1x15x15x3xi8>, tensor<17x5x5x3xi8>) outs(%d : tensor<1x8x8x17xi32>)
         schedule <variant = "conv2d.dot", unit = vector, tile = [8, 8, 32, 4], registers = [4, 16]>
  return %0 : tensor<1x8x8x17xi32>
}
func.func @i8_groups(%x: tensor<1x8x8x16xi8>, %w: tensor<36x3x3x8xi8>, %d: tensor<1x8x8x36xi32>) -> tensor<1x8x8x36xi32> {
  %0 = tracea.conv2d layout nhwc filter krsc pads [2, 2, 2, 2] dilations [2, 2] groups 2 ins(%x, %w : tensor<1x8x8x16xi8>, tensor<36x3x3x8xi8>) outs(%d : tensor<1x8x8x36xi32>)
         schedule <variant = "conv2d.dot", unit = vector, tile = [4, 6, 32, 8], registers = [6, 16]>
  return %0 : tensor<1x8x8x36xi32>
}
func.func @i8_blocks(%x: tensor<1x6x6x70xi8>, %w: tensor<20x70x1x1xi8>, %d: tensor<1x6x6x20xi32>) -> tensor<1x6x6x20xi32> {
  %0 = tracea.conv2d layout nhwc filter kcrs ins(%x, %w : tensor<1x6x6x70xi8>, tensor<20x70x1x1xi8>) outs(%d : tensor<1x6x6x20xi32>)
         schedule <variant = "conv2d.dot", unit = vector, tile = [6, 6, 32, 32], registers = [6, 16]>
  return %0 : tensor<1x6x6x20xi32>
}
func.func @i8_open(%x: tensor<?x?x?x20xi8>, %w: tensor<24x3x3x20xi8>, %d: tensor<?x?x?x24xi32>) -> tensor<?x?x?x24xi32> {
  %0 = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] ins(%x, %w : tensor<?x?x?x20xi8>, tensor<24x3x3x20xi8>) outs(%d : tensor<?x?x?x24xi32>)
         schedule <variant = "conv2d.dot", unit = vector, tile = [4, 12, 32, 20], registers = [6, 16]>
  return %0 : tensor<?x?x?x24xi32>
}
func.func @packed(%a: tensor<21x75xi8>, %b: tensor<75x41xi8> {tracea.constant}, %d: tensor<21x41xi32>) -> tensor<21x41xi32> {
  %0 = tracea.gemm ins(%a, %b : tensor<21x75xi8>, tensor<75x41xi8>) outs(%d : tensor<21x41xi32>)
         schedule <variant = "gemm.dot", unit = vector, tile = [24, 48, 32, 12], registers = [4, 16]>
  return %0 : tensor<21x41xi32>
}
func.func @i8_packed(%x: tensor<2x7x9x13xi8>, %w: tensor<20x3x3x13xi8> {tracea.constant}, %d: tensor<2x7x9x20xi32>) -> tensor<2x7x9x20xi32> {
  %0 = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] ins(%x, %w : tensor<2x7x9x13xi8>, tensor<20x3x3x13xi8>) outs(%d : tensor<2x7x9x20xi32>)
         schedule <variant = "conv2d.dot", unit = vector, tile = [3, 8, 32, 8], registers = [4, 16]>
  return %0 : tensor<2x7x9x20xi32>
}
// The largest sum of a pair: two products of the least byte with itself.
func.func @least() -> tensor<5x9xi32> {
  %a = arith.constant dense<-128> : tensor<5x66xi8>
  %b = arith.constant dense<-128> : tensor<66x9xi8>
  %zero = arith.constant dense<0> : tensor<5x9xi32>
  %0 = tracea.gemm ins(%a, %b : tensor<5x66xi8>, tensor<66x9xi8>) outs(%zero : tensor<5x9xi32>)
         schedule <variant = "gemm.dot", unit = vector, tile = [8, 16, 66, 4], registers = [4, 16]>
  return %0 : tensor<5x9xi32>
}
}
