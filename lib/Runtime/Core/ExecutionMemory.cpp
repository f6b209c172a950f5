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
  for (size_t i = 0; i < inputs.size() && shared; ++i) {
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
  for (size_t i = 0; i < outputs.size(); ++i)
    if (inPlace[i])
      buffers[static_cast<size_t>(outputViews[i].spec->buffer)].address =
          static_cast<char *>(outputs[i].data);
  for (size_t b = 0; b < buffers.size(); ++b) {
    const BufferSpec &spec = entry->buffers[b];
    size_t index = static_cast<size_t>(spec.index);
    if (spec.kind == BufferKind::Input && !staged[index])
      buffers[b].address = static_cast<char *>(inputs[index].data);
  }
  return Status::success();
}

Status Execution::Impl::planPlaces(Stream &on) {
  planned = false;
  std::vector<ArenaRegion> needed;
  std::vector<size_t> owners;
  for (size_t b = 0; b < buffers.size(); ++b) {
    const BufferSpec &spec = entry->buffers[b];
    size_t index = static_cast<size_t>(spec.index);
    buffers[b].address = nullptr;
    buffers[b].inArena = false;
    if (firstUse[b] > lastUse[b] || claimed[b])
      continue;
    ArenaRegion region = {buffers[b].bytes, 64, firstUse[b], lastUse[b]};
    if (spec.kind == BufferKind::Constant) {
      buffers[b].address =
          static_cast<char *>(program->constants[index]->address());
      continue;
    }
    if (spec.kind == BufferKind::Input && !staged[index])
      continue;
    if (spec.contents == TempContents::Persistent) {
      TRACEA_RETURN_IF_ERROR(
          keep(b, on).withContext("buffer " + std::to_string(b)));
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
    Expected<ArenaPlan> fresh = planArena(needed);
    if (!fresh)
      return fresh.status();
    plan = std::move(*fresh);
    regions = std::move(needed);
  }
  TRACEA_RETURN_IF_ERROR(growArena(on));
  for (size_t i = 0; i < owners.size(); ++i) {
    BoundBuffer &buffer = buffers[owners[i]];
    buffer.arenaOffset = plan.offsets[i];
    buffer.address = static_cast<char *>(arena->address()) + plan.offsets[i];
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

Status Execution::Impl::checkLimit(int64_t bytes) const {
  int64_t needed = bytes;
  for (const std::shared_ptr<Buffer> &buffer : kept)
    if (__builtin_add_overflow(needed, buffer ? buffer->bytes() : 0, &needed))
      needed = std::numeric_limits<int64_t>::max();
  if (options.maxArenaBytes > 0 && needed > options.maxArenaBytes)
    return Status::error(
        "expected to need at most " + std::to_string(options.maxArenaBytes) +
        " bytes of temporary memory, found " + std::to_string(needed));
  return Status::success();
}

Status Execution::Impl::keep(size_t b, Stream &on) {
  int64_t bytes = buffers[b].bytes;
  if (!kept[b] || kept[b]->bytes() != bytes) {
    TRACEA_RETURN_IF_ERROR(checkGrowth("memory that persists", bytes,
                                       kept[b] ? kept[b]->bytes() : 0, on));
    TRACEA_RETURN_IF_ERROR(settle());
    kept[b].reset();
    TRACEA_RETURN_IF_ERROR(checkLimit(bytes));
    Expected<std::shared_ptr<Buffer>> fresh =
        program->device->allocate(bytes, entry->buffers[b].align);
    if (!fresh)
      return fresh.status();
    // The next run may be on another stream.
    if (bytes > 0) {
      TRACEA_RETURN_IF_ERROR(on.fill(**fresh, 0, bytes, 0));
      TRACEA_RETURN_IF_ERROR(on.synchronize());
    }
    kept[b] = std::move(*fresh);
  }
  buffers[b].address = static_cast<char *>(kept[b]->address());
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

Status Execution::Impl::settle() {
  if (!inFlight)
    return Status::success();
  TRACEA_RETURN_IF_ERROR(program->device->waitIdle());
  inFlight = false;
  return Status::success();
}

Execution::Impl::~Impl() {
  // Memory that may still be in use is given up rather than given back; that
  // is the case where somebody captures a stream while this happens.
  if (!inFlight || !program->device->status().ok() || settle().ok())
    return;
  kept.push_back(std::move(arena));
  (void)new std::vector<std::shared_ptr<Buffer>>(std::move(kept));
}

} // namespace tracea::runtime
