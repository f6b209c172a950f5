//===- Numerics.h - Classes of equal bits -----------------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_ANALYSIS_NUMERICS_H
#define TRACEA_ANALYSIS_NUMERICS_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace mlir::tracea {

/// The class of a normal form, as 16 hexadecimal digits. The normal form is the
/// model of the certificate `numerics`.
std::string getNumericsClass(llvm::StringRef normalForm);

/// In which types a normal form sums and where it rounds, in words; nothing
/// where the text is no normal form.
std::optional<std::string> describeRounding(llvm::StringRef normalForm);

/// Whether a certificate's claim names the class of its model, and ends with
/// where it rounds. Both may come from anywhere.
bool isNumericsClaimOf(llvm::StringRef claim, llvm::StringRef normalForm);

} // namespace mlir::tracea

#endif // TRACEA_ANALYSIS_NUMERICS_H
