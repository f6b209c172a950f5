//===- LimitedInput.cpp - Documents within the limits of all tools --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's server reads messages from `stdin` and parses what they hold. In its
// place comes a stream whose reader looks at each message first. The server
// asks for the next message when it is done with the one before, on the same
// thread, so that what the reader has to say to the editor comes in between.
//
//===----------------------------------------------------------------------===//

#include "LimitedInput.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/ToolUtilities.h"
#include "tracea/Compiler/ParseSource.h"
#include "tracea/Compiler/SourceLimits.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/LSP/Protocol.h"
#include "llvm/Support/LSP/Transport.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <memory>
#include <unistd.h>

using namespace llvm;
namespace tc = tracea::compiler;

namespace {

class LimitedInput {
public:
  LimitedInput(FILE *input, const mlir::DialectRegistry &registry)
      : input(input), registry(registry) {}

  /// Bytes for the server; none at the end of the input.
  size_t read(char *buffer, size_t size);

private:
  // Messages.
  bool readLine(std::string &line);
  bool readMessage(std::string &message);
  bool readStandardMessage(std::string line, std::string &message);
  bool readDelimitedMessage(std::string line, std::string &message);
  void give(const std::string &message);
  lsp::JSONTransport getTransport();

  // Documents.
  void take(std::string message);
  void open(json::Object &params);
  void change(json::Object &params);
  bool mayReadBytecode(json::Object &message);
  /// The document as the server may have it.
  std::string limit(const lsp::URIForFile &uri, int64_t version,
                    const std::string &text);

  FILE *input;
  const mlir::DialectRegistry &registry;
  /// Messages that follow their length, or, in tests, that lines delimit.
  std::optional<lsp::JSONStreamStyle> style;
  std::string pending;
  size_t given = 0;
  /// What the editor is told once the server has looked at the document.
  std::optional<lsp::PublishDiagnosticsParams> diagnostics;
  StringMap<std::string> texts;
};

} // namespace

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

bool LimitedInput::readLine(std::string &line) {
  line.clear();
  for (int c = std::fgetc(input); c != EOF; c = std::fgetc(input)) {
    line += static_cast<char>(c);
    if (c == '\n' || line.size() >= tc::maxModuleBytes)
      return true;
  }
  return !line.empty();
}

/// A header of lines that an empty one ends, then as many bytes as it says.
bool LimitedInput::readStandardMessage(std::string line, std::string &message) {
  uint64_t length = 0;
  do {
    StringRef field = StringRef(line).trim();
    if (field.empty() && length != 0)
      break;
    if (field.consume_front_insensitive("content-length:"))
      field.trim().getAsInteger(10, length);
  } while (readLine(line));
  if (length > tc::maxModuleBytes) {
    errs() << "error: expected a message of at most " << tc::maxModuleBytes
           << " bytes, found " << length << "\n";
    return false;
  }
  // Memory is taken for what comes, not for what is announced.
  message.clear();
  char bytes[1 << 16];
  while (message.size() < length) {
    size_t count = std::fread(
        bytes, 1, std::min<uint64_t>(sizeof bytes, length - message.size()),
        input);
    if (count == 0)
      return false;
    message.append(bytes, count);
  }
  return length != 0;
}

bool LimitedInput::readDelimitedMessage(std::string line,
                                        std::string &message) {
  message.clear();
  do {
    StringRef text = StringRef(line).trim();
    if (text.starts_with("//")) {
      if (text == mlir::kDefaultSplitMarker && !message.empty())
        return true;
      continue;
    }
    message += line;
  } while (message.size() < tc::maxModuleBytes && readLine(line));
  return !StringRef(message).trim().empty();
}

bool LimitedInput::readMessage(std::string &message) {
  std::string line;
  if (!readLine(line))
    return false;
  if (!style)
    style = StringRef(line).starts_with_insensitive("content-")
                ? lsp::JSONStreamStyle::Standard
                : lsp::JSONStreamStyle::Delimited;
  return *style == lsp::JSONStreamStyle::Standard
             ? readStandardMessage(std::move(line), message)
             : readDelimitedMessage(std::move(line), message);
}

void LimitedInput::give(const std::string &message) {
  pending = *style == lsp::JSONStreamStyle::Standard
                ? "Content-Length: " + std::to_string(message.size()) +
                      "\r\n\r\n" + message
                : message + "\n" + mlir::kDefaultSplitMarker + "\n";
}

lsp::JSONTransport LimitedInput::getTransport() {
  return lsp::JSONTransport(input, outs(), *style,
                            /*PrettyOutput=*/*style ==
                                lsp::JSONStreamStyle::Delimited);
}

size_t LimitedInput::read(char *buffer, size_t size) {
  if (given == pending.size()) {
    if (diagnostics)
      getTransport().notify("textDocument/publishDiagnostics",
                            lsp::toJSON(*diagnostics));
    diagnostics.reset();
    pending.clear();
    given = 0;
    std::string message;
    while (pending.empty() && readMessage(message))
      take(std::move(message));
  }
  size_t count = std::min(size, pending.size() - given);
  std::copy_n(pending.begin() + given, count, buffer);
  given += count;
  return count;
}

//===----------------------------------------------------------------------===//
// Documents
//===----------------------------------------------------------------------===//

