//===- NVVMTarget.cpp - One access, one copy, one meeting in NVVM ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From what the level of all GPUs asks for to the NVVM and LLVM dialects.
//
//===----------------------------------------------------------------------===//

#include "NVVMTarget.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "tracea/Conversion/TraceaPipeToGPU/Emitter.h"
#include "tracea/Dialect/TraceaPipe/IR/KernelInterface.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

void NVVMTarget::meet(Emitter &b) {
  if (b.team.numWarps == 1) {
    NVVM::SyncWarpOp::create(b, b.i32(-1));
    return;
  }
  Value id = b.team.barrier ? b.add(b.team.index, b.team.barrier) : b.i32(0);
  NVVM::BarrierOp::create(b, /*res=*/Type(), id, b.i32(b.team.getNumThreads()),
                          /*reductionOp=*/nullptr,
                          /*reductionPredicate=*/nullptr);
}

bool NVVMTarget::isMeeting(Operation *op) const {
  return isa<NVVM::BarrierOp>(op);
}

void NVVMTarget::meetWorkgroup(Emitter &b) { NVVM::BarrierOp::create(b); }

void NVVMTarget::fenceUnits(Emitter &b) {
  // Units read memory by another way than lanes write it.
  NVVM::FenceProxyOp::create(
      b, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
}

Value NVVMTarget::shuffle(Emitter &b, Value word, Value offset,
                          gpu::ShuffleMode mode) {
  NVVM::ShflKind kind = NVVM::ShflKind::idx;
  // The last lane, or the first one where lanes below are read.
  int64_t clamp = getSubgroupSize() - 1;
  switch (mode) {
  case gpu::ShuffleMode::XOR:
    kind = NVVM::ShflKind::bfly;
    break;
  case gpu::ShuffleMode::UP:
    kind = NVVM::ShflKind::up;
    clamp = 0;
    break;
  case gpu::ShuffleMode::DOWN:
    kind = NVVM::ShflKind::down;
    break;
  case gpu::ShuffleMode::IDX:
    break;
  }
  return NVVM::ShflOp::create(b, word.getType(), b.i32(-1), word, offset,
                              b.i32(clamp), kind,
                              /*return_value_and_is_valid=*/::mlir::UnitAttr());
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// What LLVM has for `type`, a scalar or a vector: integers for floats of 8
/// bits.
static Type getMemoryType(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (!isa<FloatType>(element) || element.getIntOrFloatBitWidth() != 8)
    return type;
  Type byte = IntegerType::get(type.getContext(), 8);
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(byte);
  return byte;
}

static Value getElementPointer(Emitter &b, Value base, Type element,
                               LLVM::GEPArg offset) {
  return LLVM::GEPOp::create(b, base.getType(), getMemoryType(element), base,
                             offset);
}

Address NVVMTarget::getStaged(Emitter &b, const StagedWindow &, Value offset,
                              int64_t constant) {
  Value pointer = getElementPointer(b, shared, b.getI8Type(), offset);
  if (constant)
    pointer = getElementPointer(b, pointer, b.getI8Type(),
                                static_cast<int32_t>(constant));
  return {pointer, {}};
}

/// The elements from the beginning of a buffer to these coordinates, i64; no
/// coordinate is zero.
static Value getElements(Emitter &b, const GlobalBuffer &buffer,
                         GPUTarget::Coordinate coordinate) {
  Value linear;
  for (auto [dim, size] : llvm::enumerate(buffer.sizes)) {
    Value next = coordinate(dim);
    if (!buffer.strides.empty()) {
      if (next)
        next = b.mul(next, buffer.strides[dim]);
    } else if (linear) {
      linear = b.createOrFold<arith::MulIOp>(linear, size);
    }
    if (next)
      linear = linear ? b.add(linear, next) : next;
  }
  return arith::IndexCastOp::create(b, b.getI64Type(),
                                    linear ? linear : b.index(0));
}

Address NVVMTarget::getGlobal(Emitter &b, const GlobalBuffer &buffer,
                              Coordinate coordinate) {
  return move(b, buffer, {buffer.base, {}}, coordinate);
}

Address NVVMTarget::move(Emitter &b, const GlobalBuffer &buffer,
                         const Address &address, Coordinate more) {
  Value elements = getElements(b, buffer, more);
  return {getElementPointer(b, address.base, buffer.type.getElementType(),
                            elements),
          {}};
}

Address NVVMTarget::advance(Emitter &b, const Address &address, Type element,
                            int64_t elements) {
  return {getElementPointer(b, address.base, element,
                            static_cast<int32_t>(elements)),
          {}};
}

Address NVVMTarget::advance(Emitter &b, const Address &address, Type element,
                            Value elements) {
  return {getElementPointer(b, address.base, element, elements), {}};
}

Value NVVMTarget::load(Emitter &b, Type type, const Address &address,
                       unsigned alignment) {
  Type stored = getMemoryType(type);
  Value value = LLVM::LoadOp::create(b, stored, address.base, alignment);
  return stored == type ? value : arith::BitcastOp::create(b, type, value);
}

void NVVMTarget::store(Emitter &b, Value value, const Address &address,
                       unsigned alignment) {
  Type stored = getMemoryType(value.getType());
  if (stored != value.getType())
    value = arith::BitcastOp::create(b, stored, value);
  LLVM::StoreOp::create(b, value, address.base, alignment);
}

Value NVVMTarget::loadUnchanged(Emitter &b, Type type, const Address &address,
                                unsigned alignment) {
  auto load = LLVM::LoadOp::create(b, type, address.base, alignment);
  // No `invariant`: the load must stay behind the wait for other grids.
  load->setAttr(kUnchangedAttrName, b.getUnitAttr());
  return load;
}

void NVVMTarget::raise(Emitter &b, Value word, const Address &address) {
  // [PTX] atom.max of u64 in global memory: since sm_32.
  LLVM::AtomicRMWOp::create(b, LLVM::AtomicBinOp::umax, address.base, word,
                            LLVM::AtomicOrdering::monotonic, "device");
}

bool NVVMTarget::isStagedLoad(Operation *op) const {
  auto load = dyn_cast<LLVM::LoadOp>(op);
  return load && load.getAddr().getType().getAddressSpace() ==
                     static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared);
}

Value NVVMTarget::getNumber(Emitter &b, const Address &address) {
  return LLVM::PtrToIntOp::create(b, b.getI64Type(), address.base);
}

Address NVVMTarget::select(Emitter &b, Value condition, const Address &yes,
                           const Address &no) {
  return {LLVM::SelectOp::create(b, condition, yes.base, no.base), {}};
}

//===----------------------------------------------------------------------===//
// Copies that run beside the lanes
//===----------------------------------------------------------------------===//

void NVVMTarget::copyAsync(Emitter &b, const Address &to, const Address &from,
                           int64_t bytes, Value validBytes, bool streams) {
  NVVM::CpAsyncOp::create(b, to.base, from.base, static_cast<int32_t>(bytes),
                          streams ? NVVM::LoadCacheModifierKind::CG
                                  : NVVM::LoadCacheModifierKind::CA,
                          validBytes);
}

void NVVMTarget::commitCopies(Emitter &b) {
  NVVM::CpAsyncCommitGroupOp::create(b);
}

void NVVMTarget::waitForCopies(Emitter &b, int64_t pending) {
  NVVM::CpAsyncWaitGroupOp::create(b, static_cast<int32_t>(pending));
}

//===----------------------------------------------------------------------===//
// Arithmetic and control
//===----------------------------------------------------------------------===//

Value NVVMTarget::funnelShift(Emitter &b, Value high, Value low, Value bits) {
  return LLVM::FshrOp::create(b, high, low, bits);
}

Value NVVMTarget::multiplyAdd(Emitter &b, Value x, Value y, Value z) {
  return LLVM::FMAOp::create(b, x, y, z);
}

Value NVVMTarget::dotBytes(Emitter &b, Value x, Value y, Value z) {
  return NVVM::DotAccumulate4WayOp::create(b, z.getType(), x,
                                           NVVM::DotAccumulateType::SIGNED, y,
                                           NVVM::DotAccumulateType::SIGNED, z);
}

void NVVMTarget::keepLoop(scf::ForOp loop) {
  MLIRContext *context = loop.getContext();
  auto unroll = LLVM::LoopUnrollAttr::get(context, BoolAttr::get(context, true),
                                          {}, {}, {}, {}, {}, {});
  loop->setAttr("loop_annotation", LLVM::LoopAnnotationAttr::get(
                                       context, {}, {}, {}, unroll, {}, {}, {},
                                       {}, {}, {}, {}, {}, {}, {}, {}));
}
