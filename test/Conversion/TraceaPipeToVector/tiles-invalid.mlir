// What a unit of tiles cannot multiply, or begin with, or hand over.
// RUN: tracea-opt %s --convert-tracea-pipe-to-vector --split-input-file --verify-diagnostics

#s = #tracea_pipe.staged
#unit = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], outer = [2, 2]>
#one = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], outer = [1, 1]>
#rows = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0], [8, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#id = affine_map<(i, j) -> (i, j)>
#amx = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "sapphirerapids",
                      features = "+avx2,+fma,+avx512f,+amx-tile,+amx-bf16,+amx-int8", vector_bits = 512>
#columns = #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[1, 0], [2, 0], [4, 0], [8, 0]], outer = [1, 1]>
module attributes {tracea.target = #amx} {
tracea_pipe.kernel @depth(%a: memref<16x32x2xbf16>, %b: memref<32x16x2xbf16>, %d: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %c = arith.constant dense<0.0> : tensor<16x16xf32, #one>
    // expected-error@below {{failed to legalize}}
    // expected-error@below {{expects a depth known to be a multiple of the 16 words that its unit adds up in one step}}
    %s = tracea_pipe.mma %a, %b, %c depth(%n) : memref<16x32x2xbf16>, memref<32x16x2xbf16>, tensor<16x16xf32, #one>
    %r = tracea_pipe.relayout %s : tensor<16x16xf32, #one> -> tensor<16x16xf32, #rows>
    tracea_pipe.store %r, %d[%c0, %c0] map #id : tensor<16x16xf32, #rows>, memref<?x?xf32>
  }
  tracea_pipe.end
}
}

// -----

#s = #tracea_pipe.staged
#unit = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], outer = [2, 2]>
#one = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], outer = [1, 1]>
#rows = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0], [8, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#id = affine_map<(i, j) -> (i, j)>
#amx = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "sapphirerapids",
                      features = "+avx2,+fma,+avx512f,+amx-tile,+amx-bf16,+amx-int8", vector_bits = 512>
#columns = #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[1, 0], [2, 0], [4, 0], [8, 0]], outer = [1, 1]>
module attributes {tracea.target = #amx} {
tracea_pipe.kernel @begin(%a: memref<16x32x2xbf16>, %b: memref<32x16x2xbf16>, %d: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-error@below {{failed to legalize}}
    // expected-error@below {{expects sums of a tile unit to begin at zero}}
    %c = arith.constant dense<1.0> : tensor<16x16xf32, #one>
    %s = tracea_pipe.mma %a, %b, %c : memref<16x32x2xbf16>, memref<32x16x2xbf16>, tensor<16x16xf32, #one>
    %r = tracea_pipe.relayout %s : tensor<16x16xf32, #one> -> tensor<16x16xf32, #rows>
    tracea_pipe.store %r, %d[%c0, %c0] map #id : tensor<16x16xf32, #rows>, memref<?x?xf32>
  }
  tracea_pipe.end
}
}

// -----

#s = #tracea_pipe.staged
#unit = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], outer = [2, 2]>
#one = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], outer = [1, 1]>
#rows = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0], [8, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#id = affine_map<(i, j) -> (i, j)>
#amx = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "sapphirerapids",
                      features = "+avx2,+fma,+avx512f,+amx-tile,+amx-bf16,+amx-int8", vector_bits = 512>
#columns = #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[1, 0], [2, 0], [4, 0], [8, 0]], outer = [1, 1]>
module attributes {tracea.target = #amx} {
tracea_pipe.kernel @vectors(%a: memref<16x32x2xbf16>, %b: memref<32x16x2xbf16>, %d: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %c = arith.constant dense<0.0> : tensor<16x16xf32, #one>
    %s = tracea_pipe.mma %a, %b, %c : memref<16x32x2xbf16>, memref<32x16x2xbf16>, tensor<16x16xf32, #one>
    // expected-error@below {{failed to legalize}}
    // expected-error@below {{expects vectors of a unit's tile to be its rows}}
    %r = tracea_pipe.relayout %s : tensor<16x16xf32, #one> -> tensor<16x16xf32, #columns>
    tracea_pipe.store %r, %d[%c0, %c0] map #id : tensor<16x16xf32, #columns>, memref<?x?xf32>
  }
  tracea_pipe.end
}
}

// -----

#s = #tracea_pipe.staged
#unit = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], outer = [2, 2]>
#one = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], outer = [1, 1]>
#rows = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0], [8, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#id = affine_map<(i, j) -> (i, j)>
#amx = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "sapphirerapids",
                      features = "+avx2,+fma,+avx512f,+amx-tile,+amx-bf16,+amx-int8", vector_bits = 512>
