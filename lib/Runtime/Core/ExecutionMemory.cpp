//===- ExecutionMemory.cpp - Where tensors lie ----------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which memory of the caller kernels use in place, and the arena for the rest.
//
//===----------------------------------------------------------------------===//

#include "ExecutionImpl.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace tracea::runtime {

static bool isAligned(const void *pointer, int64_t align) {
  return reinterpret_cast<uintptr_t>(pointer) % static_cast<uintptr_t>(align) ==
         0;
}

/// Decides which inputs kernels read where they are and which outputs they
/// write where they are.
void Execution::Impl::choosePlaces(bool onDevice) {
  bool shared = onDevice || program->device->info().hostAccessible;
  staged.assign(inputs.size(), !shared);
  for (size_t i = 0; i < inputs.size(); ++i) {
    // A constant stays where it was given, by this run or another.
    bool isHere = shared;
    if (constants[i].isGiven)
      isHere = constants[i].tensor.isNull() ||
               program->device->info().hostAccessible;
    if (entry->inputs[i].isScalar)
      continue;
    if (!isHere) {
      staged[i] = true;
      continue;
    }
    staged[i] =
        !inputs[i].isContiguous() || !isAligned(inputs[i].data, inputAlign[i]);
    for (const Operand &output : outputs)
      if (overlap(inputs[i].extent(), output.extent()))
        staged[i] = true;
  }
  inPlace.assign(outputs.size(), false);
  for (const BoundView &view : outputViews)
    claimed[static_cast<size_t>(view.spec->buffer)] = false;
  for (size_t i = 0; i < outputs.size() && shared; ++i) {
    size_t b = static_cast<size_t>(outputViews[i].spec->buffer);
    int64_t align = std::max(entry->buffers[b].align, sizeOf(outputs[i].type));
    inPlace[i] = isWholeBuffer[i] && !claimed[b] && outputs[i].isContiguous() &&
                 isAligned(outputs[i].data, align);
    if (inPlace[i])
      claimed[b] = true;
  }
}

Status Execution::Impl::place(Stream &on) {
  if (!planned || staged != plannedStaged || inPlace != plannedInPlace)
    TRACEA_RETURN_IF_ERROR(planPlaces(on));
  if (!isLoaded) {
    Expected<bool> isShared = dropShared(on);
    if (!isShared)
      return isShared.status();
    if (*isShared)
      TRACEA_RETURN_IF_ERROR(planPlaces(on));
  }
  auto useCallers = [](BoundBuffer &buffer, const Operand &operand) {
    buffer.owner = operand.buffer;
    buffer.caller = {operand.data, buffer.bytes};
    buffer.offset = operand.offset;
  };
  for (size_t i = 0; i < outputs.size(); ++i)
    if (inPlace[i])
      useCallers(buffers[static_cast<size_t>(outputViews[i].spec->buffer)],
                 outputs[i]);
  for (size_t b = 0; b < buffers.size(); ++b) {
    const BufferSpec &spec = entry->buffers[b];
    size_t index = static_cast<size_t>(spec.index);
    if (spec.kind == BufferKind::Input && !staged[index])
      useCallers(buffers[b], inputs[index]);
  }
  return Status::success();
}

/// Whether the buffer `a` is no longer in use when `b` is first used.
bool Execution::Impl::endsBefore(size_t a, size_t b) const {
  auto isStaged = [&](size_t buffer) {
    return entry->buffers[buffer].kind == BufferKind::Input;
  };
  // Inputs are copied before the first step.
  if (isStaged(b))
    return false;
  if (streamPlan.numStreams == 1)
    return uses[a].back() < uses[b].front();
  return std::all_of(uses[a].begin(), uses[a].end(), [&](int64_t last) {
    return std::all_of(uses[b].begin(), uses[b].end(), [&](int64_t first) {
      return streamPlan.endsBefore(last, first);
    });
  });
}

bool Execution::Impl::mayOverlap(size_t a, size_t b) const {
  return !endsBefore(a, b) && !endsBefore(b, a);
}

bool Execution::Impl::needsMemory(size_t b) const {
  const BufferSpec &spec = entry->buffers[b];
  if (uses[b].empty() || claimed[b] || spec.kind == BufferKind::Constant)
    return false;
  return spec.kind != BufferKind::Input ||
         staged[static_cast<size_t>(spec.index)];
}

