//===- RecheckTest.cpp - Certificates decided again from their models -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/Recheck.h"
#include "tracea/Analysis/BankProof.h"
#include "tracea/Analysis/Protocol/Model.h"
#include "tracea/Analysis/Resources/Resources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

using namespace tracea::analysis;
using ::testing::HasSubstr;
namespace alg = tracea::algebra;

namespace {

/// 16 bytes a lane along rows of 128 bytes, in the 128-byte mode.
BankedAccess rows(alg::AccessKind kind = alg::AccessKind::Write) {
  alg::LaneBases bases;
  bases.reg = {{0, 1}, {0, 2}, {0, 4}};
  bases.lane = {{0, 8}, {0, 16}, {0, 32}, {1, 0}, {2, 0}};
  bases.warp = {{4, 0}, {8, 0}};
  return {alg::TileAccess{
              *alg::LaneMap::get({16, 64}, bases), {128, 2}, 2, kind, 0, 2048},
          alg::Swizzle::mode(alg::SwizzleMode::Bytes128)};
}

/// Rows of 33 words, which no rank decides.
BankedAccess padded() {
  alg::LaneBases bases;
  bases.reg = {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}};
  bases.lane = {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}};
  return {alg::TileAccess{*alg::LaneMap::get({32, 32}, bases),
                          {132, 4},
                          4,
                          alg::AccessKind::Read,
                          0,
                          0},
          {}};
}

BankProof proof() {
  return {"sm_90a", {rows(), padded(), rows(), rows(alg::AccessKind::Read)}};
}

RecheckResult recheck(std::string_view check, std::string_view claim,
                      std::string_view model) {
  return recheckCertificate(check, claim, model);
}

const std::string bankClaim =
    "4 accesses to staged memory take at most 1 cycle a phase on sm_90a, 3 by "
    "rank, 1 by enumeration of a period";

} // namespace

TEST(BankModelText, ReadsBackWhatWasWritten) {
  std::string text = writeModel(proof());
  EXPECT_EQ(text,
            "banks/1 sm_90a"
            " access 2 write 2 16,64 1,1 0,1;0,2;0,4 0,8;0,16;0,32;1,0;2,0 "
            "4,0;8,0 - 128,2 0 2048 1,2,4,8,10,20,40,90,120,240"
            " access 1 read 4 32,32 1,1 0,1;0,2;0,4;0,8;0,16 "
            "1,0;2,0;4,0;8,0;16,0 - - 132,4 0 0 -"
            " access 1 read 2 16,64 1,1 0,1;0,2;0,4 0,8;0,16;0,32;1,0;2,0 "
            "4,0;8,0 - 128,2 0 2048 1,2,4,8,10,20,40,90,120,240");
  alg::Expected<BankProof> read = readBankProof(text);
  ASSERT_TRUE(bool(read)) << read.message();
  EXPECT_EQ(writeModel(*read), text);
  ASSERT_EQ(read->accesses.size(), 3u);
  EXPECT_EQ(read->accesses[0].access.lanes, rows().access.lanes);
  EXPECT_EQ(read->accesses[0].swizzle, rows().swizzle);
  alg::Expected<std::string> claim = decideBanks(*read);
  ASSERT_TRUE(bool(claim)) << claim.message();
  EXPECT_EQ(*claim, bankClaim);
  EXPECT_EQ(*decideBanks(proof()), bankClaim);
}

