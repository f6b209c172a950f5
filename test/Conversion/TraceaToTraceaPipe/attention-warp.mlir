// Attention by the matrix units of warps: queries and outputs in registers, blocks
// of keys and values copied ahead.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse --split-input-file | FileCheck %s

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448>} {
// CHECK-LABEL: func.func @causal
// CHECK:         tracea_pipe.launch @attention_0
// CHECK-LABEL: tracea_pipe.kernel @attention_0(
// CHECK-SAME:    band = #tracea_pipe.band<result = 3, dim = 2, operands = [1, 2], dims = [2, 2], before = 300, after = 0>
// CHECK-SAME:    tracea_pipe.lane_copies, tracea_pipe.residents = 2 : i64, variant = "attention.warp", warps = 4 : i64
// CHECK:         tiles (%[[B:.*]], %[[H:.*]], %[[T:.*]]) in (%c2, %c8, %[[BLOCKS:.*]]) {
// The last queries, which see the most keys, come first.
// CHECK-DAG:       %[[LAST:.*]] = arith.subi %[[BLOCKS]], %c1
// CHECK:           %[[BLOCK:.*]] = arith.subi %[[LAST]], %[[T]]
// CHECK:           %[[I0:.*]] = arith.muli %[[BLOCK]], %c64
// CHECK:           %[[G:.*]] = arith.divui %[[H]], %c4
// Queries stay in registers, an instruction's depth each: 40 are three of 16.
// CHECK-COUNT-3:   tracea_pipe.load %arg0[%[[B]], %[[H]], %[[I0]], {{.*}}] {{.*}} -> tensor<64x16xbf16, #[[LEFT:.*]]>
// CHECK:           scf.for %[[J0:.*]] = %{{.*}} to %{{.*}} step %c64 iter_args(%[[O:.*]] = {{.*}}, %[[M:.*]] = {{.*}}, %[[L:.*]] = {{.*}}) -> (tensor<64x48xf32, #{{.*}}>, tensor<64x1xf32, #{{.*}}>, tensor<64x8xf32, #{{.*}}>)
// Rows of 64 elements, of which 40 are copied.
// CHECK:             %[[K:.*]] = tracea_pipe.stage %arg1[%[[B]], %[[G]], %[[J0]], %c0] {{.*}} padded [2, 3] slots 2 : {{.*}} -> tensor<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
// CHECK:             %[[V:.*]] = tracea_pipe.stage %arg2[%[[B]], %[[G]], %[[J0]], %c0]
// CHECK-COUNT-3:     tracea_pipe.mma {{.*}} : tensor<64x16xbf16, #[[LEFT]]>, tensor<16x64xbf16, #{{.*}}>, tensor<64x64xf32, #[[SCORES:.*]]>
// Only blocks at the edges are masked, each by the edge that cuts it.
// CHECK:             %[[LATE:.*]] = scf.if %{{.*}} -> (tensor<64x64xf32, #[[SCORES]]>) {
// CHECK:               tracea_pipe.coordinate dim 1 : tensor<64x64xi32
// CHECK:             } else {
// CHECK:             %[[S:.*]] = scf.if %{{.*}} -> (tensor<64x64xf32, #[[SCORES]]>) {
// CHECK:               arith.cmpi sge
// CHECK:               arith.select %{{.*}}, %[[LATE]]
// CHECK:             } else {
// CHECK:               scf.yield %[[LATE]]
// Maxima rise, and outputs decay, only where a warp finds a score far above its row's.
// CHECK-COUNT-7:     arith.maximumf {{.*}} : tensor<64x8xf32
// CHECK:             %[[BOUND:.*]] = arith.addf %[[M]]
// CHECK:             %[[RISES:.*]] = arith.cmpf ogt
// CHECK:             %[[RARE:.*]] = tracea_pipe.any %[[RISES]]
// CHECK:             %[[ROWS:.*]]:3 = scf.if %[[RARE]]
// CHECK:               tracea_pipe.reduce max
// CHECK:               %[[DECAY:.*]] = math.exp2
// CHECK:               arith.mulf %[[O]]
// CHECK:             } else {
// CHECK:               scf.yield %[[O]], %[[M]], %[[L]]
// CHECK:             math.fma %[[S]]
// CHECK:             %[[P:.*]] = math.exp2 {{.*}} {tracea_pipe.flushes} : tensor<64x64xf32
// CHECK-COUNT-8:     arith.addf {{.*}} : tensor<64x8xf32
// CHECK:             %[[ROUNDED:.*]] = arith.truncf %[[P]]
// A slice of what was accumulated is a left operand as it is.
// CHECK-NOT:         tracea_pipe.relayout
// CHECK-COUNT-4:     tracea_pipe.mma {{.*}} : tensor<64x16xbf16, #[[LEFT]]>, tensor<16x48xbf16
// CHECK:             scf.yield
// CHECK:           tracea_pipe.reduce add
// CHECK:           tracea_pipe.store {{.*}}, %arg3[%[[B]], %[[H]], %[[I0]], %c0] {{.*}} limits(%{{.*}}, %c40)
func.func @causal(%q: tensor<2x8x?x40xbf16>, %k: tensor<2x2x?x40xbf16>, %v: tensor<2x2x?x40xbf16>, %e: tensor<2x8x?x40xbf16>) -> tensor<2x8x?x40xbf16> {
  %0 = tracea.attention causal window [300, -1] ins(%q, %k, %v : tensor<2x8x?x40xbf16>, tensor<2x2x?x40xbf16>, tensor<2x2x?x40xbf16>) outs(%e : tensor<2x8x?x40xbf16>)
    schedule <variant = "attention.warp", unit = mma_sync, tile = [64, 64], registers = [16, 64], slots = 2, residents = 2> -> tensor<2x8x?x40xbf16>
  return %0 : tensor<2x8x?x40xbf16>
}
}

