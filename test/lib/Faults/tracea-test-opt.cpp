//===- tracea-test-opt.cpp - tracea-opt with the passes of the tests ------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FaultPasses.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tracea/Analysis/Passes.h"
#include "tracea/InitTracea.h"
#include "tracea/Pipelines/Pipelines.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::tracea::registerTraceaDialects(registry);
  registry.insert<mlir::cf::ControlFlowDialect, mlir::func::FuncDialect>();
  mlir::tracea::registerTraceaAnalysisPasses();
  mlir::tracea::registerCompilePipeline();
  ::tracea::test::registerFaultPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "Tracea's passes and those of its tests\n", registry));
}
