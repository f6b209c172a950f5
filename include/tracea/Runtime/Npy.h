//===- Npy.h - NumPy array files --------------------------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads and writes single arrays in NumPy's .npy format, versions 1 to 3
// (numpy.lib.format). Files are untrusted: no length in one is believed before
// it is compared with the bytes that are there.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_RUNTIME_NPY_H
#define TRACEA_RUNTIME_NPY_H

#include "tracea/Runtime/Tensor.h"

#include <optional>

namespace tracea::runtime {

struct NpyReadOptions {
  /// The element type that the reader of the array expects. It settles what
  /// NumPy's dtypes leave open: '<V2' and '<u2' are taken as raw bf16 bits
  /// when bf16 is expected, '<i8' as index when index is expected, '|u1' as i1
  /// when i1 is expected, and '|V1', '|u1' and '<f1' as the raw bits of the
  /// 8-bit float that is expected. Without it '<V2' is bf16, '<i8' is i64, and
  /// unsigned types and floats of 8 bits are refused. It is no conversion: an
  /// array of another type is returned as what it is.
  std::optional<ElementType> expected;
  /// No file longer than this is read.
  uint64_t maxBytes = uint64_t(1) << 40;
};

/// The array in `bytes`, as a row-major tensor that owns its memory. Arrays in
/// Fortran order are transposed in memory and big-endian ones are swapped.
/// Fails on anything malformed, on bytes after the array, and on element
/// types that have no counterpart.
Expected<Tensor> parseNpy(Bytes bytes, const NpyReadOptions &options = {});
Expected<Tensor> readNpy(const std::string &path,
                         const NpyReadOptions &options = {});

/// The header (version 1.0, padded to 64 bytes) and the elements in row-major
/// order. bf16 is written as '<V2', floats of 8 bits as '|V1', index as '<i8'.
Expected<std::vector<uint8_t>> serializeNpy(const Tensor &tensor);
/// Atomic: either the complete file is at `path` or nothing has changed.
Status writeNpy(const std::string &path, const Tensor &tensor);

} // namespace tracea::runtime

#endif // TRACEA_RUNTIME_NPY_H
