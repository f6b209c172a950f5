//===- File.h - Bounded reads and atomic writes of files --------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads never take more than a stated number of bytes; writes either leave the
// complete new file at its path or leave what was there before.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_RUNTIME_FILE_H
#define TRACEA_RUNTIME_FILE_H

#include "tracea/Runtime/Span.h"
#include "tracea/Runtime/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tracea::runtime {

/// The whole file. Fails when it is longer than `limit` bytes.
Expected<std::vector<uint8_t>> readFile(const std::string &path,
                                        uint64_t limit);

/// Writes the pieces one after another to a temporary file in the directory
/// of `path`, flushes it to the disk, and renames it to `path`. On failure the
/// temporary file is removed and `path` is untouched. Where `path` names a
/// device or a pipe, the bytes are written to it directly.
Status writeFileAtomic(const std::string &path, Span<const Bytes> pieces);

} // namespace tracea::runtime

#endif // TRACEA_RUNTIME_FILE_H
