// From linalg to the NVVM dialect, phase by phase; and each phase resumed from
// the text of the one before gives the same.

// RUN: tracea-opt %s --tracea-compile="target=sm_90a to=semantic" -o %t.semantic
// RUN: tracea-opt %s --tracea-compile="target=sm_90a to=decision" -o %t.decision
// RUN: tracea-opt %s --tracea-compile="target=sm_90a to=tile" -o %t.tile
// RUN: tracea-opt %s --tracea-compile="target=sm_90a to=pipeline require-proof=true" -o %t.pipeline
// RUN: tracea-opt %s --tracea-compile="target=sm_90a require-proof=true" -o %t.target
// RUN: FileCheck %s --check-prefix=SEMANTIC < %t.semantic
// RUN: FileCheck %s --check-prefix=DECISION < %t.decision
// RUN: FileCheck %s --check-prefix=TILE < %t.tile
// RUN: FileCheck %s --check-prefix=PIPELINE < %t.pipeline
// RUN: FileCheck %s --check-prefix=TARGET < %t.target

// RUN: tracea-opt %t.semantic --tracea-compile="target=sm_90a from=decision" -o %t.1
// RUN: diff %t.target %t.1
// RUN: tracea-opt %t.decision --tracea-compile="from=tile" -o %t.2
// RUN: diff %t.target %t.2
// RUN: tracea-opt %t.tile --tracea-compile="from=pipeline" -o %t.3
// RUN: diff %t.target %t.3
// RUN: tracea-opt %t.pipeline --tracea-compile="from=target" -o %t.4
// RUN: diff %t.target %t.4

// SEMANTIC:     tracea.gemm
// SEMANTIC-NOT:   schedule
// SEMANTIC:       epilogue

// DECISION:     tracea.target = #tracea.target<kind = cuda, name = "sm_90a"
// DECISION:       schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [64, 128, 64], slots = 8, producers = 1, consumers = 1

// TILE:         func.func @main(%{{.*}}: memref<1024x2048xbf16>
// TILE:           tracea_pipe.launch @gemm_0
// TILE:         tracea_pipe.kernel @gemm_0{{.*}}pipeline = #tracea_pipe.pipeline<
// TILE:           tracea_pipe.stage

// PIPELINE:     tracea_pipe.kernel @gemm_0
// PIPELINE:       tracea_pipe.role "producer"
// PIPELINE:         tracea_pipe.acquire
// PIPELINE:       tracea_pipe.role "consumer"
// PIPELINE:         tracea_pipe.mma_async
// PIPELINE:         tracea_pipe.copy_out

// TARGET-NOT:   func.func
// TARGET:       llvm.func @gemm_0({{.*}}nvvm.grid_constant{{.*}} attributes {{.*}}nvvm.kernel
// TARGET-SAME:    tracea_pipe.certificates = [#tracea_pipe.certificate<check = "target-protocol", claim = "
// TARGET:         nvvm.mbarrier.init
// TARGET:         nvvm.cp.async.bulk.tensor.shared.cluster.global
// TARGET:         wgmma.mma_async
// TARGET-NOT:   unrealized_conversion_cast
func.func @main(%a: tensor<1024x2048xbf16>, %b: tensor<2048x1024xbf16>, %bias: tensor<1024xf32>) -> tensor<1024x1024xbf16> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x1024xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1024x2048xbf16>, tensor<2048x1024xbf16>) outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %d = tensor.empty() : tensor<1024x1024xbf16>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%r, %bias : tensor<1024x1024xf32>, tensor<1024xf32>) outs(%d : tensor<1024x1024xbf16>) {
  ^bb0(%x: f32, %s: f32, %out: bf16):
    %t = arith.addf %x, %s : f32
    %u = arith.maximumf %t, %z : f32
    %v = arith.truncf %u : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<1024x1024xbf16>
  return %y : tensor<1024x1024xbf16>
}
