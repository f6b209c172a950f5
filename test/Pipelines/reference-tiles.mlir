// A reference for a processor with tiles multiplies by loops, in a context that has no tiles.
// RUN: tracea-opt %s --tracea-lower-to-target=reference | FileCheck %s

// CHECK: llvm.func {{.*}}@copy
// CHECK-NOT: amx
#target = #tracea.target<kind = cpu, name = "sapphirerapids", triple = "x86_64-unknown-linux-gnu", cpu = "sapphirerapids", features = "+avx512f,+amx-tile,+amx-bf16,+amx-int8", vector_bits = 512>
module attributes {tracea.target = #target} {
  tracea_pipe.kernel @copy(%a: memref<16xf32>, %d: memref<16xf32>) attributes {source_op = "linalg.copy", variant = "linalg"} {
    %c1 = arith.constant 1 : index
    tiles (%i) in (%c1) {
      linalg.copy ins(%a : memref<16xf32>) outs(%d : memref<16xf32>)
    }
    end
  }
}
