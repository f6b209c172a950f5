//===- FaultPasses.cpp - Injects faults, and asks who finds them ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FaultPasses.h"
#include "Faults.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "tracea/Analysis/Passes.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace tracea::test {

std::vector<Fault> getFaults() {
  std::vector<Fault> faults;
  addProtocolFaults(faults);
  addBankFaults(faults);
  addCoverageFaults(faults);
  addResourceFaults(faults);
  return faults;
}

namespace {

struct InjectFault : PassWrapper<InjectFault, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InjectFault)

  InjectFault() = default;
  InjectFault(const InjectFault &other) : PassWrapper(other) {}
  StringRef getArgument() const final { return "test-tracea-inject-fault"; }
  StringRef getDescription() const final {
    return "Make one named mistake in a correct kernel";
  }

  void runOnOperation() override {
    for (const Fault &fault : getFaults()) {
      if (name != fault.name)
        continue;
      if (fault.inject(getOperation()))
        return;
      getOperation().emitError()
          << "has nothing that the fault '" << name << "' could change";
      return signalPassFailure();
    }
    getOperation().emitError() << "no fault is named '" << name << "'";
    signalPassFailure();
  }

  Option<std::string> name{*this, "name", llvm::cl::desc("The fault")};
};

/// One check, with nothing left undecided.
std::unique_ptr<Pass> createCheck(StringRef check) {
  auto demand = [](auto options) {
    options.requireProof = true;
    return options;
  };
  if (check == "protocol")
    return mlir::tracea::createVerifyProtocol(
        demand(mlir::tracea::VerifyProtocolOptions()));
  if (check == "banks")
    return mlir::tracea::createVerifyBanks(
        demand(mlir::tracea::VerifyBanksOptions()));
  if (check == "coverage")
    return mlir::tracea::createVerifyCoverage(
        demand(mlir::tracea::VerifyCoverageOptions()));
  return mlir::tracea::createVerifyResources(
      demand(mlir::tracea::VerifyResourcesOptions()));
}

constexpr const char *kChecks[] = {"protocol", "banks", "coverage",
                                   "resources"};

/// The first error and its place.
struct Rejection {
  std::string check, message;
};

/// The checks that reject the only kernel of `module`.
std::vector<Rejection> getRejections(ModuleOp module) {
  std::vector<Rejection> found;
  std::string message;
  ScopedDiagnosticHandler handler(
      module.getContext(), [&](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
            message.empty()) {
          llvm::raw_string_ostream stream(message);
          if (auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
            stream << place.getLine() << ':' << place.getColumn() << ": ";
          stream << diagnostic.str();
        }
        return success();
      });
  if (failed(verify(module))) {
    found.push_back({"verifier", message});
    return found;
  }
  for (StringRef check : kChecks) {
    message.clear();
    PassManager manager(module.getContext());
    manager.enableVerifier(false);
    manager.nest<KernelOp>().addPass(createCheck(check));
    if (failed(manager.run(module)))
      found.push_back({check.str(), message});
  }
  return found;
}

/// Injects every fault into every kernel of a module, one at a time.
struct FaultSuite : PassWrapper<FaultSuite, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FaultSuite)

  FaultSuite() = default;
  FaultSuite(const FaultSuite &other) : PassWrapper(other) {}
  StringRef getArgument() const final { return "test-tracea-fault-suite"; }
  StringRef getDescription() const final {
    return "Inject all faults into all kernels, and list who rejects them";
  }

  ListOption<std::string> open{
      *this, "open",
      llvm::cl::desc("Faults of this kernel that no check finds yet")};

  void runOnOperation() override {
    ModuleOp module = getOperation();
    int64_t injected = 0, missed = 0;
    llvm::StringSet<> names;
    for (KernelOp kernel : module.getOps<KernelOp>()) {
      StringRef name = kernel.getSymName();
      OwningOpRef<ModuleOp> correct = isolate(module, name);
      for (const Rejection &rejection : getRejections(*correct)) {
        kernel.emitError() << "is correct, but rejected by the check of "
                           << rejection.check << ": " << rejection.message;
        signalPassFailure();
      }
      for (const Fault &fault : getFaults()) {
        OwningOpRef<ModuleOp> mutant = isolate(module, name);
        if (!fault.inject(*mutant->getOps<KernelOp>().begin()))
          continue;
        ++injected;
        names.insert(fault.name);
        std::vector<Rejection> rejections = getRejections(*mutant);
        const Rejection *rejection = nullptr;
        for (const Rejection &other : rejections)
          if (other.check == fault.check || other.check == "verifier")
            rejection = &other;
        if (rejection) {
          llvm::outs() << name << '\t' << fault.name << '\t' << rejection->check
                       << '\t' << rejection->message << '\n';
          continue;
        }
        ++missed;
        if (llvm::is_contained(open, fault.name)) {
          llvm::outs() << name << '\t' << fault.name << "\topen\n";
          continue;
        }
        InFlightDiagnostic diag = kernel.emitError()
                                  << "with the fault '" << fault.name
                                  << "' is not rejected by the check of "
                                  << fault.check;
        for (const Rejection &other : rejections)
          diag.attachNote()
              << "but by that of " << other.check << ": " << other.message;
        signalPassFailure();
      }
    }
    llvm::outs() << names.size() << " faults, " << injected << " mutants, "
                 << missed << " missed\n";
  }

private:
  /// A module of this kernel, and of who launches it and no other.
  static OwningOpRef<ModuleOp> isolate(ModuleOp module, StringRef name) {
    OwningOpRef<ModuleOp> copy(cast<ModuleOp>(module->clone()));
    for (Operation &op :
         llvm::make_early_inc_range(copy->getBody()->getOperations())) {
      auto kernel = dyn_cast<KernelOp>(op);
      bool foreign = kernel && kernel.getSymName() != name;
      if (!kernel)
        op.walk(
            [&](LaunchOp launch) { foreign |= launch.getKernel() != name; });
      if (foreign)
        op.erase();
    }
    return copy;
  }
};

} // namespace

void registerFaultPasses() {
  PassRegistration<InjectFault>();
  PassRegistration<FaultSuite>();
}

} // namespace tracea::test
