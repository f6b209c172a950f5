//===- run-on-gpu.cpp - Launches a compiled program on device memory ------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   run-on-gpu PROGRAM.tracea [SIZE...]
//
// Runs the only entry of a program for NVIDIA's GPUs on memory of the device.
// SIZE is the extent of every size that the entry leaves open, in order. Links
// only Tracea::Runtime; needs no CUDA toolkit, the driver is found when it
// runs.
//
// A caller that has device pointers and a CUstream of its own gives those: see
// the two places below.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/Executable.h"

#include <cstdio>
#include <cstdlib>

using namespace tracea::runtime;

static int fail(const Status &status) {
  std::fprintf(stderr, "error: %s\n", status.message().c_str());
  return 1;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s PROGRAM.tracea [SIZE...]\n", argv[0]);
    return 1;
  }
  // ProgramFile::parse takes the same bytes from memory.
  Expected<ProgramFile> program = ProgramFile::load(argv[1]);
  if (!program)
    return fail(program.status());
  Expected<std::shared_ptr<Device>> device = openDevice("cuda");
  if (!device)
    return fail(device.status());
  Expected<std::shared_ptr<Executable>> executable =
      Executable::load(std::move(*program), *device);
  if (!executable)
    return fail(executable.status());
  Expected<std::unique_ptr<Execution>> execution =
      (*executable)->createExecution();
  if (!execution)
    return fail(execution.status());
  // A stream of the caller's: (*device)->borrowStream(cuStream).
  Expected<std::unique_ptr<Stream>> stream = (*device)->createStream();
  if (!stream)
    return fail(stream.status());

  // What depends on shapes alone is done once, here: checks, sizes, temporary
  // memory. The shapes of the results are known then.
  const EntrySpec &entry = (*execution)->entry();
  std::vector<std::vector<int64_t>> shapes;
  int next = 2;
  for (const InputSpec &input : entry.inputs) {
    shapes.push_back(input.shape);
    for (int64_t &size : shapes.back())
      if (size == dynamicSize)
        size = next < argc ? std::atoll(argv[next++]) : 1024;
  }
  if (Status status = (*execution)->prepare(shapes); !status.ok())
    return fail(status);

  // Device pointers of the caller's go into DeviceTensor::data as they are.
  std::vector<std::shared_ptr<Buffer>> memory;
  Status allocated;
  auto makeTensor = [&](ElementType type, Span<const int64_t> shape) {
    int64_t bytes = sizeOf(type);
    for (int64_t size : shape)
      bytes *= size;
    Expected<std::shared_ptr<Buffer>> buffer = (*device)->allocate(bytes);
    if (!buffer) {
      allocated = buffer.status();
      return DeviceTensor();
    }
    memory.push_back(*buffer);
    if (Status status = (*stream)->fill(**buffer, 0, bytes, 0); !status.ok())
      allocated = status;
    return DeviceTensor{(*buffer)->address(), type, shape, {}};
  };
  std::vector<DeviceTensor> inputs, outputs;
  for (size_t i = 0; i < shapes.size(); ++i)
    inputs.push_back(makeTensor(entry.inputs[i].type, shapes[i]));
  for (size_t i = 0; i < entry.outputs.size(); ++i)
    outputs.push_back(
        makeTensor(entry.outputs[i].type, (*execution)->outputShape(i)));
  if (!allocated.ok())
    return fail(allocated);

  // Returns when everything is enqueued; nothing is waited for.
  for (int round = 0; round < 3; ++round)
    if (Status status = (*execution)->enqueue(**stream, inputs, outputs);
        !status.ok())
      return fail(status);
  // Tells as well what kernels could not do.
  if (Status status = (*execution)->wait(**stream); !status.ok())
    return fail(status);
  std::printf("ran %s 3 times on %s, %lld launches\n", entry.name.c_str(),
              (*device)->info().name.c_str(),
              static_cast<long long>((*execution)->stats().launches));
  return 0;
}
