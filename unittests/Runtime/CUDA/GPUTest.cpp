//===- GPUTest.cpp - What only a grid of blocks has -----------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch shapes, tensor maps, device memory, graphs: over the tests' own
// driver library, and over NVIDIA's where there is a device of capability 9.0.
//
//===----------------------------------------------------------------------===//

#include "FakeCUDA.h"
#include "GPUPrograms.h"

#include "tracea/Runtime/CUDA/CUDADevice.h"

#include <cstring>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

using namespace tracea::runtime;
using namespace tracea::runtime::test;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::HasSubstr;
using ::testing::Le;

namespace {
struct Library {
  std::string name;
  std::string path;
};

/// Entry points that Tracea has no use for.
struct RawCUDA {
  int (*streamCreate)(void **, unsigned);
  int (*streamSynchronize)(void *);
  int (*beginCapture)(void *, int);
  int (*endCapture)(void *, void **);
  int (*instantiate)(void **, void *, unsigned long long);
  int (*launch)(void *, void *);
  int (*retain)(void **, int);
  int (*release)(int);
  int (*push)(void *);
  int (*pop)(void **);

  explicit RawCUDA(const std::string &path) {
    void *library = ::dlopen(path.empty() ? "libcuda.so.1" : path.c_str(),
                             RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library, nullptr);
    auto find = [&](auto &entry, const char *symbol) {
      entry = reinterpret_cast<std::decay_t<decltype(entry)>>(
          ::dlsym(library, symbol));
      EXPECT_NE(entry, nullptr) << symbol;
    };
    find(streamCreate, "cuStreamCreate");
    find(streamSynchronize, "cuStreamSynchronize");
    find(beginCapture, "cuStreamBeginCapture_v2");
    find(endCapture, "cuStreamEndCapture");
    find(instantiate, "cuGraphInstantiateWithFlags");
    find(launch, "cuGraphLaunch");
    find(retain, "cuDevicePrimaryCtxRetain");
    find(release, "cuDevicePrimaryCtxRelease_v2");
    find(push, "cuCtxPushCurrent_v2");
    find(pop, "cuCtxPopCurrent_v2");
  }
};

class GPU : public ::testing::TestWithParam<Library> {
protected:
  void SetUp() override {
    CUDADeviceOptions options;
    options.driverLibrary = GetParam().path;
    Expected<std::shared_ptr<Device>> opened = createCUDADevice(options);
    ASSERT_TRUE(opened) << opened.message();
    device = *opened;
    stream = std::move(*device->createStream());
  }

  std::unique_ptr<Execution> start(ProgramFile program,
                                   const ExecutionOptions &options = {}) {
    Expected<std::shared_ptr<Executable>> executable = load(program);
    EXPECT_TRUE(executable) << executable.message();
    return std::move(*(*executable)->createExecution("", options));
  }
  Expected<std::shared_ptr<Executable>> load(const ProgramFile &program) {
    // Through the text, as a user's program comes.
    Expected<std::vector<uint8_t>> bytes = program.serialize();
    if (!bytes)
      return bytes.status();
    Expected<ProgramFile> parsed = ProgramFile::parse(*bytes);
    if (!parsed)
      return parsed.status();
    return Executable::load(std::move(*parsed), device);
  }
  std::vector<int64_t> generate(ProgramFile program, int64_t n,
                                const Grid &grid,
                                const std::vector<int64_t> &numbers) {
    addGenerator(program, n, grid, numbers);
    std::vector<Tensor> outputs(1);
    Status status = start(program)->run({}, outputs);
    EXPECT_TRUE(status.ok()) << status.message();
    if (!status.ok())
      return {};
    const int64_t *data = outputs[0].dataAs<int64_t>();
    return std::vector<int64_t>(data, data + n);
  }
  template <typename T>
  std::shared_ptr<Buffer> upload(const std::vector<T> &values) {
    int64_t bytes = static_cast<int64_t>(values.size() * sizeof(T));
    std::shared_ptr<Buffer> buffer = *device->allocate(bytes);
    EXPECT_TRUE(stream->copyToDevice(*buffer, 0, values.data(), bytes).ok());
    EXPECT_TRUE(stream->synchronize().ok());
    return buffer;
  }
  template <typename T>
  std::vector<T> download(const Buffer &buffer) {
    std::vector<T> values(static_cast<size_t>(buffer.bytes()) / sizeof(T));
    EXPECT_TRUE(
        stream->copyToHost(values.data(), buffer, 0, buffer.bytes()).ok());
    EXPECT_TRUE(stream->synchronize().ok());
    return values;
  }

