//===- CoverageFaults.cpp - Faults of grids, loops, windows, limits -------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Faults.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace tracea::test {
namespace {

/// ceil(a / b) becomes floor(a / b).
bool floorInstead(Value value) {
  auto ceil =
      value ? value.getDefiningOp<arith::CeilDivSIOp>() : arith::CeilDivSIOp();
  if (!ceil)
    return false;
  OpBuilder builder(ceil);
  Value floor = arith::FloorDivSIOp::create(builder, ceil.getLoc(),
                                            ceil.getLhs(), ceil.getRhs());
  ceil.getResult().replaceAllUsesWith(floor);
  return true;
}

/// `operand` of an operation plus a constant.
bool shift(OpOperand &operand, int64_t delta) {
  OpBuilder builder(operand.getOwner());
  Location loc = operand.getOwner()->getLoc();
  Value by = arith::ConstantIndexOp::create(builder, loc, delta);
  operand.set(arith::AddIOp::create(builder, loc, operand.get(), by));
  return true;
}

bool replaceBy(OpOperand &operand, int64_t constant) {
  OpBuilder builder(operand.getOwner());
  operand.set(arith::ConstantIndexOp::create(
      builder, operand.getOwner()->getLoc(), constant));
  return true;
}

/// What writes results: a store to memory that is not staged, or a copy out.
Operation *getWriter(KernelOp kernel) {
  if (auto copy = first<CopyOutOp>(kernel))
    return copy;
  return first<StoreOp>(kernel, [](StoreOp op) {
    return !isa_and_nonnull<StagedAttr>(
        cast<MemRefType>(op.getDest().getType()).getMemorySpace());
  });
}

MutableOperandRange getLimits(Operation *writer) {
  if (auto copy = dyn_cast<CopyOutOp>(writer))
    return copy.getLimitsMutable();
  return cast<StoreOp>(writer).getLimitsMutable();
}

MutableOperandRange getIndices(Operation *writer) {
  if (auto copy = dyn_cast<CopyOutOp>(writer))
    return copy.getIndicesMutable();
  return cast<StoreOp>(writer).getIndicesMutable();
}

/// The loop of the writer's role that walks over tiles of the grid.
scf::ForOp getTileLoop(KernelOp kernel) {
  Operation *writer = getWriter(kernel);
  if (!writer)
    return {};
  scf::ForOp loop = writer->getParentOfType<scf::ForOp>();
  return loop && first<RasterOp>(loop) ? loop : scf::ForOp();
}

/// The factor of the first product with a constant among what `value` is made
/// of.
OpOperand *getScale(Value value, unsigned depth = 4) {
  Operation *def = value.getDefiningOp();
  if (!def || !depth)
    return nullptr;
  if (auto product = dyn_cast<arith::MulIOp>(def))
    if (getConstantIntValue(product.getRhs()).value_or(0) > 1)
      return &product->getOpOperand(1);
  if (isa<arith::AddIOp, arith::SubIOp>(def))
    for (Value operand : def->getOperands())
      if (OpOperand *scale = getScale(operand, depth - 1))
        return scale;
  return nullptr;
}

/// Twice or half of a scale in one of the writer's indices.
bool scaleIndex(KernelOp kernel, unsigned position, bool up) {
  Operation *writer = getWriter(kernel);
  if (!writer)
    return false;
  MutableOperandRange indices = getIndices(writer);
  unsigned seen = 0;
  for (OpOperand &index : indices)
    if (OpOperand *scale = getScale(index.get()))
      if (seen++ == position) {
        int64_t old = *getConstantIntValue(scale->get());
        return replaceBy(*scale, up ? old * 2 : old / 2);
      }
  return false;
}

/// Writes element t of the tile to where `change` sends it.
bool mapResult(KernelOp kernel,
               llvm::function_ref<void(SmallVectorImpl<AffineExpr> &)> change) {
  Operation *writer = getWriter(kernel);
  if (!writer)
    return false;
  auto map = writer->getAttrOfType<AffineMapAttr>("map").getValue();
  unsigned rank = map.getNumDims();
  if (rank < 2)
    return false;
  SmallVector<AffineExpr> tile;
  for (unsigned dim = 0; dim < rank; ++dim)
    tile.push_back(getAffineDimExpr(dim, kernel.getContext()));
  change(tile);
  AffineMap changed = AffineMap::get(rank, 0, tile, kernel.getContext());
  writer->setAttr("map", AffineMapAttr::get(map.compose(changed)));
  return true;
}

/// The index of a copy that counts steps of a sum, and the counter's product:
/// a loop that is no loop over tiles, times a constant.
std::pair<OpOperand *, arith::MulIOp> getStep(CopyOp copy) {
  for (OpOperand &index : copy.getIndicesMutable()) {
    auto product = index.get().getDefiningOp<arith::MulIOp>();
    auto counter =
        product ? dyn_cast<BlockArgument>(product.getLhs()) : BlockArgument();
    if (!counter || !getConstantIntValue(product.getRhs()))
      continue;
    auto loop = dyn_cast<scf::ForOp>(counter.getOwner()->getParentOp());
    if (loop && counter == loop.getInductionVar() && !first<RasterOp>(loop))
      return {&index, product};
  }
  return {nullptr, nullptr};
}

/// Changes where the first copy with steps begins, or all copies that share its
/// index.
bool changeStep(KernelOp kernel, bool all,
                llvm::function_ref<Value(OpBuilder &, arith::MulIOp)> make) {
  if (!first<MmaAsyncOp>(kernel))
    return false;
  for (CopyOp copy : test::all<CopyOp>(kernel)) {
    auto [index, product] = getStep(copy);
    if (!index)
      continue;
    OpBuilder builder(product->getContext());
    builder.setInsertionPointAfter(product);
    Value changed = make(builder, product);
    if (!all)
      index->set(changed);
    else
      product.getResult().replaceUsesWithIf(
          changed, [&](OpOperand &use) { return isa<CopyOp>(use.getOwner()); });
    return true;
  }
  return false;
}

Value scaled(OpBuilder &builder, arith::MulIOp product, int64_t up,
             int64_t down) {
  int64_t old = *getConstantIntValue(product.getRhs());
  Location loc = product.getLoc();
  Value scale = arith::ConstantIndexOp::create(builder, loc, old * up / down);
  return arith::MulIOp::create(builder, loc, product.getLhs(), scale);
}

template <typename Op>
bool dropPadding(KernelOp kernel) {
  auto copy = first<Op>(kernel, [](Op op) { return !op.getPadded().empty(); });
  if (!copy)
    return false;
  copy.setPadded(ArrayRef<int64_t>(copy.getPadded()).drop_back());
  return true;
}

} // namespace

