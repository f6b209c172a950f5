//===- AsyncMMA.cpp - Matrix multiplies in flight across slots ------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Within the pipeline level, for kernels whose matrix unit is asynchronous
// (wgmma). Decides which loop keeps its accumulator in flight, and that a slot
// is released one iteration later than it is read, because the multiply that
// reads it may still be pending until then.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "tracea/Dialect/TraceaPipe/IR/TraceaPipeDialect.h"
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "tracea-async-mma"

namespace mlir::tracea_pipe {
#define GEN_PASS_DEF_ASYNCMMA
#include "tracea/Dialect/TraceaPipe/Transforms/Passes.h.inc"
} // namespace mlir::tracea_pipe

using namespace mlir;
using namespace mlir::tracea_pipe;

namespace {
/// A loop that sums products of slots.
struct SumLoop {
  scf::ForOp loop;
  MmaOp mma;
  /// The position of the sum among the loop's iteration arguments.
  unsigned position = 0;
  SmallVector<ReleaseOp> releases;

  static std::optional<SumLoop> get(scf::ForOp loop) {
    SumLoop sum;
    sum.loop = loop;
    for (Operation &op : loop.getBody()->without_terminator()) {
      if (auto mma = dyn_cast<MmaOp>(op)) {
        if (sum.mma)
          return std::nullopt;
        sum.mma = mma;
      } else if (auto release = dyn_cast<ReleaseOp>(op)) {
        if (!sum.mma)
          return std::nullopt;
        sum.releases.push_back(release);
      } else if (op.getNumRegions()) {
        return std::nullopt;
      }
    }
    if (!sum.mma || sum.mma.getDepth() || !sum.mma.getLimits().empty() ||
        !sum.mma.getRows().empty() || !sum.mma->hasOneUse() ||
        !sum.mma.getAcc().hasOneUse())
      return std::nullopt;
    for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i)
      if (loop.getRegionIterArg(i) == sum.mma.getAcc() &&
          loop.getYieldedValues()[i] == sum.mma.getResult()) {
        sum.position = i;
        return sum;
      }
    return std::nullopt;
  }
};
} // namespace

static bool isZero(Value tile) {
  Attribute value;
  if (!matchPattern(tile, m_Constant(&value)))
    return false;
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense || !dense.isSplat())
    return false;
  if (isa<FloatType>(dense.getElementType()))
    return dense.getSplatValue<APFloat>().isPosZero();
  return dense.getSplatValue<APInt>().isZero();
}

static Value multiply(ImplicitLocOpBuilder &b, MmaOp mma, IRMapping &mapping,
                      Value onto) {
  auto tile = cast<RankedTensorType>(mma.getResult().getType());
  Value result =
      MmaAsyncOp::create(b, InFlightType::get(b.getContext(), tile),
                         mapping.lookupOrDefault(mma.getLhs()),
                         mapping.lookupOrDefault(mma.getRhs()), onto);
  CommitGroupOp::create(b, Unit::Mma);
  return result;
}

/// One iteration without its releases, whose phases it returns.
static Value emitIteration(ImplicitLocOpBuilder &b, SumLoop &sum,
                           IRMapping &mapping, Value onto,
                           SmallVectorImpl<Value> &phases) {
  Value inFlight;
  for (Operation &op : sum.loop.getBody()->without_terminator()) {
    if (&op == sum.mma) {
      inFlight = multiply(b, sum.mma, mapping, onto);
    } else if (auto release = dyn_cast<ReleaseOp>(op)) {
      phases.push_back(mapping.lookupOrDefault(release.getPhase()));
    } else {
      b.clone(op, mapping);
    }
  }
  return inFlight;
}

static void release(ImplicitLocOpBuilder &b, SumLoop &sum, ValueRange phases) {
  for (auto [op, phase] : llvm::zip_equal(sum.releases, phases))
    ReleaseOp::create(b, op.getChannel(), phase);
}

/// The iteration arguments but the sum.
static SmallVector<Value> getOthers(SumLoop &sum, ValueRange values) {
  SmallVector<Value> others(values);
  others.erase(others.begin() + sum.position);
  return others;
}

/// Waits for each multiply where it stands.
static void waitAtOnce(MmaOp mma) {
  ImplicitLocOpBuilder b(mma.getLoc(), mma);
  IRMapping none;
  Value onto = isZero(mma.getAcc()) ? Value() : mma.getAcc();
  Value inFlight = multiply(b, mma, none, onto);
  auto wait = WaitGroupOp::create(b, TypeRange(mma.getResult().getType()),
                                  Unit::Mma, 0, ValueRange(inFlight));
  mma.getResult().replaceAllUsesWith(wait.getTiles().front());
  mma.erase();
}

