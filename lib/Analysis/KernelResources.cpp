//===- KernelResources.cpp - What a kernel needs of its target ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelResources.h"
#include "tracea/Analysis/DotProducts.h"
#include "tracea/Dialect/Tracea/IR/TraceaDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
namespace ta = ::tracea::analysis;
namespace hardware = ::tracea::target;

namespace {
/// Walks a kernel once and writes down what it declares.
class Collector {
public:
  Collector(KernelOp kernel, TargetAttr target, KernelResources &result)
      : kernel(kernel), target(target), result(result),
        isCPU(result.limits.isCPU) {}

  void run();

private:
  int siteOf(Operation *op);
  int64_t alignmentOf(MemRefType type) const;
  void addBuffers(Operation *op, TypeRange buffers, int64_t slots,
                  StringRef what, bool hasBarriers);
  void addRole(Operation *place, StringRef name, ArrayRef<int64_t> warps,
               int64_t copies, int64_t budget, Region &body);
  void addTrips(Operation *place, int64_t copies, Region &body);
  void addProducts(ta::RoleUse &role, Region &body);

  KernelOp kernel;
  TargetAttr target;
  KernelResources &result;
  bool isCPU;
  int64_t teamBarriers = 0;
};
} // namespace

int Collector::siteOf(Operation *op) {
  if (!op)
    return -1;
  result.sites.push_back(op);
  return result.sites.size() - 1;
}

/// Bulk copies want 128 bytes, and a swizzle that addresses repeat after its
/// period, which its highest bit ends.
int64_t Collector::alignmentOf(MemRefType type) const {
  int64_t alignment = isCPU ? 64 : 128;
  if (auto staged = dyn_cast_or_null<StagedAttr>(type.getMemorySpace()))
    for (int64_t bit : staged.getSwizzle())
      if (bit >= 0 && bit < 31)
        alignment = std::max(alignment, int64_t(1) << (bit + 1));
  return alignment;
}

void Collector::addBuffers(Operation *op, TypeRange buffers, int64_t slots,
                           StringRef what, bool hasBarriers) {
  int64_t copies = 1;
  if (auto role = op->getParentOfType<RoleOp>())
    copies = std::max<int64_t>(role.getCopies(), 1);
  for (auto [index, type] : llvm::enumerate(buffers)) {
    ta::MemoryUse use;
    use.what = what.str();
    if (buffers.size() > 1)
      use.what += " (buffer " + std::to_string(index) + ")";
    auto shaped = cast<ShapedType>(type);
    // Verified: static, at most 2^31 elements.
    use.bytes = shaped.getNumElements() *
                llvm::divideCeil(shaped.getElementTypeBitWidth(), 8);
    use.slots = std::max<int64_t>(slots, 1);
    use.copies = copies;
    if (auto memref = dyn_cast<MemRefType>(type))
      use.alignment = alignmentOf(memref);
    else
      use.alignment = isCPU ? 64 : 128;
    // A barrier says that a slot is full, another that it is empty.
    use.barriers = hasBarriers && index == 0 ? 2 * use.slots : 0;
    use.site = siteOf(op);
    result.use.memory.push_back(std::move(use));
  }
}

/// Tiles that cross warps, or leave a unit of a CPU, go through memory; trips
/// follow one another, so that the largest decides.
void Collector::addTrips(Operation *place, int64_t copies, Region &body) {
  int64_t most = 0;
  Operation *largest = nullptr;
  bool joins = false;
  body.walk([&](Operation *op) {
    int64_t bytes = 0;
    if (auto relayout = dyn_cast<RelayoutOp>(op)) {
      auto type = cast<RankedTensorType>(relayout.getValue().getType());
      LanesAttr from = getLanes(type);
      LanesAttr to = getLanes(relayout.getResult().getType());
      if (from.getWarp() != to.getWarp() ||
          (isCPU && getUnitTile(target, type)))
        bytes = type.getNumElements() *
                llvm::divideCeil(
                    std::max<unsigned>(type.getElementTypeBitWidth(), 8), 8);
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      auto type = cast<RankedTensorType>(reduce.getResult().getType());
      LanesAttr from = getLanes(reduce.getValue().getType());
      uint64_t dim = reduce.getDim();
      int64_t run =
          cast<RankedTensorType>(reduce.getValue().getType()).getDimSize(dim) /
          type.getDimSize(dim);
      if (llvm::any_of(from.getWarp(), [&](DenseI64ArrayAttr bit) {
            return dim < static_cast<uint64_t>(bit.size()) &&
                   bit[dim] % run != 0;
          }))
        bytes = from.getNumWarps() * type.getNumElements() *
                llvm::divideCeil(
                    std::max<unsigned>(type.getElementTypeBitWidth(), 8), 8);
    } else {
      joins |= op->getName().getStringRef() == "tracea_pipe.sync";
    }
    if (bytes > most) {
      most = bytes;
      largest = op;
    }
  });
  joins |= most > 0;
  if (joins)
    teamBarriers += copies;
  if (most == 0)
    return;
  ta::MemoryUse use;
  use.what = ("the trip of '" + largest->getName().getStringRef() + "'").str();
  use.bytes = most;
  use.copies = copies;
  use.alignment = isCPU ? 64 : 128;
  use.site = siteOf(largest);
  result.use.memory.push_back(std::move(use));
}

