//===- Cases.h - What the graduation test measures -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A case is one row of a table: an operation with a shape and a type.

#ifndef TRACEA_BENCHMARKS_CPU_CASES_H
#define TRACEA_BENCHMARKS_CPU_CASES_H

#include "tracea/Runtime/ElementType.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracea::bench {

enum class Op { Gemm, Conv };

/// C[m, n] = A B, with the operands stored transposed where said; with a batch
/// so many products, one behind the other in memory.
struct GemmShape {
  int64_t m = 0, n = 0, k = 0;
  bool transposeA = false, transposeB = false;
  int64_t batch = 1;

  /// The extents of a matrix, and before them those of the batch if any.
  std::vector<int64_t> shapeOf(int64_t rows, int64_t columns) const {
    return batch == 1 ? std::vector<int64_t>{rows, columns}
                      : std::vector<int64_t>{batch, rows, columns};
  }
};

/// Convolution, batch norm, a residual where said, and ReLU; of types other
/// than f32 the convolution alone. A filter has c / groups channels.
struct ConvShape {
  int64_t n = 1, h = 0, w = 0, c = 0;
  int64_t k = 0, r = 0, s = 0;
  int64_t stride = 1, dilation = 1, groups = 1;
  /// Top, left, bottom, right.
  std::array<int64_t, 4> pads = {0, 0, 0, 0};
  /// Images NCHW and filters KCRS; else NHWC and KRSC.
  bool nchw = false;
  /// An image of the result's shape is added before ReLU.
  bool residual = false;

  int64_t outputHeight() const {
    return (h + pads[0] + pads[2] - dilation * (r - 1) - 1) / stride + 1;
  }
  int64_t outputWidth() const {
    return (w + pads[1] + pads[3] - dilation * (s - 1) - 1) / stride + 1;
  }
};

struct Case {
  std::string list;
  std::string name;
  Op op = Op::Gemm;
  /// Of the operands; what is accumulated and written is f32, or i32 for i8.
  runtime::ElementType type = runtime::ElementType::F32;
  GemmShape gemm;
  ConvShape conv;
  /// Also run as three kernels.
  bool separate = false;
  /// Part of --quick with one thread; with all threads.
  bool quick = false;
  bool quickThreads = false;

  runtime::ElementType outputType() const {
    return type == runtime::ElementType::I8 ? runtime::ElementType::I32
                                            : runtime::ElementType::F32;
  }
  /// Whether nothing follows the convolution.
  bool isConvAlone() const {
    return op == Op::Conv && type != runtime::ElementType::F32;
  }
  /// Operations: two for every multiply-add, padding included.
  double flops() const;
};

/// In the order of the tables.
const std::vector<Case> &allCases();
const Case *findCase(const std::string &name);

/// Headings by list.
struct List {
  std::string name;
  std::string title;
};
const std::vector<List> &allLists();

} // namespace tracea::bench

#endif // TRACEA_BENCHMARKS_CPU_CASES_H
