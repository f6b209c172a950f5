//===- TargetInfo.cpp - Lookups and derived facts -------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What follows from the tables by arithmetic: widths, register tiles, peaks,
// and a description narrowed to a machine that lacks some of the features.
//
//===----------------------------------------------------------------------===//
#include "tracea/TargetInfo/TargetInfo.h"
#include "Tables.h"
#include "tracea/TargetInfo/DotProducts.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tracea::target {

//===----------------------------------------------------------------------===//
// Names of enumerators
//===----------------------------------------------------------------------===//

template <typename Enum>
using Names = std::vector<std::pair<Enum, std::string_view>>;

static const Names<TargetKind> &kindNames() {
  static const Names<TargetKind> names = {{TargetKind::CPU, "cpu"},
                                          {TargetKind::CUDA, "cuda"},
                                          {TargetKind::ROCm, "rocm"},
                                          {TargetKind::Metal, "metal"}};
  return names;
}

// MLIR's spellings where MLIR has the type.
static const Names<ElementType> &elementNames() {
  static const Names<ElementType> names = {
      {ElementType::F64, "f64"},
      {ElementType::F32, "f32"},
      {ElementType::TF32, "tf32"},
      {ElementType::F16, "f16"},
      {ElementType::BF16, "bf16"},
      {ElementType::F8E4M3FN, "f8E4M3FN"},
      {ElementType::F8E5M2, "f8E5M2"},
      {ElementType::F8E4M3FNUZ, "f8E4M3FNUZ"},
      {ElementType::F8E5M2FNUZ, "f8E5M2FNUZ"},
      {ElementType::I32, "i32"},
      {ElementType::I16, "i16"},
      {ElementType::I8, "i8"},
      {ElementType::I4, "i4"}};
  return names;
}

static const Names<UnitKind> &unitNames() {
  static const Names<UnitKind> names = {
      {UnitKind::Vector, "vector"},      {UnitKind::AMX, "amx"},
      {UnitKind::MMASync, "mma_sync"},   {UnitKind::WGMMA, "wgmma"},
      {UnitKind::MFMA, "mfma"},          {UnitKind::WMMA, "wmma"},
      {UnitKind::SimdGroup, "simdgroup"}};
  return names;
}

template <typename Enum>
static std::string_view nameOf(const Names<Enum> &names, Enum value) {
  for (const auto &[enumerator, name] : names)
    if (enumerator == value)
      return name;
  return "unknown";
}

template <typename Enum>
static std::optional<Enum> valueOf(const Names<Enum> &names,
                                   std::string_view text) {
  for (const auto &[enumerator, name] : names)
    if (name == text)
      return enumerator;
  return std::nullopt;
}

std::string_view stringify(TargetKind kind) {
  return nameOf(kindNames(), kind);
}
std::string_view stringify(ElementType type) {
  return nameOf(elementNames(), type);
}
std::string_view stringify(UnitKind kind) { return nameOf(unitNames(), kind); }
std::string_view stringify(SharedAccessKind kind) {
  return kind == SharedAccessKind::Read ? "read" : "write";
}
std::optional<TargetKind> parseTargetKind(std::string_view text) {
  return valueOf(kindNames(), text);
}
std::optional<ElementType> parseElementType(std::string_view text) {
  return valueOf(elementNames(), text);
}
std::optional<UnitKind> parseUnitKind(std::string_view text) {
  return valueOf(unitNames(), text);
}

unsigned bitWidth(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return 64;
  case ElementType::F32:
  case ElementType::TF32:
  case ElementType::I32:
    return 32;
  case ElementType::F16:
  case ElementType::BF16:
  case ElementType::I16:
    return 16;
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
  case ElementType::F8E4M3FNUZ:
  case ElementType::F8E5M2FNUZ:
  case ElementType::I8:
    return 8;
  case ElementType::I4:
    return 4;
  }
  return 0;
}

//===----------------------------------------------------------------------===//
// TargetDescription
//===----------------------------------------------------------------------===//

