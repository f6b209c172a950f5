//===- Model.cpp - The text of a resource model ---------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records of words and numbers, separated by semicolons:
//
//   target sm_90a; memory 16384 slots 4 teams 1 align 1024 barriers 8;
//   role 4 12 teams 2 budget 232 live 160 accumulators 128 warpgroups 1; named
//   3; together workgroups 2

#include "tracea/Analysis/Resources/Resources.h"

#include <charconv>
#include <utility>

using namespace tracea::analysis;

std::string tracea::analysis::writeModel(const ResourceUse &use,
                                         const ResourceLimits &limits) {
  std::string text = "target " + limits.target;
  auto number = [&](const char *key, int64_t value) {
    text += std::string(" ") + key + " " + std::to_string(value);
  };
  if (limits.isCPU) {
    text += "; cpu";
    number("vectors", limits.vectorRegisters);
    number("bits", limits.vectorBits);
    number("workspace", use.declaredWorkspace);
    for (const RoleUse &role : use.roles)
      if (role.tiles > 0) {
        text += "; tiles";
        number("of", limits.tileRegisters);
        number("live", role.tiles);
      }
  }
  for (const MemoryUse &item : use.memory) {
    text += "; memory";
    number("bytes", item.bytes);
    number("slots", item.slots);
    number("teams", item.copies);
    number("align", item.alignment);
    number("barriers", item.barriers);
  }
  for (const RoleUse &role : use.roles) {
    text += "; role";
    number("first", role.firstWarp);
    number("end", role.endWarp);
    number("teams", role.copies);
    number("budget", role.budget);
    number("live", role.live);
    number("accumulators", role.accumulators);
    number("warpgroups", role.usesWarpgroups);
  }
  text += "; barriers";
  number("named", use.namedBarriers);
  if (use.residents > 1) {
    text += "; together";
    number("workgroups", use.residents);
  }
  return text;
}

namespace {

constexpr size_t kMaxRecords = 4096;

/// Reads one record after the other; the first fault ends it.
class Reader {
public:
  Reader(std::string_view text, std::string &error)
      : rest(text), error(error) {}

  bool atEnd() {
    skip();
    return rest.empty();
  }
  std::string_view word() {
    skip();
    size_t end = rest.find_first_of(" ;");
    std::string_view result = rest.substr(0, end);
    rest.remove_prefix(result.size());
    return result;
  }
  bool separator() {
    skip();
    if (rest.empty())
      return true;
    if (rest.front() != ';')
      return fail("expected ';'");
    rest.remove_prefix(1);
    return true;
  }
  bool field(const char *key, int64_t least, int64_t &value) {
    if (word() != key)
      return fail(std::string("expected '") + key + "'");
    std::string_view digits = word();
    auto [end, code] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || code != std::errc() ||
        end != digits.data() + digits.size() || value < least)
      return fail(std::string("expected a number of at least ") +
                  std::to_string(least) + " after '" + key + "', found '" +
                  std::string(digits) + "'");
    return true;
  }
  bool fail(std::string message) {
    if (error.empty())
      error = "resource model: " + std::move(message);
    return false;
  }

private:
  void skip() {
    while (!rest.empty() && rest.front() == ' ')
      rest.remove_prefix(1);
  }
  std::string_view rest;
  std::string &error;
};

} // namespace

static bool readMemory(Reader &reader, MemoryUse &item) {
  return reader.field("bytes", 0, item.bytes) &&
         reader.field("slots", 1, item.slots) &&
         reader.field("teams", 1, item.copies) &&
         reader.field("align", 1, item.alignment) &&
         reader.field("barriers", 0, item.barriers);
}

static bool readRole(Reader &reader, RoleUse &role) {
  int64_t warpgroups = 0;
  if (!reader.field("first", 0, role.firstWarp) ||
      !reader.field("end", 0, role.endWarp) ||
      !reader.field("teams", 1, role.copies) ||
      !reader.field("budget", 0, role.budget) ||
      !reader.field("live", 0, role.live) ||
      !reader.field("accumulators", 0, role.accumulators) ||
      !reader.field("warpgroups", 0, warpgroups))
    return false;
  // Far beyond any machine; below, no sum overflows.
  constexpr int64_t kFar = int64_t(1) << 40;
  if (role.endWarp <= role.firstWarp || warpgroups > 1 || role.live > kFar ||
      role.accumulators > kFar || role.budget > kFar)
    return reader.fail("a role that no kernel has");
  role.usesWarpgroups = warpgroups;
  return true;
}

std::optional<ResourceModel>
tracea::analysis::readResourceModel(std::string_view text, std::string &error) {
  error.clear();
  ResourceModel model;
  Reader reader(text, error);
  if (reader.word() != "target") {
    reader.fail("expected 'target'");
    return std::nullopt;
  }
  std::string name(reader.word());
  std::optional<target::TargetDescription> target = target::lookup(name);
  if (target)
    model.limits = getResourceLimits(*target);
  bool isCPU = false;
  int64_t tiles = 0;
  for (size_t records = 0; reader.separator() && !reader.atEnd(); ++records) {
    if (records == kMaxRecords) {
      reader.fail("too many records");
      break;
    }
    std::string_view kind = reader.word();
    if (kind == "cpu") {
      isCPU = true;
      if (!target)
        model.limits.isCPU = true;
      model.limits.target = name;
      if (!reader.field("vectors", 0, model.limits.vectorRegisters) ||
          !reader.field("bits", 0, model.limits.vectorBits) ||
          !reader.field("workspace", -1, model.use.declaredWorkspace))
        break;
    } else if (kind == "tiles") {
      // A CPU's kernel has one role, whose record follows.
      if (!isCPU) {
        reader.fail("tiles of a unit behind no record 'cpu'");
        break;
      }
      if (!reader.field("of", 0, model.limits.tileRegisters) ||
          !reader.field("live", 1, tiles))
        break;
    } else if (kind == "memory") {
      if (!readMemory(reader, model.use.memory.emplace_back()))
        break;
    } else if (kind == "role") {
      if (!readRole(reader, model.use.roles.emplace_back()))
        break;
      model.use.roles.back().tiles = std::exchange(tiles, 0);
    } else if (kind == "barriers") {
      if (!reader.field("named", 0, model.use.namedBarriers))
        break;
    } else if (kind == "together") {
      constexpr int64_t most = 32;
      if (!reader.field("workgroups", 1, model.use.residents))
        break;
      if (model.use.residents > most)
        reader.fail("more workgroups together than a multiprocessor has");
    } else {
      reader.fail("unknown record '" + std::string(kind) + "'");
      break;
    }
  }
  if (error.empty() && !target && !isCPU)
    reader.fail("unknown target '" + name + "'");
  if (error.empty() && target && isCPU != model.limits.isCPU)
    reader.fail("'" + name + "' is " + (isCPU ? "no CPU" : "a CPU"));
  if (!error.empty())
    return std::nullopt;
  return model;
}
