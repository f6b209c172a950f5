//===- tracea-lsp-server.cpp - Language server for Tracea's IR ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LimitedInput.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "tracea/Compiler/ToolMain.h"
#include "tracea/InitTracea.h"

static int run(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::tracea::registerTraceaDialects(registry);
  if (!tracea::lsp::limitInput(registry))
    return 1;
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}

int main(int argc, char **argv) {
  return tracea::compiler::runTool(argc, argv, run);
}
