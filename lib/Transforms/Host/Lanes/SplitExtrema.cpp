//===- SplitExtrema.cpp - Extrema and where they are ----------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What takes an element's number along with it is no operation that lanes can
// combine in any order. Where an element and its number fit one integer, the
// greatest or least of these is both results, in one pass. Where not, the
// extremum alone is such an operation, and so is the least number, or the
// greatest, of the elements that are equal to it: the first or the last one, as
// iterations would have found it in their order. Where nothing exceeds what the
// results were filled with, they keep that.
//
//===----------------------------------------------------------------------===//

#include "Lanes/SplitExtrema.h"
#include "Lanes/ExtremumKeys.h"
#include "Lanes/LaneTiles.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tracea;

namespace {
/// What the body of an operation says.
struct Extremum : ExtremumOrder {
  /// What is compared: an operand's element, or what the body makes of elements
  /// and numbers.
  Value element;
  /// The number of an element, computed in the body.
  Value number;
  TypedAttr firstValue, firstNumber;
  linalg::FillOp fillOfValues, fillOfNumbers;
};

class Splitter {
public:
  explicit Splitter(linalg::GenericOp op)
      : op(op), b(op.getLoc(), op), body(*op.getBlock()) {}

  bool match();
  void split();

private:
  unsigned getLoop();
  bool isOfInputs(Value value);
  Value getElement(OpBuilder &b, ValueRange given);
  Value allocate(Type type);
  void buildKeys(const ExtremumKeys &keys, Value memory);
  void buildResults(const ExtremumKeys &keys, Value memory);
  void splitByKeys(const ExtremumKeys &keys);
  void splitInTwo();
  bool matchCondition(Value condition);
  bool matchNumber(Value number);
  bool matchStarts();
  Value isNaN(OpBuilder &b, Value value);
  Value equals(OpBuilder &b, Value x, Value y);
  Value compare(OpBuilder &b, Value value, Value first);
  void buildValues();
  void buildNumbers(Value memory);
  void buildChoice(Value memory);
  TypedAttr getNone();

  linalg::GenericOp op;
  ImplicitLocOpBuilder b;
  Block &body;
  Extremum found;
};
} // namespace

/// Whether a value of the body depends on what is read and on numbers alone.
bool Splitter::isOfInputs(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner() != &body ||
           argument.getArgNumber() < op.getNumDpsInputs();
  Operation *made = value.getDefiningOp();
  return made->getBlock() != &body ||
         (made->getNumRegions() == 0 && isPure(made) &&
          llvm::all_of(made->getOperands(),
                       [&](Value operand) { return isOfInputs(operand); }));
}

/// The element, of those of the inputs.
Value Splitter::getElement(OpBuilder &b, ValueRange given) {
  IRMapping mapping;
  mapping.map(body.getArguments().take_front(op.getNumDpsInputs()),
              given.take_front(op.getNumDpsInputs()));
  SetVector<Operation *> needed;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.filter = [&](Operation *inner) { return inner->getBlock() == &body; };
  if (found.element.getDefiningOp())
    (void)getBackwardSlice(found.element, &needed, options);
  for (Operation *inner : needed)
    b.clone(*inner, mapping);
  return mapping.lookupOrDefault(found.element);
}

/// Whether the element exceeds what was found before.
bool Splitter::matchCondition(Value condition) {
  Value before = body.getArgument(op.getNumDpsInputs());
  Operation *compare = condition.getDefiningOp();
  if (auto floats = dyn_cast_or_null<arith::CmpFOp>(compare)) {
    arith::CmpFPredicate predicate = floats.getPredicate();
    found.isMax = predicate == arith::CmpFPredicate::OGT ||
                  predicate == arith::CmpFPredicate::OGE;
    found.isLast = predicate == arith::CmpFPredicate::OGE ||
                   predicate == arith::CmpFPredicate::OLE;
    if (!found.isMax && predicate != arith::CmpFPredicate::OLT &&
        predicate != arith::CmpFPredicate::OLE)
      return false;
  } else if (auto integers = dyn_cast_or_null<arith::CmpIOp>(compare)) {
    arith::CmpIPredicate predicate = integers.getPredicate();
    found.isMax = predicate == arith::CmpIPredicate::sgt ||
                  predicate == arith::CmpIPredicate::sge;
    found.isLast = predicate == arith::CmpIPredicate::sge ||
                   predicate == arith::CmpIPredicate::sle;
    if (!found.isMax && predicate != arith::CmpIPredicate::slt &&
        predicate != arith::CmpIPredicate::sle)
      return false;
  } else {
    return false;
  }
  bool isFirst = compare->getOperand(0) == before;
  if (isFirst)
    found.isMax = !found.isMax;
  found.element = compare->getOperand(isFirst ? 1 : 0);
  return compare->getOperand(isFirst ? 0 : 1) == before &&
         isOfInputs(found.element);
}

