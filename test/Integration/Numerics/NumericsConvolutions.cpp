//===- NumericsConvolutions.cpp - Random convolutions and gradients -------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NumericsProducts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

using namespace tracea;
using namespace tracea::numerics;

namespace {

/// What of a convolution is computed from the other two.
enum class Sought { Output, Image, Filter };

struct Conv : Product {
  Sought sought = Sought::Output;
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
  /// Where an element is in images, outputs and filters.
  int64_t imageAt(int64_t in, int64_t y, int64_t x, int64_t channel) const {
    int64_t H = sizes[h], W = sizes[w], C = sizes[c];
    return nhwc ? ((in * H + y) * W + x) * C + channel
                : ((in * C + channel) * H + y) * W + x;
  }
  int64_t outputAt(int64_t in, int64_t y, int64_t x, int64_t channel) const {
    int64_t P = sizes[p], Q = sizes[q], K = sizes[k];
    return nhwc ? ((in * P + y) * Q + x) * K + channel
                : ((in * K + channel) * P + y) * Q + x;
  }
  int64_t filterAt(int64_t ik, int64_t ir, int64_t is, int64_t ic) const {
    int64_t R = sizes[r], S = sizes[s], CG = sizes[cg], K = sizes[k];
    return filterLayout == 0   ? ((ik * R + ir) * S + is) * CG + ic
           : filterLayout == 1 ? ((ik * CG + ic) * R + ir) * S + is
                               : ((ir * S + is) * CG + ic) * K + ik;
  }

  ExpectedTensor compute(const std::vector<HostTensor> &inputs) const;
  Approx output(const std::vector<HostTensor> &inputs,
                const Shape &index) const;
  Approx imageGradient(const std::vector<HostTensor> &inputs,
                       const Shape &index) const;
  Approx filterGradient(const std::vector<HostTensor> &inputs,
                        const Shape &index) const;
};

} // namespace

Approx Conv::output(const std::vector<HostTensor> &inputs,
                    const Shape &index) const {
  const HostTensor &image = inputs[0], &filter = inputs[1];
  int64_t H = sizes[h], W = sizes[w], R = sizes[r], S = sizes[s];
  int64_t CG = sizes[cg], KG = sizes[k] / groups;
  int64_t in = index[0], ik = index[nhwc ? 3 : 1];
  int64_t ip = index[nhwc ? 1 : 2], iq = index[nhwc ? 2 : 3];
  int64_t g = ik / KG;
  return dotProduct(
      accumulator, R * S * CG, [&](int64_t l, double &x, double &y) {
        int64_t ic = l % CG, is = l / CG % S, ir = l / CG / S;
        int64_t y0 = ip * strides[0] + ir * dilations[0] - pads[0];
        int64_t x0 = iq * strides[1] + is * dilations[1] - pads[1];
        x = 0;
        if (y0 >= 0 && y0 < H && x0 >= 0 && x0 < W)
          x = image.values[imageAt(in, y0, x0, g * CG + ic)];
        y = filter.values[filterAt(ik, ir, is, ic)];
      });
}

Approx Conv::imageGradient(const std::vector<HostTensor> &inputs,
                           const Shape &index) const {
  const HostTensor &gradient = inputs[0], &filter = inputs[1];
  int64_t P = sizes[p], Q = sizes[q], R = sizes[r], S = sizes[s];
  int64_t CG = sizes[cg], KG = sizes[k] / groups;
  int64_t in = index[0], channel = index[nhwc ? 3 : 1];
  int64_t ih = index[nhwc ? 1 : 2], iw = index[nhwc ? 2 : 3];
  int64_t g = channel / CG, ic = channel % CG;
  // Whether a tap that is no number meets what lies outside of the gradient is
  // not said.
  bool isOpen = false;
  Approx sum =
      dotProduct(accumulator, R * S * KG, [&](int64_t l, double &x, double &y) {
        int64_t ik = g * KG + l % KG, is = l / KG % S, ir = l / KG / S;
        int64_t y0 = ih + pads[0] - ir * dilations[0];
        int64_t x0 = iw + pads[1] - is * dilations[1];
        x = y = 0;
        if (y0 % strides[0] || x0 % strides[1])
          return;
        double tap = filter.values[filterAt(ik, ir, is, ic)];
        if (y0 < 0 || y0 / strides[0] >= P || x0 < 0 || x0 / strides[1] >= Q) {
          isOpen |= !std::isfinite(tap);
          return;
        }
        x = gradient.values[outputAt(in, y0 / strides[0], x0 / strides[1], ik)];
        y = tap;
      });
  return isOpen ? Approx{0, std::numeric_limits<Real>::infinity()} : sum;
}

Approx Conv::filterGradient(const std::vector<HostTensor> &inputs,
                            const Shape &index) const {
  const HostTensor &image = inputs[0], &gradient = inputs[1];
  int64_t N = sizes[n], H = sizes[h], W = sizes[w], P = sizes[p], Q = sizes[q];
  int64_t CG = sizes[cg], KG = sizes[k] / groups;
  const int places[3][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {3, 0, 1, 2}};
  const int *place = places[filterLayout];
  int64_t ik = index[place[0]], ir = index[place[1]], is = index[place[2]];
  int64_t channel = ik / KG * CG + index[place[3]];
  return dotProduct(
      accumulator, N * P * Q, [&](int64_t l, double &x, double &y) {
        int64_t iq = l % Q, ip = l / Q % P, in = l / Q / P;
        int64_t y0 = ip * strides[0] + ir * dilations[0] - pads[0];
        int64_t x0 = iq * strides[1] + is * dilations[1] - pads[1];
        x = 0;
        if (y0 >= 0 && y0 < H && x0 >= 0 && x0 < W)
          x = image.values[imageAt(in, y0, x0, channel)];
        y = gradient.values[outputAt(in, ip, iq, ik)];
      });
}

