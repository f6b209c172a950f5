//===- ModelTest.cpp - Protocols as text, read back -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/Protocol/Model.h"
#include "Designs.h"
#include "tracea/Analysis/Protocol/Checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

using namespace tracea::analysis;
using ::testing::HasSubstr;

namespace {

std::vector<Protocol> designs() {
  AttentionDesign attention;
  return {makeGemm({}),
          makeGemm({}, {"release missing"}),
          makeGemm({}, {"producer parity"}),
          makeAttention(attention),
          makeAttention(attention, {"turns swapped"}),
          makeConv({}),
          makeSplitK({2}),
          makePersistent({2, 2}),
          makeSingleRole(3),
          makeElected(2),
          makeElected(2, {"lanes do not meet"}),
          makeFused({2, 2}),
          makeFused({2, 2}, {"sum used in the loop"}),
          makeAhead(3),
          makeTurns({}),
          makeTurns({}, {"turn not taken"}),
          lower(makeGemm({})),
          lower(makeAttention(attention)),
          lower(makeConv({}, {"patch flip - 1"}))};
}

std::string errorOf(const std::string &text) {
  return readModel(text).message();
}

} // namespace

TEST(ProtocolModel, ReadsBackWhatWasWritten) {
  for (const Protocol &protocol : designs()) {
    std::string text = writeModel(protocol);
    EXPECT_EQ(text.find('\n'), std::string::npos);
    auto read = readModel(text);
    ASSERT_TRUE(bool(read)) << read.message();
    EXPECT_EQ(writeModel(*read), text);
    CheckResult before = checkProtocol(protocol), after = checkProtocol(*read);
    EXPECT_EQ(before.verdict, after.verdict) << protocol.name;
    EXPECT_EQ(before.statistics.states, after.statistics.states);
    EXPECT_EQ(before.finding.message, after.finding.message);
  }
}

TEST(ProtocolModel, IsCompact) {
  EXPECT_LT(writeModel(makeGemm({})).size(), 2500u);
  EXPECT_EQ(writeModel(makeSingleRole(2)),
            "protocol/1 single registers 0 named 16 channel A 2 1 1 1 1 1 1 1 "
            "trip K role all 1 0 0 position 2/2/2/0 next:t0j9 acquire:c0p0 "
            "copy:c0p0m1b64 commit:c0p0b64k1 wait:c0p0 read:c0p0m1 "
            "release:c0p0k1 advance:c0p0s0 jump:j0 exit:");
}

TEST(ProtocolModel, NamesMayHoldAnything) {
  Protocol protocol = makeSingleRole(1);
  protocol.name = "a b\"%\\\n\xff";
  protocol.roles[0].name = "";
  auto read = readModel(writeModel(protocol));
  ASSERT_TRUE(bool(read)) << read.message();
  EXPECT_EQ(read->name, protocol.name);
  EXPECT_EQ(read->roles[0].name, "");
}

TEST(ProtocolModel, ErrorsNameTheWord) {
  std::string good = writeModel(makeSingleRole(2));
  auto with = [&](const std::string &from, const std::string &to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return errorOf(text);
  };
  EXPECT_EQ(errorOf(good), "");
  EXPECT_THAT(errorOf(""), HasSubstr("expected 'protocol/1', found ''"));
  EXPECT_THAT(with("protocol/1", "protocol/2"),
              HasSubstr("found 'protocol/2'"));
  EXPECT_THAT(with("A 2 1", "A 101 1"), HasSubstr("slots from 1 to 100"));
  EXPECT_THAT(with("A 2 1", "A 2 33"), HasSubstr("parts from 1 to 32"));
  EXPECT_THAT(with("2/2/2/0", "2/0/2/0"), HasSubstr("found '2/0/2/0'"));
  EXPECT_THAT(with("2/2/2/0", "2/2/2"), HasSubstr("four numbers"));
  EXPECT_THAT(with("2/2/2/0", "3/3/3/0"), HasSubstr("position of the ring"));
  EXPECT_THAT(with("acquire:c0", "acquire:c1"), HasSubstr("a channel"));
  EXPECT_THAT(with("acquire:c0p0", "acquire:c0"), HasSubstr("a position"));
  EXPECT_THAT(with("acquire:", "obtain:"), HasSubstr("a step of a role"));
  EXPECT_THAT(with("wait:c0p0", "wait:c0p0z1"), HasSubstr("a field of a step"));
  EXPECT_THAT(with("wait:c0p0", "wait:Xc0p0"), HasSubstr("a flag of a step"));
  EXPECT_THAT(with("m1b64", "m3b64"), HasSubstr("parts that the channel has"));
  EXPECT_THAT(with("b64", "b99999999999"), HasSubstr("a field from 0"));
  EXPECT_THAT(with("next:t0", "next:t1"), HasSubstr("a trip count"));
  EXPECT_THAT(with("jump:j0", "jump:j99"), HasSubstr("a target"));
  EXPECT_THAT(with(" exit:", ""), HasSubstr("a target"));
  EXPECT_THAT(with(" jump:j0 exit:", ""), HasSubstr("a role that exits"));
  EXPECT_THAT(with("single", "si%ngle"), HasSubstr("escapes"));
  EXPECT_THAT(with("role all 1", "role all x"), HasSubstr("threads"));
}

// Damaged text is refused or decided, and never more than that.
TEST(ProtocolModel, DamagedTextDoesNoHarm) {
  std::mt19937 random(7);
  CheckOptions options;
  options.maxStates = 300;
  int read = 0, refused = 0;
  std::vector<Protocol> all = designs();
  for (int i = 0; i < 4000; ++i) {
    std::string text = writeModel(all[random() % all.size()]);
    for (int n = 1 + random() % 3; n-- > 0;) {
      size_t at = random() % text.size();
      switch (random() % 6) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 4:
      case 5:
        // Another number, which is more likely to be read.
        while (at + 1 < text.size() && !isdigit(text[at]))
          ++at;
        text[at] = "0123456789"[random() % 10];
        break;
      case 1:
        text[at] = "0123456789cpsobmtjnqvkEWAC: %/-"[random() % 31];
        break;
      case 2:
        text.erase(at, 1 + random() % 8);
        break;
      default:
        text.insert(at, text.substr(random() % text.size(), random() % 12));
        break;
      }
      if (text.empty())
        text = " ";
    }
    auto protocol = readModel(text);
    if (!protocol) {
      EXPECT_FALSE(protocol.message().empty());
      ++refused;
      continue;
    }
    ++read;
    checkProtocol(*protocol, options);
    EXPECT_EQ(writeModel(*readModel(writeModel(*protocol))),
              writeModel(*protocol));
  }
  EXPECT_GT(read, 150);
  EXPECT_GT(refused, 200);
}
