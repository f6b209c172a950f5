// RUN: not tracea-opt %s --tracea-compile="from=pipeline to=pipeline require-proof=true" -o /dev/null 2>&1 | FileCheck %s

// The sum of the parts is computed and dropped; what the entry returns is the second kernel's result.
// CHECK: {{.*}}: error: 'tracea_pipe.kernel' op does not write argument #1, which is a result of its launch; expected each element to be written once
// CHECK: note: it is launched here, with this argument under 'outs'
#lanes = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32], [0, 64]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>
#lanes1 = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>
#lanes2 = #tracea_pipe.lanes<reg = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [0, 16], [0, 32], [0, 64]], warp = [[1, 0], [2, 0]], outer = [1, 1]>
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1, d0)>
#map2 = affine_map<(d0, d1) -> (0, d0, d1)>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448, l1 = 262144, l2 = 52428800>} {
  func.func @main(%arg0: memref<256x4096xbf16>, %arg1: memref<512x4096xbf16>) -> memref<256x512xbf16> {
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<256x512xbf16>
    %alloc_0 = memref.alloc() {alignment = 64 : i64} : memref<4x256x512xf32>
    tracea_pipe.launch @gemm_0 ins(%arg0, %arg1 : memref<256x4096xbf16>, memref<512x4096xbf16>) outs(%alloc_0 : memref<4x256x512xf32>)
    tracea_pipe.launch @gemm_1 ins(%alloc_0 : memref<4x256x512xf32>) outs(%alloc : memref<256x512xbf16>)
    return %alloc : memref<256x512xbf16>
  }
  tracea_pipe.kernel @gemm_0(%arg0: memref<256x4096xbf16> {tracea_pipe.aligned = 16 : i64}, %arg1: memref<512x4096xbf16> {tracea_pipe.aligned = 16 : i64}, %arg2: memref<4x256x512xf32> {tracea_pipe.aligned = 16 : i64}) attributes {pipeline = #tracea_pipe.pipeline<teams = 2, registers = [40, 232], pending = 1>, source_op = "tracea.gemm", tracea_pipe.certified = "76fb3d1f9d3d06ce", variant = "gemm.warpgroup"} {
    %c448 = arith.constant 448 : index
    %c-64 = arith.constant -64 : index
    %cst = arith.constant dense<0.000000e+00> : tensor<64x128xf32, #lanes>
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %c512 = arith.constant 512 : index
    %c4 = arith.constant 4 : index
    %c128 = arith.constant 128 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %c16 = arith.constant 16 : index
    tiles (%arg3, %arg4, %arg5) in (%c4, %c2, %c4) {
      %0 = tracea_pipe.channel : <4 x(memref<128x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, memref<128x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>)>
      %1 = tracea_pipe.start : <4>
      %2 = arith.muli %arg4, %c128 : index
      %3 = arith.muli %arg5, %c128 : index
      %4 = arith.muli %arg3, %c16 : index
      %5 = arith.subi %c64, %4 : index
      %6 = arith.minsi %5, %c16 : index
      %7 = arith.subi %c256, %2 : index
      %8 = arith.subi %c512, %3 : index
      tracea_pipe.roles {
        tracea_pipe.role "producer" warps [0, 4] registers 40 {
          %9 = scf.for %arg6 = %c0 to %6 step %c1 iter_args(%arg7 = %1) -> (!tracea_pipe.phase<4>) {
            %10 = arith.addi %4, %arg6 : index
            %11 = arith.muli %10, %c64 : index
            %12:2 = tracea_pipe.acquire %0[%arg7] : <4 x(memref<128x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, memref<128x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>)>, <4> -> memref<128x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, memref<128x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
            tracea_pipe.copy %arg0[%2, %11] map #map padded [0, 1] to %12#0 : memref<256x4096xbf16>, memref<128x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
            tracea_pipe.copy %arg1[%3, %11] map #map padded [0, 1] to %12#1 : memref<512x4096xbf16>, memref<128x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
            tracea_pipe.commit %0[%arg7] : <4 x(memref<128x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, memref<128x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>)>, <4>
            %13 = tracea_pipe.advance %arg7 : <4>
            scf.yield %13 : !tracea_pipe.phase<4>
          }
        }
        tracea_pipe.role "consumer" warps [4, 12] copies 2 registers 232 (%arg6) {
          %9 = arith.cmpi sgt, %6, %c0 : index
          %10 = scf.if %9 -> (tensor<64x128xf32, #lanes>) {
            %19:2 = tracea_pipe.wait %0[%1] : <4 x(memref<128x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, memref<128x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>)>, <4> -> memref<128x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, memref<128x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
            %20 = tracea_pipe.view %19#1[%c0, %c0] map #map1 : memref<128x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> memref<64x128xbf16, strided<[1, 64], offset: ?>, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
            %21 = arith.muli %arg6, %c64 : index
            %22 = tracea_pipe.view %19#0[%21, %c0] map #map : memref<128x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> memref<64x64xbf16, strided<[64, 1], offset: ?>, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
            %23 = tracea_pipe.mma_async %22, %20 : memref<64x64xbf16, strided<[64, 1], offset: ?>, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, memref<64x128xbf16, strided<[1, 64], offset: ?>, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> !tracea_pipe.in_flight<tensor<64x128xf32, #lanes>>
            tracea_pipe.commit_group  mma
            %24 = tracea_pipe.advance %1 : <4>
            %25:3 = scf.for %arg7 = %c1 to %6 step %c1 iter_args(%arg8 = %23, %arg9 = %24, %arg10 = %1) -> (!tracea_pipe.in_flight<tensor<64x128xf32, #lanes>>, !tracea_pipe.phase<4>, !tracea_pipe.phase<4>) {
              %27:2 = tracea_pipe.wait %0[%arg9] : <4 x(memref<128x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, memref<128x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>)>, <4> -> memref<128x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, memref<128x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
              %28 = tracea_pipe.view %27#1[%c0, %c0] map #map1 : memref<128x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> memref<64x128xbf16, strided<[1, 64], offset: ?>, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
              %29 = tracea_pipe.view %27#0[%21, %c0] map #map : memref<128x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> memref<64x64xbf16, strided<[64, 1], offset: ?>, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
              %30 = tracea_pipe.mma_async %29, %28 onto %arg8 : memref<64x64xbf16, strided<[64, 1], offset: ?>, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, memref<64x128xbf16, strided<[1, 64], offset: ?>, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, !tracea_pipe.in_flight<tensor<64x128xf32, #lanes>> -> !tracea_pipe.in_flight<tensor<64x128xf32, #lanes>>
              tracea_pipe.commit_group  mma
              %31 = tracea_pipe.advance %arg9 : <4>
              tracea_pipe.wait_group mma pending 1
              tracea_pipe.release %0[%arg10] : <4 x(memref<128x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, memref<128x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>)>, <4>
              scf.yield %30, %31, %arg9 : !tracea_pipe.in_flight<tensor<64x128xf32, #lanes>>, !tracea_pipe.phase<4>, !tracea_pipe.phase<4>
            }
            %26 = tracea_pipe.wait_group mma pending 0 (%25#0 : !tracea_pipe.in_flight<tensor<64x128xf32, #lanes>>)
            tracea_pipe.release %0[%25#2] : <4 x(memref<128x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, memref<128x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>)>, <4>
            scf.yield %26 : tensor<64x128xf32, #lanes>
          } else {
            scf.yield %cst : tensor<64x128xf32, #lanes>
          }
          %11 = arith.muli %arg6, %c64 : index
          %12 = arith.addi %2, %11 : index
          %13 = arith.muli %arg6, %c-64 : index
          %14 = arith.addi %7, %13 : index
          %15 = tracea_pipe.slice %10[0, 0] : tensor<64x128xf32, #lanes> -> tensor<64x64xf32, #lanes1>
          tracea_pipe.store %15, %arg2[%arg3, %12, %3] map #map2 limits(%14, %8) : tensor<64x64xf32, #lanes1>, memref<4x256x512xf32>
          %16 = tracea_pipe.slice %10[0, 64] : tensor<64x128xf32, #lanes> -> tensor<64x64xf32, #lanes1>
          %17 = arith.addi %3, %c64 : index
          %18 = arith.subi %c448, %3 : index
          tracea_pipe.store %16, %arg2[%arg3, %12, %17] map #map2 limits(%14, %18) : tensor<64x64xf32, #lanes1>, memref<4x256x512xf32>
        }
      }
    }
    end
  }
  tracea_pipe.kernel @gemm_1(%arg0: memref<4x256x512xf32> {tracea_pipe.aligned = 16 : i64}, %arg1: memref<256x512xbf16> {tracea_pipe.aligned = 16 : i64}) attributes {source_op = "tracea.gemm", tracea_pipe.certified = "ce0fa78ab688dfed", variant = "gemm.warpgroup", warps = 4 : i64} {
    %c3 = arith.constant 3 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %c512 = arith.constant 512 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    tiles (%arg2, %arg3) in (%c64, %c4) {
      %0 = arith.muli %arg2, %c4 : index
      %1 = arith.muli %arg3, %c128 : index
      %2 = arith.subi %c256, %0 : index
      %3 = arith.subi %c512, %1 : index
      %4 = tracea_pipe.load %arg0[%c0, %0, %1] map #map2 limits(%2, %3) : memref<4x256x512xf32> -> tensor<4x128xf32, #lanes2>
      %5 = tracea_pipe.load %arg0[%c1, %0, %1] map #map2 limits(%2, %3) : memref<4x256x512xf32> -> tensor<4x128xf32, #lanes2>
      %6 = arith.addf %4, %5 : tensor<4x128xf32, #lanes2>
      %7 = tracea_pipe.load %arg0[%c2, %0, %1] map #map2 limits(%2, %3) : memref<4x256x512xf32> -> tensor<4x128xf32, #lanes2>
      %8 = arith.addf %6, %7 : tensor<4x128xf32, #lanes2>
      %9 = tracea_pipe.load %arg0[%c3, %0, %1] map #map2 limits(%2, %3) : memref<4x256x512xf32> -> tensor<4x128xf32, #lanes2>
      %10 = arith.addf %8, %9 : tensor<4x128xf32, #lanes2>
      %11 = arith.truncf %10 : tensor<4x128xf32, #lanes2> to tensor<4x128xbf16, #lanes2>
    }
    end
  }
}

