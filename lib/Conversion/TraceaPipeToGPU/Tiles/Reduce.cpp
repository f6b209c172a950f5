//===- Reduce.cpp - Registers, lanes, warps -------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lane combines its registers in their order, lanes combine as a balanced
// tree of exchanges, warps as another one over what they have left in memory.
// Both trees combine partners in either order, so that all of a group compute
// the same bits. Where the result has lanes hold different elements that would
// hold the same ones, partners share the work: each offers what the other
// keeps.
//
// Which threads belong to a group is the kernel of the lane map without the
// reduced dimension, or without the bits of it that a group's elements have;
// those of them that hold the same elements are replicas and are left out.
//
//===----------------------------------------------------------------------===//

#include "Tiles/Patterns.h"
#include "Tiles/Words.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace mlir;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

namespace {
/// A partner of every thread: its lane and warp differ by masks, and the group
/// that it holds in a register differs by one of registers.
struct Partner {
  uint64_t registers, lane, warp;
  /// The bit of a reduced register that tells what this lane keeps from what
  /// the partner does; -1 where both keep all.
  int shared = -1;
};

struct ReducePlan {
  /// For each register its group, numbered by first appearance; whether it
  /// repeats an earlier register.
  SmallVector<unsigned> groupOf;
  SmallVector<bool> isReplica;
  unsigned numGroups = 0;
  /// The partner at each level of the trees over lanes and over warps.
  SmallVector<Partner> lanes, warps;
  /// Where a thread leaves group 0 in memory, in elements, and how far groups
  /// lie apart.
  ThreadMap place;
  int64_t groupStride = 1;
  /// A register of the operand for each reduced register, and the reduced
  /// registers that are left for the map below.
  SmallVector<int64_t> held;
  SmallVector<int64_t> kept;
  bool isShared = false;
  /// How the reduced groups become the result, where their lanes differ.
  std::optional<TileConversion> conversion;

  int64_t getWarpElements() const {
    return warps.empty() ? 0 : groupStride * numGroups;
  }
};
} // namespace

/// The columns of registers, lanes and warps without dimension `dim`.
static alg::Expected<alg::F2Matrix> getColumns(const alg::LaneMap &map) {
  alg::F2Vectors columns;
  for (alg::LaneDim dim :
       {alg::LaneDim::Reg, alg::LaneDim::Lane, alg::LaneDim::Warp})
    for (uint64_t column : map.columns(dim))
      columns.push_back(column);
  return alg::F2Matrix::get(map.matrix().numOutputs(), columns);
}

/// The map without what tells the elements of a group of `run` neighbours along
/// `dim` apart.
static alg::Expected<alg::LaneMap> divide(const alg::LaneMap &map, unsigned dim,
                                          int64_t run) {
  alg::LaneBases bases{getBases(map, alg::LaneDim::Reg),
                       getBases(map, alg::LaneDim::Lane),
                       getBases(map, alg::LaneDim::Warp),
                       {}};
  for (std::vector<alg::TileCoord> *part :
       {&bases.reg, &bases.lane, &bases.warp})
    for (alg::TileCoord &vector : *part)
      vector[dim] /= run;
  alg::TileCoord linear = map.linearShape();
  linear[dim] /= run;
  return alg::LaneMap::get(linear, bases, map.outer());
}

