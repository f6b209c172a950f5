//===- NumericsEpilogue.cpp - Random epilogues ----------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A chain of scalar operations, written as a region and evaluated with error
// bounds. Activations are evaluated as their formulas are written, so that
// infinities and NaN take the same way; their error is that of one function
// with a bounded slope.

#include "Numerics.h"

#include <cmath>

using namespace tracea;
using namespace tracea::numerics;

using Step = Epilogue::Step;

/// The text of one step; `value` is its input and becomes its output.
namespace {
class Writer {
public:
  Writer(std::string &body, std::string type)
      : body(body), type(std::move(type)) {}

  std::string constant(ElementType of, double value) {
    return define(constantOf(of, value), "");
  }
  std::string op(const char *name, const std::vector<std::string> &operands) {
    return define(std::string(name) + " " + join(operands, ", "), " : " + type);
  }
  std::string define(const std::string &text, const std::string &suffix) {
    std::string name = "%v" + std::to_string(counter++);
    body += "      " + name + " = " + text + suffix + "\n";
    return name;
  }

private:
  std::string &body;
  std::string type;
  int counter = 0;
};
} // namespace

static std::string writeStep(Writer &w, const Step &step, ElementType type,
                             const std::string &x, const std::string &extra) {
  auto constant = [&](double value) { return w.constant(type, value); };
  bool integer = isInteger(type);
  switch (step.kind) {
  case Step::Add:
    return w.op(integer ? "arith.addi" : "arith.addf", {x, extra});
  case Step::Multiply:
    return w.op("arith.mulf", {x, extra});
  case Step::Relu:
    return w.op(integer ? "arith.maxsi" : "arith.maximumf", {x, constant(0)});
  case Step::LeakyRelu: {
    std::string zero = constant(0), slope = constant(0.125);
    std::string positive = w.define("arith.cmpf ogt, " + x + ", " + zero,
                                    std::string(" : ") + nameOf(type));
    std::string scaled = w.op("arith.mulf", {x, slope});
    return w.define("arith.select " + positive + ", " + x + ", " + scaled,
                    std::string(" : ") + nameOf(type));
  }
  case Step::SiLU:
  case Step::Sigmoid: {
    std::string one = constant(1);
    std::string e = w.op("math.exp", {w.op("arith.negf", {x})});
    return w.op("arith.divf", {step.kind == Step::SiLU ? x : one,
                               w.op("arith.addf", {e, one})});
  }
  case Step::GeluErf: {
    std::string t = w.op("arith.mulf", {x, constant(0.70710678118654752)});
    std::string s = w.op("arith.addf", {w.op("math.erf", {t}), constant(1)});
    return w.op("arith.mulf", {w.op("arith.mulf", {x, constant(0.5)}), s});
  }
  case Step::GeluTanh: {
    std::string cube = w.op("arith.mulf", {w.op("arith.mulf", {x, x}), x});
    std::string t =
        w.op("arith.addf", {x, w.op("arith.mulf", {cube, constant(0.044715)})});
    t = w.op("arith.mulf", {t, constant(0.79788456080286536)});
    std::string s = w.op("arith.addf", {w.op("math.tanh", {t}), constant(1)});
    return w.op("arith.mulf", {w.op("arith.mulf", {x, constant(0.5)}), s});
  }
  case Step::Tanh:
    return w.op("math.tanh", {x});
  case Step::Scale:
    return w.op("arith.mulf", {x, constant(step.constant)});
  case Step::Negate:
    return w.op("arith.negf", {x});
  case Step::ToFloat:
    return w.define("arith.sitofp " + x,
                    std::string(" : i32 to ") + nameOf(type));
  }
  return x;
}

/// The text of a conversion between element types of an epilogue.
static std::string writeConversion(Writer &w, ElementType from, ElementType to,
                                   const std::string &x) {
  if (from == to)
    return x;
  const char *op;
  if (isInteger(from))
    op = !isInteger(to)                ? "arith.sitofp"
         : bytesOf(from) < bytesOf(to) ? "arith.extsi"
                                       : "arith.trunci";
  else
    op = bytesOf(from) < bytesOf(to) ? "arith.extf" : "arith.truncf";
  return w.define(std::string(op) + " " + x,
                  std::string(" : ") + nameOf(from) + " to " + nameOf(to));
}

static bool isFunction(const Step &step) {
  switch (step.kind) {
  case Step::SiLU:
  case Step::GeluErf:
  case Step::GeluTanh:
  case Step::Tanh:
  case Step::Sigmoid:
    return true;
  default:
    return false;
  }
}

