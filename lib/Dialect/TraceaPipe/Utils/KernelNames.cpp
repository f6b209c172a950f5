//===- KernelNames.cpp - Names for new kernels ----------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Dialect/TraceaPipe/Utils/KernelNames.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

std::string KernelNames::take(StringRef stem) {
  unsigned &number = next[stem];
  std::string name;
  do
    name = (stem + "_" + Twine(number++)).str();
  while (symbols.lookup(name));
  return name;
}
