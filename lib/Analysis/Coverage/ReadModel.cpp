//===- ReadModel.cpp - Problems from text ---------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A recursive descent over text that nobody vouches for: length, nesting and
// the number of terms are limited, every name is looked up.

#include "tracea/Analysis/Coverage/Decide.h"
#include <cctype>

using namespace tracea::coverage;
using tracea::algebra::Error;
using tracea::algebra::Expected;
using tracea::algebra::LaneBases;
using tracea::algebra::LaneDim;
using tracea::algebra::laneDimName;
using tracea::algebra::LaneMap;
using tracea::algebra::numLaneDims;
using tracea::algebra::TileCoord;

namespace {
constexpr size_t kMaxText = 1 << 18;
constexpr int kMaxDepth = 64;
constexpr size_t kMaxTerms = 4096;

class Reading {
public:
  explicit Reading(const std::string &text) : text(text) {}
  Expected<Problem> run();

private:
  void item(const std::string &keyword);
  void variable(const std::string &kind);
  void argument();
  void stage();
  void lanes(const std::string &label);

  Expr sum(int depth);
  Expr product(int depth);
  Expr factor(int depth);
  Constraint constraint();
  Range range();
  Term name();
  int64_t number();
  std::string word();
  std::string label();
  TileCoord coordinate();

  template <typename Read>
  void list(char open, char close, Read read) {
    expect(open);
    if (accept(close))
      return;
    do
      read();
    while (!failed() && accept(','));
    expect(close);
  }
  std::vector<Term> names() {
    std::vector<Term> result;
    list('(', ')', [&] { result.push_back(name()); });
    return result;
  }
  std::vector<Expr> exprs() {
    std::vector<Expr> result;
    list('{', '}', [&] { result.push_back(sum(0)); });
    return result;
  }
  std::vector<Constraint> constraints() {
    std::vector<Constraint> result;
    list('{', '}', [&] { result.push_back(constraint()); });
    return result;
  }

  void skip() {
    while (position < text.size() && text[position] == ' ')
      ++position;
  }
  char peek() {
    skip();
    return position < text.size() ? text[position] : '\0';
  }
  bool accept(char c) {
    if (failed() || peek() != c)
      return false;
    ++position;
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      fail(std::string("expected '") + c + "'");
  }
  bool failed() const { return !error.empty(); }
  void fail(const std::string &what) {
    if (!failed())
      error =
          "coverage model, character " + std::to_string(position) + ": " + what;
  }
  Expr limited(Expr expr) {
    if (!expr.isValid())
      fail("the expression is invalid");
    if (problem.space.size() > kMaxTerms)
      fail("more than " + std::to_string(kMaxTerms) + " terms");
    return expr;
  }

  const std::string &text;
  size_t position = 0;
  std::string error;
  Problem problem;
};
} // namespace

static bool isNameCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' ||
         c == '\'';
}

std::string Reading::word() {
  skip();
  size_t begin = position;
  while (position < text.size() && isNameCharacter(text[position]))
    ++position;
  if (begin == position)
    fail("expected a word");
  return text.substr(begin, position - begin);
}

std::string Reading::label() {
  expect('"');
  size_t begin = position;
  while (position < text.size() && text[position] != '"')
    ++position;
  std::string result = text.substr(begin, position - begin);
  expect('"');
  return result;
}

int64_t Reading::number() {
  bool negative = accept('-');
  if (!std::isdigit(static_cast<unsigned char>(peek())))
    fail("expected a number");
  int64_t value = 0;
  while (!failed() && position < text.size() &&
         std::isdigit(static_cast<unsigned char>(text[position])))
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, text[position++] - '0', &value))
      fail("the number does not fit into 64 bits");
  return negative ? -value : value;
}

Term Reading::name() {
  std::string given = word();
  std::optional<Term> found = problem.space.find(given);
  if (!found)
    fail("'" + given + "' has not been declared");
  return found.value_or(Term{0});
}

