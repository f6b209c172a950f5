//===- NumericsCompare.cpp - Results against what is right ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NumericsCompare.h"

#include <cmath>
#include <cstdio>

using namespace tracea;
using namespace tracea::numerics;

static bool isRight(ElementType type, double got, Approx expected) {
  Real value = expected.value;
  if (isInteger(type))
    return got == double(value);
  Real error = expected.error;
  // Between the bounds as they are is between them when they are rounded, which
  // takes long where extended precision is emulated.
  if (std::fabs(Real(got) - value) <= error)
    return true;
  if (std::isinf(error) || (std::isnan(error) && !std::isnan(value)))
    return true;
  if (std::isnan(value))
    return std::isnan(got);
  if (std::isinf(value))
    return got == double(value);
  Real low = roundTo(type, value - error), high = roundTo(type, value + error);
  return low <= got && got <= high;
}

static std::string number(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.9g", value);
  return buffer;
}

std::string
numerics::compare(const ExpectedTensor &expected,
                  const std::function<double(const Shape &index)> &read) {
  int64_t wrong = 0;
  std::string first;
  forEachIndex(expected.shape, [&](const Shape &index, int64_t linear) {
    double got = read(index);
    const Approx &want = expected.values[linear];
    if (isRight(expected.type, got, want))
      return;
    if (wrong++ == 0)
      first = "at " + listOf(index) + " expected " +
              number(double(want.value)) + " within " +
              number(double(want.error)) + ", found " + number(got);
  });
  if (wrong == 0)
    return "";
  return first + " (" + std::to_string(wrong) + " of " +
         std::to_string(countOf(expected.shape)) + " wrong)";
}
