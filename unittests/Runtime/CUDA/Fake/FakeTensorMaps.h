//===- FakeTensorMaps.h - Tensor maps of the fake ---------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The 128 bytes of a map hold the number of a table entry and a checksum.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_UNITTESTS_RUNTIME_CUDA_FAKE_FAKETENSORMAPS_H
#define TRACEA_UNITTESTS_RUNTIME_CUDA_FAKE_FAKETENSORMAPS_H

#include "FakeState.h"

namespace tracea::fakecuda {

struct FakeMap {
  uint32_t rank = 0;
  size_t elementBytes = 0;
  char *address = nullptr;
  uint64_t sizes[5] = {};
  uint64_t strides[5] = {}; // in bytes, the innermost included
  uint32_t box[5] = {};
  uint32_t steps[5] = {};
  int lower[3] = {};
  int upper[3] = {};
  uint32_t channels = 0;
  uint32_t pixels = 0;
  int swizzle = 0;
};

/// The map of these bytes; ends the test where they are none.
const FakeMap &mapOf(const std::vector<unsigned char> &bytes);

} // namespace tracea::fakecuda

#endif // TRACEA_UNITTESTS_RUNTIME_CUDA_FAKE_FAKETENSORMAPS_H
