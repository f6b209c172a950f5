//===- TraceaToTraceaPipe.cpp - Semantic operations become kernels --------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each scheduled operation becomes a kernel of its variant and a launch. What
// no variant of this pass serves ("linalg", "elementwise") is left for the
// conversion to linalg.

#include "Conv2DContraction.h"
#include "GemmContraction.h"
#include "Variants.h"
#include "WGradContraction.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tracea/Conversion/Passes.h"
#include "tracea/Conversion/TraceaToTraceaPipe/VariantLowering.h"
#include "tracea/Dialect/TraceaPipe/IR/Alignment.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_CONVERTTRACEATOTRACEAPIPE
#include "tracea/Conversion/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;

namespace {
/// One variant: its name, the extents of its tile, its lowering.
template <typename OpTy>
struct Variant {
  StringRef name;
  size_t tileRank;
  LogicalResult (*lower)(KernelRewriter &, OpTy);
};
} // namespace

/// What the lowerings rely on beside what schedules verify of themselves.
static LogicalResult verifySchedule(Operation *op, ScheduleAttr schedule,
                                    size_t tileRank) {
  if (schedule.getTile().size() == tileRank)
    return success();
  return op->emitOpError() << "expects a schedule of variant '"
                           << schedule.getVariant() << "' with " << tileRank
                           << " extents of 'tile', found " << schedule;
}

/// Lowers an operation by a variant, `tileRank` of which has been asked for.
template <typename OpTy>
static FailureOr<bool> lowerBy(KernelRewriter &rewriter, OpTy op,
                               size_t tileRank,
                               LogicalResult (*lower)(KernelRewriter &, OpTy)) {
  if (failed(verifySchedule(op, op.getScheduleAttr(), tileRank)))
    return failure();
  if (auto epilogue = dyn_cast<EpilogueOpInterface>(op.getOperation()))
    emitEpilogueChecks(rewriter, epilogue);
  if (auto row = dyn_cast<RowOpInterface>(op.getOperation()))
    emitRowChecks(rewriter, row);
  if (failed(lower(rewriter, op)))
    return failure();
  return true;
}

/// The launches between two operations of a block, and where they are.
static SmallVector<LaunchOp> getLaunches(Operation *begin, Operation *end) {
  SmallVector<LaunchOp> launches;
  for (Operation *op = begin; op != end; op = op->getNextNode())
    if (auto launch = dyn_cast<LaunchOp>(op))
      launches.push_back(launch);
  return launches;
}

/// Whether a kernel that follows `first` in a launch never runs: all that it
/// asks of its arguments `first` asks too.
static bool isBehind(KernelOp kernel, KernelOp first) {
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    auto bytes = [&](KernelOp of) {
      auto aligned = of.getArgAttrOfType<IntegerAttr>(i, kAlignedAttrName);
      return aligned ? aligned.getInt() : 1;
    };
    if (bytes(kernel) < bytes(first))
      return false;
  }
  return true;
}