TEST(BankModelText, RefusesWhatNobodyWrote) {
  auto errorOf = [](const std::string &text) {
    return readBankProof(text).message();
  };
  auto with = [&](const std::string &from, const std::string &to) {
    std::string text = writeModel({"sm_90a", {rows()}});
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return errorOf(text.replace(at, from.size(), to));
  };
  EXPECT_EQ(errorOf(""), "model of banks: expected 'banks/1', found ''");
  EXPECT_EQ(errorOf("banks/2 sm_90a"),
            "model of banks: expected 'banks/1', found 'banks/2'");
  EXPECT_THAT(errorOf("banks/1"), HasSubstr("expected a target"));
  EXPECT_THAT(with("access 1", "excess 1"), HasSubstr("expected 'access'"));
  EXPECT_THAT(with("access 1", "access 0"), HasSubstr("a count from 1 to"));
  EXPECT_THAT(with("write", "wrote"), HasSubstr("'read' or 'write'"));
  EXPECT_THAT(with("write 2", "write 17"), HasSubstr("from 1 to 16"));
  EXPECT_THAT(with("16,64", "16,63"), HasSubstr("model of banks: "));
  EXPECT_THAT(with("16,64", "16,x"), HasSubstr("a list of integers"));
  EXPECT_THAT(with("0,8;", "0,8,1;"), HasSubstr("model of banks: "));
  EXPECT_THAT(with(" 0 2048", " 0 9999999999999"), HasSubstr("a step from"));
  EXPECT_THAT(with("90,120", "90,80"), HasSubstr("model of banks: "));
  EXPECT_THAT(with("1,2,4,8,10", "1,2,4,8,fffff"), HasSubstr("model of banks"));
  EXPECT_THAT(with(" 1,2,4,8,10,20,40,90,120,240", ""),
              HasSubstr("a list of integers, found ''"));
  std::string many = "banks/1 sm_90a";
  for (int i = 0; i < 4097; ++i)
    many += " access 1 read 4 1 1 - - - - 4 0 0 -";
  EXPECT_THAT(errorOf(many), HasSubstr("at most 4096 accesses"));
  EXPECT_THAT(errorOf(std::string((1 << 20) + 1, 'x')),
              HasSubstr("at most 1048576 bytes"));
  // Sizes that would take for ever.
  EXPECT_THAT(errorOf("banks/1 sm_90a access 1 read 4 1 1048576 - - "
                      "0;0;0;0;0 - 4 0 0 -"),
              HasSubstr("locations of all tiles"));
}

// Whatever the bytes are, the answer comes, and what is accepted is written as
// it was read.
TEST(BankModelText, SurvivesNoise) {
  std::mt19937 random(7);
  std::string text = writeModel(proof());
  int accepted = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string noisy = text;
    for (unsigned n = 1 + random() % 3; n > 0; --n)
      noisy[random() % noisy.size()] = "0123456789,;- abcdefrw"[random() % 22];
    alg::Expected<BankProof> read = readBankProof(noisy);
    if (!read)
      continue;
    ++accepted;
    alg::Expected<BankProof> again = readBankProof(writeModel(*read));
    ASSERT_TRUE(bool(again)) << again.message();
    EXPECT_EQ(writeModel(*again), writeModel(*read));
    if (alg::Expected<std::string> claim = decideBanks(*read); !claim)
      EXPECT_NE(claim.message(), "");
  }
  EXPECT_GT(accepted, 100);
}

TEST(Recheck, Banks) {
  std::string model = writeModel(proof());
  RecheckResult result = recheck("banks", bankClaim, model);
  EXPECT_EQ(result.verdict, RecheckVerdict::Confirmed) << result.message;
  EXPECT_EQ(result.message, "");
  // Another claim.
  result = recheck("banks", bankClaim + "!", model);
  EXPECT_EQ(result.verdict, RecheckVerdict::Refuted);
  EXPECT_EQ(result.message, "the model proves \"" + bankClaim + "\"");
  // Another model: without the swizzle rows lie below each other.
  std::string other = model;
  size_t at = other.rfind("1,2,4,8,10,20,40,90,120,240");
  other.replace(at, std::string::npos, "-");
  result = recheck("banks", bankClaim, other);
  EXPECT_EQ(result.verdict, RecheckVerdict::Confirmed)
      << "wide rows are free of conflicts anyway";
  other = writeModel(proof());
  at = other.find("132,4");
  other.replace(at, 5, "128,4");
  result = recheck("banks", bankClaim, other);
  EXPECT_EQ(result.verdict, RecheckVerdict::Refuted);
  EXPECT_THAT(result.message, HasSubstr("at most 8 cycles"));
  // Another target, and one that nobody knows.
  at = model.find("sm_90a");
  other = model;
  other.replace(at, 6, "gfx942");
  EXPECT_EQ(recheck("banks", bankClaim, other).verdict,
            RecheckVerdict::Refuted);
  other.replace(at, 6, "sm_1");
  result = recheck("banks", bankClaim, other);
  EXPECT_EQ(result.verdict, RecheckVerdict::NotDecided);
  EXPECT_THAT(result.message, HasSubstr("'sm_1' is not known"));
  EXPECT_EQ(recheck("banks", bankClaim, model + " more").verdict,
            RecheckVerdict::Unreadable);
}

TEST(Recheck, BanksOfACPU) {
  EXPECT_EQ(recheck("banks", "the memory of a CPU has no banks", "banks/1 cpu")
                .verdict,
            RecheckVerdict::Confirmed);
  EXPECT_EQ(
      recheck("banks", "no accesses to staged memory", "banks/1 -").verdict,
      RecheckVerdict::Confirmed);
  EXPECT_EQ(
      recheck("banks", "no accesses to staged memory", "banks/1 cpu").verdict,
      RecheckVerdict::Refuted);
  std::string model = writeModel({"cpu", {rows()}});
  EXPECT_EQ(recheck("banks", bankClaim, model).verdict,
            RecheckVerdict::NotDecided);
}

