// Convolutions by words: neighbouring channels of the patch and of the filters.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

#x86 = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "icelake-server",
                      features = "+avx2,+fma,+avx512f,+avx512vnni", vector_bits = 512>

// The patch is in offset form; the border and the channels beyond the last are zeros in
// both. A tap's window moves by the stride along pixels, and by words along channels.
// CHECK-DAG:   #[[PATCH:map[0-9]*]] = affine_map<(d0, d1, d2, d3) -> (0, d0, d1, d2 * 4 + d3)>
// CHECK-DAG:   #[[PANEL:map[0-9]*]] = affine_map<(d0, d1, d2, d3, d4) -> (d3, d0, d1, d2 * 4 + d4)>
// CHECK-DAG:   #[[WINDOW:map[0-9]*]] = affine_map<(d0, d1, d2) -> (0, d0 * 2, d1, d2)>
// CHECK-DAG:   #[[TAP:map[0-9]*]] = affine_map<(d0, d1, d2) -> (0, 0, d0, d1, d2)>
// CHECK:       tracea_pipe.kernel @conv2d_0({{.*}} variant = "conv2d.dot"
// CHECK:         %[[P:.*]] = tracea_pipe.stage {{.*}} map #[[PATCH]] limits({{.*}}, %c3, %c4) padded [1, 2, 3] : memref<1x15x15x10xi8> -> tensor<5x13x3x4xui8, #tracea_pipe.staged>
// CHECK:         %[[F:.*]] = tracea_pipe.stage {{.*}} map #[[PANEL]] limits(%c3, %c3, %c3, %c32, %c4) padded [0, 3] : memref<32x3x3x10xi8> -> tensor<3x3x3x32x4xi8, #tracea_pipe.staged>
// CHECK:         %[[A:.*]] = tracea_pipe.view %[[P]]{{.*}} map #[[WINDOW]] : {{.*}} -> tensor<6x3x4xui8, #tracea_pipe.staged>
// CHECK:         %[[B:.*]] = tracea_pipe.view %[[F]]{{.*}} map #[[TAP]] : {{.*}} -> tensor<3x32x4xi8, #tracea_pipe.staged>
// CHECK:         tracea_pipe.mma %[[A]], %[[B]], %{{.*}} depth(%c3)
module attributes {tracea.target = #x86} {
func.func @bytes(%x: tensor<1x15x15x10xi8>, %w: tensor<32x3x3x10xi8>, %d: tensor<1x8x8x32xi32>) -> tensor<1x8x8x32xi32> {
  %r = tracea.conv2d layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1]
         ins(%x, %w : tensor<1x15x15x10xi8>, tensor<32x3x3x10xi8>) outs(%d : tensor<1x8x8x32xi32>)
         schedule <variant = "conv2d.dot", unit = vector, tile = [2, 6, 32, 12], registers = [6, 32]>
  return %r : tensor<1x8x8x32xi32>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
    cpu = "icelake-server", features = "+avx2,+fma,+avx512f,+avx512vnni", vector_bits = 512>} {
func.func @first(%x: tensor<1x8x6x6xi8>, %w: tensor<32x8x1x1xi8>, %d: tensor<1x32x6x6xi32>) -> tensor<1x32x6x6xi32> {
  // expected-error @below {{expects channels last for the variant 'conv2d.dot', found nchw}}
  %r = tracea.conv2d layout nchw filter kcrs ins(%x, %w : tensor<1x8x6x6xi8>, tensor<32x8x1x1xi8>) outs(%d : tensor<1x32x6x6xi32>)
         schedule <variant = "conv2d.dot", unit = vector, tile = [2, 16, 32, 8], registers = [8, 16]>
  return %r : tensor<1x32x6x6xi32>
}
}

// -----

// What is beyond a group's channels is the next group's: no zeros.
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
    cpu = "icelake-server", features = "+avx2,+fma,+avx512f,+avx512vnni", vector_bits = 512>} {
func.func @groups(%x: tensor<1x6x6x12xi8>, %w: tensor<32x1x1x6xi8>, %d: tensor<1x6x6x32xi32>) -> tensor<1x6x6x32xi32> {
  // expected-error @below {{expects groups of whole words of 4 channels for the variant 'conv2d.dot', found 'tensor<32x1x1x6xi8>'}}
  %r = tracea.conv2d layout nhwc filter krsc groups 2 ins(%x, %w : tensor<1x6x6x12xi8>, tensor<32x1x1x6xi8>) outs(%d : tensor<1x6x6x32xi32>)
         schedule <variant = "conv2d.dot", unit = vector, tile = [2, 6, 32, 8], registers = [6, 32]>
  return %r : tensor<1x6x6x32xi32>
}
}

// -----

