//===- GlobalTile.cpp - Register tiles in global memory -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Memory/GlobalTile.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tracea/Conversion/TraceaPipeToGPU/Walks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <numeric>

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Bits of a register.
constexpr int64_t kWordBits = 32;

GlobalTile::GlobalTile(Emitter &b, const GlobalWindow &window,
                       RankedTensorType tile, ValueRange limits)
    : b(b), window(window), buffer(b.context.getBuffer(window)), tile(tile),
      lanes(getLanes(tile)), limits(limits), coordinates(b, lanes) {}

/// The dimension of the tile whose neighbours are neighbours in memory.
std::optional<unsigned> GlobalTile::getColumnDim() const {
  if (window.dims.empty())
    return std::nullopt;
  for (unsigned dim = 0; dim < tile.getRank(); ++dim) {
    bool isColumn = true;
    for (auto [number, entry] : llvm::enumerate(window.dims))
      isColumn &=
          window.getFactor(entry, dim) ==
              (number + 1 == window.dims.size() ? 1 : 0) &&
          (window.getFactor(entry, dim) != 0 || !window.dependsOn(entry, dim));
    if (isColumn)
      return dim;
  }
  return std::nullopt;
}

/// What the bytes from the buffer's beginning to an element are a multiple of,
/// but for what its register adds.
int64_t GlobalTile::getColumnAlignment() const {
  const WindowDim &column = window.dims.back();
  int64_t elements = column.form.constant;
  auto add = [&](ArrayRef<DenseI64ArrayAttr> basis) {
    for (DenseI64ArrayAttr vector : basis)
      for (auto [dim, step] : llvm::enumerate(vector.asArrayRef())) {
        int64_t factor = window.getFactor(column, dim);
        // What walks adds anything.
        bool adds = step && !factor && window.dependsOn(column, dim);
        elements = std::gcd(elements, adds ? 1 : factor * step);
      }
  };
  add(lanes.getLane());
  add(lanes.getWarp());
  for (const WindowDim::Term &term : column.terms)
    elements = std::gcd(elements, term.factor * term.divisor);
  // Only 16 bytes and their divisors matter; a sum that wraps stays a multiple
  // of those.
  int64_t bytes = getElementBytes(buffer.type);
  int64_t whole = std::gcd(elements, kWidestAccess) * bytes;
  return std::gcd(elements ? whole : kWidestAccess, buffer.alignment);
}

/// What the columns that a limit leaves are a multiple of: so many neighbours
/// lie below it together, or none of them.
int64_t GlobalTile::getLimitDivisor(unsigned column) const {
  if (limits.empty())
    return kWidestAccess;
  return std::gcd(getKnownDivisor(limits[column]), kWidestAccess);
}

SmallVector<GlobalTile::Piece> GlobalTile::getPieces(bool whole,
                                                     bool share) const {
  // Dimensions that tell one element, or its condition, from another.
  SmallVector<bool> matters(tile.getRank(), !share);
  for (unsigned dim = 0; dim < tile.getRank(); ++dim) {
    for (const WindowDim &entry : window.dims)
      matters[dim] |= window.dependsOn(entry, dim);
    if (!limits.empty()) {
      std::optional<int64_t> known = getConstantIntValue(limits[dim]);
      matters[dim] |= !whole && !(known && *known >= tile.getDimSize(dim));
    }
  }
  std::map<SmallVector<int64_t>, SmallVector<int64_t>> elements;
  SmallVector<SmallVector<int64_t>> order;
  for (int64_t reg = 0; reg < lanes.getNumRegisters(); ++reg) {
    SmallVector<int64_t> at = lanes.getCoordinate(reg, 0);
    for (auto [coordinate, kept] : llvm::zip(at, matters))
      coordinate = kept ? coordinate : 0;
    SmallVector<int64_t> &registers = elements[at];
    if (registers.empty())
      order.push_back(at);
    registers.push_back(reg);
  }
  std::optional<unsigned> column = getColumnDim();
  int64_t bytes = getElementBytes(buffer.type);
  int64_t widest = 1;
  // Lanes that move by multiples of a run keep it whole, by sums or XORs.
  if (column && bytes)
    widest = std::max<int64_t>(getColumnAlignment() / bytes, 1);
  if (!whole && column)
    widest = std::min(widest, getLimitDivisor(*column));
  SmallVector<Piece> pieces;
  for (const SmallVector<int64_t> &at : order) {
    if (elements[at].empty())
      continue;
    int64_t width = widest;
    auto isRun = [&]() {
      SmallVector<int64_t> next = at;
      if (width > 1 && at[*column] % width)
        return false;
      for (int64_t i = 1; i < width; ++i) {
        ++next[*column];
        auto it = elements.find(next);
        if (it == elements.end() || it->second.empty())
          return false;
      }
      return true;
    };
    while (!isRun())
      width /= 2;
    Piece &piece = pieces.emplace_back();
    piece.coordinate = at;
    SmallVector<int64_t> next = at;
    for (int64_t i = 0; i < width; ++i) {
      piece.registers.push_back(std::move(elements[next]));
      elements[next].clear();
      if (column)
        ++next[*column];
    }
  }
  return pieces;
}

