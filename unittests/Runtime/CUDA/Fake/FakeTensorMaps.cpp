//===- FakeTensorMaps.cpp - Tensor maps of the fake -----------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks what the manual demands, and refuses without a reason as the driver
// does.
//
//===----------------------------------------------------------------------===//

#include "FakeTensorMaps.h"

#include <cstdlib>
#include <cstring>

namespace tracea::fakecuda {

static std::vector<FakeMap> &table() {
  static std::vector<FakeMap> *maps = new std::vector<FakeMap>;
  return *maps;
}

static constexpr uint64_t mark = 0x7472616365616d70;

const FakeMap &mapOf(const std::vector<unsigned char> &bytes) {
  TensorMapBits bits;
  if (bytes.size() != sizeof bits)
    std::abort();
  std::memcpy(&bits, bytes.data(), sizeof bits);
  if (bits.words[0] != mark || bits.words[1] >= table().size() ||
      bits.words[15] != (mark ^ bits.words[1]))
    std::abort();
  return table()[bits.words[1]];
}

static Result encode(TensorMapBits *bits, int dataType, FakeMap map,
                     const uint64_t *sizes, const uint64_t *strides,
                     const uint32_t *steps, uint32_t inner, int interleave,
                     int swizzle, int promotion, int fill) {
  static constexpr size_t elementBytes[] = {1, 2, 4, 4, 8, 8, 2,
                                            4, 8, 2, 4, 4, 4};
  if (dataType < 0 || dataType > 12 || interleave < 0 || interleave > 2 ||
      swizzle < 0 || swizzle > 3 || promotion < 0 || promotion > 3 ||
      fill < 0 || fill > 1 || (fill == 1 && dataType < 6) || map.rank < 1 ||
      map.rank > 5 || (interleave != 0 && map.rank < 3))
    return errorInvalidValue;
  uint64_t align = interleave == 2 ? 32 : 16;
  if (reinterpret_cast<uintptr_t>(bits) % 64 != 0 ||
      reinterpret_cast<uintptr_t>(map.address) % align != 0)
    return errorInvalidValue;
  map.elementBytes = elementBytes[dataType];
  map.swizzle = swizzle;
  map.strides[0] = map.elementBytes;
  for (uint32_t i = 0; i < map.rank; ++i) {
    if (sizes[i] < 1 || sizes[i] > uint64_t(1) << 32 || steps[i] < 1 ||
        steps[i] > 8)
      return errorInvalidValue;
    map.sizes[i] = sizes[i];
    map.steps[i] = steps[i];
    if (i + 1 < map.rank) {
      if (strides[i] % align != 0 || strides[i] >= uint64_t(1) << 40)
        return errorInvalidValue;
      map.strides[i + 1] = strides[i];
    }
  }
  size_t innerBytes = inner * map.elementBytes;
  static constexpr size_t spans[] = {size_t(-1), 32, 64, 128};
  if (interleave == 0 && (innerBytes % 16 != 0 || innerBytes > spans[swizzle]))
    return errorInvalidValue;
  *bits = TensorMapBits();
  bits->words[0] = mark;
  bits->words[1] = table().size();
  bits->words[15] = mark ^ bits->words[1];
  table().push_back(map);
  return success;
}

} // namespace tracea::fakecuda

using namespace tracea::fakecuda;

FAKE_API Result cuTensorMapEncodeTiled(TensorMapBits *bits, int dataType,
                                       uint32_t rank, void *address,
                                       const uint64_t *sizes,
                                       const uint64_t *strides,
                                       const uint32_t *box,
                                       const uint32_t *steps, int interleave,
                                       int swizzle, int promotion, int fill) {
  FAKE_CALL(cuTensorMapEncodeTiled, needsContext);
  FakeMap map;
  map.rank = rank;
  map.address = static_cast<char *>(address);
  for (uint32_t i = 0; i < rank && i < 5; ++i) {
    if (box[i] < 1 || box[i] > 256)
      return errorInvalidValue;
    map.box[i] = box[i];
  }
  return encode(bits, dataType, map, sizes, strides, steps, box[0], interleave,
                swizzle, promotion, fill);
}

FAKE_API Result cuTensorMapEncodeIm2col(
    TensorMapBits *bits, int dataType, uint32_t rank, void *address,
    const uint64_t *sizes, const uint64_t *strides, const int *lower,
    const int *upper, uint32_t channels, uint32_t pixels, const uint32_t *steps,
    int interleave, int swizzle, int promotion, int fill) {
  FAKE_CALL(cuTensorMapEncodeIm2col, needsContext);
  if (rank < 3 || rank > 5 || channels > 256 || pixels > 1024)
    return errorInvalidValue;
  static constexpr int reach[] = {0, 32768, 128, 16};
  FakeMap map;
  map.rank = rank;
  map.address = static_cast<char *>(address);
  for (uint32_t i = 0; i + 2 < rank; ++i) {
    for (int corner : {lower[i], upper[i]})
      if (corner < -reach[rank - 2] || corner >= reach[rank - 2])
        return errorInvalidValue;
    map.lower[i] = lower[i];
    map.upper[i] = upper[i];
  }
  map.channels = channels;
  map.pixels = pixels;
  return encode(bits, dataType, map, sizes, strides, steps, channels,
                interleave, swizzle, promotion, fill);
}
