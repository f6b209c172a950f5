// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-coverage))" -verify-diagnostics

// Stores that walk, in pieces that are not those of a tile.

// Two pieces that overlap.
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#result = affine_map<(n, p, q, k) -> (n, p, q, k)>
tracea_pipe.kernel @k(%y: memref<?x?x?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %n = memref.dim %y, %c0 : memref<?x?x?x16xf32>
  %p = memref.dim %y, %c1 : memref<?x?x?x16xf32>
  %q = memref.dim %y, %c2 : memref<?x?x?x16xf32>
  %np = arith.muli %n, %p : index
  %all = arith.muli %np, %q : index
  %count = arith.ceildivsi %all, %c16 : index
  // expected-note@+1 {{the tiles are made here}}
  tracea_pipe.tiles (%t) in (%count) {
    %first = arith.muli %t, %c16 : index
    %left = arith.subi %all, %first : index
    %walk = tracea_pipe.delinearize %first into(%p, %q) : <3>
    // expected-error-re@+1 {{'tracea_pipe.store' op does not write all of argument #0: {{.*}}element [1, 2, 0, 0] is written by no tile}}
    tracea_pipe.store %zero, %y[%c0, %c0, %c0, %c0] map #result along [0](%walk : !tracea_pipe.walk<3>) limits(%left, %c16)
      : tensor<8x16xf32, #lanes>, memref<?x?x?x16xf32>
    %second = arith.addi %first, %c7 : index
    %more = arith.subi %all, %second : index
    %next = tracea_pipe.delinearize %second into(%p, %q) : <3>
    tracea_pipe.store %zero, %y[%c0, %c0, %c0, %c0] map #result along [0](%next : !tracea_pipe.walk<3>) limits(%more, %c16)
      : tensor<8x16xf32, #lanes>, memref<?x?x?x16xf32>
  }
  tracea_pipe.end
}

// -----

// A row between the pieces.
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#result = affine_map<(n, p, q, k) -> (n, p, q, k)>
tracea_pipe.kernel @k(%y: memref<?x?x?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %n = memref.dim %y, %c0 : memref<?x?x?x16xf32>
  %p = memref.dim %y, %c1 : memref<?x?x?x16xf32>
  %q = memref.dim %y, %c2 : memref<?x?x?x16xf32>
  %np = arith.muli %n, %p : index
  %all = arith.muli %np, %q : index
  %count = arith.ceildivsi %all, %c16 : index
  // expected-note@+1 {{the tiles are made here}}
  tracea_pipe.tiles (%t) in (%count) {
    %first = arith.muli %t, %c16 : index
    %left = arith.subi %all, %first : index
    %walk = tracea_pipe.delinearize %first into(%p, %q) : <3>
    // expected-error-re@+1 {{'tracea_pipe.store' op does not write all of argument #0: {{.*}}element [0, 2, 2, 0] is written by no tile}}
    tracea_pipe.store %zero, %y[%c0, %c0, %c0, %c0] map #result along [0](%walk : !tracea_pipe.walk<3>) limits(%left, %c16)
      : tensor<8x16xf32, #lanes>, memref<?x?x?x16xf32>
    %second = arith.addi %first, %c9 : index
    %more = arith.subi %all, %second : index
    %next = tracea_pipe.delinearize %second into(%p, %q) : <3>
    tracea_pipe.store %zero, %y[%c0, %c0, %c0, %c0] map #result along [0](%next : !tracea_pipe.walk<3>) limits(%more, %c16)
      : tensor<8x16xf32, #lanes>, memref<?x?x?x16xf32>
  }
  tracea_pipe.end
}

// -----

