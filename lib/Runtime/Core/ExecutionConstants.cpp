//===- ExecutionConstants.cpp - What stays between runs -------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inputs that an entry takes for constant are given once. The run that gets one
// of them does all steps; the others leave out those that depend on constants
// alone, and use what they computed.
//
//===----------------------------------------------------------------------===//

#include "ExecutionImpl.h"

#include "tracea/Runtime/Constants.h"

#include <algorithm>

namespace tracea::runtime {

bool Execution::Impl::isConstantInput(size_t buffer) const {
  const BufferSpec &spec = entry->buffers[buffer];
  return spec.kind == BufferKind::Input &&
         entry->inputs[static_cast<size_t>(spec.index)].isConstant;
}

bool Execution::Impl::isKept(size_t b) const {
  const BufferSpec &spec = entry->buffers[b];
  if (isConstantInput(b))
    return staged[static_cast<size_t>(spec.index)];
  if (spec.kind != BufferKind::Temp)
    return spec.kind == BufferKind::Table;
  if (spec.contents != TempContents::Constant)
    return spec.contents == TempContents::Persistent;
  // What only steps before all runs use lives as long as they do.
  return isUsedByRuns[b];
}

void Execution::Impl::prepareConstants() {
  isConstantStep = findConstantSteps(*entry);
  constants.resize(entry->inputs.size());
  size_t numSteps = entry->steps.size();
  for (const std::vector<int64_t> &users : uses)
    isUsedByRuns.push_back(
        std::any_of(users.begin(), users.end(), [&](int64_t user) {
          size_t step = static_cast<size_t>(user);
          return step == numSteps || !isConstantStep[step];
        }));
  isLoaded = std::none_of(isConstantStep.begin(), isConstantStep.end(),
                          [](char isConstant) { return isConstant; });
}

/// Puts the constants that were given before in place of those that are not
/// given now.
Status Execution::Impl::takeConstants() {
  for (size_t i = 0; i < inputs.size() && i < entry->inputs.size(); ++i) {
    if (!entry->inputs[i].isConstant || !inputs[i].isNull)
      continue;
    if (!constants[i].isGiven)
      return Status::invalid(nameOfInput(i) + ": expected the constant " +
                             nameOf(entry->inputs[i].type) +
                             describeShape(entry->inputs[i].shape) +
                             ", which no run has been given yet, found null");
    inputs[i] = constants[i].operand;
  }
  return Status::success();
}

Status Execution::Impl::checkConstants() const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!entry->inputs[i].isConstant)
      continue;
    for (size_t o = 0; o < outputs.size(); ++o)
      if (overlap(inputs[i].extent(), outputs[o].extent()))
        return Status::error("output " + std::to_string(o) + " overlaps " +
                             nameOfInput(i) +
                             ": expected a constant that runs do not write");
  }
  return Status::success();
}

void Execution::Impl::keepConstants(Span<const TensorView> tensors) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    BoundConstant &constant = constants[i];
    // What was given before lies where it is remembered.
    if (!entry->inputs[i].isConstant ||
        (constant.isGiven && inputs[i].isRemembered))
      continue;
    isLoaded = false;
    constant.isGiven = true;
    constant.tensor = tensors.empty() ? Tensor() : tensors[i];
    constant.shape.assign(inputs[i].shape.begin(), inputs[i].shape.end());
    constant.strides.assign(inputs[i].strides.begin(), inputs[i].strides.end());
    constant.operand = inputs[i];
    constant.operand.isRemembered = true;
    constant.operand.shape = constant.shape;
    constant.operand.strides = constant.strides;
    inputs[i] = constant.operand;
  }
}

Status Execution::Impl::load(Stream &on) {
  isLoading = false;
  if (isLoaded)
    return Status::success();
  auto isCopied = [&](size_t b) {
    return isConstantInput(b) && isKept(b) && !uses[b].empty() &&
           buffers[b].bytes > 0;
  };
  bool hasWork = std::count(isConstantStep.begin(), isConstantStep.end(), true);
  for (size_t b = 0; b < buffers.size() && !hasWork; ++b)
    hasWork = isCopied(b);
  if (!hasWork)
    return Status::success();
  isLoading = true;
  Expected<bool> capturing = on.isCapturing();
  if (!capturing)
    return capturing.status();
  if (*capturing)
    return Status::error("expected what depends on constants alone to have "
                         "been computed before the stream is captured; give "
                         "them to a run beforehand");
  for (size_t b = 0; b < buffers.size(); ++b) {
    if (!isCopied(b))
      continue;
    const BoundConstant &constant =
        constants[static_cast<size_t>(entry->buffers[b].index)];
    TRACEA_RETURN_IF_ERROR(constant.tensor.isNull()
                               ? stageOnDevice(constant.operand, buffers[b], on)
                               : stageInput(constant.tensor, buffers[b], on));
  }
  ++stats.loads;
  return Status::success();
}

Status Execution::Impl::loadBeforehand(Stream &on) {
  if (isLoaded)
    return Status::success();
  for (size_t i = 0; i < inputs.size(); ++i)
    if (entry->inputs[i].isConstant && !inputs[i].isRemembered)
      return Status::success();
  TRACEA_RETURN_IF_ERROR(load(on));
  TRACEA_RETURN_IF_ERROR(launchSteps(on, /*onlyConstant=*/true));
  return waitFor(on);
}

/// Whether the buffer's memory is written by loads alone.
static bool isWrittenByLoads(const EntrySpec &entry, size_t b) {
  const BufferSpec &spec = entry.buffers[b];
  return spec.kind == BufferKind::Input ||
         (spec.kind == BufferKind::Temp &&
          spec.contents == TempContents::Constant);
}

void Execution::Impl::shareConstants(const Impl &other) {
  constants = other.constants;
  for (BoundConstant &constant : constants) {
    constant.operand.shape = constant.shape;
    constant.operand.strides = constant.strides;
  }
  if (!other.isLoaded)
    return;
  for (size_t b = 0; b < kept.size(); ++b)
    if (isWrittenByLoads(*entry, b))
      kept[b] = other.kept[b];
  isLoaded = true;
}

Expected<bool> Execution::Impl::dropShared(Stream &on) {
  bool isShared = false;
  for (size_t b = 0; b < kept.size(); ++b) {
    // None but this Execution could share it further.
    if (!isWrittenByLoads(*entry, b) || kept[b].use_count() < 2)
      continue;
    TRACEA_RETURN_IF_ERROR(
        checkGrowth("memory that persists", buffers[b].bytes, 0, on));
    // The others may be gone before work that uses it has ended.
    TRACEA_RETURN_IF_ERROR(settle());
    kept[b].reset();
    isShared = true;
  }
  return isShared;
}

} // namespace tracea::runtime
