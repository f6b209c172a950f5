//===- SharedOperand.cpp - Operands of wgmma in shared memory -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Algebra/SharedOperand.h"

using namespace tracea::algebra;

static bool isPowerOfTwo(int64_t n) { return n > 0 && !(n & (n - 1)); }

Expected<F2Matrix> SharedOperand::toBytes() const {
  if (elementBits != 8 && elementBits != 16 && elementBits != 32)
    return Error{"shared operand: expected elements of 8, 16 or 32 bits, "
                 "found " +
                 std::to_string(elementBits)};
  if (major == MajorNess::MN && elementBits != 16)
    return Error{"shared operand: expected 16-bit elements in an M/N-major "
                 "operand, found " +
                 std::to_string(elementBits) + " bits"};
  constexpr int64_t limit = int64_t(1) << 20;
  for (int64_t extent : {mn, k})
    if (!isPowerOfTwo(extent) || extent > limit)
      return Error{"shared operand: expected powers of two up to 2^20 as "
                   "extents, found " +
                   std::to_string(mn) + "x" + std::to_string(k)};

  int64_t bytes = elementBits / 8;
  // A row of an atom: 16 bytes without a swizzle, else its width.
  int64_t row = mode == SwizzleMode::None ? 16 : int64_t(mode);
  int64_t along = major == MajorNess::K ? k : mn;
  int64_t across = major == MajorNess::K ? mn : k;
  if (along * bytes < row && mode == SwizzleMode::None)
    return Error{"shared operand: expected at least 16 bytes along the "
                 "contiguous direction, found " +
                 std::to_string(along * bytes)};
  if (across < 8)
    return Error{"shared operand: expected at least 8 rows in an atom, found " +
                 std::to_string(across)};
  // The strides of the repeats along and across.
  int64_t alongStride = leadingBytes, acrossStride = strideBytes;
  if (major == MajorNess::MN && mode == SwizzleMode::None)
    std::swap(alongStride, acrossStride);
  if (major == MajorNess::K && mode != SwizzleMode::None && along * bytes > row)
    return Error{"shared operand: expected K to span at most the swizzled row "
                 "of " +
                 std::to_string(row) + " bytes, found " +
                 std::to_string(along * bytes)};

  uint64_t used = 0;
  F2Vectors alongColumns, acrossColumns;
  auto add = [&](F2Vectors &columns, int64_t offset) {
    bool free = isPowerOfTwo(offset) && !(used & uint64_t(offset));
    used |= uint64_t(offset);
    columns.push_back(offset);
    return free;
  };
  for (int64_t step = 1; step < along; step *= 2)
    if (step * bytes < row && !add(alongColumns, step * bytes))
      return Error{"shared operand: overlapping rows"};
  for (int64_t step = 1; step < 8; step *= 2)
    if (!add(acrossColumns, step * row))
      return Error{"shared operand: overlapping rows"};
  for (int64_t step = row / bytes; step < along; step *= 2)
    if (!add(alongColumns, step * bytes / row * alongStride))
      return Error{"shared operand: expected strides that are powers of two "
                   "and do not overlap, found leading " +
                   std::to_string(leadingBytes) + " and stride " +
                   std::to_string(strideBytes)};
  for (int64_t step = 8; step < across; step *= 2)
    if (!add(acrossColumns, step / 8 * acrossStride))
      return Error{"shared operand: expected strides that are powers of two "
                   "and do not overlap, found leading " +
                   std::to_string(leadingBytes) + " and stride " +
                   std::to_string(strideBytes)};

  F2Vectors columns = major == MajorNess::K ? alongColumns : acrossColumns;
  const F2Vectors &high = major == MajorNess::K ? acrossColumns : alongColumns;
  columns.insert(columns.end(), high.begin(), high.end());
  Swizzle swizzle = Swizzle::mode(mode);
  for (uint64_t &column : columns)
    column = swizzle.apply(column);
  return F2Matrix::get(F2Matrix::maxBits, std::move(columns));
}

Expected<uint64_t> SharedOperand::descriptor(uint64_t address) const {
  uint64_t period =
      mode == SwizzleMode::None ? 16 : Swizzle::mode(mode).period();
  if (address % period || address >> 18)
    return Error{"matrix descriptor: expected an address below 2^18 that is a "
                 "multiple of " +
                 std::to_string(period) + ", found " + std::to_string(address)};
  for (int64_t stride : {leadingBytes, strideBytes})
    if (stride < 0 || stride % 16 || stride >> 18)
      return Error{"matrix descriptor: expected strides below 2^18 that are "
                   "multiples of 16, found " +
                   std::to_string(stride)};
  uint64_t code = 0;
  switch (mode) {
  case SwizzleMode::None:
    break;
  case SwizzleMode::Bytes128:
    code = 1;
    break;
  case SwizzleMode::Bytes64:
    code = 2;
    break;
  case SwizzleMode::Bytes32:
    code = 3;
    break;
  }
  // A K-major swizzled operand has no leading offset; 1 is what the document
  // assumes there.
  uint64_t leading = major == MajorNess::K && mode != SwizzleMode::None
                         ? 1
                         : uint64_t(leadingBytes) >> 4;
  return address >> 4 | leading << 16 | uint64_t(strideBytes) >> 4 << 32 |
         code << 62;
}
