//===- OptimizedTest.cpp - Plain linalg through the kernels ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The whole way: recognised, fused, scheduled, tiled, lowered and run, against
// the reference path on the same numbers.

#include "RunProgram.h"

#include <cmath>

namespace {

class OptimizedTest : public CompilerTest {
protected:
  static Tensor toDouble(const Tensor &tensor) {
    Tensor result = make<double>(tensor.shape());
    for (int64_t i = 0; i < tensor.numElements(); ++i)
      result.dataAs<double>()[i] = tensor.dataAs<float>()[i];
    return result;
  }

  /// Runs `text` on f32 inputs both ways. The deviation allowed is relative to
  /// the largest magnitude of the reference.
  void compare(llvm::StringRef text, const std::vector<Tensor> &inputs,
               double tolerance) {
    auto optimized = compile(text, {});
    auto reference = compileReference(text);
    ASSERT_TRUE(optimized && reference);
    std::vector<Tensor> doubles;
    for (const Tensor &input : inputs)
      doubles.push_back(toDouble(input));
    std::vector<Tensor> got = run(*optimized, inputs);
    std::vector<Tensor> want = run(*reference, doubles);
    ASSERT_EQ(got.size(), want.size());
    ASSERT_FALSE(got.empty());
    for (size_t k = 0; k < got.size(); ++k) {
      ASSERT_EQ(got[k].shape(), want[k].shape());
      double largest = 1;
      for (int64_t i = 0; i < want[k].numElements(); ++i)
        largest = std::max(largest, std::fabs(want[k].dataAs<double>()[i]));
      for (int64_t i = 0; i < want[k].numElements(); ++i)
        ASSERT_NEAR(got[k].dataAs<float>()[i], want[k].dataAs<double>()[i],
                    tolerance * largest)
            << "output " << k << " element " << i;
    }
  }
};

TEST_F(OptimizedTest, MatmulBiasTanh) {
  const char *text = R"(
    func.func @main(%a: tensor<?x96xf32>, %b: tensor<96x80xf32>, %bias: tensor<80xf32>) -> tensor<?x80xf32> {
      %c0 = arith.constant 0 : index
      %z = arith.constant 0.0 : f32
      %n = tensor.dim %a, %c0 : tensor<?x96xf32>
      %e = tensor.empty(%n) : tensor<?x80xf32>
      %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x80xf32>) -> tensor<?x80xf32>
      %r = linalg.matmul ins(%a, %b : tensor<?x96xf32>, tensor<96x80xf32>) outs(%f : tensor<?x80xf32>) -> tensor<?x80xf32>
      %o = linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}
          ins(%r, %bias : tensor<?x80xf32>, tensor<80xf32>) outs(%e : tensor<?x80xf32>) {
        ^bb0(%x: f32, %y: f32, %q: f32):
          %s = arith.addf %x, %y : f32
          %t = math.tanh %s : f32
          linalg.yield %t : f32
        } -> tensor<?x80xf32>
      return %o : tensor<?x80xf32>
    })";
  for (int64_t n : {1, 37, 640})
    compare(text,
            {random<float>({n, 96}, 1), random<float>({96, 80}, 2),
             random<float>({80}, 3)},
            2e-6);
}

TEST_F(OptimizedTest, ElementwiseFunctions) {
  // Left to plain loops, whose f32 functions are computed inline.
  compare(R"(
    func.func @main(%x: tensor<1000xf32>) -> tensor<1000xf32> {
      %r = linalg.generic {
          indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
          iterator_types = ["parallel"]}
          ins(%x : tensor<1000xf32>) outs(%x : tensor<1000xf32>) {
        ^bb0(%a: f32, %o: f32):
          %t = math.tanh %a : f32
          %e = math.exp %t : f32
          %l = math.log %e : f32
          %m = math.expm1 %l : f32
          %f = math.erf %m : f32
          %s = math.sin %f : f32
          linalg.yield %s : f32
        } -> tensor<1000xf32>
      return %r : tensor<1000xf32>
    })",
          {random<float>({1000}, 4)}, 1e-6);
}

TEST_F(OptimizedTest, Convolution) {
  compare(R"(
    func.func @main(%x: tensor<2x14x14x8xf32>, %w: tensor<3x3x8x20xf32>) -> tensor<2x12x12x20xf32> {
      %z = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<2x12x12x20xf32>
      %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x12x12x20xf32>) -> tensor<2x12x12x20xf32>
      %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<2x14x14x8xf32>, tensor<3x3x8x20xf32>)
             outs(%f : tensor<2x12x12x20xf32>) -> tensor<2x12x12x20xf32>
      return %r : tensor<2x12x12x20xf32>
    })",
          {random<float>({2, 14, 14, 8}, 5), random<float>({3, 3, 8, 20}, 6)},
          2e-6);
}

} // namespace
