// RUN: tracea-opt %s | tracea-opt | FileCheck %s
// RUN: tracea-opt %s --tracea-pipeline-kernels | FileCheck %s --check-prefix=PIPELINE
#lanes = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4]], outer = [8, 2]>
!tile = tensor<8x16xf32, #lanes>
!staged = tensor<8x16xf32, #tracea_pipe.staged>

// CHECK-LABEL: tracea_pipe.kernel @pixels
// CHECK: %[[WALK:.+]] = tracea_pipe.delinearize %{{.+}} into(%{{.+}}, %{{.+}}) : <3>
// CHECK: tracea_pipe.stage {{.+}} along [0](%[[WALK]] : !tracea_pipe.walk<3>) limits(%{{.+}}, %{{.+}}) padded [1, 2]
// CHECK: tracea_pipe.load {{.+}} along [0](%[[WALK]] : !tracea_pipe.walk<3>) limits
// CHECK: tracea_pipe.store {{.+}} along [0](%[[WALK]] : !tracea_pipe.walk<3>) limits
// PIPELINE: tracea_pipe.copy {{.+}} along [0](%{{.+}} : !tracea_pipe.walk<3>) limits(%{{.+}}, %{{.+}}) padded [1, 2] to
tracea_pipe.kernel @pixels(%x: memref<?x?x?x16xf32>, %y: memref<?x?x?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %n = memref.dim %y, %c0 : memref<?x?x?x16xf32>
  %p = memref.dim %y, %c1 : memref<?x?x?x16xf32>
  %q = memref.dim %y, %c2 : memref<?x?x?x16xf32>
  %np = arith.muli %n, %p : index
  %all = arith.muli %np, %q : index
  %tiles = arith.ceildivsi %all, %c8 : index
  tiles (%tile) in (%tiles) {
    %first = arith.muli %tile, %c8 : index
    %left = arith.subi %all, %first : index
    %walk = tracea_pipe.delinearize %first into (%p, %q) : <3>
    %a = tracea_pipe.stage %x[%c0, %c1, %c1, %c0] map affine_map<(n, p, q, c) -> (n, p * 2 - 2, q - 2, c)>
      along [0](%walk : !tracea_pipe.walk<3>) limits(%left, %c16) padded [1, 2] : memref<?x?x?x16xf32> -> !staged
    %b = tracea_pipe.load %a[%c0, %c0] map affine_map<(i, j) -> (i, j)> : !staged -> !tile
    %c = tracea_pipe.load %y[%c0, %c0, %c0, %c0] map affine_map<(n, p, q, c) -> (n, p, q, c)>
      along [0](%walk : !tracea_pipe.walk<3>) limits(%left, %c16) : memref<?x?x?x16xf32> -> !tile
    %d = arith.addf %b, %c : !tile
    tracea_pipe.store %d, %y[%c0, %c0, %c0, %c0] map affine_map<(n, p, q, c) -> (n, p, q, c)>
      along [0](%walk : !tracea_pipe.walk<3>) limits(%left, %c16) : !tile, memref<?x?x?x16xf32>
  }
  end
}

// Rows of pixels, columns of taps and channels: both dimensions walk.
// CHECK-LABEL: tracea_pipe.kernel @both
// CHECK: tracea_pipe.stage {{.+}} along [0, 1](%{{.+}}, %{{.+}} : !tracea_pipe.walk<3>, !tracea_pipe.walk<3>) padded [0, 1, 2]
tracea_pipe.kernel @both(%x: memref<?x?x?x16xf32>, %first: index, %k: index, %p: index, %q: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  tiles (%tile) in (%c1) {
    %pixels = tracea_pipe.delinearize %first into (%p, %q) : <3>
    %taps = tracea_pipe.delinearize %k into (%c3, %c16) : <3>
    %a = tracea_pipe.stage %x[%c0, %c0, %c0, %c0]
      map affine_map<(n, p, q, r, s, c) -> (n, p + r, q + s, c)>
      along [0, 1](%pixels, %taps : !tracea_pipe.walk<3>, !tracea_pipe.walk<3>) padded [0, 1, 2] : memref<?x?x?x16xf32> -> !staged
  }
  end
}

// Pixels that cross the rows of a window, in staged memory.
// CHECK-LABEL: tracea_pipe.kernel @window
// CHECK: tracea_pipe.load {{.+}} along [0](%{{.+}} : !tracea_pipe.walk<2>) : tensor<24x16xf32, #tracea_pipe.staged>
// CHECK: tracea_pipe.store {{.+}} along [0](%{{.+}} : !tracea_pipe.walk<2>) : {{.+}}, memref<2x4x16xf32, #tracea_pipe.staged>
tracea_pipe.kernel @window(%x: memref<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tiles (%tile) in (%c1) {
    %halo = tracea_pipe.stage %x[%c0, %c0] map affine_map<(i, c) -> (i, c)> padded [0] : memref<?x16xf32> -> tensor<24x16xf32, #tracea_pipe.staged>
    %pixels = tracea_pipe.delinearize %c0 into (%c4) : <2>
    %a = tracea_pipe.load %halo[%c1, %c0] map affine_map<(p, q, c) -> (p * 6 + q, c)> along [0](%pixels : !tracea_pipe.walk<2>) : tensor<24x16xf32, #tracea_pipe.staged> -> !tile
    %b = tracea_pipe.scratch : memref<2x4x16xf32, #tracea_pipe.staged>
    tracea_pipe.store %a, %b[%c0, %c0, %c0] map affine_map<(p, q, c) -> (p, q, c)> along [0](%pixels : !tracea_pipe.walk<2>) : !tile, memref<2x4x16xf32, #tracea_pipe.staged>
  }
  end
}

// Each lane would divide for the rows that it copies; what a table keeps is divided once.
// CHECK-LABEL: tracea_pipe.kernel @kept
// CHECK: %[[TABLE:.+]] = tracea_pipe.scratch : memref<2x8xi64, #tracea_pipe.staged>
// CHECK: tracea_pipe.delinearize %{{.+}} into(%{{.+}}) kept in %[[TABLE]] : memref<2x8xi64, #tracea_pipe.staged> : <2>
tracea_pipe.kernel @kept(%n: index, %q: index) attributes {warps = 1 : i64} {
  tiles (%tile) in (%n) {
    %table = tracea_pipe.scratch : memref<2x8xi64, #tracea_pipe.staged>
    %walk = tracea_pipe.delinearize %tile into (%q) kept in %table : memref<2x8xi64, #tracea_pipe.staged> : <2>
  }
  end
}
