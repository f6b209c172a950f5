//===- Epilogue.cpp - Assembly and verification of scalar regions ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An epilogue is a function of scalars: the accumulator and one element of each
// extra operand in, the elements to store out. A prologue takes one element of
// an input in the accumulator's place, and yields what is reduced. A finish
// takes what an epilogue yields, all but the first of it reduced along the row.

#include "Epilogue.h"
#include "Verification.h"
#include "tracea/Dialect/Tracea/IR/TraceaUtils.h"

using namespace mlir;
using namespace mlir::tracea;

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

/// Nothing where the keyword does not come, otherwise the operands with their
/// maps and types, if any, and the region.
static ParseResult
parseScalarRegion(OpAsmParser &parser, StringRef keyword, StringRef operandName,
                  SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                  SmallVectorImpl<Type> &types, ArrayAttr &maps,
                  Region &region) {
  if (failed(parser.parseOptionalKeyword(keyword)))
    return success();
  if (succeeded(parser.parseOptionalLParen())) {
    SmallVector<Attribute> parsedMaps;
    auto parseOperand = [&]() -> ParseResult {
      AffineMapAttr map;
      if (parser.parseOperand(operands.emplace_back()) ||
          parser.parseKeyword("by") || parser.parseAttribute(map))
        return failure();
      parsedMaps.push_back(map);
      return success();
    };
    SMLoc typesLoc;
    if (parser.parseCommaSeparatedList(parseOperand) || parser.parseColon() ||
        parser.getCurrentLocation(&typesLoc) || parser.parseTypeList(types) ||
        parser.parseRParen())
      return failure();
    if (types.size() != operands.size())
      return parser.emitError(typesLoc)
             << "expected " << operands.size() << " types of " << operandName
             << ", found " << types.size();
    maps = parser.getBuilder().getArrayAttr(parsedMaps);
  }
  return parser.parseRegion(region, /*arguments=*/{},
                            /*enableNameShadowing=*/true);
}

static void printScalarRegion(OpAsmPrinter &printer, StringRef keyword,
                              OperandRange operands, TypeRange types,
                              ArrayAttr maps, Region &region) {
  if (region.empty())
    return;
  printer << " " << keyword;
  if (!operands.empty()) {
    printer << "(";
    llvm::interleaveComma(llvm::zip(operands, maps), printer,
                          [&](auto operandAndMap) {
                            printer << std::get<0>(operandAndMap) << " by ";
                            printer.printAttribute(std::get<1>(operandAndMap));
                          });
    printer << " : ";
    llvm::interleaveComma(types, printer);
    printer << ")";
  }
  printer << " ";
  printer.printRegion(region, /*printEntryBlockArgs=*/true,
                      /*printBlockTerminators=*/true);
}

ParseResult mlir::tracea::parseEpilogue(
    OpAsmParser &parser,
    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &extras,
    SmallVectorImpl<Type> &types, ArrayAttr &maps, Region &epilogue) {
  return parseScalarRegion(parser, "epilogue", "extra operands", extras, types,
                           maps, epilogue);
}

void mlir::tracea::printEpilogue(OpAsmPrinter &printer, Operation *op,
                                 OperandRange extras, TypeRange types,
                                 ArrayAttr maps, Region &epilogue) {
  printScalarRegion(printer, "epilogue", extras, types, maps, epilogue);
}

ParseResult mlir::tracea::parsePrologue(
    OpAsmParser &parser,
    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
    SmallVectorImpl<Type> &types, ArrayAttr &maps, Region &prologue) {
  return parseScalarRegion(parser, "prologue", "prologue operands", operands,
                           types, maps, prologue);
}

void mlir::tracea::printPrologue(OpAsmPrinter &printer, Operation *op,
                                 OperandRange operands, TypeRange types,
                                 ArrayAttr maps, Region &prologue) {
  printScalarRegion(printer, "prologue", operands, types, maps, prologue);
}

