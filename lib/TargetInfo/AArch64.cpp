//===- AArch64.cpp - Arm processors ---------------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors are fixed 128-bit NEON registers; where a core has SVE its smallest
// width is noted beside them.
//
// Sources, by the short names used below:
//   [ArmARM]  Arm Architecture Reference Manual for A-profile: 32 vector
//             registers of 128 bits.
//   [N1]      Arm Neoverse N1 Software Optimization Guide (ASIMD FP multiply
//             accumulate), Technical Reference Manual (caches).
//   [V1] [N2] [V2]  the same guides for Neoverse V1, N2 and V2.
//
//===----------------------------------------------------------------------===//
#include "Tables.h"

using namespace tracea::target;

namespace {

TargetDescription base(std::string name, std::vector<std::string> features,
                       int fmaPerCycle) {
  TargetDescription target;
  target.name = name;
  target.kind = TargetKind::CPU;
  target.arch = "aarch64";
  target.triple = "aarch64-unknown-linux-gnu";
  target.cpu = std::move(name);
  target.features = std::move(features);
  target.vector.bits = 128;
  target.vector.registers = 32;
  target.vector.fma = true;
  target.vector.fmaPerCycle = fmaPerCycle;
  // 4 cycles on every core below; 2 between the accumulators of a chain.
  target.vector.fmaLatency = fmaPerCycle == 0 ? 0 : 4;
  return target;
}

} // namespace

void tracea::target::addAArch64Targets(
    std::vector<TargetDescription> &targets) {
  auto add = [&](TargetDescription target) {
    deriveVectorFacts(target);
    targets.push_back(std::move(target));
  };

  // Any Armv8-A processor with Advanced SIMD.
  TargetDescription generic = base("armv8-a", {"fp-armv8", "neon"}, 0);
  generic.cpu = "generic";
  add(generic);

  // [N1] two V pipes; Armv8.2 with dot products and half precision; 64 KiB L1D.
  TargetDescription n1 = base(
      "neoverse-n1", {"fp-armv8", "neon", "dotprod", "fullfp16", "lse"}, 2);
  n1.vector.fp16 = n1.vector.int8Dot = true;
  n1.caches = {{1, 64 * KiB, 64, 1}};
  add(n1);

  // [V1] four V pipes for NEON; SVE of 256 bits on two of them; L2 to 1 MiB.
  TargetDescription v1 = base(
      "neoverse-v1",
      {"fp-armv8", "neon", "dotprod", "fullfp16", "lse", "bf16", "i8mm", "sve"},
      4);
  v1.vector.fp16 = v1.vector.int8Dot = v1.vector.bf16Dot = true;
  v1.vector.scalableBits = 256;
  v1.caches = {{1, 64 * KiB, 64, 1}, {2, 1 * MiB, 64, 1}};
  add(v1);

  // [N2] two V pipes, SVE2 of 128 bits.
  TargetDescription n2 = base("neoverse-n2",
                              {"fp-armv8", "neon", "dotprod", "fullfp16", "lse",
                               "bf16", "i8mm", "sve", "sve2"},
                              2);
  n2.vector.fp16 = n2.vector.int8Dot = n2.vector.bf16Dot = true;
  n2.vector.scalableBits = 128;
  n2.caches = {{1, 64 * KiB, 64, 1}};
  add(n2);

  // [V2] four V pipes, SVE2 of 128 bits.
  TargetDescription v2 = n2;
  v2.name = v2.cpu = "neoverse-v2";
  v2.vector.fmaPerCycle = 4;
  v2.units.clear();
  v2.peaks.clear();
  add(v2);
}
