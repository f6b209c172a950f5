// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --split-input-file | FileCheck %s

// Words of a constant right operand are packed by a kernel of its own, place by place in a word:
// 71 elements of k are 36 words, and 48 in whole steps of the unit, 20 columns two panels of 16.
// The product reads them where they lie.
#amx = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "sapphirerapids",
                      features = "+avx2,+fma,+avx512f,+avx512bf16,+amx-tile,+amx-bf16", vector_bits = 512>
// CHECK-DAG: #[[WORDS:.*]] = affine_map<(d0, d1, d2, d3) -> (d1 * 2 + d3, d0 * 16 + d2)>
// CHECK-DAG: #[[PANELS:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 16, d2 floordiv 2, d1 mod 16, d2 mod 2)>
// CHECK-DAG: #[[FROM:.*]] = affine_map<(d0, d1) -> (d0 * 2, d1)>
// CHECK-DAG: #[[INTO:.*]] = affine_map<(d0, d1) -> (0, d0, d1, 0)>
// CHECK-DAG: #[[WINDOW:.*]] = affine_map<(d0, d1, d2) -> (0, d0, d1, d2)>
// CHECK-LABEL: func.func @product(
// CHECK-SAME:    %[[A:[^ ]*]]: tensor<33x71xbf16>, %[[B:[^ ]*]]: tensor<71x20xbf16>
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<2x48x16x2xbf16>
// CHECK:         %[[P:.*]] = tracea_pipe.launch @gemm_0 ins(%[[B]] : {{.*}}) outs(%[[E]] : {{.*}})
// CHECK:         tracea_pipe.launch @gemm_1 ins(%[[A]], %[[P]] : tensor<33x71xbf16>, tensor<2x48x16x2xbf16>)
// CHECK:       tracea_pipe.kernel @gemm_0(
// CHECK-SAME:    maps = [#[[WORDS]]]
// CHECK:         tiles (%[[I:.*]], %[[K:.*]]) in (%c2, %c48)
// CHECK:         scf.for %[[W:.*]] = %c0 to %c2 step %c1 {
// CHECK:           tracea_pipe.load {{.*}} map #[[FROM]] limits
// CHECK:           tracea_pipe.store {{.*}}[%[[I]], %{{.*}}, %c0, %[[W]]] map #[[INTO]] limits
// CHECK:       tracea_pipe.kernel @gemm_1(
// CHECK:         tracea_pipe.stage %arg0
// CHECK-NOT:     = tracea_pipe.stage
// CHECK:         %[[V:.*]] = tracea_pipe.view %arg1[%{{.*}}, %{{.*}}, %c0, %c0] map #[[WINDOW]] : memref<2x48x16x2xbf16> -> memref<32x16x2xbf16, strided<[32, 2, 1], offset: ?>>
// CHECK:         tracea_pipe.mma %{{.*}}, %[[V]]
module attributes {tracea.target = #amx} {
func.func @product(%a: tensor<33x71xbf16>, %b: tensor<71x20xbf16> {tracea.constant}, %d: tensor<33x20xf32>) -> tensor<33x20xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<33x71xbf16>, tensor<71x20xbf16>) outs(%d : tensor<33x20xf32>)
         schedule <variant = "gemm.dot", unit = amx, tile = [48, 32, 64, 48], registers = [16, 16]>
  return %0 : tensor<33x20xf32>
}
}

// -----

// So are those of a filter, of vectors as of tiles: panels have all taps of their filters.
#bf16 = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "znver4",
                       features = "+avx2,+fma,+avx512f,+avx512bf16", vector_bits = 512>
// CHECK-DAG: #[[WORDS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0 * 32 + d4, d1, d2, d3 * 2 + d5)>
// CHECK-LABEL: func.func @filter(
// CHECK:         tracea_pipe.launch @conv2d_0 ins(%{{.*}} : tensor<40x3x3x7xbf16>) outs(%{{.*}} : tensor<2x3x3x4x32x2xbf16>)
// CHECK:       tracea_pipe.kernel @conv2d_0(
// CHECK-SAME:    maps = [#[[WORDS]]]
// CHECK:       tracea_pipe.kernel @conv2d_1(
// CHECK:         tracea_pipe.view %arg1[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %c0, %c0] {{.*}} : memref<2x3x3x4x32x2xbf16> -> memref<4x32x2xbf16, strided<[64, 2, 1], offset: ?>>
module attributes {tracea.target = #bf16} {
func.func @filter(%x: tensor<1x9x9x7xbf16>, %w: tensor<40x3x3x7xbf16> {tracea.constant}, %d: tensor<1x7x7x40xf32>) -> tensor<1x7x7x40xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x9x9x7xbf16>, tensor<40x3x3x7xbf16>) outs(%d : tensor<1x7x7x40xf32>)
         schedule <variant = "conv2d.dot", unit = vector, tile = [2, 8, 64, 8], registers = [4, 32]>
  return %0 : tensor<1x7x7x40xf32>
}
}

// -----

// Words whose columns are summed up as well, for bytes without a sign, are staged, and so are words
// of neighbouring taps.
#vnni = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "znver4",
                       features = "+avx2,+fma,+avx512f,+avx512vnni", vector_bits = 512>
// CHECK-LABEL: func.func @bytes(
// CHECK:       tracea_pipe.kernel @gemm_0(
// CHECK-COUNT-2: = tracea_pipe.stage
// CHECK-NOT:   tracea_pipe.kernel
module attributes {tracea.target = #vnni} {
func.func @bytes(%a: tensor<33x71xi8>, %b: tensor<71x20xi8> {tracea.constant}, %d: tensor<33x20xi32>) -> tensor<33x20xi32> {
  %0 = tracea.gemm ins(%a, %b : tensor<33x71xi8>, tensor<71x20xi8>) outs(%d : tensor<33x20xi32>)
         schedule <variant = "gemm.dot", unit = vector, tile = [40, 32, 64, 40], registers = [4, 32]>
  return %0 : tensor<33x20xi32>
}
}

// -----

#tiles = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "sapphirerapids",
                        features = "+avx2,+fma,+avx512f,+amx-tile,+amx-int8", vector_bits = 512>
// CHECK-LABEL: func.func @taps(
// CHECK:       tracea_pipe.kernel @conv2d_0(
// CHECK-COUNT-2: = tracea_pipe.stage
// CHECK-NOT:   tracea_pipe.kernel
module attributes {tracea.target = #tiles} {
func.func @taps(%x: tensor<1x9x30x1xi8>, %w: tensor<32x3x5x1xi8> {tracea.constant}, %d: tensor<1x9x10x32xi32>) -> tensor<1x9x10x32xi32> {
  %0 = tracea.conv2d layout nhwc filter krsc strides [1, 3] pads [1, 1, 1, 1]
         ins(%x, %w : tensor<1x9x30x1xi8>, tensor<32x3x5x1xi8>) outs(%d : tensor<1x9x10x32xi32>)
         schedule <variant = "conv2d.dot", unit = amx, tile = [2, 16, 32, 64], registers = [16, 32]>
  return %0 : tensor<1x9x10x32xi32>
}
}