ParseResult mlir::tracea::parseAuxResults(
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

void mlir::tracea::printAuxResults(OpAsmPrinter &printer, Operation *op,
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

ParseResult mlir::tracea::parseFinish(OpAsmParser &parser, ArrayAttr &kinds,
                                      Region &finish) {
  if (failed(parser.parseOptionalKeyword("finish")))
    return success();
  SmallVector<Attribute> parsed;
  auto parseKind = [&]() -> ParseResult {
    StringRef name;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&name))
      return failure();
    std::optional<ReductionKind> kind = symbolizeReductionKind(name);
    if (!kind || *kind == ReductionKind::None)
      return parser.emitError(loc)
             << "expected 'add', 'max' or 'min', found '" << name << "'";
    parsed.push_back(ReductionKindAttr::get(parser.getContext(), *kind));
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseKind))
    return failure();
  kinds = parser.getBuilder().getArrayAttr(parsed);
  return parser.parseRegion(finish, /*arguments=*/{},
                            /*enableNameShadowing=*/true);
}

void mlir::tracea::printFinish(OpAsmPrinter &printer, Operation *op,
                               ArrayAttr kinds, Region &finish) {
  if (finish.empty())
    return;
  printer << " finish [";
  llvm::interleaveComma(kinds.getAsRange<ReductionKindAttr>(), printer,
                        [&](ReductionKindAttr kind) {
                          printer << stringifyReductionKind(kind.getValue());
                        });
  printer << "] ";
  printer.printRegion(finish, /*printEntryBlockArgs=*/true,
                      /*printBlockTerminators=*/true);
}

void mlir::tracea::detail::nameScalarArguments(Region &region,
                                               OpAsmSetValueNameFn setNameFn) {
  if (region.empty())
    return;
  auto row = dyn_cast<RowOpInterface>(region.getParentOp());
  StringRef first = "acc", others = "in";
  if (row && &region == &row.getPrologue())
    first = "x";
  else if (row && &region == &row.getFinish())
    first = "y", others = "row";
  for (BlockArgument argument : region.getArguments())
    setNameFn(argument, argument.getArgNumber() == 0 ? first : others);
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

namespace {
/// A region with operands, and how messages speak of it.
struct ScalarRegion {
  Operation *op;
  StringRef name;        // "the epilogue"
  StringRef mapName;     // "epilogue map"
  StringRef operandName; // "extra operand"
  StringRef firstName;   // "the accumulator"
  StringRef indexedName; // "the result"
  RankedTensorType indexed;
  Type firstType;
  OperandRange operands;
  ArrayAttr maps;

  /// The maps take the dimensions of what is indexed to those of each operand:
  /// every result a distinct dimension, or 0 where the operand is broadcast.
  LogicalResult verifyOperands() const;
  LogicalResult verifyArguments(Block &block) const;
  /// Of an operation without `what`, the region with its article.
  LogicalResult verifyEmpty(StringRef what) const;
};
} // namespace

LogicalResult ScalarRegion::verifyOperands() const {
  if (operands.size() != maps.size())
    return op->emitOpError("expected one ")
           << mapName << " per " << operandName << ", found " << maps.size()
           << " maps for " << operands.size() << " operands";

  for (auto [index, operand, attr] : llvm::enumerate(operands, maps)) {
    auto type = cast<RankedTensorType>(operand.getType());
    AffineMap map = cast<AffineMapAttr>(attr).getValue();
    auto fail = [&, index = index, attr = attr](const Twine &expected) {
      return op->emitOpError("expected the map of ")
             << operandName << " #" << index << " " << expected << ", found "
             << attr;
    };
    if (map.getNumDims() != indexed.getRank() || map.getNumSymbols() != 0)
      return fail("to take the " + Twine(indexed.getRank()) +
                  " dimensions of " + indexedName);
    if (map.getNumResults() != type.getRank())
      return fail("to have " + Twine(type.getRank()) +
                  " results, the rank of the operand");
    llvm::SmallDenseSet<unsigned> used;
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      int64_t expected = 1;
      if (AffineDimExpr position = dyn_cast<AffineDimExpr>(expr)) {
        if (!used.insert(position.getPosition()).second)
          return fail("to use each dimension at most once");
        expected = indexed.getDimSize(position.getPosition());
      } else if (AffineConstantExpr constant =
                     dyn_cast<AffineConstantExpr>(expr);
                 !constant || constant.getValue() != 0) {
        return fail("to yield dimensions of " + indexedName + " or 0");
      }
      if (!areCompatibleExtents(type.getDimSize(dim), expected))
        return op->emitOpError("expected dimension ")
               << dim << " of " << operandName << " #" << index
               << " to have extent " << expected << ", found "
               << type.getDimSize(dim);
    }
  }
  return success();
}

