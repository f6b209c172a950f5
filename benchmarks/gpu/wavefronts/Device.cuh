//===- Device.cuh - The instructions that are measured --------------------===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `measure` times chains of one instruction on all warps of a block, a short
// and a long one, so that their difference is free of what surrounds them.
// `count` issues it a few times on one warp, for a profiler's counters. Issues
// lie one round of all banks apart, and the address of the next turn is not
// known to the compiler: it would drop what it takes for a repetition.
//
//===----------------------------------------------------------------------===//

#ifndef TRACEA_BENCHMARKS_GPU_WAVEFRONTS_DEVICE_CUH
#define TRACEA_BENCHMARKS_GPU_WAVEFRONTS_DEVICE_CUH

#include "Pattern.h"

namespace tracea::wavefronts {

constexpr unsigned warps = 16;
constexpr unsigned shortChain = 4, longChain = 20, unrolled = 8;
constexpr unsigned repeats = 5;
constexpr unsigned countedIssues = 4;
/// All banks once.
constexpr unsigned rowBytes = 128;

/// One instruction at shared address `at`; `value` is written or changed.
template <Op op>
__device__ __forceinline__ void issue(uint32_t at, uint32_t &value) {
  uint32_t x = 0, y = 0, z = 0, w = 0;
  if constexpr (op == Op::Load1)
    asm volatile("ld.shared.u8 %0, [%1];" : "=r"(x) : "r"(at));
  if constexpr (op == Op::Load2)
    asm volatile("{ .reg .u16 t; ld.shared.u16 t, [%1]; cvt.u32.u16 %0, t; }"
                 : "=r"(x)
                 : "r"(at));
  if constexpr (op == Op::Load4)
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(x) : "r"(at));
  if constexpr (op == Op::Load8)
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];"
                 : "=r"(x), "=r"(y)
                 : "r"(at));
  if constexpr (op == Op::Load16)
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
                 : "r"(at));
  if constexpr (op == Op::LoadMatrix1)
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(x)
                 : "r"(at));
  if constexpr (op == Op::LoadMatrix2)
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(x), "=r"(y)
                 : "r"(at));
  if constexpr (op == Op::LoadMatrix4)
    asm volatile(
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
        : "r"(at));
  if constexpr (op == Op::LoadMatrix4Trans)
    asm volatile(
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(x), "=r"(y), "=r"(z), "=r"(w)
        : "r"(at));
  if constexpr (op == Op::Store1)
    asm volatile("st.shared.u8 [%0], %1;" ::"r"(at), "r"(value) : "memory");
  if constexpr (op == Op::Store2)
    asm volatile(
        "{ .reg .u16 t; cvt.u16.u32 t, %1; st.shared.u16 [%0], t; }" ::"r"(at),
        "r"(value)
        : "memory");
  if constexpr (op == Op::Store4)
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(at), "r"(value) : "memory");
  if constexpr (op == Op::Store8)
    asm volatile("st.shared.v2.b32 [%0], {%1, %1};" ::"r"(at), "r"(value)
                 : "memory");
  if constexpr (op == Op::Store16)
    asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};" ::"r"(at),
                 "r"(value)
                 : "memory");
  if constexpr (op == Op::StoreMatrix1)
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(at),
        "r"(value)
        : "memory");
  if constexpr (op == Op::StoreMatrix2)
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %1};" ::"r"(at),
        "r"(value)
        : "memory");
  if constexpr (op == Op::StoreMatrix4)
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" ::
            "r"(at),
        "r"(value)
        : "memory");
  value ^= x ^ y ^ z ^ w;
}

extern __shared__ __align__(1024) unsigned char window[];

template <Op op>
__global__ void measure(const uint32_t *offsets, const uint32_t *active,
                        unsigned numPatterns, uint32_t zero, uint32_t *cycles,
                        uint32_t *sink) {
  uint32_t base = uint32_t(__cvta_generic_to_shared(window));
  for (uint32_t i = threadIdx.x; i < windowBytes / 4; i += blockDim.x)
    reinterpret_cast<uint32_t *>(window)[i] = i * 2654435761u;
  uint32_t lane = threadIdx.x % numLanes, value = threadIdx.x;
  for (unsigned p = blockIdx.x; p < numPatterns; p += gridDim.x) {
    uint32_t at = base + offsets[p * numLanes + lane];
    bool on = active[p] >> lane & 1;
    uint32_t best[2] = {~0u, ~0u};
    for (unsigned r = 0; r < 2 * repeats; ++r) {
      unsigned chain = r % 2 ? longChain : shortChain;
      __syncthreads();
      uint32_t start = clock();
      if (on)
#pragma unroll 1
        for (unsigned i = 0; i < chain; ++i) {
#pragma unroll
          for (unsigned k = 0; k < unrolled; ++k)
            issue<op>(at + k * rowBytes, value);
          at += zero;
        }
      __syncthreads();
      best[r % 2] = min(best[r % 2], uint32_t(clock()) - start);
    }
    if (threadIdx.x == 0) {
      cycles[2 * p] = best[0];
      cycles[2 * p + 1] = best[1];
    }
  }
  sink[threadIdx.x] = value;
}

template <Op op>
__global__ void count(const uint32_t *offsets, const uint32_t *active,
                      uint32_t *sink) {
  uint32_t base = uint32_t(__cvta_generic_to_shared(window));
  uint32_t value = threadIdx.x, at = base + offsets[threadIdx.x];
  if (*active >> threadIdx.x & 1)
#pragma unroll
    for (unsigned k = 0; k < countedIssues; ++k)
      issue<op>(at + k * rowBytes, value);
  sink[threadIdx.x] = value;
}

} // namespace tracea::wavefronts

#endif // TRACEA_BENCHMARKS_GPU_WAVEFRONTS_DEVICE_CUH
