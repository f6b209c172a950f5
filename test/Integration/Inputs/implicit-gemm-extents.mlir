#lanes = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16], [32, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [0, 32]], outer = [1, 1]>
#lanes1 = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [32, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [0, 0]], outer = [1, 1]>
#lanes2 = #tracea_pipe.lanes<reg = [[1, 0], [8, 0], [0, 8], [0, 16]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 0], [0, 32]], outer = [1, 1]>
#lanes3 = #tracea_pipe.lanes<reg = [[0, 1], [8, 0], [0, 8], [0, 16]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [0, 32]], outer = [1, 1]>
#lanes4 = #tracea_pipe.lanes<reg = [[0, 1], [0, 2], [0, 16], [8, 0]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [0, 32]], outer = [1, 1]>
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d1, d0)>
#image = affine_map<(n, p, q, c) -> (n, p * 2, q * 2, c)>
#filter = affine_map<(k, c) -> (k, 0, 0, c)>
#image_read = affine_map<(n, p, q, k, r, s, c) -> (n, p * 2 + r - 1, q * 2 + s - 1, c)>
#filter_read = affine_map<(n, p, q, k, r, s, c) -> (k, r, s, c)>
#result = affine_map<(n, p, q, k) -> (n, p, q, k)>
module attributes {tracea.target = #tracea.target<kind = cuda, name = "sm_80", triple = "nvptx64-nvidia-cuda", cpu = "sm_80", vector_bits = 128, subgroup = 32, cores = 108, shared_memory = 166912, l1 = 196608, l2 = 41943040>} {
  func.func @main(%x: memref<?x?x?x64xf16>, %w: memref<64x3x3x64xf16>) -> memref<?x?x?x64xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %n = memref.dim %x, %c0 : memref<?x?x?x64xf16>
    %h = memref.dim %x, %c1 : memref<?x?x?x64xf16>
    %v = memref.dim %x, %c2 : memref<?x?x?x64xf16>
    %h1 = arith.subi %h, %c1 : index
    %h2 = arith.floordivsi %h1, %c2 : index
    %p = arith.addi %h2, %c1 : index
    %v1 = arith.subi %v, %c1 : index
    %v2 = arith.floordivsi %v1, %c2 : index
    %q = arith.addi %v2, %c1 : index
    %y = memref.alloc(%n, %p, %q) {alignment = 64 : i64} : memref<?x?x?x64xf32>
    tracea_pipe.launch @conv ins(%x, %w : memref<?x?x?x64xf16>, memref<64x3x3x64xf16>) outs(%y : memref<?x?x?x64xf32>)
    return %y : memref<?x?x?x64xf32>
  }
  tracea_pipe.kernel @conv(%arg0: memref<?x?x?x64xf16> {tracea_pipe.aligned = 16 : i64}, %arg1: memref<64x3x3x64xf16> {tracea_pipe.aligned = 16 : i64}, %arg2: memref<?x?x?x64xf32> {tracea_pipe.aligned = 16 : i64}) attributes {definitions = [#tracea_pipe.definition<result = 2, factors = 2, operands = [0, 1], maps = [#image_read, #filter_read]>], source_op = "tracea.conv2d", tracea_pipe.lane_copies, variant = "conv2d.implicit", warps = 4 : i64} {
    %c48 = arith.constant 48 : index
    %c32 = arith.constant 32 : index
    %c16 = arith.constant 16 : index
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #lanes>
    %c3 = arith.constant 3 : index
    %c28 = arith.constant 28 : index
    %c9 = arith.constant 9 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %p = memref.dim %arg2, %c1 : memref<?x?x?x64xf32>
    %q = memref.dim %arg2, %c2 : memref<?x?x?x64xf32>
    %flat = memref.collapse_shape %arg2 [[0, 1, 2], [3]] : memref<?x?x?x64xf32> into memref<?x64xf32>
    %dim = memref.dim %flat, %c0 : memref<?x64xf32>
    %0 = arith.ceildivsi %dim, %c64 : index
    tiles (%arg3, %arg4) in (%0, %c1) group 16 {
      %1 = arith.muli %arg3, %c64 : index
      %2 = arith.muli %arg4, %c64 : index
      %pixels = tracea_pipe.delinearize %1 into(%p, %q) : <3>
      %3 = scf.for %arg5 = %c0 to %c9 step %c1 iter_args(%arg6 = %cst) -> (tensor<64x64xf32, #lanes>) {
        %r = arith.divui %arg5, %c3 : index
        %s = arith.remui %arg5, %c3 : index
        %top = arith.subi %r, %c1 : index
        %left = arith.subi %s, %c1 : index
        %13 = tracea_pipe.stage %arg0[%c0, %top, %left, %c0] map #image along [0](%pixels : !tracea_pipe.walk<3>)
          padded [0, 1, 2] slots 4 : memref<?x?x?x64xf16> -> tensor<64x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
        %14 = tracea_pipe.stage %arg1[%2, %r, %s, %c0] map #filter padded [0, 1, 2] slots 4 : memref<64x3x3x64xf16> -> tensor<64x64xf16, #tracea_pipe.staged<swizzle = [4, 7, 5, 8, 6, 9]>>
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
      tracea_pipe.store %7, %flat[%1, %2] map #map2 limits(%4, %5) : tensor<32x64xf32, #lanes4>, memref<?x64xf32>
      %8 = arith.addi %1, %c32 : index
      %9 = arith.subi %dim, %8 : index
      %10 = tracea_pipe.slice %3[32, 0] : tensor<64x64xf32, #lanes> -> tensor<32x64xf32, #lanes3>
      %11 = tracea_pipe.relayout %10 : tensor<32x64xf32, #lanes3> -> tensor<32x64xf32, #lanes4>
      tracea_pipe.store %11, %flat[%8, %2] map #map2 limits(%9, %5) : tensor<32x64xf32, #lanes4>, memref<?x64xf32>
    }
    end
  }
}
