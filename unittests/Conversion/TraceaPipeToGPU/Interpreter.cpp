//===- Interpreter.cpp - Runs the code of a workgroup, lane by lane -------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Interpreter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "tracea/Algebra/BankSimulator.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace mlir::tracea_pipe;

static unsigned getBits(Type type) {
  type = getElementTypeOrSelf(type);
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

static uint64_t truncate(uint64_t bits, unsigned width) {
  return width >= 64 ? bits : bits & ((uint64_t(1) << width) - 1);
}

static int64_t asSigned(uint64_t bits, unsigned width) {
  return llvm::SignExtend64(bits, width);
}

static float asFloat(uint64_t bits) {
  uint32_t word = static_cast<uint32_t>(bits);
  float value;
  std::memcpy(&value, &word, sizeof(value));
  return value;
}

static uint64_t asBits(float value) {
  uint32_t word;
  std::memcpy(&word, &value, sizeof(word));
  return word;
}

void Interpreter::forEach(Operation &op, const std::vector<bool> &active,
                          function_ref<uint64_t(ArrayRef<uint64_t>)> compute) {
  unsigned width = getBits(op.getResult(0).getType());
  ThreadValues result(getNumThreads());
  for (int64_t thread = 0; thread < getNumThreads(); ++thread) {
    if (!active[thread])
      continue;
    size_t count = 1;
    for (Value operand : op.getOperands())
      count = std::max(count, values[operand][thread].size());
    for (size_t i = 0; i < count; ++i) {
      SmallVector<uint64_t> inputs;
      for (Value operand : op.getOperands()) {
        const std::vector<uint64_t> &elements = values[operand][thread];
        inputs.push_back(elements[elements.size() == 1 ? 0 : i]);
      }
      result[thread].push_back(truncate(compute(inputs), width));
    }
  }
  values[op.getResult(0)] = std::move(result);
}

bool Interpreter::runScalar(Operation &op, const std::vector<bool> &active) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    std::vector<uint64_t> elements;
    auto add = [&](Attribute element) {
      APInt bits = isa<FloatAttr>(element)
                       ? cast<FloatAttr>(element).getValue().bitcastToAPInt()
                       : cast<IntegerAttr>(element).getValue();
      elements.push_back(bits.getZExtValue());
    };
    if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()))
      for (Attribute element : dense.getValues<Attribute>())
        add(element);
    else
      add(constant.getValue());
    values[constant] = ThreadValues(getNumThreads(), elements);
    return true;
  }
  if (!isa<arith::ArithDialect>(op.getDialect()))
    return false;
  unsigned from = getBits(op.getOperand(op.getNumOperands() - 1).getType());
  using Inputs = ArrayRef<uint64_t>;
  auto binary = [&](auto compute) {
    forEach(op, active, [&](Inputs x) { return compute(x[0], x[1]); });
    return true;
  };
  return llvm::TypeSwitch<Operation *, bool>(&op)
      .Case<arith::AddIOp>(
          [&](auto) { return binary([](auto x, auto y) { return x + y; }); })
      .Case<arith::SubIOp>(
          [&](auto) { return binary([](auto x, auto y) { return x - y; }); })
      .Case<arith::MulIOp>(
          [&](auto) { return binary([](auto x, auto y) { return x * y; }); })
      .Case<arith::AndIOp>(
          [&](auto) { return binary([](auto x, auto y) { return x & y; }); })
      .Case<arith::OrIOp>(
          [&](auto) { return binary([](auto x, auto y) { return x | y; }); })
      .Case<arith::XOrIOp>(
          [&](auto) { return binary([](auto x, auto y) { return x ^ y; }); })
      .Case<arith::ShLIOp>(
          [&](auto) { return binary([](auto x, auto y) { return x << y; }); })
      .Case<arith::ShRUIOp>(
          [&](auto) { return binary([](auto x, auto y) { return x >> y; }); })
      .Case<arith::DivUIOp>(
          [&](auto) { return binary([](auto x, auto y) { return x / y; }); })
      .Case<arith::RemUIOp>(
          [&](auto) { return binary([](auto x, auto y) { return x % y; }); })
      .Case<arith::MaxSIOp>([&](auto) {
        return binary([&](uint64_t x, uint64_t y) {
          return asSigned(x, from) > asSigned(y, from) ? x : y;
        });
      })
      .Case<arith::MinSIOp>([&](auto) {
        return binary([&](uint64_t x, uint64_t y) {
          return asSigned(x, from) < asSigned(y, from) ? x : y;
        });
      })
      .Case<arith::AddFOp>([&](auto) {
        return binary([](uint64_t x, uint64_t y) {
          return asBits(asFloat(x) + asFloat(y));
        });
      })
      .Case<arith::MaximumFOp>([&](auto) {
        return binary([](uint64_t x, uint64_t y) {
          return asBits(std::fmax(asFloat(x), asFloat(y)));
        });
      })
      .Case<arith::CmpIOp>([&](arith::CmpIOp cmp) {
        forEach(op, active, [&](Inputs x) {
          return uint64_t(arith::applyCmpPredicate(
              cmp.getPredicate(), APInt(from, x[0]), APInt(from, x[1])));
        });
        return true;
      })
      .Case<arith::SelectOp>([&](auto) {
        ++numSelects;
        forEach(op, active, [](Inputs x) { return x[0] ? x[1] : x[2]; });
        return true;
      })
      .Case<arith::IndexCastOp>([&](auto) {
        forEach(op, active,
                [&](Inputs x) { return uint64_t(asSigned(x[0], from)); });
        return true;
      })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp, arith::TruncIOp,
            arith::BitcastOp>([&](auto) {
        forEach(op, active, [](Inputs x) { return x[0]; });
        return true;
      })
      .Default([](Operation *) { return false; });
}

