//===- NumericsProducts.cpp - Random matrix products ----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NumericsProducts.h"

#include <algorithm>
#include <memory>

using namespace tracea;
using namespace tracea::numerics;

static ElementType pickResultType(Random &random, ElementType accumulator) {
  if (isInteger(accumulator))
    return random.chance(0.6) ? ElementType::I32
                              : random.pick({ElementType::I64, ElementType::F32,
                                             ElementType::F64});
  return random.pick({ElementType::F32, ElementType::F16, ElementType::BF16,
                      ElementType::F64});
}

void Product::drawTypes(Random &random, bool withByteFloats) {
  type = random.pick({ElementType::F32, ElementType::F32, ElementType::F32,
                      ElementType::F64, ElementType::F16, ElementType::BF16,
                      ElementType::I8});
  bool isByteFloat = withByteFloats && random.chance(0.15);
  if (isByteFloat)
    type = random.pick({ElementType::F8E4M3FN, ElementType::F8E5M2});
  accumulator = accumulatorOf(type);
  if (accumulator == ElementType::F32 && random.chance(0.1))
    accumulator = ElementType::F64;
  result.type = !isByteFloat && random.chance(0.6)
                    ? (isInteger(type) ? ElementType::I32 : type)
                    : pickResultType(random, accumulator);
  fill = pickFill(random);
}

std::vector<HostTensor> Product::drawInputs(Random &random) const {
  std::vector<HostTensor> inputs;
  for (const SizedType &argument : arguments)
    inputs.push_back(
        randomTensor(random, argument.type, sizes.at(argument.dims), fill));
  return inputs;
}

namespace {

struct Gemm : Product {
  bool transposeLhs = false, transposeRhs = false;
  int m = 0, n = 0, k = 0;
  std::vector<int> batch;
  bool lhsShared = false, rhsShared = false;

  ExpectedTensor compute(const std::vector<HostTensor> &inputs) const;
};

} // namespace

//===----------------------------------------------------------------------===//
// gemm
//===----------------------------------------------------------------------===//

ExpectedTensor Gemm::compute(const std::vector<HostTensor> &inputs) const {
  const HostTensor &lhs = inputs[0], &rhs = inputs[1];
  Shape shape = sizes.at(result.dims);
  int64_t M = sizes[m], N = sizes[n], K = sizes[k];
  std::vector<Approx> sums(countOf(shape));
  int64_t batches = countOf(sizes.at(batch));
  for (int64_t b = 0; b < batches; ++b) {
    const double *left = lhs.values.data() + (lhsShared ? 0 : b) * M * K;
    const double *right = rhs.values.data() + (rhsShared ? 0 : b) * K * N;
    for (int64_t i = 0; i < M; ++i)
      for (int64_t j = 0; j < N; ++j)
        sums[(b * M + i) * N + j] = dotProduct(
            accumulator, K,
            [&](int64_t l, double &x, double &y) {
              x = left[transposeLhs ? l * M + i : i * K + l];
              y = right[transposeRhs ? j * K + l : l * N + j];
            },
            digitsOfSums(type));
  }
  return epilogue.applyAll(sums, shape, inputs);
}

