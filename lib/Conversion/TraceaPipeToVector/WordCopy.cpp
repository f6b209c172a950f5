//===- WordCopy.cpp - Copies into slots, by words of dot products ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A slot [.., i, w] whose last dimension are the w elements of a word of 32
// or 64 bits. Four forms:
//  - words that lie side by side in the source and in the slot go straight
//    through, vector by vector;
//  - words that lie side by side in rows of the source alone: square blocks of
//    words are loaded by rows, transposed in registers, stored by rows;
//  - words across rows: w rows are interleaved;
//  - words across rows that lie side by side in the slot: the same in square
//    blocks, which are transposed in registers then.
// Blocks that a limit or the border of the source cuts are loaded under masks,
// or go element by element. Elements that words hold wider than the source does
// are widened behind their loads.

#include "CopyEmitter.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// The greatest power of two that divides `extent`, and is no more than `most`.
static int64_t getWidth(int64_t extent, int64_t most) {
  return std::min<int64_t>(extent & -extent, llvm::bit_floor(uint64_t(most)));
}

std::optional<int64_t> CopyEmitter::getWordRun() const {
  int64_t last = destType.getRank() - 1, length = destType.getDimSize(last);
  std::optional<int64_t> run;
  ArrayRef<int64_t> along = forms.back().coefficients;
  if (along[last] != 1)
    return std::nullopt;
  for (auto [dim, coefficient] : llvm::enumerate(along)) {
    if (coefficient == 0 || static_cast<int64_t>(dim) == last)
      continue;
    if (coefficient != length || run)
      return std::nullopt;
    run = dim;
  }
  // Neither counts anything else.
  for (const LinearForm &form : llvm::drop_end(forms))
    if (form.coefficients[last] || (run && form.coefficients[*run]))
      return std::nullopt;
  return run;
}

/// The elements of a block of `width` words of dimension `across`, and of as
/// many steps of dimension `run` if it is another one.
void CopyEmitter::emitCutBlock(SmallVectorImpl<Value> &at, int64_t run,
                               int64_t across, int64_t width) {
  int64_t last = destType.getRank() - 1;
  SmallVector<int64_t> dims = {run};
  if (across != run)
    dims.push_back(across);
  OpBuilder::InsertionGuard guard(b);
  for (int64_t dim : dims) {
    Value end = b.createOrFold<arith::MinSIOp>(addIndex(b, at[dim], width),
                                               limits[dim]);
    auto loop = scf::ForOp::create(b, at[dim], end, constant(1));
    b.setInsertionPointToStart(loop.getBody());
    at[dim] = loop.getInductionVar();
  }
  auto loop = scf::ForOp::create(b, zero, limits[last], constant(1));
  b.setInsertionPointToStart(loop.getBody());
  at[last] = loop.getInductionVar();
  emitElement(at);
  at[last] = zero;
}

/// `length` neighbours of the source from the slot's coordinates `at` on, of
/// which `most` are below the limits; zeros where there are none.
Value CopyEmitter::loadPart(ValueRange at, int64_t length, Value most) {
  int64_t dim = sourceType.getRank() - 1;
  Value end = constant(length), low = zero;
  Value high = b.createOrFold<arith::MinSIOp>(most, end);
  if (llvm::is_contained(padded, dim)) {
    Value begin = getSourceIndex(dim, at);
    Value space = b.createOrFold<arith::SubIOp>(sizes[dim], begin);
    high = b.createOrFold<arith::MinSIOp>(high, space);
    low = b.createOrFold<arith::MaxSIOp>(
        b.createOrFold<arith::SubIOp>(zero, begin), zero);
  }
  high = b.createOrFold<arith::MaxSIOp>(high, zero);
  if (Value inside = isInside(at, dim))
    high = b.createOrFold<arith::SelectOp>(inside, high, zero);
  low = b.createOrFold<arith::MinSIOp>(low, high);
  auto maskType = VectorType::get(length, b.getI1Type());
  Value mask = vector::CreateMaskOp::create(b, maskType, ValueRange(high));
  if (low != zero)
    mask = arith::XOrIOp::create(
        b, mask, vector::CreateMaskOp::create(b, maskType, ValueRange(low)));
  auto type = VectorType::get(length, sourceType.getElementType());
  return vector::MaskedLoadOp::create(b, type, source, getSourceIndices(at),
                                      mask, getZero(b, type));
}

