//===- ConstantsTest.cpp - What stays between runs ------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs with inputs that are constant, on every driver.
//
//===----------------------------------------------------------------------===//

#include "ProgramConformance.h"

#include "tracea/Runtime/Constants.h"

#include <cstring>

using namespace tracea::runtime;
using namespace tracea::runtime::test;
using ::testing::Each;
using ::testing::HasSubstr;

namespace {
class ConstantsConformance : public ProgramConformance {
protected:
  /// main(w: f32[?] constant, v: f32[?] constant, x: f32[?]) -> f32[?], with
  /// `hidden` = 3 w + v, `kept` = 2 hidden + w, x + kept.
  ProgramFile program() {
    ProgramFile program = emptyProgram();
    EntrySpec entry;
    entry.name = "main";
    for (const char *name : {"w", "v", "x"})
      entry.inputs.push_back({name, ElementType::F32, {dynamicSize}});
    entry.inputs[0].isConstant = entry.inputs[1].isConstant = true;
    ExprBuilder e(entry.exprs);
    int64_t n = e.dim(0, 0), one = e.constant(1);
    entry.checks = {{e.eq(n, e.dim(1, 0)), "v is as long as w"},
                    {e.eq(n, e.dim(2, 0)), "x is as long as w"}};
    int64_t bytes = e.rowMajorBytes(ElementType::F32, {n});
    entry.buffers = {BufferSpec::input(0),    BufferSpec::input(1),
                     BufferSpec::input(2),    BufferSpec::temp(bytes),
                     BufferSpec::temp(bytes), BufferSpec::temp(bytes)};
    auto view = [&](int64_t buffer) {
      return ArgSpec::fromView(e.rowMajorView(buffer, ElementType::F32, {n}));
    };
    auto add = [&](int64_t factor, int64_t a, int64_t b, int64_t to) {
      StepSpec step;
      step.kernel = ScaleAdd;
      step.tiles = n;
      step.args = {view(a), view(b), view(to),
                   ArgSpec::fromIndex(e.constant(factor)),
                   ArgSpec::fromIndex(one)};
      step.writes = {to};
      entry.steps.push_back(step);
    };
    add(3, 0, 1, 3);
    add(2, 3, 0, 4);
    add(1, 2, 4, 5);
    entry.outputs = {
        {ElementType::F32, e.rowMajorView(5, ElementType::F32, {n})}};
    addDependencies(entry);
    markConstants(entry);
    program.manifest.entries = {entry};
    return program;
  }

  static Tensor filled(int64_t size, float value) {
    Tensor tensor = *Tensor::allocate(ElementType::F32, {size});
    std::fill_n(tensor.dataAs<float>(), size, value);
    return tensor;
  }
  /// 7 w + 2 v + x.
  static void expectRun(Execution &execution, const std::vector<Tensor> &inputs,
                        float expected) {
    std::vector<Tensor> outputs(1);
    Status status = execution.run(inputs, outputs);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_THAT(valuesOf(outputs[0]), Each(expected));
  }
};
} // namespace

INSTANTIATE_TEST_SUITE_P(Drivers, ConstantsConformance,
                         ::testing::ValuesIn(conformanceDrivers()), nameOfCase);

TEST_P(ConstantsConformance, WhatDependsOnThemAloneIsComputedOnce) {
  for (int streams : {1, 3}) {
    ExecutionOptions options;
    options.streams = streams;
    std::unique_ptr<Execution> execution = start(program(), options);
    EXPECT_EQ(findConstantSteps(execution->entry()),
              (std::vector<char>{true, true, false}));
    expectRun(*execution, {filled(50, 1), filled(50, 10), filled(50, 100)},
              127);
    EXPECT_EQ(execution->stats().launches, 3);
    for (float x : {1.0f, 2.0f, 3.0f})
      expectRun(*execution, {Tensor(), Tensor(), filled(50, x)}, 27 + x);
    EXPECT_EQ(execution->stats().launches, 6);
    EXPECT_EQ(execution->stats().loads, 1);

    // Another version of one of them.
    expectRun(*execution, {Tensor(), filled(50, 20), filled(50, 1)}, 48);
    expectRun(*execution, {Tensor(), Tensor(), filled(50, 2)}, 49);
    EXPECT_EQ(execution->stats().loads, 2);
    EXPECT_EQ(execution->stats().launches, 10);
    // Of other sizes.
    expectRun(*execution, {filled(900, 2), filled(900, 1), filled(900, 0)}, 16);
    expectRun(*execution, {Tensor(), Tensor(), filled(900, 5)}, 21);
    EXPECT_EQ(execution->stats().loads, 3);
    expectRun(*execution, {filled(0, 2), filled(0, 1), filled(0, 0)}, 0);
    // A caller that always gives them always gets what he gives.
    for (float w : {1.0f, 2.0f})
      expectRun(*execution, {filled(7, w), filled(7, 0), filled(7, 0)}, 7 * w);
    EXPECT_EQ(execution->stats().loads, 6);
  }
}

