//===- NumericsRegressions.cpp - Cases that are always run ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules with one argument or more whose right results are given by a formula.
// Each one once failed, or stands for a corner that random cases seldom meet.

#include "Numerics.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tracea;
using namespace tracea::numerics;

static Case fixedCase(std::string name, std::string text,
                      std::function<Instance(Random &)> make) {
  Case result;
  result.name = std::move(name);
  result.text = std::move(text);
  result.make = [make = std::move(make)](Random &random, bool) {
    return make(random);
  };
  return result;
}

/// k = 0: the sum is zero and the epilogue still runs.
static Case emptySum() {
  return fixedCase(
      "gemm with k = 0", R"(
func.func @main(%a: tensor<5x0xf32>, %b: tensor<0x7xf32>, %c: tensor<7xf32>) -> tensor<5x7xf32> {
  %d = tensor.empty() : tensor<5x7xf32>
  %r = tracea.gemm ins(%a, %b : tensor<5x0xf32>, tensor<0x7xf32>) outs(%d : tensor<5x7xf32>)
       epilogue(%c by affine_map<(m, n) -> (n)> : tensor<7xf32>) {
    ^bb0(%acc: f32, %x: f32):
      %s = arith.addf %acc, %x : f32
      tracea.yield %s : f32
  }
  return %r : tensor<5x7xf32>
})",
      [](Random &random) {
        Instance instance;
        for (const Shape &shape : {Shape{5, 0}, {0, 7}, {7}})
          instance.inputs.push_back(
              randomTensor(random, ElementType::F32, shape, Fill::Normal));
        ExpectedTensor y{ElementType::F32, {5, 7}, {}};
        for (int i = 0; i < 35; ++i)
          y.values.push_back({instance.inputs[2].values[i % 7], 0});
        instance.outputs = {y};
        return instance;
      });
}

/// Results beside the first: stored, and reduced along rows, columns and both.
/// Small integers, so that every order of the sums is exact.
static Case auxiliaryResults() {
  constexpr int64_t m = 37, n = 53, k = 19;
  return fixedCase(
      "gemm with auxiliary results", R"(
func.func @main(%a: tensor<?x19xf32>, %b: tensor<19x53xf32>, %c: tensor<53xf32>)
    -> (tensor<?x53xf32>, tensor<?x53xbf16>, tensor<?xf32>, tensor<53xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x19xf32>
  %d = tensor.empty(%m) : tensor<?x53xf32>
  %e = tensor.empty(%m) : tensor<?x53xbf16>
  %f = tensor.empty(%m) : tensor<?xf32>
  %g = tensor.empty() : tensor<53xf32>
  %h = tensor.empty() : tensor<f32>
  %r:5 = tracea.gemm ins(%a, %b : tensor<?x19xf32>, tensor<19x53xf32>) outs(%d : tensor<?x53xf32>)
       aux(%e by affine_map<(m, n) -> (m, n)>, add %f by affine_map<(m, n) -> (m)>,
           max %g by affine_map<(m, n) -> (n)>, add %h by affine_map<(m, n) -> ()>
           : tensor<?x53xbf16>, tensor<?xf32>, tensor<53xf32>, tensor<f32>)
       epilogue(%c by affine_map<(m, n) -> (n)> : tensor<53xf32>) {
    ^bb0(%acc: f32, %x: f32):
      %s = arith.addf %acc, %x : f32
      %z = arith.constant 0.0 : f32
      %y = arith.maximumf %s, %z : f32
      %q = arith.mulf %y, %y : f32
      %t = arith.truncf %s : f32 to bf16
      tracea.yield %y, %t, %q, %s, %y : f32, bf16, f32, f32, f32
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4 : tensor<?x53xf32>, tensor<?x53xbf16>, tensor<?xf32>, tensor<53xf32>, tensor<f32>
})",
      [](Random &random) {
        Instance instance;
        for (const Shape &shape : {Shape{m, k}, Shape{k, n}, Shape{n}})
          instance.inputs.push_back(
              randomTensor(random, ElementType::F32, shape, Fill::Integers));
        const std::vector<double> &a = instance.inputs[0].values,
                                  &b = instance.inputs[1].values,
                                  &c = instance.inputs[2].values;
        ExpectedTensor y{ElementType::F32, {m, n}, {}},
            before{ElementType::BF16, {m, n}, {}},
            squares{ElementType::F32, {m}, {}}, most{ElementType::F32, {n}, {}},
            total{ElementType::F32, {}, {Approx()}};
        squares.values.resize(m);
        for (int64_t j = 0; j < n; ++j)
          most.values.push_back({-1e9L, 0});
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = 0; j < n; ++j) {
            Real sum = c[j];
            for (int64_t l = 0; l < k; ++l)
              sum += Real(a[i * k + l]) * b[l * n + j];
            Real positive = std::max<Real>(sum, 0);
            y.values.push_back({positive, 0});
            before.values.push_back({sum, 0});
            squares.values[i].value += positive * positive;
            most.values[j].value = std::max(most.values[j].value, sum);
            total.values[0].value += positive;
          }
        instance.outputs = {y, before, squares, most, total};
        return instance;
      });
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// [m, k] x [k, n], both inputs of `operand`, then `epilogue` of the sums.
static Case product(std::string name, std::string text, ElementType operand,
                    ElementType result, int64_t m, int64_t n, int64_t k,
                    std::function<Approx(Approx)> epilogue = nullptr) {
  return fixedCase(std::move(name), std::move(text), [=](Random &random) {
    Instance instance;
    for (const Shape &shape : {Shape{m, k}, Shape{k, n}})
      instance.inputs.push_back(
          randomTensor(random, operand, shape, Fill::Normal));
    ExpectedTensor y{result, {m, n}, {}};
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j) {
        Approx sum = dotProduct(accumulatorOf(operand), k,
                                [&](int64_t l, double &a, double &b) {
                                  a = instance.inputs[0].values[i * k + l];
                                  b = instance.inputs[1].values[l * n + j];
                                });
        y.values.push_back(epilogue ? epilogue(sum) : sum);
      }
    instance.outputs = {y};
    return instance;
  });
}

