//===- OperatorsTest.cpp - Operators against float64 ----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Reference.h"

#include <thread>

extern "C" TraceaStatus tracea_test_gemm_in_c(const float *a, const float *b,
                                              float *c);
extern "C" TraceaStatus tracea_test_gradients_in_c(float *byImage,
                                                   float *byFilter);

using namespace tracea;
using namespace tracea::test;
using Index = std::vector<uint64_t>;

namespace {

std::mt19937 &generator() {
  static std::mt19937 random(20261124);
  return random;
}

/// One number of the counters.
int64_t counter(const std::string &name) {
  std::string text = detail::text(tracea_operator_counters);
  size_t at = text.find("\"" + name + "\":");
  return at == std::string::npos
             ? -1
             : std::stoll(text.substr(at + name.size() + 3));
}

TEST(Operators, GemmInC) {
  const float a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
  float c[4] = {};
  ASSERT_EQ(tracea_test_gemm_in_c(a, b, c), TRACEA_SUCCESS) << get_last_error();
  EXPECT_EQ(std::vector<float>(c, c + 4), (std::vector<float>{19, 22, 43, 50}));
}

struct GemmCase {
  uint64_t m, n, k;
  bool transposeA, transposeB;
  /// Memory orders, and gaps behind rows.
  bool columnsA, columnsB, columnsOut;
  uint64_t gap;
  Epilogue epilogue;
  bool hasBias, hasResidual;
};

void checkGemm(const GemmCase &test) {
  auto matrix = [&](uint64_t rows, uint64_t columns, bool isTransposed,
                    bool isColumns, uint64_t gap) {
    return Strided::make(
        isTransposed ? Index{columns, rows} : Index{rows, columns},
        isColumns ? std::vector<size_t>{1, 0} : std::vector<size_t>{0, 1}, gap);
  };
  Strided a = matrix(test.m, test.k, test.transposeA, test.columnsA, test.gap);
  Strided b = matrix(test.k, test.n, test.transposeB, test.columnsB, test.gap);
  Strided out = matrix(test.m, test.n, false, test.columnsOut, test.gap);
  Strided bias = Strided::make({test.n});
  Strided residual = matrix(test.m, test.n, false, !test.columnsOut, 0);
  for (Strided *tensor : {&a, &b, &bias, &residual})
    tensor->fill(generator());
  GemmParams params;
  params.transpose_a = test.transposeA;
  params.transpose_b = test.transposeB;
  params.epilogue = test.epilogue;
  params.alpha = 0.5f;
  TensorView biasView = bias.view(), residualView = residual.view();
  params.residual = test.hasResidual ? &residualView : nullptr;
  gemm(a.view(), b.view(), test.hasBias ? &biasView : nullptr, out.view(),
       params);
  auto element = [](const Strided &tensor, bool isTransposed, uint64_t i,
                    uint64_t j) {
    return isTransposed ? tensor.get({j, i}) : tensor.get({i, j});
  };
  expectClose(
      out,
      [&](const Index &index) {
        double sum = 0;
        for (uint64_t k = 0; k < test.k; ++k)
          sum += element(a, test.transposeA, index[0], k) *
                 element(b, test.transposeB, k, index[1]);
        sum *= 0.5;
        if (test.hasBias)
          sum += bias.get({index[1]});
        if (test.hasResidual)
          sum += residual.get(index);
        return apply(test.epilogue, sum);
      },
      1e-5 * static_cast<double>(test.k + 2));
}

TEST(Operators, GemmTakesViewsAsTheyAre) {
  for (int bits = 0; bits < 32; ++bits)
    checkGemm({13, 17, 24, bool(bits & 1), bool(bits & 2), bool(bits & 4),
               bool(bits & 8), bool(bits & 16), 0, Epilogue::None,
               bits % 3 == 0, bits % 5 == 0});
  checkGemm({13, 17, 24, false, false, false, false, false, 3, Epilogue::ReLU,
             true, true});
  checkGemm({13, 17, 24, true, false, true, false, true, 5, Epilogue::SiLU,
             true, true});
}

TEST(Operators, GemmEpilogues) {
  for (Epilogue epilogue :
       {Epilogue::ReLU, Epilogue::ReLU6, Epilogue::SiLU, Epilogue::GELU,
        Epilogue::GELUTanh, Epilogue::Sigmoid, Epilogue::Tanh})
    checkGemm(
        {9, 8, 5, false, false, false, false, false, 0, epilogue, true, false});
}

TEST(Operators, GemmOfSizesOneAndZero) {
  for (uint64_t m : {0, 1, 3})
    for (uint64_t n : {0, 1, 3})
      for (uint64_t k : {0, 1, 3})
        checkGemm({m, n, k, false, true, false, false, false, 0, Epilogue::None,
                   true, false});
}

TEST(Operators, GemmOfABatch) {
  Strided a = Strided::make({3, 5, 7}), b = Strided::make({7, 4}),
          out = Strided::make({3, 5, 4});
  a.fill(generator());
  b.fill(generator());
  gemm(a.view(), b.view(), nullptr, out.view());
  expectClose(
      out,
      [&](const Index &index) {
        double sum = 0;
        for (uint64_t k = 0; k < 7; ++k)
          sum += a.get({index[0], index[1], k}) * b.get({k, index[2]});
        return sum;
      },
      1e-5);
}

TEST(Operators, GemmOfInt8) {
  std::vector<int8_t> a(6 * 9), b(9 * 5);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = static_cast<int8_t>(i * 37);
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = static_cast<int8_t>(i * 101);
  std::vector<int32_t> out(6 * 5, -1);
  gemm(TensorView(a.data(), {6, 9}, DType::Int8),
       TensorView(b.data(), {9, 5}, DType::Int8), nullptr,
       TensorView(out.data(), {6, 5}, DType::Int32));
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 5; ++j) {
      int sum = 0;
      for (int k = 0; k < 9; ++k)
        sum += a[size_t(i * 9 + k)] * b[size_t(k * 5 + j)];
      ASSERT_EQ(out[size_t(i * 5 + j)], sum);
    }
}

