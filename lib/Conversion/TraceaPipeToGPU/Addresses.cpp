//===- Addresses.cpp - Where a thread's elements lie in memory ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Addresses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

//===----------------------------------------------------------------------===//
// What is known of indices and memory
//===----------------------------------------------------------------------===//

static constexpr int64_t kMaxDivisor = 1024;

static int64_t getPowerOfTwo(int64_t value) {
  uint64_t bits = static_cast<uint64_t>(value);
  return bits ? std::min<int64_t>(kMaxDivisor, int64_t(bits & -bits))
              : kMaxDivisor;
}

int64_t mlir::tracea_pipe::getKnownDivisor(Value index, unsigned depth) {
  if (std::optional<int64_t> known = getConstantIntValue(index))
    return getPowerOfTwo(*known);
  if (depth > 8)
    return 1;
  auto of = [&](Value value) { return getKnownDivisor(value, depth + 1); };
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    auto loop =
        dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument == loop.getInductionVar())
      return std::min(of(loop.getLowerBound()), of(loop.getStep()));
    return 1;
  }
  return llvm::TypeSwitch<Operation *, int64_t>(index.getDefiningOp())
      .Case<arith::MulIOp>([&](arith::MulIOp op) {
        return std::min(kMaxDivisor, of(op.getLhs()) * of(op.getRhs()));
      })
      .Case<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp,
            arith::MinUIOp, arith::MaxUIOp, arith::OrIOp, arith::XOrIOp>(
          [&](auto op) { return std::min(of(op.getLhs()), of(op.getRhs())); })
      .Case<arith::AndIOp>([&](arith::AndIOp op) {
        return std::max(of(op.getLhs()), of(op.getRhs()));
      })
      .Case<arith::ShLIOp>([&](arith::ShLIOp op) {
        std::optional<int64_t> by = getConstantIntValue(op.getRhs());
        if (!by || *by < 0 || *by > 10)
          return of(op.getLhs());
        return std::min(kMaxDivisor, of(op.getLhs()) << *by);
      })
      .Case<arith::IndexCastOp, arith::ExtUIOp, arith::ExtSIOp>(
          [&](auto op) { return of(op.getIn()); })
      .Default([](Operation *) { return 1; });
}

int64_t
mlir::tracea_pipe::getKnownAlignment(Value memory,
                                     const GPULoweringContext &context) {
  // Staged buffers begin where bulk copies can reach them.
  constexpr int64_t kStaged = 128;
  if (auto type = dyn_cast<MemRefType>(memory.getType());
      type && isa_and_nonnull<StagedAttr>(type.getMemorySpace()) &&
      type.getLayout().isIdentity())
    return kStaged;
  if (auto argument = dyn_cast<BlockArgument>(memory)) {
    auto func =
        dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
    if (func && argument.getOwner() == &func.front() &&
        argument.getArgNumber() < func.getNumArguments())
      if (auto align = func.getArgAttrOfType<IntegerAttr>(
              argument.getArgNumber(), "llvm.align"))
        return align.getInt();
    return context.baseAlignment;
  }
  return llvm::TypeSwitch<Operation *, int64_t>(memory.getDefiningOp())
      .Case<memref::AssumeAlignmentOp>([](memref::AssumeAlignmentOp op) {
        return int64_t(op.getAlignment());
      })
      .Case<memref::AllocOp, memref::AllocaOp>([&](auto op) {
        return int64_t(op.getAlignment().value_or(context.baseAlignment));
      })
      .Case<memref::MemorySpaceCastOp, memref::CastOp>(
          [&](auto op) { return getKnownAlignment(op.getSource(), context); })
      .Default([&](Operation *) { return context.baseAlignment; });
}

//===----------------------------------------------------------------------===//
// Registers and vectors
//===----------------------------------------------------------------------===//

FailureOr<TileAddresses> TileAddresses::get(Threads &threads,
                                            RankedTensorType tile, Value memory,
                                            ValueRange indices, AffineMap map) {
  alg::Expected<alg::LaneMap> lanes = getLaneMap(getLanes(tile));
  if (!lanes)
    return threads.op->emitOpError()
           << "cannot be lowered: " << lanes.message();
  if (lanes->numLanes() > threads.context.getSubgroupSize())
    return threads.op->emitOpError()
           << "cannot be lowered: expected a lane map of at most "
           << threads.context.getSubgroupSize() << " lanes, found "
           << lanes->numLanes();
  TileAddresses result(threads, tile, *lanes);
  if (failed(result.follow(memory, indices, map)))
    return failure();
  result.chooseVector();
  return result;
}

