//===- TargetInfo.h - Hardware as plain data
//-------------------------------===//
//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler knows of a machine is a value of type TargetDescription:
// tables, not code. Nothing here knows an IR or LLVM, so that schedules, cost
// models and the doctor may all read the same facts.
//
// Unknown facts: a number that no public source states is 0, a list is empty
// and a string is empty. Readers must treat these as "unknown", never as
// "none"; where "none" is meant the field says so.
//
//===----------------------------------------------------------------------===//
#ifndef TRACEA_TARGETINFO_TARGETINFO_H
#define TRACEA_TARGETINFO_TARGETINFO_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracea::target {

/// The four ways out of the compiler.
enum class TargetKind { CPU, CUDA, ROCm, Metal };

/// Element types that a matrix or vector unit reads or accumulates.
enum class ElementType {
  F64,
  F32,
  TF32, // 32 bits in memory, 19 significant to the unit
  F16,
  BF16,
  F8E4M3FN,
  F8E5M2,
  F8E4M3FNUZ,
  F8E5M2FNUZ,
  I32,
  I16,
  I8,
  I4,
};

/// The units that can multiply: the names that a schedule's `unit` takes.
enum class UnitKind { Vector, AMX, MMASync, WGMMA, MFMA, WMMA, SimdGroup };

enum class SharedAccessKind { Read, Write };

std::string_view stringify(TargetKind kind);
std::string_view stringify(ElementType type);
std::string_view stringify(UnitKind kind);
std::string_view stringify(SharedAccessKind kind);
std::optional<TargetKind> parseTargetKind(std::string_view text);
std::optional<ElementType> parseElementType(std::string_view text);
std::optional<UnitKind> parseUnitKind(std::string_view text);
/// Bits that one element takes in memory.
unsigned bitWidth(ElementType type);

/// One instruction shape D[m,n] += A[m,k] * B[k,n]. When `nStep` is not 0, n is
/// a family: every n, n + nStep, ... up to and with `nMax`.
struct MatrixShape {
  int m = 0;
  int n = 0;
  int k = 0;
  ElementType operand = ElementType::F32;
  ElementType accumulator = ElementType::F32;
  int nMax = 0;
  int nStep = 0;
  /// Digits of the sums of one instruction, counted from the largest of its
  /// terms and what they are added to, where these are fewer than the
  /// accumulator has; what is beyond is cut off. 0: no fewer, as far as is
  /// known.
  int sumDigits = 0;

  bool hasN(int wanted) const {
    if (nStep == 0)
      return wanted == n;
    return wanted >= n && wanted <= nMax && (wanted - n) % nStep == 0;
  }
};

/// A unit that multiplies small matrices. On a CPU the vector unit is listed
/// too, as 1 x lanes x (elements a lane folds), so that one query serves all.
struct MatrixUnit {
  UnitKind kind = UnitKind::Vector;
  /// Lanes (threads) that issue one instruction together; 1 on a CPU.
  int lanes = 1;
  std::vector<MatrixShape> shapes;
};

/// The vector registers of one thread of a CPU. On a GPU only `bits` is given:
/// the widest memory access of one lane.
struct VectorUnit {
  int bits = 0;
  int registers = 0;
  int maskRegisters = 0; // 0: none
  /// Multiply-adds of `bits` width started per cycle and their latency in
  /// cycles; 0 when the entry stands for many machines.
  int fmaPerCycle = 0;
  int fmaLatency = 0;
  /// The same for the dot products of bf16 pairs and of 8-bit integers, of
  /// which one may take several cycles.
  double bf16DotPerCycle = 0;
  double int8DotPerCycle = 0;
  /// Smallest width of a scalable vector that the core also has; 0: none.
  int scalableBits = 0;
  bool fma = false;
  bool fp16 = false;    // arithmetic on f16 elements
  bool bf16Dot = false; // pairs of bf16 into f32
  bool int8Dot = false; // several 8-bit integers a lane into i32
};

/// Lanes of one shared-memory access that are served together: the span of
/// `lanes` over F2, each a mask of lane-index bits. Other phases of the access
/// are the cosets of that span.
struct AccessPhase {
  int bytes = 0; // width a lane
  SharedAccessKind access = SharedAccessKind::Read;
  std::vector<unsigned> lanes;
  /// Where lanes l and l ^ m want the same bytes for all l and one m of
  /// `pairs`, phases are the cosets of the span of `merged`. Empty: no merging.
  std::vector<unsigned> pairs;
  std::vector<unsigned> merged;
  /// Whether it is known what merges; if not, the two above are empty.
  bool mergingKnown = false;
};

struct SharedMemory {
  /// Most bytes that one workgroup may ask for, and bytes of one
  /// multiprocessor (a workgroup processor on RDNA).
  int64_t perWorkgroup = 0;
  int64_t perMultiprocessor = 0;
  /// Bytes that the system takes from perMultiprocessor for each workgroup.
  int64_t reservedPerWorkgroup = 0;
  int banks = 0;
  int bankBytes = 0;
  std::vector<AccessPhase> phases;
};

