// RUN: tracea-opt %s -split-input-file --tracea-fuse-epilogues | FileCheck %s

// A bias and a rectifier, one after the other.
// CHECK-DAG: #[[M0:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @bias_relu
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4x8xf32>, %[[B:[a-z0-9]+]]: tensor<8x16xf32>, %[[BIAS:[a-z0-9]+]]: tensor<16xf32>, %[[E:[a-z0-9]+]]: tensor<4x16xf32>
// CHECK: %[[R:.*]] = tracea.gemm ins(%[[A]], %[[B]]
// CHECK-SAME: outs(%[[E]]
// CHECK-SAME: epilogue(%[[BIAS]] by #[[M0]]
// CHECK: ^bb0(%[[ACC:.*]]: f32, %[[IN:.*]]: f32):
// CHECK: %[[SUM:.*]] = arith.addf %[[ACC]], %[[IN]] : f32
// CHECK: %[[MAX:.*]] = arith.maximumf %[[SUM]], %{{.*}} : f32
// CHECK: tracea.yield %[[MAX]] : f32
// CHECK-NOT: linalg
// CHECK: return %[[R]]
func.func @bias_relu(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %bias: tensor<16xf32>, %e: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %d = tensor.empty() : tensor<4x16xf32>
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
  %1 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%0, %bias : tensor<4x16xf32>, tensor<16xf32>) outs(%d : tensor<4x16xf32>) {
    ^bb0(%x: f32, %c: f32, %out: f32):
      %s = arith.addf %x, %c : f32
      linalg.yield %s : f32
  } -> tensor<4x16xf32>
  %zero = arith.constant 0.0 : f32
  %2 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%1 : tensor<4x16xf32>) outs(%e : tensor<4x16xf32>) {
    ^bb0(%x: f32, %out: f32):
      %s = arith.maximumf %x, %zero : f32
      linalg.yield %s : f32
  } -> tensor<4x16xf32>
  return %2 : tensor<4x16xf32>
}

// -----

// x * sigmoid(x) as named operations: the result has two users that meet again.
// CHECK-LABEL: func.func @silu_named
// CHECK: %[[R:.*]] = tracea.conv2d
// CHECK: epilogue {
// CHECK: ^bb0(%[[ACC:.*]]: f32):
// CHECK: %[[NEG:.*]] = arith.negf %[[ACC]]
// CHECK: %[[EXP:.*]] = math.exp %[[NEG]]
// CHECK: %[[SUM:.*]] = arith.addf %[[EXP]], %{{.*}} : f32
// CHECK: %[[DIV:.*]] = arith.divf %{{.*}}, %[[SUM]] : f32
// CHECK: %[[MUL:.*]] = arith.mulf %[[ACC]], %[[DIV]] : f32
// CHECK: tracea.yield %[[MUL]]
// CHECK-NOT: linalg
// CHECK: return %[[R]]
func.func @silu_named(%x: tensor<1x8x8x4xf32>, %w: tensor<16x3x3x4xf32>) -> tensor<1x6x6x16xf32> {
  %d = tensor.empty() : tensor<1x6x6x16xf32>
  %one = arith.constant dense<1.0> : tensor<1x6x6x16xf32>
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x8x8x4xf32>, tensor<16x3x3x4xf32>) outs(%d : tensor<1x6x6x16xf32>)
  %1 = linalg.negf ins(%0 : tensor<1x6x6x16xf32>) outs(%d : tensor<1x6x6x16xf32>) -> tensor<1x6x6x16xf32>
  %2 = linalg.exp ins(%1 : tensor<1x6x6x16xf32>) outs(%d : tensor<1x6x6x16xf32>) -> tensor<1x6x6x16xf32>
  %3 = linalg.add ins(%2, %one : tensor<1x6x6x16xf32>, tensor<1x6x6x16xf32>) outs(%d : tensor<1x6x6x16xf32>) -> tensor<1x6x6x16xf32>
  %4 = linalg.div ins(%one, %3 : tensor<1x6x6x16xf32>, tensor<1x6x6x16xf32>) outs(%d : tensor<1x6x6x16xf32>) -> tensor<1x6x6x16xf32>
  %5 = linalg.mul ins(%0, %4 : tensor<1x6x6x16xf32>, tensor<1x6x6x16xf32>) outs(%d : tensor<1x6x6x16xf32>) -> tensor<1x6x6x16xf32>
  return %5 : tensor<1x6x6x16xf32>
}