bool Interpreter::runVector(Operation &op, const std::vector<bool> &active) {
  auto perThread = [&](auto compute) {
    ThreadValues result(getNumThreads());
    for (int64_t thread = 0; thread < getNumThreads(); ++thread)
      if (active[thread])
        result[thread] = compute(thread);
    values[op.getResult(0)] = std::move(result);
    return true;
  };
  if (isa<vector::ToElementsOp>(op)) {
    const ThreadValues source = values[op.getOperand(0)];
    for (auto [i, result] : llvm::enumerate(op.getResults())) {
      ThreadValues element(getNumThreads());
      for (int64_t thread = 0; thread < getNumThreads(); ++thread)
        if (active[thread])
          element[thread] = {source[thread][i]};
      values[result] = std::move(element);
    }
    return true;
  }
  if (isa<vector::FromElementsOp>(op))
    return perThread([&](int64_t thread) {
      std::vector<uint64_t> elements;
      for (Value operand : op.getOperands())
        elements.push_back(values[operand][thread][0]);
      return elements;
    });
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    int64_t count = broadcast.getResultVectorType().getNumElements();
    return perThread([&](int64_t thread) {
      return std::vector<uint64_t>(count, values[op.getOperand(0)][thread][0]);
    });
  }
  if (auto extract = dyn_cast<vector::ExtractOp>(op))
    return perThread([&](int64_t thread) {
      return std::vector<uint64_t>{
          values[extract.getSource()][thread][extract.getStaticPosition()[0]]};
    });
  if (auto cast = dyn_cast<vector::BitCastOp>(op)) {
    unsigned from = getBits(cast.getSource().getType()),
             to = getBits(cast.getResult().getType());
    return perThread([&](int64_t thread) {
      const std::vector<uint64_t> &source = values[cast.getSource()][thread];
      std::vector<uint64_t> elements(source.size() * from / to, 0);
      for (size_t bit = 0; bit < source.size() * from; ++bit)
        elements[bit / to] |= (source[bit / from] >> (bit % from) & 1)
                              << (bit % to);
      return elements;
    });
  }
  if (auto reduction = dyn_cast<vector::ReductionOp>(op)) {
    if (reduction.getKind() != vector::CombiningKind::OR)
      return false;
    return perThread([&](int64_t thread) {
      uint64_t result = 0;
      for (uint64_t element : values[reduction.getVector()][thread])
        result |= element;
      return std::vector<uint64_t>{result};
    });
  }
  return false;
}

