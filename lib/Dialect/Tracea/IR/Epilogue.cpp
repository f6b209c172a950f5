//===- Epilogue.cpp - Assembly and verification of epilogues --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An epilogue is a function of scalars: the accumulator and one element of each
// extra operand in, the element to store out.

#include "Epilogue.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"

using namespace mlir;
using namespace mlir::tracea;

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

ParseResult
tracea::parseEpilogue(OpAsmParser &parser,
                      SmallVectorImpl<OpAsmParser::UnresolvedOperand> &extras,
                      SmallVectorImpl<Type> &types, ArrayAttr &maps,
                      Region &epilogue) {
  if (failed(parser.parseOptionalKeyword("epilogue")))
    return success();
  if (succeeded(parser.parseOptionalLParen())) {
    SmallVector<Attribute> parsedMaps;
    auto parseExtra = [&]() -> ParseResult {
      AffineMapAttr map;
      if (parser.parseOperand(extras.emplace_back()) ||
          parser.parseKeyword("by") || parser.parseAttribute(map))
        return failure();
      parsedMaps.push_back(map);
      return success();
    };
    SMLoc typesLoc;
    if (parser.parseCommaSeparatedList(parseExtra) || parser.parseColon() ||
        parser.getCurrentLocation(&typesLoc) || parser.parseTypeList(types) ||
        parser.parseRParen())
      return failure();
    if (types.size() != extras.size())
      return parser.emitError(typesLoc)
             << "expected " << extras.size()
             << " types of extra operands, found " << types.size();
    maps = parser.getBuilder().getArrayAttr(parsedMaps);
  }
  return parser.parseRegion(epilogue, /*arguments=*/{},
                            /*enableNameShadowing=*/true);
}

void tracea::printEpilogue(OpAsmPrinter &printer, Operation *op,
                           OperandRange extras, TypeRange types, ArrayAttr maps,
                           Region &epilogue) {
  if (epilogue.empty())
    return;
  printer << " epilogue";
  if (!extras.empty()) {
    printer << "(";
    llvm::interleaveComma(llvm::zip(extras, maps), printer,
                          [&](auto extraAndMap) {
                            printer << std::get<0>(extraAndMap) << " by ";
                            printer.printAttribute(std::get<1>(extraAndMap));
                          });
    printer << " : ";
    llvm::interleaveComma(types, printer);
    printer << ")";
  }
  printer << " ";
  printer.printRegion(epilogue, /*printEntryBlockArgs=*/true,
                      /*printBlockTerminators=*/true);
}

void tracea::detail::nameEpilogueArguments(Region &region,
                                           OpAsmSetValueNameFn setNameFn) {
  if (region.empty())
    return;
  for (BlockArgument argument : region.getArguments())
    setNameFn(argument, argument.getArgNumber() == 0 ? "acc" : "in");
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// The maps take the result's dimensions to those of each extra operand: every
/// result a distinct dimension, or 0 where the operand is broadcast.
static LogicalResult verifyExtras(EpilogueOpInterface op) {
  RankedTensorType resultType =
      cast<RankedTensorType>(op.getEpilogueResult().getType());
  OperandRange extras = op.getExtras();
  size_t numMaps = op.getEpilogueMaps().size();
  if (extras.size() != numMaps)
    return op->emitOpError(
               "expected one epilogue map per extra operand, found ")
           << numMaps << " maps for " << extras.size() << " operands";

  for (auto [index, extra] : llvm::enumerate(extras)) {
    RankedTensorType type = cast<RankedTensorType>(extra.getType());
    AffineMap map = getEpilogueMap(op, index);
    if (map.getNumDims() != resultType.getRank() || map.getNumSymbols() != 0)
      return op->emitOpError("expected the map of extra operand #")
             << index << " to take the " << resultType.getRank()
             << " dimensions of the result, found " << AffineMapAttr::get(map);
    if (map.getNumResults() != type.getRank())
      return op->emitOpError("expected the map of extra operand #")
             << index << " to have " << type.getRank()
             << " results, the rank of the operand, found "
             << AffineMapAttr::get(map);
    llvm::SmallDenseSet<unsigned> used;
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      int64_t expected = 1;
      if (AffineDimExpr position = dyn_cast<AffineDimExpr>(expr)) {
        if (!used.insert(position.getPosition()).second)
          return op->emitOpError("expected the map of extra operand #")
                 << index << " to use each dimension at most once, found "
                 << AffineMapAttr::get(map);
        expected = resultType.getDimSize(position.getPosition());
      } else if (AffineConstantExpr constant =
                     dyn_cast<AffineConstantExpr>(expr);
                 !constant || constant.getValue() != 0) {
        return op->emitOpError("expected the map of extra operand #")
               << index << " to yield dimensions of the result or 0, found "
               << AffineMapAttr::get(map);
      }
      if (!areCompatibleExtents(type.getDimSize(dim), expected))
        return op->emitOpError("expected dimension ")
               << dim << " of extra operand #" << index << " to have extent "
               << expected << ", found " << type.getDimSize(dim);
    }
  }
  return success();
}

