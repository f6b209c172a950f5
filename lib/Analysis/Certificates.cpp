//===- Certificates.cpp - What checks have proved of a kernel -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/Certificates.h"
#include "tracea/Analysis/Recheck.h"
#include "tracea/Dialect/TraceaPipe/IR/KernelInterface.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mlir::tracea;
using tracea_pipe::CertificateAttr;

static constexpr StringLiteral kCertified = "tracea_pipe.certified";
static constexpr StringLiteral kRemarks = "tracea_pipe.remarks";

ArrayRef<StringLiteral> mlir::tracea::getCertificateChecks() {
  static constexpr StringLiteral checks[] = {"protocol", "banks", "coverage",
                                             "resources", "numerics"};
  return checks;
}

static StringRef checkOf(Attribute entry) {
  if (auto certificate = dyn_cast<CertificateAttr>(entry))
    return certificate.getCheck();
  if (auto remark = dyn_cast<DictionaryAttr>(entry))
    if (auto check = remark.getAs<StringAttr>("check"))
      return check.getValue();
  return "";
}

/// Known checks by their order, others after them by name; the reasons of one
/// check by their text.
static std::tuple<size_t, StringRef, StringRef> rankOf(Attribute entry) {
  StringRef reason;
  if (auto remark = dyn_cast<DictionaryAttr>(entry))
    if (auto text = remark.getAs<StringAttr>("reason"))
      reason = text.getValue();
  ArrayRef<StringLiteral> checks = getCertificateChecks();
  StringRef check = checkOf(entry);
  return {llvm::find(checks, check) - checks.begin(), check, reason};
}

/// The entries of a list of the kernel, without those of `check`.
static SmallVector<Attribute> getOthers(Operation *kernel, StringRef list,
                                        StringRef check) {
  SmallVector<Attribute> others;
  if (auto old = kernel->getAttrOfType<ArrayAttr>(list))
    for (Attribute entry : old)
      if (checkOf(entry) != check)
        others.push_back(entry);
  return others;
}

static void setList(Operation *kernel, StringRef name,
                    SmallVector<Attribute> entries) {
  if (entries.empty()) {
    kernel->removeAttr(name);
    return;
  }
  llvm::sort(entries,
             [](Attribute a, Attribute b) { return rankOf(a) < rankOf(b); });
  kernel->setAttr(name, ArrayAttr::get(kernel->getContext(), entries));
}

/// A digest of what is written beside the kernel: claims that were edited are
/// nobody's.
static std::string getSeal(Operation *kernel) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (StringRef name : {tracea_pipe::kCertificatesAttrName, kRemarks})
    if (auto list = kernel->getAttrOfType<ArrayAttr>(name))
      for (Attribute entry : list) {
        if (auto certificate = dyn_cast<CertificateAttr>(entry))
          os << certificate.getCheck() << '\n'
             << certificate.getClaim() << '\n'
             << certificate.getModel() << '\n';
        else
          os << entry << '\n';
      }
  if (Attribute limit = kernel->getAttr(kIndexLimit))
    os << limit;
  return llvm::utohexstr(llvm::xxh3_64bits(text), /*LowerCase=*/true,
                         /*Width=*/16);
}

static bool isSealed(Operation *kernel, StringRef fingerprint) {
  auto certified = kernel->getAttrOfType<StringAttr>(kCertified);
  return certified &&
         certified.getValue() == (fingerprint + "-" + getSeal(kernel)).str();
}

static void seal(Operation *kernel, StringRef fingerprint) {
  kernel->setAttr(kCertified,
                  StringAttr::get(kernel->getContext(),
                                  fingerprint + "-" + getSeal(kernel)));
}

/// What other checks said is gone where the kernel is no longer the one that
/// they saw.
static void dropStale(Operation *kernel, StringRef fingerprint) {
  if (isSealed(kernel, fingerprint))
    return;
  kernel->removeAttr(tracea_pipe::kCertificatesAttrName);
  kernel->removeAttr(kRemarks);
  kernel->removeAttr(kIndexLimit);
}

void mlir::tracea::setCertificate(Operation *kernel, StringRef check,
                                  StringRef claim, StringRef model) {
  std::string fingerprint = getFingerprint(kernel);
  dropStale(kernel, fingerprint);
  SmallVector<Attribute> entries =
      getOthers(kernel, tracea_pipe::kCertificatesAttrName, check);
  entries.push_back(
      CertificateAttr::get(kernel->getContext(), check, claim, model));
  setList(kernel, tracea_pipe::kCertificatesAttrName, entries);
  setList(kernel, kRemarks, getOthers(kernel, kRemarks, check));
  seal(kernel, fingerprint);
}

void mlir::tracea::setIndexLimit(Operation *kernel, Attribute limit) {
  kernel->removeAttr(kIndexLimit);
  if (limit)
    kernel->setAttr(kIndexLimit, limit);
  seal(kernel, getFingerprint(kernel));
}

