// Sums in parts on CPUs: tasks of each part write it in the type of sums, and a
// second kernel adds parts up in their order and applies the epilogue. All are
// proved.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse | FileCheck %s --check-prefix=TILE
// RUN: tracea-opt %s --tracea-compile="from=decision to=pipeline require-proof=true" -o %t.mlir
// RUN: FileCheck %s --check-prefix=PROVED < %t.mlir
// RUN: FileCheck %s --check-prefix=NUMERICS < %t.mlir

#cpu = #tracea.target<kind = cpu, name = "sapphirerapids", triple = "x86_64-unknown-linux-gnu", cpu = "sapphirerapids",
                      features = "+avx2,+fma,+avx512f,+avx512vnni,+avx512bf16,+amx-tile,+amx-int8,+amx-bf16", vector_bits = 512, vector_registers = 32, cores = 2>
module attributes {tracea.target = #cpu} {
// Parts that are all alike have a known length.
// TILE-LABEL: func.func @alike(
// TILE: %[[PARTS:.*]] = tracea_pipe.launch @gemm_0 ins(%{{[a-z0-9]+}}, %{{[a-z0-9]+}} : {{.*}} -> tensor<2x64x64xf32>
// TILE: tracea_pipe.launch @gemm_1 ins(%[[PARTS]] : tensor<2x64x64xf32>)
func.func @alike(%a: tensor<64x1024xf32>, %b: tensor<1024x64xf32>, %d: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<64x1024xf32>, tensor<1024x64xf32>) outs(%d : tensor<64x64xf32>)
    schedule <variant = "gemm.direct", unit = vector, tile = [64, 64, 64], registers = [8, 32], split = 2>
  return %0 : tensor<64x64xf32>
}

// Of five blocks the parts take two, two, one and none.
// TILE-LABEL: func.func @uneven(
// TILE: %[[SUMS:.*]] = tracea_pipe.launch @gemm_2 {{.*}} -> tensor<4x3x20x50xf32>
// TILE: tracea_pipe.launch @gemm_3 ins(%[[SUMS]], %{{[a-z0-9]+}} : tensor<4x3x20x50xf32>, tensor<50xf32>)
func.func @uneven(%a: tensor<3x20x150xbf16>, %b: tensor<150x50xbf16>, %bias: tensor<50xf32>, %d: tensor<3x20x50xbf16>) -> tensor<3x20x50xbf16> {
  %0 = tracea.gemm ins(%a, %b : tensor<3x20x150xbf16>, tensor<150x50xbf16>) outs(%d : tensor<3x20x50xbf16>)
    schedule <variant = "gemm.packed", unit = vector, tile = [16, 64, 32, 8], registers = [8, 32], split = 4>
    epilogue(%bias by affine_map<(z, i, j) -> (j)> : tensor<50xf32>) {
  ^bb0(%acc: f32, %x: f32):
    %s = arith.addf %acc, %x : f32
    %r = arith.truncf %s : f32 to bf16
    tracea.yield %r : bf16
  }
  return %0 : tensor<3x20x50xbf16>
}

// Only the run knows how long the sums are; one panel of columns keeps those of
// a part in registers.
func.func @open(%a: tensor<?x?xf32>, %b: tensor<?x16xf32>, %d: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<?x?xf32>, tensor<?x16xf32>) outs(%d : tensor<?x16xf32>)
    schedule <variant = "gemm.direct", unit = vector, tile = [32, 16, 64], registers = [8, 16], split = 3>
  return %0 : tensor<?x16xf32>
}

// The last part has one block, the other one two.
func.func @last(%a: tensor<8x96xf32>, %b: tensor<96x64xf32>, %d: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<8x96xf32>, tensor<96x64xf32>) outs(%d : tensor<8x64xf32>)
    schedule <variant = "gemm.direct", unit = vector, tile = [8, 64, 32], registers = [8, 32], split = 2>
  return %0 : tensor<8x64xf32>
}

