//===- DriverTest.cpp - The driver library at its worst -------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Missing, old and failing drivers, by the tests' own library.
//
//===----------------------------------------------------------------------===//

#include "FakeCUDA.h"
#include "GPUPrograms.h"

#include "tracea/Runtime/CUDA/CUDADevice.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

using namespace tracea;
using namespace tracea::runtime;
using namespace tracea::runtime::test;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

namespace {
class CUDADriver : public ::testing::Test {
protected:
  void SetUp() override { fakecuda::reset(); }
  void TearDown() override { fakecuda::reset(); }

  static Expected<std::shared_ptr<Device>>
  open(int ordinal = 0, const std::string &library = TRACEA_FAKE_CUDA) {
    CUDADeviceOptions options;
    options.driverLibrary = library;
    options.ordinal = ordinal;
    return createCUDADevice(options);
  }
  static std::string errorOfOpen(const fakecuda::Machine &machine) {
    fakecuda::reset(machine);
    Expected<std::shared_ptr<Device>> device = open();
    return device ? "opened" : device.message();
  }
};

/// Uses everything once. The first failure.
Status useEverything() {
  CUDADeviceOptions options;
  options.driverLibrary = TRACEA_FAKE_CUDA;
  Expected<std::shared_ptr<Device>> device = createCUDADevice(options);
  if (!device)
    return device.status();
  std::vector<float> x(80), big(2 << 20, 1.5f), back(big.size());
  std::iota(x.begin(), x.end(), 0.0f);
  Expected<std::shared_ptr<Buffer>> large =
      (*device)->allocate(static_cast<int64_t>(4 * big.size()), 1024);
  if (!large)
    return large.status();
  // Ends before the memory that its work uses.
  Expected<std::unique_ptr<Stream>> stream = (*device)->createStream();
  if (!stream)
    return stream.status();
  int64_t bytes = (*large)->bytes();
  TRACEA_RETURN_IF_ERROR(
      (*stream)->copyToDevice(**large, 0, big.data(), bytes));
  TRACEA_RETURN_IF_ERROR((*stream)->copyToHost(back.data(), **large, 0, bytes));
  TRACEA_RETURN_IF_ERROR((*stream)->fill(**large, 0, 100, 7));
  TRACEA_RETURN_IF_ERROR((*stream)->copy(**large, 200, **large, 0, 100));
  TRACEA_RETURN_IF_ERROR((*stream)->synchronize());
  if (back != big)
    return Status::error("large copies are wrong");

  Expected<std::shared_ptr<Executable>> executable =
      Executable::load(tiledProgram(4, 8, 0, 0), *device);
  if (!executable)
    return executable.status();
  Expected<std::unique_ptr<Execution>> execution =
      (*executable)->createExecution();
  if (!execution)
    return execution.status();
  Tensor input =
      *Tensor::borrow(static_cast<void *>(x.data()), ElementType::F32, {10, 8});
  std::vector<Tensor> outputs(1);
  TRACEA_RETURN_IF_ERROR((*execution)->run({input}, outputs));
  for (int i = 0; i < 32; ++i)
    if (outputs[0].dataAs<float>()[i] != x[static_cast<size_t>(i)])
      return Status::error("the run is wrong");

  std::vector<int64_t> shape = {10, 8}, outShape = {4, 8};
  DeviceTensor in{(*large)->address(), ElementType::F32, shape, {}};
  DeviceTensor out{static_cast<char *>((*large)->address()) + 4096,
                   ElementType::F32,
                   outShape,
                   {}};
  TRACEA_RETURN_IF_ERROR((*execution)->enqueue(**stream, {in}, {out}));
  TRACEA_RETURN_IF_ERROR((*stream)->synchronize());
  GPUKernelSpec wide;
  wide.cluster = {16, 1, 1};
  wide.indexBits = 32;
  ProgramFile shapes = gpuProgram("gpu_shape", wide, 60000);
  addGenerator(shapes, 64, {16, 1, 1}, {1});
  Expected<std::shared_ptr<Executable>> second =
      Executable::load(shapes, *device);
  if (!second)
    return second.status();
  TRACEA_RETURN_IF_ERROR((*second)->run("", {}).status());

  Expected<std::shared_ptr<Executable>> branches =
      Executable::load(branchesProgram({5, 6, 7}), *device);
  if (!branches)
    return branches.status();
  ExecutionOptions several;
  several.streams = 3;
  Expected<std::unique_ptr<Execution>> side =
      (*branches)->createExecution("", several);
  if (!side)
    return side.status();
  int64_t number = 2;
  Tensor v = *Tensor::borrow(&number, ElementType::I64, {1});
  std::vector<Tensor> sums(3);
  TRACEA_RETURN_IF_ERROR((*side)->run({v}, sums));
  for (int64_t i = 0; i < 3; ++i)
    if (*sums[static_cast<size_t>(i)].dataAs<int64_t>() != 11 + i)
      return Status::error("the branches are wrong");

  several.graph = true;
  Expected<std::unique_ptr<Execution>> recorded =
      (*branches)->createExecution("", several);
  if (!recorded)
    return recorded.status();
  for (int run = 0; run < 3; ++run) {
    number = run;
    TRACEA_RETURN_IF_ERROR((*recorded)->run({v}, sums));
    for (int64_t i = 0; i < 3; ++i)
      if (*sums[static_cast<size_t>(i)].dataAs<int64_t>() != 3 * run + 5 + i)
        return Status::error("the recorded branches are wrong");
  }
  // On memory of the device, of which the recorded graphs are updated.
  std::vector<int64_t> one = {1};
  for (int64_t place = 0; place < 12; ++place) {
    auto at = [&](int64_t offset) {
      return DeviceTensor{nullptr, ElementType::I64, one,
                          {},      large->get(),     64 * (place / 2) + offset};
    };
    TRACEA_RETURN_IF_ERROR((*recorded)->enqueue(
        **stream, {at(0)}, {at(1024), at(2048), at(3072)}));
  }
  return (*stream)->synchronize();
}
} // namespace

