//===- Conv2DLanes.cpp - Depthwise convolutions by the lanes of a GPU -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variant "conv2d.lanes": every channel has its own filter, so that there is no
// product of matrices. A workgroup stages the patch of the image that its tile
// sees, bordered with zeros, and the filters of its channels as they are
// multiplied. A lane holds some pixels of a row of the result in neighbouring
// channels: for each row of the filter it reads the pixels of the patch that
// these see once, and slides over them tap by tap, in registers.

#include "../Definitions.h"
#include "../KernelMemory.h"
#include "../LaneTile.h"
#include "../Variants.h"
#include "LanePatch.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"
#include "tracea/Dialect/TraceaPipe/Utils/LaneMaps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

namespace {
/// Builds one kernel of a convolution.
class LaneConvolution {
public:
  LaneConvolution(KernelBuilder &kb, Conv2DOp op);

  /// `isAligned`: rows of memory begin at multiples of pieces.
  void build(bool isAligned);

private:
  RankedTensorType getTile(int64_t pixels, Type element);
  Value getTaps();
  void stageFilters(Value taps);
  Value loadFilter(Value row, int64_t column);
  Value addRow(Value row, Value firstPixel, Value others);
  Value multiplyAdd(Value x, Value y, Value z);

  KernelBuilder &kb;
  ImplicitLocOpBuilder &b;
  IndexMath &ix;
  Conv2DOp op;
  const schedule::LaneConv &fields;
  int64_t pixels, vector, channels, lanes, subgroup;
  Type element, sums;
  LanePatch patch;
  Value filters;
};
} // namespace

LaneConvolution::LaneConvolution(KernelBuilder &kb, Conv2DOp op)
    : kb(kb), b(kb.builder()), ix(kb.index()), op(op),
      fields(op.getScheduleAttr().getFields<schedule::LaneConv>()),
      pixels(fields.registers[0]), vector(fields.registers[1]),
      channels(op.getScheduleAttr().getTile()[2]), lanes(channels / vector),
      element(getElementTypeOrSelf(op.getImage().getType())),
      sums(op.getAccumulatorType()), patch(kb, op) {
  auto target = op->getParentOfType<ModuleOp>()->getAttrOfType<TargetAttr>(
      TraceaDialect::kTargetAttrName);
  subgroup = target.getSubgroup();
  KernelOp kernel = kb.getKernel();
  kernel.setWarps(lanes * patch.height.pixels / subgroup);
  kernel->setAttr(kLaneCopiesAttrName, b.getUnitAttr());
  if (!hasAsyncCopies(target))
    kernel->setAttr(kHeldCopiesAttrName, b.getUnitAttr());
  if (fields.residents > 1)
    kernel->setAttr(kResidentsAttrName, b.getI64IntegerAttr(fields.residents));
}

/// Rows × pixels × channels: neighbouring lanes have neighbouring channels, the
/// next ones the row below, and the pixels of a row are registers.
RankedTensorType LaneConvolution::getTile(int64_t pixels, Type element) {
  ::tracea::algebra::LaneBases bases;
  for (int64_t step = 1; step < vector; step *= 2)
    bases.reg.push_back({0, 0, step});
  int64_t threads = 1;
  auto add = [&](::tracea::algebra::TileCoord step) {
    (threads < subgroup ? bases.lane : bases.warp).push_back(std::move(step));
    threads *= 2;
  };
  for (int64_t lane = 1; lane < lanes; lane *= 2)
    add({0, 0, lane * vector});
  for (int64_t row = 1; row < patch.height.pixels; row *= 2)
    add({row, 0, 0});
  return RankedTensorType::get(
      {patch.height.pixels, pixels, channels}, element,
      getLanesAttr(b.getContext(), bases, {1, pixels, 1}));
}

/// A walk through the rows and columns of a filter.
Value LaneConvolution::getTaps() {
  return DelinearizeOp::create(b, WalkType::get(b.getContext(), 2),
                               ix.constant(0), ix.constant(patch.width.taps));
}