/// Whether numbers grow as the reduced loop goes on.
bool Splitter::matchNumber(Value number) {
  while (Operation *made = number.getDefiningOp()) {
    if (auto index = dyn_cast<linalg::IndexOp>(made))
      return op.getIteratorTypesArray()[index.getDim()] ==
             utils::IteratorType::reduction;
    if (!isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(made))
      return false;
    number = made->getOperand(0);
  }
  return false;
}

/// Results that were filled with constants.
bool Splitter::matchStarts() {
  found.fillOfValues = findFill(op, *op.getDpsInitOperand(0));
  found.fillOfNumbers = findFill(op, *op.getDpsInitOperand(1));
  if (!found.fillOfValues || !found.fillOfNumbers ||
      !matchPattern(found.fillOfValues.value(),
                    m_Constant(&found.firstValue)) ||
      !matchPattern(found.fillOfNumbers.value(),
                    m_Constant(&found.firstNumber)))
    return false;
  auto number = dyn_cast<FloatAttr>(found.firstValue);
  return !number || !number.getValue().isNaN();
}

bool Splitter::match() {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInputs() == 0 ||
      op.getNumDpsInits() != 2 || op.getNumReductionLoops() != 1)
    return false;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  ArrayRef<AffineMap> reads = ArrayRef(maps).take_front(op.getNumDpsInputs());
  auto isMemory = [](Value operand) {
    return isa<MemRefType>(operand.getType());
  };
  // Types that have infinities, which no element exceeds, or an order alone.
  Value before = body.getArgument(op.getNumDpsInputs());
  Type type = before.getType();
  if (!(type.isF16() || type.isBF16() || type.isF32() || type.isF64() ||
        type.isSignlessInteger()) ||
      !llvm::all_of(op->getOperands(), isMemory) ||
      llvm::none_of(reads, [](AffineMap map) { return map.isPermutation(); }) ||
      maps.back() != maps[maps.size() - 2])
    return false;
  Operation *end = body.getTerminator();
  auto choice = end->getOperand(1).getDefiningOp<arith::SelectOp>();
  if (!choice || choice.getFalseValue() != body.getArguments().back() ||
      !isa<IntegerType>(choice.getType()) ||
      choice.getType().getIntOrFloatBitWidth() < 32 ||
      !matchCondition(choice.getCondition()) ||
      !matchNumber(choice.getTrueValue()))
    return false;
  found.number = choice.getTrueValue();
  Value element = found.element;
  Operation *value = end->getOperand(0).getDefiningOp();
  if (auto select = dyn_cast_or_null<arith::SelectOp>(value)) {
    if (select.getCondition() != choice.getCondition() ||
        select.getTrueValue() != element || select.getFalseValue() != before)
      return false;
  } else if (value && value->getNumOperands() == 2 &&
             llvm::is_contained(value->getOperands(), element) &&
             llvm::is_contained(value->getOperands(), before) &&
             (found.isMax ? isa<arith::MaximumFOp>(value)
                          : isa<arith::MinimumFOp>(value))) {
    found.nanWins = true;
  } else {
    return false;
  }
  return matchStarts();
}

Value Splitter::isNaN(OpBuilder &b, Value value) {
  return arith::CmpFOp::create(b, op.getLoc(), arith::CmpFPredicate::UNO, value,
                               value);
}

Value Splitter::equals(OpBuilder &b, Value x, Value y) {
  if (isa<FloatType>(x.getType()))
    return arith::CmpFOp::create(b, op.getLoc(), arith::CmpFPredicate::OEQ, x,
                                 y);
  return arith::CmpIOp::create(b, op.getLoc(), arith::CmpIPredicate::eq, x, y);
}

