//===- NumericsProducts.cpp - Random matrix products and convolutions -----===//
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

struct Conv : Product {
  bool nhwc = true;
  int filterLayout = 0; // KRSC, KCRS, RSCK
  int64_t strides[2] = {1, 1}, dilations[2] = {1, 1}, pads[4] = {0, 0, 0, 0};
  int64_t groups = 1;
  int n = 0, h = 0, w = 0, c = 0, k = 0, r = 0, s = 0, cg = 0, p = 0, q = 0;

  int64_t extentOf(int64_t image, int64_t taps, int axis) const {
    int64_t reach = dilations[axis] * (taps - 1) + 1;
    int64_t padded = image + pads[axis] + pads[axis + 2];
    return padded < reach ? 0 : (padded - reach) / strides[axis] + 1;
  }
  void derive() {
    sizes.set(p, extentOf(sizes[h], sizes[r], 0));
    sizes.set(q, extentOf(sizes[w], sizes[s], 1));
  }
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
  text.argument("b", rhs);
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

//===----------------------------------------------------------------------===//
// conv2d
//===----------------------------------------------------------------------===//

ExpectedTensor Conv::compute(const std::vector<HostTensor> &inputs) const {
  const HostTensor &image = inputs[0], &filter = inputs[1];
  Shape shape = sizes.at(result.dims);
  int64_t H = sizes[h], W = sizes[w], R = sizes[r], S = sizes[s];
  int64_t CG = sizes[cg], C = sizes[c], K = sizes[k], KG = K / groups;
  std::vector<Approx> sums(countOf(shape));
  forEachIndex(shape, [&](const Shape &index, int64_t linear) {
    int64_t in = index[0], ik = index[nhwc ? 3 : 1];
    int64_t ip = index[nhwc ? 1 : 2], iq = index[nhwc ? 2 : 3];
    int64_t g = ik / KG;
    sums[linear] = dotProduct(
        accumulator, R * S * CG, [&](int64_t l, double &x, double &y) {
          int64_t ic = l % CG, is = l / CG % S, ir = l / CG / S;
          int64_t y0 = ip * strides[0] + ir * dilations[0] - pads[0];
          int64_t x0 = iq * strides[1] + is * dilations[1] - pads[1];
          int64_t channel = g * CG + ic;
          x = 0;
          if (y0 >= 0 && y0 < H && x0 >= 0 && x0 < W)
            x = image.values[nhwc ? ((in * H + y0) * W + x0) * C + channel
                                  : ((in * C + channel) * H + y0) * W + x0];
          y = filter
                  .values[filterLayout == 0 ? ((ik * R + ir) * S + is) * CG + ic
                          : filterLayout == 1
                              ? ((ik * CG + ic) * R + ir) * S + is
                              : ((ir * S + is) * CG + ic) * K + ik];
        });
  });
  return epilogue.applyAll(sums, shape, inputs);
}

Case numerics::generateConv2D(Random &random, bool large) {
  auto conv = std::make_shared<Conv>();
  Sizes &sizes = conv->sizes;
  conv->drawTypes(random, /*withByteFloats=*/false);
  conv->nhwc = random.chance(0.6);
  conv->filterLayout = static_cast<int>(random.below(3));
  int64_t n, h, w, r, s, cg, kg, p, q;
  const int64_t limit = large ? 60'000'000 : 2'500'000;
  do {
    n = random.pick({1, 1, 1, 2, 3, 0});
    h = random.between(1, large ? 60 : 33);
    w = random.between(1, large ? 60 : 33);
    switch (random.below(8)) {
    case 0:
      r = s = 1;
      break;
    case 1:
      r = 1, s = 3;
      break;
    case 2:
      r = 3, s = 1;
      break;
    case 3:
      r = s = 5;
      break;
    case 4:
      r = s = 7;
      break;
    case 5:
      r = random.between(1, 4), s = random.between(1, 4);
      break;
    default:
      r = s = 3;
    }
    for (int axis = 0; axis < 2; ++axis) {
      conv->strides[axis] = random.pick({1, 1, 1, 2, 2, 3});
      conv->dilations[axis] = random.pick({1, 1, 1, 2, 3});
    }
    bool padded = random.chance(0.7), same = random.chance(0.5);
    for (int side = 0; side < 4; ++side)
      conv->pads[side] = !padded ? 0 : same ? 1 : random.between(0, 3);
    cg = random.pick(
        {1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 32, 64, 65, 100, 130, 200, 257});
    kg = random.pick({1, 2, 3, 4, 5, 8, 10, 16, 17, 31, 32, 33, 48, 64, 65, 100,
                      129, 257, 300});
    conv->groups = 1;
    if (random.chance(0.25)) {
      conv->groups = random.pick({2, 3, 4, 5});
    } else if (random.chance(0.3)) {
      conv->groups = random.pick({1, 3, 8, 15, 16, 17, 32, 33, 64, 100, 131});
      cg = kg = 1;
      if (random.chance(0.15))
        kg = 2;
    }
    p = conv->extentOf(h, r, 0);
    q = conv->extentOf(w, s, 1);
  } while (n * p * q * conv->groups * kg * cg * r * s > limit ||
           n * h * w * conv->groups * cg > 300'000 ||
           (p * q == 0 && !random.chance(0.1)));
  conv->n = sizes.add(n, {0, 1, 2, 3});
  conv->h = sizes.add(h, {1, 2, 5, 8, 16, 19, 33});
  conv->w = sizes.add(w, {1, 3, 6, 8, 17, 20, 31});
  conv->cg = sizes.add(cg);
  conv->c = sizes.add(cg * conv->groups);
  conv->k = sizes.add(kg * conv->groups);
  conv->r = sizes.add(r);
  conv->s = sizes.add(s);
  conv->p = sizes.add(p);
  conv->q = sizes.add(q);

  ModuleText text(sizes);
  double dynamicChance = random.pick({0.0, 0.0, 0.0, 0.5});
  auto &c = *conv;
  std::vector<int> imageDims = c.nhwc ? std::vector<int>{c.n, c.h, c.w, c.c}
                                      : std::vector<int>{c.n, c.c, c.h, c.w};
  std::vector<int> filterDims =
      c.filterLayout == 0   ? std::vector<int>{c.k, c.r, c.s, c.cg}
      : c.filterLayout == 1 ? std::vector<int>{c.k, c.cg, c.r, c.s}
                            : std::vector<int>{c.r, c.s, c.cg, c.k};
  std::vector<int> resultDims = c.nhwc ? std::vector<int>{c.n, c.p, c.q, c.k}
                                       : std::vector<int>{c.n, c.k, c.p, c.q};
  SizedType image = text.draw(random, c.type, imageDims, dynamicChance);
  SizedType filter = text.draw(random, c.type, filterDims, dynamicChance / 10);
  c.result = text.draw(random, c.result.type, resultDims, dynamicChance);
  text.argument("x", image);
  text.argument("w", filter);
  std::string init;
  if (random.chance(0.4)) {
    c.destination = text.argument("d", c.result);
    init = "%d";
  }
  c.epilogue = Epilogue::draw(random, text, sizes, c.accumulator, c.result,
                              c.destination, dynamicChance);
  // A static extent of anything as large as the result fixes the image's.
  if (sizes.isFixed(c.p))
    sizes.fix(c.h);
  if (sizes.isFixed(c.q))
    sizes.fix(c.w);
  text.derive = [&](int size) {
    int axis = size == c.p ? 0 : 1;
    std::string in = text.extent(axis == 0 ? c.h : c.w);
    std::string taps = text.extent(axis == 0 ? c.r : c.s);
    auto number = [&](int64_t value) {
      std::string name = text.fresh("c");
      text.line(name + " = arith.constant " + std::to_string(value) +
                " : index");
      return name;
    };
    auto op = [&](const char *name, const std::string &a,
                  const std::string &b) {
      std::string result = text.fresh("i");
      text.line(result + " = " + name + " " + a + ", " + b + " : index");
      return result;
    };
    std::string reach = op("arith.muli", op("arith.subi", taps, number(1)),
                           number(c.dilations[axis]));
    std::string free =
        op("arith.subi",
           op("arith.addi", in, number(c.pads[axis] + c.pads[axis + 2])),
           op("arith.addi", reach, number(1)));
    std::string count =
        op("arith.addi", op("arith.floordivsi", free, number(c.strides[axis])),
           number(1));
    return op("arith.maxsi", count, number(0));
  };
  if (init.empty())
    init = text.empty(c.result);
  const char *filterLayouts[] = {"krsc", "kcrs", "rsck"};
  std::string op = "%r = tracea.conv2d layout " +
                   std::string(c.nhwc ? "nhwc" : "nchw") + " filter " +
                   filterLayouts[c.filterLayout];
  op += " strides " + listOf({c.strides[0], c.strides[1]});
  op += " pads " + listOf({c.pads[0], c.pads[1], c.pads[2], c.pads[3]});
  op += " dilations " + listOf({c.dilations[0], c.dilations[1]});
  if (c.groups != 1)
    op += " groups " + std::to_string(c.groups);
  if (c.accumulator != accumulatorOf(c.type))
    op += std::string(" acc ") + nameOf(c.accumulator);
  op += " ins(%x, %w : " + text.textOf(image) + ", " + text.textOf(filter) +
        ") outs(" + init + " : " + text.textOf(c.result) + ")" +
        c.epilogue.text;
  text.line(op);
  for (int i = 0; i < text.numArguments(); ++i)
    c.arguments.push_back(text.argumentType(i));

  Case result;
  result.name = "conv2d " + std::string(nameOf(c.type)) + " " +
                listOf(sizes.at(imageDims)) + " " +
                listOf(sizes.at(filterDims)) + " groups " +
                std::to_string(c.groups);
  result.text = text.finish({"%r"}, {c.result});
  result.dynamic = sizes.anyFree();
  result.make = [conv, limit](Random &random, bool first) {
    conv->sizes.reset();
    if (!first)
      conv->sizes.draw(random);
    conv->derive();
    if (countOf(conv->sizes.at({conv->n, conv->p, conv->q, conv->k, conv->r,
                                conv->s, conv->cg})) > 4 * limit) {
      conv->sizes.reset();
      conv->derive();
    }
    Instance instance;
    instance.inputs = conv->drawInputs(random);
    instance.outputs.push_back(conv->compute(instance.inputs));
    // The image's channels follow from the filter's.
    instance.wrong.push_back({0, conv->nhwc ? 3 : 1});
    conv->epilogue.addWrong(random, instance.wrong);
    return instance;
  };
  return result;
}
