//===- TraceaOps.td - Semantic operations -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEA_IR_TRACEAOPS_TD
#define TRACEA_DIALECT_TRACEA_IR_TRACEAOPS_TD

include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"
include "tracea/Dialect/Tracea/IR/TraceaAttributes.td"
include "tracea/Dialect/Tracea/IR/TraceaInterfaces.td"

/// A pure, destination-style operation on tensors with a schedule.
class Tracea_StructuredOp<string mnemonic, list<Trait> traits = []>
    : Tracea_Op<mnemonic, !listconcat([
        Pure,
        DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
          ["reifyResultShapes"]>,
        DeclareOpInterfaceMethods<TilingInterface,
          ["getLoopIteratorTypes", "getIterationDomain",
           "getTiledImplementation", "getResultTilePosition",
           "generateResultTileValue"]>,
        Tracea_ScheduledOpInterface], traits)> {
  let hasVerifier = 1;
}

/// A structured operation with an epilogue. The region is isolated: an epilogue is a function of scalars, and constants stay inside.
class Tracea_EpilogueOp<string mnemonic, list<Trait> traits = []>
    : Tracea_StructuredOp<mnemonic, !listconcat([
        IsolatedFromAbove, OpAsmOpInterface,
        InferTypeOpInterface, Tracea_EpilogueOpInterface], traits)> {
  code commonDeclarations = [{
    ::mlir::Type getAccumulatorType();
    ::mlir::Value getEpilogueResult() { return getResult(); }
    ::mlir::OpOperand &getEpilogueInit() { return getInitMutable(); }
    void getAsmBlockArgumentNames(::mlir::Region &region,
                                  ::mlir::OpAsmSetValueNameFn setNameFn) {
      ::mlir::tracea::detail::nameScalarArguments(region, setNameFn);
    }
  }];
  code epilogueDeclarations = commonDeclarations # [{
    /// The result has the type of the destination, the last operand.
    static ::llvm::LogicalResult inferReturnTypes(
        ::mlir::MLIRContext *, ::std::optional<::mlir::Location>,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr,
        ::mlir::OpaqueProperties, ::mlir::RegionRange,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      if (operands.empty())
        return ::mlir::failure();
      types.push_back(operands.back().getType());
      return ::mlir::success();
    }
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }
  }];
  let extraClassDeclaration = epilogueDeclarations;
}

//===----------------------------------------------------------------------===//
// gemm
//===----------------------------------------------------------------------===//

