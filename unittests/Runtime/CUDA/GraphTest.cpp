//===- GraphTest.cpp - Runs that are recorded into graphs -----------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When a run is recorded, what a graph is used for, and what fails.
//
//===----------------------------------------------------------------------===//

#include "FakeCUDA.h"
#include "GPUPrograms.h"

#include "tracea/Runtime/CPU/CPUDevice.h"
#include "tracea/Runtime/CUDA/CUDADevice.h"
#include "tracea/Runtime/Constants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tracea;
using namespace tracea::runtime;
using namespace tracea::runtime::test;
using ::testing::HasSubstr;

namespace {
class CUDAGraphs : public ::testing::Test {
protected:
  void SetUp() override {
    fakecuda::reset();
    CUDADeviceOptions options;
    options.driverLibrary = TRACEA_FAKE_CUDA;
    device = *createCUDADevice(options);
    memory = *device->allocate(4096);
    stream = std::move(*device->createStream());
  }
  void TearDown() override {
    execution.reset();
    stream.reset();
    memory.reset();
    device.reset();
    EXPECT_EQ(fakecuda::alive().graphs, 0);
    EXPECT_EQ(fakecuda::alive().contexts, 0);
    fakecuda::reset();
  }

  void start(const ProgramFile &program, int streams = 1) {
    ExecutionOptions options;
    options.graph = true;
    options.streams = streams;
    Expected<std::shared_ptr<Executable>> executable =
        Executable::load(program, device);
    ASSERT_TRUE(executable) << executable.message();
    execution = std::move(*(*executable)->createExecution("", options));
  }
  DeviceTensor at(int64_t place) {
    return {nullptr, ElementType::I64, shape, {}, memory.get(), 64 * place};
  }
  void write(int64_t place, int64_t value) {
    ASSERT_TRUE(
        stream->copyToDevice(*memory, 64 * place, &value, sizeof value).ok());
    ASSERT_TRUE(stream->synchronize().ok());
  }
  int64_t read(int64_t place) {
    int64_t value = 0;
    EXPECT_TRUE(
        stream->copyToHost(&value, *memory, 64 * place, sizeof value).ok());
    EXPECT_TRUE(stream->synchronize().ok());
    return value;
  }
  /// Of branchesProgram({5, 7}): from one place to the two after it.
  Status enqueue(int64_t place) {
    return execution->enqueue(*stream, {at(place)},
                              {at(place + 1), at(place + 2)});
  }
  void expectRun(int64_t place, int64_t value) {
    write(place, value);
    Status status = enqueue(place);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(read(place + 1), 3 * value + 5);
    EXPECT_EQ(read(place + 2), 3 * value + 7);
  }
  int64_t numRecorded() { return execution->stats().graphRecordings; }
  int64_t numLaunched() { return execution->stats().graphLaunches; }

  std::shared_ptr<Device> device;
  std::shared_ptr<Buffer> memory;
  std::unique_ptr<Stream> stream;
  std::unique_ptr<Execution> execution;
  std::vector<int64_t> shape = {1};
};
} // namespace

