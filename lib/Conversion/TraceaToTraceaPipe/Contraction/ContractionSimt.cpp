//===- ContractionSimt.cpp - Contractions by the lanes of a GPU -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variant "gemm.simt": no unit multiplies. A grid tile of TM x TN sums over k
// in steps of TK, and each lane holds RM x RN of the sums: runs of up to four
// rows and columns, which it reads as one vector. A step stages a block of both
// operands with rows across k, so that one step of k takes a vector for each
// run. Copies exchange the dimensions of an operand whose rows run along k;
// elements too narrow for that are staged as they are, and lanes read four of
// them along k. Copies fill with zeros what lies past the ends of a matrix.

#include "../LaneTile.h"
#include "Contraction.h"
#include "tracea/Analysis/Resources/Resources.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"
#include "tracea/Dialect/TraceaPipe/IR/Parts.h"
#include "tracea/Dialect/TraceaPipe/Utils/LaneMaps.h"
#include "tracea/TargetInfo/TargetInfo.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

namespace {
/// How an operand is staged: with rows across k as memory has it, with its
/// dimensions exchanged, or with rows along k as memory has it.
enum class Staging { Across, Exchanged, Along };
} // namespace

static Staging getStaging(const OperandAccess &operand) {
  constexpr unsigned kLeastBits = 32;
  if (!operand.isAlongK())
    return Staging::Across;
  return operand.getElementType().getIntOrFloatBitWidth() < kLeastBits
             ? Staging::Along
             : Staging::Exchanged;
}

/// A block of `outer` rows or columns of the product and the schedule's depth
/// of k. Lanes read rows along k a run apart, and copies that exchange
/// dimensions write neighbours.
static BlockForm getBlock(ScheduleAttr schedule, const OperandAccess &operand,
                          int64_t outer, int64_t run, int64_t readers) {
  constexpr int64_t kWriters = 8;
  Type element = operand.getElementType();
  Staging staging = getStaging(operand);
  SmallVector<int64_t> shape = {schedule.getTile()[2], outer};
  int64_t apart = 1, lanes = 1;
  if (staging == Staging::Exchanged)
    lanes = kWriters;
  if (staging == Staging::Along) {
    std::swap(shape[0], shape[1]);
    apart = run;
    lanes = readers;
  }
  return {getLaneBlock(shape, element, apart, lanes), staging == Staging::Along,
          schedule.getFields<schedule::SimtGemm>().slots};
}

/// What the schedule must say for the lowering to follow it.
static LogicalResult verify(Contraction &contraction) {
  constexpr int64_t kMostRegisters = 16, kMostSums = 128, kMostWarps = 32;
  constexpr int64_t kLeastRow = 32, kMostRow = 256;
  ScheduleAttr schedule = contraction.getSchedule();
  const auto &fields = schedule.getFields<schedule::SimtGemm>();
  auto fail = [&](const Twine &what) {
    return contraction.emitError() << "expects " << what << " for the variant '"
                                   << schedule.getVariant() << "', found ";
  };
  Type element = contraction.getLhs().getElementType();
  Type other = contraction.getRhs().getElementType();
  if (element != other)
    return fail("operands of one type") << element << " and " << other;
  if (schedule.getUnit() != MatrixUnit::Vector)
    return fail("the unit 'vector'") << schedule;
  if (fields.table && !contraction.hasWalk())
    return fail("pixels for a 'table'") << schedule;
  Type accumulator = contraction.getAccumulatorType();
  bool isFloat = isa<FloatType>(element);
  if (isFloat ? !accumulator.isF32() && !accumulator.isF64()
              : !accumulator.isInteger(32))
    return fail("an accumulator of " + Twine(isFloat ? "f32 or f64" : "i32"))
           << accumulator;
  if (isFloat ? element.getIntOrFloatBitWidth() >
                    accumulator.getIntOrFloatBitWidth()
              : !element.isInteger(8) && !element.isInteger(32))
    return fail(isFloat ? "operands no wider than the accumulator"
                        : "operands of i8 or i32")
           << element;
  ArrayRef<int64_t> tile = schedule.getTile();
  ArrayRef<int64_t> registers = fields.registers;
  for (int dim : {0, 1}) {
    int64_t extent = registers[dim];
    int64_t span = extent * LaneGrid::kLanes[dim];
    if (extent > kMostRegisters || !llvm::isPowerOf2_64(extent) ||
        tile[dim] % span || !llvm::isPowerOf2_64(tile[dim] / span))
      return fail("'registers' of powers of two up to 16, and a 'tile' of a "
                  "power of two of 4 times their rows and 8 times their "
                  "columns")
             << schedule;
  }
  if (registers[0] * registers[1] > kMostSums)
    return fail("at most 128 sums in the registers of a lane") << schedule;
  if (LaneGrid(tile, registers).getNumWarps() > kMostWarps)
    return fail("at most 32 warps") << schedule;
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  if (!llvm::isPowerOf2_64(tile[2]) || tile[2] * bytes < kLeastRow ||
      tile[2] * bytes > kMostRow)
    return fail("a power of two of k that takes 32 to 256 bytes") << schedule;
  return success();
}