void CopyEmitter::emitWordBlock(SmallVectorImpl<Value> &at, int64_t run,
                                int64_t width) {
  int64_t last = destType.getRank() - 1, across = last - 1;
  int64_t length = destType.getDimSize(last);
  Value first = at[run], column = at[across];
  Value firstEnd = addIndex(b, first, width);
  Value whole = both(compare(arith::CmpIPredicate::sle, firstEnd, limits[run]),
                     compare(arith::CmpIPredicate::sle,
                             addIndex(b, column, width), limits[across]));
  // Coordinates are monotone in the block, so its corners decide.
  whole = both(whole, isInside(at));
  SmallVector<Value> corner(at.begin(), at.end());
  corner[run] = addIndex(b, first, width - 1);
  corner[across] = addIndex(b, column, width - 1);
  corner[last] = constant(length - 1);
  whole = both(whole, isInside(corner));

  auto elements = VectorType::get(width * length, sourceType.getElementType());
  auto held = VectorType::get(width * length, destType.getElementType());
  auto words = VectorType::get(width, b.getIntegerType(getWordBits()));
  auto emit = [&](function_ref<Value()> load, bool isWhole) {
    SmallVector<Value> rows;
    for (int64_t i = 0; i < width; ++i) {
      at[across] = addIndex(b, column, i);
      rows.push_back(vector::BitCastOp::create(b, words, widen(load())));
    }
    at[across] = column;
    for (auto [i, row] : llvm::enumerate(transposeVectors(b, rows))) {
      at[run] = addIndex(b, first, i);
      OpBuilder::InsertionGuard guard(b);
      if (!isWhole) {
        Value isBelow =
            compare(arith::CmpIPredicate::slt, at[run], limits[run]);
        auto ifOp = scf::IfOp::create(b, isBelow, /*withElseRegion=*/false);
        b.setInsertionPointToStart(ifOp.thenBlock());
      }
      Value bytes = vector::BitCastOp::create(b, held, row);
      vector::StoreOp::create(b, bytes, collapsed, getCollapsed(at));
    }
    at[run] = first;
  };
  auto ifOp = scf::IfOp::create(b, whole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifOp.thenBlock());
  emit(
      [&]() -> Value {
        return vector::LoadOp::create(b, elements, source,
                                      getSourceIndices(at));
      },
      /*isWhole=*/true);
  b.setInsertionPointToStart(ifOp.elseBlock());
  if (!hasNarrowMasks())
    return emitCutBlock(at, run, across, width);
  Value left =
      mulIndex(b, b.createOrFold<arith::SubIOp>(limits[run], first), length);
  bool hasAll = getConstantIntValue(getAsOpFoldResult(limits[across])) ==
                destType.getDimSize(across);
  emit(
      [&] {
        Value most = left;
        if (!hasAll)
          most = arith::SelectOp::create(
              b, compare(arith::CmpIPredicate::slt, at[across], limits[across]),
              left, zero);
        return loadPart(at, width * length, most);
      },
      /*isWhole=*/false);
}

Value CopyEmitter::isWholeBlock(ArrayRef<Value> at, int64_t run,
                                int64_t width) {
  int64_t last = destType.getRank() - 1;
  SmallVector<Value> corner(at);
  corner[run] = addIndex(b, at[run], width - 1);
  corner[last] = constant(destType.getDimSize(last) - 1);
  Value isLeft = compare(arith::CmpIPredicate::sle, addIndex(b, at[run], width),
                         limits[run]);
  return both(both(isLeft, isInside(at)), isInside(corner));
}

void CopyEmitter::emitWordRows(SmallVectorImpl<Value> &at) {
  int64_t last = destType.getRank() - 1, run = last - 1;
  int64_t length = destType.getDimSize(last);
  int64_t width = context.vectorBits / getWordBits();
  auto elements = VectorType::get(width * length, sourceType.getElementType());
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, run));
  emitLoops(dims, at, [&] {
    auto words = scf::ForOp::create(b, zero, limits[run], constant(width));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(words.getBody());
    Value first = words.getInductionVar();
    at[run] = first;
    at[last] = zero;
    Value whole = isWholeBlock(at, run, width);
    auto ifOp = scf::IfOp::create(b, whole, /*withElseRegion=*/true);
    b.setInsertionPointToStart(ifOp.thenBlock());
    Value all =
        vector::LoadOp::create(b, elements, source, getSourceIndices(at));
    vector::StoreOp::create(b, widen(all), collapsed, getCollapsed(at));
    b.setInsertionPointToStart(ifOp.elseBlock());
    if (!hasNarrowMasks())
      return emitCutBlock(at, run, run, width);
    Value left =
        mulIndex(b, b.createOrFold<arith::SubIOp>(limits[run], first), length);
    Value part = widen(loadPart(at, width * length, left));
    Value mask = vector::CreateMaskOp::create(
        b, VectorType::get(width * length, b.getI1Type()), ValueRange(left));
    vector::MaskedStoreOp::create(b, collapsed, getCollapsed(at), mask, part);
  });
}

