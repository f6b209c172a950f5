//===- CompileParts.cpp - Machine code by several threads -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Target/Split/CompileParts.h"

#include "mlir/IR/Threading.h"
#include "tracea/Target/Split/SplitModule.h"

using namespace mlir;
using namespace mlir::tracea;

FailureOr<std::vector<std::string>>
mlir::tracea::compileParts(ModuleOp module, size_t functionsInPart,
                           function_ref<LogicalResult(CodePart &)> translate,
                           function_ref<LogicalResult(CodePart &)> compile) {
  std::vector<std::unique_ptr<CodePart>> parts;
  for (OwningOpRef<ModuleOp> &part : splitModule(module, functionsInPart)) {
    parts.push_back(std::make_unique<CodePart>());
    parts.back()->module = std::move(part);
    if (failed(translate(*parts.back())))
      return failure();
  }
  if (failed(failableParallelForEach(
          module.getContext(), parts,
          [&](std::unique_ptr<CodePart> &part) { return compile(*part); })))
    return failure();
  std::vector<std::string> results;
  for (std::unique_ptr<CodePart> &part : parts)
    results.push_back(std::move(part->result));
  return results;
}
