//===- JoinedGroups.cpp - Gradients of small groups, several at a time ----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gradient by the filter of a small group fills a corner of a tile. Several
// groups as one fill it: of what is multiplied only the blocks of filters by
// channels of their own group are kept, which is what the tile computed of use
// before, in as many products fewer.

#include "ConvolutionForms.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::tracea;

/// Filters, and channels, of the smallest tile.
static constexpr int64_t kTile = 64;

/// How many groups are joined: as many as a tile has room for, 1 for none.
static int64_t countJoined(int64_t groups, int64_t filters, int64_t channels) {
  int64_t joined = std::min(groups, kTile / std::max(filters, channels));
  while (joined > 1 && groups % joined)
    --joined;
  return joined;
}

std::optional<ConvolutionForm>
mlir::tracea::joinGroups(RewriterBase &rewriter, const ConvolutionForm &form) {
  ConvolutionForm made = form;
  auto op = dyn_cast<Conv2DWGradOp>(made.conv.getOperation());
  if (!op || op.getLayout() != ImageLayout::NHWC ||
      op.getFilterLayout() != FilterLayout::KRSC)
    return std::nullopt;
  auto type = cast<RankedTensorType>(op.getInit().getType());
  int64_t groups = op.getGroups();
  if (!type.hasStaticShape() || type.getNumElements() == 0)
    return std::nullopt;
  ArrayRef<int64_t> shape = type.getShape();
  int64_t filters = shape[0] / groups, channels = shape[3];
  if (groups == 1 || std::max(filters, channels) > kTile / 2)
    return std::nullopt;
  int64_t joined = countJoined(groups, filters, channels);
  if (joined <= 1)
    return std::nullopt;
  // What an epilogue reads for the channels of a group would have to be
  // repeated for those of others.
  for (auto map : op.getEpilogueMaps().getAsValueRange<AffineMapAttr>())
    if (map.isFunctionOfDim(op.getFilterInDim()))
      return std::nullopt;

  Location loc = op.getLoc();
  auto wide = type.clone({shape[0], shape[1], shape[2], joined * channels});
  Value init = tensor::EmptyOp::create(rewriter, loc, wide.getShape(),
                                       wide.getElementType());
  auto grad = Conv2DWGradOp::create(
      rewriter, loc, wide, op.getImage(), op.getGradient(), op.getExtras(),
      init, op.getLayout(), op.getFilterLayout(), op.getStrides(), op.getPads(),
      op.getDilations(), groups / joined, op.getAccAttr(), op.getEpilogueMaps(),
      ScheduleAttr());
  rewriter.cloneRegionBefore(op.getEpilogue(), grad.getEpilogue(),
                             grad.getEpilogue().end());

  // [several, group, filter, row, column, group, channel]: those of one group.
  auto blocks = wide.clone(
      {groups / joined, joined, filters, shape[1], shape[2], joined, channels});
  auto own = type.clone(
      {groups / joined, joined, filters, shape[1], shape[2], channels});
  SmallVector<ReassociationIndices> toBlocks{{0, 1, 2}, {3}, {4}, {5, 6}};
  SmallVector<ReassociationIndices> toOwn{{0, 1, 2}, {3}, {4}, {5}};
  Value all = tensor::ExpandShapeOp::create(rewriter, loc, blocks,
                                            grad.getResult(), toBlocks);
  Value place =
      tensor::ExpandShapeOp::create(rewriter, loc, own, op.getInit(), toOwn);
  MLIRContext *context = rewriter.getContext();
  AffineExpr g, b, k, r, s, c;
  bindDims(context, g, b, k, r, s, c);
  auto taken = linalg::GenericOp::create(
      rewriter, loc, own, all, place,
      ArrayRef<AffineMap>{AffineMap::get(6, 0, {g, b, k, r, s, b, c}, context),
                          rewriter.getMultiDimIdentityMap(6)},
      SmallVector<utils::IteratorType>(6, utils::IteratorType::parallel),
      [](OpBuilder &builder, Location at, ValueRange arguments) {
        linalg::YieldOp::create(builder, at, arguments.front());
      });
  made.conv = cast<ConvolutionOpInterface>(grad.getOperation());
  made.result = tensor::CollapseShapeOp::create(rewriter, loc, type,
                                                taken.getResult(0), toOwn);
  ++made.numCopies;
  made.copiedBytes += 2 * countBytes(op.getInit());
  return made;
}