void Interpreter::access(Operation &op, Value memref, ValueRange indices,
                         int64_t elements, ThreadValues *loaded,
                         const ThreadValues *stored,
                         const std::vector<bool> &active) {
  const Reference &reference = references.at(memref);
  Memory &memory = memories[reference.memory];
  int64_t size = getBits(reference.elementType) / 8, width = size * elements;
  std::vector<uint64_t> addresses(getNumThreads(), 0);
  if (loaded)
    loaded->assign(getNumThreads(), {});
  for (int64_t thread = 0; thread < getNumThreads(); ++thread) {
    if (!active[thread])
      continue;
    int64_t place = 0;
    for (auto [index, stride, extent] :
         llvm::zip(indices, reference.strides, reference.shape)) {
      int64_t at = int64_t(values[index][thread][0]);
      if (at < 0 || at >= extent)
        return fail("an index is out of bounds: " + std::to_string(at) +
                    " of " + std::to_string(extent));
      place += at * stride;
    }
    int64_t first = reference.offsets[thread] + place * size;
    if (first < 0 || first + width > int64_t(memory.bytes.size()))
      return fail("an access is out of bounds");
    if (first % width)
      return fail("an access of " + std::to_string(width) +
                  " bytes is not aligned");
    addresses[thread] = first;
  }
  // Stores first, so that threads that meet see each other.
  for (int64_t thread = 0; thread < getNumThreads(); ++thread) {
    if (!active[thread])
      continue;
    for (int64_t byte = 0; byte < width; ++byte) {
      size_t at = addresses[thread] + byte;
      int64_t &writer = memory.writer[at], &writeEpoch = memory.writeEpoch[at];
      if (stored) {
        uint8_t value =
            uint8_t((*stored)[thread][byte / size] >> (byte % size * 8));
        if (memory.isShared && writeEpoch == epoch && writer != thread &&
            memory.bytes[at] != value)
          fail("threads " + std::to_string(writer) + " and " +
               std::to_string(thread) + " write different values to one byte");
        if (memory.isShared && memory.readEpoch[at] == epoch &&
            memory.reader[at] != thread)
          fail("thread " + std::to_string(thread) +
               " overwrites what another one reads, without a barrier");
        memory.bytes[at] = value;
        writer = thread;
        writeEpoch = epoch;
        continue;
      }
      if (memory.isShared && writer == -1)
        fail("thread " + std::to_string(thread) + " reads what nobody wrote");
      if (memory.isShared && writeEpoch == epoch && writer != thread)
        fail("thread " + std::to_string(thread) +
             " reads what another one writes, without a barrier");
      memory.reader[at] =
          memory.readEpoch[at] == epoch && memory.reader[at] != thread ? -2
                                                                       : thread;
      memory.readEpoch[at] = epoch;
      std::vector<uint64_t> &result = (*loaded)[thread];
      result.resize(elements, 0);
      result[byte / size] |= uint64_t(memory.bytes[at]) << (byte % size * 8);
    }
  }
  if (!memory.isShared) {
    widestAccess = std::max(widestAccess, width);
    return;
  }
  for (int64_t warp = 0; warp < warps; ++warp) {
    int64_t first = warp * banks.numLanes();
    std::vector<uint64_t> here(addresses.begin() + first,
                               addresses.begin() + first + banks.numLanes());
    std::vector<bool> lanes(active.begin() + first,
                            active.begin() + first + banks.numLanes());
    auto cycles = ::tracea::algebra::simulateAccess(
        banks, here, unsigned(width),
        stored ? ::tracea::algebra::AccessKind::Write
               : ::tracea::algebra::AccessKind::Read,
        lanes);
    if (!cycles)
      return fail(cycles.message());
    for (int64_t degree : *cycles)
      worstDegree = std::max(worstDegree, degree);
  }
}

bool Interpreter::runMemory(Operation &op, const std::vector<bool> &active) {
  if (auto view = dyn_cast<memref::ViewOp>(op)) {
    Reference reference = references.at(view.getSource());
    reference.elementType = view.getType().getElementType();
    reference.shape.assign(view.getType().getShape().begin(),
                           view.getType().getShape().end());
    reference.strides = {1};
    for (int64_t thread = 0; thread < getNumThreads(); ++thread)
      if (active[thread])
        reference.offsets[thread] +=
            int64_t(values[view.getByteShift()][thread][0]);
    references[view] = reference;
    return true;
  }
  ThreadValues loaded;
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    access(op, load.getMemRef(), load.getIndices(), 1, &loaded, nullptr,
           active);
    values[load] = std::move(loaded);
    return true;
  }
  if (auto load = dyn_cast<vector::LoadOp>(op)) {
    access(op, load.getBase(), load.getIndices(),
           load.getVectorType().getNumElements(), &loaded, nullptr, active);
    values[load] = std::move(loaded);
    return true;
  }
  if (auto store = dyn_cast<memref::StoreOp>(op)) {
    access(op, store.getMemRef(), store.getIndices(), 1, nullptr,
           &values[store.getValueToStore()], active);
    return true;
  }
  if (auto raise = dyn_cast<memref::AtomicRMWOp>(op)) {
    // One thread after the other.
    for (int64_t thread = 0; thread < getNumThreads(); ++thread) {
      if (!active[thread])
        continue;
      std::vector<bool> alone(active.size(), false);
      alone[thread] = true;
      access(op, raise.getMemref(), raise.getIndices(), 1, &loaded, nullptr,
             alone);
      if (!problem.empty())
        break;
      ThreadValues greater(getNumThreads());
      greater[thread] = {
          std::max(values[raise.getValue()][thread][0], loaded[thread][0])};
      access(op, raise.getMemref(), raise.getIndices(), 1, nullptr, &greater,
             alone);
    }
    return true;
  }
  if (auto store = dyn_cast<vector::StoreOp>(op)) {
    access(op, store.getBase(), store.getIndices(),
           store.getVectorType().getNumElements(), nullptr,
           &values[store.getValueToStore()], active);
    return true;
  }
  return false;
}

