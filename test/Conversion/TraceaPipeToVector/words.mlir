// Words of dot products: how they are copied, and how they are multiplied.
// RUN: tracea-opt %s --convert-tracea-pipe-to-vector --canonicalize --cse --split-input-file | FileCheck %s

#s = #tracea_pipe.staged
#tile = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2], [0, 4]], outer = [1, 1]>
#x86 = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "alderlake",
                      features = "+avx2,+fma,+avxvnni", vector_bits = 256>
module attributes {tracea.target = #x86} {

// Words along rows of the source: a square of them is loaded by rows, brought into
// offset form, transposed. What the border cuts goes element by element.
// CHECK-LABEL: tracea_pipe.kernel @runs(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?x?xi8>
// CHECK-DAG:     %[[SIGN:.*]] = arith.constant dense<-128> : vector<16xi8>
// CHECK:         %[[ROWS:.*]] = memref.collapse_shape %{{.*}} {{\[\[}}0], [1], [2, 3]] : memref<2x8x4x4xi8> into memref<2x8x16xi8>
// CHECK:         scf.if %{{.*}} {
// CHECK:           %[[X:.*]] = vector.load %[[A]]{{.*}} : memref<?x?xi8>, vector<16xi8>
// CHECK-NEXT:      %[[U:.*]] = arith.xori %[[X]], %[[SIGN]]
// CHECK-NEXT:      vector.bitcast %[[U]] : vector<16xi8> to vector<4xi32>
// CHECK-COUNT-3:   vector.load %[[A]]
// CHECK-COUNT-4:   vector.shuffle {{.*}} : vector<4xi32>
// CHECK:           %[[W:.*]] = vector.bitcast %{{.*}} : vector<4xi32> to vector<16xi8>
// CHECK-NEXT:      vector.store %[[W]], %[[ROWS]]
// CHECK-COUNT-3:   vector.store
// CHECK:         } else {
// CHECK-NOT:       vector
// CHECK-COUNT-3:   scf.for
// CHECK:           memref.load %[[A]]
// CHECK:           arith.xori
// CHECK-NEXT:      memref.store
// CHECK-NOT:       vector
// CHECK:         end
tracea_pipe.kernel @runs(%a: memref<?x?xi8>, %n: index) {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %s = tracea_pipe.scratch : memref<2x8x4x4xui8, #s>
    tracea_pipe.copy %a[%i, %j] map affine_map<(p, w, i, g) -> (p * 4 + i, w * 4 + g)> limits(%c2, %n, %c4, %c4) padded [0, 1]
      to %s : memref<?x?xi8>, memref<2x8x4x4xui8, #s>
  }
  tracea_pipe.end
}

// Words across rows: four rows are interleaved, the first with the third. Of the
// loops the one along rows of the source is the inner one.
// CHECK-LABEL: tracea_pipe.kernel @across(
// CHECK-SAME:    %[[B:[a-z0-9]+]]: memref<?x?xi8>, %[[N:[a-z0-9]+]]: index
// CHECK:         scf.for %[[W:[a-z0-9]+]] = %c0 to %{{[a-z0-9]+}} step %c1
// CHECK:           scf.for %[[P:[a-z0-9]+]] = %c0 to %c2 step %c1
// CHECK:             scf.if %{{.*}} {
// CHECK:               %[[R0:.*]] = vector.load %[[B]]{{.*}} vector<8xi8>
// CHECK:               %[[R1:.*]] = vector.load %[[B]]{{.*}} vector<8xi8>
// CHECK:               %[[R2:.*]] = vector.load %[[B]]{{.*}} vector<8xi8>
// CHECK:               %[[R3:.*]] = vector.load %[[B]]{{.*}} vector<8xi8>
// CHECK-DAG:           %[[EVEN:.*]] = vector.interleave %[[R0]], %[[R2]] : vector<8xi8> -> vector<16xi8>
// CHECK-DAG:           %[[ODD:.*]] = vector.interleave %[[R1]], %[[R3]] : vector<8xi8> -> vector<16xi8>
// CHECK:               %[[ALL:.*]] = vector.interleave %[[EVEN]], %[[ODD]] : vector<16xi8> -> vector<32xi8>
// CHECK:               vector.store %[[ALL]], %{{.*}}[%[[P]], %[[W]], %c0] : memref<2x8x32xi8>, vector<32xi8>
// CHECK:             } else {
// CHECK-NOT:           vector
// CHECK:               memref.load %[[B]]
tracea_pipe.kernel @across(%b: memref<?x?xi8>, %n: index) {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %s = tracea_pipe.scratch : memref<2x8x8x4xi8, #s>
    tracea_pipe.copy %b[%i, %j] map affine_map<(p, w, j, g) -> (w * 4 + g, p * 8 + j)> limits(%c2, %n, %c8, %c4) padded [0, 1]
      to %s : memref<?x?xi8>, memref<2x8x8x4xi8, #s>
  }
  tracea_pipe.end
}

