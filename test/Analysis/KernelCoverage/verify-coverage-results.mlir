// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-coverage{require-proof=true}))" -verify-diagnostics | FileCheck %s

// Results are the arguments that a launch has under `outs`.

#id = affine_map<(i) -> (i)>
#lanes = #tracea_pipe.lanes<lane = [[1], [2], [4]], outer = [1]>
func.func @main(%a: memref<8xf32>) -> memref<8xf32> {
  %r = memref.alloc() : memref<8xf32>
  // expected-note@+1 {{it is launched here, with this argument under 'outs'}}
  tracea_pipe.launch @k ins(%a : memref<8xf32>) outs(%r : memref<8xf32>)
  return %r : memref<8xf32>
}
// expected-error@+1 {{does not write argument #1, which is a result of its launch; expected each element to be written once}}
tracea_pipe.kernel @k(%a: memref<8xf32>, %r: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
    %x = tracea_pipe.load %a[%c0] map #id : memref<8xf32> -> tensor<8xf32, #lanes>
  }
  tracea_pipe.end
}

// -----

// One of two.
#id = affine_map<(i) -> (i)>
#lanes = #tracea_pipe.lanes<lane = [[1], [2], [4]], outer = [1]>
func.func @main(%a: memref<8xf32>) -> (memref<8xf32>, memref<8xf32>) {
  %r = memref.alloc() : memref<8xf32>
  %s = memref.alloc() : memref<8xf32>
  // expected-note@+1 {{it is launched here, with this argument under 'outs'}}
  tracea_pipe.launch @k ins(%a : memref<8xf32>) outs(%r, %s : memref<8xf32>, memref<8xf32>)
  return %r, %s : memref<8xf32>, memref<8xf32>
}
// expected-error@+1 {{does not write argument #1, which is a result of its launch}}
tracea_pipe.kernel @k(%a: memref<8xf32>, %r: memref<8xf32>, %s: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
    %x = tracea_pipe.load %a[%c0] map #id : memref<8xf32> -> tensor<8xf32, #lanes>
    tracea_pipe.store %x, %s[%c0] map #id : tensor<8xf32, #lanes>, memref<8xf32>
  }
  tracea_pipe.end
}

// -----

// A launch of several that has another argument under `outs`.
#id = affine_map<(i) -> (i)>
#lanes = #tracea_pipe.lanes<lane = [[1], [2], [4]], outer = [1]>
func.func @main(%a: memref<8xf32>) -> memref<8xf32> {
  %r = memref.alloc() : memref<8xf32>
  tracea_pipe.launch @k ins(%a : memref<8xf32>) outs(%r : memref<8xf32>)
  return %r : memref<8xf32>
}
func.func @other(%a: memref<8xf32>) -> memref<8xf32> {
  %r = memref.alloc() : memref<8xf32>
  // expected-note@+1 {{it is launched here, with this argument under 'ins'}}
  tracea_pipe.launch @k ins(%a, %r : memref<8xf32>, memref<8xf32>)
  return %r : memref<8xf32>
}
tracea_pipe.kernel @k(%a: memref<8xf32>, %r: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
    %x = tracea_pipe.load %a[%c0] map #id : memref<8xf32> -> tensor<8xf32, #lanes>
    // expected-error@+1 {{writes argument #1, which its launch only gives to be read}}
    tracea_pipe.store %x, %r[%c0] map #id : tensor<8xf32, #lanes>, memref<8xf32>
  }
  tracea_pipe.end
}

// -----

// A result without elements needs no store; what nobody launches has the results
// that it stores to.
// CHECK-LABEL: tracea_pipe.kernel @empty
// CHECK-SAME: claim = "all elements of 2 results written exactly once
// CHECK-LABEL: tracea_pipe.kernel @alone
// CHECK-SAME: claim = "all elements of 1 result written exactly once
// CHECK-SAME: argument input (8); argument result (8)
#id = affine_map<(i) -> (i)>
#lanes = #tracea_pipe.lanes<lane = [[1], [2], [4]], outer = [1]>
func.func @main(%a: memref<8xf32>) -> (memref<0xf32>, memref<8xf32>) {
  %r = memref.alloc() : memref<0xf32>
  %s = memref.alloc() : memref<8xf32>
  tracea_pipe.launch @empty ins(%a : memref<8xf32>) outs(%r, %s : memref<0xf32>, memref<8xf32>)
  return %r, %s : memref<0xf32>, memref<8xf32>
}
tracea_pipe.kernel @empty(%a: memref<8xf32>, %r: memref<0xf32>, %s: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
    %x = tracea_pipe.load %a[%c0] map #id : memref<8xf32> -> tensor<8xf32, #lanes>
    tracea_pipe.store %x, %s[%c0] map #id : tensor<8xf32, #lanes>, memref<8xf32>
  }
  tracea_pipe.end
}
tracea_pipe.kernel @alone(%a: memref<8xf32>, %r: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tracea_pipe.tiles (%i) in (%c1) {
    %x = tracea_pipe.load %a[%c0] map #id : memref<8xf32> -> tensor<8xf32, #lanes>
    tracea_pipe.store %x, %r[%c0] map #id : tensor<8xf32, #lanes>, memref<8xf32>
  }
  tracea_pipe.end
}
