//===- NumericsRows.cpp - Random softmax and normalizations ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Numerics.h"
#include "NumericsRowScale.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

using namespace tracea;
using namespace tracea::numerics;

namespace {

enum class RowKind { Softmax, BatchNorm, LayerNorm, RMSNorm };

struct Rows {
  RowKind kind = RowKind::Softmax;
  Sizes sizes;
  ElementType type = ElementType::F32, accumulator = ElementType::F32;
  std::vector<SizedType> arguments;
  SizedType result;
  Epilogue epilogue;
  int axis = 0;
  double epsilon = 0;
  Fill fill = Fill::Normal;
  int scale = -1, bias = -1, mean = -1, variance = -1;
  /// Softmax: rows that are -inf throughout.
  bool emptyRows = false;
  /// What is added to the input first, of its shape or of its last dimension,
  /// and whether the sum is a result, too.
  int addend = -1;
  bool keepsSum = false;
  /// What is made of the results' rows, and whether the results stay, too.
  std::optional<RowScale> rowScale;
  bool keepsResult = false;

  /// The elements of the rows.
  HostTensor computeInput(const std::vector<HostTensor> &inputs) const;
  std::vector<Approx> compute(const std::vector<HostTensor> &inputs) const;
  std::vector<HostTensor> drawInputs(Random &random) const;
};

} // namespace

/// exp(x - max) / sum over the `count` elements that `at` gives the places of.
static void computeSoftmax(const std::vector<double> &x,
                           const std::vector<int64_t> &at, ElementType type,
                           std::vector<Approx> &result) {
  Real maximum = -std::numeric_limits<Real>::infinity(), sum = 0, sumError = 0;
  bool nan = false;
  for (int64_t i : at) {
    nan = nan || std::isnan(x[i]);
    maximum = std::max<Real>(maximum, x[i]);
  }
  Real u = unitRoundoff(type), tiny = smallest(type);
  auto weight = [&](int64_t i) -> Approx {
    Real difference = x[i] - maximum;
    Real e = std::exp(difference);
    Real relative =
        std::isinf(difference) ? 0 : (std::fabs(difference) + 8) * u;
    return {e, e * relative + tiny};
  };
  for (int64_t i : at) {
    Approx w = weight(i);
    sum += w.value;
    sumError += w.error;
  }
  int64_t count = static_cast<int64_t>(at.size());
  Real relative = sumError / sum + (sumRoundings(count) + 4) * u;
  for (int64_t i : at) {
    Approx w = weight(i);
    Real value = nan ? std::numeric_limits<Real>::quiet_NaN() : w.value / sum;
    result[i] = {value, w.error / sum + value * relative + tiny};
  }
}

/// (x - mean) / sqrt(variance + epsilon), or x / sqrt(mean of squares +
/// epsilon), for a row in two passes.
static void computeNorm(const double *x, int64_t count, bool centered,
                        double epsilon, ElementType type, Approx *result) {
  Real u = unitRoundoff(type);
  Real mean = 0, magnitude = 0;
  for (int64_t i = 0; i < count; ++i) {
    mean += x[i];
    magnitude += std::fabs(Real(x[i]));
  }
  mean = centered ? mean / count : 0;
  Real meanError =
      centered ? (sumRoundings(count) + 2) * u * magnitude / count : 0;
  Real variance = 0, deviation = 0;
  for (int64_t i = 0; i < count; ++i) {
    Real d = x[i] - mean;
    variance += d * d;
    deviation += std::fabs(d);
  }
  variance /= count;
  deviation /= count;
  Real varianceError = (sumRoundings(count) + 4) * u * variance +
                       meanError * meanError + 2 * meanError * u * deviation;
  Real total = variance + Real(epsilon);
  Real scale = 1 / std::sqrt(total);
  // Half of the relative error of the radicand, when that is small.
  Real share = varianceError / total;
  Real relative = (share < 0.5L ? share : share + std::sqrt(share)) + 6 * u;
  for (int64_t i = 0; i < count; ++i) {
    Real d = x[i] - mean;
    Real value = d * scale;
    if (!std::isfinite(total)) {
      // Zero or NaN, whatever was rounded.
      result[i] = {value, 0};
      continue;
    }
    result[i] = {value,
                 scale * (1 + relative) * (meanError + u * std::fabs(d)) +
                     std::fabs(value) * relative + smallest(type)};
  }
}

HostTensor Rows::computeInput(const std::vector<HostTensor> &inputs) const {
  HostTensor x = inputs[0];
  if (addend < 0)
    return x;
  const HostTensor &y = inputs[addend];
  // In double, whose digits are more than twice those of all but its own: as
  // if the exact sum were rounded once.
  for (size_t i = 0; i < x.values.size(); ++i)
    x.values[i] =
        double(roundTo(x.type, x.values[i] + y.values[i % y.values.size()]));
  return x;
}

