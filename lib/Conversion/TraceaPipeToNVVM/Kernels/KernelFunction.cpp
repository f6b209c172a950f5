//===- KernelFunction.cpp - The function around a kernel's code -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a kernel to a function: arguments become pointers and sizes, tensor maps
// come by value, buffers get their places in shared memory, and the interface
// that the launch reads is written down.

#include "Lowering.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "tracea/Conversion/TraceaPipeToGPU/Raster.h"
#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"
#include "tracea/Dialect/TraceaPipe/IR/KernelInterface.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea_pipe;

/// Memory whose size the launch decides.
constexpr StringLiteral kSharedName = "tracea_shared";
constexpr int64_t kSharedAlignment = 1024;
constexpr int64_t kTensorMapBytes = 128;

namespace {
class FunctionBuilder {
public:
  explicit FunctionBuilder(NVVMLoweringContext &context)
      : plan(context.plan), context(context), kernel(plan.kernel),
        b(kernel.getLoc(), kernel) {}

  LogicalResult build();

private:
  void buildSignature();
  void bindArguments();
  void bindBuffer(Value memory, const GlobalBuffer &buffer);
  void setUpThread();
  void setUpBarriers();
  void waitForGrids();
  SmallVector<Value> emitIndices(Value number, TilesOp tiles);
  void moveBody();
  void buildRoles(RolesOp roles);
  void buildRole(RoleOp role, Team &team);
  void moveRegisters(int64_t budget);
  void meetBarriers(bool isFirst);
  void passTurns(Team &team, int64_t to, bool waits);

  Value i32(int64_t value) {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
  }
  Value isEqual(Value x, int64_t y) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, i32(y));
  }
  Value pointer(int64_t offset) {
    return LLVM::GEPOp::create(b, context.target.shared.getType(),
                               b.getI8Type(), context.target.shared,
                               LLVM::GEPArg(static_cast<int32_t>(offset)));
  }
  /// Fills an `if` and goes on behind it.
  void onlyIf(Value condition, function_ref<void()> body) {
    auto ifOp = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(ifOp.thenBlock());
    body();
  }

  NVVMPlan &plan;
  NVVMLoweringContext &context;
  KernelOp kernel;
  ImplicitLocOpBuilder b;
  Value warp, lane;
};
} // namespace

static Value getSharedMemory(ImplicitLocOpBuilder &b, ModuleOp module) {
  auto global = module.lookupSymbol<LLVM::GlobalOp>(kSharedName);
  if (!global) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    global = LLVM::GlobalOp::create(
        b, LLVM::LLVMArrayType::get(b.getI8Type(), 0), /*isConstant=*/false,
        LLVM::Linkage::External, kSharedName, Attribute(), kSharedAlignment,
        static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
  }
  return LLVM::AddressOfOp::create(b, global);
}

/// Bytes that the beginning of a memref argument, and of each of its rows, is a
/// multiple of: an element's, if the kernel does not ask for more.
static int64_t getAlignment(KernelOp kernel, unsigned argument) {
  auto type = dyn_cast<MemRefType>(kernel.getArgumentTypes()[argument]);
  if (!type)
    return 1;
  if (auto aligned =
          kernel.getArgAttrOfType<IntegerAttr>(argument, kAlignedAttrName))
    return aligned.getInt();
  Type element = type.getElementType();
  return element.isIntOrFloat()
             ? std::max<int64_t>(element.getIntOrFloatBitWidth() / 8, 1)
             : 1;
}

/// Whether the target lets a grid begin before the one before it has ended.
static bool overlapsGrids(KernelOp kernel) {
  return getCapability(kernel).value_or(0) >= 90;
}

