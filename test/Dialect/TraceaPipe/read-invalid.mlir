// RUN: tracea-opt %s --split-input-file --verify-diagnostics

tracea_pipe.kernel @no_index(%lens: memref<?xi32>) {
  // expected-error @+1 {{'tracea_pipe.read' op expects 1 indices for 'memref<?xi32>', found 0}}
  %n = tracea_pipe.read %lens[] : memref<?xi32>
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @floats(%lens: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'tracea_pipe.read' op operand #0 must be memref of 1-bit signless integer or 32-bit signless integer or 64-bit signless integer values, but got 'memref<?xf32>'}}
  %n = tracea_pipe.read %lens[%c0] : memref<?xf32>
  tracea_pipe.tiles (%i) in (%n) {
  }
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @local(%n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    %lens = tracea_pipe.scratch : memref<16xi32, #tracea_pipe.staged>
    // expected-error @+1 {{'tracea_pipe.read' op expects memory that is an argument of the kernel}}
    %len = tracea_pipe.read %lens[%i] : memref<16xi32, #tracea_pipe.staged>
  }
  tracea_pipe.end
}

// -----

// An argument of something else is not the kernel's.
func.func @host(%lens: memref<?xi32>) -> index {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{'tracea_pipe.read' op expects memory that is an argument of the kernel}}
  %len = tracea_pipe.read %lens[%c0] : memref<?xi32>
  return %len : index
}

// -----

tracea_pipe.kernel @written(%lens: memref<?xi32>, %n: index, %v: i32) {
  tracea_pipe.tiles (%i) in (%n) {
    // expected-error @+1 {{'tracea_pipe.read' op expects memory that the kernel does not write}}
    %len = tracea_pipe.read %lens[%i] : memref<?xi32>
    // expected-note @+1 {{written here}}
    memref.store %v, %lens[%i] : memref<?xi32>
  }
  tracea_pipe.end
}

// -----

#lanes = #tracea_pipe.lanes<reg = [], lane = [[1], [2], [4], [8]], outer = [1]>
tracea_pipe.kernel @stored(%lens: memref<16xi32>, %n: index) {
  %zero = arith.constant dense<0> : tensor<16xi32, #lanes>
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-error @+1 {{'tracea_pipe.read' op expects memory that the kernel does not write}}
    %len = tracea_pipe.read %lens[%i] : memref<16xi32>
    // expected-note @+1 {{written here}}
    tracea_pipe.store %zero, %lens[%c0] map affine_map<(i) -> (i)> : tensor<16xi32, #lanes>, memref<16xi32>
  }
  tracea_pipe.end
}

// -----

// Under another name, of a name.
tracea_pipe.kernel @renamed(%lens: memref<?xi32>, %n: index, %v: i32) {
  %c0 = arith.constant 0 : index
  tracea_pipe.tiles (%i) in (%n) {
    // expected-error @+1 {{'tracea_pipe.read' op expects memory that the kernel does not write}}
    %len = tracea_pipe.read %lens[%i] : memref<?xi32>
    %part = memref.subview %lens[%i] [4] [1] : memref<?xi32> to memref<4xi32, strided<[1], offset: ?>>
    %less = memref.subview %part[1] [2] [1] : memref<4xi32, strided<[1], offset: ?>> to memref<2xi32, strided<[1], offset: ?>>
    // expected-note @+1 {{written here}}
    memref.store %v, %less[%c0] : memref<2xi32, strided<[1], offset: ?>>
  }
  tracea_pipe.end
}

// -----

// Who does not say what it does may write.
func.func private @anything(memref<?xi32>)
tracea_pipe.kernel @called(%lens: memref<?xi32>, %n: index) {
  tracea_pipe.tiles (%i) in (%n) {
    // expected-error @+1 {{'tracea_pipe.read' op expects memory that the kernel does not write}}
    %len = tracea_pipe.read %lens[%i] : memref<?xi32>
    // expected-note @+1 {{written here}}
    func.call @anything(%lens) : (memref<?xi32>) -> ()
  }
  tracea_pipe.end
}

// -----

tracea_pipe.kernel @chosen(%lens: memref<?xi32>, %other: memref<?xi32>, %n: index, %v: i32, %which: i1) {
  tracea_pipe.tiles (%i) in (%n) {
    // expected-error @+1 {{'tracea_pipe.read' op expects memory that the kernel does not write}}
    %len = tracea_pipe.read %lens[%i] : memref<?xi32>
    %one = arith.select %which, %other, %lens : memref<?xi32>
    // expected-note @+1 {{written here}}
    memref.store %v, %one[%i] : memref<?xi32>
  }
  tracea_pipe.end
}

// -----

// Out of a region memory is not followed.
tracea_pipe.kernel @yielded(%lens: memref<?xi32>, %other: memref<?xi32>, %n: index, %v: i32, %which: i1) {
  tracea_pipe.tiles (%i) in (%n) {
    // expected-error @+1 {{'tracea_pipe.read' op expects memory that the kernel does not write}}
    %len = tracea_pipe.read %lens[%i] : memref<?xi32>
    %one = scf.if %which -> memref<?xi32> {
      // expected-note @+1 {{written here}}
      scf.yield %lens : memref<?xi32>
    } else {
      scf.yield %other : memref<?xi32>
    }
    memref.store %v, %one[%i] : memref<?xi32>
  }
  tracea_pipe.end
}