// -----

// Operations on tensors and linalg.map, and a conversion of the element type:
// the destination must change with it.
// CHECK-LABEL: func.func @tensor_ops
// CHECK: %[[E:.*]] = tensor.empty(%{{.*}}) : tensor<?x16xf16>
// CHECK: %[[R:.*]] = tracea.gemm
// CHECK-SAME: outs(%[[E]] : tensor<?x16xf16>)
// CHECK: ^bb0(%[[ACC:.*]]: f32, %[[IN:.*]]: f32):
// CHECK: arith.addf %[[ACC]], %[[IN]] : f32
// CHECK: math.tanh
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: tracea.yield %{{.*}} : f16
// CHECK: return %[[R]]
func.func @tensor_ops(%a: tensor<?x8xf32>, %b: tensor<8x16xf32>, %c: tensor<?x16xf32>) -> tensor<?x16xf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x8xf32>
  %d = tensor.empty(%m) : tensor<?x16xf32>
  %0 = tracea.gemm ins(%a, %b : tensor<?x8xf32>, tensor<8x16xf32>) outs(%d : tensor<?x16xf32>)
  %1 = arith.addf %0, %c : tensor<?x16xf32>
  %n = tensor.dim %1, %c0 : tensor<?x16xf32>
  %e = tensor.empty(%n) : tensor<?x16xf32>
  %2 = linalg.map { math.tanh } ins(%1 : tensor<?x16xf32>) outs(%e : tensor<?x16xf32>)
  %3 = arith.truncf %2 : tensor<?x16xf32> to tensor<?x16xf16>
  return %3 : tensor<?x16xf16>
}

// -----

// The extents of an intermediate result do not keep it alive.
// CHECK-LABEL: func.func @dim_of_result
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<?x8xf32>
// CHECK: %[[M:.*]] = tensor.dim %[[A]]
// CHECK: tensor.empty(%[[M]])
// CHECK: tracea.gemm
// CHECK: math.absf
// CHECK-NOT: linalg
// CHECK: return
func.func @dim_of_result(%a: tensor<?x8xf32>, %b: tensor<8x16xf32>) -> tensor<?x16xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x8xf32>
  %d = tensor.empty(%m) : tensor<?x16xf32>
  %0 = tracea.gemm ins(%a, %b : tensor<?x8xf32>, tensor<8x16xf32>) outs(%d : tensor<?x16xf32>)
  %n = tensor.dim %0, %c0 : tensor<?x16xf32>
  %e = tensor.empty(%n) : tensor<?x16xf32>
  %1 = linalg.abs ins(%0 : tensor<?x16xf32>) outs(%e : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %1 : tensor<?x16xf32>
}

// -----

