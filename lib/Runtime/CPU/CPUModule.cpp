//===- CPUModule.cpp - Native code from memory ----------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A shared object is opened from an anonymous memory file, so that nothing is
// left behind and nobody else can change it; where the system has none, from
// a private temporary file that is removed at once.
//
//===----------------------------------------------------------------------===//

#include "CPUModule.h"

#include "../Core/Assertions.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tracea::runtime {

namespace {

/// The beginning of a shared object for this machine, so that the loader's own
/// errors are left for finer things.
Status checkElf(Bytes code) {
  Elf64_Ehdr header;
  if (code.size() < sizeof header)
    return Status::error("expected a shared object, found " +
                         std::to_string(code.size()) + " bytes");
  std::memcpy(&header, code.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB)
    return Status::error(
        "expected a little-endian 64-bit ELF file, found something else");
#if defined(__x86_64__)
  constexpr Elf64_Half machine = EM_X86_64;
#elif defined(__aarch64__)
  constexpr Elf64_Half machine = EM_AARCH64;
#else
  const Elf64_Half machine = header.e_machine;
#endif
  if (header.e_machine != machine)
    return Status::error("expected code for ELF machine " +
                         std::to_string(machine) + ", found " +
                         std::to_string(header.e_machine));
  if (header.e_type != ET_DYN)
    return Status::error("expected a shared object (ELF type 3), found type " +
                         std::to_string(header.e_type));
  // The loader believes the program headers; at least they must be there.
  uint64_t tableEnd = 0;
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 ||
      __builtin_add_overflow(header.e_phoff,
                             uint64_t(header.e_phnum) * header.e_phentsize,
                             &tableEnd) ||
      tableEnd > code.size())
    return Status::error("the ELF program headers are not in the file");
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, code.data() + header.e_phoff + i * sizeof segment,
                sizeof segment);
    uint64_t end = 0;
    if (__builtin_add_overflow(segment.p_offset, segment.p_filesz, &end) ||
        (segment.p_type == PT_LOAD && end > code.size()))
      return Status::error("ELF segment " + std::to_string(i) +
                           " goes beyond the end of the file");
  }
  return Status::success();
}

bool writeAll(int fd, Bytes bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t n = ::write(fd, bytes.data() + done,
                        std::min<size_t>(bytes.size() - done, 1 << 30));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    done += static_cast<size_t>(n);
  }
  return true;
}

std::string loaderError() {
  const char *text = ::dlerror();
  return text ? text : "the loader gave no reason";
}

} // namespace

CPUModule::~CPUModule() {
  if (handle)
    ::dlclose(handle);
  if (fd >= 0)
    ::close(fd);
}

Status CPUModule::openFromMemory(Bytes code) {
  fd = ::memfd_create("tracea-kernels", MFD_CLOEXEC);
  if (fd < 0 || !writeAll(fd, code))
    return Status::error(std::string("memory file: ") + std::strerror(errno));
  // The loader knows objects by their path. The descriptor stays open for the
  // module's life, so that its number names no other module meanwhile; an
  // object that could not be unloaded earlier may still hold the name, and
  // then another number is taken.
  while (true) {
    std::string path = "/proc/self/fd/" + std::to_string(fd);
    void *other = ::dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (!other) {
      (void)::dlerror();
      handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      return handle ? Status::success() : Status::error(loaderError());
    }
    ::dlclose(other);
    int higher = ::fcntl(fd, F_DUPFD_CLOEXEC, fd + 1);
    if (higher < 0)
      return Status::error(std::string("memory file: ") + std::strerror(errno));
    ::close(fd);
    fd = higher;
  }
}

Status CPUModule::openFromFile(Bytes code) {
  const char *folder = std::getenv("TMPDIR");
  std::string path = std::string(folder && *folder ? folder : "/tmp") +
                     "/tracea-kernels-XXXXXX";
  // mkstemp gives mode 0600: no other user can put code into it.
  int file = ::mkostemp(path.data(), O_CLOEXEC);
  if (file < 0)
    return Status::error(path + ": " + std::strerror(errno));
  bool written = writeAll(file, code);
  int reason = errno;
  ::close(file);
  if (written)
    handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  Status status = handle    ? Status::success()
                  : written ? Status::error(loaderError())
                            : Status::error(path + ": " + strerror(reason));
  ::unlink(path.c_str());
  return status;
}

Expected<std::shared_ptr<Module>> CPUModule::load(Bytes code,
                                                  bool throughFile) {
  TRACEA_RETURN_IF_ERROR(checkElf(code).withContext("native code"));
  std::shared_ptr<CPUModule> module(new CPUModule);
  if (!throughFile) {
    Status fromMemory = module->openFromMemory(code);
    if (fromMemory.ok())
      return std::shared_ptr<Module>(module);
    if (module->fd >= 0)
      ::close(module->fd);
    module->fd = -1;
  }
  TRACEA_RETURN_IF_ERROR(module->openFromFile(code).withContext("native code"));
  return std::shared_ptr<Module>(module);
}

/// The bytes of a workspace that tell of a failed assertion.
static constexpr int64_t recordBytes = 64;

/// The texts of a kernel's assertions: the place of the record in the workspace
/// in 8 bytes, then texts, each with a zero behind it, and an empty one.
static Expected<std::vector<std::string>>
readAssertions(const char *data, int64_t workspaceBytes) {
  int64_t offset = 0;
  std::memcpy(&offset, data, sizeof offset);
  if (offset < 0 || offset != workspaceBytes - recordBytes)
    return Status::error(
        "expected room for failed assertions in the last " +
        std::to_string(recordBytes) + " bytes of the workspace, found it at " +
        std::to_string(offset) + " of " + std::to_string(workspaceBytes));
  std::vector<std::string> texts;
  for (const char *text = data + sizeof offset; *text;
       text += texts.back().size() + 1)
    texts.emplace_back(text);
  return texts;
}

Expected<std::shared_ptr<Kernel>>
CPUModule::doKernel(const std::string &symbol, const KernelConfig &config) {
  (void)::dlerror();
  void *address = ::dlsym(handle, symbol.c_str());
  if (!address)
    return Status::error("the code defines no symbol \"" + symbol +
                         "\": " + loaderError());
  std::vector<std::string> assertions;
  if (void *texts = ::dlsym(handle, (symbol + ".assertions").c_str())) {
    Expected<std::vector<std::string>> read =
        readAssertions(static_cast<const char *>(texts), config.workspaceBytes);
    if (!read)
      return read.status().withContext("kernel \"" + symbol + "\"");
    assertions = std::move(*read);
  }
  (void)::dlerror();
  return std::shared_ptr<Kernel>(std::make_shared<CPUKernel>(
      shared_from_this(), symbol,
      reinterpret_cast<CPUKernel::Function>(address), config.workspaceBytes,
      std::move(assertions)));
}

void CPUKernel::clearAssertions(void *workspace) const {
  if (!assertions.empty())
    std::memset(static_cast<char *>(workspace) + workspaceBytes - recordBytes,
                0, recordBytes);
}

Status CPUKernel::getFailedAssertion(const void *workspace) const {
  if (assertions.empty())
    return Status::success();
  int64_t record[3];
  std::memcpy(record,
              static_cast<const char *>(workspace) + workspaceBytes -
                  recordBytes,
              sizeof record);
  if (record[0] == 0)
    return Status::success();
  size_t number = static_cast<size_t>(record[0] - 1);
  std::string text =
      number < assertions.size() ? assertions[number] : "an assertion failed";
  return Status::error(fillAssertion(std::move(text), record[1], record[2]));
}

} // namespace tracea::runtime
