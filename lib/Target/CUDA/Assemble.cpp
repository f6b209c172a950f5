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

struct CUDAAssembler::Impl {
  std::string assembler, arch;
  /// The text, the code, and what is said.
  SmallVector<SmallString<128>, 3> files;
  SmallVector<std::unique_ptr<llvm::FileRemover>> removers;
  /// Kernels are compiled side by side.
  bool splits = false;
  std::optional<llvm::sys::ProcessInfo> process;
  /// Why there is no process.
  std::string failure;

  bool writeText(StringRef ptx);
  void start();
  /// The exit status; negative where the process could not be waited for.
  int wait();
};

bool CUDAAssembler::Impl::writeText(StringRef ptx) {
  files.resize(3);
  for (auto [file, suffix] :
       llvm::zip(files, ArrayRef<StringRef>{"ptx", "cubin", "txt"})) {
    if (std::error_code error =
            llvm::sys::fs::createTemporaryFile("tracea", suffix, file)) {
      failure = "cannot make a temporary file: " + error.message();
      return false;
    }
    removers.push_back(std::make_unique<llvm::FileRemover>(file));
  }
  std::error_code error;
  llvm::raw_fd_ostream stream(files[0], error);
  stream << ptx;
  stream.close();
  if (!error)
    error = stream.error();
  stream.clear_error();
  if (error)
    failure = ("cannot write '" + files[0] + "': " + error.message()).str();
  return !error;
}

void CUDAAssembler::Impl::start() {
  SmallVector<StringRef> arguments = {assembler, "-v", "-O3",   arch,
                                      files[0],  "-o", files[1]};
  if (splits)
    arguments.append({"-split-compile", "0"});
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(files[2]),
                                          StringRef(files[2])};
  bool failed = false;
  process =
      llvm::sys::ExecuteNoWait(assembler, arguments, std::nullopt, redirects,
                               /*MemoryLimit=*/0, &failure, &failed);
  if (failed)
    process.reset();
}

int CUDAAssembler::Impl::wait() {
  llvm::sys::ProcessInfo ended =
      llvm::sys::Wait(*process, /*SecondsToWait=*/300, &failure);
  process.reset();
  return ended.ReturnCode;
}

CUDAAssembler::CUDAAssembler(StringRef assembler, StringRef ptx, StringRef chip)
    : impl(std::make_unique<Impl>()) {
  impl->assembler = assembler.str();
  impl->arch = ("-arch=" + chip).str();
  impl->splits = ptx.count(".entry ") > 1;
  if (impl->writeText(ptx))
    impl->start();
}

CUDAAssembler::~CUDAAssembler() {
  if (impl->process)
    impl->wait();
}

FailureOr<CUDAAssembly> CUDAAssembler::finish(std::string &message) {
  auto fail = [&](const Twine &why) {
    message = why.str();
    return failure();
  };
  auto read = [](StringRef path) -> std::string {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  };
  int status = impl->process ? impl->wait() : -1;
  // Before CUDA 12.1 it has no such option.
  if (status > 0 && impl->splits &&
      StringRef(read(impl->files[2])).contains("Unknown option")) {
    impl->splits = false;
    impl->start();
    status = impl->process ? impl->wait() : -1;
  }
  if (status != 0)
    return fail("the assembler failed: " +
                (impl->failure.empty() ? read(impl->files[2]) : impl->failure));
  CUDAAssembly result = readCUDAMessages(read(impl->files[2]));
  std::string refused;
  for (const std::string &line : result.messages)
    if (StringRef(line).contains("(C75") || StringRef(line).contains("(C76"))
      refused += (refused.empty() ? "" : "\n") + line;
  if (!refused.empty())
    return fail(refused);
  result.code = read(impl->files[1]);
  return result;
}

FailureOr<CUDAAssembly> mlir::tracea::assembleCUDA(StringRef assembler,
                                                   StringRef ptx,
                                                   StringRef chip,
                                                   std::string &message) {
  return CUDAAssembler(assembler, ptx, chip).finish(message);
}
