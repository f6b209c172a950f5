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
#include <functional>
#include <string>
#include <vector>

namespace tracea::runtime {

/// Whose file bytes came from, asked of the descriptor that they were read
/// through. All zero but `isFile` for a pipe or a device, which belongs to
/// nobody in particular.
struct FileOrigin {
  bool isFile = false;
  /// The user that owns the file.
  uint32_t owner = 0;
  /// Its permissions, as `chmod` takes them.
  uint32_t mode = 0;
};

/// A stream whose length nobody knows beforehand (a pipe, a device) may have at
/// most this many bytes, whatever a file may have: `/dev/zero` never ends.
inline constexpr uint64_t maxStreamBytes = uint64_t(256) << 20;

/// How many bytes a file that begins like this may have, or why it is not read
/// any further. Asked once, with 64 bytes or more, or all of a shorter file.
using ReadLimit = std::function<Expected<uint64_t>(Bytes head)>;

/// The whole file. Fails when it is longer than `limit` bytes, and for a stream
/// when it is longer than `maxStreamBytes`. Tells whose file it is where
/// `origin` is given.
Expected<std::vector<uint8_t>> readFile(const std::string &path, uint64_t limit,
                                        FileOrigin *origin = nullptr);
Expected<std::vector<uint8_t>> readFile(const std::string &path,
                                        const ReadLimit &limit,
                                        FileOrigin *origin = nullptr);
/// The same of an open descriptor, from where it stands; `name` is what
/// messages call it. It stays open.
Expected<std::vector<uint8_t>> readDescriptor(int fd, const std::string &name,
                                              const ReadLimit &limit,
                                              FileOrigin *origin = nullptr);

/// The permissions, less what the umask takes away, of files for everybody to
/// write, of files that only their owner may write (programs, which are code),
/// and of those that nobody else may read (private keys).
inline constexpr uint32_t modeOfData = 0666;
inline constexpr uint32_t modeOfCode = 0644;
inline constexpr uint32_t modeOfSecret = 0600;

/// Writes the pieces one after another to a temporary file in the directory
/// of `path`, flushes it to the disk, and renames it to `path`. On failure the
/// temporary file is removed and `path` is untouched. Where `path` names a
/// device or a pipe, the bytes are written to it directly.
Status writeFileAtomic(const std::string &path, Span<const Bytes> pieces,
                       uint32_t mode = modeOfData);

/// Writes a file that is not there yet. Fails, and changes nothing, where there
/// is anything of that name.
Status createFile(const std::string &path, Bytes bytes,
                  uint32_t mode = modeOfData);

} // namespace tracea::runtime

#endif // TRACEA_RUNTIME_FILE_H