def Tracea_GemmOp : Tracea_EpilogueOp<"gemm", [
    AttrSizedOperandSegments, Tracea_DefinesSums]> {
  let summary = "Matrix product, batched, with an epilogue";
  let description = [{
    `result[b.., m, n] = epilogue(sum over k of lhs[b.., m, k] * rhs[b.., k, n])`

    The last two dimensions of each operand are the matrix; `transpose_lhs`
    reads lhs as [b.., k, m] and `transpose_rhs` reads rhs as [b.., n, k].
    Leading dimensions are batch dimensions; one of the operands may have none
    and is then shared by the whole batch.

    `acc` is the type of the accumulator and of the products: by default f64
    for f64, f32 for the smaller floats, i32 for i8. With k = 0 the sum is 0.

    ```mlir
    %y = tracea.gemm ins(%a, %b : tensor<?x?xbf16>, tensor<?x64xbf16>)
                     outs(%d : tensor<?x64xf32>)
         epilogue(%bias by affine_map<(m, n) -> (n)> : tensor<64xf32>) {
      ^bb0(%acc: f32, %c: f32):
        %s = arith.addf %acc, %c : f32
        tracea.yield %s : f32
    }
    ```

    Auxiliary results are further values of the epilogue. `aux` gives each a
    destination and a map from [b.., m, n] to its dimensions. One whose map has
    all dimensions is stored as it is yielded. One that lacks dimensions says
    how the values along them become one: `add`, `max` or `min`, in its element
    type, of 32 bits or more. The order in which they do is the same on every
    run. Of no values the sum is 0, the maximum -inf (of integers the least),
    the minimum +inf. What the destinations hold is not read.

    ```mlir
    %y, %before, %squares = tracea.gemm
        ins(%a, %b : tensor<?x?xbf16>, tensor<?x64xbf16>)
        outs(%d : tensor<?x64xbf16>)
        aux(%e by affine_map<(m, n) -> (m, n)>,
            add %f by affine_map<(m, n) -> (m)>
            : tensor<?x64xf32>, tensor<?xf32>)
        epilogue {
      ^bb0(%acc: f32):
        %z = arith.constant 0.0 : f32
        %r = arith.maximumf %acc, %z : f32
        %q = arith.mulf %r, %r : f32
        %t = arith.truncf %r : f32 to bf16
        tracea.yield %t, %acc, %q : bf16, f32, f32
    }
    ```
  }];
  let arguments = (ins
    AnyRankedTensor:$lhs, AnyRankedTensor:$rhs,
    Variadic<AnyRankedTensor>:$extras, AnyRankedTensor:$init,
    Variadic<AnyRankedTensor>:$aux_inits,
    UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs,
    OptionalAttr<TypeAttr>:$acc,
    DefaultValuedAttr<AffineMapArrayAttr, "{}">:$epilogue_maps,
    DefaultValuedAttr<AffineMapArrayAttr, "{}">:$aux_maps,
    DefaultValuedAttr<Tracea_ReductionKindArrayAttr, "{}">:$aux_kinds,
    OptionalAttr<Tracea_ScheduleAttr>:$schedule);
  let results = (outs AnyRankedTensor:$result,
                      Variadic<AnyRankedTensor>:$aux_results);
  let regions = (region AnyRegion:$epilogue);
  let assemblyFormat = [{
    (`transpose_lhs` $transpose_lhs^)? (`transpose_rhs` $transpose_rhs^)?
    (`acc` $acc^)?
    `ins` `(` $lhs `,` $rhs `:` type($lhs) `,` type($rhs) `)`
    `outs` `(` $init `:` type($init) `)`
    `` custom<AuxResults>($aux_inits, type($aux_inits), $aux_maps, $aux_kinds)
    (`schedule` $schedule^)?
    `` custom<Epilogue>($extras, type($extras), $epilogue_maps, $epilogue)
    attr-dict
  }];
  let extraClassDeclaration = commonDeclarations # [{
    /// Results have the types of their destinations.
    static ::llvm::LogicalResult inferReturnTypes(
        ::mlir::MLIRContext *, ::std::optional<::mlir::Location>,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr,
        ::mlir::OpaqueProperties properties, ::mlir::RegionRange,
        ::llvm::SmallVectorImpl<::mlir::Type> &types);
    ::mlir::MutableOperandRange getDpsInitsMutable();
    /// Number of batch dimensions of the result.
    int64_t getBatchRank();
    /// Extents of one matrix product; ShapedType::kDynamic where unknown.
    int64_t getM();
    int64_t getN();
    int64_t getK();
  }];
}

include "tracea/Dialect/Tracea/IR/TraceaGroupedOps.td"

//===----------------------------------------------------------------------===//
// conv2d
//===----------------------------------------------------------------------===//

