//===- LaneLoops.cpp - Loops whose iterations are lanes -------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of plain loops: from an `scf.forall` over the lanes of the workgroup,
// and accesses to single elements and to vectors of neighbours, to a lane's
// number and accesses of the target.

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tracea/Conversion/TraceaPipeToGPU/Emitter.h"
#include "tracea/Conversion/TraceaPipeToGPU/Patterns.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Bytes of the widest access of a lane.
constexpr int64_t kMostBytes = 16;

namespace {
struct LowerLaneLoop : KernelPattern<scf::ForallOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(scf::ForallOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    int64_t threads = b.team.getNumThreads(), lanes = 1;
    for (int64_t extent : op.getStaticUpperBound())
      if (ShapedType::isDynamic(extent) || extent < 1 ||
          llvm::MulOverflow(lanes, extent, lanes) || lanes > threads)
        return op.emitOpError()
               << "expects a loop over at most the " << threads
               << " lanes of its workgroup, of constant extents";
    if (!op.isNormalized() || !op.getOutputs().empty())
      return op.emitOpError()
             << "expects a loop from 0 in steps of 1, without results";
    Value rest = b.team.thread;
    Value takesPart;
    if (lanes < threads)
      takesPart = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, rest,
                                        b.i32(lanes));
    // The last dimension's neighbours are neighbouring lanes.
    SmallVector<Value> indices;
    for (int64_t extent : llvm::reverse(op.getStaticUpperBound())) {
      bool isLast = indices.size() + 1 == op.getStaticUpperBound().size();
      Value number = rest;
      if (!isLast)
        number = b.createOrFold<arith::RemUIOp>(rest, b.i32(extent));
      rest = b.createOrFold<arith::DivUIOp>(rest, b.i32(extent));
      indices.push_back(extent == 1 ? b.index(0) : b.toIndexUnsigned(number));
    }
    std::reverse(indices.begin(), indices.end());
    Block *body = op.getBody();
    rewriter.eraseOp(body->getTerminator());
    if (!takesPart) {
      rewriter.inlineBlockBefore(body, op, indices);
    } else {
      auto branch = scf::IfOp::create(b, takesPart, /*withElseRegion=*/false);
      rewriter.inlineBlockBefore(body, branch.thenBlock()->getTerminator(),
                                 indices);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

/// Where an element is, and what memory holds for it.
struct ElementPlace {
  Address address;
  Type element;
};
} // namespace

/// What memory holds for a type that has no bytes of its own, or whose size is
/// the machine's.
static Type getStoredType(OpBuilder &b, Type element) {
  if (element.isIndex())
    return b.getI64Type();
  return element.isInteger(1) ? b.getI8Type() : element;
}

static unsigned getBytes(Type type) { return type.getIntOrFloatBitWidth() / 8; }

const GlobalBuffer *
mlir::tracea_pipe::findArgument(Value memory, const KernelContext &context) {
  if (auto view = memory.getDefiningOp<memref::ReinterpretCastOp>())
    memory = view.getSource();
  auto argument = context.arguments.find(memory);
  return argument == context.arguments.end() ? nullptr : &argument->second;
}

/// The place in an argument of the kernel, or in a view of one that offset and
/// strides describe.
static ElementPlace findElement(Emitter &b, Value memory, ValueRange indices) {
  GlobalBuffer buffer = *findArgument(memory, b.context);
  auto view = memory.getDefiningOp<memref::ReinterpretCastOp>();
  Type element = getStoredType(b, buffer.type.getElementType());
  buffer.type = MemRefType::get(buffer.type.getShape(), element);
  if (!view)
    return ElementPlace{
        b.target.getGlobal(b, buffer,
                           [&](unsigned dim) { return indices[dim]; }),
        element};
  auto toValue = [&](OpFoldResult number) {
    if (auto value = dyn_cast<Value>(number))
      return b.remap(value);
    return b.index(*getConstantIntValue(number));
  };
  Value offset = toValue(view.getMixedOffsets().front());
  for (auto [index, stride] : llvm::zip(indices, view.getMixedStrides()))
    offset =
        b.add(offset, b.createOrFold<arith::MulIOp>(index, toValue(stride)));
  Address begin =
      b.target.getGlobal(b, buffer, [&](unsigned) { return b.index(0); });
  offset = arith::IndexCastOp::create(b, b.getI64Type(), offset);
  return ElementPlace{b.advance(begin, element, offset), element};
}

namespace {
struct LowerElementLoad : KernelPattern<memref::LoadOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(memref::LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    if (!findArgument(op.getMemRef(), context))
      return failure();
    ElementPlace place = findElement(b, op.getMemRef(), adaptor.getIndices());
    Type type = op.getType();
    Value value = b.load(place.element, place.address, getBytes(place.element));
    if (type.isIndex())
      value = arith::IndexCastOp::create(b, type, value);
    else if (type != place.element)
      value = arith::TruncIOp::create(b, type, value);
    rewriter.replaceOp(op, value);
    return success();
  }
};

struct LowerElementStore : KernelPattern<memref::StoreOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(memref::StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    if (!findArgument(op.getMemRef(), context))
      return failure();
    ElementPlace place = findElement(b, op.getMemRef(), adaptor.getIndices());
    Value value = adaptor.getValue();
    if (value.getType().isIndex())
      value = arith::IndexCastOp::create(b, place.element, value);
    else if (value.getType() != place.element)
      value = arith::ExtUIOp::create(b, place.element, value);
    b.store(value, place.address, getBytes(place.element));
    rewriter.eraseOp(op);
    return success();
  }
};

