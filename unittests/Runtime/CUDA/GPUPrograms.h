//===- GPUPrograms.h - Programs of the test kernels -------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Manifests as the compiler would write them for GPUKernels.ll.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_UNITTESTS_RUNTIME_CUDA_GPUPROGRAMS_H
#define TRACEA_UNITTESTS_RUNTIME_CUDA_GPUPROGRAMS_H

#include "EmbeddedPTX.h"

#include "tracea/Runtime/Dependencies.h"
#include "tracea/Runtime/Executable.h"

namespace tracea::runtime::test {

/// A program with one kernel of GPUKernels.ll and no entry.
inline ProgramFile gpuProgram(const std::string &symbol,
                              const GPUKernelSpec &gpu = {},
                              int64_t workspace = 0) {
  ProgramFile program;
  Manifest &m = program.manifest;
  m.producer = "tracea test";
  m.target = {"cuda", "sm_90", "test", {}};
  program.addBlob(gpuPTX());
  m.images = {{0, 0, ImageKind::PTX, "sm_90", 80}};
  KernelSpec kernel;
  kernel.name = "the_" + symbol;
  kernel.symbol = symbol;
  kernel.workspace = workspace;
  kernel.gpu = gpu;
  m.kernels.push_back(kernel);
  return program;
}

/// main() -> i64[n], zeroed by nobody: the kernel writes `numbers` after its
/// output's address.
inline void addGenerator(ProgramFile &program, int64_t n, const Grid &grid,
                         const std::vector<int64_t> &numbers) {
  EntrySpec entry;
  entry.name = "main";
  ExprBuilder e(entry.exprs);
  int64_t size = e.constant(n);
  entry.buffers = {BufferSpec::temp(e.rowMajorBytes(ElementType::I64, {size}))};
  StepSpec step;
  step.tiles = e.constant(1);
  step.grid = {e.constant(grid.x), e.constant(grid.y), e.constant(grid.z)};
  step.args = {
      ArgSpec::fromPointer(e.rowMajorView(0, ElementType::I64, {size}))};
  for (int64_t number : numbers)
    step.args.push_back(ArgSpec::fromIndex(e.constant(number)));
  entry.steps = {step};
  entry.outputs = {
      {ElementType::I64, e.rowMajorView(0, ElementType::I64, {size})}};
  assumeDependencies(entry);
  program.manifest.entries = {entry};
}

/// main(index: i64) -> i64[1] by two steps, each with an assertion that never
/// fails and one that the index lies below the step's limit.
inline ProgramFile assertingProgram(int64_t firstLimit, int64_t secondLimit) {
  GPUKernelSpec gpu;
  gpu.assertions = {"never {0}", "'tensor.extract' at test.mlir:3:7: expected "
                                 "index 0 from 0 to below {1}, found {0}"};
  ProgramFile program = gpuProgram("gpu_asserts", gpu);
  EntrySpec entry;
  entry.name = "main";
  InputSpec index = {"index", ElementType::I64, {}};
  index.isScalar = true;
  entry.inputs = {index};
  ExprBuilder e(entry.exprs);
  int64_t one = e.constant(1);
  entry.buffers = {BufferSpec::temp(e.constant(8))};
  for (int64_t limit : {firstLimit, secondLimit}) {
    StepSpec step;
    step.tiles = one;
    step.grid = {e.constant(4), one, one};
    step.args = {
        ArgSpec::fromPointer(e.rowMajorView(0, ElementType::I64, {one})),
        ArgSpec::fromValue(0), ArgSpec::fromIndex(e.constant(limit))};
    entry.steps.push_back(step);
  }
  entry.outputs = {
      {ElementType::I64, e.rowMajorView(0, ElementType::I64, {one})}};
  assumeDependencies(entry);
  program.manifest.entries = {entry};
  return program;
}

/// main(x: f32[?, ?]) -> f32[rows, columns]: the box of x at (y, x), as a bulk
/// copy brings it.
inline ProgramFile tiledProgram(int64_t rows, int64_t columns, int64_t y,
                                int64_t x) {
  GPUKernelSpec gpu;
  gpu.indexBits = 32;
  int64_t count = rows * columns;
  ProgramFile program = gpuProgram("gpu_tiled", gpu, 4 * count);
  EntrySpec entry;
  entry.name = "main";
  entry.inputs = {{"x", ElementType::F32, {dynamicSize, dynamicSize}}};
  ExprBuilder e(entry.exprs);
  int64_t m = e.dim(0, 0), k = e.dim(0, 1);
  int64_t r = e.constant(rows), c = e.constant(columns);
  entry.buffers = {BufferSpec::input(0),
                   BufferSpec::temp(e.rowMajorBytes(ElementType::F32, {r, c}))};
  TensorMapSpec map;
  map.box = {rows, columns};
  map.elementStrides = {1, 1};
  StepSpec step;
  int64_t one = e.constant(1);
  step.tiles = one;
  step.grid = {one, one, one};
  step.args = {
      ArgSpec::fromMap(map, e.rowMajorView(0, ElementType::F32, {m, k})),
      ArgSpec::fromPointer(e.rowMajorView(1, ElementType::F32, {r, c})),
      ArgSpec::fromIndex(e.constant(y)), ArgSpec::fromIndex(e.constant(x)),
      ArgSpec::fromIndex(e.constant(count))};
  entry.steps = {step};
  entry.outputs = {
      {ElementType::F32, e.rowMajorView(1, ElementType::F32, {r, c})}};
  assumeDependencies(entry);
  program.manifest.entries = {entry};
  return program;
}

/// main(v: i64[1]) -> i64[1] by `adds`: each step is out = 3 out + add, the
/// first on a copy of v.
inline ProgramFile chainProgram(const std::vector<int64_t> &adds,
                                bool overlaps) {
  GPUKernelSpec gpu;
  gpu.indexBits = 32;
  gpu.overlaps = overlaps;
  ProgramFile program = gpuProgram("gpu_overlap", gpu);
  EntrySpec entry;
  entry.name = "main";
  entry.inputs = {{"v", ElementType::I64, {1}}};
  ExprBuilder e(entry.exprs);
  int64_t one = e.constant(1);
  entry.buffers = {BufferSpec::input(0)};
  for (int64_t add : adds) {
    StepSpec step;
    step.tiles = one;
    step.grid = {one, one, one};
    step.args = {
        ArgSpec::fromPointer(e.rowMajorView(0, ElementType::I64, {one})),
        ArgSpec::fromIndex(e.constant(add))};
    entry.steps.push_back(step);
  }
  entry.outputs = {
      {ElementType::I64, e.rowMajorView(0, ElementType::I64, {one})}};
  assumeDependencies(entry);
  program.manifest.entries = {entry};
  return program;
}

/// main(v: i64[1]) -> an i64[1] for each of `adds`: 3 v + add, each on a copy
/// of its own.
inline ProgramFile branchesProgram(const std::vector<int64_t> &adds) {
  GPUKernelSpec gpu;
  gpu.indexBits = 32;
  ProgramFile program = gpuProgram("gpu_overlap", gpu);
  EntrySpec entry;
  entry.name = "main";
  entry.inputs = {{"v", ElementType::I64, {1}}};
  ExprBuilder e(entry.exprs);
  int64_t one = e.constant(1);
  entry.buffers = {BufferSpec::input(0)};
  for (int64_t add : adds) {
    int64_t buffer = static_cast<int64_t>(entry.buffers.size());
    entry.buffers.push_back(BufferSpec::temp(e.constant(8)));
    ViewSpec view = e.rowMajorView(buffer, ElementType::I64, {one});
    StepSpec step;
    step.tiles = one;
    step.grid = {one, one, one};
    step.args = {ArgSpec::fromPointer(view),
                 ArgSpec::fromIndex(e.constant(add))};
    entry.steps.push_back(
        StepSpec::copy(e.rowMajorView(0, ElementType::I64, {one}), view));
    entry.steps.push_back(step);
    entry.outputs.push_back({ElementType::I64, view});
  }
  assumeDependencies(entry);
  program.manifest.entries = {entry};
  return program;
}

} // namespace tracea::runtime::test

#endif // TRACEA_UNITTESTS_RUNTIME_CUDA_GPUPROGRAMS_H
