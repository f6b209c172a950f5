//===- HeldRows.cpp - Softmax of rows that registers hold -----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The variant that docs/Tutorial.md adds to the compiler from outside. The
// built-in variant "row" knows nothing of a row's length: it reads the row for
// its maximum, for its sum and for the result, and computes each exponential
// twice. A short row of known length can be read once and stay in registers.

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "tracea/Conversion/TraceaToTraceaPipe/VariantLowering.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"
#include "tracea/Doctor/CPUModel.h"

#include <limits>

//===----------------------------------------------------------------------===//
// With what: the model
//===----------------------------------------------------------------------===//

namespace {
using namespace tracea::doctor;

class HeldRows final : public CPUVariant {
public:
  std::string_view name() const override { return "softmax.held"; }
  std::string_view summary() const override {
    return "reads each row once and holds it in registers";
  }
  bool serves(OpKind op) const override { return op == OpKind::Softmax; }

  Reason whyNot(const Problem &problem,
                const TargetDescription &target) const override {
    if (!problem.innermost)
      return "the elements of a row are not neighbours in memory";
    if (problem.hasPrologue)
      return "a prologue computes the elements of a row";
    if (problem.columns == kUnknownExtent)
      return "only the run knows how long a row is";
    // Half of the registers are for what the exponential needs.
    int64_t vectors = getVectors(problem, target),
            most = target.vector.registers / 2;
    if (vectors < 1 || vectors > most)
      return "a row of " + std::to_string(problem.columns) +
             " elements takes " + std::to_string(vectors) +
             " vectors, expected 1 to " + std::to_string(most);
    return "";
  }

  Plan plan(const Problem &problem,
            const TargetDescription &target) const override {
    CPUModel model(target, problem.accumulator);
    Plan plan = emptyPlan();
    plan.tile = {1, getVectors(problem, target) * model.lanes};
    plan.registers() = {plan.tile[0], plan.tile[1]};
    return plan;
  }

