//===- FakeKernels.cpp - What the fake's kernels do -----------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host's versions of ../GPUKernels.ll; the conformance kernels are those
// of the CPU driver's tests, a tile for each block.
//
//===----------------------------------------------------------------------===//

#include "FakeTensorMaps.h"

#include <cstring>

using CPUKernel = void(const int64_t *, int64_t, int64_t, void *);
extern "C" CPUKernel conf_count, conf_scale_add, conf_slots, conf_row_sum,
    conf_copy, conf_workspace;

namespace tracea::fakecuda {

/// All parameters of the conformance kernels are 64-bit slots.
template <CPUKernel *Kernel>
static void conformance(const KernelLaunch &launch) {
  std::vector<int64_t> slots;
  for (size_t i = 0; i < launch.parameters.size(); ++i)
    slots.push_back(launch.parameter<int64_t>(i));
  std::vector<unsigned char> shared(launch.shape.sharedBytes + 128);
  void *base = shared.data();
  size_t space = shared.size();
  base = std::align(128, launch.shape.sharedBytes, base, space);
  for (unsigned block = 0; block < launch.shape.grid[0]; ++block) {
    std::fill(shared.begin(), shared.end(), static_cast<unsigned char>(0x5a));
    Kernel(slots.data(), block, int64_t(block) + 1, base);
  }
}

static void shape(const KernelLaunch &launch) {
  const LaunchRecord &r = launch.shape;
  int64_t *out = launch.parameter<int64_t *>(0);
  for (unsigned z = 0; z < r.grid[2]; ++z)
    for (unsigned y = 0; y < r.grid[1]; ++y)
      for (unsigned x = 0; x < r.grid[0]; ++x) {
        unsigned block = (z * r.grid[1] + y) * r.grid[0] + x;
        unsigned rank = ((z % r.cluster[2]) * r.cluster[1] + y % r.cluster[1]) *
                            r.cluster[0] +
                        x % r.cluster[0];
        out[4 * block] = r.block[0] | r.block[1] << 10 | r.block[2] << 20;
        out[4 * block + 1] = rank | (r.cluster[0] * r.cluster[1] * r.cluster[2])
                                        << 8;
        out[4 * block + 2] = r.sharedBytes;
        out[4 * block + 3] = launch.parameter<int32_t>(1);
      }
}

static void persistent(const KernelLaunch &launch) {
  int64_t *out = launch.parameter<int64_t *>(0);
  int32_t tiles = launch.parameter<int32_t>(1);
  for (int32_t t = 0; t < tiles; ++t)
    out[t] += 1;
  out[tiles] = launch.shape.grid[0];
}

static void overlap(const KernelLaunch &launch) {
  // As on a device, numbers wrap: memory may hold any before its first kernel.
  auto *out = launch.parameter<uint64_t *>(0);
  *out = 3 * *out + static_cast<uint64_t>(launch.parameter<int32_t>(1));
}

static void asserts(const KernelLaunch &launch) {
  int64_t limit = launch.parameter<int64_t>(2);
  auto *record = launch.parameter<uint64_t *>(3);
  auto raise = [](uint64_t &word, int64_t value) {
    word = std::max(word, static_cast<uint64_t>(value));
  };
  for (unsigned block = 0; block < launch.shape.grid[0]; ++block) {
    int64_t mine = launch.parameter<int64_t>(1) + block;
    if (mine < limit) {
      *launch.parameter<int64_t *>(0) = mine;
      continue;
    }
    raise(record[3], 1);
    raise(record[4], mine);
    raise(record[5], ~limit);
  }
}

/// Element (…, 1, 0) of the map's tensor, or 0 where it is outside.
static float elementAt(const FakeMap &map, const int64_t *at) {
  const char *where = map.address;
  for (uint32_t i = 0; i < map.rank; ++i) {
    if (at[i] < 0 || at[i] >= static_cast<int64_t>(map.sizes[i]))
      return 0;
    where += at[i] * static_cast<int64_t>(map.strides[i]);
  }
  float value;
  std::memcpy(&value, where, sizeof value);
  return value;
}

static void tiled(const KernelLaunch &launch) {
  const FakeMap &map = mapOf(launch.parameters[0]);
  float *out = launch.parameter<float *>(1);
  // Found on an H200: a copy that begins elsewhere ends the context.
  if (launch.parameter<int32_t>(3) * int64_t(sizeof(float)) % 16 != 0) {
    launch.result = errorIllegalInstruction;
    return;
  }
  for (uint32_t row = 0; row < map.box[1]; ++row)
    for (uint32_t column = 0; column < map.box[0]; ++column) {
      int64_t at[] = {launch.parameter<int32_t>(3) + int64_t(column),
                      launch.parameter<int32_t>(2) + int64_t(row)};
      *out++ = elementAt(map, at);
    }
}

/// The pixels of the box are walked along w, then h, then n.
static void im2col(const KernelLaunch &launch) {
  const FakeMap &map = mapOf(launch.parameters[0]);
  float *out = launch.parameter<float *>(1);
  int64_t n = launch.parameter<int32_t>(2), h = launch.parameter<int32_t>(3),
          w = launch.parameter<int32_t>(4), c = launch.parameter<int32_t>(5),
          oh = launch.parameter<int32_t>(6), ow = launch.parameter<int32_t>(7);
  for (uint32_t pixel = 0; pixel < map.pixels; ++pixel) {
    for (uint32_t channel = 0; channel < map.channels; ++channel) {
      int64_t at[] = {c + channel, w + ow, h + oh, n};
      *out++ = elementAt(map, at);
    }
    w += map.steps[1];
    if (w > int64_t(map.sizes[1]) - 1 + map.upper[0]) {
      w = map.lower[0];
      h += map.steps[2];
    }
    if (h > int64_t(map.sizes[2]) - 1 + map.upper[1]) {
      h = map.lower[1];
      ++n;
    }
  }
}

KernelBody findKernel(const std::string &name) {
  static const std::map<std::string, KernelBody> bodies = {
      {"conf_count", conformance<conf_count>},
      {"conf_scale_add", conformance<conf_scale_add>},
      {"conf_slots", conformance<conf_slots>},
      {"conf_row_sum", conformance<conf_row_sum>},
      {"conf_copy", conformance<conf_copy>},
      {"conf_workspace", conformance<conf_workspace>},
      {"gpu_shape", shape},
      {"gpu_persistent", persistent},
      {"gpu_overlap", overlap},
      {"gpu_asserts", asserts},
      {"gpu_tiled", tiled},
      {"gpu_im2col", im2col},
  };
  auto found = bodies.find(name);
  return found == bodies.end() ? nullptr : found->second;
}

} // namespace tracea::fakecuda