void CopyEmitter::emitWordRuns(SmallVectorImpl<Value> &at, int64_t run) {
  int64_t last = destType.getRank() - 1, across = last - 1;
  int64_t width =
      getWidth(destType.getDimSize(across), context.vectorBits / getWordBits());
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < across; ++dim)
    if (dim != run)
      dims.push_back(dim);
  emitLoops(dims, at, [&] {
    auto columns = scf::ForOp::create(b, zero, limits[across], constant(width));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(columns.getBody());
    auto runs = scf::ForOp::create(b, zero, limits[run], constant(width));
    b.setInsertionPointToStart(runs.getBody());
    at[across] = columns.getInductionVar();
    at[run] = runs.getInductionVar();
    emitWordBlock(at, run, width);
  });
}

Value CopyEmitter::loadInterleaved(SmallVectorImpl<Value> &at,
                                   function_ref<Value()> load) {
  int64_t last = destType.getRank() - 1, length = destType.getDimSize(last);
  SmallVector<Value> rows;
  for (int64_t i = 0; i < length; ++i) {
    at[last] = constant(i);
    rows.push_back(widen(load()));
  }
  at[last] = zero;
  // Halves of the rows meet first: 0 with 2, 1 with 3.
  while (rows.size() > 1) {
    size_t half = rows.size() / 2;
    for (size_t i = 0; i < half; ++i)
      rows[i] = vector::InterleaveOp::create(b, rows[i], rows[i + half]);
    rows.resize(half);
  }
  return rows.front();
}

void CopyEmitter::emitLoads(SmallVectorImpl<Value> &at, int64_t run,
                            int64_t across, int64_t width, Value whole,
                            function_ref<void(function_ref<Value()>)> emit) {
  auto elements = VectorType::get(width, sourceType.getElementType());
  auto ifOp = scf::IfOp::create(b, whole, /*withElseRegion=*/true);
  b.setInsertionPointToStart(ifOp.thenBlock());
  emit([&]() -> Value {
    return vector::LoadOp::create(b, elements, source, getSourceIndices(at));
  });
  b.setInsertionPointToStart(ifOp.elseBlock());
  if (!hasNarrowMasks())
    return emitCutBlock(at, run, across, width);
  Value left = b.createOrFold<arith::SubIOp>(limits[run], at[run]);
  emit([&] {
    Value most = left;
    if (across != run) {
      Value isBelow =
          compare(arith::CmpIPredicate::slt, at[across], limits[across]);
      most = arith::SelectOp::create(b, isBelow, left, zero);
    }
    return loadPart(at, width, most);
  });
}

void CopyEmitter::emitTurned(SmallVectorImpl<Value> &at) {
  int64_t last = destType.getRank() - 1, across = last - 1, run = last - 2;
  int64_t length = destType.getDimSize(last);
  // Both sides of a block are within the slot.
  int64_t width =
      getWidth(destType.getDimSize(run), context.vectorBits / getWordBits());
  width = getWidth(destType.getDimSize(across), width);
  auto words = VectorType::get(width, b.getIntegerType(getWordBits()));
  auto bytes = VectorType::get(width * length, destType.getElementType());
  SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, run));
  emitLoops(dims, at, [&] {
    auto steps = scf::ForOp::create(b, zero, limits[across], constant(width));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(steps.getBody());
    auto runs = scf::ForOp::create(b, zero, limits[run], constant(width));
    b.setInsertionPointToStart(runs.getBody());
    Value step = steps.getInductionVar(), first = runs.getInductionVar();
    at[across] = step;
    at[run] = first;
    at[last] = zero;
    auto emit = [&](function_ref<Value()> load) {
      SmallVector<Value> rows;
      for (int64_t i = 0; i < width; ++i) {
        at[across] = addIndex(b, step, i);
        rows.push_back(
            vector::BitCastOp::create(b, words, loadInterleaved(at, load)));
      }
      at[across] = step;
      for (auto [i, row] : llvm::enumerate(transposeVectors(b, rows))) {
        at[run] = addIndex(b, first, i);
        vector::StoreOp::create(b, vector::BitCastOp::create(b, bytes, row),
                                collapsed, getCollapsed(at));
      }
      at[run] = first;
    };
    SmallVector<Value> corner(at.begin(), at.end());
    corner[run] = addIndex(b, first, width - 1);
    corner[across] = addIndex(b, step, width - 1);
    corner[last] = constant(length - 1);
    Value whole = both(both(compare(arith::CmpIPredicate::sle,
                                    addIndex(b, first, width), limits[run]),
                            compare(arith::CmpIPredicate::sle,
                                    addIndex(b, step, width), limits[across])),
                       both(isInside(at), isInside(corner)));
    emitLoads(at, run, across, width, whole, emit);
  });
}

