// RUN: tracea-opt %s -split-input-file --tracea-fuse-epilogues | FileCheck %s
// RUN: tracea-opt %s -split-input-file --tracea-fuse-epilogues --remarks-filter-missed="tracea-fuse-epilogues" --remark-policy=final --remark-format=emitRemark -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: tracea-opt %s -split-input-file --tracea-fuse-epilogues=max-operations=1 | FileCheck %s --check-prefix=LIMIT

// REMARK: [Missed] EpilogueNotFused | Category:tracea-fuse-epilogues | Operation=tracea.conv2d, Reason="{{.*}}several users that do not meet again
// CHECK-LABEL: func.func @two_users
// CHECK: tracea.conv2d
// CHECK-NOT: epilogue
// CHECK: linalg.exp
func.func @two_users(%a: tensor<1x4x4x8xf32>, %b: tensor<16x1x1x8xf32>, %d: tensor<1x4x4x16xf32>) -> (tensor<1x4x4x16xf32>, tensor<1x4x4x16xf32>) {
  %0 = tracea.conv2d layout nhwc filter krsc ins(%a, %b : tensor<1x4x4x8xf32>, tensor<16x1x1x8xf32>) outs(%d : tensor<1x4x4x16xf32>)
  %1 = linalg.exp ins(%0 : tensor<1x4x4x16xf32>) outs(%d : tensor<1x4x4x16xf32>) -> tensor<1x4x4x16xf32>
  return %0, %1 : tensor<1x4x4x16xf32>, tensor<1x4x4x16xf32>
}

// -----

// REMARK: EpilogueNotFused {{.*}}Reason="{{.*}}'linalg.reduce' reduces
// CHECK-LABEL: func.func @reduction
// CHECK: linalg.reduce
func.func @reduction(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %d: tensor<4x16xf32>, %e: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
  %1 = linalg.reduce { arith.addf } ins(%0 : tensor<4x16xf32>) outs(%e : tensor<4xf32>) dimensions = [1]
  return %1 : tensor<4xf32>
}

// -----

// REMARK: EpilogueNotFused {{.*}}Reason="{{.*}}'linalg.generic' holds 'linalg.index'
// CHECK-LABEL: func.func @index
// CHECK: linalg.index
func.func @index(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %d: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
  %1 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x16xf32>) outs(%d : tensor<4x16xf32>) {
    ^bb0(%x: f32, %out: f32):
      %i = linalg.index 0 : index
      %k = arith.index_cast %i : index to i32
      %f = arith.sitofp %k : i32 to f32
      %s = arith.addf %x, %f : f32
      linalg.yield %s : f32
  } -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

// -----

// REMARK: EpilogueNotFused {{.*}}Reason="{{.*}}reads the result in another order than it writes
// CHECK-LABEL: func.func @transposed
// CHECK: linalg.generic
func.func @transposed(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %d: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>)
  %1 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x4xf32>) outs(%d : tensor<4x4xf32>) {
    ^bb0(%x: f32, %out: f32):
      %s = math.exp %x : f32
      linalg.yield %s : f32
  } -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// REMARK: EpilogueNotFused {{.*}}Reason="{{.*}}used in another block
// CHECK-LABEL: func.func @loop
// CHECK: scf.for
// CHECK: linalg.exp
func.func @loop(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %d: tensor<4x16xf32>, %n: index) -> tensor<4x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
  %1 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %d) -> tensor<4x16xf32> {
    %2 = linalg.exp ins(%0 : tensor<4x16xf32>) outs(%t : tensor<4x16xf32>) -> tensor<4x16xf32>
    scf.yield %2 : tensor<4x16xf32>
  }
  return %1 : tensor<4x16xf32>
}

// -----

// REMARK: EpilogueNotFused {{.*}}Reason="{{.*}}carries a schedule already
// CHECK-LABEL: func.func @scheduled
// CHECK: linalg.exp
func.func @scheduled(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %d: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
      schedule #tracea.schedule<variant = "gemm.packed", unit = vector, tile = [4, 16, 8], registers = [4, 16]>
  %1 = linalg.exp ins(%0 : tensor<4x16xf32>) outs(%d : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}

// -----

// REMARK: EpilogueNotFused {{.*}}Reason="the consumer stores neither floats nor integers of whole bytes
// CHECK-LABEL: func.func @flags
// CHECK: tracea.gemm
// CHECK-NOT: epilogue
// CHECK: arith.cmpf
func.func @flags(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %d: tensor<4x16xf32>) -> tensor<4x16xi1> {
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
  %1 = arith.cmpf ogt, %0, %d : tensor<4x16xf32>
  return %1 : tensor<4x16xi1>
}

// -----

// One operation fits, two do not.
// REMARK-NOT: remark:
// CHECK-LABEL: func.func @limit
// LIMIT-LABEL: func.func @limit
// LIMIT: tracea.gemm
// LIMIT: math.exp
// LIMIT-NOT: math.tanh
// LIMIT: linalg.tanh
func.func @limit(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %d: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
  %1 = linalg.exp ins(%0 : tensor<4x16xf32>) outs(%d : tensor<4x16xf32>) -> tensor<4x16xf32>
  %2 = linalg.tanh ins(%1 : tensor<4x16xf32>) outs(%d : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %2 : tensor<4x16xf32>
}