def Tracea_Conv2DOp : Tracea_EpilogueOp<"conv2d", [
    Tracea_ConvolutionOpInterface]> {
  let summary = "Two-dimensional convolution with an epilogue";
  let description = [{
    `result[n, p, q, k] = epilogue(sum over r, s, c of
        image[n, p*stride_h + r*dilation_h - pad_top,
                 q*stride_w + s*dilation_w - pad_left, g*C/groups + c]
        * filter[k, r, s, c])` with `g = k / (K/groups)`; an element outside of
    the image counts as zero. `pads` are [top, left, bottom, right]. The filter
    has C/groups input channels. `layout` holds for image and result; the
    epilogue's maps take the result's dimensions in its own order.

    ```mlir
    %y = tracea.conv2d layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1]
           ins(%x, %w : tensor<?x56x56x64xf32>, tensor<64x3x3x64xf32>)
           outs(%d : tensor<?x28x28x64xf32>)
    ```
  }];
  let arguments = (ins
    AnyRankedTensor:$image, AnyRankedTensor:$filter,
    Variadic<AnyRankedTensor>:$extras, AnyRankedTensor:$init,
    DefaultValuedAttr<Tracea_ImageLayoutAttr, "::mlir::tracea::ImageLayout::NHWC">:$layout,
    DefaultValuedAttr<Tracea_FilterLayoutAttr, "::mlir::tracea::FilterLayout::KRSC">:$filter_layout,
    DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$strides,
    DefaultValuedAttr<DenseI64ArrayAttr, "{0, 0, 0, 0}">:$pads,
    DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$dilations,
    DefaultValuedAttr<I64Attr, "1">:$groups,
    OptionalAttr<TypeAttr>:$acc,
    DefaultValuedAttr<AffineMapArrayAttr, "{}">:$epilogue_maps,
    OptionalAttr<Tracea_ScheduleAttr>:$schedule);
  let results = (outs AnyRankedTensor:$result);
  let regions = (region AnyRegion:$epilogue);
  let assemblyFormat = [{
    `layout` `` $layout `filter` `` $filter_layout
    (`strides` $strides^)? (`pads` $pads^)? (`dilations` $dilations^)?
    (`groups` $groups^)? (`acc` $acc^)?
    `ins` `(` $image `,` $filter `:` type($image) `,` type($filter) `)`
    `outs` `(` $init `:` type($init) `)`
    (`schedule` $schedule^)?
    `` custom<Epilogue>($extras, type($extras), $epilogue_maps, $epilogue)
    attr-dict
  }];
  let extraClassDeclaration = epilogueDeclarations # [{
    ::mlir::tracea::ConvolutionParts getParts() {
      return {getImage(), getFilter(), getInit(), "image", "filter", "result"};
    }
    bool isDepthwise();
  }];
}

include "tracea/Dialect/Tracea/IR/TraceaGradientOps.td"

//===----------------------------------------------------------------------===//
// softmax and norms
//===----------------------------------------------------------------------===//

/// An operation on rows, whose elements a prologue may compute, and whose
/// results a finish may make of the row's values behind the epilogue.
class Tracea_RowOp<string mnemonic> : Tracea_EpilogueOp<mnemonic, [
    AttrSizedOperandSegments, Tracea_RowOpInterface]> {
  // Those that are kept, then those of whole rows: their destinations tell how
  // many there are of each.
  let results = (outs AnyRankedTensor:$result,
                      Variadic<AnyRankedTensor>:$others);
  let regions = (region AnyRegion:$prologue, AnyRegion:$epilogue,
                        AnyRegion:$finish);
  let extraClassDeclaration = commonDeclarations # [{
    ::mlir::ResultRange getKept() {
      return getOthers().drop_back(getRowInits().size());
    }
    ::mlir::ResultRange getRowResults() {
      return getOthers().take_back(getRowInits().size());
    }
    /// Results have the types of their destinations.
    static ::llvm::LogicalResult inferReturnTypes(
        ::mlir::MLIRContext *, ::std::optional<::mlir::Location>,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr,
        ::mlir::OpaqueProperties properties, ::mlir::RegionRange,
        ::llvm::SmallVectorImpl<::mlir::Type> &types);
    ::mlir::MutableOperandRange getDpsInitsMutable();
  }];
}