TEST(Operators, GroupedGemm) {
  Strided a = Strided::make({11, 6}), b = Strided::make({3, 6, 5}),
          out = Strided::make({11, 5});
  a.fill(generator());
  b.fill(generator());
  std::vector<int32_t> ends = {4, 4, 9};
  grouped_gemm(a.view(), b.view(), TensorView(ends.data(), {3}, DType::Int32),
               out.view());
  expectClose(
      out,
      [&](const Index &index) {
        if (index[0] >= 9)
          return 0.0;
        uint64_t group = index[0] < 4 ? 0 : 2;
        double sum = 0;
        for (uint64_t k = 0; k < 6; ++k)
          sum += a.get({index[0], k}) * b.get({group, k, index[1]});
        return sum;
      },
      1e-5);
}

struct ConvCase {
  uint64_t n, c, h, w, k, r, s;
  Conv2dParams params;
  /// Memory orders of [N, C, H, W] and [K, C, R, S]: "nchw", "nhwc", "cnhw"
  /// and "kcrs", "krsc", "rsck", "rcks".
  std::string image, filter, result;
  uint64_t gap;
};

/// Sizes and memory of the letters `named`, in the order `memory`.
Strided makeNamed(const std::string &named, const std::string &memory,
                  const std::function<uint64_t(char)> &sizeOf, uint64_t gap) {
  Index shape;
  std::vector<size_t> order;
  for (char dim : named)
    shape.push_back(sizeOf(dim));
  for (char dim : memory)
    order.push_back(named.find(dim));
  return Strided::make(shape, order, gap);
}