static void overlap(SumLoop &sum) {
  scf::ForOp loop = sum.loop;
  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  Value some = arith::CmpIOp::create(
      b, arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound());
  auto branch =
      scf::IfOp::create(b, loop.getResultTypes(), some, /*withElse=*/true);

  // The first iteration.
  b.setInsertionPointToStart(branch.thenBlock());
  IRMapping mapping;
  mapping.map(loop.getInductionVar(), loop.getLowerBound());
  for (auto [argument, init] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getInits()))
    mapping.map(argument, init);
  Value init = loop.getInits()[sum.position];
  SmallVector<Value> phases;
  Value first =
      emitIteration(b, sum, mapping, isZero(init) ? Value() : init, phases);
  SmallVector<Value> carried{first};
  for (Value yielded : getOthers(sum, loop.getYieldedValues()))
    carried.push_back(mapping.lookupOrDefault(yielded));
  size_t numOthers = carried.size() - 1;
  llvm::append_range(carried, phases);

  // The others, which give back the slot before theirs.
  Value second = arith::AddIOp::create(b, loop.getLowerBound(), loop.getStep());
  auto rest = scf::ForOp::create(b, second, loop.getUpperBound(),
                                 loop.getStep(), carried);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(rest.getBody());
    IRMapping inner;
    inner.map(loop.getInductionVar(), rest.getInductionVar());
    ValueRange arguments = rest.getRegionIterArgs();
    for (auto [argument, value] :
         llvm::zip_equal(getOthers(sum, ValueRange(loop.getRegionIterArgs())),
                         arguments.slice(1, numOthers)))
      inner.map(argument, value);
    SmallVector<Value> now;
    Value inFlight = emitIteration(b, sum, inner, arguments.front(), now);
    WaitGroupOp::create(b, TypeRange(), Unit::Mma, 1, ValueRange());
    release(b, sum, arguments.drop_front(1 + numOthers));
    SmallVector<Value> yields{inFlight};
    for (Value yielded : getOthers(sum, loop.getYieldedValues()))
      yields.push_back(inner.lookupOrDefault(yielded));
    llvm::append_range(yields, now);
    scf::YieldOp::create(b, yields);
  }
  ValueRange results = rest.getResults();
  auto wait =
      WaitGroupOp::create(b, TypeRange(loop.getResult(sum.position).getType()),
                          Unit::Mma, 0, ValueRange(results.front()));
  release(b, sum, results.drop_front(1 + numOthers));
  SmallVector<Value> yields(results.slice(1, numOthers));
  yields.insert(yields.begin() + sum.position, wait.getTiles().front());
  scf::YieldOp::create(b, yields);

  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loop.getInits());
  loop.replaceAllUsesWith(branch.getResults());
  loop.erase();
}

namespace {
struct AsyncMMA : mlir::tracea_pipe::impl::AsyncMMABase<AsyncMMA> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    PipelineAttr pipeline = kernel.getPipelineAttr();
    if (!pipeline || !kernel.getRoles())
      return markAllAnalysesPreserved();
    SmallVector<SumLoop> sums;
    kernel.walk([&](scf::ForOp loop) {
      if (std::optional<SumLoop> sum = SumLoop::get(loop))
        sums.push_back(*sum);
    });
    for (SumLoop &sum : sums) {
      // A ring of one slot has none that could be given back a step later.
      bool several = llvm::all_of(sum.releases, [](ReleaseOp release) {
        return release.getChannel().getType().getSlots() > 1;
      });
      if (!pipeline.getPending() || !several) {
        LDBG() << "loop at " << sum.loop.getLoc()
               << " waits for each multiply: "
               << (several ? "no group may be pending"
                           : "its ring has one slot");
        continue;
      }
      LDBG() << "loop at " << sum.loop.getLoc()
             << " keeps a group in flight, and gives back "
             << sum.releases.size() << " slots an iteration late";
      overlap(sum);
      ++numLoops;
    }
    SmallVector<MmaOp> others;
    kernel.walk([&](MmaOp mma) {
      if (!mma.getDepth() && mma.getLimits().empty())
        others.push_back(mma);
    });
    for (MmaOp mma : others)
      waitAtOnce(mma);
  }
};
} // namespace
