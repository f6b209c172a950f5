//===- Results.cpp - What a launch asks of a kernel, and gives it ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The results of a kernel are the arguments that its launches have under
// `outs`, whether it stores to them or not. What else of a launch a proof has
// relied on, sizes that the host has compared above all, goes into its model,
// so that launches can be compared with it later.

#include "KernelCoverage.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
using cov::Expr;
using cov::Term;

static bool isEmpty(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return !memref || llvm::is_contained(memref.getShape(), 0);
}

void KernelCoverage::extractResults() {
  std::map<unsigned, Operation *> stores;
  for (const Site &site : sites)
    stores.try_emplace(cast<BlockArgument>(site.buffer).getArgNumber(),
                       site.op);
  for (auto [argument, store] : stores)
    if (auto launch = indices.facts.inputs.find(argument);
        launch != indices.facts.inputs.end())
      resultFaults.push_back({argument, store, launch->second});
  // An operation that was not understood is a gap already, and may be the store
  // that seems to be missing.
  if (hasUnknown)
    return;
  for (auto [argument, launch] : indices.facts.results)
    if (!stores.count(argument) && !isEmpty(indices.type.getInput(argument)))
      resultFaults.push_back({argument, nullptr, launch});
}

void KernelCoverage::extractGrid() {
  for (Value bound : kernel.getTiles().getBounds()) {
    Expr extent = context.get(bound);
    bool isKnown =
        extent.isValid() &&
        llvm::all_of(problem.space.variables(extent), [&](Term term) {
          return indices.symbolArguments.count(term) > 0;
        });
    // All of it, or a launch cannot be compared with it.
    if (!isKnown) {
      problem.grid.clear();
      return;
    }
    problem.grid.push_back(extent);
  }
}

void KernelCoverage::describeLaunch(cov::Problem &proved) const {
  const LaunchFacts &facts = indices.facts;
  // The first size of a class gives the symbol its name.
  std::map<unsigned, Expr> symbols;
  for (const auto &[key, number] : facts.classes) {
    auto [symbol, inserted] = symbols.try_emplace(number, Expr::invalid());
    if (!inserted)
      continue;
    std::optional<Term> found = proved.space.find(getSizeName(key));
    if (auto known = facts.constants.find(number);
        known != facts.constants.end())
      symbol->second = known->second;
    else if (found && indices.symbolArguments.count(*found))
      symbol->second = *found;
  }
  std::set<unsigned> written;
  for (const Site &site : sites)
    written.insert(cast<BlockArgument>(site.buffer).getArgNumber());
  for (unsigned number = 0; number < indices.type.getNumInputs(); ++number) {
    Type type = indices.type.getInput(number);
    cov::Argument argument;
    auto addSize = [&](int64_t dim) {
      cov::Argument::Size size;
      size.isDynamic = true;
      if (Expr value = symbols.at(facts.classes.at({number, dim}));
          value.isValid())
        size.value = value;
      argument.sizes.push_back(size);
    };
    auto memref = dyn_cast<MemRefType>(type);
    bool isResult = facts.results.count(number) || written.count(number);
    argument.kind = !memref    ? cov::Argument::Scalar
                    : isResult ? cov::Argument::Result
                               : cov::Argument::Input;
    if (type.isIntOrIndex())
      addSize(-1);
    for (int64_t dim = 0; memref && dim < memref.getRank(); ++dim)
      if (memref.isDynamicDim(dim))
        addSize(dim);
      else
        argument.sizes.push_back({Expr(memref.getDimSize(dim)), false});
    proved.arguments.push_back(std::move(argument));
  }
}
