//===- RelayoutTest.cpp - Tiles change their lane map, carried out --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TileHarness.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Parser/Parser.h"
#include "tracea/Algebra/Conversion.h"
#include "tracea/Algebra/Fragments.h"
#include "gtest/gtest.h"
#include <map>

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;
using alg::MatrixOperand;

static unsigned getBitsOf(const std::string &element) {
  if (element == "index")
    return 64;
  size_t digits = element.find_first_of("0123456789");
  return unsigned(std::stoul(element.substr(digits)));
}

namespace {
/// One conversion, lowered and run.
struct Outcome {
  std::string problem;
  Interpreter machine;
};
} // namespace

/// Runs a lowered relayout with distinct values and compares every register.
static Outcome run(ModuleOp module, LanesAttr from, LanesAttr to,
                   const std::string &element, const alg::BankModel &banks) {
  Outcome outcome{
      "", Interpreter(std::max(from.getNumWarps(), to.getNumWarps()), banks)};
  unsigned bits = getBitsOf(element);
  // Narrow values repeat: every part of the distinct number in turn.
  for (unsigned salt = 0; salt < (bits == 8  ? 2u
                                  : bits < 8 ? 14u
                                             : 1u);
       ++salt) {
    auto valueAt = [&](ArrayRef<int64_t> at) {
      return getElementId(at, to.getTileShape(), bits, salt);
    };
    ThreadValues input = TileHarness::distribute(
        from, outcome.machine.getNumThreads(), banks.numLanes(), valueAt);
    outcome.problem =
        outcome.machine.run(TileHarness::getFunction(module), {input}, {});
    if (outcome.problem.empty())
      outcome.problem = TileHarness::compare(to, outcome.machine.results[0],
                                             banks.numLanes(), valueAt);
    if (!outcome.problem.empty())
      return outcome;
  }
  return outcome;
}

static OwningOpRef<ModuleOp> lowerRelayout(TileHarness &harness, LanesAttr from,
                                           LanesAttr to,
                                           const std::string &element) {
  return harness.lower(
      from, element, to, element,
      "%y = tracea_pipe.relayout %x : " + harness.getTileText(from, element) +
          " -> " + harness.getTileText(to, element));
}

static alg::LaneMap makeMap(alg::TileCoord shape, alg::LaneBases bases,
                            alg::TileCoord outer = {}) {
  alg::Expected<alg::LaneMap> map = alg::LaneMap::get(shape, bases, outer);
  EXPECT_TRUE(map) << map.message();
  return *map;
}

/// The same tile in other registers, by lane or the same way in all.
static alg::LaneMap changeRegisters(std::mt19937_64 &random,
                                    const alg::LaneMap &map, bool byLane) {
  alg::LaneBases bases;
  for (auto [dim, part] : {std::pair(alg::LaneDim::Reg, &bases.reg),
                           std::pair(alg::LaneDim::Lane, &bases.lane),
                           std::pair(alg::LaneDim::Warp, &bases.warp)})
    for (unsigned bit = 0; bit < map.numBits(dim); ++bit)
      part->push_back(map.basis(dim, bit));
  std::shuffle(bases.reg.begin(), bases.reg.end(), random);
  if (byLane && !bases.reg.empty())
    for (alg::TileCoord &vector : bases.lane) {
      const alg::TileCoord &other = bases.reg[random() % bases.reg.size()];
      for (unsigned dim = 0; dim < map.rank(); ++dim)
        vector[dim] ^= other[dim];
    }
  return makeMap(map.linearShape(), bases, map.outer());
}

