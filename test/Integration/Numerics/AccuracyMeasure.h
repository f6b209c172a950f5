//===- AccuracyMeasure.h - Errors in the last place -------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of `math` with their exact values, arguments that are hard for
// them, and the largest error of a program on these. Needs no compiler.

#ifndef TRACEA_TEST_INTEGRATION_NUMERICS_ACCURACYMEASURE_H
#define TRACEA_TEST_INTEGRATION_NUMERICS_ACCURACYMEASURE_H

#include "tracea/Runtime/ElementType.h"
#include "tracea/Runtime/Executable.h"

#include <map>
#include <string>
#include <vector>

namespace tracea::accuracy {

using Exact = long double;

/// One function of `math`.
struct Function {
  const char *name;
  Exact (*exact)(Exact x, Exact y);
  double (*libm)(double x, double y);
  /// Where results are neither constant nor infinite.
  double low, high;
  bool binary = false;
};
const std::vector<Function> &functions();

/// The floats of a type.
struct Format {
  runtime::ElementType type;
  int digits, leastExponent, largestExponent;
};
extern const Format f64, f32, f16, bf16;

/// Where the function stands: in a loop, or in the epilogue of a product with
/// one, which has no negative zeros.
enum class Form { Loop, Epilogue };

struct Worst {
  double units = 0;
  double x = 0, y = 0;
};

/// The largest error of libm in f64.
void measureLibm(const Function &function, int count, Worst &worst);
/// The largest error of the entry with the function's name, which takes two
/// vectors, the second one of them in vain where the function is unary.
runtime::Status measureProgram(runtime::Executable &program,
                               const Function &function, const Format &format,
                               Form form, int count, Worst &worst);

/// Rounded up to two digits.
std::string formatUnits(double units);

} // namespace tracea::accuracy

#endif // TRACEA_TEST_INTEGRATION_NUMERICS_ACCURACYMEASURE_H
