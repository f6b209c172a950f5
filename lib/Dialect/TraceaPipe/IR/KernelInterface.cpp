//===- KernelInterface.cpp - What lowered kernels say of themselves -------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes that kernels and their functions carry from one level to the next,
// and to those who launch them.

#include "tracea/Dialect/TraceaPipe/IR/KernelInterface.h"
#include "Verifiers.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "tracea/Dialect/TraceaPipe/IR/UnrollAndJam.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;
using namespace mlir::tracea_pipe::verifiers;

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

//===----------------------------------------------------------------------===//
// TensorMapAttr
//===----------------------------------------------------------------------===//

/// Copies of more elements would overflow what counts their bytes.
static constexpr int64_t kMostBoxElements = int64_t(1) << 20;
/// The unit's limits for a box in im2col mode.
static constexpr int64_t kMostChannels = 256;
static constexpr int64_t kMostPixels = 1024;

/// All corners of a map lie in one word of the unit, as do a copy's offsets.
int64_t mlir::tracea_pipe::getCornerReach(unsigned numCorners) {
  constexpr int64_t kReach[] = {1 << 15, 1 << 7, 1 << 4};
  return numCorners < 1 || numCorners > std::size(kReach)
             ? 0
             : kReach[numCorners - 1];
}

static LogicalResult verifyCorners(EmitError emitError, ArrayRef<int64_t> dims,
                                   ArrayRef<int64_t> box,
                                   ArrayRef<int64_t> lower,
                                   ArrayRef<int64_t> upper, bool written) {
  if (dims.size() < 3 || dims.size() > 5 || lower.size() != dims.size() - 2 ||
      upper.size() != lower.size())
    return emitError() << "has corners [" << lower << "] and [" << upper
                       << "] of " << dims.size()
                       << " dimensions; expected one for each of the 1 to 3 "
                          "between the contiguous and the outermost one";
  int64_t reach = getCornerReach(lower.size());
  for (ArrayRef<int64_t> corners : {lower, upper})
    for (int64_t corner : corners)
      if (corner < -reach || corner >= reach)
        return emitError() << "has a corner at " << corner << "; expected "
                           << -reach << " to " << reach - 1;
  if (box.size() != 2 || box[0] > kMostChannels || box[1] > kMostPixels)
    return emitError() << "has a box of [" << box
                       << "] elements; expected, with corners, at most "
                       << kMostChannels << " channels of at most "
                       << kMostPixels << " pixels";
  if (written)
    return emitError() << "has corners and is written; expected copies in";
  return success();
}

LogicalResult TensorMapAttr::verify(
    EmitError emitError, int64_t argument, Type element, ArrayRef<int64_t> dims,
    ArrayRef<int64_t> box, ArrayRef<int64_t> steps, ArrayRef<int64_t> lower,
    ArrayRef<int64_t> upper, int64_t swizzle, bool tf32, bool written) {
  if (argument < 0)
    return emitError() << "describes argument " << argument
                       << "; expected the number of one";
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8)
    return emitError() << "has elements of type " << element
                       << "; expected integers or floats of whole bytes";
  bool isIm2col = !lower.empty() || !upper.empty();
  if (isIm2col &&
      failed(verifyCorners(emitError, dims, box, lower, upper, written)))
    return failure();
  if (!isIm2col && (dims.empty() || dims.size() != box.size()))
    return emitError() << "has " << dims.size() << " dimensions and a box of "
                       << box.size() << "; expected as many of both, not none";
  int64_t elements = 1;
  for (int64_t extent : box) {
    if (extent < 1 || extent > kMostBoxElements ||
        (elements *= extent) > kMostBoxElements)
      return emitError() << "has a box of [" << box
                         << "] elements; expected extents from 1, and at most "
                         << kMostBoxElements << " elements";
  }
  if (!steps.empty() &&
      (steps.size() != dims.size() || steps.front() != 1 ||
       llvm::any_of(steps, [](int64_t step) { return step < 1 || step > 8; })))
    return emitError() << "has steps [" << steps << "] along " << dims.size()
                       << " dimensions; expected 1 to 8 for each, and 1 along "
                          "the contiguous one";
  if (swizzle != 0 && swizzle != 32 && swizzle != 64 && swizzle != 128)
    return emitError() << "swizzles rows of " << swizzle
                       << " bytes; expected 0, 32, 64 or 128";
  if (tf32 && !element.isF32())
    return emitError() << "rounds elements of type " << element
                       << " to TF32; expected f32";
  return success();
}

