//===- NumericsClassTest.cpp - Equal classes, equal bits ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One operation under several schedules: whenever two have one numerics class,
// their results are compared bit by bit. Inputs hold tiny numbers, so that
// sums pass through underflow and zeros of both signs.

#include "RunProgram.h"
#include "mlir/Pass/PassManager.h"
#include "tracea/Analysis/Certificates.h"
#include "tracea/Analysis/Passes.h"
#include "tracea/Pipelines/Pipelines.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace {

class NumericsClassTest : public CompilerTest {
protected:
  struct Outcome {
    std::string schedule, name;
    std::vector<Tensor> outputs;
  };

  /// The class of the module's only kernel; empty when it has none.
  std::string classify(const std::string &text) {
    mlir::OwningOpRef<mlir::ModuleOp> module =
        tracea::compiler::parseModule(text, context, "test.mlir");
    if (!module) {
      ADD_FAILURE() << errors;
      return "";
    }
    mlir::PassManager manager(&context);
    mlir::tracea::CompilePipelineOptions options;
    options.to = mlir::tracea::Phase::Pipeline;
    mlir::tracea::buildCompilePipeline(manager, options);
    manager.nest<mlir::tracea_pipe::KernelOp>().addPass(
        mlir::tracea::createClassifyNumerics());
    if (failed(manager.run(*module))) {
      ADD_FAILURE() << errors;
      return "";
    }
    std::string result;
    module->walk([&](mlir::tracea_pipe::KernelOp kernel) {
      if (auto certificate = mlir::tracea::getCertificate(kernel, "numerics"))
        result = certificate.getClaim().take_front(22).str();
    });
    return result;
  }

  static bool sameBits(const std::vector<Tensor> &x,
                       const std::vector<Tensor> &y) {
    for (size_t i = 0; i < x.size(); ++i)
      if (std::memcmp(x[i].dataAs<float>(), y[i].dataAs<float>(),
                      x[i].numElements() * sizeof(float)) != 0)
        return false;
    return true;
  }

  /// `$S` of the text stands for the schedule. Gives the number of pairs that
  /// have one class, which are the ones that were compared.
  int compare(const std::string &text,
              const std::vector<std::string> &schedules,
              const std::vector<Tensor> &inputs) {
    outcomes.clear();
    for (const std::string &schedule : schedules) {
      std::string full = text;
      full.replace(full.find("$S"), 2, "schedule <" + schedule + ">");
      Outcome outcome{schedule, classify(full), {}};
      EXPECT_FALSE(outcome.name.empty()) << schedule << " has no class";
      auto program = compile(full, {});
      if (!program)
        return 0;
      outcome.outputs = run(*program, inputs);
      outcomes.push_back(std::move(outcome));
    }
    int pairs = 0;
    for (size_t i = 0; i < outcomes.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        if (outcomes[i].name != outcomes[j].name)
          continue;
        ++pairs;
        EXPECT_TRUE(sameBits(outcomes[i].outputs, outcomes[j].outputs))
            << "one class, different bits:\n"
            << outcomes[i].schedule << "\n"
            << outcomes[j].schedule;
      }
    return pairs;
  }

  bool sameClass(size_t i, size_t j) {
    return outcomes[i].name == outcomes[j].name;
  }
  bool sameOutputs(size_t i, size_t j) {
    return sameBits(outcomes[i].outputs, outcomes[j].outputs);
  }

  /// Numbers of very different size and both signs.
  static Tensor wild(std::vector<int64_t> shape, unsigned seed) {
    Tensor tensor = random<float>(std::move(shape), seed);
    for (int64_t i = 0; i < tensor.numElements(); ++i)
      if (i % 3 == 1)
        tensor.dataAs<float>()[i] *= 1e-25f;
      else if (i % 11 == 5)
        tensor.dataAs<float>()[i] = -0.0f;
    return tensor;
  }

  static std::string shape(std::vector<int64_t> extents) {
    std::string text = "tensor<";
    for (int64_t extent : extents)
      text += std::to_string(extent) + "x";
    return text + "f32>";
  }

  std::vector<Outcome> outcomes;
};

