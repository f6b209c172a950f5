//===- TraceaPipeAttributes.cpp - Staged memory, rings, kernels -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "tracea/Dialect/TraceaPipe/IR/Words.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// `[40, 232]`.
static ParseResult parseIntegers(AsmParser &parser,
                                 SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(values.emplace_back());
  });
}

static void printIntegers(AsmPrinter &printer, ArrayRef<int64_t> values) {
  printer << '[' << values << ']';
}

/// `(memref<?x?xbf16> aligned 16, index)`.
static ParseResult parseArguments(AsmParser &parser,
                                  SmallVectorImpl<Type> &arguments,
                                  SmallVectorImpl<int64_t> &aligned) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Paren, [&]() -> ParseResult {
        if (parser.parseType(arguments.emplace_back()))
          return failure();
        aligned.push_back(1);
        if (failed(parser.parseOptionalKeyword("aligned")))
          return success();
        return parser.parseInteger(aligned.back());
      });
}

static void printArguments(AsmPrinter &printer, ArrayRef<Type> arguments,
                           ArrayRef<int64_t> aligned) {
  printer << '(';
  llvm::interleaveComma(llvm::zip_equal(arguments, aligned), printer,
                        [&](auto argument) {
                          printer << std::get<0>(argument);
                          if (std::get<1>(argument) != 1)
                            printer << " aligned " << std::get<1>(argument);
                        });
  printer << ')';
}

/// `[<argument = 0, ...>, <argument = 1, ...>]`.
static ParseResult parseTensorMaps(AsmParser &parser,
                                   SmallVectorImpl<TensorMapAttr> &maps) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        maps.push_back(
            dyn_cast_or_null<TensorMapAttr>(TensorMapAttr::parse(parser, {})));
        return success(maps.back() != nullptr);
      });
}

static void printTensorMaps(AsmPrinter &printer, ArrayRef<TensorMapAttr> maps) {
  printer << '[';
  llvm::interleaveComma(maps, printer,
                        [&](TensorMapAttr map) { map.print(printer); });
  printer << ']';
}

/// `["index {0}", "size {0}"]`.
static ParseResult parseAssertions(AsmParser &parser,
                                   SmallVectorImpl<StringAttr> &texts) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() {
    return parser.parseAttribute(texts.emplace_back());
  });
}

static void printAssertions(AsmPrinter &printer, ArrayRef<StringAttr> texts) {
  printer << '[';
  llvm::interleaveComma(texts, printer);
  printer << ']';
}

#define GET_ATTRDEF_CLASSES
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeTypes.cpp.inc"

void TraceaPipeDialect::registerAttributesAndTypes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// LanesAttr
//===----------------------------------------------------------------------===//

/// Reads `[[0, 1], [1, 0]]`.
static ParseResult parseBasis(AsmParser &parser,
                              SmallVectorImpl<DenseI64ArrayAttr> &basis) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        SmallVector<int64_t> vector;
        if (parser.parseCommaSeparatedList(
                AsmParser::Delimiter::Square, [&]() -> ParseResult {
                  return parser.parseInteger(vector.emplace_back());
                }))
          return failure();
        basis.push_back(DenseI64ArrayAttr::get(parser.getContext(), vector));
        return success();
      });
}

static void printBasis(AsmPrinter &printer, ArrayRef<DenseI64ArrayAttr> basis) {
  printer << '[';
  llvm::interleaveComma(basis, printer, [&](DenseI64ArrayAttr vector) {
    printer << '[';
    llvm::interleaveComma(vector.asArrayRef(), printer);
    printer << ']';
  });
  printer << ']';
}

Attribute LanesAttr::parse(AsmParser &parser, Type) {
  SmallVector<DenseI64ArrayAttr> reg, lane, warp;
  SmallVector<int64_t> outer;
  if (parser.parseLess())
    return {};
  bool sawOuter = false;
  do {
    StringRef key;
    if (parser.parseKeyword(&key) || parser.parseEqual())
      return {};
    ParseResult result = success();
    if (key == "reg")
      result = parseBasis(parser, reg);
    else if (key == "lane")
      result = parseBasis(parser, lane);
    else if (key == "warp")
      result = parseBasis(parser, warp);
    else if (key == "outer") {
      sawOuter = true;
      result = parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square, [&]() -> ParseResult {
            return parser.parseInteger(outer.emplace_back());
          });
    } else {
      parser.emitError(parser.getCurrentLocation())
          << "expected 'reg', 'lane', 'warp' or 'outer' in a lane map, found '"
          << key << "'";
      return {};
    }
    if (result)
      return {};
  } while (succeeded(parser.parseOptionalComma()));
  if (parser.parseGreater())
    return {};
  if (!sawOuter) {
    parser.emitError(parser.getNameLoc())
        << "expected a lane map to give 'outer', one repeat per tile dimension";
    return {};
  }
  return parser.getChecked<LanesAttr>(parser.getContext(), reg, lane, warp,
                                      outer);
}

