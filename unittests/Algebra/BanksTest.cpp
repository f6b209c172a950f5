//===- BanksTest.cpp - The proof of bank conflicts against the simulator --===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Algebra/Banks.h"
#include "RandomF2.h"
#include "TileOffsets.h"
#include "tracea/Algebra/BankSimulator.h"
#include "tracea/Algebra/Fragments.h"
#include "gtest/gtest.h"
#include <algorithm>

using namespace tracea::algebra;

static std::vector<uint64_t> addressesOf(const F2Matrix &lanesToBytes,
                                         uint64_t base = 0) {
  std::vector<uint64_t> addresses;
  for (uint64_t l = 0; l < (uint64_t(1) << lanesToBytes.numInputs()); ++l)
    addresses.push_back(base + lanesToBytes.apply(l));
  return addresses;
}

static F2Matrix lanes(F2Vectors bytes) {
  return *F2Matrix::get(64, std::move(bytes));
}

/// The proved degree, after the simulator has agreed.
static int64_t degree(const std::string &arch, const F2Matrix &lanesToBytes,
                      unsigned width, AccessKind kind) {
  BankModel model = *bankModel(arch);
  Expected<ConflictDegree> proved =
      conflictDegree(model, lanesToBytes, width, kind);
  EXPECT_TRUE(proved) << proved.message();
  Expected<std::vector<int64_t>> simulated =
      simulateAccess(model, addressesOf(lanesToBytes), width, kind);
  EXPECT_TRUE(simulated) << simulated.message();
  EXPECT_EQ(*simulated, std::vector<int64_t>(proved->phases, proved->degree));
  return proved->degree;
}

TEST(Banks, ProofAgreesWithSimulatorOnRandomAccesses) {
  constexpr uint64_t seed = 30;
  RandomF2 random(seed);
  const std::vector<BankModel> &models = knownBankModels();
  unsigned conflicting = 0, merged = 0;
  for (int round = 0; round < 20000; ++round) {
    const BankModel &model = models[random.below(models.size())];
    unsigned width = 1 << random.below(5);
    AccessKind kind = random.below(2) ? AccessKind::Read : AccessKind::Write;
    unsigned bits = 5 + random.below(8);
    F2Vectors columns;
    for (unsigned i = 0; i < model.laneBits; ++i) {
      // Powers of two, replicas and arbitrary offsets, all aligned.
      uint64_t column = random.below(3)   ? uint64_t(1) << random.below(bits)
                        : random.below(4) ? random.bits(bits)
                                          : 0;
      columns.push_back(column / width * width);
    }
    F2Matrix access = lanes(columns);
    // Any aligned constant added to the final address changes nothing.
    uint64_t base =
        random.below(1000) * std::max<uint64_t>(width, model.wordBytes());
    Expected<ConflictDegree> proved =
        conflictDegree(model, access, width, kind);
    Expected<std::vector<int64_t>> simulated =
        simulateAccess(model, addressesOf(access, base), width, kind);
    ASSERT_TRUE(proved) << proved.message();
    ASSERT_TRUE(simulated) << simulated.message();
    std::string columnText;
    for (uint64_t column : columns)
      columnText += " " + std::to_string(column);
    ASSERT_EQ(*simulated, std::vector<int64_t>(proved->phases, proved->degree))
        << "seed " << seed << " case " << round << ": " << model.name << " "
        << (kind == AccessKind::Read ? "read" : "write") << " of " << width
        << " bytes, base " << base << ", lane columns" << columnText;
    EXPECT_EQ(
        *simulateWavefronts(model, addressesOf(access, base), width, kind),
        proved->wavefronts())
        << "seed " << seed << " case " << round << ": " << model.name << " "
        << width << " bytes, lane columns" << columnText;
    conflicting += proved->degree > 1;
    merged += proved->wavefronts() < proved->degree * proved->phases;
    ASSERT_LE(proved->wavefronts(), proved->degree * proved->phases);
  }
  EXPECT_GT(merged, 50u);
  EXPECT_GT(conflicting, 2000u);
  EXPECT_LT(conflicting, 18000u);
}

