//===- SplitScans.cpp - Sums so far, in blocks ----------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blelloch, "Prefix Sums and Their Applications", 1990: blocks are reduced,
// their results scanned, by the same means while they are many, and each block
// is scanned from what came before it.
//
//===----------------------------------------------------------------------===//

#include "Lanes/SplitScans.h"
#include "Lanes/LaneVectors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tracea/Dialect/TraceaPipe/Utils/Launches.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

/// Lanes that a multiprocessor is to have.
constexpr int64_t kLanesOfCore = 1024;
/// Elements of a block whose elements are neighbours in memory: few, so that
/// those of neighbouring lanes are in the cache together.
constexpr int64_t kNeighbours = 16;
/// So many elements, or fewer, are gone through in turn.
constexpr int64_t kFewElements = 32;

namespace {
class Scan {
public:
  Scan(scf::ForallOp lanes, int64_t cores)
      : lanes(lanes), cores(cores), b(lanes.getLoc(), lanes) {}

  bool match();
  /// Splits the loop; the scan of what its blocks come to is the result.
  scf::ForallOp split();
  /// Goes through few elements, all of which are read before one is stored.
  void unroll();
  bool isShort() const { return extent <= kFewElements; }

private:
  bool matchLoop();
  bool isNeighbour();
  template <typename T>
  void insertBlock(SmallVectorImpl<T> &list, T block);
  int64_t chooseBlock();
  scf::ForallOp makeLanes(int64_t blocks,
                          function_ref<void(IRMapping &, Value block)> body);
  Value goThrough(IRMapping &mapping, Value block, Value init,
                  bool storesResults);
  Value goThroughInTurn(IRMapping &mapping, Value begin, Value init,
                        bool storesResults);
  bool storesVectors(int64_t count);
  Value goThroughPiece(IRMapping &mapping, Value begin, int64_t count,
                       Value init, bool storesResults);
  int64_t getVector(Value memory, ValueRange indices, int64_t count);
  SmallVector<Value> read(memref::LoadOp load, IRMapping &mapping,
                          ArrayRef<Value> numbers);
  void write(memref::StoreOp store, MutableArrayRef<IRMapping> mappings);
  Value combine(Value before, Value next);

  scf::ForallOp lanes;
  int64_t cores;
  ImplicitLocOpBuilder b;
  scf::ForOp loop;
  Operation *combiner = nullptr;
  TypedAttr neutral;
  /// What follows from what is carried.
  DenseSet<Value> carried;
  /// Iterations of the loop, and of a block.
  int64_t extent = 0, width = 0;
};
} // namespace

/// Whether the loop carries a combination of what does not depend on it.
bool Scan::matchLoop() {
  if (loop.getNumResults() != 1 || !loop.getResult(0).use_empty() ||
      getConstantIntValue(loop.getLowerBound()) != 0 ||
      getConstantIntValue(loop.getStep()) != 1)
    return false;
  std::optional<int64_t> count = getConstantIntValue(loop.getUpperBound());
  combiner = loop.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  if (!count || *count < 2 || !combiner ||
      combiner->getBlock() != loop.getBody() ||
      !isa<arith::AddFOp, arith::AddIOp, arith::MulFOp, arith::MulIOp,
           arith::MaximumFOp, arith::MinimumFOp, arith::MaxSIOp, arith::MinSIOp,
           arith::MaxUIOp, arith::MinUIOp>(combiner) ||
      llvm::count(combiner->getOperands(), loop.getRegionIterArg(0)) != 1)
    return false;
  std::optional<TypedAttr> found = arith::getNeutralElement(combiner);
  if (!found)
    return false;
  extent = *count;
  neutral = *found;
  // What is combined with it, and all that is read, is there beforehand.
  carried.insert(loop.getRegionIterArg(0));
  DenseSet<Value> written;
  for (Operation &op : loop.getBody()->without_terminator())
    if (auto store = dyn_cast<memref::StoreOp>(op))
      written.insert(getViewRoot(store.getMemRef()));
  for (Operation &op : loop.getBody()->without_terminator()) {
    bool isCarried = llvm::any_of(
        op.getOperands(), [&](Value value) { return carried.contains(value); });
    if (isCarried)
      carried.insert(op.getResults().begin(), op.getResults().end());
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      if (isCarried || written.contains(getViewRoot(load.getMemRef())))
        return false;
      continue;
    }
    if (!isa<memref::StoreOp>(op) && (op.getNumRegions() || !isPure(&op)))
      return false;
  }
  return llvm::count_if(combiner->getOperands(), [&](Value value) {
           return carried.contains(value);
         }) == 1;
}

