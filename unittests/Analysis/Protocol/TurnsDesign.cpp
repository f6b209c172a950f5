//===- TurnsDesign.cpp - Consumers that take tiles in turn ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Designs.h"

namespace tracea::analysis {

Protocol makeTurns(const TurnsDesign &design, const Faults &faults) {
  auto on = [&](const char *fault) { return faults.count(fault) != 0; };
  enum { T, K };
  enum { Turn0 };
  constexpr uint32_t producerBit = 1, consumerBits = 6;
  Protocol protocol;
  protocol.name = "turns";
  protocol.trips = {"T", "K"};
  protocol.barriers = {{"turn0"}, {"turn1"}};
  Channel ring;
  ring.name = "AB";
  ring.slots = design.slots;
  ring.producers = producerBit;
  ring.consumers = consumerBits;
  ring.readers = {consumerBits};
  ring.initialized = true;
  ring.inTurns = !on("read by all");
  ring.emptyCount = on("empty count 2") ? 2 : 1;
  protocol.channels = {ring};

  RoleBuilder producer(protocol, "producer");
  Slot filled = producer.ring(0);
  auto fill = [&] {
    producer.acquire(filled)
        .copy(filled, 1, 1)
        .commit(filled, 1)
        .advance(filled);
  };
  producer.loop(T, [&] {
    fill();
    producer.loop(K, fill);
  });
  producer.finish();

  for (int i : {0, 1}) {
    RoleBuilder consumer(protocol, "consumer" + std::to_string(i));
    auto bad = [&](const char *fault) { return i == 0 && on(fault); };
    bool begins = on("both begin") || i == (on("the other begins") ? 1 : 0);
    consumer.role.variables = {{"mine", begins}};
    consumer.role.expressions = {{Operator::Variable, 32, 0, {}},
                                 {Operator::Constant, 32, 1, {}},
                                 {Operator::Xor, 32, 0, {0, 1, -1}}};
    enum { Mine, One, Others };
    auto when = [&](int condition, const std::function<void()> &body) {
      size_t head = consumer.role.code.size();
      consumer.add(Step::Test).expression = condition;
      body();
      consumer.role.code[head].target =
          static_cast<int>(consumer.role.code.size());
    };
    int own = Turn0 + i, other = Turn0 + 1 - i;
    Slot slot = consumer.ring(0);
    auto take = [&] {
      if (!bad("turn not taken"))
        consumer.sync(own, 2);
    };
    auto pass = [&] {
      if (!bad("turn not passed"))
        consumer.arrive(other, 2);
    };
    auto issue = [&] { consumer.wait(slot).readAsync(slot, 1).closeGroup(); };
    auto advance = [&] { consumer.advance(slot); };

    if (i == 1 && !on("no first turn"))
      consumer.arrive(Turn0, 2);
    consumer.loop(T, [&] {
      when(Mine, [&] {
        if (bad("waits before its turn"))
          consumer.wait(slot);
        take();
        if (bad("passes the turn before it waits"))
          pass();
        issue();
        advance();
        consumer.loop(K, [&] {
          issue();
          consumer.waitGroup(bad("group depth + 1") ? 2 : 1).release(slot - 1);
          advance();
        });
        if (!bad("passes the turn before it waits"))
          pass();
        consumer.waitGroup(0);
        if (!bad("last slot not released"))
          consumer.release(slot - 1);
      });
      when(Others, [&] {
        if (bad("reads what others wait for"))
          consumer.read(slot, 1);
        if (!bad("advances one less"))
          advance();
        consumer.loop(K, [&] {
          if (bad("releases what others read"))
            consumer.release(slot);
          if (!bad("does not advance past the others"))
            advance();
        });
      });
      Instruction &flip = consumer.add(Step::Set);
      flip.variable = 0;
      flip.expression = bad("turn does not change") ? Mine : Others;
    });
    if (i == 1 && !on("turn not brought back"))
      when(Mine, [&] {
        take();
        pass();
      });
    if (i == 0 && !on("last turn left"))
      consumer.sync(Turn0, 2);
    consumer.finish();
  }
  return protocol;
}

} // namespace tracea::analysis
