//===- Codegen.h - Machine code for the CPU's kernels -----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TARGET_CPU_CODEGEN_H
#define TRACEA_TARGET_CPU_CODEGEN_H

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace mlir::tracea {

/// What LLVM needs to know of the machine.
struct CPUMachine {
  std::string triple;
  std::string cpu;
  /// LLVM's attribute string, "+avx2,-avx512f".
  std::string features;
  /// Bits of the vectors that the vectorizers should prefer; 0: LLVM's choice.
  unsigned vectorBits = 0;

  /// From the module's `tracea.target`; an error at the module without one or
  /// with one of another kind.
  static FailureOr<CPUMachine> get(ModuleOp module);
};

enum class CPUOutput { LLVMIR, Assembly, Object };

/// Translates a module of the LLVM dialect, optimizes it for `machine` and
/// returns the text or the object file. Floating-point flags come from the IR
/// alone: nothing is reassociated or contracted that does not say so.
FailureOr<std::string> generateCode(ModuleOp module, const CPUMachine &machine,
                                    CPUOutput output);

/// The same as several object files, which the context's threads compile beside
/// one another. Files and their order depend on the module alone.
FailureOr<std::vector<std::string>> generateObjects(ModuleOp module,
                                                    const CPUMachine &machine);

/// Links ELF objects into a shared object without running another program.
/// Symbols of libc and libm stay undefined; the process that loads it has them.
/// On failure `message` holds what the linker said. Safe to call from several
/// threads, one of which links at a time. The linker sets all options of
/// llvm::cl back to their defaults: a program that uses them must have read
/// them before.
FailureOr<std::vector<uint8_t>> linkSharedObject(ArrayRef<std::string> objects,
                                                 std::string &message);

} // namespace mlir::tracea

#endif // TRACEA_TARGET_CPU_CODEGEN_H
