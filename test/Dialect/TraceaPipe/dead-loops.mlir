// Loops in loops that compute what nobody uses go as a whole, once.
// RUN: tracea-opt %s --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-join-channels))" | FileCheck %s

// CHECK-LABEL: tracea_pipe.kernel @nothing
// CHECK:         tiles
// CHECK-NOT:       scf.for
tracea_pipe.kernel @nothing(%x: memref<8xf32>) attributes {variant = "test", warps = 1} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tiles (%i) in (%c4) {
    scf.for %j = %c0 to %c4 step %c1 {
      %scaled = arith.muli %j, %c4 : index
      scf.for %k = %c0 to %c4 step %c1 {
        %sum = arith.addi %scaled, %k : index
      }
    }
  }
  end
}