/// Whether two values are the same, or the same view of the same: each lowering
/// makes views of its own.
static bool areSame(Value a, Value b) {
  if (a == b)
    return true;
  auto first = dyn_cast<OpResult>(a), second = dyn_cast<OpResult>(b);
  return first && second && first.getType() == second.getType() &&
         first.getResultNumber() == second.getResultNumber() &&
         isPure(first.getOwner()) &&
         OperationEquivalence::isEquivalentTo(
             first.getOwner(), second.getOwner(),
             [](Value x, Value y) { return success(areSame(x, y)); },
             /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}

static bool areSame(ValueRange a, ValueRange b) {
  return llvm::equal(a, b, [](Value x, Value y) { return areSame(x, y); });
}

/// Lowers an operation by its schedule, and for the runs that its kernel cannot
/// do, or is not meant for, by the one that is left to them: one launch, which
/// names the kernels of both.
static FailureOr<bool>
lowerWithOtherwise(KernelRewriter &rewriter, ScheduledOpInterface op,
                   function_ref<FailureOr<bool>(ScheduledOpInterface)> lower) {
  ScheduleAttr schedule = op.getScheduleAttr();
  ScheduleAttr otherwise = schedule.getOtherwise();
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  // What is there now may go, as a transposition that a lowering reads through.
  Operation *before = arith::ConstantIndexOp::create(rewriter, loc, 0);
  auto other = cast<ScheduledOpInterface>(rewriter.clone(*op));
  other.setScheduleAttr(otherwise);
  Operation *end = op->getNextNode();
  FailureOr<bool> isLowered = lower(op);
  if (failed(isLowered))
    return failure();
  SmallVector<LaunchOp> first = getLaunches(other->getNextNode(), end);
  Operation *middle = other->getNextNode();
  FailureOr<bool> isOtherLowered =
      otherwise.getOtherwise() ? lowerWithOtherwise(rewriter, other, lower)
                               : lower(other);
  if (failed(isOtherLowered))
    return failure();
  SmallVector<LaunchOp> second = getLaunches(before->getNextNode(), middle);
  if (first.size() != 1 || second.size() != 1 ||
      !areSame(first[0].getInputs(), second[0].getInputs()) ||
      !areSame(first[0].getInits(), second[0].getInits()))
    return emitError(loc)
           << "'" << schedule.getVariant() << "' and '"
           << otherwise.getVariant()
           << "' expect one launch each, of the same tensors, where one is "
              "left what the other cannot do; found "
           << first.size() << " and " << second.size() << " launches";
  auto module = first[0]->getParentOfType<ModuleOp>();
  auto getKernel = [&](FlatSymbolRefAttr name) {
    return module.lookupSymbol<KernelOp>(name.getAttr());
  };
  SmallVector<FlatSymbolRefAttr> kernels = first[0].getKernels();
  SmallVector<int64_t> most(kernels.size(), schedule.getMost());
  KernelOp last = getKernel(kernels.back());
  // What a kernel for few elements cannot do one for any number of them can.
  if (schedule.getMost()) {
    for (FlatSymbolRefAttr name : llvm::drop_begin(kernels))
      getKernel(name).erase();
    kernels.truncate(1);
    most.truncate(1);
    last = {};
  }
  for (auto [number, name] : llvm::enumerate(second[0].getKernels())) {
    KernelOp kernel = getKernel(name);
    if (last && isBehind(kernel, last)) {
      kernel.erase();
      continue;
    }
    kernels.push_back(name);
    most.push_back(second[0].getMostOf(number));
  }
  first[0].setKernels(kernels, most);
  // With the views that were made for it, and of its results.
  for (Operation *made = middle->getPrevNode(); made != before;) {
    Operation *previous = made->getPrevNode();
    if (made == second[0] || (made->use_empty() && isPure(made)))
      rewriter.eraseOp(made);
    made = previous;
  }
  rewriter.eraseOp(before);
  return true;
}

/// The same by the one of `variants` that the schedule names; false where it
/// names none of them.
template <typename OpTy>
static FailureOr<bool> lowerBy(KernelRewriter &rewriter, OpTy op,
                               ArrayRef<Variant<OpTy>> variants) {
  for (const Variant<OpTy> &variant : variants)
    if (variant.name == op.getScheduleAttr().getVariant())
      return lowerBy(rewriter, op, variant.tileRank, variant.lower);
  return false;
}

/// Lowerings of variants from outside, by the variants' names.
static llvm::StringMap<VariantLowering> &getAddedLowerings() {
  static llvm::StringMap<VariantLowering> lowerings;
  return lowerings;
}

bool mlir::tracea::addVariantLowering(StringRef variant,
                                      VariantLowering lowering) {
  return getAddedLowerings().try_emplace(variant, lowering).second;
}

/// Lowers an operation as the contraction that `Provider` makes of it.
template <typename Provider,
          LogicalResult (*lower)(KernelRewriter &, Contraction &),
          typename OpTy>
static LogicalResult lowerAs(KernelRewriter &rewriter, OpTy op) {
  Provider contraction(op);
  return lower(rewriter, contraction);
}

static FailureOr<bool> lowerOp(KernelRewriter &rewriter, Operation *op) {
  return llvm::TypeSwitch<Operation *, FailureOr<bool>>(op)
      .Case([&](GemmOp gemm) {
        return lowerBy<GemmOp>(
            rewriter, gemm,
            {{"gemm.packed", 4, lowerGemm},
             {"gemm.dot", 4, lowerGemm},
             {"gemm.direct", 3, lowerGemmDirect},
             {"gemm.simt", 3, lowerAs<GemmContraction, lowerByLanes>},
             {"gemm.warp", 3, lowerAs<GemmContraction, lowerByWarps>},
             {"gemm.tf32x3", 3, lowerAs<GemmContraction, lowerByWarps>},
             {"gemm.warpgroup", 3, lowerAs<GemmContraction, lowerByWarpgroups>},
             {"gemm.skinny", 3,
              lowerAs<GemmContraction, lowerTransposedByWarpgroups>}});
      })
      .Case([&](GroupedGemmOp grouped) {
        return lowerBy<GroupedGemmOp>(
            rewriter, grouped,
            {{"grouped.warpgroup", 3, lowerGroupedGemmWarpgroup}});
      })
      .Case([&](Conv2DOp conv) {
        return lowerBy<Conv2DOp>(
            rewriter, conv,
            {{"conv2d.patch", 4, lowerConv2DPatch},
             {"conv2d.dot", 4, lowerConv2DPatch},
             {"conv2d.depthwise", 3, lowerConv2DDepthwise},
             {"conv2d.simt", 3, lowerAs<Conv2DContraction, lowerByLanes>},
             {"conv2d.lanes", 3, lowerConv2DByLanes},
             {"conv2d.groups", 3, lowerConv2DByGroups},
             {"conv2d.warpgroup", 3,
              lowerAs<Conv2DContraction, lowerByWarpgroups>},
             {"conv2d.warp", 3, lowerAs<Conv2DContraction, lowerByWarps>},
             {"conv2d.tf32x3", 3, lowerAs<Conv2DContraction, lowerByWarps>}});
      })
      .Case([&](Conv2DWGradOp grad) {
        return lowerBy<Conv2DWGradOp>(
            rewriter, grad,
            {{"wgrad.windows", 4, lowerWGradByWindows},
             {"wgrad.simt", 3, lowerAs<WGradContraction, lowerByLanes>},
             {"wgrad.warpgroup", 3,
              lowerAs<WGradContraction, lowerByWarpgroups>},
             {"wgrad.warp", 3, lowerAs<WGradContraction, lowerByWarps>},
             {"wgrad.tf32x3", 3, lowerAs<WGradContraction, lowerByWarps>}});
      })
      .Case([&](AttentionOp attention) {
        return lowerBy<AttentionOp>(
            rewriter, attention,
            {{"attention.flash", 2, lowerAttentionFlash},
             {"attention.dot", 2, lowerAttentionFlash},
             {"attention.simt", 2, lowerAttentionSimt},
             {"attention.warp", 2, lowerAttentionWarp}});
      })
      .Case([&](AttentionQGradOp grad) {
        return lowerBy<AttentionQGradOp>(
            rewriter, grad,
            {{"attention_qgrad.warp", 2, lowerAttentionQGradWarp}});
      })
      .Case([&](AttentionKVGradOp grad) {
        return lowerBy<AttentionKVGradOp>(
            rewriter, grad,
            {{"attention_kvgrad.warp", 2, lowerAttentionKVGradWarp}});
      })
      .Case([&](SoftmaxOp softmax) {
        return lowerBy<SoftmaxOp>(
            rewriter, softmax,
            {{"row", 2, lowerSoftmaxRows}, {"row.lanes", 2, lowerSoftmaxRows}});
      })
      .Case([&](LayerNormOp norm) {
        return lowerBy<LayerNormOp>(rewriter, norm,
                                    {{"row", 2, lowerLayerNormRows},
                                     {"row.lanes", 2, lowerLayerNormRows}});
      })
      .Case([&](RMSNormOp norm) {
        return lowerBy<RMSNormOp>(
            rewriter, norm,
            {{"row", 2, lowerRMSNormRows}, {"row.lanes", 2, lowerRMSNormRows}});
      })
      .Default([](Operation *) -> FailureOr<bool> { return false; });
}

namespace {
struct ConvertTraceaToTraceaPipe
    : mlir::tracea::impl::ConvertTraceaToTraceaPipeBase<
          ConvertTraceaToTraceaPipe> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<ScheduledOpInterface> ops;
    module.walk([&](ScheduledOpInterface op) { ops.push_back(op); });
    if (ops.empty())
      return;
    auto target =
        module->getAttrOfType<TargetAttr>(TraceaDialect::kTargetAttrName);
    if (!target) {
      module.emitError() << "expected the module to carry '"
                         << TraceaDialect::kTargetAttrName
                         << "'; run tracea-select-schedule first";
      return signalPassFailure();
    }
    int64_t bits = target.getVectorBits();
    if (target.getKind() == TargetKind::CPU &&
        (bits < 64 || bits > 8192 || !llvm::isPowerOf2_64(bits))) {
      module.emitError()
          << "expected the target's vector_bits to be a power of "
             "two from 64 to 8192, found "
          << bits;
      return signalPassFailure();
    }
    KernelRewriter rewriter(module);
    for (auto [number, op] : llvm::enumerate(ops)) {
      rewriter.operation = number;
      ScheduleAttr schedule = op.getScheduleAttr();
      if (!schedule) {
        op.emitOpError() << "expected a schedule; run tracea-select-schedule "
                            "first";
        return signalPassFailure();
      }
      auto lower = [&](ScheduledOpInterface op) -> FailureOr<bool> {
        rewriter.setInsertionPoint(op);
        auto added =
            getAddedLowerings().find(op.getScheduleAttr().getVariant());
        return added == getAddedLowerings().end()
                   ? lowerOp(rewriter, op)
                   : lowerBy(rewriter, op, added->second.tileRank,
                             added->second.lower);
      };
      FailureOr<bool> lowered = schedule.getOtherwise()
                                    ? lowerWithOtherwise(rewriter, op, lower)
                                    : lower(op);
      if (failed(lowered))
        return signalPassFailure();
      numKernels += *lowered;
    }
  }
};
} // namespace