ExpectedTensor Conv::compute(const std::vector<HostTensor> &inputs) const {
  Shape shape = sizes.at(result.dims);
  std::vector<Approx> sums(countOf(shape));
  forEachIndex(shape, [&](const Shape &index, int64_t linear) {
    sums[linear] = sought == Sought::Output  ? output(inputs, index)
                   : sought == Sought::Image ? imageGradient(inputs, index)
                                             : filterGradient(inputs, index);
  });
  return epilogue.applyAll(sums, shape, inputs);
}

static Case generate(Random &random, bool large, Sought sought) {
  auto conv = std::make_shared<Conv>();
  conv->sought = sought;
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
    } else if (random.chance(0.15)) {
      // As deep as a shallow matrix instruction.
      conv->groups = random.pick({2, 3, 4, 5, 8, 9, 12});
      cg = kg = 8;
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
  // An image that only the run finds to be smaller than the filter has no
  // gradient: such a program refuses it.
  if (sought == Sought::Image && countOf(sizes.at({c.p, c.q})) == 0)
    dynamicChance = 0;
  std::vector<int> imageDims = c.nhwc ? std::vector<int>{c.n, c.h, c.w, c.c}
                                      : std::vector<int>{c.n, c.c, c.h, c.w};
  std::vector<int> filterDims =
      c.filterLayout == 0   ? std::vector<int>{c.k, c.r, c.s, c.cg}
      : c.filterLayout == 1 ? std::vector<int>{c.k, c.cg, c.r, c.s}
                            : std::vector<int>{c.r, c.s, c.cg, c.k};
  std::vector<int> outputDims = c.nhwc ? std::vector<int>{c.n, c.p, c.q, c.k}
                                       : std::vector<int>{c.n, c.k, c.p, c.q};
  bool isImage = sought == Sought::Image, isFilter = sought == Sought::Filter;
  SizedType first = text.draw(random, c.type, isImage ? outputDims : imageDims,
                              dynamicChance);
  // Of a gradient by the image each tap is a convolution's, or several are.
  SizedType second =
      text.draw(random, c.type, isFilter ? outputDims : filterDims,
                isFilter  ? dynamicChance
                : isImage ? 0
                          : dynamicChance / 10);
  std::vector<int> resultDims = isImage    ? imageDims
                                : isFilter ? filterDims
                                           : outputDims;
  c.result = text.draw(random, c.result.type, resultDims,
                       isFilter ? dynamicChance / 10 : dynamicChance);
  text.argument(isImage ? "y" : "x", first);
  int filter = text.argument(isFilter ? "y" : "w", second);
  std::string init;
  // How large an image was its output does not tell, nor do both how large a
  // filter was.
  if (random.chance(0.4) || ((isImage || isFilter) && dynamicChance > 0)) {
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
  std::string name = isImage    ? "conv2d_dgrad"
                     : isFilter ? "conv2d_wgrad"
                                : "conv2d";
  std::string op = "%r = tracea." + name + " layout " +
                   std::string(c.nhwc ? "nhwc" : "nchw") + " filter " +
                   filterLayouts[c.filterLayout];
  op += " strides " + listOf({c.strides[0], c.strides[1]});
  op += " pads " + listOf({c.pads[0], c.pads[1], c.pads[2], c.pads[3]});
  op += " dilations " + listOf({c.dilations[0], c.dilations[1]});
  if (c.groups != 1)
    op += " groups " + std::to_string(c.groups);
  if (c.accumulator != accumulatorOf(c.type))
    op += std::string(" acc ") + nameOf(c.accumulator);
  op += std::string(" ins(") + (isImage ? "%y" : "%x") + ", " +
        (isFilter ? "%y" : "%w") + " : " + text.textOf(first) + ", " +
        text.textOf(second) + ") outs(" + init + " : " + text.textOf(c.result) +
        ")" + c.epilogue.text;
  text.line(op);
  for (int i = 0; i < text.numArguments(); ++i)
    c.arguments.push_back(text.argumentType(i));

  if (!isFilter && random.chance(0.3))
    text.makeConstant(filter);
  Case result;
  result.name = name + " " + std::string(nameOf(c.type)) + " " +
                listOf(sizes.at(imageDims)) + " " +
                listOf(sizes.at(filterDims)) + " groups " +
                std::to_string(c.groups);
  result.text = text.finish({"%r"}, {c.result});
  result.dynamic = sizes.anyFree();
  result.make = [conv, limit, isImage](Random &random, bool first) {
    conv->sizes.reset();
    if (!first)
      conv->sizes.draw(random);
    conv->derive();
    // An image that only the run finds to be smaller than the filter has no
    // gradient: such a program refuses it.
    if (isImage && !first && countOf(conv->sizes.at({conv->p, conv->q})) == 0) {
      conv->sizes.reset();
      conv->derive();
    }
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

Case numerics::generateConv2D(Random &random, bool large) {
  return generate(random, large, Sought::Output);
}
Case numerics::generateConv2DDGrad(Random &random, bool large) {
  return generate(random, large, Sought::Image);
}
Case numerics::generateConv2DWGrad(Random &random, bool large) {
  return generate(random, large, Sought::Filter);
}
