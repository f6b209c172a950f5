// Rows that a table lists, times a matrix, for tensor cores: they are copied by the lanes of a team.
#lanes = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16], [32, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [0, 32]], outer = [1, 1]>
#lanes1 = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [32, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [0, 0]], outer = [1, 1]>
#lanes2 = #tracea_pipe.lanes<reg = [[1, 0], [8, 0], [0, 8], [0, 16]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0], [0, 32]], outer = [1, 1]>
#lanes3 = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [0, 32]], outer = [1, 1]>
#lanes4 = #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [0, 16], [8, 0]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [0, 32]], outer = [1, 1]>
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d1, d0)>
#rows = affine_map<(r, k) -> (r, k)>
#rows_read = affine_map<(m, n, k)[x0, x1, w0, w1, row] -> (row, k)>
#columns_read = affine_map<(m, n, k) -> (n, k)>
#place = affine_map<(m, n, k) -> (m)>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80", vector_bits = 128, subgroup = 32, cores = 108, shared_memory = 166912, l1 = 196608, l2 = 41943040>} {
  func.func @main(%x: memref<?x512xf16>, %w: memref<64x512xf16>, %table: memref<?xi32>) -> memref<?x64xf32> {
    %c0 = arith.constant 0 : index
    %m = memref.dim %table, %c0 : memref<?xi32>
    %y = memref.alloc(%m) {alignment = 64 : i64} : memref<?x64xf32>
    tracea_pipe.launch @gathered ins(%x, %w, %table : memref<?x512xf16>, memref<64x512xf16>, memref<?xi32>) outs(%y : memref<?x64xf32>)
    return %y : memref<?x64xf32>
  }
  tracea_pipe.kernel @gathered(%arg0: memref<?x512xf16> {tracea_pipe.aligned = 16 : i64}, %arg1: memref<64x512xf16> {tracea_pipe.aligned = 16 : i64}, %table: memref<?xi32>, %arg2: memref<?x64xf32> {tracea_pipe.aligned = 16 : i64}) attributes {definitions = [#tracea_pipe.definition<result = 3, factors = 2, operands = [0, 1], maps = [#rows_read, #columns_read], tables = [2], places = [#place]>], tracea_pipe.lane_copies, variant = "gathered", warps = 4 : i64} {
    %c48 = arith.constant 48 : index
    %c32 = arith.constant 32 : index
    %c16 = arith.constant 16 : index
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #lanes>
    %c512 = arith.constant 512 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c0 = arith.constant 0 : index
    %dim = memref.dim %arg2, %c0 : memref<?x64xf32>
    %0 = arith.ceildivsi %dim, %c64 : index
    tiles (%arg3, %arg4) in (%0, %c1) group 16 {
      %1 = arith.muli %arg3, %c64 : index
      %2 = arith.muli %arg4, %c64 : index
      %listed = tracea_pipe.gather %table[%1] : memref<?xi32> -> <1>
      %3 = scf.for %k = %c0 to %c512 step %c64 iter_args(%arg6 = %cst) -> (tensor<64x64xf32, #lanes>) {
        %13 = tracea_pipe.stage %arg0[%c0, %k] map #rows along [0](%listed : !tracea_pipe.walk<1>)
          padded [0, 1] slots 4 : memref<?x512xf16> -> tensor<64x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
        %14 = tracea_pipe.stage %arg1[%2, %k] map #rows padded [0, 1] slots 4 : memref<64x512xf16> -> tensor<64x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
        %15 = tracea_pipe.load %13[%c0, %c0] map #map2 : tensor<64x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> tensor<64x16xf16, #lanes1>
        %16 = tracea_pipe.load %14[%c0, %c0] map #map3 : tensor<64x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> tensor<16x64xf16, #lanes2>
        %17 = tracea_pipe.load %13[%c0, %c16] map #map2 : tensor<64x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> tensor<64x16xf16, #lanes1>
        %18 = tracea_pipe.load %14[%c0, %c16] map #map3 : tensor<64x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> tensor<16x64xf16, #lanes2>
        %19 = tracea_pipe.mma %15, %16, %arg6 : tensor<64x16xf16, #lanes1>, tensor<16x64xf16, #lanes2>, tensor<64x64xf32, #lanes>
        %20 = tracea_pipe.load %13[%c0, %c32] map #map2 : tensor<64x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> tensor<64x16xf16, #lanes1>
        %21 = tracea_pipe.load %14[%c0, %c32] map #map3 : tensor<64x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> tensor<16x64xf16, #lanes2>
        %22 = tracea_pipe.mma %17, %18, %19 : tensor<64x16xf16, #lanes1>, tensor<16x64xf16, #lanes2>, tensor<64x64xf32, #lanes>
        %23 = tracea_pipe.load %13[%c0, %c48] map #map2 : tensor<64x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> tensor<64x16xf16, #lanes1>
        %24 = tracea_pipe.load %14[%c0, %c48] map #map3 : tensor<64x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> tensor<16x64xf16, #lanes2>
        %25 = tracea_pipe.mma %20, %21, %22 : tensor<64x16xf16, #lanes1>, tensor<16x64xf16, #lanes2>, tensor<64x64xf32, #lanes>
        %26 = tracea_pipe.mma %23, %24, %25 : tensor<64x16xf16, #lanes1>, tensor<16x64xf16, #lanes2>, tensor<64x64xf32, #lanes>
        scf.yield %26 : tensor<64x64xf32, #lanes>
      }
      %4 = arith.subi %dim, %1 : index
      %5 = arith.subi %c64, %2 : index
      %6 = tracea_pipe.slice %3[0, 0] : tensor<64x64xf32, #lanes> -> tensor<32x64xf32, #lanes3>
      %7 = tracea_pipe.relayout %6 : tensor<32x64xf32, #lanes3> -> tensor<32x64xf32, #lanes4>
      tracea_pipe.store %7, %arg2[%1, %2] map #map2 limits(%4, %5) : tensor<32x64xf32, #lanes4>, memref<?x64xf32>
      %8 = arith.addi %1, %c32 : index
      %9 = arith.subi %dim, %8 : index
      %10 = tracea_pipe.slice %3[32, 0] : tensor<64x64xf32, #lanes> -> tensor<32x64xf32, #lanes3>
      %11 = tracea_pipe.relayout %10 : tensor<32x64xf32, #lanes3> -> tensor<32x64xf32, #lanes4>
      tracea_pipe.store %11, %arg2[%8, %2] map #map2 limits(%9, %5) : tensor<32x64xf32, #lanes4>, memref<?x64xf32>
    }
    end
  }
}