def Tracea_SoftmaxOp : Tracea_RowOp<"softmax"> {
  let summary = "Softmax along one dimension, with an epilogue";
  let description = [{
    `result = epilogue(exp(x - max(x)) / sum(exp(x - max(x))))`, maximum and sum
    taken along `dim`. A row of -inf only gives NaN, as the formula does.

    The elements of a row may be computed: a prologue takes one of the input and
    one of each of its operands and yields x, and what is to be kept as a result
    of its own.

    ```mlir
    %y, %sum = tracea.softmax dim 1 ins(%a : tensor<4x8xbf16>)
        prologue(%b by affine_map<(i, j) -> (j)> : tensor<8xbf16>) {
      ^bb0(%x: bf16, %in: bf16):
        %s = arith.addf %x, %in : bf16
        tracea.yield %s, %s : bf16, bf16
    } outs(%d : tensor<4x8xbf16>) keeps(%e : tensor<4x8xbf16>)
    ```

    What the epilogue makes of a row may be reduced along it again: behind the
    element it yields one more scalar for each kind of `finish`: `add`, `max` or
    `min`, in its own type, of 32 bits or more. The finish takes the element and
    the row's reduced values and yields the result, and of each row what `rows`
    has destinations for, whose dimensions are those that are not reduced. The
    order of reductions is the same on every run. Of no elements the sum is 0,
    the maximum -inf (of integers the least), the minimum +inf.

    ```mlir
    %q, %scales = tracea.softmax dim 1 ins(%a : tensor<4x8xbf16>)
        outs(%d : tensor<4x8xf8E4M3FN>) rows(%e : tensor<4xf32>)
        epilogue {
      ^bb0(%acc: f32):
        tracea.yield %acc, %acc : f32, f32
    } finish [max] {
      ^bb0(%y: f32, %greatest: f32):
        %most = arith.constant 448.0 : f32
        %scale = arith.divf %greatest, %most : f32
        %s = arith.divf %y, %scale : f32
        %q = arith.truncf %s : f32 to f8E4M3FN
        tracea.yield %q, %scale : f8E4M3FN, f32
    }
    ```
  }];
  let arguments = (ins
    AnyRankedTensor:$input, Variadic<AnyRankedTensor>:$prologue_operands,
    Variadic<AnyRankedTensor>:$extras, AnyRankedTensor:$init,
    Variadic<AnyRankedTensor>:$kept_inits,
    Variadic<AnyRankedTensor>:$row_inits, I64Attr:$dim,
    OptionalAttr<TypeAttr>:$acc,
    DefaultValuedAttr<AffineMapArrayAttr, "{}">:$prologue_maps,
    DefaultValuedAttr<AffineMapArrayAttr, "{}">:$epilogue_maps,
    DefaultValuedAttr<Tracea_ReductionKindArrayAttr, "{}">:$finish_kinds,
    OptionalAttr<Tracea_ScheduleAttr>:$schedule);
  let assemblyFormat = [{
    `dim` $dim (`acc` $acc^)?
    `ins` `(` $input `:` type($input) `)`
    `` custom<Prologue>($prologue_operands, type($prologue_operands),
                        $prologue_maps, $prologue)
    `outs` `(` $init `:` type($init) `)`
    (`keeps` `(` $kept_inits^ `:` type($kept_inits) `)`)?
    (`rows` `(` $row_inits^ `:` type($row_inits) `)`)?
    (`schedule` $schedule^)?
    `` custom<Epilogue>($extras, type($extras), $epilogue_maps, $epilogue)
    `` custom<Finish>($finish_kinds, $finish)
    attr-dict
  }];
}

def Tracea_BatchNormOp : Tracea_EpilogueOp<"batch_norm"> {
  let summary = "Batch normalization at inference, with an epilogue";
  let description = [{
    `result = epilogue((x - mean[c]) / sqrt(variance[c] + epsilon) * scale[c] + bias[c])`
    with `c` the index along `axis`.
  }];
  let arguments = (ins
    AnyRankedTensor:$input, AnyRankedTensor:$scale, AnyRankedTensor:$bias,
    AnyRankedTensor:$mean, AnyRankedTensor:$variance,
    Variadic<AnyRankedTensor>:$extras, AnyRankedTensor:$init,
    I64Attr:$axis, F64Attr:$epsilon, OptionalAttr<TypeAttr>:$acc,
    DefaultValuedAttr<AffineMapArrayAttr, "{}">:$epilogue_maps,
    OptionalAttr<Tracea_ScheduleAttr>:$schedule);
  let results = (outs AnyRankedTensor:$result);
  let regions = (region AnyRegion:$epilogue);
  let assemblyFormat = [{
    `axis` $axis `epsilon` $epsilon (`acc` $acc^)?
    `ins` `(` $input `,` $scale `,` $bias `,` $mean `,` $variance `:`
      type($input) `,` type($scale) `,` type($bias) `,` type($mean) `,` type($variance) `)`
    `outs` `(` $init `:` type($init) `)`
    (`schedule` $schedule^)?
    `` custom<Epilogue>($extras, type($extras), $epilogue_maps, $epilogue)
    attr-dict
  }];
}

