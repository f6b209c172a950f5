//===- Rows.cpp - softmax and norms, a row at a time ----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Variants "row" and "row.lanes" of softmax, layer_norm and rms_norm. Each is
// what a row, or a part of one, reduces to, how parts combine, and what is made
// of an element then.

#include "KernelMemory.h"
#include "Maxima.h"
#include "RowKernel.h"
#include "Variants.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// A grid tile is one row of registers, or what lanes hold.
static LogicalResult verifyRowSchedule(Operation *op, ScheduleAttr schedule) {
  constexpr int64_t kMostThreads = 1024, kMostElements = 256;
  ArrayRef<int64_t> tile = schedule.getTile();
  if (const auto *fields = schedule.getFieldsIf<schedule::LaneRows>()) {
    int64_t subgroup =
        op->getParentOfType<ModuleOp>()
            ->getAttrOfType<TargetAttr>(TraceaDialect::kTargetAttrName)
            .getSubgroup();
    int64_t run = fields->lanes * fields->vector;
    if (!llvm::isPowerOf2_64(tile[0]) || tile[0] > kMostThreads ||
        fields->lanes * tile[0] < subgroup ||
        fields->lanes * tile[0] > kMostThreads)
      return op->emitOpError()
             << "expects a schedule whose 'lanes', times a power of two of "
                "rows of the tile, are "
             << subgroup << " to " << kMostThreads << ", found " << schedule;
    auto kinds = cast<TilingInterface>(op).getLoopIteratorTypes();
    if (tile[0] > 1 && (kinds.front() == utils::IteratorType::reduction ||
                        kinds.back() != utils::IteratorType::reduction))
      return op->emitOpError()
             << "expects a schedule whose tile has one row where no others lie "
                "along the last dimension, found "
             << schedule;
    if (fields->split > 1) {
      auto type =
          cast<RankedTensorType>(cast<RowOpInterface>(op).getInput().getType());
      int64_t columns = type.getShape().back();
      if (llvm::count(kinds, utils::IteratorType::reduction) != 1 ||
          kinds.back() != utils::IteratorType::reduction ||
          ShapedType::isDynamic(columns) || tile[0] != 1 ||
          llvm::divideCeil(columns, tile[1]) !=
              static_cast<uint64_t>(fields->split))
        return op->emitOpError()
               << "expects a schedule that cuts single rows of known length "
                  "along the last dimension into as many parts as tiles cover "
                  "them, found "
               << schedule << " for " << type;
    }
    if (fields->split > 1 && hasFinish(op))
      return op->emitOpError()
             << "expects a schedule that does not cut rows whose results are "
                "reduced again, found "
             << schedule;
    if (tile[1] % run || tile[1] / fields->lanes > kMostElements)
      return op->emitOpError()
             << "expects a schedule whose tile has a multiple of 'lanes' times "
                "'vector' columns, at most "
             << kMostElements << " of a lane, found " << schedule;
    return success();
  }
  if (tile == ArrayRef<int64_t>(
                  schedule.getFields<schedule::CPURows>().registers) &&
      tile.front() == 1)
    return success();
  return op->emitOpError() << "expects a schedule whose tile and register tile "
                              "are one row of equal length, found "
                           << schedule;
}

namespace {
/// What an operation is: the values that a row, or a part of it, reduces to,
/// those of a row from those of its parts, and the result from a row's.
struct RowForm {
  std::function<SmallVector<Value>(RowKernel &)> reduce;
  std::function<SmallVector<Value>(RowKernel &, ArrayRef<Value>)> combine;
  std::function<void(RowKernel &, ArrayRef<Value>)> map;
  /// The values of no part.
  SmallVector<double> neutral;
};
} // namespace

