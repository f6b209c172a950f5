//===- Machine.cpp - Host, grids and strands ------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Machine.h"

#include "Campaign.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::tracea_pipe;
using namespace ::tracea::mutants;
namespace mut = ::tracea::mutants;

/// Of a strand: the interpreter recurses once for each region.
static constexpr size_t stackBytes = 512 << 10;

void mut::forEach(ArrayRef<int64_t> extents,
                  function_ref<void(ArrayRef<int64_t>)> body) {
  if (llvm::any_of(extents, [](int64_t extent) { return extent <= 0; }))
    return;
  Extents at(extents.size(), 0);
  while (true) {
    body(at);
    size_t dim = extents.size();
    while (dim > 0 && ++at[dim - 1] == extents[dim - 1])
      at[--dim] = 0;
    if (dim == 0)
      return;
  }
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

const Datum &Machine::get(Value value) const {
  if (current) {
    auto found = current->values.find(value);
    if (found != current->values.end())
      return found->second;
    found = current->group->values.find(value);
    if (found != current->group->values.end())
      return found->second;
  }
  auto found = kernelValues.find(value);
  if (found != kernelValues.end())
    return found->second;
  found = hostValues.find(value);
  if (found == hostValues.end())
    stop("the interpreter has no value here");
  return found->second;
}

void Machine::set(Value value, Datum datum) {
  if (current)
    current->values[value] = std::move(datum);
  else
    kernelValues[value] = std::move(datum);
}

double Machine::number(const Datum &datum) {
  if (const double *value = std::get_if<double>(&datum))
    return *value;
  stop("the interpreter expected a number");
}

const Window &Machine::window(Value value) const {
  if (const Window *window = std::get_if<Window>(&get(value)))
    return *window;
  stop("the interpreter expected memory");
}

TileRef Machine::tile(Value value) const {
  if (const TileRef *tile = std::get_if<TileRef>(&get(value)))
    return *tile;
  stop("the interpreter expected a tile");
}

Extents Machine::indices(ValueRange values) const {
  Extents result;
  for (Value value : values)
    result.push_back(index(value));
  return result;
}

std::vector<Walk> Machine::walks(ValueRange values) const {
  std::vector<Walk> result;
  for (Value value : values) {
    const Walk *walk = std::get_if<Walk>(&get(value));
    if (!walk)
      stop("the interpreter expected a walk");
    result.push_back(*walk);
  }
  return result;
}

Window Machine::whole(std::shared_ptr<Memory> memory, ArrayRef<int64_t> sizes) {
  Window window;
  window.memory = std::move(memory);
  window.sizes.assign(sizes.begin(), sizes.end());
  window.strides.assign(sizes.size(), 1);
  for (size_t dim = sizes.size(); dim > 1; --dim)
    window.strides[dim - 2] =
        window.strides[dim - 1] * std::max<int64_t>(sizes[dim - 1], 1);
  return window;
}

//===----------------------------------------------------------------------===//
// Host
//===----------------------------------------------------------------------===//

std::vector<Window> Machine::call(const std::vector<Window> &arguments) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic())
      continue;
    Block &body = function.getBody().front();
    for (auto [argument, window] :
         llvm::zip_equal(body.getArguments(), arguments))
      hostValues[argument] = window;
    kernelValues = hostValues;
    std::vector<Window> results;
    for (Datum &datum : runBlock(body))
      results.push_back(std::get<Window>(datum));
    return results;
  }
  stop("no public function");
}

bool Machine::runHost(Operation &op) {
  if (auto check = dyn_cast<cf::AssertOp>(op)) {
    if (scalar(check.getArg()) == 0)
      stop(std::string(refusedByHost) +
           " these sizes: " + check.getMsg().str());
    return true;
  }
  if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
    Extents sizes;
    size_t next = 0;
    for (int64_t extent : alloc.getType().getShape())
      sizes.push_back(ShapedType::isDynamic(extent)
                          ? index(alloc.getDynamicSizes()[next++])
                          : extent);
    auto memory = std::make_shared<Memory>();
    memory->type = alloc.getType().getElementType();
    int64_t count = 1;
    for (int64_t size : sizes)
      count *= std::max<int64_t>(size, 0);
    memory->elements.assign(count, std::nan(""));
    set(alloc.getResult(), whole(memory, sizes));
    return true;
  }
  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    const Window &source = window(dim.getSource());
    int64_t number = index(dim.getIndex());
    // Of a dimension that is not there it is undefined, which matters to
    // whoever uses it.
    bool exists =
        number >= 0 && number < static_cast<int64_t>(source.sizes.size());
    set(dim.getResult(), exists ? double(source.sizes[number]) : std::nan(""));
    return true;
  }
  if (auto cast = dyn_cast<memref::CastOp>(op)) {
    set(cast.getResult(), get(cast.getSource()));
    return true;
  }
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(op)) {
    // Dense memory: a dimension becomes the rows and columns of its parts.
    const Window &source = window(expand.getSrc());
    Extents sizes;
    size_t next = 0;
    for (int64_t extent : expand.getStaticOutputShape())
      sizes.push_back(ShapedType::isDynamic(extent)
                          ? index(expand.getOutputShape()[next++])
                          : extent);
    Window result = whole(source.memory, sizes);
    result.offset = source.offset;
    set(expand.getResult(), result);
    return true;
  }
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op)) {
    const Window &source = window(collapse.getSrc());
    Extents sizes;
    for (const ReassociationIndices &joined :
         collapse.getReassociationIndices()) {
      sizes.push_back(1);
      for (int64_t dim : joined)
        sizes.back() *= source.sizes[dim];
    }
    Window result = whole(source.memory, sizes);
    result.offset = source.offset;
    set(collapse.getResult(), result);
    return true;
  }
  if (auto launchOp = dyn_cast<LaunchOp>(op)) {
    launch(launchOp);
    return true;
  }
  return false;
}