static alg::Expected<ReducePlan> plan(ReduceOp op,
                                      const GPULoweringContext &context) {
  alg::Expected<MovedMaps> maps = getMovedMaps(op.getValue(), op.getResult());
  if (!maps)
    return maps.error();
  const alg::LaneMap &from = maps->from, &to = maps->to;
  if (from.numLanes() > context.getSubgroupSize())
    return alg::Error{"expected a lane map of at most " +
                      std::to_string(context.getSubgroupSize()) +
                      " lanes, found " + std::to_string(from.numLanes())};
  unsigned dim = op.getDim();
  auto extentOf = [&](Value tile) {
    return cast<RankedTensorType>(tile.getType()).getDimSize(dim);
  };
  int64_t numRuns = extentOf(op.getResult());
  bool isWhole = numRuns == 1;
  int64_t run = extentOf(op.getValue()) / numRuns;
  alg::Expected<alg::LaneMap> projected =
      isWhole ? project(from, {dim}) : divide(from, dim, run);
  if (!projected)
    return projected.error();
  ReducePlan result;

  // Registers.
  std::map<alg::TileCoord, unsigned> groups;
  std::map<alg::TileCoord, int64_t> elements;
  for (int64_t reg = 0; reg < from.numRegisters(); ++reg) {
    alg::TileCoord at = *from.coordinate(reg, 0);
    result.isReplica.push_back(!elements.emplace(at, reg).second);
    at[dim] /= run;
    result.groupOf.push_back(
        groups.emplace(at, static_cast<unsigned>(groups.size())).first->second);
  }
  result.numGroups = groups.size();

  // Threads. Kernel vectors list the dependent index bit last.
  alg::Expected<alg::F2Matrix> all = getColumns(from);
  if (!all)
    return all.error();
  alg::Expected<alg::F2Matrix> others = getColumns(*projected);
  if (!others)
    return others.error();
  unsigned regBits = from.numBits(alg::LaneDim::Reg),
           laneBits = from.numBits(alg::LaneDim::Lane),
           warpBits = from.numBits(alg::LaneDim::Warp);
  auto field = [](uint64_t x, unsigned shift, unsigned width) {
    return x >> shift & ((uint64_t(1) << width) - 1);
  };
  // Coordinates that the members combined so far reach.
  alg::F2Vectors reached = from.columns(alg::LaneDim::Reg);
  alg::F2Vectors same; // Lane masks along which groups stay in place.
  for (uint64_t member : others->kernel()) {
    Partner partner{field(member, 0, regBits), field(member, regBits, laneBits),
                    field(member, regBits + laneBits, warpBits)};
    if (!partner.lane && !partner.warp)
      continue;
    // Of the thread alone; its registers are reached already.
    uint64_t moved = all->apply(member & ~((uint64_t(1) << regBits) - 1));
    bool isReplica = alg::inSpan(moved, reached);
    // Replicas in other registers sum in another order.
    if (!partner.warp && (moved == 0 || !isReplica) &&
        projected->matrix().apply(partner.registers) == 0)
      same.push_back(partner.lane);
    if (isReplica)
      continue;
    reached.push_back(moved);
    (partner.warp ? result.warps : result.lanes).push_back(partner);
  }

  // Lanes that hold the same groups leave them at one place.
  same = alg::canonicalBasis(same);
  uint64_t leads = 0;
  for (uint64_t mask : same)
    leads |= uint64_t(1) << llvm::Log2_64(mask);
  unsigned kept = 0;
  SmallVector<unsigned> position(laneBits, 0);
  for (unsigned i = 0; i < laneBits; ++i)
    if (!(leads >> i & 1))
      position[i] = kept++;
  for (unsigned i = 0; i < laneBits; ++i) {
    uint64_t lane = uint64_t(1) << i, place = 0;
    for (uint64_t mask : same)
      if (lane >> llvm::Log2_64(mask) & 1)
        lane ^= mask;
    for (unsigned k = 0; k < laneBits; ++k)
      if (lane >> k & 1)
        place |= uint64_t(1) << position[k];
    result.place.byLane.push_back(place);
  }
  for (unsigned i = 0; i < warpBits; ++i)
    result.place.byWarp.push_back(uint64_t(1) << (kept + i));
  result.groupStride = int64_t(1) << (kept + warpBits);

  // The map of the groups: index bits that make a difference.
  alg::LaneBases bases{{},
                       getBases(*projected, alg::LaneDim::Lane),
                       getBases(*projected, alg::LaneDim::Warp),
                       {}};
  alg::F2Vectors seen;
  SmallVector<unsigned> bits;
  for (unsigned i = 0; i < regBits; ++i) {
    uint64_t column = projected->columns(alg::LaneDim::Reg)[i];
    if (alg::inSpan(column, seen))
      continue;
    seen.push_back(column);
    bits.push_back(i);
    bases.reg.push_back(projected->basis(alg::LaneDim::Reg, i));
  }
  alg::Expected<alg::LaneMap> map =
      alg::LaneMap::get(projected->linearShape(), bases, projected->outer());
  if (!map)
    return map.error();
  for (int64_t reg = 0; reg < map->numRegisters(); ++reg) {
    int64_t source = 0, rest = reg >> bits.size(), index = 0, step = 1;
    for (auto [i, bit] : llvm::enumerate(bits))
      source |= (reg >> i & 1) << bit;
    for (unsigned d = from.rank(); d-- > 0;) {
      if (d != dim || !isWhole) {
        index += rest % from.outer()[d] * step;
        rest /= from.outer()[d];
      }
      step *= from.outer()[d];
    }
    result.held.push_back(index << regBits | source);
  }
  // Partners share what the result wants shared, where each is a lane that
  // holds its groups in the same registers.
  uint64_t sharedBits = 0;
  bool canShare =
      result.warps.empty() && llvm::all_of(result.lanes, [](const Partner &p) {
        return p.registers == 0 && llvm::isPowerOf2_64(p.lane);
      });
  for (Partner &partner : result.lanes) {
    if (!canShare)
      break;
    unsigned lane = llvm::Log2_64(partner.lane);
    alg::TileCoord wanted = to.basis(alg::LaneDim::Lane, lane);
    if (llvm::any_of(bases.lane[lane], [](int64_t x) { return x != 0; }))
      continue;
    for (auto [bit, basis] : llvm::enumerate(bases.reg))
      if (basis == wanted && !(sharedBits >> bit & 1)) {
        partner.shared = static_cast<int>(bit);
        sharedBits |= uint64_t(1) << bit;
        bases.lane[lane] = wanted;
        break;
      }
  }
  for (int64_t reg = 0; reg < map->numRegisters(); ++reg)
    if (!(static_cast<uint64_t>(reg) & sharedBits))
      result.kept.push_back(reg);
  result.isShared = sharedBits != 0;
  if (result.isShared) {
    std::vector<alg::TileCoord> rest;
    for (auto [bit, basis] : llvm::enumerate(bases.reg))
      if (!(sharedBits >> bit & 1))
        rest.push_back(basis);
    bases.reg = rest;
    map =
        alg::LaneMap::get(projected->linearShape(), bases, projected->outer());
    if (!map)
      return map.error();
  }
  alg::Expected<TileConversion> conversion = TileConversion::get(
      *map, to,
      cast<RankedTensorType>(op.getValue().getType()).getElementType(),
      context);
  if (!conversion)
    return conversion.error();
  result.conversion = *conversion;
  return result;
}

