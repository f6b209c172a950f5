//===- TileAccess.cpp - A register tile meets a buffer of shared memory -===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Algebra/TileAccess.h"
#include "Bits.h"
#include "tracea/Algebra/BankSimulator.h"
#include <algorithm>
#include <map>
#include <numeric>

using namespace tracea::algebra;

namespace {
/// One access with everything that the questions share.
class Analysis {
public:
  Analysis(const BankModel &model, const TileAccess &access,
           const Swizzle &swizzle)
      : model(model), access(access), swizzle(swizzle) {}

  std::optional<Error> prepare();
  bool isLinear() const { return linear.has_value(); }
  unsigned width() const { return widthBytes; }

  Expected<TileAccessDegree> degree(int64_t maxAddresses);
  Expected<SwizzleAccess> toSolver(const std::string &name) const;

private:
  int64_t tileOffset(const TileCoord &at) const {
    int64_t sum = 0;
    for (unsigned d = 0; d < at.size(); ++d)
      sum += at[d] * access.byteSteps[d];
    return sum;
  }
  int64_t offsetOf(int64_t reg, int64_t lane, int64_t warp) const {
    return tileOffset(
        *access.lanes.coordinate(reg, lane % access.lanes.numLanes(), warp));
  }
  void findLinearMap();
  void chooseVector();
  bool isVector(const std::vector<unsigned> &bits) const;
  /// Registers that start an instruction.
  std::vector<int64_t> instructionRegisters() const;
  /// Offsets that differ by a multiple of this have the same degrees: the
  /// swizzle's period, or a word when accesses are narrower.
  int64_t offsetPeriod() const {
    int64_t period = swizzle.isIdentity() ? 1 : int64_t(swizzle.period());
    return widthBytes < model.wordBytes() ? std::max(period, model.wordBytes())
                                          : period;
  }
  /// Whether the window's offset leaves the degree alone.
  bool offsetIsHarmless() const;

  std::vector<uint64_t> addressesOf(int64_t reg, int64_t warp,
                                    int64_t windowOffset) const;
  BankCollision collisionIn(const std::vector<uint64_t> &addresses,
                            const AccessPhases &phases) const;
  static bool repeats(std::vector<uint64_t> addresses) {
    std::sort(addresses.begin(), addresses.end());
    return std::adjacent_find(addresses.begin(), addresses.end()) !=
           addresses.end();
  }

  const BankModel &model;
  const TileAccess &access;
  const Swizzle &swizzle;
  /// From coordinate bits to bytes, when that is linear.
  std::optional<F2Matrix> linear;
  /// Register bits that run through one vector, lowest first.
  std::vector<unsigned> vectorBits;
  unsigned widthBytes = 0;
};
} // namespace

std::optional<Error> Analysis::prepare() {
  if (std::string problem = model.verify(); !problem.empty())
    return Error{problem};
  if (access.byteSteps.size() != access.lanes.rank())
    return Error{"tile access: expected " +
                 std::to_string(access.lanes.rank()) + " byte steps, found " +
                 std::to_string(access.byteSteps.size())};
  if (access.lanes.numBits(LaneDim::Lane) > model.laneBits)
    return Error{"tile access: the tile has " +
                 std::to_string(access.lanes.numLanes()) + " lanes, " +
                 model.name + " has " + std::to_string(model.numLanes())};
  if (access.elementBytes == 0 || access.elementBytes > 16 ||
      (access.elementBytes & (access.elementBytes - 1)))
    return Error{"tile access: expected elements of 1 to 16 bytes, found " +
                 std::to_string(access.elementBytes)};
  constexpr int64_t limit = int64_t(1) << 40;
  int64_t reach = 0;
  TileCoord shape = access.lanes.tileShape();
  for (unsigned d = 0; d < shape.size(); ++d) {
    int64_t step = access.byteSteps[d];
    if (step > limit || step < -limit || shape[d] > (int64_t(1) << 20))
      return Error{"tile access: a dimension steps beyond 2^60 bytes"};
    reach += (shape[d] - 1) * (step < 0 ? -step : step);
  }
  if (reach > int64_t(1) << 61)
    return Error{"tile access: the tile reaches beyond 2^61 bytes"};
  int64_t elements = access.lanes.numRegisters() * access.lanes.numLanes();
  if (elements * access.lanes.numWarps() > 1 << 22)
    return Error{"tile access: the tile has more than 2^22 locations"};
  findLinearMap();
  chooseVector();
  if (Expected<AccessPhases> phases = model.phasesOf(widthBytes, access.kind);
      !phases)
    return phases.error();
  if (!isVector(vectorBits))
    return Error{"tile access: elements are not aligned to their " +
                 std::to_string(access.elementBytes) + " bytes"};
  return std::nullopt;
}