std::vector<Approx> Rows::compute(const std::vector<HostTensor> &inputs) const {
  const HostTensor x = computeInput(inputs);
  std::vector<Approx> result(x.values.size());
  Arithmetic math(accumulator);
  if (kind == RowKind::BatchNorm) {
    Real u = unitRoundoff(accumulator);
    forEachIndex(x.shape, [&](const Shape &index, int64_t linear) {
      auto at = [&](int number) -> Real {
        return inputs[number].values[index[axis]];
      };
      Real factor = 1 / std::sqrt(at(variance) + Real(epsilon)) * at(scale);
      Real value = (x.values[linear] - at(mean)) * factor + at(bias);
      // Also when computed as x * factor + (bias - mean * factor).
      result[linear] = {
          value,
          8 * u * std::fabs(factor) *
                  (std::fabs(Real(x.values[linear])) + std::fabs(at(mean))) +
              4 * u * std::fabs(at(bias)) + 4 * smallest(accumulator)};
    });
    return result;
  }
  if (kind == RowKind::Softmax) {
    int64_t inner = 1, outer = 1, count = x.shape[axis];
    for (size_t dim = 0; dim < x.shape.size(); ++dim)
      (static_cast<int>(dim) < axis ? outer : inner) *=
          static_cast<int>(dim) == axis ? 1 : x.shape[dim];
    std::vector<int64_t> at(count);
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        for (int64_t j = 0; j < count; ++j)
          at[j] = (o * count + j) * inner + i;
        computeSoftmax(x.values, at, accumulator, result);
      }
    return result;
  }
  int64_t row = 1;
  for (size_t dim = axis; dim < x.shape.size(); ++dim)
    row *= x.shape[dim];
  int64_t count = static_cast<int64_t>(x.values.size());
  for (int64_t start = 0; start < count; start += row) {
    computeNorm(x.values.data() + start, row, kind == RowKind::LayerNorm,
                epsilon, accumulator, result.data() + start);
    for (int64_t i = 0; i < row; ++i) {
      Approx &y = result[start + i];
      if (scale >= 0)
        y = math.mul(y, math.convert({inputs[scale].values[i], 0}));
      if (bias >= 0)
        y = math.add(y, math.convert({inputs[bias].values[i], 0}));
    }
  }
  return result;
}

std::vector<HostTensor> Rows::drawInputs(Random &random) const {
  std::vector<HostTensor> inputs;
  for (int i = 0; i < static_cast<int>(arguments.size()); ++i) {
    inputs.push_back(randomTensor(random, arguments[i].type,
                                  sizes.at(arguments[i].dims),
                                  i == 0 ? fill : Fill::Normal));
    HostTensor &tensor = inputs.back();
    if (i == variance)
      for (double &value : tensor.values)
        value = std::fabs(value) + (epsilon == 0 ? 0.5 : 0);
    if (i == 0 && kind == RowKind::Softmax) {
      for (double &value : tensor.values)
        value = double(roundTo(tensor.type, value * random.pick({1, 1, 8})));
      int64_t size = std::max<int64_t>(1, tensor.shape.back());
      if (emptyRows)
        for (size_t k = 0; k < tensor.values.size(); ++k)
          if (k / size % 3 == 0)
            tensor.values[k] = -std::numeric_limits<double>::infinity();
    }
  }
  return inputs;
}

