//===- DotProducts.cpp - The dot products of a module's target ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Analysis/DotProducts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
namespace hardware = ::tracea::target;

using FindProduct = const hardware::DotProduct *(const hardware::HasFeature &,
                                                 int, hardware::UnitKind,
                                                 hardware::ElementType,
                                                 hardware::ElementType);

/// What `find` finds for that type and accumulator on the unit; null where no
/// dot product has them.
static const hardware::DotProduct *findOn(TargetAttr target,
                                          hardware::UnitKind unit, Type type,
                                          Type accumulator, FindProduct find) {
  using E = hardware::ElementType;
  if (!target || target.getKind() != TargetKind::CPU)
    return nullptr;
  bool isInteger =
      (type.isInteger(8) || type.isInteger(16)) && accumulator.isInteger(32);
  if (!isInteger && !(type.isBF16() && accumulator.isF32()))
    return nullptr;
  E element = type.isBF16() ? E::BF16 : type.isInteger(8) ? E::I8 : E::I16;
  SmallVector<StringRef> features;
  target.getFeatures().split(features, ',');
  return find(
      [&](std::string_view name) {
        return llvm::is_contained(
            features, "+" + StringRef(name.data(), name.size()).str());
      },
      static_cast<int>(target.getVectorBits()), unit, element,
      isInteger ? E::I32 : E::F32);
}

const hardware::DotProduct *mlir::tracea::getDotProduct(TargetAttr target,
                                                        hardware::UnitKind unit,
                                                        Type operand,
                                                        Type accumulator) {
  return findOn(target, unit, operand, accumulator, hardware::findDotProduct);
}

Type mlir::tracea::getWordElement(MLIRContext *context,
                                  const hardware::DotProduct &dot) {
  if (dot.element == hardware::ElementType::BF16)
    return BFloat16Type::get(context);
  return IntegerType::get(context, hardware::bitWidth(dot.element));
}

LanesAttr mlir::tracea::getUnitLanes(MLIRContext *context,
                                     const hardware::DotProduct &dot,
                                     ArrayRef<int64_t> shape) {
  assert(shape.size() == 2 && shape[0] % dot.tile.rows == 0 &&
         shape[1] % dot.columns() == 0 && "expects whole tiles");
  SmallVector<DenseI64ArrayAttr> lane;
  for (int64_t column = 1; column < dot.columns(); column *= 2)
    lane.push_back(DenseI64ArrayAttr::get(context, {0, column}));
  for (int64_t row = 1; row < dot.tile.rows; row *= 2)
    lane.push_back(DenseI64ArrayAttr::get(context, {row, 0}));
  return LanesAttr::get(context, {}, lane, {},
                        {shape[0] / dot.tile.rows, shape[1] / dot.columns()});
}

/// Whether `sums` are held in tiles of the product's unit.
static bool isUnitTile(const hardware::DotProduct &dot, RankedTensorType sums) {
  ArrayRef<int64_t> shape = sums.getShape();
  return dot.tile.registers > 0 && shape.size() == 2 &&
         shape[0] % dot.tile.rows == 0 && shape[1] % dot.columns() == 0 &&
         getLanes(sums) == getUnitLanes(sums.getContext(), dot, shape);
}

const hardware::DotProduct *
mlir::tracea::getWordProduct(TargetAttr target, Type element,
                             RankedTensorType sums) {
  Type accumulator = sums.getElementType();
  auto find = [&](hardware::UnitKind unit) {
    return findOn(target, unit, element, accumulator,
                  hardware::findWordProduct);
  };
  const hardware::DotProduct *tiles = find(hardware::UnitKind::AMX);
  if (tiles && isUnitTile(*tiles, sums))
    return tiles;
  return find(hardware::UnitKind::Vector);
}

/// The products of the target's tile unit, of all types.
static SmallVector<const hardware::DotProduct *>
getUnitProducts(TargetAttr target) {
  SmallVector<const hardware::DotProduct *> products;
  if (!target)
    return products;
  MLIRContext *context = target.getContext();
  Type i8 = IntegerType::get(context, 8), i32 = IntegerType::get(context, 32);
  Type bf16 = BFloat16Type::get(context), f32 = Float32Type::get(context);
  for (auto [operand, accumulator] : {std::pair(i8, i32), {bf16, f32}})
    if (const hardware::DotProduct *dot = getDotProduct(
            target, hardware::UnitKind::AMX, operand, accumulator))
      products.push_back(dot);
  return products;
}

const hardware::TileShape *mlir::tracea::getUnitTile(TargetAttr target,
                                                     RankedTensorType sums) {
  Type type = sums.getElementType();
  if (!type.isF32() && !type.isInteger(32))
    return nullptr;
  for (const hardware::DotProduct *dot : getUnitProducts(target))
    if (type.isF32() == (dot->accumulator == hardware::ElementType::F32) &&
        isUnitTile(*dot, sums))
      return &dot->tile;
  return nullptr;
}

int64_t mlir::tracea::getUnitRegisters(TargetAttr target) {
  int64_t registers = 0;
  for (const hardware::DotProduct *dot : getUnitProducts(target))
    registers = std::max<int64_t>(registers, dot->tile.registers);
  return registers;
}