/// Whether an extremum exceeds `first`; NaN does where it is one.
Value Splitter::compare(OpBuilder &b, Value value, Value first) {
  if (isa<FloatType>(value.getType())) {
    arith::CmpFPredicate predicate =
        found.isMax ? (found.isLast ? arith::CmpFPredicate::UGE
                                    : arith::CmpFPredicate::UGT)
                    : (found.isLast ? arith::CmpFPredicate::ULE
                                    : arith::CmpFPredicate::ULT);
    return arith::CmpFOp::create(b, op.getLoc(), predicate, value, first);
  }
  arith::CmpIPredicate predicate =
      found.isMax ? (found.isLast ? arith::CmpIPredicate::sge
                                  : arith::CmpIPredicate::sgt)
                  : (found.isLast ? arith::CmpIPredicate::sle
                                  : arith::CmpIPredicate::slt);
  return arith::CmpIOp::create(b, op.getLoc(), predicate, value, first);
}

/// The number of no element: what changes no least number, or no greatest.
TypedAttr Splitter::getNone() {
  auto type = cast<IntegerType>(found.number.getType());
  return b.getIntegerAttr(
      type, found.isLast ? APInt::getSignedMinValue(type.getWidth())
                         : APInt::getSignedMaxValue(type.getWidth()));
}

/// The extrema, of what is no NaN unless that wins.
void Splitter::buildValues() {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  linalg::GenericOp::create(
      b, op.getDpsInputs(), op.getDpsInits().front(),
      ArrayRef(maps).drop_back(), op.getIteratorTypesArray(),
      [&](OpBuilder &b, Location loc, ValueRange given) {
        Value element = getElement(b, given), before = given.back(), result;
        Type type = element.getType();
        if (!isa<FloatType>(type)) {
          result =
              found.isMax
                  ? arith::MaxSIOp::create(b, loc, before, element).getResult()
                  : arith::MinSIOp::create(b, loc, before, element);
        } else {
          auto floats = cast<FloatType>(type);
          if (!found.nanWins) {
            Value least = arith::ConstantOp::create(
                b, loc,
                b.getFloatAttr(type,
                               APFloat::getInf(floats.getFloatSemantics(),
                                               /*Negative=*/found.isMax)));
            element = arith::SelectOp::create(b, loc, isNaN(b, element), least,
                                              element);
          }
          result = found.isMax
                       ? arith::MaximumFOp::create(b, loc, before, element)
                             .getResult()
                       : arith::MinimumFOp::create(b, loc, before, element);
        }
        linalg::YieldOp::create(b, loc, result);
      });
}

/// The first or the last number of an element that is the extremum. Where NaN
/// wins that is the number of a NaN.
void Splitter::buildNumbers(Value memory) {
  SmallVector<Value> inputs = op.getDpsInputs();
  inputs.push_back(op.getDpsInits().front());
  linalg::GenericOp::create(
      b, inputs, memory, op.getIndexingMapsArray(), op.getIteratorTypesArray(),
      [&](OpBuilder &b, Location loc, ValueRange given) {
        Value element = getElement(b, given),
              extremum = given[op.getNumDpsInputs()];
        Value isHere = equals(b, element, extremum);
        if (found.nanWins)
          isHere = arith::SelectOp::create(b, loc, isNaN(b, extremum),
                                           isNaN(b, element), isHere);
        Value number = linalg::IndexOp::create(b, loc, getLoop());
        Type type = found.number.getType();
        number = arith::IndexCastOp::create(b, loc, type, number);
        Value none = arith::ConstantOp::create(b, loc, getNone());
        number = arith::SelectOp::create(b, loc, isHere, number, none);
        Value result =
            found.isLast ? arith::MaxSIOp::create(b, loc, given.back(), number)
                               .getResult()
                         : arith::MinSIOp::create(b, loc, given.back(), number);
        linalg::YieldOp::create(b, loc, result);
      });
}

