//===- AMDGPU.cpp - AMD GPUs by processor name ----------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sources, by the short names used below:
//   [MI200] [MI300]  "AMD Instinct MI200 / MI300 Instruction Set Architecture",
//           chapter "Matrix Arithmetic Instructions" (MFMA shapes) and
//           "Data Share" (LDS: 64 KiB, 32 banks of 4 bytes).
//   [CDNA2] [CDNA3]  the white papers of these architectures (rates a compute
//           unit, caches) and the data sheets of MI250X and MI300X.
//   [RDNA3] [RDNA4]  "RDNA3 / RDNA4 Instruction Set Architecture": "Matrix
//           (WMMA)", "Data Share" (128 KiB a workgroup processor, 64 KiB a
//           workgroup).
//   [Spec]  product pages of Radeon RX 7900 XTX and RX 9070 XT.
//   [LLVM]  AMDGPU back end user guide: wavefront sizes, workgroup limits.
//   [CK]    ROCm Composable Kernel documentation, "LDS bank conflicts", and
//           public measurements on gfx942, for the phases of LDS accesses. A
//           16-byte read of gfx942 serves lanes {0..3, 20..23} together, the
//           span of the masks 1, 2 and 20. Assumed, not published: the
//           phases of 8-byte writes, and those of RDNA but for 16-byte reads.
//
// Peaks are the data sheet's dense rate over compute units and peak clock.
//
//===----------------------------------------------------------------------===//
#include "Tables.h"

using namespace tracea::target;

namespace {

using E = ElementType;

// Narrow accesses of 2^5 and 2^4 consecutive lanes fill 32 banks once.
std::vector<AccessPhase> phases(std::vector<unsigned> read16) {
  std::vector<AccessPhase> result;
  for (SharedAccessKind access :
       {SharedAccessKind::Read, SharedAccessKind::Write}) {
    result.push_back({4, access, {1, 2, 4, 8, 16}, {}, {}});
    result.push_back({8, access, {1, 2, 4, 8}, {}, {}});
  }
  result.push_back({16, SharedAccessKind::Read, std::move(read16), {}, {}});
  result.push_back({16, SharedAccessKind::Write, {1, 2, 4}, {}, {}});
  return result;
}

TargetDescription base(const char *name, const char *product, int wave,
                       int cores, double clockGHz, double memoryGBs) {
  TargetDescription target;
  target.name = target.cpu = name;
  target.product = product;
  target.kind = TargetKind::ROCm;
  target.arch = "amdgcn";
  target.triple = "amdgcn-amd-amdhsa";
  target.vector.bits = 128; // global_load_dwordx4
  target.occupancy.subgroupSize = wave;
  target.occupancy.maxThreadsPerWorkgroup = 1024; // [LLVM]
  target.occupancy.barriersPerWorkgroup = 1;      // s_barrier
  target.shared.perWorkgroup = 64 * KiB;
  target.shared.banks = 32;
  target.shared.bankBytes = 4;
  target.cores = cores;
  target.clockGHz = clockGHz;
  target.memoryGBs = memoryGBs;
  return target;
}

// CDNA: [MI200], [MI300]: 4 SIMDs with 512 vector registers (half of them
// accumulators) of 64 lanes each; at most 8 waves a SIMD.
TargetDescription cdna(const char *name, const char *product, int cores,
                       double clockGHz, double memoryGBs) {
  TargetDescription target =
      base(name, product, /*wave=*/64, cores, clockGHz, memoryGBs);
  target.occupancy.registersPerMultiprocessor = 4 * 512 * 64;
  target.occupancy.maxRegistersPerThread = 512;
  target.occupancy.maxThreadsPerMultiprocessor = 4 * 8 * 64;
  target.shared.perMultiprocessor = 64 * KiB;
  target.async.directToSharedBytes = 4; // buffer and global loads to LDS
  return target;
}

// RDNA: a compute unit is half of a workgroup processor; LDS belongs to the
// whole. Native waves have 32 lanes; a thread names 256 vector registers.
TargetDescription rdna(const char *name, const char *product, int cores,
                       double clockGHz, double memoryGBs) {
  TargetDescription target =
      base(name, product, /*wave=*/32, cores, clockGHz, memoryGBs);
  target.occupancy.maxRegistersPerThread = 256;
  target.shared.perMultiprocessor = 128 * KiB;
  return target;
}

} // namespace

