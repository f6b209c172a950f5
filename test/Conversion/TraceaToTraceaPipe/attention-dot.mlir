// Attention by words: queries, keys and values are staged as narrow as they are, with
// neighbours along what is added up side by side, and weights are rounded to their type.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse --split-input-file | FileCheck %s

// Vectors hold the sums. Words of keys are of elements of a head, those of values of
// neighbouring keys. Both are zero beyond the ends, for all of a word is multiplied.
// CHECK-DAG:   #[[QMAP:map[0-9]*]] = affine_map<(d0, d1, d2, d3) -> (0, 0, d0 * 4 + d2, d1 * 2 + d3)>
// CHECK-DAG:   #[[KMAP:map[0-9]*]] = affine_map<(d0, d1, d2, d3) -> (0, 0, d0 * 32 + d2, d1 * 2 + d3)>
// CHECK-DAG:   #[[VMAP:map[0-9]*]] = affine_map<(d0, d1, d2, d3) -> (0, 0, d1 * 2 + d3, d0 * 32 + d2)>
// CHECK-DAG:   #[[WMAP:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d0, d1 * 2 + d2)>
// CHECK-LABEL: tracea_pipe.kernel @attention_0({{.*}} variant = "attention.dot"
// CHECK:         %[[SCORES:.*]] = tracea_pipe.scratch : memref<4x64xf32
// CHECK:         %[[WEIGHTS:.*]] = tracea_pipe.scratch : memref<4x64xbf16
// CHECK:         %[[OUT:.*]] = tracea_pipe.scratch : memref<8x32xf32
// CHECK:         tracea_pipe.stage {{.*}} map #[[QMAP]] {{.*}} padded [2, 3] : {{.*}} -> tensor<2x4x4x2xbf16, #tracea_pipe.staged>
// CHECK:         tracea_pipe.stage {{.*}} map #[[KMAP]] {{.*}} padded [2, 3] : {{.*}} -> tensor<2x4x32x2xbf16, #tracea_pipe.staged>
// Nine words have seventeen keys.
// CHECK:         tracea_pipe.stage {{.*}} map #[[VMAP]] limits(%c1, %c9, %c32, %c2) padded [2, 3] : {{.*}} -> tensor<1x32x32x2xbf16, #tracea_pipe.staged>
// CHECK:         tracea_pipe.mma {{.*}} : tensor<4x4x2xbf16, #tracea_pipe.staged>, tensor<4x32x2xbf16, #tracea_pipe.staged>, tensor<4x32xf32
// CHECK:         tracea_pipe.store %{{.*}}, %[[SCORES]]
// The sum is one of weights that are not rounded.
// CHECK:         %[[WEIGHT:.*]] = math.exp2 %{{.*}} {tracea_pipe.flushes} : tensor<4x16xf32
// CHECK-NEXT:    %[[ROUNDED:.*]] = arith.truncf %[[WEIGHT]] {tracea_pipe.flushes} :
// CHECK-NEXT:    tracea_pipe.store %[[ROUNDED]], %[[WEIGHTS]]
// CHECK-NEXT:    arith.addf %{{.*}}, %[[WEIGHT]]
// CHECK:         %[[VIEW:.*]] = tracea_pipe.view %[[WEIGHTS]][%c0, %c0] map #[[WMAP]] : {{.*}} -> memref<4x32x2xbf16, strided<[64, 2, 1], offset: ?>
// CHECK:         %[[KEPT:.*]] = arith.mulf
// CHECK:         tracea_pipe.mma %[[VIEW]], %{{.*}}, %[[KEPT]] depth(%c9)
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
    cpu = "znver4", features = "+avx2,+fma,+avx512f,+avx512bf16", vector_bits = 512>} {
func.func @pairs(%q: tensor<2x4x8x7xbf16>, %k: tensor<2x4x17x7xbf16>, %v: tensor<2x4x17x5xbf16>, %d: tensor<2x4x8x5xbf16>) -> tensor<2x4x8x5xbf16> {
  %0 = tracea.attention ins(%q, %k, %v : tensor<2x4x8x7xbf16>, tensor<2x4x17x7xbf16>, tensor<2x4x17x5xbf16>) outs(%d : tensor<2x4x8x5xbf16>)
         schedule <variant = "attention.dot", unit = vector, tile = [8, 64], registers = [4, 32]> -> tensor<2x4x8x5xbf16>
  return %0 : tensor<2x4x8x5xbf16>
}
}

// -----