/// A double rounds to bf16 at once: no helper of a runtime library is at hand,
/// and rounding to single first would round twice.
static Case doubleToBFloat() {
  return product("f64 product to bf16", R"(
func.func @main(%a: tensor<9x40xf64>, %b: tensor<40x35xf64>) -> tensor<9x35xbf16> {
  %d = tensor.empty() : tensor<9x35xbf16>
  %r = tracea.gemm ins(%a, %b : tensor<9x40xf64>, tensor<40x35xf64>) outs(%d : tensor<9x35xbf16>)
  return %r : tensor<9x35xbf16>
})",
                 ElementType::F64, ElementType::BF16, 9, 35, 40);
}

/// The same to f16, through which AVX2 and SSE need helpers too.
static Case singleToHalf() {
  return product("f16 product to f16", R"(
func.func @main(%a: tensor<9x40xf16>, %b: tensor<40x35xf16>) -> tensor<9x35xf16> {
  %d = tensor.empty() : tensor<9x35xf16>
  %r = tracea.gemm ins(%a, %b : tensor<9x40xf16>, tensor<40x35xf16>) outs(%d : tensor<9x35xf16>)
  return %r : tensor<9x35xf16>
})",
                 ElementType::F16, ElementType::F16, 9, 35, 40);
}

/// A vector function that only libm has.
static Case doubleErf() {
  return product("erf of doubles", R"(
func.func @main(%a: tensor<9x3xf64>, %b: tensor<3x35xf64>) -> tensor<9x35xf64> {
  %d = tensor.empty() : tensor<9x35xf64>
  %r = tracea.gemm ins(%a, %b : tensor<9x3xf64>, tensor<3x35xf64>) outs(%d : tensor<9x35xf64>)
       epilogue {
    ^bb0(%acc: f64):
      %e = math.erf %acc : f64
      tracea.yield %e : f64
  }
  return %r : tensor<9x35xf64>
})",
                 ElementType::F64, ElementType::F64, 9, 35, 3, [](Approx sum) {
                   return Arithmetic(ElementType::F64)
                       .apply(sum, std::erf(sum.value), 1.13L, 4);
                 });
}

