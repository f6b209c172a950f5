// Attention: blocks of keys pass by a block of queries; the scores are never in
// memory as a whole.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse --split-input-file | FileCheck %s

// CHECK-DAG:   #[[TILE:lanes[0-9]*]] = #tracea_pipe.lanes<reg = {{\[\[}}0, 4], [1, 0], [2, 0]], lane = {{\[\[}}0, 1], [0, 2]], outer = [1, 1]>
// CHECK-DAG:   #[[PART:lanes[0-9]*]] = #tracea_pipe.lanes<reg = {{\[\[}}1, 0], [2, 0]], lane = {{\[\[}}0, 1], [0, 2]], outer = [1, 1]>
// CHECK-DAG:   #[[ROWS:lanes[0-9]*]] = #tracea_pipe.lanes<reg = {{\[\[}}1, 0], [2, 0]], lane = {{\[\[}}0, 0], [0, 0]], outer = [1, 1]>
// CHECK-LABEL: func.func @causal
// CHECK-COUNT-1: cf.assert %{{.*}}, "tracea.attention: expected length of key and value to be equal"
// CHECK-NOT:     cf.assert
// CHECK:         tracea_pipe.launch @attention_0 ins(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}}) outs(%{{.*}}, %{{.*}} : tensor<2x4x10x5xf32>, tensor<2x4x10xf32>)
// CHECK-LABEL: tracea_pipe.kernel @attention_0(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: memref<2x4x10x6xf32>, %[[K:[a-z0-9]+]]: memref<2x2x?x6xf32>, %[[V:[a-z0-9]+]]: memref<2x2x?x5xf32>, %[[O:[a-z0-9]+]]: memref<2x4x10x5xf32>, %[[L:[a-z0-9]+]]: memref<2x4x10xf32>
// CHECK-DAG:     %[[LOWEST:.*]] = arith.constant dense<0xFF800000> : tensor<4x8xf32, #[[TILE]]>
// CHECK-DAG:     %[[LEN:.*]] = memref.dim %[[K]], %c2
// The grid: batch, heads of the query, blocks of eight rows.
// CHECK:         tiles (%[[B:.*]], %[[H:.*]], %[[I:.*]]) in (%c2, %c4, %c2)
// CHECK-DAG:       %[[I0:.*]] = arith.muli %[[I]], %c8
// Two heads of the query share one of the key: head / 2.
// CHECK-DAG:       %[[KH:.*]] = arith.divui %[[H]], %c2
// CHECK-DAG:       %[[SHIFT:.*]] = arith.subi %[[LEN]], %c10
// Scores of one strip, outputs of the block (5 columns in a register tile of 8), the
// maximum of every row, and its sum in lanes.
// CHECK:           %[[SCORES:.*]] = tracea_pipe.scratch : memref<4x16xf32, #tracea_pipe.staged>
// CHECK:           %[[OUT:.*]] = tracea_pipe.scratch : memref<8x8xf32, #tracea_pipe.staged>
// CHECK:           %[[MAX:.*]] = tracea_pipe.scratch : memref<8xf32, #tracea_pipe.staged>
// CHECK:           %[[SUM:.*]] = tracea_pipe.scratch : memref<8x4xf32, #tracea_pipe.staged>
// The queries are staged once, keys and values block by block; rows past the end of
// queries and keys and columns past the values' are zero.
// CHECK:           tracea_pipe.stage %[[Q]][%[[B]], %[[H]], %[[I0]], %c0] {{.*}} padded [2] : {{.*}} -> tensor<2x6x4xf32, #tracea_pipe.staged>
// Only blocks that a row of the tile sees: from three keys before the first row on, to
// the last row's own place.
// CHECK:           %[[PLACE:.*]] = arith.addi %[[I0]], %[[SHIFT]]
// CHECK:           %[[BEFORE:.*]] = arith.subi %[[PLACE]], %c3
// CHECK:           arith.maxsi %[[BEFORE]], %c0
// CHECK:           %[[BEGIN:.*]] = arith.muli
// CHECK:           %[[BEHIND:.*]] = arith.addi %[[PLACE]], %c8
// CHECK:           %[[END:.*]] = arith.minsi %[[LEN]], %[[BEHIND]]
// CHECK:           scf.for %[[J0:.*]] = %[[BEGIN]] to %[[END]] step %c16 {
// CHECK:             %[[REST:.*]] = arith.subi %[[END]], %[[J0]]
// CHECK:             %[[LENJ:.*]] = arith.minsi %[[REST]], %c16
// CHECK:             %[[TILES:.*]] = arith.ceildivsi %[[LENJ]], %c8
// CHECK:             tracea_pipe.stage %[[K]][%[[B]], %[[KH]], %[[J0]], %c0] {{.*}} padded [2] : {{.*}} -> tensor<2x6x8xf32, #tracea_pipe.staged>
// CHECK:             tracea_pipe.stage %[[V]][%[[B]], %[[KH]], %[[J0]], %c0] {{.*}} padded [3] : {{.*}} -> tensor<1x16x8xf32, #tracea_pipe.staged>
// CHECK:             scf.for %[[II:.*]] = %c0 to %{{.*}} step %c4 {
// Of the block's tiles those that one of four rows sees.
// CHECK:               %[[FIRST:.*]] = arith.divui
// CHECK:               %[[LAST:.*]] = arith.minsi %{{.*}}, %[[TILES]]
// CHECK:               %[[COUNT:.*]] = arith.subi %[[LAST]], %[[FIRST]]
// CHECK:               %[[STRIP:.*]] = scf.for %[[NUMBER:.*]] = %c0 to %[[COUNT]] step %c1 iter_args({{.*}}) -> (tensor<4x4xf32, #[[PART]]>)
// CHECK:                 %[[P:.*]] = tracea_pipe.mma
// A tile that the end of the keys or the last key of a row cuts is compared with both.
// CHECK:                 %[[PASTEND:.*]] = arith.cmpi slt, %[[LEN]]
// CHECK:                 %[[PASTROW:.*]] = arith.cmpi slt
// CHECK:                 %[[CUT:.*]] = arith.ori %[[PASTEND]], %[[PASTROW]]
// CHECK:                 %[[FRONT:.*]] = scf.if %[[CUT]]
// CHECK:                   %[[COL:.*]] = tracea_pipe.coordinate dim 1 : tensor<4x8xi32
// CHECK:                   %[[AT:.*]] = arith.addi %[[COL]], %{{.*}}
// CHECK:                   %[[IN:.*]] = arith.cmpi slt, %[[AT]], %{{.*}}
// CHECK:                   arith.select %[[IN]], %[[P]], %[[LOWEST]]
// CHECK:                   %[[ROW:.*]] = tracea_pipe.coordinate dim 0
// CHECK:                   %[[PAST:.*]] = arith.cmpi sle, %{{.*}}, %[[ROW]]
// CHECK:                   arith.select %[[PAST]], %{{.*}}, %[[LOWEST]]
// CHECK:                 else
// CHECK:                   scf.yield %[[P]]
// One that has keys more than three before a row is compared with that edge.
// CHECK:                 scf.if
// CHECK:                   %[[NEAR:.*]] = arith.cmpi sge
// CHECK:                   arith.select %[[NEAR]], %[[FRONT]], %[[LOWEST]]
// CHECK:                 tracea_pipe.store %{{.*}}, %[[SCORES]]
// NaN need not win: its weight is NaN whatever the maximum is.
// CHECK:                 %[[PARTOF:.*]] = tracea_pipe.slice %{{.*}}[0, 0]
// CHECK:                 %[[RISEN:.*]] = arith.cmpf ogt, %[[PARTOF]]
// CHECK:                 arith.select %[[RISEN]], %[[PARTOF]]
// CHECK:                 tracea_pipe.slice %{{.*}}[0, 4]
// The running maximum; a row without keys counts from a number.
// CHECK:               tracea_pipe.reduce max %[[STRIP]] dim 1 : {{.*}} -> tensor<4x1xf32, #[[ROWS]]>
// CHECK:               %[[BEFORE:.*]] = tracea_pipe.load %[[MAX]]
// CHECK:               %[[AFTER:.*]] = arith.maximumf %[[BEFORE]]
// CHECK:               tracea_pipe.store %[[AFTER]], %[[MAX]]
// CHECK:               %[[FROM:.*]] = arith.maximumf %[[AFTER]]
// CHECK:               %[[RISE:.*]] = arith.subf %[[BEFORE]], %[[FROM]]
// CHECK:               %[[DROP:.*]] = arith.mulf %[[RISE]]
// CHECK:               %[[DECAY:.*]] = math.exp2 %[[DROP]] {tracea_pipe.flushes}
// CHECK:               %[[FROMS:.*]] = tracea_pipe.broadcast %[[FROM]]
// The sums and the outputs so far decay with it.
// CHECK:               %[[OLD:.*]] = tracea_pipe.load %[[SUM]]
// CHECK:               arith.mulf %[[OLD]]
// CHECK:               %[[NEW:.*]] = scf.for %{{.*}} = %c0 to %[[COUNT]]
// CHECK:                 scf.for %{{.*}} = %c0 to %c8 step %c4
// CHECK:                   %[[BELOW:.*]] = arith.subf %{{.*}}, %[[FROMS]]
// CHECK:                   %[[EXPONENT:.*]] = arith.mulf %[[BELOW]]
// CHECK:                   math.exp2 %[[EXPONENT]] {tracea_pipe.flushes} : tensor<4x4xf32, #[[PART]]>
// CHECK:               tracea_pipe.store %[[NEW]], %[[SUM]]
// Tiles that no row sees have no weight, before the band and behind it.
// CHECK:               %[[FRONTTILES:.*]] = arith.minsi %[[FIRST]], %[[TILES]]
// CHECK:               scf.for %{{.*}} = %c0 to %[[FRONTTILES]]
// CHECK:                 tracea_pipe.store %{{.*}}, %[[SCORES]]
// CHECK:               %[[BACK:.*]] = arith.maxsi %[[FIRST]], %[[LAST]]
// CHECK:               arith.subi %[[TILES]], %[[BACK]]
// CHECK:               scf.for
// CHECK:                 tracea_pipe.store %{{.*}}, %[[SCORES]]
// CHECK:               tracea_pipe.load %[[OUT]]
// CHECK:               tracea_pipe.mma {{.*}} depth(%[[LENJ]])
// CHECK:               tracea_pipe.store %{{.*}}, %[[OUT]]
// A sum of zero divides as one.
// CHECK:           scf.for
// CHECK:             %[[PARTS:.*]] = tracea_pipe.load %[[SUM]]
// CHECK:             %[[TOTAL:.*]] = tracea_pipe.reduce add %[[PARTS]] dim 1
// CHECK:             %[[NONE:.*]] = arith.cmpf oeq, %[[TOTAL]]
// CHECK:             arith.select %[[NONE]]
// CHECK:             arith.divf
// CHECK:             tracea_pipe.store %{{.*}}, %[[O]]{{.*}} limits(%{{.*}}, %c5)
// CHECK:             math.log
// CHECK:             tracea_pipe.store %{{.*}}, %[[L]]
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @causal(%q: tensor<2x4x10x6xf32>, %k: tensor<2x2x?x6xf32>, %v: tensor<2x2x?x5xf32>,
                  %d: tensor<2x4x10x5xf32>, %l: tensor<2x4x10xf32>) -> (tensor<2x4x10x5xf32>, tensor<2x4x10xf32>) {
  %0:2 = tracea.attention causal window [3, -1] scale 0.5
           ins(%q, %k, %v : tensor<2x4x10x6xf32>, tensor<2x2x?x6xf32>, tensor<2x2x?x5xf32>)
           outs(%d : tensor<2x4x10x5xf32>) lse(%l : tensor<2x4x10xf32>)
           schedule <variant = "attention.flash", unit = vector, tile = [8, 16], registers = [4, 8]>
           -> tensor<2x4x10x5xf32>, tensor<2x4x10xf32>
  return %0#0, %0#1 : tensor<2x4x10x5xf32>, tensor<2x4x10xf32>
}
}

