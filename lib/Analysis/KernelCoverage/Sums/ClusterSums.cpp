//===- ClusterSums.cpp - Sums that the workgroups of a cluster share ------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The workgroup's number in its cluster says which part of a sum it has if all
// parts are added up: each workgroup writes its sum to memory, and adds what
// stands at one place in the memories of all workgroups. The numbers of those
// that it reads are its own xor 0, 1, 2 and so on: all of the cluster, each
// once.

#include "../KernelCoverage.h"
#include "SumFlow.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// The distance of the workgroup whose memory `load` reads; nothing where it is
/// not known.
static std::optional<int64_t> getDistance(LoadOp load, Value part) {
  auto peer = load.getSource().getDefiningOp<PeerOp>();
  if (!peer)
    return 0;
  auto distance = peer.getWorkgroup().getDefiningOp<arith::XOrIOp>();
  IntegerAttr constant;
  if (!distance)
    return std::nullopt;
  Value lhs = distance.getLhs(), rhs = distance.getRhs();
  if (rhs == part)
    std::swap(lhs, rhs);
  if (lhs != part || !matchPattern(rhs, m_Constant(&constant)) ||
      constant.getValue().getSignificantBits() > 63)
    return std::nullopt;
  return constant.getValue().getSExtValue();
}

/// The loads that a sum of tiles adds up, each as often as it does.
static bool collectTerms(Value tile, SmallVectorImpl<LoadOp> &terms) {
  Operation *op = tile.getDefiningOp();
  if (auto load = dyn_cast_or_null<LoadOp>(op)) {
    terms.push_back(load);
    return terms.size() <= 64;
  }
  // What is added up in part is used for nothing else.
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(op) ||
      !op->getOperand(0).hasOneUse() || !op->getOperand(1).hasOneUse())
    return false;
  return collectTerms(op->getOperand(0), terms) &&
         collectTerms(op->getOperand(1), terms);
}

static Value getMemory(LoadOp load) {
  auto peer = load.getSource().getDefiningOp<PeerOp>();
  return peer ? peer.getMemory() : load.getSource();
}

/// The loads of `memory` that are added to `load`, and nothing else; each value
/// on the way is used once. What is added then, a bias say, is no part of it.
static SmallVector<LoadOp> getTerms(LoadOp load, Value memory) {
  SmallVector<LoadOp> terms{load};
  Value value = load.getResult();
  while (value.hasOneUse()) {
    Operation *user = *value.getUsers().begin();
    SmallVector<LoadOp> more;
    if (!isa<arith::AddFOp, arith::AddIOp>(user) ||
        !collectTerms(user->getResult(0), more) ||
        llvm::any_of(more, [&](LoadOp term) {
          return getMemory(term) != memory || !term.getResult().hasOneUse();
        }))
      break;
    terms = std::move(more);
    value = user->getResult(0);
  }
  return terms;
}

/// Whether all that is read of `memory` are sums over the whole cluster.
static bool addsUp(Value memory, TilesOp tiles) {
  SmallVector<LoadOp> loads;
  bool isKnown = true;
  auto collect = [&](Value source) {
    for (Operation *user : source.getUsers()) {
      if (auto load = dyn_cast<LoadOp>(user))
        loads.push_back(load);
      else
        isKnown &= isa<StoreOp, PeerOp>(user);
    }
  };
  collect(memory);
  for (Operation *user : memory.getUsers())
    if (auto peer = dyn_cast<PeerOp>(user))
      collect(peer.getResult());
  if (!isKnown || loads.empty())
    return false;
  uint64_t whole = (uint64_t(1) << tiles.getCluster()) - 1;
  for (LoadOp load : loads) {
    uint64_t seen = 0;
    for (LoadOp term : getTerms(load, memory)) {
      std::optional<int64_t> distance =
          getDistance(term, tiles.getIndices().front());
      if (!distance || *distance < 0 ||
          *distance >= int64_t(tiles.getCluster()) || (seen >> *distance & 1) ||
          term.getMap() != load.getMap() ||
          term.getIndices() != load.getIndices() || !term.getAlong().empty() ||
          !load.getAlong().empty() || term.getLimits() != load.getLimits())
        return false;
      seen |= uint64_t(1) << *distance;
    }
    if (seen != whole)
      return false;
  }
  return true;
}

bool KernelCoverage::isClusterSum() {
  TilesOp tiles = kernel.getTiles();
  if (tiles.getCluster() == 1)
    return false;
  std::vector<Sum> sums = getSums(kernel);
  for (const Sum &sum : sums) {
    if (sum.stores.empty())
      return false;
    for (Operation *op : sum.stores) {
      Value memory = cast<StoreOp>(op).getDest();
      if (!memory.getDefiningOp<ScratchOp>() || !addsUp(memory, tiles))
        return false;
    }
  }
  return !sums.empty();
}

/// What other workgroups read has to be written all of it, once.
void KernelCoverage::extractClusterMemory() {
  kernel.walk([&](ScratchOp scratch) {
    Value memory = scratch.getResult();
    Operation *reader = nullptr;
    RoleOp role;
    SmallVector<StoreOp> stores;
    for (Operation *user : memory.getUsers()) {
      if (isa<PeerOp>(user))
        reader = user;
      auto store = dyn_cast<StoreOp>(user);
      if (!store || store.getDest() != memory)
        continue;
      stores.push_back(store);
      role = store->getParentOfType<RoleOp>();
    }
    if (reader && !stores.empty() &&
        cast<MemRefType>(memory.getType()).hasStaticShape())
      addSlot(reader, memory, stores, kernel.getTiles(), role);
  });
}