/// Results may have types that no schedule counts with.
static Case wideIntegers() {
  return product("i8 product to i64", R"(
func.func @main(%a: tensor<9x300xi8>, %b: tensor<300x35xi8>) -> tensor<9x35xi64> {
  %d = tensor.empty() : tensor<9x35xi64>
  %r = tracea.gemm ins(%a, %b : tensor<9x300xi8>, tensor<300x35xi8>) outs(%d : tensor<9x35xi64>)
  return %r : tensor<9x35xi64>
})",
                 ElementType::I8, ElementType::I64, 9, 35, 300);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// nhwc by krsc, stride 1, no padding, in groups.
static Case convolution(std::string name, std::string text, Shape image,
                        Shape filter, int64_t groups,
                        std::vector<WrongSize> wrong) {
  return fixedCase(std::move(name), std::move(text), [=](Random &random) {
    Instance instance;
    for (const Shape &shape : {image, filter})
      instance.inputs.push_back(
          randomTensor(random, ElementType::F32, shape, Fill::Normal));
    int64_t K = filter[0], R = filter[1], S = filter[2], C = filter[3];
    Shape shape = {image[0], std::max<int64_t>(0, image[1] - R + 1),
                   std::max<int64_t>(0, image[2] - S + 1), K};
    ExpectedTensor y{ElementType::F32, shape, {}};
    forEachIndex(shape, [&](const Shape &at, int64_t) {
      y.values.push_back(dotProduct(
          ElementType::F32, R * S * C, [&](int64_t l, double &a, double &b) {
            int64_t c = l % C, s = l / C % S, r = l / C / S;
            int64_t group = at[3] / (K / groups);
            a = instance.inputs[0].values[linearIndex(
                image, {at[0], at[1] + r, at[2] + s, group * C + c})];
            b = instance.inputs[1]
                    .values[linearIndex(filter, {at[3], r, s, c})];
          }));
    });
    instance.outputs = {y};
    instance.wrong = wrong;
    return instance;
  });
}

/// The image's channels are known to the run alone.
static Case dynamicChannels() {
  return convolution("conv2d of dynamic channels", R"(
func.func @main(%x: tensor<1x9x9x?xf32>, %w: tensor<16x3x3x5xf32>) -> tensor<1x7x7x16xf32> {
  %d = tensor.empty() : tensor<1x7x7x16xf32>
  %r = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x9x9x?xf32>, tensor<16x3x3x5xf32>)
         outs(%d : tensor<1x7x7x16xf32>)
  return %r : tensor<1x7x7x16xf32>
})",
                     {1, 9, 9, 5}, {16, 3, 3, 5}, 1, {{0, 3}});
}

/// So are its rows, and the destination has what it has.
static Case dynamicHeight() {
  return fixedCase("conv2d of dynamic height", R"(
func.func @main(%x: tensor<1x?x9x5xf32>, %w: tensor<16x3x3x5xf32>, %d: tensor<1x?x7x16xf32>) -> tensor<1x?x7x16xf32> {
  %r = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x?x9x5xf32>, tensor<16x3x3x5xf32>)
         outs(%d : tensor<1x?x7x16xf32>)
  return %r : tensor<1x?x7x16xf32>
})",
                   [](Random &random) {
                     Instance instance =
                         convolution("", "", {1, 9, 9, 5}, {16, 3, 3, 5}, 1, {})
                             .make(random, true);
                     instance.inputs.push_back(
                         randomTensor(random, ElementType::F32, {1, 7, 7, 16},
                                      Fill::Normal));
                     instance.wrong = {{0, 1}, {2, 1}};
                     return instance;
                   });
}

/// Depthwise by what the filter says.
static Case dynamicDepthwise() {
  return convolution("depthwise conv2d of dynamic channels", R"(
func.func @main(%x: tensor<1x9x9x?xf32>, %w: tensor<19x3x3x1xf32>) -> tensor<1x7x7x19xf32> {
  %d = tensor.empty() : tensor<1x7x7x19xf32>
  %r = tracea.conv2d layout nhwc filter krsc groups 19 ins(%x, %w : tensor<1x9x9x?xf32>, tensor<19x3x3x1xf32>)
         outs(%d : tensor<1x7x7x19xf32>)
  return %r : tensor<1x7x7x19xf32>
})",
                     {1, 9, 9, 19}, {19, 3, 3, 1}, 19, {{0, 3}});
}

