//===- IndexValues.cpp - Index values as expressions ----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IndexContext.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
using cov::Expr;
using cov::Term;

Expr IndexContext::get(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant;
  return get(cast<Value>(value));
}

Expr IndexContext::get(Value value) {
  if (auto it = values.find(value); it != values.end())
    return it->second;
  Expr expr = translate(value);
  values[value] = expr;
  return expr;
}

Expr IndexContext::translate(Value value) {
  IntegerAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant.getValue().getSignificantBits() <= 64
               ? Expr(constant.getValue().getSExtValue())
               : Expr::invalid();
  if (auto argument = dyn_cast<BlockArgument>(value))
    return translateArgument(argument);
  return translateOp(value.getDefiningOp(),
                     cast<OpResult>(value).getResultNumber());
}

cov::Range IndexContext::getNumberRange(MemRefType memory) {
  if (memory.getElementType().isInteger(1))
    return cov::Range(2);
  if (memory.getElementType().isInteger(32))
    return cov::Range(Expr(INT32_MIN), Expr(int64_t(INT32_MAX) + 1));
  return cov::Range::from(INT64_MIN / 4);
}

/// What the type of a value says.
static cov::Range getTypeRange(Value value) {
  if (auto read = value.getDefiningOp<ReadOp>())
    return IndexContext::getNumberRange(read.getSource().getType());
  return cov::Range::from(INT64_MIN / 4);
}

/// A value of which nothing else is known: a size if all of the grid sees one
/// value.
Expr IndexContext::opaque(Value value, const Twine &why) {
  Operation *parent = value.getParentRegion()->getParentOp();
  cov::Range range = getTypeRange(value);
  Term term = isa<KernelOp>(parent) ? math.space.symbol("unknown", range)
                                    : math.space.id("unknown", range);
  describe(term, parent, "an unknown value");
  kernel.abstractions[term] = why.str();
  return term;
}

Expr IndexContext::translateArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto kernelOp = dyn_cast<KernelOp>(parent))
    return argument.getType().isIntOrIndex()
               ? kernel.getSize(argument.getArgNumber(), -1)
               : opaque(argument, "an argument that is no integer");
  bool isEntered = llvm::TypeSwitch<Operation *, bool>(parent)
                       .Case<TilesOp, RoleOp, scf::ForallOp>([&](auto outer) {
                         enter(outer);
                         return true;
                       })
                       .Case([&](scf::ForOp loop) {
                         if (argument != loop.getInductionVar())
                           return false;
                         enter(loop);
                         return true;
                       })
                       .Default([](Operation *) { return false; });
  if (isEntered)
    if (auto it = values.find(argument); it != values.end())
      return it->second;
  return opaque(argument, "a value that a loop carries");
}

Expr IndexContext::nonNegative(Operation *op, Expr expr) {
  if (!math.isNonNegative(expr))
    obligations.push_back({op, expr});
  return expr;
}

/// What is divided by. The host stops at sizes that are 0; what changes while
/// the kernel runs has to be shown to be at least 1.
Expr IndexContext::divisor(Operation *op, const Expr &expr) {
  if (expr.isValid() && !math.space.isSymbolic(expr))
    nonNegative(op, expr - 1);
  return kernel.atLeastOne(expr);
}

std::pair<Expr, Expr> IndexContext::split(Operation *op, Term whole,
                                          Expr divisor, Expr extentOfRest) {
  auto [it, inserted] =
      splits.try_emplace({whole, extentOfRest}, Expr(), Expr());
  if (!inserted)
    return it->second;
  // By 0 nothing is divided: the extents have it as it is.
  const cov::Range range = math.space.range(whole);
  Expr extent = 0;
  if (range.upper) {
    extent = isMultiple(range.upper, extentOfRest)
                 ? math.getQuotientExtent(*range.upper, extentOfRest)
                 : math.ceilDiv(*range.upper, divisor);
  }
  Term quotient = math.space.coordinate("quotient", cov::Range(extent));
  Term rest = math.space.coordinate("rest", cov::Range(extentOfRest));
  describe(quotient, op, "the quotient of " + kernel.names[whole]);
  describe(rest, op, "the remainder of " + kernel.names[whole]);
  stages.push_back({"split", cov::EuclidStage{cov::EuclidStage::Split, whole,
                                              quotient, rest, divisor,
                                              /*masked=*/false}});
  consume(whole);
  return it->second = {quotient, rest};
}

