//===- Regions.cpp - Which bytes of shared memory are a buffer ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Assembler.h"

#include "llvm/ADT/SetVector.h"

#include <set>

using namespace mlir;
using namespace mlir::tracea;
using ::tracea::analysis::Property;

/// Values that a variable may take, before it is said to have no bound.
static constexpr size_t kMaxValues = 256;

static void collectWalks(const Symbol *symbol,
                         llvm::SmallSetVector<unsigned, 4> &walks) {
  if (symbol->kind == Symbol::Walk)
    walks.insert(symbol->value);
  for (unsigned i = 0; i < symbol->numOperands; ++i)
    collectWalks(symbol->operands[i], walks);
}

static uint64_t evaluate(const Symbol *symbol,
                         const std::vector<uint64_t> &variables) {
  if (symbol->kind == Symbol::Walk)
    return variables[symbol->value];
  if (symbol->kind != Symbol::Apply)
    return symbol->value;
  uint64_t operands[3] = {}, result = 0;
  for (unsigned i = 0; i < symbol->numOperands; ++i)
    operands[i] = evaluate(symbol->operands[i], variables);
  ::tracea::analysis::applyOperator(symbol->op, symbol->bits, operands, result);
  return result;
}

/// Slots that an address selects: the values of its variables, found by
/// executing all assignments on all values until nothing new comes.
int Assembler::slotsOf(const RoleProgram &program, const Linear &address,
                       int64_t stride) {
  auto it = reachable.find(&program);
  if (it == reachable.end()) {
    std::vector<std::set<uint64_t>> sets(program.variables.size(),
                                         std::set<uint64_t>{0});
    // Runs `visit` for the values that the variables of `symbol` may take.
    auto forAll = [&](const Symbol *symbol, auto visit) {
      llvm::SmallSetVector<unsigned, 4> walks;
      collectWalks(symbol, walks);
      size_t combinations = 1;
      for (unsigned walk : walks)
        combinations *= std::min<size_t>(sets[walk].size(), kMaxValues);
      if (walks.size() > 3 || combinations > kMaxValues * kMaxValues)
        return;
      std::vector<uint64_t> values(sets.size());
      auto choose = [&](auto &self, size_t at) -> void {
        if (at == walks.size())
          return visit(evaluate(symbol, values));
        // The set may grow meanwhile.
        std::vector<uint64_t> mine(sets[walks[at]].begin(),
                                   sets[walks[at]].end());
        for (uint64_t value : mine) {
          values[walks[at]] = value;
          self(self, at + 1);
        }
      };
      choose(choose, 0);
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (const Event &event : program.events) {
        if (event.kind != Event::Set)
          continue;
        std::set<uint64_t> &into = sets[event.number];
        size_t before = into.size();
        forAll(event.expression, [&](uint64_t value) {
          if (into.size() <= kMaxValues)
            into.insert(value);
        });
        changed |= into.size() != before;
      }
    }
    it = reachable.try_emplace(&program, std::move(sets)).first;
  }
  const std::vector<std::set<uint64_t>> &sets = it->second;
  int64_t last = 0;
  for (auto [symbol, coefficient] : address.terms) {
    llvm::SmallSetVector<unsigned, 4> walks;
    collectWalks(symbol, walks);
    uint64_t most = 0;
    if (walks.size() != 1)
      return kMaxValues;
    std::vector<uint64_t> values(sets.size());
    for (uint64_t value : sets[walks[0]]) {
      values[walks[0]] = value;
      most = std::max(most, evaluate(symbol, values));
    }
    last += static_cast<int64_t>(std::min<uint64_t>(most, kMaxValues)) *
            (coefficient / stride);
  }
  return static_cast<int>(std::clamp<int64_t>(last + 1, 1, kMaxValues));
}

/// The buffers that bulk copies fill.
void Assembler::findRegions() {
  std::vector<int> parts(result.protocol.channels.size());
  for (bool constant : {false, true})
    for (auto [number, program] : llvm::enumerate(programs))
      for (const Event &event : program.events) {
        if (event.kind != Event::Copy)
          continue;
        const BarrierArray &array = arrays[arrayOf(event.barrier)];
        int64_t stride = std::abs(strideOf(event.address));
        if ((stride == 0) != constant)
          continue;
        auto known = llvm::find_if(regions, [&](const BufferRegion &region) {
          if (region.channel != array.channel)
            return false;
          int64_t distance = event.address.constant - region.base;
          return distance == 0 || (constant && region.stride && distance > 0 &&
                                   distance % region.stride == 0 &&
                                   distance / region.stride < region.slots);
        });
        if (known != regions.end()) {
          if (known->stride != stride && !constant)
            fault(Property::SlotRange,
                  "slots of a ring are " + Twine(known->stride) +
                      " bytes apart in one place and " + Twine(stride) +
                      " in another",
                  event.op, known->op, "the other copy is here");
          known->length = std::max(known->length, event.length);
          known->writers |= 1u << number;
          continue;
        }
        if (constant && array.slots > 1) {
          context.undecided(event.op, "it copies to one address for all slots "
                                      "of its ring");
          continue;
        }
        BufferRegion region;
        region.base = event.address.constant;
        region.stride = stride;
        region.length = event.length;
        region.slots = array.slots;
        region.channel = array.channel;
        region.part = parts[array.channel]++;
        region.copied = true;
        region.writers = 1u << number;
        region.op = event.op;
        if (region.part >= 32)
          context.undecided(event.op, "a slot has more than 32 buffers");
        regions.push_back(region);
      }
}

