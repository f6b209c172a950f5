//===- LaunchLatency.cpp - What a launch costs on the host ----------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An empty kernel is launched by the driver's call alone, by a stream of the
// runtime, and by executions of programs with one step and with many. Times
// are of the host, for one launch, the median of batches that are short enough
// never to fill the device's queue. A graph of many steps is one launch.
//
//===----------------------------------------------------------------------===//

#include "CUDADriver.h"
#include "EmbeddedPTX.h"

#include "tracea/Runtime/CUDA/CUDADevice.h"
#include "tracea/Runtime/Dependencies.h"
#include "tracea/Runtime/Executable.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

using namespace tracea::runtime;
namespace cu = tracea::runtime::cuda;

namespace {
constexpr int batches = 400;
constexpr int launchesPerBatch = 200;

[[noreturn]] void fail(const std::string &message) {
  std::fprintf(stderr, "launch-latency: %s\n", message.c_str());
  std::exit(1);
}
void check(const Status &status) {
  if (!status.ok())
    fail(status.message());
}
template <typename T>
T take(Expected<T> value) {
  if (!value)
    fail(value.message());
  return std::move(*value);
}

struct Row {
  std::string name;
  double median = 0;
  double fastest = 0;
};

/// `once` enqueues `count` launches.
Row measure(const std::string &name, int count, Stream &stream,
            const std::function<void()> &once) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  int calls = std::max(launchesPerBatch / count, 1);
  for (int batch = 0; batch < batches; ++batch) {
    Clock::time_point begin = Clock::now();
    for (int i = 0; i < calls; ++i)
      once();
    double seconds =
        std::chrono::duration<double>(Clock::now() - begin).count();
    times.push_back(seconds / (calls * count));
    check(stream.synchronize());
  }
  // The first ones warm up.
  times.erase(times.begin(), times.begin() + batches / 10);
  std::sort(times.begin(), times.end());
  return {name, times[times.size() / 2], times.front()};
}

/// main(x: f32[?, 64]) -> f32[?, 64] with `steps` launches of a kernel that
/// does nothing, on `maps` tensor maps each.
ProgramFile makeProgram(int steps, bool maps) {
  ProgramFile program;
  Manifest &m = program.manifest;
  m.producer = "launch-latency";
  m.target = {"cuda", "sm_90", "", {}};
  program.addBlob(test::gpuPTX());
  m.images = {{0, 0, ImageKind::PTX, "sm_90", 80}};
  KernelSpec kernel;
  kernel.name = "empty";
  kernel.symbol = maps ? "gpu_tiled_nothing" : "gpu_nothing";
  GPUKernelSpec gpu;
  gpu.indexBits = 32;
  kernel.gpu = gpu;
  m.kernels.push_back(kernel);
  EntrySpec entry;
  entry.name = "main";
  entry.inputs = {{"x", ElementType::F32, {dynamicSize, 64}}};
  ExprBuilder e(entry.exprs);
  std::vector<int64_t> shape = {e.dim(0, 0), e.constant(64)};
  int64_t one = e.constant(1);
  entry.buffers = {BufferSpec::input(0),
                   BufferSpec::temp(e.rowMajorBytes(ElementType::F32, shape))};
  TensorMapSpec map;
  map.box = {64, 64};
  map.elementStrides = {1, 1};
  for (int s = 0; s < steps; ++s) {
    StepSpec step;
    step.tiles = one;
    step.grid = {e.ceilDiv(shape[0], e.constant(128)), one, one};
    for (int b : {0, 1}) {
      ViewSpec view = e.rowMajorView(b, ElementType::F32, shape);
      step.args.push_back(maps ? ArgSpec::fromMap(map, view)
                               : ArgSpec::fromView(view));
    }
    entry.steps.push_back(step);
  }
  entry.outputs = {
      {ElementType::F32, e.rowMajorView(1, ElementType::F32, shape)}};
  assumeDependencies(entry);
  m.entries = {entry};
  return program;
}
} // namespace

