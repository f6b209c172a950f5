//===- KernelBuilder.cpp - Builds one kernel for one operation ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Conversion/TraceaToTraceaPipe/KernelBuilder.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "tracea/Dialect/TraceaPipe/Utils/Launches.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

//===----------------------------------------------------------------------===//
// IndexMath
//===----------------------------------------------------------------------===//

std::optional<int64_t> mlir::tracea::getStatic(Value value) {
  return getConstantIntValue(getAsOpFoldResult(value));
}

Value IndexMath::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

Value IndexMath::add(Value x, Value y) {
  return b.createOrFold<arith::AddIOp>(x, y);
}

Value IndexMath::sub(Value x, Value y) {
  return b.createOrFold<arith::SubIOp>(x, y);
}

Value IndexMath::mul(Value x, Value y) {
  return b.createOrFold<arith::MulIOp>(x, y);
}

Value IndexMath::min(Value x, Value y) {
  if (x == y)
    return x;
  return b.createOrFold<arith::MinSIOp>(x, y);
}

Value IndexMath::max(Value x, Value y) {
  return b.createOrFold<arith::MaxSIOp>(x, y);
}

Value IndexMath::floorDiv(Value x, int64_t y) {
  if (y == 1)
    return x;
  // Only ever applied to coordinates that are not negative.
  return b.createOrFold<arith::DivUIOp>(x, constant(y));
}

/// x / y where the factors of x and of its terms show that y divides them.
static Value divideFactors(IndexMath &math, Value x, int64_t y) {
  if (std::optional<int64_t> known = getStatic(x))
    return *known % y == 0 ? math.constant(*known / y) : Value();
  if (auto product = x.getDefiningOp<arith::MulIOp>()) {
    std::optional<int64_t> factor = getStatic(product.getRhs());
    return factor && *factor % y == 0 ? math.mul(product.getLhs(), *factor / y)
                                      : Value();
  }
  auto sum = x.getDefiningOp<arith::AddIOp>();
  Value lhs = sum ? divideFactors(math, sum.getLhs(), y) : Value();
  Value rhs = lhs ? divideFactors(math, sum.getRhs(), y) : Value();
  return rhs ? math.add(lhs, rhs) : Value();
}

Value IndexMath::exactDiv(Value x, int64_t y) {
  if (y == 1)
    return x;
  Value quotient = divideFactors(*this, x, y);
  return quotient ? quotient : floorDiv(x, y);
}

Value IndexMath::rem(Value x, int64_t y) {
  if (y == 1)
    return constant(0);
  return b.createOrFold<arith::RemUIOp>(x, constant(y));
}

Value IndexMath::ceilDiv(Value x, int64_t y) {
  if (y == 1)
    return x;
  return b.createOrFold<arith::CeilDivSIOp>(x, constant(y));
}

Value IndexMath::equal(Value x, Value y) {
  return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, x, y);
}

Value IndexMath::lessOrEqual(Value x, Value y) {
  return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::sle, x, y);
}

Value IndexMath::both(Value x, Value y) {
  return b.createOrFold<arith::AndIOp>(x, y);
}

//===----------------------------------------------------------------------===//
// TileAddress
//===----------------------------------------------------------------------===//

std::pair<unsigned, unsigned> TileAddress::getInputs(unsigned tileDim) const {
  unsigned walked = walk ? cast<WalkType>(walk.getType()).getCoordinates() : 1;
  if (tileDim == 0)
    return {0, walked};
  return {tileDim + walked - 1, 1};
}

TileAddress TileAddress::getIn(IndexMath &ix, Value other,
                               AffineMap places) const {
  TileAddress result;
  result.memory = other;
  result.walk = walk;
  SmallVector<AffineExpr> exprs;
  for (AffineExpr place : places.getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(place)) {
      result.indices.push_back(indices[dim.getPosition()]);
      exprs.push_back(map.getResult(dim.getPosition()));
      continue;
    }
    result.indices.push_back(
        ix.constant(cast<AffineConstantExpr>(place).getValue()));
    exprs.push_back(getAffineConstantExpr(0, map.getContext()));
  }
  result.map = AffineMap::get(map.getNumDims(), 0, exprs, map.getContext());
  if (!walk)
    return result;
  // What depends on no coordinate of the walk need not go along it.
  auto [first, count] = getInputs(0);
  for (unsigned input = first; input < first + count; ++input)
    if (result.map.isFunctionOfDim(input))
      return result;
  result.walk = Value();
  SmallVector<AffineExpr> dims(count, getAffineDimExpr(0, map.getContext()));
  for (unsigned input = count; input < map.getNumDims(); ++input)
    dims.push_back(getAffineDimExpr(input - count + 1, map.getContext()));
  result.map = result.map.replaceDimsAndSymbols(
      dims, {}, map.getNumDims() - count + 1, 0);
  return result;
}

