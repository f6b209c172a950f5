// A product with few rows is computed transposed: its columns are the unit's
// rows, its rows are the unit's columns.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse | FileCheck %s --check-prefix=TILE
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --tracea-bufferize-host --tracea-pipeline-kernels -o %t.mlir
// RUN: tracea-opt %t.mlir -o %t.roles.mlir \
// RUN:     --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-join-channels,tracea-persistent-tiles,tracea-warp-specialize,tracea-async-mma,tracea-stage-epilogue,canonicalize,cse))"
// RUN: FileCheck %s --check-prefix=ROLES < %t.roles.mlir
// RUN: tracea-opt %t.roles.mlir --pass-pipeline="%kernel_proofs" | FileCheck %s --check-prefix=PROVED

// TILE: #[[SWAP:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// TILE: #[[COLUMN:.*]] = affine_map<(d0, d1) -> (d0)>
// TILE: tracea_pipe.kernel @gemm_0(%[[A:[a-z0-9]+]]: {{.*}}, %[[B:[a-z0-9]+]]: {{.*}}, %[[BIAS:[a-z0-9]+]]: {{.*}}, %[[D:[a-z0-9]+]]:
// TILE-SAME: pipeline = #tracea_pipe.pipeline<teams = 2, registers = [40, 232], workgroups = 132, pending = 1>
// TILE-SAME: variant = "gemm.skinny"
// TILE: scf.for {{.*}} -> (tensor<128x16xf32, #[[ACC:.*]]>)
// TILE: %[[AS:.*]] = tracea_pipe.stage %[[A]][{{.*}} slots 6 : {{.*}} -> tensor<16x64xbf16
// TILE: %[[BS:.*]] = tracea_pipe.stage %[[B]][{{.*}} slots 6 : {{.*}} -> tensor<64x128xbf16
// The left operand is the right one, transposed, and so is the other.
// TILE-DAG: %[[L:.*]] = tracea_pipe.view %[[BS]]{{.*}} map #[[SWAP]] : {{.*}} -> tensor<128x64xbf16
// TILE-DAG: %[[R:.*]] = tracea_pipe.view %[[AS]]{{.*}} map #[[SWAP]] : {{.*}} -> tensor<64x16xbf16
// TILE: tracea_pipe.mma %[[L]], %[[R]], %{{.*}} tensor<128x16xf32, #[[ACC]]>
// The bias is one of the result's columns: the accumulator's rows.
// TILE: tracea_pipe.load %[[BIAS]][%[[N:.*]]] map #[[COLUMN]] limits(%[[W:.*]], %c16)
// TILE: tracea_pipe.store %{{.*}}, %[[D]][%[[M:.*]], %[[N]]] map #[[SWAP]] limits(%[[W]], %[[H:.*]]) : tensor<128x16xbf16

// ROLES-DAG: #[[ID:map[0-9]*]] = affine_map<(d0, d1) -> (d0, d1)>
// ROLES-DAG: #[[SWAP:map[0-9]*]] = affine_map<(d0, d1) -> (d1, d0)>
// ROLES: tracea_pipe.channel : <6 x(memref<16x64xbf16, {{.*}}>, memref<64x128xbf16, {{.*}} panel = 64>>)>
// ROLES: tracea_pipe.role "producer" warps [0, 4] registers 40 {
// ROLES-COUNT-2: tracea_pipe.copy %
// ROLES: tracea_pipe.role "consumer" warps [4, 12] copies 2 registers 232 (%[[TEAM:.*]]) {
// A buffer in memory's order: rows of 64 columns of the result.
// ROLES: %[[BUFFER:.*]] = tracea_pipe.scratch : memref<16x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
// ROLES-NOT: tracea_pipe.scratch
// A team multiplies 64 rows of the left operand: columns of the result.
// ROLES: %[[HALF:.*]] = arith.muli %[[TEAM]], %c64
// ROLES: %[[AT:.*]] = arith.addi %{{.*}}, %[[HALF]]
// What the epilogue loads arrives while the sum is computed.
// ROLES: %[[X:.*]] = tracea_pipe.load %{{.*}}[%[[AT]]] {{.*}} -> tensor<64x16xf32
// ROLES: tracea_pipe.mma_async {{.*}} -> !tracea_pipe.in_flight<tensor<64x16xf32
// ROLES: tracea_pipe.wait_group mma pending 0 (
// ROLES: arith.addf %{{.*}}, %[[X]]
// ROLES: tracea_pipe.wait_group copy pending 0
// ROLES-NEXT: tracea_pipe.store %{{.*}}, %[[BUFFER]][%c0, %c0] map #[[SWAP]] : tensor<64x16xbf16
// ROLES-NEXT: tracea_pipe.sync
// ROLES-NEXT: tracea_pipe.copy_out %[[BUFFER]] to %{{.*}}[%{{.*}}, %[[AT]]] map #[[ID]] limits(
// ROLES-NEXT: tracea_pipe.commit_group copy

// PROVED: check = "protocol", claim = "3 roles, 1 channels, every trip count
// PROVED-SAME: check = "banks"
// PROVED-SAME: check = "coverage", claim = "all elements of 1 result written exactly once
// PROVED-SAME: check = "resources"

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @main(%a: tensor<?x?xbf16>, %b: tensor<?x4096xbf16>, %bias: tensor<4096xf32>, %d: tensor<?x4096xbf16>) -> tensor<?x4096xbf16> {
  %0 = tracea.gemm ins(%a, %b : tensor<?x?xbf16>, tensor<?x4096xbf16>) outs(%d : tensor<?x4096xbf16>)
    schedule <variant = "gemm.skinny", unit = wgmma, tile = [16, 128, 64], slots = 6, producers = 1, consumers = 2>
    epilogue(%bias by affine_map<(i, j) -> (j)> : tensor<4096xf32>) {
    ^bb0(%acc: f32, %bi: f32):
      %s = arith.addf %acc, %bi : f32
      %t = arith.truncf %s : f32 to bf16
      tracea.yield %t : bf16
    }
  return %0 : tensor<?x4096xbf16>
}
}