int main(int argc, char **argv) {
  CUDADeviceOptions options;
  if (argc > 1)
    options.driverLibrary = argv[1];
  std::shared_ptr<Device> device = take(createCUDADevice(options));
  std::unique_ptr<Stream> stream = take(device->createStream());
  std::vector<Row> rows;

  // The driver alone, in the same context and as the runtime calls it.
  std::shared_ptr<const cu::Driver> driver =
      take(cu::Driver::open(options.driverLibrary));
  const cu::API &api = driver->api;
  auto call = [&](cu::Result result, const char *name) {
    if (result != cu::success)
      fail(driver->error(result, name).message());
  };
  cu::ContextHandle context = nullptr;
  call(api.cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
  call(api.cuCtxPushCurrent(context), "cuCtxPushCurrent");
  cu::StreamHandle raw = nullptr;
  call(api.cuStreamCreate(&raw, cu::streamNonBlocking), "cuStreamCreate");
  std::unique_ptr<Stream> borrowed = take(device->borrowStream(raw));
  std::vector<uint8_t> ptx = test::gpuPTX();
  ptx.push_back(0);
  cu::ModuleHandle module = nullptr;
  call(api.cuModuleLoadDataEx(&module, ptx.data(), 0, nullptr, nullptr),
       "cuModuleLoadDataEx");
  auto driverRow = [&](const std::string &name, const char *symbol,
                       std::vector<void *> parameters) {
    cu::FunctionHandle function = nullptr;
    call(api.cuModuleGetFunction(&function, module, symbol),
         "cuModuleGetFunction");
    cu::LaunchConfig config = {8, 1, 1, 1, 1, 1, 0, raw, nullptr, 0};
    rows.push_back(measure(name, 1, *borrowed, [&] {
      call(api.cuLaunchKernelEx(&config, function, parameters.data(), nullptr),
           "cuLaunchKernelEx");
    }));
  };
  int64_t slots[10] = {};
  alignas(64) char bits[2][128] = {};
  driverRow("driver call, no parameters", "gpu_empty", {});
  std::vector<void *> views, maps = {bits[0], bits[1]};
  for (int64_t &slot : slots)
    views.push_back(&slot);
  driverRow("driver call, two views", "gpu_nothing", views);
  driverRow("driver call, two tensor maps", "gpu_tiled_nothing", maps);

  std::shared_ptr<Module> code = take(device->loadModule(test::gpuPTX()));
  std::shared_ptr<Kernel> kernel = take(code->kernel("gpu_empty"));
  rows.push_back(measure("stream, no parameters", 1, *borrowed,
                         [&] { check(borrowed->launch(kernel, 8, {})); }));

  constexpr int64_t n = 1024;
  std::shared_ptr<Buffer> in = take(device->allocate(n * 64 * 4));
  std::shared_ptr<Buffer> out = take(device->allocate(n * 64 * 4));
  std::vector<int64_t> shape = {n, 64};
  DeviceTensor input{in->address(), ElementType::F32, shape, {}};
  DeviceTensor output{out->address(), ElementType::F32, shape, {}};
  for (bool withMaps : {false, true})
    for (int steps : {1, 10, 100}) {
      std::shared_ptr<Executable> executable =
          take(Executable::load(makeProgram(steps, withMaps), device));
      std::unique_ptr<Execution> execution =
          take(executable->createExecution());
      const DeviceTensor inputs[] = {input}, outputs[] = {output};
      rows.push_back(measure(
          "program of " + std::to_string(steps) +
              (withMaps ? " steps, two tensor maps" : " steps, two views"),
          steps, *borrowed,
          [&] { check(execution->enqueue(*borrowed, inputs, outputs)); }));
      check(borrowed->synchronize());
      // The same run as one graph; the time is that of the whole.
      ExecutionOptions recorded;
      recorded.graph = true;
      execution = take(executable->createExecution("", recorded));
      rows.push_back(measure(
          "graph of " + std::to_string(steps) +
              (withMaps ? " steps, maps, whole" : " steps, views, whole"),
          1, *borrowed,
          [&] { check(execution->enqueue(*borrowed, inputs, outputs)); }));
      if (execution->stats().graphRecordings != 1)
        fail("expected one graph, found " +
             std::to_string(execution->stats().graphRecordings));
      check(borrowed->synchronize());
    }

  std::printf("%s, CUDA %s; host time of one launch\n",
              device->info().name.c_str(),
              cu::describeVersion(driver->version).c_str());
  std::printf("%-38s %10s %10s %12s\n", "", "median ns", "least ns",
              "launches/s");
  for (const Row &row : rows)
    std::printf("%-38s %10.0f %10.0f %12.0f\n", row.name.c_str(),
                row.median * 1e9, row.fastest * 1e9, 1 / row.median);
  borrowed.reset();
  call(api.cuStreamDestroy(raw), "cuStreamDestroy");
  call(api.cuModuleUnload(module), "cuModuleUnload");
  cu::ContextHandle popped = nullptr;
  call(api.cuCtxPopCurrent(&popped), "cuCtxPopCurrent");
  call(api.cuDevicePrimaryCtxRelease(0), "cuDevicePrimaryCtxRelease");
  return 0;
}
