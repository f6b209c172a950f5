// RUN: tracea-opt %s | tracea-opt | FileCheck %s
// RUN: tracea-opt %s --tracea-pipeline-kernels | FileCheck %s --check-prefix=PIPELINE
// RUN: tracea-opt %s --tracea-pipeline-kernels --convert-tracea-pipe-to-vector | FileCheck %s --check-prefix=CPU
#lanes = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4]], outer = [8, 2]>
!tile = tensor<8x16xf32, #lanes>
!staged = tensor<8x16xf32, #tracea_pipe.staged>

// CHECK-LABEL: tracea_pipe.kernel @rows
// CHECK: %[[WALK:.+]] = tracea_pipe.gather %{{.+}}[%{{.+}}] : memref<?xi32> -> <1>
// CHECK: tracea_pipe.stage {{.+}} along [0](%[[WALK]] : !tracea_pipe.walk<1>) padded [0]
// PIPELINE: tracea_pipe.copy {{.+}} along [0](%{{.+}} : !tracea_pipe.walk<1>) padded [0] to
tracea_pipe.kernel @rows(%x: memref<?x16xf32>, %table: memref<?xi32>, %y: memref<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %m = memref.dim %y, %c0 : memref<?x16xf32>
  %tiles = arith.ceildivsi %m, %c8 : index
  tiles (%tile) in (%tiles) {
    %first = arith.muli %tile, %c8 : index
    %left = arith.subi %m, %first : index
    %walk = tracea_pipe.gather %table[%first] : memref<?xi32> -> <1>
    %a = tracea_pipe.stage %x[%c0, %c0] map affine_map<(r, c) -> (r, c)>
      along [0](%walk : !tracea_pipe.walk<1>) padded [0] : memref<?x16xf32> -> !staged
    %b = tracea_pipe.load %a[%c0, %c0] map affine_map<(i, j) -> (i, j)> : !staged -> !tile
    tracea_pipe.store %b, %y[%first, %c0] map affine_map<(i, j) -> (i, j)> limits(%left, %c16) : !tile, memref<?x16xf32>
  }
  end
}

// A row of a table of two dimensions, of 64 bits; numbers are read where the tile is, and nowhere that is not there.
// CHECK-LABEL: tracea_pipe.kernel @lanes
// CHECK: %[[WALK:.+]] = tracea_pipe.gather %{{.+}}[%{{.+}}, %{{.+}}] : memref<4x?xi64> -> <1>
// CHECK: tracea_pipe.load {{.+}} along [0](%[[WALK]] : !tracea_pipe.walk<1>)
// CPU-LABEL: tracea_pipe.kernel @lanes
// CPU:       %[[ROW:.+]] = arith.cmpi ult, %{{.+}}, %c4
// CPU:       %[[PLACE:.+]] = arith.cmpi ult, %{{.+}}, %{{.+}}
// CPU:       %[[BOTH:.+]] = arith.andi %[[ROW]], %[[PLACE]]
// CPU:       scf.if %[[BOTH]] -> (index) {
// CPU-NEXT:    memref.load %{{.+}}[%{{.+}}, %{{.+}}] : memref<4x?xi64>
// CPU:       } else {
// CPU:         scf.yield %c-2147483648
// CPU:       vector.load
tracea_pipe.kernel @lanes(%x: memref<?x16xf32>, %table: memref<4x?xi64>, %y: memref<8x16xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  tiles (%tile) in (%c4) {
    %walk = tracea_pipe.gather %table[%tile, %c0] : memref<4x?xi64> -> <1>
    %a = tracea_pipe.load %x[%c0, %c0] map affine_map<(r, c) -> (r, c)> along [0](%walk : !tracea_pipe.walk<1>) : memref<?x16xf32> -> !tile
    tracea_pipe.store %a, %y[%c0, %c0] map affine_map<(i, j) -> (i, j)> : !tile, memref<8x16xf32>
  }
  end
}