def Tracea_LayerNormOp : Tracea_RowOp<"layer_norm"> {
  let summary = "Layer normalization, with an epilogue";
  let description = [{
    Normalizes over the dimensions `axis` to the last:
    `result = epilogue((x - mean) / sqrt(variance + epsilon) * scale + bias)`.
    `scale` and `bias` are optional and have the shape of the normalized dimensions.
  }];
  let arguments = (ins
    AnyRankedTensor:$input, Optional<AnyRankedTensor>:$scale,
    Optional<AnyRankedTensor>:$bias,
    Variadic<AnyRankedTensor>:$prologue_operands,
    Variadic<AnyRankedTensor>:$extras, AnyRankedTensor:$init,
    Variadic<AnyRankedTensor>:$kept_inits,
    Variadic<AnyRankedTensor>:$row_inits, I64Attr:$axis, F64Attr:$epsilon,
    OptionalAttr<TypeAttr>:$acc,
    DefaultValuedAttr<AffineMapArrayAttr, "{}">:$prologue_maps,
    DefaultValuedAttr<AffineMapArrayAttr, "{}">:$epilogue_maps,
    DefaultValuedAttr<Tracea_ReductionKindArrayAttr, "{}">:$finish_kinds,
    OptionalAttr<Tracea_ScheduleAttr>:$schedule);
  let assemblyFormat = [{
    `axis` $axis `epsilon` $epsilon (`acc` $acc^)?
    `ins` `(` $input `:` type($input) `)`
    `` custom<Prologue>($prologue_operands, type($prologue_operands),
                        $prologue_maps, $prologue)
    (`scale` `(` $scale^ `:` type($scale) `)`)?
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    `outs` `(` $init `:` type($init) `)`
    (`keeps` `(` $kept_inits^ `:` type($kept_inits) `)`)?
    (`rows` `(` $row_inits^ `:` type($row_inits) `)`)?
    (`schedule` $schedule^)?
    `` custom<Epilogue>($extras, type($extras), $epilogue_maps, $epilogue)
    `` custom<Finish>($finish_kinds, $finish)
    attr-dict
  }];
}

def Tracea_RMSNormOp : Tracea_RowOp<"rms_norm"> {
  let summary = "Root-mean-square normalization, with an epilogue";
  let description = [{
    Normalizes over the dimensions `axis` to the last:
    `result = epilogue(x / sqrt(mean(x * x) + epsilon) * scale)`.
  }];
  let arguments = (ins
    AnyRankedTensor:$input, Optional<AnyRankedTensor>:$scale,
    Variadic<AnyRankedTensor>:$prologue_operands,
    Variadic<AnyRankedTensor>:$extras, AnyRankedTensor:$init,
    Variadic<AnyRankedTensor>:$kept_inits,
    Variadic<AnyRankedTensor>:$row_inits, I64Attr:$axis, F64Attr:$epsilon,
    OptionalAttr<TypeAttr>:$acc,
    DefaultValuedAttr<AffineMapArrayAttr, "{}">:$prologue_maps,
    DefaultValuedAttr<AffineMapArrayAttr, "{}">:$epilogue_maps,
    DefaultValuedAttr<Tracea_ReductionKindArrayAttr, "{}">:$finish_kinds,
    OptionalAttr<Tracea_ScheduleAttr>:$schedule);
  let assemblyFormat = [{
    `axis` $axis `epsilon` $epsilon (`acc` $acc^)?
    `ins` `(` $input `:` type($input) `)`
    `` custom<Prologue>($prologue_operands, type($prologue_operands),
                        $prologue_maps, $prologue)
    (`scale` `(` $scale^ `:` type($scale) `)`)?
    `outs` `(` $init `:` type($init) `)`
    (`keeps` `(` $kept_inits^ `:` type($kept_inits) `)`)?
    (`rows` `(` $row_inits^ `:` type($row_inits) `)`)?
    (`schedule` $schedule^)?
    `` custom<Epilogue>($extras, type($extras), $epilogue_maps, $epilogue)
    `` custom<Finish>($finish_kinds, $finish)
    attr-dict
  }];
}

