//===- SourceLimits.cpp - What text of a module may ask for ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A scan of characters before any parser sees them. It need not know the
// grammar: it has to find at least the depth that the parser would reach, and
// little more for modules that people and programs write.
//
//===----------------------------------------------------------------------===//

#include "tracea/Compiler/SourceLimits.h"

#include "tracea/Runtime/File.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

#include <vector>

using namespace llvm;
namespace tc = ::tracea::compiler;
namespace rt = ::tracea::runtime;

namespace {
class NestingScanner {
public:
  explicit NestingScanner(StringRef text) : text(text) {}

  /// The offset of the first place that is too deep.
  std::optional<size_t> run() {
    while (at < text.size()) {
      size_t place = at;
      step();
      if (depth() > tc::mostNesting || signs > tc::mostNesting ||
          deepest > tc::mostNesting)
        return place;
    }
    return std::nullopt;
  }

private:
  struct Level {
    char bracket;
    /// Operators since the last comma: MLIR's parser recurses over each, and
    /// makes a tree that is as deep as they are many.
    unsigned operators = 0;
  };

  unsigned depth() const {
    return static_cast<unsigned>(levels.size()) + operators;
  }

  char peek(size_t ahead = 0) const {
    return at + ahead < text.size() ? text[at + ahead] : '\0';
  }

  void step() {
    char c = peek();
    if (c != '-' && !isSpace(c))
      signs = 0;
    if (c == '"')
      return skipString();
    if (c == '/' && peek(1) == '/') {
      at = std::min(text.find('\n', at), text.size());
      return;
    }
    if ((c == '#' || c == '!') && isWord(peek(1)))
      return takeName(c);
    if (isAlpha(c) || c == '_' || c == '%' || c == '@' || c == '^')
      return takeWord();
    // Comparisons and arrows are no brackets and no operators.
    if ((c == '-' && peek(1) == '>') ||
        (StringRef("<>=!").contains(c) && peek(1) == '=')) {
      at += 2;
      return;
    }
    ++at;
    if (StringRef("([{<").contains(c)) {
      levels.push_back({c});
    } else if (StringRef(")]}>").contains(c)) {
      if (!levels.empty()) {
        operators -= levels.back().operators;
        levels.pop_back();
      }
    } else if (c == ',' && !levels.empty()) {
      operators -= levels.back().operators;
      levels.back().operators = 0;
    } else if (StringRef("+-*").contains(c)) {
      if (c == '-')
        ++signs;
      countOperator();
    }
    note(depth());
  }

  /// Affine expressions stand in parentheses and square brackets; elsewhere the
  /// same characters are signs of numbers.
  void countOperator() {
    if (levels.empty() ||
        (levels.back().bracket != '(' && levels.back().bracket != '['))
      return;
    ++levels.back().operators;
    ++operators;
  }

  static bool isWord(char c) {
    return isAlnum(c) || c == '_' || c == '$' || c == '.';
  }

  StringRef takeIdentifier() {
    size_t begin = at;
    while (isWord(peek()))
      ++at;
    return text.slice(begin, at);
  }

  void skipString() {
    for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
      if (text[at] == '\\')
        ++at;
    ++at;
  }

  void takeWord() {
    bool isName = !isAlpha(peek());
    at += isName; // past the sigil of a value, symbol or block
    StringRef word = takeIdentifier();
    if (isName)
      return;
    if (word == "floordiv" || word == "ceildiv" || word == "mod") {
      countOperator();
      note(depth());
    }
  }

  /// `#name` or `!name`: the definition of an alias where `=` follows, else
  /// perhaps its use.
  void takeName(char sigil) {
    size_t begin = at++;
    takeIdentifier();
    StringRef name = text.slice(begin, at);
    size_t next = at;
    while (next < text.size() && isSpace(text[next]))
      ++next;
    bool defines = next < text.size() && text[next] == '=' &&
                   !text.substr(next).starts_with("==");
    if (!defines) {
      auto known = aliases.find(name);
      if (known != aliases.end())
        note(depth() + known->second);
      return;
    }
    // What follows up to the next definition is taken for this one's, which at
    // most makes an alias deeper than it is: it cannot hide anything.
    if (!current.empty())
      aliases[current] = deepestHere;
    current = name;
    base = depth();
    deepestHere = 0;
    at = next + 1;
  }

