// RUN: tracea-opt %s --tracea-compile="target=x86-64-v3 to=pipeline" | tracea-opt --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-protocol{require-proof=true}))" | FileCheck %s
// RUN: tracea-opt %s --tracea-compile="target=x86-64-v4 to=pipeline" | tracea-opt --pass-pipeline="builtin.module(tracea_pipe.kernel(tracea-verify-protocol{require-proof=true}))" | FileCheck %s

// Every kernel that the compiler makes is proved; none is left undecided.

// CHECK-COUNT-4: check = "protocol", claim = "1 roles, {{[1-9]}} channels, every trip count"
func.func @gemm(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>,
                %d: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = tracea.gemm ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>)
                   outs(%d : tensor<?x?xf32>)
  return %0 : tensor<?x?xf32>
}

func.func @conv(%x: tensor<1x58x58x64xf32>, %w: tensor<64x3x3x64xf32>,
                %d: tensor<1x56x56x64xf32>) -> tensor<1x56x56x64xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc
         ins(%x, %w : tensor<1x58x58x64xf32>, tensor<64x3x3x64xf32>)
         outs(%d : tensor<1x56x56x64xf32>)
  return %0 : tensor<1x56x56x64xf32>
}

func.func @depthwise(%x: tensor<1x62x62x96xf32>, %w: tensor<96x7x7x1xf32>,
                     %d: tensor<1x56x56x96xf32>) -> tensor<1x56x56x96xf32> {
  %0 = tracea.conv2d layout nhwc filter krsc groups 96
         ins(%x, %w : tensor<1x62x62x96xf32>, tensor<96x7x7x1xf32>)
         outs(%d : tensor<1x56x56x96xf32>)
  return %0 : tensor<1x56x56x96xf32>
}

func.func @attention(%q: tensor<2x8x512x64xf32>, %d: tensor<2x8x512x64xf32>)
    -> tensor<2x8x512x64xf32> {
  %0 = tracea.attention causal
         ins(%q, %q, %q : tensor<2x8x512x64xf32>, tensor<2x8x512x64xf32>,
             tensor<2x8x512x64xf32>)
         outs(%d : tensor<2x8x512x64xf32>) -> tensor<2x8x512x64xf32>
  return %0 : tensor<2x8x512x64xf32>
}