LogicalResult ScalarRegion::verifyArguments(Block &block) const {
  if (block.getNumArguments() != operands.size() + 1)
    return op->emitOpError("expected ")
           << name << " to take " << operands.size() + 1 << " arguments, "
           << firstName << " and one per " << operandName << ", found "
           << block.getNumArguments();
  for (BlockArgument argument : block.getArguments()) {
    unsigned number = argument.getArgNumber();
    Type expected = number == 0
                        ? firstType
                        : getElementTypeOrSelf(operands[number - 1].getType());
    if (argument.getType() != expected)
      return op->emitOpError("expected argument #")
             << number << " of " << name << " to be " << expected << ", found "
             << argument.getType();
  }
  return success();
}

/// Numbers of scalars only, from elementwise operations.
static LogicalResult verifyBody(Operation *op, StringRef name, Block &block) {
  for (Operation &inner : block.without_terminator()) {
    if (!inner.hasTrait<OpTrait::ConstantLike>() &&
        !OpTrait::hasElementwiseMappableTraits(&inner)) {
      InFlightDiagnostic diagnostic =
          op->emitOpError("expected only elementwise operations and constants "
                          "in ")
          << name << ", found '" << inner.getName() << "'";
      diagnostic.attachNote(inner.getLoc()) << "used here";
      return diagnostic;
    }
    for (Type type : inner.getResultTypes()) {
      if (!type.isIntOrIndexOrFloat()) {
        InFlightDiagnostic diagnostic = op->emitOpError("expected only scalars "
                                                        "in ")
                                        << name << ", found " << type;
        diagnostic.attachNote(inner.getLoc()) << "defined here";
        return diagnostic;
      }
    }
  }
  return success();
}