static int64_t getSentBytes(ReduceOp op) {
  auto tile = cast<RankedTensorType>(op.getValue().getType());
  return getStorageType(tile.getElementType()).getIntOrFloatBitWidth() / 8;
}

alg::Expected<int64_t>
mlir::tracea_pipe::getReduceExchangeBytes(ReduceOp op,
                                          const GPULoweringContext &context) {
  alg::Expected<ReducePlan> reduce = plan(op, context);
  if (!reduce)
    return reduce.error();
  return std::max(reduce->conversion->getExchangeBytes(),
                  reduce->getWarpElements() * getSentBytes(op));
}

static vector::CombiningKind getCombiningKind(ReduceKind kind, Type type) {
  bool isFloat = isa<FloatType>(type);
  switch (kind) {
  case ReduceKind::Add:
    return vector::CombiningKind::ADD;
  case ReduceKind::Mul:
    return vector::CombiningKind::MUL;
  case ReduceKind::Max: // NaN wins, as in the reference meaning.
    return isFloat ? vector::CombiningKind::MAXIMUMF
                   : vector::CombiningKind::MAXSI;
  case ReduceKind::Min:
    return isFloat ? vector::CombiningKind::MINIMUMF
                   : vector::CombiningKind::MINSI;
  }
  llvm_unreachable("all kinds are handled");
}

