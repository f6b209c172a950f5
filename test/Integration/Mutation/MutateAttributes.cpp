//===- MutateAttributes.cpp - Another attribute of the same kind ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Mutations.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"

using namespace mlir;
using namespace ::tracea::mutants;
namespace mut = ::tracea::mutants;

static int64_t mutateInteger(int64_t value, Random &random) {
  switch (random.below(8)) {
  case 0:
  case 1:
    return value + 1;
  case 2:
  case 3:
    return value - 1;
  case 4:
    return value * 2;
  case 5:
    return value / 2;
  case 6:
    return 0;
  default:
    return -value;
  }
}

static double mutateFloat(double value, Random &random) {
  switch (random.below(4)) {
  case 0:
    return value + 1;
  case 1:
    return value == 0 ? 2 : value * 2;
  case 2:
    return value == 0 ? -1 : -value;
  default:
    return 0;
  }
}

/// Another result, two exchanged, or a result of other coefficients.
static AffineMap mutateMap(AffineMap map, Random &random) {
  if (map.getNumResults() == 0)
    return {};
  MLIRContext *context = map.getContext();
  SmallVector<AffineExpr> results(map.getResults());
  AffineExpr &expr = results[random.below(results.size())];
  switch (random.below(5)) {
  case 0: {
    AffineExpr &other = results[random.below(results.size())];
    std::swap(expr, other);
    break;
  }
  case 1:
    if (map.getNumDims() == 0)
      return {};
    expr = getAffineDimExpr(random.below(map.getNumDims()), context);
    break;
  case 2:
    expr = expr + random.pick({-1, 1, 1, 2, 4});
    break;
  case 3:
    if (map.getNumDims() == 0)
      return {};
    expr = expr + getAffineDimExpr(random.below(map.getNumDims()), context) *
                      random.pick({-1, 1, 2});
    break;
  default:
    expr = random.chance(0.5) ? getAffineConstantExpr(0, context) : expr * 2;
  }
  AffineMap result =
      AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, context);
  return result == map ? AffineMap() : result;
}

static Attribute mutateElements(DenseElementsAttr elements, Random &random) {
  if (!elements.isSplat())
    return {};
  ShapedType type = elements.getType();
  if (isa<FloatType>(type.getElementType())) {
    APFloat value = elements.getSplatValue<APFloat>();
    double changed =
        mutateFloat(value.isInfinity() ? 0.0 : value.convertToDouble(), random);
    bool lost;
    APFloat result(changed);
    result.convert(value.getSemantics(), APFloat::rmNearestTiesToEven, &lost);
    return DenseElementsAttr::get(type, result);
  }
  APInt value = elements.getSplatValue<APInt>();
  if (value.getBitWidth() == 1)
    return DenseElementsAttr::get(type, ~value);
  return DenseElementsAttr::get(
      type,
      APInt(value.getBitWidth(),
            static_cast<uint64_t>(mutateInteger(value.getSExtValue(), random)),
            /*isSigned=*/true, /*implicitTrunc=*/true));
}

static Attribute mutateIntegers(DenseI64ArrayAttr array, Random &random) {
  SmallVector<int64_t> values(array.asArrayRef());
  // Lists of dimensions grow and shrink; the verifier knows which ones may.
  if (values.empty() || random.chance(0.15)) {
    values.push_back(random.below(3));
  } else if (random.chance(0.3)) {
    values.erase(values.begin() + random.below(values.size()));
  } else {
    int64_t &value = values[random.below(values.size())];
    value = mutateInteger(value, random);
  }
  return DenseI64ArrayAttr::get(array.getContext(), values);
}

static Attribute mutateArray(Operation *owner, StringRef name, ArrayAttr array,
                             Random &random) {
  if (array.empty())
    return {};
  SmallVector<Attribute> values(array.getValue());
  Attribute &value = values[random.below(values.size())];
  if (random.chance(0.3)) {
    std::swap(value, values[random.below(values.size())]);
  } else {
    value = mutateAttribute(owner, name, value, random);
    if (!value)
      return {};
  }
  return ArrayAttr::get(array.getContext(), values);
}

/// What names, explains or hints: no meaning is lost with it.
static bool isWithoutMeaning(StringRef name) {
  return llvm::is_contained({"sym_name", "function_type", "source_op",
                             "variant", "msg", "reuse", "alignment", "pipeline",
                             "operandSegmentSizes", "fastmath", "overflowFlags",
                             "name"},
                            name);
}

Attribute mut::mutateAttribute(Operation *owner, StringRef name,
                               Attribute attribute, Random &random) {
  if (isWithoutMeaning(name))
    return {};
  MLIRContext *context = attribute.getContext();
  if (auto integer = dyn_cast<IntegerAttr>(attribute)) {
    if (isa<arith::CmpIOp, LLVM::ICmpOp>(owner))
      return IntegerAttr::get(integer.getType(), random.below(10));
    if (isa<arith::CmpFOp>(owner))
      return IntegerAttr::get(integer.getType(), random.below(16));
    if (integer.getType().isInteger(1))
      return BoolAttr::get(context, integer.getValue().isZero());
    unsigned width = integer.getValue().getBitWidth();
    int64_t changed = mutateInteger(integer.getValue().getSExtValue(), random);
    return IntegerAttr::get(integer.getType(),
                            APInt(width, static_cast<uint64_t>(changed),
                                  /*isSigned=*/true, /*implicitTrunc=*/true));
  }
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return FloatAttr::get(number.getType(),
                          mutateFloat(number.getValueAsDouble(), random));
  if (auto map = dyn_cast<AffineMapAttr>(attribute)) {
    AffineMap changed = mutateMap(map.getValue(), random);
    return changed ? AffineMapAttr::get(changed) : Attribute();
  }
  if (auto elements = dyn_cast<DenseElementsAttr>(attribute))
    return mutateElements(elements, random);
  if (auto array = dyn_cast<DenseI64ArrayAttr>(attribute))
    return mutateIntegers(array, random);
  if (auto array = dyn_cast<ArrayAttr>(attribute))
    return mutateArray(owner, name, array, random);
  if (isa<tracea_pipe::ReduceKindAttr>(attribute))
    return tracea_pipe::ReduceKindAttr::get(
        context, static_cast<tracea_pipe::ReduceKind>(random.below(4)));
  if (auto unit = dyn_cast<tracea_pipe::UnitAttr>(attribute))
    return tracea_pipe::UnitAttr::get(context,
                                      unit.getValue() == tracea_pipe::Unit::Mma
                                          ? tracea_pipe::Unit::Copy
                                          : tracea_pipe::Unit::Mma);
  return {};
}
