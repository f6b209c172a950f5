//===- Recheck.cpp - Decides certificates again ---------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/Recheck.h"
#include "tracea/Analysis/BankProof.h"
#include "tracea/Analysis/ClaimWords.h"
#include "tracea/Analysis/Coverage/Decide.h"
#include "tracea/Analysis/Numerics.h"
#include "tracea/Analysis/Protocol/Checker.h"
#include "tracea/Analysis/Protocol/Model.h"
#include "tracea/Analysis/Resources/Resources.h"
#include "tracea/Analysis/TargetProtocol/Recovery.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"
#include <algorithm>
#include <chrono>

using namespace tracea::analysis;
namespace alg = tracea::algebra;
namespace coverage = tracea::coverage;

const char *tracea::analysis::recheckVerdictName(RecheckVerdict verdict) {
  switch (verdict) {
  case RecheckVerdict::Confirmed:
    return "confirmed";
  case RecheckVerdict::Refuted:
    return "refuted";
  case RecheckVerdict::Unreadable:
    return "unreadable";
  case RecheckVerdict::NotDecided:
    return "not decided";
  }
  return "";
}

std::string tracea::analysis::describeProtocol(const Protocol &protocol) {
  if (protocol.roles.empty() && protocol.channels.empty())
    return "nobody waits for anybody";
  return std::to_string(protocol.roles.size()) + " roles, " +
         std::to_string(protocol.channels.size()) +
         " channels, every trip count";
}

const std::vector<std::string_view> &tracea::analysis::requiredChecks() {
  static const std::vector<std::string_view> checks = [] {
    std::vector<std::string_view> names;
    for (const CheckScope &scope : getCheckScopes())
      if (scope.demanded == "yes")
        names.push_back(scope.check);
    return names;
  }();
  return checks;
}

/// Which sizes of a launch have to be equal: "dim1_0 = dim0_1".
static std::vector<std::string>
describeSizes(const coverage::Problem &problem) {
  std::vector<std::string> texts;
  for (size_t number = 0; number < problem.arguments.size(); ++number) {
    const coverage::Argument &argument = problem.arguments[number];
    for (size_t dim = 0; dim < argument.sizes.size(); ++dim) {
      const coverage::Argument::Size &size = argument.sizes[dim];
      if (!size.isDynamic || !size.value)
        continue;
      std::string name =
          argument.kind == coverage::Argument::Scalar
              ? "arg" + std::to_string(number)
              : "dim" + std::to_string(number) + "_" + std::to_string(dim);
      if (std::string value = problem.space.str(*size.value); value != name)
        texts.push_back(name + " = " + value);
    }
  }
  return texts;
}

