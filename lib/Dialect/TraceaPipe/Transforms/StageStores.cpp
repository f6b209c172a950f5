//===- StageStores.cpp - Results leave through staged memory --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::tracea_pipe {
#define GEN_PASS_DEF_STAGESTORES
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h.inc"
} // namespace mlir::tracea_pipe

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Rows of this many bytes are what a copy can swizzle.
static constexpr int64_t kRowBytes = 128;

/// The lane map of the first `columns` columns of a tile of rank 2: registers
/// that reach beyond them are left out. Null where lanes or warps do.
static LanesAttr getNarrowLanes(LanesAttr lanes, int64_t columns) {
  if (lanes.getOuter()[1] != 1 || !llvm::isPowerOf2_64(columns))
    return {};
  auto isBeyond = [&](DenseI64ArrayAttr vector) {
    return vector[1] >= columns;
  };
  if (llvm::any_of(lanes.getLane(), isBeyond) ||
      llvm::any_of(lanes.getWarp(), isBeyond))
    return {};
  SmallVector<DenseI64ArrayAttr> reg;
  llvm::copy_if(lanes.getReg(), std::back_inserter(reg),
                [&](DenseI64ArrayAttr vector) { return !isBeyond(vector); });
  return LanesAttr::get(lanes.getContext(), reg, lanes.getLane(),
                        lanes.getWarp(), lanes.getOuter());
}

/// Whether rows of the tile are runs of the destination's last dimension.
static bool isRowWise(StoreOp store) {
  AffineMap map = store.getMap();
  if (map.getNumDims() != 2)
    return false;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    int64_t coefficient = getLinearForm(expr, 2).coefficients[1];
    if (coefficient != (dim + 1 == map.getNumResults() ? 1 : 0))
      return false;
  }
  return true;
}

static bool stage(StoreOp store, RoleOp role, int64_t most) {
  auto tile = cast<RankedTensorType>(store.getValue().getType());
  int64_t bytes = tile.getElementTypeBitWidth() / 8;
  if (!isRowWise(store) || !bytes)
    return false;
  int64_t rows = tile.getDimSize(0), columns = tile.getDimSize(1);
  int64_t step = std::min(columns, most);
  LanesAttr lanes = getLanes(tile);
  LanesAttr narrow = step == columns ? lanes : getNarrowLanes(lanes, step);
  if (!narrow || columns % step)
    return false;
  int64_t panel = kRowBytes / bytes;
  if (step % panel || rows % 8)
    return false;

  MLIRContext *context = store.getContext();
  ImplicitLocOpBuilder b(store.getLoc(), context);
  b.setInsertionPointToStart(&role.getBody().front());
  // Row bits 7 to 9 of the address move 16-byte chunks.
  auto staged =
      StagedAttr::get(context, {4, 7, 5, 8, 6, 9}, step == panel ? 0 : panel);
  auto type =
      MemRefType::get({rows, step}, tile.getElementType(), AffineMap(), staged);
  Value scratch = ScratchOp::create(b, type);
  auto part =
      RankedTensorType::get({rows, step}, tile.getElementType(), narrow);
  b.setInsertionPoint(store);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  for (int64_t at = 0; at < columns; at += step) {
    WaitGroupOp::create(b, TypeRange(), Unit::Copy, 0, ValueRange());
    Value value = store.getValue();
    if (step != columns)
      value = SliceOp::create(b, part, value, ArrayRef<int64_t>{0, at});
    StoreOp::create(b, value, scratch, ValueRange{zero, zero}, ValueRange(),
                    AffineMap::getMultiDimIdentityMap(2, context));
    SyncOp::create(b);
    SmallVector<Value> indices(store.getIndices()), limits(store.getLimits());
    Value offset = arith::ConstantIndexOp::create(b, at);
    indices.back() = b.createOrFold<arith::AddIOp>(indices.back(), offset);
    if (!limits.empty())
      limits[1] = b.createOrFold<arith::SubIOp>(limits[1], offset);
    CopyOutOp::create(b, scratch, store.getDest(), indices, limits,
                      store.getMap());
    CommitGroupOp::create(b, Unit::Copy);
  }
  b.setInsertionPoint(role.getBody().front().getTerminator());
  Operation *last = b.getInsertionPoint()->getPrevNode();
  if (!isa_and_nonnull<WaitGroupOp>(last))
    WaitGroupOp::create(b, TypeRange(), Unit::Copy, 0, ValueRange());
  store.erase();
  return true;
}

namespace {
struct StageStores : mlir::tracea_pipe::impl::StageStoresBase<StageStores> {
  using StageStoresBase::StageStoresBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (!kernel.getPipeline() || !kernel.getRoles() || columns < 1)
      return markAllAnalysesPreserved();
    SmallVector<StoreOp> stores;
    kernel.walk([&](StoreOp store) {
      auto dest = cast<MemRefType>(store.getDest().getType());
      if (store->getParentOfType<RoleOp>() &&
          !isa_and_nonnull<StagedAttr>(dest.getMemorySpace()))
        stores.push_back(store);
    });
    for (StoreOp store : stores)
      if (stage(store, store->getParentOfType<RoleOp>(), columns))
        ++numStores;
  }
};
} // namespace
