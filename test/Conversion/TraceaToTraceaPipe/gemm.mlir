// Matrix products: blocks of k, panels of B and A, one register tile at a time.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse --split-input-file | FileCheck %s

#cpu = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3",
                      features = "+avx2,+fma", vector_bits = 128>

// k is known at run time only and the result is narrower than the accumulator:
// between blocks of k the sums rest in a scratch tile.
// CHECK-DAG:   #[[TILE:lanes[0-9]*]] = #tracea_pipe.lanes<reg = {{\[\[}}0, 4], [1, 0], [2, 0]], lane = {{\[\[}}0, 1], [0, 2]], outer = [1, 1]>
// CHECK-DAG:   #[[BMAP:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d1, d0 * 8 + d2)>
// CHECK-DAG:   #[[AMAP:map[0-9]*]] = affine_map<(d0, d1, d2) -> (0, d0 * 4 + d2, d1)>
// CHECK-DAG:   #[[BVIEW:map[0-9]*]] = affine_map<(d0, d1) -> (0, d0, d1)>
// CHECK-DAG:   #[[AVIEW:map[0-9]*]] = affine_map<(d0, d1) -> (0, d1, d0)>
// CHECK-DAG:   #[[PLAIN:map[0-9]*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG:   #[[COLUMN:map[0-9]*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG:   #[[ROW:map[0-9]*]] = affine_map<(d0, d1) -> (d0, 0)>

// The host compares what only the run knows, then launches; the kernel's arguments
// are the inputs, the epilogue's operands, the destination.
// CHECK-LABEL: func.func @scratch(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<3x20x?xbf16>, %[[B:[a-z0-9]+]]: tensor<?x24xbf16>, %[[D:[a-z0-9]+]]: tensor<3x20x24xbf16>, %[[BIAS:[a-z0-9]+]]: tensor<24xf32>, %[[SCALE:[a-z0-9]+]]: tensor<20x1xbf16>
// CHECK-DAG:     %[[KA:.*]] = tensor.dim %[[A]], %c2
// CHECK-DAG:     %[[KB:.*]] = tensor.dim %[[B]], %c0
// CHECK:         %[[SAME:.*]] = arith.cmpi eq, %[[KA]], %[[KB]]
// CHECK-NEXT:    cf.assert %[[SAME]], "tracea.gemm: expected k of lhs and rhs to be equal"
// CHECK-NOT:     cf.assert
// CHECK:         %[[R:.*]] = tracea_pipe.launch @gemm_0 ins(%[[A]], %[[B]], %[[BIAS]], %[[SCALE]] : {{.*}}) outs(%[[D]] : tensor<3x20x24xbf16>) -> tensor<3x20x24xbf16>
// CHECK-NEXT:    return %[[R]]

