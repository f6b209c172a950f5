// What looks like a prologue and is none, with the reason.
// RUN: tracea-opt %s --tracea-fuse-prologues --split-input-file -o /dev/null --remark-format=emitRemark --remarks-filter=tracea-fuse-prologues 2>&1 | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>

// CHECK: PrologueNotFused{{.*}}Reason="the rows are not known to have at most 16384 elements"
func.func @long(%x: tensor<4x?xf32>, %d: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x?xf32>) outs(%d : tensor<4x?xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.negf %a : f32
      linalg.yield %s : f32
  } -> tensor<4x?xf32>
  %y = tracea.softmax dim 1 ins(%h : tensor<4x?xf32>) outs(%d : tensor<4x?xf32>)
  return %y : tensor<4x?xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// CHECK: PrologueNotFused{{.*}}Reason="the rows do not lie along the last dimension"
func.func @strips(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.negf %a : f32
      linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %y = tracea.softmax dim 0 ins(%h : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>)
  return %y : tensor<4x8xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// CHECK: PrologueNotFused{{.*}}Reason="the producer computes functions, which passes over a row would repeat"
func.func @functions(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = math.tanh %a : f32
      linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %y = tracea.softmax dim 1 ins(%h : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>)
  return %y : tensor<4x8xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#swapped = affine_map<(i, j) -> (j, i)>

// CHECK: PrologueNotFused{{.*}}Reason="the producer reads an operand in another order"
func.func @transposed(%x: tensor<8x8xf32>, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %h = linalg.generic {indexing_maps = [#id, #swapped, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%d : tensor<8x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %y = tracea.softmax dim 1 ins(%h : tensor<8x8xf32>) outs(%d : tensor<8x8xf32>)
  return %y : tensor<8x8xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>

// CHECK: PrologueNotFused{{.*}}Reason="no operand of the producer has its shape and floats"
func.func @broadcast(%x: tensor<8xf32>, %d: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %h = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8xf32>) outs(%d : tensor<8x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.negf %a : f32
      linalg.yield %s : f32
  } -> tensor<8x8xf32>
  %y = tracea.softmax dim 1 ins(%h : tensor<8x8xf32>) outs(%d : tensor<8x8xf32>)
  return %y : tensor<8x8xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// CHECK: PrologueNotFused{{.*}}Reason="the producer's result is read before the rows are"
func.func @early(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>) -> (tensor<4x8xf32>, f32) {
  %c0 = arith.constant 0 : index
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.negf %a : f32
      linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %one = tensor.extract %h[%c0, %c0] : tensor<4x8xf32>
  %y = tracea.softmax dim 1 ins(%h : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>)
  return %y, %one : tensor<4x8xf32>, f32
}

// -----

#id = affine_map<(i, j) -> (i, j)>

// CHECK: PrologueNotFused{{.*}}Reason="the operation reads the producer's result twice"
func.func @twice(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.negf %a : f32
      linalg.yield %s : f32
  } -> tensor<4x8xf32>
  %y = tracea.softmax dim 1 ins(%h : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>) epilogue(%h by #id : tensor<4x8xf32>) {
    ^bb0(%acc: f32, %in: f32):
      %s = arith.addf %acc, %in : f32
      tracea.yield %s : f32
  }
  return %y : tensor<4x8xf32>
}
