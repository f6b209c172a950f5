// Depthwise convolutions: elementwise products of the patch and a tap's weights.
// RUN: tracea-opt %s --convert-tracea-to-tracea-pipe --canonicalize --cse --split-input-file | FileCheck %s

// NHWC: pixels x channels; the weights are broadcast along the pixels. Channels past
// the end are padded in image and filter.
// CHECK-DAG:   #[[PIXELS:map[0-9]*]] = affine_map<(d0, d1) -> (0, d0 * 2, d1)>
// CHECK-DAG:   #[[WEIGHTS:map[0-9]*]] = affine_map<(d0, d1) -> (0, 0, d1)>
// CHECK-LABEL: tracea_pipe.kernel @conv2d_0(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<1x9x9x12xf32>, %[[F:[a-z0-9]+]]: memref<12x3x3x1xf32>
// CHECK-SAME:    variant = "conv2d.depthwise"
// CHECK:         tiles (%{{.*}}, %[[C:.*]], %{{.*}}, %{{.*}}) in (%c1, %c2, %c3, %c2)
// CHECK:           %[[C0:.*]] = arith.muli %[[C]], %c8
// CHECK:           %[[PATCH:.*]] = tracea_pipe.stage %[[X]][%{{.*}}, %{{.*}}, %{{.*}}, %[[C0]]] {{.*}} padded [1, 2, 3] : memref<1x9x9x12xf32> -> tensor<5x9x8xf32, #tracea_pipe.staged>
// CHECK:           %[[TAPS:.*]] = tracea_pipe.stage %[[F]][%[[C0]], %c0, %c0, %c0] {{.*}} padded [0] : memref<12x3x3x1xf32> -> tensor<3x3x8xf32, #tracea_pipe.staged>
// Channels of a few pixels are innermost; the taps of a row stand one behind the other.
// CHECK:           scf.for %[[P:.*]] = %c0 to %{{.*}} step %c1 {
// CHECK:             scf.for %[[C:.*]] = %c0 to %{{.*}} step %c8 {
// CHECK:               scf.for %[[R:.*]] = %c0 to %c3 step %c1 iter_args(%[[SUM:.*]] = %{{.*}}) ->
// CHECK-NOT:             scf.for
// CHECK:                 %[[A0:.*]] = tracea_pipe.load %[[PATCH]][%{{.*}}, %{{.*}}, %[[C]]] map #[[PIXELS]] : {{.*}} -> tensor<4x8xf32
// CHECK:                 %[[B0:.*]] = tracea_pipe.load %[[TAPS]][%[[R]], %c0, %[[C]]] map #[[WEIGHTS]] : {{.*}} -> tensor<4x8xf32
// CHECK:                 %[[S0:.*]] = math.fma %[[A0]], %[[B0]], %[[SUM]]
// CHECK:                 tracea_pipe.load %[[TAPS]][%[[R]], %c1, %[[C]]]
// CHECK:                 %[[S1:.*]] = math.fma %{{.*}}, %{{.*}}, %[[S0]]
// CHECK:                 tracea_pipe.load %[[TAPS]][%[[R]], %c2, %[[C]]]
// CHECK:                 %[[S2:.*]] = math.fma %{{.*}}, %{{.*}}, %[[S1]]
// CHECK:                 scf.yield %[[S2]]
// CHECK-NOT:     tracea_pipe.mma
// CHECK:         tracea_pipe.store %{{.*}} limits(%{{.*}}, %{{.*}}) : {{.*}}, memref<1x5x5x12xf32>
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @nhwc(%x: tensor<1x9x9x12xf32>, %w: tensor<12x3x3x1xf32>, %d: tensor<1x5x5x12xf32>) -> tensor<1x5x5x12xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1] groups 12
         ins(%x, %w : tensor<1x9x9x12xf32>, tensor<12x3x3x1xf32>) outs(%d : tensor<1x5x5x12xf32>)
         schedule <variant = "conv2d.depthwise", unit = vector, tile = [2, 4, 8], registers = [4, 8]>
  return %0 : tensor<1x5x5x12xf32>
}
}

