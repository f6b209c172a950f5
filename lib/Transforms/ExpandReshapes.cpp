//===- ExpandReshapes.cpp - Reshapes become collapses and expansions ------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reshape takes its sizes from a tensor of numbers. Dimensions that are seen
// to stay as they are, or to split and join within known extents, are groups of
// their own; what is left in the middle goes through one dimension.

#include "tracea/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_EXPANDRESHAPES
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;

namespace {

constexpr StringLiteral keepsElements =
    "the reshape does not keep the number of elements";

/// The elements of a tensor of rank one whose numbers are seen one by one.
std::optional<SmallVector<OpFoldResult>> getElements(Value tensor,
                                                     OpBuilder &builder) {
  DenseElementsAttr numbers;
  if (matchPattern(tensor, m_Constant(&numbers))) {
    SmallVector<OpFoldResult> elements;
    for (const APInt &number : numbers.getValues<APInt>())
      elements.push_back(builder.getIndexAttr(number.getSExtValue()));
    return elements;
  }
  Operation *def = tensor.getDefiningOp();
  if (auto from = dyn_cast_or_null<tensor::FromElementsOp>(def)) {
    SmallVector<OpFoldResult> elements;
    for (Value element : from.getElements())
      elements.push_back(getAsOpFoldResult(getValueOrCreateCastToIndexLike(
          builder, tensor.getLoc(), builder.getIndexType(), element)));
    return elements;
  }
  if (isa_and_nonnull<arith::IndexCastOp, tensor::CastOp>(def))
    return getElements(def->getOperand(0), builder);
  return std::nullopt;
}

/// Dimensions [sourceBegin, sourceEnd) that become [begin, end) of the result.
struct Group {
  int64_t sourceBegin, sourceEnd, begin, end;
  int64_t sourceRank() const { return sourceEnd - sourceBegin; }
  int64_t rank() const { return end - begin; }
};

class Expansion {
public:
  Expansion(tensor::ReshapeOp op, RankedTensorType source,
            RankedTensorType target, IRRewriter &builder)
      : op(op), source(source), target(target), builder(builder),
        loc(op.getLoc()) {}

  LogicalResult run();

private:
  LogicalResult findSizes();
  LogicalResult refineTarget();
  LogicalResult findGroups();
  bool isUnchanged(int64_t sourceDim, int64_t dim);
  std::optional<Group> matchEnd(const Group &rest, bool fromRight);
  LogicalResult assertEqual(OpFoldResult a, OpFoldResult b,
                            const Twine &message);
  OpFoldResult getProduct(ArrayRef<OpFoldResult> factors);
  Value collapse(Value tensor);
  Value expand(Value tensor);

  tensor::ReshapeOp op;
  RankedTensorType source, target;
  IRRewriter &builder;
  Location loc;
  SmallVector<OpFoldResult> sourceSizes, sizes;
  /// In the order of the dimensions.
  SmallVector<Group> groups;
};

} // namespace

LogicalResult Expansion::assertEqual(OpFoldResult a, OpFoldResult b,
                                     const Twine &message) {
  if (isEqualConstantIntOrValue(a, b))
    return success();
  std::optional<int64_t> known = getConstantIntValue(a),
                         other = getConstantIntValue(b);
  if (known && other)
    return op.emitOpError()
           << message << ": " << *known << " is not " << *other;
  Value equal =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                            getValueOrCreateConstantIndexOp(builder, loc, a),
                            getValueOrCreateConstantIndexOp(builder, loc, b));
  cf::AssertOp::create(builder, loc, equal, message.str());
  return success();
}

OpFoldResult Expansion::getProduct(ArrayRef<OpFoldResult> factors) {
  OpFoldResult product = builder.getIndexAttr(1);
  for (OpFoldResult factor : factors) {
    std::optional<int64_t> a = getConstantIntValue(product),
                           b = getConstantIntValue(factor);
    if (a && b)
      product = builder.getIndexAttr(*a * *b);
    else if (a == 1)
      product = factor;
    else
      product = arith::MulIOp::create(
                    builder, loc,
                    getValueOrCreateConstantIndexOp(builder, loc, product),
                    getValueOrCreateConstantIndexOp(builder, loc, factor))
                    .getResult();
  }
  return product;
}