/// Neighbours along the last dimension, in pieces as wide as memory is known to
/// be aligned.
class VectorPlace {
public:
  VectorPlace(Emitter &b, Value memory, ValueRange indices, ValueRange adapted,
              VectorType type);

  Value load();
  void store(Value vector);

private:
  int64_t getAlignment(Value memory, ValueRange indices);
  Address advance(int64_t element) {
    return element ? b.advance(place.address, place.element, element)
                   : place.address;
  }

  Emitter &b;
  ElementPlace place;
  VectorType type;
  int64_t width = 1, bytes = 1;
};
} // namespace

/// What the bytes from the buffer's beginning to the first neighbour are a
/// multiple of.
int64_t VectorPlace::getAlignment(Value memory, ValueRange indices) {
  int64_t alignment = findArgument(memory, b.context)->alignment;
  auto add = [&](int64_t elements) {
    alignment = std::gcd(alignment, std::gcd(elements, kMostBytes) * bytes);
  };
  auto addNumber = [&](OpFoldResult number) {
    std::optional<int64_t> known = getConstantIntValue(number);
    add(known ? *known : getKnownDivisor(cast<Value>(number)));
  };
  add(getKnownDivisor(indices.back()));
  if (auto view = memory.getDefiningOp<memref::ReinterpretCastOp>()) {
    addNumber(view.getMixedOffsets().front());
    for (OpFoldResult stride : ArrayRef(view.getMixedStrides()).drop_back())
      addNumber(stride);
  }
  return alignment;
}

VectorPlace::VectorPlace(Emitter &b, Value memory, ValueRange indices,
                         ValueRange adapted, VectorType type)
    : b(b), place(findElement(b, memory, adapted)), type(type),
      bytes(getBytes(place.element)) {
  while (2 * width * bytes <= getAlignment(memory, indices) &&
         2 * width * bytes <= kMostBytes &&
         type.getNumElements() % (2 * width) == 0)
    width *= 2;
}

Value VectorPlace::load() {
  Type piece = width == 1 ? type.getElementType()
                          : Type(VectorType::get(width, type.getElementType()));
  SmallVector<Value> elements;
  for (int64_t at = 0; at < type.getNumElements(); at += width) {
    Value loaded = b.load(piece, advance(at), width * bytes);
    if (piece == type)
      return loaded;
    for (int64_t i = 0; i < width; ++i)
      elements.push_back(
          width == 1 ? loaded
                     : vector::ExtractOp::create(b, loaded, i).getResult());
  }
  return vector::FromElementsOp::create(b, type, elements);
}

void VectorPlace::store(Value vector) {
  if (width == type.getNumElements())
    return b.store(vector, place.address, width * bytes);
  for (int64_t at = 0; at < type.getNumElements(); at += width) {
    SmallVector<Value> elements;
    for (int64_t i = 0; i < width; ++i)
      elements.push_back(vector::ExtractOp::create(b, vector, at + i));
    Value piece = elements.front();
    if (width > 1)
      piece = vector::FromElementsOp::create(
          b, VectorType::get(width, type.getElementType()), elements);
    b.store(piece, advance(at), width * bytes);
  }
}

/// Whether elements are bytes, of a vector that the lowering has.
static LogicalResult verifyVector(Operation *op, VectorType type) {
  Type element = type.getElementType();
  if (type.getRank() == 1 && !type.isScalable() && element.isIntOrFloat() &&
      element.getIntOrFloatBitWidth() % 8 == 0)
    return success();
  return op->emitOpError() << "expects a vector of one dimension, of elements "
                              "of whole bytes, found "
                           << type;
}

namespace {
struct LowerVectorLoad : KernelPattern<vector::LoadOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(vector::LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    if (!findArgument(op.getBase(), context))
      return failure();
    VectorType type = op.getVectorType();
    if (failed(verifyVector(op, type)))
      return failure();
    VectorPlace place(b, op.getBase(), op.getIndices(), adaptor.getIndices(),
                      type);
    rewriter.replaceOp(op, place.load());
    return success();
  }
};

struct LowerVectorStore : KernelPattern<vector::StoreOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(vector::StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    if (!findArgument(op.getBase(), context))
      return failure();
    VectorType type = op.getVectorType();
    if (failed(verifyVector(op, type)))
      return failure();
    VectorPlace(b, op.getBase(), op.getIndices(), adaptor.getIndices(), type)
        .store(adaptor.getValueToStore());
    rewriter.eraseOp(op);
    return success();
  }
};

struct LowerElementRaise : KernelPattern<memref::AtomicRMWOp> {
  using KernelPattern::KernelPattern;

  LogicalResult
  matchAndRewrite(memref::AtomicRMWOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Emitter b(op, rewriter, context);
    if (!findArgument(op.getMemref(), context))
      return failure();
    if (op.getKind() != arith::AtomicRMWKind::maxu ||
        !op.getType().isInteger(64) || !op.getResult().use_empty())
      return op.emitOpError()
             << "expects the greater of two numbers without a sign, of 64 bits "
                "and not used again";
    ElementPlace place = findElement(b, op.getMemref(), adaptor.getIndices());
    b.target.raise(b, adaptor.getValue(), place.address);
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populateLaneLoopPatterns(const TypeConverter &converter,
                                                 RewritePatternSet &patterns,
                                                 KernelContext &context) {
  patterns.add<LowerLaneLoop, LowerElementLoad, LowerElementStore,
               LowerVectorLoad, LowerVectorStore, LowerElementRaise>(
      converter, patterns.getContext(), context);
}
