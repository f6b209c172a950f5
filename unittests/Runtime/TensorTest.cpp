//===- TensorTest.cpp - Strided host tensors ------------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes, strides, copies and the refusals of what does not fit.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/Tensor.h"

#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

using namespace tracea::runtime;
using ::testing::HasSubstr;

static const int64_t huge = int64_t(1) << 62;

TEST(Tensor, AllocatesZeroedAndAligned) {
  Expected<Tensor> tensor = Tensor::allocate(ElementType::F32, {3, 5});
  ASSERT_TRUE(tensor) << tensor.message();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor->data()) % 64, 0u);
  EXPECT_EQ(tensor->numElements(), 15);
  EXPECT_EQ(tensor->byteSize(), 60);
  EXPECT_EQ(tensor->strides(), (std::vector<int64_t>{5, 1}));
  for (int i = 0; i < 15; ++i)
    EXPECT_EQ(tensor->dataAs<float>()[i], 0);
  EXPECT_TRUE(tensor->isContiguous());
  EXPECT_EQ(tensor->describe(), "f32[3, 5]");
}

#ifdef __linux__
TEST(Tensor, WhatFillsHalfAHugePageBeginsAtOne) {
  constexpr int64_t hugePage = int64_t(1) << 21;
  for (int64_t bytes : {hugePage / 2, hugePage + 1, 5 * hugePage}) {
    Expected<std::shared_ptr<void>> memory = allocateAligned(bytes);
    ASSERT_TRUE(memory);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory->get()) % hugePage, 0u)
        << bytes;
    // All of it is there to be written.
    std::memset(memory->get(), 1, static_cast<size_t>(bytes));
  }
}
#endif

TEST(Tensor, ScalarsAndEmpties) {
  Expected<Tensor> scalar = Tensor::allocate(ElementType::F64, {});
  ASSERT_TRUE(scalar);
  EXPECT_EQ(scalar->numElements(), 1);
  EXPECT_EQ(scalar->rank(), 0);
  Expected<Tensor> empty = Tensor::allocate(ElementType::F64, {4, 0, 3});
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->numElements(), 0);
  EXPECT_TRUE(empty->isContiguous());
  EXPECT_EQ(empty->extent().first, empty->extent().second);
  EXPECT_TRUE(Tensor().isNull());
}

TEST(Tensor, RefusesWhatDoesNotFit) {
  EXPECT_FALSE(Tensor::allocate(ElementType::F32, {-1}));
  EXPECT_FALSE(Tensor::allocate(ElementType::F32, {huge, 4}));
  EXPECT_FALSE(Tensor::allocate(ElementType::F32, {huge}));
  EXPECT_FALSE(Tensor::allocate(ElementType::I8, {0, huge, huge}));
  Expected<Tensor> tooMuch =
      Tensor::allocate(ElementType::I8, {int64_t(1) << 60});
  ASSERT_FALSE(tooMuch);
  EXPECT_THAT(tooMuch.message(), HasSubstr("out of memory"));
  float value = 0;
  void *data = &value;
  EXPECT_FALSE(Tensor::borrow(data, ElementType::F32, {2, 2}, {1}));
  EXPECT_FALSE(Tensor::borrow(data, ElementType::F32, {3, 3}, {huge, 1}));
  EXPECT_FALSE(
      Tensor::borrow(static_cast<void *>(nullptr), ElementType::F32, {1}));
  EXPECT_TRUE(
      Tensor::borrow(static_cast<void *>(nullptr), ElementType::F32, {0}));
}

TEST(Tensor, ContiguityIgnoresAxesOfSizeOne) {
  std::vector<float> data(64);
  void *p = data.data();
  EXPECT_TRUE(
      Tensor::borrow(p, ElementType::F32, {1, 4}, {99, 1})->isContiguous());
  EXPECT_FALSE(
      Tensor::borrow(p, ElementType::F32, {2, 4}, {8, 1})->isContiguous());
  EXPECT_FALSE(
      Tensor::borrow(p, ElementType::F32, {4, 4}, {1, 4})->isContiguous());
}

TEST(Tensor, ExtentFollowsNegativeStrides) {
  std::vector<int32_t> data(10);
  void *last = &data[9];
  Expected<Tensor> reversed =
      Tensor::borrow(last, ElementType::I32, {10}, {-1});
  ASSERT_TRUE(reversed);
  EXPECT_EQ(reversed->extent().first, reinterpret_cast<char *>(&data[0]));
  EXPECT_EQ(reversed->extent().second, reinterpret_cast<char *>(&data[0] + 10));
}

TEST(Tensor, CloneGathersStrides) {
  std::vector<int16_t> data(24);
  std::iota(data.begin(), data.end(), int16_t(0));
  // Axes permuted from [2][3][4] to [4][2][3], one of them backwards.
  void *first = data.data() + 3;
  Expected<Tensor> view =
      Tensor::borrow(first, ElementType::I16, {4, 2, 3}, {-1, 12, 4});
  ASSERT_TRUE(view);
  Expected<Tensor> copy = view->clone();
  ASSERT_TRUE(copy);
  EXPECT_TRUE(copy->isContiguous());
  EXPECT_TRUE(copy->ownsMemory());
  int at = 0;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 2; ++j)
      for (int k = 0; k < 3; ++k)
        EXPECT_EQ(copy->dataAs<int16_t>()[at++], 3 - i + 12 * j + 4 * k);
}

TEST(Tensor, CopyChecksTypesAndShapes) {
  Tensor a = *Tensor::allocate(ElementType::F32, {2, 3});
  EXPECT_FALSE(
      copyElements(a, *Tensor::allocate(ElementType::F32, {3, 2})).ok());
  EXPECT_FALSE(
      copyElements(a, *Tensor::allocate(ElementType::I32, {2, 3})).ok());
  const float constant[6] = {};
  const void *p = constant;
  Tensor readOnly = *Tensor::borrow(p, ElementType::F32, {2, 3});
  EXPECT_FALSE(copyElements(a, readOnly).ok());
  EXPECT_TRUE(copyElements(readOnly, a).ok());
  EXPECT_FALSE(copyElements(a, Tensor()).ok());
}