bool Interpreter::runThreads(Operation &op, const std::vector<bool> &active) {
  int64_t lanes = banks.numLanes();
  bool everyone = llvm::all_of(active, [](bool on) { return on; });
  if (isa<gpu::LaneIdOp, gpu::SubgroupIdOp>(op)) {
    ThreadValues result(getNumThreads());
    for (int64_t thread = 0; thread < getNumThreads(); ++thread)
      result[thread] = {
          uint64_t(isa<gpu::LaneIdOp>(op) ? thread % lanes : thread / lanes)};
    values[op.getResult(0)] = std::move(result);
    return true;
  }
  if (isa<gpu::ThreadIdOp, gpu::BlockIdOp>(op)) {
    ThreadValues result(getNumThreads());
    for (int64_t thread = 0; thread < getNumThreads(); ++thread)
      result[thread] = {
          uint64_t(isa<gpu::ThreadIdOp>(op) ? thread : workgroup)};
    values[op.getResult(0)] = std::move(result);
    return true;
  }
  if (isa<gpu::BarrierOp>(op)) {
    if (!everyone)
      fail("a barrier that some threads do not reach");
    meet();
    return true;
  }
  auto shuffled = dyn_cast<gpu::ShuffleOp>(op);
  if (!shuffled)
    return false;
  if (!everyone)
    fail("a shuffle without some of its lanes");
  if (int64_t(values[shuffled.getWidth()][0][0]) != lanes)
    fail("a shuffle among less than a subgroup");
  shuffle(shuffled.getShuffleResult(), shuffled.getValue(),
          shuffled.getOffset(), shuffled.getMode());
  return true;
}

void Interpreter::shuffle(Value shuffled, Value word, Value distance,
                          gpu::ShuffleMode mode) {
  int64_t lanes = banks.numLanes();
  ++numShuffles;
  ThreadValues result(getNumThreads());
  for (int64_t thread = 0; thread < getNumThreads(); ++thread) {
    int64_t lane = thread % lanes,
            offset = int64_t(values[distance][thread][0]);
    int64_t source = mode == gpu::ShuffleMode::XOR ? lane ^ offset : offset;
    if (source < 0 || source >= lanes)
      return fail("a shuffle from lane " + std::to_string(source));
    result[thread] = values[word][thread - lane + source];
  }
  values[shuffled] = std::move(result);
}

/// Loops of as many iterations for all threads.
void Interpreter::runLoop(scf::ForOp loop, const std::vector<bool> &active) {
  auto get = [&](Value bound) {
    const ThreadValues &found = values[bound];
    for (const std::vector<uint64_t> &thread : found)
      if (thread != found[0])
        fail("a loop whose bounds differ between threads");
    return int64_t(found[0][0]);
  };
  auto assign = [&](ValueRange to, ValueRange from) {
    std::vector<ThreadValues> copies;
    for (Value value : from)
      copies.push_back(values[value]);
    for (auto [value, copy] : llvm::zip(to, copies))
      values[value] = copy;
  };
  int64_t end = get(loop.getUpperBound()), step = get(loop.getStep());
  assign(loop.getRegionIterArgs(), loop.getInits());
  for (int64_t i = get(loop.getLowerBound()); i < end && problem.empty();
       i += step) {
    values[loop.getInductionVar()] =
        ThreadValues(getNumThreads(), {uint64_t(i)});
    runBlock(*loop.getBody(), active);
    assign(loop.getRegionIterArgs(), loop.getYieldedValues());
  }
  assign(loop.getResults(), loop.getRegionIterArgs());
}