LogicalResult ScalarRegion::verifyEmpty(StringRef what) const {
  if (!operands.empty())
    return op->emitOpError("expected no ")
           << operandName << "s without " << what << ", found "
           << operands.size();
  if (!maps.empty())
    return op->emitOpError("expected no ")
           << mapName << "s without " << what << ", found " << maps.size();
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

/// Behind a finish's element a scalar for each reduction, of a type that a row
/// can be reduced in.
static LogicalResult verifyReduced(RowOpInterface op, YieldOp yield) {
  size_t expected = 1 + op.getFinishKinds().size();
  if (yield.getValues().size() != expected) {
    InFlightDiagnostic diagnostic =
        op->emitOpError("expected the epilogue to yield ")
        << expected << " scalars, the element and one per reduction of the "
        << "finish, found " << yield.getValues().size();
    diagnostic.attachNote(yield.getLoc()) << "yielded here";
    return diagnostic;
  }
  for (auto [index, value] : llvm::enumerate(yield.getValues())) {
    Type type = value.getType();
    if (type.isIntOrFloat() &&
        (index == 0 || type.getIntOrFloatBitWidth() >= 32))
      continue;
    InFlightDiagnostic diagnostic =
        op->emitOpError("expected the epilogue to yield ")
        << (index == 0 ? "a number as the element"
                       : "a number of 32 bits or more to be reduced")
        << ", found " << type;
    diagnostic.attachNote(yield.getLoc()) << "yielded here";
    return diagnostic;
  }
  return success();
}

static LogicalResult verifyYield(EpilogueOpInterface op, Block &block) {
  if (block.empty() || !isa<YieldOp>(block.back()))
    return op->emitOpError("expected the epilogue to end with 'tracea.yield'");
  YieldOp yield = cast<YieldOp>(block.back());
  if (hasFinish(op))
    return verifyReduced(cast<RowOpInterface>(op.getOperation()), yield);
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
  return success();
}

LogicalResult mlir::tracea::detail::verifyEpilogue(Operation *operation) {
  EpilogueOpInterface op = cast<EpilogueOpInterface>(operation);
  Region &region = op.getEpilogue();
  if (failed(verifyAuxResults(op)))
    return failure();
  ScalarRegion scalars{op,
                       "the epilogue",
                       "epilogue map",
                       "extra operand",
                       "the accumulator",
                       "the result",
                       cast<RankedTensorType>(op.getEpilogueResult().getType()),
                       op.getAccumulatorType(),
                       op.getExtras(),
                       op.getEpilogueMaps()};
  if (region.empty()) {
    if (!op.getAuxResults().empty())
      return op->emitOpError(
                 "expected no auxiliary results without an epilogue, found ")
             << op.getAuxResults().size();
    if (failed(scalars.verifyEmpty("an epilogue")))
      return failure();
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
  Block &block = region.front();
  if (failed(scalars.verifyOperands()) ||
      failed(scalars.verifyArguments(block)) || failed(verifyYield(op, block)))
    return failure();
  return verifyBody(op, scalars.name, block);
}

/// The element of the row, a float, and a scalar of each kept result's type.
static LogicalResult verifyYield(RowOpInterface op, Block &block) {
  if (block.empty() || !isa<YieldOp>(block.back()))
    return op->emitOpError("expected the prologue to end with 'tracea.yield'");
  YieldOp yield = cast<YieldOp>(block.back());
  auto fail = [&](const Twine &expected, auto found) {
    InFlightDiagnostic diagnostic =
        op->emitOpError("expected the prologue to yield ")
        << expected << ", found " << found;
    diagnostic.attachNote(yield.getLoc()) << "yielded here";
    return diagnostic;
  };
  size_t expected = 1 + op.getKept().size();
  if (yield.getValues().size() != expected)
    return fail(Twine(expected) +
                    " scalars, the element of the row and one per kept result",
                yield.getValues().size());
  if (!isa<FloatType>(yield.getValue().getType()))
    return fail("a float as the element of the row",
                yield.getValue().getType());
  for (auto [index, value, kept] :
       llvm::enumerate(yield.getValues().drop_front(), op.getKept()))
    if (value.getType() != getElementTypeOrSelf(kept.getType()))
      return fail("the element type of kept result #" + Twine(index),
                  value.getType());
  return success();
}

LogicalResult mlir::tracea::detail::verifyPrologue(Operation *operation) {
  RowOpInterface op = cast<RowOpInterface>(operation);
  Region &region = op.getPrologue();
  auto input = cast<RankedTensorType>(op.getInput().getType());
  if (op.getKept().size() != op.getKeptInitsMutable().size())
    return op->emitOpError("expected one destination per kept result, found ")
           << op.getKeptInitsMutable().size() << " for " << op.getKept().size();
  ScalarRegion scalars{op,
                       "the prologue",
                       "prologue map",
                       "prologue operand",
                       "the input's element",
                       "the input",
                       input,
                       input.getElementType(),
                       op.getPrologueOperands(),
                       op.getPrologueMaps()};
  if (region.empty()) {
    if (!op.getKept().empty())
      return op->emitOpError(
                 "expected no kept results without a prologue, found ")
             << op.getKept().size();
    return scalars.verifyEmpty("a prologue");
  }
  if (!region.hasOneBlock())
    return op->emitOpError("expected one block in the prologue, found ")
           << region.getBlocks().size();
  for (auto [index, kept] : llvm::enumerate(op.getKept())) {
    std::string name = ("kept result #" + Twine(index)).str();
    auto type = cast<RankedTensorType>(kept.getType());
    if (failed(verifyRank(op, name, type, input.getRank())) ||
        failed(verifySameShape(op, "the input", input.getShape(), name,
                               type.getShape())))
      return failure();
  }
  Block &block = region.front();
  if (failed(scalars.verifyOperands()) ||
      failed(scalars.verifyArguments(block)) || failed(verifyYield(op, block)))
    return failure();
  return verifyBody(op, scalars.name, block);
}

/// The result's element, and one of each row's result, which is the same for
/// all elements of the row.
static LogicalResult verifyFinishYield(RowOpInterface op, Block &block) {
  if (block.empty() || !isa<YieldOp>(block.back()))
    return op->emitOpError("expected the finish to end with 'tracea.yield'");
  YieldOp yield = cast<YieldOp>(block.back());
  auto fail = [&](const Twine &expected, auto found) {
    InFlightDiagnostic diagnostic =
        op->emitOpError("expected the finish to yield ")
        << expected << ", found " << found;
    diagnostic.attachNote(yield.getLoc()) << "yielded here";
    return diagnostic;
  };
  size_t expected = 1 + op.getRowResults().size();
  if (yield.getValues().size() != expected)
    return fail(Twine(expected) +
                    " scalars, the element and one per result of rows",
                yield.getValues().size());
  auto epilogue = cast<EpilogueOpInterface>(op.getOperation());
  Type element = getElementTypeOrSelf(epilogue.getEpilogueResult().getType());
  if (yield.getValue().getType() != element)
    return fail("the element type of the result", yield.getValue().getType());
  RowValues rowValues(block);
  for (auto [index, value, result] :
       llvm::enumerate(yield.getValues().drop_front(), op.getRowResults())) {
    if (value.getType() != getElementTypeOrSelf(result.getType()))
      return fail("the element type of row result #" + Twine(index),
                  value.getType());
    if (!rowValues.contains(value))
      return fail("what the whole row has as row result #" + Twine(index),
                  "a value that depends on the element");
  }
  return success();
}

/// A result of rows has the dimensions that are not reduced.
static LogicalResult verifyRowResults(RowOpInterface op) {
  ArrayRef<int64_t> input =
      cast<RankedTensorType>(op.getInput().getType()).getShape();
  SmallVector<int64_t> rows;
  for (AffineExpr dim : getRowMap(op).getResults())
    rows.push_back(input[cast<AffineDimExpr>(dim).getPosition()]);
  for (auto [index, result] : llvm::enumerate(op.getRowResults())) {
    std::string name = ("row result #" + Twine(index)).str();
    auto type = cast<RankedTensorType>(result.getType());
    if (!type.getElementType().isIntOrFloat())
      return op->emitOpError("expected ")
             << name << " to have elements that are numbers, found "
             << type.getElementType();
    if (failed(verifyRank(op, name, type, rows.size())) ||
        failed(verifySameShape(op, "the rows of the input", rows, name,
                               type.getShape())))
      return failure();
  }
  return success();
}

LogicalResult mlir::tracea::detail::verifyFinish(Operation *operation) {
  RowOpInterface op = cast<RowOpInterface>(operation);
  auto epilogue = cast<EpilogueOpInterface>(operation);
  Region &region = op.getFinish();
  size_t kinds = op.getFinishKinds().size();
  if (region.empty()) {
    if (!op.getRowResults().empty())
      return op->emitOpError(
                 "expected no results of rows without a finish, found ")
             << op.getRowResults().size();
    if (kinds)
      return op->emitOpError("expected no reductions without a finish, found ")
             << kinds;
    return success();
  }
  if (!kinds)
    return op->emitOpError("expected a finish with one reduction or more, "
                           "found none");
  if (!hasEpilogue(epilogue))
    return op->emitOpError("expected an epilogue, which yields what the finish "
                           "reduces");
  if (!region.hasOneBlock())
    return op->emitOpError("expected one block in the finish, found ")
           << region.getBlocks().size();
  if (failed(verifyRowResults(op)))
    return failure();
  Block &block = region.front();
  ValueRange yielded =
      cast<YieldOp>(epilogue.getEpilogue().front().back()).getValues();
  if (block.getNumArguments() != yielded.size())
    return op->emitOpError("expected the finish to take ")
           << yielded.size()
           << " arguments, the element and one per reduction, found "
           << block.getNumArguments();
  for (auto [index, argument, value] :
       llvm::enumerate(block.getArguments(), yielded))
    if (argument.getType() != value.getType())
      return op->emitOpError("expected argument #")
             << index << " of the finish to be " << value.getType()
             << ", as the epilogue yields it, found " << argument.getType();
  if (failed(verifyFinishYield(op, block)))
    return failure();
  return verifyBody(op, "the finish", block);
}

LogicalResult YieldOp::verify() {
  if (getValues().empty())
    return emitOpError("expected at least one scalar");
  return success();
}