// -----

// NCHW: channels x pixels, the lanes along the pixels; the weights are broadcast
// along the lanes.
// CHECK-DAG:   #[[PATCH:map[0-9]*]] = affine_map<(d0, d1, d2, d3) -> (0, d1, d0, d3 * 2 + d2)>
// CHECK-DAG:   #[[PIXELS:map[0-9]*]] = affine_map<(d0, d1) -> (0, d0, 0, d1)>
// CHECK-DAG:   #[[WEIGHTS:map[0-9]*]] = affine_map<(d0, d1) -> (0, 0, d0)>
// CHECK-LABEL: tracea_pipe.kernel @conv2d_0
// CHECK:         tracea_pipe.stage {{.*}} map #[[PATCH]] {{.*}} padded [1, 2, 3] : memref<1x12x9x9xi8> -> tensor<5x2x2x5xi32, #tracea_pipe.staged>
// CHECK:         tracea_pipe.load {{.*}} map #[[PIXELS]] : {{.*}} -> tensor<2x4xi32
// CHECK:         tracea_pipe.load {{.*}} map #[[WEIGHTS]] : {{.*}} -> tensor<2x4xi32
// CHECK-NEXT:    %[[P:.*]] = arith.muli
// CHECK-NEXT:    arith.addi %{{.*}}, %[[P]]
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @nchw(%x: tensor<1x12x9x9xi8>, %w: tensor<12x1x3x3xi8>, %d: tensor<1x12x5x5xi32>) -> tensor<1x12x5x5xi32> {
  %0 = tracea.conv2d layout nchw filter kcrs strides [2, 2] pads [1, 1, 1, 1] groups 12
         ins(%x, %w : tensor<1x12x9x9xi8>, tensor<12x1x3x3xi8>) outs(%d : tensor<1x12x5x5xi32>)
         schedule <variant = "conv2d.depthwise", unit = vector, tile = [2, 4, 2], registers = [2, 4]>
  return %0 : tensor<1x12x5x5xi32>
}
}

// -----

// Without a fused multiply-add each product is rounded.
// CHECK-LABEL: tracea_pipe.kernel @conv2d_0
// CHECK-NOT:     math.fma
// CHECK:         %[[P:.*]] = arith.mulf
// CHECK-NEXT:    arith.addf %{{.*}}, %[[P]]
#old = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", features = "+sse4.2", vector_bits = 128>
module attributes {tracea.target = #old} {
func.func @no_fma(%x: tensor<1x9x9x12xf32>, %w: tensor<12x3x3x1xf32>, %d: tensor<1x7x7x12xf32>) -> tensor<1x7x7x12xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc groups 12
         ins(%x, %w : tensor<1x9x9x12xf32>, tensor<12x3x3x1xf32>) outs(%d : tensor<1x7x7x12xf32>)
         schedule <variant = "conv2d.depthwise", unit = vector, tile = [2, 4, 8], registers = [4, 8]>
  return %0 : tensor<1x7x7x12xf32>
}
}

// -----

