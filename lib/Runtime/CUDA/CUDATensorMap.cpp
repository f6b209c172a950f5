//===- CUDATensorMap.cpp - Descriptors for bulk copies --------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The limits are those of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col
// in NVIDIA's driver API manual ("Tensor Map Object Management").
//
//===----------------------------------------------------------------------===//

#include "CUDATensorMap.h"

#include <algorithm>

namespace tracea::runtime::cuda {

namespace {

std::string text(int64_t value) { return std::to_string(value); }

class Builder {
public:
  Builder(const TensorMapSpec &spec, Span<const int64_t> sizes,
          Span<const int64_t> strides)
      : spec(spec), sizes(sizes), strides(strides), bytes(sizeOf(spec.element)),
        rank(sizes.size()) {}

  Status run(void *address, void *blank) {
    // U8 to BF16 and the variants of f32 stand in the driver's order.
    out.dataType = static_cast<int>(spec.element);
    out.interleave = static_cast<int>(spec.interleave);
    out.swizzle = static_cast<int>(spec.swizzle);
    out.promotion = static_cast<int>(spec.promotion);
    out.fill = static_cast<int>(spec.fill);
    out.rank = static_cast<uint32_t>(rank);
    TRACEA_RETURN_IF_ERROR(checkShape());
    bool empty = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
    out.address = empty ? blank : address;
    int64_t align = spec.interleave == MapInterleave::B32 ? 32 : 16;
    if (reinterpret_cast<uintptr_t>(out.address) %
            static_cast<uintptr_t>(align) !=
        0)
      return fail("expected an address aligned to " + text(align) + " bytes");
    TRACEA_RETURN_IF_ERROR(checkModes());
    return spec.im2col ? checkIm2col() : checkBox();
  }
  TensorMapArguments out;

private:
  static Status fail(const std::string &what) {
    return Status::error("tensor map: " + what);
  }
  /// The driver's axis of the view's axis.
  size_t flip(size_t axis) const { return rank - 1 - axis; }

  Status checkShape() {
    size_t least =
        spec.im2col || spec.interleave != MapInterleave::None ? 3 : 1;
    if (rank < least || rank > TensorMapArguments::maxRank)
      return fail("expected a view of rank " + text(int64_t(least)) + " to " +
                  text(TensorMapArguments::maxRank) + ", found " +
                  text(int64_t(rank)));
    if (spec.elementStrides.size() != rank)
      return fail("expected " + text(int64_t(rank)) +
                  " element strides, found " +
                  text(int64_t(spec.elementStrides.size())));
    if (sizes[rank - 1] > 1 && strides[rank - 1] != 1)
      return fail("expected elements of the innermost axis side by side, "
                  "found stride " +
                  text(strides[rank - 1]));
    int64_t align = spec.interleave == MapInterleave::B32 ? 32 : 16;
    for (size_t i = 0; i < rank; ++i) {
      if (sizes[i] < 0 || sizes[i] > int64_t(1) << 32)
        return fail("expected at most 2^32 elements along axis " +
                    text(int64_t(i)) + ", found " + text(sizes[i]));
      out.sizes[flip(i)] =
          static_cast<uint64_t>(std::max<int64_t>(sizes[i], 1));
      int64_t step = spec.elementStrides[i];
      if (step < 1 || step > 8)
        return fail("expected element strides of 1 to 8, found " + text(step));
      out.elementStrides[flip(i)] = static_cast<uint32_t>(step);
    }
    for (size_t i = 0; i + 1 < rank; ++i) {
      int64_t stride = 0;
      if (__builtin_mul_overflow(strides[i], bytes, &stride) || stride < 0 ||
          stride >= int64_t(1) << 40 || stride % align != 0) {
        // Nobody steps along an axis of one element: any stride will do.
        if (sizes[i] > 1)
          return fail("expected the stride of axis " + text(int64_t(i)) +
                      " to be a multiple of " + text(align) +
                      " bytes below 2^40, found " + text(strides[i]) +
                      " elements of " + text(bytes) + " bytes");
        stride = align;
      }
      out.strides[flip(i) - 1] = static_cast<uint64_t>(stride);
    }
    return Status::success();
  }

