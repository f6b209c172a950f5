/*===- HeaderC99.c - tracea.h as C99 sees it ------------------------------===*\
|*
|* Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
\*===----------------------------------------------------------------------===*/

#include "tracea.h"

/* c = a b of 2x2 numbers, from C. */
TraceaStatus tracea_test_gemm_in_c(const float *a, const float *b, float *c);

TraceaStatus tracea_test_gemm_in_c(const float *a, const float *b, float *c) {
  static const uint64_t shape[2] = {2, 2};
  TraceaTensorView left = {(void *)a,      2,         shape, NULL,
                           TRACEA_FLOAT32, TRACEA_CPU};
  TraceaTensorView right = {(void *)b,      2,         shape, NULL,
                            TRACEA_FLOAT32, TRACEA_CPU};
  TraceaTensorView out = {c, 2, shape, NULL, TRACEA_FLOAT32, TRACEA_CPU};
  TraceaGemmParams params = TRACEA_GEMM_PARAMS_INIT;
  return tracea_gemm(left, right, NULL, &out, params);
}
