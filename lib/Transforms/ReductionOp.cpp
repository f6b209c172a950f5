//===- ReductionOp.cpp - Reductions in linalg -----------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ReductionOp.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::tracea;

static ReductionKind getKind(Operation *combiner) {
  if (isa<arith::AddFOp, arith::AddIOp>(combiner))
    return ReductionKind::Add;
  if (isa<arith::MaximumFOp, arith::MaxSIOp>(combiner))
    return ReductionKind::Max;
  if (isa<arith::MinimumFOp, arith::MinSIOp>(combiner))
    return ReductionKind::Min;
  return ReductionKind::None;
}

bool ReductionOp::matchCombiner() {
  Block *body = op.getBlock();
  BlockArgument sum =
      body->getArgument(op.getDpsInitOperand(0)->getOperandNumber());
  Operation *combiner = body->getTerminator()->getOperand(0).getDefiningOp();
  if (!combiner || combiner->getBlock() != body || !sum.hasOneUse() ||
      *sum.user_begin() != combiner)
    return false;
  kind = ::getKind(combiner);
  if (kind == ReductionKind::None)
    return false;
  term = combiner->getOperand(combiner->getOperand(0) == sum ? 1 : 0);
  for (Operation &inner : body->without_terminator())
    if (&inner != combiner && !isEpilogueOperation(&inner))
      return false;
  return term.getType().isIntOrFloat();
}

bool ReductionOp::matchStart() {
  TypedAttr value = getSplatValue(op.getDpsInitOperand(0)->get());
  if (!value)
    return false;
  auto number = dyn_cast<FloatAttr>(value);
  // -0 as well.
  bool changesNothing = number && kind == ReductionKind::Add
                            ? number.getValue().isZero()
                            : value == getNeutralElement(kind, value.getType());
  if (!changesNothing)
    start = value;
  return true;
}

std::optional<ReductionOp> ReductionOp::match(linalg::LinalgOp op) {
  ReductionOp result;
  result.op = op;
  if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 ||
      op.getNumReductionLoops() == 0 ||
      op.getNumReductionLoops() + op.getNumParallelLoops() !=
          op.getNumLoops() ||
      !result.matchCombiner() || !result.matchStart())
    return std::nullopt;
  for (OpOperand &operand : op->getOpOperands())
    if (!op.getMatchingIndexingMap(&operand).isProjectedPermutation(
            /*allowZeroInResults=*/true))
      return std::nullopt;
  return result;
}

Value ReductionOp::emit(ScalarEditor &editor,
                        function_ref<Value(OpOperand &input)> read) const {
  Block *body = op.getBlock();
  IRMapping mapping;
  for (OpOperand *input : op.getDpsInputOperands()) {
    BlockArgument argument = body->getArgument(input->getOperandNumber());
    if (!argument.use_empty())
      mapping.map(argument, isa<RankedTensorType>(input->get().getType())
                                ? read(*input)
                                : editor.readScalar(input->get()));
  }
  auto close = [&](Value value) {
    if (value.getParentBlock() != body && !mapping.contains(value))
      mapping.map(value, editor.readScalar(value));
  };
  Operation *combiner = body->getTerminator()->getOperand(0).getDefiningOp();
  for (Operation &inner : body->without_terminator()) {
    if (&inner == combiner)
      continue;
    for (Value operand : inner.getOperands())
      close(operand);
    editor.getBuilder().clone(inner, mapping);
  }
  close(term);
  return mapping.lookup(term);
}
