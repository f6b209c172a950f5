// A product with bias and ReLU for a unit of four warps: from the operation to
// roles, each step a pass, and everything that there is to prove proved.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse | FileCheck %s --check-prefix=TILE
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --tracea-bufferize-host --tracea-pipeline-kernels \
// RUN:     -o %t.mlir
// RUN: tracea-opt %t.mlir -o %t.roles.mlir \
// RUN:     --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-join-channels,tracea-persistent-tiles,tracea-warp-specialize,tracea-async-mma,tracea-stage-epilogue,canonicalize,cse))"
// RUN: FileCheck %s --check-prefix=ROLES < %t.roles.mlir
// RUN: tracea-opt %t.roles.mlir --pass-pipeline="%kernel_proofs" | FileCheck %s --check-prefix=PROVED

// Bulk copies and vectors need memory that is aligned.
// TILE: tracea_pipe.kernel @gemm_0(
// TILE-SAME: memref<?x?xbf16> {tracea_pipe.aligned = 16 : i64}, %{{.*}}: memref<?x?xbf16> {tracea_pipe.aligned = 16 : i64}, %{{.*}}: memref<?xf32> {tracea_pipe.aligned = 16 : i64}, %{{.*}}: memref<?x?xbf16> {tracea_pipe.aligned = 16 : i64})
// TILE-SAME: pipeline = #tracea_pipe.pipeline<teams = 2, registers = [40, 232], workgroups = 132, pending = 1>
// TILE: tiles (%{{.*}}, %{{.*}}) in (%{{.*}}, %{{.*}}) group 16
// TILE: scf.for {{.*}} -> (tensor<128x256xf32, #[[ACC:.*]]>)
// TILE-COUNT-2: tracea_pipe.stage {{.*}} padded [0, 1] slots 4
// TILE: tracea_pipe.mma
// TILE: tracea_pipe.load {{.*}} limits
// TILE: arith.addf {{.*}} : tensor<128x256xf32, #[[ACC]]>
// TILE: arith.maximumf
// TILE: tracea_pipe.store {{.*}} limits

// ROLES: tracea_pipe.kernel @gemm_0(
// ROLES: %[[WORKGROUPS:.*]] = arith.minsi %[[COUNT:.*]], %c132
// ROLES: tiles (%[[W:.*]]) in (%[[WORKGROUPS]])
// ROLES: tracea_pipe.channel : <4 x(memref<128x64xbf16, {{.*}}>, memref<256x64xbf16, {{.*}}>)>
// ROLES-NOT: tracea_pipe.channel
// ROLES: tracea_pipe.role "producer" warps [0, 4] registers 40 {
// ROLES: scf.for %{{.*}} = %[[W]] to %[[COUNT]] step %[[WORKGROUPS]]
// ROLES-NEXT: tracea_pipe.raster {{.*}} group 16
// ROLES: tracea_pipe.acquire
// ROLES-COUNT-2: tracea_pipe.copy
// ROLES: tracea_pipe.commit
// ROLES-NOT: tracea_pipe.mma
// ROLES: tracea_pipe.role "consumer" warps [4, 12] copies 2 registers 232 (%[[TEAM:.*]]) {
// ROLES-COUNT-2: tracea_pipe.scratch : memref<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
// ROLES-NOT: tracea_pipe.copy %
// The bias of the first part arrives while the sum is computed.
// ROLES: %[[BIAS:.*]] = tracea_pipe.load %{{.*}}[%[[N:.*]]] {{.*}} limits({{.*}}) : memref<?xf32> -> tensor<64x64xf32
// ROLES: %[[FIRST:.*]] = tracea_pipe.mma_async %{{[^ ]*}}, %{{[^ ]*}} :
// ROLES: scf.for {{.*}} iter_args(%[[SUM:.*]] = %[[FIRST]], {{.*}} %[[OLD:.*]] = %{{.*}})
// ROLES: tracea_pipe.mma_async {{.*}} onto %[[SUM]]
// ROLES: tracea_pipe.wait_group mma pending 1
// ROLES-NEXT: tracea_pipe.release %{{.*}}[%[[OLD]]]
// ROLES: tracea_pipe.wait_group mma pending 0 (
// Four parts of 64 columns take turns in two buffers; the bias of each comes
// before the part ahead of it leaves.
// ROLES: tracea_pipe.slice %{{.*}}[0, 0] : tensor<64x256xf32, {{.*}} -> tensor<64x64xf32
// ROLES-NEXT: arith.addf %{{.*}}, %[[BIAS]]
// ROLES-NEXT: arith.maximumf
// ROLES-NEXT: arith.truncf
// ROLES: %[[BIAS1:.*]] = tracea_pipe.load
// ROLES-NEXT: tracea_pipe.wait_group copy pending 1
// ROLES: tracea_pipe.copy_out %{{.*}} to %{{.*}}[%{{.*}}, %[[N]]]
// ROLES: tracea_pipe.slice %{{.*}}[0, 64]
// ROLES-NEXT: arith.addf %{{.*}}, %[[BIAS1]]
// ROLES: tracea_pipe.load
// ROLES: tracea_pipe.copy_out
// ROLES: tracea_pipe.slice %{{.*}}[0, 128]
// ROLES: tracea_pipe.load
// ROLES: tracea_pipe.copy_out
// ROLES: tracea_pipe.slice %{{.*}}[0, 192]
// ROLES-NOT: tracea_pipe.load
// ROLES: tracea_pipe.copy_out
// ROLES-NOT: tracea_pipe.copy_out
// ROLES: tracea_pipe.wait_group copy pending 0

// PROVED: check = "protocol", claim = "3 roles, 1 channels, every trip count
// PROVED-SAME: check = "banks"
// PROVED-SAME: check = "coverage"
// PROVED-SAME: check = "resources"

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @main(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %bias: tensor<?xf32>, %d: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%d : tensor<?x?xbf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 256, 64], slots = 4, producers = 1, consumers = 2, group = 16>
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