/// A buffer is a pointer and its dynamic sizes; then come the tensor maps, by
/// value: the unit reads them where the launch has put them.
void FunctionBuilder::buildSignature() {
  MLIRContext *mlirContext = b.getContext();
  auto global = LLVM::LLVMPointerType::get(
      mlirContext, static_cast<unsigned>(NVVM::NVVMMemorySpace::Global));
  SmallVector<Type> parameters;
  for (Type type : kernel.getArgumentTypes()) {
    if (auto memref = dyn_cast<MemRefType>(type)) {
      parameters.push_back(global);
      parameters.append(memref.getNumDynamicDims(), b.getI64Type());
    } else {
      parameters.push_back(type.isIndex() ? Type(b.getI64Type()) : type);
    }
  }
  SmallVector<DictionaryAttr> attributes(parameters.size(),
                                         b.getDictionaryAttr({}));
  TypeAttr mapType =
      TypeAttr::get(LLVM::LLVMArrayType::get(b.getI8Type(), kTensorMapBytes));
  SmallVector<TensorMapAttr> maps;
  for (const TensorMapRecipe &recipe : plan.tensorMaps) {
    maps.push_back(recipe.getAttr());
    parameters.push_back(LLVM::LLVMPointerType::get(mlirContext));
    attributes.push_back(b.getDictionaryAttr({
        b.getNamedAttr(LLVM::LLVMDialect::getByValAttrName(), mapType),
        b.getNamedAttr(LLVM::LLVMDialect::getAlignAttrName(),
                       b.getI64IntegerAttr(64)),
        b.getNamedAttr("nvvm.grid_constant", b.getUnitAttr()),
    }));
  }
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(mlirContext),
                                          parameters);
  auto function = LLVM::LLVMFuncOp::create(
      b, kernel.getSymName(), type, LLVM::Linkage::External,
      /*dsoLocal=*/false, LLVM::CConv::C, /*comdat=*/nullptr, /*attrs=*/{},
      attributes);
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    b.getUnitAttr());
  int32_t threads = plan.getNumThreads();
  PipelineAttr pipeline = kernel.getPipelineAttr();
  function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                    b.getDenseI32ArrayAttr({threads, 1, 1}));
  function->setAttr(
      NVVM::NVVMDialect::getMinctasmAttrName(),
      b.getI32IntegerAttr(pipeline ? pipeline.getResidents() : 1));
  if (auto residents = kernel->getAttrOfType<IntegerAttr>(kResidentsAttrName))
    function->setAttr(
        NVVM::NVVMDialect::getMinctasmAttrName(),
        b.getI32IntegerAttr(static_cast<int32_t>(residents.getInt())));
  SmallVector<int64_t> alignments;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    alignments.push_back(getAlignment(kernel, i));
  function->setAttr(kInterfaceAttrName,
                    KernelInterfaceAttr::get(
                        mlirContext, kernel.getArgumentTypes(), alignments,
                        threads, kernel.getTiles().getCluster(),
                        plan.sharedBytes, maps, overlapsGrids(kernel)));
  context.function = function;
  b.setInsertionPointToStart(function.addEntryBlock(b));
}

/// Gives `memory` the place and the extents of a buffer, and the same memory
/// with collapsed dimensions those that follow from them.
void FunctionBuilder::bindBuffer(Value memory, const GlobalBuffer &buffer) {
  for (Operation *user : llvm::make_early_inc_range(memory.getUsers())) {
    auto dim = dyn_cast<memref::DimOp>(user);
    std::optional<int64_t> number =
        dim ? getConstantIntValue(dim.getIndex()) : std::nullopt;
    if (number && *number >= 0 && *number < buffer.type.getRank()) {
      dim.getResult().replaceAllUsesWith(buffer.sizes[*number]);
      dim.erase();
    } else if (auto collapse = dyn_cast<memref::CollapseShapeOp>(user)) {
      // Rows of whole rows begin where those do.
      GlobalBuffer collapsed{
          collapse.getResultType(), buffer.base, {}, buffer.alignment};
      for (const ReassociationIndices &group :
           collapse.getReassociationIndices()) {
        Value size = buffer.sizes[group.front()];
        for (int64_t inner : ArrayRef(group).drop_front())
          size = b.createOrFold<arith::MulIOp>(size, buffer.sizes[inner]);
        collapsed.sizes.push_back(size);
      }
      bindBuffer(collapse, collapsed);
      collapse.erase();
    }
  }
  Value memref = UnrealizedConversionCastOp::create(b, Type(buffer.type),
                                                    ValueRange(buffer.base))
                     .getResult(0);
  memory.replaceAllUsesWith(memref);
  context.arguments[memref] = buffer;
}

