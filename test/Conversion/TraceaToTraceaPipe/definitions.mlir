// RUN: tracea-opt %s --split-input-file --convert-tracea-to-tracea-pipe | FileCheck %s

// A kernel carries what its operation reads for each element, in maps without tiles.

// CHECK-DAG: #[[LHS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1)>
// CHECK-DAG: #[[RHS:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
// CHECK-DAG: #[[BIAS:.*]] = affine_map<(d0, d1, d2, d3) -> (d2)>
// CHECK: tracea_pipe.kernel @gemm_0({{.*}}definitions = [#tracea_pipe.definition<result = 3, factors = 2, operands = [0, 1, 2], maps = [#[[LHS]], #[[RHS]], #[[BIAS]]]>]
#bias = affine_map<(b, m, n) -> (n)>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4", features = "+avx512f,+fma", vector_bits = 512, vector_registers = 32, cores = 2>} {
  func.func @batched(%a: tensor<4x60x37xf32>, %b: tensor<60x19xf32>, %bias: tensor<19xf32>, %d: tensor<4x37x19xf32>) -> tensor<4x37x19xf32> {
    %0 = tracea.gemm transpose_lhs ins(%a, %b : tensor<4x60x37xf32>, tensor<60x19xf32>) outs(%d : tensor<4x37x19xf32>)
      schedule <variant = "gemm.packed", unit = vector, tile = [64, 64, 64, 64], registers = [8, 16]>
      epilogue(%bias by #bias : tensor<19xf32>) {
      ^bb0(%acc: f32, %x: f32):
        %y = arith.addf %acc, %x : f32
        tracea.yield %y : f32
      }
    return %0 : tensor<4x37x19xf32>
  }
}

// -----

// Strides, dilations, padding and groups of channels.
// CHECK-DAG: #[[IMAGE:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 * 2 + d4 * 2 - 1, d2 * 2 + d5 - 3, (d3 floordiv 9) * 6 + d6)>
// CHECK-DAG: #[[FILTER:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d4, d5, d6)>
// CHECK: tracea_pipe.kernel @conv2d_0({{.*}}definitions = [#tracea_pipe.definition<result = 2, factors = 2, operands = [0, 1], maps = [#[[IMAGE]], #[[FILTER]]]>]
module attributes {tracea.target = #tracea.target<kind = cpu, name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4", features = "+avx512f,+fma", vector_bits = 512, vector_registers = 32, cores = 2>} {
  func.func @groups(%x: tensor<?x31x29x24xf32>, %w: tensor<36x3x5x6xf32>, %d: tensor<?x15x15x36xf32>) -> tensor<?x15x15x36xf32> {
    %0 = tracea.conv2d layout nhwc filter krsc strides [2, 2] pads [1, 3, 1, 2] dilations [2, 1] groups 4
      ins(%x, %w : tensor<?x31x29x24xf32>, tensor<36x3x5x6xf32>) outs(%d : tensor<?x15x15x36xf32>)
      schedule <variant = "conv2d.patch", unit = vector, tile = [4, 15, 9, 6], registers = [14, 16]>
    return %0 : tensor<?x15x15x36xf32>
  }
}
