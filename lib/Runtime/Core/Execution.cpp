//===- Execution.cpp - Runs entries ---------------------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A run goes through phases, each of which either finishes or leaves all
// memory as it was: inputs are checked, expressions evaluated, outputs bound,
// views checked against their buffers, memory planned. Only then are kernels
// launched.
//
//===----------------------------------------------------------------------===//

#include "ExecutionImpl.h"

#include <chrono>
#include <exception>

namespace tracea::runtime {

using Clock = std::chrono::steady_clock;

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

Status Execution::Impl::patch(BoundStep &step) {
  for (size_t i = 0; i < step.bufferPatches.size(); ++i) {
    const BoundStep::BufferPatch &patch = step.bufferPatches[i];
    BoundBuffer &buffer = buffers[patch.buffer];
    step.buffers[i].buffer = &buffer.memory();
    step.buffers[i].offset = buffer.offset + patch.offset;
  }
  for (const BoundStep::ValuePatch &patch : step.valuePatches)
    step.slots[patch.slot] = inputs[patch.input].scalar;
  for (size_t i = 0; i < step.mapPatches.size(); ++i) {
    BoundStep::MapPatch &patch = step.mapPatches[i];
    char *address =
        buffers[static_cast<size_t>(patch.arg->view.buffer)].address() +
        patch.view->byteOffset();
    if (address == patch.madeFor && address)
      continue;
    TRACEA_RETURN_IF_ERROR(program->tensorMaps.get(
        *program->device, patch.arg->map, address, patch.view->sizes,
        patch.view->strides, step.maps[i]));
    patch.madeFor = address;
  }
  return Status::success();
}

Status Execution::Impl::launchStep(size_t s, Stream &on) {
  BoundStep &step = steps[s];
  if (step.isEmpty())
    return Status::success();
  size_t k = static_cast<size_t>(entry->steps[s].kernel);
  Clock::time_point begin;
  if (options.profile)
    begin = Clock::now();
  LaunchArguments arguments = {step.slots, step.buffers, step.parameters};
  Status status = program->device->info().hasGrid
                      ? on.launch(program->kernels[k], step.grid, arguments)
                      : on.launch(program->kernels[k], step.tiles, arguments);
  if (options.profile && status.ok()) {
    status = on.synchronize();
    KernelTime &time = stats.kernelTimes[k];
    ++time.launches;
    time.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
  }
  if (!status.ok())
    return status;
  ++stats.launches;
  stats.tiles += step.tiles;
  return Status::success();
}

/// A fill or a copy.
Status Execution::Impl::runMove(size_t s, Stream &on) {
  const BoundView &from = steps[s].views.front(), &to = steps[s].views.back();
  if (to.isEmpty())
    return Status::success();
  int64_t size = sizeOf(to.spec->type);
  int64_t begin = to.low * size, bytes = (to.high - to.low) * size;
  BoundBuffer &target = buffers[static_cast<size_t>(to.spec->buffer)];
  if (entry->steps[s].kind == StepKind::Fill)
    return on.fill(target.memory(), target.offset + begin, bytes,
                   static_cast<uint8_t>(entry->steps[s].value));
  BoundBuffer &source = buffers[static_cast<size_t>(from.spec->buffer)];
  return on.copy(target.memory(), target.offset + begin, source.memory(),
                 source.offset + from.low * size, bytes);
}

/// The buffers that begin with zeros and are first used by step `s`.
Status Execution::Impl::zero(size_t s, Stream &on) {
  for (size_t b : zeroedBefore[s]) {
    BoundBuffer &buffer = buffers[b];
    if (buffer.bytes > 0)
      TRACEA_RETURN_IF_ERROR(
          on.fill(buffer.memory(), buffer.offset, buffer.bytes, 0)
              .withContext("buffer " + std::to_string(b)));
  }
  return Status::success();
}

Status Execution::Impl::launchSteps(Stream &on, bool onlyConstant) {
  auto isLeftOut = [&](size_t s) {
    return isConstantStep[s] ? !isLoading : onlyConstant;
  };
  // Descriptors first: what they refuse is refused before anything runs.
  for (size_t s = 0; s < steps.size(); ++s)
    if (entry->steps[s].isLaunch() && !steps[s].isEmpty() && !isLeftOut(s))
      if (Status status = patch(steps[s]); !status.ok())
        return status.withContext(nameOfStep(s));
  if (beginning)
    TRACEA_RETURN_IF_ERROR(on.record(*beginning));
  std::vector<char> hasBegun(sideStreams.size(), false);
  for (size_t s : streamPlan.order) {
    const StreamPlan::Step &place = streamPlan.steps[s];
    Stream *stream = &on;
    if (place.stream > 0) {
      size_t side = static_cast<size_t>(place.stream) - 1;
      stream = sideStreams[side].get();
      if (!hasBegun[side])
        TRACEA_RETURN_IF_ERROR(stream->wait(*beginning));
      hasBegun[side] = true;
    }
    for (int64_t other : place.waits)
      TRACEA_RETURN_IF_ERROR(
          stream->wait(*stepEvents[static_cast<size_t>(other)]));
    if (!isLeftOut(s)) {
      TRACEA_RETURN_IF_ERROR(zero(s, *stream));
      Status status = entry->steps[s].isLaunch() ? launchStep(s, *stream)
                                                 : runMove(s, *stream);
      if (!status.ok())
        return status.withContext(nameOfStep(s));
    }
    if (place.isAwaited)
      TRACEA_RETURN_IF_ERROR(stream->record(*stepEvents[s]));
  }
  for (int64_t last : streamPlan.finalWaits)
    TRACEA_RETURN_IF_ERROR(on.wait(*stepEvents[static_cast<size_t>(last)]));
  if (!onlyConstant)
    TRACEA_RETURN_IF_ERROR(zero(steps.size(), on));
  isLoaded = true;
  return Status::success();
}

Status Execution::Impl::synchronize(Stream &on) {
  Status status = on.synchronize();
  for (const std::unique_ptr<Stream> &side : sideStreams)
    if (Status other = side->synchronize(); status.ok())
      status = other;
  return status;
}

//===----------------------------------------------------------------------===//
// Host memory
//===----------------------------------------------------------------------===//

Status Execution::Impl::stageInput(const Tensor &input, BoundBuffer &buffer,
                                   Stream &on) {
  ++stats.inputCopies;
  stats.copiedBytes += buffer.bytes;
  if (program->device->info().hostAccessible) {
    copyStrided(input.dataAs<const char>(), input.strides(), buffer.address(),
                rowMajorStrides(input.shape()), input.shape(),
                sizeOf(input.type()));
    return Status::success();
  }
  Tensor contiguous = input;
  if (!input.isContiguous()) {
    Expected<Tensor> copy = input.clone();
    if (!copy)
      return copy.status();
    contiguous = std::move(*copy);
  }
  TRACEA_RETURN_IF_ERROR(on.copyToDevice(buffer.memory(), buffer.offset,
                                         contiguous.data(), buffer.bytes));
  // A copy made here must outlive the transfer.
  return contiguous.data() != input.data() ? on.synchronize()
                                           : Status::success();
}

Status Execution::Impl::stageInputs(Span<const TensorView> tensors) {
  for (size_t b = 0; b < buffers.size(); ++b) {
    const BufferSpec &spec = entry->buffers[b];
    if (spec.kind != BufferKind::Input || !buffers[b].inArena ||
        buffers[b].bytes == 0)
      continue;
    TRACEA_RETURN_IF_ERROR(stageInput(tensors[static_cast<size_t>(spec.index)],
                                      buffers[b], *stream));
  }
  return Status::success();
}

/// From where the kernels left it to the caller's memory.
Status Execution::Impl::copyOutput(const BoundView &view,
                                   const Tensor &output) {
  BoundBuffer &buffer = buffers[static_cast<size_t>(view.spec->buffer)];
  int64_t elementSize = sizeOf(view.spec->type);
  ++stats.outputCopies;
  stats.copiedBytes += output.byteSize();
  if (program->device->info().hostAccessible) {
    copyStrided(buffer.address() + view.offset * elementSize, view.strides,
                output.dataAs<char>(), output.strides(), view.sizes,
                elementSize);
    return Status::success();
  }
  // The range that the view touches, as it is, and its elements from there.
  int64_t begin = buffer.offset + view.low * elementSize;
  int64_t bytes = (view.high - view.low) * elementSize;
  if (view.isRowMajor() && output.isContiguous()) {
    TRACEA_RETURN_IF_ERROR(
        stream->copyToHost(output.data(), buffer.memory(), begin, bytes));
    return stream->synchronize();
  }
  Expected<std::shared_ptr<void>> landing = allocateAligned(bytes);
  if (!landing)
    return landing.status();
  TRACEA_RETURN_IF_ERROR(
      stream->copyToHost(landing->get(), buffer.memory(), begin, bytes));
  TRACEA_RETURN_IF_ERROR(stream->synchronize());
  copyStrided(static_cast<const char *>(landing->get()) +
                  (view.offset - view.low) * elementSize,
              view.strides, output.dataAs<char>(), output.strides(), view.sizes,
              elementSize);
  return Status::success();
}

Status Execution::Impl::copyOutputs(Span<Tensor> tensors) {
  for (size_t i = 0; i < tensors.size(); ++i)
    if (!inPlace[i] && !outputViews[i].isEmpty())
      TRACEA_RETURN_IF_ERROR(copyOutput(outputViews[i], tensors[i])
                                 .withContext("output " + std::to_string(i)));
  return stream->synchronize();
}

Status Execution::Impl::run(Span<const TensorView> from, Span<Tensor> to) {
  repeated.isReady = false;
  inputs.clear();
  for (const Tensor &tensor : from)
    inputs.push_back(Operand::of(tensor));
  TRACEA_RETURN_IF_ERROR(takeConstants());
  TRACEA_RETURN_IF_ERROR(readScalars());
  outputs.clear();
  for (const Tensor &tensor : to)
    outputs.push_back(Operand::of(tensor));
  TRACEA_RETURN_IF_ERROR(bind());
  TRACEA_RETURN_IF_ERROR(checkOutputs());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].isNull)
      continue;
    Expected<Tensor> created =
        Tensor::allocate(entry->outputs[i].type, outputViews[i].sizes);
    if (!created)
      return created.status().withContext("output " + std::to_string(i));
    to[i] = std::move(*created);
    outputs[i] = Operand::of(to[i]);
  }
  TRACEA_RETURN_IF_ERROR(checkConstants());
  TRACEA_RETURN_IF_ERROR(settle());
  if (hasUnread)
    TRACEA_RETURN_IF_ERROR(waitFor(*stream).withContext("an earlier run"));
  keepConstants(from);
  choosePlaces(/*onDevice=*/false);
  TRACEA_RETURN_IF_ERROR(place(*stream));
  TRACEA_RETURN_IF_ERROR(load(*stream));
  TRACEA_RETURN_IF_ERROR(stageInputs(from));
  TRACEA_RETURN_IF_ERROR(writeTables(*stream));
  TRACEA_RETURN_IF_ERROR(enqueueWork(*stream, /*onDevice=*/false));
  TRACEA_RETURN_IF_ERROR(fetchRecords(*stream));
  TRACEA_RETURN_IF_ERROR(copyOutputs(to));
  oldTables.clear();
  TRACEA_RETURN_IF_ERROR(checkRecords(*stream));
  ++stats.runs;
  prepareRepeat();
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Device memory
//===----------------------------------------------------------------------===//

