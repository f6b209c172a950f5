//===- PromoteToF64.cpp - Compute a module's meaning in float64 -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One replacement of types and attributes over the whole module; the float
// conversions that are left between equal types are then dropped.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "tracea/Transforms/Passes.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_PROMOTETOF64
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;

static bool isNarrow(Type type) {
  FloatType floatType = dyn_cast<FloatType>(type);
  return floatType && floatType.getWidth() < 64;
}

/// Whether a narrow float occurs anywhere in `type`.
static bool containsNarrow(Type type) {
  WalkResult found = type.walk([](Type inner) {
    return isNarrow(inner) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

/// `value` in float64; every narrower format is a subset of it.
static APFloat widen(APFloat value) {
  bool losesInfo = false;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value;
}

static Attribute widenElements(DenseElementsAttr elements) {
  Type f64 = Float64Type::get(elements.getContext());
  if (elements.isSplat())
    return DenseElementsAttr::get(elements.getType().clone(f64),
                                  widen(elements.getSplatValue<APFloat>()));
  SmallVector<APFloat> values;
  values.reserve(elements.getNumElements());
  for (const APFloat &value : elements.getValues<APFloat>())
    values.push_back(widen(value));
  return DenseElementsAttr::get(elements.getType().clone(f64), values);
}

/// The elements that a resource holds, or null when they are not readable.
static DenseElementsAttr readResource(DenseResourceElementsAttr resource) {
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  bool isSplat = false;
  if (!blob || !DenseElementsAttr::isValidRawBuffer(resource.getType(),
                                                    blob->getData(), isSplat))
    return nullptr;
  return DenseElementsAttr::getFromRawBuffer(resource.getType(),
                                             blob->getData());
}

/// Refuses what has no meaning in float64, before anything is changed.
static LogicalResult verifyPromotable(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) -> WalkResult {
    auto hasNarrow = [](TypeRange types) {
      return llvm::any_of(types, containsNarrow);
    };
    if (isa<arith::BitcastOp, tensor::BitcastOp, vector::BitCastOp>(op) &&
        (hasNarrow(op->getOperandTypes()) || hasNarrow(op->getResultTypes())))
      return op->emitOpError(
          "reads the bits of a float; it has no meaning in float64");
    if (FunctionOpInterface function = dyn_cast<FunctionOpInterface>(op);
        function && function.isExternal() &&
        (hasNarrow(function.getArgumentTypes()) ||
         hasNarrow(function.getResultTypes())))
      return op->emitOpError(
          "is defined elsewhere; its floats cannot become f64");
    for (NamedAttribute attribute : op->getAttrs()) {
      DenseResourceElementsAttr resource =
          dyn_cast<DenseResourceElementsAttr>(attribute.getValue());
      if (resource && isNarrow(resource.getElementType()) &&
          !readResource(resource))
        return op->emitOpError("expected the elements of resource '")
               << resource.getRawHandle().getKey()
               << "' to be present, found none of type " << resource.getType();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct PromoteToF64Pass
    : mlir::tracea::impl::PromoteToF64Base<PromoteToF64Pass> {
  void runOnOperation() override {
    if (failed(verifyPromotable(getOperation())))
      return signalPassFailure();

    Type f64 = Float64Type::get(&getContext());
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](Type type) -> std::optional<Type> {
      return isNarrow(type) ? std::optional<Type>(f64) : std::nullopt;
    });
    // Attributes whose contents depend on their type say how they change; none
    // is descended into.
    using Replacement = std::optional<std::pair<Attribute, WalkResult>>;
    replacer.addReplacement([&](Attribute attribute) -> Replacement {
      if (FloatAttr number = dyn_cast<FloatAttr>(attribute)) {
        if (isNarrow(number.getType()))
          attribute = FloatAttr::get(f64, widen(number.getValue()));
      } else if (DenseElementsAttr elements =
                     dyn_cast<DenseElementsAttr>(attribute)) {
        if (isNarrow(elements.getElementType()))
          attribute = widenElements(elements);
      } else if (DenseResourceElementsAttr resource =
                     dyn_cast<DenseResourceElementsAttr>(attribute)) {
        if (isNarrow(resource.getElementType()))
          attribute = widenElements(readResource(resource));
      } else if (!isa<DenseArrayAttr, DataLayoutSpecInterface>(attribute)) {
        return std::nullopt;
      }
      return std::make_pair(attribute, WalkResult::skip());
    });
    replacer.recursivelyReplaceElementsIn(getOperation(),
                                          /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);

    getOperation()->walk([](Operation *op) {
      if (!isa<arith::ExtFOp, arith::TruncFOp>(op) ||
          op->getOperand(0).getType() != op->getResult(0).getType())
        return;
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
    });
  }
};
} // namespace
