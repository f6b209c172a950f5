// Products by words: panels of neighbours along k, as narrow as the operands are.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

#x86 = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "icelake-server",
                      features = "+avx2,+fma,+avx512f,+avx512vnni,+avx512bf16", vector_bits = 512>

// Signed bytes: the left operand is staged in offset form, four along k side by
// side. Both are zero beyond k, for all of a word is multiplied.
// CHECK-DAG:   #[[BMAP:map[0-9]*]] = affine_map<(d0, d1, d2, d3) -> (d1 * 4 + d3, d0 * 32 + d2)>
// CHECK-DAG:   #[[AMAP:map[0-9]*]] = affine_map<(d0, d1, d2, d3) -> (d0 * 8 + d2, d1 * 4 + d3)>
// CHECK-DAG:   #[[BVIEW:map[0-9]*]] = affine_map<(d0, d1, d2) -> (0, d0, d1, d2)>
// CHECK-DAG:   #[[AVIEW:map[0-9]*]] = affine_map<(d0, d1, d2) -> (0, d1, d0, d2)>
// CHECK:       tracea_pipe.kernel @gemm_0({{.*}} variant = "gemm.dot"
// CHECK-DAG:     %[[K:.*]] = memref.dim %{{.*}}, %c1
// CHECK:         scf.for %[[K0:.*]] = %c0 to %{{.*}} step %c1024
// CHECK:           %[[LEFT:.*]] = arith.subi %[[K]], %[[K0]]
// CHECK:           %[[LENGTH:.*]] = arith.minsi %[[LEFT]], %c1024
// CHECK:           %[[WORDS:.*]] = arith.ceildivsi %[[LENGTH]], %c4
// CHECK:           %[[B:.*]] = tracea_pipe.stage %{{.*}} map #[[BMAP]] limits(%{{.*}}, %[[WORDS]], %c32, %c4) padded [0, 1] : memref<?x40xi8> -> tensor<2x256x32x4xi8, #tracea_pipe.staged>
// CHECK:           %[[A:.*]] = tracea_pipe.stage %{{.*}} map #[[AMAP]] limits(%{{.*}}, %[[WORDS]], %c8, %c4) padded [0, 1] : memref<20x?xi8> -> tensor<2x256x8x4xui8, #tracea_pipe.staged>
// CHECK:           %[[BP:.*]] = tracea_pipe.view %[[B]][{{.*}}] map #[[BVIEW]] : {{.*}} -> tensor<256x32x4xi8, #tracea_pipe.staged>
// CHECK:           %[[AP:.*]] = tracea_pipe.view %[[A]][{{.*}}] map #[[AVIEW]] : {{.*}} -> tensor<8x256x4xui8, #tracea_pipe.staged>
// CHECK:           tracea_pipe.mma %[[AP]], %[[BP]], %{{.*}} depth(%[[WORDS]]) : tensor<8x256x4xui8, #tracea_pipe.staged>, tensor<256x32x4xi8, #tracea_pipe.staged>, tensor<8x32xi32
module attributes {tracea.target = #x86} {
func.func @bytes(%a: tensor<20x?xi8>, %b: tensor<?x40xi8>, %d: tensor<20x40xi32>) -> tensor<20x40xi32> {
  %r = tracea.gemm ins(%a, %b : tensor<20x?xi8>, tensor<?x40xi8>) outs(%d : tensor<20x40xi32>)
         schedule <variant = "gemm.dot", unit = vector, tile = [24, 64, 1024, 16], registers = [8, 32]>
  return %r : tensor<20x40xi32>
}
}

// -----

