//===- Trust.h - Whose programs may run -------------------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program holds machine code, and no check of what stands around that code
// makes it safe to run. What can be known is whose it is: the owner of its
// file, or who signed it.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_RUNTIME_TRUST_H
#define TRACEA_RUNTIME_TRUST_H

#include "tracea/Runtime/File.h"
#include "tracea/Runtime/Signature.h"

#include <optional>
#include <vector>

namespace tracea::runtime {

/// A program is trusted that satisfies one of these.
struct TrustPolicy {
  /// Files that belong to the user of this process or to root, and that nobody
  /// else may write.
  bool owner = true;
  /// All of them: for code that comes from the caller itself, and for programs
  /// that are only looked at.
  bool anybody = false;
  /// Signed by one of these keys, wherever they came from.
  std::vector<PublicKey> keys;

  static TrustPolicy everything() { return {false, true, {}}; }
  static TrustPolicy nothing() { return {false, false, {}}; }
};

/// Fails with the reason where the policy does not trust a program that was
/// signed by `signer`, if anybody, and came from there.
Status checkTrust(const TrustPolicy &policy,
                  const std::optional<PublicKey> &signer,
                  const FileOrigin &origin);

} // namespace tracea::runtime

#endif // TRACEA_RUNTIME_TRUST_H
