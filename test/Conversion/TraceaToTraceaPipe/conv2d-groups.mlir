// Groups of eight channels by warps: a patch of the image and the filters of its groups are staged
// together, and the pixels of a row are multiplied tap by tap, eight channels deep.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse --split-input-file | FileCheck %s

#sm_80 = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80", subgroup = 32>

// CHECK-DAG:   #[[PIXELS:map[0-9]*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG:   #[[FILTERS:map[0-9]*]] = affine_map<(d0, d1) -> (d1 * 9, d0)>
// CHECK-LABEL: tracea_pipe.kernel @conv2d_0(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<2x20x20x48xf16> {tracea_pipe.aligned = 16 : i64}, %[[W:[a-z0-9]+]]: memref<48x3x3x8xf16> {tracea_pipe.aligned = 16 : i64},
// CHECK-SAME:    variant = "conv2d.groups", warps = 1
// CHECK:         tiles (%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) in (%c2, %c3, %c1, %c2)
// CHECK:           %[[TAPS:.*]] = tracea_pipe.delinearize %c0 into(%c3, %c3) : <3>
// CHECK:           %[[WALK:.*]] = tracea_pipe.delinearize %c0 into(%c35) : <2>
// CHECK-NEXT:      %[[PATCH:.*]] = tracea_pipe.stage %[[X]]{{.*}} along [0](%[[WALK]] : !tracea_pipe.walk<2>) padded [1, 2, 3] : {{.*}} -> tensor<350x32xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8]>>
// CHECK-NEXT:      %[[FILTER:.*]] = tracea_pipe.stage %[[W]]{{.*}} along [0](%[[TAPS]] : !tracea_pipe.walk<3>) padded [0] : {{.*}} -> tensor<288x8xf16, #tracea_pipe.staged>
// Two groups lie in a sector of the result and leave one behind the other.
// CHECK-NEXT:      scf.for %[[GROUPS:.*]] = %c0 to %c4 step %c2
// CHECK-NEXT:        scf.for %[[ROW:.*]] = %c0 to %c8 step %c1
// CHECK-NEXT:          scf.for %[[NUMBER:.*]] = %c0 to %c2 step %c1
// CHECK:               scf.for %{{.*}} = %c0 to %c3 step %c1 iter_args(%[[OTHERS:.*]] = %{{.*}})
// CHECK:                 %[[A:.*]] = tracea_pipe.load %[[PATCH]]{{.*}} map #[[PIXELS]] : {{.*}} -> tensor<32x8xf16
// CHECK:                 %[[B:.*]] = tracea_pipe.load %[[FILTER]]{{.*}} map #[[FILTERS]] : {{.*}} -> tensor<8x8xf16
// CHECK-NEXT:            %[[FIRST:.*]] = tracea_pipe.mma %[[A]], %[[B]], %[[OTHERS]]
// CHECK:                 tracea_pipe.mma %{{.*}}, %{{.*}}, %[[FIRST]]
// A row that the result has not leaves no pixel.
// CHECK:               %[[LEFT:.*]] = arith.muli %{{.*}}, %c32
// CHECK:               %[[LIMIT:.*]] = arith.minsi %{{.*}}, %[[LEFT]]
// CHECK:               tracea_pipe.store %{{.*}} limits(%[[LIMIT]], %{{.*}}) : tensor<32x8xf16, {{.*}}>, memref<2x20x20x48xf16>
module attributes {tracea.target = #sm_80} {
func.func @main(%x: tensor<2x20x20x48xf16>, %w: tensor<48x3x3x8xf16>, %d: tensor<2x20x20x48xf16>) -> tensor<2x20x20x48xf16> {
  %0 = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] groups 6
         ins(%x, %w : tensor<2x20x20x48xf16>, tensor<48x3x3x8xf16>) outs(%d : tensor<2x20x20x48xf16>)
         schedule <variant = "conv2d.groups", unit = mma_sync, tile = [8, 32, 32], registers = [32, 8]>
  return %0 : tensor<2x20x20x48xf16>
}
}

// -----

#sm_80 = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80", subgroup = 32>

// Every other pixel lies in all banks by another swizzle. Two warps share the width.
// CHECK-LABEL: func.func @strided
// CHECK:       warps = 2
// CHECK:         tracea_pipe.stage {{.*}}#tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
module attributes {tracea.target = #sm_80} {
func.func @strided(%x: tensor<2x20x70x32xbf16>, %w: tensor<32x1x1x8xbf16>, %d: tensor<2x10x35x32xf32>) -> tensor<2x10x35x32xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc strides [2, 2] groups 4
         ins(%x, %w : tensor<2x20x70x32xbf16>, tensor<32x1x1x8xbf16>) outs(%d : tensor<2x10x35x32xf32>)
         schedule <variant = "conv2d.groups", unit = mma_sync, tile = [4, 32, 32], registers = [16, 8]>
  return %0 : tensor<2x10x35x32xf32>
}
}
