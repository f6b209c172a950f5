//===- NumericsAttentionGradients.cpp - Random gradients of attention -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the attention leaves for its gradients, log-sum-exp and delta, is
// computed here and rounded: they are inputs like others.

#include "NumericsAttention.h"

#include <cmath>
#include <limits>
#include <memory>

using namespace tracea;
using namespace tracea::numerics;

namespace {

struct Gradient : AttentionProblem {
  SizedType gradient, lse, delta;
  /// Of the query, or of key and value.
  bool isByQuery = false;
  std::vector<SizedType> results;
  int gradientArgument = -1, lseArgument = -1, deltaArgument = -1;

  const double *gradientAt(const Instance &instance, int64_t ib, int64_t ih,
                           int64_t ii) const {
    return instance.inputs[gradientArgument].values.data() +
           rowOf(behind[3], ib, sizes[h], ih, sizes[i], ii) * sizes[e];
  }
  void fillRows(Instance &instance) const;
  std::vector<ExpectedTensor> compute(const Instance &instance) const;
};

/// A sum of products of which one factor has an error.
struct Sum {
  Real value = 0, magnitude = 0, error = 0;
  int64_t count = 0;

  void add(Approx weight, Real factor) {
    value += weight.value * factor;
    magnitude += std::fabs(weight.value * factor);
    error += weight.error * std::fabs(factor);
    ++count;
  }
  Approx get(Real by, Real u, Real tiny) const {
    Real total = error + (sumRoundings(count) + 4) * u * (magnitude + error);
    return {value * by,
            total * std::fabs(by) + 4 * u * std::fabs(value * by) + tiny};
  }
};

} // namespace

/// The log-sum-exp and delta of each row.
void Gradient::fillRows(Instance &instance) const {
  int64_t row = 0;
  for (int64_t ib = 0; ib < sizes[b]; ++ib)
    for (int64_t ih = 0; ih < sizes[h]; ++ih)
      for (int64_t ii = 0; ii < sizes[i]; ++ii, ++row) {
        Real maximum = -std::numeric_limits<Real>::infinity(), sum = 0,
             common = 0;
        for (int64_t ij = 0; ij < sizes[j]; ++ij)
          if (sees(instance, ib, ih, ii, ij))
            maximum = std::max(maximum, score(instance, ib, ih, ii, ij).value);
        const double *g = gradientAt(instance, ib, ih, ii);
        for (int64_t ij = 0; ij < sizes[j]; ++ij) {
          if (!sees(instance, ib, ih, ii, ij))
            continue;
          Real weight =
              std::exp(score(instance, ib, ih, ii, ij).value - maximum);
          const double *v = valueAt(instance, ib, ih, ij);
          sum += weight;
          for (int64_t ie = 0; ie < sizes[e]; ++ie)
            common += weight * g[ie] * v[ie];
        }
        instance.inputs[lseArgument].values[row] =
            double(roundTo(lse.type, maximum + std::log(sum)));
        instance.inputs[deltaArgument].values[row] =
            double(roundTo(delta.type, sum > 0 ? common / sum : 0));
      }
}

std::vector<ExpectedTensor> Gradient::compute(const Instance &instance) const {
  int64_t B = sizes[b], H = sizes[h], G = sizes[g], I = sizes[i], J = sizes[j],
          D = sizes[d], E = sizes[e];
  Real u = unitRoundoff(accumulator), tiny = smallest(accumulator);
  // What a unit rounds weights and gradients by scores to, and half of the last
  // place of subnormal numbers.
  Real rounding = roundingOfWeights(type);
  Real least = rounding > 0 && type == ElementType::F16 ? 0x1p-25L : 0;
  std::vector<Sum> byQuery(isByQuery ? B * H * I * D : 0);
  std::vector<Sum> byKey(isByQuery ? 0 : B * G * J * D),
      byValue(isByQuery ? 0 : B * G * J * E);
  int64_t row = 0;
  for (int64_t ib = 0; ib < B; ++ib)
    for (int64_t ih = 0; ih < H; ++ih)
      for (int64_t ii = 0; ii < I; ++ii, ++row) {
        Real sum = instance.inputs[lseArgument].values[row];
        Real common = instance.inputs[deltaArgument].values[row];
        const double *g = gradientAt(instance, ib, ih, ii);
        const double *q = queryAt(instance, ib, ih, ii);
        for (int64_t ij = 0; ij < J; ++ij) {
          if (!sees(instance, ib, ih, ii, ij))
            continue;
          const double *v = valueAt(instance, ib, ih, ij);
          const double *k = keyAt(instance, ib, ih, ij);
          Approx s = score(instance, ib, ih, ii, ij);
          Real value = std::exp(s.value - sum);
          Real relative =
              s.error + 4 * u * (std::fabs(s.value) + std::fabs(sum)) + 12 * u;
          Approx weight{value, value * relative * 2 + tiny};
          Approx byWeight =
              dotProduct(accumulator, E, [&](int64_t n, double &x, double &w) {
                x = g[n];
                w = v[n];
              });
          Real above = byWeight.value - common;
          Real error = byWeight.error +
                       2 * u * (std::fabs(byWeight.value) + std::fabs(common));
          Approx byScore{value * above,
                         weight.error * (std::fabs(above) + error) +
                             value * error + 2 * u * value * std::fabs(above) +
                             tiny};
          for (Approx *rounded : {&weight, &byScore})
            rounded->error +=
                rounding * (std::fabs(rounded->value) + rounded->error) + least;
          if (isByQuery) {
            for (int64_t id = 0; id < D; ++id)
              byQuery[row * D + id].add(byScore, k[id]);
            continue;
          }
          int64_t keyRow = (ib * G + ih / (H / G)) * J + ij;
          for (int64_t id = 0; id < D; ++id)
            byKey[keyRow * D + id].add(byScore, q[id]);
          for (int64_t ie = 0; ie < E; ++ie)
            byValue[keyRow * E + ie].add(weight, g[ie]);
        }
      }
  auto expect = [&](const std::vector<Sum> &sums, Real by, Shape shape,
                    ElementType of) {
    ExpectedTensor found{of, std::move(shape), {}};
    for (const Sum &each : sums)
      found.values.push_back(each.get(by, u, tiny));
    return found;
  };
  if (isByQuery)
    return {expect(byQuery, factor(), {B, H, I, D}, results[0].type)};
  return {expect(byKey, factor(), {B, G, J, D}, results[0].type),
          expect(byValue, 1, {B, G, J, E}, results[1].type)};
}

