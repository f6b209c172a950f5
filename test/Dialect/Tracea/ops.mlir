// Every operation in all its forms, through text, generic text and bytecode.
// RUN: tracea-opt %s | tracea-opt | FileCheck %s
// RUN: tracea-opt %s --mlir-print-op-generic | tracea-opt | FileCheck %s
// RUN: tracea-opt %s --emit-bytecode | tracea-opt | FileCheck %s

// CHECK-DAG: #[[$N:.+]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[$MN:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$NM:.+]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[$SCALAR:.+]] = affine_map<(d0, d1) -> ()>
// CHECK-DAG: #[[$COLUMN:.+]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-DAG: #[[$K:.+]] = affine_map<(d0, d1, d2, d3) -> (d3)>

// CHECK-LABEL: func @gemm(
func.func @gemm(%a: tensor<?x64xf32>, %b: tensor<64x128xf32>, %d: tensor<?x128xf32>) -> tensor<?x128xf32> {
  // CHECK: tracea.gemm ins(%{{.*}}, %{{.*}} : tensor<?x64xf32>, tensor<64x128xf32>) outs(%{{.*}} : tensor<?x128xf32>){{$}}
  %0 = tracea.gemm ins(%a, %b : tensor<?x64xf32>, tensor<64x128xf32>)
                   outs(%d : tensor<?x128xf32>)
  return %0 : tensor<?x128xf32>
}

// CHECK-LABEL: func @gemm_transposes(
func.func @gemm_transposes(%a: tensor<3x64x?xf16>, %b: tensor<128x64xf16>, %d: tensor<3x?x128xbf16>) -> tensor<3x?x128xbf16> {
  // CHECK: tracea.gemm transpose_lhs transpose_rhs acc f64 ins(%{{.*}}, %{{.*}} : tensor<3x64x?xf16>, tensor<128x64xf16>) outs(%{{.*}} : tensor<3x?x128xbf16>){{$}}
  %0 = tracea.gemm transpose_lhs transpose_rhs acc f64
                   ins(%a, %b : tensor<3x64x?xf16>, tensor<128x64xf16>)
                   outs(%d : tensor<3x?x128xbf16>)
  return %0 : tensor<3x?x128xbf16>
}

// CHECK-LABEL: func @gemm_i8(
func.func @gemm_i8(%a: tensor<4x8xi8>, %b: tensor<8x4xi8>, %d: tensor<4x4xi32>, %e: tensor<4x4xi64>, %f: tensor<4x4xf32>) -> (tensor<4x4xi32>, tensor<4x4xi64>, tensor<4x4xf32>) {
  // CHECK-COUNT-3: tracea.gemm ins
  %0 = tracea.gemm ins(%a, %b : tensor<4x8xi8>, tensor<8x4xi8>) outs(%d : tensor<4x4xi32>)
  %1 = tracea.gemm ins(%a, %b : tensor<4x8xi8>, tensor<8x4xi8>) outs(%e : tensor<4x4xi64>)
  %2 = tracea.gemm ins(%a, %b : tensor<4x8xi8>, tensor<8x4xi8>) outs(%f : tensor<4x4xf32>)
  return %0, %1, %2 : tensor<4x4xi32>, tensor<4x4xi64>, tensor<4x4xf32>
}

