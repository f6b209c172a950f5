//===- View.cpp - The caller's tensors, checked ---------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "View.h"

#include <algorithm>
#include <limits>

namespace tracea::capi {

std::optional<ElementType> toElementType(TraceaDType type) {
  switch (type) {
  case TRACEA_FLOAT32:
    return ElementType::F32;
  case TRACEA_FLOAT16:
    return ElementType::F16;
  case TRACEA_BFLOAT16:
    return ElementType::BF16;
  case TRACEA_FLOAT64:
    return ElementType::F64;
  case TRACEA_INT8:
    return ElementType::I8;
  case TRACEA_INT16:
    return ElementType::I16;
  case TRACEA_INT32:
    return ElementType::I32;
  case TRACEA_INT64:
    return ElementType::I64;
  case TRACEA_BOOL:
    return ElementType::I1;
  case TRACEA_FLOAT8_E4M3FN:
    return ElementType::F8E4M3FN;
  case TRACEA_FLOAT8_E5M2:
    return ElementType::F8E5M2;
  }
  return std::nullopt;
}

TraceaDType toDType(ElementType type) {
  switch (type) {
  case ElementType::F32:
    return TRACEA_FLOAT32;
  case ElementType::F16:
    return TRACEA_FLOAT16;
  case ElementType::BF16:
    return TRACEA_BFLOAT16;
  case ElementType::F64:
    return TRACEA_FLOAT64;
  case ElementType::I8:
    return TRACEA_INT8;
  case ElementType::I16:
    return TRACEA_INT16;
  case ElementType::I32:
    return TRACEA_INT32;
  case ElementType::I64:
  case ElementType::Index:
    return TRACEA_INT64;
  case ElementType::I1:
    return TRACEA_BOOL;
  case ElementType::F8E4M3FN:
    return TRACEA_FLOAT8_E4M3FN;
  case ElementType::F8E5M2:
    return TRACEA_FLOAT8_E5M2;
  }
  return TRACEA_FLOAT32;
}

int64_t View::count() const {
  int64_t elements = 1;
  for (int64_t size : shape())
    elements *= size;
  return elements;
}

std::string View::describe() const {
  return runtime::nameOf(type) + runtime::describeShape(shape());
}

static Status invalid(const char *name, const std::string &what) {
  return Status::invalid(std::string(name) + ": expected " + what);
}

/// Bytes between the first element and the end of the last one; negative where
/// they cannot be counted.
static int64_t extentOf(const View &view) {
  int64_t last = 0, size = runtime::sizeOf(view.type);
  for (unsigned i = 0; i < view.rank; ++i) {
    if (view.sizes[i] == 0)
      return 0;
    int64_t reach = 0;
    if (__builtin_mul_overflow(view.sizes[i] - 1, view.strides[i], &reach) ||
        __builtin_add_overflow(last, reach, &last))
      return -1;
  }
  return __builtin_mul_overflow(last + 1, size, &last) ? -1 : last;
}

Status checkView(const char *name, const TraceaTensorView &tensor,
                 Memory memory, View &view) {
  std::optional<ElementType> type = toElementType(tensor.dtype);
  if (!type)
    return invalid(name, "a dtype from 0 to 10, found " +
                             std::to_string(static_cast<int>(tensor.dtype)));
  view.type = *type;
  if (tensor.rank > maxRank)
    return invalid(name, "at most " + std::to_string(maxRank) +
                             " dimensions, found " +
                             std::to_string(tensor.rank));
  if (tensor.rank > 0 && !tensor.shape)
    return invalid(name, "a shape of " + std::to_string(tensor.rank) +
                             " sizes, found NULL");
  if (tensor.device_id < TRACEA_CPU)
    return invalid(name, "a device_id of at least -1, found " +
                             std::to_string(tensor.device_id));
  view.rank = tensor.rank;
  view.device = tensor.device_id;
  view.data = tensor.ptr;
  // What a tensor of no elements would have without the size of zero counts
  // too: extents are multiplied without further looks.
  int64_t count = 1;
  bool isEmpty = false;
  for (unsigned i = view.rank; i-- > 0;) {
    if (tensor.shape[i] >
        static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return invalid(name, "sizes below 2^63, found size " +
                               std::to_string(tensor.shape[i]) +
                               " of dimension " + std::to_string(i));
    view.sizes[i] = static_cast<int64_t>(tensor.shape[i]);
    view.strides[i] = tensor.stride ? tensor.stride[i] : count;
    if (view.strides[i] < 0)
      return invalid(name, "strides of at least 0, found " +
                               std::to_string(view.strides[i]) +
                               " of dimension " + std::to_string(i));
    isEmpty |= view.sizes[i] == 0;
    if (view.sizes[i] > 0 &&
        __builtin_mul_overflow(count, view.sizes[i], &count))
      return invalid(name, "elements that can be counted, found shape " +
                               runtime::describeShape(view.shape()));
  }
  int64_t bytes = extentOf(view);
  if (bytes < 0)
    return invalid(name, "strides that stay within 2^63 bytes, found shape " +
                             runtime::describeShape(view.shape()));
  if (memory == Memory::NotNeeded || isEmpty)
    return Status::success();
  if (!view.data)
    return invalid(name,
                   "memory of " + std::to_string(bytes) + " bytes, found NULL");
  int64_t size = runtime::sizeOf(view.type);
  if (reinterpret_cast<uintptr_t>(view.data) % static_cast<uintptr_t>(size))
    return invalid(name, "memory aligned to the " + std::to_string(size) +
                             " bytes of " + runtime::nameOf(view.type) +
                             ", found an address that is not");
  if (memory == Memory::Read)
    return Status::success();
  MemoryForm form = findForm(view);
  if (form.isIrregular)
    return invalid(
        name, "elements with places of their own, found strides " +
                  runtime::describeShape({view.strides.data(), view.rank}) +
                  " for shape " + runtime::describeShape(view.shape()));
  return Status::success();
}

bool overlap(const View &a, const View &b) {
  int64_t bytesA = extentOf(a), bytesB = extentOf(b);
  if (a.device != b.device || bytesA == 0 || bytesB == 0)
    return false;
  uintptr_t startA = reinterpret_cast<uintptr_t>(a.data);
  uintptr_t startB = reinterpret_cast<uintptr_t>(b.data);
  return startA < startB + static_cast<uintptr_t>(bytesB) &&
         startB < startA + static_cast<uintptr_t>(bytesA);
}

MemoryForm findForm(const View &view) {
  std::array<uint8_t, maxRank> order{};
  for (unsigned i = 0; i < view.rank; ++i)
    order[i] = static_cast<uint8_t>(i);
  // A dimension of one element lies anywhere: it stays behind the one that it
  // follows.
  std::array<int64_t, maxRank> keys{};
  int64_t before = std::numeric_limits<int64_t>::max();
  for (unsigned i = 0; i < view.rank; ++i)
    keys[i] = before = view.sizes[i] == 1 ? before : view.strides[i];
  // Few elements, and those of one key stay in their order.
  for (unsigned i = 1; i < view.rank; ++i)
    for (unsigned j = i; j > 0 && keys[order[j - 1]] < keys[order[j]]; --j)
      std::swap(order[j - 1], order[j]);
  return formIn(view, order);
}

MemoryForm formIn(const View &view, const std::array<uint8_t, maxRank> &order) {
  MemoryForm form;
  form.order = order;
  for (unsigned i = 0; i < view.rank; ++i)
    form.parent[i] = view.sizes[order[i]];
  if (view.count() == 0)
    return form;
  // From the innermost outwards, each stride is the places of what lies inside.
  int64_t inside = 1;
  int last = -1;
  for (unsigned i = view.rank; i-- > 0;) {
    int64_t size = view.sizes[order[i]], stride = view.strides[order[i]];
    if (size == 1)
      continue;
    if (stride != inside) {
      // Places beyond the elements belong to the dimension inside of this one.
      // The innermost one cannot have any.
      if (last < 0 || stride < inside) {
        form.isIrregular = true;
        return form;
      }
      int64_t &places = form.parent[static_cast<size_t>(last)];
      int64_t step = inside / places;
      if (stride % step != 0) {
        form.isIrregular = true;
        return form;
      }
      places = stride / step;
      form.isDense = false;
    }
    inside = stride * size;
    last = static_cast<int>(i);
  }
  return form;
}

} // namespace tracea::capi
