//===- SymbolicEvaluator.cpp - Index code as expressions ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What numbers of the host's code are in terms of the shapes of a launch, and
// what must be checked for them to be that.
//
//===----------------------------------------------------------------------===//

#include "tracea/Target/Program/SymbolicEvaluator.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::tracea;
namespace rt = ::tracea::runtime;

std::optional<rt::ElementType> mlir::tracea::getRuntimeElementType(Type type) {
  if (type.isF64())
    return rt::ElementType::F64;
  if (type.isF32())
    return rt::ElementType::F32;
  if (type.isF16())
    return rt::ElementType::F16;
  if (type.isBF16())
    return rt::ElementType::BF16;
  if (isa<Float8E4M3FNType>(type))
    return rt::ElementType::F8E4M3FN;
  if (isa<Float8E5M2Type>(type))
    return rt::ElementType::F8E5M2;
  if (type.isIndex())
    return rt::ElementType::Index;
  if (!type.isSignlessInteger())
    return std::nullopt;
  switch (type.getIntOrFloatBitWidth()) {
  case 64:
    return rt::ElementType::I64;
  case 32:
    return rt::ElementType::I32;
  case 16:
    return rt::ElementType::I16;
  case 8:
    return rt::ElementType::I8;
  case 1:
    return rt::ElementType::I1;
  default:
    return std::nullopt;
  }
}

namespace {

/// Where an operation comes from, for a message at run time.
std::string describeLocation(Location loc) {
  std::string text;
  loc->walk([&](Location nested) {
    auto file = dyn_cast<FileLineColLoc>(nested);
    if (!file)
      return WalkResult::advance();
    text = llvm::formatv("{0}:{1}:{2}: ", file.getFilename().getValue(),
                         file.getLine(), file.getColumn());
    return WalkResult::interrupt();
  });
  return text;
}

} // namespace

/// Whether the expression cannot be negative; extents of inputs are not.
bool SymbolicEvaluator::isNonNegative(Expr expr) {
  if (auto it = nonNegative.find(expr); it != nonNegative.end())
    return it->second;
  bool result = computeNonNegative(expr);
  nonNegative[expr] = result;
  return result;
}

bool SymbolicEvaluator::computeNonNegative(Expr expr) {
  const rt::Expr &node = nodes[expr];
  switch (node.op) {
  case rt::ExprOp::Const:
    return node.a >= 0;
  case rt::ExprOp::Dim:
  case rt::ExprOp::Eq:
  case rt::ExprOp::Ne:
  case rt::ExprOp::Lt:
  case rt::ExprOp::Le:
    return true;
  case rt::ExprOp::Add:
  case rt::ExprOp::Mul:
  case rt::ExprOp::Min:
  case rt::ExprOp::FloorDiv:
  case rt::ExprOp::CeilDiv:
    return isNonNegative(node.a) && isNonNegative(node.b);
  case rt::ExprOp::Max:
    return isNonNegative(node.a) || isNonNegative(node.b);
  case rt::ExprOp::Select:
    return isNonNegative(node.b) && isNonNegative(node.c);
  case rt::ExprOp::DivShift:
    return true;
  case rt::ExprOp::Value:
  case rt::ExprOp::Sub:
  case rt::ExprOp::Mod:
  case rt::ExprOp::DivMultiplier:
    return false;
  }
  llvm_unreachable("an unknown operator");
}

/// Whether a number that the run is given goes into the expression. Sizes are
/// far from the ends of all types and not negative; such a number may be
/// anything.
bool SymbolicEvaluator::takesValue(Expr expr) {
  if (auto it = valueTakers.find(expr); it != valueTakers.end())
    return it->second;
  const rt::Expr node = nodes[expr];
  bool result = node.op == rt::ExprOp::Value;
  if (!result && node.op != rt::ExprOp::Const && node.op != rt::ExprOp::Dim)
    result = takesValue(node.a) || takesValue(node.b) ||
             (node.op == rt::ExprOp::Select && takesValue(node.c));
  valueTakers[expr] = result;
  return result;
}

