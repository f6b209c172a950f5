//===- FaultsTest.cpp - Every named fault is found by the right check -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Designs.h"
#include "tracea/Analysis/Protocol/Checker.h"

#include <gtest/gtest.h>

using namespace tracea::analysis;

namespace {

struct Fault {
  const char *design;
  const char *name;
  Property property;
  /// A piece of the message.
  const char *message;
};

void PrintTo(const Fault &fault, std::ostream *os) {
  *os << fault.design << ": " << fault.name;
}

Protocol make(const std::string &design, const Faults &faults) {
  GemmDesign gemm;
  if (design == "gemm straight")
    gemm.skew = gemm.drain = false;
  if (design == "gemm staging 2")
    gemm.staging = 2;
  if (design == "gemm no drain")
    gemm.drain = false;
  if (design.rfind("gemm", 0) == 0)
    return makeGemm(gemm, faults);
  if (design == "attention")
    return makeAttention({}, faults);
  if (design == "attention 1") {
    AttentionDesign attention;
    attention.keySlots = attention.valueSlots = 1;
    return makeAttention(attention, faults);
  }
  if (design == "conv")
    return makeConv({}, faults);
  if (design == "conv no drain") {
    ConvDesign conv;
    conv.drain = false;
    return makeConv(conv, faults);
  }
  if (design == "split-k")
    return makeSplitK({2}, faults);
  if (design == "persistent")
    return makePersistent({2, 2}, faults);
  if (design == "fused")
    return makeFused({}, faults);
  if (design == "fused 2")
    return makeFused({2, 2}, faults);
  if (design == "ahead")
    return makeAhead(2, faults);
  if (design == "turns")
    return makeTurns({}, faults);
  if (design == "single")
    return makeSingleRole(2, faults);
  return makeElected(2, faults);
}

class ProtocolFaults : public ::testing::TestWithParam<Fault> {};

} // namespace

TEST_P(ProtocolFaults, IsFound) {
  const Fault &fault = GetParam();
  EXPECT_EQ(checkProtocol(make(fault.design, {})).verdict, Verdict::Proved);
  Protocol protocol = make(fault.design, {fault.name});
  CheckResult result = checkProtocol(protocol);
  ASSERT_EQ(result.verdict, Verdict::Refuted) << result.reason;
  EXPECT_STREQ(propertyName(result.finding.property),
               propertyName(fault.property));
  EXPECT_NE(result.finding.message.find(fault.message), std::string::npos)
      << printFinding(protocol, result.finding);
}

