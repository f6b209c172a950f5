//===- Params.cpp - The fields of any family of variants ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Schedule/Params.h"
#include "tracea/Schedule/Variants.h"

#include <algorithm>

namespace mlir::tracea::schedule {

namespace {
struct Entry {
  std::string variant;
  Params params;
};
} // namespace

/// The table of all variants.
static std::vector<Entry> &variants() {
  static std::vector<Entry> table = {
      {"gemm.packed", CPUGemm()},
      {"gemm.direct", CPUGemm()},
      {"gemm.dot", CPUGemm()},
      {"conv2d.dot", CPUConv()},
      {"conv2d.patch", CPUConv()},
      {"conv2d.depthwise", CPUConv()},
      {"attention.flash", CPUAttention()},
      {"attention.dot", CPUAttention()},
      {"row", CPURows()},
      {"elementwise", Untiled()},
      {"linalg", Untiled()},
      {"gemm.warpgroup", WarpgroupGemm()},
      {"gemm.skinny", WarpgroupGemm()},
      {"grouped.warpgroup", WarpgroupGrouped()},
      {"gemm.warp", WarpGemm()},
      {"gemm.tf32x3", WarpGemm()},
      {"gemm.simt", SimtGemm()},
      {"conv2d.warpgroup", WarpgroupGemm()},
      {"conv2d.warp", WarpGemm()},
      {"conv2d.tf32x3", WarpGemm()},
      {"conv2d.simt", SimtGemm()},
      {"conv2d.groups", LaneConv()},
      {"conv2d.lanes", LaneConv()},
      {"wgrad.windows", CPUGemm()},
      {"wgrad.warpgroup", WarpgroupGemm()},
      {"wgrad.warp", WarpGemm()},
      {"wgrad.tf32x3", WarpGemm()},
      {"wgrad.simt", SimtGemm()},
      {"attention.warp", WarpAttention()},
      {"attention.simt", SimtAttention()},
      {"attention_qgrad.warp", WarpAttentionGrad()},
      {"attention_kvgrad.warp", WarpAttentionGrad()},
      {"row.lanes", LaneRows()},
  };
  return table;
}

/// Adds `name` in quotes to a list.
static void append(std::string &list, std::string_view name) {
  list += list.empty() ? "'" : ", '";
  list += name;
  list += "'";
}

const Field *Fields::find(std::string_view name) const {
  auto found = std::find_if(
      begin(), end(), [&](const Field &field) { return field.name == name; });
  return found == end() ? nullptr : &*found;
}

std::optional<Params> Params::ofVariant(std::string_view variant) {
  for (const Entry &entry : variants())
    if (entry.variant == variant)
      return entry.params;
  return std::nullopt;
}

bool addVariant(std::string_view variant, const Params &fields) {
  if (Params::ofVariant(variant))
    return false;
  variants().push_back({std::string(variant), fields});
  return true;
}

std::string Params::listVariants() {
  std::string names;
  for (const Entry &entry : variants())
    append(names, entry.variant);
  return names;
}

std::string_view Params::getFamily() const {
  return std::visit([](const auto &family) { return family.kFamily; }, any);
}

Fields Params::getFields() {
  Fields fields;
  std::visit([&](auto &family) { family.list(fields); }, any);
  return fields;
}

std::string Params::listFields() const {
  std::string names;
  Params copy = *this;
  for (const Field &field : copy.getFields())
    append(names, field.name);
  return names.empty() ? "none" : names;
}

std::string Params::print() const {
  Params copy = *this;
  Params defaults = std::visit(
      [](const auto &family) {
        return Params(std::decay_t<decltype(family)>());
      },
      any);
  std::string text;
  Fields fields = copy.getFields(), usual = defaults.getFields();
  for (size_t i = 0; i < fields.size(); ++i) {
    const Field &field = fields[i];
    if (field == usual[i])
      continue;
    text += (text.empty() ? "" : ", ") + std::string(field.name) + " = ";
    text += field.isList ? "[" : "";
    for (size_t j = 0; j < field.count; ++j)
      text += (j ? ", " : "") + std::to_string(field.values[j]);
    text += field.isList ? "]" : "";
  }
  return text;
}

std::string Params::check() const {
  Params copy = *this;
  for (const Field &field : copy.getFields()) {
    std::string expected = "expected '" + std::string(field.name) + "' ";
    if (field.isList && std::all_of(field.values, field.values + field.count,
                                    [](int64_t value) { return value == 0; }))
      return expected + "with " + std::to_string(field.count) +
             " extents, found none";
    for (size_t i = 0; i < field.count; ++i) {
      int64_t value = field.values[i];
      if (value >= field.least && value <= field.most)
        continue;
      return expected + "of " +
             (field.most == kAny ? "at least " + std::to_string(field.least)
                                 : std::to_string(field.least) + " to " +
                                       std::to_string(field.most)) +
             ", found " + std::to_string(value);
    }
  }
  return std::visit([](const auto &family) { return family.check(); }, any);
}

bool Params::operator==(const Params &other) const {
  if (!isSameFamily(other))
    return false;
  Params lhs = *this, rhs = other;
  Fields mine = lhs.getFields(), theirs = rhs.getFields();
  return std::equal(mine.begin(), mine.end(), theirs.begin(), theirs.end());
}

} // namespace mlir::tracea::schedule
