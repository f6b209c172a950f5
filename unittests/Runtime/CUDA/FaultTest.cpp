//===- FaultTest.cpp - Runs that fail in the middle -----------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that runs out, kernels that end the context, and calls of the driver
// that fail while a program runs: what the messages say, and what goes on.
//
//===----------------------------------------------------------------------===//

#include "FakeCUDA.h"
#include "GPUPrograms.h"

#include "tracea/Runtime/CUDA/CUDADevice.h"
#include "tracea/Runtime/Constants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>

using namespace tracea;
using namespace tracea::runtime;
using namespace tracea::runtime::test;
using ::testing::AllOf;
using ::testing::HasSubstr;

namespace {
class CUDAFaults : public ::testing::Test {
protected:
  void SetUp() override { fakecuda::reset(); }
  void TearDown() override { fakecuda::reset(); }

  static std::shared_ptr<Device> open(int ordinal = 0) {
    CUDADeviceOptions options;
    options.driverLibrary = TRACEA_FAKE_CUDA;
    options.ordinal = ordinal;
    Expected<std::shared_ptr<Device>> device = createCUDADevice(options);
    EXPECT_TRUE(device) << device.message();
    return device ? *device : nullptr;
  }
  static std::unique_ptr<Execution> start(const ProgramFile &program,
                                          std::shared_ptr<Device> device,
                                          ExecutionOptions options = {}) {
    Expected<std::shared_ptr<Executable>> executable =
        Executable::load(program, std::move(device));
    EXPECT_TRUE(executable) << executable.message();
    return std::move(*(*executable)->createExecution("", options));
  }
  static Tensor number(int64_t value) {
    Tensor tensor = *Tensor::allocate(ElementType::I64, {1});
    *tensor.dataAs<int64_t>() = value;
    return tensor;
  }
  static Tensor scalar(int64_t value) {
    Tensor tensor = *Tensor::allocate(ElementType::I64, {});
    *tensor.dataAs<int64_t>() = value;
    return tensor;
  }
  static void expectNothingAlive() {
    fakecuda::Alive alive = fakecuda::alive();
    EXPECT_EQ(alive.allocations, 0);
    EXPECT_EQ(alive.hostAllocations, 0);
    EXPECT_EQ(alive.streams, 0);
    EXPECT_EQ(alive.events, 0);
    EXPECT_EQ(alive.modules, 0);
    EXPECT_EQ(alive.pools, 0);
    EXPECT_EQ(alive.graphs, 0);
    EXPECT_EQ(alive.contexts, 0);
    EXPECT_EQ(alive.stacked, 0);
  }

  /// main(x: i64[?], n: i64) -> i64[?]: copies of x, and beside them a buffer
  /// that persists, with n elements.
  static ProgramFile copiesProgram() {
    GPUKernelSpec gpu;
    ProgramFile program = gpuProgram("gpu_empty", gpu);
    EntrySpec entry;
    entry.name = "main";
    entry.inputs = {{"x", ElementType::I64, {dynamicSize}},
                    {"n", ElementType::I64, {}, true}};
    ExprBuilder e(entry.exprs);
    int64_t size = e.dim(0, 0);
    int64_t bytes = e.rowMajorBytes(ElementType::I64, {size});
    entry.buffers = {BufferSpec::input(0), BufferSpec::temp(bytes),
                     BufferSpec::temp(bytes),
                     BufferSpec::temp(e.mul(e.constant(8), e.value(1)), 64,
                                      TempContents::Persistent)};
    auto view = [&](int64_t buffer) {
      return e.rowMajorView(buffer, ElementType::I64, {size});
    };
    entry.steps = {
        StepSpec::copy(view(0), view(1)), StepSpec::copy(view(1), view(2)),
        StepSpec::fill(e.rowMajorView(3, ElementType::I64, {e.value(1)}), 0)};
    entry.outputs = {{ElementType::I64, view(2)}};
    addDependencies(entry);
    program.manifest.entries = {entry};
    return program;
  }

  /// main(w: i64[1] constant, x: i64[1]) -> (3 w + 5, 3 x + 7).
  static ProgramFile constantsProgram() {
    ProgramFile program = branchesProgram({5, 7});
    EntrySpec &entry = program.manifest.entries[0];
    entry.inputs = {{"w", ElementType::I64, {1}}, {"x", ElementType::I64, {1}}};
    entry.inputs[0].isConstant = true;
    entry.buffers.push_back(BufferSpec::input(1));
    entry.steps[2].args[0].view.buffer = 3;
    addDependencies(entry);
    markConstants(entry);
    return program;
  }
};
} // namespace