// -----

// Long heads: queries are read again from shared memory, and outputs are two tiles.
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448>} {
// CHECK-LABEL: func.func @long_heads
// CHECK-LABEL: tracea_pipe.kernel @attention_0(
// CHECK-NOT:     band =
// CHECK:         tracea_pipe.stage %arg0{{.*}} -> tensor<64x256xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9], panel = 64>>
// CHECK:         scf.for {{.*}} -> (tensor<64x128xf32, #{{.*}}>, tensor<64x80xf32, #{{.*}}>, tensor<64x1xf32, #{{.*}}>, tensor<64x8xf32
// CHECK:         tracea_pipe.store {{.*}}, %arg3[%{{.*}}, %{{.*}}, %{{.*}}, %c0]
// CHECK:         tracea_pipe.store {{.*}}, %arg3[%{{.*}}, %{{.*}}, %{{.*}}, %c128]
// CHECK:         math.log2
// CHECK:         tracea_pipe.store {{.*}}, %arg4
func.func @long_heads(%q: tensor<2x8x?x256xf16>, %k: tensor<2x8x?x256xf16>, %v: tensor<2x8x?x200xf16>, %e: tensor<2x8x?x200xf16>, %l: tensor<2x8x?xf32>) -> (tensor<2x8x?x200xf16>, tensor<2x8x?xf32>) {
  %0:2 = tracea.attention ins(%q, %k, %v : tensor<2x8x?x256xf16>, tensor<2x8x?x256xf16>, tensor<2x8x?x200xf16>)
    outs(%e : tensor<2x8x?x200xf16>) lse(%l : tensor<2x8x?xf32>)
    schedule <variant = "attention.warp", unit = mma_sync, tile = [64, 32], registers = [16, 32], slots = 2, reread = 1> -> tensor<2x8x?x200xf16>, tensor<2x8x?xf32>
  return %0#0, %0#1 : tensor<2x8x?x200xf16>, tensor<2x8x?xf32>
}
}

// -----

