//===- ShapeConvolutions.cpp - Convolutions as kernels read them best -----===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels are made for operands whose rows are many channels of a pixel. Others
// can be had as well, element by element, or with steps that are padding for
// the most part; where the cost model expects it to take less, copies are made
// first that have such rows.

#include "ConvolutionForms.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Remarks.h"
#include "tracea/Doctor/CPUModel.h"
#include "tracea/Doctor/Doctor.h"
#include "tracea/Doctor/Passes.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <limits>

namespace mlir::tracea {
#define GEN_PASS_DEF_SHAPECONVOLUTIONS
#include "tracea/Doctor/Passes.h.inc"
} // namespace mlir::tracea

using namespace mlir;
using namespace mlir::tracea;
using ::tracea::target::TargetDescription;

/// What has to be gained: the copies take memory, and the model is not exact.
/// On a CPU it says less than is gained: it does not know of the taps at a
/// border that kernels for channels last leave out. Pixels as one row are the
/// same operands in the same order, multiplied the same way.
static constexpr double kGainOnGPU = 0.1, kGainOnCPU = 0.05, kGainOfRow = 0.01;

double mlir::tracea::countBytes(Value tensor) {
  // As many pixels as the cost model takes where it knows of none: one image
  // of 4096.
  constexpr double kImages = 1, kPixels = 64;
  auto type = cast<RankedTensorType>(tensor.getType());
  double bytes = static_cast<double>(type.getElementTypeBitWidth()) / 8;
  for (auto [dim, extent] : llvm::enumerate(type.getShape()))
    bytes *= !ShapedType::isDynamic(extent) ? static_cast<double>(extent)
             : dim == 0                     ? kImages
                                            : kPixels;
  return bytes;
}

/// The cycles of kernels that move memory, from their start to their end.
static double countCopies(const ConvolutionForm &form,
                          const TargetDescription &target) {
  if (!target.isGPU()) {
    // Out of the second level, or what is more than it holds from beyond, in
    // square blocks that are transposed in registers; the cores share them.
    constexpr double kStart = 4000, kNearBytes = 12, kFarBytes = 4;
    double cores = std::max<double>(1, static_cast<double>(target.cores));
    ::tracea::doctor::CPUModel model(target,
                                     ::tracea::target::ElementType::F32);
    bool isNear = form.copiedBytes <= static_cast<double>(model.l2) * cores;
    return form.numCopies * kStart +
           form.copiedBytes / ((isNear ? kNearBytes : kFarBytes) * cores);
  }
  constexpr double kStart = 3000, kReached = 0.6;
  double rate = target.memoryGBs / target.clockGHz * kReached;
  return form.numCopies * kStart + form.copiedBytes / rate;
}

namespace {
struct ShapeConvolutions
    : mlir::tracea::impl::ShapeConvolutionsBase<ShapeConvolutions> {
  using ShapeConvolutionsBase::ShapeConvolutionsBase;

  void runOnOperation() override {
    FailureOr<TargetDescription> target =
        getOrSetTarget(getOperation(), this->target, threads);
    if (failed(target))
      return signalPassFailure();
    // What copies cost has to be known.
    if (target->isGPU() && (target->memoryGBs <= 0 || target->clockGHz <= 0))
      return;
    SmallVector<ConvolutionOpInterface> convolutions;
    getOperation().walk([&](ConvolutionOpInterface op) {
      // Gradients on CPUs read windows as they come.
      if ((isa<Conv2DOp>(op) || (target->isGPU() && isa<Conv2DWGradOp>(op))) &&
          !cast<ScheduledOpInterface>(op.getOperation()).getScheduleAttr())
        convolutions.push_back(op);
    });
    for (ConvolutionOpInterface op : convolutions)
      shape(op, *target);
  }

private:
  void shape(ConvolutionOpInterface op, const TargetDescription &target);
};
} // namespace