static const Fault kFaults[] = {
    {"gemm", "empty count - 1", Property::ArrivalCount, "count 1 arrivals"},
    {"gemm", "empty count + 1", Property::ArrivalCount, "count 3 arrivals"},
    {"gemm", "full count + 1", Property::ArrivalCount, "count 2 arrivals"},
    {"gemm", "initialise twice", Property::Initialization, "more than once"},
    {"gemm", "initialisation missing", Property::Initialization, "'staging'"},
    {"gemm", "initialisation not synchronised", Property::Initialization,
     "without waiting for its initialisation"},
    {"gemm", "producer does not acquire", Property::ParityAliasing,
     "'producer' is sure to have seen"},
    {"gemm", "bytes less", Property::UnfilledRead, "part 1 of slot 0"},
    {"gemm", "bytes more", Property::Bytes, "expects 4 bytes, but 3"},
    {"gemm", "copy slot + 1", Property::Bytes, "expects 3 bytes, but 2"},
    {"gemm", "copy missing", Property::Bytes, "expects 3 bytes, but 1"},
    {"gemm", "copy twice", Property::Overwrite, "part 1 of slot 0 of 'AB'"},
    {"gemm", "commit twice", Property::ArrivalCount, "may commit slot 0"},
    {"gemm", "producer advances twice", Property::ParityAliasing,
     "another phase"},
    {"gemm", "producer skips the last", Property::Deadlock, "to be filled"},
    {"gemm", "producer + 1", Property::Deadlock, "to be released"},
    {"gemm", "producer stops after a tile", Property::Deadlock,
     "to be filled; missing: 'producer'"},
    {"gemm", "no producer drain", Property::Drain, "'producer' exits while"},
    {"gemm", "release missing", Property::Deadlock, "missing: 'consumer0'"},
    {"gemm", "release twice", Property::ArrivalCount, "may release slot 0"},
    {"gemm", "wait missing", Property::UnfilledRead, "without waiting"},
    {"gemm", "read slot + 1", Property::UnfilledRead, "slot 1 of 'AB'"},
    {"gemm", "release before the read is done", Property::Overwrite,
     "after the read by 'consumer0'"},
    {"gemm", "no group wait", Property::Overwrite, "is not waited for"},
    {"gemm", "group depth + 1", Property::Overwrite,
     "after the read by 'consumer0'"},
    {"gemm", "release slot off by one", Property::ArrivalCount, "twice"},
    {"gemm", "consumer advances twice", Property::Deadlock, "'consumer0'"},
    {"gemm", "no wait at the tail", Property::Drain, "asynchronous reads"},
    {"gemm", "no release at the tail", Property::Deadlock, "'consumer0'"},
    {"gemm", "consumer skips the last", Property::Deadlock, "'consumer0'"},
    {"gemm", "consumer + 1", Property::Deadlock, "'consumer0'"},
    {"gemm", "no fence", Property::UnfilledRead, "'store' reads part 0"},
    {"gemm", "store does not wait for its reads", Property::Drain, "'store'"},
    {"gemm", "producer parity", Property::ParityAliasing, "'producer' waits"},
    {"gemm", "consumer parity", Property::ParityAliasing, "'consumer0' waits"},
    {"gemm", "producer modulus + 1", Property::SlotRange, "indexes slot 4"},
    {"gemm", "consumer modulus + 1", Property::SlotRange, "indexes slot 4"},
    {"gemm", "consumer modulus - 1", Property::ParityAliasing,
     "'consumer0' waits"},
    {"gemm", "producer flip - 1", Property::ParityAliasing, "'producer' waits"},
    {"gemm", "consumer flip - 1", Property::ParityAliasing,
     "'consumer0' waits"},
    {"gemm straight", "release before the read is done", Property::Overwrite,
     "'consumer0'"},
    {"gemm straight", "no group wait", Property::Drain, "'consumer0'"},
    {"gemm straight", "consumer skips the last", Property::Drain,
     "never read by 'consumer0'"},
    {"gemm staging 2", "no store drain", Property::Drain, "'store' exits"},
    {"gemm no drain", "release missing", Property::ArrivalCount,
     "a partial phase of the empty barrier"},
    {"gemm no drain", "producer stops after a tile", Property::Deadlock, ""},
    {"attention", "empty count - 1", Property::ArrivalCount, "of 'K' count 1"},
    {"attention", "bytes less", Property::Bytes, "'K' expects 1 bytes, but 2"},
    {"attention", "Q after the loop", Property::Deadlock, ""},
    {"attention", "last V missing", Property::Deadlock, ""},
    {"attention", "no producer drain", Property::Drain, "'producer' exits"},
    {"attention", "turns swapped", Property::NamedBarrier, "'turn0'"},
    {"attention", "turn to itself", Property::NamedBarrier, "twice"},
    {"attention", "turn count + 1", Property::NamedBarrier,
     "with the count 3, others with 2"},
    {"attention", "no first turn", Property::Deadlock, "1 of 2 arrivals"},
    {"attention", "turn not handed on", Property::Deadlock, ""},
    {"attention", "last turn left", Property::NamedBarrier, "are left"},
    {"attention", "no group wait", Property::Overwrite, "'K'"},
    {"attention", "group depth + 1", Property::Overwrite, "'K'"},
    {"attention", "no wait at the tail", Property::Drain, "'consumer0'"},
    {"attention", "Q not released", Property::Deadlock,
     "'Q' to be released; missing: 'consumer0'"},
    {"attention", "producer parity", Property::ParityAliasing, "of 'V'"},
    {"attention", "consumer parity", Property::ParityAliasing, "of 'V'"},
    {"attention", "store does not wait for its reads", Property::Drain, ""},
    {"attention 1", "V before K", Property::Deadlock, "'V' to be released"},
    {"conv", "one tap too few", Property::Deadlock, "'filter'"},
    {"conv", "no producer drain", Property::Drain, "'patches' exits"},
    {"conv", "patch released early", Property::Drain, "'patch'"},
    {"conv no drain", "patch released early", Property::Overwrite, "'patch'"},
    {"conv", "patch not released", Property::Deadlock,
     "'patch' to be released; missing: 'consumer0'"},
    {"conv", "consumer modulus + 1", Property::SlotRange, "'filter'"},
    {"conv", "patch flip - 1", Property::ParityAliasing, "'patch'"},
    {"split-k", "odd steps lost", Property::Deadlock, ""},
    {"split-k", "sum not acquired", Property::ParityAliasing, "'sum'"},
    {"split-k", "sum not fenced", Property::UnfilledRead, "'sum'"},
    {"split-k", "sum not waited for", Property::UnfilledRead, "'sum'"},
    {"split-k", "sum not released", Property::Deadlock, ""},
    {"split-k", "sum read after release", Property::ReadAfterRelease, "'sum'"},
    {"persistent", "tile not released", Property::ArrivalCount, "'tile'"},
    {"persistent", "one more tile waited for", Property::Deadlock, "'tile'"},
    {"fused", "sum used in the loop", Property::PendingValue, "uses 'sum'"},
    {"fused", "last multiply in flight", Property::PendingValue, "uses 'sum'"},
    {"fused", "two queues write the sum", Property::PendingValue,
     "another queue's write"},
    {"fused", "waits for the other queue", Property::PendingValue,
     "uses 'sum'"},
    {"fused", "stores are one behind", Property::Overwrite, "'staging'"},
    {"fused 2", "stores are one behind", Property::Overwrite, "'staging'"},
    {"fused", "no fence", Property::UnfilledRead, "'staging'"},
    {"fused", "stores not waited for at the end", Property::Drain,
     "'consumer' exits"},
    {"ahead", "one behind", Property::UnfilledRead, "'A'"},
    {"ahead", "not waited for", Property::UnfilledRead, "'A'"},
    {"ahead", "not fenced", Property::UnfilledRead, "'A'"},
    {"ahead", "writes twice", Property::Overwrite, "'A'"},
    {"persistent", "tile read twice", Property::UnfilledRead,
     "again before it is filled anew"},
    {"turns", "read by all", Property::ArrivalCount, "but their roles make 2"},
    {"turns", "empty count 2", Property::ArrivalCount, "make 1"},
    {"turns", "turn not taken", Property::NamedBarrier, ""},
    {"turns", "turn not passed", Property::Deadlock, "'turn0'"},
    {"turns", "no first turn", Property::Deadlock, "'turn0'"},
    {"turns", "both begin", Property::Deadlock, ""},
    {"turns", "the other begins", Property::Deadlock, ""},
    {"turns", "turn does not change", Property::ParityAliasing, ""},
    {"turns", "turn not brought back", Property::Deadlock, ""},
    {"turns", "last turn left", Property::NamedBarrier, "are left"},
    {"turns", "waits before its turn", Property::ParityAliasing, ""},
    {"turns", "passes the turn before it waits", Property::ParityAliasing,
     "nothing orders this after the wait of another"},
    {"turns", "group depth + 1", Property::Overwrite, "'consumer0'"},
    {"turns", "last slot not released", Property::Deadlock, ""},
    {"turns", "releases what others read", Property::ArrivalCount,
     "which it has not waited for"},
    {"turns", "reads what others wait for", Property::UnfilledRead,
     "in another's turn"},
    {"turns", "advances one less", Property::ParityAliasing, ""},
    {"turns", "does not advance past the others", Property::ParityAliasing, ""},
    {"single", "commit missing", Property::Deadlock, "to be filled"},
    {"single", "copy after commit", Property::Overwrite, "has committed"},
    {"single", "release missing", Property::Deadlock, "to be released"},
    {"single", "read after release", Property::ReadAfterRelease, "released"},
    {"elected", "lanes do not meet", Property::Overwrite,
     "nothing orders this after the read by 'consumer'"},
    {"elected", "one lane waits", Property::UnfilledRead, "without waiting"},
};

