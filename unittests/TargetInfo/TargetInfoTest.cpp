//===- TargetInfoTest.cpp - The tables are consistent ---------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tracea/TargetInfo/DotProducts.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <set>

using namespace tracea::target;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

namespace {

bool isPowerOfTwo(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

/// Rank over F2 of the vectors given as bit masks.
unsigned rank(std::vector<unsigned> rows) {
  unsigned result = 0;
  for (unsigned bit = 0; bit < 32; ++bit) {
    size_t pivot = result;
    while (pivot < rows.size() && !((rows[pivot] >> bit) & 1))
      ++pivot;
    if (pivot == rows.size())
      continue;
    std::swap(rows[result], rows[pivot]);
    for (size_t row = 0; row < rows.size(); ++row)
      if (row != result && ((rows[row] >> bit) & 1))
        rows[row] ^= rows[result];
    ++result;
  }
  return result;
}

class EveryTarget : public testing::TestWithParam<TargetDescription> {};

TEST_P(EveryTarget, IsIdentified) {
  const TargetDescription &target = GetParam();
  EXPECT_FALSE(target.name.empty());
  EXPECT_FALSE(target.arch.empty());
  EXPECT_TRUE(target.disabledFeatures.empty());
  // Metal's way out is SPIR-V, all others need an LLVM processor.
  EXPECT_EQ(target.cpu.empty(), target.kind == TargetKind::Metal);
  EXPECT_EQ(target.triple.empty(), target.kind == TargetKind::Metal);
  std::optional<TargetDescription> found = lookup(target.name);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->cpu, target.cpu);
}

TEST_P(EveryTarget, FeaturesAreListedOnce) {
  const TargetDescription &target = GetParam();
  std::set<std::string> unique(target.features.begin(), target.features.end());
  EXPECT_EQ(unique.size(), target.features.size());
  for (const std::string &feature : target.features) {
    EXPECT_EQ(feature.find_first_of("+-, "), feature.find('-')) << feature;
    EXPECT_NE(feature[0], '-');
  }
}

TEST_P(EveryTarget, MatrixShapesArePositive) {
  const TargetDescription &target = GetParam();
  ASSERT_FALSE(target.units.empty());
  std::set<UnitKind> kinds;
  for (const MatrixUnit &unit : target.units) {
    EXPECT_TRUE(kinds.insert(unit.kind).second);
    EXPECT_FALSE(unit.shapes.empty());
    EXPECT_TRUE(isPowerOfTwo(unit.lanes));
    if (target.isGPU())
      EXPECT_EQ(unit.lanes % target.occupancy.subgroupSize, 0);
    for (const MatrixShape &shape : unit.shapes) {
      EXPECT_GT(shape.m, 0);
      EXPECT_GT(shape.n, 0);
      EXPECT_GT(shape.k, 0);
      EXPECT_TRUE(shape.hasN(shape.n));
      EXPECT_GE(shape.sumDigits, 0);
      if (shape.accumulator == ElementType::F32)
        EXPECT_LT(shape.sumDigits, 24);
      if (shape.nStep != 0) {
        EXPECT_EQ((shape.nMax - shape.n) % shape.nStep, 0);
        EXPECT_TRUE(shape.hasN(shape.nMax));
        EXPECT_FALSE(shape.hasN(shape.nMax + shape.nStep));
        EXPECT_FALSE(shape.hasN(shape.n + 1));
      }
      EXPECT_EQ(target.findShape(unit.kind, shape.operand, shape.accumulator)
                    ->operand,
                shape.operand);
    }
  }
}

TEST_P(EveryTarget, PeaksBelongToUnits) {
  const TargetDescription &target = GetParam();
  for (const PeakRate &peak : target.peaks) {
    EXPECT_GT(peak.flopsPerCycle, 0);
    EXPECT_LE(peak.flopsPerCycle, target.bestFlopsPerCycle(peak.operand));
    // GPUs do not list the shapes of their vector unit.
    if (target.isGPU() && peak.unit == UnitKind::Vector)
      continue;
    const MatrixUnit *unit = target.findUnit(peak.unit);
    ASSERT_NE(unit, nullptr);
    bool known = false;
    for (const MatrixShape &shape : unit->shapes)
      known |= shape.operand == peak.operand;
    EXPECT_TRUE(known) << stringify(peak.operand);
  }
}

TEST_P(EveryTarget, VectorFactsFitTogether) {
  const TargetDescription &target = GetParam();
  const VectorUnit &vector = target.vector;
  EXPECT_TRUE(isPowerOfTwo(vector.bits));
  EXPECT_EQ(vectorLanes(target, 32) * 32, vector.bits);
  EXPECT_EQ(vectorLanes(target, 16), 2 * vectorLanes(target, 32));
  EXPECT_EQ(vectorLanes(target, 0), 0);
  EXPECT_EQ(vectorLanes(target, 24), 0);
  EXPECT_EQ(vector.fmaPerCycle == 0, vector.fmaLatency == 0);
  EXPECT_TRUE(vector.bf16Dot || vector.bf16DotPerCycle == 0);
  EXPECT_TRUE(vector.int8Dot || vector.int8DotPerCycle == 0);
  std::optional<RegisterTile> tile = registerTile(target, 32);
  if (target.isGPU()) {
    EXPECT_FALSE(tile.has_value());
    return;
  }
  ASSERT_TRUE(tile.has_value());
  int vectors = tile->columns / vectorLanes(target, 32);
  EXPECT_TRUE(isPowerOfTwo(tile->rows));
  // The tile, its row of B and one broadcast stay in registers, and the chains
  // cover the latency.
  EXPECT_LE(tile->rows * vectors + vectors + 1, vector.registers);
  EXPECT_GE(tile->rows * vectors, vector.fmaPerCycle * vector.fmaLatency);
}

TEST_P(EveryTarget, SharedMemoryFits) {
  const TargetDescription &target = GetParam();
  const SharedMemory &shared = target.shared;
  if (!target.isGPU()) {
    EXPECT_EQ(shared.perWorkgroup, 0);
    EXPECT_TRUE(shared.phases.empty());
    return;
  }
  EXPECT_GT(shared.perWorkgroup, 0);
  if (shared.perMultiprocessor != 0)
    EXPECT_LE(shared.perWorkgroup + shared.reservedPerWorkgroup,
              shared.perMultiprocessor);
  if (shared.banks == 0) {
    EXPECT_TRUE(shared.phases.empty()) << "phases need banks";
    return;
  }
  EXPECT_TRUE(isPowerOfTwo(shared.banks));
  EXPECT_TRUE(isPowerOfTwo(shared.bankBytes));
}

TEST_P(EveryTarget, PhasesAreIndependentSubspaces) {
  const TargetDescription &target = GetParam();
  std::set<std::pair<int, SharedAccessKind>> seen;
  for (const AccessPhase &phase : target.shared.phases) {
    EXPECT_TRUE(seen.insert({phase.bytes, phase.access}).second);
    EXPECT_TRUE(isPowerOfTwo(phase.bytes));
    EXPECT_EQ(rank(phase.lanes), phase.lanes.size());
    for (unsigned mask : phase.lanes) {
      EXPECT_NE(mask, 0u);
      EXPECT_LT(mask, static_cast<unsigned>(target.occupancy.subgroupSize));
    }
    // Merged phases are made of whole ones.
    EXPECT_EQ(phase.pairs.empty(), phase.merged.empty());
    EXPECT_TRUE(phase.pairs.empty() || phase.mergingKnown);
    if (!phase.pairs.empty()) {
      std::vector<unsigned> both = phase.merged;
      both.insert(both.end(), phase.lanes.begin(), phase.lanes.end());
      EXPECT_EQ(rank(phase.merged), phase.merged.size());
      EXPECT_EQ(rank(both), phase.merged.size());
      EXPECT_GT(phase.merged.size(), phase.lanes.size());
    }
    // The lanes of a phase never ask for more than the banks deliver at once.
    EXPECT_LE((1 << phase.lanes.size()) * phase.bytes,
              target.shared.banks * target.shared.bankBytes);
    EXPECT_EQ(target.findPhase(phase.bytes, phase.access)->lanes, phase.lanes);
  }
}

TEST_P(EveryTarget, OccupancyFits) {
  const TargetDescription &target = GetParam();
  const Occupancy &occupancy = target.occupancy;
  if (!target.isGPU()) {
    EXPECT_EQ(occupancy.subgroupSize, 0);
    return;
  }
  EXPECT_TRUE(isPowerOfTwo(occupancy.subgroupSize));
  EXPECT_EQ(occupancy.maxThreadsPerWorkgroup % occupancy.subgroupSize, 0);
  EXPECT_GE(occupancy.barriersPerWorkgroup, 1);
  EXPECT_GT(target.cores, 0);
  if (occupancy.maxThreadsPerMultiprocessor != 0)
    EXPECT_GE(occupancy.maxThreadsPerMultiprocessor,
              occupancy.maxThreadsPerWorkgroup);
  EXPECT_TRUE(!target.async.bulkCopy || target.async.mbarrier)
      << "bulk copies complete on an mbarrier";
}

TEST_P(EveryTarget, CachesGrowWithTheLevel) {
  const TargetDescription &target = GetParam();
  int level = 0;
  for (const CacheLevel &cache : target.caches) {
    EXPECT_GT(cache.level, level);
    EXPECT_GT(cache.bytes, 0);
    EXPECT_GT(cache.sharedBy, 0);
    EXPECT_EQ(target.cacheBytes(cache.level), cache.bytes);
    level = cache.level;
  }
  EXPECT_EQ(target.cacheBytes(9), 0);
}

TEST_P(EveryTarget, IsDescribed) {
  const TargetDescription &target = GetParam();
  std::string text = describe(target);
  EXPECT_THAT(text, HasSubstr(target.name));
  EXPECT_EQ(text.back(), '\n');
  for (const MatrixUnit &unit : target.units)
    EXPECT_THAT(text, HasSubstr("unit " + std::string(stringify(unit.kind))));
}

INSTANTIATE_TEST_SUITE_P(
    Tables, EveryTarget, testing::ValuesIn(all()),
    [](const testing::TestParamInfo<TargetDescription> &info) {
      std::string name = info.param.name;
      for (char &c : name)
        if (c == '-')
          c = '_';
      return name;
    });

TEST(TargetTables, NamesAreUnique) {
  std::set<std::string> names;
  for (const TargetDescription &target : all())
    EXPECT_TRUE(names.insert(target.name).second) << target.name;
  for (const char *name :
       {"x86-64-v2",      "x86-64-v3",   "x86-64-v4",   "znver4",   "haswell",
        "sapphirerapids", "neoverse-n1", "neoverse-v1", "sm_80",    "sm_86",
        "sm_89",          "sm_90a",      "sm_100",      "sm_120",   "gfx90a",
        "gfx942",         "gfx1100",     "gfx1201",     "apple-m1", "apple-m2",
        "apple-m3",       "apple-m4",    "sm_70",       "sm_75"})
    EXPECT_THAT(names, Contains(name));
}

TEST(TargetTables, UnknownNamesAreRefused) {
  for (const char *name : {"", "sm_90", "SM_90A", "sm_90a ", "gfx9420", "cpu",
                           "host", "znver", "x86-64"})
    EXPECT_FALSE(lookup(name).has_value()) << name;
}

TEST(TargetTables, ClosestNamesHelp) {
  EXPECT_EQ(closestNames("sm_90").front(), "sm_90a");
  EXPECT_EQ(closestNames("gfx943").front(), "gfx942");
  EXPECT_EQ(closestNames("zenver4").front(), "znver4");
  EXPECT_EQ(closestNames("x", 2).size(), 2u);
  EXPECT_EQ(closestNames("x", 1000).size(), all().size());
  EXPECT_EQ(closestNames(std::string(1 << 20, 'q'), 1).size(), 1u);
}

TEST(TargetTables, EnumeratorsRoundTrip) {
  for (TargetKind kind :
       {TargetKind::CPU, TargetKind::CUDA, TargetKind::ROCm, TargetKind::Metal})
    EXPECT_EQ(parseTargetKind(stringify(kind)), kind);
  for (UnitKind kind :
       {UnitKind::Vector, UnitKind::AMX, UnitKind::MMASync, UnitKind::WGMMA,
        UnitKind::MFMA, UnitKind::WMMA, UnitKind::SimdGroup})
    EXPECT_EQ(parseUnitKind(stringify(kind)), kind);
  for (ElementType type :
       {ElementType::F64, ElementType::F32, ElementType::TF32, ElementType::F16,
        ElementType::BF16, ElementType::F8E4M3FN, ElementType::F8E5M2,
        ElementType::F8E4M3FNUZ, ElementType::F8E5M2FNUZ, ElementType::I32,
        ElementType::I16, ElementType::I8, ElementType::I4}) {
    EXPECT_EQ(parseElementType(stringify(type)), type);
    EXPECT_GT(bitWidth(type), 0u);
  }
  EXPECT_FALSE(parseUnitKind("tensor").has_value());
  EXPECT_FALSE(parseElementType("F32").has_value());
  EXPECT_FALSE(parseTargetKind("gpu").has_value());
}

// The peak of a product's data sheet follows from its entry.
struct DataSheet {
  const char *name;
  UnitKind unit;
  ElementType type;
  double teraflops;
};

TEST(TargetTables, PeaksMatchDataSheets) {
  const DataSheet sheets[] = {
      {"sm_70", UnitKind::MMASync, ElementType::F16, 125},
      {"sm_70", UnitKind::Vector, ElementType::F32, 15.7},
      {"sm_70", UnitKind::Vector, ElementType::F64, 7.8},
      {"sm_75", UnitKind::MMASync, ElementType::F16, 65},
      {"sm_75", UnitKind::MMASync, ElementType::I8, 130},
      {"sm_80", UnitKind::MMASync, ElementType::BF16, 312},
      {"sm_80", UnitKind::Vector, ElementType::F32, 19.5},
      {"sm_86", UnitKind::MMASync, ElementType::F16, 71.2},
      {"sm_89", UnitKind::MMASync, ElementType::BF16, 165.2},
      {"sm_90a", UnitKind::WGMMA, ElementType::BF16, 989.4},
      {"sm_90a", UnitKind::WGMMA, ElementType::F8E4M3FN, 1978.9},
      {"sm_100", UnitKind::Vector, ElementType::F32, 74.5},
      {"sm_100", UnitKind::Vector, ElementType::F64, 37.2},
      {"sm_120", UnitKind::MMASync, ElementType::BF16, 209.5},
      {"gfx90a", UnitKind::MFMA, ElementType::F16, 191.5},
      {"gfx942", UnitKind::MFMA, ElementType::BF16, 1307.4},
      {"gfx942", UnitKind::Vector, ElementType::F32, 163.4},
      {"gfx1100", UnitKind::Vector, ElementType::F32, 61.4},
      {"gfx1201", UnitKind::WMMA, ElementType::F16, 194.6},
  };
  for (const DataSheet &sheet : sheets) {
    std::optional<TargetDescription> target = lookup(sheet.name);
    ASSERT_TRUE(target.has_value());
    double peak = target->peakFlopsPerCycle(sheet.unit, sheet.type) *
                  target->cores * target->clockGHz * 1e-3;
    EXPECT_NEAR(peak, sheet.teraflops, 0.005 * sheet.teraflops) << sheet.name;
  }
}

TEST(TargetTables, CopiesBesideLanesBeginWithSM80) {
  for (const TargetDescription &target : all()) {
    if (target.kind != TargetKind::CUDA)
      continue;
    bool isOld = target.name == "sm_70" || target.name == "sm_75";
    EXPECT_EQ(target.async.asyncCopy, !isOld) << target.name;
    EXPECT_EQ(target.async.mbarrier, !isOld) << target.name;
    EXPECT_EQ(target.shared.perMultiprocessor - target.shared.perWorkgroup,
              isOld ? 0 : 1024)
        << target.name;
  }
}

TEST(RegisterTile, FollowsTheRegisterFile) {
  std::optional<RegisterTile> avx512 = registerTile(*lookup("znver4"), 32);
  ASSERT_TRUE(avx512.has_value());
  EXPECT_EQ(avx512->rows, 8);
  EXPECT_EQ(avx512->columns, 32);
  // Haswell needs 10 chains: 4 x 2 vectors would leave a pipe idle.
  std::optional<RegisterTile> haswell = registerTile(*lookup("haswell"), 32);
  ASSERT_TRUE(haswell.has_value());
  EXPECT_EQ(haswell->rows, 4);
  EXPECT_EQ(haswell->columns, 24);
  std::optional<RegisterTile> neon = registerTile(*lookup("neoverse-v1"), 64);
  ASSERT_TRUE(neon.has_value());
  EXPECT_EQ(neon->rows, 8);
  EXPECT_EQ(neon->columns, 4);
  TargetDescription none;
  EXPECT_FALSE(registerTile(none, 32).has_value());
}

std::vector<std::string> without(std::vector<std::string> features,
                                 const std::string &prefix) {
  std::vector<std::string> kept;
  for (const std::string &feature : features)
    if (feature.rfind(prefix, 0) != 0)
      kept.push_back(feature);
  return kept;
}

TEST(Narrow, KeepsAFullMachine) {
  TargetDescription target = *lookup("znver4");
  TargetDescription same = narrow(target, target.features);
  EXPECT_EQ(same.features, target.features);
  EXPECT_EQ(same.vector.bits, 512);
  EXPECT_EQ(same.peaks.size(), target.peaks.size());
  EXPECT_THAT(same.attributeString(), Not(HasSubstr("-avx")));
}

TEST(Narrow, WithoutAVX512) {
  TargetDescription target = *lookup("znver4");
  TargetDescription less = narrow(target, without(target.features, "avx512"));
  EXPECT_EQ(less.vector.bits, 256);
  EXPECT_EQ(less.vector.registers, 16);
  EXPECT_EQ(less.vector.maskRegisters, 0);
  EXPECT_FALSE(less.vector.bf16Dot);
  EXPECT_EQ(less.peakFlopsPerCycle(UnitKind::Vector, ElementType::I8), 0);
  EXPECT_FALSE(less.hasFeature("avx512f"));
  EXPECT_THAT(less.attributeString(), HasSubstr("-avx512f"));
  EXPECT_THAT(less.attributeString(), HasSubstr("+avx2"));
  EXPECT_EQ(
      less.findShape(UnitKind::Vector, ElementType::BF16, ElementType::F32),
      nullptr);
  EXPECT_EQ(
      less.findShape(UnitKind::Vector, ElementType::F32, ElementType::F32)->n,
      8);
  // Half the width, twice the rate.
  EXPECT_EQ(less.peakFlopsPerCycle(UnitKind::Vector, ElementType::F32),
            target.peakFlopsPerCycle(UnitKind::Vector, ElementType::F32));
}

TEST(Narrow, WithoutOneOfTheWidePieces) {
  TargetDescription target = *lookup("x86-64-v4");
  TargetDescription less = narrow(target, without(target.features, "avx512vl"));
  EXPECT_EQ(less.vector.bits, 256);
  EXPECT_TRUE(less.vector.fma);
}

TEST(Narrow, WithoutBF16Only) {
  TargetDescription target = *lookup("znver4");
  TargetDescription less =
      narrow(target, without(target.features, "avx512bf16"));
  EXPECT_EQ(less.vector.bits, 512);
  EXPECT_EQ(less.vector.registers, 32);
  EXPECT_EQ(less.vector.maskRegisters, 8);
  EXPECT_EQ(less.vector.fmaPerCycle, target.vector.fmaPerCycle);
  EXPECT_FALSE(less.vector.bf16Dot);
  EXPECT_TRUE(less.vector.int8Dot);
  EXPECT_EQ(less.peakFlopsPerCycle(UnitKind::Vector, ElementType::BF16), 0);
}

TEST(Narrow, ShorterDotProducts) {
  // A guest whose AVX-512 is hidden has the 256-bit form.
  TargetDescription target = *lookup("znver5");
  TargetDescription less = narrow(target, without(target.features, "avx512"));
  EXPECT_EQ(less.vector.bits, 256);
  EXPECT_TRUE(less.vector.int8Dot);
  EXPECT_FALSE(less.vector.bf16Dot);
}

TEST(Narrow, OtherDotProducts) {
  // Without products of bytes there are those of pairs, whose rate is another.
  TargetDescription target = *lookup("znver4");
  TargetDescription less =
      narrow(target, without(target.features, "avx512vnni"));
  EXPECT_EQ(less.vector.bits, 512);
  const DotProduct *pairs =
      findDotProduct(less, UnitKind::Vector, ElementType::I8, ElementType::I32);
  ASSERT_NE(pairs, nullptr);
  EXPECT_EQ(pairs->feature, "avx512bw");
  EXPECT_EQ(less.peakFlopsPerCycle(UnitKind::Vector, ElementType::I8), 0);
}

TEST(DotProducts, FollowFeaturesAndVectors) {
  auto find = [](const char *name, ElementType operand,
                 ElementType accumulator) {
    return findDotProduct(*lookup(name), UnitKind::Vector, operand,
                          accumulator);
  };
  const DotProduct *vnni =
      find("cascadelake", ElementType::I8, ElementType::I32);
  ASSERT_NE(vnni, nullptr);
  EXPECT_EQ(vnni->folded, 4);
  EXPECT_TRUE(vnni->isFirstUnsigned);
  EXPECT_EQ(vnni->vectorBits, 512);
  EXPECT_EQ(find("cascadelake", ElementType::BF16, ElementType::F32), nullptr);
  EXPECT_NE(find("cooperlake", ElementType::BF16, ElementType::F32), nullptr);
  EXPECT_NE(find("cooperlake", ElementType::I8, ElementType::I32), nullptr);
  const DotProduct *shorter =
      find("alderlake", ElementType::I8, ElementType::I32);
  ASSERT_NE(shorter, nullptr);
  EXPECT_EQ(shorter->vectorBits, 256);
  const DotProduct *sdot =
      find("neoverse-n1", ElementType::I8, ElementType::I32);
  ASSERT_NE(sdot, nullptr);
  EXPECT_FALSE(sdot->isFirstUnsigned);
  const DotProduct *pairs = find("znver4", ElementType::BF16, ElementType::F32);
  ASSERT_NE(pairs, nullptr);
  EXPECT_EQ(pairs->folded, 2);
  // Blocks of two rows by two columns, where a processor has them.
  const DotProduct *smmla =
      find("neoverse-n2", ElementType::I8, ElementType::I32);
  ASSERT_NE(smmla, nullptr);
  EXPECT_EQ(smmla->feature, "i8mm");
  EXPECT_EQ(smmla->folded, 8);
  EXPECT_EQ(smmla->tile.rows, 2);
  EXPECT_EQ(smmla->columns(), 2);
  TargetDescription without8 = narrow(
      *lookup("neoverse-n2"), without(lookup("neoverse-n2")->features, "i8mm"));
  EXPECT_EQ(findDotProduct(without8, UnitKind::Vector, ElementType::I8,
                           ElementType::I32),
            sdot);
  EXPECT_EQ(find("neoverse-v1", ElementType::BF16, ElementType::F32)->folded,
            4);
  // Integers are exact, whoever adds them up; floats are not.
  EXPECT_EQ(vnni->arithmetic, sdot->arithmetic);
  EXPECT_NE(
      pairs->arithmetic,
      find("neoverse-v1", ElementType::BF16, ElementType::F32)->arithmetic);
  // Bytes are widened where there are products of pairs alone.
  for (auto [name, bits] :
       {std::pair("x86-64-v4", 512), {"haswell", 256}, {"x86-64-v2", 128}}) {
    const DotProduct *widened = find(name, ElementType::I8, ElementType::I32);
    ASSERT_NE(widened, nullptr) << name;
    EXPECT_EQ(widened->vectorBits, bits);
    EXPECT_EQ(widened->folded, 2);
    EXPECT_EQ(widened->element, ElementType::I16);
    EXPECT_FALSE(widened->addsToSums);
    EXPECT_EQ(widened->arithmetic, vnni->arithmetic);
  }
  EXPECT_EQ(vnni->element, ElementType::I8);
  EXPECT_TRUE(vnni->addsToSums);
  EXPECT_EQ(find("armv8-a", ElementType::I8, ElementType::I32), nullptr);
  EXPECT_EQ(find("icelake-server", ElementType::BF16, ElementType::F32),
            nullptr);
  EXPECT_EQ(find("znver4", ElementType::I8, ElementType::F32), nullptr);
  EXPECT_EQ(find("sm_90a", ElementType::I8, ElementType::I32), nullptr);
}

TEST(DotProducts, AreWordsOfTheTables) {
  // The shapes of units and the table of instructions agree.
  for (const TargetDescription &target : all())
    for (auto [operand, accumulator] :
         {std::pair(ElementType::I8, ElementType::I32),
          std::pair(ElementType::BF16, ElementType::F32)}) {
      if (target.isGPU())
        continue;
      for (UnitKind unit : {UnitKind::Vector, UnitKind::AMX}) {
        const DotProduct *dot =
            findDotProduct(target, unit, operand, accumulator);
        const MatrixShape *shape = target.findShape(unit, operand, accumulator);
        ASSERT_EQ(dot != nullptr, shape != nullptr) << target.name;
        if (!dot)
          continue;
        EXPECT_EQ(dot->folded * dot->tile.words, shape->k) << target.name;
        EXPECT_EQ(dot->columns(), shape->n) << target.name;
        EXPECT_EQ(dot->tile.rows, shape->m) << target.name;
        EXPECT_EQ(dot->tile.registers > 0, unit == UnitKind::AMX);
        int bits = dot->folded * static_cast<int>(bitWidth(dot->element));
        bool hasBlocks = dot->tile.rows > 1 && dot->tile.registers == 0;
        EXPECT_EQ(bits, hasBlocks ? 64 : 32) << target.name;
        // Operands and sums fill the registers.
        EXPECT_EQ(dot->columns() * bits, dot->vectorBits) << target.name;
      }
    }
}

TEST(DotProducts, TheFastestUnit) {
  auto fastest = [](const TargetDescription &target, ElementType operand,
                    ElementType accumulator) {
    return findFastestDotProduct(target, operand, accumulator);
  };
  TargetDescription target = *lookup("sapphirerapids");
  const DotProduct *pairs =
      fastest(target, ElementType::BF16, ElementType::F32);
  ASSERT_NE(pairs, nullptr);
  EXPECT_EQ(pairs->unit, UnitKind::AMX);
  EXPECT_EQ(pairs->arithmetic, "tdpbf16ps");
  EXPECT_TRUE(pairs->joinsWords);
  const DotProduct *bytes = fastest(target, ElementType::I8, ElementType::I32);
  ASSERT_NE(bytes, nullptr);
  EXPECT_EQ(bytes->unit, UnitKind::AMX);
  // Exact, as the vector unit's: one class.
  EXPECT_EQ(bytes->arithmetic, "dot");
  EXPECT_FALSE(bytes->joinsWords);
  // Where the system hides tiles, or one type of them.
  TargetDescription less = narrow(target, without(target.features, "amx"));
  EXPECT_EQ(fastest(less, ElementType::I8, ElementType::I32)->unit,
            UnitKind::Vector);
  less = narrow(target, without(target.features, "amx-int8"));
  EXPECT_EQ(fastest(less, ElementType::I8, ElementType::I32)->unit,
            UnitKind::Vector);
  EXPECT_EQ(fastest(less, ElementType::BF16, ElementType::F32)->unit,
            UnitKind::AMX);
  EXPECT_EQ(fastest(*lookup("haswell"), ElementType::BF16, ElementType::F32),
            nullptr);
}

TEST(DotProducts, FeaturesThatWouldDo) {
  EXPECT_THAT(dotFeatures("x86_64", ElementType::I8, ElementType::I32),
              testing::ElementsAre("avx512vnni", "avxvnni", "avx512bw", "avx2",
                                   "sse2", "amx-int8"));
  EXPECT_THAT(
      dotFeatures("x86_64", ElementType::BF16, ElementType::F32, UnitKind::AMX),
      testing::ElementsAre("amx-bf16"));
  EXPECT_TRUE(
      dotFeatures("aarch64", ElementType::BF16, ElementType::F32, UnitKind::AMX)
          .empty());
  EXPECT_TRUE(
      dotFeatures("x86_64", ElementType::F16, ElementType::F32).empty());
  EXPECT_TRUE(
      dotFeatures("nvptx64", ElementType::I8, ElementType::I32).empty());
}

TEST(Narrow, WithoutAMX) {
  TargetDescription target = *lookup("sapphirerapids");
  ASSERT_NE(target.findUnit(UnitKind::AMX), nullptr);
  TargetDescription less = narrow(target, without(target.features, "amx"));
  EXPECT_EQ(less.findUnit(UnitKind::AMX), nullptr);
  EXPECT_EQ(less.peakFlopsPerCycle(UnitKind::AMX, ElementType::I8), 0);
  EXPECT_EQ(less.vector.bits, 512);
  TargetDescription integers =
      narrow(target, without(target.features, "amx-bf16"));
  ASSERT_NE(integers.findUnit(UnitKind::AMX), nullptr);
  EXPECT_EQ(integers.findUnit(UnitKind::AMX)->shapes.size(), 1u);
}

TEST(Narrow, WithoutFMA) {
  TargetDescription target = *lookup("haswell");
  TargetDescription less = narrow(target, without(target.features, "fma"));
  EXPECT_FALSE(less.vector.fma);
  EXPECT_EQ(less.vector.fmaPerCycle, 0);
  EXPECT_TRUE(less.peaks.empty());
}

TEST(Narrow, ArmWithoutDotProducts) {
  TargetDescription target = *lookup("neoverse-v1");
  TargetDescription less =
      narrow(target, {"fp-armv8", "neon", "fullfp16", "lse"});
  EXPECT_FALSE(less.vector.bf16Dot);
  EXPECT_FALSE(less.vector.int8Dot);
  EXPECT_EQ(less.vector.scalableBits, 0);
  EXPECT_TRUE(less.vector.fp16);
  EXPECT_EQ(less.vector.bits, 128);
}

TEST(Describe, SaysUnknown) {
  EXPECT_THAT(describe(*lookup("apple-m1")), HasSubstr("unknown"));
  std::string hopper = describe(*lookup("sm_90a"));
  EXPECT_THAT(hopper, HasSubstr("227 KiB a workgroup"));
  EXPECT_THAT(hopper, HasSubstr("m64n8..n256/8k16 bf16->f32"));
  EXPECT_THAT(hopper, HasSubstr("bulk-copy"));
}

} // namespace