// Pieces along different bases.
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#result = affine_map<(n, p, q, k) -> (n, p, q, k)>
tracea_pipe.kernel @k(%y: memref<?x?x?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %n = memref.dim %y, %c0 : memref<?x?x?x16xf32>
  %p = memref.dim %y, %c1 : memref<?x?x?x16xf32>
  %q = memref.dim %y, %c2 : memref<?x?x?x16xf32>
  %np = arith.muli %n, %p : index
  %all = arith.muli %np, %q : index
  %count = arith.ceildivsi %all, %c16 : index
  // expected-note@+1 {{the tiles are made here}}
  tracea_pipe.tiles (%t) in (%count) {
    %first = arith.muli %t, %c16 : index
    %left = arith.subi %all, %first : index
    %walk = tracea_pipe.delinearize %first into(%p, %q) : <3>
    // expected-error-re@+2 {{'tracea_pipe.store' op does not write all of argument #0: {{.*}} is written by no tile}}
    // expected-note@+1 {{they were written here before}}
    tracea_pipe.store %zero, %y[%c0, %c0, %c0, %c0] map #result along [0](%walk : !tracea_pipe.walk<3>) limits(%left, %c16)
      : tensor<8x16xf32, #lanes>, memref<?x?x?x16xf32>
    %second = arith.addi %first, %c8 : index
    %more = arith.subi %all, %second : index
    %next = tracea_pipe.delinearize %second into(%q, %p) : <3>
    // expected-error-re@+3 {{'tracea_pipe.store' op writes out of bounds of argument #0: {{.*}}index 1 is 63, expected 0 to below 8}}
    // expected-error-re@+2 {{'tracea_pipe.store' op does not write all of argument #0: {{.*}} is written by no tile}}
    // expected-error@+1 {{'tracea_pipe.store' op overwrites elements of argument #0 that another tile has written}}
    tracea_pipe.store %zero, %y[%c0, %c0, %c0, %c0] map #result along [0](%next : !tracea_pipe.walk<3>) limits(%more, %c16)
      : tensor<8x16xf32, #lanes>, memref<?x?x?x16xf32>
  }
  tracea_pipe.end
}

// -----

// Rows for columns.
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#result = affine_map<(n, p, q, k) -> (n, p, q, k)>
tracea_pipe.kernel @k(%y: memref<?x?x?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %n = memref.dim %y, %c0 : memref<?x?x?x16xf32>
  %p = memref.dim %y, %c1 : memref<?x?x?x16xf32>
  %q = memref.dim %y, %c2 : memref<?x?x?x16xf32>
  %np = arith.muli %n, %p : index
  %all = arith.muli %np, %q : index
  %count = arith.ceildivsi %all, %c16 : index
  tracea_pipe.tiles (%t) in (%count) {
    %first = arith.muli %t, %c16 : index
    %left = arith.subi %all, %first : index
    %walk = tracea_pipe.delinearize %first into(%q, %p) : <3>
    // expected-error-re@+1 {{'tracea_pipe.store' op writes out of bounds of argument #0: {{.*}}index 1 is 1, expected 0 to below 1}}
    tracea_pipe.store %zero, %y[%c0, %c0, %c0, %c0] map #result along [0](%walk : !tracea_pipe.walk<3>) limits(%left, %c16)
      : tensor<8x16xf32, #lanes>, memref<?x?x?x16xf32>
    %second = arith.addi %first, %c8 : index
    %more = arith.subi %all, %second : index
    %next = tracea_pipe.delinearize %second into(%q, %p) : <3>
    // expected-error-re@+1 {{'tracea_pipe.store' op writes out of bounds of argument #0: {{.*}}index 1 is 63, expected 0 to below 8}}
    tracea_pipe.store %zero, %y[%c0, %c0, %c0, %c0] map #result along [0](%next : !tracea_pipe.walk<3>) limits(%more, %c16)
      : tensor<8x16xf32, #lanes>, memref<?x?x?x16xf32>
  }
  tracea_pipe.end
}

// -----

