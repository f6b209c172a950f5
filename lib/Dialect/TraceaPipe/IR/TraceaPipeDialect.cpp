//===- TraceaPipeDialect.cpp - The pipeline dialect -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.cpp.inc"

#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeEnums.cpp.inc"

#define GET_OP_CLASSES
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeOps.cpp.inc"

namespace {
/// Lane maps are long and few: kernels are readable with names for them.
struct AliasInterface : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (!isa<LanesAttr>(attr))
      return AliasResult::NoAlias;
    os << "lanes";
    return AliasResult::OverridableAlias;
  }
};
} // namespace

void TraceaPipeDialect::initialize() {
  addInterfaces<AliasInterface>();
  registerAttributesAndTypes();
  addOperations<
#define GET_OP_LIST
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeOps.cpp.inc"
      >();
}

bool mlir::tracea_pipe::isRegisterTile(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() &&
         isa_and_nonnull<LanesAttr>(tensor.getEncoding());
}

bool mlir::tracea_pipe::isStagedTile(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() &&
         isa_and_nonnull<StagedAttr>(tensor.getEncoding());
}

LanesAttr mlir::tracea_pipe::getLanes(Type type) {
  return cast<LanesAttr>(cast<RankedTensorType>(type).getEncoding());
}

std::optional<LinearForm>
mlir::tracea_pipe::tryGetLinearForm(AffineExpr expr, unsigned numDims) {
  LinearForm form;
  form.coefficients.assign(numDims, 0);
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    form.constant = constant.getValue();
    return form;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    if (dim.getPosition() >= numDims)
      return std::nullopt;
    form.coefficients[dim.getPosition()] = 1;
    return form;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || (expr.getKind() != AffineExprKind::Add &&
                  expr.getKind() != AffineExprKind::Mul))
    return std::nullopt;
  std::optional<LinearForm> lhs = tryGetLinearForm(binary.getLHS(), numDims);
  std::optional<LinearForm> rhs = tryGetLinearForm(binary.getRHS(), numDims);
  if (!lhs || !rhs)
    return std::nullopt;
  auto isConstant = [](const LinearForm &f) {
    return llvm::all_of(f.coefficients, [](int64_t c) { return c == 0; });
  };
  bool overflow = false;
  if (expr.getKind() == AffineExprKind::Add) {
    overflow |= llvm::AddOverflow(lhs->constant, rhs->constant, form.constant);
    for (unsigned dim = 0; dim < numDims; ++dim)
      overflow |=
          llvm::AddOverflow(lhs->coefficients[dim], rhs->coefficients[dim],
                            form.coefficients[dim]);
  } else {
    if (isConstant(*lhs))
      std::swap(lhs, rhs);
    if (!isConstant(*rhs))
      return std::nullopt;
    int64_t factor = rhs->constant;
    overflow |= llvm::MulOverflow(lhs->constant, factor, form.constant);
    for (unsigned dim = 0; dim < numDims; ++dim)
      overflow |= llvm::MulOverflow(lhs->coefficients[dim], factor,
                                    form.coefficients[dim]);
  }
  if (overflow)
    return std::nullopt;
  return form;
}

LinearForm mlir::tracea_pipe::getLinearForm(AffineExpr expr, unsigned numDims) {
  std::optional<LinearForm> form = tryGetLinearForm(expr, numDims);
  assert(form && "expected an expression that a verifier has accepted");
  return *form;
}

std::optional<SmallVector<int64_t>>
mlir::tracea_pipe::getViewStrides(MemRefType source, AffineMap map) {
  SmallVector<int64_t> sourceStrides;
  int64_t sourceOffset;
  if (failed(source.getStridesAndOffset(sourceStrides, sourceOffset)))
    return std::nullopt;
  SmallVector<int64_t> strides(map.getNumDims(), 0);
  for (auto [expr, sourceStride] : llvm::zip(map.getResults(), sourceStrides)) {
    LinearForm form = getLinearForm(expr, map.getNumDims());
    for (auto [stride, coefficient] : llvm::zip(strides, form.coefficients)) {
      int64_t term = 0;
      if (!coefficient || ShapedType::isDynamic(stride))
        continue;
      if (ShapedType::isDynamic(sourceStride) ||
          llvm::MulOverflow(coefficient, sourceStride, term) ||
          llvm::AddOverflow(stride, term, stride))
        stride = ShapedType::kDynamic;
    }
  }
  return strides;
}
