// RUN: tracea-opt %s --tracea-compile="target=x86-64-v3 to=semantic" | FileCheck %s --check-prefix=SEMANTIC
// RUN: tracea-opt %s --tracea-compile="target=x86-64-v3 to=decision" | FileCheck %s --check-prefix=DECISION
// RUN: tracea-opt %s --tracea-compile="target=x86-64-v3 to=tile" | FileCheck %s --check-prefix=TILE
// RUN: tracea-opt %s --tracea-compile="target=x86-64-v3 to=pipeline" | FileCheck %s --check-prefix=PIPELINE
// RUN: tracea-opt %s --tracea-compile="target=x86-64-v3" | FileCheck %s --check-prefix=TARGET
// RUN: tracea-opt %s --tracea-compile="target=x86-64-v3 to=decision" | tracea-opt --tracea-compile="from=tile to=tile" | FileCheck %s --check-prefix=TILE
// RUN: tracea-opt %s --tracea-compile="target=x86-64-v3 to=tile reference=true" | FileCheck %s --check-prefix=REFERENCE
// RUN: not tracea-opt %s --tracea-compile="to=nowhere" 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// SEMANTIC:     func.func @main
// SEMANTIC:       tracea.gemm
// SEMANTIC-NOT:   schedule
// SEMANTIC-NOT: tracea_pipe

// DECISION:     tracea.target = #tracea.target<kind = cpu, name = "x86-64-v3"
// DECISION:       tracea.gemm
// DECISION-SAME:    schedule

// TILE:         func.func @main(%{{.*}}: memref<96x32xf32>
// TILE:           tracea_pipe.launch @gemm_0
// TILE:         tracea_pipe.kernel @gemm_0
// TILE:           tracea_pipe.stage

// PIPELINE:     tracea_pipe.kernel @gemm_0
// PIPELINE:       tracea_pipe.channel
// PIPELINE-NOT:   tracea_pipe.stage %

// TARGET-NOT:   func.func
// TARGET:       llvm.func internal @gemm_0.tiles
// TARGET:       llvm.func @gemm_0(
// TARGET-NOT:   unrealized_conversion_cast

// REFERENCE:     func.func @main(%{{.*}}: memref<96x32xf64>
// REFERENCE:       tracea_pipe.launch @linalg_matmul_0
// REFERENCE-NOT: tracea.gemm

// UNKNOWN: nowhere
func.func @main(%a: tensor<96x32xf32>, %b: tensor<32x48xf32>) -> tensor<96x48xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x48xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<96x48xf32>) -> tensor<96x48xf32>
  %r = linalg.matmul ins(%a, %b : tensor<96x32xf32>, tensor<32x48xf32>) outs(%f : tensor<96x48xf32>) -> tensor<96x48xf32>
  return %r : tensor<96x48xf32>
}