TEST_F(NumericsClassTest, Products) {
  const std::vector<std::string> packed = {
      // Same blocks of k, everything else different.
      "variant = \"gemm.packed\", unit = vector, tile = [16, 48, 64, 8], "
      "registers = [4, 16]",
      "variant = \"gemm.packed\", unit = vector, tile = [32, 96, 64, 16], "
      "registers = [8, 32]",
      "variant = \"gemm.packed\", unit = vector, tile = [8, 16, 64, 64], "
      "registers = [2, 16]",
      "variant = \"gemm.packed\", unit = vector, tile = [64, 64, 64, 32], "
      "registers = [1, 64]",
      // Other blocks of k.
      "variant = \"gemm.packed\", unit = vector, tile = [16, 48, 128, 8], "
      "registers = [4, 16]",
      "variant = \"gemm.packed\", unit = vector, tile = [32, 32, 128, 32], "
      "registers = [8, 32]",
      "variant = \"gemm.packed\", unit = vector, tile = [16, 48, 96, 8], "
      "registers = [4, 16]",
      "variant = \"gemm.packed\", unit = vector, tile = [16, 48, 512, 8], "
      "registers = [4, 16]",
      "variant = \"gemm.packed\", unit = vector, tile = [32, 16, 1024, 8], "
      "registers = [8, 16]"};
  for (auto [m, n, k] : {std::tuple<int64_t, int64_t, int64_t>{1, 1, 1},
                         {37, 70, 300},
                         {65, 33, 128},
                         {3, 97, 513}}) {
    std::string text = "func.func @main(%a: " + shape({m, k}) +
                       ", %b: " + shape({k, n}) + ", %c: " + shape({n}) +
                       ", %d: " + shape({m, n}) + ") -> " + shape({m, n}) +
                       " {\n  %0 = tracea.gemm ins(%a, %b : " + shape({m, k}) +
                       ", " + shape({k, n}) + ") outs(%d : " + shape({m, n}) +
                       ")\n    $S\n    epilogue(%c by affine_map<(i, j) -> "
                       "(j)> : " +
                       shape({n}) +
                       ") {\n  ^bb0(%acc: f32, %x: f32):\n"
                       "    %zero = arith.constant 0.0 : f32\n"
                       "    %1 = arith.addf %acc, %x : f32\n"
                       "    %2 = arith.maximumf %1, %zero : f32\n"
                       "    tracea.yield %2 : f32\n  }\n  return %0 : " +
                       shape({m, n}) + "\n}";
    EXPECT_GE(compare(text, packed,
                      {wild({m, k}, 1), wild({k, n}, 2), wild({n}, 3),
                       wild({m, n}, 4)}),
              7)
        << m << "x" << n << "x" << k;
    if (k == 513) {
      // Blocks of 64 and of 128 are two classes, and two results.
      EXPECT_FALSE(sameClass(0, 4));
      EXPECT_FALSE(sameOutputs(0, 4));
      // Blocks of 512 leave one product over, those of 1024 none.
      EXPECT_FALSE(sameClass(7, 8));
    }
  }
}

// Panels begin with their first block, and so do direct products of several
// panels; one that stays in registers begins with zero: 0 + (-0) is not -0. An
// underflow that rounds to -0 tells them apart.
TEST_F(NumericsClassTest, PackedAndDirectDifferInTheSignOfZero) {
  const std::vector<std::string> schedules = {
      "variant = \"gemm.packed\", unit = vector, tile = [4, 16, 8, 4], "
      "registers = [4, 16]",
      "variant = \"gemm.direct\", unit = vector, tile = [4, 16, 8], registers "
      "= [4, 16]",
      "variant = \"gemm.direct\", unit = vector, tile = [8, 32, 8], registers "
      "= [2, 32]",
      "variant = \"gemm.direct\", unit = vector, tile = [8, 64, 8], registers "
      "= [2, 32]"};
  std::string text = R"(
    func.func @main(%a: tensor<4x20xf32>, %b: tensor<20x40xf32>, %d: tensor<4x40xf32>) -> tensor<4x40xf32> {
      %0 = tracea.gemm ins(%a, %b : tensor<4x20xf32>, tensor<20x40xf32>) outs(%d : tensor<4x40xf32>) $S
      return %0 : tensor<4x40xf32>
    })";
  Tensor a = make<float>({4, 20}), b = make<float>({20, 40});
  for (int64_t i = 0; i < a.numElements(); ++i)
    a.dataAs<float>()[i] = -1e-30f;
  for (int64_t i = 0; i < b.numElements(); ++i)
    b.dataAs<float>()[i] = 1e-30f;
  EXPECT_EQ(compare(text, schedules, {a, b, make<float>({4, 40})}), 2);
  EXPECT_TRUE(sameClass(1, 2));
  EXPECT_TRUE(sameClass(0, 3));
  EXPECT_FALSE(sameClass(0, 1));
  EXPECT_FALSE(sameOutputs(0, 1));
}

