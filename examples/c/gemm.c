/*===- gemm.c - A product from C ------------------------------------------===*\
|*
|* Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|* y = relu(x w + b): compiled at the first call, launched by later ones.
|*
\*===----------------------------------------------------------------------===*/

#include "tracea.h"

#include <stdio.h>

int main(void) {
  float x[2][3] = {{1, 2, 3}, {4, 5, 6}};
  float w[3][2] = {{1, -1}, {0, 1}, {1, 0}};
  float b[2] = {-3, 0}, y[2][2];
  const uint64_t xs[] = {2, 3}, ws[] = {3, 2}, bs[] = {2}, ys[] = {2, 2};
  TraceaTensorView in = {x, 2, xs, NULL, TRACEA_FLOAT32, TRACEA_CPU};
  TraceaTensorView weights = {w, 2, ws, NULL, TRACEA_FLOAT32, TRACEA_CPU};
  TraceaTensorView bias = {b, 1, bs, NULL, TRACEA_FLOAT32, TRACEA_CPU};
  TraceaTensorView out = {y, 2, ys, NULL, TRACEA_FLOAT32, TRACEA_CPU};
  TraceaGemmParams params = TRACEA_GEMM_PARAMS_INIT;
  params.epilogue = TRACEA_EPILOGUE_RELU;

  TraceaStatus status = tracea_gemm(in, weights, &bias, &out, params);
  if (status != TRACEA_SUCCESS) {
    char message[512];
    tracea_get_last_error((uint8_t *)message, sizeof message);
    fprintf(stderr, "%s: %s\n", tracea_status_name(status), message);
    return 1;
  }
  printf("y = %g %g %g %g\n", y[0][0], y[0][1], y[1][0], y[1][1]);
  return 0;
}
