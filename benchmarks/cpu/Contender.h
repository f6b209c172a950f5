//===- Contender.h - One way to compute a case ---------------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tracea, Tracea without fusion, and the peers behind one interface.

#ifndef TRACEA_BENCHMARKS_CPU_CONTENDER_H
#define TRACEA_BENCHMARKS_CPU_CONTENDER_H

#include "Problem.h"

#include <memory>
#include <string>

namespace tracea::bench {

class Contender {
public:
  virtual ~Contender();
  /// Computes the output of a buffer set from its inputs. False on failure.
  virtual bool run(int set) = 0;

  /// What does the work: a variant, the name of a peer's kernel.
  std::string implementation;
  /// Kernels whose proofs are not complete, and why; empty: all are proved, or
  /// the contender has no proofs.
  std::string undecided;
  /// From the module's text to loaded code; 0 for peers.
  double compileSeconds = 0;
};

/// A library that others use, by what options and workers call it and by its
/// own name. BLAS are those of matrix products in f32 alone.
struct Peer {
  const char *name;
  const char *title;
  bool isBLAS;
};
constexpr Peer kPeers[] = {{"openblas", "OpenBLAS", true},
                           {"blis", "BLIS", true},
                           {"eigen", "Eigen", true},
                           {"onednn", "oneDNN", false}};

/// Why a peer that is built for one thread takes no part beside others.
constexpr const char *kRunsAlone = "built for one thread";

/// A contender, or why there is none.
struct MaybeContender {
  std::unique_ptr<Contender> contender;
  std::string reason;
};

/// Fused by the compiler's passes, or (for cases with `separate`) as one
/// program for each of convolution, batch norm and ReLU.
MaybeContender makeTracea(const Problem &problem, int threads, bool separate);
/// The peers are loaded when they are first asked for; how many threads they
/// use stands in the environment (see Worker.cpp).
MaybeContender makeCBLAS(const std::string &name, const Problem &problem,
                         int threads);
MaybeContender makeOneDNN(const Problem &problem);

/// By the names "tracea", "separate", and those of `kPeers`.
MaybeContender makeContender(const std::string &name, const Problem &problem,
                             int threads);

/// Version and configuration, or "not installed".
std::string describePeer(const std::string &name);
std::string describeCBLAS(const std::string &name);
std::string describeOneDNN();

/// Seconds on a clock that never goes back: the wall's, or, once asked for,
/// that of the processor time of this process.
double now();
void useProcessorTime();
/// The quickest of three runs after one to warm up; sets rotate.
double quickSeconds(Contender &contender, int numSets);

} // namespace tracea::bench

#endif // TRACEA_BENCHMARKS_CPU_CONTENDER_H