//===----------------------------------------------------------------------===//
// Finding a driver
//===----------------------------------------------------------------------===//

TEST_F(CUDADriver, MissingLibrariesAreNamed) {
  EXPECT_THAT(open(0, "/nowhere/libcuda.so.1").message(),
              AllOf(HasSubstr("cuda: no CUDA driver: cannot open "
                              "/nowhere/libcuda.so.1"),
                    HasSubstr("No such file")));
  EXPECT_THAT(open(0, "libm.so.6").message(),
              HasSubstr("libm.so.6 is no CUDA driver: it has no "
                        "cuDriverGetVersion"));
  EXPECT_THAT(listCUDADevices("/nowhere/libcuda.so.1").message(),
              HasSubstr("no CUDA driver"));
}

TEST_F(CUDADriver, TheEnvironmentNamesTheLibrary) {
  ASSERT_EQ(::setenv("TRACEA_CUDA_DRIVER", TRACEA_FAKE_CUDA, 1), 0);
  Expected<std::shared_ptr<Device>> device = openDevice("cuda");
  EXPECT_TRUE(device) << device.message();
  DeviceOptions options;
  options.ordinal = 1;
  device = openDevice("cuda", options);
  ASSERT_TRUE(device) << device.message();
  EXPECT_EQ((*device)->info().name, "Fake GPU 1");
  ASSERT_EQ(::setenv("TRACEA_CUDA_DRIVER", "/nowhere.so", 1), 0);
  EXPECT_THAT(openDevice("cuda").message(), HasSubstr("/nowhere.so"));
  // What the caller says comes first.
  EXPECT_TRUE(open());
  ASSERT_EQ(::unsetenv("TRACEA_CUDA_DRIVER"), 0);
}