// Few queries: rows are the heads that share keys, parts of the keys are visited by
// workgroups of their own, and a second kernel merges what they leave.
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448>} {
// CHECK-LABEL: func.func @decode
// CHECK:         %[[PARTS:.*]]:2 = tracea_pipe.launch @[[FIRST:[a-z_0-9]+]] else {{.*}} -> tensor<3x2x24x1x40xf32>, tensor<3x2x24x1xf32>
// CHECK:         tracea_pipe.launch @[[MERGE:[a-z_0-9]+]] else {{.*}} ins(%[[PARTS]]#0, %[[PARTS]]#1 : {{.*}} -> tensor<2x24x1x40xbf16>, tensor<2x24x1xf32>
// One query sees all keys, causal or not: there is no band.
// CHECK:       tracea_pipe.kernel @[[FIRST]](
// CHECK-NOT:     band
// CHECK:         tiles (%[[P:.*]], %[[B:.*]], %[[G:.*]], %[[I:.*]], %[[H:.*]]) in (%c3, %c2, %c2, %c1, %c1) {
// CHECK-DAG:       %[[GROUP:.*]] = arith.muli %[[G]], %c12
// CHECK-DAG:       %[[HEAD:.*]] = arith.muli %[[H]], %c16
// CHECK:           %[[AT:.*]] = arith.addi %[[GROUP]], %[[HEAD]]
// CHECK:           tracea_pipe.load %arg0[%[[B]], %[[AT]], %[[I]], %c0] map #[[HEADS:.*]] limits
// CHECK:           %[[BEGIN:.*]] = arith.muli %[[P]], %c32
// CHECK:           scf.for %{{.*}} = %[[BEGIN]] to %c300 step %c96
// CHECK:             tracea_pipe.stage %arg1[%[[B]], %[[G]],
// CHECK:           tracea_pipe.store {{.*}}, %arg3[%[[P]], %[[B]], %[[AT]], %[[I]], %c0]
// CHECK:           tracea_pipe.store {{.*}}, %arg4[%[[P]], %[[B]], %[[AT]], %[[I]]]
// CHECK:       tracea_pipe.kernel @[[MERGE]](
// CHECK:         tiles
// CHECK-COUNT-3:   tracea_pipe.load %arg1[
// CHECK-COUNT-3:   math.exp2
// CHECK-COUNT-3:   tracea_pipe.load %arg0[
// CHECK:           tracea_pipe.store {{.*}}, %arg2[
// CHECK:           tracea_pipe.store {{.*}}, %arg3[
func.func @decode(%q: tensor<2x24x1x40xbf16>, %k: tensor<2x2x300x40xbf16>, %v: tensor<2x2x300x40xbf16>, %e: tensor<2x24x1x40xbf16>, %l: tensor<2x24x1xf32>) -> (tensor<2x24x1x40xbf16>, tensor<2x24x1xf32>) {
  %0:2 = tracea.attention causal ins(%q, %k, %v : tensor<2x24x1x40xbf16>, tensor<2x2x300x40xbf16>, tensor<2x2x300x40xbf16>) outs(%e : tensor<2x24x1x40xbf16>) lse(%l : tensor<2x24x1xf32>)
    schedule <variant = "attention.warp", unit = mma_sync, tile = [16, 32], registers = [16, 32], slots = 3, residents = 4, pack = 1, split = 3> -> tensor<2x24x1x40xbf16>, tensor<2x24x1xf32>
  return %0#0, %0#1 : tensor<2x24x1x40xbf16>, tensor<2x24x1xf32>
}
}

// -----

