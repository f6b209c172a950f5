//===- TraceaAttributes.cpp - Attributes of the semantic dialect ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of a schedule is flat: the fields of the family follow the head. The
// family's structure says which there are.

#include "mlir/IR/DialectImplementation.h"
#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tracea;

llvm::hash_code mlir::tracea::schedule::hash_value(const Params &params) {
  Params copy = params;
  llvm::hash_code hash = llvm::hash_value(copy.getFamily());
  for (const Field &field : copy.getFields())
    hash = llvm::hash_combine(
        hash,
        llvm::hash_combine_range(field.values, field.values + field.count));
  return hash;
}

//===----------------------------------------------------------------------===//
// Fields of a family
//===----------------------------------------------------------------------===//

namespace {
/// A field as it was written.
struct WrittenField {
  SMLoc loc;
  StringRef name;
  bool isList = false;
  SmallVector<int64_t> values;
};
} // namespace

static StringRef toStringRef(std::string_view text) {
  return StringRef(text.data(), text.size());
}

/// Integers in brackets.
static ParseResult parseExtents(AsmParser &parser,
                                SmallVectorImpl<int64_t> &extents) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return parser.parseInteger(extents.emplace_back());
  });
}

/// Parses the value of a field: a number or a list of numbers.
static ParseResult parseValue(AsmParser &parser, WrittenField &field) {
  OptionalParseResult number =
      parser.parseOptionalInteger(field.values.emplace_back());
  if (number.has_value())
    return *number;
  field.isList = true;
  field.values.clear();
  return parseExtents(parser, field.values);
}

/// Sets the fields of `params` to what was written; `subject` is whose they
/// are.
static ParseResult setFields(AsmParser &parser, schedule::Params &params,
                             ArrayRef<WrittenField> written,
                             const Twine &subject) {
  schedule::Fields fields = params.getFields();
  for (const WrittenField &given : written) {
    const schedule::Field *field =
        fields.find(std::string_view(given.name.data(), given.name.size()));
    if (!field)
      return parser.emitError(given.loc)
             << subject << "family '" << toStringRef(params.getFamily())
             << "' has no field '" << given.name << "'; it takes "
             << params.listFields();
    if (given.isList != field->isList)
      return parser.emitError(given.loc)
             << "expected '" << given.name << "' to be "
             << (field->isList ? "a list of extents" : "an integer");
    if (given.values.size() != field->count)
      return parser.emitError(given.loc)
             << "expected '" << given.name << "' with " << field->count
             << " extents, found " << given.values.size();
    llvm::copy(given.values, field->values);
  }
  return success();
}

/// Parses names and values up to a closing bracket; `parseOther` takes those
/// names that it knows.
static ParseResult
parseWritten(AsmParser &parser, AsmParser::Delimiter delimiter,
             SmallVectorImpl<WrittenField> &written,
             function_ref<OptionalParseResult(StringRef)> parseOther) {
  SmallVector<StringRef> names;
  return parser.parseCommaSeparatedList(delimiter, [&]() -> ParseResult {
    WrittenField field;
    field.loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&field.name) || parser.parseEqual())
      return failure();
    if (llvm::is_contained(names, field.name))
      return parser.emitError(field.loc)
             << "field '" << field.name << "' is given twice";
    names.push_back(field.name);
    OptionalParseResult other = parseOther(field.name);
    if (other.has_value())
      return *other;
    if (parseValue(parser, field))
      return failure();
    written.push_back(std::move(field));
    return success();
  });
}

/// custom<Fields>: the fields of the family of `defaults`.
static ParseResult parseFields(AsmParser &parser, schedule::Params &params,
                               const schedule::Params &defaults) {
  params = defaults;
  SmallVector<WrittenField> written;
  if (parseWritten(parser, AsmParser::Delimiter::LessGreater, written,
                   [](StringRef) { return std::nullopt; }))
    return failure();
  return setFields(parser, params, written, /*subject=*/"");
}

static void printFields(AsmPrinter &printer, const schedule::Params &params,
                        const schedule::Params &) {
  printer << "<" << params.print() << ">";
}

static LogicalResult verifyFields(function_ref<InFlightDiagnostic()> emitError,
                                  const schedule::Params &params,
                                  const schedule::Params &family) {
  if (!params.isSameFamily(family))
    return emitError() << "expected fields of family '"
                       << toStringRef(family.getFamily()) << "', found '"
                       << toStringRef(params.getFamily()) << "'";
  if (std::string reason = params.check(); !reason.empty())
    return emitError() << reason;
  return success();
}

#include "tracea/Dialect/Tracea/IR/TraceaAttrInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "tracea/Dialect/Tracea/IR/TraceaAttributes.cpp.inc"

void TraceaDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tracea/Dialect/Tracea/IR/TraceaAttributes.cpp.inc"
      >();
}

/// The attribute among `Attrs` whose fields are of the family of `params`.
template <typename... Attrs>
static ScheduleParamsAttrInterface
findFamily(MLIRContext *context, const schedule::Params &params,
           function_ref<InFlightDiagnostic()> emitError) {
  ScheduleParamsAttrInterface found;
  auto tryOne = [&](auto kind) {
    using Attr = decltype(kind);
    if constexpr (std::is_base_of_v<ScheduleParamsAttrInterface::Trait<Attr>,
                                    Attr>)
      if (params.isSameFamily(typename Attr::Family()))
        found = Attr::getChecked(emitError, context, params);
  };
  (tryOne(Attrs()), ...);
  return found;
}

