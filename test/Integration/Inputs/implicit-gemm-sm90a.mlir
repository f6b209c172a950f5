#lanes = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]], outer = [1, 1]>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d1, d0)>
#image = affine_map<(n, p, q, c) -> (n, p * 2, q * 2, c)>
#filter = affine_map<(k, c) -> (k, 0, 0, c)>
#image_read = affine_map<(m, k, r, s, c) -> (m floordiv 784, (m floordiv 28 - (m floordiv 784) * 28) * 2 + r - 1, (m - (m floordiv 28) * 28) * 2 + s - 1, c)>
#filter_read = affine_map<(m, k, r, s, c) -> (k, r, s, c)>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_90a", triple = "nvptx64-nvidia-cuda", cpu = "sm_90a", vector_bits = 128, subgroup = 32, cores = 132, shared_memory = 232448, l1 = 262144, l2 = 52428800>} {
  func.func @main(%x: memref<?x56x56x64xbf16>, %w: memref<64x3x3x64xbf16>) -> memref<?x64xf32> {
    %c0 = arith.constant 0 : index
    %c784 = arith.constant 784 : index
    %n = memref.dim %x, %c0 : memref<?x56x56x64xbf16>
    %m = arith.muli %n, %c784 : index
    %y = memref.alloc(%m) {alignment = 64 : i64} : memref<?x64xf32>
    tracea_pipe.launch @conv ins(%x, %w : memref<?x56x56x64xbf16>, memref<64x3x3x64xbf16>) outs(%y : memref<?x64xf32>)
    return %y : memref<?x64xf32>
  }
  tracea_pipe.kernel @conv(%arg0: memref<?x56x56x64xbf16> {tracea_pipe.aligned = 16 : i64}, %arg1: memref<64x3x3x64xbf16> {tracea_pipe.aligned = 16 : i64}, %arg2: memref<?x64xf32> {tracea_pipe.aligned = 16 : i64}) attributes {definitions = [#tracea_pipe.definition<result = 2, factors = 2, operands = [0, 1], maps = [#image_read, #filter_read]>], pipeline = #tracea_pipe.pipeline<pending = 1>, source_op = "tracea.conv2d", variant = "conv2d.implicit"} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #lanes>
    %c3 = arith.constant 3 : index
    %c28 = arith.constant 28 : index
    %c9 = arith.constant 9 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c0 = arith.constant 0 : index
    %dim = memref.dim %arg2, %c0 : memref<?x64xf32>
    %0 = arith.ceildivsi %dim, %c64 : index
    tiles (%arg3, %arg4) in (%0, %c1) group 16 {
      %1 = arith.muli %arg3, %c64 : index
      %2 = arith.muli %arg4, %c64 : index
      %pixels = tracea_pipe.delinearize %1 into(%c28, %c28) : <3>
      %3 = scf.for %arg5 = %c0 to %c9 step %c1 iter_args(%arg6 = %cst) -> (tensor<64x64xf32, #lanes>) {
        %r = arith.divui %arg5, %c3 : index
        %s = arith.remui %arg5, %c3 : index
        %top = arith.subi %r, %c1 : index
        %left = arith.subi %s, %c1 : index
        %7 = tracea_pipe.stage %arg0[%c0, %top, %left, %c0] map #image along [0](%pixels : !tracea_pipe.walk<3>)
          padded [0, 1, 2] slots 4 : memref<?x56x56x64xbf16> -> tensor<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
        %8 = tracea_pipe.stage %arg1[%2, %r, %s, %c0] map #filter slots 4 : memref<64x3x3x64xbf16> -> tensor<64x64xbf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
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
