//===- TraceaAttentionGradientOps.td - Gradients of attention -----*- tablegen -*-===//
// Part of Tracea, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TRACEA_DIALECT_TRACEA_IR_TRACEAATTENTIONGRADIENTOPS_TD
#define TRACEA_DIALECT_TRACEA_IR_TRACEAATTENTIONGRADIENTOPS_TD

// Included by TraceaOps.td, after the classes that operations derive from.

/// Operands and attributes are those of the attention that it is a gradient of,
/// and what the attention left for it.
class Tracea_AttentionGradientOp<string mnemonic, dag inits>
    : Tracea_StructuredOp<mnemonic, [AttrSizedOperandSegments,
                                     Tracea_AttentionOpInterface]> {
  let arguments = !con((ins
    AnyRankedTensor:$query, AnyRankedTensor:$key, AnyRankedTensor:$value,
    AnyRankedTensor:$gradient, AnyRankedTensor:$lse, AnyRankedTensor:$delta,
    Optional<AnyRankedTensor>:$block_mask,
    Optional<AnyRankedTensor>:$lengths), inits, (ins
    OptionalAttr<F64Attr>:$scale, UnitAttr:$causal,
    OptionalAttr<DenseI64ArrayAttr>:$window,
    OptionalAttr<DenseI64ArrayAttr>:$block_size,
    OptionalAttr<TypeAttr>:$acc,
    OptionalAttr<Tracea_ScheduleAttr>:$schedule));
}

def Tracea_AttentionQGradOp : Tracea_AttentionGradientOp<"attention_qgrad",
    (ins AnyRankedTensor:$init)> {
  let summary = "Gradient of attention by its queries";
  let description = [{
    For the attention `y, lse = tracea.attention(query, key, value)` with the
    same attributes and masks, and `gradient` in the shape of y, the result is
    in the shape of the query:

    `result[b, h, i, d] = scale * sum over j of by_score[i, j] * key[b, g, j, d]`
    with `weight[i, j] = exp(scale * query . key - lse[b, h, i])`, which is 0
    where the key is masked, and
    `by_score[i, j] = weight[i, j] * (gradient[b, h, i] . value[b, g, j] - delta[b, h, i])`.

    `delta[b, h, i] = gradient[b, h, i] . y[b, h, i]` is what the weights of a
    row have in common. Scores are made again from the queries and keys, so that
    none need be kept. The order of the sum is the same on every run. A row that
    sees no key (its `lse` is -inf) has zeros.

    ```mlir
    %dq = tracea.attention_qgrad causal
        ins(%q, %k, %v, %dy, %lse, %delta : tensor<?x8x?x64xbf16>, tensor<?x2x?x64xbf16>,
            tensor<?x2x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?xf32>, tensor<?x8x?xf32>)
        outs(%d : tensor<?x8x?x64xbf16>) -> tensor<?x8x?x64xbf16>
    ```
  }];
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    (`causal` $causal^)? (`window` $window^)? (`scale` $scale^)? (`acc` $acc^)?
    `ins` `(` $query `,` $key `,` $value `,` $gradient `,` $lse `,` $delta `:`
      type($query) `,` type($key) `,` type($value) `,` type($gradient) `,`
      type($lse) `,` type($delta) `)`
    (`block_mask` `(` $block_mask^ `:` type($block_mask) `)` `block_size` $block_size)?
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    `outs` `(` $init `:` type($init) `)`
    (`schedule` $schedule^)?
    attr-dict `->` type($result)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getInitMutable();
    }
  }];
}

def Tracea_AttentionKVGradOp : Tracea_AttentionGradientOp<"attention_kvgrad",
    (ins AnyRankedTensor:$key_init, AnyRankedTensor:$value_init)> {
  let summary = "Gradients of attention by its keys and values";
  let description = [{
    What `tracea.attention_qgrad` says of weights and of what scores are
    multiplied by holds here, too. Results are in the shapes of key and value,
    and sums go over all query heads h that share a key head g:

    `key_grad[b, g, j, d] = scale * sum over h, i of by_score[h, i, j] * query[b, h, i, d]`
    and
    `value_grad[b, g, j, e] = sum over h, i of weight[h, i, j] * gradient[b, h, i, e]`.

    The order of the sums is the same on every run. A key that no query sees has
    zeros.

    ```mlir
    %dk, %dv = tracea.attention_kvgrad causal
        ins(%q, %k, %v, %dy, %lse, %delta : tensor<?x8x?x64xbf16>, tensor<?x2x?x64xbf16>,
            tensor<?x2x?x64xbf16>, tensor<?x8x?x64xbf16>, tensor<?x8x?xf32>, tensor<?x8x?xf32>)
        outs(%d, %e : tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16>)
        -> tensor<?x2x?x64xbf16>, tensor<?x2x?x64xbf16>
    ```
  }];
  let results = (outs AnyRankedTensor:$key_grad, AnyRankedTensor:$value_grad);
  let assemblyFormat = [{
    (`causal` $causal^)? (`window` $window^)? (`scale` $scale^)? (`acc` $acc^)?
    `ins` `(` $query `,` $key `,` $value `,` $gradient `,` $lse `,` $delta `:`
      type($query) `,` type($key) `,` type($value) `,` type($gradient) `,`
      type($lse) `,` type($delta) `)`
    (`block_mask` `(` $block_mask^ `:` type($block_mask) `)` `block_size` $block_size)?
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    `outs` `(` $key_init `,` $value_init `:` type($key_init) `,` type($value_init) `)`
    (`schedule` $schedule^)?
    attr-dict `->` type($key_grad) `,` type($value_grad)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      // The two destinations are neighbours.
      return ::mlir::MutableOperandRange(
          getOperation(), getKeyInitMutable().getOperandNumber(), 2);
    }
  }];
}

#endif
