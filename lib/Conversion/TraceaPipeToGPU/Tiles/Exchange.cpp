//===- Exchange.cpp - Tiles that pass through the workgroup's memory ------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a change of lanes that shuffles cannot make to a way through the
// workgroup's memory. Decided here: how many repeats of a tile pass at a time,
// between two meetings of the threads.

#include "Tiles/TileConversion.h"
#include "Tiles/Words.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

/// Repeats share the memory's rounds of barriers up to this size.
static constexpr int64_t kBytesAtOnce = 16 * 1024;

int64_t TileConversion::getRepeatsAtOnce() const {
  return std::max<int64_t>(
      1, std::min(getNumRepeats(), kBytesAtOnce / shared->bytes));
}

int64_t TileConversion::getExchangeBytes() const {
  return shared ? shared->bytes * getRepeatsAtOnce() : 0;
}

namespace {
/// The accesses of one side: registers of each instruction in the order of
/// their elements, and where the instruction of thread 0 begins.
struct SideAccess {
  uint64_t offset;
  SmallVector<int64_t> registers;
};
struct Side {
  ThreadMap map;
  SmallVector<SideAccess> accesses;
};
} // namespace

/// Offsets are in elements.
static Side getSide(const alg::LaneMap &lanes, const alg::F2Matrix &tileToBytes,
                    unsigned elementBytes, unsigned vectorBytes) {
  Side side;
  auto offsetsOf = [&](alg::LaneDim dim) {
    alg::F2Vectors offsets;
    for (uint64_t column : lanes.columns(dim))
      offsets.push_back(tileToBytes.apply(column) / elementBytes);
    return offsets;
  };
  side.map = {offsetsOf(alg::LaneDim::Lane), offsetsOf(alg::LaneDim::Warp)};
  alg::F2Vectors registers = offsetsOf(alg::LaneDim::Reg);
  uint64_t size = vectorBytes / elementBytes;
  llvm::MapVector<uint64_t, SmallVector<int64_t>> accesses;
  for (int64_t reg = 0; reg < int64_t(1) << registers.size(); ++reg) {
    uint64_t offset = 0;
    for (unsigned i = 0; i < registers.size(); ++i)
      if (reg >> i & 1)
        offset ^= registers[i];
    SmallVector<int64_t> &access = accesses[offset & ~(size - 1)];
    access.resize(size, -1);
    // Replicas move once.
    int64_t &held = access[offset & (size - 1)];
    if (held < 0)
      held = reg;
  }
  for (auto &[offset, held] : accesses)
    side.accesses.push_back({offset, held});
  return side;
}

int64_t TileConversion::getMemoryCycles() const {
  if (!shared)
    return 0;
  unsigned bytes = getStorageType(elementType).getIntOrFloatBitWidth() / 8;
  auto instructions = [&](const OddLaneMap &side) {
    return int64_t(
        getSide(side.map, shared->tileToBytes, bytes, shared->vectorBytes)
            .accesses.size());
  };
  return getNumRepeats() * (instructions(from) * shared->write.wavefronts() +
                            instructions(to) * shared->read.wavefronts());
}

