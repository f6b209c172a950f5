//===- ExecutionBind.cpp - What shapes alone decide -----------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs are checked, expressions evaluated, views compared with their
// buffers, and argument blocks laid out. Nothing is allocated on the device.
//
//===----------------------------------------------------------------------===//

#include "ExecutionImpl.h"

#include <algorithm>
#include <limits>
#include <map>

namespace tracea::runtime {

/// A tensor has at most 2^48 elements, which is more than any memory holds.
static constexpr int maxLogElements = 48;

bool isRowMajor(Span<const int64_t> sizes, Span<const int64_t> strides) {
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1 && strides[i] != step)
      return false;
    step *= sizes[i];
  }
  return true;
}

bool BoundView::isRowMajor() const {
  return runtime::isRowMajor(sizes, strides);
}

bool Operand::isContiguous() const {
  return strides.empty() || bytes() == 0 || isRowMajor(shape, strides);
}

int64_t Operand::bytes() const {
  int64_t count = sizeOf(type);
  for (int64_t size : shape)
    count *= size;
  return count;
}

std::pair<const char *, const char *> Operand::extent() const {
  const char *base = static_cast<const char *>(data);
  int64_t count = bytes();
  if (!base || count == 0)
    return {base, base};
  if (strides.empty())
    return {base, base + count};
  int64_t low = 0, high = 0;
  for (size_t i = 0; i < shape.size(); ++i)
    (strides[i] < 0 ? low : high) += (shape[i] - 1) * strides[i];
  return {base + low * sizeOf(type), base + (high + 1) * sizeOf(type)};
}

std::string Operand::describe() const {
  return isNull ? "null tensor" : nameOf(type) + describeShape(shape);
}

Operand Operand::of(const Tensor &tensor) {
  Operand operand;
  operand.data = tensor.data();
  operand.type = tensor.type();
  operand.shape = tensor.shape();
  operand.isNull = tensor.isNull();
  operand.readOnly = tensor.isReadOnly();
  if (!tensor.isContiguous())
    operand.strides = tensor.strides();
  return operand;
}

bool overlap(std::pair<const char *, const char *> a,
             std::pair<const char *, const char *> b) {
  return a.first < b.second && b.first < a.second && a.first != a.second &&
         b.first != b.second;
}

//===----------------------------------------------------------------------===//
// Once for an Execution
//===----------------------------------------------------------------------===//

/// What does not change between runs: liveness, and the streams of steps.
Status Execution::Impl::prepare() {
  size_t numSteps = entry->steps.size();
  uses.resize(entry->buffers.size());
  inputAlign.clear();
  for (const InputSpec &input : entry->inputs)
    inputAlign.push_back(sizeOf(input.type));
  auto use = [&](const ViewSpec &view, size_t step) {
    std::vector<int64_t> &steps = uses[static_cast<size_t>(view.buffer)];
    if (steps.empty() || steps.back() != static_cast<int64_t>(step))
      steps.push_back(static_cast<int64_t>(step));
  };
  steps.resize(numSteps);
  for (size_t s = 0; s < numSteps; ++s)
    for (const ArgSpec &arg : entry->steps[s].args)
      if (arg.hasView()) {
        use(arg.view, s);
        steps[s].views.emplace_back().spec = &arg.view;
        const BufferSpec &buffer =
            entry->buffers[static_cast<size_t>(arg.view.buffer)];
        if (arg.kind == ArgKind::TensorMap &&
            buffer.kind == BufferKind::Input) {
          int64_t &align = inputAlign[static_cast<size_t>(buffer.index)];
          align = std::max<int64_t>(
              align, arg.map.interleave == MapInterleave::B32 ? 32 : 16);
        } else if (arg.kind == ArgKind::Pointer &&
                   buffer.kind == BufferKind::Input) {
          // Lanes read 16 bytes at a time where rows allow it.
          int64_t &align = inputAlign[static_cast<size_t>(buffer.index)];
          align = std::max<int64_t>(align, 16);
        }
      }
  for (const OutputSpec &output : entry->outputs) {
    use(output.view, numSteps);
    outputViews.emplace_back().spec = &output.view;
  }
  buffers.resize(entry->buffers.size());
  kept.resize(entry->buffers.size());
  tables.resize(entry->buffers.size());
  zeroedBefore.resize(numSteps + 1);
  for (size_t b = 0; b < entry->buffers.size(); ++b) {
    const BufferSpec &spec = entry->buffers[b];
    if (spec.kind == BufferKind::Temp && spec.contents == TempContents::Zero &&
        !uses[b].empty())
      zeroedBefore[static_cast<size_t>(uses[b].front())].push_back(b);
  }
  claimed.resize(entry->buffers.size());
  isWholeBuffer.resize(outputViews.size());
  stats.kernelTimes.resize(program->manifest.kernels.size());
  for (size_t i = 0; i < stats.kernelTimes.size(); ++i)
    stats.kernelTimes[i].kernel = program->manifest.kernels[i].name;
  TRACEA_RETURN_IF_ERROR(makeRecords());
  prepareConstants();
  TRACEA_RETURN_IF_ERROR(prepareStreams());
  repeated.isPossible = mayRepeat();
  return Status::success();
}