// The grid: batch, ceil(20 / 16), ceil(24 / 8), in groups of two rows.
// CHECK-LABEL: tracea_pipe.kernel @gemm_0(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<3x20x?xbf16>, %[[B:[a-z0-9]+]]: memref<?x24xbf16>, %[[BIAS:[a-z0-9]+]]: memref<24xf32>, %[[SCALE:[a-z0-9]+]]: memref<20x1xbf16>, %[[D:[a-z0-9]+]]: memref<3x20x24xbf16>)
// CHECK-SAME:    source_op = "tracea.gemm", variant = "gemm.packed"
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG:     %[[K:.*]] = memref.dim %[[A]], %c2
// CHECK:         tiles (%[[BATCH:.*]], %[[I:.*]], %[[J:.*]]) in (%c3, %c2, %c3) group 2
// CHECK-DAG:       %[[M0:.*]] = arith.muli %[[I]], %c16
// CHECK-DAG:       %[[N0:.*]] = arith.muli %[[J]], %c8
// CHECK:           %[[S:.*]] = tracea_pipe.scratch : memref<16x8xf32, #tracea_pipe.staged>
// An empty sum runs one block as well, for the epilogue.
// CHECK:           %[[KS:.*]] = arith.maxsi %[[K]], %[[C1]]
// CHECK:           scf.for %[[K0:.*]] = %[[C0]] to %[[KS]] step %[[C32]] {
// CHECK-DAG:         %[[FIRST:.*]] = arith.cmpi eq, %[[K0]], %[[C0]]
// CHECK-DAG:         %[[NEXT:.*]] = arith.addi %[[K0]], %[[C32]]
// CHECK-DAG:         %[[LAST:.*]] = arith.cmpi sle, %[[K]], %[[NEXT]]
// CHECK-DAG:         %[[LEFT:.*]] = arith.subi %[[K]], %[[K0]]
// CHECK-DAG:         %[[DEPTH:.*]] = arith.minsi %[[LEFT]], %[[C32]]
// Rows of B beyond the end are not staged (a limit), columns beyond it are zero
// (padded); it has no batch dimension.
// CHECK:             %[[BP:.*]] = tracea_pipe.stage %[[B]][%[[K0]], %[[N0]]] map #[[BMAP]] limits(%{{.*}}, %[[DEPTH]], %c8) padded [1] : memref<?x24xbf16> -> tensor<1x32x8xf32, #tracea_pipe.staged>
// CHECK:             scf.for %{{.*}} step %c8 {
// CHECK:               %[[AP:.*]] = tracea_pipe.stage %[[A]][%[[BATCH]], %{{.*}}, %[[K0]]] map #[[AMAP]] limits(%{{.*}}, %[[DEPTH]], %c4) padded [1] : memref<3x20x?xbf16> -> tensor<2x32x4xf32, #tracea_pipe.staged>
// CHECK:               scf.for %{{.*}} step %c8 {
// CHECK:                 %[[BV:.*]] = tracea_pipe.view %[[BP]][%{{.*}}, %[[C0]], %[[C0]]] map #[[BVIEW]] : {{.*}} -> tensor<32x8xf32, #tracea_pipe.staged>
// CHECK:                 scf.for %{{.*}} step %c4 {
// CHECK:                   %[[AV:.*]] = tracea_pipe.view %[[AP]][%{{.*}}, %[[C0]], %[[C0]]] map #[[AVIEW]] : {{.*}} -> tensor<4x32xf32, #tracea_pipe.staged>
// CHECK:                   %[[BLOCK:.*]] = tracea_pipe.mma %[[AV]], %[[BV]], %{{.*}} depth(%[[DEPTH]])
// CHECK:                   %[[SUM:.*]] = scf.if %[[FIRST]]
// CHECK:                     scf.yield %[[BLOCK]]
// CHECK:                   } else {
// CHECK:                     tracea_pipe.load %[[S]]{{.*}} limits(%[[H:.*]], %[[W:.*]]) :
// CHECK:                   scf.if %[[LAST]] {
// The epilogue's operands are read at the tile's place, through their maps; a
// dimension that a map leaves out cuts nothing.
// CHECK-NEXT:                %[[X:.*]] = tracea_pipe.load %[[BIAS]][%[[COL:[a-z0-9]+]]] map #[[COLUMN]] limits(%c4, %[[W]]) : memref<24xf32> -> tensor<4x8xf32, #[[TILE]]>
// CHECK-NEXT:                %[[Y:.*]] = tracea_pipe.load %[[SCALE]][%[[LINE:[a-z0-9]+]], %[[C0]]] map #[[ROW]] limits(%[[H]], %c8) : memref<20x1xbf16> -> tensor<4x8xbf16, #[[TILE]]>
// CHECK-NEXT:                arith.addf %[[SUM]], %[[X]]
// CHECK-NEXT:                arith.extf %[[Y]]
// CHECK-NEXT:                arith.mulf
// CHECK-NEXT:                arith.mulf
// CHECK-NEXT:                %[[OUT:.*]] = arith.truncf
// CHECK-NEXT:                tracea_pipe.store %[[OUT]], %[[D]][%[[BATCH]], %[[LINE]], %[[COL]]] map #[[BVIEW]] limits(%[[H]], %[[W]])
// CHECK-NEXT:              } else {
// CHECK-NEXT:                tracea_pipe.store %[[SUM]], %[[S]]
module attributes {tracea.target = #cpu} {
func.func @scratch(%a: tensor<3x20x?xbf16>, %b: tensor<?x24xbf16>, %d: tensor<3x20x24xbf16>, %bias: tensor<24xf32>,
                   %scale: tensor<20x1xbf16>) -> tensor<3x20x24xbf16> {
  %0 = tracea.gemm ins(%a, %b : tensor<3x20x?xbf16>, tensor<?x24xbf16>) outs(%d : tensor<3x20x24xbf16>)
    schedule <variant = "gemm.packed", unit = vector, tile = [16, 8, 32, 8], registers = [4, 8], group = 2>
    epilogue(%bias by affine_map<(b, m, n) -> (n)>, %scale by affine_map<(b, m, n) -> (m, 0)> : tensor<24xf32>, tensor<20x1xbf16>) {
      ^bb0(%acc: f32, %x: f32, %y: bf16):
        %two = arith.constant 2.0 : f32
        %s = arith.addf %acc, %x : f32
        %w = arith.extf %y : bf16 to f32
        %t = arith.mulf %s, %w : f32
        %u = arith.mulf %t, %two : f32
        %o = arith.truncf %u : f32 to bf16
        tracea.yield %o : bf16
    }
  return %0 : tensor<3x20x24xbf16>
}
}