/// The tensors of a case, and the convolution as one sum of all its products.
struct ConvTensors {
  explicit ConvTensors(const ConvCase &test)
      : test(test), isNamedLast(test.params.layout == Layout::NHWC),
        image(isNamedLast ? "nhwc" : "nchw"),
        filter(isNamedLast ? "krsc" : "kcrs") {
    const Conv2dParams &given = test.params;
    auto out = [](uint64_t size, uint64_t pads, uint64_t dilation,
                  uint64_t taps, uint64_t stride) {
      return (size + pads - dilation * (taps - 1) - 1) / stride + 1;
    };
    p = out(test.h, given.padding[0] + given.padding[2], given.dilation[0],
            test.r, given.stride[0]);
    q = out(test.w, given.padding[1] + given.padding[3], given.dilation[1],
            test.s, given.stride[1]);
    x = makeNamed(
        image, test.image,
        [&](char dim) {
          return dim == 'n'   ? test.n
                 : dim == 'c' ? test.c
                 : dim == 'h' ? test.h
                              : test.w;
        },
        test.gap);
    w = makeNamed(
        filter, test.filter,
        [&](char dim) {
          return dim == 'k'   ? test.k
                 : dim == 'c' ? test.c / given.groups
                 : dim == 'r' ? test.r
                              : test.s;
        },
        0);
    y = makeResult(test.result, test.gap);
  }

  /// In the shape of the result.
  Strided makeResult(const std::string &order, uint64_t gap) const {
    return makeNamed(
        image, order,
        [&](char dim) {
          return dim == 'n' ? test.n : dim == 'c' ? test.k : dim == 'h' ? p : q;
        },
        gap);
  }

  /// Calls with the places in x, w and y of each product of the sum.
  void eachProduct(const std::function<void(const Index &, const Index &,
                                            const Index &)> &call) const {
    const Conv2dParams &given = test.params;
    auto named = [](const std::string &name, const char *letters, uint64_t a,
                    uint64_t b, uint64_t c, uint64_t d) {
      Index index(4);
      const uint64_t values[] = {a, b, c, d};
      for (size_t i = 0; i < 4; ++i)
        index[name.find(letters[i])] = values[i];
      return index;
    };
    uint64_t channels = test.c / given.groups;
    y.each([&](const Index &index) {
      auto of = [&](char dim) { return index[image.find(dim)]; };
      uint64_t k = of('c'), group = k / (test.k / given.groups);
      for (uint64_t c = 0; c < channels; ++c)
        for (uint64_t r = 0; r < test.r; ++r)
          for (uint64_t s = 0; s < test.s; ++s) {
            int64_t row =
                int64_t(of('h') * given.stride[0] + r * given.dilation[0]) -
                given.padding[0];
            int64_t column =
                int64_t(of('w') * given.stride[1] + s * given.dilation[1]) -
                given.padding[1];
            if (row < 0 || column < 0 || row >= int64_t(test.h) ||
                column >= int64_t(test.w))
              continue;
            call(named(image, "nchw", of('n'), group * channels + c,
                       uint64_t(row), uint64_t(column)),
                 named(filter, "kcrs", k, c, r, s), index);
          }
    });
  }

  const ConvCase &test;
  bool isNamedLast;
  std::string image, filter;
  uint64_t p = 0, q = 0;
  Strided x, w, y;
};

/// Sums by the places of a result.
struct Sums {
  explicit Sums(const Strided &result)
      : result(result), sums(result.memory.size(), 0) {}
  double &at(const Index &index) { return sums[result.place(index)]; }

  const Strided &result;
  std::vector<double> sums;
};

void checkConv(const ConvCase &test) {
  ConvTensors tensors(test);
  Strided &y = tensors.y;
  Strided residual = tensors.makeResult(test.image, 0);
  Strided bias = Strided::make({test.k});
  for (Strided *tensor : {&tensors.x, &tensors.w, &residual, &bias})
    tensor->fill(generator());
  TensorView biasView = bias.view(), residualView = residual.view();
  Conv2dParams params = test.params;
  params.residual = &residualView;
  conv2d(tensors.x.view(), tensors.w.view(), &biasView, y.view(), params);
  Sums sums(y);
  tensors.eachProduct([&](const Index &x, const Index &w, const Index &y) {
    sums.at(y) += tensors.x.get(x) * tensors.w.get(w);
  });
  size_t channel = tensors.image.find('c');
  expectClose(
      y,
      [&](const Index &index) {
        return apply(params.epilogue, sums.at(index) +
                                          bias.get({index[channel]}) +
                                          residual.get(index));
      },
      1e-4);
}

