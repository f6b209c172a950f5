//===- MachineMemory.cpp - Memory, copies, rings and units ----------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Machine.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tracea_pipe;
using namespace ::tracea::mutants;
namespace mut = ::tracea::mutants;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

int64_t Window::place(ArrayRef<int64_t> at) const {
  int64_t result = offset;
  for (auto [coordinate, stride] : llvm::zip_equal(at, strides))
    result += coordinate * stride;
  return result;
}

double Window::read(int64_t place) const {
  if (place < 0 || place >= static_cast<int64_t>(memory->elements.size()))
    stop("reads out of bounds");
  return memory->elements[place];
}

void Window::write(int64_t place, double value) const {
  if (place < 0 || place >= static_cast<int64_t>(memory->elements.size()))
    stop("writes out of bounds");
  memory->elements[place] = roundToType(memory->type, value);
}

bool Machine::isBelow(ArrayRef<int64_t> at, ArrayRef<int64_t> limits) {
  for (auto [coordinate, limit] : llvm::zip(at, limits))
    if (coordinate >= limit)
      return false;
  return true;
}

Window Machine::view(const Window &source, ArrayRef<int64_t> at, AffineMap map,
                     ArrayRef<int64_t> sizes) const {
  Window window;
  window.memory = source.memory;
  window.offset = source.offset;
  window.sizes.assign(sizes.begin(), sizes.end());
  window.strides.assign(sizes.size(), 0);
  for (unsigned dim = 0; dim < map.getNumResults(); ++dim) {
    LinearForm form = getLinearForm(map.getResult(dim), map.getNumDims());
    window.offset += (at[dim] + form.constant) * source.strides[dim];
    for (auto [stride, coefficient] :
         llvm::zip_equal(window.strides, form.coefficients))
      stride += coefficient * source.strides[dim];
  }
  return window;
}

/// The workgroup's own; the same each time it is declared for a tile.
std::shared_ptr<Memory> Machine::declare(Operation *op, int64_t number,
                                         MemRefType type) {
  std::shared_ptr<Memory> &memory = current->group->memories[{op, number}];
  if (!memory) {
    memory = std::make_shared<Memory>();
    memory->type = type.getElementType();
    memory->elements.assign(type.getNumElements(), std::nan(""));
    memory->key = {op, number};
  }
  return memory;
}

//===----------------------------------------------------------------------===//
// Loads, stores, copies
//===----------------------------------------------------------------------===//

Extents Walk::at(int64_t t) const {
  int64_t rest = first + t;
  if (rest < 0)
    stop("walks from before the beginning");
  Extents result(basis.size() + 1);
  for (size_t dim = basis.size(); dim > 0; --dim) {
    if (basis[dim - 1] < 1)
      stop("walks through a dimension without elements");
    result[dim] = rest % basis[dim - 1];
    rest /= basis[dim - 1];
  }
  result[0] = rest;
  return result;
}

namespace {
/// How an element of a tile finds its place in memory.
class Places {
public:
  Places(Window memory, Extents first, AffineMap map, ArrayRef<int64_t> along,
         std::vector<Walk> walks, ArrayRef<int64_t> padded = {},
         double outside = 0.0)
      : outside(outside), memory(std::move(memory)), first(std::move(first)),
        along(along.begin(), along.end()), padded(padded.begin(), padded.end()),
        walks(std::move(walks)) {
    for (AffineExpr result : map.getResults())
      forms.push_back(getLinearForm(result, map.getNumDims()));
  }

  /// The element's value; `outside` is that of all that lies outside of memory
  /// along dimensions that are padded.
  double read(ArrayRef<int64_t> at) {
    locate(at);
    for (int64_t dim : padded)
      if (coordinates[dim] < 0 || coordinates[dim] >= memory.sizes[dim])
        return outside;
    return memory.read(memory.place(coordinates));
  }

