//===- SumSources.cpp - Where the operands of a sum come from ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SumExtraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
using cov::Expr;
using cov::Term;

/// Rounding does not change which elements a tile has.
static Value skipRounding(Value tile) {
  while (Operation *op = tile.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
      break;
    tile = op->getOperand(0);
  }
  return tile;
}

static std::optional<TileAccess> getRead(Operation *op, StringRef operand,
                                         IndexContext &context) {
  std::string verb = ("reads its " + operand).str();
  for (TileAccess &access : getAccesses(op, context))
    if (access.verb == verb)
      return std::move(access);
  return std::nullopt;
}

void SumExtraction::addOperand(Operation *product, StringRef verb,
                               const TileAccess &access, const Expr &contracted,
                               SumSide &side) {
  SumOperand operand;
  operand.product = product;
  operand.verb = verb;
  operand.contracted = contracted;
  operand.place = resolve(access.memory, access.indices, context);
  operand.guard = access.guard;
  if (!operand.place.unknown.empty()) {
    side.undecided = operand.place.unknown;
    return;
  }
  operand.staged = operand.place.buffer.getDefiningOp();
  side.operands.push_back(std::move(operand));
}

/// The tile that `tile` has its columns from, from column `offset` on.
static Value skipSlices(Value tile, int64_t &offset) {
  while (Operation *op = tile.getDefiningOp()) {
    if (auto slice = dyn_cast<SliceOp>(op))
      offset += slice.getOffsets()[1];
    else if (!isa<RelayoutOp, arith::ExtFOp, arith::TruncFOp>(op))
      break;
    tile = op->getOperand(0);
  }
  return tile;
}

/// The terms are the columns of the product that it was computed from: the rows
/// of what that one has on its right. Of several products, of which it was
/// computed element by element, each one has them.
bool SumExtraction::addColumns(Operation *product, Value tile, SumSide &side) {
  int64_t width = cast<RankedTensorType>(tile.getType()).getDimSize(1);
  int64_t offset = 0;
  tile = skipSlices(tile, offset);
  llvm::SetVector<Operation *> origins = getOrigins(tile);
  for (auto [number, origin] : llvm::enumerate(origins)) {
    if (llvm::is_contained(sum.products, origin))
      return false;
    size_t known = side.operands.size();
    llvm::scope_exit mark([&, number = number] {
      for (SumOperand &operand : llvm::drop_begin(side.operands, known))
        operand.origin = number;
    });
    if (llvm::any_of(side.operands,
                     [&, origin = origin](const SumOperand &operand) {
                       return operand.product == origin;
                     }))
      continue;
    if (std::optional<TileAccess> access = getRead(origin, "rhs", context)) {
      addOperand(origin, "rhs", *access,
                 context.getElement(origin, 1, 0, 1, "column"), side);
      continue;
    }
    // Or what lanes have loaded of it.
    auto load = skipRounding(origin->getOperand(1)).getDefiningOp<LoadOp>();
    if (!load)
      return false;
    int64_t columns =
        cast<RankedTensorType>(load.getResult().getType()).getDimSize(1);
    TileAccess access = getAccesses(load, context).front();
    Expr column = context.getElement(load, 0, 1, columns, "e");
    if (width == columns || origin->getBlock() != product->getBlock()) {
      addOperand(origin, "rhs", access, column, side);
      continue;
    }
    // Some of its columns, which meet as many rows of the right operand.
    Expr own = context.getElement(product, 0, 1, width, "column");
    std::map<Term, Expr> names{{column.terms().front().first, own + offset}};
    for (Expr &index : access.indices)
      index = space.substitute(index, names);
    for (cov::Constraint &constraint : access.guard)
      constraint = space.substitute(constraint, names);
    addOperand(product, "lhs", access, own, side);
  }
  return !origins.empty();
}

void SumExtraction::addOperand(Operation *product, unsigned number,
                               SumSide &side) {
  StringRef verb = number == 0 ? "lhs" : "rhs";
  Value value = product->getOperand(number);
  // Which rows have a term is left to the values of the results.
  if (auto mma = dyn_cast<MmaOp>(product); mma && !mma.getRows().empty())
    side.undecided = "it leaves out rows";
  if (!isRegisterTile(value.getType())) {
    std::optional<TileAccess> access = getRead(product, verb, context);
    if (!access)
      side.undecided = "an operand has a shape that is not known";
    else
      addOperand(product, verb, *access, getContracted(product, context), side);
    return;
  }
  auto load = skipRounding(value).getDefiningOp<LoadOp>();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!load || !type || type.getRank() != 2) {
    side.isComputed |= number == 1 || !addColumns(product, value, side);
    return;
  }
  TileAccess access = getAccesses(load, context).front();
  int64_t dim = number == 0 ? 1 : 0;
  Expr contracted = context.getElement(load, 0, dim, type.getDimSize(dim), "e");
  if (auto mma = dyn_cast<MmaOp>(product); mma && mma.getDepth())
    indices.math.require(context.get(mma.getDepth()) - 1 - contracted,
                         access.guard);
  addOperand(product, verb, access, contracted, side);
}

