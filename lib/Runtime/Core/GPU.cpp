//===- GPU.cpp - Names of a manifest's images and tensor maps -------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables that reading and writing share.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/GPU.h"

namespace tracea::runtime {

const char *nameOf(ImageKind kind) {
  static constexpr const char *names[numImageKinds] = {
      "object", "ptx", "cubin", "hsaco", "msl", "metallib", "spirv"};
  return names[static_cast<size_t>(kind)];
}

const char *nameOf(MapElement value) {
  static constexpr const char *names[numMapElements] = {
      "u8",  "u16", "u32",  "i32",    "u64",  "i64",    "f16",
      "f32", "f64", "bf16", "f32ftz", "tf32", "tf32ftz"};
  return names[static_cast<size_t>(value)];
}

int64_t sizeOf(MapElement value) {
  static constexpr int64_t sizes[numMapElements] = {1, 2, 4, 4, 8, 8, 2,
                                                    4, 8, 2, 4, 4, 4};
  return sizes[static_cast<size_t>(value)];
}

const char *nameOf(MapInterleave value) {
  static constexpr const char *names[numMapInterleaves] = {"none", "16B",
                                                           "32B"};
  return names[static_cast<size_t>(value)];
}

const char *nameOf(MapSwizzle value) {
  static constexpr const char *names[numMapSwizzles] = {"none", "32B", "64B",
                                                        "128B"};
  return names[static_cast<size_t>(value)];
}

const char *nameOf(MapPromotion value) {
  static constexpr const char *names[numMapPromotions] = {"none", "64B", "128B",
                                                          "256B"};
  return names[static_cast<size_t>(value)];
}

const char *nameOf(MapFill value) {
  static constexpr const char *names[numMapFills] = {"zero", "nan"};
  return names[static_cast<size_t>(value)];
}

} // namespace tracea::runtime