TEST(Recheck, Protocol) {
  Protocol nothing;
  nothing.name = "k";
  EXPECT_EQ(recheck("protocol", describeProtocol(nothing), writeModel(nothing))
                .verdict,
            RecheckVerdict::Confirmed);
  EXPECT_EQ(recheck("protocol", "2 roles, 1 channels, every trip count",
                    writeModel(nothing))
                .verdict,
            RecheckVerdict::Refuted);
  EXPECT_EQ(recheck("protocol", "x", "protocol/9").verdict,
            RecheckVerdict::Unreadable);
}

TEST(Recheck, TargetProtocol) {
  // One slot that one role fills and another reads, and a buffer beside it:
  // what counts are rings.
  Protocol protocol;
  protocol.name = "k";
  protocol.trips = {"K"};
  Channel ring, buffer;
  ring.name = "ring 0";
  ring.producers = 1;
  ring.consumers = 2;
  ring.readers = {2};
  buffer.name = "buffer";
  buffer.initialized = true;
  buffer.readers = {0};
  protocol.channels = {ring, buffer};
  protocol.barriers = {{"start"}};
  RoleBuilder producer(protocol, "producer");
  Slot mine = producer.ring(0);
  producer.initialize(0).sync(0, 2);
  producer.loop(0, [&] {
    producer.acquire(mine).copy(mine, 1, 16).commit(mine, 16).advance(mine);
  });
  producer.finish();
  auto consume = [&](bool releases) {
    Protocol copy = protocol;
    RoleBuilder role(copy, "consumer");
    Slot slot = role.ring(0);
    role.sync(0, 2);
    role.loop(0, [&] {
      role.wait(slot).read(slot, 1);
      if (releases)
        role.release(slot);
      role.advance(slot);
    });
    role.finish();
    return writeModel(copy);
  };
  EXPECT_EQ(recheck("target-protocol", "2 roles, 1 rings, every trip count",
                    consume(true))
                .verdict,
            RecheckVerdict::Confirmed);
  RecheckResult other =
      recheck("target-protocol", "2 roles, 2 channels, every trip count",
              consume(true));
  EXPECT_EQ(other.verdict, RecheckVerdict::Refuted);
  EXPECT_THAT(other.message, HasSubstr("1 rings"));
  EXPECT_EQ(recheck("target-protocol", "2 roles, 1 rings, every trip count",
                    consume(false))
                .verdict,
            RecheckVerdict::Refuted);
  EXPECT_EQ(recheck("target-protocol", "x", "banks/1 -").verdict,
            RecheckVerdict::Unreadable);
}

TEST(Recheck, Resources) {
  ResourceUse use;
  use.memory.push_back({"a", 16384, 4, 1, 1024, 8});
  use.roles.push_back({"all", 0, 4});
  ResourceLimits limits = getResourceLimits(*tracea::target::lookup("sm_90a"));
  ResourceReport report = checkResources(use, limits);
  ASSERT_TRUE(report.fits());
  std::string model = writeModel(use, limits);
  RecheckResult result = recheck("resources", report.claim, model);
  EXPECT_EQ(result.verdict, RecheckVerdict::Confirmed) << result.message;
  size_t at = model.find("16384");
  result = recheck("resources", report.claim,
                   std::string(model).replace(at, 5, "96384"));
  EXPECT_EQ(result.verdict, RecheckVerdict::Refuted);
  EXPECT_THAT(result.message, HasSubstr("the model does not fit"));
  result = recheck("resources", report.claim,
                   std::string(model).replace(at, 5, "8192"));
  EXPECT_EQ(result.verdict, RecheckVerdict::Refuted);
  EXPECT_THAT(result.message, HasSubstr("the model proves"));
}

TEST(Recheck, WhatCannotBeDecided) {
  RecheckResult result = recheck("banks", bankClaim, "");
  EXPECT_EQ(result.verdict, RecheckVerdict::Unreadable);
  EXPECT_THAT(result.message, HasSubstr("no model"));
  result = recheck("colour", "blue", "blue/1");
  EXPECT_EQ(result.verdict, RecheckVerdict::NotDecided);
  EXPECT_EQ(result.message, "there is no method for the check 'colour'");
}