static Approx applyStep(const Step &step, ElementType type, Approx x,
                        Approx extra) {
  Arithmetic math(type);
  Real v = x.value;
  constexpr Real functionRoundings = 10;
  switch (step.kind) {
  case Step::Add:
    return math.add(x, extra);
  case Step::Multiply:
    return math.mul(x, extra);
  case Step::Relu:
    return {std::isnan(v) ? v : std::max<Real>(v, 0), x.error};
  case Step::LeakyRelu: {
    Approx scaled = math.mul(x, {0.125L, 0});
    return {v > 0 ? v : scaled.value, std::max(x.error, scaled.error)};
  }
  case Step::SiLU: {
    Approx y = math.apply(x, v / (1 + std::exp(-v)), 1.1L, functionRoundings);
    // The exponential may overflow where its reciprocal is subnormal.
    if (std::isfinite(v))
      y.error += smallest(type) * std::fabs(v);
    return y;
  }
  case Step::Sigmoid:
    return math.apply(x, 1 / (1 + std::exp(-v)), 0.25L,
                      functionRoundings + std::min(std::fabs(v), Real(110)));
  case Step::GeluErf: {
    Approx y = math.apply(
        x, 0.5L * v * (1 + std::erf(v * 0.70710678118654752440L)), 1.13L, 0);
    if (std::isfinite(v))
      y.error += functionRoundings * unitRoundoff(type) * std::fabs(v);
    return y;
  }
  case Step::GeluTanh: {
    Real t = 0.79788456080286535588L * (v + 0.044715L * v * v * v);
    Approx y = math.apply(x, 0.5L * v * (1 + std::tanh(t)), 1.13L, 0);
    if (std::isfinite(v))
      y.error += functionRoundings * unitRoundoff(type) * std::fabs(v);
    return y;
  }
  case Step::Tanh:
    return math.apply(x, std::tanh(v), 1, functionRoundings);
  case Step::Scale:
    return math.mul(x, {roundTo(type, step.constant), 0});
  case Step::Negate:
    return {-v, x.error};
  case Step::ToFloat:
    return math.convert(x);
  }
  return x;
}

Approx Epilogue::apply(Approx x, const Shape &index,
                       const std::vector<HostTensor> &inputs) const {
  ElementType type = accumulatorType;
  for (const Step &step : steps) {
    if (step.kind == Step::ToFloat)
      type = computeType;
    Approx extra;
    if (step.argument >= 0) {
      const HostTensor &tensor = inputs[step.argument];
      Shape at;
      for (int dim : step.map)
        at.push_back(dim < 0 ? 0 : index[dim]);
      extra.value = tensor.values[linearIndex(tensor.shape, at)];
      if (tensor.type != type)
        extra = Arithmetic(type).convert(extra);
    }
    Real argument = std::fabs(x.value);
    x = applyStep(step, type, x, extra);
    if (isFunction(step) && type == ElementType::F32 && std::isfinite(argument))
      x.error += errorOfUnit(resultType) * std::max<Real>(argument, 1);
  }
  return x;
}

ExpectedTensor Epilogue::applyAll(const std::vector<Approx> &accumulators,
                                  const Shape &shape,
                                  const std::vector<HostTensor> &inputs) const {
  ExpectedTensor result{resultType, shape, accumulators};
  if (!steps.empty())
    forEachIndex(shape, [&](const Shape &index, int64_t linear) {
      result.values[linear] = apply(accumulators[linear], index, inputs);
    });
  return result;
}

void Epilogue::addWrong(Random &random, std::vector<WrongSize> &wrong) const {
  for (const Step &step : steps)
    if (step.argument >= 0 && !step.map.empty())
      wrong.push_back(
          {step.argument, static_cast<int>(random.below(step.map.size()))});
}