/// Both gradients of a case: `image` and `result` are how image and gradient
/// lie, `filter` how the filter does.
void checkGradients(const ConvCase &test) {
  ConvTensors tensors(test);
  for (Strided *tensor : {&tensors.x, &tensors.w, &tensors.y})
    tensor->fill(generator());
  Strided byImage = tensors.x, byFilter = tensors.w;
  byImage.memory.assign(byImage.memory.size(), Strided::mark);
  byFilter.memory.assign(byFilter.memory.size(), Strided::mark);
  conv2d_dgrad(tensors.y.view(), tensors.w.view(), byImage.view(), test.params);
  conv2d_wgrad(tensors.x.view(), tensors.y.view(), byFilter.view(),
               test.params);
  Sums imageSums(byImage), filterSums(byFilter);
  tensors.eachProduct([&](const Index &x, const Index &w, const Index &y) {
    imageSums.at(x) += tensors.y.get(y) * tensors.w.get(w);
    filterSums.at(w) += tensors.y.get(y) * tensors.x.get(x);
  });
  expectClose(
      byImage, [&](const Index &index) { return imageSums.at(index); }, 1e-4);
  expectClose(
      byFilter, [&](const Index &index) { return filterSums.at(index); }, 1e-4);
}

TEST(Operators, Conv2dTakesViewsAsTheyAre) {
  for (Layout layout : {Layout::NCHW, Layout::NHWC})
    for (const char *image : {"nchw", "nhwc", "cnhw"})
      for (const char *filter : {"kcrs", "krsc", "rsck", "rcks"}) {
        Conv2dParams params;
        params.layout = layout;
        params.stride = {2, 1};
        params.padding = {1, 0, 2, 1};
        params.dilation = {1, 2};
        params.epilogue = Epilogue::SiLU;
        checkConv({2, 6, 9, 8, 4, 3, 2, params, image, filter,
                   filter[0] == 'r' ? "nchw" : image, 0});
      }
}

TEST(Operators, Conv2dOfGroupsAndSlices) {
  Conv2dParams params;
  params.groups = 3;
  params.pad(1);
  checkConv({1, 6, 7, 5, 9, 3, 3, params, "nchw", "kcrs", "nchw", 2});
  params.groups = 6;
  checkConv({2, 6, 7, 5, 6, 3, 3, params, "nhwc", "krsc", "nhwc", 4});
}

TEST(Operators, Conv2dGradientsTakeViewsAsTheyAre) {
  const char *images[] = {"nchw", "nhwc", "cnhw"};
  const char *filters[] = {"kcrs", "krsc", "rsck", "rcks"};
  // Each pair of memory orders under one of the two names.
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) {
      Conv2dParams params;
      params.layout = (i + j) % 2 ? Layout::NHWC : Layout::NCHW;
      params.stride = {2, 1};
      params.padding = {1, 0, 2, 1};
      params.dilation = {1, 2};
      checkGradients({2, 6, 9, 8, 4, 3, 2, params, images[i], filters[j],
                      j > 1 ? "nchw" : images[i], 0});
    }
}

TEST(Operators, Conv2dGradientsOfGroupsAndSlices) {
  Conv2dParams params;
  params.groups = 3;
  params.pad(1);
  checkGradients({1, 6, 7, 5, 9, 3, 3, params, "nchw", "kcrs", "nchw", 2});
  params.groups = 6;
  checkGradients({2, 6, 7, 5, 6, 3, 3, params, "nhwc", "krsc", "nhwc", 4});
}

TEST(Operators, Conv2dGradientsOfOneAndNoImage) {
  // A filter's gradient by no image is zero, not what its memory held.
  for (uint64_t images : {0, 1})
    checkGradients(
        {images, 3, 5, 4, 2, 3, 1, Conv2dParams(), "nchw", "kcrs", "nchw", 0});
}