LogicalResult TileAddresses::follow(Value source, ValueRange indices,
                                    AffineMap map) {
  ImplicitLocOpBuilder &b = threads.b;
  auto scaled = [&](Value value, int64_t factor) -> Value {
    return factor == 1
               ? value
               : arith::MulIOp::create(
                     b, value, arith::ConstantIndexOp::create(b, factor))
                     .getResult();
  };
  auto plus = [&](Value value, Value other) -> Value {
    std::optional<int64_t> known = getConstantIntValue(other);
    return known && *known == 0
               ? value
               : arith::AddIOp::create(b, value, other).getResult();
  };
  for (auto [index, expr] : llvm::zip(indices, map.getResults())) {
    LinearForm form = getLinearForm(expr, map.getNumDims());
    starts.push_back(form.constant ? plus(index, arith::ConstantIndexOp::create(
                                                     b, form.constant))
                                   : index);
    coefficients.push_back(form.coefficients);
  }
  while (auto view = source.getDefiningOp<ViewOp>()) {
    SmallVector<Value> outerStarts;
    SmallVector<SmallVector<int64_t>> outerCoefficients;
    for (auto [offset, expr] :
         llvm::zip(view.getOffsets(), view.getMap().getResults())) {
      LinearForm form = getLinearForm(expr, view.getMap().getNumDims());
      Value start = offset;
      if (form.constant)
        start = plus(start, arith::ConstantIndexOp::create(b, form.constant));
      SmallVector<int64_t> sums(tile.getRank(), 0);
      for (auto [factor, inner, steps] :
           llvm::zip(form.coefficients, starts, coefficients)) {
        if (!factor)
          continue;
        start = plus(start, scaled(inner, factor));
        for (auto [sum, step] : llvm::zip(sums, steps)) {
          int64_t added;
          if (llvm::MulOverflow(factor, step, added) ||
              llvm::AddOverflow(sum, added, sum))
            return threads.op->emitOpError()
                   << "cannot be lowered: a coefficient of its views does not "
                      "fit 64 bits";
        }
      }
      outerStarts.push_back(start);
      outerCoefficients.push_back(sums);
    }
    starts = outerStarts;
    coefficients = outerCoefficients;
    source = view.getSource();
  }
  type = dyn_cast<MemRefType>(source.getType());
  if (!type)
    return threads.op->emitOpError() << "of a staged tile; run "
                                        "tracea-pipeline-kernels first";
  memory = source;
  staged = dyn_cast_or_null<StagedAttr>(type.getMemorySpace());
  if (!staged)
    return success();
  auto workgroup =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  memory = memref::MemorySpaceCastOp::create(
      b,
      MemRefType::get(type.getShape(), type.getElementType(), type.getLayout(),
                      workgroup),
      source);
  if (staged.getSwizzle().empty() && !staged.getPanel())
    return success();
  if (!type.getLayout().isIdentity() || !type.hasStaticShape() ||
      !type.getElementType().isIntOrFloat() ||
      type.getElementTypeBitWidth() < 8)
    return threads.op->emitOpError()
           << "expects a swizzled buffer of static shape, identity layout and "
              "whole bytes, found "
           << type;
  unsigned elementShift = llvm::Log2_32(type.getElementTypeBitWidth() / 8);
  for (int64_t bit : staged.getSwizzle())
    if (bit < elementShift)
      return threads.op->emitOpError()
             << "expects a swizzle that leaves elements whole, found " << type;
  memory = memref::ReinterpretCastOp::create(
      b,
      MemRefType::get({type.getNumElements()}, type.getElementType(),
                      MemRefLayoutAttrInterface{}, workgroup),
      memory, /*offset=*/0, ArrayRef<int64_t>{type.getNumElements()},
      ArrayRef<int64_t>{1});
  return success();
}