/// Two launches: the values of all parts, then the result.
static ValueRange lowerParts(KernelRewriter &rewriter, RowOpInterface op,
                             int64_t split, const RowForm &form) {
  auto operation = cast<DestinationStyleOpInterface>(op.getOperation());
  auto type = cast<RankedTensorType>(op.getInput().getType());
  int64_t rank = type.getRank();
  RankedTensorType partsType = RowKernel::getPartsType(op, split);
  SmallVector<Value> extents, memory;
  for (int64_t dim = 0; dim + 1 < rank; ++dim)
    if (partsType.isDynamicDim(dim))
      extents.push_back(rewriter.createOrFold<tensor::DimOp>(
          op.getLoc(), op.getInput(), dim));
  for (size_t i = 0; i < form.neutral.size(); ++i)
    memory.push_back(
        tensor::EmptyOp::create(rewriter, op.getLoc(), partsType, extents));

  SmallVector<Value> read = {op.getInput()};
  llvm::append_range(read, op.getPrologueOperands());
  SmallVector<Value> parts = launchForMemory(
      rewriter, op, read, memory, /*numOperands=*/1,
      [&](KernelBuilder &kb, bool isAligned) {
        RowKernel row(kb, op, rank - 1, rank, isAligned, RowRole::Parts);
        row.begin();
        row.storePart(form.reduce(row));
      });

  SmallVector<Value> inputs = operation.getDpsInputs(),
                     inits = llvm::map_to_vector(
                         operation.getDpsInitsMutable(),
                         [](OpOperand &operand) { return operand.get(); });
  llvm::append_range(inputs, parts);
  return launchForMemory(
      rewriter, op, inputs, inits, /*numOperands=*/1,
      [&](KernelBuilder &kb, bool isAligned) {
        RowKernel row(kb, op, rank - 1, rank, isAligned, RowRole::Combined);
        row.begin();
        row.fetchInput();
        SmallVector<Value> values;
        for (auto [part, neutral] : llvm::zip_equal(parts, form.neutral))
          values.push_back(row.loadParts(part, neutral));
        form.map(row, form.combine(row, values));
      });
}

/// Replaces the operation by launches of kernels over [firstDim, endDim) of the
/// input.
static void lowerRows(KernelRewriter &rewriter, RowOpInterface op,
                      int64_t firstDim, int64_t endDim, const RowForm &form) {
  auto build = [&](KernelBuilder &kb, bool isAligned) {
    RowKernel row(kb, op, firstDim, endDim, isAligned);
    row.begin();
    SmallVector<Value> values = form.reduce(row);
    form.map(row, values);
  };
  auto scheduled = cast<ScheduledOpInterface>(op.getOperation());
  const auto *lanes =
      scheduled.getScheduleAttr().getFieldsIf<schedule::LaneRows>();
  if (!lanes) {
    KernelBuilder kb(rewriter, op);
    build(kb, /*isAligned=*/false);
    return kb.finish();
  }
  if (lanes->split > 1)
    return rewriter.replaceOp(op, lowerParts(rewriter, op, lanes->split, form));
  auto operation = cast<DestinationStyleOpInterface>(op.getOperation());
  SmallVector<Value> inits =
      llvm::map_to_vector(operation.getDpsInitsMutable(),
                          [](OpOperand &operand) { return operand.get(); });
  rewriter.replaceOp(op, launchForMemory(rewriter, op, operation.getDpsInputs(),
                                         inits,
                                         /*numOperands=*/1, build));
}

static void emitShapeChecks(RewriterBase &rewriter, RowOpInterface op,
                            Value result) {
  Value input = op.getInput();
  for (int64_t i = 0, e = cast<RankedTensorType>(input.getType()).getRank();
       i < e; ++i) {
    emitExtentCheck(rewriter, op, input, i, result, i,
                    "input and result to have one shape");
    for (OpOperand &init : op.getKeptInitsMutable())
      emitExtentCheck(rewriter, op, init.get(), i, input, i,
                      "input and kept results to have one shape");
  }
}

/// Sums of what `body` makes of each element.
static Value sumOver(RowKernel &row, double padding,
                     function_ref<Value(Value)> body) {
  return row.reduce(
      ReduceKind::Add, 0, padding, [&](Value x, Value carried) -> Value {
        Value term = body(x);
        if (!carried)
          return term;
        return arith::AddFOp::create(row.builder(), carried, term);
      });
}

