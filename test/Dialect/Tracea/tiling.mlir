// RUN: tracea-opt %s --split-input-file --transform-interpreter --canonicalize --cse | FileCheck %s

// Extra operands are sliced through their maps; a broadcast dimension stays.
// CHECK-DAG: #[[$N:.+]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[$NM:.+]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[$COLUMN:.+]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-LABEL: func @gemm(
// CHECK-SAME: %[[A:[^:]+]]: tensor<64x32xf32>, %[[B:[^:]+]]: tensor<48x32xf32>, %[[D:[^:]+]]: tensor<64x48xf32>
// CHECK-SAME: %[[BIAS:[^:]+]]: tensor<48xf32>, %[[T:[^:]+]]: tensor<48x64xf32>, %[[COL:[^:]+]]: tensor<64x1xf32>
func.func @gemm(%a: tensor<64x32xf32>, %b: tensor<48x32xf32>, %d: tensor<64x48xf32>, %bias: tensor<48xf32>, %t: tensor<48x64xf32>, %col: tensor<64x1xf32>) -> tensor<64x48xf32> {
  // CHECK: scf.for %[[I:[^ ]+]] = %{{.*}} iter_args(%[[D0:[^ ]+]] = %[[D]])
  // CHECK: scf.for %[[J:[^ ]+]] = %{{.*}} iter_args(%[[D1:[^ ]+]] = %[[D0]])
  // CHECK-DAG: %[[TA:.+]] = tensor.extract_slice %[[A]][%[[I]], 0] [16, 32] [1, 1]
  // CHECK-DAG: %[[TB:.+]] = tensor.extract_slice %[[B]][%[[J]], 0] [8, 32] [1, 1]
  // CHECK-DAG: %[[TBIAS:.+]] = tensor.extract_slice %[[BIAS]][%[[J]]] [8] [1]
  // CHECK-DAG: %[[TT:.+]] = tensor.extract_slice %[[T]][%[[J]], %[[I]]] [8, 16] [1, 1]
  // CHECK-DAG: %[[TCOL:.+]] = tensor.extract_slice %[[COL]][%[[I]], 0] [16, 1] [1, 1]
  // CHECK-DAG: %[[TD:.+]] = tensor.extract_slice %[[D1]][%[[I]], %[[J]]] [16, 8] [1, 1]
  // CHECK: %[[Y:.+]] = tracea.gemm transpose_rhs ins(%[[TA]], %[[TB]] : tensor<16x32xf32>, tensor<8x32xf32>) outs(%[[TD]] : tensor<16x8xf32>)
  // CHECK-SAME: epilogue(%[[TBIAS]] by #[[$N]], %[[TT]] by #[[$NM]], %[[TCOL]] by #[[$COLUMN]] : tensor<8xf32>, tensor<8x16xf32>, tensor<16x1xf32>) {
  // CHECK: tensor.insert_slice %[[Y]] into %[[D1]][%[[I]], %[[J]]] [16, 8] [1, 1]
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<64x32xf32>, tensor<48x32xf32>) outs(%d : tensor<64x48xf32>)
       epilogue(%bias by affine_map<(m, n) -> (n)>, %t by affine_map<(m, n) -> (n, m)>, %col by affine_map<(m, n) -> (m, 0)>
                : tensor<48xf32>, tensor<48x64xf32>, tensor<64x1xf32>) {
    ^bb0(%acc: f32, %x: f32, %y: f32, %z: f32):
      %0 = arith.addf %acc, %x : f32
      %1 = arith.mulf %0, %y : f32
      %2 = arith.addf %1, %z : f32
      tracea.yield %2 : f32
  }
  return %0 : tensor<64x48xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["tracea.gemm"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l:2 = transform.structured.tile_using_for %op tile_sizes [16, 8] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// One matrix for the whole batch is not cut along the batch; dynamic extents.
// CHECK-LABEL: func @gemm_batch(
// CHECK-SAME: %[[A:[^:]+]]: tensor<?x?x?xf32>, %[[B:[^:]+]]: tensor<?x?xf32>
func.func @gemm_batch(%a: tensor<?x?x?xf32>, %b: tensor<?x?xf32>, %d: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  // CHECK: scf.forall (%[[I:.+]], %[[J:.+]]) in
  // CHECK: %[[TA:.+]] = tensor.extract_slice %[[A]][%[[X:.+]], 0, %[[Y:.+]]] [%[[SX:.+]], %[[K:.+]], %[[SY:.+]]] [1, 1, 1]
  // CHECK: %[[TD:.+]] = tensor.extract_slice %{{.*}}[%[[X]], %[[Y]], 0] [%[[SX]], %[[SY]], %{{.*}}] [1, 1, 1]
  // CHECK: tracea.gemm transpose_lhs ins(%[[TA]], %{{.*}} : tensor<?x?x?xf32>, tensor<?x?xf32>) outs(%[[TD]] : tensor<?x?x?xf32>)
  // CHECK: tensor.parallel_insert_slice
  %0 = tracea.gemm transpose_lhs ins(%a, %b : tensor<?x?x?xf32>, tensor<?x?xf32>) outs(%d : tensor<?x?x?xf32>)
  return %0 : tensor<?x?x?xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["tracea.gemm"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_forall %op tile_sizes [4, 16] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// The image's slice has the halo of the tile.
// CHECK-DAG: #[[$TWICE:.+]] = affine_map<(d0) -> (d0 * 2)>
// CHECK-LABEL: func @conv2d(
// CHECK-SAME: %[[X:[^:]+]]: tensor<2x21x19x8xf32>, %[[W:[^:]+]]: tensor<16x3x3x8xf32>
func.func @conv2d(%x: tensor<2x21x19x8xf32>, %w: tensor<16x3x3x8xf32>, %d: tensor<2x10x15x16xf32>) -> tensor<2x10x15x16xf32> {
  // CHECK: scf.for %[[N:[^ ]+]] =
  // CHECK: scf.for %[[P:[^ ]+]] =
  // CHECK: scf.for %[[Q:[^ ]+]] =
  // CHECK: scf.for %[[K:[^ ]+]] =
  // CHECK-DAG: %[[H:.+]] = affine.apply #[[$TWICE]](%[[P]])
  // CHECK-DAG: %[[TX:.+]] = tensor.extract_slice %[[X]][%[[N]], %[[H]], %[[Q]], 0] [1, 11, 9, 8] [1, 1, 1, 1]
  // CHECK-DAG: %[[TW:.+]] = tensor.extract_slice %[[W]][%[[K]], 0, 0, 0] [4, 3, 3, 8] [1, 1, 1, 1]
  // CHECK: tracea.conv2d layout nhwc filter krsc strides [2, 1] dilations [1, 2] ins(%[[TX]], %[[TW]] : tensor<1x11x9x8xf32>, tensor<4x3x3x8xf32>) outs(%{{.*}} : tensor<1x5x5x4xf32>)
  %0 = tracea.conv2d layout nhwc filter krsc strides [2, 1] dilations [1, 2]
       ins(%x, %w : tensor<2x21x19x8xf32>, tensor<16x3x3x8xf32>) outs(%d : tensor<2x10x15x16xf32>)
  return %0 : tensor<2x10x15x16xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["tracea.conv2d"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l:4 = transform.structured.tile_using_for %op tile_sizes [1, 5, 5, 4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Padding does not hinder tiles of images and channels.
// CHECK-LABEL: func @conv2d_padded(
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x8x?x?xf32>, %[[W:[^:]+]]: tensor<3x3x8x16xf32>
func.func @conv2d_padded(%x: tensor<?x8x?x?xf32>, %w: tensor<3x3x8x16xf32>, %d: tensor<?x16x?x?xf32>) -> tensor<?x16x?x?xf32> {
  // CHECK: scf.for %[[N:[^ ]+]] =
  // CHECK: scf.for %[[K:[^ ]+]] =
  // CHECK-DAG: %[[TX:.+]] = tensor.extract_slice %[[X]][%[[N]], 0, 0, 0] [1, 8, %{{.*}}, %{{.*}}] [1, 1, 1, 1]
  // CHECK-DAG: %[[TW:.+]] = tensor.extract_slice %[[W]][0, 0, 0, %[[K]]] [3, 3, 8, 4] [1, 1, 1, 1]
  // CHECK: tracea.conv2d layout nchw filter rsck pads [1, 1, 1, 1] ins(%[[TX]], %[[TW]] : tensor<1x8x?x?xf32>, tensor<3x3x8x4xf32>) outs(%{{.*}} : tensor<1x4x?x?xf32>)
  %0 = tracea.conv2d layout nchw filter rsck pads [1, 1, 1, 1]
       ins(%x, %w : tensor<?x8x?x?xf32>, tensor<3x3x8x16xf32>) outs(%d : tensor<?x16x?x?xf32>)
  return %0 : tensor<?x16x?x?xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["tracea.conv2d"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l:2 = transform.structured.tile_using_for %op tile_sizes [1, 4, 0, 0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A tile of a depthwise convolution has as many groups as channels.
// CHECK-LABEL: func @depthwise(
// CHECK-SAME: %[[X:[^:]+]]: tensor<1x8x8x32xf32>, %[[W:[^:]+]]: tensor<32x3x3x1xf32>
func.func @depthwise(%x: tensor<1x8x8x32xf32>, %w: tensor<32x3x3x1xf32>, %d: tensor<1x8x8x32xf32>) -> tensor<1x8x8x32xf32> {
  // CHECK: scf.for %[[K:[^ ]+]] =
  // CHECK-DAG: %[[TX:.+]] = tensor.extract_slice %[[X]][0, 0, 0, %[[K]]] [1, 8, 8, 16] [1, 1, 1, 1]
  // CHECK-DAG: %[[TW:.+]] = tensor.extract_slice %[[W]][%[[K]], 0, 0, 0] [16, 3, 3, 1] [1, 1, 1, 1]
  // CHECK: tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] groups 16 ins(%[[TX]], %[[TW]]
  %0 = tracea.conv2d layout nhwc filter krsc pads [1, 1, 1, 1] groups 32
       ins(%x, %w : tensor<1x8x8x32xf32>, tensor<32x3x3x1xf32>) outs(%d : tensor<1x8x8x32xf32>)
  return %0 : tensor<1x8x8x32xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["tracea.conv2d"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %op tile_sizes [0, 0, 0, 16] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Rows are cut, the normalized dimensions are not.
// CHECK-LABEL: func @rows(
// CHECK-SAME: %[[X:[^:]+]]: tensor<64x32xf32>, %[[P:[^:]+]]: tensor<32xf32>, %[[D:[^:]+]]: tensor<64x32xf32>
func.func @rows(%x: tensor<64x32xf32>, %p: tensor<32xf32>, %d: tensor<64x32xf32>) -> tensor<64x32xf32> {
  // CHECK: scf.for %[[I:[^ ]+]] =
  // CHECK: %[[TX:.+]] = tensor.extract_slice %[[X]][%[[I]], 0] [8, 32] [1, 1]
  // CHECK: tracea.softmax dim 1 ins(%[[TX]] : tensor<8x32xf32>) outs(%{{.*}} : tensor<8x32xf32>)
  %0 = tracea.softmax dim 1 ins(%x : tensor<64x32xf32>) outs(%d : tensor<64x32xf32>)
  // CHECK: scf.for
  // CHECK: tracea.layer_norm axis 1 {{.*}} ins(%{{.*}} : tensor<8x32xf32>) scale(%[[P]] : tensor<32xf32>) outs(%{{.*}} : tensor<8x32xf32>) epilogue(%{{.*}} by #{{.*}} : tensor<8x32xf32>) {
  %1 = tracea.layer_norm axis 1 epsilon 0.0 ins(%0 : tensor<64x32xf32>) scale(%p : tensor<32xf32>) outs(%d : tensor<64x32xf32>)
       epilogue(%x by affine_map<(i, j) -> (i, j)> : tensor<64x32xf32>) {
    ^bb0(%acc: f32, %r: f32):
      %0 = arith.addf %acc, %r : f32
      tracea.yield %0 : f32
  }
  // CHECK: scf.for
  // CHECK: tracea.rms_norm axis 1 {{.*}} ins(%{{.*}} : tensor<8x32xf32>) scale(%[[P]] : tensor<32xf32>) outs(%{{.*}} : tensor<8x32xf32>)
  %2 = tracea.rms_norm axis 1 epsilon 0.0 ins(%1 : tensor<64x32xf32>) scale(%p : tensor<32xf32>) outs(%d : tensor<64x32xf32>)
  return %2 : tensor<64x32xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["tracea.softmax", "tracea.layer_norm", "tracea.rms_norm"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %op tile_sizes [8, 0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Results of rows are cut where rows are.
// CHECK-LABEL: func @finish(
// CHECK-SAME: %[[X:[^:]+]]: tensor<8x64x32xf32>, %[[D:[^:]+]]: tensor<8x64x32xf32>, %[[E:[^:]+]]: tensor<8x32xf32>
func.func @finish(%x: tensor<8x64x32xf32>, %d: tensor<8x64x32xf32>, %e: tensor<8x32xf32>) -> (tensor<8x64x32xf32>, tensor<8x32xf32>) {
  // CHECK: scf.for %[[J:[^ ]+]] = {{.*}} iter_args(%{{.*}} = %[[D]], %[[S:.*]] = %[[E]])
  // CHECK-DAG: %[[TX:.+]] = tensor.extract_slice %[[X]][0, 0, %[[J]]] [8, 64, 4] [1, 1, 1]
  // CHECK-DAG: %[[TS:.+]] = tensor.extract_slice %[[S]][0, %[[J]]] [8, 4] [1, 1]
  // CHECK: %[[Y:.*]]:2 = tracea.softmax dim 1 ins(%[[TX]] : tensor<8x64x4xf32>) outs(%{{.*}} : tensor<8x64x4xf32>) rows(%[[TS]] : tensor<8x4xf32>)
  // CHECK: tensor.insert_slice %[[Y]]#1 into %[[S]][0, %[[J]]] [8, 4] [1, 1]
  %0:2 = tracea.softmax dim 1 ins(%x : tensor<8x64x32xf32>) outs(%d : tensor<8x64x32xf32>) rows(%e : tensor<8x32xf32>) epilogue {
    ^bb0(%a: f32):
      tracea.yield %a, %a : f32, f32
  } finish [max] {
    ^bb0(%a: f32, %b: f32):
      tracea.yield %a, %b : f32, f32
  }
  return %0#0, %0#1 : tensor<8x64x32xf32>, tensor<8x32xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["tracea.softmax"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %op tile_sizes [0, 0, 4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// What a prologue reads is cut as its map says, and what it keeps as the result is.
// CHECK-LABEL: func @prologue(
// CHECK-SAME: %[[X:[^:]+]]: tensor<64x32xf32>, %[[R:[^:]+]]: tensor<64xf32>, %[[D:[^:]+]]: tensor<64x32xf32>, %[[E:[^:]+]]: tensor<64x32xf32>
func.func @prologue(%x: tensor<64x32xf32>, %r: tensor<64xf32>, %d: tensor<64x32xf32>, %e: tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>) {
  // CHECK: scf.for %[[I:[^ ]+]] =
  // CHECK-DAG: %[[TX:.+]] = tensor.extract_slice %[[X]][%[[I]], 0] [8, 32] [1, 1]
  // CHECK-DAG: %[[TR:.+]] = tensor.extract_slice %[[R]][%[[I]]] [8] [1]
  // CHECK: tracea.softmax dim 1 ins(%[[TX]] : tensor<8x32xf32>) prologue(%[[TR]] by #{{.*}} : tensor<8xf32>) {
  // CHECK: } outs(%{{.*}} : tensor<8x32xf32>) keeps(%{{.*}} : tensor<8x32xf32>)
  %0:2 = tracea.softmax dim 1 ins(%x : tensor<64x32xf32>) prologue(%r by affine_map<(i, j) -> (i)> : tensor<64xf32>) {
    ^bb0(%a: f32, %b: f32):
      %0 = arith.addf %a, %b : f32
      tracea.yield %0, %0 : f32, f32
  } outs(%d : tensor<64x32xf32>) keeps(%e : tensor<64x32xf32>)
  return %0#0, %0#1 : tensor<64x32xf32>, tensor<64x32xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["tracea.softmax"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %op tile_sizes [8, 0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// CHECK-LABEL: func @batch_norm(
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x32xf32>, %[[P:[^:]+]]: tensor<32xf32>
func.func @batch_norm(%x: tensor<?x32xf32>, %p: tensor<32xf32>, %d: tensor<?x32xf32>) -> tensor<?x32xf32> {
  // CHECK: scf.for %[[I:[^ ]+]] =
  // CHECK: scf.for %[[J:[^ ]+]] =
  // CHECK: %[[TX:.+]] = tensor.extract_slice %[[X]][%[[I]], %[[J]]] [%{{.*}}, 8] [1, 1]
  // CHECK: %[[TP:.+]] = tensor.extract_slice %[[P]][%[[J]]] [8] [1]
  // CHECK: tracea.batch_norm axis 1 {{.*}} ins(%[[TX]], %[[TP]], %[[TP]], %[[TP]], %[[TP]] : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
  %0 = tracea.batch_norm axis 1 epsilon 0.0 ins(%x, %p, %p, %p, %p : tensor<?x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) outs(%d : tensor<?x32xf32>)
  return %0 : tensor<?x32xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["tracea.batch_norm"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l:2 = transform.structured.tile_using_for %op tile_sizes [16, 8] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// One head of the query reads the head of its group.
// CHECK-DAG: #[[$GROUP:.+]] = affine_map<(d0) -> (d0 floordiv 4)>
// CHECK-LABEL: func @attention(
// CHECK-SAME: %[[Q:[^:]+]]: tensor<2x8x64x16xf32>, %[[K:[^:]+]]: tensor<2x2x?x16xf32>
func.func @attention(%q: tensor<2x8x64x16xf32>, %k: tensor<2x2x?x16xf32>, %d: tensor<2x8x64x16xf32>, %l: tensor<2x8x64xf32>) -> (tensor<2x8x64x16xf32>, tensor<2x8x64xf32>) {
  // CHECK: scf.for %[[B:[^ ]+]] =
  // CHECK: scf.for %[[H:[^ ]+]] =
  // CHECK: scf.for %[[I:[^ ]+]] =
  // CHECK-DAG: %[[G:.+]] = affine.apply #[[$GROUP]](%[[H]])
  // CHECK-DAG: %[[TQ:.+]] = tensor.extract_slice %[[Q]][%[[B]], %[[H]], %[[I]], 0] [1, 1, 32, 16] [1, 1, 1, 1]
  // CHECK-DAG: %[[TK:.+]] = tensor.extract_slice %[[K]][%[[B]], %[[G]], 0, 0] [1, 1, %{{.*}}, 16] [1, 1, 1, 1]
  // CHECK: tracea.attention ins(%[[TQ]], %[[TK]], %[[TK]] :
  // CHECK-SAME: -> tensor<1x1x32x16xf32>, tensor<1x1x32xf32>
  // CHECK-DAG: tensor.insert_slice %{{.*}}[%[[B]], %[[H]], %[[I]], 0] [1, 1, 32, 16]
  // CHECK-DAG: tensor.insert_slice %{{.*}}[%[[B]], %[[H]], %[[I]]] [1, 1, 32]
  %0, %1 = tracea.attention ins(%q, %k, %k : tensor<2x8x64x16xf32>, tensor<2x2x?x16xf32>, tensor<2x2x?x16xf32>)
           outs(%d : tensor<2x8x64x16xf32>) lse(%l : tensor<2x8x64xf32>) -> tensor<2x8x64x16xf32>, tensor<2x8x64xf32>
  return %0, %1 : tensor<2x8x64x16xf32>, tensor<2x8x64xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["tracea.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l:3 = transform.structured.tile_using_for %op tile_sizes [1, 1, 32] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// Masks allow tiles of batches and heads; a broadcast block mask is shared.
// CHECK-LABEL: func @attention_masked(
// CHECK-SAME: %[[M:[^:]+]]: tensor<1x8x4x4xi1>)
func.func @attention_masked(%q: tensor<2x8x64x16xf32>, %d: tensor<2x8x64x16xf32>, %m: tensor<1x8x4x4xi1>) -> tensor<2x8x64x16xf32> {
  // CHECK: scf.for %[[B:[^ ]+]] =
  // CHECK: scf.for %[[H:[^ ]+]] =
  // CHECK: %[[TM:.+]] = tensor.extract_slice %[[M]][0, %[[H]], 0, 0] [1, 4, 4, 4] [1, 1, 1, 1]
  // CHECK: tracea.attention causal {{.*}} block_mask(%[[TM]] : tensor<1x4x4x4xi1>) block_size [16, 16]
  %0 = tracea.attention causal ins(%q, %q, %q : tensor<2x8x64x16xf32>, tensor<2x8x64x16xf32>, tensor<2x8x64x16xf32>)
       block_mask(%m : tensor<1x8x4x4xi1>) block_size [16, 16] outs(%d : tensor<2x8x64x16xf32>) -> tensor<2x8x64x16xf32>
  return %0 : tensor<2x8x64x16xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["tracea.attention"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l:2 = transform.structured.tile_using_for %op tile_sizes [1, 4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A producer is computed tile by tile inside of its consumer's loop.
// CHECK-LABEL: func @fuse(
func.func @fuse(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %d: tensor<64x48xf32>) -> tensor<64x48xf32> {
  // CHECK: scf.forall
  // CHECK: %[[G:.+]] = tracea.gemm ins(%{{.*}}, %{{.*}} : tensor<16x32xf32>, tensor<32x48xf32>) outs(%{{.*}} : tensor<16x48xf32>)
  // CHECK: tracea.softmax dim 1 ins(%[[G]] : tensor<16x48xf32>)
  %0 = tracea.gemm ins(%a, %b : tensor<64x32xf32>, tensor<32x48xf32>) outs(%d : tensor<64x48xf32>)
  %1 = tracea.softmax dim 1 ins(%0 : tensor<64x48xf32>) outs(%d : tensor<64x48xf32>)
  return %1 : tensor<64x48xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %softmax = transform.structured.match ops{["tracea.softmax"]} in %root : (!transform.any_op) -> !transform.any_op
    %gemm = transform.structured.match ops{["tracea.gemm"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_forall %softmax tile_sizes [16] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %f, %n = transform.structured.fuse_into_containing_op %gemm into %l : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// A loop over all of a dynamic reduction leaves it whole.
// CHECK-LABEL: func @dynamic_reduction(
func.func @dynamic_reduction(%n: index, %x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %d = tensor.empty(%m, %n) : tensor<?x?xf32>
  // CHECK: scf.for
  // CHECK: tracea.softmax dim 1
  %0 = tracea.softmax dim 1 ins(%e : tensor<?x?xf32>) outs(%d : tensor<?x?xf32>)
  return %0 : tensor<?x?xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["tracea.softmax"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %op tile_sizes [4, 0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// The shape of a result is that of its destination.
// CHECK-LABEL: func @dims(
// CHECK-SAME: %[[D:[^:]+]]: tensor<?x?xf32>)
func.func @dims(%x: tensor<?x?xf32>, %d: tensor<?x?xf32>) -> index {
  // CHECK: %[[C1:.+]] = arith.constant 1
  // CHECK: %[[DIM:.+]] = tensor.dim %[[D]], %[[C1]]
  // CHECK: return %[[DIM]]
  %c1 = arith.constant 1 : index
  %0 = tracea.softmax dim 1 ins(%x : tensor<?x?xf32>) outs(%d : tensor<?x?xf32>)
  %1 = tensor.dim %0, %c1 : tensor<?x?xf32>
  return %1 : index
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %func = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %r = transform.apply_registered_pass "resolve-ranked-shaped-type-result-dims" to %func : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// Columns of a grouped product: ends and rows stay whole.
// CHECK-LABEL: func @grouped_gemm(
// CHECK-SAME: %[[A:[^:]+]]: tensor<64x32xf32>, %[[B:[^:]+]]: tensor<3x48x32xf32>, %[[E:[^:]+]]: tensor<3xi32>, %[[BIAS:[^:]+]]: tensor<48xf32>, %[[D:[^:]+]]: tensor<64x48xf32>
func.func @grouped_gemm(%a: tensor<64x32xf32>, %b: tensor<3x48x32xf32>, %e: tensor<3xi32>, %bias: tensor<48xf32>, %d: tensor<64x48xf32>) -> tensor<64x48xf32> {
  // CHECK: scf.for %[[J:[^ ]+]] = %{{.*}} iter_args(%[[D0:[^ ]+]] = %[[D]])
  // CHECK-DAG: %[[TB:.+]] = tensor.extract_slice %[[B]][0, %[[J]], 0] [3, 8, 32] [1, 1, 1]
  // CHECK-DAG: %[[TBIAS:.+]] = tensor.extract_slice %[[BIAS]][%[[J]]] [8] [1]
  // CHECK-DAG: %[[TD:.+]] = tensor.extract_slice %[[D0]][0, %[[J]]] [64, 8] [1, 1]
  // CHECK: %[[Y:.+]] = tracea.grouped_gemm transpose_rhs ins(%[[A]], %[[TB]], %[[E]] : tensor<64x32xf32>, tensor<3x8x32xf32>, tensor<3xi32>) outs(%[[TD]] : tensor<64x8xf32>) epilogue(%[[TBIAS]]
  // CHECK: tensor.insert_slice %[[Y]] into %[[D0]][0, %[[J]]] [64, 8] [1, 1]
  %0 = tracea.grouped_gemm transpose_rhs ins(%a, %b, %e : tensor<64x32xf32>, tensor<3x48x32xf32>, tensor<3xi32>) outs(%d : tensor<64x48xf32>)
       epilogue(%bias by affine_map<(m, n) -> (n)> : tensor<48xf32>) {
    ^bb0(%acc: f32, %x: f32):
      %0 = arith.addf %acc, %x : f32
      tracea.yield %0 : f32
  }
  return %0 : tensor<64x48xf32>
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %op = transform.structured.match ops{["tracea.grouped_gemm"]} in %root : (!transform.any_op) -> !transform.any_op
    %t, %l = transform.structured.tile_using_for %op tile_sizes [0, 8] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
}
