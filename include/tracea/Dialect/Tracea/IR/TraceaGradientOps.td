//===- TraceaGradientOps.td - Gradients of convolutions -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEA_IR_TRACEAGRADIENTOPS_TD
#define TRACEA_DIALECT_TRACEA_IR_TRACEAGRADIENTOPS_TD

// Included by TraceaOps.td, after the classes that operations derive from.

/// Attributes are those of the convolution that it is a gradient of.
class Tracea_GradientOp<string mnemonic, dag operands>
    : Tracea_EpilogueOp<mnemonic, [Tracea_ConvolutionOpInterface]> {
  let arguments = !con(operands, (ins
    Variadic<AnyRankedTensor>:$extras, AnyRankedTensor:$init,
    DefaultValuedAttr<Tracea_ImageLayoutAttr, "::mlir::tracea::ImageLayout::NHWC">:$layout,
    DefaultValuedAttr<Tracea_FilterLayoutAttr, "::mlir::tracea::FilterLayout::KRSC">:$filter_layout,
    DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$strides,
    DefaultValuedAttr<DenseI64ArrayAttr, "{0, 0, 0, 0}">:$pads,
    DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$dilations,
    DefaultValuedAttr<I64Attr, "1">:$groups,
    OptionalAttr<TypeAttr>:$acc,
    DefaultValuedAttr<AffineMapArrayAttr, "{}">:$epilogue_maps,
    OptionalAttr<Tracea_ScheduleAttr>:$schedule));
  let results = (outs AnyRankedTensor:$result);
  let regions = (region AnyRegion:$epilogue);
}

def Tracea_Conv2DDGradOp : Tracea_GradientOp<"conv2d_dgrad",
    (ins AnyRankedTensor:$gradient, AnyRankedTensor:$filter)> {
  let summary = "Gradient of a convolution by its image; transposed convolution";
  let description = [{
    For the convolution `y = tracea.conv2d(x, filter)` with the same attributes
    and `gradient` in the shape of y, the result is in the shape of x:

    `result[n, h, w, g*C/groups + c] = epilogue(sum over r, s, k with
        h = p*stride_h + r*dilation_h - pad_top,
        w = q*stride_w + s*dilation_w - pad_left of
        gradient[n, p, q, g*K/groups + k] * filter[g*K/groups + k, r, s, c])`

    Pixels outside of the gradient add nothing to the sum, but a tap that is
    infinite or no number may make NaN of them.

    It is also what frameworks call a transposed convolution of `gradient`: with
    as many channels as the filter has outputs, `pads` that cut the result, and
    an output padding that the result's extents say. A filter [in, out/groups,
    height, width] of such a one has the layout kcrs.

    ```mlir
    %dx = tracea.conv2d_dgrad layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1]
            ins(%dy, %w : tensor<?x28x28x64xf32>, tensor<64x3x3x32xf32>)
            outs(%d : tensor<?x56x56x32xf32>)
    ```
  }];
  let assemblyFormat = [{
    `layout` `` $layout `filter` `` $filter_layout
    (`strides` $strides^)? (`pads` $pads^)? (`dilations` $dilations^)?
    (`groups` $groups^)? (`acc` $acc^)?
    `ins` `(` $gradient `,` $filter `:` type($gradient) `,` type($filter) `)`
    `outs` `(` $init `:` type($init) `)`
    (`schedule` $schedule^)?
    `` custom<Epilogue>($extras, type($extras), $epilogue_maps, $epilogue)
    attr-dict
  }];
  let extraClassDeclaration = epilogueDeclarations # [{
    ::mlir::tracea::ConvolutionParts getParts() {
      return {getInit(), getFilter(), getGradient(),
              "result", "filter", "gradient"};
    }
  }];
}

def Tracea_Conv2DWGradOp : Tracea_GradientOp<"conv2d_wgrad",
    (ins AnyRankedTensor:$image, AnyRankedTensor:$gradient)> {
  let summary = "Gradient of a convolution by its filter";
  let description = [{
    For the convolution `y = tracea.conv2d(image, filter)` with the same
    attributes and `gradient` in the shape of y, the result is in the shape of
    the filter:

    `result[g*K/groups + k, r, s, c] = epilogue(sum over n, p, q of
        gradient[n, p, q, g*K/groups + k] *
        image[n, p*stride_h + r*dilation_h - pad_top,
                 q*stride_w + s*dilation_w - pad_left, g*C/groups + c])`;
    an element outside of the image counts as zero. The order of the sum is the
    same on every run.

    ```mlir
    %dw = tracea.conv2d_wgrad layout nhwc filter krsc strides [2, 2] pads [1, 1, 1, 1]
            ins(%x, %dy : tensor<?x56x56x32xf32>, tensor<?x28x28x64xf32>)
            outs(%d : tensor<64x3x3x32xf32>)
    ```
  }];
  let assemblyFormat = [{
    `layout` `` $layout `filter` `` $filter_layout
    (`strides` $strides^)? (`pads` $pads^)? (`dilations` $dilations^)?
    (`groups` $groups^)? (`acc` $acc^)?
    `ins` `(` $image `,` $gradient `:` type($image) `,` type($gradient) `)`
    `outs` `(` $init `:` type($init) `)`
    (`schedule` $schedule^)?
    `` custom<Epilogue>($extras, type($extras), $epilogue_maps, $epilogue)
    attr-dict
  }];
  let extraClassDeclaration = epilogueDeclarations # [{
    ::mlir::tracea::ConvolutionParts getParts() {
      return {getImage(), getInit(), getGradient(),
              "image", "result", "gradient"};
    }
  }];
}

#endif
