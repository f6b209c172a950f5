//===- CheckerTest.cpp - Correct designs, limits, statistics --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/Protocol/Checker.h"
#include "Designs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tracea::analysis;
using ::testing::HasSubstr;

namespace {

void expectProved(const Protocol &protocol, const std::string &what) {
  CheckResult result = checkProtocol(protocol);
  EXPECT_EQ(result.verdict, Verdict::Proved)
      << what << ": " << result.reason
      << (result.verdict == Verdict::Refuted
              ? printFinding(protocol, result.finding)
              : "");
}

} // namespace

TEST(ProtocolChecker, GemmOfOneToEightSlots) {
  for (int slots = 1; slots <= 8; ++slots)
    for (bool skew : {false, true})
      for (bool store : {false, true})
        for (bool atLeastOne : {false, true})
          for (bool drain : {false, true})
            for (int consumers : {1, 2}) {
              if (skew && slots == 1)
                continue; // See SkewNeedsTwoSlots.
              GemmDesign design;
              design.slots = slots;
              design.skew = skew;
              design.store = store;
              design.atLeastOne = atLeastOne;
              design.drain = drain;
              design.consumers = consumers;
              expectProved(makeGemm(design), std::to_string(slots));
              if (!store)
                continue;
              design.staging = 2;
              expectProved(makeGemm(design), std::to_string(slots));
            }
}

TEST(ProtocolChecker, AttentionOfThreeRings) {
  for (int query : {1, 2})
    for (int slots = 1; slots <= 4; ++slots)
      for (bool turns : {false, true})
        for (bool store : {false, true}) {
          AttentionDesign design;
          design.querySlots = query;
          design.keySlots = design.valueSlots = slots;
          design.turns = turns;
          design.store = store;
          expectProved(makeAttention(design), std::to_string(slots));
          design.drain = false;
          expectProved(makeAttention(design), std::to_string(slots));
        }
}

TEST(ProtocolChecker, ConvOfFiltersAndPatches) {
  for (int filters = 2; filters <= 8; ++filters)
    for (int patches : {1, 2, 3})
      for (int consumers : {1, 2, 3}) {
        ConvDesign design;
        design.filterSlots = filters;
        design.patchSlots = patches;
        design.consumers = consumers;
        expectProved(makeConv(design), std::to_string(filters));
      }
}

TEST(ProtocolChecker, ConsumersPingPong) {
  for (int slots = 2; slots <= 8; ++slots) {
    std::string what = std::to_string(slots) + " slots";
    expectProved(makeTurns({slots}), what);
    expectProved(lower(makeTurns({slots})), what + ", lowered");
  }
  // The slot before is released one step behind.
  EXPECT_EQ(checkProtocol(makeTurns({1})).verdict, Verdict::Refuted);
}

TEST(ProtocolChecker, SplitKPersistentSingleAndElected) {
  for (int slots = 1; slots <= 8; ++slots) {
    expectProved(makeSplitK({slots}), "split-k");
    expectProved(makePersistent({slots, 1 + slots % 3}), "persistent");
    expectProved(makeSingleRole(slots), "single");
    expectProved(makeElected(slots), "elected");
  }
}

TEST(ProtocolChecker, QueuesAreCountedApart) {
  for (int slots = 1; slots <= 8; ++slots)
    for (int staging : {1, 2, 4})
      expectProved(makeFused({slots, staging}), "fused");
  for (int ahead = 1; ahead <= 8; ++ahead)
    expectProved(makeAhead(ahead), "ahead");
}

TEST(ProtocolChecker, ManyQueuesAreNotDecided) {
  Protocol protocol;
  protocol.name = "queues";
  RoleBuilder role(protocol, "all");
  role.closeGroup(4).waitGroup(0, 4);
  role.finish();
  CheckResult result = checkProtocol(protocol);
  EXPECT_EQ(result.verdict, Verdict::NotDecided);
  EXPECT_THAT(result.reason, HasSubstr("queues"));
}

TEST(ProtocolChecker, LoopsWithoutDecisionsAreNotDecided) {
  Protocol protocol;
  protocol.name = "forever";
  RoleBuilder role(protocol, "all");
  role.add(Step::Jump).target = 0;
  role.finish();
  CheckResult result = checkProtocol(protocol);
  EXPECT_EQ(result.verdict, Verdict::NotDecided);
  EXPECT_THAT(result.reason, HasSubstr("nothing ends"));
}