// A cast in between: its knowledge of the extents stays.
// CHECK-LABEL: func.func @cast
// CHECK: %[[R:.*]] = tracea.gemm
// CHECK-SAME: outs(%{{.*}} : tensor<4x16xf32>)
// CHECK: math.exp
// CHECK-NOT: linalg
// CHECK: %[[C:.*]] = tensor.cast %[[R]] : tensor<4x16xf32> to tensor<?x16xf32>
// CHECK: return %[[C]]
func.func @cast(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %e: tensor<?x16xf32>) -> tensor<?x16xf32> {
  %d = tensor.empty() : tensor<4x16xf32>
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
  %1 = tensor.cast %0 : tensor<4x16xf32> to tensor<?x16xf32>
  %2 = linalg.exp ins(%1 : tensor<?x16xf32>) outs(%e : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %2 : tensor<?x16xf32>
}

// -----

// Two producers: into the later one, which then reads the earlier result. The
// residual is defined in between.
// CHECK-DAG: #[[M0:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @two_producers
// CHECK: %[[P:.*]] = tracea.gemm ins(%arg0, %arg1
// CHECK: %[[Q:.*]] = tracea.gemm ins(%arg0, %arg2
// CHECK-SAME: epilogue(%[[P]] by #[[M0]]
// CHECK: ^bb0(%[[ACC:.*]]: f32, %[[IN:.*]]: f32):
// CHECK: arith.addf %[[IN]], %[[ACC]] : f32
// CHECK: return %[[Q]]
func.func @two_producers(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %c: tensor<8x16xf32>) -> tensor<4x16xf32> {
  %d = tensor.empty() : tensor<4x16xf32>
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
  %1 = tracea.gemm ins(%a, %c : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
  %2 = linalg.add ins(%0, %1 : tensor<4x16xf32>, tensor<4x16xf32>) outs(%d : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %2 : tensor<4x16xf32>
}

// -----

// The later producer has another user: the earlier one moves below it.
// CHECK-LABEL: func.func @moves_down
// CHECK: %[[Q:.*]] = tracea.gemm ins(%arg0, %arg2
// CHECK: %[[P:.*]] = tracea.gemm ins(%arg0, %arg1
// CHECK-SAME: epilogue(%[[Q]] by
// CHECK: return %[[P]], %[[Q]]
func.func @moves_down(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %c: tensor<8x16xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %d = tensor.empty() : tensor<4x16xf32>
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
  %1 = tracea.gemm ins(%a, %c : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
  %2 = linalg.sub ins(%0, %1 : tensor<4x16xf32>, tensor<4x16xf32>) outs(%d : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %2, %1 : tensor<4x16xf32>, tensor<4x16xf32>
}

// -----

// The loops are in another order than the result's dimensions; the bias has
// extents of one, another operand is broadcast and transposed.
// CHECK-DAG: #[[M0:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[M1:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[M2:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @maps
// CHECK-SAME: %[[BIAS:[a-z0-9]+]]: tensor<1x16xf32>, %[[ROW:[a-z0-9]+]]: tensor<4xf32>, %[[T:[a-z0-9]+]]: tensor<16x4xf32>
// CHECK: %[[B1:.*]] = tensor.collapse_shape %[[BIAS]] {{.*}} into tensor<16xf32>
// CHECK: tracea.gemm
// CHECK-SAME: epilogue(%[[B1]] by #[[M0]], %[[ROW]] by #[[M1]], %[[T]] by #[[M2]]
func.func @maps(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %bias: tensor<1x16xf32>, %row: tensor<4xf32>, %t: tensor<16x4xf32>) -> tensor<4x16xf32> {
  %d = tensor.empty() : tensor<4x16xf32>
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
  %r = linalg.broadcast ins(%row : tensor<4xf32>) outs(%d : tensor<4x16xf32>) dimensions = [1]
  %tt = linalg.transpose ins(%t : tensor<16x4xf32>) outs(%d : tensor<4x16xf32>) permutation = [1, 0]
  %1 = linalg.generic {
      indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (0, j)>, affine_map<(j, i) -> (i, j)>,
                       affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%0, %bias, %r, %tt : tensor<4x16xf32>, tensor<1x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>) outs(%d : tensor<4x16xf32>) {
    ^bb0(%x: f32, %c: f32, %p: f32, %q: f32, %out: f32):
      %s = arith.addf %x, %c : f32
      %u = arith.mulf %s, %p : f32
      %v = arith.subf %u, %q : f32
      linalg.yield %v : f32
  } -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

// -----

// A scalar from outside becomes an operand of rank 0, a destination that the
// body reads an operand like any other.
// CHECK-DAG: #[[M0:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[M1:.*]] = affine_map<(d0, d1) -> ()>
// CHECK-LABEL: func.func @scalar_and_destination
// CHECK-SAME: %[[S:[a-z0-9]+]]: f32, %[[O:[a-z0-9]+]]: tensor<4x16xf32>
// CHECK: %[[T:.*]] = tensor.from_elements %[[S]] : tensor<f32>
// CHECK: tracea.gemm
// CHECK-SAME: epilogue(%[[O]] by #[[M0]], %[[T]] by #[[M1]]
func.func @scalar_and_destination(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %s: f32, %o: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %d = tensor.empty() : tensor<4x16xf32>
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
  %1 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x16xf32>) outs(%o : tensor<4x16xf32>) {
    ^bb0(%x: f32, %out: f32):
      %t = arith.mulf %x, %s : f32
      %u = arith.addf %t, %out : f32
      linalg.yield %u : f32
  } -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

// -----

// Into an epilogue that is there already: the result is rounded to bf16 in
// between, as before.
// CHECK-LABEL: func.func @existing_epilogue
// CHECK: tracea.gemm
// CHECK: ^bb0(%[[ACC:.*]]: f32):
// CHECK: %[[E:.*]] = math.exp %[[ACC]]
// CHECK: %[[T:.*]] = arith.truncf %[[E]] : f32 to bf16
// CHECK: %[[X:.*]] = arith.extf %[[T]] : bf16 to f32
// CHECK: tracea.yield %[[X]] : f32
func.func @existing_epilogue(%a: tensor<4x8xbf16>, %b: tensor<8x16xbf16>) -> tensor<4x16xf32> {
  %d = tensor.empty() : tensor<4x16xbf16>
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xbf16>, tensor<8x16xbf16>) outs(%d : tensor<4x16xbf16>)
      epilogue {
    ^bb0(%acc: f32):
      %e = math.exp %acc : f32
      %t = arith.truncf %e : f32 to bf16
      tracea.yield %t : bf16
  }
  %1 = arith.extf %0 : tensor<4x16xbf16> to tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

// -----

// Softmax and the normalizations have epilogues too.
// CHECK-LABEL: func.func @layer_norm
// CHECK: tracea.layer_norm
// CHECK-SAME: scale(%arg1
// CHECK-SAME: epilogue(%arg2 by
// CHECK: arith.addf
// CHECK-NOT: linalg
func.func @layer_norm(%x: tensor<4x16xf32>, %g: tensor<16xf32>, %r: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %d = tensor.empty() : tensor<4x16xf32>
  %0 = tracea.layer_norm axis 1 epsilon 1.0e-05 ins(%x : tensor<4x16xf32>) scale(%g : tensor<16xf32>) outs(%d : tensor<4x16xf32>)
  %1 = linalg.add ins(%0, %r : tensor<4x16xf32>, tensor<4x16xf32>) outs(%d : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

// -----

// Inside an epilogue a flag is as good as any value. Three users, two of them
// meet before the third.
// CHECK-LABEL: func.func @select
// CHECK: tracea.gemm
// CHECK: ^bb0(%[[ACC:.*]]: f32, %[[IN:.*]]: f32):
// CHECK: %[[C:.*]] = arith.cmpf ogt, %[[ACC]], %[[IN]] : f32
// CHECK: %[[N:.*]] = arith.negf %[[ACC]] : f32
// CHECK: %[[S:.*]] = arith.select %[[C]], %[[ACC]], %[[N]] : f32
// CHECK: tracea.yield %[[S]] : f32
// CHECK-NOT: tensor<4x16xi1>
func.func @select(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %d: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
  %1 = arith.cmpf ogt, %0, %d : tensor<4x16xf32>
  %2 = arith.negf %0 : tensor<4x16xf32>
  %3 = arith.select %1, %0, %2 : tensor<4x16xi1>, tensor<4x16xf32>
  return %3 : tensor<4x16xf32>
}

// -----

// Operations that nobody reads do not count as users.
// CHECK-LABEL: func.func @dead_user
// CHECK: tracea.gemm
// CHECK: math.exp
// CHECK-NOT: linalg
// CHECK: return
func.func @dead_user(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %d: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
  %1 = linalg.abs ins(%0 : tensor<4x16xf32>) outs(%d : tensor<4x16xf32>) -> tensor<4x16xf32>
  %2 = tensor.cast %0 : tensor<4x16xf32> to tensor<?x16xf32>
  %3 = linalg.exp ins(%0 : tensor<4x16xf32>) outs(%d : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %3 : tensor<4x16xf32>
}
