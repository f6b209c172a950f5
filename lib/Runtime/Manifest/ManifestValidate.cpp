//===- ManifestValidate.cpp - Checks every reference of a manifest --------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// After this check the runtime may use every number in a manifest as an index
// without looking again. What depends on the shapes of a run (values of
// expressions, bounds of views) is checked by the run.
//
//===----------------------------------------------------------------------===//

#include "ManifestValidate.h"

#include "tracea/Runtime/Constants.h"
#include "tracea/Runtime/Dependencies.h"

#include <algorithm>
#include <set>

namespace tracea::runtime {

using namespace manifest;

/// An index into something with `count` elements called `what`.
Status manifest::checkIndex(const Path &path, int64_t index, size_t count,
                            const char *what) {
  if (index >= 0 && static_cast<uint64_t>(index) < count)
    return Status::success();
  return failAt(path, std::string("expected the number of ") + what +
                          ", one of " + std::to_string(count) + ", found " +
                          std::to_string(index));
}

namespace {

/// A name that a person or a linker will see.
Status checkName(const Path &path, const std::string &name) {
  if (name.empty())
    return failAt(path, "expected a name, found an empty string");
  for (char c : name)
    if (static_cast<unsigned char>(c) < 32)
      return failAt(path, "expected a name without control characters");
  return Status::success();
}

class EntryValidator {
public:
  EntryValidator(const Manifest &manifest, const EntrySpec &entry,
                 const ManifestLimits &limits, const Path &path)
      : manifest(manifest), entry(entry), limits(limits), path(path) {}

  Status run() {
    TRACEA_RETURN_IF_ERROR(inputs());
    TRACEA_RETURN_IF_ERROR(exprs());
    for (size_t i = 0; i < entry.checks.size(); ++i) {
      Path check(&path, "checks", static_cast<int64_t>(i));
      TRACEA_RETURN_IF_ERROR(
          exprIndex(Path(&check, "expr"), entry.checks[i].expr));
    }
    TRACEA_RETURN_IF_ERROR(buffers());
    TRACEA_RETURN_IF_ERROR(steps());
    TRACEA_RETURN_IF_ERROR(order());
    TRACEA_RETURN_IF_ERROR(constants());
    for (size_t i = 0; i < entry.outputs.size(); ++i) {
      Path output(&path, "outputs", static_cast<int64_t>(i));
      Path view(&output, "view");
      if (entry.outputs[i].type != entry.outputs[i].view.type)
        return failAt(output, std::string("expected the view's type ") +
                                  nameOf(entry.outputs[i].view.type) +
                                  ", found " + nameOf(entry.outputs[i].type));
      TRACEA_RETURN_IF_ERROR(checkView(view, entry.outputs[i].view));
    }
    return Status::success();
  }

private:
  Status exprIndex(const Path &at, int64_t index) {
    return checkIndex(at, index, entry.exprs.size(), "an expression");
  }

  Status inputs() {
    for (size_t i = 0; i < entry.inputs.size(); ++i) {
      const InputSpec &input = entry.inputs[i];
      Path at(&path, "inputs", static_cast<int64_t>(i));
      TRACEA_RETURN_IF_ERROR(checkName(Path(&at, "name"), input.name));
      if (static_cast<int64_t>(input.shape.size()) > limits.maxRank)
        return failAt(Path(&at, "shape"),
                      "expected at most " + std::to_string(limits.maxRank) +
                          " axes, found " + std::to_string(input.shape.size()));
      for (int64_t size : input.shape)
        if (size < 0 && size != dynamicSize)
          return failAt(Path(&at, "shape"),
                        "expected a size of at least 0 or dynamic, found " +
                            std::to_string(size));
      if (input.isScalar && !input.shape.empty())
        return failAt(Path(&at, "shape"), "expected a scalar without axes");
      if (input.isScalar && input.isConstant)
        return failAt(at, "expected a tensor to be constant, found a scalar");
    }
    return Status::success();
  }

