//===- StoredDigits.cpp - What is left of a value in the end --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Arithmetic/StoredDigits.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Of integers and indices every bit counts.
static unsigned getDigits(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return element ? element.getFPMantissaWidth() : ~0u;
}

unsigned StoredDigits::of(Value value) {
  if (auto found = known.find(value); found != known.end())
    return found->second;
  unsigned digits = 0;
  for (Operation *user : value.getUsers()) {
    bool isFollowed =
        isa_and_present<arith::ArithDialect, math::MathDialect,
                        vector::VectorDialect>(user->getDialect()) &&
        user->getNumResults() != 0 && user->getNumRegions() == 0 &&
        isPure(user);
    // Whatever else has the value has all of it.
    if (!isFollowed)
      digits = std::max(digits, getDigits(value.getType()));
    else if (isa<arith::TruncFOp>(user))
      digits = std::max(digits, getDigits(user->getResult(0).getType()));
    else
      for (Value result : user->getResults())
        digits = std::max(digits, of(result));
  }
  return known[value] = digits;
}
