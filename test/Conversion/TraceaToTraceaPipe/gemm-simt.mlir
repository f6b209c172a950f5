// A product with bias and ReLU by lanes: from the operation to slots that are
// filled ahead, and everything that there is to prove proved.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse | FileCheck %s --check-prefix=TILE
// RUN: tracea-opt %s -o %t.mlir \
// RUN:     --pass-pipeline="builtin.module(convert-tracea-to-tracea-pipe,tracea-bufferize-host,tracea-pipeline-kernels,tracea_pipe.kernel(tracea-join-channels,tracea-multistage-prefetch,canonicalize,cse))"
// RUN: FileCheck %s --check-prefix=AHEAD < %t.mlir
// RUN: tracea-opt %t.mlir --pass-pipeline="%kernel_proofs" | FileCheck %s --check-prefix=PROVED
// Functions take several times the registers of their elements: of those one run of columns at a time, too.
// RUN: sed 's/arith.maximumf %%s, %%z/math.erf %%s/' %s | tracea-opt --convert-tracea-to-tracea-pipe --canonicalize --cse | FileCheck %s --check-prefix=FUNCTION
// Without copies beside lanes the loop hands a slot on when it has multiplied.
// RUN: sed s/sm_80/sm_75/g %s | sed 's/slots = 4/slots = 2/' | tracea-opt -o %t.75.mlir \
// RUN:     --pass-pipeline="builtin.module(convert-tracea-to-tracea-pipe,tracea-bufferize-host,tracea-pipeline-kernels,tracea_pipe.kernel(tracea-join-channels,tracea-multistage-prefetch,canonicalize,cse))"
// RUN: FileCheck %s --check-prefix=HELD < %t.75.mlir
// RUN: tracea-opt %t.75.mlir --pass-pipeline="%kernel_proofs" | FileCheck %s --check-prefix=PROVED-75

// Lanes are 4 by 8, and neighbours along either dimension differ in one of the
// first two bits. Runs of four, then as far away as all lanes reach.
// TILE-DAG: #[[ACC:.*]] = #tracea_pipe.lanes<reg = {{\[\[}}0, 1], [0, 2], [1, 0], [2, 0], [0, 64], [64, 0]], lane = {{\[\[}}0, 4], [4, 0], [0, 8], [8, 0], [0, 16]], warp = {{\[\[}}16, 0], [32, 0], [0, 32]], outer = [1, 1]>
// TILE-DAG: #[[A:.*]] = #tracea_pipe.lanes<reg = {{\[\[}}1, 0], [2, 0], [0, 1], [0, 2], [64, 0]], lane = {{\[\[}}0, 0], [4, 0], [0, 0], [8, 0], [0, 0]], warp = {{\[\[}}16, 0], [32, 0], [0, 0]]
// TILE-DAG: #[[B:.*]] = #tracea_pipe.lanes<reg = {{\[\[}}0, 1], [0, 2], [1, 0], [2, 0], [0, 64]], lane = {{\[\[}}0, 4], [0, 0], [0, 8], [0, 0], [0, 16]], warp = {{\[\[}}0, 0], [0, 0], [0, 32]]
// TILE-DAG: #[[EXCHANGED:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// Elements are copied one by one: one kernel for all memory.
// TILE: tracea_pipe.launch @gemm_0 ins
// TILE-NOT: tracea_pipe.aligned
// TILE: tracea_pipe.kernel @gemm_0({{.*}} tracea_pipe.lane_copies, tracea_pipe.residents = 2 : i64{{.*}} warps = 8
// TILE: scf.for {{.*}} -> (tensor<128x128xf32, #[[ACC]]>)
// Rows of both run along k: blocks have them across.
// TILE: %[[LHS:.*]] = tracea_pipe.stage {{.*}} map #[[EXCHANGED]] padded [0, 1] slots 4 : memref<?x?xf32> -> tensor<16x128xf32, #tracea_pipe.staged<swizzle = [4, 9, 5, 10, 6, 11]>>
// TILE: %[[RHS:.*]] = tracea_pipe.stage {{.*}} map #[[EXCHANGED]] padded [0, 1] slots 4
// TILE: %[[A0:.*]] = tracea_pipe.load %[[LHS]]{{.*}} -> tensor<128x4xf32, #[[A]]>
// TILE: %[[B0:.*]] = tracea_pipe.load %[[RHS]]{{.*}} -> tensor<4x128xf32, #[[B]]>
// TILE: tracea_pipe.mma %[[A0]], %[[B0]]
// TILE-COUNT-3: tracea_pipe.mma
// TILE-NOT: tracea_pipe.mma
// One run of rows of each lane at a time.
// TILE: tracea_pipe.slice %{{.*}}[0, 0] : tensor<128x128xf32, #[[ACC]]> -> tensor<64x128xf32, #[[PART:.*]]>
// TILE: arith.addf {{.*}} : tensor<64x128xf32, #[[PART]]>
// TILE: arith.maximumf
// TILE: tracea_pipe.store {{.*}} limits
// TILE: tracea_pipe.slice %{{.*}}[64, 0]
// TILE-NOT: tracea_pipe.kernel @gemm_1
// An operand with rows across k: whole pieces of it, elements of the other.
// RUN: sed 's/transpose_rhs//' %s | tracea-opt --convert-tracea-to-tracea-pipe | FileCheck %s --check-prefix=ACROSS
// ACROSS: tracea_pipe.launch @gemm_0 else [@gemm_1]
// ACROSS: tracea_pipe.kernel @gemm_0(%{{.*}}: memref<?x?xf32>, %{{.*}}: memref<?x?xf32> {tracea_pipe.aligned = 16 : i64}, %{{.*}}: memref<?xf32>, %{{.*}}: memref<?x?xf32>)
// ACROSS: tracea_pipe.stage {{.*}} -> tensor<16x128xf32, #tracea_pipe.staged<swizzle
// ACROSS: tracea_pipe.stage {{.*}} -> tensor<16x128xf32, #tracea_pipe.staged>
// ACROSS: tracea_pipe.kernel @gemm_1(
// ACROSS-NOT: tracea_pipe.aligned

