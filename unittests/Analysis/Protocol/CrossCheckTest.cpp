//===- CrossCheckTest.cpp - The checker against every interleaving --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Designs.h"
#include "Explorer.h"
#include "tracea/Analysis/Protocol/Checker.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

using namespace tracea::analysis;

namespace {

struct Instance {
  Protocol protocol;
  std::vector<int> iterations;
};

std::vector<Instance> makeInstances() {
  std::vector<Instance> instances;
  auto add = [&](Protocol protocol, std::vector<int> iterations) {
    instances.push_back({std::move(protocol), std::move(iterations)});
  };
  GemmDesign gemm;
  gemm.slots = 2;
  gemm.consumers = 1;
  gemm.store = false;
  add(makeGemm(gemm), {2, 6});
  gemm.slots = 1;
  gemm.skew = false;
  add(makeGemm(gemm), {2, 4});
  gemm.store = true;
  gemm.drain = false;
  add(makeGemm(gemm), {3, 4});
  gemm.slots = 2;
  gemm.consumers = 2;
  gemm.store = false;
  gemm.atLeastOne = true;
  gemm.skew = true;
  add(makeGemm(gemm), {3, 5});
  AttentionDesign attention;
  attention.keySlots = attention.valueSlots = 1;
  attention.store = attention.drain = false;
  add(makeAttention(attention), {2, 4});
  ConvDesign conv;
  conv.taps = 2;
  conv.filterSlots = 2;
  conv.patchSlots = 1;
  conv.consumers = 1;
  conv.drain = false;
  add(makeConv(conv), {2, 5});
  add(makeSplitK({1}), {3, 5});
  add(makePersistent({1, 1}), {3, 5});
  add(makePersistent({2, 1}), {3, 6});
  add(makeSingleRole(1), {4});
  add(makeSingleRole(3), {8});
  add(makeFused({2, 1}), {3, 5});
  add(makeFused({1, 2}), {4, 4});
  add(makeAhead(2), {7});
  add(makeTurns({2}), {6, 2});
  add(makeTurns({3}), {5, 3});
  size_t count = instances.size();
  for (size_t i = 0; i < count; i += 3)
    add(lower(instances[i].protocol), instances[i].iterations);
  add(lower(makeTurns({2})), {5, 2});
  return instances;
}

/// Random faults in programs and rings.
class Mutator {
public:
  explicit Mutator(uint32_t seed) : random(seed) {}

  /// Breaks `protocol` somewhere; says how.
  std::string mutate(Protocol &protocol) {
    std::string text = once(protocol);
    if (pick(4) == 0)
      text += "; " + once(protocol);
    return text;
  }
  uint32_t pick(size_t below) {
    return static_cast<uint32_t>(random() % below);
  }

private:
  static bool isFixed(const Instruction &op) {
    return op.step == Step::Next || op.step == Step::Jump ||
           op.step == Step::Exit;
  }
  static void shift(Role &role, int after, int by) {
    for (Instruction &op : role.code)
      if (op.target > after)
        op.target += by;
  }

