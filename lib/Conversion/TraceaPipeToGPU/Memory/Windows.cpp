//===- Windows.cpp - Accesses seen from the memory they go to -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A window is a linear map from the coordinates of an access to those of the
// memory behind it; panels and swizzles are applied after it. This is its
// arithmetic.

#include "tracea/Conversion/TraceaPipeToGPU/Windows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// The swizzle of `pairs` (bit, source bit) on byte offsets.
static FailureOr<alg::Swizzle>
getSwizzle(ArrayRef<int64_t> pairs,
           function_ref<InFlightDiagnostic()> emitError) {
  if (pairs.empty())
    return alg::Swizzle();
  int64_t bits = *std::max_element(pairs.begin(), pairs.end()) + 1;
  alg::F2Vectors columns;
  for (int64_t bit = 0; bit < bits; ++bit)
    columns.push_back(uint64_t(1) << bit);
  for (size_t i = 0; i + 1 < pairs.size(); i += 2)
    columns[pairs[i + 1]] ^= uint64_t(1) << pairs[i];
  alg::Expected<alg::F2Matrix> matrix = alg::F2Matrix::get(bits, columns);
  if (!matrix)
    return emitError() << matrix.message(), failure();
  alg::Expected<alg::Swizzle> swizzle = alg::Swizzle::get(*matrix);
  if (!swizzle)
    return emitError() << swizzle.message(), failure();
  return *swizzle;
}

FailureOr<StagedLayout>
StagedLayout::get(MemRefType type,
                  function_ref<InFlightDiagnostic()> emitError) {
  auto staged = dyn_cast_or_null<StagedAttr>(type.getMemorySpace());
  if (!staged || !type.hasStaticShape() || !type.getLayout().isIdentity() ||
      type.getRank() == 0 || type.getNumElements() == 0)
    return emitError() << "expects a staged buffer of static shape and "
                          "identity layout, found "
                       << type,
           failure();
  StagedLayout layout;
  layout.type = type;
  Type element = type.getElementType();
  if (!element.isIndex() &&
      (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8))
    return emitError() << "expects elements of whole bytes, found " << type,
           failure();
  layout.elementBytes = getElementBytes(type);
  int64_t columns = type.getShape().back();
  layout.panel = staged.getPanel() ? staged.getPanel() : columns;
  layout.steps.assign(type.getRank(), layout.elementBytes);
  int64_t step = layout.panel * layout.elementBytes;
  for (int64_t dim = type.getRank() - 2; dim >= 0; --dim) {
    layout.steps[dim] = step;
    step *= type.getDimSize(dim);
  }
  layout.panelBytes = step;
  FailureOr<alg::Swizzle> swizzle = getSwizzle(staged.getSwizzle(), emitError);
  if (failed(swizzle))
    return failure();
  layout.swizzle = *swizzle;
  for (alg::SwizzleMode mode :
       {alg::SwizzleMode::None, alg::SwizzleMode::Bytes32,
        alg::SwizzleMode::Bytes64, alg::SwizzleMode::Bytes128})
    if (alg::Swizzle::mode(mode) == layout.swizzle)
      layout.mode = mode;
  return layout;
}

int64_t StagedLayout::getOffset(ArrayRef<int64_t> coordinates) const {
  int64_t offset = 0;
  for (auto [step, coordinate] : llvm::zip(steps, coordinates.drop_back()))
    offset += step * coordinate;
  int64_t column = coordinates.back();
  int64_t inPanel = llvm::mod(column, panel);
  return offset + inPanel * elementBytes +
         (column - inPanel) / panel * panelBytes;
}

int64_t StagedLayout::getBytes() const {
  return type.getShape().back() / panel * panelBytes;
}

