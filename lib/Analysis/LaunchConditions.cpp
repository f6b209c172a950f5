//===- LaunchConditions.cpp - Whether a launch keeps what was proved ------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Coverage is proved for launches as the host makes them: of so many results,
// with sizes that the host has compared. The model of the certificate says all
// of it. A host that no longer compares them launches another kernel, so to
// speak, though its body is the same.

#include "KernelCoverage/Indices/LaunchFacts.h"
#include "tracea/Analysis/Certificates.h"
#include "tracea/Analysis/Coverage/Decide.h"
#include "tracea/Dialect/TraceaPipe/IR/KernelInterface.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
using cov::Expr;
using cov::Term;

namespace {
/// Compares what a model asks of launches with what the host gives.
class Comparison {
public:
  Comparison(KernelOp kernel, cov::Problem &claim, const LaunchFacts &facts)
      : kernel(kernel), claim(claim), facts(facts), math(claim.space) {}

  /// Says which check of the host is missing; empty where none is.
  std::string run();

private:
  std::string compareArgument(unsigned number);
  std::string compareSize(SizeKey key, const Expr &value);
  std::string compareAssumptions();
  Expr fromHost(const Expr &left, const Expr &right,
                std::optional<Term> ratio = std::nullopt,
                std::optional<Term> name = std::nullopt,
                bool isDefinition = false);
  bool isKnownRatio(const cov::Constraint &assumption);
  static bool isSame(const cov::Constraint &known,
                     const cov::Constraint &assumption);
  std::string nameOf(SizeKey key) const {
    std::string argument = "argument #" + std::to_string(key.first);
    return key.second < 0
               ? argument
               : "dimension " + std::to_string(key.second) + " of " + argument;
  }

  KernelOp kernel;
  cov::Problem &claim;
  const LaunchFacts &facts;
  cov::IndexArithmetic math;
  /// By symbol: the size that was seen first. By class: what the model calls
  /// it.
  std::map<Expr, SizeKey> first;
  std::map<unsigned, Expr> sizes;
  /// Which of the host's ratios a symbol of the model is.
  std::map<Term, Term> ratios;
};
} // namespace

std::string Comparison::compareSize(SizeKey key, const Expr &value) {
  auto found = facts.classes.find(key);
  if (found == facts.classes.end())
    return nameOf(key) + " to be known only to a launch";
  unsigned number = found->second;
  auto constant = facts.constants.find(number);
  if (value.isConstant()) {
    if (constant == facts.constants.end() ||
        constant->second != value.constant())
      return nameOf(key) + " to be " + std::to_string(value.constant());
    return "";
  }
  auto [place, inserted] = first.try_emplace(value, key);
  if (inserted) {
    sizes.try_emplace(number, value);
    return "";
  }
  unsigned other = facts.classes.at(place->second);
  auto otherConstant = facts.constants.find(other);
  bool isEqual = number == other || (constant != facts.constants.end() &&
                                     otherConstant != facts.constants.end() &&
                                     constant->second == otherConstant->second);
  if (!isEqual)
    return nameOf(key) + " to be " + nameOf(place->second);
  sizes.try_emplace(number, value);
  return "";
}

std::string Comparison::compareArgument(unsigned number) {
  const cov::Argument &argument = claim.arguments[number];
  Type type = kernel.getArgumentTypes()[number];
  auto memref = dyn_cast<MemRefType>(type);
  bool isScalar = argument.kind == cov::Argument::Scalar;
  size_t count = memref ? memref.getRank() : type.isIntOrIndex();
  if (isScalar == bool(memref) || argument.sizes.size() != count)
    return "another type of argument #" + std::to_string(number);
  bool isResult = argument.kind == cov::Argument::Result;
  if (memref && !isResult && facts.results.count(number))
    return "argument #" + std::to_string(number) + " to be no result";
  if (memref && isResult && facts.inputs.count(number))
    return "argument #" + std::to_string(number) + " to be a result";
  for (auto [dim, size] : llvm::enumerate(argument.sizes)) {
    bool isDynamic = !memref || memref.isDynamicDim(dim);
    if (isDynamic != size.isDynamic ||
        (!isDynamic && (!size.value || *size.value != memref.getDimSize(dim))))
      return "another type of argument #" + std::to_string(number);
    if (!isDynamic || !size.value)
      continue;
    SizeKey key{number, memref ? static_cast<int64_t>(dim) : -1};
    if (std::string lack = compareSize(key, *size.value); !lack.empty())
      return lack;
  }
  return "";
}

