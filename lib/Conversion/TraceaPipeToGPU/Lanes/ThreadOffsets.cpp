//===- ThreadOffsets.cpp - Places of lanes in a staged buffer -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a window onto a staged buffer to the offset of this thread in it.
// Decided here: which part is computed once for a thread and which parts are
// constants of its registers.

#include "tracea/Conversion/TraceaPipeToGPU/ThreadOffsets.h"
#include "Lanes/LaneBits.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace mlir;
using namespace mlir::tracea_pipe;

/// The bits that sums of some of the steps set, when no two steps have a bit in
/// common; nothing otherwise.
static std::optional<uint64_t> getSupport(ArrayRef<int64_t> laneSteps,
                                          ArrayRef<int64_t> warpSteps) {
  uint64_t support = 0;
  for (ArrayRef<int64_t> steps : {laneSteps, warpSteps})
    for (int64_t step : steps) {
      if (step < 0 || (support & uint64_t(step)))
        return std::nullopt;
      support |= uint64_t(step);
    }
  return support;
}

SmallVector<Address> ThreadOffsets::get(ArrayRef<int64_t> laneSteps,
                                        ArrayRef<int64_t> warpSteps,
                                        ArrayRef<int64_t> registers) {
  std::optional<uint64_t> support = getSupport(laneSteps, warpSteps);
  Value thread =
      addBits(b, {[&]() { return b.team.lane; }, [&]() { return b.team.warp; }},
              laneSteps, warpSteps, BitSum::Integers);
  if (!thread)
    thread = b.i32(0);
  const auto &swizzle = window.layout.swizzle;
  Value terms = b.termsOf(window);
  SmallVector<Address> places;
  if (swizzle.isIdentity()) {
    Value offset = b.add(buffer, thread);
    if (terms)
      offset = b.add(offset, terms);
    for (int64_t bytes : registers)
      places.push_back(b.staged(window, offset, bytes));
    return places;
  }

  uint64_t period = swizzle.period();
  bool isLinear =
      support && period &&
      window.getTermsAlignment() % static_cast<int64_t>(period) == 0;
  for (int64_t bytes : registers)
    isLinear &= bytes >= 0 && support && !(uint64_t(bytes) & *support);
  if (!isLinear) {
    for (int64_t bytes : registers) {
      Value offset = b.add(thread, bytes);
      if (terms)
        offset = b.add(offset, terms);
      places.push_back(
          b.staged(window, b.add(buffer, b.swizzle(swizzle, offset))));
    }
    return places;
  }

  Value start = terms ? b.add(buffer, terms) : buffer;
  Value swizzled = b.swizzle(swizzle, thread);
  // The bits that the thread may set once it is swizzled.
  uint64_t taken = 0;
  for (unsigned bit = 0; bit < 32; ++bit)
    if (*support >> bit & 1)
      taken |= swizzle.apply(uint64_t(1) << bit);
  std::map<uint64_t, Value> patterns;
  for (int64_t bytes : registers) {
    uint64_t moved = swizzle.apply(bytes);
    Value &pattern = patterns[moved & taken];
    if (!pattern) {
      Value offset = swizzled;
      if (moved & taken)
        offset = arith::XOrIOp::create(b, offset, b.i32(moved & taken));
      pattern = b.add(start, offset);
    }
    places.push_back(b.staged(window, pattern, moved & ~taken));
  }
  return places;
}
