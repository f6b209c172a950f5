//===- Link.cpp - Objects into shared objects, in this process ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLD as a library. It reads and writes files by name, so both lie in a private
// directory that is removed afterwards.

#include "tracea/Target/CPU/Codegen.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

LLD_HAS_DRIVER(elf)

using namespace mlir;

FailureOr<std::vector<uint8_t>>
mlir::tracea::linkSharedObject(ArrayRef<std::string> objects,
                               std::string &message) {
  // LLD keeps its state in globals.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);

  // The directory's name cannot be guessed and only its owner may enter it.
  llvm::SmallString<128> directory;
  if (std::error_code error =
          llvm::sys::fs::createUniqueDirectory("tracea", directory)) {
    message = "cannot create a temporary directory: " + error.message();
    return failure();
  }
  llvm::scope_exit cleanup(
      [&] { (void)llvm::sys::fs::remove_directories(directory); });
  if (std::error_code error =
          llvm::sys::fs::setPermissions(directory, llvm::sys::fs::owner_all)) {
    message =
        "cannot protect '" + directory.str().str() + "': " + error.message();
    return failure();
  }
  std::vector<std::string> inputs;
  for (auto [i, object] : llvm::enumerate(objects)) {
    llvm::SmallString<128> input(directory);
    llvm::sys::path::append(input, "kernels" + std::to_string(i) + ".o");
    std::error_code error;
    llvm::raw_fd_ostream stream(input, error);
    if (!error) {
      stream << object;
      stream.close();
      error = stream.error();
      stream.clear_error();
    }
    if (error) {
      message = "cannot write '" + input.str().str() + "': " + error.message();
      return failure();
    }
    inputs.emplace_back(input.str());
  }
  llvm::SmallString<128> output(directory);
  llvm::sys::path::append(output, "kernels.so");

  std::string diagnostics;
  llvm::raw_string_ostream stream(diagnostics);
  SmallVector<const char *> arguments = {"ld.lld",
                                         "-shared",
                                         "-z",
                                         "now",
                                         "-z",
                                         "noexecstack",
                                         "-nostdlib",
                                         "--hash-style=gnu",
                                         "--gc-sections",
                                         "--build-id=none",
                                         "--threads=1",
                                         "--strip-debug",
                                         "-o",
                                         output.c_str()};
  for (const std::string &input : inputs)
    arguments.push_back(input.c_str());
  lld::DriverDef driver = {lld::Gnu, &lld::elf::link};
  lld::Result result = lld::lldMain(arguments, stream, stream, driver);
  if (result.retCode != 0) {
    message = diagnostics.empty() ? "the linker failed" : diagnostics;
    return failure();
  }
  auto file = llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file) {
    message = "cannot read '" + output.str().str() +
              "': " + file.getError().message();
    return failure();
  }
  StringRef bytes = (*file)->getBuffer();
  return std::vector<uint8_t>(bytes.bytes_begin(), bytes.bytes_end());
}
