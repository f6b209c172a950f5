//===- NumericsAttentionProblem.cpp - Queries, keys, values and masks -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NumericsAttention.h"

#include <cmath>
#include <cstdio>

using namespace tracea;
using namespace tracea::numerics;

void AttentionProblem::draw(Random &random, bool large, double maskChance,
                            double lengthChance) {
  fill = random.chance(0.8) ? Fill::Normal : Fill::Integers;
  const std::vector<int64_t> lengths = {1,  2,  3,  7,  8,  15, 16,  17,  31,
                                        32, 33, 48, 63, 64, 65, 100, 127, 130};
  const std::vector<int64_t> depths = {1,  2,  3,  7,  8,  15, 16, 17,
                                       31, 32, 33, 40, 64, 65, 80};
  const int64_t limit = large ? 20'000'000 : 1'000'000;
  int64_t nb, ng, nh, ni, nj, nd, ne;
  do {
    nb = random.pick({1, 1, 2, 3, 0});
    ng = random.pick({1, 1, 2, 3});
    nh = ng * random.pick({1, 1, 2, 3});
    ni = random.chance(0.03) ? 0 : random.pick(lengths);
    nj = random.chance(0.03)  ? 0
         : random.chance(0.4) ? ni
                              : random.pick(lengths);
    nd = random.pick(depths);
    ne = random.chance(0.6) ? nd : random.pick(depths);
  } while (nb * nh * ni * nj * (nd + ne) > limit);
  const std::vector<int64_t> others = {1, 2, 5, 16, 17, 40, 64, 65};
  b = sizes.add(nb, {0, 1, 2});
  h = sizes.add(nh);
  g = sizes.add(ng);
  i = sizes.add(ni, others);
  j = sizes.add(nj, others);
  d = sizes.add(nd);
  e = sizes.add(ne);
  mi = sizes.add(0);
  mj = sizes.add(0);
  causal = random.chance(0.4);
  if ((hasWindow = random.chance(0.3)))
    for (int64_t &bound : window)
      bound = random.pick({-1, 0, 1, 3, 16, 40});
  if ((hasScale = random.chance(0.4)))
    scale = random.pick({0.125, 1.0, 0.3, 0.0, -0.5});
  hasMask = random.chance(maskChance);
  if (hasMask)
    for (int64_t &size : block)
      size = random.chance(0.5) ? random.pick({16, 32, 48, 64, 128})
                                : random.pick({1, 2, 8, 16, 20, 32, 64});
  hasLengths = random.chance(lengthChance);
  derive();
  dynamicChance = random.pick({0.0, 0.0, 0.5});
}

SizedType AttentionProblem::drawType(Random &random, ModuleText &text,
                                     ElementType of, std::vector<int> dims) {
  SizedType result = text.draw(random, of, dims, dynamicChance);
  // The kernel wants static heads' depths; a dynamic one is rare.
  for (size_t k = 0; k < dims.size(); ++k)
    if ((dims[k] == d || dims[k] == e) && !random.chance(0.05)) {
      result.dynamic[k] = false;
      sizes.fix(dims[k]);
    }
  return result;
}

void AttentionProblem::drawOperands(Random &random, ModuleText &text) {
  query = drawType(random, text, type, {b, h, i, d});
  key = drawType(random, text, type, {b, g, j, d});
  value = drawType(random, text, type, {b, g, j, e});
  // A depth that no type tells needs a scale.
  if (query.dynamic[3] && key.dynamic[3] && !hasScale) {
    hasScale = true;
    scale = 0.25;
  }
  // Heads behind rows are brought in front of them, and back.
  bool isOrdered = random.chance(0.3);
  for (bool &place : behind)
    place = isOrdered && random.chance(0.7);
}

SizedType AttentionProblem::exchange(SizedType type) {
  std::swap(type.dims[1], type.dims[2]);
  type.dynamic.swap(type.dynamic[1], type.dynamic[2]);
  return type;
}

std::string AttentionProblem::writeTranspose(ModuleText &text,
                                             const std::string &from,
                                             const SizedType &type) {
  SizedType other = exchange(type);
  std::string to = text.empty(other);
  std::string result = from + "t";
  text.line(result + " = linalg.transpose ins(" + from + " : " +
            text.textOf(type) + ") outs(" + to + " : " + text.textOf(other) +
            ") permutation = [0, 2, 1, 3]");
  return result;
}

std::string AttentionProblem::writeOperand(ModuleText &text,
                                           const std::string &name,
                                           const SizedType &type, int number) {
  text.argument(name, behind[number] ? exchange(type) : type);
  return "%" + name;
}

