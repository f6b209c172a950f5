//===- Copy.cpp - Copies into slots: rows, transposes, elements -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A copy's map says where each slot element comes from. Its forms:
//  - rows: the slot's last dimension runs along the source's; vectors go
//    straight through, and the part of a row outside of the image is zeroed;
//  - transposes: another slot dimension runs along the source's last one;
//    square blocks are loaded by rows, transposed in registers, stored by rows;
//  - every other: neighbours of the source alternate between two rows of the
//    slot; two vectors are loaded, and taken apart by shuffles;
//  - words: the slot's last dimension are the elements of a word
//  (WordCopy.cpp);
//  - elements: anything else, one at a time.
// Coordinates of a dimension that walks are computed where its loop begins, so
// that the rows of a pixel share its quotients.

#include "CopyEmitter.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

int64_t CopyEmitter::getRowDim() const {
  int64_t dim = sourceType.getRank() - 1;
  auto isPlace = [&](int64_t dim) {
    return sourceType.getDimSize(dim) == 1 &&
           llvm::all_of(forms[dim].coefficients,
                        [](int64_t coefficient) { return coefficient == 0; });
  };
  while (dim > 0 && isPlace(dim))
    --dim;
  return dim;
}

std::optional<int64_t> CopyEmitter::getRunDim() const {
  if (forms.empty() || sourceType.getElementTypeBitWidth() < 8 ||
      destType.getElementTypeBitWidth() < 8)
    return std::nullopt;
  // Vectors need neighbours in memory on both sides.
  auto isContiguous = [](MemRefType type) {
    SmallVector<int64_t> strides;
    int64_t offset;
    return succeeded(type.getStridesAndOffset(strides, offset)) &&
           !strides.empty() && strides.back() == 1 &&
           llvm::isPowerOf2_64(type.getElementTypeBitWidth());
  };
  if (!isContiguous(sourceType) || !isContiguous(destType))
    return std::nullopt;
  int64_t row = getRowDim();
  for (size_t number = inputs.size(); number-- > 0;) {
    bool alone =
        inputs[number].walk < 0 && forms[row].coefficients[number] == 1;
    for (auto [dim, form] : llvm::enumerate(forms))
      alone &=
          static_cast<int64_t>(dim) == row || form.coefficients[number] == 0;
    if (alone)
      return inputs[number].dim;
  }
  return std::nullopt;
}

void CopyEmitter::set(MutableArrayRef<Value> at, int64_t dim,
                      Value coordinate) {
  at[dim] = coordinate;
  if (!walks(dim))
    return;
  size_t number = llvm::find(transfer.along, dim) - transfer.along.begin();
  SmallVector<Value> coordinates =
      getWalkCoordinates(b, transfer.walks[number], coordinate);
  for (auto [input, value] : llvm::zip(inputs, walked))
    if (input.walk == static_cast<int>(number))
      value = coordinates[input.coordinate];
}

Value CopyEmitter::getSourceIndex(int64_t dim, ValueRange at) {
  Value index = addIndex(b, indices[dim], forms[dim].constant);
  for (auto [coefficient, input, coordinate] :
       llvm::zip(forms[dim].coefficients, inputs, walked))
    if (coefficient)
      index = addIndex(b, index,
                       mulIndex(b, input.walk < 0 ? at[input.dim] : coordinate,
                                coefficient));
  return index;
}

SmallVector<Value> CopyEmitter::getSourceIndices(ValueRange at) {
  SmallVector<Value> result;
  for (int64_t dim = 0; dim < sourceType.getRank(); ++dim)
    result.push_back(getSourceIndex(dim, at));
  return result;
}

Value CopyEmitter::isInside(ValueRange at, std::optional<int64_t> except) {
  Value inside;
  for (int64_t dim : padded) {
    if (dim == except)
      continue;
    Value index = getSourceIndex(dim, at);
    inside = both(inside, compare(arith::CmpIPredicate::sge, index, zero));
    inside =
        both(inside, compare(arith::CmpIPredicate::slt, index, sizes[dim]));
  }
  return inside;
}