void addCoverageFaults(std::vector<Fault> &faults) {
  auto add = [&](const char *name, std::function<bool(KernelOp)> inject) {
    faults.push_back({name, "coverage", std::move(inject)});
  };

  // The grid.
  add("rows-rounded-down", [](KernelOp kernel) {
    auto raster = first<RasterOp>(kernel);
    if (raster)
      return floorInstead(raster.getRows());
    auto bounds = kernel.getTiles().getBounds();
    return bounds.size() >= 2 && floorInstead(bounds[bounds.size() - 2]);
  });
  add("columns-rounded-down", [](KernelOp kernel) {
    auto raster = first<RasterOp>(kernel);
    return floorInstead(raster ? raster.getColumns()
                               : kernel.getTiles().getBounds().back());
  });
  add("one-tile-too-few", [](KernelOp kernel) {
    if (scf::ForOp loop = getTileLoop(kernel))
      return shift(loop.getUpperBoundMutable(), -1);
    TilesOp tiles = kernel.getTiles();
    return shift(tiles.getBoundsMutable()[0], -1);
  });
  add("first-tile-skipped", [](KernelOp kernel) {
    scf::ForOp loop = getTileLoop(kernel);
    return loop && shift(loop.getLowerBoundMutable(), 1);
  });
  add("every-workgroup-does-all", [](KernelOp kernel) {
    scf::ForOp loop = getTileLoop(kernel);
    return loop && replaceBy(loop.getLowerBoundMutable(), 0) &&
           replaceBy(loop.getStepMutable(), 1);
  });
  add("stride-of-one", [](KernelOp kernel) {
    scf::ForOp loop = getTileLoop(kernel);
    return loop && replaceBy(loop.getStepMutable(), 1);
  });
  add("stride-of-one-more", [](KernelOp kernel) {
    scf::ForOp loop = getTileLoop(kernel);
    return loop && shift(loop.getStepMutable(), 1);
  });
  add("raster-sides-swapped", [](KernelOp kernel) {
    auto raster = last<RasterOp>(kernel);
    if (!raster)
      return false;
    Value rows = raster.getRows(), columns = raster.getColumns();
    raster.getRowsMutable().set(columns);
    raster.getColumnsMutable().set(rows);
    return true;
  });
  add("raster-results-swapped", [](KernelOp kernel) {
    auto raster = last<RasterOp>(kernel);
    if (!raster)
      return false;
    Value row = raster.getRow(), column = raster.getColumn();
    SmallVector<OpOperand *> rowUses, columnUses;
    for (OpOperand &use : row.getUses())
      rowUses.push_back(&use);
    for (OpOperand &use : column.getUses())
      columnUses.push_back(&use);
    for (OpOperand *use : rowUses)
      use->set(column);
    for (OpOperand *use : columnUses)
      use->set(row);
    return !rowUses.empty();
  });

  // Where a tile begins.
  add("rows-overlap",
      [](KernelOp kernel) { return scaleIndex(kernel, 0, false); });
  add("rows-with-gaps",
      [](KernelOp kernel) { return scaleIndex(kernel, 0, true); });
  add("columns-overlap",
      [](KernelOp kernel) { return scaleIndex(kernel, 1, false); });
  add("columns-with-gaps",
      [](KernelOp kernel) { return scaleIndex(kernel, 1, true); });
  add("row-off-by-one", [](KernelOp kernel) {
    Operation *writer = getWriter(kernel);
    return writer && shift(getIndices(writer)[0], 1);
  });
  add("team-offset-missing", [](KernelOp kernel) {
    for (RoleOp role : all<RoleOp>(kernel))
      if (role.getCopies() > 1 && role.getBody().getNumArguments()) {
        Value team = role.getBody().getArgument(0);
        bool isMissing = false;
        for (OpOperand &use : llvm::make_early_inc_range(team.getUses()))
          if (isa<arith::MulIOp>(use.getOwner()))
            isMissing |= replaceBy(use, 0);
        return isMissing;
      }
    return false;
  });
  add("team-offset-doubled", [](KernelOp kernel) {
    for (RoleOp role : all<RoleOp>(kernel))
      if (role.getCopies() > 1 && role.getBody().getNumArguments()) {
        Value team = role.getBody().getArgument(0);
        for (OpOperand &use : team.getUses())
          if (auto product = dyn_cast<arith::MulIOp>(use.getOwner())) {
            int64_t old = getConstantIntValue(product.getRhs()).value_or(1);
            return replaceBy(product->getOpOperand(1), old * 2);
          }
      }
    return false;
  });

  // Masks.
  for (int64_t delta : {-1, 1})
    for (unsigned position : {0u, 1u}) {
      static const char *names[2][2] = {
          {"row-limit-too-small", "column-limit-too-small"},
          {"row-limit-too-large", "column-limit-too-large"}};
      add(names[delta > 0][position], [=](KernelOp kernel) {
        Operation *writer = getWriter(kernel);
        if (!writer || getLimits(writer).size() <= position)
          return false;
        OpOperand &limit = getLimits(writer)[position];
        return !getConstantIntValue(limit.get()) && shift(limit, delta);
      });
    }
  add("limits-swapped", [](KernelOp kernel) {
    Operation *writer = getWriter(kernel);
    if (!writer || getLimits(writer).size() < 2)
      return false;
    MutableOperandRange limits = getLimits(writer);
    Value a = limits[0].get(), b = limits[1].get();
    if (a == b)
      return false;
    limits[0].set(b);
    limits[1].set(a);
    return true;
  });
  add("limits-missing", [](KernelOp kernel) {
    Operation *writer = getWriter(kernel);
    if (!writer || getLimits(writer).empty())
      return false;
    getLimits(writer).clear();
    return true;
  });
  add("result-transposed", [](KernelOp kernel) {
    return mapResult(kernel, [](SmallVectorImpl<AffineExpr> &tile) {
      std::swap(tile[tile.size() - 1], tile[tile.size() - 2]);
    });
  });
  add("result-every-other-row", [](KernelOp kernel) {
    return mapResult(kernel, [](SmallVectorImpl<AffineExpr> &tile) {
      tile[tile.size() - 2] = tile[tile.size() - 2] * 2;
    });
  });
  add("result-not-written", [](KernelOp kernel) {
    Operation *writer = getWriter(kernel);
    if (!writer)
      return false;
    OpBuilder builder(writer);
    // Only where there is nothing to do.
    MutableOperandRange limits = getLimits(writer);
    if (limits.empty() || getConstantIntValue(limits[0].get()))
      return false;
    return replaceBy(limits[0], 0);
  });

  // Operands.
  add("padding-missing", [](KernelOp kernel) {
    return dropPadding<CopyOp>(kernel) || dropPadding<StageOp>(kernel);
  });
  add("window-off-by-one", [](KernelOp kernel) {
    auto view = first<ViewOp>(kernel);
    return view && shift(view.getOffsetsMutable()[0], 1);
  });
  add("window-before-the-tile", [](KernelOp kernel) {
    auto view = last<ViewOp>(kernel);
    return view && shift(view.getOffsetsMutable()[0], -1);
  });
  add("store-past-the-staging", [](KernelOp kernel) {
    auto store = first<StoreOp>(kernel, [](StoreOp op) {
      return isa_and_nonnull<StagedAttr>(
          cast<MemRefType>(op.getDest().getType()).getMemorySpace());
    });
    return store && shift(store.getIndicesMutable()[0], 1);
  });

  // Sums.
  add("terms-overlap", [](KernelOp kernel) {
    return changeStep(kernel, /*all=*/true, [](OpBuilder &b, arith::MulIOp op) {
      return scaled(b, op, 1, 2);
    });
  });
  add("terms-with-gaps", [](KernelOp kernel) {
    return changeStep(kernel, /*all=*/true, [](OpBuilder &b, arith::MulIOp op) {
      return scaled(b, op, 2, 1);
    });
  });
  add("same-terms-in-each-step", [](KernelOp kernel) {
    return changeStep(kernel, /*all=*/true, [](OpBuilder &b, arith::MulIOp op) {
      return scaled(b, op, 0, 1);
    });
  });
  add("one-operand-one-term-later", [](KernelOp kernel) {
    return changeStep(
        kernel, /*all=*/false, [](OpBuilder &b, arith::MulIOp op) -> Value {
          Value one = arith::ConstantIndexOp::create(b, op.getLoc(), 1);
          return arith::AddIOp::create(b, op.getLoc(), op, one);
        });
  });
  add("one-operand-backwards", [](KernelOp kernel) {
    // The keys of attention meet values only after they were turned into
    // weights.
    auto mma = first<MmaAsyncOp>(kernel);
    if (!mma || isRegisterTile(mma.getLhs().getType()))
      return false;
    return changeStep(
        kernel, /*all=*/false, [](OpBuilder &b, arith::MulIOp op) -> Value {
          auto loop = cast<scf::ForOp>(
              cast<BlockArgument>(op.getLhs()).getOwner()->getParentOp());
          Location loc = op.getLoc();
          Value one = arith::ConstantIndexOp::create(b, loc, 1);
          Value last = arith::SubIOp::create(b, loc, loop.getUpperBound(), one);
          Value step = arith::SubIOp::create(b, loc, last, op.getLhs());
          return arith::MulIOp::create(b, loc, step, op.getRhs());
        });
  });
  add("tail-of-the-sum-lost", [](KernelOp kernel) {
    auto filler = getFiller(kernel);
    if (!filler || !first<MmaAsyncOp>(kernel))
      return false;
    auto loop = last<scf::ForOp>(filler);
    return loop && floorInstead(loop.getUpperBound());
  });
}