TEST(Banks, SmallCasesByHand) {
  // 32 lanes, one word each, in sequence.
  EXPECT_EQ(degree("nvidia", lanes({4, 8, 16, 32, 64}), 4, AccessKind::Read),
            1);
  // A column of a 32×32 tile of words: all in one bank.
  EXPECT_EQ(
      degree("nvidia", lanes({128, 256, 512, 1024, 2048}), 4, AccessKind::Read),
      32);
  // Every second word: two lanes a bank.
  EXPECT_EQ(degree("nvidia", lanes({8, 16, 32, 64, 128}), 4, AccessKind::Read),
            2);
  // All lanes read one word, or two bytes of the same words.
  EXPECT_EQ(degree("nvidia", lanes({0, 0, 0, 0, 0}), 4, AccessKind::Read), 1);
  EXPECT_EQ(degree("nvidia", lanes({2, 4, 8, 16, 32}), 2, AccessKind::Read), 1);
  // 64 banks instead of 32.
  F2Matrix columns = lanes({128, 4, 8, 16, 32, 64});
  EXPECT_EQ(degree("gfx950", columns, 4, AccessKind::Read), 1);
  EXPECT_EQ(degree("gfx942", columns, 4, AccessKind::Read), 2);
}

TEST(Banks, PhasesOfWideAccesses) {
  BankModel nvidia = *bankModel("nvidia");
  F2Matrix wide = lanes({16, 32, 64, 128, 256});
  Expected<ConflictDegree> result =
      conflictDegree(nvidia, wide, 16, AccessKind::Write);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->degree, 1);
  EXPECT_EQ(result->phases, 4);
  EXPECT_EQ(result->wavefronts(), 4);
  // gfx942 pairs lanes 0..3 with 20..23 when it reads 16 bytes, but not when it
  // writes: lane bit 2 clashes with lane bit 4 in one case only.
  F2Matrix clash = lanes({16, 32, 128, 256, 64, 512});
  EXPECT_EQ(degree("gfx942", clash, 16, AccessKind::Read), 1);
  EXPECT_EQ(degree("gfx942", clash, 16, AccessKind::Write), 2);
}

// What was measured on an H200: phases of wide reads merge in pairs when lanes
// repeat along lane bit 0 or lane bit 1, all of them along the same.
TEST(Banks, MergedPhases) {
  BankModel nvidia = *bankModel("nvidia");
  auto cycles = [&](F2Vectors columns, unsigned width,
                    AccessKind kind = AccessKind::Read) {
    F2Matrix access = lanes(std::move(columns));
    int64_t proved = conflictDegree(nvidia, access, width, kind)->wavefronts();
    EXPECT_EQ(*simulateWavefronts(nvidia, addressesOf(access), width, kind),
              proved);
    return proved;
  };
  EXPECT_EQ(cycles({8, 16, 32, 64, 128}, 8), 2);
  EXPECT_EQ(cycles({0, 8, 16, 32, 64}, 8), 1);
  EXPECT_EQ(cycles({8, 0, 16, 32, 64}, 8), 1);
  EXPECT_EQ(cycles({8, 8, 16, 32, 64}, 8), 2); // Lanes 0 and 3: not merged.
  EXPECT_EQ(cycles({8, 16, 0, 32, 64}, 8), 2);
  EXPECT_EQ(cycles({8, 16, 32, 64, 0}, 8), 2);
  EXPECT_EQ(cycles({0, 128, 16, 32, 64}, 8), 2); // One phase of two cycles.
  EXPECT_EQ(cycles({0, 8, 16, 32, 64}, 8, AccessKind::Write), 2);
  EXPECT_EQ(cycles({16, 32, 64, 128, 256}, 16), 4);
  EXPECT_EQ(cycles({0, 16, 32, 64, 128}, 16), 2);
  EXPECT_EQ(cycles({0, 0, 0, 0, 0}, 16), 2);
  EXPECT_EQ(cycles({0, 0, 0, 0, 0}, 16, AccessKind::Write), 4);
  EXPECT_EQ(cycles({0, 0, 0, 0, 0}, 4), 1);

  // Lanes that are off have no say; both halves must repeat the same way.
  std::vector<uint64_t> addresses = addressesOf(lanes({0, 16, 32, 64, 128}));
  std::vector<bool> active(32, true);
  auto masked = [&](unsigned width) {
    return *simulateWavefronts(nvidia, addresses, width, AccessKind::Read,
                               active);
  };
  addresses[5] = 4096 + 32; // In the banks of lane 4.
  EXPECT_EQ(masked(16), 5);
  active[4] = false;
  EXPECT_EQ(masked(16), 2);
  addresses = addressesOf(lanes({0, 16, 32, 64, 128}));
  for (size_t lane = 16; lane < 32; ++lane)
    addresses[lane] = (lane & ~size_t(2)) * 16;
  active.assign(32, true);
  EXPECT_EQ(masked(16), 4);
  // An instruction of few lanes still takes a cycle for each phase.
  active.assign(32, false);
  EXPECT_EQ(masked(16), 0);
  active[7] = true;
  EXPECT_EQ(
      *simulateWavefronts(nvidia, addresses, 16, AccessKind::Write, active), 4);
  EXPECT_EQ(masked(16), 2);
}