// One lane of each warp arrives: its warp has to meet before.
TEST(ProtocolChecker, OneLaneOfEachWarpMayArrive) {
  for (bool meet : {false, true}) {
    Protocol protocol = makeElected(2, {"lanes do not meet"});
    Role &consumer = protocol.roles[1];
    for (Instruction &op : consumer.code) {
      op.elected = false;
      op.perWarp = op.step == Step::Release;
      if (op.step == Step::Release)
        op.count = 4;
    }
    protocol.channels[0].emptyCount = 4;
    if (meet)
      for (size_t pc = 0; pc < consumer.code.size(); ++pc)
        if (consumer.code[pc].step == Step::Release) {
          Instruction converge;
          converge.step = Step::Converge;
          converge.perWarp = true;
          consumer.code.insert(consumer.code.begin() + pc, converge);
          for (Instruction &op : consumer.code)
            if (op.target > static_cast<int>(pc))
              ++op.target;
          break;
        }
    CheckResult result = checkProtocol(protocol);
    EXPECT_EQ(result.verdict, meet ? Verdict::Proved : Verdict::Refuted);
    if (meet)
      continue;
    EXPECT_EQ(result.finding.property, Property::Overwrite);
    // A multiply of the whole group is over for all lanes at once.
    for (Instruction &op : consumer.code)
      op.collective = op.step == Step::WaitGroup;
    expectProved(protocol, "collective");
  }
}

TEST(ProtocolChecker, LoweredSlotsAndParities) {
  GemmDesign gemm;
  for (gemm.slots = 2; gemm.slots <= 8; ++gemm.slots)
    expectProved(lower(makeGemm(gemm)), std::to_string(gemm.slots));
  expectProved(lower(makeAttention({})), "attention");
  expectProved(lower(makeConv({})), "convolution");
  expectProved(lower(makeFused({2, 2})), "fused");
  expectProved(lower(makeElected(3)), "elected");
}

TEST(ProtocolChecker, CountersWithoutBoundAreNotDecided) {
  Protocol protocol;
  protocol.trips = {"K"};
  RoleBuilder role(protocol, "all");
  role.role.variables = {{"counter", 0}};
  role.role.expressions = {{Operator::Variable, 32, 0, {}},
                           {Operator::Constant, 32, 1 << 19, {}},
                           {Operator::Add, 32, 0, {0, 1, -1}}};
  role.loop(0, [&] {
    Instruction &set = role.add(Step::Set);
    set.variable = 0;
    set.expression = 2;
    role.add(Step::Test).expression = 0;
    role.role.code.back().target = 0;
  });
  role.finish();
  CheckResult result = checkProtocol(protocol);
  EXPECT_EQ(result.verdict, Verdict::NotDecided);
  EXPECT_THAT(result.reason, HasSubstr("'counter' of 'all' grows"));
}

// What lanes have loaded themselves, a multiply of all does not stand for.
TEST(ProtocolChecker, MixedReadsAreThoseOfLanes) {
  for (bool mixed : {false, true}) {
    Protocol protocol = makeElected(2, {"lanes do not meet"});
    std::vector<Instruction> &code = protocol.roles[1].code;
    for (size_t pc = 0; pc < code.size(); ++pc) {
      code[pc].collective = code[pc].step == Step::WaitGroup;
      if (!mixed || code[pc].step != Step::Read || !code[pc].async)
        continue;
      Instruction read = code[pc];
      read.async = false;
      code.insert(code.begin() + static_cast<int64_t>(pc), read);
      for (Instruction &op : code)
        if (op.target > static_cast<int>(pc))
          ++op.target;
      ++pc;
    }
    CheckResult result = checkProtocol(protocol);
    EXPECT_EQ(result.verdict, mixed ? Verdict::Refuted : Verdict::Proved);
  }
}

// What the method finds out by itself.
TEST(ProtocolChecker, SkewNeedsTwoSlots) {
  GemmDesign design;
  design.slots = 1;
  Protocol protocol = makeGemm(design);
  CheckResult result = checkProtocol(protocol);
  ASSERT_EQ(result.verdict, Verdict::Refuted);
  EXPECT_EQ(result.finding.property, Property::Deadlock);
  // One step along K is not enough to see it.
  EXPECT_THAT(result.finding.trips, HasSubstr("K = 2 or more"));
  EXPECT_EQ(result.finding.notes.size(), 3u);
}

