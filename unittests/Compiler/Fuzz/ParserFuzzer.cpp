//===- ParserFuzzer.cpp - Arbitrary text as IR ----------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What parses and verifies must print, and parse again from its own text to
// something that prints the same: in the custom form and in the generic one.
//
//===----------------------------------------------------------------------===//

#include "FuzzContext.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tracea::fuzz;

static std::string print(ModuleOp module, bool generic) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  flags.printGenericOpForm(generic);
  module->print(stream, flags);
  return text;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  MLIRContext &context = getContext();
  OwningOpRef<ModuleOp> module = parse(data, size, context);
  if (!module)
    return 0;
  for (bool generic : {false, true}) {
    std::string text = print(*module, generic);
    Errors errors(context);
    OwningOpRef<ModuleOp> again =
        tracea::compiler::parseModule(text, context, "printed.mlir");
    require(bool(again), "printed text does not parse",
            errors.last + "\n" + text);
    std::string twice = print(*again, generic);
    require(twice == text, "printed text parses to something else",
            text + "\n--- against ---\n" + twice);
  }
  return 0;
}