// -----

// One block of k: no sums between blocks, no scratch, no test. Transposed operands
// exchange the panels' coordinates and the padded dimension.
// CHECK-DAG:   #[[BT:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d0 * 8 + d2, d1)>
// CHECK-DAG:   #[[AT:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d1, d0 * 4 + d2)>
// CHECK-LABEL: func.func @transposed
// CHECK-NOT:     cf.assert
// CHECK-LABEL: tracea_pipe.kernel @gemm_0
// CHECK-NOT:     tracea_pipe.scratch
// CHECK-NOT:     scf.if
// CHECK:         tracea_pipe.stage %{{.*}}[%{{.*}}, %c0] map #[[BT]] limits(%{{.*}}, %c32, %c8) padded [0] slots 2
// CHECK:         tracea_pipe.stage %{{.*}}[%c0, %{{.*}}] map #[[AT]] limits(%{{.*}}, %c32, %c4) padded [1] slots 2
// CHECK:         %[[SUM:.*]] = tracea_pipe.mma %{{.*}} depth(%c32)
// CHECK-NEXT:    tracea_pipe.store %[[SUM]]
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @transposed(%a: tensor<32x16xf32>, %b: tensor<8x32xf32>, %d: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = tracea.gemm transpose_lhs transpose_rhs ins(%a, %b : tensor<32x16xf32>, tensor<8x32xf32>) outs(%d : tensor<16x8xf32>)
    schedule <variant = "gemm.packed", unit = vector, tile = [16, 8, 32, 16], registers = [4, 8], slots = 2>
  return %0 : tensor<16x8xf32>
}
}

// -----

// Several blocks of k and a result of the accumulator's type: sums rest in the
// result itself. Every dynamic extent is compared with the one that the loops use.
// CHECK-LABEL: func.func @in_result
// CHECK:         cf.assert %{{.*}}, "tracea.gemm: expected m of lhs and result to be equal"
// CHECK:         cf.assert %{{.*}}, "tracea.gemm: expected n of rhs and result to be equal"
// CHECK:         cf.assert %{{.*}}, "tracea.gemm: expected batch dimensions of lhs and result to be equal"
// CHECK-NOT:     cf.assert
// CHECK-LABEL: tracea_pipe.kernel @gemm_0(
// CHECK-SAME:    %{{[a-z0-9]+}}: memref<?x?x40xf32>, %{{[a-z0-9]+}}: memref<40x?xf32>, %[[D:[a-z0-9]+]]: memref<?x?x?xf32>
// CHECK-NOT:     tracea_pipe.scratch
// CHECK:         scf.for %{{.*}} = %c0 to %c40 step %c32
// CHECK:         tracea_pipe.load %[[D]]
// CHECK:         tracea_pipe.store %{{.*}}, %[[D]]
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @in_result(%a: tensor<?x?x40xf32>, %b: tensor<40x?xf32>, %d: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<?x?x40xf32>, tensor<40x?xf32>) outs(%d : tensor<?x?x?xf32>)
    schedule <variant = "gemm.packed", unit = vector, tile = [16, 8, 32, 8], registers = [4, 8]>
  return %0 : tensor<?x?x?xf32>
}
}

// -----

