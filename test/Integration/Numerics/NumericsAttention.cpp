//===- NumericsAttention.cpp - Random attention ---------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Numerics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

using namespace tracea;
using namespace tracea::numerics;

namespace {

struct Attention {
  Sizes sizes;
  ElementType type = ElementType::F32, accumulator = ElementType::F32;
  std::vector<SizedType> arguments;
  SizedType result, lse;
  bool hasLse = false, causal = false, hasWindow = false, hasScale = false;
  bool hasMask = false, hasLengths = false;
  /// Whether query, key, value and result have their heads behind their rows.
  bool behind[4] = {false, false, false, false};
  int64_t window[2] = {-1, -1}, block[2] = {1, 1};
  double scale = 1;
  int maskArgument = -1, lengthArgument = -1;
  int b = 0, h = 0, g = 0, i = 0, j = 0, d = 0, e = 0, mi = 0, mj = 0;
  Fill fill = Fill::Normal;

  /// The number of a row of `heads` heads, of which each has `rows`.
  static int64_t rowOf(bool isBehind, int64_t batch, int64_t heads,
                       int64_t head, int64_t rows, int64_t row) {
    return isBehind ? (batch * rows + row) * heads + head
                    : (batch * heads + head) * rows + row;
  }
  void derive() {
    sizes.set(mi, (sizes[i] + block[0] - 1) / block[0]);
    sizes.set(mj, (sizes[j] + block[1] - 1) / block[1]);
  }
  void compute(const Instance &instance, ExpectedTensor &y,
               ExpectedTensor &l) const;
};

} // namespace

