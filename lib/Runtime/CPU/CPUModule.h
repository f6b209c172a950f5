//===- CPUModule.h - Native code from memory --------------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared objects and the kernels in them.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_RUNTIME_CPU_CPUMODULE_H
#define TRACEA_LIB_RUNTIME_CPU_CPUMODULE_H

#include "tracea/Runtime/Device.h"

namespace tracea::runtime {

class CPUModule final : public Module,
                        public std::enable_shared_from_this<CPUModule> {
public:
  static Expected<std::shared_ptr<Module>> load(Bytes code, bool throughFile);
  ~CPUModule() override;

protected:
  Expected<std::shared_ptr<Kernel>>
  doKernel(const std::string &symbol, const KernelConfig &config) override;

private:
  CPUModule() = default;
  Status openFromMemory(Bytes code);
  Status openFromFile(Bytes code);

  void *handle = nullptr;
  int fd = -1;
};

class CPUKernel final : public Kernel {
public:
  using Function = void (*)(const int64_t *args, int64_t tileBegin,
                            int64_t tileEnd, void *workspace);
  CPUKernel(std::shared_ptr<CPUModule> module, std::string symbol,
            Function function, int64_t workspaceBytes,
            std::vector<std::string> assertions)
      : Kernel(std::move(symbol)), function(function),
        workspaceBytes(workspaceBytes), assertions(std::move(assertions)),
        module(std::move(module)) {}

  /// Before a thread runs its first tile.
  void clearAssertions(void *workspace) const;
  /// After its last one: the assertion that failed there, if any.
  Status getFailedAssertion(const void *workspace) const;

  const Function function;
  const int64_t workspaceBytes;
  /// What the kernel asserts of its data. A failure is left in the last 64
  /// bytes of the workspace: the number of the text, from 1, then what {0} and
  /// {1} of the text stand for.
  const std::vector<std::string> assertions;

private:
  std::shared_ptr<CPUModule> module;
};

} // namespace tracea::runtime

#endif // TRACEA_LIB_RUNTIME_CPU_CPUMODULE_H