// An image that is read where it lies: what a register tile of 4 pixels may be cut by decides how a
// row of taps is loaded. Inside of the image there is nothing to ask, at its border coordinates are
// padded, and of the last channels there are 4.
// CHECK-DAG:   #[[PIXELS:map[0-9]*]] = affine_map<(d0, d1) -> (0, 0, d0 * 2, d1)>
// CHECK-LABEL: tracea_pipe.kernel @conv2d_0(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<1x9x9x12xf32>, %[[F:[a-z0-9]+]]: memref<12x3x3x1xf32>
// CHECK-NOT:     tracea_pipe.stage %[[X]]
// CHECK:         scf.for %[[P:.*]] = %c0 to %{{.*}} step %c1 {
// The pixel above and left of the first one, and whether rows and columns of all taps lie in the image.
// CHECK:           %[[H:.*]] = arith.subi %{{.*}}, %c1
// CHECK:           %[[W:.*]] = arith.subi %{{.*}}, %c1
// CHECK:           %[[TOP:.*]] = arith.cmpi sge, %[[H]], %c0
// CHECK:           %[[ROWS:.*]] = arith.andi %[[TOP]],
// CHECK:           %[[LEFT:.*]] = arith.cmpi sge, %[[W]], %c0
// CHECK:           %[[COLUMNS:.*]] = arith.andi %[[LEFT]],
// CHECK:           %[[INSIDE:.*]] = arith.andi %[[ROWS]], %[[COLUMNS]]
// CHECK:           scf.for %[[C:.*]] = %c0 to %{{.*}} step %c8 {
// CHECK:             %[[END:.*]] = arith.addi %[[C]], %c8
// CHECK:             %[[ALL:.*]] = arith.cmpi sle, %[[END]], %[[LENGTH:.*]] : index
// CHECK:             scf.for %[[R:.*]] = %c0 to %c3 step %c1 iter_args(%[[SUM:.*]] = %{{.*}}) ->
// CHECK:               scf.if %[[ALL]]
// CHECK:                 scf.if %[[INSIDE]]
// CHECK:                   %[[ROW:.*]] = arith.addi %[[H]], %[[R]]
// CHECK:                   tracea_pipe.load %[[X]][%{{.*}}, %[[ROW]], %[[W]], %{{.*}}] map #[[PIXELS]] : memref
// CHECK-COUNT-2:           tracea_pipe.load %[[X]][{{.*}}] map #[[PIXELS]] : memref
// CHECK:                 } else {
// CHECK-COUNT-3:           tracea_pipe.load %[[X]][{{.*}}] map #[[PIXELS]] padded [1, 2] : memref
// CHECK:               } else {
// CHECK:                 %[[REST:.*]] = arith.subi %[[LENGTH]], %[[C]]
// CHECK-COUNT-3:         tracea_pipe.load %[[X]][{{.*}}] map #[[PIXELS]] limits(%c4, %[[REST]]) padded [1, 2] : memref
// CHECK:         tracea_pipe.store
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @in_place(%x: tensor<1x9x9x12xf32>, %w: tensor<12x3x3x1xf32>, %d: tensor<1x5x5x12xf32>) -> tensor<1x5x5x12xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1] groups 12
         ins(%x, %w : tensor<1x9x9x12xf32>, tensor<12x3x3x1xf32>) outs(%d : tensor<1x5x5x12xf32>)
         schedule <variant = "conv2d.depthwise", unit = vector, tile = [2, 4, 8], registers = [4, 8], staged = 0>
  return %0 : tensor<1x5x5x12xf32>
}
}

// -----

// Of whole register tiles of channels there is no last one.
// CHECK-LABEL: tracea_pipe.kernel @conv2d_0
// CHECK:         tracea_pipe.load %arg0[{{.*}}] map {{.*}} : memref<1x9x9x16xf32>
// CHECK:         tracea_pipe.load %arg0[{{.*}}] map {{.*}} padded [1, 2] : memref<1x9x9x16xf32>
// CHECK-NOT:     tracea_pipe.load %arg0[{{.*}}limits
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @whole(%x: tensor<1x9x9x16xf32>, %w: tensor<16x3x3x1xf32>, %d: tensor<1x9x9x16xf32>) -> tensor<1x9x9x16xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] groups 16
         ins(%x, %w : tensor<1x9x9x16xf32>, tensor<16x3x3x1xf32>) outs(%d : tensor<1x9x9x16xf32>)
         schedule <variant = "conv2d.depthwise", unit = vector, tile = [2, 4, 8], registers = [4, 8], staged = 0>
  return %0 : tensor<1x9x9x16xf32>
}
}

// -----