// -----

// A block mask is read once a register tile, at its block, and its extents are those
// that the kernel reads.
// CHECK-LABEL: func.func @masked(
// CHECK-SAME:    %[[M:[a-z0-9]+]]: tensor<1x?x?x?xi1>
// CHECK-DAG:     cf.assert %{{.*}}, "tracea.attention: expected the batch and heads of the block mask to be one or those of the query"
// CHECK-DAG:     %[[MR:.*]] = tensor.dim %[[M]], %c2
// CHECK-DAG:     %[[THREE:.*]] = arith.cmpi eq, %[[MR]], %c3
// CHECK-DAG:     cf.assert %[[THREE]], "tracea.attention: expected one row of the block mask a block of queries"
// CHECK-DAG:     %[[MC:.*]] = tensor.dim %[[M]], %c3
// CHECK-DAG:     %[[UP:.*]] = arith.addi %{{.*}}, %c7
// CHECK-DAG:     %[[BLOCKS:.*]] = arith.divui %[[UP]], %c8
// CHECK-DAG:     %[[SAME:.*]] = arith.cmpi eq, %[[MC]], %[[BLOCKS]]
// CHECK-DAG:     cf.assert %[[SAME]], "tracea.attention: expected one column of the block mask a block of keys"
// CHECK-LABEL: tracea_pipe.kernel @attention_0
// CHECK:         memref.dim %{{.*}}, %c1 : memref<1x?x?x?xi1>
// CHECK:         %[[ROW:.*]] = arith.divui %{{.*}}, %c4
// CHECK:         %[[COLUMN:.*]] = arith.divui %{{.*}}, %c8
// CHECK:         %[[SHOWN:.*]] = tracea_pipe.read %{{.*}}[%{{.*}}, %{{.*}}, %[[ROW]], %[[COLUMN]]] : memref<1x?x?x?xi1>
// CHECK:         %[[BIT:.*]] = arith.cmpi ne, %[[SHOWN]], %c0
// Nothing is multiplied of a block that the mask hides.
// CHECK:         scf.if %[[BIT]]
// CHECK:           tracea_pipe.mma
// CHECK:         else
// CHECK-NEXT:      scf.yield %{{.*}} : tensor<4x8xf32
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @masked(%m: tensor<1x?x?x?xi1>, %q: tensor<2x4x10x6xf32>, %k: tensor<2x2x?x6xf32>, %d: tensor<2x4x10x6xf32>) -> tensor<2x4x10x6xf32> {
  %0 = tracea.attention ins(%q, %k, %k : tensor<2x4x10x6xf32>, tensor<2x2x?x6xf32>, tensor<2x2x?x6xf32>)
         block_mask(%m : tensor<1x?x?x?xi1>) block_size [4, 8] outs(%d : tensor<2x4x10x6xf32>)
         schedule <variant = "attention.flash", unit = vector, tile = [8, 16], registers = [4, 8]> -> tensor<2x4x10x6xf32>
  return %0 : tensor<2x4x10x6xf32>
}
}