int64_t StagedLayout::getAlignment() const {
  // Bulk copies go to multiples of 128 bytes; what they swizzle are the bits of
  // the address.
  return std::max<int64_t>(128, swizzle.period());
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

int64_t mlir::tracea_pipe::getElementBytes(MemRefType type) {
  Type element = type.getElementType();
  return element.isIndex() ? 8 : element.getIntOrFloatBitWidth() / 8;
}

/// Adds factor · value to an origin.
static void addTerm(WindowDim &dim, Value value, int64_t factor) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    dim.form.constant += factor * constant.getSExtValue();
    return;
  }
  if (factor)
    dim.terms.push_back({value, factor, getKnownDivisor(value)});
}

void mlir::tracea_pipe::noteSteps(MutableArrayRef<WindowDim> dims,
                                  Operation *op) {
  auto loop = op->getParentOfType<scf::ForOp>();
  for (WindowDim &dim : dims)
    for (WindowDim::Term &term : dim.terms) {
      term.isStep = loop && !loop.isDefinedOutsideOfLoop(term.value);
      if (term.isStep)
        term.range = getKnownRange(term.value);
    }
}

SmallVector<WindowDim> mlir::tracea_pipe::composeAccess(Value &memory,
                                                        ValueRange indices,
                                                        AffineMap map) {
  SmallVector<WindowDim> dims;
  unsigned inputs = map.getNumDims();
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    WindowDim &entry = dims.emplace_back();
    entry.form = getLinearForm(expr, inputs);
    if (!indices.empty())
      addTerm(entry, indices[dim], 1);
  }
  while (auto view = memory.getDefiningOp<ViewOp>()) {
    SmallVector<WindowDim> outer;
    AffineMap viewMap = view.getMap();
    for (auto [dim, expr] : llvm::enumerate(viewMap.getResults())) {
      WindowDim &entry = outer.emplace_back();
      LinearForm form = getLinearForm(expr, viewMap.getNumDims());
      entry.form.constant = form.constant;
      entry.form.coefficients.assign(inputs, 0);
      addTerm(entry, view.getOffsets()[dim], 1);
      for (auto [factor, inner] : llvm::zip(form.coefficients, dims)) {
        entry.form.constant += factor * inner.form.constant;
        for (unsigned i = 0; i < inputs; ++i)
          entry.form.coefficients[i] += factor * inner.form.coefficients[i];
        for (const WindowDim::Term &term : inner.terms)
          addTerm(entry, term.value, factor * term.factor);
      }
    }
    dims = std::move(outer);
    memory = view.getSource();
  }
  return dims;
}

bool mlir::tracea_pipe::runsAlongLast(ArrayRef<WindowDim> dims) {
  if (dims.empty())
    return false;
  for (const WindowDim &dim : dims.drop_back())
    if (dim.form.coefficients[1])
      return false;
  return dims.back().form.coefficients[0] == 0 &&
         dims.back().form.coefficients[1] == 1;
}

int64_t GlobalWindow::getFactor(const WindowDim &dim, unsigned tileDim) const {
  if (inputs.empty())
    return dim.form.coefficients[tileDim];
  for (auto [input, factor] : llvm::zip_equal(inputs, dim.form.coefficients))
    if (input.dim == tileDim && input.walk < 0)
      return factor;
  return 0;
}

bool GlobalWindow::dependsOn(const WindowDim &dim, unsigned tileDim) const {
  if (inputs.empty())
    return dim.form.coefficients[tileDim] != 0;
  return llvm::any_of(llvm::zip_equal(inputs, dim.form.coefficients),
                      [&](const auto &entry) {
                        auto [input, factor] = entry;
                        return input.dim == tileDim && factor != 0;
                      });
}

/// Whether `extent` is that of a dimension of the window's memory.
static bool isExtent(Value extent, const GlobalWindow &window,
                     const GlobalBuffer &buffer, unsigned dim) {
  if (!buffer.type.isDynamicDim(dim))
    return getConstantIntValue(extent) == buffer.type.getDimSize(dim);
  if (!buffer.sizes.empty())
    return extent == buffer.sizes[dim];
  auto op = extent.getDefiningOp<memref::DimOp>();
  return op && op.getSource() == window.buffer && op.getConstantIndex() == dim;
}