// What is neither goes element by element, in offset form as well.
// CHECK-LABEL: tracea_pipe.kernel @strided(
// CHECK-NOT:     vector
// CHECK:         %[[E:.*]] = memref.load
// CHECK-NEXT:    %[[U:.*]] = arith.xori %[[E]], %c-128_i8
// CHECK-NEXT:    memref.store %[[U]]
tracea_pipe.kernel @strided(%a: memref<?x?xi8>, %n: index) {
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %s = tracea_pipe.scratch : memref<2x8x4x4xui8, #s>
    tracea_pipe.copy %a[%i, %j] map affine_map<(p, w, i, g) -> (p * 4 + i, w * 8 + g * 2)>
      to %s : memref<?x?xi8>, memref<2x8x4x4xui8, #s>
  }
  tracea_pipe.end
}

// A word of each row in all lanes, by a vector of words: no offset is left, for 128
// times the sums of columns was taken off the sums before. These are the same for all
// rows, and computed once for them.
// CHECK-LABEL: tracea_pipe.kernel @multiply(
// CHECK-SAME:    %{{[a-z0-9]+}}: memref<5x8x4xi8>, %{{[a-z0-9]+}}: memref<?x?xi32>, %[[DEPTH:[a-z0-9]+]]: index
// CHECK-DAG:     %[[OFFSETS:.*]] = arith.constant dense<-128> : vector<32xi8>
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant dense<0> : vector<8xi32>
// CHECK:         %[[FOURS:.*]] = arith.subi %[[DEPTH]], %{{.*}}
// CHECK:         %[[PARTS:.*]]:4 = scf.for %{{.*}} = %c0 to %[[FOURS]] step %c4 iter_args(%{{.*}} = %[[ZERO]], %{{.*}} = %[[ZERO]], %{{.*}} = %[[ZERO]], %{{.*}} = %[[ZERO]])
// CHECK-COUNT-4:   llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"(%{{.*}}, %[[OFFSETS]], %{{.*}})
// CHECK:         %[[COLUMNS:.*]] = scf.for %{{.*}} = %[[FOURS]] to %[[DEPTH]] step %c1
// CHECK:           llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"(%{{.*}}, %[[OFFSETS]], %{{.*}})
// CHECK:         scf.for %{{.*}} = %c0 to %[[DEPTH]] step %c2 {
// CHECK:           %[[S0:.*]] = arith.subi %{{.*}}, %[[COLUMNS]] : vector<8xi32>
// CHECK:           %[[S1:.*]] = arith.subi %{{.*}}, %[[COLUMNS]] : vector<8xi32>
// CHECK:           scf.for %[[K:.*]] = %c0 to %[[DEPTH]] step %c1 iter_args(%[[R0:.*]] = %[[S0]], %[[R1:.*]] = %[[S1]])
// CHECK:             %[[COLUMN:.*]] = vector.load %{{.*}}[%[[K]], %c0] : memref<5x32xi8>, vector<32xi8>
// CHECK-NEXT:        %[[FOUR:.*]] = vector.load %{{.*}}[%c0, %[[K]], %c0] : memref<2x5x4xi8>, vector<4xi8>
// CHECK-NEXT:        %[[CAST:.*]] = vector.bitcast %[[FOUR]] : vector<4xi8> to vector<1xi32>
// CHECK-NEXT:        %[[WORD:.*]] = vector.extract %[[CAST]][0]
// CHECK-NEXT:        %[[ALL:.*]] = vector.broadcast %[[WORD]] : i32 to vector<8xi32>
// CHECK-NEXT:        %[[ROW:.*]] = vector.bitcast %[[ALL]] : vector<8xi32> to vector<32xi8>
// CHECK-NEXT:        llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"(%[[R0]], %[[ROW]], %[[COLUMN]])
tracea_pipe.kernel @multiply(%b: memref<5x8x4xi8>, %d: memref<?x?xi32>, %depth: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  tracea_pipe.tiles (%i, %j) in (%depth, %depth) {
    %a = tracea_pipe.scratch : memref<2x5x4xui8, #s>
    scf.for %row = %c0 to %depth step %c2 {
      %c = tracea_pipe.load %d[%row, %j] map affine_map<(i, j) -> (i, j)> : memref<?x?xi32> -> tensor<2x8xi32, #tile>
      %r = tracea_pipe.mma %a, %b, %c depth(%depth) : memref<2x5x4xui8, #s>, memref<5x8x4xi8>, tensor<2x8xi32, #tile>
      tracea_pipe.store %r, %d[%row, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x8xi32, #tile>, memref<?x?xi32>
    }
  }
  tracea_pipe.end
}

// Where loops over taps move the right operand, the sums of all taps' columns are kept,
// and made once for all rows: outside of the loops that only the tap is new in. A window
// that moves along the words themselves has no number.
// CHECK-LABEL: tracea_pipe.kernel @taps(
// CHECK:           %[[KEPT:.*]] = memref.alloca() : memref<6x1xvector<8xi32>>
// CHECK:           scf.for %[[R:.*]] = %c0 to %c3 step %c1 {
// CHECK:             scf.for %[[S:.*]] = %c0 to %c2 step %c1 {
// CHECK-DAG:           %[[ROW:.*]] = arith.muli %[[R]], %c2
// CHECK-DAG:           %[[TAP:.*]] = arith.addi %[[ROW]], %[[S]]
// CHECK:               memref.store %{{.*}}, %[[KEPT]][%[[TAP]], %c0]
// CHECK:           scf.for
// CHECK:             scf.for %[[Y:.*]] = %c0 to
// CHECK:               scf.for %[[X:.*]] = %c0 to
// CHECK-DAG:             %[[FIRST:.*]] = arith.muli %[[Y]], %c2
// CHECK-DAG:             %[[MINE:.*]] = arith.addi %[[FIRST]], %[[X]]
// CHECK-DAG:             %[[TOTAL:.*]] = memref.load %[[KEPT]][%[[MINE]], %c0]
// CHECK:                 arith.subi %{{.*}}, %[[TOTAL]] : vector<8xi32>
// CHECK-LABEL: tracea_pipe.kernel @moved(
// CHECK-NOT:     memref.alloca
// CHECK:         end
tracea_pipe.kernel @taps(%b: memref<3x2x5x8x4xi8>, %d: memref<?x?xi32>, %depth: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tracea_pipe.tiles (%i, %j) in (%depth, %depth) {
    %a = tracea_pipe.scratch : memref<2x5x4xui8, #s>
    scf.for %row = %c0 to %depth step %c2 {
      %c = tracea_pipe.load %d[%row, %j] map affine_map<(i, j) -> (i, j)> : memref<?x?xi32> -> tensor<2x8xi32, #tile>
      %sums = scf.for %r = %c0 to %depth step %c1 iter_args(%outer = %c) -> tensor<2x8xi32, #tile> {
        %inner = scf.for %s = %c0 to %c2 step %c1 iter_args(%sum = %outer) -> tensor<2x8xi32, #tile> {
          %w = tracea_pipe.view %b[%r, %s, %c0, %c0, %c0] map affine_map<(k, n, g) -> (0, 0, k, n, g)> : memref<3x2x5x8x4xi8> -> memref<5x8x4xi8, strided<[32, 4, 1], offset: ?>>
          %t = tracea_pipe.mma %a, %w, %sum depth(%depth) : memref<2x5x4xui8, #s>, memref<5x8x4xi8, strided<[32, 4, 1], offset: ?>>, tensor<2x8xi32, #tile>
          scf.yield %t : tensor<2x8xi32, #tile>
        }
        scf.yield %inner : tensor<2x8xi32, #tile>
      }
      tracea_pipe.store %sums, %d[%row, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x8xi32, #tile>, memref<?x?xi32>
    }
  }
  tracea_pipe.end
}
tracea_pipe.kernel @moved(%b: memref<20x8x4xi8>, %d: memref<?x?xi32>, %depth: index) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  tracea_pipe.tiles (%i, %j) in (%depth, %depth) {
    %a = tracea_pipe.scratch : memref<2x5x4xui8, #s>
    scf.for %row = %c0 to %depth step %c2 {
      %c = tracea_pipe.load %d[%row, %j] map affine_map<(i, j) -> (i, j)> : memref<?x?xi32> -> tensor<2x8xi32, #tile>
      %sums = scf.for %k = %c0 to %depth step %c5 iter_args(%sum = %c) -> tensor<2x8xi32, #tile> {
        %w = tracea_pipe.view %b[%k, %c0, %c0] map affine_map<(k, n, g) -> (k, n, g)> : memref<20x8x4xi8> -> memref<5x8x4xi8, strided<[32, 4, 1], offset: ?>>
        %t = tracea_pipe.mma %a, %w, %sum depth(%depth) : memref<2x5x4xui8, #s>, memref<5x8x4xi8, strided<[32, 4, 1], offset: ?>>, tensor<2x8xi32, #tile>
        scf.yield %t : tensor<2x8xi32, #tile>
      }
      tracea_pipe.store %sums, %d[%row, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x8xi32, #tile>, memref<?x?xi32>
    }
  }
  tracea_pipe.end
}
}