std::string
tracea::analysis::describeCoverage(const coverage::Problem &problem) {
  auto count = [](size_t number, const char *one, const char *many) {
    return std::to_string(number) + " " + (number == 1 ? one : many);
  };
  // What a stage or a claim is about is the beginning of its name.
  auto is = [](const std::string &name, const char *kind) {
    return name.rfind(kind, 0) == 0;
  };
  size_t results = 0, stores = 0, values = 0, defined = 0, sums = 0, slots = 0;
  size_t partial = 0;
  for (const coverage::Argument &argument : problem.arguments)
    results += argument.kind == coverage::Argument::Result;
  for (const coverage::Stage &stage : problem.stages) {
    stores += is(stage.name, "elements of ");
    values += is(stage.name, "sum ");
    defined += stage.name.find(", as its operation") != std::string::npos;
    partial += stage.name.find(", as far as memory says") != std::string::npos;
    sums += is(stage.name, "terms ");
    slots += is(stage.name, "slot ");
  }
  size_t undecided = 0, pairs = 0, conditions = 0;
  for (const coverage::Claim &claim : problem.claims)
    if (is(claim.name, "not decided: "))
      ++undecided;
    else if (is(claim.name, "operands "))
      ++pairs;
    else
      ++conditions;
  std::string text = results ? "all elements of " +
                                   count(results, "result", "results") +
                                   " written exactly once, "
                             : "no results, ";
  // Stores in a row, each of all elements.
  if (stores > results)
    text +=
        "again by " + count(stores - results, "store", "stores") + " after, ";
  if (values)
    text += count(values, "sum", "sums") +
            (defined == values ? " in them as defined" : " in them") +
            " with each term once, ";
  if (partial)
    text += std::to_string(partial) + " as far as memory says, ";
  text += count(problem.accesses.size(), "access", "accesses") + " in bounds";
  if (conditions)
    text += ", " + count(conditions, "condition", "conditions");
  if (sums)
    text += ", " + count(sums, "operand", "operands") +
            " of sums with each term once";
  if (pairs)
    text += ", " + count(pairs, "pair", "pairs") + " of operands in step";
  if (slots)
    text += ", " + count(slots, "slot", "slots") + " filled from registers";
  if (undecided)
    text += ", " +
            count(undecided, "claim about the data", "claims about the data") +
            " not decided";
  text += ", for all sizes";
  // The model has them all; a line of words has an end.
  std::vector<std::string> assumptions = describeSizes(problem);
  for (const coverage::Constraint &assumption : problem.assumptions)
    assumptions.push_back(problem.space.str(assumption));
  std::string all;
  for (const std::string &assumption : assumptions)
    all += (all.empty() ? " with " : " and ") + assumption;
  text += all.size() <= 2000
              ? all
              : " that pass " + count(assumptions.size(), "check", "checks");
  coverage::IndexLimit limit = coverage::indexLimit(problem);
  if (limit.isImplied)
    text += ", no index beyond 64 bits";
  else if (limit.reason.empty())
    text += ", no index beyond 64 bits where " +
            coverage::describe(limit, problem.space) + " is not";
  return text;
}

static RecheckResult compare(std::string_view claim, const std::string &found) {
  if (claim == found)
    return {RecheckVerdict::Confirmed, "", "", 0};
  return {RecheckVerdict::Refuted, "the model proves \"" + found + "\"", "", 0};
}

static RecheckResult recheckBanks(std::string_view claim,
                                  std::string_view model) {
  alg::Expected<BankProof> proof = readBankProof(model);
  if (!proof)
    return {RecheckVerdict::Unreadable, proof.message(), "", 0};
  alg::Expected<std::string> found = decideBanks(*proof);
  if (!found)
    return {RecheckVerdict::NotDecided, found.message(), "", 0};
  RecheckResult answer = compare(claim, *found);
  answer.figures =
      std::to_string(proof->accesses.size()) + " different accesses";
  return answer;
}

static RecheckResult
recheckProtocol(std::string_view claim, std::string_view model,
                std::string (*describe)(const Protocol &)) {
  alg::Expected<Protocol> protocol = readModel(model);
  if (!protocol)
    return {RecheckVerdict::Unreadable, protocol.message(), "", 0};
  CheckResult result = checkProtocol(*protocol);
  if (result.verdict == Verdict::NotDecided)
    return {RecheckVerdict::NotDecided, result.reason, "", 0};
  if (result.verdict == Verdict::Refuted)
    return {RecheckVerdict::Refuted,
            std::string("the model has a fault (") +
                propertyName(result.finding.property) +
                "): " + result.finding.message,
            "", 0};
  RecheckResult answer = compare(claim, describe(*protocol));
  answer.figures = std::to_string(result.statistics.states) + " states";
  return answer;
}

static RecheckResult recheckPipeProtocol(std::string_view claim,
                                         std::string_view model) {
  return recheckProtocol(claim, model, describeProtocol);
}

static RecheckResult recheckTargetProtocol(std::string_view claim,
                                           std::string_view model) {
  return recheckProtocol(claim, model, mlir::tracea::describeTargetProtocol);
}

