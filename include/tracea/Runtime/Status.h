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
/// What kind of thing went wrong, for callers that act on it; people read the
/// message.
enum class ErrorKind : unsigned char {
  /// What no other kind says: a driver's failure, for the most part.
  Other,
  /// An argument is not what it has to be.
  InvalidArgument,
  /// Valid, but not to be had here.
  Unsupported,
  OutOfMemory,
  /// A file could not be read or written, or is not what it should be.
  IO,
  /// The compiler is not there.
  NoCompiler
};

class [[nodiscard]] Status {
public:
  Status() = default;
  static Status success() { return Status(); }
  static Status error(std::string message, ErrorKind kind = ErrorKind::Other) {
    Status status;
    status.failure =
        std::make_unique<Failure>(Failure{std::move(message), kind});
    return status;
  }
  static Status invalid(std::string message) {
    return error(std::move(message), ErrorKind::InvalidArgument);
  }
  static Status unsupported(std::string message) {
    return error(std::move(message), ErrorKind::Unsupported);
  }
  static Status outOfMemory(std::string message) {
    return error(std::move(message), ErrorKind::OutOfMemory);
  }

  Status(const Status &other)
      : failure(other.failure ? std::make_unique<Failure>(*other.failure)
                              : nullptr) {}
  Status(Status &&) noexcept = default;
  Status &operator=(const Status &other) {
    if (this != &other)
      failure =
          other.failure ? std::make_unique<Failure>(*other.failure) : nullptr;
    return *this;
  }
  Status &operator=(Status &&) noexcept = default;

  bool ok() const { return !failure; }
  /// The failure's message; empty on success.
  std::string message() const {
    return failure ? failure->message : std::string();
  }
  /// Of a failure.
  ErrorKind kind() const { return failure ? failure->kind : ErrorKind::Other; }
  /// The same failure with `context` and ": " before its message.
  Status withContext(const std::string &context) const {
    return ok() ? Status() : error(context + ": " + failure->message, kind());
  }
  /// The same failure as one of `kind`, where nothing more is known of it.
  Status asKind(ErrorKind other) const {
    return ok() || kind() != ErrorKind::Other ? *this
                                              : error(failure->message, other);
  }

private:
  struct Failure {
    std::string message;
    ErrorKind kind;
  };
  std::unique_ptr<Failure> failure;
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
