// RUN: not tracea-opt %s --tracea-compile="from=pipeline to=pipeline require-proof=true" -o /dev/null 2>&1 | FileCheck %s

// The product is computed and dropped: the launch names a result, so the kernel has one.
// CHECK: {{.*}}: error: 'tracea_pipe.kernel' op does not write argument #2, which is a result of its launch; expected each element to be written once
// CHECK: note: it is launched here, with this argument under 'outs'
#lanes = #tracea_pipe.lanes<lane = [[0, 1], [0, 2], [0, 4]], outer = [4, 3]>
#map = affine_map<(d0, d1, d2) -> (d1, d0 * 24 + d2)>
#map1 = affine_map<(d0, d1, d2) -> (d0 * 4 + d2, d1)>
#map2 = affine_map<(d0, d1) -> (0, d0, d1)>
#map3 = affine_map<(d0, d1) -> (0, d1, d0)>
#map4 = affine_map<(d0, d1) -> (d0, d1)>
module attributes {tracea.target = #tracea.target<kind = cpu, name = "x86-64-v3", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "+cx16,+popcnt,+sahf,+sse,+sse2,+sse3,+ssse3,+sse4.1,+sse4.2,+avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave", vector_bits = 256, vector_registers = 16, cores = 2>} {
  func.func @main(%arg0: memref<?x70xf32>, %arg1: memref<70x90xf32>) -> memref<?x90xf32> {
    %c0 = arith.constant 0 : index
    %dim = memref.dim %arg0, %c0 : memref<?x70xf32>
    %alloc = memref.alloc(%dim) {alignment = 64 : i64} : memref<?x90xf32>
    tracea_pipe.launch @gemm_0 ins(%arg0, %arg1 : memref<?x70xf32>, memref<70x90xf32>) outs(%alloc : memref<?x90xf32>)
    return %alloc : memref<?x90xf32>
  }
  tracea_pipe.kernel @gemm_0(%arg0: memref<?x70xf32>, %arg1: memref<70x90xf32>, %arg2: memref<?x90xf32>) attributes {source_op = "tracea.gemm", tracea_pipe.certified = "df96847eeec4a36f", variant = "gemm.packed"} {
    %cst = arith.constant dense<0.000000e+00> : tensor<4x24xf32, #lanes>
    %c4 = arith.constant 4 : index
    %c256 = arith.constant 256 : index
    %c24 = arith.constant 24 : index
    %c1 = arith.constant 1 : index
    %c96 = arith.constant 96 : index
    %c512 = arith.constant 512 : index
    %c70 = arith.constant 70 : index
    %c90 = arith.constant 90 : index
    %c0 = arith.constant 0 : index
    %dim = memref.dim %arg2, %c0 : memref<?x90xf32>
    %0 = arith.ceildivsi %dim, %c512 : index
    tiles (%arg3, %arg4) in (%0, %c1) {
      %1 = tracea_pipe.channel : <1 x(memref<64x70x4xf32, #tracea_pipe.staged>)>
      %2 = tracea_pipe.start : <1>
      %3 = tracea_pipe.channel : <1 x(memref<4x70x24xf32, #tracea_pipe.staged>)>
      %4 = tracea_pipe.start : <1>
      %5 = arith.muli %arg3, %c512 : index
      %6 = arith.muli %arg4, %c96 : index
      %7 = arith.subi %dim, %5 : index
      %8 = arith.minsi %7, %c512 : index
      %9 = arith.subi %c90, %6 : index
      %10 = arith.minsi %9, %c96 : index
      %11 = arith.ceildivsi %10, %c24 : index
      %12 = tracea_pipe.acquire %3[%4] : <1 x(memref<4x70x24xf32, #tracea_pipe.staged>)>, <1> -> memref<4x70x24xf32, #tracea_pipe.staged>
      tracea_pipe.copy %arg1[%c0, %6] map #map limits(%11, %c70, %c24) padded [1] to %12 : memref<70x90xf32>, memref<4x70x24xf32, #tracea_pipe.staged>
      tracea_pipe.commit %3[%4] : <1 x(memref<4x70x24xf32, #tracea_pipe.staged>)>, <1>
      %13 = tracea_pipe.wait %3[%4] : <1 x(memref<4x70x24xf32, #tracea_pipe.staged>)>, <1> -> memref<4x70x24xf32, #tracea_pipe.staged>
      %14 = scf.for %arg5 = %c0 to %8 step %c256 iter_args(%arg6 = %2) -> (!tracea_pipe.phase<1>) {
        %16 = arith.subi %8, %arg5 : index
        %17 = arith.minsi %16, %c256 : index
        %18 = arith.addi %5, %arg5 : index
        %19 = arith.ceildivsi %17, %c4 : index
        %20 = tracea_pipe.acquire %1[%arg6] : <1 x(memref<64x70x4xf32, #tracea_pipe.staged>)>, <1> -> memref<64x70x4xf32, #tracea_pipe.staged>
        tracea_pipe.copy %arg0[%18, %c0] map #map1 limits(%19, %c70, %c4) padded [0] to %20 : memref<?x70xf32>, memref<64x70x4xf32, #tracea_pipe.staged>
        tracea_pipe.commit %1[%arg6] : <1 x(memref<64x70x4xf32, #tracea_pipe.staged>)>, <1>
        %21 = tracea_pipe.wait %1[%arg6] : <1 x(memref<64x70x4xf32, #tracea_pipe.staged>)>, <1> -> memref<64x70x4xf32, #tracea_pipe.staged>
        scf.for %arg7 = %c0 to %10 step %c24 {
          %23 = arith.divui %arg7, %c24 : index
          %24 = tracea_pipe.view %13[%23, %c0, %c0] map #map2 : memref<4x70x24xf32, #tracea_pipe.staged> -> memref<70x24xf32, strided<[24, 1], offset: ?>, #tracea_pipe.staged>
          scf.for %arg8 = %c0 to %17 step %c4 {
            %25 = arith.divui %arg8, %c4 : index
            %26 = tracea_pipe.view %21[%25, %c0, %c0] map #map3 : memref<64x70x4xf32, #tracea_pipe.staged> -> memref<4x70xf32, strided<[1, 4], offset: ?>, #tracea_pipe.staged>
            %27 = arith.subi %17, %arg8 : index
            %28 = arith.subi %10, %arg7 : index
            %29 = arith.addi %18, %arg8 : index
            %30 = arith.addi %6, %arg7 : index
            tracea_pipe.prefetch %arg2[%29, %30] map #map4 limits(%27, %28) shape [4, 24] write : memref<?x90xf32>
            %31 = tracea_pipe.mma %26, %24, %cst depth(%c70) : memref<4x70xf32, strided<[1, 4], offset: ?>, #tracea_pipe.staged>, memref<70x24xf32, strided<[24, 1], offset: ?>, #tracea_pipe.staged>, tensor<4x24xf32, #lanes>
          }
        }
        tracea_pipe.release %1[%arg6] : <1 x(memref<64x70x4xf32, #tracea_pipe.staged>)>, <1>
        %22 = tracea_pipe.advance %arg6 : <1>
        scf.yield %22 : !tracea_pipe.phase<1>
      }
      tracea_pipe.release %3[%4] : <1 x(memref<4x70x24xf32, #tracea_pipe.staged>)>, <1>
      %15 = tracea_pipe.advance %4 : <1>
    }
    end
  }
}

