//===- TraceaPipeAttributes.cpp - Lane maps, staged memory, rings ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

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

LogicalResult LanesAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                ArrayRef<DenseI64ArrayAttr> reg,
                                ArrayRef<DenseI64ArrayAttr> lane,
                                ArrayRef<DenseI64ArrayAttr> warp,
                                ArrayRef<int64_t> outer) {
  for (int64_t repeat : outer)
    if (repeat < 1)
      return emitError() << "lane map repeats must be positive, found "
                         << repeat;
  if (reg.size() > 16 || lane.size() > 10 || warp.size() > 10)
    return emitError() << "lane map has too many bits: at most 16 of "
                          "registers, 10 of lanes, 10 of warps";
  for (ArrayRef<DenseI64ArrayAttr> basis : {reg, lane, warp})
    for (DenseI64ArrayAttr vector : basis) {
      if (vector.size() != static_cast<int64_t>(outer.size()))
        return emitError() << "lane map basis vectors must have one coordinate "
                              "per tile dimension ("
                           << outer.size() << "), found " << vector.size();
      for (int64_t coordinate : vector.asArrayRef())
        if (coordinate < 0 || coordinate > (int64_t(1) << 30))
          return emitError()
                 << "lane map coordinates must lie in [0, 2^30], found "
                 << coordinate;
    }
  return success();
}

/// Extents covered by the linear part: the next power of two above the OR of
/// all coordinates of a dimension.
static SmallVector<int64_t> getLinearShape(LanesAttr lanes) {
  SmallVector<int64_t> shape(lanes.getRank(), 1);
  for (ArrayRef<DenseI64ArrayAttr> basis :
       {lanes.getReg(), lanes.getLane(), lanes.getWarp()})
    for (DenseI64ArrayAttr vector : basis)
      for (auto [extent, coordinate] : llvm::zip(shape, vector.asArrayRef()))
        extent = std::max<int64_t>(extent, llvm::NextPowerOf2(coordinate));
  return shape;
}

SmallVector<int64_t> LanesAttr::getTileShape() const {
  SmallVector<int64_t> shape = getLinearShape(*this);
  for (auto [extent, repeat] : llvm::zip(shape, getOuter()))
    extent *= repeat;
  return shape;
}

int64_t LanesAttr::getNumRegisters() const {
  int64_t count = int64_t(1) << getReg().size();
  for (int64_t repeat : getOuter())
    count *= repeat;
  return count;
}

SmallVector<int64_t> LanesAttr::getCoordinate(int64_t reg, int64_t lane,
                                              int64_t warp) const {
  SmallVector<int64_t> linear(getRank(), 0);
  auto apply = [&](ArrayRef<DenseI64ArrayAttr> basis, int64_t index) {
    for (auto [bit, vector] : llvm::enumerate(basis))
      if (index >> bit & 1)
        for (auto [sum, coordinate] : llvm::zip(linear, vector.asArrayRef()))
          sum ^= coordinate;
  };
  apply(getReg(), reg & ((int64_t(1) << getReg().size()) - 1));
  apply(getLane(), lane);
  apply(getWarp(), warp);
  // The repeats: last dimension fastest.
  int64_t repeatIndex = reg >> getReg().size();
  SmallVector<int64_t> extents = getLinearShape(*this);
  for (int64_t dim = getRank() - 1; dim >= 0; --dim) {
    linear[dim] += extents[dim] * (repeatIndex % getOuter()[dim]);
    repeatIndex /= getOuter()[dim];
  }
  return linear;
}

std::optional<unsigned> LanesAttr::getContiguousLaneDim() const {
  if (getLane().empty())
    return std::nullopt;
  std::optional<unsigned> result;
  for (auto [bit, vector] : llvm::enumerate(getLane())) {
    int64_t nonZero = 0;
    for (auto [dim, coordinate] : llvm::enumerate(vector.asArrayRef())) {
      if (coordinate == 0)
        continue;
      ++nonZero;
      if (coordinate != int64_t(1) << bit ||
          (result && *result != static_cast<unsigned>(dim)))
        return std::nullopt;
      result = dim;
    }
    if (nonZero != 1)
      return std::nullopt;
  }
  return result;
}

LanesAttr LanesAttr::getVectorTile(MLIRContext *context,
                                   ArrayRef<int64_t> shape, int64_t lanes) {
  int64_t rank = shape.size();
  assert(rank > 0 && llvm::isPowerOf2_64(lanes) && shape.back() % lanes == 0 &&
         "the last extent must be a multiple of the lanes");
  SmallVector<DenseI64ArrayAttr> reg, lane;
  auto basis = [&](int64_t dim, int64_t coordinate) {
    SmallVector<int64_t> vector(rank, 0);
    vector[dim] = coordinate;
    return DenseI64ArrayAttr::get(context, vector);
  };
  for (int64_t step = 1; step < lanes; step *= 2)
    lane.push_back(basis(rank - 1, step));
  SmallVector<int64_t> outer(rank, 1);
  for (int64_t dim = rank - 1; dim >= 0; --dim) {
    int64_t base = dim == rank - 1 ? lanes : 1;
    int64_t count = shape[dim] / base;
    // The power of two in `count` is linear, the odd rest is repeated.
    int64_t power = count & -count;
    outer[dim] = count / power;
    for (int64_t step = 1; step < power; step *= 2)
      reg.push_back(basis(dim, base * step));
  }
  return get(context, reg, lane, {}, outer);
}

LanesAttr LanesAttr::getReduced(unsigned dim) const {
  auto project = [&](ArrayRef<DenseI64ArrayAttr> basis, bool dropZero) {
    SmallVector<DenseI64ArrayAttr> result;
    for (DenseI64ArrayAttr vector : basis) {
      SmallVector<int64_t> coordinates(vector.asArrayRef());
      coordinates[dim] = 0;
      // One register serves a whole reduced group; lanes keep their copies.
      if (dropZero && llvm::all_of(coordinates, [](int64_t c) { return !c; }))
        continue;
      result.push_back(DenseI64ArrayAttr::get(getContext(), coordinates));
    }
    return result;
  };
  SmallVector<int64_t> outer(getOuter());
  outer[dim] = 1;
  return get(getContext(), project(getReg(), true), project(getLane(), false),
             project(getWarp(), false), outer);
}

//===----------------------------------------------------------------------===//
// StagedAttr, phases, channels
//===----------------------------------------------------------------------===//

LogicalResult StagedAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> swizzle) {
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
    if (!memref || !memref.hasStaticShape() ||
        !isa_and_nonnull<StagedAttr>(memref.getMemorySpace()))
      return emitError() << "a channel's buffers must be memrefs of static "
                            "shape in staged memory, found "
                         << type;
  }
  return success();
}
