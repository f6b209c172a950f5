// Another operand with an element for each of the result's is read 16 bytes of a
// row at a time, and shuffled to the lanes of the sum.
// RUN: tracea-opt %s --tracea-compile="target=sm_90a to=pipeline require-proof=true" | FileCheck %s --check-prefix=PIPELINE
// RUN: tracea-opt %s --tracea-compile="target=sm_90a require-proof=true" | FileCheck %s --check-prefix=TARGET
// PIPELINE-LABEL: tracea_pipe.kernel @gemm_0(
// PIPELINE: role "consumer"
// PIPELINE: tracea_pipe.load {{.*}} -> tensor<64x64xbf16, #[[WIDE:.*]]>
// PIPELINE: tracea_pipe.mma_async
// PIPELINE: tracea_pipe.relayout {{.*}} : tensor<64x64xbf16, #[[WIDE]]> -> tensor<64x64xbf16, #
// Rows that begin anywhere cannot be read so.
// PIPELINE-LABEL: tracea_pipe.kernel @gemm_1(
// PIPELINE: role "consumer"
// PIPELINE-NOT: tracea_pipe.relayout

// TARGET-LABEL: llvm.func @gemm_0(
// TARGET: llvm.load {{.*}} {alignment = 16 : i64{{.*}}} : !llvm.ptr<1> -> vector<8xbf16>
// TARGET: nvvm.shfl.sync
#id = affine_map<(i, j) -> (i, j)>
func.func @aligned(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>, %r: tensor<4096x4096xbf16>, %d: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%d : tensor<4096x4096xbf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 256, 64], slots = 4, producers = 1, consumers = 2, group = 16>
    epilogue(%r by #id : tensor<4096x4096xbf16>) {
    ^bb0(%sum: f32, %x: bf16):
      %y = arith.extf %x : bf16 to f32
      %z = arith.addf %sum, %y : f32
      %t = arith.truncf %z : f32 to bf16
      tracea.yield %t : bf16
    }
  return %0 : tensor<4096x4096xbf16>
}

func.func @odd(%a: tensor<4096x4096xbf16>, %b: tensor<4095x4096xbf16>, %r: tensor<4096x4095xbf16>, %d: tensor<4096x4095xbf16>) -> tensor<4096x4095xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<4096x4096xbf16>, tensor<4095x4096xbf16>) outs(%d : tensor<4096x4095xbf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 128, 64], slots = 4, producers = 1, consumers = 2, group = 16>
    epilogue(%r by #id : tensor<4096x4095xbf16>) {
    ^bb0(%sum: f32, %x: bf16):
      %y = arith.extf %x : bf16 to f32
      %z = arith.addf %sum, %y : f32
      %t = arith.truncf %z : f32 to bf16
      tracea.yield %t : bf16
    }
  return %0 : tensor<4096x4095xbf16>
}