/// The sizes of the result: those of its type, else the numbers asked for, else
/// what is left for the only one that nothing tells.
LogicalResult Expansion::findSizes() {
  sourceSizes = tensor::getMixedSizes(builder, loc, op.getSource());
  std::optional<SmallVector<OpFoldResult>> elements =
      getElements(op.getShape(), builder);
  int64_t unknown = -1;
  for (int64_t dim = 0; dim < target.getRank(); ++dim) {
    if (!target.isDynamicDim(dim)) {
      sizes.push_back(builder.getIndexAttr(target.getDimSize(dim)));
      if (elements &&
          failed(assertEqual(
              (*elements)[dim], sizes.back(),
              "the size of dimension " + Twine(dim) +
                  " that the reshape asks for is not that of its type")))
        return failure();
      continue;
    }
    if (!elements && unknown >= 0)
      return op.emitOpError()
             << "takes the sizes of dimensions " << unknown << " and " << dim
             << " from a tensor whose numbers only its contents tell; expected "
                "a 'tensor.from_elements' of sizes, integers among the "
                "arguments and arithmetic on them";
    if (!elements)
      unknown = dim;
    sizes.push_back(elements ? (*elements)[dim] : builder.getIndexAttr(1));
  }
  if (unknown < 0)
    return refineTarget();
  OpFoldResult all = getProduct(sourceSizes), others = getProduct(sizes);
  if (getConstantIntValue(others) == 0)
    return op.emitOpError() << "has no elements and takes the size of "
                               "dimension "
                            << unknown
                            << " from a tensor whose numbers only its contents "
                               "tell; expected a 'tensor.from_elements'";
  sizes[unknown] =
      arith::DivUIOp::create(
          builder, loc, getValueOrCreateConstantIndexOp(builder, loc, all),
          getValueOrCreateConstantIndexOp(builder, loc, others))
          .getResult();
  return success();
}

/// An extent that is a constant is one of the type.
LogicalResult Expansion::refineTarget() {
  SmallVector<int64_t> shape(target.getShape());
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    std::optional<int64_t> number = getConstantIntValue(size);
    if (!number)
      continue;
    if (*number < 0)
      return op.emitOpError() << "expects sizes of at least 0, found "
                              << *number << " for dimension " << dim;
    shape[dim] = *number;
    size = builder.getIndexAttr(*number);
  }
  target = target.clone(shape);
  return success();
}

/// Whether both extents are one number, or one is the other's.
bool Expansion::isUnchanged(int64_t sourceDim, int64_t dim) {
  if (!source.isDynamicDim(sourceDim))
    return source.getDimSize(sourceDim) == target.getDimSize(dim);
  auto value = dyn_cast<Value>(sizes[dim]);
  while (value && value.getDefiningOp<arith::IndexCastOp>())
    value = value.getDefiningOp<arith::IndexCastOp>().getIn();
  auto size = value ? value.getDefiningOp<tensor::DimOp>() : nullptr;
  return size && size.getSource() == op.getSource() &&
         size.getConstantIndex() == sourceDim;
}

/// The group of fewest dimensions at one end of `rest`.
std::optional<Group> Expansion::matchEnd(const Group &rest, bool fromRight) {
  if (rest.sourceRank() == 0 || rest.rank() == 0)
    return std::nullopt;
  auto sourceAt = [&](int64_t i) {
    return fromRight ? rest.sourceEnd - 1 - i : rest.sourceBegin + i;
  };
  auto at = [&](int64_t i) {
    return fromRight ? rest.end - 1 - i : rest.begin + i;
  };
  int64_t numSource = 0, num = 0;
  if (isUnchanged(sourceAt(0), at(0))) {
    numSource = num = 1;
  } else {
    int64_t sourceProduct = 1, product = 1;
    do {
      bool takesSource =
          numSource == 0 || (num != 0 && sourceProduct < product);
      int64_t &taken = takesSource ? numSource : num;
      if (taken == (takesSource ? rest.sourceRank() : rest.rank()))
        return std::nullopt;
      int64_t extent = takesSource ? source.getDimSize(sourceAt(taken))
                                   : target.getDimSize(at(taken));
      if (ShapedType::isDynamic(extent))
        return std::nullopt;
      (takesSource ? sourceProduct : product) *= extent;
      ++taken;
    } while (num == 0 || sourceProduct != product);
  }
  if (fromRight)
    return Group{rest.sourceEnd - numSource, rest.sourceEnd, rest.end - num,
                 rest.end};
  return Group{rest.sourceBegin, rest.sourceBegin + numSource, rest.begin,
               rest.begin + num};
}

LogicalResult Expansion::findGroups() {
  Group rest = {0, source.getRank(), 0, target.getRank()};
  SmallVector<Group> right;
  while (std::optional<Group> group = matchEnd(rest, /*fromRight=*/true)) {
    right.push_back(*group);
    rest.sourceEnd = group->sourceBegin;
    rest.end = group->begin;
  }
  while (std::optional<Group> group = matchEnd(rest, /*fromRight=*/false)) {
    groups.push_back(*group);
    rest.sourceBegin = group->sourceEnd;
    rest.begin = group->end;
  }
  // Every group has dimensions of both.
  if (rest.sourceRank() == 0 || rest.rank() == 0) {
    SmallVector<Group> &neighbours = right.empty() ? groups : right;
    if (!neighbours.empty() && (rest.sourceRank() != 0 || rest.rank() != 0)) {
      Group neighbour = neighbours.pop_back_val();
      rest = {std::min(rest.sourceBegin, neighbour.sourceBegin),
              std::max(rest.sourceEnd, neighbour.sourceEnd),
              std::min(rest.begin, neighbour.begin),
              std::max(rest.end, neighbour.end)};
    }
  }
  if (rest.sourceRank() != 0 || rest.rank() != 0) {
    ArrayRef<OpFoldResult> from(sourceSizes), to(sizes);
    if (failed(assertEqual(
            getProduct(from.slice(rest.sourceBegin, rest.sourceRank())),
            getProduct(to.slice(rest.begin, rest.rank())), keepsElements)))
      return failure();
    groups.push_back(rest);
  }
  groups.append(right.rbegin(), right.rend());
  return success();
}

