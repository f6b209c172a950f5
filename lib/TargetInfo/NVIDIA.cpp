//===- NVIDIA.cpp - NVIDIA GPUs by compute capability ---------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sources, by the short names used below:
//   [CUDA]  CUDA C++ Programming Guide, appendix "Compute Capabilities", table
//           "Technical Specifications per Compute Capability".
//   [PTX]   PTX ISA: "Warp Level Matrix Multiply-Accumulate" (mma.sync shapes),
//           "Asynchronous Warpgroup Level Matrix Instructions" (wgmma shapes),
//           "Parallel Synchronization: bar" (16 named barriers), cp.async,
//           cp.async.bulk, mbarrier, setmaxnreg, griddepcontrol.
//   [V100] [Turing]  "NVIDIA Tesla V100 GPU Architecture" and "NVIDIA Turing
//           GPU Architecture".
//   [A100] [H100]  "NVIDIA A100 / H100 Tensor Core GPU Architecture".
//   [GA102] [Ada] [Blackwell]  the architecture whitepapers of GeForce RTX
//           3090, RTX 4090 and RTX 5090. Their tensor rates with f32
//           accumulation are half of those with f16.
//   [B200]  "NVIDIA Blackwell Tuning Guide" (memories of a multiprocessor, L2
//           cache); limits of a multiprocessor as in libcu++'s arch_traits for
//           10.0; multiprocessors, and 7680 bits of memory at 3996 MHz, as the
//           driver says them (github.com/pytorch/ao, pull request 4002); rates
//           of the data sheet of HGX B200 at 1965 MHz.
//   [Sums]  Digits of sums of 8-bit floats: "around 14 bits" on Hopper, section
//           3.3.2 of the technical report of DeepSeek-V3 (arXiv 2412.19437),
//           and 13 bits of fraction there and on Ada, section 3.3 of
//           SageAttention2 (arXiv 2411.10958). On an H200 results of `wgmma`
//           are off by as much; those of `mma.sync` are not.
//   Phases of shared memory: [CUDA] "Shared Memory" (32 banks of 4 bytes); 8
//           bytes a lane go by half warps and 16 bytes by quarter warps, the
//           rule that public GEMM libraries build on. Not stated by NVIDIA.
//           Measured on an H200, with what merges phases, on all patterns of
//           benchmarks/gpu/wavefronts; taken over for the other GPUs.
//
// Peaks are the whitepaper's dense rate over multiprocessors and boost clock.
//
//===----------------------------------------------------------------------===//
#include "Tables.h"

using namespace tracea::target;

