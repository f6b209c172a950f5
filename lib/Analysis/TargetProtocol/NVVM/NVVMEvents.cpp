//===- NVVMEvents.cpp - What operations of NVVM are to a protocol ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NVVMEvents.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tracea/Dialect/TraceaPipe/IR/KernelInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tracea;
using Kind = TargetEvent::Kind;

static bool isIn(Type type, NVVM::NVVMMemorySpace space) {
  auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
  return pointer && pointer.getAddressSpace() == static_cast<unsigned>(space);
}

bool NVVMEvents::isShared(Type type) const {
  return isIn(type, NVVM::NVVMMemorySpace::Shared) || isOfCluster(type);
}

bool NVVMEvents::isOfCluster(Type type) const {
  return isIn(type, NVVM::NVVMMemorySpace::SharedCluster);
}

bool NVVMEvents::isKernel(LLVM::LLVMFuncOp function) {
  return function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName());
}

SmallVector<int32_t> NVVMEvents::getBlock(LLVM::LLVMFuncOp kernel) const {
  auto extents = kernel->getAttrOfType<DenseI32ArrayAttr>("nvvm.reqntid");
  return extents ? SmallVector<int32_t>(extents.asArrayRef())
                 : SmallVector<int32_t>();
}

int64_t NVVMEvents::getBlocksAtOnce(LLVM::LLVMFuncOp kernel) const {
  int64_t blocks = 1;
  for (const char *name : {"nvvm.minctasm", "nvvm.minnctapersm"})
    if (auto attribute = kernel->getAttrOfType<IntegerAttr>(name))
      blocks = std::max<int64_t>(1, attribute.getInt());
  return blocks;
}

static TargetEvent event(Kind kind) {
  TargetEvent result;
  result.kind = kind;
  return result;
}

/// All lanes of a warp take part.
static TargetEvent collective(Kind kind) {
  TargetEvent result = event(kind);
  result.isCollective = true;
  return result;
}

static TargetEvent group(Kind kind, int queue, int64_t number = 0) {
  TargetEvent result = event(kind);
  result.queue = queue;
  result.number = number;
  result.isCollective = queue == kMultiplies;
  return result;
}

static TargetEvent integer(Kind kind, Value value = {}) {
  TargetEvent result = event(kind);
  result.value = value;
  return result;
}

static TargetEvent atBarrier(Kind kind, Value barrier) {
  TargetEvent result = event(kind);
  result.barrier = barrier;
  return result;
}

static TargetEvent ofLanes(Kind kind, Value address, int64_t bytes,
                           int queue = -1) {
  TargetEvent result = event(kind);
  result.address = address;
  result.number = bytes;
  result.queue = queue;
  return result;
}

static TargetEvent copyIn(Value to, Value barrier, Value mask, Value bytes,
                          Value map) {
  TargetEvent result = atBarrier(Kind::BulkCopyIn, barrier);
  result.address = to;
  result.bytes = bytes;
  result.tensorMap = map;
  if (mask)
    result.doubt = "it copies to several blocks of a cluster";
  return result;
}

static TargetEvent copyOut(Value from, Value bytes, Value map) {
  TargetEvent result = event(Kind::BulkCopyOut);
  result.address = from;
  result.bytes = bytes;
  result.tensorMap = map;
  result.queue = kStores;
  return result;
}

