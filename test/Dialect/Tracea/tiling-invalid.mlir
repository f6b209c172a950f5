// What cannot be cut is refused.
// RUN: tracea-opt %s --split-input-file --transform-interpreter --verify-diagnostics

func.func @gemm_k(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %d: tensor<64x48xf32>) -> tensor<64x48xf32> {
  // expected-error @+3 {{'tracea.gemm' op expected a tile that covers dimension k: the result needs the whole reduction}}
  // expected-error @+2 {{to tile operation}}
  // expected-error @+1 {{failed to generate tiling loops}}
  %0 = tracea.gemm ins(%a, %b : tensor<64x32xf32>, tensor<32x48xf32>) outs(%d : tensor<64x48xf32>)
  return %0 : tensor<64x48xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["tracea.gemm"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %op tile_sizes [0, 0, 8] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @conv2d_c(%x: tensor<1x8x8x4xf32>, %w: tensor<4x3x3x4xf32>, %d: tensor<1x6x6x4xf32>) -> tensor<1x6x6x4xf32> {
  // expected-error @+3 {{'tracea.conv2d' op expected a tile that covers dimension c: the result needs the whole reduction}}
  // expected-error @+2 {{to tile operation}}
  // expected-error @+1 {{failed to generate tiling loops}}
  %0 = tracea.conv2d layout nhwc filter krsc ins(%x, %w : tensor<1x8x8x4xf32>, tensor<4x3x3x4xf32>) outs(%d : tensor<1x6x6x4xf32>)
  return %0 : tensor<1x6x6x4xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["tracea.conv2d"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %op tile_sizes [0, 0, 0, 0, 2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @conv2d_padded(%x: tensor<1x8x8x4xf32>, %w: tensor<4x3x3x4xf32>, %d: tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> {
  // expected-error @+3 {{'tracea.conv2d' op expected a tile at a static place of dimension q: its padding depends on where it lies}}
  // expected-error @+2 {{to tile operation}}
  // expected-error @+1 {{failed to generate tiling loops}}
  %0 = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] ins(%x, %w : tensor<1x8x8x4xf32>, tensor<4x3x3x4xf32>) outs(%d : tensor<1x8x8x4xf32>)
  return %0 : tensor<1x8x8x4xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["tracea.conv2d"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %op tile_sizes [0, 0, 4, 0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @conv2d_groups(%x: tensor<1x8x8x4xf32>, %w: tensor<8x3x3x2xf32>, %d: tensor<1x6x6x8xf32>) -> tensor<1x6x6x8xf32> {
  // expected-error @+3 {{'tracea.conv2d' op expected a tile of whole groups in dimension k: the operation has 2 groups}}
  // expected-error @+2 {{to tile operation}}
  // expected-error @+1 {{failed to generate tiling loops}}
  %0 = tracea.conv2d layout nhwc filter krsc groups 2 ins(%x, %w : tensor<1x8x8x4xf32>, tensor<8x3x3x2xf32>) outs(%d : tensor<1x6x6x8xf32>)
  return %0 : tensor<1x6x6x8xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["tracea.conv2d"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %op tile_sizes [0, 0, 0, 2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @softmax(%x: tensor<4x8xf32>, %d: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+3 {{'tracea.softmax' op expected a tile that covers dimension normalized: the result needs the whole reduction}}
  // expected-error @+2 {{to tile operation}}
  // expected-error @+1 {{failed to generate tiling loops}}
  %0 = tracea.softmax dim 0 ins(%x : tensor<4x8xf32>) outs(%d : tensor<4x8xf32>)
  return %0 : tensor<4x8xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["tracea.softmax"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %op tile_sizes [2, 0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @attention_causal(%q: tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32> {
  // expected-error @+3 {{'tracea.attention' op expected a tile that covers dimension i: a mask depends on the row's number}}
  // expected-error @+2 {{to tile operation}}
  // expected-error @+1 {{failed to generate tiling loops}}
  %0 = tracea.attention causal ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) outs(%q : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return %0 : tensor<1x4x8x16xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["tracea.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %op tile_sizes [0, 0, 4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @attention_lse(%q: tensor<1x4x8x16xf32>, %l: tensor<1x4x8xf32>) -> (tensor<1x4x8x16xf32>, tensor<1x4x8xf32>) {
  // expected-error @+3 {{'tracea.attention' op expected a tile that covers dimension e: log-sum-exp must be written once}}
  // expected-error @+2 {{to tile operation}}
  // expected-error @+1 {{failed to generate tiling loops}}
  %0, %1 = tracea.attention ins(%q, %q, %q : tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32>) outs(%q : tensor<1x4x8x16xf32>) lse(%l : tensor<1x4x8xf32>) -> tensor<1x4x8x16xf32>, tensor<1x4x8xf32>
  return %0, %1 : tensor<1x4x8x16xf32>, tensor<1x4x8xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["tracea.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %op tile_sizes [0, 0, 0, 4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @attention_heads(%q: tensor<1x4x8x16xf32>, %k: tensor<1x2x8x16xf32>) -> tensor<1x4x8x16xf32> {
  // expected-error @+3 {{'tracea.attention' op expected a tile of one head or of whole groups of heads in dimension h}}
  // expected-error @+2 {{to tile operation}}
  // expected-error @+1 {{failed to generate tiling loops}}
  %0 = tracea.attention ins(%q, %k, %k : tensor<1x4x8x16xf32>, tensor<1x2x8x16xf32>, tensor<1x2x8x16xf32>) outs(%q : tensor<1x4x8x16xf32>) -> tensor<1x4x8x16xf32>
  return %0 : tensor<1x4x8x16xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["tracea.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %op tile_sizes [0, 2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

func.func @grouped_gemm_rows(%a: tensor<64x32xf32>, %b: tensor<3x32x48xf32>, %e: tensor<3xi32>, %d: tensor<64x48xf32>) -> tensor<64x48xf32> {
  // expected-error @+3 {{'tracea.grouped_gemm' op expected a tile that covers dimension m: ends count rows from the first one}}
  // expected-error @+2 {{to tile operation}}
  // expected-error @+1 {{failed to generate tiling loops}}
  %0 = tracea.grouped_gemm ins(%a, %b, %e : tensor<64x32xf32>, tensor<3x32x48xf32>, tensor<3xi32>) outs(%d : tensor<64x48xf32>)
  return %0 : tensor<64x48xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["tracea.grouped_gemm"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %op tile_sizes [8] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
