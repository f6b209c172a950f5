// Gradients of attention by the matrix units of warps.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse --split-input-file | FileCheck %s

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448>} {
// CHECK-LABEL: func.func @queries
// CHECK:         tracea_pipe.launch @attention_qgrad_0
// CHECK-LABEL: tracea_pipe.kernel @attention_qgrad_0(
// Keys are terms of the result as in attention.
// CHECK-SAME:    band = #tracea_pipe.band<result = 6, dim = 2, operands = [1, 2], dims = [2, 2], before = 300, after = 0>
// CHECK:         tiles (%[[B:.*]], %[[H:.*]], %{{.*}}) in (%c2, %c8, %{{.*}}) {
// CHECK:           %[[G:.*]] = arith.divui %[[H]], %c4
// Queries and the result's gradients stay in registers.
// CHECK-COUNT-3:   tracea_pipe.load %arg0[%[[B]], %[[H]], %[[I0:.*]], {{.*}}] {{.*}} -> tensor<64x16xbf16, #[[LEFT:.*]]>
// CHECK-COUNT-2:   tracea_pipe.load %arg3[%[[B]], %[[H]], %[[I0]], {{.*}}] {{.*}} -> tensor<64x16xbf16, #[[LEFT]]>
// CHECK:           tracea_pipe.load %arg4[%[[B]], %[[H]], %[[I0]]] {{.*}} -> tensor<64x1xf32
// A row that saw no key has -inf, from which exponents are a number all the same.
// CHECK:           arith.minimumf
// CHECK:           tracea_pipe.load %arg5[%[[B]], %[[H]], %[[I0]]] {{.*}} -> tensor<64x1xf32
// CHECK:           scf.for %[[J0:.*]] = %{{.*}} to %{{.*}} step %c64 iter_args(%[[O:.*]] = {{.*}}) -> (tensor<64x48xf32, #{{.*}}>)
// CHECK:             %[[K:.*]] = tracea_pipe.stage %arg1[%[[B]], %[[G]], %[[J0]], %c0] {{.*}} padded [2, 3] slots 2
// CHECK:             tracea_pipe.stage %arg2[%[[B]], %[[G]], %[[J0]], %c0]
// CHECK-COUNT-3:     tracea_pipe.mma {{.*}}, tensor<64x64xf32
// CHECK:             scf.if
// CHECK:             %[[P:.*]] = math.exp2 {{.*}} {tracea_pipe.flushes} : tensor<64x64xf32
// CHECK-COUNT-2:     tracea_pipe.mma {{.*}}, tensor<64x64xf32
// CHECK:             %[[ABOVE:.*]] = arith.subf
// CHECK:             %[[DS:.*]] = arith.mulf %[[P]], %[[ABOVE]]
// CHECK:             arith.truncf %[[DS]]
// CHECK-NOT:         tracea_pipe.relayout
// CHECK-COUNT-4:     tracea_pipe.mma {{.*}}, tensor<64x48xf32
// CHECK:           arith.mulf
// CHECK:           tracea_pipe.store {{.*}}, %arg6[%[[B]], %[[H]], %[[I0]], %c0] {{.*}} limits(%{{.*}}, %c40)
func.func @queries(%q: tensor<2x8x?x40xbf16>, %k: tensor<2x2x?x40xbf16>, %v: tensor<2x2x?x32xbf16>, %g: tensor<2x8x?x32xbf16>, %l: tensor<2x8x?xf32>, %t: tensor<2x8x?xf32>, %e: tensor<2x8x?x40xbf16>) -> tensor<2x8x?x40xbf16> {
  %0 = tracea.attention_qgrad causal window [300, -1] ins(%q, %k, %v, %g, %l, %t : tensor<2x8x?x40xbf16>, tensor<2x2x?x40xbf16>, tensor<2x2x?x32xbf16>, tensor<2x8x?x32xbf16>, tensor<2x8x?xf32>, tensor<2x8x?xf32>)
    outs(%e : tensor<2x8x?x40xbf16>)
    schedule <variant = "attention_qgrad.warp", unit = mma_sync, tile = [64, 64], registers = [16, 64], slots = 2, residents = 2> -> tensor<2x8x?x40xbf16>
  return %0 : tensor<2x8x?x40xbf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448>} {
// Heads behind rows are read and written where they are.
// CHECK-LABEL: func.func @keys
// CHECK-NOT:     linalg.transpose
// CHECK-LABEL: tracea_pipe.kernel @attention_kvgrad_0(
// A key sees queries as these see keys, with the sides of the band exchanged.
// CHECK-SAME:    band = #tracea_pipe.band<result = 6, dim = 1, operands = [0, 3], dims = [1, 2], before = 0, after = 300>
// CHECK:         tiles (%[[B:.*]], %[[H:.*]], %{{.*}}) in (%c2, %c8, %{{.*}}) {
// Keys and values are read again from shared memory.
// CHECK:           %[[K:.*]] = tracea_pipe.stage %arg1[%[[B]], %[[H]], %[[J0:.*]], %c0]
// CHECK:           %[[V:.*]] = tracea_pipe.stage %arg2[%[[B]], %[[H]], %[[J0]], %c0]
// CHECK:           scf.for %[[I0:.*]] = %{{.*}} to %{{.*}} step %c32
// CHECK:             tracea_pipe.stage %arg0[%[[B]], %[[I0]], %[[H]], %c0] {{.*}} slots 2
// CHECK:             tracea_pipe.stage %arg3[%[[B]], %[[H]], %[[I0]], %c0] {{.*}} slots 2
// CHECK:             tracea_pipe.load %arg4[%[[B]], %[[H]], %[[I0]]] {{.*}} -> tensor<64x32xf32
// CHECK:             math.exp2
// Weights are a left operand as they stand.
// CHECK-NOT:         tracea_pipe.relayout
// CHECK-COUNT-2:     tracea_pipe.mma {{.*}}, tensor<64x64xf32
// CHECK:             tracea_pipe.load %arg5[%[[B]], %[[H]], %[[I0]]] {{.*}} -> tensor<64x32xf32
// CHECK:           tracea_pipe.store {{.*}}, %arg6[%[[B]], %[[J0]], %[[H]], %c0]
// CHECK:           tracea_pipe.store {{.*}}, %arg7[%[[B]], %[[H]], %[[J0]], %c0]
func.func @keys(%q: tensor<2x?x8x64xbf16>, %k: tensor<2x8x?x64xbf16>, %v: tensor<2x8x?x64xbf16>, %g: tensor<2x8x?x64xbf16>, %l: tensor<2x8x?xf32>, %t: tensor<2x8x?xf32>, %qe: tensor<2x8x?x64xbf16>, %e: tensor<2x8x?x64xbf16>, %f: tensor<2x?x8x64xbf16>) -> (tensor<2x?x8x64xbf16>, tensor<2x8x?x64xbf16>) {
  %qt = linalg.transpose ins(%q : tensor<2x?x8x64xbf16>) outs(%qe : tensor<2x8x?x64xbf16>) permutation = [0, 2, 1, 3]
  %0:2 = tracea.attention_kvgrad causal window [300, -1] ins(%qt, %k, %v, %g, %l, %t : tensor<2x8x?x64xbf16>, tensor<2x8x?x64xbf16>, tensor<2x8x?x64xbf16>, tensor<2x8x?x64xbf16>, tensor<2x8x?xf32>, tensor<2x8x?xf32>)
    outs(%e, %e : tensor<2x8x?x64xbf16>, tensor<2x8x?x64xbf16>)
    schedule <variant = "attention_kvgrad.warp", unit = mma_sync, tile = [64, 32], registers = [16, 32], slots = 2, reread = 1> -> tensor<2x8x?x64xbf16>, tensor<2x8x?x64xbf16>
  %1 = linalg.transpose ins(%0#0 : tensor<2x8x?x64xbf16>) outs(%f : tensor<2x?x8x64xbf16>) permutation = [0, 2, 1, 3]
  return %1, %0#1 : tensor<2x?x8x64xbf16>, tensor<2x8x?x64xbf16>
}
}

// -----

module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448>} {
// Query heads that share a key head leave sums of their own, which are added in their order.
// CHECK-LABEL: func.func @shared
// CHECK:         %[[PARTS:.*]]:2 = tracea_pipe.launch @attention_kvgrad_0{{.*}} -> tensor<2x8x100x64xf32>, tensor<2x8x100x64xf32>
// CHECK:         %[[APART:.*]] = tensor.expand_shape %[[PARTS]]#0 {{.*}} into tensor<2x2x4x100x64xf32>
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "parallel", "parallel"]} ins(%[[APART]] :
// CHECK:           arith.addf
// CHECK:         linalg.generic
// CHECK:           arith.truncf
// CHECK-LABEL: tracea_pipe.kernel @attention_kvgrad_0(
// CHECK:         tiles (%[[B:.*]], %[[H:.*]], %{{.*}}) in (%c2, %c8, %c2) {
// CHECK:           %[[G:.*]] = arith.divui %[[H]], %c4
// CHECK:           tracea_pipe.load %arg1[%[[B]], %[[G]],
// CHECK:           tracea_pipe.stage %{{.*}}[%[[B]], %[[H]],
// CHECK:           tracea_pipe.store {{.*}}, %arg6[%[[B]], %[[H]],
func.func @shared(%q: tensor<2x8x70x64xbf16>, %k: tensor<2x2x100x64xbf16>, %v: tensor<2x2x100x64xbf16>, %l: tensor<2x8x70xf32>) -> (tensor<2x2x100x64xbf16>, tensor<2x2x100x64xbf16>) {
  %0:2 = tracea.attention_kvgrad ins(%q, %k, %v, %q, %l, %l : tensor<2x8x70x64xbf16>, tensor<2x2x100x64xbf16>, tensor<2x2x100x64xbf16>, tensor<2x8x70x64xbf16>, tensor<2x8x70xf32>, tensor<2x8x70xf32>)
    outs(%k, %v : tensor<2x2x100x64xbf16>, tensor<2x2x100x64xbf16>)
    schedule <variant = "attention_kvgrad.warp", unit = mma_sync, tile = [64, 32], registers = [16, 32], slots = 2> -> tensor<2x2x100x64xbf16>, tensor<2x2x100x64xbf16>
  return %0#0, %0#1 : tensor<2x2x100x64xbf16>, tensor<2x2x100x64xbf16>
}
}
