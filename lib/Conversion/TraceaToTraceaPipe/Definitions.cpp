//===- Definitions.cpp - What a kernel's operation says of it -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Definitions.h"
#include "Patches/PackedFilters.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

void Definition::add(Value operand, ArrayRef<AffineExpr> place) {
  operands.push_back(cast<BlockArgument>(kb.getMemRef(operand)).getArgNumber());
  maps.push_back(AffineMapAttr::get(
      AffineMap::get(dims, extents, place, kb.getKernel().getContext())));
}

void Definition::replace(unsigned position, AffineExpr expr) {
  for (Attribute &attr : maps) {
    AffineMap map = cast<AffineMapAttr>(attr).getValue();
    attr = AffineMapAttr::get(map.replace(dim(position), expr, map.getNumDims(),
                                          map.getNumSymbols()));
  }
}

void Definition::addEpilogue(EpilogueOpInterface op) {
  for (auto [extra, map] : llvm::zip(op.getExtras(), op.getEpilogueMaps()))
    add(extra, cast<AffineMapAttr>(map).getValue().getResults());
}

void Definition::set(int64_t factors, unsigned result) {
  KernelOp kernel = kb.getKernel();
  MLIRContext *context = kernel.getContext();
  int64_t number = cast<BlockArgument>(kb.getDest(result)).getArgNumber();
  SmallVector<Attribute> definitions;
  if (ArrayAttr earlier = kernel.getDefinitionsAttr())
    llvm::append_range(definitions, earlier);
  definitions.push_back(DefinitionAttr::get(context, number, factors, operands,
                                            ArrayAttr::get(context, maps)));
  kernel.setDefinitionsAttr(ArrayAttr::get(context, definitions));
}

void mlir::tracea::defineSumOfParts(KernelBuilder &kb, EpilogueOpInterface op,
                                    Value parts) {
  unsigned rank = cast<RankedTensorType>(parts.getType()).getRank() - 1;
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

std::optional<Definition>
mlir::tracea::getConvolutionTerms(KernelBuilder &kb, Conv2DOp op, Value image,
                                  Value filter, unsigned leading,
                                  const PanelForm *panels) {
  constexpr unsigned kRank = 4;
  auto imageType = cast<RankedTensorType>(image.getType());
  auto filterType = cast<RankedTensorType>(op.getFilter().getType());
  bool hasExtents =
      op.getGroups() > 1 && (filterType.isDynamicDim(op.getFilterOutDim()) ||
                             filterType.isDynamicDim(op.getFilterInDim()));
  Definition definition(kb, leading + kRank, 3,
                        hasExtents ? imageType.getRank() + kRank : 0);
  auto dim = [&](unsigned position) {
    return definition.dim(leading + position);
  };
  AffineExpr r = dim(kRank), s = dim(kRank + 1), c = dim(kRank + 2);
  AffineExpr out = dim(op.getChannelDim());
  auto window = [&](unsigned position, unsigned axis, AffineExpr tap) {
    return dim(position) * op.getStrides()[axis] +
           tap * op.getDilations()[axis] - op.getPads()[axis];
  };
  SmallVector<AffineExpr> place(kRank), taps(kRank);
  place[op.getBatchDim()] = dim(op.getBatchDim());
  place[op.getHeightDim()] = window(op.getHeightDim(), 0, r);
  place[op.getWidthDim()] = window(op.getWidthDim(), 1, s);
  place[op.getChannelDim()] = c;
  if (int64_t groups = op.getGroups(); groups > 1) {
    // The extent of the filter, as a number where it is known.
    auto extent = [&](unsigned position) -> AffineExpr {
      int64_t size = filterType.getDimSize(position);
      MLIRContext *context = op.getContext();
      return ShapedType::isDynamic(size)
                 ? getAffineSymbolExpr(imageType.getRank() + position, context)
                 : getAffineConstantExpr(size, context);
    };
    AffineExpr outs = extent(op.getFilterOutDim()).floorDiv(groups);
    // No group has a channel.
    if (outs == 0)
      return std::nullopt;
    AffineExpr group = out.floorDiv(outs);
    if (imageType.getRank() > kRank)
      place.insert(place.begin() + op.getChannelDim(), group);
    else
      place[op.getChannelDim()] = group * extent(op.getFilterInDim()) + c;
  }
  taps[op.getFilterOutDim()] = out;
  taps[op.getFilterHeightDim()] = r;
  taps[op.getFilterWidthDim()] = s;
  taps[op.getFilterInDim()] = c;
  definition.add(image, place);
  if (panels)
    taps = panels->at(taps);
  definition.add(filter, taps);
  return definition;
}

void mlir::tracea::defineConvolution(KernelBuilder &kb, Conv2DOp op,
                                     Value filter, const PanelForm *panels) {
  std::optional<Definition> definition =
      getConvolutionTerms(kb, op, op.getImage(), filter, /*leading=*/0, panels);
  if (!definition)
    return;
  definition->addEpilogue(op);
  definition->set(/*factors=*/2);
}
