// Operations that share a kernel give up its schedule together, for an error about
// the kernel names one of them.
// RUN: tracea-opt %s --tracea-compile="target=sm_90a require-proof=true to=pipeline" -o %t 2>%t.err
// RUN: FileCheck %s --check-prefix=REMARK < %t.err
// RUN: FileCheck %s < %t

// REMARK: next-schedule-shared.mlir:23:8: remark: tracea.gemm: gives up 'gemm.simt' with tile = [64, 64, 32], registers = [4, 8]
// REMARK: next-schedule-shared.mlir:24:8: remark: tracea.gemm: gives up 'gemm.simt' with tile = [64, 64, 32], registers = [4, 8]

// CHECK: tracea_pipe.launch @gemm_0 else [@gemm_1] ins
// CHECK: tracea_pipe.launch @gemm_0 else [@gemm_1] ins
// CHECK: tracea_pipe.kernel @gemm_0(
// CHECK: tracea_pipe.kernel @gemm_1(
// CHECK-NOT: tracea_pipe.kernel

func.func @main(%a: tensor<100x128xf16>, %b: tensor<128x?xf16>, %c: tensor<128x?xf16>)
    -> (tensor<100x?xf64>, tensor<100x?xf64>) {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %b, %c1 : tensor<128x?xf16>
  %m = tensor.dim %c, %c1 : tensor<128x?xf16>
  %e = tensor.empty(%n) : tensor<100x?xf64>
  %f = tensor.empty(%m) : tensor<100x?xf64>
  %r = tracea.gemm acc f64 ins(%a, %b : tensor<100x128xf16>, tensor<128x?xf16>) outs(%e : tensor<100x?xf64>)
  %s = tracea.gemm acc f64 ins(%a, %c : tensor<100x128xf16>, tensor<128x?xf16>) outs(%f : tensor<100x?xf64>)
  return %r, %s : tensor<100x?xf64>, tensor<100x?xf64>
}