/// The first of the neighbouring dimensions of memory that a walk goes through
/// whole, in their order, and nothing else: the number that is walked counts
/// their elements.
static std::optional<unsigned> findWhole(const GlobalWindow &window,
                                         const GlobalBuffer &buffer,
                                         DelinearizeOp walk, int number) {
  unsigned count = walk.getBasis().size() + 1;
  // Between rows that lie apart there are elements of nobody's number.
  if (!buffer.type.getLayout().isIdentity())
    return std::nullopt;
  for (unsigned first = 0; first + count <= window.dims.size(); ++first) {
    bool isWhole = true;
    for (auto [dim, entry] : llvm::enumerate(window.dims))
      for (auto [input, factor] :
           llvm::zip_equal(window.inputs, entry.form.coefficients)) {
        bool isOwn = dim >= first && dim < first + count;
        bool isPlace = input.walk == number && dim == first + input.coordinate;
        if (isOwn || input.walk == number)
          isWhole &= factor == (isPlace ? 1 : 0);
      }
    for (unsigned dim = first; dim < first + count; ++dim) {
      const WindowDim &entry = window.dims[dim];
      isWhole &= entry.terms.empty() && entry.form.constant == 0;
      isWhole &= dim == first || isExtent(walk.getBasis()[dim - first - 1],
                                          window, buffer, dim);
    }
    if (isWhole)
      return first;
  }
  return std::nullopt;
}

void mlir::tracea_pipe::addWalks(GlobalWindow &window,
                                 const GlobalBuffer &buffer,
                                 const TileTransfer &transfer) {
  window.inputs = getMapInputs(transfer);
  window.walks.assign(transfer.walks.begin(), transfer.walks.end());
  // Whether a coordinate lies inside is asked of each by itself.
  if (!transfer.padded.empty() || transfer.walks.size() != 1)
    return;
  DelinearizeOp walk = getDelinearize(transfer.walks.front());
  std::optional<unsigned> first =
      walk ? findWhole(window, buffer, walk, 0) : std::nullopt;
  if (!first)
    return;
  unsigned last = *first + walk.getBasis().size(), dims = transfer.shape.size();
  for (auto [number, entry] : llvm::enumerate(window.dims)) {
    LinearForm form;
    form.constant = entry.form.constant;
    for (unsigned dim = 0; dim < dims; ++dim)
      form.coefficients.push_back(window.getFactor(entry, dim));
    if (number == last) {
      form.coefficients[transfer.along.front()] = 1;
      addTerm(entry, walk.getFirst(), 1);
      form.constant = entry.form.constant;
    }
    entry.form = std::move(form);
  }
  window.inputs.clear();
  window.walks.clear();
}

Value mlir::tracea_pipe::stripReshapes(Value memory) {
  while (Operation *op = memory.getDefiningOp()) {
    if (!isa<memref::CollapseShapeOp, memref::ExpandShapeOp>(op))
      break;
    auto from = cast<MemRefType>(op->getOperand(0).getType());
    auto to = cast<MemRefType>(memory.getType());
    // Panels are cut from the last dimension.
    auto staged = dyn_cast_or_null<StagedAttr>(from.getMemorySpace());
    if (!from.getLayout().isIdentity() || !from.hasStaticShape() ||
        !to.getRank() || !staged ||
        (staged.getPanel() && from.getShape().back() != to.getShape().back()))
      break;
    memory = op->getOperand(0);
  }
  return memory;
}

FailureOr<StagedWindow>
StagedWindow::get(Value memory, ValueRange indices, AffineMap map,
                  function_ref<InFlightDiagnostic()> emitError) {
  StagedWindow window;
  window.dims = composeAccess(memory, indices, map);
  // Another workgroup's memory is laid out as this one's.
  if (auto peer = memory.getDefiningOp<PeerOp>())
    memory = peer.getMemory();
  // Seen with the dimensions that the access sees.
  auto type = dyn_cast<MemRefType>(memory.getType());
  memory = stripReshapes(memory);
  Operation *root = memory.getDefiningOp();
  if (!root || !type || !isa<AcquireOp, WaitOp, ScratchOp>(root)) {
    InFlightDiagnostic diag =
        emitError() << "expects staged memory that comes from 'acquire', "
                       "'wait' or 'scratch' by views alone";
    diag.attachNote(memory.getLoc()) << "the memory comes from here";
    return failure();
  }
  FailureOr<StagedLayout> layout = StagedLayout::get(type, emitError);
  if (failed(layout))
    return failure();
  window.buffer = memory;
  window.layout = *layout;
  return window;
}

