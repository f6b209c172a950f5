//===- Executable.cpp - Loads and runs programs ---------------------------===//
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

#include "tracea/Runtime/Executable.h"

#include "tracea/Runtime/Arena.h"
#include "tracea/Runtime/Expr.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <limits>
#include <mutex>

namespace tracea::runtime {

//===----------------------------------------------------------------------===//
// Executable
//===----------------------------------------------------------------------===//

struct Executable::Impl {
  Manifest manifest;
  std::shared_ptr<Device> device;
  std::vector<std::shared_ptr<Kernel>> kernels;
  std::vector<std::shared_ptr<Buffer>> constants;
};

Executable::Executable(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Executable::~Executable() = default;
const Manifest &Executable::manifest() const { return impl->manifest; }
const std::shared_ptr<Device> &Executable::device() const {
  return impl->device;
}

Expected<std::shared_ptr<Executable>>
Executable::load(ProgramFile program, std::shared_ptr<Device> device) {
  if (!device)
    return Status::error("load: expected a device, found null");
  try {
    TRACEA_RETURN_IF_ERROR(program.validate());
    TRACEA_RETURN_IF_ERROR(device->checkTarget(program.manifest.target));
    auto impl = std::make_unique<Impl>();

    Expected<std::unique_ptr<Stream>> stream = device->createStream();
    if (!stream)
      return stream.status();
    for (size_t i = 0; i < program.manifest.constants.size(); ++i) {
      const ConstantSpec &spec = program.manifest.constants[i];
      const std::vector<uint8_t> &blob =
          program.blobs[static_cast<size_t>(spec.blob)];
      std::string context = "constant " + std::to_string(i);
      Expected<std::shared_ptr<Buffer>> buffer = device->allocate(spec.size);
      if (!buffer)
        return buffer.status().withContext(context);
      TRACEA_RETURN_IF_ERROR(
          (*stream)
              ->copyToDevice(**buffer, 0, blob.data() + spec.offset, spec.size)
              .withContext(context));
      impl->constants.push_back(std::move(*buffer));
    }
    TRACEA_RETURN_IF_ERROR((*stream)->synchronize());

    // Code last: it is loaded only when everything else is in order, and a
    // blob without kernels is never taken for code.
    std::vector<std::shared_ptr<Module>> modules(program.blobs.size());
    for (const KernelSpec &spec : program.manifest.kernels) {
      size_t blob = static_cast<size_t>(spec.blob);
      if (!modules[blob]) {
        Expected<std::shared_ptr<Module>> module =
            device->loadModule(program.blobs[blob]);
        if (!module)
          return module.status().withContext("blob " + std::to_string(blob));
        modules[blob] = std::move(*module);
      }
      Expected<std::shared_ptr<Kernel>> kernel =
          modules[blob]->kernel(spec.symbol, spec.workspace);
      if (!kernel)
        return kernel.status().withContext("kernel \"" + spec.name + "\"");
      impl->kernels.push_back(std::move(*kernel));
    }
    impl->manifest = std::move(program.manifest);
    impl->device = std::move(device);
    return std::shared_ptr<Executable>(new Executable(std::move(impl)));
  } catch (const std::exception &failure) {
    return Status::error(std::string("load: ") + failure.what());
  }
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

namespace {

using Clock = std::chrono::steady_clock;

/// A view with its expressions evaluated.
struct BoundView {
  const ViewSpec *spec = nullptr;
  int64_t offset = 0;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  /// The elements it may touch, relative to the buffer's beginning; both 0
  /// where it is empty.
  int64_t low = 0;
  int64_t high = 0;

  bool isEmpty() const { return low == high; }
  bool isRowMajor() const {
    int64_t step = 1;
    for (size_t i = sizes.size(); i-- > 0;) {
      if (sizes[i] != 1 && strides[i] != step)
        return false;
      step *= sizes[i];
    }
    return true;
  }
};

/// A buffer of the entry during one run.
struct BoundBuffer {
  int64_t bytes = 0;
  /// Where kernels find it; null until memory is planned.
  char *address = nullptr;
  /// Whether it lives in the arena, and where there.
  bool inArena = false;
  int64_t arenaOffset = 0;
};

bool overlap(std::pair<const char *, const char *> a,
             std::pair<const char *, const char *> b) {
  return a.first < b.second && b.first < a.second && a.first != a.second &&
         b.first != b.second;
}

bool isAligned(const void *pointer, int64_t align) {
  return reinterpret_cast<uintptr_t>(pointer) % static_cast<uintptr_t>(align) ==
         0;
}

} // namespace

struct Execution::Impl {
  std::shared_ptr<Executable> executable;
  const Executable::Impl *program = nullptr;
  const EntrySpec *entry = nullptr;
  ExecutionOptions options;
  std::unique_ptr<Stream> stream;
  RunStats stats;

  /// The steps that use each buffer: from `firstUse` to `lastUse`; outputs
  /// count as one step more than there are. Unused where first > last.
  std::vector<int64_t> firstUse;
  std::vector<int64_t> lastUse;

  std::shared_ptr<Buffer> arena;
  int64_t arenaAlign = 0;
  ArenaPlan plan;
  std::vector<ArenaRegion> regions;

  // The state of one run, kept to save allocations.
  ExprValues values;
  std::vector<const std::vector<int64_t> *> shapes;
  std::vector<BoundBuffer> buffers;
  std::vector<std::vector<BoundView>> stepViews;
  std::vector<BoundView> outputViews;
  /// By input: whether its elements are copied before the first step.
  std::vector<bool> staged;
  /// By output: whether the kernels write the caller's memory.
  std::vector<bool> inPlace;
  ArgPacker packer;

  void prepare();
  Status run(Span<const TensorView> inputs, Span<Tensor> outputs);

  std::string nameOfInput(size_t i) const {
    return "input " + std::to_string(i) + " '" + entry->inputs[i].name + "'";
  }
  Status checkInput(size_t i, const Tensor &tensor) const;
  Status checkInputs(Span<const TensorView> inputs) const;
  Status evaluate(Span<const TensorView> inputs);
  Status bindView(const ViewSpec &spec, BoundView &view) const;
  Status bindViews();
  Status bindOutputs(Span<const TensorView> inputs, Span<Tensor> outputs);
  void chooseInPlace(Span<const TensorView> inputs, Span<Tensor> outputs);
  Status placeBuffers(Span<const TensorView> inputs, Span<Tensor> outputs);
  Status growArena();
  Status stageInputs(Span<const TensorView> inputs);
  Status launchSteps();
  Status copyOutputs(Span<Tensor> outputs);
  Status copyOutput(const BoundView &view, const Tensor &output);
};

/// What does not change between runs: liveness.
void Execution::Impl::prepare() {
  size_t numSteps = entry->steps.size();
  firstUse.assign(entry->buffers.size(), std::numeric_limits<int64_t>::max());
  lastUse.assign(entry->buffers.size(), -1);
  auto use = [&](const ViewSpec &view, size_t step) {
    size_t buffer = static_cast<size_t>(view.buffer);
    firstUse[buffer] = std::min(firstUse[buffer], static_cast<int64_t>(step));
    lastUse[buffer] = std::max(lastUse[buffer], static_cast<int64_t>(step));
  };
  stepViews.resize(numSteps);
  for (size_t s = 0; s < numSteps; ++s)
    for (const ArgSpec &arg : entry->steps[s].args)
      if (arg.hasView()) {
        use(arg.view, s);
        stepViews[s].emplace_back().spec = &arg.view;
      }
  for (const OutputSpec &output : entry->outputs) {
    use(output.view, numSteps);
    outputViews.emplace_back().spec = &output.view;
  }
  buffers.resize(entry->buffers.size());
  stats.kernelTimes.resize(program->manifest.kernels.size());
  for (size_t i = 0; i < stats.kernelTimes.size(); ++i)
    stats.kernelTimes[i].kernel = program->manifest.kernels[i].name;
}

Status Execution::Impl::checkInput(size_t i, const Tensor &tensor) const {
  const InputSpec &spec = entry->inputs[i];
  auto mismatch = [&](const std::string &why) {
    return Status::error(nameOfInput(i) + ": expected " + nameOf(spec.type) +
                         describeShape(spec.shape) + ", found " +
                         tensor.describe() + why);
  };
  if (tensor.isNull() || tensor.type() != spec.type)
    return mismatch("");
  if (tensor.shape().size() != spec.shape.size())
    return mismatch(", which has rank " + std::to_string(tensor.rank()) +
                    " instead of " + std::to_string(spec.shape.size()));
  for (size_t axis = 0; axis < spec.shape.size(); ++axis)
    if (spec.shape[axis] != dynamicSize &&
        spec.shape[axis] != tensor.shape()[axis])
      return mismatch(", which differs in axis " + std::to_string(axis));
  return Status::success();
}

Status Execution::Impl::checkInputs(Span<const TensorView> inputs) const {
  if (inputs.size() != entry->inputs.size())
    return Status::error("expected " + std::to_string(entry->inputs.size()) +
                         " inputs, found " + std::to_string(inputs.size()));
  for (size_t i = 0; i < inputs.size(); ++i)
    TRACEA_RETURN_IF_ERROR(checkInput(i, inputs[i]));
  return Status::success();
}

Status Execution::Impl::evaluate(Span<const TensorView> inputs) {
  shapes.clear();
  for (const Tensor &input : inputs)
    shapes.push_back(&input.shape());
  values.evaluate(entry->exprs, shapes);
  // Checks come first: they say in the program's words what is wrong.
  for (const CheckSpec &check : entry->checks) {
    Expected<int64_t> value = values.get(check.expr);
    if (!value)
      return value.status().withContext("check \"" + check.message + "\"");
    if (*value == 0)
      return Status::error("the program refuses these shapes: " +
                           check.message);
  }
  for (size_t b = 0; b < buffers.size(); ++b) {
    const BufferSpec &spec = entry->buffers[b];
    size_t index = static_cast<size_t>(spec.index);
    buffers[b] = BoundBuffer();
    if (spec.kind == BufferKind::Input) {
      buffers[b].bytes = inputs[index].byteSize();
    } else if (spec.kind == BufferKind::Constant) {
      buffers[b].bytes = program->constants[index]->bytes();
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
    return Status::error("expected sizes of at least 0 whose product fits into "
                         "64 bits, found " +
                         describeShape(view.sizes));
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

Status Execution::Impl::bindViews() {
  for (size_t s = 0; s < stepViews.size(); ++s) {
    const StepSpec &step = entry->steps[s];
    auto context = [&] {
      return "step " + std::to_string(s) + " (kernel \"" +
             program->manifest.kernels[static_cast<size_t>(step.kernel)].name +
             "\")";
    };
    Expected<int64_t> tiles = values.get(step.tiles);
    if (!tiles)
      return tiles.status().withContext(context() + ", tiles");
    if (*tiles < 0)
      return Status::error(context() + ": expected at least 0 tiles, found " +
                           std::to_string(*tiles));
    size_t next = 0;
    for (size_t a = 0; a < step.args.size(); ++a) {
      const ArgSpec &arg = step.args[a];
      Status status = arg.hasView() ? bindView(arg.view, stepViews[s][next++])
                                 : values.check(arg.index);
      if (!status.ok())
        return status.withContext(context() + ", argument " +
                                  std::to_string(a));
    }
  }
  for (size_t i = 0; i < outputViews.size(); ++i) {
    Status status = bindView(entry->outputs[i].view, outputViews[i]);
    if (!status.ok())
      return status.withContext("output " + std::to_string(i));
  }
  return Status::success();
}

/// Checks the caller's outputs and allocates those that are null.
Status Execution::Impl::bindOutputs(Span<const TensorView> inputs,
                                    Span<Tensor> outputs) {
  if (outputs.size() != outputViews.size())
    return Status::error("expected " + std::to_string(outputViews.size()) +
                         " outputs, found " + std::to_string(outputs.size()));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const BoundView &view = outputViews[i];
    Tensor &output = outputs[i];
    std::string context = "output " + std::to_string(i);
    if (output.isNull())
      continue;
    if (output.type() != view.spec->type || output.shape() != view.sizes)
      return Status::error(context + ": expected " + nameOf(view.spec->type) +
                           describeShape(view.sizes) + ", found " +
                           output.describe());
    if (output.isReadOnly())
      return Status::error(context +
                           ": expected memory that may be written, found "
                           "read-only memory");
    for (size_t j = 0; j < i; ++j)
      if (!outputs[j].isNull() && overlap(output.extent(), outputs[j].extent()))
        return Status::error(context + " overlaps output " + std::to_string(j));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].isNull())
      continue;
    Expected<Tensor> created =
        Tensor::allocate(entry->outputs[i].type, outputViews[i].sizes);
    if (!created)
      return created.status().withContext("output " + std::to_string(i));
    outputs[i] = std::move(*created);
  }
  return Status::success();
}

/// Decides which inputs kernels read where they are and which outputs they
/// write where they are.
void Execution::Impl::chooseInPlace(Span<const TensorView> inputs,
                                    Span<Tensor> outputs) {
  bool shared = program->device->info().hostAccessible;
  staged.assign(inputs.size(), !shared);
  for (size_t i = 0; i < inputs.size() && shared; ++i) {
    staged[i] = !inputs[i].isContiguous() ||
                !isAligned(inputs[i].data(), sizeOf(inputs[i].type()));
    for (const Tensor &output : outputs)
      if (overlap(inputs[i].extent(), output.extent()))
        staged[i] = true;
  }
  inPlace.assign(outputs.size(), false);
  for (size_t i = 0; i < outputs.size() && shared; ++i) {
    const BoundView &view = outputViews[i];
    size_t b = static_cast<size_t>(view.spec->buffer);
    const BufferSpec &spec = entry->buffers[b];
    int64_t elementSize = sizeOf(view.spec->type);
    inPlace[i] =
        spec.kind == BufferKind::Temp && !buffers[b].address && view.low == 0 &&
        view.high * elementSize == buffers[b].bytes && view.offset == 0 &&
        view.isRowMajor() && outputs[i].isContiguous() && !view.isEmpty() &&
        isAligned(outputs[i].data(), std::max(spec.align, elementSize));
    if (inPlace[i])
      buffers[b].address = outputs[i].dataAs<char>();
  }
}

/// Gives every buffer that is used its address.
Status Execution::Impl::placeBuffers(Span<const TensorView> inputs,
                                     Span<Tensor> outputs) {
  chooseInPlace(inputs, outputs);
  std::vector<ArenaRegion> needed;
  std::vector<size_t> owners;
  for (size_t b = 0; b < buffers.size(); ++b) {
    const BufferSpec &spec = entry->buffers[b];
    size_t index = static_cast<size_t>(spec.index);
    if (firstUse[b] > lastUse[b] || buffers[b].address)
      continue;
    ArenaRegion region = {buffers[b].bytes, 64, firstUse[b], lastUse[b]};
    if (spec.kind == BufferKind::Constant) {
      buffers[b].address =
          static_cast<char *>(program->constants[index]->address());
      continue;
    }
    if (spec.kind == BufferKind::Input && !staged[index]) {
      buffers[b].address = inputs[index].dataAs<char>();
      continue;
    }
    if (spec.kind == BufferKind::Input)
      region.first = -1; // Copied before the first step.
    else
      region.align = spec.align;
    buffers[b].inArena = true;
    needed.push_back(region);
    owners.push_back(b);
  }

  bool same = needed.size() == regions.size() &&
              std::equal(needed.begin(), needed.end(), regions.begin(),
                         [](const ArenaRegion &a, const ArenaRegion &b) {
                           return a.bytes == b.bytes && a.align == b.align &&
                                  a.first == b.first && a.last == b.last;
                         });
  if (!same) {
    Expected<ArenaPlan> planned = planArena(needed);
    if (!planned)
      return planned.status();
    plan = std::move(*planned);
    regions = std::move(needed);
  }
  TRACEA_RETURN_IF_ERROR(growArena());
  for (size_t i = 0; i < owners.size(); ++i) {
    BoundBuffer &buffer = buffers[owners[i]];
    buffer.arenaOffset = plan.offsets[i];
    buffer.address = static_cast<char *>(arena->address()) + plan.offsets[i];
  }
  return Status::success();
}

Status Execution::Impl::growArena() {
  if (options.maxArenaBytes > 0 && plan.bytes > options.maxArenaBytes)
    return Status::error(
        "expected to need at most " + std::to_string(options.maxArenaBytes) +
        " bytes of temporary memory, found " + std::to_string(plan.bytes));
  if (arena && arena->bytes() >= plan.bytes && arenaAlign >= plan.align)
    return Status::success();
  // The old block first: both together may not fit.
  arena.reset();
  stats.arenaBytes = 0;
  Expected<std::shared_ptr<Buffer>> grown =
      program->device->allocate(plan.bytes, plan.align);
  if (!grown)
    return grown.status().withContext("temporary memory");
  arena = std::move(*grown);
  arenaAlign = plan.align;
  stats.arenaBytes = plan.bytes;
  if (plan.bytes > 0)
    ++stats.arenaGrowths;
  return Status::success();
}

Status Execution::Impl::stageInputs(Span<const TensorView> inputs) {
  bool shared = program->device->info().hostAccessible;
  for (size_t b = 0; b < buffers.size(); ++b) {
    const BufferSpec &spec = entry->buffers[b];
    if (spec.kind != BufferKind::Input || !buffers[b].inArena ||
        buffers[b].bytes == 0)
      continue;
    const Tensor &input = inputs[static_cast<size_t>(spec.index)];
    ++stats.inputCopies;
    stats.copiedBytes += buffers[b].bytes;
    if (shared) {
      copyStrided(input.dataAs<const char>(), input.strides(),
                  buffers[b].address, rowMajorStrides(input.shape()),
                  input.shape(), sizeOf(input.type()));
      continue;
    }
    Tensor contiguous = input;
    if (!input.isContiguous()) {
      Expected<Tensor> copy = input.clone();
      if (!copy)
        return copy.status();
      contiguous = std::move(*copy);
    }
    TRACEA_RETURN_IF_ERROR(stream->copyToDevice(
        *arena, buffers[b].arenaOffset, contiguous.data(), buffers[b].bytes));
    // A copy made here must outlive the transfer.
    if (contiguous.data() != input.data())
      TRACEA_RETURN_IF_ERROR(stream->synchronize());
  }
  return Status::success();
}

Status Execution::Impl::launchSteps() {
  for (size_t s = 0; s < stepViews.size(); ++s) {
    const StepSpec &step = entry->steps[s];
    size_t k = static_cast<size_t>(step.kernel);
    int64_t tiles = values[step.tiles];
    if (tiles == 0)
      continue;
    packer.clear();
    size_t next = 0;
    for (const ArgSpec &arg : step.args) {
      if (!arg.hasView()) {
        packer.index(values[arg.index]);
        continue;
      }
      const BoundView &view = stepViews[s][next++];
      const BoundBuffer &buffer = buffers[static_cast<size_t>(arg.view.buffer)];
      // The offset of an empty view may lie anywhere; nothing is read there.
      int64_t offset = view.isEmpty() ? 0 : view.offset * sizeOf(arg.view.type);
      packer.memref(buffer.address + offset, view.sizes, view.strides);
    }
    Clock::time_point begin;
    if (options.profile)
      begin = Clock::now();
    Status status = stream->launch(program->kernels[k], tiles, packer.packed());
    if (options.profile && status.ok()) {
      status = stream->synchronize();
      KernelTime &time = stats.kernelTimes[k];
      ++time.launches;
      time.seconds +=
          std::chrono::duration<double>(Clock::now() - begin).count();
    }
    if (!status.ok())
      return status.withContext("step " + std::to_string(s) + " (kernel \"" +
                                program->manifest.kernels[k].name + "\")");
    ++stats.launches;
    stats.tiles += tiles;
  }
  return Status::success();
}

/// From where the kernels left it to the caller's memory.
Status Execution::Impl::copyOutput(const BoundView &view,
                                   const Tensor &output) {
  const BoundBuffer &buffer = buffers[static_cast<size_t>(view.spec->buffer)];
  int64_t elementSize = sizeOf(view.spec->type);
  ++stats.outputCopies;
  stats.copiedBytes += output.byteSize();
  if (program->device->info().hostAccessible) {
    copyStrided(buffer.address + view.offset * elementSize, view.strides,
                output.dataAs<char>(), output.strides(), view.sizes,
                elementSize);
    return Status::success();
  }
  // The range that the view touches, as it is, and its elements from there.
  const Buffer *memory = arena.get();
  int64_t base = buffer.arenaOffset;
  if (!buffer.inArena) {
    const BufferSpec &spec =
        entry->buffers[static_cast<size_t>(view.spec->buffer)];
    memory = program->constants[static_cast<size_t>(spec.index)].get();
    base = 0;
  }
  int64_t begin = base + view.low * elementSize;
  int64_t bytes = (view.high - view.low) * elementSize;
  if (view.isRowMajor() && output.isContiguous()) {
    TRACEA_RETURN_IF_ERROR(
        stream->copyToHost(output.data(), *memory, begin, bytes));
    return stream->synchronize();
  }
  Expected<std::shared_ptr<void>> landing = allocateAligned(bytes);
  if (!landing)
    return landing.status();
  TRACEA_RETURN_IF_ERROR(
      stream->copyToHost(landing->get(), *memory, begin, bytes));
  TRACEA_RETURN_IF_ERROR(stream->synchronize());
  copyStrided(static_cast<const char *>(landing->get()) +
                  (view.offset - view.low) * elementSize,
              view.strides, output.dataAs<char>(), output.strides(), view.sizes,
              elementSize);
  return Status::success();
}

Status Execution::Impl::copyOutputs(Span<Tensor> outputs) {
  for (size_t i = 0; i < outputs.size(); ++i)
    if (!inPlace[i] && !outputViews[i].isEmpty())
      TRACEA_RETURN_IF_ERROR(copyOutput(outputViews[i], outputs[i])
                                 .withContext("output " + std::to_string(i)));
  return stream->synchronize();
}

Status Execution::Impl::run(Span<const TensorView> inputs,
                            Span<Tensor> outputs) {
  TRACEA_RETURN_IF_ERROR(checkInputs(inputs));
  TRACEA_RETURN_IF_ERROR(evaluate(inputs));
  TRACEA_RETURN_IF_ERROR(bindViews());
  TRACEA_RETURN_IF_ERROR(bindOutputs(inputs, outputs));
  TRACEA_RETURN_IF_ERROR(placeBuffers(inputs, outputs));
  TRACEA_RETURN_IF_ERROR(stageInputs(inputs));
  TRACEA_RETURN_IF_ERROR(launchSteps());
  TRACEA_RETURN_IF_ERROR(copyOutputs(outputs));
  ++stats.runs;
  return Status::success();
}

Execution::Execution(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Execution::~Execution() = default;
const EntrySpec &Execution::entry() const { return *impl->entry; }
const RunStats &Execution::stats() const { return impl->stats; }

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
    std::vector<Tensor> bound(outputs.begin(), outputs.end());
    Status status = impl->run(inputs, bound);
    if (!status.ok()) {
      // Work that was enqueued before the failure may still use the caller's
      // memory.
      (void)impl->stream->synchronize();
      return status.withContext(impl->entry->name);
    }
    for (size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i].isNull())
        outputs[i] = std::move(bound[i]);
    return Status::success();
  } catch (const std::exception &failure) {
    return Status::error(impl->entry->name + ": " + failure.what());
  }
}

Expected<std::unique_ptr<Execution>>
Executable::createExecution(const std::string &name,
                            const ExecutionOptions &options) {
  try {
    const std::vector<EntrySpec> &entries = impl->manifest.entries;
    const EntrySpec *entry = impl->manifest.findEntry(name);
    if (name.empty() && entries.size() == 1)
      entry = &entries[0];
    if (!entry) {
      std::string known;
      for (const EntrySpec &candidate : entries)
        known += (known.empty() ? "" : ", ") + candidate.name;
      return Status::error(
          (name.empty() ? std::string("expected the name of an entry")
                        : "no entry \"" + name + "\"") +
          "; the program has: " + (known.empty() ? "none" : known));
    }
    Expected<std::unique_ptr<Stream>> stream = impl->device->createStream();
    if (!stream)
      return stream.status();
    auto state = std::make_unique<Execution::Impl>();
    state->executable = shared_from_this();
    state->program = impl.get();
    state->entry = entry;
    state->options = options;
    state->stream = std::move(*stream);
    state->prepare();
    return std::unique_ptr<Execution>(new Execution(std::move(state)));
  } catch (const std::exception &failure) {
    return Status::error(failure.what());
  }
}

Expected<std::vector<Tensor>> Executable::run(const std::string &entry,
                                              Span<const TensorView> inputs) {
  Expected<std::unique_ptr<Execution>> execution = createExecution(entry);
  if (!execution)
    return execution.status();
  std::vector<Tensor> outputs((*execution)->entry().outputs.size());
  TRACEA_RETURN_IF_ERROR((*execution)->run(inputs, outputs));
  return outputs;
}

} // namespace tracea::runtime