TEST(ProtocolChecker, OrderOfRingsMattersWithOneSlot) {
  AttentionDesign design;
  expectProved(makeAttention(design, {"V before K"}), "two slots");
  design.keySlots = design.valueSlots = 1;
  CheckResult result = checkProtocol(makeAttention(design, {"V before K"}));
  ASSERT_EQ(result.verdict, Verdict::Refuted);
  EXPECT_EQ(result.finding.property, Property::Deadlock);
}

// Trip counts that are not shared are not assumed equal.
TEST(ProtocolChecker, TripCountsOfDifferentNamesDiffer) {
  GemmDesign design;
  design.skew = design.store = false;
  Protocol protocol = makeGemm(design);
  protocol.trips.push_back("K2");
  for (Instruction &op : protocol.roles[1].code)
    if (op.step == Step::Next && op.trip == 1)
      op.trip = 2;
  CheckResult result = checkProtocol(protocol);
  ASSERT_EQ(result.verdict, Verdict::Refuted);
  EXPECT_EQ(result.finding.property, Property::Deadlock);
}

TEST(ProtocolChecker, ZeroIterationsAreARun) {
  // The consumer waits once even if there is nothing.
  Protocol protocol = makePersistent({2, 2}, {"one more tile waited for"});
  CheckResult result = checkProtocol(protocol);
  ASSERT_EQ(result.verdict, Verdict::Refuted);
  EXPECT_EQ(result.finding.property, Property::Deadlock);
  EXPECT_THAT(result.finding.trips, HasSubstr("T = 0"));
}

TEST(ProtocolChecker, StatesGrowLinearlyWithSlots) {
  auto states = [](int slots) {
    GemmDesign design;
    design.slots = slots;
    CheckResult result = checkProtocol(makeGemm(design));
    EXPECT_GT(result.statistics.steps, result.statistics.states);
    return result.statistics.states;
  };
  int64_t four = states(4), eight = states(8);
  EXPECT_GT(eight, four);
  EXPECT_LT(eight, 3 * four);
  EXPECT_LT(eight, 1000);
}

TEST(ProtocolChecker, PollingIsNotDecided) {
  Protocol protocol = makeSingleRole(2);
  Instruction poll;
  poll.step = Step::Poll;
  protocol.roles[0].code.insert(protocol.roles[0].code.end() - 1, poll);
  CheckResult result = checkProtocol(protocol);
  EXPECT_EQ(result.verdict, Verdict::NotDecided);
  EXPECT_THAT(result.reason, HasSubstr("does not block"));
}

TEST(ProtocolChecker, CrowdedNamedBarrierIsNotDecided) {
  Protocol protocol = makeSplitK({2});
  for (Role &role : protocol.roles)
    for (Instruction &op : role.code)
      if (op.step == Step::Sync)
        op.count = 2;
  CheckResult result = checkProtocol(protocol);
  EXPECT_EQ(result.verdict, Verdict::NotDecided);
  EXPECT_THAT(result.reason, HasSubstr("order of arrivals"));
}

TEST(ProtocolChecker, ManyPendingGroupsAreNotDecided) {
  Protocol protocol;
  protocol.name = "groups";
  RoleBuilder role(protocol, "all");
  role.repeat(17, [&] { role.closeGroup(); }).waitGroup(0);
  role.finish();
  CheckResult result = checkProtocol(protocol);
  EXPECT_EQ(result.verdict, Verdict::NotDecided);
  EXPECT_THAT(result.reason, HasSubstr("pending groups"));
}

TEST(ProtocolChecker, WaitForFewerThanNoGroupsEnds) {
  Protocol protocol;
  protocol.name = "groups";
  RoleBuilder role(protocol, "all");
  role.closeGroup().waitGroup(-1);
  role.finish();
  EXPECT_EQ(checkProtocol(protocol).verdict, Verdict::Proved);
}

