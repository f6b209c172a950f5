//===- ExplainTest.cpp - Tables and drawings of what is proved ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Explain/BankView.h"
#include "tracea/Explain/CoverageView.h"
#include "tracea/Explain/LaneView.h"
#include "tracea/Explain/Svg.h"
#include "tracea/Explain/Timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tracea::explain;
using ::testing::HasSubstr;
using ::testing::Not;
namespace alg = tracea::algebra;
namespace ta = tracea::analysis;

namespace {

/// A producer and a consumer of a ring.
ta::Protocol ring(int slots, bool releases = true) {
  ta::Protocol protocol;
  protocol.name = "ring";
  ta::Channel channel;
  channel.name = "tiles";
  channel.slots = slots;
  channel.producers = 1;
  channel.consumers = 2;
  channel.readers = {2};
  channel.initialized = true;
  protocol.channels.push_back(channel);
  protocol.trips.push_back("n");
  ta::RoleBuilder producer(protocol, "producer"),
      consumer(protocol, "consumer");
  ta::Slot fill = producer.ring(0);
  producer.loop(0, [&] {
    producer.acquire(fill).copy(fill, 1, 64).commit(fill, 64).advance(fill);
  });
  producer.finish();
  ta::Slot use = consumer.ring(0);
  consumer.loop(0, [&] {
    consumer.wait(use).read(use, 1);
    if (releases)
      consumer.release(use);
    consumer.advance(use);
  });
  consumer.finish();
  return protocol;
}

} // namespace

TEST(Timeline, FollowsTheRing) {
  TimelineOptions options;
  options.iterations = 3;
  alg::Expected<Timeline> timeline = simulate(ring(2), options);
  ASSERT_TRUE(bool(timeline)) << timeline.message();
  EXPECT_TRUE(timeline->isComplete);
  // Three items by two roles in three steps each.
  EXPECT_EQ(timeline->events.size(), 18u);
  int acquired = 0, freed = 0;
  for (const TimelineEvent &event : timeline->events) {
    if (event.step == ta::Step::Acquire)
      EXPECT_EQ(event.slot, acquired++ % 2);
    // A slot that is filled again was given back in an earlier column.
    if (event.step == ta::Step::Acquire && acquired == 3)
      for (const TimelineEvent &other : timeline->events)
        if (other.step == ta::Step::Release && freed++ == 0)
          EXPECT_LT(other.column, event.column);
  }
  EXPECT_EQ(acquired, 3);
  // Spans of one slot do not overlap, and each is filled before it is read.
  for (const TimelineSpan &a : timeline->spans)
    for (const TimelineSpan &b : timeline->spans)
      if (&a != &b && a.slot == b.slot)
        EXPECT_TRUE(a.end <= b.begin || b.end <= a.begin);
  std::string text = timelineText(*timeline, 100);
  EXPECT_THAT(text, HasSubstr("one run with 3 iterations of each loop: A = "
                              "tiles; ... is waiting"));
  EXPECT_THAT(text,
              HasSubstr("producer | acq A0  | copy A0 | fill A0 | acq A1"));
  EXPECT_THAT(text, HasSubstr("consumer | ...     | ...     | ..."));
}

TEST(Timeline, NoIterations) {
  TimelineOptions options;
  options.iterations = 0;
  alg::Expected<Timeline> timeline = simulate(ring(2), options);
  ASSERT_TRUE(bool(timeline)) << timeline.message();
  EXPECT_EQ(timeline->columns, 0);
  EXPECT_EQ(timelineText(*timeline), "nobody waits for anybody\n");
}

TEST(Timeline, SaysWhereARunStops) {
  alg::Expected<Timeline> timeline = simulate(ring(1, /*releases=*/false));
  ASSERT_FALSE(bool(timeline));
  EXPECT_THAT(timeline.message(), HasSubstr("nobody can go on"));
}

TEST(Timeline, LongRunsAreCut) {
  TimelineOptions options;
  options.iterations = 100;
  options.maxColumns = 20;
  alg::Expected<Timeline> timeline = simulate(ring(3), options);
  ASSERT_TRUE(bool(timeline)) << timeline.message();
  EXPECT_FALSE(timeline->isComplete);
  EXPECT_EQ(timeline->columns, 20);
  EXPECT_THAT(timelineText(*timeline), HasSubstr("its beginning"));
}