TEST_F(CUDAFaults, MemoryThatRunsOutIsCountedBeforeAnythingRuns) {
  fakecuda::Machine machine;
  machine.memoryBytes = size_t(1) << 20;
  fakecuda::reset(machine);
  std::shared_ptr<Device> device = open();
  std::unique_ptr<Execution> execution = start(copiesProgram(), device);
  std::vector<Tensor> outputs(1);
  Tensor large = *Tensor::allocate(ElementType::I64, {70000});
  std::string message =
      execution->run({large, scalar(1000)}, outputs).message();
  EXPECT_THAT(
      message,
      AllOf(
          HasSubstr("main: expected 1120000 bytes of temporary memory, beside "
                    "8000 that stay between runs: out of memory: "),
          HasSubstr("; all buffers together have 1688000 bytes, and the "
                    "largest are input 0 'x' with 560000, buffer 1 of step 0 "
                    "(copy) with 560000, buffer 2 of step 1 (copy) with "
                    "560000, buffer 3 of step 2 (fill) with 8000")));
  message = execution->run({number(3), scalar(200000)}, outputs).message();
  EXPECT_THAT(message,
              AllOf(HasSubstr("main: buffer 3: expected 1600000 bytes that "
                              "stay between runs, beside 0: out of memory: "),
                    HasSubstr("the largest are buffer 3 of step 2 (fill) with "
                              "1600000, ")));
  EXPECT_TRUE(outputs[0].isNull());
  EXPECT_EQ(fakecuda::countCalls("cuMemcpyDtoDAsync"), 0);
  EXPECT_EQ(fakecuda::countCalls("cuMemcpyHtoDAsync"), 0);

  // What fits runs.
  Status status = execution->run({number(3), scalar(1000)}, outputs);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(*outputs[0].dataAs<int64_t>(), 3);
  ExecutionOptions options;
  options.maxArenaBytes = 1000;
  EXPECT_THAT(start(copiesProgram(), device, options)
                  ->run({number(3), scalar(1000)}, outputs)
                  .message(),
              HasSubstr("expected to need at most 1000 bytes of temporary "
                        "memory, found 8000; all buffers together have"));
  execution.reset();
  device.reset();
  expectNothingAlive();
}

// The second device, and with it the process, goes on.
TEST_F(CUDAFaults, AnyKernelMayEndTheContext) {
  for (int streams : {1, 3}) {
    fakecuda::reset();
    std::shared_ptr<Device> other = open(1);
    ExecutionOptions options;
    options.streams = streams;
    {
      std::unique_ptr<Execution> execution =
          start(branchesProgram({5, 6, 7}), open(), options);
      std::vector<Tensor> outputs(3);
      ASSERT_TRUE(execution->run({number(2)}, outputs).ok());
      fakecuda::failKernel(700);
      std::string message = execution->run({number(2)}, outputs).message();
      EXPECT_THAT(message, AllOf(HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700)"),
                                 HasSubstr("work up to kernel "
                                           "'the_gpu_overlap'")));
      EXPECT_THAT(execution->run({number(2)}, outputs).message(),
                  AllOf(HasSubstr("device 0 (Fake GPU 0) is lost since"),
                        HasSubstr("only a new process can use it again")));
    }
    std::unique_ptr<Execution> execution =
        start(branchesProgram({5, 6, 7}), other, options);
    std::vector<Tensor> outputs(3);
    ASSERT_TRUE(execution->run({number(2)}, outputs).ok());
    EXPECT_EQ(*outputs[2].dataAs<int64_t>(), 13);
    execution.reset();
    other.reset();
    EXPECT_EQ(fakecuda::alive().contexts, 0);
    EXPECT_EQ(fakecuda::alive().stacked, 0);
  }
}