/// The number of what exceeds the constant that the values were filled with, or
/// the one that the numbers were filled with.
void Splitter::buildChoice(Value memory) {
  Value values = op.getDpsInits()[0], numbers = op.getDpsInits()[1];
  unsigned rank = cast<MemRefType>(numbers.getType()).getRank();
  linalg::GenericOp::create(
      b, ValueRange{memory, values}, numbers,
      SmallVector<AffineMap>(3, b.getMultiDimIdentityMap(rank)),
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [&](OpBuilder &b, Location loc, ValueRange given) {
        Value none = arith::ConstantOp::create(b, loc, getNone());
        Value isNone = equals(b, given[0], none);
        if (!found.isLast) {
          Value first = arith::ConstantOp::create(b, loc, found.firstValue);
          isNone =
              arith::OrIOp::create(b, loc, isNone, equals(b, given[1], first));
        }
        Value kept = arith::ConstantOp::create(b, loc, found.firstNumber);
        Value result = arith::SelectOp::create(b, loc, isNone, kept, given[0]);
        linalg::YieldOp::create(b, loc, result);
      });
}

unsigned Splitter::getLoop() {
  SmallVector<unsigned> loops;
  op.getReductionDims(loops);
  return loops.front();
}

/// Memory for a number of each result.
Value Splitter::allocate(Type element) {
  Value numbers = op.getDpsInits()[1];
  auto type = cast<MemRefType>(numbers.getType());
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(memref::DimOp::create(b, numbers, dim));
  return memref::AllocOp::create(b, MemRefType::get(type.getShape(), element),
                                 sizes);
}

void Splitter::buildKeys(const ExtremumKeys &keys, Value memory) {
  linalg::GenericOp::create(
      b, op.getDpsInputs(), memory,
      ArrayRef(op.getIndexingMapsArray()).drop_back(),
      op.getIteratorTypesArray(),
      [&](OpBuilder &b, Location loc, ValueRange given) {
        Value index = linalg::IndexOp::create(b, loc, getLoop());
        Value key = keys.make(b, loc, getElement(b, given), index);
        linalg::YieldOp::create(b, loc, keys.choose(b, loc, given.back(), key));
      });
}

/// What a key says where its element exceeds the constant that the values were
/// filled with, and what they were filled with elsewhere.
void Splitter::buildResults(const ExtremumKeys &keys, Value memory) {
  unsigned rank = cast<MemRefType>(memory.getType()).getRank();
  linalg::GenericOp::create(
      b, memory, op.getDpsInits(),
      SmallVector<AffineMap>(3, b.getMultiDimIdentityMap(rank)),
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [&](OpBuilder &b, Location loc, ValueRange given) {
        Value key = given[0];
        Value none =
            arith::ConstantIntOp::create(b, loc, key.getType(), keys.getNone());
        Value isThere =
            arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, key, none);
        Value first = arith::ConstantOp::create(b, loc, found.firstValue);
        Value value = keys.getValue(b, loc, key);
        Value exceeds =
            arith::AndIOp::create(b, loc, isThere, compare(b, value, first));
        value = arith::SelectOp::create(b, loc, exceeds, value, first);
        Value number = keys.getNumber(b, loc, key);
        if (number.getType() != found.number.getType())
          number =
              arith::TruncIOp::create(b, loc, found.number.getType(), number);
        Value kept = arith::ConstantOp::create(b, loc, found.firstNumber);
        number = arith::SelectOp::create(b, loc, exceeds, number, kept);
        linalg::YieldOp::create(b, loc, ValueRange{value, number});
      });
}

void Splitter::splitByKeys(const ExtremumKeys &keys) {
  IntegerType type = keys.getType(b);
  Value memory = allocate(type);
  Value none = arith::ConstantIntOp::create(b, type, keys.getNone());
  linalg::FillOp::create(b, none, memory);
  buildKeys(keys, memory);
  buildResults(keys, memory);
  // Nobody reads what all of it is written over.
  found.fillOfValues->erase();
  found.fillOfNumbers->erase();
}

void Splitter::splitInTwo() {
  Value memory = allocate(found.number.getType());
  Value none = arith::ConstantOp::create(b, getNone());
  linalg::FillOp::create(b, none, memory);
  buildValues();
  buildNumbers(memory);
  buildChoice(memory);
  found.fillOfNumbers->erase();
}

void Splitter::split() {
  Type element = found.element.getType();
  int64_t extent = op.getStaticLoopRanges()[getLoop()];
  if (ExtremumKeys::areThere(element, extent))
    splitByKeys(ExtremumKeys(found, element, extent));
  else
    splitInTwo();
  op->erase();
}

void mlir::tracea::splitExtremum(linalg::LinalgOp op) {
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic)
    return;
  Splitter splitter(generic);
  if (splitter.match())
    splitter.split();
}
