// Attention: blocks of keys pass by a block of queries; the scores are never in
// memory as a whole.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse --split-input-file | FileCheck %s

// CHECK-DAG:   #[[TILE:lanes[0-9]*]] = #tracea_pipe.lanes<reg = {{\[\[}}0, 4], [1, 0], [2, 0]], lane = {{\[\[}}0, 1], [0, 2]], outer = [1, 1]>
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
// Scores of one strip, outputs of the block (5 columns in a register tile of 8), and
// maximum and sum of every row.
// CHECK:           %[[SCORES:.*]] = tracea_pipe.scratch : memref<4x16xf32, #tracea_pipe.staged>
// CHECK:           %[[OUT:.*]] = tracea_pipe.scratch : memref<8x8xf32, #tracea_pipe.staged>
// CHECK:           %[[MAX:.*]] = tracea_pipe.scratch : memref<8xf32, #tracea_pipe.staged>
// CHECK:           %[[SUM:.*]] = tracea_pipe.scratch : memref<8xf32, #tracea_pipe.staged>
// The queries are staged once, keys and values block by block; rows past the end of
// queries and keys and columns past the values' are zero.
// CHECK:           tracea_pipe.stage %[[Q]][%[[B]], %[[H]], %[[I0]], %c0] {{.*}} padded [2] : {{.*}} -> tensor<2x6x4xf32, #tracea_pipe.staged>
// CHECK:           scf.for %[[J0:.*]] = %c0 to %[[LEN]] step %c16 {
// CHECK:             tracea_pipe.stage %[[K]][%[[B]], %[[KH]], %[[J0]], %c0] {{.*}} padded [2] : {{.*}} -> tensor<2x6x8xf32, #tracea_pipe.staged>
// CHECK:             tracea_pipe.stage %[[V]][%[[B]], %[[KH]], %[[J0]], %c0] {{.*}} padded [3] : {{.*}} -> tensor<1x16x8xf32, #tracea_pipe.staged>
// CHECK:             scf.for %[[II:.*]] = %c0 to %{{.*}} step %c4 {
// CHECK:               %[[STRIP:.*]] = scf.for %[[J:.*]] = %c0 to %[[LENJ:.*]] step %c8 iter_args
// CHECK:                 %[[P:.*]] = tracea_pipe.mma
// CHECK:                 arith.mulf %[[P]]
// Keys past the end, then keys after the row (the ends of both sequences aligned),
// then keys more than three before it.
// CHECK:                 %[[COL:.*]] = tracea_pipe.coordinate dim 1
// CHECK:                 %[[END:.*]] = arith.addi %[[COL]], %{{.*}}
// CHECK:                 %[[IN:.*]] = arith.cmpi slt, %[[END]], %{{.*}}
// CHECK:                 arith.select %[[IN]], %{{.*}}, %[[LOWEST]]
// CHECK:                 %[[ROW:.*]] = tracea_pipe.coordinate dim 0
// CHECK:                 %[[PAST:.*]] = arith.cmpi sle, %{{.*}}, %[[ROW]]
// CHECK:                 arith.select %[[PAST]], %{{.*}}, %[[LOWEST]]
// CHECK:                 %[[NEAR:.*]] = arith.cmpi sge, %{{.*}}, %[[ROW]]
// CHECK:                 arith.select %[[NEAR]], %{{.*}}, %[[LOWEST]]
// CHECK:                 tracea_pipe.store %{{.*}}, %[[SCORES]]
// The running maximum; a row without keys counts from zero.
// CHECK:               tracea_pipe.reduce max %[[STRIP]] dim 1 : {{.*}} -> tensor<4x1xf32, #[[ROWS]]>
// CHECK:               %[[BEFORE:.*]] = tracea_pipe.load %[[MAX]]
// CHECK:               %[[AFTER:.*]] = arith.maximumf %[[BEFORE]]
// CHECK:               tracea_pipe.store %[[AFTER]], %[[MAX]]
// CHECK:               %[[UNSEEN:.*]] = arith.cmpf oeq, %[[AFTER]]
// CHECK:               %[[ORIGIN:.*]] = arith.select %[[UNSEEN]], %{{.*}}, %[[AFTER]]
// CHECK:               %[[DROP:.*]] = arith.subf %[[BEFORE]], %[[ORIGIN]]
// CHECK:               %[[DECAY:.*]] = math.exp %[[DROP]]
// The sums and the outputs so far decay with it.
// CHECK:               tracea_pipe.reduce add
// CHECK:               %[[OLD:.*]] = tracea_pipe.load %[[SUM]]
// CHECK:               arith.mulf %[[OLD]], %[[DECAY]]
// CHECK:               tracea_pipe.store %{{.*}}, %[[SUM]]
// CHECK:               tracea_pipe.load %[[OUT]]
// CHECK:               tracea_pipe.mma {{.*}} depth(%[[LENJ]])
// CHECK:               tracea_pipe.store %{{.*}}, %[[OUT]]
// A sum of zero divides as one.
// CHECK:           scf.for
// CHECK:             %[[TOTAL:.*]] = tracea_pipe.load %[[SUM]]
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
// CHECK-NOT:     tracea_pipe.coordinate dim 0
// CHECK:         memref.dim %{{.*}}, %c1 : memref<1x?x?x?xi1>
// CHECK:         %[[ROW:.*]] = arith.divui %{{.*}}, %c4
// CHECK:         %[[COLUMN:.*]] = arith.divui %{{.*}}, %c8
// CHECK:         %[[SHOWN:.*]] = tracea_pipe.read %{{.*}}[%{{.*}}, %{{.*}}, %[[ROW]], %[[COLUMN]]] : memref<1x?x?x?xi1>
// CHECK:         %[[BIT:.*]] = arith.cmpi ne, %[[SHOWN]], %c0
// CHECK:         %[[ALL:.*]] = tensor.splat %[[BIT]]
// CHECK:         arith.select %[[ALL]]
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
