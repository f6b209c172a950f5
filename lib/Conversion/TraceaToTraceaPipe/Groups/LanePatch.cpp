//===- LanePatch.cpp - The staged pixels that a GPU's tile sees -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LanePatch.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// Of images and their results.
constexpr int64_t kRank = 4;

PatchSide::PatchSide(Conv2DOp op, unsigned axis)
    : pixels(op.getScheduleAttr().getTile()[axis]),
      taps(cast<RankedTensorType>(op.getFilter().getType())
               .getDimSize(axis ? op.getFilterWidthDim()
                                : op.getFilterHeightDim())),
      stride(op.getStrides()[axis]), dilation(op.getDilations()[axis]),
      pad(op.getPads()[axis]) {}

LanePatch::LanePatch(KernelBuilder &kb, Conv2DOp op)
    : height(op, 0), width(op, 1), channels(op.getScheduleAttr().getTile()[2]),
      // Rows of lanes read an odd number of pixels apart: from other banks.
      pitch(width.getExtent() | 1), kb(kb), ix(kb.index()), op(op) {}

void LanePatch::beginTiles() {
  Block::BlockArgListType grid =
      kb.beginTiles({getSize(op.getBatchDim()),
                     ix.ceilDiv(getSize(op.getHeightDim()), height.pixels),
                     ix.ceilDiv(getSize(op.getWidthDim()), width.pixels),
                     ix.ceilDiv(getSize(op.getChannelDim()), channels)});
  n = grid[0];
  p = ix.mul(grid[1], height.pixels);
  q = ix.mul(grid[2], width.pixels);
  c = ix.mul(grid[3], channels);
}

void LanePatch::stage(ArrayRef<int64_t> swizzle) {
  ImplicitLocOpBuilder &b = kb.builder();
  const int64_t dims[] = {op.getHeightDim(), op.getWidthDim(),
                          op.getChannelDim()};
  SmallVector<Value> indices(kRank, n);
  indices[dims[0]] = ix.sub(ix.mul(p, height.stride), height.pad);
  indices[dims[1]] = ix.sub(ix.mul(q, width.stride), width.pad);
  indices[dims[2]] = c;
  SmallVector<AffineExpr> place(kRank, kb.zero());
  for (auto [input, dim] : llvm::enumerate(dims))
    place[dim] = kb.dim(input);
  Value walk = DelinearizeOp::create(b, WalkType::get(b.getContext(), 2),
                                     ix.constant(0), ix.constant(pitch));
  auto type =
      RankedTensorType::get({height.getExtent() * pitch, channels},
                            getElementTypeOrSelf(op.getImage().getType()),
                            StagedAttr::get(b.getContext(), swizzle));
  patch = StageOp::create(b, type, kb.getMemRef(op.getImage()), indices,
                          ValueRange(), walk, kb.map(3, place), dims,
                          /*slots=*/1, Reuse::Unknown, ArrayRef<int64_t>{0});
}

Value LanePatch::at(Value row, Value column, Value r, int64_t s) {
  Value h = ix.add(ix.mul(row, height.stride), ix.mul(r, height.dilation));
  Value w =
      ix.add(ix.mul(column, width.stride), ix.constant(s * width.dilation));
  return ix.add(ix.mul(h, pitch), w);
}

TileAddress LanePatch::getAddress(Value row, Value column, Value channel,
                                  bool hasHeight) {
  TileAddress address;
  address.memory = kb.getDest(op.getInit());
  address.indices.assign(kRank, n);
  SmallVector<AffineExpr> place(kRank, kb.zero());
  unsigned input = 0;
  auto put = [&](int64_t dim, Value first, bool isInput = true) {
    address.indices[dim] = first;
    if (isInput)
      place[dim] = kb.dim(input++);
  };
  put(op.getHeightDim(), ix.add(p, row), hasHeight);
  put(op.getWidthDim(), ix.add(q, column));
  put(op.getChannelDim(), ix.add(c, channel));
  address.map = kb.map(input, place);
  return address;
}

SmallVector<Value> LanePatch::getLimits(Value row, Value column, Value channel,
                                        bool hasHeight) {
  auto getRest = [&](int64_t dim, Value first) {
    return ix.sub(getSize(dim), first);
  };
  Value rows = getRest(op.getHeightDim(), ix.add(p, row));
  Value columns = getRest(op.getWidthDim(), ix.add(q, column));
  Value rest = getRest(op.getChannelDim(), ix.add(c, channel));
  if (hasHeight)
    return {rows, columns, rest};
  // Of a row that the result has not, no pixel is left; of others all are.
  return {ix.min(columns, ix.mul(rows, width.pixels)), rest};
}
