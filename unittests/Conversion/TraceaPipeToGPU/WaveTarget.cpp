//===- WaveTarget.cpp - A made-up GPU of 64 lanes -------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WaveTarget.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "tracea/Algebra/Fragments.h"
#include "tracea/Conversion/TraceaPipeToGPU/Fragments.h"
#include "tracea/Conversion/TraceaPipeToGPU/KernelBuilder.h"
#include "tracea/Conversion/TraceaPipeToGPU/KernelConversion.h"
#include "tracea/Conversion/TraceaPipeToGPU/TraceaPipeToGPU.h"

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

constexpr int kLanes = 64;
/// The matrix instruction: 16×16 blocks, eight elements of k a lane.
constexpr int64_t kExtent = 16, kPerLane = 8;

alg::BankModel mlir::tracea_pipe::getWaveBanks() {
  return *alg::bankModel("gfx942");
}

static alg::LaneMap getFragment(alg::MatrixOperand operand) {
  return *alg::mfma(operand, kExtent, kPerLane);
}

static ::tracea::target::TargetDescription getFacts() {
  ::tracea::target::TargetDescription facts;
  facts.occupancy.subgroupSize = kLanes;
  facts.occupancy.maxThreadsPerWorkgroup = 1024;
  facts.shared.perWorkgroup = 1 << 16;
  return facts;
}

WaveTarget::WaveTarget() : GPUTarget(getFacts()) {}