bool TileAddresses::canDouble(unsigned bit) const {
  int64_t half = getVectorSize(), size = 2 * half;
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  if (size * bytes > threads.context.maxAccessBytes)
    return false;
  // The bit moves one half along a dimension of its own, which is the last one
  // of the memory.
  alg::TileCoord vector = lanes.basis(alg::LaneDim::Reg, bit);
  unsigned last = type.getRank() - 1;
  std::optional<unsigned> along;
  for (auto [dim, coordinate] : llvm::enumerate(vector))
    if (coordinate) {
      if (along || coordinate != half)
        return false;
      along = dim;
    }
  if (!along || coefficients[last][*along] != 1)
    return false;
  for (unsigned dim = 0; dim < last; ++dim)
    if (coefficients[dim][*along])
      return false;
  // Nothing else moves inside of a vector.
  auto isWhole = [&](alg::LaneDim place, unsigned index) {
    return lanes.basis(place, index)[*along] % size == 0;
  };
  for (alg::LaneDim place :
       {alg::LaneDim::Reg, alg::LaneDim::Lane, alg::LaneDim::Warp})
    for (unsigned i = 0; i < lanes.numBits(place); ++i)
      if (!(place == alg::LaneDim::Reg &&
            (i == bit || llvm::is_contained(vectorBits, i))) &&
          !isWhole(place, i))
        return false;
  if (lanes.outer()[*along] > 1 && lanes.linearShape()[*along] % size)
    return false;
  for (unsigned dim = 0; dim < lanes.rank(); ++dim)
    if (dim != *along && coefficients[last][dim] % size)
      return false;
  // The window is aligned, and so are the rows.
  if (getKnownDivisor(starts[last]) % size)
    return false;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || strides.back() != 1)
    return false;
  if (ShapedType::isDynamic(offset) || offset % size)
    return false;
  for (unsigned dim = 0; dim < last; ++dim) {
    int64_t steps = getKnownDivisor(starts[dim]);
    for (int64_t coefficient : coefficients[dim])
      steps = std::min(steps, getPowerOfTwo(coefficient));
    int64_t stride =
        ShapedType::isDynamic(strides[dim]) ? 1 : getPowerOfTwo(strides[dim]);
    bool isFixed =
        getConstantIntValue(starts[dim]) == std::optional<int64_t>(0) &&
        llvm::all_of(coefficients[dim], [](int64_t c) { return !c; });
    if (!isFixed && steps * stride % size)
      return false;
  }
  if (staged) {
    for (int64_t bit : staged.getSwizzle())
      if ((int64_t(1) << bit) < size * bytes)
        return false;
    if (staged.getPanel() % size)
      return false;
    return true;
  }
  return getKnownAlignment(memory, threads.context) % (size * bytes) == 0;
}

void TileAddresses::chooseVector() {
  Type element = type.getElementType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() < 8 ||
      !llvm::isPowerOf2_32(element.getIntOrFloatBitWidth()) ||
      type.getRank() == 0)
    return;
  bool grew = true;
  while (grew) {
    grew = false;
    for (unsigned bit = 0; bit < lanes.numBits(alg::LaneDim::Reg) && !grew;
         ++bit)
      if (!llvm::is_contained(vectorBits, bit) && canDouble(bit)) {
        vectorBits.push_back(bit);
        grew = true;
      }
  }
}

int64_t TileAddresses::getOriginal(int64_t reg) const {
  // Independent index bits make up the others.
  int64_t linear = int64_t(1) << lanes.numBits(alg::LaneDim::Reg);
  alg::F2Vectors columns = lanes.columns(alg::LaneDim::Reg);
  alg::Expected<alg::F2Matrix> matrix =
      alg::F2Matrix::get(lanes.matrix().numOutputs(), columns);
  assert(matrix && "columns of a lane map");
  std::optional<uint64_t> first =
      matrix->solve(matrix->apply(uint64_t(reg % linear)));
  return reg / linear * linear + int64_t(*first);
}

SmallVector<int64_t> TileAddresses::getAccesses() const {
  int64_t inVector = 0;
  for (unsigned bit : vectorBits)
    inVector |= int64_t(1) << bit;
  SmallVector<int64_t> accesses;
  for (int64_t reg = 0; reg < lanes.numRegisters(); ++reg)
    if (!(reg & inVector) && getOriginal(reg) == reg)
      accesses.push_back(reg);
  return accesses;
}

