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

#include "ContractionResults.h"
#include "tracea/Algebra/Fragments.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"
#include "tracea/Dialect/TraceaPipe/Utils/LaneMaps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

/// Bytes of k that one instruction multiplies.
static constexpr int64_t kDepthBytes = 32;
/// The longest rows that are swizzled as one.
static constexpr int64_t kMostSwizzledBytes = 128;

namespace {
/// How the warps of a workgroup share its tile: `shape` instructions along rows
/// and columns, the largest power of two of them beside one another, `outer`
/// times.
struct WarpGrid {
  WarpGrid(ArrayRef<int64_t> tile, ArrayRef<int64_t> warpTile) {
    for (auto [dim, extent] : llvm::enumerate(warpTile)) {
      int64_t pieces = extent / fragment[dim];
      power[dim] = pieces & -pieces;
      outer[dim] = pieces / power[dim];
      warps[dim] = tile[dim] / extent;
    }
  }
  int64_t getNumWarps() const { return warps[0] * warps[1]; }
  LanesAttr getLanes(MLIRContext *context, alg::MatrixOperand operand,
                     const alg::LaneMap &map) const;

  /// Extents of an instruction's result.
  static constexpr int64_t fragment[2] = {16, 8};
  int64_t power[2], outer[2], warps[2];
};
} // namespace

constexpr int64_t WarpGrid::fragment[2];

/// The lane map of an operand: that of the instruction, then registers for
/// further instructions, columns first, then warps. Along rows warps lie side
/// by side and registers repeat them, so that some rows of all warps are a
/// tile. An operand lacks one of the dimensions of the result: warps that
/// differ there hold the same.
LanesAttr WarpGrid::getLanes(MLIRContext *context, alg::MatrixOperand operand,
                             const alg::LaneMap &map) const {
  alg::LaneBases bases = getLaneBases(map);
  // The operand's dimensions that are one of the result.
  bool has[2] = {operand != alg::MatrixOperand::B,
                 operand != alg::MatrixOperand::A};
  auto add = [&](std::vector<alg::TileCoord> &list, int dim, int64_t to,
                 int64_t scale) {
    for (int64_t step = 1; step < to; step *= 2) {
      alg::TileCoord vector = {0, 0};
      if (has[dim])
        vector[dim] = step * scale;
      list.push_back(vector);
    }
  };
  if (has[1])
    add(bases.reg, 1, power[1], fragment[1]);
  if (has[0])
    add(bases.reg, 0, power[0], fragment[0] * warps[0]);
  add(bases.warp, 0, warps[0], fragment[0]);
  add(bases.warp, 1, warps[1], fragment[1] * power[1]);
  int64_t repeats[2] = {has[0] ? outer[0] : 1, has[1] ? outer[1] : 1};
  return getLanesAttr(context, bases, repeats);
}

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

/// An operand's block in memory's order. Rows of up to 128 bytes are swizzled
/// so that eight pieces of 16 bytes, one below the other, lie in all banks; or
/// where lanes read words across k, four pieces of 32 bytes. Shorter rows need
/// less of it, since several are beside one another in the banks.
static FailureOr<BlockForm> getBlock(Contraction &contraction,
                                     const OperandAccess &operand,
                                     int64_t outer) {
  ScheduleAttr schedule = contraction.getSchedule();
  const auto &fields = schedule.getFields<schedule::WarpGemm>();
  Type element = operand.getElementType();
  int64_t rows = outer, columns = schedule.getTile()[2];
  if (!operand.isAlongK())
    std::swap(rows, columns);
  int64_t bits = element.getIntOrFloatBitWidth();
  int64_t rowBytes = columns * bits / 8;
  int64_t swizzled = std::min(rowBytes & -rowBytes, kMostSwizzledBytes);
  if (swizzled < kDepthBytes || rows % 8)
    return contraction.emitError()
           << "expects a tile whose operands' rows are multiples of "
           << kDepthBytes * 8 / bits << " elements, found " << schedule;
  // The low bit of a piece and what it is added to.
  bool readsAcross = bits == 32 && !operand.isAlongK();
  SmallVector<int64_t> swizzle;
  for (int64_t bit = readsAcross ? 5 : 4, row = 7;
       int64_t(1) << (bit + 1) <= swizzled; ++bit, ++row)
    swizzle.append({bit, row});
  auto staged = StagedAttr::get(element.getContext(), swizzle,
                                rowBytes == swizzled ? 0 : swizzled * 8 / bits);
  return BlockForm{RankedTensorType::get({rows, columns}, element, staged),
                   operand.isAlongK(), fields.slots};
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
  int64_t depth = kDepthBytes * 8 / bits;
  if (tile[2] < depth || tile[2] % depth)
    return fail("a multiple of " + Twine(depth) + " of k") << schedule;
  return success();
}