// -----

// Heads that only the run knows must be shared out evenly.
// CHECK-LABEL: func.func @heads(
// CHECK-SAME:    %[[Q:[a-z0-9]+]]: tensor<2x?x10x6xf32>, %[[K:[a-z0-9]+]]: tensor<2x?x10x6xf32>
// CHECK-DAG:     %[[QH:.*]] = tensor.dim %[[Q]], %c1
// CHECK-DAG:     %[[KH:.*]] = tensor.dim %[[K]], %c1
// CHECK-DAG:     %[[DIV:.*]] = arith.maxsi %[[KH]], %c1
// CHECK-DAG:     %[[REST:.*]] = arith.remui %[[QH]], %[[DIV]]
// CHECK-DAG:     %[[ANY:.*]] = arith.minsi %[[QH]], %c1
// CHECK-DAG:     %[[SOME:.*]] = arith.cmpi sle, %[[ANY]], %[[KH]]
// CHECK-DAG:     cf.assert %[[SOME]], "tracea.attention: expected a key with heads"
// CHECK-DAG:     %[[EVEN:.*]] = arith.cmpi eq, %[[REST]], %c0
// CHECK-DAG:     cf.assert %[[EVEN]], "tracea.attention: expected the heads of the key to divide those of the query"
// CHECK:         tracea_pipe.launch
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @heads(%q: tensor<2x?x10x6xf32>, %k: tensor<2x?x10x6xf32>, %d: tensor<2x?x10x6xf32>) -> tensor<2x?x10x6xf32> {
  %0 = tracea.attention ins(%q, %k, %k : tensor<2x?x10x6xf32>, tensor<2x?x10x6xf32>, tensor<2x?x10x6xf32>)
         outs(%d : tensor<2x?x10x6xf32>)
         schedule <variant = "attention.flash", unit = vector, tile = [8, 16], registers = [4, 8]> -> tensor<2x?x10x6xf32>
  return %0 : tensor<2x?x10x6xf32>
}
}

