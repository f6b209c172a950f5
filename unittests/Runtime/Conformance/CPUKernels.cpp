//===- CPUKernels.cpp - The conformance kernels for the CPU ---------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of the CPU ABI, built into a shared object that the conformance
// suite packs into programs. Another driver brings the same symbols in its
// own kind of code; Conformance.h says what each of them does.
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <cstring>

namespace {
/// The slots of a memref of rank `Rank`: address, sizes, strides.
template <typename T, int Rank>
struct MemRef {
  T *data;
  const int64_t *sizes;
  const int64_t *strides;
  explicit MemRef(const int64_t *&slots)
      : data(reinterpret_cast<T *>(*slots)), sizes(slots + 1),
        strides(slots + 1 + Rank) {
    slots += 1 + 2 * Rank;
  }
};
} // namespace

#define KERNEL(name)                                                           \
  extern "C" __attribute__((visibility("default"))) void name(                 \
      const int64_t *args, int64_t tileBegin, int64_t tileEnd,                 \
      void *workspace)

KERNEL(conf_count) {
  MemRef<int64_t, 1> out(args);
  for (int64_t t = tileBegin; t < tileEnd; ++t)
    out.data[t * out.strides[0]] += 1;
}

KERNEL(conf_scale_add) {
  MemRef<const float, 1> x(args), y(args);
  MemRef<float, 1> out(args);
  int64_t factor = args[0], perTile = args[1];
  for (int64_t t = tileBegin; t < tileEnd; ++t)
    for (int64_t i = t * perTile; i < (t + 1) * perTile && i < out.sizes[0];
         ++i)
      out.data[i * out.strides[0]] =
          static_cast<float>(factor) * x.data[i * x.strides[0]] +
          y.data[i * y.strides[0]];
}

KERNEL(conf_slots) {
  MemRef<int64_t, 1> out(args);
  for (int64_t i = 0; i < out.sizes[0]; ++i)
    out.data[i * out.strides[0]] = args[i];
}

KERNEL(conf_row_sum) {
  MemRef<const float, 2> x(args);
  MemRef<float, 1> out(args);
  for (int64_t row = tileBegin; row < tileEnd; ++row) {
    float sum = 0;
    for (int64_t k = 0; k < x.sizes[1]; ++k)
      sum += x.data[row * x.strides[0] + k * x.strides[1]];
    out.data[row * out.strides[0]] = sum;
  }
}

KERNEL(conf_copy) {
  MemRef<const float, 2> x(args);
  MemRef<float, 2> out(args);
  for (int64_t row = tileBegin; row < tileEnd; ++row)
    for (int64_t k = 0; k < x.sizes[1]; ++k)
      out.data[row * out.strides[0] + k * out.strides[1]] =
          x.data[row * x.strides[0] + k * x.strides[1]];
}

KERNEL(conf_workspace) {
  MemRef<int64_t, 1> out(args);
  int64_t bytes = args[0];
  volatile unsigned char *scratch = static_cast<unsigned char *>(workspace);
  for (int64_t t = tileBegin; t < tileEnd; ++t) {
    bool good = reinterpret_cast<uintptr_t>(workspace) % 64 == 0;
    for (int64_t i = 0; i < bytes; ++i)
      scratch[i] = static_cast<unsigned char>(t * 31 + i);
    for (int64_t i = 0; i < bytes; ++i)
      good = good && scratch[i] == static_cast<unsigned char>(t * 31 + i);
    out.data[t * out.strides[0]] = good;
  }
}
