//===- ModuleText.cpp - Writes a module of one function -------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Text/ModuleText.h"

#include "Text/ScalarText.h"
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

static Status mismatch(const char *name, const std::string &expected,
                       const Value &found) {
  return Status::invalid(std::string(name) + ": expected " + expected +
                         ", found " + found.describe());
}

/// Whether the two may be equal; the run compares what is open.
static bool mayAgree(const Extent &a, const Extent &b) {
  return a.isOpen() || b.isOpen() || a.size == b.size;
}

static std::string sizeText(const Extent &extent) {
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

/// "affine_map<(d0, d1) -> (d1)>"
static std::string mapText(size_t rank, const std::vector<unsigned> &dims) {
  std::string text = "affine_map<(";
  for (size_t i = 0; i < rank; ++i)
    text += (i ? ", d" : "d") + std::to_string(i);
  text += ") -> (";
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i ? ", d" : "d") + std::to_string(dims[i]);
  return text + ")>";
}

static std::vector<unsigned> allDims(size_t rank) {
  std::vector<unsigned> dims;
  for (unsigned i = 0; i < rank; ++i)
    dims.push_back(i);
  return dims;
}

template <typename Body>
Value ModuleText::elementwise(const std::vector<Extent> &shape,
                              ElementType type,
                              const std::vector<EpilogueOperand> &operands,
                              Body &&write) {
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

//===----------------------------------------------------------------------===//
// Products and convolutions
//===----------------------------------------------------------------------===//

static TraceaUnary functionOf(TraceaEpilogue epilogue) {
  return static_cast<TraceaUnary>(epilogue);
}

std::string ModuleText::epilogueText(const Epilogue &epilogue, size_t rank,
                                     ElementType accumulator,
                                     ElementType type) {
  bool isPlain = epilogue.operands.empty() && epilogue.alpha == 1 &&
                 epilogue.function == TRACEA_EPILOGUE_NONE;
  if (isPlain && type == accumulator)
    return "";
  std::string operands, types, block = "%acc: ";
  block += typeName(accumulator);
  ElementType work = runtime::isFloat(accumulator) || !runtime::isFloat(type)
                         ? accumulator
                         : ElementType::F32;
  bool wantsFloat =
      epilogue.alpha != 1 || epilogue.function > TRACEA_EPILOGUE_RELU6;
  for (const EpilogueOperand &operand : epilogue.operands)
    wantsFloat |= runtime::isFloat(operand.value.type);
  if (wantsFloat && !runtime::isFloat(work))
    work = ElementType::F32;
  ScalarText text("      ", work);
  std::string value = text.convert("%acc", accumulator, work);
  if (epilogue.alpha != 1)
    value = text.call("arith.mulf", "", value, text.constant(epilogue.alpha));
  for (size_t i = 0; i < epilogue.operands.size(); ++i) {
    const EpilogueOperand &operand = epilogue.operands[i];
    std::string name = "%e" + std::to_string(i);
    operands += (i ? ", " : "") + operand.value.name + " by " +
                mapText(rank, operand.dims);
    types += (i ? ", " : "") + operand.value.typeText();
    block += ", " + name + ": " + typeName(operand.value.type);
    value = text.binary(TRACEA_BINARY_ADD, value,
                        text.convert(name, operand.value.type, work));
  }
  if (epilogue.function != TRACEA_EPILOGUE_NONE)
    value = text.unary(functionOf(epilogue.function), value);
  value = text.convert(value, work, type);
  return " epilogue" +
         (operands.empty() ? "" : "(" + operands + " : " + types + ")") +
         " {\n    ^bb0(" + block + "):\n" + text.str() + "      tracea.yield " +
         value + " : " + typeName(type) + "\n    }";
}

static Status checkEpilogue(TraceaEpilogue function, ElementType element) {
  if (function < TRACEA_EPILOGUE_NONE || function > TRACEA_EPILOGUE_TANH)
    return Status::invalid("epilogue: expected a TraceaEpilogue from 0 to 7, "
                           "found " +
                           std::to_string(static_cast<int>(function)));
  (void)element;
  return Status::success();
}

/// What products take.
static Status checkFactors(const char *nameA, const Value &a, const char *nameB,
                           const Value &b) {
  bool isTaken = runtime::isFloat(a.type) || a.type == ElementType::I8;
  if (!isTaken)
    return mismatch(nameA, "floats or i8", a);
  if (a.type != b.type)
    return mismatch(nameB,
                    std::string("elements of ") + nameA + "'s type, " +
                        typeName(a.type),
                    b);
  return Status::success();
}

static Status checkShape(const char *name, const Value &value,
                         const std::vector<Extent> &expected) {
  bool agrees = value.rank() == expected.size();
  for (size_t i = 0; agrees && i < expected.size(); ++i)
    agrees = mayAgree(value.shape[i], expected[i]);
  if (agrees)
    return Status::success();
  Value like{"", value.type, expected};
  return mismatch(name, like.describe(), value);
}

Expected<Value> ModuleText::gemm(const GemmOperands &operands) {
  const Value &a = operands.a, &b = operands.b;
  TRACEA_RETURN_IF_ERROR(checkFactors("a", a, "b", b));
  TRACEA_RETURN_IF_ERROR(checkEpilogue(operands.epilogue.function, a.type));
  if (a.rank() < 2)
    return mismatch("a", "at least 2 dimensions", a);
  if (b.rank() < 2)
    return mismatch("b", "at least 2 dimensions", b);
  if (a.rank() != b.rank() && a.rank() != 2 && b.rank() != 2)
    return mismatch(
        "b", "2 dimensions, or " + std::to_string(a.rank()) + " as a has", b);
  auto at = [](const Value &value, size_t fromEnd) -> const Extent & {
    return value.shape[value.rank() - fromEnd];
  };
  const Extent &m = at(a, operands.transposeA ? 1 : 2);
  const Extent &kA = at(a, operands.transposeA ? 2 : 1);
  const Extent &kB = at(b, operands.transposeB ? 1 : 2);
  const Extent &n = at(b, operands.transposeB ? 2 : 1);
  if (!mayAgree(kA, kB))
    return mismatch(
        "b",
        "k = " + sizeText(kA) + " as a has, in dimension " +
            std::to_string(b.rank() - (operands.transposeB ? 1 : 2)),
        b);
  const Value &batched = a.rank() >= b.rank() ? a : b;
  std::vector<Extent> shape(batched.shape.begin(), batched.shape.end() - 2);
  if (a.rank() == b.rank())
    for (size_t i = 0; i + 2 < a.rank(); ++i)
      if (!mayAgree(a.shape[i], b.shape[i]))
        return mismatch("b",
                        "batch dimension " + std::to_string(i) + " of size " +
                            sizeText(a.shape[i]) + " as a has",
                        b);
  shape.push_back(m);
  shape.push_back(n);
  for (const EpilogueOperand &operand : operands.epilogue.operands) {
    std::vector<Extent> expected;
    for (unsigned dim : operand.dims)
      expected.push_back(shape[dim]);
    TRACEA_RETURN_IF_ERROR(
        checkShape(operand.dims.size() == 1 ? "bias" : "residual",
                   operand.value, expected));
  }
  Value result = empty(operands.type, shape);
  result.name =
      line(std::string("tracea.gemm") +
           (operands.transposeA ? " transpose_lhs" : "") +
           (operands.transposeB ? " transpose_rhs" : "") + " ins(" + a.name +
           ", " + b.name + " : " + a.typeText() + ", " + b.typeText() +
           ") outs(" + result.name + " : " + result.typeText() + ")" +
           epilogueText(operands.epilogue, shape.size(), accumulatorOf(a.type),
                        operands.type));
  return result;
}

Expected<Value> ModuleText::groupedGemm(const Value &a, const Value &b,
                                        const Value &ends, bool transposeB) {
  TRACEA_RETURN_IF_ERROR(checkFactors("a", a, "b", b));
  if (a.rank() != 2)
    return mismatch("a", "2 dimensions, [rows, k]", a);
  if (b.rank() != 3)
    return mismatch("b", "3 dimensions, [groups, k, n]", b);
  if (ends.rank() != 1 ||
      (ends.type != ElementType::I32 && ends.type != ElementType::I64))
    return mismatch("ends", "i32 or i64 of one dimension", ends);
  if (!mayAgree(ends.shape[0], b.shape[0]))
    return mismatch("ends", sizeText(b.shape[0]) + " ends, as b has groups",
                    ends);
  if (!mayAgree(a.shape[1], b.shape[transposeB ? 2 : 1]))
    return mismatch("b", "k = " + sizeText(a.shape[1]) + " as a has", b);
  ElementType type = runtime::isFloat(a.type) ? a.type : ElementType::I32;
  Value result = empty(type, {a.shape[0], b.shape[transposeB ? 1 : 2]});
  result.name = line(std::string("tracea.grouped_gemm") +
                     (transposeB ? " transpose_rhs" : "") + " ins(" + a.name +
                     ", " + b.name + ", " + ends.name + " : " + a.typeText() +
                     ", " + b.typeText() + ", " + ends.typeText() + ") outs(" +
                     result.name + " : " + result.typeText() + ")" +
                     epilogueText({}, 2, accumulatorOf(a.type), type));
  return result;
}

Expected<Value> ModuleText::conv2d(const Conv2DOperands &operands) {
  const Value &x = operands.x, &w = operands.w;
  const TraceaConv2dParams &params = operands.params;
  TRACEA_RETURN_IF_ERROR(checkFactors("x", x, "w", w));
  TRACEA_RETURN_IF_ERROR(checkEpilogue(operands.epilogue.function, x.type));
  if (x.rank() != 4)
    return mismatch("x", "4 dimensions", x);
  if (w.rank() != 4)
    return mismatch("w", "4 dimensions", w);
  size_t c = operands.channelsLast ? 3 : 1, h = operands.channelsLast ? 1 : 2;
  auto filterDim = [&](char dim) { return operands.filter.find(dim); };
  const Extent &filters = w.shape[filterDim('k')];
  const Extent &filterChannels = w.shape[filterDim('c')];
  auto positive = [](const char *name, uint32_t value) {
    return value > 0 && value <= (1u << 30)
               ? Status::success()
               : Status::invalid(std::string(name) +
                                 ": expected a number from 1 to 2^30, found " +
                                 std::to_string(value));
  };
  TRACEA_RETURN_IF_ERROR(positive("stride_h", params.stride_h));
  TRACEA_RETURN_IF_ERROR(positive("stride_w", params.stride_w));
  TRACEA_RETURN_IF_ERROR(positive("dilation_h", params.dilation_h));
  TRACEA_RETURN_IF_ERROR(positive("dilation_w", params.dilation_w));
  TRACEA_RETURN_IF_ERROR(positive("groups", params.groups));
  int64_t groups = params.groups;
  if (!x.shape[c].isOpen() && x.shape[c].size % groups != 0)
    return Status::invalid("groups: expected a divisor of x's " +
                           sizeText(x.shape[c]) + " channels, found " +
                           std::to_string(groups));
  if (!filters.isOpen() && filters.size % groups != 0)
    return Status::invalid("groups: expected a divisor of w's " +
                           sizeText(filters) + " filters, found " +
                           std::to_string(groups));
  if (!x.shape[c].isOpen() && !filterChannels.isOpen() &&
      filterChannels.size * groups != x.shape[c].size)
    return mismatch("w",
                    std::to_string(x.shape[c].size / groups) +
                        " channels, x's " + sizeText(x.shape[c]) + " by " +
                        std::to_string(groups) + " groups",
                    w);
  std::vector<Extent> shape(4);
  shape[0] = x.shape[0];
  shape[c] = filters;
  const uint32_t pads[2][2] = {{params.pad_top, params.pad_bottom},
                               {params.pad_left, params.pad_right}};
  const uint32_t strides[2] = {params.stride_h, params.stride_w};
  const uint32_t dilations[2] = {params.dilation_h, params.dilation_w};
  for (size_t i = 0; i < 2; ++i) {
    const Extent &image = x.shape[h + i];
    const Extent &taps = w.shape[filterDim(i ? 's' : 'r')];
    if (taps.isOpen())
      return mismatch("w", "a filter whose height and width are known", w);
    if (taps.size < 1)
      return mismatch("w", "a filter of one tap at least", w);
    int64_t pad = int64_t(pads[i][0]) + pads[i][1];
    int64_t reach = dilations[i] * (taps.size - 1) + 1;
    if (image.isOpen()) {
      Extent room = arithmetic("arith.addi", image, {pad - reach, ""});
      room = arithmetic("arith.floordivsi", room, {strides[i], ""});
      shape[h + i] = arithmetic("arith.addi", room, {1, ""});
      continue;
    }
    if (image.size + pad < reach)
      return mismatch("w",
                      std::string("a filter within the padded image's ") +
                          std::to_string(image.size + pad) +
                          (i ? " columns" : " rows") + ", found one of " +
                          std::to_string(reach) + ";",
                      w);
    shape[h + i] = {(image.size + pad - reach) / strides[i] + 1, ""};
  }
  for (const EpilogueOperand &operand : operands.epilogue.operands) {
    std::vector<Extent> expected;
    for (unsigned dim : operand.dims)
      expected.push_back(shape[dim]);
    TRACEA_RETURN_IF_ERROR(checkShape(
        operand.dims.size() == 1 ? "b" : "residual", operand.value, expected));
  }
  Value result = empty(operands.type, shape);
  auto pair = [](uint32_t a, uint32_t b) {
    return "[" + std::to_string(a) + ", " + std::to_string(b) + "]";
  };
  result.name = line(
      std::string("tracea.conv2d layout ") +
      (operands.channelsLast ? "nhwc" : "nchw") + " filter " + operands.filter +
      " strides " + pair(params.stride_h, params.stride_w) + " pads [" +
      std::to_string(params.pad_top) + ", " + std::to_string(params.pad_left) +
      ", " + std::to_string(params.pad_bottom) + ", " +
      std::to_string(params.pad_right) + "] dilations " +
      pair(params.dilation_h, params.dilation_w) + " groups " +
      std::to_string(groups) + " ins(" + x.name + ", " + w.name + " : " +
      x.typeText() + ", " + w.typeText() + ") outs(" + result.name + " : " +
      result.typeText() + ")" +
      epilogueText(operands.epilogue, 4, accumulatorOf(x.type), operands.type));
  return result;
}

//===----------------------------------------------------------------------===//
// Attention and rows
//===----------------------------------------------------------------------===//

/// MLIR wants a point in a float.
static std::string numberText(double number) {
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.17e", number);
  return digits;
}

Expected<Value> ModuleText::attention(const Value &q, const Value &k,
                                      const Value &v,
                                      const TraceaAttentionParams &params,
                                      Value *lse) {
  if (!runtime::isFloat(q.type) || runtime::sizeOf(q.type) == 1)
    return mismatch("q", "floats of 16, 32 or 64 bits", q);
  if (q.rank() != 4)
    return mismatch("q", "4 dimensions, [B, H, I, D]", q);
  for (const auto &[name, value] :
       {std::pair<const char *, const Value &>{"k", k}, {"v", v}}) {
    if (value.rank() != 4 || value.type != q.type)
      return mismatch(
          name, std::string(typeName(q.type)) + " of 4 dimensions, as q has",
          value);
    if (!mayAgree(value.shape[0], q.shape[0]))
      return mismatch(name, "B = " + sizeText(q.shape[0]) + " as q has", value);
    if (!q.shape[1].isOpen() && !value.shape[1].isOpen() &&
        (value.shape[1].size == 0 ? q.shape[1].size != 0
                                  : q.shape[1].size % value.shape[1].size != 0))
      return mismatch(name, "heads that divide q's " + sizeText(q.shape[1]),
                      value);
  }
  if (!mayAgree(k.shape[3], q.shape[3]))
    return mismatch("k", "D = " + sizeText(q.shape[3]) + " as q has", k);
  for (size_t i : {1, 2})
    if (!mayAgree(v.shape[i], k.shape[i]))
      return mismatch("v",
                      std::string(i == 1 ? "G = " : "J = ") +
                          sizeText(k.shape[i]) + " as k has",
                      v);
  if (!(params.scale >= 0) || !std::isfinite(params.scale))
    return Status::invalid("scale: expected a positive number, or 0 for "
                           "1/sqrt(D), found " +
                           std::to_string(params.scale));
  std::string options;
  if (params.causal)
    options += " causal";
  if (params.window_left >= 0 || params.window_right >= 0)
    options += " window [" + std::to_string(std::max(params.window_left, -1)) +
               ", " + std::to_string(std::max(params.window_right, -1)) + "]";
  if (params.scale > 0)
    options += " scale " + numberText(params.scale);
  std::vector<Extent> shape = {q.shape[0], q.shape[1], q.shape[2], v.shape[3]};
  Value result = empty(q.type, shape);
  std::string tail, types = " -> " + result.typeText();
  if (lse) {
    *lse = empty(accumulatorOf(q.type), {shape[0], shape[1], shape[2]});
    tail = " lse(" + lse->name + " : " + lse->typeText() + ")";
    types += ", " + lse->typeText();
  }
  std::string text = "tracea.attention" + options + " ins(" + q.name + ", " +
                     k.name + ", " + v.name + " : " + q.typeText() + ", " +
                     k.typeText() + ", " + v.typeText() + ") outs(" +
                     result.name + " : " + result.typeText() + ")" + tail +
                     types;
  if (!lse) {
    result.name = line(text);
    return result;
  }
  std::string name = "%" + std::to_string(numValues++);
  body += "    " + name + ":2 = " + text + "\n";
  result.name = name + "#0";
  lse->name = name + "#1";
  return result;
}

/// A conversion at the end of an operation on rows.
static std::string rowEpilogue(ElementType accumulator, ElementType type) {
  if (accumulator == type)
    return "";
  ScalarText text("      ", accumulator);
  std::string value = text.convert("%acc", accumulator, type);
  return std::string(" epilogue {\n    ^bb0(%acc: ") + typeName(accumulator) +
         "):\n" + text.str() + "      tracea.yield " + value + " : " +
         typeName(type) + "\n    }";
}

Expected<Value> ModuleText::softmax(const Value &x, int64_t dim, bool isLog,
                                    ElementType type) {
  int64_t rank = static_cast<int64_t>(x.rank());
  if (!runtime::isFloat(x.type) || runtime::sizeOf(x.type) == 1)
    return mismatch("x", "floats of 16, 32 or 64 bits", x);
  if (rank < 1)
    return mismatch("x", "at least one dimension", x);
  if (dim < -rank || dim >= rank)
    return Status::invalid(
        "dim: expected a number from " + std::to_string(-rank) + " to " +
        std::to_string(rank - 1) + ", found " + std::to_string(dim));
  size_t axis = static_cast<size_t>(dim < 0 ? dim + rank : dim);
  ElementType accumulator = accumulatorOf(x.type);
  if (!isLog) {
    Value result = empty(type, x.shape);
    result.name =
        line("tracea.softmax dim " + std::to_string(axis) + " ins(" + x.name +
             " : " + x.typeText() + ") outs(" + result.name + " : " +
             result.typeText() + ")" + rowEpilogue(accumulator, type));
    return result;
  }
  // x - max - log(sum(exp(x - max))): the logarithm of a softmax would be that
  // of numbers which have long become zero.
  std::vector<Extent> rows = x.shape;
  rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(axis));
  std::vector<unsigned> kept;
  for (unsigned i = 0; i < x.rank(); ++i)
    if (i != axis)
      kept.push_back(i);
  std::string kinds;
  for (size_t i = 0; i < x.rank(); ++i)
    kinds += std::string(i ? ", " : "") +
             (i == axis ? "\"reduction\"" : "\"parallel\"");
  const char *name = typeName(accumulator);
  auto reduce = [&](const char *start, const std::vector<EpilogueOperand> &ins,
                    const std::string &region, const std::string &value) {
    Value into = fill(accumulator, rows, start);
    std::string maps, names, types, block;
    for (size_t i = 0; i < ins.size(); ++i) {
      maps += mapText(x.rank(), ins[i].dims) + ", ";
      names += (i ? ", " : "") + ins[i].value.name;
      types += (i ? ", " : "") + ins[i].value.typeText();
      block +=
          "%e" + std::to_string(i) + ": " + typeName(ins[i].value.type) + ", ";
    }
    into.name = line("linalg.generic {indexing_maps = [" + maps +
                     mapText(x.rank(), kept) + "], iterator_types = [" + kinds +
                     "]} ins(" + names + " : " + types + ") outs(" + into.name +
                     " : " + into.typeText() + ") {\n    ^bb0(" + block +
                     "%old: " + name + "):\n" + region + "      linalg.yield " +
                     value + " : " + name + "\n    } -> " + into.typeText());
    return into;
  };
  EpilogueOperand element{x, allDims(x.rank())};
  ScalarText most("      ", accumulator);
  std::string value = most.convert("%e0", x.type, accumulator);
  value = most.binary(TRACEA_BINARY_MAXIMUM, value, "%old");
  Value maxima = reduce(accumulator == ElementType::F64 ? "0xFFF0000000000000"
                                                        : "0xFF800000",
                        {element}, most.str(), value);
  ScalarText sum("      ", accumulator);
  value = sum.convert("%e0", x.type, accumulator);
  value = sum.binary(TRACEA_BINARY_SUBTRACT, value, "%e1");
  value = sum.unary(TRACEA_UNARY_EXP, value);
  value = sum.binary(TRACEA_BINARY_ADD, "%old", value);
  Value sums = reduce("0.0", {element, {maxima, kept}}, sum.str(), value);
  return elementwise(
      x.shape, type, {element, {maxima, kept}, {sums, kept}},
      [&](const std::vector<std::string> &scalars) {
        ScalarText text("      ", accumulator);
        std::string out = text.convert(scalars[0], x.type, accumulator);
        out = text.binary(TRACEA_BINARY_SUBTRACT, out, scalars[1]);
        out = text.binary(TRACEA_BINARY_SUBTRACT, out,
                          text.unary(TRACEA_UNARY_LOG, scalars[2]));
        out = text.convert(out, accumulator, type);
        return text.str() + "      linalg.yield " + out + " : " +
               typeName(type) + "\n";
      });
}