std::optional<SumSource> SumExtraction::getSource(const SumOperand &operand,
                                                  Operation *fill,
                                                  bool isRemote,
                                                  SumSide &side) {
  SumSource source;
  source.operand = &operand;
  source.isRemote = isRemote;
  source.op = fill ? fill : operand.product;
  source.guard = operand.guard;
  Place place = operand.place;
  IndexScope inner = context.getScope(operand.product);
  // The loops of a copy elsewhere stand for those of the multiply.
  for (const cov::Constraint &constraint : inner.guard)
    if (!isRemote || space.isSymbolic(constraint.expr))
      source.guard.push_back(constraint);
  std::string overestimate = inner.overestimate;
  if (fill) {
    TileAccess access = getAccesses(fill, context).front();
    place = resolve(access.memory, access.indices, context);
    // The copy's element is the one that the multiply reads.
    std::map<Term, Expr> elements;
    for (auto [dim, index] : llvm::enumerate(operand.place.indices)) {
      Expr element = context.getElement(fill, 0, dim, 1, "e");
      if (!element.isConstant())
        elements[element.terms().front().first] = index;
    }
    for (Expr &index : place.indices)
      index = space.substitute(index, elements);
    for (const cov::Constraint &constraint : access.guard)
      source.guard.push_back(space.substitute(constraint, elements));
    IndexScope outer = context.getScope(fill);
    llvm::append_range(source.guard, outer.guard);
    if (overestimate.empty())
      overestimate = outer.overestimate;
  }
  if (!place.unknown.empty() || !overestimate.empty()) {
    side.undecided = place.unknown.empty() ? overestimate : place.unknown;
    return std::nullopt;
  }
  source.buffer = dyn_cast<BlockArgument>(place.buffer);
  if (!source.buffer ||
      !isa<KernelOp>(source.buffer.getOwner()->getParentOp())) {
    side.isComputed = true;
    return std::nullopt;
  }
  source.indices = place.indices;
  for (const Expr &index : source.indices)
    if (!index.isValid()) {
      side.undecided = "an index has no expression";
      return std::nullopt;
    }
  source.loops = getLoopsAround(isRemote ? fill : operand.product);
  followList(source);
  return source;
}

void SumExtraction::addSources(const SumOperand &operand, SumSide &side) {
  auto add = [&](Operation *fill, bool isRemote) {
    if (std::optional<SumSource> source =
            getSource(operand, fill, isRemote, side))
      side.sources.push_back(std::move(*source));
  };
  if (!operand.staged || isa<StageOp>(operand.staged))
    return add(operand.staged, /*isRemote=*/false);
  auto wait = dyn_cast<WaitOp>(operand.staged);
  if (!wait) {
    side.isComputed = true;
    return;
  }
  unsigned number = cast<OpResult>(operand.place.buffer).getResultNumber();
  SmallVector<CopyOp> copies;
  bool isInParts = false;
  kernel.walk([&](AcquireOp acquire) {
    if (acquire.getChannel() != wait.getChannel() ||
        number >= acquire.getNumResults())
      return;
    for (Operation *user : acquire.getResult(number).getUsers()) {
      auto copy = dyn_cast<CopyOp>(user);
      if (copy && copy.getDest() == acquire.getResult(number))
        copies.push_back(copy);
      isInParts |= isa<ViewOp, memref::SubViewOp>(user);
    }
  });
  if (copies.empty() || isInParts) {
    side.isComputed |= copies.empty();
    if (isInParts && !copies.empty())
      side.undecided = "an operand is copied in parts";
    return;
  }
  for (CopyOp copy : copies) {
    // What is filled and read at one place has the loops of the multiply.
    Operation *inside =
        copy->getBlock()->findAncestorOpInBlock(*operand.product);
    auto acquire = copy.getDest().getDefiningOp<AcquireOp>();
    bool isHere = copies.size() == 1 && inside &&
                  copy->isBeforeInBlock(inside) &&
                  acquire.getPhase() == wait.getPhase();
    add(copy, !isHere);
  }
}
