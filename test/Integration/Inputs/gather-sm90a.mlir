// Rows that a table lists, times a matrix, for warpgroups: lanes copy the rows, the copy engine the matrix.
#lanes = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d1, d0)>
#rows_read = affine_map<(m, n, k)[x0, x1, w0, w1, row] -> (row, k)>
#columns_read = affine_map<(m, n, k) -> (n, k)>
#place = affine_map<(m, n, k) -> (m)>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448, l1 = 262144, l2 = 52428800>} {
  func.func @main(%x: memref<?x512xbf16>, %w: memref<64x512xbf16>, %table: memref<?xi32>) -> memref<?x64xf32> {
    %c0 = arith.constant 0 : index
    %m = memref.dim %table, %c0 : memref<?xi32>
    %y = memref.alloc(%m) {alignment = 64 : i64} : memref<?x64xf32>
    tracea_pipe.launch @gathered ins(%x, %w, %table : memref<?x512xbf16>, memref<64x512xbf16>, memref<?xi32>) outs(%y : memref<?x64xf32>)
    return %y : memref<?x64xf32>
  }
  tracea_pipe.kernel @gathered(%arg0: memref<?x512xbf16> {tracea_pipe.aligned = 16 : i64}, %arg1: memref<64x512xbf16> {tracea_pipe.aligned = 16 : i64}, %table: memref<?xi32>, %arg2: memref<?x64xf32> {tracea_pipe.aligned = 16 : i64}) attributes {definitions = [#tracea_pipe.definition<result = 3, factors = 2, operands = [0, 1], maps = [#rows_read, #columns_read], tables = [2], places = [#place]>], pipeline = #tracea_pipe.pipeline<pending = 1>, variant = "gathered"} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #lanes>
    %c8 = arith.constant 8 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c0 = arith.constant 0 : index
    %dim = memref.dim %arg2, %c0 : memref<?x64xf32>
    %0 = arith.ceildivsi %dim, %c64 : index
    tiles (%arg3, %arg4) in (%0, %c1) group 16 {
      %1 = arith.muli %arg3, %c64 : index
      %2 = arith.muli %arg4, %c64 : index
      %listed = tracea_pipe.gather %table[%1] : memref<?xi32> -> <1>
      %3 = scf.for %step = %c0 to %c8 step %c1 iter_args(%arg6 = %cst) -> (tensor<64x64xf32, #lanes>) {
        %k = arith.muli %step, %c64 : index
        %7 = tracea_pipe.stage %arg0[%c0, %k] map #map2 along [0](%listed : !tracea_pipe.walk<1>)
          padded [0, 1] slots 4 : memref<?x512xbf16> -> tensor<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
        %8 = tracea_pipe.stage %arg1[%2, %k] map #map2 slots 4 : memref<64x512xbf16> -> tensor<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
        %9 = tracea_pipe.view %8[%c0, %c0] map #map3 : tensor<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>> -> tensor<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
        %10 = tracea_pipe.mma %7, %9, %arg6 : tensor<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, tensor<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>, tensor<64x64xf32, #lanes>
        scf.yield %10 : tensor<64x64xf32, #lanes>
      }
      %4 = arith.subi %dim, %1 : index
      %5 = arith.subi %c64, %2 : index
      tracea_pipe.store %3, %arg2[%1, %2] map #map2 limits(%4, %5) : tensor<64x64xf32, #lanes>, memref<?x64xf32>
    }
    end
  }
}
