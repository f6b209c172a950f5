//===- DescribeKernel.cpp - What a manifest says of a kernel --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names, certificates and what was not decided, of kernels at the pipeline
// level.

#include "tracea/Analysis/Certificates.h"
#include "tracea/Analysis/Recheck.h"
#include "tracea/Dialect/TraceaPipe/IR/KernelInterface.h"
#include "tracea/Target/Program/Export.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
namespace rt = ::tracea::runtime;

std::string mlir::tracea::cutLine(StringRef text) {
  rt::ManifestLimits limits;
  std::string line = text.str();
  if (line.size() > limits.maxClaimBytes) {
    size_t end = limits.maxClaimBytes - 4;
    // Not inside of a character.
    while (end > 0 && (line[end] & 0xc0) == 0x80)
      --end;
    line.resize(end);
    line += " ...";
  }
  for (char &c : line)
    if (static_cast<unsigned char>(c) < 0x20)
      c = ' ';
  return line;
}

rt::CertificateSpec mlir::tracea::makeCertificate(StringRef check,
                                                  StringRef claim,
                                                  StringRef model) {
  return {check.str(), claim.str(), model.str(),
          ::tracea::analysis::getDigest(check, claim, model)};
}

/// Proofs are about the kernel as it was: of another one they say nothing.
static void exportProofs(KernelOp kernel, rt::KernelSpec &spec) {
  auto entriesOf = [&](StringRef name) -> ArrayRef<Attribute> {
    auto list = kernel->getAttrOfType<ArrayAttr>(name);
    return list ? list.getValue() : ArrayRef<Attribute>();
  };
  bool isStale = hasStaleCertificates(kernel);
  if (isStale)
    kernel.emitWarning()
        << "kernel '" << kernel.getSymName()
        << "' has changed since it was proved; its certificates "
           "are left out";
  rt::ManifestLimits limits;
  for (Attribute entry : entriesOf(kCertificatesAttrName)) {
    auto proof = cast<CertificateAttr>(entry);
    if (isStale) {
      spec.remarks.push_back({proof.getCheck().str(),
                              "the kernel has changed since it was proved"});
      continue;
    }
    StringRef model = proof.getModel();
    if (model.size() > limits.maxModelBytes) {
      kernel.emitRemark() << "the model of the certificate '"
                          << proof.getCheck() << "' takes " << model.size()
                          << " bytes and is left out; a program holds "
                          << limits.maxModelBytes;
      model = "";
    }
    spec.certificates.push_back(
        makeCertificate(proof.getCheck(), cutLine(proof.getClaim()), model));
  }
  if (isStale)
    return;
  for (Attribute entry : entriesOf("tracea_pipe.remarks")) {
    auto remark = cast<DictionaryAttr>(entry);
    if (spec.remarks.size() == limits.maxRemarks)
      break;
    spec.remarks.push_back({remark.getAs<StringAttr>("check").str(),
                            cutLine(remark.getAs<StringAttr>("reason"))});
  }
}

rt::KernelSpec mlir::tracea::describeKernel(KernelOp kernel) {
  rt::KernelSpec spec;
  spec.name = spec.symbol = kernel.getSymName().str();
  spec.variant = kernel.getVariant().value_or("").str();
  spec.op = kernel.getSourceOp().value_or("").str();
  exportProofs(kernel, spec);
  return spec;
}