void tracea::target::addAMDGPUTargets(std::vector<TargetDescription> &targets) {
  // One of MI250X's two dies: 110 compute units, 8 MB L2, half the bandwidth.
  TargetDescription gfx90a =
      cdna("gfx90a", "AMD Instinct MI250X, one die", 110, 1.7, 1638);
  // [MI200] V_MFMA_*; bf16 by the _1K forms.
  gfx90a.units = {{UnitKind::MFMA,
                   64,
                   {{32, 32, 8, E::F16, E::F32},
                    {16, 16, 16, E::F16, E::F32},
                    {32, 32, 8, E::BF16, E::F32},
                    {16, 16, 16, E::BF16, E::F32},
                    {32, 32, 2, E::F32, E::F32},
                    {16, 16, 4, E::F32, E::F32},
                    {32, 32, 8, E::I8, E::I32},
                    {16, 16, 16, E::I8, E::I32},
                    {16, 16, 4, E::F64, E::F64}}}};
  gfx90a.caches = {{1, 16 * KiB, 64, 1}, {2, 8 * MiB, 128, 110}};
  gfx90a.peaks = {
      {UnitKind::Vector, E::F32, 128}, {UnitKind::Vector, E::F64, 128},
      {UnitKind::MFMA, E::F32, 256},   {UnitKind::MFMA, E::F64, 256},
      {UnitKind::MFMA, E::F16, 1024},  {UnitKind::MFMA, E::BF16, 1024},
      {UnitKind::MFMA, E::I8, 1024}};
  // The phases of LDS accesses are not published for this processor.
  targets.push_back(gfx90a);

  // 8 dies of 38 units with 4 MB L2 each; 256 MB Infinity Cache. FP8 is FNUZ.
  TargetDescription gfx942 =
      cdna("gfx942", "AMD Instinct MI300X", 304, 2.1, 5300);
  gfx942.units = {{UnitKind::MFMA,
                   64,
                   {{32, 32, 8, E::F16, E::F32},
                    {16, 16, 16, E::F16, E::F32},
                    {32, 32, 8, E::BF16, E::F32},
                    {16, 16, 16, E::BF16, E::F32},
                    {32, 32, 4, E::TF32, E::F32}, // XF32
                    {16, 16, 8, E::TF32, E::F32},
                    {32, 32, 2, E::F32, E::F32},
                    {16, 16, 4, E::F32, E::F32},
                    {32, 32, 16, E::F8E4M3FNUZ, E::F32},
                    {16, 16, 32, E::F8E4M3FNUZ, E::F32},
                    {32, 32, 16, E::F8E5M2FNUZ, E::F32},
                    {16, 16, 32, E::F8E5M2FNUZ, E::F32},
                    {32, 32, 16, E::I8, E::I32},
                    {16, 16, 32, E::I8, E::I32},
                    {16, 16, 4, E::F64, E::F64}}}};
  gfx942.shared.phases = phases({1, 2, 20}); // [CK]
  gfx942.caches = {
      {1, 32 * KiB, 128, 1}, {2, 4 * MiB, 128, 38}, {3, 256 * MiB, 0, 304}};
  gfx942.peaks = {{UnitKind::Vector, E::F32, 256},
                  {UnitKind::Vector, E::F64, 128},
                  {UnitKind::MFMA, E::F32, 256},
                  {UnitKind::MFMA, E::F64, 256},
                  {UnitKind::MFMA, E::TF32, 1024},
                  {UnitKind::MFMA, E::F16, 2048},
                  {UnitKind::MFMA, E::BF16, 2048},
                  {UnitKind::MFMA, E::F8E4M3FNUZ, 4096},
                  {UnitKind::MFMA, E::F8E5M2FNUZ, 4096},
                  {UnitKind::MFMA, E::I8, 4096}};
  targets.push_back(gfx942);

  // [RDNA3] WMMA: 16x16x16 only. [Spec]: 96 MB Infinity Cache, 6 MB L2.
  TargetDescription gfx1100 =
      rdna("gfx1100", "AMD Radeon RX 7900 XTX", 96, 2.5, 960);
  gfx1100.units = {{UnitKind::WMMA,
                    32,
                    {{16, 16, 16, E::F16, E::F32},
                     {16, 16, 16, E::F16, E::F16},
                     {16, 16, 16, E::BF16, E::F32},
                     {16, 16, 16, E::BF16, E::BF16},
                     {16, 16, 16, E::I8, E::I32},
                     {16, 16, 16, E::I4, E::I32}}}};
  gfx1100.shared.phases = phases({1, 2, 20});
  gfx1100.caches = {{2, 6 * MiB, 0, 96}, {3, 96 * MiB, 0, 96}};
  gfx1100.peaks = {{UnitKind::Vector, E::F32, 256},
                   {UnitKind::WMMA, E::F16, 512},
                   {UnitKind::WMMA, E::BF16, 512}};
  targets.push_back(gfx1100);

  // [RDNA4] WMMA: fp8 and bf8 (OCP) join. Split barriers: s_barrier_signal
  // and s_barrier_wait. [Spec]: 64 MB Infinity Cache, 8 MB L2.
  TargetDescription gfx1201 =
      rdna("gfx1201", "AMD Radeon RX 9070 XT", 64, 2.97, 640);
  gfx1201.units = {{UnitKind::WMMA,
                    32,
                    {{16, 16, 16, E::F16, E::F32},
                     {16, 16, 16, E::F16, E::F16},
                     {16, 16, 16, E::BF16, E::F32},
                     {16, 16, 16, E::BF16, E::BF16},
                     {16, 16, 16, E::F8E4M3FN, E::F32},
                     {16, 16, 16, E::F8E5M2, E::F32},
                     {16, 16, 16, E::I8, E::I32},
                     {16, 16, 32, E::I4, E::I32},
                     {16, 16, 16, E::I4, E::I32}}}};
  gfx1201.async.splitBarrier = true;
  gfx1201.shared.phases = phases({1, 2, 4});
  gfx1201.caches = {{2, 8 * MiB, 0, 64}, {3, 64 * MiB, 0, 64}};
  gfx1201.peaks = {
      {UnitKind::Vector, E::F32, 256},   {UnitKind::WMMA, E::F16, 1024},
      {UnitKind::WMMA, E::BF16, 1024},   {UnitKind::WMMA, E::F8E4M3FN, 2048},
      {UnitKind::WMMA, E::F8E5M2, 2048}, {UnitKind::WMMA, E::I8, 2048}};
  targets.push_back(gfx1201);
}
