// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm --canonicalize --cse | FileCheck %s

// Rows of a tile are the pixels of images one behind the other: where these are all that memory has there, the number of
// a pixel says where it lies, whatever the extents, and nothing is divided.
#lanes = #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], outer = [1, 1]>
#pixels = affine_map<(n, p, q, c) -> (n, p, q, c)>

// CHECK-LABEL: llvm.func @whole(
// CHECK-NOT:   arith.div
// CHECK-NOT:   arith.rem
// CHECK:       llvm.store
// CHECK:       llvm.return
tracea_pipe.kernel @whole(%y: memref<?x?x?x16xf32>, %n: index) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %h = memref.dim %y, %c1 : memref<?x?x?x16xf32>
  %w = memref.dim %y, %c2 : memref<?x?x?x16xf32>
  tiles (%t) in (%n) {
    %walk = tracea_pipe.delinearize %t into(%h, %w) : <3>
    %x = arith.constant dense<1.0> : tensor<8x16xf32, #lanes>
    tracea_pipe.store %x, %y[%c0, %c0, %c0, %c0] map #pixels along [0](%walk : !tracea_pipe.walk<3>) : tensor<8x16xf32, #lanes>, memref<?x?x?x16xf32>
  }
  end
}

// Extents of something else are divided by, and so are those of memory in another order.
// CHECK-LABEL: llvm.func @part(
// CHECK:       arith.mului_extended
// CHECK:       llvm.store
tracea_pipe.kernel @part(%y: memref<?x?x?x16xf32>, %w: index, %n: index) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = memref.dim %y, %c1 : memref<?x?x?x16xf32>
  tiles (%t) in (%n) {
    %walk = tracea_pipe.delinearize %t into(%h, %w) : <3>
    %x = arith.constant dense<1.0> : tensor<8x16xf32, #lanes>
    tracea_pipe.store %x, %y[%c0, %c0, %c0, %c0] map #pixels along [0](%walk : !tracea_pipe.walk<3>) : tensor<8x16xf32, #lanes>, memref<?x?x?x16xf32>
  }
  end
}

// CHECK-LABEL: llvm.func @turned(
// CHECK:       arith.mului_extended
// CHECK:       llvm.store
tracea_pipe.kernel @turned(%y: memref<?x?x?x16xf32>, %n: index) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %h = memref.dim %y, %c1 : memref<?x?x?x16xf32>
  %w = memref.dim %y, %c2 : memref<?x?x?x16xf32>
  tiles (%t) in (%n) {
    %walk = tracea_pipe.delinearize %t into(%w, %h) : <3>
    %x = arith.constant dense<1.0> : tensor<8x16xf32, #lanes>
    tracea_pipe.store %x, %y[%c0, %c0, %c0, %c0] map #pixels along [0](%walk : !tracea_pipe.walk<3>) : tensor<8x16xf32, #lanes>, memref<?x?x?x16xf32>
  }
  end
}
