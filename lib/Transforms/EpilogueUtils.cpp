//===- EpilogueUtils.cpp - Editing epilogues and reading elementwise ops --===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "EpilogueUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tracea;

Value mlir::tracea::peelCasts(Value tensor) {
  while (tensor::CastOp cast = tensor.getDefiningOp<tensor::CastOp>()) {
    if (!isa<RankedTensorType>(cast.getSource().getType()))
      break;
    tensor = cast.getSource();
  }
  return tensor;
}

bool mlir::tracea::isEpilogueOperation(Operation *op) {
  if (op->getNumRegions() != 0 || op->getNumResults() != 1 ||
      !op->getResult(0).getType().isIntOrIndexOrFloat())
    return false;
  if (isa<arith::ConstantOp>(op))
    return true;
  return isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
         OpTrait::hasElementwiseMappableTraits(op);
}

bool mlir::tracea::isUndecided(EpilogueOpInterface op) {
  ScheduledOpInterface scheduled =
      dyn_cast<ScheduledOpInterface>(op.getOperation());
  return !scheduled || !scheduled.getScheduleAttr();
}

unsigned mlir::tracea::getEpilogueRank(EpilogueOpInterface op) {
  return cast<RankedTensorType>(op.getEpilogueResult().getType()).getRank();
}

TypedAttr mlir::tracea::getSplatValue(Value tensor) {
  tensor = peelCasts(tensor);
  DenseElementsAttr dense;
  if (matchPattern(tensor, m_Constant(&dense))) {
    if (dense && dense.isSplat())
      return dyn_cast<TypedAttr>(dense.getSplatValue<Attribute>());
    return {};
  }
  if (linalg::FillOp fill = tensor.getDefiningOp<linalg::FillOp>()) {
    Attribute value;
    Type elementType = getElementTypeOrSelf(tensor.getType());
    if (fill.value().getType() == elementType &&
        matchPattern(fill.value(), m_Constant(&value)))
      return dyn_cast<TypedAttr>(value);
  }
  return {};
}

bool mlir::tracea::canMoveTo(EpilogueOpInterface op, Operation *place) {
  for (Value result : op->getResults().drop_front())
    for (Operation *user : result.getUsers()) {
      Operation *inBlock = place->getBlock()->findAncestorOpInBlock(*user);
      if (inBlock && inBlock != place && inBlock->isBeforeInBlock(place))
        return false;
    }
  return true;
}

//===----------------------------------------------------------------------===//
// ElementwiseOp
//===----------------------------------------------------------------------===//

static bool isScalarConstant(Value value) {
  return value.getType().isIntOrIndexOrFloat() &&
         matchPattern(value, m_Constant());
}

