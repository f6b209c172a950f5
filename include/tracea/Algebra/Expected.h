//===- Expected.h - A value or the reason why there is none -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The algebra is plain C++ without LLVM and without exceptions, and its callers
// pass data that users wrote (schedules, tables). Anything that a user can get
// wrong comes back as an Expected; asserts are left to the library's own bugs.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_ALGEBRA_EXPECTED_H
#define TRACEA_ALGEBRA_EXPECTED_H

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace tracea::algebra {

/// Why an operation has no result: one line, "what: expected …, found …".
struct Error {
  std::string message;
};

/// A T, or an Error. Test it before dereferencing.
template <typename T>
class [[nodiscard]] Expected {
public:
  Expected(T value) : storage(std::in_place_index<0>, std::move(value)) {}
  Expected(Error error) : storage(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return storage.index() == 0; }

  const T &operator*() const & {
    assert(*this && "dereferenced an Expected that holds an error");
    return *std::get_if<0>(&storage);
  }
  T &operator*() & {
    assert(*this && "dereferenced an Expected that holds an error");
    return *std::get_if<0>(&storage);
  }
  T operator*() && {
    assert(*this && "dereferenced an Expected that holds an error");
    return std::move(*std::get_if<0>(&storage));
  }
  const T *operator->() const { return &**this; }
  T *operator->() { return &**this; }

  /// The message; empty when there is a value.
  std::string message() const {
    const Error *error = std::get_if<1>(&storage);
    return error ? error->message : std::string();
  }
  /// The error itself, to hand on. There must be one.
  const Error &error() const {
    assert(!*this && "asked for the error of an Expected that holds a value");
    return *std::get_if<1>(&storage);
  }

private:
  std::variant<T, Error> storage;
};

} // namespace tracea::algebra

#endif // TRACEA_ALGEBRA_EXPECTED_H
