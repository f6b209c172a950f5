//===- Measure.cpp - Rounds of contenders in turns -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//

#include "Measure.h"

#include "Worker.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

using namespace tracea;
using namespace tracea::bench;
namespace json = llvm::json;

static double quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  double place = part * double(values.size() - 1);
  size_t low = static_cast<size_t>(place);
  size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (place - double(low)) * (values[high] - values[low]);
}

double Side::median() const { return quantile(samples, 0.5); }
double Side::fastest() const {
  return *std::min_element(samples.begin(), samples.end());
}
double Side::spread() const {
  return (quantile(samples, 0.75) - quantile(samples, 0.25)) / median();
}

const Side *Row::find(const std::string &name) const {
  for (const Side &side : sides)
    if (side.name == name)
      return &side;
  return nullptr;
}

const Side *Row::bestPeer() const {
  const Side *best = nullptr;
  for (const Peer &peer : kPeers) {
    const Side *side = find(peer.name);
    if (side && side->hasTime() && (!best || side->median() < best->median()))
      best = side;
  }
  return best;
}

double Row::ratio() const {
  const Side *tracea = find("tracea"), *peer = bestPeer();
  return tracea && tracea->hasTime() && peer ? peer->median() / tracea->median()
                                             : 0;
}

double Row::ratioOfFastest() const {
  const Side *tracea = find("tracea");
  double best = 0;
  for (const Peer &peer : kPeers) {
    const Side *side = find(peer.name);
    if (side && side->hasTime() && (best == 0 || side->fastest() < best))
      best = side->fastest();
  }
  return tracea && tracea->hasTime() ? best / tracea->fastest() : 0;
}

double Row::fusionGain() const {
  const Side *tracea = find("tracea"), *separate = find("separate");
  return tracea && tracea->hasTime() && separate && separate->hasTime()
             ? separate->median() / tracea->median()
             : 0;
}

namespace {

/// A side, and where to ask for its numbers.
struct Seat {
  Side side;
  Worker *worker = nullptr;
  int place = 0;

  void drop(const std::string &reason) {
    side.reason = reason;
    side.samples.clear();
    worker = nullptr;
  }
};

} // namespace

static std::string textOf(const json::Object &object, llvm::StringRef key) {
  return object.getString(key).value_or("").str();
}
static double numberOf(const json::Object &object, llvm::StringRef key) {
  return object.getNumber(key).value_or(0);
}

/// Seats everyone at workers of at most `share` contenders each.
static void seat(const Case &entry, int threads, bool cpuTime, size_t share,
                 const std::vector<std::string> &names,
                 std::vector<std::unique_ptr<Worker>> &workers,
                 std::vector<Seat> &seats) {
  for (size_t first = 0; first < names.size(); first += share) {
    WorkerTask task;
    task.caseName = entry.name;
    task.threads = threads;
    task.cpuTime = cpuTime;
    for (size_t i = first; i < std::min(first + share, names.size()); ++i)
      task.contenders.push_back(names[i]);
    workers.push_back(std::make_unique<Worker>(task));
    const json::Object &greeting = workers.back()->greeting();
    const json::Array *list = greeting.getArray("contenders");
    for (size_t i = 0; i < task.contenders.size(); ++i) {
      Seat place;
      place.side.name = task.contenders[i];
      const json::Object *about =
          list && i < list->size() ? (*list)[i].getAsObject() : nullptr;
      if (!about) {
        place.drop(textOf(greeting, "failure"));
      } else if (std::optional<llvm::StringRef> reason =
                     about->getString("reason")) {
        place.drop(reason->str());
      } else {
        place.worker = workers.back().get();
        place.place = static_cast<int>(i);
        place.side.implementation = textOf(*about, "implementation");
        place.side.undecided = textOf(*about, "undecided");
        place.side.compileSeconds = numberOf(*about, "compileSeconds");
      }
      seats.push_back(std::move(place));
    }
  }
}

/// Whether the output is right; the seat is dropped where it is not.
static bool checkSeat(Seat &seat) {
  json::Object result = seat.worker->check(seat.place);
  if (std::optional<llvm::StringRef> failure = result.getString("failure")) {
    seat.drop(failure->str());
    return false;
  }
  seat.side.error = std::max(seat.side.error, numberOf(result, "error"));
  if (result.getBoolean("ok").value_or(false))
    return true;
  seat.drop("WRONG RESULT: " + textOf(result, "message"));
  return false;
}

Row tracea::bench::measure(const Case &entry, int threads,
                           const Protocol &protocol) {
  std::vector<std::string> names = {"tracea"};
  if (entry.separate)
    names.push_back("separate");
  bool isForBLAS =
      entry.op == Op::Gemm && entry.type == runtime::ElementType::F32;
  for (const Peer &peer : kPeers)
    if (isForBLAS || !peer.isBLAS)
      names.push_back(peer.name);

  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<Seat> seats;
  seat(entry, threads, protocol.cpuTime, threads == 1 ? names.size() : 1, names,
       workers, seats);
  if (threads == 1 && workers.front()->greeting().getString("failure")) {
    // Whoever brought the common worker down must not take the others along.
    workers.clear();
    seats.clear();
    seat(entry, threads, protocol.cpuTime, 1, names, workers, seats);
  }

  // Everybody makes as many calls as the fastest needs: what the rest before a
  // sample costs is shared by as many.
  int64_t iterations = 1;
  for (Seat &seat : seats) {
    if (!seat.worker || !checkSeat(seat))
      continue;
    json::Object result =
        seat.worker->calibrate(seat.place, protocol.sampleSeconds);
    iterations =
        std::max(iterations, result.getInteger("iterations").value_or(1));
  }
  for (int round = 0; round < protocol.rounds; ++round)
    for (Seat &seat : seats) {
      if (!seat.worker)
        continue;
      std::this_thread::sleep_for(
          std::chrono::duration<double>(protocol.restSeconds));
      json::Object result = seat.worker->sample(seat.place, iterations);
      if (std::optional<double> seconds = result.getNumber("seconds"))
        seat.side.samples.push_back(*seconds);
      else
        seat.drop(textOf(result, "failure"));
    }
  // After all those runs the numbers must still be right.
  for (Seat &seat : seats)
    if (seat.worker)
      checkSeat(seat);

  Row row;
  row.entry = &entry;
  row.threads = threads;
  for (Seat &seat : seats)
    row.sides.push_back(std::move(seat.side));
  return row;
}

json::Object tracea::bench::toJSON(const Row &row, double peak) {
  json::Array sides;
  for (const Side &side : row.sides) {
    json::Object object{{"name", side.name}};
    if (!side.hasTime()) {
      object["reason"] = side.reason;
    } else {
      double rate = row.entry->flops() / side.median();
      object["implementation"] = side.implementation;
      object["error"] = side.error;
      object["seconds"] = side.median();
      object["spread"] = side.spread();
      object["gflops"] = rate * 1e-9;
      if (peak > 0)
        object["peakShare"] = rate / peak;
      object["samples"] = json::Array(side.samples);
    }
    if (!side.undecided.empty())
      object["undecided"] = side.undecided;
    if (side.compileSeconds > 0)
      object["compileSeconds"] = side.compileSeconds;
    sides.push_back(std::move(object));
  }
  json::Object result{{"list", row.entry->list},
                      {"case", row.entry->name},
                      {"threads", row.threads},
                      {"flops", row.entry->flops()},
                      {"sides", std::move(sides)}};
  if (row.ratio() > 0)
    result["ratio"] = row.ratio();
  if (row.fusionGain() > 0)
    result["fusionGain"] = row.fusionGain();
  return result;
}
