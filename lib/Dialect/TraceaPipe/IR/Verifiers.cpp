//===- Verifiers.cpp - Checks that operations share -----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Verifiers.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"
#include "tracea/Dialect/TraceaPipe/IR/Words.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

LogicalResult verifiers::verifyTileType(Operation *op, StringRef what,
                                        Type type) {
  if (!isRegisterTile(type))
    return success();
  auto tensor = cast<RankedTensorType>(type);
  return getLanes(type).verifyEncoding(
      tensor.getShape(), tensor.getElementType(),
      [&]() { return op->emitOpError() << what << " is a "; });
}

/// Coefficients of access maps stay where no index arithmetic can overflow.
static constexpr int64_t kMaxCoefficient = int64_t(1) << 30;

LogicalResult verifiers::verifyAccess(Operation *op, ShapedType memory,
                                      int64_t tileRank, int64_t numInputs,
                                      ValueRange indices, ValueRange limits,
                                      AffineMap map) {
  if (static_cast<int64_t>(indices.size()) != memory.getRank())
    return op->emitOpError()
           << "expects one index per dimension of " << memory << " ("
           << memory.getRank() << "), found " << indices.size();
  if (static_cast<int64_t>(map.getNumDims()) != numInputs ||
      map.getNumSymbols() != 0 ||
      static_cast<int64_t>(map.getNumResults()) != memory.getRank()) {
    InFlightDiagnostic error = op->emitOpError()
                               << "expects a map from the tile's " << numInputs
                               << " dimensions";
    if (numInputs != tileRank)
      error << " (" << tileRank << ", of which walks have coordinates)";
    return error << " to the memory's " << memory.getRank() << ", found "
                 << AffineMapAttr::get(map);
  }
  for (AffineExpr result : map.getResults()) {
    std::optional<LinearForm> form = tryGetLinearForm(result, numInputs);
    auto isLarge = [](int64_t c) {
      return c > kMaxCoefficient || c < -kMaxCoefficient;
    };
    if (!form || isLarge(form->constant) ||
        llvm::any_of(form->coefficients, isLarge))
      return op->emitOpError() << "expects a map linear in the tile's "
                                  "coordinates, with coefficients in [-2^30, "
                                  "2^30], found "
                               << AffineMapAttr::get(map);
  }
  if (!limits.empty() && static_cast<int64_t>(limits.size()) != tileRank)
    return op->emitOpError() << "expects one limit per tile dimension ("
                             << tileRank << "), found " << limits.size();
  return success();
}

/// Dimensions of the source that a copy fills with zeros outside of it.
static LogicalResult verifyPadded(Operation *op, ArrayRef<int64_t> padded,
                                  int64_t rank) {
  for (auto [position, dim] : llvm::enumerate(padded)) {
    if (dim < 0 || dim >= rank)
      return op->emitOpError() << "expects padded dimensions of the source, "
                                  "which has rank "
                               << rank << ", found " << dim;
    if (llvm::is_contained(padded.take_front(position), dim))
      return op->emitOpError() << "repeats the padded dimension " << dim;
  }
  return success();
}

/// Which dimensions of the tile walk, and through what.
static LogicalResult verifyWalks(Operation *op, const TileTransfer &transfer) {
  if (transfer.along.size() != transfer.walks.size())
    return op->emitOpError()
           << "expects one walk for each dimension in "
              "'along' ("
           << transfer.along.size() << "), found " << transfer.walks.size();
  int64_t rank = transfer.shape.size(), before = -1;
  for (int64_t dim : transfer.along) {
    if (dim < 0 || dim >= rank)
      return op->emitOpError() << "expects 'along' to list dimensions of the "
                                  "tile, which has rank "
                               << rank << ", found " << dim;
    if (dim <= before)
      return op->emitOpError() << "expects 'along' to list dimensions in "
                                  "ascending order, found "
                               << dim << " behind " << before;
    before = dim;
  }
  for (Value walk : transfer.walks)
    if (!getDelinearize(walk) && !getGather(walk))
      return op->emitOpError()
             << "expects walks that 'tracea_pipe.delinearize' or "
                "'tracea_pipe.gather' makes, found one that comes from "
                "elsewhere";
  return success();
}

LogicalResult verifiers::verifyTransfer(Operation *op) {
  TileTransfer transfer = *getTileTransfer(op);
  auto memory = cast<ShapedType>(transfer.memory.getType());
  if (failed(verifyWalks(op, transfer)))
    return failure();
  if (failed(verifyPadded(op, transfer.padded, memory.getRank())))
    return failure();
  return verifyAccess(op, memory, transfer.shape.size(),
                      getMapInputs(transfer).size(), transfer.indices,
                      transfer.limits, transfer.map);
}

