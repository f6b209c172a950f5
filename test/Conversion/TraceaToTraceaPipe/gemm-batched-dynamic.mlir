// Any number of batches: workgroups take one tile after the other of all of them.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --tracea-bufferize-host --tracea-pipeline-kernels -o %t.mlir
// RUN: tracea-opt %t.mlir -o %t.roles.mlir \
// RUN:     --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-join-channels,tracea-persistent-tiles,tracea-warp-specialize,tracea-async-mma,tracea-stage-epilogue,canonicalize,cse))"
// RUN: FileCheck %s --check-prefix=ROLES < %t.roles.mlir
// RUN: tracea-opt %t.roles.mlir --pass-pipeline="%kernel_proofs" | FileCheck %s --check-prefix=PROVED

// ROLES: tracea_pipe.kernel @gemm_0(%[[A:[a-z0-9]+]]: {{.*}}, %[[B:[a-z0-9]+]]: {{.*}}, %[[D:[a-z0-9]+]]:
// ROLES-SAME: pipeline = #tracea_pipe.pipeline<teams = 2, registers = [40, 232], workgroups = 132, pending = 1>
// ROLES: %[[COUNT:.*]] = memref.dim %[[D]], %c0
// ROLES: %[[ALL:.*]] = arith.muli %[[COUNT]], %c16
// ROLES: %[[MOST:.*]] = arith.minsi %[[ALL]], %c132
// ROLES: tiles (%[[FIRST:.*]]) in (%[[MOST]])
// ROLES: scf.for %[[TILE:.*]] = %[[FIRST]] to %[[ALL]] step %[[MOST]]
// ROLES: arith.remui %[[TILE]], %c16
// ROLES: %[[BATCH:.*]] = arith.divui %[[TILE]], %c16
// ROLES: tracea_pipe.copy %[[A]][%[[BATCH]], %{{.*}}, %{{.*}}] {{.*}} padded [1, 2]
// ROLES: tracea_pipe.copy %[[B]][%{{.*}}, %{{.*}}] {{.*}} padded [0, 1]
// ROLES: scf.for %[[MINE:.*]] = %[[FIRST]] to %[[ALL]] step %[[MOST]]
// ROLES: %[[OWN:.*]] = arith.divui %[[MINE]], %c16
// ROLES: tracea_pipe.copy_out %{{.*}} to %[[D]][%[[OWN]], 

// PROVED: check = "protocol", claim = "3 roles, 1 channels, every trip count
// PROVED-SAME: check = "banks"
// PROVED-SAME: check = "coverage", claim = "all elements of 1 result written exactly once
// PROVED-SAME: check = "resources"

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @main(%a: tensor<?x1024x4096xf16>, %b: tensor<4096x512xf16>, %d: tensor<?x1024x512xf16>) -> tensor<?x1024x512xf16> {
  %0 = tracea.gemm ins(%a, %b : tensor<?x1024x4096xf16>, tensor<4096x512xf16>) outs(%d : tensor<?x1024x512xf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 256, 64], slots = 4, producers = 1, consumers = 2>
    epilogue {
    ^bb0(%acc: f32):
      %t = arith.truncf %acc : f32 to f16
      tracea.yield %t : f16
    }
  return %0 : tensor<?x1024x512xf16>
}
}