TEST_P(ConstantsConformance, RunsRepeatUntilOneIsGivenAnew) {
  std::unique_ptr<Execution> execution = start(program());
  std::vector<Tensor> outputs = {filled(50, -1)};
  auto expect = [&](const std::vector<Tensor> &inputs, float expected) {
    Status status = execution->run(inputs, outputs);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_THAT(valuesOf(outputs[0]), Each(expected));
  };
  expect({filled(50, 1), filled(50, 10), filled(50, 100)}, 127);
  for (float x : {1.0f, 2.0f, 3.0f})
    expect({Tensor(), Tensor(), filled(50, x)}, 27 + x);
  EXPECT_EQ(execution->stats().repeats, shared() ? 3 : 0);
  EXPECT_EQ(execution->stats().launches, 6);
  expect({Tensor(), filled(50, 20), filled(50, 1)}, 48);
  expect({Tensor(), Tensor(), filled(50, 2)}, 49);
  EXPECT_EQ(execution->stats().loads, 2);
  // A constant is not written, whoever was given it.
  Tensor w = filled(50, 2);
  expect({w, filled(50, 0), filled(50, 0)}, 14);
  expect({Tensor(), Tensor(), filled(50, 1)}, 15);
  outputs = {w};
  Status status = execution->run({Tensor(), Tensor(), filled(50, 1)}, outputs);
  if (shared())
    EXPECT_THAT(status.message(), HasSubstr("overlaps input 0"));
}

TEST_P(ConstantsConformance, OthersMayBeStridedOrGivenOnlyInPart) {
  std::unique_ptr<Execution> execution = start(program());
  Tensor wide = filled(100, 1);
  Tensor strided = *Tensor::borrow(wide.data(), ElementType::F32, {50}, {2});
  expectRun(*execution, {strided, filled(50, 0), filled(50, 0)}, 7);
  expectRun(*execution, {Tensor(), filled(50, 1), filled(50, 0)}, 9);

  // A run that is refused leaves what there was.
  std::vector<Tensor> outputs(1);
  EXPECT_THAT(
      execution->run({filled(40, 9), Tensor(), filled(50, 0)}, outputs)
          .message(),
      HasSubstr("main: the program refuses these shapes: v is as long as w"));
  expectRun(*execution, {Tensor(), Tensor(), filled(50, 1)}, 10);
  outputs = {wide};
  Tensor inside = *Tensor::borrow(wide.data(), ElementType::F32, {50});
  outputs = {inside};
  EXPECT_THAT(
      execution->run({Tensor(), Tensor(), filled(50, 0)}, outputs).message(),
      HasSubstr("output 0 overlaps input 0 'w': expected a constant that "
                "runs do not write"));

  execution = start(program());
  outputs = {Tensor()};
  EXPECT_THAT(
      execution->run({filled(5, 1), Tensor(), filled(5, 1)}, outputs).message(),
      HasSubstr("input 1 'v': expected the constant f32[?], which no run "
                "has been given yet, found null"));
  EXPECT_THAT(
      execution->run({filled(5, 1), filled(5, 1), Tensor()}, outputs).message(),
      HasSubstr("input 2 'x': expected f32[?], found null tensor"));
}

TEST_P(ConstantsConformance, OnDeviceMemory) {
  std::unique_ptr<Execution> execution = start(program());
  auto values = [](float value) { return std::vector<float>(50, value); };
  std::shared_ptr<Buffer> w = upload(values(1)), v = upload(values(10)),
                          x = upload(values(100)), out = allocate(200);
  std::vector<int64_t> shape = {50};
  auto tensor = [&](const std::shared_ptr<Buffer> &buffer) {
    DeviceTensor tensor;
    tensor.shape = shape;
    tensor.buffer = buffer.get();
    return tensor;
  };
  auto expectEnqueue = [&](const std::vector<DeviceTensor> &inputs,
                           float expected) {
    Status status = execution->enqueue(*stream, inputs, {tensor(out)});
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_THAT(download<float>(*out), Each(expected));
  };
  EXPECT_TRUE(execution->prepare({shape, shape, shape}).ok());
  EXPECT_EQ(execution->stats().loads, 0);
  expectEnqueue({tensor(w), tensor(v), tensor(x)}, 127);
  expectEnqueue({DeviceTensor(), DeviceTensor(), tensor(w)}, 28);
  EXPECT_EQ(execution->stats().launches, 4);
  // From both sides of the bus.
  expectRun(*execution, {Tensor(), filled(50, 1), filled(50, 0)}, 9);
  expectEnqueue({DeviceTensor(), DeviceTensor(), tensor(x)}, 109);
  EXPECT_EQ(execution->stats().loads, 2);
  expectEnqueue({tensor(v), DeviceTensor(), tensor(x)}, 172);
}