SmallVector<int64_t> TileAddresses::getRegisters(int64_t first) const {
  SmallVector<int64_t> registers;
  for (int64_t element = 0; element < getVectorSize(); ++element) {
    int64_t reg = first;
    for (auto [i, bit] : llvm::enumerate(vectorBits))
      reg |= (element >> i & 1) << bit;
    registers.push_back(reg);
  }
  return registers;
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

std::pair<Value, int64_t> TileAddresses::getCoordinate(unsigned dim,
                                                       int64_t reg) {
  ThreadMap map;
  for (const alg::TileCoord &vector : getBases(lanes, alg::LaneDim::Lane))
    map.byLane.push_back(uint64_t(vector[dim]));
  for (const alg::TileCoord &vector : getBases(lanes, alg::LaneDim::Warp))
    map.byWarp.push_back(uint64_t(vector[dim]));
  int64_t constant = (*lanes.coordinate(reg, 0))[dim];
  if (map.isZero())
    return {Value(), constant};
  // What meets bits of the thread is combined by XOR, the rest is added.
  uint64_t meets = uint64_t(constant) & map.getSupport() &
                   uint64_t(lanes.linearShape()[dim] - 1);
  Value &base = cache[{dim, meets}];
  if (!base)
    base = threads.applyIndex(map, meets);
  return {base, constant - int64_t(meets)};
}

SmallVector<Value> TileAddresses::getIndices(int64_t reg) {
  ImplicitLocOpBuilder &b = threads.b;
  SmallVector<Value> result;
  for (auto [start, steps] : llvm::zip(starts, coefficients)) {
    Value index = start;
    int64_t constant = 0;
    for (auto [dim, step] : llvm::enumerate(steps)) {
      if (!step)
        continue;
      auto [base, rest] = getCoordinate(dim, reg);
      constant += step * rest;
      if (!base)
        continue;
      if (step != 1)
        base = arith::MulIOp::create(b, base,
                                     arith::ConstantIndexOp::create(b, step));
      index = arith::AddIOp::create(b, index, base);
    }
    if (constant)
      index = arith::AddIOp::create(
          b, index, arith::ConstantIndexOp::create(b, constant));
    result.push_back(index);
  }
  if (staged && (!staged.getSwizzle().empty() || staged.getPanel()))
    return {getSwizzled(result)};
  return result;
}

Value TileAddresses::getSwizzled(ArrayRef<Value> at) {
  ImplicitLocOpBuilder &b = threads.b;
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  Value column = at.back(), row;
  int64_t rows = 1;
  for (auto [index, extent] :
       llvm::zip(at.drop_back(), type.getShape().drop_back())) {
    row = row ? arith::AddIOp::create(
                    b, arith::MulIOp::create(b, row, constant(extent)), index)
                    .getResult()
              : index;
    rows *= extent;
  }
  int64_t width = type.getShape().back();
  Value place = column;
  if (int64_t panel = staged.getPanel()) {
    Value before = arith::MulIOp::create(
        b, arith::DivUIOp::create(b, column, constant(panel)),
        constant(rows * panel));
    place = arith::AddIOp::create(
        b, before, arith::RemUIOp::create(b, column, constant(panel)));
    width = panel;
  }
  if (row)
    place = arith::AddIOp::create(
        b, place, arith::MulIOp::create(b, row, constant(width)));
  // Terms of one distance move together.
  int64_t elementShift = llvm::Log2_32(type.getElementTypeBitWidth() / 8);
  std::map<int64_t, int64_t> sources;
  ArrayRef<int64_t> terms = staged.getSwizzle();
  for (size_t i = 0; i < terms.size(); i += 2)
    sources[terms[i + 1] - terms[i]] |= int64_t(1)
                                        << (terms[i + 1] - elementShift);
  Value result = place;
  for (auto [distance, mask] : sources) {
    Value moved = arith::ShRUIOp::create(
        b, arith::AndIOp::create(b, place, constant(mask)), constant(distance));
    result = arith::XOrIOp::create(b, result, moved);
  }
  return result;
}

Value TileAddresses::load(int64_t first, int64_t size) {
  ImplicitLocOpBuilder &b = threads.b;
  SmallVector<Value> at = getIndices(first);
  Type element = type.getElementType();
  if (size == 1)
    return memref::LoadOp::create(b, memory, at);
  return vector::LoadOp::create(
      b, VectorType::get(size, element), memory, at, /*nontemporal=*/false,
      llvm::MaybeAlign(size * element.getIntOrFloatBitWidth() / 8));
}

void TileAddresses::store(int64_t first, Value value) {
  ImplicitLocOpBuilder &b = threads.b;
  SmallVector<Value> at = getIndices(first);
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!vector) {
    memref::StoreOp::create(b, value, memory, at);
    return;
  }
  vector::StoreOp::create(b, value, memory, at, /*nontemporal=*/false,
                          llvm::MaybeAlign(vector.getNumElements() *
                                           vector.getElementTypeBitWidth() /
                                           8));
}

Value TileAddresses::isInside(int64_t reg, ValueRange limits) {
  ImplicitLocOpBuilder &b = threads.b;
  Value inside;
  for (auto [dim, limit] : llvm::enumerate(limits)) {
    if (std::optional<int64_t> known = getConstantIntValue(limit))
      if (*known >= tile.getDimSize(dim))
        continue;
    auto [base, constant] = getCoordinate(dim, reg);
    Value at = arith::ConstantIndexOp::create(b, constant);
    if (base)
      at = arith::AddIOp::create(b, base, at);
    Value below =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, at, limit);
    inside =
        inside ? arith::AndIOp::create(b, inside, below).getResult() : below;
  }
  return inside;
}