/// An image lower than the filter: nothing is read, whatever the width.
static Case tooLowAnImage() {
  return fixedCase("conv2d by plain loops that reads nothing", R"(
func.func @main(%x: tensor<1x?x?x5xf32>, %w: tensor<?x?x?x5xf32>, %d: tensor<1x?x?x?xf32>) -> tensor<1x?x?x?xf32> {
  %r = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x?x?x5xf32>, tensor<?x?x?x5xf32>)
         outs(%d : tensor<1x?x?x?xf32>)
  return %r : tensor<1x?x?x?xf32>
})",
                   [](Random &random) {
                     Instance instance =
                         convolution("", "", {1, 2, 9, 5}, {4, 3, 3, 5}, 1, {})
                             .make(random, true);
                     instance.inputs.push_back(randomTensor(
                         random, ElementType::F32, {1, 0, 7, 4}, Fill::Normal));
                     return instance;
                   });
}

/// The same in static sizes, whose definition in linalg would not verify.
static Case staticallyTooLow() {
  return convolution("conv2d of an image lower than the filter", R"(
func.func @main(%x: tensor<1x1x9x5xf32>, %w: tensor<4x3x3x5xf32>) -> tensor<1x0x7x4xf32> {
  %d = tensor.empty() : tensor<1x0x7x4xf32>
  %r = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x1x9x5xf32>, tensor<4x3x3x5xf32>)
         outs(%d : tensor<1x0x7x4xf32>)
  return %r : tensor<1x0x7x4xf32>
})",
                     {1, 1, 9, 5}, {4, 3, 3, 5}, 1, {});
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Grouped heads by plain loops (the depth is dynamic). A query of zeros gives
/// the mean of the values.
static Case attentionByLoops() {
  return fixedCase(
      "attention of dynamic depth and heads", R"(
func.func @main(%q: tensor<1x?x5x?xf32>, %k: tensor<1x?x?x16xf32>, %v: tensor<1x?x?x3xf32>) -> tensor<1x4x5x3xf32> {
  %d = tensor.empty() : tensor<1x4x5x3xf32>
  %r = tracea.attention scale 1.0 ins(%q, %k, %v : tensor<1x?x5x?xf32>, tensor<1x?x?x16xf32>, tensor<1x?x?x3xf32>)
         outs(%d : tensor<1x4x5x3xf32>) -> tensor<1x4x5x3xf32>
  return %r : tensor<1x4x5x3xf32>
})",
      [](Random &random) {
        Instance instance;
        for (const Shape &shape :
             {Shape{1, 4, 5, 16}, {1, 2, 8, 16}, {1, 2, 8, 3}})
          instance.inputs.push_back(
              randomTensor(random, ElementType::F32, shape, Fill::Integers));
        for (double &value : instance.inputs[0].values)
          value = 0;
        ExpectedTensor y{ElementType::F32, {1, 4, 5, 3}, {}};
        forEachIndex(y.shape, [&](const Shape &at, int64_t) {
          Real sum = 0;
          for (int64_t j = 0; j < 8; ++j)
            sum += instance.inputs[2].values[linearIndex(
                {1, 2, 8, 3}, {0, at[1] / 2, j, at[3]})];
          y.values.push_back({sum / 8, 1e-6L});
        });
        instance.outputs = {y};
        instance.wrong = {{0, 1}, {0, 3}, {1, 1}, {1, 2}, {2, 1}, {2, 2}};
        return instance;
      });
}

const std::vector<Regression> &numerics::regressions() {
  static const std::vector<Regression> list = {
      {"gemm-empty-sum", emptySum},
      {"gemm-auxiliary-results", auxiliaryResults},
      {"gemm-f64-to-bf16", doubleToBFloat},
      {"gemm-f16", singleToHalf},
      {"gemm-f64-erf", doubleErf},
      {"gemm-i64", wideIntegers},
      {"conv2d-dynamic-channels", dynamicChannels},
      {"conv2d-dynamic-height", dynamicHeight},
      {"conv2d-dynamic-depthwise", dynamicDepthwise},
      {"conv2d-reads-nothing", tooLowAnImage},
      {"conv2d-static-nothing", staticallyTooLow},
      {"attention-by-loops", attentionByLoops},
  };
  return list;
}