Status Execution::Impl::stageOnDevice(const Operand &input, BoundBuffer &buffer,
                                      Stream &on) {
  ++stats.inputCopies;
  stats.copiedBytes += buffer.bytes;
  BorrowedBuffer caller(input.data, buffer.bytes);
  return on.copy(buffer.memory(), buffer.offset,
                 input.buffer ? *input.buffer : caller, input.offset,
                 buffer.bytes);
}

Status Execution::Impl::stageOnDevice(Stream &on) {
  for (size_t b = 0; b < buffers.size(); ++b) {
    const BufferSpec &spec = entry->buffers[b];
    if (spec.kind != BufferKind::Input || !buffers[b].inArena ||
        buffers[b].bytes == 0)
      continue;
    TRACEA_RETURN_IF_ERROR(
        stageOnDevice(inputs[static_cast<size_t>(spec.index)], buffers[b], on));
  }
  return Status::success();
}

/// Whether outputs that are not written in place are one piece.
Status Execution::Impl::checkCopiesOnDevice() const {
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!inPlace[i] && !outputViews[i].isRowMajor() &&
        !program->device->info().hostAccessible)
      return Status::invalid("output " + std::to_string(i) +
                             " lies strided in the program's memory; only runs "
                             "to host memory copy such elements");
  return Status::success();
}

