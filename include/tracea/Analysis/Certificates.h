//===- Certificates.h - What checks have proved of a kernel -----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Certificates are attributes of the kernel that they are about. The kernel
// carries its fingerprint as of the last check beside them: whoever changes it
// afterwards, a pass or a hand, makes the certificates stale, and nobody has to
// remember to remove them.

#ifndef TRACEA_ANALYSIS_CERTIFICATES_H
#define TRACEA_ANALYSIS_CERTIFICATES_H

#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

namespace mlir::tracea {

/// The checks whose certificates a compiled kernel may carry, in the order in
/// which it lists them.
ArrayRef<StringLiteral> getCertificateChecks();

/// Gives `kernel` the certificate of `check`, in the place of an older one, and
/// takes away what the check had left undecided. Certificates of other checks
/// stay unless the kernel has changed since. `claim` and `model` are one line
/// each; `model` decides the claim again without the IR.
void setCertificate(Operation *kernel, StringRef check, StringRef claim,
                    StringRef model = "");

/// Records that `check` proves nothing of `kernel`, and why, in the place of
/// its certificate or of older reasons.
void setUndecided(Operation *kernel, StringRef check,
                  ArrayRef<std::string> reasons);

/// Removes what `check` said, for a kernel of which it has nothing to say.
void clearCertificate(Operation *kernel, StringRef check);

/// The certificate of `check`; null where there is none or where it is about
/// another state of the kernel.
tracea_pipe::CertificateAttr getCertificate(Operation *kernel, StringRef check);

/// Whether the kernel has certificates and is not what they are about.
bool hasStaleCertificates(Operation *kernel);

/// A launch, and what the certificates of its kernel expect that the host does
/// not give: "dimension 1 of argument #0 to be dimension 0 of argument #1".
/// Null where there is none.
struct LaunchLack {
  Operation *launch = nullptr;
  std::string expected;
};

/// Compares the launches of `kernel` with what its certificate of coverage
/// relies on, stale or not: which arguments are results, and what the host has
/// checked of their sizes.
LaunchLack findLaunchLack(Operation *kernel);

/// An error at the launch.
InFlightDiagnostic emitLaunchLack(Operation *kernel, const LaunchLack &lack);

/// Fails, after an error for each, where `kernel` lacks a certificate of
/// `checks`; of what the compiler's own pipeline proves if none is named.
LogicalResult requireCertificates(Operation *kernel,
                                  ArrayRef<std::string> checks = {});

/// What the indices of a kernel stay below, where that is more than buffers in
/// memory imply: a sum of products, each an array of a factor and of pairs of
/// an argument and its dimension (-1: the magnitude of an integer). A launch
/// has to check that the sum fits into 64 bits.
inline constexpr StringLiteral kIndexLimit = "tracea_pipe.index_limit";

/// Sets what the last certificate of coverage says of the limit, or takes it
/// away.
void setIndexLimit(Operation *kernel, Attribute limit);

/// A digest of the signature, the body and the module's target, of nothing
/// that names or explains, and of no location. Equal for a module and for its
/// text read again, in every process.
std::string getFingerprint(Operation *kernel);

} // namespace mlir::tracea

#endif // TRACEA_ANALYSIS_CERTIFICATES_H
