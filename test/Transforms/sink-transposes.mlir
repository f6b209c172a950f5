// Transpositions go down through what has no order of dimensions of its own, until they meet their inverse.
// RUN: tracea-opt %s --tracea-sink-transposes --split-input-file | FileCheck %s

// A convolution, batch statistics and what is made of them, as a framework writes channels last behind the face of
// channels that come first: nothing is transposed, and sums read the convolution's result as it is.
// CHECK-DAG:   #[[LAST:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3, d1)>
// CHECK-DAG:   #[[ALL:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-DAG:   #[[CHANNEL:.*]] = affine_map<(d0, d1, d2, d3) -> (d3)>
// CHECK-LABEL: func.func @normalized(
// CHECK-SAME:    %[[X:.*]]: tensor<2x8x8x3xf32>, %[[W:.*]]: tensor<16x3x3x3xf32>
// CHECK-NOT:     linalg.transpose
// CHECK:         %[[Y:.*]] = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] ins(%[[X]], %[[W]]
// CHECK-SAME:      outs(%{{.*}} : tensor<2x8x8x16xf32>)
// CHECK:         %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[LAST]], #{{.*}}], iterator_types = ["reduction", "parallel", "reduction", "reduction"]} ins(%[[Y]] :
// CHECK:         %[[Z:.*]] = linalg.generic {indexing_maps = [#[[ALL]], #[[CHANNEL]], #[[ALL]]]
// CHECK-SAME:      ins(%[[Y]], %[[SUM]] : tensor<2x8x8x16xf32>, tensor<16xf32>)
// CHECK-NOT:     linalg.transpose
// CHECK:         return %[[Z]]
#all = affine_map<(n, c, h, w) -> (n, c, h, w)>
#channel = affine_map<(n, c, h, w) -> (c)>
func.func @normalized(%x: tensor<2x8x8x3xf32>, %w: tensor<16x3x3x3xf32>) -> tensor<2x8x8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<2x3x8x8xf32>
  %first = linalg.transpose ins(%x : tensor<2x8x8x3xf32>) outs(%e0 : tensor<2x3x8x8xf32>) permutation = [0, 3, 1, 2]
  %e1 = tensor.empty() : tensor<16x3x3x3xf32>
  %filter = linalg.transpose ins(%w : tensor<16x3x3x3xf32>) outs(%e1 : tensor<16x3x3x3xf32>) permutation = [0, 3, 1, 2]
  %e2 = tensor.empty() : tensor<2x16x8x8xf32>
  %y = tracea.conv2d layout nchw filter kcrs pads [1, 1, 1, 1]
         ins(%first, %filter : tensor<2x3x8x8xf32>, tensor<16x3x3x3xf32>) outs(%e2 : tensor<2x16x8x8xf32>)
  %e3 = tensor.empty() : tensor<16xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<16xf32>) -> tensor<16xf32>
  %sum = linalg.generic {indexing_maps = [#all, #channel], iterator_types = ["reduction", "parallel", "reduction", "reduction"]}
    ins(%y : tensor<2x16x8x8xf32>) outs(%f3 : tensor<16xf32>) {
  ^bb0(%a: f32, %old: f32):
    %s = arith.addf %old, %a : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  %z = linalg.generic {indexing_maps = [#all, #channel, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%y, %sum : tensor<2x16x8x8xf32>, tensor<16xf32>) outs(%e2 : tensor<2x16x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<2x16x8x8xf32>
  %e4 = tensor.empty() : tensor<2x8x8x16xf32>
  %last = linalg.transpose ins(%z : tensor<2x16x8x8xf32>) outs(%e4 : tensor<2x8x8x16xf32>) permutation = [0, 2, 3, 1]
  return %last : tensor<2x8x8x16xf32>
}

// -----

// Borders and poolings, of any number of images, and an operation with a name.
// CHECK-LABEL: func.func @pooled(
// CHECK-SAME:    %[[X:.*]]: tensor<?x8x8x4xf32>
// CHECK-NOT:     linalg.transpose
// CHECK:         %[[P:.*]] = tensor.pad %[[X]] low[0, 1, 1, 0] high[0, 0, 0, 0]
// CHECK:         %[[Y:.*]] = linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%[[P]], %{{.*}} : tensor<?x9x9x4xf32>, tensor<3x3xf32>)
// CHECK:         %[[Z:.*]] = linalg.generic {{.*}} ins(%[[Y]] : tensor<?x4x4x4xf32>)
// CHECK:           math.exp
// CHECK-NOT:     linalg.transpose
// CHECK:         return %[[Z]]
func.func @pooled(%x: tensor<?x8x8x4xf32>) -> tensor<?x4x4x4xf32> {
  %c0 = arith.constant 0 : index
  %least = arith.constant 0xFF800000 : f32
  %n = tensor.dim %x, %c0 : tensor<?x8x8x4xf32>
  %e0 = tensor.empty(%n) : tensor<?x4x8x8xf32>
  %t = linalg.transpose ins(%x : tensor<?x8x8x4xf32>) outs(%e0 : tensor<?x4x8x8xf32>) permutation = [0, 3, 1, 2]
  %p = tensor.pad %t low[0, 0, 1, 1] high[0, 0, 0, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %least : f32
  } : tensor<?x4x8x8xf32> to tensor<?x4x9x9xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %e1 = tensor.empty(%n) : tensor<?x4x4x4xf32>
  %f1 = linalg.fill ins(%least : f32) outs(%e1 : tensor<?x4x4x4xf32>) -> tensor<?x4x4x4xf32>
  %y = linalg.pooling_nchw_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
    ins(%p, %window : tensor<?x4x9x9xf32>, tensor<3x3xf32>) outs(%f1 : tensor<?x4x4x4xf32>) -> tensor<?x4x4x4xf32>
  %z = linalg.exp ins(%y : tensor<?x4x4x4xf32>) outs(%e1 : tensor<?x4x4x4xf32>) -> tensor<?x4x4x4xf32>
  %e2 = tensor.empty(%n) : tensor<?x4x4x4xf32>
  %r = linalg.transpose ins(%z : tensor<?x4x4x4xf32>) outs(%e2 : tensor<?x4x4x4xf32>) permutation = [0, 2, 3, 1]
  return %r : tensor<?x4x4x4xf32>
}

// -----

// Gradients: that by the filter has both of its operands turned, and what is computed of a broadcast is as well in
// either order.
// CHECK-LABEL: func.func @gradients(
// CHECK-NOT:     linalg.transpose
// CHECK:         %[[SPREAD:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<2x16xf32>) outs(%{{.*}} : tensor<2x8x8x16xf32>)
// CHECK:         %[[G:.*]] = linalg.generic {{.*}} ins(%[[SPREAD]], %{{.*}} : tensor<2x8x8x16xf32>, tensor<2x8x8x16xf32>)
// CHECK-NOT:     linalg.transpose
// CHECK:         %[[DW:.*]] = tracea.conv2d_wgrad layout nhwc filter krsc {{.*}}ins(%{{.*}}, %[[G]] : tensor<2x8x8x4xf32>, tensor<2x8x8x16xf32>)
// CHECK:         %[[DX:.*]] = tracea.conv2d_dgrad layout nhwc filter krsc {{.*}}ins(%[[G]], %{{.*}} : tensor<2x8x8x16xf32>, tensor<16x3x3x4xf32>)
// CHECK-NOT:     linalg.transpose
// CHECK:         return %[[DW]], %[[DX]]
#all = affine_map<(n, c, h, w) -> (n, c, h, w)>
func.func @gradients(%x: tensor<2x8x8x4xf32>, %y: tensor<2x8x8x16xf32>, %g: tensor<2x16xf32>, %w: tensor<16x3x3x4xf32>)
    -> (tensor<16x3x3x4xf32>, tensor<2x8x8x4xf32>) {
  %e0 = tensor.empty() : tensor<2x4x8x8xf32>
  %xt = linalg.transpose ins(%x : tensor<2x8x8x4xf32>) outs(%e0 : tensor<2x4x8x8xf32>) permutation = [0, 3, 1, 2]
  %e1 = tensor.empty() : tensor<2x16x8x8xf32>
  %yt = linalg.transpose ins(%y : tensor<2x8x8x16xf32>) outs(%e1 : tensor<2x16x8x8xf32>) permutation = [0, 3, 1, 2]
  %spread = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c)>, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%g : tensor<2x16xf32>) outs(%e1 : tensor<2x16x8x8xf32>) {
  ^bb0(%a: f32, %old: f32):
    linalg.yield %a : f32
  } -> tensor<2x16x8x8xf32>
  %dy = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%spread, %yt : tensor<2x16x8x8xf32>, tensor<2x16x8x8xf32>) outs(%e1 : tensor<2x16x8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %s = arith.mulf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<2x16x8x8xf32>
  %d = tensor.empty() : tensor<16x3x3x4xf32>
  %dw = tracea.conv2d_wgrad layout nchw filter krsc pads [1, 1, 1, 1]
    ins(%xt, %dy : tensor<2x4x8x8xf32>, tensor<2x16x8x8xf32>) outs(%d : tensor<16x3x3x4xf32>)
  %dxt = tracea.conv2d_dgrad layout nchw filter krsc pads [1, 1, 1, 1]
    ins(%dy, %w : tensor<2x16x8x8xf32>, tensor<16x3x3x4xf32>) outs(%e0 : tensor<2x4x8x8xf32>)
  %e2 = tensor.empty() : tensor<2x8x8x4xf32>
  %dx = linalg.transpose ins(%dxt : tensor<2x4x8x8xf32>) outs(%e2 : tensor<2x8x8x4xf32>) permutation = [0, 2, 3, 1]
  return %dw, %dx : tensor<16x3x3x4xf32>, tensor<2x8x8x4xf32>
}

// -----

// One of two summands is no transposition: nothing would be won, and the function stays as it is.
// CHECK-LABEL: func.func @mixed(
// CHECK:         linalg.transpose
// CHECK:         linalg.generic
// CHECK-NOT:     linalg.transpose
// CHECK:         return
#id = affine_map<(i, j) -> (i, j)>
func.func @mixed(%x: tensor<8x4xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %t = linalg.transpose ins(%x : tensor<8x4xf32>) outs(%e : tensor<4x8xf32>) permutation = [1, 0]
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%t, %y : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// A transposition that would only come behind what reads it stays.
// CHECK-LABEL: func.func @kept(
// CHECK:         %[[T:.*]] = linalg.transpose
// CHECK:         linalg.generic {{.*}} ins(%[[T]] :
#id = affine_map<(i, j) -> (i, j)>
func.func @kept(%x: tensor<8x4xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %t = linalg.transpose ins(%x : tensor<8x4xf32>) outs(%e : tensor<4x8xf32>) permutation = [1, 0]
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%t : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %old: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// What picks elements at given places of a transposition, for a number near those of a channel, reads them of its source.
// CHECK-DAG:     #[[FIRST:.*]] = affine_map<(d0) -> (0, 0, 0, d0)>
// CHECK-DAG:     #[[MIDDLE:.*]] = affine_map<(d0) -> (4, 3, 2, d0)>
// CHECK-LABEL: func.func @places(
// CHECK-SAME:    %[[X:.*]]: tensor<8x6x5x16xf32>
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.generic {indexing_maps = [#[[FIRST]], #[[MIDDLE]], #{{.*}}], iterator_types = ["parallel"]} ins(%[[X]], %[[X]] :
func.func @places(%x: tensor<8x6x5x16xf32>) -> tensor<16xf32> {
  %e = tensor.empty() : tensor<8x16x6x5xf32>
  %e1 = tensor.empty() : tensor<16xf32>
  %t = linalg.transpose ins(%x : tensor<8x6x5x16xf32>) outs(%e : tensor<8x16x6x5xf32>) permutation = [0, 3, 1, 2]
  %r = linalg.generic {indexing_maps = [affine_map<(c) -> (0, c, 0, 0)>, affine_map<(c) -> (4, c, 3, 2)>, affine_map<(c) -> (c)>], iterator_types = ["parallel"]}
    ins(%t, %t : tensor<8x16x6x5xf32>, tensor<8x16x6x5xf32>) outs(%e1 : tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %s = arith.maximumf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  return %r : tensor<16xf32>
}

// -----

// The gradient of a pooling sums elements at places that its body finds: those of a transposition are of its source, and the
// loops, which go through no tensor, are in the order of what else is read.
// CHECK-DAG:     #[[ALL:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
// CHECK-LABEL: func.func @scattered(
// CHECK-SAME:    %[[G:.*]]: tensor<2x3x5x16xf32>, %[[Y:.*]]: tensor<2x6x10x16xf32>
// CHECK-NOT:     linalg.transpose
// CHECK:         %[[SUMS:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%{{.*}} : tensor<2xf32>) outs(%{{.*}} : tensor<2x6x10x16xf32>)
// CHECK-DAG:       %[[N:.*]] = linalg.index 0
// CHECK-DAG:       %[[C:.*]] = linalg.index 3
// CHECK-DAG:       %[[H:.*]] = linalg.index 1
// CHECK-DAG:       %[[W:.*]] = linalg.index 2
// CHECK:           tensor.extract %[[G]][%[[N]], %{{.*}}, %{{.*}}, %[[C]]] : tensor<2x3x5x16xf32>
// CHECK:         %[[R:.*]] = linalg.generic {indexing_maps = [#[[ALL]], #[[ALL]], #[[ALL]]], {{.*}} ins(%[[SUMS]], %[[Y]] :
// CHECK:         return %[[R]]
#id = affine_map<(n, c, h, w) -> (n, c, h, w)>
func.func @scattered(%g: tensor<2x3x5x16xf32>, %y: tensor<2x6x10x16xf32>) -> tensor<2x6x10x16xf32> {
  %zero = arith.constant 0.0 : f32
  %c2 = arith.constant 2 : index
  %eg = tensor.empty() : tensor<2x16x3x5xf32>
  %gt = linalg.transpose ins(%g : tensor<2x3x5x16xf32>) outs(%eg : tensor<2x16x3x5xf32>) permutation = [0, 3, 1, 2]
  %e = tensor.empty() : tensor<2x16x6x10xf32>
  %yt = linalg.transpose ins(%y : tensor<2x6x10x16xf32>) outs(%e : tensor<2x16x6x10xf32>) permutation = [0, 3, 1, 2]
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x16x6x10xf32>) -> tensor<2x16x6x10xf32>
  %taps = tensor.empty() : tensor<2xf32>
  %sums = linalg.generic {indexing_maps = [affine_map<(n, c, h, w, r) -> (r)>, affine_map<(n, c, h, w, r) -> (n, c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
    ins(%taps : tensor<2xf32>) outs(%f : tensor<2x16x6x10xf32>) {
  ^bb0(%tap: f32, %old: f32):
    %n = linalg.index 0 : index
    %c = linalg.index 1 : index
    %h = linalg.index 2 : index
    %w = linalg.index 3 : index
    %p = arith.divui %h, %c2 : index
    %q = arith.divui %w, %c2 : index
    %x = tensor.extract %gt[%n, %c, %p, %q] : tensor<2x16x3x5xf32>
    %s = arith.addf %old, %x : f32
    linalg.yield %s : f32
  } -> tensor<2x16x6x10xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%sums, %yt : tensor<2x16x6x10xf32>, tensor<2x16x6x10xf32>) outs(%e : tensor<2x16x6x10xf32>) {
  ^bb0(%a: f32, %b: f32, %old: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<2x16x6x10xf32>
  %el = tensor.empty() : tensor<2x6x10x16xf32>
  %rl = linalg.transpose ins(%r : tensor<2x16x6x10xf32>) outs(%el : tensor<2x6x10x16xf32>) permutation = [0, 2, 3, 1]
  return %rl : tensor<2x6x10x16xf32>
}