INSTANTIATE_TEST_SUITE_P(
    Named, ProtocolFaults, ::testing::ValuesIn(kFaults),
    [](const ::testing::TestParamInfo<Fault> &info) {
      std::string name = std::string(info.param.design) + " " + info.param.name;
      for (const auto &[from, to] :
           {std::pair<const char *, const char *>{" + 1", " plus"},
            {" - 1", " minus"}})
        if (size_t at = name.find(from); at != std::string::npos)
          name.replace(at, 4, to);
      for (char &c : name)
        if (!isalnum(static_cast<unsigned char>(c)))
          c = '_';
      return name;
    });

// The sum is right, but one copy counts nothing.
TEST(ProtocolRules, EveryCopyCountsItsBytes) {
  Protocol protocol = makeGemm({});
  for (Instruction &op : protocol.roles[0].code)
    if (op.step == Step::Copy)
      op.bytes = op.parts == 1 ? 0 : 3;
  CheckResult result = checkProtocol(protocol);
  ASSERT_EQ(result.verdict, Verdict::Refuted);
  EXPECT_EQ(result.finding.property, Property::UnfilledRead);
  EXPECT_NE(result.finding.message.find("part 0"), std::string::npos);
}

// Rule B needs no run.
TEST(ProtocolRules, RolesDoOnlyWhatTheyDeclare) {
  Protocol protocol = makeSplitK({2});
  protocol.channels[0].consumers = 1u << 2;
  CheckResult result = checkProtocol(protocol);
  ASSERT_EQ(result.verdict, Verdict::Refuted);
  EXPECT_EQ(result.finding.property, Property::Roles);
}