// With `prefetch = 1` register tiles ask for the rows that the pixels below see first, and for theirs
// of the result, each for pixels of its own.
// CHECK-DAG:   #[[PIXELS:map[0-9]*]] = affine_map<(d0, d1, d2) -> (0, d0, d1, d2)>
// CHECK-LABEL: tracea_pipe.kernel @conv2d_0(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<1x16x16x32xf32>, %{{[a-z0-9]+}}: memref<3x3x1x32xf32>, %[[D:[a-z0-9]+]]: memref<1x8x8x32xf32>
// CHECK:         scf.for %[[P:.*]] = %c0 to %{{.*}} step %c1 {
// CHECK:         scf.for %[[Q:.*]] = %c0 to %{{.*}} step %c4 {
// CHECK:           %[[ROW:.*]] = arith.addi %{{.*}}, %[[P]]
// CHECK:           %[[COLUMN:.*]] = arith.addi %{{.*}}, %[[Q]]
// CHECK:           %[[LEFT:.*]] = arith.muli %[[COLUMN]], %c2
// CHECK:         scf.for %[[C:.*]] = %c0 to %{{.*}} step %c8 {
// CHECK:           %[[BELOW:.*]] = arith.addi %[[ROW]], %c1
// CHECK:           %[[SEEN:.*]] = arith.muli %[[BELOW]], %c2
// CHECK:           %[[SHARE:.*]] = arith.divui %[[C]], %c8
// CHECK:           %[[TWO:.*]] = arith.muli %[[SHARE]], %c2
// CHECK:           %[[FROM:.*]] = arith.addi %[[LEFT]], %[[TWO]]
// CHECK:           tracea_pipe.prefetch %[[X]][%{{[^,]*}}, %[[SEEN]], %[[FROM]], %{{[^,]*}}] map #[[PIXELS]] limits({{.*}}) shape [2, 2, 32] level 2
// CHECK:           %[[PLACE:.*]] = arith.addi %[[COLUMN]], %[[SHARE]]
// CHECK:           tracea_pipe.prefetch %[[D]][%{{[^,]*}}, %[[BELOW]], %[[PLACE]], %{{[^,]*}}] map #[[PIXELS]] limits({{.*}}) shape [1, 1, 32] write level 2
// CHECK:           tracea_pipe.load %[[X]]
// CHECK-LABEL: tracea_pipe.kernel @conv2d_1(
// CHECK-NOT:     tracea_pipe.prefetch
// CHECK:         tracea_pipe.load
#cpu = #tracea.target<kind = cpu, name = "t", triple = "", cpu = "x", vector_bits = 128>
module attributes {tracea.target = #cpu} {
func.func @next_rows(%x: tensor<1x16x16x32xf32>, %w: tensor<3x3x1x32xf32>, %d: tensor<1x8x8x32xf32>, %e: tensor<1x8x8x32xf32>) -> (tensor<1x8x8x32xf32>, tensor<1x8x8x32xf32>) {
  %0 = tracea.conv2d layout nhwc filter rsck strides [2, 2] pads [1, 1, 0, 0] groups 32 ins(%x, %w : tensor<1x16x16x32xf32>, tensor<3x3x1x32xf32>) outs(%d : tensor<1x8x8x32xf32>)
         schedule <variant = "conv2d.depthwise", unit = vector, tile = [8, 8, 32], registers = [4, 8], staged = 0, prefetch = 1>
  %1 = tracea.conv2d layout nhwc filter rsck strides [2, 2] pads [1, 1, 0, 0] groups 32 ins(%x, %w : tensor<1x16x16x32xf32>, tensor<3x3x1x32xf32>) outs(%e : tensor<1x8x8x32xf32>)
         schedule <variant = "conv2d.depthwise", unit = vector, tile = [8, 8, 32], registers = [4, 8], staged = 0>
  return %0, %1 : tensor<1x8x8x32xf32>, tensor<1x8x8x32xf32>
}
}
