//===- GraphTest.cpp - Modules built by calls -----------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Reference.h"
#include "gmock/gmock.h"

using namespace tracea;
using namespace tracea::test;
using testing::HasSubstr;
using Index = std::vector<uint64_t>;

namespace {

TEST(Graph, PerceptronOfAnyBatch) {
  Graph graph;
  Graph::Value x = graph.input("x", {Graph::dynamic, 12});
  Graph::Value w1 = graph.input("w1", {12, 16}, DType::Float32, true);
  Graph::Value b1 = graph.input("b1", {16}, DType::Float32, true);
  Graph::Value w2 = graph.input("w2", {16, 3}, DType::Float32, true);
  GemmParams gelu;
  gelu.epilogue = Epilogue::GELU;
  Graph::Value hidden = graph.gemm(x, w1, b1, gelu);
  graph.output(graph.softmax(graph.gemm(hidden, w2)));
  EXPECT_THAT(graph.text(), HasSubstr("%w1: tensor<12x16xf32> {tracea.name = "
                                      "\"w1\", tracea.constant}"));
  Program program = graph.compile();
  std::vector<Argument> inputs = program.inputs();
  ASSERT_EQ(inputs.size(), 4u);
  EXPECT_EQ(inputs[0].shape, (std::vector<int64_t>{TRACEA_DYNAMIC, 12}));
  EXPECT_EQ(inputs[1].name, "w1");
  EXPECT_TRUE(inputs[1].is_constant);
  EXPECT_THAT(program.explain(), HasSubstr("\"decisions\""));

  std::mt19937 random(5);
  Strided w1Data = Strided::make({12, 16}).fill(random),
          b1Data = Strided::make({16}).fill(random),
          w2Data = Strided::make({16, 3}).fill(random);
  Execution execution(program);
  execution.bind(1, w1Data.view());
  execution.bind(2, b1Data.view());
  execution.bind(3, w2Data.view());
  for (uint64_t batch : {1, 5, 4, 0}) {
    Strided data = Strided::make({batch, 12}).fill(random),
            out = Strided::make({batch, 3});
    execution.run({data.view(), TensorView(), TensorView(), TensorView()},
                  {out.view()});
    EXPECT_EQ(execution.output_shape(0), (Index{batch, 3}));
    expectClose(
        out,
        [&](const Index &index) {
          double scores[3], sum = 0;
          for (uint64_t j = 0; j < 3; ++j) {
            scores[j] = 0;
            for (uint64_t i = 0; i < 16; ++i) {
              double value = b1Data.get({i});
              for (uint64_t k = 0; k < 12; ++k)
                value += data.get({index[0], k}) * w1Data.get({k, i});
              scores[j] += apply(Epilogue::GELU, value) * w2Data.get({i, j});
            }
            sum += std::exp(scores[j]);
          }
          return std::exp(scores[index[1]]) / sum;
        },
        1e-5);
  }
  EXPECT_THAT(execution.stats(), HasSubstr("\"runs\":4"));
}

TEST(Graph, ElementwiseWithBroadcasts) {
  Graph graph;
  Graph::Value a = graph.input("a", {3, 1, 5}), b = graph.input("b", {4, 1}),
               c = graph.input("c", {3, 4, 5});
  Graph::Value sum = graph.binary(TRACEA_BINARY_ADD, a, b);
  Graph::Value quotient = graph.binary(
      TRACEA_BINARY_DIVIDE, sum,
      graph.unary(TRACEA_UNARY_EXP, graph.binary(TRACEA_BINARY_MAXIMUM, c, c)));
  graph.output(graph.transpose(quotient, {2, 0, 1}));
  graph.output(graph.reshape(quotient, {5, Graph::dynamic}));
  Program program = graph.compile();
  std::mt19937 random(6);
  Strided aData = Strided::make({3, 1, 5}).fill(random),
          bData = Strided::make({4, 1}).fill(random),
          cData = Strided::make({3, 4, 5}).fill(random),
          moved = Strided::make({5, 3, 4}), flat = Strided::make({5, 12});
  Execution execution(program);
  execution.run({aData.view(), bData.view(), cData.view()},
                {moved.view(), flat.view()});
  auto expected = [&](uint64_t i, uint64_t j, uint64_t k) {
    return (aData.get({i, 0, k}) + bData.get({j, 0})) /
           std::exp(cData.get({i, j, k}));
  };
  expectClose(
      moved,
      [&](const Index &index) {
        return expected(index[1], index[2], index[0]);
      },
      1e-5);
  expectClose(
      flat,
      [&](const Index &index) {
        uint64_t place = index[0] * 12 + index[1];
        return expected(place / 20, place / 5 % 4, place % 5);
      },
      1e-5);
}

TEST(Graph, EveryFunction) {
  const std::pair<TraceaUnary, double (*)(double)> functions[] = {
      {TRACEA_UNARY_RELU, [](double x) { return std::max(x, 0.0); }},
      {TRACEA_UNARY_RELU6,
       [](double x) { return std::min(std::max(x, 0.0), 6.0); }},
      {TRACEA_UNARY_SILU, [](double x) { return apply(Epilogue::SiLU, x); }},
      {TRACEA_UNARY_GELU, [](double x) { return apply(Epilogue::GELU, x); }},
      {TRACEA_UNARY_GELU_TANH,
       [](double x) { return apply(Epilogue::GELUTanh, x); }},
      {TRACEA_UNARY_SIGMOID,
       [](double x) { return apply(Epilogue::Sigmoid, x); }},
      {TRACEA_UNARY_TANH, [](double x) { return std::tanh(x); }},
      {TRACEA_UNARY_NEGATE, [](double x) { return -x; }},
      {TRACEA_UNARY_ABS, [](double x) { return std::abs(x); }},
      {TRACEA_UNARY_EXP, [](double x) { return std::exp(x); }},
      {TRACEA_UNARY_LOG, [](double x) { return std::log(x); }},
      {TRACEA_UNARY_SQRT, [](double x) { return std::sqrt(x); }},
      {TRACEA_UNARY_RSQRT, [](double x) { return 1 / std::sqrt(x); }}};
  Graph graph;
  Graph::Value x = graph.input("x", {33});
  for (const auto &[function, meaning] : functions)
    graph.output(graph.unary(function, x));
  graph.output(graph.cast(x, DType::Int32));
  graph.output(graph.cast(graph.cast(x, DType::BFloat16), DType::Float32));
  Execution execution(graph.compile());
  Strided data = Strided::make({33});
  for (uint64_t i = 0; i < 33; ++i)
    data.at({i}) = 0.25f * static_cast<float>(i + 1);
  std::vector<Strided> outs;
  for (size_t i = 0; i < std::size(functions) + 1; ++i)
    outs.push_back(Strided::make({33}));
  std::vector<int32_t> whole(33);
  std::vector<TensorView> views;
  for (size_t i = 0; i < std::size(functions); ++i)
    views.push_back(outs[i].view());
  views.push_back(TensorView(whole.data(), {33}, DType::Int32));
  views.push_back(outs.back().view());
  execution.run({data.view()}, views);
  for (size_t f = 0; f < std::size(functions); ++f)
    for (uint64_t i = 0; i < 33; ++i) {
      double expected = functions[f].second(data.get({i}));
      EXPECT_NEAR(outs[f].get({i}), expected, 1e-5 * (1 + std::abs(expected)))
          << f;
    }
  for (uint64_t i = 0; i < 33; ++i) {
    EXPECT_EQ(whole[i], static_cast<int32_t>(data.get({i})));
    EXPECT_EQ(outs.back().get({i}), data.get({i}));
  }
}

TEST(Graph, ConvolutionBlock) {
  Graph graph;
  Graph::Value x = graph.input("x", {Graph::dynamic, 8, 8, 4}),
               w = graph.input("w", {4, 3, 3, 4});
  Conv2dParams params;
  params.layout = Layout::NHWC;
  params.pad(1);
  Graph::Value y = graph.conv2d(x, w, 0, params, x);
  graph.output(graph.layer_norm(y));
  graph.output(graph.rms_norm(y));
  Execution execution(graph.compile());
  std::mt19937 random(8);
  Strided xData = Strided::make({2, 8, 8, 4}).fill(random),
          wData = Strided::make({4, 3, 3, 4}).fill(random),
          layer = Strided::make({2, 8, 8, 4}), rms = layer;
  execution.run({xData.view(), wData.view()}, {layer.view(), rms.view()});
  auto conv = [&](const Index &index, uint64_t k) {
    double sum = xData.get({index[0], index[1], index[2], k});
    for (uint64_t r = 0; r < 3; ++r)
      for (uint64_t s = 0; s < 3; ++s) {
        uint64_t row = index[1] + r - 1, column = index[2] + s - 1;
        for (uint64_t c = 0; c < 4 && row < 8 && column < 8; ++c)
          sum +=
              xData.get({index[0], row, column, c}) * wData.get({k, r, s, c});
      }
    return sum;
  };
  for (bool isLayer : {true, false})
    expectClose(
        isLayer ? layer : rms,
        [&](const Index &index) {
          double sum = 0, squares = 0;
          for (uint64_t k = 0; k < 4; ++k) {
            sum += conv(index, k) / 4;
            squares += conv(index, k) * conv(index, k) / 4;
          }
          double mean = isLayer ? sum : 0;
          return (conv(index, index[3]) - mean) /
                 std::sqrt(squares - mean * mean + 1e-5);
        },
        1e-3);
}

TEST(Graph, WhatIsRefused) {
  Graph graph;
  Graph::Value a = graph.input("a", {2, 3}), b = graph.input("b", {2, 3});
  Graph::Value half = graph.input("half", {2, 3}, DType::Float16);
  auto message = [](auto &&call) {
    return messageOf(TRACEA_INVALID_PARAMS, call);
  };
  EXPECT_THAT(message([&] { graph.gemm(a, b); }),
              HasSubstr("b: expected k = 3 as a has"));
  EXPECT_THAT(message([&] { graph.binary(TRACEA_BINARY_ADD, a, half); }),
              HasSubstr("b: expected elements of a's type, f32, found f16[2, "
                        "3]"));
  EXPECT_THAT(message([&] { graph.unary(TRACEA_UNARY_EXP, 77); }),
              HasSubstr("x: expected a value of this graph from 1 to 3, found "
                        "77"));
  EXPECT_THAT(message([&] { graph.transpose(a, {0, 0}); }),
              HasSubstr("order: expected each dimension of f32[2, 3] once, "
                        "found [0, 0]"));
  EXPECT_THAT(message([&] { graph.reshape(a, {4, Graph::dynamic}); }),
              HasSubstr("shape: expected sizes whose product divides"));
  EXPECT_THAT(message([&] { graph.text(); }),
              HasSubstr("graph: expected an output, found none"));
  EXPECT_THAT(message([&] { graph.output(9); }), HasSubstr("found 9"));
}

} // namespace
