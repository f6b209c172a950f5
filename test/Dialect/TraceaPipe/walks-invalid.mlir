// RUN: tracea-opt %s --split-input-file --verify-diagnostics
// What is no walk, and what walks where there is nothing to walk along.

// -----

#lanes = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4]], outer = [8, 2]>
!tile = tensor<8x16xf32, #lanes>
!staged = tensor<8x16xf32, #tracea_pipe.staged>

tracea_pipe.kernel @coordinates(%x: memref<?x?x?x16xf32>, %p: index, %q: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tiles (%tile) in (%c1) {
    // expected-error@+1 {{expects a walk through one coordinate more than the basis has extents (3), found 2}}
    %walk = tracea_pipe.delinearize %tile into (%p, %q) : <2>
  }
  end
}

// -----

#lanes = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4]], outer = [8, 2]>
!tile = tensor<8x16xf32, #lanes>
!staged = tensor<8x16xf32, #tracea_pipe.staged>

tracea_pipe.kernel @extent(%x: memref<?x?x?x16xf32>, %p: index, %q: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tiles (%tile) in (%c1) {
    // expected-error@+1 {{expects extents of 1 to 2^31 - 1 in its basis, found 0 as extent 1}}
    %walk = tracea_pipe.delinearize %tile into (%p, %c0) : <3>
  }
  end
}

// -----

#lanes = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4]], outer = [8, 2]>
!tile = tensor<8x16xf32, #lanes>
!staged = tensor<8x16xf32, #tracea_pipe.staged>

tracea_pipe.kernel @inputs(%x: memref<?x?x?x16xf32>, %p: index, %q: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tiles (%tile) in (%c1) {
    %walk = tracea_pipe.delinearize %tile into (%p, %q) : <3>
    // expected-error@+1 {{expects a map from the tile's 4 dimensions (2, of which walks have coordinates) to the memory's 4, found affine_map<(d0, d1) -> (d0, d1, 0, 0)>}}
    %a = tracea_pipe.stage %x[%c0, %c0, %c0, %c0] map affine_map<(n, p) -> (n, p, 0, 0)> along [0](%walk : !tracea_pipe.walk<3>) : memref<?x?x?x16xf32> -> !staged
  }
  end
}

// -----

#lanes = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4]], outer = [8, 2]>
!tile = tensor<8x16xf32, #lanes>
!staged = tensor<8x16xf32, #tracea_pipe.staged>

tracea_pipe.kernel @rank(%x: memref<?x?x?x16xf32>, %p: index, %q: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tiles (%tile) in (%c1) {
    %walk = tracea_pipe.delinearize %tile into (%p, %q) : <3>
    // expected-error@+1 {{expects 'along' to list dimensions of the tile, which has rank 2, found 2}}
    %a = tracea_pipe.stage %x[%c0, %c0, %c0, %c0] map affine_map<(n, p, q, c) -> (n, p, q, c)> along [2](%walk : !tracea_pipe.walk<3>) : memref<?x?x?x16xf32> -> !staged
  }
  end
}

// -----

#lanes = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4]], outer = [8, 2]>
!tile = tensor<8x16xf32, #lanes>
!staged = tensor<8x16xf32, #tracea_pipe.staged>

tracea_pipe.kernel @negative(%x: memref<?x?x?x16xf32>, %p: index, %q: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tiles (%tile) in (%c1) {
    %walk = tracea_pipe.delinearize %tile into (%p, %q) : <3>
    // expected-error@+1 {{expects 'along' to list dimensions of the tile, which has rank 2, found -1}}
    %a = tracea_pipe.stage %x[%c0, %c0, %c0, %c0] map affine_map<(n, p, q, c) -> (n, p, q, c)> along [-1](%walk : !tracea_pipe.walk<3>) : memref<?x?x?x16xf32> -> !staged
  }
  end
}

// -----

#lanes = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4]], outer = [8, 2]>
!tile = tensor<8x16xf32, #lanes>
!staged = tensor<8x16xf32, #tracea_pipe.staged>

tracea_pipe.kernel @order(%x: memref<?x?x?x16xf32>, %p: index, %q: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tiles (%tile) in (%c1) {
    %walk = tracea_pipe.delinearize %tile into (%p, %q) : <3>
    // expected-error@+1 {{expects 'along' to list dimensions in ascending order, found 0 behind 1}}
    %a = tracea_pipe.stage %x[%c0, %c0, %c0, %c0] map affine_map<(n, p, q, r, s, c) -> (n, p + r, q + s, c)> along [1, 0](%walk, %walk : !tracea_pipe.walk<3>, !tracea_pipe.walk<3>) : memref<?x?x?x16xf32> -> !staged
  }
  end
}

// -----

#lanes = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4]], outer = [8, 2]>
!tile = tensor<8x16xf32, #lanes>
!staged = tensor<8x16xf32, #tracea_pipe.staged>

tracea_pipe.kernel @twice(%x: memref<?x?x?x16xf32>, %p: index, %q: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tiles (%tile) in (%c1) {
    %walk = tracea_pipe.delinearize %tile into (%p, %q) : <3>
    // expected-error@+1 {{expects 'along' to list dimensions in ascending order, found 0 behind 0}}
    %a = tracea_pipe.stage %x[%c0, %c0, %c0, %c0] map affine_map<(n, p, q, r, s, c) -> (n, p + r, q + s, c)> along [0, 0](%walk, %walk : !tracea_pipe.walk<3>, !tracea_pipe.walk<3>) : memref<?x?x?x16xf32> -> !staged
  }
  end
}

// -----