// CHECK-LABEL: func @gemm_empty(
func.func @gemm_empty(%a: tensor<4x0xf32>, %b: tensor<0x8xf32>, %d: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // CHECK: tracea.gemm ins(%{{.*}}, %{{.*}} : tensor<4x0xf32>, tensor<0x8xf32>)
  %0 = tracea.gemm ins(%a, %b : tensor<4x0xf32>, tensor<0x8xf32>) outs(%d : tensor<4x8xf32>)
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func @gemm_epilogue_no_extras(
func.func @gemm_epilogue_no_extras(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>, %d: tensor<?x?xbf16>) -> tensor<?x?xbf16> {
  // CHECK: outs(%{{.*}} : tensor<?x?xbf16>) epilogue {
  // CHECK-NEXT: ^bb0(%[[ACC:acc]]: f32):
  // CHECK-NEXT: %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
  // CHECK-NEXT: %[[MAX:.+]] = arith.maximumf %[[ACC]], %[[ZERO]] : f32
  // CHECK-NEXT: %[[OUT:.+]] = arith.truncf %[[MAX]] : f32 to bf16
  // CHECK-NEXT: tracea.yield %[[OUT]] : bf16
  // CHECK-NEXT: }
  %0 = tracea.gemm ins(%a, %b : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%d : tensor<?x?xbf16>)
       epilogue {
    ^bb0(%x: f32):
      %zero = arith.constant 0.0 : f32
      %max = arith.maximumf %x, %zero : f32
      %out = arith.truncf %max : f32 to bf16
      tracea.yield %out : bf16
  }
  return %0 : tensor<?x?xbf16>
}

// Names inside of the region may repeat those outside.
// CHECK-LABEL: func @gemm_epilogue(
// CHECK-SAME: %[[A:[^:]+]]: tensor<?x?xf32>, %[[B:[^:]+]]: tensor<?x16xf32>
// CHECK-SAME: %[[D:[^:]+]]: tensor<?x16xf32>, %[[BIAS:[^:]+]]: tensor<16xf32>
// CHECK-SAME: %[[RES:[^:]+]]: tensor<?x16xf16>, %[[T:[^:]+]]: tensor<16x?xi8>
// CHECK-SAME: %[[ALPHA:[^:]+]]: tensor<f64>, %[[COL:[^:]+]]: tensor<?x1xf32>
func.func @gemm_epilogue(%a: tensor<?x?xf32>, %b: tensor<?x16xf32>, %d: tensor<?x16xf32>,
                         %bias: tensor<16xf32>, %res: tensor<?x16xf16>, %t: tensor<16x?xi8>,
                         %alpha: tensor<f64>, %col: tensor<?x1xf32>) -> tensor<?x16xf32> {
  // CHECK: tracea.gemm
  // CHECK-SAME: epilogue(%[[BIAS]] by #[[$N]], %[[RES]] by #[[$MN]], %[[T]] by #[[$NM]], %[[ALPHA]] by #[[$SCALAR]], %[[COL]] by #[[$COLUMN]]
  // CHECK-SAME: : tensor<16xf32>, tensor<?x16xf16>, tensor<16x?xi8>, tensor<f64>, tensor<?x1xf32>) {
  // CHECK-NEXT: ^bb0(%acc: f32, %in: f32, %in_0: f16, %in_1: i8, %in_2: f64, %in_3: f32):
  // CHECK: tracea.yield %{{.*}} : f32
  // CHECK-NEXT: } {note = "kept"}
  %0 = tracea.gemm ins(%a, %b : tensor<?x?xf32>, tensor<?x16xf32>) outs(%d : tensor<?x16xf32>)
       epilogue(%bias by affine_map<(m, n) -> (n)>, %res by affine_map<(m, n) -> (m, n)>,
                %t by affine_map<(m, n) -> (n, m)>, %alpha by affine_map<(m, n) -> ()>,
                %col by affine_map<(m, n) -> (m, 0)>
                : tensor<16xf32>, tensor<?x16xf16>, tensor<16x?xi8>, tensor<f64>, tensor<?x1xf32>) {
    ^bb0(%acc: f32, %bias: f32, %r: f16, %i: i8, %al: f64, %c: f32):
      %0 = arith.addf %acc, %bias : f32
      %1 = arith.extf %r : f16 to f32
      %2 = arith.addf %0, %1 : f32
      %3 = arith.sitofp %i : i8 to f32
      %4 = arith.mulf %2, %3 : f32
      %5 = arith.truncf %al : f64 to f32
      %6 = arith.mulf %4, %5 : f32
      %7 = arith.addf %6, %c : f32
      %8 = math.tanh %7 : f32
      tracea.yield %8 : f32
  } {note = "kept"}
  return %0 : tensor<?x16xf32>
}

// CHECK-LABEL: func @gemm_schedule(
func.func @gemm_schedule(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %d: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  // CHECK: schedule <variant = "gemm.packed", unit = vector, tile = [96, 1024, 256], registers = [8, 32]>{{$}}
  %0 = tracea.gemm ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%d : tensor<64x64xf32>)
       schedule <variant = "gemm.packed", unit = vector, tile = [96, 1024, 256], registers = [8, 32]>
  // CHECK: schedule <variant = "gemm.warpgroup", unit = wgmma, slots = 4, producers = 1, consumers = 2, group = 8> epilogue {
  %1 = tracea.gemm ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%d : tensor<64x64xf32>)
       schedule #tracea.schedule<variant = "gemm.warpgroup", unit = wgmma, slots = 4, producers = 1, consumers = 2, group = 8>
       epilogue {
    ^bb0(%acc: f32):
      %0 = arith.negf %acc : f32
      tracea.yield %0 : f32
  }
  return %0, %1 : tensor<64x64xf32>, tensor<64x64xf32>
}

