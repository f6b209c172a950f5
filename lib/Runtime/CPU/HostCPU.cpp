//===- HostCPU.cpp - What the host's processor has ------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// x86-64 features are bits of CPUID leaves (Intel SDM volume 2, CPUID; AMD APM
// volume 3, appendix E) under the names that LLVM gives them; a feature with
// registers of its own counts only where XCR0 says that the operating system
// saves them. AArch64 features are bits of the auxiliary vector (Linux, ELF
// hwcaps of ARM64), which the kernel clears for what it does not support.
//
// Linux saves the tiles of AMX only for processes that have asked for it
// (Documentation/arch/x86/xstate.rst): their registers are large.
//
//===----------------------------------------------------------------------===//

#include "tracea/Runtime/CPU/HostCPU.h"

#include "tracea/Runtime/CPU/CPUQuota.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <thread>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace tracea::runtime {

bool HostCPU::has(const std::string &feature) const {
  return std::binary_search(features.begin(), features.end(), feature);
}

static int countAffinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
    return CPU_COUNT(&set);
  // More processors than a cpu_set_t holds, or no such call.
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

int countUsableProcessors() {
  int count = countAffinity();
  std::ifstream file("/proc/self/cgroup");
  std::stringstream groups;
  groups << file.rdbuf();
  if (std::optional<int> quota = readCPUQuota(groups.str(), "/sys/fs/cgroup"))
    count = std::min(count, *quota);
  return count;
}

std::vector<std::string> readAArch64Features(uint64_t first, uint64_t second) {
  static constexpr struct {
    int word;
    int bit;
    const char *name;
  } table[] = {{0, 0, "fp-armv8"},   {0, 1, "neon"},  {0, 3, "aes"},
               {0, 6, "sha2"},       {0, 7, "crc"},   {0, 8, "lse"},
               {0, 10, "fullfp16"},  {0, 12, "rdm"},  {0, 13, "jsconv"},
               {0, 14, "complxnum"}, {0, 15, "rcpc"}, {0, 17, "sha3"},
               {0, 20, "dotprod"},   {0, 22, "sve"},  {0, 23, "fp16fml"},
               {1, 1, "sve2"},       {1, 13, "i8mm"}, {1, 14, "bf16"},
               {1, 23, "sme"}};
  std::vector<std::string> features;
  for (const auto &feature : table)
    if ((feature.word == 0 ? first : second) >> feature.bit & 1)
      features.push_back(feature.name);
  std::sort(features.begin(), features.end());
  return features;
}

#if defined(__x86_64__)

