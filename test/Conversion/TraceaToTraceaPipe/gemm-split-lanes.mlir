// Sums in parts by warps and by lanes: kernels for each kind of memory write
// the parts in the type of sums, others add them up in their order and apply
// the epilogue. All are proved.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse | FileCheck %s --check-prefix=TILE
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --tracea-bufferize-host --tracea-pipeline-kernels -o %t.mlir
// RUN: tracea-opt %t.mlir --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-join-channels,tracea-multistage-prefetch,canonicalize,cse))" -o %t.ahead.mlir
// RUN: tracea-opt %t.ahead.mlir --pass-pipeline="%kernel_proofs" | FileCheck %s --check-prefix=PROVED

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80", cores = 108>} {
// TILE-LABEL: func.func @warps(
// TILE: %[[PARTS:.*]] = tracea_pipe.launch @gemm_0 else [@gemm_1] ins(%{{[a-z0-9]+}}, %{{[a-z0-9]+}} : {{.*}} -> tensor<3x64x200xf32>
// TILE: tracea_pipe.launch @gemm_2 else [@gemm_3] ins(%[[PARTS]], %{{[a-z0-9]+}} : tensor<3x64x200xf32>, tensor<200xf32>)
func.func @warps(%a: tensor<64x4090xbf16>, %b: tensor<200x4090xbf16>, %bias: tensor<200xf32>, %d: tensor<64x200xbf16>) -> tensor<64x200xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<64x4090xbf16>, tensor<200x4090xbf16>) outs(%d : tensor<64x200xbf16>)
    schedule <variant = "gemm.warp", unit = mma_sync, tile = [64, 64, 64], registers = [32, 32], slots = 4, group = 16, split = 3>
    epilogue(%bias by affine_map<(i, j) -> (j)> : tensor<200xf32>) {
  ^bb0(%acc: f32, %x: f32):
    %s = arith.addf %acc, %x : f32
    %r = arith.truncf %s : f32 to bf16
    tracea.yield %r : bf16
  }
  return %0 : tensor<64x200xbf16>
}

// TILE-LABEL: func.func @lanes(
// TILE: %[[SUMS:.*]] = tracea_pipe.launch @gemm_4 else [@gemm_5] {{.*}} -> tensor<2x33x65xi32>
// TILE: tracea_pipe.launch @gemm_6 {{.*}}ins(%[[SUMS]] : tensor<2x33x65xi32>)
func.func @lanes(%a: tensor<33x512xi8>, %b: tensor<65x512xi8>, %d: tensor<33x65xi32>) -> tensor<33x65xi32> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<33x512xi8>, tensor<65x512xi8>) outs(%d : tensor<33x65xi32>)
    schedule <variant = "gemm.simt", unit = vector, tile = [32, 32, 64], registers = [4, 4], slots = 3, split = 2>
  return %0 : tensor<33x65xi32>
}
}

// Part p is the sum over steps [22 p, 22 p + 22) of 64.
// TILE-LABEL: tracea_pipe.kernel @gemm_0(
// TILE: tiles (%[[PART:.*]], %{{.*}}, %{{.*}}) in (%c3, %c1{{.*}}, %c4)
// TILE: %[[FIRST:.*]] = arith.muli %[[PART]], %c22
// TILE: %[[LEFT:.*]] = arith.subi %c64{{.*}}, %[[FIRST]]
// TILE: %[[COUNT:.*]] = arith.minsi %[[LEFT]], %c22
// TILE: scf.for %[[STEP:.*]] = %c0 to %[[COUNT]]
// TILE: arith.addi %[[FIRST]], %[[STEP]]
// TILE-NOT: arith.truncf
// TILE: tracea_pipe.store %{{.*}}, %{{.*}}[%[[PART]],
// TILE: tracea_pipe.kernel @gemm_1(
// TILE-LABEL: tracea_pipe.kernel @gemm_2(
// TILE: %[[P0:.*]] = tracea_pipe.load %{{.*}}[%c0,
// TILE: %[[P1:.*]] = tracea_pipe.load %{{.*}}[%c1,
// TILE: %[[S1:.*]] = arith.addf %[[P0]], %[[P1]]
// TILE: %[[P2:.*]] = tracea_pipe.load %{{.*}}[%c2,
// TILE: arith.addf %[[S1]], %[[P2]]
// TILE: arith.truncf

// PROVED-COUNT-7: check = "coverage", claim = "all elements of 1 result written exactly once, 1 sum in them as defined with each term once