void CopyEmitter::emitInterleaved(SmallVectorImpl<Value> &at) {
  int64_t last = destType.getRank() - 1, run = last - 1;
  int64_t width =
      getWidth(destType.getDimSize(run),
               context.vectorBits / destType.getElementTypeBitWidth());
  // What moves along rows of the source goes innermost, so that a line is read
  // once.
  SmallVector<int64_t> dims;
  for (bool isAlong : {false, true})
    for (int64_t dim = 0; dim < run; ++dim)
      if ((forms.back().coefficients[dim] != 0) == isAlong)
        dims.push_back(dim);
  emitLoops(dims, at, [&] {
    auto columns = scf::ForOp::create(b, zero, limits[run], constant(width));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(columns.getBody());
    Value column = columns.getInductionVar();
    at[run] = column;
    at[last] = zero;
    Value whole = isWholeBlock(at, run, width);
    auto emit = [&](function_ref<Value()> load) {
      Value words = loadInterleaved(at, load);
      vector::StoreOp::create(b, words, collapsed, getCollapsed(at));
    };
    emitLoads(at, run, run, width, whole, emit);
  });
}

Value CopyEmitter::widen(Value elements) {
  return hold(convertElements(b, elements, destType.getElementType()));
}

bool CopyEmitter::copyWords() {
  int64_t rank = destType.getRank(), last = rank - 1;
  // Words of whole elements, which nothing but widens or walks through.
  Type from = sourceType.getElementType(), to = destType.getElementType();
  bool isWidened = from.isInteger() && to.isInteger() &&
                   from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth();
  if (rank < 3 || forms.empty() || !transfer.along.empty() ||
      (from != to && !isWidened))
    return false;
  int64_t length = destType.getDimSize(last);
  if (length < 2 || (getWordBits() != 32 && getWordBits() != 64) ||
      getConstantIntValue(getAsOpFoldResult(limits[last])) != length)
    return false;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(sourceType.getStridesAndOffset(strides, offset)) ||
      strides.back() != 1 || !destType.getLayout().isIdentity())
    return false;
  for (const LinearForm &form : forms)
    if (llvm::any_of(form.coefficients, [](int64_t c) { return c < 0; }))
      return false;
  std::optional<int64_t> run = getWordRun();
  bool isAcross = getRunDim() == last - 1 && !forms.back().coefficients[last];
  bool isTurned = rank > 3 && getRunDim() == last - 2 &&
                  !forms.back().coefficients[last] &&
                  !forms.back().coefficients[last - 1];
  if (!run && !isAcross && !isTurned)
    return false;
  // Words of a row are neighbours.
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim + 2 < rank; ++dim)
    groups.push_back({dim});
  groups.push_back({last - 1, last});
  collapsed = memref::CollapseShapeOp::create(b, dest, groups);
  SmallVector<Value> at(rank, zero);
  if (run == last - 1)
    emitWordRows(at);
  else if (run)
    emitWordRuns(at, *run);
  else if (isAcross)
    emitInterleaved(at);
  else
    emitTurned(at);
  return true;
}

SmallVector<Value> CopyEmitter::getCollapsed(ArrayRef<Value> at) {
  SmallVector<Value> place(at.drop_back());
  place.back() =
      mulIndex(b, place.back(), destType.getDimSize(destType.getRank() - 1));
  return place;
}