// CHECK-LABEL: func @conv2d(
func.func @conv2d(%x: tensor<?x56x56x64xf32>, %w: tensor<64x3x3x64xf32>, %d: tensor<?x54x54x64xf32>) -> tensor<?x54x54x64xf32> {
  // CHECK: tracea.conv2d layout nhwc filter krsc ins(%{{.*}}, %{{.*}} : tensor<?x56x56x64xf32>, tensor<64x3x3x64xf32>) outs(%{{.*}} : tensor<?x54x54x64xf32>){{$}}
  %0 = tracea.conv2d layout nhwc filter krsc
         ins(%x, %w : tensor<?x56x56x64xf32>, tensor<64x3x3x64xf32>)
         outs(%d : tensor<?x54x54x64xf32>)
  return %0 : tensor<?x54x54x64xf32>
}

// CHECK-LABEL: func @conv2d_all(
func.func @conv2d_all(%x: tensor<2x8x15x17xbf16>, %w: tensor<16x2x3x5xbf16>, %d: tensor<2x16x8x3xbf16>) -> tensor<2x16x8x3xbf16> {
  // CHECK: tracea.conv2d layout nchw filter kcrs strides [2, 5] pads [1, 2, 3, 4] dilations [2, 3] groups 4 acc f64 ins
  %0 = tracea.conv2d layout nchw filter kcrs strides [2, 5] pads [1, 2, 3, 4] dilations [2, 3] groups 4 acc f64
         ins(%x, %w : tensor<2x8x15x17xbf16>, tensor<16x2x3x5xbf16>)
         outs(%d : tensor<2x16x8x3xbf16>)
  return %0 : tensor<2x16x8x3xbf16>
}

// CHECK-LABEL: func @conv2d_rsck(
func.func @conv2d_rsck(%x: tensor<?x?x?x?xi8>, %w: tensor<?x?x?x?xi8>, %d: tensor<?x?x?x?xi32>) -> tensor<?x?x?x?xi32> {
  // CHECK: tracea.conv2d layout nhwc filter rsck ins
  %0 = tracea.conv2d layout nhwc filter rsck
         ins(%x, %w : tensor<?x?x?x?xi8>, tensor<?x?x?x?xi8>) outs(%d : tensor<?x?x?x?xi32>)
  return %0 : tensor<?x?x?x?xi32>
}

// The image does not reach the filter's extent: nothing is computed.
// CHECK-LABEL: func @conv2d_nothing(
func.func @conv2d_nothing(%x: tensor<1x2x9x4xf32>, %w: tensor<4x3x3x4xf32>, %d: tensor<1x0x7x4xf32>) -> tensor<1x0x7x4xf32> {
  // CHECK: tracea.conv2d
  %0 = tracea.conv2d layout nhwc filter krsc
         ins(%x, %w : tensor<1x2x9x4xf32>, tensor<4x3x3x4xf32>) outs(%d : tensor<1x0x7x4xf32>)
  return %0 : tensor<1x0x7x4xf32>
}

// CHECK-LABEL: func @conv2d_epilogue(
func.func @conv2d_epilogue(%x: tensor<?x8x8x4xf32>, %w: tensor<16x1x1x4xf32>, %d: tensor<?x8x8x16xf32>, %bias: tensor<16xf32>) -> tensor<?x8x8x16xf32> {
  // CHECK: schedule <variant = "conv2d.patch", unit = vector, registers = [4, 8], slots = 2> epilogue(%{{.*}} by #[[$K]] : tensor<16xf32>) {
  %0 = tracea.conv2d layout nhwc filter krsc
         ins(%x, %w : tensor<?x8x8x4xf32>, tensor<16x1x1x4xf32>) outs(%d : tensor<?x8x8x16xf32>)
         schedule <variant = "conv2d.patch", unit = vector, registers = [4, 8], slots = 2>
         epilogue(%bias by affine_map<(n, p, q, k) -> (k)> : tensor<16xf32>) {
    ^bb0(%acc: f32, %b: f32):
      %0 = arith.addf %acc, %b : f32
      tracea.yield %0 : f32
  }
  return %0 : tensor<?x8x8x16xf32>
}

