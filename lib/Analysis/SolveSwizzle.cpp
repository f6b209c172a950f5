//===- SolveSwizzle.cpp - Chooses the swizzles of staged buffers ----------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The accesses of a buffer become a problem for lib/Algebra/SwizzleSolver; its
// answer is checked by the other half of that file, then by the degrees of the
// accesses with their true windows, and written into the buffer's type.

#include "StagedAccesses.h"
#include "tracea/Algebra/SwizzleSolver.h"
#include "tracea/Analysis/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_SOLVESWIZZLE
#include "tracea/Analysis/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

namespace {

/// A scratch buffer or staged tile, or buffer `part` of a channel's slots.
struct Buffer {
  Value owner;
  unsigned part = 0;
};

struct SolveSwizzlePass
    : public mlir::tracea::impl::SolveSwizzleBase<SolveSwizzlePass> {
  using SolveSwizzleBase::SolveSwizzleBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    SmallVector<StagedAccess> accesses = collectStagedAccesses(kernel);
    if (accesses.empty())
      return;
    FailureOr<TargetBanks> banks = getTargetBanks(kernel);
    if (failed(banks))
      return signalPassFailure();
    if (banks->hasNoBanks)
      return;
    llvm::MapVector<std::pair<Value, unsigned>, SmallVector<StagedAccess>>
        buffers;
    for (const StagedAccess &access : accesses) {
      Buffer buffer = getBuffer(access.buffer);
      buffers[{buffer.owner, buffer.part}].push_back(access);
    }
    for (auto &[key, uses] : buffers) {
      ++numBuffers;
      if (!banks->model)
        skip(key.first, banks->reason);
      else if (failed(solve({key.first, key.second}, uses, *banks->model)))
        return signalPassFailure();
    }
  }

private:
  static Buffer getBuffer(Value value) {
    auto result = dyn_cast<OpResult>(value);
    if (auto acquire = value.getDefiningOp<AcquireOp>())
      return {acquire.getChannel(), result.getResultNumber()};
    if (auto wait = value.getDefiningOp<WaitOp>())
      return {wait.getChannel(), result.getResultNumber()};
    return {value, 0};
  }

  void skip(Value owner, const Twine &reason) {
    ++numSkipped;
    emitRemark(owner.getLoc())
        << "no swizzle is chosen for this buffer: " << reason;
  }

  /// All values that hold the buffer or a view of it. Says which operation is
  /// in the way when there is one.
  static Operation *collectValues(const Buffer &buffer,
                                  SmallVectorImpl<Value> &values) {
    if (isa<ChannelType>(buffer.owner.getType())) {
      for (Operation *user : buffer.owner.getUsers()) {
        if (!isa<AcquireOp, WaitOp, CommitOp, ReleaseOp>(user))
          return user;
        if (isa<AcquireOp, WaitOp>(user))
          values.push_back(user->getResult(buffer.part));
      }
    } else {
      values.push_back(buffer.owner);
    }
    for (size_t i = 0; i < values.size(); ++i)
      for (Operation *user : values[i].getUsers()) {
        if (auto view = dyn_cast<ViewOp>(user))
          values.push_back(view.getResult());
        else if (!isa<LoadOp, StoreOp, CopyOp, MmaOp, PrefetchOp>(user))
          return user;
      }
    return nullptr;
  }

  static Type withStaged(Type type, StagedAttr staged) {
    if (auto memref = dyn_cast<MemRefType>(type))
      return MemRefType::get(memref.getShape(), memref.getElementType(),
                             memref.getLayout(), staged);
    auto tensor = cast<RankedTensorType>(type);
    return RankedTensorType::get(tensor.getShape(), tensor.getElementType(),
                                 staged);
  }

  static void retype(const Buffer &buffer, ArrayRef<Value> values,
                     StagedAttr staged) {
    if (auto channel = dyn_cast<ChannelType>(buffer.owner.getType())) {
      SmallVector<Type> types(channel.getBuffers());
      types[buffer.part] = withStaged(types[buffer.part], staged);
      Value(buffer.owner)
          .setType(ChannelType::get(channel.getContext(), channel.getSlots(),
                                    types));
    }
    for (Value value : values)
      value.setType(withStaged(value.getType(), staged));
  }