/// A 64×64 tile of 16-bit elements, rows of 128 bytes: 16-byte writes along the
/// rows, and the eight row addresses of each matrix of ldmatrix.
TEST(Banks, HalfTileWithAndWithoutSwizzle) {
  // Lane bits of a 16-byte chunk: 3 for the chunk of the row, 2 for the row.
  LaneMap store =
      *LaneMap::get({64, 64}, {{{0, 1}, {0, 2}, {0, 4}},
                               {{0, 8}, {0, 16}, {0, 32}, {1, 0}, {2, 0}},
                               {},
                               {}});
  // ldmatrix.x4 of a 16×16 block: rows, then the right half.
  LaneMap load = *LaneMap::get(
      {64, 64}, {{}, {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {0, 8}}, {}, {}});
  std::vector<int64_t> strides{128, 2};
  auto degreeOf = [&](const LaneMap &map, const Swizzle &swizzle,
                      AccessKind kind) {
    return degree("nvidia", *lanesToBytes(map, strides, swizzle, 5), 16, kind);
  };
  Swizzle none, swizzle128 = Swizzle::mode(SwizzleMode::Bytes128),
                swizzle64 = Swizzle::mode(SwizzleMode::Bytes64);
  EXPECT_EQ(degreeOf(store, none, AccessKind::Write), 1);
  EXPECT_EQ(degreeOf(load, none, AccessKind::Read), 8);
  EXPECT_EQ(degreeOf(store, swizzle128, AccessKind::Write), 1);
  EXPECT_EQ(degreeOf(load, swizzle128, AccessKind::Read), 1);
  // The narrower mode spreads over four chunks only.
  EXPECT_EQ(degreeOf(load, swizzle64, AccessKind::Read), 2);
}

// A 32×32 tile of words written by rows and read by columns.
TEST(Banks, TransposeWithXorSwizzle) {
  LaneMap byRows = *LaneMap::get(
      {32, 32}, {{}, {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}}, {}, {}});
  LaneMap byColumns = *LaneMap::get(
      {32, 32}, {{}, {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}}, {}, {}});
  Swizzle swizzle = *Swizzle::xorBits(2, 5, 5);
  for (const LaneMap &map : {byRows, byColumns})
    EXPECT_EQ(degree("nvidia", *lanesToBytes(map, {128, 4}, swizzle, 5), 4,
                     AccessKind::Read),
              1);
  EXPECT_EQ(degree("nvidia", *lanesToBytes(byColumns, {128, 4}, Swizzle(), 5),
                   4, AccessKind::Read),
            32);
}