TEST(Operators, Conv2dGradientsOfAnyNumberOfImagesAreTwoPrograms) {
  auto programs = [] { return counter("compiled") + counter("fromCache"); };
  int64_t before = programs();
  for (uint64_t images : {2, 3, 5, 4})
    checkGradients({images, 4, 6, 6, 5, 3, 3, Conv2dParams().pad(1), "nhwc",
                    "krsc", "nhwc", 0});
  EXPECT_EQ(programs() - before, 4);
}

TEST(Operators, Conv2dGradientsOfHalfAreKeptInSingle) {
  // The sums of many products of bf16 in f32, as optimizers want them.
  std::vector<uint16_t> ones(2 * 8 * 8 * 4, 0x3f80);
  std::vector<float> out(4 * 4, -1);
  TensorView half(ones.data(), {2, 8, 8, 4}, DType::BFloat16);
  Conv2dParams params;
  params.layout = Layout::NHWC;
  conv2d_wgrad(half, half, TensorView(out.data(), {4, 1, 1, 4}), params);
  EXPECT_EQ(out, std::vector<float>(16, 128));
}

TEST(Operators, Conv2dGradientsInC) {
  // The image 1 2 3 4, the filter 1 2 and the gradient 1 10 100.
  float byImage[4] = {}, byFilter[2] = {};
  ASSERT_EQ(tracea_test_gradients_in_c(byImage, byFilter), TRACEA_SUCCESS)
      << get_last_error();
  EXPECT_EQ(std::vector<float>(byImage, byImage + 4),
            (std::vector<float>{1, 12, 120, 200}));
  EXPECT_EQ(std::vector<float>(byFilter, byFilter + 2),
            (std::vector<float>{321, 432}));
}

void checkAttention(uint64_t b, uint64_t h, uint64_t g, uint64_t queries,
                    uint64_t keys, uint64_t d, bool causal, int window,
                    bool headsInside) {
  std::vector<size_t> order = headsInside ? std::vector<size_t>{0, 2, 1, 3}
                                          : std::vector<size_t>{0, 1, 2, 3};
  Strided q = Strided::make({b, h, queries, d}, order),
          k = Strided::make({b, g, keys, d}, order),
          v = Strided::make({b, g, keys, d}, order),
          out = Strided::make({b, h, queries, d}, order),
          lse = Strided::make({b, h, queries});
  for (Strided *tensor : {&q, &k, &v})
    tensor->fill(generator());
  AttentionParams params;
  params.causal = causal;
  params.window_left = window;
  TensorView lseView = lse.view();
  params.lse = &lseView;
  attention(q.view(), k.view(), v.view(), out.view(), params);
  auto weights = [&](const Index &index, double &total) {
    std::vector<double> result(keys);
    uint64_t group = index[1] / (h / g);
    double most = -INFINITY;
    int64_t place = int64_t(index[2]) + int64_t(keys) - int64_t(queries);
    for (uint64_t j = 0; j < keys; ++j) {
      double score = 0;
      for (uint64_t e = 0; e < d; ++e)
        score += q.get({index[0], index[1], index[2], e}) *
                 k.get({index[0], group, j, e});
      bool isSeen = (!causal || int64_t(j) <= place) &&
                    (window < 0 || int64_t(j) >= place - window);
      result[j] = isSeen ? score / std::sqrt(double(d)) : -INFINITY;
      most = std::max(most, result[j]);
    }
    total = 0;
    for (double &weight : result)
      total += weight = std::exp(weight - most);
    for (double &weight : result)
      weight /= total;
    total = most + std::log(total);
    return result;
  };
  expectClose(
      out,
      [&](const Index &index) {
        double total = 0, sum = 0;
        std::vector<double> w = weights(index, total);
        for (uint64_t j = 0; j < keys; ++j)
          sum += w[j] * v.get({index[0], index[1] / (h / g), j, index[3]});
        return sum;
      },
      1e-5);
  expectClose(
      lse,
      [&](const Index &index) {
        double total = 0;
        (void)weights({index[0], index[1], index[2], 0}, total);
        return total;
      },
      1e-5);
}

TEST(Operators, Attention) {
  checkAttention(2, 4, 2, 9, 9, 8, false, -1, false);
  checkAttention(2, 4, 2, 9, 13, 8, true, -1, true);
  checkAttention(1, 2, 2, 17, 17, 16, true, 5, false);
}

