//===- Inputs.h - Tensors that a run is given -------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TOOLS_RUNNING_INPUTS_H
#define TRACEA_TOOLS_RUNNING_INPUTS_H

#include "Support.h"

namespace tracea::driver {

struct InputOptions {
  std::vector<std::string> inputs;
  /// "0=128x256": the sizes of a random input.
  std::vector<std::string> shapes;
  bool random = false;
  /// The seed as it was given: a number of 64 bits.
  std::string seed = "0";
};

struct InputTensor {
  runtime::Tensor tensor;
  /// The file, or "random, seed 0".
  std::string origin;
};

/// An integer of at least 0, and nothing behind it.
bool parseInteger(const std::string &text, int64_t &value);

/// Reads or makes what the entry takes, and compares it with that.
Expected<std::vector<InputTensor>> makeInputs(const runtime::EntrySpec &entry,
                                              const InputOptions &options);

} // namespace tracea::driver

#endif // TRACEA_TOOLS_RUNNING_INPUTS_H
