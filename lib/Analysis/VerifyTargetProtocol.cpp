//===- VerifyTargetProtocol.cpp - Proves the protocol of target IR --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The check after lowering: roles, rings and parities are read out of nvvm, and
// the same checker decides them. What reads them is in lib/Analysis/
// TargetProtocol, the mathematics in lib/Analysis/Protocol.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tracea/Analysis/Certificates.h"
#include "tracea/Analysis/Passes.h"
#include "tracea/Analysis/Protocol/Model.h"
#include "tracea/Analysis/TargetProtocol/Recovery.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_VERIFYTARGETPROTOCOL
#include "tracea/Analysis/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;
namespace ta = ::tracea::analysis;

static constexpr StringLiteral kTargetProtocol = "target-protocol";

static void report(const RecoveredProtocol &recovered, LLVM::LLVMFuncOp kernel,
                   const ta::Finding &finding) {
  auto place = [&](ta::Site site) -> Operation * {
    return site >= 0 ? recovered.sites[site] : kernel.getOperation();
  };
  InFlightDiagnostic diag = place(finding.site)->emitOpError()
                            << "breaks the protocol ("
                            << ta::propertyName(finding.property)
                            << "): " << finding.message;
  if (finding.channel >= 0 && recovered.channels[finding.channel])
    diag.attachNote(recovered.channels[finding.channel]->getLoc())
        << "'" << recovered.protocol.channels[finding.channel].name
        << "' starts here";
  for (const ta::Note &note : finding.notes)
    diag.attachNote(place(note.site)->getLoc()) << note.message;
  if (finding.trace.empty())
    return;
  std::string run;
  for (const ta::Event &event : finding.trace) {
    run += run.empty() ? "" : "; ";
    run += recovered.protocol.roles[event.role].name + ": " + event.text;
  }
  std::string counts =
      finding.trips.empty() ? "" : " (iterations: " + finding.trips + ")";
  diag.attachNote(kernel.getLoc()) << "the run" << counts << ": " << run;
}

namespace {
struct VerifyTargetProtocol
    : mlir::tracea::impl::VerifyTargetProtocolBase<VerifyTargetProtocol> {
  using VerifyTargetProtocolBase::VerifyTargetProtocolBase;

  void runOnOperation() override {
    LLVM::LLVMFuncOp kernel = getOperation();
    markAllAnalysesPreserved();
    std::unique_ptr<TargetEvents> target = getTargetEvents(kernel);
    if (!target)
      return;
    clearCertificate(kernel, kTargetProtocol);
    RecoveryOptions options;
    options.registerFile = registerFile;
    RecoveredProtocol recovered = recoverProtocol(kernel, *target, options);
    if (recovered.channels.empty() && recovered.reason.empty() &&
        !recovered.finding)
      return;
    ++numKernels;
    if (printPrograms)
      for (const ta::Role &role : recovered.protocol.roles)
        llvm::errs() << ta::printRole(recovered.protocol, role);
    if (!recovered.reason.empty())
      return undecided(recovered.reasonOp, recovered.reason);
    if (recovered.finding) {
      report(recovered, kernel, *recovered.finding);
      return signalPassFailure();
    }
    ta::CheckOptions checkOptions;
    checkOptions.maxStates = maxStates;
    ta::CheckResult result =
        ta::checkProtocol(recovered.protocol, checkOptions);
    numStates += result.statistics.states;
    switch (result.verdict) {
    case ta::Verdict::Refuted:
      // A run that takes a choice which nobody may ever take is no proof.
      if (!recovered.guessed.empty() && !result.finding.trace.empty())
        return undecided(recovered.guessedOp, recovered.guessed +
                                                  "; if it is free, " +
                                                  result.finding.message);
      report(recovered, kernel, result.finding);
      return signalPassFailure();
    case ta::Verdict::NotDecided:
      return undecided(kernel, result.reason);
    case ta::Verdict::Proved:
      ++numProved;
      setCertificate(kernel, kTargetProtocol,
                     describeTargetProtocol(recovered.protocol),
                     ta::writeModel(recovered.protocol));
    }
  }

  void undecided(Operation *place, const Twine &why) {
    Operation *op = place ? place : getOperation().getOperation();
    InFlightDiagnostic diag =
        requireProof ? op->emitOpError() : op->emitWarning();
    diag << "protocol not decided: " << why;
    if (requireProof)
      signalPassFailure();
  }
};
} // namespace
