// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-coverage))" -verify-diagnostics

// Kernels with one fault each. The error stands at the operation that does wrong
// and says for which sizes and which element; the note stands at what made it so.
// The grid rounds down.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %rows = arith.floordivsi %M, %c8 : index
  %columns = arith.ceildivsi %N, %c16 : index
  // expected-note@+1 {{the tiles are made here}}
  tracea_pipe.tiles (%i, %j) in (%rows, %columns) {
    %m = arith.muli %i, %c8 : index
    %n = arith.muli %j, %c16 : index
    %h = arith.subi %M, %m : index
    %w = arith.subi %N, %n : index
    // expected-error-re@+1 {{does not write all of argument #0: with dimension 0 of argument #0 = {{-?[0-9]+}}, dimension 1 of argument #0 = {{-?[0-9]+}}, element [{{-?[0-9]+}}, {{-?[0-9]+}}] is written by no tile}}
    tracea_pipe.store %zero, %a[%m, %n] map #id limits(%h, %w) : tensor<8x16xf32, #lanes>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// -----

// The grid has a tile too many, and no mask stops it.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %up = arith.ceildivsi %M, %c8 : index
  %rows = arith.addi %up, %c1 : index
  %columns = arith.ceildivsi %N, %c16 : index
  tracea_pipe.tiles (%i, %j) in (%rows, %columns) {
    %m = arith.muli %i, %c8 : index
    %n = arith.muli %j, %c16 : index
    %h = arith.subi %M, %m : index
    %w = arith.subi %N, %n : index
    // expected-error-re@+1 {{writes out of bounds of argument #0: with dimension 1 of argument #0 = {{-?[0-9]+}}, dimension 0 of argument #0 = {{-?[0-9]+}}, index 0 is {{-?[0-9]+}}, expected 0 to below {{-?[0-9]+}}}}
    tracea_pipe.store %zero, %a[%m, %n] map #id limits(%c8, %w) : tensor<8x16xf32, #lanes>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// -----

// The grid loses its last tile.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %up = arith.ceildivsi %M, %c8 : index
  %rows = arith.subi %up, %c1 : index
  %columns = arith.ceildivsi %N, %c16 : index
  // expected-note@+1 {{the tiles are made here}}
  tracea_pipe.tiles (%i, %j) in (%rows, %columns) {
    %m = arith.muli %i, %c8 : index
    %n = arith.muli %j, %c16 : index
    %h = arith.subi %M, %m : index
    %w = arith.subi %N, %n : index
    // expected-error-re@+1 {{does not write all of argument #0: with dimension 0 of argument #0 = {{-?[0-9]+}}, dimension 1 of argument #0 = {{-?[0-9]+}}, element [{{-?[0-9]+}}, {{-?[0-9]+}}] is written by no tile}}
    tracea_pipe.store %zero, %a[%m, %n] map #id limits(%h, %w) : tensor<8x16xf32, #lanes>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// -----

// The mask ends one row early.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %rows = arith.ceildivsi %M, %c8 : index
  %columns = arith.ceildivsi %N, %c16 : index
  // expected-note@+1 {{the tiles are made here}}
  tracea_pipe.tiles (%i, %j) in (%rows, %columns) {
    %m = arith.muli %i, %c8 : index
    %n = arith.muli %j, %c16 : index
    %h0 = arith.subi %M, %m : index
    %h = arith.subi %h0, %c1 : index
    %w = arith.subi %N, %n : index
    // expected-error-re@+1 {{does not write all of argument #0: with dimension 0 of argument #0 = {{-?[0-9]+}}, dimension 1 of argument #0 = {{-?[0-9]+}}, element [{{-?[0-9]+}}, {{-?[0-9]+}}] is written by no tile}}
    tracea_pipe.store %zero, %a[%m, %n] map #id limits(%h, %w) : tensor<8x16xf32, #lanes>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// -----

// The mask ends one column late.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %rows = arith.ceildivsi %M, %c8 : index
  %columns = arith.ceildivsi %N, %c16 : index
  tracea_pipe.tiles (%i, %j) in (%rows, %columns) {
    %m = arith.muli %i, %c8 : index
    %n = arith.muli %j, %c16 : index
    %h = arith.subi %M, %m : index
    %w0 = arith.subi %N, %n : index
    %w = arith.addi %w0, %c1 : index
    // expected-error-re@+1 {{writes out of bounds of argument #0: with dimension 0 of argument #0 = {{-?[0-9]+}}, dimension 1 of argument #0 = {{-?[0-9]+}}, index 1 is {{-?[0-9]+}}, expected 0 to below {{-?[0-9]+}}}}
    tracea_pipe.store %zero, %a[%m, %n] map #id limits(%h, %w) : tensor<8x16xf32, #lanes>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// -----

// No mask.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %rows = arith.ceildivsi %M, %c8 : index
  %columns = arith.ceildivsi %N, %c16 : index
  tracea_pipe.tiles (%i, %j) in (%rows, %columns) {
    %m = arith.muli %i, %c8 : index
    %n = arith.muli %j, %c16 : index
    %h = arith.subi %M, %m : index
    %w = arith.subi %N, %n : index
    // expected-error-re@+1 {{writes out of bounds of argument #0: with dimension 0 of argument #0 = {{-?[0-9]+}}, dimension 1 of argument #0 = {{-?[0-9]+}}, index 0 is {{-?[0-9]+}}, expected 0 to below {{-?[0-9]+}}}}
    tracea_pipe.store %zero, %a[%m, %n] map #id : tensor<8x16xf32, #lanes>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// -----

// The limits are those of the other dimension.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %rows = arith.ceildivsi %M, %c8 : index
  %columns = arith.ceildivsi %N, %c16 : index
  tracea_pipe.tiles (%i, %j) in (%rows, %columns) {
    %m = arith.muli %i, %c8 : index
    %n = arith.muli %j, %c16 : index
    %h = arith.subi %M, %m : index
    %w = arith.subi %N, %n : index
    // expected-error-re@+1 {{writes out of bounds of argument #0: with dimension 1 of argument #0 = {{-?[0-9]+}}, dimension 0 of argument #0 = {{-?[0-9]+}}, index 0 is {{-?[0-9]+}}, expected 0 to below {{-?[0-9]+}}}}
    tracea_pipe.store %zero, %a[%m, %n] map #id limits(%w, %h) : tensor<8x16xf32, #lanes>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// -----

// The store is transposed.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %rows = arith.ceildivsi %M, %c8 : index
  %columns = arith.ceildivsi %N, %c16 : index
  tracea_pipe.tiles (%i, %j) in (%rows, %columns) {
    %m = arith.muli %i, %c8 : index
    %n = arith.muli %j, %c16 : index
    %h = arith.subi %M, %m : index
    %w = arith.subi %N, %n : index
    // expected-error-re@+1 {{writes out of bounds of argument #0: with dimension 0 of argument #0 = {{-?[0-9]+}}, dimension 1 of argument #0 = {{-?[0-9]+}}, index 0 is {{-?[0-9]+}}, expected 0 to below {{-?[0-9]+}}}}
    tracea_pipe.store %zero, %a[%m, %n] map affine_map<(i, j) -> (j, i)> limits(%h, %w) : tensor<8x16xf32, #lanes>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// -----

// Tiles overlap: their step is less than their height.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %rows = arith.ceildivsi %M, %c8 : index
  %columns = arith.ceildivsi %N, %c16 : index
  // expected-note-re@+1 {{index 0 of the tile is made here: once it is {{-?[0-9]+}}, once 1}}
  tracea_pipe.tiles (%i, %j) in (%rows, %columns) {
    %m = arith.muli %i, %c4 : index
    %n = arith.muli %j, %c16 : index
    %h = arith.subi %M, %m : index
    %w = arith.subi %N, %n : index
    // expected-error-re@+1 {{writes an element of argument #0 twice: with dimension 0 of argument #0 = {{-?[0-9]+}}, dimension 1 of argument #0 = {{-?[0-9]+}}, element [{{-?[0-9]+}}, {{-?[0-9]+}}] is written where index 0 of the tile = {{-?[0-9]+}}, index 1 of the tile = {{-?[0-9]+}}, element 0 of the tile = {{-?[0-9]+}}, element 1 of the tile = {{-?[0-9]+}} and where index 0 of the tile = {{-?[0-9]+}}, index 1 of the tile = {{-?[0-9]+}}, element 0 of the tile = {{-?[0-9]+}}, element 1 of the tile = {{-?[0-9]+}}}}
    tracea_pipe.store %zero, %a[%m, %n] map #id limits(%h, %w) : tensor<8x16xf32, #lanes>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// -----

// Rows between the tiles are missed: their step is more than their height.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %rows = arith.ceildivsi %M, %c8 : index
  %columns = arith.ceildivsi %N, %c16 : index
  // expected-note@+1 {{the tiles are made here}}
  tracea_pipe.tiles (%i, %j) in (%rows, %columns) {
    %m = arith.muli %i, %c9 : index
    %n = arith.muli %j, %c16 : index
    %h = arith.subi %M, %m : index
    %w = arith.subi %N, %n : index
    // expected-error-re@+1 {{does not write all of argument #0: with dimension 0 of argument #0 = {{-?[0-9]+}}, dimension 1 of argument #0 = {{-?[0-9]+}}, element [{{-?[0-9]+}}, {{-?[0-9]+}}] is written by no tile}}
    tracea_pipe.store %zero, %a[%m, %n] map #id limits(%h, %w) : tensor<8x16xf32, #lanes>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// -----

// All tiles of a row of the grid write one place.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %rows = arith.ceildivsi %M, %c8 : index
  %columns = arith.ceildivsi %N, %c16 : index
  // expected-note@+1 {{the tiles are made here}}
  tracea_pipe.tiles (%i, %j) in (%rows, %columns) {
    %m = arith.muli %i, %c8 : index
    %n = arith.muli %j, %c16 : index
    %h = arith.subi %M, %m : index
    %w = arith.subi %N, %n : index
    // expected-error-re@+1 {{does not write all of argument #0: with dimension 0 of argument #0 = {{-?[0-9]+}}, dimension 1 of argument #0 = {{-?[0-9]+}}, element [{{-?[0-9]+}}, {{-?[0-9]+}}] is written by no tile}}
    tracea_pipe.store %zero, %a[%m, %c0] map #id limits(%h, %w) : tensor<8x16xf32, #lanes>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// -----

// The grid of the columns is that of the rows.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %rows = arith.ceildivsi %M, %c8 : index
  %columns = arith.ceildivsi %N, %c16 : index
  // expected-note@+1 {{the tiles are made here}}
  tracea_pipe.tiles (%i, %j) in (%rows, %rows) {
    %m = arith.muli %i, %c8 : index
    %n = arith.muli %j, %c16 : index
    %h = arith.subi %M, %m : index
    %w = arith.subi %N, %n : index
    // expected-error-re@+1 {{does not write all of argument #0: with dimension 0 of argument #0 = {{-?[0-9]+}}, dimension 1 of argument #0 = {{-?[0-9]+}}, element [{{-?[0-9]+}}, {{-?[0-9]+}}] is written by no tile}}
    tracea_pipe.store %zero, %a[%m, %n] map #id limits(%h, %w) : tensor<8x16xf32, #lanes>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// -----

// The first tile is left out.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %rows = arith.ceildivsi %M, %c8 : index
  %columns = arith.ceildivsi %N, %c16 : index
  // expected-note@+1 {{the tiles are made here}}
  tracea_pipe.tiles (%i, %j) in (%rows, %columns) {
    %m = arith.muli %i, %c8 : index
    %n = arith.muli %j, %c16 : index
    %h = arith.subi %M, %m : index
    %w = arith.subi %N, %n : index
    %some = arith.cmpi ne, %i, %c0 : index
    scf.if %some {
    // expected-error-re@+1 {{does not write all of argument #0: with dimension 0 of argument #0 = {{-?[0-9]+}}, dimension 1 of argument #0 = {{-?[0-9]+}}, element [{{-?[0-9]+}}, {{-?[0-9]+}}] is written by no tile}}
    tracea_pipe.store %zero, %a[%m, %n] map #id limits(%h, %w) : tensor<8x16xf32, #lanes>, memref<?x?xf32>
    }
  }
  tracea_pipe.end
}

// -----

// The first row of the result is written by a tile before it.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %rows = arith.ceildivsi %M, %c8 : index
  %columns = arith.ceildivsi %N, %c16 : index
  tracea_pipe.tiles (%i, %j) in (%rows, %columns) {
    %m1 = arith.muli %i, %c8 : index
    %m = arith.subi %m1, %c1 : index
    %n = arith.muli %j, %c16 : index
    %h = arith.subi %M, %m : index
    %w = arith.subi %N, %n : index
    // expected-error-re@+1 {{writes out of bounds of argument #0: with dimension 0 of argument #0 = {{-?[0-9]+}}, dimension 1 of argument #0 = {{-?[0-9]+}}, index 0 is {{-?[0-9]+}}, expected 0 to below {{-?[0-9]+}}}}
    tracea_pipe.store %zero, %a[%m, %n] map #id limits(%h, %w) : tensor<8x16xf32, #lanes>, memref<?x?xf32>
  }
  tracea_pipe.end
}

// -----

// Register tiles overlap: the loop over them steps by half.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x512xf32>, %c: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %c, %c0 : memref<?x64xf32>
  %rows = arith.ceildivsi %M, %c32 : index
  tracea_pipe.tiles (%i) in (%rows) {
    %m = arith.muli %i, %c32 : index
    %left = arith.subi %M, %m : index
    %length = arith.minsi %left, %c32 : index
    scf.for %k = %c0 to %c512 step %c64 {
      // expected-note-re@+1 {{iteration of the loop is made here: once it is {{-?[0-9]+}}, once 1}}
      scf.for %r = %c0 to %length step %c4 {
        scf.for %s = %c0 to %c64 step %c16 {
          %row = arith.addi %m, %r : index
          %h = arith.subi %length, %r : index
          %w = arith.subi %c64, %s : index
          // expected-error-re@+1 {{writes an element of argument #1 twice: with dimension 0 of argument #1 = {{-?[0-9]+}}, element [{{-?[0-9]+}}, {{-?[0-9]+}}] is written where index 0 of the tile = {{-?[0-9]+}}, iteration of the loop = {{-?[0-9]+}}, iteration of the loop = {{-?[0-9]+}}, element 0 of the tile = {{-?[0-9]+}}, element 1 of the tile = {{-?[0-9]+}} and where index 0 of the tile = {{-?[0-9]+}}, iteration of the loop = {{-?[0-9]+}}, iteration of the loop = {{-?[0-9]+}}, element 0 of the tile = {{-?[0-9]+}}, element 1 of the tile = {{-?[0-9]+}}}}
          tracea_pipe.store %zero, %c[%row, %s] map #id limits(%h, %w) : tensor<8x16xf32, #lanes>, memref<?x64xf32>
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// The loop over register tiles steps too far.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x512xf32>, %c: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %c, %c0 : memref<?x64xf32>
  %rows = arith.ceildivsi %M, %c32 : index
  // expected-note@+1 {{the tiles are made here}}
  tracea_pipe.tiles (%i) in (%rows) {
    %m = arith.muli %i, %c32 : index
    %left = arith.subi %M, %m : index
    %length = arith.minsi %left, %c32 : index
    scf.for %k = %c0 to %c512 step %c64 {
      scf.for %r = %c0 to %length step %c8 {
        scf.for %s = %c0 to %c64 step %c32 {
          %row = arith.addi %m, %r : index
          %h = arith.subi %length, %r : index
          %w = arith.subi %c64, %s : index
          // expected-error-re@+1 {{does not write all of argument #1: with dimension 0 of argument #1 = {{-?[0-9]+}}, element [{{-?[0-9]+}}, {{-?[0-9]+}}] is written by no tile}}
          tracea_pipe.store %zero, %c[%row, %s] map #id limits(%h, %w) : tensor<8x16xf32, #lanes>, memref<?x64xf32>
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// The loop ends before the last register tile.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x512xf32>, %c: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c48 = arith.constant 48 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %c, %c0 : memref<?x64xf32>
  %rows = arith.ceildivsi %M, %c32 : index
  // expected-note@+1 {{the tiles are made here}}
  tracea_pipe.tiles (%i) in (%rows) {
    %m = arith.muli %i, %c32 : index
    %left = arith.subi %M, %m : index
    %length = arith.minsi %left, %c32 : index
    scf.for %k = %c0 to %c512 step %c64 {
      scf.for %r = %c0 to %length step %c8 {
        scf.for %s = %c0 to %c48 step %c16 {
          %row = arith.addi %m, %r : index
          %h = arith.subi %length, %r : index
          %w = arith.subi %c64, %s : index
          // expected-error-re@+1 {{does not write all of argument #1: with dimension 0 of argument #1 = {{-?[0-9]+}}, element [{{-?[0-9]+}}, {{-?[0-9]+}}] is written by no tile}}
          tracea_pipe.store %zero, %c[%row, %s] map #id limits(%h, %w) : tensor<8x16xf32, #lanes>, memref<?x64xf32>
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// The loop begins after the first register tile.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x512xf32>, %c: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %c, %c0 : memref<?x64xf32>
  %rows = arith.ceildivsi %M, %c32 : index
  // expected-note@+1 {{the tiles are made here}}
  tracea_pipe.tiles (%i) in (%rows) {
    %m = arith.muli %i, %c32 : index
    %left = arith.subi %M, %m : index
    %length = arith.minsi %left, %c32 : index
    scf.for %k = %c0 to %c512 step %c64 {
      scf.for %r = %c0 to %length step %c8 {
        scf.for %s = %c16 to %c64 step %c16 {
          %row = arith.addi %m, %r : index
          %h = arith.subi %length, %r : index
          %w = arith.subi %c64, %s : index
          // expected-error-re@+1 {{does not write all of argument #1: with dimension 0 of argument #1 = {{-?[0-9]+}}, element [{{-?[0-9]+}}, {{-?[0-9]+}}] is written by no tile}}
          tracea_pipe.store %zero, %c[%row, %s] map #id limits(%h, %w) : tensor<8x16xf32, #lanes>, memref<?x64xf32>
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// The grid steps by more than what its loops write.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x512xf32>, %c: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %c, %c0 : memref<?x64xf32>
  %rows = arith.ceildivsi %M, %c32 : index
  // expected-note@+1 {{the tiles are made here}}
  tracea_pipe.tiles (%i) in (%rows) {
    %m = arith.muli %i, %c32 : index
    %left = arith.subi %M, %m : index
    %length = arith.minsi %left, %c16 : index
    scf.for %k = %c0 to %c512 step %c64 {
      scf.for %r = %c0 to %length step %c8 {
        scf.for %s = %c0 to %c64 step %c16 {
          %row = arith.addi %m, %r : index
          %h = arith.subi %length, %r : index
          %w = arith.subi %c64, %s : index
          // expected-error-re@+1 {{does not write all of argument #1: with dimension 0 of argument #1 = {{-?[0-9]+}}, element [{{-?[0-9]+}}, {{-?[0-9]+}}] is written by no tile}}
          tracea_pipe.store %zero, %c[%row, %s] map #id limits(%h, %w) : tensor<8x16xf32, #lanes>, memref<?x64xf32>
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// The loop around the store may not run: nothing is written when k is zero.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x512xf32>, %c: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %c, %c0 : memref<?x64xf32>
  %K = memref.dim %c, %c0 : memref<?x64xf32>
  %some = arith.subi %K, %c1 : index
  %rows = arith.ceildivsi %M, %c32 : index
  tracea_pipe.tiles (%i) in (%rows) {
    %m = arith.muli %i, %c32 : index
    %left = arith.subi %M, %m : index
    %length = arith.minsi %left, %c32 : index
    // expected-note@+1 {{the loop is here}}
    scf.for %k = %c0 to %some step %c64 {
      scf.for %r = %c0 to %length step %c8 {
        scf.for %s = %c0 to %c64 step %c16 {
          %row = arith.addi %m, %r : index
          %h = arith.subi %length, %r : index
          %w = arith.subi %c64, %s : index
          // expected-error-re@+1 {{may not write argument #1 at all: with dimension 0 of argument #1 = {{-?[0-9]+}}, the loop around it does not run, or its last iteration does not store}}
          tracea_pipe.store %zero, %c[%row, %s] map #id limits(%h, %w) : tensor<8x16xf32, #lanes>, memref<?x64xf32>
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// Only the first block of k stores, in a loop that may have more.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x512xf32>, %c: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %c, %c0 : memref<?x64xf32>
  %rows = arith.ceildivsi %M, %c32 : index
  tracea_pipe.tiles (%i) in (%rows) {
    %m = arith.muli %i, %c32 : index
    %left = arith.subi %M, %m : index
    %length = arith.minsi %left, %c32 : index
    // expected-note@+1 {{the loop is here}}
    scf.for %k = %c0 to %c512 step %c64 {
      %first = arith.cmpi eq, %k, %c0 : index
      scf.if %first {
      scf.for %r = %c0 to %length step %c8 {
        scf.for %s = %c0 to %c64 step %c16 {
          %row = arith.addi %m, %r : index
          %h = arith.subi %length, %r : index
          %w = arith.subi %c64, %s : index
          // expected-error-re@+1 {{may not write argument #1 at all: with dimension 0 of argument #1 = {{-?[0-9]+}}, the loop around it does not run, or its last iteration does not store}}
          tracea_pipe.store %zero, %c[%row, %s] map #id limits(%h, %w) : tensor<8x16xf32, #lanes>, memref<?x64xf32>
        }
      }
      }
    }
  }
  tracea_pipe.end
}

// -----

// The tail of k is lost: the multiply reads more of the slots than was copied.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#panel = affine_map<(p, k, i) -> (p * 8 + i, k)>
#columns = affine_map<(k, j) -> (k, j)>
#window = affine_map<(i, k) -> (0, k, i)>
!a = memref<4x64x8xf32, #tracea_pipe.staged>
!b = memref<64x16xf32, #tracea_pipe.staged>
!av = memref<8x64xf32, strided<[1, 8], offset: ?>, #tracea_pipe.staged>
!ring_a = !tracea_pipe.channel<1 x (!a)>
!ring_b = !tracea_pipe.channel<1 x (!b)>
!phase = !tracea_pipe.phase<1>
tracea_pipe.kernel @k(%a: memref<?x100xf32>, %b: memref<100x16xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x100xf32>
  %rows = arith.ceildivsi %M, %c32 : index
  tracea_pipe.tiles (%i) in (%rows) {
    %ra = tracea_pipe.channel : !ring_a
    %rb = tracea_pipe.channel : !ring_b
    %p = tracea_pipe.start : !phase
    %m = arith.muli %i, %c32 : index
    %left = arith.subi %M, %m : index
    %length = arith.minsi %left, %c32 : index
    %panels = arith.ceildivsi %length, %c8 : index
    scf.for %k = %c0 to %c100 step %c64 {
      %rest = arith.subi %c100, %k : index
      %depth = arith.minsi %rest, %c64 : index
      %fa = tracea_pipe.acquire %ra[%p] : !ring_a, !phase -> !a
      // expected-note@+1 {{the copy ends at its limits}}
      tracea_pipe.copy %a[%m, %k] map #panel limits(%panels, %depth, %c8) padded [0] to %fa : memref<?x100xf32>, !a
      tracea_pipe.commit %ra[%p] : !ring_a, !phase
      %sa = tracea_pipe.wait %ra[%p] : !ring_a, !phase -> !a
      %fb = tracea_pipe.acquire %rb[%p] : !ring_b, !phase -> !b
      tracea_pipe.copy %b[%k, %c0] map #columns limits(%depth, %c16) to %fb : memref<100x16xf32>, !b
      tracea_pipe.commit %rb[%p] : !ring_b, !phase
      %sb = tracea_pipe.wait %rb[%p] : !ring_b, !phase -> !b
      scf.for %r = %c0 to %length step %c8 {
        %panel = arith.divui %r, %c8 : index
        %v = tracea_pipe.view %sa[%panel, %c0, %c0] map #window : !a -> !av
        // expected-error-re@+1 {{reads its lhs where nothing was copied: with dimension 0 of argument #0 = {{-?[0-9]+}}}}
        %d = tracea_pipe.mma %v, %sb, %zero depth(%c64) : !av, !b, tensor<8x16xf32, #lanes>
      }
      tracea_pipe.release %ra[%p] : !ring_a, !phase
      tracea_pipe.release %rb[%p] : !ring_b, !phase
    }
  }
  tracea_pipe.end
}

// -----

// The multiply goes on past the end of its block, by as much as is left of k. Limits
// of copies end there by themselves.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#panel = affine_map<(p, k, i) -> (p * 8 + i, k)>
#columns = affine_map<(k, j) -> (k, j)>
#window = affine_map<(i, k) -> (0, k, i)>
!a = memref<4x64x8xf32, #tracea_pipe.staged>
!b = memref<64x16xf32, #tracea_pipe.staged>
!av = memref<8x64xf32, strided<[1, 8], offset: ?>, #tracea_pipe.staged>
!ring_a = !tracea_pipe.channel<1 x (!a)>
!ring_b = !tracea_pipe.channel<1 x (!b)>
!phase = !tracea_pipe.phase<1>
tracea_pipe.kernel @k(%a: memref<?x?xf32>, %b: memref<?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c1 = arith.constant 1 : index
  %K = memref.dim %a, %c1 : memref<?x?xf32>
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %rows = arith.ceildivsi %M, %c32 : index
  tracea_pipe.tiles (%i) in (%rows) {
    %ra = tracea_pipe.channel : !ring_a
    %rb = tracea_pipe.channel : !ring_b
    %p = tracea_pipe.start : !phase
    %m = arith.muli %i, %c32 : index
    %left = arith.subi %M, %m : index
    %length = arith.minsi %left, %c32 : index
    %panels = arith.ceildivsi %length, %c8 : index
    scf.for %k = %c0 to %K step %c64 {
      %rest = arith.subi %K, %k : index
      %fa = tracea_pipe.acquire %ra[%p] : !ring_a, !phase -> !a
      tracea_pipe.copy %a[%m, %k] map #panel limits(%panels, %rest, %c8) padded [0] to %fa : memref<?x?xf32>, !a
      tracea_pipe.commit %ra[%p] : !ring_a, !phase
      %sa = tracea_pipe.wait %ra[%p] : !ring_a, !phase -> !a
      %fb = tracea_pipe.acquire %rb[%p] : !ring_b, !phase -> !b
      // expected-remark@+1 {{may not happen, since no launch compares the extents of the arguments}}
      tracea_pipe.copy %b[%k, %c0] map #columns limits(%rest, %c16) to %fb : memref<?x16xf32>, !b
      tracea_pipe.commit %rb[%p] : !ring_b, !phase
      %sb = tracea_pipe.wait %rb[%p] : !ring_b, !phase -> !b
      scf.for %r = %c0 to %length step %c8 {
        %panel = arith.divui %r, %c8 : index
        // expected-note@+1 {{it looks through this window}}
        %v = tracea_pipe.view %sa[%panel, %c0, %c0] map #window : !a -> !av
        // expected-error@+2 {{reads its lhs out of bounds of what 'tracea_pipe.wait' gives}}
        // expected-error@+1 {{reads its rhs out of bounds of what 'tracea_pipe.wait' gives}}
        %d = tracea_pipe.mma %v, %sb, %zero depth(%rest) : !av, !b, tensor<8x16xf32, #lanes>
      }
      tracea_pipe.release %ra[%p] : !ring_a, !phase
      tracea_pipe.release %rb[%p] : !ring_b, !phase
    }
  }
  tracea_pipe.end
}

// -----

// The copy of B ignores the tail of k.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#panel = affine_map<(p, k, i) -> (p * 8 + i, k)>
#columns = affine_map<(k, j) -> (k, j)>
#window = affine_map<(i, k) -> (0, k, i)>
!a = memref<4x64x8xf32, #tracea_pipe.staged>
!b = memref<64x16xf32, #tracea_pipe.staged>
!av = memref<8x64xf32, strided<[1, 8], offset: ?>, #tracea_pipe.staged>
!ring_a = !tracea_pipe.channel<1 x (!a)>
!ring_b = !tracea_pipe.channel<1 x (!b)>
!phase = !tracea_pipe.phase<1>
tracea_pipe.kernel @k(%a: memref<?x100xf32>, %b: memref<100x16xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x100xf32>
  %rows = arith.ceildivsi %M, %c32 : index
  tracea_pipe.tiles (%i) in (%rows) {
    %ra = tracea_pipe.channel : !ring_a
    %rb = tracea_pipe.channel : !ring_b
    %p = tracea_pipe.start : !phase
    %m = arith.muli %i, %c32 : index
    %left = arith.subi %M, %m : index
    %length = arith.minsi %left, %c32 : index
    %panels = arith.ceildivsi %length, %c8 : index
    scf.for %k = %c0 to %c100 step %c64 {
      %rest = arith.subi %c100, %k : index
      %depth = arith.minsi %rest, %c64 : index
      %fa = tracea_pipe.acquire %ra[%p] : !ring_a, !phase -> !a
      tracea_pipe.copy %a[%m, %k] map #panel limits(%panels, %depth, %c8) padded [0] to %fa : memref<?x100xf32>, !a
      tracea_pipe.commit %ra[%p] : !ring_a, !phase
      %sa = tracea_pipe.wait %ra[%p] : !ring_a, !phase -> !a
      %fb = tracea_pipe.acquire %rb[%p] : !ring_b, !phase -> !b
      // expected-error-re@+1 {{reads out of bounds of argument #1: index 0 is {{-?[0-9]+}}, expected 0 to below {{-?[0-9]+}}}}
      tracea_pipe.copy %b[%k, %c0] map #columns limits(%c64, %c16) to %fb : memref<100x16xf32>, !b
      tracea_pipe.commit %rb[%p] : !ring_b, !phase
      %sb = tracea_pipe.wait %rb[%p] : !ring_b, !phase -> !b
      scf.for %r = %c0 to %length step %c8 {
        %panel = arith.divui %r, %c8 : index
        %v = tracea_pipe.view %sa[%panel, %c0, %c0] map #window : !a -> !av
        %d = tracea_pipe.mma %v, %sb, %zero depth(%depth) : !av, !b, tensor<8x16xf32, #lanes>
      }
      tracea_pipe.release %ra[%p] : !ring_a, !phase
      tracea_pipe.release %rb[%p] : !ring_b, !phase
    }
  }
  tracea_pipe.end
}

// -----

// The copy of A ends at the depth of the wrong block.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#panel = affine_map<(p, k, i) -> (p * 8 + i, k)>
#columns = affine_map<(k, j) -> (k, j)>
#window = affine_map<(i, k) -> (0, k, i)>
!a = memref<4x64x8xf32, #tracea_pipe.staged>
!b = memref<64x16xf32, #tracea_pipe.staged>
!av = memref<8x64xf32, strided<[1, 8], offset: ?>, #tracea_pipe.staged>
!ring_a = !tracea_pipe.channel<1 x (!a)>
!ring_b = !tracea_pipe.channel<1 x (!b)>
!phase = !tracea_pipe.phase<1>
tracea_pipe.kernel @k(%a: memref<?x100xf32>, %b: memref<100x16xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x100xf32>
  %rows = arith.ceildivsi %M, %c32 : index
  tracea_pipe.tiles (%i) in (%rows) {
    %ra = tracea_pipe.channel : !ring_a
    %rb = tracea_pipe.channel : !ring_b
    %p = tracea_pipe.start : !phase
    %m = arith.muli %i, %c32 : index
    %left = arith.subi %M, %m : index
    %length = arith.minsi %left, %c32 : index
    %panels = arith.ceildivsi %length, %c8 : index
    scf.for %k = %c0 to %c100 step %c64 {
      %rest = arith.subi %c100, %k : index
      %depth = arith.minsi %rest, %c64 : index
      %wrong = arith.subi %depth, %c8 : index
      %fa = tracea_pipe.acquire %ra[%p] : !ring_a, !phase -> !a
      // expected-note@+1 {{the copy ends at its limits}}
      tracea_pipe.copy %a[%m, %k] map #panel limits(%panels, %wrong, %c8) padded [0] to %fa : memref<?x100xf32>, !a
      tracea_pipe.commit %ra[%p] : !ring_a, !phase
      %sa = tracea_pipe.wait %ra[%p] : !ring_a, !phase -> !a
      %fb = tracea_pipe.acquire %rb[%p] : !ring_b, !phase -> !b
      tracea_pipe.copy %b[%k, %c0] map #columns limits(%depth, %c16) to %fb : memref<100x16xf32>, !b
      tracea_pipe.commit %rb[%p] : !ring_b, !phase
      %sb = tracea_pipe.wait %rb[%p] : !ring_b, !phase -> !b
      scf.for %r = %c0 to %length step %c8 {
        %panel = arith.divui %r, %c8 : index
        %v = tracea_pipe.view %sa[%panel, %c0, %c0] map #window : !a -> !av
        // expected-error-re@+1 {{reads its lhs where nothing was copied: with dimension 0 of argument #0 = {{-?[0-9]+}}}}
        %d = tracea_pipe.mma %v, %sb, %zero depth(%depth) : !av, !b, tensor<8x16xf32, #lanes>
      }
      tracea_pipe.release %ra[%p] : !ring_a, !phase
      tracea_pipe.release %rb[%p] : !ring_b, !phase
    }
  }
  tracea_pipe.end
}

// -----

// The panels are rounded down.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#panel = affine_map<(p, k, i) -> (p * 8 + i, k)>
#columns = affine_map<(k, j) -> (k, j)>
#window = affine_map<(i, k) -> (0, k, i)>
!a = memref<4x64x8xf32, #tracea_pipe.staged>
!b = memref<64x16xf32, #tracea_pipe.staged>
!av = memref<8x64xf32, strided<[1, 8], offset: ?>, #tracea_pipe.staged>
!ring_a = !tracea_pipe.channel<1 x (!a)>
!ring_b = !tracea_pipe.channel<1 x (!b)>
!phase = !tracea_pipe.phase<1>
tracea_pipe.kernel @k(%a: memref<?x100xf32>, %b: memref<100x16xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x100xf32>
  %rows = arith.ceildivsi %M, %c32 : index
  tracea_pipe.tiles (%i) in (%rows) {
    %ra = tracea_pipe.channel : !ring_a
    %rb = tracea_pipe.channel : !ring_b
    %p = tracea_pipe.start : !phase
    %m = arith.muli %i, %c32 : index
    %left = arith.subi %M, %m : index
    %length = arith.minsi %left, %c32 : index
    %panels = arith.floordivsi %length, %c8 : index
    scf.for %k = %c0 to %c100 step %c64 {
      %rest = arith.subi %c100, %k : index
      %depth = arith.minsi %rest, %c64 : index
      %fa = tracea_pipe.acquire %ra[%p] : !ring_a, !phase -> !a
      // expected-note@+1 {{the copy ends at its limits}}
      tracea_pipe.copy %a[%m, %k] map #panel limits(%panels, %depth, %c8) padded [0] to %fa : memref<?x100xf32>, !a
      tracea_pipe.commit %ra[%p] : !ring_a, !phase
      %sa = tracea_pipe.wait %ra[%p] : !ring_a, !phase -> !a
      %fb = tracea_pipe.acquire %rb[%p] : !ring_b, !phase -> !b
      tracea_pipe.copy %b[%k, %c0] map #columns limits(%depth, %c16) to %fb : memref<100x16xf32>, !b
      tracea_pipe.commit %rb[%p] : !ring_b, !phase
      %sb = tracea_pipe.wait %rb[%p] : !ring_b, !phase -> !b
      scf.for %r = %c0 to %length step %c8 {
        %panel = arith.divui %r, %c8 : index
        %v = tracea_pipe.view %sa[%panel, %c0, %c0] map #window : !a -> !av
        // expected-error-re@+1 {{reads its lhs where nothing was copied: with dimension 0 of argument #0 = {{-?[0-9]+}}}}
        %d = tracea_pipe.mma %v, %sb, %zero depth(%depth) : !av, !b, tensor<8x16xf32, #lanes>
      }
      tracea_pipe.release %ra[%p] : !ring_a, !phase
      tracea_pipe.release %rb[%p] : !ring_b, !phase
    }
  }
  tracea_pipe.end
}

// -----

// The window of A is one panel further.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#panel = affine_map<(p, k, i) -> (p * 8 + i, k)>
#columns = affine_map<(k, j) -> (k, j)>
#window = affine_map<(i, k) -> (0, k, i)>
!a = memref<4x64x8xf32, #tracea_pipe.staged>
!b = memref<64x16xf32, #tracea_pipe.staged>
!av = memref<8x64xf32, strided<[1, 8], offset: ?>, #tracea_pipe.staged>
!ring_a = !tracea_pipe.channel<1 x (!a)>
!ring_b = !tracea_pipe.channel<1 x (!b)>
!phase = !tracea_pipe.phase<1>
tracea_pipe.kernel @k(%a: memref<?x100xf32>, %b: memref<100x16xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x100xf32>
  %rows = arith.ceildivsi %M, %c32 : index
  tracea_pipe.tiles (%i) in (%rows) {
    %ra = tracea_pipe.channel : !ring_a
    %rb = tracea_pipe.channel : !ring_b
    %p = tracea_pipe.start : !phase
    %m = arith.muli %i, %c32 : index
    %left = arith.subi %M, %m : index
    %length = arith.minsi %left, %c32 : index
    %panels = arith.ceildivsi %length, %c8 : index
    scf.for %k = %c0 to %c100 step %c64 {
      %rest = arith.subi %c100, %k : index
      %depth = arith.minsi %rest, %c64 : index
      %fa = tracea_pipe.acquire %ra[%p] : !ring_a, !phase -> !a
      tracea_pipe.copy %a[%m, %k] map #panel limits(%panels, %depth, %c8) padded [0] to %fa : memref<?x100xf32>, !a
      tracea_pipe.commit %ra[%p] : !ring_a, !phase
      %sa = tracea_pipe.wait %ra[%p] : !ring_a, !phase -> !a
      %fb = tracea_pipe.acquire %rb[%p] : !ring_b, !phase -> !b
      tracea_pipe.copy %b[%k, %c0] map #columns limits(%depth, %c16) to %fb : memref<100x16xf32>, !b
      tracea_pipe.commit %rb[%p] : !ring_b, !phase
      %sb = tracea_pipe.wait %rb[%p] : !ring_b, !phase -> !b
      scf.for %r = %c0 to %length step %c8 {
        %panel0 = arith.divui %r, %c8 : index
        %c1 = arith.constant 1 : index
        %panel = arith.addi %panel0, %c1 : index
        // expected-note@+1 {{it looks through this window}}
        %v = tracea_pipe.view %sa[%panel, %c0, %c0] map #window : !a -> !av
        // expected-error-re@+1 {{reads its lhs out of bounds of what 'tracea_pipe.wait' gives: with dimension 0 of argument #0 = {{-?[0-9]+}}, index 0 is {{-?[0-9]+}}, expected 0 to below {{-?[0-9]+}}}}
        %d = tracea_pipe.mma %v, %sb, %zero depth(%depth) : !av, !b, tensor<8x16xf32, #lanes>
      }
      tracea_pipe.release %ra[%p] : !ring_a, !phase
      tracea_pipe.release %rb[%p] : !ring_b, !phase
    }
  }
  tracea_pipe.end
}

// -----

// Rows past the end of A are not padded.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#panel = affine_map<(p, k, i) -> (p * 8 + i, k)>
#columns = affine_map<(k, j) -> (k, j)>
#window = affine_map<(i, k) -> (0, k, i)>
!a = memref<4x64x8xf32, #tracea_pipe.staged>
!b = memref<64x16xf32, #tracea_pipe.staged>
!av = memref<8x64xf32, strided<[1, 8], offset: ?>, #tracea_pipe.staged>
!ring_a = !tracea_pipe.channel<1 x (!a)>
!ring_b = !tracea_pipe.channel<1 x (!b)>
!phase = !tracea_pipe.phase<1>
tracea_pipe.kernel @k(%a: memref<?x100xf32>, %b: memref<100x16xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x100xf32>
  %rows = arith.ceildivsi %M, %c32 : index
  tracea_pipe.tiles (%i) in (%rows) {
    %ra = tracea_pipe.channel : !ring_a
    %rb = tracea_pipe.channel : !ring_b
    %p = tracea_pipe.start : !phase
    %m = arith.muli %i, %c32 : index
    %left = arith.subi %M, %m : index
    %length = arith.minsi %left, %c32 : index
    %panels = arith.ceildivsi %length, %c8 : index
    scf.for %k = %c0 to %c100 step %c64 {
      %rest = arith.subi %c100, %k : index
      %depth = arith.minsi %rest, %c64 : index
      %fa = tracea_pipe.acquire %ra[%p] : !ring_a, !phase -> !a
      // expected-error-re@+1 {{reads out of bounds of argument #0: with dimension 0 of argument #0 = {{-?[0-9]+}}, index 0 is {{-?[0-9]+}}, expected 0 to below {{-?[0-9]+}}}}
      tracea_pipe.copy %a[%m, %k] map #panel limits(%panels, %depth, %c8) to %fa : memref<?x100xf32>, !a
      tracea_pipe.commit %ra[%p] : !ring_a, !phase
      %sa = tracea_pipe.wait %ra[%p] : !ring_a, !phase -> !a
      %fb = tracea_pipe.acquire %rb[%p] : !ring_b, !phase -> !b
      tracea_pipe.copy %b[%k, %c0] map #columns limits(%depth, %c16) to %fb : memref<100x16xf32>, !b
      tracea_pipe.commit %rb[%p] : !ring_b, !phase
      %sb = tracea_pipe.wait %rb[%p] : !ring_b, !phase -> !b
      scf.for %r = %c0 to %length step %c8 {
        %panel = arith.divui %r, %c8 : index
        %v = tracea_pipe.view %sa[%panel, %c0, %c0] map #window : !a -> !av
        %d = tracea_pipe.mma %v, %sb, %zero depth(%depth) : !av, !b, tensor<8x16xf32, #lanes>
      }
      tracea_pipe.release %ra[%p] : !ring_a, !phase
      tracea_pipe.release %rb[%p] : !ring_b, !phase
    }
  }
  tracea_pipe.end
}

// -----

// The depth is more than the operands have.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#panel = affine_map<(p, k, i) -> (p * 8 + i, k)>
#columns = affine_map<(k, j) -> (k, j)>
#window = affine_map<(i, k) -> (0, k, i)>
!a = memref<4x64x8xf32, #tracea_pipe.staged>
!b = memref<64x16xf32, #tracea_pipe.staged>
!av = memref<8x64xf32, strided<[1, 8], offset: ?>, #tracea_pipe.staged>
!ring_a = !tracea_pipe.channel<1 x (!a)>
!ring_b = !tracea_pipe.channel<1 x (!b)>
!phase = !tracea_pipe.phase<1>
tracea_pipe.kernel @k(%a: memref<?x100xf32>, %b: memref<100x16xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x100xf32>
  %rows = arith.ceildivsi %M, %c32 : index
  tracea_pipe.tiles (%i) in (%rows) {
    %ra = tracea_pipe.channel : !ring_a
    %rb = tracea_pipe.channel : !ring_b
    %p = tracea_pipe.start : !phase
    %m = arith.muli %i, %c32 : index
    %left = arith.subi %M, %m : index
    %length = arith.minsi %left, %c32 : index
    %panels = arith.ceildivsi %length, %c8 : index
    scf.for %k = %c0 to %c100 step %c64 {
      %rest = arith.subi %c100, %k : index
      %depth = arith.minsi %rest, %c64 : index
      %fa = tracea_pipe.acquire %ra[%p] : !ring_a, !phase -> !a
      tracea_pipe.copy %a[%m, %k] map #panel limits(%panels, %depth, %c8) padded [0] to %fa : memref<?x100xf32>, !a
      tracea_pipe.commit %ra[%p] : !ring_a, !phase
      %sa = tracea_pipe.wait %ra[%p] : !ring_a, !phase -> !a
      %fb = tracea_pipe.acquire %rb[%p] : !ring_b, !phase -> !b
      tracea_pipe.copy %b[%k, %c0] map #columns limits(%depth, %c16) to %fb : memref<100x16xf32>, !b
      tracea_pipe.commit %rb[%p] : !ring_b, !phase
      %sb = tracea_pipe.wait %rb[%p] : !ring_b, !phase -> !b
      scf.for %r = %c0 to %length step %c8 {
        %panel = arith.divui %r, %c8 : index
        // expected-note@+1 {{it looks through this window}}
        %v = tracea_pipe.view %sa[%panel, %c0, %c0] map #window : !a -> !av
        // expected-error-re@+2 {{reads its lhs out of bounds of what 'tracea_pipe.wait' gives: with dimension 0 of argument #0 = {{-?[0-9]+}}, an index of the window is {{-?[0-9]+}}, expected 0 to below {{-?[0-9]+}}}}
        // expected-error-re@+1 {{reads its rhs out of bounds of what 'tracea_pipe.wait' gives: with dimension 0 of argument #0 = {{-?[0-9]+}}, index 0 is {{-?[0-9]+}}, expected 0 to below {{-?[0-9]+}}}}
        %d = tracea_pipe.mma %v, %sb, %zero depth(%rest) : !av, !b, tensor<8x16xf32, #lanes>
      }
      tracea_pipe.release %ra[%p] : !ring_a, !phase
      tracea_pipe.release %rb[%p] : !ring_b, !phase
    }
  }
  tracea_pipe.end
}

// -----

// The offset of the team is missing.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %workgroups = arith.constant 132 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %rows = arith.ceildivsi %M, %c16 : index
  %columns = arith.ceildivsi %N, %c16 : index
  %count = arith.muli %rows, %columns : index
  // expected-note@+1 {{the tiles are made here}}
  tracea_pipe.tiles (%w) in (%workgroups) {
    tracea_pipe.roles {
      tracea_pipe.role "consumer" warps [0, 8] copies 2 (%team) {
        scf.for %t = %w to %count step %workgroups {
          %i, %j = tracea_pipe.raster %t in (%rows, %columns) group 16
          %m0 = arith.muli %i, %c16 : index
          %half = arith.muli %team, %c8 : index
          %m = arith.addi %m0, %c0 : index
          %n = arith.muli %j, %c16 : index
          %h = arith.subi %M, %m : index
          %x = arith.subi %N, %n : index
          // expected-error-re@+1 {{does not write all of argument #0: with dimension 0 of argument #0 = {{-?[0-9]+}}, dimension 1 of argument #0 = {{-?[0-9]+}}, element [{{-?[0-9]+}}, {{-?[0-9]+}}] is written by no tile}}
          tracea_pipe.store %zero, %a[%m, %n] map #id limits(%h, %x) : tensor<8x16xf32, #lanes>, memref<?x?xf32>
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// The teams lie too far from each other.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %workgroups = arith.constant 132 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %rows = arith.ceildivsi %M, %c16 : index
  %columns = arith.ceildivsi %N, %c16 : index
  %count = arith.muli %rows, %columns : index
  // expected-note@+1 {{the tiles are made here}}
  tracea_pipe.tiles (%w) in (%workgroups) {
    tracea_pipe.roles {
      tracea_pipe.role "consumer" warps [0, 8] copies 2 (%team) {
        scf.for %t = %w to %count step %workgroups {
          %i, %j = tracea_pipe.raster %t in (%rows, %columns) group 16
          %m0 = arith.muli %i, %c16 : index
          %half = arith.muli %team, %c16 : index
          %m = arith.addi %m0, %half : index
          %n = arith.muli %j, %c16 : index
          %h = arith.subi %M, %m : index
          %x = arith.subi %N, %n : index
          // expected-error-re@+1 {{does not write all of argument #0: with dimension 0 of argument #0 = {{-?[0-9]+}}, dimension 1 of argument #0 = {{-?[0-9]+}}, element [{{-?[0-9]+}}, {{-?[0-9]+}}] is written by no tile}}
          tracea_pipe.store %zero, %a[%m, %n] map #id limits(%h, %x) : tensor<8x16xf32, #lanes>, memref<?x?xf32>
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// The persistent loop steps by one workgroup too few.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %workgroups = arith.constant 132 : index
  %stride = arith.constant 131 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %rows = arith.ceildivsi %M, %c16 : index
  %columns = arith.ceildivsi %N, %c16 : index
  %count = arith.muli %rows, %columns : index
  // expected-note-re@+1 {{index 0 of the tile is made here: once it is {{[0-9]+}}, once {{[0-9]+}}}}
  tracea_pipe.tiles (%w) in (%workgroups) {
    tracea_pipe.roles {
      tracea_pipe.role "consumer" warps [0, 8] copies 2 (%team) {
        scf.for %t = %w to %count step %stride {
          %i, %j = tracea_pipe.raster %t in (%rows, %columns) group 16
          %m0 = arith.muli %i, %c16 : index
          %half = arith.muli %team, %c8 : index
          %m = arith.addi %m0, %half : index
          %n = arith.muli %j, %c16 : index
          %h = arith.subi %M, %m : index
          %x = arith.subi %N, %n : index
          // expected-error-re@+1 {{writes an element of argument #0 twice: with dimension 0 of argument #0 = {{[0-9]+}}, dimension 1 of argument #0 = {{[0-9]+}}, element [{{[0-9]+}}, {{[0-9]+}}] is written where}}
          tracea_pipe.store %zero, %a[%m, %n] map #id limits(%h, %x) : tensor<8x16xf32, #lanes>, memref<?x?xf32>
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// The persistent loop skips tiles.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %workgroups = arith.constant 132 : index
  %stride = arith.constant 133 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %rows = arith.ceildivsi %M, %c16 : index
  %columns = arith.ceildivsi %N, %c16 : index
  %count = arith.muli %rows, %columns : index
  // expected-note@+1 {{the tiles are made here}}
  tracea_pipe.tiles (%w) in (%workgroups) {
    tracea_pipe.roles {
      tracea_pipe.role "consumer" warps [0, 8] copies 2 (%team) {
        scf.for %t = %w to %count step %stride {
          %i, %j = tracea_pipe.raster %t in (%rows, %columns) group 16
          %m0 = arith.muli %i, %c16 : index
          %half = arith.muli %team, %c8 : index
          %m = arith.addi %m0, %half : index
          %n = arith.muli %j, %c16 : index
          %h = arith.subi %M, %m : index
          %x = arith.subi %N, %n : index
          // expected-error-re@+1 {{does not write all of argument #0: with dimension 0 of argument #0 = {{[0-9]+}}, dimension 1 of argument #0 = {{[0-9]+}}, element [{{[0-9]+}}, {{[0-9]+}}] is written by no tile}}
          tracea_pipe.store %zero, %a[%m, %n] map #id limits(%h, %x) : tensor<8x16xf32, #lanes>, memref<?x?xf32>
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// The tiles of the raster fall together.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%a: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %workgroups = arith.constant 132 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %M = memref.dim %a, %c0 : memref<?x?xf32>
  %N = memref.dim %a, %c1 : memref<?x?xf32>
  %rows = arith.ceildivsi %M, %c16 : index
  %columns = arith.ceildivsi %N, %c16 : index
  %count = arith.muli %rows, %columns : index
  // expected-note@+1 {{the tiles are made here}}
  tracea_pipe.tiles (%w) in (%workgroups) {
    tracea_pipe.roles {
      tracea_pipe.role "consumer" warps [0, 8] copies 2 (%team) {
        scf.for %t = %w to %count step %workgroups {
          %j, %i = tracea_pipe.raster %t in (%rows, %columns) group 16
          %m0 = arith.muli %i, %c16 : index
          %half = arith.muli %team, %c8 : index
          %m = arith.addi %m0, %half : index
          %n = arith.muli %j, %c16 : index
          %h = arith.subi %M, %m : index
          %x = arith.subi %N, %n : index
          // expected-error-re@+1 {{does not write all of argument #0: with dimension 0 of argument #0 = {{-?[0-9]+}}, dimension 1 of argument #0 = {{-?[0-9]+}}, element [{{-?[0-9]+}}, {{-?[0-9]+}}] is written by no tile}}
          tracea_pipe.store %zero, %a[%m, %n] map #id limits(%h, %x) : tensor<8x16xf32, #lanes>, memref<?x?xf32>
        }
      }
    }
  }
  tracea_pipe.end
}

// -----

// The window of the last tap reaches past the image.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#shift = affine_map<(i, j) -> (i * 2, j)>
tracea_pipe.kernel @k(%a: memref<?x19x16xf32>, %n: memref<9x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 6 : index
  %images = memref.dim %a, %c0 : memref<?x19x16xf32>
  tracea_pipe.tiles (%i) in (%images) {
    scf.for %tap = %c0 to %c3 step %c1 {
      // expected-error-re@+1 {{reads out of bounds of argument #0: with dimension 0 of argument #0 = {{-?[0-9]+}}, index 1 is {{-?[0-9]+}}, expected 0 to below {{-?[0-9]+}}}}
      %v = tracea_pipe.load %a[%i, %tap, %c0] map affine_map<(i, j) -> (0, i * 2, j)> : memref<?x19x16xf32> -> tensor<8x16xf32, #lanes>
    }
  }
  tracea_pipe.end
}

// -----

// The border above the image is not padded.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%x: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %H = memref.dim %x, %c0 : memref<?x?xf32>
  %W = memref.dim %x, %c1 : memref<?x?xf32>
  %rows = arith.ceildivsi %H, %c8 : index
  %columns = arith.ceildivsi %W, %c16 : index
  tracea_pipe.tiles (%i, %j) in (%rows, %columns) {
    %ring = tracea_pipe.channel : <1 x (memref<10x18xf32, #tracea_pipe.staged>)>
    %p = tracea_pipe.start : <1>
    %r0 = arith.muli %i, %c8 : index
    %s0 = arith.muli %j, %c16 : index
    %r = arith.subi %r0, %c1 : index
    %s = arith.subi %s0, %c1 : index
    %slot = tracea_pipe.acquire %ring[%p] : <1 x (memref<10x18xf32, #tracea_pipe.staged>)>, <1> -> memref<10x18xf32, #tracea_pipe.staged>
    // expected-error-re@+1 {{reads out of bounds of argument #0: with dimension 0 of argument #0 = {{-?[0-9]+}}, dimension 1 of argument #0 = {{-?[0-9]+}}, index 0 is {{-?[0-9]+}}, expected 0 to below {{-?[0-9]+}}}}
    tracea_pipe.copy %x[%r, %s] map #id padded [1] to %slot : memref<?x?xf32>, memref<10x18xf32, #tracea_pipe.staged>
    tracea_pipe.commit %ring[%p] : <1 x (memref<10x18xf32, #tracea_pipe.staged>)>, <1>
  }
  tracea_pipe.end
}

// -----

// The border beside the image is not padded.
#id = affine_map<(i, j) -> (i, j)>
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
tracea_pipe.kernel @k(%x: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %H = memref.dim %x, %c0 : memref<?x?xf32>
  %W = memref.dim %x, %c1 : memref<?x?xf32>
  %rows = arith.ceildivsi %H, %c8 : index
  %columns = arith.ceildivsi %W, %c16 : index
  tracea_pipe.tiles (%i, %j) in (%rows, %columns) {
    %ring = tracea_pipe.channel : <1 x (memref<10x18xf32, #tracea_pipe.staged>)>
    %p = tracea_pipe.start : <1>
    %r0 = arith.muli %i, %c8 : index
    %s0 = arith.muli %j, %c16 : index
    %r = arith.subi %r0, %c1 : index
    %s = arith.subi %s0, %c1 : index
    %slot = tracea_pipe.acquire %ring[%p] : <1 x (memref<10x18xf32, #tracea_pipe.staged>)>, <1> -> memref<10x18xf32, #tracea_pipe.staged>
    // expected-error-re@+1 {{reads out of bounds of argument #0: with dimension 0 of argument #0 = {{-?[0-9]+}}, dimension 1 of argument #0 = {{-?[0-9]+}}, index 1 is {{-?[0-9]+}}, expected 0 to below {{-?[0-9]+}}}}
    tracea_pipe.copy %x[%r, %s] map #id padded [0] to %slot : memref<?x?xf32>, memref<10x18xf32, #tracea_pipe.staged>
    tracea_pipe.commit %ring[%p] : <1 x (memref<10x18xf32, #tracea_pipe.staged>)>, <1>
  }
  tracea_pipe.end
}

// -----

// Chunks of the rows: the grid rounds down.
#id = affine_map<(i, j) -> (i, j)>
tracea_pipe.kernel @k(%x: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  %least = arith.minsi %n, %c256 : index
  %chunk = arith.maxsi %least, %c1 : index
  %grid = arith.floordivsi %n, %chunk : index
  // expected-note@+1 {{the tiles are made here}}
  tracea_pipe.tiles (%i) in (%grid) {
    %from = arith.muli %i, %chunk : index
    %left = arith.subi %n, %from : index
    %rows = arith.minsi %chunk, %left : index
    %part = memref.subview %x[%from, 0] [%rows, 64] [1, 1] : memref<?x64xf32> to memref<?x64xf32, strided<[64, 1], offset: ?>>
    // expected-error-re@+1 {{does not write all of argument #0: with dimension 0 of argument #0 = {{-?[0-9]+}}, element [{{-?[0-9]+}}, {{-?[0-9]+}}] is written by no tile}}
    linalg.fill ins(%zero : f32) outs(%part : memref<?x64xf32, strided<[64, 1], offset: ?>>)
  }
  tracea_pipe.end
}

// -----

// Chunks of the rows: the last one is as long as the others.
#id = affine_map<(i, j) -> (i, j)>
tracea_pipe.kernel @k(%x: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  %least = arith.minsi %n, %c256 : index
  %chunk = arith.maxsi %least, %c1 : index
  %grid = arith.ceildivsi %n, %chunk : index
  tracea_pipe.tiles (%i) in (%grid) {
    %from = arith.muli %i, %chunk : index
    %left = arith.subi %n, %from : index
    %rows = arith.minsi %chunk, %left : index
    // expected-note@+1 {{it looks through this window}}
    %part = memref.subview %x[%from, 0] [%chunk, 64] [1, 1] : memref<?x64xf32> to memref<?x64xf32, strided<[64, 1], offset: ?>>
    // expected-error-re@+1 {{writes out of bounds of argument #0: with dimension 0 of argument #0 = {{-?[0-9]+}}, index 0 is {{-?[0-9]+}}, expected 0 to below {{-?[0-9]+}}}}
    linalg.fill ins(%zero : f32) outs(%part : memref<?x64xf32, strided<[64, 1], offset: ?>>)
  }
  tracea_pipe.end
}

// -----

// Chunks of the rows: the chunks overlap.
#id = affine_map<(i, j) -> (i, j)>
tracea_pipe.kernel @k(%x: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  %least = arith.minsi %n, %c256 : index
  %chunk = arith.maxsi %least, %c1 : index
  %grid = arith.ceildivsi %n, %chunk : index
  // expected-note-re@+1 {{index 0 of the tile is made here: once it is {{[0-9]+}}, once {{[0-9]+}}}}
  tracea_pipe.tiles (%i) in (%grid) {
    %from = arith.muli %i, %c1 : index
    %left = arith.subi %n, %from : index
    %rows = arith.minsi %chunk, %left : index
    %part = memref.subview %x[%from, 0] [%rows, 64] [1, 1] : memref<?x64xf32> to memref<?x64xf32, strided<[64, 1], offset: ?>>
    // expected-error-re@+1 {{writes an element of argument #0 twice: with dimension 0 of argument #0 = {{[0-9]+}}, element [{{[0-9]+}}, {{[0-9]+}}] is written where index 0 of the tile = {{[0-9]+}}, }}
    linalg.fill ins(%zero : f32) outs(%part : memref<?x64xf32, strided<[64, 1], offset: ?>>)
  }
  tracea_pipe.end
}

// -----

// A result without elements, of which one is written all the same.
tracea_pipe.kernel @no_elements(%d: memref<0x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.constant 1.0 : f32
  tracea_pipe.tiles (%i) in (%c1) {
    // expected-error@+1 {{writes out of bounds of argument #0: index 0 is 0, expected 0 to below 0}}
    memref.store %x, %d[%i, %c0] : memref<0x4xf32>
  }
  tracea_pipe.end
}
