//===- Contender.cpp - Programs for other languages' benchmarks -----------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A few functions with C names, through which a benchmark in another language
// launches programs on the device memory and the stream that it shares with
// the peer. Handles are owned by the caller; nothing here is thread-safe.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/CUDA/CUDADevice.h"
#include "tracea/Runtime/Executable.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

using namespace tracea::runtime;

namespace {
std::string lastError;

struct Contender {
  std::shared_ptr<Device> device;
  std::shared_ptr<Executable> executable;
  std::unique_ptr<Execution> execution;
  std::vector<std::vector<int64_t>> shapes;
  std::map<void *, std::unique_ptr<Stream>> streams;
};

bool failed(const Status &status) {
  if (status.ok())
    return false;
  lastError = status.message();
  return true;
}
} // namespace

extern "C" {

/// Why the last call that failed did.
const char *tracea_contender_error() { return lastError.c_str(); }

/// The program at `path`, loaded on device `ordinal`; null where that fails.
/// With `overlap` launches may begin before the one before them has ended, that
/// of another program too.
void *tracea_contender_open(const char *path, int ordinal, int overlap) {
  auto contender = std::make_unique<Contender>();
  // The benchmark's own programs, carried to the machine with the GPU, where
  // their owner may have another number.
  Expected<ProgramFile> program =
      ProgramFile::load(path, TrustPolicy::everything());
  if (failed(program.status()))
    return nullptr;
  for (KernelSpec &kernel : program->manifest.kernels)
    if (overlap && kernel.gpu)
      kernel.gpu->overlaps = true;
  CUDADeviceOptions where;
  where.ordinal = ordinal;
  Expected<std::shared_ptr<Device>> device = createCUDADevice(where);
  if (failed(device.status()))
    return nullptr;
  contender->device = *device;
  Expected<std::shared_ptr<Executable>> executable =
      Executable::load(std::move(*program), *device);
  if (failed(executable.status()))
    return nullptr;
  contender->executable = *executable;
  Expected<std::unique_ptr<Execution>> execution =
      (*executable)->createExecution();
  if (failed(execution.status()))
    return nullptr;
  contender->execution = std::move(*execution);
  return contender.release();
}

void tracea_contender_close(void *handle) {
  delete static_cast<Contender *>(handle);
}

/// Says the extents of all inputs, one after the other; 0 for success.
int tracea_contender_prepare(void *handle, const int64_t *extents) {
  auto &contender = *static_cast<Contender *>(handle);
  contender.shapes.clear();
  for (const InputSpec &input : contender.execution->entry().inputs) {
    contender.shapes.emplace_back(extents, extents + input.shape.size());
    extents += input.shape.size();
  }
  return failed(contender.execution->prepare(contender.shapes)) ? 1 : 0;
}

/// Enqueues a run on pointers to row-major device memory and a CUstream;
/// 0 for success.
int tracea_contender_enqueue(void *handle, void *stream, void *const *inputs,
                             void *const *outputs) {
  auto &contender = *static_cast<Contender *>(handle);
  std::unique_ptr<Stream> &borrowed = contender.streams[stream];
  if (!borrowed) {
    Expected<std::unique_ptr<Stream>> made =
        contender.device->borrowStream(stream);
    if (failed(made.status()))
      return 1;
    borrowed = std::move(*made);
  }
  const EntrySpec &entry = contender.execution->entry();
  std::vector<DeviceTensor> in, out;
  for (size_t i = 0; i < entry.inputs.size(); ++i) {
    const auto &shape = contender.shapes[i];
    // A constant that was given before is nothing but its type. PyTorch has
    // tensors without elements at no address, too.
    bool isGiven = inputs[i] || std::count(shape.begin(), shape.end(), 0);
    in.push_back({inputs[i],
                  entry.inputs[i].type,
                  isGiven ? shape : decltype(DeviceTensor::shape)(),
                  {}});
  }
  for (size_t i = 0; i < entry.outputs.size(); ++i)
    out.push_back({outputs[i],
                   entry.outputs[i].type,
                   contender.execution->outputShape(i),
                   {}});
  return failed(contender.execution->enqueue(*borrowed, in, out)) ? 1 : 0;
}

} // extern "C"
