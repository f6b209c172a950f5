//===- NumericsDevice.cpp - Runs on memory of a device --------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NumericsDevice.h"

#include "NumericsCompare.h"
#include "NumericsMemory.h"

#include <algorithm>

using namespace tracea;
using namespace tracea::numerics;

namespace rt = tracea::runtime;

namespace {

/// A tensor in a buffer of its own, with its image on the host.
class DeviceMemory {
public:
  DeviceMemory(Random &random, ElementType type, const Shape &shape)
      : type(type), shape(shape) {
    int64_t element = rt::sizeOf(type);
    offset = guard + (random.chance(0.3) ? element : 0);
    image.assign(offset + countOf(shape) * element + guard, canary);
  }

  rt::Status allocate(rt::Device &device) {
    rt::Expected<std::shared_ptr<rt::Buffer>> made =
        device.allocate(static_cast<int64_t>(image.size()));
    if (made)
      buffer = *made;
    return made.status();
  }
  rt::Status send(rt::Stream &stream) {
    return stream.copyToDevice(*buffer, 0, image.data(),
                               static_cast<int64_t>(image.size()));
  }
  rt::Status fetch(rt::Stream &stream) {
    found.resize(image.size());
    return stream.copyToHost(found.data(), *buffer, 0,
                             static_cast<int64_t>(found.size()));
  }

  uint8_t *elements() { return image.data() + offset; }
  int64_t bytes() const {
    return static_cast<int64_t>(image.size()) - offset - guard;
  }
  const uint8_t *foundElements() const { return found.data() + offset; }
  bool isUnchanged() const { return found == image; }
  bool surroundingsIntact() const {
    auto isCanary = [](uint8_t byte) { return byte == canary; };
    return std::all_of(found.begin(), found.begin() + offset, isCanary) &&
           std::all_of(found.end() - guard, found.end(), isCanary);
  }
  rt::DeviceTensor tensor() const {
    rt::DeviceTensor result;
    result.type = type;
    result.shape = shape;
    result.buffer = buffer.get();
    result.offset = offset;
    return result;
  }

private:
  static constexpr int64_t guard = 1024;
  static constexpr uint8_t canary = 0xA5;

  ElementType type;
  Shape shape;
  int64_t offset;
  std::vector<uint8_t> image, found;
  std::shared_ptr<rt::Buffer> buffer;
};

} // namespace

/// Everything up to the results' bytes on the host.
static rt::Status runThrough(rt::Execution &execution, rt::Device &device,
                             std::vector<DeviceMemory> &inputs,
                             std::vector<DeviceMemory> &outputs) {
  rt::Expected<std::unique_ptr<rt::Stream>> stream = device.createStream();
  if (!stream)
    return stream.status();
  std::vector<rt::DeviceTensor> in, out;
  for (auto *memories : {&inputs, &outputs})
    for (DeviceMemory &memory : *memories) {
      rt::Status status = memory.allocate(device);
      if (status.ok())
        status = memory.send(**stream);
      if (!status.ok())
        return status;
      (memories == &inputs ? in : out).push_back(memory.tensor());
    }
  rt::Status status = execution.enqueue(**stream, {in.data(), in.size()},
                                        {out.data(), out.size()});
  for (auto *memories : {&inputs, &outputs})
    for (DeviceMemory &memory : *memories)
      if (status.ok())
        status = memory.fetch(**stream);
  rt::Status waited = (*stream)->synchronize();
  return status.ok() ? waited : status;
}

std::string numerics::judgeOnDevice(rt::Execution &execution,
                                    rt::Device &device, Random &random,
                                    const Instance &instance,
                                    std::vector<std::vector<uint8_t>> &bits) {
  std::vector<DeviceMemory> inputs, outputs;
  for (const HostTensor &input : instance.inputs) {
    DeviceMemory &memory = inputs.emplace_back(random, input.type, input.shape);
    int64_t element = rt::sizeOf(input.type);
    for (size_t i = 0; i < input.values.size(); ++i)
      encode(input.type, input.values[i],
             memory.elements() + static_cast<int64_t>(i) * element);
  }
  for (const ExpectedTensor &output : instance.outputs) {
    DeviceMemory &memory =
        outputs.emplace_back(random, output.type, output.shape);
    std::fill_n(memory.elements(), memory.bytes(), 0xFF);
  }
  if (rt::Status status = runThrough(execution, device, inputs, outputs);
      !status.ok())
    return "does not run: " + status.message();
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i].isUnchanged())
      return "input " + std::to_string(i) + " or memory around it was changed";
  bits.clear();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ExpectedTensor &expected = instance.outputs[i];
    const uint8_t *elements = outputs[i].foundElements();
    int64_t element = rt::sizeOf(expected.type);
    std::string wrong = compare(expected, [&](const Shape &index) {
      return rt::readAsDouble(expected.type,
                              elements +
                                  linearIndex(expected.shape, index) * element);
    });
    if (!wrong.empty())
      return "output " + std::to_string(i) + " " + wrong;
    if (!outputs[i].surroundingsIntact())
      return "memory around output " + std::to_string(i) + " was changed";
    bits.emplace_back(elements, elements + outputs[i].bytes());
  }
  return "";
}