std::optional<ElementwiseOp> ElementwiseOp::match(Operation *op,
                                                  std::string &reason) {
  ElementwiseOp result;
  result.op = op;
  auto fail = [&](const llvm::Twine &why) -> std::optional<ElementwiseOp> {
    reason = ("the consumer '" + op->getName().getStringRef() + "' ").str() +
             why.str();
    return std::nullopt;
  };

  if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
      OpTrait::hasElementwiseMappableTraits(op)) {
    if (op->getNumResults() != 1)
      return fail("has more than one result");
    RankedTensorType type =
        dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type || !type.getElementType().isIntOrIndexOrFloat())
      return fail("is not an operation on ranked tensors");
    MLIRContext *context = op->getContext();
    for (OpOperand &operand : op->getOpOperands()) {
      bool isTensor = isa<RankedTensorType>(operand.get().getType());
      result.inputs.push_back(
          {&operand,
           isTensor ? AffineMap::getMultiDimIdentityMap(type.getRank(), context)
                    : AffineMap::get(type.getRank(), 0, context)});
    }
    return result;
  }

  linalg::LinalgOp linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || !linalgOp.hasPureTensorSemantics())
    return fail("is not elementwise");
  if (linalgOp->getNumResults() != 1)
    return fail("has more than one result");
  if (linalgOp.getNumParallelLoops() != linalgOp.getNumLoops())
    return fail("reduces");

  AffineMap resultMap =
      linalgOp.getMatchingIndexingMap(linalgOp.getDpsInitOperand(0));
  if (!resultMap.isPermutation())
    return fail("does not write its result through a permutation");
  AffineMap toLoops = inversePermutation(resultMap);

  Block *body = linalgOp.getBlock();
  for (Operation &inner : body->without_terminator()) {
    if (!isEpilogueOperation(&inner))
      return fail("holds '" + inner.getName().getStringRef() + "'");
    for (Value operand : inner.getOperands())
      if (operand.getParentBlock() != body && !isScalarConstant(operand) &&
          !llvm::is_contained(result.captures, operand))
        result.captures.push_back(operand);
  }
  Value yielded = body->getTerminator()->getOperand(0);
  if (yielded.getParentBlock() != body && !isScalarConstant(yielded) &&
      !llvm::is_contained(result.captures, yielded))
    result.captures.push_back(yielded);

  for (OpOperand &operand : op->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    // The body of linalg.map may have no argument for the destination.
    if (number >= body->getNumArguments() ||
        body->getArgument(number).use_empty())
      continue;
    AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
    if (!map.isProjectedPermutation(/*allowZeroInResults=*/true))
      return fail("does not read operand #" + llvm::Twine(number) +
                  " through a projected permutation");
    Type elementType = getElementTypeOrSelf(operand.get().getType());
    if (!elementType.isIntOrIndexOrFloat())
      return fail("reads elements that are no numbers");
    result.inputs.push_back({&operand, map.compose(toLoops)});
  }
  return result;
}

