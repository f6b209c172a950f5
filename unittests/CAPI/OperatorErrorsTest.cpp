//===- OperatorErrorsTest.cpp - What operators refuse, and how ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Reference.h"
#include "gmock/gmock.h"

using namespace tracea;
using namespace tracea::test;
using testing::HasSubstr;

namespace {

struct Square {
  std::vector<float> a = std::vector<float>(64, 1), b = a, out = a;
  const uint64_t shape[2] = {4, 4};
  TraceaTensorView left, right, result;
  TraceaGemmParams params;

  Square() { reset(); }
  void reset() {
    auto view = [&](std::vector<float> &memory) -> TraceaTensorView {
      return {memory.data(), 2, shape, nullptr, TRACEA_FLOAT32, TRACEA_CPU};
    };
    left = view(a);
    right = view(b);
    result = view(out);
    params = TRACEA_GEMM_PARAMS_INIT;
  }

  std::string failure(TraceaStatus expected = TRACEA_INVALID_PARAMS) {
    tracea_clear_error();
    EXPECT_EQ(tracea_gemm(left, right, nullptr, &result, params), expected);
    return get_last_error();
  }
};

// What is added has dimensions of the result: one of another rank is refused
// before they are looked up.
TEST(OperatorErrors, RankOfAProduct) {
  Square test;
  const uint64_t cube[3] = {1, 4, 4}, columns[1] = {4};
  const TraceaTensorView bias = {test.b.data(),  1,         columns, nullptr,
                                 TRACEA_FLOAT32, TRACEA_CPU};
  for (bool hasBias : {false, true})
    for (bool hasResidual : {false, true}) {
      test.reset();
      test.result.shape = cube;
      test.result.rank = 3;
      TraceaTensorView residual = test.result;
      residual.ptr = test.b.data();
      if (hasResidual)
        test.params.residual = &residual;
      EXPECT_EQ(tracea_gemm(test.left, test.right, hasBias ? &bias : nullptr,
                            &test.result, test.params),
                TRACEA_INVALID_PARAMS);
      EXPECT_THAT(get_last_error(),
                  HasSubstr("tracea_gemm: out: expected f32[4, 4], found "
                            "f32[1, 4, 4]"));
    }
}

TEST(OperatorErrors, Views) {
  Square test;
  test.left.ptr = nullptr;
  EXPECT_THAT(test.failure(), HasSubstr("tracea_gemm: a: expected memory of 64 "
                                        "bytes, found NULL"));
  test.reset();
  test.left.shape = nullptr;
  EXPECT_THAT(test.failure(),
              HasSubstr("a: expected a shape of 2 sizes, found NULL"));
  test.reset();
  test.left.rank = 9;
  EXPECT_THAT(test.failure(),
              HasSubstr("a: expected at most 8 dimensions, found 9"));
  test.reset();
  test.left.rank = 0;
  EXPECT_THAT(test.failure(), HasSubstr("a: expected at least 2 dimensions"));
  test.reset();
  test.right.dtype = static_cast<TraceaDType>(77);
  EXPECT_THAT(test.failure(),
              HasSubstr("b: expected a dtype from 0 to 10, found 77"));
  test.reset();
  const int64_t backwards[2] = {4, -1};
  test.right.stride = backwards;
  EXPECT_THAT(test.failure(), HasSubstr("b: expected strides of at least 0, "
                                        "found -1 of dimension 1"));
  test.reset();
  test.left.ptr = reinterpret_cast<char *>(test.a.data()) + 2;
  EXPECT_THAT(test.failure(), HasSubstr("a: expected memory aligned to the 4 "
                                        "bytes of f32"));
  test.reset();
  test.left.device_id = -2;
  EXPECT_THAT(test.failure(),
              HasSubstr("a: expected a device_id of at least -1, found -2"));
  test.reset();
  test.right.device_id = 3;
  EXPECT_THAT(test.failure(),
              HasSubstr("b: expected device_id -1 as a has, found 3"));
  test.reset();
  const uint64_t huge[2] = {uint64_t(1) << 40, uint64_t(1) << 40};
  test.left.shape = huge;
  EXPECT_THAT(test.failure(), HasSubstr("a: expected elements that can be "
                                        "counted"));
  test.reset();
  const int64_t repeated[2] = {0, 1};
  test.result.stride = repeated;
  EXPECT_THAT(test.failure(),
              HasSubstr("out: expected elements with places of their own"));
}

TEST(OperatorErrors, RepeatedInputsAreGathered) {
  Square test;
  const int64_t repeated[2] = {0, 1};
  test.left.stride = repeated;
  EXPECT_EQ(
      tracea_gemm(test.left, test.right, nullptr, &test.result, test.params),
      TRACEA_SUCCESS)
      << get_last_error();
  EXPECT_EQ(test.out[5], 4);
}

TEST(OperatorErrors, WhatDoesNotFitTogether) {
  Square test;
  const uint64_t other[2] = {3, 4};
  test.right.shape = other;
  EXPECT_THAT(test.failure(),
              HasSubstr("b: expected k = 4 as a has, in dimension 0, found "
                        "f32[3, 4]"));
  test.reset();
  test.result.shape = other;
  EXPECT_THAT(test.failure(),
              HasSubstr("out: expected f32[4, 4], found f32[3, 4]"));
  test.reset();
  // In columns, and of a batch that the factors do not have.
  const uint64_t batched[3] = {1, 4, 4};
  const int64_t columns[3] = {16, 1, 4};
  test.result.rank = 3;
  test.result.shape = batched;
  test.result.stride = columns;
  EXPECT_THAT(test.failure(),
              HasSubstr("out: expected f32[4, 4], found f32[1, 4, 4]"));
  test.reset();
  test.result.ptr = test.a.data() + 3;
  EXPECT_THAT(test.failure(), HasSubstr("out: expected memory of its own, "
                                        "found some that a has too"));
  test.reset();
  test.params.epilogue = static_cast<TraceaEpilogue>(55);
  EXPECT_THAT(test.failure(), HasSubstr("epilogue: expected a TraceaEpilogue"));
  test.reset();
  test.params.reserved[1] = 1;
  EXPECT_THAT(test.failure(),
              HasSubstr("params: expected reserved fields of zero"));
  test.reset();
  EXPECT_EQ(tracea_gemm(test.left, test.right, nullptr, nullptr, test.params),
            TRACEA_INVALID_PARAMS);
  EXPECT_THAT(get_last_error(), HasSubstr("out: expected a pointer"));
}

TEST(OperatorErrors, Convolutions) {
  std::vector<float> memory(4096);
  auto failure = [&](Conv2dParams params, uint64_t taps = 3) {
    return messageOf(TRACEA_INVALID_PARAMS, [&] {
      conv2d(
          TensorView(memory.data(), {1, 4, 5, 5}),
          TensorView(memory.data() + 1000, {4, 4 / params.groups, taps, taps}),
          nullptr, TensorView(memory.data() + 2000, {1, 4, 3, 3}), params);
    });
  };
  Conv2dParams params;
  params.stride[1] = 0;
  EXPECT_THAT(failure(params),
              HasSubstr("stride_w: expected a number from 1 to 2^30, found 0"));
  params = Conv2dParams();
  params.groups = 3;
  EXPECT_THAT(failure(params),
              HasSubstr("groups: expected a divisor of x's 4 channels"));
  EXPECT_THAT(
      failure(Conv2dParams(), 6),
      HasSubstr("w: expected a filter within the padded image's 5 rows, "
                "found one of 6"));
  params = Conv2dParams();
  params.layout = static_cast<Layout>(9);
  EXPECT_THAT(failure(params), HasSubstr("layout: expected TRACEA_LAYOUT"));
}

TEST(OperatorErrors, GradientsOfConvolutions) {
  std::vector<float> memory(4096);
  auto view = [&](size_t at, std::vector<uint64_t> shape) {
    return TensorView(memory.data() + at, shape);
  };
  auto byImage = [&](Conv2dParams params, std::vector<uint64_t> grad,
                     std::vector<uint64_t> w, std::vector<uint64_t> out) {
    return messageOf(TRACEA_INVALID_PARAMS, [&] {
      conv2d_dgrad(view(0, grad), view(1000, w), view(2000, out), params);
    });
  };
  auto byFilter = [&](Conv2dParams params, std::vector<uint64_t> x,
                      std::vector<uint64_t> grad, std::vector<uint64_t> out) {
    return messageOf(TRACEA_INVALID_PARAMS, [&] {
      conv2d_wgrad(view(0, x), view(1000, grad), view(2000, out), params);
    });
  };
  EXPECT_THAT(
      byImage({}, {1, 2, 3, 4}, {2, 4, 3, 3}, {1, 4, 5, 5}),
      HasSubstr("tracea_conv2d_dgrad: grad: expected f32[1, 2, 3, 3], found "
                "f32[1, 2, 3, 4]"));
  EXPECT_THAT(byImage({}, {2, 2, 3, 3}, {2, 4, 3, 3}, {1, 4, 5, 5}),
              HasSubstr("grad: expected f32[1, 2, 3, 3]"));
  EXPECT_THAT(byImage({}, {1, 2, 3, 3}, {2, 3, 3, 3}, {1, 4, 5, 5}),
              HasSubstr("w: expected 4 channels, out's 4 by 1 groups"));
  EXPECT_THAT(byImage({}, {1, 2, 3, 3}, {2, 4, 3}, {1, 4, 5, 5}),
              HasSubstr("w: expected 4 dimensions, found f32[2, 4, 3]"));
  EXPECT_THAT(
      byFilter({}, {1, 4, 5, 5}, {1, 2, 3, 3}, {2, 4, 2, 3}),
      HasSubstr("tracea_conv2d_wgrad: grad: expected f32[1, 2, 4, 3], found "
                "f32[1, 2, 3, 3]"));
  EXPECT_THAT(byFilter({}, {1, 4, 5, 5}, {1, 2, 3, 3}, {2, 4, 6, 3}),
              HasSubstr("out: expected a filter within the padded image's 5 "
                        "rows, found one of 6"));
  Conv2dParams params;
  params.groups = 3;
  EXPECT_THAT(byFilter(params, {1, 4, 5, 5}, {1, 2, 3, 3}, {2, 4, 3, 3}),
              HasSubstr("groups: expected a divisor of x's 4 channels"));
  params = Conv2dParams();
  params.epilogue = Epilogue::ReLU;
  EXPECT_THAT(byImage(params, {1, 2, 3, 3}, {2, 4, 3, 3}, {1, 4, 5, 5}),
              HasSubstr("epilogue: expected TRACEA_EPILOGUE_NONE (0)"));
  params = Conv2dParams();
  TensorView residual = view(3000, {1, 4, 5, 5});
  params.residual = &residual;
  EXPECT_THAT(byImage(params, {1, 2, 3, 3}, {2, 4, 3, 3}, {1, 4, 5, 5}),
              HasSubstr("residual: expected NULL"));
  EXPECT_THAT(messageOf(TRACEA_INVALID_PARAMS,
                        [&] {
                          conv2d_wgrad(view(0, {1, 4, 5, 5}),
                                       view(1000, {1, 2, 3, 3}),
                                       view(0, {2, 4, 3, 3}));
                        }),
              HasSubstr("out: expected memory of its own, found some that x"));
  EXPECT_THAT(messageOf(TRACEA_INVALID_PARAMS,
                        [&] {
                          conv2d_dgrad(TensorView(memory.data(), {1, 2, 3, 3},
                                                  DType::Int8),
                                       TensorView(memory.data() + 1000,
                                                  {2, 4, 3, 3}, DType::Int8),
                                       view(2000, {1, 4, 5, 5}));
                        }),
              HasSubstr("grad: expected floats, found i8"));
}

TEST(OperatorErrors, AttentionAndRows) {
  std::vector<float> memory(4096);
  auto view = [&](size_t at, std::vector<uint64_t> shape) {
    return TensorView(memory.data() + at, shape);
  };
  EXPECT_THAT(
      messageOf(TRACEA_INVALID_PARAMS,
                [&] {
                  attention(view(0, {1, 3, 4, 8}), view(500, {1, 2, 4, 8}),
                            view(1000, {1, 2, 4, 8}), view(2000, {1, 3, 4, 8}));
                }),
      HasSubstr("k: expected heads that divide q's 3, found f32[1, 2, "
                "4, 8]"));
  EXPECT_THAT(
      messageOf(TRACEA_INVALID_PARAMS,
                [&] { softmax(view(0, {2, 3}), view(100, {2, 3}), 2); }),
      HasSubstr("dim: expected a number from -2 to 1, found 2"));
  TensorView scale = view(200, {4});
  EXPECT_THAT(messageOf(TRACEA_INVALID_PARAMS,
                        [&] {
                          layer_norm(view(0, {2, 3}), &scale, nullptr,
                                     view(100, {2, 3}));
                        }),
              HasSubstr("scale: expected f32[3], found f32[4]"));
}

TEST(OperatorErrors, Devices) {
  Square test;
  test.left.device_id = test.right.device_id = test.result.device_id = 7;
  EXPECT_THAT(test.failure(TRACEA_CUDA_ERROR), HasSubstr("GPU 7"));
  size_t length = 0;
  EXPECT_EQ(tracea_device_describe(99, nullptr, 0, &length),
            TRACEA_INVALID_PARAMS);
  EXPECT_THAT(describe_device(), HasSubstr("\"kind\":\"cpu\""));
}

TEST(OperatorErrors, MessagesAreOfThreadsAndFitBuffers) {
  Square test;
  test.left.rank = 9;
  std::string whole = test.failure();
  uint8_t cut[8];
  EXPECT_EQ(tracea_get_last_error(cut, sizeof cut), whole.size());
  EXPECT_EQ(std::string(reinterpret_cast<char *>(cut)), whole.substr(0, 7));
  tracea_clear_error();
  EXPECT_EQ(get_last_error(), "");
  EXPECT_STREQ(tracea_status_name(TRACEA_UNSUPPORTED_CONFIG),
               "TRACEA_UNSUPPORTED_CONFIG");
  EXPECT_EQ(tracea_abi_version(), uint32_t(TRACEA_ABI_VERSION));
}

} // namespace