TEST_F(CUDAGraphs, RunsAreRecordedWhenTheyComeAgain) {
  for (int streams : {1, 3}) {
    start(branchesProgram({5, 7}), streams);
    expectRun(0, 1);
    EXPECT_EQ(numRecorded(), 0);
    expectRun(0, 2);
    EXPECT_EQ(numRecorded(), 1);
    // From now on the driver is asked for one launch.
    int64_t launches = fakecuda::countCalls("cuLaunchKernelEx");
    int64_t copies = fakecuda::countCalls("cuMemcpyDtoDAsync");
    for (int64_t value : {3, 4, 5})
      expectRun(0, value);
    EXPECT_EQ(fakecuda::countCalls("cuLaunchKernelEx"), launches);
    EXPECT_EQ(fakecuda::countCalls("cuMemcpyDtoDAsync"), copies);
    EXPECT_EQ(numRecorded(), 1);
    EXPECT_EQ(numLaunched(), 4);
    EXPECT_EQ(execution->stats().launches, 5 * 2);
    EXPECT_EQ(execution->stats().runs, 5);

    // Two sets of memory in turn are two runs.
    for (int64_t value : {6, 7, 8}) {
      expectRun(4, value);
      expectRun(4, value + 1);
      expectRun(0, value);
    }
    EXPECT_EQ(numRecorded(), 2);
    // What never comes again is not recorded.
    for (int64_t place : {8, 11, 14, 17, 20, 23})
      expectRun(place, place);
    EXPECT_EQ(numRecorded(), 2);
    // There is place for four.
    EXPECT_EQ(fakecuda::countCalls("cuGraphExecUpdate"), 0);
    for (int64_t place : {8, 11, 14})
      for (int64_t value : {1, 2, 3})
        expectRun(place, value);
    EXPECT_EQ(numRecorded(), 5);
    EXPECT_EQ(fakecuda::countCalls("cuGraphExecUpdate"), 1);
    EXPECT_EQ(fakecuda::alive().graphs, 4);
    fakecuda::Alive before = fakecuda::alive();
    expectRun(14, 9);
    EXPECT_EQ(fakecuda::alive().graphs, before.graphs);
    execution.reset();
    fakecuda::reset();
    SetUp();
  }
}

TEST_F(CUDAGraphs, OtherShapesAreOtherRuns) {
  // main(x: i64[?]) -> i64[?], by copies: one more where x is not empty.
  GPUKernelSpec gpu;
  ProgramFile program = gpuProgram("gpu_empty", gpu);
  EntrySpec entry;
  entry.name = "main";
  entry.inputs = {{"x", ElementType::I64, {dynamicSize}}};
  ExprBuilder e(entry.exprs);
  int64_t n = e.dim(0, 0);
  int64_t bytes = e.rowMajorBytes(ElementType::I64, {n});
  entry.buffers = {BufferSpec::input(0), BufferSpec::temp(bytes),
                   BufferSpec::temp(bytes)};
  auto view = [&](int64_t buffer, int64_t size) {
    return e.rowMajorView(buffer, ElementType::I64, {size});
  };
  int64_t most = e.min(n, e.constant(1));
  entry.steps = {StepSpec::copy(view(0, n), view(1, n)),
                 StepSpec::copy(view(1, n), view(2, n)),
                 StepSpec::fill(view(1, e.sub(n, most)), 0)};
  entry.outputs = {{ElementType::I64, view(2, n)}};
  addDependencies(entry);
  program.manifest.entries = {entry};
  start(program);
  for (int64_t size : {1, 4, 2, 1, 6}) {
    shape = {size};
    for (int64_t value : {7, 8, 9}) {
      write(0, value);
      ASSERT_TRUE(execution->enqueue(*stream, {at(0)}, {at(8)}).ok());
      EXPECT_EQ(read(8), value);
    }
  }
  EXPECT_EQ(numRecorded(), 5);
  EXPECT_EQ(numLaunched(), 10);
  // Graphs of shapes that have gone are updated, or replaced where they have
  // another structure: 1 and 4 have.
  EXPECT_EQ(fakecuda::countCalls("cuGraphExecUpdate"), 4);
  EXPECT_EQ(fakecuda::countCalls("cuGraphInstantiateWithFlags"), 4);
  EXPECT_EQ(fakecuda::alive().graphs, 1);
}

