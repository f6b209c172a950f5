//===- WarpgroupTile.cpp - A tile as warpgroups multiply it ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of both operands as memory has them, the accumulator's lanes, and the
// sum over k of one tile.

#include "WarpgroupTile.h"
#include "tracea/Algebra/Fragments.h"
#include "tracea/Analysis/Resources/Resources.h"
#include "tracea/Dialect/TraceaPipe/Utils/LaneMaps.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;
namespace ta = ::tracea::analysis;
namespace hardware = ::tracea::target;

/// Bytes of a row that the unit and bulk copies swizzle as one.
static constexpr int64_t kSwizzledBytes = 128;
/// Rows of a team.
static constexpr int64_t kTeamRows = 64;

/// The accumulator of `teams` teams, 64 rows each. One team may have several
/// `blocks` of 64 rows.
static LanesAttr getAccumulatorLanes(MLIRContext *context, int64_t teams,
                                     int64_t blocks, int64_t columns) {
  alg::Expected<alg::LaneMap> fragment = alg::wgmmaD(columns);
  assert(fragment && "columns of an instruction");
  alg::LaneBases bases = getLaneBases(*fragment);
  for (int64_t row = kTeamRows; row < kTeamRows * teams; row *= 2)
    bases.warp.push_back({row, 0});
  return getLanesAttr(context, bases, {blocks, fragment->outer()[1]});
}

/// An operand's block in memory's order, as rows of 128 swizzled bytes. The
/// last panel of rows may hold more than is multiplied.
static BlockForm getBlock(const OperandAccess &operand, int64_t outer,
                          int64_t depth, int64_t slots, Reuse reuse) {
  Type element = operand.getElementType();
  int64_t panel = kSwizzledBytes * 8 / element.getIntOrFloatBitWidth();
  int64_t rows = operand.isAlongK() ? outer : depth;
  int64_t columns = llvm::alignTo(operand.isAlongK() ? depth : outer, panel);
  auto staged = StagedAttr::get(element.getContext(), {4, 7, 5, 8, 6, 9},
                                columns == panel ? 0 : panel);
  return {RankedTensorType::get({rows, columns}, element, staged),
          operand.isAlongK(), slots, reuse};
}

RankedTensorType WarpgroupTile::getAccumulator() {
  return RankedTensorType::get(
      {rows, columns}, contraction.getAccumulatorType(),
      getAccumulatorLanes(contraction.getOp()->getContext(), teams, blocks,
                          columns));
}

LogicalResult WarpgroupTile::verify() {
  ScheduleAttr schedule = contraction.getSchedule();
  const auto &fields = schedule.getFields<schedule::WarpgroupRing>();
  const OperandAccess &lhs = contraction.getLhs(), &rhs = contraction.getRhs();
  Type element = lhs.getElementType();
  if (schedule.getUnit() != MatrixUnit::Wgmma)
    return contraction.emitError()
           << "expects the unit 'wgmma' for the variant '"
           << schedule.getVariant() << "', found " << schedule;
  bool isHalf = element.isF16() || element.isBF16();
  if (!isHalf && !element.isF32() && !element.isInteger(8) &&
      !isa<Float8E4M3FNType, Float8E5M2Type>(element))
    return contraction.emitError()
           << "expects operands of f16, bf16, f32 (rounded to tf32), "
              "f8E4M3FN, f8E5M2 or i8 for the variant '"
           << schedule.getVariant() << "', found " << element;
  Type accumulator = contraction.getAccumulatorType();
  if (element.isInteger(8) ? !accumulator.isInteger(32) : !accumulator.isF32())
    return contraction.emitError()
           << "expects to sum products of " << element << " in "
           << (element.isInteger(8) ? "i32" : "f32") << " for the variant '"
           << schedule.getVariant() << "', found " << accumulator;
  // The unit reads either order of halves alone.
  if (!isHalf && (!lhs.isAlongK() || !rhs.isAlongK()))
    return contraction.emitError()
           << "expects k to be the contiguous dimension of both operands of "
           << element << " for the variant '" << schedule.getVariant()
           << "' (rhs transposed, lhs not)";
  blocks = rows / (kTeamRows * teams);
  if (rows != kTeamRows * teams * blocks || (teams > 1 && blocks != 1) ||
      blocks < 1 || blocks > 2 || columns % 8 || columns < 8 || columns > 256 ||
      !llvm::isPowerOf2_64(teams))
    return contraction.emitError()
           << "expects a tile of 64 " << (isTransposed ? "columns" : "rows")
           << " for each of 1, 2, 4 or 8 consumers (of 128 for a single one) "
              "and 8 to 256 "
           << (isTransposed ? "rows" : "columns") << " in eights, found "
           << schedule;
  int64_t step = kSwizzledBytes * 8 / element.getIntOrFloatBitWidth();
  if (tileK % step)
    return contraction.emitError()
           << "expects k of the tile to be a multiple of " << step
           << " for elements of " << element << ", found " << schedule;
  lhsBlock = getBlock(lhs, tileM, tileK, fields.slots, lhs.getReuse(tileN));
  rhsBlock = getBlock(rhs, tileN, tileK, fields.slots, rhs.getReuse(tileM));
  return success();
}