//===----------------------------------------------------------------------===//
// KernelBuilder
//===----------------------------------------------------------------------===//

KernelBuilder::KernelBuilder(KernelRewriter &rewriter, Operation *op)
    : rewriter(rewriter), op(op), b(op->getLoc(), rewriter.getContext()),
      math(b) {
  auto operation = cast<DestinationStyleOpInterface>(op);
  for (OpOperand *operand : operation.getDpsInputOperands())
    inputs.push_back(operand->get());
  for (OpOperand &operand : operation.getDpsInitsMutable())
    inits.push_back(operand.get());
  createKernel(rewriter.names);
}

KernelBuilder::KernelBuilder(KernelRewriter &rewriter, Operation *op,
                             ValueRange inputs, ValueRange inits)
    : rewriter(rewriter), op(op), b(op->getLoc(), rewriter.getContext()),
      math(b), inputs(inputs), inits(inits) {
  createKernel(rewriter.names);
}

/// Memory of a tensor that is one behind the other.
static MemRefType getRowMajor(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return MemRefType::get(type.getShape(), type.getElementType());
}

MemRefType mlir::tracea::getResultMemory(Operation *op, Value init) {
  MemRefType rowMajor = getRowMajor(init);
  auto target = op->getParentOfType<ModuleOp>()->getAttrOfType<TargetAttr>(
      TraceaDialect::kTargetAttrName);
  auto window = init.getDefiningOp<tensor::ExtractSliceOp>();
  if (!window || !isa<Conv2DOp>(op) || target.getKind() == TargetKind::CPU ||
      window.getType().getRank() != window.getSourceType().getRank())
    return rowMajor;
  int64_t stride = 1;
  SmallVector<int64_t> strides;
  bool hasGaps = false;
  for (auto [extent, whole, step] : llvm::reverse(llvm::zip_equal(
           rowMajor.getShape(), window.getSourceType().getShape(),
           window.getStaticStrides()))) {
    int64_t apart = 0;
    if (ShapedType::isDynamic(stride) || ShapedType::isDynamic(step) ||
        llvm::MulOverflow(stride, step, apart))
      return rowMajor;
    strides.push_back(apart);
    // Of the first dimension nothing follows.
    bool isFirst = strides.size() == rowMajor.getShape().size();
    hasGaps |= step != 1 || (!isFirst && extent != whole);
    if (ShapedType::isDynamic(whole) ||
        llvm::MulOverflow(stride, whole, stride))
      stride = ShapedType::kDynamic;
  }
  if (!hasGaps || strides.front() != 1)
    return rowMajor;
  std::reverse(strides.begin(), strides.end());
  return MemRefType::get(
      rowMajor.getShape(), rowMajor.getElementType(),
      StridedLayoutAttr::get(op->getContext(), /*offset=*/0, strides));
}

void KernelBuilder::createKernel(KernelNames &names) {
  SmallVector<Type> types;
  for (Value input : inputs)
    types.push_back(getRowMajor(input));
  for (Value init : inits)
    types.push_back(getResultMemory(op, init));
  auto module = op->getParentOfType<ModuleOp>();
  vectorBits = module->getAttrOfType<TargetAttr>(TraceaDialect::kTargetAttrName)
                   .getVectorBits();
  b.setInsertionPointToEnd(module.getBody());
  // "gemm_0" of "tracea.gemm".
  kernel = KernelOp::create(
      b, names.take(op->getName().stripDialect()), b.getFunctionType(types, {}),
      cast<ScheduledOpInterface>(op).getScheduleAttr().getVariant(),
      op->getName().getStringRef());
  ArrayRef<BlockArgument> arguments = kernel.getBody().getArguments();
  for (auto [operand, argument] :
       llvm::zip(inputs, arguments.take_front(inputs.size())))
    memrefs.map(operand, argument);
  for (auto [operand, argument] :
       llvm::zip(inits, arguments.take_back(inits.size())))
    if (!dests.contains(operand))
      dests.map(operand, argument);
  b.setInsertionPointToStart(&kernel.getBody().front());
}

