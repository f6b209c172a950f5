//===- CPUProblems.h - Problems and choices that tests share ----*- C++ -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_UNITTESTS_DOCTOR_CPUPROBLEMS_H
#define TRACEA_UNITTESTS_DOCTOR_CPUPROBLEMS_H

#include "Numbers.h"
#include "tracea/Doctor/Registry.h"

#include "gtest/gtest.h"

namespace tracea::doctor {

using Extents = std::vector<int64_t>;

inline TargetDescription cpu(const char *name, int cores) {
  TargetDescription target = *tracea::target::lookup(name);
  target.cores = cores;
  return target;
}

inline Problem gemm(int64_t m, int64_t n, int64_t k,
                    ElementType type = ElementType::F32) {
  Problem problem;
  problem.kind = OpKind::Gemm;
  problem.m = m;
  problem.n = n;
  problem.k = k;
  problem.operand = problem.second = problem.accumulator = type;
  problem.result = type;
  return problem;
}

inline Problem conv(int64_t images, int64_t size, int64_t channels,
                    int64_t filters, int64_t taps, int64_t stride = 1) {
  Problem problem;
  problem.kind = OpKind::Conv2D;
  problem.images = images;
  problem.outputHeight = problem.outputWidth = size;
  problem.groupChannels = channels;
  problem.groupFilters = filters;
  problem.filterHeight = problem.filterWidth = taps;
  problem.strideHeight = problem.strideWidth = stride;
  return problem;
}

inline Candidate best(const Problem &problem, const TargetDescription &target) {
  std::vector<Candidate> ranked = rank(Registry::builtin(), problem, target);
  EXPECT_FALSE(ranked.empty());
  EXPECT_TRUE(ranked.front().accepted()) << ranked.front().refusal;
  return ranked.front();
}

inline Problem narrow(int64_t m, int64_t n, int64_t k, ElementType operand) {
  Problem problem = gemm(m, n, k, operand);
  problem.accumulator =
      operand == ElementType::I8 ? ElementType::I32 : ElementType::F32;
  problem.result = problem.accumulator;
  return problem;
}

inline Reason refusal(const Problem &problem, const TargetDescription &target,
                      std::string_view variant) {
  for (const Candidate &candidate : rank(Registry::builtin(), problem, target))
    if (candidate.variant->name() == variant)
      return candidate.refusal;
  return "not asked";
}

} // namespace tracea::doctor

#endif // TRACEA_UNITTESTS_DOCTOR_CPUPROBLEMS_H
