//===- NumericsGraphs.cpp - Random small graphs of linalg -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What front ends emit: named operations, pads, transposes and elementwise
// generics around them, with errors carried from one operation to the next.

#include "Numerics.h"

#include <algorithm>
#include <cmath>
#include <memory>

using namespace tracea;
using namespace tracea::numerics;

namespace {

/// Values on their way through a graph.
struct Values {
  Shape shape;
  std::vector<Approx> at;
};

/// Writes the text of a graph, all of whose values have a size for each axis.
class Graph {
public:
  Graph(ModuleText &text, Sizes &sizes) : text(text), sizes(sizes) {}

  ModuleText &text;
  Sizes &sizes;

  /// An elementwise generic over `result`'s dims; each operand with its map's
  /// dims. `body` sees %x0, %x1, … and defines %y.
  std::string elementwise(const SizedType &result,
                          const std::vector<std::string> &operands,
                          const std::vector<SizedType> &types,
                          const std::vector<std::vector<int>> &maps,
                          const std::string &body);
  std::string fill(const SizedType &type, double value);
  std::string typeOf(const SizedType &type) { return type.text(sizes); }
};

} // namespace

static Values valuesOf(const HostTensor &tensor) {
  Values values{tensor.shape, {}};
  for (double value : tensor.values)
    values.at.push_back({value, 0});
  return values;
}

static ExpectedTensor expectedOf(ElementType type, Values values) {
  return {type, std::move(values.shape), std::move(values.at)};
}

static Values mapValues(const Values &x,
                        const std::function<Approx(Approx, const Shape &)> &f) {
  Values result = x;
  forEachIndex(x.shape, [&](const Shape &index, int64_t linear) {
    result.at[linear] = f(x.at[linear], index);
  });
  return result;
}

/// A sum of products of numbers with errors of their own.
template <typename Term>
static Approx dotApprox(ElementType type, int64_t count, Term term) {
  Real inherited = 0;
  Approx result = dotProduct(type, count, [&](int64_t i, double &x, double &y) {
    Approx a, b;
    term(i, a, b);
    x = double(a.value);
    y = double(b.value);
    inherited +=
        a.error * (std::fabs(b.value) + b.error) + std::fabs(a.value) * b.error;
  });
  result.error += inherited;
  return result;
}

static Values matmul(const Values &a, const Values &b, ElementType type) {
  int64_t m = a.shape[0], k = a.shape[1], n = b.shape[1];
  Values result{{m, n}, {}};
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      result.at.push_back(
          dotApprox(type, k, [&](int64_t l, Approx &x, Approx &y) {
            x = a.at[i * k + l];
            y = b.at[l * n + j];
          }));
  return result;
}

