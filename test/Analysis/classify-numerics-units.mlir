// Units of words have classes of their own: tiles of bytes have the class of every
// exact instruction, tiles of bf16 add up 16 words of each operand in one step,
// and vectors one word.
// RUN: tracea-opt %s --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-classify-numerics{require-proof=true}))" | FileCheck %s
#id = affine_map<(i, j) -> (i, j)>
#unit = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], outer = [1, 1]>
#rows = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0], [8, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "sapphirerapids", triple = "", cpu = "sapphirerapids",
    features = "+fma,+avx512f,+avx512vnni,+avx512bf16,+amx-tile,+amx-bf16,+amx-int8", vector_bits = 512>} {
  // CHECK: tracea_pipe.kernel @vectors
  // CHECK-SAME: claim = "class [[EXACT:[0-9a-f]+]]: products of dot i8 i8 -> i32 in steps of 4, 32 in a row, from zero; no rounding"
  tracea_pipe.kernel @vectors(%a: memref<16x32x4xi8>, %b: memref<32x16x4xi8>, %y: memref<16x16xi32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0> : tensor<16x16xi32, #rows>
    tracea_pipe.tiles (%i) in (%c1) {
      %sum = tracea_pipe.mma %a, %b, %zero : memref<16x32x4xi8>, memref<32x16x4xi8>, tensor<16x16xi32, #rows>
      tracea_pipe.store %sum, %y[%c0, %c0] map #id : tensor<16x16xi32, #rows>, memref<16x16xi32>
    }
    tracea_pipe.end
  }
  // CHECK: tracea_pipe.kernel @tiles
  // CHECK-SAME: claim = "class [[EXACT]]:
  tracea_pipe.kernel @tiles(%a: memref<16x32x4xi8>, %b: memref<32x16x4xi8>, %y: memref<16x16xi32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0> : tensor<16x16xi32, #unit>
    tracea_pipe.tiles (%i) in (%c1) {
      %sum = tracea_pipe.mma %a, %b, %zero : memref<16x32x4xi8>, memref<32x16x4xi8>, tensor<16x16xi32, #unit>
      %r = tracea_pipe.relayout %sum : tensor<16x16xi32, #unit> -> tensor<16x16xi32, #rows>
      tracea_pipe.store %r, %y[%c0, %c0] map #id : tensor<16x16xi32, #rows>, memref<16x16xi32>
    }
    tracea_pipe.end
  }
  // CHECK: tracea_pipe.kernel @pairs
  // CHECK-SAME: claim = "class {{[0-9a-f]+}}: products of tdpbf16ps bf16 bf16 -> f32 in steps of 32, 2 in a row, from zero; summed in f32; rounded by steps of the unit"
  // CHECK-SAME: unit tdpbf16ps bf16 bf16 -> f32 s{{[0-9.]+}} with [[W:k[0-9]+]] < 16, [[E:k[0-9]+.1]] < 2:
  tracea_pipe.kernel @pairs(%a: memref<16x32x2xbf16>, %b: memref<32x16x2xbf16>, %y: memref<16x16xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : tensor<16x16xf32, #unit>
    tracea_pipe.tiles (%i) in (%c1) {
      %sum = tracea_pipe.mma %a, %b, %zero : memref<16x32x2xbf16>, memref<32x16x2xbf16>, tensor<16x16xf32, #unit>
      %r = tracea_pipe.relayout %sum : tensor<16x16xf32, #unit> -> tensor<16x16xf32, #rows>
      tracea_pipe.store %r, %y[%c0, %c0] map #id : tensor<16x16xf32, #rows>, memref<16x16xf32>
    }
    tracea_pipe.end
  }
}