TEST_F(CUDADriver, OldDriversAndDevicesAreRefused) {
  fakecuda::Machine machine;
  machine.driverVersion = 11080;
  EXPECT_THAT(errorOfOpen(machine),
              AllOf(HasSubstr("cuda: the CUDA driver is too old"),
                    HasSubstr("supports CUDA 11.8, expected 12.0 or newer")));
  machine = {};
  machine.devices = 0;
  EXPECT_THAT(errorOfOpen(machine),
              AllOf(HasSubstr("cuInit: CUDA_ERROR_NO_DEVICE (100)"),
                    HasSubstr("CUDA_VISIBLE_DEVICES")));
  machine = {};
  machine.capability = 61;
  EXPECT_THAT(errorOfOpen(machine),
              HasSubstr("unsupported device 0, Fake GPU 0: it has compute "
                        "capability 6.1, expected 7.0 or newer"));
  // It is listed all the same.
  Expected<std::vector<CUDADeviceProperties>> devices =
      listCUDADevices(TRACEA_FAKE_CUDA);
  ASSERT_TRUE(devices) << devices.message();
  EXPECT_EQ((*devices)[1].arch(), "sm_61");
  fakecuda::reset();
  EXPECT_THAT(open(2).message(),
              HasSubstr("expected a device number below 2, found 2"));
  EXPECT_THAT(open(-1).message(), HasSubstr("found -1"));
  fakecuda::reset();
  fakecuda::failCall("cuInit", 34);
  EXPECT_THAT(open().message(), HasSubstr("the toolkit's stub"));
}

TEST_F(CUDADriver, OlderDevicesLackWhatTheyLack) {
  fakecuda::Machine machine;
  machine.capability = 86;
  machine.memoryPools = false;
  fakecuda::reset(machine);
  Expected<std::shared_ptr<Device>> device = open();
  ASSERT_TRUE(device) << device.message();
  EXPECT_EQ((*device)->info().arch, "sm_86");
  std::string missing;
  for (const Unsupported &item : (*device)->unsupported())
    missing += item.what + ";";
  EXPECT_EQ(missing, "host memory in place;memory pools;clusters;tensor maps;");
  std::shared_ptr<Module> module = *(*device)->loadModule(gpuPTX());
  KernelConfig config;
  config.gpu.cluster = {2, 1, 1};
  EXPECT_THAT(module->kernel("gpu_shape", config).message(),
              HasSubstr("has no clusters"));
  config = {};
  config.gpu.overlaps = true;
  EXPECT_THAT(module->kernel("gpu_shape", config).message(),
              HasSubstr("starts no kernel before"));
  alignas(64) char map[128];
  TensorMapSpec spec;
  EXPECT_THAT(
      (*device)->encodeTensorMap(spec, nullptr, {1}, {1}, map).message(),
      HasSubstr("tensor map: this device (Fake GPU 0, sm_86)"));
}

//===----------------------------------------------------------------------===//
// Ownership
//===----------------------------------------------------------------------===//