void Machine::launch(LaunchOp op) {
  SmallVector<FlatSymbolRefAttr> kernels = op.getKernels();
  auto kernel = module.lookupSymbol<KernelOp>(
      kernels[std::min(alternative, kernels.size() - 1)].getValue());
  if (!kernel)
    stop("launches a kernel that is not there");
  std::vector<Datum> arguments;
  for (Value operand : op->getOperands())
    arguments.push_back(get(operand));
  llvm::DenseMap<Value, Datum> host = std::move(kernelValues);
  kernelValues.clear();
  runKernel(kernel, arguments);
  kernelValues = std::move(host);
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

void Machine::runKernel(KernelOp kernel, const std::vector<Datum> &arguments) {
  Block &body = kernel.getBody().front();
  for (auto [argument, datum] : llvm::zip_equal(body.getArguments(), arguments))
    kernelValues[argument] = datum;
  // Who arrives at a ring's barriers: each team of a role that has such an
  // operation.
  arrivalCounts.clear();
  kernel->walk([&](ChannelOp channel) {
    llvm::SmallPtrSet<Operation *, 4> fillers, readers;
    for (Operation *user : channel->getUsers()) {
      Operation *role = user->getParentOfType<RoleOp>();
      if (isa<CommitOp>(user))
        fillers.insert(role);
      if (isa<ReleaseOp>(user))
        readers.insert(role);
    }
    auto teams = [](const llvm::SmallPtrSet<Operation *, 4> &roles) {
      int64_t count = 0;
      for (Operation *role : roles)
        count += role ? cast<RoleOp>(role).getCopies() : 1;
      return std::max<int64_t>(count, 1);
    };
    arrivalCounts[channel.getResult()] = {
        teams(fillers), channel.getInTurns() ? 1 : teams(readers)};
  });
  for (Operation &op : body) {
    auto tiles = dyn_cast<TilesOp>(op);
    if (!tiles) {
      if (!isa<EndOp>(op))
        runOp(op);
      continue;
    }
    Extents bounds = indices(tiles.getBounds());
    std::vector<Extents> all;
    forEach(bounds, [&](ArrayRef<int64_t> at) {
      all.emplace_back(at.begin(), at.end());
    });
    auto cluster = static_cast<size_t>(tiles.getCluster());
    if (cluster <= 1) {
      if (late)
        std::reverse(all.begin(), all.end());
      for (const Extents &at : all)
        runCluster(tiles, at);
      continue;
    }
    // Those that differ in the first index alone.
    std::map<Extents, std::vector<Extents>> clusters;
    for (const Extents &at : all)
      clusters[Extents(at.begin() + 1, at.end())].push_back(at);
    for (const auto &[rest, groups] : clusters)
      runCluster(tiles, groups);
  }
}

void Machine::runCluster(TilesOp tiles, ArrayRef<Extents> indices) {
  Cluster cluster;
  for (const Extents &at : indices) {
    cluster.groups.push_back(std::make_unique<Workgroup>());
    Workgroup &group = *cluster.groups.back();
    group.cluster = &cluster;
    for (auto [argument, value] : llvm::zip_equal(tiles.getIndices(), at))
      group.values[argument] = double(value);
    addStrand(group, [this, &group, tiles](Strand &strand) {
      for (Operation &op :
           *const_cast<TilesOp &>(tiles).getBody().getBlocks().begin()) {
        auto roles = dyn_cast<RolesOp>(op);
        if (!roles) {
          runOp(op);
          continue;
        }
        // The roles see what was computed before them.
        group.values.insert(strand.values.begin(), strand.values.end());
        startRoles(roles, group);
      }
    });
  }
  schedule(cluster);
}

void Machine::startRoles(RolesOp roles, Workgroup &group) {
  for (auto role : roles.getBody().getOps<RoleOp>())
    for (int64_t team = 0; team < static_cast<int64_t>(role.getCopies());
         ++team)
      addStrand(group, [this, role, team](Strand &strand) {
        strand.team = team;
        Block &body = const_cast<RoleOp &>(role).getBody().front();
        if (body.getNumArguments() != 0)
          strand.values[body.getArgument(0)] = double(team);
        runBlock(body);
      });
}

//===----------------------------------------------------------------------===//
// Strands
//===----------------------------------------------------------------------===//

void Machine::addStrand(Workgroup &group, std::function<void(Strand &)> body) {
  auto strand = std::make_unique<Strand>();
  strand->group = &group;
  strand->body = std::move(body);
  strand->stack.resize(stackBytes);
  getcontext(&strand->context);
  strand->context.uc_stack.ss_sp = strand->stack.data();
  strand->context.uc_stack.ss_size = strand->stack.size();
  strand->context.uc_link = &scheduler;
  auto address = reinterpret_cast<uintptr_t>(this);
  makecontext(&strand->context, reinterpret_cast<void (*)()>(&enter), 2,
              static_cast<unsigned>(address >> 32),
              static_cast<unsigned>(address));
  group.cluster->strands.push_back(std::move(strand));
}

void Machine::enter(unsigned high, unsigned low) {
  auto *machine =
      reinterpret_cast<Machine *>((static_cast<uintptr_t>(high) << 32) | low);
  Strand &strand = *machine->current;
  strand.body(strand);
  strand.ended = true;
}

void Machine::waitFor(std::function<bool()> ready) {
  if (ready())
    return;
  Strand *self = current;
  if (!self)
    stop("the host waits");
  self->ready = std::move(ready);
  swapcontext(&self->context, &scheduler);
}

void Machine::schedule(Cluster &cluster) {
  bool moved = true;
  while (moved) {
    moved = false;
    // Strands appear while others run.
    for (size_t i = 0; i < cluster.strands.size(); ++i) {
      size_t number = late ? cluster.strands.size() - 1 - i : i;
      Strand &strand = *cluster.strands[number];
      if (strand.ended || (strand.ready && !strand.ready()))
        continue;
      strand.ready = nullptr;
      current = &strand;
      swapcontext(&scheduler, &strand.context);
      current = nullptr;
      moved = true;
    }
  }
  for (const std::unique_ptr<Strand> &strand : cluster.strands) {
    if (!strand->ended)
      stop("deadlock");
    // What nobody waited for happens all the same.
    for (int unit : {0, 1}) {
      for (auto &group : strand->pending[unit])
        for (auto &action : group)
          action();
      for (auto &action : strand->started[unit])
        action();
    }
    for (auto &copy : strand->copies)
      copy();
    for (auto &write : strand->unseen)
      write();
  }
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

std::vector<Datum> Machine::runBlock(Block &block) {
  for (Operation &op : block) {
    if (!op.hasTrait<OpTrait::IsTerminator>()) {
      runOp(op);
      continue;
    }
    std::vector<Datum> results;
    for (Value operand : op.getOperands())
      results.push_back(get(operand));
    return results;
  }
  return {};
}

void Machine::runOp(Operation &op) {
  if (runControl(op) || runElementwise(op) || runTileOp(op) ||
      runMemoryOp(op) || runRingOp(op) || runAsyncOp(op) || runHost(op) ||
      isa<EndOp>(op))
    return;
  stop(std::string(notInterpreted) + op.getName().getStringRef().str());
}

bool Machine::runControl(Operation &op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    int64_t lower = index(loop.getLowerBound());
    int64_t upper = index(loop.getUpperBound());
    int64_t step = index(loop.getStep());
    if (step <= 0)
      stop("a loop has a step of " + std::to_string(step));
    std::vector<Datum> carried;
    for (Value init : loop.getInits())
      carried.push_back(get(init));
    for (int64_t at = lower; at < upper; at += step) {
      set(loop.getInductionVar(), double(at));
      for (auto [argument, datum] :
           llvm::zip_equal(loop.getRegionIterArgs(), carried))
        set(argument, datum);
      carried = runBlock(*loop.getBody());
    }
    for (auto [result, datum] : llvm::zip_equal(loop.getResults(), carried))
      set(result, datum);
    return true;
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    Region &taken = scalar(branch.getCondition()) != 0 ? branch.getThenRegion()
                                                       : branch.getElseRegion();
    std::vector<Datum> results;
    if (!taken.empty())
      results = runBlock(taken.front());
    for (auto [result, datum] : llvm::zip_equal(branch.getResults(), results))
      set(result, datum);
    return true;
  }
  return false;
}