Case numerics::generateGemm(Random &random, bool large) {
  auto gemm = std::make_shared<Gemm>();
  Sizes &sizes = gemm->sizes;
  gemm->drawTypes(random, /*withByteFloats=*/true);
  const std::vector<int64_t> extents = {
      0,   1,   2,   3,   5,   7,   8,   13,  16,  17,  31,  32,
      33,  47,  48,  49,  63,  64,  65,  95,  96,  97,  100, 127,
      128, 129, 255, 257, 300, 384, 385, 513, 700, 1025};
  const int64_t limit = large ? 60'000'000 : 2'500'000;
  int64_t batchRank = random.chance(0.6) ? 0 : random.between(1, 2);
  int64_t batches = 1;
  for (int64_t i = 0; i < batchRank; ++i) {
    gemm->batch.push_back(
        sizes.add(random.pick({0, 1, 2, 2, 3, 3, 4, 5}), {0, 1, 2, 3, 4}));
    batches *= std::max<int64_t>(1, sizes[gemm->batch.back()]);
  }
  int64_t m, n, k;
  do {
    m = random.pick(extents);
    n = random.pick(extents);
    k = random.pick(extents);
  } while (m * n * k * batches > limit || (m + n) * k > 1'000'000);
  const std::vector<int64_t> others = {0, 1, 2, 3, 7, 8, 17, 33, 64, 65, 100};
  gemm->m = sizes.add(m, others);
  gemm->n = sizes.add(n, others);
  gemm->k = sizes.add(k, others);
  gemm->transposeLhs = random.chance(0.3);
  gemm->transposeRhs = random.chance(0.3);
  if (batchRank > 0 && random.chance(0.4))
    (random.chance(0.5) ? gemm->lhsShared : gemm->rhsShared) = true;

  ModuleText text(sizes);
  double dynamicChance = random.pick({0.0, 0.0, 0.0, 0.3, 0.7, 1.0});
  auto dimsOf = [&](bool shared, int rows, int columns, bool transpose) {
    std::vector<int> dims;
    if (!shared)
      dims = gemm->batch;
    dims.push_back(transpose ? columns : rows);
    dims.push_back(transpose ? rows : columns);
    return dims;
  };
  SizedType lhs =
      text.draw(random, gemm->type,
                dimsOf(gemm->lhsShared, gemm->m, gemm->k, gemm->transposeLhs),
                dynamicChance);
  SizedType rhs =
      text.draw(random, gemm->type,
                dimsOf(gemm->rhsShared, gemm->k, gemm->n, gemm->transposeRhs),
                dynamicChance);
  gemm->result =
      text.draw(random, gemm->result.type,
                dimsOf(false, gemm->m, gemm->n, false), dynamicChance);
  text.argument("a", lhs);
  int second = text.argument("b", rhs);
  std::string init;
  if (random.chance(0.4)) {
    gemm->destination = text.argument("d", gemm->result);
    init = "%d";
  }
  gemm->epilogue =
      Epilogue::draw(random, text, sizes, gemm->accumulator, gemm->result,
                     gemm->destination, dynamicChance);
  if (init.empty())
    init = text.empty(gemm->result);
  std::string op = "%r = tracea.gemm";
  if (gemm->transposeLhs)
    op += " transpose_lhs";
  if (gemm->transposeRhs)
    op += " transpose_rhs";
  if (gemm->accumulator != accumulatorOf(gemm->type))
    op += std::string(" acc ") + nameOf(gemm->accumulator);
  op += " ins(%a, %b : " + text.textOf(lhs) + ", " + text.textOf(rhs) +
        ") outs(" + init + " : " + text.textOf(gemm->result) + ")" +
        gemm->epilogue.text;
  text.line(op);
  for (int i = 0; i < text.numArguments(); ++i)
    gemm->arguments.push_back(text.argumentType(i));

  if (random.chance(0.25))
    text.makeConstant(second);
  Case result;
  result.name = "gemm " + std::string(nameOf(gemm->type)) + " " +
                listOf(sizes.at(gemm->result.dims)) + " k=" + std::to_string(k);
  result.text = text.finish({"%r"}, {gemm->result});
  result.dynamic = sizes.anyFree();
  result.make = [gemm, lhs](Random &random, bool first) {
    gemm->sizes.reset();
    if (!first)
      gemm->sizes.draw(random);
    Instance instance;
    instance.inputs = gemm->drawInputs(random);
    instance.outputs.push_back(gemm->compute(instance.inputs));
    // k of lhs alone cannot change, nor can a static size.
    int axis = static_cast<int>(lhs.dims.size()) - (gemm->transposeLhs ? 2 : 1);
    instance.wrong.push_back({0, axis});
    gemm->epilogue.addWrong(random, instance.wrong);
    return instance;
  };
  return result;
}