// CHECK-LABEL: func @softmax(
func.func @softmax(%x: tensor<?x10xf16>, %d: tensor<?x10xf32>) -> (tensor<?x10xf32>, tensor<?x10xf32>) {
  // CHECK: tracea.softmax dim 1 ins(%{{.*}} : tensor<?x10xf16>) outs(%{{.*}} : tensor<?x10xf32>){{$}}
  %0 = tracea.softmax dim 1 ins(%x : tensor<?x10xf16>) outs(%d : tensor<?x10xf32>)
  // CHECK: tracea.softmax dim 0 acc f64 ins(%{{.*}} : tensor<?x10xf16>) outs(%{{.*}} : tensor<?x10xf32>) schedule <variant = "row", unit = vector, tile = [1, 8], registers = [1, 8]> epilogue {
  // CHECK-NEXT: ^bb0(%acc: f64):
  %1 = tracea.softmax dim 0 acc f64 ins(%x : tensor<?x10xf16>) outs(%d : tensor<?x10xf32>)
       schedule <variant = "row", unit = vector, tile = [1, 8], registers = [1, 8]> epilogue {
    ^bb0(%acc: f64):
      %0 = arith.truncf %acc : f64 to f32
      %1 = math.log %0 : f32
      tracea.yield %1 : f32
  }
  return %0, %1 : tensor<?x10xf32>, tensor<?x10xf32>
}

// CHECK-LABEL: func @batch_norm(
func.func @batch_norm(%x: tensor<2x16x?x?xf32>, %s: tensor<16xf32>, %b: tensor<16xf32>, %m: tensor<?xf64>, %v: tensor<16xf16>, %d: tensor<2x16x?x?xf32>) -> tensor<2x16x?x?xf32> {
  // CHECK: tracea.batch_norm axis 1 epsilon 1.000000e-05 ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x16x?x?xf32>, tensor<16xf32>, tensor<16xf32>, tensor<?xf64>, tensor<16xf16>) outs(%{{.*}} : tensor<2x16x?x?xf32>){{$}}
  %0 = tracea.batch_norm axis 1 epsilon 1.0e-5
       ins(%x, %s, %b, %m, %v : tensor<2x16x?x?xf32>, tensor<16xf32>, tensor<16xf32>, tensor<?xf64>, tensor<16xf16>)
       outs(%d : tensor<2x16x?x?xf32>)
  // CHECK: tracea.batch_norm axis 1 epsilon 0.000000e+00 acc f64 ins
  // CHECK-SAME: epilogue(%{{.*}} by #{{.*}} : tensor<16xf32>) {
  %1 = tracea.batch_norm axis 1 epsilon 0.0 acc f64
       ins(%0, %s, %b, %m, %v : tensor<2x16x?x?xf32>, tensor<16xf32>, tensor<16xf32>, tensor<?xf64>, tensor<16xf16>)
       outs(%d : tensor<2x16x?x?xf32>)
       epilogue(%b by affine_map<(n, c, h, w) -> (c)> : tensor<16xf32>) {
    ^bb0(%acc: f64, %c: f32):
      %0 = arith.truncf %acc : f64 to f32
      %1 = arith.addf %0, %c : f32
      tracea.yield %1 : f32
  }
  return %1 : tensor<2x16x?x?xf32>
}

// CHECK-LABEL: func @layer_norm(
func.func @layer_norm(%x: tensor<?x8x16xf32>, %s: tensor<8x16xf32>, %b: tensor<8x16xf32>, %d: tensor<?x8x16xf32>, %r: tensor<16xf32>) -> tensor<?x8x16xf32> {
  // CHECK: tracea.layer_norm axis 2 epsilon 1.000000e-03 ins(%{{.*}} : tensor<?x8x16xf32>) outs
  %0 = tracea.layer_norm axis 2 epsilon 1.0e-3 ins(%x : tensor<?x8x16xf32>) outs(%d : tensor<?x8x16xf32>)
  // CHECK: tracea.layer_norm axis 1 epsilon 1.000000e-03 acc f64 ins(%{{.*}} : tensor<?x8x16xf32>) scale(%{{.*}} : tensor<8x16xf32>) bias(%{{.*}} : tensor<8x16xf32>) outs
  %1 = tracea.layer_norm axis 1 epsilon 1.0e-3 acc f64 ins(%0 : tensor<?x8x16xf32>)
       scale(%s : tensor<8x16xf32>) bias(%b : tensor<8x16xf32>) outs(%d : tensor<?x8x16xf32>)
  // CHECK: tracea.layer_norm axis 1 epsilon 1.000000e-03 ins(%{{.*}} : tensor<?x8x16xf32>) bias(%{{.*}} : tensor<8x16xf32>) outs(%{{.*}} : tensor<?x8x16xf32>) epilogue(%{{.*}} by #{{.*}} : tensor<16xf32>) {
  %2 = tracea.layer_norm axis 1 epsilon 1.0e-3 ins(%1 : tensor<?x8x16xf32>)
       bias(%b : tensor<8x16xf32>) outs(%d : tensor<?x8x16xf32>)
       epilogue(%r by affine_map<(i, j, k) -> (k)> : tensor<16xf32>) {
    ^bb0(%acc: f32, %e: f32):
      %0 = arith.mulf %acc, %e : f32
      tracea.yield %0 : f32
  }
  return %2 : tensor<?x8x16xf32>
}