namespace {

using E = ElementType;

std::vector<AccessPhase> phases() {
  std::vector<AccessPhase> result;
  for (SharedAccessKind access :
       {SharedAccessKind::Read, SharedAccessKind::Write}) {
    result.push_back({4, access, {1, 2, 4, 8, 16}, {}, {}});
    result.push_back({8, access, {1, 2, 4, 8}, {}, {}});
    result.push_back({16, access, {1, 2, 4}, {}, {}});
  }
  for (AccessPhase &phase : result) {
    phase.mergingKnown = true;
    if (phase.access == SharedAccessKind::Read && phase.bytes > 4) {
      phase.pairs = {1, 2};
      phase.merged = phase.lanes;
      phase.merged.push_back(2 * phase.lanes.back());
    }
  }
  return result;
}

// [PTX] mma.sync.aligned shapes since sm_80.
MatrixUnit mmaSync(bool fp8, int sumDigits = 0) {
  MatrixUnit unit{UnitKind::MMASync,
                  32,
                  {{16, 8, 16, E::F16, E::F32},
                   {16, 8, 8, E::F16, E::F32},
                   {16, 8, 16, E::F16, E::F16},
                   {16, 8, 8, E::F16, E::F16},
                   {16, 8, 16, E::BF16, E::F32},
                   {16, 8, 8, E::BF16, E::F32},
                   {16, 8, 8, E::TF32, E::F32},
                   {16, 8, 4, E::TF32, E::F32},
                   {16, 8, 32, E::I8, E::I32},
                   {16, 8, 16, E::I8, E::I32},
                   {8, 8, 4, E::F64, E::F64}}};
  if (fp8) { // since sm_89
    for (E operand : {E::F8E4M3FN, E::F8E5M2})
      unit.shapes.push_back({16, 8, 32, operand, E::F32, 0, 0, sumDigits});
  }
  return unit;
}

// [PTX] wgmma.mma_async: m64nNk{256 bits}, N a multiple of 8 to 256. For 8-bit
// integers N above 32 goes in steps of 16; only these are listed.
MatrixUnit wgmma() {
  return {UnitKind::WGMMA,
          128,
          {{64, 8, 16, E::F16, E::F32, 256, 8},
           {64, 8, 16, E::F16, E::F16, 256, 8},
           {64, 8, 16, E::BF16, E::F32, 256, 8},
           {64, 8, 8, E::TF32, E::F32, 256, 8},
           {64, 8, 32, E::F8E4M3FN, E::F32, 256, 8, /*sumDigits=*/14},
           {64, 8, 32, E::F8E5M2, E::F32, 256, 8, /*sumDigits=*/14},
           {64, 16, 32, E::I8, E::I32, 256, 16}}};
}

struct Facts {
  const char *name;
  const char *product;
  int sharedPerMultiprocessorKiB;
  int threads;    // resident on a multiprocessor
  int workgroups; // resident on a multiprocessor
  int cores;
  double clockGHz;
  double memoryGBs;
  int64_t l1KiB;
  int64_t l2MiB;
};

TargetDescription base(const Facts &facts) {
  TargetDescription target;
  target.name = facts.name;
  target.product = facts.product;
  target.kind = TargetKind::CUDA;
  target.arch = "nvptx64";
  target.triple = "nvptx64-nvidia-cuda";
  target.cpu = facts.name;
  target.vector.bits = 128; // ld.global.v4.b32
  target.occupancy.subgroupSize = 32;
  target.occupancy.maxThreadsPerWorkgroup = 1024;
  target.occupancy.maxThreadsPerMultiprocessor = facts.threads;
  target.occupancy.maxWorkgroupsPerMultiprocessor = facts.workgroups;
  target.occupancy.registersPerMultiprocessor = 64 * 1024;
  target.occupancy.maxRegistersPerThread = 255;
  target.occupancy.barriersPerWorkgroup = 16; // [PTX] bar
  // [CUDA]: a workgroup may use all but 1 KiB, which the system takes of each.
  target.shared.perMultiprocessor = facts.sharedPerMultiprocessorKiB * KiB;
  target.shared.reservedPerWorkgroup = 1 * KiB;
  target.shared.perWorkgroup = (facts.sharedPerMultiprocessorKiB - 1) * KiB;
  target.shared.banks = 32;
  target.shared.bankBytes = 4;
  target.shared.phases = phases();
  target.async.asyncCopy = true; // [PTX] cp.async and mbarrier: since sm_80
  target.async.mbarrier = true;
  target.async.splitBarrier = true; // bar.arrive and bar.sync
  target.caches = {{1, facts.l1KiB * KiB, 128, 1},
                   {2, facts.l2MiB * MiB, 128, facts.cores}};
  target.cores = facts.cores;
  target.clockGHz = facts.clockGHz;
  target.memoryGBs = facts.memoryGBs;
  return target;
}

} // namespace

