// A sum in three parts: one kernel writes the parts in single precision, another
// adds them up in their order and applies the epilogue. Both are proved.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse | FileCheck %s --check-prefix=TILE
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --tracea-bufferize-host --tracea-pipeline-kernels -o %t.mlir
// RUN: tracea-opt %t.mlir -o %t.roles.mlir \
// RUN:     --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-join-channels,tracea-persistent-tiles,tracea-warp-specialize,tracea-async-mma,tracea-stage-epilogue,canonicalize,cse))"
// RUN: FileCheck %s --check-prefix=ROLES < %t.roles.mlir
// RUN: tracea-opt %t.roles.mlir --pass-pipeline="%kernel_proofs" | FileCheck %s --check-prefix=PROVED

// TILE: func.func @main(
// TILE: %[[EMPTY:.*]] = tensor.empty(%{{.*}}) : tensor<3x?x512xf32>
// TILE: %[[PARTS:.*]] = tracea_pipe.launch @gemm_0 ins(%{{[a-z0-9]+}}, %{{[a-z0-9]+}} : {{.*}}) outs(%[[EMPTY]]
// TILE: %[[R:.*]] = tracea_pipe.launch @gemm_1 ins(%[[PARTS]], %{{[a-z0-9]+}} : tensor<3x?x512xf32>, tensor<512xf32>) outs(
// TILE: return %[[R]]

// Part p is the sum over steps [22 p, 22 p + 22) of 64.
// TILE: tracea_pipe.kernel @gemm_0({{.*}} %[[P:[a-z0-9]+]]: memref<3x?x512xf32> {tracea_pipe.aligned = 16 : i64}) attributes
// TILE-SAME: pipeline = #tracea_pipe.pipeline<teams = 2, registers = [40, 232], pending = 1>
// TILE: tiles (%[[PART:.*]], %{{.*}}, %{{.*}}) in (%c3, %{{.*}}, %c2)
// TILE: %[[FIRST:.*]] = arith.muli %[[PART]], %c22
// TILE: %[[LEFT:.*]] = arith.subi %c64{{.*}}, %[[FIRST]]
// TILE: %[[COUNT:.*]] = arith.minsi %[[LEFT]], %c22
// TILE: %[[SUM:.*]] = scf.for %[[STEP:.*]] = %c0 to %[[COUNT]]
// TILE: %[[AT:.*]] = arith.addi %[[FIRST]], %[[STEP]]
// TILE: arith.muli %[[AT]], %c64
// TILE-NOT: tracea_pipe.load
// TILE: tracea_pipe.store %[[SUM]], %[[P]][%[[PART]],
// TILE-NOT: tracea_pipe.store

// TILE: tracea_pipe.kernel @gemm_1(%[[Q:[a-z0-9]+]]: memref<3x?x512xf32> {tracea_pipe.aligned = 16 : i64}, %[[BIAS:[a-z0-9]+]]: memref<512xf32>
// TILE-SAME: warps = 4
// TILE: %[[P0:.*]] = tracea_pipe.load %[[Q]][%c0,
// TILE: %[[P1:.*]] = tracea_pipe.load %[[Q]][%c1,
// TILE: %[[S1:.*]] = arith.addf %[[P0]], %[[P1]]
// TILE: %[[P2:.*]] = tracea_pipe.load %[[Q]][%c2,
// TILE: %[[S2:.*]] = arith.addf %[[S1]], %[[P2]]
// TILE: %[[X:.*]] = tracea_pipe.load %[[BIAS]]
// TILE: %[[S:.*]] = arith.addf %[[S2]], %[[X]]
// TILE: %[[OUT:.*]] = arith.truncf %[[S]]
// TILE: tracea_pipe.store %[[OUT]]

// Lanes write whole sectors of the parts themselves, in parts of the tile.
// ROLES: tracea_pipe.role "consumer"
// ROLES-NOT: tracea_pipe.scratch
// ROLES-NOT: tracea_pipe.copy_out
// ROLES: tracea_pipe.kernel @gemm_1(

// PROVED: check = "protocol", claim = "3 roles, 1 channels, every trip count
// PROVED-SAME: check = "banks"
// PROVED-SAME: check = "coverage", claim = "all elements of 1 result written exactly once
// PROVED-SAME: check = "resources"
// PROVED: check = "protocol", claim = "nobody waits for anybody
// PROVED-SAME: check = "banks"
// PROVED-SAME: check = "coverage", claim = "all elements of 1 result written exactly once
// PROVED-SAME: check = "resources"

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @main(%a: tensor<?x4096xbf16>, %b: tensor<512x4096xbf16>, %bias: tensor<512xf32>, %d: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<?x4096xbf16>, tensor<512x4096xbf16>) outs(%d : tensor<?x512xbf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 256, 64], slots = 4, producers = 1, consumers = 2, split = 3>
    epilogue(%bias by affine_map<(i, j) -> (j)> : tensor<512xf32>) {
    ^bb0(%acc: f32, %bi: f32):
      %s = arith.addf %acc, %bi : f32
      %t = arith.truncf %s : f32 to bf16
      tracea.yield %t : bf16
    }
  return %0 : tensor<?x512xbf16>
}
}