// A unit of tiles: both sides are zero up to whole tiles of channels, and the sums
// pass through all taps in the unit's lanes.
// CHECK-DAG:   #[[UNIT:.*]] = #tracea_pipe.lanes<lane = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], outer = [1, 2]>
// CHECK:       tracea_pipe.kernel @conv2d_0({{.*}} variant = "conv2d.dot"
// CHECK:         tracea_pipe.stage {{.*}} limits({{.*}}, %c16, %c4) padded [1, 2, 3] : memref<1x15x15x10xi8> -> tensor<5x33x16x4xi8, #tracea_pipe.staged>
// CHECK:         tracea_pipe.stage {{.*}} limits(%c3, %c3, %c16, %c32, %c4) padded [0, 3] : memref<32x3x3x10xi8> -> tensor<3x3x16x32x4xi8, #tracea_pipe.staged>
// CHECK:         %[[SUM:.*]] = scf.for {{.*}} -> (tensor<16x32xi32, #[[UNIT]]>)
// CHECK:           scf.for {{.*}} -> (tensor<16x32xi32, #[[UNIT]]>)
// CHECK:             tracea_pipe.mma {{.*}} depth(%c16) : tensor<16x16x4xi8, #tracea_pipe.staged>, tensor<16x32x4xi8, #tracea_pipe.staged>, tensor<16x32xi32, #[[UNIT]]>
// CHECK:         %[[V:.*]] = tracea_pipe.relayout %[[SUM]]
// CHECK-NEXT:    tracea_pipe.store %[[V]]
#amx = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "sapphirerapids",
                      features = "+avx2,+fma,+avx512f,+amx-tile,+amx-int8", vector_bits = 512>
module attributes {tracea.target = #amx} {
func.func @tiles(%x: tensor<1x15x15x10xi8>, %w: tensor<32x3x3x10xi8>, %d: tensor<1x8x8x32xi32>) -> tensor<1x8x8x32xi32> {
  %r = tracea.conv2d layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1]
         ins(%x, %w : tensor<1x15x15x10xi8>, tensor<32x3x3x10xi8>) outs(%d : tensor<1x8x8x32xi32>)
         schedule <variant = "conv2d.dot", unit = amx, tile = [2, 16, 32, 64], registers = [16, 32]>
  return %r : tensor<1x8x8x32xi32>
}
}

// -----

// Each row of the image is whole tiles of the unit.
#amx = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "sapphirerapids",
                      features = "+avx2,+fma,+avx512f,+amx-tile,+amx-int8", vector_bits = 512>
module attributes {tracea.target = #amx} {
func.func @short_rows(%x: tensor<1x8x8x64xi8>, %w: tensor<32x3x3x64xi8>, %d: tensor<1x8x8x32xi32>) -> tensor<1x8x8x32xi32> {
  // expected-error @below {{expects a register tile of whole tiles of 16 x 16 on the unit 'amx'}}
  %r = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1]
         ins(%x, %w : tensor<1x8x8x64xi8>, tensor<32x3x3x64xi8>) outs(%d : tensor<1x8x8x32xi32>)
         schedule <variant = "conv2d.dot", unit = amx, tile = [4, 8, 32, 64], registers = [32, 32]>
  return %r : tensor<1x8x8x32xi32>
}
}

// -----

// Of a register tile with more pixels than its grid tile is wide rows of the image go together: all
// of them meet all taps, whether these see the image or not.
// CHECK-LABEL: func.func @rows(
// CHECK:         tracea_pipe.kernel
// CHECK:         scf.for %[[P:.*]] = %c0 to
// CHECK:           scf.for %{{.*}} = %c0 to %c3 step %c1 iter_args(%{{.*}} = %{{.*}}) -> (tensor<16x32xi32, #{{.*}}>)
// CHECK:             tracea_pipe.mma {{.*}} : tensor<16x16x4xi8, #tracea_pipe.staged>, tensor<16x32x4xi8, #tracea_pipe.staged>, tensor<16x32xi32, #{{.*}}>
// CHECK:           tracea_pipe.store
// CHECK:         } {tracea_pipe.unroll_and_jam = 2 : i64}
#amx = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "sapphirerapids",
                      features = "+avx2,+fma,+avx512f,+amx-tile,+amx-int8", vector_bits = 512>
