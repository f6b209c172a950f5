//===- Reference.h - Tensors and their meaning in float64 -------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_UNITTESTS_CAPI_REFERENCE_H
#define TRACEA_UNITTESTS_CAPI_REFERENCE_H

#include "tracea.hpp"
#include "gtest/gtest.h"

#include <cmath>
#include <functional>
#include <random>

namespace tracea::test {

/// An f32 tensor in any memory order, with gaps: what is outside of its
/// elements keeps a mark.
struct Strided {
  std::vector<uint64_t> shape;
  std::vector<int64_t> stride;
  std::vector<float> memory;

  static constexpr float mark = -12345.0f;

  /// `order` is the dimensions from the outermost to the innermost in memory;
  /// each row of the innermost one has `gap` places behind it.
  static Strided make(std::vector<uint64_t> shape,
                      std::vector<size_t> order = {}, uint64_t gap = 0) {
    Strided tensor;
    tensor.shape = std::move(shape);
    size_t rank = tensor.shape.size();
    if (order.empty())
      for (size_t i = 0; i < rank; ++i)
        order.push_back(i);
    tensor.stride.resize(rank);
    uint64_t places = 1;
    for (size_t i = rank; i-- > 0;) {
      tensor.stride[order[i]] = static_cast<int64_t>(places);
      places *= tensor.shape[order[i]] + (i + 1 == rank ? gap : 0);
    }
    tensor.memory.assign(places, mark);
    return tensor;
  }

  uint64_t count() const {
    uint64_t elements = 1;
    for (uint64_t size : shape)
      elements *= size;
    return elements;
  }
  size_t place(const std::vector<uint64_t> &index) const {
    int64_t at = 0;
    for (size_t i = 0; i < index.size(); ++i)
      at += static_cast<int64_t>(index[i]) * stride[i];
    return static_cast<size_t>(at);
  }
  float &at(const std::vector<uint64_t> &index) { return memory[place(index)]; }
  double get(const std::vector<uint64_t> &index) const {
    return static_cast<double>(memory[place(index)]);
  }
  TensorView view() { return TensorView(memory.data(), shape, stride); }

  /// Calls with each index.
  void
  each(const std::function<void(const std::vector<uint64_t> &)> &call) const {
    std::vector<uint64_t> index(shape.size(), 0);
    for (uint64_t i = 0; i < count(); ++i) {
      uint64_t rest = i;
      for (size_t d = shape.size(); d-- > 0;) {
        index[d] = rest % shape[d];
        rest /= shape[d];
      }
      call(index);
    }
  }
  Strided &fill(std::mt19937 &random) {
    std::uniform_real_distribution<float> range(-1, 1);
    each(
        [&](const std::vector<uint64_t> &index) { at(index) = range(random); });
    return *this;
  }
};

/// Compares all elements with what `expected` says, and that nothing else of
/// the memory was written.
inline void expectClose(
    Strided &found,
    const std::function<double(const std::vector<uint64_t> &)> &expected,
    double tolerance) {
  std::vector<bool> isElement(found.memory.size(), false);
  double worst = 0;
  found.each([&](const std::vector<uint64_t> &index) {
    isElement[found.place(index)] = true;
    double error = std::abs(found.get(index) - expected(index));
    worst = std::isnan(error) ? INFINITY : std::max(worst, error);
  });
  EXPECT_LE(worst, tolerance);
  for (size_t i = 0; i < found.memory.size(); ++i)
    if (!isElement[i])
      ASSERT_EQ(found.memory[i], Strided::mark) << "place " << i;
}

inline double apply(Epilogue epilogue, double x) {
  switch (epilogue) {
  case Epilogue::None:
    return x;
  case Epilogue::ReLU:
    return std::max(x, 0.0);
  case Epilogue::ReLU6:
    return std::min(std::max(x, 0.0), 6.0);
  case Epilogue::SiLU:
    return x / (1 + std::exp(-x));
  case Epilogue::GELU:
    return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
  case Epilogue::GELUTanh:
    return x / 2 *
           (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  case Epilogue::Sigmoid:
    return 1 / (1 + std::exp(-x));
  case Epilogue::Tanh:
    return std::tanh(x);
  }
  return x;
}

/// Runs the call, which has to fail, and gives the message.
template <typename Call>
std::string messageOf(TraceaStatus status, Call &&call) {
  try {
    call();
  } catch (const Error &error) {
    EXPECT_EQ(error.status(), status) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "expected a failure";
  return "";
}

} // namespace tracea::test

#endif // TRACEA_UNITTESTS_CAPI_REFERENCE_H
