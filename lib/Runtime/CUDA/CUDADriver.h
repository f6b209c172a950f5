//===- CUDADriver.h - The CUDA driver library -------------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens libcuda, finds its entry points and puts its errors into words.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_RUNTIME_CUDA_CUDADRIVER_H
#define TRACEA_LIB_RUNTIME_CUDA_CUDADRIVER_H

#include "CUDATypes.h"

#include "tracea/Runtime/Status.h"

#include <memory>
#include <string>

namespace tracea::runtime::cuda {

/// The entry points; an optional one may be null.
struct API {
#define TRACEA_CUDA_SYMBOL(name, symbol, parameters)                           \
  Result(*name) parameters = nullptr;
#include "CUDASymbols.def"
};

class Driver {
public:
  /// The oldest driver that is accepted: tensor maps, clusters and
  /// cuLaunchKernelEx are in every driver from CUDA 12.0 on.
  static constexpr int minVersion = 12000;

  /// `path` names the library; empty is TRACEA_CUDA_DRIVER where that is set,
  /// else libcuda.so.1. Opens it, asks for its version and initialises it.
  static Expected<std::shared_ptr<const Driver>> open(const std::string &path);

  /// Whether the library of `open` can be opened.
  static bool isPresent(const std::string &path);

  API api;
  /// 1000 * major + 10 * minor of CUDA.
  int version = 0;
  std::string path;

  /// "CUDA_ERROR_INVALID_VALUE (1): invalid argument".
  std::string describe(Result result) const;
  /// "`call` of `subject`: " and the description; an empty subject is left out.
  Status error(Result result, const char *call,
               const std::string &subject = "") const;
};

/// 12080 as "12.8".
std::string describeVersion(int version);

/// The newest PTX version that a driver compiles: 80 for 8.0.
int ptxVersionOf(int driverVersion);

/// Whether nothing can be done with a context any more after this result.
bool isSticky(Result result);

} // namespace tracea::runtime::cuda

#endif // TRACEA_LIB_RUNTIME_CUDA_CUDADRIVER_H
