//===- TraceaPipeKernels.cpp - Kernels, grids, launches, roles ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers, printers and parsers of what makes up a kernel and of what
// launches it.

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"
#include "tracea/Dialect/TraceaPipe/IR/Dimensions.h"
#include "tracea/Dialect/TraceaPipe/IR/NeededTerms.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

void KernelOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                     FunctionType type, StringRef variant, StringRef sourceOp) {
  state.addAttribute(getSymNameAttrName(state.name),
                     builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  if (!variant.empty())
    state.addAttribute(getVariantAttrName(state.name),
                       builder.getStringAttr(variant));
  if (!sourceOp.empty())
    state.addAttribute(getSourceOpAttrName(state.name),
                       builder.getStringAttr(sourceOp));
  Region *body = state.addRegion();
  Block *entry = new Block();
  body->push_back(entry);
  for (Type input : type.getInputs())
    entry->addArgument(input, state.location);
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> inputs,
                      ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(inputs, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

TilesOp KernelOp::getTiles() { return *getBody().getOps<TilesOp>().begin(); }

RolesOp KernelOp::getRoles() {
  auto roles = getTiles().getBody().getOps<RolesOp>();
  return roles.empty() ? RolesOp() : *roles.begin();
}

int64_t KernelOp::getNumWarps() {
  if (RolesOp roles = getRoles()) {
    int64_t warps = 0;
    for (RoleOp role : roles.getBody().getOps<RoleOp>())
      warps = std::max(warps, role.getWarps()[1]);
    return warps;
  }
  return getWarps().value_or(1);
}

/// Whether memory begins where its pointer points, its rows are neighbours of
/// themselves alone, and numbers say how far apart they are.
static bool hasKnownGaps(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || offset != 0 ||
      strides.empty() || strides.back() != 1)
    return false;
  // Elements from the first one of a row of rows to behind its last.
  int64_t reach = 1;
  for (int64_t dim = type.getRank() - 1; dim > 0; --dim) {
    int64_t extent = type.getDimSize(dim), more = 0;
    if (ShapedType::isDynamic(extent) || ShapedType::isDynamic(strides[dim]) ||
        llvm::MulOverflow(std::max<int64_t>(extent - 1, 0), strides[dim],
                          more) ||
        llvm::AddOverflow(reach, more, reach) || strides[dim - 1] < reach)
      return false;
  }
  return true;
}

/// What an argument's alignment may be: a power of two, of memory.
static LogicalResult verifyAlignment(KernelOp kernel, unsigned index) {
  Attribute attribute = kernel.getArgAttr(index, kAlignedAttrName);
  if (!attribute)
    return success();
  auto bytes = dyn_cast<IntegerAttr>(attribute);
  if (!bytes || !bytes.getValue().isPowerOf2() ||
      !bytes.getValue().isStrictlyPositive())
    return kernel.emitOpError()
           << "argument #" << index << " expects '" << kAlignedAttrName
           << "' to be a power of two, found " << attribute;
  Type type = kernel.getArgumentTypes()[index];
  if (!isa<MemRefType>(type))
    return kernel.emitOpError()
           << "argument #" << index << " has '" << kAlignedAttrName
           << "', which is of memory, found " << type;
  return success();
}

/// The definition speaks of arguments that there are, in their ranks, and says
/// how far each sum goes.
static LogicalResult verifyDefinition(KernelOp kernel,
                                      DefinitionAttr definition) {
  auto getMemory = [&](int64_t number) -> MemRefType {
    if (number < 0 || number >= int64_t(kernel.getArgumentTypes().size()))
      return MemRefType();
    return dyn_cast<MemRefType>(kernel.getArgumentTypes()[number]);
  };
  MemRefType result = getMemory(definition.getResult());
  if (!result || result.getRank() > definition.getNumDims())
    return kernel.emitOpError()
           << "expects a definition of a memref argument of rank "
           << definition.getNumDims() << " or less, found argument "
           << definition.getResult();
  for (auto [index, number] : llvm::enumerate(definition.getOperands())) {
    MemRefType operand = getMemory(number);
    AffineMap map = definition.getMap(index);
    if (!operand || operand.getRank() != map.getNumResults())
      return kernel.emitOpError()
             << "expects a definition with a map into memref argument "
             << number << ", found " << AffineMapAttr::get(map);
  }
  for (auto [index, number] : llvm::enumerate(definition.getTables())) {
    MemRefType table = getMemory(number);
    AffineMap place = definition.getPlace(index);
    if (!table || table.getRank() != place.getNumResults() ||
        !table.getElementType().isSignlessInteger())
      return kernel.emitOpError()
             << "expects a definition with a place in memref argument "
             << number << " of integers, found " << AffineMapAttr::get(place);
  }
  for (unsigned dim = result.getRank(); dim < definition.getNumDims(); ++dim) {
    AffineExpr walked = getAffineDimExpr(dim, kernel.getContext());
    if (llvm::none_of(llvm::seq<int64_t>(definition.getFactors()),
                      [&](int64_t factor) {
                        return llvm::is_contained(
                            definition.getMap(factor).getResults(), walked);
                      }))
      return kernel.emitOpError()
             << "expects a definition in which a factor's map has dimension "
             << dim << ", which is summed over, as a result";
  }
  return success();
}

/// Each dimension that a band names is one of a memref.
static LogicalResult verifyBand(KernelOp kernel, BandAttr band) {
  auto isDim = [&](int64_t argument, int64_t dim) {
    ArrayRef<Type> types = kernel.getArgumentTypes();
    if (argument < 0 || argument >= static_cast<int64_t>(types.size()))
      return false;
    auto memref = dyn_cast<MemRefType>(types[argument]);
    return memref && dim >= 0 && dim < memref.getRank();
  };
  bool holds = isDim(band.getResult(), band.getDim()) &&
               band.getOperands().size() == band.getDims().size();
  for (auto [operand, dim] : llvm::zip(band.getOperands(), band.getDims()))
    holds &= isDim(operand, dim);
  if (!holds)
    return kernel.emitOpError() << "expects a band over dimensions of its "
                                   "memref arguments, found "
                                << band;
  return success();
}

LogicalResult KernelOp::verify() {
  if (BandAttr band = getBandAttr(); band && failed(verifyBand(*this, band)))
    return failure();
  if (failed(verifyNeededTerms(*this)))
    return failure();
  if (ArrayAttr definitions = getDefinitionsAttr())
    for (auto definition : definitions.getAsRange<DefinitionAttr>())
      if (failed(verifyDefinition(*this, definition)))
        return failure();
  for (auto [index, type] : llvm::enumerate(getArgumentTypes())) {
    if (failed(verifyAlignment(*this, index)))
      return failure();
    if (auto memref = dyn_cast<MemRefType>(type)) {
      if (!memref.getLayout().isIdentity() && !hasKnownGaps(memref))
        return emitOpError()
               << "argument #" << index
               << " must be a memref of identity layout, or of rows at known "
                  "distances from its beginning on, found "
               << type;
      if (isa_and_nonnull<StagedAttr>(memref.getMemorySpace()))
        return emitOpError() << "argument #" << index
                             << " must not be in staged memory, which belongs "
                                "to the kernel, found "
                             << type;
      continue;
    }
    if (!type.isIntOrIndexOrFloat())
      return emitOpError() << "argument #" << index
                           << " must be a memref, an index or a scalar, found "
                           << type;
  }
  if (!getResultTypes().empty())
    return emitOpError() << "has results; a kernel writes its memrefs";
  // Accessors of integer attributes are unsigned.
  int64_t workspace = getWorkspaceBytes().value_or(0);
  if (workspace < 0)
    return emitOpError() << "expects a workspace of at least 0 bytes, found "
                         << workspace;
  int64_t warps = getWarps().value_or(1);
  if (warps < 1 || warps > 1024)
    return emitOpError() << "expects 1 to 1024 warps, found " << warps;
  return success();
}

LogicalResult mlir::tracea_pipe::verifyDimension(ShapedDimOpInterface op) {
  std::optional<int64_t> dim = getConstantIntValue(op.getDimension());
  auto type = dyn_cast<ShapedType>(op.getShapedValue().getType());
  if (!dim || !type || !type.hasRank() || (*dim >= 0 && *dim < type.getRank()))
    return success();
  return op.emitOpError() << "takes dimension " << *dim << " of " << type
                          << ", which has " << type.getRank();
}

LogicalResult KernelOp::verifyRegions() {
  if (!llvm::hasSingleElement(getBody()))
    return emitOpError() << "expects a body of one block";
  int64_t grids = llvm::count_if(
      getBody().front(), [](Operation &op) { return isa<TilesOp>(op); });
  if (grids != 1)
    return emitOpError() << "expects exactly one 'tracea_pipe.tiles' in its "
                            "body, found "
                         << grids;
  if (!isa<EndOp>(getBody().front().back()))
    return emitOpError() << "expects its body to end with 'tracea_pipe.end'";
  WalkResult dimensions = getBody().walk([](ShapedDimOpInterface op) {
    return failed(verifyDimension(op)) ? WalkResult::interrupt()
                                       : WalkResult::advance();
  });
  return failure(dimensions.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// TilesOp
//===----------------------------------------------------------------------===//

void TilesOp::build(OpBuilder &builder, OperationState &state,
                    ValueRange bounds, int64_t group, int64_t cluster) {
  state.addOperands(bounds);
  if (group)
    state.addAttribute(getGroupAttrName(state.name),
                       builder.getI64IntegerAttr(group));
  if (cluster != 1)
    state.addAttribute(getClusterAttrName(state.name),
                       builder.getI64IntegerAttr(cluster));
  Region *body = state.addRegion();
  Block *block = new Block();
  body->push_back(block);
  for (size_t i = 0; i < bounds.size(); ++i)
    block->addArgument(builder.getIndexType(), state.location);
  ensureTerminator(*body, builder, state.location);
}

ParseResult TilesOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> indices;
  SmallVector<OpAsmParser::UnresolvedOperand> bounds;
  Type index = parser.getBuilder().getIndexType();
  if (parser.parseArgumentList(indices, OpAsmParser::Delimiter::Paren) ||
      parser.parseKeyword("in") ||
      parser.parseOperandList(bounds, OpAsmParser::Delimiter::Paren))
    return failure();
  if (indices.size() != bounds.size())
    return parser.emitError(parser.getNameLoc())
           << "expected as many bounds as indices (" << indices.size()
           << "), found " << bounds.size();
  if (succeeded(parser.parseOptionalKeyword("group"))) {
    int64_t group;
    if (parser.parseInteger(group))
      return failure();
    result.addAttribute(getGroupAttrName(result.name),
                        parser.getBuilder().getI64IntegerAttr(group));
  }
  if (succeeded(parser.parseOptionalKeyword("cluster"))) {
    int64_t cluster;
    if (parser.parseInteger(cluster))
      return failure();
    result.addAttribute(getClusterAttrName(result.name),
                        parser.getBuilder().getI64IntegerAttr(cluster));
  }
  for (OpAsmParser::Argument &argument : indices)
    argument.type = index;
  if (parser.resolveOperands(bounds, index, result.operands) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, indices))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

void TilesOp::print(OpAsmPrinter &printer) {
  printer << " (";
  llvm::interleaveComma(getIndices(), printer);
  printer << ") in (" << getBounds() << ")";
  if (getGroup())
    printer << " group " << static_cast<int64_t>(getGroup());
  if (getCluster() != 1)
    printer << " cluster " << static_cast<int64_t>(getCluster());
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getGroupAttrName(), getClusterAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/false);
}

LogicalResult TilesOp::verify() {
  if (getBounds().empty())
    return emitOpError() << "expects at least one bound";
  if (getBody().getNumArguments() != getBounds().size())
    return emitOpError() << "expects one index per bound ("
                         << getBounds().size() << "), found "
                         << getBody().getNumArguments();
  for (BlockArgument argument : getBody().getArguments())
    if (!argument.getType().isIndex())
      return emitOpError() << "expects indices of type 'index', found "
                           << argument.getType();
  int64_t group = getGroup();
  if (group < 0)
    return emitOpError() << "expects a group of at least 0, found " << group;
  if (group > 0 && getBounds().size() < 2)
    return emitOpError() << "expects two dimensions or more to group";
  int64_t cluster = getCluster();
  if (cluster < 1 || cluster > 16 || !llvm::isPowerOf2_64(cluster))
    return emitOpError() << "expects a cluster of 1, 2, 4, 8 or 16 workgroups, "
                            "found "
                         << cluster;
  if (cluster == 1)
    return success();
  std::optional<int64_t> first = getConstantIntValue(getBounds().front());
  if (first != cluster)
    return emitOpError() << "expects the first bound to be the constant "
                         << cluster << ", the workgroups of a cluster";
  if (group > 0 && getBounds().size() < 3)
    return emitOpError() << "expects two dimensions or more beside the "
                            "cluster's to group";
  return success();
}

LogicalResult RasterOp::verify() {
  int64_t group = getGroup();
  if (group >= 1 && group <= (int64_t(1) << 30))
    return success();
  return emitOpError() << "expects groups of 1 to 2^30 rows, found " << group;
}

//===----------------------------------------------------------------------===//
// LaunchOp
//===----------------------------------------------------------------------===//

LogicalResult LaunchOp::verify() {
  bool onTensors = llvm::any_of(
      getInits(), [](Value init) { return isa<TensorType>(init.getType()); });
  for (Value init : getInits())
    if (!isa<RankedTensorType, MemRefType>(init.getType()))
      return emitOpError() << "expects outs to be tensors or memrefs, found "
                           << init.getType();
  if (onTensors && getResults().size() != getInits().size())
    return emitOpError() << "on tensors expects one result per out ("
                         << getInits().size() << "), found "
                         << getResults().size();
  if (!onTensors && !getResults().empty())
    return emitOpError() << "on memrefs has no results, found "
                         << getResults().size();
  for (auto [result, init] : llvm::zip(getResults(), getInits()))
    if (result.getType() != init.getType())
      return emitOpError() << "expects a result of its out's type "
                           << init.getType() << ", found " << result.getType();
  std::optional<ArrayRef<int64_t>> most = getMost();
  if (!most)
    return success();
  size_t kernels = getKernels().size();
  if (most->size() != kernels)
    return emitOpError() << "expects a number of 'most' for each of " << kernels
                         << " kernels, found " << most->size();
  for (int64_t elements : *most)
    if (elements < 0)
      return emitOpError() << "expects 'most' to be numbers of elements, found "
                           << elements;
  if (most->back())
    return emitOpError() << "expects the last kernel to be for results of any "
                            "size, found 'most' "
                         << most->back();
  if (getInits().empty())
    return emitOpError() << "expects an out whose elements 'most' counts";
  return success();
}

SmallVector<FlatSymbolRefAttr> LaunchOp::getKernels() {
  SmallVector<FlatSymbolRefAttr> kernels{getKernelAttr()};
  if (ArrayAttr others = getOthersAttr())
    llvm::append_range(kernels, others.getAsRange<FlatSymbolRefAttr>());
  return kernels;
}

int64_t LaunchOp::getMostOf(unsigned kernel) {
  return getMost() ? (*getMost())[kernel] : 0;
}

void LaunchOp::setKernels(ArrayRef<FlatSymbolRefAttr> kernels,
                          ArrayRef<int64_t> most) {
  SmallVector<Attribute> others(llvm::drop_begin(kernels));
  setKernelAttr(kernels.front());
  setOthersAttr(others.empty() ? ArrayAttr()
                               : ArrayAttr::get(getContext(), others));
  bool isAny = llvm::all_of(most, [](int64_t elements) { return !elements; });
  setMostAttr(isAny ? DenseI64ArrayAttr()
                    : DenseI64ArrayAttr::get(getContext(), most));
}

bool mlir::tracea_pipe::haveSameStrides(MemRefType a, MemRefType b) {
  SmallVector<int64_t> ofA, ofB;
  int64_t offset;
  return succeeded(a.getStridesAndOffset(ofA, offset)) &&
         succeeded(b.getStridesAndOffset(ofB, offset)) && ofA == ofB;
}

/// Whether `kernel` takes the operands of `launch`.
static LogicalResult verifyOperands(LaunchOp launch, KernelOp kernel) {
  ArrayRef<Type> types = kernel.getArgumentTypes();
  SmallVector<Value> operands(launch.getInputs());
  llvm::append_range(operands, launch.getInits());
  if (types.size() != operands.size()) {
    InFlightDiagnostic diag = launch.emitOpError()
                              << "expects " << types.size()
                              << " operands for kernel @" << kernel.getSymName()
                              << ", found " << operands.size();
    diag.attachNote(kernel.getLoc()) << "the kernel is here";
    return diag;
  }
  for (auto [index, type, operand] : llvm::enumerate(types, operands)) {
    bool matches = type == operand.getType();
    auto memref = dyn_cast<MemRefType>(type);
    if (auto tensor = dyn_cast<RankedTensorType>(operand.getType()))
      matches = memref && memref.getShape() == tensor.getShape() &&
                memref.getElementType() == tensor.getElementType();
    else if (auto actual = dyn_cast<MemRefType>(operand.getType()))
      matches =
          memref && memref.getShape() == actual.getShape() &&
          memref.getElementType() == actual.getElementType() &&
          (memref.getLayout().isIdentity() || haveSameStrides(memref, actual));
    if (matches)
      continue;
    InFlightDiagnostic diag = launch.emitOpError()
                              << "operand #" << index << " of kernel @"
                              << kernel.getSymName() << " expects " << type
                              << ", found " << operand.getType();
    diag.attachNote(kernel.getLoc()) << "the kernel is here";
    return diag;
  }
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  for (FlatSymbolRefAttr name : getKernels()) {
    auto kernel = symbolTable.lookupNearestSymbolFrom<KernelOp>(*this, name);
    if (!kernel)
      return emitOpError() << "expects a 'tracea_pipe.kernel' named " << name;
    if (failed(verifyOperands(*this, kernel)))
      return failure();
  }
  return success();
}

void LaunchOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : getInputsMutable())
    if (isa<MemRefType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Read::get(), &operand,
                           SideEffects::DefaultResource::get());
  for (OpOperand &operand : getInitsMutable())
    if (isa<MemRefType>(operand.get().getType()))
      effects.emplace_back(MemoryEffects::Write::get(), &operand,
                           SideEffects::DefaultResource::get());
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

ParseResult RolesOp::parse(OpAsmParser &parser, OperationState &result) {
  Region *body = result.addRegion();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*body))
    return failure();
  ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

void RolesOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/false);
}

// After its roles, whose attributes it reads.
LogicalResult RolesOp::verifyRegions() {
  SmallVector<RoleOp> roles;
  for (Operation &op : getBody().front().without_terminator()) {
    auto role = dyn_cast<RoleOp>(op);
    if (!role)
      return emitOpError() << "holds only 'tracea_pipe.role', found '"
                           << op.getName() << "'";
    for (RoleOp other : roles) {
      if (other.getName() == role.getName()) {
        InFlightDiagnostic diag = role.emitOpError() << "repeats the role '"
                                                     << role.getName() << "'";
        diag.attachNote(other.getLoc()) << "first defined here";
        return diag;
      }
      if (role.getWarps()[0] < other.getWarps()[1] &&
          other.getWarps()[0] < role.getWarps()[1]) {
        InFlightDiagnostic diag = role.emitOpError()
                                  << "shares warps with the role '"
                                  << other.getName()
                                  << "'; a warp has one role (Rule B)";
        diag.attachNote(other.getLoc()) << "the other role is here";
        return diag;
      }
    }
    roles.push_back(role);
  }
  return success();
}

ParseResult RoleOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  DenseI64ArrayAttr warps;
  Builder &builder = parser.getBuilder();
  if (parser.parseAttribute(name, getNameAttrName(result.name),
                            result.attributes) ||
      parser.parseKeyword("warps"))
    return failure();
  warps = dyn_cast_or_null<DenseI64ArrayAttr>(
      DenseI64ArrayAttr::parse(parser, Type()));
  if (!warps)
    return failure();
  result.addAttribute(getWarpsAttrName(result.name), warps);
  auto optionalInteger = [&](StringRef keyword,
                             StringAttr attrName) -> ParseResult {
    if (failed(parser.parseOptionalKeyword(keyword)))
      return success();
    int64_t value;
    if (parser.parseInteger(value))
      return failure();
    result.addAttribute(attrName, builder.getI64IntegerAttr(value));
    return success();
  };
  if (optionalInteger("copies", getCopiesAttrName(result.name)) ||
      optionalInteger("registers", getRegistersAttrName(result.name)))
    return failure();
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseArgumentList(arguments,
                               OpAsmParser::Delimiter::OptionalParen))
    return failure();
  for (OpAsmParser::Argument &argument : arguments)
    argument.type = builder.getIndexType();
  Region *body = result.addRegion();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*body, arguments))
    return failure();
  ensureTerminator(*body, builder, result.location);
  return success();
}

void RoleOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getNameAttr() << " warps [" << getWarps()[0] << ", "
          << getWarps()[1] << "]";
  if (getCopies() != 1)
    printer << " copies " << static_cast<int64_t>(getCopies());
  if (getRegisters() != 0)
    printer << " registers " << static_cast<int64_t>(getRegisters());
  if (getBody().getNumArguments())
    printer << " (" << getBody().getArguments() << ")";
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(), {getNameAttrName(), getWarpsAttrName(),
                            getCopiesAttrName(), getRegistersAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/false);
}

void RoleOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (getRegisters())
    effects.emplace_back(MemoryEffects::Write::get(),
                         SideEffects::DefaultResource::get());
}

LogicalResult RoleOp::verify() {
  ArrayRef<int64_t> warps = getWarps();
  if (warps.size() != 2 || warps[0] < 0 || warps[1] <= warps[0] ||
      warps[1] > 1024)
    return emitOpError() << "expects warps [first, end) with 0 <= first < end "
                            "<= 1024, found ["
                         << warps << "]";
  int64_t copies = getCopies(), registers = getRegisters();
  if (copies < 1 || (warps[1] - warps[0]) % copies != 0)
    return emitOpError() << "expects copies to divide the number of warps ("
                         << warps[1] - warps[0] << "), found " << copies;
  if (getBody().getNumArguments() > 1)
    return emitOpError() << "expects at most one argument, the team's number";
  for (BlockArgument argument : getBody().getArguments())
    if (!argument.getType().isIndex())
      return emitOpError() << "expects the team's number to be an index, found "
                           << argument.getType();
  if (registers < 0 || registers > 256)
    return emitOpError() << "expects a register budget in [0, 256], found "
                         << registers;
  return success();
}