  void write(ArrayRef<int64_t> at, double value) {
    locate(at);
    memory.write(memory.place(coordinates), value);
  }

private:
  void locate(ArrayRef<int64_t> at) {
    inputs.clear();
    for (size_t dim = 0; dim < at.size(); ++dim) {
      const int64_t *found = llvm::find(along, static_cast<int64_t>(dim));
      if (found == along.end())
        inputs.push_back(at[dim]);
      else
        llvm::append_range(inputs, walks[found - along.begin()].at(at[dim]));
    }
    coordinates = first;
    for (auto [coordinate, form] : llvm::zip_equal(coordinates, forms)) {
      coordinate += form.constant;
      for (auto [input, coefficient] :
           llvm::zip_equal(inputs, form.coefficients))
        coordinate += coefficient * input;
    }
  }

  double outside;
  Window memory;
  Extents first, along, padded, inputs, coordinates;
  std::vector<Walk> walks;
  SmallVector<LinearForm> forms;
};
} // namespace

void Machine::meet() {
  std::vector<std::function<void()>> unseen = std::move(current->unseen);
  current->unseen.clear();
  for (auto &write : unseen)
    write();
}

static bool isStaged(Value memory) {
  auto type = dyn_cast<MemRefType>(memory.getType());
  return type && isa_and_nonnull<StagedAttr>(type.getMemorySpace());
}

bool Machine::runCopy(CopyOp copy) {
  Window dest = window(copy.getDest());
  Places source(window(copy.getSource()), indices(copy.getIndices()),
                copy.getMap(), copy.getAlong(), walks(copy.getWalks()),
                copy.getPadded());
  Extents limits = indices(copy.getLimits());
  auto action = [=]() mutable {
    forEach(dest.sizes, [&](ArrayRef<int64_t> at) {
      if (isBelow(at, limits))
        dest.write(dest.place(at), source.read(at));
    });
  };
  if (late)
    current->copies.push_back(action);
  else
    action();
  return true;
}

