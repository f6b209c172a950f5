//===- CPUDeviceTest.cpp - What is special about the CPU driver -----------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Detection, thread counts and the choice of a driver.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/CPU/CPUDevice.h"
#include "tracea/Runtime/CPU/HostCPU.h"

#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sstream>
#include <thread>

using namespace tracea::runtime;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {
/// Sets an environment variable for one scope.
class Environment {
public:
  Environment(const char *name, const char *value) : name(name) {
    if (const char *before = std::getenv(name))
      old = before;
    ::setenv(name, value, 1);
  }
  ~Environment() {
    if (old.empty())
      ::unsetenv(name);
    else
      ::setenv(name, old.c_str(), 1);
  }

private:
  const char *name;
  std::string old;
};
} // namespace

TEST(HostCPU, AgreesWithTheKernel) {
  HostCPU host = detectHostCPU();
  EXPECT_FALSE(host.name.empty());
  EXPECT_TRUE(std::is_sorted(host.features.begin(), host.features.end()));
  EXPECT_FALSE(host.has("no-such-feature"));
  if (host.arch != "x86_64")
    GTEST_SKIP() << "the names of /proc/cpuinfo below are those of x86-64";
  std::ifstream file("/proc/cpuinfo");
  std::string word, line;
  while (std::getline(file, line) && line.rfind("flags", 0) != 0) {
  }
  std::istringstream words(line);
  std::vector<std::string> flags;
  while (words >> word)
    flags.push_back(word);
  if (flags.empty())
    GTEST_SKIP() << "/proc/cpuinfo lists no flags";
  static constexpr const char *names[][2] = {{"sse2", "sse2"},
                                             {"sse4_2", "sse4.2"},
                                             {"avx", "avx"},
                                             {"avx2", "avx2"},
                                             {"fma", "fma"},
                                             {"f16c", "f16c"},
                                             {"bmi1", "bmi"},
                                             {"bmi2", "bmi2"},
                                             {"avx512f", "avx512f"},
                                             {"avx512bw", "avx512bw"},
                                             {"avx512vl", "avx512vl"},
                                             {"avx512_bf16", "avx512bf16"},
                                             {"avx512_vnni", "avx512vnni"},
                                             {"avx512_fp16", "avx512fp16"},
                                             {"avx_vnni", "avxvnni"},
                                             {"amx_tile", "amx-tile"},
                                             {"amx_bf16", "amx-bf16"},
                                             {"amx_int8", "amx-int8"},
                                             {"popcnt", "popcnt"},
                                             {"abm", "lzcnt"},
                                             {"lahf_lm", "sahf"},
                                             {"vaes", "vaes"}};
  for (const auto &[kernel, llvm] : names)
    EXPECT_EQ(host.has(llvm),
              std::find(flags.begin(), flags.end(), kernel) != flags.end())
        << llvm;
}

TEST(HostCPU, AsksForTiles) {
  EXPECT_TRUE(requestFeatures({}).ok());
  EXPECT_TRUE(requestFeatures({"avx2", "no-such-feature"}).ok());
  HostCPU host = detectHostCPU();
  if (host.arch != "x86_64")
    GTEST_SKIP() << "tiles of x86-64 processors";
  // What there is not the system does not give, and the error names it; twice
  // is as good as once.
  for (int i = 0; i < 2; ++i) {
    Status status = requestFeatures({"avx2", "amx-bf16"});
    EXPECT_EQ(status.ok(), host.has("amx-tile")) << status.message();
    if (!status.ok())
      EXPECT_THAT(status.message(), HasSubstr("amx-tile"));
  }
}

TEST(HostCPU, ReadsAArch64Features) {
  // A Neoverse V1 has fp, asimd, asimdhp, asimddp and sve; i8mm and bf16.
  EXPECT_THAT(readAArch64Features(1 | 1 << 1 | 1 << 10 | 1 << 20 | 1 << 22,
                                  1 << 13 | 1 << 14),
              ElementsAre("bf16", "dotprod", "fp-armv8", "fullfp16", "i8mm",
                          "neon", "sve"));
  EXPECT_TRUE(readAArch64Features(0, 0).empty());
  // Bits without a name, and the same bit of the other word.
  EXPECT_THAT(readAArch64Features(1 << 2, 1 << 1), ElementsAre("sve2"));
}

TEST(CPUDevice, ThreadCounts) {
  CPUDeviceOptions options;
  options.threads = 3;
  EXPECT_EQ((*createCPUDevice(options))->info().parallelism, 3);
  options.threads = -1;
  EXPECT_THAT(createCPUDevice(options).message(), HasSubstr("found -1"));
  {
    Environment set("TRACEA_NUM_THREADS", "5");
    EXPECT_EQ((*createCPUDevice())->info().parallelism, 5);
    options.threads = 2;
    EXPECT_EQ((*createCPUDevice(options))->info().parallelism, 2);
  }
  for (const char *bad : {"0", "-2", "many", "4x", "99999999999999999999"}) {
    Environment set("TRACEA_NUM_THREADS", bad);
    EXPECT_THAT(createCPUDevice().message(),
                HasSubstr("TRACEA_NUM_THREADS: expected 1 to"))
        << bad;
  }
  Environment empty("TRACEA_NUM_THREADS", "");
  EXPECT_EQ((*createCPUDevice())->info().parallelism, countUsableProcessors());
}

TEST(CPUDevice, HonoursTheAffinityMask) {
  int restricted = 0;
  std::thread([&] {
    cpu_set_t all, one;
    CPU_ZERO(&all);
    CPU_ZERO(&one);
    if (::sched_getaffinity(0, sizeof all, &all) != 0)
      return;
    for (int i = 0; i < CPU_SETSIZE; ++i)
      if (CPU_ISSET(i, &all)) {
        CPU_SET(i, &one);
        break;
      }
    if (::sched_setaffinity(0, sizeof one, &one) == 0)
      restricted = countUsableProcessors();
  }).join();
  EXPECT_EQ(restricted, 1);
}

TEST(CPUDevice, IsOpenedByKind) {
  DeviceOptions options;
  options.threads = 1;
  Expected<std::shared_ptr<Device>> device = openDevice("cpu", options);
  ASSERT_TRUE(device) << device.message();
  EXPECT_EQ((*device)->info().kind, "cpu");
  EXPECT_TRUE((*device)->info().hostAccessible);
  EXPECT_THAT(openDevice("tpu").message(),
              HasSubstr("no driver for the target kind \"tpu\""));
}