FailureOr<StagedWindow>
StagedWindow::get(Value memory, function_ref<InFlightDiagnostic()> emitError) {
  auto type = cast<MemRefType>(memory.getType());
  return get(
      memory, {},
      AffineMap::getMultiDimIdentityMap(type.getRank(), memory.getContext()),
      emitError);
}

LogicalResult
StagedWindow::addWalks(const TileTransfer &transfer,
                       function_ref<InFlightDiagnostic()> emitError) {
  for (Value walk : transfer.walks) {
    DelinearizeOp op = getDelinearize(walk);
    Digits digits;
    std::optional<int64_t> first =
        op ? getConstantIntValue(op.getFirst()) : std::nullopt;
    bool isKnown = first.has_value() && *first >= 0;
    digits.first = first.value_or(0);
    if (op)
      for (Value extent : op.getBasis()) {
        std::optional<int64_t> known = getConstantIntValue(extent);
        isKnown &= known.has_value();
        digits.basis.push_back(known.value_or(1));
      }
    if (!isKnown) {
      InFlightDiagnostic error =
          emitError() << "goes along a walk through staged memory, expects one "
                         "of constant numbers and extents";
      error.attachNote(walk.getLoc()) << "the walk begins here";
      return failure();
    }
    walks.push_back(std::move(digits));
  }
  inputs = getMapInputs(transfer);
  return success();
}

SmallVector<int64_t> StagedWindow::getInputs(ArrayRef<int64_t> at) const {
  if (walks.empty())
    return SmallVector<int64_t>(at);
  SmallVector<int64_t> result;
  for (const MapInput &input : inputs) {
    result.push_back(at[input.dim]);
    if (input.walk < 0)
      continue;
    // Digit i, counted from the one without an end, is what is left of the
    // number above those behind it, below its own extent.
    const Digits &digits = walks[input.walk];
    int64_t &number = result.back();
    number += digits.first;
    for (int64_t extent : ArrayRef(digits.basis).drop_front(input.coordinate))
      number /= extent;
    if (input.coordinate > 0)
      number %= digits.basis[input.coordinate - 1];
  }
  return result;
}

int64_t StagedWindow::getOffset(ArrayRef<int64_t> at) const {
  SmallVector<int64_t> coordinates, inputs = getInputs(at);
  for (const Dim &dim : dims) {
    int64_t coordinate = dim.form.constant;
    for (auto [factor, x] : llvm::zip(dim.form.coefficients, inputs))
      coordinate += factor * x;
    coordinates.push_back(coordinate);
  }
  return layout.getOffset(coordinates);
}

bool StagedWindow::hasTerms() const {
  return llvm::any_of(dims, [](const Dim &dim) { return !dim.terms.empty(); });
}

bool StagedWindow::startsPanels(Value *term) const {
  if (layout.panel == layout.type.getShape().back())
    return true;
  for (const Term &entry : dims.back().terms)
    if (entry.factor * entry.divisor % layout.panel) {
      if (term)
        *term = entry.value;
      return false;
    }
  return true;
}

int64_t StagedWindow::getTermsAlignment() const {
  if (!startsPanels())
    return 1;
  int64_t alignment = 0;
  for (auto [index, dim] : llvm::enumerate(dims)) {
    bool last = index + 1 == dims.size();
    bool panels = layout.panel != layout.type.getShape().back();
    for (const Term &term : dim.terms) {
      int64_t elements = term.factor * term.divisor;
      alignment =
          std::gcd(alignment, last && panels
                                  ? elements / layout.panel * layout.panelBytes
                                  : elements * layout.steps[index]);
    }
  }
  return alignment;
}