/// filters[r * S + s, c], converted once where all that lanes read of a tap are
/// words of different banks. A tap begins a vector behind the one before: lanes
/// that write the taps of a channel write to different banks.
void LaneConvolution::stageFilters(Value taps) {
  constexpr int64_t kVectorBits = 128, kBankBits = 1024;
  Type held =
      channels * sums.getIntOrFloatBitWidth() <= kBankBits ? sums : element;
  int64_t apart = kVectorBits / held.getIntOrFloatBitWidth();
  constexpr int64_t kRank = 4;
  SmallVector<Value> indices(kRank, ix.constant(0));
  indices[op.getFilterOutDim()] = patch.c;
  SmallVector<AffineExpr> place(kRank, kb.zero());
  place[op.getFilterHeightDim()] = kb.dim(0);
  place[op.getFilterWidthDim()] = kb.dim(1);
  place[op.getFilterOutDim()] = kb.dim(2);
  RankedTensorType type = kb.getStagedType(
      {patch.height.taps * patch.width.taps, channels + apart}, held);
  filters = StageOp::create(b, type, kb.getMemRef(op.getFilter()), indices,
                            ValueRange(), taps, kb.map(3, place),
                            ArrayRef<int64_t>{op.getFilterOutDim()},
                            /*slots=*/1, Reuse::Unknown, ArrayRef<int64_t>{0});
}

/// The taps of all channels in one place of the filter, for all pixels.
Value LaneConvolution::loadFilter(Value row, int64_t column) {
  RankedTensorType tile = getTile(pixels, sums);
  auto each = RankedTensorType::get({1, 1, channels},
                                    getElementTypeOrSelf(filters.getType()),
                                    getLanes(tile).getReduced(0).getReduced(1));
  Value tap = ix.add(ix.mul(row, patch.width.taps), column);
  Value weights =
      LoadOp::create(b, each, filters, ValueRange{tap, ix.constant(0)},
                     ValueRange(), Value(), kb.map(3, {kb.zero(), kb.dim(2)}));
  return BroadcastOp::create(b, tile, convertTile(b, weights, sums));
}

Value LaneConvolution::multiplyAdd(Value x, Value y, Value z) {
  if (isa<FloatType>(sums))
    return math::FmaOp::create(b, x, y, z);
  return arith::AddIOp::create(b, arith::MulIOp::create(b, x, y), z);
}

/// Adds one row of the filter to the sums of the pixels from `firstPixel` on.
/// Of a stride, what pixels see under one tap is every so many columns of the
/// patch, which taps share that are as many columns apart.
Value LaneConvolution::addRow(Value row, Value firstPixel, Value sum) {
  const PatchSide &width = patch.width;
  AffineMap map = kb.map(3, {kb.dim(0) * (patch.height.stride * patch.pitch) +
                                 kb.dim(1) * width.stride,
                             kb.dim(2)});
  Value first = patch.at(ix.constant(0), firstPixel, row, /*s=*/0);
  for (int64_t phase = 0; phase < width.stride; ++phase) {
    auto isSeen = [&](int64_t tap) {
      return tap * width.dilation % width.stride == phase;
    };
    auto getOffset = [&](int64_t tap) {
      return tap * width.dilation / width.stride;
    };
    int64_t last = -1;
    for (int64_t tap = 0; tap < width.taps; ++tap)
      last = isSeen(tap) ? getOffset(tap) : last;
    if (last < 0)
      continue;
    Value seen =
        LoadOp::create(b, getTile(pixels + last, element), patch.get(),
                       ValueRange{ix.add(first, phase), ix.constant(0)},
                       ValueRange(), Value(), map);
    seen = convertTile(b, seen, sums);
    for (int64_t tap = 0; tap < width.taps; ++tap) {
      if (!isSeen(tap))
        continue;
      Value some = seen;
      if (last > 0)
        some = SliceOp::create(b, getTile(pixels, sums), seen,
                               ArrayRef<int64_t>{0, getOffset(tap), 0});
      sum = multiplyAdd(some, loadFilter(row, tap), sum);
    }
  }
  return sum;
}

