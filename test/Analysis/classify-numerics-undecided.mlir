// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-classify-numerics))" | FileCheck %s
// RUN: not tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-classify-numerics{require-proof=true}))" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REQUIRED

// What is not understood has no class, and says why.
// CHECK-NOT: tracea_pipe.certificates

#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
!tile = tensor<2x4xf32, #lanes>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "x86-64-v4", triple = "", cpu = "x86-64-v4", vector_bits = 128>} {
  // CHECK: tracea_pipe.kernel @fast
  // CHECK-SAME: reason = "'arith.mulf' may be computed in several ways: fastmath<contract>"
  // REQUIRED: error: {{.*}} numerics class not decided: 'arith.mulf' may be computed in several ways
  tracea_pipe.kernel @fast(%x: memref<2x4xf32>, %y: memref<2x4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    tracea_pipe.tiles (%i) in (%c1) {
      %a = tracea_pipe.load %x[%c0, %c0] map #id : memref<2x4xf32> -> !tile
      %b = arith.mulf %a, %a fastmath<contract> : !tile
      tracea_pipe.store %b, %y[%c0, %c0] map #id : !tile, memref<2x4xf32>
    }
    tracea_pipe.end
  }

  // CHECK: tracea_pipe.kernel @unwritten
  // CHECK-SAME: reason = "an element depends on memory that nothing has written"
  // REQUIRED: error: {{.*}} numerics class not decided: an element depends on memory that nothing has written
  tracea_pipe.kernel @unwritten(%y: memref<2x4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    tracea_pipe.tiles (%i) in (%c1) {
      %s = tracea_pipe.scratch : memref<2x4xf32, #tracea_pipe.staged>
      %a = tracea_pipe.load %s[%c0, %c0] map #id : memref<2x4xf32, #tracea_pipe.staged> -> !tile
      tracea_pipe.store %a, %y[%c0, %c0] map #id : !tile, memref<2x4xf32>
    }
    tracea_pipe.end
  }

  // A number of the tile that the element's place does not tell becomes a value.
  // CHECK: tracea_pipe.kernel @place
  // CHECK-SAME: reason = "an element depends on the tile in which it lies"
  // REQUIRED: error: {{.*}} numerics class not decided: an element depends on the tile in which it lies
  tracea_pipe.kernel @place(%y: memref<?x4xi64>, %n: index) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    tracea_pipe.tiles (%i, %j) in (%n, %n) {
      %row = arith.muli %i, %c2 : index
      %number = arith.index_cast %j : index to i64
      %a = tensor.splat %number : tensor<2x4xi64, #lanes>
      tracea_pipe.store %a, %y[%row, %c0] map #id : tensor<2x4xi64, #lanes>, memref<?x4xi64>
    }
    tracea_pipe.end
  }

  // Elements of one result in two ways.
  // CHECK: tracea_pipe.kernel @halves
  // CHECK-SAME: reason = "elements of argument 1 are computed in several ways"
  // REQUIRED: error: {{.*}} numerics class not decided: elements of argument 1 are computed in several ways
  tracea_pipe.kernel @halves(%x: memref<4x4xf32>, %y: memref<4x4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    tracea_pipe.tiles (%i) in (%c1) {
      %a = tracea_pipe.load %x[%c0, %c0] map #id : memref<4x4xf32> -> !tile
      %b = tracea_pipe.load %x[%c2, %c0] map #id : memref<4x4xf32> -> !tile
      %p = arith.addf %a, %a : !tile
      %q = arith.mulf %b, %b : !tile
      tracea_pipe.store %p, %y[%c0, %c0] map #id : !tile, memref<4x4xf32>
      tracea_pipe.store %q, %y[%c2, %c0] map #id : !tile, memref<4x4xf32>
    }
    tracea_pipe.end
  }
}

// -----

// A unit that adds up 16 words in one step: of a depth that may be another one it
// is not known which words the last step has.
#id = affine_map<(i, j) -> (i, j)>
!lhs = memref<16x32x2xbf16>
!rhs = memref<32x16x2xbf16>
!sums = tensor<16x16xf32, #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], outer = [1, 1]>>
!rows = tensor<16x16xf32, #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0], [8, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "sapphirerapids", triple = "", cpu = "sapphirerapids", features = "+fma,+avx512f,+amx-tile,+amx-bf16", vector_bits = 512>} {
  // CHECK: tracea_pipe.kernel @part
  // CHECK-SAME: reason = "a unit that adds up 16 words in one step, and a depth that is not known to be a multiple of them"
  // REQUIRED: error: {{.*}} numerics class not decided: a unit that adds up 16 words in one step
  tracea_pipe.kernel @part(%a: !lhs, %b: !rhs, %n: index, %y: memref<16x16xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : !sums
    tracea_pipe.tiles (%i) in (%c1) {
      %sum = tracea_pipe.mma %a, %b, %zero depth(%n) : !lhs, !rhs, !sums
      %r = tracea_pipe.relayout %sum : !sums -> !rows
      tracea_pipe.store %r, %y[%c0, %c0] map #id : !rows, memref<16x16xf32>
    }
    tracea_pipe.end
  }
}

// -----

// CHECK: tracea_pipe.kernel @nowhere
// CHECK-SAME: reason = "the module has no attribute 'tracea.target'"
tracea_pipe.kernel @nowhere(%n: index) {
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}
