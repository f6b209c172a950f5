//===- Pattern.cpp - Access patterns and what the model says of them ------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Pattern.h"
#include "tracea/Algebra/BankSimulator.h"
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>

using namespace tracea;
using namespace tracea::wavefronts;
using algebra::AccessKind;

const std::vector<Instruction> &tracea::wavefronts::instructions() {
  static const std::vector<Instruction> all = {
      {Op::Load1, "ld.u8", 1, AccessKind::Read, 32},
      {Op::Load2, "ld.u16", 2, AccessKind::Read, 32},
      {Op::Load4, "ld.b32", 4, AccessKind::Read, 32},
      {Op::Load8, "ld.v2.b32", 8, AccessKind::Read, 32},
      {Op::Load16, "ld.v4.b32", 16, AccessKind::Read, 32},
      {Op::Store1, "st.u8", 1, AccessKind::Write, 32},
      {Op::Store2, "st.u16", 2, AccessKind::Write, 32},
      {Op::Store4, "st.b32", 4, AccessKind::Write, 32},
      {Op::Store8, "st.v2.b32", 8, AccessKind::Write, 32},
      {Op::Store16, "st.v4.b32", 16, AccessKind::Write, 32},
      {Op::LoadMatrix1, "ldmatrix.x1", 16, AccessKind::Read, 8},
      {Op::LoadMatrix2, "ldmatrix.x2", 16, AccessKind::Read, 16},
      {Op::LoadMatrix4, "ldmatrix.x4", 16, AccessKind::Read, 32},
      {Op::LoadMatrix4Trans, "ldmatrix.x4.trans", 16, AccessKind::Read, 32},
      {Op::StoreMatrix1, "stmatrix.x1", 16, AccessKind::Write, 8},
      {Op::StoreMatrix2, "stmatrix.x2", 16, AccessKind::Write, 16},
      {Op::StoreMatrix4, "stmatrix.x4", 16, AccessKind::Write, 32},
  };
  return all;
}

namespace {
using Columns = std::array<uint32_t, 5>;

class Generator {
public:
  Generator(unsigned count, uint64_t seed)
      : count(count), random(seed), model(nvidia()) {}

  std::vector<Pattern> run() {
    for (unsigned i = 0; i < instructions().size(); ++i) {
      instruction = i;
      width = instructions()[i].widthBytes;
      addFamilies();
    }
    return std::move(patterns);
  }

private:
  static algebra::BankModel nvidia() {
    auto model = algebra::bankModel("nvidia");
    if (!model)
      fail(model.error().message);
    return *model;
  }
  [[noreturn]] static void fail(const std::string &message) {
    std::fprintf(stderr, "error: %s\n", message.c_str());
    std::exit(1);
  }

  uint32_t below(uint32_t n) {
    return std::uniform_int_distribution<uint32_t>(0, n - 1)(random);
  }
  /// A multiple of the width below the window's end.
  uint32_t place(uint32_t bytes = windowBytes) {
    return below(bytes / width) * width;
  }
  uint32_t singleBit() {
    uint32_t bits = __builtin_ctz(windowBytes / width);
    return width << below(bits);
  }
  Columns columns(bool sparse) {
    Columns result;
    for (uint32_t &column : result)
      column = sparse ? singleBit() : place();
    return result;
  }
  /// Makes lanes l and l ^ mask meet.
  static void repeatAlong(Columns &map, uint32_t mask) {
    uint32_t sum = 0, lowest = mask & -mask;
    for (unsigned i = 0; i < map.size(); ++i)
      if ((mask & ~lowest) >> i & 1)
        sum ^= map[i];
    map[__builtin_ctz(lowest)] = sum;
  }

  bool isMatrix() const {
    return instructions()[instruction].op >= Op::LoadMatrix1;
  }

  /// The cycles of one instruction by the simulator.
  int64_t simulate(const std::vector<uint64_t> &addresses,
                   const std::vector<bool> &active) const {
    AccessKind kind = instructions()[instruction].kind;
    if (!isMatrix()) {
      auto cycles =
          algebra::simulateWavefronts(model, addresses, width, kind, active);
      if (!cycles)
        fail(cycles.error().message);
      return *cycles;
    }
    // Matrices are never merged.
    auto phases =
        algebra::simulateAccess(model, addresses, width, kind, active);
    if (!phases)
      fail(phases.error().message);
    return std::accumulate(phases->begin(), phases->end(), int64_t(0));
  }