  std::shared_ptr<Device> device;
  std::unique_ptr<Stream> stream;
};

std::vector<Library> libraries() {
  std::vector<Library> found;
  if (::access(TRACEA_FAKE_CUDA, R_OK) == 0)
    found.push_back({"Fake", TRACEA_FAKE_CUDA});
  Expected<std::vector<CUDADeviceProperties>> devices = listCUDADevices();
  if (devices && (*devices)[0].tensorMaps)
    found.push_back({"Real", ""});
  return found;
}
} // namespace

INSTANTIATE_TEST_SUITE_P(Libraries, GPU, ::testing::ValuesIn(libraries()),
                         [](const auto &info) { return info.param.name; });

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

TEST_P(GPU, LaunchShapesArrive) {
  GPUKernelSpec gpu;
  gpu.block = {32, 4, 2};
  gpu.cluster = {2, 1, 1};
  gpu.indexBits = 32;
  // More shared memory than a kernel has without asking.
  std::vector<int64_t> out =
      generate(gpuProgram("gpu_shape", gpu, 100000), 4 * 24, {4, 3, 2}, {-7});
  ASSERT_EQ(out.size(), 96u);
  for (size_t block = 0; block < 24; ++block) {
    EXPECT_EQ(out[4 * block], 32 | 4 << 10 | 2 << 20);
    EXPECT_EQ(out[4 * block + 1], static_cast<int64_t>(block % 2) | 2 << 8);
    EXPECT_EQ(out[4 * block + 2], 100000);
    EXPECT_EQ(out[4 * block + 3], -7);
  }
}

TEST_P(GPU, PersistentGridsAreCut) {
  GPUKernelSpec gpu;
  gpu.indexBits = 32;
  gpu.persistent = 2;
  int64_t most = 2 * device->info().parallelism;
  for (int64_t tiles : {int64_t(1), most - 1, most, 5 * most + 3}) {
    ProgramFile program = gpuProgram("gpu_persistent", gpu);
    addGenerator(program, tiles + 1, {tiles, 1, 1}, {tiles});
    std::unique_ptr<Execution> execution = start(program);
    std::shared_ptr<Buffer> out =
        upload(std::vector<int64_t>(static_cast<size_t>(tiles) + 1, 5));
    std::vector<int64_t> shape = {tiles + 1};
    DeviceTensor output{out->address(), ElementType::I64, shape, {}};
    Status status = execution->enqueue(*stream, {}, {output});
    ASSERT_TRUE(status.ok()) << status.message();
    std::vector<int64_t> values = download<int64_t>(*out);
    EXPECT_EQ(values.back(), std::min(tiles, most));
    values.pop_back();
    EXPECT_THAT(values, Each(6));
  }
}

TEST_P(GPU, OverlappingKernelsKeepTheirOrder) {
  for (bool overlaps : {false, true}) {
    std::vector<int64_t> adds(20);
    std::iota(adds.begin(), adds.end(), -3);
    std::unique_ptr<Execution> execution = start(chainProgram(adds, overlaps));
    int64_t expected = 11;
    for (int64_t add : adds)
      expected = 3 * expected + add;
    Tensor v = *Tensor::allocate(ElementType::I64, {1});
    *v.dataAs<int64_t>() = 11;
    std::vector<Tensor> outputs(1);
    Status status = execution->run({v}, outputs);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(*outputs[0].dataAs<int64_t>(), expected);
  }
}

TEST_P(GPU, WhatADeviceCannotLaunchIsRefused) {
  auto error = [&](const GPUKernelSpec &gpu, int64_t workspace, Grid grid) {
    ProgramFile program = gpuProgram("gpu_shape", gpu, workspace);
    addGenerator(program, 4, grid, {1});
    Expected<std::shared_ptr<Executable>> executable = load(program);
    if (!executable)
      return executable.message();
    Expected<std::vector<Tensor>> outputs = (*executable)->run("", {});
    return outputs ? "accepted" : outputs.message();
  };
  GPUKernelSpec good;
  good.indexBits = 32;
  EXPECT_EQ(error(good, 0, {1, 1, 1}), "accepted");
  EXPECT_THAT(error(good, 1 << 20, {1, 1, 1}),
              HasSubstr("kernel 'the_gpu_shape': expected at most"));
  GPUKernelSpec bad = good;
  bad.block = {1, 1, 128};
  EXPECT_THAT(error(bad, 0, {1, 1, 1}),
              HasSubstr("1 to 64 threads along axis 2, found 1 x 1 x 128"));
  bad = good;
  bad.cluster = {4, 1, 1};
  EXPECT_THAT(error(bad, 0, {6, 1, 1}),
              HasSubstr("whole clusters of 4 blocks along x, found 6"));
  EXPECT_THAT(error(good, 0, {1, 70000, 1}),
              HasSubstr("at most 65535 blocks along y, found 70000"));
  bad = good;
  bad.indexBits = 64;
  EXPECT_THAT(error(bad, 0, {1, 1, 1}),
              HasSubstr("entry \"main\", step 0: kernel 'the_gpu_shape': "
                        "parameter 1 of the code has 4 bytes, the program "
                        "passes 8"));
}