Expr Reading::factor(int depth) {
  if (depth > kMaxDepth)
    fail("the expression is nested too deeply");
  if (failed())
    return 0;
  if (accept('(')) {
    Expr inner = sum(depth + 1);
    expect(')');
    return inner;
  }
  if (std::isdigit(static_cast<unsigned char>(peek())))
    return number();
  size_t before = position;
  if (word() == "min" && accept('(')) {
    Expr a = sum(depth + 1);
    expect(',');
    Expr b = sum(depth + 1);
    expect(')');
    return failed() ? Expr(0) : limited(problem.space.min(a, b));
  }
  if (failed())
    return 0;
  position = before;
  Term found = name();
  return failed() ? Expr(0) : Expr(found);
}

Expr Reading::product(int depth) {
  Expr result = factor(depth);
  while (!failed()) {
    if (accept('*')) {
      Expr by = factor(depth);
      result = limited(problem.space.product(result, by));
    } else if (accept('/')) {
      Expr by = factor(depth);
      if (!failed())
        result = limited(problem.space.floorDiv(result, by));
    } else {
      break;
    }
  }
  return result;
}

Expr Reading::sum(int depth) {
  Expr result;
  bool negative = accept('-');
  do {
    Expr part = product(depth);
    result = limited(negative ? result - part : result + part);
    if (accept('+'))
      negative = false;
    else if (accept('-'))
      negative = true;
    else
      return result;
  } while (!failed());
  return result;
}

Constraint Reading::constraint() {
  Constraint result{sum(0), false};
  if (accept('>'))
    expect('=');
  else if (accept('='))
    result.equality = true;
  else
    fail("expected '>= 0' or '= 0'");
  if (!failed() && number() != 0)
    fail("expected 0");
  return result;
}

Range Reading::range() {
  expect('[');
  Range result = Range::from(sum(0));
  expect(',');
  if (peek() != ')')
    result.upper = sum(0);
  expect(')');
  return result;
}

TileCoord Reading::coordinate() {
  TileCoord result;
  list('(', ')', [&] { result.push_back(number()); });
  return result;
}

void Reading::variable(const std::string &kind) {
  std::string given = word();
  if (!failed() && (problem.space.find(given) ||
                    std::isdigit(static_cast<unsigned char>(given[0]))))
    fail("'" + given + "' is declared twice or no name");
  Range values = range();
  if (failed())
    return;
  if (kind == "symbol")
    problem.space.symbol(given, values);
  else if (kind == "id")
    problem.space.id(given, values);
  else
    problem.space.coordinate(given, values);
  limited(0);
}

void Reading::argument() {
  Argument argument;
  std::string kind = word();
  if (kind == "result")
    argument.kind = Argument::Result;
  else if (kind == "scalar")
    argument.kind = Argument::Scalar;
  else if (kind != "input")
    fail("expected 'input', 'result' or 'scalar'");
  list('(', ')', [&] {
    Argument::Size size;
    size.isDynamic = accept('?');
    if (!size.isDynamic || (peek() != ',' && peek() != ')'))
      size.value = sum(0);
    argument.sizes.push_back(size);
  });
  problem.arguments.push_back(std::move(argument));
}

void Reading::lanes(const std::string &stageName) {
  LaneBases bases;
  std::vector<TileCoord> *vectors[numLaneDims] = {&bases.reg, &bases.lane,
                                                  &bases.warp, &bases.block};
  std::array<std::optional<Term>, numLaneDims> ids;
  std::vector<LaneGuard> guards;
  std::vector<Term> coordinates = names();
  TileCoord shape, outer;
  auto dimension = [&](const std::string &given) {
    for (unsigned dim = 0; dim < numLaneDims; ++dim)
      if (given == laneDimName(LaneDim(dim)))
        return dim;
    fail("expected 'reg', 'lane', 'warp' or 'block'");
    return 0u;
  };
  while (!failed() && peek() != ';' && peek() != '\0') {
    std::string keyword = word();
    if (keyword == "shape") {
      shape = coordinate();
    } else if (keyword == "outer") {
      outer = coordinate();
    } else if (keyword == "where") {
      unsigned dim = dimension(word());
      uint64_t mask = uint64_t(number()), value = uint64_t(number());
      guards.push_back({LaneDim(dim), mask, value});
    } else {
      unsigned dim = dimension(keyword);
      if (peek() == '_' && position + 1 < text.size() &&
          !isNameCharacter(text[position + 1]))
        ++position;
      else
        ids[dim] = name();
      list('{', '}', [&] { vectors[dim]->push_back(coordinate()); });
    }
  }
  if (failed())
    return;
  Expected<LaneMap> map = LaneMap::get(shape, bases, outer);
  if (!map)
    return fail(map.message());
  problem.stages.push_back(
      {stageName, LaneStage{*map, ids, coordinates, guards}});
}

