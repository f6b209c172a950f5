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

Expected<std::vector<uint8_t>> readFile(const std::string &path,
                                        uint64_t limit) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.fd < 0)
    return systemError(path, "cannot open");
  struct stat info;
  if (::fstat(file.fd, &info) != 0)
    return systemError(path, "cannot stat");
  if (S_ISDIR(info.st_mode))
    return Status::error(path + ": expected a file, found a directory");
  auto tooLong = [&] {
    return Status::error(path + ": expected at most " + std::to_string(limit) +
                         " bytes, found more");
  };
  uint64_t known =
      S_ISREG(info.st_mode) ? static_cast<uint64_t>(info.st_size) : 0;
  if (known > limit)
    return tooLong();
  try {
    std::vector<uint8_t> bytes(std::max<uint64_t>(known, 4096));
    size_t done = 0;
    while (true) {
      if (done == bytes.size()) {
        // Full: only a further byte says whether this is the end.
        uint8_t extra;
        ssize_t n = ::read(file.fd, &extra, 1);
        if (n < 0 && errno == EINTR)
          continue;
        if (n < 0)
          return systemError(path, "cannot read");
        if (n == 0)
          break;
        if (done >= limit)
          return tooLong();
        bytes.resize(bytes.size() * 2);
        bytes[done++] = extra;
        continue;
      }
      size_t chunk = std::min<size_t>(bytes.size() - done, size_t(1) << 30);
      ssize_t n = ::read(file.fd, bytes.data() + done, chunk);
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return systemError(path, "cannot read");
      if (n == 0)
        break;
      done += static_cast<size_t>(n);
      if (done > limit)
        return tooLong();
    }
    bytes.resize(done);
    return bytes;
  } catch (const std::bad_alloc &) {
    return Status::error(path + ": out of memory");
  }
}

Status writeFileAtomic(const std::string &path, Span<const Bytes> pieces) {
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
                0666);
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
