//===- Passes.td - Conversion passes -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_CONVERSION_PASSES_TD
#define TRACEA_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// TraceaToLinalg
//===----------------------------------------------------------------------===//

def ConvertTraceaToLinalg : Pass<"convert-tracea-to-linalg"> {
  let summary = "Write out the meaning of semantic operations in linalg";
  let description = [{
    Replaces every operation of the semantic dialect by its definition over
    `linalg`, `tensor`, `arith` and `math`. The result is the reference that the
    kernels are compared with: one generic per sum, every conversion to and from
    the accumulator's type explicit, the epilogue's region inlined into a last
    generic that writes the destination. Schedules are ignored.

    - A grouped convolution splits its channels into (group, channel); the image
      is padded with zeros first.
    - Real attributes (`epsilon`, `scale`) are written as f64 constants that are
      converted to the accumulator's type, so that `tracea-promote-to-f64` gets
      their full precision.
    - A row of an attention whose scores are all -inf, which is what a mask makes
      of a row without keys, gives zeros and a log-sum-exp of -inf.

    ```mlir
    %y = tracea.gemm ins(%a, %b : tensor<4x8xbf16>, tensor<8x2xbf16>)
                     outs(%d : tensor<4x2xbf16>)
    ```
    becomes
    ```mlir
    %e = tensor.empty() : tensor<4x2xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
    %s = linalg.generic {indexing_maps = [(m, n, k) -> (m, k), (m, n, k) -> (k, n),
                                          (m, n, k) -> (m, n)], …}
           ins(%a, %b : …) outs(%z : …) {…: extf, extf, mulf, addf }
    %y = linalg.generic {…} ins(%s : tensor<4x2xf32>) outs(%d : tensor<4x2xbf16>) {…: truncf }
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// LinalgToTracea
//===----------------------------------------------------------------------===//

def ConvertLinalgToTracea : Pass<"convert-linalg-to-tracea"> {
  let summary = "Raise contractions, convolutions and softmax to semantic operations";
  let description = [{
    Recognises, by indexing maps and body rather than by name, linalg operations
    on tensors that are a matrix product, a two-dimensional convolution or a
    softmax, and replaces them by `tracea.gemm`, `tracea.conv2d` and
    `tracea.softmax`. What does not fit is left alone; the values computed stay
    the same.

    - The body must be `acc + cast(a) * cast(b)` in the type of the result, which
      becomes the accumulator's type.
    - A sum that starts from zero needs no more; any other start becomes an extra
      operand `c` of an epilogue `acc + c`. A broadcast start (a bias) is read
      through the map of its broadcast.
    - A `tensor.pad` with zeros on spatial dimensions, with static amounts, in
      front of a convolution becomes its `pads`.
    - Products of a matrix and a vector get a unit dimension; the group and
      multiplier dimensions of grouped convolutions are merged by reshapes.

    ```mlir
    %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {… tensor.yield %zero : f32 }
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
    %y = linalg.conv_2d_nhwc_hwcf ins(%p, %w : tensor<1x10x10x4xf32>, tensor<3x3x4x16xf32>)
           outs(%z : tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
    ```
    becomes
    ```mlir
    %y = tracea.conv2d layout nhwc filter rsck pads [1, 1, 1, 1]
           ins(%x, %w : tensor<1x8x8x4xf32>, tensor<3x3x4x16xf32>)
           outs(%e : tensor<1x8x8x16xf32>)
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect", "::mlir::tracea::TraceaDialect"
  ];
  let options = [
    Option<"widenAccumulators", "widen-accumulators", "bool", /*default=*/"false",
           "Accumulate in f32 where linalg sums in f16 or bf16; rounds less often, "
           "so results may differ in the last bits">
  ];
  let statistics = [
    Statistic<"numGemms", "gemms", "Contractions raised to tracea.gemm">,
    Statistic<"numConvolutions", "convolutions", "Convolutions raised to tracea.conv2d">,
    Statistic<"numSoftmaxes", "softmaxes", "Softmaxes raised to tracea.softmax">
  ];
}

#endif // TRACEA_CONVERSION_PASSES_TD
