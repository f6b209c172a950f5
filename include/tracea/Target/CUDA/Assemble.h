//===- Assemble.h - Machine code from PTX -----------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TARGET_CUDA_ASSEMBLE_H
#define TRACEA_TARGET_CUDA_ASSEMBLE_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir::tracea {

/// What the assembler says of one kernel.
struct CUDAKernelUse {
  std::string name;
  int64_t registers = 0;
  int64_t stackBytes = 0, spillStoreBytes = 0, spillLoadBytes = 0;
  int64_t sharedBytes = 0, barriers = 0;
};

struct CUDAAssembly {
  /// An ELF file.
  std::string code;
  std::vector<CUDAKernelUse> kernels;
  /// Other messages of the assembler, a line each.
  std::vector<std::string> messages;
};

/// The path of the assembler: in `CUDA_HOME`, on the path, or where it is
/// installed by default. Nothing where there is none; drivers assemble too.
std::optional<std::string> findCUDAAssembler();

/// The assembler at work on some PTX, in a process of its own: the caller goes
/// on with something else meanwhile.
class CUDAAssembler {
public:
  CUDAAssembler(StringRef assembler, StringRef ptx, StringRef chip);
  /// Waits for the process.
  ~CUDAAssembler();
  CUDAAssembler(const CUDAAssembler &) = delete;
  CUDAAssembler &operator=(const CUDAAssembler &) = delete;

  /// Waits; to be called once. Fails, with what was said in `message`, on
  /// errors, and where the code would be wrong or far slower than written:
  /// multiplies of the matrix unit that are serialized, register budgets that
  /// are ignored (C75xx).
  FailureOr<CUDAAssembly> finish(std::string &message);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// Assembles PTX, and waits for it.
FailureOr<CUDAAssembly> assembleCUDA(StringRef assembler, StringRef ptx,
                                     StringRef chip, std::string &message);

/// Reads what `-v` makes the assembler say.
CUDAAssembly readCUDAMessages(StringRef text);

} // namespace mlir::tracea

#endif // TRACEA_TARGET_CUDA_ASSEMBLE_H
