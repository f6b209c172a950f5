//===- HostMoves.cpp - Fills and copies that need no kernel ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Dialect/TraceaPipe/Utils/HostMoves.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

std::optional<uint8_t> mlir::tracea_pipe::getFillByte(linalg::FillOp op) {
  Attribute value;
  if (!matchPattern(op.getInputs().front(), m_Constant(&value)))
    return std::nullopt;
  APInt bits;
  if (auto number = dyn_cast<FloatAttr>(value))
    bits = number.getValue().bitcastToAPInt();
  else if (auto number = dyn_cast<IntegerAttr>(value))
    bits = number.getValue();
  // A truth value is one byte in memory, but not in the constant.
  if (bits.getBitWidth() < 8 || bits.getBitWidth() % 8 || !bits.isSplat(8))
    return std::nullopt;
  return static_cast<uint8_t>(bits.extractBitsAsZExtValue(8, 0));
}

bool mlir::tracea_pipe::isHostMove(Operation *op) {
  auto isOnePiece = [](Value value) {
    auto type = dyn_cast<MemRefType>(value.getType());
    return type && type.areTrailingDimsContiguous(type.getRank());
  };
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return isOnePiece(copy.getSource()) && isOnePiece(copy.getTarget());
  auto fill = dyn_cast<linalg::FillOp>(op);
  return fill && isOnePiece(fill.getOutputs().front()) &&
         getFillByte(fill).has_value();
}
