//===- Tensor.h - Python's tensors as views ---------------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_PYTHON_TENSOR_H
#define TRACEA_PYTHON_TENSOR_H

#include "DLPackExchange.h"
#include "tracea.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <array>
#include <string>
#include <vector>

namespace tracea::python {

namespace nb = nanobind;

using Sizes = std::vector<int64_t>;

/// Throws tracea.Error with the library's message.
[[noreturn]] void throwLastError(TraceaStatus status);
[[noreturn]] void throwError(TraceaStatus status, const std::string &message);

inline void check(TraceaStatus status) {
  if (status != TRACEA_SUCCESS)
    throwLastError(status);
}

/// The text of one of the library's functions that fill a buffer.
template <typename Function>
std::string readText(Function &&function) {
  std::string text(1024, '\0');
  size_t length = 0;
  check(function(text.data(), text.size(), &length));
  if (length >= text.size()) {
    text.resize(length + 1);
    check(function(text.data(), text.size(), &length));
  }
  text.resize(length);
  return text;
}

/// "float32", …
const char *dtypeName(TraceaDType dtype);
/// Of a name, or of what has one: numpy.float32, torch.float32.
TraceaDType parseDType(nb::handle dtype);

/// A tensor of Python's and its memory, borrowed: it lives as long as the
/// object does, which is as long as this does.
class Tensor {
public:
  Tensor() = default;
  Tensor(const Tensor &) = delete;
  Tensor &operator=(const Tensor &) = delete;

  /// Reads the object; a TypeError names the argument.
  void read(const char *name, nb::handle object, bool isWritten = false);
  /// The same unless it is None.
  bool readOptional(const char *name, nb::handle object);

  bool isSet() const { return object.is_valid(); }
  /// For functions where NULL is "none".
  const TraceaTensorView *optional() const { return isSet() ? &view : nullptr; }
  uint32_t rank() const { return view.rank; }
  int64_t size(size_t dim) const { return static_cast<int64_t>(shape[dim]); }
  Sizes sizes() const { return {shape.data(), shape.data() + view.rank}; }
  /// Strides without gaps, the last dimension innermost.
  bool isRowMajor() const;
  /// An image whose channels lie side by side: [N, C, H, W] in the order of
  /// [N, H, W, C].
  bool isChannelsLast() const;
  /// Views the leading dimensions as one; false where their strides forbid it.
  bool flattenRows();
  /// A vector as a matrix of one row.
  void addRow();
  /// Another shape over the same row-major memory.
  void setShape(const Sizes &sizes);

  /// A tensor of this one's library, on its device.
  nb::object makeEmpty(const Sizes &sizes, TraceaDType dtype) const;
  /// What the caller gets of a result that makeEmpty made.
  nb::object finish(nb::object result) const;
  /// The stream that work on this tensor goes to.
  void *currentStream() const;
  /// Whether a gradient is asked for. Tensors of other libraries than torch
  /// have none.
  bool requiresGrad() const;

  TraceaTensorView view{};
  nb::object object;

private:
  void setType(const char *name, uint8_t code, uint8_t bits, uint16_t lanes);
  void setDevice(const char *name, int32_t type, int32_t id);

  const DLExchangeTable *table = nullptr;
  /// Keeps what a __dlpack__ gave.
  nb::object kept;
  std::array<uint64_t, TRACEA_MAX_RANK> shape{};
  std::array<int64_t, TRACEA_MAX_RANK> strides{};
};

} // namespace tracea::python

#endif // TRACEA_PYTHON_TENSOR_H
