//===- NumericsGeneric.cpp - Random linalg.generic operations -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that no named one covers: operands that are read backwards, with
// strides, through windows, transposed or broadcast, results that are written
// transposed or backwards, sums and maxima along any loops.

#include "Numerics.h"

#include <algorithm>
#include <limits>
#include <memory>

using namespace tracea;
using namespace tracea::numerics;

namespace {

/// An index of an operand: constant + sum of coefficients times loops.
struct Index {
  int64_t constant = 0;
  std::vector<std::pair<int, int64_t>> terms;

  std::string text() const;
  int64_t at(const Shape &loops) const;
  /// The smallest extent that holds it, for loops of these sizes.
  int64_t extent(const Shape &sizes) const;
};

struct Operand {
  ElementType type = ElementType::F32;
  std::vector<Index> indices;
};

/// One operation over loops of some sizes.
struct Generic {
  Sizes sizes;
  std::vector<int> loops;
  std::vector<bool> isSummed;
  std::vector<Operand> operands;
  Operand result;
  std::vector<SizedType> arguments;
  SizedType resultType;
  enum Kind { Sum, Product, Maximum } kind = Sum;
  bool reducesMaximum = false;
  ElementType compute = ElementType::F32;
  Fill fill = Fill::Normal;

  bool hasSums() const {
    return std::find(isSummed.begin(), isSummed.end(), true) != isSummed.end();
  }
  ExpectedTensor evaluate(const std::vector<HostTensor> &inputs) const;
};

} // namespace

std::string Index::text() const {
  std::vector<std::string> parts;
  for (auto [loop, coefficient] : terms) {
    std::string name = "d" + std::to_string(loop);
    parts.push_back(
        coefficient == 1 ? name : name + " * " + std::to_string(coefficient));
  }
  if (constant || parts.empty())
    parts.push_back(std::to_string(constant));
  return join(parts, " + ");
}

int64_t Index::at(const Shape &loops) const {
  int64_t index = constant;
  for (auto [loop, coefficient] : terms)
    index += coefficient * loops[loop];
  return index;
}

int64_t Index::extent(const Shape &sizes) const {
  int64_t last = constant;
  for (auto [loop, coefficient] : terms)
    if (coefficient > 0)
      last += coefficient * (sizes[loop] - 1);
  return last + 1;
}

//===----------------------------------------------------------------------===//
// Meaning
//===----------------------------------------------------------------------===//

