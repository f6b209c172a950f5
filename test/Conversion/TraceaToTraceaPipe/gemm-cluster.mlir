// A sum in four parts that the workgroups of a cluster add up in their
// memories: one kernel, and everything that there is to prove proved.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse | FileCheck %s --check-prefix=TILE
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --tracea-bufferize-host --tracea-pipeline-kernels -o %t.mlir
// RUN: tracea-opt %t.mlir -o %t.roles.mlir \
// RUN:     --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-join-channels,tracea-cluster-reduce,tracea-persistent-tiles,tracea-warp-specialize,tracea-async-mma,tracea-stage-epilogue,canonicalize,cse))"
// RUN: FileCheck %s --check-prefix=ROLES < %t.roles.mlir
// RUN: tracea-opt %t.roles.mlir --pass-pipeline="%kernel_proofs" | FileCheck %s --check-prefix=PROVED
// RUN: tracea-opt %t.roles.mlir --convert-tracea-pipe-to-nvvm --tracea-nvvm-to-llvm -o %t.nvvm.mlir
// RUN: FileCheck %s --check-prefix=NVVM < %t.nvvm.mlir
// RUN: tracea-opt %t.nvvm.mlir --pass-pipeline="builtin.module(llvm.func(tracea-verify-target-protocol{require-proof=true}))" \
// RUN:   | FileCheck %s --check-prefix=TARGET

// One kernel; workgroup p of a cluster has steps [16 p, 16 p + 16) of 64, and
// rows [32 p, 32 p + 32) of the tile.
// TILE: func.func @main(
// TILE: tracea_pipe.launch @gemm_0
// TILE-NOT: tracea_pipe.launch
// TILE: tracea_pipe.kernel @gemm_0(
// TILE: tiles (%[[PART:.*]], %[[I:.*]], %[[J:.*]]) in (%c4, %{{.*}}, %c4{{.*}}) cluster 4
// TILE: %[[M:.*]] = arith.muli %[[I]], %c128
// TILE: %[[FIRST:.*]] = arith.muli %[[PART]], %c16
// TILE: %[[SUM:.*]] = scf.for
// TILE: %[[MINE:.*]] = tracea_pipe.cluster_sum %[[SUM]] part %[[PART]] : tensor<128x128xf32, #[[ACC:.*]]> -> tensor<32x128xf32, #[[ROWS:.*]]>
// TILE: %[[ROW:.*]] = arith.muli %[[PART]], %c32
// TILE: %[[AT:.*]] = arith.addi %[[M]], %[[ROW]]
// TILE: arith.addf %[[MINE]], %{{.*}} : tensor<32x128xf32, #[[ROWS]]>
// TILE: tracea_pipe.store %{{.*}}[%[[AT]],

// The memory belongs to the workgroup; each team has its rows of it.
// ROLES: tiles (%[[PART:.*]], %{{.*}}, %{{.*}}) in
// ROLES-DAG: %[[MEMORY:.*]] = tracea_pipe.scratch : memref<128x128xf32, #tracea_pipe.staged<swizzle = [5, 7, 6, 8, 4, 9], panel = 32>>
// ROLES-DAG: %[[Q1:.*]] = arith.xori %[[PART]], %c1
// ROLES-DAG: %[[Q2:.*]] = arith.xori %[[PART]], %c2
// ROLES-DAG: %[[Q3:.*]] = arith.xori %[[PART]], %c3
// ROLES: tracea_pipe.role "producer"
// ROLES-NOT: tracea_pipe.cluster
// ROLES: tracea_pipe.role "consumer" {{.*}} (%[[TEAM:.*]]) {
// The bias arrives while the cluster meets.
// ROLES: tracea_pipe.load {{.*}} : memref<512xf32>
// ROLES: tracea_pipe.store %{{.*}}, %[[MEMORY]][%{{.*}}, %c0]
// ROLES-NEXT: tracea_pipe.cluster_arrive
// ROLES-NEXT: tracea_pipe.cluster_wait
// ROLES: %[[A:.*]] = tracea_pipe.load %[[MEMORY]]
// ROLES-NEXT: %[[P1:.*]] = tracea_pipe.peer %[[MEMORY]][%[[Q1]]]
// ROLES-NEXT: %[[B:.*]] = tracea_pipe.load %[[P1]]
// ROLES-NEXT: %[[P2:.*]] = tracea_pipe.peer %[[MEMORY]][%[[Q2]]]
// ROLES-NEXT: %[[C:.*]] = tracea_pipe.load %[[P2]]
// ROLES-NEXT: %[[P3:.*]] = tracea_pipe.peer %[[MEMORY]][%[[Q3]]]
// ROLES-NEXT: %[[D:.*]] = tracea_pipe.load %[[P3]]
// ROLES-NEXT: %[[AB:.*]] = arith.addf %[[A]], %[[B]]
// ROLES-NEXT: %[[ABC:.*]] = arith.addf %[[AB]], %[[C]]
// ROLES-NEXT: arith.addf %[[ABC]], %[[D]]
// ROLES-NEXT: tracea_pipe.cluster_arrive
// A warp's lanes write whole sectors themselves.
// ROLES-NOT: tracea_pipe.copy_out
// ROLES: tracea_pipe.store
// ROLES-NEXT: tracea_pipe.cluster_wait

// PROVED: check = "protocol", claim = "4 roles, 4 channels, every trip count
// PROVED-SAME: check = "banks"
// PROVED-SAME: check = "coverage", claim = "all elements of 1 result written exactly once, 1 sum in them as defined with each term once, {{.*}}1 slot filled from registers
// PROVED-SAME: check = "resources"

// NVVM: llvm.func @gemm_0(
// NVVM-SAME: nvvm.cluster_dim = array<i32: 4, 1, 1>
// Two neighbours of a lane are one store.
// NVVM: llvm.store %{{.*}}, %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<3>
// NVVM: nvvm.cluster.arrive {aligned}
// NVVM-NEXT: nvvm.cluster.wait {aligned}
// NVVM: nvvm.mapa
// NVVM: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<7> -> vector<4xf32>
// The loads are over when it arrives.
// NVVM: nvvm.cluster.arrive {aligned}
// NVVM: nvvm.cluster.wait {aligned}

// TARGET: tracea_pipe.certificates = [#tracea_pipe.certificate<check = "target-protocol", claim = "{{.*}} roles, 1 rings, every trip count"

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", cores = 132>} {
func.func @main(%a: tensor<?x4096xbf16>, %b: tensor<512x4096xbf16>, %bias: tensor<512xf32>, %d: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<?x4096xbf16>, tensor<512x4096xbf16>) outs(%d : tensor<?x512xbf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 128, 64], slots = 4, producers = 1, consumers = 2, split = 4, cluster = 4>
    epilogue(%bias by affine_map<(i, j) -> (j)> : tensor<512xf32>) {
    ^bb0(%acc: f32, %bi: f32):
      %s = arith.addf %acc, %bi : f32
      %t = arith.truncf %s : f32 to bf16
      tracea.yield %t : bf16
    }
  return %0 : tensor<?x512xbf16>
}
}