ScheduleParamsAttrInterface
mlir::tracea::getScheduleParams(MLIRContext *context,
                                const schedule::Params &params,
                                function_ref<InFlightDiagnostic()> emitError) {
  return findFamily<
#define GET_ATTRDEF_LIST
#include "tracea/Dialect/Tracea/IR/TraceaAttributes.cpp.inc"
      >(context, params, emitError);
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// The fields of a variant with their defaults, or an error.
static std::optional<schedule::Params>
lookUpVariant(StringRef variant, function_ref<InFlightDiagnostic()> emitError) {
  std::optional<schedule::Params> params = schedule::Params::ofVariant(
      std::string_view(variant.data(), variant.size()));
  if (!params)
    emitError() << "there is no variant '" << variant << "'; there are "
                << schedule::Params::listVariants();
  return params;
}

Attribute ScheduleAttr::parse(AsmParser &parser, Type) {
  SMLoc start = parser.getCurrentLocation(), variantLoc = start;
  std::optional<std::string> variant;
  FailureOr<MatrixUnit> unit = failure();
  SmallVector<int64_t> tile;
  SmallVector<WrittenField> written;
  ScheduleAttr otherwise;
  int64_t most = 0;
  auto parseHead = [&](StringRef name) -> OptionalParseResult {
    if (name == "otherwise") {
      otherwise = cast_or_null<ScheduleAttr>(ScheduleAttr::parse(parser, {}));
      return ParseResult(success(otherwise != nullptr));
    }
    if (name == "most")
      return parser.parseInteger(most);
    if (name == "variant") {
      variantLoc = parser.getCurrentLocation();
      return parser.parseString(&variant.emplace());
    }
    if (name == "unit")
      return ParseResult(unit = FieldParser<MatrixUnit>::parse(parser));
    if (name == "tile")
      return parseExtents(parser, tile);
    return std::nullopt;
  };
  if (parseWritten(parser, AsmParser::Delimiter::LessGreater, written,
                   parseHead))
    return {};
  if (!variant || failed(unit)) {
    parser.emitError(start) << "expected a schedule to have '"
                            << (variant ? "unit" : "variant") << "'";
    return {};
  }
  std::optional<schedule::Params> params =
      lookUpVariant(*variant, [&] { return parser.emitError(variantLoc); });
  if (!params ||
      setFields(parser, *params, written, "variant '" + *variant + "' of "))
    return {};
  auto emitError = [&] { return parser.emitError(start); };
  ScheduleParamsAttrInterface fields =
      getScheduleParams(parser.getContext(), *params, emitError);
  if (!fields)
    return {};
  return getChecked(emitError, parser.getContext(), *variant, *unit, tile,
                    fields, otherwise, most);
}

void ScheduleAttr::print(AsmPrinter &printer) const {
  printer << "<variant = ";
  printer.printString(getVariant());
  printer << ", unit = " << stringifyMatrixUnit(getUnit());
  if (!getTile().empty()) {
    printer << ", tile = [";
    llvm::interleaveComma(getTile(), printer);
    printer << "]";
  }
  std::string fields = getParams().getParams().print();
  printer << (fields.empty() ? "" : ", ") << fields;
  if (getMost())
    printer << ", most = " << getMost();
  if (ScheduleAttr otherwise = getOtherwise()) {
    printer << ", otherwise = ";
    otherwise.print(printer);
  }
  printer << ">";
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   StringRef variant, MatrixUnit unit,
                                   ArrayRef<int64_t> tile,
                                   ScheduleParamsAttrInterface params,
                                   ScheduleAttr otherwise, int64_t most) {
  if (most < 0)
    return emitError() << "expected 'most' to be a number of elements, found "
                       << most;
  if (most && !otherwise)
    return emitError() << "expected a schedule with 'most' to leave larger "
                          "results to 'otherwise'";
  if (most && otherwise.getMost() && otherwise.getMost() <= most)
    return emitError() << "expected 'otherwise' to be for results of more than "
                       << most << " elements, found " << otherwise.getMost();
  if (!most && otherwise && otherwise.getOtherwise())
    return emitError() << "expected 'otherwise' to be a schedule without a "
                          "further one, found "
                       << otherwise;
  // Far beyond any machine; below, no product of extents overflows.
  constexpr int64_t kMostExtent = int64_t(1) << 20;
  std::optional<schedule::Params> expected = lookUpVariant(variant, emitError);
  if (!expected)
    return failure();
  if (!params || !expected->isSameFamily(params.getParams())) {
    InFlightDiagnostic error = emitError();
    error << "variant '" << variant << "' takes fields of family '"
          << toStringRef(expected->getFamily()) << "', found ";
    return params ? error << params : error << "none";
  }
  for (int64_t extent : tile)
    if (extent < 1 || extent > kMostExtent)
      return emitError() << "expected extents of 'tile' of 1 to 2^20, found "
                         << extent;
  return success();
}
