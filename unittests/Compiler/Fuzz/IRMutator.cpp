//===- IRMutator.cpp - Mutates IR text by its tokens ----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Changed bytes hardly ever parse. Changed tokens often do: an extent that
// changes everywhere at once keeps the shapes consistent, a keyword gives way
// to another keyword, a bracketed list to another list. Tokens that were seen
// in one input turn up in the next.
//
//===----------------------------------------------------------------------===//

#include "IRMutator.h"

#include <array>
#include <cctype>
#include <random>
#include <vector>

// libFuzzer's own mutations of bytes.
extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

using namespace tracea::fuzz;

namespace {

enum class Kind {
  Space,
  Integer,
  Float,
  Word,   // keywords, op names, element types
  Value,  // %x
  Symbol, // @x, #x, !x, ^x
  String,
  Open,
  Close,
  Other
};
constexpr size_t numKinds = static_cast<size_t>(Kind::Other) + 1;

struct Token {
  Kind kind;
  std::string text;
};
using Tokens = std::vector<Token>;

class Random {
public:
  explicit Random(unsigned seed) : engine(seed) {}
  size_t below(size_t bound) { return bound == 0 ? 0 : engine() % bound; }
  bool oneIn(size_t n) { return below(n) == 0; }

private:
  std::minstd_rand engine;
};

} // namespace

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

static bool isDigit(char c) {
  return std::isdigit(static_cast<unsigned char>(c));
}
static bool isWordStart(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
}
static bool isWord(char c) {
  return isWordStart(c) || isDigit(c) || c == '.' || c == '$';
}

static Tokens tokenize(std::string_view text) {
  Tokens tokens;
  size_t at = 0;
  auto take = [&](Kind kind, size_t end) {
    tokens.push_back({kind, std::string(text.substr(at, end - at))});
    at = end;
  };
  auto scan = [&](size_t from, auto &&accepts) {
    while (from < text.size() && accepts(text[from]))
      ++from;
    return from;
  };
  while (at < text.size()) {
    char c = text[at];
    char next = at + 1 < text.size() ? text[at + 1] : '\0';
    bool afterExtent = !tokens.empty() &&
                       (tokens.back().kind == Kind::Integer ||
                        tokens.back().text == "?" || tokens.back().text == "]");
    if (std::isspace(static_cast<unsigned char>(c))) {
      take(Kind::Space, scan(at, [](char x) {
             return std::isspace(static_cast<unsigned char>(x));
           }));
    } else if (c == '/' && next == '/') {
      take(Kind::Space, scan(at, [](char x) { return x != '\n'; }));
    } else if (c == '"') {
      size_t end = text.find('"', at + 1);
      take(Kind::String, end == text.npos ? text.size() : end + 1);
    } else if (afterExtent && c == 'x') {
      take(Kind::Other, at + 1); // the x of 4x8xf32
    } else if (isDigit(c) || (c == '-' && isDigit(next))) {
      size_t end = scan(at + 1, isDigit);
      bool isFloat =
          end + 1 < text.size() && text[end] == '.' && isDigit(text[end + 1]);
      if (isFloat)
        end = scan(end + 1, [](char x) { return isDigit(x) || x == 'e'; });
      take(isFloat ? Kind::Float : Kind::Integer, end);
    } else if (isWordStart(c)) {
      take(Kind::Word, scan(at, isWord));
    } else if (c == '%' && isWord(next)) {
      take(Kind::Value,
           scan(at + 1, [](char x) { return isWord(x) || x == '#'; }));
    } else if ((c == '@' || c == '#' || c == '!' || c == '^') && isWord(next)) {
      take(Kind::Symbol, scan(at + 1, isWord));
    } else if (c == '-' && next == '>') {
      take(Kind::Other, at + 2);
    } else if (c == '(' || c == '[' || c == '{' || c == '<') {
      take(Kind::Open, at + 1);
    } else if (c == ')' || c == ']' || c == '}' || c == '>') {
      take(Kind::Close, at + 1);
    } else {
      take(Kind::Other, at + 1);
    }
  }
  return tokens;
}

static std::string join(const Tokens &tokens) {
  std::string text;
  for (const Token &token : tokens)
    text += token.text;
  return text;
}

/// One past the bracket that closes the one at `open`.
static size_t findClose(const Tokens &tokens, size_t open) {
  size_t depth = 0;
  for (size_t i = open; i < tokens.size(); ++i) {
    depth += tokens[i].kind == Kind::Open;
    if (tokens[i].kind == Kind::Close && --depth == 0)
      return i + 1;
  }
  return tokens.size();
}

/// The places of the tokens of one kind.
static std::vector<size_t> findAll(const Tokens &tokens, Kind kind) {
  std::vector<size_t> places;
  for (size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i].kind == kind)
      places.push_back(i);
  return places;
}

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