int64_t TensorMapAttr::getBoxBytes() const {
  int64_t bytes = getElement().getIntOrFloatBitWidth() / 8;
  for (int64_t extent : getBox())
    bytes *= extent;
  return bytes;
}

//===----------------------------------------------------------------------===//
// KernelInterfaceAttr
//===----------------------------------------------------------------------===//

/// A tensor map against the argument that it describes.
static LogicalResult verifyMap(EmitError emitError, TensorMapAttr map,
                               ArrayRef<Type> arguments) {
  auto type = map.getArgument() < int64_t(arguments.size())
                  ? dyn_cast<MemRefType>(arguments[map.getArgument()])
                  : MemRefType();
  if (!type)
    return emitError() << "has a tensor map of argument " << map.getArgument()
                       << "; expected the number of a memref among its "
                       << arguments.size() << " arguments";
  SmallVector<int64_t> dims(map.getDims());
  llvm::sort(dims);
  if (!llvm::equal(dims, llvm::seq<int64_t>(0, type.getRank())))
    return emitError() << "has a tensor map of dimensions [" << map.getDims()
                       << "] of argument " << map.getArgument()
                       << "; expected each of the " << type.getRank()
                       << " dimensions of " << type << " once";
  return success();
}

/// Whether parameter `number` of a function that takes the arguments is an
/// index or the size of a buffer.
static bool isIndexParameter(ArrayRef<Type> arguments, unsigned number) {
  unsigned first = 0;
  for (Type type : arguments) {
    if (first == number)
      return type.isIndex() || type.isInteger(64);
    auto memref = dyn_cast<MemRefType>(type);
    first += 1 + (memref ? memref.getNumDynamicDims() : 0);
    if (number < first)
      return true;
  }
  return false;
}

static LogicalResult verifyDivisors(EmitError emitError,
                                    AffineMapAttr attribute,
                                    ArrayRef<Type> arguments) {
  AffineMap divisors = attribute.getValue();
  if (divisors.getNumDims() || divisors.getNumResults() == 0)
    return emitError() << "has divisors " << attribute
                       << "; expected some, of symbols alone";
  for (unsigned symbol = 0; symbol < divisors.getNumSymbols(); ++symbol)
    if (divisors.isFunctionOfSymbol(symbol) &&
        !isIndexParameter(arguments, symbol))
      return emitError() << "has divisors " << attribute << " of parameter "
                         << symbol
                         << ", which is no index and no size of a buffer";
  return success();
}