void Attention::compute(const Instance &instance, ExpectedTensor &y,
                        ExpectedTensor &l) const {
  const HostTensor &query = instance.inputs[0], &key = instance.inputs[1],
                   &value = instance.inputs[2];
  int64_t B = sizes[b], H = sizes[h], G = sizes[g], I = sizes[i], J = sizes[j],
          D = sizes[d], E = sizes[e];
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  constexpr Real nan = std::numeric_limits<Real>::quiet_NaN();
  Real u = unitRoundoff(accumulator), tiny = smallest(accumulator);
  Real factor = hasScale ? Real(scale) : 1 / std::sqrt(Real(D));
  y.shape = {B, H, I, E};
  if (behind[3])
    std::swap(y.shape[1], y.shape[2]);
  l.shape = {B, H, I};
  std::vector<Approx> scores(J);
  std::vector<bool> seen(J);
  for (int64_t ib = 0; ib < B; ++ib)
    for (int64_t ih = 0; ih < H; ++ih)
      for (int64_t ii = 0; ii < I; ++ii) {
        const double *q =
            query.values.data() + rowOf(behind[0], ib, H, ih, I, ii) * D;
        auto rowOfKey = [&](bool isBehind, int64_t ij) {
          return rowOf(isBehind, ib, G, ih / (H / G), J, ij);
        };
        int64_t row = ii + (J - I);
        Real maximum = -infinity, scoreError = 0;
        bool any = false, poisoned = false;
        int64_t count = 0;
        for (int64_t ij = 0; ij < J; ++ij) {
          seen[ij] = !(causal && ij > row);
          if (hasWindow) {
            if (window[0] >= 0 && ij < row - window[0])
              seen[ij] = false;
            if (window[1] >= 0 && ij > row + window[1])
              seen[ij] = false;
          }
          if (hasMask) {
            const HostTensor &mask = instance.inputs[maskArgument];
            Shape at = {mask.shape[0] == 1 ? 0 : ib,
                        mask.shape[1] == 1 ? 0 : ih, ii / block[0],
                        ij / block[1]};
            if (mask.values[linearIndex(mask.shape, at)] == 0)
              seen[ij] = false;
          }
          if (hasLengths && ij >= instance.inputs[lengthArgument].values[ib])
            seen[ij] = false;
          if (!seen[ij])
            continue;
          ++count;
          const double *k = key.values.data() + rowOfKey(behind[1], ij) * D;
          Approx s =
              dotProduct(accumulator, D, [&](int64_t n, double &x, double &w) {
                x = q[n];
                w = k[n];
              });
          // The scale may also be folded into the query or the exponent.
          s.value *= factor;
          s.error = s.error * std::fabs(factor) + 4 * u * std::fabs(s.value);
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
            Real v = value.values[rowOfKey(behind[2], ij) * E + ie];
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
  a.fill = random.chance(0.8) ? Fill::Normal : Fill::Integers;
  int64_t b, g, h, i, j, d, e;
  const std::vector<int64_t> lengths = {1,  2,  3,  7,  8,  15, 16,  17,  31,
                                        32, 33, 48, 63, 64, 65, 100, 127, 130};
  const std::vector<int64_t> depths = {1,  2,  3,  7,  8,  15, 16, 17,
                                       31, 32, 33, 40, 64, 65, 80};
  const int64_t limit = large ? 20'000'000 : 1'000'000;
  do {
    b = random.pick({1, 1, 2, 3, 0});
    g = random.pick({1, 1, 2, 3});
    h = g * random.pick({1, 1, 2, 3});
    i = random.chance(0.03) ? 0 : random.pick(lengths);
    j = random.chance(0.03) ? 0 : random.chance(0.4) ? i : random.pick(lengths);
    d = random.pick(depths);
    e = random.chance(0.6) ? d : random.pick(depths);
  } while (b * h * i * j * (d + e) > limit);
  const std::vector<int64_t> others = {1, 2, 5, 16, 17, 40, 64, 65};
  a.b = sizes.add(b, {0, 1, 2});
  a.h = sizes.add(h);
  a.g = sizes.add(g);
  a.i = sizes.add(i, others);
  a.j = sizes.add(j, others);
  a.d = sizes.add(d);
  a.e = sizes.add(e);
  a.mi = sizes.add(0);
  a.mj = sizes.add(0);
  a.causal = random.chance(0.4);
  if ((a.hasWindow = random.chance(0.3)))
    for (int64_t &bound : a.window)
      bound = random.pick({-1, 0, 1, 3, 16, 40});
  if ((a.hasScale = random.chance(0.4)))
    a.scale = random.pick({0.125, 1.0, 0.3, 0.0, -0.5});
  a.hasMask = random.chance(0.3);
  a.hasLse = random.chance(0.4);
  if (a.hasMask)
    for (int64_t &size : a.block)
      size = random.chance(0.5) ? random.pick({16, 32, 48, 64, 128})
                                : random.pick({1, 2, 8, 16, 20, 32, 64});
  a.hasLengths = random.chance(0.25);
  a.derive();

  ModuleText text(sizes);
  double dynamicChance = random.pick({0.0, 0.0, 0.5});
  auto drawType = [&](ElementType type, std::vector<int> dims) {
    SizedType result = text.draw(random, type, dims, dynamicChance);
    // The kernel wants static heads' depths; a dynamic one is rare.
    for (size_t k = 0; k < dims.size(); ++k)
      if ((dims[k] == a.d || dims[k] == a.e) && !random.chance(0.05)) {
        result.dynamic[k] = false;
        sizes.fix(dims[k]);
      }
    return result;
  };
  SizedType query = drawType(a.type, {a.b, a.h, a.i, a.d});
  SizedType key = drawType(a.type, {a.b, a.g, a.j, a.d});
  SizedType value = drawType(a.type, {a.b, a.g, a.j, a.e});
  ElementType resultType = a.type;
  if (random.chance(0.3))
    resultType = random.pick({ElementType::F32, ElementType::F16,
                              ElementType::BF16, ElementType::F64});
  a.result = drawType(resultType, {a.b, a.h, a.i, a.e});
  // Heads behind rows are brought in front of them, and back.
  bool isOrdered = random.chance(0.3);
  for (bool &behind : a.behind)
    behind = isOrdered && random.chance(0.7);
  auto exchange = [](SizedType type) {
    std::swap(type.dims[1], type.dims[2]);
    type.dynamic.swap(type.dynamic[1], type.dynamic[2]);
    return type;
  };
  std::vector<std::string> names;
  const std::pair<const char *, SizedType> operands[] = {
      {"q", query}, {"k", key}, {"v", value}};
  for (const auto &[name, type] : operands) {
    text.argument(name, a.behind[names.size()] ? exchange(type) : type);
    names.push_back(std::string("%") + name);
  }
  auto transpose = [&](const std::string &from, const SizedType &type) {
    SizedType other = exchange(type);
    std::string to = text.empty(other);
    std::string result = from + "t";
    text.line(result + " = linalg.transpose ins(" + from + " : " +
              text.textOf(type) + ") outs(" + to + " : " + text.textOf(other) +
              ") permutation = [0, 2, 1, 3]");
    return result;
  };
  std::string op = "tracea.attention";
  // A depth that no type tells needs a scale.
  if (query.dynamic[3] && key.dynamic[3] && !a.hasScale) {
    a.hasScale = true;
    a.scale = 0.25;
  }
  if (a.causal)
    op += " causal";
  if (a.hasWindow)
    op += " window " + listOf({a.window[0], a.window[1]});
  if (a.hasScale) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%e", a.scale);
    op += std::string(" scale ") + buffer;
  }
  if (a.accumulator != accumulatorOf(a.type))
    op += std::string(" acc ") + nameOf(a.accumulator);
  for (size_t k = 0; k < names.size(); ++k)
    if (a.behind[k])
      names[k] = transpose(names[k], exchange(operands[k].second));
  op += " ins(" + names[0] + ", " + names[1] + ", " + names[2] + " : " +
        text.textOf(query) + ", " + text.textOf(key) + ", " +
        text.textOf(value) + ")";
  if (a.hasMask) {
    int one = sizes.add(1);
    SizedType mask = text.draw(random, ElementType::I1,
                               {random.chance(0.5) ? one : a.b,
                                random.chance(0.5) ? one : a.h, a.mi, a.mj},
                               dynamicChance);
    for (int k : {0, 1})
      if (mask.dims[k] == one)
        mask.dynamic[k] = false;
    if (!mask.dynamic[2])
      sizes.fix(a.i);
    if (!mask.dynamic[3])
      sizes.fix(a.j);
    a.maskArgument = text.argument("m", mask);
    op += " block_mask(%m : " + text.textOf(mask) + ") block_size " +
          listOf({a.block[0], a.block[1]});
  }
  if (a.hasLengths) {
    SizedType lengths =
        text.draw(random, random.pick({ElementType::I32, ElementType::I64}),
                  {a.b}, dynamicChance);
    a.lengthArgument = text.argument("n", lengths);
    op += " lengths(%n : " + text.textOf(lengths) + ")";
  }
  std::string init = text.empty(a.result);
  op += " outs(" + init + " : " + text.textOf(a.result) + ")";
  std::vector<SizedType> results = {a.result};
  if (a.hasLse) {
    a.lse = drawType(random.chance(0.5) ? ElementType::F32 : a.accumulator,
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
    first = transpose("%r", a.result);
    results[0] = exchange(a.result);
  }
  for (int k = 0; k < text.numArguments(); ++k)
    a.arguments.push_back(text.argumentType(k));

  Case result;
  result.name = "attention " + std::string(nameOf(a.type)) + " " +
                listOf({b, h, g, i, j, d, e});
  result.text = text.finish(a.hasLse ? std::vector<std::string>{first, "%l"}
                                     : std::vector<std::string>{first},
                            results);
  result.dynamic = sizes.anyFree();
  result.make = [attention](Random &random, bool first) {
    Attention &a = *attention;
    a.sizes.reset();
    if (!first)
      a.sizes.draw(random);
    a.derive();
    Instance instance;
    for (const SizedType &argument : a.arguments)
      instance.inputs.push_back(randomTensor(
          random, argument.type, a.sizes.at(argument.dims), a.fill));
    // Before the first key, behind the last one, and between them.
    if (a.hasLengths)
      for (double &length : instance.inputs[a.lengthArgument].values)
        length = double(random.between(-1, a.sizes[a.j] + 2));
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
