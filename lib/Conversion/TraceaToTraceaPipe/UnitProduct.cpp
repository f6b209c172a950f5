//===- UnitProduct.cpp - A product as the unit of four warps has it -------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blocks of both operands as memory has them, the accumulator's lanes, and the
// sum over k of one tile.

#include "UnitProduct.h"
#include "tracea/Analysis/Resources/Resources.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
namespace ta = ::tracea::analysis;
namespace hardware = ::tracea::target;

/// Bytes of a row that the unit and bulk copies swizzle as one.
static constexpr int64_t kSwizzledBytes = 128;
/// Rows of a team.
static constexpr int64_t kTeamRows = 64;

/// The accumulator of `teams` teams of four warps, 64 rows each (PTX ISA,
/// "Register Fragments for wgmma.mma_async"): a lane has two neighbours of
/// every eighth column, in two rows eight apart. One team may have several
/// `blocks` of 64 rows.
static LanesAttr getAccumulatorLanes(MLIRContext *context, int64_t teams,
                                     int64_t blocks, int64_t columns) {
  SmallVector<DenseI64ArrayAttr> reg, lane, warp;
  auto add = [&](SmallVectorImpl<DenseI64ArrayAttr> &list, int64_t row,
                 int64_t column) {
    list.push_back(DenseI64ArrayAttr::get(context, {row, column}));
  };
  add(reg, 0, 1);
  add(reg, 8, 0);
  int64_t pieces = columns / 8, power = pieces & -pieces;
  for (int64_t step = 1; step < power; step *= 2)
    add(reg, 0, 8 * step);
  add(lane, 0, 2);
  add(lane, 0, 4);
  for (int64_t row : {1, 2, 4})
    add(lane, row, 0);
  for (int64_t row = 16; row < kTeamRows * teams; row *= 2)
    add(warp, row, 0);
  return LanesAttr::get(context, reg, lane, warp, {blocks, pieces / power});
}

/// A block of a matrix in memory's order, as rows of 128 swizzled bytes. The
/// last panel of rows may hold more than is multiplied.
static RankedTensorType getBlockType(GemmOp op, int64_t rows, int64_t columns,
                                     Type element) {
  int64_t panel = kSwizzledBytes * 8 / element.getIntOrFloatBitWidth();
  columns = llvm::alignTo(columns, panel);
  auto staged = StagedAttr::get(op.getContext(), {4, 7, 5, 8, 6, 9},
                                columns == panel ? 0 : panel);
  return RankedTensorType::get({rows, columns}, element, staged);
}
/// What bulk copies and vectors ask of memory.
static constexpr int64_t kAlignedBytes = 16;