// A run that fails while it computes what stays leaves it to the next one.
TEST_F(CUDAFaults, AnyCallMayFailWhileConstantsAreLoaded) {
  ProgramFile program = constantsProgram();
  std::map<std::string, int64_t> calls;
  {
    std::unique_ptr<Execution> execution = start(program, open());
    std::vector<Tensor> outputs(2);
    std::map<std::string, int64_t> before;
    for (const std::string &name : fakecuda::calledNames())
      before[name] = fakecuda::countCalls(name);
    ASSERT_TRUE(execution->run({number(2), number(1)}, outputs).ok());
    for (const std::string &name : fakecuda::calledNames())
      calls[name] = fakecuda::countCalls(name) - before[name];
    ASSERT_TRUE(execution->run({Tensor(), number(3)}, outputs).ok());
    EXPECT_EQ(execution->stats().loads, 1);
    EXPECT_EQ(fakecuda::launches().size(), 3u);
  }
  expectNothingAlive();
  int failures = 0;
  for (const char *name :
       {"cuLaunchKernelEx", "cuMemcpyDtoDAsync", "cuMemcpyHtoDAsync",
        "cuMemcpyDtoHAsync", "cuStreamSynchronize"}) {
    EXPECT_GT(calls[name], 0) << name;
    for (int64_t skip = 0; skip < calls[name]; ++skip) {
      SCOPED_TRACE(std::string(name) + " after " + std::to_string(skip));
      fakecuda::reset();
      ++failures;
      std::unique_ptr<Execution> execution = start(program, open());
      std::vector<Tensor> outputs(2);
      fakecuda::failCall(name, 999, static_cast<int>(skip));
      Status status = execution->run({number(2), number(1)}, outputs);
      EXPECT_FALSE(status.ok());
      EXPECT_THAT(status.message(), HasSubstr(name));
      outputs.assign(2, Tensor());
      status = execution->run({Tensor(), number(3)}, outputs);
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(*outputs[0].dataAs<int64_t>(), 11);
      EXPECT_EQ(*outputs[1].dataAs<int64_t>(), 16);
      execution.reset();
      expectNothingAlive();
    }
  }
  EXPECT_GE(failures, 8);
}

// An Execution that shares what stays is given another version, and a call
// fails: what the other one uses stays as it is.
TEST_F(CUDAFaults, AnyCallMayFailWhileSharedConstantsAreReplaced) {
  ProgramFile program = constantsProgram();
  int failures = 0;
  for (const char *name :
       {"cuStreamCreate", "cuMemAllocFromPoolAsync", "cuLaunchKernelEx",
        "cuMemcpyDtoDAsync", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync",
        "cuMemsetD8Async", "cuStreamSynchronize"})
    for (int skip = 0;; ++skip) {
      SCOPED_TRACE(std::string(name) + " after " + std::to_string(skip));
      fakecuda::reset();
      std::unique_ptr<Execution> first = start(program, open());
      std::vector<Tensor> outputs(2);
      ASSERT_TRUE(first->run({number(2), number(1)}, outputs).ok());
      fakecuda::failCall(name, 999, skip);
      Expected<std::unique_ptr<Execution>> second = first->share();
      Status status = second.status();
      std::vector<Tensor> others(2);
      if (second)
        status = (*second)->run({number(5), number(1)}, others);
      if (status.ok())
        break;
      ++failures;
      EXPECT_THAT(status.message(), HasSubstr(name));
      outputs.assign(2, Tensor());
      ASSERT_TRUE(first->run({Tensor(), number(3)}, outputs).ok());
      EXPECT_EQ(*outputs[0].dataAs<int64_t>(), 11);
      EXPECT_EQ(first->stats().loads, 1);
      if (second) {
        others.assign(2, Tensor());
        status = (*second)->run({number(2), number(3)}, others);
        ASSERT_TRUE(status.ok()) << status.message();
        EXPECT_EQ(*others[0].dataAs<int64_t>(), 11);
      }
      second = Status::error("");
      first.reset();
      expectNothingAlive();
    }
  EXPECT_GE(failures, 8);
}

// Constants are on their way to the device when a call fails.
TEST_F(CUDAFaults, ConstantsThatAreNotLoadedAreGivenBack) {
  ProgramFile program = copiesProgram();
  int64_t blob = program.addBlob(std::vector<uint8_t>(300000, 7));
  program.manifest.constants = {{blob, 0, 200000}, {blob, 1000, 200000}};
  for (const char *name :
       {"cuMemcpyHtoDAsync", "cuStreamSynchronize", "cuMemAllocFromPoolAsync"})
    for (int skip = 0; skip < 2; ++skip) {
      SCOPED_TRACE(std::string(name) + " after " + std::to_string(skip));
      fakecuda::reset();
      std::shared_ptr<Device> device = open();
      fakecuda::failCall(name, 999, skip);
      Expected<std::shared_ptr<Executable>> executable =
          Executable::load(program, device);
      EXPECT_THAT(executable.message(), HasSubstr(name));
      EXPECT_TRUE(Executable::load(program, device));
      executable = Status::error("");
      device.reset();
      expectNothingAlive();
    }

  fakecuda::Machine machine;
  machine.memoryBytes = 300000;
  fakecuda::reset(machine);
  EXPECT_THAT(Executable::load(program, open()).message(),
              HasSubstr("constant 1 of 2, together 400000 bytes: out of "
                        "memory: "));
  expectNothingAlive();
}