// Pairs of bf16, both operands across: k of each is where its rows are.
// CHECK-DAG:   #[[BMAP:map[0-9]*]] = affine_map<(d0, d1, d2, d3) -> (d0 * 32 + d2, d1 * 2 + d3)>
// CHECK-DAG:   #[[AMAP:map[0-9]*]] = affine_map<(d0, d1, d2, d3) -> (d1 * 2 + d3, d0 * 8 + d2)>
// CHECK:       tracea_pipe.stage {{.*}} map #[[BMAP]] {{.*}} padded [0, 1] : memref<40x33xbf16> -> tensor<2x17x32x2xbf16, #tracea_pipe.staged>
// CHECK:       tracea_pipe.stage {{.*}} map #[[AMAP]] {{.*}} padded [0, 1] : memref<33x20xbf16> -> tensor<3x17x8x2xbf16, #tracea_pipe.staged>
// CHECK:       tracea_pipe.mma {{.*}} depth(%c17) : tensor<8x17x2xbf16, #tracea_pipe.staged>, tensor<17x32x2xbf16, #tracea_pipe.staged>, tensor<8x32xf32
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
    cpu = "znver4", features = "+avx2,+fma,+avx512f,+avx512bf16", vector_bits = 512>} {
func.func @pairs(%a: tensor<33x20xbf16>, %b: tensor<40x33xbf16>, %d: tensor<20x40xf32>) -> tensor<20x40xf32> {
  %r = tracea.gemm transpose_lhs transpose_rhs ins(%a, %b : tensor<33x20xbf16>, tensor<40x33xbf16>) outs(%d : tensor<20x40xf32>)
         schedule <variant = "gemm.dot", unit = vector, tile = [24, 64, 34, 24], registers = [8, 32]>
  return %r : tensor<20x40xf32>
}
}

// -----

