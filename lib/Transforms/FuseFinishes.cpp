//===- FuseFinishes.cpp - Fuses what rows of results are reduced to -------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A norm whose rows are then quantised, each by a scale of its own, is three
// passes over memory as front ends write it: the norm, the maximum of each row,
// the division. A kernel that has the row in registers does all of it in one.
//
// Behind the operation's result each value is one of an element or one of a
// row. Reductions of values of elements are values of rows; what is made of
// values of rows alone is one, too. What else reads any of them reads results
// of the operation afterwards: one value of elements, and any of rows.

#include "AuxResults.h"
#include "Cone.h"
#include "ReductionOp.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "tracea/Transforms/Passes.h"

#define DEBUG_TYPE "tracea-fuse-finishes"

namespace mlir::tracea {
#define GEN_PASS_DEF_FUSEFINISHES
#include "tracea/Transforms/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;

namespace {
/// A value behind the operation's result.
struct Known {
  /// From the result's dimensions to the value's.
  AffineMap map;
  /// Whether elements take part in it, and whether what a row is reduced to.
  bool ofElements = true, ofRows = false;
};

/// The operations behind an operation on rows that it can take over.
class Finish {
public:
  static std::optional<Finish> find(RowOpInterface op, int64_t maxColumns,
                                    unsigned maxOperations,
                                    std::string &reason);

  /// Moves them into the operation; the one that has them then.
  RowOpInterface apply(IRRewriter &rewriter);

  size_t getNumReductions() const { return reductions.size(); }

private:
  void collect(std::string &reason);
  bool add(Operation *user, std::string &why);
  bool addElementwise(Operation *user, std::string &why);
  bool addReduction(Operation *user, std::string &why);
  bool addReshape(Operation *user);
  bool readsConstant(Value tensor) const;
  bool isOfRows(AffineMap map) const;
  bool holds(AffineMap read, AffineMap result, Value operand) const;
  std::optional<AffineMap> place(const ElementwiseOp &member) const;
  LogicalResult findResults(std::string &reason);
  bool isInside(Operation *user) const;

  const Known *lookup(Value value) const {
    auto found = known.find(value);
    return found == known.end() ? nullptr : &found->second;
  }

  RowOpInterface op;
  /// The dimensions that a row is one element of.
  AffineMap rows;
  llvm::MapVector<Value, Known> known;
  llvm::MapVector<Operation *, ElementwiseOp> members;
  llvm::MapVector<Operation *, ReductionOp> reductions;
  llvm::SetVector<Operation *> aliases;
  /// Whether there was a reduction, taken over or not.
  bool hasReduction = false;
  /// What others read: the result, and what a row has one of.
  Value element;
  SmallVector<Value> rowResults;
};
} // namespace

//===----------------------------------------------------------------------===//
// What can be taken over
//===----------------------------------------------------------------------===//

/// Whether a value has one element of each row, in their order.
bool Finish::isOfRows(AffineMap map) const {
  auto dims = llvm::make_filter_range(map.getResults(), [](AffineExpr expr) {
    return isa<AffineDimExpr>(expr);
  });
  return llvm::equal(dims, rows.getResults());
}

static int64_t getExtent(Value tensor, unsigned dim) {
  return cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
}

/// Whether `read`, through which an operation whose result lies at `result`
/// reads the operand, finds it where it lies.
bool Finish::holds(AffineMap read, AffineMap result, Value operand) const {
  AffineMap place = lookup(operand)->map, seen = read.compose(result);
  for (auto [dim, a, b] :
       llvm::enumerate(place.getResults(), seen.getResults()))
    if (a != b && getExtent(operand, dim) != 1)
      return false;
  return true;
}

/// Where the result of an elementwise operation lies: at the elements, or where
/// each of its dimensions is one of something that it reads, or repeats
/// nothing.
std::optional<AffineMap> Finish::place(const ElementwiseOp &member) const {
  Value result = member.getOperation()->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  auto all = cast<RankedTensorType>(known.front().first.getType());
  MLIRContext *context = rows.getContext();
  SmallVector<AffineExpr> exprs(type.getRank());
  for (const ElementwiseOp::Input &input : member.getInputs())
    if (const Known *source = lookup(input.operand->get()))
      for (auto [at, expr] : llvm::enumerate(input.map.getResults()))
        if (auto dim = dyn_cast<AffineDimExpr>(expr);
            dim && isa<AffineDimExpr>(source->map.getResult(at)))
          exprs[dim.getPosition()] = source->map.getResult(at);
  for (auto [dim, expr] : llvm::enumerate(exprs)) {
    if (expr)
      continue;
    // What is repeated is repeated along the elements.
    int64_t extent = type.getDimSize(dim);
    if (extent != 1 &&
        (type.getRank() != all.getRank() || ShapedType::isDynamic(extent) ||
         extent != all.getDimSize(dim)))
      return std::nullopt;
    bool isAlong =
        type.getRank() == all.getRank() && extent == all.getDimSize(dim);
    expr = isAlong ? getAffineDimExpr(dim, context)
                   : getAffineConstantExpr(0, context);
  }
  AffineMap map = AffineMap::get(all.getRank(), 0, exprs, context);
  for (const ElementwiseOp::Input &input : member.getInputs())
    if (lookup(input.operand->get()) &&
        !holds(input.map, map, input.operand->get()))
      return std::nullopt;
  return map;
}

/// Whether a tensor that is read beside the row is one constant everywhere.
bool Finish::readsConstant(Value tensor) const {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type)
    return matchPattern(tensor, m_Constant());
  AffineMap map =
      AffineMap::getMultiDimIdentityMap(type.getRank(), rows.getContext());
  composeProducers(tensor, map);
  return static_cast<bool>(getSplatValue(tensor));
}