Value KernelBuilder::getMemRef(Value operand) const {
  return memrefs.lookup(operand);
}

Value KernelBuilder::getDest(Value operand) const {
  return dests.lookup(operand);
}

Value KernelBuilder::getDest(unsigned index) {
  return kernel.getBody().getArguments()[inputs.size() + index];
}

Value KernelBuilder::getDim(Value operand, int64_t dim) {
  Value memref = dests.lookupOrNull(operand);
  if (!memref)
    memref = getMemRef(operand);
  return getExtent(memref, dim);
}

Value KernelBuilder::getExtent(Value memref, int64_t dim) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dim))
    return math.constant(type.getDimSize(dim));
  return memref::DimOp::create(b, memref, dim);
}

Block::BlockArgListType
KernelBuilder::beginTiles(ValueRange bounds, int64_t group, int64_t cluster) {
  auto tiles = TilesOp::create(b, bounds, group, cluster);
  EndOp::create(b);
  b.setInsertionPointToStart(&tiles.getBody().front());
  return tiles.getIndices();
}

void KernelBuilder::loop(Value bound, int64_t step,
                         function_ref<void(Value)> body) {
  std::optional<int64_t> known = getStatic(bound);
  if (known && *known > 0 && *known <= step) {
    body(math.constant(0));
    return;
  }
  auto forOp =
      scf::ForOp::create(b, math.constant(0), bound, math.constant(step));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forOp.getBody());
  body(forOp.getInductionVar());
}

Value KernelBuilder::loop(Value bound, int64_t step, Value init,
                          function_ref<Value(Value, Value)> body) {
  std::optional<int64_t> known = getStatic(bound);
  if (known && *known > 0 && *known <= step)
    return body(math.constant(0), init);
  return emitLoop(math.constant(0), bound, step, init, body);
}

Value KernelBuilder::loop(Value first, Value end, Value init,
                          function_ref<Value(Value, Value)> body) {
  std::optional<int64_t> known = getStatic(math.sub(end, first));
  return known == 1 ? body(first, init) : emitLoop(first, end, 1, init, body);
}

Value KernelBuilder::emitLoop(Value first, Value end, int64_t step, Value init,
                              function_ref<Value(Value, Value)> body) {
  auto forOp =
      scf::ForOp::create(b, first, end, math.constant(step), ValueRange(init));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forOp.getBody());
  Value result = body(forOp.getInductionVar(), forOp.getRegionIterArg(0));
  scf::YieldOp::create(b, result);
  return forOp.getResult(0);
}

Value KernelBuilder::select(Value condition, function_ref<Value()> then,
                            function_ref<Value()> otherwise) {
  if (std::optional<int64_t> known = getStatic(condition))
    return *known ? then() : otherwise();
  // The result's type is known only after the first branch has been built.
  auto holder = scf::IfOp::create(b, TypeRange(), condition, true);
  OpBuilder::InsertionGuard guard(b);
  auto fill = [&](Block *branch, function_ref<Value()> make) {
    branch->clear();
    b.setInsertionPointToStart(branch);
    Value value = make();
    scf::YieldOp::create(b, value);
    return value.getType();
  };
  Type type = fill(holder.thenBlock(), then);
  fill(holder.elseBlock(), otherwise);
  b.setInsertionPoint(holder);
  auto result = scf::IfOp::create(b, TypeRange(type), condition, true);
  result.getThenRegion().takeBody(holder.getThenRegion());
  result.getElseRegion().takeBody(holder.getElseRegion());
  holder.erase();
  return result.getResult(0);
}