TEST(ProtocolRules, ReadersAreDeclared) {
  Protocol protocol = makeAttention({});
  protocol.channels[0].readers[0] = 1u << 2;
  CheckResult result = checkProtocol(protocol);
  ASSERT_EQ(result.verdict, Verdict::Refuted);
  EXPECT_EQ(result.finding.property, Property::Roles);
}

TEST(ProtocolRules, RegisterBudgetsFitTheFile) {
  Protocol protocol = makeGemm({});
  protocol.registerFile = 65536;
  for (Role &role : protocol.roles) {
    role.threads = 128;
    role.registers = 128;
    for (Instruction &op : role.code)
      if (op.step == Step::Sync)
        op.count *= 128;
  }
  EXPECT_EQ(checkProtocol(protocol).verdict, Verdict::Proved);
  protocol.roles[1].registers = 232;
  CheckResult result = checkProtocol(protocol);
  ASSERT_EQ(result.verdict, Verdict::Refuted);
  EXPECT_EQ(result.finding.property, Property::Roles);
}

TEST(ProtocolRules, NamedBarriersAreFew) {
  Protocol protocol = makeGemm({});
  protocol.barriers.resize(17);
  CheckResult result = checkProtocol(protocol);
  ASSERT_EQ(result.verdict, Verdict::Refuted);
  EXPECT_EQ(result.finding.property, Property::NamedBarrier);
}

TEST(ProtocolRules, ARoleArrivesEquallyOften) {
  Protocol protocol = makeGemm({}, {"release twice"});
  bool first = true;
  for (Instruction &op : protocol.roles[1].code)
    if (op.step == Step::Release && op.channel == 0) {
      op.count = first ? 1 : 2;
      first = false;
    }
  CheckResult result = checkProtocol(protocol);
  ASSERT_EQ(result.verdict, Verdict::Refuted);
  EXPECT_EQ(result.finding.property, Property::ArrivalCount);
}