SmallVector<Value> TileConversion::emitExchange(Threads &threads,
                                                ArrayRef<Value> registers,
                                                Value exchange) const {
  ImplicitLocOpBuilder &b = threads.b;
  ++threads.context.numExchanges;
  Type stored = getStorageType(elementType);
  unsigned elementBytes = stored.getIntOrFloatBitWidth() / 8;
  Side write = getSide(from.map, shared->tileToBytes, elementBytes,
                       shared->vectorBytes),
       read = getSide(to.map, shared->tileToBytes, elementBytes,
                      shared->vectorBytes);
  int64_t tileElements = shared->bytes / elementBytes;
  auto bytesType = cast<MemRefType>(exchange.getType());
  auto type =
      MemRefType::get({tileElements * getRepeatsAtOnce()}, stored,
                      MemRefLayoutAttrInterface{}, bytesType.getMemorySpace());
  Value memory = memref::ViewOp::create(
      b, type, exchange, arith::ConstantIndexOp::create(b, 0), ValueRange{});
  auto vector = VectorType::get(
      {static_cast<int64_t>(shared->vectorBytes / elementBytes)}, stored);

  // Repeats of the tile that are exchanged at once lie behind each other in
  // memory.
  auto placeOf = [&](const Side &side, int64_t repeat, uint64_t offset) {
    uint64_t base = uint64_t(repeat % getRepeatsAtOnce() * tileElements);
    return threads.applyIndex(side.map, base | offset);
  };
  llvm::MaybeAlign alignment(shared->vectorBytes);
  int64_t linearFrom = int64_t(1) << from.map.numBits(alg::LaneDim::Reg);
  int64_t linearTo = int64_t(1) << to.map.numBits(alg::LaneDim::Reg);
  SmallVector<Value> result(to.map.numRegisters());
  for (int64_t first = 0; first < getNumRepeats();
       first += getRepeatsAtOnce()) {
    int64_t last = std::min(getNumRepeats(), first + getRepeatsAtOnce());
    // Who read what was here before is done.
    threads.sync();
    for (int64_t repeat = first; repeat < last; ++repeat)
      for (const SideAccess &access : write.accesses) {
        SmallVector<Value> elements;
        for (int64_t reg : access.registers)
          elements.push_back(
              toStorage(b, registers[repeat * linearFrom + reg]));
        Value at = placeOf(write, repeat, access.offset);
        if (elements.size() == 1)
          memref::StoreOp::create(b, elements.front(), memory, at);
        else
          vector::StoreOp::create(b, getVector(b, stored, elements), memory, at,
                                  /*nontemporal=*/false, alignment);
      }
    threads.sync();
    for (int64_t repeat = first; repeat < last; ++repeat)
      for (const SideAccess &access : read.accesses) {
        Value at = placeOf(read, repeat, access.offset);
        SmallVector<Value> elements;
        if (access.registers.size() == 1)
          elements.push_back(memref::LoadOp::create(b, memory, at));
        else
          elements = getElements(
              b, vector::LoadOp::create(b, vector, memory, at,
                                        /*nontemporal=*/false, alignment));
        for (auto [reg, element] : llvm::zip(access.registers, elements))
          result[repeat * linearTo + reg] =
              fromStorage(b, element, elementType);
      }
  }
  // Replicas take what the register that was read has.
  alg::F2Matrix matrix = to.map.matrix();
  for (int64_t reg = 0; reg < to.map.numRegisters(); ++reg)
    for (int64_t other = reg - reg % linearTo; !result[reg]; ++other)
      if (matrix.apply(uint64_t(other % linearTo)) ==
          matrix.apply(uint64_t(reg % linearTo)))
        result[reg] = result[other];
  return result;
}

//===----------------------------------------------------------------------===//
// Where the memory comes from
//===----------------------------------------------------------------------===//

/// The role, grid or function whose threads execute `op` together.
static Operation *getScope(Operation *op) {
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp())
    if (isa<RoleOp, TilesOp, gpu::GPUFuncOp>(parent))
      return parent;
  return nullptr;
}

Value mlir::tracea_pipe::getExchange(Threads &threads) {
  Operation *scope = getScope(threads.op);
  Value buffer =
      scope ? threads.context.exchangeBuffers.lookup(scope) : Value();
  if (!buffer)
    return {};
  ImplicitLocOpBuilder &b = threads.b;
  auto type = cast<MemRefType>(buffer.getType());
  auto workgroup =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  if (!threads.context.keepsStagedMemory &&
      type.getMemorySpace() != workgroup) {
    type = MemRefType::get(type.getShape(), type.getElementType(),
                           MemRefLayoutAttrInterface{}, workgroup);
    buffer = memref::MemorySpaceCastOp::create(b, type, buffer);
  }
  auto own = threads.context.ownExchanges.find(threads.op);
  auto role = dyn_cast<RoleOp>(scope);
  bool isOwn = own != threads.context.ownExchanges.end();
  if (!isOwn && (!role || role.getCopies() == 1))
    return buffer;
  int64_t bytes;
  Value offset;
  if (isOwn) {
    bytes = own->second.second;
    offset = arith::ConstantIndexOp::create(b, own->second.first);
  } else {
    // Teams go through memory of their own.
    bytes = type.getNumElements() / role.getCopies();
    offset = arith::MulIOp::create(b, role.getBody().getArgument(0),
                                   arith::ConstantIndexOp::create(b, bytes));
  }
  return memref::ViewOp::create(b,
                                MemRefType::get({bytes}, type.getElementType(),
                                                MemRefLayoutAttrInterface{},
                                                type.getMemorySpace()),
                                buffer, offset, ValueRange{});
}

