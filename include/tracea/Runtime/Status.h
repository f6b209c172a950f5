//===- Status.h - Results that carry a message ------------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime reports every failure as a value: a Status, or an Expected that
// holds either a result or the Status that explains its absence. No public
// function of the runtime lets an exception escape.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_RUNTIME_STATUS_H
#define TRACEA_RUNTIME_STATUS_H

#include <cassert>
#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace tracea::runtime {

/// Success, or a failure with a message for a person: what was expected, what
/// was found, and where. Cheap to return on success.
class [[nodiscard]] Status {
public:
  Status() = default;
  static Status success() { return Status(); }
  static Status error(std::string message) {
    Status status;
    status.text = std::make_unique<std::string>(std::move(message));
    return status;
  }

  Status(const Status &other)
      : text(other.text ? std::make_unique<std::string>(*other.text)
                        : nullptr) {}
  Status(Status &&) noexcept = default;
  Status &operator=(const Status &other) {
    if (this != &other)
      text = other.text ? std::make_unique<std::string>(*other.text) : nullptr;
    return *this;
  }
  Status &operator=(Status &&) noexcept = default;

  bool ok() const { return !text; }
  /// The failure's message; empty on success.
  std::string message() const { return text ? *text : std::string(); }
  /// The same failure with `context` and ": " before its message.
  Status withContext(const std::string &context) const {
    return ok() ? Status() : error(context + ": " + *text);
  }

private:
  std::unique_ptr<std::string> text;
};

/// A T, or the failure that explains why there is none.
template <typename T>
class [[nodiscard]] Expected {
public:
  Expected(T value) : state(std::in_place_index<0>, std::move(value)) {}
  Expected(Status failure) : state(std::in_place_index<1>, std::move(failure)) {
    assert(!std::get<1>(state).ok() && "an Expected without value must fail");
  }
  /// From an Expected of a convertible type, e.g. a pointer to a subclass.
  template <typename U,
            typename = std::enable_if_t<std::is_convertible_v<U, T> &&
                                        !std::is_same_v<std::decay_t<U>, T>>>
  Expected(Expected<U> other)
      : state(other.ok() ? State(std::in_place_index<0>, std::move(*other))
                         : State(std::in_place_index<1>, other.status())) {}

  bool ok() const { return state.index() == 0; }
  explicit operator bool() const { return ok(); }
  T &operator*() { return std::get<0>(state); }
  const T &operator*() const { return std::get<0>(state); }
  T *operator->() { return &std::get<0>(state); }
  const T *operator->() const { return &std::get<0>(state); }
  /// The failure, or success when there is a value.
  Status status() const { return ok() ? Status() : std::get<1>(state); }
  /// The failure's message; empty when there is a value.
  std::string message() const { return status().message(); }

private:
  using State = std::variant<T, Status>;
  State state;
};

} // namespace tracea::runtime

/// Returns from the enclosing function when `expression` is a failed Status.
#define TRACEA_RETURN_IF_ERROR(expression)                                     \
  do {                                                                         \
    ::tracea::runtime::Status traceaStatus = (expression);                     \
    if (!traceaStatus.ok())                                                    \
      return traceaStatus;                                                     \
  } while (false)

#endif // TRACEA_RUNTIME_STATUS_H