/// Tokens of earlier inputs. Bounded; later ones replace earlier ones.
static std::vector<std::string> &getPool(Kind kind) {
  static std::array<std::vector<std::string>, numKinds> pools = [] {
    std::array<std::vector<std::string>, numKinds> first;
    first[static_cast<size_t>(Kind::Word)] = {
        "f16",     "bf16",       "f32",   "f64",    "f8E5M2", "i1",    "i4",
        "i8",      "i32",        "i64",   "si32",   "ui8",    "index", "none",
        "true",    "false",      "nhwc",  "nchw",   "krsc",   "kcrs",  "rsck",
        "strided", "affine_map", "dense", "vector", "tensor", "memref"};
    return first;
  }();
  return pools[static_cast<size_t>(kind)];
}

static void remember(const Tokens &tokens, Random &random) {
  constexpr size_t limit = 2048;
  for (const Token &token : tokens) {
    if (token.kind == Kind::Space || token.kind == Kind::Open ||
        token.kind == Kind::Close || token.text.size() > 64 || !random.oneIn(4))
      continue;
    std::vector<std::string> &pool = getPool(token.kind);
    if (pool.size() < limit)
      pool.push_back(token.text);
    else
      pool[random.below(limit)] = token.text;
  }
}

static std::string makeInteger(const std::string &old, Random &random) {
  static const char *const integers[] = {"0",
                                         "1",
                                         "-1",
                                         "2",
                                         "3",
                                         "4",
                                         "5",
                                         "7",
                                         "8",
                                         "16",
                                         "17",
                                         "32",
                                         "33",
                                         "63",
                                         "64",
                                         "65",
                                         "127",
                                         "256",
                                         "1000",
                                         "4096",
                                         "1048576",
                                         "2147483647",
                                         "2147483648",
                                         "4294967296",
                                         "1099511627776",
                                         "4611686018427387904",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "18446744073709551615"};
  if (random.oneIn(3) && old.size() < 18) {
    long long value = std::atoll(old.c_str());
    switch (random.below(4)) {
    case 0:
      return std::to_string(value + 1);
    case 1:
      return std::to_string(value - 1);
    case 2:
      return std::to_string(value * 2);
    default:
      return std::to_string(-value);
    }
  }
  // Mostly small ones: the large ones are refused early.
  size_t count = std::size(integers);
  return integers[random.oneIn(3) ? random.below(count) : random.below(16)];
}

static std::string makeLike(const Token &token, Random &random) {
  if (token.kind == Kind::Integer && !random.oneIn(8))
    return makeInteger(token.text, random);
  const std::vector<std::string> &pool = getPool(token.kind);
  return pool.empty() ? token.text : pool[random.below(pool.size())];
}

//===----------------------------------------------------------------------===//
// Mutations
//===----------------------------------------------------------------------===//

/// A line, or a bracketed list.
struct Range {
  size_t begin, end;
};

static Range pickRange(const Tokens &tokens, Random &random, char open) {
  if (open == '\n') {
    std::vector<size_t> breaks = {0};
    for (size_t i = 0; i < tokens.size(); ++i)
      if (tokens[i].kind == Kind::Space &&
          tokens[i].text.find('\n') != std::string::npos)
        breaks.push_back(i + 1);
    size_t line = random.below(breaks.size());
    return {breaks[line],
            line + 1 < breaks.size() ? breaks[line + 1] : tokens.size()};
  }
  std::vector<size_t> places;
  for (size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i].kind == Kind::Open && tokens[i].text[0] == open)
      places.push_back(i);
  if (places.empty())
    return {0, 0};
  size_t begin = places[random.below(places.size())];
  return {begin, findClose(tokens, begin)};
}

static char pickOpening(Random &random) { return "\n\n([<{"[random.below(6)]; }

static void replaceRange(Tokens &tokens, Range range, const Tokens &by) {
  auto begin = tokens.begin();
  tokens.erase(begin + static_cast<ptrdiff_t>(range.begin),
               begin + static_cast<ptrdiff_t>(range.end));
  tokens.insert(tokens.begin() + static_cast<ptrdiff_t>(range.begin),
                by.begin(), by.end());
}

static Tokens copyRange(const Tokens &tokens, Range range) {
  return Tokens(tokens.begin() + static_cast<ptrdiff_t>(range.begin),
                tokens.begin() + static_cast<ptrdiff_t>(range.end));
}