// What is computed of constants is there once for Executions that share it.
TEST_P(ConstantsConformance, ExecutionsShareThem) {
  std::unique_ptr<Execution> first = start(program());
  auto share = [](Execution &execution) {
    Expected<std::unique_ptr<Execution>> made = execution.share();
    EXPECT_TRUE(made) << made.message();
    return std::move(*made);
  };
  // Before there are any there is nothing to share.
  std::unique_ptr<Execution> early = share(*first);
  std::vector<Tensor> outputs(1);
  EXPECT_THAT(
      early->run({Tensor(), Tensor(), filled(50, 1)}, outputs).message(),
      HasSubstr("input 0 'w': expected the constant f32[?], which no "
                "run has been given yet"));
  Tensor w = filled(50, 1), v = filled(50, 10);
  expectRun(*first, {w, v, filled(50, 100)}, 127);
  std::unique_ptr<Execution> second = share(*first);
  std::unique_ptr<Execution> third = share(*second);
  for (Execution *execution : {second.get(), third.get(), first.get()})
    for (float x : {1.0f, 2.0f})
      expectRun(*execution, {Tensor(), Tensor(), filled(50, x)}, 27 + x);
  EXPECT_EQ(second->stats().loads, 0);
  EXPECT_EQ(second->stats().launches, 2);
  EXPECT_EQ(third->stats().loads, 0);

  // Others are of the one alone that they are given to.
  Tensor other = filled(50, 20);
  expectRun(*second, {Tensor(), other, filled(50, 1)}, 48);
  EXPECT_EQ(second->stats().loads, 1);
  for (Execution *execution : {first.get(), third.get()})
    expectRun(*execution, {Tensor(), Tensor(), filled(50, 3)}, 30);
  expectRun(*second, {Tensor(), Tensor(), filled(50, 3)}, 50);
  EXPECT_EQ(first->stats().loads, 1);
  EXPECT_EQ(third->stats().loads, 0);

  // They outlive the one that computed it, and other sizes are their own.
  first.reset();
  expectRun(*third, {Tensor(), Tensor(), filled(50, 4)}, 31);
  std::unique_ptr<Execution> fourth = share(*third);
  Tensor longer = filled(70, 1);
  expectRun(*third, {longer, longer, filled(70, 0)}, 9);
  expectRun(*fourth, {Tensor(), Tensor(), filled(50, 5)}, 32);
  EXPECT_EQ(third->stats().loads, 1);
  EXPECT_EQ(fourth->stats().loads, 0);
}

// On memory of the device, where a copy of the constants is not needed, beside
// runs of the other that are under way.
TEST_P(ConstantsConformance, ExecutionsShareThemOnDeviceMemory) {
  std::unique_ptr<Execution> first = start(program());
  auto values = [](float value) { return std::vector<float>(50, value); };
  std::shared_ptr<Buffer> w = upload(values(1)), v = upload(values(10)),
                          x = upload(values(100)), out = allocate(200),
                          other = allocate(200);
  std::vector<int64_t> shape = {50};
  auto tensor = [&](const std::shared_ptr<Buffer> &buffer) {
    DeviceTensor tensor;
    tensor.shape = shape;
    tensor.buffer = buffer.get();
    return tensor;
  };
  auto enqueue = [&](Execution &execution,
                     const std::vector<DeviceTensor> &inputs,
                     const std::shared_ptr<Buffer> &to) {
    Status status = execution.enqueue(*stream, inputs, {tensor(to)});
    ASSERT_TRUE(status.ok()) << status.message();
  };
  enqueue(*first, {tensor(w), tensor(v), tensor(x)}, out);
  std::unique_ptr<Execution> second = std::move(*first->share());
  enqueue(*first, {DeviceTensor(), DeviceTensor(), tensor(w)}, out);
  enqueue(*second, {DeviceTensor(), DeviceTensor(), tensor(x)}, other);
  EXPECT_THAT(download<float>(*out), Each(28.0f));
  EXPECT_THAT(download<float>(*other), Each(127.0f));
  EXPECT_EQ(second->stats().loads, 0);
  // Given in host memory to the one, they are still those of the other.
  expectRun(*second, {Tensor(), filled(50, 1), filled(50, 0)}, 9);
  enqueue(*first, {DeviceTensor(), DeviceTensor(), tensor(x)}, out);
  EXPECT_THAT(download<float>(*out), Each(127.0f));
}