namespace {
struct LowerReduce : TilePattern<ReduceOp> {
  using TilePattern::TilePattern;

  /// The values that a partner's registers hold for `values`.
  SmallVector<Value> exchange(Threads &threads, ArrayRef<Value> values,
                              const Partner &partner) const {
    ImplicitLocOpBuilder &b = threads.b;
    Type type = values.front().getType();
    SmallVector<Value> offered;
    for (Value value : values)
      offered.push_back(toStorage(b, value));
    SmallVector<Value> words = threads.shuffle(
        packWords(b, offered), getI32(b, static_cast<int64_t>(partner.lane)),
        gpu::ShuffleMode::XOR);
    SmallVector<Value> received = unpackWords(
        b, words, getStorageType(type), static_cast<int64_t>(offered.size()));
    for (Value &value : received)
      value = fromStorage(b, value, type);
    return received;
  }

  /// The partner's value of every group.
  SmallVector<Value> exchangeLanes(Threads &threads, ArrayRef<Value> groups,
                                   const ReducePlan &plan,
                                   const Partner &partner) const {
    SmallVector<Value> offered;
    for (unsigned group : getOffered(plan, partner))
      offered.push_back(groups[group]);
    return exchange(threads, offered, partner);
  }

  /// Combines the reduced registers that are left with the partner's. Where
  /// both share, each keeps half of them, whose numbers have the shared bit
  /// clear.
  void combineLane(Threads &threads, SmallVector<Value> &reduced,
                   const Partner &partner,
                   function_ref<Value(Value, Value)> combine) const {
    ImplicitLocOpBuilder &b = threads.b;
    size_t step = partner.shared < 0 ? 0 : size_t(1) << partner.shared;
    Value isUpper;
    if (step)
      isUpper = arith::CmpIOp::create(
          b, arith::CmpIPredicate::ne,
          arith::AndIOp::create(b, threads.getLane(),
                                getI32(b, static_cast<int64_t>(partner.lane))),
          getI32(b, 0));
    SmallVector<size_t> left;
    SmallVector<Value> kept, offered;
    for (size_t reg = 0; reg < reduced.size(); ++reg) {
      if (reg & step || !reduced[reg])
        continue;
      left.push_back(reg);
      Value low = reduced[reg], high = reduced[reg | step];
      kept.push_back(
          step ? arith::SelectOp::create(b, isUpper, high, low).getResult()
               : low);
      offered.push_back(
          step ? arith::SelectOp::create(b, isUpper, low, high).getResult()
               : low);
    }
    for (auto [reg, own, other] :
         llvm::zip_equal(left, kept, exchange(threads, offered, partner))) {
      if (step)
        reduced[reg | step] = Value();
      reduced[reg] = combine(own, other);
    }
  }

  /// For each group the one that a partner holds in its place.
  static SmallVector<unsigned> getOffered(const ReducePlan &plan,
                                          const Partner &partner) {
    SmallVector<unsigned> offered(plan.numGroups, 0);
    for (auto [reg, group] : llvm::enumerate(plan.groupOf))
      offered[group] = plan.groupOf[reg ^ partner.registers];
    return offered;
  }