bool Finish::addElementwise(Operation *user, std::string &why) {
  std::optional<ElementwiseOp> member = ElementwiseOp::match(user, why);
  if (!member)
    return false;
  Known result{AffineMap(), false, false};
  bool readsOthers = false;
  for (const ElementwiseOp::Input &input : member->getInputs()) {
    if (const Known *source = lookup(input.operand->get())) {
      result.ofElements |= source->ofElements;
      result.ofRows |= source->ofRows;
    } else {
      readsOthers |= !readsConstant(input.operand->get());
    }
  }
  readsOthers |= !member->getCaptures().empty();
  if (!result.ofElements && !result.ofRows)
    return false;
  if (readsOthers) {
    why = "the consumer '" + user->getName().getStringRef().str() +
          "' reads other tensors behind the operation";
    return false;
  }
  std::optional<AffineMap> map = place(*member);
  if (!map) {
    why = "the consumer '" + user->getName().getStringRef().str() +
          "' reads the result in another order than it writes";
    return false;
  }
  result.map = *map;
  // Elements exist one at a time, in the result's order.
  if (result.ofElements && !map->isIdentity()) {
    why = "the consumer '" + user->getName().getStringRef().str() +
          "' writes the result in another order";
    return false;
  }
  known[user->getResult(0)] = result;
  members.insert({user, *member});
  return true;
}

bool Finish::addReduction(Operation *user, std::string &why) {
  auto structured = dyn_cast<linalg::LinalgOp>(user);
  std::optional<ReductionOp> reduction;
  if (structured)
    reduction = ReductionOp::match(structured);
  if (!reduction)
    return false;
  hasReduction = true;
  if (Type type = reduction->getTerm().getType();
      !isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32) {
    why = "a reduction is one of narrow integers";
    return false;
  }
  AffineMap toLoops;
  for (OpOperand *input : structured.getDpsInputOperands()) {
    const Known *source = lookup(input->get());
    AffineMap read = structured.getMatchingIndexingMap(input);
    if (!source) {
      if (!readsConstant(input->get()) && !isDefinedBefore(input->get(), op)) {
        why = "a reduction reads what is not there where the operation stands";
        return false;
      }
      continue;
    }
    if (!source->ofElements || source->ofRows || !read.isPermutation()) {
      why = source->ofRows ? "a reduction of the row depends on another one"
                           : "a reduction reads the row in another order";
      return false;
    }
    AffineMap inverse = inversePermutation(read);
    if (toLoops && toLoops != inverse) {
      why = "a reduction reads the row in two ways";
      return false;
    }
    toLoops = inverse;
  }
  for (Operation &inner : *structured.getBlock())
    for (Value operand : inner.getOperands())
      if (operand.getParentBlock() != structured.getBlock() &&
          !matchPattern(operand, m_Constant()) &&
          !isDefinedBefore(operand, op)) {
        why = "a reduction reads what is not there where the operation stands";
        return false;
      }
  if (!toLoops)
    return false;
  AffineMap map =
      structured.getMatchingIndexingMap(structured.getDpsInitOperand(0))
          .compose(toLoops);
  if (!isOfRows(map)) {
    why = "a reduction is not one along the rows";
    return false;
  }
  known[user->getResult(0)] = {map, /*ofElements=*/false, /*ofRows=*/true};
  reductions.insert({user, *reduction});
  return true;
}

