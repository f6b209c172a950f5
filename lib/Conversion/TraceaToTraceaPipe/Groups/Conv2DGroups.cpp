//===- Conv2DGroups.cpp - Convolutions in small groups by warps -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variant "conv2d.groups": the channels of a group are 16 bytes of a pixel, as
// deep as the shallow matrix instruction, and its filters as many columns. A
// workgroup stages the patch of the image that its tile sees in the channels of
// several groups, and their filters. For each group and row of the tile warps
// multiply the pixels of the row, tap by tap: a row of a fragment is a pixel's
// piece of the patch, wherever the tap has moved it. Nothing is multiplied by
// the zeros of other groups. Groups that share sectors of the result leave
// together.

#include "../Definitions.h"
#include "../KernelMemory.h"
#include "../Variants.h"
#include "../WarpTile.h"
#include "LanePatch.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

/// Channels and filters of a group.
constexpr int64_t kGroup = 8;

namespace {
/// Builds one kernel of a convolution.
class GroupConvolution {
public:
  GroupConvolution(KernelBuilder &kb, Conv2DOp op);

  /// `isAligned`: rows of memory begin at multiples of pieces.
  void build(bool isAligned);

private:
  SmallVector<int64_t> getSwizzle() const;
  int64_t getGroupsOfSector();
  Value getTaps();
  void stageFilters(Value taps);
  Value loadFilter(Value group, Value r, int64_t s);
  Value multiply(Value row, Value group);

  KernelBuilder &kb;
  ImplicitLocOpBuilder &b;
  IndexMath &ix;
  Conv2DOp op;
  LanePatch patch;
  WarpGrid warps;
  Type element, sums;
  Value filters;
};
} // namespace

GroupConvolution::GroupConvolution(KernelBuilder &kb, Conv2DOp op)
    : kb(kb), b(kb.builder()), ix(kb.index()), op(op), patch(kb, op),
      warps({patch.width.pixels, kGroup},
            op.getScheduleAttr().getFields<schedule::LaneConv>().registers),
      element(getElementTypeOrSelf(op.getImage().getType())),
      sums(op.getAccumulatorType()) {
  const auto &fields = op.getScheduleAttr().getFields<schedule::LaneConv>();
  KernelOp kernel = kb.getKernel();
  kernel.setWarps(warps.getNumWarps());
  kernel->setAttr(kLaneCopiesAttrName, b.getUnitAttr());
  if (fields.residents > 1)
    kernel->setAttr(kResidentsAttrName, b.getI64IntegerAttr(fields.residents));
}

/// Has eight pixels that a matrix is read of lie in all banks: those beside one
/// another, two to a row of banks or one, or every other one.
SmallVector<int64_t> GroupConvolution::getSwizzle() const {
  constexpr int64_t kBankBytes = 128;
  SmallVector<int64_t> swizzle = {4, 7, 5, 8};
  if (patch.channels * element.getIntOrFloatBitWidth() / 8 >= kBankBytes ||
      patch.width.stride > 1)
    swizzle.append({6, 9});
  return swizzle;
}

/// Groups whose results lie in one sector of memory. A part of one that is
/// written alone may have to be completed from memory.
int64_t GroupConvolution::getGroupsOfSector() {
  constexpr int64_t kSectorBits = 256;
  unsigned bits =
      getElementTypeOrSelf(op.getResult().getType()).getIntOrFloatBitWidth();
  return std::max<int64_t>(kSectorBits / (kGroup * bits), 1);
}

/// A walk through filters, and the rows and columns of each.
Value GroupConvolution::getTaps() {
  return DelinearizeOp::create(b, WalkType::get(b.getContext(), 3),
                               ix.constant(0),
                               ValueRange{ix.constant(patch.height.taps),
                                          ix.constant(patch.width.taps)});
}

/// filters[(k * R + r) * S + s, c], as memory has them: a filter's taps are an
/// odd number of pieces, so that neighbouring filters begin in other banks.
void GroupConvolution::stageFilters(Value taps) {
  constexpr int64_t kRank = 4;
  int64_t rows = patch.channels * patch.height.taps * patch.width.taps;
  SmallVector<Value> indices(kRank, ix.constant(0));
  indices[op.getFilterOutDim()] = patch.c;
  SmallVector<AffineExpr> place(kRank, kb.zero());
  place[op.getFilterOutDim()] = kb.dim(0);
  place[op.getFilterHeightDim()] = kb.dim(1);
  place[op.getFilterWidthDim()] = kb.dim(2);
  place[op.getFilterInDim()] = kb.dim(3);
  filters = StageOp::create(b, kb.getStagedType({rows, kGroup}, element),
                            kb.getMemRef(op.getFilter()), indices, ValueRange(),
                            taps, kb.map(kRank, place),
                            ArrayRef<int64_t>{op.getFilterOutDim()},
                            /*slots=*/1, Reuse::Unknown, ArrayRef<int64_t>{0});
}

Value GroupConvolution::loadFilter(Value group, Value r, int64_t s) {
  int64_t taps = patch.height.taps * patch.width.taps;
  RankedTensorType type = warps.getTile(alg::MatrixOperand::B, {kGroup, kGroup},
                                        element, element, kGroup);
  Value first = ix.add(ix.mul(group, kGroup * taps),
                       ix.add(ix.mul(r, patch.width.taps), s));
  return LoadOp::create(b, type, filters, ValueRange{first, ix.constant(0)},
                        ValueRange(), Value(),
                        kb.map(2, {kb.dim(1) * taps, kb.dim(0)}));
}