// An instruction of two signed operands needs no offset form.
// CHECK:       tracea_pipe.stage {{.*}} -> tensor<2x4x8x4xi8, #tracea_pipe.staged>
// CHECK:       tracea_pipe.stage {{.*}} -> tensor<1x4x8x4xi8, #tracea_pipe.staged>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "aarch64-unknown-linux-gnu",
    cpu = "neoverse-n1", features = "+neon,+dotprod", vector_bits = 128>} {
func.func @signed(%a: tensor<8x16xi8>, %b: tensor<16x16xi8>, %d: tensor<8x16xi32>) -> tensor<8x16xi32> {
  %r = tracea.gemm ins(%a, %b : tensor<8x16xi8>, tensor<16x16xi8>) outs(%d : tensor<8x16xi32>)
         schedule <variant = "gemm.dot", unit = vector, tile = [8, 16, 16, 8], registers = [8, 8]>
  return %r : tensor<8x16xi32>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cpu, name = "old", triple = "x86_64-unknown-linux-gnu",
    cpu = "skylake-avx512", features = "+avx2,+fma,+avx512f", vector_bits = 512>} {
func.func @lacking(%a: tensor<8x16xi8>, %b: tensor<16x32xi8>, %d: tensor<8x32xi32>) -> tensor<8x32xi32> {
  // expected-error @below {{expects dot products of 'i8' into 'i32' for the variant 'gemm.dot', which the unit 'vector' of the target 'old' does not have}}
  %r = tracea.gemm ins(%a, %b : tensor<8x16xi8>, tensor<16x32xi8>) outs(%d : tensor<8x32xi32>)
         schedule <variant = "gemm.dot", unit = vector, tile = [8, 32, 16, 8], registers = [8, 32]>
  return %r : tensor<8x32xi32>
}
}

// -----

// Vectors of another length are another instruction.
module attributes {tracea.target = #tracea.target<kind = cpu, name = "short", triple = "x86_64-unknown-linux-gnu",
    cpu = "icelake-server", features = "+fma,+avx512vnni", vector_bits = 256>} {
func.func @shorter(%a: tensor<8x16xi8>, %b: tensor<16x32xi8>, %d: tensor<8x32xi32>) -> tensor<8x32xi32> {
  // expected-error @below {{expects dot products of 'i8' into 'i32' for the variant 'gemm.dot', which the unit 'vector' of the target 'short' does not have}}
  %r = tracea.gemm ins(%a, %b : tensor<8x16xi8>, tensor<16x32xi8>) outs(%d : tensor<8x32xi32>)
         schedule <variant = "gemm.dot", unit = vector, tile = [8, 32, 16, 8], registers = [8, 32]>
  return %r : tensor<8x32xi32>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
    cpu = "icelake-server", features = "+avx2,+fma,+avx512f,+avx512vnni", vector_bits = 512>} {
func.func @odd(%a: tensor<8x18xi8>, %b: tensor<18x32xi8>, %d: tensor<8x32xi32>) -> tensor<8x32xi32> {
  // expected-error @below {{expects blocks of k in multiples of 4 for the variant 'gemm.dot', found 18}}
  %r = tracea.gemm ins(%a, %b : tensor<8x18xi8>, tensor<18x32xi8>) outs(%d : tensor<8x32xi32>)
         schedule <variant = "gemm.dot", unit = vector, tile = [8, 32, 18, 8], registers = [8, 32]>
  return %r : tensor<8x32xi32>
}
}

// -----

// A unit of tiles: words of a row of the left operand lie side by side, blocks of
// k are whole tiles and zero beyond k, sums have the unit's lanes until vectors
// are made of them, where they are stored.
// CHECK-DAG:   #[[UNIT:.*]] = #tracea_pipe.lanes<lane = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], outer = [2, 2]>
// CHECK-DAG:   #[[ROWS:.*]] = #tracea_pipe.lanes<reg = {{\[\[}}0, 16], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], lane = {{\[\[}}0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
// CHECK-DAG:   #[[BMAP:map[0-9]*]] = affine_map<(d0, d1, d2, d3) -> (d1 * 2 + d3, d0 * 32 + d2)>
// CHECK-DAG:   #[[AMAP:map[0-9]*]] = affine_map<(d0, d1, d2, d3) -> (d0 * 32 + d1, d2 * 2 + d3)>
// CHECK:       tracea_pipe.kernel @gemm_0({{.*}} variant = "gemm.dot"
// CHECK:         %[[TILES:.*]] = arith.ceildivsi %{{.*}}, %c32
// CHECK:         %[[WORDS:.*]] = arith.muli %[[TILES]], %c16
// CHECK:         tracea_pipe.stage %{{.*}} map #[[BMAP]] limits(%{{.*}}, %[[WORDS]], %c32, %c2) padded [0, 1] : memref<?x40xbf16> -> tensor<2x48x32x2xbf16, #tracea_pipe.staged>
// CHECK:         tracea_pipe.stage %{{.*}} map #[[AMAP]] limits(%{{.*}}, %c32, %[[WORDS]], %c2) padded [0, 1] : memref<20x?xbf16> -> tensor<1x32x48x2xbf16, #tracea_pipe.staged>
// CHECK:         %[[SUM:.*]] = tracea_pipe.mma {{.*}} depth(%[[WORDS]]) : tensor<32x48x2xbf16, #tracea_pipe.staged>, tensor<48x32x2xbf16, #tracea_pipe.staged>, tensor<32x32xf32, #[[UNIT]]>
// CHECK:         scf.if
// CHECK:           scf.if
// CHECK-NEXT:        %[[V:.*]] = tracea_pipe.relayout %[[SUM]] : tensor<32x32xf32, #[[UNIT]]> -> tensor<32x32xf32, #[[ROWS]]>
// CHECK-NEXT:        tracea_pipe.store %[[V]]
// CHECK:         } else {
// CHECK:           scf.if
// CHECK-NEXT:        %[[OTHERS:.*]] = tracea_pipe.load
// CHECK-NEXT:        %[[V:.*]] = tracea_pipe.relayout %[[SUM]]
// CHECK-NEXT:        %[[ALL:.*]] = arith.addf %[[OTHERS]], %[[V]]
// CHECK-NEXT:        tracea_pipe.store %[[ALL]]
#amx = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "sapphirerapids",
                      features = "+avx2,+fma,+avx512f,+amx-tile,+amx-bf16", vector_bits = 512>
module attributes {tracea.target = #amx} {
func.func @tiles(%a: tensor<20x?xbf16>, %b: tensor<?x40xbf16>, %d: tensor<20x40xf32>) -> tensor<20x40xf32> {
  %r = tracea.gemm ins(%a, %b : tensor<20x?xbf16>, tensor<?x40xbf16>) outs(%d : tensor<20x40xf32>)
         schedule <variant = "gemm.dot", unit = amx, tile = [32, 64, 96, 32], registers = [32, 32]>
  return %r : tensor<20x40xf32>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
    cpu = "sapphirerapids", features = "+avx2,+fma,+avx512f,+amx-tile,+amx-bf16", vector_bits = 512>} {
func.func @halftile(%a: tensor<8x48xbf16>, %b: tensor<48x32xbf16>, %d: tensor<8x32xf32>) -> tensor<8x32xf32> {
  // expected-error @below {{expects blocks of k in multiples of 32 for the variant 'gemm.dot', found 48}}
  %r = tracea.gemm ins(%a, %b : tensor<8x48xbf16>, tensor<48x32xbf16>) outs(%d : tensor<8x32xf32>)
         schedule <variant = "gemm.dot", unit = amx, tile = [16, 32, 48, 16], registers = [16, 32]>
  return %r : tensor<8x32xf32>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
    cpu = "sapphirerapids", features = "+avx2,+fma,+avx512f,+amx-tile,+amx-bf16", vector_bits = 512>} {
func.func @rows(%a: tensor<8x64xbf16>, %b: tensor<64x32xbf16>, %d: tensor<8x32xf32>) -> tensor<8x32xf32> {
  // expected-error @below {{expects a register tile of whole tiles of 16 x 16 on the unit 'amx', found #tracea.schedule<}}
  %r = tracea.gemm ins(%a, %b : tensor<8x64xbf16>, tensor<64x32xbf16>) outs(%d : tensor<8x32xf32>)
         schedule <variant = "gemm.dot", unit = amx, tile = [8, 32, 64, 8], registers = [8, 32]>
  return %r : tensor<8x32xf32>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
    cpu = "sapphirerapids", features = "+avx2,+fma,+avx512f,+amx-tile,+amx-bf16", vector_bits = 512>} {
func.func @bytes(%a: tensor<16x64xi8>, %b: tensor<64x32xi8>, %d: tensor<16x32xi32>) -> tensor<16x32xi32> {
  // expected-error @below {{expects dot products of 'i8' into 'i32' for the variant 'gemm.dot', which the unit 'amx' of the target 't' does not have}}
  %r = tracea.gemm ins(%a, %b : tensor<16x64xi8>, tensor<64x32xi8>) outs(%d : tensor<16x32xi32>)
         schedule <variant = "gemm.dot", unit = amx, tile = [16, 32, 64, 16], registers = [16, 32]>
  return %r : tensor<16x32xi32>
}
}

// -----

// Blocks of two rows by two columns: words of 64 bits, and sums in registers of
// blocks until a block of k is added up.
// CHECK-DAG:   #[[BLOCKS:.*]] = #tracea_pipe.lanes<lane = {{\[\[}}0, 1], [1, 0]], outer = [4, 4]>
// CHECK:       tracea_pipe.stage {{.*}} -> tensor<2x3x8x8xi8, #tracea_pipe.staged>
// CHECK:       tracea_pipe.stage {{.*}} -> tensor<1x3x8x8xi8, #tracea_pipe.staged>
// CHECK:       %[[S:.*]] = tracea_pipe.mma {{.*}} depth(%c3) : tensor<8x3x8xi8, #tracea_pipe.staged>, tensor<3x8x8xi8, #tracea_pipe.staged>, tensor<8x8xi32, #[[BLOCKS]]>
// CHECK-NEXT:  tracea_pipe.relayout %[[S]] : tensor<8x8xi32, #[[BLOCKS]]>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "aarch64-unknown-linux-gnu",
    cpu = "neoverse-n2", features = "+neon,+dotprod,+i8mm", vector_bits = 128>} {
func.func @blocks(%a: tensor<8x20xi8>, %b: tensor<20x16xi8>, %d: tensor<8x16xi32>) -> tensor<8x16xi32> {
  %r = tracea.gemm ins(%a, %b : tensor<8x20xi8>, tensor<20x16xi8>) outs(%d : tensor<8x16xi32>)
         schedule <variant = "gemm.dot", unit = vector, tile = [8, 16, 24, 8], registers = [8, 8]>
  return %r : tensor<8x16xi32>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "aarch64-unknown-linux-gnu",
    cpu = "neoverse-n2", features = "+neon,+dotprod,+i8mm", vector_bits = 128>} {
func.func @one(%a: tensor<1x16xi8>, %b: tensor<16x16xi8>, %d: tensor<1x16xi32>) -> tensor<1x16xi32> {
  // expected-error @below {{expects a register tile of whole tiles of 2 x 2 on the unit 'vector'}}
  %r = tracea.gemm ins(%a, %b : tensor<1x16xi8>, tensor<16x16xi8>) outs(%d : tensor<1x16xi32>)
         schedule <variant = "gemm.dot", unit = vector, tile = [1, 16, 16, 1], registers = [1, 8]>
  return %r : tensor<1x16xi32>
}
}

// -----

// Rows of A that are whole tiles of a unit are multiplied where they lie, words of four along k as
// they are: only B is staged.
// CHECK-DAG:   #[[WORDS:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d0, d1 * 4 + d2)>
// CHECK:       tracea_pipe.kernel @gemm_0(%[[A:[a-z0-9]*]]: memref<32x128xi8>, %[[B:[a-z0-9]*]]: memref<128x16xi8>
// CHECK-NOT:     tracea_pipe.stage %[[A]]
// CHECK:         tracea_pipe.stage %[[B]]
// CHECK-NOT:     tracea_pipe.stage %[[A]]
// CHECK:         %[[ROWS:.*]] = tracea_pipe.view %[[A]][%{{.*}}, %{{.*}}] map #[[WORDS]] : memref<32x128xi8> -> memref<16x32x4xi8, strided<[128, 4, 1], offset: ?>>
// CHECK:         tracea_pipe.mma %[[ROWS]], %{{.*}} depth(%c32)
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
    cpu = "sapphirerapids", features = "+avx2,+fma,+avx512f,+amx-tile,+amx-int8", vector_bits = 512>} {
func.func @in_place(%a: tensor<32x128xi8>, %b: tensor<128x16xi8>, %d: tensor<32x16xi32>) -> tensor<32x16xi32> {
  %r = tracea.gemm ins(%a, %b : tensor<32x128xi8>, tensor<128x16xi8>) outs(%d : tensor<32x16xi32>)
         schedule <variant = "gemm.dot", unit = amx, tile = [32, 16, 128, 32], registers = [16, 16], staged = 0>
  return %r : tensor<32x16xi32>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
    cpu = "sapphirerapids", features = "+avx2,+fma,+avx512f,+amx-tile,+amx-int8", vector_bits = 512>} {
func.func @cut(%a: tensor<24x128xi8>, %b: tensor<128x16xi8>, %d: tensor<24x16xi32>) -> tensor<24x16xi32> {
  // expected-error @below {{reads rows of lhs where they lie (staged = 0), which have to be whole tiles of a unit, and blocks of k, found 'tensor<24x128xi8>'}}
  %r = tracea.gemm ins(%a, %b : tensor<24x128xi8>, tensor<128x16xi8>) outs(%d : tensor<24x16xi32>)
         schedule <variant = "gemm.dot", unit = amx, tile = [32, 16, 128, 32], registers = [16, 16], staged = 0>
  return %r : tensor<24x16xi32>
}
}

// -----

// What such products add up is never subnormal, and roundings of it may flush as well;
// those of products of integers may not.
// CHECK:       tracea_pipe.kernel @gemm_0(
// CHECK:         arith.truncf %{{.*}} {tracea_pipe.flushes} : tensor<8x32xf32, {{.*}}> to tensor<8x32xbf16
// CHECK:       tracea_pipe.kernel @gemm_1(
// CHECK:         arith.truncf %{{[0-9]*}} : tensor<8x32xf32, {{.*}}> to tensor<8x32xbf16
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
    cpu = "znver4", features = "+avx2,+fma,+avx512f,+avx512vnni,+avx512bf16", vector_bits = 512>} {
func.func @roundings(%a: tensor<8x16xbf16>, %b: tensor<16x32xbf16>, %d: tensor<8x32xbf16>, %x: tensor<8x16xi8>, %y: tensor<16x32xi8>) -> (tensor<8x32xbf16>, tensor<8x32xbf16>) {
  %0 = tracea.gemm ins(%a, %b : tensor<8x16xbf16>, tensor<16x32xbf16>) outs(%d : tensor<8x32xbf16>)
         schedule <variant = "gemm.dot", unit = vector, tile = [8, 32, 16, 8], registers = [8, 32]>
  %1 = tracea.gemm ins(%x, %y : tensor<8x16xi8>, tensor<16x32xi8>) outs(%d : tensor<8x32xbf16>)
         schedule <variant = "gemm.dot", unit = vector, tile = [8, 32, 16, 8], registers = [8, 32]>
         epilogue {
         ^bb0(%sum: i32):
           %half = arith.constant 0.5 : f32
           %number = arith.sitofp %sum : i32 to f32
           %scaled = arith.mulf %number, %half : f32
           %r = arith.truncf %scaled : f32 to bf16
           tracea.yield %r : bf16
         }
  return %0, %1 : tensor<8x32xbf16>, tensor<8x32xbf16>
}
}
