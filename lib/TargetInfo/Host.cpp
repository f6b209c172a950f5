//===- Host.cpp - Finds out what this machine is --------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A processor's name says how it is built, its feature bits what may be used: a
// hypervisor or an old kernel can hide AVX-512 of a core that has it. So the
// entry is found by name and then narrowed by the bits. A name that says
// nothing, of a newer processor or one that a hypervisor made up, leaves the
// bits alone: a core of the vendor's that has no others is close to it.
//
// Sources: Intel SDM volume 2 (CPUID), volume 1 chapter 13 (XGETBV, XCR0);
// AMD64 Architecture Programmer's Manual volume 3 appendix E; AMD's revision
// guides (models of each family); Arm MIDR_EL1 in the cores' technical
// reference manuals; Linux Documentation/arch/arm64/elf_hwcaps.rst.
//
//===----------------------------------------------------------------------===//
#include "tracea/TargetInfo/Host.h"
#include "Tables.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <set>

#if defined(__linux__)
#include <sched.h>
#include <unistd.h>
#endif
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

namespace tracea::target {

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string x86EntryFor(std::string_view vendor, unsigned family,
                        unsigned model, unsigned stepping) {
  auto within = [&](unsigned low, unsigned high) {
    return model >= low && model <= high;
  };
  if (vendor == "AuthenticAMD") {
    switch (family) {
    case 0x17:
      // Below 30h: Zen and Zen+, whose pipes are 128 bits wide.
      return model >= 0x30 ? "znver2" : "";
    case 0x19:
      if (within(0x10, 0x1f) || within(0x60, 0x7f) || within(0xa0, 0xaf))
        return "znver4";
      return within(0x00, 0x0f) || within(0x20, 0x5f) ? "znver3" : "";
    case 0x1a:
      return "znver5";
    default:
      return "";
    }
  }
  if (vendor == "GenuineIntel" && family == 6) {
    switch (model) {
    case 0x3c: // Haswell, and Broadwell with the same pipes and caches
    case 0x3f:
    case 0x45:
    case 0x46:
    case 0x3d:
    case 0x47:
    case 0x4f:
    case 0x56:
      return "haswell";
    case 0x4e: // Skylake to Comet Lake
    case 0x5e:
    case 0x8e:
    case 0x9e:
    case 0xa5:
    case 0xa6:
      return "skylake";
    case 0x55:
      // Cascade Lake shares the model and starts at stepping 5, Cooper Lake at
      // stepping 10.
      return stepping >= 10  ? "cooperlake"
             : stepping >= 5 ? "cascadelake"
                             : "skylake-avx512";
    case 0x6a:
    case 0x6c:
      return "icelake-server";
    case 0x97: // Alder Lake to Raptor Lake, and what shares their cores
    case 0x9a:
    case 0xb7:
    case 0xba:
    case 0xbf:
      return "alderlake";
    case 0x8f: // Sapphire Rapids, and Emerald Rapids with the same core
    case 0xcf:
      return "sapphirerapids";
    default:
      return "";
    }
  }
  return "";
}

std::string armEntryFor(unsigned implementer, unsigned part) {
  if (implementer != 0x41) // Arm Ltd
    return "";
  switch (part) {
  case 0xd0c:
    return "neoverse-n1";
  case 0xd40:
    return "neoverse-v1";
  case 0xd49:
    return "neoverse-n2";
  case 0xd4f:
    return "neoverse-v2";
  default:
    return "";
  }
}

/// The first of the entries whose features are all in `has`; empty for none.
static std::string firstWithin(std::initializer_list<const char *> entries,
                               const std::vector<std::string> &has) {
  auto isPresent = [&](const std::string &feature) {
    return std::find(has.begin(), has.end(), feature) != has.end();
  };
  for (const char *entry : entries) {
    std::optional<TargetDescription> target = lookup(entry);
    if (target && std::all_of(target->features.begin(), target->features.end(),
                              isPresent))
      return entry;
  }
  return "";
}

std::string x86CoreFor(std::string_view vendor,
                       const std::vector<std::string> &has) {
  // The newest first.
  if (vendor == "AuthenticAMD")
    return firstWithin({"znver5", "znver4", "znver3"}, has);
  if (vendor == "GenuineIntel")
    return firstWithin({"sapphirerapids", "icelake-server", "cooperlake",
                        "cascadelake", "skylake-avx512", "alderlake", "skylake",
                        "haswell"},
                       has);
  return "";
}

std::string x86LevelFor(const std::vector<std::string> &has) {
  return firstWithin({"x86-64-v4", "x86-64-v3", "x86-64-v2"}, has);
}

//===----------------------------------------------------------------------===//
// Feature bits
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)

