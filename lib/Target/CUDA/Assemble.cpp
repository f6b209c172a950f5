//===- Assemble.cpp - Machine code from PTX -------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Target/CUDA/Assemble.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::tracea;

std::optional<std::string> mlir::tracea::findCUDAAssembler() {
  SmallVector<std::string> folders;
  for (const char *name : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *home = std::getenv(name))
      folders.push_back(std::string(home) + "/bin");
  folders.push_back("/usr/local/cuda/bin");
  if (llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName("ptxas"))
    return *path;
  SmallVector<StringRef> paths(folders.begin(), folders.end());
  if (llvm::ErrorOr<std::string> path =
          llvm::sys::findProgramByName("ptxas", paths))
    return *path;
  return std::nullopt;
}

/// The number before `what` in "384 bytes stack frame, 16 bytes spill stores".
static int64_t getNumberBefore(StringRef line, StringRef what) {
  size_t at = line.find(what);
  if (at == StringRef::npos)
    return 0;
  StringRef before = line.take_front(at).rtrim();
  int64_t value = 0;
  before.substr(before.find_last_not_of("0123456789") + 1)
      .getAsInteger(10, value);
  return value;
}

CUDAAssembly mlir::tracea::readCUDAMessages(StringRef text) {
  CUDAAssembly result;
  SmallVector<StringRef> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    auto [before, after] = line.split("Compiling entry function '");
    if (!after.empty()) {
      CUDAKernelUse use;
      use.name = after.take_until([](char c) { return c == '\''; }).str();
      result.kernels.push_back(std::move(use));
      continue;
    }
    bool isStack = line.contains("bytes stack frame");
    bool isUse = line.contains("Used ") && line.contains(" registers");
    if ((isStack || isUse) && !result.kernels.empty()) {
      CUDAKernelUse &use = result.kernels.back();
      if (isStack) {
        use.stackBytes = getNumberBefore(line, " bytes stack frame");
        use.spillStoreBytes = getNumberBefore(line, " bytes spill stores");
        use.spillLoadBytes = getNumberBefore(line, " bytes spill loads");
      } else {
        use.registers = getNumberBefore(line, " registers");
        use.sharedBytes = getNumberBefore(line, " bytes smem");
        use.barriers = getNumberBefore(line, " barriers");
      }
      continue;
    }
    if (line.contains("Function properties for") ||
        line.contains("bytes gmem") || line.contains("Compile time"))
      continue;
    result.messages.push_back(line.trim().str());
  }
  return result;
}

FailureOr<CUDAAssembly> mlir::tracea::assembleCUDA(StringRef assembler,
                                                   StringRef ptx,
                                                   StringRef chip,
                                                   std::string &message) {
  auto fail = [&](const Twine &why) {
    message = why.str();
    return failure();
  };
  SmallVector<SmallString<128>, 3> files(3);
  SmallVector<std::unique_ptr<llvm::FileRemover>> removers;
  for (auto [file, suffix] :
       llvm::zip(files, ArrayRef<StringRef>{"ptx", "cubin", "txt"})) {
    if (std::error_code error =
            llvm::sys::fs::createTemporaryFile("tracea", suffix, file))
      return fail("cannot make a temporary file: " + error.message());
    removers.push_back(std::make_unique<llvm::FileRemover>(file));
  }
  {
    std::error_code error;
    llvm::raw_fd_ostream stream(files[0], error);
    if (error)
      return fail("cannot write '" + files[0] + "': " + error.message());
    stream << ptx;
  }
  std::string arch = ("-arch=" + chip).str();
  SmallVector<StringRef> arguments = {assembler, "-v", "-O3",   arch,
                                      files[0],  "-o", files[1]};
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(files[2]),
                                          StringRef(files[2])};
  std::string error;
  int status = llvm::sys::ExecuteAndWait(assembler, arguments, std::nullopt,
                                         redirects, /*SecondsToWait=*/300,
                                         /*MemoryLimit=*/0, &error);
  auto read = [](StringRef path) -> std::string {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  };
  std::string said = read(files[2]);
  if (status != 0)
    return fail("the assembler failed: " + (error.empty() ? said : error));
  CUDAAssembly result = readCUDAMessages(said);
  std::string refused;
  for (const std::string &line : result.messages)
    if (StringRef(line).contains("(C75") || StringRef(line).contains("(C76"))
      refused += (refused.empty() ? "" : "\n") + line;
  if (!refused.empty())
    return fail(refused);
  result.code = read(files[1]);
  return result;
}