Status Execution::Impl::copyOnDevice(Stream &on) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const BoundView &view = outputViews[i];
    if (inPlace[i] || view.isEmpty())
      continue;
    BoundBuffer &buffer = buffers[static_cast<size_t>(view.spec->buffer)];
    int64_t elementSize = sizeOf(view.spec->type);
    int64_t bytes = outputs[i].bytes();
    ++stats.outputCopies;
    stats.copiedBytes += bytes;
    if (!view.isRowMajor()) {
      TRACEA_RETURN_IF_ERROR(on.synchronize());
      copyStrided(buffer.address() + view.offset * elementSize, view.strides,
                  static_cast<char *>(outputs[i].data),
                  rowMajorStrides(view.sizes), view.sizes, elementSize);
      continue;
    }
    BorrowedBuffer caller(outputs[i].data, bytes);
    TRACEA_RETURN_IF_ERROR(
        on.copy(outputs[i].buffer ? *outputs[i].buffer : caller,
                outputs[i].offset, buffer.memory(),
                buffer.offset + view.low * elementSize, bytes)
            .withContext("output " + std::to_string(i)));
  }
  return Status::success();
}

/// What a tensor in device memory must be in any case.
static Status checkDeviceTensor(const Operand &tensor) {
  std::optional<int64_t> count = countElements(tensor.shape);
  int64_t bytes = 0;
  if (!count || __builtin_mul_overflow(*count, sizeOf(tensor.type), &bytes))
    return Status::invalid(
        "expected a shape whose bytes can be counted, found " +
        tensor.describe());
  if (!tensor.strides.empty() &&
      (tensor.strides.size() != tensor.shape.size() || !tensor.isContiguous()))
    return Status::invalid("expected row-major memory, found " +
                           tensor.describe() + " with strides " +
                           describeShape(tensor.strides));
  if (bytes > 0 && !tensor.data)
    return Status::invalid("expected device memory, found null");
  if (const Buffer *buffer = tensor.buffer;
      buffer && (tensor.offset < 0 || tensor.offset > buffer->bytes() ||
                 bytes > buffer->bytes() - tensor.offset))
    return Status::invalid("expected a part of a buffer of " +
                           std::to_string(buffer->bytes()) + " bytes, found " +
                           std::to_string(bytes) + " bytes at " +
                           std::to_string(tensor.offset));
  return Status::success();
}