/// Reshapes that add or drop extents of one, and casts, are the same value.
bool Finish::addReshape(Operation *user) {
  if (user->getBlock() != op->getBlock() || user->getNumOperands() == 0 ||
      user->getNumResults() != 1)
    return false;
  Value result = user->getResult(0);
  const Known *source = lookup(user->getOperand(0));
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (!source || !type)
    return false;
  Known alias = *source;
  SmallVector<AffineExpr> exprs;
  auto unit = getAffineConstantExpr(0, op.getContext());
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(user)) {
    exprs.assign(type.getRank(), unit);
    for (auto [dim, group] :
         llvm::enumerate(expand.getReassociationIndices())) {
      auto wide = llvm::make_filter_range(
          group, [&](int64_t at) { return type.getDimSize(at) != 1; });
      if (llvm::range_size(wide) > 1)
        return false;
      for (int64_t at : wide)
        exprs[at] = source->map.getResult(dim);
    }
  } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(user)) {
    for (const ReassociationIndices &group :
         collapse.getReassociationIndices()) {
      auto wide = llvm::make_filter_range(group, [&](int64_t at) {
        return getExtent(user->getOperand(0), at) != 1;
      });
      if (llvm::range_size(wide) > 1)
        return false;
      exprs.push_back(wide.empty() ? unit
                                   : source->map.getResult(*wide.begin()));
    }
  } else if (isa<tensor::CastOp>(user)) {
    exprs.assign(source->map.getResults().begin(),
                 source->map.getResults().end());
  } else {
    return false;
  }
  alias.map = AffineMap::get(rows.getNumDims(), 0, exprs, op.getContext());
  if (alias.ofElements && !alias.map.isIdentity())
    return false;
  known[result] = alias;
  aliases.insert(user);
  return true;
}

bool Finish::add(Operation *user, std::string &why) {
  if (addReshape(user))
    return true;
  bool isComputation = isa<linalg::LinalgOp>(user) ||
                       OpTrait::hasElementwiseMappableTraits(user);
  if (user->getBlock() != op->getBlock() || !isComputation)
    return false;
  return addReduction(user, why) || (why.empty() && addElementwise(user, why));
}

/// From the earliest user on, so that what an operation reads is known before
/// it.
void Finish::collect(std::string &reason) {
  Value result =
      cast<EpilogueOpInterface>(op.getOperation()).getEpilogueResult();
  known[result] = {
      AffineMap::getMultiDimIdentityMap(rows.getNumDims(), op.getContext()),
      /*ofElements=*/true, /*ofRows=*/false};
  llvm::SetVector<Operation *> open;
  auto addUsers = [&](Value value) {
    for (Operation *user : value.getUsers())
      if (!isa<tensor::DimOp>(user))
        open.insert(user);
  };
  addUsers(result);
  while (!open.empty()) {
    Operation *earliest = nullptr;
    for (Operation *user : open) {
      Operation *place = op->getBlock()->findAncestorOpInBlock(*user);
      Operation *best =
          earliest ? op->getBlock()->findAncestorOpInBlock(*earliest) : nullptr;
      if (!best || (place && place->isBeforeInBlock(best)))
        earliest = user;
    }
    open.remove(earliest);
    std::string why;
    if (add(earliest, why))
      addUsers(earliest->getResult(0));
    else if (reason.empty())
      reason = why;
  }
}

bool Finish::isInside(Operation *user) const {
  return members.contains(user) || reductions.contains(user) ||
         aliases.contains(user);
}