/// Asks for what bulk copies need of every argument whose type allows it.
void mlir::tracea::requireAlignment(KernelOp kernel) {
  Builder b(kernel.getContext());
  for (auto [number, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    auto memref = dyn_cast<MemRefType>(type);
    if (!memref || memref.getRank() == 0)
      continue;
    // Rows that are known not to be multiples of it stay what they are.
    int64_t row = memref.getShape().back();
    if (memref.getRank() > 1 && !ShapedType::isDynamic(row) &&
        row * memref.getElementTypeBitWidth() % (8 * kAlignedBytes) != 0)
      continue;
    kernel.setArgAttr(number, kAlignedAttrName,
                      b.getI64IntegerAttr(kAlignedBytes));
  }
}

RankedTensorType UnitProduct::getAccumulator() {
  return RankedTensorType::get(
      {rows, columns}, op.getAccumulatorType(),
      getAccumulatorLanes(op.getContext(), teams, blocks, columns));
}

LogicalResult UnitProduct::verify() {
  ScheduleAttr schedule = op.getScheduleAttr();
  if (schedule.getUnit() != MatrixUnit::Wgmma)
    return subject->emitOpError()
           << "expects the unit 'wgmma' for the variant '"
           << schedule.getVariant() << "', found " << schedule;
  bool isHalf = element.isF16() || element.isBF16();
  if (!isHalf && !element.isF32() && !element.isInteger(8) &&
      !isa<Float8E4M3FNType, Float8E5M2Type>(element))
    return subject->emitOpError()
           << "expects operands of f16, bf16, f32 (rounded to tf32), "
              "f8E4M3FN, f8E5M2 or i8 for the variant '"
           << schedule.getVariant() << "', found " << element;
  Type accumulator = op.getAccumulatorType();
  if (element.isInteger(8) ? !accumulator.isInteger(32) : !accumulator.isF32())
    return subject->emitOpError()
           << "expects to sum products of " << element << " in "
           << (element.isInteger(8) ? "i32" : "f32") << " for the variant '"
           << schedule.getVariant() << "', found " << accumulator;
  // The unit reads either order of halves alone.
  if (!isHalf && (op.getTransposeLhs() || !op.getTransposeRhs()))
    return subject->emitOpError()
           << "expects k to be the contiguous dimension of both operands of "
           << element << " for the variant '" << schedule.getVariant()
           << "' (rhs transposed, lhs not)";
  blocks = rows / (kTeamRows * teams);
  if (rows != kTeamRows * teams * blocks || (teams > 1 && blocks != 1) ||
      blocks < 1 || blocks > 2 || columns % 8 || columns < 8 || columns > 256 ||
      !llvm::isPowerOf2_64(teams))
    return subject->emitOpError()
           << "expects a tile of 64 " << (isTransposed ? "columns" : "rows")
           << " for each of 1, 2, 4 or 8 consumers (of 128 for a single one) "
              "and 8 to 256 "
           << (isTransposed ? "rows" : "columns") << " in eights, found "
           << schedule;
  int64_t step = kSwizzledBytes * 8 / element.getIntOrFloatBitWidth();
  if (tileK % step)
    return subject->emitOpError()
           << "expects k of the tile to be a multiple of " << step
           << " for elements of " << element << ", found " << schedule;
  bool lhsT = op.getTransposeLhs(), rhsT = op.getTransposeRhs();
  lhsBlock =
      getBlockType(op, lhsT ? tileK : tileM, lhsT ? tileM : tileK, element);
  rhsBlock =
      getBlockType(op, rhsT ? tileN : tileK, rhsT ? tileK : tileN, element);
  return success();
}

Value UnitProduct::sum(KernelBuilder &kb, ValueRange batch, Value m, Value n,
                       Value first, Value count) {
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  bool lhsT = op.getTransposeLhs(), rhsT = op.getTransposeRhs();
  auto stage = [&](RankedTensorType type, Value operand, ValueRange indices,
                   int64_t operandBatch, Reuse reuse) -> Value {
    return StageOp::create(b, type, kb.getMemRef(operand), indices,
                           ValueRange(), kb.matrixMap(operandBatch),
                           ArrayRef<int64_t>{operandBatch, operandBatch + 1},
                           op.getScheduleAttr().getSlots(), reuse);
  };
  // An operand is read once where the other one has a single tile.
  auto reuseOf = [&](int64_t operandBatch, int64_t otherDim,
                     int64_t otherTile) -> Reuse {
    int64_t extent =
        cast<RankedTensorType>(op.getInit().getType()).getDimSize(otherDim);
    bool isOnce = !ShapedType::isDynamic(extent) && extent <= otherTile &&
                  operandBatch == shape.batchRank;
    return isOnce ? Reuse::Once : Reuse::Unknown;
  };
  // The block as the product sees it, `extents` of it.
  auto orient = [&](Value block, bool transposed,
                    ArrayRef<int64_t> extents) -> Value {
    auto type = cast<RankedTensorType>(block.getType());
    if (!transposed && type.getShape() == extents)
      return block;
    Value zero = ix.constant(0);
    AffineMap map = transposed ? kb.map(2, {kb.dim(1), kb.dim(0)})
                               : kb.map(2, {kb.dim(0), kb.dim(1)});
    return ViewOp::create(
        b, RankedTensorType::get(extents, element, type.getEncoding()), block,
        ValueRange{zero, zero}, map);
  };
  return kb.loop(
      count, 1, kb.splat(getAccumulator(), 0), [&](Value step, Value others) {
        Value k = ix.mul(ix.add(first, step), tileK);
        SmallVector<Value> lhsAt =
            shape.at(batch, shape.lhsBatch, lhsT ? k : m, lhsT ? m : k);
        SmallVector<Value> rhsAt =
            shape.at(batch, shape.rhsBatch, rhsT ? n : k, rhsT ? k : n);
        Value lhs = stage(lhsBlock, this->lhs, lhsAt, shape.lhsBatch,
                          reuseOf(shape.lhsBatch, shape.resultRank - 1, tileN));
        Value rhs = stage(rhsBlock, this->rhs, rhsAt, shape.rhsBatch,
                          reuseOf(shape.rhsBatch, shape.resultRank - 2, tileM));
        Value left = isTransposed ? orient(rhs, !rhsT, {rows, tileK})
                                  : orient(lhs, lhsT, {rows, tileK});
        Value right = isTransposed ? orient(lhs, !lhsT, {tileK, columns})
                                   : orient(rhs, rhsT, {tileK, columns});
        return MmaOp::create(b, left, right, others, Value(), ValueRange())
            .getResult();
      });
}

/// Registers of a thread that copies and of one that multiplies: what the
/// former does not need goes to the latter. None where a thread gets all that
/// it can name anyway.
static SmallVector<int64_t> getBudgets(TargetAttr target, int64_t teams,
                                       int64_t residents, int64_t turns) {
  constexpr int64_t kMost = 240, kStep = 8, kSubgroup = 32;
  if (teams * turns * residents == 1)
    return {};
  StringRef name = target.getName();
  std::optional<hardware::TargetDescription> description =
      hardware::lookup(std::string_view(name.data(), name.size()));
  if (!description)
    return {};
  int64_t copying = residents * turns == 1 ? 40 : 24;
  teams *= turns;
  int64_t groups = 1 + teams;
  int64_t pool = groups * ta::getLaunchRegisters(
                              groups * kTeamWarps * kSubgroup,
                              ta::getResourceLimits(*description), residents);
  return {copying, std::min((pool - copying) / teams / kStep * kStep, kMost)};
}

void mlir::tracea::setPipeline(KernelBuilder &kb, UnitProduct &product,
                               bool isPersistent) {
  auto module = product.op->getParentOfType<ModuleOp>();
  auto target =
      module->getAttrOfType<TargetAttr>(TraceaDialect::kTargetAttrName);
  ScheduleAttr schedule = product.op.getScheduleAttr();
  int64_t residents = schedule.getResidents(), turns = schedule.getTurns();
  // Of teams that take turns each workgroup has many tiles.
  bool walks = isPersistent && (target.getCores() > 1 || turns > 1);
  kb.getKernel().setPipelineAttr(PipelineAttr::get(
      kb.builder().getContext(), product.teams, kTeamWarps,
      getBudgets(target, product.teams, residents, turns),
      walks ? residents * std::max<int64_t>(target.getCores(), 1) : 0,
      /*pending=*/1, residents, turns));
}
