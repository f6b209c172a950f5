//===- Emitter.cpp - Addresses, barriers and lanes ------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lowering.h"

#include <map>

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

/// How long a wait for a barrier may suspend its warp before it looks again.
constexpr int64_t kSuspendNanoseconds = 10000000;

Value Emitter::i32(int64_t value) {
  return arith::ConstantOp::create(
      *this, getI32IntegerAttr(static_cast<int32_t>(value)));
}

Value Emitter::index(int64_t value) {
  return arith::ConstantIndexOp::create(*this, value);
}

Value Emitter::add(Value x, int64_t y) {
  if (y == 0)
    return x;
  return add(x, x.getType().isIndex() ? index(y) : i32(y));
}

Value Emitter::mul(Value x, int64_t y) {
  if (y == 1)
    return x;
  return createOrFold<arith::MulIOp>(x,
                                     x.getType().isIndex() ? index(y) : i32(y));
}

Value Emitter::toI32(Value index) {
  return createOrFold<arith::IndexCastOp>(getI32Type(), index);
}

Value Emitter::remap(Value value) { return rewriter.getRemappedValue(value); }

static Value getBytePointer(ImplicitLocOpBuilder &b, Value base,
                            LLVM::GEPArg offset) {
  return LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), base, offset);
}

Value Emitter::sharedPointer(Value offset) {
  return getBytePointer(*this, context.shared, offset);
}

Value Emitter::sharedPointer(Value offset, int64_t constant) {
  Value pointer = sharedPointer(offset);
  if (constant == 0)
    return pointer;
  return getBytePointer(*this, pointer, static_cast<int32_t>(constant));
}

Type mlir::tracea_pipe::getMemoryType(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (!isa<FloatType>(element) || element.getIntOrFloatBitWidth() != 8)
    return type;
  Type byte = IntegerType::get(type.getContext(), 8);
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(byte);
  return byte;
}

Value Emitter::load(Type type, Value pointer, unsigned alignment) {
  Type stored = getMemoryType(type);
  Value value = LLVM::LoadOp::create(*this, stored, pointer, alignment);
  if (stored == type)
    return value;
  return arith::BitcastOp::create(*this, type, value);
}

void Emitter::store(Value value, Value pointer, unsigned alignment) {
  Type stored = getMemoryType(value.getType());
  if (stored != value.getType())
    value = arith::BitcastOp::create(*this, stored, value);
  LLVM::StoreOp::create(*this, value, pointer, alignment);
}

/// What `createpolicy.fractional` makes of all of an access.
Value Emitter::cachePolicy(Reuse reuse) {
  constexpr int64_t kEvictFirst = 0x12F0000000000000;
  constexpr int64_t kEvictLast = 0x14F0000000000000;
  if (reuse == Reuse::Unknown)
    return {};
  return arith::ConstantOp::create(
      *this,
      getI64IntegerAttr(reuse == Reuse::Once ? kEvictFirst : kEvictLast));
}

