// RUN: tracea-opt %s --convert-tracea-pipe-to-nvvm --canonicalize --cse | FileCheck %s

// The launch knows extents that the program does not: it passes what lanes multiply by and shift by, two numbers for
// each divisor behind the arguments, and nothing divides.
#lanes = #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], outer = [1, 1]>

// CHECK: #[[PIXELS:.+]] = affine_map<()[s0, s1, s2, s3, s4] -> (s2, s1)>
// CHECK: #[[GRID:.+]] = affine_map<()[s0, s1, s2, s3] -> (s3, s2)>
// CHECK: #[[GROUP:.+]] = affine_map<()[s0, s1, s2, s3] -> ((s2 + s3) * 16)>
// CHECK-LABEL: llvm.func @pixels(
// CHECK-SAME:    %{{.*}}: !llvm.ptr<1>, %[[P:[^:]*]]: i64, %[[Q:[^:]*]]: i64, %{{.*}}: !llvm.ptr<1>, %[[N:[^:]*]]: i64, %[[MQ:[^:]*]]: i64, %[[SQ:[^:]*]]: i64, %[[MP:[^:]*]]: i64, %[[SP:[^:]*]]: i64)
// CHECK-SAME:    divisors = #[[PIXELS]]>
// CHECK-NOT:     {{divui|remui}}
// CHECK:         %{{.*}}, %[[HIGH:.*]] = arith.mului_extended %[[MQ]], %[[NUMBER:.*]] : i64
// CHECK-DAG:     %[[FIRST:.*]] = arith.minui %[[SQ]], %c1_i64
// CHECK-DAG:     %[[REST:.*]] = arith.subi %[[SQ]], %[[FIRST]]
// CHECK-DAG:     %[[LEFT:.*]] = arith.subi %[[NUMBER]], %[[HIGH]]
// CHECK:         %[[HALF:.*]] = arith.shrui %[[LEFT]], %[[FIRST]]
// CHECK:         %[[SUM:.*]] = arith.addi %[[HIGH]], %[[HALF]]
// CHECK:         %[[ROW:.*]] = arith.shrui %[[SUM]], %[[REST]]
// CHECK:         arith.mului_extended %[[MP]],
// CHECK-NOT:     {{divui|remui}}
// CHECK:         llvm.return
tracea_pipe.kernel @pixels(%e: memref<?x?xf32>, %y: memref<?x16xf32>) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %p = memref.dim %e, %c0 : memref<?x?xf32>
  %q = memref.dim %e, %c1 : memref<?x?xf32>
  %rows = memref.dim %y, %c0 : memref<?x16xf32>
  %tiles = arith.ceildivsi %rows, %c8 : index
  tiles (%t) in (%tiles) {
    %first = arith.muli %t, %c8 : index
    %left = arith.subi %rows, %first : index
    %walk = tracea_pipe.delinearize %first into(%p, %q) : <3>
    %x = tracea_pipe.load %e[%c0, %c0] map affine_map<(n, p, q, j) -> (p, q)> along [0](%walk : !tracea_pipe.walk<3>) : memref<?x?xf32> -> tensor<8x16xf32, #lanes>
    tracea_pipe.store %x, %y[%first, %c0] map affine_map<(i, j) -> (i, j)> limits(%left, %c16) : tensor<8x16xf32, #lanes>, memref<?x16xf32>
  }
  end
}

// The number of a tile of a grid of three dimensions is divided by the last two; the first has no end of its own.
// CHECK-LABEL: llvm.func @grid(
// CHECK-SAME:    divisors = #[[GRID]]>
// CHECK-NOT:     {{divui|remui}}
// CHECK:         llvm.return
tracea_pipe.kernel @grid(%y: memref<?x?x?x8x16xf32>) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %a = memref.dim %y, %c0 : memref<?x?x?x8x16xf32>
  %b = memref.dim %y, %c1 : memref<?x?x?x8x16xf32>
  %c = memref.dim %y, %c2 : memref<?x?x?x8x16xf32>
  tiles (%i, %j, %k) in (%a, %b, %c) {
    tracea_pipe.store %zero, %y[%i, %j, %k, %c0, %c0] map affine_map<(i, j) -> (0, 0, 0, i, j)> : tensor<8x16xf32, #lanes>, memref<?x?x?x8x16xf32>
  }
  end
}

// Columns in grouped order: a band of tiles is divided by a product of a size, and of a sum of sizes.
// CHECK-LABEL: llvm.func @group(
// CHECK-SAME:    divisors = #[[GROUP]]>
// CHECK:         llvm.return
tracea_pipe.kernel @group(%y: memref<?x8x16xf32>, %p: index, %q: index) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %a = memref.dim %y, %c0 : memref<?x8x16xf32>
  %b = arith.addi %p, %q : index
  tiles (%i, %j) in (%a, %b) group 16 {
    tracea_pipe.store %zero, %y[%i, %c0, %c0] map affine_map<(i, j) -> (0, i, j)> : tensor<8x16xf32, #lanes>, memref<?x8x16xf32>
  }
  end
}

// What more than the launch decides is divided by as it is, the height of the last band above as well.
// CHECK-LABEL: llvm.func @cut(
// CHECK-NOT:     divisors =
// CHECK:         arith.divui
// CHECK:         llvm.return
tracea_pipe.kernel @cut(%y: memref<?x8x16xf32>, %p: index) attributes {warps = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %a = memref.dim %y, %c0 : memref<?x8x16xf32>
  %least = arith.minsi %p, %c7 : index
  tiles (%i, %j) in (%a, %least) {
    tracea_pipe.store %zero, %y[%i, %c0, %c0] map affine_map<(i, j) -> (0, i, j)> : tensor<8x16xf32, #lanes>, memref<?x8x16xf32>
  }
  end
}