namespace {

struct Registers {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(unsigned leaf, unsigned subleaf = 0) {
  Registers out;
  // Answers 0 for leaves that the processor does not have.
  if (!__get_cpuid_count(leaf, subleaf, &out.eax, &out.ebx, &out.ecx, &out.edx))
    return Registers();
  return out;
}

bool bit(unsigned word, unsigned index) { return (word >> index) & 1; }

/// What the operating system saves: XCR0, 0 when it saves nothing beyond SSE.
uint64_t savedState() {
  if (!bit(cpuid(1).ecx, 27)) // OSXSAVE
    return 0;
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

struct X86Identity {
  std::string vendor;
  unsigned family = 0, model = 0, stepping = 0;
};

X86Identity identify() {
  X86Identity id;
  Registers zero = cpuid(0);
  char vendor[12];
  std::memcpy(vendor, &zero.ebx, 4);
  std::memcpy(vendor + 4, &zero.edx, 4);
  std::memcpy(vendor + 8, &zero.ecx, 4);
  id.vendor.assign(vendor, 12);
  unsigned signature = cpuid(1).eax;
  id.stepping = signature & 0xf;
  id.model = (signature >> 4) & 0xf;
  id.family = (signature >> 8) & 0xf;
  if (id.family == 6 || id.family == 15)
    id.model |= ((signature >> 16) & 0xf) << 4;
  if (id.family == 15)
    id.family += (signature >> 20) & 0xff;
  return id;
}

} // namespace

std::vector<std::string> hostFeatures() {
  Registers one = cpuid(1);
  Registers seven = cpuid(7, 0);
  Registers sevenOne = seven.eax >= 1 ? cpuid(7, 1) : Registers();
  Registers extended = cpuid(0x80000001);
  uint64_t saved = savedState();
  bool ymm = (saved & 0x6) == 0x6;         // SSE and AVX state
  bool zmm = (saved & 0xe6) == 0xe6;       // and opmask, ZMM low and high
  bool amx = (saved & 0x60000) == 0x60000; // TILECFG and TILEDATA

  std::vector<std::string> has;
  auto add = [&](bool present, const char *name) {
    if (present)
      has.push_back(name);
  };
  add(bit(one.edx, 25), "sse");
  add(bit(one.edx, 26), "sse2");
  add(bit(one.ecx, 0), "sse3");
  add(bit(one.ecx, 9), "ssse3");
  add(bit(one.ecx, 13), "cx16");
  add(bit(one.ecx, 19), "sse4.1");
  add(bit(one.ecx, 20), "sse4.2");
  add(bit(one.ecx, 22), "movbe");
  add(bit(one.ecx, 23), "popcnt");
  add(bit(one.ecx, 27), "xsave");
  add(bit(extended.ecx, 0), "sahf");
  add(bit(extended.ecx, 5), "lzcnt");
  add(bit(extended.ecx, 6), "sse4a");
  add(bit(extended.ecx, 8), "prfchw");
  add(bit(seven.ebx, 3), "bmi");
  add(bit(seven.ebx, 8), "bmi2");
  add(bit(seven.ecx, 8), "gfni");

  add(ymm && bit(one.ecx, 28), "avx");
  add(ymm && bit(one.ecx, 12), "fma");
  add(ymm && bit(one.ecx, 29), "f16c");
  add(ymm && bit(seven.ebx, 5), "avx2");
  add(ymm && bit(sevenOne.eax, 4), "avxvnni");

  add(zmm && bit(seven.ebx, 16), "avx512f");
  add(zmm && bit(seven.ebx, 17), "avx512dq");
  add(zmm && bit(seven.ebx, 21), "avx512ifma");
  add(zmm && bit(seven.ebx, 28), "avx512cd");
  add(zmm && bit(seven.ebx, 30), "avx512bw");
  add(zmm && bit(seven.ebx, 31), "avx512vl");
  add(zmm && bit(seven.ecx, 1), "avx512vbmi");
  add(zmm && bit(seven.ecx, 6), "avx512vbmi2");
  add(zmm && bit(seven.ecx, 11), "avx512vnni");
  add(zmm && bit(seven.ecx, 12), "avx512bitalg");
  add(zmm && bit(seven.ecx, 14), "avx512vpopcntdq");
  add(zmm && bit(seven.edx, 23), "avx512fp16");
  add(zmm && bit(sevenOne.eax, 5), "avx512bf16");

  add(amx && bit(seven.edx, 22), "amx-bf16");
  add(amx && bit(seven.edx, 24), "amx-tile");
  add(amx && bit(seven.edx, 25), "amx-int8");
  return has;
}

static std::string hostEntry(const std::vector<std::string> &has) {
  X86Identity id = identify();
  std::string name = x86EntryFor(id.vendor, id.family, id.model, id.stepping);
  if (name.empty())
    name = x86CoreFor(id.vendor, has);
  return name.empty() ? x86LevelFor(has) : name;
}

#elif defined(__aarch64__) && defined(__linux__)

std::vector<std::string> hostFeatures() {
  unsigned long first = getauxval(AT_HWCAP);
  unsigned long second = getauxval(AT_HWCAP2);
  std::vector<std::string> has;
  auto add = [&](unsigned long word, unsigned index, const char *name) {
    if ((word >> index) & 1)
      has.push_back(name);
  };
  add(first, 0, "fp-armv8");  // HWCAP_FP
  add(first, 1, "neon");      // HWCAP_ASIMD
  add(first, 8, "lse");       // HWCAP_ATOMICS
  add(first, 10, "fullfp16"); // HWCAP_ASIMDHP
  add(first, 20, "dotprod");  // HWCAP_ASIMDDP
  add(first, 22, "sve");      // HWCAP_SVE
  add(second, 1, "sve2");     // HWCAP2_SVE2
  add(second, 13, "i8mm");    // HWCAP2_I8MM
  add(second, 14, "bf16");    // HWCAP2_BF16
  return has;
}

static std::string hostEntry(const std::vector<std::string> &) {
  std::ifstream info("/proc/cpuinfo");
  unsigned implementer = 0, part = 0;
  for (std::string line; std::getline(info, line);) {
    size_t colon = line.find(':');
    if (colon == std::string::npos)
      continue;
    const char *value = line.c_str() + colon + 1;
    if (line.rfind("CPU implementer", 0) == 0)
      implementer = static_cast<unsigned>(std::strtoul(value, nullptr, 0));
    else if (line.rfind("CPU part", 0) == 0)
      part = static_cast<unsigned>(std::strtoul(value, nullptr, 0));
  }
  std::string name = armEntryFor(implementer, part);
  return name.empty() ? "armv8-a" : name;
}

#elif defined(__aarch64__) && defined(__APPLE__)

// Every Apple processor since M1 has at least M1's features.
std::vector<std::string> hostFeatures() {
  return lookup("apple-m1-cpu")->features;
}

static std::string hostEntry(const std::vector<std::string> &) {
  return "apple-m1-cpu";
}

#else

std::vector<std::string> hostFeatures() { return {}; }

static std::string hostEntry(const std::vector<std::string> &) { return ""; }

#endif

//===----------------------------------------------------------------------===//
// Cores and caches
//===----------------------------------------------------------------------===//

#if defined(__linux__)

namespace {

std::string firstLine(const std::string &path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// CPUs that this process may run on, ascending.
std::vector<int> allowedCPUs() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set))
        cpus.push_back(cpu);
  return cpus;
}

/// Number of CPUs in a list like "0-3,8,10-11"; 0 when it is malformed.
int countCPUs(const std::string &list) {
  const char *at = list.c_str();
  long count = 0;
  while (*at != '\0' && *at != '\n') {
    char *end = nullptr;
    long low = std::strtol(at, &end, 10);
    if (end == at)
      return 0;
    long high = low;
    if (*end == '-') {
      at = end + 1;
      high = std::strtol(at, &end, 10);
      if (end == at)
        return 0;
    }
    if (high < low)
      return 0;
    count += high - low + 1;
    at = *end == ',' ? end + 1 : end;
    if (at == end && *at != '\0' && *at != '\n')
      return 0;
  }
  return static_cast<int>(count);
}

/// "1024K" in bytes; 0 when it is malformed.
int64_t parseSize(const std::string &text) {
  char *end = nullptr;
  long long value = std::strtoll(text.c_str(), &end, 10);
  if (end == text.c_str() || value < 0)
    return 0;
  if (*end == 'K')
    return value * 1024;
  if (*end == 'M')
    return value * 1024 * 1024;
  return value;
}

std::string cpuFolder(int cpu) {
  return "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
}

std::vector<CacheLevel> hostCaches(int cpu, int threadsPerCore) {
  std::vector<CacheLevel> caches;
  for (int index = 0; index < 8; ++index) {
    std::string folder =
        cpuFolder(cpu) + "/cache/index" + std::to_string(index) + "/";
    std::string type = firstLine(folder + "type");
    if (type.empty())
      break;
    if (type == "Instruction")
      continue;
    CacheLevel cache;
    cache.level = std::atoi(firstLine(folder + "level").c_str());
    cache.bytes = parseSize(firstLine(folder + "size"));
    cache.lineBytes =
        std::atoi(firstLine(folder + "coherency_line_size").c_str());
    int threads = countCPUs(firstLine(folder + "shared_cpu_list"));
    cache.sharedBy =
        threads == 0 ? 0 : std::max(1, threads / std::max(1, threadsPerCore));
    if (cache.level > 0 && cache.bytes > 0)
      caches.push_back(cache);
  }
  if (!caches.empty())
    return caches;
#if defined(_SC_LEVEL1_DCACHE_SIZE)
  // Containers may hide /sys.
  const int sizes[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                       _SC_LEVEL3_CACHE_SIZE};
  const int lines[] = {_SC_LEVEL1_DCACHE_LINESIZE, _SC_LEVEL2_CACHE_LINESIZE,
                       _SC_LEVEL3_CACHE_LINESIZE};
  for (int level = 1; level <= 3; ++level) {
    long size = sysconf(sizes[level - 1]);
    long line = sysconf(lines[level - 1]);
    if (size > 0)
      caches.push_back({level, size, static_cast<int>(std::max(0L, line)), 0});
  }
#endif
  return caches;
}

void readTopology(TargetDescription &target) {
  std::vector<int> cpus = allowedCPUs();
  if (cpus.empty())
    return;
  std::set<std::string> cores; // a core is known by the list of its threads
  int threadsPerCore = 1;
  for (int cpu : cpus) {
    std::string siblings =
        firstLine(cpuFolder(cpu) + "/topology/thread_siblings_list");
    threadsPerCore = std::max(threadsPerCore, countCPUs(siblings));
    cores.insert(siblings.empty() ? std::to_string(cpu) : siblings);
  }
  target.hardwareThreads = static_cast<int>(cpus.size());
  target.cores = static_cast<int>(cores.size());
  std::vector<CacheLevel> caches = hostCaches(cpus.front(), threadsPerCore);
  if (!caches.empty())
    target.caches = std::move(caches);
}

} // namespace

#else

static void readTopology(TargetDescription &) {}

#endif

TargetDescription detectHost() {
  std::vector<std::string> has = hostFeatures();
  TargetDescription target;
  if (std::optional<TargetDescription> entry = lookup(hostEntry(has))) {
    target = narrow(*entry, has);
  } else {
    target.kind = TargetKind::CPU;
    target.cpu = "generic";
#if defined(__x86_64__)
    target.arch = "x86_64";
    target.cpu = "x86-64";
#elif defined(__aarch64__)
    target.arch = "aarch64";
#endif
    target.name = target.arch.empty() ? "unknown" : target.arch;
  }
  readTopology(target);
  return target;
}

std::optional<TargetDescription> resolve(std::string_view name) {
  if (name == "cpu" || name == "host")
    return detectHost();
  return lookup(name);
}

} // namespace tracea::target