bool Scan::match() {
  if (lanes.getMapping() || lanes.getRank() == 0)
    return false;
  for (auto [lower, step] :
       llvm::zip(lanes.getMixedLowerBound(), lanes.getMixedStep()))
    if (getConstantIntValue(lower) != 0 || getConstantIntValue(step) != 1)
      return false;
  for (Operation &op : lanes.getBody()->without_terminator()) {
    // The loop is the last one of what is computed.
    if (loop || (op.getNumRegions() == 0 && !isPure(&op)))
      return false;
    if (op.getNumRegions() != 0 && !(loop = dyn_cast<scf::ForOp>(op)))
      return false;
  }
  return loop && matchLoop();
}

/// Whether iterations that follow each other read neighbours in memory.
bool Scan::isNeighbour() {
  return llvm::any_of(
      loop.getBody()->getOps<memref::LoadOp>(), [&](memref::LoadOp load) {
        return !load.getIndices().empty() &&
               load.getIndices().back() == loop.getInductionVar();
      });
}

/// The iterations of a block, which divide all of them where they can.
int64_t Scan::chooseBlock() {
  int64_t most = kNeighbours;
  if (!isNeighbour()) {
    // Neighbouring lanes read neighbours: there are enough of them or not.
    int64_t count = 1;
    for (OpFoldResult upper : lanes.getMixedUpperBound()) {
      std::optional<int64_t> known = getConstantIntValue(upper);
      if (!known || llvm::MulOverflow(count, *known, count))
        return extent;
    }
    int64_t blocks = cores * kLanesOfCore / std::max<int64_t>(count, 1);
    most = llvm::divideCeil(extent, std::max<int64_t>(blocks, 1));
  }
  most = std::max(most, kNeighbours);
  for (int64_t block = llvm::alignTo(most, kNeighbours); block >= kNeighbours;
       block -= kNeighbours)
    if (extent % block == 0)
      return block;
  for (int64_t block = most; block > most / 2; --block)
    if (extent % block == 0)
      return block;
  return most;
}

/// Puts what belongs to blocks among what belongs to the dimensions of
/// `lanes`, so that neighbouring lanes read neighbours.
template <typename T>
void Scan::insertBlock(SmallVectorImpl<T> &list, T block) {
  list.insert(isNeighbour() ? list.end() : list.begin(), block);
}

/// What `lanes` has, once for each block.
scf::ForallOp
Scan::makeLanes(int64_t blocks,
                function_ref<void(IRMapping &, Value block)> body) {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<OpFoldResult> upper = lanes.getMixedUpperBound(), lower, steps;
  if (blocks > 1)
    insertBlock(upper, OpFoldResult(b.getIndexAttr(blocks)));
  lower.assign(upper.size(), b.getIndexAttr(0));
  steps.assign(upper.size(), b.getIndexAttr(1));
  auto made =
      scf::ForallOp::create(b, lower, upper, steps, ValueRange(), std::nullopt);
  b.setInsertionPoint(made.getTerminator());
  IRMapping mapping;
  SmallVector<Value> numbers(made.getInductionVars());
  Value block;
  if (blocks > 1) {
    auto *place = isNeighbour() ? std::prev(numbers.end()) : numbers.begin();
    block = *place;
    numbers.erase(place);
  }
  mapping.map(lanes.getInductionVars(), numbers);
  for (Operation &op : lanes.getBody()->without_terminator())
    if (&op != loop)
      b.clone(op, mapping);
  body(mapping, block);
  return made;
}

Value Scan::combine(Value before, Value next) {
  return static_cast<OpBuilder &>(b)
      .create(combiner->getLoc(), combiner->getName().getIdentifier(),
              {before, next}, {before.getType()}, combiner->getAttrs())
      ->getResult(0);
}

/// How many elements from the one at the loop's number on are accessed
/// together, where they are neighbours that begin at a multiple of that.
int64_t Scan::getVector(Value memory, ValueRange indices, int64_t count) {
  auto type = cast<MemRefType>(memory.getType());
  auto isFixed = [&](Value index) {
    return index.getParentRegion() != &loop.getRegion();
  };
  Type element = type.getElementType();
  if (indices.empty() || indices.back() != loop.getInductionVar() ||
      !llvm::all_of(indices.drop_back(), isFixed) ||
      !type.getLayout().isIdentity() || !element.isIntOrFloat() ||
      element.getIntOrFloatBitWidth() < 8)
    return 1;
  int64_t width = kVectorBytes * 8 / element.getIntOrFloatBitWidth();
  int64_t last = type.getShape().back();
  bool isWhole = !ShapedType::isDynamic(last) && last % width == 0 &&
                 count % width == 0 && this->width % width == 0;
  return isWhole ? std::max<int64_t>(width, 1) : 1;
}