/// What others read becomes results.
LogicalResult Finish::findResults(std::string &reason) {
  for (auto &[value, info] : known) {
    bool isRead = llvm::any_of(value.getUsers(), [&](Operation *user) {
      return !isa<tensor::DimOp>(user) && !isInside(user);
    });
    for (Operation *user : value.getUsers())
      if (auto dim = dyn_cast<tensor::DimOp>(user);
          dim && !dim.getConstantIndex()) {
        reason = "the run tells which extent is asked for";
        return failure();
      }
    if (!isRead)
      continue;
    Type stored = getElementTypeOrSelf(value.getType());
    if (!isa<FloatType>(stored) &&
        !(stored.isInteger() && stored.getIntOrFloatBitWidth() >= 8)) {
      reason = "a value that others read stores neither floats nor integers of "
               "whole bytes";
      return failure();
    }
    if (!info.ofElements) {
      if (!isOfRows(info.map)) {
        reason = "a value of a row that is repeated along it is read by others";
        return failure();
      }
      rowResults.push_back(value);
      continue;
    }
    if (element) {
      if (reason.empty())
        reason = "several values of each element are read by others";
      return failure();
    }
    element = value;
  }
  if (!element) {
    reason = "no value of the elements is read";
    return failure();
  }
  return success();
}

std::optional<Finish> Finish::find(RowOpInterface op, int64_t maxColumns,
                                   unsigned maxOperations,
                                   std::string &reason) {
  auto epilogue = cast<EpilogueOpInterface>(op.getOperation());
  if (!isUndecided(epilogue) || hasFinish(op))
    return std::nullopt;
  Finish finish;
  finish.op = op;
  finish.rows = getRowMap(op);
  std::string why;
  finish.collect(why);
  if (finish.reductions.empty()) {
    if (finish.hasReduction)
      reason = why;
    return std::nullopt;
  }
  if (failed(expectShortRows(op, maxColumns, reason)))
    return std::nullopt;
  reason = why;
  if (failed(finish.findResults(reason)))
    return std::nullopt;
  reason.clear();
  unsigned size = 0;
  for (auto &[user, member] : finish.members)
    size += member.getSize();
  for (auto &[user, reduction] : finish.reductions)
    size += reduction.getSize();
  if (hasEpilogue(epilogue))
    size += epilogue.getEpilogue().front().getOperations().size() - 1;
  if (size > maxOperations) {
    reason = "epilogue and finish would hold " + std::to_string(size) +
             " operations, more than the " + std::to_string(maxOperations) +
             " allowed";
    return std::nullopt;
  }
  return finish;
}

//===----------------------------------------------------------------------===//
// The finish
//===----------------------------------------------------------------------===//

namespace {
/// Writes a finish. All that it reads beside its arguments is constant.
class FinishEditor : public ScalarEditor {
public:
  FinishEditor(RewriterBase &rewriter, RowOpInterface op)
      : ScalarEditor(rewriter, op, getRowMap(op).getNumDims()) {
    builder.setListener(rewriter.getListener());
  }

private:
  Value find(Value, AffineMap) override { return {}; }
  Value append(Value, AffineMap) override {
    llvm_unreachable("a finish reads no tensors");
  }
};

/// Computes values behind an operation's result in a scalar region of it.
class ValueEmitter {
public:
  ValueEmitter(ScalarEditor &editor,
               const llvm::MapVector<Operation *, ElementwiseOp> &members)
      : editor(editor), members(members) {}

  void set(Value tensor, Value scalar) { scalars[tensor] = scalar; }

  Value get(Value tensor) {
    if (Value scalar = scalars.lookup(tensor))
      return scalar;
    Operation *definition = tensor.getDefiningOp();
    auto found = members.find(definition);
    Value scalar;
    if (found == members.end()) {
      // A reshape.
      scalar = get(definition->getOperand(0));
    } else {
      SmallVector<Value> read;
      for (const ElementwiseOp::Input &input : found->second.getInputs())
        read.push_back(getInput(input));
      scalar = found->second.emit(editor.getBuilder(), read, {});
    }
    scalars[tensor] = scalar;
    return scalar;
  }

private:
  Value getInput(const ElementwiseOp::Input &input) {
    Value operand = input.operand->get();
    if (!isa<RankedTensorType>(operand.getType()))
      return editor.readScalar(operand);
    Value constant = operand;
    AffineMap map = input.map;
    composeProducers(constant, map);
    if (getSplatValue(constant))
      return editor.read(constant, map);
    return get(operand);
  }

  ScalarEditor &editor;
  const llvm::MapVector<Operation *, ElementwiseOp> &members;
  DenseMap<Value, Value> scalars;
};
} // namespace