/// How many of an extent make a constant, where the extent is a product: any
/// number up to the constant.
std::optional<Expr> IndexContext::getShare(Operation *op, const Expr &number,
                                           const Expr &extent) {
  std::optional<int64_t> constant = math.getConstant(number);
  if (!constant || *constant < 0 || math.getConstant(extent) ||
      !math.hasProduct(extent) ||
      math.getInterval(extent).lower.value_or(0) < 1)
    return std::nullopt;
  Term share = math.space.symbol("share", cov::Range(Expr(*constant) + 1));
  describe(share, op, "a share of " + Twine(*constant));
  kernel.abstractions[share] = "a constant divided by a size";
  return share;
}

/// Whether one divides the other, whatever the sizes are.
bool IndexContext::isMultiple(const std::optional<Expr> &end,
                              const Expr &divisor) {
  return end &&
         math.product(math.getQuotientExtent(*end, divisor), divisor) == *end;
}

/// The end of what a term counts from 0, if it is one of sizes.
std::optional<Expr> IndexContext::getEnd(Term term) {
  switch (math.space.kind(term)) {
  case cov::TermKind::Id:
  case cov::TermKind::Coordinate: {
    const cov::Range range = math.space.range(term);
    return range.lower == Expr(0) ? range.upper : std::nullopt;
  }
  case cov::TermKind::Quotient: {
    std::optional<Term> whole = getSingleTerm(math.space.operand(term, 0));
    const Expr divisor = math.space.operand(term, 1);
    std::optional<Expr> end = whole ? getEnd(*whole) : std::nullopt;
    if (!end)
      return std::nullopt;
    return isMultiple(end, divisor)
               ? std::optional(math.getQuotientExtent(*end, divisor))
               : std::nullopt;
  }
  default:
    return std::nullopt;
  }
}

/// Quotient and remainder of a number below a multiple of the divisor, each by
/// itself: L2 says where they end, which is all that an access needs.
std::optional<std::pair<Expr, Expr>>
IndexContext::getDigits(Operation *op, const Expr &number,
                        const Expr &divisor) {
  // A quotient by a constant is a number as good as one that is counted.
  if (!number.isValid() || number.terms().size() != 1 ||
      number != Expr(number.terms().front().first))
    return std::nullopt;
  Term whole = number.terms().front().first;
  std::optional<Expr> end = getEnd(whole);
  if (!isMultiple(end, divisor))
    return std::nullopt;
  Expr quotients = math.getQuotientExtent(*end, divisor);
  auto [it, inserted] = splits.try_emplace({whole, divisor}, Expr(), Expr());
  if (inserted) {
    Term quotient = math.space.id("quotient", cov::Range(quotients));
    Term rest = math.space.id("rest", cov::Range(divisor));
    describe(quotient, op, "a quotient");
    describe(rest, op, "a remainder");
    for (Term digit : {quotient, rest})
      kernel.origins[digit] = math.space.variables(number);
    it->second = {quotient, rest};
  }
  return it->second;
}