Epilogue Epilogue::draw(Random &random, ModuleText &module, Sizes &sizes,
                        ElementType accumulator, const SizedType &result,
                        int destination, double dynamicChance) {
  Epilogue epilogue;
  epilogue.accumulatorType = epilogue.computeType = accumulator;
  epilogue.resultType = result.type;
  int rank = static_cast<int>(result.dims.size());
  bool mustConvert = isInteger(accumulator) && !isInteger(result.type);
  if (random.chance(0.4))
    return epilogue;

  ElementType type = accumulator;
  std::vector<Step> &steps = epilogue.steps;
  if (mustConvert) {
    type = epilogue.computeType =
        result.type == ElementType::F64 ? ElementType::F64 : ElementType::F32;
    steps.push_back({Step::ToFloat, -1, {}, 0});
  }

  std::vector<std::string> operands, operandTypes, blockArguments;
  auto addExtra = [&](Step &step) {
    // A few shapes that networks have, and sometimes any other.
    double choice = random.uniform();
    std::vector<int> order;
    if (choice < 0.3 && rank > 0) {
      order = {rank - 1};
    } else if (choice < 0.4 && rank > 1) {
      order = {1};
    } else if (choice < 0.6) {
      for (int dim = 0; dim < rank; ++dim)
        order.push_back(dim);
    } else if (choice < 0.9) {
      for (int dim = 0; dim < rank; ++dim)
        if (random.chance(0.6))
          order.insert(order.begin() + random.below(order.size() + 1), dim);
      if (random.chance(0.4))
        order.insert(order.begin() + random.below(order.size() + 1), -1);
    }
    ElementType extraType = type;
    if (isInteger(type))
      extraType = ElementType::I32;
    else if (random.chance(0.25))
      extraType =
          random.pick({ElementType::F32, ElementType::F16, ElementType::BF16,
                       ElementType::F64, ElementType::I8});
    std::vector<int> dims;
    bool identity = static_cast<int>(order.size()) == rank;
    for (int dim = 0; dim < static_cast<int>(order.size()); ++dim) {
      identity = identity && order[dim] == dim;
      dims.push_back(order[dim] < 0 ? sizes.add(1) : result.dims[order[dim]]);
    }
    int number;
    if (identity && destination >= 0 && random.chance(0.5)) {
      number = destination;
    } else {
      SizedType drawn = module.draw(random, extraType, dims, dynamicChance);
      for (size_t dim = 0; dim < order.size(); ++dim)
        if (order[dim] < 0)
          drawn.dynamic[dim] = false;
      number = module.argument("e" + std::to_string(operands.size()),
                               std::move(drawn));
    }
    step.argument = number;
    step.map = order;
    std::vector<std::string> from, to;
    for (int dim = 0; dim < rank; ++dim)
      from.push_back("d" + std::to_string(dim));
    for (int dim : order)
      to.push_back(dim < 0 ? "0" : "d" + std::to_string(dim));
    operands.push_back("%" + module.argumentName(number) + " by affine_map<(" +
                       join(from, ", ") + ") -> (" + join(to, ", ") + ")>");
    operandTypes.push_back(module.textOf(module.argumentType(number)));
    blockArguments.push_back("%x" + std::to_string(operands.size()) + ": " +
                             nameOf(module.argumentType(number).type));
  };

  int64_t count = random.between(1, 4);
  for (int64_t i = 0; i < count; ++i) {
    Step step;
    if (isInteger(type))
      step.kind = random.pick({Step::Add, Step::Add, Step::Relu});
    else
      step.kind = random.pick({Step::Add, Step::Add, Step::Add, Step::Multiply,
                               Step::Relu, Step::LeakyRelu, Step::SiLU,
                               Step::GeluErf, Step::GeluTanh, Step::Tanh,
                               Step::Sigmoid, Step::Scale, Step::Negate});
    step.constant = random.pick({0.5, 2.0, -1.0, 0.3, 0.70710678});
    if (step.kind == Step::Add || step.kind == Step::Multiply)
      addExtra(step);
    steps.push_back(step);
  }

  // The region.
  std::string body;
  Writer writer(body, nameOf(type));
  std::string value = "%acc";
  size_t extra = 0;
  for (const Step &step : steps) {
    std::string operand;
    if (step.argument >= 0) {
      operand = "%x" + std::to_string(++extra);
      operand = writeConversion(writer, module.argumentType(step.argument).type,
                                type, operand);
    }
    value = writeStep(writer, step, type, value, operand);
  }
  value = writeConversion(writer, type, result.type, value);
  std::string text = " epilogue";
  if (!operands.empty())
    text += "(" + join(operands, ", ") + " : " + join(operandTypes, ", ") + ")";
  text += " {\n    ^bb0(%acc: " + std::string(nameOf(accumulator));
  for (const std::string &argument : blockArguments)
    text += ", " + argument;
  text += "):\n" + body + "      tracea.yield " + value + " : " +
          nameOf(result.type) + "\n  }";
  epilogue.text = text;
  return epilogue;
}
