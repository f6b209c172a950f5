//===- Problem.h - Inputs, outputs and the float64 reference of a case ---===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory that all contenders of a case work on, and the judge of what they
// wrote there.

#ifndef TRACEA_BENCHMARKS_CPU_PROBLEM_H
#define TRACEA_BENCHMARKS_CPU_PROBLEM_H

#include "Cases.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace tracea::bench {

/// Elements with a guard of known bytes on both sides.
class Array {
public:
  Array() = default;
  Array(runtime::ElementType type, std::vector<int64_t> shape);

  runtime::ElementType type() const { return elementType; }
  const std::vector<int64_t> &shape() const { return sizes; }
  int64_t count() const;
  int64_t bytes() const { return count() * runtime::sizeOf(elementType); }
  void *data() const;
  template <typename T>
  T *as() const {
    return static_cast<T *>(data());
  }
  double at(int64_t index) const {
    return runtime::readAsDouble(
        elementType, as<char>() + index * runtime::sizeOf(elementType));
  }
  bool guardsIntact() const;

private:
  runtime::ElementType elementType = runtime::ElementType::F32;
  std::vector<int64_t> sizes;
  std::shared_ptr<unsigned char> memory;
};

/// What a call reads and writes anew each time.
struct BufferSet {
  /// A and B of a product; the image of a convolution, and its residual.
  std::vector<Array> inputs;
  Array output;
  /// What separate kernels write on the way; empty where there are none.
  std::vector<Array> between;
};

/// What a contender wrote, against float64.
struct Check {
  bool ok = false;
  /// The largest difference over the largest value, among the samples.
  double error = 0;
  /// Why it is not ok.
  std::string message;
};

class Problem {
public:
  /// As many buffer sets as exceed `rotateBytes` together. The contents depend
  /// on the case alone.
  Problem(const Case &entry, int64_t rotateBytes);

  const Case &what() const { return entry; }
  int numSets() const { return static_cast<int>(sets.size()); }
  const BufferSet &set(int index) const { return sets[index]; }

  /// Of a convolution: filter; scale, shift, mean and variance by channel where
  /// a batch norm follows.
  Array filter, scale, shift, mean, variance;

  /// Fills an output with NaN (integers: an unlikely number).
  void poison(int set) const;
  /// Compares the corners and many random elements of an output with float64,
  /// and looks at all of it for elements that nobody wrote.
  Check check(int set) const;

private:
  /// The value at an output coordinate, and the sum of magnitudes behind it.
  double reference(int set, const std::vector<int64_t> &at,
                   double &magnitude) const;
  double referenceGemm(int set, const std::vector<int64_t> &at,
                       double &magnitude) const;
  double referenceConv(int set, const std::vector<int64_t> &at,
                       double &magnitude) const;

  Case entry;
  std::vector<BufferSet> sets;
};

/// Added to a variance by batch norm.
inline constexpr double kBatchNormEpsilon = 1e-5;

} // namespace tracea::bench

#endif // TRACEA_BENCHMARKS_CPU_PROBLEM_H