TEST(Operators, Softmax) {
  for (bool log : {false, true})
    for (int32_t dim : {0, 1, -1}) {
      Strided x = Strided::make({4, 7, 5}, {2, 0, 1}),
              out = Strided::make({4, 7, 5});
      x.fill(generator());
      softmax(x.view(), out.view(), dim, log);
      size_t axis = dim < 0 ? 2 : size_t(dim);
      expectClose(
          out,
          [&](const Index &index) {
            double sum = 0;
            Index other = index;
            for (uint64_t i = 0; i < x.shape[axis]; ++i) {
              other[axis] = i;
              sum += std::exp(x.get(other));
            }
            double value = x.get(index) - std::log(sum);
            return log ? value : std::exp(value);
          },
          1e-6);
    }
}

TEST(Operators, LogSoftmaxOfSmallNumbers) {
  std::vector<float> x = {0, -200, -1000}, out(3, 7);
  softmax(TensorView(x.data(), {1, 3}), TensorView(out.data(), {1, 3}), 1,
          true);
  EXPECT_EQ(out, (std::vector<float>{0, -200, -1000}));
}

TEST(Operators, Norms) {
  for (bool isLayerNorm : {false, true})
    for (size_t inner : {size_t(1), size_t(2)}) {
      Strided x = Strided::make({3, 4, 6}), out = Strided::make({3, 4, 6});
      Index tail(x.shape.end() - std::ptrdiff_t(inner), x.shape.end());
      Strided scale = Strided::make(tail), bias = Strided::make(tail);
      for (Strided *tensor : {&x, &scale, &bias})
        tensor->fill(generator());
      TensorView scaleView = scale.view(), biasView = bias.view();
      if (isLayerNorm)
        layer_norm(x.view(), &scaleView, &biasView, out.view(), 1e-3);
      else
        rms_norm(x.view(), &scaleView, out.view(), 1e-3);
      expectClose(
          out,
          [&](const Index &index) {
            double sum = 0, squares = 0, count = 0;
            x.each([&](const Index &other) {
              if (!std::equal(index.begin(),
                              index.end() - std::ptrdiff_t(inner),
                              other.begin()))
                return;
              sum += x.get(other);
              squares += x.get(other) * x.get(other);
              ++count;
            });
            double mean = isLayerNorm ? sum / count : 0;
            double variance = squares / count - mean * mean;
            Index last(index.end() - std::ptrdiff_t(inner), index.end());
            return (x.get(index) - mean) / std::sqrt(variance + 1e-3) *
                       scale.get(last) +
                   (isLayerNorm ? bias.get(last) : 0);
          },
          1e-5);
    }
}

TEST(Operators, ProgramsAreSharedBetweenShapes) {
  auto programs = [] { return counter("compiled") + counter("fromCache"); };
  int64_t before = programs();
  for (uint64_t rows : {5, 6, 7, 31, 5, 6})
    checkGemm({rows, 11, 19, false, true, false, false, false, 0,
               Epilogue::Tanh, true, false});
  EXPECT_EQ(programs() - before, 2);
}

TEST(Operators, ThreadsShareProgramsAndNothingElse) {
  auto work = [] {
    for (int i = 0; i < 20; ++i)
      checkGemm({7, 9, 21, false, false, false, false, false, 0, Epilogue::ReLU,
                 true, false});
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i)
    threads.emplace_back([] {
      Strided a = Strided::make({23, 31}), b = Strided::make({31, 5}),
              out = Strided::make({23, 5});
      std::mt19937 random(3);
      a.fill(random);
      b.fill(random);
      for (int call = 0; call < 50; ++call)
        gemm(a.view(), b.view(), nullptr, out.view());
      expectClose(
          out,
          [&](const Index &index) {
            double sum = 0;
            for (uint64_t k = 0; k < 31; ++k)
              sum += a.get({index[0], k}) * b.get({k, index[1]});
            return sum;
          },
          1e-5);
    });
  work();
  for (std::thread &thread : threads)
    thread.join();
}

} // namespace
