//===- NumericsModule.cpp - Inputs, sizes and text of modules -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Numerics.h"

#include <cmath>
#include <cstdio>
#include <limits>

using namespace tracea;
using namespace tracea::numerics;

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

int64_t numerics::countOf(const Shape &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

void numerics::forEachIndex(
    const Shape &shape,
    const std::function<void(const Shape &index, int64_t linear)> &body) {
  int64_t count = countOf(shape);
  Shape index(shape.size(), 0);
  for (int64_t linear = 0; linear < count; ++linear) {
    body(index, linear);
    for (size_t dim = shape.size(); dim-- > 0;) {
      if (++index[dim] < shape[dim])
        break;
      index[dim] = 0;
    }
  }
}

int64_t numerics::linearIndex(const Shape &shape, const Shape &index) {
  int64_t linear = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    linear = linear * shape[dim] + index[dim];
  return linear;
}

Fill numerics::pickFill(Random &random) {
  double choice = random.uniform();
  return choice < 0.6   ? Fill::Normal
         : choice < 0.8 ? Fill::Integers
                        : Fill::Special;
}

HostTensor numerics::randomTensor(Random &random, ElementType type,
                                  const Shape &shape, Fill fill) {
  HostTensor tensor{type, shape, {}};
  int64_t count = countOf(shape);
  tensor.values.reserve(count);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  // Rare, so that most results stay finite.
  double special = 1.0 / (4.0 + double(count));
  double offset =
      fill == Fill::Offset ? random.pick({-300.0, 100.0, 5000.0}) : 0.0;
  for (int64_t i = 0; i < count; ++i) {
    double value;
    if (type == ElementType::I1)
      value = double(random.below(2));
    else if (isInteger(type))
      value = fill == Fill::Integers ? double(random.between(-3, 3))
                                     : double(random.between(-128, 127));
    else if (fill == Fill::Integers)
      value = double(random.between(-3, 3));
    else {
      value = random.normal() + offset;
      if (fill == Fill::Special && random.chance(special))
        value = random.pick({infinity, -infinity, std::nan(""), 0.0, -0.0});
    }
    tensor.values.push_back(double(roundTo(type, value)));
  }
  return tensor;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

bool Sizes::anyFree() const {
  for (const Entry &entry : list)
    if (!entry.fixed && !entry.others.empty())
      return true;
  return false;
}

void Sizes::draw(Random &random) {
  for (Entry &entry : list)
    if (!entry.fixed && !entry.others.empty())
      entry.value = random.pick(entry.others);
}

void Sizes::reset() {
  for (Entry &entry : list)
    entry.value = entry.initial;
}

Shape Sizes::at(const std::vector<int> &sizes) const {
  Shape shape;
  for (int size : sizes)
    shape.push_back(list[size].value);
  return shape;
}

std::string SizedType::text(const Sizes &sizes) const {
  std::string result = "tensor<";
  for (size_t i = 0; i < dims.size(); ++i)
    result +=
        (dynamic[i] ? std::string("?") : std::to_string(sizes[dims[i]])) + "x";
  return result + nameOf(type) + ">";
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string numerics::join(const std::vector<std::string> &parts,
                           const char *separator) {
  std::string result;
  for (size_t i = 0; i < parts.size(); ++i)
    result += (i ? separator : "") + parts[i];
  return result;
}

std::string numerics::listOf(const Shape &values) {
  std::vector<std::string> parts;
  for (int64_t value : values)
    parts.push_back(std::to_string(value));
  return "[" + join(parts, ", ") + "]";
}

std::string numerics::constantOf(ElementType type, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, isInteger(type) ? "%.0f" : "%.17e",
                value);
  return std::string("arith.constant ") + buffer + " : " + nameOf(type);
}

SizedType ModuleText::draw(Random &random, ElementType type,
                           std::vector<int> dims, double dynamicChance) {
  SizedType result{type, std::move(dims), {}};
  for (int dim : result.dims) {
    bool dynamic = random.chance(dynamicChance);
    if (!dynamic)
      sizes.fix(dim);
    result.dynamic.push_back(dynamic);
  }
  return result;
}

int ModuleText::argument(const std::string &name, SizedType type) {
  names.push_back(name);
  arguments.push_back(std::move(type));
  return static_cast<int>(arguments.size()) - 1;
}

std::string ModuleText::extent(int size) {
  for (size_t i = 0; i < arguments.size(); ++i)
    for (size_t dim = 0; dim < arguments[i].dims.size(); ++dim)
      if (arguments[i].dims[dim] == size) {
        std::string axis = fresh("axis"), value = fresh("extent");
        line(axis + " = arith.constant " + std::to_string(dim) + " : index");
        line(value + " = tensor.dim %" + names[i] + ", " + axis + " : " +
             textOf(arguments[i]));
        return value;
      }
  assert(derive && "a size that follows from nothing");
  return derive(size);
}

std::string ModuleText::empty(const SizedType &type) {
  std::vector<std::string> extents;
  for (size_t i = 0; i < type.dims.size(); ++i)
    if (type.dynamic[i])
      extents.push_back(extent(type.dims[i]));
  std::string value = fresh("empty");
  line(value + " = tensor.empty(" + join(extents, ", ") +
       ") : " + textOf(type));
  return value;
}

std::string ModuleText::finish(const std::vector<std::string> &results,
                               const std::vector<SizedType> &types) {
  std::vector<std::string> parameters, typeTexts;
  for (size_t i = 0; i < arguments.size(); ++i)
    parameters.push_back(
        "%" + names[i] + ": " + textOf(arguments[i]) +
        (constants.count(static_cast<int>(i)) ? " {tracea.constant}" : ""));
  for (const SizedType &type : types)
    typeTexts.push_back(textOf(type));
  return "func.func @main(" + join(parameters, ", ") + ") -> (" +
         join(typeTexts, ", ") + ") {\n" + body + "  return " +
         join(results, ", ") + " : " + join(typeTexts, ", ") + "\n}\n";
}