unsigned ElementwiseOp::getSize() const {
  if (linalg::LinalgOp linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return linalgOp.getBlock()->getOperations().size() - 1;
  return 1;
}

const ElementwiseOp::Input *ElementwiseOp::getCopied() const {
  linalg::LinalgOp linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return nullptr;
  BlockArgument yielded = dyn_cast<BlockArgument>(
      linalgOp.getBlock()->getTerminator()->getOperand(0));
  if (!yielded || yielded.getOwner() != linalgOp.getBlock())
    return nullptr;
  for (const Input &input : inputs)
    if (input.operand->getOperandNumber() == yielded.getArgNumber())
      return &input;
  return nullptr;
}

Value ElementwiseOp::emit(OpBuilder &builder, ArrayRef<Value> scalars,
                          ArrayRef<Value> captured) const {
  if (!isa<linalg::LinalgOp>(op)) {
    OperationState state(
        op->getLoc(), op->getName(), ValueRange(scalars),
        TypeRange(getElementTypeOrSelf(op->getResult(0).getType())),
        op->getAttrs());
    return builder.create(state)->getResult(0);
  }

  Block *body = cast<linalg::LinalgOp>(op).getBlock();
  IRMapping mapping;
  for (auto [input, scalar] : llvm::zip_equal(inputs, scalars))
    mapping.map(body->getArgument(input.operand->getOperandNumber()), scalar);
  for (auto [capture, scalar] : llvm::zip_equal(captures, captured))
    mapping.map(capture, scalar);
  // Constants of the surroundings are repeated, so that the computation is
  // closed.
  auto close = [&](Value value) {
    if (value.getParentBlock() != body && !mapping.contains(value))
      mapping.map(value, builder.clone(*value.getDefiningOp())->getResult(0));
  };
  for (Operation &inner : body->without_terminator()) {
    for (Value operand : inner.getOperands())
      close(operand);
    builder.clone(inner, mapping);
  }
  close(body->getTerminator()->getOperand(0));
  return mapping.lookup(body->getTerminator()->getOperand(0));
}

//===----------------------------------------------------------------------===//
// Extra operands
//===----------------------------------------------------------------------===//

/// The source of a reshape that only adds extents of one, read through `map`.
static bool composeExpansion(Value &tensor, AffineMap &map) {
  tensor::ExpandShapeOp expand = tensor.getDefiningOp<tensor::ExpandShapeOp>();
  if (!expand)
    return false;
  RankedTensorType type = expand.getResultType();
  SmallVector<AffineExpr> exprs;
  for (const ReassociationIndices &group : expand.getReassociationIndices()) {
    AffineExpr chosen = getAffineConstantExpr(0, map.getContext());
    bool found = false;
    for (int64_t dim : group) {
      if (type.getDimSize(dim) == 1)
        continue;
      if (found)
        return false;
      chosen = map.getResult(dim);
      found = true;
    }
    exprs.push_back(chosen);
  }
  tensor = expand.getSrc();
  map = AffineMap::get(map.getNumDims(), 0, exprs, map.getContext());
  return true;
}

void mlir::tracea::composeProducers(Value &tensor, AffineMap &map) {
  while (true) {
    tensor = peelCasts(tensor);
    if (composeExpansion(tensor, map))
      continue;
    Operation *producer = tensor.getDefiningOp();
    std::string ignored;
    if (!producer || !isa<linalg::LinalgOp>(producer))
      return;
    std::optional<ElementwiseOp> elementwise =
        ElementwiseOp::match(producer, ignored);
    if (!elementwise)
      return;
    const ElementwiseOp::Input *copied = elementwise->getCopied();
    if (!copied || !isa<RankedTensorType>(copied->operand->get().getType()))
      return;
    tensor = copied->operand->get();
    map = copied->map.compose(map);
  }
}

EpilogueEditor::EpilogueEditor(RewriterBase &rewriter, EpilogueOpInterface op)
    : ScalarEditor(rewriter, op, getEpilogueRank(op)), op(op) {
  OpBuilder::InsertionGuard guard(rewriter);
  Block &block = getOrCreateEpilogue(rewriter, op);
  builder.setListener(rewriter.getListener());
  builder.setInsertionPoint(block.getTerminator());
  stored = cast<YieldOp>(block.getTerminator()).getValue();
}

Value EpilogueEditor::find(Value tensor, AffineMap map) {
  for (auto [index, extra] : llvm::enumerate(op.getExtras()))
    if (extra == tensor && getEpilogueMap(op, index) == map)
      return op.getEpilogue().front().getArgument(index + 1);
  return {};
}

Value EpilogueEditor::append(Value tensor, AffineMap map) {
  return appendEpilogueExtra(op, tensor, map);
}

PrologueEditor::PrologueEditor(RewriterBase &rewriter, RowOpInterface op,
                               OpOperand &tensor)
    : ScalarEditor(rewriter, op,
                   cast<RankedTensorType>(op.getInput().getType()).getRank()),
      op(op) {
  OpBuilder::InsertionGuard guard(rewriter);
  Block &block = getOrCreatePrologue(rewriter, op);
  builder.setListener(rewriter.getListener());
  builder.setInsertionPointToStart(&block);
  element = block.getArgument(0);
  for (OpOperand &use : element.getUses())
    uses.push_back(&use);
  element.setType(getElementTypeOrSelf(tensor.get().getType()));
  op.getInputMutable().set(tensor.get());
}

Value PrologueEditor::find(Value tensor, AffineMap map) {
  if (tensor == op.getInput() && map.isIdentity())
    return element;
  for (auto [index, operand] : llvm::enumerate(op.getPrologueOperands()))
    if (operand == tensor && getPrologueMap(op, index) == map)
      return op.getPrologue().front().getArgument(index + 1);
  return {};
}

Value PrologueEditor::append(Value tensor, AffineMap map) {
  return appendPrologueOperand(op, tensor, map);
}

void PrologueEditor::finish(Value computed) {
  for (OpOperand *use : uses)
    use->set(computed);
}

Value ScalarEditor::read(Value tensor, AffineMap map) {
  composeProducers(tensor, map);
  if (TypedAttr value = getSplatValue(tensor))
    return arith::ConstantOp::create(builder, owner->getLoc(), value);

  RankedTensorType type = cast<RankedTensorType>(tensor.getType());
  SmallVector<AffineExpr> kept;
  for (AffineExpr expr : map.getResults())
    if (isa<AffineDimExpr>(expr))
      kept.push_back(expr);
  // Repeated extents of one carry nothing: read a tensor of lower rank.
  if (kept.size() != map.getNumResults()) {
    SmallVector<int64_t> shape;
    SmallVector<ReassociationIndices> groups;
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      if (isa<AffineDimExpr>(expr)) {
        shape.push_back(type.getDimSize(dim));
        groups.emplace_back();
        if (groups.size() == 1)
          for (size_t before = 0; before < dim; ++before)
            groups.back().push_back(before);
      }
      if (!groups.empty())
        groups.back().push_back(dim);
    }
    bool isStaticOne = llvm::all_of(
        llvm::zip_equal(map.getResults(), type.getShape()), [](auto pair) {
          return isa<AffineDimExpr>(std::get<0>(pair)) ||
                 std::get<1>(pair) == 1;
        });
    if (isStaticOne) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPoint(owner);
      RankedTensorType collapsed =
          RankedTensorType::get(shape, type.getElementType());
      DenseElementsAttr dense;
      if (matchPattern(tensor, m_Constant(&dense)))
        tensor = arith::ConstantOp::create(rewriter, tensor.getLoc(),
                                           dense.reshape(collapsed));
      else
        tensor = tensor::CollapseShapeOp::create(rewriter, tensor.getLoc(),
                                                 collapsed, tensor, groups);
      map = AffineMap::get(map.getNumDims(), 0, kept, map.getContext());
    }
  }

  if (Value known = find(tensor, map))
    return known;
  ++numAdded;
  return append(tensor, map);
}