// A 64×64 tile of 16-bit elements on gfx942: 16-byte writes by rows and reads
// of 16×16 and 32×32 operands.
TEST(Banks, HalfTileOnGfx942) {
  LaneMap store = *LaneMap::get(
      {64, 64},
      {{}, {{0, 8}, {0, 16}, {0, 32}, {1, 0}, {2, 0}, {4, 0}}, {}, {}});
  LaneMap read16 = *LaneMap::get(
      {64, 64},
      {{}, {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {0, 8}, {0, 16}}, {}, {}});
  LaneMap read32 = *LaneMap::get(
      {64, 64},
      {{}, {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}, {0, 8}}, {}, {}});
  auto degreeOf = [&](const LaneMap &map, const Swizzle &swizzle,
                      AccessKind kind) {
    return degree("gfx942", *lanesToBytes(map, {128, 2}, swizzle, 6), 16, kind);
  };
  Swizzle swizzle = *Swizzle::xorBits(4, 3, 3);
  EXPECT_EQ(degreeOf(store, Swizzle(), AccessKind::Write), 1);
  EXPECT_EQ(degreeOf(read16, Swizzle(), AccessKind::Read), 4);
  EXPECT_EQ(degreeOf(read32, Swizzle(), AccessKind::Read), 8);
  EXPECT_EQ(degreeOf(store, swizzle, AccessKind::Write), 1);
  EXPECT_EQ(degreeOf(read16, swizzle, AccessKind::Read), 1);
  EXPECT_EQ(degreeOf(read32, swizzle, AccessKind::Read), 1);
}

// Padding is not linear; the simulator takes it. Rows of 33 words are free of
// conflicts by columns, rows of 36 words are not.
TEST(Banks, SimulatorTakesAnyAddresses) {
  BankModel nvidia = *bankModel("nvidia");
  auto cycles = [&](uint64_t pitch) {
    std::vector<uint64_t> addresses;
    for (uint64_t l = 0; l < 32; ++l)
      addresses.push_back(l * pitch * 4);
    return *simulateAccess(nvidia, addresses, 4, AccessKind::Read);
  };
  EXPECT_EQ(cycles(33), (std::vector<int64_t>{1}));
  EXPECT_EQ(cycles(36), (std::vector<int64_t>{4}));
  EXPECT_EQ(cycles(32), (std::vector<int64_t>{32}));
  // Two bytes at an odd address may straddle two words of different banks.
  std::vector<uint64_t> straddling(32, 3);
  straddling[1] = 4 + 128;
  EXPECT_EQ(*simulateAccess(nvidia, straddling, 2, AccessKind::Read),
            (std::vector<int64_t>{2}));
}

TEST(Banks, MasksOnlyRemoveConflicts) {
  BankModel nvidia = *bankModel("nvidia");
  std::vector<uint64_t> addresses =
      addressesOf(lanes({128, 256, 512, 1024, 2048}));
  std::vector<bool> active(32, false);
  EXPECT_EQ(*simulateAccess(nvidia, addresses, 4, AccessKind::Read, active),
            (std::vector<int64_t>{0}));
  active[3] = active[17] = true;
  EXPECT_EQ(*simulateAccess(nvidia, addresses, 4, AccessKind::Read, active),
            (std::vector<int64_t>{2}));
}

TEST(Banks, ModelsAreConsistent) {
  EXPECT_EQ(knownBankModels().size(), 5u);
  for (const BankModel &model : knownBankModels()) {
    EXPECT_EQ(model.verify(), "");
    for (unsigned width : {1u, 2u, 4u, 8u, 16u})
      for (AccessKind kind : {AccessKind::Read, AccessKind::Write}) {
        Expected<AccessPhases> phases = model.phasesOf(width, kind);
        ASSERT_TRUE(phases) << phases.message();
        // A phase asks for no more than what all banks deliver in a cycle.
        EXPECT_LE((int64_t(1) << phases->lanes.size()) *
                      std::max<int64_t>(width, 4),
                  model.numBanks() * model.wordBytes())
            << model.name << " " << width;
      }
  }
  EXPECT_EQ(bankModel("gfx950")->numBanks(), 64);
  EXPECT_EQ(bankModel("gfx942")->numLanes(), 64);
}