bool Machine::runMemoryOp(Operation &op) {
  if (auto load = dyn_cast<LoadOp>(op)) {
    Extents limits = indices(load.getLimits());
    // A lane sees what it wrote itself.
    if (current && current->unseenLanes == getLanes(load.getType()))
      meet();
    double padding = load.getPadding() ? scalar(load.getPadding()) : 0.0;
    auto result = std::make_shared<Tile>();
    llvm::append_range(result->shape, load.getType().getShape());
    Places source(window(load.getSource()), indices(load.getIndices()),
                  load.getMap(), load.getAlong(), walks(load.getWalks()),
                  load.getPadded(), padding);
    forEach(result->shape, [&](ArrayRef<int64_t> at) {
      result->elements.push_back(isBelow(at, limits) ? source.read(at)
                                                     : padding);
    });
    set(load.getResult(), TileRef(result));
    return true;
  }
  if (auto store = dyn_cast<StoreOp>(op)) {
    Extents limits = indices(store.getLimits());
    TileRef value = tile(store.getValue());
    Places dest(window(store.getDest()), indices(store.getIndices()),
                store.getMap(), store.getAlong(), walks(store.getWalks()));
    auto action = [=]() mutable {
      size_t next = 0;
      forEach(value->shape, [&](ArrayRef<int64_t> at) {
        double element = value->elements[next++];
        if (isBelow(at, limits))
          dest.write(at, element);
      });
    };
    if (!late || !isStaged(store.getDest())) {
      action();
      return true;
    }
    Attribute lanes = getLanes(store.getValue().getType());
    if (lanes != current->unseenLanes)
      current->unseenLanes = current->unseen.empty() ? lanes : Attribute();
    current->unseen.push_back(action);
    return true;
  }
  if (isa<PrefetchOp>(op))
    return true;
  if (isa<SyncOp>(op)) {
    meet();
    return true;
  }
  if (auto viewOp = dyn_cast<ViewOp>(op)) {
    set(viewOp.getResult(),
        view(window(viewOp.getSource()), indices(viewOp.getOffsets()),
             viewOp.getMap(), viewOp.getResult().getType().getShape()));
    return true;
  }
  if (auto scratch = dyn_cast<ScratchOp>(op)) {
    auto type = cast<MemRefType>(scratch.getResult().getType());
    // Inside of a role each team has its own.
    int64_t team = op.getParentOfType<RoleOp>() ? current->team : -1;
    set(scratch.getResult(), whole(declare(&op, team, type), type.getShape()));
    return true;
  }
  if (auto copy = dyn_cast<CopyOp>(op))
    return runCopy(copy);
  if (auto walk = dyn_cast<DelinearizeOp>(op)) {
    set(walk.getResult(),
        Walk{index(walk.getFirst()), indices(walk.getBasis())});
    return true;
  }
  if (auto read = dyn_cast<ReadOp>(op)) {
    const Window &source = window(read.getSource());
    Extents at = indices(read.getIndices());
    for (auto [coordinate, size] : llvm::zip_equal(at, source.sizes))
      if (coordinate < 0 || coordinate >= size)
        stop("reads a number out of bounds");
    set(read.getResult(), source.read(source.place(at)));
    return true;
  }
  if (auto peer = dyn_cast<PeerOp>(op)) {
    Window mine = window(peer.getMemory());
    int64_t number = index(peer.getWorkgroup());
    Cluster &cluster = *current->group->cluster;
    if (number < 0 || number >= static_cast<int64_t>(cluster.groups.size()))
      stop("reads of a workgroup that the cluster does not have");
    std::shared_ptr<Memory> &theirs =
        cluster.groups[number]->memories[mine.memory->key];
    if (!theirs) {
      theirs = std::make_shared<Memory>(*mine.memory);
      llvm::fill(theirs->elements, std::nan(""));
    }
    mine.memory = theirs;
    set(peer.getResult(), mine);
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

bool Machine::runRingOp(Operation &op) {
  if (auto channel = dyn_cast<ChannelOp>(op)) {
    ChannelType type = channel.getResult().getType();
    auto ring = std::make_shared<Ring>();
    std::tie(ring->fillers, ring->readers) = arrivalCounts[channel.getResult()];
    ring->slots.resize(type.getSlots());
    for (Slot &slot : ring->slots)
      for (Type buffer : type.getBuffers()) {
        auto memory = std::make_shared<Memory>();
        auto memref = cast<MemRefType>(buffer);
        memory->type = memref.getElementType();
        memory->elements.assign(memref.getNumElements(), std::nan(""));
        slot.buffers.push_back(whole(memory, memref.getShape()));
      }
    set(channel.getResult(), ring);
    return true;
  }
  if (auto start = dyn_cast<StartOp>(op)) {
    set(start.getResult(),
        Phase{0, cast<PhaseType>(start.getResult().getType()).getSlots()});
    return true;
  }
  if (auto advance = dyn_cast<AdvanceOp>(op)) {
    Phase phase = std::get<Phase>(get(advance.getPhase()));
    phase.value = (phase.value + 1) % (2 * phase.slots);
    set(advance.getResult(), phase);
    return true;
  }
  auto locate = [&](Value channel, Value value) {
    auto ring = std::get<std::shared_ptr<Ring>>(get(channel));
    Phase phase = std::get<Phase>(get(value));
    Slot &slot = ring->slots[phase.value % phase.slots];
    return std::tuple(ring, &slot, phase.value / phase.slots);
  };
  auto give = [&](ResultRange results, const Slot &slot) {
    for (auto [result, buffer] : llvm::zip_equal(results, slot.buffers))
      set(result, buffer);
  };
  if (auto acquire = dyn_cast<AcquireOp>(op)) {
    auto [ring, slot, parity] =
        locate(acquire.getChannel(), acquire.getPhase());
    waitFor([slot = slot, parity = parity] {
      return (slot->releases & 1) == parity;
    });
    give(op.getResults(), *slot);
    return true;
  }
  if (auto commit = dyn_cast<CommitOp>(op)) {
    auto [ring, slot, parity] = locate(commit.getChannel(), commit.getPhase());
    meet();
    llvm::append_range(slot->copies, current->copies);
    current->copies.clear();
    if (++slot->commits == ring->fillers) {
      slot->commits = 0;
      ++slot->fills;
    }
    return true;
  }
  if (auto wait = dyn_cast<WaitOp>(op)) {
    auto [ring, slot, parity] = locate(wait.getChannel(), wait.getPhase());
    waitFor(
        [slot = slot, parity = parity] { return (slot->fills & 1) != parity; });
    std::vector<std::function<void()>> copies = std::move(slot->copies);
    slot->copies.clear();
    for (auto &copy : copies)
      copy();
    give(op.getResults(), *slot);
    return true;
  }
  if (auto release = dyn_cast<ReleaseOp>(op)) {
    auto [ring, slot, parity] =
        locate(release.getChannel(), release.getPhase());
    if (++slot->returns == ring->readers) {
      slot->returns = 0;
      ++slot->releases;
    }
    return true;
  }
  if (auto turnsOp = dyn_cast<OrderBarrierOp>(op)) {
    auto turns = std::make_shared<Turns>();
    turns->teams =
        cast<OrderBarrierType>(turnsOp.getResult().getType()).getTeams();
    set(turnsOp.getResult(), turns);
    return true;
  }
  if (auto take = dyn_cast<OrderWaitOp>(op)) {
    auto turns = std::get<std::shared_ptr<Turns>>(get(take.getBarrier()));
    int64_t team = index(take.getTeam());
    waitFor([=] { return turns->current == team; });
    return true;
  }
  if (auto pass = dyn_cast<OrderArriveOp>(op)) {
    auto turns = std::get<std::shared_ptr<Turns>>(get(pass.getBarrier()));
    turns->current = (index(pass.getTeam()) + 1) % turns->teams;
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Units beside their roles, and the barrier of a cluster
//===----------------------------------------------------------------------===//

bool Machine::runAsyncOp(Operation &op) {
  auto begin = [&](Unit unit, std::function<void()> action) {
    if (!late)
      action();
    else
      current->started[static_cast<int>(unit)].push_back(std::move(action));
  };
  if (auto mma = dyn_cast<MmaAsyncOp>(op)) {
    auto flight = std::make_shared<Flight>();
    Datum lhs = get(mma.getLhs()), rhs = get(mma.getRhs()), acc;
    if (mma.getAcc())
      acc = get(mma.getAcc());
    RankedTensorType type = mma.getTileType();
    begin(Unit::Mma, [=] {
      TileRef sum;
      if (const TileRef *tile = std::get_if<TileRef>(&acc))
        sum = *tile;
      else if (const auto *before =
                   std::get_if<std::shared_ptr<Flight>>(&acc)) {
        sum = (*before)->tile;
        if (!sum)
          stop("adds onto a tile that is not there yet");
      }
      flight->tile = multiply(lhs, rhs, sum, -1, {}, type);
    });
    set(mma.getResult(), flight);
    return true;
  }
  if (auto copy = dyn_cast<CopyOutOp>(op)) {
    Window source = window(copy.getSource());
    Window dest = view(window(copy.getDest()), indices(copy.getIndices()),
                       copy.getMap(), source.sizes);
    Extents limits = indices(copy.getLimits());
    begin(Unit::Copy, [=] {
      forEach(source.sizes, [&](ArrayRef<int64_t> at) {
        if (isBelow(at, limits))
          dest.write(dest.place(at), source.read(source.place(at)));
      });
    });
    return true;
  }
  if (auto commit = dyn_cast<CommitGroupOp>(op)) {
    auto unit = static_cast<int>(commit.getUnit());
    current->pending[unit].push_back(std::move(current->started[unit]));
    current->started[unit].clear();
    return true;
  }
  if (auto wait = dyn_cast<WaitGroupOp>(op)) {
    auto &pending = current->pending[static_cast<int>(wait.getUnit())];
    while (pending.size() > wait.getPending()) {
      std::vector<std::function<void()>> group = std::move(pending.front());
      pending.pop_front();
      for (auto &action : group)
        action();
    }
    for (auto [inFlight, result] :
         llvm::zip_equal(wait.getInFlight(), wait.getTiles())) {
      TileRef tile = std::get<std::shared_ptr<Flight>>(get(inFlight))->tile;
      if (!tile)
        stop("takes a tile that is still in flight");
      set(result, tile);
    }
    return true;
  }
  if (isa<ClusterArriveOp>(op)) {
    meet();
    ++current->arrivals;
    return true;
  }
  if (isa<ClusterWaitOp>(op)) {
    // A strand that began the roles and one that ended count as arrived.
    Cluster *cluster = current->group->cluster;
    int64_t arrivals = current->arrivals;
    waitFor([=] {
      return llvm::all_of(cluster->strands, [&](const auto &strand) {
        return strand->ended || strand->arrivals >= arrivals;
      });
    });
    return true;
  }
  return false;
}