// -----

// Two signed operands.
// CHECK-LABEL: tracea_pipe.kernel @plain(
// CHECK-NOT:     arith.subi
// CHECK:         llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"
#tile = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "aarch64-unknown-linux-gnu",
    cpu = "neoverse-n1", features = "+neon,+dotprod", vector_bits = 128>} {
tracea_pipe.kernel @plain(%a: memref<2x5x4xi8>, %b: memref<5x4x4xi8>, %d: memref<?x?xi32>, %depth: index) {
  tracea_pipe.tiles (%i, %j) in (%depth, %depth) {
    %c = tracea_pipe.load %d[%i, %j] map affine_map<(i, j) -> (i, j)> : memref<?x?xi32> -> tensor<2x4xi32, #tile>
    %r = tracea_pipe.mma %a, %b, %c : memref<2x5x4xi8>, memref<5x4x4xi8>, tensor<2x4xi32, #tile>
    tracea_pipe.store %r, %d[%i, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x4xi32, #tile>, memref<?x?xi32>
  }
  tracea_pipe.end
}
}

// -----

// Blocks of two rows by two columns in one register. Words of neighbouring rows are
// neighbours in a panel: one load; of pixels that lie apart there is one each. The
// way to vectors is a shuffle of two blocks.
// CHECK-LABEL: tracea_pipe.kernel @blocks(
// CHECK:         %[[L:.*]] = memref.cast {{.*}} to memref<4x5x8xi8, strided<[8, 32, 1], offset: ?>>
// CHECK:         %[[T:.*]] = memref.transpose %[[L]] (d0, d1, d2) -> (d1, d0, d2) : {{.*}} to memref<5x4x8xi8
// CHECK:         %[[ROWS:.*]] = memref.collapse_shape %[[T]] {{\[\[}}0], [1, 2]]
// CHECK:         %[[S:.*]]:4 = scf.for %[[K:[a-z0-9]+]] = %c0 to %{{.*}} step %c1
// CHECK-DAG:       %[[R0:.*]] = vector.load %[[ROWS]][%[[K]], %c0] : {{.*}}, vector<16xi8>
// CHECK-DAG:       %[[R2:.*]] = vector.load %[[ROWS]][%[[K]], %c16] : {{.*}}, vector<16xi8>
// CHECK-DAG:       %[[C0:.*]] = vector.load %{{.*}}[%[[K]], %c0] : memref<5x32xi8>, vector<16xi8>
// CHECK-DAG:       %[[C2:.*]] = vector.load %{{.*}}[%[[K]], %c16] : memref<5x32xi8>, vector<16xi8>
// CHECK-DAG:       llvm.call_intrinsic "llvm.aarch64.neon.smmla.v4i32.v16i8"(%{{.*}}, %[[R0]], %[[C0]])
// CHECK-DAG:       llvm.call_intrinsic "llvm.aarch64.neon.smmla.v4i32.v16i8"(%{{.*}}, %[[R0]], %[[C2]])
// CHECK-DAG:       llvm.call_intrinsic "llvm.aarch64.neon.smmla.v4i32.v16i8"(%{{.*}}, %[[R2]], %[[C0]])
// CHECK-DAG:       llvm.call_intrinsic "llvm.aarch64.neon.smmla.v4i32.v16i8"(%{{.*}}, %[[R2]], %[[C2]])
// CHECK:         vector.shuffle %[[S]]#0, %[[S]]#1 [0, 1, 4, 5]
// CHECK:         vector.shuffle %[[S]]#0, %[[S]]#1 [2, 3, 6, 7]
// CHECK:         vector.shuffle %[[S]]#2, %[[S]]#3 [0, 1, 4, 5]
// CHECK-LABEL: tracea_pipe.kernel @apart(
// CHECK-SAME:    %[[L:[a-z0-9]+]]: memref<2x5x8xi8>
// CHECK:         scf.for %[[K:[a-z0-9]+]] =
// CHECK:           %[[X:.*]] = vector.load %[[L]][%c0, %[[K]], %c0] : memref<2x5x8xi8>, vector<8xi8>
// CHECK:           %[[Y:.*]] = vector.load %[[L]][%c1, %[[K]], %c0] : memref<2x5x8xi8>, vector<8xi8>
// CHECK:           vector.shuffle %[[X]], %[[Y]] [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
#blocks = #tracea_pipe.lanes<lane = [[0, 1], [1, 0]], outer = [2, 2]>
#block = #tracea_pipe.lanes<lane = [[0, 1], [1, 0]], outer = [1, 2]>
#vectors = #tracea_pipe.lanes<reg = [[1, 0], [2, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
#pair = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2]], outer = [1, 1]>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "aarch64-unknown-linux-gnu",
    cpu = "neoverse-n2", features = "+neon,+dotprod,+i8mm", vector_bits = 128>} {
tracea_pipe.kernel @blocks(%p: memref<5x4x8xi8>, %b: memref<5x4x8xi8>, %d: memref<?x?xi32>, %n: index) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0> : tensor<4x4xi32, #blocks>
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %a = tracea_pipe.view %p[%c0, %c0, %c0] map affine_map<(i, k, g) -> (k, i, g)> : memref<5x4x8xi8> -> memref<4x5x8xi8, strided<[8, 32, 1], offset: ?>>
    %s = tracea_pipe.mma %a, %b, %zero depth(%n) : memref<4x5x8xi8, strided<[8, 32, 1], offset: ?>>, memref<5x4x8xi8>, tensor<4x4xi32, #blocks>
    %r = tracea_pipe.relayout %s : tensor<4x4xi32, #blocks> -> tensor<4x4xi32, #vectors>
    tracea_pipe.store %r, %d[%i, %j] map affine_map<(i, j) -> (i, j)> : tensor<4x4xi32, #vectors>, memref<?x?xi32>
  }
  tracea_pipe.end
}
tracea_pipe.kernel @apart(%a: memref<2x5x8xi8>, %b: memref<5x4x8xi8>, %d: memref<?x?xi32>, %n: index) {
  %zero = arith.constant dense<0> : tensor<2x4xi32, #block>
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %s = tracea_pipe.mma %a, %b, %zero : memref<2x5x8xi8>, memref<5x4x8xi8>, tensor<2x4xi32, #block>
    %r = tracea_pipe.relayout %s : tensor<2x4xi32, #block> -> tensor<2x4xi32, #pair>
    tracea_pipe.store %r, %d[%i, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x4xi32, #pair>, memref<?x?xi32>
  }
  tracea_pipe.end
}
}

