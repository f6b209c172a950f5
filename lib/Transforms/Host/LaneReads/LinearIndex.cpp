//===- LinearIndex.cpp - Indices as sums of values ------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LaneReads/LinearIndex.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tracea;

LinearIndex LinearIndex::operator+(const LinearIndex &other) const {
  LinearIndex sum = *this;
  sum.constant += other.constant;
  for (auto [value, factor] : other.terms)
    if ((sum.terms[value] += factor) == 0)
      sum.terms.erase(value);
  return sum;
}

LinearIndex LinearIndex::operator*(int64_t factor) const {
  LinearIndex product;
  if (factor == 0)
    return product;
  product.constant = constant * factor;
  for (auto [value, own] : terms)
    product.terms[value] = own * factor;
  return product;
}

bool LinearIndex::isParallelTo(const LinearIndex &other) const {
  return terms.size() == other.terms.size() &&
         llvm::all_of(terms, [&](const auto &term) {
           auto found = other.terms.find(term.first);
           return found != other.terms.end() && found->second == term.second;
         });
}

bool LinearIndex::isMultiple(int64_t factor) const {
  return llvm::all_of(
      terms, [&](const auto &term) { return term.second % factor == 0; });
}

Value LinearIndex::materialize(ImplicitLocOpBuilder &b) const {
  Value sum;
  auto add = [&](Value term) {
    sum = sum ? arith::AddIOp::create(b, sum, term).getResult() : term;
  };
  for (auto [value, factor] : terms)
    add(factor == 1 ? value
                    : arith::MulIOp::create(
                          b, value, arith::ConstantIndexOp::create(b, factor)));
  if (constant || !sum)
    add(arith::ConstantIndexOp::create(b, constant));
  return sum;
}

/// The value of an expression of known operands; nothing where it divides, or
/// multiplies what is not constant.
static std::optional<LinearIndex> evaluate(AffineExpr expr, unsigned numDims,
                                           ValueRange operands) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    LinearIndex number;
    number.constant = constant.getValue();
    return number;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return LinearIndex::of(operands[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return LinearIndex::of(operands[numDims + symbol.getPosition()]);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<LinearIndex> lhs = evaluate(binary.getLHS(), numDims, operands);
  std::optional<LinearIndex> rhs = evaluate(binary.getRHS(), numDims, operands);
  if (!lhs || !rhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return *lhs + *rhs;
  if (expr.getKind() == AffineExprKind::Mul && rhs->terms.empty())
    return *lhs * rhs->constant;
  return std::nullopt;
}

LinearIndex LinearIndex::of(Value value) {
  LinearIndex leaf;
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number))) {
    leaf.constant = number.getSExtValue();
    return leaf;
  }
  Operation *op = value.getDefiningOp();
  if (auto sum = dyn_cast_if_present<arith::AddIOp>(op))
    return of(sum.getLhs()) + of(sum.getRhs());
  if (auto difference = dyn_cast_if_present<arith::SubIOp>(op))
    return of(difference.getLhs()) - of(difference.getRhs());
  if (auto product = dyn_cast_if_present<arith::MulIOp>(op)) {
    LinearIndex lhs = of(product.getLhs()), rhs = of(product.getRhs());
    if (rhs.terms.empty())
      return lhs * rhs.constant;
    if (lhs.terms.empty())
      return rhs * lhs.constant;
  }
  if (auto apply = dyn_cast_if_present<affine::AffineApplyOp>(op)) {
    AffineMap map = apply.getAffineMap();
    if (std::optional<LinearIndex> found =
            evaluate(map.getResult(0), map.getNumDims(), apply.getOperands()))
      return *found;
  }
  leaf.terms[value] = 1;
  return leaf;
}
