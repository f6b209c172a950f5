// Two teams take tiles in turn out of one ring: each has whole tiles and all of
// their rows, and finishes one while the other multiplies.
// RUN: tracea-opt %s --tracea-compile="target=sm_90a to=pipeline require-proof=true" -o %t.pipeline
// RUN: FileCheck %s --check-prefix=PIPELINE < %t.pipeline
// What has its turns is left alone when it is read again.
// RUN: tracea-opt %t.pipeline --tracea-compile="from=pipeline to=pipeline require-proof=true" | diff %t.pipeline -
// RUN: tracea-opt %s --tracea-compile="target=sm_90a require-proof=true" -o %t.target
// RUN: FileCheck %s --check-prefix=TARGET < %t.target

// PIPELINE-LABEL: tracea_pipe.kernel @gemm_0(
// PIPELINE-SAME: pipeline = #tracea_pipe.pipeline<registers = [24, 240], workgroups = 132, pending = 1, ping_pong = 2>
// PIPELINE-SAME: check = "protocol", claim = "3 roles, 1 channels, every trip count"
// PIPELINE-SAME: claim = "all elements of 1 result written exactly once, 1 sum in them as defined with each term once
// PIPELINE-SAME: registers 24/240/240 of 65536
// PIPELINE-SAME: check = "numerics", claim = "class [[CLASS:[0-9a-f]+]]:
// PIPELINE: %[[RING:.*]] = tracea_pipe.channel in_turns : <4 x
// PIPELINE: %[[START:.*]] = tracea_pipe.start
// PIPELINE: %[[TURNS:.*]] = tracea_pipe.order_barrier : <2>
// PIPELINE: tracea_pipe.role "producer" warps [0, 4] registers 24 {
// PIPELINE-NOT: order_wait
// PIPELINE: tracea_pipe.role "consumer" warps [4, 12] copies 2 registers 240 (%[[TEAM:.*]]) {
// PIPELINE: %[[FIRST:.*]] = arith.cmpi eq, %[[TEAM]], %c0
// PIPELINE: %[[WALK:.*]]:2 = scf.for {{.*}} iter_args(%[[PHASE:.*]] = %[[START]], %[[MINE:.*]] = %[[FIRST]])
// PIPELINE: scf.if %[[MINE]]
// The bias comes while another team multiplies.
// PIPELINE: tracea_pipe.load
// PIPELINE-NEXT: tracea_pipe.order_wait %[[TURNS]][%[[TEAM]]]
// PIPELINE: tracea_pipe.wait %[[RING]][%[[PHASE]]]
// PIPELINE: mma_async {{.*}} -> !tracea_pipe.in_flight<tensor<128x192xf32
// PIPELINE: scf.for
// PIPELINE: mma_async
// PIPELINE: scf.yield
// The last multiply is under way when the other team begins.
// PIPELINE: tracea_pipe.order_arrive %[[TURNS]][%[[TEAM]]]
// PIPELINE-NEXT: tracea_pipe.wait_group mma pending 0
// PIPELINE-NEXT: tracea_pipe.release %[[RING]]
// PIPELINE-COUNT-3: tracea_pipe.copy_out
// What others read is only walked past.
// PIPELINE: } else {
// PIPELINE-NEXT: tracea_pipe.advance %[[PHASE]]
// PIPELINE-NEXT: scf.for
// PIPELINE-NEXT: tracea_pipe.advance
// PIPELINE-NEXT: scf.yield
// PIPELINE-NEXT: }
// PIPELINE-NEXT: scf.yield
// PIPELINE: arith.xori %[[MINE]], %true
// After an odd number of tiles the second team brings the turn back.
// PIPELINE: %[[OTHER:.*]] = arith.cmpi ne, %[[TEAM]], %c0
// PIPELINE-NEXT: %[[LEFT:.*]] = arith.andi %[[WALK]]#1, %[[OTHER]]
// PIPELINE-NEXT: scf.if %[[LEFT]] {
// PIPELINE-NEXT: tracea_pipe.order_wait
// PIPELINE-NEXT: tracea_pipe.order_arrive

// Teams that share the rows of each tile compute the same.
// PIPELINE-LABEL: tracea_pipe.kernel @gemm_1(
// PIPELINE-SAME: teams = 2
// PIPELINE-SAME: check = "numerics", claim = "class [[CLASS]]:

// PIPELINE-LABEL: tracea_pipe.kernel @gemm_2(
// PIPELINE-SAME: ping_pong = 2
// PIPELINE-SAME: check = "coverage"
// The turn is passed on whether there are terms or not.
// PIPELINE: role "consumer"
// PIPELINE-COUNT-2: order_arrive
// PIPELINE: } else {

// TARGET-LABEL: llvm.func @gemm_0(
// TARGET-SAME: tracea_pipe.certificates = [#tracea_pipe.certificate<check = "target-protocol", claim = "4 roles, 1 rings, every trip count"
// One arrival gives a slot back.
// TARGET: %[[ONE:.*]] = llvm.mlir.constant(1 : i32)
// TARGET-COUNT-8: nvvm.mbarrier.init {{.*}}, %[[ONE]]
// TARGET: nvvm.setmaxregister decrease 24
// TARGET: nvvm.setmaxregister increase 240
// TARGET: bar.arrive
// TARGET-COUNT-2: wgmma.mma_async.sync.aligned.m64n192k16
#bias = affine_map<(i, j) -> (j)>
func.func @in_turn(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>, %bias: tensor<4096xf32>, %d: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>)
    outs(%d : tensor<4096x4096xbf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 192, 64], slots = 4, producers = 1, consumers = 1, group = 16, ping_pong = 2>
    epilogue(%bias by #bias : tensor<4096xf32>) {
    ^bb0(%sum: f32, %x: f32):
      %y = arith.addf %sum, %x : f32
      %z = arith.truncf %y : f32 to bf16
      tracea.yield %z : bf16
    }
  return %0 : tensor<4096x4096xbf16>
}

func.func @together(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>, %bias: tensor<4096xf32>, %d: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>)
    outs(%d : tensor<4096x4096xbf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 192, 64], slots = 4, producers = 1, consumers = 2, group = 16>
    epilogue(%bias by #bias : tensor<4096xf32>) {
    ^bb0(%sum: f32, %x: f32):
      %y = arith.addf %sum, %x : f32
      %z = arith.truncf %y : f32 to bf16
      tracea.yield %z : bf16
    }
  return %0 : tensor<4096x4096xbf16>
}

// Sizes that only the run knows, rows across k, 64 rows a team.
func.func @any_size(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %d: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %0 = tracea.gemm transpose_lhs ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>)
    outs(%d : tensor<?x?xf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [64, 256, 64], slots = 4, producers = 1, consumers = 1, ping_pong = 2>
  return %0 : tensor<?x?xf16>
}
