//===- MemRefTarget.cpp - Accesses to memrefs, of no vendor ---------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From accesses of lanes to memref, vector and gpu. Staged buffers are seen as
// their elements in a row, which panels and swizzles permute.
//
//===----------------------------------------------------------------------===//

#include "Memory/MemRefTarget.h"
#include "Lanes/Threads.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "tracea/Conversion/TraceaPipeToGPU/Emitter.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

using namespace mlir;
using namespace mlir::tracea_pipe;

static ::tracea::target::TargetDescription
getFacts(const GPULoweringContext &lowering) {
  ::tracea::target::TargetDescription facts;
  facts.occupancy.subgroupSize = static_cast<int>(lowering.getSubgroupSize());
  return facts;
}

MemRefTarget::MemRefTarget(GPULoweringContext &lowering)
    : GPUTarget(getFacts(lowering)), lowering(lowering) {}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

const Team &MemRefTarget::getTeam(Emitter &b) {
  Threads threads(b, b.op, lowering);
  Team &team = teams.emplace_back();
  team.subgroupSize = getSubgroupSize();
  team.lane = threads.getLane();
  team.warp = threads.getWarp();
  return team;
}

void MemRefTarget::meet(Emitter &b) { Threads(b, b.op, lowering).sync(); }

bool MemRefTarget::isMeeting(Operation *op) const {
  return isa<gpu::BarrierOp, SyncOp>(op);
}

void MemRefTarget::meetWorkgroup(Emitter &b) { gpu::BarrierOp::create(b); }

Value MemRefTarget::shuffle(Emitter &b, Value word, Value offset,
                            gpu::ShuffleMode mode) {
  return Threads(b, b.op, lowering).shuffle(word, offset, mode).front();
}

//===----------------------------------------------------------------------===//
// What is known of memory
//===----------------------------------------------------------------------===//

/// Known alignment of a memref's first element, in bytes.
static int64_t getKnownAlignment(Value memory, int64_t unknown) {
  if (auto argument = dyn_cast<BlockArgument>(memory)) {
    auto func =
        dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
    if (func && argument.getOwner() == &func.front() &&
        argument.getArgNumber() < func.getNumArguments())
      if (auto align = func.getArgAttrOfType<IntegerAttr>(
              argument.getArgNumber(), "llvm.align"))
        return align.getInt();
    return unknown;
  }
  return llvm::TypeSwitch<Operation *, int64_t>(memory.getDefiningOp())
      .Case<memref::AssumeAlignmentOp>([](memref::AssumeAlignmentOp op) {
        return int64_t(op.getAlignment());
      })
      .Case<memref::AllocOp, memref::AllocaOp>(
          [&](auto op) { return int64_t(op.getAlignment().value_or(unknown)); })
      .Case<memref::MemorySpaceCastOp, memref::CastOp>(
          [&](auto op) { return getKnownAlignment(op.getSource(), unknown); })
      .Default([&](Operation *) { return unknown; });
}

bool MemRefTarget::describe(Value memory, GlobalBuffer &buffer) {
  buffer.type = cast<MemRefType>(memory.getType());
  buffer.base = memory;
  int64_t bytes = std::max<int64_t>(getElementBytes(buffer.type), 1);
  buffer.alignment = bytes;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(buffer.type.getStridesAndOffset(strides, offset)) ||
      (!strides.empty() && strides.back() != 1))
    return true;
  // Rows begin wherever the strides of the other dimensions lead.
  int64_t alignment = getKnownAlignment(memory, lowering.baseAlignment);
  if (!strides.empty())
    strides.pop_back();
  strides.push_back(offset);
  for (int64_t distance : strides)
    alignment = std::gcd(
        alignment, ShapedType::isDynamic(distance) ? bytes : distance * bytes);
  buffer.alignment = std::max(alignment, bytes);
  return true;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// A window knows its buffer, where its bytes begin.
Value MemRefTarget::getStart(Emitter &b, Value) { return b.i32(0); }