static Approx silu(Arithmetic math, ElementType stored, Approx x) {
  Approx y = math.apply(x, x.value / (1 + std::exp(-x.value)), 1.1L, 10);
  if (std::isfinite(x.value))
    y.error += errorOfUnit(stored) * std::max<Real>(std::fabs(x.value), 1);
  return y;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string Graph::elementwise(const SizedType &result,
                               const std::vector<std::string> &operands,
                               const std::vector<SizedType> &types,
                               const std::vector<std::vector<int>> &maps,
                               const std::string &body) {
  std::string empty = text.empty(result), value = text.fresh("g");
  std::vector<std::string> dims, mapTexts, typeTexts, arguments, kinds;
  for (size_t dim = 0; dim < result.dims.size(); ++dim) {
    dims.push_back("d" + std::to_string(dim));
    kinds.push_back("\"parallel\"");
  }
  auto mapText = [&](const std::vector<std::string> &to) {
    return "affine_map<(" + join(dims, ", ") + ") -> (" + join(to, ", ") + ")>";
  };
  for (size_t i = 0; i < operands.size(); ++i) {
    std::vector<std::string> to;
    for (int dim : maps[i])
      to.push_back("d" + std::to_string(dim));
    mapTexts.push_back(mapText(to));
    typeTexts.push_back(typeOf(types[i]));
    arguments.push_back("%x" + std::to_string(i) + ": " +
                        nameOf(types[i].type));
  }
  mapTexts.push_back(mapText(dims));
  arguments.push_back(std::string("%out: ") + nameOf(result.type));
  text.line(value + " = linalg.generic {indexing_maps = [" +
            join(mapTexts, ", ") + "], iterator_types = [" + join(kinds, ", ") +
            "]} ins(" + join(operands, ", ") + " : " + join(typeTexts, ", ") +
            ") outs(" + empty + " : " + typeOf(result) + ") {\n    ^bb0(" +
            join(arguments, ", ") + "):\n" + body + "      linalg.yield %y : " +
            nameOf(result.type) + "\n  } -> " + typeOf(result));
  return value;
}

std::string Graph::fill(const SizedType &type, double value) {
  std::string empty = text.empty(type), number = text.fresh("c"),
              filled = text.fresh("f");
  text.line(number + " = " + constantOf(type.type, value));
  text.line(filled + " = linalg.fill ins(" + number + " : " +
            nameOf(type.type) + ") outs(" + empty + " : " + typeOf(type) +
            ") -> " + typeOf(type));
  return filled;
}

//===----------------------------------------------------------------------===//
// Convolution, batch normalization, activation and residual
//===----------------------------------------------------------------------===//

namespace {
struct ConvBlock {
  Sizes sizes;
  std::vector<SizedType> arguments;
  SizedType result;
  int n, h, w, c, k, r, pad, stride, p, q;
  bool nchw, residual, activation, depthwise;
  double epsilon = 1e-3;
};
} // namespace

static Case generateConvBlock(Random &random, bool) {
  auto block = std::make_shared<ConvBlock>();
  ConvBlock &o = *block;
  Sizes &sizes = o.sizes;
  int64_t h, w, c, k, r, n;
  do {
    n = random.pick({1, 2, 3});
    h = random.between(3, 20);
    w = random.between(3, 20);
    c = random.pick({1, 3, 4, 8, 16, 17, 33, 64, 70});
    k = random.pick({1, 4, 8, 16, 24, 33, 64, 65});
    r = random.pick({1, 3, 3, 5});
  } while (n * h * w * c * k * r * r > 2'500'000);
  // Without padding the image has at least one window.
  h = std::max(h, r);
  w = std::max(w, r);
  o.nchw = random.chance(0.3);
  o.depthwise = !o.nchw && random.chance(0.2);
  if (o.depthwise)
    k = c;
  o.residual = random.chance(0.6);
  o.activation = random.chance(0.7);
  o.stride = o.residual ? 1 : static_cast<int>(random.between(1, 2));
  o.pad = random.chance(0.6) ? static_cast<int>(r / 2) : 0;
  o.r = static_cast<int>(r);
  auto extent = [&](int64_t size) {
    return size + 2 * o.pad < r ? 0 : (size + 2 * o.pad - r) / o.stride + 1;
  };
  o.n = sizes.add(n, {0, 1, 2, 4});
  o.h = sizes.add(h);
  o.w = sizes.add(w);
  o.c = sizes.add(c);
  o.k = sizes.add(k);
  o.p = sizes.add(extent(h));
  o.q = sizes.add(extent(w));
  int hp = sizes.add(h + 2 * o.pad), wp = sizes.add(w + 2 * o.pad);
  int taps = sizes.add(r);

  ModuleText text(sizes);
  Graph graph(text, sizes);
  bool dynamicBatch = random.chance(0.4);
  auto make = [&](std::vector<int> dims) {
    SizedType type = text.draw(random, ElementType::F32, dims, 0);
    if (dynamicBatch && dims[0] == o.n)
      type.dynamic[0] = true;
    return type;
  };
  auto image = [&](int rows, int columns, int channels) {
    return make(o.nchw ? std::vector<int>{o.n, channels, rows, columns}
                       : std::vector<int>{o.n, rows, columns, channels});
  };
  SizedType x = image(o.h, o.w, o.c), padded = image(hp, wp, o.c);
  SizedType filter = make(o.depthwise ? std::vector<int>{taps, taps, o.c}
                          : o.nchw    ? std::vector<int>{o.k, o.c, taps, taps}
                                      : std::vector<int>{taps, taps, o.c, o.k});
  o.result = image(o.p, o.q, o.k);
  SizedType channel = make({o.k});
  // `make` fixes what it draws as static; the batch is free if it is dynamic.
  Sizes fresh;
  std::vector<int64_t> values = {
      n, h, w, c, k, extent(h), extent(w), h + 2 * o.pad, w + 2 * o.pad, r};
  for (size_t i = 0; i < values.size(); ++i)
    fresh.add(values[i], i == 0 && dynamicBatch
                             ? std::vector<int64_t>{0, 1, 2, 4}
                             : std::vector<int64_t>{});
  sizes = fresh;

  text.argument("x", x);
  text.argument("w", filter);
  text.argument("scale", channel);
  text.argument("bias", channel);
  text.argument("mean", channel);
  text.argument("variance", channel);
  if (o.residual)
    text.argument("res", o.result);
  std::string value = "%x";
  std::string p = std::to_string(o.pad);
  if (o.pad) {
    std::string low = o.nchw ? "[0, 0, " + p + ", " + p + "]"
                             : "[0, " + p + ", " + p + ", 0]";
    std::string zero = text.fresh("z");
    text.line(zero + " = arith.constant 0.0 : f32");
    text.line("%padded = tensor.pad %x low" + low + " high" + low +
              " {\n"
              "    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):\n"
              "      tensor.yield " +
              zero + " : f32\n  } : " + graph.typeOf(x) + " to " +
              graph.typeOf(padded));
    value = "%padded";
  }
  const SizedType &in = o.pad ? padded : x;
  std::string zeros = graph.fill(o.result, 0);
  std::string s = std::to_string(o.stride);
  text.line(std::string("%conv = linalg.") +
            (o.depthwise ? "depthwise_conv_2d_nhwc_hwc"
             : o.nchw    ? "conv_2d_nchw_fchw"
                         : "conv_2d_nhwc_hwcf") +
            " {strides = dense<" + s +
            "> : vector<2xi64>, dilations = "
            "dense<1> : vector<2xi64>} ins(" +
            value + ", %w : " + graph.typeOf(in) + ", " + graph.typeOf(filter) +
            ") outs(" + zeros + " : " + graph.typeOf(o.result) + ") -> " +
            graph.typeOf(o.result));
  std::string init = text.empty(o.result);
  std::string ct = graph.typeOf(channel);
  text.line("%bn = tracea.batch_norm axis " + std::string(o.nchw ? "1" : "3") +
            " epsilon 1.0e-3 ins(%conv, %scale, %bias, %mean, %variance : " +
            graph.typeOf(o.result) + ", " + ct + ", " + ct + ", " + ct + ", " +
            ct + ") outs(" + init + " : " + graph.typeOf(o.result) + ")");
  value = "%bn";
  std::vector<int> all = {0, 1, 2, 3};
  if (o.activation)
    value = graph.elementwise(o.result, {value}, {o.result}, {all},
                              "      %c = arith.constant 0.0 : f32\n"
                              "      %y = arith.maximumf %x0, %c : f32\n");
  if (o.residual)
    value =
        graph.elementwise(o.result, {value, "%res"}, {o.result, o.result},
                          {all, all}, "      %y = arith.addf %x0, %x1 : f32\n");
  for (int i = 0; i < text.numArguments(); ++i)
    o.arguments.push_back(text.argumentType(i));

  Case result;
  result.name = "graph conv " + listOf(sizes.at(x.dims)) + " filter " +
                listOf(sizes.at(filter.dims));
  result.text = text.finish({value}, {o.result});
  result.dynamic = dynamicBatch;
  result.make = [block](Random &random, bool first) {
    ConvBlock &o = *block;
    o.sizes.reset();
    if (!first)
      o.sizes.draw(random);
    Instance instance;
    for (size_t i = 0; i < o.arguments.size(); ++i)
      instance.inputs.push_back(randomTensor(random, ElementType::F32,
                                             o.sizes.at(o.arguments[i].dims),
                                             Fill::Normal));
    for (double &value : instance.inputs[5].values)
      value = std::fabs(value);
    const std::vector<double> &x = instance.inputs[0].values,
                              &w = instance.inputs[1].values;
    auto parameter = [&](int which, int64_t channel) -> Real {
      return instance.inputs[2 + which].values[channel];
    };
    int64_t H = o.sizes[o.h], W = o.sizes[o.w], C = o.sizes[o.c],
            K = o.sizes[o.k], R = o.r;
    Arithmetic math(ElementType::F32);
    Real u = unitRoundoff(ElementType::F32);
    Values y{o.sizes.at(o.result.dims), {}};
    y.at.resize(countOf(y.shape));
    forEachIndex(y.shape, [&](const Shape &index, int64_t linear) {
      int64_t in = index[0], ik = index[o.nchw ? 1 : 3];
      int64_t ip = index[o.nchw ? 2 : 1], iq = index[o.nchw ? 3 : 2];
      Real magnitude = 0;
      int64_t channels = o.depthwise ? 1 : C;
      Approx sum =
          dotProduct(ElementType::F32, R * R * channels,
                     [&](int64_t l, double &a, double &b) {
                       int64_t ic = l % channels, is = l / channels % R,
                               ir = l / channels / R;
                       int64_t y0 = ip * o.stride + ir - o.pad,
                               x0 = iq * o.stride + is - o.pad;
                       int64_t source = o.depthwise ? ik : ic;
                       a = y0 < 0 || y0 >= H || x0 < 0 || x0 >= W ? 0
                           : o.nchw ? x[((in * C + source) * H + y0) * W + x0]
                                    : x[((in * H + y0) * W + x0) * C + source];
                       b = o.depthwise ? w[(ir * R + is) * C + ik]
                           : o.nchw    ? w[((ik * C + ic) * R + ir) * R + is]
                                       : w[((ir * R + is) * C + ic) * K + ik];
                       magnitude += std::fabs(Real(a) * b);
                     });
      Real factor =
          parameter(0, ik) / std::sqrt(parameter(3, ik) + Real(o.epsilon));
      Real mean = parameter(2, ik), bias = parameter(1, ik);
      // Also with the factor folded into the filter.
      Approx value = {(sum.value - mean) * factor + bias,
                      std::fabs(factor) * (sum.error + 8 * u * magnitude +
                                           8 * u * std::fabs(mean)) +
                          4 * u * std::fabs(bias)};
      if (o.activation)
        value.value = std::max<Real>(value.value, 0);
      if (o.residual)
        value = math.add(value, {instance.inputs[6].values[linear], 0});
      y.at[linear] = value;
    });
    instance.outputs.push_back(expectedOf(ElementType::F32, std::move(y)));
    instance.wrong.push_back({1, 0});
    return instance;
  };
  return result;
}

//===----------------------------------------------------------------------===//
// Perceptrons
//===----------------------------------------------------------------------===//

namespace {
struct MLP {
  Sizes sizes;
  std::vector<SizedType> arguments;
  SizedType result;
  int m, d, f, e;
  bool gated, residual, normalized, narrow, softmax;
};
} // namespace

/// x → (rms norm) → linear, activation (gated) → linear → (+ x) → (softmax).
static Case generateMLP(Random &random, bool) {
  auto mlp = std::make_shared<MLP>();
  MLP &o = *mlp;
  Sizes &sizes = o.sizes;
  o.gated = random.chance(0.5);
  o.residual = random.chance(0.5);
  o.normalized = random.chance(0.5);
  o.narrow = random.chance(0.4);
  o.softmax = random.chance(0.3);
  o.m = sizes.add(random.pick({1, 2, 7, 16, 33, 64, 100}),
                  {0, 1, 3, 17, 50, 129});
  o.d = sizes.add(random.pick({1, 5, 16, 33, 64, 96}));
  o.f = sizes.add(random.pick({1, 7, 32, 65, 128, 200}));
  o.e = o.residual ? o.d : sizes.add(random.pick({1, 10, 16, 50}));
  ModuleText text(sizes);
  Graph graph(text, sizes);
  bool dynamicRows = random.chance(0.5);
  auto make = [&](std::vector<int> dims, ElementType type = ElementType::F32) {
    SizedType result{type, dims, {}};
    for (int dim : dims) {
      result.dynamic.push_back(dim == o.m && dynamicRows);
      if (!result.dynamic.back())
        sizes.fix(dim);
    }
    return result;
  };
  ElementType weights = o.narrow ? ElementType::BF16 : ElementType::F32;
  SizedType x = make({o.m, o.d}), hidden = make({o.m, o.f});
  SizedType w1 = make({o.d, o.f}, weights), w2 = make({o.f, o.e}, weights);
  SizedType gain = make({o.d}), b1 = make({o.f}), b2 = make({o.e});
  o.result = make({o.m, o.e});
  text.argument("x", x);       // 0
  text.argument("w1", w1);     // 1
  text.argument("b1", b1);     // 2
  text.argument("w2", w2);     // 3
  text.argument("b2", b2);     // 4
  text.argument("gain", gain); // 5
  if (o.gated)
    text.argument("w3", w1); // 6

  std::string value = "%x";
  if (o.normalized) {
    std::string init = text.empty(x);
    text.line("%norm = tracea.rms_norm axis 1 epsilon 1.0e-3 ins(%x : " +
              graph.typeOf(x) + ") scale(%gain : " + graph.typeOf(gain) +
              ") outs(" + init + " : " + graph.typeOf(x) + ")");
    value = "%norm";
  }
  std::vector<int> both = {0, 1}, column = {1};
  auto linear = [&](const std::string &input, SizedType inputType,
                    const std::string &weight, const SizedType &weightType,
                    const SizedType &resultType) {
    std::string operand = input;
    SizedType operandType = inputType;
    if (o.narrow) {
      operandType.type = ElementType::BF16;
      operand =
          graph.elementwise(operandType, {input}, {inputType}, {both},
                            "      %y = arith.truncf %x0 : f32 to bf16\n");
    }
    std::string zeros = graph.fill(resultType, 0), name = text.fresh("mm");
    text.line(name + " = linalg.matmul ins(" + operand + ", " + weight + " : " +
              graph.typeOf(operandType) + ", " + graph.typeOf(weightType) +
              ") outs(" + zeros + " : " + graph.typeOf(resultType) + ") -> " +
              graph.typeOf(resultType));
    return name;
  };
  const std::string siluText = "      %one = arith.constant 1.0 : f32\n"
                               "      %neg = arith.negf %s : f32\n"
                               "      %exp = math.exp %neg : f32\n"
                               "      %den = arith.addf %exp, %one : f32\n";
  std::string first = linear(value, x, "%w1", w1, hidden);
  if (o.gated) {
    std::string up = linear(value, x, "%w3", w1, hidden);
    value = graph.elementwise(
        hidden, {first, "%b1", up}, {hidden, b1, hidden}, {both, column, both},
        "      %s = arith.addf %x0, %x1 : f32\n" + siluText +
            "      %a = arith.divf %s, %den : f32\n"
            "      %y = arith.mulf %a, %x2 : f32\n");
  } else {
    value =
        graph.elementwise(hidden, {first, "%b1"}, {hidden, b1}, {both, column},
                          "      %s = arith.addf %x0, %x1 : f32\n" + siluText +
                              "      %y = arith.divf %s, %den : f32\n");
  }
  value = linear(value, hidden, "%w2", w2, o.result);
  value = graph.elementwise(o.result, {value, "%b2"}, {o.result, b2},
                            {both, column},
                            "      %y = arith.addf %x0, %x1 : f32\n");
  if (o.residual)
    value =
        graph.elementwise(o.result, {value, "%x"}, {o.result, x}, {both, both},
                          "      %y = arith.addf %x0, %x1 : f32\n");
  if (o.softmax) {
    std::string init = text.empty(o.result);
    text.line("%sm = linalg.softmax dimension(1) ins(" + value + " : " +
              graph.typeOf(o.result) + ") outs(" + init + " : " +
              graph.typeOf(o.result) + ") -> " + graph.typeOf(o.result));
    value = "%sm";
  }
  for (int i = 0; i < text.numArguments(); ++i)
    o.arguments.push_back(text.argumentType(i));

  Case result;
  result.name = "graph mlp " + listOf(sizes.at({o.m, o.d, o.f, o.e}));
  result.text = text.finish({value}, {o.result});
  result.dynamic = dynamicRows;
  // The float64 meaning keeps what is rounded to bf16 here.
  result.comparableToReference = !o.narrow;
  result.make = [mlp](Random &random, bool first) {
    MLP &o = *mlp;
    o.sizes.reset();
    if (!first)
      o.sizes.draw(random);
    Instance instance;
    for (const SizedType &argument : o.arguments)
      instance.inputs.push_back(randomTensor(
          random, argument.type, o.sizes.at(argument.dims), Fill::Normal));
    // Weights of a size that keeps values near 1.
    for (int i : {1, 3, 6})
      if (i < static_cast<int>(instance.inputs.size()))
        for (double &w : instance.inputs[i].values)
          w = double(
              roundTo(instance.inputs[i].type,
                      w / std::sqrt(double(instance.inputs[i].shape[0]))));
    Arithmetic math(ElementType::F32);
    Real u = unitRoundoff(ElementType::F32);
    auto input = [&](int i) { return valuesOf(instance.inputs[i]); };
    Values x = input(0), value = x;
    int64_t d = x.shape[1];
    if (o.normalized)
      for (int64_t row = 0; row < x.shape[0]; ++row) {
        Real squares = 0;
        for (int64_t i = 0; i < d; ++i)
          squares += x.at[row * d + i].value * x.at[row * d + i].value;
        Real factor = 1 / std::sqrt(squares / d + Real(1e-3));
        for (int64_t i = 0; i < d; ++i) {
          Approx &y = value.at[row * d + i];
          y.value *= factor;
          y.error = std::fabs(y.value) * (sumRoundings(d) + 8) * u;
          y = math.mul(y, {instance.inputs[5].values[i], 0});
        }
      }
    auto narrowed = [&](Values v) {
      if (!o.narrow)
        return v;
      // The rounding may go either way within the error.
      return mapValues(v, [&](Approx a, const Shape &) -> Approx {
        Real rounded = roundTo(ElementType::BF16, a.value);
        Real low = roundTo(ElementType::BF16, a.value - a.error),
             high = roundTo(ElementType::BF16, a.value + a.error);
        return {rounded, std::max(high - rounded, rounded - low)};
      });
    };
    auto linear = [&](const Values &v, int w) {
      return matmul(narrowed(v), input(w), ElementType::F32);
    };
    auto bias = [&](int i) {
      return [&instance, &math, i](Approx a, const Shape &index) {
        return math.add(a, {instance.inputs[i].values[index[1]], 0});
      };
    };
    Values hidden = mapValues(linear(value, 1), bias(2));
    ElementType stored = o.narrow ? ElementType::BF16 : ElementType::F32;
    hidden = mapValues(
        hidden, [&](Approx a, const Shape &) { return silu(math, stored, a); });
    if (o.gated) {
      Values up = linear(value, 6);
      for (size_t i = 0; i < hidden.at.size(); ++i)
        hidden.at[i] = math.mul(hidden.at[i], up.at[i]);
    }
    Values y = mapValues(linear(hidden, 3), bias(4));
    if (o.residual)
      for (size_t i = 0; i < y.at.size(); ++i)
        y.at[i] = math.add(y.at[i], x.at[i]);
    if (o.softmax) {
      int64_t n = y.shape[1];
      for (int64_t row = 0; row < y.shape[0]; ++row) {
        Approx *at = y.at.data() + row * n;
        Real maximum = at[0].value, error = 0, sum = 0;
        for (int64_t i = 0; i < n; ++i) {
          maximum = std::max(maximum, at[i].value);
          error = std::max(error, at[i].error);
        }
        for (int64_t i = 0; i < n; ++i)
          sum += std::exp(at[i].value - maximum);
        for (int64_t i = 0; i < n; ++i) {
          Real v = std::exp(at[i].value - maximum) / sum;
          Real relative =
              std::expm1(2 * error) +
              (std::fabs(at[i].value - maximum) + sumRoundings(n) + 16) * u;
          at[i] = {v, v * relative + smallest(ElementType::F32)};
        }
      }
    }
    instance.outputs.push_back(expectedOf(ElementType::F32, std::move(y)));
    instance.wrong.push_back({0, 1});
    instance.wrong.push_back({3, 0});
    return instance;
  };
  return result;
}

Case numerics::generateGraph(Random &random, bool large) {
  return random.chance(0.5) ? generateConvBlock(random, large)
                            : generateMLP(random, large);
}