// -----

// Words across rows that lie side by side in the slot: pairs of rows are
// interleaved, squares of words transposed. What a limit or the border cuts is
// loaded under masks.
// CHECK-LABEL: tracea_pipe.kernel @turned(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?x?xbf16>
// CHECK:         %[[ROWS:.*]] = memref.collapse_shape %{{.*}} {{\[\[}}0], [1], [2, 3]] : memref<2x32x16x2xbf16> into memref<2x32x32xbf16>
// CHECK:         scf.if %{{.*}} {
// CHECK:           %[[EVEN:.*]] = vector.load %[[A]]{{.*}} : memref<?x?xbf16>, vector<16xbf16>
// CHECK:           %[[ODD:.*]] = vector.load %[[A]]{{.*}} : memref<?x?xbf16>, vector<16xbf16>
// CHECK-NEXT:      %[[PAIRS:.*]] = vector.interleave %[[EVEN]], %[[ODD]] : vector<16xbf16> -> vector<32xbf16>
// CHECK-NEXT:      vector.bitcast %[[PAIRS]] : vector<32xbf16> to vector<16xi32>
// CHECK-COUNT-15:  vector.interleave
// CHECK:           vector.shuffle {{.*}} : vector<16xi32>
// CHECK:           vector.store %{{.*}}, %[[ROWS]]{{.*}} vector<32xbf16>
// CHECK-COUNT-15:  vector.store
// CHECK:         } else {
// CHECK-NOT:       memref.load
// CHECK-COUNT-32:  vector.maskedload %[[A]]
// CHECK-COUNT-16:  vector.store
// CHECK-NOT:       memref.load
// CHECK:         end
#s = #tracea_pipe.staged
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
    cpu = "sapphirerapids", features = "+avx512f,+avx512bw,+amx-bf16", vector_bits = 512>} {
tracea_pipe.kernel @turned(%a: memref<?x?xbf16>, %n: index) {
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %s = tracea_pipe.scratch : memref<2x32x16x2xbf16, #s>
    tracea_pipe.copy %a[%i, %j] map affine_map<(p, i, w, g) -> (w * 2 + g, p * 32 + i)> limits(%c2, %c32, %n, %c2) padded [0, 1]
      to %s : memref<?x?xbf16>, memref<2x32x16x2xbf16, #s>
  }
  tracea_pipe.end
}
}