TEST_F(CUDAGraphs, HostMemoryAndConstants) {
  ProgramFile program = branchesProgram({5, 7});
  EntrySpec &entry = program.manifest.entries[0];
  entry.inputs = {{"w", ElementType::I64, {1}}, {"x", ElementType::I64, {1}}};
  entry.inputs[0].isConstant = true;
  entry.buffers.push_back(BufferSpec::input(1));
  entry.steps[2].args[0].view.buffer = 3;
  addDependencies(entry);
  markConstants(entry);
  start(program);
  auto run = [&](bool givesConstant, int64_t w, int64_t x) {
    Tensor tensors[2];
    for (Tensor &tensor : tensors)
      tensor = *Tensor::allocate(ElementType::I64, {1});
    *tensors[0].dataAs<int64_t>() = w;
    *tensors[1].dataAs<int64_t>() = x;
    std::vector<Tensor> outputs(2);
    Status status = execution->run(
        {givesConstant ? tensors[0] : Tensor(), tensors[1]}, outputs);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(*outputs[0].dataAs<int64_t>(), 3 * w + 5);
    EXPECT_EQ(*outputs[1].dataAs<int64_t>(), 3 * x + 7);
  };
  run(true, 2, 1);
  EXPECT_EQ(numRecorded(), 0);
  for (int64_t x : {3, 4, 5})
    run(false, 2, x);
  EXPECT_EQ(numRecorded(), 1);
  EXPECT_EQ(numLaunched(), 3);
  EXPECT_EQ(execution->stats().launches, 2 + 3);
  // A constant of another version goes to the same memory.
  run(true, 9, 6);
  EXPECT_EQ(numLaunched(), 3);
  run(false, 9, 7);
  EXPECT_EQ(numRecorded(), 1);
  EXPECT_EQ(numLaunched(), 4);
}

// What must be computed or copied once is so before a capture; constants that
// kernels read in place may be given within one.
TEST_F(CUDAGraphs, ConstantsWithinACapture) {
  for (bool isComputed : {true, false}) {
    ProgramFile program = branchesProgram({5, 7});
    EntrySpec &entry = program.manifest.entries[0];
    entry.inputs[0].isConstant = true;
    if (isComputed)
      markConstants(entry);
    start(program);
    ASSERT_TRUE(execution->prepare({shape}).ok());
    write(0, 4);
    ASSERT_TRUE(stream->beginCapture().ok());
    std::string message = enqueue(0).message();
    std::unique_ptr<Graph> graph;
    ASSERT_TRUE(stream->endCapture(graph).ok());
    if (isComputed) {
      EXPECT_THAT(message, HasSubstr("expected what depends on constants alone "
                                     "to have been computed before the stream "
                                     "is captured"));
      continue;
    }
    EXPECT_EQ(message, "");
    ASSERT_TRUE(stream->launch(*graph).ok());
    EXPECT_EQ(read(1), 17);
  }
}

TEST_F(CUDAGraphs, WhatCannotBeRecordedIsSaid) {
  for (const char *name :
       {"cuStreamBeginCapture", "cuMemcpyDtoDAsync", "cuLaunchKernelEx",
        "cuStreamEndCapture", "cuGraphInstantiateWithFlags", "cuGraphLaunch"}) {
    start(branchesProgram({5, 7}), 3);
    expectRun(0, 1);
    fakecuda::failCall(name, 999);
    EXPECT_THAT(enqueue(0).message(), HasSubstr(name));
    // The stream records no more, and runs.
    EXPECT_FALSE(*stream->isCapturing()) << name;
    expectRun(8, 2);
    expectRun(0, 2);
    expectRun(0, 3);
    EXPECT_GE(numLaunched(), 1) << name;
  }
  // Within somebody else's capture the work is part of that.
  expectRun(12, 1);
  ASSERT_TRUE(stream->beginCapture().ok());
  EXPECT_TRUE(enqueue(12).ok());
  std::unique_ptr<Graph> graph;
  ASSERT_TRUE(stream->endCapture(graph).ok());
  write(12, 5);
  ASSERT_TRUE(stream->launch(*graph).ok());
  EXPECT_EQ(read(13), 20);
  graph.reset();

  ExecutionOptions options;
  options.graph = options.profile = true;
  std::shared_ptr<Executable> executable =
      *Executable::load(branchesProgram({1}), device);
  EXPECT_THAT(executable->createExecution("", options).message(),
              HasSubstr("expected either graphs or the time of every launch"));
  std::shared_ptr<Device> cpu = *createCPUDevice();
  std::unique_ptr<Stream> other = std::move(*cpu->createStream());
  EXPECT_THAT(other->beginCapture().message(),
              HasSubstr("streams of this device record no graphs"));
}