void KernelBuilder::branch(Value condition, function_ref<void()> then,
                           function_ref<void()> otherwise) {
  if (std::optional<int64_t> known = getStatic(condition)) {
    *known ? then() : otherwise();
    return;
  }
  auto ifOp = scf::IfOp::create(b, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  then();
  b.setInsertionPointToStart(ifOp.elseBlock());
  otherwise();
}

RankedTensorType KernelBuilder::getTileType(ArrayRef<int64_t> shape,
                                            Type elementType) {
  int64_t lanes = vectorBits / elementType.getIntOrFloatBitWidth();
  while (shape.back() % lanes)
    lanes /= 2;
  return RankedTensorType::get(
      shape, elementType,
      LanesAttr::getVectorTile(b.getContext(), shape, lanes));
}

RankedTensorType KernelBuilder::getStagedType(ArrayRef<int64_t> shape,
                                              Type elementType) {
  return RankedTensorType::get(
      shape, elementType, StagedAttr::get(b.getContext(), ArrayRef<int64_t>()));
}

Value KernelBuilder::splat(RankedTensorType tile, double value) {
  Type type = tile.getElementType();
  Attribute element;
  if (auto floatType = dyn_cast<FloatType>(type))
    element = b.getFloatAttr(floatType, value);
  else
    element = b.getIntegerAttr(type, static_cast<int64_t>(value));
  return splat(tile, cast<TypedAttr>(element));
}

Value KernelBuilder::splat(RankedTensorType tile, TypedAttr element) {
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(tile, Attribute(element)));
}

Value KernelBuilder::addTiles(Value x, Value y) {
  if (isa<FloatType>(getElementTypeOrSelf(x.getType())))
    return arith::AddFOp::create(b, x, y);
  return arith::AddIOp::create(b, x, y);
}

AffineExpr KernelBuilder::dim(unsigned position) {
  return getAffineDimExpr(position, b.getContext());
}

AffineExpr KernelBuilder::zero() {
  return getAffineConstantExpr(0, b.getContext());
}

AffineMap KernelBuilder::map(unsigned tileRank, ArrayRef<AffineExpr> results) {
  return AffineMap::get(tileRank, 0, results, b.getContext());
}

AffineMap KernelBuilder::matrixMap(int64_t leading, bool transposed) {
  SmallVector<AffineExpr> results(leading, zero());
  results.push_back(dim(transposed));
  results.push_back(dim(!transposed));
  return map(2, results);
}

Value mlir::tracea::convertTile(ImplicitLocOpBuilder &b, Value tile,
                                Type elementType) {
  auto type = cast<RankedTensorType>(tile.getType());
  Type from = type.getElementType();
  if (from == elementType)
    return tile;
  auto to = type.clone(elementType);
  if (isa<FloatType>(from) && isa<FloatType>(elementType)) {
    if (from.getIntOrFloatBitWidth() < elementType.getIntOrFloatBitWidth())
      return arith::ExtFOp::create(b, to, tile);
    return arith::TruncFOp::create(b, to, tile);
  }
  if (isa<FloatType>(elementType))
    return arith::SIToFPOp::create(b, to, tile);
  if (isa<FloatType>(from))
    return arith::FPToSIOp::create(b, to, tile);
  if (from.getIntOrFloatBitWidth() < elementType.getIntOrFloatBitWidth())
    return arith::ExtSIOp::create(b, to, tile);
  return arith::TruncIOp::create(b, to, tile);
}

Value KernelBuilder::load(RankedTensorType tile, const TileAddress &from,
                          ValueRange limits) {
  return LoadOp::create(b, tile, from.memory, from.indices, limits, Value(),
                        from.getWalks(), from.map, Reuse::Unknown,
                        from.getAlong());
}

void KernelBuilder::store(Value tile, const TileAddress &to,
                          ValueRange limits) {
  StoreOp::create(b, tile, to.memory, to.indices, limits, to.getWalks(), to.map,
                  to.getAlong());
}

SmallVector<Value> KernelBuilder::emitEpilogueResults(
    EpilogueOpInterface epilogue, Value accumulator, const TileAddress &address,
    ValueRange limits) {
  auto resultType =
      cast<RankedTensorType>(epilogue.getEpilogueResult().getType());
  Region &region = epilogue.getEpilogue();
  if (region.empty())
    return {convertTile(b, accumulator, resultType.getElementType())};
  return emitScalars(region.front(), accumulator, epilogue.getExtras(),
                     epilogue.getEpilogueMaps(), address, limits);
}