ExpectedTensor Generic::evaluate(const std::vector<HostTensor> &inputs) const {
  Shape shape = sizes.at(resultType.dims), bounds = sizes.at(loops);
  int64_t count = countOf(shape);
  Arithmetic math(compute);
  std::vector<std::vector<Approx>> terms(count);
  forEachIndex(bounds, [&](const Shape &at, int64_t) {
    Approx value;
    for (size_t i = 0; i < operands.size(); ++i) {
      Shape index;
      for (const Index &expr : operands[i].indices)
        index.push_back(expr.at(at));
      Approx x = {inputs[i].values[linearIndex(inputs[i].shape, index)], 0};
      if (i == 0)
        value = x;
      else if (kind == Sum)
        value = math.add(value, x);
      else if (kind == Product)
        value = math.mul(value, x);
      else
        value = {std::isnan(value.value) || std::isnan(x.value)
                     ? std::numeric_limits<Real>::quiet_NaN()
                     : std::max(value.value, x.value),
                 std::max(value.error, x.error)};
    }
    Shape index;
    for (const Index &expr : result.indices)
      index.push_back(expr.at(at));
    terms[linearIndex(shape, index)].push_back(value);
  });
  ExpectedTensor expected{result.type, shape, {}};
  Arithmetic narrow(result.type);
  for (const std::vector<Approx> &list : terms) {
    Approx value;
    if (!hasSums()) {
      value = list.front();
    } else if (reducesMaximum) {
      value.value = isInteger(compute)
                        ? Real(std::numeric_limits<int32_t>::min())
                        : -std::numeric_limits<Real>::infinity();
      for (const Approx &term : list) {
        value.value = std::isnan(term.value) || std::isnan(value.value)
                          ? std::numeric_limits<Real>::quiet_NaN()
                          : std::max(value.value, term.value);
        value.error = std::max(value.error, term.error);
      }
    } else {
      Real error = 0;
      for (const Approx &term : list)
        error += term.error;
      value = dotProduct(compute, static_cast<int64_t>(list.size()),
                         [&](int64_t i, double &x, double &y) {
                           x = double(list[i].value);
                           y = 1;
                         });
      // Fused or not, and rounded to double here.
      Real magnitude = 0;
      for (const Approx &term : list)
        magnitude += std::fabs(term.value);
      if (!isInteger(compute))
        error += magnitude * 0x1p-52L;
      value.error += error;
    }
    expected.values.push_back(isInteger(result.type) ? value
                                                     : narrow.convert(value));
  }
  return expected;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// How one loop is used in an operand.
static Index drawIndex(Random &random, const Generic &op, int loop,
                       bool &isPlain) {
  int64_t size = op.sizes[op.loops[loop]];
  isPlain = false;
  switch (random.below(10)) {
  case 0:
  case 1:
    if (size > 0)
      return {size - 1, {{loop, -1}}};
    break;
  case 2:
    if (size > 0)
      return {random.between(0, 3), {{loop, random.between(1, 3)}}};
    break;
  case 3:
    if (size > 0) {
      int64_t stride = random.between(2, 3);
      return {stride * (size - 1) + random.between(0, 2), {{loop, -stride}}};
    }
    break;
  default:
    break;
  }
  isPlain = true;
  return {0, {{loop, 1}}};
}

static std::string mapOf(size_t loops, const std::vector<Index> &indices) {
  std::vector<std::string> from, to;
  for (size_t loop = 0; loop < loops; ++loop)
    from.push_back("d" + std::to_string(loop));
  for (const Index &index : indices)
    to.push_back(index.text());
  return "affine_map<(" + join(from, ", ") + ") -> (" + join(to, ", ") + ")>";
}

static std::string combine(const Generic &op) {
  bool integer = isInteger(op.compute);
  const char *name = op.kind == Generic::Sum ? (integer ? "addi" : "addf")
                     : op.kind == Generic::Product
                         ? (integer ? "muli" : "mulf")
                         : (integer ? "maxsi" : "maximumf");
  return std::string("arith.") + name;
}

Case numerics::generateGeneric(Random &random, bool large) {
  auto op = std::make_shared<Generic>();
  Generic &o = *op;
  Sizes &sizes = o.sizes;
  o.compute = random.pick(
      {ElementType::F32, ElementType::F32, ElementType::F64, ElementType::I32});
  o.fill = pickFill(random);
  o.kind = static_cast<Generic::Kind>(random.below(3));
  bool reduces = random.chance(0.4);
  o.reducesMaximum = reduces && random.chance(0.3);
  // Products of three 8-bit numbers, summed, stay below 2^31.
  if (isInteger(o.compute))
    o.fill = Fill::Integers;

  int64_t rank = random.between(1, 4);
  const int64_t limit = large ? 3'000'000 : 100'000;
  std::vector<int64_t> bounds;
  do {
    bounds.clear();
    for (int64_t loop = 0; loop < rank; ++loop)
      bounds.push_back(
          random.pick({1,  1,  2,  3,  4,  5,  7,  8,   9,   13,
                       16, 17, 31, 32, 33, 64, 65, 100, 257, 1025}));
  } while (countOf(bounds) > limit);
  for (int64_t loop = 0; loop < rank; ++loop) {
    o.loops.push_back(sizes.add(bounds[loop], {0, 1, 2, 3, 8, 17}));
    o.isSummed.push_back(reduces && rank > 1 && random.chance(0.4));
  }
  if (reduces && !o.hasSums())
    o.isSummed.back() = true;

  std::vector<bool> isFlipped(rank);
  for (int64_t loop = 0; loop < rank; ++loop)
    isFlipped[loop] = !o.isSummed[loop] && random.chance(0.07);

  // Which loops may have dynamic extents: those that all operands name as they
  // are.
  std::vector<bool> isPlainLoop(rank, true);
  std::vector<std::vector<int>> plainLoops;
  auto finish = [&](Operand &operand) {
    plainLoops.emplace_back();
    for (const Index &index : operand.indices)
      plainLoops.back().push_back(index.constant == 0 &&
                                          index.terms.size() == 1 &&
                                          index.terms[0].second == 1
                                      ? index.terms[0].first
                                      : -1);
  };
  auto shuffle = [&](std::vector<Index> &indices) {
    if (!random.chance(0.5))
      return;
    for (size_t i = indices.size(); i > 1; --i)
      std::swap(indices[i - 1], indices[random.below(int64_t(i))]);
  };
  int64_t count = o.reducesMaximum ? 1 : random.between(1, 3);
  for (int64_t number = 0; number < count; ++number) {
    Operand operand;
    operand.type = o.compute;
    if (o.compute == ElementType::F32)
      operand.type =
          random.pick({ElementType::F32, ElementType::F32, ElementType::F32,
                       ElementType::F16, ElementType::BF16});
    // The first operand gives the bounds of loops that are summed, or that the
    // result does not name as they are.
    for (int loop = 0; loop < rank; ++loop) {
      bool isPlain = true;
      bool givesBound = number == 0 && (o.isSummed[loop] || isFlipped[loop]);
      if (!givesBound && number > 0 && random.chance(0.25)) {
        // A broadcast, with or without a dimension of one.
        if (random.chance(0.2))
          operand.indices.push_back({0, {}});
        continue;
      }
      Index index = givesBound ? Index{0, {{loop, 1}}}
                               : drawIndex(random, o, loop, isPlain);
      // A window: two loops in one dimension.
      int other = static_cast<int>(random.below(rank));
      if (!givesBound && other != loop && number > 0 && bounds[other] > 0 &&
          bounds[loop] > 0 && random.chance(0.1)) {
        index.terms.push_back({other, random.between(1, 2)});
        isPlain = isPlainLoop[other] = false;
      }
      isPlainLoop[loop] = isPlainLoop[loop] && isPlain;
      operand.indices.push_back(index);
    }
    shuffle(operand.indices);
    finish(operand);
    o.operands.push_back(operand);
  }
  for (int loop = 0; loop < rank; ++loop) {
    if (isFlipped[loop]) {
      o.result.indices.push_back({bounds[loop] - 1, {{loop, -1}}});
      isPlainLoop[loop] = false;
    } else if (!o.isSummed[loop]) {
      o.result.indices.push_back({0, {{loop, 1}}});
    }
  }
  shuffle(o.result.indices);
  finish(o.result);
  o.result.type = o.compute == ElementType::F32 && random.chance(0.2)
                      ? random.pick({ElementType::F16, ElementType::BF16})
                      : o.compute;
  if (o.hasSums())
    o.result.type = o.compute;

  bool dynamic = random.chance(0.4);
  std::vector<bool> isDynamic(rank);
  for (int64_t loop = 0; loop < rank; ++loop) {
    isDynamic[loop] = dynamic && isPlainLoop[loop] && random.chance(0.6);
    if (!isDynamic[loop])
      sizes.fix(o.loops[loop]);
  }
  ModuleText text(sizes);
  auto typeOf = [&](const Operand &operand, const std::vector<int> &plain) {
    SizedType type{operand.type, {}, {}};
    for (size_t dim = 0; dim < operand.indices.size(); ++dim) {
      int loop = plain[dim];
      int size = loop >= 0 ? o.loops[loop]
                           : sizes.add(operand.indices[dim].extent(bounds));
      if (loop < 0)
        sizes.fix(size);
      type.dims.push_back(size);
      type.dynamic.push_back(loop >= 0 && isDynamic[loop]);
    }
    return type;
  };
  std::vector<std::string> maps, names, types, blockArguments, kinds;
  for (size_t i = 0; i < o.operands.size(); ++i) {
    SizedType type = typeOf(o.operands[i], plainLoops[i]);
    std::string name = "a" + std::to_string(i);
    text.argument(name, type);
    o.arguments.push_back(type);
    names.push_back("%" + name);
    types.push_back(text.textOf(type));
    maps.push_back(mapOf(rank, o.operands[i].indices));
    blockArguments.push_back("%x" + std::to_string(i) + ": " +
                             nameOf(type.type));
  }
  o.resultType = typeOf(o.result, plainLoops.back());
  maps.push_back(mapOf(rank, o.result.indices));
  blockArguments.push_back(std::string("%out: ") + nameOf(o.result.type));
  for (int64_t loop = 0; loop < rank; ++loop)
    kinds.push_back(o.isSummed[loop] ? "\"reduction\"" : "\"parallel\"");

  std::string init = text.empty(o.resultType);
  std::string resultText = text.textOf(o.resultType);
  bool integer = isInteger(o.compute);
  if (o.hasSums()) {
    std::string identity = !o.reducesMaximum ? (integer ? "0" : "0.0")
                           : integer         ? "-2147483648"
                           : o.compute == ElementType::F64
                               ? "0xFFF0000000000000"
                               : "0xFF800000";
    text.line("%identity = arith.constant " + identity + " : " +
              nameOf(o.compute));
    text.line("%init = linalg.fill ins(%identity : " +
              std::string(nameOf(o.compute)) + ") outs(" + init + " : " +
              resultText + ") -> " + resultText);
    init = "%init";
  }
  std::string body;
  auto line = [&](const std::string &operation) {
    std::string name = "%v" + std::to_string(body.size());
    body += "      " + name + " = " + operation + "\n";
    return name;
  };
  std::string value, computeName = nameOf(o.compute);
  for (size_t i = 0; i < o.operands.size(); ++i) {
    std::string x = "%x" + std::to_string(i);
    if (o.operands[i].type != o.compute)
      x = line("arith.extf " + x + " : " + nameOf(o.operands[i].type) + " to " +
               computeName);
    value =
        i == 0
            ? x
            : line(combine(o) + " " + value + ", " + x + " : " + computeName);
  }
  if (o.hasSums())
    value = line(std::string("arith.") +
                 (o.reducesMaximum ? (integer ? "maxsi" : "maximumf")
                                   : (integer ? "addi" : "addf")) +
                 " %out, " + value + " : " + computeName);
  else if (o.result.type != o.compute)
    value = line("arith.truncf " + value + " : " + computeName + " to " +
                 nameOf(o.result.type));
  text.line("%r = linalg.generic {indexing_maps = [" + join(maps, ", ") +
            "], iterator_types = [" + join(kinds, ", ") + "]} ins(" +
            join(names, ", ") + " : " + join(types, ", ") + ") outs(" + init +
            " : " + resultText + ") {\n    ^bb0(" + join(blockArguments, ", ") +
            "):\n" + body + "      linalg.yield " + value + " : " +
            nameOf(o.result.type) + "\n  } -> " + resultText);

  Case result;
  result.name = "generic " + std::string(nameOf(o.compute)) + " " +
                listOf(bounds) + (reduces ? " reduced" : "");
  result.text = text.finish({"%r"}, {o.resultType});
  result.dynamic = sizes.anyFree();
  // The float64 meaning does not round what is computed in f32 in between.
  result.make = [op](Random &random, bool first) {
    op->sizes.reset();
    if (!first)
      op->sizes.draw(random);
    Instance instance;
    for (const SizedType &argument : op->arguments)
      instance.inputs.push_back(randomTensor(
          random, argument.type, op->sizes.at(argument.dims), op->fill));
    instance.outputs.push_back(op->evaluate(instance.inputs));
    return instance;
  };
  return result;
}
