// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse | FileCheck %s

// A matrix of channels for each tap, whose sum walks through the pixels of all
// images: a step's pixels of the gradient, and those of the image one tap away.
// Channels are rows of both blocks. Parts of the sum are added up in order.
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132>} {

// CHECK-DAG: #[[PIXELS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[STRIDED:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1 * 2, d2 * 2, d3)>
// CHECK-DAG: #[[PART:.*]] = affine_map<(d0, d1) -> (0, d0, 0, 0, d1)>
// CHECK-DAG: #[[GRADIENT:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d5, d6, d7, d1)>
// CHECK-DAG: #[[SEEN:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d5, d6 * 2 + d2 - 1, d7 * 2 + d3 - 1, d4)>
// CHECK-LABEL: func.func @warpgroup
// CHECK: %[[PARTS:.*]] = tracea_pipe.launch @conv2d_wgrad_0 ins(%arg1, %arg0 :
// CHECK-SAME: -> tensor<4x128x3x3x64xf32>
// CHECK: tracea_pipe.launch @conv2d_wgrad_1 ins(%[[PARTS]]
func.func @warpgroup(%x: tensor<8x56x56x64xbf16>, %dy: tensor<8x28x28x128xbf16>, %d: tensor<128x3x3x64xbf16>) -> tensor<128x3x3x64xbf16> {
  %0 = tracea.conv2d_wgrad layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1] ins(%x, %dy : tensor<8x56x56x64xbf16>, tensor<8x28x28x128xbf16>) outs(%d : tensor<128x3x3x64xbf16>)
         schedule <variant = "wgrad.warpgroup", unit = wgmma, tile = [128, 64, 64], slots = 4, producers = 1, consumers = 2, split = 4>
  return %0 : tensor<128x3x3x64xbf16>
}

// CHECK-LABEL: func.func @groups
// CHECK: %[[SPLIT:.*]] = tensor.expand_shape %arg2 {{\[\[}}0, 1], [2], [3], [4]]
// CHECK-SAME: into tensor<4x16x1x3x16xf32>
// CHECK: tracea_pipe.launch @conv2d_wgrad_2
func.func @groups(%x: tensor<?x9x9x64xf32>, %dy: tensor<?x9x7x64xf32>, %d: tensor<64x1x3x16xf32>) -> tensor<64x1x3x16xf32> {
  %0 = tracea.conv2d_wgrad layout nhwc filter krsc groups 4 ins(%x, %dy : tensor<?x9x9x64xf32>, tensor<?x9x7x64xf32>) outs(%d : tensor<64x1x3x16xf32>)
         schedule <variant = "wgrad.simt", unit = vector, tile = [32, 32, 8], registers = [4, 4], slots = 2>
  return %0 : tensor<64x1x3x16xf32>
}

// The channels of a group begin behind those of the groups before it, in both operands.
// CHECK-LABEL: func.func @groups_in_bulk
// CHECK: %[[SPLIT:.*]] = tensor.expand_shape %arg2 {{\[\[}}0, 1], [2], [3], [4]]
// CHECK-SAME: into tensor<2x48x3x3x40xbf16>
// CHECK: tracea_pipe.launch @conv2d_wgrad_4
func.func @groups_in_bulk(%x: tensor<2x9x10x80xbf16>, %dy: tensor<2x9x10x96xbf16>, %d: tensor<96x3x3x40xbf16>) -> tensor<96x3x3x40xbf16> {
  %0 = tracea.conv2d_wgrad layout nhwc filter krsc pads [1, 1, 1, 1] groups 2 ins(%x, %dy : tensor<2x9x10x80xbf16>, tensor<2x9x10x96xbf16>) outs(%d : tensor<96x3x3x40xbf16>)
         schedule <variant = "wgrad.warpgroup", unit = wgmma, tile = [64, 64, 64], slots = 2, producers = 1, consumers = 1>
  return %0 : tensor<96x3x3x40xbf16>
}

// CHECK-LABEL: tracea_pipe.kernel @conv2d_wgrad_0
// CHECK-SAME: definitions = [#tracea_pipe.definition<result = 2, factors = 2, operands = [0, 1], maps = [#[[GRADIENT]], #[[SEEN]]]>]
// CHECK: tiles (%[[P:.*]], %[[R:.*]], %[[S:.*]], %{{.*}}, %{{.*}}) in (%c4, %c3, %c3, %c1{{.*}}, %c1
// CHECK: scf.for
// CHECK: %[[WALK:.*]] = tracea_pipe.delinearize %{{.*}} into(%c28, %c28)
// CHECK: %[[ROW:.*]] = arith.subi %[[R]], %c1
// CHECK: %[[COLUMN:.*]] = arith.subi %[[S]], %c1
// CHECK: tracea_pipe.stage %arg0[%c0, %c0, %c0, %{{.*}}] map #[[PIXELS]] along [0](%[[WALK]] : !tracea_pipe.walk<3>) padded [0, 3]
// CHECK: tracea_pipe.stage %arg1[%c0, %[[ROW]], %[[COLUMN]], %{{.*}}] map #[[STRIDED]] along [0](%[[WALK]] : !tracea_pipe.walk<3>) padded [0, 1, 2, 3]
// CHECK: tracea_pipe.store %{{.*}}, %arg2[%[[P]], %{{.*}}, %[[R]], %[[S]], %{{.*}}] map #[[PART]]

// Groups have a dimension of the result of their own.
// CHECK-LABEL: tracea_pipe.kernel @conv2d_wgrad_2
// CHECK: tiles (%[[G:.*]], %[[R:.*]], %[[S:.*]], %[[M:.*]], %{{.*}}) in (%c4
// CHECK: %[[FIRST:.*]] = arith.muli %[[G]], %c16
// CHECK: arith.addi %[[FIRST]],
// CHECK: tracea_pipe.store %{{.*}}, %{{.*}}[%[[G]], %{{.*}}, %[[R]], %[[S]], %{{.*}}]

// CHECK-LABEL: tracea_pipe.kernel @conv2d_wgrad_4
// CHECK: tiles (%[[G:.*]], %[[R:.*]], %[[S:.*]], %[[M:.*]], %[[N:.*]]) in (%c2
// CHECK-DAG: %[[ROW:.*]] = arith.muli %[[M]], %c64
// CHECK-DAG: %[[COLUMN:.*]] = arith.muli %[[N]], %c64
// CHECK-DAG: %[[FILTERS:.*]] = arith.muli %[[G]], %c48
// CHECK-DAG: %[[FILTER:.*]] = arith.addi %[[FILTERS]], %[[ROW]]
// CHECK-DAG: %[[CHANNELS:.*]] = arith.muli %[[G]], %c40
// CHECK-DAG: %[[CHANNEL:.*]] = arith.addi %[[CHANNELS]], %[[COLUMN]]
// CHECK: tracea_pipe.stage %arg0[%c0, %c0, %c0, %[[FILTER]]]
// CHECK: tracea_pipe.stage %arg1[%c0, %{{.*}}, %{{.*}}, %[[CHANNEL]]]
// CHECK: tracea_pipe.store %{{.*}}, %arg2[%[[G]], %[[ROW]], %[[R]], %[[S]], %[[COLUMN]]] {{.*}} limits(
}