/// Workgroups that a multiprocessor is to hold: lanes of few sums hide each
/// other's waits; those of many, or that convert what they read, need all
/// registers.
static int64_t getNumResidents(Contraction &contraction, int64_t numWarps) {
  constexpr int64_t kFewWords = 64, kManyWarps = 16, kFewWarps = 8;
  ArrayRef<int64_t> registers =
      contraction.getSchedule().getFields<schedule::SimtGemm>().registers;
  int64_t words = registers[0] * registers[1] *
                  contraction.getAccumulatorType().getIntOrFloatBitWidth() / 32;
  bool isNarrow =
      contraction.getLhs().getElementType().getIntOrFloatBitWidth() < 32;
  int64_t warps = words <= kFewWords && !isNarrow ? kManyWarps : kFewWarps;
  return std::max<int64_t>(warps / numWarps, 1);
}

/// How much of k a lane reads at a time: of a step of few products the proof
/// that each term is there once is short, and along k it takes as many elements
/// as along a run. What it reads, converted, and its sums have to fit into
/// registers.
static int64_t getDepth(Contraction &contraction, const LaneGrid &grid,
                        bool isAlongK) {
  constexpr int64_t kProducts = 4;
  ScheduleAttr schedule = contraction.getSchedule();
  ArrayRef<int64_t> registers =
      schedule.getFields<schedule::SimtGemm>().registers;
  int64_t least = isAlongK ? LaneGrid::kLongestRun : 1;
  int64_t depth = std::max(schedule.getTile()[2] / kProducts, least);
  std::optional<::tracea::target::TargetDescription> description =
      getDescription(contraction.getTarget());
  if (!description)
    return depth;
  Type sums = contraction.getAccumulatorType();
  Type element = contraction.getLhs().getElementType();
  int64_t sumBits = sums.getIntOrFloatBitWidth();
  int64_t bits =
      isa<FloatType>(element) ? sumBits : element.getIntOrFloatBitWidth();
  int64_t threads = grid.getNumWarps() * description->occupancy.subgroupSize;
  int64_t most = ::tracea::analysis::getLaunchRegisters(
      threads, ::tracea::analysis::getResourceLimits(*description));
  while (most && depth > least &&
         (registers[0] + registers[1]) * depth * bits +
                 registers[0] * registers[1] * sumBits >
             32 * most)
    depth /= 2;
  return depth;
}

namespace {
/// The contraction as a kernel.
class LaneKernel {
public:
  LaneKernel(Contraction &contraction, const LaneGrid &grid)
      : contraction(contraction), grid(grid) {}

  void build(KernelBuilder &kb, OpenTiles open, StoreSums storeSums);

private:
  RankedTensorType getTile(ArrayRef<int64_t> extents, Type type,
                           LaneOperand operand, bool isAlongK,
                           int64_t rowGroups) {
    return RankedTensorType::get(
        extents, type,
        grid.getLanes(type.getContext(), operand, depth, isAlongK, rowGroups));
  }
  void store(KernelBuilder &kb, Value sum, const ResultTile &tile,
             StoreSums storeSums);

  Contraction &contraction;
  const LaneGrid &grid;
  int64_t depth = 1;
};
} // namespace

