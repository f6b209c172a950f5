//===- ShapeChecks.cpp - Extents that the host compares -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ShapeChecks.h"
#include "SizeBuilder.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "tracea/Dialect/TraceaPipe/Utils/HostScalars.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

void mlir::tracea::assertShapes(linalg::LinalgOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SizeBuilder size(builder, loc);
  struct Axis {
    OpOperand *operand;
    unsigned dim;
  };
  auto extent = [&](Axis axis) -> OpFoldResult {
    return memref::getMixedSize(builder, loc, axis.operand->get(), axis.dim);
  };
  auto isStatic = [&](Axis axis) {
    return !cast<MemRefType>(axis.operand->get().getType())
                .isDynamicDim(axis.dim);
  };
  auto compare = [&](arith::CmpIPredicate predicate, OpFoldResult a,
                     OpFoldResult b) -> Value {
    Value lhs = size.value(a), rhs = size.value(b);
    return arith::CmpIOp::create(builder, loc, predicate, lhs, rhs);
  };
  auto check = [&](Value holds, const Twine &message) {
    cf::AssertOp::create(builder, loc, holds,
                         "'" + op->getName().getStringRef().str() + "' " +
                             message.str());
  };

  SmallVector<std::optional<Axis>> loops(op.getNumLoops());
  SmallVector<std::pair<Axis, AffineExpr>> others;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      Axis axis = {&operand, unsigned(dim)};
      auto loop = dyn_cast<AffineDimExpr>(expr);
      if (!loop) {
        others.emplace_back(axis, expr);
        continue;
      }
      std::optional<Axis> &first = loops[loop.getPosition()];
      if (!first) {
        first = axis;
        continue;
      }
      if (isStatic(*first) && isStatic(axis))
        continue;
      check(compare(arith::CmpIPredicate::eq, extent(*first), extent(axis)),
            "expects dimension " + Twine(dim) + " of operand #" +
                Twine(operand.getOperandNumber()) +
                " to be as long as dimension " + Twine(first->dim) +
                " of operand #" + Twine(first->operand->getOperandNumber()));
    }
  }
  for (auto [axis, expr] : others) {
    std::optional<LinearForm> form = tryGetLinearForm(expr, loops.size());
    if (!form)
      continue;
    // The points at which the index is smallest and largest.
    SmallVector<OpFoldResult> first, last;
    bool known = true;
    // Without iterations nothing is read.
    Value empty;
    auto orEmpty = [&](Value other) -> Value {
      return empty ? arith::OrIOp::create(builder, loc, empty, other) : other;
    };
    for (auto [loop, factor] : llvm::zip_equal(loops, form->coefficients)) {
      OpFoldResult zero = size.constant(0);
      if (!loop) {
        first.push_back(zero);
        last.push_back(zero);
        continue;
      }
      if (factor != 0)
        known &= isStatic(*loop);
      if (!isStatic(*loop))
        empty = orEmpty(compare(arith::CmpIPredicate::eq, extent(*loop), zero));
      OpFoldResult end = size.sub(extent(*loop), size.constant(1));
      first.push_back(factor < 0 ? end : zero);
      last.push_back(factor < 0 ? zero : end);
    }
    AffineMap index = AffineMap::get(loops.size(), 0, expr);
    auto at = [&](ArrayRef<OpFoldResult> point) {
      return affine::makeComposedFoldedAffineApply(builder, loc, index, point);
    };
    std::string where = " dimension " + std::to_string(axis.dim) +
                        " of operand #" +
                        std::to_string(axis.operand->getOperandNumber());
    if (!known &&
        llvm::any_of(form->coefficients, [](int64_t c) { return c < 0; }))
      check(orEmpty(compare(arith::CmpIPredicate::sge, at(first),
                            size.constant(0))),
            "reads before" + Twine(where));
    if (!known || !isStatic(axis))
      check(orEmpty(compare(arith::CmpIPredicate::slt, at(last), extent(axis))),
            "reads beyond" + Twine(where));
  }
}

void mlir::tracea::assertExtents(memref::CastOp cast) {
  auto from = dyn_cast<MemRefType>(cast.getSource().getType());
  auto to = dyn_cast<MemRefType>(cast.getType());
  if (!from || !to)
    return;
  OpBuilder builder(cast);
  Location loc = cast.getLoc();
  SizeBuilder size(builder, loc);
  for (int64_t dim = 0; dim < from.getRank(); ++dim) {
    if (!from.isDynamicDim(dim) || to.isDynamicDim(dim))
      continue;
    int64_t expected = to.getDimSize(dim);
    Value extent =
        size.value(memref::getMixedSize(builder, loc, cast.getSource(), dim));
    Value holds =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, extent,
                              size.value(size.constant(expected)));
    cf::AssertOp::create(
        builder, loc, holds,
        ("dimension " + Twine(dim) + " is expected to be " + Twine(expected))
            .str());
  }
}

void mlir::tracea::assertIndices(memref::LoadOp load) {
  OpBuilder builder(load);
  Location loc = load.getLoc();
  SizeBuilder size(builder, loc);
  for (int64_t dim = 0; dim < load.getMemRefType().getRank(); ++dim) {
    Value index = load.getIndices()[dim];
    std::optional<int64_t> number = getConstantIntValue(index);
    bool isStatic = !load.getMemRefType().isDynamicDim(dim);
    if (!isExpressible(index) || (number && isStatic))
      continue;
    auto check = [&](arith::CmpIPredicate predicate, OpFoldResult bound,
                     const Twine &message) {
      Value holds = arith::CmpIOp::create(builder, loc, predicate, index,
                                          size.value(bound));
      cf::AssertOp::create(builder, loc, holds,
                           (message + " dimension " + Twine(dim)).str());
    };
    if (!number)
      check(arith::CmpIPredicate::sge, size.constant(0),
            "an element is read before");
    check(arith::CmpIPredicate::slt,
          memref::getMixedSize(builder, loc, load.getMemRef(), dim),
          "an element is read beyond");
  }
}