TEST(ProtocolChecker, UnboundedLeadIsNotDecided) {
  // The second role reads K only after the first has finished.
  Protocol protocol;
  protocol.trips = {"K"};
  protocol.barriers = {{"done"}};
  RoleBuilder first(protocol, "first");
  first.loop(0, [] {}).arrive(0, 2);
  first.finish();
  RoleBuilder second(protocol, "second");
  second.sync(0, 2).loop(0, [] {});
  second.finish();
  CheckResult result = checkProtocol(protocol);
  EXPECT_EQ(result.verdict, Verdict::NotDecided);
  EXPECT_THAT(result.reason, HasSubstr("ahead"));
}

TEST(ProtocolChecker, BoundOnStatesIsNotDecided) {
  CheckOptions options;
  options.maxStates = 10;
  CheckResult result = checkProtocol(makeAttention({}), options);
  EXPECT_EQ(result.verdict, Verdict::NotDecided);
  EXPECT_THAT(result.reason, HasSubstr("10 states"));
}

TEST(ProtocolChecker, TracesNamePlaces) {
  Protocol protocol = makeGemm({}, {"release missing"});
  for (Role &role : protocol.roles)
    for (Instruction &op : role.code) {
      op.site = static_cast<Site>(protocol.sites.size());
      protocol.sites.push_back(role.name + ":" +
                               std::to_string(protocol.sites.size()));
    }
  CheckResult result = checkProtocol(protocol);
  ASSERT_EQ(result.verdict, Verdict::Refuted);
  const Finding &finding = result.finding;
  EXPECT_NE(finding.site, kNoSite);
  EXPECT_FALSE(finding.notes.empty());
  EXPECT_FALSE(finding.trace.empty());
  EXPECT_LE(finding.trace.size(), 16u);
  EXPECT_GT(finding.length, static_cast<int64_t>(finding.trace.size()));
  // Sliced: only the ring in question.
  for (const Event &event : finding.trace)
    EXPECT_THAT(event.text, HasSubstr("'AB'"));
  EXPECT_THAT(printFinding(protocol, finding), HasSubstr("(producer:"));
}

TEST(ProtocolChecker, ProgramsPrint) {
  Protocol protocol = makeSingleRole(2);
  EXPECT_EQ(printRole(protocol, protocol.roles[0]),
            "all:\n"
            "  0: next K -> 9\n"
            "  1: acquire 'A' p0\n"
            "  2: copy 'A' p0 parts 1 bytes 64\n"
            "  3: commit 'A' p0 bytes 64 count 1\n"
            "  4: wait 'A' p0\n"
            "  5: read 'A' p0 parts 1\n"
            "  6: release 'A' p0 count 1\n"
            "  7: advance 'A' p0\n"
            "  8: jump -> 0\n"
            "  9: exit\n");
}

// A named barrier joins the lanes of a role as `converge` does.
TEST(ProtocolChecker, NamedBarriersJoinLanes) {
  Protocol protocol = makeElected(2, {"lanes do not meet"});
  EXPECT_EQ(checkProtocol(protocol).verdict, Verdict::Refuted);
  protocol.barriers.push_back({"consumers"});
  std::vector<Instruction> &code = protocol.roles[1].code;
  for (size_t pc = 0; pc < code.size(); ++pc) {
    if (code[pc].step != Step::Release)
      continue;
    Instruction sync;
    sync.step = Step::Sync;
    sync.barrier = 1;
    sync.count = 1;
    code.insert(code.begin() + static_cast<int64_t>(pc), sync);
    for (Instruction &op : code)
      if (op.target > static_cast<int>(pc))
        ++op.target;
    break;
  }
  expectProved(protocol, "joined by a named barrier");
}

// If all lanes arrive, none has to be waited for.
TEST(ProtocolChecker, AllLanesMayArrive) {
  Protocol protocol = makeElected(2, {"lanes do not meet"});
  for (Instruction &op : protocol.roles[1].code) {
    op.elected = false;
    if (op.step == Step::Release)
      op.count = 128;
  }
  protocol.channels[0].emptyCount = 128;
  expectProved(protocol, "128 arrivals");
}

TEST(ProtocolChecker, LanesThatHaveNotReadHaveToMeet) {
  expectProved(makeUnread(2), "meets");
  CheckResult result = checkProtocol(makeUnread(2, {"lanes do not meet"}));
  ASSERT_EQ(result.verdict, Verdict::Refuted);
  EXPECT_EQ(result.finding.property, Property::ParityAliasing);
  EXPECT_THAT(result.finding.message,
              HasSubstr("before 'consumer' is sure to have seen the one"));
}
