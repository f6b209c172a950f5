//===- VerifyResources.cpp - Proves that kernels fit their target ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Figures of the kernel against the target's table. What counts as a figure is
// in KernelResources.cpp, what fits in Resources/; see
// docs/Proofs/Resources.md.

#include "KernelResources.h"
#include "mlir/IR/Remarks.h"
#include "tracea/Analysis/Certificates.h"
#include "tracea/Analysis/Passes.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_VERIFYRESOURCES
#include "tracea/Analysis/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
namespace ta = ::tracea::analysis;

namespace {

constexpr llvm::StringLiteral kResources = "resources";

struct VerifyResourcesPass
    : public mlir::tracea::impl::VerifyResourcesBase<VerifyResourcesPass> {
  using VerifyResourcesBase::VerifyResourcesBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    markAllAnalysesPreserved();
    ++numKernels;
    std::string reason;
    FailureOr<KernelResources> resources = collectResources(kernel, reason);
    if (failed(resources))
      return notDecided(kernel, {reason});
    ta::ResourceReport report =
        ta::checkResources(resources->use, resources->limits);
    auto place = [&](int site) -> Operation * {
      return site >= 0 ? resources->sites[site] : kernel.getOperation();
    };
    for (const ta::Excess &excess : report.excesses) {
      InFlightDiagnostic diag = place(excess.site)->emitOpError()
                                << "does not fit: " << excess.message;
      for (const auto &[site, line] : excess.contributors)
        diag.attachNote(place(site)->getLoc()) << line;
    }
    if (!report.excesses.empty()) {
      clearCertificate(kernel, kResources);
      return signalPassFailure();
    }
    for (const auto &[site, line] : report.warnings) {
      ++numWarnings;
      remark::missed(place(site)->getLoc(),
                     remark::RemarkOpts::name("resources")
                         .category("tracea-verify-resources"))
          << line;
    }
    if (!report.undecided.empty())
      return notDecided(kernel, report.undecided);
    ++numProved;
    setCertificate(kernel, kResources, report.claim,
                   ta::writeModel(resources->use, resources->limits));
  }

private:
  void notDecided(KernelOp kernel, const std::vector<std::string> &reasons) {
    for (const std::string &reason : reasons) {
      InFlightDiagnostic diag =
          requireProof ? kernel.emitOpError() : kernel.emitRemark();
      diag << "resources not decided: " << reason;
    }
    if (requireProof)
      signalPassFailure();
    setUndecided(kernel, kResources, reasons);
  }
};

} // namespace