void CopyEmitter::emitLoops(ArrayRef<int64_t> dims, SmallVectorImpl<Value> &at,
                            function_ref<void()> body) {
  if (dims.empty())
    return body();
  int64_t dim = dims.front();
  if (getConstantIntValue(getAsOpFoldResult(limits[dim])) == 1) {
    set(at, dim, zero);
    return emitLoops(dims.drop_front(), at, body);
  }
  auto loop = scf::ForOp::create(b, zero, limits[dim], constant(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  set(at, dim, loop.getInductionVar());
  emitLoops(dims.drop_front(), at, body);
}

void CopyEmitter::emitElement(ValueRange at) {
  Type type = destType.getElementType();
  auto load = [&]() {
    Value element = memref::LoadOp::create(b, source, getSourceIndices(at));
    return convertElements(b, element, type);
  };
  Value value;
  if (Value inside = isInside(at)) {
    auto ifOp = scf::IfOp::create(b, TypeRange(type), inside, true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    scf::YieldOp::create(b, load());
    b.setInsertionPointToStart(ifOp.elseBlock());
    scf::YieldOp::create(b, getZero(b, type));
    value = ifOp.getResult(0);
  } else {
    value = load();
  }
  memref::StoreOp::create(b, hold(value), dest, at);
}

Value CopyEmitter::hold(Value value) {
  if (!isOffset)
    return value;
  // Adding 128 is to invert the sign bit.
  Type type = value.getType();
  TypedAttr sign = b.getIntegerAttr(getElementTypeOrSelf(type), -128);
  if (auto vector = dyn_cast<VectorType>(type))
    sign = DenseElementsAttr::get(vector, sign);
  return arith::XOrIOp::create(b, value, arith::ConstantOp::create(b, sign));
}

void CopyEmitter::emitRow(SmallVectorImpl<Value> &at) {
  int64_t run = destType.getRank() - 1;
  int64_t sourceDim = getRowDim();
  Value length = limits[run];
  Type destElement = destType.getElementType();
  int64_t lanes = context.vectorBits / destType.getElementTypeBitWidth();
  // A short row of the slot is one vector of its own, without a mask; one that
  // is stored in parts only where masked stores are slower still.
  if (int64_t extent = destType.getDimSize(run);
      extent < lanes && (llvm::isPowerOf2_64(extent) || !hasNarrowMasks()))
    lanes = extent;
  auto loadType = VectorType::get(lanes, sourceType.getElementType());
  auto vectorType = VectorType::get(lanes, destElement);

  // The part [low, high) of the row that lies inside of the source.
  at[run] = zero;
  Value low = zero, high = length;
  if (llvm::is_contained(padded, sourceDim)) {
    Value begin = getSourceIndex(sourceDim, at);
    Value ahead = b.createOrFold<arith::SubIOp>(zero, begin);
    Value space = b.createOrFold<arith::SubIOp>(sizes[sourceDim], begin);
    low = b.createOrFold<arith::MinSIOp>(
        b.createOrFold<arith::MaxSIOp>(ahead, zero), length);
    high = b.createOrFold<arith::MaxSIOp>(
        b.createOrFold<arith::MinSIOp>(space, length), low);
  }
  bool cut = low != zero || high != length;
  if (Value inside = isInside(at, sourceDim)) {
    low = b.createOrFold<arith::SelectOp>(inside, low, length);
    high = b.createOrFold<arith::SelectOp>(inside, high, length);
    cut = true;
  }

  Value step = constant(lanes);
  auto fill = [&](Value from, Value to) {
    Value none = hold(getZero(b, vectorType));
    auto loop = scf::ForOp::create(b, from, to, step);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    at[run] = loop.getInductionVar();
    Value count = b.createOrFold<arith::SubIOp>(to, at[run]);
    Value mask = vector::CreateMaskOp::create(
        b, VectorType::get(lanes, b.getI1Type()), ValueRange(count));
    vector::MaskedStoreOp::create(b, dest, at, mask, none);
  };
  if (cut)
    fill(zero, low);
  // Whole vectors, then the rest under a mask.
  Value span = b.createOrFold<arith::SubIOp>(high, low);
  Value rest = b.createOrFold<arith::RemUIOp>(span, step);
  Value whole = b.createOrFold<arith::SubIOp>(high, rest);
  {
    auto loop = scf::ForOp::create(b, low, whole, step);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    at[run] = loop.getInductionVar();
    Value loaded =
        vector::LoadOp::create(b, loadType, source, getSourceIndices(at));
    vector::StoreOp::create(b, hold(convertElements(b, loaded, destElement)),
                            dest, at);
  }
  if (getConstantIntValue(getAsOpFoldResult(rest)) != 0) {
    Value some = compare(arith::CmpIPredicate::sgt, rest, zero);
    auto ifOp = scf::IfOp::create(b, some, false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    at[run] = whole;
    Value mask = vector::CreateMaskOp::create(
        b, VectorType::get(lanes, b.getI1Type()), ValueRange(rest));
    Value loaded = vector::MaskedLoadOp::create(
        b, loadType, source, getSourceIndices(at), mask, getZero(b, loadType));
    vector::MaskedStoreOp::create(
        b, dest, at, mask, hold(convertElements(b, loaded, destElement)));
  }
  if (cut)
    fill(high, length);
}

void CopyEmitter::emitBlock(SmallVectorImpl<Value> &at, int64_t runDim,
                            int64_t width, int64_t across) {
  int64_t last = destType.getRank() - 1;
  Value run = at[runDim], column = at[last];
  Value runEnd = addIndex(b, run, width),
        columnEnd = addIndex(b, column, across);
  Value whole =
      both(compare(arith::CmpIPredicate::sle, runEnd, limits[runDim]),
           compare(arith::CmpIPredicate::sle, columnEnd, limits[last]));
  // Coordinates are monotone in the block, so its corners decide.
  whole = both(whole, isInside(at));
  SmallVector<Value> corner(at.begin(), at.end());
  corner[runDim] = addIndex(b, run, width - 1);
  corner[last] = addIndex(b, column, across - 1);
  whole = both(whole, isInside(corner));

  auto loadType = VectorType::get(width, sourceType.getElementType());
  auto ifOp = scf::IfOp::create(b, whole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  SmallVector<Value> rows;
  for (int64_t i = 0; i < across; ++i) {
    at[last] = addIndex(b, column, i);
    Value loaded =
        vector::LoadOp::create(b, loadType, source, getSourceIndices(at));
    rows.push_back(convertElements(b, loaded, destType.getElementType()));
  }
  at[last] = column;
  // Rows that make the block a square, of which nothing is stored.
  rows.resize(width, rows.front());
  auto stored = llvm::to_vector(llvm::seq<int64_t>(0, across));
  for (auto [i, row] : llvm::enumerate(transposeVectors(b, rows))) {
    at[runDim] = addIndex(b, run, i);
    if (across < width)
      row = vector::ShuffleOp::create(b, row, row, stored);
    vector::StoreOp::create(b, row, dest, at);
  }

  b.setInsertionPointToStart(ifOp.elseBlock());
  Value runStop = b.createOrFold<arith::MinSIOp>(runEnd, limits[runDim]);
  Value columnStop = b.createOrFold<arith::MinSIOp>(columnEnd, limits[last]);
  auto outer = scf::ForOp::create(b, run, runStop, constant(1));
  b.setInsertionPointToStart(outer.getBody());
  auto inner = scf::ForOp::create(b, column, columnStop, constant(1));
  b.setInsertionPointToStart(inner.getBody());
  at[runDim] = outer.getInductionVar();
  at[last] = inner.getInductionVar();
  emitElement(at);
}

bool CopyEmitter::isEveryOther(int64_t run) const {
  int64_t last = destType.getRank() - 1;
  if (run == last || walks(last) || destType.getDimSize(run) != 2 ||
      getConstantIntValue(getAsOpFoldResult(limits[run])) != 2)
    return false;
  for (auto [number, input] : llvm::enumerate(inputs)) {
    if (input.walk >= 0 || input.dim != last)
      continue;
    if (forms.back().coefficients[number] != 2)
      return false;
    for (const LinearForm &form : llvm::drop_end(forms))
      if (form.coefficients[number] != 0)
        return false;
  }
  return true;
}

void CopyEmitter::emitEveryOther(SmallVectorImpl<Value> &at, int64_t run) {
  int64_t last = destType.getRank() - 1;
  int64_t sourceDim = sourceType.getRank() - 1;
  int64_t lanes = context.vectorBits / destType.getElementTypeBitWidth();
  auto loadType = VectorType::get(lanes, sourceType.getElementType());
  auto maskType = VectorType::get(lanes, b.getI1Type());
  auto createMask = [&](Value count) -> Value {
    return vector::CreateMaskOp::create(
        b, maskType, ValueRange(clipLimit(b, b.getLoc(), count, lanes)));
  };

  auto loop = scf::ForOp::create(b, zero, limits[last], constant(lanes));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  at[run] = zero;
  at[last] = loop.getInductionVar();
  SmallVector<Value> place = getSourceIndices(at);
  Value begin = place.back();
  Value left = b.createOrFold<arith::SubIOp>(limits[last], at[last]);
  Value inside = isInside(at, sourceDim);
  // What of the row there is, counted from `begin`: [low, high).
  Value low, high = mulIndex(b, left, 2);
  if (llvm::is_contained(padded, sourceDim)) {
    low = b.createOrFold<arith::SubIOp>(zero, begin);
    high = b.createOrFold<arith::MinSIOp>(
        high, b.createOrFold<arith::SubIOp>(sizes[sourceDim], begin));
  }
  auto load = [&](int64_t part, bool isCut) -> Value {
    place.back() = addIndex(b, begin, part * lanes);
    if (!isCut)
      return vector::LoadOp::create(b, loadType, source, place);
    Value end = addIndex(b, high, -part * lanes);
    if (inside)
      end = arith::SelectOp::create(b, inside, end, zero);
    Value mask = createMask(end);
    if (low) {
      Value all = arith::ConstantOp::create(
          b, DenseElementsAttr::get(maskType, b.getBoolAttr(true)));
      Value before = createMask(addIndex(b, low, -part * lanes));
      mask =
          arith::AndIOp::create(b, mask, arith::XOrIOp::create(b, before, all));
    }
    return vector::MaskedLoadOp::create(b, loadType, source, place, mask,
                                        getZero(b, loadType));
  };
  auto copy = [&](bool isCut) {
    Value parts[2];
    for (int64_t part = 0; part < 2; ++part)
      parts[part] =
          convertElements(b, load(part, isCut), destType.getElementType());
    for (int64_t row = 0; row < 2; ++row) {
      SmallVector<int64_t> taken;
      for (int64_t lane = 0; lane < lanes; ++lane)
        taken.push_back(2 * lane + row);
      Value value = vector::ShuffleOp::create(b, parts[0], parts[1], taken);
      at[run] = constant(row);
      if (isCut)
        vector::MaskedStoreOp::create(b, dest, at, createMask(left), value);
      else
        vector::StoreOp::create(b, value, dest, at);
    }
  };
  Value whole = compare(arith::CmpIPredicate::sge, high, constant(2 * lanes));
  if (low)
    whole = both(whole, compare(arith::CmpIPredicate::sle, low, zero));
  auto ifOp = scf::IfOp::create(b, both(whole, inside), true);
  b.setInsertionPointToStart(ifOp.thenBlock());
  copy(/*isCut=*/false);
  b.setInsertionPointToStart(ifOp.elseBlock());
  copy(/*isCut=*/true);
}

std::optional<int64_t> CopyEmitter::getPanelDim() const {
  int64_t step = destType.getRank() - 2;
  if (step < 1 || walks(step))
    return std::nullopt;
  ArrayRef<int64_t> row = forms[getRowDim()].coefficients;
  std::optional<int64_t> panel;
  for (int64_t dim = 0; dim < step; ++dim) {
    if (row[dim] == 0 || walks(dim))
      continue;
    if (panel)
      return std::nullopt;
    panel = dim;
  }
  return row[step] == 0 ? panel : std::nullopt;
}

void CopyEmitter::emitPanels(SmallVectorImpl<Value> &at, int64_t panel) {
  // As many rows as make whole lines of the slot, and a few streams.
  constexpr int64_t rowsTogether = 4;
  int64_t step = destType.getRank() - 2;
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < step; ++dim)
    if (dim != panel)
      dims.push_back(dim);
  emitLoops(dims, at, [&] {
    auto chunks =
        scf::ForOp::create(b, zero, limits[step], constant(rowsTogether));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(chunks.getBody());
    Value first = chunks.getInductionVar();
    Value end = b.createOrFold<arith::MinSIOp>(addIndex(b, first, rowsTogether),
                                               limits[step]);
    emitLoops({panel}, at, [&] {
      auto rows = scf::ForOp::create(b, first, end, constant(1));
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(rows.getBody());
      at[step] = rows.getInductionVar();
      emitRow(at);
    });
    at[step] = zero;
  });
}

void CopyEmitter::emit() {
  int64_t rank = destType.getRank(), last = rank - 1;
  SmallVector<Value> at(rank, zero);
  if (rank == 0)
    return emitElement(at);
  if (copyWords())
    return;
  std::optional<int64_t> run = getRunDim();
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (run == last) {
    dims.pop_back();
    if (std::optional<int64_t> panel = getPanelDim())
      return emitPanels(at, *panel);
    return emitLoops(dims, at, [&] { emitRow(at); });
  }
  if (isOffset)
    run = std::nullopt;
  if (run && isEveryOther(*run)) {
    llvm::erase_if(dims,
                   [&](int64_t dim) { return dim == *run || dim == last; });
    return emitLoops(dims, at, [&] { emitEveryOther(at, *run); });
  }
  int64_t lanes = context.vectorBits / destType.getElementTypeBitWidth();
  // A power of two that divides the slot's last extent, or of a short one the
  // next power above it.
  int64_t extent = destType.getDimSize(last);
  int64_t most = llvm::bit_floor(static_cast<uint64_t>(lanes));
  int64_t width = std::min(extent & -extent, most), across = width;
  if (width < 4 && extent > 2 && extent <= most) {
    width = llvm::bit_ceil(static_cast<uint64_t>(extent));
    across = extent;
  }
  bool monotone = llvm::all_of(forms, [](const LinearForm &form) {
    return llvm::all_of(form.coefficients, [](int64_t c) { return c >= 0; });
  });
  if (!run || width < 4 || !monotone || walks(last)) {
    ++context.numScalarCopies;
    return emitLoops(dims, at, [&] { emitElement(at); });
  }
  llvm::erase_if(dims, [&](int64_t dim) { return dim == *run || dim == last; });
  emitLoops(dims, at, [&] {
    auto columns = scf::ForOp::create(b, zero, limits[last], constant(across));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(columns.getBody());
    auto runs = scf::ForOp::create(b, zero, limits[*run], constant(width));
    b.setInsertionPointToStart(runs.getBody());
    at[last] = columns.getInductionVar();
    at[*run] = runs.getInductionVar();
    emitBlock(at, *run, width, across);
  });
}

namespace {
struct LowerCopy : OpConversionPattern<CopyOp> {
  LowerCopy(const TypeConverter &converter, MLIRContext *mlirContext,
            VectorLoweringContext &context)
      : OpConversionPattern(converter, mlirContext), context(context) {}

  LogicalResult
  matchAndRewrite(CopyOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    CopyEmitter(b, op, adaptor.getSource().front(), adaptor.getDest().front(),
                context)
        .emit();
    rewriter.eraseOp(op);
    return success();
  }
  VectorLoweringContext &context;
};
} // namespace

void mlir::tracea_pipe::populateCopyPatterns(const TypeConverter &converter,
                                             RewritePatternSet &patterns,
                                             VectorLoweringContext &context) {
  patterns.add<LowerCopy>(converter, patterns.getContext(), context);
}
