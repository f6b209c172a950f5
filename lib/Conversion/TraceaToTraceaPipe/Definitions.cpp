//===- Definitions.cpp - What a kernel's operation says of it -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Definitions.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

namespace {
/// Collects the operands of a definition.
class Definition {
public:
  /// Of a result of rank `rank`, summed over `walked` dimensions.
  Definition(KernelBuilder &kb, unsigned rank, unsigned walked)
      : kb(kb), rank(rank), dims(rank + walked) {}

  AffineExpr dim(unsigned position) { return kb.dim(position); }
  void add(Value operand, ArrayRef<AffineExpr> place) {
    operands.push_back(
        cast<BlockArgument>(kb.getMemRef(operand)).getArgNumber());
    maps.push_back(AffineMapAttr::get(kb.map(dims, place)));
  }
  /// The operands of an epilogue; `leading` dimensions of the result come
  /// before those that their maps speak of.
  void addEpilogue(EpilogueOpInterface op, unsigned leading = 0) {
    SmallVector<AffineExpr> moved;
    for (unsigned position = leading; position < rank; ++position)
      moved.push_back(dim(position));
    for (auto [extra, map] : llvm::zip(op.getExtras(), op.getEpilogueMaps())) {
      SmallVector<AffineExpr> place;
      for (AffineExpr expr : cast<AffineMapAttr>(map).getValue().getResults())
        place.push_back(expr.replaceDims(moved));
      add(extra, place);
    }
  }
  /// Says it of a result of the kernel.
  void set(int64_t factors, unsigned result = 0) {
    KernelOp kernel = kb.getKernel();
    MLIRContext *context = kernel.getContext();
    int64_t number = cast<BlockArgument>(kb.getDest(result)).getArgNumber();
    SmallVector<Attribute> definitions;
    if (ArrayAttr earlier = kernel.getDefinitionsAttr())
      llvm::append_range(definitions, earlier);
    definitions.push_back(DefinitionAttr::get(
        context, number, factors, operands, ArrayAttr::get(context, maps)));
    kernel.setDefinitionsAttr(ArrayAttr::get(context, definitions));
  }

private:
  KernelBuilder &kb;
  unsigned rank, dims;
  SmallVector<int64_t> operands;
  SmallVector<Attribute> maps;
};
} // namespace

/// The operands of a product whose result has `leading` dimensions more.
static Definition getProduct(KernelBuilder &kb, GemmOp op, Value lhs, Value rhs,
                             unsigned leading) {
  GemmShape shape(op);
  unsigned rank = leading + shape.resultRank;
  Definition definition(kb, rank, 1);
  AffineExpr m = definition.dim(rank - 2), n = definition.dim(rank - 1),
             k = definition.dim(rank);
  auto place = [&](int64_t batchRank, AffineExpr row, AffineExpr column,
                   bool isTransposed) {
    SmallVector<AffineExpr> exprs;
    for (int64_t batch = 0; batch < batchRank; ++batch)
      exprs.push_back(definition.dim(leading + batch));
    if (isTransposed)
      std::swap(row, column);
    exprs.push_back(row);
    exprs.push_back(column);
    return exprs;
  };
  definition.add(lhs, place(shape.lhsBatch, m, k, op.getTransposeLhs()));
  definition.add(rhs, place(shape.rhsBatch, k, n, op.getTransposeRhs()));
  return definition;
}

void mlir::tracea::defineProduct(KernelBuilder &kb, GemmOp op, Value lhs,
                                 Value rhs) {
  Definition definition = getProduct(kb, op, lhs, rhs, /*leading=*/0);
  definition.addEpilogue(op);
  definition.set(/*factors=*/2);
}

void mlir::tracea::definePartsOfProduct(KernelBuilder &kb, GemmOp op, Value lhs,
                                        Value rhs) {
  getProduct(kb, op, lhs, rhs, /*leading=*/1).set(/*factors=*/2);
}

void mlir::tracea::defineSumOfParts(KernelBuilder &kb, GemmOp op, Value parts) {
  unsigned rank = GemmShape(op).resultRank;
  Definition definition(kb, rank, 1);
  SmallVector<AffineExpr> place{definition.dim(rank)};
  for (unsigned position = 0; position < rank; ++position)
    place.push_back(definition.dim(position));
  definition.add(parts, place);
  definition.addEpilogue(op);
  definition.set(/*factors=*/1);
}

void mlir::tracea::defineCopy(KernelBuilder &kb, Value source,
                              unsigned result) {
  unsigned rank = cast<RankedTensorType>(source.getType()).getRank();
  Definition definition(kb, rank, 0);
  SmallVector<AffineExpr> place;
  for (unsigned position = 0; position < rank; ++position)
    place.push_back(definition.dim(position));
  definition.add(source, place);
  definition.set(/*factors=*/1, result);
}

void mlir::tracea::defineConvolution(KernelBuilder &kb, Conv2DOp op) {
  constexpr unsigned kRank = 4;
  Definition definition(kb, kRank, 3);
  AffineExpr r = definition.dim(kRank), s = definition.dim(kRank + 1),
             c = definition.dim(kRank + 2);
  AffineExpr out = definition.dim(op.getChannelDim());
  auto window = [&](unsigned dim, unsigned axis, AffineExpr tap) {
    return definition.dim(dim) * op.getStrides()[axis] +
           tap * op.getDilations()[axis] - op.getPads()[axis];
  };
  AffineExpr channel = c;
  if (int64_t groups = op.getGroups(); groups > 1) {
    auto filter = cast<RankedTensorType>(op.getFilter().getType());
    int64_t outs = filter.getDimSize(op.getFilterOutDim());
    int64_t ins = filter.getDimSize(op.getFilterInDim());
    // Which group a channel is of is no affine map of unknown extents.
    if (ShapedType::isDynamic(outs) || ShapedType::isDynamic(ins) ||
        outs < groups)
      return;
    channel = out.floorDiv(outs / groups) * ins + c;
  }
  SmallVector<AffineExpr> image(kRank), filter(kRank);
  image[op.getBatchDim()] = definition.dim(op.getBatchDim());
  image[op.getHeightDim()] = window(op.getHeightDim(), 0, r);
  image[op.getWidthDim()] = window(op.getWidthDim(), 1, s);
  image[op.getChannelDim()] = channel;
  filter[op.getFilterOutDim()] = out;
  filter[op.getFilterHeightDim()] = r;
  filter[op.getFilterWidthDim()] = s;
  filter[op.getFilterInDim()] = c;
  definition.add(op.getImage(), image);
  definition.add(op.getFilter(), filter);
  definition.addEpilogue(op);
  definition.set(/*factors=*/2);
}