static bool overlaps(const BufferRegion &region, const Event &event) {
  int64_t begin = event.address.constant, end = begin + event.length;
  for (int slot = 0; slot < region.slots; ++slot) {
    int64_t at = region.base + slot * region.stride;
    if (begin < at + region.length && at < end)
      return true;
  }
  return false;
}

/// Whether all bytes of the access are those of one slot.
static bool liesIn(const BufferRegion &region, const Event &event) {
  int64_t begin = event.address.constant - region.base;
  int64_t slot = region.stride && begin >= 0 ? begin / region.stride : 0;
  int64_t within = begin - slot * region.stride;
  return slot < region.slots && within >= 0 &&
         within + event.length <= region.length;
}

/// What is written otherwise: each connected piece is a buffer by itself. What
/// is written at one place may be a slot of what is written at many.
void Assembler::findLooseRegions() {
  size_t copied = regions.size();
  for (bool isFixed : {false, true})
    for (auto [number, program] : llvm::enumerate(programs))
      findLooseRegions(program, number, isFixed, copied);
  for (const RoleProgram &program : programs)
    for (const Event &event : program.events)
      if (event.kind == Event::Read && event.async && !event.remote)
        for (BufferRegion &region : regions)
          region.readAsync |= overlaps(region, event);
}

void Assembler::findLooseRegions(const RoleProgram &program, unsigned number,
                                 bool isFixed, size_t copied) {
  for (const Event &event : program.events) {
    if (event.kind != Event::Write || (strideOf(event.address) == 0) != isFixed)
      continue;
    bool known = false;
    for (size_t i = 0; i < copied; ++i)
      known |= overlaps(regions[i], event);
    for (size_t i = copied; isFixed && !known && i < regions.size(); ++i)
      if (regions[i].stride && liesIn(regions[i], event)) {
        known = true;
        regions[i].writers |= 1u << number;
        if (event.lanes != LaneSet::One)
          regions[i].wideWriters |= 1u << number;
      }
    if (known)
      continue;
    BufferRegion region;
    region.base = event.address.constant;
    region.length = event.length;
    region.stride = std::abs(strideOf(event.address));
    if (region.stride)
      region.slots = slotsOf(program, event.address, region.stride);
    region.writers = 1u << number;
    if (event.lanes != LaneSet::One)
      region.wideWriters = region.writers;
    region.op = event.op;
    // Overlapping pieces are one.
    for (size_t i = copied; i < regions.size();) {
      BufferRegion &other = regions[i];
      bool apart = other.base + other.length <= region.base ||
                   region.base + region.length <= other.base;
      bool sameSteps =
          other.stride == region.stride && other.slots == region.slots;
      if (apart || !sameSteps) {
        ++i;
        continue;
      }
      int64_t end =
          std::max(other.base + other.length, region.base + region.length);
      region.base = std::min(other.base, region.base);
      region.length = end - region.base;
      region.writers |= other.writers;
      region.wideWriters |= other.wideWriters;
      region.op = other.op;
      regions.erase(regions.begin() + i);
      i = copied;
    }
    regions.push_back(region);
  }
}

/// No byte belongs to two buffers, or to a buffer and a barrier.
void Assembler::checkOverlaps() {
  struct Piece {
    int64_t begin, end;
    const BufferRegion *region;
    int slot;
  };
  std::vector<Piece> pieces;
  for (const BufferRegion &region : regions)
    for (int slot = 0; slot < region.slots; ++slot) {
      int64_t begin = region.base + slot * region.stride;
      pieces.push_back({begin, begin + region.length, &region, slot});
    }
  llvm::sort(pieces, [](const Piece &a, const Piece &b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  for (size_t i = 1; i < pieces.size(); ++i) {
    const Piece &a = pieces[i - 1], &b = pieces[i];
    if (b.begin >= a.end)
      continue;
    fault(Property::Overwrite,
          "bytes " + Twine(b.begin) + " to " + Twine(std::min(a.end, b.end)) +
              " of shared memory belong to two buffers: slot " + Twine(b.slot) +
              " of this one and slot " + Twine(a.slot) + " of another",
          b.region->op, a.region->op, "the other buffer is filled here");
    return;
  }
  for (auto &[address, init] : inits)
    for (const Piece &piece : pieces)
      if (address < piece.end && piece.begin < address + 8) {
        fault(Property::Overwrite,
              "the barrier at byte " + Twine(address) + " lies within slot " +
                  Twine(piece.slot) + " of a buffer",
              piece.region->op, init.op, "the barrier is initialised here");
        return;
      }
}
