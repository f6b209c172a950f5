// A product with bias and ReLU for the matrix units of warps: from the
// operation to slots that are filled ahead, and everything that there is to
// prove proved.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse | FileCheck %s --check-prefix=TILE
// RUN: tracea-opt %s -o %t.mlir \
// RUN:     --pass-pipeline="builtin.module(convert-tracea-to-tracea-pipe,tracea-bufferize-host,tracea-pipeline-kernels,tracea_pipe.kernel(tracea-join-channels,tracea-multistage-prefetch,canonicalize,cse))"
// RUN: FileCheck %s --check-prefix=AHEAD < %t.mlir
// RUN: tracea-opt %t.mlir --pass-pipeline="%kernel_proofs" | FileCheck %s --check-prefix=PROVED

// Two times four warps. Operands lack one dimension: warps that differ there hold the same.
// TILE-DAG: #[[ACC:.*]] = #tracea_pipe.lanes<reg = {{\[\[}}0, 1], [8, 0], [0, 8], [0, 16], [32, 0], [64, 0]], lane = {{\[\[}}0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = {{\[\[}}16, 0], [0, 32], [0, 64]], outer = [1, 1]>
// TILE-DAG: #[[A:.*]] = #tracea_pipe.lanes<{{.*}} warp = {{\[\[}}16, 0], [0, 0], [0, 0]]
// TILE-DAG: #[[B:.*]] = #tracea_pipe.lanes<{{.*}} warp = {{\[\[}}0, 0], [0, 32], [0, 64]]
// TILE-DAG: #[[ROWS:.*]] = #tracea_pipe.lanes<reg = {{\[\[}}0, 1], [0, 2], [0, 4], [8, 0]{{.*}} lane = {{\[\[}}0, 8], [0, 16],
// One kernel for memory that promises whole pieces, and one for any.
// TILE: tracea_pipe.launch @gemm_0 else [@gemm_1]
// TILE: tracea_pipe.kernel @gemm_0({{.*}} {tracea_pipe.aligned = 16 : i64}{{.*}} tracea_pipe.lane_copies{{.*}} warps = 8
// TILE: tiles (%{{.*}}, %{{.*}}) in (%{{.*}}, %{{.*}}) group 16
// TILE: scf.for {{.*}} -> (tensor<128x128xf32, #[[ACC]]>)
// TILE: %[[LHS:.*]] = tracea_pipe.stage {{.*}} padded [0, 1] slots 4
// TILE: %[[RHS:.*]] = tracea_pipe.stage {{.*}} padded [0, 1] slots 4
// TILE: %[[A0:.*]] = tracea_pipe.load %[[LHS]]{{.*}} -> tensor<128x16xbf16, #[[A]]>
// TILE: %[[B0:.*]] = tracea_pipe.load %[[RHS]]{{.*}} -> tensor<16x128xbf16, #[[B]]>
// The second fragments are read before the first are multiplied.
// TILE: %[[A1:.*]] = tracea_pipe.load %[[LHS]]
// TILE: %[[B1:.*]] = tracea_pipe.load %[[RHS]]
// TILE: %[[SUM:.*]] = tracea_pipe.mma %[[A0]], %[[B0]]
// TILE: tracea_pipe.mma %[[A1]], %[[B1]], %[[SUM]]
// Sixteen rows of each warp at a time.
// TILE: tracea_pipe.slice %{{.*}}[0, 0] : tensor<128x128xf32, #[[ACC]]> -> tensor<32x128xf32, #[[PART:.*]]>
// TILE: tracea_pipe.load {{.*}} limits
// TILE: arith.addf {{.*}} : tensor<32x128xf32, #[[PART]]>
// TILE: arith.maximumf
// TILE: %[[OUT:.*]] = tracea_pipe.relayout {{.*}} -> tensor<32x128xbf16, #[[ROWS]]>
// TILE: tracea_pipe.store %[[OUT]], {{.*}} limits
// TILE: tracea_pipe.slice %{{.*}}[32, 0]
// TILE: tracea_pipe.slice %{{.*}}[64, 0]
// TILE: tracea_pipe.slice %{{.*}}[96, 0]
// TILE: tracea_pipe.kernel @gemm_1(
// TILE-NOT: aligned

// Three slots before the loop, one in each iteration for three later, and three given back.
// AHEAD: tracea_pipe.channel : <4 x(memref<128x32xbf16, {{.*}}>, memref<128x32xbf16, {{.*}}>)>
// AHEAD-NOT: tracea_pipe.channel
// AHEAD: %[[FIRST:.*]] = tracea_pipe.start
// AHEAD: %[[FILLED:.*]] = scf.for %{{.*}} = %c0 to %c3 step %c1 iter_args(%{{.*}} = %[[FIRST]])
// AHEAD: tracea_pipe.acquire
// AHEAD-COUNT-2: tracea_pipe.copy
// AHEAD: tracea_pipe.commit
// AHEAD: %[[LOOP:.*]]:3 = scf.for %[[STEP:.*]] = %c0 to %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[READ:.*]] = %[[FIRST]], %[[FILL:.*]] = %[[FILLED]])
// AHEAD: tracea_pipe.wait %{{.*}}[%[[READ]]]
// AHEAD: tracea_pipe.load
// AHEAD: arith.addi %[[STEP]], %c3
// AHEAD: tracea_pipe.acquire %{{.*}}[%[[FILL]]]
// AHEAD-COUNT-2: tracea_pipe.copy
// AHEAD: tracea_pipe.commit %{{.*}}[%[[FILL]]]
// AHEAD: tracea_pipe.release %{{.*}}[%[[READ]]]
// AHEAD: tracea_pipe.mma
// AHEAD: scf.for %{{.*}} = %c0 to %c3 step %c1 iter_args(%{{.*}} = %[[LOOP]]#1)
// AHEAD: tracea_pipe.wait
// AHEAD-NEXT: tracea_pipe.release

// PROVED: check = "protocol", claim = "1 roles, 1 channels, every trip count
// PROVED-SAME: check = "banks", claim = "4 accesses to staged memory take at most 1 cycle
// PROVED-SAME: check = "coverage"
// PROVED-SAME: check = "resources", claim = "shared 64 of 163 KiB, 256 threads

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80", cores = 108>} {
func.func @main(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %bias: tensor<?xf32>, %d: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%d : tensor<?x?xbf16>)
    schedule <variant = "gemm.warp", unit = mma_sync, tile = [128, 128, 32], registers = [64, 32], slots = 4, group = 16>
    epilogue(%bias by affine_map<(i, j) -> (j)> : tensor<?xf32>) {
    ^bb0(%acc: f32, %bi: f32):
      %s = arith.addf %acc, %bi : f32
      %z = arith.constant 0.0 : f32
      %m = arith.maximumf %s, %z : f32
      %t = arith.truncf %m : f32 to bf16
      tracea.yield %t : bf16
    }
  return %0 : tensor<?x?xbf16>
}
}
