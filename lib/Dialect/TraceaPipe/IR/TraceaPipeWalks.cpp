//===- TraceaPipeWalks.cpp - Coordinates that a dimension walks through ---===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

LogicalResult WalkType::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t coordinates) {
  if (coordinates >= 1 && coordinates <= 8)
    return success();
  return emitError() << "a walk goes through 1 to 8 coordinates, found "
                     << coordinates;
}

LogicalResult DelinearizeOp::verify() {
  int64_t expected = getBasis().size() + 1;
  int64_t coordinates = getResult().getType().getCoordinates();
  if (coordinates != expected)
    return emitOpError() << "expects a walk through one coordinate more than "
                            "the basis has extents ("
                         << expected << "), found " << coordinates;
  for (auto [number, extent] : llvm::enumerate(getBasis()))
    if (std::optional<int64_t> known =
            getConstantIntValue(getAsOpFoldResult(extent));
        known && (*known < 1 || *known > INT32_MAX))
      return emitOpError() << "expects extents of 1 to 2^31 - 1 in its basis, "
                              "found "
                           << *known << " as extent " << number;
  return success();
}
