//===- Peak.h - The most that this machine's multiply-adds reach ---------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//

#ifndef TRACEA_BENCHMARKS_CPU_PEAK_H
#define TRACEA_BENCHMARKS_CPU_PEAK_H

#include "tracea/Runtime/ElementType.h"

namespace tracea::bench {

/// Operations a second of independent multiply-adds on `threads` threads, in
/// the fastest form that the processor has for the type; 0 when unknown.
double measurePeak(runtime::ElementType type, int threads);

} // namespace tracea::bench

#endif // TRACEA_BENCHMARKS_CPU_PEAK_H
