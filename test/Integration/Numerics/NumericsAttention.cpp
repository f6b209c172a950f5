//===- NumericsAttention.cpp - Random attention ---------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NumericsAttention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

using namespace tracea;
using namespace tracea::numerics;

namespace {

struct Attention : AttentionProblem {
  SizedType result, lse;
  bool hasLse = false;

  void compute(const Instance &instance, ExpectedTensor &y,
               ExpectedTensor &l) const;
};

} // namespace

void Attention::compute(const Instance &instance, ExpectedTensor &y,
                        ExpectedTensor &l) const {
  int64_t B = sizes[b], H = sizes[h], I = sizes[i], J = sizes[j], E = sizes[e];
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  constexpr Real nan = std::numeric_limits<Real>::quiet_NaN();
  Real u = unitRoundoff(accumulator), tiny = smallest(accumulator);
  y.shape = {B, H, I, E};
  if (behind[3])
    std::swap(y.shape[1], y.shape[2]);
  l.shape = {B, H, I};
  std::vector<Approx> scores(J);
  std::vector<bool> seen(J);
  for (int64_t ib = 0; ib < B; ++ib)
    for (int64_t ih = 0; ih < H; ++ih)
      for (int64_t ii = 0; ii < I; ++ii) {
        Real maximum = -infinity, scoreError = 0;
        bool any = false, poisoned = false;
        int64_t count = 0;
        for (int64_t ij = 0; ij < J; ++ij) {
          seen[ij] = sees(instance, ib, ih, ii, ij);
          if (!seen[ij])
            continue;
          ++count;
          Approx s = score(instance, ib, ih, ii, ij);
          scores[ij] = s;
          if (std::isnan(s.value))
            poisoned = true;
          else
            maximum = std::max(maximum, s.value);
          scoreError = std::max(scoreError, s.error);
          any = true;
        }
        if (poisoned || maximum == infinity) {
          for (int64_t ie = 0; ie < E; ++ie)
            y.values.push_back({nan, 0});
          l.values.push_back({poisoned ? nan : nan, 0});
          continue;
        }
        if (!any || maximum == -infinity) {
          for (int64_t ie = 0; ie < E; ++ie)
            y.values.push_back({0, 0});
          l.values.push_back({-infinity, 0});
          continue;
        }
        Real sum = 0;
        for (int64_t ij = 0; ij < J; ++ij)
          if (seen[ij])
            sum += std::exp(scores[ij].value - maximum);
        // Weights: the errors of two scores, of the exponential (also that of
        // rescaling an online sum, once for each block of keys) and of the sum;
        // and what a unit rounds them to.
        auto relative = [&](Real score) {
          Real distance = maximum - score;
          return 2 * scoreError + (2 * std::min<Real>(distance, 120) + 12) * u +
                 (sumRoundings(count) + 8) * u + roundingOfWeights(type);
        };
        for (int64_t ie = 0; ie < E; ++ie) {
          Real total = 0, error = tiny;
          for (int64_t ij = 0; ij < J; ++ij) {
            if (!seen[ij])
              continue;
            Real weight = std::exp(scores[ij].value - maximum) / sum;
            Real v = valueAt(instance, ib, ih, ij)[ie];
            total += weight * v;
            error += std::fabs(weight * v) * (2 * relative(scores[ij].value)) +
                     std::fabs(v) * (tiny + smallestOfWeights(type));
          }
          y.values.push_back({total, error});
        }
        Real value = maximum + std::log(sum);
        l.values.push_back(
            {value, 2 * scoreError + (sumRoundings(count) + 16) * u +
                        4 * u * (std::fabs(value) + std::fabs(maximum))});
      }
  if (!behind[3])
    return;
  std::vector<Approx> ordered(y.values.size());
  for (int64_t ib = 0; ib < B; ++ib)
    for (int64_t ih = 0; ih < H; ++ih)
      for (int64_t ii = 0; ii < I; ++ii)
        std::copy_n(y.values.begin() + rowOf(false, ib, H, ih, I, ii) * E, E,
                    ordered.begin() + rowOf(true, ib, H, ih, I, ii) * E);
  y.values = std::move(ordered);
}

Case numerics::generateAttention(Random &random, bool large) {
  auto attention = std::make_shared<Attention>();
  Attention &a = *attention;
  Sizes &sizes = a.sizes;
  a.type = random.pick({ElementType::F32, ElementType::F32, ElementType::F64,
                        ElementType::F16, ElementType::BF16});
  a.accumulator = accumulatorOf(a.type);
  if (random.chance(0.1))
    a.accumulator = ElementType::F64;
  a.draw(random, large, 0.3, 0.25);
  a.hasLse = random.chance(0.4);
  ModuleText text(sizes);
  a.drawOperands(random, text);
  ElementType resultType = a.type;
  if (random.chance(0.3))
    resultType = random.pick({ElementType::F32, ElementType::F16,
                              ElementType::BF16, ElementType::F64});
  a.result = a.drawType(random, text, resultType, {a.b, a.h, a.i, a.e});
  const std::pair<const char *, SizedType> operands[] = {
      {"q", a.query}, {"k", a.key}, {"v", a.value}};
  std::vector<std::string> names;
  for (const auto &[name, type] : operands)
    names.push_back(a.writeOperand(text, name, type, int(names.size())));
  for (int k = 0; k < 3; ++k)
    if (a.behind[k])
      names[k] =
          a.writeTranspose(text, names[k], a.exchange(operands[k].second));
  std::string op = a.writeAttributes("tracea.attention") + " ins(" + names[0] +
                   ", " + names[1] + ", " + names[2] + " : " +
                   text.textOf(a.query) + ", " + text.textOf(a.key) + ", " +
                   text.textOf(a.value) + ")";
  op += a.writeMasks(random, text);
  std::string init = text.empty(a.result);
  op += " outs(" + init + " : " + text.textOf(a.result) + ")";
  std::vector<SizedType> results = {a.result};
  if (a.hasLse) {
    a.lse = a.drawType(random, text,
                       random.chance(0.5) ? ElementType::F32 : a.accumulator,
                       {a.b, a.h, a.i});
    std::string lse = text.empty(a.lse);
    op += " lse(" + lse + " : " + text.textOf(a.lse) + ")";
    results.push_back(a.lse);
  }
  op += " -> " + text.textOf(a.result);
  if (a.hasLse)
    op += ", " + text.textOf(a.lse);
  text.line((a.hasLse ? "%r, %l = " : "%r = ") + op);
  std::string first = "%r";
  if (a.behind[3]) {
    first = a.writeTranspose(text, "%r", a.result);
    results[0] = a.exchange(a.result);
  }
  for (int k = 0; k < text.numArguments(); ++k)
    a.arguments.push_back(text.argumentType(k));

  Case result;
  result.name = "attention " + std::string(nameOf(a.type)) + " " +
                listOf(sizes.at({a.b, a.h, a.g, a.i, a.j, a.d, a.e}));
  result.text = text.finish(a.hasLse ? std::vector<std::string>{first, "%l"}
                                     : std::vector<std::string>{first},
                            results);
  result.dynamic = sizes.anyFree();
  result.make = [attention](Random &random, bool first) {
    Attention &a = *attention;
    Instance instance = a.makeInputs(random, first);
    ExpectedTensor y{a.result.type, {}, {}}, l{a.lse.type, {}, {}};
    a.compute(instance, y, l);
    instance.outputs.push_back(std::move(y));
    if (a.hasLse)
      instance.outputs.push_back(std::move(l));
    instance.wrong.push_back({1, 3});
    instance.wrong.push_back({2, 2});
    return instance;
  };
  return result;
}