/// The multiplies that warpgroups issue: four warps together, into at most 256
/// columns of 64 rows an instruction.
void Collector::addProducts(ta::RoleUse &role, Region &body) {
  body.walk([&](MmaAsyncOp mma) {
    RankedTensorType tile = mma.getTileType();
    role.usesWarpgroups = result.limits.hasWarpgroups;
    if (tile.getRank() != 2 || !tile.getElementType().isIntOrFloat())
      return;
    int64_t columns = std::min<int64_t>(tile.getDimSize(1), 256);
    int64_t bits = tile.getElementTypeBitWidth();
    role.accumulators =
        std::max(role.accumulators,
                 int64_t(llvm::divideCeil(64 * columns / 128 * bits, 32)));
  });
}

void Collector::addRole(Operation *place, StringRef name,
                        ArrayRef<int64_t> warps, int64_t copies, int64_t budget,
                        Region &body) {
  ta::RoleUse role;
  role.name = name.str();
  role.firstWarp = warps[0];
  role.endWarp = warps[1];
  role.copies = std::max<int64_t>(copies, 1);
  role.budget = budget;
  role.site = siteOf(place);
  TilePressure pressure =
      isCPU ? getTilePressure(body, result.limits.vectorBits,
                              [&](RankedTensorType tile) {
                                return getUnitTile(target, tile) != nullptr;
                              })
            : getTilePressure(body);
  role.live = pressure.registers;
  role.worstSite = siteOf(pressure.op);
  role.tiles = pressure.unitTiles;
  role.tileSite = siteOf(pressure.unitOp);
  addProducts(role, body);
  result.use.roles.push_back(std::move(role));
  addTrips(place, std::max<int64_t>(copies, 1), body);
}

void Collector::run() {
  RolesOp roles = kernel.getRoles();
  kernel.walk([&](Operation *op) {
    if (auto channel = dyn_cast<ChannelOp>(op)) {
      ChannelType type = channel.getResult().getType();
      addBuffers(op, type.getBuffers(), type.getSlots(), "this channel",
                 roles && !isCPU);
    } else if (auto scratch = dyn_cast<ScratchOp>(op)) {
      addBuffers(op, scratch.getResult().getType(), 1, "this scratch tile",
                 false);
    } else if (auto stage = dyn_cast<StageOp>(op)) {
      addBuffers(op, stage.getResult().getType(), stage.getSlots(),
                 "this staged tile", roles && !isCPU);
    } else if (auto turns = dyn_cast<OrderBarrierOp>(op)) {
      result.use.namedBarriers += turns.getResult().getType().getTeams();
    }
  });
  if (roles) {
    for (RoleOp role : roles.getBody().getOps<RoleOp>())
      addRole(role, role.getName(), role.getWarps(), role.getCopies(),
              role.getRegisters(), role.getBody());
  } else {
    addRole(kernel, kernel.getSymName(), {0, kernel.getNumWarps()}, 1, 0,
            kernel.getBody());
  }
  if (PipelineAttr pipeline = kernel.getPipelineAttr())
    result.use.residents = pipeline.getResidents();
  if (isCPU) {
    result.use.namedBarriers = 0;
    if (std::optional<int64_t> bytes = kernel.getWorkspaceBytes())
      if (!result.use.memory.empty())
        result.use.declaredWorkspace = *bytes;
    return;
  }
  // The barrier at which the whole workgroup meets is one of them.
  result.use.namedBarriers += 1 + (roles ? teamBarriers : 0);
}

FailureOr<KernelResources> mlir::tracea::collectResources(KernelOp kernel,
                                                          std::string &reason) {
  KernelResources result;
  auto module = kernel->getParentOfType<ModuleOp>();
  auto target =
      module ? module->getAttrOfType<TargetAttr>(TraceaDialect::kTargetAttrName)
             : TargetAttr();
  if (!target) {
    reason = "the module has no attribute 'tracea.target'";
    return failure();
  }
  StringRef name = target.getName();
  if (std::optional<hardware::TargetDescription> description =
          hardware::lookup(std::string_view(name.data(), name.size())))
    result.limits = ta::getResourceLimits(*description);
  result.limits.target = name.str();
  result.limits.isCPU = target.getKind() == TargetKind::CPU;
  if (result.limits.isCPU) {
    // The machine at hand may have less than its entry, or no entry.
    result.limits.vectorRegisters = target.getVectorRegisters();
    result.limits.vectorBits = target.getVectorBits();
    // Widths that no machine has come from hands.
    if (result.limits.vectorBits < 8)
      result.limits.vectorRegisters = result.limits.vectorBits = 0;
    result.limits.tileRegisters = getUnitRegisters(target);
  }
  Collector(kernel, target, result).run();
  return result;
}
