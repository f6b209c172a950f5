//===- NumericsDevice.h - Runs on memory of a device ------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a program does to memory that the host does not see. Inputs and outputs
// lie between guards of a pattern that must survive, some of them aligned to
// their elements only; outputs are poisoned, and inputs must stay as they were.

#ifndef TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICSDEVICE_H
#define TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICSDEVICE_H

#include "Numerics.h"
#include "tracea/Runtime/Executable.h"

namespace tracea::numerics {

/// Enqueues an instance on memory of `device` and compares what it leaves
/// there: empty when all is right. `bits` gets the outputs' bytes.
std::string judgeOnDevice(runtime::Execution &execution,
                          runtime::Device &device, Random &random,
                          const Instance &instance,
                          std::vector<std::vector<uint8_t>> &bits);

} // namespace tracea::numerics

#endif // TRACEA_TEST_INTEGRATION_NUMERICS_NUMERICSDEVICE_H
