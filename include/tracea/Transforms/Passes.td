//===- Passes.td - Transformation passes -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_TRANSFORMS_PASSES_TD
#define TRACEA_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// FuseEpilogues
//===----------------------------------------------------------------------===//

def FuseEpilogues : Pass<"tracea-fuse-epilogues"> {
  let summary = "Fuse elementwise consumers into the epilogues of semantic operations";
  let description = [{
    An elementwise consumer of an operation with an epilogue becomes part of
    that epilogue: its scalar body is inlined, its other operands become extra
    operands. Structured operations of `linalg` (`generic`, `map`, `add`,
    `exp`, …) and elementwise operations of `arith` and `math` on tensors are
    treated alike; a `tensor.cast` in between is looked through.

    ```mlir
    %0 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>)
                     outs(%d : tensor<4x16xf32>)
    %1 = linalg.generic {
           indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                            affine_map<(i, j) -> (i, j)>],
           iterator_types = ["parallel", "parallel"]}
         ins(%0, %bias : tensor<4x16xf32>, tensor<16xf32>)
         outs(%e : tensor<4x16xf32>) {
      ^bb0(%x: f32, %c: f32, %out: f32):
        %s = arith.addf %x, %c : f32
        linalg.yield %s : f32
    } -> tensor<4x16xf32>
    ```
    becomes
    ```mlir
    %1 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>)
                     outs(%e : tensor<4x16xf32>)
         epilogue(%bias by affine_map<(i, j) -> (j)> : tensor<16xf32>) {
      ^bb0(%x: f32, %c: f32):
        %s = arith.addf %x, %c : f32
        tracea.yield %s : f32
    }
    ```

    The result may have several users when all their results meet again in one
    elementwise operation (`x * sigmoid(x)`, GELU): the whole region between
    moves into the epilogue and no intermediate tensor is left. An operation
    with two semantic producers is fused into the later one, the earlier result
    being an extra operand. Extra operands that broadcast or transpose another
    tensor read that tensor through a composed map instead.

    What else reads the result of a `tracea.gemm`, or a value between it and the
    elementwise operation, reads an auxiliary result afterwards: the activation
    is computed beside the pre-activation that is kept. A reduction in linalg
    that reads a result of a `tracea.gemm` element by element and starts from
    nothing (a sum from 0, a maximum from -inf) becomes an auxiliary result,
    too, with what it computes of each element:

    ```mlir
    %0:2 = tracea.gemm ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>)
                       outs(%d : tensor<4x16xf32>)
         aux(add %e by affine_map<(i, j) -> (i)> : tensor<4xf32>) epilogue {
      ^bb0(%x: f32):
        %q = arith.mulf %x, %x : f32
        tracea.yield %x, %q : f32, f32
    }
    ```

    Nothing is fused into an operation that already carries a schedule: its
    decision was made for the epilogue that it had. Every consumer that looked
    fusible and was not is reported in a missed remark, category
    `tracea-fuse-epilogues`, with the reason.
  }];
  let options = [
    Option<"maxOperations", "max-operations", "unsigned", "256",
           "Scalar operations that one epilogue may hold after fusion">
  ];
  let statistics = [
    Statistic<"numFused", "num-fused", "Elementwise operations moved into an epilogue">,
    Statistic<"numExtras", "num-extras", "Extra operands added">,
    Statistic<"numReductions", "num-reductions", "Reductions moved into an epilogue">,
    Statistic<"numMissed", "num-missed", "Operations whose elementwise consumers stay outside">
  ];
  let dependentDialects = [
    "::mlir::tracea::TraceaDialect", "::mlir::arith::ArithDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// FuseFinishes
//===----------------------------------------------------------------------===//

def FuseFinishes : Pass<"tracea-fuse-finishes"> {
  let summary = "Fuse what rows of results are reduced to, and what is made of it";
  let description = [{
    Reductions along the rows of a softmax's or a norm's result, and elementwise
    operations on what they come to, alone or with the elements again, become
    the finish of the operation: a norm whose rows are quantised, each by its
    own greatest element, is one pass over memory.

    ```mlir
    %y = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<8x64xf32>) outs(%d : …)
    %m = linalg.generic … ins(%y : tensor<8x64xf32>) { … math.absf … arith.maximumf … } -> tensor<8xf32>
    %s = linalg.generic … ins(%m : tensor<8xf32>) { … arith.divf %a, %most … } -> tensor<8xf32>
    %q = linalg.generic … ins(%y, %s : tensor<8x64xf32>, tensor<8xf32>) { … arith.divf … arith.truncf … }
    ```
    becomes
    ```mlir
    %q, %s = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<8x64xf32>)
        outs(%d : tensor<8x64xf8E4M3FN>) rows(%e : tensor<8xf32>) epilogue {
      ^bb0(%acc: f32):
        %a = math.absf %acc : f32
        tracea.yield %acc, %a : f32, f32
    } finish [max] {
      ^bb0(%y: f32, %m: f32):
        %s = arith.divf %m, %most : f32
        %v = arith.divf %y, %s : f32
        %q = arith.truncf %v : f32 to f8E4M3FN
        tracea.yield %q, %s : f8E4M3FN, f32
    }
    ```

    Others may read one value of the elements, which becomes the result, and any
    values of rows. A reduction starts from a constant and depends on no other
    one; what is behind it reads constants besides. Halves are reduced in single
    precision. Rows lie along the last dimension and have at most `max-columns`
    elements. What looked fusible and was not is reported in a missed remark,
    category `tracea-fuse-finishes`.
  }];
  let options = [
    Option<"maxColumns", "max-columns", "int64_t", "16384",
           "Elements of the longest row whose result is finished">,
    Option<"maxOperations", "max-operations", "unsigned", "64",
           "Scalar operations that epilogue and finish may hold after fusion">
  ];
  let statistics = [
    Statistic<"numFused", "num-fused", "Operations that got a finish">,
    Statistic<"numMissed", "num-missed", "Operations whose results are reduced outside">
  ];
  let dependentDialects = [
    "::mlir::tracea::TraceaDialect", "::mlir::arith::ArithDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// FusePrologues
//===----------------------------------------------------------------------===//

def FusePrologues : Pass<"tracea-fuse-prologues"> {
  let summary = "Fuse elementwise producers into the prologues of operations on rows";
  let description = [{
    The elementwise operation that computes the input of a softmax or a norm
    becomes its prologue, which the kernel applies to what it reads. What others
    read as well, the sum of a residual connection for instance, becomes a
    result of the operation, which is stored on the way.

    ```mlir
    %h = linalg.generic … ins(%x, %r : tensor<8x64xbf16>, tensor<8x64xbf16>) { … arith.addf … }
    %y = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%h : tensor<8x64xbf16>) outs(%d : …)
    ```
    becomes, where something else reads %h,
    ```mlir
    %y, %h = tracea.rms_norm axis 1 epsilon 1.0e-5 ins(%x : tensor<8x64xbf16>)
        prologue(%r by affine_map<(i, j) -> (i, j)> : tensor<8x64xbf16>) {
      ^bb0(%a: bf16, %b: bf16):
        %s = arith.addf %a, %b : bf16
        tracea.yield %s, %s : bf16, bf16
    } outs(%d : …) keeps(%e : tensor<8x64xbf16>)
    ```

    Rows lie along the last dimension and have at most `max-columns` elements,
    which registers or the nearest cache hold; the producer reads its operands
    in their order and computes no functions of `math`, which targets that go
    over a row several times would repeat. What looked fusible and was not is
    reported in a missed remark, category `tracea-fuse-prologues`.
  }];
  let options = [
    Option<"maxColumns", "max-columns", "int64_t", "16384",
           "Elements of the longest row whose producer is fused">,
    Option<"maxOperations", "max-operations", "unsigned", "64",
           "Scalar operations that one prologue may hold after fusion">
  ];
  let statistics = [
    Statistic<"numFused", "num-fused", "Operations moved into a prologue">,
    Statistic<"numMissed", "num-missed", "Operations whose producers stay outside">
  ];
  let dependentDialects = [
    "::mlir::tracea::TraceaDialect", "::mlir::arith::ArithDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// FoldBatchNorm
//===----------------------------------------------------------------------===//

def FoldBatchNorm : Pass<"tracea-fold-batch-norm"> {
  let summary = "Fold an inference batch normalization into its producer's epilogue";
  let description = [{
    `tracea.batch_norm` after a `tracea.conv2d` or `tracea.gemm` that nobody
    else reads becomes `acc * s + t` in the producer's epilogue, with
    `s = scale / sqrt(variance + epsilon)` and `t = bias - mean * s` computed
    once per channel by rank-1 operations, or folded when they are constants.
    An epilogue of the batch normalization follows.

    ```mlir
    %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : …) outs(%d : …)
    %1 = tracea.batch_norm axis 3 epsilon 1.0e-5
           ins(%0, %scale, %bias, %mean, %var : …) outs(%e : …)
    ```
    becomes
    ```mlir
    %s, %t = …                                   // tensor<64xf32>, per channel
    %1 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : …) outs(%e : …)
         epilogue(%s by affine_map<(n, p, q, k) -> (k)>,
                  %t by affine_map<(n, p, q, k) -> (k)> : tensor<64xf32>, tensor<64xf32>) {
      ^bb0(%acc: f32, %a: f32, %b: f32):
        %m = arith.mulf %acc, %a : f32
        %r = arith.addf %m, %b : f32
        tracea.yield %r : f32
    }
    ```

    The scale is deliberately not multiplied into the filter. That would round
    every weight a second time (to 8 bits for bf16), would change the sum's
    terms instead of the sum, and would need a private copy of the weights; the
    multiplication that it saves is one per output element, hidden behind
    C*R*S multiplications of the sum. Square root and division are used, not
    `rsqrt`: some targets approximate the latter and it is computed once.
  }];
  let options = [
    Option<"maxFoldedElements", "max-folded-elements", "int64_t", "65536",
           "Largest constant that the per-channel computation is folded to">
  ];
  let statistics = [
    Statistic<"numFolded", "num-folded", "Batch normalizations folded">,
    Statistic<"numConstants", "num-constants", "Per-channel tensors folded to constants">
  ];
  let dependentDialects = [
    "::mlir::tracea::TraceaDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// HoistEpilogueInvariants
//===----------------------------------------------------------------------===//

def HoistEpilogueInvariants : Pass<"tracea-hoist-epilogue-invariants"> {
  let summary = "Compute per-channel parts of an epilogue once, not per element";
  let description = [{
    A maximal subexpression of an epilogue that depends only on extra operands
    of lower rank than the result, and on constants, is moved out into a
    `linalg.generic` over the smaller tensor when that saves an expensive
    operation (a function of `math`, a division) or when all its operands are
    constants. Front ends that spell a batch normalization as elementwise
    operations put one `rsqrt` into the epilogue for every output element.

    ```mlir
    epilogue(%var by affine_map<(n, p, q, k) -> (k)> : tensor<64xf32>) {
      ^bb0(%acc: f32, %v: f32):
        %e = arith.addf %v, %eps : f32
        %r = math.rsqrt %e : f32
        %o = arith.mulf %acc, %r : f32
        tracea.yield %o : f32
    }
    ```
    becomes
    ```mlir
    %h = linalg.generic … ins(%var : tensor<64xf32>) { … math.rsqrt … } -> tensor<64xf32>
    epilogue(%h by affine_map<(n, p, q, k) -> (k)> : tensor<64xf32>) {
      ^bb0(%acc: f32, %r: f32):
        %o = arith.mulf %acc, %r : f32
        tracea.yield %o : f32
    }
    ```

    Elementwise operations on constants, hoisted or found, are evaluated with
    the scalar operations' own folders and become dense constants. The order of
    arithmetic is kept: no reassociation takes place.
  }];
  let options = [
    Option<"maxFoldedElements", "max-folded-elements", "int64_t", "65536",
           "Largest constant that an elementwise operation is folded to">
  ];
  let statistics = [
    Statistic<"numHoisted", "num-hoisted", "Subexpressions moved out of an epilogue">,
    Statistic<"numConstants", "num-constants", "Elementwise operations folded to constants">
  ];
  let dependentDialects = [
    "::mlir::tracea::TraceaDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// PropagateCasts
//===----------------------------------------------------------------------===//

def PropagateCasts : Pass<"tracea-propagate-casts"> {
  let summary = "Let semantic operations read narrow operands and write narrow results";
  let description = [{
    A widening `arith.extf`, as a tensor operation or as an elementwise
    structured operation, in front of an operation is absorbed: the operation
    reads the narrow tensor and converts to its accumulator type, which is kept.
    Widening is exact, so the meaning is the same, and half the bytes are read.
    Operands of gemm, conv2d and attention are absorbed together, since they
    have one element type. In front of an extra operand any widening conversion
    moves into the epilogue.

    ```mlir
    %x = arith.extf %a : tensor<4x8xf16> to tensor<4x8xf32>
    %y = arith.extf %b : tensor<8x16xf16> to tensor<8x16xf32>
    %z = tracea.gemm ins(%x, %y : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
    ```
    becomes
    ```mlir
    %z = tracea.gemm ins(%a, %b : tensor<4x8xf16>, tensor<8x16xf16>) outs(%d : tensor<4x16xf32>)
    ```

    A narrowing conversion of the result moves into the epilogue.

    With `elide-roundings`, a value in an epilogue that is narrowed and widened
    again (`extf(truncf(x))`, which fusing a chain of low-precision operations
    leaves behind) stays wide. This is closer to the real-number meaning but not
    bit-identical to the unfused program, so it is off by default.
  }];
  let options = [
    Option<"elideRoundings", "elide-roundings", "bool", "false",
           "Drop narrowing followed by widening inside epilogues">
  ];
  let statistics = [
    Statistic<"numOperands", "num-operands", "Widening conversions absorbed">,
    Statistic<"numResults", "num-results", "Narrowing conversions absorbed">,
    Statistic<"numRoundings", "num-roundings", "Intermediate roundings dropped">
  ];
  let dependentDialects = [
    "::mlir::tracea::TraceaDialect", "::mlir::arith::ArithDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// PropagateTransposes
//===----------------------------------------------------------------------===//

def PropagateTransposes : Pass<"tracea-propagate-transposes"> {
  let summary = "Turn transpositions into flags and layouts of semantic operations";
  let description = [{
    Only rewrites that remove a transposition are made:

    - a transposed gemm operand becomes `transpose_lhs` or `transpose_rhs`;
    - a transposed gemm result becomes the product of the swapped operands,
      `(A B)^T = B^T A^T`, the epilogue's maps following;
    - a transposed filter becomes another filter layout when there is one, that
      of a gradient by the image too, and so does a transposed gradient of a
      filter;
    - a convolution between two transpositions from one image layout to the
      other and back changes its layout and loses both;
    - a transposed extra operand of an epilogue is read through a composed map;
    - a transposition of a transposition is one or none.

    ```mlir
    %t = linalg.transpose ins(%w : tensor<16x8xf32>) outs(%e : tensor<8x16xf32>)
           permutation = [1, 0]
    %y = tracea.gemm ins(%x, %t : tensor<4x8xf32>, tensor<8x16xf32>) outs(%d : tensor<4x16xf32>)
    ```
    becomes
    ```mlir
    %y = tracea.gemm transpose_rhs ins(%x, %w : tensor<4x8xf32>, tensor<16x8xf32>)
           outs(%d : tensor<4x16xf32>)
    ```
  }];
  let statistics = [
    Statistic<"numFolded", "num-folded", "Transpositions removed">
  ];
  let dependentDialects = [
    "::mlir::tracea::TraceaDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// JoinSiblings
//===----------------------------------------------------------------------===//

def JoinSiblings : Pass<"tracea-join-siblings", "::mlir::func::FuncOp"> {
  let summary = "Join small elementwise operations, and reductions of one tensor";
  let description = [{
    Operations of `linalg.generic` over the same few elements (up to 16384, of
    known extents) become one with a result for each, in front of the first
    operation that reads one of them: one launch in place of many. What one of
    them makes for another, element by element, is a value of the body. A joined
    operation has up to 48 operands. What constants alone decide, which a program
    computes once, is joined with its like alone.

    Reductions that go through one tensor alike, to results alike, are one as
    well, of any size: the tensor is read once.

    ```mlir
    %s = linalg.generic … ins(%g : tensor<?x64xf32>) outs(%zero : tensor<64xf32>) { … }
    %q = linalg.generic … ins(%g, %x : tensor<?x64xf32>, tensor<?x64xf32>) outs(%zero : tensor<64xf32>) { … }
    ```
    becomes
    ```mlir
    %both:2 = linalg.generic … ins(%g, %x : …) outs(%zero, %zero : tensor<64xf32>, tensor<64xf32>) { … }
    ```
  }];
  let statistics = [
    Statistic<"numJoined", "num-joined", "Operations that became part of another">
  ];
  let dependentDialects = [
    "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// SinkTransposes
//===----------------------------------------------------------------------===//

def SinkTransposes : Pass<"tracea-sink-transposes", "::mlir::func::FuncOp"> {
  let summary = "Move transpositions down to where they meet their inverse";
  let description = [{
    Loops over elements, borders, poolings, convolutions and their gradients
    read the source of a transposition, and what they give is transposed in
    place of what they read; sums read the source and are as they were. Where
    a framework keeps channels last behind operations whose channels come first,
    the function has them last throughout then, and no transposition is left.

    A function is left as it is where the elements that its transpositions move,
    after `tracea-propagate-transposes`, would not be fewer.

    ```mlir
    %t = linalg.transpose ins(%x : tensor<8x32x32x16xf32>)
           outs(%e : tensor<8x16x32x32xf32>) permutation = [0, 3, 1, 2]
    %y = linalg.exp ins(%t : tensor<8x16x32x32xf32>) outs(%e : tensor<8x16x32x32xf32>)
    %r = linalg.transpose ins(%y : tensor<8x16x32x32xf32>)
           outs(%d : tensor<8x32x32x16xf32>) permutation = [0, 2, 3, 1]
    ```
    becomes the exponential of `%x`.
  }];
  let statistics = [
    Statistic<"numFunctions", "num-functions",
              "Functions whose transpositions were moved">
  ];
  let dependentDialects = [
    "::mlir::tracea::TraceaDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// FoldPads
//===----------------------------------------------------------------------===//

def FoldPads : Pass<"tracea-fold-pads"> {
  let summary = "Fold zero padding of an image into the pads of a convolution";
  let description = [{
    A `tensor.pad` by constant zero of the height and width of an image, or the
    same written as an insertion into a zero-filled tensor, becomes part of the
    convolution's `pads`: an element outside of the image counts as zero.

    ```mlir
    %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
      ^bb0(%n: index, %h: index, %w: index, %c: index):
        tensor.yield %zero : f32
    } : tensor<1x8x8x4xf32> to tensor<1x10x10x4xf32>
    %y = tracea.conv2d layout nhwc filter krsc
           ins(%p, %f : tensor<1x10x10x4xf32>, tensor<16x3x3x4xf32>) outs(%d : …)
    ```
    becomes
    ```mlir
    %y = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1]
           ins(%x, %f : tensor<1x8x8x4xf32>, tensor<16x3x3x4xf32>) outs(%d : …)
    ```

    Padding of batch or channels, by another value or by an amount not known
    statically is left alone, with a missed remark.
  }];
  let statistics = [
    Statistic<"numFolded", "num-folded", "Paddings folded">
  ];
  let dependentDialects = ["::mlir::tracea::TraceaDialect"];
}

//===----------------------------------------------------------------------===//
// CollapseRows
//===----------------------------------------------------------------------===//

def CollapseRows : Pass<"tracea-collapse-rows"> {
  let summary = "Make one dimension of those that a norm reduces";
  let description = [{
    Neighbouring dimensions that `tracea.layer_norm` or `tracea.rms_norm`
    normalizes over, and that no operand tells apart, become one, where their
    extents are known: reshapes stand around. Kernels of rows hold a row of one
    dimension.

    ```mlir
    %y = tracea.layer_norm axis 1 epsilon 1.0e-5
           ins(%x : tensor<?x64x8x8xf32>) scale(%s : tensor<64x8x8xf32>)
           outs(%d : tensor<?x64x8x8xf32>)
    ```
    becomes, between reshapes,
    ```mlir
    %y = tracea.layer_norm axis 1 epsilon 1.0e-5
           ins(%x : tensor<?x4096xf32>) scale(%s : tensor<4096xf32>)
           outs(%d : tensor<?x4096xf32>)
    ```

    Of an operand of the prologue or epilogue that has some of the dimensions,
    those are one that it has side by side, and those that it lacks. Slices, and
    operations with a schedule, are left alone.
  }];
  let statistics = [
    Statistic<"numCollapsed", "num-collapsed", "Norms rewritten">
  ];
  let dependentDialects = ["::mlir::tracea::TraceaDialect",
                           "::mlir::tensor::TensorDialect"];
}

//===----------------------------------------------------------------------===//
// MergeTaps
//===----------------------------------------------------------------------===//

def MergeTaps : Pass<"tracea-merge-taps"> {
  let summary = "Count rows of windows that lie side by side as channels";
  let description = [{
    Where the windows of a convolution lie side by side, as patches do, each row
    of a window is contiguous in memory: it becomes the channels of one tap, and
    a row of windows an image of its own. All of it is reshapes; a kernel takes
    the channels of a tap at a time, and of three it makes little.

    ```mlir
    %y = tracea.conv2d layout nhwc filter krsc strides [16, 16]
           ins(%x, %f : tensor<?x224x224x3xf32>, tensor<768x16x16x3xf32>)
           outs(%d : tensor<?x14x14x768xf32>)
    ```
    becomes, between reshapes,
    ```mlir
    %y = tracea.conv2d layout nhwc filter krsc
           ins(%x, %f : tensor<?x16x14x48xf32>, tensor<768x16x1x48xf32>)
           outs(%d : tensor<?x1x14x768xf32>)
    ```

    Windows along the width have to lie side by side; where those along the
    height do not, or an operand of the epilogue differs between rows of the
    result and is not known to be as large as it, images stay as high as they
    are.
    Convolutions of groups, channels first, slices and those with a schedule
    are left alone.
  }];
  let statistics = [
    Statistic<"numMerged", "num-merged", "Convolutions rewritten">
  ];
  let dependentDialects = ["::mlir::tracea::TraceaDialect",
                           "::mlir::affine::AffineDialect",
                           "::mlir::tensor::TensorDialect"];
}

//===----------------------------------------------------------------------===//
// PromoteToF64
//===----------------------------------------------------------------------===//

def PromoteToF64 : Pass<"tracea-promote-to-f64", "::mlir::ModuleOp"> {
  let summary = "Compute a module's meaning in float64";
  let description = [{
    Replaces every float type narrower than 64 bits by f64: in the types of
    values, in function signatures, in constants (whose values are kept exactly)
    and in other attributes. Conversions between floats disappear; conversions
    from and to integers stay, and integer arithmetic is untouched. Applied to
    the output of `convert-tracea-to-linalg` it gives the float64 reference of a
    module.

    An operation that reads the bits of a float, or that reaches outside of the
    module with one, has no such meaning and is an error.

    ```mlir
    func.func @f(%x: tensor<4xbf16>) -> tensor<4xf32> {
      … linalg.generic … {
        %w = arith.extf %in : bf16 to f32
        %s = arith.addf %w, %c : f32
    ```
    becomes
    ```mlir
    func.func @f(%x: tensor<4xf64>) -> tensor<4xf64> {
      … linalg.generic … {
        %s = arith.addf %in, %c : f64
    ```
  }];
}

//===----------------------------------------------------------------------===//
// InlineCalls
//===----------------------------------------------------------------------===//

def InlineCalls : Pass<"tracea-inline-calls", "::mlir::ModuleOp"> {
  let summary = "Replace calls by the bodies of their callees";
  let description = [{
    Every call of a function of the module is inlined, whatever operations it
    holds; private functions are erased afterwards. A recursive call, a call of a
    function without a body and one of a body of several blocks are errors.

    ```mlir
    func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> { … }
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```
    becomes the body of `@twice` in `@main`.
  }];
}

//===----------------------------------------------------------------------===//
// ElementwiseToLinalg
//===----------------------------------------------------------------------===//

def ElementwiseToLinalg
    : Pass<"tracea-elementwise-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "Turn arithmetic on whole tensors into linalg operations";
  let description = [{
    Operations of `arith` and `math` on tensors become `linalg.generic`, each
    with a destination of its own, so that they can be fused and have memory.

    ```mlir
    %0 = arith.addf %a, %b : tensor<?xf32>
    ```
    becomes
    ```mlir
    %e = tensor.empty(%n) : tensor<?xf32>
    %0 = linalg.generic {…} ins(%a, %b : …) outs(%e : …) {
    ^bb0(%x: f32, %y: f32, %out: f32):
      %sum = arith.addf %x, %y : f32
      linalg.yield %sum : f32
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// ExpandFunctions
//===----------------------------------------------------------------------===//

def ExpandFunctions : Pass<"tracea-expand-functions", "::mlir::func::FuncOp"> {
  let summary = "Write out functions of math that are simple arithmetic";
  let description = [{
    `math.sincos` becomes `math.sin` and `math.cos`, `math.isinf` and
    `math.isnormal` become comparisons with numbers of the operand's own type,
    `math.clampf` a minimum and a maximum. Products of twice as many bits
    (`arith.mului_extended`, `arith.mulsi_extended`) are taken in such a type
    where there is one of up to 64 bits.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect"
  ];
}

//===----------------------------------------------------------------------===//
// UnrollLoops
//===----------------------------------------------------------------------===//

def UnrollLoops : Pass<"tracea-unroll-loops", "::mlir::func::FuncOp"> {
  let summary = "Unroll short loops around operations on tensors";
  let description = [{
    A program has no loops around launches. A loop of a function with up to 16
    iterations and 512 operations in all of them becomes these, where it has
    structured operations on tensors of some size: each is fused and scheduled
    as others are. Insertions side by side into a tensor without contents, one
    an iteration, become a concatenation. The rounds of a search for the greatest elements, say, each
    find one.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// ExpandReshapes
//===----------------------------------------------------------------------===//

def ExpandReshapes : Pass<"tracea-expand-reshapes", "::mlir::func::FuncOp"> {
  let summary = "Turn reshapes by numbers into collapses and expansions";
  let description = [{
    `tensor.reshape` takes its sizes from a tensor. Where that is made of single
    numbers (`tensor.from_elements`, a constant, a cast of one), the reshape
    becomes collapses and expansions, which producers and consumers are fused
    through. Dimensions that are seen to stay, and those that join or split
    within known extents, are groups of their own; what is left becomes one
    dimension first, and that it has as many elements as are asked for is an
    assertion. A single size that no number tells is what the others leave.

    ```mlir
    %shape = tensor.from_elements %n, %c64 : tensor<2xindex>
    %1 = tensor.reshape %0(%shape)
           : (tensor<?x4x16xf32>, tensor<2xindex>) -> tensor<?x64xf32>
    ```
    becomes
    ```mlir
    %d = tensor.dim %0, %c0 : tensor<?x4x16xf32>
    %same = arith.cmpi eq, %d, %n : index
    cf.assert %same, "the reshape does not keep the number of elements"
    %1 = tensor.collapse_shape %0 [[0], [1, 2]]
           : tensor<?x4x16xf32> into tensor<?x64xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// ExpandDGrad
//===----------------------------------------------------------------------===//

def ExpandDGrad : Pass<"tracea-expand-dgrad", "::mlir::func::FuncOp"> {
  let summary = "Turn gradients of convolutions by their images into convolutions";
  let description = [{
    The pixels of the result whose places have the same remainders modulo the
    strides meet the same taps of the filter: they are a convolution of the
    gradient without a stride, by those taps in reverse order. Each becomes a
    `tracea.conv2d` into every stride-th pixel of the result, with the epilogue;
    pixels that no tap meets get the epilogue of 0. Without strides there is one
    convolution. Nothing is multiplied by zeros that strides would put between
    pixels of the gradient.

    ```mlir
    %dx = tracea.conv2d_dgrad layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1]
            ins(%dy, %w : tensor<1x4x4x8xf32>, tensor<8x3x3x16xf32>)
            outs(%d : tensor<1x8x8x16xf32>)
    ```
    becomes four convolutions, by 1x1, 1x2, 2x1 and 2x2 taps; the last of them is
    ```mlir
    %taps = linalg.generic … // [16, 2, 2, 8] of %w
    %some = tensor.extract_slice %0[0, 1, 1, 0] [1, 4, 4, 16] [1, 2, 2, 1] : …
    %odd = tracea.conv2d layout nhwc filter krsc pads [0, 0, 1, 1]
             ins(%dy, %taps : …) outs(%some : tensor<1x4x4x16xf32>)
    %dx = tensor.insert_slice %odd into %0[0, 1, 1, 0] [1, 4, 4, 16] [1, 2, 2, 1] : …
    ```

    Phases leave for their places like this where `stores-to-windows` says that
    kernels store to rows that lie apart, and channels are last. Of an epilogue
    that reads something of each pixel the sums leave, rounded where it does that
    first, and a `linalg.generic` behind them is the epilogue. Else phases are
    stored one behind the other, and a `linalg.generic` puts pixels where they
    belong.

    Extents that only the run knows need as many zeros behind the gradient as
    only the run knows; with strides it is then copied once, zeros included.
  }];
  let options = [
    Option<"storesToWindows", "stores-to-windows", "bool", "false",
           "Store each phase to every stride-th pixel of the result; a module "
           "that names its target is asked for that">
  ];
  let statistics = [
    Statistic<"numConvolutions", "num-convolutions", "Convolutions made">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::cf::ControlFlowDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect", "::mlir::tracea::TraceaDialect"
  ];
}

//===----------------------------------------------------------------------===//
// GatherToLinalg
//===----------------------------------------------------------------------===//

def GatherToLinalg : Pass<"tracea-gather-to-linalg", "::mlir::func::FuncOp"> {
  let summary = "Turn gathers into linalg operations";
  let description = [{
    `tensor.gather` becomes a `linalg.generic` over its result, which reads the
    coordinates of each element and then the element with `tensor.extract`.
    Coordinates outside of the source are an error of the run, as all indices
    that come from data are.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// FuseElementwise
//===----------------------------------------------------------------------===//

def FuseElementwise : Pass<"tracea-fuse-elementwise"> {
  let summary = "Make one of elementwise operations that follow each other";
  let description = [{
    An elementwise `linalg.generic` takes in the one that computes an operand of
    it which nobody else reads, and reshapes between the two, as linalg's own
    pass does. A body grows to `max-operations`: a longer chain becomes several
    operations, so that the time that it takes grows with its length, not with
    the square.

    ```mlir
    %0 = linalg.generic … ins(%x) { … math.exp … } -> tensor<4x8xf32>
    %1 = linalg.generic … ins(%0, %y) { … arith.addf … } -> tensor<4x8xf32>
    ```
    becomes
    ```mlir
    %1 = linalg.generic … ins(%x, %y) { … math.exp … arith.addf … } -> tensor<4x8xf32>
    ```

    What several loops read is computed in each of them where they read no more
    then: where it changes the elements of one tensor by a few operations, and by
    tensors of fewer dimensions.
  }];
  let options = [
    Option<"maxOperations", "max-operations", "uint64_t", "128",
           "Most operations in the body of what is fused">
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// VerifyInput
//===----------------------------------------------------------------------===//

def VerifyInput : Pass<"tracea-verify-input", "::mlir::ModuleOp"> {
  let summary = "Refuse valid IR that has no meaning";
  let description = [{
    A loop whose step is a constant below 1 runs for ever, or not at all where
    canonicalization gets to see it; steps that only the run knows are looked at
    there. The extent of a dimension that is not there is undefined.
  }];
}

include "tracea/Transforms/HostPasses.td"

#endif // TRACEA_TRANSFORMS_PASSES_TD
