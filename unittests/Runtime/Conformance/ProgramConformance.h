//===- ProgramConformance.h - Programs of a driver's kernels ----*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds programs of the conformance kernels for the driver at hand.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_UNITTESTS_RUNTIME_CONFORMANCE_PROGRAMCONFORMANCE_H
#define TRACEA_UNITTESTS_RUNTIME_CONFORMANCE_PROGRAMCONFORMANCE_H

#include "Conformance.h"

#include "tracea/Runtime/Dependencies.h"
#include "tracea/Runtime/Executable.h"

#include <algorithm>
#include <numeric>

namespace tracea::runtime::test {

class ProgramConformance : public Conformance {
protected:
  /// A program for this driver with all conformance kernels and no entry.
  ProgramFile emptyProgram() {
    ProgramFile program;
    const DeviceInfo &info = device->info();
    program.manifest.producer = "tracea conformance";
    program.manifest.target = {info.kind, info.arch, "test", {}};
    int64_t blob = program.addBlob(GetParam().code());
    for (const char *symbol : {"conf_count", "conf_scale_add", "conf_row_sum",
                               "conf_copy", "conf_workspace"}) {
      KernelSpec kernel;
      kernel.name = kernel.symbol = symbol;
      kernel.blob = blob;
      kernel.workspace = std::string(symbol) == "conf_workspace" ? 1000 : 0;
      program.manifest.kernels.push_back(kernel);
    }
    return program;
  }
  enum { Count, ScaleAdd, RowSum, Copy, Scratch };

  /// main(x: f32[?, ?], y: f32[?]) -> (z: f32[?, ?], sums: f32[?]) with
  /// z = 3 x + y (y has as many elements as x) and sums over z's rows.
  ProgramFile chain() {
    ProgramFile program = emptyProgram();
    EntrySpec entry;
    entry.name = "main";
    entry.inputs = {{"x", ElementType::F32, {dynamicSize, dynamicSize}},
                    {"y", ElementType::F32, {dynamicSize}}};
    ExprBuilder e(entry.exprs);
    int64_t m = e.dim(0, 0), k = e.dim(0, 1), n = e.mul(m, k);
    entry.checks = {{e.eq(n, e.dim(1, 0)), "y has x's number of elements"}};
    entry.buffers = {
        BufferSpec::input(0), BufferSpec::input(1),
        BufferSpec::temp(e.rowMajorBytes(ElementType::F32, {m, k})),
        BufferSpec::temp(e.rowMajorBytes(ElementType::F32, {m}))};
    StepSpec first, second;
    first.kernel = ScaleAdd;
    first.tiles = e.ceilDiv(n, e.constant(16));
    first.args = {ArgSpec::fromView(e.rowMajorView(0, ElementType::F32, {n})),
                  ArgSpec::fromView(e.rowMajorView(1, ElementType::F32, {n})),
                  ArgSpec::fromView(e.rowMajorView(2, ElementType::F32, {n})),
                  ArgSpec::fromIndex(e.constant(3)),
                  ArgSpec::fromIndex(e.constant(16))};
    second.kernel = RowSum;
    second.tiles = m;
    second.args = {
        ArgSpec::fromView(e.rowMajorView(2, ElementType::F32, {m, k})),
        ArgSpec::fromView(e.rowMajorView(3, ElementType::F32, {m}))};
    entry.steps = {first, second};
    entry.outputs = {
        {ElementType::F32, e.rowMajorView(2, ElementType::F32, {m, k})},
        {ElementType::F32, e.rowMajorView(3, ElementType::F32, {m})}};
    program.manifest.entries = {entry};
    return program;
  }

