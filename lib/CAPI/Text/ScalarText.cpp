//===- ScalarText.cpp - Arithmetic on elements, as text -------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Text/ScalarText.h"

#include <cmath>
#include <cstdio>
#include <cstring>

namespace tracea::capi {

using runtime::ElementType;

const char *typeName(ElementType type) { return runtime::nameOf(type); }

std::string ScalarText::line(const std::string &operation) {
  std::string name = "%s" + std::to_string(count++);
  text += indent + name + " = " + operation + "\n";
  return name;
}

std::string ScalarText::constant(double number) {
  if (!runtime::isFloat(type))
    return line("arith.constant " +
                std::to_string(static_cast<int64_t>(number)) + " : " +
                typeName(type));
  char digits[40];
  // MLIR reads hexadecimal bits where decimals do not do.
  if (std::isfinite(number)) {
    std::snprintf(digits, sizeof digits, "%.17e", number);
  } else if (type == ElementType::F64) {
    uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    std::snprintf(digits, sizeof digits, "0x%016llX",
                  static_cast<unsigned long long>(bits));
  } else {
    float narrow = static_cast<float>(number);
    uint32_t bits = 0;
    std::memcpy(&bits, &narrow, sizeof bits);
    std::snprintf(digits, sizeof digits, "0x%08X", bits);
  }
  return line("arith.constant " + std::string(digits) + " : " + typeName(type));
}

std::string ScalarText::call(const char *floatOp, const char *integerOp,
                             const std::string &a, const std::string &b) {
  return line(std::string(runtime::isFloat(type) ? floatOp : integerOp) + " " +
              a + ", " + b + " : " + typeName(type));
}

std::string ScalarText::call(const char *op, const std::string &a) {
  return line(std::string(op) + " " + a + " : " + typeName(type));
}

std::string ScalarText::convert(const std::string &name, ElementType from,
                                ElementType to) {
  if (from == to)
    return name;
  int64_t sizeFrom = runtime::sizeOf(from), sizeTo = runtime::sizeOf(to);
  bool fromFloat = runtime::isFloat(from), toFloat = runtime::isFloat(to);
  const char *op = nullptr;
  if (fromFloat && toFloat) {
    // Between two formats of one size by way of f32, which has both.
    if (sizeFrom == sizeTo)
      return convert(convert(name, from, ElementType::F32), ElementType::F32,
                     to);
    op = sizeFrom < sizeTo ? "arith.extf" : "arith.truncf";
  } else if (fromFloat) {
    op = "arith.fptosi";
  } else if (toFloat) {
    op = from == ElementType::I1 ? "arith.uitofp" : "arith.sitofp";
  } else if (from == ElementType::I1) {
    op = "arith.extui";
  } else if (to == ElementType::I1 || sizeFrom > sizeTo) {
    op = "arith.trunci";
  } else {
    op = "arith.extsi";
  }
  return line(std::string(op) + " " + name + " : " + typeName(from) + " to " +
              typeName(to));
}

std::string ScalarText::unary(TraceaUnary function, const std::string &x) {
  // 1 + exp(-x)
  auto logisticDivisor = [&] {
    std::string grown = call("math.exp", call("arith.negf", x));
    return call("arith.addf", "", constant(1), grown);
  };
  switch (function) {
  case TRACEA_UNARY_RELU:
    return call("arith.maximumf", "arith.maxsi", x, constant(0));
  case TRACEA_UNARY_RELU6:
    return call("arith.minimumf", "arith.minsi",
                call("arith.maximumf", "arith.maxsi", x, constant(0)),
                constant(6));
  case TRACEA_UNARY_SILU:
    return call("arith.divf", "", x, logisticDivisor());
  case TRACEA_UNARY_SIGMOID: {
    std::string one = constant(1);
    return call("arith.divf", "", one, logisticDivisor());
  }
  case TRACEA_UNARY_GELU: {
    std::string scaled = call("arith.mulf", "", x, constant(std::sqrt(0.5)));
    std::string one =
        call("arith.addf", "", call("math.erf", scaled), constant(1));
    return call("arith.mulf", "", call("arith.mulf", "", x, constant(0.5)),
                one);
  }
  case TRACEA_UNARY_GELU_TANH: {
    std::string cube = call("arith.mulf", "", call("arith.mulf", "", x, x), x);
    std::string inner = call("arith.addf", "", x,
                             call("arith.mulf", "", cube, constant(0.044715)));
    inner = call("math.tanh", call("arith.mulf", "", inner,
                                   constant(0.79788456080286535588)));
    return call("arith.mulf", "", call("arith.mulf", "", x, constant(0.5)),
                call("arith.addf", "", inner, constant(1)));
  }
  case TRACEA_UNARY_TANH:
    return call("math.tanh", x);
  case TRACEA_UNARY_NEGATE:
    return runtime::isFloat(type) ? call("arith.negf", x)
                                  : call("", "arith.subi", constant(0), x);
  case TRACEA_UNARY_ABS:
    return call(runtime::isFloat(type) ? "math.absf" : "math.absi", x);
  case TRACEA_UNARY_EXP:
    return call("math.exp", x);
  case TRACEA_UNARY_LOG:
    return call("math.log", x);
  case TRACEA_UNARY_SQRT:
    return call("math.sqrt", x);
  case TRACEA_UNARY_RSQRT:
    return call("math.rsqrt", x);
  }
  return x;
}

std::string ScalarText::binary(TraceaBinary function, const std::string &a,
                               const std::string &b) {
  switch (function) {
  case TRACEA_BINARY_ADD:
    return call("arith.addf", "arith.addi", a, b);
  case TRACEA_BINARY_SUBTRACT:
    return call("arith.subf", "arith.subi", a, b);
  case TRACEA_BINARY_MULTIPLY:
    return call("arith.mulf", "arith.muli", a, b);
  case TRACEA_BINARY_DIVIDE:
    return call("arith.divf", "", a, b);
  case TRACEA_BINARY_MAXIMUM:
    return call("arith.maximumf", "arith.maxsi", a, b);
  case TRACEA_BINARY_MINIMUM:
    return call("arith.minimumf", "arith.minsi", a, b);
  }
  return a;
}

} // namespace tracea::capi