/// The sums of a row of the tile for the filters of a group.
Value GroupConvolution::multiply(Value row, Value group) {
  int64_t pixels = patch.width.pixels;
  RankedTensorType type = warps.getTile(alg::MatrixOperand::A, {pixels, kGroup},
                                        element, element, kGroup);
  RankedTensorType accumulator = warps.getTile(
      alg::MatrixOperand::D, {pixels, kGroup}, sums, element, kGroup);
  AffineMap map = kb.map(2, {kb.dim(0) * patch.width.stride, kb.dim(1)});
  Value channel = ix.mul(group, kGroup);
  return kb.loop(ix.constant(patch.height.taps), 1, kb.splat(accumulator, 0),
                 [&](Value r, Value sum) {
                   for (int64_t s = 0; s < patch.width.taps; ++s) {
                     Value first = patch.at(row, ix.constant(0), r, s);
                     Value seen = LoadOp::create(b, type, patch.get(),
                                                 ValueRange{first, channel},
                                                 ValueRange(), Value(), map);
                     sum = MmaOp::create(b, seen, loadFilter(group, r, s), sum,
                                         Value(), ValueRange());
                   }
                   return sum;
                 });
}

void GroupConvolution::build(bool isAligned) {
  defineConvolution(kb, op);
  patch.beginTiles();
  // As lanes do: of rows of any alignment each copy is waited for by itself.
  Value walk = isAligned ? getTaps() : Value();
  patch.stage(getSwizzle());
  stageFilters(isAligned ? walk : getTaps());
  int64_t groups = patch.channels / kGroup;
  int64_t together = std::gcd(groups, getGroupsOfSector());
  kb.loop(ix.constant(groups), together, [&](Value first) {
    kb.loop(ix.constant(patch.height.pixels), 1, [&](Value row) {
      kb.loop(ix.constant(together), 1, [&](Value number) {
        Value group = ix.add(first, number), zero = ix.constant(0);
        Value sum = multiply(row, group);
        Value channel = ix.mul(group, kGroup);
        TileAddress address = patch.getAddress(row, zero, channel, false);
        SmallVector<Value> limits = patch.getLimits(row, zero, channel, false);
        kb.store(kb.emitEpilogue(op, sum, address, limits), address, limits);
      });
    });
  });
}

/// What the schedule must say for the lowering to follow it.
static LogicalResult verifyGroups(Conv2DOp op) {
  constexpr int64_t kMostWarps = 32;
  ScheduleAttr schedule = op.getScheduleAttr();
  auto fail = [&](const Twine &what) {
    return op.emitOpError()
           << "expects " << what << " for the variant 'conv2d.groups', found ";
  };
  if (schedule.getUnit() != MatrixUnit::MmaSync)
    return fail("the unit 'mma_sync'") << schedule;
  auto filter = cast<RankedTensorType>(op.getFilter().getType());
  Type element = filter.getElementType();
  if ((!element.isF16() && !element.isBF16()) ||
      element != getElementTypeOrSelf(op.getImage().getType()) ||
      !op.getAccumulatorType().isF32())
    return fail("operands of f16 or bf16 and sums in f32") << element;
  int64_t rows = filter.getDimSize(op.getFilterHeightDim()),
          columns = filter.getDimSize(op.getFilterWidthDim());
  auto channels = static_cast<int64_t>(op.getGroups() * kGroup);
  if (op.getLayout() != ImageLayout::NHWC ||
      op.getFilterLayout() != FilterLayout::KRSC || rows < 1 || columns < 1 ||
      filter.getDimSize(op.getFilterInDim()) != kGroup ||
      filter.getDimSize(op.getFilterOutDim()) != channels)
    return fail("rows of channels, and groups of 8 channels and filters of "
                "known height and width")
           << filter << " in " << op.getGroups() << " groups";
  const auto &fields = schedule.getFields<schedule::LaneConv>();
  ArrayRef<int64_t> tile = schedule.getTile();
  int64_t pixels = fields.registers[0];
  if (fields.registers[1] != kGroup || pixels % WarpGrid::fragment[0] ||
      !llvm::isPowerOf2_64(pixels) || tile[1] % pixels ||
      !llvm::isPowerOf2_64(tile[1] / pixels) || tile[1] / pixels > kMostWarps ||
      tile[2] % kGroup)
    return fail("'registers' of a power of two of 16 pixels by 8 filters, a "
                "power of two of which are the width of the 'tile', and "
                "channels of whole groups")
           << schedule;
  return success();
}

LogicalResult mlir::tracea::lowerConv2DByGroups(KernelRewriter &rewriter,
                                                Conv2DOp op) {
  if (failed(verifyGroups(op)))
    return failure();
  emitExtentChecks(rewriter, cast<ConvolutionOpInterface>(op.getOperation()));
  auto operation = cast<DestinationStyleOpInterface>(op.getOperation());
  constexpr unsigned kOperands = 2;
  rewriter.replaceOp(
      op,
      launchForMemory(rewriter, op, operation.getDpsInputs(), {op.getInit()},
                      kOperands, [&](KernelBuilder &kb, bool isAligned) {
                        GroupConvolution(kb, op).build(isAligned);
                      }));
  return success();
}
