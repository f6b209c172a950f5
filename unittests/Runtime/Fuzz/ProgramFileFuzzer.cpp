//===- ProgramFileFuzzer.cpp - Arbitrary bytes as a program ---------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three doors: the bytes as a container; a valid container with patches whose
// checksums are made right again, so that the checks behind them are reached;
// and valid manifests, of the CPU and of a GPU, with patched text. Whatever is
// accepted must serialize to something that is accepted again and means the
// same.
//
//===----------------------------------------------------------------------===//

#include "../TestPrograms.h"

#include "tracea/Runtime/Expr.h"

#include <cstdlib>
#include <cstring>
#include <limits>

#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace tracea::runtime;

static void require(bool condition) {
  if (!condition)
    std::abort();
}

/// Evaluates an accepted entry on odd shapes: no index may be out of place.
static void evaluate(const EntrySpec &entry) {
  std::vector<std::vector<int64_t>> shapes;
  for (const InputSpec &input : entry.inputs) {
    shapes.push_back(input.shape);
    for (int64_t &size : shapes.back())
      if (size == dynamicSize)
        size = int64_t(1) << 33;
  }
  std::vector<const std::vector<int64_t> *> pointers;
  for (const std::vector<int64_t> &shape : shapes)
    pointers.push_back(&shape);
  ExprValues values;
  std::vector<int64_t> scalars(shapes.size(),
                               std::numeric_limits<int64_t>::max());
  values.evaluate(entry.exprs, pointers, scalars);
  for (size_t i = 0; i < entry.exprs.size(); ++i) {
    Expected<int64_t> value = values.get(static_cast<int64_t>(i));
    require(value || !value.message().empty());
  }
}

static void parseAndCheck(Bytes bytes) {
  Expected<ProgramFile> program = ProgramFile::parse(bytes);
  if (!program) {
    require(!program.message().empty());
    return;
  }
  for (const EntrySpec &entry : program->manifest.entries)
    evaluate(entry);
  Expected<std::vector<uint8_t>> written = program->serialize();
  require(written.ok());
  Expected<ProgramFile> again = ProgramFile::parse(*written);
  require(again.ok());
  require(again->blobs == program->blobs);
  require(*toJSON(again->manifest) == *toJSON(program->manifest));
}

static void putChecksum(uint8_t *to, const std::vector<uint8_t> &bytes) {
  XXH128_canonical_t sum;
  XXH128_canonicalFromHash(&sum, XXH3_128bits(bytes.data(), bytes.size()));
  std::memcpy(to, sum.digest, sizeof sum.digest);
}

/// Makes the checksums of a patched container right, as far as its table can
/// be followed.
static void forge(std::vector<uint8_t> &bytes) {
  uint32_t count = 0;
  std::memcpy(&count, bytes.data() + 12, 4);
  if (count > (bytes.size() - 64) / 48)
    return;
  for (uint32_t i = 0; i < count; ++i) {
    uint8_t *entry = bytes.data() + 64 + 48 * i;
    uint64_t offset = 0, size = 0;
    std::memcpy(&offset, entry + 8, 8);
    std::memcpy(&size, entry + 16, 8);
    if (offset <= bytes.size() && size <= bytes.size() - offset)
      putChecksum(entry + 24, std::vector<uint8_t>(
                                  bytes.begin() + ptrdiff_t(offset),
                                  bytes.begin() + ptrdiff_t(offset + size)));
  }
  std::vector<uint8_t> head(bytes.begin(), bytes.begin() + 48);
  head.insert(head.end(), bytes.begin() + 64,
              bytes.begin() + 64 + ptrdiff_t(48) * count);
  putChecksum(bytes.data() + 48, head);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::vector<uint8_t> valid[] = {
      *test::describedProgram().serialize(),
      *test::describedVersions().serialize()};
  static const std::string jsons[] = {
      *toJSON(test::describedProgram().manifest),
      *toJSON(test::describedGPUProgram().manifest)};
  parseAndCheck(Bytes(data, size));

  std::vector<uint8_t> patched = valid[size % 2];
  for (size_t i = 0; i + 2 < size && i < 48; i += 3)
    patched[(data[i] | size_t(data[i + 1]) << 8) % patched.size()] =
        data[i + 2];
  forge(patched);
  parseAndCheck(patched);

  // The input's text over, or in the middle of, the manifest's.
  if (size >= 4) {
    std::string text = jsons[data[2] / 16 % 2];
    size_t at = (data[0] | size_t(data[1]) << 8) % text.size();
    size_t cut = std::min<size_t>(data[2] % 16, text.size() - at);
    text.replace(at, cut, reinterpret_cast<const char *>(data) + 3,
                 std::min<size_t>(size - 3, 64));
    Expected<Manifest> manifest = manifestFromJSON(text);
    if (manifest) {
      const uint64_t blobSizes[] = {5, 32};
      if (validate(*manifest, blobSizes).ok()) {
        Expected<std::string> written = toJSON(*manifest);
        require(written.ok());
        Expected<Manifest> again = manifestFromJSON(*written);
        require(again && *toJSON(*again) == *written);
        for (const EntrySpec &entry : manifest->entries)
          evaluate(entry);
      }
    }
  }
  return 0;
}
