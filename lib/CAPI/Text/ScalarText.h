//===- ScalarText.h - Arithmetic on elements, as text -----------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_LIB_CAPI_SCALARTEXT_H
#define TRACEA_LIB_CAPI_SCALARTEXT_H

#include "tracea.h"
#include "tracea/Runtime/ElementType.h"

#include <string>

namespace tracea::capi {

/// Lines of a region on scalars of one type, which is f32, f64 or an integer.
class ScalarText {
public:
  ScalarText(std::string indent, runtime::ElementType type)
      : indent(std::move(indent)), type(type) {}

  /// "arith.addf %a, %b : f32", and so on; a new name.
  std::string line(const std::string &text);
  std::string constant(double number);
  std::string call(const char *floatOp, const char *integerOp,
                   const std::string &a, const std::string &b);
  std::string call(const char *op, const std::string &a);
  std::string convert(const std::string &name, runtime::ElementType from,
                      runtime::ElementType to);

  std::string unary(TraceaUnary function, const std::string &x);
  std::string binary(TraceaBinary function, const std::string &a,
                     const std::string &b);

  const std::string &str() const { return text; }

private:
  std::string indent;
  runtime::ElementType type;
  std::string text;
  int count = 0;
};

/// MLIR's name of the type: integers have no sign.
const char *typeName(runtime::ElementType type);

} // namespace tracea::capi

#endif // TRACEA_LIB_CAPI_SCALARTEXT_H