static TargetEvent readBarrierOp(Operation *op) {
  auto arrive = [&](auto arrival) {
    TargetEvent result = atBarrier(Kind::Arrive, arrival.getAddr());
    if (arrival.getScope() != NVVM::MemScopeKind::CTA)
      result.doubt = "it arrives across a cluster";
    return result;
  };
  auto sync = [&](Kind kind, Value id, Value count) {
    TargetEvent result = collective(kind);
    result.id = id;
    result.count = count;
    return result;
  };
  auto wait = [&](Kind kind, auto wait, Value parity) {
    TargetEvent result = atBarrier(kind, wait.getAddr());
    result.parity = parity;
    return result;
  };
  return llvm::TypeSwitch<Operation *, TargetEvent>(op)
      .Case([&](NVVM::MBarrierInitOp init) {
        TargetEvent result = atBarrier(Kind::BarrierInit, init.getAddr());
        result.count = init.getCount();
        if (init.getPredicate())
          result.doubt = "it has a predicate";
        return result;
      })
      .Case([&](NVVM::FenceMbarrierInitOp) { return event(Kind::InitFence); })
      .Case([&](NVVM::MBarrierArriveOp arrival) {
        TargetEvent result = arrive(arrival);
        result.count = arrival.getCount();
        return result;
      })
      .Case([&](NVVM::MBarrierArriveExpectTxOp arrival) {
        TargetEvent result = arrive(arrival);
        result.bytes = arrival.getTxcount();
        if (arrival.getPredicate())
          result.doubt = "it has a predicate";
        return result;
      })
      .Case([&](NVVM::MBarrierTryWaitParityOp parity) {
        return wait(Kind::Wait, parity, parity.getPhase());
      })
      .Case<NVVM::MBarrierTryWaitOp, NVVM::MBarrierTestWaitOp>([&](auto test) {
        return wait(Kind::Test, test, test->getOperand(1));
      })
      .Case([&](NVVM::BarrierOp barrier) {
        TargetEvent result = sync(Kind::Sync, barrier.getBarrierId(),
                                  barrier.getNumberOfThreads());
        if (barrier.getReductionOp())
          result.doubt = "it reduces";
        return result;
      })
      .Case([&](NVVM::Barrier0Op) { return sync(Kind::Sync, {}, {}); })
      .Case([&](NVVM::BarrierArriveOp barrier) {
        return sync(Kind::SyncArrive, barrier.getBarrierId(),
                    barrier.getNumberOfThreads());
      })
      .Case([&](NVVM::SyncWarpOp meet) {
        TargetEvent result = collective(Kind::MeetLanes);
        result.value = meet.getMask();
        return result;
      })
      .Case([&](NVVM::ClusterArriveOp) {
        return collective(Kind::ClusterArrive);
      })
      .Case([&](NVVM::ClusterArriveRelaxedOp) {
        return collective(Kind::ClusterArriveRelaxed);
      })
      .Case([&](NVVM::ClusterWaitOp) { return collective(Kind::ClusterWait); })
      .Default(TargetEvent());
}

/// What is past the end of a tensor comes as zeros, so that a box always has
/// all its bytes; but the unit takes the map of one mode for another's as it
/// is.
static bool isOfItsMap(NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp bulk) {
  tracea_pipe::TensorMapAttr map;
  if (auto argument = dyn_cast<BlockArgument>(bulk.getTmaDescriptor()))
    if (auto interface = tracea_pipe::getKernelInterface(
            bulk->getParentOfType<LLVM::LLVMFuncOp>()))
      map = interface.getMapOf(argument.getArgNumber());
  return bulk.getMode() == (map && map.isIm2col() ? NVVM::TMALoadMode::IM2COL
                                                  : NVVM::TMALoadMode::TILE);
}

