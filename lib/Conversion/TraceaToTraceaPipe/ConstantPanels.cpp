//===- ConstantPanels.cpp - Constants in panels of a register tile --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The right operand of a product and a filter are read in panels: what one
// register tile has of them along the result, side by side for each step of the
// sum. Staged in every run that is up to a third of the time where the other
// operand is small. Of a constant the panels are made once, by a kernel that
// uses constants alone, and read where they lie.
//
//===----------------------------------------------------------------------===//

#include "ConstantPanels.h"
#include "Definitions.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Dialect/Tracea/IR/Constants.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// Steps that a tile of the packing kernel copies. Elements that lie apart are
/// gathered one by one, which is code for each: those of one step then.
static int64_t getTileSteps(const PanelForm &form) {
  bool isRow = form.outer == form.type.getRank() - 1 && form.word == 1;
  return isRow ? 16 : 1;
}

bool mlir::tracea::hasConstantPanels(Value tensor, Type element) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return element == type.getElementType() && type.hasStaticShape() &&
         type.getNumElements() > 0 && isConstant(tensor);
}

int64_t PanelForm::getPanels() const {
  return llvm::divideCeilSigned(type.getDimSize(outer), width);
}

SmallVector<AffineExpr> PanelForm::at(ArrayRef<AffineExpr> place) const {
  bool isOne = getPanels() == 1;
  SmallVector<AffineExpr> result = {
      isOne ? getAffineConstantExpr(0, type.getContext())
            : place[outer].floorDiv(width)};
  for (int64_t dim : others)
    result.push_back(place[dim]);
  AffineExpr element = isOne ? place[outer] : place[outer] % width;
  if (word == 1)
    result.append({place[steps], element});
  else
    result.append({place[steps].floorDiv(word), element, place[steps] % word});
  return result;
}

SmallVector<int64_t> PanelForm::getShape() const {
  SmallVector<int64_t> shape = {getPanels()};
  for (int64_t dim : others)
    shape.push_back(type.getDimSize(dim));
  if (word == 1)
    shape.append({type.getDimSize(steps), width});
  else
    shape.append({words, width, word});
  return shape;
}

Value mlir::tracea::viewWords(KernelBuilder &kb, Value packed,
                              ValueRange indices, ArrayRef<int64_t> shape) {
  auto type = cast<MemRefType>(packed.getType());
  int64_t word = type.getShape().back();
  SmallVector<AffineExpr> exprs(type.getRank(), kb.zero());
  for (unsigned dim = 0; dim < 3; ++dim)
    exprs[type.getRank() - 3 + dim] = kb.dim(dim);
  auto layout = StridedLayoutAttr::get(
      type.getContext(), ShapedType::kDynamic,
      {type.getDimSize(type.getRank() - 2) * word, word, 1});
  return ViewOp::create(kb.builder(),
                        MemRefType::get(shape, type.getElementType(), layout,
                                        type.getMemorySpace()),
                        packed, indices, kb.map(3, exprs));
}

Value mlir::tracea::packPanels(KernelRewriter &rewriter, Operation *op,
                               Value source, const PanelForm &form) {
  RankedTensorType type = form.type;
  Type element = type.getElementType(), held = form.getHeld();
  int64_t steps = type.getDimSize(form.steps);
  SmallVector<int64_t> shape = form.getShape();
  int64_t tileSteps = getTileSteps(form);
  int64_t stepDim = 1 + static_cast<int64_t>(form.others.size());
  rewriter.setInsertionPoint(op);
  Value packed = tensor::EmptyOp::create(rewriter, op->getLoc(), shape, held);

  KernelBuilder kb(rewriter, op, source, packed);
  ImplicitLocOpBuilder &b = kb.builder();
  IndexMath &ix = kb.index();
  // The element of the source at an index of the panels.
  auto place = [&](AffineExpr outer, ArrayRef<AffineExpr> others,
                   AffineExpr step) {
    SmallVector<AffineExpr> exprs(type.getRank());
    exprs[form.outer] = outer;
    for (auto [dim, expr] : llvm::zip_equal(form.others, others))
      exprs[dim] = expr;
    exprs[form.steps] = step;
    return exprs;
  };
  SmallVector<AffineExpr> dims;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    dims.push_back(kb.dim(dim));
  Definition definition(kb, shape.size(), 0);
  definition.add(source, place(dims[0] * form.width + dims[stepDim + 1],
                               ArrayRef(dims).slice(1, stepDim - 1),
                               form.word == 1 ? dims[stepDim]
                                              : dims[stepDim] * form.word +
                                                    dims[stepDim + 2]));
  definition.set(/*factors=*/1);

  SmallVector<Value> extents;
  for (int64_t extent : ArrayRef(shape).take_front(stepDim))
    extents.push_back(ix.constant(extent));
  extents.push_back(
      ix.constant(llvm::divideCeilSigned(shape[stepDim], tileSteps)));
  Block::BlockArgListType grid = kb.beginTiles(extents);
  Value first = ix.mul(grid[0], form.width);
  Value step = ix.mul(grid[stepDim], tileSteps);
  SmallVector<Value> from(type.getRank());
  from[form.outer] = first;
  for (auto [dim, index] :
       llvm::zip_equal(form.others, grid.slice(1, stepDim - 1)))
    from[dim] = index;
  Value packedLeft = ix.sub(ix.constant(shape[stepDim]), step);
  Value outerLeft = ix.sub(kb.getDim(source, form.outer), first);
  Value zero =
      arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(element)));
  SmallVector<AffineExpr> noOthers(form.others.size(), kb.zero());
  SmallVector<Value> to(grid.take_front(stepDim));
  to.append({step, ix.constant(0)});
  SmallVector<AffineExpr> target(shape.size(), kb.zero());
  target[stepDim] = kb.dim(0);
  target[stepDim + 1] = kb.dim(1);
  // Elements of words at the same place, one place after the other.
  auto copy = [&](Value inWord) {
    // Of elements as many are left of the source as of the panels.
    Value begin = step, left = packedLeft;
    SmallVector<Value> at(to);
    if (form.word > 1) {
      begin = ix.add(ix.mul(step, form.word), inWord);
      left =
          ix.ceilDiv(ix.max(ix.sub(ix.constant(steps), begin), 0), form.word);
      at.push_back(inWord);
    }
    from[form.steps] = begin;
    Value elements = LoadOp::create(
        b, kb.getTileType({tileSteps, form.width}, element),
        kb.getMemRef(source), from, ValueRange{left, outerLeft}, zero,
        kb.map(2, place(kb.dim(1), noOthers, kb.dim(0) * form.word)));
    StoreOp::create(b, convertTile(b, elements, held), kb.getDest(packed), at,
                    ValueRange{packedLeft, ix.constant(form.width)},
                    kb.map(2, target));
  };
  if (form.word == 1)
    copy(ix.constant(0));
  else
    kb.loop(ix.constant(form.word), 1, copy);
  return kb.launch().front();
}
