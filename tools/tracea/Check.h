//===- Check.h - Results against the float64 meaning ------------*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bound. With y a result, r the same result of the float64 reference on the
// same inputs:
//
//     max |y - r|  <=  bound * max |r|,
//     bound = 4 eps(S) + 32 eps(A) sqrt(n)  [+ 2 eps(N) sqrt(m)]
//
// S is the float type with the fewest bits that occurs in the module: every
// value may have been rounded to it once or twice on the way. A is what sums
// are kept in, f64 where all floats are f64 and f32 otherwise. n is the length
// of all float reductions of the module, added up: rounding errors of a sum are
// independent enough to grow with the root of its length (Higham and Mary, "A
// New Approach to Probabilistic Rounding Error Analysis", 2019). eps is the
// distance of 1 to the next number. The last term stands only where plain loops
// keep sums of the total length m in a type N narrower than f32, because the
// module says so and no variant covers the operation. The maximum is over the
// elements of one result; where r is all but zero the smallest normal number
// stands in for it.
//
// An element is NaN in both or in neither. An infinity is right where r rounds
// to it in the result's type, or is within the bound of doing so. Integers must
// be equal.

#ifndef TRACEA_TOOLS_TRACEA_CHECK_H
#define TRACEA_TOOLS_TRACEA_CHECK_H

#include "Compare.h"

namespace tracea::driver {

class Session;

struct CheckResult {
  bool passed = true;
  std::vector<OutputCheck> outputs;
  /// How the bound came about.
  std::string boundText;
};

/// Compiles and runs the reference of the session's module and compares.
/// `tolerance` replaces the bound where it is not negative.
Expected<CheckResult> checkOutputs(Session &session,
                                   const std::vector<runtime::Tensor> &outputs,
                                   double tolerance = -1);

std::string formatCheck(const CheckResult &result);
nlohmann::ordered_json toJSON(const CheckResult &result);

} // namespace tracea::driver

#endif // TRACEA_TOOLS_TRACEA_CHECK_H