static RecheckResult recheckResources(std::string_view claim,
                                      std::string_view model) {
  std::string error;
  std::optional<ResourceModel> resources = readResourceModel(model, error);
  if (!resources)
    return {RecheckVerdict::Unreadable, error, "", 0};
  ResourceReport report = checkResources(resources->use, resources->limits);
  if (!report.excesses.empty())
    return {RecheckVerdict::Refuted,
            "the model does not fit: " + report.excesses.front().message, "",
            0};
  if (!report.undecided.empty())
    return {RecheckVerdict::NotDecided, report.undecided.front(), "", 0};
  return compare(claim, report.claim);
}

/// The elements of every result are made by a stage, and of nothing else; what
/// is granted is that the grid is not empty.
static std::string findMissingResult(const coverage::Problem &problem) {
  std::vector<bool> isMade(problem.arguments.size());
  std::vector<coverage::Term> sizes;
  for (const coverage::Argument &argument : problem.arguments)
    for (const coverage::Argument::Size &size : argument.sizes)
      if (size.value)
        for (coverage::Term term : problem.space.variables(*size.value))
          sizes.push_back(term);
  // Rows of ragged tiles are counted by a number that memory decides.
  auto isRagged = [&](const coverage::Expr &extent) {
    std::vector<coverage::Term> terms = problem.space.variables(extent);
    return std::any_of(terms.begin(), terms.end(), [&](coverage::Term term) {
      return std::find(sizes.begin(), sizes.end(), term) == sizes.end();
    });
  };
  for (const coverage::Stage &stage : problem.stages) {
    static constexpr std::string_view prefix = "elements of argument ";
    const auto *made = std::get_if<coverage::AffineStage>(&stage.kind);
    if (stage.name.rfind(prefix, 0) != 0 || !made)
      continue;
    size_t number = 0;
    while (number < problem.arguments.size() &&
           stage.name != std::string(prefix) + std::to_string(number))
      ++number;
    if (number == problem.arguments.size() ||
        problem.arguments[number].kind != coverage::Argument::Result ||
        problem.arguments[number].sizes.size() != made->coordinates.size())
      return "the stage '" + stage.name + "' is about no result";
    isMade[number] = true;
    for (size_t dim = 0; dim < made->coordinates.size(); ++dim) {
      coverage::Term coordinate = made->coordinates[dim];
      if (std::find(problem.outputs.begin(), problem.outputs.end(),
                    coordinate) == problem.outputs.end())
        return "the stage '" + stage.name + "' does not end at its elements";
      const coverage::Range &range = problem.space.range(coordinate);
      const std::optional<coverage::Expr> &size =
          problem.arguments[number].sizes[dim].value;
      bool isWhole = range.lower == 0 && range.upper && size &&
                     (*range.upper == *size || isRagged(*range.upper));
      if (!isWhole)
        return "the stage '" + stage.name + "' makes other elements than " +
               "argument " + std::to_string(number) + " has";
    }
  }
  for (size_t number = 0; number < isMade.size(); ++number) {
    const coverage::Argument &argument = problem.arguments[number];
    bool isEmpty = std::any_of(argument.sizes.begin(), argument.sizes.end(),
                               [](const coverage::Argument::Size &size) {
                                 return size.value && *size.value == 0;
                               });
    if (argument.kind == coverage::Argument::Result && !isMade[number] &&
        !isEmpty)
      return "no stage makes the elements of argument " +
             std::to_string(number);
  }
  for (size_t i = 0; i < problem.numGranted; ++i) {
    const coverage::Constraint &granted = problem.assumptions[i];
    bool isGrid = std::any_of(problem.grid.begin(), problem.grid.end(),
                              [&](const coverage::Expr &extent) {
                                return granted == coverage::atLeast(extent, 1);
                              });
    if (!isGrid && !problem.grid.empty())
      return "'" + problem.space.str(granted) + "' is granted, which is not " +
             "that the grid has tiles";
  }
  return "";
}

