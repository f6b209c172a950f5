//===- TileConversion.cpp - A tile moves between two lane maps ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Tiles/TileConversion.h"
#include "Tiles/Words.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

alg::Expected<TileConversion>
TileConversion::get(const alg::LaneMap &from, const alg::LaneMap &to,
                    Type elementType, const GPULoweringContext &context) {
  Type stored = getStorageType(elementType);
  if (!stored) {
    std::string text;
    llvm::raw_string_ostream(text) << elementType;
    return alg::Error{"elements of type " + text +
                      " have no form in memory and shuffles"};
  }
  for (const alg::LaneMap *map : {&from, &to})
    if (map->numLanes() > context.getSubgroupSize())
      return alg::Error{"expected lane maps of at most " +
                        std::to_string(context.getSubgroupSize()) +
                        " lanes, found " + std::to_string(map->numLanes())};
  alg::Expected<OddLaneMap> oddFrom = getOddLaneMap(from),
                            oddTo = getOddLaneMap(to);
  if (!oddFrom)
    return oddFrom.error();
  if (!oddTo)
    return oddTo.error();
  alg::Expected<alg::Conversion> conversion = alg::Conversion::get(
      oddFrom->map, oddTo->map, getElementsPerWord(stored));
  if (!conversion)
    return conversion.error();
  TileConversion result(*oddFrom, *oddTo, elementType, *conversion);
  if (conversion->conversionClass() == alg::ConversionClass::SharedMemory ||
      (conversion->conversionClass() == alg::ConversionClass::Shuffle &&
       !conversion->schedule())) {
    alg::Expected<alg::SharedConversion> shared = alg::planSharedConversion(
        oddFrom->map, oddTo->map, stored.getIntOrFloatBitWidth() / 8,
        context.banks);
    if (!shared)
      return shared.error();
    result.shared = *shared;
  }
  return result;
}

alg::ConversionClass TileConversion::getClass() const {
  return shared ? alg::ConversionClass::SharedMemory
                : conversion.conversionClass();
}

int64_t TileConversion::getNumRepeats() const {
  return to.map.numRegisters() >> to.map.numBits(alg::LaneDim::Reg);
}

int64_t TileConversion::getNumShuffles() const {
  if (getClass() != alg::ConversionClass::Shuffle)
    return 0;
  bool isWide = getStorageType(elementType).getIntOrFloatBitWidth() == 64;
  return conversion.shuffleRounds() * (isWide ? 2 : 1);
}

SmallVector<Value> TileConversion::emit(Threads &threads,
                                        ArrayRef<Value> registers,
                                        Value exchange) const {
  SmallVector<Value> ordered;
  for (int64_t reg : from.registers)
    ordered.push_back(registers[reg]);
  SmallVector<Value> moved;
  switch (getClass()) {
  case alg::ConversionClass::NoOp:
  case alg::ConversionClass::RegisterMove:
  case alg::ConversionClass::RegisterSelect:
    moved = emitSelects(threads, ordered);
    break;
  case alg::ConversionClass::Shuffle:
    moved = emitShuffles(threads, ordered);
    break;
  case alg::ConversionClass::SharedMemory:
    moved = emitExchange(threads, ordered, exchange);
    break;
  case alg::ConversionClass::Cluster:
    llvm_unreachable("lane maps of tiles have no blocks");
  }
  SmallVector<Value> result(moved.size());
  for (auto [value, reg] : llvm::zip(moved, to.registers))
    result[reg] = value;
  return result;
}

SmallVector<Value>
TileConversion::emitSelects(Threads &threads, ArrayRef<Value> registers) const {
  // Where each lane's registers come from, by lane and warp bit.
  auto sourceOf = [&](const alg::Location &at) {
    std::optional<alg::Location> source = conversion.source(at);
    assert(source && "bits below the padded widths");
    return source->reg;
  };
  ThreadMap map;
  auto bitsOf = [&](alg::LaneDim dim) {
    return std::max(from.map.numBits(dim), to.map.numBits(dim));
  };
  for (unsigned i = 0; i < bitsOf(alg::LaneDim::Lane); ++i)
    map.byLane.push_back(uint64_t(sourceOf({0, int64_t(1) << i, 0, 0})));
  for (unsigned i = 0; i < bitsOf(alg::LaneDim::Warp); ++i)
    map.byWarp.push_back(uint64_t(sourceOf({0, 0, int64_t(1) << i, 0})));

  int64_t linear = int64_t(1) << from.map.numBits(alg::LaneDim::Reg);
  SmallVector<Value> turned, result;
  for (int64_t first = 0; first < int64_t(registers.size()); first += linear)
    llvm::append_range(turned,
                       threads.rotate(registers.slice(first, linear), map));
  for (int64_t reg = 0; reg < to.map.numRegisters(); ++reg)
    result.push_back(turned[sourceOf({reg, 0, 0, 0})]);
  return result;
}

SmallVector<Value>
TileConversion::emitShuffles(Threads &threads,
                             ArrayRef<Value> registers) const {
  ImplicitLocOpBuilder &b = threads.b;
  alg::ShuffleProgram program = conversion.schedule()->program();
  Type stored = getStorageType(elementType);
  ThreadMap offered{program.offeredByLane, program.offeredByWarp},
      filled{program.filledByLane, program.filledByWarp},
      source{program.sourceByLane, program.sourceByWarp};
  // Lanes at a fixed distance trade words.
  bool trades = ThreadMap{{}, source.byWarp}.isZero();
  for (auto [bit, column] : llvm::enumerate(source.byLane))
    trades &= column == uint64_t(1) << bit;

  int64_t linearFrom = int64_t(1) << from.map.numBits(alg::LaneDim::Reg);
  int64_t linearTo = int64_t(1) << to.map.numBits(alg::LaneDim::Reg);
  SmallVector<Value> result;
  for (int64_t repeat = 0; repeat < getNumRepeats(); ++repeat) {
    SmallVector<Value> values = threads.rotate(
        registers.slice(repeat * linearFrom, linearFrom), offered);
    SmallVector<Value> received(linearTo);
    for (const alg::ShuffleProgram::Round &round : program.rounds) {
      SmallVector<Value> elements;
      for (int64_t reg : round.offered)
        elements.push_back(round.isLocal ? values[reg]
                                         : toStorage(b, values[reg]));
      if (!round.isLocal) {
        Value offset = trades ? getI32(b, round.source)
                              : threads.apply(source, uint64_t(round.source));
        SmallVector<Value> words = threads.shuffle(
            packWords(b, elements), offset,
            trades ? gpu::ShuffleMode::XOR : gpu::ShuffleMode::IDX);
        elements = unpackWords(b, words, stored, int64_t(elements.size()));
        for (Value &element : elements)
          element = fromStorage(b, element, elementType);
      }
      for (auto [reg, element] : llvm::zip(round.filled, elements))
        received[reg] = element;
    }
    received = threads.rotate(received, filled);
    for (int64_t reg = 0; reg < linearTo; ++reg)
      result.push_back(received[conversion.schedule()->representative(reg)]);
  }
  return result;
}
