//===- Slots.cpp - Slots that are written from registers ------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Teams write their parts of a slot from registers; another role, or a copy
// out, takes all of it. Each element of the slot has to be written by one of
// them, once.

#include "KernelCoverage.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include <set>

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
using cov::Expr;
using cov::Term;

/// Stores into `buffer` or windows of it. Others that write it are unknown.
static bool collectStores(Value buffer, SmallVectorImpl<StoreOp> &stores) {
  for (Operation *user : buffer.getUsers()) {
    if (auto store = dyn_cast<StoreOp>(user)) {
      if (store.getDest() == buffer)
        stores.push_back(store);
    } else if (isa<ViewOp, memref::SubViewOp, memref::CastOp,
                   memref::ExpandShapeOp, memref::CollapseShapeOp,
                   memref::TransposeOp>(user)) {
      if (!collectStores(user->getResult(0), stores))
        return false;
    } else if (!isa<CopyOutOp, LoadOp, PrefetchOp, MmaOp, MmaAsyncOp>(user)) {
      return false;
    }
  }
  return true;
}

/// Who reads all of `buffer`, without a window and up to no constant limit.
static Operation *getWholeReader(Value buffer) {
  for (Operation *user : buffer.getUsers())
    if (auto copy = dyn_cast<CopyOutOp>(user))
      if (copy.getSource() == buffer)
        return copy;
  return nullptr;
}

/// The limits of a copy out that leave constant parts of the slot out.
static bool isCutShort(CopyOutOp copy) {
  auto type = cast<MemRefType>(copy.getSource().getType());
  for (auto [limit, extent] : llvm::zip(copy.getLimits(), type.getShape())) {
    IntegerAttr constant;
    if (matchPattern(limit, m_Constant(&constant)) &&
        constant.getValue().slt(extent))
      return true;
  }
  return false;
}

void KernelCoverage::addSlot(Operation *reader, Value buffer,
                             ArrayRef<StoreOp> stores, Operation *outside,
                             Operation *team) {
  ContentClaim content;
  content.part.kind = CoveragePart::Slot;
  content.part.buffer = buffer;
  content.part.ops = {reader};
  content.part.notes.assign(stores.begin(), stores.end());
  content.name = "slot filled from registers";
  auto type = cast<MemRefType>(buffer.getType());
  cov::AffineStage stage;
  for (StoreOp store : stores) {
    TileAccess access = getAccesses(store, context).front();
    Place place = resolve(access.memory, access.indices, context);
    IndexScope scope = context.getScope(store);
    if (place.buffer != buffer || !place.unknown.empty())
      content.undecided = "a store looks into it in a way that is not known";
    if (!scope.overestimate.empty())
      content.undecided = scope.overestimate;
    cov::Writer writer;
    writer.name = "store";
    SmallVector<cov::Constraint> guard(scope.guard);
    llvm::append_range(guard, access.guard);
    std::set<Term> ids(access.ids.begin(), access.ids.end());
    // What writes one slot: teams, and loops for which it is one.
    for (Term id : scope.ids)
      if (auto it = indices.owners.find(id);
          it != indices.owners.end() &&
          (it->second == team || outside->isProperAncestor(it->second)))
        ids.insert(id);
    for (const Expr &index : place.indices)
      for (Term term : getIds(index, {}))
        if (!ids.count(term))
          content.undecided =
              "where it is written depends on " + indices.names[term];
    for (const cov::Constraint &constraint : guard) {
      std::vector<Term> terms = getIds(constraint.expr, {});
      bool isOwn = llvm::any_of(terms, [&](Term id) { return ids.count(id); });
      if (terms.empty()) {
        content.context.push_back(constraint);
      } else if (isOwn) {
        if (!llvm::is_contained(writer.guard, constraint))
          writer.guard.push_back(constraint);
        for (Term term : terms)
          if (!ids.count(term))
            content.undecided =
                "what is written depends on " + indices.names[term];
      }
    }
    for (Term id : ids)
      for (Term term : getIds(Expr(id), {}))
        if (!ids.count(term))
          content.undecided =
              "what is written depends on " + indices.names[term];
    writer.ids.assign(ids.begin(), ids.end());
    writer.map.assign(place.indices.begin(), place.indices.end());
    stage.writers.push_back(std::move(writer));
  }
  for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
    Term coordinate = problem.space.coordinate("slot", cov::Range(extent));
    indices.names[coordinate] = "coordinate " + std::to_string(dim);
    stage.coordinates.push_back(coordinate);
    content.dims.push_back(dim);
  }
  if (!choices.isEmpty())
    content.undecided = "it depends on a choice of cases";
  choices = Choices();
  content.stage = std::move(stage);
  finish(content);
  contents.push_back(std::move(content));
}

void KernelCoverage::extractSlots() {
  // Slots of rings, by who acquires them: each time all of it is written.
  kernel.walk([&](WaitOp wait) {
    for (auto [number, buffer] : llvm::enumerate(wait.getResults())) {
      Operation *reader = getWholeReader(buffer);
      if (!reader || isCutShort(cast<CopyOutOp>(reader)) ||
          !cast<MemRefType>(buffer.getType()).hasStaticShape())
        continue;
      kernel.walk([&, number = number](AcquireOp acquire) {
        if (acquire.getChannel() != wait.getChannel() ||
            number >= acquire.getNumResults())
          return;
        SmallVector<StoreOp> stores;
        if (!collectStores(acquire.getResult(number), stores) || stores.empty())
          return;
        addSlot(reader, acquire.getResult(number), stores,
                acquire->getParentOp(), acquire->getParentOfType<RoleOp>());
      });
    }
  });
  // Staged memory of one team, between one copy out and the next.
  kernel.walk([&](CopyOutOp copy) {
    Value buffer = copy.getSource();
    auto scratch = buffer.getDefiningOp<ScratchOp>();
    if (!scratch || isCutShort(copy) ||
        !cast<MemRefType>(buffer.getType()).hasStaticShape())
      return;
    SmallVector<StoreOp> all, before;
    if (!collectStores(buffer, all))
      return;
    Block *block = copy->getBlock();
    // Back to the last time that it was copied out.
    Operation *begin = copy->getPrevNode();
    for (; begin; begin = begin->getPrevNode())
      if (auto other = dyn_cast<CopyOutOp>(begin);
          other && other.getSource() == buffer)
        break;
    for (StoreOp store : all) {
      Operation *ancestor = block->findAncestorOpInBlock(*store);
      if (ancestor && ancestor->isBeforeInBlock(copy) &&
          (!begin || begin->isBeforeInBlock(ancestor)))
        before.push_back(store);
    }
    // What a role declares each of its teams has for itself.
    auto role = copy->getParentOfType<RoleOp>();
    if (!before.empty())
      addSlot(copy, buffer, before, copy->getParentOp(),
              role && role->isAncestor(scratch) ? nullptr
                                                : role.getOperation());
  });
}