void LanesAttr::print(AsmPrinter &printer) const {
  printer << '<';
  auto field = [&](StringRef name, ArrayRef<DenseI64ArrayAttr> basis) {
    if (basis.empty())
      return;
    printer << name << " = ";
    printBasis(printer, basis);
    printer << ", ";
  };
  field("reg", getReg());
  field("lane", getLane());
  field("warp", getWarp());
  printer << "outer = [";
  llvm::interleaveComma(getOuter(), printer);
  printer << "]>";
}

//===----------------------------------------------------------------------===//
// DefinitionAttr
//===----------------------------------------------------------------------===//

LogicalResult
DefinitionAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                       int64_t result, int64_t factors,
                       ArrayRef<int64_t> operands, ArrayAttr maps,
                       ArrayRef<int64_t> tables, ArrayAttr places) {
  if (operands.empty() || maps.size() != operands.size())
    return emitError() << "expects a map for each of at least one operand, "
                          "found "
                       << operands.size() << " operands and " << maps.size()
                       << " maps";
  if (factors < 1 || factors > static_cast<int64_t>(operands.size()))
    return emitError() << "expects 1 to " << operands.size()
                       << " factors, found " << factors;
  unsigned extents = 0;
  for (Attribute map : maps.getValue().take_front(factors))
    if (auto affine = dyn_cast<AffineMapAttr>(map))
      extents += affine.getValue().getNumResults();
  if ((places ? places.size() : 0) != tables.size())
    return emitError() << "expects a place for each of its tables, found "
                       << tables.size() << " tables and "
                       << (places ? places.size() : 0) << " places";
  std::optional<unsigned> dims;
  SmallVector<Attribute> all(maps.getValue());
  if (places)
    llvm::append_range(all, places.getValue());
  for (auto [number, map] : llvm::enumerate(all)) {
    auto affine = dyn_cast<AffineMapAttr>(map);
    unsigned symbols = affine ? affine.getValue().getNumSymbols() : 0;
    bool isPlace = number >= maps.size();
    if (!affine || (symbols != 0 && symbols != extents &&
                    (isPlace || symbols != extents + tables.size()))) {
      InFlightDiagnostic error = emitError();
      error << "expects affine maps without symbols, or with " << extents
            << " for the extents of the factors";
      if (!tables.empty() && !isPlace)
        error << " and " << tables.size() << " for the tables";
      return error << ", found " << map;
    }
    if (dims.value_or(affine.getValue().getNumDims()) !=
        affine.getValue().getNumDims())
      return emitError() << "expects maps of as many dimensions, found " << map;
    dims = affine.getValue().getNumDims();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// PipelineAttr
//===----------------------------------------------------------------------===//

LogicalResult PipelineAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t teams, int64_t warps,
                                   ArrayRef<int64_t> registers,
                                   int64_t workgroups, int64_t pending,
                                   int64_t residents, int64_t pingPong) {
  if (teams < 1 || teams > 8 || !llvm::isPowerOf2_64(teams))
    return emitError() << "a pipeline has 1, 2, 4 or 8 teams, found " << teams;
  if (warps < 1 || warps > 32)
    return emitError() << "a team has 1 to 32 warps, found " << warps;
  if (!registers.empty() && registers.size() != 2)
    return emitError() << "budgets are those of the role that copies and of "
                          "the one that multiplies, found "
                       << registers.size();
  if (workgroups < 0)
    return emitError() << "a grid has no fewer than 0 workgroups, found "
                       << workgroups;
  if (pending < 0 || pending > 1)
    return emitError() << "0 or 1 groups may be pending at a release, found "
                       << pending;
  if (residents < 1 || residents > 32)
    return emitError() << "a multiprocessor has 1 to 32 workgroups, found "
                       << residents;
  if (pingPong < 1 || pingPong > 2 || (pingPong > 1 && teams > 1))
    return emitError() << "1 or 2 teams take tiles in turn, each of them by "
                          "itself, found "
                       << "'ping_pong' of " << pingPong << " with " << teams
                       << " teams";
  if (pingPong > 1 && !workgroups)
    return emitError() << "teams take turns where workgroups walk over tiles: "
                          "expected 'workgroups'";
  return success();
}

//===----------------------------------------------------------------------===//
// StagedAttr, phases, channels
//===----------------------------------------------------------------------===//

// `<swizzle = [...], panel = n>`, either or both.
Attribute StagedAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> swizzle;
  int64_t panel = 0;
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalLess())) {
    bool more = true;
    if (succeeded(parser.parseOptionalKeyword("swizzle"))) {
      auto parseBit = [&] {
        return parser.parseInteger(swizzle.emplace_back());
      };
      if (parser.parseEqual() || parser.parseCommaSeparatedList(
                                     AsmParser::Delimiter::Square, parseBit))
        return {};
      more = succeeded(parser.parseOptionalComma());
    }
    if (more && (parser.parseKeyword("panel") || parser.parseEqual() ||
                 parser.parseInteger(panel)))
      return {};
    if (parser.parseGreater())
      return {};
  }
  return parser.getChecked<StagedAttr>(loc, parser.getContext(), swizzle,
                                       panel);
}

