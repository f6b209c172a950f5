// Another operand with an element for each of the result's is asked for while the
// sum is computed, and read 16 bytes of a row at a time.
// RUN: tracea-opt %s --tracea-compile="target=sm_90a to=pipeline require-proof=true" | FileCheck %s --check-prefix=PIPELINE
// RUN: tracea-opt %s --tracea-compile="target=sm_90a require-proof=true" \
// RUN:   --remark-format=emitRemark --remarks-filter-missed=convert-tracea-pipe-to-nvvm 2>%t.remarks | FileCheck %s --check-prefix=TARGET
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// PIPELINE-LABEL: tracea_pipe.kernel @gemm_0(
// PIPELINE: role "producer"
// PIPELINE: tracea_pipe.prefetch %[[R:.*]][%{{.*}}, %{{.*}}] map {{.*}} shape [128, 256] : memref<4096x4096xbf16>
// PIPELINE-NEXT: scf.for
// PIPELINE: tracea_pipe.acquire
// PIPELINE: role "consumer"
// PIPELINE-NOT: tracea_pipe.prefetch
// PIPELINE: tracea_pipe.load %[[R]]
// PIPELINE: tracea_pipe.mma_async
// PIPELINE: tracea_pipe.relayout

// Four boxes of 64 columns.
// TARGET-LABEL: llvm.func @gemm_0(
// TARGET-COUNT-4: nvvm.cp.async.bulk.tensor.prefetch
// TARGET-NOT: nvvm.cp.async.bulk.tensor.prefetch
// TARGET: nvvm.cp.async.bulk.tensor.shared.cluster
// TARGET: nvvm.shfl.sync
// TARGET-LABEL: llvm.func @gemm_1(
// TARGET-NOT: nvvm.cp.async.bulk.tensor.prefetch

// Rows that begin anywhere the unit cannot ask for.
// REMARK: remark: [Missed] no-prefetch{{.*}}rows of its memory are no multiples of 16 bytes
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
