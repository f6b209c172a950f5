//===- ContractionWarp.cpp - Contractions by the matrix units of warps ----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variant ".warp": a grid tile of TM x TN sums over k in steps of TK, and
// each warp holds its WM x WN of the sums. A step stages a block of both
// operands in the order that memory has them; warps read their fragments of it
// into registers and multiply them. Copies fill with zeros what lies past the
// ends of a matrix, so that nothing is masked before the result.
//
// The units round f32 to tf32. Variant ".tf32x3" lets them multiply the
// parts that f32 is split into, and adds up what each step of k comes to
// outside of the units, which do not round sums to the nearest.

#include "../WarpTile.h"
#include "Contraction.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

/// Whether the variant is the one that multiplies the parts of f32.
static bool isSplitVariant(ScheduleAttr schedule) {
  return schedule.getVariant().ends_with(".tf32x3");
}

/// The precision in which operands of f32 are multiplied.
static Precision getPrecision(ScheduleAttr schedule, Type element) {
  if (!element.isF32())
    return Precision::Full;
  return isSplitVariant(schedule) ? Precision::TF32x3 : Precision::TF32;
}

/// An operand's block in memory's order.
static FailureOr<BlockForm> getBlock(Contraction &contraction,
                                     const OperandAccess &operand,
                                     int64_t outer) {
  ScheduleAttr schedule = contraction.getSchedule();
  const auto &fields = schedule.getFields<schedule::WarpGemm>();
  Type element = operand.getElementType();
  int64_t rows = outer, columns = schedule.getTile()[2];
  if (!operand.isAlongK())
    std::swap(rows, columns);
  bool readsAcross =
      element.getIntOrFloatBitWidth() == 32 && !operand.isAlongK();
  RankedTensorType type = getWarpBlock(rows, columns, element, readsAcross);
  if (!type)
    return contraction.emitError()
           << "expects a tile whose operands' rows are multiples of "
           << getDepth(element) << " elements, found " << schedule;
  return BlockForm{type, operand.isAlongK(), fields.slots};
}

/// What the schedule must say for the lowering to follow it.
static LogicalResult verify(Contraction &contraction) {
  ScheduleAttr schedule = contraction.getSchedule();
  const auto &fields = schedule.getFields<schedule::WarpGemm>();
  Type element = contraction.getLhs().getElementType();
  auto fail = [&](const Twine &what) {
    return contraction.emitError() << "expects " << what << " for the variant '"
                                   << schedule.getVariant() << "', found ";
  };
  if (schedule.getUnit() != MatrixUnit::MmaSync)
    return fail("the unit 'mma_sync'") << schedule;
  if (fields.table && !contraction.hasWalk())
    return fail("pixels for a 'table'") << schedule;
  bool isFloat = element.isF16() || element.isBF16() ||
                 isa<Float8E4M3FNType, Float8E5M2Type>(element);
  bool isSplit = isSplitVariant(schedule);
  if (isSplit ? !element.isF32()
              : !isFloat && !element.isF32() && !element.isInteger(8))
    return fail(isSplit ? "operands of f32"
                        : "operands of f32, f16, bf16, f8E4M3FN, f8E5M2 or i8")
           << element;
  isFloat |= element.isF32();
  Type accumulator = contraction.getAccumulatorType();
  if (isFloat ? !accumulator.isF32() : !accumulator.isInteger(32))
    return fail("an accumulator of " + Twine(isFloat ? "f32" : "i32"))
           << accumulator;
  ArrayRef<int64_t> tile = schedule.getTile();
  ArrayRef<int64_t> warpTile = fields.registers;
  for (int dim : {0, 1})
    if (tile[dim] < 1 || warpTile[dim] % 16 || warpTile[dim] < 16 ||
        tile[dim] % warpTile[dim] ||
        !llvm::isPowerOf2_64(tile[dim] / warpTile[dim]))
      return fail("'registers' of multiples of 16, a power of two of which "
                  "make the 'tile'")
             << schedule;
  if (WarpGrid(tile, warpTile).getNumWarps() > 32)
    return fail("at most 32 warps") << schedule;
  unsigned bits = element.getIntOrFloatBitWidth();
  if (bits < 16 &&
      (!contraction.getLhs().isAlongK() || !contraction.getRhs().isAlongK()))
    return fail("operands of 8 bits along k in memory") << "other ones";
  int64_t depth = getDepth(element);
  if (tile[2] < depth || tile[2] % depth)
    return fail("a multiple of " + Twine(depth) + " of k") << schedule;
  return success();
}

namespace {
/// What warps read of the blocks of a step, and how they multiply it.
struct WarpFragments {
  /// Multiplies two blocks, an instruction's depth after another.
  Value multiply(KernelBuilder &kb, Value lhsStaged, Value rhsStaged,
                 Value others) const;