static void mutateOnce(Tokens &tokens, Random &random) {
  auto pick = [&](Kind kind) -> Token * {
    std::vector<size_t> places = findAll(tokens, kind);
    return places.empty() ? nullptr
                          : &tokens[places[random.below(places.size())]];
  };
  switch (random.below(12)) {
  case 0:
  case 1:
  case 2: { // one integer, in one place or everywhere
    Token *token = pick(Kind::Integer);
    if (!token)
      return;
    std::string old = token->text;
    std::string made = random.oneIn(8) ? "?" : makeInteger(old, random);
    if (random.oneIn(2)) {
      token->text = made;
      return;
    }
    for (Token &other : tokens)
      if (other.kind == Kind::Integer && other.text == old)
        other.text = made;
    return;
  }
  case 3: { // one word, in one place or everywhere
    Token *token = pick(Kind::Word);
    if (!token)
      return;
    std::string old = token->text;
    std::string made = makeLike(*token, random);
    if (random.oneIn(2)) {
      token->text = made;
      return;
    }
    for (Token &other : tokens)
      if (other.kind == Kind::Word && other.text == old)
        other.text = made;
    return;
  }
  case 4: { // a value by another value of the same text
    std::vector<size_t> places = findAll(tokens, Kind::Value);
    if (places.size() < 2)
      return;
    tokens[places[random.below(places.size())]].text =
        tokens[places[random.below(places.size())]].text;
    return;
  }
  case 5: { // a token of any kind by one like it
    static const Kind kinds[] = {Kind::Float, Kind::Symbol, Kind::String,
                                 Kind::Other};
    if (Token *token = pick(kinds[random.below(4)]))
      token->text = makeLike(*token, random);
    return;
  }
  case 6: { // without a line or a list
    replaceRange(tokens, pickRange(tokens, random, pickOpening(random)), {});
    return;
  }
  case 7: { // a line or list twice
    Range range = pickRange(tokens, random, pickOpening(random));
    Tokens copy = copyRange(tokens, range);
    replaceRange(tokens, {range.end, range.end}, copy);
    return;
  }
  case 8:
  case 9: { // one line or list by another
    char open = pickOpening(random);
    Tokens copy = copyRange(tokens, pickRange(tokens, random, open));
    replaceRange(tokens, pickRange(tokens, random, open), copy);
    return;
  }
  case 10: { // an entry more or less in a list
    Range range = pickRange(tokens, random, random.oneIn(2) ? '[' : '(');
    std::vector<size_t> commas;
    for (size_t i = range.begin; i < range.end; ++i)
      if (tokens[i].text == ",")
        commas.push_back(i);
    if (commas.empty())
      return;
    size_t comma = commas[random.below(commas.size())];
    size_t end = comma + 1;
    while (end + 1 < range.end && tokens[end].text != ",")
      ++end;
    Tokens copy = copyRange(tokens, {comma, end});
    replaceRange(tokens, {comma, random.oneIn(2) ? end : comma},
                 random.oneIn(2) ? copy : Tokens());
    return;
  }
  default: // a token less
    if (!tokens.empty())
      tokens.erase(tokens.begin() +
                   static_cast<ptrdiff_t>(random.below(tokens.size())));
    return;
  }
}

std::string tracea::fuzz::mutateIR(std::string_view text, size_t maxSize,
                                   unsigned seed) {
  Random random(seed);
  if (random.oneIn(32)) {
    std::string bytes(text);
    bytes.resize(maxSize);
    bytes.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t *>(bytes.data()),
                                  text.size(), maxSize));
    return bytes;
  }
  Tokens tokens = tokenize(text);
  remember(tokens, random);
  for (size_t i = random.below(4) + 1; i != 0; --i)
    mutateOnce(tokens, random);
  std::string result = join(tokens);
  return result.size() <= maxSize ? result : std::string(text);
}

std::string tracea::fuzz::crossIR(std::string_view text, std::string_view other,
                                  size_t maxSize, unsigned seed) {
  Random random(seed);
  Tokens tokens = tokenize(text);
  Tokens donor = tokenize(other);
  remember(donor, random);
  char open = pickOpening(random);
  Tokens copy = copyRange(donor, pickRange(donor, random, open));
  Range range = pickRange(tokens, random, open);
  if (random.oneIn(3))
    range.end = range.begin;
  replaceRange(tokens, range, copy);
  std::string result = join(tokens);
  return result.size() <= maxSize ? result : std::string(text);
}

//===----------------------------------------------------------------------===//
// libFuzzer's hooks
//===----------------------------------------------------------------------===//

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  std::string made =
      mutateIR(std::string_view(reinterpret_cast<const char *>(data), size),
               maxSize, seed);
  std::copy(made.begin(), made.end(), data);
  return made.size();
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t *data1, size_t size1,
                                            const uint8_t *data2, size_t size2,
                                            uint8_t *out, size_t maxOutSize,
                                            unsigned seed) {
  std::string made =
      crossIR(std::string_view(reinterpret_cast<const char *>(data1), size1),
              std::string_view(reinterpret_cast<const char *>(data2), size2),
              maxOutSize, seed);
  if (made.size() > maxOutSize)
    made.resize(maxOutSize);
  std::copy(made.begin(), made.end(), out);
  return made.size();
}