  Status exprs() {
    for (size_t i = 0; i < entry.exprs.size(); ++i) {
      const Expr &expr = entry.exprs[i];
      Path at(&path, "exprs", static_cast<int64_t>(i));
      if (expr.op == ExprOp::Const)
        continue;
      if (expr.op == ExprOp::Dim) {
        TRACEA_RETURN_IF_ERROR(
            checkIndex(at, expr.a, entry.inputs.size(), "an input"));
        TRACEA_RETURN_IF_ERROR(checkIndex(
            at, expr.b, entry.inputs[static_cast<size_t>(expr.a)].shape.size(),
            "an axis of the input"));
        continue;
      }
      if (expr.op == ExprOp::Value) {
        TRACEA_RETURN_IF_ERROR(scalarInput(at, expr.a));
        ElementType type = entry.inputs[static_cast<size_t>(expr.a)].type;
        if (isFloat(type))
          return failAt(at, "expected an input that is an integer, found " +
                                std::string(nameOf(type)));
        continue;
      }
      TRACEA_RETURN_IF_ERROR(
          checkIndex(at, expr.a, i, "an earlier expression"));
      TRACEA_RETURN_IF_ERROR(
          checkIndex(at, expr.b, i, "an earlier expression"));
      if (expr.op == ExprOp::Select)
        TRACEA_RETURN_IF_ERROR(
            checkIndex(at, expr.c, i, "an earlier expression"));
    }
    return Status::success();
  }

  Status buffers() {
    size_t temps = 0;
    for (size_t i = 0; i < entry.buffers.size(); ++i) {
      const BufferSpec &buffer = entry.buffers[i];
      Path at(&path, "buffers", static_cast<int64_t>(i));
      switch (buffer.kind) {
      case BufferKind::Input:
        TRACEA_RETURN_IF_ERROR(checkIndex(Path(&at, "index"), buffer.index,
                                          entry.inputs.size(), "an input"));
        if (entry.inputs[static_cast<size_t>(buffer.index)].isScalar)
          return failAt(Path(&at, "index"),
                        "expected an input that is a tensor, found the scalar "
                        "input " +
                            std::to_string(buffer.index));
        break;
      case BufferKind::Constant:
        TRACEA_RETURN_IF_ERROR(checkIndex(Path(&at, "index"), buffer.index,
                                          manifest.constants.size(),
                                          "a constant"));
        break;
      case BufferKind::Table:
        TRACEA_RETURN_IF_ERROR(table(at, buffer));
        break;
      case BufferKind::Temp:
        TRACEA_RETURN_IF_ERROR(exprIndex(Path(&at, "bytes"), buffer.bytes));
        if (buffer.align < 1 || buffer.align > limits.maxAlign ||
            (buffer.align & (buffer.align - 1)) != 0)
          return failAt(Path(&at, "align"),
                        "expected a power of two up to " +
                            std::to_string(limits.maxAlign) + ", found " +
                            std::to_string(buffer.align));
        if (++temps > limits.maxTempBuffers)
          return failAt(at, "expected at most " +
                                std::to_string(limits.maxTempBuffers) +
                                " temp buffers, found more");
        break;
      }
    }
    return Status::success();
  }

  Status table(const Path &at, const BufferSpec &buffer) {
    for (size_t i = 0; i < buffer.values.size(); ++i) {
      const TableValue &value = buffer.values[i];
      Path place(&at, "values", static_cast<int64_t>(i));
      if (!value.isInput) {
        TRACEA_RETURN_IF_ERROR(exprIndex(Path(&place, "index"), value.index));
        continue;
      }
      TRACEA_RETURN_IF_ERROR(scalarInput(Path(&place, "value"), value.index));
      ElementType type = entry.inputs[static_cast<size_t>(value.index)].type;
      if (type != buffer.type)
        return failAt(place, std::string("expected a scalar of the table's "
                                         "type ") +
                                 nameOf(buffer.type) + ", found " +
                                 nameOf(type));
    }
    return Status::success();
  }