// A tile visits the blocks that its row of a mask shows. Two kernels list them: ranks, and the blocks at which they rise.
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448>} {
// CHECK-LABEL: func.func @blocks
// CHECK:         %[[RANKS:.*]] = tracea_pipe.launch @[[COUNT:[a-z_0-9]+]] ins(%arg3, %arg0, %arg1 :
// CHECK:         %[[BLOCKS:.*]] = tracea_pipe.launch @[[LIST:[a-z_0-9]+]] ins(%[[RANKS]] :
// CHECK:         tracea_pipe.launch @[[MAIN:[a-z_0-9]+]]{{.*}} ins(%arg0, %arg1, %arg2, %[[RANKS]], %[[BLOCKS]] :
// CHECK:       tracea_pipe.kernel @[[COUNT]](
// CHECK:         tiles (%{{.*}}, %{{.*}}, %[[ROW:.*]], %{{.*}}) in
// Blocks that the causal mask hides as a whole are none.
// CHECK:           tracea_pipe.read %arg0[%{{.*}}, %{{.*}}, %[[ROW]], %{{.*}}]
// CHECK:           arith.cmpi ne
// CHECK:           arith.cmpi sgt
// CHECK:           arith.andi
// CHECK:           arith.cmpi sle, {{.*}} : tensor<1x128xi32
// CHECK:           tracea_pipe.store {{.*}} : tensor<1x128xi32
// CHECK:       tracea_pipe.kernel @[[LIST]](
// CHECK:           tracea_pipe.read %arg0
// CHECK:           arith.cmpi sle, {{.*}} : tensor<1x128xi32
// CHECK:       tracea_pipe.kernel @[[MAIN]](
// CHECK-NOT:     band
// CHECK-SAME:    tracea_pipe.listed = {blocks = 4 : i64, columns = 128 : i64, counts = 3 : i64, dims = array<i64: 2, 2>, operands = array<i64: 1, 2>, result = 5 : i64, resultDims = array<i64: 0, 1, 2>, rows = 128 : i64}
// CHECK:         %[[R:.*]] = arith.divui %{{.*}}, %c128
// CHECK:         %[[COUNTED:.*]] = tracea_pipe.read %arg3[%{{.*}}, %{{.*}}, %[[R]], %[[N:.*]]]
// CHECK:         %[[CUT:.*]] = arith.minsi %[[COUNTED]], %[[N]]
// CHECK:         %[[END:.*]] = arith.muli %[[CUT]], %c128
// CHECK:         scf.for %[[AT:.*]] = %c0 to %[[END]] step %c64
// CHECK:           %[[T:.*]] = arith.divui %[[AT]], %c128
// CHECK:           %[[PLACE:.*]] = arith.minsi %[[T]], %[[N]]
// CHECK:           %[[BLOCK:.*]] = tracea_pipe.read %arg4[%{{.*}}, %{{.*}}, %[[R]], %[[PLACE]]]
// CHECK:           %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c128
// CHECK:           %[[REST:.*]] = arith.remui %[[AT]], %c128
// CHECK:           %[[J0:.*]] = arith.addi %[[FIRST]], %[[REST]]
// CHECK:           tracea_pipe.stage %arg1[%{{.*}}, %{{.*}}, %[[J0]], %c0]
// Only the edge of the causal mask is left to be compared.
// CHECK:           scf.if %{{[0-9]+}} -> (tensor<64x64xf32, #lanes{{[0-9]*}}>) {
// CHECK-NOT:       scf.if %{{[0-9]+}} -> (tensor<64x64xf32, #lanes{{[0-9]*}}>) {
// CHECK:           tracea_pipe.any
func.func @blocks(%q: tensor<2x8x1024x64xf16>, %k: tensor<2x8x1024x64xf16>, %v: tensor<2x8x1024x64xf16>, %m: tensor<1x8x8x8xi1>, %e: tensor<2x8x1024x64xf16>) -> tensor<2x8x1024x64xf16> {
  %0 = tracea.attention causal ins(%q, %k, %v : tensor<2x8x1024x64xf16>, tensor<2x8x1024x64xf16>, tensor<2x8x1024x64xf16>)
    block_mask(%m : tensor<1x8x8x8xi1>) block_size [128, 128] outs(%e : tensor<2x8x1024x64xf16>)
    schedule <variant = "attention.warp", unit = mma_sync, tile = [64, 64], registers = [16, 64], slots = 2> -> tensor<2x8x1024x64xf16>
  return %0 : tensor<2x8x1024x64xf16>
}
}

// -----

// Keys end where memory says for each batch, also for the parts of them.
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448>} {
// CHECK-LABEL: func.func @documents
// CHECK:       tracea_pipe.kernel @{{.*}}band = #tracea_pipe.band<result = 4, dim = 3, operands = [1, 2], dims = [2, 2]>{{.*}}tracea_pipe.ended = {lengths = 3 : i64, sequence = 1 : i64}
// CHECK:         tiles (%[[P:.*]], %[[B:.*]], %{{.*}}, %{{.*}}, %{{.*}}) in
// CHECK:           %[[LENGTH:.*]] = tracea_pipe.read %arg3[%[[B]]]
// CHECK:           %[[END:.*]] = arith.minsi %[[LENGTH]], %c300
// CHECK:           %[[BEGIN:.*]] = arith.muli %[[P]], %c32
// CHECK:           scf.for %{{.*}} = %[[BEGIN]] to %[[END]] step %c96
// CHECK:             scf.if {{.*}} -> (tensor<16x32xf32
func.func @documents(%q: tensor<2x24x1x40xbf16>, %k: tensor<2x2x300x40xbf16>, %v: tensor<2x2x300x40xbf16>, %l: tensor<2xi64>, %e: tensor<2x24x1x40xbf16>) -> tensor<2x24x1x40xbf16> {
  %0 = tracea.attention ins(%q, %k, %v : tensor<2x24x1x40xbf16>, tensor<2x2x300x40xbf16>, tensor<2x2x300x40xbf16>) lengths(%l : tensor<2xi64>) outs(%e : tensor<2x24x1x40xbf16>)
    schedule <variant = "attention.warp", unit = mma_sync, tile = [16, 32], registers = [16, 32], slots = 3, residents = 4, pack = 1, split = 3> -> tensor<2x24x1x40xbf16>
  return %0 : tensor<2x24x1x40xbf16>
}
}

