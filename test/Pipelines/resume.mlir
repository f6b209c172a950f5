// The text of every level is all that the next phases need: compiling in two
// steps, through a file, gives the code of compiling in one.

// RUN: tracea-opt %s --tracea-compile="target=x86-64-v3 threads=2" -o %t.target
// RUN: FileCheck %s < %t.target

// RUN: tracea-opt %s --tracea-compile="target=x86-64-v3 threads=2 to=semantic" -o %t.semantic
// RUN: tracea-opt %t.semantic --tracea-compile="target=x86-64-v3 threads=2 from=decision" -o %t.1
// RUN: diff %t.target %t.1

// RUN: tracea-opt %s --tracea-compile="target=x86-64-v3 threads=2 to=decision" -o %t.decision
// RUN: tracea-opt %t.decision --tracea-compile="from=tile" -o %t.2
// RUN: diff %t.target %t.2

// RUN: tracea-opt %s --tracea-compile="target=x86-64-v3 threads=2 to=tile" -o %t.tile
// RUN: tracea-opt %t.tile --tracea-compile="from=pipeline" -o %t.3
// RUN: diff %t.target %t.3

// RUN: tracea-opt %s --tracea-compile="target=x86-64-v3 threads=2 to=pipeline" -o %t.pipeline
// RUN: tracea-opt %t.pipeline --tracea-compile="from=target" -o %t.4
// RUN: diff %t.target %t.4

// The same in the generic form, and one phase after the other.
// RUN: tracea-opt %t.pipeline --mlir-print-op-generic -o %t.generic
// RUN: tracea-opt %t.generic --tracea-compile="from=target" -o %t.5
// RUN: diff %t.target %t.5
// RUN: tracea-opt %t.semantic --tracea-compile="target=x86-64-v3 threads=2 from=decision to=decision" -o %t.decision2
// RUN: diff %t.decision %t.decision2
// RUN: tracea-opt %t.decision --tracea-compile="from=tile to=tile" -o %t.tile2
// RUN: diff %t.tile %t.tile2
// RUN: tracea-opt %t.tile --tracea-compile="from=pipeline to=pipeline" -o %t.pipeline2
// RUN: diff %t.pipeline %t.pipeline2

// The reference meaning resumes as well.
// RUN: tracea-opt %s --tracea-compile="reference to=target" -o %t.reference
// RUN: tracea-opt %s --tracea-compile="reference to=tile" -o %t.referencetile
// RUN: tracea-opt %t.referencetile --tracea-compile="reference from=pipeline" -o %t.6
// RUN: diff %t.reference %t.6

// CHECK-DAG: llvm.func @conv2d_0(
// CHECK-DAG: llvm.func @gemm_0(
// CHECK-DAG: llvm.func @softmax_0(
func.func @main(%x: tensor<2x8x8x3xf32>, %w: tensor<16x3x3x3xf32>, %bias: tensor<16xf32>,
                %v: tensor<?x16xf32>, %d: tensor<2x8x8x16xf32>) -> (tensor<2x8x8x16xf32>, tensor<128x?xf32>) {
  %c = tracea.conv2d layout nhwc filter krsc strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1
      ins(%x, %w : tensor<2x8x8x3xf32>, tensor<16x3x3x3xf32>) outs(%d : tensor<2x8x8x16xf32>)
      epilogue(%bias by affine_map<(n, p, q, k) -> (k)> : tensor<16xf32>) {
    ^bb0(%acc: f32, %b: f32):
      %zero = arith.constant 0.0 : f32
      %s = arith.addf %acc, %b : f32
      %r = arith.maximumf %s, %zero : f32
      tracea.yield %r : f32
    }
  %c0 = arith.constant 0 : index
  %n = tensor.dim %v, %c0 : tensor<?x16xf32>
  %m = tensor.collapse_shape %c [[0, 1, 2], [3]] : tensor<2x8x8x16xf32> into tensor<128x16xf32>
  %e = tensor.empty(%n) : tensor<128x?xf32>
  %g = tracea.gemm transpose_rhs ins(%m, %v : tensor<128x16xf32>, tensor<?x16xf32>) outs(%e : tensor<128x?xf32>)
  %y = tracea.softmax dim 1 ins(%g : tensor<128x?xf32>) outs(%e : tensor<128x?xf32>)
  return %c, %y : tensor<2x8x8x16xf32>, tensor<128x?xf32>
}