void Reading::stage() {
  std::string stageName = label(), kind = word();
  if (kind == "affine") {
    problem.stages.push_back({stageName, AffineStage{names(), {}}});
  } else if (kind == "join" || kind == "split") {
    std::vector<Term> terms = names();
    std::vector<Expr> divisor = exprs();
    EuclidStage euclid;
    euclid.direction = kind == "join" ? EuclidStage::Join : EuclidStage::Split;
    if (std::isalpha(static_cast<unsigned char>(peek()))) {
      euclid.masked = word() == "masked";
      if (!euclid.masked)
        fail("expected 'masked'");
    }
    if (terms.size() != 3 || divisor.size() != 1)
      return fail("expected three names and a divisor");
    euclid.whole = terms[0], euclid.quotient = terms[1],
    euclid.remainder = terms[2], euclid.divisor = divisor[0];
    problem.stages.push_back({stageName, euclid});
  } else if (kind == "raster") {
    std::vector<Term> terms = names();
    std::vector<Expr> group = exprs();
    if (terms.size() != 3 || group.size() != 1)
      return fail("expected three names and a group");
    problem.stages.push_back(
        {stageName, RasterStage{terms[0], terms[1], terms[2], group[0]}});
  } else if (kind == "lanes") {
    lanes(stageName);
  } else {
    fail("unknown kind of stage '" + kind + "'");
  }
}

void Reading::item(const std::string &keyword) {
  if (keyword == "symbol" || keyword == "id" || keyword == "coordinate") {
    variable(keyword);
  } else if (keyword == "argument") {
    argument();
  } else if (keyword == "grid") {
    problem.grid = exprs();
  } else if (keyword == "assume") {
    problem.assumptions.push_back(constraint());
  } else if (keyword == "granted") {
    if (problem.numGranted != problem.assumptions.size())
      return fail("what is granted stands before what is assumed");
    problem.assumptions.push_back(constraint());
    ++problem.numGranted;
  } else if (keyword == "stage") {
    stage();
  } else if (keyword == "writer") {
    Writer writer{label(), names(), constraints(), exprs(), exprs()};
    AffineStage *affine =
        problem.stages.empty()
            ? nullptr
            : std::get_if<AffineStage>(&problem.stages.back().kind);
    if (!affine)
      return fail("a writer outside of a stage of writers");
    affine->writers.push_back(std::move(writer));
  } else if (keyword == "outputs") {
    problem.outputs = names();
  } else if (keyword == "access") {
    Access access{label(), names(), constraints(), exprs(), {}};
    list('{', '}', [&] { access.bounds.push_back(range()); });
    problem.accesses.push_back(std::move(access));
  } else if (keyword == "claim") {
    Claim claim{label(), names(), constraints(), constraints(), names(), {}};
    list('{', '}', [&] { claim.witnesses.push_back(exprs()); });
    problem.claims.push_back(std::move(claim));
  } else if (keyword == "value") {
    problem.intermediates.push_back(sum(0));
  } else if (keyword == "buffer") {
    problem.buffers.push_back(names());
  } else if (keyword == "integers") {
    problem.integers = names();
  } else if (keyword == "name") {
    problem.name = label();
  } else {
    fail("unknown word '" + keyword + "'");
  }
}

Expected<Problem> Reading::run() {
  if (text.size() > kMaxText)
    return Error{"coverage model: expected at most " +
                 std::to_string(kMaxText) + " characters, found " +
                 std::to_string(text.size())};
  if (word() != "coverage" || number() != 1)
    fail("expected 'coverage 1'");
  while (!failed() && accept(';'))
    item(word());
  if (!failed() && peek() != '\0')
    fail("expected ';'");
  if (!failed() && position < text.size())
    fail("unexpected character");
  if (failed())
    return Error{error};
  return std::move(problem);
}

Expected<Problem> tracea::coverage::readModel(const std::string &text) {
  return Reading(text).run();
}