void addResourceFaults(std::vector<Fault> &faults) {
  auto add = [&](const char *name, std::function<bool(KernelOp)> inject) {
    faults.push_back({name, "resources", std::move(inject)});
  };
  add("more-slots-than-memory", [](KernelOp kernel) {
    auto channel = first<ChannelOp>(kernel);
    if (!channel)
      return false;
    AttrTypeReplacer replacer;
    ChannelType old = channel.getType();
    int64_t slots = old.getSlots();
    replacer.addReplacement([&](Type type) -> std::optional<Type> {
      if (auto phase = dyn_cast<PhaseType>(type);
          phase && static_cast<int64_t>(phase.getSlots()) == slots)
        return PhaseType::get(type.getContext(), 48);
      if (auto ring = dyn_cast<ChannelType>(type);
          ring && static_cast<int64_t>(ring.getSlots()) == slots)
        return ChannelType::get(type.getContext(), 48, ring.getBuffers());
      return std::nullopt;
    });
    replacer.recursivelyReplaceElementsIn(kernel, /*replaceAttrs=*/false,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    return true;
  });
  add("more-scratch-than-memory", [](KernelOp kernel) {
    auto scratch = first<ScratchOp>(kernel);
    OpBuilder builder(kernel.getContext());
    if (scratch)
      builder.setInsertionPoint(scratch);
    else
      builder.setInsertionPointToStart(&kernel.getTiles().getBody().front());
    ScratchOp::create(builder, kernel.getLoc(),
                      MemRefType::get({1024, 256}, builder.getF32Type(),
                                      MemRefLayoutAttrInterface(),
                                      StagedAttr::get(kernel.getContext())));
    return true;
  });
  add("more-warps-than-a-workgroup-has", [](KernelOp kernel) {
    auto reader = getReader(kernel);
    if (!reader)
      return false;
    int64_t begin = reader.getWarps()[0];
    reader.setWarps(
        {begin, begin + 64 * static_cast<int64_t>(reader.getCopies())});
    reader.setRegisters(0);
    return true;
  });
  add("budget-below-its-tiles", [](KernelOp kernel) {
    auto reader = getReader(kernel);
    if (!reader || !reader.getRegisters() || !first<MmaAsyncOp>(reader))
      return false;
    reader.setRegisters(64);
    return true;
  });
  add("budget-not-in-eights", [](KernelOp kernel) {
    auto reader = getReader(kernel);
    if (!reader || !reader.getRegisters())
      return false;
    reader.setRegisters(reader.getRegisters() - 1);
    return true;
  });
}

} // namespace tracea::test
