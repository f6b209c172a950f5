//===- Passes.td - Passes of the decision level -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DOCTOR_PASSES_TD
#define TRACEA_DOCTOR_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// SelectSchedule
//===----------------------------------------------------------------------===//

def SelectSchedule : Pass<"tracea-select-schedule", "::mlir::ModuleOp"> {
  let summary = "Choose a variant and a schedule for every operation";
  let description = [{
    Attaches `tracea.target` to a module that has none, and a schedule to every
    operation that has none: the cheapest variant by the cost model whose
    requirements the operation and the target meet. A schedule that is already
    there is verified against the registry and kept.

    ```mlir
    %y = tracea.gemm ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>)
                     outs(%d : tensor<512x512xf32>)
    ```
    becomes, for a core with AVX-512,
    ```mlir
    %y = tracea.gemm ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>)
                     outs(%d : tensor<512x512xf32>)
           schedule <variant = "gemm.packed", unit = vector,
                     tile = [512, 512, 256, 256], registers = [8, 32]>
    ```

    Remarks of the category `tracea-doctor` say what was decided and why:
    `schedule-selected` and `schedule-verified` (passed), `variant-refused` and
    `schedule-fallback` (missed).
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"cpu\"",
           "Target of a module that names none: a name of the tables, or "
           "\"cpu\" or \"host\" for this machine">,
    Option<"threads", "threads", "int", /*default=*/"0",
           "Cores to plan for in a module that names no target; 0 for all of "
           "the target's">
  ];
  let statistics = [
    Statistic<"numSelected", "schedules-selected",
              "Number of schedules that were chosen">,
    Statistic<"numVerified", "schedules-verified",
              "Number of schedules that were already there">,
    Statistic<"numFallbacks", "fallbacks",
              "Number of operations left to the reference loops">
  ];
  let dependentDialects = ["::mlir::tracea::TraceaDialect"];
}

//===----------------------------------------------------------------------===//
// JoinProducts
//===----------------------------------------------------------------------===//

def JoinProducts : Pass<"tracea-join-products", "::mlir::ModuleOp"> {
  let summary = "Make products of one operand by constants one of a batch";
  let description = [{
    Products of one matrix by several of a size, the projections of an attention
    say, are one product of a batch by the stack of these, if the cost model
    expects that to take 5 % less at least: together they fill a machine that each alone
    leaves partly idle. The matrices have to be constants, of the module or
    arguments that are marked `tracea.constant`, and so have operands of the
    epilogue that differ: the stack is then made once, not by each run.
    Epilogues have to be the same. Remarks `products-joined` and
    `products-apart` of the category `tracea-doctor` say what was expected.

    ```mlir
    func.func @main(%x: tensor<64x512xbf16>,
                    %q: tensor<512x512xbf16> {tracea.constant},
                    %k: tensor<512x512xbf16> {tracea.constant}) -> …
      %0 = tracea.gemm ins(%x, %q : …) outs(%d : tensor<64x512xbf16>)
      %1 = tracea.gemm ins(%x, %k : …) outs(%e : tensor<64x512xbf16>)
    ```
    becomes
    ```mlir
      %w = tensor.concat dim(0) … -> tensor<2x512x512xbf16>
      %y = tracea.gemm ins(%x, %w : …) outs(%f : tensor<2x64x512xbf16>)
      %0 = tensor.extract_slice %y[0, 0, 0] [1, 64, 512] [1, 1, 1] : …
      %1 = tensor.extract_slice %y[1, 0, 0] [1, 64, 512] [1, 1, 1] : …
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"cpu\"",
           "Target of a module that names none">,
    Option<"threads", "threads", "int", /*default=*/"0",
           "Cores to plan for in a module that names no target; 0 for all">
  ];
  let statistics = [
    Statistic<"numJoined", "products-joined",
              "Number of products that have become one of a batch">
  ];
  let dependentDialects = ["::mlir::tracea::TraceaDialect"];
}

//===----------------------------------------------------------------------===//
// ShapeConvolutions
//===----------------------------------------------------------------------===//

def ShapeConvolutions : Pass<"tracea-shape-convolutions", "::mlir::ModuleOp"> {
  let summary = "Give convolutions operands that kernels read well";
  let description = [{
    Kernels copy rows of channels, and a step of their sums has channels of one
    tap. Where the cost model expects it to take less, the copies counted, a
    convolution is one of other operands:

    - with *channels last* where they were first: image, filter, result, and
      what the epilogue reads of each element, are transposed. Transpositions
      between two such convolutions are none.
    - with *the taps of a row as channels*: of an image of three channels a
      step would be padding for the most part. What the taps of a row see of
      the image is the channels of one pixel of another image, rounded up to
      rows of 16 bytes with zeros, and the filter is one tap wide.

    So does a gradient by the filter: its image and the gradient of the output
    are what is copied, and the filter is what is brought back where it belongs,
    without the columns that have no tap. One of small groups is one of *several
    groups as one*, which fill a tile, and of whose result the blocks of filters
    by channels of each group are taken.

    On CPUs a convolution may have channels last. One of few channels may have
    *its channels among the taps of a row*: with pixels of a row, and their
    channels, as pixels of one channel, and as many taps. Kernels multiply the
    taps of a row at once then. One of a single tap, without strides or a
    border, may have *the pixels of all rows as one row*: those of all images,
    where their number is known. Both are views of the same operands. A
    convolution with a schedule stays what it is, and so do those for GPUs whose
    speed of memory is not known. The remark `convolution-shaped` of the
    category `tracea-doctor` says what was expected.

    ```mlir
    %y = tracea.conv2d layout nhwc filter krsc strides [2, 2] pads [3, 3, 3, 3]
           ins(%x, %w : tensor<32x224x224x3xbf16>, tensor<64x7x7x3xbf16>) …
    ```
    becomes
    ```mlir
    %windows = linalg.generic … -> tensor<32x224x112x24xbf16>
    %y = tracea.conv2d layout nhwc filter krsc strides [2, 1] pads [3, 0, 3, 0]
           ins(%windows, %filter : tensor<32x224x112x24xbf16>,
                                   tensor<64x7x1x24xbf16>) …
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"cpu\"",
           "Target of a module that names none">,
    Option<"threads", "threads", "int", /*default=*/"0",
           "Cores to plan for in a module that names no target; 0 for all">
  ];
  let statistics = [
    Statistic<"numShaped", "convolutions-shaped",
              "Number of convolutions that have become ones of other operands">
  ];
  let dependentDialects = [
    "::mlir::tracea::TraceaDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect", "::mlir::arith::ArithDialect"];
}

#endif // TRACEA_DOCTOR_PASSES_TD