/// What is left of a number in `width` bits, with its sign.
SymbolicEvaluator::Expr SymbolicEvaluator::wrap(Expr expr, Type type) {
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  if (width == 1 || width >= 64)
    return expr;
  Expr half = exprs.constant(int64_t(1) << (width - 1));
  Expr all = exprs.constant(int64_t(1) << width);
  return exprs.sub(exprs.mod(exprs.add(expr, half), all), half);
}

bool SymbolicEvaluator::isTrue(Expr expr) {
  const rt::Expr &node = nodes[expr];
  if (node.op == rt::ExprOp::Le && nodes[node.a].op == rt::ExprOp::Const &&
      nodes[node.a].a == 0)
    return isNonNegative(node.b);
  return node.op == rt::ExprOp::Const && node.a != 0;
}

SymbolicEvaluator::Expr SymbolicEvaluator::equal(Expr a, Expr b) {
  return a == b ? exprs.constant(1) : exprs.eq(a, b);
}

void SymbolicEvaluator::require(Expr expr, Operation *op, const Twine &what) {
  if (!isTrue(expr))
    check(expr, describeLocation(op->getLoc()) + what.str());
}

FailureOr<SymbolicEvaluator::Expr> SymbolicEvaluator::scalar(Value value) {
  if (auto it = scalars.find(value); it != scalars.end())
    return it->second;
  FailureOr<Expr> expr = computeScalar(value);
  if (succeeded(expr))
    scalars[value] = *expr;
  return expr;
}

FailureOr<SymbolicEvaluator::Expr>
SymbolicEvaluator::scalar(OpFoldResult value) {
  if (std::optional<int64_t> number = getConstantIntValue(value))
    return exprs.constant(*number);
  return scalar(cast<Value>(value));
}

FailureOr<SmallVector<SymbolicEvaluator::Expr>>
SymbolicEvaluator::list(ArrayRef<OpFoldResult> values) {
  SmallVector<Expr> result;
  for (OpFoldResult value : values) {
    FailureOr<Expr> expr = scalar(value);
    if (failed(expr))
      return failure();
    result.push_back(*expr);
  }
  return result;
}

FailureOr<SymbolicEvaluator::View> SymbolicEvaluator::view(Value value) {
  if (auto it = views.find(value); it != views.end())
    return it->second;
  FailureOr<View> result = computeView(value);
  if (succeeded(result))
    views[value] = *result;
  return result;
}

FailureOr<SymbolicEvaluator::Expr>
SymbolicEvaluator::affine(AffineExpr expr, ArrayRef<Expr> dims,
                          ArrayRef<Expr> symbols, Operation *op) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return exprs.constant(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  FailureOr<Expr> lhs = affine(binary.getLHS(), dims, symbols, op);
  FailureOr<Expr> rhs = affine(binary.getRHS(), dims, symbols, op);
  if (failed(lhs) || failed(rhs))
    return failure();
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return exprs.add(*lhs, *rhs);
  case AffineExprKind::Mul:
    return exprs.mul(*lhs, *rhs);
  case AffineExprKind::Mod:
    return exprs.mod(*lhs, *rhs);
  case AffineExprKind::FloorDiv:
    return exprs.floorDiv(*lhs, *rhs);
  case AffineExprKind::CeilDiv:
    return exprs.ceilDiv(*lhs, *rhs);
  default:
    llvm_unreachable("an affine expression of an unknown kind");
  }
}

/// Rounds towards zero.
SymbolicEvaluator::Expr SymbolicEvaluator::truncatingDiv(Expr a, Expr b) {
  Expr zero = exprs.constant(0);
  auto isPositiveConstant = [&](Expr x) {
    return nodes[x].op == rt::ExprOp::Const && nodes[x].a > 0;
  };
  auto negate = [&](Expr x) { return exprs.sub(zero, x); };
  auto positiveDivisor = [&](Expr x, Expr y) {
    return exprs.select(exprs.lt(x, zero), exprs.ceilDiv(x, y),
                        exprs.floorDiv(x, y));
  };
  if (isPositiveConstant(b))
    return positiveDivisor(a, b);
  return exprs.select(exprs.lt(b, zero), negate(positiveDivisor(a, negate(b))),
                      positiveDivisor(a, b));
}

