//===- TestPrograms.h - Small programs for the tests ------------*- C++ -*-===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Manifests built with the same helpers that the compiler uses.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_UNITTESTS_RUNTIME_TESTPROGRAMS_H
#define TRACEA_UNITTESTS_RUNTIME_TESTPROGRAMS_H

#include "tracea/Runtime/Dependencies.h"
#include "tracea/Runtime/ProgramFile.h"

#include <utility>

namespace tracea::runtime::test {

/// A program with every field of the format in use: two kernels of blob 0, a
/// constant of blob 1, and an entry `main(x: f32[?, 4], count: i64, factor:
/// f32)
/// -> f32[?, 4]` of two steps with a temp between them. The blobs hold no code.
inline ProgramFile describedProgram() {
  ProgramFile program;
  Manifest &m = program.manifest;
  m.producer = "tracea test";
  m.target = {"cpu", "x86_64", "generic", {"sse2"}};
  program.addBlob({1, 2, 3, 4, 5});
  program.addBlob(std::vector<uint8_t>(32, 7));
  m.kernels.push_back({"first",
                       "first",
                       0,
                       256,
                       "fill.simple",
                       "tracea.fill",
                       {{"coverage", "covers every element", "1 2 3", ""}},
                       {{"banks", "nobody knows the banks"}}});
  m.kernels.push_back({"second", "second", 0, 0, "", "", {}, {}});
  m.images = {{0, 0, ImageKind::Object, "x86_64", 0}};
  m.constants.push_back({1, 16, 16});
  EntrySpec entry;
  entry.name = "main";
  entry.inputs = {{"x", ElementType::F32, {dynamicSize, 4}},
                  {"count", ElementType::I64, {}, true},
                  {"factor", ElementType::F32, {}, true}};
  ExprBuilder e(entry.exprs);
  int64_t n = e.dim(0, 0), four = e.constant(4);
  std::vector<int64_t> shape = {n, four};
  entry.checks.push_back(
      {e.le(n, e.constant(1000)), "the first size of x is at most 1000"});
  entry.buffers = {BufferSpec::input(0), BufferSpec::constant(0),
                   BufferSpec::temp(e.rowMajorBytes(ElementType::F32, shape)),
                   BufferSpec::temp(e.rowMajorBytes(ElementType::F32, shape))};
  StepSpec step;
  step.tiles = e.ceilDiv(n, e.constant(8));
  ViewSpec bias = e.rowMajorView(1, ElementType::F32, {four});
  step.args = {ArgSpec::fromView(e.rowMajorView(0, ElementType::F32, shape)),
               ArgSpec::fromView(bias),
               ArgSpec::fromView(e.rowMajorView(2, ElementType::F32, shape)),
               ArgSpec::fromIndex(e.select(e.eq(n, four), n, e.value(1))),
               ArgSpec::fromValue(2)};
  step.writes = {2};
  entry.steps.push_back(step);
  step.kernel = 1;
  step.args = {ArgSpec::fromView(e.rowMajorView(2, ElementType::F32, shape)),
               ArgSpec::fromView(e.rowMajorView(3, ElementType::F32, shape))};
  step.writes = {3};
  entry.steps.push_back(step);
  addDependencies(entry);
  entry.outputs.push_back(
      {ElementType::F32, e.rowMajorView(3, ElementType::F32, shape)});
  m.entries.push_back(entry);
  return program;
}

/// The same for three targets, the first of which needs what no processor has.
/// The constants are shared, the code is not.
inline ProgramFile describedVersions() {
  ProgramFile program = describedProgram();
  program.manifest.target = {"cpu", "x86_64", "best", {"sse2", "abacus"}};
  for (auto [name, code] : {std::pair("good", 6), std::pair("plain", 7)}) {
    ProgramFile other = describedProgram();
    other.manifest.target.name = name;
    other.blobs[0].push_back(static_cast<uint8_t>(code));
    program.addVersions(std::move(other));
  }
  return program;
}

/// The same for a GPU: an entry `main(x: f32[?, 64], im: f32[2, 28, 30, 64])
/// -> f32[?, 64]` of one step with every kind of argument.
inline ProgramFile describedGPUProgram() {
  ProgramFile program;
  Manifest &m = program.manifest;
  m.producer = "tracea test";
  m.target = {"cuda", "sm_90a", "generic", {}};
  program.addBlob({1, 2, 3, 4, 5});
  program.addBlob(std::vector<uint8_t>(32, 7));
  m.images = {{0, 0, ImageKind::Cubin, "sm_90a", 0},
              {0, 1, ImageKind::PTX, "sm_90", 80}};
  KernelSpec kernel;
  kernel.name = kernel.symbol = "k";
  kernel.workspace = 200000;
  GPUKernelSpec &gpu = kernel.gpu.emplace();
  gpu.block = {128, 2, 1};
  gpu.cluster = {2, 1, 1};
  gpu.persistent = 1;
  gpu.overlaps = true;
  gpu.indexBits = 32;
  m.kernels.push_back(kernel);
  EntrySpec entry;
  entry.name = "main";
  entry.inputs = {{"x", ElementType::F32, {dynamicSize, 64}},
                  {"im", ElementType::F32, {2, 28, 30, 64}}};
  ExprBuilder e(entry.exprs);
  std::vector<int64_t> shape = {e.dim(0, 0), e.constant(64)};
  std::vector<int64_t> image = {e.constant(2), e.constant(28), e.constant(30),
                                e.constant(64)};
  entry.buffers = {BufferSpec::input(0), BufferSpec::input(1),
                   BufferSpec::temp(e.rowMajorBytes(ElementType::F32, shape))};
  TensorMapSpec tile;
  tile.box = {64, 32};
  tile.elementStrides = {1, 1};
  tile.swizzle = MapSwizzle::B128;
  tile.promotion = MapPromotion::B256;
  TensorMapSpec window;
  window.im2col = Im2colSpec{{0, 0}, {-1, -2}, 32, 96};
  window.elementStrides = {1, 2, 2, 1};
  window.fill = MapFill::NaN;
  StepSpec step;
  step.tiles = e.ceilDiv(shape[0], e.constant(64));
  step.grid = {step.tiles, e.constant(1), e.constant(1)};
  step.args = {
      ArgSpec::fromMap(tile, e.rowMajorView(0, ElementType::F32, shape)),
      ArgSpec::fromMap(window, e.rowMajorView(1, ElementType::F32, image)),
      ArgSpec::fromPointer(e.rowMajorView(2, ElementType::F32, shape)),
      ArgSpec::fromView(e.rowMajorView(2, ElementType::F32, shape)),
      ArgSpec::fromIndex(shape[0])};
  step.writes = {2};
  entry.steps = {step};
  entry.outputs = {
      {ElementType::F32, e.rowMajorView(2, ElementType::F32, shape)}};
  m.entries = {entry};
  return program;
}

} // namespace tracea::runtime::test

#endif // TRACEA_UNITTESTS_RUNTIME_TESTPROGRAMS_H
