//===- ModuleRows.cpp - Attention and rows as text ----------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Text/ModuleText.h"
#include "Text/ScalarText.h"
#include "Text/TextPieces.h"
#include "tracea/Runtime/Tensor.h"

#include <cmath>
#include <cstdio>

namespace tracea::capi {

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