Status Execution::Impl::prepareStreams() {
  streamPlan = planStreams(*entry, options.streams);
  stepEvents.resize(entry->steps.size());
  auto addEvent = [&](std::unique_ptr<Event> &event) {
    Expected<std::unique_ptr<Event>> created = program->device->createEvent();
    if (created)
      event = std::move(*created);
    return created.status();
  };
  if (streamPlan.numStreams > 1)
    TRACEA_RETURN_IF_ERROR(addEvent(beginning));
  while (static_cast<int>(sideStreams.size()) + 1 < streamPlan.numStreams) {
    Expected<std::unique_ptr<Stream>> created = program->device->createStream();
    if (!created)
      return created.status();
    sideStreams.push_back(std::move(*created));
  }
  for (size_t s = 0; s < entry->steps.size(); ++s)
    if (streamPlan.steps[s].isAwaited)
      TRACEA_RETURN_IF_ERROR(addEvent(stepEvents[s]));
  // Of the uses on one stream the first and the last say when a buffer lives.
  int64_t numSteps = static_cast<int64_t>(entry->steps.size());
  auto positionOf = [&](int64_t use) {
    return use == numSteps
               ? numSteps
               : streamPlan.steps[static_cast<size_t>(use)].position;
  };
  for (std::vector<int64_t> &all : uses) {
    std::sort(all.begin(), all.end(), [&](int64_t a, int64_t b) {
      return positionOf(a) < positionOf(b);
    });
    std::map<int, std::pair<int64_t, int64_t>> ends;
    for (int64_t use : all) {
      int stream = use == numSteps
                       ? -1
                       : streamPlan.steps[static_cast<size_t>(use)].stream;
      ends.try_emplace(stream, use, use).first->second.second = use;
    }
    all.clear();
    for (const auto &[stream, end] : ends) {
      all.push_back(end.first);
      all.push_back(end.second);
    }
    std::sort(all.begin(), all.end());
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Once for shapes
//===----------------------------------------------------------------------===//

std::string Execution::Impl::nameOfInput(size_t i) const {
  return "input " + std::to_string(i) + " '" + entry->inputs[i].name + "'";
}

std::string Execution::Impl::nameOfStep(size_t s) const {
  if (!entry->steps[s].isLaunch())
    return "step " + std::to_string(s) +
           (entry->steps[s].kind == StepKind::Fill ? " (fill)" : " (copy)");
  return "step " + std::to_string(s) + " (kernel \"" +
         program->manifest.kernels[static_cast<size_t>(entry->steps[s].kernel)]
             .name +
         "\")";
}

Status Execution::Impl::checkInput(size_t i) const {
  const InputSpec &spec = entry->inputs[i];
  const Operand &tensor = inputs[i];
  auto mismatch = [&](const std::string &why) {
    return Status::invalid(nameOfInput(i) + ": expected " + nameOf(spec.type) +
                           describeShape(spec.shape) + ", found " +
                           tensor.describe() + why);
  };
  if (tensor.isNull || tensor.type != spec.type)
    return mismatch("");
  if (spec.isScalar && !tensor.shape.empty())
    return mismatch(", which is no scalar");
  if (tensor.shape.size() != spec.shape.size())
    return mismatch(", which has rank " + std::to_string(tensor.shape.size()) +
                    " instead of " + std::to_string(spec.shape.size()));
  for (size_t axis = 0; axis < spec.shape.size(); ++axis)
    if (spec.shape[axis] != dynamicSize &&
        spec.shape[axis] != tensor.shape[axis])
      return mismatch(", which differs in axis " + std::to_string(axis));
  return Status::success();
}

/// Scalars are read where the caller has them, before anything else happens.
Status Execution::Impl::readScalars() {
  for (size_t i = 0; i < inputs.size() && i < entry->inputs.size(); ++i) {
    if (!entry->inputs[i].isScalar)
      continue;
    TRACEA_RETURN_IF_ERROR(checkInput(i));
    if (inputs[i].buffer)
      return Status::invalid(
          nameOfInput(i) + ": expected a scalar in host memory, found a buffer "
                           "of the device");
    inputs[i].scalar = readAsSlot(inputs[i].type, inputs[i].data);
  }
  return Status::success();
}

bool Execution::Impl::isBoundTo(Span<const Operand> tensors) const {
  if (!bound || tensors.size() != boundShapes.size())
    return false;
  for (size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].isNull || tensors[i].type != entry->inputs[i].type ||
        tensors[i].shape.size() != boundShapes[i].size() ||
        !std::equal(boundShapes[i].begin(), boundShapes[i].end(),
                    tensors[i].shape.begin()) ||
        (isNumber(i) && tensors[i].scalar != boundScalars[i]))
      return false;
  return true;
}

/// Binds to the shapes of `inputs`.
Status Execution::Impl::bind() {
  if (isBoundTo(inputs))
    return Status::success();
  if (inputs.size() != entry->inputs.size())
    return Status::invalid("expected " + std::to_string(entry->inputs.size()) +
                           " inputs, found " + std::to_string(inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i)
    TRACEA_RETURN_IF_ERROR(checkInput(i));
  bound = planned = false;
  ++numBound;
  boundShapes.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    boundShapes[i].assign(inputs[i].shape.begin(), inputs[i].shape.end());
  boundScalars.assign(inputs.size(), 0);
  for (size_t i = 0; i < inputs.size(); ++i)
    if (isNumber(i))
      boundScalars[i] = inputs[i].scalar;
  TRACEA_RETURN_IF_ERROR(evaluate());
  for (size_t s = 0; s < steps.size(); ++s)
    TRACEA_RETURN_IF_ERROR(bindStep(s));
  for (size_t i = 0; i < outputViews.size(); ++i) {
    BoundView &view = outputViews[i];
    TRACEA_RETURN_IF_ERROR(bindView(entry->outputs[i].view, view)
                               .withContext("output " + std::to_string(i)));
    size_t b = static_cast<size_t>(view.spec->buffer);
    isWholeBuffer[i] =
        entry->buffers[b].kind == BufferKind::Temp &&
        entry->buffers[b].contents != TempContents::Persistent &&
        entry->buffers[b].contents != TempContents::Constant && view.low == 0 &&
        view.offset == 0 &&
        view.high * sizeOf(view.spec->type) == buffers[b].bytes &&
        view.isRowMajor() && !view.isEmpty();
  }
  bound = true;
  return Status::success();
}

Status Execution::Impl::evaluate() {
  shapePointers.clear();
  for (const std::vector<int64_t> &shape : boundShapes)
    shapePointers.push_back(&shape);
  values.evaluate(entry->exprs, shapePointers, boundScalars);
  auto describeInputs = [&] {
    std::string text;
    for (size_t i = 0; i < boundShapes.size(); ++i)
      text += (i ? ", " : "") + nameOfInput(i) + " is " +
              (isNumber(i) ? std::to_string(boundScalars[i])
                           : nameOf(entry->inputs[i].type) +
                                 describeShape(boundShapes[i]));
    return text;
  };
  // Checks come first: they say in the program's words what is wrong.
  for (const CheckSpec &check : entry->checks) {
    Expected<int64_t> value = values.get(check.expr);
    if (!value)
      return Status::error("check \"" + check.message + "\": " +
                           value.status().message() + "; " + describeInputs());
    if (*value == 0)
      return Status::invalid("the program refuses these shapes: " +
                             check.message);
  }
  for (size_t b = 0; b < buffers.size(); ++b) {
    const BufferSpec &spec = entry->buffers[b];
    size_t index = static_cast<size_t>(spec.index);
    buffers[b] = BoundBuffer();
    if (spec.kind == BufferKind::Input) {
      buffers[b].bytes = inputs[index].bytes();
    } else if (spec.kind == BufferKind::Constant) {
      buffers[b].bytes = program->constants[index]->bytes();
    } else if (spec.kind == BufferKind::Table) {
      buffers[b].bytes =
          sizeOf(spec.type) * static_cast<int64_t>(spec.values.size());
      for (const TableValue &value : spec.values)
        if (!value.isInput)
          TRACEA_RETURN_IF_ERROR(
              values.check(value.index)
                  .withContext("buffer " + std::to_string(b)));
    } else {
      Expected<int64_t> bytes = values.get(spec.bytes);
      std::string context = "buffer " + std::to_string(b);
      if (!bytes)
        return bytes.status().withContext(context);
      if (*bytes < 0)
        return Status::error(context +
                             ": expected a size of at least 0 bytes, "
                             "found " +
                             std::to_string(*bytes));
      buffers[b].bytes = *bytes;
    }
  }
  return Status::success();
}

Status Execution::Impl::bindView(const ViewSpec &spec, BoundView &view) const {
  size_t rank = spec.sizes.size();
  view.spec = &spec;
  view.sizes.resize(rank);
  view.strides.resize(rank);
  TRACEA_RETURN_IF_ERROR(values.check(spec.offset));
  view.offset = values[spec.offset];
  for (size_t i = 0; i < rank; ++i) {
    TRACEA_RETURN_IF_ERROR(values.check(spec.sizes[i]));
    TRACEA_RETURN_IF_ERROR(values.check(spec.strides[i]));
    view.sizes[i] = values[spec.sizes[i]];
    view.strides[i] = values[spec.strides[i]];
  }
  std::optional<int64_t> count = countElements(view.sizes);
  if (!count)
    return Status::invalid(
        "expected sizes of at least 0 whose product fits into "
        "64 bits, found " +
        describeShape(view.sizes));
  // What proofs of indices rely on, also where another extent is zero.
  int64_t most = int64_t(1) << maxLogElements;
  for (int64_t size : view.sizes) {
    if (size > most)
      return Status::invalid("expected at most 2^" +
                             std::to_string(maxLogElements) +
                             " elements, found " + describeShape(view.sizes));
    most /= std::max<int64_t>(size, 1);
  }
  view.low = view.high = 0;
  if (*count == 0)
    return Status::success();

  int64_t low = view.offset, high = view.offset, end = 0;
  bool fits = true;
  for (size_t i = 0; i < rank; ++i) {
    int64_t reach = 0;
    int64_t &side = view.strides[i] < 0 ? low : high;
    fits =
        fits &&
        !__builtin_mul_overflow(view.sizes[i] - 1, view.strides[i], &reach) &&
        !__builtin_add_overflow(side, reach, &side);
  }
  const BoundBuffer &buffer = buffers[static_cast<size_t>(spec.buffer)];
  fits = fits && low >= 0 && !__builtin_add_overflow(high, 1, &high) &&
         !__builtin_mul_overflow(high, sizeOf(spec.type), &end) &&
         end <= buffer.bytes;
  if (!fits)
    return Status::error(std::string("the view of ") + nameOf(spec.type) +
                         describeShape(view.sizes) + " at element " +
                         std::to_string(view.offset) + " goes beyond buffer " +
                         std::to_string(spec.buffer) + " of " +
                         std::to_string(buffer.bytes) + " bytes");
  view.low = low;
  view.high = high;
  return Status::success();
}

Status Execution::Impl::bindStep(size_t s) {
  const StepSpec &spec = entry->steps[s];
  BoundStep &step = steps[s];
  if (!spec.isLaunch())
    return bindMove(s).withContext(nameOfStep(s));
  Expected<int64_t> tiles = values.get(spec.tiles);
  if (!tiles)
    return tiles.status().withContext(nameOfStep(s) + ", tiles");
  if (Status status = checkTiles(*tiles); !status.ok())
    return status.withContext(nameOfStep(s));
  step.tiles = *tiles;
  int64_t *blocks[] = {&step.grid.x, &step.grid.y, &step.grid.z};
  for (size_t i = 0; i < spec.grid.size(); ++i) {
    Expected<int64_t> size = values.get(spec.grid[i]);
    if (!size)
      return size.status().withContext(nameOfStep(s) + ", grid");
    *blocks[i] = *size;
  }
  if (!spec.grid.empty()) {
    Expected<Grid> fitted =
        program->kernels[static_cast<size_t>(spec.kernel)]->fitGrid(step.grid);
    if (!fitted)
      return fitted.status().withContext("step " + std::to_string(s));
    step.grid = *fitted;
  }
  size_t next = 0;
  for (size_t a = 0; a < spec.args.size(); ++a) {
    const ArgSpec &arg = spec.args[a];
    Status status = arg.hasView() ? bindView(arg.view, step.views[next++])
                    : arg.kind == ArgKind::Index ? values.check(arg.index)
                                                 : Status::success();
    if (!status.ok())
      return status.withContext(nameOfStep(s) + ", argument " +
                                std::to_string(a));
  }
  return bindArguments(s);
}

/// Drivers fill and copy pieces of memory, which views must be.
Status Execution::Impl::bindMove(size_t s) {
  const StepSpec &spec = entry->steps[s];
  std::vector<BoundView> &views = steps[s].views;
  for (size_t a = 0; a < views.size(); ++a) {
    TRACEA_RETURN_IF_ERROR(bindView(spec.args[a].view, views[a]));
    if (!views[a].isEmpty() && !views[a].isRowMajor())
      return Status::error("expected a view in one piece, found " +
                           describeShape(views[a].sizes) + " with strides " +
                           describeShape(views[a].strides));
  }
  const BoundView &from = views.front(), &to = views.back();
  if (from.sizes != to.sizes)
    return Status::error("expected two views of the same sizes, found " +
                         describeShape(from.sizes) + " and " +
                         describeShape(to.sizes));
  if (views.size() == 2 && from.spec->buffer == to.spec->buffer &&
      from.low < to.high && to.low < from.high)
    return Status::error("expected parts of buffer " +
                         std::to_string(to.spec->buffer) +
                         " that do not overlap");
  return Status::success();
}

/// Lays out the argument block; addresses are filled in by each run.
Status Execution::Impl::bindArguments(size_t s) {
  const StepSpec &spec = entry->steps[s];
  BoundStep &step = steps[s];
  const KernelSpec &kernel =
      program->manifest.kernels[static_cast<size_t>(spec.kernel)];
  bool narrow = kernel.gpu && kernel.gpu->indexBits == 32;
  step.slots.clear();
  step.maps.clear();
  step.parameters.clear();
  step.buffers.clear();
  step.bufferPatches.clear();
  step.valuePatches.clear();
  step.mapPatches.clear();
  constexpr size_t isMap = size_t(1) << 63;
  std::vector<size_t> places;
  size_t next = 0;
  for (size_t a = 0; a < spec.args.size(); ++a) {
    const ArgSpec &arg = spec.args[a];
    auto scalar = [&](int64_t value) {
      if (narrow && value != static_cast<int32_t>(value))
        return Status::error(
            nameOfStep(s) + ", argument " + std::to_string(a) +
            ": the kernel computes with 32-bit indices, found " +
            std::to_string(value));
      places.push_back(step.slots.size());
      step.slots.push_back(value);
      return Status::success();
    };
    if (arg.kind == ArgKind::Value) {
      places.push_back(step.slots.size());
      step.valuePatches.push_back(
          {step.slots.size(), static_cast<size_t>(arg.index)});
      step.slots.push_back(0);
      continue;
    }
    if (!arg.hasView()) {
      TRACEA_RETURN_IF_ERROR(scalar(values[arg.index]));
      continue;
    }
    const BoundView &view = step.views[next++];
    if (arg.kind == ArgKind::TensorMap) {
      places.push_back(step.maps.size() | isMap);
      step.maps.emplace_back();
      step.mapPatches.push_back({&arg, &view, nullptr});
      continue;
    }
    places.push_back(step.slots.size());
    step.buffers.push_back({step.slots.size(), nullptr, 0});
    step.bufferPatches.push_back(
        {static_cast<size_t>(arg.view.buffer), view.byteOffset()});
    step.slots.push_back(0);
    if (arg.kind == ArgKind::Pointer)
      continue;
    for (const std::vector<int64_t> *numbers : {&view.sizes, &view.strides})
      for (int64_t number : *numbers)
        TRACEA_RETURN_IF_ERROR(scalar(number));
  }
  if (recordOffsets[s] >= 0) {
    places.push_back(step.slots.size());
    step.buffers.push_back(
        {step.slots.size(), records.get(), recordOffsets[s]});
    step.slots.push_back(0);
  }
  // Only now nothing moves any more.
  for (size_t place : places)
    step.parameters.push_back(
        place & isMap ? static_cast<void *>(&step.maps[place & ~isMap])
                      : static_cast<void *>(&step.slots[place]));
  return Status::success();
}

/// Compares the caller's outputs with the views; those without memory are
/// left out.
Status Execution::Impl::checkOutputs() const {
  if (outputs.size() != outputViews.size())
    return Status::invalid("expected " + std::to_string(outputViews.size()) +
                           " outputs, found " + std::to_string(outputs.size()));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const BoundView &view = outputViews[i];
    const Operand &output = outputs[i];
    if (output.isNull)
      continue;
    if (output.type != view.spec->type ||
        output.shape.size() != view.sizes.size() ||
        !std::equal(view.sizes.begin(), view.sizes.end(), output.shape.begin()))
      return Status::invalid("output " + std::to_string(i) + ": expected " +
                             nameOf(view.spec->type) +
                             describeShape(view.sizes) + ", found " +
                             output.describe());
    if (output.readOnly)
      return Status::invalid("output " + std::to_string(i) +
                             ": expected memory that may be written, found "
                             "read-only memory");
    for (size_t j = 0; j < i; ++j)
      if (!outputs[j].isNull && overlap(output.extent(), outputs[j].extent()))
        return Status::invalid("output " + std::to_string(i) +
                               " overlaps output " + std::to_string(j));
  }
  return Status::success();
}

} // namespace tracea::runtime
