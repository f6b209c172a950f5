// RUN: tracea-opt %s --convert-tracea-pipe-kernels-to-func --split-input-file --verify-diagnostics

func.func @tensors(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'arith.negf' op is on tensors, expected a host function on buffers; run the phases from 'tile' on before 'target'}}
  %r = arith.negf %a : tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @forwards(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'func.return' op is on tensors}}
  return %a : tensor<4xf32>
}

// -----

// expected-error @below {{'tracea_pipe.kernel' op needs a workspace of more than 2 GiB a thread}}
tracea_pipe.kernel @scratch(%n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %s = tracea_pipe.scratch : memref<1073741824xf64, #tracea_pipe.staged>
  }
  tracea_pipe.end
}

// -----

// expected-error @below {{needs a workspace of more than 2 GiB a thread}}
tracea_pipe.kernel @sum(%n: index) attributes {workspace_bytes = 2147483520 : i64} {
  tracea_pipe.tiles (%i) in (%n) {
    %s = tracea_pipe.scratch : memref<65xi8, #tracea_pipe.staged>
  }
  tracea_pipe.end
}

// -----

// expected-error @below {{needs a workspace of more than 2 GiB a thread}}
tracea_pipe.kernel @attribute(%n: index) attributes {workspace_bytes = 9223372036854775807 : i64} {
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @longer(%n: index) attributes {workspace_bytes = 64 : i64} {
  tracea_pipe.tiles (%i) in (%n) {
    // expected-error @below {{expects the type memref<64xi8> or a shorter one, found 'memref<65xi8>'}}
    %w = tracea_pipe.workspace : memref<65xi8>
  }
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @dynamic(%n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    // expected-error @below {{expects the type memref<0xi8> or a shorter one, found 'memref<?xi8>'}}
    %w = tracea_pipe.workspace : memref<?xi8>
  }
  tracea_pipe.end
}