TEST(Relayout, RandomPairs) {
  TileHarness harness;
  std::mt19937_64 random(1);
  const std::string elements[] = {"i32", "f32", "bf16", "f16",  "i8",
                                  "f64", "i64", "i1",   "index"};
  std::map<std::string, int> classes;
  int64_t shuffles = 0, memoryTrips = 0;
  for (int round = 0; round < 700; ++round) {
    std::vector<int64_t> shape{int64_t(1) << random() % 5,
                               int64_t(1) << (1 + random() % 5)};
    std::vector<int64_t> outer{1, 1};
    for (int64_t &repeats : outer)
      if (random() % 4 == 0)
        repeats = 1 + random() % 6;
    unsigned warpBits = random() % 3;
    alg::LaneMap a = getRandomMap(random, shape, outer, warpBits),
                 b = getRandomMap(random, shape, outer, warpBits);
    // The narrow classes do not turn up by chance.
    if (round % 4 == 1)
      b = changeRegisters(random, a, /*byLane=*/round % 8 == 1);
    if (a.numRegisters() > 256 || b.numRegisters() > 256)
      continue;
    LanesAttr from = harness.getLanes(a), to = harness.getLanes(b);
    std::string element = elements[random() % std::size(elements)];
    alg::Expected<alg::Conversion> conversion =
        alg::Conversion::get(a, b,
                             getBitsOf(element) <= 8    ? 4
                             : getBitsOf(element) == 16 ? 2
                                                        : 1);
    ASSERT_TRUE(conversion) << conversion.message();
    harness.lowering.numShuffles = 0;
    OwningOpRef<ModuleOp> module = lowerRelayout(harness, from, to, element);
    ASSERT_TRUE(module) << "round " << round;
    Outcome outcome = run(*module, from, to, element, harness.lowering.banks);
    ASSERT_EQ(outcome.problem, "")
        << "round " << round << " of " << element << " from\n"
        << a << "to\n"
        << b;
    alg::ConversionClass cls = conversion->conversionClass();
    ++classes[alg::conversionClassName(cls)];
    bool isRepeated = a.outer() != alg::TileCoord{1, 1};
    if (cls == alg::ConversionClass::Shuffle && conversion->schedule() &&
        !isRepeated) {
      // The proved number of rounds, twice for two words an element.
      ASSERT_EQ(harness.lowering.numShuffles,
                conversion->shuffleRounds() *
                    (getBitsOf(element) == 64 ? 2 : 1));
    }
    if (cls < alg::ConversionClass::Shuffle) {
      ASSERT_EQ(harness.lowering.numShuffles, 0);
      ASSERT_EQ(outcome.machine.numBarriers, 0);
    }
    if (cls < alg::ConversionClass::RegisterSelect) {
      ASSERT_EQ(outcome.machine.numSelects, 0);
    }
    // No phase of either side takes more than a cycle.
    ASSERT_LE(outcome.machine.worstDegree, 1) << a << b;
    shuffles += harness.lowering.numShuffles;
    memoryTrips += outcome.machine.numBarriers > 0;
  }
  for (const char *name :
       {"register move", "register select", "shuffle", "shared memory"})
    EXPECT_GT(classes[name], 5) << name;
  EXPECT_GT(shuffles, 500);
  EXPECT_GT(memoryTrips, 50);
}

// The conversions that kernels make.
TEST(Relayout, Fragments) {
  TileHarness harness;
  alg::LaneMap two = makeMap({1, 2}, {{{0, 1}}, {}, {}, {}});
  alg::LaneMap mmaD = *alg::mmaM16N8(MatrixOperand::D, 16, 16)->product(two);
  // 64x16 by rows: 8 neighbours a thread.
  alg::LaneMap rows64 =
      makeMap({64, 16}, {{{0, 1}, {0, 2}, {0, 4}},
                         {{0, 8}, {1, 0}, {2, 0}, {4, 0}, {8, 0}},
                         {{16, 0}, {32, 0}},
                         {}});
  alg::LaneMap rows24 = makeMap({64, 8},
                                {{{0, 1}, {0, 2}, {0, 4}},
                                 {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}},
                                 {{32, 0}, {0, 0}},
                                 {}},
                                {1, 3});
  struct Case {
    alg::LaneMap from, to;
    std::string element;
    int64_t shuffles;
    bool inMemory;
  };
  alg::LaneMap square =
      makeMap({32, 32}, {{{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}},
                         {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}},
                         {},
                         {}});
  alg::LaneMap transposed =
      makeMap({32, 32}, {{{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}},
                         {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}},
                         {},
                         {}});
  std::vector<Case> cases{
      {mmaD, *alg::mmaM16N8(MatrixOperand::A, 16, 16), "bf16", 0, false},
      {*alg::wgmmaD(16), *alg::wgmmaA(16), "bf16", 0, false},
      {*alg::wgmmaD(32), *alg::wgmmaA(8), "i8", 4, false},
      {*alg::wgmmaD(16), rows64, "bf16", -1, false},
      {*alg::wgmmaD(24), rows24, "f32", -1, true},
      {rows24, *alg::wgmmaD(24), "bf16", -1, true},
      {square, transposed, "f32", 31, false},
      {square, transposed, "bf16", -1, false},
      {transposed, square, "f64", 62, false},
  };
  for (const Case &c : cases) {
    LanesAttr from = harness.getLanes(c.from), to = harness.getLanes(c.to);
    harness.lowering.numShuffles = harness.lowering.numExchanges = 0;
    OwningOpRef<ModuleOp> module = lowerRelayout(harness, from, to, c.element);
    ASSERT_TRUE(module);
    Outcome outcome = run(*module, from, to, c.element, harness.lowering.banks);
    EXPECT_EQ(outcome.problem, "") << c.from << c.to;
    if (c.shuffles >= 0) {
      EXPECT_EQ(harness.lowering.numShuffles, c.shuffles) << c.from << c.to;
    }
    EXPECT_EQ(harness.lowering.numExchanges > 0, c.inMemory) << c.from << c.to;
    EXPECT_LE(outcome.machine.worstDegree, 1);
  }
}

