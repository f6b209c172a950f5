//===- X86.cpp - x86-64 levels and processors -----------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Feature lists name what LLVM may emit on its own for a CPU; instructions that
// only intrinsics reach (AES, SHA, ...) are left out. Core counts, clocks and
// bandwidths differ from product to product and are left unknown: the host
// fills in its own.
//
// Sources, by the short names used below:
//   [psABI]   System V ABI for AMD64, microarchitecture levels.
//   [SDM]     Intel 64 and IA-32 SDM volume 1: programming with SSE, AVX and
//             AVX-512 (registers, opmasks).
//   [IntelOpt] Intel 64 and IA-32 Architectures Optimization Reference Manual
//             (each microarchitecture's ports and caches; Intel AMX).
//   [AMD17h]  AMD Software Optimization Guide for family 17h models 30h+.
//   [AMD19h]  AMD Software Optimization Guide for family 19h (Zen 3; Zen 4's
//             edition is publication 57647): caches, floating-point unit.
//   [AMD1Ah]  AMD Software Optimization Guide for family 1Ah (58455).
//
//===----------------------------------------------------------------------===//
#include "Tables.h"

using namespace tracea::target;

namespace {

using Features = std::vector<std::string>;

Features operator+(Features lhs, const Features &rhs) {
  lhs.insert(lhs.end(), rhs.begin(), rhs.end());
  return lhs;
}

// [psABI]
Features levelV2() {
  return {"cx16", "popcnt", "sahf",   "sse",   "sse2",
          "sse3", "ssse3",  "sse4.1", "sse4.2"};
}
Features levelV3() {
  return levelV2() + Features{"avx", "avx2",  "bmi",   "bmi2", "f16c",
                              "fma", "lzcnt", "movbe", "xsave"};
}
Features levelV4() {
  return levelV3() +
         Features{"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"};
}
// What Ice Lake added, and every AVX-512 core since ([IntelOpt], [AMD19h]).
Features avx512Second() {
  return {"avx512ifma",   "avx512vbmi",      "avx512vbmi2", "avx512vnni",
          "avx512bitalg", "avx512vpopcntdq", "gfni"};
}

TargetDescription base(std::string name, Features features) {
  TargetDescription target;
  target.name = name;
  target.kind = TargetKind::CPU;
  target.arch = "x86_64";
  target.triple = "x86_64-unknown-linux-gnu";
  target.cpu = std::move(name);
  target.features = std::move(features);
  return target;
}

// [SDM] 16 registers of 128 or 256 bits; 32 of 512 and 8
// opmask registers.
VectorUnit sse() {
  VectorUnit unit;
  unit.bits = 128;
  unit.registers = 16;
  unit.int8Dot = true; // PMADDWD, which every x86-64 has
  return unit;
}
VectorUnit avx2(int perCycle, int latency) {
  VectorUnit unit;
  unit.bits = 256;
  unit.registers = 16;
  unit.int8Dot = true;
  unit.fma = true;
  unit.fmaPerCycle = perCycle;
  unit.fmaLatency = latency;
  return unit;
}
VectorUnit avx512(int perCycle, int latency) {
  VectorUnit unit = avx2(perCycle, latency);
  unit.bits = 512;
  unit.registers = 32;
  unit.maskRegisters = 8;
  return unit;
}

} // namespace