#columns = #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[1, 0], [2, 0], [4, 0], [8, 0]], outer = [1, 1]>
module attributes {tracea.target = #amx} {
tracea_pipe.kernel @apart(%a: memref<16x32x2xbf16, strided<[128, 4, 1]>>, %b: memref<32x16x2xbf16>, %d: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %c = arith.constant dense<0.0> : tensor<16x16xf32, #one>
    // expected-error@below {{failed to legalize}}
    // expected-error@below {{expects operands whose rows are words side by side at a known distance}}
    %s = tracea_pipe.mma %a, %b, %c : memref<16x32x2xbf16, strided<[128, 4, 1]>>, memref<32x16x2xbf16>, tensor<16x16xf32, #one>
    %r = tracea_pipe.relayout %s : tensor<16x16xf32, #one> -> tensor<16x16xf32, #rows>
    tracea_pipe.store %r, %d[%c0, %c0] map #id : tensor<16x16xf32, #rows>, memref<?x?xf32>
  }
  tracea_pipe.end
}
}

// -----

#s = #tracea_pipe.staged
#unit = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], outer = [2, 2]>
#one = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], outer = [1, 1]>
#rows = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0], [8, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#id = affine_map<(i, j) -> (i, j)>
#amx = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "sapphirerapids",
                      features = "+avx2,+fma,+avx512f,+amx-tile,+amx-bf16,+amx-int8", vector_bits = 512>
#columns = #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[1, 0], [2, 0], [4, 0], [8, 0]], outer = [1, 1]>
module attributes {tracea.target = #amx} {
tracea_pipe.kernel @words(%a: memref<16x32x4xbf16>, %b: memref<32x16x4xbf16>, %d: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %c = arith.constant dense<0.0> : tensor<16x16xf32, #one>
    // expected-error@below {{failed to legalize}}
    // expected-error@below {{expects words of the unit of its sums}}
    %s = tracea_pipe.mma %a, %b, %c : memref<16x32x4xbf16>, memref<32x16x4xbf16>, tensor<16x16xf32, #one>
    %r = tracea_pipe.relayout %s : tensor<16x16xf32, #one> -> tensor<16x16xf32, #rows>
    tracea_pipe.store %r, %d[%c0, %c0] map #id : tensor<16x16xf32, #rows>, memref<?x?xf32>
  }
  tracea_pipe.end
}
}

// -----

#s = #tracea_pipe.staged
#unit = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], outer = [2, 2]>
#one = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], outer = [1, 1]>
#rows = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0], [8, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#id = affine_map<(i, j) -> (i, j)>
#amx = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "sapphirerapids",
                      features = "+avx2,+fma,+avx512f,+amx-tile,+amx-bf16,+amx-int8", vector_bits = 512>
#columns = #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[1, 0], [2, 0], [4, 0], [8, 0]], outer = [1, 1]>
module attributes {tracea.target = #amx} {
tracea_pipe.kernel @added(%a: memref<16x32x2xbf16>, %b: memref<32x16x2xbf16>, %d: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %c = arith.constant dense<0.0> : tensor<16x16xf32, #one>
    %t = tracea_pipe.mma %a, %b, %c : memref<16x32x2xbf16>, memref<32x16x2xbf16>, tensor<16x16xf32, #one>
    // expected-error@below {{failed to legalize}}
    // expected-error@below {{expects vectors, which a relayout makes of the tiles of a unit}}
    %s = arith.addf %t, %t : tensor<16x16xf32, #one>
    %r = tracea_pipe.relayout %s : tensor<16x16xf32, #one> -> tensor<16x16xf32, #rows>
    tracea_pipe.store %r, %d[%c0, %c0] map #id : tensor<16x16xf32, #rows>, memref<?x?xf32>
  }
  tracea_pipe.end
}
}

// -----

#s = #tracea_pipe.staged
#unit = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], outer = [2, 2]>
#one = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], outer = [1, 1]>
#rows = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0], [8, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#id = affine_map<(i, j) -> (i, j)>
#amx = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "sapphirerapids",
                      features = "+avx2,+fma,+avx512f,+amx-tile,+amx-bf16,+amx-int8", vector_bits = 512>
#columns = #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [0, 4], [0, 8]], lane = [[1, 0], [2, 0], [4, 0], [8, 0]], outer = [1, 1]>
module attributes {tracea.target = #amx} {
tracea_pipe.kernel @some(%a: memref<16x32x2xbf16>, %b: memref<32x16x2xbf16>, %d: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %c = arith.constant dense<0.0> : tensor<16x16xf32, #one>
    // expected-error@below {{failed to legalize}}
    // expected-error@below {{expects all rows where its operands are packed in words}}
    %s = tracea_pipe.mma %a, %b, %c rows(%c0, %n) : memref<16x32x2xbf16>, memref<32x16x2xbf16>, tensor<16x16xf32, #one>
    %r = tracea_pipe.relayout %s : tensor<16x16xf32, #one> -> tensor<16x16xf32, #rows>
    tracea_pipe.store %r, %d[%c0, %c0] map #id : tensor<16x16xf32, #rows>, memref<?x?xf32>
  }
  tracea_pipe.end
}
}