FailureOr<SymbolicEvaluator::Expr>
SymbolicEvaluator::computeScalar(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op) {
    emitError(value.getLoc())
        << "a size depends on an argument of type " << value.getType()
        << "; expected sizes to follow from the shapes of the inputs and from "
           "integers among them";
    return failure();
  }
  auto inexpressible = [&]() -> FailureOr<Expr> {
    op->emitError() << "'" << op->getName()
                    << "' cannot be expressed in a program; expected sizes to "
                       "be index arithmetic on the shapes of the inputs and "
                       "on integers among them";
    return failure();
  };

  APInt number;
  if (matchPattern(value, m_ConstantInt(&number))) {
    // A truth value is 0 or 1, not -1.
    return exprs.constant(number.getBitWidth() == 1
                              ? int64_t(number.getZExtValue())
                              : number.getSExtValue());
  }
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    FailureOr<View> source = view(dim.getSource());
    std::optional<int64_t> index = dim.getConstantIndex();
    if (failed(source))
      return failure();
    if (!index || *index < 0 || *index >= int64_t(source->sizes.size()))
      return inexpressible();
    return source->sizes[*index];
  }
  if (auto metadata = dyn_cast<memref::ExtractStridedMetadataOp>(op)) {
    FailureOr<View> source = view(metadata.getSource());
    if (failed(source))
      return failure();
    if (value == metadata.getOffset())
      return source->offset;
    for (auto [result, size] : llvm::zip(metadata.getSizes(), source->sizes))
      if (value == result)
        return size;
    for (auto [result, stride] :
         llvm::zip(metadata.getStrides(), source->strides))
      if (value == result)
        return stride;
    return inexpressible();
  }

  if (!isa<arith::ArithDialect, affine::AffineDialect>(op->getDialect()) ||
      op->getNumRegions() != 0)
    return inexpressible();
  SmallVector<Expr> operands;
  for (Value operand : op->getOperands()) {
    if (!isa<IndexType, IntegerType>(operand.getType()))
      return inexpressible();
    FailureOr<Expr> expr = scalar(operand);
    if (failed(expr))
      return failure();
    operands.push_back(*expr);
  }
  auto mapResults = [&](AffineMap map) -> FailureOr<SmallVector<Expr>> {
    ArrayRef<Expr> all = operands;
    SmallVector<Expr> results;
    for (AffineExpr expr : map.getResults()) {
      FailureOr<Expr> result = affine(expr, all.take_front(map.getNumDims()),
                                      all.drop_front(map.getNumDims()), op);
      if (failed(result))
        return failure();
      results.push_back(*result);
    }
    return results;
  };
  auto reduce = [&](AffineMap map, bool isMin) -> FailureOr<Expr> {
    FailureOr<SmallVector<Expr>> results = mapResults(map);
    if (failed(results))
      return failure();
    Expr result = results->front();
    for (Expr other : ArrayRef(*results).drop_front())
      result = isMin ? exprs.min(result, other) : exprs.max(result, other);
    return result;
  };

  bool isBool = value.getType().isInteger(1);
  auto compare = dyn_cast<arith::CmpIOp>(op);
  bool isUnsigned =
      isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp, arith::MinUIOp,
          arith::MaxUIOp, arith::IndexCastUIOp, arith::ExtUIOp>(op) ||
      (compare && compare.getPredicate() >= arith::CmpIPredicate::ult);
  if (isUnsigned && !op->getOperand(0).getType().isInteger(1))
    for (Expr operand : operands)
      if (takesValue(operand))
        require(exprs.le(exprs.constant(0), operand), op,
                "an operand of '" + Twine(op->getName().getStringRef()) +
                    "', which has no sign, is negative");
  using Result = FailureOr<Expr>;
  Result result =
      llvm::TypeSwitch<Operation *, Result>(op)
          .Case([&](affine::AffineApplyOp apply) -> Result {
            FailureOr<SmallVector<Expr>> results =
                mapResults(apply.getAffineMap());
            if (failed(results))
              return failure();
            return results->front();
          })
          .Case([&](affine::AffineMinOp min) {
            return reduce(min.getMap(), true);
          })
          .Case([&](affine::AffineMaxOp max) {
            return reduce(max.getMap(), false);
          })
          .Case([&](arith::AddIOp) -> Result {
            return isBool ? exprs.ne(operands[0], operands[1])
                          : exprs.add(operands[0], operands[1]);
          })
          .Case([&](arith::SubIOp) -> Result {
            return isBool ? exprs.ne(operands[0], operands[1])
                          : exprs.sub(operands[0], operands[1]);
          })
          .Case([&](arith::MulIOp) -> Result {
            return exprs.mul(operands[0], operands[1]);
          })
          .Case<arith::FloorDivSIOp, arith::DivUIOp>([&](auto) -> Result {
            return exprs.floorDiv(operands[0], operands[1]);
          })
          .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>([&](auto) -> Result {
            return exprs.ceilDiv(operands[0], operands[1]);
          })
          .Case([&](arith::RemUIOp) -> Result {
            return exprs.mod(operands[0], operands[1]);
          })
          .Case([&](arith::DivSIOp) -> Result {
            return truncatingDiv(operands[0], operands[1]);
          })
          .Case([&](arith::RemSIOp) -> Result {
            return exprs.sub(operands[0],
                             exprs.mul(truncatingDiv(operands[0], operands[1]),
                                       operands[1]));
          })
          .Case<arith::MinSIOp, arith::MinUIOp>([&](auto) -> Result {
            return exprs.min(operands[0], operands[1]);
          })
          .Case<arith::MaxSIOp, arith::MaxUIOp>([&](auto) -> Result {
            return exprs.max(operands[0], operands[1]);
          })
          .Case([&](arith::AndIOp) -> Result {
            if (!isBool)
              return inexpressible();
            return exprs.min(operands[0], operands[1]);
          })
          .Case([&](arith::OrIOp) -> Result {
            if (!isBool)
              return inexpressible();
            return exprs.max(operands[0], operands[1]);
          })
          .Case([&](arith::XOrIOp) -> Result {
            if (!isBool)
              return inexpressible();
            return exprs.ne(operands[0], operands[1]);
          })
          .Case([&](arith::ShLIOp) -> Result {
            const rt::Expr &amount = nodes[operands[1]];
            if (amount.op != rt::ExprOp::Const || amount.a < 0 || amount.a > 62)
              return inexpressible();
            return exprs.mul(operands[0],
                             exprs.constant(int64_t(1) << amount.a));
          })
          .Case([&](arith::SelectOp) -> Result {
            return exprs.select(operands[0], operands[1], operands[2]);
          })
          .Case([&](arith::CmpIOp compare) -> Result {
            // Sizes are not negative, so that unsigned orders agree with signed
            // ones.
            Expr a = operands[0], b = operands[1];
            switch (compare.getPredicate()) {
            case arith::CmpIPredicate::eq:
              return equal(a, b);
            case arith::CmpIPredicate::ne:
              return a == b ? exprs.constant(0) : exprs.ne(a, b);
            case arith::CmpIPredicate::slt:
            case arith::CmpIPredicate::ult:
              return exprs.lt(a, b);
            case arith::CmpIPredicate::sle:
            case arith::CmpIPredicate::ule:
              return a == b ? exprs.constant(1) : exprs.le(a, b);
            case arith::CmpIPredicate::sgt:
            case arith::CmpIPredicate::ugt:
              return exprs.lt(b, a);
            case arith::CmpIPredicate::sge:
            case arith::CmpIPredicate::uge:
              return a == b ? exprs.constant(1) : exprs.le(b, a);
            }
            llvm_unreachable("an unknown predicate");
          })
          .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtUIOp>(
              [&](auto) -> Result { return operands[0]; })
          .Case([&](arith::TruncIOp) -> Result {
            return isBool ? exprs.mod(operands[0], exprs.constant(2))
                          : wrap(operands[0], value.getType());
          })
          .Case([&](arith::ExtSIOp extend) -> Result {
            if (extend.getIn().getType().isInteger(1))
              return exprs.sub(exprs.constant(0), operands[0]);
            return operands[0];
          })
          .Default([&](Operation *) { return inexpressible(); });
  if (succeeded(result) && takesValue(*result))
    return wrap(*result, value.getType());
  return result;
}