Value ScalarEditor::readScalar(Value scalar) {
  if (isScalarConstant(scalar))
    return builder.clone(*scalar.getDefiningOp())->getResult(0);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(owner);
  Value tensor = tensor::FromElementsOp::create(
      rewriter, scalar.getLoc(), RankedTensorType::get({}, scalar.getType()),
      scalar);
  return read(tensor, AffineMap::get(rank, 0, rewriter.getContext()));
}

void EpilogueEditor::finish(Value result, Value init, Operation *consumer) {
  YieldOp yield = cast<YieldOp>(op.getEpilogue().front().getTerminator());
  rewriter.modifyOpInPlace(yield, [&] { yield.getValueMutable().set(result); });

  RankedTensorType oldType =
      cast<RankedTensorType>(op.getEpilogueResult().getType());
  RankedTensorType newType =
      cast<RankedTensorType>(consumer->getResult(0).getType());
  RankedTensorType type =
      mergeShapes(oldType, newType, newType.getElementType());
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Value own = op.getEpilogueInit().get();
  if (!init || init.getType() != type)
    init = own.getType() == type
               ? own
               : createEmptyLike(rewriter, op.getLoc(), own, type);
  rewriter.modifyOpInPlace(op, [&] {
    op.getEpilogueInit().set(init);
    op.getEpilogueResult().setType(type);
  });
  Value replacement = op.getEpilogueResult();
  rewriter.setInsertionPointAfter(op);
  if (type != newType)
    replacement = tensor::CastOp::create(rewriter, consumer->getLoc(), newType,
                                         replacement);
  rewriter.replaceOp(consumer, replacement);
}

LogicalResult mlir::tracea::expectShortRows(RowOpInterface op,
                                            int64_t maxColumns,
                                            std::string &reason) {
  auto type = cast<RankedTensorType>(op.getInput().getType());
  auto kinds = cast<TilingInterface>(op.getOperation()).getLoopIteratorTypes();
  if (llvm::count(kinds, utils::IteratorType::reduction) != 1 ||
      kinds.back() != utils::IteratorType::reduction) {
    reason = "the rows do not lie along the last dimension";
    return failure();
  }
  int64_t columns = type.getShape().back();
  if (ShapedType::isDynamic(columns) || columns > maxColumns) {
    reason = "the rows are not known to have at most " +
             std::to_string(maxColumns) + " elements";
    return failure();
  }
  return success();
}

