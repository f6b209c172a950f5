// RUN: split-file %s %t
// RUN: not tracea-opt %t/gemm.mlir --tracea-compile="to=nowhere" 2>&1 | FileCheck %s --check-prefix=PHASE
// RUN: not tracea-opt %t/gemm.mlir --tracea-compile="target=znver9" 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not tracea-opt %t/gemm.mlir --tracea-compile="threads=-1" 2>&1 | FileCheck %s --check-prefix=THREADS
// RUN: not tracea-opt %t/gemm.mlir --tracea-compile="threads=many" 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: not tracea-opt %t/gemm.mlir --tracea-compile="from=target to=tile" 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not tracea-opt %t/gemm.mlir --tracea-compile="from=pipeline" 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: not tracea-opt %t/gemm.mlir --tracea-compile="from=tile" 2>&1 | FileCheck %s --check-prefix=UNSCHEDULED
// RUN: not tracea-opt %t/sm90.mlir --tracea-compile="target=x86-64-v3" 2>&1 | FileCheck %s --check-prefix=OTHER

// Wrong options and modules that are not where the first phase expects them: a
// message each, and never a module that lost its functions.

// PHASE: for the --to option: Cannot find option named 'nowhere'
// TARGET: error: unknown target 'znver9'; the closest are
// THREADS: error: option 'threads' must not be negative, found -1
// NUMBER: 'many' value invalid for integer argument
// ORDER: the phase 'from' comes after the phase 'to' in "from=target to=tile"
// EARLY: error: 'tracea.gemm' op is on tensors, expected a host function on buffers; run the phases from 'tile' on before 'target'
// UNSCHEDULED: error: {{.*}}tracea.target
// OTHER: error:

//--- gemm.mlir
func.func @main(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %d: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %r = tracea.gemm ins(%a, %b : tensor<64x32xf32>, tensor<32x48xf32>) outs(%d : tensor<64x48xf32>)
  return %r : tensor<64x48xf32>
}

//--- sm90.mlir
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a">} {
  func.func @main(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %d: tensor<64x48xf32>) -> tensor<64x48xf32> {
    %r = tracea.gemm ins(%a, %b : tensor<64x32xf32>, tensor<32x48xf32>) outs(%d : tensor<64x48xf32>)
    return %r : tensor<64x48xf32>
  }
}