TEST_F(CUDADriver, EverythingIsGivenBack) {
  Status status = useEverything();
  ASSERT_TRUE(status.ok()) << status.message();
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

TEST_F(CUDADriver, EveryCallMayFail) {
  ASSERT_TRUE(useEverything().ok());
  std::vector<std::string> names = fakecuda::calledNames();
  EXPECT_GE(names.size(), 40u);
  std::vector<int64_t> counts;
  for (const std::string &name : names)
    counts.push_back(fakecuda::countCalls(name));
  int64_t failures = 0;
  for (size_t i = 0; i < names.size(); ++i)
    for (int skip = 0; skip < std::min<int64_t>(counts[i], 12); ++skip) {
      const std::string &name = names[i];
      fakecuda::reset();
      fakecuda::failCall(name, 999, skip);
      Status status = useEverything();
      SCOPED_TRACE(name + " after " + std::to_string(skip) + ": " +
                   status.message());
      if (!status.ok()) {
        ++failures;
        EXPECT_THAT(
            status.message(),
            AllOf(HasSubstr(name),
                  HasSubstr("CUDA_ERROR_UNKNOWN (999): unknown error")));
      }
      // Nothing is lost but what a failing release loses.
      fakecuda::Alive alive = fakecuda::alive();
      bool releases = name.find("Free") != std::string::npos ||
                      name.find("Destroy") != std::string::npos ||
                      name.find("Unload") != std::string::npos ||
                      name.find("Release") != std::string::npos ||
                      name.find("Pop") != std::string::npos ||
                      name == "cuCtxSynchronize" ||
                      name.find("Push") != std::string::npos;
      if (releases)
        continue;
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
  EXPECT_GE(failures, 100);
}

// The caller knows of one stream, and may use its memory when that has ended.
TEST_F(CUDADriver, NothingIsUnderWayAfterAFailure) {
  std::shared_ptr<Device> device = *open();
  std::shared_ptr<Executable> executable =
      *Executable::load(branchesProgram({5, 6, 7}), device);
  ExecutionOptions options;
  options.streams = 3;
  std::unique_ptr<Execution> execution =
      std::move(*executable->createExecution("", options));
  std::unique_ptr<Stream> stream = std::move(*device->createStream());
  std::shared_ptr<Buffer> memory = *device->allocate(4 * 64);
  std::vector<int64_t> shape = {1};
  auto at = [&](int64_t offset) {
    return DeviceTensor{nullptr, ElementType::I64, shape,
                        {},      memory.get(),     offset};
  };
  for (int skip = 0; skip < 3; ++skip) {
    fakecuda::failCall("cuLaunchKernelEx", 999, skip);
    EXPECT_THAT(execution->enqueue(*stream, {at(0)}, {at(64), at(128), at(192)})
                    .message(),
                HasSubstr("cuLaunchKernelEx"));
    ASSERT_TRUE(stream->fill(*memory, 0, 4 * 64, 1).ok());
    ASSERT_TRUE(stream->synchronize().ok());
    ASSERT_TRUE(device->waitIdle().ok());
    std::vector<uint8_t> bytes(4 * 64);
    ASSERT_TRUE(stream->copyToHost(bytes.data(), *memory, 0, 4 * 64).ok());
    ASSERT_TRUE(stream->synchronize().ok());
    EXPECT_EQ(bytes, std::vector<uint8_t>(4 * 64, 1)) << "after " << skip;
  }
}

TEST_F(CUDADriver, TheCallersContextStaysCurrent) {
  // Both as in a framework that uses the other device at the moment.
  Expected<std::shared_ptr<Device>> first = open(0), second = open(1);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(fakecuda::alive().stacked, 0);
  std::shared_ptr<Buffer> memory = *(*first)->allocate(100);
  std::shared_ptr<Buffer> other = *(*second)->allocate(10);
  std::unique_ptr<Stream> stream = std::move(*(*second)->createStream());
  EXPECT_TRUE(stream->fill(*other, 0, 10, 1).ok());
  EXPECT_EQ(fakecuda::alive().stacked, 0);
  std::shared_ptr<Module> module = *(*first)->loadModule(gpuPTX());
  EXPECT_THAT(stream->launch(*module->kernel("gpu_empty"), 1, {}).message(),
              HasSubstr("belongs to another device"));
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST_F(CUDADriver, LaunchErrorsNameCallAndKernel) {
  std::shared_ptr<Device> device = *open();
  Expected<std::shared_ptr<Executable>> executable =
      Executable::load(chainProgram({1}, false), device);
  ASSERT_TRUE(executable) << executable.message();
  Tensor v = *Tensor::allocate(ElementType::I64, {1});
  fakecuda::failCall("cuLaunchKernelEx", 1);
  EXPECT_THAT((*executable)->run("main", {v}).message(),
              HasSubstr("cuLaunchKernelEx of 'the_gpu_overlap': "
                        "CUDA_ERROR_INVALID_VALUE (1): invalid argument"));
  // Not a sticky one.
  EXPECT_TRUE((*executable)->run("main", {v}));
  EXPECT_TRUE(device->status().ok());
}

TEST_F(CUDADriver, StickyErrorsLoseTheDevice) {
  for (int result : {700, 702, 710, 714, 715, 716, 717, 718, 719}) {
    fakecuda::reset();
    std::shared_ptr<Device> device = *open();
    std::shared_ptr<Buffer> kept = *device->allocate(64);
    std::unique_ptr<Stream> stream = std::move(*device->createStream());
    std::shared_ptr<Module> module = *device->loadModule(gpuPTX());
    std::shared_ptr<Kernel> kernel = *module->kernel("gpu_empty");
    fakecuda::failKernel(result);
    ASSERT_TRUE(stream->launch(kernel, 1, {}).ok());
    std::string message = stream->synchronize().message();
    EXPECT_THAT(message,
                AllOf(HasSubstr("cuStreamSynchronize of work up to kernel "
                                "'gpu_empty'"),
                      AnyOf(HasSubstr("(" + std::to_string(result) + ")"),
                            HasSubstr("error " + std::to_string(result)))));
    std::string lost = device->status().message();
    EXPECT_THAT(
        lost, AllOf(HasSubstr("device 0 (Fake GPU 0) is lost since " + message),
                    HasSubstr("only a new process")));
    EXPECT_EQ(device->allocate(1).message(), lost);
    EXPECT_EQ(device->createStream().message(), lost);
    EXPECT_EQ(device->loadModule(gpuPTX()).message(), lost);
    EXPECT_EQ(stream->launch(kernel, 1, {}).message(), lost);
    EXPECT_EQ(stream->fill(*kept, 0, 1, 0).message(), lost);
    EXPECT_EQ(stream->synchronize().message(), lost);
    EXPECT_EQ(device->waitIdle().message(), lost);
  }
}

TEST_F(CUDADriver, TheCompilersLogIsInTheMessage) {
  std::shared_ptr<Device> device = *open();
  std::string ptx = ".version 8.0\n.address_size 64\n.entry k() { ret; }\n";
  std::vector<uint8_t> code(ptx.begin(), ptx.end());
  EXPECT_THAT(device->loadModule(code).message(),
              HasSubstr("native code: cuModuleLoadDataEx: "
                        "CUDA_ERROR_INVALID_PTX (218): PTX compilation failed; "
                        "the driver's errors: ptxas fatal : Missing .target "
                        "directive"));
}

TEST_F(CUDADriver, MemoryRunsOutWithNumbers) {
  std::shared_ptr<Device> device = *open();
  EXPECT_THAT(device->allocate(int64_t(1) << 40).message(),
              HasSubstr("out of memory: expected at most the device's "
                        "268435456 bytes, found 1099511627776 bytes"));
  std::shared_ptr<Buffer> most = *device->allocate(int64_t(200) << 20);
  EXPECT_THAT(device->allocate(int64_t(100) << 20).message(),
              AllOf(HasSubstr("out of memory: cuMemAlloc of 104857600 bytes: "
                              "CUDA_ERROR_OUT_OF_MEMORY (2)"),
                    HasSubstr("of 268435456 bytes are free")));
  EXPECT_EQ(fakecuda::countCalls("cuMemPoolTrimTo"), 2);
  most.reset();
  EXPECT_TRUE(device->allocate(int64_t(100) << 20));
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

TEST_F(CUDADriver, RepeatedRunsOnlyLaunch) {
  std::shared_ptr<Device> device = *open();
  std::unique_ptr<Stream> stream = std::move(*device->createStream());
  Expected<std::shared_ptr<Executable>> executable =
      Executable::load(tiledProgram(4, 8, 0, 0), device);
  ASSERT_TRUE(executable) << executable.message();
  std::unique_ptr<Execution> execution =
      std::move(*(*executable)->createExecution());
  std::shared_ptr<Buffer> memory = *device->allocate(4096);
  std::vector<int64_t> shape = {10, 8}, outShape = {4, 8};
  DeviceTensor in{memory->address(), ElementType::F32, shape, {}};
  DeviceTensor out{static_cast<char *>(memory->address()) + 1024,
                   ElementType::F32,
                   outShape,
                   {}};
  ASSERT_TRUE(execution->enqueue(*stream, {in}, {out}).ok());
  std::map<std::string, int64_t> before;
  for (const std::string &name : fakecuda::calledNames())
    before[name] = fakecuda::countCalls(name);
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(execution->enqueue(*stream, {in}, {out}).ok());
  for (const std::string &name : fakecuda::calledNames()) {
    int64_t more = fakecuda::countCalls(name) - before[name];
    bool part = name == "cuLaunchKernelEx" || name == "cuCtxGetCurrent" ||
                name == "cuCtxPushCurrent" || name == "cuCtxPopCurrent";
    EXPECT_EQ(more, part ? 10 : 0) << name;
  }
  // Another Execution of the program takes the map that is there.
  std::unique_ptr<Execution> other =
      std::move(*(*executable)->createExecution());
  ASSERT_TRUE(other->enqueue(*stream, {in}, {out}).ok());
  EXPECT_EQ(fakecuda::countCalls("cuTensorMapEncodeTiled"), 1);
  EXPECT_TRUE(stream->synchronize().ok());
}

/// Runs a kernel of a 4 x 4 x 2 grid once.
static std::vector<fakecuda::LaunchRecord>
launchShape(const std::shared_ptr<Device> &device, const GPUKernelSpec &gpu) {
  ProgramFile program = gpuProgram("gpu_shape", gpu, 1024);
  addGenerator(program, 4 * 32, {4, 4, 2}, {0});
  Expected<std::shared_ptr<Executable>> executable =
      Executable::load(program, device);
  EXPECT_TRUE(executable) << executable.message();
  if (executable)
    EXPECT_TRUE((*executable)->run("", {}));
  return fakecuda::launches();
}

TEST_F(CUDADriver, LaunchesAreAsTheManifestSays) {
  GPUKernelSpec gpu;
  gpu.block = {64, 2, 1};
  gpu.cluster = {2, 2, 1};
  gpu.overlaps = true;
  gpu.indexBits = 32;
  std::vector<fakecuda::LaunchRecord> launches = launchShape(*open(), gpu);
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_EQ(launches[0].kernel, "gpu_shape");
  EXPECT_THAT(launches[0].grid, ::testing::ElementsAre(4, 4, 2));
  EXPECT_THAT(launches[0].block, ::testing::ElementsAre(64, 2, 1));
  EXPECT_THAT(launches[0].cluster, ::testing::ElementsAre(2, 2, 1));
  EXPECT_EQ(launches[0].sharedBytes, 1024u);
  EXPECT_TRUE(launches[0].programmatic);
}

// Tools report every call that fails, also one that is meant to.
TEST_F(CUDADriver, ParametersAreThoseOfTheManifest) {
  std::shared_ptr<Device> device = *open();
  GPUKernelSpec gpu;
  gpu.indexBits = 32;
  ProgramFile program = gpuProgram("gpu_shape", gpu);
  addGenerator(program, 4, {1, 1, 1}, {1});
  Expected<std::shared_ptr<Executable>> executable =
      Executable::load(program, device);
  ASSERT_TRUE(executable) << executable.message();
  EXPECT_EQ(fakecuda::countCalls("cuFuncGetParamInfo"), 2);
  ASSERT_TRUE((*executable)->run("", {}));
  EXPECT_EQ(fakecuda::countCalls("cuFuncGetParamInfo"), 2);
}

TEST_F(CUDADriver, LaunchesOverlapWhereTheyCanBeCaptured) {
  fakecuda::Machine machine;
  machine.driverVersion = 12020;
  fakecuda::reset(machine);
  GPUKernelSpec gpu;
  gpu.block = {64, 2, 1};
  gpu.overlaps = true;
  gpu.indexBits = 32;
  std::vector<fakecuda::LaunchRecord> launches = launchShape(*open(), gpu);
  ASSERT_EQ(launches.size(), 1u);
  EXPECT_FALSE(launches[0].programmatic);
}