RowOpInterface mlir::tracea::moveToResults(RewriterBase &rewriter,
                                           RowOpInterface op, TypeRange types) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  OperationState state(op.getLoc(), op->getName(), op->getOperands(), types,
                       op->getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  for (Region &region : op->getRegions())
    state.addRegion()->takeBody(region);
  return cast<RowOpInterface>(rewriter.create(state));
}

RankedTensorType mlir::tracea::mergeShapes(RankedTensorType a,
                                           RankedTensorType b,
                                           Type elementType) {
  SmallVector<int64_t> shape(a.getShape());
  for (auto [extent, other] : llvm::zip_equal(shape, b.getShape()))
    if (ShapedType::isDynamic(extent))
      extent = other;
  return RankedTensorType::get(shape, elementType);
}

unsigned mlir::tracea::dropUnusedExtras(RewriterBase &rewriter,
                                        EpilogueOpInterface op) {
  if (!hasEpilogue(op))
    return 0;
  Block &block = op.getEpilogue().front();
  SmallVector<Operation *> body = llvm::to_vector(
      llvm::make_pointer_range(static_cast<iterator_range<Block::iterator>>(
          block.without_terminator())));
  for (Operation *inner : llvm::reverse(body))
    if (isOpTriviallyDead(inner))
      rewriter.eraseOp(inner);

  SmallVector<Value> kept;
  SmallVector<Attribute> maps;
  llvm::BitVector unused(block.getNumArguments());
  for (auto [index, extra] : llvm::enumerate(op.getExtras())) {
    if (block.getArgument(index + 1).use_empty()) {
      unused.set(index + 1);
      continue;
    }
    kept.push_back(extra);
    maps.push_back(op.getEpilogueMaps()[index]);
  }
  if (unused.none())
    return 0;
  rewriter.modifyOpInPlace(op, [&] {
    block.eraseArguments(unused);
    op.getExtrasMutable().assign(kept);
    op.setEpilogueMapsAttr(rewriter.getArrayAttr(maps));
  });
  return unused.count();
}

Value mlir::tracea::createEmptyLike(OpBuilder &builder, Location loc,
                                    Value shape, RankedTensorType type) {
  SmallVector<Value> extents;
  for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
    if (!ShapedType::isDynamic(extent))
      continue;
    // An empty tensor says its extents without being read.
    tensor::EmptyOp empty = peelCasts(shape).getDefiningOp<tensor::EmptyOp>();
    if (empty && empty.getType().isDynamicDim(dim))
      extents.push_back(empty.getDynamicSize(dim));
    else
      extents.push_back(tensor::DimOp::create(builder, loc, shape, dim));
  }
  return tensor::EmptyOp::create(builder, loc, type, extents);
}

namespace {
/// Reads an extra operand's source through a composed map.
struct ComposeExtras : public OpInterfaceRewritePattern<EpilogueOpInterface> {
  ComposeExtras(MLIRContext *context, std::function<void()> onChange)
      : OpInterfaceRewritePattern(context), onChange(std::move(onChange)) {}

  LogicalResult matchAndRewrite(EpilogueOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (!isUndecided(op))
      return failure();
    for (unsigned index = 0, e = op.getExtras().size(); index < e; ++index) {
      Value extra = op.getExtras()[index];
      Value source = extra;
      AffineMap map = getEpilogueMap(op, index);
      composeProducers(source, map);
      if (source == extra)
        continue;
      rewriter.modifyOpInPlace(op, [&] {
        SmallVector<Attribute> maps(op.getEpilogueMaps().getValue());
        maps[index] = AffineMapAttr::get(map);
        op.setEpilogueMapsAttr(rewriter.getArrayAttr(maps));
        op.getExtrasMutable()[index].set(source);
      });
      if (onChange)
        onChange();
      return success();
    }
    return failure();
  }

private:
  std::function<void()> onChange;
};
} // namespace

void mlir::tracea::populateComposeExtrasPatterns(
    RewritePatternSet &patterns, std::function<void()> onChange) {
  patterns.add<ComposeExtras>(patterns.getContext(), std::move(onChange));
}