// Integers sum in i32; two operations make two kernels, and a name in use is left
// alone.
// CHECK-LABEL: func.func @gemm_0
// CHECK:         tracea_pipe.launch @gemm_1
// CHECK:         tracea_pipe.launch @gemm_2
// CHECK:       tracea_pipe.kernel @gemm_1
// CHECK:         tracea_pipe.stage {{.*}} : memref<8x8xi8> -> tensor<{{.*}}xi32, #tracea_pipe.staged>
// CHECK:         arith.trunci {{.*}} to tensor<4x8xi8
// CHECK:       tracea_pipe.kernel @gemm_2
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @gemm_0(%a: tensor<8x8xi8>, %d: tensor<8x8xi8>) -> tensor<8x8xi8> {
  %0 = tracea.gemm ins(%a, %a : tensor<8x8xi8>, tensor<8x8xi8>) outs(%d : tensor<8x8xi8>)
    schedule <variant = "gemm.packed", unit = vector, tile = [8, 8, 8, 8], registers = [4, 8]>
    epilogue { ^bb0(%acc: i32):
        %o = arith.trunci %acc : i32 to i8
        tracea.yield %o : i8
    }
  %1 = tracea.gemm ins(%0, %a : tensor<8x8xi8>, tensor<8x8xi8>) outs(%d : tensor<8x8xi8>)
    schedule <variant = "gemm.packed", unit = vector, tile = [8, 8, 8, 8], registers = [4, 8]>
    epilogue { ^bb0(%acc: i32):
        %o = arith.trunci %acc : i32 to i8
        tracea.yield %o : i8
    }
  return %1 : tensor<8x8xi8>
}
}

// -----

// The operand of an epilogue that has the result's own memory is read before it is
// written, through an argument of its own. Its extents are compared too.
// CHECK-LABEL: func.func @accumulate(
// CHECK-SAME:    %{{[a-z0-9]+}}: tensor<8x8xf32>, %[[D:[a-z0-9]+]]: tensor<8x8xf32>, %[[ROW:[a-z0-9]+]]: tensor<?x?xf32>
// CHECK-DAG:     %[[N0:.*]] = tensor.dim %[[ROW]], %c0
// CHECK-DAG:     %[[N1:.*]] = tensor.dim %[[ROW]], %c1
// CHECK-DAG:     %[[ONE:.*]] = arith.cmpi eq, %[[N0]], %c1
// CHECK-DAG:     cf.assert %[[ONE]], "tracea.gemm: expected an extent of 1 where an operand of the epilogue is broadcast"
// CHECK-DAG:     %[[EIGHT:.*]] = arith.cmpi eq, %[[N1]], %c8
// CHECK-DAG:     cf.assert %[[EIGHT]], "tracea.gemm: expected operands of the epilogue to have the result's extents"
// CHECK:         tracea_pipe.launch @gemm_0 ins(%{{.*}}, %{{.*}}, %[[D]], %[[ROW]] : {{.*}}) outs(%[[D]]
// CHECK-LABEL: tracea_pipe.kernel @gemm_0(
// CHECK-SAME:    memref<8x8xf32>, %{{[a-z0-9]+}}: memref<8x8xf32>, %[[OLD:[a-z0-9]+]]: memref<8x8xf32>, %{{[a-z0-9]+}}: memref<?x?xf32>, %[[NEW:[a-z0-9]+]]: memref<8x8xf32>
// CHECK:         tracea_pipe.load %[[OLD]]
// CHECK:         tracea_pipe.store %{{.*}}, %[[NEW]]
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @accumulate(%a: tensor<8x8xf32>, %d: tensor<8x8xf32>, %row: tensor<?x?xf32>) -> tensor<8x8xf32> {
  %0 = tracea.gemm ins(%a, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%d : tensor<8x8xf32>)
    schedule <variant = "gemm.packed", unit = vector, tile = [8, 8, 8, 8], registers = [4, 8]>
    epilogue(%d by affine_map<(m, n) -> (m, n)>, %row by affine_map<(m, n) -> (0, n)> : tensor<8x8xf32>, tensor<?x?xf32>) {
      ^bb0(%acc: f32, %old: f32, %r: f32):
        %s = arith.addf %acc, %old : f32
        %t = arith.addf %s, %r : f32
        tracea.yield %t : f32
    }
  return %0 : tensor<8x8xf32>
}
}

// -----

