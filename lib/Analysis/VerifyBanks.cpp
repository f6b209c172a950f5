//===- VerifyBanks.cpp - Proves the bank conflicts of kernels -------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every load and store of a register tile in staged memory becomes a question
// to the algebra: how many cycles does the worst of its instructions take a
// phase, for every window that it may address? The mathematics is in
// lib/Algebra and in docs/Proofs/Banks.md.

#include "StagedAccesses.h"
#include "tracea/Analysis/BankProof.h"
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
namespace ta = ::tracea::analysis;

namespace {

constexpr StringLiteral kBanks = "banks";

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
    markAllAnalysesPreserved();
    if (accesses.empty())
      return certify(kernel, {}, {"-", {}});
    FailureOr<TargetBanks> banks = getTargetBanks(kernel);
    if (failed(banks))
      return signalPassFailure();
    if (banks->hasNoBanks) {
      numWithoutBanks += accesses.size();
      return certify(kernel, {}, {"cpu", {}});
    }
    ta::BankFigures figures;
    ta::BankProof proof;
    std::vector<std::string> reasons;
    bool isWithinBounds = true;
    for (const StagedAccess &access : accesses) {
      ++numAccesses;
      alg::Swizzle swizzle;
      alg::Expected<alg::TileAccessDegree> degree =
          decide(access, *banks, swizzle);
      if (!degree) {
        notDecided(access.op, degree.message());
        reasons.push_back(degree.message());
        continue;
      }
      ++numDecided;
      figures.add(*degree);
      proof.accesses.push_back({*access.access, swizzle});
      if (degree->degree.degree > maxDegree) {
        report(access, *degree, *banks->model);
        isWithinBounds = false;
      }
    }
    if (!reasons.empty())
      return setUndecided(kernel, kBanks, reasons);
    proof.target = banks->model->name;
    if (isWithinBounds)
      certify(kernel, figures, proof);
  }

private:
  /// The cycles of one access, and the order of the buffer's bytes.
  alg::Expected<alg::TileAccessDegree> decide(const StagedAccess &access,
                                              const TargetBanks &banks,
                                              alg::Swizzle &swizzle) {
    if (!banks.model)
      return alg::Error{banks.reason};
    if (!access.access)
      return alg::Error{access.reason};
    auto type = cast<ShapedType>(access.buffer.getType());
    FailureOr<alg::Swizzle> order = getSwizzle(getStaged(type), type);
    if (failed(order))
      return alg::Error{"the buffer's panels have extents that are no powers "
                        "of two"};
    swizzle = *order;
    return alg::tileAccessDegree(*banks.model, *access.access, swizzle,
                                 maxAddresses);
  }

  void notDecided(Operation *op, const std::string &reason) {
    if (requireProof) {
      signalPassFailure();
      op->emitOpError() << "bank conflicts not decided: " << reason;
    } else {
      op->emitRemark() << "bank conflicts not decided: " << reason;
    }
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

  void certify(KernelOp kernel, const ta::BankFigures &figures,
               const ta::BankProof &proof) {
    setCertificate(kernel, kBanks, ta::describeBanks(figures, proof.target),
                   ta::writeModel(proof));
  }
};

} // namespace
