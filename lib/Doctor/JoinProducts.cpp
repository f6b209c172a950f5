//===- JoinProducts.cpp - Products of one operand are one of a batch ------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of one matrix by several of a size, the projections of an attention
// say, become one product of a batch by the stack of these, where the cost
// model expects it to take less. The matrices have to be constants: their stack
// is then made once. A product of the batch is a matrix of its own in memory,
// so that nothing is copied for those that read it.

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Remarks.h"
#include "tracea/Dialect/Tracea/IR/Constants.h"
#include "tracea/Dialect/Tracea/IR/TraceaOps.h"
#include "tracea/Doctor/Doctor.h"
#include "tracea/Doctor/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_JOINPRODUCTS
#include "tracea/Doctor/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;
using ::tracea::target::TargetDescription;

/// What has to be gained: the stack takes memory, and the model is not exact.
constexpr double kLeastGain = 0.05;

static bool isStatic(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).hasStaticShape();
}

/// Whether a product can be one of a batch at all.
static bool isJoinable(GemmOp op) {
  return op.getBatchRank() == 0 && op.getAuxInits().empty() &&
         !op.getScheduleAttr() && isGivenConstant(op.getRhs()) &&
         isStatic(op.getRhs()) &&
         (isStatic(op.getInit()) ||
          op.getInit().getDefiningOp<tensor::EmptyOp>());
}

/// Whether the destinations are as large as each other.
static bool haveSameSizes(Value a, Value b) {
  if (a.getType() != b.getType())
    return false;
  auto first = a.getDefiningOp<tensor::EmptyOp>(),
       second = b.getDefiningOp<tensor::EmptyOp>();
  return isStatic(a) || first.getDynamicSizes() == second.getDynamicSizes();
}

/// Whether `b` is the same product as `a` but for what is constant.
static bool areSiblings(GemmOp a, GemmOp b) {
  if (a.getTransposeLhs() != b.getTransposeLhs() ||
      a.getTransposeRhs() != b.getTransposeRhs() ||
      a.getAccAttr() != b.getAccAttr() ||
      a.getRhs().getType() != b.getRhs().getType() ||
      !haveSameSizes(a.getInit(), b.getInit()) ||
      a.getEpilogueMapsAttr() != b.getEpilogueMapsAttr() ||
      a.getExtras().size() != b.getExtras().size())
    return false;
  for (auto [mine, other] : llvm::zip(a.getExtras(), b.getExtras()))
    if (mine != other &&
        (mine.getType() != other.getType() || !isGivenConstant(mine) ||
         !isGivenConstant(other) || !isStatic(mine)))
      return false;
  return OperationEquivalence::isRegionEquivalentTo(
      &a.getEpilogue(), &b.getEpilogue(),
      OperationEquivalence::IgnoreLocations);
}

/// `values` one after the other along a new first dimension.
static Value stack(RewriterBase &rewriter, Location loc, ValueRange values) {
  auto type = cast<RankedTensorType>(values.front().getType());
  SmallVector<int64_t> shape = {1};
  llvm::append_range(shape, type.getShape());
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    groups.push_back({dim + 1});
  if (!groups.empty())
    groups.front().insert(groups.front().begin(), 0);
  SmallVector<Value> parts;
  for (Value value : values)
    parts.push_back(tensor::ExpandShapeOp::create(
        rewriter, loc, type.clone(shape), value, groups));
  return tensor::ConcatOp::create(rewriter, loc, /*dim=*/0, parts);
}

/// The map of an operand of a product as one of the batch's operands, which is
/// another one for each product or the same for all.
static AffineMap addBatch(AffineMap map, bool isStacked) {
  AffineMap shifted = map.shiftDims(1);
  return isStacked
             ? shifted.insertResult(getAffineDimExpr(0, map.getContext()), 0)
             : shifted;
}

/// Makes the product of a batch that `ops` are, in front of the first one.
static GemmOp makeJoined(RewriterBase &rewriter, MutableArrayRef<GemmOp> ops) {
  GemmOp first = ops.front();
  rewriter.setInsertionPoint(first);
  Location loc = rewriter.getFusedLoc(
      llvm::map_to_vector(ops, [](GemmOp op) { return op.getLoc(); }));
  SmallVector<Value> matrices =
      llvm::map_to_vector(ops, [](GemmOp op) -> Value { return op.getRhs(); });
  SmallVector<Value> extras;
  SmallVector<AffineMap> maps;
  for (unsigned i = 0; i < first.getExtras().size(); ++i) {
    SmallVector<Value> values = llvm::map_to_vector(
        ops, [&](GemmOp op) -> Value { return op.getExtras()[i]; });
    bool isStacked = !llvm::all_equal(values);
    extras.push_back(isStacked ? stack(rewriter, loc, values) : values.front());
    maps.push_back(
        addBatch(cast<AffineMapAttr>(first.getEpilogueMapsAttr()[i]).getValue(),
                 isStacked));
  }
  auto type = cast<RankedTensorType>(first.getInit().getType());
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, first.getInit());
  sizes.insert(sizes.begin(),
               rewriter.getIndexAttr(static_cast<int64_t>(ops.size())));
  Value init =
      tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
  auto joined = GemmOp::create(
      rewriter, loc, first.getLhs(), stack(rewriter, loc, matrices), extras,
      init, /*aux_inits=*/ValueRange(), first.getTransposeLhs(),
      first.getTransposeRhs(), first.getAccAttr(),
      rewriter.getAffineMapArrayAttr(maps),
      /*aux_maps=*/rewriter.getArrayAttr({}),
      /*aux_kinds=*/rewriter.getArrayAttr({}), /*schedule=*/ScheduleAttr());
  rewriter.cloneRegionBefore(first.getEpilogue(), joined.getEpilogue(),
                             joined.getEpilogue().end());
  return joined;
}