void Analysis::findLinearMap() {
  F2Vectors columns(access.lanes.matrix().numOutputs(), 0);
  uint64_t used = 0;
  for (unsigned d = 0; d < access.lanes.rank(); ++d) {
    int64_t extent = access.lanes.linearShape()[d], step = access.byteSteps[d];
    if (extent == 1 || step == 0)
      continue;
    if (step < 0 || (step & (step - 1)))
      return;
    TileCoord unit(access.lanes.rank(), 0);
    for (int64_t at = 1; at < extent; at *= 2) {
      uint64_t offset = uint64_t(at) * uint64_t(step);
      if (used & offset)
        return;
      used |= offset;
      unit[d] = at;
      columns[__builtin_ctzll(access.lanes.flatten(unit))] = offset;
    }
  }
  if (Expected<F2Matrix> map =
          F2Matrix::get(F2Matrix::maxBits, std::move(columns)))
    linear = *map;
}

bool Analysis::isVector(const std::vector<unsigned> &bits) const {
  int64_t width = int64_t(access.elementBytes) << bits.size();
  uint64_t whole = swizzle.preservedVectorBytes();
  if ((whole && whole < uint64_t(width)) || access.step % width)
    return false;
  for (int64_t w = 0; w < access.lanes.numWarps(); ++w)
    for (int64_t l = 0; l < access.lanes.numLanes(); ++l)
      for (int64_t r = 0; r < access.lanes.numRegisters(); ++r) {
        int64_t first = r, position = 0;
        for (unsigned i = 0; i < bits.size(); ++i)
          if (r >> bits[i] & 1) {
            first ^= int64_t(bit(bits[i]));
            position |= int64_t(bit(i));
          }
        int64_t start = offsetOf(first, l, w);
        if ((start + access.offset) % width ||
            offsetOf(r, l, w) != start + position * access.elementBytes)
          return false;
      }
  return true;
}

void Analysis::chooseVector() {
  while (true) {
    int64_t next = int64_t(access.elementBytes) << vectorBits.size();
    if (!model.phasesOf(unsigned(next * 2), access.kind))
      break;
    bool grew = false;
    for (unsigned i = 0; i < access.lanes.numBits(LaneDim::Reg); ++i) {
      if (tileOffset(access.lanes.basis(LaneDim::Reg, i)) != next)
        continue;
      vectorBits.push_back(i);
      if ((grew = isVector(vectorBits)))
        break;
      vectorBits.pop_back();
    }
    if (!grew)
      break;
  }
  widthBytes = access.elementBytes << vectorBits.size();
}

std::vector<int64_t> Analysis::instructionRegisters() const {
  int64_t inVector = 0;
  for (unsigned i : vectorBits)
    inVector |= int64_t(bit(i));
  std::vector<int64_t> registers;
  for (int64_t r = 0; r < access.lanes.numRegisters(); ++r)
    if (!(r & inVector))
      registers.push_back(r);
  return registers;
}