/// Gives the kernel's arguments their values. A buffer stays a memref, which
/// nothing but accesses uses that know its parts.
void FunctionBuilder::bindArguments() {
  Block &entry = context.function.getBody().front();
  unsigned next = 0;
  auto takeIndex = [&]() -> Value {
    return arith::IndexCastOp::create(b, b.getIndexType(),
                                      entry.getArgument(next++));
  };
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type) {
      argument.replaceAllUsesWith(argument.getType().isIndex()
                                      ? takeIndex()
                                      : Value(entry.getArgument(next++)));
      continue;
    }
    GlobalBuffer buffer;
    buffer.type = type;
    buffer.base = entry.getArgument(next++);
    buffer.alignment = getAlignment(kernel, argument.getArgNumber());
    for (int64_t size : type.getShape())
      buffer.sizes.push_back(
          ShapedType::isDynamic(size)
              ? takeIndex()
              : arith::ConstantIndexOp::create(b, size).getResult());
    bindBuffer(argument, buffer);
  }
  for (size_t i = 0; i < plan.tensorMaps.size(); ++i)
    context.tensorMaps.push_back(entry.getArgument(next++));
}

void FunctionBuilder::setUpThread() {
  context.target.shared =
      getSharedMemory(b, context.function->getParentOfType<ModuleOp>());
  context.target.sharedAddress =
      LLVM::PtrToIntOp::create(b, b.getI32Type(), context.target.shared);
  int64_t lanes = context.target.getSubgroupSize();
  Value thread = NVVM::ThreadIdXOp::create(b, b.getI32Type());
  lane = arith::AndIOp::create(b, thread, i32(lanes - 1));
  // The same for all lanes, and known to be: branches over it do not diverge.
  Value number =
      arith::ShRUIOp::create(b, thread, i32(context.target.getNumLaneBits()));
  warp = NVVM::ShflOp::create(b, b.getI32Type(), i32(-1), number, i32(0),
                              i32(lanes - 1), NVVM::ShflKind::idx,
                              /*return_value_and_is_valid=*/::mlir::UnitAttr());
  Team &workgroup = *plan.teams.front();
  workgroup.index = i32(0);
  workgroup.thread = thread;
  workgroup.warp = warp;
  workgroup.lane = lane;
  workgroup.leader = isEqual(thread, 0);
}

void FunctionBuilder::setUpBarriers() {
  bool hasBarriers = llvm::any_of(
      plan.channels, [](auto &entry) { return !entry.second.isLocal; });
  if (!hasBarriers && plan.tensorMaps.empty())
    return;
  onlyIf(plan.teams.front()->leader, [&]() {
    for (Value map : context.tensorMaps)
      NVVM::PrefetchOp::create(b, NVVM::PrefetchCacheLevelAttr(),
                               NVVM::CacheEvictionPriorityAttr(), map,
                               /*predicate=*/Value(),
                               /*tensormap=*/b.getUnitAttr());
    kernel.walk([&](ChannelOp op) {
      const ChannelPlan &channel = plan.channels[op];
      if (channel.isLocal)
        return;
      auto init = [&](int64_t first, int64_t count) {
        for (int64_t i = 0; i < channel.slots * channel.copies; ++i)
          NVVM::MBarrierInitOp::create(b, pointer(first + 8 * i), i32(count),
                                       /*predicate=*/nullptr);
      };
      init(channel.full, channel.fullCount);
      init(channel.empty, channel.emptyCount);
    });
    // Copies see the barriers.
    NVVM::FenceMbarrierInitOp::create(b);
  });
  if (!plan.startBarrier)
    NVVM::BarrierOp::create(b);
}

std::optional<unsigned> mlir::tracea_pipe::getCapability(KernelOp kernel) {
  auto target = kernel->getParentOfType<ModuleOp>()
                    ->getAttrOfType<mlir::tracea::TargetAttr>(
                        mlir::tracea::TraceaDialect::kTargetAttrName);
  StringRef name = target ? target.getName() : StringRef();
  unsigned capability;
  if (!name.consume_front("sm_") || name.consumeInteger(10, capability))
    return std::nullopt;
  return capability;
}

/// Nothing of the caller's memory is touched before the grids before this one
/// have ended; the next one may set itself up from now on. Without such a
/// launch both say nothing.
void FunctionBuilder::waitForGrids() {
  if (!overlapsGrids(kernel))
    return;
  NVVM::GriddepcontrolOp::create(b, NVVM::GridDepActionKind::launch_dependents);
  NVVM::GriddepcontrolOp::create(b, NVVM::GridDepActionKind::wait);
}