// CHECK-LABEL: func @rms_norm(
func.func @rms_norm(%x: tensor<?x16xbf16>, %s: tensor<16xf32>, %d: tensor<?x16xbf16>) -> tensor<?x16xbf16> {
  // CHECK: tracea.rms_norm axis 1 epsilon 1.000000e-03 ins(%{{.*}} : tensor<?x16xbf16>) outs
  %0 = tracea.rms_norm axis 1 epsilon 1.0e-3 ins(%x : tensor<?x16xbf16>) outs(%d : tensor<?x16xbf16>)
  // CHECK: tracea.rms_norm axis 1 epsilon 1.000000e-03 acc f64 ins(%{{.*}} : tensor<?x16xbf16>) scale(%{{.*}} : tensor<16xf32>) outs(%{{.*}} : tensor<?x16xbf16>) schedule <variant = "row", unit = vector, tile = [1, 8], registers = [1, 8]> epilogue(%{{.*}} by #{{.*}} : tensor<?x16xbf16>) {
  %1 = tracea.rms_norm axis 1 epsilon 1.0e-3 acc f64 ins(%0 : tensor<?x16xbf16>)
       scale(%s : tensor<16xf32>) outs(%d : tensor<?x16xbf16>)
       schedule <variant = "row", unit = vector, tile = [1, 8], registers = [1, 8]>
       epilogue(%x by affine_map<(i, j) -> (i, j)> : tensor<?x16xbf16>) {
    ^bb0(%acc: f64, %r: bf16):
      %0 = arith.truncf %acc : f64 to bf16
      %1 = arith.addf %0, %r : bf16
      tracea.yield %1 : bf16
  }
  return %1 : tensor<?x16xbf16>
}

// CHECK-LABEL: func @attention(
func.func @attention(%q: tensor<2x8x?x64xf16>, %k: tensor<2x2x?x64xf16>, %v: tensor<2x2x?x32xf16>, %d: tensor<2x8x?x32xf16>) -> tensor<2x8x?x32xf16> {
  // CHECK: tracea.attention ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<2x8x?x64xf16>, tensor<2x2x?x64xf16>, tensor<2x2x?x32xf16>) outs(%{{.*}} : tensor<2x8x?x32xf16>) -> tensor<2x8x?x32xf16>
  %0 = tracea.attention ins(%q, %k, %v : tensor<2x8x?x64xf16>, tensor<2x2x?x64xf16>, tensor<2x2x?x32xf16>)
       outs(%d : tensor<2x8x?x32xf16>) -> tensor<2x8x?x32xf16>
  // CHECK: tracea.attention causal window [128, -1] scale 1.250000e-01 acc f64 ins
  // CHECK-SAME: schedule <variant = "attention.flash", unit = vector, tile = [8, 16], registers = [4, 8]> {note} -> tensor<2x8x?x32xf16>
  %1 = tracea.attention causal window [128, -1] scale 0.125 acc f64
       ins(%q, %k, %v : tensor<2x8x?x64xf16>, tensor<2x2x?x64xf16>, tensor<2x2x?x32xf16>)
       outs(%0 : tensor<2x8x?x32xf16>) schedule <variant = "attention.flash", unit = vector, tile = [8, 16], registers = [4, 8]>
       {note} -> tensor<2x8x?x32xf16>
  return %1 : tensor<2x8x?x32xf16>
}