Status Execution::Impl::enqueueDirectly(Stream &on, bool onDevice) {
  if (onDevice)
    TRACEA_RETURN_IF_ERROR(stageOnDevice(on));
  TRACEA_RETURN_IF_ERROR(launchSteps(on));
  return onDevice ? copyOnDevice(on) : Status::success();
}

Status Execution::Impl::enqueue(Stream &on, Span<const DeviceTensor> from,
                                Span<const DeviceTensor> to) {
  repeated.isReady = false;
  auto take = [](std::vector<Operand> &operands,
                 Span<const DeviceTensor> tensors) {
    operands.clear();
    for (const DeviceTensor &tensor : tensors) {
      Operand &operand = operands.emplace_back();
      static_cast<DeviceTensor &>(operand) = tensor;
      if (tensor.buffer)
        operand.data =
            static_cast<char *>(tensor.buffer->address()) + tensor.offset;
      else
        operand.offset = 0;
    }
  };
  take(inputs, from);
  for (size_t i = 0; i < inputs.size() && i < entry->inputs.size(); ++i)
    inputs[i].isNull = entry->inputs[i].isConstant && !inputs[i].data &&
                       !inputs[i].buffer && inputs[i].shape.empty();
  TRACEA_RETURN_IF_ERROR(takeConstants());
  take(outputs, to);
  for (size_t i = 0; i < inputs.size() && i < entry->inputs.size(); ++i)
    if (Status status = checkDeviceTensor(inputs[i]); !status.ok())
      return status.withContext(nameOfInput(i));
  for (size_t i = 0; i < outputs.size(); ++i)
    if (Status status = checkDeviceTensor(outputs[i]); !status.ok())
      return status.withContext("output " + std::to_string(i));
  TRACEA_RETURN_IF_ERROR(readScalars());
  TRACEA_RETURN_IF_ERROR(bind());
  TRACEA_RETURN_IF_ERROR(checkOutputs());
  TRACEA_RETURN_IF_ERROR(checkConstants());
  keepConstants({});
  choosePlaces(/*onDevice=*/true);
  TRACEA_RETURN_IF_ERROR(checkCopiesOnDevice());
  TRACEA_RETURN_IF_ERROR(place(on));
  inFlight = true;
  hasUnread = records != nullptr;
  TRACEA_RETURN_IF_ERROR(load(on));
  TRACEA_RETURN_IF_ERROR(writeTables(on));
  TRACEA_RETURN_IF_ERROR(enqueueWork(on, /*onDevice=*/true));
  ++stats.runs;
  prepareRepeat();
  return Status::success();
}

