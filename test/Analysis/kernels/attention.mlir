// Attention for a matrix unit: three rings (queries, keys, values), one producer,
// two teams that take turns at the unit. The product of block i with the values
// of block i - 1 runs while the scores of block i are computed.
// RUN: tracea-opt %s --pass-pipeline="%kernel_proofs" | FileCheck %s

// CHECK: tracea_pipe.kernel @attention
// CHECK-SAME: check = "protocol", claim = "3 roles, 3 channels, every trip count

#panels = #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9], panel = 64>
#rows3 = affine_map<(i, j) -> (0, i, j)>
#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(i, j) -> (j, i)>
// An accumulator of 64 x 128, which is also how the unit takes its left operand.
#acc = #tracea_pipe.lanes<
  reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]],
  lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>
#row = #tracea_pipe.lanes<
  reg = [[8, 0]], lane = [[0, 0], [0, 0], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>
!tile = memref<128x128xbf16, #panels>
!q_team = memref<64x128xbf16, strided<[128, 1], offset: ?>, #panels>
!k_t = memref<128x128xbf16, strided<[1, 128], offset: ?>, #panels>
!staging = memref<64x128xbf16, #panels>
!x = memref<?x?x128xbf16>
!q_ring = !tracea_pipe.channel<1 x (!tile)>
!kv_ring = !tracea_pipe.channel<2 x (!tile)>
!q_phase = !tracea_pipe.phase<1>
!kv_phase = !tracea_pipe.phase<2>
!f = tensor<64x128xf32, #acc>
!h = tensor<64x128xbf16, #acc>
!r = tensor<64x1xf32, #row>
!flight = !tracea_pipe.in_flight<!f>

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a",
                                                  triple = "nvptx64-nvidia-cuda", cpu = "sm_90a">} {
func.func @launch_attention(%Q: !x, %K: !x, %V: !x, %scale: f32, %workgroups: index, %O: !x) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a0 = memref.dim %Q, %c0 : !x
  %b0 = memref.dim %K, %c0 : !x
  %same0 = arith.cmpi eq, %a0, %b0 : index
  cf.assert %same0, "as many heads of keys"
  %a1 = memref.dim %Q, %c0 : !x
  %b1 = memref.dim %V, %c0 : !x
  %same1 = arith.cmpi eq, %a1, %b1 : index
  cf.assert %same1, "as many heads of values"
  %a2 = memref.dim %K, %c1 : !x
  %b2 = memref.dim %V, %c1 : !x
  %same2 = arith.cmpi eq, %a2, %b2 : index
  cf.assert %same2, "as many values as keys"
  %a3 = memref.dim %Q, %c0 : !x
  %b3 = memref.dim %O, %c0 : !x
  %same3 = arith.cmpi eq, %a3, %b3 : index
  cf.assert %same3, "as many heads of results"
  %a4 = memref.dim %Q, %c1 : !x
  %b4 = memref.dim %O, %c1 : !x
  %same4 = arith.cmpi eq, %a4, %b4 : index
  cf.assert %same4, "a result for each query"
  %some5 = arith.cmpi sge, %workgroups, %c1 : index
  cf.assert %some5, "a workgroup"
  tracea_pipe.launch @attention ins(%Q, %K, %V, %scale, %workgroups : !x, !x, !x, f32, index) outs(%O : !x)
  return
}
tracea_pipe.kernel @attention(%Q: !x, %K: !x, %V: !x, %scale: f32, %workgroups: index, %O: !x) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %heads = memref.dim %Q, %c0 : !x
  %queries = memref.dim %Q, %c1 : !x
  %keys = memref.dim %K, %c1 : !x
  %q_tiles = arith.ceildivsi %queries, %c128 : index
  %blocks = arith.ceildivsi %keys, %c128 : index
  %count = arith.muli %heads, %q_tiles : index
  tracea_pipe.tiles (%w) in (%workgroups) {
    %qs = tracea_pipe.channel : !q_ring
    %ks = tracea_pipe.channel : !kv_ring
    %vs = tracea_pipe.channel : !kv_ring
    %turns = tracea_pipe.order_barrier : !tracea_pipe.order_barrier<2>
    %q_start = tracea_pipe.start : !q_phase
    %kv_start = tracea_pipe.start : !kv_phase
    tracea_pipe.roles {
      tracea_pipe.role "producer" warps [0, 4] registers 24 {
        scf.for %t = %w to %count step %workgroups iter_args(%qp = %q_start, %kp = %kv_start, %vp = %kv_start)
            -> (!q_phase, !kv_phase, !kv_phase) {
          %head, %i = tracea_pipe.raster %t in (%heads, %q_tiles) group 1
          %q0 = arith.muli %i, %c128 : index
          %sq = tracea_pipe.acquire %qs[%qp] : !q_ring, !q_phase -> !tile
          tracea_pipe.copy %Q[%head, %q0, %c0] map #rows3 padded [1] to %sq : !x, !tile
          tracea_pipe.commit %qs[%qp] : !q_ring, !q_phase
          %qn = tracea_pipe.advance %qp : !q_phase
          // Keys lead values by one block.
          %some = arith.cmpi slt, %c0, %blocks : index
          %kn, %vn = scf.if %some -> (!kv_phase, !kv_phase) {
            %sk = tracea_pipe.acquire %ks[%kp] : !kv_ring, !kv_phase -> !tile
            tracea_pipe.copy %K[%head, %c0, %c0] map #rows3 padded [1] to %sk : !x, !tile
            tracea_pipe.commit %ks[%kp] : !kv_ring, !kv_phase
            %k1 = tracea_pipe.advance %kp : !kv_phase
            %l:2 = scf.for %j = %c1 to %blocks step %c1 iter_args(%kl = %k1, %vl = %vp) -> (!kv_phase, !kv_phase) {
              %j0 = arith.muli %j, %c128 : index
              %skl = tracea_pipe.acquire %ks[%kl] : !kv_ring, !kv_phase -> !tile
              tracea_pipe.copy %K[%head, %j0, %c0] map #rows3 padded [1] to %skl : !x, !tile
              tracea_pipe.commit %ks[%kl] : !kv_ring, !kv_phase
              %before = arith.subi %j0, %c128 : index
              %svl = tracea_pipe.acquire %vs[%vl] : !kv_ring, !kv_phase -> !tile
              tracea_pipe.copy %V[%head, %before, %c0] map #rows3 padded [1] to %svl : !x, !tile
              tracea_pipe.commit %vs[%vl] : !kv_ring, !kv_phase
              %kl1 = tracea_pipe.advance %kl : !kv_phase
              %vl1 = tracea_pipe.advance %vl : !kv_phase
              scf.yield %kl1, %vl1 : !kv_phase, !kv_phase
            }
            %past = arith.muli %blocks, %c128 : index
            %last = arith.subi %past, %c128 : index
            %sv = tracea_pipe.acquire %vs[%l#1] : !kv_ring, !kv_phase -> !tile
            tracea_pipe.copy %V[%head, %last, %c0] map #rows3 padded [1] to %sv : !x, !tile
            tracea_pipe.commit %vs[%l#1] : !kv_ring, !kv_phase
            %v1 = tracea_pipe.advance %l#1 : !kv_phase
            scf.yield %l#0, %v1 : !kv_phase, !kv_phase
          } else {
            scf.yield %kp, %vp : !kv_phase, !kv_phase
          }
          scf.yield %qn, %kn, %vn : !q_phase, !kv_phase, !kv_phase
        }
      }
      tracea_pipe.role "consumer" warps [4, 12] copies 2 registers 240 (%team) {
        %staging = tracea_pipe.scratch : !staging
        %mt = arith.muli %team, %c64 : index
        %zero = arith.constant dense<0.0> : !f
        %none = arith.constant dense<0.0> : !r
        %least = arith.constant dense<-1.0e30> : !r
        %lowest = arith.constant dense<-1.0e30> : !f
        %factor = tensor.splat %scale : !f
        scf.for %t = %w to %count step %workgroups iter_args(%qp = %q_start, %kp = %kv_start, %vp = %kv_start)
            -> (!q_phase, !kv_phase, !kv_phase) {
          %head, %i = tracea_pipe.raster %t in (%heads, %q_tiles) group 1
          // Queries stay in registers: their slot is free before the first block.
          %sq = tracea_pipe.wait %qs[%qp] : !q_ring, !q_phase -> !tile
          %q = tracea_pipe.load %sq[%mt, %c0] map #id : !tile -> !h
          tracea_pipe.release %qs[%qp] : !q_ring, !q_phase
          %qn = tracea_pipe.advance %qp : !q_phase
          %some = arith.cmpi slt, %c0, %blocks : index
          %o, %sum, %kn, %vn = scf.if %some -> (!f, !r, !kv_phase, !kv_phase) {
            %sk = tracea_pipe.wait %ks[%kp] : !kv_ring, !kv_phase -> !tile
            %kt = tracea_pipe.view %sk[%c0, %c0] map #transposed : !tile -> !k_t
            tracea_pipe.order_wait %turns[%team] : !tracea_pipe.order_barrier<2>
            %s0 = tracea_pipe.mma_async %q, %kt : !h, !k_t -> !flight
            tracea_pipe.commit_group mma
            tracea_pipe.order_arrive %turns[%team] : !tracea_pipe.order_barrier<2>
            %s1 = tracea_pipe.wait_group mma pending 0 (%s0 : !flight)
            tracea_pipe.release %ks[%kp] : !kv_ring, !kv_phase
            %k1 = tracea_pipe.advance %kp : !kv_phase
            %scaled = arith.mulf %s1, %factor : !f
            %column = tracea_pipe.coordinate dim 1 : tensor<64x128xindex, #acc>
            %end = tensor.splat %keys : tensor<64x128xindex, #acc>
            %inside = arith.cmpi slt, %column, %end : tensor<64x128xindex, #acc>
            %masked = arith.select %inside, %scaled, %lowest : tensor<64x128xi1, #acc>, !f
            %m1 = tracea_pipe.reduce max %masked dim 1 : !f -> !r
            %mb = tracea_pipe.broadcast %m1 : !r -> !f
            %d1 = arith.subf %masked, %mb : !f
            %p1 = math.exp2 %d1 : !f
            %l1 = tracea_pipe.reduce add %p1 dim 1 : !f -> !r
            %h1 = arith.truncf %p1 : !f to !h
            %b:6 = scf.for %j = %c1 to %blocks step %c1
                iter_args(%p = %h1, %max = %m1, %acc = %zero, %l = %l1, %kl = %k1, %vl = %vp)
                -> (!h, !r, !f, !r, !kv_phase, !kv_phase) {
              %skl = tracea_pipe.wait %ks[%kl] : !kv_ring, !kv_phase -> !tile
              %klt = tracea_pipe.view %skl[%c0, %c0] map #transposed : !tile -> !k_t
              tracea_pipe.order_wait %turns[%team] : !tracea_pipe.order_barrier<2>
              %s2 = tracea_pipe.mma_async %q, %klt : !h, !k_t -> !flight
              tracea_pipe.commit_group mma
              %sv = tracea_pipe.wait %vs[%vl] : !kv_ring, !kv_phase -> !tile
              %o0 = tracea_pipe.mma_async %p, %sv onto %acc : !h, !tile, !f -> !flight
              tracea_pipe.commit_group mma
              tracea_pipe.order_arrive %turns[%team] : !tracea_pipe.order_barrier<2>
              %s3 = tracea_pipe.wait_group mma pending 1 (%s2 : !flight)
              tracea_pipe.release %ks[%kl] : !kv_ring, !kv_phase
              %sc = arith.mulf %s3, %factor : !f
              %j0 = arith.muli %j, %c128 : index
              %left = arith.subi %keys, %j0 : index
              %cl = tracea_pipe.coordinate dim 1 : tensor<64x128xindex, #acc>
              %el = tensor.splat %left : tensor<64x128xindex, #acc>
              %il = arith.cmpi slt, %cl, %el : tensor<64x128xindex, #acc>
              %ml = arith.select %il, %sc, %lowest : tensor<64x128xi1, #acc>, !f
              %m2 = tracea_pipe.reduce max %ml dim 1 : !f -> !r
              %m3 = arith.maximumf %max, %m2 : !r
              %m3b = tracea_pipe.broadcast %m3 : !r -> !f
              %d2 = arith.subf %ml, %m3b : !f
              %p2 = math.exp2 %d2 : !f
              %fall = arith.subf %max, %m3 : !r
              %alpha = math.exp2 %fall : !r
              %l2 = tracea_pipe.reduce add %p2 dim 1 : !f -> !r
              %l3 = arith.mulf %l, %alpha : !r
              %l4 = arith.addf %l3, %l2 : !r
              %h2 = arith.truncf %p2 : !f to !h
              %o1 = tracea_pipe.wait_group mma pending 0 (%o0 : !flight)
              tracea_pipe.release %vs[%vl] : !kv_ring, !kv_phase
              %ab = tracea_pipe.broadcast %alpha : !r -> !f
              %o2 = arith.mulf %o1, %ab : !f
              %kl1 = tracea_pipe.advance %kl : !kv_phase
              %vl1 = tracea_pipe.advance %vl : !kv_phase
              scf.yield %h2, %m3, %o2, %l4, %kl1, %vl1 : !h, !r, !f, !r, !kv_phase, !kv_phase
            }
            %sv = tracea_pipe.wait %vs[%b#5] : !kv_ring, !kv_phase -> !tile
            %o3 = tracea_pipe.mma_async %b#0, %sv onto %b#2 : !h, !tile, !f -> !flight
            tracea_pipe.commit_group mma
            %o4 = tracea_pipe.wait_group mma pending 0 (%o3 : !flight)
            tracea_pipe.release %vs[%b#5] : !kv_ring, !kv_phase
            %v1 = tracea_pipe.advance %b#5 : !kv_phase
            scf.yield %o4, %b#3, %b#4, %v1 : !f, !r, !kv_phase, !kv_phase
          } else {
            scf.yield %zero, %none, %kp, %vp : !f, !r, !kv_phase, !kv_phase
          }
          %sb = tracea_pipe.broadcast %sum : !r -> !f
          %normal = arith.divf %o, %sb : !f
          %out = arith.truncf %normal : !f to !h
          tracea_pipe.wait_group copy pending 0
          tracea_pipe.store %out, %staging[%c0, %c0] map #id : !h, !staging
          tracea_pipe.sync
          %q00 = arith.muli %i, %c128 : index
          %q0 = arith.addi %q00, %mt : index
          %rest = arith.subi %queries, %q0 : index
          tracea_pipe.copy_out %staging to %O[%head, %q0, %c0] map #rows3 limits(%rest, %c128) : !staging, !x
          tracea_pipe.commit_group copy
          scf.yield %qn, %kn, %vn : !q_phase, !kv_phase, !kv_phase
        }
        tracea_pipe.wait_group copy pending 0
      }
    }
  }
  tracea_pipe.end
}
}