void mlir::tracea::setUndecided(Operation *kernel, StringRef check,
                                ArrayRef<std::string> reasons) {
  std::string fingerprint = getFingerprint(kernel);
  dropStale(kernel, fingerprint);
  MLIRContext *context = kernel->getContext();
  SmallVector<Attribute> entries = getOthers(kernel, kRemarks, check);
  for (const std::string &reason : reasons) {
    auto text = [&](StringRef name, StringRef value) {
      return NamedAttribute(StringAttr::get(context, name),
                            StringAttr::get(context, value));
    };
    Attribute entry = DictionaryAttr::get(
        context, {text("check", check), text("reason", reason)});
    if (!llvm::is_contained(entries, entry))
      entries.push_back(entry);
  }
  setList(kernel, kRemarks, entries);
  setList(kernel, tracea_pipe::kCertificatesAttrName,
          getOthers(kernel, tracea_pipe::kCertificatesAttrName, check));
  seal(kernel, fingerprint);
}

void mlir::tracea::clearCertificate(Operation *kernel, StringRef check) {
  std::string fingerprint = getFingerprint(kernel);
  bool wasSealed = isSealed(kernel, fingerprint);
  setList(kernel, tracea_pipe::kCertificatesAttrName,
          getOthers(kernel, tracea_pipe::kCertificatesAttrName, check));
  setList(kernel, kRemarks, getOthers(kernel, kRemarks, check));
  if (!kernel->hasAttr(tracea_pipe::kCertificatesAttrName) &&
      !kernel->hasAttr(kRemarks))
    kernel->removeAttr(kCertified);
  else if (wasSealed)
    seal(kernel, fingerprint);
}

bool mlir::tracea::hasStaleCertificates(Operation *kernel) {
  if (!kernel->hasAttr(tracea_pipe::kCertificatesAttrName))
    return false;
  return !isSealed(kernel, getFingerprint(kernel));
}

CertificateAttr mlir::tracea::getCertificate(Operation *kernel,
                                             StringRef check) {
  auto list =
      kernel->getAttrOfType<ArrayAttr>(tracea_pipe::kCertificatesAttrName);
  if (!list || hasStaleCertificates(kernel))
    return nullptr;
  for (Attribute entry : list)
    if (checkOf(entry) == check)
      return cast<CertificateAttr>(entry);
  return nullptr;
}

InFlightDiagnostic mlir::tracea::emitLaunchLack(Operation *kernel,
                                                const LaunchLack &lack) {
  InFlightDiagnostic diag = lack.launch->emitError();
  auto name = kernel->getAttrOfType<StringAttr>("sym_name");
  diag << "kernel '" << (name ? name.getValue() : "")
       << "' is not proved for this launch: its certificates expect "
       << lack.expected
       << ", which the host neither makes so nor checks before";
  diag.attachNote(kernel->getLoc())
      << "the kernel is here; prove it again for the host as it is, or check "
         "with 'cf.assert' what was checked";
  return diag;
}

/// Why there is no certificate of `check`.
static std::string whyNot(Operation *kernel, StringRef check) {
  std::string why;
  if (auto remarks = kernel->getAttrOfType<ArrayAttr>(kRemarks))
    for (Attribute entry : remarks)
      if (checkOf(entry) == check)
        why += (why.empty() ? "" : "; ") +
               cast<DictionaryAttr>(entry).getAs<StringAttr>("reason").str();
  if (!why.empty())
    return "not decided: " + why;
  if (kernel->hasAttr(kCertified))
    return "the check did not run on it";
  return "nothing was proved of it; proofs are made at the pipeline level, and "
         "this kernel may have entered the compiler after it";
}

LogicalResult mlir::tracea::requireCertificates(Operation *kernel,
                                                ArrayRef<std::string> checks) {
  SmallVector<StringRef> required(checks.begin(), checks.end());
  if (required.empty())
    for (std::string_view check : ::tracea::analysis::requiredChecks())
      required.push_back(StringRef(check.data(), check.size()));
  auto error = [&] {
    InFlightDiagnostic diag = kernel->emitError("kernel");
    if (auto name = kernel->getAttrOfType<StringAttr>("sym_name"))
      diag << " '" << name.getValue() << "'";
    return diag;
  };
  if (hasStaleCertificates(kernel))
    return error() << " is not proved: it has changed since it was";
  if (LaunchLack lack = findLaunchLack(kernel); lack.launch)
    return emitLaunchLack(kernel, lack);
  LogicalResult result = success();
  for (StringRef check : required)
    if (!getCertificate(kernel, check))
      result = error() << " lacks the certificate '" << check
                       << "': " << whyNot(kernel, check);
  return result;
}