Expr IndexContext::divide(Operation *op, Expr a, Expr b, bool remainder) {
  if (std::optional<Expr> ratio = kernel.getRatio(a, b); ratio && !remainder)
    return *ratio;
  divisor(op, b);
  std::optional<Term> whole = getSingleTerm(a);
  bool isGrid = false;
  if (whole)
    if (auto it = loops.find(kernel.kernel.getTiles());
        it != loops.end() && it->second)
      isGrid = llvm::is_contained(it->second->ids, *whole) ||
               math.space.kind(*whole) == cov::TermKind::Coordinate;
  if (forOutput && isGrid) {
    // A stage is one for every size: it divides by 1 rather than by 0, unless
    // it divides a multiple, of which there is none of 0.
    bool isPositive = math.getInterval(b).lower.value_or(0) >= 1;
    bool isWhole = isPositive || isMultiple(getEnd(*whole), b);
    auto [quotient, rest] = split(op, *whole, isWhole ? b : math.max(b, 1), b);
    return remainder ? rest : quotient;
  }
  std::optional<int64_t> divisor = math.getConstant(b);
  if (divisor && *divisor < 1)
    return opaque(op->getResult(0), "a division by less than 1");
  if (!forOutput && !divisor)
    if (auto digits = getDigits(op, a, b))
      return remainder ? digits->second : digits->first;
  if (!divisor && !remainder)
    if (std::optional<Expr> share = getShare(op, a, b))
      return *share;
  return remainder ? math.mod(a, b) : math.floorDiv(a, b);
}

/// Whether a condition holds, where the ranges of what it compares say so.
std::optional<bool> IndexContext::isKnown(Value condition) {
  if (matchPattern(condition, m_One()) || matchPattern(condition, m_Zero()))
    return matchPattern(condition, m_One());
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    std::optional<bool> lhs = isKnown(both.getLhs()),
                        rhs = isKnown(both.getRhs());
    if ((lhs && !*lhs) || (rhs && !*rhs))
      return false;
    return lhs && rhs ? lhs : std::nullopt;
  }
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare || !compare.getLhs().getType().isIntOrIndex())
    return std::nullopt;
  cov::IndexInterval more =
      math.getInterval(get(compare.getLhs()) - get(compare.getRhs()));
  bool isAbove = more.lower && *more.lower >= 1;
  bool isBelow = more.upper && *more.upper <= -1;
  bool isSame =
      more.lower && more.upper && *more.lower == 0 && *more.upper == 0;
  bool isAtLeast = more.lower && *more.lower >= 0;
  bool isAtMost = more.upper && *more.upper <= 0;
  auto when = [](bool holds, bool fails) {
    return holds || fails ? std::optional<bool>(holds) : std::nullopt;
  };
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::eq:
    return when(isSame, isAbove || isBelow);
  case arith::CmpIPredicate::ne:
    return when(isAbove || isBelow, isSame);
  case arith::CmpIPredicate::slt:
    return when(isBelow, isAtLeast);
  case arith::CmpIPredicate::sle:
    return when(isAtMost, isAbove);
  case arith::CmpIPredicate::sgt:
    return when(isAbove, isAtMost);
  case arith::CmpIPredicate::sge:
    return when(isAtLeast, isBelow);
  default:
    return std::nullopt;
  }
}

Expr IndexContext::select(Operation *op, Value condition, Value ifTrue,
                          Value ifFalse) {
  if (std::optional<bool> known = isKnown(condition))
    return get(*known ? ifTrue : ifFalse);
  Expr a = get(ifTrue), b = get(ifFalse);
  if (a == b)
    return a;
  return opaque(op->getResult(0), "a choice between two values");
}