  void note(unsigned found) {
    deepest = std::max(deepest, found);
    if (!current.empty())
      deepestHere = std::max(deepestHere, found - std::min(found, base));
  }

  StringRef text;
  size_t at = 0;
  std::vector<Level> levels;
  /// Operators that are open at all levels of nesting together.
  unsigned operators = 0;
  /// Minus signs in a row, over which the parser recurses wherever they are.
  unsigned signs = 0;
  unsigned deepest = 0;

  StringMap<unsigned> aliases;
  /// The alias that is being defined, from which depth, and how deep it goes.
  StringRef current;
  unsigned base = 0;
  unsigned deepestHere = 0;
};
} // namespace

/// Bytecode holds as text what its dialect has no encoding for, affine maps
/// among others: runs of printable characters, which are parsed as elsewhere.
/// What looks like one in a tensor's bytes is short.
static std::optional<size_t> scanBytecode(StringRef bytes) {
  auto isText = [](char c) { return isPrint(c) || isSpace(c); };
  for (size_t begin = 0; begin < bytes.size();) {
    StringRef run = bytes.substr(begin).take_while(isText);
    if (run.size() > tc::mostNesting)
      if (std::optional<size_t> at = NestingScanner(run).run())
        return begin + *at;
    begin += run.size() + 1;
  }
  return std::nullopt;
}

bool tc::isBytecode(std::string_view bytes) {
  return bytes.substr(0, 4) == "ML\xefR";
}

static std::optional<tc::DeepNesting> findInModule(StringRef text) {
  std::string_view source(text.data(), text.size());
  bool isBinary = tc::isBytecode(source);
  std::optional<size_t> at =
      isBinary ? scanBytecode(text) : NestingScanner(text).run();
  if (!at)
    return std::nullopt;
  tc::DeepNesting deep;
  StringRef before = isBinary ? StringRef() : text.take_front(*at);
  deep.line = static_cast<unsigned>(before.count('\n')) + 1;
  size_t lineBegin = before.rfind('\n');
  deep.column = static_cast<unsigned>(
      *at - (lineBegin == StringRef::npos ? 0 : lineBegin + 1) + 1);
  deep.message = "expected at most " + std::to_string(tc::mostNesting) +
                 " nested brackets, operators of one affine expression or "
                 "minus signs, found more";
  return deep;
}

std::optional<tc::DeepNesting>
tc::findDeepNesting(std::string_view source, std::string_view splitMarker) {
  StringRef text(source.data(), source.size());
  StringRef marker(splitMarker.data(), splitMarker.size());
  unsigned lines = 0;
  while (true) {
    size_t cut = marker.empty() ? StringRef::npos : text.find(marker);
    StringRef chunk = text.take_front(cut);
    if (std::optional<DeepNesting> deep = findInModule(chunk)) {
      deep->line += lines;
      return deep;
    }
    if (cut == StringRef::npos)
      return std::nullopt;
    lines += static_cast<unsigned>(chunk.count('\n'));
    text = text.drop_front(cut + marker.size());
  }
}

rt::Expected<std::unique_ptr<MemoryBuffer>>
tc::readModuleText(const std::string &path, std::string_view splitMarker) {
  std::string name = path == "-" ? "<stdin>" : path;
  rt::ReadLimit limit = [](rt::Bytes) -> rt::Expected<uint64_t> {
    return maxModuleBytes;
  };
  rt::Expected<std::vector<uint8_t>> bytes =
      path == "-" ? rt::readDescriptor(0, name, limit)
                  : rt::readFile(path, limit);
  if (!bytes)
    return bytes.status();
  StringRef text(reinterpret_cast<const char *>(bytes->data()), bytes->size());
  if (std::optional<DeepNesting> deep = findDeepNesting(text, splitMarker))
    return rt::Status::error(name + ":" + std::to_string(deep->line) + ":" +
                             std::to_string(deep->column) + ": " +
                             deep->message);
  return MemoryBuffer::getMemBufferCopy(text, name);
}
