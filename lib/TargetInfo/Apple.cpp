//===- Apple.cpp - Apple's processors and GPUs ----------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Apple publishes limits and feature sets but neither clocks, register files
// nor the banks of threadgroup memory: these stay unknown.
//
// Sources, by the short names used below:
//   [MFS]  Metal Feature Set Tables: families Apple7 (M1), Apple8 (M2), Apple9
//          (M3, M4); threadgroup memory 32 KB, 1024 threads a threadgroup.
//   [MSL]  Metal Shading Language Specification 3.1: simdgroup matrices (8x8 of
//          half, bfloat, float), SIMD-group functions.
//   [Tech] Apple's technical specifications and announcements of M1 to M4
//          (number of GPU cores of the full chip, memory bandwidth).
//   [ACG]  Apple Silicon CPU Optimization Guide: caches, SIMD and FP units.
//
//===----------------------------------------------------------------------===//
#include "Tables.h"

using namespace tracea::target;

namespace {

TargetDescription gpu(std::string name, std::string product, int cores,
                      double memoryGBs) {
  TargetDescription target;
  target.name = std::move(name);
  target.product = std::move(product);
  target.kind = TargetKind::Metal;
  target.arch = "spirv";    // the Metal text is printed from SPIR-V
  target.vector.bits = 128; // float4 is the widest vector type, [MSL]
  // Threads per SIMD-group are 32 on every Apple GPU; a pipeline's
  // threadExecutionWidth reports it.
  target.occupancy.subgroupSize = 32;
  target.occupancy.maxThreadsPerWorkgroup = 1024; // [MFS]
  target.occupancy.barriersPerWorkgroup = 1;      // threadgroup_barrier, [MSL]
  target.shared.perWorkgroup = 32 * 1024;         // [MFS]
  // [MSL] simdgroup_multiply_accumulate of 8x8 matrices, one type.
  target.units.push_back(
      {UnitKind::SimdGroup,
       32,
       {{8, 8, 8, ElementType::F32, ElementType::F32},
        {8, 8, 8, ElementType::F16, ElementType::F16},
        {8, 8, 8, ElementType::BF16, ElementType::BF16},
        // Half operands with float accumulators, as public kernels use it.
        {8, 8, 8, ElementType::F16, ElementType::F32}}});
  target.cores = cores;
  target.memoryGBs = memoryGBs;
  return target;
}

} // namespace

void tracea::target::addAppleTargets(std::vector<TargetDescription> &targets) {
  // [Tech]
  targets.push_back(gpu("apple-m1", "Apple M1, 8-core GPU", 8, 68.25));
  targets.push_back(gpu("apple-m2", "Apple M2, 10-core GPU", 10, 100));
  targets.push_back(gpu("apple-m3", "Apple M3, 10-core GPU", 10, 100));
  targets.push_back(gpu("apple-m4", "Apple M4, 10-core GPU", 10, 120));

  // [ACG] performance cores of M1: 128 KiB L1D, 12 MiB L2 a cluster of 4, lines
  // of 128 bytes, four 128-bit SIMD and FP units. Latency of a multiply-add: 4.
  TargetDescription cpu;
  cpu.name = "apple-m1-cpu";
  cpu.product = "Apple M1, performance cores";
  cpu.kind = TargetKind::CPU;
  cpu.arch = "aarch64";
  cpu.triple = "arm64-apple-macosx";
  cpu.cpu = "apple-m1";
  cpu.features = {"fp-armv8", "neon", "dotprod", "fullfp16", "lse"};
  cpu.vector.bits = 128;
  cpu.vector.registers = 32;
  cpu.vector.fma = cpu.vector.fp16 = cpu.vector.int8Dot = true;
  cpu.vector.fmaPerCycle = 4;
  cpu.vector.fmaLatency = 4;
  cpu.caches = {{1, 128 * 1024, 128, 1}, {2, 12 * 1024 * 1024, 128, 4}};
  cpu.cores = cpu.hardwareThreads = 4;
  cpu.memoryGBs = 68.25;
  deriveVectorFacts(cpu);
  targets.push_back(std::move(cpu));
}