// gemm.direct multiplies where the operands lie: windows into memory, cut by limits
// at the edges, nothing staged.
// CHECK-LABEL: tracea_pipe.kernel @gemm_0(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?x32xf32>, %[[B:[a-z0-9]+]]: memref<32x?xf32>, %[[D:[a-z0-9]+]]: memref<?x?xf32>
// CHECK-NOT:     tracea_pipe.stage
// CHECK:         %[[AV:.*]] = tracea_pipe.view %[[A]][%{{.*}}, %c0] {{.*}} -> memref<4x32xf32, strided<[32, 1], offset: ?>>
// CHECK:         %[[BV:.*]] = tracea_pipe.view %[[B]][%c0, %{{.*}}] {{.*}} -> memref<32x8xf32, strided<[?, 1], offset: ?>>
// CHECK:         tracea_pipe.mma %[[AV]], %[[BV]], %{{.*}} depth(%c32) limits(%[[H:.*]], %[[W:.*]]) :
// CHECK:         tracea_pipe.store %{{.*}}, %[[D]]{{.*}} limits(%[[H]], %[[W]])
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @direct(%a: tensor<?x32xf32>, %b: tensor<32x?xf32>, %d: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<?x32xf32>, tensor<32x?xf32>) outs(%d : tensor<?x?xf32>)
    schedule <variant = "gemm.direct", unit = vector, tile = [16, 8, 32], registers = [4, 8]>
  return %0 : tensor<?x?xf32>
}
}

// -----

// With several panels of columns k is outermost: rows of B are read from end to end,
// and the sums rest in the result between blocks. One panel keeps them in registers.
// CHECK-LABEL: tracea_pipe.kernel @gemm_0(
// CHECK-SAME:    %{{[a-z0-9]+}}: memref<4x100xf32>, %[[B:[a-z0-9]+]]: memref<100x64xf32>, %[[D:[a-z0-9]+]]: memref<4x64xf32>
// CHECK-NOT:     tracea_pipe.prefetch
// CHECK:         scf.for %[[K:.*]] = %c0 to %c100 step %c16 {
// CHECK:           scf.for %[[J:.*]] = %c0 to %{{.*}} step %c8 {
// CHECK:             tracea_pipe.view %[[B]][%[[K]], %{{.*}}] {{.*}} -> memref<16x8xf32
// CHECK:             %[[BLOCK:.*]] = tracea_pipe.mma
// CHECK:             %[[OTHERS:.*]] = tracea_pipe.load %[[D]]
// CHECK:             arith.addf %[[OTHERS]], %[[BLOCK]]
// CHECK:             tracea_pipe.store %{{.*}}, %[[D]]
// CHECK-LABEL: tracea_pipe.kernel @gemm_1(
// CHECK-SAME:    %{{[a-z0-9]+}}: memref<4x100xf16>, %[[B:[a-z0-9]+]]: memref<100x64xf16>, %[[D:[a-z0-9]+]]: memref<4x64xf16>
// CHECK:         %[[REST:.*]] = tracea_pipe.scratch : memref<4x64xf32
// CHECK:         scf.for
// CHECK:           tracea_pipe.load %[[REST]]
// CHECK:           tracea_pipe.store %{{.*}}, %[[D]]
// CHECK:           tracea_pipe.store %{{.*}}, %[[REST]]
// CHECK-LABEL: tracea_pipe.kernel @gemm_2(
// CHECK:         %[[SUM:.*]] = scf.for %{{.*}} = %c0 to %c100 step %c16 iter_args
// CHECK:         tracea_pipe.store %[[SUM]]
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @panels(%a: tensor<4x100xf32>, %b: tensor<100x64xf32>, %d: tensor<4x64xf32>, %e: tensor<4x100xf16>, %f: tensor<100x64xf16>, %g: tensor<4x64xf16>) -> (tensor<4x64xf32>, tensor<4x64xf16>, tensor<4x64xf32>) {
  %0 = tracea.gemm ins(%a, %b : tensor<4x100xf32>, tensor<100x64xf32>) outs(%d : tensor<4x64xf32>)
    schedule <variant = "gemm.direct", unit = vector, tile = [4, 64, 16], registers = [4, 8]>
  %1 = tracea.gemm ins(%e, %f : tensor<4x100xf16>, tensor<100x64xf16>) outs(%g : tensor<4x64xf16>)
    schedule <variant = "gemm.direct", unit = vector, tile = [4, 64, 16], registers = [4, 8]>
  %2 = tracea.gemm ins(%a, %b : tensor<4x100xf32>, tensor<100x64xf32>) outs(%d : tensor<4x64xf32>)
    schedule <variant = "gemm.direct", unit = vector, tile = [4, 8, 16], registers = [4, 8]>
  return %0, %1, %2 : tensor<4x64xf32>, tensor<4x64xf16>, tensor<4x64xf32>
}
}