TEST_F(NumericsClassTest, Convolutions) {
  const std::vector<std::string> schedules = {
      "variant = \"conv2d.patch\", unit = vector, tile = [2, 4, 16, 4], "
      "registers = [4, 16]",
      "variant = \"conv2d.patch\", unit = vector, tile = [3, 8, 32, 4], "
      "registers = [2, 16]",
      "variant = \"conv2d.patch\", unit = vector, tile = [7, 6, 16, 4], "
      "registers = [3, 16]",
      "variant = \"conv2d.patch\", unit = vector, tile = [2, 4, 16, 8], "
      "registers = [4, 16]",
      "variant = \"conv2d.patch\", unit = vector, tile = [5, 12, 64, 8], "
      "registers = [6, 32]",
      "variant = \"conv2d.patch\", unit = vector, tile = [2, 4, 16, 64], "
      "registers = [4, 16]",
      "variant = \"conv2d.patch\", unit = vector, tile = [9, 4, 16, 10], "
      "registers = [1, 16]"};
  std::string text = R"(
    func.func @main(%x: tensor<2x9x11x10xf32>, %w: tensor<20x3x3x10xf32>, %d: tensor<2x5x6x20xf32>) -> tensor<2x5x6x20xf32> {
      %0 = tracea.conv2d layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1]
             ins(%x, %w : tensor<2x9x11x10xf32>, tensor<20x3x3x10xf32>) outs(%d : tensor<2x5x6x20xf32>) $S
      return %0 : tensor<2x5x6x20xf32>
    })";
  EXPECT_EQ(compare(text, schedules,
                    {wild({2, 9, 11, 10}, 1), wild({20, 3, 3, 10}, 2),
                     make<float>({2, 5, 6, 20})}),
            3 + 1 + 1);
  EXPECT_FALSE(sameOutputs(0, 5));
}

TEST_F(NumericsClassTest, ConvolutionsWithPixelLanesAndGroups) {
  const std::vector<std::string> schedules = {
      "variant = \"conv2d.patch\", unit = vector, tile = [2, 16, 2, 3], "
      "registers = [2, 16]",
      "variant = \"conv2d.patch\", unit = vector, tile = [3, 32, 4, 3], "
      "registers = [1, 32]",
      "variant = \"conv2d.patch\", unit = vector, tile = [9, 16, 4, 3], "
      "registers = [4, 16]",
      "variant = \"conv2d.patch\", unit = vector, tile = [2, 16, 2, 2], "
      "registers = [2, 16]"};
  std::string text = R"(
    func.func @main(%x: tensor<1x6x9x21xf32>, %w: tensor<8x3x3x3xf32>, %d: tensor<1x8x9x21xf32>) -> tensor<1x8x9x21xf32> {
      %0 = tracea.conv2d layout nchw filter kcrs pads [1, 1, 1, 1] groups 2
             ins(%x, %w : tensor<1x6x9x21xf32>, tensor<8x3x3x3xf32>) outs(%d : tensor<1x8x9x21xf32>) $S
      return %0 : tensor<1x8x9x21xf32>
    })";
  EXPECT_EQ(compare(text, schedules,
                    {wild({1, 6, 9, 21}, 1), wild({8, 3, 3, 3}, 2),
                     make<float>({1, 8, 9, 21})}),
            3);
}

TEST_F(NumericsClassTest, DepthwiseConvolutions) {
  const std::vector<std::string> schedules = {
      "variant = \"conv2d.depthwise\", unit = vector, tile = [2, 4, 16], "
      "registers = [4, 16]",
      "variant = \"conv2d.depthwise\", unit = vector, tile = [5, 6, 32], "
      "registers = [2, 32]",
      "variant = \"conv2d.depthwise\", unit = vector, tile = [5, 6, 32], "
      "registers = [3, 16], staged = 0"};
  std::string text = R"(
    func.func @main(%x: tensor<1x9x9x20xf32>, %w: tensor<20x3x3x1xf32>, %d: tensor<1x9x9x20xf32>) -> tensor<1x9x9x20xf32> {
      %0 = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] groups 20
             ins(%x, %w : tensor<1x9x9x20xf32>, tensor<20x3x3x1xf32>) outs(%d : tensor<1x9x9x20xf32>) $S
      return %0 : tensor<1x9x9x20xf32>
    })";
  EXPECT_EQ(compare(text, schedules,
                    {wild({1, 9, 9, 20}, 1), wild({20, 3, 3, 1}, 2),
                     make<float>({1, 9, 9, 20})}),
            3);
  // A border of zeros is multiplied: by an infinite weight it is no number,
  // whether it was copied or not.
  Tensor infinite = wild({20, 3, 3, 1}, 2);
  infinite.dataAs<float>()[0] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(compare(text, schedules,
                    {wild({1, 9, 9, 20}, 1), std::move(infinite),
                     make<float>({1, 9, 9, 20})}),
            3);
  const float *corner = outcomes[2].outputs[0].dataAs<float>();
  EXPECT_TRUE(std::isnan(corner[0]));
  EXPECT_FALSE(std::isnan(corner[1]));
}

