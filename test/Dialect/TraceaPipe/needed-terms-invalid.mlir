// What kernels say of terms that memory decides.
// RUN: tracea-opt %s --split-input-file --verify-diagnostics

// A list of another type.
// expected-error @+1 {{expects 'tracea_pipe.listed' to be a dictionary of lists of i32 of rank 4, of dimensions of its memref arguments, and of blocks with rows and columns, found}}
tracea_pipe.kernel @type(%k: memref<1x1x8x8xf32>, %c: memref<1x1x1x2xi64>, %b: memref<1x1x1x2xi32>, %o: memref<1x1x8x8xf32>)
    attributes {tracea_pipe.listed = {blocks = 2 : i64, columns = 8 : i64, counts = 1 : i64, dims = array<i64: 2>, operands = array<i64: 0>, result = 3 : i64, resultDims = array<i64: 0, 1, 2>, rows = 8 : i64}} {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}

// -----

// A dimension that the operand has not.
// expected-error @+1 {{expects 'tracea_pipe.listed' to be}}
tracea_pipe.kernel @dim(%k: memref<1x1x8x8xf32>, %c: memref<1x1x1x2xi32>, %b: memref<1x1x1x2xi32>, %o: memref<1x1x8x8xf32>)
    attributes {tracea_pipe.listed = {blocks = 2 : i64, columns = 8 : i64, counts = 1 : i64, dims = array<i64: 4>, operands = array<i64: 0>, result = 3 : i64, resultDims = array<i64: 0, 1, 2>, rows = 8 : i64}} {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}

// -----

// Something is missing.
// expected-error @+1 {{expects 'tracea_pipe.listed' to be}}
tracea_pipe.kernel @missing(%k: memref<1x1x8x8xf32>) attributes {tracea_pipe.listed = {blocks = 2 : i64}} {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}

// -----

// Ends without a band.
// expected-error @+1 {{expects 'tracea_pipe.ended' to be a dictionary of lengths, integers of rank 1, and of a dimension of the result that its band names, found}}
tracea_pipe.kernel @band(%n: memref<2xi32>, %o: memref<2x8xf32>) attributes {tracea_pipe.ended = {lengths = 0 : i64, sequence = 0 : i64}} {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}

// -----

// Lengths that are no integers.
// expected-error @+1 {{expects 'tracea_pipe.ended' to be}}
tracea_pipe.kernel @lengths(%n: memref<2xf32>, %k: memref<2x9xf32>, %o: memref<2x8xf32>)
    attributes {band = #tracea_pipe.band<result = 2, dim = 1, operands = [1], dims = [1]>, tracea_pipe.ended = {lengths = 0 : i64, sequence = 0 : i64}} {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}
