// What looks like a finish and is none, with the reason; what is no reduction of the row is not spoken of.
// RUN: tracea-opt %s --tracea-fuse-finishes --split-input-file --remark-format=emitRemark --remarks-filter=tracea-fuse-finishes 2>&1 | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK: FinishNotFused{{.*}}Reason="the rows are not known to have at most 16384 elements"
func.func @long(%x: tensor<4x?xf32>, %d: tensor<4x?xf32>, %e: tensor<4xf32>) -> (tensor<4x?xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %y = tracea.softmax dim 1 ins(%x : tensor<4x?xf32>) outs(%d : tensor<4x?xf32>)
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<4x?xf32>) outs(%f : tensor<4xf32>) {
    ^bb0(%v: f32, %o: f32):
      %r = arith.addf %v, %o : f32
      linalg.yield %r : f32
  } -> tensor<4xf32>
  return %y, %s : tensor<4x?xf32>, tensor<4xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>

// CHECK: FinishNotFused{{.*}}Reason="a reduction is not one along the rows"
func.func @columns(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>, %e: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %y = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>)
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<4x8xf32>) outs(%f : tensor<8xf32>) {
    ^bb0(%v: f32, %o: f32):
      %r = arith.addf %v, %o : f32
      linalg.yield %r : f32
  } -> tensor<8xf32>
  return %y, %s : tensor<4x8xf32>, tensor<8xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK: FinishNotFused{{.*}}Reason="several values of each element are read by others"
func.func @both(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>, %e: tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %y = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>)
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
    ^bb0(%v: f32, %o: f32):
      %r = arith.addf %v, %o : f32
      linalg.yield %r : f32
  } -> tensor<4xf32>
  %q = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %s : tensor<4x8xf32>, tensor<4xf32>) outs(%d : tensor<4x8xf32>) {
    ^bb0(%v: f32, %w: f32, %o: f32):
      %r = arith.divf %v, %w : f32
      linalg.yield %r : f32
  } -> tensor<4x8xf32>
  return %y, %q : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>

// CHECK: FinishNotFused{{.*}}Reason="the consumer 'linalg.generic' reads other tensors behind the operation"
func.func @others(%x: tensor<4x8xf32>, %b: tensor<8xf32>, %d: tensor<4x8xf32>, %e: tensor<4xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %y = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>)
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
    ^bb0(%v: f32, %o: f32):
      %r = arith.addf %v, %o : f32
      linalg.yield %r : f32
  } -> tensor<4xf32>
  %h = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %s : tensor<4x8xf32>, tensor<4xf32>) outs(%d : tensor<4x8xf32>) {
    ^bb0(%v: f32, %w: f32, %o: f32):
      %r = arith.divf %v, %w : f32
      linalg.yield %r : f32
  } -> tensor<4x8xf32>
  %q = linalg.generic {indexing_maps = [#id, #id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %h, %b : tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>) outs(%d : tensor<4x8xf32>) {
    ^bb0(%u: f32, %v: f32, %w: f32, %o: f32):
      %t = arith.addf %u, %v : f32
      %r = arith.addf %t, %w : f32
      linalg.yield %r : f32
  } -> tensor<4x8xf32>
  return %q : tensor<4x8xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK: FinishNotFused{{.*}}Reason="a reduction of the row depends on another one"
func.func @second(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>, %e: tensor<4xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %y = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>)
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
    ^bb0(%v: f32, %o: f32):
      %r = arith.addf %v, %o : f32
      linalg.yield %r : f32
  } -> tensor<4xf32>
  %h = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%y, %s : tensor<4x8xf32>, tensor<4xf32>) outs(%d : tensor<4x8xf32>) {
    ^bb0(%v: f32, %w: f32, %o: f32):
      %r = arith.subf %v, %w : f32
      linalg.yield %r : f32
  } -> tensor<4x8xf32>
  %t = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%h : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
    ^bb0(%v: f32, %o: f32):
      %r = arith.addf %v, %o : f32
      linalg.yield %r : f32
  } -> tensor<4xf32>
  return %y, %t : tensor<4x8xf32>, tensor<4xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// CHECK-NOT: FinishNotFused
// CHECK-LABEL: func.func @none(
func.func @none(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = tracea.softmax dim 1 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>)
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>) {
    ^bb0(%v: f32, %o: f32):
      %r = arith.negf %v : f32
      linalg.yield %r : f32
  } -> tensor<4x8xf32>
  return %q : tensor<4x8xf32>
}