static Case generateRows(Random &random, bool large, RowKind kind) {
  auto rows = std::make_shared<Rows>();
  Sizes &sizes = rows->sizes;
  rows->kind = kind;
  rows->type =
      random.pick({ElementType::F32, ElementType::F32, ElementType::F32,
                   ElementType::F64, ElementType::F16, ElementType::BF16});
  rows->accumulator = accumulatorOf(rows->type);
  if (random.chance(0.1))
    rows->accumulator = ElementType::F64;
  rows->result.type = rows->type;
  if (random.chance(0.3))
    rows->result.type = random.pick({ElementType::F32, ElementType::F16,
                                     ElementType::BF16, ElementType::F64});
  rows->fill = pickFill(random);
  bool norm = kind == RowKind::LayerNorm || kind == RowKind::RMSNorm;
  if (norm && random.chance(0.2))
    rows->fill = Fill::Offset;
  rows->emptyRows = kind == RowKind::Softmax && random.chance(0.15);
  rows->epsilon = random.pick({1e-5, 1e-3, 1e-5, 0.1});

  int64_t rank = random.between(1, 4);
  const int64_t limit = large ? 2'000'000 : 60'000;
  std::vector<int64_t> shape;
  rows->axis = static_cast<int>(random.below(rank));
  do {
    shape.clear();
    for (int64_t i = 0; i < rank; ++i) {
      shape.push_back(random.pick({0,  1,   1,   2,   3,   4,    5,    7,   8,
                                   15, 16,  17,  31,  32,  33,   48,   63,  64,
                                   65, 100, 127, 129, 257, 1000, 1025, 4099}));
      // A row without elements has no mean; it is rare.
      if (kind != RowKind::BatchNorm && i >= rows->axis && shape[i] == 0 &&
          random.chance(0.9))
        shape[i] = 3;
    }
  } while (countOf(shape) > limit);
  std::vector<int> dims;
  for (int64_t i = 0; i < rank; ++i) {
    bool isRow = norm ? i >= rows->axis : i == rows->axis;
    std::vector<int64_t> others = {1, 2, 3, 8, 17, 33, 100};
    if (!isRow)
      others.push_back(0);
    if (rank > 2)
      others.resize(5);
    dims.push_back(sizes.add(shape[i], others));
  }
  ModuleText text(sizes);
  double dynamicChance = random.pick({0.0, 0.0, 0.3, 0.7});
  SizedType input = text.draw(random, rows->type, dims, dynamicChance);
  rows->result = text.draw(random, rows->result.type, dims, dynamicChance);
  text.argument("x", input);
  std::string value = "%x";
  if (kind != RowKind::BatchNorm && random.chance(0.35)) {
    bool isRow = random.chance(0.3);
    SizedType added = input;
    std::string source = "(d0", map;
    for (size_t i = 1; i < dims.size(); ++i)
      source += ", d" + std::to_string(i);
    source += ")";
    map = source;
    if (isRow) {
      added.dims = {input.dims.back()};
      added.dynamic = {input.dynamic.back()};
      map = "(d" + std::to_string(dims.size() - 1) + ")";
    }
    rows->addend = text.argument("r", added);
    rows->keepsSum = random.chance(0.5);
    std::string sum = text.empty(input), own = text.textOf(input),
                element = nameOf(rows->type), kinds = "\"parallel\"";
    for (size_t i = 1; i < dims.size(); ++i)
      kinds += ", \"parallel\"";
    auto mapTo = [&](const std::string &results) {
      return "affine_map<" + source + " -> " + results + ">";
    };
    text.line("%h = linalg.generic {indexing_maps = [" + mapTo(source) + ", " +
              mapTo(map) + ", " + mapTo(source) + "], iterator_types = [" +
              kinds + "]} ins(%x, %r : " + own + ", " + text.textOf(added) +
              ") outs(" + sum + " : " + own + ") {\n  ^bb0(%a: " + element +
              ", %b: " + element + ", %o: " + element +
              "):\n    %s = arith.addf %a, %b : " + element +
              "\n    linalg.yield %s : " + element + "\n  } -> " + own);
    value = "%h";
  }
  auto parameter = [&](const char *name, std::vector<int> parameterDims) {
    ElementType type = random.chance(0.7)
                           ? (rows->type == ElementType::F64 ? ElementType::F64
                                                             : ElementType::F32)
                           : random.pick({ElementType::F32, ElementType::F16,
                                          ElementType::BF16});
    return text.argument(name,
                         text.draw(random, type, parameterDims, dynamicChance));
  };
  auto typeOf = [&](int number) {
    return text.textOf(text.argumentType(number));
  };
  std::vector<int> rowDims(dims.begin() + rows->axis, dims.end());
  if (kind == RowKind::BatchNorm) {
    std::vector<int> channel = {dims[rows->axis]};
    rows->scale = parameter("scale", channel);
    rows->bias = parameter("bias", channel);
    rows->mean = parameter("mean", channel);
    rows->variance = parameter("variance", channel);
  } else if (norm) {
    if (random.chance(0.6))
      rows->scale = parameter("scale", rowDims);
    if (kind == RowKind::LayerNorm && random.chance(0.6))
      rows->bias = parameter("bias", rowDims);
  }
  int destination = -1;
  std::string init;
  if (random.chance(0.4)) {
    destination = text.argument("d", rows->result);
    init = "%d";
  }
  rows->epilogue = Epilogue::draw(random, text, sizes, rows->accumulator,
                                  rows->result, destination, dynamicChance);
  if (init.empty())
    init = text.empty(rows->result);
  std::string acc = rows->accumulator != accumulatorOf(rows->type)
                        ? std::string(" acc ") + nameOf(rows->accumulator)
                        : "";
  char epsilon[32];
  std::snprintf(epsilon, sizeof epsilon, "%e", rows->epsilon);
  std::string axis = std::to_string(rows->axis);
  std::string op;
  const char *names[] = {"softmax", "batch_norm", "layer_norm", "rms_norm"};
  std::string name = names[static_cast<int>(kind)];
  if (kind == RowKind::Softmax) {
    op = "dim " + axis + acc + " ins(" + value + " : " + text.textOf(input) +
         ")";
  } else if (kind == RowKind::BatchNorm) {
    op = "axis " + axis + " epsilon " + epsilon + acc +
         " ins(%x, %scale, %bias, %mean, %variance : " + text.textOf(input) +
         ", " + typeOf(rows->scale) + ", " + typeOf(rows->bias) + ", " +
         typeOf(rows->mean) + ", " + typeOf(rows->variance) + ")";
  } else {
    op = "axis " + axis + " epsilon " + epsilon + acc + " ins(" + value +
         " : " + text.textOf(input) + ")";
    if (rows->scale >= 0)
      op += " scale(%scale : " + typeOf(rows->scale) + ")";
    if (rows->bias >= 0)
      op += " bias(%bias : " + typeOf(rows->bias) + ")";
  }
  text.line("%y = tracea." + name + " " + op + " outs(" + init + " : " +
            text.textOf(rows->result) + ")" + rows->epilogue.text);
  if (kind != RowKind::BatchNorm && random.chance(0.35)) {
    std::vector<bool> isReduced;
    for (int64_t i = 0; i < rank; ++i)
      isReduced.push_back(norm ? i >= rows->axis : i == rows->axis);
    rows->rowScale =
        RowScale::draw(random, text, rows->result, std::move(isReduced));
    rows->keepsResult = random.chance(0.2);
  }
  for (int i = 0; i < text.numArguments(); ++i)
    rows->arguments.push_back(text.argumentType(i));

  Case result;
  result.name = name + " " + nameOf(rows->type) + " " + listOf(sizes.at(dims)) +
                " axis " + axis;
  std::vector<std::string> results = {"%y"};
  std::vector<SizedType> types = {rows->result};
  if (rows->rowScale) {
    results = {"%q", "%s"};
    types = {rows->rowScale->elements, rows->rowScale->rows};
    if (rows->keepsResult) {
      results.push_back("%y");
      types.push_back(rows->result);
    }
  }
  if (rows->keepsSum) {
    results.push_back("%h");
    types.push_back(input);
  }
  result.text = text.finish(results, types);
  // Which rounds no sum.
  result.comparableToReference = rows->addend < 0 && !rows->rowScale;
  result.dynamic = sizes.anyFree();
  result.make = [rows, limit](Random &random, bool first) {
    rows->sizes.reset();
    if (!first)
      rows->sizes.draw(random);
    if (countOf(rows->sizes.at(rows->result.dims)) > 4 * limit)
      rows->sizes.reset();
    Instance instance;
    instance.inputs = rows->drawInputs(random);
    std::vector<Approx> values = rows->compute(instance.inputs);
    // Infinity and NaN come out of any order of the sums.
    for (Approx &value : values)
      if (!std::isfinite(value.value))
        value.error = 0;
      else if (std::isnan(value.error))
        value.error = std::numeric_limits<Real>::infinity();
    ExpectedTensor expected = rows->epilogue.applyAll(
        values, rows->sizes.at(rows->result.dims), instance.inputs);
    if (rows->rowScale)
      instance.outputs = rows->rowScale->apply(expected, rows->sizes);
    if (!rows->rowScale || rows->keepsResult)
      instance.outputs.push_back(std::move(expected));
    if (rows->keepsSum) {
      HostTensor sum = rows->computeInput(instance.inputs);
      instance.outputs.push_back({sum.type, sum.shape, {}});
      for (double element : sum.values)
        instance.outputs.back().values.push_back({element, 0});
    }
    if (rows->scale >= 0)
      instance.wrong.push_back({rows->scale, 0});
    rows->epilogue.addWrong(random, instance.wrong);
    return instance;
  };
  return result;
}

Case numerics::generateSoftmax(Random &random, bool large) {
  return generateRows(random, large, RowKind::Softmax);
}
Case numerics::generateBatchNorm(Random &random, bool large) {
  return generateRows(random, large, RowKind::BatchNorm);
}
Case numerics::generateLayerNorm(Random &random, bool large) {
  return generateRows(random, large, RowKind::LayerNorm);
}
Case numerics::generateRMSNorm(Random &random, bool large) {
  return generateRows(random, large, RowKind::RMSNorm);
}