  /// main(x: f32[4, ?]) -> f32[4, ?] by `steps` copies, each to a new temp.
  ProgramFile copies(int steps) {
    ProgramFile program = emptyProgram();
    EntrySpec entry;
    entry.name = "main";
    entry.inputs = {{"x", ElementType::F32, {4, dynamicSize}}};
    ExprBuilder e(entry.exprs);
    std::vector<int64_t> shape = {e.constant(4), e.dim(0, 1)};
    entry.buffers = {BufferSpec::input(0)};
    for (int i = 0; i < steps; ++i) {
      entry.buffers.push_back(
          BufferSpec::temp(e.rowMajorBytes(ElementType::F32, shape)));
      StepSpec step;
      step.kernel = Copy;
      step.tiles = shape[0];
      step.args = {
          ArgSpec::fromView(e.rowMajorView(i, ElementType::F32, shape)),
          ArgSpec::fromView(e.rowMajorView(i + 1, ElementType::F32, shape))};
      entry.steps.push_back(step);
    }
    entry.outputs = {
        {ElementType::F32, e.rowMajorView(steps, ElementType::F32, shape)}};
    program.manifest.entries = {entry};
    return program;
  }

  /// The order of steps, and what targets with a grid demand of a manifest: a
  /// tile is a block.
  void complete(ProgramFile &program) {
    for (EntrySpec &entry : program.manifest.entries) {
      bool isSaid =
          std::any_of(entry.steps.begin(), entry.steps.end(),
                      [](const StepSpec &step) { return !step.after.empty(); });
      if (!isSaid)
        assumeDependencies(entry);
    }
    const DeviceInfo &info = device->info();
    program.manifest.images = {{0, 0, info.imageKinds.back(), info.arch, 0}};
    if (!info.hasGrid)
      return;
    program.manifest.images[0].arch = "sm_75";
    program.manifest.images[0].isa = 70;
    for (KernelSpec &kernel : program.manifest.kernels)
      kernel.gpu.emplace();
    for (EntrySpec &entry : program.manifest.entries) {
      ExprBuilder e(entry.exprs);
      for (StepSpec &step : entry.steps)
        if (step.isLaunch())
          step.grid = {step.tiles, e.constant(1), e.constant(1)};
    }
  }

  /// Through the container, as a user's program comes.
  Expected<std::shared_ptr<Executable>> load(ProgramFile program) {
    complete(program);
    return loadComplete(program);
  }
  Expected<std::shared_ptr<Executable>>
  loadComplete(const ProgramFile &program) {
    Expected<std::vector<uint8_t>> bytes = program.serialize();
    if (!bytes)
      return bytes.status();
    Expected<ProgramFile> parsed = ProgramFile::parse(*bytes);
    if (!parsed)
      return parsed.status();
    return Executable::load(std::move(*parsed), device);
  }
  std::unique_ptr<Execution> start(const ProgramFile &program,
                                   const ExecutionOptions &options = {}) {
    Expected<std::shared_ptr<Executable>> executable = load(program);
    EXPECT_TRUE(executable) << executable.message();
    Expected<std::unique_ptr<Execution>> execution =
        (*executable)->createExecution("", options);
    EXPECT_TRUE(execution) << execution.message();
    return std::move(*execution);
  }
  /// The message with which a run of the program is refused.
  std::string errorOf(const ProgramFile &program,
                      const std::vector<Tensor> &inputs) {
    std::unique_ptr<Execution> execution = start(program);
    std::vector<Tensor> outputs(execution->entry().outputs.size());
    Status status = execution->run(inputs, outputs);
    EXPECT_EQ(execution->stats().launches, 0);
    for (const Tensor &output : outputs)
      EXPECT_TRUE(output.isNull());
    return status.ok() ? "accepted" : status.message();
  }

  static Tensor ramp(std::vector<int64_t> shape, float start = 0) {
    Tensor tensor = *Tensor::allocate(ElementType::F32, shape);
    std::iota(tensor.dataAs<float>(),
              tensor.dataAs<float>() + tensor.numElements(), start);
    return tensor;
  }
  static std::vector<float> valuesOf(const Tensor &tensor) {
    Tensor copy = *tensor.clone();
    return std::vector<float>(copy.dataAs<float>(),
                              copy.dataAs<float>() + copy.numElements());
  }
  bool shared() const { return device->info().hostAccessible; }
};

} // namespace tracea::runtime::test

#endif // TRACEA_UNITTESTS_RUNTIME_CONFORMANCE_PROGRAMCONFORMANCE_H
