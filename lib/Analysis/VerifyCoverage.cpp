//===- VerifyCoverage.cpp - Proves what kernels write and read ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel becomes a coverage problem (KernelCoverage/), which a library
// decides for all sizes. All claims are decided at once; only when that fails
// each is decided by itself, for the sake of its message.

#include "KernelCoverage/KernelCoverage.h"
#include "mlir/IR/Remarks.h"
#include "tracea/Analysis/Certificates.h"
#include "tracea/Analysis/Passes.h"
#include "tracea/Analysis/Recheck.h"
#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"
#include <set>

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
    reported.clear();
    faulty.clear();
    isRefuted = false;
    contentQueries = kAllContentQueries;
    for (const ResultFault &fault : coverage.resultFaults)
      reportResult(fault);
    cov::Problem proved = coverage.problem;
    decideContents(coverage, proved);
    cov::Result result;
    if (coverage.gaps.empty() && !isRefuted) {
      result = decide(coverage.problem);
      if (result.verdict == cov::Verdict::Proved)
        return certify(coverage, proved);
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
    return decide(problem, options);
  }

  cov::Result decide(const cov::Problem &problem, const cov::Options &limits) {
    cov::Result result = cov::decide(problem, limits);
    numQueries += result.statistics.queries;
    numMicroseconds +=
        static_cast<int64_t>(result.statistics.milliseconds * 1000);
    return result;
  }

  /// Looks for a fault at some sizes, where all sizes are too much.
  void tryPoints(const cov::Problem &problem, cov::Result &result,
                 int64_t maxEvents = 1 << 17) {
    const cov::Space &space = problem.space;
    for (int64_t size : {1, 2, 5, 33, 257}) {
      std::map<std::string, int64_t> sizes;
      std::map<cov::Term, int64_t> values;
      bool isPossible = true;
      for (uint32_t index = 0; index < space.size(); ++index) {
        cov::Term term{index};
        if (!space.isVariable(term) ||
            space.kind(term) != cov::TermKind::Symbol)
          continue;
        const cov::Range range = space.range(term);
        int64_t value = size;
        if (range.upper) {
          std::optional<int64_t> end = space.evaluate(*range.upper, values);
          isPossible &= end && *end >= 1;
          value = std::min(value, end.value_or(1) - 1);
        }
        sizes[space.name(term)] = values[term] = value;
      }
      for (const cov::Constraint &assumption : problem.assumptions)
        isPossible &= space.holds(assumption, values).value_or(false);
      if (!isPossible)
        continue;
      cov::Result tried = cov::enumerate(problem, sizes, maxEvents);
      if (tried.verdict != cov::Verdict::Refuted)
        continue;
      result = tried;
      return;
    }
  }

  void decidePart(const KernelCoverage &coverage, const CoveragePart &part) {
    cov::Problem problem = coverage.getProblem(part);
    cov::Result result = decide(problem);
    if (result.verdict == cov::Verdict::NotDecided && part.doubt.empty())
      tryPoints(problem, result);
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
    // What lies past the end of a tile may be read if nobody uses it.
    if (part.kind == CoveragePart::Fill && !part.freeIds.empty()) {
      cov::Result first = decide(coverage.getFirstOf(part));
      if (first.verdict != cov::Verdict::Refuted)
        return notDecided(op, "rows or columns that were not copied are read; "
                              "whether they are used is not known: " +
                                  finding.str());
    }
    if (part.mayBePartial && finding.property == cov::Property::Cover)
      return notDecided(op,
                        "it may be meant to write a part: " + finding.str());
    isRefuted = true;
    signalPassFailure();
    // A store out of bounds is one fault, and so is what follows from it.
    bool follows = part.kind == CoveragePart::Fill ||
                   (part.kind == CoveragePart::Output &&
                    finding.property == cov::Property::Bounds);
    if (!faulty.insert(op).second && follows)
      return;
    InFlightDiagnostic diag = op->emitOpError();
    reportFinding(coverage, part, finding, diag);
  }

  /// What reaches the results says more than what is multiplied, which is asked
  /// where the former is not known, or to find the place of a fault.
  void decideContents(KernelCoverage &coverage, cov::Problem &proved) {
    std::vector<ContentClaim> values, others;
    for (ContentClaim &content : coverage.contents)
      (content.part.kind == CoveragePart::Values ? values : others)
          .push_back(std::move(content));
    if (!coverage.valuesFault.empty()) {
      isRefuted = true;
      signalPassFailure();
      getOperation().emitOpError() << coverage.valuesFault;
    }
    bool isProved = coverage.valuesUndecided.empty() && !isRefuted;
    std::string open = coverage.valuesUndecided;
    cov::Problem withValues = proved;
    std::vector<const ContentClaim *> refuted;
    for (const ContentClaim &content : values) {
      cov::Result result;
      result.reason = content.undecided;
      if (content.undecided.empty())
        result = decideWithin(coverage, content);
      if (result.verdict == cov::Verdict::Proved)
        KernelCoverage::add(withValues, content);
      else if (std::string excuse = getExcuse(content, result);
               result.verdict == cov::Verdict::Refuted && excuse.empty())
        refuted.push_back(&content);
      else if (open.empty())
        open = content.name + ": " + (excuse.empty() ? result.reason : excuse);
      isProved &= result.verdict == cov::Verdict::Proved;
    }
    if (isProved)
      proved = std::move(withValues);
    bool hasWeaker = llvm::any_of(others, [](const ContentClaim &content) {
      return content.part.kind == CoveragePart::Terms ||
             content.part.kind == CoveragePart::Pairing;
    });
    if (!open.empty() && !isRefuted &&
        (hasWeaker || getOperation().getDefinitionsAttr()))
      remark::missed(getOperation().getLoc(),
                     remark::RemarkOpts::name("values-not-followed")
                         .category("tracea-verify-coverage"))
          << ((hasWeaker ? "what is multiplied is claimed of sums, not what "
                           "reaches the results: "
                         : "nothing is claimed of the sums of the results: ") +
              open);
    // What an element lacks is said of it; what is multiplied has no elements.
    bool isReported = false;
    for (const ContentClaim *content : refuted)
      if (!content->elementDims.empty()) {
        decideContent(coverage, *content, proved);
        isReported |= isRefuted;
      }
    for (const ContentClaim &content : others)
      if ((!isProved && !isReported) ||
          (content.part.kind != CoveragePart::Terms &&
           content.part.kind != CoveragePart::Pairing))
        decideContent(coverage, content, proved);
    // The place of another fault that both see is known better there.
    if (!isProved && !isRefuted)
      for (const ContentClaim *content : refuted)
        if (content->elementDims.empty())
          decideContent(coverage, *content, proved);
    if (!isProved && !isRefuted && coverage.areValuesFaulty)
      leaveOpen(getOperation(), "the sums of the results",
                coverage.valuesUndecided, proved);
    // Where there is no weaker claim either, the certificate says so.
    else if (!open.empty() && !isRefuted && !hasWeaker &&
             getOperation().getDefinitionsAttr())
      addOpen("the sums of the results", open, proved);
    if (coverage.lacksDefinition && requireProof && !isRefuted)
      leaveOpen(getOperation(), "the elements of the results' sums",
                ("nothing says which of them '" +
                 *getOperation().getSourceOp() + "' reads")
                    .str(),
                proved);
  }

  /// Why the claim of a sum that nothing defines, which is refuted, may ask too
  /// much. An access out of bounds is refuted as such: past the end of an
  /// argument there are zeros, and what a function makes of them its masks
  /// decide, which are not followed.
  std::string getExcuse(const ContentClaim &content,
                        const cov::Result &result) {
    if (result.verdict != cov::Verdict::Refuted ||
        getOperation().getDefinitionsAttr())
      return "";
    if (result.finding.property == cov::Property::Bounds)
      return "it walks past the end of an argument";
    return content.part.doubt;
  }

  /// Tens of queries do; what needs more is beyond the method, and all that is
  /// beyond it shares what a kernel may cost.
  cov::Result decideWithin(const KernelCoverage &coverage,
                           const ContentClaim &content) {
    cov::Options limits = options;
    limits.maxQueries =
        std::min({limits.maxQueries, kMaxContentQueries, contentQueries});
    cov::Result result = decide(coverage.getProblem(content), limits);
    if (result.verdict != cov::Verdict::Proved)
      contentQueries -= std::min(result.statistics.queries, contentQueries - 1);
    return result;
  }

  /// A claim about the data that is not decided is left out; the rest holds.
  void leaveOpen(Operation *op, const std::string &name,
                 const std::string &reason, cov::Problem &proved) {
    if (requireProof)
      notDecided(op, name + ": " + reason);
    addOpen(name, reason, proved);
  }

  static void addOpen(const std::string &name, const std::string &reason,
                      cov::Problem &proved) {
    cov::Claim open;
    open.name = "not decided: " + name + ": " + reason;
    proved.claims.push_back(std::move(open));
  }

  /// What the data are is decided apart: where it is not, the rest holds.
  void decideContent(const KernelCoverage &coverage,
                     const ContentClaim &content, cov::Problem &proved) {
    std::string reason = content.undecided;
    if (reason.empty()) {
      cov::Result result = decideWithin(coverage, content);
      if (result.verdict == cov::Verdict::NotDecided &&
          content.part.doubt.empty())
        tryPoints(coverage.getProblem(content), result,
                  /*maxEvents=*/1 << 12);
      if (result.verdict == cov::Verdict::Proved) {
        KernelCoverage::add(proved, content);
        return;
      }
      reason = result.reason;
      if (result.verdict == cov::Verdict::Refuted) {
        // An access out of bounds is reported in words of its own.
        bool isOut = result.finding.property == cov::Property::Bounds;
        reason = isOut ? "an access may be out of bounds"
                       : getDoubt(coverage, content, result.finding);
        if (reason.empty()) {
          isRefuted = true;
          signalPassFailure();
          size_t writer = std::max(result.finding.writer, 0);
          InFlightDiagnostic diag =
              content.part.ops[writer < content.part.ops.size() ? writer : 0]
                  ->emitOpError();
          return reportContent(coverage, content, result.finding, diag);
        }
        reason =
            "'" + result.finding.str() + "' may not happen, since " + reason;
      }
    }
    leaveOpen(content.part.ops.front(), content.name, reason, proved);
  }

  /// Why a counterexample is none; empty: it is one.
  static std::string getDoubt(const KernelCoverage &coverage,
                              const ContentClaim &content,
                              const cov::Finding &finding) {
    if (!content.part.doubt.empty())
      return content.part.doubt;
    const cov::Space &space = coverage.problem.space;
    std::map<cov::Term, int64_t> values;
    for (const auto &[name, value] : finding.point)
      if (std::optional<cov::Term> term = space.find(name))
        values[*term] = value;
    for (const cov::Constraint &condition : content.context)
      if (!space.holds(condition, values).value_or(false))
        return "the operation may not run at these sizes";
    return "";
  }

  /// Results are what launches name.
  void reportResult(const ResultFault &fault) {
    isRefuted = true;
    signalPassFailure();
    InFlightDiagnostic diag =
        (fault.store ? fault.store : getOperation().getOperation())
            ->emitOpError();
    if (fault.store)
      diag << "writes argument #" << fault.argument
           << ", which its launch only gives to be read";
    else
      diag << "does not write argument #" << fault.argument
           << ", which is a result of its launch; expected each element to be "
              "written once";
    diag.attachNote(fault.launch->getLoc())
        << "it is launched here, with this argument under '"
        << (fault.store ? "ins" : "outs") << "'";
  }

  void notDecided(Operation *op, const Twine &reason) {
    std::string text = reason.str();
    if (!reported.insert({op, text}).second)
      return;
    if (requireProof) {
      signalPassFailure();
      InFlightDiagnostic diag = op->emitOpError()
                                << "coverage not decided: " << text;
      if (reasons.empty())
        diag.attachNote(getOperation().getLoc())
            << "this is outside of what the check can decide, not a fault; "
               "without require-proof the kernel is compiled, and this is a "
               "remark";
    } else {
      op->emitRemark() << "coverage not decided: " << text;
    }
    reasons.push_back("'" + op->getName().getStringRef().str() + "': " + text);
  }

  /// Says which symbols of the problem are sizes that a launch brings, and
  /// returns their arguments and dimensions.
  static std::map<cov::Term, SizeKey> nameSizes(const KernelIndices &indices,
                                                cov::Problem &problem) {
    std::map<cov::Term, SizeKey> keys;
    std::map<unsigned, std::optional<cov::Term>> symbols;
    std::map<unsigned, std::vector<cov::Term>> buffers;
    for (const auto &[key, number] : indices.facts.classes) {
      auto [symbol, inserted] = symbols.try_emplace(number);
      if (inserted) {
        // The first size of a class gives the symbol its name.
        std::optional<cov::Term> found = problem.space.find(getSizeName(key));
        if (!found || !indices.symbolArguments.count(*found))
          continue;
        symbol->second = *found;
        keys[*found] = key;
        if (key.second < 0)
          problem.integers.push_back(*found);
      }
      if (symbol->second && key.second >= 0)
        buffers[key.first].push_back(*symbol->second);
    }
    for (auto &[argument, extents] : buffers)
      problem.buffers.push_back(extents);
    return keys;
  }

  void certify(const KernelCoverage &coverage, cov::Problem problem) {
    ++numProved;
    KernelOp kernel = getOperation();
    std::map<cov::Term, SizeKey> keys = nameSizes(coverage.indices, problem);
    coverage.describeLaunch(problem);
    setCertificate(kernel, "coverage",
                   ::tracea::analysis::describeCoverage(problem),
                   cov::writeModel(problem));
    cov::IndexLimit limit = cov::indexLimit(problem);
    Attribute summed;
    if (!limit.isImplied && limit.reason.empty()) {
      Builder builder(kernel.getContext());
      SmallVector<Attribute> summands;
      for (const cov::IndexLimit::Summand &summand : limit.summands) {
        SmallVector<int64_t> words{summand.factor};
        for (cov::Term size : summand.sizes) {
          words.push_back(keys.at(size).first);
          words.push_back(keys.at(size).second);
        }
        summands.push_back(builder.getDenseI64ArrayAttr(words));
      }
      summed = builder.getArrayAttr(summands);
    }
    setIndexLimit(kernel, summed);
    markAllAnalysesPreserved();
  }

  /// Of one claim about the data, and of all that were not proved.
  static constexpr int64_t kMaxContentQueries = 800, kAllContentQueries = 1000;

  cov::Options options;
  int64_t contentQueries = kAllContentQueries;
  std::vector<std::string> reasons;
  std::set<std::pair<Operation *, std::string>> reported;
  std::set<Operation *> faulty;
  bool isRefuted = false;
};

} // namespace
