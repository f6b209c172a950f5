//===- File.cpp - Bounded reads and atomic writes of files ----------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A write goes to a temporary file beside its destination, which takes the
// destination's name only when all bytes are on the disk.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/File.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/stat.h>
#include <unistd.h>

namespace tracea::runtime {

namespace {
/// Closes a descriptor on all paths.
struct Descriptor {
  int fd = -1;
  explicit Descriptor(int fd) : fd(fd) {}
  ~Descriptor() {
    if (fd >= 0)
      ::close(fd);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
};

Status systemError(const std::string &path, const char *what) {
  return Status::error(path + ": " + what + ": " + std::strerror(errno));
}

Status writeAll(int fd, const std::string &path, Span<const Bytes> pieces) {
  for (Bytes piece : pieces) {
    size_t done = 0;
    while (done < piece.size()) {
      // Linux moves at most 2^31 - 4096 bytes a call.
      size_t chunk = std::min<size_t>(piece.size() - done, size_t(1) << 30);
      ssize_t n = ::write(fd, piece.data() + done, chunk);
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return systemError(path, "cannot write");
      done += static_cast<size_t>(n);
    }
  }
  return Status::success();
}
} // namespace

Expected<std::vector<uint8_t>> readDescriptor(int fd, const std::string &name,
                                              const ReadLimit &limitOf,
                                              FileOrigin *origin) {
  struct stat info;
  if (::fstat(fd, &info) != 0)
    return systemError(name, "cannot stat");
  if (S_ISDIR(info.st_mode))
    return Status::error(name + ": expected a file, found a directory");
  bool isFile = S_ISREG(info.st_mode);
  if (origin && isFile)
    *origin = {true, static_cast<uint32_t>(info.st_uid),
               static_cast<uint32_t>(info.st_mode & 07777)};
  uint64_t limit = isFile ? ~uint64_t(0) : maxStreamBytes;
  auto tooLong = [&] {
    return Status::error(name + ": expected at most " + std::to_string(limit) +
                         " bytes, found more");
  };
  constexpr size_t firstBytes = 4096, headBytes = 64;
  bool asked = false;
  try {
    // The length that a file says it has is believed when its first bytes have
    // said how much it may have. Files of /proc have content and no length.
    std::vector<uint8_t> bytes(firstBytes);
    size_t done = 0;
    while (true) {
      size_t chunk = std::min<size_t>(bytes.size() - done, size_t(1) << 30);
      ssize_t n = ::read(fd, bytes.data() + done, chunk);
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return systemError(name, "cannot read");
      done += static_cast<size_t>(n);
      if (!asked && (n == 0 || done >= headBytes)) {
        Expected<uint64_t> most = limitOf(Bytes(bytes.data(), done));
        if (!most)
          return most.status().withContext(name);
        limit = std::min(limit, *most);
        asked = true;
        // One byte more than there should be: the read that finds the end.
        if (isFile && info.st_size > 0) {
          uint64_t known = static_cast<uint64_t>(info.st_size);
          if (known > limit)
            return tooLong();
          bytes.resize(std::max<uint64_t>(known + 1, done));
        }
      }
      if (asked && done > limit)
        return tooLong();
      if (n == 0)
        break;
      if (done == bytes.size())
        bytes.resize(bytes.size() * 2);
    }
    bytes.resize(done);
    return bytes;
  } catch (const std::bad_alloc &) {
    return Status::outOfMemory(name + ": out of memory");
  }
}

Expected<std::vector<uint8_t>>
readFile(const std::string &path, const ReadLimit &limit, FileOrigin *origin) {
  // A pipe without a writer is waited for, as everywhere.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd < 0)
    return systemError(path, "cannot open");
  return readDescriptor(file.fd, path, limit, origin);
}

Expected<std::vector<uint8_t>> readFile(const std::string &path, uint64_t limit,
                                        FileOrigin *origin) {
  return readFile(
      path, [limit](Bytes) -> Expected<uint64_t> { return limit; }, origin);
}

Status createFile(const std::string &path, Bytes bytes, uint32_t mode) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                         static_cast<mode_t>(mode)));
  if (file.fd < 0)
    return systemError(path, "cannot create");
  Status status = writeAll(file.fd, path, {bytes});
  if (status.ok() && ::fsync(file.fd) != 0)
    status = systemError(path, "cannot flush");
  if (!status.ok())
    ::unlink(path.c_str());
  return status;
}

Status writeFileAtomic(const std::string &path, Span<const Bytes> pieces,
                       uint32_t mode) {
  struct stat info;
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    if (S_ISDIR(info.st_mode))
      return Status::error(path + ": expected a file, found a directory");
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.fd < 0)
      return systemError(path, "cannot open");
    return writeAll(file.fd, path, pieces);
  }

  // A name of our own rather than mkstemp's, so that the file gets the mode
  // that the process's umask asks for.
  static std::atomic<uint64_t> serial{0};
  std::string temporary;
  int fd = -1;
  for (int attempt = 0; attempt < 64 && fd < 0; ++attempt) {
    uint64_t now = static_cast<uint64_t>(
        std::chrono::steady_clock::now().time_since_epoch().count());
    temporary = path + ".tmp-" + std::to_string(::getpid()) + "-" +
                std::to_string(serial++) + "-" + std::to_string(now % 1000003);
    fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                static_cast<mode_t>(mode));
    if (fd < 0 && errno != EEXIST)
      break;
  }
  if (fd < 0)
    return systemError(path, "cannot create a temporary file beside it");

  Status status = writeAll(fd, path, pieces);
  if (status.ok() && ::fsync(fd) != 0)
    status = systemError(path, "cannot flush");
  if (::close(fd) != 0 && status.ok())
    status = systemError(path, "cannot close");
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0)
    status = systemError(path, "cannot rename the temporary file to it");
  if (!status.ok()) {
    ::unlink(temporary.c_str());
    return status;
  }

  // The new name is durable once the directory is; some file systems refuse to
  // flush directories, and then the file is complete all the same.
  size_t slash = path.rfind('/');
  std::string directory = slash == std::string::npos
                              ? "."
                              : path.substr(0, std::max<size_t>(slash, 1));
  Descriptor folder(
      ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.fd >= 0)
    (void)::fsync(folder.fd);
  return Status::success();
}

} // namespace tracea::runtime