std::pair<Expr, Expr> IndexContext::raster(RasterOp op) {
  auto [it, inserted] = rasters.try_emplace(op, Expr(), Expr());
  if (!inserted)
    return it->second;
  Expr linear = get(op.getIndex()), rows = get(op.getRows()),
       columns = get(op.getColumns());
  std::string words[] = {"the row of the tile", "the column of the tile"};
  std::pair<Expr, Expr> result;
  std::optional<Term> term = getSingleTerm(linear);
  if (!forOutput) {
    SmallVector<Term> ids;
    result = {makeId(op, "row", words[0], rows, ids),
              makeId(op, "column", words[1], columns, ids)};
    for (Term id : ids)
      kernel.origins[id] = math.space.variables(linear);
    // Only for indices of tiles there are.
    std::optional<Expr> extent =
        term ? math.space.range(*term).upper : std::nullopt;
    if (!extent || *extent != math.product(rows, columns)) {
      nonNegative(op, linear);
      nonNegative(op, math.product(rows, columns) - 1 - linear);
    }
  } else if (math.getConstant(rows) == 1 && math.getConstant(columns) == 1) {
    result = {0, 0};
  } else if (!term) {
    result = {opaque(op.getRow(), "the raster of a computed index"),
              opaque(op.getColumn(), "the raster of a computed index")};
  } else {
    Term row = math.space.coordinate("row", cov::Range(rows));
    Term column = math.space.coordinate("column", cov::Range(columns));
    describe(row, op, words[0]);
    describe(column, op, words[1]);
    stages.push_back(
        {"raster", cov::RasterStage{*term, row, column,
                                    static_cast<int64_t>(op.getGroup())}});
    consume(*term);
    result = {row, column};
  }
  rasters[op] = result;
  return result;
}

Expr IndexContext::translateOp(Operation *op, unsigned result) {
  Value value = op->getResult(result);
  auto operand = [&](unsigned i) { return get(op->getOperand(i)); };
  auto unsignedOperand = [&](unsigned i) {
    return nonNegative(op, operand(i));
  };
  return llvm::TypeSwitch<Operation *, Expr>(op)
      .Case([&](memref::DimOp dim) -> Expr {
        std::optional<int64_t> index = dim.getConstantIndex();
        return index ? getDim(dim.getSource(), *index)
                     : opaque(value, "an extent of an unknown dimension");
      })
      .Case([&](arith::AddIOp) { return operand(0) + operand(1); })
      .Case([&](arith::SubIOp) { return operand(0) - operand(1); })
      .Case([&](arith::MulIOp) { return math.product(operand(0), operand(1)); })
      .Case([&](arith::MinSIOp) { return math.min(operand(0), operand(1)); })
      .Case([&](arith::MaxSIOp) { return math.max(operand(0), operand(1)); })
      .Case([&](arith::MinUIOp) {
        return math.min(unsignedOperand(0), unsignedOperand(1));
      })
      .Case([&](arith::MaxUIOp) {
        return math.max(unsignedOperand(0), unsignedOperand(1));
      })
      .Case([&](arith::FloorDivSIOp) {
        return divide(op, operand(0), operand(1), /*remainder=*/false);
      })
      .Case<arith::DivUIOp, arith::DivSIOp>([&](auto) {
        return divide(op, unsignedOperand(0), operand(1), /*remainder=*/false);
      })
      .Case<arith::RemUIOp, arith::RemSIOp>([&](auto) {
        return divide(op, unsignedOperand(0), operand(1), /*remainder=*/true);
      })
      .Case([&](arith::CeilDivSIOp) {
        Expr a = operand(0), b = operand(1);
        std::optional<Expr> share = getShare(op, a, b);
        if (share)
          return *share;
        return math.ceilDiv(a, divisor(op, b));
      })
      .Case([&](arith::CeilDivUIOp) {
        return math.ceilDiv(unsignedOperand(0),
                            divisor(op, unsignedOperand(1)));
      })
      .Case<arith::IndexCastOp, arith::ExtSIOp>(
          [&](auto) { return operand(0); })
      .Case<arith::IndexCastUIOp, arith::ExtUIOp>(
          [&](auto) { return unsignedOperand(0); })
      .Case([&](arith::SelectOp choice) {
        return select(op, choice.getCondition(), choice.getTrueValue(),
                      choice.getFalseValue());
      })
      .Case([&](affine::AffineApplyOp apply) {
        return translate(apply.getAffineMap().getResult(0),
                         apply.getMapOperands(),
                         apply.getAffineMap().getNumDims(), op);
      })
      .Case<affine::AffineMinOp, affine::AffineMaxOp>([&](auto extremum) {
        Expr best;
        AffineMap map = extremum.getMap();
        for (auto [number, expr] : llvm::enumerate(map.getResults())) {
          Expr next =
              translate(expr, extremum.getOperands(), map.getNumDims(), op);
          if (number == 0)
            best = next;
          else
            best = isa<affine::AffineMinOp>(op) ? math.min(best, next)
                                                : math.max(best, next);
        }
        return best;
      })
      .Case([&](linalg::IndexOp index) -> Expr {
        auto owner = dyn_cast<linalg::LinalgOp>(op->getParentOp());
        if (!owner || index.getDim() >= owner.getNumLoops())
          return opaque(value, "an index outside of its loops");
        return getLoops(owner)[index.getDim()];
      })
      .Case([&](RasterOp rasterOp) {
        auto [row, column] = raster(rasterOp);
        return result == 0 ? row : column;
      })
      .Case([&](RaggedCountOp count) -> Expr {
        std::optional<KernelIndices::RaggedCount> known = kernel.getRaggedCount(
            count.getEnds(), get(count.getRows()), count.getTile());
        if (!known)
          return opaque(value, "a number of tiles of unknown rows");
        return result == 0 ? known->all : known->full;
      })
      .Case([&](RaggedTileOp tile) { return raggedTile(tile, result); })
      .Case([&](ReadOp read) {
        Expr number = opaque(value, "a number that memory holds");
        kernel.reads[number.terms().front().first] = read;
        return number;
      })
      .Default([&](Operation *other) {
        return opaque(value,
                      "a value of '" + other->getName().getStringRef() + "'");
      });
}