  Status checkView(const Path &at, const ViewSpec &view) {
    TRACEA_RETURN_IF_ERROR(checkIndex(Path(&at, "buffer"), view.buffer,
                                      entry.buffers.size(), "a buffer"));
    TRACEA_RETURN_IF_ERROR(exprIndex(Path(&at, "offset"), view.offset));
    if (static_cast<int64_t>(view.sizes.size()) > limits.maxRank)
      return failAt(Path(&at, "sizes"),
                    "expected at most " + std::to_string(limits.maxRank) +
                        " axes, found " + std::to_string(view.sizes.size()));
    if (view.sizes.size() != view.strides.size())
      return failAt(Path(&at, "strides"),
                    "expected " + std::to_string(view.sizes.size()) +
                        " strides, one for each size, found " +
                        std::to_string(view.strides.size()));
    for (size_t i = 0; i < view.sizes.size(); ++i) {
      int64_t axis = static_cast<int64_t>(i);
      TRACEA_RETURN_IF_ERROR(
          exprIndex(Path(&at, "sizes", axis), view.sizes[i]));
      TRACEA_RETURN_IF_ERROR(
          exprIndex(Path(&at, "strides", axis), view.strides[i]));
    }
    return Status::success();
  }

  /// A fill or a copy.
  Status checkMove(const Path &at, const StepSpec &step) {
    bool isFill = step.kind == StepKind::Fill;
    if (step.args.size() != (isFill ? 1 : 2) || !step.grid.empty())
      return failAt(at, "expected a fill of one view or a copy between two");
    for (const ArgSpec &arg : step.args) {
      if (arg.kind != ArgKind::View)
        return failAt(at, "expected views to fill or copy");
      bool isTarget = &arg == &step.args.back();
      Path view(&at, isTarget ? (isFill ? "fill" : "to") : "copy");
      TRACEA_RETURN_IF_ERROR(checkView(view, arg.view));
      // The rest is the caller's, or is there for all runs.
      if (isTarget &&
          entry.buffers[static_cast<size_t>(arg.view.buffer)].kind !=
              BufferKind::Temp)
        return failAt(view,
                      "expected a temp buffer to write to, found buffer " +
                          std::to_string(arg.view.buffer));
    }
    if (isFill && (step.value < 0 || step.value > 255))
      return failAt(Path(&at, "value"), "expected a byte, 0 to 255, found " +
                                            std::to_string(step.value));
    const ViewSpec &from = step.args.front().view, &to = step.args.back().view;
    if (from.type != to.type || from.sizes.size() != to.sizes.size())
      return failAt(Path(&at, "to"),
                    std::string("expected a view of ") + nameOf(from.type) +
                        " with " + std::to_string(from.sizes.size()) +
                        " axes, found one of " + nameOf(to.type) + " with " +
                        std::to_string(to.sizes.size()));
    return Status::success();
  }

  Status scalarInput(const Path &at, int64_t index) {
    TRACEA_RETURN_IF_ERROR(
        checkIndex(at, index, entry.inputs.size(), "an input"));
    if (!entry.inputs[static_cast<size_t>(index)].isScalar)
      return failAt(at, "expected the number of a scalar input, found the "
                        "tensor '" +
                            entry.inputs[static_cast<size_t>(index)].name +
                            "'");
    return Status::success();
  }

  /// How wide an index is depends on the kernel: it is passed as an expression.
  Status valueArgument(const Path &at, int64_t input) {
    TRACEA_RETURN_IF_ERROR(scalarInput(at, input));
    if (entry.inputs[static_cast<size_t>(input)].type == ElementType::Index)
      return failAt(at, "expected a scalar with a width of its own, found an "
                        "index, which is passed as an expression");
    return Status::success();
  }

  /// What a step writes is among its arguments, and memory of the run.
  Status checkWrites(const Path &at, const StepSpec &step) {
    std::vector<int64_t> passed;
    for (const ArgSpec &arg : step.args)
      if (arg.hasView())
        passed.push_back(arg.view.buffer);
    std::sort(passed.begin(), passed.end());
    for (size_t i = 0; i < step.writes.size(); ++i) {
      int64_t buffer = step.writes[i];
      Path place(&at, "writes", static_cast<int64_t>(i));
      TRACEA_RETURN_IF_ERROR(
          checkIndex(place, buffer, entry.buffers.size(), "a buffer"));
      if (entry.buffers[static_cast<size_t>(buffer)].kind != BufferKind::Temp)
        return failAt(place, "expected a temp buffer, found buffer " +
                                 std::to_string(buffer));
      if (!std::binary_search(passed.begin(), passed.end(), buffer))
        return failAt(place, "expected a buffer of an argument, found buffer " +
                                 std::to_string(buffer));
      if (i > 0 && step.writes[i - 1] >= buffer)
        return failAt(place, "expected buffers by number, each once");
    }
    return Status::success();
  }