void LimitedInput::take(std::string message) {
  auto refuse = [&](json::Value id, const std::string &why) {
    getTransport().reply(
        std::move(id),
        make_error<lsp::LSPError>(why, lsp::ErrorCode::InvalidRequest));
  };
  // The parser of messages recurses as well; a document is a string in one.
  if (std::optional<tc::DeepNesting> deep = tc::findDeepNesting(message))
    return refuse(nullptr, deep->message);
  Expected<json::Value> value = json::parse(message);
  json::Object *object = value ? value->getAsObject() : nullptr;
  if (!object) {
    consumeError(value.takeError());
    return give(message); // the server says what is wrong
  }
  StringRef method = object->getString("method").value_or("");
  if (json::Object *params = object->getObject("params")) {
    if (method == "textDocument/didOpen")
      open(*params);
    else if (method == "textDocument/didChange")
      change(*params);
    else if (method == "textDocument/didClose")
      if (json::Object *document = params->getObject("textDocument"))
        texts.erase(document->getString("uri").value_or(""));
    if (method == "mlir/convertFromBytecode" && !mayReadBytecode(*params)) {
      json::Value *id = object->get("id");
      return refuse(id ? *id : json::Value(nullptr),
                    "the bytecode does not keep to the limits on modules");
    }
  }
  std::string text;
  raw_string_ostream(text) << *value;
  give(text);
}

void LimitedInput::open(json::Object &params) {
  lsp::DidOpenTextDocumentParams opened;
  json::Path::Root root;
  json::Object *document = params.getObject("textDocument");
  if (!document || !fromJSON(json::Object(params), opened, root))
    return;
  const lsp::TextDocumentItem &item = opened.textDocument;
  texts[item.uri.uri()] = item.text;
  (*document)["text"] = limit(item.uri, item.version, item.text);
}

/// The server may have another text than the editor, so that it is always given
/// all of it.
void LimitedInput::change(json::Object &params) {
  lsp::DidChangeTextDocumentParams changed;
  json::Path::Root root;
  if (!fromJSON(json::Object(params), changed, root))
    return;
  const lsp::URIForFile &uri = changed.textDocument.uri;
  auto known = texts.find(uri.uri());
  if (known == texts.end() ||
      failed(lsp::TextDocumentContentChangeEvent::applyTo(
          changed.contentChanges, known->second)))
    return;
  params["contentChanges"] = json::Array{json::Object{
      {"text", limit(uri, changed.textDocument.version, known->second)}}};
}

std::string LimitedInput::limit(const lsp::URIForFile &uri, int64_t version,
                                const std::string &text) {
  std::optional<tc::DeepNesting> deep =
      tc::findDeepNesting(text, mlir::kDefaultSplitMarker);
  if (!deep && text.size() > tc::maxModuleBytes)
    deep = tc::DeepNesting{1, 1,
                           "expected a module of at most " +
                               std::to_string(tc::maxModuleBytes) + " bytes"};
  if (!deep)
    return text;
  lsp::Diagnostic diagnostic;
  diagnostic.range = lsp::Range(lsp::Position(
      static_cast<int>(deep->line) - 1, static_cast<int>(deep->column) - 1));
  diagnostic.severity = lsp::DiagnosticSeverity::Error;
  diagnostic.source = "mlir";
  diagnostic.message = deep->message;
  diagnostics.emplace(uri, version);
  diagnostics->diagnostics.push_back(std::move(diagnostic));
  return "";
}

bool LimitedInput::mayReadBytecode(json::Object &params) {
  lsp::URIForFile uri;
  json::Path::Root root;
  json::Value *name = params.get("uri");
  if (!name || !fromJSON(*name, uri, root))
    return true; // the server says what is wrong
  tracea::runtime::Expected<std::unique_ptr<MemoryBuffer>> file =
      tc::readModuleText(uri.file().str());
  if (!file) {
    errs() << "error: " << file.message() << "\n";
    return false;
  }
  if (!tc::isBytecode((*file)->getBuffer()))
    return true;
  mlir::MLIRContext context(registry);
  context.allowUnregisteredDialects();
  SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*file), SMLoc());
  return tc::keepsToLimits(sources, context);
}

//===----------------------------------------------------------------------===//
// The stream
//===----------------------------------------------------------------------===//

bool tracea::lsp::limitInput(const mlir::DialectRegistry &registry) {
#ifdef __GLIBC__
  FILE *input = ::fdopen(::dup(STDIN_FILENO), "rb");
  if (input) {
    // It lives as long as the stream, which is as long as the process.
    auto *limited = new LimitedInput(input, registry);
    cookie_io_functions_t functions = {};
    functions.read = [](void *cookie, char *buffer, size_t size) {
      return static_cast<ssize_t>(
          static_cast<LimitedInput *>(cookie)->read(buffer, size));
    };
    functions.close = [](void *cookie) {
      delete static_cast<LimitedInput *>(cookie);
      return 0;
    };
    if (FILE *stream = ::fopencookie(limited, "rb", functions)) {
      stdin = stream;
      return true;
    }
    delete limited;
  }
#endif
  errs() << "error: the standard input cannot be limited on this system\n";
  return false;
}
