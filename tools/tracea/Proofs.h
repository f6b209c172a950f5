//===- Proofs.h - What programs claim of their kernels ----------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TOOLS_TRACEA_PROOFS_H
#define TRACEA_TOOLS_TRACEA_PROOFS_H

#include "Support.h"
#include "tracea/Analysis/Recheck.h"
#include "tracea/Runtime/Manifest.h"

namespace tracea::driver {

/// Fails where a kernel of a program lacks a certificate that the compiler
/// would have made, with the reason that it left.
Status requireProofs(const std::string &source,
                     const runtime::Manifest &manifest);

/// A certificate that was decided again, and what came of it.
struct Recheck {
  std::string kernel, check;
  analysis::RecheckResult result;
};
std::vector<Recheck> recheckAll(const runtime::Manifest &manifest);

/// A table, and a line for each certificate that was not confirmed.
std::string describeRechecks(const runtime::Manifest &manifest,
                             const std::vector<Recheck> &rechecks);
nlohmann::ordered_json rechecksToJSON(const std::vector<Recheck> &rechecks);
/// Fails unless all certificates are confirmed.
Status demandConfirmed(const std::string &source,
                       const std::vector<Recheck> &rechecks);

} // namespace tracea::driver

#endif // TRACEA_TOOLS_TRACEA_PROOFS_H
