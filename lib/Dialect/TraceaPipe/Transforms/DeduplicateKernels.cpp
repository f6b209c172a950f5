//===- DeduplicateKernels.cpp - Equal kernels become one ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is proved of a kernel, and what code is generated for it, depends on its
// launches too: on what the host knows of the sizes, and on whether operands
// lie in the same memory. Launches that differ in this keep kernels of their
// own, so that sharing costs no proof and no speed; one of which more is known
// is no other.

#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/Remarks.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h"
#include "tracea/Dialect/TraceaPipe/Utils/Launches.h"
#include "llvm/ADT/SetVector.h"
#include <map>

#define DEBUG_TYPE "tracea-deduplicate-kernels"

namespace mlir::tracea_pipe {
#define GEN_PASS_DEF_DEDUPLICATEKERNELS
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h.inc"
} // namespace mlir::tracea_pipe

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {

/// Numbers for kernels; equal kernels have one.
class KernelClasses {
public:
  unsigned get(KernelOp kernel);

private:
  DenseMap<Operation *, unsigned> numbers;
  /// The first kernel of each class of equal kernels, by the hash of its body.
  DenseMap<uint64_t, SmallVector<KernelOp, 1>> kernels;
};

} // namespace

/// What a launch says of its operands. Before memory is assigned nothing is
/// known of it.
static LaunchDescription describe(LaunchOp launch, LaunchSizes &sizes) {
  if (launch.getNumResults() != 0)
    return {};
  LaunchDescription result = sizes.describe(launch);
  llvm::SmallBitVector aliased = getAliasedOperands(launch);
  for (unsigned operand : aliased.set_bits())
    result.sizes += "; aliased " + std::to_string(operand);
  return result;
}

/// Of what isEqual compares; values count by the order of their definitions.
static uint64_t getHash(KernelOp kernel) {
  llvm::hash_code hash = mlir::hash_value(kernel.getFunctionType());
  DenseMap<Value, unsigned> numbers;
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Block *block) {
    for (Value argument : block->getArguments())
      numbers.try_emplace(argument, numbers.size());
    for (Operation &op : *block) {
      for (Value result : op.getResults())
        numbers.try_emplace(result, numbers.size());
      hash = llvm::hash_combine(
          hash, OperationEquivalence::computeHash(
                    &op,
                    [&](Value value) {
                      return llvm::hash_value(numbers.lookup(value));
                    },
                    OperationEquivalence::ignoreHashValue,
                    OperationEquivalence::IgnoreLocations));
    }
  });
  return hash;
}

/// Whether two kernels differ in their names and locations alone.
static bool isEqual(KernelOp a, KernelOp b) {
  auto attributesOf = [](KernelOp kernel) {
    NamedAttrList attributes(kernel->getAttrDictionary());
    attributes.erase(kernel.getSymNameAttrName());
    return attributes.getDictionary(kernel.getContext());
  };
  return attributesOf(a) == attributesOf(b) &&
         OperationEquivalence::isRegionEquivalentTo(
             &a.getBody(), &b.getBody(), OperationEquivalence::IgnoreLocations);
}

unsigned KernelClasses::get(KernelOp kernel) {
  auto [number, isNew] = numbers.try_emplace(kernel, numbers.size());
  if (!isNew)
    return number->second;
  SmallVector<KernelOp, 1> &candidates = kernels[getHash(kernel)];
  for (KernelOp candidate : candidates)
    if (isEqual(candidate, kernel))
      return number->second = numbers.lookup(candidate);
  candidates.push_back(kernel);
  return number->second;
}

namespace {
struct DeduplicateKernels
    : mlir::tracea_pipe::impl::DeduplicateKernelsBase<DeduplicateKernels> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    KernelClasses classes;
    // Kernels by their class and the sizes that they are launched with, and
    // what is known of these where one is launched first.
    std::map<std::pair<unsigned, std::string>,
             SmallVector<std::pair<LaunchDescription, KernelOp>, 1>>
        chosen;
    // In the order of their first launches, so that output is stable.
    llvm::SetVector<Operation *> before;
    llvm::DenseSet<Operation *> after;
    auto choose = [&](KernelOp kernel, const LaunchDescription &launch) {
      before.insert(kernel);
      auto &choices = chosen[{classes.get(kernel), launch.sizes}];
      for (auto &[first, choice] : choices)
        if (launch.isCoveredBy(first))
          return choice;
      KernelOp choice = kernel;
      if (!after.insert(kernel).second) {
        choice = kernel.clone();
        symbols.insert(choice, std::next(kernel->getIterator()));
        after.insert(choice);
        ++numSplit;
      }
      choices.push_back({launch, choice});
      return choice;
    };

    for (Operation &host : *module.getBody()) {
      if (isa<KernelOp>(host))
        continue;
      LaunchSizes sizes(&host);
      host.walk([&](LaunchOp launch) {
        LaunchDescription description = describe(launch, sizes);
        SmallVector<FlatSymbolRefAttr> names;
        SmallVector<int64_t> most;
        for (FlatSymbolRefAttr name : launch.getKernels()) {
          auto kernel = symbols.lookup<KernelOp>(name.getAttr());
          KernelOp choice = choose(kernel, description);
          most.push_back(launch.getMostOf(names.size()));
          names.push_back(FlatSymbolRefAttr::get(choice));
          if (choice == kernel)
            continue;
          remark::passed(
              launch.getLoc(),
              remark::RemarkOpts::name("KernelShared").category(DEBUG_TYPE))
              << remark::reason("launches '{0}', which is the same as '{1}'",
                                choice.getSymName(), kernel.getSymName());
        }
        launch.setKernels(names, most);
      });
    }

    for (Operation *op : before) {
      if (after.contains(op))
        continue;
      symbols.erase(op);
      ++numShared;
    }
  }
};
} // namespace