module attributes {tracea.target = #amx} {
func.func @rows(%x: tensor<1x8x14x10xi8>, %w: tensor<32x3x3x10xi8>, %d: tensor<1x8x14x32xi32>) -> tensor<1x8x14x32xi32> {
  %r = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1]
         ins(%x, %w : tensor<1x8x14x10xi8>, tensor<32x3x3x10xi8>) outs(%d : tensor<1x8x14x32xi32>)
         schedule <variant = "conv2d.dot", unit = amx, tile = [4, 16, 32, 64], registers = [32, 32]>
  return %r : tensor<1x8x14x32xi32>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
    cpu = "sapphirerapids", features = "+avx2,+fma,+avx512f,+amx-tile,+amx-int8", vector_bits = 512>} {
func.func @groups(%x: tensor<1x6x6x96xi8>, %w: tensor<32x1x1x48xi8>, %d: tensor<1x6x6x32xi32>) -> tensor<1x6x6x32xi32> {
  // expected-error @below {{expects groups of whole tiles of 64 channels for the variant 'conv2d.dot', found 'tensor<32x1x1x48xi8>'}}
  %r = tracea.conv2d layout nhwc filter krsc groups 2 ins(%x, %w : tensor<1x6x6x96xi8>, tensor<32x1x1x48xi8>) outs(%d : tensor<1x6x6x32xi32>)
         schedule <variant = "conv2d.dot", unit = amx, tile = [2, 16, 32, 64], registers = [16, 32]>
  return %r : tensor<1x6x6x32xi32>
}
}

// -----

// Whole tiles of an image that no tap leaves are read where they lie: nothing is staged but the
// filter, and sums of a unit ask for no lines of the result.
// CHECK-DAG:   #[[INTO:map[0-9]*]] = affine_map<(d0, d1, d2) -> (0, 0, d0 * 2, d1 * 4 + d2)>
// CHECK:       tracea_pipe.kernel @conv2d_0(
// CHECK:         tracea_pipe.stage {{.*}} : memref<32x1x2x128xi8>
// CHECK-NOT:     = tracea_pipe.stage
// CHECK-NOT:     tracea_pipe.prefetch
// CHECK:         %[[A:.*]] = tracea_pipe.view {{.*}} map #[[INTO]] : memref<1x4x33x128xi8> -> memref<16x16x4xi8, strided<[256, 4, 1], offset: ?>>
// CHECK:         tracea_pipe.mma %[[A]], {{.*}} depth(%{{.*}}) :
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
    cpu = "sapphirerapids", features = "+avx2,+fma,+avx512f,+amx-tile,+amx-int8", vector_bits = 512>} {
func.func @in_place(%x: tensor<1x4x33x128xi8>, %w: tensor<32x1x2x128xi8>, %d: tensor<1x4x16x32xi32>) -> tensor<1x4x16x32xi32> {
  %r = tracea.conv2d layout nhwc filter krsc strides [1, 2]
         ins(%x, %w : tensor<1x4x33x128xi8>, tensor<32x1x2x128xi8>) outs(%d : tensor<1x4x16x32xi32>)
         schedule <variant = "conv2d.dot", unit = amx, tile = [2, 16, 32, 64], registers = [16, 32], staged = 0>
  return %r : tensor<1x4x16x32xi32>
}
}

// -----

// An image that is one run is asked for ahead where it is less than the result, and streams by
// itself where it is more.
#amx = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "sapphirerapids",
                      features = "+avx2,+fma,+avx512f,+avx512bf16,+amx-tile,+amx-bf16", vector_bits = 512>
// CHECK-LABEL: func.func @mostly_read(
// CHECK:       tracea_pipe.kernel @conv2d_1(
// CHECK:         tracea_pipe.prefetch %{{.*}} write : memref<1x1x64x64xf32>
// CHECK-NOT:     tracea_pipe.prefetch
// CHECK:         tracea_pipe.mma
// CHECK-LABEL: func.func @mostly_written(
// CHECK:       tracea_pipe.kernel @conv2d_1(
// CHECK:         tracea_pipe.prefetch %{{.*}} write : memref<1x1x64x256xf32>
// CHECK:         tracea_pipe.prefetch %{{.*}} : memref<1x1x64x256xbf16>
// CHECK:         tracea_pipe.mma
module attributes {tracea.target = #amx} {
func.func @mostly_read(%x: tensor<1x1x64x256xbf16>, %w: tensor<64x1x1x256xbf16> {tracea.constant}, %d: tensor<1x1x64x64xf32>) -> tensor<1x1x64x64xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x1x64x256xbf16>, tensor<64x1x1x256xbf16>) outs(%d : tensor<1x1x64x64xf32>)
         schedule <variant = "conv2d.dot", unit = amx, tile = [1, 32, 64, 256], registers = [32, 32], staged = 0>
  return %0 : tensor<1x1x64x64xf32>
}
}

// -----

#amx = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "sapphirerapids",
                      features = "+avx2,+fma,+avx512f,+avx512bf16,+amx-tile,+amx-bf16", vector_bits = 512>