/// The elements that the iterations read.
SmallVector<Value> Scan::read(memref::LoadOp load, IRMapping &mapping,
                              ArrayRef<Value> numbers) {
  SmallVector<Value> elements;
  auto count = static_cast<int64_t>(numbers.size());
  int64_t vector = getVector(load.getMemRef(), load.getIndices(), count);
  for (int64_t first = 0; first < count; first += vector) {
    IRMapping own(mapping);
    own.map(loop.getInductionVar(), numbers[first]);
    SmallVector<Value> at =
        llvm::map_to_vector(load.getIndices(), [&](Value index) {
          return own.lookupOrDefault(index);
        });
    auto type = VectorType::get(vector, load.getType());
    auto piece =
        vector::LoadOp::create(b, load.getLoc(), type, load.getMemRef(), at);
    auto parts = vector::ToElementsOp::create(b, load.getLoc(), piece);
    elements.append(parts.result_begin(), parts.result_end());
  }
  return elements;
}

/// Stores what the iterations have for one store.
void Scan::write(memref::StoreOp store, MutableArrayRef<IRMapping> mappings) {
  auto count = static_cast<int64_t>(mappings.size());
  int64_t vector = getVector(store.getMemRef(), store.getIndices(), count);
  for (int64_t first = 0; first < count; first += vector) {
    if (vector == 1) {
      b.clone(*store, mappings[first]);
      continue;
    }
    SmallVector<Value> elements, at;
    for (IRMapping &own : mappings.slice(first, vector))
      elements.push_back(own.lookupOrDefault(store.getValueToStore()));
    for (Value index : store.getIndices())
      at.push_back(mappings[first].lookupOrDefault(index));
    auto type = VectorType::get(vector, elements.front().getType());
    Value piece = vector::FromElementsOp::create(b, type, elements);
    vector::StoreOp::create(b, store.getLoc(), piece, store.getMemRef(), at);
  }
}

/// `count` iterations from `begin` on: all that they read, then what is carried
/// from one to the next, then all that they store.
Value Scan::goThroughPiece(IRMapping &mapping, Value begin, int64_t count,
                           Value init, bool storesResults) {
  SmallVector<Value> numbers;
  SmallVector<IRMapping> own(count, mapping);
  for (int64_t number = 0; number < count; ++number) {
    numbers.push_back(arith::AddIOp::create(
        b, begin, arith::ConstantIndexOp::create(b, number)));
    own[number].map(loop.getInductionVar(), numbers.back());
  }
  auto isCarried = [&](Operation &op) {
    return llvm::any_of(op.getOperands(),
                        [&](Value value) { return carried.contains(value); });
  };
  auto body = loop.getBody()->without_terminator();
  for (Operation &op : body) {
    if (isCarried(op) || isa<memref::StoreOp>(op))
      continue;
    auto load = dyn_cast<memref::LoadOp>(op);
    if (load && getVector(load.getMemRef(), load.getIndices(), count) > 1) {
      for (auto [mapped, element] :
           llvm::zip_equal(own, read(load, mapping, numbers)))
        mapped.map(load.getResult(), element);
      continue;
    }
    for (IRMapping &mapped : own)
      b.clone(op, mapped);
  }
  for (IRMapping &mapped : own) {
    mapped.map(loop.getRegionIterArg(0), init);
    for (Operation &op : body)
      if (isCarried(op) && !isa<memref::StoreOp>(op))
        b.clone(op, mapped);
    init = mapped.lookup(combiner->getResult(0));
  }
  for (Operation &op : body)
    if (auto store = dyn_cast<memref::StoreOp>(op); store && storesResults)
      write(store, own);
  return init;
}

/// Whether all that so many iterations store are vectors: coverage knows
/// those, and loops over single elements, but not what loops are unrolled to.
bool Scan::storesVectors(int64_t count) {
  return llvm::all_of(
      loop.getBody()->getOps<memref::StoreOp>(), [&](memref::StoreOp store) {
        return getVector(store.getMemRef(), store.getIndices(), count) > 1;
      });
}

