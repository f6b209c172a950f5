//===- Span.h - A borrowed run of elements ----------------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C++17 has no std::span; this is the small part of it that the runtime needs.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_RUNTIME_SPAN_H
#define TRACEA_RUNTIME_SPAN_H

#include <cassert>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

namespace tracea::runtime {

/// A pointer and a length; owns nothing. Valid as long as the memory it was
/// made from.
template <typename T>
class Span {
public:
  using Value = std::remove_const_t<T>;

  Span() = default;
  Span(T *data, size_t size) : first(data), count(size) {}
  template <size_t N>
  Span(T (&array)[N]) : first(array), count(N) {}
  /// From a vector; of a const vector only where T is const.
  template <
      typename V,
      typename = std::enable_if_t<
          std::is_same_v<std::decay_t<V>, std::vector<Value>> &&
          std::is_convertible_v<decltype(std::declval<V &>().data()), T *>>>
  Span(V &&vector) : first(vector.data()), count(vector.size()) {}
#if defined(__GNUC__) && !defined(__clang__)
// A span is meant to borrow; GCC warns of every class that keeps a list.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
  /// From a braced list, for the duration of one call.
  template <typename U = T, typename = std::enable_if_t<std::is_const_v<U>>>
  Span(const std::initializer_list<Value> &list)
      : first(list.begin()), count(list.size()) {}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
  /// From a span of the same elements that may also write them.
  template <typename U, typename = std::enable_if_t<!std::is_const_v<U> &&
                                                    std::is_same_v<const U, T>>>
  Span(Span<U> other) : first(other.data()), count(other.size()) {}

  T *data() const { return first; }
  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  T *begin() const { return first; }
  T *end() const { return first + count; }
  T &operator[](size_t i) const {
    assert(i < count);
    return first[i];
  }
  Span subspan(size_t offset, size_t size) const {
    assert(offset <= count && size <= count - offset);
    return Span(first + offset, size);
  }

private:
  T *first = nullptr;
  size_t count = 0;
};

using Bytes = Span<const unsigned char>;

} // namespace tracea::runtime

#endif // TRACEA_RUNTIME_SPAN_H
