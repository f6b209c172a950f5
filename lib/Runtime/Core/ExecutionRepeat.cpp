//===- ExecutionRepeat.cpp - Runs that differ in addresses alone ----------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A run takes some microseconds where the data of kernels have gone through
// the caches since the last one: it is code and tables from memory, a line at
// a time. So a run like the last one goes a short way, which looks at what may
// differ and launches.
//
//===----------------------------------------------------------------------===//

#include "ExecutionImpl.h"

#include <algorithm>

namespace tracea::runtime {

bool Execution::Impl::mayRepeat() const {
  if (!program->device->info().hostAccessible || options.graph || records ||
      streamPlan.numStreams > 1)
    return false;
  for (const InputSpec &input : entry->inputs)
    if (input.isScalar)
      return false;
  for (const BufferSpec &buffer : entry->buffers)
    if (buffer.kind == BufferKind::Table)
      return false;
  for (const std::vector<size_t> &zeroed : zeroedBefore)
    if (!zeroed.empty())
      return false;
  for (size_t s = 0; s < steps.size(); ++s) {
    if (isConstantStep[s])
      continue;
    if (!entry->steps[s].isLaunch())
      return false;
    for (const ArgSpec &arg : entry->steps[s].args)
      if (arg.kind == ArgKind::TensorMap)
        return false;
  }
  return true;
}

void Execution::Impl::prepareRepeat() {
  repeated.isReady = false;
  repeated.operands.clear();
  repeated.steps.clear();
  if (!repeated.isPossible || !isLoaded)
    return;
  std::vector<BoundBuffer *> bufferOf(inputs.size(), nullptr);
  for (size_t b = 0; b < buffers.size(); ++b)
    if (entry->buffers[b].kind == BufferKind::Input) {
      BoundBuffer *&buffer =
          bufferOf[static_cast<size_t>(entry->buffers[b].index)];
      // An address would have two places.
      if (buffer)
        return;
      buffer = &buffers[b];
    }
  for (size_t i = 0; i < inputs.size(); ++i) {
    // Of a buffer of the device launches know the buffer.
    if (!entry->inputs[i].isConstant && (staged[i] || inputs[i].buffer))
      return;
    RepeatedRun::Operand operand;
    operand.type = entry->inputs[i].type;
    operand.shape = boundShapes[i];
    operand.bytes = inputs[i].bytes();
    operand.align = inputAlign[i];
    operand.remembered = entry->inputs[i].isConstant ? inputs[i].data : nullptr;
    operand.isConstant = entry->inputs[i].isConstant;
    operand.buffer = bufferOf[i];
    repeated.operands.push_back(std::move(operand));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!inPlace[i] || outputs[i].buffer)
      return;
    size_t b = static_cast<size_t>(outputViews[i].spec->buffer);
    RepeatedRun::Operand operand;
    operand.type = outputViews[i].spec->type;
    operand.shape = outputViews[i].sizes;
    operand.bytes = outputs[i].bytes();
    operand.align = std::max(entry->buffers[b].align, sizeOf(operand.type));
    operand.isOutput = true;
    operand.buffer = &buffers[b];
    repeated.operands.push_back(std::move(operand));
  }
  for (size_t s : streamPlan.order)
    if (!isConstantStep[s] && !steps[s].isEmpty())
      repeated.steps.push_back(s);
  repeated.isReady = true;
}

namespace {

/// What a run is given in an operand's place.
struct Given {
  bool isNull = false;
  /// Whether kernels may read it where it lies, and write it.
  bool isReadable = false, isWritable = false;
  ElementType type = ElementType::F32;
  Span<const int64_t> shape;
  void *data = nullptr;
};

Given see(const Tensor &tensor) {
  bool isReadable = !tensor.isNull() && tensor.isContiguous();
  return {tensor.isNull(), isReadable,     isReadable && !tensor.isReadOnly(),
          tensor.type(),   tensor.shape(), tensor.data()};
}

Given see(const DeviceTensor &tensor) {
  bool isReadable = !tensor.buffer && tensor.data &&
                    (tensor.strides.empty() ||
                     (tensor.strides.size() == tensor.shape.size() &&
                      isRowMajor(tensor.shape, tensor.strides)));
  return {!tensor.buffer && !tensor.data && tensor.shape.empty(),
          isReadable,
          isReadable,
          tensor.type,
          tensor.shape,
          tensor.data};
}

} // namespace

static bool isLike(const RepeatedRun::Operand &operand, const Given &given) {
  if (operand.isConstant)
    return given.isNull;
  return (operand.isOutput ? given.isWritable : given.isReadable) &&
         given.type == operand.type &&
         given.shape.size() == operand.shape.size() &&
         std::equal(operand.shape.begin(), operand.shape.end(),
                    given.shape.begin()) &&
         reinterpret_cast<uintptr_t>(given.data) %
                 static_cast<uintptr_t>(operand.align) ==
             0;
}

template <typename Input, typename Output>
bool Execution::Impl::takeRepeated(Span<const Input> from,
                                   Span<const Output> to) {
  std::vector<RepeatedRun::Operand> &operands = repeated.operands;
  if (!repeated.isReady || from.size() != entry->inputs.size() ||
      from.size() + to.size() != operands.size())
    return false;
  for (size_t i = 0; i < operands.size(); ++i) {
    Given given = i < from.size() ? see(from[i]) : see(to[i - from.size()]);
    if (!isLike(operands[i], given))
      return false;
    operands[i].data =
        operands[i].isConstant ? operands[i].remembered : given.data;
  }
  auto extentOf = [](const RepeatedRun::Operand &operand) {
    const char *base = static_cast<const char *>(operand.data);
    return std::pair(base, base + operand.bytes);
  };
  for (size_t o = from.size(); o < operands.size(); ++o)
    for (size_t i = 0; i < o; ++i)
      if (overlap(extentOf(operands[i]), extentOf(operands[o])))
        return false;
  for (RepeatedRun::Operand &operand : operands)
    if (!operand.isConstant && operand.buffer)
      operand.buffer->caller = {operand.data, operand.bytes};
  return true;
}

bool Execution::Impl::isRepeated(Span<const TensorView> from, Span<Tensor> to) {
  // What was enqueued has to be waited for, and may have failed.
  return !inFlight && takeRepeated<TensorView, Tensor>(from, to);
}

bool Execution::Impl::isRepeated(Span<const DeviceTensor> from,
                                 Span<const DeviceTensor> to) {
  return takeRepeated(from, to);
}

Status Execution::Impl::repeat(Stream &on) {
  for (size_t s : repeated.steps)
    if (Status status = launchStep(s, on); !status.ok())
      return status.withContext(nameOfStep(s));
  ++stats.runs;
  ++stats.repeats;
  return Status::success();
}

} // namespace tracea::runtime