// -----

// With `prefetch = 1` each register tile asks for its share of the next block of k: of eight panels
// each for a row of A, and for the columns of B that are its own.
// CHECK-LABEL: tracea_pipe.kernel @gemm_0(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<4x100xf32>, %[[B:[a-z0-9]+]]: memref<100x64xf32>
// CHECK:         scf.for %[[K:.*]] = %c0 to %c100 step %c16 {
// CHECK:           %[[NEXT:.*]] = arith.addi %[[K]], %c16
// CHECK:           scf.for %[[J:.*]] = %c0 to %{{.*}} step %c8 {
// CHECK:             tracea_pipe.prefetch %[[A]][%{{.*}}, %[[NEXT]]] {{.*}} shape [1, 16] level 2 : memref<4x100xf32>
// CHECK:             tracea_pipe.prefetch %[[B]][%{{.*}}] {{.*}} shape [16, 8] level 2 : memref<100x64xf32>
// CHECK:             tracea_pipe.mma
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @next_block(%a: tensor<4x100xf32>, %b: tensor<100x64xf32>, %d: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<4x100xf32>, tensor<100x64xf32>) outs(%d : tensor<4x64xf32>)
    schedule <variant = "gemm.direct", unit = vector, tile = [4, 64, 16], registers = [4, 8], prefetch = 1>
  return %0 : tensor<4x64xf32>
}
}

// -----

// Each of the four register tiles that meet a panel of B asks for a share of the next one,
// and for its sums: what stands before a multiply is spread among its steps later.
// CHECK-LABEL: tracea_pipe.kernel @gemm_0(
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<16x64xf32>, %[[B:[a-z0-9]+]]: memref<64x24xf32>, %[[D:[a-z0-9]+]]: memref<16x24xf32>
// CHECK:         %[[BP:.*]] = tracea_pipe.stage %[[B]]
// CHECK:         %[[AP:.*]] = tracea_pipe.stage %[[A]]
// CHECK:         scf.for %[[J:[a-z0-9]+]] = %c0 to %{{.*}} step %c8 {
// CHECK:           %[[PANEL:.*]] = arith.divui %[[J]], %c8
// CHECK:           scf.for %[[I:[a-z0-9]+]] = %c0 to %{{.*}} step %c4 {
// CHECK:             tracea_pipe.prefetch %[[D]]{{.*}} shape [4, 8] write : memref<16x24xf32>
// CHECK:             %[[FROM:.*]] = arith.muli %{{.*}}, %c8
// CHECK:             %[[NEXT:.*]] = arith.addi %[[PANEL]], %c1
// CHECK:             tracea_pipe.prefetch %[[BP]][%[[NEXT]], %[[FROM]], %c0] {{.*}} shape [1, 8, 8] level 2 : tensor<3x64x8xf32, #tracea_pipe.staged>
// CHECK:             tracea_pipe.mma
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @next_panel(%a: tensor<16x64xf32>, %b: tensor<64x24xf32>, %d: tensor<16x24xf32>) -> tensor<16x24xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<16x64xf32>, tensor<64x24xf32>) outs(%d : tensor<16x24xf32>)
    schedule <variant = "gemm.packed", unit = vector, tile = [16, 24, 64, 16], registers = [4, 8]>
  return %0 : tensor<16x24xf32>
}
}

// -----

