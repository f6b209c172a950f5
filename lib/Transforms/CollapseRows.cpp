//===- CollapseRows.cpp - Rows of several dimensions are rows of one ------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel of rows has lanes along the last dimension, and holds a row in
// registers where that one is all that is reduced. Dimensions that all operands
// have side by side are one in memory.

#include "EpilogueUtils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "tracea/Dialect/Tracea/IR/TraceaOps.h"
#include "tracea/Transforms/Passes.h"

#define DEBUG_TYPE "tracea-collapse-rows"

namespace mlir::tracea {
#define GEN_PASS_DEF_COLLAPSEROWS
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;

/// The position of a dimension among the results of a map, or -1.
static int64_t findDim(AffineMap map, int64_t dim) {
  for (auto [position, expr] : llvm::enumerate(map.getResults()))
    if (auto found = dyn_cast<AffineDimExpr>(expr))
      if (found.getPosition() == dim)
        return static_cast<int64_t>(position);
  return -1;
}

/// Whether an operand has `dim` and the next one side by side, or neither.
static bool isBesideNext(AffineMap map, int64_t dim) {
  int64_t first = findDim(map, dim), second = findDim(map, dim + 1);
  return first < 0 ? second < 0 : second == first + 1;
}

namespace {
/// A norm over the dimensions from `axis` on, and those that become one.
class Rows {
public:
  static std::optional<Rows> match(RowOpInterface op);
  void collapse(IRRewriter &rewriter);

private:
  Rows(RowOpInterface op, int64_t axis)
      : op(op), type(cast<RankedTensorType>(op.getInput().getType())),
        axis(axis) {}

  bool find();
  AffineMap getMap(AffineMap map) const;
  SmallVector<ReassociationIndices> getGroups(AffineMap map) const;
  Value collapse(IRRewriter &rewriter, Value tensor, AffineMap map) const;

  RowOpInterface op;
  RankedTensorType type;
  int64_t axis;
  /// For each dimension the one that it becomes, or becomes a part of.
  SmallVector<int64_t> target;
};
} // namespace

/// The first normalized dimension, of operations that may have several.
static std::optional<int64_t> getAxis(Operation *op) {
  if (auto norm = dyn_cast<LayerNormOp>(op))
    return norm.getAxis();
  if (auto norm = dyn_cast<RMSNormOp>(op))
    return norm.getAxis();
  return std::nullopt;
}

/// All maps of a norm's operands from its dimensions.
static SmallVector<AffineMap> getMaps(RowOpInterface op) {
  SmallVector<AffineMap> maps;
  for (unsigned i = 0; i < op.getPrologueOperands().size(); ++i)
    maps.push_back(getPrologueMap(op, i));
  auto epilogue = cast<EpilogueOpInterface>(op.getOperation());
  for (unsigned i = 0; i < epilogue.getExtras().size(); ++i)
    maps.push_back(getEpilogueMap(epilogue, i));
  return maps;
}

bool Rows::find() {
  // Without elements there is nothing to gain, and no type of memory joins zero
  // with an extent that another operand leaves to the run.
  if (llvm::is_contained(type.getShape(), 0))
    return false;
  SmallVector<AffineMap> maps = getMaps(op);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    bool isJoined =
        dim > axis && !type.isDynamicDim(dim - 1) && !type.isDynamicDim(dim) &&
        llvm::all_of(maps,
                     [&](AffineMap map) { return isBesideNext(map, dim - 1); });
    target.push_back(dim == 0 ? 0 : target.back() + (isJoined ? 0 : 1));
  }
  return target.back() + 1 < type.getRank();
}

std::optional<Rows> Rows::match(RowOpInterface op) {
  std::optional<int64_t> axis = getAxis(op);
  if (!axis || !isUndecided(cast<EpilogueOpInterface>(op.getOperation())))
    return std::nullopt;
  // Slices have gaps between their dimensions.
  for (Value operand : op->getOperands())
    if (peelCasts(operand).getDefiningOp<tensor::ExtractSliceOp>())
      return std::nullopt;
  Rows rows(op, *axis);
  if (!rows.find())
    return std::nullopt;
  return rows;
}