/// Joins the dimensions of each group.
Value Expansion::collapse(Value tensor) {
  if (llvm::all_of(groups, [](const Group &g) { return g.sourceRank() == 1; }))
    return tensor;
  SmallVector<ReassociationIndices> reassociation;
  for (const Group &group : groups)
    reassociation.push_back(
        llvm::to_vector<2>(llvm::seq(group.sourceBegin, group.sourceEnd)));
  return tensor::CollapseShapeOp::create(builder, loc, tensor, reassociation);
}

/// Splits each of them into the dimensions of the result. An extent is known
/// before exactly where it is afterwards.
Value Expansion::expand(Value tensor) {
  SmallVector<int64_t> shape;
  SmallVector<OpFoldResult> split(sizes);
  SmallVector<ReassociationIndices> reassociation;
  auto joined = cast<RankedTensorType>(tensor.getType());
  for (auto [number, group] : llvm::enumerate(groups)) {
    int64_t product = 1;
    for (int64_t extent : target.getShape().slice(group.begin, group.rank()))
      product = ShapedType::isDynamic(extent) || ShapedType::isDynamic(product)
                    ? ShapedType::kDynamic
                    : product * extent;
    shape.push_back(product);
    reassociation.push_back(
        llvm::to_vector<2>(llvm::seq(group.begin, group.end)));
    if (group.rank() == 1)
      split[group.begin] = tensor::getMixedSize(builder, loc, tensor, number);
  }
  auto whole = RankedTensorType::get(shape, target.getElementType());
  if (joined != whole)
    tensor = tensor::CastOp::create(builder, loc, whole, tensor);
  if (whole.getRank() == target.getRank())
    return tensor;
  for (int64_t dim = 0; dim < target.getRank(); ++dim)
    if (!target.isDynamicDim(dim))
      split[dim] = builder.getIndexAttr(target.getDimSize(dim));
  return tensor::ExpandShapeOp::create(builder, loc, target, tensor,
                                       reassociation, split);
}

LogicalResult Expansion::run() {
  builder.setInsertionPoint(op);
  if (failed(findSizes()))
    return failure();
  Value tensor = op.getSource();
  Type element = target.getElementType();
  // What has no dimensions has one element, and so has the other side.
  if (source.getRank() == 0 || target.getRank() == 0) {
    for (OpFoldResult size : source.getRank() == 0 ? sizes : sourceSizes)
      if (failed(assertEqual(size, builder.getIndexAttr(1), keepsElements)))
        return failure();
    SmallVector<ReassociationIndices> none;
    SmallVector<int64_t> ones(source.getRank() + target.getRank(), 1);
    auto type = RankedTensorType::get(ones, element);
    if (target.getRank() != 0)
      tensor = tensor::ExpandShapeOp::create(builder, loc, type, tensor, none);
    else if (source.getRank() != 0)
      tensor = tensor::CollapseShapeOp::create(
          builder, loc, target,
          source == type
              ? tensor
              : tensor::CastOp::create(builder, loc, type, tensor).getResult(),
          none);
  } else if (llvm::is_contained(source.getShape(), 0) ||
             llvm::is_contained(target.getShape(), 0)) {
    // There are no elements that could be another's.
    if (failed(assertEqual(getProduct(sourceSizes), getProduct(sizes),
                           keepsElements)))
      return failure();
    tensor = tensor::EmptyOp::create(builder, loc, sizes, element);
  } else {
    if (failed(findGroups()))
      return failure();
    tensor = expand(collapse(tensor));
  }
  if (tensor.getType() != op.getType())
    tensor = tensor::CastOp::create(builder, loc, op.getType(), tensor);
  builder.replaceOp(op, tensor);
  return success();
}

namespace {
struct ExpandReshapes
    : public mlir::tracea::impl::ExpandReshapesBase<ExpandReshapes> {
  using Base::Base;

  void runOnOperation() override {
    IRRewriter builder(&getContext());
    WalkResult result = getOperation().walk([&](tensor::ReshapeOp op) {
      auto source = dyn_cast<RankedTensorType>(op.getSource().getType());
      auto target = dyn_cast<RankedTensorType>(op.getType());
      if (!source || !target) {
        op.emitOpError() << "expects ranked tensors, found "
                         << op.getSource().getType() << " and " << op.getType();
        return WalkResult::interrupt();
      }
      return failed(Expansion(op, source, target, builder).run())
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
