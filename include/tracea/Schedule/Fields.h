//===- Fields.h - Fields of schedules, by name ------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A family of variants is a plain structure that lists its fields. From the
// list follow the text of a schedule, its parser, comparison and the check of
// ranges, so that a field is written down once.
//
//===----------------------------------------------------------------------===//
#ifndef TRACEA_SCHEDULE_FIELDS_H
#define TRACEA_SCHEDULE_FIELDS_H

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace mlir::tracea::schedule {

/// Rows and columns.
using Extents = std::array<int64_t, 2>;

/// No upper bound.
constexpr int64_t kAny = std::numeric_limits<int64_t>::max();

/// One field of a structure that lives elsewhere: a number, or a list in
/// brackets.
struct Field {
  std::string_view name;
  int64_t *values;
  size_t count;
  bool isList;
  int64_t least, most; // that each value may have

  bool operator==(const Field &other) const {
    return std::equal(values, values + count, other.values,
                      other.values + other.count);
  }
};

/// The fields of a structure, in the order in which they are printed.
class Fields {
public:
  void add(std::string_view name, int64_t &value, int64_t least, int64_t most) {
    list.push_back({name, &value, 1, /*isList=*/false, least, most});
  }
  void add(std::string_view name, Extents &values, int64_t least,
           int64_t most) {
    list.push_back(
        {name, values.data(), values.size(), /*isList=*/true, least, most});
  }

  std::vector<Field>::const_iterator begin() const { return list.begin(); }
  std::vector<Field>::const_iterator end() const { return list.end(); }
  const Field &operator[](size_t index) const { return list[index]; }
  size_t size() const { return list.size(); }
  const Field *find(std::string_view name) const;

private:
  std::vector<Field> list;
};

} // namespace mlir::tracea::schedule

#endif // TRACEA_SCHEDULE_FIELDS_H
