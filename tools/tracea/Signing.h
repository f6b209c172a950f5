//===- Signing.h - Signatures of programs -----------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TOOLS_TRACEA_SIGNING_H
#define TRACEA_TOOLS_TRACEA_SIGNING_H

#include "Support.h"
#include "tracea/Runtime/ProgramFile.h"

namespace tracea::driver {

/// The bytes of the program that `bytes` are, signed.
Expected<std::vector<uint8_t>> signProgram(const std::vector<uint8_t> &bytes,
                                           const runtime::SigningKey &key);

} // namespace tracea::driver

#endif // TRACEA_TOOLS_TRACEA_SIGNING_H
