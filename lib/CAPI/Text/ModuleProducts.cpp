//===- ModuleProducts.cpp - Products as text ------------------------------===//
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

namespace tracea::capi {

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

Status checkEpilogue(TraceaEpilogue function) {
  if (function < TRACEA_EPILOGUE_NONE || function > TRACEA_EPILOGUE_TANH)
    return Status::invalid("epilogue: expected a TraceaEpilogue from 0 to 7, "
                           "found " +
                           std::to_string(static_cast<int>(function)));
  return Status::success();
}

Status checkFactors(const char *nameA, const Value &a, const char *nameB,
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

Status checkShape(const char *name, const Value &value,
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
  TRACEA_RETURN_IF_ERROR(checkEpilogue(operands.epilogue.function));
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

} // namespace tracea::capi