// By words, and by tiles of words. A part of one block asks for no other.
func.func @words(%a: tensor<33x500xi8>, %b: tensor<500x65xi8>, %d: tensor<33x65xi32>) -> tensor<33x65xi32> {
  %0 = tracea.gemm ins(%a, %b : tensor<33x500xi8>, tensor<500x65xi8>) outs(%d : tensor<33x65xi32>)
    schedule <variant = "gemm.dot", unit = vector, tile = [16, 64, 64, 16], registers = [8, 32], split = 3>
  return %0 : tensor<33x65xi32>
}
func.func @block(%a: tensor<33x127xi8>, %b: tensor<127x65xi8>, %d: tensor<33x65xi32>) -> tensor<33x65xi32> {
  %0 = tracea.gemm ins(%a, %b : tensor<33x127xi8>, tensor<127x65xi8>) outs(%d : tensor<33x65xi32>)
    schedule <variant = "gemm.dot", unit = vector, tile = [16, 64, 64, 16], registers = [8, 32], split = 2>
  return %0 : tensor<33x65xi32>
}
func.func @tiles(%a: tensor<33x500xbf16>, %b: tensor<500x65xbf16>, %d: tensor<33x65xf32>) -> tensor<33x65xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<33x500xbf16>, tensor<500x65xbf16>) outs(%d : tensor<33x65xf32>)
    schedule <variant = "gemm.dot", unit = amx, tile = [32, 64, 64, 32], registers = [32, 32], split = 2>
  return %0 : tensor<33x65xf32>
}
}

// Part p sums 512 elements from 512 p on, in blocks that rest in the part.
// TILE-LABEL: tracea_pipe.kernel @gemm_0(
// TILE: tiles (%[[PART:.*]], %{{.*}}, %{{.*}}) in (%c2, %c1, %c1)
// TILE: %[[BEGIN:.*]] = arith.muli %[[PART]], %c512
// TILE: scf.for %[[K:.*]] = %c0 to %c512 step %c64
// TILE: arith.addi %[[BEGIN]], %[[K]]
// TILE: tracea_pipe.load %{{.*}}[%[[PART]],
// TILE: tracea_pipe.store %{{.*}}, %{{.*}}[%[[PART]],
// TILE-LABEL: tracea_pipe.kernel @gemm_1(
// TILE: tiles ({{.*}}) in (%c16, %c1)
// TILE: %[[P0:.*]] = tracea_pipe.load %{{.*}}[%c0,
// TILE: %[[P1:.*]] = tracea_pipe.load %{{.*}}[%c1,
// TILE: arith.addf %[[P0]], %[[P1]] : tensor<4x64xf32

// Parts keep the type of sums between blocks, so that none needs a scratch
// tile; an empty part stores zeros.
// TILE-LABEL: tracea_pipe.kernel @gemm_2(
// TILE: tiles (%[[PART:.*]], %{{.*}}, %{{.*}}, %{{.*}}) in (%c4,
// TILE-NOT: tracea_pipe.scratch
// TILE: %[[BEGIN:.*]] = arith.muli %[[PART]], %c64
// TILE: %[[BEHIND:.*]] = arith.subi %c150, %[[BEGIN]]
// TILE: %[[SIZE:.*]] = arith.minsi %[[BEHIND]], %c64
// TILE: %[[SOME:.*]] = arith.maxsi %[[SIZE]], %c0
// TILE: %[[END:.*]] = arith.maxsi %[[SOME]], %c1
// TILE: scf.for %{{.*}} = %c0 to %[[END]] step %c32
// TILE-NOT: arith.truncf
// TILE-LABEL: tracea_pipe.kernel @gemm_3(
// TILE-COUNT-4: tracea_pipe.load {{.*}}f32, #lanes
// TILE: arith.truncf

// PROVED-COUNT-14: check = "coverage", claim = "all elements of 1 result written exactly once, 1 sum in them as defined with each term once

// NUMERICS: tracea_pipe.kernel @gemm_0({{.*}}: fused f32 products, 64 in a row, from zero; 7 more blocks by arith.addf from the first;
// NUMERICS: tracea_pipe.kernel @gemm_1({{.*}}: element by element; then arith.addf; rounded by arith.addf f32
// NUMERICS: tracea_pipe.kernel @gemm_2({{.*}}: fused f32 products, at most 32 in a row, from zero; at most 1 more blocks by arith.addf from the first;
// NUMERICS: tracea_pipe.kernel @gemm_3({{.*}}: element by element; then arith.addf, arith.addf, arith.addf, arith.addf, arith.truncf;
// NUMERICS: tracea_pipe.kernel @gemm_6({{.*}}: fused f32 products, at most 32 in a row, from zero; at most 1 more blocks by arith.addf from the first;
// NUMERICS: tracea_pipe.kernel @gemm_8({{.*}}: products of dot i8 i8 -> i32 in steps of 4, at most 16 in a row, from zero; at most 2 more blocks by arith.addi from the first; no rounding
// NUMERICS: tracea_pipe.kernel @gemm_12({{.*}}: products of tdpbf16ps bf16 bf16 -> f32 in steps of 32, at most 2 in a row, from zero; at most 3 more blocks by arith.addf from the first;