// The lanes that share a phase with lane 0, written out.
TEST(Banks, FirstPhases) {
  auto lanesOf = [](const char *arch, unsigned width, AccessKind kind) {
    F2Vectors all = combinations(bankModel(arch)->phasesOf(width, kind)->lanes);
    std::sort(all.begin(), all.end());
    return all;
  };
  auto range = [](uint64_t end) {
    F2Vectors all;
    for (uint64_t l = 0; l < end; ++l)
      all.push_back(l);
    return all;
  };
  F2Vectors paired{0, 1, 2, 3, 20, 21, 22, 23};
  F2Vectors quads{0, 1, 2, 3, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25, 26, 27};
  struct Case {
    const char *arch;
    uint64_t four, eight;
    F2Vectors read16;
    uint64_t write16;
  };
  for (const Case &c :
       {Case{"nvidia", 32, 16, range(8), 8}, Case{"gfx942", 32, 16, paired, 8},
        Case{"gfx950", 64, 32, quads, 16}, Case{"gfx1100", 32, 16, paired, 8},
        Case{"gfx1201", 32, 16, range(8), 8}}) {
    for (AccessKind kind : {AccessKind::Read, AccessKind::Write}) {
      EXPECT_EQ(lanesOf(c.arch, 4, kind), range(c.four)) << c.arch;
      EXPECT_EQ(lanesOf(c.arch, 8, kind), range(c.eight)) << c.arch;
    }
    EXPECT_EQ(lanesOf(c.arch, 16, AccessKind::Read), c.read16) << c.arch;
    EXPECT_EQ(lanesOf(c.arch, 16, AccessKind::Write), range(c.write16))
        << c.arch;
  }
}

TEST(Banks, VerifyFindsBrokenModels) {
  BankModel good = *bankModel("nvidia");
  auto broken = [&](auto change) {
    BankModel model = good;
    change(model);
    return model.verify();
  };
  EXPECT_EQ(broken([](BankModel &m) { m.phases[0].lanes = {1, 2, 3}; }),
            "bank model nvidia: the lane masks of the 4-byte read are "
            "dependent");
  EXPECT_NE(broken([](BankModel &m) { m.phases[0].lanes = {32}; }), "");
  EXPECT_NE(broken([](BankModel &m) { m.phases[0].widthBytes = 6; }), "");
  EXPECT_NE(broken([](BankModel &m) { m.phases[0].widthBytes = 2; }), "");
  EXPECT_NE(broken([](BankModel &m) { m.phases.push_back(m.phases[0]); }), "");
  EXPECT_NE(broken([](BankModel &m) { m.laneBits = 11; }), "");
  EXPECT_EQ(broken([](BankModel &m) {
              m.phases[2].pairs = {1};
              m.phases[2].merged = {1, 2, 8};
            }),
            "bank model nvidia: merged phases of the 16-byte read do not "
            "contain its phases");
  EXPECT_NE(broken([](BankModel &m) { m.phases[2].pairs = {32}; }), "");
  EXPECT_NE(broken([](BankModel &m) { m.phases[2].merged.push_back(3); }), "");
  EXPECT_NE(broken([](BankModel &m) { m.bankBits = 17; }), "");
  EXPECT_NE(broken([](BankModel &m) { m.wordBits = 7; }), "");
  // Both answers refuse a broken model rather than compute with it.
  BankModel bad = good;
  bad.laneBits = 200;
  EXPECT_FALSE(simulateAccess(bad, {}, 4, AccessKind::Read));
  EXPECT_FALSE(conflictDegree(bad, lanes({}), 4, AccessKind::Read));
}