Status Execution::Impl::prepareShapes(Span<const std::vector<int64_t>> shapes,
                                      Span<const int64_t> scalars) {
  inputs.clear();
  for (size_t i = 0; i < shapes.size(); ++i) {
    Operand &input = inputs.emplace_back();
    input.shape = shapes[i];
    if (i < entry->inputs.size()) {
      input.type = entry->inputs[i].type;
      if (constants[i].isGiven && constants[i].shape == shapes[i])
        input = constants[i].operand;
    }
    // The memory is not looked at.
    std::optional<int64_t> count = countElements(input.shape);
    if (!count)
      return Status::invalid(
          "input " + std::to_string(i) +
          ": expected a shape whose elements can be counted, "
          "found " +
          describeShape(input.shape));
    if (i >= entry->inputs.size() || !isNumber(i))
      continue;
    if (i >= scalars.size())
      return Status::invalid(nameOfInput(i) +
                             ": expected its number beside the shapes");
    input.scalar = scalars[i];
  }
  TRACEA_RETURN_IF_ERROR(bind());
  outputs.assign(outputViews.size(), Operand());
  for (size_t i = 0; i < outputs.size(); ++i) {
    outputs[i].type = entry->outputs[i].type;
    outputs[i].shape = outputViews[i].sizes;
  }
  choosePlaces(/*onDevice=*/true);
  TRACEA_RETURN_IF_ERROR(place(*stream));
  TRACEA_RETURN_IF_ERROR(writeTables(*stream, /*isPrepared=*/true));
  return loadBeforehand(*stream);
}

