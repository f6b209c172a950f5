//===- NumericsGrouped.cpp - Random products of groups of rows ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NumericsProducts.h"

#include <algorithm>
#include <memory>

using namespace tracea;
using namespace tracea::numerics;

namespace {
struct Grouped : Product {
  ExpectedTensor compute(const std::vector<HostTensor> &inputs) const;
  HostTensor drawEnds(Random &random) const;

  bool transposeRhs = false;
  ElementType endsType = ElementType::I32;
  int rows = 0, n = 0, k = 0, groups = 0;
};
} // namespace

/// Ends as they should be, and at times any: each value has a meaning.
HostTensor Grouped::drawEnds(Random &random) const {
  HostTensor ends{endsType, {sizes[groups]}, {}};
  int64_t count = sizes[rows];
  bool isAnything = random.chance(0.25);
  for (int64_t g = 0; g < sizes[groups]; ++g)
    ends.values.push_back(double(isAnything ? random.between(-3, count + 9)
                                            : random.between(0, count)));
  if (!isAnything) {
    std::sort(ends.values.begin(), ends.values.end());
    if (!ends.values.empty() && random.chance(0.6))
      ends.values.back() = double(count);
  }
  return ends;
}

ExpectedTensor Grouped::compute(const std::vector<HostTensor> &inputs) const {
  const HostTensor &lhs = inputs[0], &rhs = inputs[1], &ends = inputs[2];
  Shape shape = sizes.at(result.dims);
  int64_t N = sizes[n], K = sizes[k];
  std::vector<Approx> sums(countOf(shape));
  forEachIndex(shape, [&](const Shape &index, int64_t linear) {
    auto found =
        std::find_if(ends.values.begin(), ends.values.end(),
                     [&](double end) { return double(index[0]) < end; });
    if (found == ends.values.end())
      return;
    const double *right =
        rhs.values.data() + (found - ends.values.begin()) * K * N;
    sums[linear] = dotProduct(
        accumulator, K,
        [&](int64_t l, double &x, double &y) {
          x = lhs.values[index[0] * K + l];
          y = right[transposeRhs ? index[1] * K + l : l * N + index[1]];
        },
        digitsOfSums(type));
  });
  return epilogue.applyAll(sums, shape, inputs);
}

Case numerics::generateGroupedGemm(Random &random, bool large) {
  auto grouped = std::make_shared<Grouped>();
  Sizes &sizes = grouped->sizes;
  grouped->drawTypes(random, /*withByteFloats=*/true);
  const std::vector<int64_t> extents = {0,  1,  2,  7,   8,   16,  17,  32, 48,
                                        63, 64, 65, 100, 128, 129, 256, 300};
  const int64_t limit = large ? 30'000'000 : 2'500'000;
  int64_t rows, n, k;
  do {
    rows = random.pick(extents);
    n = random.pick(extents);
    k = random.pick(extents);
  } while (rows * n * k > limit);
  const std::vector<int64_t> others = {0, 1, 2, 7, 8, 33, 64, 65, 130};
  grouped->rows = sizes.add(rows, others);
  grouped->n = sizes.add(n, others);
  grouped->k = sizes.add(k, others);
  grouped->groups = sizes.add(random.pick({0, 1, 2, 3, 4, 8}), {1, 2, 5});
  grouped->transposeRhs = random.chance(0.5);
  grouped->endsType = random.pick({ElementType::I32, ElementType::I64});

  ModuleText text(sizes);
  double dynamicChance = random.pick({0.0, 0.0, 0.3, 0.7, 1.0});
  int first = grouped->transposeRhs ? grouped->n : grouped->k;
  int second = grouped->transposeRhs ? grouped->k : grouped->n;
  SizedType lhs = text.draw(random, grouped->type, {grouped->rows, grouped->k},
                            dynamicChance);
  SizedType rhs = text.draw(random, grouped->type,
                            {grouped->groups, first, second}, dynamicChance);
  SizedType ends =
      text.draw(random, grouped->endsType, {grouped->groups}, dynamicChance);
  grouped->result = text.draw(random, grouped->result.type,
                              {grouped->rows, grouped->n}, dynamicChance);
  text.argument("a", lhs);
  text.argument("b", rhs);
  text.argument("ends", ends);
  std::string init;
  if (random.chance(0.3)) {
    grouped->destination = text.argument("d", grouped->result);
    init = "%d";
  }
  grouped->epilogue =
      Epilogue::draw(random, text, sizes, grouped->accumulator, grouped->result,
                     grouped->destination, dynamicChance);
  if (init.empty())
    init = text.empty(grouped->result);
  std::string op = "%r = tracea.grouped_gemm";
  if (grouped->transposeRhs)
    op += " transpose_rhs";
  if (grouped->accumulator != accumulatorOf(grouped->type))
    op += std::string(" acc ") + nameOf(grouped->accumulator);
  op += " ins(%a, %b, %ends : " + text.textOf(lhs) + ", " + text.textOf(rhs) +
        ", " + text.textOf(ends) + ") outs(" + init + " : " +
        text.textOf(grouped->result) + ")" + grouped->epilogue.text;
  text.line(op);
  for (int i = 0; i < text.numArguments(); ++i)
    grouped->arguments.push_back(text.argumentType(i));

  Case result;
  result.name = "grouped_gemm " + std::string(nameOf(grouped->type)) + " " +
                listOf(sizes.at(grouped->result.dims)) +
                " k=" + std::to_string(k);
  result.text = text.finish({"%r"}, {grouped->result});
  result.dynamic = sizes.anyFree();
  result.make = [grouped](Random &random, bool first) {
    grouped->sizes.reset();
    if (!first)
      grouped->sizes.draw(random);
    Instance instance;
    instance.inputs = grouped->drawInputs(random);
    instance.inputs[2] = grouped->drawEnds(random);
    instance.outputs.push_back(grouped->compute(instance.inputs));
    instance.wrong.push_back({0, 1});
    grouped->epilogue.addWrong(random, instance.wrong);
    return instance;
  };
  return result;
}
