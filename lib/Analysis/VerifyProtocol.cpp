//===- VerifyProtocol.cpp - Proves the synchronisation of kernels ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

//
// KernelProtocol/ turns a kernel into programs over channels, Protocol/ decides
// them. Here are the messages.

#include "KernelProtocol/Extractor.h"
#include "tracea/Analysis/Certificates.h"
#include "tracea/Analysis/Passes.h"
#include "tracea/Analysis/Protocol/Checker.h"
#include "tracea/Analysis/Protocol/Model.h"
#include "tracea/Analysis/Recheck.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_VERIFYPROTOCOL
#include "tracea/Analysis/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
namespace ta = ::tracea::analysis;

/// What was in flight is named by what the operation does with it.
static std::string describe(Operation *op, const ta::Finding &finding) {
  if (finding.property != ta::Property::PendingValue)
    return finding.message;
  if (auto wait = dyn_cast<WaitGroupOp>(op))
    return "it takes a tile that may be among the " +
           std::to_string(wait.getPending()) +
           " groups that are still pending, or in none yet";
  if (isa<StoreOp>(op))
    return "it writes staged memory that a unit may still read: no "
           "'tracea_pipe.wait_group' covers it";
  return "it reads staged memory that other lanes wrote since the last "
         "'tracea_pipe.sync'";
}

static void report(const Extractor &extractor, KernelOp kernel,
                   const ta::Finding &finding) {
  auto place = [&](ta::Site site) -> Operation * {
    return site >= 0 ? extractor.sites[site] : kernel.getOperation();
  };
  InFlightDiagnostic diag = place(finding.site)->emitOpError()
                            << "breaks the protocol ("
                            << ta::propertyName(finding.property)
                            << "): " << describe(place(finding.site), finding);
  if (finding.channel >= 0 &&
      finding.channel < static_cast<int>(extractor.channels.size())) {
    ChannelOp channel = extractor.channels[finding.channel];
    diag.attachNote(channel.getLoc())
        << "channel " << finding.channel << " is declared here";
  }
  for (const ta::Note &note : finding.notes)
    diag.attachNote(place(note.site)->getLoc()) << note.message;
  if (finding.trace.empty())
    return;
  std::string run;
  for (const ta::Event &event : finding.trace) {
    run += run.empty() ? "" : "; ";
    run += extractor.protocol.roles[event.role].name + ": " + event.text;
  }
  std::string counts =
      finding.trips.empty() ? "" : " (iterations: " + finding.trips + ")";
  diag.attachNote(kernel.getLoc()) << "the run" << counts << ": " << run;
}

namespace {
struct VerifyProtocol : mlir::tracea::impl::VerifyProtocolBase<VerifyProtocol> {
  using VerifyProtocolBase::VerifyProtocolBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    markAllAnalysesPreserved();
    Extractor extractor(kernel, registerFile, threadsPerWarp);
    if (failed(extractor.extract()))
      return signalPassFailure();
    if (!extractor.isNeeded) {
      ta::Protocol nothing;
      nothing.name = kernel.getSymName().str();
      return certify(kernel, nothing);
    }
    ++numKernels;
    ta::CheckResult result;
    result.reason = extractor.reason;
    Operation *place = extractor.reasonOp;
    if (extractor.reason.empty()) {
      ta::CheckOptions options;
      options.maxStates = maxStates;
      result = ta::checkProtocol(extractor.protocol, options);
      numStates += result.statistics.states;
      numMicroseconds +=
          static_cast<int64_t>(result.statistics.milliseconds * 1000);
    }
    switch (result.verdict) {
    case ta::Verdict::Refuted:
      report(extractor, kernel, result.finding);
      return signalPassFailure();
    case ta::Verdict::NotDecided: {
      if (!place)
        place = kernel;
      InFlightDiagnostic diag =
          requireProof ? place->emitOpError() : place->emitWarning();
      diag << "protocol not decided: " << result.reason;
      if (requireProof)
        signalPassFailure();
      return setUndecided(kernel, "protocol", {result.reason});
    }
    case ta::Verdict::Proved:
      ++numProved;
      certify(kernel, extractor.protocol);
    }
  }

  void certify(KernelOp kernel, const ta::Protocol &protocol) {
    setCertificate(kernel, "protocol", ta::describeProtocol(protocol),
                   ta::writeModel(protocol));
  }
};
} // namespace
