//===- Tensor.h - Strided host tensors --------------------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor in host memory: a pointer, an element type, a shape and strides,
// and, where the tensor owns its memory, a share of it.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_RUNTIME_TENSOR_H
#define TRACEA_RUNTIME_TENSOR_H

#include "tracea/Runtime/ElementType.h"
#include "tracea/Runtime/Span.h"
#include "tracea/Runtime/Status.h"

#include <memory>
#include <string>
#include <vector>

namespace tracea::runtime {

/// A strided tensor in host memory. Copies share the memory. A borrowed tensor
/// owns nothing: whoever made it keeps the memory alive while it is in use.
/// A default-constructed tensor is *null*: it has no memory and no meaning
/// other than "please allocate" where it stands as an output.
class Tensor {
public:
  Tensor() = default;

  /// A new row-major tensor, zero-filled, 64-byte aligned. Fails on a negative
  /// size, on a byte count beyond int64, and when memory runs out.
  static Expected<Tensor> allocate(ElementType type, Span<const int64_t> shape);

  /// A view of the caller's memory. `strides` are in elements; empty means
  /// row-major. Fails when ranks differ, a size is negative, or the extent
  /// does not fit int64. `data` may be null where the tensor is empty.
  static Expected<Tensor> borrow(void *data, ElementType type,
                                 Span<const int64_t> shape,
                                 Span<const int64_t> strides = {});
  /// The same for memory that is only read: the tensor may then stand as an
  /// input, never as an output.
  static Expected<Tensor> borrow(const void *data, ElementType type,
                                 Span<const int64_t> shape,
                                 Span<const int64_t> strides = {});
  /// A row-major tensor over memory that `owner` keeps alive.
  static Expected<Tensor> adopt(std::shared_ptr<void> owner, void *data,
                                ElementType type, Span<const int64_t> shape,
                                Span<const int64_t> strides = {});

  bool isNull() const { return null; }
  ElementType type() const { return elementType; }
  int64_t rank() const { return static_cast<int64_t>(sizes.size()); }
  const std::vector<int64_t> &shape() const { return sizes; }
  const std::vector<int64_t> &strides() const { return steps; }
  void *data() const { return pointer; }
  template <typename T>
  T *dataAs() const {
    return static_cast<T *>(pointer);
  }
  int64_t numElements() const { return count; }
  /// Bytes of the elements, without the gaps between them.
  int64_t byteSize() const { return count * sizeOf(elementType); }
  bool isReadOnly() const { return readOnly; }
  bool ownsMemory() const { return owner != nullptr; }

  /// Row-major without gaps (the strides of axes of size 1 do not matter).
  bool isContiguous() const;
  /// The first byte that an element may occupy and the first one beyond;
  /// both the same where the tensor is empty.
  std::pair<const char *, const char *> extent() const;
  /// A row-major copy that owns its memory.
  Expected<Tensor> clone() const;
  /// "f32[2, 3]".
  std::string describe() const;

private:
  std::shared_ptr<void> owner;
  void *pointer = nullptr;
  ElementType elementType = ElementType::F32;
  bool null = true;
  bool readOnly = false;
  int64_t count = 0;
  std::vector<int64_t> sizes;
  std::vector<int64_t> steps;
};

/// What a function that only looks at a tensor's memory takes.
using TensorView = Tensor;

/// Copies all elements; types and shapes must agree. `to` may be strided.
Status copyElements(const Tensor &from, const Tensor &to);

/// Copies `sizes` elements of `elementSize` bytes between strided places
/// (strides in elements). Nothing is checked.
void copyStrided(const char *from, Span<const int64_t> fromStrides, char *to,
                 Span<const int64_t> toStrides, Span<const int64_t> sizes,
                 int64_t elementSize);

/// Row-major strides, in elements. The caller has checked that the product of
/// the sizes fits.
std::vector<int64_t> rowMajorStrides(Span<const int64_t> shape);

/// The product of the sizes; no value when a size is negative or the product
/// of the sizes other than zero does not fit int64.
std::optional<int64_t> countElements(Span<const int64_t> shape);

/// "[2, 3]"; negative sizes print as "?".
std::string describeShape(Span<const int64_t> shape);

/// Memory aligned to `alignment` (a power of two, at least 64 is used), never
/// null on success; freed with the last share. Contents arbitrary. What fills
/// half of a huge page begins at one, and asks for it where the system has
/// them.
Expected<std::shared_ptr<void>> allocateAligned(int64_t bytes,
                                                int64_t alignment = 64);

} // namespace tracea::runtime

#endif // TRACEA_RUNTIME_TENSOR_H