// -----

// With masks for bytes: of each row as many elements are loaded as there are, and
// stored as far as there are words.
// CHECK-LABEL: tracea_pipe.kernel @masked(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?x?xi8>
// CHECK:         } else {
// CHECK-NOT:       memref.load
// CHECK-COUNT-8:   vector.maskedload %[[A]]{{.*}} into vector<32xi8>
// CHECK-COUNT-8:   scf.if
// CHECK-NOT:       memref.load
// CHECK:         } else {
// CHECK-NOT:       memref.load
// CHECK-COUNT-4:   vector.maskedload %[[A]]{{.*}} into vector<32xi8>
// CHECK-NOT:       memref.load
// CHECK:         end
#s = #tracea_pipe.staged
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
    cpu = "cascadelake", features = "+avx512f,+avx512bw,+avx512vnni", vector_bits = 512>} {
tracea_pipe.kernel @masked(%a: memref<?x?xi8>, %n: index) {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %s = tracea_pipe.scratch : memref<2x16x8x4xui8, #s>
    tracea_pipe.copy %a[%i, %j] map affine_map<(p, w, i, g) -> (p * 8 + i, w * 4 + g)> limits(%c2, %n, %c8, %c4) padded [0, 1]
      to %s : memref<?x?xi8>, memref<2x16x8x4xui8, #s>
    %t = tracea_pipe.scratch : memref<2x16x32x4xi8, #s>
    tracea_pipe.copy %a[%i, %j] map affine_map<(p, w, j, g) -> (w * 4 + g, p * 32 + j)> limits(%c2, %n, %c32, %c4) padded [0, 1]
      to %t : memref<?x?xi8>, memref<2x16x32x4xi8, #s>
  }
  tracea_pipe.end
}
}

