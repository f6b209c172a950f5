//===- GPU.h - What a manifest says of GPU kernels --------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that run on a grid of blocks need more than a symbol: the shape of a
// block, of a cluster, and descriptors of tensors that the hardware copies
// ("tensor maps"). Sizes and corners stand in the order of the view's axes, the
// outermost first; drivers turn them around where their interface wants it.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_RUNTIME_GPU_H
#define TRACEA_RUNTIME_GPU_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tracea::runtime {

/// What a piece of code is written in.
enum class ImageKind : uint8_t {
  /// A shared object of the host's system.
  Object,
  /// NVIDIA's text and machine code.
  PTX,
  Cubin,
  /// AMD's code object.
  Hsaco,
  /// Apple's text and compiled library.
  MSL,
  MetalLib,
  /// Khronos' binary modules.
  SPIRV
};
inline constexpr int numImageKinds = 7;
/// "object", "ptx", "cubin", "hsaco", "msl", "metallib", "spirv".
const char *nameOf(ImageKind kind);

/// One form of a piece of code. Kernels name the blob `code`; of all images
/// with that `code` the device takes the one that suits it best.
struct ImageSpec {
  int64_t code = 0;
  /// The blob that holds the image.
  int64_t blob = 0;
  ImageKind kind = ImageKind::Object;
  /// "x86_64", "sm_90", "sm_90a": what the code is for.
  std::string arch;
  /// The version of PTX, 80 for 8.0; 0 for machine code.
  int64_t isa = 0;
};

/// What the machine code of a kernel takes, as its assembler says.
struct KernelUseSpec {
  /// Of a thread, when it starts.
  int64_t registers = 0;
  /// Static shared memory of a block; what launches ask for is the workspace.
  int64_t sharedBytes = 0;
  /// Local memory of a thread, and what of it are registers that do not fit.
  int64_t stackBytes = 0;
  int64_t spillStoreBytes = 0;
  int64_t spillLoadBytes = 0;
};

/// How a kernel is launched.
struct GPUKernelSpec {
  /// Threads of a block along x, y, z.
  std::vector<int64_t> block = {1, 1, 1};
  /// Blocks of a cluster along x, y, z.
  std::vector<int64_t> cluster = {1, 1, 1};
  /// Where not 0 the kernel takes tiles in a loop over the grid, and the grid
  /// is at most this many blocks for each multiprocessor, along x.
  int64_t persistent = 0;
  /// The kernel itself waits for the one before it, so that it may be started
  /// before that one ends (programmatic dependent launch).
  bool overlaps = false;
  /// Bits of sizes, strides and indices among its parameters: 32 or 64.
  int64_t indexBits = 64;
  /// For people; known where the compiler had an assembler.
  std::optional<KernelUseSpec> use = std::nullopt;
  /// What the kernel may find that it cannot do, in words in which `{0}` and
  /// `{1}` stand for numbers. Where there are any it takes, as its last
  /// parameter, the address of a record of `assertionWords` for each of them.
  std::vector<std::string> assertions;

  int64_t recordBytes() const;
};

/// Numbers of 64 bits that tell of an assertion, all of them zero before it
/// fails: 1; the greatest number that was found; and the complement of the
/// least that it was compared with, both taken as numbers without a sign.
inline constexpr int64_t assertionWords = 3;

inline int64_t GPUKernelSpec::recordBytes() const {
  return static_cast<int64_t>(assertions.size()) * assertionWords * 8;
}

/// The hardware's element types; the bits are those of the view's type.
enum class MapElement : uint8_t {
  U8,
  U16,
  U32,
  I32,
  U64,
  I64,
  F16,
  F32,
  F64,
  BF16,
  F32Ftz,
  TF32,
  TF32Ftz
};
inline constexpr int numMapElements = 13;
enum class MapInterleave : uint8_t { None, B16, B32 };
inline constexpr int numMapInterleaves = 3;
enum class MapSwizzle : uint8_t { None, B32, B64, B128 };
inline constexpr int numMapSwizzles = 4;
enum class MapPromotion : uint8_t { None, B64, B128, B256 };
inline constexpr int numMapPromotions = 4;
enum class MapFill : uint8_t { Zero, NaN };
inline constexpr int numMapFills = 2;

/// Their names in the manifest: "bf16", "32B", "128B", "256B", "zero".
const char *nameOf(MapElement value);
const char *nameOf(MapInterleave value);
const char *nameOf(MapSwizzle value);
const char *nameOf(MapPromotion value);
const char *nameOf(MapFill value);
/// Bytes of an element.
int64_t sizeOf(MapElement value);

/// How copies walk over an image in im2col mode, whose axes are N, one to three
/// spatial ones, and C.
struct Im2colSpec {
  /// Corners go from -reach to reach - 1: the more axes there are, the fewer
  /// bits each has.
  static int64_t reach(size_t spatialAxes) {
    return spatialAxes < 2 ? 32768 : spatialAxes == 2 ? 128 : 16;
  }

  /// The corners of the box of pixels, an element for each spatial axis.
  std::vector<int64_t> lower;
  std::vector<int64_t> upper;
  int64_t channelsPerPixel = 0;
  int64_t pixelsPerColumn = 0;
};

/// The recipe of a tensor map; sizes, strides and address are a view's.
struct TensorMapSpec {
  MapElement element = MapElement::F32;
  /// Elements of one copy along each axis; empty in im2col mode.
  std::vector<int64_t> box;
  std::optional<Im2colSpec> im2col;
  /// The step along each axis in elements; 1 takes every one.
  std::vector<int64_t> elementStrides;
  MapInterleave interleave = MapInterleave::None;
  MapSwizzle swizzle = MapSwizzle::None;
  MapPromotion promotion = MapPromotion::None;
  MapFill fill = MapFill::Zero;
};

/// Bytes and alignment of a tensor map as a parameter.
inline constexpr int64_t tensorMapBytes = 128;
inline constexpr int64_t tensorMapAlign = 64;

} // namespace tracea::runtime

#endif // TRACEA_RUNTIME_GPU_H
