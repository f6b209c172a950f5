//===- tracea-opt.cpp - Runs pass pipelines over IR -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tracea/Analysis/Passes.h"
#include "tracea/Conversion/Passes.h"
#include "tracea/Conversion/TraceaPipeToNVVM/TraceaPipeToNVVM.h"
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h"
#include "tracea/Doctor/Passes.h"
#include "tracea/InitTracea.h"
#include "tracea/Pipelines/Passes.h"
#include "tracea/Pipelines/Pipelines.h"
#include "tracea/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  mlir::tracea::registerTraceaDialects(registry);
  mlir::tracea::registerTraceaAnalysisPasses();
  mlir::tracea::registerTraceaConversionPasses();
  mlir::tracea::registerTraceaDoctorPasses();
  mlir::tracea::registerTraceaPipelinesPasses();
  mlir::tracea::registerTraceaTransformsPasses();
  mlir::tracea_pipe::registerTraceaPipePasses();
  mlir::tracea::registerCompilePipeline();
  mlir::tracea::registerNVVMToLLVMPipeline();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Tracea optimizer driver\n", registry));
}
