//===- CUDAModule.h - Code and kernels --------------------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads machine code (cubin) or PTX, which the driver compiles.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_RUNTIME_CUDA_CUDAMODULE_H
#define TRACEA_LIB_RUNTIME_CUDA_CUDAMODULE_H

#include "CUDAContext.h"

#include <map>
#include <optional>
#include <string>

namespace tracea::runtime::cuda {

/// How many parameters each kernel of a piece of code takes. `code` has passed
/// `checkImage`; a kernel that is not found in it is not known.
using ParameterCounts = std::map<std::string, size_t>;
ParameterCounts countParameters(Bytes code);

/// Keeps the module that it comes from. Everything that a launch needs and
/// that does not change is laid out when the kernel is made.
class CUDAKernel final : public Kernel {
public:
  CUDAKernel(std::shared_ptr<Context> context, std::shared_ptr<Module> module,
             const std::string &symbol, const KernelConfig &config);
  /// Finds the function and compares what is asked for with what the device
  /// and the code allow. The code takes `parameters`, where that is known.
  Status prepare(ModuleHandle module, std::optional<size_t> parameters);

  Status checkParameters(Span<const int64_t> bytes) const override;
  Expected<Grid> fitGrid(const Grid &grid) const override;

  /// Enqueues; nothing is allocated and nothing waits.
  Status launch(StreamHandle stream, unsigned x, unsigned y, unsigned z,
                void **parameters) const;
  const Context *owner() const { return context.get(); }
  const std::string &displayName() const { return name; }

private:
  Status checkLimits() const;
  Status fail(const std::string &what) const;

  std::shared_ptr<Context> context;
  std::shared_ptr<Module> module;
  std::string name;
  KernelConfig config;
  FunctionHandle function = nullptr;
  /// Complete but for grid and stream.
  LaunchConfig prototype = {};
  LaunchAttribute attributes[2] = {};
  /// Sizes of the parameters, where code and driver tell them.
  std::vector<int64_t> parameterBytes;
  bool parametersKnown = false;
};

class CUDAModule final : public Module,
                         public std::enable_shared_from_this<CUDAModule> {
public:
  static Expected<std::shared_ptr<Module>>
  load(std::shared_ptr<Context> context, Bytes code);
  ~CUDAModule() override;

protected:
  Expected<std::shared_ptr<Kernel>>
  doKernel(const std::string &symbol, const KernelConfig &config) override;

private:
  explicit CUDAModule(std::shared_ptr<Context> context)
      : context(std::move(context)) {}
  std::shared_ptr<Context> context;
  ModuleHandle handle = nullptr;
  ParameterCounts parameterCounts;
};

/// The best of `images` for a device of compute capability `capability` (90
/// for 9.0) whose driver compiles PTX up to `ptxVersion` (80 for 8.0): machine
/// code before PTX, code for one chip before code for several, newer before
/// older.
Expected<size_t> chooseImage(Span<const ImageSpec> images, int capability,
                             int ptxVersion);

/// "sm_90a": a capability and a suffix, 'a', 'f' or 0.
struct Arch {
  int capability = 0;
  char suffix = 0;
};
std::optional<Arch> parseArch(const std::string &text);

/// Machine code that is complete, or PTX text with a kernel in it. The driver
/// is told no size, so that what is cut off must not reach it.
Status checkImage(Bytes code);

} // namespace tracea::runtime::cuda

#endif // TRACEA_LIB_RUNTIME_CUDA_CUDAMODULE_H
