//===- NumericsRegressions.cpp - Cases that are always run ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules with one argument or more whose right results are given by a formula.
// Each one once failed, or stands for a corner that random cases seldom meet.

#include "Numerics.h"

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

const std::vector<Regression> &numerics::regressions() {
  static const std::vector<Regression> list = {
      {"gemm-empty-sum", emptySum},
  };
  return list;
}