namespace {

enum Register { EAX, EBX, ECX, EDX };
/// Which registers the operating system must save for a feature.
enum State { None, AVX, AVX512, AMX };

struct Feature {
  const char *name;
  uint32_t leaf;
  uint32_t subleaf;
  Register reg;
  int bit;
  State state;
};

constexpr Feature table[] = {
    {"x87", 1, 0, EDX, 0, None},
    {"cx8", 1, 0, EDX, 8, None},
    {"cmov", 1, 0, EDX, 15, None},
    {"mmx", 1, 0, EDX, 23, None},
    {"fxsr", 1, 0, EDX, 24, None},
    {"sse", 1, 0, EDX, 25, None},
    {"sse2", 1, 0, EDX, 26, None},
    {"sse3", 1, 0, ECX, 0, None},
    {"pclmul", 1, 0, ECX, 1, None},
    {"ssse3", 1, 0, ECX, 9, None},
    {"fma", 1, 0, ECX, 12, AVX},
    {"cx16", 1, 0, ECX, 13, None},
    {"sse4.1", 1, 0, ECX, 19, None},
    {"sse4.2", 1, 0, ECX, 20, None},
    {"crc32", 1, 0, ECX, 20, None},
    {"movbe", 1, 0, ECX, 22, None},
    {"popcnt", 1, 0, ECX, 23, None},
    {"aes", 1, 0, ECX, 25, None},
    {"xsave", 1, 0, ECX, 27, None}, // OSXSAVE: enabled, not only present.
    {"avx", 1, 0, ECX, 28, AVX},
    {"f16c", 1, 0, ECX, 29, AVX},
    {"rdrnd", 1, 0, ECX, 30, None},
    {"fsgsbase", 7, 0, EBX, 0, None},
    {"sgx", 7, 0, EBX, 2, None},
    {"bmi", 7, 0, EBX, 3, None},
    {"avx2", 7, 0, EBX, 5, AVX},
    {"bmi2", 7, 0, EBX, 8, None},
    {"invpcid", 7, 0, EBX, 10, None},
    {"rtm", 7, 0, EBX, 11, None},
    {"avx512f", 7, 0, EBX, 16, AVX512},
    {"avx512dq", 7, 0, EBX, 17, AVX512},
    {"rdseed", 7, 0, EBX, 18, None},
    {"adx", 7, 0, EBX, 19, None},
    {"avx512ifma", 7, 0, EBX, 21, AVX512},
    {"clflushopt", 7, 0, EBX, 23, None},
    {"clwb", 7, 0, EBX, 24, None},
    {"avx512cd", 7, 0, EBX, 28, AVX512},
    {"sha", 7, 0, EBX, 29, None},
    {"avx512bw", 7, 0, EBX, 30, AVX512},
    {"avx512vl", 7, 0, EBX, 31, AVX512},
    {"avx512vbmi", 7, 0, ECX, 1, AVX512},
    {"pku", 7, 0, ECX, 4, None}, // OSPKE: enabled, not only present.
    {"waitpkg", 7, 0, ECX, 5, None},
    {"avx512vbmi2", 7, 0, ECX, 6, AVX512},
    {"shstk", 7, 0, ECX, 7, None},
    {"gfni", 7, 0, ECX, 8, None},
    {"vaes", 7, 0, ECX, 9, AVX},
    {"vpclmulqdq", 7, 0, ECX, 10, AVX},
    {"avx512vnni", 7, 0, ECX, 11, AVX512},
    {"avx512bitalg", 7, 0, ECX, 12, AVX512},
    {"avx512vpopcntdq", 7, 0, ECX, 14, AVX512},
    {"rdpid", 7, 0, ECX, 22, None},
    {"kl", 7, 0, ECX, 23, None},
    {"cldemote", 7, 0, ECX, 25, None},
    {"movdiri", 7, 0, ECX, 27, None},
    {"movdir64b", 7, 0, ECX, 28, None},
    {"enqcmd", 7, 0, ECX, 29, None},
    {"uintr", 7, 0, EDX, 5, None},
    {"avx512vp2intersect", 7, 0, EDX, 8, AVX512},
    {"serialize", 7, 0, EDX, 14, None},
    {"tsxldtrk", 7, 0, EDX, 16, None},
    {"pconfig", 7, 0, EDX, 18, None},
    {"amx-bf16", 7, 0, EDX, 22, AMX},
    {"avx512fp16", 7, 0, EDX, 23, AVX512},
    {"amx-tile", 7, 0, EDX, 24, AMX},
    {"amx-int8", 7, 0, EDX, 25, AMX},
    {"sha512", 7, 1, EAX, 0, AVX},
    {"sm3", 7, 1, EAX, 1, AVX},
    {"sm4", 7, 1, EAX, 2, AVX},
    {"raoint", 7, 1, EAX, 3, None},
    {"avxvnni", 7, 1, EAX, 4, AVX},
    {"avx512bf16", 7, 1, EAX, 5, AVX512},
    {"cmpccxadd", 7, 1, EAX, 7, None},
    {"amx-fp16", 7, 1, EAX, 21, AMX},
    {"hreset", 7, 1, EAX, 22, None},
    {"avxifma", 7, 1, EAX, 23, AVX},
    {"avxvnniint8", 7, 1, EDX, 4, AVX},
    {"avxneconvert", 7, 1, EDX, 5, AVX},
    {"amx-complex", 7, 1, EDX, 8, AMX},
    {"avxvnniint16", 7, 1, EDX, 10, AVX},
    {"prefetchi", 7, 1, EDX, 14, None},
    {"usermsr", 7, 1, EDX, 15, None},
    {"xsaveopt", 0xd, 1, EAX, 0, AVX},
    {"xsavec", 0xd, 1, EAX, 1, AVX},
    {"xsaves", 0xd, 1, EAX, 3, AVX},
    {"ptwrite", 0x14, 0, EBX, 4, None},
    {"sahf", 0x80000001, 0, ECX, 0, None},
    {"lzcnt", 0x80000001, 0, ECX, 5, None},
    {"sse4a", 0x80000001, 0, ECX, 6, None},
    {"prfchw", 0x80000001, 0, ECX, 8, None},
    {"xop", 0x80000001, 0, ECX, 11, AVX},
    {"lwp", 0x80000001, 0, ECX, 15, None},
    {"fma4", 0x80000001, 0, ECX, 16, AVX},
    {"tbm", 0x80000001, 0, ECX, 21, None},
    {"mwaitx", 0x80000001, 0, ECX, 29, None},
    {"64bit", 0x80000001, 0, EDX, 29, None},
    {"clzero", 0x80000008, 0, EBX, 0, None},
    {"rdpru", 0x80000008, 0, EBX, 4, None},
    {"wbnoinvd", 0x80000008, 0, EBX, 9, None},
};

/// XCR0, or 0 where the operating system does not use XSAVE.
uint64_t readXCR0() {
  uint32_t regs[4];
  if (!__get_cpuid(1, &regs[0], &regs[1], &regs[2], &regs[3]) ||
      !(regs[2] & (1u << 27)))
    return 0;
  uint32_t low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t(high) << 32 | low;
}

bool saves(uint64_t xcr0, State state) {
  // SSE and AVX; also opmask, upper halves, upper registers; also tiles.
  uint64_t needed = state == AVX      ? 0x6
                    : state == AVX512 ? 0xe6
                    : state == AMX    ? 0x60006
                                      : 0;
  return (xcr0 & needed) == needed;
}

} // namespace

