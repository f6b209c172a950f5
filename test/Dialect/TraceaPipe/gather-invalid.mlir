// RUN: tracea-opt %s --split-input-file --verify-diagnostics

tracea_pipe.kernel @coordinates(%table: memref<?xi32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    // expected-error @+1 {{'tracea_pipe.gather' op expects a walk through 1 coordinate, found 2}}
    %w = tracea_pipe.gather %table[%i] : memref<?xi32> -> <2>
  }
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @no_index(%table: memref<?x4xi32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    // expected-error @+1 {{'tracea_pipe.gather' op expects 2 indices for 'memref<?x4xi32>', found 1}}
    %w = tracea_pipe.gather %table[%i] : memref<?x4xi32> -> <1>
  }
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @scalar(%table: memref<i32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    // expected-error @+1 {{'tracea_pipe.gather' op expects a table of at least 1 dimension, found 'memref<i32>'}}
    %w = tracea_pipe.gather %table[] : memref<i32> -> <1>
  }
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @floats(%table: memref<?xf32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    // expected-error @+1 {{'tracea_pipe.gather' op operand #0 must be memref of 32-bit signless integer or 64-bit signless integer values, but got 'memref<?xf32>'}}
    %w = tracea_pipe.gather %table[%i] : memref<?xf32> -> <1>
  }
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @local(%n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %table = tracea_pipe.scratch : memref<16xi32, #tracea_pipe.staged>
    // expected-error @+1 {{'tracea_pipe.gather' op expects a table that is an argument of the kernel}}
    %w = tracea_pipe.gather %table[%i] : memref<16xi32, #tracea_pipe.staged> -> <1>
  }
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @written(%table: memref<?xi32>, %n: index, %v: i32) {
  tracea_pipe.tiles (%i) in (%n) {
    // expected-error @+1 {{'tracea_pipe.gather' op expects a table that the kernel does not write}}
    %w = tracea_pipe.gather %table[%i] : memref<?xi32> -> <1>
    // expected-note @+1 {{written here}}
    memref.store %v, %table[%i] : memref<?xi32>
  }
  tracea_pipe.end
}

// -----

#lanes = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4]], outer = [8, 2]>
tracea_pipe.kernel @scatter(%table: memref<?xi32>, %y: memref<?x16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %sum = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
    // expected-note @+1 {{the table is read here}}
    %w = tracea_pipe.gather %table[%i] : memref<?xi32> -> <1>
    // expected-error @+1 {{expects walks that go to each place once, found one along a table, which may name a place twice}}
    tracea_pipe.store %sum, %y[%c0, %c0] map affine_map<(r, c) -> (r, c)> along [0](%w : !tracea_pipe.walk<1>) : tensor<8x16xf32, #lanes>, memref<?x16xf32>
  }
  tracea_pipe.end
}

// -----

// A map of the tile's two dimensions, one of which is another one now, has one input for each coordinate.
tracea_pipe.kernel @inputs(%table: memref<?xi32>, %x: memref<?x16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    %w = tracea_pipe.gather %table[%i] : memref<?xi32> -> <1>
    // expected-error @+1 {{expects a map from the tile's 2 dimensions to the memory's 2, found}}
    %a = tracea_pipe.stage %x[%c0, %c0] map affine_map<(n, r, c) -> (r, c)> along [0](%w : !tracea_pipe.walk<1>) padded [0] : memref<?x16xf32> -> tensor<8x16xf32, #tracea_pipe.staged>
  }
  tracea_pipe.end
}

// -----

// expected-error @below {{expects a place for each of its tables, found 1 tables and 0 places}}
func.func private @f() attributes {a = #tracea_pipe.definition<result = 1, factors = 1, operands = [0], maps = [affine_map<(i) -> (i)>], tables = [2], places = []>}

// -----

// expected-error @below {{expects affine maps without symbols, or with 1 for the extents of the factors and 1 for the tables, found}}
func.func private @f() attributes {a = #tracea_pipe.definition<result = 1, factors = 1, operands = [0], maps = [affine_map<(i)[a, b, c] -> (c)>], tables = [2], places = [affine_map<(i) -> (i)>]>}

// -----

// expected-error @below {{expects affine maps without symbols, or with 1 for the extents of the factors, found}}
func.func private @f() attributes {a = #tracea_pipe.definition<result = 1, factors = 1, operands = [0], maps = [affine_map<(i)[a, b] -> (b)>], tables = [2], places = [affine_map<(i)[a, b] -> (b)>]>}

// -----

// expected-error @below {{expects a definition with a place in memref argument 2 of integers, found}}
tracea_pipe.kernel @k(%a: memref<4xf32>, %b: memref<4xf32>, %c: memref<4xf32>) attributes {definitions = [#tracea_pipe.definition<result = 1, factors = 1, operands = [0], maps = [affine_map<(i)[a, b] -> (b)>], tables = [2], places = [affine_map<(i) -> (i)>]>]} {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%c0) {
  }
  tracea_pipe.end
}

// -----

// expected-error @+1 {{expects a band over dimensions of its memref arguments, found #tracea_pipe.band<result = 1, dim = 1, operands = [0], dims = [0], after = 0>}}
tracea_pipe.kernel @band(%x: memref<8xf32>, %y: memref<8xf32>) attributes {band = #tracea_pipe.band<result = 1, dim = 1, operands = [0], dims = [0], after = 0>} {
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
  }
  tracea_pipe.end
}