  double cycles(const Problem &problem, const TargetDescription &target,
                const Plan &) const override {
    CPUModel model(target, problem.accumulator);
    // One exponential of a dozen instructions, one load and one store; in the
    // end all lanes of a row meet, twice.
    double perRow =
               16.0 * static_cast<double>(getVectors(problem, target)) + 20,
           rows = static_cast<double>(assumed(problem.rows)),
           cores = static_cast<double>(model.cores);
    return model.spread(cores, rows * perRow / cores);
  }

protected:
  Reason checkTiles(const Problem &problem, const TargetDescription &target,
                    const Plan &plan) const override {
    CPUModel model(target, problem.accumulator);
    if (Reason reason = checkTile(model, plan, {{"rows"}, {"columns"}});
        !reason.empty())
      return reason;
    if (plan.tile[0] != 1 || plan.tile[0] != plan.registers()[0] ||
        plan.tile[1] != plan.registers()[1])
      return "the tile and the register tile must be one row of equal length";
    if (plan.tile[1] < problem.columns)
      return "the tile must hold a row of " + std::to_string(problem.columns) +
             " elements, found " + std::to_string(plan.tile[1]);
    return "";
  }

private:
  static int64_t getVectors(const Problem &problem,
                            const TargetDescription &target) {
    int64_t lanes = CPUModel(target, problem.accumulator).lanes;
    return (problem.columns + lanes - 1) / lanes;
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Where: the lowering
//===----------------------------------------------------------------------===//

namespace mlir::tracea {

static LogicalResult lowerHeldRows(KernelRewriter &rewriter,
                                   ScheduledOpInterface scheduled) {
  auto op = dyn_cast<SoftmaxOp>(scheduled.getOperation());
  if (!op)
    return scheduled->emitOpError("expected tracea.softmax");
  auto type = cast<RankedTensorType>(op.getInput().getType());
  if (hasPrologue(op))
    return op.emitOpError("expected no prologue");
  int64_t last = type.getRank() - 1;
  int64_t width = op.getScheduleAttr().getTile().back();
  if (op.getDim() != static_cast<uint64_t>(last) || type.isDynamicDim(last) ||
      type.getDimSize(last) > width)
    return op.emitOpError("expected rows along the last dimension that the "
                          "tile holds, found ")
           << type << " and a tile of " << width;
  for (int64_t dim = 0; dim < last; ++dim)
    emitExtentCheck(rewriter, op, op.getInput(), dim, op.getInit(), dim,
                    "input and result to have one shape");

  // A grid tile is a row.
  KernelBuilder kb(rewriter, op);
  SmallVector<Value> bounds;
  for (int64_t dim = 0; dim < last; ++dim)
    bounds.push_back(kb.getDim(op.getInput(), dim));
  if (bounds.empty())
    bounds.push_back(kb.index().constant(1));
  Block::BlockArgListType grid = kb.beginTiles(bounds);
  SmallVector<Value> place(grid.begin(), grid.begin() + last);
  place.push_back(kb.index().constant(0));
  SmallVector<Value> limits = {kb.index().constant(1),
                               kb.index().constant(type.getDimSize(last))};

  // The row is read once. Past its end the tile is minus infinity, which is no
  // maximum.
  ImplicitLocOpBuilder &b = kb.builder();
  RankedTensorType tile = kb.getTileType({1, width}, op.getAccumulatorType());
  SmallVector<AffineExpr> exprs(type.getRank(), kb.zero());
  exprs.back() = kb.dim(1);
  AffineMap map = kb.map(2, exprs);
  Value lowest = arith::ConstantOp::create(
      b, b.getFloatAttr(cast<FloatType>(type.getElementType()),
                        -std::numeric_limits<double>::infinity()));
  Value x = tracea_pipe::LoadOp::create(b, tile.clone(type.getElementType()),
                                        kb.getMemRef(op.getInput()), place,
                                        limits, lowest, map);
  x = convertTile(b, x, op.getAccumulatorType());

  // The lanes meet for the maximum and for the sum.
  auto reduced = RankedTensorType::get(
      {1, 1}, tile.getElementType(), tracea_pipe::getLanes(tile).getReduced(1));
  auto overRow = [&](tracea_pipe::ReduceKind kind, Value value) -> Value {
    Value one = tracea_pipe::ReduceOp::create(b, reduced, kind, value, 1);
    return tracea_pipe::BroadcastOp::create(b, tile, one);
  };
  Value maximum = overRow(tracea_pipe::ReduceKind::Max, x);
  Value e = math::ExpOp::create(b, arith::SubFOp::create(b, x, maximum));
  // An exponential past the end of the row is no term of the sum. It would be
  // zero, but for rows of minus infinity alone, and no proof could hold.
  Value terms = e;
  if (type.getDimSize(last) < width) {
    RankedTensorType indexTile = tile.clone(b.getIndexType());
    Value end = tensor::SplatOp::create(b, limits[1], indexTile);
    Value valid = arith::CmpIOp::create(
        b, arith::CmpIPredicate::slt,
        tracea_pipe::CoordinateOp::create(b, indexTile, 1), end);
    terms = arith::SelectOp::create(b, valid, e, kb.splat(tile, 0));
  }
  Value y =
      arith::DivFOp::create(b, e, overRow(tracea_pipe::ReduceKind::Add, terms));

  Value dest = kb.getDest(op.getInit());
  Value result = kb.emitEpilogue(op, y, {dest, place, map}, limits);
  tracea_pipe::StoreOp::create(b, result, dest, place, limits, map);
  kb.finish();
  return success();
}

/// Adds the model and the lowering under one name.
static void addHeldRows() {
  auto model = std::make_unique<HeldRows>();
  std::string_view name = model->name();
  addVariantLowering(StringRef(name.data(), name.size()),
                     {/*tileRank=*/2, lowerHeldRows});
  Registry::extend(std::move(model), schedule::CPURows());
}

} // namespace mlir::tracea

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "HeldRows", "1", mlir::tracea::addHeldRows};
}