Address MemRefTarget::getStaged(Emitter &b, const StagedWindow &window,
                                Value offset, int64_t constant) {
  auto type = cast<MemRefType>(window.buffer.getType());
  auto workgroup =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  Value memory = memref::MemorySpaceCastOp::create(
      b,
      MemRefType::get(type.getShape(), type.getElementType(), type.getLayout(),
                      workgroup),
      window.buffer);
  memory = memref::ReinterpretCastOp::create(
      b,
      MemRefType::get({type.getNumElements()}, type.getElementType(),
                      MemRefLayoutAttrInterface{}, workgroup),
      memory, /*offset=*/0, ArrayRef<int64_t>{type.getNumElements()},
      ArrayRef<int64_t>{1});
  Value element = b.createOrFold<arith::DivUIOp>(
      b.add(offset, constant), b.i32(window.layout.elementBytes));
  return {memory, {b.toIndex(element)}};
}

Address MemRefTarget::getGlobal(Emitter &, const GlobalBuffer &buffer,
                                Coordinate coordinate) {
  Address address{buffer.base, {}};
  for (unsigned dim = 0; dim < buffer.type.getRank(); ++dim)
    address.indices.push_back(coordinate(dim));
  return address;
}

Address MemRefTarget::move(Emitter &b, const GlobalBuffer &,
                           const Address &address, Coordinate more) {
  Address result = address;
  for (auto [dim, index] : llvm::enumerate(result.indices))
    if (Value distance = more(dim))
      index = b.add(index, distance);
  return result;
}

Address MemRefTarget::advance(Emitter &b, const Address &address, Type,
                              int64_t elements) {
  Address result = address;
  result.indices.back() = b.add(result.indices.back(), elements);
  return result;
}

Address MemRefTarget::advance(Emitter &b, const Address &address, Type,
                              Value elements) {
  Address result = address;
  result.indices.back() = b.add(result.indices.back(), b.toIndex(elements));
  return result;
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

static int64_t getBits(Type type) {
  Type element = getElementTypeOrSelf(type);
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() * bits : bits;
}

/// Reinterprets the bits of a value as another scalar or vector.
static Value bitcast(Emitter &b, Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (!isa<VectorType>(value.getType()) && !isa<VectorType>(type))
    return arith::BitcastOp::create(b, type, value);
  if (!isa<VectorType>(value.getType()))
    value = vector::BroadcastOp::create(b, VectorType::get(1, value.getType()),
                                        value);
  if (auto vector = dyn_cast<VectorType>(type))
    return vector::BitCastOp::create(b, vector, value);
  value = vector::BitCastOp::create(b, VectorType::get(1, type), value);
  return vector::ExtractOp::create(b, value, 0);
}

/// What an access to `memory` moves for a value of `type`: elements of memory.
static Type getAccessType(Value memory, Type type) {
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  int64_t count = getBits(type) / getBits(element);
  return count == 1 && !isa<VectorType>(type)
             ? element
             : Type(VectorType::get(count, element));
}

Value MemRefTarget::load(Emitter &b, Type type, const Address &address,
                         unsigned alignment) {
  Type accessed = getAccessType(address.base, type);
  Value value;
  if (auto vector = dyn_cast<VectorType>(accessed))
    value = vector::LoadOp::create(b, vector, address.base, address.indices,
                                   /*nontemporal=*/false,
                                   llvm::MaybeAlign(alignment));
  else
    value = memref::LoadOp::create(b, address.base, address.indices);
  return bitcast(b, value, type);
}

void MemRefTarget::store(Emitter &b, Value value, const Address &address,
                         unsigned alignment) {
  value = bitcast(b, value, getAccessType(address.base, value.getType()));
  if (isa<VectorType>(value.getType()))
    vector::StoreOp::create(b, value, address.base, address.indices,
                            /*nontemporal=*/false, llvm::MaybeAlign(alignment));
  else
    memref::StoreOp::create(b, value, address.base, address.indices);
}

void MemRefTarget::raise(Emitter &b, Value word, const Address &address) {
  memref::AtomicRMWOp::create(b, arith::AtomicRMWKind::maxu, word, address.base,
                              address.indices);
}

bool MemRefTarget::isStagedLoad(Operation *op) const {
  Value memory;
  if (auto load = dyn_cast<memref::LoadOp>(op))
    memory = load.getMemRef();
  else if (auto load = dyn_cast<vector::LoadOp>(op))
    memory = load.getBase();
  if (!memory)
    return false;
  auto space = dyn_cast_or_null<gpu::AddressSpaceAttr>(
      cast<MemRefType>(memory.getType()).getMemorySpace());
  return space && space.getValue() == gpu::AddressSpace::Workgroup;
}
