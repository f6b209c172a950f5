//===- Constants.cpp - What depends on constants alone --------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All temp buffers that might be constant are taken to be so, and then those
// are left out that a step writes which takes anything else, until none is.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/Constants.h"

#include "tracea/Runtime/Dependencies.h"

#include <algorithm>

namespace tracea::runtime {

namespace {

/// An entry with a guess of which buffers are constant.
class ConstantFinder {
public:
  explicit ConstantFinder(const EntrySpec &entry);

  bool isConstant(int64_t buffer) const {
    return constants[static_cast<size_t>(buffer)];
  }
  void set(int64_t buffer, bool value) {
    constants[static_cast<size_t>(buffer)] = value;
  }
  /// What the step takes that is not constant; empty if nothing.
  std::string findOther(const StepSpec &step) const;
  bool isConstantExpr(int64_t expr) const {
    return exprs[static_cast<size_t>(expr)];
  }

private:
  bool areConstant(const std::vector<int64_t> &numbers) const {
    return std::all_of(numbers.begin(), numbers.end(),
                       [&](int64_t expr) { return isConstantExpr(expr); });
  }

  std::vector<char> exprs;
  std::vector<char> constants;
};

} // namespace

ConstantFinder::ConstantFinder(const EntrySpec &entry) {
  for (const Expr &expr : entry.exprs) {
    bool isConstant = true;
    if (expr.op == ExprOp::Dim)
      isConstant = entry.inputs[static_cast<size_t>(expr.a)].isConstant;
    else if (expr.op == ExprOp::Value)
      isConstant = false;
    else if (expr.op != ExprOp::Const)
      isConstant = isConstantExpr(expr.a) && isConstantExpr(expr.b) &&
                   (expr.op != ExprOp::Select || isConstantExpr(expr.c));
    exprs.push_back(isConstant);
  }
  for (const BufferSpec &buffer : entry.buffers) {
    bool isConstant = buffer.kind == BufferKind::Constant;
    if (buffer.kind == BufferKind::Input)
      isConstant = entry.inputs[static_cast<size_t>(buffer.index)].isConstant;
    else if (buffer.kind == BufferKind::Table)
      isConstant = std::all_of(
          buffer.values.begin(), buffer.values.end(), [&](TableValue value) {
            return !value.isInput && isConstantExpr(value.index);
          });
    else if (buffer.kind == BufferKind::Temp)
      isConstant = buffer.contents == TempContents::Constant;
    constants.push_back(isConstant);
  }
}

std::string ConstantFinder::findOther(const StepSpec &step) const {
  if (step.isLaunch() &&
      !(isConstantExpr(step.tiles) && areConstant(step.grid)))
    return "a number of tiles";
  for (size_t i = 0; i < step.args.size(); ++i) {
    const ArgSpec &arg = step.args[i];
    std::string of = " of argument " + std::to_string(i);
    if (arg.kind == ArgKind::Value)
      return "the scalar" + of;
    if (!arg.hasView()) {
      if (!isConstantExpr(arg.index))
        return "the index" + of;
      continue;
    }
    const ViewSpec &view = arg.view;
    if (!isConstant(view.buffer))
      return "buffer " + std::to_string(view.buffer);
    if (!isConstantExpr(view.offset) || !areConstant(view.sizes) ||
        !areConstant(view.strides))
      return "a size" + of;
  }
  return "";
}

/// The temp buffers that the step writes.
static std::vector<int64_t> getWritten(const EntrySpec &entry,
                                       const StepSpec &step) {
  std::vector<int64_t> written;
  for (const BufferUse &use : getBufferUses(entry, step))
    if (use.isWritten)
      written.push_back(use.buffer);
  return written;
}

/// By buffer, the last step that writes it; -1 where none does.
static std::vector<int64_t> findLastWriters(const EntrySpec &entry) {
  std::vector<int64_t> writers(entry.buffers.size(), -1);
  for (size_t s = 0; s < entry.steps.size(); ++s)
    for (int64_t buffer : getWritten(entry, entry.steps[s]))
      writers[static_cast<size_t>(buffer)] = static_cast<int64_t>(s);
  return writers;
}

void markConstants(EntrySpec &entry) {
  ConstantFinder finder(entry);
  std::vector<int64_t> lastWriters = findLastWriters(entry);
  auto isCandidate = [&](const BufferSpec &buffer) {
    return buffer.kind == BufferKind::Temp &&
           buffer.contents == TempContents::Any &&
           finder.isConstantExpr(buffer.bytes);
  };
  for (size_t b = 0; b < entry.buffers.size(); ++b)
    if (lastWriters[b] >= 0 && isCandidate(entry.buffers[b]))
      finder.set(static_cast<int64_t>(b), true);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t s = 0; s < entry.steps.size(); ++s) {
      if (finder.findOther(entry.steps[s]).empty())
        continue;
      for (const BufferUse &use : getBufferUses(entry, entry.steps[s]))
        if (finder.isConstant(use.buffer) &&
            (use.isWritten || lastWriters[static_cast<size_t>(use.buffer)] >
                                  static_cast<int64_t>(s))) {
          finder.set(use.buffer, false);
          changed = true;
        }
    }
  }
  for (size_t b = 0; b < entry.buffers.size(); ++b)
    if (entry.buffers[b].kind == BufferKind::Temp &&
        finder.isConstant(static_cast<int64_t>(b)))
      entry.buffers[b].contents = TempContents::Constant;
}

std::vector<char> findConstantSteps(const EntrySpec &entry) {
  std::vector<char> result;
  for (const StepSpec &step : entry.steps) {
    std::vector<int64_t> written = getWritten(entry, step);
    result.push_back(
        std::any_of(written.begin(), written.end(), [&](int64_t buffer) {
          return entry.buffers[static_cast<size_t>(buffer)].contents ==
                 TempContents::Constant;
        }));
  }
  return result;
}

ConstantError findConstantError(const EntrySpec &entry) {
  ConstantFinder finder(entry);
  for (size_t b = 0; b < entry.buffers.size(); ++b)
    if (entry.buffers[b].kind == BufferKind::Temp &&
        finder.isConstant(static_cast<int64_t>(b)) &&
        !finder.isConstantExpr(entry.buffers[b].bytes))
      return {-1, static_cast<int64_t>(b), "a size"};
  std::vector<char> steps = findConstantSteps(entry);
  std::vector<int64_t> lastWriters = findLastWriters(entry);
  for (size_t s = 0; s < entry.steps.size(); ++s) {
    if (!steps[s]) {
      // It would find what a later step of the runs before left there.
      for (const BufferUse &use : getBufferUses(entry, entry.steps[s])) {
        int64_t writer = lastWriters[static_cast<size_t>(use.buffer)];
        if (finder.isConstant(use.buffer) && writer > static_cast<int64_t>(s))
          return {writer, use.buffer,
                  "step " + std::to_string(s) + " before it, which is not"};
      }
      continue;
    }
    std::string other = finder.findOther(entry.steps[s]);
    if (other.empty())
      continue;
    std::vector<int64_t> written = getWritten(entry, entry.steps[s]);
    auto constant =
        std::find_if(written.begin(), written.end(),
                     [&](int64_t buffer) { return finder.isConstant(buffer); });
    return {static_cast<int64_t>(s), *constant, std::move(other)};
  }
  return {};
}

} // namespace tracea::runtime