  BlockForm lhsBlock, rhsBlock;
  RankedTensorType lhs, rhs;
  Precision precision;
};
} // namespace

Value WarpFragments::multiply(KernelBuilder &kb, Value lhsStaged,
                              Value rhsStaged, Value others) const {
  auto read = [&](int64_t at) {
    return std::pair(
        loadFragment(kb, lhs, lhsStaged, !lhsBlock.isAlongK, 0, at),
        loadFragment(kb, rhs, rhsStaged, rhsBlock.isAlongK, at, 0));
  };
  Value before = others;
  if (precision == Precision::TF32x3)
    others = kb.splat(cast<RankedTensorType>(others.getType()), 0);
  // Fragments are read one step before they are multiplied.
  std::pair<Value, Value> next = read(0);
  int64_t depth = lhs.getDimSize(1), end = lhsBlock.getDepth();
  for (int64_t at = 0; at < end; at += depth) {
    std::pair<Value, Value> now = next;
    if (at + depth < end)
      next = read(at + depth);
    others = MmaOp::create(kb.builder(), now.first, now.second, others, Value(),
                           ValueRange(), precision);
  }
  return precision == Precision::TF32x3 ? kb.addTiles(before, others) : others;
}

static void build(KernelBuilder &kb, Contraction &contraction,
                  const BlockForm &lhsBlock, const BlockForm &rhsBlock,
                  OpenTiles open, StoreSums store) {
  ScheduleAttr schedule = contraction.getSchedule();
  const auto &fields = schedule.getFields<schedule::WarpGemm>();
  int64_t tileM = schedule.getTile()[0], tileN = schedule.getTile()[1];
  Type element = lhsBlock.type.getElementType();
  Type sums = contraction.getAccumulatorType();
  int64_t depth = getDepth(element);
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  WarpGrid warps(schedule.getTile(), fields.registers);
  kb.getKernel().setWarps(warps.getNumWarps());
  kb.getKernel()->setAttr(kLaneCopiesAttrName, b.getUnitAttr());
  RankedTensorType accumulator =
      warps.getTile(alg::MatrixOperand::D, {tileM, tileN}, sums, element);
  WarpFragments fragments = {
      lhsBlock, rhsBlock,
      warps.getTile(alg::MatrixOperand::A, {tileM, depth}, element, element),
      warps.getTile(alg::MatrixOperand::B, {depth, tileN}, element, element),
      getPrecision(schedule, element)};

  ResultTile tile = open(kb);
  Value sum = contraction.sum(kb, tile, lhsBlock, rhsBlock, accumulator,
                              [&](Value lhs, Value rhs, Value others) {
                                return fragments.multiply(kb, lhs, rhs, others);
                              });
  // What one instruction of each warp has computed leaves at a time: an
  // epilogue needs registers for no more.
  int64_t rows = WarpGrid::fragment[0] * warps.warps[0];
  WarpGrid part(warps);
  part.power[0] = part.outer[0] = 1;
  RankedTensorType partTile =
      part.getTile(alg::MatrixOperand::D, {rows, tileN}, sums, element);
  for (int64_t row = 0; row < tileM; row += rows) {
    ResultTile some = tile;
    some.m = ix.add(tile.m, row);
    Value out = sum;
    if (rows < tileM)
      out = SliceOp::create(b, partTile, sum, ArrayRef<int64_t>{row, 0});
    store(kb, out, some, [&](Value value) { return relayoutToRows(b, value); });
  }
}

LogicalResult mlir::tracea::lowerByWarps(KernelRewriter &rewriter,
                                         Contraction &contraction) {
  if (failed(verify(contraction)))
    return failure();
  ScheduleAttr schedule = contraction.getSchedule();
  const auto &fields = schedule.getFields<schedule::WarpGemm>();
  int64_t tileM = schedule.getTile()[0], tileN = schedule.getTile()[1];
  FailureOr<BlockForm> lhs = getBlock(contraction, contraction.getLhs(), tileM);
  FailureOr<BlockForm> rhs = getBlock(contraction, contraction.getRhs(), tileN);
  if (failed(lhs) || failed(rhs))
    return failure();
  contraction.emitChecks(rewriter);
  // Rows of a fragment, and columns that a warp has beside one another.
  WarpGrid warps(schedule.getTile(), fields.registers);
  lowerForMemory(
      rewriter, contraction,
      {WarpGrid::fragment[0], WarpGrid::fragment[1] * warps.power[1]},
      [&](KernelBuilder &kb, OpenTiles open, StoreSums store) {
        build(kb, contraction, *lhs, *rhs, open, store);
      });
  return success();
}
