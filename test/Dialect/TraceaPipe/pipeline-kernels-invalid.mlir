// RUN: tracea-opt %s --split-input-file --verify-diagnostics --tracea-pipeline-kernels

// A phase that only one branch advances would be lost.
#staged = #tracea_pipe.staged
tracea_pipe.kernel @branch(%a: memref<?x?xf32>, %n: index, %flag: i1) {
  tracea_pipe.tiles (%i) in (%n) {
    // expected-note @below {{found here}}
    scf.if %flag {
      // expected-error @below {{'tracea_pipe.stage' op expects only 'scf.for' between the grid and a staged tile, found 'scf.if'}}
      %x = tracea_pipe.stage %a[%i, %i] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<4x8xf32, #staged>
    }
  }
  tracea_pipe.end
}

// -----

#staged = #tracea_pipe.staged
// expected-note @below {{found here}}
tracea_pipe.kernel @before_grid(%a: memref<?x?xf32>, %n: index) {
  // expected-error @below {{expects only 'scf.for' between the grid and a staged tile, found 'tracea_pipe.kernel'}}
  %x = tracea_pipe.stage %a[%n, %n] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<4x8xf32, #staged>
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}

// -----

#staged = #tracea_pipe.staged
// expected-note @below {{found here}}
func.func @no_kernel(%a: memref<?x?xf32>, %n: index) {
  // expected-error @below {{expects only 'scf.for' between the grid and a staged tile, found 'func.func'}}
  %x = tracea_pipe.stage %a[%n, %n] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<4x8xf32, #staged>
  return
}

// -----

// A slot may be overwritten in the next turn, so that no staged tile leaves its loop.
#staged = #tracea_pipe.staged
tracea_pipe.kernel @escapes(%a: memref<?x?xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%n) {
    %first = tracea_pipe.stage %a[%i, %i] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<4x8xf32, #staged>
    // expected-error @below {{'scf.for' op cannot use a staged tile}}
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%s = %first) -> tensor<4x8xf32, #staged> {
      %x = tracea_pipe.stage %a[%i, %k] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<4x8xf32, #staged>
      scf.yield %x : tensor<4x8xf32, #staged>
    }
  }
  tracea_pipe.end
}

// -----

#staged = #tracea_pipe.staged
tracea_pipe.kernel @cast(%a: memref<?x?xf32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %x = tracea_pipe.stage %a[%i, %i] map affine_map<(i, j) -> (i, j)> : memref<?x?xf32> -> tensor<4x8xf32, #staged>
    // expected-error @below {{'tensor.extract' op cannot use a staged tile}}
    %y = tensor.extract %x[%i, %i] : tensor<4x8xf32, #staged>
  }
  tracea_pipe.end
}