/// The warp that has set up the barriers says so; the others wait for it.
void FunctionBuilder::meetBarriers(bool isFirst) {
  if (!plan.startBarrier)
    return;
  Value id = i32(plan.startBarrier), threads = i32(plan.getNumThreads());
  if (!isFirst) {
    NVVM::BarrierOp::create(b, Type(), id, threads, nullptr, nullptr);
    return;
  }
  NVVM::SyncWarpOp::create(b, i32(-1));
  NVVM::BarrierArriveOp::create(b, id, threads);
}

/// Workgroups of a cluster have numbers in a row.
SmallVector<Value> FunctionBuilder::emitIndices(Value number, TilesOp tiles) {
  int64_t cluster = tiles.getCluster();
  if (cluster == 1)
    return emitGridIndices(b, number, tiles.getBounds(), tiles.getGroup());
  context.function->setAttr(
      NVVM::NVVMDialect::getClusterDimAttrName(),
      b.getDenseI32ArrayAttr({static_cast<int32_t>(cluster), 1, 1}));
  Value last = arith::ConstantIndexOp::create(b, cluster - 1);
  Value bits = arith::ConstantIndexOp::create(b, llvm::Log2_64(cluster));
  SmallVector<Value> indices{arith::AndIOp::create(b, number, last)};
  llvm::append_range(indices,
                     emitGridIndices(b, arith::ShRUIOp::create(b, number, bits),
                                     tiles.getBounds().drop_front(),
                                     tiles.getGroup()));
  return indices;
}

void FunctionBuilder::moveBody() {
  Block &entry = context.function.getBody().front();
  TilesOp tiles = kernel.getTiles();
  Block &body = kernel.getBody().front();
  // The uniform code, then the iteration of this workgroup.
  for (Operation &op : llvm::make_early_inc_range(body)) {
    if (&op == tiles.getOperation() || isa<EndOp>(op))
      break;
    op.moveBefore(&entry, entry.end());
  }
  b.setInsertionPointToEnd(&entry);
  Value number = arith::IndexCastUIOp::create(
      b, b.getIndexType(), NVVM::BlockIdXOp::create(b, b.getI32Type()));
  SmallVector<Value> indices = emitIndices(number, tiles);
  for (auto [argument, index] : llvm::zip(tiles.getIndices(), indices))
    argument.replaceAllUsesWith(index);
  Block &iteration = tiles.getBody().front();
  iteration.getTerminator()->erase();
  entry.getOperations().splice(entry.end(), iteration.getOperations());
  b.setInsertionPointToEnd(&entry);
  LLVM::ReturnOp::create(b, ValueRange());
}

/// Takes registers from the pool of the multiprocessor, or leaves some there.
void FunctionBuilder::moveRegisters(int64_t budget) {
  PipelineAttr pipeline = kernel.getPipelineAttr();
  int64_t residents = pipeline ? pipeline.getResidents() : 1;
  int64_t file = context.target.facts.occupancy.registersPerMultiprocessor;
  int64_t launched = std::min<int64_t>(
      llvm::alignDown(file / (residents * plan.getNumThreads()), 8), 248);
  if (budget == 0 || budget == launched)
    return;
  NVVM::SetMaxRegisterOp::create(b, budget,
                                 budget > launched
                                     ? NVVM::SetMaxRegisterAction::increase
                                     : NVVM::SetMaxRegisterAction::decrease);
}

/// Team `to` of each round gets the turn, or takes it.
void FunctionBuilder::passTurns(Team &team, int64_t to, bool waits) {
  for (OrderBarrierOp turns : team.turns) {
    int64_t count = turns.getResult().getType().getTeams();
    int64_t from = waits ? to : (to + count - 1) % count;
    onlyIf(isEqual(team.index, from), [&]() {
      Value id = i32(plan.turnBarriers[turns] + to);
      Value threads = i32(2 * team.getNumThreads());
      if (waits)
        NVVM::BarrierOp::create(b, Type(), id, threads, nullptr, nullptr);
      else
        NVVM::BarrierArriveOp::create(b, id, threads);
    });
  }
}

