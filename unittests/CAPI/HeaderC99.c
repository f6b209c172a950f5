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

/* Both gradients of one row of pixels, from C. */
TraceaStatus tracea_test_gradients_in_c(float *byImage, float *byFilter);

TraceaStatus tracea_test_gradients_in_c(float *byImage, float *byFilter) {
  static float x[] = {1, 2, 3, 4}, w[] = {1, 2}, y[] = {1, 10, 100};
  static const uint64_t row[] = {1, 1, 1, 4}, taps[] = {1, 1, 1, 2};
  static const uint64_t sums[] = {1, 1, 1, 3};
  TraceaTensorView image = {x, 4, row, NULL, TRACEA_FLOAT32, TRACEA_CPU};
  TraceaTensorView filter = {w, 4, taps, NULL, TRACEA_FLOAT32, TRACEA_CPU};
  TraceaTensorView grad = {y, 4, sums, NULL, TRACEA_FLOAT32, TRACEA_CPU};
  TraceaTensorView out = image;
  TraceaConv2dParams params = TRACEA_CONV2D_PARAMS_INIT;
  TraceaStatus status;
  out.ptr = byImage;
  status = tracea_conv2d_dgrad(grad, filter, &out, params);
  if (status != TRACEA_SUCCESS)
    return status;
  out = filter;
  out.ptr = byFilter;
  return tracea_conv2d_wgrad(image, grad, &out, params);
}
