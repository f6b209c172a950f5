//===- CompilerLibraryMain.cpp - The one symbol of libtracea --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each compilation has a context of its own: any number may go on at a time.

#include "CompilerInterface.h"

#include "mlir/IR/MLIRContext.h"
#include "tracea/Compiler/Compiler.h"
#include "tracea/Compiler/Remarks.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace ::tracea::compiler;

/// The errors of a compilation, and the notes behind them.
static LogicalResult collect(Diagnostic &diagnostic, std::string &text) {
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
    return success(diagnostic.getSeverity() != DiagnosticSeverity::Note);
  llvm::raw_string_ostream out(text);
  auto write = [&](Diagnostic &part, const char *what) {
    Place place = getPlace(part.getLocation());
    if (!text.empty())
      out << "\n";
    if (place.line)
      out << place.file << ":" << place.line << ":" << place.column << ": ";
    out << what << part.str();
  };
  write(diagnostic, "");
  for (Diagnostic &note : diagnostic.getNotes())
    write(note, "note: ");
  return success();
}

static std::string toJSON(const std::vector<Remark> &remarks) {
  llvm::json::Array list;
  for (const Remark &remark : remarks)
    list.push_back(
        llvm::json::Object{{"line", static_cast<int64_t>(remark.place.line)},
                           {"kind", llvm::json::fixUTF8(remark.kind)},
                           {"category", llvm::json::fixUTF8(remark.category)},
                           {"name", llvm::json::fixUTF8(remark.name)},
                           {"text", llvm::json::fixUTF8(remark.text)}});
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(list));
  return text;
}

static void compile(const TraceaCompilerRequest *request,
                    const TraceaCompilerSink *sink) {
  RemarkCollector remarks;
  DialectRegistry registry;
  registerAllDialects(registry);
  // With threads of its own, which end with it: a program that forks has none
  // of them left over.
  MLIRContext context(registry);
  context.printOpOnDiagnostic(false);
  std::string errors;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    return collect(diagnostic, errors);
  });
  auto fail = [&](const char *fallback, bool isInvalid) {
    if (errors.empty())
      errors = fallback;
    sink->failure(sink->context, errors.data(), errors.size(), isInvalid);
  };
  OwningOpRef<ModuleOp> module = parseModule(
      StringRef(request->module, request->length), context, request->name);
  if (!module)
    return fail("the module cannot be parsed", true);
  if (failed(remarks.attach(context)))
    return fail("remarks cannot be collected", false);
  CompileOptions options;
  options.target = request->target;
  options.entry = request->entry;
  options.threads = request->threads;
  options.requireProof = request->requireProof != 0;
  StringRef fuse = request->fuse;
  options.fuse = fuse == "none"  ? Fusion::None
                 : fuse == "all" ? Fusion::All
                                 : Fusion::Safe;
  remarks.start();
  FailureOr<::tracea::runtime::ProgramFile> program =
      compileToProgram(*module, options);
  if (failed(program))
    return fail("the module cannot be compiled", false);
  ::tracea::runtime::Expected<std::vector<uint8_t>> bytes =
      program->serialize();
  if (!bytes) {
    errors = bytes.message();
    return fail("", false);
  }
  std::string decisions = toJSON(remarks.finish());
  sink->program(sink->context, bytes->data(), bytes->size(), decisions.data(),
                decisions.size());
}

extern "C" __attribute__((visibility("default")))
const TraceaCompilerInterface *
tracea_compiler_interface(void) {
  static const TraceaCompilerInterface interface = {
      traceaCompilerInterfaceVersion, TRACEA_VERSION, compile};
  return &interface;
}
