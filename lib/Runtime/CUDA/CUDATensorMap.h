//===- CUDATensorMap.h - Descriptors for bulk copies ------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a manifest's recipe and a view to the driver's opaque descriptor.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_RUNTIME_CUDA_CUDATENSORMAP_H
#define TRACEA_LIB_RUNTIME_CUDA_CUDATENSORMAP_H

#include "CUDATypes.h"

#include "tracea/Runtime/GPU.h"
#include "tracea/Runtime/Span.h"
#include "tracea/Runtime/Status.h"

namespace tracea::runtime::cuda {

/// The arguments of the driver's encoders, in its order of axes: the innermost
/// first.
struct TensorMapArguments {
  static constexpr size_t maxRank = 5;
  int dataType = 0;
  uint32_t rank = 0;
  void *address = nullptr;
  uint64_t sizes[maxRank] = {};
  /// In bytes, without the innermost.
  uint64_t strides[maxRank] = {};
  uint32_t box[maxRank] = {};
  uint32_t elementStrides[maxRank] = {};
  int lower[maxRank] = {};
  int upper[maxRank] = {};
  uint32_t channelsPerPixel = 0;
  uint32_t pixelsPerColumn = 0;
  bool im2col = false;
  int interleave = 0;
  int swizzle = 0;
  int promotion = 0;
  int fill = 0;
};

/// Checks everything that the driver would refuse without saying what it is.
/// Axes of size 0 become 1, and the address of an empty view `blank`.
Expected<TensorMapArguments> makeTensorMapArguments(const TensorMapSpec &spec,
                                                    void *address,
                                                    Span<const int64_t> sizes,
                                                    Span<const int64_t> strides,
                                                    void *blank);

} // namespace tracea::runtime::cuda

#endif // TRACEA_LIB_RUNTIME_CUDA_CUDATENSORMAP_H
