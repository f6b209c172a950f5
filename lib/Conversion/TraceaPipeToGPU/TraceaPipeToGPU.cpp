//===- TraceaPipeToGPU.cpp - Register tiles become values of threads ------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Conversion/TraceaPipeToGPU/TraceaPipeToGPU.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "tracea/Analysis/Banks.h"
#include "tracea/Conversion/Passes.h"
#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_CONVERTTRACEAPIPETOGPU
#include "tracea/Conversion/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

/// The banks of the module's target.
static alg::Expected<alg::BankModel> getBanks(ModuleOp module) {
  auto target = module->getAttrOfType<mlir::tracea::TargetAttr>(
      mlir::tracea::TraceaDialect::kTargetAttrName);
  if (!target)
    return alg::Error{"needs the attribute '" +
                      mlir::tracea::TraceaDialect::kTargetAttrName.str() +
                      "' to know the lanes and banks of its target"};
  std::optional<::tracea::target::TargetDescription> known =
      ::tracea::target::lookup(target.getName().str());
  if (!known)
    return alg::Error{"has an unknown target, '" + target.getName().str() +
                      "'"};
  return mlir::tracea::getBankModel(*known);
}

namespace {
struct ConvertTraceaPipeToGPU
    : mlir::tracea::impl::ConvertTraceaPipeToGPUBase<ConvertTraceaPipeToGPU> {
  using ConvertTraceaPipeToGPUBase::ConvertTraceaPipeToGPUBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    alg::Expected<alg::BankModel> banks = getBanks(module);
    if (!banks) {
      module.emitError() << "the module " << banks.message();
      return signalPassFailure();
    }
    GPULoweringContext context;
    context.banks = *banks;
    context.baseAlignment = baseAlignment;
    if (failed(convertRegisterTiles(module, context)))
      return signalPassFailure();

    numShuffles += context.numShuffles;
    numSelects += context.numSelects;
    numExchanges += context.numExchanges;
  }
};
} // namespace