/// The form that `chain` leads to, all of it in front of `op`; nothing where a
/// link of the chain is not for it, or plain loops would be left.
static std::optional<ConvolutionForm> make(RewriterBase &rewriter,
                                           ConvolutionOpInterface op,
                                           ArrayRef<ConvolutionRewrite> chain) {
  ConvolutionForm form{op, op->getResult(0)};
  for (ConvolutionRewrite rewrite : chain) {
    rewriter.setInsertionPoint(form.conv);
    std::optional<ConvolutionForm> next = rewrite(rewriter, form);
    if (!next)
      return std::nullopt;
    if (form.conv != op) {
      bool isLast = form.result == form.conv->getResult(0);
      rewriter.replaceOp(form.conv, next->result);
      if (!isLast)
        next->result = form.result;
    }
    form = *next;
  }
  return form;
}

void ShapeConvolutions::shape(ConvolutionOpInterface op,
                              const TargetDescription &target) {
  struct Choice {
    StringRef what;
    SmallVector<ConvolutionRewrite, 3> chain;
    double leastGain = kGainOnCPU;
  };
  // A CPU stages rows of taps as they lie, whatever their length, but words of
  // floats, behind whose last tap infinity would meet zero.
  const Choice onCPU[] = {
      {"channels last", {putChannelsLast}},
      {"its channels among the taps of a row", {putChannelsInTaps}},
      {"the taps of a row as channels", {joinTapsOfRows}},
      {"the taps of a row as channels, and its border", {joinTapsAndBorder}},
      {"the pixels of all rows as one row", {joinPixels}, kGainOfRow},
      {"channels last, and the pixels of all rows as one row",
       {putChannelsLast, joinPixels}},
      {"all taps as channels, and the pixels of all rows as one row",
       {joinAllTaps, joinPixels}},
      {"its border, all taps as channels, and the pixels of all rows as one "
       "row",
       {putBorder, joinAllTaps, joinPixels}}};
  const Choice onGPU[] = {
      {"channels last", {putChannelsLast}, kGainOnGPU},
      {"the taps of a row as channels", {joinTapsOfRows}, kGainOnGPU},
      {"channels last and the taps of a row as channels",
       {putChannelsLast, joinTapsOfRows},
       kGainOnGPU},
      {"several groups as one", {joinGroups}, kGainOnGPU}};
  ArrayRef<Choice> choices = target.isGPU() ? ArrayRef(onGPU) : ArrayRef(onCPU);
  auto count = [&](ConvolutionOpInterface conv) {
    return countCycles(cast<ScheduledOpInterface>(conv.getOperation()), target);
  };
  StringRef name = isa<Conv2DOp>(op) ? "convolution" : "gradient";
  // Plain loops are left to no form that has kernels.
  double before = count(op).value_or(std::numeric_limits<double>::infinity());
  IRRewriter rewriter(&getContext());
  const Choice *best = nullptr;
  bool hasCopies = false;
  std::string others;
  double least = before;
  Operation *last = op->getPrevNode();
  for (const Choice &choice : choices) {
    std::optional<ConvolutionForm> form = make(rewriter, op, choice.chain);
    std::optional<double> cycles;
    if (form)
      cycles = count(form->conv);
    if (cycles) {
      *cycles += countCopies(*form, target);
      others += llvm::formatv(", {0:F0} with {1}", *cycles, choice.what).str();
      if (*cycles < std::min(least, (1 - choice.leastGain) * before)) {
        least = *cycles;
        best = &choice;
        hasCopies = form->numCopies > 0;
      }
    }
    // With all that was made for it.
    while (op->getPrevNode() != last)
      rewriter.eraseOp(op->getPrevNode());
  }
  if (!best) {
    if (!others.empty() && std::isfinite(before))
      remark::missed(op.getLoc(), remark::RemarkOpts::name("convolution-kept")
                                      .category("tracea-doctor"))
          << llvm::formatv("the {0} stays as it is: the cost model "
                           "expects {1:F0} cycles of it{2}",
                           name, before, others)
                 .str();
    return;
  }
  remark::passed(
      op.getLoc(),
      remark::RemarkOpts::name("convolution-shaped").category("tracea-doctor"))
      << llvm::formatv("the {0} has {1}: the cost model expects {2:F0} "
                       "cycles{5} in place of {3}{4}",
                       name, best->what, least,
                       std::isfinite(before)
                           ? llvm::formatv("{0:F0}", before).str()
                           : "plain loops",
                       others, hasCopies ? " with its copies" : "")
             .str();
  ++numShaped;
  rewriter.replaceOp(op, make(rewriter, op, best->chain)->result);
}
