// Operations that share a kernel give up its schedule together, for an error about
// the kernel names one of them.
// RUN: tracea-opt %s --tracea-compile="target=sm_90a require-proof=true to=pipeline" -o %t 2>%t.err
// RUN: FileCheck %s --check-prefix=REMARK < %t.err
// RUN: FileCheck %s < %t

// REMARK: next-schedule-shared.mlir:19:8: remark: tracea.gemm: gives up 'gemm.warpgroup' with tile = [128, 256, 64]
// REMARK: next-schedule-shared.mlir:31:8: remark: tracea.gemm: gives up 'gemm.warpgroup' with tile = [128, 256, 64]

// CHECK: tracea_pipe.launch @gemm_0 ins
// CHECK: tracea_pipe.launch @gemm_0 ins
// CHECK: tracea_pipe.kernel @gemm_0(
// CHECK-NOT: tracea_pipe.kernel

func.func @main(%a: tensor<4096x512xbf16>, %b: tensor<512x4096xbf16>, %c: tensor<512x4096xbf16>,
    %c0: tensor<4096x4096xf32>, %c1: tensor<4096x4096xf32>, %c2: tensor<4096x4096xf32>,
    %c3: tensor<4096x4096xf32>) -> (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) {
  %e = tensor.empty() : tensor<4096x4096xbf16>
  %r = tracea.gemm ins(%a, %b : tensor<4096x512xbf16>, tensor<512x4096xbf16>) outs(%e : tensor<4096x4096xbf16>)
    epilogue(%c0 by affine_map<(i, j) -> (i, j)>, %c1 by affine_map<(i, j) -> (i, j)>,
             %c2 by affine_map<(i, j) -> (i, j)>, %c3 by affine_map<(i, j) -> (i, j)>
             : tensor<4096x4096xf32>, tensor<4096x4096xf32>, tensor<4096x4096xf32>, tensor<4096x4096xf32>) {
  ^bb0(%acc: f32, %x0: f32, %x1: f32, %x2: f32, %x3: f32):
    %0 = arith.addf %acc, %x0 : f32
    %1 = arith.addf %0, %x1 : f32
    %2 = arith.addf %1, %x2 : f32
    %3 = arith.addf %2, %x3 : f32
    %4 = arith.truncf %3 : f32 to bf16
    tracea.yield %4 : bf16
  }
  %s = tracea.gemm ins(%a, %c : tensor<4096x512xbf16>, tensor<512x4096xbf16>) outs(%e : tensor<4096x4096xbf16>)
    epilogue(%c0 by affine_map<(i, j) -> (i, j)>, %c1 by affine_map<(i, j) -> (i, j)>,
             %c2 by affine_map<(i, j) -> (i, j)>, %c3 by affine_map<(i, j) -> (i, j)>
             : tensor<4096x4096xf32>, tensor<4096x4096xf32>, tensor<4096x4096xf32>, tensor<4096x4096xf32>) {
  ^bb0(%acc: f32, %x0: f32, %x1: f32, %x2: f32, %x3: f32):
    %0 = arith.addf %acc, %x0 : f32
    %1 = arith.addf %0, %x1 : f32
    %2 = arith.addf %1, %x2 : f32
    %3 = arith.addf %2, %x3 : f32
    %4 = arith.truncf %3 : f32 to bf16
    tracea.yield %4 : bf16
  }
  return %r, %s : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>
}
