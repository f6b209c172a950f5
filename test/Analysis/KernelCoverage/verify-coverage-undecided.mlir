// RUN: tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-coverage))" -verify-diagnostics
// RUN: not tracea-opt %s --split-input-file --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-coverage{require-proof=true}))" 2>&1 | FileCheck %s --check-prefix=REQUIRED

// What is outside of the method is a remark that says why; with require-proof it
// is an error.

// An index from memory.
// REQUIRED: error: 'memref.store' op coverage not decided: {{.*}} may not happen
// REQUIRED: note: this is outside of what the check can decide, not a fault; without require-proof the kernel is compiled
// REQUIRED: error: 'memref.store' op coverage not decided: which elements it writes depends on a value of 'memref.load'
// REQUIRED-NOT: note: this is outside
tracea_pipe.kernel @scatter(%at: memref<?xindex>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %n = memref.dim %at, %c0 : memref<?xindex>
  tracea_pipe.tiles (%i) in (%n) {
    %j = memref.load %at[%i] : memref<?xindex>
    // expected-remark-re@+2 {{coverage not decided: {{.*}} may not happen, since it depends on a value of 'memref.load'}}
    // expected-remark@+1 {{coverage not decided: which elements it writes depends on a value of 'memref.load'}}
    memref.store %one, %y[%j] : memref<?xf32>
  }
  tracea_pipe.end
}

// -----

// A store under a condition on data.
// REQUIRED: error: 'memref.store' op coverage not decided: which elements it writes is not known: it runs under a condition on data
tracea_pipe.kernel @condition(%y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %n = memref.dim %y, %c0 : memref<?xf32>
  tracea_pipe.tiles (%i) in (%n) {
    %v = memref.load %y[%i] : memref<?xf32>
    %less = arith.cmpf olt, %v, %one : f32
    scf.if %less {
      // expected-remark@+1 {{coverage not decided: which elements it writes is not known: it runs under a condition on data}}
      memref.store %one, %y[%i] : memref<?xf32>
    }
  }
  tracea_pipe.end
}

// -----

// Nobody says that both have as many rows.
// REQUIRED: error: 'memref.store' op coverage not decided: {{.*}} no launch compares the extents of the arguments
tracea_pipe.kernel @rows(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  tracea_pipe.tiles (%i) in (%n) {
    // expected-remark-re@+2 {{coverage not decided: 'access {{.*}} may not happen, since no launch compares the extents of the arguments}}
    // expected-remark-re@+1 {{coverage not decided: 'stage {{.*}} may not happen, since no launch compares the extents of the arguments}}
    memref.store %one, %y[%i] : memref<?xf32>
  }
  tracea_pipe.end
}

// -----

// A part of a buffer is written; the rest may be meant to stay.
// REQUIRED: error: 'memref.store' op coverage not decided: it may be meant to write a part
tracea_pipe.kernel @part(%y: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  tracea_pipe.tiles (%i) in (%c1) {
    // expected-remark@+1 {{coverage not decided: it may be meant to write a part}}
    memref.store %one, %y[%i] : memref<8xf32>
  }
  tracea_pipe.end
}

// -----

// Strides that only the run knows.
// REQUIRED: error: 'memref.copy' op coverage not decided: it looks into its buffer through 'memref.reinterpret_cast'
tracea_pipe.kernel @strides(%x: memref<64xf32>, %y: memref<8xf32>, %s: index) {
  %c1 = arith.constant 1 : index
  %v = memref.reinterpret_cast %x to offset: [0], sizes: [8], strides: [%s] : memref<64xf32> to memref<8xf32, strided<[?]>>
  tracea_pipe.tiles (%i) in (%c1) {
    // expected-remark@+1 {{coverage not decided: it looks into its buffer through 'memref.reinterpret_cast'}}
    memref.copy %v, %y : memref<8xf32, strided<[?]>> to memref<8xf32>
  }
  tracea_pipe.end
}

// -----

// An operation that writes in a way that nobody knows.
// REQUIRED: error: 'vector.transfer_write' op coverage not decided: how it reads and writes memory is not known
tracea_pipe.kernel @vector(%y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : vector<8xf32>
  tracea_pipe.tiles (%i) in (%c1) {
    // expected-remark@+1 {{coverage not decided: how it reads and writes memory is not known}}
    vector.transfer_write %zero, %y[%c0] : vector<8xf32>, memref<8xf32>
  }
  tracea_pipe.end
}

// -----

// A loop that never ends where the first tile is.
// REQUIRED: error: 'scf.for' op coverage not decided: its step may be 0
tracea_pipe.kernel @step(%y: memref<4x8xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  tracea_pipe.tiles (%i) in (%c4) {
    // expected-remark@+1 {{coverage not decided: its step may be 0}}
    scf.for %k = %c0 to %c8 step %i {
    }
    scf.for %j = %c0 to %c8 step %c4 {
      %u = arith.addi %j, %c4 : index
      %c1 = arith.constant 1 : index
      scf.for %l = %j to %u step %c1 {
        memref.store %one, %y[%i, %l] : memref<4x8xf32>
      }
    }
  }
  tracea_pipe.end
}

// -----

// A dimension that the tile chooses.
// REQUIRED: error: 'memref.dim' op coverage not decided: it may take a dimension that is not there
tracea_pipe.kernel @dimension(%y: memref<4x8xf32>) {
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %one = arith.constant 1.0 : f32
  tracea_pipe.tiles (%i) in (%c4) {
    // expected-remark@+1 {{coverage not decided: it may take a dimension that is not there}}
    %n = memref.dim %y, %i : memref<4x8xf32>
    scf.for %j = %c0 to %c8 step %c1 {
      memref.store %one, %y[%i, %j] : memref<4x8xf32>
    }
  }
  tracea_pipe.end
}

// -----

// A chunk of which no more than eight rows are written.
// REQUIRED: error: 'linalg.fill' op coverage not decided: which elements it writes is not known: a loop of 'linalg.fill' is not as long as a tile
tracea_pipe.kernel @shorter(%x: memref<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %n = memref.dim %x, %c0 : memref<?x64xf32>
  %least = arith.minsi %n, %c256 : index
  %chunk = arith.maxsi %least, %c1 : index
  %grid = arith.ceildivsi %n, %chunk : index
  tracea_pipe.tiles (%i) in (%grid) {
    %from = arith.muli %i, %chunk : index
    %left = arith.subi %n, %from : index
    %rest = arith.minsi %chunk, %left : index
    %rows = arith.minsi %rest, %c8 : index
    %part = memref.subview %x[%from, 0] [%rows, 64] [1, 1] : memref<?x64xf32> to memref<?x64xf32, strided<[64, 1], offset: ?>>
    // expected-remark@+1 {{coverage not decided: which elements it writes is not known: a loop of 'linalg.fill' is not as long as a tile}}
    linalg.fill ins(%zero : f32) outs(%part : memref<?x64xf32, strided<[64, 1], offset: ?>>)
  }
  tracea_pipe.end
}
