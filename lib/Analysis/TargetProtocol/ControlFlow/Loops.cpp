//===- Loops.cpp - Loops that count -------------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short ones are unrolled, those that only touch memory are one step, others
// read a trip count.

#include "../Operands.h"
#include "../ProgramBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "tracea/Dialect/TraceaPipe/IR/KernelInterface.h"

using namespace mlir;
using namespace mlir::tracea;

/// Loops of known counts up to this are unrolled.
static constexpr uint64_t kMaxUnrolled = 16;

/// Whether a value is compared with a constant in the loop, which its first
/// iteration may decide.
static bool comparesIteration(scf::ForOp loop) {
  return llvm::any_of(loop.getInductionVar().getUsers(), [](Operation *user) {
    return isa<arith::CmpIOp, LLVM::ICmpOp>(user);
  });
}

std::string ProgramBuilder::tripKey(const Symbol *lower, const Symbol *upper,
                                    const Symbol *step, StringRef predicate) {
  auto text = [](const Symbol *symbol) {
    return symbol->isConstant()
               ? std::to_string(symbol->value)
               : "s" + std::to_string(reinterpret_cast<uintptr_t>(symbol));
  };
  return text(lower) + " to " + text(upper) + " step " + text(step) + " " +
         predicate.str();
}

bool ProgramBuilder::isNonempty(const Symbol *lower, const Symbol *upper) {
  if (!lower->isConstant())
    return false;
  if (upper->low > lower->value && upper->high >> (upper->bits - 1) == 0)
    return true;
  auto it = context.minimum.find(upper);
  return it != context.minimum.end() && it->second > lower->value;
}

/// What names the results of a loop that only computes, from numbers that all
/// roles have alike; empty where it does not.
static std::string getFunctionKey(scf::ForOp loop, ValueSymbols &values,
                                  bool &varies) {
  std::string key;
  llvm::raw_string_ostream stream(key);
  stream << "loop " << loop.getAsOpaquePointer();
  bool isKnown = true;
  loop->walk([&](Operation *op) {
    bool isUnchanged =
        isa<LLVM::LoadOp>(op) && op->hasAttr(tracea_pipe::kUnchangedAttrName);
    isKnown &= isa<scf::ForOp, scf::YieldOp>(op) || isUnchanged ||
               (isMemoryEffectFree(op) && op->getNumRegions() == 0);
    for (Value operand : op->getOperands()) {
      Operation *owner = operand.getParentRegion()->getParentOp();
      if (loop->isAncestor(owner))
        continue;
      const Symbol *symbol = values.get(operand);
      isKnown &= !symbol->onThread && !symbol->isPrivate && !symbol->onWalk;
      varies |= symbol->varies;
      stream << " " << static_cast<const void *>(symbol);
    }
  });
  return isKnown ? key : "";
}

void ProgramBuilder::emitFor(scf::ForOp loop) {
  if (!isRelevant(loop)) {
    bool varies = false;
    std::string key = getFunctionKey(loop, values, varies);
    for (OpResult result : loop.getResults())
      if (unsigned bits = getSymbolBits(result.getType()))
        values.bind(
            result,
            key.empty()
                ? values.unknown(result, false)
                : context.symbols.opaque(
                      key + " #" + std::to_string(result.getResultNumber()),
                      bits, /*isPrivate=*/false, varies));
    return;
  }
  const Symbol *lower = values.get(loop.getLowerBound());
  const Symbol *upper = values.get(loop.getUpperBound());
  const Symbol *step = values.get(loop.getStep());
  if (lower->onThread || upper->onThread || step->onThread) {
    context.undecided(loop, "lanes of one warp do not agree on the trip count");
    return;
  }
  unsigned bits = getSymbolBits(loop.getInductionVar().getType());
  assign(loop, loop.getRegionIterArgs(), symbolsOf(loop.getInits()));
  auto body = [&](const Symbol *iteration) {
    values.bind(loop.getInductionVar(), iteration);
    emitBlock(*loop.getBody());
    assign(loop, loop.getRegionIterArgs(), symbolsOf(loop.getYieldedValues()));
  };
  auto finish = [&] {
    for (auto [argument, result] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults()))
      if (getSymbolBits(result.getType()))
        values.bind(result, values.get(argument));
  };
  bool constant = lower->isConstant() && upper->isConstant() &&
                  step->isConstant() && step->value;
  if (constant) {
    uint64_t count =
        upper->value > lower->value
            ? llvm::divideCeil(upper->value - lower->value, step->value)
            : 0;
    // One more from zero: the rest is a loop of its own where another role has
    // the first iteration in front of it.
    if (count <= kMaxUnrolled + lower->isConstant(0)) {
      for (uint64_t i = 0; i < count; ++i)
        body(context.symbols.constant(lower->value + i * step->value, bits));
      return finish();
    }
    // Iterations that only touch memory: as if all were one. What one writes
    // the next may read.
    uint64_t last = lower->value + (count - 1) * step->value;
    bool walks = llvm::any_of(loop.getRegionIterArgs(), [&](Value argument) {
      return this->walks.contains(argument);
    });
    if (!walks && last >> (bits - 1) == 0 &&
        !findSynchronization(context, loop.getBody())) {
      const Symbol *all = context.symbols.opaque(
          "any of " + tripKey(lower, upper, step, "signed"), bits,
          /*isPrivate=*/true, /*varies=*/true, lower->value, last);
      size_t before = program.events.size();
      body(all);
      bool writes = std::any_of(
          program.events.begin() + before, program.events.end(),
          [](const Event &event) { return event.kind == Event::Write; });
      if (writes)
        body(all);
      return finish();
    }
  }
  std::string key;
  auto it = continued.find(loop);
  bool peels = lower->isConstant(0) && step->isConstant();
  bool peeled = false;
  if (it == continued.end() && peels && isNonempty(lower, upper)) {
    body(lower);
    lower = step;
    peels = false;
    peeled = true;
  }
  bool isPrivate = lower->isPrivate || upper->isPrivate || step->isPrivate ||
                   lower->onWalk || upper->onWalk || step->onWalk;
  bool varies = lower->varies || upper->varies || step->varies;
  key = it != continued.end()
            ? it->second
            : shareKey(tripKey(lower, upper, step,
                               loop.getUnsignedCmp() ? "unsigned" : "signed"),
                       isPrivate, varies, loop);
  int trip = tripOf(key);
  size_t early = 0;
  if (peels && comparesIteration(loop) && it == continued.end()) {
    early = emitNext(loop, trip);
    body(lower);
    lower = step;
    peeled = true;
  }
  bool knownBefore = contextKnown;
  std::string keyBefore = contextKey;
  // Iterations that are written apart are not those of another role's loop.
  contextKnown &= !peeled && it == continued.end();
  contextKey += "/" + key;
  size_t head = emitNext(loop, trip);
  uint64_t first = lower->isConstant() ? lower->value : 0;
  uint64_t last = ~uint64_t(0);
  if (constant && upper->value > first && upper->value >> (bits - 1) == 0)
    last = first + (upper->value - 1 - first) / step->value * step->value;
  body(context.symbols.opaque(
      "iteration of " + contextKey + (contextKnown ? "" : " elsewhere ") +
          std::to_string(first),
      bits, !contextKnown, /*varies=*/true, first, last));
  add(Event::Jump, loop).target = head;
  program.events[head].target = program.events.size();
  if (early)
    program.events[early].target = program.events.size();
  contextKnown = knownBefore;
  contextKey = keyBefore;
  finish();
}