/// Each product's matrix of the batch in its place.
static void replace(RewriterBase &rewriter, MutableArrayRef<GemmOp> ops,
                    GemmOp joined) {
  rewriter.setInsertionPointAfter(joined);
  Location loc = joined.getLoc();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, joined.getInit());
  sizes.front() = rewriter.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets(3, rewriter.getIndexAttr(0)),
      strides(3, rewriter.getIndexAttr(1));
  SmallVector<Value> matrices;
  for (auto [number, op] : llvm::enumerate(ops)) {
    offsets.front() = rewriter.getIndexAttr(static_cast<int64_t>(number));
    matrices.push_back(tensor::ExtractSliceOp::create(
        rewriter, loc, cast<RankedTensorType>(op.getResult().getType()),
        joined.getResult(), offsets, sizes, strides));
  }
  for (auto [op, matrix] : llvm::zip(ops, matrices))
    rewriter.replaceOp(op, matrix);
}

namespace {
struct JoinProducts : mlir::tracea::impl::JoinProductsBase<JoinProducts> {
  using JoinProductsBase::JoinProductsBase;

  void runOnOperation() override {
    FailureOr<TargetDescription> target =
        getOrSetTarget(getOperation(), this->target, threads);
    if (failed(target))
      return signalPassFailure();
    // Products that read one matrix, in their order.
    llvm::MapVector<std::pair<Value, Block *>, SmallVector<GemmOp>> readers;
    getOperation().walk([&](GemmOp op) {
      if (isJoinable(op))
        readers[{op.getLhs(), op->getBlock()}].push_back(op);
    });
    for (auto &[matrix, ops] : readers)
      joinAmong(ops, *target);
  }

private:
  void joinAmong(MutableArrayRef<GemmOp> ops, const TargetDescription &target);
  void tryJoin(MutableArrayRef<GemmOp> ops, const TargetDescription &target);
};
} // namespace

void JoinProducts::joinAmong(MutableArrayRef<GemmOp> ops,
                             const TargetDescription &target) {
  llvm::BitVector taken(ops.size());
  for (size_t i = 0; i < ops.size(); ++i) {
    if (taken.test(i))
      continue;
    SmallVector<GemmOp> siblings = {ops[i]};
    DominanceInfo dominance(ops[i]->getParentOp());
    for (size_t j = i + 1; j < ops.size(); ++j) {
      bool isReady = llvm::all_of(ops[j]->getOperands(), [&](Value operand) {
        return operand == ops[j].getInit() ||
               dominance.properlyDominates(operand, ops[i]);
      });
      if (taken.test(j) || !isReady || !areSiblings(ops[i], ops[j]))
        continue;
      siblings.push_back(ops[j]);
      taken.set(j);
    }
    if (siblings.size() > 1)
      tryJoin(siblings, target);
  }
}

void JoinProducts::tryJoin(MutableArrayRef<GemmOp> ops,
                           const TargetDescription &target) {
  IRRewriter rewriter(&getContext());
  auto count = [&](GemmOp op) {
    return countCycles(cast<ScheduledOpInterface>(op.getOperation()), target);
  };
  std::optional<double> single = count(ops.front());
  Operation *before = ops.front()->getPrevNode();
  GemmOp joined = makeJoined(rewriter, ops);
  std::optional<double> together = count(joined);
  double apart = single.value_or(0) * static_cast<double>(ops.size());
  Location loc = ops.front().getLoc();
  if (!single || !together || *together > (1 - kLeastGain) * apart) {
    std::string why =
        single && together
            ? llvm::formatv("the cost model expects {0:F0} cycles in place of "
                            "{1:F0}",
                            *together, apart)
                  .str()
            : "a kernel of plain loops would compute them";
    // With all that was made for it.
    for (Operation *op = joined; op != before;) {
      Operation *previous = op->getPrevNode();
      rewriter.eraseOp(op);
      op = previous;
    }
    remark::missed(
        loc,
        remark::RemarkOpts::name("products-apart").category("tracea-doctor"))
        << llvm::formatv("{0} products of one operand stay apart: {1}",
                         ops.size(), why)
               .str();
    return;
  }
  remark::passed(
      loc,
      remark::RemarkOpts::name("products-joined").category("tracea-doctor"))
      << llvm::formatv("{0} products of one operand are one of a batch: the "
                       "cost model expects {1:F0} cycles in place of {2:F0}",
                       ops.size(), *together, apart)
             .str();
  numJoined += ops.size();
  replace(rewriter, ops, joined);
}