  void add(const char *family, const std::function<uint32_t(unsigned)> &offset,
           const Columns *linear = nullptr, uint32_t active = ~0u) {
    const Instruction &access = instructions()[instruction];
    Pattern pattern;
    pattern.instruction = instruction;
    pattern.family = family;
    pattern.active = active;
    std::vector<uint64_t> addresses;
    std::vector<bool> flags;
    for (unsigned lane = 0; lane < numLanes; ++lane) {
      pattern.offsets[lane] = offset(lane) % windowBytes;
      addresses.push_back(pattern.offsets[lane]);
      flags.push_back((active >> lane & 1) && lane < access.addressLanes);
    }
    pattern.predicted = simulate(addresses, flags);
    if (linear && active == ~0u && access.addressLanes == numLanes &&
        width >= model.wordBytes()) {
      auto map = algebra::F2Matrix::get(
          64, algebra::F2Vectors(linear->begin(), linear->end()));
      if (!map)
        fail(map.error().message);
      auto degree = algebra::conflictDegree(model, *map, width, access.kind);
      if (!degree)
        fail(degree.error().message);
      if (pattern.predicted !=
          (isMatrix() ? degree->degree * degree->phases : degree->wavefronts()))
        fail("rank and enumeration disagree");
    }
    patterns.push_back(std::move(pattern));
  }

  void addLinear(const char *family, const Columns &map, uint32_t active = ~0u,
                 uint32_t shift = 0) {
    add(
        family,
        [&](unsigned lane) {
          uint32_t offset = 0;
          for (unsigned i = 0; i < map.size(); ++i)
            if (lane >> i & 1)
              offset ^= map[i];
          return offset + shift;
        },
        shift ? nullptr : &map, active);
  }

  void addFamilies() {
    for (unsigned n = 0; n < count; ++n) {
      bool sparse = n % 2;
      addLinear(sparse ? "linear, single bits" : "linear, dense",
                columns(sparse));
      addLinear("linear, translated", columns(sparse), ~0u, place());

      // Every mask in turn, alone and in pairs.
      Columns once = columns(sparse);
      repeatAlong(once, 1 + n % 31);
      addLinear("linear, repeats", once);
      Columns twice = columns(sparse);
      repeatAlong(twice, 1 + n % 31);
      repeatAlong(twice, 1 + below(31));
      addLinear("linear, more repeats", twice);

      uint32_t stride = (1 + below(40)) * width, start = place();
      add("strided", [&](unsigned lane) { return (start + lane * stride); });
      add("arbitrary", [&](unsigned) { return place(); });
      uint32_t few = std::max(width, 4u) << below(7);
      add("arbitrary, near", [&](unsigned) { return place(few); });
      // Groups of lanes that want the same, in any order.
      uint32_t groups = 1 + below(16);
      std::vector<uint32_t> starts;
      for (uint32_t i = 0; i < groups; ++i)
        starts.push_back(place());
      add("arbitrary, shared", [&](unsigned) { return starts[below(groups)]; });
      if (isMatrix())
        continue; // All lanes must take part.
      uint32_t active = uint32_t(random()) | uint32_t(random());
      if (n % 3 == 0)
        active &= uint32_t(random());
      active |= 1u << below(numLanes);
      addLinear("masked", columns(sparse), active);
      Columns masked = columns(sparse);
      repeatAlong(masked, 1 + n % 31);
      addLinear("masked, repeats", masked, active);
      // Pairs of which often one lane is missing, and hardly any lanes.
      Columns pairs = columns(sparse);
      repeatAlong(pairs, 1 + n % 3);
      uint32_t holes = uint32_t(random()) & uint32_t(random());
      addLinear("masked, pairs", pairs, ~(holes & 0x55555555u << n % 2));
      uint32_t lone = 1u << below(numLanes);
      for (unsigned more = below(6); more--;)
        lone |= 1u << below(numLanes);
      addLinear("masked, few lanes", n % 4 ? columns(sparse) : pairs, lone);
    }
  }

  unsigned count;
  std::mt19937_64 random;
  algebra::BankModel model;
  unsigned instruction = 0;
  uint32_t width = 4;
  std::vector<Pattern> patterns;
};
} // namespace

std::vector<Pattern> tracea::wavefronts::makePatterns(unsigned count,
                                                      uint64_t seed) {
  return Generator(count, seed).run();
}