LogicalResult mlir::tracea::lowerSoftmaxRows(KernelRewriter &rewriter,
                                             SoftmaxOp op) {
  if (failed(verifyRowSchedule(op, op.getScheduleAttr())))
    return failure();
  int64_t dim = op.getDim();
  emitShapeChecks(rewriter, op, op.getInit());
  const double lowest = -std::numeric_limits<double>::infinity();
  auto exponential = [](RowKernel &row, Value x, Value maximum) -> Value {
    ImplicitLocOpBuilder &b = row.builder();
    auto power = math::ExpOp::create(b, arith::SubFOp::create(b, x, maximum));
    // Beside the greatest element's they are nothing. GPUs have instructions.
    if (!row.isLanes())
      power->setAttr(kFlushesAttrName, b.getUnitAttr());
    return power;
  };
  RowForm form;
  form.neutral = {lowest, 0};
  form.reduce = [&](RowKernel &row) -> SmallVector<Value> {
    ImplicitLocOpBuilder &b = row.builder();
    Value maximum = row.reduce(
        ReduceKind::Max, lowest, lowest, [&](Value x, Value carried) -> Value {
          if (!carried)
            return x;
          return row.isLanes()
                     ? arith::MaximumFOp::create(b, x, carried).getResult()
                     : emitGreater(b, x, carried);
        });
    Value base = maximum;
    // A part of -inf only adds nothing to a row that has other elements.
    if (row.isPart())
      base = arith::SelectOp::create(
          b,
          arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, maximum,
                                row.splatLike(maximum, lowest)),
          row.splatLike(maximum, 0), maximum);
    base = row.spread(base);
    row.beginKept();
    Value sum = sumOver(row, lowest, [&](Value x) {
      // Exponentials take longer than memory.
      row.prefetchNext();
      row.prefetchResult();
      Value weight = row.dropPadding(exponential(row, x, base));
      row.keep(weight);
      return weight;
    });
    return {maximum, sum};
  };
  form.combine = [&](RowKernel &row,
                     ArrayRef<Value> parts) -> SmallVector<Value> {
    Value maximum = row.reduceParts(ReduceKind::Max, parts[0]);
    Value weight = exponential(row, parts[0], row.spreadParts(maximum));
    Value scaled = arith::MulFOp::create(row.builder(), parts[1], weight);
    return {maximum, row.reduceParts(ReduceKind::Add, scaled)};
  };
  form.map = [&](RowKernel &row, ArrayRef<Value> values) {
    ImplicitLocOpBuilder &b = row.builder();
    Value maximum = row.spread(values[0]);
    // The sum is at least 1, which the greatest element contributes.
    Value one = row.splatLike(values[1], 1);
    Value inverse = row.spread(arith::DivFOp::create(b, one, values[1]));
    row.map([&](Value x) -> Value {
      Value weight = row.loadKept();
      if (!weight)
        weight = exponential(row, x, maximum);
      return arith::MulFOp::create(b, weight, inverse);
    });
  };
  lowerRows(rewriter, op, dim, dim + 1, form);
  return success();
}

/// 1 / sqrt(sum / count + epsilon), a value a row.
static Value getInverseDeviation(RowKernel &row, Value sum, double epsilon) {
  ImplicitLocOpBuilder &b = row.builder();
  Value mean = arith::DivFOp::create(b, sum, row.getCount());
  Value shifted = arith::AddFOp::create(b, mean, row.splatLike(mean, epsilon));
  Value root = math::SqrtOp::create(b, shifted);
  return arith::DivFOp::create(b, row.splatLike(root, 1), root);
}