/// Values of rows with the extents of one that `map` tells.
static Value expandUnits(IRRewriter &rewriter, Value row, AffineMap map) {
  auto type = cast<RankedTensorType>(row.getType());
  SmallVector<ReassociationIndices> groups(type.getRank());
  SmallVector<OpFoldResult> extents;
  SmallVector<int64_t> shape;
  unsigned next = 0;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    bool isUnit = isa<AffineConstantExpr>(expr);
    extents.push_back(
        isUnit ? OpFoldResult(rewriter.getIndexAttr(1))
               : tensor::getMixedSize(rewriter, row.getLoc(), row, next));
    shape.push_back(isUnit ? 1 : type.getDimSize(next));
    next += !isUnit;
    // Those before the first extent are with it.
    if (!groups.empty())
      groups[next ? next - 1 : 0].push_back(static_cast<int64_t>(dim));
  }
  return tensor::ExpandShapeOp::create(
      rewriter, row.getLoc(),
      RankedTensorType::get(shape, type.getElementType()), row, groups,
      extents);
}

RowOpInterface Finish::apply(IRRewriter &rewriter) {
  MLIRContext *context = op.getContext();
  Location loc = op.getLoc();
  auto epilogue = cast<EpilogueOpInterface>(op.getOperation());
  Value result = epilogue.getEpilogueResult();

  // What is reduced, behind the element.
  EpilogueEditor editor(rewriter, epilogue);
  ValueEmitter before(editor, members);
  before.set(result, editor.getStored());
  SmallVector<Value> yielded = {editor.getStored()};
  SmallVector<Attribute> kinds;
  SmallVector<Type> narrow;
  for (auto &[user, reduction] : reductions) {
    auto structured = cast<linalg::LinalgOp>(user);
    AffineMap toLoops;
    for (OpOperand *input : structured.getDpsInputOperands())
      if (lookup(input->get()))
        toLoops = inversePermutation(structured.getMatchingIndexingMap(input));
    Value term = reduction.emit(editor, [&](OpOperand &input) {
      if (lookup(input.get()))
        return before.get(input.get());
      return editor.read(
          input.get(),
          structured.getMatchingIndexingMap(&input).compose(toLoops));
    });
    // Rows of halves are reduced in single precision, and rounded then.
    narrow.push_back(term.getType());
    if (term.getType().getIntOrFloatBitWidth() < 32)
      term = convertScalar(editor.getBuilder(), loc, term,
                           Float32Type::get(context));
    yielded.push_back(term);
    kinds.push_back(ReductionKindAttr::get(context, reduction.getKind()));
  }
  auto yield = cast<YieldOp>(epilogue.getEpilogue().front().getTerminator());
  rewriter.modifyOpInPlace(yield,
                           [&] { yield.getValuesMutable().assign(yielded); });

  // The results.
  Block *block =
      rewriter.createBlock(&op.getFinish(), {}, ValueRange(yielded).getTypes(),
                           SmallVector<Location>(yielded.size(), loc));
  FinishEditor finish(rewriter, op);
  finish.getBuilder().setInsertionPointToStart(block);
  ValueEmitter behind(finish, members);
  behind.set(result, block->getArgument(0));
  for (auto [index, entry] : llvm::enumerate(reductions)) {
    auto &[user, reduction] = entry;
    OpBuilder &builder = finish.getBuilder();
    Value reduced = convertScalar(builder, loc, block->getArgument(index + 1),
                                  narrow[index]);
    if (TypedAttr start = reduction.getStart())
      reduced =
          combine(builder, loc, reduction.getKind(),
                  arith::ConstantOp::create(builder, loc, start), reduced);
    behind.set(user->getResult(0), reduced);
  }
  SmallVector<Value> scalars = {behind.get(element)};
  for (Value value : rowResults)
    scalars.push_back(behind.get(value));
  YieldOp::create(finish.getBuilder(), loc, scalars);

  // The operation with all results.
  rewriter.setInsertionPoint(op);
  auto ownType = cast<RankedTensorType>(result.getType());
  auto elementType = cast<RankedTensorType>(element.getType());
  RankedTensorType type =
      mergeShapes(ownType, elementType, elementType.getElementType());
  Value own = epilogue.getEpilogueInit().get();
  if (own.getType() != type)
    epilogue.getEpilogueInit().set(createEmptyLike(rewriter, loc, own, type));
  SmallVector<Type> types(op->getResultTypes());
  types.front() = type;
  for (Value value : rowResults) {
    SmallVector<int64_t> shape;
    SmallVector<Value> extents;
    for (AffineExpr expr : rows.getResults()) {
      unsigned dim = cast<AffineDimExpr>(expr).getPosition();
      shape.push_back(type.getDimSize(dim));
      if (ShapedType::isDynamic(shape.back()))
        extents.push_back(
            tensor::DimOp::create(rewriter, loc, op.getInput(), dim));
    }
    auto rowType =
        RankedTensorType::get(shape, getElementTypeOrSelf(value.getType()));
    types.push_back(rowType);
    op.getRowInitsMutable().append(
        Value(tensor::EmptyOp::create(rewriter, loc, rowType, extents)));
  }
  op.setFinishKindsAttr(rewriter.getArrayAttr(kinds));
  RowOpInterface larger = moveToResults(rewriter, op, types);

  // Their readers.
  rewriter.setInsertionPointAfter(larger);
  auto replace = [&](Value value, Value by) {
    rewriter.replaceUsesWithIf(value, by, [&](OpOperand &use) {
      return !isa<tensor::DimOp>(use.getOwner()) && !isInside(use.getOwner());
    });
  };
  // Extents are those of the input.
  for (auto &[value, info] : known)
    for (Operation *user : llvm::make_early_inc_range(value.getUsers()))
      if (auto dim = dyn_cast<tensor::DimOp>(user)) {
        AffineExpr expr = info.map.getResult(*dim.getConstantIndex());
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.setInsertionPoint(dim);
        auto position = dyn_cast<AffineDimExpr>(expr);
        rewriter.replaceOp(
            dim,
            position
                ? Value(tensor::DimOp::create(rewriter, loc, larger.getInput(),
                                              position.getPosition()))
                : Value(arith::ConstantIndexOp::create(rewriter, loc, 1)));
      }
  Value stored = larger->getResult(0);
  if (type != elementType)
    stored = tensor::CastOp::create(rewriter, loc, elementType, stored);
  replace(element, stored);
  for (auto [value, row] :
       llvm::zip_equal(rowResults, larger.getRowResults())) {
    auto valueType = cast<RankedTensorType>(value.getType());
    Value shaped = row;
    if (valueType.getRank() != cast<RankedTensorType>(row.getType()).getRank())
      shaped = expandUnits(rewriter, row, lookup(value)->map);
    if (shaped.getType() != valueType)
      shaped = tensor::CastOp::create(rewriter, loc, valueType, shaped);
    replace(value, shaped);
  }
  SmallVector<Value> results(
      larger->getResults().take_front(op->getNumResults()));
  for (auto [before, after] : llvm::zip(op->getResults().drop_front(),
                                        ValueRange(results).drop_front()))
    rewriter.replaceAllUsesWith(before, after);
  // What was inside reads the operation that is no more.
  SmallVector<Operation *> inside(aliases.begin(), aliases.end());
  for (auto &[user, member] : members)
    inside.push_back(user);
  for (auto &[user, reduction] : reductions)
    inside.push_back(user);
  llvm::sort(inside,
             [](Operation *a, Operation *b) { return b->isBeforeInBlock(a); });
  for (Operation *dead : inside)
    rewriter.eraseOp(dead);
  rewriter.eraseOp(op);
  return larger;
}

