//===- KernelFunction.cpp - The function around a kernel's code -----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How NVIDIA's GPUs enter a kernel: buffers are pointers and sizes, tensor maps
// come by value, barriers are set up in shared memory, registers move between
// warpgroups, and the interface that the launch reads is written down.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "tracea/Conversion/TraceaPipeToGPU/KernelBuilder.h"
#include "tracea/Conversion/TraceaPipeToGPU/LaunchDivisors.h"
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
class FunctionBuilder : public KernelBuilder {
public:
  explicit FunctionBuilder(NVVMLoweringContext &context)
      : KernelBuilder(context), context(context), plan(context.plan) {}

private:
  Block *createFunction() override;
  void setUpMemory() override;
  void setUpTeams() override;
  Value emitThread() override {
    return NVVM::ThreadIdXOp::create(b, b.getI32Type());
  }
  Value emitWorkgroup() override {
    return arith::IndexCastUIOp::create(
        b, b.getIndexType(), NVVM::BlockIdXOp::create(b, b.getI32Type()));
  }
  Value emitUniform(Value number) override;
  SmallVector<Value> emitIndices(Value number, TilesOp tiles) override;
  void emitReturn() override { LLVM::ReturnOp::create(b, ValueRange()); }
  void beginRoles(ArrayRef<RoleOp> roles) override;
  void beginRole(RoleOp role, Team &team) override;
  // Team 0 begins. In the end its turn comes once more: a barrier that the
  // workgroup leaves behind must have nobody waiting for it.
  void beginTeam(Team &team) override { passTurns(team, 0, /*waits=*/false); }
  void endTeam(Team &team) override { passTurns(team, 0, /*waits=*/true); }
  Value emitElected() override {
    return NVVM::ElectSyncOp::create(b, b.getI1Type(), /*membermask=*/Value());
  }

  void setUpBarriers();
  void waitForGrids();
  void moveRegisters(int64_t budget);
  void meetBarriers(bool isFirst);
  void passTurns(Team &team, int64_t to, bool waits);

  Value pointer(int64_t offset) {
    return LLVM::GEPOp::create(b, context.target.shared.getType(),
                               b.getI8Type(), context.target.shared,
                               LLVM::GEPArg(static_cast<int32_t>(offset)));
  }

  NVVMLoweringContext &context;
  NVVMPlan &plan;
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

/// Whether the target lets a grid begin before the one before it has ended.
static bool overlapsGrids(KernelOp kernel) {
  return getCapability(kernel).value_or(0) >= 90;
}

/// A buffer is a pointer and its dynamic sizes; then come the tensor maps, by
/// value: the unit reads them where the launch has put them. Last comes the
/// record of the assertions.
Block *FunctionBuilder::createFunction() {
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
  SmallVector<StringAttr> assertions = getAssertedTexts(kernel);
  if (!assertions.empty()) {
    parameters.push_back(global);
    attributes.push_back(b.getDictionaryAttr({}));
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
    alignments.push_back(getArgumentAlignment(kernel, i));
  function->setAttr(
      kInterfaceAttrName,
      KernelInterfaceAttr::get(mlirContext, kernel.getArgumentTypes(),
                               alignments, threads,
                               kernel.getTiles().getCluster(), plan.sharedBytes,
                               maps, overlapsGrids(kernel), assertions,
                               /*divisors=*/AffineMapAttr()));
  context.function = function;
  return function.addEntryBlock(b);
}

void FunctionBuilder::setUpMemory() {
  for (size_t i = 0; i < plan.tensorMaps.size(); ++i)
    context.tensorMaps.push_back(takeParameter());
  context.target.shared =
      getSharedMemory(b, context.function->getParentOfType<ModuleOp>());
  context.target.sharedAddress =
      LLVM::PtrToIntOp::create(b, b.getI32Type(), context.target.shared);
}

/// Branches over what is shuffled from one lane do not diverge.
Value FunctionBuilder::emitUniform(Value number) {
  return NVVM::ShflOp::create(b, b.getI32Type(), i32(-1), number, i32(0),
                              i32(context.target.getSubgroupSize() - 1),
                              NVVM::ShflKind::idx,
                              /*return_value_and_is_valid=*/::mlir::UnitAttr());
}

void FunctionBuilder::setUpTeams() {
  setUpBarriers();
  waitForGrids();
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
    return KernelBuilder::emitIndices(number, tiles);
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

void FunctionBuilder::beginRole(RoleOp role, Team &team) {
  meetBarriers(team.firstWarp == 0);
  if (team.firstWarp % kWarpsOfGroup == 0 &&
      role.getWarps()[1] % kWarpsOfGroup == 0)
    moveRegisters(team.registers);
}

void FunctionBuilder::beginRoles(ArrayRef<RoleOp> roles) {
  // All warps of a warpgroup move their registers by one instruction; roles
  // that share one do it before they part.
  DenseSet<int64_t> groups;
  for (RoleOp role : roles) {
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
}

void mlir::tracea_pipe::passDivisors(NVVMLoweringContext &context) {
  LLVM::LLVMFuncOp function = context.function;
  KernelInterfaceAttr old = getKernelInterface(function);
  auto addParameter = [&](unsigned at) -> Value {
    LLVM::LLVMFunctionType type = function.getFunctionType();
    SmallVector<Type> parameters(type.getParams());
    Type i64 = IntegerType::get(function->getContext(), 64);
    parameters.insert(parameters.begin() + at, i64);
    function_interface_impl::insertFunctionArguments(
        function, at, i64, DictionaryAttr(), function.getLoc(),
        function.getNumArguments(),
        type.clone(parameters, type.getReturnTypes()));
    return function.getArgument(at);
  };
  AffineMap divisors = passDivisors(
      function, old.getFirstMap() + static_cast<unsigned>(old.getMaps().size()),
      addParameter);
  if (!divisors)
    return;
  function->setAttr(kInterfaceAttrName,
                    KernelInterfaceAttr::get(
                        function->getContext(), old.getArguments(),
                        old.getAligned(), old.getThreads(), old.getCluster(),
                        old.getShared(), old.getMaps(), old.getWaits(),
                        old.getAssertions(), AffineMapAttr::get(divisors)));
}

LogicalResult mlir::tracea_pipe::buildFunction(NVVMLoweringContext &context) {
  return FunctionBuilder(context).build();
}