bool mlir::tracea::computesFunctions(EpilogueOpInterface op) {
  WalkResult result = op.getEpilogue().walk([](Operation *inner) {
    bool isFunction = isa<math::MathDialect>(inner->getDialect()) &&
                      !isa<math::AbsFOp, math::CopySignOp, math::FmaOp>(inner);
    return isFunction ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

void KernelBuilder::emitScalar(Operation &scalar, RankedTensorType tile,
                               IRMapping &tiles,
                               function_ref<Value(Value)> lookup) {
  SmallVector<Value> operands = llvm::map_to_vector(
      scalar.getOperands(), [&](Value value) { return lookup(value); });
  SmallVector<Type> types;
  for (Type type : scalar.getResultTypes())
    types.push_back(tile.clone(type));
  Operation *tiled = static_cast<OpBuilder &>(b).create(
      scalar.getLoc(), scalar.getName().getIdentifier(), operands, types,
      scalar.getAttrs());
  tiles.map(scalar.getResults(), tiled->getResults());
}

SmallVector<Value> KernelBuilder::emitScalars(Block &block, Value first,
                                              ValueRange operands,
                                              ArrayAttr maps,
                                              const TileAddress &address,
                                              ValueRange limits) {
  auto accType = cast<RankedTensorType>(first.getType());
  IRMapping mapping;
  mapping.map(block.getArgument(0), first);
  for (auto [operand, mapAttr, argument] :
       llvm::zip(operands, maps, block.getArguments().drop_front())) {
    // The operand's element for element r of the tile's memory is at map(r);
    // substitute the tile's address into it.
    TileAddress from = address.getIn(math, getMemRef(operand),
                                     cast<AffineMapAttr>(mapAttr).getValue());
    RankedTensorType tile = accType.clone(
        cast<RankedTensorType>(operand.getType()).getElementType());
    // Where the operand does not depend on a dimension its limit does not
    // matter.
    SmallVector<Value> ends(limits);
    for (auto [dim, end] : llvm::enumerate(ends)) {
      auto [first, count] = from.getInputs(dim);
      if (llvm::none_of(llvm::seq(first, first + count), [&](unsigned input) {
            return from.map.isFunctionOfDim(input);
          }))
        end = math.constant(accType.getDimSize(dim));
    }
    mapping.map(argument, load(tile, from, ends));
  }
  // Constants, inside of the region or captured by it, become splats.
  auto lookup = [&](Value value) -> Value {
    if (Value mapped = mapping.lookupOrNull(value))
      return mapped;
    auto constant = value.getDefiningOp<arith::ConstantOp>();
    assert(constant && "a scalar region captures constants only");
    Value tile = splat(accType.clone(constant.getType()), constant.getValue());
    mapping.map(value, tile);
    return tile;
  };
  for (Operation &scalar : block.without_terminator())
    if (!isa<arith::ConstantOp>(scalar))
      emitScalar(scalar, accType, mapping, lookup);
  return llvm::map_to_vector(block.getTerminator()->getOperands(), lookup);
}

Value KernelBuilder::window(Value memory, ValueRange indices,
                            ArrayRef<int64_t> shape, int64_t first,
                            int64_t second) {
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<AffineExpr> exprs(type.getRank(), zero());
  exprs[first] = dim(0);
  exprs[second] = dim(1);
  SmallVector<int64_t> strides(2, 1);
  int64_t last = type.getRank() - 1;
  strides[first == last ? 1 : 0] = type.getDimSize(last);
  auto layout =
      StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides);
  return ViewOp::create(b,
                        MemRefType::get(shape, type.getElementType(), layout,
                                        type.getMemorySpace()),
                        memory, indices, map(2, exprs));
}

ValueRange KernelBuilder::launch() {
  rewriter.setInsertionPoint(op);
  SmallVector<Type> types = llvm::to_vector(ValueRange(inits).getTypes());
  auto launch = LaunchOp::create(
      rewriter, getLaunchLocation(op->getLoc(), rewriter.operation), types,
      FlatSymbolRefAttr::get(kernel.getSymNameAttr()),
      /*others=*/ArrayAttr(), /*most=*/DenseI64ArrayAttr(), inputs, inits);
  return launch.getResults();
}

void KernelBuilder::finish() { rewriter.replaceOp(op, launch()); }