void tracea::target::addNVIDIATargets(std::vector<TargetDescription> &targets) {
  // Before sm_80 the system takes no shared memory, and copies to it pass
  // through registers.
  auto withoutCopies = [](TargetDescription target) {
    target.shared.reservedPerWorkgroup = 0;
    target.shared.perWorkgroup = target.shared.perMultiprocessor;
    target.async.asyncCopy = false;
    target.async.mbarrier = false;
    return target;
  };
  // [V100] 128 KiB L1 and shared together, 6 MB L2. [PTX] m8n8k4 of f16 alone.
  TargetDescription sm70 = withoutCopies(
      base({"sm_70", "NVIDIA V100 SXM2", 96, 2048, 32, 80, 1.53, 900, 128, 6}));
  sm70.units = {{UnitKind::MMASync,
                 32,
                 {{8, 8, 4, E::F16, E::F32}, {8, 8, 4, E::F16, E::F16}}}};
  sm70.peaks = {{UnitKind::Vector, E::F32, 128},
                {UnitKind::Vector, E::F64, 64},
                {UnitKind::MMASync, E::F16, 1024}};
  targets.push_back(sm70);

  // [Turing] 96 KiB L1 and shared together, 4 MB L2.
  TargetDescription sm75 = withoutCopies(
      base({"sm_75", "NVIDIA T4", 64, 1024, 16, 40, 1.59, 320, 96, 4}));
  sm75.units = {{UnitKind::MMASync,
                 32,
                 {{16, 8, 8, E::F16, E::F32},
                  {16, 8, 8, E::F16, E::F16},
                  {8, 8, 16, E::I8, E::I32}}}};
  sm75.peaks = {{UnitKind::Vector, E::F32, 128},
                {UnitKind::Vector, E::F64, 4},
                {UnitKind::MMASync, E::F16, 1024},
                {UnitKind::MMASync, E::I8, 2048}};
  targets.push_back(sm75);

  // [A100] 192 KiB L1 and shared together, 40 MB L2.
  TargetDescription sm80 = base({"sm_80", "NVIDIA A100 SXM 40 GB", 164, 2048,
                                 32, 108, 1.41, 1555, 192, 40});
  sm80.units = {mmaSync(/*fp8=*/false)};
  sm80.peaks = {
      {UnitKind::Vector, E::F32, 128},   {UnitKind::Vector, E::F64, 64},
      {UnitKind::MMASync, E::F64, 128},  {UnitKind::MMASync, E::TF32, 1024},
      {UnitKind::MMASync, E::F16, 2048}, {UnitKind::MMASync, E::BF16, 2048},
      {UnitKind::MMASync, E::I8, 4096}};
  targets.push_back(sm80);

  // [GA102] 128 KiB L1 and shared together, 6 MB L2.
  TargetDescription sm86 = base({"sm_86", "NVIDIA GeForce RTX 3090", 100, 1536,
                                 16, 82, 1.695, 936, 128, 6});
  sm86.units = {mmaSync(/*fp8=*/false)};
  sm86.peaks = {{UnitKind::Vector, E::F32, 256},
                {UnitKind::MMASync, E::TF32, 256},
                {UnitKind::MMASync, E::F16, 512},
                {UnitKind::MMASync, E::BF16, 512},
                {UnitKind::MMASync, E::I8, 2048}};
  targets.push_back(sm86);

  // [Ada] 72 MB L2.
  TargetDescription sm89 = base({"sm_89", "NVIDIA GeForce RTX 4090", 100, 1536,
                                 24, 128, 2.52, 1008, 128, 72});
  sm89.units = {mmaSync(/*fp8=*/true, /*sumDigits=*/14)};
  sm89.peaks = {{UnitKind::Vector, E::F32, 256},
                {UnitKind::MMASync, E::TF32, 256},
                {UnitKind::MMASync, E::F16, 512},
                {UnitKind::MMASync, E::BF16, 512},
                {UnitKind::MMASync, E::F8E4M3FN, 1024},
                {UnitKind::MMASync, E::F8E5M2, 1024},
                {UnitKind::MMASync, E::I8, 2048}};
  targets.push_back(sm89);

  // [H100] 256 KiB L1 and shared together, 50 MB L2; tensor
  // rates are quoted at 1830 MHz. wgmma and setmaxnreg need the "a" target.
  TargetDescription sm90 = base(
      {"sm_90a", "NVIDIA H100 SXM5", 228, 2048, 32, 132, 1.83, 3352, 256, 50});
  sm90.units = {wgmma(), mmaSync(/*fp8=*/true)};
  sm90.async.bulkCopy = true;           // [PTX] cp.async.bulk: since sm_90
  sm90.async.setMaxRegisters = true;    // [PTX] setmaxnreg: sm_90a
  sm90.async.programmaticLaunch = true; // [PTX] griddepcontrol: since sm_90
  sm90.async.maxClusterSize = 8; // [CUDA] "Thread Block Clusters": portable
  sm90.peaks = {
      {UnitKind::Vector, E::F32, 256},      {UnitKind::Vector, E::F64, 128},
      {UnitKind::MMASync, E::F64, 256},     {UnitKind::WGMMA, E::TF32, 2048},
      {UnitKind::WGMMA, E::F16, 4096},      {UnitKind::WGMMA, E::BF16, 4096},
      {UnitKind::WGMMA, E::F8E4M3FN, 8192}, {UnitKind::WGMMA, E::F8E5M2, 8192},
      {UnitKind::WGMMA, E::I8, 8192}};
  targets.push_back(sm90);

  // [B200] 256 KiB L1 and shared together. The large unit of these GPUs,
  // tcgen05 with tensor memory, is no unit of this table: nothing is lowered to
  // it. What `mma.sync` reaches of f16 is not published. Code for it runs on
  // 10.3 (B300) as well, where arithmetic of f64 is slower.
  TargetDescription sm100 = base(
      {"sm_100", "NVIDIA B200", 228, 2048, 32, 148, 1.965, 7672, 256, 126});
  sm100.units = {mmaSync(/*fp8=*/true)};
  sm100.async.bulkCopy = true;
  sm100.async.programmaticLaunch = true;
  sm100.async.maxClusterSize = 8;
  sm100.peaks = {{UnitKind::Vector, E::F32, 256},
                 {UnitKind::Vector, E::F64, 128},
                 {UnitKind::MMASync, E::F64, 128}};
  targets.push_back(sm100);

  // [Blackwell] 96 MB L2. No wgmma; bulk copies are there.
  TargetDescription sm120 = base({"sm_120", "NVIDIA GeForce RTX 5090", 100,
                                  1536, 0, 170, 2.407, 1792, 128, 96});
  sm120.units = {mmaSync(/*fp8=*/true)};
  sm120.async.bulkCopy = true;
  sm120.async.programmaticLaunch = true;
  sm120.peaks = {{UnitKind::Vector, E::F32, 256},
                 {UnitKind::MMASync, E::TF32, 256},
                 {UnitKind::MMASync, E::F16, 512},
                 {UnitKind::MMASync, E::BF16, 512},
                 {UnitKind::MMASync, E::F8E4M3FN, 1024},
                 {UnitKind::MMASync, E::F8E5M2, 1024},
                 {UnitKind::MMASync, E::I8, 2048}};
  targets.push_back(sm120);
}