// Tiles of a unit: products are stored as they are, in rows that lie an odd number of
// lines apart, and vectors take the softmax of eight rows at a time.
// CHECK-LABEL: tracea_pipe.kernel @attention_0({{.*}} variant = "attention.dot"
// CHECK:         %[[SCORES:.*]] = tracea_pipe.scratch : memref<16x80xf32
// CHECK:         %[[WEIGHTS:.*]] = tracea_pipe.scratch : memref<16x96xbf16
// CHECK:         %[[OUT:.*]] = tracea_pipe.scratch : memref<16x32xf32
// CHECK:         tracea_pipe.scratch : memref<16xf32
// CHECK:         tracea_pipe.scratch : memref<16x16xf32
// CHECK:         %[[DECAYS:.*]] = tracea_pipe.scratch : memref<16xf32
// CHECK:         %[[PRODUCTS:.*]] = tracea_pipe.scratch : memref<16x32xf32
// Words of a row of queries are side by side, as many as the unit adds up.
// CHECK:         tracea_pipe.stage {{.*}} -> tensor<1x16x16x2xbf16, #tracea_pipe.staged>
// CHECK:         tracea_pipe.stage {{.*}} -> tensor<2x16x32x2xbf16, #tracea_pipe.staged>
// CHECK:         tracea_pipe.stage {{.*}} limits(%c1, %c16, %c32, %c2) {{.*}} -> tensor<1x32x32x2xbf16, #tracea_pipe.staged>
// Of sixteen rows those that there are.
// CHECK:         scf.for %{{.*}} = %c0 to %{{.*}} step %c16 {
// CHECK:           %[[LENGTH:.*]] = arith.minsi %{{.*}}, %c16
// Of a block that the mask hides nothing is multiplied.
// CHECK:         scf.if
// CHECK:           %[[PRODUCT:.*]] = tracea_pipe.mma
// CHECK-NEXT:      %[[ROWS:.*]] = tracea_pipe.relayout %[[PRODUCT]]
// CHECK-NEXT:      tracea_pipe.store %[[ROWS]], %[[SCORES]]
// CHECK:         else
// CHECK-NEXT:      tracea_pipe.store %{{.*}}, %[[SCORES]]
// CHECK:         scf.for %[[ROW:.*]] = %c0 to %[[LENGTH]] step %c8 {
// CHECK-NEXT:      tracea_pipe.load %[[SCORES]][%[[ROW]], %{{.*}} -> tensor<8x32xf32
// CHECK:           tracea_pipe.store %{{.*}}, %[[WEIGHTS]][%[[ROW]]
// CHECK:           tracea_pipe.store %{{.*}}, %[[DECAYS]][%[[ROW]]]
// CHECK:         %[[SUM:.*]] = tracea_pipe.mma {{.*}} depth(%c16)
// CHECK-NEXT:    %[[VECTORS:.*]] = tracea_pipe.relayout %[[SUM]]
// CHECK-NEXT:    tracea_pipe.store %[[VECTORS]], %[[PRODUCTS]]
// CHECK:         scf.for %[[ROW:.*]] = %c0 to %[[LENGTH]] step %c8 {
// CHECK:           %[[DECAY:.*]] = tracea_pipe.load %[[DECAYS]][%[[ROW]]]
// CHECK:           %[[KEPT:.*]] = arith.mulf
// CHECK:           %[[MORE:.*]] = tracea_pipe.load %[[PRODUCTS]][%[[ROW]], %c0]
// CHECK-NEXT:      %[[ALL:.*]] = arith.addf %[[KEPT]], %[[MORE]]
// CHECK-NEXT:      tracea_pipe.store %[[ALL]], %[[OUT]]
module attributes {tracea.target = #tracea.target<kind = cpu, name = "sapphirerapids", triple = "x86_64-unknown-linux-gnu", cpu = "sapphirerapids",
    features = "+avx2,+fma,+avx512f,+avx512bf16,+amx-tile,+amx-bf16", vector_bits = 512>} {
func.func @tiles(%q: tensor<2x4x10x7xbf16>, %k: tensor<2x4x17x7xbf16>, %v: tensor<2x4x17x5xbf16>, %m: tensor<1x1x1x1xi1>, %d: tensor<2x4x10x5xbf16>) -> tensor<2x4x10x5xbf16> {
  %0 = tracea.attention ins(%q, %k, %v : tensor<2x4x10x7xbf16>, tensor<2x4x17x7xbf16>, tensor<2x4x17x5xbf16>)
         block_mask(%m : tensor<1x1x1x1xi1>) block_size [16, 32] outs(%d : tensor<2x4x10x5xbf16>)
         schedule <variant = "attention.dot", unit = amx, tile = [16, 64], registers = [16, 32]> -> tensor<2x4x10x5xbf16>
  return %0 : tensor<2x4x10x5xbf16>
}
}