module attributes {tracea.target = #amx} {
func.func @mostly_written(%x: tensor<1x1x64x256xbf16>, %w: tensor<256x1x1x256xbf16> {tracea.constant}, %d: tensor<1x1x64x256xf32>) -> tensor<1x1x64x256xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x1x64x256xbf16>, tensor<256x1x1x256xbf16>) outs(%d : tensor<1x1x64x256xf32>)
         schedule <variant = "conv2d.dot", unit = amx, tile = [1, 32, 256, 256], registers = [32, 32], staged = 0>
  return %0 : tensor<1x1x64x256xf32>
}
}

// -----

// Pixels that fill no tile are staged.
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
    cpu = "sapphirerapids", features = "+avx2,+fma,+avx512f,+amx-tile,+amx-int8", vector_bits = 512>} {
func.func @part_of_a_tile(%x: tensor<1x4x15x128xi8>, %w: tensor<32x1x1x128xi8>, %d: tensor<1x4x15x32xi32>) -> tensor<1x4x15x32xi32> {
  // expected-error @below {{reads its image where it lies (staged = 0), which has to have the accumulator's element type, or pixels and channels that fill the tiles of a unit}}
  %r = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x4x15x128xi8>, tensor<32x1x1x128xi8>) outs(%d : tensor<1x4x15x32xi32>)
         schedule <variant = "conv2d.dot", unit = amx, tile = [2, 16, 32, 64], registers = [16, 32], staged = 0>
  return %r : tensor<1x4x15x32xi32>
}
}

// -----

// Of one channel words are of neighbouring taps. Behind the fifth tap filters are zeros, and the
// patch goes on: it has what three more taps of the last pixel see.
// CHECK-DAG:   #[[ROWS:map[0-9]*]] = affine_map<(d0, d1) -> (0, d0, d1, 0)>
// CHECK-DAG:   #[[TAPS:map[0-9]*]] = affine_map<(d0, d1, d2, d3, d4) -> (d3, d0, d2 * 4 + d4, d1)>
// CHECK-DAG:   #[[ALONG:map[0-9]*]] = affine_map<(d0, d1, d2) -> (0, d0 * 3 + d1 * 4 + d2)>
// CHECK:       tracea_pipe.kernel @conv2d_0({{.*}} variant = "conv2d.dot"
// CHECK:         %[[P:.*]] = tracea_pipe.stage {{.*}} map #[[ROWS]] limits(%{{.*}}, %{{.*}}) padded [1, 2] : memref<1x9x30x1xi8> -> tensor<4x23xui8, #tracea_pipe.staged>
// CHECK:         %[[F:.*]] = tracea_pipe.stage {{.*}} map #[[TAPS]] limits(%c3, %c1, %c2, %c32, %c4) padded [0, 2] : memref<32x3x5x1xi8> -> tensor<3x1x2x32x4xi8, #tracea_pipe.staged>
// CHECK:           %[[A:.*]] = tracea_pipe.view %[[P]]{{.*}} map #[[ALONG]] : {{.*}} -> tensor<6x2x4xui8, #tracea_pipe.staged>
// CHECK:           tracea_pipe.mma %[[A]], %{{.*}} depth(%c2)
// Of floats such a word would meet an infinite pixel with a zero: they are of channels.
// CHECK:       tracea_pipe.kernel @conv2d_1({{.*}} variant = "conv2d.dot"
// CHECK:         tracea_pipe.stage {{.*}} : memref<1x9x30x1xbf16> -> tensor<4x20x1x2xbf16, #tracea_pipe.staged>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
    cpu = "znver4", features = "+avx2,+fma,+avx512f,+avx512vnni,+avx512bf16", vector_bits = 512>} {
func.func @one_channel(%x: tensor<1x9x30x1xi8>, %w: tensor<32x3x5x1xi8>, %d: tensor<1x9x10x32xi32>,
                       %y: tensor<1x9x30x1xbf16>, %v: tensor<32x3x5x1xbf16>, %e: tensor<1x9x10x32xf32>) -> (tensor<1x9x10x32xi32>, tensor<1x9x10x32xf32>) {
  %0 = tracea.conv2d layout nhwc filter krsc strides [1, 3] pads [1, 1, 1, 1]
         ins(%x, %w : tensor<1x9x30x1xi8>, tensor<32x3x5x1xi8>) outs(%d : tensor<1x9x10x32xi32>)
         schedule <variant = "conv2d.dot", unit = vector, tile = [2, 6, 32, 4], registers = [6, 32]>
  %1 = tracea.conv2d layout nhwc filter krsc strides [1, 3] pads [1, 1, 1, 1]
         ins(%y, %v : tensor<1x9x30x1xbf16>, tensor<32x3x5x1xbf16>) outs(%e : tensor<1x9x10x32xf32>)
         schedule <variant = "conv2d.dot", unit = vector, tile = [2, 6, 32, 2], registers = [6, 32]>
  return %0, %1 : tensor<1x9x10x32xi32>, tensor<1x9x10x32xf32>
}
}