/// What a slot is to a role or holds, for each slot from `turn` on.
static std::vector<std::string> columnOf(const Timeline &timeline, int column,
                                         int turn) {
  int slots = timeline.rings[0].slots;
  std::vector<std::string> cells(slots);
  for (const TimelineEvent &event : timeline.events)
    if (event.column == column)
      cells[(event.slot + slots - turn) % slots] +=
          std::to_string(event.role) + "." +
          std::to_string(static_cast<int>(event.step)) + ";";
  for (const TimelineSpan &span : timeline.spans)
    if (span.begin <= column && column < span.end)
      cells[(span.slot + slots - turn) % slots] +=
          static_cast<char>('0' + span.kind);
  return cells;
}

TEST(Timeline, ShowsTheSteadyStateOnce) {
  TimelineOptions options;
  options.iterations = 40;
  alg::Expected<Timeline> timeline = simulate(ring(3), options);
  ASSERT_TRUE(bool(timeline)) << timeline.message();
  std::vector<TimelinePiece> pieces = foldTimeline(*timeline, 20);
  int next = 0, leftOut = 0;
  for (const TimelinePiece &piece : pieces) {
    EXPECT_EQ(piece.begin, next);
    int period = piece.end - piece.repeatsFrom;
    next = piece.end + piece.repeats * period;
    if (!piece.repeats)
      continue;
    leftOut += piece.repeats * period;
    // Each column left out is one that is shown, some slots further on.
    for (int column = piece.end; column < next; ++column) {
      bool isAlike = false;
      for (int turn = 0; turn < 3; ++turn)
        isAlike |= columnOf(*timeline, column, turn) ==
                   columnOf(*timeline, column - period, 0);
      EXPECT_TRUE(isAlike) << column;
    }
  }
  EXPECT_EQ(next, timeline->columns);
  EXPECT_GT(leftOut, timeline->columns / 2);
  EXPECT_THAT(timelineText(*timeline), HasSubstr("in the slots that follow"));
  EXPECT_EQ(foldTimeline(*timeline, timeline->columns).size(), 1u);
}

TEST(Timeline, DrawingsAreAsWideAsAScreen) {
  TimelineOptions options;
  options.iterations = 60;
  alg::Expected<Timeline> timeline = simulate(ring(4), options);
  ASSERT_TRUE(bool(timeline)) << timeline.message();
  std::string svg = timelineSvg(*timeline);
  size_t at = svg.find("width=\"");
  ASSERT_NE(at, std::string::npos);
  EXPECT_LE(std::stod(svg.substr(at + 7)), 1600);
}

TEST(LaneView, NamesEachHolder) {
  alg::LaneBases bases;
  bases.reg = {{0, 1}};
  bases.lane = {{0, 2}, {1, 0}};
  alg::LaneMap lanes = *alg::LaneMap::get({2, 4}, bases);
  EXPECT_EQ(describeLanes(lanes),
            "2x4 elements: 2 registers of 4 lanes, each element once");
  std::string text = laneText(lanes);
  EXPECT_THAT(text,
              HasSubstr("    0 0.0 0.1 1.0 1.1\n    1 2.0 2.1 3.0 3.1\n"));
  EXPECT_THAT(text, HasSubstr("reg bits move by (0, 1)\n"));
  EXPECT_THAT(text, Not(HasSubstr("the first")));
  // Of rank 0, and cut off.
  EXPECT_THAT(laneText(*alg::LaneMap::get({}, {})), HasSubstr("0.0"));
  EXPECT_THAT(laneText(*alg::LaneMap::get({1}, {}, {100})),
              HasSubstr("the first 1x32 elements"));
}

