//===- VerifyBanks.cpp - Proves the bank conflicts of kernels -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every load and store of a register tile in staged memory becomes a question
// to the algebra: how many cycles does the worst of its instructions take a
// phase, for every window that it may address? The mathematics is in
// lib/Algebra and in docs/Proofs/Banks.md.

#include "StagedAccesses.h"
#include "tracea/Analysis/Certificates.h"
#include "tracea/Analysis/Passes.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_VERIFYBANKS
#include "tracea/Analysis/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
namespace alg = ::tracea::algebra;

namespace {

struct VerifyBanksPass
    : public mlir::tracea::impl::VerifyBanksBase<VerifyBanksPass> {
  using VerifyBanksBase::VerifyBanksBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (maxDegree < 1) {
      kernel.emitOpError() << "cannot be checked against a degree of "
                           << int64_t(maxDegree) << "; the least is 1";
      return signalPassFailure();
    }
    SmallVector<StagedAccess> accesses = collectStagedAccesses(kernel);
    kernel.walk([&](MmaOp mma) {
      for (Value operand : {mma.getLhs(), mma.getRhs()})
        if (getStaged(operand.getType()))
          ++numUnitOperands;
    });
    if (accesses.empty())
      return;
    FailureOr<TargetBanks> banks = getTargetBanks(kernel);
    if (failed(banks))
      return signalPassFailure();
    if (banks->hasNoBanks) {
      numWithoutBanks += accesses.size();
      return;
    }
    int64_t worst = 1, byRank = 0;
    bool isProved = true;
    for (const StagedAccess &access : accesses) {
      ++numAccesses;
      if (!banks->model) {
        isProved &= succeeded(notDecided(access.op, banks->reason));
        continue;
      }
      if (!access.access) {
        isProved &= succeeded(notDecided(access.op, access.reason));
        continue;
      }
      auto type = cast<ShapedType>(access.buffer.getType());
      FailureOr<alg::Swizzle> swizzle = getSwizzle(getStaged(type), type);
      if (failed(swizzle)) {
        isProved &= succeeded(notDecided(
            access.op, "the buffer's panels have extents that are no powers "
                       "of two"));
        continue;
      }
      alg::Expected<alg::TileAccessDegree> degree = alg::tileAccessDegree(
          *banks->model, *access.access, *swizzle, maxAddresses);
      if (!degree) {
        isProved &= succeeded(notDecided(access.op, degree.message()));
        continue;
      }
      ++numDecided;
      byRank += degree->byRank;
      worst = std::max(worst, degree->degree.degree);
      if (degree->degree.degree > maxDegree) {
        report(access, *degree, *banks->model);
        isProved = false;
      }
    }
    if (isProved)
      certify(kernel, accesses.size(), byRank, worst, banks->model->name);
    markAllAnalysesPreserved();
  }

private:
  LogicalResult notDecided(Operation *op, const std::string &reason) {
    if (requireProof) {
      signalPassFailure();
      op->emitOpError() << "bank conflicts not decided: " << reason;
    } else {
      op->emitRemark() << "bank conflicts not decided: " << reason;
    }
    return failure();
  }

  void report(const StagedAccess &access, const alg::TileAccessDegree &degree,
              const alg::BankModel &model) {
    signalPassFailure();
    bool isBound = access.isMasked || degree.mayMerge;
    InFlightDiagnostic diag =
        access.op->emitOpError()
        << "has bank conflicts on '" << model.name << "': its "
        << degree.widthBytes << "-byte "
        << (access.access->kind == alg::AccessKind::Read ? "reads" : "writes")
        << " take " << (isBound ? "up to " : "") << degree.degree.degree
        << " cycles a phase, expected at most " << int64_t(maxDegree);
    Diagnostic &note = diag.attachNote(access.buffer.getLoc());
    note << "lanes ";
    llvm::interleaveComma(degree.collision.lanes, note);
    note << " want different words of bank " << degree.collision.bank
         << " of this buffer (register " << degree.collision.reg << ", warp "
         << degree.collision.warp << ")";
  }

  void certify(KernelOp kernel, size_t accesses, int64_t byRank, int64_t worst,
               StringRef target) {
    std::string text =
        std::to_string(accesses) + " accesses to staged memory take at most " +
        std::to_string(worst) + (worst == 1 ? " cycle" : " cycles") +
        " a phase on " + target.str() + ", " + std::to_string(byRank) +
        " by rank, " + std::to_string(accesses - byRank) +
        " by enumeration of a period";
    setCertificate(kernel, "banks", text);
  }
};

} // namespace