static bool contains(const std::vector<std::string> &list,
                     std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

bool TargetDescription::hasFeature(std::string_view feature) const {
  return contains(features, feature);
}

std::string TargetDescription::attributeString() const {
  std::string text;
  auto append = [&](char sign, const std::string &feature) {
    if (!text.empty())
      text += ',';
    text += sign;
    text += feature;
  };
  for (const std::string &feature : features)
    append('+', feature);
  for (const std::string &feature : disabledFeatures)
    append('-', feature);
  return text;
}

const MatrixUnit *TargetDescription::findUnit(UnitKind unit) const {
  for (const MatrixUnit &candidate : units)
    if (candidate.kind == unit)
      return &candidate;
  return nullptr;
}

const MatrixShape *TargetDescription::findShape(UnitKind unit,
                                                ElementType operand,
                                                ElementType accumulator) const {
  const MatrixUnit *found = findUnit(unit);
  if (!found)
    return nullptr;
  for (const MatrixShape &shape : found->shapes)
    if (shape.operand == operand && shape.accumulator == accumulator)
      return &shape;
  return nullptr;
}

const AccessPhase *TargetDescription::findPhase(int bytes,
                                                SharedAccessKind access) const {
  for (const AccessPhase &phase : shared.phases)
    if (phase.bytes == bytes && phase.access == access)
      return &phase;
  return nullptr;
}

int64_t TargetDescription::cacheBytes(int level) const {
  for (const CacheLevel &cache : caches)
    if (cache.level == level)
      return cache.bytes;
  return 0;
}

double TargetDescription::peakFlopsPerCycle(UnitKind unit,
                                            ElementType operand) const {
  for (const PeakRate &peak : peaks)
    if (peak.unit == unit && peak.operand == operand)
      return peak.flopsPerCycle;
  return 0;
}

double TargetDescription::bestFlopsPerCycle(ElementType operand) const {
  double best = 0;
  for (const PeakRate &peak : peaks)
    if (peak.operand == operand)
      best = std::max(best, peak.flopsPerCycle);
  return best;
}

//===----------------------------------------------------------------------===//
// The tables
//===----------------------------------------------------------------------===//

const std::vector<TargetDescription> &all() {
  static const std::vector<TargetDescription> targets = [] {
    std::vector<TargetDescription> result;
    addX86Targets(result);
    addAArch64Targets(result);
    addNVIDIATargets(result);
    addAMDGPUTargets(result);
    addAppleTargets(result);
    return result;
  }();
  return targets;
}

std::optional<TargetDescription> lookup(std::string_view name) {
  for (const TargetDescription &target : all())
    if (target.name == name)
      return target;
  return std::nullopt;
}

// Levenshtein distance, by rows.
static unsigned editDistance(std::string_view from, std::string_view to) {
  std::vector<unsigned> row(to.size() + 1);
  for (size_t j = 0; j < row.size(); ++j)
    row[j] = static_cast<unsigned>(j);
  for (size_t i = 1; i <= from.size(); ++i) {
    unsigned diagonal = row[0];
    row[0] = static_cast<unsigned>(i);
    for (size_t j = 1; j <= to.size(); ++j) {
      unsigned substitute = diagonal + (from[i - 1] != to[j - 1]);
      diagonal = row[j];
      row[j] = std::min({substitute, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::vector<std::string> closestNames(std::string_view name, unsigned count) {
  // A name from a command line may be of any length; none of ours is long.
  std::string_view head = name.substr(0, 64);
  // By distance; among equals the longer common beginning, for a name cut short
  // is the common slip.
  struct Candidate {
    unsigned distance;
    size_t commonPrefix;
    size_t index;
  };
  std::vector<Candidate> ranked;
  for (size_t i = 0; i < all().size(); ++i) {
    std::string_view known = all()[i].name;
    size_t common = 0;
    while (common < head.size() && common < known.size() &&
           head[common] == known[common])
      ++common;
    ranked.push_back({editDistance(head, known), common, i});
  }
  std::sort(ranked.begin(), ranked.end(),
            [](const Candidate &lhs, const Candidate &rhs) {
              if (lhs.distance != rhs.distance)
                return lhs.distance < rhs.distance;
              if (lhs.commonPrefix != rhs.commonPrefix)
                return lhs.commonPrefix > rhs.commonPrefix;
              return lhs.index < rhs.index;
            });
  std::vector<std::string> names;
  for (size_t i = 0; i < ranked.size() && i < count; ++i)
    names.push_back(all()[ranked[i].index].name);
  return names;
}

//===----------------------------------------------------------------------===//
// Derived facts
//===----------------------------------------------------------------------===//

int vectorLanes(const TargetDescription &target, unsigned elementBits) {
  if (target.vector.bits <= 0 || elementBits == 0 ||
      target.vector.bits % elementBits != 0)
    return 0;
  return static_cast<int>(target.vector.bits / elementBits);
}

std::optional<RegisterTile> registerTile(const TargetDescription &target,
                                         unsigned accumulatorBits) {
  int lanes = vectorLanes(target, accumulatorBits);
  if (target.isGPU() || lanes == 0)
    return std::nullopt;
  // A chain of multiply-adds into one register waits for the latency, so at
  // least latency x pipes accumulators must be in flight. Entries that stand
  // for many machines take the most that any 256-bit core here needs.
  int needed = target.vector.fmaPerCycle * target.vector.fmaLatency;
  if (needed == 0)
    needed = 10;
  // Exactly so many leave no slack: whatever delays one delays all behind it.
  // On Zen 3 4 x 2 vectors ran at half the rate of 4 x 3 on a busy core.
  constexpr int fewRegisters = 16;
  if (target.vector.registers <= fewRegisters)
    needed += target.vector.fmaPerCycle;
  // Rows are a power of two, so that packing transposes whole blocks and the
  // tile stays a linear lane map. More than 8 only adds broadcasts: the loads
  // of B are amortised already.
  for (int rows = 8; rows >= 1; rows /= 2)
    for (int vectors = 2; vectors <= 3; ++vectors) {
      // A row of B and one broadcast of A live beside the accumulators.
      bool fits = rows * vectors + vectors + 1 <= target.vector.registers;
      if (fits && rows * vectors >= needed)
        return RegisterTile{rows, vectors * lanes};
    }
  // Too few registers to keep the pipes busy: as many as there are.
  int rows = 1;
  while (rows < 8 && 2 * rows * 2 + 2 + 1 <= target.vector.registers)
    rows *= 2;
  return RegisterTile{rows, 2 * lanes};
}

void deriveVectorFacts(TargetDescription &target) {
  const VectorUnit &vector = target.vector;
  target.units.erase(std::remove_if(target.units.begin(), target.units.end(),
                                    [](const MatrixUnit &unit) {
                                      return unit.kind == UnitKind::Vector;
                                    }),
                     target.units.end());
  target.peaks.erase(std::remove_if(target.peaks.begin(), target.peaks.end(),
                                    [](const PeakRate &peak) {
                                      return peak.unit == UnitKind::Vector;
                                    }),
                     target.peaks.end());
  if (vector.bits == 0)
    return;

  MatrixUnit unit;
  auto add = [&](ElementType operand, ElementType accumulator, int folded,
                 double perCycle) {
    int lanes = vectorLanes(target, bitWidth(accumulator));
    unit.shapes.push_back({1, lanes, folded, operand, accumulator});
    if (perCycle > 0)
      target.peaks.push_back(
          {UnitKind::Vector, operand, 2.0 * lanes * folded * perCycle});
  };
  add(ElementType::F32, ElementType::F32, 1, vector.fmaPerCycle);
  add(ElementType::F64, ElementType::F64, 1, vector.fmaPerCycle);
  if (vector.fp16)
    add(ElementType::F16, ElementType::F16, 1, vector.fmaPerCycle);
  auto addDots = [&](ElementType operand, ElementType accumulator,
                     double perCycle) {
    const DotProduct *dot =
        findDotProduct(target, UnitKind::Vector, operand, accumulator);
    if (!dot)
      return;
    unit.shapes.push_back(
        {dot->tile.rows, dot->columns(), dot->folded, operand, accumulator});
    if (perCycle > 0)
      target.peaks.push_back({UnitKind::Vector, operand,
                              2.0 * dot->lanes() * dot->folded * perCycle});
  };
  if (vector.bf16Dot)
    addDots(ElementType::BF16, ElementType::F32, vector.bf16DotPerCycle);
  if (vector.int8Dot)
    addDots(ElementType::I8, ElementType::I32, vector.int8DotPerCycle);
  target.units.push_back(std::move(unit));
}

static void narrowX86Vector(TargetDescription &target) {
  VectorUnit &vector = target.vector;
  bool wide = target.hasFeature("avx512f") && target.hasFeature("avx512vl") &&
              target.hasFeature("avx512bw") && target.hasFeature("avx512dq");
  bool middle = target.hasFeature("avx2");
  vector.fma = vector.fma && target.hasFeature("fma");
  int bits = wide ? 512 : middle ? 256 : 128;
  if (bits < vector.bits) {
    vector.bits = bits;
    vector.registers = 16;
    vector.maskRegisters = 0;
    // Every core of the tables that has AVX2 starts two 256-bit multiply-adds
    // a cycle; below that nothing is claimed.
    bool known = vector.fmaPerCycle != 0 && bits == 256 && vector.fma;
    vector.fmaPerCycle = known ? 2 : 0;
    vector.fmaLatency = known ? vector.fmaLatency : 0;
    vector.bf16DotPerCycle = vector.int8DotPerCycle = 0;
  }
  if (!vector.fma)
    vector.fmaPerCycle = vector.fmaLatency = 0;
  vector.bf16Dot = findDotProduct(target, UnitKind::Vector, ElementType::BF16,
                                  ElementType::F32) != nullptr;
  vector.int8Dot = findDotProduct(target, UnitKind::Vector, ElementType::I8,
                                  ElementType::I32) != nullptr;
  vector.fp16 = vector.fp16 && wide && target.hasFeature("avx512fp16");

  auto dropAMX = [&](ElementType operand, const char *feature) {
    if (target.hasFeature("amx-tile") && target.hasFeature(feature))
      return;
    for (MatrixUnit &unit : target.units)
      if (unit.kind == UnitKind::AMX)
        unit.shapes.erase(std::remove_if(unit.shapes.begin(), unit.shapes.end(),
                                         [&](const MatrixShape &shape) {
                                           return shape.operand == operand;
                                         }),
                          unit.shapes.end());
    target.peaks.erase(std::remove_if(target.peaks.begin(), target.peaks.end(),
                                      [&](const PeakRate &peak) {
                                        return peak.unit == UnitKind::AMX &&
                                               peak.operand == operand;
                                      }),
                       target.peaks.end());
  };
  dropAMX(ElementType::BF16, "amx-bf16");
  dropAMX(ElementType::I8, "amx-int8");
}

static void narrowAArch64Vector(TargetDescription &target) {
  VectorUnit &vector = target.vector;
  if (!target.hasFeature("neon"))
    vector = VectorUnit();
  vector.fp16 = vector.fp16 && target.hasFeature("fullfp16");
  vector.bf16Dot = findDotProduct(target, UnitKind::Vector, ElementType::BF16,
                                  ElementType::F32) != nullptr;
  vector.int8Dot = findDotProduct(target, UnitKind::Vector, ElementType::I8,
                                  ElementType::I32) != nullptr;
  if (!target.hasFeature("sve"))
    vector.scalableBits = 0;
}

TargetDescription narrow(const TargetDescription &target,
                         const std::vector<std::string> &has) {
  TargetDescription result = target;
  if (target.isGPU())
    return result;
  result.features.clear();
  for (const std::string &feature : target.features) {
    if (contains(has, feature))
      result.features.push_back(feature);
    else
      result.disabledFeatures.push_back(feature);
  }
  if (result.features.size() == target.features.size())
    return result;
  // A rate is that of an instruction.
  if (findDotProduct(target, UnitKind::Vector, ElementType::I8,
                     ElementType::I32) !=
      findDotProduct(result, UnitKind::Vector, ElementType::I8,
                     ElementType::I32))
    result.vector.int8DotPerCycle = 0;
  if (result.arch == "x86_64")
    narrowX86Vector(result);
  else if (result.arch == "aarch64")
    narrowAArch64Vector(result);
  result.units.erase(std::remove_if(result.units.begin(), result.units.end(),
                                    [](const MatrixUnit &unit) {
                                      return unit.shapes.empty();
                                    }),
                     result.units.end());
  deriveVectorFacts(result);
  return result;
}

} // namespace tracea::target
