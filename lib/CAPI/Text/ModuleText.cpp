//===- ModuleText.cpp - Writes a module of one function -------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Text/ModuleText.h"

#include "Text/ScalarText.h"
#include "Text/TextPieces.h"
#include "tracea/Runtime/Tensor.h"

#include <algorithm>
#include <cctype>
#include <cmath>

namespace tracea::capi {

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

std::string Value::typeText() const {
  std::string text = "tensor<";
  for (const Extent &extent : shape)
    text += (extent.isOpen() ? "?" : std::to_string(extent.size)) + "x";
  return text + typeName(type) + ">";
}

std::string Value::describe() const {
  std::vector<int64_t> sizes;
  for (const Extent &extent : shape)
    sizes.push_back(extent.size);
  return typeName(type) + runtime::describeShape(sizes);
}

ElementType accumulatorOf(ElementType type) {
  if (!runtime::isFloat(type))
    return ElementType::I32;
  return type == ElementType::F64 ? ElementType::F64 : ElementType::F32;
}

/// Elementwise arithmetic of small floats is done in f32.
static ElementType arithmeticType(ElementType type) {
  return runtime::isFloat(type) ? accumulatorOf(type) : type;
}

Status mismatch(const char *name, const std::string &expected,
                const Value &found) {
  return Status::invalid(std::string(name) + ": expected " + expected +
                         ", found " + found.describe());
}

bool mayAgree(const Extent &a, const Extent &b) {
  return a.isOpen() || b.isOpen() || a.size == b.size;
}

std::string sizeText(const Extent &extent) {
  return extent.isOpen() ? "?" : std::to_string(extent.size);
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

std::string ModuleText::line(const std::string &text) {
  std::string name = "%" + std::to_string(numValues++);
  body += "    " + name + " = " + text + "\n";
  return name;
}

std::string ModuleText::index(int64_t number) {
  return line("arith.constant " + std::to_string(number) + " : index");
}

std::string ModuleText::indexOp(const char *op, const std::string &a,
                                const std::string &b) {
  return line(std::string(op) + " " + a + ", " + b + " : index");
}

Extent ModuleText::arithmetic(const char *op, const Extent &a,
                              const Extent &b) {
  std::string left = a.isOpen() ? a.value : index(a.size);
  std::string right = b.isOpen() ? b.value : index(b.size);
  return {-1, indexOp(op, left, right)};
}

Value ModuleText::input(const std::string &name, ElementType type,
                        Span<const int64_t> shape, bool isConstant) {
  std::string clean;
  for (char c : name)
    clean += std::isalnum(static_cast<unsigned char>(c)) || c == '_' ? c : '_';
  if (clean.empty() || std::isdigit(static_cast<unsigned char>(clean[0])))
    clean = "arg" + clean;
  auto isTaken = [&](const std::string &candidate) {
    return std::any_of(arguments.begin(), arguments.end(),
                       [&](const Argument &argument) {
                         return argument.name == "%" + candidate;
                       });
  };
  std::string unique = clean;
  for (int i = 1; isTaken(unique); ++i)
    unique = clean + "_" + std::to_string(i);
  Value value{"%" + unique, type, {}};
  for (int64_t size : shape)
    value.shape.push_back({size < 0 ? -1 : size, ""});
  for (size_t i = 0; i < value.rank(); ++i)
    if (value.shape[i].isOpen())
      value.shape[i].value =
          line("tensor.dim " + value.name + ", " +
               index(static_cast<int64_t>(i)) + " : " + value.typeText());
  arguments.push_back({value.name, value.typeText(), isConstant});
  return value;
}

void ModuleText::output(const Value &value) { results.push_back(value); }

void ModuleText::allow(TraceaPrecision precision) {
  const char *name = precision == TRACEA_PRECISION_TF32 ? "tracea.allow_tf32"
                     : precision == TRACEA_PRECISION_TF32X3
                         ? "tracea.allow_tf32x3"
                         : nullptr;
  if (name && attributes.find(std::string(name) + ",") == std::string::npos)
    attributes += std::string(name) + ",";
}

std::string ModuleText::str() const {
  std::string text = "func.func @main(";
  for (size_t i = 0; i < arguments.size(); ++i)
    text += (i ? ", " : "") + arguments[i].name + ": " + arguments[i].type +
            " {tracea.name = \"" + arguments[i].name.substr(1) + "\"" +
            (arguments[i].isConstant ? ", tracea.constant}" : "}");
  std::string names, types;
  for (size_t i = 0; i < results.size(); ++i) {
    names += (i ? ", " : "") + results[i].name;
    types += (i ? ", " : "") + results[i].typeText();
  }
  text += ") -> (" + types + ")";
  if (!attributes.empty())
    text += " attributes {" + attributes.substr(0, attributes.size() - 1) + "}";
  return "module {\n  " + text + " {\n" + body + "    return " + names + " : " +
         types + "\n  }\n}\n";
}

Value ModuleText::empty(ElementType type, const std::vector<Extent> &shape) {
  Value value{"", type, shape};
  std::string sizes;
  for (const Extent &extent : shape)
    if (extent.isOpen())
      sizes += (sizes.empty() ? "" : ", ") + extent.value;
  value.name = line("tensor.empty(" + sizes + ") : " + value.typeText());
  return value;
}

Value ModuleText::fill(ElementType type, const std::vector<Extent> &shape,
                       const std::string &number) {
  Value value = empty(type, shape);
  std::string constant =
      line("arith.constant " + number + " : " + typeName(type));
  value.name =
      line("linalg.fill ins(" + constant + " : " + typeName(type) + ") outs(" +
           value.name + " : " + value.typeText() + ") -> " + value.typeText());
  return value;
}

Value ModuleText::firstElements(const Value &x,
                                const std::vector<Extent> &shape) {
  Value value{"", x.type, shape};
  std::string offsets, sizes, steps;
  for (size_t i = 0; i < shape.size(); ++i) {
    const char *comma = i ? ", " : "";
    offsets += std::string(comma) + "0";
    steps += std::string(comma) + "1";
    sizes += comma + (shape[i].isOpen() ? shape[i].value
                                        : std::to_string(shape[i].size));
  }
  value.name =
      line("tensor.extract_slice " + x.name + "[" + offsets + "] [" + sizes +
           "] [" + steps + "] : " + x.typeText() + " to " + value.typeText());
  return value;
}

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

std::string mapText(size_t rank, const std::vector<unsigned> &dims) {
  std::string text = "affine_map<(";
  for (size_t i = 0; i < rank; ++i)
    text += (i ? ", d" : "d") + std::to_string(i);
  text += ") -> (";
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i ? ", d" : "d") + std::to_string(dims[i]);
  return text + ")>";
}

std::vector<unsigned> allDims(size_t rank) {
  std::vector<unsigned> dims;
  for (unsigned i = 0; i < rank; ++i)
    dims.push_back(i);
  return dims;
}

Value ModuleText::elementwise(const std::vector<Extent> &shape,
                              ElementType type,
                              const std::vector<EpilogueOperand> &operands,
                              const Body &write) {
  Value destination = empty(type, shape);
  std::string maps, names, types, block;
  std::vector<std::string> scalars;
  for (size_t i = 0; i < operands.size(); ++i) {
    const char *comma = i ? ", " : "";
    const Value &value = operands[i].value;
    maps += mapText(shape.size(), operands[i].dims) + ", ";
    names += comma + value.name;
    types += comma + value.typeText();
    scalars.push_back("%e" + std::to_string(i));
    block += scalars.back() + ": " + typeName(value.type) + ", ";
  }
  std::string kinds;
  for (size_t i = 0; i < shape.size(); ++i)
    kinds += i ? ", \"parallel\"" : "\"parallel\"";
  std::string region = write(scalars);
  destination.name =
      line("linalg.generic {indexing_maps = [" + maps +
           mapText(shape.size(), allDims(shape.size())) +
           "], iterator_types = [" + kinds + "]} ins(" + names + " : " + types +
           ") outs(" + destination.name + " : " + destination.typeText() +
           ") {\n    ^bb0(" + block + "%old: " + typeName(type) + "):\n" +
           region + "    } -> " + destination.typeText());
  return destination;
}

Expected<Value> ModuleText::unary(TraceaUnary function, const Value &x) {
  if (function < TRACEA_UNARY_RELU || function > TRACEA_UNARY_RSQRT)
    return Status::invalid("function: expected a TraceaUnary from 1 to 13, "
                           "found " +
                           std::to_string(static_cast<int>(function)));
  bool hasIntegers =
      function == TRACEA_UNARY_RELU || function == TRACEA_UNARY_RELU6 ||
      function == TRACEA_UNARY_NEGATE || function == TRACEA_UNARY_ABS;
  if (x.type == ElementType::I1 || (!runtime::isFloat(x.type) && !hasIntegers))
    return mismatch("x", "floats", x);
  ElementType type = arithmeticType(x.type);
  return elementwise(
      x.shape, x.type, {{x, allDims(x.rank())}},
      [&](const std::vector<std::string> &scalars) {
        ScalarText text("      ", type);
        std::string value = text.convert(scalars[0], x.type, type);
        value = text.convert(text.unary(function, value), type, x.type);
        return text.str() + "      linalg.yield " + value + " : " +
               typeName(x.type) + "\n";
      });
}

Expected<Value> ModuleText::cast(const Value &x, ElementType type) {
  if (x.type == type)
    return x;
  return elementwise(
      x.shape, type, {{x, allDims(x.rank())}},
      [&](const std::vector<std::string> &scalars) {
        ScalarText text("      ", type);
        std::string value = scalars[0];
        // To a truth value: whether it is not zero.
        if (type == ElementType::I1) {
          ScalarText zeros("      ", x.type);
          std::string zero = zeros.constant(0);
          std::string isSet = zeros.line(
              std::string(runtime::isFloat(x.type) ? "arith.cmpf une, "
                                                   : "arith.cmpi ne, ") +
              value + ", " + zero + " : " + typeName(x.type));
          return zeros.str() + "      linalg.yield " + isSet + " : i1\n";
        }
        value = text.convert(value, x.type, type);
        return text.str() + "      linalg.yield " + value + " : " +
               typeName(type) + "\n";
      });
}

Expected<Value> ModuleText::binary(TraceaBinary function, const Value &a,
                                   const Value &b) {
  if (function < TRACEA_BINARY_ADD || function > TRACEA_BINARY_MINIMUM)
    return Status::invalid("function: expected a TraceaBinary from 1 to 6, "
                           "found " +
                           std::to_string(static_cast<int>(function)));
  if (a.type != b.type)
    return mismatch(
        "b", std::string("elements of a's type, ") + typeName(a.type), b);
  if (a.type == ElementType::I1 ||
      (function == TRACEA_BINARY_DIVIDE && !runtime::isFloat(a.type)))
    return mismatch("a", "floats", a);
  size_t rank = std::max(a.rank(), b.rank());
  std::vector<Extent> shape(rank, Extent{1, ""});
  auto place = [&](const Value &value) { return rank - value.rank(); };
  for (const Value *value : {&a, &b})
    for (size_t i = 0; i < value->rank(); ++i) {
      Extent &extent = shape[place(*value) + i];
      const Extent &other = value->shape[i];
      if (!other.isOpen() && other.size == 1)
        continue;
      if (!extent.isOpen() && extent.size == 1)
        extent = other;
      else if (!mayAgree(extent, other))
        return mismatch("b",
                        "dimension " + std::to_string(i) + " of size " +
                            sizeText(extent) + " or 1, as a has " +
                            a.describe(),
                        b);
      else if (extent.isOpen() && !other.isOpen())
        extent = other;
    }
  // Dimensions that are repeated are dropped: maps have none of them.
  std::vector<EpilogueOperand> operands;
  for (const Value *value : {&a, &b}) {
    EpilogueOperand operand{*value, {}};
    std::vector<int64_t> kept;
    Value dense = *value;
    dense.shape.clear();
    for (size_t i = 0; i < value->rank(); ++i) {
      const Extent &extent = value->shape[i];
      const Extent &whole = shape[place(*value) + i];
      if (!extent.isOpen() && extent.size == 1 &&
          (whole.isOpen() || whole.size != 1))
        continue;
      dense.shape.push_back(extent);
      operand.dims.push_back(static_cast<unsigned>(place(*value) + i));
      kept.push_back(static_cast<int64_t>(i));
    }
    if (dense.rank() != value->rank()) {
      // Each dimension that stays takes the ones before it along.
      std::string groups;
      size_t next = 0;
      for (size_t g = 0; g < kept.size(); ++g) {
        size_t end = g + 1 == kept.size() ? value->rank()
                                          : static_cast<size_t>(kept[g]) + 1;
        groups += g ? ", [" : "[";
        for (size_t i = next; i < end; ++i)
          groups += (i == next ? "" : ", ") + std::to_string(i);
        groups += "]";
        next = end;
      }
      dense.name =
          line("tensor.collapse_shape " + value->name + " [" + groups +
               "] : " + value->typeText() + " into " + dense.typeText());
    }
    operand.value = dense;
    operands.push_back(operand);
  }
  ElementType type = arithmeticType(a.type);
  return elementwise(
      shape, a.type, operands, [&](const std::vector<std::string> &scalars) {
        ScalarText text("      ", type);
        std::string left = text.convert(scalars[0], a.type, type);
        std::string right = text.convert(scalars[1], b.type, type);
        std::string value =
            text.convert(text.binary(function, left, right), type, a.type);
        return text.str() + "      linalg.yield " + value + " : " +
               typeName(a.type) + "\n";
      });
}

//===----------------------------------------------------------------------===//
// Movement
//===----------------------------------------------------------------------===//

Expected<Value> ModuleText::transpose(const Value &x,
                                      Span<const uint32_t> order) {
  std::vector<bool> seen(x.rank(), false);
  bool isPermutation = order.size() == x.rank();
  for (uint32_t dim : order) {
    isPermutation = isPermutation && dim < x.rank() && !seen[dim];
    if (isPermutation)
      seen[dim] = true;
  }
  std::string text;
  std::vector<Extent> shape;
  bool isIdentity = true;
  for (size_t i = 0; i < order.size(); ++i) {
    text += (i ? ", " : "") + std::to_string(order[i]);
    isIdentity = isIdentity && order[i] == i;
    if (isPermutation)
      shape.push_back(x.shape[order[i]]);
  }
  if (!isPermutation)
    return Status::invalid("order: expected each dimension of " + x.describe() +
                           " once, found [" + text + "]");
  if (isIdentity)
    return x;
  Value destination = empty(x.type, shape);
  destination.name =
      line("linalg.transpose ins(" + x.name + " : " + x.typeText() + ") outs(" +
           destination.name + " : " + destination.typeText() +
           ") permutation = [" + text + "]");
  return destination;
}

Expected<Value> ModuleText::reshape(const Value &x, Span<const int64_t> shape) {
  int64_t known = 1, open = -1;
  std::string text;
  for (size_t i = 0; i < shape.size(); ++i) {
    text += (i ? ", " : "") + std::to_string(shape[i]);
    if (shape[i] >= 0)
      known *= shape[i];
    else if (open >= 0)
      return Status::invalid("shape: expected one size of TRACEA_DYNAMIC at "
                             "most, found [" +
                             text + ", ...]");
    else
      open = static_cast<int64_t>(i);
  }
  Extent count{1, ""};
  bool isOpen = false;
  for (const Extent &extent : x.shape)
    isOpen |= extent.isOpen();
  for (const Extent &extent : x.shape) {
    if (isOpen)
      count = arithmetic("arith.muli", count, extent);
    else
      count.size *= extent.size;
  }
  Value value{"", x.type, {}};
  std::string sizes;
  for (size_t i = 0; i < shape.size(); ++i) {
    Extent extent{shape[i], ""};
    if (shape[i] < 0) {
      if (isOpen)
        extent =
            arithmetic("arith.divui", count, {std::max<int64_t>(known, 1), ""});
      else if (known == 0 || count.size % known != 0)
        return Status::invalid("shape: expected sizes whose product divides "
                               "the elements of " +
                               x.describe() + ", found [" + text + "]");
      else
        extent = {count.size / known, ""};
    }
    value.shape.push_back(extent);
  }
  int64_t total = known;
  if (open < 0 && !isOpen && total != count.size)
    return Status::invalid("shape: expected " + std::to_string(count.size) +
                           " elements, as x has, found [" + text + "]");
  for (const Extent &extent : value.shape)
    sizes += (sizes.empty() ? "" : ", ") +
             (extent.isOpen() ? extent.value : index(extent.size));
  std::string type = "tensor<" + std::to_string(shape.size()) + "xindex>";
  std::string list = line("tensor.from_elements " + sizes + " : " + type);
  value.name = line("tensor.reshape " + x.name + "(" + list + ") : (" +
                    x.typeText() + ", " + type + ") -> " + value.typeText());
  return value;
}

} // namespace tracea::capi