// -----

// Heads behind rows, as projections leave them: kernels read and write through transpositions, which are gone.
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448>} {
// CHECK-LABEL: func.func @heads_behind(
// CHECK-NOT:     linalg.transpose
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<2x300x8x64xbf16>
// CHECK:         %[[R:.*]] = tracea_pipe.launch @[[NAME:[a-z_0-9]+]]{{.*}} ins(%arg0, %arg1, %arg2 : tensor<2x300x8x64xbf16>, tensor<2x300x2x64xbf16>, tensor<2x2x300x64xbf16>) outs(%[[E]]
// CHECK:         return %[[R]]
// CHECK:       tracea_pipe.kernel @[[NAME]](
// CHECK-SAME:    band = #tracea_pipe.band<result = 3, dim = 1, operands = [1, 2], dims = [1, 2], after = 0>
// CHECK:         tiles (%[[B:.*]], %[[H:.*]], %{{.*}}) in (%c2, %c8, %c5)
// CHECK:           %[[G:.*]] = arith.divui %[[H]], %c4
// CHECK:           tracea_pipe.load %arg0[%[[B]], %[[I0:.*]], %[[H]], %c0] map #[[BEHIND:.*]] limits
// CHECK:             tracea_pipe.stage %arg1[%[[B]], %[[J0:.*]], %[[G]], %c0] map #[[BEHIND]] padded [1, 3]
// CHECK:             tracea_pipe.stage %arg2[%[[B]], %[[G]], %[[J0]], %c0] map #{{.*}} padded [2, 3]
// CHECK:           tracea_pipe.store {{.*}}, %arg3[%[[B]], %[[I0]], %[[H]], %c0] map #[[BEHIND]]
func.func @heads_behind(%q: tensor<2x300x8x64xbf16>, %k: tensor<2x300x2x64xbf16>, %v: tensor<2x2x300x64xbf16>) -> tensor<2x300x8x64xbf16> {
  %0 = tensor.empty() : tensor<2x8x300x64xbf16>
  %1 = tensor.empty() : tensor<2x2x300x64xbf16>
  %2 = tensor.empty() : tensor<2x300x8x64xbf16>
  %qt = linalg.transpose ins(%q : tensor<2x300x8x64xbf16>) outs(%0 : tensor<2x8x300x64xbf16>) permutation = [0, 2, 1, 3]
  %kt = linalg.transpose ins(%k : tensor<2x300x2x64xbf16>) outs(%1 : tensor<2x2x300x64xbf16>) permutation = [0, 2, 1, 3]
  %r = tracea.attention causal ins(%qt, %kt, %v : tensor<2x8x300x64xbf16>, tensor<2x2x300x64xbf16>, tensor<2x2x300x64xbf16>) outs(%0 : tensor<2x8x300x64xbf16>)
    schedule <variant = "attention.warp", unit = mma_sync, tile = [64, 64], registers = [16, 64], slots = 2> -> tensor<2x8x300x64xbf16>
  %t = linalg.transpose ins(%r : tensor<2x8x300x64xbf16>) outs(%2 : tensor<2x300x8x64xbf16>) permutation = [0, 2, 1, 3]
  return %t : tensor<2x300x8x64xbf16>
}
}

// -----