void FunctionBuilder::buildRole(RoleOp role, Team &team) {
  Block &body = role.getBody().front();
  meetBarriers(team.firstWarp == 0);
  if (team.firstWarp % kWarpsOfGroup == 0 &&
      role.getWarps()[1] % kWarpsOfGroup == 0)
    moveRegisters(team.registers);
  Value inRole = warp;
  if (team.firstWarp)
    inRole = arith::SubIOp::create(b, warp, i32(team.firstWarp));
  team.index = i32(0);
  team.warp = inRole;
  if (team.copies > 1) {
    team.index = arith::DivUIOp::create(b, inRole, i32(team.numWarps));
    team.warp = arith::RemUIOp::create(b, inRole, i32(team.numWarps));
  }
  team.lane = lane;
  team.thread = arith::AddIOp::create(
      b,
      arith::ShLIOp::create(b, team.warp, i32(context.target.getNumLaneBits())),
      lane);
  if (body.getNumArguments())
    body.getArgument(0).replaceAllUsesWith(
        arith::IndexCastOp::create(b, b.getIndexType(), team.index));
  auto moveHere = [&]() {
    body.getTerminator()->erase();
    b.getInsertionBlock()->getOperations().splice(b.getInsertionPoint(),
                                                  body.getOperations());
  };
  if (team.singleLane) {
    onlyIf(isEqual(team.warp, 0), [&]() {
      onlyIf(
          NVVM::ElectSyncOp::create(b, b.getI1Type(), /*membermask=*/Value()),
          moveHere);
    });
    return;
  }
  team.leader = isEqual(team.thread, 0);
  // Team 0 begins. In the end its turn comes once more: a barrier that the
  // workgroup leaves behind must have nobody waiting for it.
  passTurns(team, 0, /*waits=*/false);
  moveHere();
  passTurns(team, 0, /*waits=*/true);
}

void FunctionBuilder::buildRoles(RolesOp roles) {
  b.setInsertionPoint(roles);
  SmallVector<RoleOp> sorted(roles.getBody().front().getOps<RoleOp>());
  llvm::sort(sorted, [](RoleOp x, RoleOp y) {
    return x.getWarps()[0] < y.getWarps()[0];
  });
  // All warps of a warpgroup move their registers by one instruction; roles
  // that share one do it before they part.
  DenseSet<int64_t> groups;
  for (RoleOp role : sorted) {
    int64_t first = role.getWarps()[0], end = role.getWarps()[1];
    if (role.getRegisters() == 0 ||
        (first % kWarpsOfGroup == 0 && end % kWarpsOfGroup == 0))
      continue;
    for (int64_t group = first / kWarpsOfGroup; group * kWarpsOfGroup < end;
         ++group) {
      if (!groups.insert(group).second)
        continue;
      Value mine = arith::ShRUIOp::create(b, warp, i32(2));
      onlyIf(isEqual(mine, group),
             [&]() { moveRegisters(role.getRegisters()); });
    }
  }
  int64_t covered = 0;
  OpBuilder::InsertionGuard guard(b);
  for (auto [number, role] : llvm::enumerate(sorted)) {
    int64_t first = role.getWarps()[0], end = role.getWarps()[1];
    bool last = number + 1 == sorted.size();
    Team &team = plan.getTeam(role);
    Value mine;
    if (!(last && end == plan.numWarps))
      mine =
          arith::CmpIOp::create(b, arith::CmpIPredicate::ult, warp, i32(end));
    if (first > covered) {
      Value from =
          arith::CmpIOp::create(b, arith::CmpIPredicate::uge, warp, i32(first));
      mine = mine ? arith::AndIOp::create(b, mine, from).getResult() : from;
    }
    if (!mine) {
      buildRole(role, team);
      continue;
    }
    auto ifOp = scf::IfOp::create(b, mine, /*withElseRegion=*/!last);
    b.setInsertionPointToStart(ifOp.thenBlock());
    buildRole(role, team);
    if (!last)
      b.setInsertionPointToStart(ifOp.elseBlock());
    // Those before a gap may come to the next comparison.
    covered = first > covered ? covered : end;
  }
  roles.erase();
}

LogicalResult FunctionBuilder::build() {
  RolesOp roles = kernel.getRoles();
  if (roles && roles->getParentOp() != kernel.getTiles())
    return roles.emitOpError()
           << "expects to stand directly in 'tracea_pipe.tiles'";
  buildSignature();
  bindArguments();
  setUpThread();
  setUpBarriers();
  waitForGrids();
  moveBody();
  if (roles)
    buildRoles(roles);
  kernel.erase();
  return success();
}

LogicalResult mlir::tracea_pipe::buildFunction(NVVMLoweringContext &context) {
  return FunctionBuilder(context).build();
}