bool Analysis::offsetIsHarmless() const {
  int64_t period = offsetPeriod();
  uint64_t support = 0;
  for (uint64_t column : access.lanes.matrix().columns())
    support |= linear->apply(column);
  // Bits of the offset that may be set, whatever n.
  int64_t granule = access.step & -access.step;
  TileCoord repeat(access.lanes.rank(), 0);
  int64_t repeats =
      access.lanes.numRegisters() >> access.lanes.numBits(LaneDim::Reg);
  for (int64_t k = 0; k < repeats; ++k) {
    int64_t rest = k, window = access.offset;
    for (unsigned d = access.lanes.rank(); d-- > 0;) {
      window += rest % access.lanes.outer()[d] * access.lanes.linearShape()[d] *
                access.byteSteps[d];
      rest /= access.lanes.outer()[d];
    }
    bool wholePeriods = access.step % period == 0 && window % period == 0;
    bool carryFree =
        access.step == 0
            ? window >= 0 && !(uint64_t(window) & support)
            : support < uint64_t(granule) &&
                  !(uint64_t(window) & (uint64_t(granule) - 1) & support);
    if (!wholePeriods && !carryFree)
      return false;
  }
  return true;
}

std::vector<uint64_t> Analysis::addressesOf(int64_t reg, int64_t warp,
                                            int64_t windowOffset) const {
  // Far enough from 0 that negative steps stay above it; a multiple of every
  // period.
  constexpr int64_t base = int64_t(1) << 62;
  std::vector<uint64_t> addresses;
  for (int64_t l = 0; l < model.numLanes(); ++l)
    addresses.push_back(
        swizzle.apply(uint64_t(base + windowOffset + offsetOf(reg, l, warp))));
  return addresses;
}

BankCollision Analysis::collisionIn(const std::vector<uint64_t> &addresses,
                                    const AccessPhases &phases) const {
  BankCollision worst;
  std::vector<bool> done(addresses.size(), false);
  for (size_t first = 0; first < addresses.size(); ++first) {
    if (done[first])
      continue;
    std::map<uint64_t, std::map<uint64_t, int64_t>> lanesOfWord;
    for (uint64_t mask : combinations(phases.lanes)) {
      size_t lane = first ^ mask;
      done[lane] = true;
      uint64_t word = addresses[lane] / model.wordBytes();
      for (uint64_t end =
               word + std::max<int64_t>(1, widthBytes / model.wordBytes());
           word < end; ++word) {
        std::map<uint64_t, int64_t> &words =
            lanesOfWord[word % model.numBanks()];
        std::map<uint64_t, int64_t>::iterator at =
            words.emplace(word, int64_t(lane)).first;
        at->second = std::min(at->second, int64_t(lane));
      }
    }
    for (const auto &[bank, words] : lanesOfWord)
      if (words.size() > worst.lanes.size()) {
        worst.bank = int64_t(bank);
        worst.lanes.clear();
        for (const auto &[word, lane] : words)
          worst.lanes.push_back(lane);
      }
  }
  std::sort(worst.lanes.begin(), worst.lanes.end());
  return worst;
}