/// The iterations of a block one by one; the last block may be shorter.
Value Scan::goThroughInTurn(IRMapping &mapping, Value begin, Value init,
                            bool storesResults) {
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value count = arith::ConstantIndexOp::create(b, width);
  if (extent % width) {
    Value end = arith::ConstantIndexOp::create(b, extent);
    count =
        arith::MinSIOp::create(b, count, arith::SubIOp::create(b, end, begin));
  }
  auto inner = scf::ForOp::create(b, zero, count, one, init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(inner.getBody());
  Value number = arith::AddIOp::create(b, begin, inner.getInductionVar());
  mapping.map(loop.getInductionVar(), number);
  mapping.map(loop.getRegionIterArg(0), inner.getRegionIterArg(0));
  for (Operation &op : loop.getBody()->without_terminator())
    if (storesResults || !isa<memref::StoreOp>(op))
      b.clone(op, mapping);
  scf::YieldOp::create(b, mapping.lookup(combiner->getResult(0)));
  return inner.getResult(0);
}

/// The iterations of a block, with or without what they store.
Value Scan::goThrough(IRMapping &mapping, Value block, Value init,
                      bool storesResults) {
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value count = arith::ConstantIndexOp::create(b, width);
  Value begin = arith::MulIOp::create(b, block, count);
  int64_t piece = std::min(width, kNeighbours);
  while (width % piece)
    --piece;
  if (extent % width || (storesResults && !storesVectors(piece)))
    return goThroughInTurn(mapping, begin, init, storesResults);
  if (piece == width)
    return goThroughPiece(mapping, begin, width, init, storesResults);
  auto inner = scf::ForOp::create(
      b, zero, count, arith::ConstantIndexOp::create(b, piece), init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(inner.getBody());
  Value at = arith::AddIOp::create(b, begin, inner.getInductionVar());
  Value sum = goThroughPiece(mapping, at, piece, inner.getRegionIterArg(0),
                             storesResults);
  scf::YieldOp::create(b, sum);
  return inner.getResult(0);
}

void Scan::unroll() {
  width = extent;
  if (!storesVectors(extent))
    return;
  makeLanes(1, [&](IRMapping &mapping, Value) {
    Value begin = arith::ConstantIndexOp::create(b, 0);
    Value init = mapping.lookupOrDefault(Value(loop.getInitArgs().front()));
    goThroughPiece(mapping, begin, extent, init, /*storesResults=*/true);
  });
  lanes->erase();
}

scf::ForallOp Scan::split() {
  width = chooseBlock();
  auto blocks = static_cast<int64_t>(llvm::divideCeil(extent, width));
  if (blocks < 2)
    return nullptr;
  Type type = neutral.getType();
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  for (OpFoldResult upper : lanes.getMixedUpperBound()) {
    std::optional<int64_t> known = getConstantIntValue(upper);
    shape.push_back(known.value_or(ShapedType::kDynamic));
    if (!known)
      sizes.push_back(cast<Value>(upper));
  }
  insertBlock(shape, blocks);
  auto memory = MemRefType::get(shape, type);
  Value sums = memref::AllocOp::create(b, memory, sizes);
  Value before = memref::AllocOp::create(b, memory, sizes);
  auto place = [&](IRMapping &mapping, Value block) {
    SmallVector<Value> at;
    for (Value number : lanes.getInductionVars())
      at.push_back(mapping.lookup(number));
    insertBlock(at, block);
    return at;
  };
  makeLanes(blocks, [&](IRMapping &mapping, Value block) {
    Value start = arith::ConstantOp::create(b, neutral);
    Value sum = goThrough(mapping, block, start, /*storesResults=*/false);
    memref::StoreOp::create(b, sum, sums, place(mapping, block));
  });
  scf::ForallOp second = makeLanes(1, [&](IRMapping &mapping, Value) {
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value one = arith::ConstantIndexOp::create(b, 1);
    Value count = arith::ConstantIndexOp::create(b, blocks);
    auto inner = scf::ForOp::create(
        b, zero, count, one,
        mapping.lookupOrDefault(Value(loop.getInitArgs().front())));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(inner.getBody());
    SmallVector<Value> at = place(mapping, inner.getInductionVar());
    Value sum = memref::LoadOp::create(b, sums, at);
    memref::StoreOp::create(b, inner.getRegionIterArg(0), before, at);
    scf::YieldOp::create(b, combine(inner.getRegionIterArg(0), sum));
  });
  makeLanes(blocks, [&](IRMapping &mapping, Value block) {
    Value start = memref::LoadOp::create(b, before, place(mapping, block));
    goThrough(mapping, block, start, /*storesResults=*/true);
  });
  lanes->erase();
  return second;
}

void mlir::tracea::splitScan(scf::ForallOp lanes, int64_t cores) {
  while (lanes) {
    Scan scan(lanes, cores);
    if (!scan.match())
      return;
    if (scan.isShort())
      return scan.unroll();
    lanes = scan.split();
  }
}
