//===- Designs.cpp - The protocols of well-known kernels ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Designs.h"

namespace tracea::analysis {
namespace {

/// The bits of roles [first, first + count).
uint32_t roles(int first, int count = 1) {
  return ((1u << count) - 1) << first;
}

int bits(uint32_t mask) {
  int count = 0;
  for (; mask; mask &= mask - 1)
    ++count;
  return count;
}

Channel makeChannel(std::string name, int slots, uint32_t producers,
                    uint32_t consumers, int parts = 1) {
  Channel channel;
  channel.name = std::move(name);
  channel.slots = slots;
  channel.parts = parts;
  channel.producers = producers;
  channel.consumers = consumers;
  channel.fullCount = bits(producers);
  channel.emptyCount = bits(consumers);
  channel.readers.assign(parts, consumers);
  return channel;
}

/// Walks of a ring that a lowering may get wrong.
void breakWalks(RoleBuilder &role, int channel, const std::string &who,
                const Faults &faults) {
  Position &walk = role.role.positions[role.ring(channel).position];
  if (faults.count(who + " parity"))
    walk.parity = 1;
  if (faults.count(who + " modulus + 1"))
    walk.modulus = walk.slots + 1;
  if (faults.count(who + " modulus - 1"))
    walk.modulus = walk.slots - 1;
  if (faults.count(who + " flip - 1"))
    walk.flip = walk.slots - 1;
}

} // namespace

Protocol makeGemm(const GemmDesign &design, const Faults &faults) {
  auto on = [&](const char *fault) { return faults.count(fault) != 0; };
  enum { AB, Staging };
  enum { T, K };
  Protocol protocol;
  protocol.name = "gemm";
  protocol.trips = {"T", "K"};
  protocol.barriers = {{"cta"}};
  int total = 1 + design.consumers + design.store;
  uint32_t consumers = roles(1, design.consumers);
  protocol.channels.push_back(
      makeChannel("AB", design.slots, roles(0), consumers, 2));
  protocol.channels[AB].drain = design.drain;
  if (on("empty count - 1"))
    --protocol.channels[AB].emptyCount;
  if (on("empty count + 1"))
    ++protocol.channels[AB].emptyCount;
  if (on("full count + 1"))
    ++protocol.channels[AB].fullCount;
  if (design.store)
    protocol.channels.push_back(makeChannel("staging", design.staging,
                                            consumers, roles(total - 1),
                                            design.consumers));

  RoleBuilder producer(protocol, "producer");
  {
    Slot ab = producer.ring(AB);
    producer.initialize(AB);
    if (on("initialise twice"))
      producer.initialize(AB);
    if (design.store && !on("initialisation missing"))
      producer.initialize(Staging);
    if (!on("initialisation not synchronised"))
      producer.sync(0, total);
    auto fill = [&] {
      if (!on("producer does not acquire"))
        producer.acquire(ab);
      producer.commit(ab, on("bytes less") ? 1 : on("bytes more") ? 4 : 3);
      producer.copy(on("copy slot + 1") ? ab + 1 : ab, 1, 1);
      if (!on("copy missing"))
        producer.copy(ab, 2, 2);
      if (on("copy twice"))
        producer.copy(ab, 2, 2);
      if (on("commit twice"))
        producer.commit(ab, 0);
      producer.advance(ab);
      if (on("producer advances twice"))
        producer.advance(ab);
    };
    auto tile = [&] {
      if (design.atLeastOne)
        fill();
      if (on("producer skips the last"))
        producer.peel(K, [&] { producer.loop(K, fill); });
      else
        producer.loop(K, fill);
      if (on("producer + 1"))
        fill();
    };
    if (on("producer stops after a tile"))
      producer.peel(T, tile);
    else
      producer.loop(T, tile);
    if (design.drain && !on("no producer drain"))
      producer.repeat(design.slots, [&] {
        producer.acquire(ab);
        producer.advance(ab);
      });
    breakWalks(producer, AB, "producer", faults);
    producer.finish();
  }

  for (int i = 0; i < design.consumers; ++i) {
    RoleBuilder consumer(protocol, "consumer" + std::to_string(i));
    Slot ab = consumer.ring(AB);
    bool first = i == 0; // The consumer that a fault is in.
    auto bad = [&](const char *fault) { return first && on(fault); };
    if (!on("initialisation not synchronised"))
      consumer.sync(0, total);
    auto release = [&](Slot slot) {
      if (bad("release missing"))
        return;
      consumer.release(slot);
      if (bad("release twice"))
        consumer.release(slot);
    };
    auto use = [&] {
      if (!bad("wait missing"))
        consumer.wait(ab);
      consumer.readAsync(bad("read slot + 1") ? ab + 1 : ab, 3).closeGroup();
    };
    auto step = [&](Slot slot, int pending) {
      use();
      bool late = bad("release before the read is done");
      if (!late && !bad("no group wait"))
        consumer.waitGroup(bad("group depth + 1") ? pending + 1 : pending);
      release(bad("release slot off by one") ? slot + 1 : slot);
      if (late)
        consumer.waitGroup(pending);
      consumer.advance(ab);
      if (bad("consumer advances twice"))
        consumer.advance(ab);
    };
    auto straight = [&] { step(ab, 0); };
    auto skewed = [&] { step(ab - 1, 1); };
    auto head = [&] {
      use();
      consumer.advance(ab);
    };
    auto tail = [&] {
      if (!bad("no wait at the tail"))
        consumer.waitGroup(0);
      if (!bad("no release at the tail"))
        release(ab - 1);
    };
    auto steps = [&] {
      auto run = [&] {
        head();
        consumer.loop(K, skewed);
        if (bad("consumer + 1"))
          skewed();
        tail();
      };
      if (!design.skew) {
        if (design.atLeastOne)
          straight();
        if (bad("consumer skips the last"))
          consumer.peel(K, [&] { consumer.loop(K, straight); });
        else
          consumer.loop(K, straight);
        if (bad("consumer + 1"))
          straight();
      } else if (design.atLeastOne) {
        run();
      } else if (bad("consumer skips the last")) {
        consumer.peel(K, [&] { consumer.peel(K, run); });
      } else {
        consumer.peel(K, run);
      }
    };
    consumer.loop(T, [&] {
      steps();
      if (!design.store)
        return;
      Slot staging = consumer.ring(Staging);
      consumer.acquire(staging).write(staging, 1u << i);
      if (!bad("no fence"))
        consumer.fence();
      consumer.commit(staging, 0).advance(staging);
    });
    if (first)
      breakWalks(consumer, AB, "consumer", faults);
    consumer.finish();
  }

  if (!design.store)
    return protocol;
  RoleBuilder store(protocol, "store");
  Slot staging = store.ring(Staging);
  uint32_t all = (1u << design.consumers) - 1;
  if (!on("initialisation not synchronised"))
    store.sync(0, total);
  auto issue = [&] {
    store.wait(staging).readAsync(staging, all).closeGroup();
  };
  if (design.staging == 1) {
    store.loop(T, [&] {
      issue();
      if (!on("store does not wait for its reads"))
        store.waitGroup(0);
      store.release(staging).advance(staging);
    });
  } else {
    store.peel(T, [&] {
      issue();
      store.advance(staging);
      store.loop(T, [&] {
        issue();
        if (!on("store does not wait for its reads"))
          store.waitGroup(1);
        store.release(staging - 1).advance(staging);
      });
      if (!on("no store drain"))
        store.waitGroup(0);
      store.release(staging - 1);
    });
  }
  store.finish();
  return protocol;
}

Protocol makeAttention(const AttentionDesign &design, const Faults &faults) {
  auto on = [&](const char *fault) { return faults.count(fault) != 0; };
  enum { Q, K, V, O };
  enum { T, L };
  Protocol protocol;
  protocol.name = "attention";
  protocol.trips = {"T", "L"};
  protocol.barriers = {{"cta"}, {"turn0"}, {"turn1"}};
  int total = 3 + design.store;
  uint32_t consumers = roles(1, 2);
  protocol.channels = {
      makeChannel("Q", design.querySlots, roles(0), consumers, 2),
      makeChannel("K", design.keySlots, roles(0), consumers),
      makeChannel("V", design.valueSlots, roles(0), consumers)};
  protocol.channels[Q].readers = {roles(1), roles(2)};
  for (Channel &channel : protocol.channels)
    channel.drain = design.drain;
  if (on("empty count - 1"))
    --protocol.channels[K].emptyCount;
  if (design.store) {
    protocol.channels.push_back(makeChannel("O", 1, consumers, roles(3), 2));
  }

  RoleBuilder producer(protocol, "producer");
  for (size_t c = 0; c < protocol.channels.size(); ++c)
    producer.initialize(static_cast<int>(c));
  producer.sync(0, total);
  auto fill = [&](int channel) {
    Slot slot = producer.ring(channel);
    int bytes = on("bytes less") && channel == K ? 1 : 2;
    producer.acquire(slot).copy(slot, 1, 2).commit(slot, bytes).advance(slot);
  };
  auto fillQuery = [&] {
    Slot q = producer.ring(Q);
    producer.acquire(q).copy(q, 1, 1).copy(q, 2, 1).commit(q, 2).advance(q);
  };
  producer.loop(T, [&] {
    producer.peel(L, [&] {
      if (on("V before K")) {
        fillQuery();
        fill(V);
        fill(K);
        producer.loop(L, [&] {
          fill(V);
          fill(K);
        });
        return;
      }
      fill(K);
      if (!on("Q after the loop"))
        fillQuery();
      producer.loop(L, [&] {
        fill(K);
        fill(V);
      });
      if (on("Q after the loop"))
        fillQuery();
      if (!on("last V missing"))
        fill(V);
    });
  });
  if (design.drain && !on("no producer drain"))
    for (int channel : {Q, K, V})
      producer.repeat(protocol.channels[channel].slots, [&] {
        Slot slot = producer.ring(channel);
        producer.acquire(slot).advance(slot);
      });
  breakWalks(producer, V, "producer", faults);
  producer.finish();

  for (int i = 0; i < 2; ++i) {
    RoleBuilder consumer(protocol, "consumer" + std::to_string(i));
    bool first = i == 0;
    auto bad = [&](const char *fault) { return first && on(fault); };
    Slot q = consumer.ring(Q), k = consumer.ring(K), v = consumer.ring(V);
    int own = 1 + i, other = 2 - i;
    if (bad("turns swapped"))
      std::swap(own, other);
    if (bad("turn to itself"))
      other = own;
    int count = bad("turn count + 1") ? 3 : 2;
    consumer.sync(0, total);
    if (design.turns && i == 1 && !on("no first turn"))
      consumer.arrive(1, 2);
    auto begin = [&] {
      if (design.turns)
        consumer.sync(own, count);
    };
    auto end = [&] {
      if (design.turns && !bad("turn not handed on"))
        consumer.arrive(other, count);
    };
    auto scores = [&] {
      consumer.readAsync(k, 1).readAsync(q, 1u << i).closeGroup();
    };
    auto values = [&] { consumer.wait(v).readAsync(v, 1).closeGroup(); };
    consumer.loop(T, [&] {
      consumer.peel(L, [&] {
        consumer.wait(q).wait(k);
        begin();
        scores();
        end();
        consumer.waitGroup(0).release(k).advance(k);
        consumer.loop(L, [&] {
          consumer.wait(k);
          begin();
          scores();
          values();
          end();
          if (!bad("no group wait"))
            consumer.waitGroup(bad("group depth + 1") ? 2 : 1);
          consumer.release(k).advance(k);
          consumer.waitGroup(0).release(v).advance(v);
        });
        values();
        if (!bad("no wait at the tail"))
          consumer.waitGroup(0);
        consumer.release(v).advance(v);
        if (!bad("Q not released"))
          consumer.release(q);
        consumer.advance(q);
      });
      if (!design.store)
        return;
      Slot o = consumer.ring(O);
      consumer.acquire(o).write(o, 1u << i).fence().commit(o, 0).advance(o);
    });
    // The last turn comes back to the first consumer.
    if (design.turns && i == 0 && !on("last turn left"))
      consumer.sync(1, 2);
    if (first)
      breakWalks(consumer, V, "consumer", faults);
    consumer.finish();
  }
  if (!design.store)
    return protocol;
  RoleBuilder store(protocol, "store");
  Slot o = store.ring(O);
  store.sync(0, total);
  store.loop(T, [&] {
    store.wait(o).readAsync(o, 3).closeGroup();
    if (!on("store does not wait for its reads"))
      store.waitGroup(0);
    store.release(o).advance(o);
  });
  store.finish();
  return protocol;
}

Protocol makeConv(const ConvDesign &design, const Faults &faults) {
  auto on = [&](const char *fault) { return faults.count(fault) != 0; };
  enum { Filter, Patch };
  enum { T, C };
  Protocol protocol;
  protocol.name = "conv";
  protocol.trips = {"T", "C"};
  protocol.barriers = {{"cta"}};
  uint32_t consumers = roles(2, design.consumers);
  int total = 2 + design.consumers;
  protocol.channels = {
      makeChannel("filter", design.filterSlots, roles(0), consumers),
      makeChannel("patch", design.patchSlots, roles(1), consumers)};
  for (Channel &channel : protocol.channels)
    channel.drain = design.drain;

  for (int ring : {Filter, Patch}) {
    RoleBuilder producer(protocol, ring == Filter ? "filters" : "patches");
    Slot slot = producer.ring(ring);
    producer.initialize(ring).sync(0, total);
    int times = ring == Patch           ? 1
                : on("one tap too few") ? design.taps - 1
                                        : design.taps;
    producer.loop(T, [&] {
      producer.loop(C, [&] {
        producer.repeat(times, [&] {
          producer.acquire(slot).commit(slot, 4).copy(slot, 1, 4).advance(slot);
        });
      });
    });
    if (design.drain && !(ring == Patch && on("no producer drain")))
      producer.repeat(protocol.channels[ring].slots,
                      [&] { producer.acquire(slot).advance(slot); });
    producer.finish();
  }
  for (int i = 0; i < design.consumers; ++i) {
    RoleBuilder consumer(protocol, "consumer" + std::to_string(i));
    bool first = i == 0;
    auto bad = [&](const char *fault) { return first && on(fault); };
    Slot filter = consumer.ring(Filter), patch = consumer.ring(Patch);
    consumer.sync(0, total);
    consumer.loop(T, [&] {
      consumer.loop(C, [&] {
        consumer.wait(patch);
        for (int tap = 0; tap < design.taps; ++tap) {
          consumer.wait(filter)
              .readAsync(filter, 1)
              .readAsync(patch, 1)
              .closeGroup();
          if (tap)
            consumer.waitGroup(1).release(filter - 1);
          consumer.advance(filter);
          if (bad("patch released early") && tap == design.taps - 1)
            consumer.release(patch);
        }
        consumer.waitGroup(0).release(filter - 1);
        if (!bad("patch released early") && !bad("patch not released"))
          consumer.release(patch);
        consumer.advance(patch);
      });
    });
    if (first) {
      breakWalks(consumer, Filter, "consumer", faults);
      breakWalks(consumer, Patch, "patch", faults);
    }
    consumer.finish();
  }
  return protocol;
}

Protocol makeSplitK(const SplitKDesign &design, const Faults &faults) {
  auto on = [&](const char *fault) { return faults.count(fault) != 0; };
  enum { Even, Odd, Sum };
  enum { T, K };
  Protocol protocol;
  protocol.name = "split-k";
  protocol.trips = {"T", "K"};
  protocol.barriers = {{"cta"}};
  protocol.channels = {makeChannel("even", design.slots, roles(0), roles(1)),
                       makeChannel("odd", design.slots, roles(0), roles(2)),
                       makeChannel("sum", 1, roles(2), roles(1))};
  RoleBuilder producer(protocol, "producer");
  for (int channel : {Even, Odd, Sum})
    producer.initialize(channel);
  producer.sync(0, 3);
  producer.loop(T, [&] {
    producer.loop(K, [&] {
      for (int channel : {Even, Odd}) {
        if (channel == Odd && on("odd steps lost"))
          continue;
        Slot slot = producer.ring(channel);
        producer.acquire(slot).copy(slot, 1, 8).commit(slot, 8).advance(slot);
      }
    });
  });
  producer.finish();
  for (int i = 0; i < 2; ++i) {
    RoleBuilder consumer(protocol, i ? "partial" : "total");
    Slot slot = consumer.ring(i ? Odd : Even), sum = consumer.ring(Sum);
    consumer.sync(0, 3);
    consumer.loop(T, [&] {
      consumer.loop(K, [&] {
        consumer.wait(slot)
            .readAsync(slot, 1)
            .closeGroup()
            .waitGroup(0)
            .release(slot)
            .advance(slot);
      });
      if (i) {
        if (!on("sum not acquired"))
          consumer.acquire(sum);
        consumer.write(sum, 1);
        if (!on("sum not fenced"))
          consumer.fence();
        consumer.commit(sum, 0).advance(sum);
      } else {
        if (!on("sum not waited for"))
          consumer.wait(sum);
        consumer.read(sum, 1);
        if (!on("sum not released"))
          consumer.release(sum);
        if (on("sum read after release"))
          consumer.read(sum, 1);
        consumer.advance(sum);
      }
    });
    consumer.finish();
  }
  return protocol;
}

Protocol makePersistent(const PersistentDesign &design, const Faults &faults) {
  auto on = [&](const char *fault) { return faults.count(fault) != 0; };
  enum { Tile, Data };
  enum { T, K };
  Protocol protocol;
  protocol.name = "persistent";
  protocol.trips = {"T", "K"};
  protocol.barriers = {{"cta"}};
  protocol.channels = {
      makeChannel("tile", design.tileSlots, roles(0), roles(1, 2)),
      makeChannel("data", design.slots, roles(1), roles(2))};
  RoleBuilder scheduler(protocol, "scheduler");
  Slot tile = scheduler.ring(Tile);
  scheduler.initialize(Tile).initialize(Data).sync(0, 3);
  scheduler.loop(T, [&] {
    scheduler.acquire(tile).write(tile, 1).fence();
    scheduler.commit(tile, 0).advance(tile);
  });
  scheduler.finish();
  for (int i = 0; i < 2; ++i) {
    RoleBuilder worker(protocol, i ? "consumer" : "producer");
    Slot next = worker.ring(Tile), data = worker.ring(Data);
    worker.sync(0, 3);
    worker.loop(T, [&] {
      worker.wait(next).read(next, 1);
      worker.role.code.back().fresh = true;
      if (i && on("tile read twice")) {
        worker.read(next, 1);
        worker.role.code.back().fresh = true;
      }
      if (!(i && on("tile not released")))
        worker.release(next);
      worker.advance(next);
      worker.loop(K, [&] {
        if (i)
          worker.wait(data).read(data, 1).release(data);
        else
          worker.acquire(data).copy(data, 1, 16).commit(data, 16);
        worker.advance(data);
      });
    });
    if (!i && on("one more tile waited for"))
      worker.wait(next);
    worker.finish();
  }
  return protocol;
}

Protocol makeFused(const FusedDesign &design, const Faults &faults) {
  auto on = [&](const char *fault) { return faults.count(fault) != 0; };
  enum { AB, Staging };
  enum { T, K };
  enum { Multiplies, Stores };
  Protocol protocol;
  protocol.name = "fused";
  protocol.trips = {"T", "K"};
  protocol.channels = {
      makeChannel("AB", design.slots, roles(0), roles(1)),
      makeChannel("staging", design.staging, roles(1), roles(1))};
  protocol.channels[AB].initialized = true;
  protocol.channels[Staging].initialized = true;
  RoleBuilder producer(protocol, "producer");
  Slot ab = producer.ring(AB);
  producer.loop(T, [&] {
    producer.loop(K, [&] {
      producer.acquire(ab).commit(ab, 4).copy(ab, 1, 4).advance(ab);
    });
  });
  producer.finish();
  RoleBuilder consumer(protocol, "consumer");
  int sum = consumer.newValue("sum");
  Slot in = consumer.ring(AB), out = consumer.ring(Staging);
  consumer.loop(T, [&] {
    consumer.loop(K, [&] {
      consumer.wait(in).readAsync(in, 1, Multiplies).issue(sum, Multiplies);
      consumer.closeGroup(Multiplies);
      if (on("sum used in the loop"))
        consumer.use(sum);
      consumer.waitGroup(0,
                         on("waits for the other queue") ? Stores : Multiplies);
      consumer.release(in).advance(in);
    });
    consumer.waitGroup(on("stores are one behind") ? design.staging
                                                   : design.staging - 1,
                       Stores);
    if (on("last multiply in flight"))
      consumer.issue(sum, Multiplies).closeGroup(Multiplies);
    consumer.use(sum);
    if (on("last multiply in flight"))
      consumer.waitGroup(0, Multiplies);
    if (on("two queues write the sum"))
      consumer.issue(sum, Multiplies).issue(sum, Stores);
    consumer.write(out, 1);
    if (!on("no fence"))
      consumer.fence();
    consumer.readAsync(out, 1, Stores).closeGroup(Stores).advance(out);
  });
  if (!on("stores not waited for at the end"))
    consumer.waitGroup(0, Stores);
  consumer.finish();
  return protocol;
}

Protocol makeAhead(int ahead, const Faults &faults) {
  auto on = [&](const char *fault) { return faults.count(fault) != 0; };
  Protocol protocol;
  protocol.name = "ahead";
  protocol.trips = {"K"};
  protocol.channels = {makeChannel("A", ahead + 1, roles(0), roles(0))};
  protocol.channels[0].initialized = true;
  RoleBuilder role(protocol, "all");
  Slot to{0, role.newPosition(ahead + 1), 0};
  Slot from{0, role.newPosition(ahead + 1), 0};
  auto read = [&](int pending) {
    if (!on("not waited for"))
      role.waitGroup(on("one behind") ? pending + 1 : pending);
    if (!on("not fenced"))
      role.fence();
    role.read(from, 1).advance(from);
  };
  role.peel(0, [&] {
    role.repeat(ahead,
                [&] { role.writeAsync(to, 1).closeGroup().advance(to); });
    role.loop(0, [&] {
      role.writeAsync(to, 1).closeGroup().advance(to);
      if (on("writes twice"))
        role.writeAsync(to - 1, 1);
      read(ahead);
    });
    for (int i = ahead; i-- > 0;)
      read(i);
  });
  role.finish();
  return protocol;
}

Protocol makeSingleRole(int slots, const Faults &faults) {
  auto on = [&](const char *fault) { return faults.count(fault) != 0; };
  Protocol protocol;
  protocol.name = "single";
  protocol.trips = {"K"};
  protocol.channels = {makeChannel("A", slots, roles(0), roles(0))};
  protocol.channels[0].initialized = true;
  RoleBuilder role(protocol, "all");
  Slot a = role.ring(0);
  role.loop(0, [&] {
    role.acquire(a).copy(a, 1, 64);
    if (!on("commit missing"))
      role.commit(a, 64);
    if (on("copy after commit")) {
      protocol.channels[0].commitLast = true;
      role.copy(a, 1, 64);
    }
    role.wait(a).read(a, 1);
    if (!on("release missing"))
      role.release(a);
    if (on("read after release"))
      role.read(a, 1);
    role.advance(a);
  });
  role.finish();
  return protocol;
}

Protocol makeElected(int slots, const Faults &faults) {
  auto on = [&](const char *fault) { return faults.count(fault) != 0; };
  Protocol protocol;
  protocol.name = "elected";
  protocol.trips = {"K"};
  protocol.barriers = {{"cta"}};
  protocol.channels = {makeChannel("A", slots, roles(0), roles(1))};
  RoleBuilder producer(protocol, "producer");
  Slot a = producer.ring(0);
  producer.initialize(0).sync(0, 2).loop(
      0, [&] { producer.acquire(a).commit(a, 4).copy(a, 1, 4).advance(a); });
  producer.finish();
  RoleBuilder consumer(protocol, "consumer");
  consumer.role.divergent = true;
  Slot b = consumer.ring(0);
  consumer.sync(0, 2).loop(0, [&] {
    if (on("one lane waits"))
      consumer.elect();
    consumer.wait(b);
    consumer.elect(false);
    consumer.readAsync(b, 1).closeGroup().waitGroup(0);
    if (!on("lanes do not meet"))
      consumer.converge();
    consumer.elect().release(b).elect(false).advance(b);
  });
  consumer.finish();
  return protocol;
}

Protocol makeUnread(int slots, const Faults &faults) {
  Protocol protocol;
  protocol.name = "unread";
  protocol.trips = {"tiles", "K"};
  protocol.barriers = {{"cta"}};
  protocol.channels = {makeChannel("A", slots, roles(0), roles(1))};
  RoleBuilder producer(protocol, "producer");
  Slot a = producer.ring(0);
  producer.initialize(0).sync(0, 2).loop(
      0, [&] { producer.acquire(a).commit(a, 4).copy(a, 1, 4).advance(a); });
  producer.finish();
  RoleBuilder consumer(protocol, "consumer");
  consumer.role.divergent = true;
  Slot b = consumer.ring(0);
  consumer.sync(0, 2).loop(0, [&] {
    consumer.wait(b);
    consumer.loop(1, [&] {
      consumer.readAsync(b, 1).closeGroup();
      Instruction &wait = consumer.add(Step::WaitGroup);
      wait.queue = wait.count = 0;
      wait.collective = true;
    });
    if (!faults.count("lanes do not meet"))
      consumer.converge();
    consumer.elect().release(b).elect(false).advance(b);
  });
  consumer.finish();
  return protocol;
}

Protocol lower(const Protocol &protocol) {
  Protocol lowered = protocol;
  for (Role &role : lowered.roles) {
    auto expression = [&](Operator op, int a, int b = -1, int c = -1) {
      role.expressions.push_back({op, 32, 0, {a, b, c}});
      return static_cast<int>(role.expressions.size()) - 1;
    };
    auto constant = [&](int64_t value) {
      role.expressions.push_back({Operator::Constant, 32, value, {}});
      return static_cast<int>(role.expressions.size()) - 1;
    };
    auto variable = [&](int number) {
      role.expressions.push_back({Operator::Variable, 32, number, {}});
      return static_cast<int>(role.expressions.size()) - 1;
    };
    // Slot and parity of each position, and the advances since the last flip.
    int base = static_cast<int>(role.variables.size());
    for (const Position &walk : role.positions) {
      role.variables.push_back({"slot", 0});
      role.variables.push_back({"parity", walk.parity});
      role.variables.push_back({"count", 0});
    }
    std::vector<Instruction> code;
    std::vector<int> start;
    for (const Instruction &op : role.code) {
      start.push_back(static_cast<int>(code.size()));
      auto set = [&](int number, int expression) {
        Instruction assign;
        assign.step = Step::Set;
        assign.variable = number;
        assign.expression = expression;
        assign.site = op.site;
        code.push_back(assign);
      };
      int into = base + 3 * op.position, from = base + 3 * op.source;
      if (op.step == Step::Start) {
        for (int i : {0, 1, 2})
          set(into + i,
              constant(i == 1 ? role.positions[op.position].parity : 0));
      } else if (op.step == Step::Move) {
        for (int i : {0, 1, 2})
          set(into + i, variable(from + i));
      } else if (op.step == Step::Advance) {
        const Position &walk = role.positions[op.position];
        int one = constant(1);
        int next = expression(Operator::Add, variable(from), one);
        int wraps =
            expression(Operator::LessEqual, constant(walk.modulus), next);
        int count = expression(Operator::Add, variable(from + 2), one);
        int flips = expression(Operator::Equal, count, constant(walk.flip));
        set(into + 1, expression(Operator::Xor, variable(from + 1), flips));
        set(into, expression(Operator::Select, wraps, constant(0), next));
        set(into + 2, expression(Operator::Rem, count, constant(walk.flip)));
      } else if (isRingStep(op.step)) {
        const Position &walk = role.positions[op.position];
        Instruction ring = op;
        int shifted = expression(Operator::Add, variable(into),
                                 constant(op.offset + walk.modulus));
        int modulus = constant(walk.modulus);
        ring.slot = expression(Operator::Rem, shifted, modulus);
        if (op.step == Step::Wait || op.step == Step::Acquire) {
          int wraps = expression(Operator::Div, shifted, modulus);
          int parity =
              expression(Operator::And,
                         expression(Operator::Add, variable(into + 1), wraps),
                         constant(1));
          // One wrap is in the modulus that was added.
          ring.parity = expression(Operator::Xor, parity,
                                   constant(op.step == Step::Wait ? 1 : 0));
        }
        ring.position = -1;
        ring.offset = 0;
        code.push_back(ring);
      } else {
        code.push_back(op);
      }
    }
    for (Instruction &op : code)
      if (op.target >= 0)
        op.target = start[op.target];
    role.code = std::move(code);
    role.positions.clear();
  }
  return lowered;
}

} // namespace tracea::analysis
