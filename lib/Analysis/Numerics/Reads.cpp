//===- Reads.cpp - Loads, copies and what comes through channels ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Evaluator.h"
#include "tracea/Dialect/TraceaPipe/IR/TileTransfer.h"
#include "tracea/Dialect/TraceaPipe/IR/Words.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::tracea::numerics;
using namespace mlir::tracea_pipe;

static TermRef getZero(TermSpace &terms, Type type) {
  if (type.isInteger(1))
    return terms.truth(false);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (auto floatType = dyn_cast<FloatType>(type))
    stream << FloatAttr::get(floatType, 0.0);
  else
    stream << IntegerAttr::get(type, 0);
  return terms.constant(text);
}

TermRef Evaluator::read(Value memory, const Coordinates &at, Operation *point,
                        Env env) {
  Value object = getObject(memory);
  if (!object) {
    index.fail(("'" + point->getName().getStringRef() +
                "' reads memory that is not followed")
                   .str());
    return terms.undefined();
  }
  Coordinates place = inObject(memory, at, env);
  if (auto wait = object.getDefiningOp<WaitOp>())
    return readWait(wait, cast<OpResult>(object).getResultNumber(), place, env);
  if (auto stage = object.getDefiningOp<StageOp>())
    return copied(stage, place, env);
  if (isOfCluster(object, point)) {
    PeerOp peer = getPeer(memory);
    Value number =
        peer ? Value(peer.getWorkgroup()) : Value(tiles.getIndices().front());
    return readShared(object, place, indexOf(number, env), point, env);
  }
  auto it = writers.find(object);
  if (it == writers.end() || it->second.empty())
    return initially(object, place);
  return lastWrite(object, place, point->getBlock(), point->getIterator(), env);
}

TermRef Evaluator::whereInside(Value memory, ArrayRef<int64_t> padded,
                               const Coordinates &place, Env env,
                               Facts Environment::*known,
                               llvm::function_ref<TermRef(Env)> inside,
                               llvm::function_ref<TermRef(Env)> outside) {
  std::function<TermRef(unsigned, Env)> next = [&](unsigned number,
                                                   Env e) -> TermRef {
    if (number == 2 * padded.size())
      return inside(e);
    int64_t dim = padded[number / 2];
    Form room = place[dim];
    if (number % 2)
      room = index.sub(index.sub(extentOf(memory, dim), room), Form(1));
    return choose(
        terms.condition(room, /*isEquality=*/false, e->*known), e,
        [&](Env inner) { return next(number + 1, inner); }, outside);
  };
  return next(0, env);
}

TermRef Evaluator::load(LoadOp op, const Coordinates &at, Env env) {
  Type element = getElementTypeOrSelf(op.getResult().getType());
  auto otherwise = [&](Env e) {
    return op.getPadding() ? termOf(op.getPadding(), {}, e)
                           : getZero(terms, element);
  };
  std::function<TermRef(unsigned, Env)> below = [&](unsigned dim,
                                                    Env e) -> TermRef {
    if (dim == op.getLimits().size()) {
      Coordinates place = this->place(op, at, e);
      return whereInside(
          op.getSource(), op.getPadded(), place, e, &Environment::facts,
          [&](Env inner) { return read(op.getSource(), place, op, inner); },
          otherwise);
    }
    Form room =
        index.sub(index.sub(indexOf(op.getLimits()[dim], e), at[dim]), Form(1));
    return choose(
        terms.condition(room, /*isEquality=*/false, e->facts), e,
        [&](Env inner) { return below(dim + 1, inner); }, otherwise);
  };
  return below(0, env);
}

/// Element `at` of what a copy or a stage fills.
TermRef Evaluator::copied(Operation *op, const Coordinates &at, Env env) {
  TileTransfer transfer = *getTileTransfer(op);
  Value source = transfer.memory;
  ArrayRef<int64_t> padded = transfer.padded;
  // The offset form is another way to hold the same numbers.
  Type to = getNumberType(getElementTypeOrSelf(
      isa<CopyOp>(op) ? transfer.tile.getType() : op->getResult(0).getType()));
  auto type = cast<MemRefType>(source.getType());
  Coordinates place = this->place(op, at, env);
  // By what loops and limits say alone, as indices are: a word that ends beyond
  // k looks the same on both sides of a branch on the last block.
  return whereInside(
      source, padded, place, env, &Environment::ranges,
      [&](Env e) {
        return convert(read(source, place, op, e), type.getElementType(), to);
      },
      [&](Env) { return getZero(terms, to); });
}