static TargetEvent readMemoryOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, TargetEvent>(op)
      .Case([&](NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp bulk) {
        TargetEvent result =
            copyIn(bulk.getDstMem(), bulk.getMbar(), bulk.getMulticastMask(),
                   {}, bulk.getTmaDescriptor());
        if (bulk.getPredicate())
          result.doubt = "it has a predicate";
        else if (!isOfItsMap(bulk))
          result.doubt = "its mode is not the one that its tensor map is for";
        return result;
      })
      .Case([&](NVVM::CpAsyncBulkGlobalToSharedClusterOp bulk) {
        return copyIn(bulk.getDstMem(), bulk.getMbar(), bulk.getMulticastMask(),
                      bulk.getSize(), {});
      })
      .Case([&](NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp bulk) {
        return copyOut(bulk.getSrcMem(), {}, bulk.getTmaDescriptor());
      })
      .Case([&](NVVM::CpAsyncBulkSharedCTAToGlobalOp bulk) {
        return copyOut(bulk.getSrcMem(), bulk.getSize(), {});
      })
      .Case([&](NVVM::CpAsyncOp copy) {
        return ofLanes(Kind::LaneWrite, copy.getDst(), copy.getSize(), kCopies);
      })
      .Case([&](NVVM::StMatrixOp store) {
        return ofLanes(Kind::LaneWrite, store.getPtr(), 16);
      })
      .Case([&](NVVM::LdMatrixOp load) {
        return ofLanes(Kind::LaneRead, load.getPtr(), 16);
      })
      .Case([&](NVVM::FenceProxyOp fence) {
        bool orders = fence.getKind() == NVVM::ProxyKind::async_shared ||
                      fence.getKind() == NVVM::ProxyKind::async;
        return event(orders ? Kind::ProxyFence : Kind::Harmless);
      })
      .Case([&](NVVM::CpAsyncBulkCommitGroupOp) {
        return group(Kind::CloseGroup, kStores);
      })
      .Case([&](NVVM::CpAsyncBulkWaitGroupOp wait) {
        return group(Kind::WaitGroup, kStores, wait.getGroup());
      })
      .Case([&](NVVM::CpAsyncCommitGroupOp) {
        return group(Kind::CloseGroup, kCopies);
      })
      .Case([&](NVVM::CpAsyncWaitGroupOp wait) {
        return group(Kind::WaitGroup, kCopies, wait.getN());
      })
      .Default(TargetEvent());
}

static TargetEvent readMultiplyOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, TargetEvent>(op)
      .Case([&](NVVM::WgmmaFenceAlignedOp) {
        return collective(Kind::FenceRegisters);
      })
      .Case([&](NVVM::WgmmaGroupSyncAlignedOp) {
        return group(Kind::CloseGroup, kMultiplies);
      })
      .Case([&](NVVM::WgmmaWaitGroupSyncOp wait) {
        return group(Kind::WaitGroup, kMultiplies, wait.getGroup());
      })
      .Case([&](NVVM::WgmmaMmaAsyncOp) {
        TargetEvent result = collective(Kind::Multiply);
        result.number = 128;
        return result;
      })
      .Case([&](NVVM::SetMaxRegisterOp registers) {
        TargetEvent result = collective(Kind::Registers);
        result.number = registers.getRegCount();
        return result;
      })
      .Default(TargetEvent());
}

static TargetEvent readInteger(Operation *op) {
  return llvm::TypeSwitch<Operation *, TargetEvent>(op)
      .Case([&](NVVM::ThreadIdXOp) { return integer(Kind::ThreadId); })
      .Case([&](NVVM::LaneIdOp) { return integer(Kind::LaneId); })
      .Case([&](NVVM::BlockDimXOp) { return integer(Kind::BlockSize); })
      .Case([&](NVVM::ElectSyncOp) { return integer(Kind::Elected); })
      .Case([&](NVVM::ShflOp shuffle) {
        return integer(shuffle.getKind() == NVVM::ShflKind::idx
                           ? Kind::Broadcast
                           : Kind::Shuffle,
                       shuffle.getVal());
      })
      .Case([&](NVVM::MapaOp peer) {
        return integer(Kind::PeerAddress, peer.getA());
      })
      .Default(TargetEvent());
}

TargetEvent NVVMEvents::read(Operation *op) const {
  if (auto assembly = dyn_cast<LLVM::InlineAsmOp>(op))
    return readAssembly(assembly);
  if (!isa_and_nonnull<NVVM::NVVMDialect>(op->getDialect()))
    return {};
  for (auto read : {readInteger, readBarrierOp, readMemoryOp, readMultiplyOp})
    if (TargetEvent result = read(op); result.kind != Kind::None)
      return result;
  StringRef name = op->getName().getStringRef();
  bool isHarmless =
      isa<NVVM::PrefetchOp, NVVM::VoteSyncOp, NVVM::ReduxOp,
          NVVM::GriddepcontrolOp, NVVM::MmaOp, NVVM::DotAccumulate4WayOp>(op) ||
      name.starts_with("nvvm.read.") || name.starts_with("nvvm.convert.") ||
      isPure(op);
  return event(isHarmless ? Kind::Harmless : Kind::Unknown);
}
