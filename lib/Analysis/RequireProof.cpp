//===- RequireProof.cpp - Refuses kernels that lack a certificate ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides nothing itself: reads the certificates and remarks that the checks
// have left on kernels of the pipeline level, and makes what is missing an
// error.

#include "tracea/Analysis/Certificates.h"
#include "tracea/Analysis/Passes.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_REQUIREPROOF
#include "tracea/Analysis/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;

namespace {
struct RequireProof : mlir::tracea::impl::RequireProofBase<RequireProof> {
  using RequireProofBase::RequireProofBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    SmallVector<std::string> names(checks.begin(), checks.end());
    if (failed(mlir::tracea::requireCertificates(getOperation(), names)))
      signalPassFailure();
  }
};
} // namespace