void LaneConvolution::build(bool isAligned) {
  defineConvolution(kb, op);
  patch.beginTiles();
  // What one needs that stands in front of the other's copy keeps them from
  // being waited for together: of rows of any alignment each is by itself.
  Value taps = isAligned ? getTaps() : Value();
  patch.stage();
  stageFilters(isAligned ? taps : getTaps());
  kb.loop(ix.constant(patch.width.pixels), pixels, [&](Value pixel) {
    Value sum = kb.loop(
        ix.constant(patch.height.taps), 1, kb.splat(getTile(pixels, sums), 0),
        [&](Value row, Value others) { return addRow(row, pixel, others); });
    Value zero = ix.constant(0);
    TileAddress address = patch.getAddress(zero, pixel, zero, true);
    SmallVector<Value> limits = patch.getLimits(zero, pixel, zero, true);
    kb.store(kb.emitEpilogue(op, sum, address, limits), address, limits);
  });
}

/// What the schedule must say for the lowering to follow it.
static LogicalResult verifyLanes(Conv2DOp op) {
  ScheduleAttr schedule = op.getScheduleAttr();
  auto fail = [&](const Twine &what) {
    return op.emitOpError()
           << "expects " << what << " for the variant 'conv2d.lanes', found ";
  };
  if (schedule.getUnit() != MatrixUnit::Vector)
    return fail("the unit 'vector'") << schedule;
  auto filter = cast<RankedTensorType>(op.getFilter().getType());
  if (!op.isDepthwise() || op.getLayout() != ImageLayout::NHWC ||
      filter.isDynamicDim(op.getFilterHeightDim()) ||
      filter.isDynamicDim(op.getFilterWidthDim()))
    return fail("channels last and one filter of known height and width for "
                "each of them")
           << filter << " in " << op.getGroups() << " groups";
  constexpr int64_t kMostWarps = 32;
  const auto &fields = schedule.getFields<schedule::LaneConv>();
  ArrayRef<int64_t> tile = schedule.getTile();
  auto [pixels, vector] = fields.registers;
  int64_t subgroup =
      op->getParentOfType<ModuleOp>()
          ->getAttrOfType<TargetAttr>(TraceaDialect::kTargetAttrName)
          .getSubgroup();
  int64_t lanes = tile[2] / vector, threads = lanes * tile[0];
  if (!llvm::isPowerOf2_64(vector) || tile[2] % vector ||
      !llvm::isPowerOf2_64(lanes) || lanes > subgroup ||
      !llvm::isPowerOf2_64(tile[0]) || threads < subgroup ||
      threads > kMostWarps * subgroup || tile[1] % pixels)
    return fail("a 'tile' of a power of two of rows, a multiple of the pixels "
                "of 'registers' and a power of two of their channels, itself a "
                "power of two, that takes 1 to 32 warps")
           << schedule;
  return success();
}

LogicalResult mlir::tracea::lowerConv2DByLanes(KernelRewriter &rewriter,
                                               Conv2DOp op) {
  if (failed(verifyLanes(op)))
    return failure();
  emitExtentChecks(rewriter, cast<ConvolutionOpInterface>(op.getOperation()));
  // The filter is copied element by element.
  auto operation = cast<DestinationStyleOpInterface>(op.getOperation());
  constexpr unsigned kOperands = 2, kFilter = 1;
  rewriter.replaceOp(
      op, launchForMemory(
              rewriter, op, operation.getDpsInputs(), {op.getInit()}, kOperands,
              [&](KernelBuilder &kb, bool isAligned) {
                LaneConvolution(kb, op).build(isAligned);
              },
              [&](unsigned argument) { return argument != kFilter; }));
  return success();
}