// With `prefetch = 1` the register tiles of a packed block of k ask for the next one in the order of
// memory, before it is packed: two row tiles and three panels for sixteen rows, three each.
// CHECK-LABEL: tracea_pipe.kernel @gemm_0(
// CHECK-SAME:    %{{[a-z0-9]+}}: memref<8x64xf32>, %[[B:[a-z0-9]+]]: memref<64x24xf32>
// CHECK:         scf.for %[[K:[a-z0-9]+]] = %c0 to %c64 step %c16 {
// CHECK:           %[[NEXT:.*]] = arith.addi %[[K]], %c16
// CHECK:           tracea_pipe.stage %[[B]]
// CHECK:           scf.for %[[J:[a-z0-9]+]] = %c0 to %{{.*}} step %c8 {
// CHECK:             scf.for %[[I:[a-z0-9]+]] = %c0 to %{{.*}} step %c4 {
// CHECK:               %[[PANEL:.*]] = arith.muli %{{.*}}, %c2
// CHECK:               %[[TILE:.*]] = arith.addi %[[PANEL]], %{{.*}}
// CHECK:               %[[ROW:.*]] = arith.muli %[[TILE]], %c3
// CHECK:               %[[FROM:.*]] = arith.addi %[[NEXT]], %[[ROW]]
// CHECK:               tracea_pipe.prefetch %[[B]][%[[FROM]], %{{.*}}] {{.*}} shape [3, 32] level 2 : memref<64x24xf32>
// CHECK:               tracea_pipe.mma
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @next_packed_block(%a: tensor<8x64xf32>, %b: tensor<64x24xf32>, %d: tensor<8x24xf32>) -> tensor<8x24xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<8x64xf32>, tensor<64x24xf32>) outs(%d : tensor<8x24xf32>)
    schedule <variant = "gemm.packed", unit = vector, tile = [8, 24, 16, 8], registers = [4, 8], prefetch = 1>
  return %0 : tensor<8x24xf32>
}
}

// -----

// More register tiles than rows of B share them: a line each of four. Where rows run along k, these are
// columns, and a share is of what the block has of them.
// CHECK-LABEL: tracea_pipe.kernel @gemm_0(
// CHECK-SAME:    %{{[a-z0-9]+}}: memref<32x64xf32>, %[[B:[a-z0-9]+]]: memref<64x64xf32>
// CHECK:         tracea_pipe.prefetch %[[B]]{{.*}} shape [1, 16] level 2 : memref<64x64xf32>
// CHECK-LABEL: tracea_pipe.kernel @gemm_1(
// CHECK-SAME:    %{{[a-z0-9]+}}: memref<32x64xf32>, %[[B:[a-z0-9]+]]: memref<24x64xf32>
// CHECK:         tracea_pipe.prefetch %[[B]]{{.*}} shape [1, 16] level 2 : memref<24x64xf32>
// What one request may ask for bounds a share.
// CHECK-LABEL: tracea_pipe.kernel @gemm_2(
// CHECK:         tracea_pipe.prefetch %{{.*}} shape [16, 4096] level 2 : memref<4096x4096xf32>
// CHECK:         tracea_pipe.prefetch %{{.*}} shape [1, 64, 1024] level 2 : tensor<4x2048x1024xf32, #tracea_pipe.staged>
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @shares(%a: tensor<32x64xf32>, %b: tensor<64x64xf32>, %c: tensor<24x64xf32>, %d: tensor<32x64xf32>, %e: tensor<32x24xf32>,
                  %f: tensor<4x4096xf32>, %g: tensor<4096x4096xf32>, %h: tensor<4x4096xf32>) -> (tensor<32x64xf32>, tensor<32x24xf32>, tensor<4x4096xf32>) {
  %0 = tracea.gemm ins(%a, %b : tensor<32x64xf32>, tensor<64x64xf32>) outs(%d : tensor<32x64xf32>)
    schedule <variant = "gemm.packed", unit = vector, tile = [32, 64, 16, 16], registers = [4, 8], prefetch = 1>
  %1 = tracea.gemm transpose_rhs ins(%a, %c : tensor<32x64xf32>, tensor<24x64xf32>) outs(%e : tensor<32x24xf32>)
    schedule <variant = "gemm.packed", unit = vector, tile = [32, 24, 16, 16], registers = [4, 8], prefetch = 1>
  %2 = tracea.gemm ins(%f, %g : tensor<4x4096xf32>, tensor<4096x4096xf32>) outs(%h : tensor<4x4096xf32>)
    schedule <variant = "gemm.packed", unit = vector, tile = [4, 4096, 2048, 4], registers = [4, 1024], prefetch = 1>
  return %0, %1, %2 : tensor<32x64xf32>, tensor<32x24xf32>, tensor<4x4096xf32>
}
}