  Status checkModes() {
    bool floating = spec.element >= MapElement::F16;
    if (spec.fill == MapFill::NaN && !floating)
      return fail("expected zero as fill of integers, found nan");
    if (spec.interleave == MapInterleave::B32 &&
        spec.swizzle != MapSwizzle::B32)
      return fail("expected the swizzle 32B with the interleave 32B");
    return Status::success();
  }

  Status checkInnerBytes(int64_t elements) {
    int64_t inner = elements * bytes;
    if (spec.interleave == MapInterleave::None && inner % 16 != 0)
      return fail("expected the innermost axis of a copy to be a multiple of "
                  "16 bytes, found " +
                  text(inner));
    static constexpr int64_t spans[numMapSwizzles] = {0, 32, 64, 128};
    int64_t span = spans[static_cast<size_t>(spec.swizzle)];
    if (spec.interleave == MapInterleave::None && span && inner > span)
      return fail(std::string("expected the innermost axis of a copy to be at "
                              "most ") +
                  text(span) + " bytes with the swizzle " +
                  nameOf(spec.swizzle) + ", found " + text(inner));
    return Status::success();
  }

  Status checkBox() {
    if (spec.box.size() != rank)
      return fail("expected a box of " + text(int64_t(rank)) +
                  " sizes, found " + text(int64_t(spec.box.size())));
    for (size_t i = 0; i < rank; ++i) {
      // "must be non-zero and less than or equal to 256"
      if (spec.box[i] < 1 || spec.box[i] > 256)
        return fail("expected 1 to 256 elements along each axis of the box, "
                    "found " +
                    text(spec.box[i]));
      out.box[flip(i)] = static_cast<uint32_t>(spec.box[i]);
    }
    return checkInnerBytes(spec.box[rank - 1]);
  }

  Status checkIm2col() {
    const Im2colSpec &window = *spec.im2col;
    size_t spatial = rank - 2;
    if (window.lower.size() != spatial || window.upper.size() != spatial)
      return fail("expected corners of " + text(int64_t(spatial)) +
                  " spatial axes, found " + text(int64_t(window.lower.size())) +
                  " and " + text(int64_t(window.upper.size())));
    int64_t reach = Im2colSpec::reach(spatial);
    for (size_t i = 0; i < spatial; ++i) {
      for (int64_t corner : {window.lower[i], window.upper[i]})
        if (corner < -reach || corner >= reach)
          return fail("expected corners of " + text(-reach) + " to " +
                      text(reach - 1) + ", found " + text(corner));
      out.lower[spatial - 1 - i] = static_cast<int>(window.lower[i]);
      out.upper[spatial - 1 - i] = static_cast<int>(window.upper[i]);
    }
    if (window.channelsPerPixel < 1 || window.channelsPerPixel > 256)
      return fail("expected 1 to 256 channels for each pixel, found " +
                  text(window.channelsPerPixel));
    if (window.pixelsPerColumn < 1 || window.pixelsPerColumn > 1024)
      return fail("expected 1 to 1024 pixels in a column, found " +
                  text(window.pixelsPerColumn));
    out.im2col = true;
    out.channelsPerPixel = static_cast<uint32_t>(window.channelsPerPixel);
    out.pixelsPerColumn = static_cast<uint32_t>(window.pixelsPerColumn);
    return checkInnerBytes(window.channelsPerPixel);
  }

  const TensorMapSpec &spec;
  Span<const int64_t> sizes;
  Span<const int64_t> strides;
  int64_t bytes;
  size_t rank;
};

} // namespace

Expected<TensorMapArguments> makeTensorMapArguments(const TensorMapSpec &spec,
                                                    void *address,
                                                    Span<const int64_t> sizes,
                                                    Span<const int64_t> strides,
                                                    void *blank) {
  Builder builder(spec, sizes, strides);
  TRACEA_RETURN_IF_ERROR(builder.run(address, blank));
  return builder.out;
}

} // namespace tracea::runtime::cuda