#lanes = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4]], outer = [8, 2]>
!tile = tensor<8x16xf32, #lanes>
!staged = tensor<8x16xf32, #tracea_pipe.staged>

tracea_pipe.kernel @count(%x: memref<?x?x?x16xf32>, %p: index, %q: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tiles (%tile) in (%c1) {
    %walk = tracea_pipe.delinearize %tile into (%p, %q) : <3>
    // expected-error@+1 {{expects one walk for each dimension in 'along' (2), found 1}}
    %a = tracea_pipe.stage %x[%c0, %c0, %c0, %c0] map affine_map<(n, p, q, c) -> (n, p, q, c)> along [0, 1](%walk : !tracea_pipe.walk<3>) : memref<?x?x?x16xf32> -> !staged
  }
  end
}

// -----

#lanes = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4]], outer = [8, 2]>
!tile = tensor<8x16xf32, #lanes>
!staged = tensor<8x16xf32, #tracea_pipe.staged>

tracea_pipe.kernel @linear(%x: memref<?x?x?x16xf32>, %p: index, %q: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tiles (%tile) in (%c1) {
    %walk = tracea_pipe.delinearize %tile into (%p, %q) : <3>
    // expected-error@+1 {{expects a map linear in the tile's coordinates}}
    %a = tracea_pipe.stage %x[%c0, %c0, %c0, %c0] map affine_map<(n, p, q, c) -> (n, p floordiv 2, q, c)> along [0](%walk : !tracea_pipe.walk<3>) : memref<?x?x?x16xf32> -> !staged
  }
  end
}

// -----

#lanes = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4]], outer = [8, 2]>
!tile = tensor<8x16xf32, #lanes>
!staged = tensor<8x16xf32, #tracea_pipe.staged>

tracea_pipe.kernel @elsewhere(%x: memref<?x?x?x16xf32>, %p: index, %q: index, %which: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tiles (%tile) in (%c1) {
    %one = tracea_pipe.delinearize %tile into (%p, %q) : <3>
    %other = tracea_pipe.delinearize %tile into (%q, %p) : <3>
    %w = arith.select %which, %one, %other : !tracea_pipe.walk<3>
    // expected-error@+1 {{expects walks that 'tracea_pipe.delinearize' or 'tracea_pipe.gather' makes, found one that comes from elsewhere}}
    %a = tracea_pipe.stage %x[%c0, %c0, %c0, %c0] map affine_map<(n, p, q, c) -> (n, p, q, c)> along [0](%w : !tracea_pipe.walk<3>) : memref<?x?x?x16xf32> -> !staged
  }
  end
}

// -----

#lanes = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4]], outer = [8, 2]>
!tile = tensor<8x16xf32, #lanes>
!staged = tensor<8x16xf32, #tracea_pipe.staged>

tracea_pipe.kernel @collide(%x: memref<?x?x?x16xf32>, %p: index, %q: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tiles (%tile) in (%c1) {
    %walk = tracea_pipe.delinearize %tile into (%p, %q) : <3>
    %sum = arith.constant dense<0.0> : !tile
    // expected-error@+1 {{expects a map known to send no two elements of}}
    tracea_pipe.store %sum, %x[%c0, %c0, %c0, %c0] map affine_map<(n, p, q, c) -> (n, p, 0, c)> along [0](%walk : !tracea_pipe.walk<3>) : !tile, memref<?x?x?x16xf32>
  }
  end
}

// -----

#lanes = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4]], outer = [8, 2]>
!tile = tensor<8x16xf32, #lanes>
!staged = tensor<8x16xf32, #tracea_pipe.staged>

tracea_pipe.kernel @merge(%x: memref<?x?x?x16xf32>, %p: index, %q: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tiles (%tile) in (%c1) {
    %walk = tracea_pipe.delinearize %tile into (%p, %q) : <3>
    %sum = arith.constant dense<0.0> : !tile
    // expected-error@+1 {{expects a map known to send no two elements of}}
    tracea_pipe.store %sum, %x[%c0, %c0, %c0, %c0] map affine_map<(n, p, q, c) -> (n, 0, p * 100 + q, c)> along [0](%walk : !tracea_pipe.walk<3>) : !tile, memref<?x?x?x16xf32>
  }
  end
}

// -----

// expected-error@+1 {{a walk goes through 1 to 8 coordinates, found 0}}
func.func private @none(!tracea_pipe.walk<0>)

// -----

tracea_pipe.kernel @table_type(%n: index, %q: index) attributes {warps = 1 : i64} {
  tiles (%tile) in (%n) {
    %table = tracea_pipe.scratch : memref<3x8xi64, #tracea_pipe.staged>
    // expected-error@+1 {{expects a table of i64 with a row for each of 2 coordinates, found 'memref<3x8xi64, #tracea_pipe.staged>'}}
    %walk = tracea_pipe.delinearize %tile into (%q) kept in %table : memref<3x8xi64, #tracea_pipe.staged> : <2>
  }
  end
}

// -----

tracea_pipe.kernel @shared_table(%n: index, %q: index) attributes {warps = 1 : i64} {
  tiles (%tile) in (%n) {
    %table = tracea_pipe.scratch : memref<2x8xi64, #tracea_pipe.staged>
    // expected-error@+1 {{expects a table in scratch memory that nothing else uses}}
    %walk = tracea_pipe.delinearize %tile into (%q) kept in %table : memref<2x8xi64, #tracea_pipe.staged> : <2>
    %other = tracea_pipe.delinearize %n into (%q) kept in %table : memref<2x8xi64, #tracea_pipe.staged> : <2>
  }
  end
}
