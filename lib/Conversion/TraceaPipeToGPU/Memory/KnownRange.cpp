//===- KnownRange.cpp - What an index is known to lie between -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each operation says by its interface what its operands' ranges make of its
// result; they are followed back from one index, where a dataflow analysis
// would look at the whole kernel.
//
//===----------------------------------------------------------------------===//

#include "tracea/Conversion/TraceaPipeToGPU/KnownRange.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Operations that are followed back, one behind the other. What is used twice
/// is looked at twice.
static constexpr unsigned kMostDepth = 12;

static ConstantIntRanges getRange(Value value, unsigned depth);

/// From `low` to below `end`, unless that may be nothing.
static ConstantIntRanges getRangeBelow(const ConstantIntRanges &low,
                                       const ConstantIntRanges &end) {
  if (end.smax().sle(low.smin()))
    return ConstantIntRanges::maxRange(low.smin().getBitWidth());
  return ConstantIntRanges::fromSigned(low.smin(), end.smax() - 1);
}

/// What an index counts to: the extent of the grid that it is a number in.
static Value getExtentOfGrid(Value index) {
  if (auto raster = index.getDefiningOp<RasterOp>())
    return index == raster.getRow() ? raster.getRows() : raster.getColumns();
  auto argument = dyn_cast<BlockArgument>(index);
  if (!argument)
    return Value();
  auto tiles = dyn_cast<TilesOp>(argument.getOwner()->getParentOp());
  return tiles ? tiles.getBounds()[argument.getArgNumber()] : Value();
}

static ConstantIntRanges getRange(Value value, unsigned depth) {
  unsigned width = ConstantIntRanges::getStorageBitwidth(value.getType());
  ConstantIntRanges any = ConstantIntRanges::maxRange(width);
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return ConstantIntRanges::constant(constant);
  if (width == 0 || depth == kMostDepth)
    return any;
  if (auto loop = scf::getForInductionVarOwner(value)) {
    if (loop.getUnsignedCmp())
      return any;
    // The body runs for the lower bound first, and below the upper one.
    return getRangeBelow(getRange(loop.getLowerBound(), depth + 1),
                         getRange(loop.getUpperBound(), depth + 1));
  }
  if (Value extent = getExtentOfGrid(value))
    return getRangeBelow(ConstantIntRanges::constant(APInt(width, 0)),
                         getRange(extent, depth + 1));
  auto op = value.getDefiningOp<InferIntRangeInterface>();
  if (!op)
    return any;
  SmallVector<ConstantIntRanges> operands;
  for (Value operand : op->getOperands())
    operands.push_back(getRange(operand, depth + 1));
  ConstantIntRanges result = any;
  op.inferResultRanges(operands, [&](Value of, const ConstantIntRanges &range) {
    if (of == value)
      result = range;
  });
  return result;
}

std::optional<KnownRange> mlir::tracea_pipe::getKnownRange(Value index) {
  ConstantIntRanges range = getRange(index, 0);
  // Differences are to fit as well.
  constexpr int64_t kMost = int64_t(1) << 62;
  if (range.smin().slt(-kMost) || range.smax().sgt(kMost - 1))
    return std::nullopt;
  return KnownRange{range.smin().getSExtValue(), range.smax().getSExtValue()};
}
