// Depthwise convolutions by lanes: a patch of the image and the filters of its channels are staged
// together, and the pixels that a row of taps sees are read once.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse --split-input-file | FileCheck %s

#sm_80 = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80", subgroup = 32>

// Rows of a tile are lanes, and its pixels registers: four, and two more that the last taps see.
// CHECK-DAG:   #[[TILE:lanes[0-9]*]] = #tracea_pipe.lanes<reg = {{\[}}[0, 0, 1], [0, 0, 2], [0, 0, 4]], lane = {{\[}}[0, 0, 8], [0, 0, 16], [1, 0, 0], [2, 0, 0], [4, 0, 0]], warp = {{\[}}[8, 0, 0]], outer = [1, 4, 1]>
// CHECK-DAG:   #[[SEEN:lanes[0-9]*]] = #tracea_pipe.lanes<{{.*}}, outer = [1, 6, 1]>
// CHECK-DAG:   #[[PIXELS:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d0 * 11 + d1, d2)>
// CHECK-DAG:   #[[FILTERS:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d2, d0, d1, 0)>
// CHECK-DAG:   #[[TAP:map[0-9]*]] = affine_map<(d0, d1, d2) -> (0, d2)>
// CHECK-LABEL: tracea_pipe.kernel @conv2d_0(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<2x20x20x48xf16> {tracea_pipe.aligned = 16 : i64}, %[[W:[a-z0-9]+]]: memref<48x3x3x1xf16>,
// CHECK-SAME:    definitions = {{.*}}tracea_pipe.lane_copies, tracea_pipe.residents = 4 : i64, variant = "conv2d.lanes", warps = 2
// CHECK:         tiles (%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) in (%c2, %c2, %c3, %c2)
// CHECK:           %[[TAPS:.*]] = tracea_pipe.delinearize %c0 into(%c3) : <2>
// CHECK:           %[[WALK:.*]] = tracea_pipe.delinearize %c0 into(%c11) : <2>
// CHECK-NEXT:      %[[PATCH:.*]] = tracea_pipe.stage %[[X]]{{.*}} along [0](%[[WALK]] : !tracea_pipe.walk<2>) padded [1, 2, 3] : memref<2x20x20x48xf16> -> tensor<198x32xf16, #tracea_pipe.staged>
// CHECK-NEXT:      %[[FILTER:.*]] = tracea_pipe.stage %[[W]]{{.*}} map #[[FILTERS]] along [0](%[[TAPS]] : !tracea_pipe.walk<2>) padded [0] : memref<48x3x3x1xf16> -> tensor<9x36xf32, #tracea_pipe.staged>
// CHECK-NEXT:      scf.for %[[Q:.*]] = %c0 to %c8 step %c4
// CHECK-NEXT:        %[[SUM:.*]] = scf.for %[[R:.*]] = %c0 to %c3 step %c1 iter_args(%[[OTHERS:.*]] = %{{.*}})
// CHECK:               %[[ROW:.*]] = tracea_pipe.load %[[PATCH]]{{.*}} map #[[PIXELS]] : {{.*}} -> tensor<16x6x32xf16, #[[SEEN]]>
// CHECK-NEXT:          %[[WIDE:.*]] = arith.extf %[[ROW]]
// CHECK-NEXT:          %[[FIRST:.*]] = tracea_pipe.slice %[[WIDE]][0, 0, 0] : {{.*}} -> tensor<16x4x32xf32, #[[TILE]]>
// CHECK:               %[[WEIGHT:.*]] = tracea_pipe.load %[[FILTER]]{{.*}} map #[[TAP]] : {{.*}} -> tensor<1x1x32xf32
// CHECK-NEXT:          %[[ALL:.*]] = tracea_pipe.broadcast %[[WEIGHT]]
// CHECK-NEXT:          math.fma %[[FIRST]], %[[ALL]], %[[OTHERS]]
// CHECK:               tracea_pipe.slice %[[WIDE]][0, 1, 0]
// CHECK:               tracea_pipe.slice %[[WIDE]][0, 2, 0]
// CHECK-NOT:         tracea_pipe.mma
// CHECK:             tracea_pipe.store %{{.*}} limits(%{{.*}}, %{{.*}}, %{{.*}}) : tensor<16x4x32xf16, #[[TILE]]>, memref<2x20x20x48xf16>
module attributes {tracea.target = #sm_80} {
func.func @main(%x: tensor<2x20x20x48xf16>, %w: tensor<48x3x3x1xf16>, %d: tensor<2x20x20x48xf16>) -> tensor<2x20x20x48xf16> {
  %0 = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] groups 48
         ins(%x, %w : tensor<2x20x20x48xf16>, tensor<48x3x3x1xf16>) outs(%d : tensor<2x20x20x48xf16>)
         schedule <variant = "conv2d.lanes", unit = vector, tile = [16, 8, 32], registers = [4, 8], residents = 4>
  return %0 : tensor<2x20x20x48xf16>
}
}

// -----

#sm_80 = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80", subgroup = 32>

// With a step of two pixels taps 0 and 2 see every other column, and tap 1 those between: two reads.
// Rows of any alignment have a second kernel. Filters of that many channels stay as they are.
// CHECK-LABEL: func.func @open
// CHECK:         tracea_pipe.launch @conv2d_0
// CHECK:       tracea_pipe.kernel @conv2d_0(
// CHECK:           tracea_pipe.stage %{{.*}} -> tensor<9x72xf16, #tracea_pipe.staged>
// CHECK:               tracea_pipe.load {{.*}} -> tensor<4x5x64xf16
// CHECK:               tracea_pipe.slice %{{.*}}[0, 0, 0]
// CHECK:               tracea_pipe.slice %{{.*}}[0, 1, 0]
// CHECK:               tracea_pipe.load {{.*}} -> tensor<4x4x64xf16
// CHECK-NOT:           tracea_pipe.slice
// CHECK:               scf.yield
// CHECK:       tracea_pipe.kernel @conv2d_1(
// CHECK-NOT:     tracea_pipe.aligned
module attributes {tracea.target = #sm_80} {
func.func @open(%x: tensor<2x21x21x?xf16>, %w: tensor<?x3x3x1xf16>, %d: tensor<2x10x10x?xf16>) -> tensor<2x10x10x?xf16> {
  %0 = tracea.conv2d layout nhwc filter krsc strides [2, 2] groups 64
         ins(%x, %w : tensor<2x21x21x?xf16>, tensor<?x3x3x1xf16>) outs(%d : tensor<2x10x10x?xf16>)
         schedule <variant = "conv2d.lanes", unit = vector, tile = [4, 8, 64], registers = [4, 8]>
  return %0 : tensor<2x10x10x?xf16>
}
}
