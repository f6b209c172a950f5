// Two workgroups share a multiprocessor, each with one team that multiplies two
// blocks of 64 rows: what they have of its memory and registers is a half.
// RUN: tracea-opt %s --tracea-compile="target=sm_90a to=pipeline require-proof=true" -o %t.pipeline
// RUN: FileCheck %s --check-prefix=PIPELINE < %t.pipeline
// RUN: tracea-opt %s --tracea-compile="target=sm_90a require-proof=true" -o %t.target
// RUN: FileCheck %s --check-prefix=TARGET < %t.target

// PIPELINE: pipeline = #tracea_pipe.pipeline<registers = [24, 232], workgroups = 264, pending = 1, residents = 2>
// PIPELINE-SAME: check = "resources", claim = "shared {{[0-9.]+}} of 113 KiB, 256 threads, registers 24/232 of 65536
// PIPELINE: tracea_pipe.role "consumer" warps [4, 8] registers 232
// PIPELINE: mma_async {{.*}} -> !tracea_pipe.in_flight<tensor<128x192xf32

// TARGET: nvvm.minctasm = 2
// TARGET: nvvm.setmaxregister decrease 24
// TARGET: nvvm.setmaxregister increase 232
// TARGET-COUNT-2: wgmma.mma_async.sync.aligned.m64n192k16
func.func @main(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>, %d: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %0 = tracea.gemm transpose_rhs ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>)
    outs(%d : tensor<4096x4096xbf16>)
    schedule <variant = "gemm.warpgroup", unit = wgmma, tile = [128, 192, 64], slots = 2, producers = 1, consumers = 1, group = 16, residents = 2>
  return %0 : tensor<4096x4096xbf16>
}