// A piece that forgets where it begins.
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#result = affine_map<(n, p, q, k) -> (n, p, q, k)>
tracea_pipe.kernel @k(%y: memref<?x?x?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %n = memref.dim %y, %c0 : memref<?x?x?x16xf32>
  %p = memref.dim %y, %c1 : memref<?x?x?x16xf32>
  %q = memref.dim %y, %c2 : memref<?x?x?x16xf32>
  %np = arith.muli %n, %p : index
  %all = arith.muli %np, %q : index
  %count = arith.ceildivsi %all, %c16 : index
  tracea_pipe.tiles (%t) in (%count) {
    %first = arith.muli %t, %c16 : index
    %left = arith.subi %all, %first : index
    %walk = tracea_pipe.delinearize %first into(%p, %q) : <3>
    tracea_pipe.store %zero, %y[%c0, %c0, %c0, %c0] map #result along [0](%walk : !tracea_pipe.walk<3>) limits(%left, %c16)
      : tensor<8x16xf32, #lanes>, memref<?x?x?x16xf32>
    %second = arith.addi %first, %c8 : index
    %more = arith.subi %all, %second : index
    %next = tracea_pipe.delinearize %second into(%p, %q) : <3>
    // expected-error-re@+2 {{'tracea_pipe.store' op writes out of bounds of argument #0: {{.*}}index 0 is 1, expected 0 to below 1}}
    // expected-remark@+1 {{coverage not decided: which elements it writes is not known: stores walk through different numbers}}
    tracea_pipe.store %zero, %y[%c0, %c0, %c0, %c0] map #result along [0](%next : !tracea_pipe.walk<3>) limits(%left, %c16)
      : tensor<8x16xf32, #lanes>, memref<?x?x?x16xf32>
  }
  tracea_pipe.end
}

// -----

// Pieces of collapsed memory that overlap.
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#result = affine_map<(m, k) -> (m, k)>
tracea_pipe.kernel @k(%y: memref<?x?x?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %flat = memref.collapse_shape %y [[0, 1, 2], [3]] : memref<?x?x?x16xf32> into memref<?x16xf32>
  %all = memref.dim %flat, %c0 : memref<?x16xf32>
  %count = arith.ceildivsi %all, %c16 : index
  // expected-note@+1 {{the tiles are made here}}
  tracea_pipe.tiles (%t) in (%count) {
    %first = arith.muli %t, %c16 : index
    %left = arith.subi %all, %first : index
    // expected-error-re@+1 {{'tracea_pipe.store' op does not write all of argument #0: {{.*}}element [1, 2, 0, 0] is written by no tile}}
    tracea_pipe.store %zero, %flat[%first, %c0] map #result limits(%left, %c16) : tensor<8x16xf32, #lanes>, memref<?x16xf32>
    %second = arith.addi %first, %c7 : index
    %more = arith.subi %all, %second : index
    tracea_pipe.store %zero, %flat[%second, %c0] map #result limits(%more, %c16) : tensor<8x16xf32, #lanes>, memref<?x16xf32>
  }
  tracea_pipe.end
}

// -----

// A row between the pieces of collapsed memory.
#lanes = #tracea_pipe.lanes<reg = [[1, 0], [2, 0], [4, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8]], outer = [1, 1]>
#result = affine_map<(m, k) -> (m, k)>
tracea_pipe.kernel @k(%y: memref<?x?x?x16xf32>) {
  %c0 = arith.constant 0 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : tensor<8x16xf32, #lanes>
  %flat = memref.collapse_shape %y [[0, 1, 2], [3]] : memref<?x?x?x16xf32> into memref<?x16xf32>
  %all = memref.dim %flat, %c0 : memref<?x16xf32>
  %count = arith.ceildivsi %all, %c16 : index
  // expected-note@+1 {{the tiles are made here}}
  tracea_pipe.tiles (%t) in (%count) {
    %first = arith.muli %t, %c16 : index
    %left = arith.subi %all, %first : index
    // expected-error-re@+1 {{'tracea_pipe.store' op does not write all of argument #0: {{.*}}element [0, 2, 2, 0] is written by no tile}}
    tracea_pipe.store %zero, %flat[%first, %c0] map #result limits(%left, %c16) : tensor<8x16xf32, #lanes>, memref<?x16xf32>
    %second = arith.addi %first, %c9 : index
    %more = arith.subi %all, %second : index
    tracea_pipe.store %zero, %flat[%second, %c0] map #result limits(%more, %c16) : tensor<8x16xf32, #lanes>, memref<?x16xf32>
  }
  tracea_pipe.end
}