LogicalResult verifiers::verifyCopied(Operation *op, Type source, Type dest) {
  auto isNumber = [](Type type) {
    return type.isSignlessIntOrFloat() && type.getIntOrFloatBitWidth() <= 64;
  };
  if (isOffsetForm(dest) && !source.isInteger(8))
    return op->emitOpError()
           << "brings integers of i8 into the offset form, found " << source;
  if (!isNumber(source) || !isNumber(getNumberType(dest)))
    return op->emitOpError() << "copies floats and signless integers of up to "
                                "64 bits, found "
                             << source << " and " << dest;
  return success();
}

bool verifiers::isInjective(const TileTransfer &transfer) {
  AffineMap map = transfer.map;
  // Through different coordinates for different elements; how many of each
  // only the run knows.
  SmallVector<int64_t> shape;
  for (const MapInput &input : getMapInputs(transfer))
    shape.push_back(input.walk < 0 ? transfer.shape[input.dim] : INT32_MAX);
  SmallVector<LinearForm> forms;
  for (AffineExpr expr : map.getResults())
    forms.push_back(getLinearForm(expr, shape.size()));
  SmallVector<int64_t> mixed;
  int64_t elements = 1;
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    bool alone = llvm::any_of(forms, [&, dim = dim](const LinearForm &form) {
      return form.coefficients[dim] != 0 &&
             llvm::count_if(form.coefficients,
                            [](int64_t c) { return c != 0; }) == 1;
    });
    if (alone || extent <= 1)
      continue;
    mixed.push_back(dim);
    if (llvm::MulOverflow(elements, extent, elements) || elements > 65536)
      return false;
  }
  llvm::DenseSet<ArrayRef<int64_t>> seen;
  std::vector<SmallVector<int64_t>> images(elements);
  for (int64_t element = 0; element < elements; ++element) {
    SmallVector<int64_t> &image = images[element];
    image.assign(forms.size(), 0);
    int64_t rest = element;
    for (int64_t dim : mixed) {
      for (auto [sum, form] : llvm::zip(image, forms))
        sum += form.coefficients[dim] * (rest % shape[dim]);
      rest /= shape[dim];
    }
    if (!seen.insert(image).second)
      return false;
  }
  return true;
}

LogicalResult verifiers::verifyProduct(Operation *op, ShapedType lhs,
                                       ShapedType rhs, RankedTensorType acc) {
  // By words of a dot product, or element by element.
  bool areWords = isa<MmaOp>(op) && lhs.getRank() == 3;
  if (lhs.getRank() != (areWords ? 3 : 2) || rhs.getRank() != lhs.getRank() ||
      acc.getRank() != 2)
    return op->emitOpError()
           << "expects operands of rank 2, found " << lhs.getRank() << ", "
           << rhs.getRank() << " and " << acc.getRank();
  if (areWords &&
      (isRegisterTile(lhs) || isRegisterTile(rhs) || lhs.getDimSize(2) < 2 ||
       lhs.getDimSize(2) != rhs.getDimSize(2)))
    return op->emitOpError()
           << "expects words of one length, of two elements or more, in staged "
              "operands of rank 3, found "
           << lhs << " and " << rhs;
  auto differ = [](int64_t a, int64_t b) {
    return !ShapedType::isDynamic(a) && !ShapedType::isDynamic(b) && a != b;
  };
  if (differ(lhs.getDimSize(0), acc.getDimSize(0)) ||
      differ(rhs.getDimSize(1), acc.getDimSize(1)) ||
      differ(lhs.getDimSize(1), rhs.getDimSize(0)))
    return op->emitOpError() << "expects [m, k], [k, n] and [m, n], found "
                             << lhs << ", " << rhs << " and " << acc;
  // The left operand of a dot product may be in offset form.
  Type left =
      areWords ? getNumberType(lhs.getElementType()) : lhs.getElementType();
  if (left != rhs.getElementType())
    return op->emitOpError()
           << "expects one element type in both operands, found "
           << lhs.getElementType() << " and " << rhs.getElementType();
  auto isNumber = [](Type type) {
    return type.isSignlessIntOrFloat() && type.getIntOrFloatBitWidth() >= 8;
  };
  if (!isNumber(left) || !isNumber(acc.getElementType()) ||
      isa<FloatType>(left) != isa<FloatType>(acc.getElementType()) ||
      lhs.getElementTypeBitWidth() > acc.getElementTypeBitWidth())
    return op->emitOpError()
           << "cannot accumulate products of " << lhs.getElementType() << " in "
           << acc.getElementType();
  return success();
}

void verifiers::addMemRefEffect(
    OpOperand &operand, bool write,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (!isa<MemRefType>(operand.get().getType()))
    return;
  if (write)
    effects.emplace_back(MemoryEffects::Write::get(), &operand,
                         SideEffects::DefaultResource::get());
  else
    effects.emplace_back(MemoryEffects::Read::get(), &operand,
                         SideEffects::DefaultResource::get());
}