void Emitter::onLeader(function_ref<void()> body) {
  if (!team.leader)
    return body();
  auto ifOp = scf::IfOp::create(*this, team.leader, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(ifOp.thenBlock());
  body();
}

void Emitter::meet() {
  if (team.singleLane)
    return;
  if (team.numWarps == 1) {
    NVVM::SyncWarpOp::create(*this, i32(-1));
    return;
  }
  Value id = team.barrier ? add(team.index, team.barrier) : i32(0);
  NVVM::BarrierOp::create(*this, /*res=*/Type(), id, i32(team.getNumThreads()),
                          /*reductionOp=*/nullptr,
                          /*reductionPredicate=*/nullptr);
}

Value Emitter::barrierOf(const ChannelPlan &channel, int64_t first,
                         Value slot) {
  Value offset = add(mul(slot, 8), first);
  if (channel.owner && channel.copies > 1)
    offset = add(offset, mul(channel.owner->index, 8 * channel.slots));
  return sharedPointer(offset);
}

void Emitter::wait(Value barrier, Value parity) {
  NVVM::MBarrierTryWaitParityOp::create(*this, barrier, parity,
                                        i32(kSuspendNanoseconds));
}

void Emitter::arrive(Value barrier) {
  NVVM::MBarrierArriveOp::create(*this, getI64Type(), barrier,
                                 /*count=*/nullptr);
}

Value Emitter::termsOf(const StagedWindow &window) {
  const StagedLayout &layout = window.layout;
  bool panels = layout.panel != layout.type.getShape().back();
  Value sum;
  for (auto [number, dim] : llvm::enumerate(window.dims)) {
    bool last = number + 1 == window.dims.size();
    for (const StagedWindow::Term &term : dim.terms) {
      Value columns = mul(toI32(remap(term.value)), term.factor);
      Value bytes =
          last && panels
              ? mul(createOrFold<arith::DivSIOp>(columns, i32(layout.panel)),
                    layout.panelBytes)
              : mul(columns, layout.steps[number]);
      sum = sum ? add(sum, bytes) : bytes;
    }
  }
  return sum;
}

Value Emitter::swizzle(const alg::Swizzle &swizzle, Value offset) {
  // Bits that move by the same distance move together.
  std::map<unsigned, uint64_t> moved;
  for (auto [source, column] : llvm::enumerate(swizzle.matrix().columns()))
    for (unsigned bit = 0; bit < source; ++bit)
      if (column >> bit & 1)
        moved[source - bit] |= uint64_t(1) << bit;
  Value result = offset;
  for (auto [distance, mask] : moved) {
    Value bits = arith::ShRUIOp::create(*this, offset, i32(distance));
    bits = arith::AndIOp::create(*this, bits, i32(mask));
    result = arith::XOrIOp::create(*this, result, bits);
  }
  return result;
}

Value Emitter::stagedOffset(const StagedWindow &window, ValueRange at) {
  const StagedLayout &layout = window.layout;
  bool panels = layout.panel != layout.type.getShape().back();
  Value sum;
  auto addTo = [&](Value &total, Value x) {
    total = total ? add(total, x) : x;
  };
  for (auto [number, dim] : llvm::enumerate(window.dims)) {
    bool last = number + 1 == window.dims.size();
    Value coordinate = i32(dim.form.constant);
    for (auto [factor, x] : llvm::zip(dim.form.coefficients, at))
      if (factor)
        coordinate = add(coordinate, mul(x, factor));
    for (const WindowDim::Term &term : dim.terms)
      coordinate = add(coordinate, mul(toI32(remap(term.value)), term.factor));
    if (last && panels) {
      Value panel = createOrFold<arith::DivUIOp>(coordinate, i32(layout.panel));
      addTo(sum, mul(panel, layout.panelBytes));
      coordinate = createOrFold<arith::RemUIOp>(coordinate, i32(layout.panel));
    }
    addTo(sum, mul(coordinate, layout.steps[number]));
  }
  return swizzle(layout.swizzle, sum);
}

Value Emitter::globalPointer(const GlobalWindow &window, ValueRange at,
                             ArrayRef<int64_t> checked, Value &inside) {
  const GlobalBuffer &buffer = context.arguments.find(window.buffer)->second;
  auto require = [&](Value condition) {
    inside = inside
                 ? arith::AndIOp::create(*this, inside, condition).getResult()
                 : condition;
  };
  Value linear;
  for (auto [number, dim] : llvm::enumerate(window.dims)) {
    Value coordinate = index(dim.form.constant);
    for (auto [factor, x] : llvm::zip(dim.form.coefficients, at))
      if (factor)
        coordinate = add(coordinate, mul(x, factor));
    for (const WindowDim::Term &term : dim.terms)
      coordinate = add(coordinate, mul(remap(term.value), term.factor));
    // Below zero is far above as an unsigned number.
    if (llvm::is_contained(checked, static_cast<int64_t>(number)))
      require(arith::CmpIOp::create(*this, arith::CmpIPredicate::ult,
                                    coordinate, buffer.sizes[number]));
    linear =
        linear ? add(createOrFold<arith::MulIOp>(linear, buffer.sizes[number]),
                     coordinate)
               : coordinate;
  }
  Value offset = arith::IndexCastOp::create(*this, getI64Type(),
                                            linear ? linear : index(0));
  // Some floats are numbers of their bits to LLVM.
  Type element = buffer.type.getElementType();
  if (!LLVM::isCompatibleType(element))
    element = getIntegerType(element.getIntOrFloatBitWidth());
  return LLVM::GEPOp::create(*this, buffer.pointer.getType(), element,
                             buffer.pointer, LLVM::GEPArg(offset));
}
