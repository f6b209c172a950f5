// A product whose epilogue has four results: one tile more is stored, rows and
// columns of another are reduced to partial values, which kernels of their own
// reduce. Everything that there is to prove is proved, for any number of rows.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse | FileCheck %s --check-prefix=TILE
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --tracea-bufferize-host --tracea-pipeline-kernels -o %t.mlir
// RUN: tracea-opt %t.mlir -o %t.roles.mlir \
// RUN:     --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-join-channels,tracea-persistent-tiles,tracea-warp-specialize,tracea-async-mma,tracea-stage-epilogue,canonicalize,cse))"
// RUN: FileCheck %s --check-prefix=ROLES < %t.roles.mlir
// RUN: tracea-opt %t.roles.mlir --pass-pipeline="%kernel_proofs" | FileCheck %s --check-prefix=PROVED

// TILE: %[[TILES:.*]] = arith.ceildivsi %{{.*}}, %c128
// TILE: %[[GROUPS:.*]] = arith.muli %[[TILES]], %c8
// TILE: %[[COLUMNS:.*]] = tensor.empty(%[[GROUPS]]) : tensor<?x512xf32>
// TILE: %[[L:.*]]:4 = tracea_pipe.launch @gemm_0 {{.*}} -> {{.*}}
// TILE: %[[R:.*]] = tracea_pipe.launch @gemm_1 ins(%[[L]]#2 : tensor<8x?xf32>)
// Nobody knows how many there are: blocks of 64 come first.
// TILE: %[[BLOCKS:.*]] = arith.ceildivsi %{{.*}}, %c64
// TILE: %[[EMPTY:.*]] = tensor.empty(%[[BLOCKS]]) : tensor<?x512xf32>
// TILE: %[[B:.*]] = tracea_pipe.launch @gemm_2 ins(%[[L]]#3 : tensor<?x512xf32>) outs(%[[EMPTY]]
// TILE: %[[C:.*]] = tracea_pipe.launch @gemm_3 ins(%[[B]] : tensor<?x512xf32>)
// TILE: return %[[L]]#0, %[[L]]#1, %[[R]], %[[C]]

// TILE: tracea_pipe.kernel @gemm_0(
// TILE-SAME: %[[Y:[a-z0-9]+]]: memref<?x512xbf16> {tracea_pipe.aligned = 16 : i64}, %[[F:[a-z0-9]+]]: memref<?x512xf8E4M3FN> {tracea_pipe.aligned = 16 : i64}, %[[PR:[a-z0-9]+]]: memref<8x?xf32>, %[[PC:[a-z0-9]+]]: memref<?x512xf32>
// TILE: tracea_pipe.mma
// TILE: tracea_pipe.store %{{.*}}, %[[Y]]
// TILE: tracea_pipe.store %{{.*}}, %[[F]]
// Four partial values of a row of a tile.
// TILE: %[[S0:.*]] = tracea_pipe.slice %{{.*}}[0, 0]
// TILE: %[[R0:.*]] = tracea_pipe.reduce add %[[S0]] dim 1 : tensor<128x64xf32, {{.*}} -> tensor<128x1xf32
// TILE: tracea_pipe.store %[[R0]], %[[PR]]
// TILE-COUNT-3: tracea_pipe.reduce add %{{.*}} dim 1
// Rows past the end are left out; a warp reduces its own rows.
// TILE: tracea_pipe.coordinate dim 0
// TILE: arith.select
// TILE: tracea_pipe.reduce max %{{.*}} dim 0 : tensor<128x64xf32, {{.*}} -> tensor<8x64xf32
// TILE: tracea_pipe.store %{{.*}}, %[[PC]]

// TILE: tracea_pipe.kernel @gemm_1(%[[P:[a-z0-9]+]]: memref<8x?xf32>, %[[OUT:[a-z0-9]+]]: memref<?xf32>)
// TILE-SAME: warps = 4
// TILE: tracea_pipe.load %[[P]]{{.*}} padding
// TILE: tracea_pipe.reduce add %{{.*}} dim 0 : tensor<8x32xf32, {{.*}} -> tensor<1x32xf32
// TILE: tracea_pipe.store %{{.*}}, %[[OUT]]

// With each part of the stored tiles leave the partial values of its columns.
// ROLES: tracea_pipe.role "consumer"
// ROLES: tracea_pipe.slice %{{.*}}[0, 0]
// ROLES: tracea_pipe.copy_out %{{.*}} memref<?x512xbf16>
// ROLES: tracea_pipe.copy_out %{{.*}} memref<?x512xf8E4M3FN>
// ROLES: tracea_pipe.reduce add %{{.*}} dim 1 : tensor<64x64xf32, {{.*}} -> tensor<64x1xf32
// ROLES: tracea_pipe.reduce max %{{.*}} dim 0 : tensor<64x64xf32, {{.*}} -> tensor<4x64xf32
// ROLES: tracea_pipe.slice %{{.*}}[0, 64]
// ROLES: tracea_pipe.copy_out
// ROLES-NOT: tensor<64x256xf32, #{{.*}}> to

// PROVED: tracea_pipe.kernel @gemm_0
// PROVED-SAME: check = "protocol"
// PROVED-SAME: check = "banks"
// PROVED-SAME: check = "coverage", claim = "all elements of 4 results written exactly once
// PROVED-SAME: check = "resources"
// PROVED: tracea_pipe.kernel @gemm_1
// PROVED-SAME: check = "coverage", claim = "all elements of 1 result written exactly once
// PROVED: tracea_pipe.kernel @gemm_2
// PROVED-SAME: check = "coverage", claim = "all elements of 1 result written exactly once
// PROVED: tracea_pipe.kernel @gemm_3
// PROVED-SAME: check = "coverage", claim = "all elements of 1 result written exactly once

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @main(%a: tensor<?x256xbf16>, %b: tensor<512x256xbf16>, %d: tensor<?x512xbf16>, %e: tensor<?x512xf8E4M3FN>, %rows: tensor<?xf32>, %columns: tensor<512xf32>)
    -> (tensor<?x512xbf16>, tensor<?x512xf8E4M3FN>, tensor<?xf32>, tensor<512xf32>) {
  %0:4 = tracea.gemm transpose_rhs ins(%a, %b : tensor<?x256xbf16>, tensor<512x256xbf16>) outs(%d : tensor<?x512xbf16>)
    aux(%e by affine_map<(m, n) -> (m, n)>, add %rows by affine_map<(m, n) -> (m)>, max %columns by affine_map<(m, n) -> (n)>
        : tensor<?x512xf8E4M3FN>, tensor<?xf32>, tensor<512xf32>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 256, 64], slots = 3, producers = 1, consumers = 2, group = 16>
    epilogue {
    ^bb0(%acc: f32):
      %h = arith.truncf %acc : f32 to bf16
      %f = arith.truncf %acc : f32 to f8E4M3FN
      %q = arith.mulf %acc, %acc : f32
      tracea.yield %h, %f, %q, %acc : bf16, f8E4M3FN, f32, f32
    }
  return %0#0, %0#1, %0#2, %0#3 : tensor<?x512xbf16>, tensor<?x512xf8E4M3FN>, tensor<?xf32>, tensor<512xf32>
}
}