Address GlobalTile::getPlace(const Piece &piece) {
  SmallVector<int64_t> fixed = piece.coordinate;
  int64_t displacement = 0;
  std::optional<unsigned> column = getColumnDim();
  if (column && lanes.hasSeparateLanes())
    std::swap(displacement, fixed[*column]);
  Address place = b.global(
      window, getMapInputs(b, window, toIndices(b, coordinates.get(fixed))));
  return displacement
             ? b.advance(place, buffer.type.getElementType(), displacement)
             : place;
}

std::pair<int64_t, int64_t> GlobalTile::getAccesses(bool isLoad) const {
  SmallVector<Piece> pieces = getPieces(/*whole=*/true, /*share=*/isLoad);
  size_t widest = 0;
  for (const Piece &piece : pieces)
    widest = std::max(widest, piece.registers.size());
  return {static_cast<int64_t>(pieces.size()),
          static_cast<int64_t>(widest) * getElementBytes(buffer.type)};
}

/// Stores `registers`, or without them loads and returns them.
Value GlobalTile::access(bool whole, Value padding, Value registers) {
  bool isLoad = !registers;
  Type element = tile.getElementType();
  int64_t bytes = getElementBytes(buffer.type);
  SmallVector<Value> elements(isLoad ? lanes.getNumRegisters() : 0);
  for (const Piece &piece : getPieces(whole, isLoad)) {
    int64_t width = piece.registers.size();
    Type type = width == 1 ? element : VectorType::get(width, element);
    auto load = [&]() -> Value {
      return b.load(type, getPlace(piece), width * bytes);
    };
    auto store = [&]() {
      SmallVector<Value> values;
      for (ArrayRef<int64_t> held : piece.registers)
        values.push_back(vector::ExtractOp::create(b, registers, held.back()));
      Value value = values.front();
      if (width > 1)
        value =
            vector::FromElementsOp::create(b, cast<VectorType>(type), values);
      b.store(value, getPlace(piece), width * bytes);
    };
    Value below;
    if (!whole)
      below = isBelow(b, coordinates.get(piece.coordinate), limits,
                      tile.getShape());
    Value value;
    if (isLoad)
      value = b.choose(type, below, load, [&]() -> Value {
        return width == 1 ? padding
                          : vector::BroadcastOp::create(b, type, padding);
      });
    else
      b.onlyIf(below, store);
    if (isLoad)
      for (auto [number, held] : llvm::enumerate(piece.registers)) {
        Value one = value;
        if (width > 1)
          one = vector::ExtractOp::create(b, value, number);
        for (int64_t reg : held)
          elements[reg] = one;
      }
  }
  return isLoad ? pack(elements) : Value();
}

/// Words of 32 bits where elements fill them: a smaller value takes a register
/// of its own.
VectorType GlobalTile::getPackedType() {
  VectorType type = getLaneVector(tile);
  if (type.getElementType().isIndex())
    return type;
  int64_t bits = type.getElementTypeBitWidth();
  int64_t perWord = kWordBits / bits;
  if (perWord < 2 || kWordBits % bits || type.getNumElements() % perWord)
    return type;
  return VectorType::get(type.getNumElements() / perWord, b.getI32Type());
}

Value GlobalTile::pack(ValueRange elements) {
  VectorType type = getLaneVector(tile), packed = getPackedType();
  if (type == packed)
    return vector::FromElementsOp::create(b, type, elements);
  int64_t perWord = type.getNumElements() / packed.getNumElements();
  auto part = VectorType::get(perWord, type.getElementType());
  auto word = VectorType::get(1, b.getI32Type());
  SmallVector<Value> words;
  for (int64_t i = 0; i < type.getNumElements(); i += perWord) {
    Value few =
        vector::FromElementsOp::create(b, part, elements.slice(i, perWord));
    words.push_back(vector::ExtractOp::create(
        b, vector::BitCastOp::create(b, word, few), 0));
  }
  return vector::FromElementsOp::create(b, packed, words);
}

Value GlobalTile::unpack(Value registers) {
  VectorType type = getLaneVector(tile);
  if (registers.getType() == type)
    return registers;
  return vector::BitCastOp::create(b, type, registers);
}

Value GlobalTile::load(Value padding) {
  auto loadTile = [&](bool whole) { return access(whole, padding, Value()); };
  return unpack(b.choose(
      getPackedType(), isWhole(b, limits, tile.getShape()),
      [&]() { return loadTile(true); }, [&]() { return loadTile(false); }));
}

void GlobalTile::store(Value registers) {
  b.either(
      isWhole(b, limits, tile.getShape()),
      [&]() { access(/*whole=*/true, Value(), registers); },
      [&]() { access(/*whole=*/false, Value(), registers); });
}