std::string AttentionProblem::writeAttributes(const std::string &name) const {
  std::string op = name;
  if (causal)
    op += " causal";
  if (hasWindow)
    op += " window " + listOf({window[0], window[1]});
  if (hasScale) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%e", scale);
    op += std::string(" scale ") + buffer;
  }
  if (accumulator != accumulatorOf(type))
    op += std::string(" acc ") + nameOf(accumulator);
  return op;
}

std::string AttentionProblem::writeMasks(Random &random, ModuleText &text) {
  std::string op;
  if (hasMask) {
    int one = sizes.add(1);
    SizedType mask = text.draw(
        random, ElementType::I1,
        {random.chance(0.5) ? one : b, random.chance(0.5) ? one : h, mi, mj},
        dynamicChance);
    for (int k : {0, 1})
      if (mask.dims[k] == one)
        mask.dynamic[k] = false;
    if (!mask.dynamic[2])
      sizes.fix(i);
    if (!mask.dynamic[3])
      sizes.fix(j);
    maskArgument = text.argument("m", mask);
    op += " block_mask(%m : " + text.textOf(mask) + ") block_size " +
          listOf({block[0], block[1]});
  }
  if (hasLengths) {
    SizedType lengths =
        text.draw(random, random.pick({ElementType::I32, ElementType::I64}),
                  {b}, dynamicChance);
    lengthArgument = text.argument("n", lengths);
    op += " lengths(%n : " + text.textOf(lengths) + ")";
  }
  return op;
}

Instance AttentionProblem::makeInputs(Random &random, bool first) {
  sizes.reset();
  if (!first)
    sizes.draw(random);
  derive();
  Instance instance;
  for (const SizedType &argument : arguments)
    instance.inputs.push_back(
        randomTensor(random, argument.type, sizes.at(argument.dims), fill));
  if (hasLengths)
    for (double &length : instance.inputs[lengthArgument].values)
      length = double(random.between(-1, sizes[j] + 2));
  return instance;
}

const double *AttentionProblem::queryAt(const Instance &instance, int64_t ib,
                                        int64_t ih, int64_t ii) const {
  return instance.inputs[0].values.data() +
         rowOf(behind[0], ib, sizes[h], ih, sizes[i], ii) * sizes[d];
}

const double *AttentionProblem::keyAt(const Instance &instance, int64_t ib,
                                      int64_t ih, int64_t ij) const {
  return instance.inputs[1].values.data() + rowOf(behind[1], ib, sizes[g],
                                                  ih / (sizes[h] / sizes[g]),
                                                  sizes[j], ij) *
                                                sizes[d];
}

const double *AttentionProblem::valueAt(const Instance &instance, int64_t ib,
                                        int64_t ih, int64_t ij) const {
  return instance.inputs[2].values.data() + rowOf(behind[2], ib, sizes[g],
                                                  ih / (sizes[h] / sizes[g]),
                                                  sizes[j], ij) *
                                                sizes[e];
}

double AttentionProblem::factor() const {
  return hasScale ? scale : 1 / std::sqrt(double(sizes[d]));
}

bool AttentionProblem::sees(const Instance &instance, int64_t ib, int64_t ih,
                            int64_t ii, int64_t ij) const {
  int64_t row = ii + (sizes[j] - sizes[i]);
  if (causal && ij > row)
    return false;
  if (hasWindow && ((window[0] >= 0 && ij < row - window[0]) ||
                    (window[1] >= 0 && ij > row + window[1])))
    return false;
  if (hasMask) {
    const HostTensor &mask = instance.inputs[maskArgument];
    Shape at = {mask.shape[0] == 1 ? 0 : ib, mask.shape[1] == 1 ? 0 : ih,
                ii / block[0], ij / block[1]};
    if (mask.values[linearIndex(mask.shape, at)] == 0)
      return false;
  }
  return !(hasLengths && ij >= instance.inputs[lengthArgument].values[ib]);
}

Approx AttentionProblem::score(const Instance &instance, int64_t ib, int64_t ih,
                               int64_t ii, int64_t ij) const {
  const double *q = queryAt(instance, ib, ih, ii);
  const double *k = keyAt(instance, ib, ih, ij);
  Real u = unitRoundoff(accumulator);
  Real by = hasScale ? Real(scale) : 1 / std::sqrt(Real(sizes[d]));
  Approx s =
      dotProduct(accumulator, sizes[d], [&](int64_t n, double &x, double &w) {
        x = q[n];
        w = k[n];
      });
  // The scale may also be folded into the query or the exponent.
  s.value *= by;
  s.error = s.error * std::fabs(by) + 4 * u * std::fabs(s.value);
  return s;
}