namespace {
struct FuseFinishes
    : public mlir::tracea::impl::FuseFinishesBase<FuseFinishes> {
  using FuseFinishesBase::FuseFinishesBase;

  void runOnOperation() override {
    SmallVector<RowOpInterface> ops;
    getOperation()->walk([&](RowOpInterface op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (RowOpInterface op : ops)
      fuse(rewriter, op);
  }

  void fuse(IRRewriter &rewriter, RowOpInterface op) {
    std::string reason;
    std::optional<Finish> finish =
        Finish::find(op, maxColumns, maxOperations, reason);
    if (!finish) {
      if (reason.empty())
        return;
      ++numMissed;
      remark::missed(
          op.getLoc(),
          remark::RemarkOpts::name("FinishNotFused").category(DEBUG_TYPE))
          << remark::metric("Operation", op->getName().getStringRef())
          << remark::reason("{0}", reason);
      return;
    }
    size_t reductions = finish->getNumReductions();
    op = finish->apply(rewriter);
    ++numFused;
    remark::passed(op.getLoc(),
                   remark::RemarkOpts::name("FinishFused").category(DEBUG_TYPE))
        << remark::metric("Operation", op->getName().getStringRef())
        << remark::metric("Reductions", reductions)
        << remark::metric("Rows", op.getRowResults().size());
  }
};
} // namespace
