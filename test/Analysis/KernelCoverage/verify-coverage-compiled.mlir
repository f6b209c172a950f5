// RUN: tracea-opt %s --tracea-compile="target=x86-64-v4 threads=2 to=pipeline" | tracea-opt --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-coverage{require-proof=true}))" | FileCheck %s
// RUN: tracea-opt %s --tracea-compile="target=x86-64-v2 threads=2 to=pipeline" | tracea-opt --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-coverage{require-proof=true}))" | FileCheck %s

// Every kernel that the compiler makes is proved; none is left undecided.

// CHECK-COUNT-16: check = "coverage", claim = "all elements of 1 result written exactly once, {{([0-9]+ sums? in them (as defined )?with each term once, )?[0-9]+}} access

func.func @gemm(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %d: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%d : tensor<?x?xf32>)
  return %0 : tensor<?x?xf32>
}

// Sums of halves rest in a scratch tile; B is transposed.
func.func @gemm_half(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %d: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%d : tensor<?x?xbf16>)
  return %0 : tensor<?x?xbf16>
}

func.func @gemm_batched(%a: tensor<?x37x60xf32>, %b: tensor<60x19xf32>, %d: tensor<?x37x19xf32>) -> tensor<?x37x19xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<?x37x60xf32>, tensor<60x19xf32>) outs(%d : tensor<?x37x19xf32>)
  return %0 : tensor<?x37x19xf32>
}

func.func @gemm_direct(%a: tensor<?x40xf32>, %b: tensor<40x24xf32>, %d: tensor<?x24xf32>) -> tensor<?x24xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<?x40xf32>, tensor<40x24xf32>) outs(%d : tensor<?x24xf32>)
         schedule <variant = "gemm.direct", unit = vector, tile = [8, 32, 16], registers = [4, 16]>
  return %0 : tensor<?x24xf32>
}

// One term each, of which the epilogue takes the cube.
#result = affine_map<(i, j) -> (i, j)>
func.func @outer(%a: tensor<37x1xf32>, %b: tensor<1x19xf32>, %e: tensor<37x19xf32>, %d: tensor<37x19xf32>) -> tensor<37x19xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<37x1xf32>, tensor<1x19xf32>) outs(%d : tensor<37x19xf32>)
    epilogue(%e by #result : tensor<37x19xf32>) {
    ^bb0(%acc: f32, %x: f32):
      %square = arith.mulf %acc, %acc : f32
      %cube = arith.mulf %square, %acc : f32
      %sum = arith.addf %acc, %cube : f32
      %y = arith.addf %sum, %x : f32
      tracea.yield %y : f32
    }
  return %0 : tensor<37x19xf32>
}

func.func @conv(%x: tensor<?x58x58x64xf32>, %w: tensor<64x3x3x64xf32>, %d: tensor<?x56x56x64xf32>) -> tensor<?x56x56x64xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<?x58x58x64xf32>, tensor<64x3x3x64xf32>)
         outs(%d : tensor<?x56x56x64xf32>)
  return %0 : tensor<?x56x56x64xf32>
}

// Strides, borders, dilation, groups, and extents that fit no tile.
func.func @conv_grouped(%x: tensor<?x31x29x24xf32>, %w: tensor<36x3x5x6xf32>, %d: tensor<?x15x15x36xf32>) -> tensor<?x15x15x36xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc strides [2, 2] pads [1, 3, 1, 2] dilations [2, 1] groups 4
         ins(%x, %w : tensor<?x31x29x24xf32>, tensor<36x3x5x6xf32>) outs(%d : tensor<?x15x15x36xf32>)
  return %0 : tensor<?x15x15x36xf32>
}

func.func @conv_nchw(%x: tensor<?x37x53x53xbf16>, %w: tensor<41x37x3x3xbf16>, %d: tensor<?x41x27x27xbf16>) -> tensor<?x41x27x27xbf16> {
  %0 = tracea.conv2d layout nchw filter kcrs strides [2, 2] pads [1, 1, 1, 1]
         ins(%x, %w : tensor<?x37x53x53xbf16>, tensor<41x37x3x3xbf16>) outs(%d : tensor<?x41x27x27xbf16>)
  return %0 : tensor<?x41x27x27xbf16>
}

func.func @depthwise(%x: tensor<?x57x57x99xf32>, %w: tensor<99x3x3x1xf32>, %d: tensor<?x29x29x99xf32>) -> tensor<?x29x29x99xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1] groups 99
         ins(%x, %w : tensor<?x57x57x99xf32>, tensor<99x3x3x1xf32>) outs(%d : tensor<?x29x29x99xf32>)
  return %0 : tensor<?x29x29x99xf32>
}

func.func @depthwise_nchw(%x: tensor<2x99x57x57xf32>, %w: tensor<99x1x3x3xf32>, %d: tensor<2x99x29x29xf32>) -> tensor<2x99x29x29xf32> {
  %0 = tracea.conv2d layout nchw filter kcrs strides [2, 2] pads [1, 1, 1, 1] groups 99
         ins(%x, %w : tensor<2x99x57x57xf32>, tensor<99x1x3x3xf32>) outs(%d : tensor<2x99x29x29xf32>)
  return %0 : tensor<2x99x29x29xf32>
}

func.func @softmax(%x: tensor<?x?xf32>, %d: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = tracea.softmax dim 1 ins(%x : tensor<?x?xf32>) outs(%d : tensor<?x?xf32>)
  return %0 : tensor<?x?xf32>
}

func.func @softmax_rows(%x: tensor<4x?x1000xf32>, %d: tensor<4x?x1000xf32>) -> tensor<4x?x1000xf32> {
  %0 = tracea.softmax dim 1 ins(%x : tensor<4x?x1000xf32>) outs(%d : tensor<4x?x1000xf32>)
  return %0 : tensor<4x?x1000xf32>
}

func.func @layer_norm(%x: tensor<?x1000xf32>, %s: tensor<1000xf32>, %d: tensor<?x1000xf32>) -> tensor<?x1000xf32> {
  %0 = tracea.layer_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<?x1000xf32>) scale(%s : tensor<1000xf32>)
         outs(%d : tensor<?x1000xf32>)
  return %0 : tensor<?x1000xf32>
}

func.func @attention(%q: tensor<2x8x?x64xf32>, %k: tensor<2x4x?x64xf32>, %d: tensor<2x8x?x64xf32>) -> tensor<2x8x?x64xf32> {
  %0 = tracea.attention causal ins(%q, %k, %k : tensor<2x8x?x64xf32>, tensor<2x4x?x64xf32>, tensor<2x4x?x64xf32>)
         outs(%d : tensor<2x8x?x64xf32>) -> tensor<2x8x?x64xf32>
  return %0 : tensor<2x8x?x64xf32>
}

// What no kernel covers becomes plain loops.
func.func @plain(%x: tensor<?x30x?xf32>, %d: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k, j)>, affine_map<(i, j, k) -> (j, i)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
         ins(%x : tensor<?x30x?xf32>) outs(%d : tensor<?x?xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.maximumf %in, %out : f32
    linalg.yield %1 : f32
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
