//===- Memory.cpp - Loads and stores of register tiles --------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole tiles go by the widest accesses that registers and alignment allow;
// tiles that a limit cuts go element by element, each behind its limits. Which
// form runs is decided once for a tile, the same for all threads.
//
//===----------------------------------------------------------------------===//

#include "Addresses.h"
#include "Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Remarks.h"

#define DEBUG_TYPE "convert-tracea-pipe-to-gpu"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// True when no limit cuts the tile; null when that is known.
static Value isWhole(ImplicitLocOpBuilder &b, ValueRange limits,
                     ArrayRef<int64_t> shape) {
  Value whole;
  for (auto [limit, extent] : llvm::zip(limits, shape)) {
    if (std::optional<int64_t> known = getConstantIntValue(limit))
      if (*known >= extent)
        continue;
    Value enough =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sge, limit,
                              arith::ConstantIndexOp::create(b, extent));
    whole =
        whole ? arith::AndIOp::create(b, whole, enough).getResult() : enough;
  }
  return whole;
}

static void remarkAccess(Operation *op, const TileAddresses &addresses,
                         Type elementType, bool isPredicated) {
  int64_t bytes = elementType.isIntOrFloat()
                      ? llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8)
                      : 8;
  remark::passed(op->getLoc(),
                 remark::RemarkOpts::name("TileAccessed").category(DEBUG_TYPE))
      << remark::metric("Operation", op->getName().getStringRef())
      << remark::metric("AccessBytes", addresses.getVectorSize() * bytes)
      << remark::metric("Accesses",
                        static_cast<int64_t>(addresses.getAccesses().size()))
      << remark::metric("Predicated", isPredicated);
}

namespace {
struct LowerLoad : TilePattern<LoadOp> {
  using TilePattern::TilePattern;

  static SmallVector<Value> loadWhole(ImplicitLocOpBuilder &b,
                                      TileAddresses &addresses,
                                      int64_t numRegisters) {
    SmallVector<Value> registers(numRegisters);
    for (int64_t first : addresses.getAccesses()) {
      Value loaded = addresses.load(first, addresses.getVectorSize());
      SmallVector<Value> elements{loaded};
      if (isa<VectorType>(loaded.getType()))
        elements = getElements(b, loaded);
      for (auto [reg, element] :
           llvm::zip(addresses.getRegisters(first), elements))
        registers[reg] = element;
    }
    for (int64_t reg = 0; reg < numRegisters; ++reg)
      registers[reg] = registers[addresses.getOriginal(reg)];
    return registers;
  }

  static SmallVector<Value> loadInside(ImplicitLocOpBuilder &b,
                                       TileAddresses &addresses,
                                       int64_t numRegisters, ValueRange limits,
                                       Value padding) {
    SmallVector<Value> registers(numRegisters);
    for (int64_t reg = 0; reg < numRegisters; ++reg) {
      if (int64_t original = addresses.getOriginal(reg); original != reg) {
        registers[reg] = registers[original];
        continue;
      }
      Value inside = addresses.isInside(reg, limits);
      auto ifOp = scf::IfOp::create(b, TypeRange(padding.getType()), inside,
                                    /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(ifOp.thenBlock());
      scf::YieldOp::create(b, addresses.load(reg, 1));
      b.setInsertionPointToStart(ifOp.elseBlock());
      scf::YieldOp::create(b, padding);
      registers[reg] = ifOp.getResult(0);
    }
    return registers;
  }

  LogicalResult
  matchAndRewrite(LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto tile = cast<RankedTensorType>(op.getResult().getType());
    Type elementType = tile.getElementType();
    int64_t numRegisters = getLanes(tile).getNumRegisters();
    Threads threads(b, op, context);
    auto access = [&]() {
      // Indices are computed where they are used.
      return TileAddresses::get(threads, tile, op.getSource(), op.getIndices(),
                                op.getMap());
    };
    Value whole = isWhole(b, op.getLimits(), tile.getShape());
    threads.getLane();
    threads.getWarp();
    FailureOr<TileAddresses> addresses = access();
    if (failed(addresses))
      return failure();
    remarkAccess(op, *addresses, elementType, bool(whole));
    if (!whole) {
      rewriter.replaceOp(op, getVector(b, elementType,
                                       loadWhole(b, *addresses, numRegisters)));
      return success();
    }
    Value padding = op.getPadding();
    if (!padding)
      padding = arith::ConstantOp::create(
          b, cast<TypedAttr>(b.getZeroAttr(elementType)));
    auto vector = VectorType::get(numRegisters, elementType);
    auto ifOp = scf::IfOp::create(b, TypeRange(vector), whole,
                                  /*withElseRegion=*/true);
    b.setInsertionPointToStart(ifOp.thenBlock());
    scf::YieldOp::create(
        b, getVector(b, elementType, loadWhole(b, *addresses, numRegisters)));
    b.setInsertionPointToStart(ifOp.elseBlock());
    FailureOr<TileAddresses> edge = access();
    if (failed(edge))
      return failure();
    scf::YieldOp::create(b, getVector(b, elementType,
                                      loadInside(b, *edge, numRegisters,
                                                 op.getLimits(), padding)));
    rewriter.replaceOp(op, ifOp.getResults());
    return success();
  }
};

struct LowerStore : TilePattern<StoreOp> {
  using TilePattern::TilePattern;
  LogicalResult
  matchAndRewrite(StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto tile = cast<RankedTensorType>(op.getValue().getType());
    Type elementType = tile.getElementType();
    Threads threads(b, op, context);
    auto access = [&]() {
      return TileAddresses::get(threads, tile, op.getDest(), op.getIndices(),
                                op.getMap());
    };
    SmallVector<Value> registers = getElements(b, adaptor.getValue());
    Value whole = isWhole(b, op.getLimits(), tile.getShape());
    threads.getLane();
    threads.getWarp();
    FailureOr<TileAddresses> addresses = access();
    if (failed(addresses))
      return failure();
    remarkAccess(op, *addresses, elementType, bool(whole));
    auto storeWhole = [&]() {
      for (int64_t first : addresses->getAccesses()) {
        SmallVector<Value> elements;
        for (int64_t reg : addresses->getRegisters(first))
          elements.push_back(registers[reg]);
        addresses->store(first, elements.size() == 1
                                    ? elements.front()
                                    : getVector(b, elementType, elements));
      }
    };
    if (!whole) {
      storeWhole();
      rewriter.eraseOp(op);
      return success();
    }
    auto ifOp = scf::IfOp::create(b, whole, /*withElseRegion=*/true);
    b.setInsertionPointToStart(ifOp.thenBlock());
    storeWhole();
    b.setInsertionPointToStart(ifOp.elseBlock());
    FailureOr<TileAddresses> edge = access();
    if (failed(edge))
      return failure();
    for (auto [reg, value] : llvm::enumerate(registers)) {
      if (edge->getOriginal(reg) != static_cast<int64_t>(reg))
        continue;
      auto below = scf::IfOp::create(b, edge->isInside(reg, op.getLimits()),
                                     /*withElseRegion=*/false);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(below.thenBlock());
      edge->store(reg, value);
    }
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populateMemoryPatterns(const TypeConverter &converter,
                                               RewritePatternSet &patterns,
                                               GPULoweringContext &context) {
  patterns.add<LowerLoad, LowerStore>(converter, patterns.getContext(),
                                      context);
}