void Interpreter::runOperation(Operation &op, const std::vector<bool> &active) {
  if (auto ifOp = dyn_cast<scf::IfOp>(op)) {
    std::vector<bool> then(active), other(active);
    for (int64_t thread = 0; thread < getNumThreads(); ++thread)
      if (active[thread]) {
        bool holds = values[ifOp.getCondition()][thread][0];
        then[thread] = holds;
        other[thread] = !holds;
      }
    std::vector<ThreadValues> merged(op.getNumResults(),
                                     ThreadValues(getNumThreads()));
    auto runBranch = [&](Region &region, const std::vector<bool> &threads) {
      if (region.empty() || llvm::none_of(threads, [](bool on) { return on; }))
        return;
      runBlock(region.front(), threads);
      for (auto [result, yielded] :
           llvm::zip(merged, region.front().getTerminator()->getOperands()))
        for (int64_t thread = 0; thread < getNumThreads(); ++thread)
          if (threads[thread])
            result[thread] = values[yielded][thread];
    };
    runBranch(ifOp.getThenRegion(), then);
    runBranch(ifOp.getElseRegion(), other);
    for (auto [result, value] : llvm::zip(op.getResults(), merged))
      values[result] = value;
    return;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return runLoop(loop, active);
  if (isa<scf::YieldOp>(op))
    return;
  if (isa<gpu::ReturnOp>(op)) {
    for (Value operand : op.getOperands())
      results.push_back(values[operand]);
    return;
  }
  if (isa<UnrealizedConversionCastOp>(op)) {
    ThreadValues copy = values[op.getOperand(0)];
    values[op.getResult(0)] = std::move(copy);
    return;
  }
  if (!runTarget(op, active) && !runThreads(op, active) &&
      !runMemory(op, active) && !runVector(op, active) &&
      !runScalar(op, active))
    fail("unknown operation " + op.getName().getStringRef().str());
}

void Interpreter::runBlock(Block &block, const std::vector<bool> &active) {
  for (Operation &op : block) {
    if (!problem.empty())
      return;
    runOperation(op, active);
  }
}

std::string Interpreter::run(gpu::GPUFuncOp func,
                             ArrayRef<ThreadValues> arguments,
                             MutableArrayRef<BufferArgument> buffers) {
  values.clear();
  references.clear();
  memories.clear();
  results.clear();
  problem.clear();
  epoch = 0;
  auto addMemory = [&](Value value, std::vector<uint8_t> bytes,
                       ArrayRef<int64_t> shape, bool isShared) {
    Memory memory;
    size_t size = bytes.size();
    memory.bytes = std::move(bytes);
    memory.isShared = isShared;
    memory.writer.assign(size, -1);
    memory.reader.assign(size, -1);
    memory.writeEpoch.assign(size, -1);
    memory.readEpoch.assign(size, -1);
    Reference reference;
    reference.memory = int64_t(memories.size());
    reference.elementType = cast<MemRefType>(value.getType()).getElementType();
    reference.offsets.assign(getNumThreads(), 0);
    int64_t stride = 1;
    for (int64_t extent : llvm::reverse(shape)) {
      reference.shape.insert(reference.shape.begin(), extent);
      reference.strides.insert(reference.strides.begin(), stride);
      stride *= extent;
    }
    memories.push_back(std::move(memory));
    references[value] = reference;
  };
  size_t nextValue = 0, nextBuffer = 0;
  // Attributions follow the arguments of the type.
  for (BlockArgument argument :
       func.getArguments().take_front(func.getFunctionType().getNumInputs())) {
    if (isa<MemRefType>(argument.getType())) {
      const BufferArgument &buffer = buffers[nextBuffer++];
      addMemory(argument, buffer.bytes, buffer.shape, /*isShared=*/false);
    } else {
      values[argument] = arguments[nextValue++];
    }
  }
  for (BlockArgument attribution : func.getWorkgroupAttributions()) {
    auto type = cast<MemRefType>(attribution.getType());
    addMemory(attribution, std::vector<uint8_t>(type.getNumElements(), 0xEE),
              type.getShape(), /*isShared=*/true);
  }
  runBlock(func.getBody().front(), std::vector<bool>(getNumThreads(), true));
  for (auto [buffer, memory] : llvm::zip(buffers, memories))
    buffer.bytes = memory.bytes;
  return problem;
}