Status Execution::Impl::planPlaces(Stream &on) {
  planned = false;
  ++numPlanned;
  std::vector<ArenaRegion> needed;
  std::vector<size_t> owners;
  for (size_t b = 0; b < buffers.size(); ++b) {
    const BufferSpec &spec = entry->buffers[b];
    size_t index = static_cast<size_t>(spec.index);
    BoundBuffer &buffer = buffers[b];
    buffer.owner = nullptr;
    buffer.caller = {nullptr, 0};
    buffer.offset = 0;
    buffer.inArena = false;
    if (spec.kind == BufferKind::Constant)
      buffer.owner = program->constants[index].get();
    if (!needsMemory(b))
      continue;
    ArenaRegion region = {buffer.bytes, 64};
    if (isKept(b)) {
      TRACEA_RETURN_IF_ERROR(
          keep(b, on).withContext("buffer " + std::to_string(b)));
      continue;
    }
    if (spec.kind == BufferKind::Temp)
      region.align = spec.align;
    buffer.inArena = true;
    needed.push_back(region);
    owners.push_back(b);
  }

  bool same = owners == regionOwners &&
              std::equal(needed.begin(), needed.end(), regions.begin(),
                         [](const ArenaRegion &a, const ArenaRegion &b) {
                           return a.bytes == b.bytes && a.align == b.align;
                         });
  if (!same) {
    regionOwners.clear();
    Expected<ArenaPlan> fresh = planArena(needed, [&](size_t a, size_t b) {
      return mayOverlap(owners[a], owners[b]);
    });
    if (!fresh)
      return fresh.status();
    plan = std::move(*fresh);
    regions = std::move(needed);
    regionOwners = owners;
  }
  TRACEA_RETURN_IF_ERROR(growArena(on));
  for (size_t i = 0; i < owners.size(); ++i) {
    buffers[owners[i]].owner = arena.get();
    buffers[owners[i]].offset = plan.offsets[i];
  }
  plannedStaged = staged;
  plannedInPlace = inPlace;
  planned = true;
  return Status::success();
}

Status Execution::Impl::checkGrowth(const char *what, int64_t bytes,
                                    int64_t found, Stream &on) const {
  Expected<bool> capturing = on.isCapturing();
  if (!capturing)
    return capturing.status();
  if (*capturing)
    return Status::error(
        std::string(what) + ": expected at least " + std::to_string(bytes) +
        " bytes before the stream is captured, found " + std::to_string(found) +
        "; prepare the shapes, or run them once, beforehand");
  return Status::success();
}

int64_t Execution::Impl::addKept(int64_t bytes) const {
  for (const std::shared_ptr<Buffer> &buffer : kept)
    if (__builtin_add_overflow(bytes, buffer ? buffer->bytes() : 0, &bytes))
      return std::numeric_limits<int64_t>::max();
  return bytes;
}

Status Execution::Impl::checkLimit(int64_t bytes) const {
  int64_t needed = addKept(bytes);
  if (options.maxArenaBytes > 0 && needed > options.maxArenaBytes)
    return Status::outOfMemory("expected to need at most " +
                               std::to_string(options.maxArenaBytes) +
                               " bytes of temporary memory, found " +
                               std::to_string(needed) + describeNeeds());
  return Status::success();
}

std::string Execution::Impl::nameOfBuffer(size_t b) const {
  const BufferSpec &spec = entry->buffers[b];
  if (spec.kind == BufferKind::Input)
    return nameOfInput(static_cast<size_t>(spec.index));
  std::string name = "buffer " + std::to_string(b);
  size_t first =
      uses[b].empty() ? steps.size() : static_cast<size_t>(uses[b].front());
  return first < steps.size() ? name + " of " + nameOfStep(first) : name;
}

std::string Execution::Impl::describeNeeds() const {
  constexpr size_t mostNamed = 5;
  std::vector<size_t> needed;
  int64_t sum = 0;
  for (size_t b = 0; b < buffers.size(); ++b) {
    if (!needsMemory(b))
      continue;
    needed.push_back(b);
    if (__builtin_add_overflow(sum, buffers[b].bytes, &sum))
      sum = std::numeric_limits<int64_t>::max();
  }
  std::sort(needed.begin(), needed.end(), [&](size_t a, size_t b) {
    return buffers[a].bytes != buffers[b].bytes
               ? buffers[a].bytes > buffers[b].bytes
               : a < b;
  });
  std::string text = "; all buffers together have " + std::to_string(sum) +
                     " bytes, and the largest are ";
  for (size_t i = 0; i < std::min(needed.size(), mostNamed); ++i)
    text += (i ? ", " : "") + nameOfBuffer(needed[i]) + " with " +
            std::to_string(buffers[needed[i]].bytes);
  return needed.empty() ? "" : text;
}

Expected<std::shared_ptr<Buffer>>
Execution::Impl::allocate(int64_t bytes, int64_t alignment, Stream &on) const {
  return options.allocate ? options.allocate(bytes, alignment, on)
                          : program->device->allocate(bytes, alignment);
}

