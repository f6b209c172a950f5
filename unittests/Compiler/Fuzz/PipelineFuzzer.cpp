//===- PipelineFuzzer.cpp - Arbitrary modules through the compiler --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What parses is compiled, or refused with a message. A first line such as
// `// from=tile to=target` chooses the phases; without one they are all but
// the last.
//
//===----------------------------------------------------------------------===//

#include "FuzzContext.h"

#include "mlir/Pass/PassManager.h"
#include "tracea/Pipelines/Pipelines.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace ::tracea::fuzz;

static Phase parsePhase(StringRef line, StringRef key, Phase otherwise) {
  size_t at = line.find(key);
  if (at == StringRef::npos)
    return otherwise;
  return llvm::StringSwitch<Phase>(
             line.drop_front(at + key.size()).take_while(llvm::isAlpha))
      .Case("semantic", Phase::Semantic)
      .Case("decision", Phase::Decision)
      .Case("tile", Phase::Tile)
      .Case("pipeline", Phase::Pipeline)
      .Case("target", Phase::Target)
      .Default(otherwise);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef text(reinterpret_cast<const char *>(data), size);
  StringRef line = text.starts_with("//") ? text.split('\n').first : "";
  MLIRContext &context = getContext();
  OwningOpRef<ModuleOp> module = parse(data, size, context);
  if (!module)
    return 0;

  CompilePipelineOptions options;
  // A machine of the tables, so that a finding is one everywhere.
  options.target = "x86-64-v3";
  options.threads = 2;
  options.from = parsePhase(line, "from=", Phase::Semantic);
  options.to = parsePhase(line, "to=", Phase::Pipeline);
  options.reference = line.contains("reference");
  PassManager manager(&context);
  buildCompilePipeline(manager, options);

  Errors errors(context);
  LogicalResult compiled = manager.run(*module);
  require(succeeded(compiled) || errors.count != 0,
          "refused without a message");
  return 0;
}
