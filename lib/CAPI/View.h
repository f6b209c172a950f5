//===- View.h - The caller's tensors, checked -------------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_CAPI_VIEW_H
#define TRACEA_LIB_CAPI_VIEW_H

#include "Error.h"
#include "tracea/Runtime/ElementType.h"
#include "tracea/Runtime/Executable.h"

#include <array>

namespace tracea::capi {

using runtime::ElementType;
using runtime::Span;

constexpr unsigned maxRank = TRACEA_MAX_RANK;

/// No value where the number stands for no type.
std::optional<ElementType> toElementType(TraceaDType type);
TraceaDType toDType(ElementType type);

/// A view whose fields have been looked at. Strides are there always.
struct View {
  void *data = nullptr;
  ElementType type = ElementType::F32;
  int32_t device = TRACEA_CPU;
  uint32_t rank = 0;
  std::array<int64_t, maxRank> sizes{};
  std::array<int64_t, maxRank> strides{};

  Span<const int64_t> shape() const { return {sizes.data(), rank}; }
  int64_t count() const;
  /// "bf16[2, 3]"
  std::string describe() const;
};

/// Which of a view's fields are to be there.
enum class Memory { Read, Written, NotNeeded };

/// Copies and checks; failures name the argument.
Status checkView(const char *name, const TraceaTensorView &tensor,
                 Memory memory, View &view);

/// Bytes that two views share.
bool overlap(const View &a, const View &b);

/// A view as a tensor in memory without gaps or repetitions, as far as it is
/// one: memory dimension i is the view's dimension order[i], outermost first,
/// and has parent[i] places, of which the view takes the first ones.
struct MemoryForm {
  std::array<uint8_t, maxRank> order{};
  std::array<int64_t, maxRank> parent{};
  /// Places and elements are the same.
  bool isDense = true;
  /// No such tensor exists: elements are repeated, or strides divide nothing.
  bool isIrregular = false;
};

MemoryForm findForm(const View &view);

/// The same in an order that is given: memory dimension i is the view's
/// dimension order[i].
MemoryForm formIn(const View &view, const std::array<uint8_t, maxRank> &order);

} // namespace tracea::capi

#endif // TRACEA_LIB_CAPI_VIEW_H