/// The dimensions of an operand that become one.
SmallVector<ReassociationIndices> Rows::getGroups(AffineMap map) const {
  SmallVector<ReassociationIndices> groups;
  std::optional<int64_t> last;
  for (auto [position, expr] : llvm::enumerate(map.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    std::optional<int64_t> own;
    if (dim)
      own = target[dim.getPosition()];
    if (!own || own != last)
      groups.emplace_back();
    groups.back().push_back(static_cast<int64_t>(position));
    last = own;
  }
  return groups;
}

AffineMap Rows::getMap(AffineMap map) const {
  SmallVector<AffineExpr> exprs;
  for (const ReassociationIndices &group : getGroups(map)) {
    AffineExpr first = map.getResult(static_cast<unsigned>(group.front()));
    if (auto dim = dyn_cast<AffineDimExpr>(first))
      first = getAffineDimExpr(static_cast<unsigned>(target[dim.getPosition()]),
                               map.getContext());
    exprs.push_back(first);
  }
  return AffineMap::get(static_cast<unsigned>(target.back() + 1), 0, exprs,
                        map.getContext());
}

Value Rows::collapse(IRRewriter &rewriter, Value tensor, AffineMap map) const {
  SmallVector<ReassociationIndices> groups = getGroups(map);
  if (groups.size() == map.getNumResults())
    return tensor;
  return tensor::CollapseShapeOp::create(rewriter, tensor.getLoc(), tensor,
                                         groups);
}

void Rows::collapse(IRRewriter &rewriter) {
  rewriter.setInsertionPoint(op);
  MLIRContext *context = op.getContext();
  auto all = AffineMap::getMultiDimIdentityMap(
      static_cast<unsigned>(type.getRank()), context);
  // Scale and bias have the dimensions from the axis on.
  AffineMap normalized = AffineMap::get(
      all.getNumDims(), 0,
      all.getResults().drop_front(static_cast<size_t>(axis)), context);
  DenseMap<OpOperand *, AffineMap> maps;
  for (auto [index, operand] : llvm::enumerate(op.getPrologueOperandsMutable()))
    maps[&operand] = getPrologueMap(op, static_cast<unsigned>(index));
  auto epilogue = cast<EpilogueOpInterface>(op.getOperation());
  for (auto [index, operand] : llvm::enumerate(epilogue.getExtrasMutable()))
    maps[&operand] = getEpilogueMap(epilogue, static_cast<unsigned>(index));
  // Results of rows have none of the dimensions that become one.
  for (OpOperand &init : op.getRowInitsMutable())
    maps[&init] = getRowMap(op);
  SmallVector<Attribute> prologueMaps, epilogueMaps;
  for (unsigned i = 0; i < op.getPrologueOperands().size(); ++i)
    prologueMaps.push_back(AffineMapAttr::get(getMap(getPrologueMap(op, i))));
  for (unsigned i = 0; i < epilogue.getExtras().size(); ++i)
    epilogueMaps.push_back(
        AffineMapAttr::get(getMap(getEpilogueMap(epilogue, i))));

  Operation *norm = op;
  SmallVector<Value> operands;
  for (OpOperand &operand : norm->getOpOperands()) {
    auto found = maps.find(&operand);
    AffineMap map =
        found != maps.end() ? found->second
        : cast<RankedTensorType>(operand.get().getType()).getRank() ==
                type.getRank()
            ? all
            : normalized;
    operands.push_back(collapse(rewriter, operand.get(), map));
  }
  Operation *made = rewriter.clone(*norm);
  made->setOperands(operands);
  cast<RowOpInterface>(made).setPrologueMapsAttr(
      rewriter.getArrayAttr(prologueMaps));
  cast<EpilogueOpInterface>(made).setEpilogueMapsAttr(
      rewriter.getArrayAttr(epilogueMaps));
  SmallVector<Value> results;
  for (auto [result, init] :
       llvm::zip(made->getResults(),
                 cast<DestinationStyleOpInterface>(made).getDpsInits()))
    result.setType(init.getType());
  auto inits = cast<DestinationStyleOpInterface>(norm).getDpsInits();
  for (auto [result, init] : llvm::zip(made->getResults(), inits))
    results.push_back(
        result.getType() == init.getType()
            ? Value(result)
            : tensor::ExpandShapeOp::create(
                  rewriter, op.getLoc(), init.getType(), result, getGroups(all),
                  tensor::getMixedSizes(rewriter, op.getLoc(), init)));
  remark::passed(op.getLoc(),
                 remark::RemarkOpts::name("RowsCollapsed").category(DEBUG_TYPE))
      << llvm::formatv("rows of {0} dimensions have {1}", type.getRank() - axis,
                       target.back() + 1 - axis)
             .str();
  rewriter.replaceOp(norm, results);
}

namespace {
struct CollapseRowsPass
    : public mlir::tracea::impl::CollapseRowsBase<CollapseRowsPass> {
  using CollapseRowsBase::CollapseRowsBase;

  void runOnOperation() override {
    SmallVector<Rows> found;
    getOperation()->walk([&](RowOpInterface op) {
      if (std::optional<Rows> rows = Rows::match(op))
        found.push_back(*rows);
    });
    IRRewriter rewriter(&getContext());
    for (Rows &rows : found) {
      rows.collapse(rewriter);
      ++numCollapsed;
    }
  }
};
} // namespace