Expected<Value> ModuleText::norm(bool isLayerNorm, const Value &x,
                                 const Value &scale, const Value &bias,
                                 double epsilon, ElementType type) {
  if (!runtime::isFloat(x.type) || runtime::sizeOf(x.type) == 1)
    return mismatch("x", "floats of 16, 32 or 64 bits", x);
  if (x.rank() < 1)
    return mismatch("x", "at least one dimension", x);
  if (!(epsilon >= 0) || !std::isfinite(epsilon))
    return Status::invalid("epsilon: expected a number of at least 0, found " +
                           std::to_string(epsilon));
  size_t inner = !scale.name.empty()  ? scale.rank()
                 : !bias.name.empty() ? bias.rank()
                                      : 1;
  std::string operands;
  for (const auto &[name, value] :
       {std::pair<const char *, const Value &>{"scale", scale},
        {"bias", bias}}) {
    if (value.name.empty())
      continue;
    if (!runtime::isFloat(value.type))
      return mismatch(name, "floats", value);
    if (value.rank() < 1 || value.rank() > x.rank() || value.rank() != inner)
      return mismatch(name, "x's last dimensions, " + x.describe(), value);
    TRACEA_RETURN_IF_ERROR(checkShape(
        name, value,
        {x.shape.end() - static_cast<std::ptrdiff_t>(inner), x.shape.end()}));
    operands += std::string(" ") + name + "(" + value.name + " : " +
                value.typeText() + ")";
  }
  Value result = empty(type, x.shape);
  result.name =
      line(std::string(isLayerNorm ? "tracea.layer_norm" : "tracea.rms_norm") +
           " axis " + std::to_string(x.rank() - inner) + " epsilon " +
           numberText(epsilon) + " ins(" + x.name + " : " + x.typeText() + ")" +
           operands + " outs(" + result.name + " : " + result.typeText() + ")" +
           rowEpilogue(accumulatorOf(x.type), type));
  return result;
}

} // namespace tracea::capi
