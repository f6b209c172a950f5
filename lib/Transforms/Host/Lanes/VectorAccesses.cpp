//===- VectorAccesses.cpp - Vectors in a kernel of loops -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lanes/VectorAccesses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::tracea;

bool mlir::tracea::accessesVectors(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        return isa<vector::LoadOp, vector::StoreOp>(inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The place of element `number` of a vector that is at `indices`.
static SmallVector<Value> placeOf(OpBuilder &b, Location loc,
                                  ValueRange indices, int64_t number) {
  SmallVector<Value> at(indices);
  at.back() = arith::AddIOp::create(
      b, loc, at.back(), arith::ConstantIndexOp::create(b, loc, number));
  return at;
}

void mlir::tracea::accessSingles(Operation *root) {
  SmallVector<Operation *> accesses;
  root->walk([&](Operation *op) {
    if (isa<vector::LoadOp, vector::StoreOp>(op))
      accesses.push_back(op);
  });
  for (Operation *op : accesses) {
    OpBuilder b(op);
    Location loc = op->getLoc();
    if (auto load = dyn_cast<vector::LoadOp>(op)) {
      SmallVector<Value> elements;
      for (int64_t i = 0; i < load.getVectorType().getNumElements(); ++i)
        elements.push_back(memref::LoadOp::create(
            b, loc, load.getBase(), placeOf(b, loc, load.getIndices(), i)));
      Value all = vector::FromElementsOp::create(b, loc, load.getVectorType(),
                                                 elements);
      load.replaceAllUsesWith(all);
    } else {
      auto store = cast<vector::StoreOp>(op);
      auto elements =
          vector::ToElementsOp::create(b, loc, store.getValueToStore());
      for (auto [i, element] : llvm::enumerate(elements.getResults()))
        memref::StoreOp::create(b, loc, element, store.getBase(),
                                placeOf(b, loc, store.getIndices(), i));
    }
    op->erase();
  }
}