void LaneKernel::build(KernelBuilder &kb, OpenTiles open, StoreSums storeSums) {
  ScheduleAttr schedule = contraction.getSchedule();
  const auto &fields = schedule.getFields<schedule::SimtGemm>();
  int64_t tileM = schedule.getTile()[0], tileN = schedule.getTile()[1];
  int64_t tileK = schedule.getTile()[2];
  OperandAccess &lhs = contraction.getLhs(), &rhs = contraction.getRhs();
  BlockForm lhsBlock =
      getBlock(schedule, lhs, tileM, grid.run[0], LaneGrid::kLanes[0]);
  BlockForm rhsBlock =
      getBlock(schedule, rhs, tileN, grid.run[1], LaneGrid::kLanes[1]);
  ImplicitLocOpBuilder &b = kb.builder();
  Type element = lhs.getElementType(), sums = contraction.getAccumulatorType();
  KernelOp kernel = kb.getKernel();
  kernel.setWarps(grid.getNumWarps());
  kernel->setAttr(kLaneCopiesAttrName, b.getUnitAttr());
  if (!hasAsyncCopies(contraction.getTarget()))
    kernel->setAttr(kHeldCopiesAttrName, b.getUnitAttr());
  if (int64_t residents = getNumResidents(contraction, grid.getNumWarps());
      residents > 1)
    kernel->setAttr(kResidentsAttrName, b.getI64IntegerAttr(residents));

  depth = getDepth(contraction, grid, lhsBlock.isAlongK || rhsBlock.isAlongK);
  auto accumulator =
      getTile({tileM, tileN}, sums, LaneOperand::Result, false, grid.groups[0]);
  auto lhsTile = getTile({tileM, depth}, element, LaneOperand::Lhs,
                         lhsBlock.isAlongK, grid.groups[0]);
  auto rhsTile = getTile({depth, tileN}, element, LaneOperand::Rhs,
                         rhsBlock.isAlongK, grid.groups[0]);

  ResultTile tile = open(kb);
  auto load = [&](RankedTensorType type, Value block, bool isExchanged,
                  int64_t row, int64_t column) -> Value {
    Value terms = loadFragment(kb, type, block, isExchanged, row, column);
    return isa<FloatType>(element) ? convertTile(b, terms, sums) : terms;
  };
  // Long sums of small terms lose digits: where a lane has registers to spare,
  // those of a step are added up first.
  constexpr int64_t kFewWords = 16;
  bool isApart =
      isa<FloatType>(sums) && fields.registers[0] * fields.registers[1] *
                                      sums.getIntOrFloatBitWidth() / 32 <=
                                  kFewWords;
  Value sum = contraction.sum(
      kb, tile, lhsBlock, rhsBlock, accumulator,
      [&](Value lhs, Value rhs, Value others) {
        Value some = isApart ? kb.splat(accumulator, 0) : others;
        for (int64_t at = 0; at < tileK; at += depth)
          some = MmaOp::create(b, load(lhsTile, lhs, !lhsBlock.isAlongK, 0, at),
                               load(rhsTile, rhs, rhsBlock.isAlongK, at, 0),
                               some, Value(), ValueRange());
        return isApart ? kb.addTiles(others, some) : some;
      });
  store(kb, sum, tile, storeSums);
}

/// One run of rows of each lane leaves at a time: an epilogue needs registers
/// for no more. What functions are computed with is several times as much as
/// the elements are: of those one run of columns, too.
void LaneKernel::store(KernelBuilder &kb, Value sum, const ResultTile &tile,
                       StoreSums storeSums) {
  auto type = cast<RankedTensorType>(sum.getType());
  IndexMath &ix = kb.index();
  int64_t tileM = type.getDimSize(0), tileN = type.getDimSize(1);
  int64_t rows = grid.getSpan(0), columns = tileN;
  auto part = getTile({rows, tileN}, type.getElementType(), LaneOperand::Result,
                      false, /*rowGroups=*/1);
  if (computesFunctions(contraction.getOp()))
    if (LanesAttr lanes = getPartLanes(getLanes(part), 1, grid.getSpan(1))) {
      columns = grid.getSpan(1);
      part =
          RankedTensorType::get({rows, columns}, type.getElementType(), lanes);
    }
  for (int64_t row = 0; row < tileM; row += rows) {
    for (int64_t column = 0; column < tileN; column += columns) {
      ResultTile some = tile;
      some.m = ix.add(tile.m, row);
      some.n = ix.add(tile.n, column);
      Value out = sum;
      if (part != type)
        out = SliceOp::create(kb.builder(), part, sum,
                              ArrayRef<int64_t>{row, column});
      storeSums(kb, out, some, nullptr);
    }
  }
}

LogicalResult mlir::tracea::lowerByLanes(KernelRewriter &rewriter,
                                         Contraction &contraction) {
  if (failed(verify(contraction)))
    return failure();
  contraction.emitChecks(rewriter);
  ScheduleAttr schedule = contraction.getSchedule();
  const auto &fields = schedule.getFields<schedule::SimtGemm>();
  LaneGrid grid(schedule.getTile(), fields.registers);
  // Elements are copied one by one where dimensions are exchanged. Sums leave
  // one by one: vectors of them would have to lie in neighbouring registers
  // throughout the loop, which has none to spare.
  auto isCopiedWhole = [&](unsigned argument) {
    return argument < 2 &&
           getStaging(argument ? contraction.getRhs() : contraction.getLhs()) !=
               Staging::Exchanged;
  };
  lowerForMemory(
      rewriter, contraction, {grid.getWarpSpan(0), grid.getWarpSpan(1)},
      [&](KernelBuilder &kb, OpenTiles open, StoreSums store) {
        LaneKernel(contraction, grid).build(kb, open, store);
      },
      isCopiedWhole);
  return success();
}