//===----------------------------------------------------------------------===//
// attention
//===----------------------------------------------------------------------===//

def Tracea_AttentionOp : Tracea_StructuredOp<"attention", [
    AttrSizedOperandSegments, Tracea_AttentionOpInterface]> {
  let summary = "Scaled dot-product attention";
  let description = [{
    query [b, h, i, d], key [b, g, j, d], value [b, g, j, e] → [b, h, i, e] with
    g dividing h (grouped queries: head h reads key head h / (H/G)).
    `weights = softmax over j of (scale * query . key)`; `scale` is 1/sqrt(d) by
    default. With `causal`, j > i + (J - I) is masked; with `window [l, r]` only
    i' - l <= j <= i' + r stay, i' = i + (J - I), a negative bound being none.
    `block_mask` is a tensor of i1 [b or 1, h or 1, ceil(I/bi), ceil(J/bj)] with
    `block_size [bi, bj]`. `lengths` [b], i32 or i64, are numbers that only the
    run knows: of batch b the keys from `lengths[b]` on are masked, all of them
    where it is negative, none where it is J or more; places of queries are still
    counted from all J keys. What masked keys and values hold does not matter,
    as long as it is finite. A row without any key gives zeros. The optional second
    result, log-sum-exp of the scaled scores, is [b, h, i].
  }];
  let arguments = (ins
    AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value,
    Optional<AnyRankedTensor>:$block_mask,
    Optional<AnyRankedTensor>:$lengths,
    AnyRankedTensor:$init, Optional<AnyRankedTensor>:$lse_init,
    OptionalAttr<F64Attr>:$scale, UnitAttr:$causal,
    OptionalAttr<DenseI64ArrayAttr>:$window,
    OptionalAttr<DenseI64ArrayAttr>:$block_size,
    OptionalAttr<TypeAttr>:$acc,
    OptionalAttr<Tracea_ScheduleAttr>:$schedule);
  let results = (outs AnyRankedTensor:$result, Optional<AnyRankedTensor>:$lse);
  let assemblyFormat = [{
    (`causal` $causal^)? (`window` $window^)? (`scale` $scale^)? (`acc` $acc^)?
    `ins` `(` $query `,` $key `,` $value `:`
      type($query) `,` type($key) `,` type($value) `)`
    (`block_mask` `(` $block_mask^ `:` type($block_mask) `)` `block_size` $block_size)?
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    `outs` `(` $init `:` type($init) `)`
    (`lse` `(` $lse_init^ `:` type($lse_init) `)`)?
    (`schedule` $schedule^)?
    attr-dict `->` type($result) (`,` type($lse)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
  }];
}

include "tracea/Dialect/Tracea/IR/TraceaAttentionGradientOps.td"

def Tracea_YieldOp : Tracea_Op<"yield", [
    Pure, Terminator,
    ParentOneOf<["GemmOp", "GroupedGemmOp", "Conv2DOp", "Conv2DDGradOp",
                 "Conv2DWGradOp", "SoftmaxOp", "BatchNormOp", "LayerNormOp", "RMSNormOp"]>]> {
  let summary = "Ends an epilogue, a prologue or a finish with its scalars";
  let description = [{
    The first of an epilogue is the result's, each further one that of an
    auxiliary result, or what a finish reduces. The first of a prologue is the
    element of the row, each further one that of a kept result. The first of a
    finish is the result's, each further one that of a row's result.
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The scalar of the first result.
    ::mlir::Value getValue() { return getValues().front(); }
    ::mlir::OpOperand &getValueMutable() { return getValuesMutable()[0]; }
  }];
}

#endif
