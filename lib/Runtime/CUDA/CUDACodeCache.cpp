//===- CUDACodeCache.cpp - Compiled PTX on disk ---------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDACodeCache.h"

#include "CUDAModule.h"
#include "tracea/Runtime/Trust.h"

#include <cstdlib>
#include <cstring>
#include <sys/stat.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tracea::runtime::cuda {

namespace {
constexpr uint64_t mostBytes = uint64_t(256) << 20;
constexpr size_t checksumBytes = sizeof(XXH128_canonical_t);

XXH128_canonical_t checksumOf(const void *data, size_t size) {
  XXH128_canonical_t sum;
  XXH128_canonicalFromHash(&sum, XXH3_128bits(data, size));
  return sum;
}

std::string toHex(const XXH128_canonical_t &sum) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (unsigned char byte : sum.digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

/// The code in a file of the cache; nothing where it is not whole, or not the
/// user's own.
std::vector<uint8_t> readEntry(const std::string &path) {
  FileOrigin origin;
  Expected<std::vector<uint8_t>> file = readFile(path, mostBytes, &origin);
  if (!file || file->size() <= checksumBytes ||
      !checkTrust(TrustPolicy(), std::nullopt, origin).ok())
    return {};
  size_t size = file->size() - checksumBytes;
  XXH128_canonical_t sum = checksumOf(file->data(), size);
  if (std::memcmp(&sum, file->data() + size, checksumBytes) != 0)
    return {};
  file->resize(size);
  if (!checkImage(*file).ok())
    return {};
  return std::move(*file);
}

std::vector<uint8_t> link(const API &api, Bytes ptx) {
  if (!api.cuLinkCreate || !api.cuLinkAddData || !api.cuLinkComplete ||
      !api.cuLinkDestroy)
    return {};
  // The text must end with a zero byte.
  std::vector<uint8_t> text(ptx.begin(), ptx.end());
  text.push_back(0);
  LinkHandle handle = nullptr;
  if (api.cuLinkCreate(0, nullptr, nullptr, &handle) != success)
    return {};
  std::vector<uint8_t> code;
  void *made = nullptr;
  size_t bytes = 0;
  if (api.cuLinkAddData(handle, jitInputPtx, text.data(), text.size(),
                        "kernels", 0, nullptr, nullptr) == success &&
      api.cuLinkComplete(handle, &made, &bytes) == success) {
    const uint8_t *begin = static_cast<const uint8_t *>(made);
    code.assign(begin, begin + bytes);
  }
  (void)api.cuLinkDestroy(handle);
  return code;
}
} // namespace

std::string codeCacheFolder() {
  const char *folder = std::getenv("TRACEA_CACHE_DIR");
  return folder ? folder : "";
}

std::vector<uint8_t> findCompiled(const Context &context, Bytes ptx) {
  std::string folder = codeCacheFolder();
  if (folder.empty())
    return {};
  const CUDADeviceProperties &info = context.properties();
  std::string path = folder + "/" + toHex(checksumOf(ptx.data(), ptx.size())) +
                     "-" + std::to_string(info.driverVersion) + "-" +
                     info.arch() + ".cubin";
  std::vector<uint8_t> code = readEntry(path);
  if (!code.empty())
    return code;
  code = link(context.api(), ptx);
  if (code.empty() || !checkImage(code).ok())
    return {};
  // A cache that cannot be written costs time, and nothing else.
  ::mkdir(folder.c_str(), 0700);
  XXH128_canonical_t sum = checksumOf(code.data(), code.size());
  const uint8_t *tail = reinterpret_cast<const uint8_t *>(&sum);
  const Bytes pieces[] = {Bytes(code), Bytes(tail, checksumBytes)};
  (void)writeFileAtomic(path, pieces, modeOfCode);
  return code;
}

} // namespace tracea::runtime::cuda