Expr IndexContext::translate(AffineExpr expr, ValueRange operands,
                             unsigned numDims, Operation *op) {
  return applyMap(
      expr, numDims, math,
      [&](unsigned number) { return get(operands[number]); },
      [&](AffineExprKind kind, Expr lhs, Expr rhs) {
        if (kind == AffineExprKind::CeilDiv)
          return math.ceilDiv(lhs, divisor(op, rhs));
        return divide(op, lhs, rhs, kind == AffineExprKind::Mod);
      });
}

Expr IndexContext::getDim(Value memory, int64_t dim) {
  auto type = dyn_cast<ShapedType>(memory.getType());
  if (!type || !type.hasRank() || dim < 0 || dim >= type.getRank())
    return Expr::invalid();
  if (!type.isDynamicDim(dim))
    return type.getDimSize(dim);
  if (auto argument = dyn_cast<BlockArgument>(memory)) {
    if (isa<KernelOp>(argument.getOwner()->getParentOp()))
      return kernel.getSize(argument.getArgNumber(), dim);
    return opaque(memory, "the extent of an unknown buffer");
  }
  return llvm::TypeSwitch<Operation *, Expr>(memory.getDefiningOp())
      .Case([&](memref::CastOp cast) { return getDim(cast.getSource(), dim); })
      .Case([&](memref::SubViewOp view) {
        llvm::SmallBitVector dropped = view.getDroppedDims();
        SmallVector<OpFoldResult> sizes = view.getMixedSizes();
        for (auto [source, size] : llvm::enumerate(sizes)) {
          if (dropped.test(source))
            continue;
          if (dim-- == 0)
            return get(size);
        }
        return Expr::invalid();
      })
      .Case([&](memref::ReinterpretCastOp view) {
        return get(view.getMixedSizes()[dim]);
      })
      .Case([&](memref::ExpandShapeOp view) {
        return get(view.getMixedOutputShape()[dim]);
      })
      .Case([&](memref::CollapseShapeOp view) {
        Expr extent = 1;
        const ReassociationIndices group = view.getReassociationIndices()[dim];
        for (int64_t source : group)
          extent = math.product(extent, getDim(view.getSrc(), source));
        return extent;
      })
      .Case<memref::AllocOp, memref::AllocaOp>([&](auto alloc) {
        return get(alloc.getDynamicSizes()[type.getDynamicDimIndex(dim)]);
      })
      .Default([&](Operation *) {
        return opaque(memory, "the extent of an unknown buffer");
      });
}