// -----

// Keys end where memory says, of each batch: behind that nothing is visited.
// CHECK-LABEL: func.func @lengths(
// CHECK-LABEL: tracea_pipe.kernel @attention_0(
// CHECK-SAME:    %{{.*}}, %[[K:[a-z0-9]+]]: memref<2x4x40x6xf32>, %{{.*}}: memref<2x4x40x6xf32>, %[[N:[a-z0-9]+]]: memref<2xi32>
// CHECK-SAME:    tracea_pipe.ended = {lengths = 3 : i64, sequence = 0 : i64}
// CHECK:         tiles (%[[B:[a-z0-9]+]], %{{.*}}, %{{.*}})
// CHECK:           %[[READ:.*]] = tracea_pipe.read %[[N]][%[[B]]]
// CHECK:           %[[END:.*]] = arith.minsi %[[READ]], %c40
// CHECK:           scf.for %{{.*}} = %c0 to %[[END]] step %c16
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @lengths(%q: tensor<2x4x10x6xf32>, %k: tensor<2x4x40x6xf32>, %n: tensor<2xi32>, %d: tensor<2x4x10x6xf32>) -> tensor<2x4x10x6xf32> {
  %0 = tracea.attention ins(%q, %k, %k : tensor<2x4x10x6xf32>, tensor<2x4x40x6xf32>, tensor<2x4x40x6xf32>)
         lengths(%n : tensor<2xi32>) outs(%d : tensor<2x4x10x6xf32>)
         schedule <variant = "attention.flash", unit = vector, tile = [8, 16], registers = [4, 8]> -> tensor<2x4x10x6xf32>
  return %0 : tensor<2x4x10x6xf32>
}
}