/// How many threads and registers fit.
struct Occupancy {
  int subgroupSize = 0; // warp, wave, simdgroup
  int maxThreadsPerWorkgroup = 0;
  int maxThreadsPerMultiprocessor = 0;
  int maxWorkgroupsPerMultiprocessor = 0;
  /// 32-bit registers of one multiprocessor, and most that one thread names.
  int registersPerMultiprocessor = 0;
  int maxRegistersPerThread = 0;
  /// Barriers that one workgroup may name.
  int barriersPerWorkgroup = 0;
};

/// Asynchronous features; false and 0 mean that the target has none.
struct AsyncFeatures {
  bool asyncCopy = false; // cp.async: global to shared, per lane
  bool mbarrier = false;  // shared-memory barriers with a phase
  bool bulkCopy = false;  // bulk and tensor copies that complete on an mbarrier
  bool setMaxRegisters = false;    // registers moved between warpgroups
  bool programmaticLaunch = false; // a kernel may start before the last ends
  bool splitBarrier = false;       // arrive and wait are separate
  /// Widest access of one lane that goes from global to shared memory without
  /// passing registers, and reports by a wait counter (AMD's LDS loads).
  int directToSharedBytes = 0;
  /// Largest portable cluster of workgroups that share memory.
  int maxClusterSize = 0;
};

struct CacheLevel {
  int level = 0; // on NVIDIA level 1 is the store it shares with shared memory
  int64_t bytes = 0;
  int lineBytes = 0;
  /// Cores or multiprocessors that share one instance; 0: unknown.
  int sharedBy = 0;
};

/// Dense peak of one core or multiprocessor: operations (a multiply-add counts
/// two) per cycle.
struct PeakRate {
  UnitKind unit = UnitKind::Vector;
  ElementType operand = ElementType::F32;
  double flopsPerCycle = 0;
};

struct TargetDescription {
  /// Key of the tables, e.g. "znver4", "sm_90a", "apple-m3".
  std::string name;
  /// The product that counts, clock and bandwidth below were taken from.
  std::string product;
  TargetKind kind = TargetKind::CPU;
  /// What code is written for ("x86_64", "aarch64", "nvptx64", "amdgcn",
  /// "spirv") and LLVM's triple; empty where LLVM is not the way out.
  std::string arch;
  std::string triple;
  /// -mcpu of LLVM; empty where LLVM is not the way out.
  std::string cpu;
  /// Features, by LLVM's names, that generated code may use. On a CPU a
  /// program is refused on a host that lacks one of them.
  std::vector<std::string> features;
  /// Features that `cpu` implies and that this machine lacks.
  std::vector<std::string> disabledFeatures;

  VectorUnit vector;
  std::vector<MatrixUnit> units;
  Occupancy occupancy;
  SharedMemory shared;
  AsyncFeatures async;
  std::vector<CacheLevel> caches;

  /// Physical cores or multiprocessors, and hardware threads in all.
  int cores = 0;
  int hardwareThreads = 0;
  double clockGHz = 0; // boost clock of `product`
  std::vector<PeakRate> peaks;
  double memoryGBs = 0; // 1e9 bytes a second

  bool isGPU() const { return kind != TargetKind::CPU; }
  bool hasFeature(std::string_view feature) const;
  /// LLVM's attribute string, "+avx2,+fma,-avx512f".
  std::string attributeString() const;
  const MatrixUnit *findUnit(UnitKind unit) const;
  /// First shape of `unit` with these types, or null.
  const MatrixShape *findShape(UnitKind unit, ElementType operand,
                               ElementType accumulator) const;
  const AccessPhase *findPhase(int bytes, SharedAccessKind access) const;
  /// Bytes of cache level `level`, 0 when unknown.
  int64_t cacheBytes(int level) const;
  /// Operations per cycle a core, 0 when unknown.
  double peakFlopsPerCycle(UnitKind unit, ElementType operand) const;
  /// The best over all units, 0 when unknown.
  double bestFlopsPerCycle(ElementType operand) const;
};

/// All known targets, each name once.
const std::vector<TargetDescription> &all();

/// The table entry of that name. There is no fallback: an unknown name is
/// nothing, for a wrong description is worse than an error.
std::optional<TargetDescription> lookup(std::string_view name);

/// Known names nearest to `name` by edit distance, best first.
std::vector<std::string> closestNames(std::string_view name,
                                      unsigned count = 3);

/// Elements of `elementBits` that one vector register (CPU) or the widest
/// access of one lane (GPU) holds; 0 when unknown or `elementBits` is no
/// positive divisor of the width.
int vectorLanes(const TargetDescription &target, unsigned elementBits);

/// Rows and columns of the register tile that keeps a CPU's multiply-add pipes
/// busy: `rows` (a power of two) broadcast elements of A times `columns` (two
/// or three vectors) of B.
struct RegisterTile {
  int rows = 0;
  int columns = 0;
};
std::optional<RegisterTile> registerTile(const TargetDescription &target,
                                         unsigned accumulatorBits);

/// `target` without the features that `has` lacks: widths, registers, units and
/// peaks follow, and what `cpu` implies beyond goes to disabledFeatures.
TargetDescription narrow(const TargetDescription &target,
                         const std::vector<std::string> &has);

/// A table of the facts for people, one "key: value" a line; unknown facts are
/// printed as "unknown".
std::string describe(const TargetDescription &target);

} // namespace tracea::target

#endif // TRACEA_TARGETINFO_TARGETINFO_H