static Operation *createWaveOp(OpBuilder &b, Location loc, StringRef name,
                               TypeRange results, ValueRange operands,
                               ArrayRef<NamedAttribute> attributes = {}) {
  OperationState state(loc, name);
  state.addTypes(results);
  state.addOperands(operands);
  state.addAttributes(attributes);
  return b.create(state);
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

void WaveTarget::meet(Emitter &b) { meetWorkgroup(b); }

bool WaveTarget::isMeeting(Operation *op) const {
  return op->getName().getStringRef() == "wave.barrier";
}

void WaveTarget::meetWorkgroup(Emitter &b) {
  createWaveOp(b, b.getLoc(), "wave.barrier", {}, {});
}

Value WaveTarget::shuffle(Emitter &b, Value word, Value offset,
                          gpu::ShuffleMode mode) {
  return createWaveOp(b, b.getLoc(), "wave.shuffle", word.getType(),
                      {word, offset},
                      b.getNamedAttr(
                          "mode", b.getStringAttr(stringifyShuffleMode(mode))))
      ->getResult(0);
}

//===----------------------------------------------------------------------===//
// Memory: a handle and bytes from its beginning
//===----------------------------------------------------------------------===//

static Value getBytes(Emitter &b, Type element, Value elements) {
  return b.mul(elements, element.getIntOrFloatBitWidth() / 8);
}

Address WaveTarget::getStaged(Emitter &b, const StagedWindow &, Value offset,
                              int64_t constant) {
  return {shared, {b.toIndex(b.add(offset, constant))}};
}

Address WaveTarget::getGlobal(Emitter &b, const GlobalBuffer &buffer,
                              Coordinate coordinate) {
  Value linear = b.index(0);
  for (auto [dim, size] : llvm::enumerate(buffer.sizes))
    linear =
        b.add(b.createOrFold<arith::MulIOp>(linear, size), coordinate(dim));
  return {buffer.base, {getBytes(b, buffer.type.getElementType(), linear)}};
}

Address WaveTarget::move(Emitter &b, const GlobalBuffer &buffer,
                         const Address &address, Coordinate more) {
  Value linear = b.index(0);
  for (auto [dim, size] : llvm::enumerate(buffer.sizes)) {
    linear = b.createOrFold<arith::MulIOp>(linear, size);
    if (Value distance = more(dim))
      linear = b.add(linear, distance);
  }
  return {address.base,
          {b.add(address.indices[0],
                 getBytes(b, buffer.type.getElementType(), linear))}};
}

Address WaveTarget::advance(Emitter &b, const Address &address, Type element,
                            int64_t elements) {
  return {address.base,
          {b.add(address.indices[0], getBytes(b, element, b.index(elements)))}};
}

Address WaveTarget::advance(Emitter &b, const Address &address, Type element,
                            Value elements) {
  return {
      address.base,
      {b.add(address.indices[0], getBytes(b, element, b.toIndex(elements)))}};
}

/// The bytes of an access as elements of `type`, a scalar or a vector.
static Value getView(Emitter &b, Type type, const Address &address) {
  auto vector = dyn_cast<VectorType>(type);
  auto view = MemRefType::get(
      {vector ? vector.getNumElements() : 1}, getElementTypeOrSelf(type),
      MemRefLayoutAttrInterface(),
      cast<MemRefType>(address.base.getType()).getMemorySpace());
  return memref::ViewOp::create(b, view, address.base, address.indices[0],
                                ValueRange());
}

Value WaveTarget::load(Emitter &b, Type type, const Address &address,
                       unsigned) {
  Value view = getView(b, type, address), zero = b.index(0);
  if (auto vector = dyn_cast<VectorType>(type))
    return vector::LoadOp::create(b, vector, view, zero);
  return memref::LoadOp::create(b, view, zero);
}

void WaveTarget::store(Emitter &b, Value value, const Address &address,
                       unsigned) {
  Value view = getView(b, value.getType(), address), zero = b.index(0);
  if (isa<VectorType>(value.getType()))
    vector::StoreOp::create(b, value, view, zero);
  else
    memref::StoreOp::create(b, value, view, zero);
}

void WaveTarget::raise(Emitter &b, Value word, const Address &address) {
  Value view = getView(b, word.getType(), address), zero = b.index(0);
  memref::AtomicRMWOp::create(b, arith::AtomicRMWKind::maxu, word, view,
                              ValueRange(zero));
}

bool WaveTarget::isStagedLoad(Operation *op) const {
  return isa<memref::LoadOp, vector::LoadOp>(op) &&
         cast<MemRefType>(op->getOperand(0).getType()).getMemorySpace();
}

//===----------------------------------------------------------------------===//
// Matrix instructions
//===----------------------------------------------------------------------===//

namespace {
class WaveInstruction : public MatrixInstruction {
public:
  using MatrixInstruction::MatrixInstruction;

  SmallVector<Value> multiply(Emitter &b, Value lhs, int64_t lhsFirst,
                              Value rhs, int64_t rhsFirst,
                              ValueRange sums) const override {
    auto slice = [&](Value vector, int64_t first, int64_t count) -> Value {
      SmallVector<Value> elements;
      for (int64_t i = 0; i < count; ++i)
        elements.push_back(vector::ExtractOp::create(b, vector, first + i));
      return vector::FromElementsOp::create(
          b, VectorType::get(count, elements[0].getType()), elements);
    };
    auto type =
        VectorType::get(static_cast<int64_t>(sums.size()), sums[0].getType());
    Value product =
        createWaveOp(b, b.getLoc(), "wave.multiply", type,
                     {slice(lhs, lhsFirst, this->lhs.numRegisters()),
                      slice(rhs, rhsFirst, this->rhs.numRegisters()),
                      vector::FromElementsOp::create(b, type, sums)})
            ->getResult(0);
    SmallVector<Value> results;
    for (size_t i = 0; i < sums.size(); ++i)
      results.push_back(
          vector::ExtractOp::create(b, product, static_cast<int64_t>(i)));
    return results;
  }
};
} // namespace

std::unique_ptr<MatrixInstruction>
WaveTarget::getMatrixInstruction(Type element, Type accumulator, Precision,
                                 int64_t) const {
  if (!element.isInteger(8) || !accumulator.isInteger(32))
    return nullptr;
  return std::make_unique<WaveInstruction>(
      "16x16x32", getFragment(alg::MatrixOperand::A),
      getFragment(alg::MatrixOperand::B), getFragment(alg::MatrixOperand::D));
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {
class WaveBuilder : public KernelBuilder {
public:
  WaveBuilder(KernelContext &context, WaveTarget &target)
      : KernelBuilder(context), target(target) {}

  gpu::GPUFuncOp function;

private:
  Block *createFunction() override {
    auto module = gpu::GPUModuleOp::create(b, "waves");
    b.setInsertionPointToStart(module.getBody());
    Type byte = b.getI8Type();
    SmallVector<Type> parameters;
    for (Type type : kernel.getArgumentTypes()) {
      auto memref = dyn_cast<MemRefType>(type);
      parameters.push_back(
          memref ? Type(MemRefType::get(ShapedType::kDynamic, byte)) : type);
      if (memref)
        parameters.append(memref.getNumDynamicDims(), b.getIndexType());
    }
    if (!getAssertedTexts(kernel).empty())
      parameters.push_back(MemRefType::get(ShapedType::kDynamic, byte));
    auto shared =
        MemRefType::get(plan.sharedBytes, byte, MemRefLayoutAttrInterface(),
                        gpu::AddressSpaceAttr::get(
                            b.getContext(), gpu::AddressSpace::Workgroup));
    function = gpu::GPUFuncOp::create(b, kernel.getSymName(),
                                      b.getFunctionType(parameters, {}),
                                      TypeRange(shared));
    target.shared = function.getWorkgroupAttributions().front();
    return &function.getBody().front();
  }
  Value emitThread() override {
    return arith::IndexCastOp::create(
        b, b.getI32Type(), gpu::ThreadIdOp::create(b, gpu::Dimension::x));
  }
  Value emitWorkgroup() override {
    return gpu::BlockIdOp::create(b, gpu::Dimension::x);
  }
  void emitReturn() override { gpu::ReturnOp::create(b); }

  WaveTarget &target;
};
} // namespace

gpu::GPUFuncOp mlir::tracea_pipe::lowerToWaves(KernelOp kernel) {
  WaveTarget target;
  GPULoweringContext tiles;
  tiles.banks = getWaveBanks();
  if (failed(convertTileArithmetic(kernel, tiles, [](Operation *op) {
        return isa<LoadOp, StoreOp, SliceOp>(op);
      })))
    return {};
  KernelPlan plan;
  if (failed(planTeams(kernel, target, plan)) || failed(planChannels(plan)))
    return {};
  planLocalRings(plan);
  if (failed(planBuffers(target, plan)))
    return {};
  KernelContext context(target, plan);
  WaveBuilder builder(context, target);
  if (failed(builder.build()) ||
      failed(collectWindows(builder.function, context)))
    return {};
  // The builder has erased the kernel.
  KernelConversion conversion(context, builder.function.getContext());
  conversion.target.addIllegalOp<gpu::BarrierOp, gpu::LaneIdOp, gpu::ShuffleOp,
                                 gpu::SubgroupIdOp>();
  if (failed(conversion.apply(builder.function)))
    return {};
  return builder.function;
}

//===----------------------------------------------------------------------===//
// The machine
//===----------------------------------------------------------------------===//

void WaveMachine::multiply(Operation &op) {
  alg::LaneMap a = getFragment(alg::MatrixOperand::A),
               b = getFragment(alg::MatrixOperand::B),
               d = getFragment(alg::MatrixOperand::D);
  int64_t depth = a.tileShape()[1];
  ThreadValues result = values[op.getOperand(2)];
  for (int64_t first = 0; first < getNumThreads(); first += kLanes) {
    std::vector<int64_t> lhs(kExtent * depth), rhs(depth * kExtent);
    auto gather = [&](std::vector<int64_t> &matrix, const alg::LaneMap &map,
                      Value operand) {
      for (int64_t lane = 0; lane < kLanes; ++lane)
        for (int64_t reg = 0; reg < map.numRegisters(); ++reg) {
          alg::TileCoord at = *map.coordinate(reg, lane);
          matrix[at[0] * map.tileShape()[1] + at[1]] =
              static_cast<int8_t>(values[operand][first + lane][reg]);
        }
    };
    gather(lhs, a, op.getOperand(0));
    gather(rhs, b, op.getOperand(1));
    for (int64_t lane = 0; lane < kLanes; ++lane)
      for (int64_t reg = 0; reg < d.numRegisters(); ++reg) {
        alg::TileCoord at = *d.coordinate(reg, lane);
        int64_t sum = 0;
        for (int64_t k = 0; k < depth; ++k)
          sum += lhs[at[0] * depth + k] * rhs[k * kExtent + at[1]];
        uint64_t &element = result[first + lane][reg];
        element = static_cast<uint32_t>(element + static_cast<uint64_t>(sum));
      }
  }
  values[op.getResult(0)] = std::move(result);
}

bool WaveMachine::runTarget(Operation &op, const std::vector<bool> &active) {
  StringRef name = op.getName().getStringRef();
  if (!name.starts_with("wave."))
    return false;
  if (llvm::is_contained(active, false))
    fail(name.str() + " without some of its lanes");
  if (name == "wave.barrier") {
    meet();
  } else if (name == "wave.shuffle") {
    auto mode = gpu::symbolizeShuffleMode(
        op.getAttrOfType<StringAttr>("mode").getValue());
    shuffle(op.getResult(0), op.getOperand(0), op.getOperand(1), *mode);
  } else {
    ++numMultiplies;
    multiply(op);
  }
  return true;
}