/// Every way in which `change` can break an operation must be noticed.
static std::pair<int, int>
countNoticed(TileHarness &harness, LanesAttr from, LanesAttr to,
             const std::string &element,
             function_ref<bool(Operation *)> change) {
  int changed = 0, noticed = 0;
  for (int target = 0;; ++target) {
    OwningOpRef<ModuleOp> module = lowerRelayout(harness, from, to, element);
    if (!module)
      return {changed, noticed};
    int seen = 0;
    bool done = false;
    SmallVector<Operation *> operations;
    module->walk([&](Operation *op) { operations.push_back(op); });
    for (Operation *op : operations)
      if (!done && seen++ == target)
        done = change(op);
    if (target >= int(operations.size()))
      return {changed, noticed};
    if (!done)
      continue;
    ++changed;
    noticed += !run(*module, from, to, element, harness.lowering.banks)
                    .problem.empty();
  }
}

TEST(Relayout, FaultsAreSeen) {
  TileHarness harness;
  alg::LaneMap rows =
      makeMap({32, 8}, {{{0, 1}, {0, 2}, {0, 4}},
                        {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}},
                        {},
                        {}});
  alg::LaneMap columns =
      makeMap({32, 8}, {{{1, 0}, {2, 0}, {4, 0}},
                        {{0, 1}, {0, 2}, {0, 4}, {8, 0}, {16, 0}},
                        {},
                        {}});
  LanesAttr from = harness.getLanes(rows), to = harness.getLanes(columns);
  OpBuilder b(&harness.context);

  // A basis vector swapped with another one, on either side.
  OwningOpRef<ModuleOp> right = lowerRelayout(harness, from, to, "i32");
  ASSERT_TRUE(right);
  ASSERT_EQ(run(*right, from, to, "i32", harness.lowering.banks).problem, "");
  for (unsigned i = 0; i < 5; ++i)
    for (unsigned k = 0; k < i; ++k) {
      SmallVector<DenseI64ArrayAttr> lanes(to.getLane());
      std::swap(lanes[i], lanes[k]);
      LanesAttr other = LanesAttr::get(&harness.context, to.getReg(), lanes,
                                       to.getWarp(), to.getOuter());
      EXPECT_NE(run(*right, from, other, "i32", harness.lowering.banks).problem,
                "")
          << i << " " << k;
    }

  // A round that reads another lane.
  auto wrongRound = [&](Operation *op) {
    auto shuffle = dyn_cast<gpu::ShuffleOp>(op);
    if (!shuffle)
      return false;
    OpBuilder at(op);
    Value two = arith::ConstantIntOp::create(at, op->getLoc(), 2, 32);
    Value offset =
        arith::XOrIOp::create(at, op->getLoc(), shuffle.getOffset(), two);
    shuffle.getOffsetMutable().assign(offset);
    return true;
  };
  std::pair<int, int> rounds =
      countNoticed(harness, from, to, "i32", wrongRound);
  EXPECT_EQ(rounds.first, 7);
  EXPECT_EQ(rounds.second, 7);

  // A select that takes the other register.
  auto wrongSelect = [&](Operation *op) {
    auto select = dyn_cast<arith::SelectOp>(op);
    if (!select)
      return false;
    Value first = select.getTrueValue();
    select.getTrueValueMutable().assign(select.getFalseValue());
    select.getFalseValueMutable().assign(first);
    return true;
  };
  std::pair<int, int> selects =
      countNoticed(harness, from, to, "i32", wrongSelect);
  EXPECT_GT(selects.first, 10);
  EXPECT_EQ(selects.second, selects.first);

  // Memory: a barrier less, a place beside the right one.
  alg::LaneMap warps = makeMap({16, 16},
                               {{{0, 1}, {0, 2}},
                                {{1, 0}, {2, 0}, {0, 4}, {0, 8}, {4, 0}},
                                {{8, 0}},
                                {}},
                               {1, 2});
  alg::LaneMap others = makeMap({16, 16},
                                {{{0, 1}, {8, 0}},
                                 {{0, 2}, {1, 0}, {0, 4}, {2, 0}, {4, 0}},
                                 {{0, 8}},
                                 {}},
                                {1, 2});
  LanesAttr left = harness.getLanes(warps), high = harness.getLanes(others);
  auto noBarrier = [](Operation *op) {
    if (!isa<gpu::BarrierOp>(op))
      return false;
    op->erase();
    return true;
  };
  std::pair<int, int> barriers =
      countNoticed(harness, left, high, "i32", noBarrier);
  EXPECT_EQ(barriers.first, 2);
  EXPECT_EQ(barriers.second, 1); // The first one guards what came before.
  auto wrongPlace = [](Operation *op) {
    if (!isa<arith::XOrIOp, arith::ShLIOp>(op))
      return false;
    OpBuilder at(op);
    at.setInsertionPointAfter(op);
    Value one = arith::ConstantIntOp::create(at, op->getLoc(), 4, 32);
    Value moved =
        arith::XOrIOp::create(at, op->getLoc(), op->getResult(0), one);
    op->getResult(0).replaceAllUsesExcept(moved, moved.getDefiningOp());
    return true;
  };
  std::pair<int, int> places =
      countNoticed(harness, left, high, "i32", wrongPlace);
  EXPECT_GT(places.first, 2);
  EXPECT_EQ(places.second, places.first);
}