/// The result as rows: of each lane as many neighbours as 16 bytes hold, where
/// the lane has so many columns. Lanes of four exchange what they hold.
static LanesAttr getRowLanes(LanesAttr lanes, int64_t elementBits) {
  SmallVector<DenseI64ArrayAttr> reg(lanes.getReg()), lane(lanes.getLane());
  auto isColumn = [](DenseI64ArrayAttr vector) { return vector[0] == 0; };
  // The columns of the lane's registers and of the four lanes, ascending.
  SmallVector<DenseI64ArrayAttr *> places;
  for (auto *list : {&reg, &lane})
    for (DenseI64ArrayAttr &vector : *list)
      if (isColumn(vector))
        places.push_back(&vector);
  int64_t wanted = llvm::Log2_64(128 / elementBits);
  SmallVector<DenseI64ArrayAttr> columns;
  for (DenseI64ArrayAttr *place : places)
    columns.push_back(*place);
  llvm::sort(columns, [](DenseI64ArrayAttr a, DenseI64ArrayAttr b) {
    return a[1] < b[1];
  });
  // A lane keeps `kept` columns beside one another; then come the four lanes.
  size_t inRegisters = columns.size() - 2;
  size_t kept = std::min<size_t>(wanted, inRegisters);
  SmallVector<DenseI64ArrayAttr> newReg(columns.begin(),
                                        columns.begin() + kept);
  SmallVector<DenseI64ArrayAttr> newLane(columns.begin() + kept,
                                         columns.begin() + kept + 2);
  newReg.append(columns.begin() + kept + 2, columns.end());
  for (DenseI64ArrayAttr vector : reg)
    if (!isColumn(vector))
      newReg.push_back(vector);
  for (DenseI64ArrayAttr vector : lane)
    if (!isColumn(vector))
      newLane.push_back(vector);
  return LanesAttr::get(lanes.getContext(), newReg, newLane, lanes.getWarp(),
                        lanes.getOuter());
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
                  const ContractionResults &results) {
  ScheduleAttr schedule = contraction.getSchedule();
  const auto &fields = schedule.getFields<schedule::WarpGemm>();
  int64_t tileM = schedule.getTile()[0], tileN = schedule.getTile()[1];
  Type element = lhsBlock.type.getElementType();
  Type sums = contraction.getAccumulatorType();
  unsigned bits = element.getIntOrFloatBitWidth();
  int64_t depth = kDepthBytes * 8 / bits;
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  WarpGrid warps(schedule.getTile(), fields.registers);
  kb.getKernel().setWarps(warps.getNumWarps());
  kb.getKernel()->setAttr(kLaneCopiesAttrName, b.getUnitAttr());
  auto getTile = [&](const WarpGrid &grid, alg::MatrixOperand operand,
                     ArrayRef<int64_t> extents, Type type) {
    alg::Expected<alg::LaneMap> fragment = alg::mmaM16N8(operand, depth, bits);
    assert(fragment && "the depth of an instruction");
    return RankedTensorType::get(
        extents, type, grid.getLanes(b.getContext(), operand, *fragment));
  };
  auto accumulator =
      getTile(warps, alg::MatrixOperand::D, {tileM, tileN}, sums);
  WarpFragments fragments = {
      lhsBlock, rhsBlock,
      getTile(warps, alg::MatrixOperand::A, {tileM, depth}, element),
      getTile(warps, alg::MatrixOperand::B, {depth, tileN}, element),
      getPrecision(schedule, element)};

  ResultTile tile =
      contraction.beginTiles(kb, schedule.getTile(), fields.group);
  Value sum = contraction.sum(kb, tile, lhsBlock, rhsBlock, accumulator,
                              [&](Value lhs, Value rhs, Value others) {
                                return fragments.multiply(kb, lhs, rhs, others);
                              });
  // What one instruction of each warp has computed leaves at a time: an
  // epilogue needs registers for no more.
  int64_t rows = WarpGrid::fragment[0] * warps.warps[0];
  WarpGrid part(warps);
  part.power[0] = part.outer[0] = 1;
  auto partTile = getTile(part, alg::MatrixOperand::D, {rows, tileN}, sums);
  for (int64_t row = 0; row < tileM; row += rows) {
    ResultTile some = tile;
    some.m = ix.add(tile.m, row);
    Value out = sum;
    if (rows < tileM)
      out = SliceOp::create(b, partTile, sum, ArrayRef<int64_t>{row, 0});
    results.store(
        kb, out, contraction.getAddress(kb, some), some.getLimits(ix),
        [&](Value value) {
          auto type = cast<RankedTensorType>(value.getType());
          auto side = RankedTensorType::get(
              type.getShape(), type.getElementType(),
              getRowLanes(getLanes(type), type.getElementTypeBitWidth()));
          return side == type ? value : RelayoutOp::create(b, side, value);
        });
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
  ContractionResults results(
      rewriter, contraction.getOp(), {tileM, tileN},
      {WarpGrid::fragment[0], WarpGrid::fragment[1] * warps.power[1]});
  buildForMemory(rewriter, contraction, results, [&](KernelBuilder &kb) {
    build(kb, contraction, *lhs, *rhs, results);
  });
  return success();
}