TEST(Banks, Rejects) {
  BankModel nvidia = *bankModel("nvidia");
  F2Matrix five = lanes({4, 8, 16, 32, 64});
  EXPECT_EQ(conflictDegree(nvidia, lanes({4}), 4, AccessKind::Read).message(),
            "bank conflicts: expected 5 lane bits for nvidia, found 1");
  EXPECT_EQ(conflictDegree(nvidia, five, 8, AccessKind::Read).message(),
            "bank conflicts: expected addresses that are multiples of the "
            "width 8, found lane bit 0 at byte 4");
  EXPECT_FALSE(conflictDegree(nvidia, five, 3, AccessKind::Read));
  EXPECT_FALSE(conflictDegree(nvidia, five, 0, AccessKind::Read));
  EXPECT_EQ(conflictDegree(nvidia, lanes({0, 0, 0, 0, 0}), 32, AccessKind::Read)
                .message(),
            "bank model nvidia: no 32-byte read");
  EXPECT_FALSE(simulateAccess(nvidia, {0}, 4, AccessKind::Read));
  EXPECT_FALSE(simulateWavefronts(nvidia, {0}, 4, AccessKind::Read));
  std::vector<uint64_t> zeros(32, 0);
  EXPECT_FALSE(simulateAccess(nvidia, zeros, 4, AccessKind::Read, {true}));
  EXPECT_FALSE(simulateAccess(nvidia, zeros, 0, AccessKind::Read));
  EXPECT_FALSE(simulateAccess(nvidia, zeros, 64, AccessKind::Read));
  zeros[4] = ~uint64_t(0);
  EXPECT_FALSE(simulateAccess(nvidia, zeros, 4, AccessKind::Read));
  EXPECT_EQ(bankModel("sparc").message(),
            "unknown bank model 'sparc'; known: nvidia, gfx942, gfx950, "
            "gfx1100, gfx1201");
}

TEST(TileOffsets, MatchesTheStrides) {
  LaneMap map = *mmaM16N8(MatrixOperand::D, 16, 16);
  for (std::vector<int64_t> strides :
       {std::vector<int64_t>{32, 4}, {4, 64}, {1024, 2}}) {
    F2Matrix offsets = *tileToBytes(map, strides);
    for (int64_t row = 0; row < 16; ++row)
      for (int64_t col = 0; col < 8; ++col)
        ASSERT_EQ(offsets.apply(map.flatten({row, col})),
                  uint64_t(row * strides[0] + col * strides[1]));
  }
  Swizzle swizzle = Swizzle::mode(SwizzleMode::Bytes32);
  F2Matrix lane = *lanesToBytes(map, {64, 4}, swizzle, 6);
  for (int64_t l = 0; l < 64; ++l) {
    TileCoord at = *map.coordinate(0, l % 32);
    ASSERT_EQ(lane.apply(l), swizzle.apply(at[0] * 64 + at[1] * 4)) << l;
  }
}

TEST(TileOffsets, RejectsWhatIsNotLinear) {
  LaneMap map = *mmaM16N8(MatrixOperand::D, 16, 16);
  EXPECT_FALSE(tileToBytes(map, {36, 4}));
  EXPECT_EQ(
      tileToBytes(map, {16, 4}).message(),
      "tile offsets: the stride of dimension 1 overlaps another dimension "
      "at byte 16");
  EXPECT_FALSE(tileToBytes(map, {32}));
  EXPECT_FALSE(tileToBytes(map, {0, 4}));
  EXPECT_FALSE(tileToBytes(map, {-32, 4}));
  EXPECT_FALSE(tileToBytes(*wgmmaD(24), {128, 4}));
  EXPECT_FALSE(lanesToBytes(map, {32, 4}, Swizzle(), 4));
  EXPECT_FALSE(lanesToBytes(map, {32, 3}, Swizzle(), 5));
}
