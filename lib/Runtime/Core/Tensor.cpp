//===- Tensor.cpp - Strided host tensors ----------------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All arithmetic on sizes is checked once, where a tensor is made; what comes
// after may multiply freely.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/Tensor.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace tracea::runtime {

std::optional<int64_t> countElements(Span<const int64_t> shape) {
  int64_t product = 1;
  bool hasZero = false;
  for (int64_t size : shape) {
    if (size < 0)
      return std::nullopt;
    if (size == 0)
      hasZero = true;
    else if (__builtin_mul_overflow(product, size, &product))
      return std::nullopt;
  }
  return hasZero ? 0 : product;
}

std::vector<int64_t> rowMajorStrides(Span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= std::max<int64_t>(shape[i], 1);
  }
  return strides;
}

std::string describeShape(Span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i != 0)
      text += ", ";
    text += shape[i] < 0 ? "?" : std::to_string(shape[i]);
  }
  return text + "]";
}

/// Bytes of a huge page. One entry of the tables that translate addresses
/// serves as much of them as 512 of ordinary ones do.
static constexpr int64_t kHugePageBytes = int64_t(1) << 21;

/// What fills half of a huge page begins at one, and asks for it below.
static bool wantsHugePages([[maybe_unused]] int64_t bytes) {
#ifdef MADV_HUGEPAGE
  return bytes >= kHugePageBytes / 2;
#else
  return false;
#endif
}

/// The system may refuse: the memory is as good without, only slower.
static void adviseHugePages([[maybe_unused]] void *memory,
                            [[maybe_unused]] int64_t bytes) {
#ifdef MADV_HUGEPAGE
  madvise(memory, static_cast<size_t>(bytes), MADV_HUGEPAGE);
#endif
}

Expected<std::shared_ptr<void>> allocateAligned(int64_t bytes,
                                                int64_t alignment) {
  alignment = std::max<int64_t>(alignment, 64);
  bool isHuge = wantsHugePages(bytes);
  if (isHuge)
    alignment = std::max(alignment, kHugePageBytes);
  int64_t rounded = 0;
  if (bytes < 0 || (alignment & (alignment - 1)) != 0 ||
      __builtin_add_overflow(std::max<int64_t>(bytes, 1), alignment - 1,
                             &rounded))
    return Status::error("cannot allocate " + std::to_string(bytes) +
                         " bytes aligned to " + std::to_string(alignment));
  rounded &= ~(alignment - 1);
  // No process has more addresses than this; asking would only end some
  // checking allocators.
  constexpr int64_t addressSpace = int64_t(1) << 47;
  if (rounded > addressSpace)
    return Status::outOfMemory("out of memory: cannot allocate " +
                               std::to_string(bytes) + " bytes");
  void *memory = nullptr;
  if (posix_memalign(&memory, static_cast<size_t>(alignment),
                     static_cast<size_t>(rounded)) != 0)
    return Status::outOfMemory("out of memory: cannot allocate " +
                               std::to_string(bytes) + " bytes");
  if (isHuge)
    adviseHugePages(memory, rounded);
  try {
    return std::shared_ptr<void>(memory, [](void *p) { std::free(p); });
  } catch (...) { // The control block did not fit; the deleter has run.
    return Status::outOfMemory("out of memory");
  }
}

static Status checkShape(ElementType type, Span<const int64_t> shape,
                         int64_t &count) {
  std::optional<int64_t> elements = countElements(shape);
  int64_t bytes = 0;
  if (!elements || __builtin_mul_overflow(*elements, sizeOf(type), &bytes))
    return Status::error("a tensor of shape " + describeShape(shape) + " of " +
                         nameOf(type) +
                         " has a negative size or does not fit into 64 bits");
  count = *elements;
  return Status::success();
}

Expected<Tensor> Tensor::allocate(ElementType type, Span<const int64_t> shape) {
  int64_t count = 0;
  TRACEA_RETURN_IF_ERROR(checkShape(type, shape, count));
  Expected<std::shared_ptr<void>> memory =
      allocateAligned(count * sizeOf(type));
  if (!memory)
    return memory.status().withContext("tensor of shape " +
                                       describeShape(shape));
  std::memset(memory->get(), 0, static_cast<size_t>(count * sizeOf(type)));
  void *data = memory->get();
  return adopt(std::move(*memory), data, type, shape);
}

Expected<Tensor> Tensor::adopt(std::shared_ptr<void> owner, void *data,
                               ElementType type, Span<const int64_t> shape,
                               Span<const int64_t> strides) {
  Expected<Tensor> tensor = borrow(data, type, shape, strides);
  if (tensor)
    tensor->owner = std::move(owner);
  return tensor;
}

Expected<Tensor> Tensor::borrow(const void *data, ElementType type,
                                Span<const int64_t> shape,
                                Span<const int64_t> strides) {
  Expected<Tensor> tensor =
      borrow(const_cast<void *>(data), type, shape, strides);
  if (tensor)
    tensor->readOnly = true;
  return tensor;
}