Status Execution::Impl::keep(size_t b, Stream &on) {
  int64_t bytes = buffers[b].bytes;
  if (!kept[b] || kept[b]->bytes() != bytes) {
    TRACEA_RETURN_IF_ERROR(checkGrowth("memory that persists", bytes,
                                       kept[b] ? kept[b]->bytes() : 0, on));
    TRACEA_RETURN_IF_ERROR(settle());
    kept[b].reset();
    isLoaded = false;
    TRACEA_RETURN_IF_ERROR(checkLimit(bytes));
    Expected<std::shared_ptr<Buffer>> fresh =
        allocate(bytes, entry->buffers[b].align, on);
    if (!fresh)
      return Status::outOfMemory("expected " + std::to_string(bytes) +
                                 " bytes that stay between runs, beside " +
                                 std::to_string(addKept(0)) + ": " +
                                 fresh.message() + describeNeeds());
    // The next run may be on another stream.
    if (bytes > 0) {
      Status status = on.fill(**fresh, 0, bytes, 0);
      if (status.ok())
        status = on.synchronize();
      if (!status.ok()) {
        giveUp(std::move(*fresh));
        return status;
      }
    }
    kept[b] = std::move(*fresh);
    tables[b].clear();
  }
  buffers[b].owner = kept[b].get();
  return Status::success();
}

Status Execution::Impl::writeTables(Stream &on, bool isPrepared) {
  // What no run has told yet.
  auto isUnknown = [&](const TableValue &value) {
    return value.isInput && !isNumber(static_cast<size_t>(value.index));
  };
  for (size_t b = 0; b < buffers.size(); ++b) {
    const BufferSpec &spec = entry->buffers[b];
    if (spec.kind != BufferKind::Table || !kept[b] || spec.values.empty())
      continue;
    if (isPrepared &&
        std::any_of(spec.values.begin(), spec.values.end(), isUnknown))
      continue;
    size_t size = static_cast<size_t>(sizeOf(spec.type));
    std::vector<unsigned char> contents(size * spec.values.size());
    for (size_t i = 0; i < spec.values.size(); ++i) {
      const TableValue &value = spec.values[i];
      int64_t number = value.isInput
                           ? inputs[static_cast<size_t>(value.index)].scalar
                           : values[value.index];
      std::memcpy(contents.data() + i * size, &number, size);
    }
    if (contents == tables[b])
      continue;
    // Runs that are under way may be on any stream, and read what is there.
    // Transfers may read the host's memory until they have been waited for.
    constexpr size_t mostOld = 256;
    if (isPrepared || oldTables.size() >= mostOld)
      TRACEA_RETURN_IF_ERROR(settle());
    oldTables.push_back(std::move(tables[b]));
    tables[b] = std::move(contents);
    Status status = on.copyToDevice(*kept[b], 0, tables[b].data(),
                                    static_cast<int64_t>(tables[b].size()));
    if (!status.ok()) {
      tables[b].clear();
      return status.withContext("buffer " + std::to_string(b));
    }
  }
  if (!isPrepared)
    return Status::success();
  TRACEA_RETURN_IF_ERROR(on.synchronize());
  if (!inFlight)
    oldTables.clear();
  return Status::success();
}

Status Execution::Impl::growArena(Stream &on) {
  TRACEA_RETURN_IF_ERROR(checkLimit(plan.bytes));
  if (arena && arena->bytes() >= plan.bytes && arenaAlign >= plan.align)
    return Status::success();
  TRACEA_RETURN_IF_ERROR(checkGrowth("temporary memory", plan.bytes,
                                     arena ? arena->bytes() : 0, on));
  TRACEA_RETURN_IF_ERROR(settle());
  // The old block first: both together may not fit.
  arena.reset();
  stats.arenaBytes = 0;
  Expected<std::shared_ptr<Buffer>> grown =
      allocate(plan.bytes, plan.align, on);
  if (!grown)
    return Status::outOfMemory(
        "expected " + std::to_string(plan.bytes) +
        " bytes of temporary memory, beside " + std::to_string(addKept(0)) +
        " that stay between runs: " + grown.message() + describeNeeds());
  arena = std::move(*grown);
  arenaAlign = plan.align;
  stats.arenaBytes = plan.bytes;
  if (plan.bytes > 0)
    ++stats.arenaGrowths;
  return Status::success();
}

Status Execution::Impl::settle() {
  if (!inFlight)
    return Status::success();
  TRACEA_RETURN_IF_ERROR(program->device->waitIdle());
  inFlight = false;
  oldTables.clear();
  return Status::success();
}

/// Lets go of memory that work may still use which failed.
void Execution::Impl::giveUp(std::shared_ptr<Buffer> memory) const {
  const Device &device = *program->device;
  if (program->device->waitIdle().ok() || !device.status().ok())
    return;
  // It is lost rather than used by two.
  (void)new std::shared_ptr<Buffer>(std::move(memory));
}

Execution::Impl::~Impl() {
  // Memory that may still be in use is given up rather than given back; that
  // is the case where somebody captures a stream while this happens.
  if (!inFlight || !program->device->status().ok() || settle().ok())
    return;
  kept.push_back(std::move(arena));
  kept.push_back(std::move(records));
  (void)new std::vector<std::shared_ptr<Buffer>>(std::move(kept));
}

} // namespace tracea::runtime
