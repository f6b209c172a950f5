//===- FuzzContext.h - Parsing of what a fuzzer made ------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_UNITTESTS_COMPILER_FUZZ_FUZZCONTEXT_H
#define TRACEA_UNITTESTS_COMPILER_FUZZ_FUZZCONTEXT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "tracea/Compiler/Compiler.h"

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace tracea::fuzz {

/// The context of the process. Attributes and types are never freed by a
/// context, so it gives way to a new one now and then.
inline mlir::MLIRContext &getContext() {
  static std::unique_ptr<mlir::MLIRContext> context;
  static unsigned uses = 0;
  if (!context || ++uses % 512 == 0) {
    mlir::DialectRegistry registry;
    compiler::registerAllDialects(registry);
    context = std::make_unique<mlir::MLIRContext>(
        registry, mlir::MLIRContext::Threading::DISABLED);
    context->loadAllAvailableDialects();
  }
  return *context;
}

/// Counts errors instead of printing them.
class Errors {
public:
  explicit Errors(mlir::MLIRContext &context)
      : handler(&context, [this](mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
            return;
          ++count;
          last = diagnostic.str();
        }) {}

  unsigned count = 0;
  std::string last;

private:
  mlir::ScopedDiagnosticHandler handler;
};

inline void require(bool condition, const char *what,
                    const std::string &detail = "") {
  if (condition)
    return;
  std::fprintf(stderr, "BROKEN: %s\n%s\n", what, detail.c_str());
  std::abort();
}

/// Whether LLVM's own parser would crash: the lists of some linalg operations
/// are used before it is known that they parsed, and arrays ask any element
/// type for its width.
inline bool crashesLLVM(llvm::StringRef text) {
  // The mark of a dynamic offset, written as a static one.
  if (text.contains("-9223372036854775808") &&
      (text.contains("tensor.") || text.contains("memref.")))
    return true;
  for (size_t at = text.find("array"); at != text.npos;
       at = text.find("array", at + 1)) {
    llvm::StringRef rest = text.drop_front(at + 5).ltrim();
    if (!rest.consume_front("<"))
      continue;
    llvm::StringRef type = rest.ltrim().take_while(llvm::isAlnum);
    if (!llvm::is_contained({"i1", "i8", "i16", "i32", "i64", "f32", "f64"},
                            type))
      return true;
  }
  for (llvm::StringRef key : {"permutation", "dimensions", "iterator_types"})
    for (size_t at = text.find(key); at != text.npos;
         at = text.find(key, at + 1)) {
      llvm::StringRef rest = text.drop_front(at + key.size()).ltrim();
      if (!rest.consume_front("="))
        continue;
      rest = rest.ltrim();
      if (!rest.consume_front("["))
        return true;
      llvm::SmallVector<llvm::StringRef> items;
      rest.take_until([](char c) { return c == ']'; }).split(items, ',');
      for (llvm::StringRef item : items) {
        int64_t number;
        item = item.trim();
        bool plain = key == "iterator_types"
                         ? item.size() >= 2 && item.front() == '"' &&
                               item.back() == '"' && item.count('"') == 2
                         : !item.getAsInteger(10, number) ||
                               (items.size() == 1 && item.empty());
        if (!plain)
          return true;
      }
    }
  return false;
}

/// The module that `data` holds; none where it was refused, with a message.
inline mlir::OwningOpRef<mlir::ModuleOp> parse(const uint8_t *data, size_t size,
                                               mlir::MLIRContext &context) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  if (crashesLLVM(text))
    return nullptr;
  Errors errors(context);
  // `parseModule` copies the text, with the NUL that the lexer stops at.
  mlir::OwningOpRef<mlir::ModuleOp> module =
      compiler::parseModule(text, context, "fuzz.mlir");
  require(module || errors.count != 0, "refused without a message");
  return module;
}

} // namespace tracea::fuzz

#endif // TRACEA_UNITTESTS_COMPILER_FUZZ_FUZZCONTEXT_H
