//===- Verification.cpp - Checks shared by the operations -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Verification.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"
#include <limits>

using namespace mlir;
using namespace mlir::tracea;

LogicalResult mlir::tracea::verifyRank(Operation *op, StringRef name, Type type,
                                       int64_t rank) {
  int64_t found = cast<RankedTensorType>(type).getRank();
  if (found == rank)
    return success();
  return op->emitOpError("expected ")
         << name << " to have rank " << rank << ", found " << found;
}

LogicalResult mlir::tracea::verifyExtent(Operation *op, StringRef what,
                                         StringRef expectedIn, int64_t expected,
                                         StringRef foundIn, int64_t found) {
  if (areCompatibleExtents(expected, found))
    return success();
  return op->emitOpError("expected ")
         << foundIn << " to have " << what << " = " << expected << " as "
         << expectedIn << " has, found " << found;
}

LogicalResult mlir::tracea::verifySameShape(Operation *op, StringRef expectedIn,
                                            ArrayRef<int64_t> expected,
                                            StringRef foundIn,
                                            ArrayRef<int64_t> found) {
  for (auto [dim, extents] :
       llvm::enumerate(llvm::zip_equal(expected, found))) {
    auto [expectedExtent, foundExtent] = extents;
    if (failed(verifyExtent(op, ("dimension " + Twine(dim)).str(), expectedIn,
                            expectedExtent, foundIn, foundExtent)))
      return failure();
  }
  return success();
}

LogicalResult mlir::tracea::verifyFloat(Operation *op, StringRef name,
                                        Type elementType) {
  if (elementType.isF64() || elementType.isF32() || elementType.isF16() ||
      elementType.isBF16())
    return success();
  return op->emitOpError("expected ")
         << name << " to have elements of type f64, f32, f16 or bf16, found "
         << elementType;
}

LogicalResult mlir::tracea::verifyAccumulator(Operation *op, Type elementType,
                                              Type accumulator) {
  if (isValidAccumulator(elementType, accumulator))
    return success();
  StringRef expected = isa<IntegerType>(elementType) ? "i32"
                       : elementType.isF64()         ? "f64"
                                                     : "f32 or f64";
  return op->emitOpError("expected an accumulator of type ")
         << expected << " for elements of type " << elementType << ", found "
         << accumulator;
}

LogicalResult mlir::tracea::verifyDimension(Operation *op, StringRef name,
                                            int64_t value, int64_t rank) {
  if (value >= 0 && value < rank)
    return success();
  return op->emitOpError("expected '")
         << name << "' in [0, " << rank << "), the dimensions of the input, "
         << "found " << value;
}

LogicalResult mlir::tracea::verifyEntries(Operation *op, StringRef name,
                                          ArrayRef<int64_t> entries,
                                          size_t count, int64_t minimum) {
  if (entries.size() != count)
    return op->emitOpError("expected ")
           << count << " entries in '" << name << "', found " << entries.size();
  for (int64_t entry : entries)
    if (entry < minimum || entry > std::numeric_limits<int32_t>::max())
      return op->emitOpError("expected entries of '")
             << name << "' in [" << minimum << ", 2^31), found " << entry;
  return success();
}
