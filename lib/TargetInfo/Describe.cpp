//===- Describe.cpp - A description as text for people --------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Tables.h"
#include "tracea/TargetInfo/TargetInfo.h"

#include <cstdio>

using namespace tracea::target;

namespace {

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.6g", value);
  return text;
}

std::string orUnknown(double value) {
  return value == 0 ? "unknown" : number(value);
}

std::string bytes(int64_t value) {
  if (value == 0)
    return "unknown";
  if (value % MiB == 0)
    return std::to_string(value / MiB) + " MiB";
  if (value % KiB == 0)
    return std::to_string(value / KiB) + " KiB";
  return std::to_string(value) + " B";
}

std::string join(const std::vector<std::string> &items) {
  std::string text;
  for (const std::string &item : items)
    text += (text.empty() ? "" : " ") + item;
  return text;
}

/// Collects "key: value" lines with the values in one column.
class Table {
public:
  void row(std::string_view key, const std::string &value) {
    constexpr size_t column = 24;
    std::string line(key);
    line += ':';
    line.append(line.size() < column ? column - line.size() : 1, ' ');
    text += line + (value.empty() ? "unknown" : value) + "\n";
  }
  std::string take() { return std::move(text); }

private:
  std::string text;
};

std::string shapeText(const MatrixShape &shape) {
  std::string text =
      "m" + std::to_string(shape.m) + "n" + std::to_string(shape.n);
  if (shape.nStep != 0)
    text +=
        "..n" + std::to_string(shape.nMax) + "/" + std::to_string(shape.nStep);
  text += "k" + std::to_string(shape.k) + " ";
  text += stringify(shape.operand);
  text += "->";
  text += stringify(shape.accumulator);
  if (shape.sumDigits != 0)
    text += " of " + std::to_string(shape.sumDigits) + " digits";
  return text;
}

void describeVector(Table &table, const TargetDescription &target) {
  const VectorUnit &vector = target.vector;
  if (target.isGPU()) {
    table.row("widest lane access", std::to_string(vector.bits) + " bits");
    return;
  }
  table.row("vector", vector.bits == 0
                          ? std::string("unknown")
                          : std::to_string(vector.registers) + " x " +
                                std::to_string(vector.bits) + " bits, " +
                                std::to_string(vector.maskRegisters) +
                                " mask registers");
  table.row("multiply-adds a cycle", orUnknown(vector.fmaPerCycle));
  table.row("multiply-add latency", orUnknown(vector.fmaLatency));
  if (vector.scalableBits != 0)
    table.row("scalable vector", std::to_string(vector.scalableBits) + " bits");
  if (std::optional<RegisterTile> tile = registerTile(target, 32))
    table.row("register tile (f32)", std::to_string(tile->rows) + " x " +
                                         std::to_string(tile->columns));
}

void describeShared(Table &table, const TargetDescription &target) {
  const SharedMemory &shared = target.shared;
  table.row("shared memory", bytes(shared.perWorkgroup) + " a workgroup, " +
                                 bytes(shared.perMultiprocessor) +
                                 " a multiprocessor");
  table.row("banks", shared.banks == 0
                         ? std::string("unknown")
                         : std::to_string(shared.banks) + " x " +
                               std::to_string(shared.bankBytes) + " B");
  for (const AccessPhase &phase : shared.phases) {
    auto list = [](const std::vector<unsigned> &masks, const char *between) {
      std::string text;
      for (unsigned mask : masks)
        text += (text.empty() ? "" : between) + std::to_string(mask);
      return text;
    };
    std::string text = "<" + list(phase.lanes, ", ") + ">";
    if (!phase.pairs.empty())
      text += ", <" + list(phase.merged, ", ") + "> if lanes repeat along " +
              list(phase.pairs, " or ");
    table.row("  phase " + std::to_string(phase.bytes) + " B " +
                  std::string(stringify(phase.access)),
              text);
  }
}

void describeAsync(Table &table, const AsyncFeatures &async) {
  std::vector<std::string> names;
  auto add = [&](bool has, const char *name) {
    if (has)
      names.push_back(name);
  };
  add(async.asyncCopy, "async-copy");
  add(async.mbarrier, "mbarrier");
  add(async.bulkCopy, "bulk-copy");
  add(async.setMaxRegisters, "set-max-registers");
  add(async.programmaticLaunch, "programmatic-launch");
  add(async.splitBarrier, "split-barrier");
  if (async.directToSharedBytes != 0)
    names.push_back("direct-to-shared-" +
                    std::to_string(async.directToSharedBytes) + "B");
  if (async.maxClusterSize != 0)
    names.push_back("cluster-" + std::to_string(async.maxClusterSize));
  table.row("async", names.empty() ? "none" : join(names));
}

} // namespace

std::string tracea::target::describe(const TargetDescription &target) {
  Table table;
  table.row("name", target.name);
  table.row("product", target.product);
  table.row("kind", std::string(stringify(target.kind)));
  table.row("arch", target.arch);
  table.row("cpu", target.cpu);
  if (!target.features.empty())
    table.row("features", join(target.features));
  if (!target.disabledFeatures.empty())
    table.row("lacking", join(target.disabledFeatures));
  table.row("cores", orUnknown(target.cores));
  if (!target.isGPU())
    table.row("hardware threads", orUnknown(target.hardwareThreads));
  table.row("clock (GHz)", orUnknown(target.clockGHz));
  table.row("memory (GB/s)", orUnknown(target.memoryGBs));
  describeVector(table, target);
  for (const MatrixUnit &unit : target.units) {
    std::string shapes;
    for (const MatrixShape &shape : unit.shapes)
      shapes += (shapes.empty() ? "" : ", ") + shapeText(shape);
    table.row("unit " + std::string(stringify(unit.kind)), shapes);
  }
  for (const PeakRate &peak : target.peaks)
    table.row("peak " + std::string(stringify(peak.unit)) + " " +
                  std::string(stringify(peak.operand)),
              number(peak.flopsPerCycle) + " operations a cycle a core");
  for (const CacheLevel &cache : target.caches)
    table.row("cache L" + std::to_string(cache.level),
              bytes(cache.bytes) + ", shared by " + orUnknown(cache.sharedBy) +
                  ", lines of " + bytes(cache.lineBytes));
  if (!target.isGPU())
    return table.take();

  const Occupancy &occupancy = target.occupancy;
  table.row("subgroup", orUnknown(occupancy.subgroupSize));
  table.row("threads", orUnknown(occupancy.maxThreadsPerWorkgroup) +
                           " a workgroup, " +
                           orUnknown(occupancy.maxThreadsPerMultiprocessor) +
                           " a multiprocessor");
  table.row("workgroups", orUnknown(occupancy.maxWorkgroupsPerMultiprocessor) +
                              " a multiprocessor");
  table.row("registers", orUnknown(occupancy.registersPerMultiprocessor) +
                             " a multiprocessor, " +
                             orUnknown(occupancy.maxRegistersPerThread) +
                             " a thread");
  table.row("barriers",
            orUnknown(occupancy.barriersPerWorkgroup) + " a workgroup");
  describeShared(table, target);
  describeAsync(table, target.async);
  return table.take();
}