// -----

// Words of halves from bytes, which are widened behind their loads; their products are added to the
// sums by an addition of its own.
// CHECK-LABEL: tracea_pipe.kernel @widened(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?x?xi8>
// CHECK:         %[[X:.*]] = vector.load %[[A]]{{.*}} : memref<?x?xi8>, vector<8xi8>
// CHECK-NEXT:    %[[H:.*]] = arith.extsi %[[X]] : vector<8xi8> to vector<8xi16>
// CHECK-NEXT:    vector.bitcast %[[H]] : vector<8xi16> to vector<4xi32>
// CHECK:         %[[P:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%{{.*}}, %{{.*}}) : (vector<16xi16>, vector<16xi16>) -> vector<8xi32>
// CHECK-NEXT:    arith.addi %{{.*}}, %[[P]] : vector<8xi32>
#s = #tracea_pipe.staged
#tile = #tracea_pipe.lanes<reg = [[1, 0]], lane = [[0, 1], [0, 2], [0, 4]], outer = [1, 1]>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu",
    cpu = "haswell", features = "+avx2,+fma", vector_bits = 256>} {
tracea_pipe.kernel @widened(%a: memref<?x?xi8>, %b: memref<8x8x2xi16>, %d: memref<?x?xi32>, %n: index) {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i, %j) in (%n, %n) {
    %s = tracea_pipe.scratch : memref<2x8x4x2xi16, #s>
    tracea_pipe.copy %a[%i, %j] map affine_map<(p, w, i, g) -> (p * 4 + i, w * 2 + g)> limits(%c2, %n, %c4, %c2) padded [0, 1]
      to %s : memref<?x?xi8>, memref<2x8x4x2xi16, #s>
    %c = arith.constant dense<0> : tensor<2x8xi32, #tile>
    %l = tracea_pipe.scratch : memref<2x8x2xi16, #s>
    %r = tracea_pipe.mma %l, %b, %c : memref<2x8x2xi16, #s>, memref<8x8x2xi16>, tensor<2x8xi32, #tile>
    tracea_pipe.store %r, %d[%i, %j] map affine_map<(i, j) -> (i, j)> : tensor<2x8xi32, #tile>, memref<?x?xi32>
  }
  tracea_pipe.end
}
}