  void combineWarps(Threads &threads, SmallVector<Value> &groups,
                    const ReducePlan &plan, Value exchange,
                    function_ref<Value(Value, Value)> combine) const {
    ImplicitLocOpBuilder &b = threads.b;
    ++context.numExchanges;
    Type type = groups.front().getType(), stored = getStorageType(type);
    auto bytes = cast<MemRefType>(exchange.getType());
    Value memory = memref::ViewOp::create(
        b,
        MemRefType::get({plan.getWarpElements()}, stored,
                        MemRefLayoutAttrInterface{}, bytes.getMemorySpace()),
        exchange, arith::ConstantIndexOp::create(b, 0), ValueRange{});
    if (!context.ownExchanges.contains(threads.op))
      threads.sync();
    for (auto [group, value] : llvm::enumerate(groups))
      memref::StoreOp::create(
          b, toStorage(b, value), memory,
          threads.applyIndex(plan.place, group * plan.groupStride));
    threads.sync();
    auto placeOf = [&](const Partner &partner) {
      uint64_t place = 0;
      for (auto [i, column] : llvm::enumerate(plan.place.byLane))
        if (partner.lane >> i & 1)
          place ^= column;
      for (auto [i, column] : llvm::enumerate(plan.place.byWarp))
        if (partner.warp >> i & 1)
          place ^= column;
      return place;
    };
    // All members of the group, as a tree whose leaves are this warp's partners
    // in the order of their masks.
    std::function<SmallVector<Value>(size_t, Partner)> gather =
        [&](size_t level, Partner partner) {
          SmallVector<Value> result;
          if (level == 0) {
            if (!partner.warp)
              return groups;
            for (unsigned group : getOffered(plan, partner))
              result.push_back(fromStorage(
                  b,
                  memref::LoadOp::create(
                      b, memory,
                      threads.applyIndex(plan.place, group * plan.groupStride |
                                                         placeOf(partner)))
                      .getResult(),
                  type));
            return result;
          }
          const Partner &next = plan.warps[level - 1];
          SmallVector<Value> near = gather(level - 1, partner);
          SmallVector<Value> far = gather(
              level - 1, {partner.registers ^ next.registers,
                          partner.lane ^ next.lane, partner.warp ^ next.warp});
          for (auto [x, y] : llvm::zip(near, far))
            result.push_back(combine(x, y));
          return result;
        };
    groups = gather(plan.warps.size(), {0, 0, 0});
  }

  LogicalResult
  matchAndRewrite(ReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    alg::Expected<ReducePlan> reduce = plan(op, context);
    if (!reduce)
      return op.emitOpError() << "cannot be lowered: " << reduce.message();
    Threads threads(b, op, context);
    Value memory;
    if ((reduce->conversion->getExchangeBytes() || !reduce->warps.empty()) &&
        !(memory = getExchange(threads)))
      return op.emitOpError()
             << "combines warps, and nobody has planned memory "
                "for it";
    Type type =
        cast<RankedTensorType>(op.getValue().getType()).getElementType();
    auto combine = [&](Value x, Value y) {
      return vector::makeArithReduction(
          b, b.getLoc(), getCombiningKind(op.getKind(), type), x, y);
    };
    SmallVector<Value> groups(reduce->numGroups);
    for (auto [reg, value] :
         llvm::enumerate(getElements(b, adaptor.getValue()))) {
      if (reduce->isReplica[reg])
        continue;
      Value &group = groups[reduce->groupOf[reg]];
      group = group ? combine(group, value) : value;
    }
    SmallVector<Value> reduced;
    auto take = [&]() {
      for (int64_t reg : reduce->held)
        reduced.push_back(groups[reduce->groupOf[reg]]);
    };
    if (reduce->isShared) {
      take();
      for (const Partner &partner : reduce->lanes)
        combineLane(threads, reduced, partner, combine);
    } else {
      for (const Partner &partner : reduce->lanes)
        for (auto [group, other] : llvm::zip(
                 groups, exchangeLanes(threads, groups, *reduce, partner)))
          group = combine(group, other);
      if (!reduce->warps.empty())
        combineWarps(threads, groups, *reduce, memory, combine);
      take();
    }
    SmallVector<Value> held;
    for (int64_t reg : reduce->kept)
      held.push_back(reduced[reg]);
    remarkConversion(op, *reduce->conversion);
    rewriter.replaceOp(
        op,
        getVector(b, type, reduce->conversion->emit(threads, held, memory)));
    return success();
  }
};
} // namespace

void mlir::tracea_pipe::populateReducePatterns(const TypeConverter &converter,
                                               RewritePatternSet &patterns,
                                               GPULoweringContext &context) {
  patterns.add<LowerReduce>(converter, patterns.getContext(), context);
}