  std::string once(Protocol &protocol) {
    for (;;) {
      Role &role = protocol.roles[pick(protocol.roles.size())];
      int at = static_cast<int>(pick(role.code.size()));
      Instruction op = role.code[at];
      std::string where =
          role.name + " " + std::to_string(at) + " " + stepName(op.step);
      switch (pick(8)) {
      case 0:
        if (isFixed(op))
          break;
        shift(role, at, -1);
        role.code.erase(role.code.begin() + at);
        return "delete " + where;
      case 1:
        if (isFixed(op))
          break;
        shift(role, at, 1);
        role.code.insert(role.code.begin() + at, op);
        return "repeat " + where;
      case 2: {
        if (isFixed(op) || isFixed(role.code[at + 1]))
          break;
        std::swap(role.code[at], role.code[at + 1]);
        return "swap " + where + " with the next";
      }
      case 3:
        if (op.step == Step::WaitGroup && pick(2)) {
          role.code[at].queue ^= 1;
          return "queue of " + where;
        }
        if ((op.step == Step::CloseGroup || op.step == Step::Issue ||
             op.async) &&
            pick(3) == 0) {
          role.code[at].queue ^= 1;
          return "queue of " + where;
        }
        if (op.step == Step::WaitGroup) {
          ++role.code[at].count;
          return "deepen " + where;
        }
        if (op.step != Step::Copy && op.step != Step::Read &&
            op.step != Step::Release && op.step != Step::Commit)
          break;
        role.code[at].offset += pick(2) ? 1 : -1;
        return "offset " + where;
      case 4:
        if (op.step != Step::Copy && op.step != Step::Commit)
          break;
        role.code[at].bytes += pick(2) ? 1 : -1;
        if (role.code[at].bytes < 0)
          role.code[at].bytes = 1;
        return "bytes of " + where;
      case 5: {
        if (role.positions.empty() || pick(2))
          break;
        Position &walk = role.positions[pick(role.positions.size())];
        switch (pick(3)) {
        case 0:
          walk.parity ^= 1;
          return "parity of " + role.name;
        case 1:
          walk.flip = std::max(1, walk.flip - 1);
          return "flip of " + role.name;
        default:
          walk.modulus = std::max(1, walk.modulus + (pick(2) ? 1 : -1));
          return "modulus of " + role.name;
        }
      }
      case 6: {
        // Another loop's trip count, or another ring's position.
        if (op.step == Step::Next && protocol.trips.size() > 1 &&
            pick(4) == 0) {
          role.code[at].trip = static_cast<int>(pick(protocol.trips.size()));
          return "trip count of " + where;
        }
        const Instruction &other = role.code[pick(role.code.size())];
        if ((op.step != Step::Release && op.step != Step::Wait &&
             op.step != Step::Commit && op.step != Step::Acquire) ||
            other.step != op.step || other.channel == op.channel)
          break;
        role.code[at].channel = other.channel;
        role.code[at].position = other.position;
        return "ring of " + where;
      }
      default:
        if ((op.step == Step::Sync || op.step == Step::Arrive) &&
            pick(3) == 0) {
          ++role.code[at].count;
          return "count of " + where;
        }
        break;
      }
    }
  }

  std::mt19937 random;
};

} // namespace

TEST(ProtocolCrossCheck, CorrectDesignsHaveNoBadInterleaving) {
  int64_t states = 0;
  for (const Instance &instance : makeInstances()) {
    Exploration exploration =
        explore(instance.protocol, instance.iterations, 2000000);
    EXPECT_EQ(exploration.violation, "") << instance.protocol.name;
    EXPECT_FALSE(exploration.exhausted) << instance.protocol.name;
    states += exploration.states;
    EXPECT_EQ(checkProtocol(instance.protocol).verdict, Verdict::Proved);
  }
  RecordProperty("states", std::to_string(states));
}

TEST(ProtocolCrossCheck, AgreesOnAThousandRandomMutants) {
  std::vector<Instance> instances = makeInstances();
  Mutator mutator(20260101);
  int compared = 0, proved = 0, refuted = 0, undecided = 0, exhausted = 0;
  while (compared < 1000) {
    const Instance &instance = instances[mutator.pick(instances.size())];
    Protocol mutant = instance.protocol;
    std::string how = mutant.name + ": " + mutator.mutate(mutant);
    CheckResult result = checkProtocol(mutant);
    if (result.verdict == Verdict::NotDecided) {
      ++undecided;
      continue;
    }
    Exploration exploration = explore(mutant, instance.iterations, 400000);
    if (exploration.exhausted) {
      ++exhausted;
      continue;
    }
    ++compared;
    if (result.verdict == Verdict::Proved) {
      ++proved;
      EXPECT_EQ(exploration.violation, "") << how;
    } else {
      ++refuted;
      EXPECT_NE(exploration.violation, "")
          << how << "\n"
          << printFinding(mutant, result.finding);
    }
  }
  // Neither side may win by giving up, or by saying the same every time.
  EXPECT_LT(undecided + exhausted, 100);
  EXPECT_GT(proved, 100);
  EXPECT_GT(refuted, 500);
  RecordProperty("proved", proved);
  RecordProperty("refuted", refuted);
  RecordProperty("undecided", undecided);
  RecordProperty("exhausted", exhausted);
}