Expected<Tensor> Tensor::borrow(void *data, ElementType type,
                                Span<const int64_t> shape,
                                Span<const int64_t> strides) {
  Tensor tensor;
  TRACEA_RETURN_IF_ERROR(checkShape(type, shape, tensor.count));
  if (data == nullptr && tensor.count != 0)
    return Status::error("a tensor of shape " + describeShape(shape) +
                         " needs memory, found a null pointer");
  if (!strides.empty() && strides.size() != shape.size())
    return Status::error("expected " + std::to_string(shape.size()) +
                         " strides, one for each size, found " +
                         std::to_string(strides.size()));
  tensor.null = false;
  tensor.pointer = data;
  tensor.elementType = type;
  tensor.sizes.assign(shape.begin(), shape.end());
  if (strides.empty()) {
    tensor.steps = rowMajorStrides(shape);
    return tensor;
  }
  tensor.steps.assign(strides.begin(), strides.end());
  // The distance between the outermost elements must fit, in bytes.
  int64_t below = 0, above = 0;
  for (size_t i = 0; i < shape.size() && tensor.count != 0; ++i) {
    int64_t reach = 0;
    int64_t &side = strides[i] < 0 ? below : above;
    if (__builtin_mul_overflow(shape[i] - 1, strides[i], &reach) ||
        __builtin_mul_overflow(reach, sizeOf(type), &reach) ||
        __builtin_add_overflow(side, reach, &side))
      return Status::error("a tensor of shape " + describeShape(shape) +
                           " with these strides spans more than 64 bits");
  }
  return tensor;
}

bool Tensor::isContiguous() const {
  if (count == 0)
    return true;
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1 && steps[i] != step)
      return false;
    step *= sizes[i];
  }
  return true;
}

std::pair<const char *, const char *> Tensor::extent() const {
  const char *base = static_cast<const char *>(pointer);
  if (count == 0)
    return {base, base};
  const char *low = base, *high = base + sizeOf(elementType);
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t reach = (sizes[i] - 1) * steps[i] * sizeOf(elementType);
    (reach < 0 ? low : high) += reach;
  }
  return {low, high};
}

Expected<Tensor> Tensor::clone() const {
  if (null)
    return Status::error("a null tensor cannot be copied");
  Expected<Tensor> copy = allocate(elementType, sizes);
  if (copy)
    TRACEA_RETURN_IF_ERROR(copyElements(*this, *copy));
  return copy;
}

std::string Tensor::describe() const {
  if (null)
    return "null tensor";
  return nameOf(elementType) + describeShape(sizes);
}

template <typename T>
static void copyRow(const char *from, int64_t fromStride, char *to,
                    int64_t toStride, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(to + i * toStride, from + i * fromStride, sizeof(T));
}

void copyStrided(const char *from, Span<const int64_t> fromStrides, char *to,
                 Span<const int64_t> toStrides, Span<const int64_t> sizes,
                 int64_t elementSize) {
  for (int64_t size : sizes)
    if (size == 0)
      return;
  size_t rank = sizes.size();
  if (rank == 0) {
    std::memcpy(to, from, static_cast<size_t>(elementSize));
    return;
  }
  int64_t n = sizes[rank - 1];
  int64_t fromStep = fromStrides[rank - 1] * elementSize;
  int64_t toStep = toStrides[rank - 1] * elementSize;
  std::vector<int64_t> position(rank, 0);
  while (true) {
    if (fromStep == elementSize && toStep == elementSize)
      std::memcpy(to, from, static_cast<size_t>(n * elementSize));
    else if (elementSize == 1)
      copyRow<uint8_t>(from, fromStep, to, toStep, n);
    else if (elementSize == 2)
      copyRow<uint16_t>(from, fromStep, to, toStep, n);
    else if (elementSize == 4)
      copyRow<uint32_t>(from, fromStep, to, toStep, n);
    else
      copyRow<uint64_t>(from, fromStep, to, toStep, n);
    // Advance the odometer of the outer axes.
    size_t axis = rank - 1;
    while (true) {
      if (axis == 0)
        return;
      --axis;
      from += fromStrides[axis] * elementSize;
      to += toStrides[axis] * elementSize;
      if (++position[axis] < sizes[axis])
        break;
      from -= sizes[axis] * fromStrides[axis] * elementSize;
      to -= sizes[axis] * toStrides[axis] * elementSize;
      position[axis] = 0;
    }
  }
}

Status copyElements(const Tensor &from, const Tensor &to) {
  if (from.isNull() || to.isNull() || from.type() != to.type() ||
      from.shape() != to.shape())
    return Status::error("cannot copy " + from.describe() + " to " +
                         to.describe());
  if (to.isReadOnly())
    return Status::error("cannot copy to read-only memory");
  if (from.numElements() == 0)
    return Status::success();
  const char *source = static_cast<const char *>(from.data());
  char *destination = static_cast<char *>(to.data());
  if (from.isContiguous() && to.isContiguous())
    std::memcpy(destination, source, static_cast<size_t>(from.byteSize()));
  else
    copyStrided(source, from.strides(), destination, to.strides(), from.shape(),
                sizeOf(from.type()));
  return Status::success();
}

} // namespace tracea::runtime
