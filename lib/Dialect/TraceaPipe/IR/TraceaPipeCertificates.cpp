//===- TraceaPipeCertificates.cpp - What checks have proved of kernels ----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Verifiers.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

/// Control characters would break the lines that tools print.
static LogicalResult verifyText(EmitError emitError, StringRef field,
                                StringRef text) {
  for (size_t i = 0; i < text.size(); ++i)
    if (static_cast<unsigned char>(text[i]) < 0x20)
      return emitError() << "has a control character at offset " << i
                         << " of its " << field << "; expected one line";
  return success();
}

LogicalResult CertificateAttr::verify(EmitError emitError, StringRef check,
                                      StringRef claim, StringRef model) {
  static constexpr StringLiteral letters = "abcdefghijklmnopqrstuvwxyz-";
  if (check.empty() || check.find_first_not_of(letters) != StringRef::npos)
    return emitError() << "names the check '" << check
                       << "'; expected lower-case letters and '-'";
  if (claim.empty())
    return emitError() << "claims nothing";
  if (failed(verifyText(emitError, "claim", claim)))
    return failure();
  return verifyText(emitError, "model", model);
}

/// A kernel has one certificate for each check, so that none contradicts
/// another.
LogicalResult verifiers::verifyCertificates(Operation *op, Attribute value) {
  auto list = dyn_cast<ArrayAttr>(value);
  if (!list)
    return op->emitOpError() << "has certificates that are no array: " << value;
  llvm::StringSet<> checks;
  for (Attribute entry : list) {
    auto certificate = dyn_cast<CertificateAttr>(entry);
    if (!certificate)
      return op->emitOpError()
             << "has " << entry
             << " among its certificates; expected a "
                "#tracea_pipe.certificate<check = ..., claim = ...>";
    if (!checks.insert(certificate.getCheck()).second)
      return op->emitOpError() << "has two certificates of the check '"
                               << certificate.getCheck() << "'";
  }
  return success();
}

/// Remarks say which check was not decided, and why.
LogicalResult verifiers::verifyRemarks(Operation *op, Attribute value) {
  auto list = dyn_cast<ArrayAttr>(value);
  if (!list)
    return op->emitOpError() << "has remarks that are no array: " << value;
  for (Attribute entry : list) {
    auto remark = dyn_cast<DictionaryAttr>(entry);
    if (!remark || remark.size() != 2 || !remark.getAs<StringAttr>("check") ||
        !remark.getAs<StringAttr>("reason"))
      return op->emitOpError() << "has " << entry
                               << " among its remarks; expected {check = "
                                  "\"...\", reason = \"...\"}";
  }
  return success();
}