static RecheckResult recheckCoverage(std::string_view claim,
                                     std::string_view model) {
  alg::Expected<coverage::Problem> problem =
      coverage::readModel(std::string(model));
  if (!problem)
    return {RecheckVerdict::Unreadable, problem.message(), "", 0};
  if (std::string missing = findMissingResult(*problem); !missing.empty())
    return {RecheckVerdict::Refuted, "the model has a fault: " + missing, "",
            0};
  coverage::Result result = coverage::decide(*problem);
  if (result.verdict == coverage::Verdict::NotDecided)
    return {RecheckVerdict::NotDecided, result.reason, "", 0};
  if (result.verdict == coverage::Verdict::Refuted)
    return {RecheckVerdict::Refuted,
            "the model has a fault: " + result.finding.str(), "", 0};
  RecheckResult answer = compare(claim, describeCoverage(*problem));
  answer.figures = std::to_string(result.statistics.queries) +
                   " queries of up to " +
                   std::to_string(result.statistics.variables) + " variables";
  return answer;
}

static RecheckResult recheckNumerics(std::string_view claim,
                                     std::string_view model) {
  // The class is a digest of the normal form; the words behind it explain it.
  llvm::StringRef form(model.data(), model.size());
  if (mlir::tracea::isNumericsClaimOf(
          llvm::StringRef(claim.data(), claim.size()), form))
    return {RecheckVerdict::Confirmed, "", "", 0};
  return {RecheckVerdict::Refuted,
          "the model is of class " + mlir::tracea::getNumericsClass(form), "",
          0};
}

namespace {
struct Method {
  std::string_view check;
  RecheckResult (*decide)(std::string_view claim, std::string_view model);
};
constexpr Method methods[] = {{"banks", recheckBanks},
                              {"coverage", recheckCoverage},
                              {"numerics", recheckNumerics},
                              {"protocol", recheckPipeProtocol},
                              {"resources", recheckResources},
                              {"target-protocol", recheckTargetProtocol}};
} // namespace

std::vector<std::string_view> tracea::analysis::getRecheckedChecks() {
  std::vector<std::string_view> checks;
  for (const Method &method : methods)
    checks.push_back(method.check);
  return checks;
}

static RecheckResult recheck(std::string_view check, std::string_view claim,
                             std::string_view model) {
  for (const Method &method : methods)
    if (method.check == check)
      return model.empty()
                 ? RecheckResult{RecheckVerdict::Unreadable,
                                 "the certificate has no model to decide it "
                                 "from",
                                 "", 0}
                 : method.decide(claim, model);
  return {RecheckVerdict::NotDecided,
          "there is no method for the check '" + std::string(check) + "'", "",
          0};
}

RecheckResult tracea::analysis::recheckCertificate(std::string_view check,
                                                   std::string_view claim,
                                                   std::string_view model) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  RecheckResult result = recheck(check, claim, model);
  result.milliseconds =
      std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  return result;
}

RecheckResult tracea::analysis::recheckCertificate(std::string_view check,
                                                   std::string_view claim,
                                                   std::string_view model,
                                                   std::string_view digest) {
  if (digest.empty())
    return {RecheckVerdict::Unreadable,
            "the certificate has no digest of its text", "", 0};
  if (digest != getDigest(check, claim, model))
    return {RecheckVerdict::Refuted,
            "its text has changed since it was proved: the digest is of "
            "another one",
            "", 0};
  return recheckCertificate(check, claim, model);
}

std::string tracea::analysis::getDigest(std::string_view check,
                                        std::string_view claim,
                                        std::string_view model) {
  llvm::SHA256 hash;
  for (std::string_view text : {check, claim, model}) {
    // Texts have no line break, so that one between them keeps them apart.
    hash.update(llvm::StringRef(text.data(), text.size()));
    hash.update(llvm::StringRef("\n"));
  }
  return llvm::toHex(llvm::ArrayRef<uint8_t>(hash.final()).take_front(16),
                     /*LowerCase=*/true);
}