  /// A line of text that says why no swizzle can do.
  static std::string describeProof(const alg::SwizzleAnswer &answer) {
    const alg::Refutation &proof = *answer.decision.refutation;
    std::string chunk =
        std::to_string(int64_t(1) << answer.vectorBits) + "-byte chunks";
    if (!proof.excludesEveryLayout())
      return "a search over " + std::to_string(proof.size()) +
             " cases excludes every linear layout of " + chunk;
    std::string span;
    for (uint64_t vector : proof.subspace)
      span += (span.empty() ? "" : ", ") + std::to_string(vector);
    return "any two of the " +
           std::to_string(int64_t(1) << proof.subspace.size()) + " " + chunk +
           " spanned by chunks " + span + " meet in a phase, for the " +
           std::to_string(int64_t(1) << answer.bankBits) +
           " that the banks deliver at a time";
  }

  /// The cycles of all accesses with one swizzle, each by its worst window;
  /// nothing when some is not decided.
  static std::optional<int64_t> getCycles(ArrayRef<StagedAccess> accesses,
                                          const alg::BankModel &model,
                                          const alg::Swizzle &swizzle,
                                          std::string &reason,
                                          bool &isConflictFree) {
    int64_t cycles = 0;
    isConflictFree = true;
    for (const StagedAccess &access : accesses) {
      alg::Expected<alg::TileAccessDegree> degree =
          alg::tileAccessDegree(model, *access.access, swizzle);
      if (!degree) {
        reason = degree.message();
        return std::nullopt;
      }
      isConflictFree &= degree->degree.degree == 1;
      cycles += degree->degree.wavefronts();
    }
    return cycles;
  }

  LogicalResult solve(const Buffer &buffer, ArrayRef<StagedAccess> accesses,
                      const alg::BankModel &model) {
    Value first = accesses.front().buffer;
    auto type = cast<ShapedType>(first.getType());
    StagedAttr staged = getStaged(type);
    if (!staged.getSwizzle().empty() || staged.getPanel())
      return success(); // Somebody's choice; verify-banks judges it.
    if (!isa_and_nonnull<ScratchOp, StageOp, ChannelOp>(
            buffer.owner.getDefiningOp())) {
      skip(buffer.owner, "its definition is not in sight");
      return success();
    }
    SmallVector<Value> values;
    if (Operation *user = collectValues(buffer, values)) {
      skip(buffer.owner, "'" + user->getName().getStringRef() + "' uses it");
      return success();
    }

    alg::SwizzleProblem problem;
    problem.model = model;
    problem.xorOnly = true;
    int64_t bytes = type.getNumElements() *
                    llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    problem.offsetBits = llvm::Log2_64_Ceil(bytes);
    for (const StagedAccess &access : accesses) {
      if (!access.access) {
        skip(buffer.owner, access.reason);
        return success();
      }
      alg::Expected<alg::SwizzleAccess> question = alg::toSwizzleAccess(
          model, *access.access, access.op->getName().getStringRef().str());
      if (!question) {
        skip(buffer.owner, question.message());
        return success();
      }
      problem.accesses.push_back(*question);
    }
    alg::SwizzleLimits limits;
    limits.maxCandidates = maxCandidates;
    alg::Expected<alg::SwizzleAnswer> answer =
        alg::solveSwizzle(problem, limits);
    if (!answer) {
      skip(buffer.owner, answer.message());
      return success();
    }
    if (std::string fault = alg::checkSwizzle(problem, *answer); !fault.empty())
      return emitError(buffer.owner.getLoc())
             << "the swizzle solver's answer does not hold: " << fault;
    if (!answer->isConflictFree()) {
      ++numImpossible;
      emitRemark(buffer.owner.getLoc())
          << "no XOR swizzle frees this buffer of bank conflicts on '"
          << model.name << "': " << describeProof(*answer);
    }

    // The solver looks at tiles at offset 0. With their true windows the new
    // swizzle must still be the better one.
    std::string reason;
    bool wasFree = false, isFree = false;
    std::optional<int64_t> before =
        getCycles(accesses, model, alg::Swizzle(), reason, wasFree);
    std::optional<int64_t> after =
        before ? getCycles(accesses, model, answer->swizzle, reason, isFree)
               : before;
    if (!after) {
      skip(buffer.owner, reason);
      return success();
    }
    if (answer->swizzle.isIdentity() || wasFree || *after >= *before)
      return success();
    // Terms change bits inside of one row of all banks; so the buffer must end
    // with one.
    if (bytes % (model.numBanks() * model.wordBytes())) {
      skip(buffer.owner, "its " + std::to_string(bytes) +
                             " bytes end inside of a row of banks");
      return success();
    }
    SmallVector<int64_t> terms;
    for (const alg::SwizzleTerm &term : *answer->terms) {
      terms.push_back(term.bit);
      terms.push_back(term.source);
    }
    retype(buffer, values, StagedAttr::get(&getContext(), terms));
    ++numSwizzled;
    return success();
  }
};

} // namespace