/// Whether a workgroup runs an exchange once, so that memory of its own saves
/// waiting until nobody reads it any more.
static bool wantsOwnMemory(Operation *op) {
  return isa<ReduceOp>(op) && isa<TilesOp>(op->getParentOp());
}

LogicalResult mlir::tracea_pipe::planExchanges(Operation *root,
                                               GPULoweringContext &context) {
  constexpr int64_t kMostOwnBytes = 1024;
  llvm::MapVector<Operation *, int64_t> bytesOf;
  DenseMap<Operation *, int64_t> ownBytes;
  llvm::MapVector<Operation *, SmallVector<std::pair<Operation *, int64_t>>>
      ownOf;
  WalkResult walked = root->walk([&](Operation *op) {
    std::string reason;
    FailureOr<int64_t> bytes = getExchangeBytes(op, context, reason);
    if (failed(bytes)) {
      op->emitOpError() << "cannot be lowered: " << reason;
      return WalkResult::interrupt();
    }
    if (*bytes == 0)
      return WalkResult::advance();
    Operation *scope = getScope(op);
    if (!scope) {
      op->emitOpError() << "moves values between warps, for which a function "
                           "without a workgroup has no memory";
      return WalkResult::interrupt();
    }
    int64_t &most = bytesOf[scope];
    auto aligned = static_cast<int64_t>(llvm::alignTo(*bytes, 16));
    int64_t &own = ownBytes[scope];
    if (wantsOwnMemory(op) && own + aligned <= kMostOwnBytes) {
      ownOf[scope].emplace_back(op, aligned);
      own += aligned;
    } else {
      most = std::max(most, aligned);
    }
    return WalkResult::advance();
  });
  if (walked.wasInterrupted())
    return failure();
  // What is one's own comes behind what all others share.
  for (auto &[scope, exchanges] : ownOf)
    for (auto [op, bytes] : exchanges) {
      context.ownExchanges[op] = {bytesOf[scope], bytes};
      bytesOf[scope] += bytes;
    }
  Type i8 = IntegerType::get(root->getContext(), 8);
  for (auto [scope, bytes] : bytesOf) {
    if (auto func = dyn_cast<gpu::GPUFuncOp>(scope)) {
      auto type = MemRefType::get(
          {bytes}, i8, MemRefLayoutAttrInterface{},
          gpu::AddressSpaceAttr::get(root->getContext(),
                                     gpu::AddressSpace::Workgroup));
      Value buffer = func.addWorkgroupAttribution(type, func.getLoc());
      func.setWorkgroupAttributionAttr(
          func.getNumWorkgroupAttributions() - 1, "llvm.align",
          IntegerAttr::get(IntegerType::get(root->getContext(), 64), 16));
      context.exchangeBuffers[func] = buffer;
      continue;
    }
    OpBuilder b(root->getContext());
    if (auto role = dyn_cast<RoleOp>(scope)) {
      b.setInsertionPoint(role->getParentOp());
      bytes *= role.getCopies();
    } else {
      b.setInsertionPointToStart(&cast<TilesOp>(scope).getBody().front());
    }
    auto type = MemRefType::get({bytes}, i8, MemRefLayoutAttrInterface{},
                                StagedAttr::get(root->getContext(), {}));
    context.exchangeBuffers[scope] =
        ScratchOp::create(b, scope->getLoc(), type);
  }
  return success();
}
