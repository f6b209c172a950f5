//===- RepeatTest.cpp - Runs that differ in addresses alone ---------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A run like the last one goes a short way. Whatever else is different must
// not: every test runs something twice first.
//
//===----------------------------------------------------------------------===//

#include "ProgramConformance.h"

#include <cstring>

using namespace tracea::runtime;
using namespace tracea::runtime::test;
using ::testing::Each;
using ::testing::HasSubstr;

namespace {
class RepeatConformance : public ProgramConformance {
protected:
  static Tensor filled(std::vector<int64_t> shape, float value) {
    Tensor tensor = *Tensor::allocate(ElementType::F32, shape);
    std::fill_n(tensor.dataAs<float>(), tensor.numElements(), value);
    return tensor;
  }
  static Tensor borrow(void *data, std::vector<int64_t> shape,
                       std::vector<int64_t> strides = {}) {
    return *Tensor::borrow(data, ElementType::F32, shape, strides);
  }
  static DeviceTensor describe(void *data, Span<const int64_t> shape) {
    DeviceTensor tensor;
    tensor.data = data;
    tensor.shape = shape;
    return tensor;
  }

  /// z = 3 x + y and its sums by row, for x of 4 x 8.
  void expectRun(float x, float y) {
    std::vector<Tensor> outputs = {filled({4, 8}, -1), filled({4}, -1)};
    run({filled({4, 8}, x), filled({32}, y)}, outputs);
    expectValues(outputs, 3 * x + y);
  }
  void run(const std::vector<Tensor> &inputs, std::vector<Tensor> &outputs) {
    Status status = execution->run(inputs, outputs);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  void expectValues(const std::vector<Tensor> &outputs, float z) {
    EXPECT_THAT(valuesOf(outputs[0]), Each(z));
    EXPECT_THAT(valuesOf(outputs[1]), Each(8 * z));
  }
  /// How many runs of late took the short way; devices that do not see host
  /// memory have none.
  void expectRepeats(int64_t repeats) {
    EXPECT_EQ(execution->stats().repeats - seen, shared() ? repeats : 0);
    seen = execution->stats().repeats;
  }

  std::unique_ptr<Execution> execution;
  int64_t seen = 0;
};
} // namespace

INSTANTIATE_TEST_SUITE_P(Drivers, RepeatConformance,
                         ::testing::ValuesIn(conformanceDrivers()), nameOfCase);

TEST_P(RepeatConformance, OtherMemoryIsReadAndWritten) {
  execution = start(chain());
  for (int i = 0; i < 5; ++i)
    expectRun(static_cast<float>(i), 10);
  expectRepeats(4);
  EXPECT_EQ(execution->stats().runs, 5);
  EXPECT_EQ(execution->stats().launches, 10);
}

TEST_P(RepeatConformance, OtherShapesAreBoundAnew) {
  execution = start(chain());
  expectRun(1, 1);
  expectRun(1, 2);
  std::vector<Tensor> outputs = {filled({2, 16}, -1), filled({2}, -1)};
  run({filled({2, 16}, 1), filled({32}, 3)}, outputs);
  EXPECT_THAT(valuesOf(outputs[0]), Each(6.0f));
  EXPECT_THAT(valuesOf(outputs[1]), Each(96.0f));
  expectRepeats(1);
  // What was run twice before is not what is bound now.
  expectRun(1, 4);
  expectRepeats(0);
  // Shapes that do not fit together are refused as ever.
  outputs = {filled({4, 8}, -1), filled({5}, -1)};
  Status status = execution->run({filled({4, 8}, 1), filled({32}, 3)}, outputs);
  EXPECT_THAT(status.message(), HasSubstr("output 1: expected"));
  outputs.pop_back();
  status = execution->run({filled({4, 8}, 1), filled({32}, 3)}, outputs);
  EXPECT_THAT(status.message(), HasSubstr("expected 2 outputs"));
  expectRun(2, 4);
}

TEST_P(RepeatConformance, MemoryThatKernelsCannotUseIsCopied) {
  execution = start(chain());
  expectRun(1, 1);
  expectRun(1, 2);
  expectRepeats(1);
  // Misaligned.
  std::vector<char> bytes(4 * 32 + 1);
  for (int i = 0; i < 32; ++i) {
    float value = 5;
    std::memcpy(bytes.data() + 1 + 4 * i, &value, 4);
  }
  std::vector<Tensor> outputs = {filled({4, 8}, -1), filled({4}, -1)};
  run({borrow(bytes.data() + 1, {4, 8}), filled({32}, 3)}, outputs);
  expectValues(outputs, 18);
  expectRun(2, 2);
  // Strided.
  Tensor wide = filled({4, 16}, 7);
  run({borrow(wide.data(), {4, 8}, {16, 2}), filled({32}, 3)}, outputs);
  expectValues(outputs, 24);
  expectRun(2, 3);
  Tensor target = filled({4, 16}, 100);
  std::vector<Tensor> strided = {borrow(target.data(), {4, 8}, {16, 2}),
                                 filled({4}, -1)};
  run({filled({4, 8}, 1), filled({32}, 3)}, strided);
  expectValues(strided, 6);
  EXPECT_EQ(target.dataAs<float>()[1], 100);
  // In an input's place.
  Tensor x = filled({4, 8}, 4);
  outputs = {x, filled({4}, -1)};
  run({x, filled({32}, 3)}, outputs);
  expectValues(outputs, 15);
  expectRepeats(0);
}

TEST_P(RepeatConformance, WhatIsRefusedIsRefused) {
  execution = start(chain());
  expectRun(1, 1);
  expectRun(1, 2);
  const Tensor constant = filled({4, 8}, 9);
  const void *memory = constant.data();
  std::vector<Tensor> outputs = {
      *Tensor::borrow(memory, ElementType::F32, {4, 8}), filled({4}, -1)};
  Status status = execution->run({filled({4, 8}, 1), filled({32}, 1)}, outputs);
  EXPECT_THAT(status.message(), HasSubstr("read-only"));
  EXPECT_THAT(valuesOf(constant), Each(9.0f));
  Tensor z = filled({4, 8}, -1);
  outputs = {z, borrow(z.dataAs<float>() + 16, {4})};
  status = execution->run({filled({4, 8}, 1), filled({32}, 1)}, outputs);
  EXPECT_THAT(status.message(), HasSubstr("output 1 overlaps output 0"));
  status = execution->run({Tensor(), filled({32}, 1)}, outputs);
  EXPECT_THAT(status.message(), HasSubstr("found null tensor"));
  expectRun(3, 2);
  expectRun(3, 3);
  expectRepeats(2);
}

TEST_P(RepeatConformance, EnqueuedRunsRepeatAndMayBeMixedWithOthers) {
  if (!shared())
    GTEST_SKIP() << "the device does not see host memory";
  execution = start(chain());
  std::vector<int64_t> matrix = {4, 8}, row = {32}, sums = {4};
  auto expectEnqueue = [&](float x, float y) {
    Tensor a = filled(matrix, x), b = filled(row, y);
    std::vector<Tensor> outputs = {filled(matrix, -1), filled(sums, -1)};
    Status status = execution->enqueue(
        *stream, {describe(a.data(), matrix), describe(b.data(), row)},
        {describe(outputs[0].data(), matrix),
         describe(outputs[1].data(), sums)});
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_TRUE(execution->wait(*stream).ok());
    expectValues(outputs, 3 * x + y);
  };
  for (int i = 0; i < 4; ++i)
    expectEnqueue(1, static_cast<float>(i));
  expectRepeats(3);
  for (int i = 0; i < 3; ++i) {
    expectRun(2, static_cast<float>(i));
    expectEnqueue(3, static_cast<float>(i));
  }
  // A run waits for what was enqueued before it, and so is none of them.
  expectRepeats(3);
  // Memory of the device, of which launches know the buffer.
  std::shared_ptr<Buffer> x = upload(std::vector<float>(32, 5)),
                          y = upload(std::vector<float>(32, 1)),
                          z = allocate(128), s = allocate(16);
  auto inBuffer = [](Buffer &buffer, Span<const int64_t> shape) {
    DeviceTensor tensor;
    tensor.buffer = &buffer;
    tensor.shape = shape;
    return tensor;
  };
  for (int i = 0; i < 2; ++i) {
    Status status =
        execution->enqueue(*stream, {inBuffer(*x, matrix), inBuffer(*y, row)},
                           {inBuffer(*z, matrix), inBuffer(*s, sums)});
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_TRUE(execution->wait(*stream).ok());
    EXPECT_THAT(download<float>(*z), Each(16.0f));
    EXPECT_THAT(download<float>(*s), Each(128.0f));
  }
  expectRepeats(0);
  expectEnqueue(7, 1);
  expectEnqueue(7, 2);
  expectRepeats(1);
}