Status requestFeatures(const std::vector<std::string> &features) {
  auto isTile = [](const std::string &name) {
    return name.rfind("amx-", 0) == 0;
  };
  if (std::none_of(features.begin(), features.end(), isTile))
    return Status::success();
#if defined(__linux__)
  // arch_prctl's ARCH_REQ_XCOMP_PERM, and the state component of tile data.
  constexpr int requestPermission = 0x1023, tileData = 18;
  if (::syscall(SYS_arch_prctl, requestPermission, tileData) == 0)
    return Status::success();
  std::string reason = std::strerror(errno);
#else
  std::string reason = "it is asked for on Linux alone";
#endif
  return Status::error("the system does not let this process use amx-tile: " +
                       reason);
}

HostCPU detectHostCPU() {
  HostCPU host;
  host.arch = "x86_64";
  uint64_t xcr0 = readXCR0();
  for (const Feature &feature : table) {
    uint32_t regs[4];
    if (__get_cpuid_count(feature.leaf, feature.subleaf, &regs[0], &regs[1],
                          &regs[2], &regs[3]) &&
        (regs[feature.reg] >> feature.bit & 1) && saves(xcr0, feature.state))
      host.features.push_back(feature.name);
  }
  std::sort(host.features.begin(), host.features.end());
  uint32_t brand[12] = {};
  if (__get_cpuid_max(0x80000000, nullptr) >= 0x80000004)
    for (uint32_t i = 0; i < 3; ++i)
      __get_cpuid(0x80000002 + i, &brand[4 * i], &brand[4 * i + 1],
                  &brand[4 * i + 2], &brand[4 * i + 3]);
  char text[sizeof brand + 1] = {};
  std::memcpy(text, brand, sizeof brand);
  host.name = text;
  while (!host.name.empty() && host.name.back() == ' ')
    host.name.pop_back();
  if (host.name.empty())
    host.name = "x86-64 processor";
  return host;
}

#else

Status requestFeatures(const std::vector<std::string> &) {
  return Status::success();
}

HostCPU detectHostCPU() {
  HostCPU host;
#if defined(__aarch64__)
  host.arch = "aarch64";
  host.features =
      readAArch64Features(::getauxval(AT_HWCAP), ::getauxval(AT_HWCAP2));
  host.name = "AArch64 processor";
#else
  host.arch = "unknown";
  host.name = "unknown processor";
#endif
  return host;
}

#endif

} // namespace tracea::runtime
