//===- ClassifyNumerics.cpp - Which kernels compute the same bits ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The class of a kernel is a digest of the normal form of how one element is
// computed; see Numerics/ and docs/Proofs/Numerics.md.

#include "Numerics/Evaluator.h"
#include "mlir/IR/Remarks.h"
#include "tracea/Analysis/Certificates.h"
#include "tracea/Analysis/DotProducts.h"
#include "tracea/Analysis/Numerics.h"
#include "tracea/Analysis/Passes.h"
#include "tracea/TargetInfo/TargetInfo.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

namespace mlir::tracea {
#define GEN_PASS_DEF_CLASSIFYNUMERICS
#include "tracea/Analysis/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;
using namespace mlir::tracea_pipe;
namespace hardware = ::tracea::target;

std::string mlir::tracea::getNumericsClass(StringRef normalForm) {
  return llvm::utohexstr(llvm::xxh3_64bits(normalForm), /*LowerCase=*/true,
                         /*Width=*/16);
}

bool mlir::tracea::isNumericsClaimOf(StringRef claim, StringRef normalForm) {
  std::optional<std::string> rounding = describeRounding(normalForm);
  return rounding && claim.ends_with(*rounding) &&
         claim.starts_with("class " + getNumericsClass(normalForm) + ": ");
}

static std::optional<hardware::ElementType> getElementType(Type type) {
  using E = hardware::ElementType;
  if (type.isF64())
    return E::F64;
  if (type.isF32())
    return E::TF32;
  if (type.isF16())
    return E::F16;
  if (type.isBF16())
    return E::BF16;
  if (type.isInteger(8))
    return E::I8;
  return std::nullopt;
}

/// The arithmetic of the module's target; nothing without one.
static std::optional<numerics::TargetNumerics> getNumerics(KernelOp kernel) {
  auto module = kernel->getParentOfType<ModuleOp>();
  auto attr =
      module ? module->getAttrOfType<TargetAttr>(TraceaDialect::kTargetAttrName)
             : TargetAttr();
  if (!attr)
    return std::nullopt;
  numerics::TargetNumerics result;
  StringRef name = attr.getName(), features = attr.getFeatures();
  if (attr.getKind() == TargetKind::CPU) {
    // The rule of the vector lowering.
    result.hasFma = features.empty() || features.contains("+fma") ||
                    features.contains("+neon");
    result.name = result.hasFma ? "cpu fma" : "cpu";
    result.dot = [attr](Type operand, RankedTensorType sums) {
      const hardware::DotProduct *dot = getWordProduct(attr, operand, sums);
      if (!dot)
        return numerics::TargetNumerics::Dot();
      return numerics::TargetNumerics::Dot{
          std::string(dot->arithmetic), dot->joinsWords ? dot->tile.words : 1};
    };
    return result;
  }
  result.isCPU = false;
  // Lanes multiply and add in one rounding.
  result.hasFma = true;
  result.name = name.str();
  std::optional<hardware::TargetDescription> target =
      hardware::lookup(std::string_view(name.data(), name.size()));
  if (target)
    result.unitDepth = [target](bool readsMemory, Type operand,
                                Type accumulator) -> int64_t {
      std::optional<hardware::ElementType> in = getElementType(operand);
      hardware::ElementType out = hardware::ElementType::F32;
      if (accumulator.isF16())
        out = hardware::ElementType::F16;
      else if (accumulator.isInteger(32))
        out = hardware::ElementType::I32;
      else if (!accumulator.isF32())
        return 0;
      const hardware::MatrixShape *shape =
          in ? target->findShape(readsMemory ? hardware::UnitKind::WGMMA
                                             : hardware::UnitKind::MMASync,
                                 *in, out)
             : nullptr;
      return shape ? shape->k : 0;
    };
  return result;
}

namespace {
struct ClassifyNumericsPass
    : public mlir::tracea::impl::ClassifyNumericsBase<ClassifyNumericsPass> {
  using ClassifyNumericsBase::ClassifyNumericsBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    markAllAnalysesPreserved();
    ++numKernels;
    std::optional<numerics::TargetNumerics> target = getNumerics(kernel);
    if (!target)
      return notDecided("the module has no attribute 'tracea.target'");
    numerics::IndexSpace index;
    numerics::TermSpace terms(index);
    numerics::Evaluator evaluator(kernel, *target, index, terms);
    SmallVector<numerics::ElementTerm> results = evaluator.run();
    if (!index.failure.empty())
      return notDecided(index.failure);
    std::string form =
        numerics::printNormalForm(*target, results, index, terms);
    if (!index.failure.empty())
      return notDecided(index.failure);
    constexpr size_t kMaxText = size_t(1) << 20;
    if (form.size() > kMaxText)
      return notDecided("its normal form is too long");
    std::optional<std::string> rounding = describeRounding(form);
    if (!rounding)
      return notDecided("its normal form cannot be read back");
    ++numClassified;
    setCertificate(
        kernel, "numerics",
        "class " + getNumericsClass(form) + ": " +
            numerics::describeNormalForm(*target, results, index, terms) +
            *rounding,
        form);
  }

private:
  void notDecided(const std::string &reason) {
    KernelOp kernel = getOperation();
    if (requireProof) {
      kernel.emitOpError() << "numerics class not decided: " << reason;
      signalPassFailure();
    } else {
      remark::missed(kernel.getLoc(),
                     remark::RemarkOpts::name("numerics-not-decided")
                         .category("tracea-classify-numerics"))
          << ("numerics class not decided: " + reason);
    }
    setUndecided(kernel, "numerics", {reason});
  }
};
} // namespace