Expected<TileAccessDegree> Analysis::degree(int64_t maxAddresses) {
  Expected<AccessPhases> phases = model.phasesOf(widthBytes, access.kind);
  if (!phases)
    return phases.error();
  TileAccessDegree result;
  result.widthBytes = widthBytes;
  bool wide = widthBytes > uint64_t(model.wordBytes()) &&
              access.kind == AccessKind::Read;
  auto describe = [&](int64_t reg, int64_t warp, int64_t window) {
    std::vector<uint64_t> addresses = addressesOf(reg, warp, window);
    result.mayMerge = wide && !phases->mergingKnown &&
                      result.degree.phases > 1 && repeats(addresses);
    if (result.degree.degree > 1) {
      result.collision = collisionIn(addresses, *phases);
      result.collision.reg = reg;
      result.collision.warp = warp;
    }
  };

  if (isLinear() && offsetIsHarmless()) {
    F2Vectors columns;
    for (uint64_t lane : access.lanes.columns(LaneDim::Lane))
      columns.push_back(swizzle.apply(linear->apply(lane)));
    columns.resize(model.laneBits, 0);
    Expected<F2Matrix> lanes =
        F2Matrix::get(F2Matrix::maxBits, std::move(columns));
    if (!lanes)
      return lanes.error();
    Expected<ConflictDegree> degree =
        conflictDegree(model, *lanes, widthBytes, access.kind);
    if (!degree)
      return degree.error();
    result.degree = *degree;
    result.byRank = true;
    describe(0, 0, access.offset);
    return result;
  }

  // The banks of an access repeat with the offset; one period of offsets shows
  // them all.
  int64_t period = offsetPeriod();
  int64_t offsets = access.step ? period / std::gcd(access.step, period) : 1;
  std::vector<int64_t> registers = instructionRegisters();
  int64_t instructions =
      int64_t(registers.size()) * access.lanes.numWarps() * model.numLanes();
  if (offsets > maxAddresses / instructions)
    return Error{"tile access: one period has " + std::to_string(offsets) +
                 " offsets of " + std::to_string(instructions) +
                 " addresses, more than " + std::to_string(maxAddresses)};
  result.degree.phases = int64_t(1) << (model.laneBits - phases->lanes.size());
  int64_t worstReg = 0, worstWarp = 0, worstWindow = access.offset;
  for (int64_t n = 0; n < offsets; ++n)
    for (int64_t w = 0; w < access.lanes.numWarps(); ++w)
      for (int64_t r : registers) {
        int64_t window = access.offset + n * access.step;
        std::vector<uint64_t> addresses = addressesOf(r, w, window);
        Expected<std::vector<int64_t>> cycles =
            simulateAccess(model, addresses, widthBytes, access.kind);
        if (!cycles)
          return cycles.error();
        Expected<int64_t> all =
            simulateWavefronts(model, addresses, widthBytes, access.kind);
        if (!all)
          return all.error();
        result.degree.cycles = std::max(result.degree.cycles, *all);
        int64_t most = *std::max_element(cycles->begin(), cycles->end());
        if (most > result.degree.degree) {
          result.degree.degree = most;
          worstReg = r;
          worstWarp = w;
          worstWindow = window;
        }
      }
  describe(worstReg, worstWarp, worstWindow);
  return result;
}

Expected<SwizzleAccess> Analysis::toSolver(const std::string &name) const {
  if (!linear)
    return Error{"tile access: the strides are not powers of two that leave "
                 "each other's bits alone"};
  for (int64_t count : access.lanes.outer())
    if (count != 1)
      return Error{"tile access: an extent is not a power of two"};
  SwizzleAccess result;
  result.name = name;
  result.widthBytes = widthBytes;
  result.kind = access.kind;
  F2Vectors lanes;
  for (uint64_t lane : access.lanes.columns(LaneDim::Lane))
    lanes.push_back(linear->apply(lane));
  lanes.resize(model.laneBits, 0);
  Expected<F2Matrix> map = F2Matrix::get(F2Matrix::maxBits, std::move(lanes));
  if (!map)
    return map.error();
  result.lanesToBytes = *map;
  F2Vectors registers = access.lanes.columns(LaneDim::Reg);
  for (unsigned i = 0; i < registers.size(); ++i)
    if (std::find(vectorBits.begin(), vectorBits.end(), i) == vectorBits.end())
      result.unrolled.push_back(linear->apply(registers[i]));
  return result;
}

Expected<unsigned> tracea::algebra::vectorWidth(const BankModel &model,
                                                const TileAccess &access,
                                                const Swizzle &swizzle) {
  Analysis analysis(model, access, swizzle);
  if (std::optional<Error> error = analysis.prepare())
    return *error;
  return analysis.width();
}

Expected<TileAccessDegree> tracea::algebra::tileAccessDegree(
    const BankModel &model, const TileAccess &access, const Swizzle &swizzle,
    int64_t maxAddresses) {
  Analysis analysis(model, access, swizzle);
  if (std::optional<Error> error = analysis.prepare())
    return *error;
  return analysis.degree(maxAddresses);
}

Expected<SwizzleAccess> tracea::algebra::toSwizzleAccess(
    const BankModel &model, const TileAccess &access, const std::string &name) {
  Swizzle none;
  Analysis analysis(model, access, none);
  if (std::optional<Error> error = analysis.prepare())
    return *error;
  return analysis.toSolver(name);
}