// CHECK-LABEL: func @attention_masked(
func.func @attention_masked(%q: tensor<2x8x100x64xf32>, %k: tensor<2x8x70x64xf32>, %v: tensor<2x8x70x32xf32>, %m: tensor<1x8x4x3xi1>, %d: tensor<2x8x100x32xf32>, %l: tensor<2x8x100xf32>) -> (tensor<2x8x100x32xf32>, tensor<2x8x100xf32>) {
  // CHECK: %{{.*}}, %{{.*}} = tracea.attention ins
  // CHECK-SAME: block_mask(%{{.*}} : tensor<1x8x4x3xi1>) block_size [32, 32] outs(%{{.*}} : tensor<2x8x100x32xf32>) lse(%{{.*}} : tensor<2x8x100xf32>) -> tensor<2x8x100x32xf32>, tensor<2x8x100xf32>
  %0, %1 = tracea.attention ins(%q, %k, %v : tensor<2x8x100x64xf32>, tensor<2x8x70x64xf32>, tensor<2x8x70x32xf32>)
       block_mask(%m : tensor<1x8x4x3xi1>) block_size [32, 32]
       outs(%d : tensor<2x8x100x32xf32>) lse(%l : tensor<2x8x100xf32>)
       -> tensor<2x8x100x32xf32>, tensor<2x8x100xf32>
  return %0, %1 : tensor<2x8x100x32xf32>, tensor<2x8x100xf32>
}

// CHECK-LABEL: module @target attributes
// CHECK-SAME: tracea.target = #tracea.target<kind = cpu, name = "znver4", triple = "x86_64-unknown-linux-gnu", cpu = "znver4", features = "+avx2,+fma", vector_bits = 512, vector_registers = 32, cores = 2, l1 = 32768>
module @target attributes {tracea.target = #tracea.target<
    kind = cpu, name = "znver4", triple = "x86_64-unknown-linux-gnu", cpu = "znver4",
    features = "+avx2,+fma", vector_bits = 512, vector_registers = 32, cores = 2, l1 = 32768>} {
}

//===----------------------------------------------------------------------===//
// schedules, by family
//===----------------------------------------------------------------------===//

// Fields stand in any order; what has its default is not printed.
// CHECK-LABEL: func private @schedules
// CHECK-SAME: elementwise = #tracea.schedule<variant = "elementwise", unit = vector>
// CHECK-SAME: grouped = #tracea.schedule<variant = "grouped.warpgroup", unit = wgmma, tile = [128, 256, 64], slots = 4, producers = 1, consumers = 2, residents = 2>
// CHECK-SAME: packed = #tracea.schedule<variant = "gemm.packed", unit = vector, registers = [8, 32], slots = 2, group = 4>
// CHECK-SAME: product = #tracea.schedule<variant = "gemm.skinny", unit = wgmma, slots = 4, producers = 1, consumers = 1, split = 4, cluster = 4, lines = 3>
// CHECK-SAME: simt = #tracea.schedule<variant = "gemm.simt", unit = vector, registers = [8, 8], slots = 3>
func.func private @schedules() attributes {
  elementwise = #tracea.schedule<unit = vector, variant = "elementwise">,
  grouped = #tracea.schedule<residents = 2, consumers = 2, producers = 1, slots = 4, tile = [128, 256, 64], unit = wgmma, variant = "grouped.warpgroup">,
  packed = #tracea.schedule<variant = "gemm.packed", unit = vector, group = 4, slots = 2, registers = [8, 32]>,
  product = #tracea.schedule<variant = "gemm.skinny", unit = wgmma, slots = 4, producers = 1, consumers = 1, split = 4, cluster = 4, lines = 3, ping_pong = 1>,
  simt = #tracea.schedule<variant = "gemm.simt", unit = vector, registers = [8, 8], slots = 3, group = 0>}

// The fields of a family by themselves.
// CHECK-LABEL: func private @families
// CHECK-SAME: a = #tracea.untiled<>
// CHECK-SAME: b = #tracea.cpu_attention<registers = [4, 8]>
// CHECK-SAME: c = #tracea.warpgroup_gemm<slots = 4, ping_pong = 2>
func.func private @families() attributes {
  a = #tracea.untiled<>, b = #tracea.cpu_attention<registers = [4, 8], slots = 1>,
  c = #tracea.warpgroup_gemm<ping_pong = 2, slots = 4>}