void StagedAttr::print(AsmPrinter &printer) const {
  if (getSwizzle().empty() && !getPanel())
    return;
  printer << '<';
  if (!getSwizzle().empty())
    printer << "swizzle = [" << getSwizzle() << ']';
  if (getPanel())
    printer << (getSwizzle().empty() ? "" : ", ") << "panel = " << getPanel();
  printer << '>';
}

LogicalResult StagedAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> swizzle, int64_t panel) {
  if (panel < 0)
    return emitError() << "a panel has at least one column, found " << panel;
  if (swizzle.size() % 2)
    return emitError() << "a swizzle is a list of pairs (bit, source bit), "
                          "found an odd number of entries";
  for (size_t i = 0; i < swizzle.size(); i += 2) {
    // bit ^= source with source > bit is unipotent, hence invertible.
    if (swizzle[i] < 0 || swizzle[i + 1] <= swizzle[i] || swizzle[i + 1] > 30)
      return emitError() << "a swizzle's source bit must lie above its bit and "
                            "below 31, found ("
                         << swizzle[i] << ", " << swizzle[i + 1] << ")";
  }
  return success();
}

/// Verifies what holds for every tile in staged memory, whatever its layout.
static LogicalResult
verifyStaged(ArrayRef<int64_t> shape, Type elementType, StagedAttr staged,
             function_ref<InFlightDiagnostic()> emitError) {
  int64_t panel = staged.getPanel();
  if (panel && (shape.empty() || shape.back() % panel))
    return emitError() << "staged memory expects panels of " << panel
                       << " columns to divide its last dimension, found ["
                       << shape << "]";
  int64_t elements = 1;
  for (int64_t extent : shape)
    if (extent < 0 || llvm::MulOverflow(elements, extent, elements) ||
        elements > int64_t(1) << 31)
      return emitError() << "staged memory expects a static shape of at most "
                            "2^31 elements, found ["
                         << extent << "] among its extents";
  bool isSized = isOffsetForm(elementType);
  if (elementType.isSignlessIntOrFloat()) {
    unsigned bits = elementType.getIntOrFloatBitWidth();
    isSized =
        bits == 1 || (bits >= 8 && bits <= 64 && llvm::isPowerOf2_32(bits));
  }
  if (!isSized)
    return emitError()
           << "staged memory expects floats or signless integers of "
              "1, 8, 16, 32 or 64 bits, or ui8, found "
           << elementType;
  return success();
}

LogicalResult
StagedAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                           function_ref<InFlightDiagnostic()> emitError) const {
  if (!elementType)
    return failure();
  return verifyStaged(shape, elementType, *this, emitError);
}

LogicalResult PhaseType::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t slots) {
  if (slots < 1 || slots > 64)
    return emitError() << "a ring has 1 to 64 slots, found " << slots;
  return success();
}

LogicalResult ChannelType::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t slots, ArrayRef<Type> buffers) {
  if (slots < 1 || slots > 64)
    return emitError() << "a ring has 1 to 64 slots, found " << slots;
  if (buffers.empty())
    return emitError() << "a channel needs at least one buffer a slot";
  for (Type type : buffers) {
    auto memref = dyn_cast<MemRefType>(type);
    if (!memref || !memref.getLayout().isIdentity() ||
        !isa_and_nonnull<StagedAttr>(memref.getMemorySpace()))
      return emitError() << "a channel's buffers must be memrefs of identity "
                            "layout in staged memory, found "
                         << type;
    if (failed(verifyStaged(memref.getShape(), memref.getElementType(),
                            cast<StagedAttr>(memref.getMemorySpace()),
                            emitError)))
      return failure();
  }
  return success();
}