  /// Steps come after earlier ones alone, so that no circle is possible, and
  /// after all that share a buffer with them of which one is written.
  Status order() {
    std::vector<std::vector<Dependency>> needed = findDependencies(entry);
    for (size_t i = 0; i < entry.steps.size(); ++i) {
      const std::vector<int64_t> &after = entry.steps[i].after;
      Path step(&path, "steps", static_cast<int64_t>(i));
      Path at(&step, "after");
      for (size_t j = 0; j < after.size(); ++j) {
        Path place(&step, "after", static_cast<int64_t>(j));
        TRACEA_RETURN_IF_ERROR(
            checkIndex(place, after[j], i, "an earlier step"));
        if (j > 0 && after[j - 1] >= after[j])
          return failAt(place, "expected steps by number, each once");
      }
      for (const Dependency &dependency : needed[i])
        if (!std::binary_search(after.begin(), after.end(), dependency.step))
          return failAt(at, "expected step " + std::to_string(dependency.step) +
                                " among those to come after: both use buffer " +
                                std::to_string(dependency.buffer) +
                                ", and one of them writes it");
    }
    return Status::success();
  }

  /// What is computed once follows from what stays.
  Status constants() {
    ConstantError error = findConstantError(entry);
    if (error.takes.empty())
      return Status::success();
    std::string name = "buffer " + std::to_string(error.buffer);
    if (error.step < 0)
      return failAt(Path(&path, "buffers", error.buffer),
                    "expected constant contents to have a constant size");
    return failAt(Path(&path, "steps", error.step),
                  "expected a step that writes the constant contents of " +
                      name +
                      " to use constants alone, "
                      "found " +
                      error.takes);
  }

  Status checkLaunch(const Path &at, const StepSpec &step) {
    TRACEA_RETURN_IF_ERROR(checkIndex(Path(&at, "kernel"), step.kernel,
                                      manifest.kernels.size(), "a kernel"));
    TRACEA_RETURN_IF_ERROR(exprIndex(Path(&at, "tiles"), step.tiles));
    bool hasGrid = manifest.target.hasGrid();
    for (size_t i = 0; i < step.args.size(); ++i) {
      const ArgSpec &spec = step.args[i];
      Path arg(&at, "args", static_cast<int64_t>(i));
      if (spec.hasView())
        TRACEA_RETURN_IF_ERROR(checkView(arg, spec.view));
      else if (spec.kind == ArgKind::Value)
        TRACEA_RETURN_IF_ERROR(valueArgument(Path(&arg, "value"), spec.index));
      else
        TRACEA_RETURN_IF_ERROR(exprIndex(Path(&arg, "index"), spec.index));
      if (!hasGrid && spec.hasView() && spec.kind != ArgKind::View)
        return failAt(arg, "expected a view, an index or a value for a target "
                           "without a grid");
      if (spec.kind == ArgKind::TensorMap)
        TRACEA_RETURN_IF_ERROR(
            validateTensorMap(spec, Path(&arg, "tensorMap")));
    }
    for (size_t i = 0; i < step.grid.size(); ++i)
      TRACEA_RETURN_IF_ERROR(
          exprIndex(Path(&at, "grid", static_cast<int64_t>(i)), step.grid[i]));
    if (hasGrid)
      TRACEA_RETURN_IF_ERROR(
          validateGridStep(manifest, entry, step, limits, at));
    else if (!step.grid.empty())
      return failAt(Path(&at, "grid"), "the target has no grid");
    return checkWrites(at, step);
  }

  Status steps() {
    for (size_t i = 0; i < entry.steps.size(); ++i) {
      const StepSpec &step = entry.steps[i];
      Path at(&path, "steps", static_cast<int64_t>(i));
      TRACEA_RETURN_IF_ERROR(step.isLaunch() ? checkLaunch(at, step)
                                             : checkMove(at, step));
    }
    return Status::success();
  }

