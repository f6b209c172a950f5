//===- Epilogue.cpp - Assembly and verification of epilogues --------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An epilogue is a function of scalars: the accumulator and one element of each
// extra operand in, the elements to store out.

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

ParseResult tracea::parseAuxResults(
    OpAsmParser &parser, SmallVectorImpl<OpAsmParser::UnresolvedOperand> &inits,
    SmallVectorImpl<Type> &types, ArrayAttr &maps, ArrayAttr &kinds) {
  if (failed(parser.parseOptionalKeyword("aux")))
    return success();
  Builder &builder = parser.getBuilder();
  SmallVector<Attribute> parsedMaps, parsedKinds;
  auto parseResult = [&]() -> ParseResult {
    ReductionKind kind = ReductionKind::None;
    StringRef name;
    SMLoc loc = parser.getCurrentLocation();
    if (succeeded(parser.parseOptionalKeyword(&name))) {
      std::optional<ReductionKind> known = symbolizeReductionKind(name);
      if (!known || *known == ReductionKind::None)
        return parser.emitError(loc)
               << "expected 'add', 'max', 'min' or a destination, found '"
               << name << "'";
      kind = *known;
    }
    AffineMapAttr map;
    if (parser.parseOperand(inits.emplace_back()) ||
        parser.parseKeyword("by") || parser.parseAttribute(map))
      return failure();
    parsedMaps.push_back(map);
    parsedKinds.push_back(ReductionKindAttr::get(parser.getContext(), kind));
    return success();
  };
  SMLoc typesLoc;
  if (parser.parseLParen() || parser.parseCommaSeparatedList(parseResult) ||
      parser.parseColon() || parser.getCurrentLocation(&typesLoc) ||
      parser.parseTypeList(types) || parser.parseRParen())
    return failure();
  if (types.size() != inits.size())
    return parser.emitError(typesLoc)
           << "expected " << inits.size()
           << " types of auxiliary results, found " << types.size();
  maps = builder.getArrayAttr(parsedMaps);
  kinds = builder.getArrayAttr(parsedKinds);
  return success();
}

void tracea::printAuxResults(OpAsmPrinter &printer, Operation *op,
                             OperandRange inits, TypeRange types,
                             ArrayAttr maps, ArrayAttr kinds) {
  if (inits.empty())
    return;
  printer << " aux(";
  llvm::interleaveComma(
      llvm::zip(inits, maps, kinds), printer, [&](auto result) {
        auto [init, map, kind] = result;
        ReductionKind reduction = cast<ReductionKindAttr>(kind).getValue();
        if (reduction != ReductionKind::None)
          printer << stringifyReductionKind(reduction) << " ";
        printer << init << " by ";
        printer.printAttribute(map);
      });
  printer << " : ";
  llvm::interleaveComma(types, printer);
  printer << ")";
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

/// The maps take the result's dimensions to distinct ones of each auxiliary
/// result; a result that lacks some is a reduction, and only such a one.
static LogicalResult verifyAuxResult(EpilogueOpInterface op, unsigned index) {
  auto resultType = cast<RankedTensorType>(op.getEpilogueResult().getType());
  auto type =
      cast<RankedTensorType>(op.getAuxInitsMutable()[index].get().getType());
  AffineMap map = getAuxMap(op, index);
  ReductionKind kind = getAuxKind(op, index);
  if (map.getNumDims() != resultType.getRank() || map.getNumSymbols() != 0 ||
      map.getNumResults() != type.getRank() || !map.isProjectedPermutation())
    return op->emitOpError("expected the map of auxiliary result #")
           << index << " to take the " << resultType.getRank()
           << " dimensions of the result to " << type.getRank()
           << " different ones, the rank of its destination, found "
           << AffineMapAttr::get(map);
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    int64_t expected =
        resultType.getDimSize(cast<AffineDimExpr>(expr).getPosition());
    if (!areCompatibleExtents(type.getDimSize(dim), expected))
      return op->emitOpError("expected dimension ")
             << dim << " of auxiliary result #" << index << " to have extent "
             << expected << ", found " << type.getDimSize(dim);
  }
  bool lacks = type.getRank() < resultType.getRank();
  auto position = [](AffineExpr expr) {
    return cast<AffineDimExpr>(expr).getPosition();
  };
  if (lacks &&
      !llvm::is_sorted(map.getResults(), [&](AffineExpr a, AffineExpr b) {
        return position(a) < position(b);
      }))
    return op->emitOpError("expected the map of auxiliary result #")
           << index << ", a reduction, to keep the order of dimensions, found "
           << AffineMapAttr::get(map);
  if (lacks != (kind != ReductionKind::None))
    return op->emitOpError("expected auxiliary result #")
           << index
           << (lacks ? ", which lacks dimensions of the result, to say how "
                       "they are reduced"
                     : ", which has all dimensions of the result, not to be a "
                       "reduction");
  Type element = type.getElementType();
  if (!element.isIntOrFloat() ||
      (lacks && element.getIntOrFloatBitWidth() < 32))
    return op->emitOpError("expected auxiliary result #")
           << index
           << (lacks ? " to be reduced in elements of 32 bits or more"
                     : " to have elements that are numbers")
           << ", found " << element;
  return success();
}

static LogicalResult verifyAuxResults(EpilogueOpInterface op) {
  size_t numInits = op.getAuxInitsMutable().size();
  size_t numMaps = op.getAuxMaps().size(), numKinds = op.getAuxKinds().size();
  if (numMaps != numInits || numKinds != numInits)
    return op->emitOpError(
               "expected one map and one kind per auxiliary result, found ")
           << numMaps << " maps and " << numKinds << " kinds for " << numInits
           << " destinations";
  if (op.getAuxResults().size() != numInits)
    return op->emitOpError("expected one destination per auxiliary result, "
                           "found ")
           << numInits << " for " << op.getAuxResults().size();
  for (unsigned index = 0; index < numInits; ++index)
    if (failed(verifyAuxResult(op, index)))
      return failure();
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
  if (block.empty() || !isa<YieldOp>(block.back()))
    return op->emitOpError("expected the epilogue to end with 'tracea.yield'");
  YieldOp yield = cast<YieldOp>(block.back());
  SmallVector<Value> results = {op.getEpilogueResult()};
  llvm::append_range(results, op.getAuxResults());
  if (yield.getValues().size() != results.size()) {
    InFlightDiagnostic diagnostic =
        op->emitOpError("expected the epilogue to yield ")
        << results.size() << " scalars, one per result, found "
        << yield.getValues().size();
    diagnostic.attachNote(yield.getLoc()) << "yielded here";
    return diagnostic;
  }
  for (auto [index, value] : llvm::enumerate(yield.getValues())) {
    Type expected = getElementTypeOrSelf(results[index].getType());
    if (value.getType() == expected)
      continue;
    InFlightDiagnostic diagnostic =
        op->emitOpError("expected the epilogue to yield ") << expected;
    if (index == 0)
      diagnostic << ", the element type of the result";
    else
      diagnostic << ", the element type of auxiliary result #" << index - 1;
    diagnostic << ", found " << value.getType();
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
  if (failed(verifyAuxResults(op)))
    return failure();
  if (region.empty()) {
    if (!op.getAuxResults().empty())
      return op->emitOpError(
                 "expected no auxiliary results without an epilogue, found ")
             << op.getAuxResults().size();
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

LogicalResult YieldOp::verify() {
  if (getValues().empty())
    return emitOpError("expected at least one scalar");
  return success();
}