static LogicalResult verifyArguments(EpilogueOpInterface op, Block &block) {
  OperandRange extras = op.getExtras();
  if (block.getNumArguments() != extras.size() + 1)
    return op->emitOpError("expected the epilogue to take ")
           << extras.size() + 1
           << " arguments, the accumulator and one per extra operand, found "
           << block.getNumArguments();
  for (BlockArgument argument : block.getArguments()) {
    unsigned number = argument.getArgNumber();
    Type expected = number == 0
                        ? op.getAccumulatorType()
                        : getElementTypeOrSelf(extras[number - 1].getType());
    if (argument.getType() != expected)
      return op->emitOpError("expected argument #")
             << number << " of the epilogue to be " << expected << ", found "
             << argument.getType();
  }
  return success();
}

static LogicalResult verifyBody(EpilogueOpInterface op, Block &block) {
  Type expected = getElementTypeOrSelf(op.getEpilogueResult().getType());
  if (block.empty() || !isa<YieldOp>(block.back()))
    return op->emitOpError("expected the epilogue to end with 'tracea.yield'");
  YieldOp yield = cast<YieldOp>(block.back());
  if (yield.getValue().getType() != expected) {
    InFlightDiagnostic diagnostic =
        op->emitOpError("expected the epilogue to yield ")
        << expected << ", the element type of the result, found "
        << yield.getValue().getType();
    diagnostic.attachNote(yield.getLoc()) << "yielded here";
    return diagnostic;
  }
  for (Operation &inner : block.without_terminator()) {
    if (!inner.hasTrait<OpTrait::ConstantLike>() &&
        !OpTrait::hasElementwiseMappableTraits(&inner)) {
      InFlightDiagnostic diagnostic =
          op->emitOpError("expected only elementwise operations and constants "
                          "in the epilogue, found '")
          << inner.getName() << "'";
      diagnostic.attachNote(inner.getLoc()) << "used here";
      return diagnostic;
    }
    for (Type type : inner.getResultTypes()) {
      if (!type.isIntOrIndexOrFloat()) {
        InFlightDiagnostic diagnostic =
            op->emitOpError("expected only scalars in the epilogue, found ")
            << type;
        diagnostic.attachNote(inner.getLoc()) << "defined here";
        return diagnostic;
      }
    }
  }
  return success();
}

LogicalResult tracea::detail::verifyEpilogue(Operation *operation) {
  EpilogueOpInterface op = cast<EpilogueOpInterface>(operation);
  Region &region = op.getEpilogue();
  if (region.empty()) {
    if (!op.getExtras().empty())
      return op->emitOpError(
                 "expected no extra operands without an epilogue, found ")
             << op.getExtras().size();
    if (!op.getEpilogueMaps().empty())
      return op->emitOpError(
                 "expected no epilogue maps without an epilogue, found ")
             << op.getEpilogueMaps().size();
    Type accumulator = op.getAccumulatorType();
    Type stored = getElementTypeOrSelf(op.getEpilogueResult().getType());
    if (!isImplicitlyConvertible(accumulator, stored))
      return op->emitOpError("expected an epilogue or a result that an "
                             "accumulator of type ")
             << accumulator << " converts to, found " << stored;
    return success();
  }
  if (!region.hasOneBlock())
    return op->emitOpError("expected one block in the epilogue, found ")
           << region.getBlocks().size();
  if (failed(verifyExtras(op)) || failed(verifyArguments(op, region.front())))
    return failure();
  return verifyBody(op, region.front());
}