// Without constants among the inputs, preparing computes what stays.
TEST_P(ConstantsConformance, ConstantsOfTheProgramArePreparedFor) {
  ProgramFile program = emptyProgram();
  std::vector<uint8_t> bytes(200);
  std::vector<float> ones(50, 1.0f);
  std::memcpy(bytes.data(), ones.data(), 200);
  program.manifest.constants = {{program.addBlob(bytes), 0, 200}};
  EntrySpec entry;
  entry.name = "main";
  entry.inputs = {{"x", ElementType::F32, {50}}};
  ExprBuilder e(entry.exprs);
  int64_t n = e.constant(50), one = e.constant(1), size = e.constant(200);
  entry.buffers = {BufferSpec::input(0), BufferSpec::constant(0),
                   BufferSpec::temp(size), BufferSpec::temp(size)};
  auto view = [&](int64_t buffer) {
    return ArgSpec::fromView(e.rowMajorView(buffer, ElementType::F32, {n}));
  };
  StepSpec first, second;
  first.kernel = second.kernel = ScaleAdd;
  first.tiles = second.tiles = n;
  first.args = {view(1), view(1), view(2), ArgSpec::fromIndex(n),
                ArgSpec::fromIndex(one)};
  first.writes = {2};
  second.args = {view(0), view(2), view(3), ArgSpec::fromIndex(one),
                 ArgSpec::fromIndex(one)};
  second.writes = {3};
  entry.steps = {first, second};
  entry.outputs = {
      {ElementType::F32, e.rowMajorView(3, ElementType::F32, {n})},
      {ElementType::F32, e.rowMajorView(2, ElementType::F32, {n})}};
  addDependencies(entry);
  markConstants(entry);
  program.manifest.entries = {entry};
  std::unique_ptr<Execution> execution = start(program);
  ASSERT_TRUE(execution->prepare({std::vector<int64_t>{50}}).ok());
  EXPECT_EQ(execution->stats().loads, 1);
  EXPECT_EQ(execution->stats().launches, 1);
  // A result that stays is never the caller's memory.
  for (float x : {1.0f, 2.0f}) {
    std::vector<Tensor> outputs(2);
    ASSERT_TRUE(execution->run({filled(50, x)}, outputs).ok());
    EXPECT_THAT(valuesOf(outputs[0]), Each(51 + x));
    EXPECT_THAT(valuesOf(outputs[1]), Each(51.0f));
    std::fill_n(outputs[1].dataAs<float>(), 50, 0.0f);
  }
  EXPECT_EQ(execution->stats().launches, 3);
}

// A step of every run reads what stays between two steps that are done once.
TEST_P(ConstantsConformance, StepsOfRunsMayStandBetween) {
  ProgramFile program = this->program();
  EntrySpec &entry = program.manifest.entries[0];
  // x + hidden comes before 2 hidden + w.
  entry.steps[2].args[1] = entry.steps[1].args[0];
  std::swap(entry.steps[1], entry.steps[2]);
  // And what comes later may lie where it would lie, did it not stay.
  entry.buffers.push_back(entry.buffers[5]);
  StepSpec last = entry.steps[1];
  last.args[1].view.buffer = 5;
  last.args[2].view.buffer = 6;
  last.writes = {6};
  entry.steps.push_back(last);
  entry.outputs.push_back(entry.outputs[0]);
  entry.outputs[0].view.buffer = 6;
  entry.outputs[1].view.buffer = 4;
  addDependencies(entry);
  EXPECT_EQ(findConstantSteps(entry),
            (std::vector<char>{true, false, true, false}));
  std::unique_ptr<Execution> execution = start(program);
  for (bool isFirst : {true, false, false}) {
    std::vector<Tensor> outputs(2);
    std::vector<Tensor> inputs = {filled(50, 1), filled(50, 10),
                                  filled(50, 100)};
    if (!isFirst)
      inputs[0] = inputs[1] = Tensor();
    Status status = execution->run(inputs, outputs);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_THAT(valuesOf(outputs[0]), Each(213.0f));
    EXPECT_THAT(valuesOf(outputs[1]), Each(27.0f));
  }
}