TEST_P(GPU, ParametersAreAsManyAsTheCodeTakes) {
  GPUKernelSpec gpu;
  gpu.indexBits = 32;
  ProgramFile program = gpuProgram("gpu_shape", gpu);
  addGenerator(program, 4, {1, 1, 1}, {1, 2});
  EXPECT_THAT(load(program).message(),
              HasSubstr("kernel 'the_gpu_shape': the code takes 2 parameters, "
                        "the program passes 3"));
  program = gpuProgram("gpu_shape", gpu);
  addGenerator(program, 4, {1, 1, 1}, {});
  EXPECT_THAT(load(program).message(),
              HasSubstr("kernel 'the_gpu_shape': the code takes 2 parameters, "
                        "the program passes 1"));
}

TEST_P(GPU, NarrowIndicesMustFit) {
  GPUKernelSpec gpu;
  gpu.indexBits = 32;
  ProgramFile program = gpuProgram("gpu_shape", gpu);
  addGenerator(program, 4, {1, 1, 1}, {int64_t(1) << 31});
  std::vector<Tensor> outputs(1);
  EXPECT_THAT(start(program)->run({}, outputs).message(),
              HasSubstr("argument 1: the kernel computes with 32-bit indices, "
                        "found 2147483648"));
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

// The first column is a multiple of 16 bytes, which the hardware demands.
TEST_P(GPU, BulkCopiesReadTilesAndFillWithZeros) {
  int64_t m = 10, k = 12;
  Tensor x = *Tensor::allocate(ElementType::F32, {m, k});
  std::iota(x.dataAs<float>(), x.dataAs<float>() + m * k, 1.0f);
  for (auto [y0, x0] :
       {std::pair<int64_t, int64_t>{0, 0}, {3, 4}, {8, 8}, {-2, -4}, {20, 0}}) {
    std::vector<Tensor> outputs(1);
    Status status = start(tiledProgram(4, 8, y0, x0))->run({x}, outputs);
    ASSERT_TRUE(status.ok()) << status.message();
    for (int64_t i = 0; i < 4; ++i)
      for (int64_t j = 0; j < 8; ++j) {
        int64_t row = y0 + i, column = x0 + j;
        bool inside = row >= 0 && row < m && column >= 0 && column < k;
        EXPECT_EQ(outputs[0].dataAs<float>()[i * 8 + j],
                  inside ? static_cast<float>(row * k + column + 1) : 0.0f)
            << y0 << " " << x0 << " " << i << " " << j;
      }
  }
}

TEST_P(GPU, BulkCopiesOfEmptyTensorsAreZeros) {
  Tensor x = *Tensor::allocate(ElementType::F32, {0, 12});
  std::vector<Tensor> outputs(1);
  Status status = start(tiledProgram(4, 8, 0, 0))->run({x}, outputs);
  ASSERT_TRUE(status.ok()) << status.message();
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(outputs[0].dataAs<float>()[i], 0.0f);
}

TEST_P(GPU, ShapesThatNoTensorMapTakesAreRefused) {
  Tensor x = *Tensor::allocate(ElementType::F32, {4, 5});
  std::vector<Tensor> outputs(1);
  std::unique_ptr<Execution> execution = start(tiledProgram(4, 8, 0, 0));
  EXPECT_THAT(
      execution->run({x}, outputs).message(),
      HasSubstr("step 0 (kernel \"the_gpu_tiled\"): tensor map: expected the "
                "stride of axis 0 to be a multiple of 16 bytes below 2^40, "
                "found 5 elements of 4 bytes"));
  EXPECT_EQ(execution->stats().launches, 0);
}

/// Images of the convolution notation: N, H, W, C and a window of taps.
TEST_P(GPU, Im2colCopiesWalkOverTheImage) {
  constexpr int64_t n = 2, h = 5, w = 6, c = 8, pad = 1, taps = 3;
  constexpr int64_t pixels = 16, channels = 4;
  GPUKernelSpec gpu;
  gpu.indexBits = 32;
  ProgramFile program = gpuProgram("gpu_im2col", gpu, 4 * pixels * channels);
  EntrySpec entry;
  entry.name = "main";
  entry.inputs = {{"x", ElementType::F32, {n, h, w, c}}};
  // Pixel (n, p, q) is the position of the window's first tap: from -1 to
  // size - 2, and then the tap (r, s) is added.
  constexpr int64_t p0 = 2, q0 = 3, c0 = 4, r = 2, s = 1;
  ExprBuilder e(entry.exprs);
  int64_t count = e.constant(pixels * channels), one = e.constant(1);
  entry.buffers = {BufferSpec::input(0), BufferSpec::temp(e.rowMajorBytes(
                                             ElementType::F32, {count}))};
  TensorMapSpec map;
  map.im2col.emplace();
  map.im2col->lower = {-pad, -pad};
  map.im2col->upper = {pad - (taps - 1), pad - (taps - 1)};
  map.im2col->channelsPerPixel = channels;
  map.im2col->pixelsPerColumn = pixels;
  map.elementStrides = {1, 1, 1, 1};
  std::vector<int64_t> shape = {e.constant(n), e.constant(h), e.constant(w),
                                e.constant(c)};
  StepSpec step;
  step.tiles = one;
  step.grid = {one, one, one};
  step.args = {
      ArgSpec::fromMap(map, e.rowMajorView(0, ElementType::F32, shape)),
      ArgSpec::fromPointer(e.rowMajorView(1, ElementType::F32, {count}))};
  for (int64_t number : {int64_t(0), p0 - pad, q0 - pad, c0, r, s})
    step.args.push_back(ArgSpec::fromIndex(e.constant(number)));
  step.args.push_back(ArgSpec::fromIndex(count));
  entry.steps = {step};
  entry.outputs = {
      {ElementType::F32, e.rowMajorView(1, ElementType::F32, {count})}};
  program.manifest.entries = {entry};

  Tensor x = *Tensor::allocate(ElementType::F32, {n, h, w, c});
  std::iota(x.dataAs<float>(), x.dataAs<float>() + x.numElements(), 1.0f);
  std::vector<Tensor> outputs(1);
  Status status = start(program)->run({x}, outputs);
  ASSERT_TRUE(status.ok()) << status.message();
  int64_t image = 0, p = p0, q = q0;
  for (int64_t i = 0; i < pixels; ++i) {
    for (int64_t j = 0; j < channels; ++j) {
      int64_t row = p - pad + r, column = q - pad + s;
      bool inside = row >= 0 && row < h && column >= 0 && column < w;
      float expected =
          inside ? static_cast<float>(((image * h + row) * w + column) * c +
                                      c0 + j + 1)
                 : 0.0f;
      EXPECT_EQ(outputs[0].dataAs<float>()[i * channels + j], expected)
          << i << " " << j;
    }
    if (++q == w) {
      q = 0;
      if (++p == h) {
        p = 0;
        ++image;
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Device memory
//===----------------------------------------------------------------------===//

TEST_P(GPU, EnqueuesOnDeviceMemory) {
  std::unique_ptr<Execution> execution = start(tiledProgram(4, 8, 1, 0));
  std::vector<float> x(160);
  std::iota(x.begin(), x.end(), 0.0f);
  std::shared_ptr<Buffer> in = upload(x);
  std::shared_ptr<Buffer> out = upload(std::vector<float>(32, -1.0f));
  std::vector<int64_t> shape = {10, 8}, outShape = {4, 8};
  for (int round = 0; round < 3; ++round) {
    // Another address each time: the map follows.
    void *where = static_cast<float *>(in->address()) + 16 * round;
    Status status =
        execution->enqueue(*stream, {{where, ElementType::F32, shape, {}}},
                           {{out->address(), ElementType::F32, outShape, {}}});
    ASSERT_TRUE(status.ok()) << status.message();
    std::vector<float> values = download<float>(*out);
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(values[i],
                static_cast<float>(8 + i) + 16 * static_cast<float>(round));
  }
  EXPECT_EQ(execution->stats().inputCopies, 0);
  EXPECT_EQ(execution->stats().outputCopies, 0);
  // What a map cannot address is copied first.
  void *odd = static_cast<float *>(in->address()) + 3;
  ASSERT_TRUE(execution
                  ->enqueue(*stream, {{odd, ElementType::F32, shape, {}}},
                            {{out->address(), ElementType::F32, outShape, {}}})
                  .ok());
  EXPECT_EQ(download<float>(*out)[0], 11.0f);
  EXPECT_EQ(execution->stats().inputCopies, 1);
}

TEST_P(GPU, EnqueueChecksItsTensors) {
  std::unique_ptr<Execution> execution = start(tiledProgram(4, 8, 0, 0));
  std::shared_ptr<Buffer> memory = *device->allocate(4096);
  std::vector<int64_t> shape = {10, 8}, outShape = {4, 8},
                       huge = {int64_t(1) << 62, 8}, negative = {-1, 8},
                       swapped = {1, 10};
  DeviceTensor in{memory->address(), ElementType::F32, shape, {}};
  DeviceTensor out{static_cast<char *>(memory->address()) + 1024,
                   ElementType::F32,
                   outShape,
                   {}};
  auto error = [&](const std::vector<DeviceTensor> &inputs,
                   const std::vector<DeviceTensor> &outputs) {
    Status status = execution->enqueue(*stream, inputs, outputs);
    return status.ok() ? "accepted" : status.message();
  };
  EXPECT_EQ(error({in}, {out}), "accepted");
  EXPECT_THAT(error({}, {out}), HasSubstr("expected 1 inputs, found 0"));
  EXPECT_THAT(error({in}, {}), HasSubstr("expected 1 outputs, found 0"));
  DeviceTensor bad = in;
  bad.data = nullptr;
  EXPECT_THAT(error({bad}, {out}),
              HasSubstr("input 0 'x': expected device memory, found null"));
  bad = in;
  bad.type = ElementType::I32;
  EXPECT_THAT(error({bad}, {out}), HasSubstr("found i32[10, 8]"));
  for (const std::vector<int64_t> &odd : {huge, negative}) {
    bad = in;
    bad.shape = odd;
    EXPECT_THAT(error({bad}, {out}), HasSubstr("bytes can be counted"));
  }
  bad = in;
  bad.strides = swapped;
  EXPECT_THAT(error({bad}, {out}),
              HasSubstr("expected row-major memory, found f32[10, 8] with "
                        "strides [1, 10]"));
  bad = out;
  bad.shape = shape;
  EXPECT_THAT(error({in}, {bad}),
              HasSubstr("output 0: expected f32[4, 8], found f32[10, 8]"));
  EXPECT_TRUE(stream->synchronize().ok());
}

TEST_P(GPU, PointersAreLookedAt) {
  std::shared_ptr<Buffer> memory = *device->allocate(1 << 22);
  EXPECT_TRUE(device->checkMemory(memory->address(), 1 << 22).ok());
  int host = 0;
  EXPECT_THAT(device->checkMemory(&host, 4).message(),
              HasSubstr("found an address of the host"));
  EXPECT_THAT(
      device->checkMemory(memory->address(), int64_t(1) << 40).message(),
      HasSubstr("up to the end of the allocation"));
}

TEST_P(GPU, OutputsThatAreInputsAreCopiedOnTheDevice) {
  std::unique_ptr<Execution> execution = start(chainProgram({1, 2}, false));
  std::shared_ptr<Buffer> v = upload(std::vector<int64_t>{5, 0});
  std::vector<int64_t> shape = {1};
  DeviceTensor in{v->address(), ElementType::I64, shape, {}};
  // In place of the input, which is therefore copied first.
  Status status = execution->enqueue(*stream, {in}, {in});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(download<int64_t>(*v)[0], (5 * 3 + 1) * 3 + 2);
  EXPECT_EQ(execution->stats().inputCopies, 1);
  EXPECT_EQ(execution->stats().outputCopies, 1);
}

TEST_P(GPU, FailedAssertionsFailTheRun) {
  std::unique_ptr<Execution> execution = start(assertingProgram(1 << 20, 8));
  auto run = [&](int64_t index) {
    Tensor in = *Tensor::borrow(&index, ElementType::I64, {});
    std::vector<Tensor> outputs(1);
    Status status = execution->run({in}, outputs);
    EXPECT_EQ(status.ok(), !outputs[0].isNull());
    return status.ok() ? std::string("ok") : status.message();
  };
  EXPECT_EQ(run(0), "ok");
  // Of four blocks' numbers the greatest is told, each time anew.
  for (int64_t index : {7, 12})
    EXPECT_THAT(run(index),
                AllOf(HasSubstr("main: step 1 (kernel \"the_gpu_asserts\"): "
                                "'tensor.extract' at test.mlir:3:7: expected "
                                "index 0 from 0 to below 8, found "),
                      HasSubstr("found " + std::to_string(index + 3))));
  EXPECT_EQ(run(1), "ok");
  // Of several steps the first one is told.
  execution = start(assertingProgram(2, 1));
  EXPECT_THAT(run(-4), "ok");
  EXPECT_THAT(run(5), AllOf(HasSubstr("step 0"), HasSubstr("below 2")));
}

TEST_P(GPU, FailedAssertionsOfEnqueuedRunsAreToldByTheWait) {
  std::unique_ptr<Execution> execution = start(assertingProgram(1 << 20, 8));
  std::vector<int64_t> shape = {1};
  std::shared_ptr<Buffer> out = upload(std::vector<int64_t>{0});
  DeviceTensor output{out->address(), ElementType::I64, shape, {}};
  auto enqueue = [&](int64_t index) {
    DeviceTensor in{&index, ElementType::I64, {}, {}};
    Status status = execution->enqueue(*stream, {in}, {output});
    EXPECT_TRUE(status.ok()) << status.message();
  };
  EXPECT_TRUE(execution->wait(*stream).ok());
  enqueue(6);
  enqueue(100);
  enqueue(1);
  EXPECT_THAT(execution->wait(*stream).message(),
              AllOf(HasSubstr("main: step 1"), HasSubstr("found 103")));
  EXPECT_TRUE(execution->wait(*stream).ok()) << "told twice";
  enqueue(2);
  EXPECT_TRUE(execution->wait(*stream).ok());
  EXPECT_THAT(download<int64_t>(*out)[0], AllOf(Ge(2), Le(5)));

  // What nobody has waited for is not told of another run.
  enqueue(9);
  int64_t index = 0;
  Tensor in = *Tensor::borrow(&index, ElementType::I64, {});
  std::vector<Tensor> outputs(1);
  EXPECT_THAT(
      execution->run({in}, outputs).message(),
      AllOf(HasSubstr("an earlier run: step 1"), HasSubstr("found 12")));
  EXPECT_TRUE(execution->run({in}, outputs).ok());
}

TEST_P(GPU, ProgramsWithoutAssertionsLookAtNothing) {
  std::unique_ptr<Execution> execution = start(chainProgram({1}, false));
  std::shared_ptr<Buffer> v = upload(std::vector<int64_t>{5, 0});
  std::vector<int64_t> shape = {1};
  DeviceTensor tensor{v->address(), ElementType::I64, shape, {}};
  ASSERT_TRUE(execution->enqueue(*stream, {tensor}, {tensor}).ok());
  int64_t copies = tracea::fakecuda::countCalls("cuMemcpyDtoHAsync");
  EXPECT_TRUE(execution->wait(*stream).ok());
  EXPECT_EQ(tracea::fakecuda::countCalls("cuMemcpyDtoHAsync"), copies);
}

TEST_P(GPU, GraphsReplayWhatWasEnqueued) {
  RawCUDA raw(GetParam().path);
  void *context = nullptr, *native = nullptr, *graph = nullptr,
       *executable = nullptr, *popped = nullptr;
  ASSERT_EQ(raw.retain(&context, 0), 0);
  ASSERT_EQ(raw.push(context), 0);
  ASSERT_EQ(raw.streamCreate(&native, 1), 0);
  Expected<std::unique_ptr<Stream>> borrowed = device->borrowStream(native);
  ASSERT_TRUE(borrowed) << borrowed.message();
  Stream &on = **borrowed;
  std::unique_ptr<Execution> execution = start(chainProgram({7, 1}, true));
  std::vector<int64_t> shape = {1};
  std::shared_ptr<Buffer> v = upload(std::vector<int64_t>{2, 0});
  DeviceTensor tensor{v->address(), ElementType::I64, shape, {}};

  // Without temporary memory there is a message, and the capture goes on.
  ASSERT_EQ(raw.beginCapture(native, 0), 0);
  EXPECT_TRUE(*on.isCapturing());
  EXPECT_THAT(execution->enqueue(on, {tensor}, {tensor}).message(),
              HasSubstr("temporary memory: expected at least 8 bytes before "
                        "the stream is captured, found 0"));
  EXPECT_THAT(on.synchronize().message(),
              HasSubstr("cannot be part of a graph"));
  ASSERT_EQ(raw.endCapture(native, &graph), 0);

  ASSERT_TRUE(execution->enqueue(on, {tensor}, {tensor}).ok());
  ASSERT_TRUE(on.synchronize().ok());
  int64_t expected = (2 * 3 + 7) * 3 + 1;
  EXPECT_EQ(download<int64_t>(*v)[0], expected);
  ASSERT_EQ(raw.beginCapture(native, 0), 0);
  Status status = execution->enqueue(on, {tensor}, {tensor});
  EXPECT_TRUE(status.ok()) << status.message();
  // Another thread of work may allocate meanwhile.
  EXPECT_TRUE(device->allocate(1000));
  ASSERT_EQ(raw.endCapture(native, &graph), 0);
  EXPECT_EQ(download<int64_t>(*v)[0], expected) << "ran while captured";
  ASSERT_EQ(raw.instantiate(&executable, graph, 0), 0);
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(raw.launch(executable, native), 0);
    expected = (expected * 3 + 7) * 3 + 1;
  }
  ASSERT_EQ(raw.streamSynchronize(native), 0);
  EXPECT_EQ(download<int64_t>(*v)[0], expected);
  ASSERT_EQ(raw.pop(&popped), 0);
  EXPECT_EQ(popped, context);
  ASSERT_EQ(raw.release(0), 0);
}

// Side streams join the capture of the one that the run is enqueued on, and
// leave it.
TEST_P(GPU, GraphsTakeSeveralStreams) {
  RawCUDA raw(GetParam().path);
  void *context = nullptr, *native = nullptr, *graph = nullptr,
       *executable = nullptr, *popped = nullptr;
  ASSERT_EQ(raw.retain(&context, 0), 0);
  ASSERT_EQ(raw.push(context), 0);
  ASSERT_EQ(raw.streamCreate(&native, 1), 0);
  std::unique_ptr<Stream> on = std::move(*device->borrowStream(native));
  ExecutionOptions options;
  options.streams = 3;
  Expected<std::shared_ptr<Executable>> loaded =
      Executable::load(branchesProgram({5, 6, 7, 8}), device);
  ASSERT_TRUE(loaded) << loaded.message();
  Expected<std::unique_ptr<Execution>> created =
      (*loaded)->createExecution("", options);
  ASSERT_TRUE(created) << created.message();
  Execution &execution = **created;
  std::vector<int64_t> shape = {1};
  std::shared_ptr<Buffer> v = upload(std::vector<int64_t>{2});
  std::vector<std::shared_ptr<Buffer>> results;
  std::vector<DeviceTensor> outputs;
  for (int i = 0; i < 4; ++i) {
    results.push_back(upload(std::vector<int64_t>{-1}));
    outputs.push_back(
        {nullptr, ElementType::I64, shape, {}, results.back().get(), 0});
  }
  DeviceTensor input{nullptr, ElementType::I64, shape, {}, v.get(), 0};
  auto expectResults = [&](int64_t from) {
    for (int64_t i = 0; i < 4; ++i)
      EXPECT_EQ(download<int64_t>(*results[static_cast<size_t>(i)])[0],
                3 * from + 5 + i);
  };
  Status status = execution.enqueue(*on, {input}, outputs);
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_TRUE(on->synchronize().ok());
  expectResults(2);

  ASSERT_EQ(raw.beginCapture(native, 0), 0);
  status = execution.enqueue(*on, {input}, outputs);
  EXPECT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(raw.endCapture(native, &graph), 0);
  ASSERT_EQ(raw.instantiate(&executable, graph, 0), 0);
  for (int64_t value : {10, 20}) {
    ASSERT_TRUE(stream->copyToDevice(*v, 0, &value, 8).ok());
    ASSERT_TRUE(stream->synchronize().ok());
    ASSERT_EQ(raw.launch(executable, native), 0);
    ASSERT_EQ(raw.streamSynchronize(native), 0);
    expectResults(value);
  }
  // The streams are their own again.
  status = execution.enqueue(*on, {input}, outputs);
  EXPECT_TRUE(status.ok()) << status.message();
  ASSERT_TRUE(on->synchronize().ok());
  expectResults(20);
  ASSERT_EQ(raw.pop(&popped), 0);
  ASSERT_EQ(raw.release(0), 0);
}

TEST_P(GPU, PreparedShapesNeedNoFirstRun) {
  RawCUDA raw(GetParam().path);
  void *graph = nullptr, *native = nullptr, *context = nullptr,
       *popped = nullptr;
  ASSERT_EQ(raw.retain(&context, 0), 0);
  ASSERT_EQ(raw.push(context), 0);
  ASSERT_EQ(raw.streamCreate(&native, 1), 0);
  std::unique_ptr<Stream> on = std::move(*device->borrowStream(native));
  std::unique_ptr<Execution> execution = start(tiledProgram(4, 8, 0, 0));
  EXPECT_TRUE(execution->outputShape(0).empty());
  EXPECT_THAT(execution->prepare({std::vector<int64_t>{3}}).message(),
              HasSubstr("has rank 1 instead of 2"));
  Status status = execution->prepare({std::vector<int64_t>{10, 8}});
  ASSERT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(execution->outputShape(0).size(), 2u);
  EXPECT_EQ(execution->outputShape(0)[1], 8);
  std::shared_ptr<Buffer> in = upload(std::vector<float>(80, 3.0f));
  std::shared_ptr<Buffer> out = *device->allocate(128);
  std::vector<int64_t> shape = {10, 8}, outShape = {4, 8};
  ASSERT_EQ(raw.beginCapture(native, 0), 0);
  status =
      execution->enqueue(*on, {{in->address(), ElementType::F32, shape, {}}},
                         {{out->address(), ElementType::F32, outShape, {}}});
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(raw.endCapture(native, &graph), 0);
  ASSERT_EQ(raw.pop(&popped), 0);
  ASSERT_EQ(raw.release(0), 0);
}

TEST_P(GPU, PreparedTablesAreThereForGraphs) {
  GPUKernelSpec gpu;
  ProgramFile program = gpuProgram("gpu_overlap", gpu);
  EntrySpec entry;
  entry.name = "main";
  entry.inputs = {{"n", ElementType::I64, {}, true}};
  ExprBuilder e(entry.exprs);
  entry.buffers = {
      BufferSpec::table(ElementType::I64,
                        {{false, e.mul(e.value(0), e.constant(2))}}),
      BufferSpec::temp(e.constant(8))};
  std::vector<int64_t> one = {e.constant(1)};
  ViewSpec result = e.rowMajorView(1, ElementType::I64, one);
  entry.steps = {
      StepSpec::copy(e.rowMajorView(0, ElementType::I64, one), result)};
  entry.outputs = {{ElementType::I64, result}};
  program.manifest.entries = {entry};
  std::unique_ptr<Execution> execution = start(program);
  Status status =
      execution->prepare({std::vector<int64_t>{}}, std::vector<int64_t>{21});
  ASSERT_TRUE(status.ok()) << status.message();

  RawCUDA raw(GetParam().path);
  void *graph = nullptr, *native = nullptr, *context = nullptr,
       *popped = nullptr, *executable = nullptr;
  ASSERT_EQ(raw.retain(&context, 0), 0);
  ASSERT_EQ(raw.push(context), 0);
  ASSERT_EQ(raw.streamCreate(&native, 1), 0);
  std::unique_ptr<Stream> on = std::move(*device->borrowStream(native));
  std::shared_ptr<Buffer> out = upload(std::vector<int64_t>{-1});
  std::vector<int64_t> shape = {1};
  int64_t n = 21;
  ASSERT_EQ(raw.beginCapture(native, 0), 0);
  status = execution->enqueue(
      *on, {{&n, ElementType::I64, {}, {}}},
      {{nullptr, ElementType::I64, shape, {}, out.get(), 0}});
  EXPECT_TRUE(status.ok()) << status.message();
  ASSERT_EQ(raw.endCapture(native, &graph), 0);
  ASSERT_EQ(raw.instantiate(&executable, graph, 0), 0);
  ASSERT_EQ(raw.launch(executable, native), 0);
  ASSERT_EQ(raw.streamSynchronize(native), 0);
  EXPECT_EQ(download<int64_t>(*out)[0], 42);
  ASSERT_EQ(raw.pop(&popped), 0);
  ASSERT_EQ(raw.release(0), 0);
}

TEST_P(GPU, RunsThatComeAgainAreLaunchedAsGraphs) {
  for (int streams : {1, 3}) {
    Expected<std::shared_ptr<Executable>> executable =
        Executable::load(branchesProgram({5, 7}), device);
    ASSERT_TRUE(executable) << executable.message();
    ExecutionOptions options;
    options.graph = true;
    options.streams = streams;
    std::unique_ptr<Execution> execution =
        std::move(*(*executable)->createExecution("", options));
    std::shared_ptr<Buffer> memory = upload(std::vector<int64_t>(512));
    std::vector<int64_t> shape = {1};
    auto at = [&](int64_t place) {
      return DeviceTensor{nullptr, ElementType::I64, shape,
                          {},      memory.get(),     64 * place};
    };
    // Six sets of memory, three times each: the last two take the places of
    // graphs that are there.
    for (int64_t place : {0, 4, 8, 12, 16, 20})
      for (int64_t value : {1, 2, 3}) {
        value += place;
        ASSERT_TRUE(stream->copyToDevice(*memory, 64 * place, &value, 8).ok());
        Status status = execution->enqueue(*stream, {at(place)},
                                           {at(place + 1), at(place + 2)});
        ASSERT_TRUE(status.ok()) << status.message();
        std::vector<int64_t> found = download<int64_t>(*memory);
        size_t first = static_cast<size_t>(8 * place);
        EXPECT_EQ(found[first + 8], 3 * value + 5);
        EXPECT_EQ(found[first + 16], 3 * value + 7);
      }
    EXPECT_EQ(execution->stats().graphRecordings, 6);
    EXPECT_EQ(execution->stats().graphLaunches, 12);
  }
}

TEST_P(GPU, LargeCopiesGoThroughPinnedMemory) {
  std::vector<uint32_t> values((13 << 20) / 4 + 5);
  std::iota(values.begin(), values.end(), 1u);
  std::shared_ptr<Buffer> buffer = upload(values);
  EXPECT_EQ(download<uint32_t>(*buffer), values);
}

// Ends the process's use of the device: only where it is asked for.
TEST_P(GPU, LostDevicesSaySo) {
  if (GetParam().name == "Real" && !std::getenv("TRACEA_TEST_LOST_DEVICE"))
    GTEST_SKIP() << "set TRACEA_TEST_LOST_DEVICE and run this test alone";
  if (GetParam().name == "Fake")
    GTEST_SKIP() << "DriverTest has this with all sticky errors";
  ProgramFile program = gpuProgram("gpu_trap");
  std::shared_ptr<Module> module = *device->loadModule(gpuPTX());
  std::shared_ptr<Kernel> kernel = *module->kernel("gpu_trap");
  ASSERT_TRUE(stream->launch(kernel, 1, {}).ok());
  Status status = stream->synchronize();
  EXPECT_THAT(status.message(),
              HasSubstr("cuStreamSynchronize of work up to kernel 'gpu_trap': "
                        "CUDA_ERROR_"));
  EXPECT_THAT(device->status().message(), HasSubstr("is lost since"));
  EXPECT_THAT(device->allocate(10).message(), HasSubstr("is lost since"));
}