// What cannot be done is said.
TEST(Relayout, Refused) {
  TileHarness harness;
  alg::LaneMap a =
      makeMap({8, 4}, {{{0, 1}, {0, 2}}, {{1, 0}, {2, 0}}, {{4, 0}}, {}});
  alg::LaneMap b =
      makeMap({8, 4}, {{{0, 1}, {4, 0}}, {{1, 0}, {2, 0}}, {{0, 2}}, {}});
  std::string x = harness.getTileText(harness.getLanes(a), "f32"),
              y = harness.getTileText(harness.getLanes(b), "f32");
  std::vector<std::string> messages;
  ScopedDiagnosticHandler handler(&harness.context, [&](Diagnostic &diag) {
    messages.push_back(diag.str());
    return success();
  });
  auto lower = [&](const std::string &text) {
    OwningOpRef<ModuleOp> module = OwningOpRef<ModuleOp>(cast<ModuleOp>(
        parseSourceString(text, ParserConfig(&harness.context)).release()));
    return convertRegisterTiles(*module, harness.lowering);
  };
  // Between warps, where no workgroup has memory.
  EXPECT_TRUE(failed(lower("module { func.func @f(%x: " + x + ") -> " + y +
                           " { %y = tracea_pipe.relayout %x : " + x + " -> " +
                           y + " return %y : " + y + " } }")));
  ASSERT_FALSE(messages.empty());
  EXPECT_NE(messages.back().find("no memory"), std::string::npos)
      << messages.back();
}