LogicalResult mlir::tracea::lowerLayerNormRows(KernelRewriter &rewriter,
                                               LayerNormOp op) {
  if (failed(verifyRowSchedule(op, op.getScheduleAttr())))
    return failure();
  auto type = cast<RankedTensorType>(op.getInput().getType());
  emitShapeChecks(rewriter, op, op.getInit());
  for (Value parameter : {op.getScale(), op.getBias()})
    for (int64_t i = op.getAxis(); parameter && i < type.getRank(); ++i)
      emitExtentCheck(rewriter, op, parameter, i - op.getAxis(), op.getInput(),
                      i, "scale and bias to have the normalized shape");
  RowForm form;
  form.neutral = {0, 0};
  // The mean, and the squares of differences to it: squares of values would
  // cancel.
  form.reduce = [&](RowKernel &row) -> SmallVector<Value> {
    ImplicitLocOpBuilder &b = row.builder();
    if (!row.isPart())
      row.fetchNormalized({op.getScale(), op.getBias()});
    Value sum = sumOver(row, 0, [](Value x) { return x; });
    Value mean = arith::DivFOp::create(b, sum, row.getCount());
    Value means = row.spread(mean);
    Value squares = sumOver(row, 0, [&](Value x) -> Value {
      row.prefetchResult();
      Value difference = row.dropPadding(arith::SubFOp::create(b, x, means));
      return arith::MulFOp::create(b, difference, difference);
    });
    return {mean, squares};
  };
  // Chan, Golub and LeVeque, "Updating Formulae and a Pairwise Algorithm for
  // Computing Sample Variances", 1979.
  form.combine = [&](RowKernel &row,
                     ArrayRef<Value> parts) -> SmallVector<Value> {
    ImplicitLocOpBuilder &b = row.builder();
    Value counts = row.getPartCounts();
    Value sum = row.reduceParts(ReduceKind::Add,
                                arith::MulFOp::create(b, parts[0], counts));
    Value mean = arith::DivFOp::create(b, sum, row.getCount());
    Value difference =
        arith::SubFOp::create(b, parts[0], row.spreadParts(mean));
    Value between = arith::MulFOp::create(
        b, counts, arith::MulFOp::create(b, difference, difference));
    return {mean, row.reduceParts(ReduceKind::Add,
                                  arith::AddFOp::create(b, parts[1], between))};
  };
  form.map = [&](RowKernel &row, ArrayRef<Value> values) {
    ImplicitLocOpBuilder &b = row.builder();
    Value mean = row.spread(values[0]);
    Value inverse = row.spread(
        getInverseDeviation(row, values[1], op.getEpsilon().convertToDouble()));
    row.map([&](Value x) -> Value {
      row.prefetchNext();
      Value y =
          arith::MulFOp::create(b, arith::SubFOp::create(b, x, mean), inverse);
      Value scale, bias;
      if (op.getScale())
        scale = row.loadNormalized(op.getScale());
      if (op.getBias())
        bias = row.loadNormalized(op.getBias());
      if (scale && bias)
        return row.multiplyAdd(y, scale, bias);
      if (scale)
        return arith::MulFOp::create(b, y, scale);
      return bias ? arith::AddFOp::create(b, y, bias).getResult() : y;
    });
  };
  lowerRows(rewriter, op, op.getAxis(), type.getRank(), form);
  return success();
}

LogicalResult mlir::tracea::lowerRMSNormRows(KernelRewriter &rewriter,
                                             RMSNormOp op) {
  if (failed(verifyRowSchedule(op, op.getScheduleAttr())))
    return failure();
  auto type = cast<RankedTensorType>(op.getInput().getType());
  emitShapeChecks(rewriter, op, op.getInit());
  for (int64_t i = op.getAxis(); op.getScale() && i < type.getRank(); ++i)
    emitExtentCheck(rewriter, op, op.getScale(), i - op.getAxis(),
                    op.getInput(), i, "scale to have the normalized shape");
  RowForm form;
  form.neutral = {0};
  form.reduce = [&](RowKernel &row) -> SmallVector<Value> {
    if (!row.isPart())
      row.fetchNormalized({op.getScale()});
    return {sumOver(row, 0, [&](Value x) -> Value {
      row.prefetchResult();
      return arith::MulFOp::create(row.builder(), x, x);
    })};
  };
  form.combine = [](RowKernel &row,
                    ArrayRef<Value> parts) -> SmallVector<Value> {
    return {row.reduceParts(ReduceKind::Add, parts[0])};
  };
  form.map = [&](RowKernel &row, ArrayRef<Value> values) {
    ImplicitLocOpBuilder &b = row.builder();
    Value inverse = row.spread(
        getInverseDeviation(row, values[0], op.getEpsilon().convertToDouble()));
    row.map([&](Value x) -> Value {
      row.prefetchNext();
      Value y = arith::MulFOp::create(b, x, inverse);
      if (op.getScale())
        y = arith::MulFOp::create(b, y, row.loadNormalized(op.getScale()));
      return y;
    });
  };
  lowerRows(rewriter, op, op.getAxis(), type.getRank(), form);
  return success();
}
