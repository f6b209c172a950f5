// RUN: not tracea-opt %s --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-coverage{require-proof=true}))" -o /dev/null 2>&1 | FileCheck %s

// The host stops at sizes that are 0; a loop counter that divides is the kernel's matter.
// CHECK: error: 'arith.divui' op coverage not decided: {{.*}}claim 'operand of divui'{{.*}}does not hold
tracea_pipe.kernel @quotient(%y: memref<4x8xf32>, %z: memref<9xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  tracea_pipe.tiles (%i) in (%c4) {
    scf.for %j = %c0 to %c8 step %c1 {
      %q = arith.divui %c8, %j : index
      %v = memref.load %z[%q] : memref<9xf32>
      scf.for %k = %c0 to %c8 step %c1 {
        memref.store %v, %y[%i, %k] : memref<4x8xf32>
      }
    }
  }
  tracea_pipe.end
}

// Also of what no address needs.
// CHECK: error: 'arith.remui' op coverage not decided: {{.*}}claim 'operand of remui'{{.*}}does not hold
tracea_pipe.kernel @value(%y: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  tracea_pipe.tiles (%i) in (%c1) {
    scf.for %j = %c0 to %c8 step %c1 {
      %q = arith.remui %c8, %j : index
      %n = arith.index_cast %q : index to i32
      %v = arith.sitofp %n : i32 to f32
      memref.store %v, %y[%j] : memref<8xf32>
    }
  }
  tracea_pipe.end
}