void tracea::target::addX86Targets(std::vector<TargetDescription> &targets) {
  auto add = [&](TargetDescription target) {
    deriveVectorFacts(target);
    targets.push_back(std::move(target));
  };

  // The levels stand for many machines: throughput and caches are unknown.
  TargetDescription v2 = base("x86-64-v2", levelV2());
  v2.vector = sse();
  add(v2);
  TargetDescription v3 = base("x86-64-v3", levelV3());
  v3.vector = avx2(0, 0);
  add(v3);
  TargetDescription v4 = base("x86-64-v4", levelV4());
  v4.vector = avx512(0, 0);
  add(v4);

  // [IntelOpt] Haswell: FMA on ports 0 and 1, 5 cycles; 32 KiB L1D, 256 KiB L2.
  TargetDescription haswell = base("haswell", levelV3());
  haswell.vector = avx2(2, 5);
  haswell.caches = {{1, 32 * KiB, 64, 1}, {2, 256 * KiB, 64, 1}};
  add(haswell);

  // [IntelOpt] Skylake client: FMA 4 cycles; caches as Haswell.
  TargetDescription skylake = base("skylake", levelV3() + Features{"prfchw"});
  skylake.vector = avx2(2, 4);
  skylake.caches = {{1, 32 * KiB, 64, 1}, {2, 256 * KiB, 64, 1}};
  add(skylake);

  // [IntelOpt] Skylake server: 512-bit FMA on port 0 (fused with 1) and, on
  // the parts counted here, port 5; L2 1 MiB; L3 1.375 MiB a core, sliced.
  TargetDescription skx =
      base("skylake-avx512", levelV4() + Features{"prfchw"});
  skx.vector = avx512(2, 4);
  skx.caches = {{1, 32 * KiB, 64, 1}, {2, 1 * MiB, 64, 1}};
  add(skx);

  // Cascade Lake adds VNNI on the FMA ports ([IntelOpt], "Intel DL Boost").
  TargetDescription clx =
      base("cascadelake", levelV4() + Features{"prfchw", "avx512vnni"});
  clx.vector = skx.vector;
  clx.vector.int8DotPerCycle = 2;
  clx.caches = skx.caches;
  add(clx);

  // Cooper Lake is Cascade Lake with AVX512_BF16 ([IntelOpt]): all that
  // programs with dot products of both kinds need of a machine. Intel states no
  // rate; this is Sapphire Rapids', below.
  TargetDescription cpx = base("cooperlake", clx.features);
  cpx.features.push_back("avx512bf16");
  cpx.vector = clx.vector;
  cpx.vector.bf16Dot = true;
  cpx.vector.bf16DotPerCycle = 0.5;
  cpx.caches = clx.caches;
  add(cpx);

  // [IntelOpt] Ice Lake server: 48 KiB L1D, 1.25 MiB L2.
  TargetDescription icx =
      base("icelake-server", levelV4() + avx512Second() + Features{"prfchw"});
  icx.vector = clx.vector;
  icx.caches = {{1, 48 * KiB, 64, 1}, {2, 1280 * KiB, 64, 1}};
  add(icx);

  // [IntelOpt] Golden Cove server: 48 KiB L1D, 2 MiB L2, FMA 4 cycles. AMX: 8
  // tiles of 16 rows x 64 bytes; 1024 bf16 and 2048 int8 operations a cycle
  // ([IntelOpt]). A process must ask the system for tile
  // data before it uses AMX.
  TargetDescription spr =
      base("sapphirerapids",
           levelV4() + avx512Second() +
               Features{"prfchw", "avx512bf16", "avx512fp16", "avxvnni",
                        "amx-tile", "amx-bf16", "amx-int8"});
  spr.vector = icx.vector;
  // AVX512_BF16: Intel states no rate. One in two cycles was measured on model
  // CFh: half the products of f32 multiply-adds.
  spr.vector.bf16Dot = true;
  spr.vector.bf16DotPerCycle = 0.5;
  spr.vector.fp16 = true; // AVX512_FP16
  spr.caches = {{1, 48 * KiB, 64, 1}, {2, 2 * MiB, 64, 1}};
  spr.units.push_back({UnitKind::AMX,
                       1,
                       {{16, 16, 32, ElementType::BF16, ElementType::F32},
                        {16, 16, 64, ElementType::I8, ElementType::I32}}});
  spr.peaks = {{UnitKind::AMX, ElementType::BF16, 1024},
               {UnitKind::AMX, ElementType::I8, 2048}};
  add(spr);

  // [IntelOpt] Golden Cove client, without AVX-512: FMA on ports 0 and 1, and
  // VNNI there in its VEX form; 48 KiB L1D, 1.25 MiB L2.
  TargetDescription adl =
      base("alderlake", levelV3() + Features{"prfchw", "gfni", "avxvnni"});
  adl.vector = avx2(2, 4);
  adl.vector.int8DotPerCycle = 2;
  adl.caches = {{1, 48 * KiB, 64, 1}, {2, 1280 * KiB, 64, 1}};
  add(adl);

  // [AMD17h] Zen 2: two 256-bit FMA pipes, 5 cycles; 32 KiB L1D, 512 KiB L2,
  // 16 MiB L3 a complex of 4 cores.
  Features zen = levelV3() + Features{"prfchw", "sse4a"};
  TargetDescription zen2 = base("znver2", zen);
  zen2.vector = avx2(2, 5);
  zen2.caches = {
      {1, 32 * KiB, 64, 1}, {2, 512 * KiB, 64, 1}, {3, 16 * MiB, 64, 4}};
  add(zen2);

  // [AMD19h] Zen 3: FMA 4 cycles; 32 MiB L3 a complex of 8 cores. Of VPMADDWD
  // with a VPADDD behind it 1.6 a cycle were measured on model 1h.
  TargetDescription zen3 = base("znver3", zen);
  zen3.vector = avx2(2, 4);
  zen3.vector.int8DotPerCycle = 1.6;
  zen3.caches = {
      {1, 32 * KiB, 64, 1}, {2, 512 * KiB, 64, 1}, {3, 32 * MiB, 64, 8}};
  add(zen3);

  // [AMD19h] (57647) Zen 4: 512-bit instructions take two passes of the
  // 256-bit pipes, hence one FMA a cycle; L2 1 MiB. The dot products' rates
  // (one a cycle each) and FMA's 4 cycles were measured too, on family 19h
  // model 11h.
  Features zen4Features =
      levelV4() + avx512Second() + Features{"prfchw", "sse4a", "avx512bf16"};
  TargetDescription zen4 = base("znver4", zen4Features);
  zen4.vector = avx512(1, 4);
  zen4.vector.bf16Dot = true;
  zen4.vector.bf16DotPerCycle = zen4.vector.int8DotPerCycle = 1;
  zen4.caches = {
      {1, 32 * KiB, 64, 1}, {2, 1 * MiB, 64, 1}, {3, 32 * MiB, 64, 8}};
  add(zen4);

  // [AMD1Ah] Zen 5 with the full 512-bit data path: two FMA a cycle, 48 KiB
  // L1D. Dots were measured at two a cycle: bf16 at twice the f32 rate, 8-bit
  // integers at four times.
  TargetDescription zen5 = base("znver5", zen4Features + Features{"avxvnni"});
  zen5.vector = avx512(2, 4);
  zen5.vector.bf16Dot = true;
  zen5.vector.bf16DotPerCycle = zen5.vector.int8DotPerCycle = 2;
  zen5.caches = {
      {1, 48 * KiB, 64, 1}, {2, 1 * MiB, 64, 1}, {3, 32 * MiB, 64, 8}};
  add(zen5);
}