/// `extents` of a block, with its dimensions exchanged or as they are.
static Value getView(KernelBuilder &kb, Value block, bool isExchanged,
                     ArrayRef<int64_t> extents) {
  auto type = cast<RankedTensorType>(block.getType());
  if (!isExchanged && type.getShape() == extents)
    return block;
  Value zero = kb.index().constant(0);
  return ViewOp::create(
      kb.builder(),
      RankedTensorType::get(extents, type.getElementType(), type.getEncoding()),
      block, ValueRange{zero, zero}, kb.matrixMap(0, isExchanged));
}

Value WarpgroupTile::sum(KernelBuilder &kb, const ResultTile &tile) {
  auto multiply = [&](Value lhs, Value rhs, Value others) -> Value {
    bool isLeftAlongK = lhsBlock.isAlongK, isRightAlongK = rhsBlock.isAlongK;
    if (isTransposed) {
      std::swap(lhs, rhs);
      std::swap(isLeftAlongK, isRightAlongK);
    }
    Value left = getView(kb, lhs, !isLeftAlongK, {rows, tileK});
    Value right = getView(kb, rhs, isRightAlongK, {tileK, columns});
    return MmaOp::create(kb.builder(), left, right, others, Value(),
                         ValueRange());
  };
  return contraction.sum(kb, tile, lhsBlock, rhsBlock, getAccumulator(),
                         multiply);
}

/// Registers of a thread that copies and of one that multiplies: what the
/// former does not need goes to the latter. None where a thread gets all that
/// it can name anyway.
static SmallVector<int64_t> getBudgets(TargetAttr target, int64_t teams,
                                       int64_t residents, int64_t pingPong) {
  constexpr int64_t kMost = 240, kStep = 8, kSubgroup = 32;
  if (teams * pingPong * residents == 1)
    return {};
  StringRef name = target.getName();
  std::optional<hardware::TargetDescription> description =
      hardware::lookup(std::string_view(name.data(), name.size()));
  if (!description)
    return {};
  int64_t copying = residents * pingPong == 1 ? 40 : 24;
  teams *= pingPong;
  int64_t groups = 1 + teams;
  int64_t pool = groups * ta::getLaunchRegisters(
                              groups * kTeamWarps * kSubgroup,
                              ta::getResourceLimits(*description), residents);
  return {copying, std::min((pool - copying) / teams / kStep * kStep, kMost)};
}

void mlir::tracea::setPipeline(KernelBuilder &kb, WarpgroupTile &tile,
                               bool isPersistent) {
  TargetAttr target = tile.contraction.getTarget();
  ScheduleAttr schedule = tile.contraction.getSchedule();
  const auto &fields = schedule.getFields<schedule::WarpgroupRing>();
  const auto *gemm = schedule.getFieldsIf<schedule::WarpgroupGemm>();
  int64_t residents = fields.residents, pingPong = gemm ? gemm->pingPong : 1;
  // Of teams that take turns each workgroup has many tiles.
  bool walks = isPersistent && (target.getCores() > 1 || pingPong > 1);
  kb.getKernel().setPipelineAttr(PipelineAttr::get(
      kb.builder().getContext(), tile.teams, kTeamWarps,
      getBudgets(target, tile.teams, residents, pingPong),
      walks ? residents * std::max<int64_t>(target.getCores(), 1) : 0,
      fields.pending, residents, pingPong));
}