TEST(BankView, ShowsWhatWaits) {
  alg::LaneBases bases;
  bases.lane = {{1, 0}, {2, 0}, {4, 0}, {8, 0}, {16, 0}};
  ta::BankedAccess column{alg::TileAccess{*alg::LaneMap::get({32, 1}, bases),
                                          {128, 4},
                                          4,
                                          alg::AccessKind::Read,
                                          0,
                                          0},
                          {}};
  alg::Expected<BankPicture> picture = pictureBanks(column, "sm_90a");
  ASSERT_TRUE(bool(picture)) << picture.message();
  ASSERT_EQ(picture->phases.size(), 1u);
  EXPECT_EQ(picture->phases[0].cycles, 32);
  EXPECT_EQ(picture->phases[0].banks[0].size(), 32u);
  EXPECT_TRUE(picture->phases[0].banks[1].empty());
  EXPECT_THAT(bankText(*picture), HasSubstr("phase 0, lanes 0-31: 32 cycles"));
  EXPECT_THAT(bankText(*picture), HasSubstr("cycle 31 31  .  ."));
  EXPECT_THAT(bankSvg(*picture), HasSubstr(kRed));
  // The degree of the algebra is the picture's, for padded rows as well.
  column.access.byteSteps = {132, 4};
  picture = pictureBanks(column, "sm_90a");
  ASSERT_TRUE(bool(picture)) << picture.message();
  EXPECT_EQ(picture->phases[0].cycles, 1);
  EXPECT_THAT(pictureBanks(column, "nothing").message(),
              HasSubstr("is not known"));
}

TEST(Svg, IsXMLWhateverTheWords) {
  Svg svg;
  svg.text(0, 10, "<a & \"b\"> \x01\xff\xc3\x28 caf\xc3\xa9");
  svg.beginHint("x < y");
  svg.box(1, 2, 3, 4, kWhite);
  svg.endHint();
  std::string text = svg.str("\xed\xa0\x80 & co");
  EXPECT_THAT(text, HasSubstr("&lt;a &amp; &quot;b&quot;&gt; ??"
                              "?( caf\xc3\xa9"));
  EXPECT_THAT(text, HasSubstr("<title>??? &amp; co</title>"));
  EXPECT_THAT(text, Not(HasSubstr("\x01")));
}

TEST(Coverage, ComparesTwoSides) {
  namespace cov = tracea::coverage;
  cov::Problem problem;
  cov::Space &s = problem.space;
  cov::Term M = s.symbol("dim0_0"), n = s.symbol("arg1");
  cov::Term t = s.id("tile", s.ceilDiv(M, 128)), i = s.id("e0.2", 128),
            part = s.id("part", n);
  cov::Term row = s.coordinate("at", M), other = s.coordinate("at.1", n);
  problem.assumptions = {cov::atLeast(n, 1)};
  problem.stages.push_back(
      {"elements of argument 0",
       cov::AffineStage{{row, other},
                        {{"store",
                          {t, i, part},
                          {cov::less(128 * t + i, M), cov::atMost(i, 100)},
                          {128 * t + i, part},
                          {}}}}});
  problem.outputs = {row, other};
  cov::Expr share = s.ceilDiv(M, s.max(1, n));
  for (int times = 0; times < 2; ++times)
    problem.accesses.push_back({"load reads argument 0",
                                {part},
                                {cov::equal(part, 3)},
                                {s.product(part, share)},
                                {cov::Range(M)}});
  problem.claims.push_back(
      {"not decided: terms: too hard", {}, {}, {}, {}, {}});
  problem.claims.push_back(
      {"operands have the same terms", {}, {}, {}, {}, {}});
  EXPECT_EQ(coverageText(problem),
            R"(theorem, for all dim0_0, arg1 with arg1 >= 1
  each element of argument 0, [0, dim0_0) x [0, arg1), is written exactly once
  2 accesses are in bounds
  operands have the same terms
not decided
  terms: too hard
sizes
  dim0_0 is extent 0 of argument 0, arg1 is argument 1
who writes what
  elements of argument 0
    store writes (128*tile + e0, part)
      for tile in [0, (dim0_0 + 127)/128), e0 in [0, 128), part in [0, arg1), if 128*tile + e0 < dim0_0 and e0 <= 100
in bounds
  load reads argument 0 at (part*((dim0_0 + max(1, arg1) - 1)/max(1, arg1)))
      for part in [0, arg1), if part = 3 (2 times)
)");
}