TEST_F(NumericsClassTest, Rows) {
  for (int64_t length : {1, 16, 77, 200}) {
    std::string type = shape({5, length});
    std::string text =
        "func.func @main(%x: " + type + ", %d: " + type + ") -> " + type +
        " {\n  %0 = tracea.softmax dim 1 ins(%x : " + type +
        ") outs(%d : " + type + ") $S\n  return %0 : " + type + "\n}";
    compare(text,
            {"variant = \"row\", unit = vector, tile = [1, 16], registers = "
             "[1, 16]",
             "variant = \"row\", unit = vector, tile = [1, 32], registers = "
             "[1, 32]",
             "variant = \"row\", unit = vector, tile = [1, 64], registers = "
             "[1, 64]"},
            {random<float>({5, length}, 1), make<float>({5, length})});
    if (length == 200) {
      EXPECT_FALSE(sameClass(0, 1));
      EXPECT_FALSE(sameOutputs(0, 1) && sameOutputs(0, 2));
    }
  }
}

TEST_F(NumericsClassTest, Attention) {
  const std::vector<std::string> schedules = {
      "variant = \"attention.flash\", unit = vector, tile = [8, 32], registers "
      "= [4, 16]",
      "variant = \"attention.flash\", unit = vector, tile = [16, 32], "
      "registers = [4, 16]",
      "variant = \"attention.flash\", unit = vector, tile = [16, 32], "
      "registers = [8, 16]",
      "variant = \"attention.flash\", unit = vector, tile = [8, 64], registers "
      "= [4, 16]",
      "variant = \"attention.flash\", unit = vector, tile = [32, 64], "
      "registers = [2, 16]",
      "variant = \"attention.flash\", unit = vector, tile = [8, 32], registers "
      "= [4, 32]"};
  const std::string text = R"(
      func.func @main(%q: tensor<1x4x21x12xf32>, %k: tensor<1x2x75x12xf32>, %v: tensor<1x2x75x9xf32>, %d: tensor<1x4x21x9xf32>) -> tensor<1x4x21x9xf32> {
        %0 = tracea.attention ins(%q, %k, %v : tensor<1x4x21x12xf32>, tensor<1x2x75x12xf32>, tensor<1x2x75x9xf32>)
               outs(%d : tensor<1x4x21x9xf32>) $S -> tensor<1x4x21x9xf32>
        return %0 : tensor<1x4x21x9xf32>
      })";
  const std::vector<Tensor> inputs = {
      random<float>({1, 4, 21, 12}, 1), random<float>({1, 2, 75, 12}, 2),
      random<float>({1, 2, 75, 9}, 3), make<float>({1, 4, 21, 9})};
  EXPECT_EQ(compare(text, schedules, inputs), 3 + 1);
  EXPECT_FALSE(sameOutputs(0, 3));

  // Which keys a row visits under a mask is the tile's matter, so that there is
  // no class; what it visits beyond its own adds nothing all the same.
  std::string causal = text;
  causal.replace(causal.find("ins(%q"), 0, "causal ");
  std::vector<std::vector<Tensor>> outputs;
  for (const std::string &schedule : schedules) {
    std::string full = causal;
    full.replace(full.find("$S"), 2, "schedule <" + schedule + ">");
    EXPECT_EQ(classify(full), "") << schedule;
    auto program = compile(full, {});
    ASSERT_TRUE(program);
    outputs.push_back(run(*program, inputs));
  }
  EXPECT_TRUE(sameBits(outputs[0], outputs[1]));
  EXPECT_TRUE(sameBits(outputs[0], outputs[2]));
  EXPECT_FALSE(sameBits(outputs[0], outputs[3]));
}

} // namespace
