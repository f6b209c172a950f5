// RUN: not tracea-opt %s --tracea-compile="from=pipeline to=pipeline require-proof=true" -o /dev/null 2>&1 | FileCheck %s

// Results are staged and never copied out.
// CHECK: {{.*}}: error: 'tracea_pipe.kernel' op does not write argument #2, which is a result of its launch; expected each element to be written once
// CHECK: note: it is launched here, with this argument under 'outs'
#lanes = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>
#lanes1 = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1, d0)>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448, l1 = 262144, l2 = 52428800>} {
  func.func @main(%arg0: memref<512x4096xf16>, %arg1: memref<512x4096xf16>) -> memref<512x512xf16> {
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<512x512xf16>
    tracea_pipe.launch @gemm_0 ins(%arg0, %arg1 : memref<512x4096xf16>, memref<512x4096xf16>) outs(%alloc : memref<512x512xf16>)
    return %alloc : memref<512x512xf16>
  }
  tracea_pipe.kernel @gemm_0(%arg0: memref<512x4096xf16> {tracea_pipe.aligned = 16 : i64}, %arg1: memref<512x4096xf16> {tracea_pipe.aligned = 16 : i64}, %arg2: memref<512x512xf16> {tracea_pipe.aligned = 16 : i64}) attributes {pipeline = #tracea_pipe.pipeline<teams = 2, registers = [40, 232], workgroups = 132, pending = 1>, source_op = "tracea.gemm", tracea_pipe.certified = "58e9950c329c5ca3", variant = "gemm.warpgroup"} {
    %c448 = arith.constant 448 : index
    %c-64 = arith.constant -64 : index
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %c512 = arith.constant 512 : index
    %c128 = arith.constant 128 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %c16 = arith.constant 16 : index
    tiles (%arg3) in (%c16) {
      %0 = tracea_pipe.channel : <4 x(memref<128x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, memref<128x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>)>
      %1 = tracea_pipe.start : <4>
      tracea_pipe.roles {
        tracea_pipe.role "producer" warps [0, 4] registers 40 {
          %2 = scf.for %arg4 = %arg3 to %c16 step %c16 iter_args(%arg5 = %1) -> (!tracea_pipe.phase<4>) {
            %row, %column = tracea_pipe.raster %arg4 in (%c4, %c4) group 1
            %3 = arith.muli %row, %c128 : index
            %4 = arith.muli %column, %c128 : index
            %5 = scf.for %arg6 = %c0 to %c64 step %c1 iter_args(%arg7 = %arg5) -> (!tracea_pipe.phase<4>) {
              %6 = arith.muli %arg6, %c64 : index
              %7:2 = tracea_pipe.acquire %0[%arg7] : <4 x(memref<128x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, memref<128x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>)>, <4> -> memref<128x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, memref<128x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
              tracea_pipe.copy %arg0[%3, %6] map #map padded [0, 1] to %7#0 : memref<512x4096xf16>, memref<128x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
              tracea_pipe.copy %arg1[%4, %6] map #map padded [0, 1] to %7#1 : memref<512x4096xf16>, memref<128x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
              tracea_pipe.commit %0[%arg7] : <4 x(memref<128x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, memref<128x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>)>, <4>
              %8 = tracea_pipe.advance %arg7 : <4>
              scf.yield %8 : !tracea_pipe.phase<4>
            }
            scf.yield %5 : !tracea_pipe.phase<4>
          }
        }
        tracea_pipe.role "consumer" warps [4, 12] copies 2 registers 232 (%arg4) {
          %2 = tracea_pipe.scratch : memref<64x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
          %3 = tracea_pipe.scratch : memref<64x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
          %4 = scf.for %arg5 = %arg3 to %c16 step %c16 iter_args(%arg6 = %1) -> (!tracea_pipe.phase<4>) {
            %row, %column = tracea_pipe.raster %arg5 in (%c4, %c4) group 1
            %5 = arith.muli %row, %c128 : index
            %6 = arith.muli %column, %c128 : index
            %7:2 = tracea_pipe.wait %0[%arg6] : <4 x(memref<128x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, memref<128x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>)>, <4> -> memref<128x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, memref<128x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
            %8 = tracea_pipe.view %7#1[%c0, %c0] map #map1 : memref<128x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> memref<64x128xf16, strided<[1, 64], offset: ?>, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
            %9 = arith.muli %arg4, %c64 : index
            %10 = tracea_pipe.view %7#0[%9, %c0] map #map : memref<128x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> memref<64x64xf16, strided<[64, 1], offset: ?>, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
            %11 = tracea_pipe.mma_async %10, %8 : memref<64x64xf16, strided<[64, 1], offset: ?>, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, memref<64x128xf16, strided<[1, 64], offset: ?>, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> !tracea_pipe.in_flight<tensor<64x128xf32, #lanes>>
            tracea_pipe.commit_group  mma
            %12 = tracea_pipe.advance %arg6 : <4>
            %13:3 = scf.for %arg7 = %c1 to %c64 step %c1 iter_args(%arg8 = %11, %arg9 = %12, %arg10 = %arg6) -> (!tracea_pipe.in_flight<tensor<64x128xf32, #lanes>>, !tracea_pipe.phase<4>, !tracea_pipe.phase<4>) {
              %26:2 = tracea_pipe.wait %0[%arg9] : <4 x(memref<128x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, memref<128x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>)>, <4> -> memref<128x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, memref<128x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
              %27 = tracea_pipe.view %26#1[%c0, %c0] map #map1 : memref<128x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> memref<64x128xf16, strided<[1, 64], offset: ?>, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
              %28 = tracea_pipe.view %26#0[%9, %c0] map #map : memref<128x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> memref<64x64xf16, strided<[64, 1], offset: ?>, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
              %29 = tracea_pipe.mma_async %28, %27 onto %arg8 : memref<64x64xf16, strided<[64, 1], offset: ?>, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, memref<64x128xf16, strided<[1, 64], offset: ?>, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, !tracea_pipe.in_flight<tensor<64x128xf32, #lanes>> -> !tracea_pipe.in_flight<tensor<64x128xf32, #lanes>>
              tracea_pipe.commit_group  mma
              %30 = tracea_pipe.advance %arg9 : <4>
              tracea_pipe.wait_group mma pending 1
              tracea_pipe.release %0[%arg10] : <4 x(memref<128x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, memref<128x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>)>, <4>
              scf.yield %29, %30, %arg9 : !tracea_pipe.in_flight<tensor<64x128xf32, #lanes>>, !tracea_pipe.phase<4>, !tracea_pipe.phase<4>
            }
            %14 = tracea_pipe.wait_group mma pending 0 (%13#0 : !tracea_pipe.in_flight<tensor<64x128xf32, #lanes>>)
            tracea_pipe.release %0[%13#2] : <4 x(memref<128x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, memref<128x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>)>, <4>
            %15 = arith.subi %c512, %5 : index
            %16 = arith.subi %c512, %6 : index
            %17 = arith.addi %5, %9 : index
            %18 = arith.muli %arg4, %c-64 : index
            %19 = arith.addi %15, %18 : index
            %20 = tracea_pipe.slice %14[0, 0] : tensor<64x128xf32, #lanes> -> tensor<64x64xf32, #lanes1>
            %21 = arith.truncf %20 : tensor<64x64xf32, #lanes1> to tensor<64x64xf16, #lanes1>
            tracea_pipe.wait_group copy pending 1
            tracea_pipe.store %21, %2[%c0, %c0] map #map : tensor<64x64xf16, #lanes1>, memref<64x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
            tracea_pipe.sync
            tracea_pipe.commit_group  copy
            %22 = tracea_pipe.slice %14[0, 64] : tensor<64x128xf32, #lanes> -> tensor<64x64xf32, #lanes1>
            %23 = arith.truncf %22 : tensor<64x64xf32, #lanes1> to tensor<64x64xf16, #lanes1>
            %24 = arith.addi %6, %c64 : index
            %25 = arith.subi %c448, %6 : index
            tracea_pipe.wait_group copy pending 1
            tracea_pipe.store %23, %3[%c0, %c0] map #map : tensor<64x64xf16, #lanes1>, memref<64x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
            tracea_pipe.sync
            tracea_pipe.commit_group  copy
            scf.yield %13#1 : !tracea_pipe.phase<4>
          }
          tracea_pipe.wait_group copy pending 0
        }
      }
    }
    end
  }
}

