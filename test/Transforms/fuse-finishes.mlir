// What rows of a norm's result are reduced to, and what is made of it, becomes the finish of the norm.
// RUN: tracea-opt %s --tracea-fuse-finishes --split-input-file | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#unit = affine_map<(i, j) -> (i, 0)>
#one = affine_map<(i) -> (i)>

// As front ends quantise rows: the maximum of absolute values with a dimension of one left, a scale, and the elements
// divided by it, within bounds. The scale is a result; its dimension of one is put back.
// CHECK-LABEL: func.func @quantised(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x64xbf16>
// CHECK-NOT:     linalg.generic
// CHECK-DAG:     %[[Q:.*]] = tensor.empty(%{{.*}}) : tensor<?x64xf8E4M3FN>
// CHECK-DAG:     %[[S:.*]] = tensor.empty(%{{.*}}) : tensor<?xf32>
// CHECK:         %[[Y:.*]]:2 = tracea.rms_norm axis 1 {{.*}} ins(%[[X]] : tensor<?x64xbf16>) outs(%[[Q]] : tensor<?x64xf8E4M3FN>) rows(%[[S]] : tensor<?xf32>) epilogue {
// CHECK-NEXT:      ^bb0(%[[ACC:.*]]: f32):
// CHECK-NEXT:        %[[A:.*]] = math.absf %[[ACC]] : f32
// CHECK-NEXT:        tracea.yield %[[ACC]], %[[A]] : f32, f32
// CHECK-NEXT:    } finish [max] {
// CHECK-NEXT:      ^bb0(%[[V:.*]]: f32, %[[M:.*]]: f32):
// CHECK-DAG:         %[[L:.*]] = arith.maximumf %[[M]], %{{.*}} : f32
// CHECK-DAG:         %[[SCALE:.*]] = arith.divf %[[L]], %{{.*}} : f32
// CHECK-DAG:         %[[P:.*]] = arith.divf %[[V]], %[[SCALE]] : f32
// CHECK:             arith.minimumf %[[P]]
// CHECK:             arith.maximumf
// CHECK:             %[[N:.*]] = arith.truncf %{{.*}} : f32 to f8E4M3FN
// CHECK:             tracea.yield %[[N]], %[[SCALE]] : f8E4M3FN, f32
// CHECK:         %[[W:.*]] = tensor.expand_shape %[[Y]]#1 {{\[\[}}0, 1]] output_shape [%{{.*}}, 1] : tensor<?xf32> into tensor<?x1xf32>
// CHECK:         %[[COUNT:.*]] = tensor.dim %[[X]], %c0
// CHECK:         return %[[Y]]#0, %[[W]], %[[COUNT]]
func.func @quantised(%x: tensor<?x64xbf16>, %d: tensor<?x64xf32>, %e: tensor<?x1xf32>, %g: tensor<?x64xf8E4M3FN>)
    -> (tensor<?x64xf8E4M3FN>, tensor<?x1xf32>, index) {
  %low = arith.constant 0xFF800000 : f32
  %least = arith.constant 1.0e-12 : f32
  %most = arith.constant 448.0 : f32
  %y = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<?x64xbf16>) outs(%d : tensor<?x64xf32>)
  %a = math.absf %y : tensor<?x64xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<?x1xf32>) -> tensor<?x1xf32>
  %m = linalg.generic {indexing_maps = [#id, #unit], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<?x64xf32>) outs(%f : tensor<?x1xf32>) {
    ^bb0(%v: f32, %o: f32):
      %r = arith.maximumf %v, %o : f32
      linalg.yield %r : f32
  } -> tensor<?x1xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<?x1xf32>) outs(%e : tensor<?x1xf32>) {
    ^bb0(%v: f32, %o: f32):
      %l = arith.maximumf %v, %least : f32
      %r = arith.divf %l, %most : f32
      linalg.yield %r : f32
  } -> tensor<?x1xf32>
  %q = linalg.generic {indexing_maps = [#id, #unit, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y, %s : tensor<?x64xf32>, tensor<?x1xf32>) outs(%g : tensor<?x64xf8E4M3FN>) {
    ^bb0(%v: f32, %w: f32, %o: f8E4M3FN):
      %low448 = arith.constant -448.0 : f32
      %p = arith.divf %v, %w : f32
      %p0 = arith.minimumf %p, %most : f32
      %p1 = arith.maximumf %p0, %low448 : f32
      %r = arith.truncf %p1 : f32 to f8E4M3FN
      linalg.yield %r : f8E4M3FN
  } -> tensor<?x64xf8E4M3FN>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %y, %c0 : tensor<?x64xf32>
  return %q, %s, %n : tensor<?x64xf8E4M3FN>, tensor<?x1xf32>, index
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#one = affine_map<(i) -> (i)>

// A reciprocal, which no other reads, repeated along the row by an operation of its own; maxima of halves are found in
// single precision, from a start that is not the least number, and rounded. Rows that a tensor weighs are weighed in
// the epilogue.
// CHECK-LABEL: func.func @reciprocal(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8x64xf16>, %[[W:[a-z0-9]+]]: tensor<64xf16>
// CHECK-NOT:     linalg.generic
// CHECK:         tracea.softmax dim 1 ins(%[[X]] : tensor<8x64xf16>) outs(%{{.*}} : tensor<8x64xi8>)
// CHECK-SAME:      epilogue(%[[W]] by #{{.*}} : tensor<64xf16>) {
// CHECK-NEXT:      ^bb0(%[[ACC:.*]]: f32, %[[IN:.*]]: f16):
// CHECK-NEXT:        %[[H:.*]] = arith.truncf %[[ACC]] : f32 to f16
// CHECK-NEXT:        %[[T:.*]] = arith.mulf %[[H]], %[[IN]] : f16
// CHECK-NEXT:        %[[E:.*]] = arith.extf %[[T]] : f16 to f32
// CHECK-NEXT:        tracea.yield %[[H]], %[[E]] : f16, f32
// CHECK-NEXT:    } finish [max] {
// CHECK-NEXT:      ^bb0(%[[V:.*]]: f16, %[[M:.*]]: f32):
// CHECK:             %[[N:.*]] = arith.truncf %[[M]] : f32 to f16
// CHECK:             %[[B:.*]] = arith.maximumf %{{.*}}, %[[N]] : f16
// CHECK:             %[[R:.*]] = arith.divf %{{.*}}, %[[B]] : f16
// CHECK:             %[[P:.*]] = arith.mulf %[[V]], %[[R]] : f16
// CHECK:             arith.fptosi %[[P]] : f16 to i8
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @reciprocal(%x: tensor<8x64xf16>, %weights: tensor<64xf16>, %d: tensor<8x64xf16>, %e: tensor<8xf16>, %g: tensor<8x64xi8>) -> tensor<8x64xi8> {
  %least = arith.constant 0.25 : f16
  %y = tracea.softmax dim 1 ins(%x : tensor<8x64xf16>) outs(%d : tensor<8x64xf16>)
  %f = linalg.fill ins(%least : f16) outs(%e : tensor<8xf16>) -> tensor<8xf16>
  %m = linalg.generic {indexing_maps = [#id, #column, #row], iterator_types = ["parallel", "reduction"]}
      ins(%y, %weights : tensor<8x64xf16>, tensor<64xf16>) outs(%f : tensor<8xf16>) {
    ^bb0(%v: f16, %w: f16, %o: f16):
      %p = arith.mulf %v, %w : f16
      %r = arith.maximumf %o, %p : f16
      linalg.yield %r : f16
  } -> tensor<8xf16>
  %s = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%m : tensor<8xf16>) outs(%e : tensor<8xf16>) {
    ^bb0(%v: f16, %o: f16):
      %unit = arith.constant 1.0 : f16
      %r = arith.divf %unit, %v : f16
      linalg.yield %r : f16
  } -> tensor<8xf16>
  %b = linalg.broadcast ins(%s : tensor<8xf16>) outs(%d : tensor<8x64xf16>) dimensions = [1]
  %q = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y, %b : tensor<8x64xf16>, tensor<8x64xf16>) outs(%g : tensor<8x64xi8>) {
    ^bb0(%v: f16, %w: f16, %o: i8):
      %p = arith.mulf %v, %w : f16
      %r = arith.fptosi %p : f16 to i8
      linalg.yield %r : i8
  } -> tensor<8x64xi8>
  return %q : tensor<8x64xi8>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// A reduction alone: the result stays, and the row's sums come with it. What is kept of the row comes before them.
// CHECK-LABEL: func.func @sums(
// CHECK:         %[[Y:.*]]:3 = tracea.rms_norm
// CHECK:         } outs(%{{.*}}) keeps(%{{.*}} : tensor<8x64xf32>) rows(%{{.*}} : tensor<8xf32>) epilogue {
// CHECK:         } finish [add] {
// CHECK-NEXT:      ^bb0(%[[V:.*]]: f32, %[[S:.*]]: f32):
// CHECK-NEXT:        tracea.yield %[[V]], %[[S]] : f32, f32
// CHECK:         return %[[Y]]#0, %[[Y]]#1, %[[Y]]#2
func.func @sums(%x: tensor<8x64xf32>, %d: tensor<8x64xf32>, %e: tensor<8xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %y:2 = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<8x64xf32>) prologue {
    ^bb0(%a: f32):
      %n = arith.negf %a : f32
      tracea.yield %n, %n : f32, f32
  } outs(%d : tensor<8x64xf32>) keeps(%d : tensor<8x64xf32>)
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%y#0 : tensor<8x64xf32>) outs(%f : tensor<8xf32>) {
    ^bb0(%v: f32, %o: f32):
      %p = arith.mulf %v, %v : f32
      %r = arith.addf %p, %o : f32
      linalg.yield %r : f32
  } -> tensor<8xf32>
  return %y#0, %y#1, %s : tensor<8x64xf32>, tensor<8x64xf32>, tensor<8xf32>
}
