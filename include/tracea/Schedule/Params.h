//===- Params.h - The fields of any family of variants ----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A schedule has a head that all share (variant, unit, tile) and the fields of
// its variant's family. One table says which variant is of which family.
//
//===----------------------------------------------------------------------===//
#ifndef TRACEA_SCHEDULE_PARAMS_H
#define TRACEA_SCHEDULE_PARAMS_H

#include "tracea/Schedule/CPU.h"
#include "tracea/Schedule/Lanes.h"
#include "tracea/Schedule/Rows.h"
#include "tracea/Schedule/Warpgroups.h"

#include <cassert>
#include <cstdlib>
#include <optional>
#include <type_traits>
#include <variant>

namespace mlir::tracea::schedule {

/// The structure of one family, whichever it is.
class Params {
public:
  using Any =
      std::variant<Untiled, CPURows, CPUGemm, CPUConv, CPUAttention, WarpGemm,
                   SimtGemm, LaneConv, WarpAttention, WarpAttentionGrad,
                   SimtAttention, LaneRows, WarpgroupGemm, WarpgroupGrouped>;

  Params() = default;
  template <typename Family,
            typename = std::enable_if_t<std::is_constructible_v<Any, Family>>>
  Params(const Family &family) : any(family) {}

  /// Those of a variant, all with their defaults; none where the table does not
  /// have it.
  static std::optional<Params> ofVariant(std::string_view variant);
  /// All variants of the table, in quotes.
  static std::string listVariants();

  /// The family's name, "warpgroup_gemm".
  std::string_view getFamily() const;
  bool isSameFamily(const Params &other) const {
    return any.index() == other.any.index();
  }
  /// The fields, which point into this object.
  Fields getFields();
  /// Names of the fields, in quotes; "none".
  std::string listFields() const;
  /// Fields that have not their default, as schedules print them:
  /// "slots = 4, group = 16".
  std::string print() const;
  /// What is wrong with the fields by themselves; "" where all is well.
  std::string check() const;

  /// The structure, where the family is `T` or is derived from it.
  template <typename T>
  T *getIf() {
    return std::visit(
        [](auto &family) -> T * {
          if constexpr (std::is_base_of_v<T, std::decay_t<decltype(family)>>)
            return &family;
          else
            return nullptr;
        },
        any);
  }
  template <typename T>
  const T *getIf() const {
    return const_cast<Params *>(this)->getIf<T>();
  }
  /// The same where the caller knows the family.
  template <typename T>
  T &as() {
    T *found = getIf<T>();
    assert(found && "the variant is of another family");
    if (!found)
      std::abort();
    return *found;
  }
  template <typename T>
  const T &as() const {
    return const_cast<Params *>(this)->as<T>();
  }

  bool operator==(const Params &other) const;
  bool operator!=(const Params &other) const { return !(*this == other); }

private:
  Any any;
};

} // namespace mlir::tracea::schedule

#endif // TRACEA_SCHEDULE_PARAMS_H
