// RUN: tracea-opt %s --split-input-file --verify-diagnostics

tracea_pipe.kernel @no_rows(%ends: memref<16xi32>, %rows: index) {
  // expected-error @+1 {{'tracea_pipe.ragged_count' op expects tiles of 1 to 2^30 rows, found 0}}
  %all, %full = tracea_pipe.ragged_count %ends rows %rows tile 0 : memref<16xi32>
  tracea_pipe.tiles (%i) in (%all) {
  }
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @many_rows(%ends: memref<16xi32>, %rows: index) {
  tracea_pipe.tiles (%i) in (%rows) {
    // expected-error @+1 {{'tracea_pipe.ragged_tile' op expects tiles of 1 to 2^30 rows, found 1073741825}}
    %g, %first, %end = tracea_pipe.ragged_tile %i in %ends rows %rows tile 1073741825 : memref<16xi32>
  }
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @floats(%ends: memref<16xf32>, %rows: index) {
  // expected-error @+1 {{'tracea_pipe.ragged_count' op operand #0 must be memref of i32 or i64 of rank 1, but got 'memref<16xf32>'}}
  %all, %full = tracea_pipe.ragged_count %ends rows %rows tile 128 : memref<16xf32>
  tracea_pipe.tiles (%i) in (%all) {
  }
  tracea_pipe.end
}

// -----

#lanes = #tracea_pipe.lanes<reg = [], lane = [[1], [2], [4], [8]], outer = [1]>
tracea_pipe.kernel @written(%ends: memref<16xi32>, %rows: index) {
  // expected-error @+1 {{'tracea_pipe.ragged_count' op expects ends that the kernel does not write}}
  %all, %full = tracea_pipe.ragged_count %ends rows %rows tile 128 : memref<16xi32>
  tracea_pipe.tiles (%i) in (%all) {
    %zero = arith.constant dense<0> : tensor<16xi32, #lanes>
    %c0 = arith.constant 0 : index
    // expected-note @+1 {{written here}}
    tracea_pipe.store %zero, %ends[%c0] map affine_map<(i) -> (i)> : tensor<16xi32, #lanes>, memref<16xi32>
  }
  tracea_pipe.end
}