Case numerics::generateAttentionGradient(Random &random, bool large) {
  auto gradient = std::make_shared<Gradient>();
  Gradient &a = *gradient;
  a.type = random.pick({ElementType::BF16, ElementType::F16, ElementType::BF16,
                        ElementType::F32, ElementType::F64});
  a.accumulator = accumulatorOf(a.type);
  if (random.chance(0.1))
    a.accumulator = ElementType::F64;
  a.isByQuery = random.chance(0.5);
  a.draw(random, large, 0.1, 0.1);
  ModuleText text(a.sizes);
  a.drawOperands(random, text);
  a.gradient = a.drawType(random, text, a.type, {a.b, a.h, a.i, a.e});
  for (SizedType *rows : {&a.lse, &a.delta})
    *rows = a.drawType(random, text,
                       random.chance(0.7) ? ElementType::F32 : a.accumulator,
                       {a.b, a.h, a.i});
  if (a.isByQuery)
    a.results = {a.drawType(random, text, a.type, {a.b, a.h, a.i, a.d})};
  else
    a.results = {a.drawType(random, text, a.type, {a.b, a.g, a.j, a.d}),
                 a.drawType(random, text, a.type, {a.b, a.g, a.j, a.e})};

  const std::pair<const char *, SizedType> operands[] = {
      {"q", a.query}, {"k", a.key}, {"v", a.value}, {"g", a.gradient}};
  std::vector<std::string> names, types;
  for (const auto &[name, type] : operands) {
    names.push_back(a.writeOperand(text, name, type, int(names.size())));
    types.push_back(text.textOf(type));
  }
  a.gradientArgument = 3;
  a.lseArgument = text.argument("l", a.lse);
  a.deltaArgument = text.argument("t", a.delta);
  for (size_t k = 0; k < names.size(); ++k)
    if (a.behind[k])
      names[k] =
          a.writeTranspose(text, names[k], a.exchange(operands[k].second));
  names.insert(names.end(), {"%l", "%t"});
  types.insert(types.end(), {text.textOf(a.lse), text.textOf(a.delta)});
  std::string op = a.writeAttributes(a.isByQuery ? "tracea.attention_qgrad"
                                                 : "tracea.attention_kvgrad") +
                   " ins(" + join(names, ", ") + " : " + join(types, ", ") +
                   ")";
  op += a.writeMasks(random, text);
  std::vector<std::string> inits, resultTypes, found = {"%r"};
  if (!a.isByQuery)
    found.push_back("%w");
  for (const SizedType &type : a.results) {
    inits.push_back(text.empty(type));
    resultTypes.push_back(text.textOf(type));
  }
  text.line(join(found, ", ") + " = " + op + " outs(" + join(inits, ", ") +
            " : " + join(resultTypes, ", ") + ") -> " +
            join(resultTypes, ", "));
  for (int k = 0; k < text.numArguments(); ++k)
    a.arguments.push_back(text.argumentType(k));

  Case result;
  result.name =
      std::string(a.isByQuery ? "attention_qgrad " : "attention_kvgrad ") +
      std::string(nameOf(a.type)) + " " +
      listOf(a.sizes.at({a.b, a.h, a.g, a.i, a.j, a.d, a.e}));
  result.text = text.finish(found, a.results);
  result.dynamic = a.sizes.anyFree();
  result.make = [gradient](Random &random, bool first) {
    Gradient &a = *gradient;
    Instance instance = a.makeInputs(random, first);
    a.fillRows(instance);
    instance.outputs = a.compute(instance);
    instance.wrong.push_back({1, 3});
    instance.wrong.push_back({2, 2});
    instance.wrong.push_back({3, 3});
    return instance;
  };
  return result;
}
