// A causal window, a mask of blocks and lengths, all of a size that only the run
// knows, make conjunctions of 29 variables: branch and bound answers them within
// 25 branches, where a reduced basis was looked for without end.

// RUN: tracea-opt %s --tracea-compile="target=x86-64-v4 to=pipeline require-proof=true" | FileCheck %s

// CHECK: tracea_pipe.kernel @attention_0
// CHECK-SAME: check = "coverage", claim = "all elements of 1 result written exactly once, {{.*}}3 operands of sums with each term once, 1 pair of operands in step

func.func @main(%q: tensor<?x?x?x80xf32>, %k: tensor<1x?x?x80xf32>, %v: tensor<?x1x?x1xf32>, %m: tensor<?x1x1x2xi1>, %n: tensor<1xi32>) -> tensor<1x?x?x1xf16> {
  %c1 = arith.constant 1 : index
  %heads = tensor.dim %q, %c1 : tensor<?x?x?x80xf32>
  %c2 = arith.constant 2 : index
  %rows = tensor.dim %q, %c2 : tensor<?x?x?x80xf32>
  %out = tensor.empty(%heads, %rows) : tensor<1x?x?x1xf16>
  %r = tracea.attention causal window [16, 0] ins(%q, %k, %v : tensor<?x?x?x80xf32>, tensor<1x?x?x80xf32>, tensor<?x1x?x1xf32>) block_mask(%m : tensor<?x1x1x2xi1>) block_size [32, 48] lengths(%n : tensor<1xi32>) outs(%out : tensor<1x?x?x1xf16>) -> tensor<1x?x?x1xf16>
  return %r : tensor<1x?x?x1xf16>
}
