//===- ProgramFile.h - The container of a compiled program ------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program file is a manifest and blobs (native code, constant data) in one
// checksummed container. All integers are little-endian. The layout:
//
//   0   8   magic 89 'T' 'R' 'A' 'C' 'E' 'A' 0A
//   8   4   container version: 1, or 3 where there are several manifests; one
//           more where the program is signed
//   12  4   number of sections n
//   16  8   size of the file in bytes
//   24  24  zero
//   48  16  XXH3-128 (canonical form) of bytes 0…47 and of the section table
//   64  48n section table: kind u32, index u32, offset u64, size u64,
//           XXH3-128 of the contents (16 bytes), zero u64
//   …       sections, each at a multiple of 64, in the order of the table,
//           with zero bytes between them; the file ends where the last one does
//
// The first sections are the manifests (kind 1), one for each version of the
// program; the others are blobs (kind 2). Each kind has the indices 0, 1, 2, ….
//
// A signed program has 128 bytes more, at the next multiple of 64:
//
//   0   8   "ed25519\n"
//   8   24  zero
//   32  32  the public key
//   64  64  the signature of every byte of the file before it
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_RUNTIME_PROGRAMFILE_H
#define TRACEA_RUNTIME_PROGRAMFILE_H

#include "tracea/Runtime/Manifest.h"
#include "tracea/Runtime/Trust.h"

namespace tracea::runtime {

struct ProgramLimits {
  uint64_t maxBytes = uint64_t(64) << 30;
  uint32_t maxSections = 4096;
  uint32_t maxVersions = 64;
  ManifestLimits manifest;
};

/// A manifest and the blobs that it refers to by number.
struct ProgramFile {
  Manifest manifest;
  /// The same program for other targets, over the same blobs: versions of it.
  /// Loading takes the first that the device can run, of `manifest` and these.
  std::vector<Manifest> others;
  std::vector<std::vector<uint8_t>> blobs;
  /// Whose signature the container that was read had, and that it was right.
  /// Says nothing of what was changed since, and is not written.
  std::optional<PublicKey> signer;

  /// Appends a blob and returns its number.
  int64_t addBlob(std::vector<uint8_t> bytes) {
    blobs.push_back(std::move(bytes));
    return static_cast<int64_t>(blobs.size()) - 1;
  }

  /// All versions, the preferred one first.
  std::vector<const Manifest *> versions() const;

  /// Adds the versions of another program behind those that are there. Blobs
  /// with the same contents are kept once.
  void addVersions(ProgramFile program);

  /// Leaves version `index` alone. Blobs stay as they are.
  void selectVersion(size_t index);
  /// Leaves the version for the target of that name alone; where there is none
  /// the error lists the targets that there are.
  Status selectTarget(const std::string &name);

  /// Checks each manifest against itself and the blobs, and that versions are
  /// for one kind of device and targets of different names, and have the same
  /// entries.
  Status validate(const ManifestLimits &limits = {}) const;

  /// The container's bytes, signed where a key is given. Fails when the program
  /// does not validate.
  Expected<std::vector<uint8_t>>
  serialize(const SigningKey *key = nullptr) const;

  /// Reads a container, as untrusted input: lengths, checksums, the layout,
  /// every reference in the manifest and the signature, where there is one, are
  /// checked. What passes is well formed; that says nothing about who made it,
  /// and native code in it has all the rights of the process that loads it.
  static Expected<ProgramFile> parse(Bytes bytes,
                                     const ProgramLimits &limits = {});

  /// Whether the bytes begin like a program file.
  static bool hasMagic(Bytes bytes);

  /// How many bytes a file that begins like this may have, for `readFile`:
  /// what is no program is refused before it is read.
  static ReadLimit readLimit(const ProgramLimits &limits = {});

  /// Reads a file whose program is about to run: one that `trust` does not
  /// cover is refused. By default that is any file that does not belong to the
  /// user of this process or to root, or that others may write.
  static Expected<ProgramFile> load(const std::string &path,
                                    const TrustPolicy &trust = {},
                                    const ProgramLimits &limits = {});
  /// Atomic: either the complete file is at `path` or nothing has changed.
  /// Nobody but its owner may write the file, whatever the umask says.
  Status save(const std::string &path, const SigningKey *key = nullptr) const;
};

} // namespace tracea::runtime

#endif // TRACEA_RUNTIME_PROGRAMFILE_H