// Values with a ring of their own are staged when there are weights.
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448>} {
// CHECK-LABEL: func.func @rings
// CHECK:           tracea_pipe.stage %arg1
// CHECK-NOT:       tracea_pipe.stage %arg2
// CHECK:           math.exp2 {{.*}} : tensor<64x64xf32
// CHECK:           tracea_pipe.stage %arg2
func.func @rings(%q: tensor<2x8x512x64xbf16>, %k: tensor<2x8x512x64xbf16>, %v: tensor<2x8x512x64xbf16>, %e: tensor<2x8x512x64xbf16>) -> tensor<2x8x512x64xbf16> {
  %0 = tracea.attention ins(%q, %k, %v : tensor<2x8x512x64xbf16>, tensor<2x8x512x64xbf16>, tensor<2x8x512x64xbf16>) outs(%e : tensor<2x8x512x64xbf16>)
    schedule <variant = "attention.warp", unit = mma_sync, tile = [64, 64], registers = [16, 64], slots = 2, rings = 2> -> tensor<2x8x512x64xbf16>
  return %0 : tensor<2x8x512x64xbf16>
}
}

// -----

// A transposition that all of three plans read through goes, although each plan finds its place by
// what stands before it.
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448>} {
// CHECK-LABEL: func.func @transposed
// CHECK-NEXT:    tracea_pipe.launch @attention_0 else [@attention_2, @attention_4, @attention_5] most [321059, 8289721, 0, 0] ins(%arg0, %arg0, %arg0 :
// CHECK-NEXT:    return
func.func @transposed(%x: tensor<2x512x8x64xbf16>, %e: tensor<2x8x512x64xbf16>) -> tensor<2x8x512x64xbf16> {
  %empty = tensor.empty() : tensor<2x8x512x64xbf16>
  %q = linalg.transpose ins(%x : tensor<2x512x8x64xbf16>) outs(%empty : tensor<2x8x512x64xbf16>) permutation = [0, 2, 1, 3]
  %0 = tracea.attention causal ins(%q, %q, %q : tensor<2x8x512x64xbf16>, tensor<2x8x512x64xbf16>, tensor<2x8x512x64xbf16>) outs(%e : tensor<2x8x512x64xbf16>)
    schedule <variant = "attention.warp", unit = mma_sync, tile = [16, 64], registers = [16, 64], slots = 2, residents = 2, most = 321059, otherwise =
             <variant = "attention.warp", unit = mma_sync, tile = [64, 64], registers = [16, 64], slots = 2, residents = 2, most = 8289721, otherwise =
             <variant = "attention.warp", unit = mma_sync, tile = [128, 64], registers = [32, 64], slots = 2, residents = 2>>> -> tensor<2x8x512x64xbf16>
  return %0 : tensor<2x8x512x64xbf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448>} {
// What is needed transposed by others is read so, and the rest as it lies.
// CHECK-LABEL: func.func @needed
// CHECK:         %[[K:.*]] = linalg.transpose ins(%arg1 :
// CHECK-NOT:     linalg.transpose
// CHECK:         tracea_pipe.launch @attention_0{{.*}} ins(%arg0, %[[K]], %arg2 : tensor<2x64x8x64xbf16>, tensor<2x8x64x64xbf16>, tensor<2x64x8x64xbf16>)
// CHECK:         return %{{.*}}, %[[K]]
func.func @needed(%q: tensor<2x64x8x64xbf16>, %k: tensor<2x64x8x64xbf16>, %v: tensor<2x64x8x64xbf16>, %e: tensor<2x8x64x64xbf16>) -> (tensor<2x8x64x64xbf16>, tensor<2x8x64x64xbf16>) {
  %qt = linalg.transpose ins(%q : tensor<2x64x8x64xbf16>) outs(%e : tensor<2x8x64x64xbf16>) permutation = [0, 2, 1, 3]
  %kt = linalg.transpose ins(%k : tensor<2x64x8x64xbf16>) outs(%e : tensor<2x8x64x64xbf16>) permutation = [0, 2, 1, 3]
  %vt = linalg.transpose ins(%v : tensor<2x64x8x64xbf16>) outs(%e : tensor<2x8x64x64xbf16>) permutation = [0, 2, 1, 3]
  %0 = tracea.attention ins(%qt, %kt, %vt : tensor<2x8x64x64xbf16>, tensor<2x8x64x64xbf16>, tensor<2x8x64x64xbf16>) outs(%e : tensor<2x8x64x64xbf16>)
    schedule <variant = "attention.warp", unit = mma_sync, tile = [64, 64], registers = [16, 64], slots = 2> -> tensor<2x8x64x64xbf16>
  return %0, %kt : tensor<2x8x64x64xbf16>, tensor<2x8x64x64xbf16>
}
}
