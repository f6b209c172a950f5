//===- HostTest.cpp - Host detection --------------------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tracea/TargetInfo/Host.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <fstream>
#include <thread>

using namespace tracea::target;
using testing::Contains;

namespace {

TEST(Host, NamesByFamilyAndModel) {
  EXPECT_EQ(x86EntryFor("AuthenticAMD", 0x19, 0x11, 1), "znver4");
  EXPECT_EQ(x86EntryFor("AuthenticAMD", 0x19, 0x01, 1), "znver3");
  EXPECT_EQ(x86EntryFor("AuthenticAMD", 0x19, 0x61, 2), "znver4");
  EXPECT_EQ(x86EntryFor("AuthenticAMD", 0x17, 0x31, 0), "znver2");
  EXPECT_EQ(x86EntryFor("AuthenticAMD", 0x17, 0x01, 0), "");
  EXPECT_EQ(x86EntryFor("AuthenticAMD", 0x1a, 0x02, 0), "znver5");
  EXPECT_EQ(x86EntryFor("GenuineIntel", 6, 0x8f, 8), "sapphirerapids");
  EXPECT_EQ(x86EntryFor("GenuineIntel", 6, 0x97, 2), "alderlake");
  EXPECT_EQ(x86EntryFor("GenuineIntel", 6, 0x55, 4), "skylake-avx512");
  EXPECT_EQ(x86EntryFor("GenuineIntel", 6, 0x55, 7), "cascadelake");
  EXPECT_EQ(x86EntryFor("GenuineIntel", 6, 0x55, 11), "cooperlake");
  EXPECT_EQ(x86EntryFor("GenuineIntel", 6, 0x0f, 7), "");
  EXPECT_EQ(x86EntryFor("SomebodyElse", 0x19, 0x11, 1), "");
  EXPECT_EQ(armEntryFor(0x41, 0xd40), "neoverse-v1");
  EXPECT_EQ(armEntryFor(0x41, 0xd0c), "neoverse-n1");
  EXPECT_EQ(armEntryFor(0x41, 0x001), "");
  EXPECT_EQ(armEntryFor(0x42, 0xd40), "");
}

TEST(Host, EveryNameIsInTheTables) {
  for (unsigned family = 0; family < 0x20; ++family)
    for (unsigned model = 0; model < 0x100; ++model)
      for (const char *vendor : {"AuthenticAMD", "GenuineIntel"})
        for (unsigned stepping : {0u, 7u}) {
          std::string name = x86EntryFor(vendor, family, model, stepping);
          if (!name.empty())
            EXPECT_TRUE(lookup(name).has_value()) << name;
        }
  for (unsigned part = 0; part < 0x1000; ++part) {
    std::string name = armEntryFor(0x41, part);
    if (!name.empty())
      EXPECT_TRUE(lookup(name).has_value()) << name;
  }
}

TEST(Host, CoresByFeatures) {
  // A processor that is newer than the tables, or whose name a hypervisor
  // hides.
  std::vector<std::string> newer = lookup("sapphirerapids")->features;
  newer.push_back("amx-fp16");
  EXPECT_EQ(x86CoreFor("GenuineIntel", newer), "sapphirerapids");
  EXPECT_EQ(x86CoreFor("AuthenticAMD", lookup("znver5")->features), "znver5");
  // A core that has more than is shown is none.
  std::vector<std::string> hidden = lookup("sapphirerapids")->features;
  hidden.erase(std::find(hidden.begin(), hidden.end(), "amx-tile"));
  EXPECT_EQ(x86CoreFor("GenuineIntel", hidden), "icelake-server");
  EXPECT_EQ(x86CoreFor("AuthenticAMD", lookup("haswell")->features), "");
  EXPECT_EQ(x86CoreFor("Somebody", newer), "");
  EXPECT_EQ(x86CoreFor("GenuineIntel", {}), "");
}

TEST(Host, LevelsByFeatures) {
  EXPECT_EQ(x86LevelFor(lookup("znver4")->features), "x86-64-v4");
  EXPECT_EQ(x86LevelFor(lookup("haswell")->features), "x86-64-v3");
  EXPECT_EQ(x86LevelFor(lookup("x86-64-v2")->features), "x86-64-v2");
  EXPECT_EQ(x86LevelFor({"sse", "sse2"}), "");
  EXPECT_EQ(x86LevelFor({}), "");
}

TEST(Host, IsSane) {
  TargetDescription host = detectHost();
  EXPECT_EQ(host.kind, TargetKind::CPU);
  EXPECT_FALSE(host.name.empty());
  std::vector<std::string> has = hostFeatures();
  for (const std::string &feature : host.features)
    EXPECT_THAT(has, Contains(feature));
  for (const std::string &feature : host.disabledFeatures)
    EXPECT_THAT(has, testing::Not(Contains(feature)));
#if defined(__linux__)
  EXPECT_GE(host.hardwareThreads, 1);
  EXPECT_LE(host.hardwareThreads,
            static_cast<int>(std::thread::hardware_concurrency()));
  EXPECT_GE(host.cores, 1);
  EXPECT_LE(host.cores, host.hardwareThreads);
  for (const CacheLevel &cache : host.caches) {
    EXPECT_GE(cache.bytes, 4096);
    EXPECT_GE(cache.level, 1);
  }
#endif
}

#if defined(__x86_64__) && defined(__linux__)
// The kernel's own opinion, by another way (flags of /proc/cpuinfo).
TEST(Host, AgreesWithTheKernel) {
  std::ifstream info("/proc/cpuinfo");
  std::string flags;
  for (std::string line; std::getline(info, line);)
    if (line.rfind("flags", 0) == 0) {
      flags = line + " ";
      break;
    }
  if (flags.empty())
    GTEST_SKIP() << "no flags in /proc/cpuinfo";
  const std::pair<const char *, const char *> names[] = {
      {"sse4.2", " sse4_2 "},
      {"avx2", " avx2 "},
      {"fma", " fma "},
      {"f16c", " f16c "},
      {"bmi2", " bmi2 "},
      {"lzcnt", " abm "},
      {"prfchw", " 3dnowprefetch "},
      {"sse4a", " sse4a "},
      {"gfni", " gfni "},
      {"avx512f", " avx512f "},
      {"avx512vl", " avx512vl "},
      {"avx512vnni", " avx512_vnni "},
      {"avx512bf16", " avx512_bf16 "},
      {"avx512vbmi2", " avx512_vbmi2 "},
      {"avx512fp16", " avx512_fp16 "},
      {"amx-tile", " amx_tile "}};
  std::vector<std::string> has = hostFeatures();
  for (const auto &[feature, flag] : names)
    EXPECT_EQ(std::find(has.begin(), has.end(), feature) != has.end(),
              flags.find(flag) != std::string::npos)
        << feature;
}
#endif

TEST(Host, Resolve) {
  ASSERT_TRUE(resolve("cpu").has_value());
  EXPECT_EQ(resolve("cpu")->name, detectHost().name);
  EXPECT_EQ(resolve("host")->features, detectHost().features);
  EXPECT_EQ(resolve("sm_90a")->kind, TargetKind::CUDA);
  EXPECT_FALSE(resolve("gpu").has_value());
}

} // namespace