LogicalResult KernelInterfaceAttr::verify(
    EmitError emitError, ArrayRef<Type> arguments, ArrayRef<int64_t> aligned,
    int64_t threads, int64_t cluster, int64_t shared,
    ArrayRef<TensorMapAttr> maps, bool, ArrayRef<StringAttr> assertions,
    AffineMapAttr divisors) {
  if (arguments.size() != aligned.size())
    return emitError() << "has " << arguments.size() << " arguments and "
                       << aligned.size() << " alignments; expected as many";
  for (auto [number, type, bytes] : llvm::enumerate(arguments, aligned)) {
    bool isMemory = isa<MemRefType>(type);
    if (!isMemory && !type.isIntOrIndexOrFloat())
      return emitError() << "has argument " << number << " of type " << type
                         << "; expected a memref, an index, an integer or a "
                            "float";
    if (bytes < 1 || !llvm::isPowerOf2_64(bytes) || (!isMemory && bytes != 1))
      return emitError() << "has argument " << number << " of type " << type
                         << " aligned to " << bytes
                         << " bytes; expected a power of two, of a memref";
  }
  constexpr int64_t kMost = int64_t(1) << 31;
  if (threads < 1 || threads >= kMost || cluster < 1 || cluster >= kMost)
    return emitError() << "has " << threads << " threads and clusters of "
                       << cluster << " workgroups; expected at least one each";
  if (shared < 0 || shared >= kMost)
    return emitError() << "has " << shared
                       << " bytes of shared memory; expected 0 to 2^31 - 1";
  for (TensorMapAttr map : maps)
    if (failed(verifyMap(emitError, map, arguments)))
      return failure();
  for (auto [number, text] : llvm::enumerate(assertions))
    if (text.empty())
      return emitError() << "has no text for assertion " << number
                         << "; expected what it is about";
  return divisors ? verifyDivisors(emitError, divisors, arguments) : success();
}

unsigned KernelInterfaceAttr::getFirstMap() const {
  unsigned count = 0;
  for (Type type : getArguments()) {
    auto memref = dyn_cast<MemRefType>(type);
    count += 1 + (memref ? memref.getNumDynamicDims() : 0);
  }
  return count;
}

TensorMapAttr KernelInterfaceAttr::getMapOf(unsigned parameter) const {
  unsigned first = getFirstMap();
  return parameter >= first && parameter < first + getMaps().size()
             ? getMaps()[parameter - first]
             : TensorMapAttr();
}

//===----------------------------------------------------------------------===//
// Attributes of operations
//===----------------------------------------------------------------------===//

static LogicalResult verifyInterface(Operation *op, Attribute value) {
  auto interface = dyn_cast<KernelInterfaceAttr>(value);
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!interface || !function)
    return op->emitOpError() << "has " << value << " as '" << kInterfaceAttrName
                             << "'; expected a #tracea_pipe.interface<...> of "
                                "a function";
  if (function.getNumArguments() != interface.getNumParameters())
    return op->emitOpError()
           << "has " << function.getNumArguments() << " parameters; its '"
           << kInterfaceAttrName << "' expects " << interface.getNumParameters()
           << ", of which " << interface.getMaps().size() << " are tensor maps"
           << (interface.getNumDivisors() ? ", then two of each divisor" : "")
           << (interface.getAssertions().empty() ? ""
                                                 : " and the last a record");
  return success();
}

LogicalResult
TraceaPipeDialect::verifyOperationAttribute(Operation *op,
                                            NamedAttribute attribute) {
  StringRef name = attribute.getName();
  Attribute value = attribute.getValue();
  if (name == kInterfaceAttrName)
    return verifyInterface(op, value);
  if (name == kCertificatesAttrName)
    return verifyCertificates(op, value);
  if (name == "tracea_pipe.remarks")
    return verifyRemarks(op, value);
  if (name == "tracea_pipe.certified" && !isa<StringAttr>(value))
    return op->emitOpError() << "has " << value
                             << " as 'tracea_pipe.certified'; expected the "
                                "text of a fingerprint";
  if (name == kUnchangedAttrName &&
      (!isa<mlir::UnitAttr>(value) || op->getNumResults() != 1))
    return op->emitOpError() << "has '" << kUnchangedAttrName << "' = " << value
                             << "; expected a unit attribute of a load";
  if (name == kUnrollAndJamAttrName) {
    auto count = dyn_cast<IntegerAttr>(value);
    if (!isa<scf::ForOp>(op) || op->getNumResults() != 0 || !count ||
        !count.getType().isInteger(64) || count.getInt() < 2)
      return op->emitOpError()
             << "has '" << kUnrollAndJamAttrName << "' = " << value
             << "; expected an i64 of at least 2 on a loop without results";
  }
  return success();
}
