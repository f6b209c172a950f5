//===- VerifyCoverage.cpp - Proves what kernels write and read ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel becomes a coverage problem (KernelCoverage/), which a library
// decides for all sizes. All claims are decided at once; only when that fails
// each is decided by itself, for the sake of its message.

#include "KernelCoverage/KernelCoverage.h"
#include "tracea/Analysis/Certificates.h"
#include "tracea/Analysis/Passes.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_VERIFYCOVERAGE
#include "tracea/Analysis/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

namespace {

struct VerifyCoveragePass
    : public mlir::tracea::impl::VerifyCoverageBase<VerifyCoveragePass> {
  using VerifyCoverageBase::VerifyCoverageBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    ++numKernels;
    options.maxMilliseconds = maxMilliseconds;
    KernelCoverage coverage(kernel);
    coverage.extract();
    reasons.clear();
    isRefuted = false;
    cov::Result result;
    if (coverage.gaps.empty()) {
      result = decide(coverage.problem);
      if (result.verdict == cov::Verdict::Proved)
        return certify(coverage, result.statistics.queries);
    }
    for (const CoveragePart &part : coverage.parts)
      decidePart(coverage, part);
    for (const CoverageGap &gap : coverage.gaps)
      notDecided(gap.op, gap.reason);
    // Together the claims may be too much where one by one they are not.
    if (reasons.empty() && !isRefuted)
      notDecided(kernel, result.reason);
    setUndecided(kernel, "coverage", reasons);
    markAllAnalysesPreserved();
  }

private:
  cov::Result decide(const cov::Problem &problem) {
    cov::Result result = cov::decide(problem, options);
    numQueries += result.statistics.queries;
    numMicroseconds +=
        static_cast<int64_t>(result.statistics.milliseconds * 1000);
    return result;
  }

  void decidePart(const KernelCoverage &coverage, const CoveragePart &part) {
    cov::Result result = decide(coverage.getProblem(part));
    if (result.verdict == cov::Verdict::Proved)
      return;
    Operation *op = part.ops.front();
    if (result.verdict == cov::Verdict::NotDecided)
      return notDecided(op, result.reason);
    const cov::Finding &finding = result.finding;
    if (finding.writer >= 0 &&
        finding.writer < static_cast<int>(part.ops.size()))
      op = part.ops[finding.writer];
    if (!part.doubt.empty())
      return notDecided(op, "'" + finding.str() + "' may not happen, since " +
                                part.doubt);
    if (part.mayBePartial && finding.property == cov::Property::Cover)
      return notDecided(op,
                        "it may be meant to write a part: " + finding.str());
    isRefuted = true;
    signalPassFailure();
    InFlightDiagnostic diag = op->emitOpError();
    reportFinding(coverage, part, finding, diag);
  }

  void notDecided(Operation *op, const Twine &reason) {
    std::string text = reason.str();
    if (requireProof) {
      signalPassFailure();
      op->emitOpError() << "coverage not decided: " << text;
    } else {
      op->emitRemark() << "coverage not decided: " << text;
    }
    reasons.push_back("'" + op->getName().getStringRef().str() + "': " + text);
  }

  void certify(const KernelCoverage &coverage, int64_t queries) {
    ++numProved;
    auto count = [](size_t number, StringRef noun) {
      return std::to_string(number) + " " + noun.str() +
             (number == 1 ? "" : "s");
    };
    std::string claim =
        "all elements of " + count(coverage.numOutputs, "result") +
        " written exactly once, " + std::to_string(coverage.numAccesses) +
        (coverage.numAccesses == 1 ? " access" : " accesses") + " in bounds";
    if (coverage.numFills)
      claim +=
          ", " + count(coverage.numFills, "operand") + " read where copied";
    claim += ", for all sizes; " + std::to_string(queries) +
             (queries == 1 ? " query" : " queries");
    setCertificate(getOperation(), "coverage", claim,
                   cov::writeModel(coverage.problem));
    markAllAnalysesPreserved();
  }

  cov::Options options;
  std::vector<std::string> reasons;
  bool isRefuted = false;
};

} // namespace