// AHEAD: tracea_pipe.channel : <4 x(memref<16x128xf32, {{.*}}>, memref<16x128xf32, {{.*}}>)>
// AHEAD: tracea_pipe.wait
// AHEAD: tracea_pipe.load
// AHEAD: tracea_pipe.acquire
// AHEAD-COUNT-2: tracea_pipe.copy
// AHEAD-NEXT: tracea_pipe.commit
// AHEAD: tracea_pipe.mma

// PROVED: check = "protocol", claim = "1 roles, 1 channels, every trip count
// PROVED-SAME: check = "banks", claim = "8 accesses to staged memory take at most
// PROVED-SAME: check = "coverage"
// PROVED-SAME: check = "resources", claim = "shared 64 of 163 KiB, 256 threads

// HELD: tracea_pipe.held_copies
// HELD: tracea_pipe.wait
// HELD: tracea_pipe.acquire
// HELD-COUNT-2: tracea_pipe.copy
// HELD-NOT: tracea_pipe.commit
// HELD-COUNT-4: tracea_pipe.mma
// HELD: tracea_pipe.commit
// HELD-NOT: tracea_pipe.mma
// HELD: scf.yield
// PROVED-75: check = "protocol"
// PROVED-75-SAME: check = "banks"
// PROVED-75-SAME: check = "coverage"
// PROVED-75-SAME: check = "resources", claim = "shared 32 of 64 KiB, 256 threads

// FUNCTION: tracea_pipe.slice %[[SUM:.*]][0, 0] : tensor<128x128xf32, #{{.*}}> -> tensor<64x64xf32, #[[PIECE:.*]]>
// FUNCTION: math.erf {{.*}} : tensor<64x64xf32, #[[PIECE]]>
// FUNCTION: tracea_pipe.store
// FUNCTION: tracea_pipe.slice %[[SUM]][0, 64]
// FUNCTION: tracea_pipe.slice %[[SUM]][64, 0]
// FUNCTION: tracea_pipe.slice %[[SUM]][64, 64]
// FUNCTION: tracea_pipe.store
// FUNCTION-NOT: tracea_pipe.slice

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80", cores = 108>} {
func.func @main(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %bias: tensor<?xf32>, %d: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%d : tensor<?x?xf32>)
    schedule <variant = "gemm.simt", unit = vector, tile = [128, 128, 16], registers = [8, 8], slots = 4, group = 16>
    epilogue(%bias by affine_map<(i, j) -> (j)> : tensor<?xf32>) {
    ^bb0(%acc: f32, %bi: f32):
      %s = arith.addf %acc, %bi : f32
      %z = arith.constant 0.0 : f32
      %m = arith.maximumf %s, %z : f32
      tracea.yield %m : f32
    }
  return %0 : tensor<?x?xf32>
}
}