//===----------------------------------------------------------------------===//
// The public class
//===----------------------------------------------------------------------===//

Execution::Execution(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Execution::~Execution() = default;
const EntrySpec &Execution::entry() const { return *impl->entry; }
const RunStats &Execution::stats() const { return impl->stats; }

Span<const int64_t> Execution::outputShape(size_t output) const {
  if (!impl->bound || output >= impl->outputViews.size())
    return {};
  return impl->outputViews[output].sizes;
}

void Execution::resetStats() {
  RunStats fresh;
  fresh.arenaBytes = impl->stats.arenaBytes;
  fresh.kernelTimes = impl->stats.kernelTimes;
  for (KernelTime &time : fresh.kernelTimes) {
    time.launches = 0;
    time.seconds = 0;
  }
  impl->stats = std::move(fresh);
}

Status Execution::run(Span<const TensorView> inputs, Span<Tensor> outputs) {
  // Outputs that the run allocates are handed over only when it succeeds.
  try {
    std::vector<Tensor> bound;
    Status status;
    if (impl->isRepeated(inputs, outputs)) {
      status = impl->repeat(*impl->stream);
      if (status.ok())
        status = impl->stream->synchronize();
    } else {
      bound.assign(outputs.begin(), outputs.end());
      status = impl->run(inputs, bound);
    }
    if (!status.ok()) {
      // Work that was enqueued before the failure may still use the caller's
      // memory.
      (void)impl->synchronize(*impl->stream);
      return status.withContext(impl->entry->name);
    }
    for (size_t i = 0; i < bound.size(); ++i)
      if (outputs[i].isNull())
        outputs[i] = std::move(bound[i]);
    return Status::success();
  } catch (const std::exception &failure) {
    return Status::error(impl->entry->name + ": " + failure.what());
  }
}

Status Execution::enqueue(Stream &stream, Span<const DeviceTensor> inputs,
                          Span<const DeviceTensor> outputs) {
  try {
    Status status;
    if (impl->isRepeated(inputs, outputs)) {
      impl->inFlight = true;
      status = impl->repeat(stream);
    } else {
      status = impl->enqueue(stream, inputs, outputs);
    }
    if (status.ok())
      return status;
    // The caller waits for its own stream: nothing may be under way elsewhere.
    for (const std::unique_ptr<Stream> &side : impl->sideStreams)
      (void)side->synchronize();
    return status.withContext(impl->entry->name);
  } catch (const std::exception &failure) {
    return Status::error(impl->entry->name + ": " + failure.what());
  }
}

Status Execution::wait(Stream &stream) {
  try {
    return impl->waitFor(stream).withContext(impl->entry->name);
  } catch (const std::exception &failure) {
    return Status::error(impl->entry->name + ": " + failure.what());
  }
}

Expected<std::unique_ptr<Execution>> Execution::share() {
  try {
    Expected<std::unique_ptr<Execution>> made =
        impl->executable->createExecution(impl->entry->name, impl->options);
    if (!made)
      return made;
    TRACEA_RETURN_IF_ERROR(impl->settle().withContext(impl->entry->name));
    // What failed is not shared.
    if (impl->hasUnread)
      TRACEA_RETURN_IF_ERROR(impl->waitFor(*impl->stream)
                                 .withContext("an earlier run")
                                 .withContext(impl->entry->name));
    (*made)->impl->shareConstants(*impl);
    return made;
  } catch (const std::exception &failure) {
    return Status::error(impl->entry->name + ": " + failure.what());
  }
}

Status Execution::prepare(Span<const std::vector<int64_t>> inputShapes,
                          Span<const int64_t> scalars) {
  try {
    return impl->prepareShapes(inputShapes, scalars)
        .withContext(impl->entry->name);
  } catch (const std::exception &failure) {
    return Status::error(impl->entry->name + ": " + failure.what());
  }
}

} // namespace tracea::runtime
