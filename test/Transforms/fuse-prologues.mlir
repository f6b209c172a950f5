// Elementwise producers of rows become prologues.
// RUN: tracea-opt %s --tracea-fuse-prologues --split-input-file | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>

// The sum of a residual connection, which others read: it is stored on the way.
// CHECK-LABEL: func.func @residual(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<?x64xbf16>, %[[R:[a-z0-9]+]]: tensor<?x64xbf16>
// CHECK-NOT:     linalg.generic
// CHECK:         %[[N:.*]] = tensor.dim %[[X]], %c0
// CHECK:         %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?x64xbf16>
// CHECK:         %[[Y:.*]]:2 = tracea.rms_norm axis 1 {{.*}} ins(%[[X]] : tensor<?x64xbf16>)
// CHECK-SAME:      prologue(%[[R]] by #{{.*}} : tensor<?x64xbf16>) {
// CHECK-NEXT:      ^bb0(%[[A:.*]]: bf16, %[[B:.*]]: bf16):
// CHECK-NEXT:        %[[S:.*]] = arith.addf %[[A]], %[[B]] : bf16
// CHECK-NEXT:        tracea.yield %[[S]], %[[S]] : bf16, bf16
// CHECK-NEXT:    } outs(%{{.*}} : tensor<?x64xbf16>) keeps(%[[E]] : tensor<?x64xbf16>)
// CHECK:         tensor.dim %[[X]], %c0
// CHECK:         return %[[Y]]#1, %[[Y]]#0
func.func @residual(%x: tensor<?x64xbf16>, %r: tensor<?x64xbf16>, %e: tensor<?x64xbf16>, %d: tensor<?x64xbf16>)
    -> (tensor<?x64xbf16>, tensor<?x64xbf16>, index) {
  %h = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r : tensor<?x64xbf16>, tensor<?x64xbf16>) outs(%e : tensor<?x64xbf16>) {
    ^bb0(%a: bf16, %b: bf16, %o: bf16):
      %s = arith.addf %a, %b : bf16
      linalg.yield %s : bf16
  } -> tensor<?x64xbf16>
  %y = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%h : tensor<?x64xbf16>) outs(%d : tensor<?x64xbf16>)
  %c0 = arith.constant 0 : index
  %n = tensor.dim %h, %c0 : tensor<?x64xbf16>
  return %h, %y, %n : tensor<?x64xbf16>, tensor<?x64xbf16>, index
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>

// A chain: the conversion to the row's type, and before it a scale and a bias of each column, whose sum in f32 another
// operation reads. The value that both passes of constants and of a scalar read is inside.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<8x64xbf16>, %[[B:[a-z0-9]+]]: tensor<64xf32>
// CHECK:         tracea.softmax dim 1 ins(%[[X]] : tensor<8x64xbf16>) prologue(%[[B]] by #{{.*}}, %{{.*}} by #{{.*}} : tensor<64xf32>, tensor<f32>) {
// CHECK-NEXT:      ^bb0(%[[A:.*]]: bf16, %[[C:.*]]: f32, %[[F:.*]]: f32):
// CHECK:             %[[W:.*]] = arith.extf %[[A]]
// CHECK:             %[[P:.*]] = arith.mulf %[[W]], %[[F]]
// CHECK:             %[[S:.*]] = arith.addf %[[P]], %[[C]]
// CHECK:             %[[T:.*]] = arith.truncf %[[S]]
// CHECK:             tracea.yield %[[T]], %[[S]] : bf16, f32
// CHECK:         keeps(%{{.*}} : tensor<8x64xf32>)
func.func @chain(%x: tensor<8x64xbf16>, %b: tensor<64xf32>, %f: f32, %d: tensor<8x64xbf16>) -> (tensor<8x64xf32>, tensor<8x64xbf16>) {
  %e = tensor.empty() : tensor<8x64xf32>
  %g = tensor.empty() : tensor<8x64xbf16>
  %h = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<8x64xbf16>, tensor<64xf32>) outs(%e : tensor<8x64xf32>) {
    ^bb0(%a: bf16, %c: f32, %o: f32):
      %w = arith.extf %a : bf16 to f32
      %p = arith.mulf %w, %f : f32
      %s = arith.addf %p, %c : f32
      linalg.yield %s : f32
  } -> tensor<8x64xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h : tensor<8x64xf32>) outs(%g : tensor<8x64xbf16>) {
    ^bb0(%a: f32, %o: bf16):
      %s = arith.truncf %a : f32 to bf16
      linalg.yield %s : bf16
  } -> tensor<8x64xbf16>
  %y = tracea.softmax dim 1 ins(%t : tensor<8x64xbf16>) outs(%d : tensor<8x64xbf16>)
  return %h, %y : tensor<8x64xf32>, tensor<8x64xbf16>
}