/// What the host knows, in the model's words; `ratio`, a quotient of two sizes
/// that the host has found to divide each other, is `name` there. Invalid where
/// the model does not name all of it. A definition is how a size is computed.
Expr Comparison::fromHost(const Expr &left, const Expr &right,
                          std::optional<Term> ratio, std::optional<Term> name,
                          bool isDefinition) {
  auto replace = [&](Term term) -> std::optional<Expr> {
    // How a size is computed is not said in its own terms.
    if (isDefinition && !facts.host->isVariable(term))
      return std::nullopt;
    if (ratio && term == *ratio)
      return Expr(*name);
    return facts.get(term, [&](unsigned number) -> std::optional<Expr> {
      auto size = sizes.find(number);
      return size == sizes.end() ? std::nullopt
                                 : std::optional<Expr>(size->second);
    });
  };
  return transfer(left, *facts.host, math, replace) - right;
}

/// Whether the host has checked what `assumption` says of a ratio of sizes,
/// which is one and the same in all assumptions.
bool Comparison::isKnownRatio(const cov::Constraint &assumption) {
  for (Term name : claim.space.variables(assumption.expr)) {
    bool isSize = llvm::any_of(
        first, [&](const auto &size) { return size.first == Expr(name); });
    if (isSize || claim.space.kind(name) != cov::TermKind::Symbol)
      continue;
    for (const LaunchFacts::Ratio &ratio : facts.ratios) {
      auto bound = ratios.find(name);
      if (bound != ratios.end() && bound->second != ratio.symbol)
        continue;
      for (const cov::Constraint &check : facts.checks)
        if (isSame(
                {fromHost(check.expr, 0, ratio.symbol, name), check.equality},
                assumption)) {
          ratios.emplace(name, ratio.symbol);
          return true;
        }
    }
  }
  return false;
}

bool Comparison::isSame(const cov::Constraint &known,
                        const cov::Constraint &assumption) {
  return known.expr.isValid() &&
         (known == assumption || (assumption.equality && known.equality &&
                                  known.expr == -assumption.expr));
}

std::string Comparison::compareAssumptions() {
  std::vector<cov::Constraint> known;
  if (facts.host)
    for (const cov::Constraint &check : facts.checks)
      known.push_back({fromHost(check.expr, 0), check.equality});
  for (const auto &[term, inverse] : facts.inverses)
    if (facts.host->isVariable(term))
      known.push_back({fromHost(term, facts.host->range(term).lower), false});
  for (const auto &[number, size] : facts.computed)
    if (auto found = sizes.find(number); found != sizes.end())
      known.push_back({fromHost(size, found->second, std::nullopt, std::nullopt,
                                /*isDefinition=*/true),
                       /*equality=*/true});
  for (size_t i = claim.numGranted; i < claim.assumptions.size(); ++i) {
    const cov::Constraint &assumption = claim.assumptions[i];
    if (llvm::none_of(known,
                      [&](const cov::Constraint &other) {
                        return isSame(other, assumption);
                      }) &&
        !isKnownRatio(assumption))
      return claim.space.str(assumption);
  }
  return "";
}

std::string Comparison::run() {
  if (claim.arguments.size() != kernel.getArgumentTypes().size())
    return claim.arguments.empty()
               ? "what their model does not say: it names no arguments"
               : std::to_string(claim.arguments.size()) + " arguments";
  for (unsigned number = 0; number < claim.arguments.size(); ++number)
    if (std::string lack = compareArgument(number); !lack.empty())
      return lack;
  return compareAssumptions();
}

LaunchLack mlir::tracea::findLaunchLack(Operation *op) {
  auto kernel = dyn_cast<KernelOp>(op);
  auto certificates = op->getAttrOfType<ArrayAttr>(kCertificatesAttrName);
  if (!kernel || !certificates)
    return {};
  CertificateAttr certificate;
  for (Attribute entry : certificates)
    if (auto known = dyn_cast<CertificateAttr>(entry);
        known && known.getCheck() == "coverage")
      certificate = known;
  if (!certificate)
    return {};
  std::optional<SmallVector<LaunchOp>> launches = findLaunches(kernel);
  if (launches && launches->empty())
    return {};
  auto claim = cov::readModel(certificate.getModel().str());
  if (!claim)
    return {launches ? launches->front() : op,
            "a coverage model that can be read (" + claim.message() + ")"};
  if (!launches)
    return {op, "launches in functions alone"};
  auto compare = [&](ArrayRef<LaunchOp> some) {
    cov::Problem copy = *claim;
    LaunchFacts facts = getLaunchFacts(kernel, some);
    return Comparison(kernel, copy, facts).run();
  };
  // What one launch has checked is not what all have.
  std::string lack = compare(*launches);
  if (lack.empty())
    return {};
  for (LaunchOp launch : *launches)
    if (std::string own = compare(launch); !own.empty())
      return {launch, own};
  return {launches->front(), lack};
}