  const Manifest &manifest;
  const EntrySpec &entry;
  const ManifestLimits &limits;
  const Path &path;
};

/// A line that a person will see or a checker will read.
Status checkLine(const Path &path, const std::string &line, uint64_t most) {
  if (line.size() > most)
    return failAt(path, "expected at most " + std::to_string(most) +
                            " bytes, found " + std::to_string(line.size()));
  return line.empty() ? Status::success() : checkName(path, line);
}

Status checkCount(const Path &path, size_t count, uint64_t most) {
  if (count <= most)
    return Status::success();
  return failAt(path, "expected at most " + std::to_string(most) +
                          " elements, found " + std::to_string(count));
}

/// One certificate a check, and lines that tools can print.
Status validateProofs(const KernelSpec &kernel, const ManifestLimits &limits,
                      const Path &path) {
  TRACEA_RETURN_IF_ERROR(checkCount(Path(&path, "certificates"),
                                    kernel.certificates.size(),
                                    limits.maxCertificates));
  std::set<std::string> checks;
  for (size_t i = 0; i < kernel.certificates.size(); ++i) {
    const CertificateSpec &spec = kernel.certificates[i];
    Path at(&path, "certificates", static_cast<int64_t>(i));
    Path check(&at, "check"), claim(&at, "claim"), model(&at, "model");
    TRACEA_RETURN_IF_ERROR(checkName(check, spec.check));
    TRACEA_RETURN_IF_ERROR(checkLine(check, spec.check, limits.maxClaimBytes));
    TRACEA_RETURN_IF_ERROR(checkName(claim, spec.claim));
    TRACEA_RETURN_IF_ERROR(checkLine(claim, spec.claim, limits.maxClaimBytes));
    TRACEA_RETURN_IF_ERROR(checkLine(model, spec.model, limits.maxModelBytes));
    TRACEA_RETURN_IF_ERROR(
        checkLine(Path(&at, "digest"), spec.digest, limits.maxClaimBytes));
    if (!checks.insert(spec.check).second)
      return failAt(check, "the check \"" + spec.check +
                               "\" has an earlier certificate");
  }
  TRACEA_RETURN_IF_ERROR(checkCount(Path(&path, "remarks"),
                                    kernel.remarks.size(), limits.maxRemarks));
  for (size_t i = 0; i < kernel.remarks.size(); ++i) {
    const RemarkSpec &remark = kernel.remarks[i];
    Path at(&path, "remarks", static_cast<int64_t>(i));
    Path check(&at, "check"), reason(&at, "reason");
    TRACEA_RETURN_IF_ERROR(checkName(check, remark.check));
    TRACEA_RETURN_IF_ERROR(
        checkLine(check, remark.check, limits.maxClaimBytes));
    TRACEA_RETURN_IF_ERROR(
        checkLine(reason, remark.reason, limits.maxClaimBytes));
  }
  return Status::success();
}

/// Lines that a failed run can show.
Status validateAssertions(const std::vector<std::string> &assertions,
                          const ManifestLimits &limits, const Path &path) {
  TRACEA_RETURN_IF_ERROR(checkCount(Path(&path, "assertions"),
                                    assertions.size(), limits.maxAssertions));
  for (size_t i = 0; i < assertions.size(); ++i) {
    Path text(&path, "assertions", static_cast<int64_t>(i));
    TRACEA_RETURN_IF_ERROR(checkName(text, assertions[i]));
    TRACEA_RETURN_IF_ERROR(
        checkLine(text, assertions[i], limits.maxClaimBytes));
  }
  return Status::success();
}

Status validateKernels(const Manifest &manifest, size_t numBlobs,
                       const ManifestLimits &limits) {
  std::set<std::string> names;
  for (size_t i = 0; i < manifest.kernels.size(); ++i) {
    const KernelSpec &kernel = manifest.kernels[i];
    Path at(nullptr, "kernels", static_cast<int64_t>(i));
    TRACEA_RETURN_IF_ERROR(checkName(Path(&at, "name"), kernel.name));
    TRACEA_RETURN_IF_ERROR(checkName(Path(&at, "symbol"), kernel.symbol));
    if (!names.insert(kernel.name).second)
      return failAt(Path(&at, "name"), "the name \"" + kernel.name +
                                           "\" belongs to an earlier kernel");
    TRACEA_RETURN_IF_ERROR(
        checkIndex(Path(&at, "blob"), kernel.blob, numBlobs, "a blob"));
    if (kernel.workspace < 0 || kernel.workspace > limits.maxWorkspace)
      return failAt(Path(&at, "workspace"),
                    "expected 0 to " + std::to_string(limits.maxWorkspace) +
                        " bytes, found " + std::to_string(kernel.workspace));
    TRACEA_RETURN_IF_ERROR(validateProofs(kernel, limits, at));
    if (kernel.gpu.has_value() != manifest.target.hasGrid())
      return failAt(Path(&at, "gpu"), kernel.gpu ? "the target has no grid"
                                                 : "expected the launch of a "
                                                   "kernel on a grid");
    if (kernel.gpu) {
      Path gpu(&at, "gpu");
      TRACEA_RETURN_IF_ERROR(validateGPUKernel(*kernel.gpu, gpu));
      TRACEA_RETURN_IF_ERROR(
          validateAssertions(kernel.gpu->assertions, limits, gpu));
    }
  }
  return validateImages(manifest, numBlobs);
}

Status validateConstants(const Manifest &manifest,
                         Span<const uint64_t> blobSizes) {
  for (size_t i = 0; i < manifest.constants.size(); ++i) {
    const ConstantSpec &constant = manifest.constants[i];
    Path at(nullptr, "constants", static_cast<int64_t>(i));
    TRACEA_RETURN_IF_ERROR(checkIndex(Path(&at, "blob"), constant.blob,
                                      blobSizes.size(), "a blob"));
    uint64_t blobSize = blobSizes[static_cast<size_t>(constant.blob)];
    if (constant.offset < 0 || constant.size < 0 ||
        static_cast<uint64_t>(constant.offset) > blobSize ||
        static_cast<uint64_t>(constant.size) >
            blobSize - static_cast<uint64_t>(constant.offset))
      return failAt(at, "expected a part of blob " +
                            std::to_string(constant.blob) + " of " +
                            std::to_string(blobSize) + " bytes, found " +
                            std::to_string(constant.size) + " bytes at " +
                            std::to_string(constant.offset));
  }
  return Status::success();
}

} // namespace

Status validate(const Manifest &manifest, Span<const uint64_t> blobSizes,
                const ManifestLimits &limits) {
  if (manifest.format != manifestFormat)
    return failAt(Path(nullptr, "format"),
                  "expected " + std::to_string(manifestFormat) + ", found " +
                      std::to_string(manifest.format));
  Path target(nullptr, "target");
  TRACEA_RETURN_IF_ERROR(
      checkName(Path(&target, "kind"), manifest.target.kind));
  TRACEA_RETURN_IF_ERROR(
      checkName(Path(&target, "arch"), manifest.target.arch));
  for (size_t i = 0; i < manifest.target.features.size(); ++i)
    TRACEA_RETURN_IF_ERROR(
        checkName(Path(&target, "features", static_cast<int64_t>(i)),
                  manifest.target.features[i]));
  TRACEA_RETURN_IF_ERROR(validateKernels(manifest, blobSizes.size(), limits));
  TRACEA_RETURN_IF_ERROR(validateConstants(manifest, blobSizes));
  std::set<std::string> names;
  for (size_t i = 0; i < manifest.entries.size(); ++i) {
    const EntrySpec &entry = manifest.entries[i];
    Path at(nullptr, "entries", static_cast<int64_t>(i));
    TRACEA_RETURN_IF_ERROR(checkName(Path(&at, "name"), entry.name));
    if (!names.insert(entry.name).second)
      return failAt(Path(&at, "name"), "the name \"" + entry.name +
                                           "\" belongs to an earlier entry");
    TRACEA_RETURN_IF_ERROR(EntryValidator(manifest, entry, limits, at).run());
  }
  return Status::success();
}

} // namespace tracea::runtime
