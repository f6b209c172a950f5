//===- MathTest.cpp - Accuracy of inline functions ------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of f32 in plain loops, against double precision, over the range
// where their results are finite, and at the special values.

#include "RunProgram.h"

#include <cmath>
#include <limits>

namespace {

class MathTest : public CompilerTest {
protected:
  /// The function applied to the inputs.
  std::vector<float> apply(const std::string &name,
                           const std::vector<float> &inputs) {
    auto program = compile(
        R"(
      func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
        %c0 = arith.constant 0 : index
        %n = tensor.dim %x, %c0 : tensor<?xf32>
        %e = tensor.empty(%n) : tensor<?xf32>
        %r = linalg.map { math.)" +
            name + R"( } ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>)
        return %r : tensor<?xf32>
      })",
        {});
    if (!program)
      return {};
    Tensor x = make<float>({int64_t(inputs.size())});
    std::copy(inputs.begin(), inputs.end(), x.dataAs<float>());
    std::vector<Tensor> out = run(*program, {x});
    if (out.empty())
      return {};
    return {out[0].dataAs<float>(), out[0].dataAs<float>() + inputs.size()};
  }

  /// Largest error in units of the last place of the true result.
  double worst(const std::string &name, double (*exact)(double), float low,
               float high, float &where) {
    std::vector<float> inputs;
    constexpr int steps = 200000;
    for (int i = 0; i <= steps; ++i)
      inputs.push_back(low + (high - low) * (float(i) / steps));
    std::vector<float> got = apply(name, inputs);
    if (got.empty())
      return std::numeric_limits<double>::infinity();
    double largest = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      double want = exact(double(inputs[i]));
      int exponent;
      std::frexp(want, &exponent);
      double unit = std::ldexp(1.0, std::max(exponent, -125) - 24);
      double error = std::fabs(double(got[i]) - want) / unit;
      if (!(error <= largest)) {
        largest = error;
        where = inputs[i];
      }
    }
    return largest;
  }
};

TEST_F(MathTest, FewUnitsInTheLastPlace) {
  struct Case {
    const char *name;
    double (*exact)(double);
    float low, high;
    double limit;
  } cases[] = {
      {"exp", std::exp, -87.0f, 88.5f, 4},
      {"expm1", std::expm1, -20.0f, 80.0f, 4},
      {"log", std::log, 1e-30f, 10.0f, 4},
      {"log2", std::log2, 1e-30f, 10.0f, 4},
      {"log1p", std::log1p, -0.9f, 10.0f, 4},
      {"tanh", std::tanh, -10.0f, 10.0f, 5},
      {"erf", std::erf, -5.0f, 5.0f, 5},
      {"sin", std::sin, -100.0f, 100.0f, 4},
  };
  for (const Case &test : cases) {
    float where = 0;
    double units = worst(test.name, test.exact, test.low, test.high, where);
    EXPECT_LE(units, test.limit) << test.name << " at " << where;
  }
}

TEST_F(MathTest, SpecialValues) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> inputs = {-inf,   -1000.0f, -110.0f, -0.0f, 0.0f,
                               100.0f, 1000.0f,  inf,     nan};
  std::vector<float> e = apply("exp", inputs);
  ASSERT_EQ(e.size(), inputs.size());
  EXPECT_EQ(e[0], 0.0f);
  EXPECT_EQ(e[1], 0.0f);
  EXPECT_EQ(e[2], 0.0f);
  EXPECT_EQ(e[3], 1.0f);
  EXPECT_EQ(e[4], 1.0f);
  EXPECT_EQ(e[5], inf);
  EXPECT_EQ(e[6], inf);
  EXPECT_EQ(e[7], inf);
  EXPECT_TRUE(std::isnan(e[8]));
  std::vector<float> t = apply("tanh", inputs);
  ASSERT_EQ(t.size(), inputs.size());
  EXPECT_EQ(t[0], -1.0f);
  EXPECT_EQ(t[4], 0.0f);
  EXPECT_EQ(t[7], 1.0f);
  EXPECT_TRUE(std::isnan(t[8]));
  std::vector<float> l = apply("log", inputs);
  ASSERT_EQ(l.size(), inputs.size());
  EXPECT_TRUE(std::isnan(l[0]));
  EXPECT_EQ(l[3], -inf);
  EXPECT_EQ(l[4], -inf);
  EXPECT_EQ(l[7], inf);
  EXPECT_TRUE(std::isnan(l[8]));
  std::vector<float> f = apply("erf", inputs);
  ASSERT_EQ(f.size(), inputs.size());
  EXPECT_EQ(f[0], -1.0f);
  EXPECT_EQ(f[4], 0.0f);
  EXPECT_EQ(f[7], 1.0f);
  EXPECT_TRUE(std::isnan(f[8]));
}

// e^x - 1 and log(1 + x) of small arguments are those arguments, in kernels and
// in the reference; a function and a sum would give 0.
TEST_F(MathTest, SmallResultsOfDoubles) {
  const std::string text = R"(
    func.func @main(%x: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>) {
      %0 = math.expm1 %x : tensor<4xf64>
      %1 = math.log1p %x : tensor<4xf64>
      return %0, %1 : tensor<4xf64>, tensor<4xf64>
    })";
  tracea::compiler::CompileOptions plain;
  plain.target = "x86-64-v2";
  for (auto program : {compile(text, {}), compileReference(text),
#if defined(__x86_64__)
                       compile(text, plain)
#endif
       }) {
    ASSERT_NE(program, nullptr);
    Tensor x = make<double>({4});
    const double inputs[] = {1e-18, -1e-12, 1e-8, 1e-5};
    std::copy(std::begin(inputs), std::end(inputs), x.dataAs<double>());
    std::vector<Tensor> out = run(*program, {x});
    ASSERT_EQ(out.size(), 2u);
    for (int i = 0; i < 4; ++i) {
      EXPECT_DOUBLE_EQ(out[0].dataAs<double>()[i], std::expm1(inputs[i]));
      EXPECT_DOUBLE_EQ(out[1].dataAs<double>()[i], std::log1p(inputs[i]));
    }
  }
}

} // namespace
